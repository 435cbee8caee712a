#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""What `cuvet prove` said on machines with H200s, tests/captures/prove: its form, what broke, and the speeds against torch of the same run."""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, 'tests/captures/prove')
count = failed = 0


def report(name, wrong):
    global count, failed
    count += 1
    failed += bool(wrong)
    print('%s %d - %s' % ('not ok' if wrong else 'ok', count, name))
    for line in wrong if isinstance(wrong, list) else [wrong] if wrong else []:
        print('# ' + str(line))


def load(name):
    with open(os.path.join(HERE, name + '.json'), encoding='utf-8') as f:
        return json.load(f)


def row(proof, name, gpu=0):
    return next(t for t in proof['tests'] if t['name'] == name and t['gpu'] in (gpu, None))


def figures(proof, name, gpu=0):
    return row(proof, name, gpu)['figures']


def forms():
    try:
        import jsonschema
    except ImportError:
        report('schema # SKIP no jsonschema', None)
        return
    with open(os.path.join(ROOT, 'docs/schema/proof.schema.json'), encoding='utf-8') as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    for name in sorted(os.listdir(HERE)):
        if name != 'reference.json':
            report('form of ' + name, [e.message for e in validator.iter_errors(load(name[:-5]))])


def broken():
    """(capture, verdict, cause, rungs that failed)"""
    for name, verdict, cause, rungs in (
            ('h200', 'stack-ok', None, []),
            ('h200-stack', 'stack-ok', None, []),
            ('h200-bench', 'stack-ok', None, []),
            ('h200-x2-bench', 'stack-ok', None, []),
            ('h200-toolkit-first', 'blocked', None, ['stack-nvjitlink']),
            ('h200-stub', 'blocked', 'libcuda-stub-loaded', ['cuinit']),
            ('h200-hidden', 'undetermined', 'visible-devices-wrong', ['cuinit']),
            ('h200-memory-limit', 'blocked', None, ['cuinit']),
            ('h200-full-memory', 'blocked', None, ['context'])):
        p = load(name)
        got = (p['verdict'], p['root_cause'], [t['name'] for t in p['tests'] if t['result'] not in ('pass', 'skip')])
        report('what broke: ' + name, got != (verdict, cause, rungs) and got)


def speeds():
    with open(os.path.join(ROOT, 'data/compat/perf.json'), encoding='utf-8') as f:
        perf = json.load(f)
    peak = next(r for r in perf['rows'] if r['name'] == 'NVIDIA H200')
    ref = load('reference')
    b, two = load('h200-bench'), load('h200-x2-bench')
    link = 16 * perf['facts']['link']['gb_per_s_lane'][4]
    wrong = []

    def within(what, value, most):
        if not 0.5 <= value / most <= 1.0:
            wrong.append('%s: %g is not between 0.5 and 1.0 of %g' % (what, value, most))

    def as_good(what, value, other):
        if value < other * 0.95:
            wrong.append('%s: %g, torch has %g' % (what, value, other))

    r = ref['h200']
    for direction in ('h2d', 'd2h'):
        f = figures(b, 'bench-' + direction)
        within(direction, f['gb_per_s'], link)
        within(direction + ' expected', f['expected_gb_per_s'], link)
        as_good(direction, f['gb_per_s'], r[direction + '_gb_per_s'])
    f = figures(b, 'bench-memory')
    for name in ('write', 'read', 'copy_rw', 'memcpy_rw'):
        within(name, f[name + '_gb_per_s'], f['bus_gb_per_s'])
    within('memory expected', f['expected_gb_per_s'], f['bus_gb_per_s'])
    as_good('copy', f['memcpy_rw_gb_per_s'], r['copy_rw_gb_per_s'])
    f = figures(b, 'bench-gemm')
    for kind in ('fp32', 'tf32', 'bf16', 'fp16', 'fp8'):
        name = kind + '_tflop_per_s'
        within(kind, f[name], peak[name])
        within(kind + ' expected', peak[name] * perf['facts']['share'][kind], peak[name])
        as_good(kind, f[name], r[name])
    f = figures(load('h200'), 'memory')
    for name in ('write_gb_per_s', 'read_gb_per_s'):
        if f[name] < 0.9 * r['copy_rw_gb_per_s']:
            wrong.append('memory test: ' + name)
    for gpu in (0, 1):
        as_good('peer copy', figures(two, 'p2p', gpu)['gb_per_s'], ref['h200-x2']['peer_copy_gb_per_s'])
    as_good('all-reduce', figures(two, 'stack-nccl')['bus_gb_per_s'], ref['h200-x2']['all_reduce_256_mib_bus_gb_per_s'])
    report('speeds against the peaks and against torch', wrong)


def times():
    quick, stack = load('h200')['ms'], load('h200-stack')['ms']
    report('--quick in 1.2 s, the stack in 3 s more', [] if quick <= 1200 and stack <= quick + 3000 else [(quick, stack)])


def main():
    forms()
    broken()
    speeds()
    times()
    print('1..%d' % count)
    return 1 if failed else 0


sys.exit(main())
