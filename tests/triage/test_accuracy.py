#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real reports: at least 95 % of the firm ones, and no healthy stack blamed."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
p = subprocess.run([sys.executable, os.path.join(HERE, "accuracy.py"),
                    os.environ.get("CUVET", "build/cuvet")], capture_output=True, text=True,
                   check=False)
for line in (p.stdout + p.stderr).splitlines():
    print("# " + line)
print(("ok" if p.returncode == 0 else "not ok") + " 1 - accuracy on real reports")
print("1..1")
print("1 passed, 0 failed" if p.returncode == 0 else "0 passed, 1 failed")
sys.exit(p.returncode)
