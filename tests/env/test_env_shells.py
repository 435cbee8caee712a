#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""Snippets of `cuvet env` in real shells, in throw-away homes, against a model of what they have to do. Prints TAP.

A case is a starting environment with random search paths; the shell reads the snippet of one toolkit twice, then that
of another, then takes it back, and after each step the whole environment of a child is compared.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ.get('CUVET_ROOT') or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.path.abspath(os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet')))
LISTS = ['PATH', 'LD_LIBRARY_PATH', 'CPATH', 'LIBRARY_PATH']
NAMES = LISTS + ['MANPATH', 'CUDA_HOME', 'CUDA_PATH', 'CUDNN_HOME', 'CUDNN_PATH', 'CUDNN_ROOT']
MARKS = [p + n for n in NAMES for p in ('CUVET_ADD_', 'CUVET_OLD_')] + ['CUVET_SH']
ODD = ' \'"$*?[]{}()!\\`~#;&|<>%=@^,+\tü한é-'
SEED = int(os.environ.get('SEED', '20261130'))
count = failed = 0


def report(name, problem, skip=None):
    global count, failed
    count += 1
    failed += bool(problem)
    print('%sok %d - %s%s' % ('not ' if problem else '', count, name, ' # skip ' + skip if skip else ''))
    if problem:
        for line in str(problem).split('\n')[:30]:
            print('# ' + line[:400])


# -------- the model

def add(mine, old, keep_empty=False):
    out = []
    for e in mine.split(':') + (old or '').split(':'):
        if (e or (keep_empty and e is not None)) and e not in out:
            out.append(e)
    return ':'.join(out)


def undo(env, marks):
    for name, (mine, old) in list(marks.items()):
        now = env.get(name)
        lists = name in LISTS or name == 'MANPATH'
        if now == (add(mine, old, name == 'MANPATH') if lists else mine):
            new = old
        elif not lists:
            continue
        else:
            keep = (old or '').split(':') if old is not None else []
            left = [e for e in (now or '').split(':') if e not in mine.split(':') or e in keep]
            new = ':'.join(left)
            new = None if not new and old is None else new
        env.pop(name, None)
        if new is not None:
            env[name] = new
    marks.clear()


def apply(env, marks, values):
    undo(env, marks)
    for name, value in values.items():
        marks[name] = (value, env.get(name))
        lists = name in LISTS or name == 'MANPATH'
        env[name] = add(value, env.get(name), name == 'MANPATH') if lists else value


# -------- toolkits

def toolkit(top, name, man):
    prefix = os.path.join(top, name)
    for d in ['bin', 'lib64', 'include'] + (['share/man'] if man else []):
        os.makedirs(os.path.join(prefix, d))
    with open(os.path.join(prefix, 'bin', 'nvcc'), 'w', encoding='utf-8'):
        pass
    return prefix


def values_of(prefix, dev, man):
    v = {'PATH': prefix + '/bin', 'LD_LIBRARY_PATH': prefix + '/lib64', 'CUDA_HOME': prefix, 'CUDA_PATH': prefix}
    if dev:
        v.update({'CPATH': prefix + '/include', 'LIBRARY_PATH': prefix + '/lib64'})
    if man:
        v['MANPATH'] = prefix + '/share/man'
    return v


# -------- shells: how a script reads a snippet, changes PATH, and says what its child would see

class Shell:
    def __init__(self, name, argv, read=None, dump=None, front=None, odd=ODD + '\n', head='', cases=8):
        self.name, self.argv, self.odd, self.head, self.cases = name, argv, odd, head, cases
        self.read = read or (lambda f: ". '%s'\n" % f)
        self.dump = dump or (lambda f: "/usr/bin/env -0 >'%s'\n" % f)
        self.front = front or (lambda d: "PATH='%s':$PATH\n" % d)


SHELLS = [
    Shell('bash', ['bash', '--norc'], head='set -eu\n'),
    Shell('bash', ['bash', '--norc'], read=lambda f: 'eval "$(cat \'%s\')"\n' % f, head='set -euo pipefail\ncat() { /bin/cat "$@"; }\n',
          cases=3),
    Shell('dash', ['dash'], head='set -eu\n'),
    Shell('zsh', ['zsh', '-f'], head='set -eu\n'),
    Shell('zsh', ['zsh', '-f', '-o', 'KSH_ARRAYS', '-o', 'SH_WORD_SPLIT', '-o', 'GLOB_SUBST'], head='set -eu\n', cases=3),
    Shell('ksh', ['ksh93'], head='set -eu\n'),
    Shell('ksh', ['mksh'], head='set -eu\n'),
    Shell('fish', ['fish', '--no-config'], read=lambda f: "source '%s'\n" % f, front=lambda d: "set -gx PATH '%s' $PATH\n" % d),
    Shell('tcsh', ['tcsh', '-f'], read=lambda f: "source '%s'\n" % f, front=lambda d: 'setenv PATH "%s:${PATH}"\n' % d, odd=ODD),
    Shell('tcsh', ['tcsh', '-f'], read=lambda f: 'eval "`/bin/cat \'%s\'`"\n' % f, front=lambda d: 'setenv PATH "%s:${PATH}"\n' % d,
          odd=ODD, cases=3),
    Shell('elvish', ['elvish', '-norc'], read=lambda f: "eval (/bin/cat '%s' | slurp)\n" % f,
          front=lambda d: "set-env PATH '%s:'$E:PATH\n" % d),
    # xonsh itself fills in "$NAME" and "~" in its search paths, and splits lines of what it runs.
    Shell('xonsh', ['xonsh', '--no-rc'], read=lambda f: "source '%s'\n" % f,
          dump=lambda f: "import subprocess\nwith open('%s', 'wb') as _f:\n    _f.write(subprocess.run(['/usr/bin/env', '-0'], "
          "env=__xonsh__.env.detype(), stdout=-1).stdout)\n" % f,
          front=lambda d: "$PATH.insert(0, '%s')\n" % d, odd=' \'"*[]!#;&|ü한', cases=1),
]


def word(rng, odd):
    return ''.join(rng.choice(odd if rng.random() < 0.4 else 'abcXYZ09._') for _ in range(rng.randint(1, 8)))


def random_list(rng, odd, few):
    kind = rng.random()
    if kind < 0.15:
        return None
    if kind < 0.25:
        return ''
    if kind < 0.4:
        return '/' + word(rng, odd)
    pool = ['', '/a', '/b', '/usr/lib'] + ['/' + word(rng, odd) for _ in range(4)]
    return ':'.join(rng.choice(pool) for _ in range(rng.randint(2, few)))


def starting_env(rng, shell, home, n):
    fixed = [None, '', '/one', '/a b:/it\'s', ':/x', '/x:', '/a::/b:/a', '/$HOME/*:/[x]:/"q"']
    env = {'HOME': home, 'LC_ALL': 'C.UTF-8', 'TERM': 'dumb'}
    for name in LISTS + ['MANPATH']:
        v = fixed[n] if n < len(fixed) else random_list(rng, shell.odd, 7)
        if v is not None and name == 'PATH':
            v = '/usr/bin:/bin' + (':' + v if v else '')
        if v is None and name == 'PATH':
            v = '/usr/bin:/bin'
        if v is not None:
            env[name] = v
    if rng.random() < 0.5:
        env['CUDA_HOME'] = '/old ' + word(rng, shell.odd)
    return env


def snippet(shell, file, args):
    with open(file, 'wb') as f:
        p = subprocess.run([CUVET, 'env', '--shell', shell.name] + args, stdout=f, stderr=subprocess.PIPE, check=False, timeout=30)
    if p.returncode or p.stderr:
        raise RuntimeError('%s: exit code %d, %s' % (args, p.returncode, p.stderr))


def see(file):
    with open(file, 'rb') as f:
        pairs = [x.split('=', 1) for x in f.read().decode('utf-8', 'surrogateescape').split('\0') if '=' in x]
    return {k: v for k, v in pairs if k in NAMES or k in MARKS}


def as_shell_sees(shell, env):
    """fish writes the current directory for an empty element of PATH when it starts."""
    env = dict(env)
    if shell.name == 'fish':
        env['PATH'] = ':'.join(e or '.' for e in env['PATH'].split(':'))
    return env


def same(shell, got, want):
    """zsh has a MANPATH in any case, so that an empty one cannot be told from none."""
    if shell.name == 'zsh':
        got = {k: v for k, v in got.items() if k != 'MANPATH' or v}
        want = {k: v for k, v in want.items() if k != 'MANPATH' or v}
    return got == want


def one(shell, n, rng, top):
    home = os.path.join(top, 'home')
    os.mkdir(home)
    man, dev = rng.random() < 0.5, rng.random() < 0.5
    first = toolkit(top, 'cuda ' + word(rng, shell.odd.replace(':', '')) + '1', man)
    second = toolkit(top, 'cuda ' + word(rng, shell.odd) + '2', False)
    files = [os.path.join(top, 's%d' % i) for i in range(3)]
    snippet(shell, files[0], ['--cuda', first] + (['--dev'] if dev else []))
    snippet(shell, files[1], ['--cuda', second])
    snippet(shell, files[2], ['--unset'])
    env = starting_env(rng, shell, home, n)
    want, marks = [], {}
    model = as_shell_sees(shell, env)
    steps = shell.head
    changes = rng.random() < 0.3
    for i, file in enumerate([files[0], files[0], files[1], files[2]]):
        if i == 3 and changes:
            steps += shell.front('/mine')
            model['PATH'] = '/mine:' + model['PATH']
        steps += shell.read(file) + shell.dump(os.path.join(top, 'd%d' % i))
        if i < 2:
            apply(model, marks, values_of(first, dev, man))
        elif i == 2:
            apply(model, marks, values_of(second, False, False))
        else:
            undo(model, marks)
        want.append({k: v for k, v in model.items() if k in NAMES})
    script = os.path.join(top, 'script')
    with open(script, 'w', encoding='utf-8') as f:
        f.write(steps)
    p = subprocess.run(shell.argv + [script], env=env, capture_output=True, stdin=subprocess.DEVNULL, check=False, timeout=60)
    if p.returncode or p.stderr:
        return 'exit code %d\n%s\n%r' % (p.returncode, p.stderr.decode('utf-8', 'replace'), env)
    for i, w in enumerate(want):
        got = see(os.path.join(top, 'd%d' % i))
        plain = {k: v for k, v in got.items() if k in NAMES}
        if not same(shell, plain, w):
            keys = [k for k in NAMES if plain.get(k) != w.get(k)]
            return 'step %d of %r\n' % (i, env) + '\n'.join('%s: want %r\n   got %r' % (k, w.get(k), plain.get(k)) for k in keys)
        if i == 3 and len(got) != len(plain):
            return 'left behind: %s' % [k for k in got if k in MARKS]
        for k in LISTS:
            parts = plain.get(k, '').split(':')
            if i < 3 and k in plain and marks is not None and k in ('PATH', 'LD_LIBRARY_PATH') and \
                    ('' in parts or len(set(parts)) != len(parts)):
                return 'step %d: %s has an empty or repeated element: %r' % (i, k, plain[k])
    return None


def main():
    for shell in SHELLS:
        title = ' '.join(shell.argv)
        if not shutil.which(shell.argv[0]):
            report('%s: property test' % title, None, 'needs ' + shell.argv[0])
            continue
        rng = random.Random(SEED)
        problem = None
        cases = int(os.environ.get('CASES', '0')) or (shell.cases + 8 if shell.cases > 1 else 3)
        for n in range(cases):
            top = tempfile.mkdtemp(prefix='cuvet-env-')
            try:
                problem = one(shell, n, rng, top)
            except (OSError, RuntimeError, subprocess.SubprocessError) as e:
                problem = repr(e)
            shutil.rmtree(top)
            if problem:
                problem = 'case %d: %s' % (n, problem)
                break
        report('%s: %d starting environments, set twice, replaced, taken back (P1)' % (title, cases), problem)
    print('1..%d' % count)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
