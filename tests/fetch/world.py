# SPDX-License-Identifier: Apache-2.0
"""What the tests of fetch share: archives and manifests made here, a mirror as a folder, running."""
import hashlib
import io
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(os.environ.get("CUVET_ROOT", pathlib.Path(__file__).resolve().parents[2]))
CUVET = os.environ.get("CUVET", str(ROOT / "build/cuvet"))
TOP = "cudnn-linux-x86_64-9.1.1.17_cuda12-archive"
FILES = {
    "LICENSE": b"the licence\n",
    "include/cudnn.h": b"#include \"cudnn_version.h\"\n",
    "include/cudnn_version.h": b"#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 1\n",
    "lib/libcudnn.so.9.1.1": bytes(range(256)) * 400,
    "lib/libcudnn_ops.so.9.1.1": b"ops" * 1000,
}
LINKS = {"lib/libcudnn.so.9": "libcudnn.so.9.1.1", "lib/libcudnn.so": "libcudnn.so.9"}


def member(name, kind=tarfile.REGTYPE, data=b"", link="", mode=0o644, pax=None):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(data)
    if pax:
        info.pax_headers = pax
    return info, data


def tar(members, compress="xz", fmt=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=fmt) as t:
        for info, data in members:
            t.addfile(info, io.BytesIO(data))
    raw = out.getvalue()
    if compress == "xz":
        return lzma.compress(raw, preset=1)
    if compress == "gz":
        import gzip
        return gzip.compress(raw)
    return raw


def good_members(top=TOP, files=None, links=None):
    out = [member(top + "/", tarfile.DIRTYPE, mode=0o755)]
    for name, data in (FILES if files is None else files).items():
        out.append(member(top + "/" + name, data=data, mode=0o755 if ".so" in name else 0o644))
    for name, target in (LINKS if links is None else links).items():
        out.append(member(top + "/" + name, tarfile.SYMTYPE, link=target))
    return out


def good_zip(top, files=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in (files or FILES).items():
            z.writestr(top + "/" + name, data)
    return out.getvalue()


def leaf(path, data, **over):
    out = {"relative_path": path, "sha256": hashlib.sha256(data).hexdigest(),
           "md5": hashlib.md5(data).hexdigest(), "size": str(len(data))}
    out.update(over)
    return out


class World:
    """A folder with a mirror, and runs of cuvet with a prefix and a cache of their own."""

    def __init__(self, base):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="fetch-", dir=base))
        self.mirror = self.base / "mirror"
        self.prefix, self.cache = self.base / "prefix", self.base / "cache"
        self.home, self.tmp, self.cwd = (self.base / n for n in ("home", "tmp", "cwd"))
        for path in (self.mirror, self.home, self.tmp, self.cwd):
            path.mkdir()

    def put(self, rel, data):
        path = self.mirror / rel
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def cudnn(self, archive, label="9.1.1", version="9.1.1.17", ending="tar.xz", over=None,
              platform="linux-x86_64", cuda="12"):
        """One manifest with one archive; returns the archive's path below cudnn/redist."""
        rel = "cudnn/%s/cudnn-%s-%s_cuda%s-archive.%s" % (platform, platform, version, cuda, ending)
        path = self.mirror / ("cudnn/redist/redistrib_%s.json" % label)
        doc = {"release_date": "2024-05-02", "release_label": label, "release_product": "cudnn"}
        doc["cudnn"] = {"name": "cuDNN", "license": "cudnn", "license_path": "cudnn/LICENSE.txt",
                        "version": version, "cuda_variant": [cuda]}
        if path.exists():
            doc = json.loads(path.read_text())
        doc["cudnn"].setdefault(platform, {})["cuda" + cuda] = leaf(rel, archive, **(over or {}))
        self.put("cudnn/redist/redistrib_%s.json" % label, json.dumps(doc).encode())
        self.put("cudnn/redist/" + rel, archive)
        return rel

    def env(self, **more):
        keep = {k: v for k, v in os.environ.items()
                if k in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "LC_ALL", "TZ")}
        keep.update(HOME=str(self.home), TMPDIR=str(self.tmp), **more)
        return keep

    def command(self, *args, mirror=None, cache=True):
        out = [CUVET, "fetch", *args, "--prefix", str(self.prefix)]
        if cache:
            out += ["--cache", str(self.cache)]
        if args[0] not in ("list", "verify", "remove", "use"):
            out += ["--mirror", str(mirror or self.mirror), "--no-live"]
        return out

    def run(self, *args, mirror=None, cache=True, env=None, timeout=60, **kw):
        return subprocess.run(self.command(*args, mirror=mirror, cache=cache), cwd=str(self.cwd),
                              env=self.env(**(env or {})), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=timeout, errors="replace", **kw)

    def install(self, *more, **kw):
        return self.run("cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64",
                        "--accept-license", *more, **kw)

    @property
    def target(self):
        return self.prefix / "cudnn/9.1.1.17-cuda12"

    def left(self):
        """What lies in the prefix, the lock aside."""
        if not self.prefix.exists():
            return []
        return sorted(str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*")
                      if p.name != ".lock")

    def untouched(self):
        return not any(any(p.iterdir()) for p in (self.home, self.tmp, self.cwd))

    def whole(self):
        """Is the installation exactly the good archive's?"""
        for name, data in FILES.items():
            if not (self.target / name).is_file() or (self.target / name).read_bytes() != data:
                return False
        return all(os.readlink(self.target / n) == t for n, t in LINKS.items())

    def done(self):
        shutil.rmtree(self.base, ignore_errors=True)


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, ok, result=None, more=""):
        self.count += 1
        self.failed += not ok
        print("%s %d - %s" % ("ok" if ok else "not ok", self.count, name), flush=True)
        if not ok:
            if result is not None:
                more = "exit %s\n%s\n%s\n%s" % (result.returncode, result.stdout[-1500:],
                                                result.stderr[-1500:], more)
            for line in str(more).splitlines():
                print("#   " + line)

    def skip(self, name, why):
        self.count += 1
        print("ok %d - %s # skip %s" % (self.count, name, why), flush=True)

    def end(self):
        print("1..%d" % self.count)
        raise SystemExit(1 if self.failed else 0)
