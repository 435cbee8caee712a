#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""Images: every form says the same as the folder; layers are laid over each other as engines do it; what is spoilt,
hostile or too much is refused or survived (I1-I6, A1-A20 of the fault classes). One TAP line a case."""
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'roots')]
import make_image as mk  # noqa: E402
import roots  # noqa: E402

CUVET = os.path.abspath(os.environ.get('CUVET', 'build/cuvet'))
SANITIZED = 'asan' in CUVET
LAUNCHER = '''import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
'''
number = 0
failed = 0


def tap(name, bad):
    global number, failed
    number += 1
    failed += bool(bad)
    print('%sok %d - %s' % ('not ' if bad else '', number, name))
    for line in str(bad or '').splitlines():
        print('# ' + line)
    sys.stdout.flush()


def check(path, *args, limit=60):
    env = {k: v for k, v in os.environ.items() if k in ('PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS')}
    env.update(LC_ALL='C.UTF-8', TMPDIR=work, CUDA_VISIBLE_DEVICES='99')
    p = subprocess.run([CUVET, 'check', path, '--json', *args], stdin=subprocess.DEVNULL, capture_output=True, env=env,
                       timeout=limit, check=False)
    try:
        return p, json.loads(p.stdout)
    except ValueError:
        return p, None


def write(name, data):
    path = os.path.join(work, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def digest(d):
    """What matters of a report."""
    s = d['snapshot']
    return {'findings': sorted((f['name'], f['severity'], f['subject']) for f in d['findings']),
            'pythons': sorted((p['prefix'], p['torch'].get('version'), p['torch'].get('arch_list'),
                               p['torch'].get('cudnn', {}).get('path'), len(p.get('packages', [])),
                               [(x['path'], x.get('targets'), x.get('missing')) for x in p.get('extensions', [])],
                               sorted((x['name'], x.get('path')) for x in p.get('loads', []))) for p in s['pythons']),
            'libc': s['host'].get('glibc'), 'os': s['host'].get('os_version'),
            'toolkits': sorted((t['path'], t.get('version')) for t in s.get('toolkits', []))}


# ---------------------------------------------------------------- every form says the same
def forms():
    # In the first one libtorch_cuda.so is larger than what is kept whole of a library that passes by.
    wanted = ['good-ubuntu2204-venv', 'image-torch-vision-mismatch', 'flash-attn-abi', 'good-conda-forge-5090',
              'cuda-11-library-missing']
    for case in [m for m in roots.load() if m['id'] in wanted]:
        dest = os.path.join(work, case['id'])
        roots.build(case, dest)
        root = os.path.join(dest, 'root')
        facts = os.path.join(dest, 'facts.json')
        if os.path.exists(facts):
            os.unlink(facts)
        _, plain = check(root, '--no-live')
        if not plain:
            tap(case['id'], 'the folder gives no report')
            continue
        want = digest(plain)
        in_env = lambda p: 'site-packages' in p or 'dist-packages' in p  # noqa: E731
        low, high = mk.archive(mk.tree(root, lambda p: not in_env(p))), mk.archive(mk.tree(root, in_env))
        whole = mk.archive(mk.tree(root))
        images = {'root': whole, 'root.gz': mk.pack(whole, 'gz'), 'docker': mk.docker([low, high]),
                  'docker of gz': mk.docker([low, high], 'gz'), 'docker.gz': mk.docker([low, high], outer='gz'),
                  'docker.xz': mk.docker([low, high], outer='xz'), 'oci': mk.oci_archive(mk.oci([low, high])),
                  'oci of gz': mk.oci_archive(mk.oci([low, high], 'gz')),
                  'oci of xz': mk.oci_archive(mk.oci([low, high], 'xz')),
                  'oci.gz of gz': mk.oci_archive(mk.oci([low, high], 'gz'), 'gz')}
        if shutil.which('zstd'):
            images.update({'root.zst': mk.pack(whole, 'zst'), 'docker.zst': mk.docker([low, high], outer='zst'),
                           'docker of zst': mk.docker([low, high], 'zst'),
                           'oci of zst': mk.oci_archive(mk.oci([low, high], 'zst'))})
        else:
            print('# no zstd here: its forms are not tried')
        for name, data in images.items():
            p, d = check(write('image', data), '--no-live')
            got = digest(d) if d else p.stderr.decode()
            tap('%s: %s' % (case['id'], name), got != want and 'wanted %s\ngot    %s' % (want, got))
        folder = os.path.join(work, 'layout')
        os.mkdir(folder)
        mk.oci_folder(mk.oci([low, high], 'gz'), folder)
        p, d = check(folder, '--no-live')
        tap('%s: OCI folder' % case['id'], not d or digest(d) != want)
        subprocess.run(['rm', '-rf', folder], check=True)


# ---------------------------------------------------------------- squashfs: by its tool, or said in one line
def squash():
    tool = any(os.access(d + '/sqfs2tar', os.X_OK) for d in ('/usr/bin', '/usr/local/bin'))
    fake = write('fake.sqsh', b'hsqs' + b'x' * 4092)
    p, d = check(fake, '--no-live')
    text = p.stderr.decode()
    tap('squashfs that is none or has no tool', bool(d) or p.returncode != (2 if tool else 4) or len(text.splitlines()) != 1 or 'sqfs2tar' not in text)
    tap('a short file that begins as one', check(write('short.sqsh', b'hsqs'), '--no-live')[0].returncode != 2)
    if not tool or not shutil.which('tar2sqfs'):
        print('# no squashfs-tools-ng here: no such image is made')
        return
    path = os.path.join(work, 'image.sqsh')
    subprocess.run(['tar2sqfs', '-q', '-f', path], input=mk.archive(base() + [mk.member('sp ace', b'x')]), check=True)
    p, d = check(path, '--no-live')
    tap('squashfs', not d or kits(d['snapshot']) != ['/usr/local/cuda-12.4'] or d['snapshot']['container']['layout'] != 'squashfs')
    with open(path, 'rb') as f:
        data = f.read()
    p, d = check(write('image.sqsh', data[:300]), '--no-live')
    tap('squashfs cut short', bool(d) or p.returncode != 2 or len(p.stderr.decode().splitlines()) != 1)
    dashed = os.path.join(work, '-x')
    with open(dashed, 'wb') as f:
        f.write(data)
    p = subprocess.run([CUVET, 'check', '--no-live', '--json', '--', '-x'], cwd=work, capture_output=True, check=False)
    tap('squashfs whose name begins with a dash', p.returncode == 2)


# ---------------------------------------------------------------- the image's own demand on the driver
def demand():
    case = [m for m in roots.load() if m['id'] == 'good-ubuntu2204-venv'][0]
    dest = os.path.join(work, 'demand')
    roots.build(case, dest)
    layer = mk.archive(mk.tree(os.path.join(dest, 'root')))
    want = 'NVIDIA_REQUIRE_CUDA=cuda>=12.1'
    name = 'image-requires-newer-driver'
    for title, env, driver, cause, second in (
            ('is the cause', [want], '470.256.02', name, ('driver-too-old', 'error', name)),
            ('that is switched off', [want, 'NVIDIA_DISABLE_REQUIRE=1'], '470.256.02', 'driver-too-old', (name, 'warning', None)),
            ('with another branch allowed', [want + ' brand=tesla,driver>=470,driver<471'], '470.256.02', 'driver-too-old', None),
            ('that is fulfilled', [want], '550.54.15', None, None)):
        p, d = check(write('image', mk.docker([layer], env=env)), '--assume', 'driver=' + driver, '--assume', 'gpu=t4')
        got = [(f['name'], f['severity'], f.get('consequence_of')) for f in d['findings']] if d else p.stderr.decode()
        bad = not d or (d['root_cause'] and d['root_cause']['name']) != cause or (second and second not in got) or \
            (not second and name in [g[0] for g in got])
        tap('demand ' + title, bad and str(got))


# ---------------------------------------------------------------- layers
RELEASE = b'ID=%s\nVERSION_ID="%s"\nPRETTY_NAME="x"\n'


def base(ident=b'debian', version=b'12'):
    return [mk.member('etc', type='dir'), mk.member('usr/lib', type='dir'), mk.member('lib', type='link', target='usr/lib'),
            mk.member('etc/os-release', RELEASE % (ident, version)),
            mk.member('usr/local/cuda-12.4/version.json', b'{"cuda":{"version":"12.4.1"}}'),
            mk.member('usr/local/cuda-12.4/bin/nvcc', b'x', mode=0o755)]


def facts_of(layers, **kw):
    p, d = check(write('image', mk.docker([mk.archive(x) for x in layers], **kw)), '--no-live')
    return d['snapshot'] if d else {'error': p.stderr.decode()}


def kits(s):
    return sorted(t['path'] for t in s.get('toolkits', []))


def layers():
    cuda = '/usr/local/cuda-12.4'
    tap('I6 layers in the order of the manifest', facts_of([base(), [mk.member('etc/os-release', RELEASE % (b'ubuntu', b'24.04'))]])
        ['host'].get('os_version') != '24.04')
    tap('I6 the other order', facts_of([base(), [mk.member('etc/os-release', RELEASE % (b'ubuntu', b'24.04'))]], order=[1, 0])
        ['host'].get('os_version') != '12')
    tap('I6 a layer twice', kits(facts_of([base(), [mk.member('usr/local/.wh.cuda-12.4')], base()])) != [cuda])
    tap('I2 whiteout of a folder', kits(facts_of([base(), [mk.member('usr/local/.wh.cuda-12.4')]])) != [])
    tap('I2 whiteout hides nothing of its own layer',
        kits(facts_of([base(), [mk.member('usr/local/cuda-12.4/version.json', b'{"cuda":{"version":"12.6.0"}}'),
                                mk.member('usr/local/.wh.cuda-12.4')]])) != [cuda])
    s = facts_of([base(), [mk.member('usr/local/.wh..wh..opq'), mk.member('usr/local/x', b'')]])
    tap('I2 opaque folder', kits(s) != [])
    tap('I2 opaque folder keeps its own layer', kits(facts_of([base(), [
        mk.member('usr/local/cuda-13.0/version.json', b'{"cuda":{"version":"13.0.1"}}'),
        mk.member('usr/local/.wh..wh..opq')]])) != ['/usr/local/cuda-13.0'])
    tap('A7 a folder becomes a file', kits(facts_of([base(), [mk.member('usr/local/cuda-12.4', b'no folder')]])) != [])
    tap('A7 a folder becomes a link', kits(facts_of([base(), [mk.member('usr/local/cuda-12.4', type='link', target='/nowhere')]])) != [])
    tap('I2 a file whiteout of a link', kits(facts_of([base(), [mk.member('usr/local/cuda', type='link', target='cuda-12.4')],
                                                       [mk.member('usr/local/.wh.cuda')]])) != [cuda])
    s = facts_of([base(), [mk.member('lib/cuda-marker', b''), mk.member('usr/local/cuda-12.6/version.json', b'x'),
                           mk.member('usr/local/cuda-12.6/nvcc', type='hard', target='usr/local/cuda-12.4/bin/nvcc'),
                           mk.member('usr/local/cuda-12.6/bin/nvcc', type='hard', target='usr/local/cuda-12.4/bin/nvcc')]])
    tap('hard link into a layer below', kits(s) != [cuda, '/usr/local/cuda-12.6'])
    s = facts_of([base()], env=['PATH=/opt/x/bin:/usr/bin', 'NVIDIA_REQUIRE_CUDA=cuda>=12.4'])
    env = {v['name']: v['value'] for v in s.get('environment', [])}
    tap('configuration', env.get('NVIDIA_REQUIRE_CUDA') != 'cuda>=12.4' or s['container'].get('entrypoint') != '/entry.sh' or
        s['container'].get('image') != 'example/image:1')
    tap('nothing of this machine', 'CUDA_VISIBLE_DEVICES' in env or s.get('gpus'))


# ---------------------------------------------------------------- what is spoilt
def spoilt():
    low = mk.archive(base())

    def refused(name, data, word, args=()):
        p, d = check(write('image', data), '--no-live', *args)
        err = p.stderr.decode()
        tap(name, d is not None or p.returncode not in (2, 4) or word not in err and 'exit %d: %s' % (p.returncode, err))

    def flip(blobs, manifest):
        key = manifest['layers'][0]['digest'][7:]
        b = bytearray(blobs[key])
        b[600] ^= 1
        blobs[key] = bytes(b)

    refused('I1 digest of a plain layer', mk.oci_archive(mk.oci([low], spoil=flip)), 'digest')

    def flip_packed(blobs, manifest):
        key = manifest['layers'][0]['digest'][7:]
        blobs[key] = gzip.compress(gzip.decompress(blobs[key]) + bytes(1024), 1)

    refused('I1 digest of a packed layer', mk.oci_archive(mk.oci([low], 'gz', spoil=flip_packed)), 'digest')
    refused('I1 digest in a packed archive', mk.oci_archive(mk.oci([low + bytes(1 << 17)], 'gz', spoil=flip_packed), 'gz'), 'digest')
    refused('I3 a blob is missing', mk.oci_archive(mk.oci([low], spoil=lambda b, m: b.pop(m['layers'][0]['digest'][7:]))),
            'not in the archive')
    refused('I3 a foreign blob', mk.oci_archive(mk.oci([low], spoil=lambda b, m: m['layers'][0].update(
        digest='sha256:../../../../etc/passwd'))), 'digests')
    refused('I3 no image in it', mk.archive([]), 'no')

    def wrong(blobs, manifest):
        manifest['layers'][0]['mediaType'] = 'application/vnd.oci.image.layer.v1.tar+zstd'

    p, d = check(write('image', mk.oci_archive(mk.oci([low], 'gz', spoil=wrong))), '--no-live')
    tap('I4 gzip called zstd', not d or kits(d['snapshot']) != ['/usr/local/cuda-12.4'])

    def loop(blobs, manifest):
        text = json.dumps({'schemaVersion': 2, 'manifests': [{'digest': 'sha256:' + manifest}]}).encode()
        for _ in range(6):
            blobs[mk.sha(text)] = text
            text = json.dumps({'schemaVersion': 2, 'manifests': [{'digest': 'sha256:' + mk.sha(text)}]}).encode()
        return json.loads(text)

    refused('I5 indexes without an end', mk.oci_archive(mk.oci([low], index=loop)), 'index')
    many = lambda blobs, manifest: {'manifests': [  # noqa: E731
        {'digest': 'sha256:' + 'a' * 64, 'platform': {'os': 'windows', 'architecture': 'amd64'}},
        {'digest': 'sha256:' + 'b' * 64, 'platform': {'os': 'linux', 'architecture': 's390x'}},
        {'digest': 'sha256:' + manifest, 'platform': {'os': 'linux', 'architecture': 'amd64'}}]}
    p, d = check(write('image', mk.oci_archive(mk.oci([low], index=many))), '--no-live')
    tap('I5 the platform among many', not d or kits(d['snapshot']) != ['/usr/local/cuda-12.4'])

    for name, data in (('plain', mk.docker([low])), ('gz', mk.docker([low], outer='gz'))):
        bad = []
        for cut in range(1, len(data), max(1, len(data) // (12 if SANITIZED else 40))):
            p, d = check(write('image', data[:cut]), '--no-live')
            if p.returncode not in (0, 1, 2, 3, 4):
                bad.append('cut at %d: exit %d %s' % (cut, p.returncode, p.stderr[-300:]))
        tap('A17 cut at any byte, ' + name, '\n'.join(bad))


# ---------------------------------------------------------------- what is hostile
def hostile():
    secret = write('secret', RELEASE % (b'stolen', b'66'))
    lie = tarfile.TarInfo('etc/os-release')
    lie.size = 1 << 40
    cases = {
        'A1 absolute name': [mk.member('/etc/os-release', RELEASE % (b'abs', b'1'))],
        'A2 dots': [mk.member('../../../../../..' + secret, b'overwritten'), mk.member('a/../../etc/os-release', b'x')],
        'A3 a link, then a file through it': [mk.member('etc', type='link', target=work), mk.member('etc/secret', b'overwritten')],
        'A4 link out': [mk.member('etc/os-release', type='link', target=secret)],
        'A4 link out by dots': [mk.member('etc/os-release', type='link', target='../../../../../../../..' + secret)],
        'A5 hard link out': [mk.member('etc/os-release', type='hard', target=secret)],
        'A6 hard link to a link': [mk.member('x', type='link', target=secret), mk.member('etc/os-release', type='hard', target='x')],
        'A8 twice': base() + base(b'second', b'2'),
        'A9 case': [mk.member('ETC/os-release', RELEASE % (b'upper', b'1'))] + base(),
        'A10 names': [mk.member('./'), mk.member('etc/\x1b]0;x\x07'), mk.member('etc/\xff\xfe'), mk.member('.'), mk.member('etc//os-release', RELEASE % (b'x', b'1'))],
        'A11 long and deep': [mk.member('/'.join(['d'] * 1500) + '/f', b'x'), mk.member('n' * 5000, b'x')] + base(),
        'A12 no regular files': [mk.member('etc/os-release', type='fifo'), mk.member('usr/lib/os-release', type='dev'),
                                 mk.member('etc/ld.so.cache', type='fifo')],
        'A13 setuid': [mk.member('etc/os-release', RELEASE % (b'x', b'1'), mode=0o6777)],
        'T3 links in a ring': [mk.member('a', type='link', target='b'), mk.member('b', type='link', target='a'),
                               mk.member('etc', type='link', target='/a'), mk.member('usr', type='link', target='usr')],
    }
    for name, members in cases.items():
        bad = []
        for how, outer in (('', ''), ('gz', ''), ('', 'gz')):
            p, d = check(write('image', mk.docker([mk.archive(members)], how, outer)), '--no-live')
            out = p.stdout + p.stderr
            if p.returncode not in (0, 1, 2, 3) or b'stolen' in out:
                bad.append('exit %d %s' % (p.returncode, out[-400:]))
        with open(secret, 'rb') as f:
            if b'stolen' not in f.read():
                bad.append('written outside')
        tap(name, '\n'.join(bad))
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode='w') as t:
        t.addfile(mk.member('etc/passwd', b'root')[0], io.BytesIO(b'root'))
    for name, data in (('A15 a size beyond the end', lie.tobuf() + bytes(2048)), ('A16 checksum', b'\0' * 0 + bytes(bytearray(raw.getvalue()[:148]) + b'7777777\0' + raw.getvalue()[156:])),
                       ('A20 something behind the end', raw.getvalue() + b'trailing' * 100), ('A20 two streams', gzip.compress(raw.getvalue()) * 2)):
        p, _ = check(write('image', data), '--no-live')
        tap(name, p.returncode not in (0, 1, 2, 3, 4) and 'exit %d %s' % (p.returncode, p.stderr[-300:]))
    if SANITIZED:
        return
    # A18: a gigabyte of zeros in a megabyte, as a file that is kept and as one that is not
    for name in ('usr/lib/x86_64-linux-gnu/libbomb.so', 'var/lib/dpkg/status', 'data'):
        path = os.path.join(work, 'bomb')
        with gzip.open(path, 'wb', 1) as f:
            info = tarfile.TarInfo(name)
            info.size = 1 << 30
            f.write(info.tobuf())
            for _ in range(1024):
                f.write(bytes(1 << 20))
            f.write(bytes(1024))
        # A small launcher: what this process holds would count for a child that it forks.
        p = subprocess.run([sys.executable, '-S', '-c', LAUNCHER, CUVET, 'check', path], capture_output=True, timeout=60, check=False)
        code, peak = (p.stdout.split() + [b'99', b'9999'])[:2]
        tap('A18 bomb as ' + name, (int(code) not in (0, 1, 2, 3, 4) or int(peak) > 128) and
            'exit %s, %s MiB %s' % (code, peak, p.stderr[-300:]))


with tempfile.TemporaryDirectory(prefix='cuvet-image-') as work:
    forms()
    squash()
    demand()
    layers()
    spoilt()
    hostile()
print('1..%d' % number)
sys.exit(1 if failed else 0)
