#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""fetch on a terminal: the licence is asked for, a line shows how far it is, Ctrl-C ends it. Prints
TAP."""
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from world import Tap, World  # noqa: E402
import test_net  # noqa: E402

ASK = ("cudnn", "9.1.1", "--cuda", "12", "--platform", "linux-x86_64")


def read(master, until, seconds=30):
    """What appears until it matches, or the process has gone."""
    seen, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not re.search(until, seen):
        if not select.select([master], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data.decode(errors="replace")
    return seen


class Session:
    """cuvet with a terminal as its standard streams, which is the controlling one."""

    def __init__(self, w, *args):
        master, slave = pty.openpty()
        self.p = subprocess.Popen(["setsid", "-c", "-w", *args], stdin=slave, stdout=slave, stderr=slave,
                                  cwd=str(w.cwd), env=w.env(TERM="xterm"))
        os.close(slave)
        self.master = master

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        text = read(self.master, "$ never ^", 20)
        code = self.p.wait(20)
        os.close(self.master)
        return code, text


def licence(tap, base, server, url):
    for answer, good in (("y", True), ("n", False), ("", False), ("Y", True), ("yes please", False)):
        w = World(base)
        s = Session(w, *w.command(*ASK, mirror=url + "/good"))
        asked = read(s.master, r"\[y/N\] ")
        files = [p for _, p, _ in server.seen if p.endswith(".xz")]
        s.type(answer + "\n")
        code, text = s.end()
        record = w.target / ".cuvet-record"
        ok = "licence" in asked and "LICENSE.txt" in asked and not files
        if good:
            ok = ok and code == 0 and w.whole() and " asked\n" in record.read_text()
        else:
            ok = ok and code == 2 and "--accept-license" in text and not w.left() and \
                not w.cache.exists() and not [p for _, p, _ in server.seen if p.endswith(".xz")]
        tap.check("the licence is asked for; %r" % answer, ok, more="%s %s %s" % (code, asked, text))
        del server.seen[:]
        w.done()


def bar(tap, base, server, url):
    w = World(base)
    s = Session(w, *w.command(*ASK, "--accept-license", "--limit-rate", "250k", mirror=url + "/good"))
    code, text = s.end()
    lines = [x for x in text.split("\r") if "downloading" in x]
    rate = [x for x in lines if re.search(r"\[#+\.+\] +\d+%  [\d.]+ / [\d.]+ MiB  [\d.]+ MiB/s  \d+ s left", x)]
    tap.check("a bar with percent, rate and time left", code == 0 and len(rate) >= 2 and
              w.whole() and all(len(x) < 120 for x in lines), more=text)
    tap.check("and it goes before the result", "\r\x1b[K" in text and
              text.rstrip().splitlines()[-1].startswith("  eval"), more=text)
    w.done()


def interrupts(tap, base, server, url):
    for name, more in (("stall", ()), ("good", ("--limit-rate", "50k"))):
        w = World(base)
        s = Session(w, *w.command(*ASK, "--accept-license", *more, mirror=url + "/" + name))
        read(s.master, r"downloading .*[1-9]%|downloading.*MiB/s" if more else "downloading")
        began = time.monotonic()
        s.type("\x03")
        code, text = s.end()
        took = time.monotonic() - began
        tap.check("Ctrl-C ends it in %.1f s (%s)" % (took, name), code == -signal.SIGINT and took < 15 and
                  not w.left(), more="%s %s %s" % (code, text, w.left()))
        w.done()
    w = World(base)
    s = Session(w, *w.command(*ASK, mirror=url + "/good"))
    read(s.master, r"\[y/N\] ")
    s.type("\x03")
    code, text = s.end()
    tap.check("Ctrl-C at the question", code == -signal.SIGINT and not w.left() and not w.cache.exists(),
              more="%s %s" % (code, text))
    w.done()


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as base:
        w = World(base)
        w.cudnn(test_net.ARCHIVE)
        server, url = test_net.serve(w)
        for test in (licence, bar, interrupts):
            test(tap, base, server, url)
        server.ended.set()
    tap.end()


if __name__ == "__main__":
    main()
