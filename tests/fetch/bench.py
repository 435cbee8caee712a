#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fetch + verify + unpack of a .tar.xz from a server on the loopback, against curl, sha256sum and tar
in the same run. FETCH_MIB: size of the archive (300). FETCH_THREADS: of xz that makes it, which makes
several blocks of it from 2 on (1). Fails beyond the limits of our own:
  time          1.0 x (curl -o f && sha256sum -c && tar xJf f), medians of 5 turns each
  peak memory   96 MiB
  second run    20 ms
"""
import functools
import hashlib
import http.server
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import TOP, World  # noqa: E402

MIB = int(os.environ.get("FETCH_MIB", "300"))
TURNS = int(os.environ.get("TURNS", "5"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def archive(folder):
    """Six libraries of which a third packs well, as the real ones do, and some headers."""
    top = folder / TOP
    (top / "lib").mkdir(parents=True)
    (top / "include").mkdir()
    (top / "LICENSE").write_text("x")
    random.seed(1)
    for i in range(6):
        with open(top / ("lib/libcudnn_%d.so.9" % i), "wb") as f:
            for _ in range(MIB // 6):
                f.write(random.randbytes(1 << 20))
                f.write(bytes(range(256)) * 2048)
    for i in range(60):
        (top / ("include/h%d.h" % i)).write_text("#define X %d\n" % i * 50)
    path = folder / "a.tar.xz"
    with open(path, "wb") as out:
        tar = subprocess.Popen(["tar", "-C", str(folder), "-cf", "-", TOP], stdout=subprocess.PIPE)
        subprocess.run(["xz", "-0", "-T" + os.environ.get("FETCH_THREADS", "1")], stdin=tar.stdout, stdout=out, check=True)
        tar.wait()
    shutil.rmtree(top)
    return path


def run(command, cwd):
    """Seconds, and the peak memory of the largest process in MiB (0 without time(1))."""
    # A child counts what its parent had before: time(1) stands between this process and it.
    timed = ["/usr/bin/time", "-q", "-f", "%M", "-o", str(cwd / "peak")]
    timed = timed if os.access(timed[0], os.X_OK) else []
    os.sync()
    began = time.monotonic()
    if subprocess.run(timed + command, cwd=str(cwd), stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode:
        sys.exit("bench: %s failed" % command)
    took = time.monotonic() - began
    return took, int((cwd / "peak").read_text()) / 1024 if timed else 0


def main():
    bad = 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as base:
        w = World(base)
        data = archive(pathlib.Path(base)).read_bytes()
        rel = "cudnn/redist/" + w.cudnn(data)
        digest, size = hashlib.sha256(data).hexdigest(), len(data)
        del data
        (pathlib.Path(base) / "a.tar.xz").unlink()
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=str(w.mirror)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d" % server.server_address[1]
        line = "curl -s -o f %s/%s && echo '%s  f' | sha256sum -c >/dev/null && tar xJf f" % (
            url, rel, digest)
        ours = w.command("cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64",
                         "--accept-license", mirror=url)
        base_s, our_s, peak = [], [], 0
        for _ in range(TURNS):
            shutil.rmtree(w.cwd)
            w.cwd.mkdir()
            base_s.append(run(["sh", "-c", line], w.cwd)[0])
            shutil.rmtree(w.prefix, ignore_errors=True)
            shutil.rmtree(w.cache, ignore_errors=True)
            seconds, memory = run(ours, w.base)
            our_s.append(seconds)
            peak = max(peak, memory)
        again = min(run(ours, w.base)[0] for _ in range(10)) * 1000
        b, o = statistics.median(base_s), statistics.median(our_s)
        print("%-28s %8.2f s" % ("curl, sha256sum, tar", b))
        for what, value, text, limit in (
                ("cuvet fetch (%d MiB)" % (size >> 20), o / b, "%8.2f s   %8.2f x" % (o, o / b), 1.0),
                ("  its peak memory", peak, "%8.1f MiB" % peak, 96),
                ("  a second run", again, "%8.1f ms" % again, 20)):
            print("%-28s %s (limit %g: %s)" % (what, text, limit,
                                               "ok" if value <= limit else "TOO MUCH"))
            bad |= value > limit
        server.shutdown()
    sys.exit(bad)


if __name__ == "__main__":
    main()
