#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
# timeout: 900
"""Every call of the driver that prove makes, by the list it is built from: a code, a crash and a hang of each is the result of one rung.

So that a call that is added later, and whose failure would go unseen, fails here.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.path.abspath(os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet')))
STANDIN = os.environ.get('CUVET_STANDIN', os.path.join(ROOT, 'build', 'standin'))

# Names of the calls, and which of two a driver has.
CALLS = re.findall(r'(?m)^(?:REQ|OPT)\((\w+),', open(os.path.join(ROOT, 'src/prove/cu.def'), encoding='utf-8').read())
# Not made where there is something newer, or never: what ends with the process is not given back.
NEVER = {'cuDeviceGetUuid', 'cuGraphInstantiate_v2', 'cuCtxCreate_v2', 'cuCtxDestroy_v2', 'cuModuleUnload',
         'cuGetErrorName'}
# A failure of these says nothing about the GPU; what they would tell is then missing.
HARMLESS = {'cuDeviceGetUuid_v2', 'cuDeviceGetPCIBusId'}
# Between GPUs: made where there are two.
PEER = {'cuDeviceCanAccessPeer', 'cuCtxEnablePeerAccess', 'cuCtxDisablePeerAccess', 'cuMemcpyPeer', 'cuMemcpyPeerAsync'}
# Measurements alone.
BENCH = {'cuMemcpyDtoDAsync_v2'}


def prove(libs, call, script):
    slow = call in BENCH or call in PEER
    args = ['prove', '--json', '--timeout', '15' if slow else '3'] + (['--bench'] if call in BENCH else [])
    if call in PEER:
        script += ';devices=2'
    env = {'PATH': os.environ['PATH'], 'LD_LIBRARY_PATH': libs, 'LC_ALL': 'C.UTF-8', 'HOME': '/nonexistent',
           'CUVET_STANDIN_SCRIPT': 'cc0=9.0;' + script}
    for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS'):
        if name in os.environ:
            env[name] = os.environ[name]
    p = subprocess.run([CUVET] + args, env=env, capture_output=True, text=True, timeout=120, check=False)
    report = json.loads(p.stdout)
    bad = [t for t in report['tests'] if t['result'] not in ('pass', 'skip', 'inconclusive')]
    return p.returncode, bad


def one(job):
    """What is wrong with this fault's report; None: nothing."""
    libs, call, fault = job
    script = {'code': 'code.%s=719' % call, 'crash': 'behave=segv;at=%s' % call, 'hang': 'behave=wait;at=%s' % call}[fault]
    code, bad = prove(libs, call, script)
    want = {'code': 'fail', 'crash': 'crashed', 'hang': 'hung'}[fault]
    if call in NEVER or (call in HARMLESS and fault == 'code'):
        return None if code == 0 and not bad else '%s: a call that is not made matters' % call
    if code != 1 or not bad:
        return '%s: %s goes unseen (exit code %d)' % (call, fault, code)
    if any(t['result'] != want for t in bad):
        return '%s: %s gives %s' % (call, fault, sorted({t['result'] for t in bad}))
    # Compiling has a name of its own.
    name = 'JIT of' if call == 'cuModuleLoadDataEx' and fault != 'code' else call
    named = [t for t in bad if t.get('call') == name or name in (t['why'] or '')]
    if len(named) != len(bad):
        return '%s: %s is not named: %s' % (call, fault, bad[0]['why'])
    if fault == 'code' and any(t['code'] != 719 for t in bad):
        return '%s: the code is not said' % call
    if call not in PEER and len(bad) != 1:
        return '%s: %s breaks %d rungs' % (call, fault, len(bad))
    return None


def main():
    if not os.path.exists(os.path.join(STANDIN, 'libcuda.so')):
        sys.exit('no stand-in: make standin')
    with tempfile.TemporaryDirectory() as libs:
        for name in ('libcuda.so', 'libnvidia-ml.so'):
            os.symlink(os.path.join(STANDIN, name), os.path.join(libs, name + '.1'))
        print('TAP version 13\n1..3', flush=True)
        # Those that hang wait and cost nothing.
        for number, (fault, many) in enumerate((('code', 2), ('crash', 2), ('hang', 12)), 1):
            with concurrent.futures.ThreadPoolExecutor(many) as pool:
                wrong = [w for w in pool.map(one, [(libs, c, fault) for c in CALLS]) if w]
            print('%s %d - a %s of each of the %d calls' % ('not ok' if wrong else 'ok', number, fault, len(CALLS)))
            for line in wrong:
                print('# ' + line)
            sys.stdout.flush()


main()
