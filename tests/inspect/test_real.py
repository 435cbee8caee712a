#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""cuvet inspect over real libraries against an independent reading of the same bytes: the CUDA toolkit of this machine,
and a third-party library out of a pinned npm package, which is downloaded only with CUVET_TEST_DOWNLOAD=1.

The independent reading searches every byte of every section for bundles, takes no short cut and shares no code.
"""
import glob
import json
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.path.abspath(os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet')))
PACKAGE = '@node-llama-cpp/linux-x64-cuda@3.22.1'
MAGIC = struct.pack('<I', 0xBA55ED50)
KNOWN = {1: 'compute', 2: 'sm', 8: 'lto'}
count = [0]
failed = [0]


def check(ok, what, detail=''):
    count[0] += 1
    failed[0] += not ok
    print('%sok %d - %s' % ('' if ok else 'not ', count[0], what))
    if not ok and detail:
        print('# ' + str(detail)[:2000].replace('\n', '\n# '))


def skip(what, why):
    count[0] += 1
    print('ok %d - %s # skip %s' % (count[0], what, why))


def listing(path):
    """{section: (targets, bundles)} by a search through all bytes of the section."""
    out = {}
    with open(path, 'rb') as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
        if m[:4] != b'\x7fELF':
            return out
        shoff = struct.unpack_from('<Q', m, 40)[0]
        n, names_at = struct.unpack_from('<HH', m, 60)
        heads = [struct.unpack_from('<IIQQQQ', m, shoff + 64 * i) for i in range(n)]
        for name_at, kind, _, _, off, size in heads:
            at = heads[names_at][4] + name_at
            name = m[at:m.find(b'\0', at)].decode()
            if kind == 8 or name == '.text':
                continue
            targets, bundles = set(), 0
            i = m.find(MAGIC, off, off + size)
            while i >= 0:
                version, head, body = struct.unpack_from('<HHQ', m, i + 4)
                if i % 8 or version != 1 or head != 16 or i + 16 + body > off + size:
                    i = m.find(MAGIC, i + 4, off + size)
                    continue
                bundles += 1
                e = i + 16
                while e + 64 <= i + 16 + body:
                    what, _, eh, payload = struct.unpack_from('<HHIQ', m, e)
                    arch, flags = struct.unpack_from('<I', m, e + 28)[0], struct.unpack_from('<Q', m, e + 40)[0]
                    suffix = 'a' if flags & 0x100000 else 'f' if flags & 0x200000 else ''
                    targets.add('%s_%d%s' % (KNOWN.get(what, 'kind%d' % what), arch, suffix))
                    e += eh + payload
                i = m.find(MAGIC, i + 16 + body, off + size)
            if bundles:
                out[name] = (sorted(targets), bundles)
    return out


def readelf(path):
    out = subprocess.run(['readelf', '-dVW', path], capture_output=True, text=True, check=False).stdout
    def values(tag):
        return [line[line.index('[') + 1:line.rindex(']')] for line in out.splitlines() if '(%s)' % tag in line]
    glibc = [tuple(map(int, w[6:].split('.'))) for w in out.split() if w.startswith('GLIBC_') and w[6:].replace('.', '').isdigit()]
    return {'needed': values('NEEDED'), 'soname': (values('SONAME') or [None])[0],
            'rpath': ':'.join(values('RPATH')), 'runpath': ':'.join(values('RUNPATH')),
            'glibc': '.'.join(map(str, max(glibc))) if glibc else None}


def compare(paths, label):
    doc = json.loads(subprocess.run([CUVET, 'inspect', '--json', *paths], capture_output=True, check=True).stdout)
    bad, sections = [], 0
    for f in doc['files']:
        if f['container'] or f['kind'] not in ('shared-object', 'executable'):
            continue
        got = {c['section']: (sorted(c['cubins'] + c['ptx'] + c['lto']), c['blobs']) for c in f['linked'] + f['elsewhere']}
        want = listing(f['path'])
        sections += len(want)
        if got != want:
            bad.append((f['path'], [(k, got.get(k), want.get(k)) for k in set(got) | set(want) if got.get(k) != want.get(k)]))
        head = readelf(f['path'])
        mine = dict(f, rpath=':'.join(f['rpath']), runpath=':'.join(f['runpath']))
        bad += [(f['path'], k, mine[k], v) for k, v in head.items() if mine[k] != v]
    check(not bad, '%s: targets, bundles, names as an independent reading has them (%d files, %d sections)'
          % (label, len(doc['files']), sections), bad)
    return doc


def resolved(doc, label):
    """ldd runs the real loader over the same files."""
    bad, n = [], 0
    for f in doc['files']:
        if f['container'] or f['kind'] != 'shared-object':
            continue
        out = subprocess.run(['ldd', f['path']], capture_output=True, text=True, check=False)
        want = {}
        for line in out.stdout.splitlines():
            part = line.split(' (0x')[0].strip().split(' => ')
            if len(part) == 2:
                want[part[0]] = None if part[1] == 'not found' else part[1]
        got = {x['name']: x['path'] for x in f['resolved'] if x['via'] not in ('already loaded', 'loader')}
        n += len(want)
        if got != want:
            bad.append((f['path'], got, want))
    check(not bad and n > 0, '%s: what ldd prints (%d libraries)' % (label, n), bad)


def main():
    lib64 = [d for d in sorted(glob.glob('/usr/local/cuda*/lib64')) if not os.path.islink(os.path.dirname(d))]
    if not lib64:
        skip('the toolkit', 'no /usr/local/cuda*/lib64 here')
    for d in lib64[:1]:
        doc = compare([d], d)
        resolved(doc, d)
        read = sum(c['bytes_read'] for f in doc['files'] for c in f['linked'])
        size = sum(os.path.getsize(f['path']) for f in doc['files'] if not f['container'])
        check(read * 100 < size, 'E13: of %d MB the linked code took %d KB of reads' % (size >> 20, read >> 10))
        # Once to have it in memory; then the better of several runs of each.
        argv = [CUVET, 'inspect', '--json', d]
        files = [f['path'] for f in doc['files'] if not f['container']]
        best = {}
        for name, command in (('cuvet', argv), ('cat', ['cat', *files])):
            times = []
            for _ in range(5):
                start = time.monotonic()
                subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
                times.append(time.monotonic() - start)
            best[name] = min(times)
        print('# %.0f ms, cat %.0f ms' % (best['cuvet'] * 1000, best['cat'] * 1000))
        # A bound that a busy machine keeps; the figures above are what is aimed at.
        check(best['cuvet'] < best['cat'], 'faster than cat over the same files')
    if os.environ.get('CUVET_TEST_DOWNLOAD') != '1':
        skip(PACKAGE, 'set CUVET_TEST_DOWNLOAD=1 to download it')
    else:
        with tempfile.TemporaryDirectory() as tmp:
            subprocess.run(['npm', 'pack', '--silent', PACKAGE], cwd=tmp, check=True, stdout=subprocess.DEVNULL)
            archive = glob.glob(tmp + '/*.tgz')[0]
            packed = json.loads(subprocess.run([CUVET, 'inspect', '--json', archive], capture_output=True, check=True).stdout)
            subprocess.run(['tar', '-xzf', archive, '-C', tmp], check=True)
            doc = compare([tmp + '/package'], PACKAGE)
            code = [f for f in doc['files'] if f['cubins']]
            check(bool(code), '%s holds GPU code: %s' % (PACKAGE, code and (code[0]['cubins'], code[0]['ptx'])))
            inner = {f['path'].split('!')[1]: (f['cubins'], f['ptx'], f['needed']) for f in packed['files'] if f['container']}
            outer = {f['path'][len(tmp) + 1:]: (f['cubins'], f['ptx'], f['needed']) for f in doc['files'] if not f['container']}
            check(inner == outer, '%s: the same within the archive' % PACKAGE, (inner, outer))
    print('1..%d' % count[0])
    return 1 if failed[0] else 0


if __name__ == '__main__':
    sys.exit(main())
