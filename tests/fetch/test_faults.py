#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""fetch when single calls fail: each call of install, use, remove and --into in turn, with the errors
that such a call gives, and SIGKILL there; file systems that lack something, the order of syncs and a
clock that runs backwards. STRIDE=N takes every N'th call (2), 0 none. Prints TAP.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import FILES, ROOT, TOP, Tap, World, good_members, member, tar  # noqa: E402
import tarfile  # noqa: E402

LIB = pathlib.Path(os.environ.get("CUVET_STANDIN", ROOT / "build/standin")) / "faulty-calls.so"
STRIDE = int(os.environ.get("STRIDE", "2"))
LOG = 1 << 20
EIO, ENOSPC, EACCES, EDQUOT, ENOSYS, EINVAL, EPERM, EMFILE = 5, 28, 13, 122, 38, 22, 1, 24
ERRORS = {EIO: "D2 EIO", ENOSPC: "D1 ENOSPC", EDQUOT: "D5 EDQUOT", EACCES: "D4 EACCES", EMFILE: "EMFILE"}
GOOD = tar(good_members() + [member(TOP + "/lib/hard", tarfile.LNKTYPE, link=TOP + "/LICENSE")])


class Faulty(World):
    """Runs with faults, and what the shim wrote about them."""

    def __init__(self, base):
        super().__init__(base)
        self.cudnn(GOOD)
        self.calls = self.base / "calls"
        self.kit = self.base / "kit"

    def faulty(self, fault, *args):
        self.calls.write_bytes(bytes(LOG))
        r = self.run(*args, env={"LD_PRELOAD": str(LIB), "CUVET_CALLS": str(self.calls),
                                 "CUVET_FAULT": fault})
        said = self.calls.read_bytes()
        self.n = int.from_bytes(said[:4], "little")
        self.log = said[64:].rstrip(b"\0").decode(errors="replace").splitlines()
        return r

    def fails(self, name, value):
        return self.faulty("%s=%d" % (name, value), *INSTALL)

    def state(self):
        """What a user sees of it: each installation, whole or not."""
        r = self.run("verify", "--json")
        if r.returncode not in (0, 4) or not r.stdout:
            return "verify: %d %s" % (r.returncode, r.stderr)
        return [(i["path"][len(str(self.base)):], i["current"], i["changed"], i["missing"])
                for i in json.loads(r.stdout)["items"]]

    def tree(self):
        """All that lies there, the lock and the cache aside."""
        out = {}
        for top in (self.prefix, self.kit):
            for p in sorted(top.rglob("*")) if top.exists() else ():
                name = re.sub("@[0-9a-f]{16}", "@...", str(p.relative_to(self.base)))
                if p.is_symlink():
                    out[name] = "-> " + os.readlink(p)
                elif p.is_file() and p.name != ".lock":
                    # The record holds the day on which it was made, and paths.
                    out[name] = "record" if "record" in p.name else p.read_bytes()
                elif p.is_dir() and (top == self.kit or any(p.iterdir())):
                    out[name] = "folder"
        return out


INSTALL = ("cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64", "--accept-license")


def into(w):
    return INSTALL + ("--into", str(w.kit))


def nothing(w):
    pass


def installed(w):
    w.install()


def extra(w):
    w.install()
    (w.target / "lib/mine").write_text("mine")


def two(w):
    w.install()
    shutil.copytree(w.target, w.prefix / "cudnn/9.1.0.17-cuda12", symlinks=True)
    record = w.prefix / "cudnn/9.1.0.17-cuda12/.cuvet-record"
    record.write_text(record.read_text().replace("9.1.1", "9.1.0"))
    for p in (w.prefix / "cudnn/9.1.0.17-cuda12/lib").iterdir():
        target = p.readlink() if p.is_symlink() else None
        name = p.with_name(p.name.replace("9.1.1", "9.1.0"))
        p.rename(name)
        if target:
            name.unlink()
            name.symlink_to(str(target).replace("9.1.1", "9.1.0"))


def kit(w):
    (w.kit / "lib64").mkdir(parents=True)
    (w.kit / "lib64/theirs").write_text("theirs")


def merged(w):
    kit(w)
    w.run(*into(w))


# name, what is there before, the command
OPERATIONS = (
    ("fetch", nothing, lambda w: INSTALL),
    ("use", two, lambda w: ("use", "cudnn/9.1.0")),
    ("remove", installed, lambda w: ("remove", "cudnn/9.1.1")),
    ("remove around what is not ours", extra, lambda w: ("remove", "cudnn/9.1.1")),
    ("fetch --into", kit, into),
    ("remove what was merged", merged, lambda w: ("remove", "cudnn/9.1.1")),
)


def prepare(base, name, before):
    w = Faulty(base)
    before(w)
    return w


class Goal:
    """The operation without a fault: how many calls it takes, and what it makes of what."""

    def __init__(self, base, operation):
        self.name, self.before, self.command = operation
        w = prepare(base, self.name, self.before)
        self.old = w.state()
        r = w.faulty("", *self.command(w))
        self.new, self.tree, self.n, self.log = w.state(), w.tree(), w.n, w.log
        self.ok = r.returncode == 0 and self.n > 50 and self.old != self.new
        w.done()


def one(base, goal, fault):
    """One run with a fault, then one without; returns what is wrong."""
    w = prepare(base, goal.name, goal.before)
    command = goal.command(w)
    try:
        r = w.faulty(fault, *command)
    except subprocess.TimeoutExpired:
        return ["%s: it hangs" % fault]
    killed = "kill" in fault
    state = w.state()
    wrong = []
    if r.returncode not in ((0, 4, -9) if killed else (0, 4)):
        wrong.append("exit %d" % r.returncode)
    if r.returncode == 4 and ("cuvet: " not in r.stderr or r.stdout):
        wrong.append("exit 4 without a word, or with a result")
    if state != goal.new and (state != goal.old or r.returncode == 0):
        wrong.append("neither the old state nor the new: %s" % (state,))
    if not w.untouched():
        wrong.append("touched what it should not")
    again = w.run(*command)
    # What was taken away by the first run cannot be taken away by the second.
    gone = command[0] == "remove" and again.returncode == 2 and state == goal.new
    if again.returncode and not gone:
        wrong.append("the next run: exit %d, %s" % (again.returncode, again.stderr))
    if w.tree() != goal.tree:
        wrong.append("after the next run: %s" % sorted(set(map(str, w.tree())) ^
                                                         set(map(str, goal.tree))))
    what = [line for line in w.log if line.startswith("FAULT")]
    w.done()
    return ["%s (%s): %s\n%s" % (fault, " ".join(what), x, r.stderr) for x in wrong]


def sweep(tap, base, pool):
    errors = list(ERRORS)
    for operation in OPERATIONS:
        goal = Goal(base, operation)
        tap.check("%s: %d calls without a fault" % (goal.name, goal.n), goal.ok,
                  more="%s %s" % (goal.old, goal.new))
        faults = ["%d:%d" % (n, errors[n // STRIDE % len(errors)]) for n in range(1, goal.n + 1, STRIDE)]
        wrong = sum(pool.map(lambda f: one(base, goal, f), faults), [])
        tap.check("X2 %s: each call fails in turn" % goal.name, not wrong, more="\n".join(wrong))
        kills = ["%d:%s" % (n, how) for n in range(1, goal.n + 1, 2 * STRIDE) for how in ("killall",)]
        wrong = sum(pool.map(lambda f: one(base, goal, f), kills), [])
        tap.check("D8 %s: SIGKILL at the calls in turn" % goal.name, not wrong, more="\n".join(wrong))


def errors_of_writing(tap, base):
    """What a disk says while something is written, and how it is passed on."""
    for name, value, label, text in (
            ("write", EIO, "D2 EIO while unpacking", "Input/output error"),
            ("pwrite", EIO, "D2 EIO in the cache", "Input/output error"),
            ("pread", EIO, "D2 EIO while reading", "Input/output error"),
            ("fsync", EIO, "D2 EIO of a sync", "Input/output error"),
            ("pwrite", EDQUOT, "D5 quota in the cache", "no space left in the cache"),
            ("write", EDQUOT, "D5 quota while unpacking", "no space left"),
            ("renameat2", EDQUOT, "D5 quota at the last step", "quota"),
            ("symlinkat", EDQUOT, "D5 quota for a link", "no space left while unpacking"),
            ("mkdirat", ENOSPC, "D1 no room for a folder", "No space")):
        w = Faulty(base)
        r = w.fails(name, value)
        hit = any(line.startswith("FAULT") for line in w.log)
        tap.check(label, r.returncode == 4 and text in r.stderr.splitlines()[-1] and hit and
                  not w.left() and not w.state() and w.untouched(), r, "%s %s" % (hit, w.left()))
        r = w.install()
        tap.check(label + ": and then it goes on", r.returncode == 0 and w.whole(), r)
        w.done()
    w = Faulty(base)
    w.install()
    r = w.faulty("pread=5", "verify")
    tap.check("D2 EIO: verify cannot tell, and says so", r.returncode == 4 and not r.stdout and
              "Input/output error" in r.stderr, r)
    w.done()


def poor_file_systems(tap, base):
    """D7: what vfat, NFS, overlay and old kernels lack."""
    for fault, label in (
            ("linkat=1", "no hard links (EPERM): copied"),
            ("linkat=18", "no hard links between folders (EXDEV): copied"),
            ("linkat=95", "no hard links (EOPNOTSUPP): copied"),
            ("renameat2=22", "no renameat2 flags (EINVAL)"),
            ("renameat2=38", "no renameat2 (ENOSYS)"),
            ("openat2=38", "no openat2 (ENOSYS)"),
            ("openat2=38 renameat2=22 linkat=1 syncfs=38 fstatvfs64=38", "none of them"),
            ("short", "short reads and writes, EINTR")):
        w = Faulty(base)
        r = w.faulty(fault, *INSTALL)
        good = r.returncode == 0 and w.whole() and (w.target / "lib/hard").read_bytes() == \
            FILES["LICENSE"] and w.run("verify").returncode == 0
        if "linkat" in fault:
            good = good and (w.target / "lib/hard").stat().st_nlink == 1
        tap.check("D7 " + label, good, r)
        r = w.faulty(fault, "remove", "cudnn/9.1.1")
        tap.check("D7 %s: and taken away" % label, r.returncode == 0 and not w.left(), r)
        w.done()
    w = Faulty(base)
    r = w.fails("symlinkat", EPERM)
    tap.check("D7 no symbolic links: said, with what to do", r.returncode == 4 and
              "takes no symbolic links" in r.stderr and "--prefix" in r.stderr and not w.left(), r)
    w.done()
    w = Faulty(base)
    r = w.faulty("flock=37", *INSTALL)
    tap.check("D7 no locks (ENOLCK): said", r.returncode == 4 and ".lock: " in r.stderr and
              not w.left(), r)
    w.done()


def no_threads(tap, base):
    """An archive of several blocks is decoded by threads, and without them all the same."""
    big = os.urandom(1 << 18) * 40
    members = good_members(files={**FILES, "lib/big": big})
    raw = tar(members, compress="")
    if not shutil.which("xz"):
        tap.skip("xz of several blocks", "needs xz")
        return
    blocks = subprocess.run(["xz", "-0", "-T2", "--block-size=1MiB"], input=raw,
                            stdout=subprocess.PIPE).stdout
    for fault, threads, label in (("", 1, "by threads"), ("pthread_create=11", 0, "without threads"),
                                  ("thread2", 1, "with one thread")):
        w = Faulty(base)
        w.cudnn(blocks)
        r = w.faulty(fault, *INSTALL)
        made = sum(line.startswith("thread") for line in w.log)
        tap.check("xz of several blocks, " + label, r.returncode == 0 and w.whole() and
                  (w.target / "lib/big").read_bytes() == big and (made > 0) == (threads > 0), r, w.log)
        w.done()


def long_names(tap, base):
    """D6: as long as a name may be, and longer."""
    w = Faulty(base)
    deep = w.base
    while len(str(deep)) < 3800:
        deep = deep / ("d" * 200)
    for prefix, good in ((deep, True), (deep / ("d" * 255) / ("e" * 200), False),
                         (w.base / ("n" * 256), False), (w.base / "/".join(["x" * 250] * 20), False)):
        w.prefix = prefix
        r = w.install()
        if good:
            tap.check("D6 a prefix of %d characters" % len(str(prefix)), r.returncode == 0 and
                      w.run("verify").returncode == 0 and
                      w.run("remove", "cudnn/9.1.1").returncode == 0, r)
        else:
            tap.check("D6 a prefix of %d characters, too long" % len(str(prefix)),
                      r.returncode == 4 and "File name too long" in r.stderr and w.untouched() and
                      not any(p.name.startswith("cudnn") for p in w.base.rglob("*")
                              if w.mirror not in p.parents and w.cache not in p.parents), r)
    w.done()


def order_of_syncs(tap, base):
    """D9: when the name is given, all that lies below it is on the disk, and then the name is."""
    for many in (False, True):
        w = Faulty(base)
        if many:
            files = dict(FILES, **{"include/d%d/h.h" % i: b"x" for i in range(60)})
            w.cudnn(tar(good_members(files=files)))
        r = w.faulty("", *INSTALL)
        log = [line.split(" ", 1) for line in w.log]
        named = [i for i, (call, what) in enumerate(log) if call == "renameat" and what == str(w.target)]
        stage = next(what for call, what in log if call == "mkdirat" and "/.stage-" in what)
        before, after = log[:named[0]], log[named[0] + 1:]
        last = {}  # when what lies below the staging folder was changed last
        for i, (call, what) in enumerate(before):
            # A second name has its data from the first.
            if what.startswith(stage + "/") and call != "linkat":
                last[what] = i
                if call != "fsync":
                    last[str(pathlib.Path(what).parent)] = i
        synced = {what: i for i, (call, what) in enumerate(before) if call == "fsync"}
        whole = max((i for i, (call, what) in enumerate(before) if call == "syncfs"), default=-1)
        gone = {what for call, what in before if call in ("unlinkat",)}
        gone |= {what for call, what in before if "/.cuvet-new-" in what or call == "symlinkat"}
        missing = [p for p, i in last.items() if p not in gone and max(synced.get(p, -1), whole) < i]
        # What was renamed into place was synced under its first name.
        missing = [p for p in missing if not p.endswith("/.cuvet-record")]
        new = [i for i, (call, what) in enumerate(before) if call == "fsync" and "/.cuvet-new-" in what
               and what.startswith(stage)]
        record = [i for i, (call, what) in enumerate(before)
                  if call == "renameat" and what.endswith("/.cuvet-record")]
        parents = [what for call, what in after if call == "fsync"][:2]
        tap.check("D9 all is synced before the name is given (%s)" % ("one by one", "syncfs")[many],
                  r.returncode == 0 and len(named) == 1 and not missing and new and record and
                  new[0] < record[0] and (whole >= 0) == many, r, str(missing))
        tap.check("D9 and the folders of the name after it (%s)" % ("one by one", "syncfs")[many],
                  parents == [str(w.target.parent), str(w.prefix)], more=str(after))
        if not many:
            twice = [p for p in synced if p != stage and
                     sum(call == "fsync" and what == p for call, what in before) > 1]
            tap.check("each file and folder is synced once", not twice, more=str(twice))
        made = [what for call, what in log if call in ("create", "mkdirat", "symlinkat", "renameat")]
        outside = [p for p in made if not p.startswith((str(w.prefix), str(w.cache)))]
        tap.check("nothing is made outside the prefix and the cache", not outside, more=str(outside))
        w.done()


def clock(tap, base):
    w = Faulty(base)
    r = w.faulty("clock", *INSTALL)
    turns = int.from_bytes(w.calls.read_bytes()[12:16], "little")
    tap.check("D14 a clock that runs backwards", r.returncode == 0 and w.whole() and turns > 0, r)
    for path in list(w.prefix.rglob("*")) + list(w.cache.rglob("*")):
        os.utime(path, (4e9, 4e9), follow_symlinks=False)
    r = w.run("verify")
    tap.check("D14 files of the future are what they are", r.returncode == 0, r)
    r = w.run("remove", "cudnn/9.1.1")
    again = w.install()
    tap.check("D14 a cache of the future serves", r.returncode == 0 and again.returncode == 0 and
              w.whole(), again)
    w.done()


def main():
    tap = Tap()
    if not LIB.exists():
        tap.skip("faults", "needs the stand-ins")
        tap.end()
    with tempfile.TemporaryDirectory() as base, concurrent.futures.ThreadPoolExecutor(4) as pool:
        for test in (errors_of_writing, poor_file_systems, no_threads, long_names, order_of_syncs, clock):
            test(tap, base)
        if STRIDE:
            sweep(tap, base, pool)
    tap.end()


if __name__ == "__main__":
    main()
