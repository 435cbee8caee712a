#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""fetch and hostile archives, by the classes A of faults: each is refused with exit 4, and then the
prefix holds a lock at most and nothing outside it was touched. Prints TAP.
"""
import concurrent.futures
import io
import lzma
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import (FILES, TOP, Tap, World, good_members, good_zip, member, tar)  # noqa: E402

T = tarfile


def evil(*more, **kw):
    return tar(good_members() + list(more), **kw)


def header(name, size_field, data=b""):
    """A ustar header whose size field is these bytes."""
    info = T.TarInfo(name)
    raw = bytearray(info.tobuf(T.USTAR_FORMAT))
    raw[124:136] = size_field
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw)
    return bytes(raw) + data


def raw_tar(*headers):
    body = tar(good_members(), compress="")
    end = len(body.rstrip(b"\0"))
    end += -end % 512
    return lzma.compress(body[:end] + b"".join(headers) + b"\0" * 1024, preset=0)


def sparse_bomb():
    """A sparse file whose map says 9 GiB of nothing."""
    info = T.TarInfo(TOP + "/lib/sparse")
    info.size = 0
    info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1",
                        "GNU.sparse.name": TOP + "/lib/sparse", "GNU.sparse.size": str(9 << 30),
                        "GNU.sparse.realsize": str(9 << 30), "GNU.sparse.numblocks": "0",
                        "GNU.sparse.map": ""}
    return evil((info, b""))


def two_sizes(pax, ustar, kind=T.REGTYPE, more=()):
    """Extended header and ustar header disagree about the size, and so about where the next header
    is: in what is the contents for one reader lies an archive for the other."""
    inner = tar([member(TOP + "/evil", data=b"x" * 10)], compress="")[:1024]
    sizes = {"inner": len(inner), "none": 0}
    info = T.TarInfo(TOP + "/lib/odd")
    info.type = kind
    info.size = sizes.get(ustar, ustar)
    records = [b"size=%d" % sizes[pax]] if pax in sizes else []
    # Two digits of length, a blank and the end of the line.
    records = b"".join(b"%d %s\n" % (len(r) + 4, r) for r in records + list(more))
    ext = T.TarInfo("./PaxHeaders/odd")
    ext.type, ext.size = T.XHDTYPE, len(records)
    return raw_tar(ext.tobuf(T.USTAR_FORMAT) + records + b"\0" * (-len(records) % 512) +
                   info.tobuf(T.GNU_FORMAT) + inner)


def all_sizes():
    """A global header that gives all entries a size."""
    ext = T.TarInfo("./GlobalHead")
    ext.type, ext.size = T.XGLTYPE, 11
    return raw_tar(ext.tobuf(T.USTAR_FORMAT) + b"11 size=10\n" + b"\0" * 501)


def names(*heads):
    """Headers in front of one entry that name it: (type, contents)."""
    out = b""
    for kind, text in heads:
        if kind != T.GNUTYPE_LONGNAME:
            n = len(text) + 4
            text = b"%d %s\n" % (n if n > 9 else n - 1, text)
        ext = T.TarInfo("./PaxHeaders/odd")
        ext.type, ext.size = kind, len(text)
        out += ext.tobuf(T.USTAR_FORMAT) + text + b"\0" * (-len(text) % 512)
    return raw_tar(out + T.TarInfo(TOP + "/odd").tobuf(T.USTAR_FORMAT))


def zeros(mib):
    out = io.BytesIO()
    with lzma.open(out, "w", preset=0) as x, T.open(fileobj=x, mode="w|") as t:
        for info, data in good_members():
            t.addfile(info, io.BytesIO(data))
        info = T.TarInfo(TOP + "/lib/zeros")
        info.size = mib << 20
        with open("/dev/zero", "rb") as zero:
            t.addfile(info, zero)
    return out.getvalue()


RAW = tar(good_members(), compress="")


def blocks(damage=False):
    """xz of several blocks, as several threads make it."""
    data = bytearray(subprocess.run(["xz", "-T2", "--block-size=10KiB"], input=RAW,
                                    stdout=subprocess.PIPE, check=True).stdout)
    if damage:
        data[len(data) // 2] ^= 0xFF
    return bytes(data)


LONG = "/".join(["d" * 20] * 60)
CASES = [
    # label, archive, what the message says
    ("A1 absolute name", lambda: evil(member("/tmp/cuvet-evil", data=b"x")), "absolute"),
    ("A2 ..", lambda: evil(member(TOP + "/../evil", data=b"x")), '".."'),
    ("A2 .. in front", lambda: evil(member("../evil", data=b"x")), '".."'),
    ("A2 .. as a folder", lambda: evil(member(TOP + "/..", T.DIRTYPE)), '".."'),
    ("A3 link, then a file through it", lambda: evil(
        member(TOP + "/out", T.SYMTYPE, link="lib"), member(TOP + "/out/evil", data=b"x")), "below what is no folder"),
    ("A4 link to an absolute name", lambda: evil(member(TOP + "/out", T.SYMTYPE, link="/tmp")), "absolute"),
    ("A4 link that leads out", lambda: evil(member(TOP + "/lib/out", T.SYMTYPE, link="../../x")), "leads out"),
    ("A4 link with .. behind a link", lambda: evil(
        member(TOP + "/here", T.SYMTYPE, link="lib"),
        member(TOP + "/out", T.SYMTYPE, link="here/../../x")), "behind a name"),
    ("A5 hard link to outside", lambda: evil(member(TOP + "/out", T.LNKTYPE, link="/etc/passwd")), "hard link"),
    ("A5 hard link by ..", lambda: evil(member(TOP + "/out", T.LNKTYPE, link=TOP + "/../../x")), "hard link"),
    ("A5 hard link to what is not there", lambda: evil(member(TOP + "/out", T.LNKTYPE, link=TOP + "/no")), "hard link"),
    ("A6 hard link to a link", lambda: evil(
        member(TOP + "/hl", T.LNKTYPE, link=TOP + "/lib/libcudnn.so")), "hard link"),
    ("A7 a folder becomes a link", lambda: evil(member(TOP + "/lib", T.SYMTYPE, link="include")), "twice"),
    ("A7 a link becomes a folder", lambda: evil(
        member(TOP + "/x", T.SYMTYPE, link="lib"), member(TOP + "/x", T.DIRTYPE)), "twice"),
    ("A8 a file comes twice", lambda: evil(member(TOP + "/LICENSE", data=b"other")), "twice"),
    ("A9 names that differ in case", lambda: evil(member(TOP + "/license", data=b"x")), "case"),
    ("A9 folders that differ in case", lambda: evil(member(TOP + "/LIB/x", data=b"x")), "case"),
    ("A9 names that differ in composition", lambda: evil(member(TOP + "/\u00e9", data=b"x")), "name"),
    ("A10 control character", lambda: evil(member(TOP + "/a\x1b[2Jb", data=b"x")), "character"),
    ("A10 newline", lambda: evil(member(TOP + "/a\nend", data=b"x")), "character"),
    ("A10 NUL in a name by pax", lambda: names((T.XHDTYPE, b"path=%s/a\0b" % TOP.encode())), "take differently"),
    ("A10 a name for all", lambda: names((T.XGLTYPE, b"path=%s/x" % TOP.encode())), "take differently"),
    ("A10 two names by pax", lambda: names(*[(T.XHDTYPE, b"path=%s/x%d" % (TOP.encode(), i))
                                             for i in (1, 2)]), "take differently"),
    ("A10 a name by GNU, another by pax", lambda: names(
        (T.GNUTYPE_LONGNAME, TOP.encode() + b"/a\0"),
        (T.XHDTYPE, b"path=%s/b" % TOP.encode())), "take differently"),
    ("A10 backslash", lambda: evil(member(TOP + "/a\\b", data=b"x")), "character"),
    ("A10 drive", lambda: evil(member("C:evil", data=b"x")), "drive"),
    ("A10 . in a name", lambda: evil(member(TOP + "/lib/./x", data=b"x")), '"."'),
    ("A10 empty part", lambda: evil(member(TOP + "/lib//x", data=b"x")), "empty"),
    ("A10 name of cuvet's own", lambda: evil(member(TOP + "/.cuvet-record", data=b"x")), "for itself"),
    ("A10 outside the top folder", lambda: evil(member("other/x", data=b"x")), "top folder"),
    ("A11 very long part", lambda: evil(member(TOP + "/" + "n" * 300, data=b"x")), "too long"),
    ("A11 very deep", lambda: evil(member(TOP + "/" + LONG + "/x", data=b"x")), "too"),
    ("A12 device", lambda: evil(member(TOP + "/null", T.CHRTYPE)), "device"),
    ("A12 pipe", lambda: evil(member(TOP + "/pipe", T.FIFOTYPE)), "device"),
    ("A13 setuid", lambda: evil(member(TOP + "/su", data=b"x", mode=0o4755)), "set-id"),
    ("A13 setgid folder", lambda: evil(member(TOP + "/g", T.DIRTYPE, mode=0o2755)), "set-id"),
    ("A13 sticky file", lambda: evil(member(TOP + "/t", data=b"x", mode=0o1644)), "sticky"),
    ("A13 file capabilities", lambda: evil(member(
        TOP + "/cap", data=b"x", pax={"SCHILY.xattr.security.capability": "x"})), "capabilities"),
    ("A14 size 0 by pax, more by ustar", lambda: two_sizes("none", "inner"), "has two sizes"),
    ("A14 size 0 by ustar, more by pax", lambda: two_sizes("inner", "none"), "has two sizes"),
    ("A14 sizes by one", lambda: two_sizes("inner", 1025), "has two sizes"),
    ("A14 two sizes by pax", lambda: two_sizes("inner", "inner", more=[b"size=0"]), "take differently"),
    ("A14 a size for all", lambda: all_sizes(), "take differently"),
    ("A14 a hard link with contents", lambda: two_sizes(None, "inner", kind=T.LNKTYPE),
     "no contents"),
    ("A14 a folder with contents", lambda: two_sizes(None, "inner", kind=T.DIRTYPE), "no contents"),
    ("A15 negative size", lambda: raw_tar(header(TOP + "/neg", b"\xff" * 12)), "cannot be read"),
    ("A15 size beyond all", lambda: raw_tar(header(TOP + "/big", b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7)), ""),
    ("A15 size of 90 bits", lambda: raw_tar(header(TOP + "/big", b"\x80" + b"\x7f" * 11)), "cannot be read"),
    ("A15 size in words", lambda: raw_tar(header(TOP + "/big", b"0000001x000\0")), "cannot be read"),
    ("A16 bad checksum", lambda: raw_tar(b"x" * 512), ""),
    ("A17 cut", lambda: tar(good_members())[:-100], ""),
    ("A17 cut in a member", lambda: lzma.compress(tar(good_members(), compress="")[:30000]), ""),
    ("A18 more entries than 50,000", lambda: evil(*(
        member("%s/lib/%d" % (TOP, i)) for i in range(50001))), "50000 entries"),
    ("A18 zeros, 200 times", lambda: zeros(300), "200 times"),
    ("A18 compressed twice", lambda: lzma.compress(tar(good_members())), "twice"),
    ("A19 sparse map of 9 GiB", sparse_bomb, "unpacks to more than"),
    ("A20 a second archive behind the end", lambda: lzma.compress(
        tar(good_members(), compress="") + tar([member(TOP + "/more", data=b"x")], compress="")), "behind its end"),
    ("A20 a second stream behind the end", lambda: tar(good_members()) + tar(
        [member(TOP + "/more", data=b"x")]), "behind its end"),
    ("A20 bytes behind the xz stream", lambda: tar(good_members()) + b"more" * 100, "xz stream is wrong"),
    ("A20 a tar that goes on in a second stream", lambda: lzma.compress(RAW[:3000]) +
     lzma.compress(RAW[3000:] + b"x"), "behind its end"),
    ("A17 xz cut in its index", lambda: tar(good_members())[:-20], "cut off"),
    ("A17 xz of several blocks, one of them damaged", lambda: blocks(damage=True), "xz stream is wrong"),
    ("a tar that is called tar.xz", lambda: tar(good_members(), compress=""), "not compressed as its name"),
    ("A22 nothing in it", lambda: tar([member(TOP, T.DIRTYPE)]), "no file"),
]


def zip_lies():
    data = bytearray(good_zip(TOP))
    at = data.find(b"PK\x03\x04", 10)
    name = at + 30
    data[name + len(TOP) + 1] ^= 1  # the local header's name alone
    return bytes(data)


def zip_hidden():
    """An entry that only a reader of streams sees."""
    whole, extra = good_zip(TOP), good_zip(TOP, {"hidden": b"x" * 50})
    entry = extra[:extra.find(b"PK\x01\x02")]
    at = whole.find(b"PK\x01\x02")
    end = whole.rfind(b"PK\x05\x06")
    out = bytearray(whole[:at] + entry + whole[at:])
    struct.pack_into("<I", out, end + len(entry) + 16, at + len(entry))
    return bytes(out)


def zip_twice():
    """Two of the same sizes: the directory is the first one's or the second one's, by the reader."""
    other = {n: bytes(reversed(d)) for n, d in FILES.items()}
    stored = []
    for files in (FILES, other):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
            for name, data in files.items():
                z.writestr(zipfile.ZipInfo(TOP + "/" + name), data)
        stored.append(out.getvalue())
    return b"".join(stored)


def zip_of(name, mode):
    out = io.BytesIO(good_zip(TOP))
    with zipfile.ZipFile(out, "a") as z:
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, mode << 16
        z.writestr(info, "../../x")
    return out.getvalue()


def zip_packed(method):
    """One entry of several that is packed in another way."""
    out = io.BytesIO(good_zip(TOP))
    with zipfile.ZipFile(out, "a") as z:
        z.writestr(TOP + "/lib/odd", b"packed" * 500, compress_type=method)
    return out.getvalue()


def zip_two_methods():
    """Stored as its own header says, deflated by the directory."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        for name, data in FILES.items():
            z.writestr(TOP + "/" + name, data)
    data = bytearray(out.getvalue())
    struct.pack_into("<H", data, data.find(b"PK\x01\x02") + 10, zipfile.ZIP_DEFLATED)
    return bytes(data)


ZIPS = [
    ("a zip with an entry of bzip2", lambda: zip_packed(zipfile.ZIP_BZIP2), "method 12"),
    ("a zip with an entry of LZMA", lambda: zip_packed(zipfile.ZIP_LZMA), "method 14"),
    ("A21 two methods of one entry", zip_two_methods, "directory of the zip"),
    ("A21 local name against central", zip_lies, ""),
    ("A21 entry of one reader alone", zip_hidden, "different files"),
    ("A20 two zips, the second one for some readers", zip_twice, "directory of the zip"),
    ("A2 zip with ..", lambda: good_zip(TOP + "/../.."), '".."'),
    ("A4 zip with a link that leads out", lambda: zip_of(TOP + "/lib/l", 0o120777), "leads out"),
    ("A13 zip with setuid", lambda: zip_of(TOP + "/su", 0o104755), "set-id"),
]


def refuse(base, label, archive, said, ending, platform="linux-x86_64"):
    w = World(base)
    w.cudnn(archive(), ending=ending, platform=platform)
    r = w.run("cudnn", "9.1.1", "--cuda", "12", "--platform", platform, "--accept-license")
    problems = []
    if r.returncode != 4:
        problems.append("exit %d" % r.returncode)
    if w.left():
        problems.append("left: %s" % w.left()[:5])
    if not w.untouched() or (w.base / "evil").exists() or os.path.exists("/tmp/cuvet-evil"):
        problems.append("touched something")
    if said not in r.stderr:
        problems.append("does not say " + said)
    if r.stdout or "\x1b" in r.stderr:
        problems.append("output")
    if [p for p in w.cache.rglob("*") if p.is_file()]:
        problems.append("the archive stays in the cache")
    w.done()
    return label, not problems, r, "; ".join(problems)


def good(tap, base):
    for label, archive, ending, platform in (
            ("a good tar.xz", tar(good_members()), "tar.xz", "linux-x86_64"),
            ("a good tar.xz of several blocks", blocks(), "tar.xz", "linux-x86_64"),
            ("a good tar.xz of two streams", lzma.compress(RAW[:3000]) + lzma.compress(RAW[3000:]),
             "tar.xz", "linux-x86_64"),
            ("a good tar.gz", tar(good_members(), compress="gz"), "tar.gz", "linux-x86_64"),
            ("a good zip", good_zip(TOP), "zip", "windows-x86_64")):
        w = World(base)
        w.cudnn(archive, ending=ending, platform=platform)
        r = w.run("cudnn", "9.1.1", "--cuda", "12", "--platform", platform, "--accept-license")
        same = all((w.target / n).is_file() and (w.target / n).read_bytes() == d
                   for n, d in FILES.items())
        tap.check(label, r.returncode == 0 and same, r)
        w.done()
    w = World(base)
    w.cudnn(evil(member(TOP + "/lib/hard", T.LNKTYPE, link=TOP + "/lib/libcudnn.so.9.1.1")))
    r = w.install()
    v = w.run("verify")
    tap.check("a hard link to a file before it", r.returncode == 0 and v.returncode == 0 and
              (w.target / "lib/hard").read_bytes() == FILES["lib/libcudnn.so.9.1.1"], r)
    w.done()
    # What a good tar may hold beside files: long names, pax headers, sparse files of both kinds.
    odd = [member(TOP + "/lib/" + "n" * 150, data=b"long", pax={"comment": "size=7"})]
    for fmt in (T.PAX_FORMAT, T.GNU_FORMAT):
        w = World(base)
        w.cudnn(tar(good_members() + odd, fmt=fmt))
        r = w.install()
        tap.check("A14 long names and headers are taken (%s)" % fmt, r.returncode == 0 and w.whole() and
                  (w.target / "lib" / ("n" * 150)).read_bytes() == b"long", r)
        w.done()
    for kind in ("gnu", "pax"):
        w = World(base)
        top = w.base / TOP
        top.mkdir()
        with open(top / "holes", "wb") as f:
            for i in range(60):
                f.seek(i * 65536)
                f.write(b"data")
        good = {**FILES, "holes": (top / "holes").read_bytes()}
        for name, data in FILES.items():
            (top / name).parent.mkdir(exist_ok=True)
            (top / name).write_bytes(data)
        raw = subprocess.run(["tar", "-C", str(w.base), "-S", "--format=" + kind, "-cf", "-", TOP],
                             stdout=subprocess.PIPE).stdout
        w.cudnn(lzma.compress(raw))
        r = w.install("--max-size", "64M")
        tap.check("A19 a sparse file is taken (%s, %d bytes)" % (kind, len(raw)), r.returncode == 0 and
                  all((w.target / n).read_bytes() == d for n, d in good.items()), r)
        w.done()
    w = World(base)
    w.cudnn(evil(member(TOP + "/odd", data=b"x", mode=0o777)))
    r = w.install()
    tap.check("A13 world-writable becomes 0755", r.returncode == 0 and
              (w.target / "odd").stat().st_mode & 0o7777 == 0o755, r)
    w.done()
    w = World(base)
    w.cudnn(zeros(300))
    r = w.install("--max-size", "400M")
    tap.check("A18 --max-size raises the limits", r.returncode == 0, r)
    r = w.run("remove", "cudnn/9.1.1")
    r = w.install("--max-size", "200M")
    tap.check("A18 --max-size is a limit too", r.returncode == 4 and "200 MiB" in r.stderr, r)
    w.done()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        good(tap, base)
        cases = [(*c, "tar.xz", "linux-x86_64") for c in CASES]
        cases += [(*c, "zip", "windows-x86_64") for c in ZIPS]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for result in pool.map(lambda case: refuse(base, *case), cases):
                tap.check(*result)
    tap.end()


if __name__ == "__main__":
    main()
