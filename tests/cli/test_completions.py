#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""Completions in the shells that they are for: what a person gets after a tabulator. Prints TAP."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CUVET = os.path.abspath(os.environ.get("CUVET", str(ROOT / "build/cuvet")))
# What is typed (the last word is unfinished), and what has to be offered, or (not:) must not.
CASES = [
    (["gui"], ["guide"]),
    (["check", "--fix"], ["--fix-script", "--fix"]),
    (["guide", "--de"], ["--dev", "--deep"]),
    (["check", "--format", ""], ["sarif", "text"]),
    (["explain", "gpu-too"], ["gpu-too-new-for-build", "gpu-too-old-for-build"]),
    (["check", "--ignore", "cpu-only"], ["cpu-only-wheel"]),
    (["show", "tor"], ["torch"]),
    (["data", ""], ["status", "update", "rollback"]),
    (["fetch", "cu"], ["cudnn", "cuda"]),
    (["check", "Dock"], ["Dockerfile"]),
    (["env", "--fix"], ["not:--fix-script"]),
]
BASH = r"""
. "$1"; shift
COMP_WORDS=(cuvet "$@"); COMP_CWORD=$#; COMPREPLY=()
_cuvet cuvet "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""
FISH = 'source $argv[1]; complete -C "$argv[2]" | string split -f1 \\t'
# A terminal of its own, as zsh's completion needs one; matches are printed by compadd itself.
ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "fpath=(${(q)1:h} \$fpath); autoload -Uz compinit; compinit -u -D; cd ${(q)2}"
zpty -w z 'compadd() { local -a got; builtin compadd -O got "$@"; (( $#got )) && print -rl -- "<$^got>";
 builtin compadd "$@" }; PS1=READY; print -r -- GO'
zpty -r z out '*GO*READY*' || exit 1
zpty -n -w z "cuvet $3"$'\t'
repeat 40; do sleep 0.05; zpty -rt z more && out+=$more && [[ $more == *'>'* ]] && break; done
sleep 0.1; while zpty -rt z more; do out+=$more; done
print -r -- "$out" | grep -o '<[^<>]*>' | tr -d '<>'
zpty -d z
"""


def offered(shell, made, words, folder):
    line = " ".join(words)
    run = {"bash": ["bash", "--norc", "-c", BASH, "-", str(made), *words],
           "fish": ["fish", "--no-config", "-c", FISH, str(made), "cuvet " + line],
           "zsh": ["zsh", "-f", "-c", ZSH, "-", str(made), str(folder), line]}[shell]
    env = {"PATH": os.path.dirname(CUVET) + ":" + os.environ["PATH"], "HOME": str(folder),
           "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    p = subprocess.run(run, env=env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                       text=True, timeout=60, check=False)
    return p.stdout.split(), p.stderr


def main():
    shells = [(s, n) for s, n in (("bash", "cuvet.bash"), ("zsh", "_cuvet"), ("fish", "cuvet.fish"))]
    print("1..%d" % (len(shells) * len(CASES)))
    number = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "Dockerfile").write_text("")
        (folder / "c").mkdir()
        for shell, file in shells:
            made = folder / "c" / file
            made.write_bytes(subprocess.run([CUVET, "--dump-docs", shell], capture_output=True,
                                            check=True).stdout)
            for words, wanted in CASES:
                number += 1
                title = "%s: cuvet %s" % (shell, " ".join(words))
                if not shutil.which(shell):
                    print("ok %d - %s # SKIP no %s" % (number, title, shell))
                    continue
                got, err = offered(shell, made, words, folder)
                bad = [w for w in wanted if (w[4:] in got if w.startswith("not:") else
                                             not any(g.rstrip("=") == w for g in got))]
                failed += bool(bad)
                print("%sok %d - %s" % ("not " if bad else "", number, title))
                if bad:
                    print("# %s; got %s %s" % (bad, got[:8], err[:200]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
