#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libcuvet from Python, with nothing but ctypes: what an installer would ask before it installs.

    python3 check.py                    # this machine
    python3 check.py 'gpu=RTX 5090' driver=580.65.06 torch=2.6.0+cu124 python=3.12
"""
import ctypes
import json
import os
import sys


class CuvetError(Exception):
    """What cuvet could not do; what it found out is no error."""


class Cuvet:
    """A context of libcuvet. One thread at a time."""

    VERDICTS = ("stack-ok", "degraded", "blocked", "undetermined")

    def __init__(self, library=os.environ.get("LIBCUVET", "libcuvet.so.0")):
        self._lib = ctypes.CDLL(library)
        self._lib.cuvet_error.argtypes = [ctypes.c_void_p]
        self._lib.cuvet_error.restype = ctypes.c_char_p
        self._lib.cuvet_close.argtypes = [ctypes.c_void_p]
        self._lib.cuvet_close.restype = None
        self._c = ctypes.c_void_p()
        self._call("cuvet_open", None, ctypes.byref(self._c), context=False)

    def _call(self, name, *args, context=True):
        status = getattr(self._lib, name)(*((self._c,) if context else ()), *args)
        if status < 0:
            raise CuvetError(self._lib.cuvet_error(self._c).decode())
        return status

    def assume(self, **facts):
        """assume(gpu="T4", driver="535"): declared facts; a list for several GPUs."""
        for key, values in facts.items():
            for value in values if isinstance(values, (list, tuple)) else [values]:
                self._call("cuvet_assume", f"{key}={value}".encode())

    def look(self, live=True):
        """This machine, or only what was assumed."""
        self._call("cuvet_look_live" if live else "cuvet_look_assumed")

    def look_text(self, text):
        """Pasted text: a log, a traceback, nvidia-smi."""
        data = text.encode()
        self._call("cuvet_look_text", None, data, ctypes.c_size_t(len(data)))

    def verdict(self):
        """One of VERDICTS."""
        return self.VERDICTS[self._call("cuvet_judge")]

    def report(self):
        """The report (schema cuvet.report/1) as a dictionary."""
        text, n = ctypes.c_char_p(), ctypes.c_size_t()
        self._call("cuvet_report", b"json", ctypes.byref(text), ctypes.byref(n))
        return json.loads(ctypes.string_at(text, n.value))

    def close(self):
        """Frees the context."""
        self._lib.cuvet_close(self._c)
        self._c = ctypes.c_void_p()


def main():
    """Prints the verdict, the root cause and the first thing to type."""
    cuvet = Cuvet()
    try:
        for word in sys.argv[1:]:
            key, _, value = word.partition("=")
            cuvet.assume(**{key: value})
        cuvet.look(live=len(sys.argv) == 1)
        print(cuvet.verdict())
        root = cuvet.report()["root_cause"]
        if root:
            print(f"{root['name']}: {root['subject']}: {root['message']}")
            for remedy in root["remedies"][:1]:
                print("\n".join(f"  $ {line}" for line in remedy["commands"]))
        return 1 if cuvet.verdict() == "blocked" else 0
    except CuvetError as e:
        print(f"check.py: {e}", file=sys.stderr)
        return 4
    finally:
        cuvet.close()


if __name__ == "__main__":
    sys.exit(main())
