#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program costs, held against something real that runs right beside it.

A limit in seconds fails on a slow or busy machine, whatever the program does. So the processor
time of the least of some turns is divided by that of Python doing what hardly ever changes, in
turns with it: starting (START, about 7 ms) for programs that take milliseconds, counting (WORK,
about 150 ms) for those that take longer. What slows the one slows the other.

    yardstick.py start|work LIMIT MIB COMMAND...

prints the ratio and the peak of memory, and fails where either is above its limit."""
import os
import sys

START = ["python3", "-S", "-E", "-c", "pass"]
WORK = ["python3", "-S", "-E", "-c", "s = 0\nfor i in range(2000000): s += i * i % 7"]


def spent(args, stdin=None):
    """Processor seconds, peak memory in MiB, exit status; what the program writes to standard
    output is thrown away. The parent has to stay small: a child's peak counts what it was forked
    from."""
    pid = os.fork()
    if not pid:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(os.open(stdin, os.O_RDONLY) if stdin else null, 0)
        os.dup2(null, 1)
        os.execvp(args[0], args)
    _, status, used = os.wait4(pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def ratio(args, unit, limit, turns=10):
    """How many times as long as the unit it takes, with a line that says so, the largest peak of
    memory and the exit status. It ends early once the limit is kept, as further turns can only
    bring it down."""
    least = least_unit = float("inf")
    memory = 0
    for _ in range(turns):
        least_unit = min(least_unit, spent(unit)[0])
        seconds, peak, code = spent(args)
        least, memory = min(least, seconds), max(memory, peak)
        if least <= limit * least_unit:
            break
    times = least / least_unit
    name = "starting" if unit is START else "counting in"
    return times, f"{least * 1000:.1f} ms, {times:.2f} x {name} Python, {memory:.0f} MiB", memory, code


def main():
    limit, mib = float(sys.argv[2]), float(sys.argv[3])
    times, text, memory, _ = ratio(sys.argv[4:], START if sys.argv[1] == "start" else WORK, limit)
    print(text)
    return not (times <= limit and memory <= mib)


if __name__ == "__main__":
    sys.exit(main())
