#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Every machine of machines*.json, built as a tree and judged by `cuvet check --root`: verdict, root cause, facts.

Hostile trees (T1-T16, E1-E15, X7 of the fault classes) must be survived in every format: no crash, no hang, nothing
outside the root opened, nothing of the tree started, no control character on output. One TAP line a machine.
"""
import ctypes
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import roots  # noqa: E402

CUVET = os.path.abspath(os.environ.get('CUVET', 'build/cuvet'))
EXIT = {'stack-ok': 0, 'degraded': 0, 'blocked': 1, 'undetermined': 3}
FINE = {None, 'no-fault', 'harmless-warning', 'insufficient-evidence'}
# The environment of the test describes another machine than the tree: nothing of it may leak in.
POISON = {'CUDA_VISIBLE_DEVICES': '99', 'CUDA_HOME': '/poison/cuda', 'VIRTUAL_ENV': '/poison/venv',
          'CONDA_PREFIX': '/poison/conda', 'PYTHONPATH': '/poison/site', 'NVIDIA_VISIBLE_DEVICES': 'void',
          'SLURM_JOB_ID': '1', 'WSL_DISTRO_NAME': 'Poison'}


def run(case, *args):
    env = {k: v for k, v in os.environ.items() if k in ('PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS')}
    env.update(POISON, LC_ALL='C.UTF-8', HOME=case)
    return subprocess.run([CUVET, 'check', '--root', os.path.join(case, 'root'), *args], stdin=subprocess.DEVNULL,
                          capture_output=True, env=env, timeout=60, check=False)


def scratch():
    """A tree has hundreds of small files: in memory, where there is room, they cost a twentieth."""
    try:
        v = os.statvfs('/dev/shm')
    except OSError:
        return None
    return '/dev/shm' if os.access('/dev/shm', os.W_OK) and v.f_bavail * v.f_frsize > 256 << 20 else None


def as_list(x):
    return x if isinstance(x, list) else [x]


def leaves(o):
    if isinstance(o, dict):
        for v in o.values():
            yield from leaves(v)
    elif isinstance(o, list):
        if o and all(isinstance(x, str) for x in o):
            yield o
        for v in o:
            yield from leaves(v)
    else:
        yield o


def shape(d, rc):
    """Complaints about the report as such."""
    bad = []
    if d.get('schema') != 'cuvet.report/1' or d.get('command') != 'check':
        bad.append('schema or command')
    if rc != EXIT.get(d.get('verdict')):
        bad.append('exit %d with verdict %s' % (rc, d.get('verdict')))
    sev = {f['severity'] for f in d['findings']}
    if ('error' in sev) != (d['verdict'] == 'blocked'):
        bad.append('verdict %s with severities %s' % (d['verdict'], sorted(sev)))
    if d['verdict'] == 'stack-ok' and 'warning' in sev:
        bad.append('stack-ok with a warning')
    if d['verdict'] == 'undetermined' and not d['asks']:
        bad.append('undetermined without asks')
    r = d['root_cause']
    if r and r['severity'] != 'info' and not r['evidence']:
        bad.append('root cause without evidence')
    if r and r['severity'] == 'error' and not r['remedies']:
        bad.append('root cause without a remedy')
    return bad


def cause(e, d):
    """Complaints about what was named."""
    r = d['root_cause']['name'] if d['root_cause'] else None
    want = [e['root_cause']] + e.get('also_ok', [])
    own = [f for f in d['findings'] if f['severity'] == 'error' and not f['consequence_of']]
    bad = []
    if d['verdict'] not in as_list(e['verdict']):
        bad.append('verdict %s (%s), wanted %s (%s)' % (d['verdict'], r, e['verdict'], want))
    elif e['root_cause'] is None:
        if r not in FINE:
            bad.append('root cause %s, wanted none' % r)
    elif not e.get('finding') and r not in want and not (r is None and any(f['name'] in want for f in d['findings'])):
        bad.append('root cause %s, wanted %s' % (r, want))
    names = {f['name'] for f in d['findings']}
    bad += ['%s is not among the findings' % x for x in e.get('finding', []) if x not in names]
    bad += ['must not blame ' + f['name'] for f in own if f['name'] in e.get('must_not', [])]
    bad += ['second cause ' + f['name'] for f in own if f['name'] != r and f['name'] not in want + e.get('beside', [])]
    root = d['root_cause'] or next((f for f in d['findings'] if f['name'] in e.get('finding', [])), None)
    said = '\n'.join(c if isinstance(c, str) else json.dumps(c) for x in (root or {}).get('remedies', []) for c in x.get('commands', []))
    bad += ['no command with %r' % x for x in e.get('commands', []) if x not in said]
    bad += ['a command with %r' % x for x in e.get('no_commands', []) if x in said]
    return bad


def facts(e, d, tree):
    """Expected facts that are not among the values of the snapshot."""
    lv = list(leaves(d['snapshot']))
    strs = [v for v in lv if isinstance(v, str)]
    lists = [v for v in lv if isinstance(v, list)]

    def has(want):
        return any(re.search(r'(?<![\w.])%s(?![\w]|\.\d)' % re.escape(want), s) for s in strs)

    def same_file(want):
        real = tree.canon(want, True)
        return any(s.startswith('/') and '\n' not in s and tree.canon(os.path.normpath(s), True) == real for s in strs)

    bad = []
    for kind, want in e.get('facts', {}).items():
        if kind == 'torch':
            ok = '+'.join(want[:2]) in strs or all(has(w) for w in want)
        elif kind == 'arch':
            ok = any(set(want) <= set(v) for v in lists)
        elif kind in ('cudnn', 'libcuda'):
            ok = same_file(want)
        elif kind == 'pythons':
            ok = all(any(s == w or s.startswith(w + '/bin/') for s in strs) for w in want)
        elif kind == 'gpus':
            ok = all(w in strs for w in want)
        elif kind in ('toolkit', 'glibc'):
            ok = any(re.match(re.escape(want) + r'(\.|$)', s) for s in strs)
        else:
            ok = has(want)
        if not ok:
            bad.append('fact %s %s' % (kind, want))
    return bad


class Watch:
    """inotify on the files beside the root: was any of them opened?"""

    def __init__(self, top):
        self.c = ctypes.CDLL(None, use_errno=True)
        self.fd = self.c.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        # The walk opens the folders itself: it has to be over before they are watched.
        for path, _, _ in list(os.walk(top)):
            self.c.inotify_add_watch(self.fd, os.fsencode(path), 0x1 | 0x20)  # IN_ACCESS | IN_OPEN

    def touched(self):
        try:
            b = os.read(self.fd, 65536)
        except OSError:
            b = b''
        os.close(self.fd)
        names = []
        while len(b) >= 16:
            n = struct.unpack_from('iIII', b)[3]
            names.append(b[16:16 + n].rstrip(b'\0').decode('utf-8', 'replace') or 'directory')
            b = b[16 + n:]
        return names


CONTROL = re.compile('[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]')
BIDI = re.compile('[\u202a-\u202e\u2066-\u2069]')


def survive(m, case):
    bad = []
    for args in (['--json'], [], ['--format', 'markdown']):
        tag = ' '.join(args) or 'text'
        watch = Watch(os.path.join(case, 'outside'))
        try:
            p = run(case, *args)
        except subprocess.TimeoutExpired:
            return [tag + ': hung']
        opened = watch.touched()
        if opened:
            bad.append('%s: opened outside the root: %s' % (tag, opened[:3]))
        if p.returncode not in ((0, 1, 2, 3, 4) if m.get('facts_raw') else (0, 1, 3)):
            bad.append('%s: exit %d %s' % (tag, p.returncode, p.stderr[-300:]))
        for stream in (p.stdout, p.stderr):
            text = stream.decode('utf-8', 'surrogateescape')
            if CONTROL.search(text) or (args != ['--json'] and BIDI.search(text)):
                bad.append(tag + ': control character on output')
            if 'CANARY-OUTSIDE' in text or '6.6.6+cu666' in text or '666.66.66' in text:
                bad.append(tag + ': shows content from outside the root')
        if args == ['--json'] and p.returncode in (0, 1, 3):
            json.loads(p.stdout)
        if os.path.exists(os.path.join(case, 'outside', 'ran')):
            bad.append(tag + ': a program of the tree was started')
    return bad


def judge(m, case, tree):
    if m['expect'].get('hostile'):
        return survive(m, case)
    try:
        p = run(case, '--json', *m.get('args', []))
        d = json.loads(p.stdout)
    except subprocess.TimeoutExpired:
        return ['hung']
    except ValueError:
        return ['no JSON, exit %d: %s' % (p.returncode, p.stderr[-300:])]
    null = ['prints (null)'] if b'(null)' in p.stdout else []
    return null + shape(d, p.returncode) + cause(m['expect'], d) + facts(m['expect'], d, tree)


def main():
    wanted = sys.argv[1:]
    failed = 0
    machines = [m for path in sorted(glob.glob(os.path.join(HERE, 'machines*.json')))
                for m in roots.load(path) if not wanted or m['id'] in wanted]
    print('1..%d' % len(machines))
    for n, m in enumerate(machines, 1):
        with tempfile.TemporaryDirectory(prefix='cuvet-root-', dir=scratch()) as top:
            case = os.path.join(top, m['id'])
            tree = roots.build(m, case)
            bad = judge(m, case, tree)
            subprocess.run(['chmod', '-R', 'u+rwX', top], check=False)
        failed += bool(bad)
        print('%s %d - %s' % ('not ok' if bad else 'ok', n, m['id']))
        for b in bad:
            print('# ' + b)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
