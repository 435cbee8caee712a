#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images made by umoci, skopeo and buildah from a root with synthetic wheels: all say the same as the folder."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), 'roots')]
import roots  # noqa: E402

CUVET = os.path.abspath(os.environ.get('CUVET', 'build/cuvet'))
number = 0
failed = 0


def tap(name, bad='', skip=''):
    global number, failed
    number += 1
    failed += bool(bad)
    print('%sok %d - %s%s' % ('not ' if bad else '', number, name, ' # skip ' + skip if skip else ''))
    for line in str(bad or '').splitlines():
        print('# ' + line)
    sys.stdout.flush()


def run(*cmd):
    env = dict(os.environ, LC_ALL='C.UTF-8', TMPDIR=work, HOME=work)
    return subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True, env=env, cwd=work, timeout=120, check=False)


def report(path):
    p = run(CUVET, 'check', path, '--no-live', '--json')
    try:
        d = json.loads(p.stdout)
    except ValueError:
        return 'exit %d: %s' % (p.returncode, p.stderr.decode())
    return (d['verdict'], d['root_cause'] and d['root_cause']['name'],
            sorted((x['prefix'], x['torch'].get('version'), str(x['torch'].get('arch_list')), len(x['packages']))
                   for x in d['snapshot']['pythons']))


def by_umoci(root):
    """The layout "lay"; None when the tool cannot work here."""
    for cmd in (['umoci', 'init', '--layout', 'lay'], ['umoci', 'new', '--image', 'lay:t'],
                ['umoci', 'unpack', '--rootless', '--image', 'lay:t', 'bundle']):
        p = run(*cmd)
        if p.returncode:
            return p.stderr.decode()[-200:].strip().replace('\n', ' ')
    # Two layers: the second takes the first one's os-release away and brings its own.
    shutil.copytree(root, os.path.join(work, 'bundle/rootfs'), symlinks=True, dirs_exist_ok=True)
    old = os.path.join(work, 'bundle/rootfs/opt/old')
    os.makedirs(old)
    with open(os.path.join(old, 'pyvenv.cfg'), 'w', encoding='utf-8') as f:
        f.write('home = /usr/bin\nversion = 3.10.1\n')
    p = run('umoci', 'repack', '--refresh-bundle', '--image', 'lay:t', 'bundle')
    if p.returncode:
        return p.stderr.decode()[-200:].strip().replace('\n', ' ')
    shutil.rmtree(old)
    p = run('umoci', 'repack', '--image', 'lay:t', 'bundle')
    return p.stderr.decode()[-200:].strip().replace('\n', ' ') if p.returncode else ''


with tempfile.TemporaryDirectory(prefix='cuvet-tools-') as work:
    case = [m for m in roots.load() if m['id'] == 'image-torch-vision-mismatch'][0]
    roots.build(case, os.path.join(work, 'case'))
    folder = os.path.join(work, 'case/root')
    want = report(folder)
    tap('the folder', not isinstance(want, tuple) and want)
    why = by_umoci(folder) if shutil.which('umoci') else 'no umoci'
    if why:
        tap('umoci', skip=why)
    else:
        got = report('lay')
        tap('umoci, a layout with a whiteout', got != want and 'wanted %s\ngot    %s' % (want, got))
    for name, target, file in (('skopeo, docker archive', 'docker-archive:d.tar:example/x:1', 'd.tar'),
                               ('skopeo, OCI archive', 'oci-archive:o.tar', 'o.tar')):
        if why or not shutil.which('skopeo'):
            tap(name, skip=why or 'no skopeo')
            continue
        done = run('skopeo', '--insecure-policy', 'copy', 'oci:lay:t', target)
        if done.returncode:
            tap(name, skip=done.stderr.decode()[-200:].strip().replace('\n', ' '))
            continue
        got = report(file)
        tap(name, got != want and 'wanted %s\ngot    %s' % (want, got))
    if not shutil.which('buildah'):
        tap('buildah', skip='no buildah')
    else:
        store = ['buildah', '--storage-driver', 'vfs', '--root', work + '/store', '--runroot', work + '/run']
        made = run(*store, 'from', 'scratch')
        if not made.returncode:
            name = made.stdout.decode().strip()
            made = run(*store, 'copy', name, folder, '/')
        if not made.returncode:
            made = run(*store, 'commit', name, 'docker-archive:b.tar:example/b:1')
        if made.returncode:
            tap('buildah', skip=made.stderr.decode()[-200:].strip().replace('\n', ' '))
        else:
            got = report('b.tar')
            tap('buildah, docker archive', got != want and 'wanted %s\ngot    %s' % (want, got))
        subprocess.run(store + ['rm', '--all'], stdin=subprocess.DEVNULL, capture_output=True, check=False)
print('1..%d' % number)
sys.exit(1 if failed else 0)
