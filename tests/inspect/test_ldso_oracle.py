#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""The emulated loader against the real one: generated roots, each asked with `ld.so --list` inside a chroot and with
`cuvet inspect --root`. They have to load the same files in the same order, or fail at the same one.

A root has libraries in many directories (shadow copies, wrong machines, text files, links), with DT_RPATH, DT_RUNPATH
and DF_1_NODEFLIB, folders for special processors, a cache made by ldconfig, LD_LIBRARY_PATH and LD_PRELOAD.
Needs root (chroot) and glibc on x86_64; skipped by name elsewhere.

CUVET_ORACLE_LAYOUTS=N: how many (default 250), CUVET_ORACLE_SEED=N: from which seed.
"""
import ctypes
import json
import os
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.path.abspath(os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet')))
LAYOUTS = int(os.environ.get('CUVET_ORACLE_LAYOUTS', '250'))
SEED = int(os.environ.get('CUVET_ORACLE_SEED', '1'))
LOADER = '/lib64/ld-linux-x86-64.so.2'
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x1000, 0x4000, 0x40000, 2

DT = {'NEEDED': 1, 'HASH': 4, 'STRTAB': 5, 'SYMTAB': 6, 'STRSZ': 10, 'SYMENT': 11, 'SONAME': 14, 'RPATH': 15,
      'RUNPATH': 29, 'FLAGS_1': 0x6ffffffb}
NODEFLIB = 0x800


def elf(soname=None, needed=(), rpath=None, runpath=None, flags_1=0, interp=None, machine=62, bits=64, pad=0):
    """The smallest library that the real loader maps: one segment that may be written, a dynamic section, no code."""
    if bits == 32:
        return b'\x7fELF\x01\x01\x01' + bytes(9) + struct.pack('<HHI', 3, 3, 1) + bytes(200)
    strings = b'\0'
    entries = []

    def add(tag, text):
        nonlocal strings
        entries.append((DT[tag], len(strings)))
        strings += text.encode() + b'\0'
    for name in needed:
        add('NEEDED', name)
    if soname:
        add('SONAME', soname)
    if rpath is not None:
        add('RPATH', rpath)
    if runpath is not None:
        add('RUNPATH', runpath)
    if flags_1:
        entries.append((DT['FLAGS_1'], flags_1))
    phnum = 4 if interp else 2
    at = 64 + 56 * phnum
    sym = at
    at += 24
    hashed = at
    at += 16
    text = at
    at += len(strings)
    interp_at = at
    at += len(interp) + 1 if interp else 0
    dyn = (at + 15) & ~15
    entries += [(DT['STRTAB'], text), (DT['STRSZ'], len(strings)), (DT['SYMTAB'], sym), (DT['SYMENT'], 24),
                (DT['HASH'], hashed), (0, 0)]
    dynamic = b''.join(struct.pack('<QQ', a, b) for a, b in entries)
    end = dyn + len(dynamic)
    head = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, machine, 1, 0, 64, 0, 0, 64, 56, phnum, 64, 0, 0)
    ph = b''
    if interp:
        # By this one the loader learns where the kernel put the program.
        ph += struct.pack('<IIQQQQQQ', 6, 4, 64, 64, 64, 56 * phnum, 56 * phnum, 8)
        ph += struct.pack('<IIQQQQQQ', 3, 4, interp_at, interp_at, interp_at, len(interp) + 1, len(interp) + 1, 1)
    ph += struct.pack('<IIQQQQQQ', 1, 6, 0, 0, 0, end, end, 0x1000)
    ph += struct.pack('<IIQQQQQQ', 2, 6, dyn, dyn, dyn, len(dynamic), len(dynamic), 8)
    body = head + ph + bytes(24) + struct.pack('<IIII', 1, 1, 0, 0) + strings + (interp.encode() + b'\0' if interp else b'')
    return body.ljust(dyn, b'\0') + dynamic + bytes(pad)


class Layout:
    """One generated root."""

    def __init__(self, seed, top, hwcaps):
        self.r = random.Random(seed)
        self.top = top
        self.hwcaps = hwcaps
        self.env = {}
        self.names = ['lib%s.so.1' % c for c in 'abcdefgh'[:self.r.randint(2, 8)]]
        self.dirs = self.r.sample(['/opt/a', '/opt/b/lib', '/srv/c', '/app/lib', '/app/deps', '/usr/local/lib', '/data/lib64',
                                   '/app/lib/x86_64-linux-gnu', '/app/x86_64', '/work'], self.r.randint(2, 6))
        self.system = ['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib', '/usr/lib']
        self.build()

    def put(self, path, data):
        full = self.top + path
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if os.path.lexists(full):
            return
        with open(full, 'wb') as f:
            f.write(data)

    def element(self):
        r = self.r
        d = r.choice(self.dirs)
        kind = r.random()
        if kind < 0.45:
            return d + r.choice(['', '', '/', '//', '/.', '/../' + d.split('/')[-1]])
        if kind < 0.75:
            return r.choice(['$ORIGIN', '${ORIGIN}']) + r.choice(['', '/', '/../lib', '/../deps', '/sub', '/..', '/../../opt/a'])
        if kind < 0.83:
            return r.choice(['/app/$LIB', '/app/${LIB}', '/app/$PLATFORM', '/app/${PLATFORM}/', '/$LIB'])
        if kind < 0.88:
            return r.choice(['$ORIGINX/lib', '${ORIGIN', '$NOTHING', '/opt/$ORIGINAL', '$', '/a$LIBx', '${LIB}x', '$ORIGIN_'])
        if kind < 0.93:
            return ''
        if kind < 0.97:
            return r.choice(['work', 'app/lib', './opt/a', 'nothing', '.', '..'])
        return r.choice(['/nothing/here', '/app/main', '/', '/loop/x'])

    def path(self, seps=':'):
        return ''.join(self.element() + self.r.choice(seps) for _ in range(self.r.randint(1, 4)))[:-1]

    def library(self, name, needed):
        r = self.r
        keys = {}
        kind = r.random()
        if kind < 0.28:
            keys['rpath'] = self.path()
        elif kind < 0.5:
            keys['runpath'] = self.path()
        elif kind < 0.56:
            keys['rpath'], keys['runpath'] = self.path(), self.path()
        if r.random() < 0.05:
            keys['flags_1'] = NODEFLIB
        soname = name
        if r.random() < 0.06:
            soname = r.choice(self.names)
        elif r.random() < 0.06:
            soname = None
        return elf(soname, needed, pad=r.randint(1, 200), **keys)

    def needs(self):
        r = self.r
        out = r.sample(self.names, min(len(self.names), r.choice([0, 0, 1, 1, 2, 3])))
        if r.random() < 0.06:
            out.append(r.choice(['$ORIGIN/', '/opt/a/', '/app/${LIB}/', './', '']) + r.choice(self.names))
        if r.random() < 0.05:
            out.append(r.choice(['ld-linux-x86-64.so.2', 'libmissing.so.9']))
        return out

    def copies(self, name):
        r = self.r
        places = r.sample(self.dirs, r.randint(r.random() < 0.8, min(4, len(self.dirs))))
        if r.random() < 0.5:
            places.append(r.choice(self.system))
        if r.random() < 0.15:
            places.append('/')
        for d in places:
            sub = ''
            if r.random() < 0.15:
                sub = r.choice(['glibc-hwcaps/x86-64-v2/', 'glibc-hwcaps/x86-64-v3/', 'glibc-hwcaps/x86-64-v4/', 'tls/',
                                'x86_64/', 'tls/x86_64/', 'haswell/', 'glibc-hwcaps/x86-64-v9/'])
            path = '%s/%s%s' % (d if d != '/' else '', sub, name)
            kind = r.random()
            if kind < 0.80:
                self.put(path, self.library(name, self.needs()))
            elif kind < 0.84:
                self.put(path, elf(name, bits=32))
            elif kind < 0.88:
                self.put(path, elf(name, machine=r.choice([183, 21])))
            elif kind < 0.90:
                self.put(path, r.choice([b'', b'\x7fELF', b'INPUT(libc.so.6)\n' * 10, b'!<arch>\n' + bytes(80)]))
            else:
                self.link(path)

    def link(self, path):
        r = self.r
        full = self.top + path
        if os.path.lexists(full):
            return
        os.makedirs(os.path.dirname(full), exist_ok=True)
        kind = r.random()
        if kind < 0.6:
            target = r.choice(self.dirs) + '/' + r.choice(self.names)
            os.symlink(target, full)
        elif kind < 0.75:
            os.symlink('nowhere', full)
        elif kind < 0.85:
            os.symlink(os.path.basename(full), full)
        elif kind < 0.92:
            os.mkdir(full)
        else:
            os.symlink('/app/main/x', full)

    def build(self):
        r = self.r
        os.makedirs(self.top + '/lib64')
        os.makedirs(self.top + '/etc')
        os.makedirs(self.top + '/loop')
        os.symlink('x', self.top + '/loop/x')
        os.link(LOADER_COPY, self.top + LOADER)
        for d in self.dirs[:r.randint(0, len(self.dirs))]:
            os.makedirs(self.top + d, exist_ok=True)
        self.started = r.random() < 0.5
        keys = {}
        kind = r.random()
        if kind < 0.4:
            keys['rpath'] = self.path()
        elif kind < 0.7:
            keys['runpath'] = self.path()
        if r.random() < 0.06:
            keys['flags_1'] = NODEFLIB
        needed = r.sample(self.names, r.randint(1, min(4, len(self.names))))
        self.main = '/app/main'
        data = elf(None, needed, interp=LOADER if self.started else None, **keys)
        if self.started and r.random() < 0.3:
            # The kernel resolves the link, and $ORIGIN with it.
            self.put('/app/real/main', data)
            os.symlink('real/main', self.top + self.main)
        else:
            self.put(self.main, data)
        for f in ('/app/real/main', '/app/main'):
            if os.path.isfile(self.top + f):
                os.chmod(self.top + f, 0o755)
        for name in self.names:
            self.copies(name)
        if r.random() < 0.5:
            self.env['LD_LIBRARY_PATH'] = self.path(':;')
        if r.random() < 0.2:
            self.env['LD_PRELOAD'] = r.choice([' ', ':']).join(
                r.choice(['', '/opt/a/', '/app/lib/', '$ORIGIN/lib/']) + r.choice(self.names) for _ in range(r.randint(1, 2)))
        if r.random() < 0.08:
            self.put('/etc/ld.so.preload', ('# comment %s\n%s\n' % (r.choice(self.names), r.choice(self.names))).encode())
        if r.random() < 0.6:
            self.put('/etc/ld.so.conf', ''.join(d + '\n' for d in r.sample(self.dirs, r.randint(1, len(self.dirs)))).encode())
            subprocess.run(['/sbin/ldconfig', '-r', self.top, '-X'] + (['-c', r.choice(['old', 'new', 'compat'])] if r.random() < 0.3 else []),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            if r.random() < 0.15:
                # Something went away since.
                cached = [d + '/' + n for d in self.dirs for n in self.names if os.path.isfile(self.top + d + '/' + n)]
                if cached:
                    os.unlink(self.top + r.choice(cached))
        with open(os.path.dirname(self.top) + '/facts.json', 'w', encoding='utf-8') as f:
            json.dump({'schema': 'cuvet.facts/1', 'env': self.env, 'cwd': '/', 'hwcaps': self.hwcaps}, f)

    def real(self):
        """(files in order, missing names, name at which it gives up or None)."""
        env = dict(self.env)
        env['LD_TRACE_LOADED_OBJECTS'] = '1'
        argv = [self.main] if self.started else [LOADER, self.main]

        def enter():
            os.chroot(self.top)
            os.chdir('/')
        # Without /proc the loader does not know $ORIGIN of what the kernel started.
        os.mkdir(self.top + '/proc')
        if self.started and LIBC.mount(b'/proc', (self.top + '/proc').encode(), None, MS_BIND, None):
            raise OSError(ctypes.get_errno(), 'mount')
        p = subprocess.run(argv, env=env, preexec_fn=enter, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if self.started:
            LIBC.umount2((self.top + '/proc').encode(), MNT_DETACH)
        os.rmdir(self.top + '/proc')
        out = p.stdout.decode() + p.stderr.decode()
        m = re.search(r'error while loading shared libraries: (.*?): ([^:\n]*)', out)
        if p.returncode:
            return None, None, m[1] if m else out
        files, missing = [], set()
        for line in p.stdout.decode().splitlines():
            m = re.match(r'\t(?:(.*) => )?(.*?)(?: \(0x[0-9a-f]+\))?$', line)
            if m[2] == 'not found':
                missing.add(m[1])
            elif not (m[2].endswith('ld-linux-x86-64.so.2') or m[2].startswith('linux-vdso')):
                files.append(os.path.join('/', m[2]))
        return files, missing, None

    def ours(self):
        p = subprocess.run([CUVET, 'inspect', '--root', self.top, '--json', self.main], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env={'PATH': '/usr/bin:/bin', 'LC_ALL': 'C', 'LD_BIND_NOW': ''}, check=False)
        if p.returncode:
            return None, None, 'exit %d: %s' % (p.returncode, p.stderr.decode())
        doc = json.loads(p.stdout)
        files, missing = [], set()
        for x in doc['files'][0]['resolved']:
            if x.get('why'):
                # What LD_PRELOAD and ld.so.preload name may fail, and the loader goes on.
                if x['asked_by'] is None:
                    continue
                return None, None, x['name'] + '\0' + x['path']
            if x['via'] in ('already loaded', 'loader'):
                continue
            if x['path'] is None:
                if x['asked_by'] is not None:
                    missing.add(x['name'])
            else:
                files.append(x['path'])
        return files, missing, None


def same(real, ours):
    if real[2] is not None or ours[2] is not None:
        return real[2] is not None and ours[2] is not None and (real[2] in ours[2].split('\0') or '/' + real[2] in ours[2].split('\0'))
    norm = [[p.replace('//', '/') for p in x[0]] for x in (real, ours)]
    return norm[0] == norm[1] and real[1] == ours[1]


def skip(why):
    print('1..0 # skip ' + why)
    sys.exit(0)


def main():
    global LOADER_COPY
    if os.geteuid() != 0:
        skip('needs root for chroot')
    if platform.machine() != 'x86_64' or not os.path.exists(LOADER) or not os.path.exists('/sbin/ldconfig'):
        skip('needs glibc on x86_64')
    help_text = subprocess.run([LOADER, '--help'], capture_output=True, text=True, check=False).stdout
    hwcaps = re.findall(r'^  (x86-64-v\d) \(supported', help_text, re.M)
    hwcaps += re.findall(r'^  (haswell|xeon_phi|avx512_1) \((?:AT_PLATFORM; )?supported, searched', help_text, re.M)
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b'none', b'/', None, MS_REC | MS_PRIVATE, None):
        skip('needs a mount namespace of its own')
    tmp = tempfile.mkdtemp()
    LOADER_COPY = tmp + '/ld.so'
    shutil.copy(os.path.realpath(LOADER), LOADER_COPY)
    os.chmod(LOADER_COPY, 0o755)
    bad, files, stops, missing = [], 0, 0, 0
    seen = {}
    try:
        for seed in range(SEED, SEED + LAYOUTS):
            top = '%s/%d/root' % (tmp, seed)
            os.makedirs(top)
            lay = Layout(seed, top, hwcaps)
            real, ours = lay.real(), lay.ours()
            if real[2] is not None:
                stops += 1
            else:
                files += len(real[0])
                missing += len(real[1])
            if not same(real, ours):
                bad.append((seed, lay.env, real, ours))
            if os.environ.get('CUVET_ORACLE_KEEP') != str(seed):
                shutil.rmtree('%s/%d' % (tmp, seed))
            else:
                print('# kept %s' % top)
    finally:
        if not os.environ.get('CUVET_ORACLE_KEEP'):
            shutil.rmtree(tmp)
    for seed, env, real, ours in bad[:12]:
        print('# seed %d %r\n#   ld.so %r\n#   cuvet %r' % (seed, env, real, ours))
    print('# %d layouts: %d files, %d not found, %d where the loader gives up' % (LAYOUTS, files, missing, stops))
    print('%sok 1 - E2 E10 E15 T1 T3 T4 what would be loaded is what ld.so loads (%d of %d differ)'
          % ('not ' if bad else '', len(bad), LAYOUTS))
    enough = files >= LAYOUTS and stops >= LAYOUTS // 100 and missing >= LAYOUTS // 20
    print('%sok 2 - the layouts hold enough of each kind' % ('' if enough else 'not '))
    print('1..2')
    return 1 if bad or not enough else 0


if __name__ == '__main__':
    sys.exit(main())
