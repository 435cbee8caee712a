# SPDX-License-Identifier: Apache-2.0
"""Images in every form from members given in memory: docker archives, OCI layouts, root archives."""
import gzip
import hashlib
import io
import json
import lzma
import os
import subprocess
import tarfile


def member(name, data=b'', **kw):
    """A TarInfo and its data: type 'dir', 'link' (target), 'hard' (target), 'fifo', 'dev', else a file."""
    info = tarfile.TarInfo(name)
    kind = kw.get('type', 'file')
    info.mode = kw.get('mode', 0o755 if kind == 'dir' else 0o644)
    if kind == 'dir':
        info.type = tarfile.DIRTYPE
    elif kind == 'link':
        info.type, info.linkname = tarfile.SYMTYPE, kw['target']
    elif kind == 'hard':
        info.type, info.linkname = tarfile.LNKTYPE, kw['target']
    elif kind == 'fifo':
        info.type = tarfile.FIFOTYPE
    elif kind == 'dev':
        info.type, info.devmajor, info.devminor = tarfile.CHRTYPE, 195, 0
    else:
        info.size = len(data)
    return info, data


def archive(members, fmt=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=fmt) as t:
        for info, data in members:
            t.addfile(info, io.BytesIO(data) if info.isfile() else None)
    return out.getvalue()


def tree(root, wanted=lambda path: True):
    """A folder as members."""
    out = []
    for top, dirs, files in os.walk(root):
        for n in sorted(dirs) + sorted(files):
            path = os.path.join(top, n)
            name = os.path.relpath(path, root)
            if not wanted(name):
                continue
            if os.path.islink(path):
                out.append(member(name, type='link', target=os.readlink(path)))
            elif os.path.isdir(path):
                out.append(member(name, type='dir'))
            elif os.path.isfile(path):
                with open(path, 'rb') as f:
                    out.append(member(name, f.read(), mode=os.stat(path).st_mode & 0o7777))
    return out


def zstd(data):
    """By the program: Python has no zstd before 3.14."""
    return subprocess.run(['zstd', '-q', '-1', '-c'], input=data, stdout=subprocess.PIPE, check=True).stdout


def pack(data, how):
    return {'': lambda d: d, 'gz': lambda d: gzip.compress(d, 1), 'xz': lambda d: lzma.compress(d, preset=0),
            'zst': zstd}[how](data)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def config(layers, env=(), **kw):
    return json.dumps({'architecture': kw.get('arch', 'amd64'), 'os': 'linux',
                       'config': {'Env': list(env), 'Entrypoint': ['/entry.sh'], 'WorkingDir': '/app',
                                  'Labels': kw.get('labels', {})},
                       'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + sha(x) for x in layers]}}).encode()


def docker(layers, how='', outer='', env=(), order=None):
    """`docker save` as before 25: a folder a layer, manifest.json last."""
    names = ['%s/layer.tar' % sha(x)[:16] for x in layers]
    cfg = config(layers, env)
    members = [member(n, pack(x, how)) for n, x in dict(zip(names, layers)).items()]
    members.append(member(sha(cfg) + '.json', cfg))
    members.append(member('manifest.json', json.dumps([{
        'Config': sha(cfg) + '.json', 'RepoTags': ['example/image:1'],
        'Layers': [names[i] for i in order] if order else names}]).encode()))
    return pack(archive(members), outer)


def oci(layers, how='', env=(), spoil=lambda blobs, manifest: None, index=None):
    """Blobs by name, with index.json and oci-layout."""
    packed = [pack(x, how) for x in layers]
    cfg = config(layers, env)
    blobs = {sha(x): x for x in packed + [cfg]}
    manifest = {'schemaVersion': 2, 'config': {'digest': 'sha256:' + sha(cfg)},
                'layers': [{'digest': 'sha256:' + sha(x), 'size': len(x)} for x in packed]}
    spoil(blobs, manifest)
    text = json.dumps(manifest).encode()
    blobs[sha(text)] = text
    top = index(blobs, sha(text)) if index else {'schemaVersion': 2, 'manifests': [
        {'digest': 'sha256:' + 'e' * 64, 'platform': {'os': 'unknown', 'architecture': 'unknown'}},
        {'digest': 'sha256:' + sha(text), 'platform': {'os': 'linux', 'architecture': 'amd64'},
         'annotations': {'org.opencontainers.image.ref.name': 'example'}}]}
    out = {'oci-layout': b'{"imageLayoutVersion":"1.0.0"}', 'index.json': json.dumps(top).encode()}
    out.update(('blobs/sha256/' + k, v) for k, v in blobs.items())
    return out


def oci_archive(files, outer=''):
    return pack(archive([member(n, d) for n, d in files.items()]), outer)


def oci_folder(files, path):
    for name, data in files.items():
        file = os.path.join(path, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, 'wb') as f:
            f.write(data)
