#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""Every machine of ours with the os-release of each family of distributions: no remedy may name the
package manager, or what only goes with it, of another family. Prints TAP.
"""
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import roots  # noqa: E402  pylint: disable=wrong-import-position
from test_roots import CUVET, scratch  # noqa: E402  pylint: disable=wrong-import-position

DEBIAN = r"\b(apt|apt-get|dpkg|apt-mark|update-initramfs|ubuntu-drivers)\b"
RPM = r"\b(dnf|yum|rpm|akmods)\b"
DRACUT = r"\bdracut\b"
ARCH = r"\b(pacman|mkinitcpio)\b"
SUSE = r"\bzypper\b"
NIX = r"\b(nix-shell|nixos-rebuild|nix-store)\b"
RUN_FILE = r"the \.run file"
# os-release, what is spoken there (in none of the others), and what has to be seen on some machine.
FAMILIES = {
    "debian": ('ID=debian\nVERSION_ID="13"\n', [RPM, DRACUT, ARCH, SUSE, NIX], "apt-get install"),
    "mint": ('ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="22"\n',
             [RPM, DRACUT, ARCH, SUSE, NIX], "apt-get install"),
    "rocky": ('ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.6"\n',
              [DEBIAN, ARCH, SUSE, NIX], "dnf install"),
    "centos7": ('ID="centos"\nID_LIKE="rhel fedora"\nVERSION_ID="7"\n',
                [DEBIAN, ARCH, SUSE, NIX, r"\bdnf\b"], "yum install"),
    "fedora": ('ID=fedora\nVERSION_ID=43\n', [DEBIAN, ARCH, SUSE, NIX], "akmod-nvidia"),
    "suse": ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\nVERSION_ID="15.6"\n',
             [DEBIAN, r"\b(dnf|yum)\b", ARCH, NIX], "zypper install"),
    "manjaro": ('ID=manjaro\nID_LIKE=arch\n', [DEBIAN, RPM, DRACUT, SUSE, NIX], "pacman -S"),
    "nixos": ('ID=nixos\nVERSION_ID="25.05"\n', [DEBIAN, RPM, DRACUT, ARCH, SUSE, RUN_FILE],
              "nix-shell -p gcc"),
    "unknown": ('ID=homegrown\n', [r"\b(apt|apt-get|zypper|pacman|dnf|yum|nix-shell) "], None),
}


def machines():
    for name in ("machines.json", "machines-system.json"):
        yield from roots.load(str(HERE / name))


def judged(case, release):
    etc = case / "root/etc/os-release"
    etc.parent.mkdir(parents=True, exist_ok=True)
    etc.unlink(missing_ok=True)
    etc.write_text(release)
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(case)}
    p = subprocess.run([CUVET, "check", "--json", "--root", str(case / "root")], env=env,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    return json.loads(p.stdout)


def remedies(doc):
    for f in doc["findings"]:
        for r in f["remedies"]:
            # What dpkg left half done is a fact of dpkg, whatever os-release says.
            if not any("dpkg --configure" in c for c in r["commands"]):
                yield f["name"], r["text"] + "\n" + "\n".join(r["commands"])


def main():
    wrong = {k: set() for k in FAMILIES}
    seen = {k: set() for k in FAMILIES}
    for machine in machines():
        if machine["id"].startswith("hostile"):
            continue
        case = pathlib.Path(tempfile.mkdtemp(dir=scratch())) / "case"
        try:
            roots.build(copy.deepcopy(machine), str(case))
            for family, (release, foreign, own) in FAMILIES.items():
                for name, text in remedies(judged(case, release)):
                    if own and own in text:
                        seen[family].add(name)
                    for words in foreign:
                        hit = re.search(words, text)
                        if hit:
                            wrong[family].add("%s: %s (%s)" % (name, hit[0], machine["id"]))
        finally:
            shutil.rmtree(case.parent)
    print("1..%d" % len(FAMILIES))
    failed = 0
    for i, family in enumerate(FAMILIES, 1):
        good = not wrong[family] and (seen[family] or not FAMILIES[family][2])
        failed += not good
        print("%s %d - remedies on %s" % ("ok" if good else "not ok", i, family))
        for line in sorted(wrong[family]):
            print("#   " + line)
        if not seen[family] and FAMILIES[family][2]:
            print("#   never: " + FAMILIES[family][2])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
