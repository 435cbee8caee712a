#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""Random targets: what `cuvet plan` chooses is what an exhaustive search over the tables finds best.

The search below knows the tables and the rules as the manual states them, and nothing of the program: it looks at
every build, throws out what does not fit, and sorts what is left. A sample of the answers goes through `cuvet
check` with the same assumptions, which must not find anything that blocks. PLAN_TARGETS and PLAN_CHECKS change
how many; PLAN_SEED makes other targets.
"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet'))
TARGETS = int(os.environ.get('PLAN_TARGETS', '10000'))
CHECKS = int(os.environ.get('PLAN_CHECKS', '300'))
SEED = int(os.environ.get('PLAN_SEED', '20261130'))


def table(name):
    with open(os.path.join(ROOT, 'data', 'compat', name + '.json'), encoding='utf-8') as f:
        return json.load(f)['rows']


TORCH, GPU, CHIP, DRIVER, CUDA = (table(n) for n in ('torch', 'gpu', 'chip', 'driver', 'cuda'))
CHIPS = {r['chip']: r for r in CHIP}
BRANCHES = {r['branch']: r for r in DRIVER}
MINORS = {r['cuda']: r for r in CUDA if r['kind'] == 'minor'}


def key(version):
    parts = [int(p) for p in re.match(r'\d+(\.\d+)*', version).group().split('.')]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


# -------- GPUs and drivers

def gpu_facts(row):
    chip = CHIPS.get(row['chip']) or {}
    own = row.get('first_driver')
    exact = bool(own and re.fullmatch(r'\d{3,}(\.\d+)+', own))
    first = own if exact else chip.get('first_driver') or (own if own and re.fullmatch(r'[\d.]+', own) else None)
    last = row['last_driver'] if 'last_driver' in row else chip.get('last_driver')
    flavour = {'required': 'open', 'unsupported': 'proprietary'}.get(row['open'])
    return {'id': row['id'], 'cc': int(row['cc'].replace('.', '')), 'first': first, 'exact': exact, 'last': last,
            'flavour': flavour}


def branch(version):
    m = re.match(r'\d+', version or '')
    return int(m.group()) if m else 0


def whole(driver):
    return driver if '.' in driver else driver + '.999.99'


def driver_cuda(driver):
    """Newest CUDA that a driver knows."""
    lower = [b for b in BRANCHES if b <= branch(driver)]
    best = BRANCHES[max(lower)]['max_cuda'] if lower else None
    if branch(driver) in BRANCHES and best:
        return best
    for cuda, row in MINORS.items():
        least = row['min_driver_linux']
        if least and key(driver) >= key(least) and (not best or key(cuda) > key(best)):
            best = cuda
    return best


def least_driver(cuda, windows):
    row = MINORS.get(cuda)
    if not row:
        return None
    if key(cuda)[0] >= 11:
        return row.get('minor_compat_windows' if windows else 'minor_compat_linux')
    return row['min_driver_windows' if windows else 'min_driver_linux']


def drives(gpu, driver, windows):
    slack = 9 if windows else 0
    if gpu['last'] and branch(gpu['last']) and branch(driver) > branch(gpu['last']) + slack:
        return False
    if not gpu['first'] or not branch(gpu['first']):
        return True
    if gpu['exact'] and not windows and '.' in driver:
        return key(driver) >= key(gpu['first'])
    return branch(driver) >= branch(gpu['first'])


# -------- code for a GPU (CUDA C++ Programming Guide, binary compatibility)

TEGRA = {53, 62, 72, 87, 110}


def runs(entry, cc):
    kind, number, suffix = re.fullmatch(r'(sm|compute)_(\d+)([af]?)', entry).groups()
    arch = int(number)
    arch = 110 if arch == 101 else arch
    if suffix == 'a':
        return 'sass' if arch == cc and kind == 'sm' else 'ptx' if arch == cc else None
    if kind == 'sm':
        if arch in TEGRA or cc in TEGRA:
            return 'sass' if arch == cc else None
        return 'sass' if arch // 10 == cc // 10 and arch <= cc else None
    return 'ptx' if arch <= cc else None


def fit(archs, cc):
    kinds = {runs(a, cc) for a in archs}
    return 2 if 'sass' in kinds else 1 if 'ptx' in kinds else 0


# -------- specifiers: the plain ones, by hand

def clause_holds(op, want, version, local):
    if '+' in want:
        want, _, want_local = want.partition('+')
        same = key(want) == key(version) and want_local == local
        return same if op == '==' else not same
    if want.endswith('.*'):
        prefix = [int(p) for p in want[:-2].split('.')]
        have = ([int(p) for p in version.split('.')] + [0] * 9)[:len(prefix)]
        return (have == prefix) == (op == '==')
    if op == '~=':
        prefix = [int(p) for p in want.split('.')][:-1]
        have = ([int(p) for p in version.split('.')] + [0] * 9)[:len(prefix)]
        return have == prefix and key(version) >= key(want)
    a, b = key(version), key(want)
    return {'==': a == b, '!=': a != b, '<=': a <= b, '>=': a >= b, '<': a < b, '>': a > b}[op]


def holds(req, row):
    name, spec = re.fullmatch(r'([a-z]+)(.*)', req).groups()
    version = row['version'] if name == 'torch' else row.get(name)
    if not version:
        return False
    for clause in spec.split(','):
        op, want = re.fullmatch(r'(~=|==|!=|<=|>=|<|>)(.*)', clause).groups()
        if not clause_holds(op, want, version, row['variant'] if name == 'torch' else ''):
            return False
    return True


# -------- the search

def platform(t):
    if t.get('os') == 'windows':
        return 'windows_x86_64'
    return 'linux_' + t.get('arch', 'x86_64')


def unverified(r):
    return (r.get('status') == 'unconfirmed' or r.get('confidence') == 'unverified' or
            r.get('arch_confidence') == 'unverified' or not r['index_url'] or not r['arch_list'])


def search(t, gpus):
    """(release, variant) of the best build, or None."""
    windows = t.get('os') == 'windows'
    driver = t.get('driver')
    fits = []
    if driver and not all(drives(g, driver, windows) for g in gpus):
        return None
    # One machine has kernel modules of one flavour.
    wanted = {g['flavour'] for g in gpus if g['flavour']} | ({t['driver-flavor']} if 'driver-flavor' in t else set())
    if not windows and len(wanted) > 1 and any(g['flavour'] for g in gpus):
        return None
    lasts = [branch(g['last']) for g in gpus if g['last'] and branch(g['last'])]
    firsts = [branch(g['first']) for g in gpus if g['first'] and branch(g['first'])]
    if not driver and lasts and firsts and max(firsts) > min(lasts) + (9 if windows else 0):
        return None
    ceiling = driver and driver_cuda(driver)
    for r in TORCH:
        if r['platform'] != platform(t) or not r['cuda'] or unverified(r):
            continue
        if t.get('python') and t['python'] not in r['python']:
            continue
        if t.get('glibc') and r['min_glibc'] and key(t['glibc']) < key(r['min_glibc']):
            continue
        if not all(holds(q, r) for q in t.get('req', [])):
            continue
        worst = min([fit(r['arch_list'], g['cc']) for g in gpus] or [2])
        if not worst:
            continue
        least = least_driver(r['cuda'], windows)
        native = True
        if driver:
            native = bool(ceiling) and key(ceiling) >= key(r['cuda'])
            if not least or key(whole(driver)) < key(least) or (worst == 1 and not native):
                continue
        if any(g['last'] and branch(g['last']) and least and
               branch(least) > branch(g['last']) + (9 if windows else 0) for g in gpus):
            continue
        order = (worst, key(r['version']), native, bool(r['pypi_default']), key(r['cuda']))
        fits.append((order, r['version'], r['variant']))
    return max(fits)[1:] if fits else None


# -------- targets

def make_targets(rng):
    cards = [gpu_facts(r) for r in GPU if r['cc'] and float(r['cc']) >= 3.0]
    by_cc = {}
    for c in cards:
        by_cc.setdefault(c['cc'], []).append(c)
    linux = [str(b) for b in BRANCHES if b >= 384] + [r['min_driver_linux'] for r in MINORS.values()
                                                      if r['min_driver_linux']]
    linux += [r['last'] for r in DRIVER if r.get('last') and r['branch'] >= 384]
    win = ['452.39', '472.12', '527.41', '537.13', '552.12', '566.36', '572.16', '581.15', '591.44', '460.82']
    pythons = ['3.%d' % m for m in range(6, 16)]
    releases = sorted({r['version'] for r in TORCH})
    for _ in range(TARGETS):
        t, gpus = {}, []
        for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3))):
            gpus.append(rng.choice(by_cc[rng.choice(sorted(by_cc))]))
        t['gpu'] = ['10de:' + g['id'] for g in gpus]
        if rng.random() < 0.2:
            t['os'] = 'windows'
        elif rng.random() < 0.15:
            t['arch'] = 'aarch64'
        if rng.random() < 0.85:
            t['driver'] = rng.choice(win if t.get('os') else linux)
        if rng.random() < 0.25 and not t.get('os'):
            t['driver-flavor'] = rng.choice(('open', 'proprietary'))
        if rng.random() < 0.7:
            t['python'] = rng.choice(pythons)
        if rng.random() < 0.3 and not t.get('os'):
            t['glibc'] = rng.choice(('2.12', '2.17', '2.27', '2.28', '2.31', '2.35', '2.39'))
        reqs = []
        if rng.random() < 0.5:
            v = rng.choice(releases)
            minor = '.'.join(v.split('.')[:2])
            reqs.append(rng.choice(('torch>=' + v, 'torch<=' + v, 'torch<' + v, 'torch>' + v, 'torch==' + v,
                                    'torch!=' + v, 'torch~=' + v, 'torch==' + minor + '.*', 'torch!=' + minor + '.*',
                                    'torch~=' + minor, 'torch==' + v + '+cu118', 'torch==' + v + '+cu126',
                                    'torch>=' + v + ',!=' + rng.choice(releases))))
        if rng.random() < 0.1:
            reqs.append('torchvision' + rng.choice(('>=', '<', '==')) + rng.choice(('0.15.2', '0.20.1', '0.21.0')))
        if reqs:
            t['req'] = reqs
        yield t, gpus


# -------- the tests

passed = failed = 0


def ok(good, name, why=''):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print('# %s: %s' % (name, why))
    print('%sok %d - %s' % ('' if good else 'not ', passed + failed, name))


def batch(targets):
    with tempfile.NamedTemporaryFile('w', suffix='.ndjson') as f:
        f.writelines(json.dumps(t) + '\n' for t in targets)
        f.flush()
        start = time.monotonic()
        p = subprocess.run([CUVET, 'plan', '--batch', f.name], capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
    return p, seconds


def check_agrees(t, answer):
    chosen = answer['chosen']
    cmd = [CUVET, 'check', '--json', '--no-live']
    for name in ('gpu', 'driver', 'driver-flavor', 'os', 'arch', 'glibc'):
        values = t.get(name, [])
        for v in values if isinstance(values, list) else [values]:
            cmd += ['--assume', name + '=' + v]
    cmd += ['--assume', 'python=' + chosen['python'], '--assume', 'torch=%s+%s' % (chosen['torch'], chosen['variant'])]
    if chosen['torchvision']:
        cmd += ['--assume', 'torchvision=' + chosen['torchvision']]
    p = subprocess.run(cmd, capture_output=True, text=True, check=False)
    try:
        report = json.loads(p.stdout)
    except ValueError:
        return p.stderr.strip() or 'no report'
    if report['verdict'] in ('stack-ok', 'degraded'):
        return None
    # A parameter of the module mends that; no other build would.
    if {f['name'] for f in report['findings'] if f['severity'] == 'error'} == {'open-module-optin-required'}:
        return None
    return '%s: %s' % (report['verdict'], [f['name'] + ': ' + f['message'] for f in report['findings']
                                           if f['severity'] == 'error'])


def main():
    rng = random.Random(SEED)
    pairs = list(make_targets(rng))
    p, seconds = batch([t for t, _ in pairs])
    answers = [json.loads(line) for line in p.stdout.splitlines()]
    ok(p.returncode == 0 and len(answers) == len(pairs), 'one answer a target', '%d, %s' % (p.returncode, p.stderr[:300]))
    wrong, found = [], 0
    for (t, gpus), a in zip(pairs, answers):
        want = search(t, gpus)
        got = a.get('chosen') and (a['chosen']['torch'], a['chosen']['variant'])
        found += want is not None
        if want != got:
            wrong.append('%s: searched %s, planned %s' % (json.dumps(t), want, got))
    for w in wrong[:10]:
        print('# ' + w)
    ok(not wrong, '%d targets, of which %d can be served, are planned as the search says' % (len(pairs), found),
       '%d differ' % len(wrong))
    ok(min(found, len(pairs) - found) > len(pairs) / 20, 'targets of both kinds: with an answer and without')
    print('# %d targets in %.2f s, %.0f a second' % (len(pairs), seconds, len(pairs) / seconds))
    ok(all(not a['chosen'] or a['chosen']['python'] == t.get('python', a['chosen']['python'])
           for (t, _), a in zip(pairs, answers)), 'the Python that is there is the one that is planned for')
    ok(all(a['chosen'] or a['why'] for a in answers), 'no answer without a reason')
    served = [(t, a) for (t, _), a in zip(pairs, answers) if a.get('chosen')]
    rng.shuffle(served)
    bad = []
    for t, a in served[:CHECKS]:
        why = check_agrees(t, a)
        if why:
            bad.append('%s -> %s+%s: %s' % (json.dumps(t), a['chosen']['torch'], a['chosen']['variant'], why))
    for b in bad[:10]:
        print('# ' + b)
    ok(not bad, 'check agrees on %d plans' % min(CHECKS, len(served)), '%d differ' % len(bad))
    print('1..%d' % (passed + failed))
    return 1 if failed else 0


sys.exit(main())
