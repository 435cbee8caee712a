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
# The rung that each belongs to, where a first use says it.
RUNGS = {
    'cuDevicePrimaryCtxRetain': 'context',
    'cuCtxSetCurrent': 'context',
    'cuCtxSynchronize': 'context',
    'cuMemGetInfo_v2': 'allocation',
    'cuMemAlloc_v2': 'allocation',
    'cuMemFree_v2': 'allocation',
    'cuMemcpyHtoD_v2': 'copy',
    'cuMemsetD8_v2': 'copy',
    'cuMemcpyDtoD_v2': 'copy',
    'cuMemcpyDtoH_v2': 'copy',
    'cuModuleLoadDataEx': 'ptx-jit',
    'cuModuleGetFunction': 'ptx-jit',
    'cuLaunchKernel': 'ptx-jit',
    'cuLinkCreate_v2': 'sass-load',
    'cuLinkAddData_v2': 'sass-load',
    'cuLinkComplete': 'sass-load',
    'cuModuleLoadData': 'sass-load',
    'cuModuleGetGlobal_v2': 'constant-texture',
    'cuArray3DCreate_v2': 'constant-texture',
    'cuSurfObjectCreate': 'constant-texture',
    'cuTexObjectCreate': 'constant-texture',
    'cuMemHostAlloc': 'streams',
    'cuStreamCreate': 'streams',
    'cuEventCreate': 'streams',
    'cuEventRecord': 'streams',
    'cuStreamWaitEvent': 'streams',
    'cuMemcpyHtoDAsync_v2': 'streams',
    'cuMemcpyDtoHAsync_v2': 'streams',
    'cuEventSynchronize': 'streams',
    'cuEventElapsedTime': 'streams',
    'cuStreamBeginCapture_v2': 'graph',
    'cuStreamEndCapture': 'graph',
    'cuGraphInstantiateWithFlags': 'graph',
    'cuGraphLaunch': 'graph',
    'cuStreamSynchronize': 'graph',
    'cuFuncSetAttribute': 'dynamic-shared',
    'cuLaunchCooperativeKernel': 'cooperative',
    'cuMemHostGetDevicePointer_v2': 'pinned-mapped',
    'cuMemAllocManaged': 'pinned-mapped'}
# Every rung that brings a result to the host.
RESULTS = {
    'copy', 'ptx-jit', 'sass-load', 'fp32-fma', 'int-atomics', 'shared-memory', 'warp', 'reduction', 'constant-texture', 'streams',
    'graph', 'dynamic-shared', 'tensor-fp16', 'tensor-bf16', 'tensor-tf32', 'tensor-int8', 'tensor-fp8', 'tensor-wgmma', 'memory',
    'cooperative', 'pinned-mapped'}
# Measurements alone.
BENCH = {'cuMemcpyDtoDAsync_v2'}


def prove(libs, call, script, more=None):
    slow = call in BENCH or call in PEER
    args = ['prove', '--json', '--timeout', '15' if slow else '3'] + (['--bench'] if call in BENCH else [])
    if call in PEER:
        script += ';devices=2'
    env = {'PATH': os.environ['PATH'], 'LD_LIBRARY_PATH': libs, 'LC_ALL': 'C.UTF-8', 'HOME': '/nonexistent',
           'CUVET_STANDIN_SCRIPT': 'cc0=9.0;' + script}
    env.update(more or {})
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
    if RUNGS.get(call, bad[0]['name']) != bad[0]['name']:
        return '%s: %s breaks %s' % (call, fault, bad[0]['name'])
    if fault == 'code' and any(t['code'] != 719 for t in bad):
        return '%s: the code is not said' % call
    if call not in PEER and len(bad) != 1:
        return '%s: %s breaks %d rungs' % (call, fault, len(bad))
    return None


def flips(libs):
    """One bit of every result in turn: what of it goes unseen."""
    between = os.path.join(libs, 'between')
    os.mkdir(between)
    os.symlink(os.path.join(STANDIN, 'libcuda-flip.so'), os.path.join(between, 'libcuda.so.1'))
    os.symlink(os.path.join(libs, 'libcuda.so.1'), os.path.join(between, 'libcuda-real.so'))
    env = {'LD_LIBRARY_PATH': between + ':' + libs, 'CUVET_REAL_LIBCUDA': os.path.join(libs, 'libcuda.so.1')}
    wrong, seen = [], set()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda n: prove(libs, '', '', dict(env, CUVET_FLIP_NTH=str(n))), range(1, 121)))
    last = max([n for n, (code, _) in enumerate(runs) if code], default=0)
    for n, (code, bad) in enumerate(runs[:last + 1], 1):
        if code != 1 or len(bad) != 1 or bad[0]['result'] != 'fail':
            wrong.append('result %d: exit code %d, %s' % (n, code, [t['name'] for t in bad]))
        seen |= {t['name'] for t in bad}
    if last + 1 == len(runs):
        wrong.append('there are more results than were tried')
    return wrong + ['nothing of %s was changed' % r for r in sorted(RESULTS - seen)]


def main():
    if not os.path.exists(os.path.join(STANDIN, 'libcuda.so')):
        sys.exit('no stand-in: make standin')
    with tempfile.TemporaryDirectory() as libs:
        for name in ('libcuda.so', 'libnvidia-ml.so'):
            os.symlink(os.path.join(STANDIN, name), os.path.join(libs, name + '.1'))
        print('TAP version 13\n1..4', flush=True)
        broken = False
        # Those that hang wait and cost nothing.
        for number, (fault, many) in enumerate((('code', 2), ('crash', 2), ('hang', 12)), 1):
            with concurrent.futures.ThreadPoolExecutor(many) as pool:
                wrong = [w for w in pool.map(one, [(libs, c, fault) for c in CALLS]) if w]
            broken = broken or bool(wrong)
            print('%s %d - a %s of each of the %d calls' % ('not ok' if wrong else 'ok', number, fault, len(CALLS)))
            for line in wrong:
                print('# ' + line)
            sys.stdout.flush()
        wrong = flips(libs)
        print('%s 4 - one wrong bit in any result breaks the rung it belongs to' % ('not ok' if wrong else 'ok'))
        for line in wrong:
            print('# ' + line)
        return 1 if broken or wrong else 0


sys.exit(main())
