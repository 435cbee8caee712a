#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""fetch and the disk, other runs and sudden ends, by the classes D of faults. KILLS=N kills N times
at random points (200). Prints TAP.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import FILES, LINKS, TOP, Tap, World, good_members, good_zip, tar  # noqa: E402
import test_net  # noqa: E402

BIG = {**FILES, "lib/libbig.so.9": test_net.BODY * 6}
ARCHIVE = tar(good_members(files=BIG))
KILLS = int(os.environ.get("KILLS", "200"))


def big_world(base):
    w = World(base)
    w.cudnn(ARCHIVE)
    return w


def whole(w):
    return w.whole() and (w.target / "lib/libbig.so.9").read_bytes() == BIG["lib/libbig.so.9"]


class Tmpfs:
    """A file system of so many KiB."""

    def __init__(self, path, kib):
        self.path = pathlib.Path(path)
        self.path.mkdir(parents=True)
        self.ok = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=%dk" % kib, "none", str(path)],
            stderr=subprocess.DEVNULL).returncode == 0

    def again(self, options):
        return subprocess.run(["mount", "-o", "remount," + options, str(self.path)],
                              stderr=subprocess.DEVNULL).returncode == 0

    def done(self):
        if self.ok:
            subprocess.run(["umount", "-l", str(self.path)], stderr=subprocess.DEVNULL)


def full_disks(tap, base):
    size = len(ARCHIVE) // 1024
    for label, which, kib in (
            ("D1 no space for the archive", "cache", 200),
            ("D1 no space for what it unpacks to", "prefix", size + 200),
            ("D1 no space for anything", "prefix", 64)):
        w = big_world(base)
        disk = Tmpfs(getattr(w, which), kib)
        if not disk.ok:
            tap.skip(label, "needs mounts")
            continue
        r = w.install()
        left = [p for p in w.left()]
        tap.check(label, r.returncode == 4 and "space" in r.stderr and
                  str(getattr(w, which)) in r.stderr + str(w.prefix) and not left, r, left)
        if disk.again("size=64m"):
            r = w.install()
            tap.check(label + ": and with space it goes on", r.returncode == 0 and whole(w), r)
        disk.done()
        w.done()


def no_inodes(tap, base):
    """Files run out before bytes do: at each entry, at the list of them, at the record, at the link."""
    w = big_world(base)
    disk = Tmpfs(w.prefix, 65536)
    if not disk.ok:
        tap.skip("D1 no files left", "needs mounts")
        return
    for n in range(4, 24):
        if not disk.again("nr_inodes=%d" % n):
            continue
        r = w.install()
        if r.returncode == 0:
            break
        tap.check("D1 no files left (of %d)" % n, r.returncode == 4 and "space" in r.stderr and
                  not w.left(), r, w.left())
    tap.check("D1 enough files", r.returncode == 0 and whole(w) and n > 9, r)
    disk.done()
    w.done()


def read_only(tap, base):
    w = big_world(base)
    disk = Tmpfs(w.prefix, 65536)
    if disk.ok and disk.again("ro"):
        r = w.install()
        tap.check("D3 read-only prefix", r.returncode == 4 and str(w.prefix) in r.stderr and
                  "Read-only" in r.stderr and w.untouched(), r)
        r = w.run("list")
        tap.check("D3 list needs no writing", r.returncode == 0, r)
    else:
        tap.skip("D3 read-only prefix", "needs mounts")
    disk.done()
    w.done()


def rights(tap, base):
    w = big_world(base)
    w.prefix.mkdir()
    w.prefix.chmod(0o555)
    if os.geteuid() == 0:
        for path in (w.base, w.home, w.tmp, w.cwd):
            path.chmod(0o755)
        os.chmod(base, 0o755)
        r = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                            *w.command("cudnn", "9.1.1", "--cuda", "12", "--accept-license")],
                           env=w.env(), cwd=str(w.cwd), capture_output=True, text=True)
    else:
        r = w.install()
    deep = subprocess.run(r.args[:r.args.index("--prefix") + 1] + [str(w.prefix / "a/b")] +
                          r.args[r.args.index("--prefix") + 2:], env=w.env(), cwd=str(w.cwd),
                          capture_output=True, text=True)
    tap.check("D4 folders that cannot be made: why", deep.returncode == 4 and
              "Permission" in deep.stderr and str(w.prefix / "a/b") in deep.stderr, deep)
    tap.check("D4 prefix without rights", r.returncode == 4 and str(w.prefix) in r.stderr and
              "Permission" in r.stderr and not w.left(), r)
    w.prefix.chmod(0o755)
    w.done()


def links(tap, base):
    w = big_world(base)
    real = w.base / "real"
    real.mkdir()
    w.prefix.symlink_to(real)
    r = w.install()
    tap.check("D13 a prefix that is a link is the user's choice", r.returncode == 0 and whole(w), r)
    w.done()
    w = big_world(base)
    outside = w.base / "outside"
    outside.mkdir()
    w.prefix.mkdir()
    (w.prefix / "cudnn").symlink_to(outside)
    r = w.install()
    tap.check("D13 a link below the prefix is not followed", r.returncode == 4 and
              not any(outside.iterdir()) and w.left() == ["cudnn"], r)
    w.done()
    w = big_world(base)
    w.install()
    record = w.target / ".cuvet-record"
    (w.base / "precious").write_text("x")
    record.write_text(record.read_text().replace("lib/libbig.so.9\n", "../../../precious\n"))
    r = w.run("remove", "cudnn/9.1.1")
    tap.check("a record that names a file outside is refused", r.returncode == 4 and
              "damaged" in r.stderr and (w.base / "precious").exists(), r)
    w.done()


def leftovers(tap, base):
    w = big_world(base)
    (w.prefix / ".stage-0123" / "lib").mkdir(parents=True)
    (w.prefix / ".trash-0123" / "x").mkdir(parents=True)
    (w.prefix / ".lock").write_text("")
    part = w.cache / "cudnn/redist/cudnn/linux-x86_64/" / ("cudnn-linux-x86_64-9.1.1.17_cuda12-"
                                                          "archive.tar.xz.part")
    part.parent.mkdir(parents=True)
    part.write_bytes(ARCHIVE[:1000])
    r = w.install()
    tap.check("D12 what a dead run left is cleared and gone on with", r.returncode == 0 and
              whole(w) and not [p for p in w.left() if p.startswith(".")] and not part.exists(), r)
    w.done()


def together(tap, base):
    w = big_world(base)
    server, url = test_net.serve(w)
    runs = [subprocess.Popen(w.command("cudnn", "9.1.1", "--cuda", "12", "--platform",
                                       "linux-x86_64", "--accept-license", mirror=url + "/good"),
                             env=w.env(), cwd=str(w.cwd), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE) for _ in range(3)]
    out = [p.communicate(timeout=60) for p in runs]
    fetched = [p for _, p, _ in server.seen if p.endswith(".xz")]
    tap.check("D10 three at once: one downloads, all succeed", all(p.returncode == 0 for p in runs)
              and whole(w) and len(fetched) == 1, more="%s %s" % (out, fetched))
    busy = subprocess.Popen(w.command("remove", "cudnn/9.1.1"), env=w.env(), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    r = w.install(mirror=url + "/good")
    busy.communicate()
    state = w.left()
    tap.check("D11 fetch and remove together", r.returncode == 0 and busy.returncode == 0 and
              (whole(w) or state == []), r, str(state))
    w.done()


def steps(w):
    """Is what lies there the old state or the new one?"""
    names = [p for p in w.left() if not p.startswith(".")]
    return not w.target.exists() or (whole(w) and w.run("verify").returncode == 0), names


def kills(tap, base):
    """SIGKILL at random points of fetch, use and remove; then the next run makes it right."""
    random.seed(os.environ.get("SEED", "1"))
    w = big_world(base)
    began = time.monotonic()
    w.install()
    length = time.monotonic() - began
    bad = []
    for i in range(KILLS):
        shutil.rmtree(w.prefix, ignore_errors=True)
        if i % 2:
            shutil.rmtree(w.cache, ignore_errors=True)
        removing = i % 4 == 3
        if removing:
            w.install()
        args = ("remove", "cudnn/9.1.1") if removing else (
            "cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64", "--accept-license")
        p = subprocess.Popen(w.command(*args), env=w.env(), cwd=str(w.cwd),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.random() * length * (0.4 if removing else 1.1))
        p.send_signal(signal.SIGKILL)
        p.wait()
        right, names = steps(w)
        if not right:
            bad.append("kill %d: %s" % (i, names))
        again = w.run(*args)
        if not removing and (again.returncode != 0 or not whole(w)):
            bad.append("run after kill %d: %s" % (i, again.stderr))
        if removing and (again.returncode not in (0, 2) or w.target.exists()):
            bad.append("remove after kill %d: %s" % (i, again.stderr))
        if not removing:
            rest = [n for n in w.left() if n.startswith((".stage", ".trash"))]
            if rest:
                bad.append("left after kill %d: %s" % (i, rest))
    tap.check("D8 SIGKILL at %d random points" % KILLS, not bad, more="\n".join(bad))
    w.done()


def interrupt(tap, base):
    w = big_world(base)
    server, url = test_net.serve(w)
    for name in ("stall", "good"):
        p = subprocess.Popen(w.command("cudnn", "9.1.1", "--cuda", "12", "--platform",
                                       "linux-x86_64", "--accept-license", "--limit-rate", "100k",
                                       mirror=url + "/" + name),
                             env=w.env(), cwd=str(w.cwd), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(1.5)
        began = time.monotonic()
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=30)
        took = time.monotonic() - began
        left = [n for n in w.left()]
        tap.check("SIGINT ends it (%s, %.1f s) and leaves no staging" % (name, took),
                  p.returncode == -signal.SIGINT and took < 15 and not left,
                  more="%s %s %s" % (p.returncode, err, left))
    part = list(w.cache.rglob("*.part"))
    tap.check("SIGINT keeps what was downloaded", len(part) == 1 and part[0].stat().st_size > 0)
    server.ended.set()
    r = w.install(mirror=url + "/good")
    tap.check("and the next run goes on", r.returncode == 0 and whole(w), r)
    w.done()


def into(tap, base):
    w = big_world(base)
    kit = w.base / "cuda-12.4"
    (kit / "targets/x86_64-linux/lib").mkdir(parents=True)
    (kit / "targets/x86_64-linux/include").mkdir()
    (kit / "lib64").symlink_to("targets/x86_64-linux/lib")
    (kit / "include").symlink_to("targets/x86_64-linux/include")
    (kit / "include/cuda.h").write_text("cuda")
    before = sorted(str(p) for p in kit.rglob("*"))
    r = w.install("--into", str(kit))
    there = (kit / "targets/x86_64-linux/lib/libcudnn.so.9.1.1")
    tap.check("--into goes through the toolkit's own links", r.returncode == 0 and there.is_file()
              and (kit / "include/cudnn.h").is_file(), r)
    for option in ("--cudnn", "--cuda"):
        line = w.install("--into", str(kit)).stdout.splitlines()[-1].strip()
        env = subprocess.run([r.args[0], "env", option, str(kit)], env=w.env(), capture_output=True,
                             text=True)
        tap.check("and the line for the shell works (%s)" % option,
                  line == 'eval "$(cuvet env %s %s)"' % (option, kit) and
                  env.returncode in (0, 1) and str(kit) in env.stdout, env, line)
        (kit / "version.json").write_text('{"cuda": {"version": "12.4.1"}}')
    (kit / "version.json").unlink()
    r = w.run("verify", "cudnn/9.1.1")
    tap.check("--into is verified", r.returncode == 0, r)
    there.write_bytes(b"changed")
    r = w.run("verify", "cudnn/9.1.1")
    tap.check("--into: a changed file is found", r.returncode == 4 and "libcudnn.so.9.1.1" in r.stdout, r)
    r = w.run("remove", "cudnn/9.1.1")
    tap.check("--into is taken out exactly", r.returncode == 0 and
              sorted(str(p) for p in kit.rglob("*")) == before, r)
    # Two, in folders that the first has made: whoever is taken away last takes them along.
    w.cudnn(tar(good_members(TOP.replace("9.1.1.17", "9.1.0.1"), files={
        "LICENSE": b"x", "lib/other/sub/b.so": b"b"}, links={})), label="9.1.0", version="9.1.0.1")
    w.cudnn(tar(good_members(TOP.replace("9.1.1.17", "9.0.0.1"), files={
        "LICENSE": b"x", "lib/other/sub/a.so": b"a"}, links={})), label="9.0.0", version="9.0.0.1")
    for order in (("9.0.0", "9.1.0"), ("9.1.0", "9.0.0")):
        for label in ("9.0.0", "9.1.0"):
            r = w.run("cudnn", label, "--cuda", "12", "--platform", "linux-x86_64",
                      "--accept-license", "--into", str(kit))
        there = [(kit / "targets/x86_64-linux/lib/other/sub" / n).is_file() for n in ("a.so", "b.so")]
        gone = [w.run("remove", "cudnn/" + label).returncode for label in order]
        tap.check("--into: two that share a folder, taken out as %s, %s" % order,
                  r.returncode == 0 and there == [True, True] and gone == [0, 0] and
                  sorted(str(p) for p in kit.rglob("*")) == before, r, "%s %s" % (there, gone))
    (kit / "include/cudnn.h").write_text("mine")
    before = sorted(str(p) for p in kit.rglob("*"))
    r = w.install("--into", str(kit))
    tap.check("--into replaces nothing", r.returncode == 4 and "include/cudnn.h" in r.stderr and
              sorted(str(p) for p in kit.rglob("*")) == before and
              (kit / "include/cudnn.h").read_text() == "mine", r)
    (kit / "include/cudnn.h").unlink()
    outside = w.base / "outside"
    outside.mkdir()
    (kit / "include").unlink()
    (kit / "include").symlink_to(outside)
    r = w.install("--into", str(kit))
    tap.check("--into follows no link out of the toolkit", r.returncode == 4 and
              not any(outside.iterdir()), r)
    w.done()


def damaged(tap, base):
    """An installation of which something is gone is not "already installed", and is not touched."""
    def lose(w):
        (w.target / "lib/libcudnn.so.9.1.1").unlink()

    def cut(w):
        (w.target / "lib/libcudnn_ops.so.9.1.1").write_bytes(b"ops")

    def turn(w):
        (w.target / "lib/libcudnn.so.9").unlink()
        (w.target / "lib/libcudnn.so.9").symlink_to("libcudnn.so.8")

    for name, harm, file in (("missing", lose, "lib/libcudnn.so.9.1.1"),
                             ("cut short", cut, "lib/libcudnn_ops.so.9.1.1"),
                             ("link to another", turn, "lib/libcudnn.so.9")):
        w = World(base)
        w.cudnn(tar(good_members()))
        r = w.install()
        tap.check("damaged, %s: installed first" % name, r.returncode == 0, r)
        harm(w)
        before = w.left()
        for more in ((), ("--components", "cudnn")):
            r = w.install(*more)
            tap.check("damaged, %s: it is named %s" % (name, more), r.returncode == 4 and
                      file in r.stderr and "fetch remove cudnn/9.1.1.17-cuda12" in r.stderr and
                      r.stdout == "" and w.left() == before, r)
        r = w.run("remove", "cudnn/9.1.1.17-cuda12")
        tap.check("damaged, %s: what is left can be removed" % name, r.returncode == 0, r)
        r = w.install()
        tap.check("damaged, %s: and installed anew" % name, r.returncode == 0 and
                  w.run("verify").returncode == 0, r)
        w.done()


def installed(tap, base):
    """Two builds side by side, use, remove, verify."""
    w = World(base)
    for cuda in ("11", "12"):
        w.cudnn(tar(good_members(TOP.replace("cuda12", "cuda" + cuda))), cuda=cuda)
        r = w.run("cudnn", "9.1.1", "--cuda", cuda, "--platform", "linux-x86_64", "--accept-license")
        tap.check("side by side: CUDA " + cuda, r.returncode == 0, r)
    link = w.prefix / "cudnn/current"
    tap.check("the first one is current", os.readlink(link) == "9.1.1.17-cuda11")
    r = w.run("use", "cudnn/9.1.1.17-cuda12")
    tap.check("use switches", r.returncode == 0 and os.readlink(link) == "9.1.1.17-cuda12", r)
    r = w.run("remove", "cudnn/9.1.1")
    tap.check("remove asks which", r.returncode == 2 and "cuda11" in r.stderr and "cuda12" in r.stderr, r)
    extra = w.target / "lib/mine"
    extra.write_text("mine")
    r = w.run("verify")
    tap.check("verify finds what does not belong", r.returncode == 4 and "lib/mine" in r.stdout, r)
    r = w.run("remove", "cudnn/9.1.1.17-cuda12")
    tap.check("remove leaves what others put there, alone", r.returncode == 0 and
              w.left() == ["cudnn", "cudnn/9.1.1.17-cuda11"] + [
                  p for p in w.left() if p.startswith("cudnn/9.1.1.17-cuda11/")] + [
                  "cudnn/9.1.1.17-cuda12", "cudnn/9.1.1.17-cuda12/lib",
                  "cudnn/9.1.1.17-cuda12/lib/mine"], r, str(w.left()))
    r = w.run("verify", "cudnn/9.1.1-cuda11")
    tap.check("the other one is as it was", r.returncode == 0, r)
    before = w.left()
    for more in ((), ("--dry-run",)):
        r = w.install(*more)
        tap.check("what others left in the way is named, with what to do %s" % " ".join(more),
                  r.returncode == 4 and "holds what cuvet did not put there (lib)" in r.stderr and
                  "move it away" in r.stderr and "downloading" not in r.stderr and
                  w.left() == before, r)
    shutil.rmtree(w.target)
    w.target.mkdir()
    r = w.install()
    tap.check("an empty folder is in nobody's way", r.returncode == 0 and w.whole(), r)
    w.cudnn(good_zip(TOP), ending="zip", platform="windows-x86_64")
    r = w.run("cudnn", "9.1.1", "--cuda", "12", "--platform", "windows-x86_64", "--accept-license")
    tap.check("the build for another platform is not taken for it", r.returncode == 4 and
              "holds the build for linux-x86_64" in r.stderr and w.whole(), r)
    (w.target / ".cuvet-record").write_text("x")
    r = w.install()
    tap.check("a damaged record is said", r.returncode == 4 and "damaged" in r.stderr and
              str(w.target) in r.stderr, r)
    w.done()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        for test in (installed, damaged, into, leftovers, full_disks, no_inodes, read_only, rights, links,
                     together, interrupt, kills):
            test(tap, base)
    tap.end()


if __name__ == "__main__":
    main()
