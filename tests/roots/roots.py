#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds fake machine trees for `cuvet check --root DIR` from a short description. Python 3.8+, standard library alone.

    roots.py list  [--machines FILE]                 ids, kinds, expected answers
    roots.py build [--machines FILE] --out DIR [ID...]   writes DIR/ID/root/... and DIR/ID/facts.json (and DIR/ID/outside/)
    roots.py show  ID                                paths of one tree
    roots.py selftest                                writers against readelf and ldconfig where these exist

A tree is what a mounted disk, an unpacked image or a captured machine holds; facts.json beside root/ holds what no file of a
tree can say: uname, identity, environment, device nodes, answers of cuInit and NVML. Files under /dev are empty placeholders.
Libraries are small valid ELF64 shared objects (soname, needed, RPATH or RUNPATH, version needs, symbols, .nv_fatbin).
"""
import base64, glob, gzip, hashlib, json, lzma, os, re, sqlite3, struct, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EM = {'x86_64': 62, 'aarch64': 183}
TRIPLET = {'x86_64': 'x86_64-linux-gnu', 'aarch64': 'aarch64-linux-gnu'}


# ---------------------------------------------------------------- bytes with holes
class Blob:
    """File content as pieces at offsets: holes stay sparse on disk."""
    def __init__(self):
        self.parts, self.size = [], 0

    def put(self, data):
        if data:
            self.parts.append((self.size, bytes(data)))
        self.size += len(data)

    def hole(self, n):
        self.size += n

    def align(self, n):
        self.size += -self.size % n

    def bytes(self):
        b = bytearray(self.size)
        for o, d in self.parts:
            b[o:o + len(d)] = d
        return bytes(b)


# ---------------------------------------------------------------- fat binaries
def cubin(arch, abi):
    """The 64 bytes of an ELF header as ptxas writes them (EM_CUDA); enough to be recognised."""
    osabi, ver, flags = (0x41, 8, arch << 8 | 0x06000004) if abi == 8 else (0x33, 7, arch | arch << 16 | 0x0500)
    return b'\x7fELF' + bytes([2, 1, 1, osabi, ver]) + bytes(7) + struct.pack('<HHIQQQIHHHHHH', 2, 190, 1, 0, 0, 0, flags, 64, 56, 0, 64, 0, 0)


def zstd_raw(d):  # one frame, one raw block
    return b'\x28\xb5\x2f\xfd\x20' + bytes([len(d)]) + struct.pack('<I', len(d) << 3 | 1)[:3] + d if len(d) < 256 else \
        b'\x28\xb5\x2f\xfd\x60' + struct.pack('<H', len(d) - 256) + struct.pack('<I', len(d) << 3 | 1)[:3] + d


def lz4_raw(d):  # one sequence of literals
    n, o = len(d), b''
    if n < 15:
        return bytes([n << 4]) + d
    o, n = b'\xf0', n - 15
    while n >= 255:
        o, n = o + b'\xff', n - 255
    return o + bytes([n]) + d


def fat_entry(tgt, comp, abi, hole):
    m = re.match(r'(sm|compute|lto)_(\d+)([af]?)$', tgt)
    kind, arch, suf = {'compute': 1, 'sm': 2, 'lto': 8}[m[1]], int(m[2]), m[3]
    flags = 0x11 | {'': 0, 'a': 0x100000, 'f': 0x200000}[suf]
    body = cubin(arch, abi) if kind == 2 else ('.version %d.0\n.target sm_%d%s\n.address_size 64\n' % (9 if abi == 8 else 8, arch, suf)).encode() + b'\0'
    raw, csz = len(body), 0
    if comp == 'zstd':
        flags, body = flags | 0x8000, zstd_raw(body)
    elif comp == 'lz4':
        flags, body = flags | 0x2000, lz4_raw(body)
    if comp:
        csz = len(body)
    body += bytes(-len(body) % 8)
    opt, hs = 0, 64
    if kind == 1:
        opt, hs = 64, 80
    elif arch >= 100:
        opt, hs, flags = 64, 112, flags | 0x1000000
    minor, major = (8, 1) if kind == 2 and abi == 8 else (7, 1) if kind == 2 else (0, 9 if abi == 8 else 8)
    head = struct.pack('<HHIQIIHHIIIQQQ', kind, 0x101, hs, len(body) + hole, csz, opt, minor, major, arch, 0, 0, flags, 0, raw if csz else 0)
    if hs > 64:
        head += struct.pack('<II', 0x48, 0) + bytes(hs - 72)
    return head, body, hole


def fatbin(blob, groups, comp='zstd', abi=8, hole=0):
    """Appends fat binaries (one a group of targets); returns their offsets."""
    at = []
    for i, g in enumerate(groups):
        blob.align(8)
        at.append(blob.size)
        es = [fat_entry(t, comp if i else '', abi, (hole & ~7) if i else 0) for t in g]
        blob.put(struct.pack('<IHHQ', 0xBA55ED50, 1, 16, sum(len(h) + len(b) + n for h, b, n in es)))
        for h, b, n in es:
            blob.put(h + b)
            blob.hole(n)
    return at


# ---------------------------------------------------------------- ELF64
def sysv_hash(s):
    h = 0
    for c in s.encode():
        h = (h << 4) + c
        g = h & 0xF0000000
        h = (h ^ g >> 24) & ~g & 0xFFFFFFFF
    return h


SYM_OF = {'2.2.5': 'free', '2.14': 'memcpy', '2.17': 'clock_gettime', '2.18': '__cxa_thread_atexit_impl', '2.27': 'logf', '2.28': 'fcntl64',
          '2.29': 'exp', '2.32': '__libc_single_threaded', '2.33': 'stat', '2.34': 'pthread_create', '2.38': '__isoc23_strtol'}


def elf(soname=None, needed=(), rpath=None, runpath=None, glibc=None, arch='x86_64', verneed=None, verdef=None, defs=(), undefs=(),
        fat=None, note=None, text=(), exe=False, raw=None):
    """A minimal shared object (or, with exe, a position independent program). glibc '2.17' = highest version needed.
    fat = {"groups": [[targets]...], "comp": zstd|lz4|"", "abi": 8|7, "hole": bytes} or a list of targets."""
    base = '2.2.5' if arch == 'x86_64' else '2.17'
    vn = []  # (file, version)
    if glibc:
        vs = [base] + [glibc] * (glibc != base)
        vn += [('libc.so.6', 'GLIBC_' + v) for v in vs]
    for f, v in verneed or ():
        vn.append((f, v))
    needed = list(needed)
    for f, _ in vn:
        if f not in needed:
            needed.append(f)
    strs, pos = bytearray(b'\0'), {}

    def s(x):
        if x not in pos:
            pos[x] = len(strs)
            strs.extend(x.encode() + b'\0')
        return pos[x]
    files = []
    for f, _ in vn:
        if f not in files:
            files.append(f)
    vd = [soname or 'lib'] + list(verdef) if verdef else []
    idx = {v: i + 2 for i, v in enumerate(vd[1:])}
    vidx, n = {}, max(len(vd) + 1, 2)
    for fv in vn:
        vidx[fv], n = n, n + 1
    syms = []  # (name, shndx, version index, info, value)
    for f, v in vn:
        syms.append((SYM_OF.get(v[6:], 'sym_' + v.lower().replace('.', '_')) if v.startswith('GLIBC_') else 'sym_' + v.lower().replace('.', '_'),
                     0, vidx[(f, v)], 0x12))
    for u in undefs:
        syms.append((u, 0, 0, 0x12))
    for d in defs:
        nm, _, v = d.partition('@')
        syms.append((nm, 1, idx.get(v, 1), 0x12))
    for v in vd[1:]:
        syms.append((v, 0xFFF1, idx[v], 0x11))
    dynsym = bytes(24)
    for nm, sh, _, info in syms:
        dynsym += struct.pack('<IBBHQQ', s(nm), info, 0, sh, 0 if sh == 0 else 0x40 if sh == 1 else 0, 0)
    versym = struct.pack('<H', 0) + b''.join(struct.pack('<H', v) for _, _, v, _ in syms)
    nb = max(1, len(syms) // 2 | 1)
    buckets, chains = [0] * nb, [0] * (len(syms) + 1)
    for i, (nm, sh, _, _) in enumerate(syms, 1):
        h = sysv_hash(nm) % nb
        chains[i], buckets[h] = buckets[h], i
    hsh = struct.pack('<II', nb, len(syms) + 1) + struct.pack('<%dI' % nb, *buckets) + struct.pack('<%dI' % (len(syms) + 1), *chains)
    verd = b''
    for i, v in enumerate(vd):
        verd += struct.pack('<HHHHIII', 1, 1 if i == 0 else 0, i + 1, 1, sysv_hash(v), 20, 0 if i == len(vd) - 1 else 28) + struct.pack('<II', s(v), 0)
    vern = b''
    for i, f in enumerate(files):
        mine = [fv for fv in vn if fv[0] == f]
        vern += struct.pack('<HHIII', 1, len(mine), s(f), 16, 0 if i == len(files) - 1 else 16 + 16 * len(mine))
        for j, fv in enumerate(mine):
            vern += struct.pack('<IHHII', sysv_hash(fv[1]), 0, vidx[fv], s(fv[1]), 0 if j == len(mine) - 1 else 16)
    dyn = [(1, s(x)) for x in needed]
    if soname:
        dyn.append((14, s(soname)))
    if rpath:
        dyn.append((15, s(rpath)))
    if runpath:
        dyn.append((29, s(runpath)))
    interp = (b'/lib64/ld-linux-x86-64.so.2\0' if arch == 'x86_64' else b'/lib/ld-linux-aarch64.so.1\0') if exe else b''
    b, secs = Blob(), []  # secs: name, type, flags, offset, addr, size, link name, info, align, entsize
    nph = 7 if exe else 5
    b.put(bytes(64 + 56 * nph))

    def sec(name, typ, flags, data, align=8, link=None, info=0, ent=0, delta=0):
        b.align(align)
        secs.append([name, typ, flags, b.size, b.size + delta, len(data), link, info, align, ent])
        b.put(data)
        return secs[-1]
    if interp:
        si = sec('.interp', 1, 2, interp, 1)
    bid = hashlib.sha1(repr((soname, needed, rpath, runpath, glibc, fat, text, defs, undefs)).encode()).digest()
    sn = sec('.note.gnu.build-id', 7, 2, struct.pack('<III', 4, 20, 3) + b'GNU\0' + bid, 4)
    if note is not None:
        nm, ds = b'NVIDIA Corporation\0', note.encode()
        sec('.note.cuda.fwd_compatibility', 7, 2, struct.pack('<III', len(nm), len(ds), 0) + nm + bytes(-len(nm) % 4) + ds + bytes(-len(ds) % 4), 4)
    note_end = b.size
    sh = sec('.hash', 5, 2, hsh, 8, '.dynsym', 0, 4)
    sd = sec('.dynsym', 11, 2, dynsym, 8, '.dynstr', 1, 24)
    st = sec('.dynstr', 3, 2, bytes(strs), 1)
    dyn += [(4, sh[4]), (5, st[4]), (6, sd[4]), (10, len(strs)), (11, 24)]
    if vn or vd:
        x = sec('.gnu.version', 0x6FFFFFFF, 2, versym, 2, '.dynsym', 0, 2)
        dyn.append((0x6FFFFFF0, x[4]))
    if vd:
        x = sec('.gnu.version_d', 0x6FFFFFFD, 2, verd, 8, '.dynstr', len(vd))
        dyn += [(0x6FFFFFFC, x[4]), (0x6FFFFFFD, len(vd))]
    if vn:
        x = sec('.gnu.version_r', 0x6FFFFFFE, 2, vern, 8, '.dynstr', len(files))
        dyn += [(0x6FFFFFFE, x[4]), (0x6FFFFFFF, len(files))]
    sec('.rodata', 1, 2, b'\0'.join(t.encode('latin1') for t in text) + b'\0', 16)
    seg = b''
    if fat or raw is not None:
        if isinstance(fat, list):
            fat = {'groups': [[t for t in fat if t.startswith('sm_')], fat]}
        b.align(8)
        start = b.size
        if raw is not None:
            b.put(raw)
            at = [start]
        else:
            at = fatbin(b, [g for g in fat['groups'] if g], fat.get('comp', 'zstd'), fat.get('abi', 8), fat.get('hole', 0))
        secs.append(['.nv_fatbin', 1, 2, start, start, b.size - start, None, 0, 8, 0])
        for i, o in enumerate(at):
            seg += struct.pack('<IIQQ', 0x466243B1, 2 if i == 0 and len(at) > 1 else 1, o, 0)
    ro_end = b.size
    b.align(16)
    rw, delta = b.size, 0x1000
    if seg:
        sec('.nvFatBinSegment', 1, 3, seg, 8, delta=delta)
    b.align(16)
    dyn.append((0, 0))
    dd = b''.join(struct.pack('<QQ', *d) for d in dyn)
    sdy = sec('.dynamic', 6, 3, dd, 8, '.dynstr', 0, 16, delta)
    rw_end = b.size
    sec('.comment', 1, 0x30, b'GCC: (GNU) 11.2.1 20220127\0', 1)
    names = bytearray(b'\0')
    offs = {}
    for x in secs + [['.shstrtab']]:
        offs[x[0]] = len(names)
        names += x[0].encode() + b'\0'
    secs.append(['.shstrtab', 3, 0, b.size, 0, len(names), None, 0, 1, 0])
    b.put(names)
    b.align(8)
    shoff, order = b.size, {x[0]: i + 1 for i, x in enumerate(secs)}
    tab = bytes(64)
    for nm, typ, fl, off, addr, size, link, info, al, ent in secs:
        tab += struct.pack('<IIQQQQIIQQ', offs[nm], typ, fl, addr if fl & 2 else 0, off, size, order.get(link, 0), info, al, ent)
    b.put(tab)
    ph = []
    if exe:
        ph.append((6, 4, 64, 64, 56 * nph, 8))
        ph.append((3, 4, si[3], si[3], si[5], 1))
    ph += [(1, 5, 0, 0, ro_end, 0x1000), (1, 6, rw, rw + delta, rw_end - rw, 0x1000), (2, 6, sdy[3], sdy[4], len(dd), 8),
           (4, 4, sn[3], sn[3], note_end - sn[3], 4), (0x6474E551, 6, 0, 0, 0, 16)]
    while len(ph) < nph:
        ph.append((0, 0, 0, 0, 0, 0))
    head = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, EM[arch], 1, 0, 64, shoff, 0, 64, 56, nph, 64, len(secs) + 1, len(secs))
    head += b''.join(struct.pack('<IIQQQQQQ', t, f, o, v, v, z, z, al) for t, f, o, v, z, al in ph)
    b.parts = [(0, head)] + [p for p in b.parts if p[0] != 0]
    return b


def kmod(name, version, release, license_='NVIDIA', arch='x86_64', signer=None):
    """A relocatable object with .modinfo, as modinfo reads it; a signature trailer when signed."""
    info = ['version=' + version, 'license=' + license_, 'supported=external', 'name=' + name, 'vermagic=%s SMP preempt mod_unload modversions ' % release]
    if name == 'nvidia':
        info[2:2] = ['alias=pci:v000010DEd*sv*sd*bc06sc80i00*', 'alias=pci:v000010DEd*sv*sd*bc03sc02i00*', 'alias=pci:v000010DEd*sv*sd*bc03sc00i00*',
                     'firmware=nvidia/%s/gsp_ga10x.bin' % version]
    data = [('.modinfo', '\0'.join(info).encode() + b'\0'), ('.text', b'\xc3' * 16)]
    names, offs = bytearray(b'\0'), {}
    for n in [d[0] for d in data] + ['.shstrtab']:
        offs[n] = len(names)
        names += n.encode() + b'\0'
    body, tab = bytearray(64), bytes(64)
    for n, d in data + [('.shstrtab', bytes(names))]:
        body += bytes(-len(body) % 8)
        tab += struct.pack('<IIQQQQIIQQ', offs[n], 3 if n == '.shstrtab' else 1, 2 if n != '.shstrtab' else 0, 0, len(body), len(d), 0, 0, 1, 0)
        body += d
    body += bytes(-len(body) % 8)
    body[0:64] = b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 1, EM[arch], 1, 0, 0, len(body), 0, 64, 0, 0, 64, 4, 3)
    body += tab
    if signer:  # PKCS#7 placeholder, struct module_signature, magic
        sig = b'\x30\x82' + signer.encode().ljust(64, b'\0')
        body += sig + struct.pack('>BBBBBxxxI', 0, 0, 2, 0, 0, len(sig)) + b'~Module signature appended~\n'
    return bytes(body)


# ---------------------------------------------------------------- ld.so.cache
def cache_cmp_sorted(entries):
    import functools

    def libcmp(p1, p2):
        i = j = 0
        while i < len(p1):
            if p1[i].isdigit():
                if j < len(p2) and p2[j].isdigit():
                    a = re.match(r'\d+', p1[i:])[0]
                    b = re.match(r'\d+', p2[j:])[0]
                    if int(a) != int(b):
                        return int(a) - int(b)
                    i, j = i + len(a), j + len(b)
                else:
                    return 1
            elif j < len(p2) and p2[j].isdigit():
                return -1
            elif j >= len(p2):
                return ord(p1[i])
            elif p1[i] != p2[j]:
                return ord(p1[i]) - ord(p2[j])
            else:
                i, j = i + 1, j + 1
        return -ord(p2[j]) if j < len(p2) else 0
    return sorted(entries, key=functools.cmp_to_key(lambda a, b: -libcmp(a[0], b[0])))


def ld_cache(entries, arch='x86_64', compat=False):
    """entries: (soname, path) in search order. glibc < 2.32 wrote the old header in front (compat)."""
    flag = {'x86_64': 0x303, 'aarch64': 0xA03}[arch]
    es = cache_cmp_sorted(entries)
    strings, pos = bytearray(), {}

    def s(x):
        if x not in pos:
            pos[x] = len(strings)
            strings.extend(x.encode() + b'\0')
        return pos[x]
    offs = [(s(a), s(b)) for a, b in es]
    head = 48 + 24 * len(es)
    ext_off = 0
    body = b''.join(struct.pack('<iIIIQ', flag, head + a, head + b, 0, 0) for a, b in offs) + bytes(strings)
    tail = b''
    if not compat:
        pad = -(48 + len(body)) % 4
        ext_off = 48 + len(body) + pad
        gen = b'ldconfig (GNU libc) stable release version 2.36'
        tail = bytes(pad) + struct.pack('<IIIIII', 0xEAA42174, 1, 0, 0, ext_off + 24, len(gen)) + gen
    new = b'glibc-ld.so.cache1.1' + struct.pack('<IIBBBBIIII', len(es), len(strings), 2 if not compat else 0, 0, 0, 0, ext_off, 0, 0, 0) + body + tail
    if not compat:
        return new
    old = b'ld.so-1.7.0\0' + struct.pack('<I', len(es))
    base = 16 + 12 * len(es)
    pad = -base % 8
    # old entries count from the end of the old table, padding and new table included
    sh = pad + head
    old += b''.join(struct.pack('<iII', flag, sh + a, sh + b) for a, b in offs)
    return old + bytes(pad) + new


# ---------------------------------------------------------------- a tree in memory
class Tree:
    def __init__(self, arch='x86_64'):
        self.arch, self.n = arch, {}  # path -> ('d',) | ('f', bytes|Blob, mode) | ('l', target) | ('p',) fifo | ('s',) socket | ('z', size, head) sparse | ('deep', n, name)

    def canon(self, path, last=False):
        """Resolve directory links of the tree (and the last component with last=True); None on a loop or a way out."""
        parts, out, hops = [p for p in path.split('/') if p not in ('', '.')], [], 0
        while parts:
            p = parts.pop(0)
            if p == '..':
                out and out.pop()
                continue
            cur = '/' + '/'.join(out + [p])
            e = self.n.get(cur)
            if e and e[0] == 'l' and (parts or last):
                hops += 1
                if hops > 40:
                    return None
                t = [x for x in e[1].split('/') if x not in ('', '.')]
                if e[1].startswith('/'):
                    out = []
                parts = t + parts
                continue
            out.append(p)
        return '/' + '/'.join(out)

    def put(self, path, e):
        d, _, b = path.rstrip('/').rpartition('/')
        d = self.canon(d or '/', True)
        if d is None:
            raise ValueError('loop in ' + path)
        p = (d.rstrip('/') + '/' + b)
        q = ''
        for c in d.split('/')[1:]:
            if c:
                q += '/' + c
                self.n.setdefault(q, ('d',))
        self.n[p] = e
        return p

    def f(self, path, data='', mode=0o644):
        return self.put(path, ('f', data.encode('utf-8', 'surrogateescape') if isinstance(data, str) else data, mode))

    def x(self, path, data='#!/bin/sh\nexit 1\n'):
        return self.f(path, data, 0o755)

    def l(self, path, target):
        return self.put(path, ('l', target))

    def d(self, path):
        c = self.canon(path)
        if c != '/' and c not in self.n:
            self.put(path, ('d',))

    def get(self, path):
        c = self.canon(path, True)
        e = self.n.get(c) if c else None
        return e[1] if e and e[0] == 'f' else None

    def has(self, path):
        c = self.canon(path, True)
        return c is not None and c in self.n

    def rm(self, path):
        c = self.canon(path)
        for k in [k for k in self.n if k == c or k.startswith(c + '/')]:
            del self.n[k]

    def ls(self, path):
        c = self.canon(path, True)
        c = (c or '?').rstrip('/') + '/'
        return sorted(k[len(c):] for k in self.n if k.startswith(c) and '/' not in k[len(c):] and len(k) > len(c))

    def so(self, path, **kw):
        """A library under its real name with the usual links: so('/x/libfoo.so.1.2.3', soname='libfoo.so.1')."""
        kw.setdefault('arch', self.arch)
        dev = kw.pop('dev', True)
        self.f(path, make_elf(kw), 0o755)
        d, _, b = path.rpartition('/')
        sn = kw.get('soname')
        if sn and sn != b:
            self.l(d + '/' + sn, b)
            un = sn.split('.so')[0] + '.so'
            if dev and un != sn:
                self.l(d + '/' + un, sn)

    def write(self, root):
        os.makedirs(root, exist_ok=True)
        for p in sorted(self.n):
            e, q = self.n[p], root + p
            if e[0] == 'd':
                os.makedirs(q, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(q), exist_ok=True)
            if e[0] == 'l':
                os.symlink(e[1], q)
            elif e[0] == 'p':
                os.mkfifo(q)
            elif e[0] == 's':
                mksock(q)
            elif e[0] == 'deep':  # a chain of directories longer than any path
                os.mkdir(q)
                fd = os.open(q, os.O_RDONLY)
                for _ in range(e[1]):
                    os.mkdir(e[2], dir_fd=fd)
                    nx = os.open(e[2], os.O_RDONLY, dir_fd=fd)
                    os.close(fd)
                    fd = nx
                os.close(os.open('pyvenv.cfg', os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=fd))
                os.close(fd)
            elif e[0] == 'z':
                with open(q, 'wb') as fh:
                    fh.write(e[2] if len(e) > 2 else b'')
                    fh.truncate(e[1])
            else:
                fd = os.open(q, os.O_WRONLY | os.O_CREAT | os.O_EXCL, e[2])
                with open(fd, 'wb') as fh:
                    if isinstance(e[1], Blob):
                        for o, d in e[1].parts:
                            fh.seek(o)
                            fh.write(d)
                        fh.truncate(e[1].size)
                    else:
                        fh.write(e[1])


def mksock(q):
    import socket
    s = socket.socket(socket.AF_UNIX)
    cwd = os.open('.', os.O_RDONLY)
    try:
        os.chdir(os.path.dirname(q))
        s.bind(os.path.basename(q))
    except OSError:
        pass
    finally:
        os.fchdir(cwd)
        os.close(cwd)
        s.close()


_elf_cache = {}


def make_elf(kw):
    k = json.dumps(kw, sort_keys=True, default=repr)
    if k not in _elf_cache:
        _elf_cache[k] = elf(**kw)
    return _elf_cache[k]


def read_dyn(b):
    """soname of a Blob or bytes that this module wrote."""
    b = _sparse(b) if isinstance(b, Blob) else b
    if len(b) < 64 or b[0:4] != b'\x7fELF':
        return None
    shoff, = struct.unpack('<Q', b[40:48])
    n, = struct.unpack('<H', b[60:62])
    S = [struct.unpack('<IIQQQQIIQQ', b[shoff + 64 * i:shoff + 64 * i + 64]) for i in range(n)]
    for s in S:
        if s[1] == 6:
            for i in range(s[5] // 16):
                t, v = struct.unpack('<QQ', b[s[4] + 16 * i:s[4] + 16 * i + 16])
                if t == 14:
                    o = S[s[6]][4] + v
                    return b[o:o + 256].split(b'\0')[0].decode()
    return None


class _sparse:
    """Slice access to a Blob with holes."""
    def __init__(self, blob):
        self.b = blob

    def __len__(self):
        return self.b.size

    def __getitem__(self, s):
        a, z = s.start or 0, min(self.b.size if s.stop is None else s.stop, self.b.size)
        out = bytearray(z - a)
        for o, d in self.b.parts:
            lo, hi = max(o, a), min(o + len(d), z)
            if lo < hi:
                out[lo - a:hi - a] = d[lo - o:hi - o]
        return bytes(out)


# ---------------------------------------------------------------- operating systems
OS = {  # id: (PRETTY_NAME, VERSION_ID, ID, glibc, libc package version, kernel, gcc of the kernel)
    'ubuntu18.04': ('Ubuntu 18.04.6 LTS', '18.04', 'ubuntu', '2.27', '2.27-3ubuntu1.6', '5.4.0-150-generic', '7.5.0'),
    'ubuntu20.04': ('Ubuntu 20.04.6 LTS', '20.04', 'ubuntu', '2.31', '2.31-0ubuntu9.16', '5.15.0-117-generic', '9.4.0'),
    'ubuntu22.04': ('Ubuntu 22.04.5 LTS', '22.04', 'ubuntu', '2.35', '2.35-0ubuntu3.8', '6.8.0-45-generic', '12.3.0'),
    'ubuntu24.04': ('Ubuntu 24.04.3 LTS', '24.04', 'ubuntu', '2.39', '2.39-0ubuntu8.6', '6.14.0-33-generic', '13.3.0'),
    'debian11': ('Debian GNU/Linux 11 (bullseye)', '11', 'debian', '2.31', '2.31-13+deb11u11', '5.10.0-33-amd64', '10.2.1'),
    'debian12': ('Debian GNU/Linux 12 (bookworm)', '12', 'debian', '2.36', '2.36-9+deb12u8', '6.1.0-26-amd64', '12.2.0'),
    'fedora41': ('Fedora Linux 41 (Workstation Edition)', '41', 'fedora', '2.40', '2.40-17.fc41', '6.11.10-300.fc41.x86_64', '14.2.1'),
    'rocky8': ('Rocky Linux 8.10 (Green Obsidian)', '8.10', 'rocky', '2.28', '2.28-251.el8_10.5', '4.18.0-553.22.1.el8_10.x86_64', '8.5.0'),
    'rocky9': ('Rocky Linux 9.6 (Blue Onyx)', '9.6', 'rocky', '2.34', '2.34-168.el9_6.20', '5.14.0-570.23.1.el9_6.x86_64', '11.5.0'),
    'centos7': ('CentOS Linux 7 (Core)', '7', 'centos', '2.17', '2.17-326.el7_9', '3.10.0-1160.119.1.el7.x86_64', '4.8.5'),
    'opensuse15': ('openSUSE Leap 15.6', '15.6', 'opensuse-leap', '2.38', '2.38-150600.14.5', '6.4.0-150600.23.25-default', '7.5.0'),
    'nixos24.05': ('NixOS 24.05 (Uakari)', '24.05', 'nixos', '2.39', '2.39-52', '6.6.36', '13.2.0'),
    'arch': ('Arch Linux', '', 'arch', '2.40', '2.40+r16', '6.11.5-arch1-1', '14.2.1'),
}
GLIBC_ALL = ['2.2.5', '2.3', '2.4', '2.6', '2.7', '2.9', '2.10', '2.11', '2.14', '2.15', '2.16', '2.17', '2.18', '2.22', '2.23', '2.24', '2.25', '2.26', '2.27',
             '2.28', '2.29', '2.30', '2.31', '2.32', '2.33', '2.34', '2.35', '2.36', '2.37', '2.38', '2.39', '2.40']
CXX_ALL = ['3.4', '3.4.9', '3.4.11', '3.4.15', '3.4.18', '3.4.19', '3.4.20', '3.4.21', '3.4.22', '3.4.24', '3.4.25', '3.4.26', '3.4.28', '3.4.29', '3.4.30', '3.4.32', '3.4.33']


def vkey(v):
    return [int(x) for x in re.findall(r'\d+', v)]


def deb(m):
    return OS[m['os']][2] in ('ubuntu', 'debian')


def libdir(m):
    if deb(m):
        return '/usr/lib/' + TRIPLET[m.get('arch', 'x86_64')]
    return {'arch': '/usr/lib', 'nixos': '/run/current-system/sw/lib'}.get(OS[m['os']][2], '/usr/lib64')


def base_os(t, m):
    pretty, ver, oid, glibc, pkg, _, _ = OS[m['os']]
    for d in ('bin', 'sbin', 'lib') + (() if oid == 'nixos' else ('lib64',)):
        t.d('/usr/' + d)
        t.l('/' + d, 'usr/' + d)
    for d in ('/etc', '/home', '/opt', '/root', '/tmp', '/usr/local/bin', '/usr/local/lib', '/var/lib', '/var/log', '/proc', '/sys', '/dev', '/run', '/mnt'):
        t.d(d)
    t.f('/usr/lib/os-release', 'NAME="%s"\nVERSION_ID="%s"\nVERSION="%s"\nID=%s\n%sPRETTY_NAME="%s"\n' % (
        pretty.split(' ')[0], ver, pretty.split(' ', 1)[-1], oid, {'ubuntu': 'ID_LIKE=debian\n', 'opensuse-leap': 'ID_LIKE="suse opensuse"\n', 'rocky': 'ID_LIKE="rhel centos fedora"\n'}.get(oid, ''), pretty))
    t.l('/etc/os-release', '../usr/lib/os-release')
    t.f('/etc/hostname', 'box\n')
    t.f('/etc/passwd', 'root:x:0:0:root:/root:/bin/bash\nana:x:1000:1000:Ana:/home/ana:/bin/bash\n')
    t.f('/etc/group', 'root:x:0:\nvideo:x:44:\nrender:x:109:\nana:x:1000:\n')
    if oid == 'nixos':
        return
    L, base = libdir(m), '2.2.5' if t.arch == 'x86_64' else '2.17'
    vs = [v for v in GLIBC_ALL if vkey(base) <= vkey(v) <= vkey(glibc)]
    ld = ('/lib64/ld-linux-x86-64.so.2', 'ld-linux-x86-64.so.2') if t.arch == 'x86_64' else ('/lib/ld-linux-aarch64.so.1', 'ld-linux-aarch64.so.1')
    vendor = {'ubuntu': 'Ubuntu', 'debian': 'Debian'}.get(oid, 'GNU')
    t.f(L + '/libc.so.6', make_elf(dict(soname='libc.so.6', arch=t.arch, verdef=['GLIBC_' + v for v in vs], defs=[SYM_OF.get(v, 'f_' + v.replace('.', '_')) + '@GLIBC_' + v for v in vs],
        needed=[ld[1]], text=['GNU C Library (%s GLIBC %s) stable release version %s.' % (vendor, pkg, glibc)])), 0o755)
    t.f((L + '/' + ld[1]) if deb(m) else ld[0], make_elf(dict(soname=ld[1], arch=t.arch, verdef=['GLIBC_' + base])), 0o755)
    if deb(m):
        t.l(ld[0], L + '/' + ld[1])
    for n, so in (('libm.so.6', ''), ('libdl.so.2', ''), ('libpthread.so.0', ''), ('librt.so.1', ''), ('libutil.so.1', ''), ('libresolv.so.2', '')):
        t.f(L + '/' + n, make_elf(dict(soname=n, arch=t.arch, needed=['libc.so.6'], verdef=['GLIBC_' + v for v in vs])), 0o755)
    gx = max((v for v in CXX_ALL if vkey(v) <= vkey({'2.17': '3.4.19', '2.27': '3.4.25', '2.28': '3.4.25', '2.31': '3.4.28', '2.34': '3.4.29', '2.35': '3.4.30',
              '2.36': '3.4.30', '2.38': '3.4.33', '2.39': '3.4.33', '2.40': '3.4.33'}[glibc])), key=vkey)
    t.so(L + '/libstdc++.so.6.0.' + str(vkey(gx)[-1]), soname='libstdc++.so.6', dev=False, glibc=base, verdef=['GLIBCXX_' + v for v in CXX_ALL if vkey(v) <= vkey(gx)] + ['CXXABI_1.3', 'CXXABI_1.3.11'])
    t.f(L + '/libgcc_s.so.1', make_elf(dict(soname='libgcc_s.so.1', arch=t.arch, glibc=base, verdef=['GCC_3.0'])), 0o755)
    t.so(L + '/libz.so.1.2.13', soname='libz.so.1', dev=False, glibc=base)
    t.so(L + '/libgomp.so.1.0.0', soname='libgomp.so.1', dev=False, glibc=base)
    if deb(m):
        t.f('/etc/ld.so.conf', 'include /etc/ld.so.conf.d/*.conf\n\n')
        t.f('/etc/ld.so.conf.d/libc.conf', '# libc default configuration\n/usr/local/lib\n')
        t.f('/etc/ld.so.conf.d/%s.conf' % TRIPLET[t.arch], '# Multiarch support\n/usr/local/lib/%s\n/lib/%s\n/usr/lib/%s\n' % ((TRIPLET[t.arch],) * 3))
        t.f('/etc/debian_version', ver + '\n')
    else:
        t.f('/etc/ld.so.conf', 'include ld.so.conf.d/*.conf\n')


def conf_dirs(t):
    """Directories in ldconfig's order."""
    out, seen = [], set()

    def one(path, depth=0):
        txt = t.get(path)
        if txt is None or depth > 8:
            return
        for line in txt.decode('latin1').splitlines():
            line = line.split('#')[0].strip()
            if line.startswith('include'):
                pat = line[7:].strip()
                pat = pat if pat.startswith('/') else '/etc/' + pat
                d, g = pat.rsplit('/', 1)
                rx = re.compile(re.escape(g).replace(r'\*', '.*') + '$')
                for n in t.ls(d):
                    if rx.match(n):
                        one(d + '/' + n, depth + 1)
            elif line:
                c = t.canon(line, True)
                if c not in seen:
                    seen.add(c)
                    out.append(line)
    one('/etc/ld.so.conf')
    for d in ('/lib', '/lib64', '/usr/lib', '/usr/lib64'):
        c = t.canon(d, True)
        if c not in seen:
            seen.add(c)
            out.append(d)
    return out


def ldcache(t, m):
    es, seen = [], set()
    for d in conf_dirs(t):
        for n in t.ls(d):
            if not re.match(r'(lib.*\.so(\..*)?|ld-.*\.so.*)$', n):
                continue
            c = t.canon(d + '/' + n, True)
            e = t.n.get(c) if c else None
            if not e or e[0] != 'f':
                continue
            sn = read_dyn(e[1])
            link = t.n.get(t.canon(d + '/' + n), ('',))[0] == 'l'
            if sn is None or (not link and n != sn and t.has(d + '/' + sn)):
                continue
            name = n if link else sn
            if not link and n != sn:
                t.l(d + '/' + sn, n)
            if (name, d) not in seen and not (name.startswith('ld-') and any(x[0] == name for x in es)):
                seen.add((name, d))
                es.append((name, d + '/' + (n if link else sn)))
    t.f('/etc/ld.so.cache', ld_cache(es, t.arch, vkey(OS[m['os']][3]) < [2, 32]))
    return es


# ---------------------------------------------------------------- PCI, kernel, driver
GPU = {  # id: name, class
    '2684': ('NVIDIA GeForce RTX 4090', 0x030000), '2786': ('NVIDIA GeForce RTX 4070', 0x030000), '2882': ('NVIDIA GeForce RTX 4060', 0x030000),
    '2204': ('NVIDIA GeForce RTX 3090', 0x030000), '2206': ('NVIDIA GeForce RTX 3080', 0x030000), '2503': ('NVIDIA GeForce RTX 3060', 0x030000),
    '2b85': ('NVIDIA GeForce RTX 5090', 0x030000), '2c58': ('NVIDIA GeForce RTX 5090 Laptop GPU', 0x030000), '2c05': ('NVIDIA GeForce RTX 5070 Ti', 0x030000),
    '2f04': ('NVIDIA GeForce RTX 5070', 0x030000), '1b06': ('NVIDIA GeForce GTX 1080 Ti', 0x030000), '1b80': ('NVIDIA GeForce GTX 1080', 0x030000),
    '1c81': ('NVIDIA GeForce GTX 1050', 0x030000), '1d01': ('NVIDIA GeForce GT 1030', 0x030000), '13c2': ('NVIDIA GeForce GTX 970', 0x030000),
    '1180': ('GeForce GTX 680', 0x030000), '128b': ('GeForce GT 710', 0x030000), '102d': ('Tesla K80', 0x030200), '1db4': ('Tesla V100-PCIE-16GB', 0x030200),
    '1eb8': ('Tesla T4', 0x030200), '20b0': ('NVIDIA A100-SXM4-40GB', 0x030200), '20b5': ('NVIDIA A100 80GB PCIe', 0x030200), '2235': ('NVIDIA A40', 0x030200),
    '2230': ('NVIDIA RTX A6000', 0x030000), '26b9': ('NVIDIA L40S', 0x030200), '27b8': ('NVIDIA L4', 0x030200), '2330': ('NVIDIA H100 80GB HBM3', 0x030200),
    '2331': ('NVIDIA H100 PCIe', 0x030200), '2335': ('NVIDIA H200', 0x030200), '2342': ('NVIDIA GH200 120GB', 0x030200), '2901': ('NVIDIA B200', 0x030200),
    '2e12': ('NVIDIA GB10', 0x030000), '1f08': ('NVIDIA GeForce RTX 2060', 0x030000), '15f8': ('Tesla P100-PCIE-16GB', 0x030200), '2520': ('NVIDIA GeForce RTX 3060 Laptop GPU', 0x030000),
}


MIG_CAPABLE = ('20b0', '20b5', '2330', '2331', '2335', '2342', '2901')


def gpu_list(m):
    out = []
    for i, g in enumerate(m.get('gpus', [])):
        g = dict(pci=g) if isinstance(g, str) else dict(g)
        g.setdefault('at', '0000:%02x:00.0' % (1 + i))
        g.setdefault('drv', 'nvidia' if m.get('driver') and m['driver'].get('kmod') else None)
        g['name'], g['cls'] = GPU[g['pci']]
        g['uuid'] = 'GPU-' + re.sub(r'(.{8})(.{4})(.{4})(.{4})(.{12}).*', r'\1-\2-\3-\4-\5', hashlib.sha256((m['id'] + g['at']).encode()).hexdigest())
        out.append(g)
    return out


def pci_dev(t, bdf, vendor, device, cls, drv, sub=('0x10de', '0x0000'), bridge='0000:00:01.0', resource=None, **kw):
    root = 'pci%s:%s' % tuple(bdf.split(':')[:2]) if bdf.split(':')[1] == '00' else 'pci0000:00'
    p = '/sys/devices/' + (root + '/' + bdf if bdf.startswith('0000:00:') else 'pci0000:00/%s/%s' % (bridge, bdf))
    v, d = int(vendor, 16), int(device, 16)
    cfg = bytearray(256)
    struct.pack_into('<HHHHBBBB', cfg, 0, v, d, 0x0007, 0x0010, 0xA1, cls & 255, cls >> 8 & 255, cls >> 16)
    struct.pack_into('<HH', cfg, 0x2C, int(sub[0], 16), int(sub[1], 16))
    if kw.get('offbus'):
        cfg = b'\xff' * 64
    res = resource or ('0x00000000f6000000 0x00000000f6ffffff 0x0000000000040200\n0x000000e000000000 0x000000efffffffff 0x000000000014220c\n'
                       '0x0000000000000000 0x0000000000000000 0x0000000000000000\n0x000000f000000000 0x000000f001ffffff 0x000000000014220c\n')
    rows = res.count('\n')
    res += '0x0000000000000000 0x0000000000000000 0x0000000000000000\n' * (13 - rows)
    for n, x in (('vendor', '0x%04x' % v), ('device', '0x%04x' % d), ('class', '0x%06x' % cls), ('subsystem_vendor', sub[0]), ('subsystem_device', sub[1]),
                 ('revision', '0xff' if kw.get('offbus') else '0xa1'), ('resource', res.rstrip('\n')), ('power_state', kw.get('power_state', 'D0')), ('enable', '1' if drv else '0'),
                 ('irq', '41'), ('driver_override', kw.get('override', '(null)')), ('numa_node', '0'), ('current_link_speed', '16.0 GT/s PCIe'), ('current_link_width', '16'),
                 ('max_link_speed', '16.0 GT/s PCIe'), ('max_link_width', '16'), ('d3cold_allowed', '1'), ('boot_vga', '1'),
                 ('power/control', kw.get('control', 'on')), ('power/runtime_status', kw.get('runtime', 'active')),
                 ('modalias', 'pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X' % (v, d, int(sub[0], 16), int(sub[1], 16), cls >> 16, cls >> 8 & 255, cls & 255)),
                 ('uevent', '%sPCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%s:%s\nPCI_SLOT_NAME=%s' % ('DRIVER=%s\n' % drv if drv else '', cls, v, d, sub[0][2:].upper(), sub[1][2:].upper(), bdf))):
        if cls >> 16 == 3 or n in ('vendor', 'device', 'class', 'subsystem_vendor', 'subsystem_device', 'resource', 'driver_override', 'power/runtime_status', 'modalias'):
            t.f(p + '/' + n, x + '\n')
    t.f(p + '/config', bytes(cfg))
    t.l('/sys/bus/pci/devices/' + bdf, '../../../' + p[5:])
    if drv:
        up = '../' * (p.count('/') - 1)
        t.l(p + '/driver', up + 'bus/pci/drivers/' + drv)
        t.l('/sys/bus/pci/drivers/%s/%s' % (drv, bdf), '../../../../' + p[5:])
        t.d('/sys/module/' + drv.replace('-', '_'))
        t.l('/sys/bus/pci/drivers/%s/module' % drv, '../../../../module/' + drv.replace('-', '_'))
    return p


DATES = 'Fri May 31 09:35:42 UTC 2024'
PARAMS = """ResmanDebugLevel: 4294967295
RmLogonRC: 1
ModifyDeviceFiles: 1
DeviceFileUID: 0
DeviceFileGID: %(DeviceFileGID)s
DeviceFileMode: %(DeviceFileMode)s
InitializeSystemMemoryAllocations: 1
UsePageAttributeTable: 4294967295
EnableMSI: 1
EnablePCIeGen3: 0
MemoryPoolSize: 0
PreserveVideoMemoryAllocations: %(PreserveVideoMemoryAllocations)s
DynamicPowerManagement: 3
EnableGpuFirmware: 18
OpenRmEnableUnsupportedGpus: %(OpenRmEnableUnsupportedGpus)s
RegistryDwords: ""
RmMsg: ""
GpuBlacklist: ""
TemporaryFilePath: ""
ExcludedGpus: ""
"""


def kernel(t, m):
    """/proc, /sys and /lib/modules of the running kernel."""
    kind, drv = m['kind'], m.get('driver') or {}
    rel = m.get('kernel') or OS[m['os']][5]
    gcc = OS[m['os']][6]
    if kind == 'wsl2':
        pv = 'Linux version %s (root@439a258ad544) (gcc (GCC) 11.2.0, GNU ld (GNU Binutils) 2.37) #1 SMP Fri Mar 29 23:14:13 UTC 2024' % rel
    elif kind == 'wsl1':
        pv = 'Linux version %s (Microsoft@Microsoft.com) (gcc version 5.4.0 (GCC) ) #1237-Microsoft Sat Sep 11 14:32:00 PST 2021' % rel
    else:
        pv = 'Linux version %s (build@host) (gcc version %s) #1 SMP PREEMPT_DYNAMIC Thu Aug 29 12:02:18 UTC 2024' % (rel, gcc)
    t.f('/proc/version', pv + '\n')
    t.f('/proc/sys/kernel/osrelease', rel + '\n')
    t.f('/proc/cmdline', m.get('cmdline', 'BOOT_IMAGE=/boot/vmlinuz-%s root=UUID=7d0c ro quiet splash' % rel) + '\n')
    t.f('/proc/meminfo', 'MemTotal:       65786912 kB\nMemFree:        41203344 kB\nMemAvailable:   58011200 kB\nSwapTotal:       2097148 kB\n')
    t.f('/proc/cpuinfo', 'processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: 13th Gen Intel(R) Core(TM) i7-13700K\nflags\t\t: fpu vme de pse tsc msr avx avx2%s\n\n'
        % (' hypervisor' if kind in ('wsl2', 'container') else '') if t.arch == 'x86_64' else 'processor\t: 0\nBogoMIPS\t: 62.50\nFeatures\t: fp asimd evtstrm aes\nCPU implementer\t: 0x41\n\n')
    t.f('/proc/uptime', '86400.12 1300000.00\n')
    mods = []
    for x in m.get('modules', []):
        mods.append('%s 180224 0 - Live 0x0000000000000000' % x)
    gpus = gpu_list(m)
    if drv.get('kmod'):
        fl = '(OE)' if drv.get('flavor') == 'open' else '(POE)'
        dep = {'nvidia_uvm': '0 -', 'nvidia_drm': '4 -', 'nvidia_modeset': '2 nvidia_drm,', 'nvidia': '120 nvidia_uvm,nvidia_modeset,'}
        siz = {'nvidia_uvm': 4939776, 'nvidia_drm': 122880, 'nvidia_modeset': 1355776, 'nvidia': 54312960}
        for x in drv.get('loaded', ['nvidia_uvm', 'nvidia_drm', 'nvidia_modeset', 'nvidia']):
            mods.append('%s %d %s Live 0x0000000000000000 %s' % (x, siz[x], dep[x] if x != 'nvidia' or 'nvidia_uvm' in drv.get('loaded', ['nvidia_uvm']) else '8 nvidia_modeset,', fl))
            t.f('/sys/module/%s/version' % x, (drv.get('versions') or {}).get(x, drv['kmod']) + '\n')
            t.f('/sys/module/%s/refcnt' % x, '8\n')
            t.f('/sys/module/%s/taint' % x, fl.strip('()') + '\n')
        if t.has('/sys/module/nvidia_uvm/version'):
            t.f('/sys/module/nvidia_uvm/parameters/uvm_disable_hmm', drv.get('uvm_disable_hmm', 'N') + '\n')
        a = t.arch
        nv = ('NVIDIA UNIX Open Kernel Module for %s  %s  Release Build  (dvs-builder@U22-I3-AE18-23-3)  %s' % (a, drv['kmod'], DATES)
              if drv.get('flavor') == 'open' else 'NVIDIA UNIX %s Kernel Module  %s  %s' % (a, drv['kmod'], DATES))
        t.f('/proc/driver/nvidia/version', 'NVRM version: %s\nGCC version:  gcc version %s (%s)\n' % (nv, gcc, pretty_gcc(m, gcc)))
        prm = dict(DeviceFileGID=0, DeviceFileMode=438, PreserveVideoMemoryAllocations=0, OpenRmEnableUnsupportedGpus=1)
        prm.update(drv.get('params', {}))
        t.f('/proc/driver/nvidia/params', PARAMS % prm)
        t.f('/proc/driver/nvidia/registry', 'Binary: ""\n')
        for d in ('capabilities', 'patches', 'warnings', 'gpus'):
            t.d('/proc/driver/nvidia/' + d)
        t.f('/proc/driver/nvidia/capabilities/mig/config', 'DeviceFileMinor: 1\nDeviceFileMode: 256\nDeviceFileModify: 1\n')
        t.f('/proc/driver/nvidia/capabilities/mig/monitor', 'DeviceFileMinor: 2\nDeviceFileMode: 292\nDeviceFileModify: 1\n')
        for i, g in enumerate(x for x in gpus if x['drv'] == 'nvidia' and not x.get('noinfo')):
            fw = drv['kmod'] if drv.get('flavor') == 'open' or vkey(drv['kmod']) >= [555] and int(g['pci'], 16) >= 0x1e00 else 'N/A'
            t.f('/proc/driver/nvidia/gpus/%s/information' % g['at'], 'Model: \t\t %s\nIRQ:   \t\t %d\nGPU UUID: \t %s\nVideo BIOS: \t 95.02.3c.40.b3\nBus Type: \t PCIe\nDMA Size: \t 47 bits\n'
                'DMA Mask: \t 0x7fffffffffff\nBus Location: \t %s\nDevice Minor: \t %d\nGPU Firmware: \t %s\nGPU Excluded:\t No\n' % (g['name'], 150 + i, g['uuid'], g['at'], i, fw))
            t.f('/proc/driver/nvidia/gpus/%s/registry' % g['at'], 'Binary: ""\n')
    t.f('/proc/modules', ''.join(x + '\n' for x in mods + ['snd_hda_codec_hdmi 98304 1 - Live 0x0000000000000000', 'i2c_i801 36864 0 - Live 0x0000000000000000']))
    t.f('/proc/devices', 'Character devices:\n  1 mem\n 10 misc\n' + ('195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n235 nvidia-caps\n' if drv.get('kmod') else '')
        + ('508 nvidia-uvm\n' if 'nvidia_uvm' in drv.get('loaded', ['nvidia_uvm']) and drv.get('kmod') else '') + '\nBlock devices:\n259 blkext\n')
    # PCI
    if kind in ('host', 'container') or gpus:
        if kind != 'wsl2':
            pci_dev(t, '0000:00:00.0', '0x8086', '0xa700', 0x060000, None, ('0x1043', '0x8882'))
            pci_dev(t, '0000:00:01.0', '0x8086', '0xa70d', 0x060400, 'pcieport', ('0x1043', '0x8882'))
            pci_dev(t, '0000:00:1f.6', '0x8086', '0x1a1d', 0x020000, 'e1000e', ('0x1043', '0x87d2'))
            for g in gpus:
                pci_dev(t, g['at'], '0x10de', '0x' + g['pci'], g['cls'], g['drv'], g.get('sub', ('0x1043', '0x88e2')), resource=g.get('resource'), **g.get('sysfs', {}))
                if g['cls'] == 0x030000:
                    pci_dev(t, g['at'][:-1] + '1', '0x10de', '0x22ba', 0x040300, 'snd_hda_intel', g.get('sub', ('0x1043', '0x88e2')))
    for d in m.get('pci', []):
        pci_dev(t, d[0], d[1], d[2], int(d[3], 16), d[4])
    # firmware, secure boot, lockdown
    if kind == 'host':
        sb = 1 if m.get('secureboot') else 0
        t.f('/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c', bytes([6, 0, 0, 0, sb]))
        t.f('/sys/firmware/efi/efivars/SetupMode-8be4df61-93ca-11d2-aa0d-00e098032b8c', bytes([6, 0, 0, 0, 0]))
        t.f('/sys/kernel/security/lockdown', '[none] integrity confidentiality\n' if not sb else 'none [integrity] confidentiality\n')
    if kind == 'host' and OS[m['os']][2] != 'nixos':
        kos = drv.get('ko', {rel: drv.get('kmod')} if drv else {})
        hdr = m.get('headers', [rel])
        for r in sorted({rel} | set(kos) | set(hdr) | set(m.get('kernels', []))):
            b = '/lib/modules/' + r
            t.f(b + '/modules.dep', 'kernel/drivers/gpu/drm/nouveau/nouveau.ko: kernel/drivers/video/backlight/video.ko\n' + ('updates/dkms/nvidia.ko:\n' if kos.get(r) else ''))
            t.f(b + '/modules.builtin', 'kernel/fs/ext4/ext4.ko\n')
            t.f(b + '/kernel/drivers/gpu/drm/nouveau/nouveau.ko', kmod('nouveau', '1.4.0', r, 'GPL and additional rights', t.arch, signer='Build time autogenerated kernel key'))
            if r in hdr:
                t.l(b + '/build', '/usr/src/linux-headers-' + r)
                t.f('/usr/src/linux-headers-%s/include/generated/autoconf.h' % r, '#define CONFIG_SMP 1\n')
                t.f('/usr/src/linux-headers-%s/Makefile' % r, 'VERSION = 6\n')
        style = drv.get('ko_style', 'dkms' if deb(m) else 'extra-xz')
        for r, v in kos.items():
            if not v:
                continue
            vs = v if isinstance(v, dict) else {n: v for n in ('nvidia', 'nvidia-uvm', 'nvidia-modeset', 'nvidia-drm')}
            for n, ver in vs.items():
                lic = 'Dual MIT/GPL' if drv.get('flavor') == 'open' else 'NVIDIA'
                ko = kmod(n, ver, r, lic, t.arch, signer=drv.get('signer', 'box Secure Boot Module Signature key') if style == 'dkms' else drv.get('signer'))
                if style == 'dkms':
                    t.f('/lib/modules/%s/updates/dkms/%s.ko' % (r, n), ko)
                    t.f('/var/lib/dkms/nvidia/%s/%s/%s/module/%s.ko' % (ver, r, t.arch, n), ko)
                elif style == 'extra-xz':
                    t.f('/lib/modules/%s/extra/nvidia/%s.ko.xz' % (r, n), lzma.compress(ko))
                elif style == 'updates-zst':
                    t.f('/lib/modules/%s/updates/dkms/%s.ko.zst' % (r, n), zstd_raw(ko))
                elif style == 'extra-gz':
                    t.f('/lib/modules/%s/extra/%s.ko.gz' % (r, n), gzip.compress(ko, mtime=0))
                elif style == 'prebuilt':
                    t.f('/lib/modules/%s/kernel/nvidia-%s/%s.ko' % (r, ver.split('.')[0], n), ko)
        dk = drv.get('dkms_added')
        if dk:
            t.f('/usr/src/nvidia-%s/dkms.conf' % dk, 'PACKAGE_NAME="nvidia"\nPACKAGE_VERSION="%s"\nAUTOINSTALL="yes"\n' % dk)
            t.l('/var/lib/dkms/nvidia/%s/source' % dk, '/usr/src/nvidia-' + dk)


def pretty_gcc(m, gcc):
    return {'ubuntu': 'Ubuntu %s-1ubuntu1~%s' % (gcc, OS[m['os']][1]), 'debian': 'Debian %s-14' % gcc}.get(OS[m['os']][2], 'GCC')


DRIVER_LIBS = [('libcuda', '1', 'compute'), ('libnvidia-ptxjitcompiler', '1', 'compute'), ('libnvidia-nvvm', '4', 'compute'), ('libnvidia-opencl', '1', 'compute'),
               ('libcudadebugger', '1', 'compute'), ('libnvidia-ml', '1', 'utility'), ('libnvidia-cfg', '1', 'utility')]


def driver_libs(t, d, ver, which=('compute', 'utility'), dev=True, skip=()):
    for n, so, cap in DRIVER_LIBS:
        if cap in which and n not in skip and not (n == 'libnvidia-nvvm' and vkey(ver) < [510]) and not (n == 'libcudadebugger' and vkey(ver) < [520]):
            need = ['libpthread.so.0', 'libdl.so.2', 'librt.so.1', 'libm.so.6'] if n == 'libcuda' else []
            t.so('%s/%s.so.%s' % (d, n, ver), soname='%s.so.%s' % (n, so), needed=need, glibc='2.17', dev=dev and n in ('libcuda', 'libnvidia-ml'),
                 defs=['cuInit', 'cuDriverGetVersion', 'cuDeviceGetCount'] if n == 'libcuda' else ['nvmlInit_v2'] if n == 'libnvidia-ml' else [],
                 text=['NVIDIA ' + n, ver])


def driver(t, m):
    d = m.get('driver')
    if not d or m['kind'] in ('wsl2', 'wsl1', 'jetson'):
        return
    if d.get('libs'):
        vs = d['libs'] if isinstance(d['libs'], list) else [d['libs']]
        for v in vs:
            driver_libs(t, d.get('dir', libdir(m)), v, d.get('caps', ('compute', 'utility')), d.get('dev', m['kind'] == 'host'), d.get('skip', ()))
        if 'utility' in d.get('caps', ('utility',)):
            t.x('/usr/bin/nvidia-smi', '#!/bin/sh\n# nvidia-smi %s placeholder\nexit 1\n' % vs[-1])
        t.f('/lib/firmware/nvidia/%s/gsp_ga10x.bin' % vs[-1], b'\0' * 64)


# ---------------------------------------------------------------- CUDA toolkits, cuDNN
SONAMES = {  # CUDA major: library -> soname suffix
    '10': {'cudart': '10.2', 'cublas': '10', 'cublasLt': '10', 'cufft': '10', 'curand': '10', 'cusolver': '10', 'cusparse': '10', 'nvrtc': '10.2'},
    '11': {'cudart': '11.0', 'cublas': '11', 'cublasLt': '11', 'cufft': '10', 'curand': '10', 'cusolver': '11', 'cusparse': '11', 'nvrtc': '11.2', 'cupti': None},
    '12': {'cudart': '12', 'cublas': '12', 'cublasLt': '12', 'cufft': '11', 'curand': '10', 'cusolver': '11', 'cusparse': '12', 'nvrtc': '12', 'nvJitLink': '12', 'cupti': '12'},
    '13': {'cudart': '13', 'cublas': '13', 'cublasLt': '13', 'cufft': '12', 'curand': '10', 'cusolver': '12', 'cusparse': '12', 'nvrtc': '13', 'nvJitLink': '13', 'cupti': '13'},
}
ARCHS = {'10.2': '35 37 50 52 60 61 70 75 +75', '11': '50 52 60 61 70 75 80 86 +86', '11.8': '50 60 61 70 75 80 86 89 90 +90', '12': '50 60 61 70 75 80 86 89 90 +90',
         '12.8': '50 60 70 75 80 86 89 90 100 120 +120', '13': '75 80 86 89 90 100 120 +120'}


def targets(s):
    return [('compute_' + x[1:]) if x[0] == '+' else 'sm_' + x for x in s.split()]


def archs_of(cuda):
    mj = cuda.split('.')[0]
    if mj == '12':
        return targets(ARCHS['12.8' if vkey(cuda)[1] >= 8 else '12'])
    return targets(ARCHS['11.8' if cuda.startswith('11.8') else '10.2' if mj == '10' else mj])


FULL = {'10.2': '10.2.89', '11.5': '11.5.119', '11.7': '11.7.99', '11.8': '11.8.89', '12.0': '12.0.140', '12.1': '12.1.105', '12.2': '12.2.140', '12.3': '12.3.107', '12.4': '12.4.127',
        '12.6': '12.6.77', '12.8': '12.8.93', '12.9': '12.9.86', '13.0': '13.0.88', '9.0': '9.0.176'}


def cuda_lib(t, d, lib, cuda, real=None, dev=True, runpath='$ORIGIN', fat=True):
    """One CUDA runtime library in directory d; real=file suffix (12.4.127) or None for the wheel style (soname only)."""
    mj = cuda.split('.')[0]
    suf = SONAMES[mj].get(lib)
    if suf is None:
        return
    sn = 'lib%s.so.%s' % (lib, suf)
    need = {'cublas': ['libcublasLt.so.' + SONAMES[mj]['cublasLt']],
            'cusolver': ['libcublas.so.' + SONAMES[mj]['cublas'], 'libcublasLt.so.' + SONAMES[mj]['cublasLt'], 'libcusparse.so.' + SONAMES[mj]['cusparse']]}.get(lib, [])
    undefs, defs = [], []
    if 'nvJitLink' in SONAMES[mj]:
        if lib in ('cusolver', 'cusparse'):
            need = ['libnvJitLink.so.' + SONAMES[mj]['nvJitLink']] + need
            undefs = ['__nvJitLinkComplete_%s_%s' % tuple(cuda.split('.')[:2])]
        if lib == 'nvJitLink':
            defs = ['__nvJitLinkComplete_%s_%d' % (mj, i) for i in range(int(cuda.split('.')[1]) + 1)]
    kw = dict(soname=sn, needed=need + ['libdl.so.2', 'libpthread.so.0'], glibc='2.17', undefs=undefs, defs=defs, text=['CUDA ' + cuda],
              runpath=runpath if lib in ('cublas', 'cublasLt', 'cufft', 'curand', 'cusolver', 'cusparse') else None)
    if lib in ('cublas', 'cublasLt', 'curand', 'cusolver', 'cusparse') and fat:
        kw['fat'] = dict(groups=[archs_of(cuda)[:1], archs_of(cuda), archs_of(cuda)[:-1]], comp='zstd' if vkey(cuda) >= [12, 4] else 'lz4', abi=8 if vkey(cuda) >= [12, 8] else 7)
    t.so('%s/lib%s.so.%s' % (d, lib, real or suf), dev=dev, **kw)


def toolkit(t, m, k):
    v = k['v']
    mj, home = v.split('.')[0], k.get('path', '/usr/local/cuda-' + k['v'])
    tgt = 'x86_64-linux' if t.arch == 'x86_64' else 'aarch64-linux' if m['kind'] == 'jetson' else 'sbsa-linux'
    full = FULL[v]
    if k.get('distro'):  # Ubuntu's nvidia-cuda-toolkit: nvcc in /usr/bin
        t.x('/usr/lib/nvidia-cuda-toolkit/bin/nvcc', '#!/bin/sh\n# Cuda compilation tools, release %s, V%s\n' % (v, full))
        t.x('/usr/bin/nvcc', '#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc "$@"\n')
        t.f('/usr/include/cuda.h', '#define CUDA_VERSION %d\n' % (int(mj) * 1000 + vkey(v)[1] * 10))
        for lib in SONAMES[mj]:
            cuda_lib(t, libdir(m), lib, v, full)
        t.f('/usr/lib/cuda/version.txt', 'CUDA Version %s\n' % full)
        return
    L = '%s/targets/%s/lib' % (home, tgt)
    if k.get('nvcc', True):
        t.x(home + '/bin/nvcc', '#!/bin/sh\n# nvcc: NVIDIA (R) Cuda compiler driver\n# Cuda compilation tools, release %s, V%s\nexit 1\n' % (v, full))
        t.f(home + '/bin/nvcc.profile', 'TOP = $(_HERE_)/..\n')
        t.x(home + '/bin/ptxas', '#!/bin/sh\n# ptxas: NVIDIA (R) Ptx optimizing assembler\n# Cuda compilation tools, release %s, V%s\nexit 1\n' % (v, full))
    if vkey(v) >= [11, 1]:
        t.f(home + '/version.json', json.dumps({'cuda': {'name': 'CUDA SDK', 'version': full}, 'cuda_cudart': {'name': 'CUDA Runtime (cudart)', 'version': full},
                                                'cuda_nvcc': {'name': 'CUDA NVCC', 'version': full}}, indent=3) + '\n')
    else:
        t.f(home + '/version.txt', 'CUDA Version %s\n' % full)
    t.f('%s/targets/%s/include/cuda.h' % (home, tgt), '/* placeholder */\n#define CUDA_VERSION %d\n' % (int(mj) * 1000 + vkey(v)[1] * 10))
    t.f('%s/targets/%s/include/cuda_runtime_api.h' % (home, tgt), '#define CUDART_VERSION %d\n' % (int(mj) * 1000 + vkey(v)[1] * 10))
    t.l(home + '/include', 'targets/%s/include' % tgt)
    t.l(home + '/lib64', 'targets/%s/lib' % tgt)
    t.f(home + '/nvvm/libdevice/libdevice.10.bc', b'BC\xc0\xde')
    if mj in SONAMES and k.get('libs', True):
        for lib in SONAMES[mj]:
            cuda_lib(t, L, lib, v, full)
    elif k.get('libs', True):  # 9.0 and the like
        t.so('%s/libcudart.so.%s' % (L, full), soname='libcudart.so.' + v, glibc='2.17')
    if k.get('stubs', True):
        t.f(L + '/stubs/libcuda.so', make_elf(dict(soname='libcuda.so.1', arch=t.arch, needed=['libc.so.6'], defs=['cuInit'], text=['CUDA driver stub'])), 0o755)
    if k.get('compat'):
        cv = k['compat']
        C = home + '/compat'
        note = '{"format":1,"CUDA version":"%s","driver":%s,"device":[1,2,7,8,9,10,11,12,13,14]}' % (k.get('compat_cuda', v), json.dumps(k.get('compat_hosts', [470, 525, 535]), separators=(',', ':')))
        t.so('%s/libcuda.so.%s' % (C, cv), soname='libcuda.so.1', needed=['libdl.so.2', 'libpthread.so.0'], glibc='2.17', defs=['cuInit', 'cuDriverGetVersion'], note=note, text=[cv])
        t.so('%s/libnvidia-ptxjitcompiler.so.%s' % (C, cv), soname='libnvidia-ptxjitcompiler.so.1', glibc='2.17', text=[cv])
    if k.get('link', True) and home.startswith('/usr/local/cuda-'):
        if deb(m) and m['kind'] == 'host':
            t.l('/usr/local/cuda', '/etc/alternatives/cuda')
            t.l('/etc/alternatives/cuda', home)
        else:
            t.l('/usr/local/cuda', home)
    if k.get('conf', True):
        t.f('/etc/ld.so.conf.d/000_cuda.conf', '/usr/local/cuda/targets/%s/lib\n' % tgt)


def cudnn_libs(t, d, ver, cuda, wheel=False, runpath=None):
    mj = ver.split('.')[0]
    v3 = '.'.join(ver.split('.')[:3])
    subs = ['ops', 'cnn', 'adv', 'graph', 'engines_precompiled', 'engines_runtime_compiled', 'heuristic'] if mj == '9' else \
        ['ops_infer', 'ops_train', 'cnn_infer', 'cnn_train', 'adv_infer', 'adv_train'] if mj == '8' else []
    rp = runpath or ('$ORIGIN:$ORIGIN/../../cublas/lib:$ORIGIN/../../cuda_nvrtc/lib' if wheel else '$ORIGIN')
    for s in [''] + ['_' + x for x in subs]:
        sn = 'libcudnn%s.so.%s' % (s, mj)
        need = [] if s in ('', '_graph') else ['libcudnn_graph.so.9'] if mj == '9' else ['libcudnn_ops_infer.so.8'] if s != '_ops_infer' else []
        kw = dict(soname=sn, needed=need + ['libdl.so.2', 'libz.so.1', 'libstdc++.so.6', 'libm.so.6'], glibc='2.17' if s in ('', '_graph', '_ops') else '2.27' if mj == '9' else '2.17',
                  runpath='$ORIGIN' if s == '' else rp, text=['cuDNN %s (CUDA %s)' % (v3, cuda)])
        if s in ('_ops', '_cnn', '_adv', '_engines_precompiled', '_ops_infer', '_cnn_infer'):
            a = archs_of(cuda)
            kw['fat'] = dict(groups=[a[:1], a, [x + 'a' for x in a if x == 'sm_90']], comp='zstd' if vkey(cuda) >= [12, 4] else 'lz4')
        t.so('%s/%s' % (d, sn if wheel else sn[:-len(mj)] + v3), dev=not wheel, **kw)


def cudnn_header(ver):
    a = (vkey(ver) + [0, 0])[:3]
    return '#define CUDNN_MAJOR %d\n#define CUDNN_MINOR %d\n#define CUDNN_PATCHLEVEL %d\n' % tuple(a)


# ---------------------------------------------------------------- Python
TORCH = {  # version+variant: arch list, cuDNN, NCCL, triton (PyTorch release data)
    '1.6.0+cu101': ('37 50 60 70', '7.6.3', None, None), '1.9.0+cu102': ('37 50 60 70', '7.6.5', None, None), '1.10.1+cu113': ('37 50 60 70 75 80 86', '8.2.0', None, None),
    '1.13.1+cu117': ('37 50 60 70 75 80 86', '8.5.0.96', '2.14.3', None), '2.0.1+cu117': ('37 50 60 70 75 80 86', '8.5.0.96', '2.14.3', '2.0.0'),
    '2.0.1+cu118': ('37 50 60 70 75 80 86 90', '8.7.0.84', '2.15.5', '2.0.0'), '2.1.2+cu118': ('50 60 70 75 80 86 37 90', '8.7.0.84', '2.15.5', '2.1.0'),
    '2.1.2+cu121': ('50 60 70 75 80 86 90', '8.9.2.26', '2.18.1', '2.1.0'), '2.2.2+cu121': ('50 60 70 75 80 86 90', '8.9.2.26', '2.19.3', '2.2.0'),
    '2.3.1+cu118': ('50 60 70 75 80 86 37 90', '8.7.0.84', '2.20.5', '2.3.1'), '2.3.1+cu121': ('50 60 70 75 80 86 90', '8.9.2.26', '2.20.5', '2.3.1'),
    '2.4.0+cu121': ('50 60 70 75 80 86 90', '9.1.0.70', '2.20.5', '3.0.0'), '2.4.1+cu121': ('50 60 70 75 80 86 90', '9.1.0.70', '2.20.5', '3.0.0'),
    '2.4.1+cu124': ('50 60 70 75 80 86 90', '9.1.0.70', '2.20.5', '3.0.0'), '2.5.1+cu121': ('50 60 70 75 80 86 90', '9.1.0.70', '2.21.5', '3.1.0'),
    '2.5.1+cu124': ('50 60 70 75 80 86 90', '9.1.0.70', '2.21.5', '3.1.0'), '2.6.0+cu124': ('50 60 70 75 80 86 90', '9.1.0.70', '2.21.5', '3.2.0'),
    '2.6.0+cu126': ('50 60 70 75 80 86 90', '9.5.1.17', '2.21.5', '3.2.0'), '2.7.1+cu118': ('50 60 70 75 80 86 37 90', '9.1.0.70', '2.21.5', '3.3.1'),
    '2.7.1+cu126': ('50 60 70 75 80 86 90', '9.5.1.17', '2.26.2', '3.3.1'), '2.7.1+cu128': ('75 80 86 90 100 120 +120', '9.7.1.26', '2.26.2', '3.3.1'),
    '2.8.0+cu126': ('50 60 70 75 80 86 90', '9.10.2.21', '2.27.3', '3.4.0'), '2.8.0+cu128': ('70 75 80 86 90 100 120', '9.10.2.21', '2.27.3', '3.4.0'),
    '2.8.0+cu129': ('70 75 80 86 90 100 120 +120', '9.10.2.21', '2.27.3', '3.4.0'), '2.9.1+cu126': ('50 60 70 75 80 86 90', '9.10.2.21', '2.27.5', '3.5.1'),
    '2.9.1+cu128': ('70 75 80 86 90 100 120', '9.10.2.21', '2.27.5', '3.5.1'), '2.9.1+cu130': ('75 80 86 90 100 120 +120', '9.13.0.50', '2.27.7', '3.5.1'),
    '2.11.0+cu128': ('75 80 86 90 100 120', '9.19.0.56', '2.28.9', '3.6.0'), '2.11.0+cu130': ('75 80 86 90 100 120', '9.19.0.56', '2.28.9', '3.6.0'),
}
WHEELS = {  # variant: package stem -> version (names get -cu11, -cu12 or nothing)
    'cu117': dict(cublas='11.10.3.66', cuda_cupti='11.7.101', cuda_nvrtc='11.7.99', cuda_runtime='11.7.99', cufft='10.9.0.58', curand='10.2.10.91', cusolver='11.4.0.1', cusparse='11.7.4.91', nvtx='11.7.91'),
    'cu118': dict(cublas='11.11.3.6', cuda_cupti='11.8.87', cuda_nvrtc='11.8.89', cuda_runtime='11.8.89', cufft='10.9.0.58', curand='10.3.0.86', cusolver='11.4.1.48', cusparse='11.7.5.86', nvtx='11.8.86'),
    'cu121': dict(cublas='12.1.3.1', cuda_cupti='12.1.105', cuda_nvrtc='12.1.105', cuda_runtime='12.1.105', cufft='11.0.2.54', curand='10.3.2.106', cusolver='11.4.5.107', cusparse='12.1.0.106', nvtx='12.1.105', nvjitlink='12.1.105'),
    'cu123': dict(cublas='12.3.4.1', cuda_cupti='12.3.101', cuda_nvrtc='12.3.107', cuda_nvcc='12.3.107', cuda_runtime='12.3.101', cufft='11.0.12.1', curand='10.3.4.107', cusolver='11.5.4.101', cusparse='12.2.0.103', nvjitlink='12.3.101'),
    'cu124': dict(cublas='12.4.5.8', cuda_cupti='12.4.127', cuda_nvrtc='12.4.127', cuda_runtime='12.4.127', cufft='11.2.1.3', curand='10.3.5.147', cusolver='11.6.1.9', cusparse='12.3.1.170', nvtx='12.4.127', nvjitlink='12.4.127'),
    'cu126': dict(cublas='12.6.4.1', cuda_cupti='12.6.80', cuda_nvrtc='12.6.77', cuda_runtime='12.6.77', cufft='11.3.0.4', curand='10.3.7.77', cusolver='11.7.1.2', cusparse='12.5.4.2', nvtx='12.6.77', nvjitlink='12.6.85'),
    'cu128': dict(cublas='12.8.4.1', cuda_cupti='12.8.90', cuda_nvrtc='12.8.93', cuda_runtime='12.8.90', cufft='11.3.3.83', curand='10.3.9.90', cusolver='11.7.3.90', cusparse='12.5.8.93', nvtx='12.8.90', nvjitlink='12.8.93'),
    'cu129': dict(cublas='12.9.1.4', cuda_cupti='12.9.79', cuda_nvrtc='12.9.86', cuda_nvcc='12.9.86', cuda_runtime='12.9.79', cufft='11.4.1.4', curand='10.3.10.19', cusolver='11.7.5.82', cusparse='12.5.10.65', nvtx='12.9.79', nvjitlink='12.9.86'),
    'cu130': dict(cublas='13.1.0.3', cuda_cupti='13.0.85', cuda_nvrtc='13.0.88', cuda_runtime='13.0.96', cufft='12.0.0.61', curand='10.4.0.35', cusolver='12.0.4.66', cusparse='12.6.3.3', nvtx='13.0.85', nvjitlink='13.0.88'),
}
STEM_LIBS = {'cublas': ['cublas', 'cublasLt'], 'cuda_cupti': ['cupti'], 'cuda_nvrtc': ['nvrtc'], 'cuda_runtime': ['cudart'], 'cufft': ['cufft'], 'curand': ['curand'],
             'cusolver': ['cusolver'], 'cusparse': ['cusparse'], 'nvjitlink': ['nvJitLink']}
TORCH_RPATH = ['cudnn', 'nvshmem', 'nccl', 'cusparselt', 'cublas', 'cuda_cupti', 'cuda_nvrtc', 'cuda_runtime', 'cufft', 'curand', 'cusolver', 'cusparse', 'nvtx', 'cufile', 'nvjitlink']


def cuda_of(variant):
    d = variant[2:]
    return d[:-1] + '.' + d[-1]


class Env:
    """One site-packages directory being filled."""
    def __init__(self, t, m, site, prefix, py, abi):
        self.t, self.m, self.site, self.prefix, self.py, self.abi, self.owned = t, m, site, prefix, py, abi, None

    def f(self, path, data='', mode=0o644):
        self.t.f(self.site + '/' + path, data, mode)
        if self.owned is not None:
            self.owned.append(path)

    def so(self, path, **kw):
        kw.setdefault('arch', self.t.arch)
        self.f(path, make_elf(kw), 0o755)

    def ext(self, stem):
        return '%s.%s-%s.so' % (stem, self.abi, TRIPLET[self.t.arch])

    def dist(self, name, version, requires=(), tag=None, py_requires='>=3.8', extra=None, top=None):
        d = '%s-%s.dist-info' % (name.replace('-', '_'), version)
        md = 'Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nRequires-Python: %s\n' % (name, version, name, py_requires)
        md += ''.join('Requires-Dist: %s\n' % r for r in requires) + '\nLong description.\n'
        files = {d + '/METADATA': md, d + '/INSTALLER': (extra or {}).get('installer', 'pip') + '\n', d + '/top_level.txt': (top or name.replace('-', '_')) + '\n',
                 d + '/WHEEL': 'Wheel-Version: 1.0\nGenerator: bdist_wheel (0.37.1)\nRoot-Is-Purelib: %s\nTag: %s\n' % ('true' if not tag else 'false', tag or 'py3-none-any')}
        if (extra or {}).get('direct_url'):
            files[d + '/direct_url.json'] = json.dumps(extra['direct_url'])
        for p, x in files.items():
            self.f(p, x)
        rec = []
        for p in sorted(set(self.owned or [])):
            e = self.t.n.get(self.t.canon(self.site + '/' + p))
            if not e or e[0] != 'f':
                continue
            if isinstance(e[1], Blob) and e[1].size > 1 << 22:
                rec.append('%s,,' % p)
                continue
            b = e[1].bytes() if isinstance(e[1], Blob) else e[1]
            rec.append('%s,sha256=%s,%d' % (p, base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b'=').decode(), len(b)))
        self.t.f(self.site + '/' + d + '/RECORD', '\n'.join(rec + [d + '/RECORD,,']) + '\n')

    def begin(self):
        self.owned = []

    # -- packages
    def plat(self, kind='manylinux2014'):
        return 'cp%s-%s-%s_%s' % (self.py.replace('.', ''), 'cp' + self.py.replace('.', '') + ('m' if vkey(self.py) < [3, 8] else ''), kind, self.t.arch)

    def generic(self, name, version, requires=(), mod=None, ver_file=None, tag=None):
        self.begin()
        mod = mod or name.replace('-', '_')
        self.f(mod + '/__init__.py', '__version__ = "%s"\n' % version)
        if ver_file:
            self.f(mod + '/' + ver_file[0], ver_file[1])
        self.dist(name, version, requires, tag)

    def numpy(self, version):
        self.begin()
        self.f('numpy/__init__.py', 'from .version import version as __version__\n')
        self.f('numpy/version.py', '"""\nModule to expose more detailed version info\n"""\nversion = "%s"\n__version__ = version\nfull_version = version\n' % version)
        self.so('numpy/%s/' % ('_core' if version[0] == '2' else 'core') + self.ext('_multiarray_umath'), needed=['libm.so.6'], glibc='2.17')
        self.dist('numpy', version, tag=self.plat('manylinux_2_17'))

    def nvidia(self, stem, cu, version, cuda=None, keep=False):
        """One nvidia-* wheel: stem cublas, cudnn, nccl, ...; cu '11' '12' '13'."""
        t = self.t
        self.begin()
        name = 'nvidia-%s' % stem.replace('_', '-')
        own = stem in ('cudnn', 'nccl', 'cusparselt', 'nvshmem')
        if cu != '13' or own:
            name += '-cu' + cu
        sub = 'nvidia/cu13' if cu == '13' and not own else 'nvidia/' + stem
        L = self.site + '/%s/lib' % sub
        before = set(t.n)
        cuda = cuda or (self.cuda if own else '.'.join(version.split('.')[:2]))
        if stem == 'cudnn':
            cudnn_libs(t, L, version, cuda, wheel=True, runpath=None if cu != '13' else '$ORIGIN:$ORIGIN/../../cublas/lib:$ORIGIN/../../cuda_nvrtc/lib:$ORIGIN/../../cu13/lib')
            t.f(self.site + '/nvidia/cudnn/include/cudnn_version.h', cudnn_header(version))
        elif stem == 'nccl':
            mn = archs_of(cuda)
            t.so(L + '/libnccl.so.2', soname='libnccl.so.2', glibc='2.17', needed=['libpthread.so.0', 'librt.so.1', 'libdl.so.2'], fat=dict(groups=[mn[:1], mn]),
                 text=['NCCL version %s+cuda%s' % (version, cuda)], defs=['ncclAllReduce'] + (['ncclMemFree'] if vkey(version) >= [2, 19] else []))
        elif stem == 'cusparselt':
            t.so(self.site + '/%s/lib/libcusparseLt.so.0' % ('nvidia/cusparselt' if cu == '13' else 'cusparselt' if vkey(version) < [0, 6, 3] else 'nvidia/cusparselt'),
                 soname='libcusparseLt.so.0', glibc='2.17', fat=['sm_80', 'sm_86', 'sm_89', 'sm_90'])
        elif stem == 'nvshmem':
            t.so(L + '/libnvshmem_host.so.3', soname='libnvshmem_host.so.3', glibc='2.17')
        elif stem == 'nvtx':
            if cu in ('11', '12'):
                t.so(L + '/libnvToolsExt.so.1', soname='libnvToolsExt.so.1', glibc='2.17')
            else:
                t.so(L + '/libnvtx3interop.so.1', soname='libnvtx3interop.so.1', glibc='2.17')
        elif stem == 'cufile':
            t.so(L + '/libcufile.so.0', soname='libcufile.so.0', glibc='2.27')
        elif stem == 'cuda_nvcc':
            t.x(self.site + '/nvidia/cuda_nvcc/bin/ptxas', '#!/bin/sh\n# Cuda compilation tools, release %s, V%s\nexit 1\n' % (cuda, version))
            t.f(self.site + '/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc', b'BC\xc0\xde')
        else:
            rp = '$ORIGIN' if cu == '13' else '$ORIGIN:$ORIGIN/../../nvjitlink/lib' if stem in ('cusolver', 'cusparse') and cu == '12' else '$ORIGIN'
            if stem == 'cusolver' and cu != '13':
                rp += ':$ORIGIN/../../cublas/lib:$ORIGIN/../../cusparse/lib'
            cv = cuda if stem in ('cuda_runtime', 'cuda_nvrtc', 'nvjitlink', 'cublas', 'cuda_cupti') else self.cuda
            for lib in STEM_LIBS[stem]:
                cuda_lib(t, L, lib, cv if cv.split('.')[0] == cu else self.cuda, None, dev=False, runpath=rp)
        if cu != '13' or own:
            self.f('nvidia/%s/__init__.py' % stem, '')
        self.f('nvidia/__init__.py', '') if cu != '13' and stem == 'cublas' else None
        for p in set(t.n) - before:
            if t.n[p][0] == 'f':
                self.owned.append(p[len(t.canon(self.site)) + 1:])
        if stem in ('cudnn', 'nccl') and not keep:  # files that an earlier wheel of the same name space left
            for p in t.ls(L):
                q = '%s/lib/%s' % (sub, p)
                if q not in self.owned:
                    self.owned.append(q)
        self.dist(name, version, tag='py3-none-manylinux2014_' + t.arch, top='nvidia')

    def cuda_wheels(self, variant, cudnn, nccl, skip=()):
        cu, self.cuda = cuda_of(variant).split('.')[0], cuda_of(variant)
        w = dict(WHEELS[variant])
        req = []
        for stem, ver in w.items():
            if stem in skip:
                continue
            self.nvidia(stem, cu, ver)
            req.append((stem, ver))
        for stem, ver in (('cudnn', cudnn), ('nccl', nccl)):
            if ver and stem not in skip:
                self.nvidia(stem, cu, ver, self.cuda)
                req.append((stem, ver))
        if vkey(self.cuda) >= [12, 6]:
            for stem, ver in (('cusparselt', {'cu126': '0.6.3', 'cu128': '0.7.1', 'cu129': '0.7.1', 'cu130': '0.8.0'}[variant]), ('cufile', {'cu126': '1.11.1.6', 'cu128': '1.13.1.3', 'cu129': '1.14.1.1', 'cu130': '1.15.1.6'}[variant])):
                self.nvidia(stem, cu, ver, self.cuda)
                req.append((stem, ver))
            if variant == 'cu130':
                self.nvidia('nvshmem', cu, '3.4.5', self.cuda)
        names = []
        for stem, ver in req:
            own = stem in ('cudnn', 'nccl', 'cusparselt', 'nvshmem')
            names.append('nvidia-%s%s==%s ; platform_system == "Linux"' % (stem.replace('_', '-'), '-cu' + cu if cu != '13' or own else '', ver))
        return names

    def torch(self, spec, o):
        """spec '2.5.1+cu124', '2.5.1+cpu', '2.4.1+rocm6.1', or '2.4.1' for a build without a suffix; o: options."""
        t, ver, var = self.t, spec.split('+')[0], (spec.split('+') + [''])[1]
        new = vkey(ver) >= [2, 0]
        row = o.get('row') or TORCH.get(spec)
        arch = targets(o['arch_list']) if o.get('arch_list') else targets(row[0]) if row else []
        if o.get('arch') == 'aarch64' and not arch:
            arch = []
        cuda = cuda_of(var) if var.startswith('cu') else o.get('cuda')
        req = ['filelock', 'typing-extensions', 'sympy', 'networkx', 'jinja2', 'fsspec']
        bundled = o.get('bundled', cuda is not None and not (vkey(ver) >= [2, 1, 3] or (vkey(ver) >= [2, 1] and var == 'cu121') or (var == 'cu117' and o.get('from') == 'pypi')))
        if o.get('conda'):
            bundled = False
        cu = cuda.split('.')[0] if cuda else None
        if cuda and not bundled and not o.get('conda') and not o.get('nodeps'):
            req += self.cuda_wheels(var or o['wheels'], o.get('cudnn', row and row[1]), o.get('nccl', row and row[2]), o.get('skip', ()))
            tri = row and row[3]
            if tri and t.arch == 'x86_64':
                self.triton(o.get('triton', tri))
                req.append('triton==%s ; platform_system == "Linux" and platform_machine == "x86_64"' % tri)
        for n, v in (('filelock', '3.13.1'), ('sympy', '1.13.1'), ('typing-extensions', '4.12.2')):
            if new:
                self.generic(n, v)
        self.begin()
        suffix = '+' + var if var else ''
        glibc = o.get('glibc') or ('2.28' if vkey(ver) >= [2, 6, 1] or (vkey(ver) >= [2, 6] and var == 'cu126') else '2.17')
        opt = 'Optional[str]' if vkey(ver) >= [1, 11] else None
        vp = []
        if opt:
            vp.append('from typing import Optional\n\n__all__ = [\'__version__\', \'debug\', \'cuda\', \'git_version\', \'hip\'%s]' % (", 'rocm', 'xpu'" if vkey(ver) >= [2, 9] else ", 'xpu'" if vkey(ver) >= [2, 6] else ''))
        vp += ["__version__ = '%s'" % (o.get('version_py') or ver + suffix), 'debug = False']
        hip = "'6.1.40091-a8dbc0c19'" if var.startswith('rocm') else 'None'
        vp += [('cuda: Optional[str] = ' if opt else 'cuda = ') + ("'%s'" % cuda if cuda else 'None'), "git_version = '%s'" % hashlib.sha1(ver.encode()).hexdigest(), ('hip: Optional[str] = ' if opt else 'hip = ') + hip]
        if vkey(ver) >= [2, 9]:
            vp.append('rocm: Optional[str] = None')
        if vkey(ver) >= [2, 6]:
            vp.append('xpu: Optional[str] = None')
        self.f('torch/version.py', '\n'.join(vp) + '\n')
        self.f('torch/__init__.py', 'from .version import __version__\n')
        self.f('torch/cuda/__init__.py', '')
        # libraries
        if cuda and not bundled and not o.get('conda'):
            names = [n for n in TORCH_RPATH if n != 'nvshmem' or vkey(ver) >= [2, 9]]
            if cu == '13':
                names = ['cudnn', 'nvshmem', 'nccl', 'cusparselt', 'cu13']
            path = ':'.join('$ORIGIN/../../nvidia/%s/lib' % n for n in names if n != 'nvjitlink') + (':$ORIGIN/../../cusparselt/lib' if cu == '12' else '') + ':$ORIGIN'
            kw = dict(rpath=path) if o.get('rpath', True) else dict(runpath=path)
        elif o.get('conda'):
            kw = dict(rpath='$ORIGIN:$ORIGIN/../../../..')
        else:
            kw = dict(rpath='$ORIGIN') if cuda else dict(runpath='$ORIGIN')
        if o.get('runpath_extra'):
            kw = dict(runpath=o['runpath_extra'] + ':$ORIGIN')
        L = 'torch/lib/'
        cxx = [('libstdc++.so.6', 'GLIBCXX_3.4.19')]
        sys_ = ['libdl.so.2', 'libpthread.so.0', 'libm.so.6', 'libgcc_s.so.1']
        put = self.so
        if o.get('conda') == 'conda-forge':
            def put(path, **k):
                n = path.split('/')[-1]
                k.setdefault('arch', t.arch)
                if path.startswith(L):
                    k['rpath'] = '$ORIGIN'
                    t.f(self.prefix + '/lib/' + n, make_elf(k), 0o755)
                    t.l(self.site + '/' + path, '../../../../' + n)
                else:
                    self.so(path, **k)
        abi = 'Eab' if vkey(ver) >= [2, 3] else 'Ei'
        put(L + 'libc10.so', soname='libc10.so', needed=sys_, glibc=glibc, verneed=cxx, defs=['_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE'
                                                                                            if vkey(ver) >= [2, 7] else '_ZN3c106detail14torchCheckFailEPKcS2_jRKSs'], **kw)
        put(L + 'libtorch_cpu.so', soname='libtorch_cpu.so', needed=['libc10.so'] + (['libcudart.so.' + SONAMES[cu]['cudart']] if cuda and cu in ('12', '13') else []) + sys_, glibc=glibc, verneed=cxx, defs=['_ZN2at4_ops'], **kw)
        put(L + 'libtorch_python.so', soname='libtorch_python.so', needed=['libtorch.so', 'libshm.so', 'libtorch_cpu.so', 'libc10.so'] + sys_, glibc=glibc, verneed=cxx, **kw)
        put(L + 'libshm.so', soname='libshm.so', needed=['libtorch_cpu.so', 'libc10.so', 'librt.so.1'], glibc=glibc, **kw)
        put(L + 'libtorch_global_deps.so', soname='libtorch_global_deps.so', needed=(['libcudart.so.' + SONAMES[cu]['cudart']] if cuda and cu in ('12', '13') else []) + ['libm.so.6'], glibc='2.17', **kw)
        self.so('torch/' + self.ext('_C'), needed=['libtorch_python.so'], glibc='2.17', **(dict(rpath=kw.get('rpath', kw.get('runpath')).replace('/../../', '/../') + ':$ORIGIN/lib') if kw else {}))
        tn = ['libtorch_cpu.so']
        if cuda:
            S = SONAMES[cu]
            dn = (o.get('cudnn') or (row and row[1]) or '9').split('.')[0]
            deps = ['libcublas.so.' + S['cublas'], 'libcublasLt.so.' + S['cublasLt'], 'libcufft.so.' + S['cufft'], 'libcurand.so.' + S['curand'], 'libcusparse.so.' + S['cusparse'],
                    'libcudart.so.' + S['cudart'], 'libcudnn.so.' + dn] + (['libnccl.so.2'] if vkey(ver) >= [2, 0] and (var.startswith('cu12') or var.startswith('cu13') or o.get('conda')) else [])
            if o.get('needed_drop'):
                deps = [d for d in deps if not any(x in d for x in o['needed_drop'])]
            comp = 'zstd' if vkey(cuda) >= [12, 4] else 'lz4'
            stray = [['sm_90a']] if 'sm_90' in arch else []
            if 'sm_120' in arch:
                stray += [['sm_89'], ['sm_100a', 'sm_103a'], ['sm_120a', 'sm_121a']]
            if bundled:
                d = self.site + '/' + L[:-1]
                before = set(t.n)
                for lib in SONAMES[cu]:
                    cuda_lib(t, d, lib, cuda, None, dev=False)
                cudnn_libs(t, d, o.get('cudnn') or row[1], cuda, wheel=True, runpath='$ORIGIN')
                self.owned += [p[len(t.canon(self.site)) + 1:] for p in set(t.n) - before]
            put(L + 'libc10_cuda.so', soname='libc10_cuda.so', needed=['libc10.so', 'libcudart.so.' + S['cudart']] + sys_, glibc=glibc, verneed=cxx, defs=['_ZN3c104cuda9SetDevice' + abi], **kw)
            put(L + 'libtorch_cuda.so', soname='libtorch_cuda.so', needed=['libc10_cuda.so'] + deps + ['libtorch_cpu.so', 'libc10.so'] + sys_, glibc=glibc, verneed=cxx,
                fat=dict(groups=[[x for x in arch if x.startswith('sm_')], arch, arch] + stray, comp=comp, abi=8 if vkey(cuda) >= [12, 8] else 7, hole=o.get('hole', 0)), **kw)
            put(L + 'libtorch_cuda_linalg.so', soname='libtorch_cuda_linalg.so', needed=['libcusolver.so.' + S['cusolver'], 'libtorch_cuda.so', 'libtorch_cpu.so', 'libc10_cuda.so', 'libc10.so'], glibc='2.17',
                fat=dict(groups=[arch[:1], arch], comp=comp), **kw)
            put(L + 'libcaffe2_nvrtc.so', soname='libcaffe2_nvrtc.so', needed=['libnvrtc.so.' + S['nvrtc'], 'libcuda.so.1'], glibc='2.17', **kw)
            tn.append('libtorch_cuda.so')
        if var.startswith('rocm'):
            for n in ('libtorch_hip.so', 'libc10_hip.so', 'libamdhip64.so', 'libMIOpen.so', 'librocblas.so'):
                self.so(L + n, soname=n, glibc='2.17', runpath='$ORIGIN')
        put(L + 'libtorch.so', soname='libtorch.so', needed=tn, glibc='2.17', **kw)
        dv = o.get('dist_version') or (ver if o.get('from') == 'pypi' or o.get('conda') else ver + suffix)
        extra = {'installer': 'conda' if o.get('conda') else o.get('installer', 'pip'), 'direct_url': o.get('direct_url')}
        if o.get('dist', True):
            self.dist('torch', dv, req, self.plat('linux'), '>=3.8.0', extra, 'functorch\ntorch\ntorchgen')

    def torchvision(self, spec, o):
        ver, var = spec.split('+')[0], (spec.split('+') + [''])[1]
        self.begin()
        self.f('torchvision/__init__.py', '')
        self.f('torchvision/version.py', "__version__ = '%s'\ngit_version = 'afc54f7'\nfrom torchvision.extension import _check_cuda_version\n" % spec)
        if o.get('arch_list') or var.startswith('cu'):
            cu = cuda_of(var).split('.')[0]
            a = targets(o.get('arch_list') or '50 60 70 75 80 86 90' if vkey(cuda_of(var)) < [12, 8] else '75 80 86 90 100 120')
            self.so('torchvision/_C.so', needed=['libc10.so', 'libtorch.so', 'libtorch_cpu.so', 'libtorch_cuda.so', 'libc10_cuda.so', 'libcudart.so.' + SONAMES[cu]['cudart']], glibc='2.17', fat=dict(groups=[a[:1], a]),
                    undefs=[])
        else:
            self.so('torchvision/_C.so', needed=['libc10.so', 'libtorch.so', 'libtorch_cpu.so'], glibc='2.17')
        pair = o.get('torch')
        self.dist('torchvision', ver if o.get('from') == 'pypi' else spec, ['numpy', 'torch==%s' % pair, 'pillow!=8.3.*,>=5.3.0'] if pair else ['numpy', 'torch'], self.plat('linux'))

    def triton(self, ver, o=None):
        o = o or {}
        pt = o.get('ptxas') or {'2.0.0': '11.7.99', '2.1.0': '12.1.105', '2.2.0': '12.3.52', '2.3.1': '12.4.99', '3.0.0': '12.4.99', '3.1.0': '12.4.99', '3.2.0': '12.4.99', '3.3.1': '12.8.61', '3.4.0': '12.8.93',
                               '3.5.1': '12.8.93', '3.6.0': '12.8.93'}[ver]
        self.begin()
        old = vkey(ver) < [3, 0]
        b = 'triton/common/../third_party/cuda/bin/ptxas' if old else 'triton/backends/nvidia/bin/ptxas'
        b = b.replace('common/../', '')
        self.f(b, '#!/bin/sh\n# ptxas: NVIDIA (R) Ptx optimizing assembler\n# Cuda compilation tools, release %s, V%s\nexit 1\n' % ('.'.join(pt.split('.')[:2]), pt), 0o755)
        if vkey(ver) >= [3, 6]:
            self.f('triton/backends/nvidia/bin/ptxas-blackwell', '#!/bin/sh\n# Cuda compilation tools, release 12.9, V12.9.86\nexit 1\n', 0o755)
        self.f('triton/__init__.py', '"""isort:skip_file"""\n__version__ = \'%s\'\n' % ver)
        self.so('triton/_C/libtriton.so', needed=['libz.so.1', 'libm.so.6', 'libstdc++.so.6'], glibc='2.17')
        self.dist('triton', ver, ['filelock'], self.plat('manylinux_2_17'))

    def jax(self, ver, o):
        cu = o.get('cu')
        if cu:
            self.cuda = cuda_of(o['wheels'])
            self.cuda_wheels(o['wheels'], o['cudnn'], o.get('nccl', '2.23.4'))
        self.numpy(o.get('numpy', '2.1.2'))
        self.generic('jax', ver, ['jaxlib<=%s,>=%s' % (ver, ver), 'numpy>=1.24'] + (['jax-cuda%s-plugin==%s; extra == "cuda%s"' % (cu, ver, cu)] if cu else []), ver_file=('version.py', "_version = \"%s\"\n__version__ = _version\n" % ver))
        self.begin()
        lv = o.get('jaxlib', ver)
        self.f('jaxlib/__init__.py', '')
        self.f('jaxlib/version.py', '__version__ = "%s"\n' % lv)
        self.so('jaxlib/xla_extension.so', needed=['libm.so.6', 'libstdc++.so.6'], glibc='2.17')
        self.dist('jaxlib', lv, ['numpy', 'scipy'], self.plat('manylinux2014'))
        if cu:
            rp = ':'.join('$ORIGIN/../../nvidia/%s/lib' % n for n in (['cu13', 'cudnn', 'nccl'] if cu == '13' else ['cublas', 'cuda_cupti', 'cuda_runtime', 'cudnn', 'cufft', 'cusolver', 'cusparse', 'nccl', 'nvjitlink']))
            a = targets(o['arch_list'])
            self.begin()
            self.f('jax_plugins/xla_cuda%s/__init__.py' % cu, '')
            self.f('jax_plugins/xla_cuda%s/version.py' % cu, '__version__ = "%s"\n' % ver)
            self.so('jax_plugins/xla_cuda%s/xla_cuda_plugin.so' % cu, soname='xla_cuda_plugin.so', needed=['libm.so.6', 'libdl.so.2'], glibc='2.17', runpath=rp, fat=dict(groups=[a[:1], a]))
            self.dist('jax-cuda%s-pjrt' % cu, ver, [], 'py3-none-manylinux2014_' + self.t.arch, top='jax_plugins')
            self.begin()
            self.f('jax_cuda%s_plugin/__init__.py' % cu, '')
            self.f('jax_cuda%s_plugin/version.py' % cu, '__version__ = "%s"\n' % ver)
            self.so('jax_cuda%s_plugin/_solver.so' % cu, needed=['libm.so.6'], glibc='2.17', runpath=rp)
            self.dist('jax-cuda%s-plugin' % cu, ver, ['jax-cuda%s-pjrt==%s' % (cu, ver)], self.plat('manylinux2014'))

    def tensorflow(self, ver, o):
        req = []
        if o.get('wheels'):
            self.cuda = cuda_of(o['wheels'])
            req = self.cuda_wheels(o['wheels'], o['cudnn'], o.get('nccl', '2.19.3'))
        self.numpy(o.get('numpy', '1.26.4'))
        self.generic('keras', '3.4.1')
        self.begin()
        a = targets(o.get('arch_list', '60 70 80 89 +90'))
        self.f('tensorflow/__init__.py', '')
        self.f('tensorflow/tools/pip_package/v.py', '__version__ = "%s"\n' % ver)
        self.f('tensorflow/python/platform/build_info.py', '# Autogenerated\nimport collections\nbuild_info = collections.OrderedDict([(\'cpu_compiler\', \'/usr/lib/llvm-17/bin/clang\'), '
               "('cuda_compute_capabilities', [%s]), ('cuda_version', '%s'), ('cudnn_version', '%s'), ('is_cuda_build', True), ('is_rocm_build', False), ('is_tensorrt_build', True)])\n"
               % (', '.join("'%s'" % x for x in a), o['cuda'], o['cudnn_major']))
        names = ['cuda_nvcc', 'cublas', 'cuda_cupti', 'cuda_nvrtc', 'cuda_runtime', 'cudnn', 'cufft', 'curand', 'cusolver', 'cusparse', 'nccl', 'nvjitlink']
        rp = ':'.join('$ORIGIN/../nvidia/%s/lib' % n for n in names) + ':$ORIGIN'
        self.so('tensorflow/libtensorflow_framework.so.2', soname='libtensorflow_framework.so.2', needed=['libm.so.6', 'libdl.so.2'], glibc='2.17', runpath=rp)
        self.so('tensorflow/libtensorflow_cc.so.2', soname='libtensorflow_cc.so.2', needed=['libtensorflow_framework.so.2', 'libm.so.6'], glibc='2.17', runpath=rp, fat=dict(groups=[a[:1], a]),
                text=['libcudart.so.' + SONAMES[o['cuda'].split('.')[0]]['cudart'], 'libcublas.so.' + SONAMES[o['cuda'].split('.')[0]]['cublas'], 'libcudnn.so.' + o['cudnn_major']])
        self.dist('tensorflow', ver, ['keras>=3.0.0', 'numpy<2.0.0,>=1.26.0'] + [r.replace(' ; platform_system == "Linux"', ' ; extra == "and-cuda"') for r in req], self.plat('manylinux_2_17'))

    def onnxruntime(self, ver, o, gpu):
        self.begin()
        name = 'onnxruntime-gpu' if gpu else 'onnxruntime'
        self.f('onnxruntime/__init__.py', '__version__ = "%s"\n' % ver)
        self.f('onnxruntime/capi/build_and_package_info.py', "package_name = '%s'\n__version__ = '%s'\n" % (name, ver) + ("cuda_version = '%s'\n" % o['cuda'] if gpu else ''))
        self.so('onnxruntime/capi/' + self.ext('onnxruntime_pybind11_state'), needed=['libdl.so.2', 'libm.so.6', 'libstdc++.so.6'], glibc='2.27' if vkey(ver) >= [1, 17] else '2.17', runpath='$ORIGIN')
        self.so('onnxruntime/capi/libonnxruntime_providers_shared.so', soname='libonnxruntime_providers_shared.so', glibc='2.2.5' if self.t.arch == 'x86_64' else '2.17')
        if gpu:
            cu = o['cuda'].split('.')[0]
            S = SONAMES[cu]
            a = targets(o.get('arch_list', '52 60 61 70 75 80 86 +86' if cu == '11' else '52 60 61 70 75 80 86 90 +90'))
            self.so('onnxruntime/capi/libonnxruntime_providers_cuda.so', soname='libonnxruntime_providers_cuda.so', needed=['libcublasLt.so.' + S['cublasLt'], 'libcublas.so.' + S['cublas'], 'libcurand.so.' + S['curand'],
                    'libcufft.so.' + S['cufft'], 'libcudart.so.' + S['cudart'], 'libcudnn.so.' + o['cudnn_major'], 'libm.so.6', 'libstdc++.so.6'], glibc='2.27', runpath='$ORIGIN', fat=dict(groups=[a[:1], a], comp='lz4'))
        self.dist(name, ver, ['coloredlogs', 'flatbuffers', 'numpy>=1.21.6'], self.plat('manylinux_2_27'))

    def ext_pkg(self, name, ver, o):
        """A compiled CUDA extension: o = {mod, so, needed, undefs, arch_list, glibc, requires}."""
        self.begin()
        mod = o.get('mod', name.replace('-', '_'))
        self.f(mod + '/__init__.py', '__version__ = "%s"\n' % ver)
        for p, e in o.get('so', {}).items():
            e = dict(e)
            a = e.pop('arch_list', None)
            if a:
                a = targets(a)
                e['fat'] = dict(groups=[[x for x in a if x.startswith('sm_')], a], comp=e.pop('comp', 'zstd'))
            self.so(p if p.endswith('.so') else self.ext(p), **e)
        self.dist(name, ver, o.get('requires', []), self.plat('linux'))

    def add(self, item):
        o = {}
        if isinstance(item, dict):
            o = dict(item)
            item = o.pop('pkg')
        name, _, ver = item.partition('==')
        if name == 'torch':
            self.torch(ver, o)
        elif name == 'torchvision':
            self.torchvision(ver, o)
        elif name == 'numpy':
            self.numpy(ver)
        elif name == 'triton':
            self.triton(ver, o)
        elif name == 'jax':
            self.jax(ver, o)
        elif name == 'tensorflow':
            self.tensorflow(ver, o)
        elif name in ('onnxruntime', 'onnxruntime-gpu'):
            self.onnxruntime(ver, o, name.endswith('gpu'))
        elif name.startswith('nvidia-') and re.search(r'-cu1[123]$', name) and name[7:-5].replace('-', '_') in list(STEM_LIBS) + ['cudnn', 'nccl', 'nvtx', 'cuda_nvcc', 'cusparselt']:
            self.cuda = o.get('cuda') or {'11': '11.8', '12': '12.4', '13': '13.0'}[name[-2:]]
            self.nvidia(name[7:-5].replace('-', '_'), name[-2:], ver, o.get('cuda'), keep=True)
        elif 'so' in o:
            self.ext_pkg(name, ver, o)
        else:
            self.generic(name, ver, o.get('requires', ()), o.get('mod'))


def interpreter(t, path, py, rpath=None):
    t.f(path, make_elf(dict(exe=True, arch=t.arch, needed=['libm.so.6'], glibc='2.17', rpath=rpath, text=['Python ' + py])), 0o755)


def python(t, m, p):
    ty, py = p['type'], p['py']
    full = p.get('full', py + '.' + {'3.8': '18', '3.9': '19', '3.10': '12', '3.11': '9', '3.12': '3', '3.13': '1', '3.7': '17', '3.6': '9'}[py])
    abi = 'cpython-' + py.replace('.', '') + ('m' if vkey(py) < [3, 8] else '')
    pre = p.get('prefix', '/usr')
    if ty == 'system':
        interpreter(t, '/usr/bin/python' + py, py)
        t.l('/usr/bin/python3', 'python' + py)
        t.f('/usr/lib/python%s/os.py' % py)
        t.f('/usr/lib/python%s/site.py' % py)
        if deb(m):
            t.d('/usr/lib/python3/dist-packages')
            site = p.get('site', '/usr/local/lib/python%s/dist-packages' % py)
            t.f('/usr/lib/python3/dist-packages/six-1.16.0.egg-info/PKG-INFO', 'Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\n')
        else:
            site = p.get('site', '/usr/local/lib/python%s/site-packages' % py)
        t.d(site)
    elif ty in ('venv', 'uv'):
        base = p.get('base', '/usr')
        bp = base + '/bin/python' + py
        if not t.has(bp):
            interpreter(t, bp, py)
            if base == '/usr':
                t.l('/usr/bin/python3', 'python' + py)
            t.f('%s/lib/python%s/os.py' % (base, py))
        site = '%s/lib/python%s/site-packages' % (pre, py)
        t.l(pre + '/bin/python', bp if ty == 'uv' else 'python3')
        t.l(pre + '/bin/python3', 'python' if ty == 'uv' else bp.replace('python' + py, 'python' + py))
        t.l(pre + '/bin/python' + py, 'python3' if ty == 'venv' else 'python')
        t.l(pre + '/lib64', 'lib')
        t.f(pre + '/bin/activate', 'VIRTUAL_ENV=%s\nexport VIRTUAL_ENV\n' % pre)
        cfg = 'home = %s/bin\ninclude-system-site-packages = %s\n' % (base, 'true' if p.get('sysite') else 'false')
        cfg += 'version = %s\nexecutable = %s\ncommand = %s -m venv %s\n' % (full, bp, bp, pre) if ty == 'venv' else 'implementation = CPython\nuv = 0.5.9\nversion_info = %s\n' % full
        t.f(pre + '/pyvenv.cfg', cfg)
        t.d(site)
    elif ty in ('conda', 'pyenv', 'prefix'):
        interpreter(t, pre + '/bin/python' + py, py, '$ORIGIN/../lib' if ty == 'conda' else None)
        t.l(pre + '/bin/python3', 'python' + py)
        t.l(pre + '/bin/python', 'python' + py)
        t.f('%s/lib/python%s/os.py' % (pre, py))
        t.f('%s/lib/python%s/site.py' % (pre, py))
        site = '%s/lib/python%s/site-packages' % (pre, py)
        t.d(site)
        if ty == 'conda':
            t.f(pre + '/conda-meta/history', '==> 2024-09-01 10:00:00 <==\n# cmd: conda create -n x python=%s\n' % py)
            L = [['python', full, 'h955ad1f_1', 'conda-forge'], ['pip', '24.2', 'py%s_0' % py.replace('.', ''), 'conda-forge'], ['libstdcxx-ng', '14.1.0', 'hc0a3c3a_1', 'conda-forge']] + p.get('conda', [])
            for n, v, b, ch in L:
                t.f('%s/conda-meta/%s-%s-%s.json' % (pre, n, v, b), json.dumps({'name': n, 'version': v, 'build': b, 'build_string': b, 'build_number': vkey(b)[-1] if vkey(b) else 0,
                    'channel': 'https://conda.anaconda.org/%s/linux-64' % ch, 'subdir': 'linux-64', 'depends': [], 'files': [], 'fn': '%s-%s-%s.conda' % (n, v, b)}, indent=2))
            t.so(pre + '/lib/libstdc++.so.6.0.33', soname='libstdc++.so.6', dev=False, glibc='2.17', verdef=['GLIBCXX_' + v for v in CXX_ALL] + ['CXXABI_1.3', 'CXXABI_1.3.11'])
            for n in ('libgcc_s.so.1', 'libz.so.1', 'libgomp.so.1'):
                t.f(pre + '/lib/' + n, make_elf(dict(soname=n, arch=t.arch, glibc='2.17')), 0o755)
            for c in p.get('cudalibs', []):  # CUDA libraries as conda packages: ["12.6", "9.8.0", "2.26.2"]
                for lib in SONAMES[c[0].split('.')[0]]:
                    cuda_lib(t, pre + '/lib', lib, c[0], FULL.get(c[0]))
                if c[1]:
                    cudnn_libs(t, pre + '/lib', c[1], c[0])
                if len(c) > 2 and c[2]:
                    t.so(pre + '/lib/libnccl.so.' + c[2], soname='libnccl.so.2', glibc='2.17', fat=archs_of(c[0]), text=['NCCL version %s+cuda%s' % (c[2], c[0])])
    elif ty == 'usersite':
        site = '%s/.local/lib/python%s/site-packages' % (p['home'], py)
        t.d(site)
    elif ty == 'dir':
        site = p['site']
        t.d(site)
    else:
        raise ValueError(ty)
    if p.get('pip', ty not in ('uv', 'usersite', 'dir')) and site:
        e = Env(t, m, site, pre, py, abi)
        e.generic('pip', '24.2')
    e = Env(t, m, site, pre, py, abi)
    for it in p.get('pkgs', []):
        e.add(it)
    for k in p.get('kernels', []):  # [path of kernelspec dir, display name, argv0]
        t.f(k[0] + '/kernel.json', json.dumps({'argv': [k[2], '-m', 'ipykernel_launcher', '-f', '{connection_file}'], 'display_name': k[1], 'language': 'python', 'metadata': {'debugger': True}}, indent=1))
    return site


# ---------------------------------------------------------------- packages of the distribution
def dpkg(t, m):
    if not deb(m):
        return
    oid, ver, glibc = OS[m['os']][2], OS[m['os']][1], OS[m['os']][4]
    a = {'x86_64': 'amd64', 'aarch64': 'arm64'}[t.arch]
    L = [['libc6', glibc], ['libstdc++6', '12.3.0-1'], ['base-files', ver]]
    d = m.get('driver') or {}
    lv = d.get('pkg', d.get('libs') if m['kind'] == 'host' and not isinstance(d.get('libs'), list) else None)
    if lv and m['kind'] == 'host':
        br, tail = lv.split('.')[0], '-0ubuntu0.%s.1' % ver if oid == 'ubuntu' else '-1~deb%su1' % ver
        if oid == 'ubuntu':
            names = ['nvidia-driver-%s' % br, 'nvidia-utils-%s' % br, 'libnvidia-compute-%s' % br, 'nvidia-kernel-common-%s' % br, 'nvidia-dkms-%s' % br + ('-open' if d.get('flavor') == 'open' else '')]
            names = [n for n in names if not ('libnvidia-compute' in n and 'libcuda' in d.get('skip', ()))]
        else:
            names = ['nvidia-driver', 'nvidia-smi', 'libnvidia-ml1', 'nvidia-kernel-dkms'] + ([] if 'libcuda' in d.get('skip', ()) else ['libcuda1'])
        for n in names:
            L.append([n, (d.get('pkg_kernel') + tail) if d.get('pkg_kernel') and ('dkms' in n or 'kernel' in n) else lv + tail])
    for k in m.get('toolkits', []):
        if not k.get('path') and m['kind'] != 'container':
            L.append(['nvidia-cuda-toolkit', FULL[k['v']] + '~12.0.1-4build4'] if k.get('distro') else ['cuda-toolkit-' + k['v'].replace('.', '-'), FULL[k['v']] + '-1'])
    for r in m.get('headers', [m.get('kernel') or OS[m['os']][5]]):
        if m['kind'] == 'host':
            L.append(['linux-headers-' + r, '6.8.0-45.45'])
    L += m.get('dpkg', [])
    t.f('/var/lib/dpkg/status', ''.join('Package: %s\nStatus: install ok installed\nPriority: optional\nSection: misc\nMaintainer: x <x@example.org>\nArchitecture: %s\nVersion: %s\nDescription: %s\n\n'
                                        % (n, a, v, n) for n, v in L))


# ---------------------------------------------------------------- containers, WSL, Jetson
def container(t, m):
    c = m.get('container') or {}
    eng = c.get('engine', 'docker')
    ov = '/var/lib/docker/overlay2/3f0c/merged'
    mi = ['640 478 0:71 / / rw,relatime master:190 - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/A:/var/lib/docker/overlay2/l/B,upperdir=%s,workdir=%s' % (ov.replace('merged', 'diff'), ov.replace('merged', 'work')),
          '641 640 0:74 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw', '642 640 0:75 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755',
          '643 642 0:76 / /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw,gid=5,mode=620,ptmxmode=666', '644 640 0:77 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro',
          '646 642 0:73 / /dev/mqueue rw,nosuid,nodev,noexec,relatime - mqueue mqueue rw', '647 642 0:78 / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm rw,size=%s' % c.get('shm', '33554432k')]
    n = 650
    drv = m.get('driver') or {}
    if drv.get('kmod') and c.get('procfs', True) and drv.get('libs'):
        mi.append('%d 641 0:80 / /proc/driver/nvidia ro,nosuid,nodev,noexec,relatime - tmpfs tmpfs ro,mode=555' % n)
    for p in sorted(t.n):
        b = p.rsplit('/', 1)[1]
        if t.n[p][0] == 'f' and c.get('mounts', True) and re.match(r'lib(cuda|cudadebugger|nvidia-[\w-]+)\.so\.\d+\.\d+', b) and '/compat/' not in p and p not in c.get('unmounted', []):
            n += 1
            deleted = '//deleted' if c.get('deleted') and re.search(c['deleted'], b) else ''
            mi.append('%d 640 259:2 %s%s %s ro,nosuid,nodev,relatime master:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro' % (n, p, deleted, p))
    for dv in sorted((m.get('_dev') or {})):
        n += 1
        mi.append('%d 642 0:5 /%s /dev/%s ro,nosuid,noexec,relatime master:5 - devtmpfs udev rw,size=32852952k,nr_inodes=8213238,mode=755' % (n, dv, dv))
    t.f('/proc/self/mountinfo', '\n'.join(mi) + '\n')
    cg = c.get('cgroup', '0::/\n')
    t.f('/proc/self/cgroup', cg)
    t.f('/proc/1/cgroup', cg)
    t.f('/proc/1/comm', 'python3\n')
    if eng == 'docker':
        t.f('/.dockerenv', '')
    elif eng == 'podman':
        t.f('/run/.containerenv', 'engine="podman-4.9.3"\nname="box"\nid="5d2c"\nimage="docker.io/library/x"\nrootless=%d\n' % c.get('rootless', 1))
    elif eng == 'apptainer':
        t.f('/.singularity.d/runscript', '#!/bin/sh\n')
        t.d('/.singularity.d/libs')
        t.l('/singularity', '.singularity.d/runscript')


def wsl(t, m):
    w = m.get('wsl') or {}
    if m['kind'] == 'wsl2':
        t.f('/proc/sys/fs/binfmt_misc/WSLInterop', 'enabled\ninterpreter /init\nflags: PF\noffset 0\nmagic 4d5a\n')
        t.f('/etc/wsl.conf', '[boot]\nsystemd=true\n')
        L = '/usr/lib/wsl/lib'
        if w.get('libs', True):
            for n in ('libcuda.so', 'libcuda.so.1', 'libcuda.so.1.1'):
                t.f(L + '/' + n, make_elf(dict(soname='libcuda.so.1', arch=t.arch, needed=['libpthread.so.0', 'libdl.so.2'], glibc='2.17', defs=['cuInit', 'cuDriverGetVersion'], text=['NVIDIA CUDA WSL loader'])), 0o555)
            t.f(L + '/libnvidia-ml.so.1', make_elf(dict(soname='libnvidia-ml.so.1', arch=t.arch, glibc='2.17', defs=['nvmlInit_v2'])), 0o555)
            t.f(L + '/libdxcore.so', make_elf(dict(soname='libdxcore.so', arch=t.arch, glibc='2.17')), 0o555)
            t.f(L + '/libnvidia-ptxjitcompiler.so.1', make_elf(dict(soname='libnvidia-ptxjitcompiler.so.1', arch=t.arch, glibc='2.17')), 0o555)
            t.x(L + '/nvidia-smi')
            D = '/usr/lib/wsl/drivers/nv_dispi.inf_amd64_6b4a1b0e9f3d2c11'
            for n in ('libcuda.so.1.1', 'libcuda_loader.so', 'libnvidia-ml.so.1', 'libnvidia-ml_loader.so', 'libnvidia-ptxjitcompiler.so.1', 'libnvdxgdmal.so.1'):
                t.f(D + '/' + n, make_elf(dict(soname=n if n != 'libcuda.so.1.1' else 'libcuda.so.1', arch=t.arch, glibc='2.17')), 0o555)
        if w.get('conf', True):
            t.f('/etc/ld.so.conf.d/ld.wsl.conf', L + '\n')
    else:
        t.f('/proc/sys/fs/binfmt_misc/WSLInterop', 'enabled\n')
    t.d('/mnt/c/Windows/System32')


def jetson(t, m):
    t.f('/etc/nv_tegra_release', '# R36 (release), REVISION: 4.0, GCID: 37537400, BOARD: generic, EABI: aarch64, DATE: Fri Sep 13 04:36:44 UTC 2024\n# KERNEL_VARIANT: oot\nTARGET_USERSPACE_LIB_DIR=nvidia\n')
    t.f('/proc/device-tree/model', b'NVIDIA Jetson Orin NX Engineering Reference Developer Kit\0')
    t.f('/proc/device-tree/compatible', b'nvidia,p3768-0000+p3767-0000\0nvidia,p3767-0000\0nvidia,tegra234\0')
    t.f('/sys/devices/soc0/family', 'Tegra\n')
    t.f('/sys/devices/soc0/soc_id', '35\n')
    L = '/usr/lib/aarch64-linux-gnu/nvidia'
    t.f(L + '/libcuda.so.1.1', make_elf(dict(soname='libcuda.so.1', arch='aarch64', needed=['libpthread.so.0', 'libdl.so.2'], glibc='2.17', defs=['cuInit', 'cuDriverGetVersion'], text=['540.4.0'])), 0o755)
    t.l(L + '/libcuda.so.1', 'libcuda.so.1.1')
    t.l(L + '/libcuda.so', 'libcuda.so.1')
    t.f(L + '/libnvidia-ml.so.1', make_elf(dict(soname='libnvidia-ml.so.1', arch='aarch64', glibc='2.17')), 0o755)
    t.f('/etc/ld.so.conf.d/nvidia-tegra.conf', L + '\n')


# ---------------------------------------------------------------- facts.json
def merge(a, b):
    for k, v in b.items():
        if v is None:
            a.pop(k, None)
        elif isinstance(v, dict) and isinstance(a.get(k), dict):
            merge(a[k], v)
        else:
            a[k] = v
    return a


def facts(m, cuda_max):
    if m['kind'] == 'image' or m.get('facts', 1) is None:
        return None
    rel = m.get('kernel') or OS[m['os']][5]
    f = {'schema': 'cuvet.facts/1', 'uname': 'Linux %s %s' % (rel, m.get('arch', 'x86_64')), 'euid': 0 if m['kind'] == 'container' else 1000,
         'gids': [0] if m['kind'] == 'container' else [1000, 44, 109], 'env': {'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root' if m['kind'] == 'container' else '/home/ana', 'LANG': 'C.UTF-8'}, 'dev': {}}
    d, gs = m.get('driver') or {}, gpu_list(m)
    if m['kind'] == 'wsl2':
        f['dev']['dxg'] = dict(type='c', mode='0666', uid=0, gid=0, major=10, minor=125)
    elif m['kind'] == 'jetson':
        for n, (a, b) in {'nvhost-gpu': (505, 1), 'nvmap': (10, 76), 'nvhost-ctrl-gpu': (505, 3)}.items():
            f['dev'][n] = dict(type='c', mode='0660', uid=0, gid=44, major=a, minor=b)
    elif d.get('kmod') and m.get('nodes', True):
        own = [g for g in gs if g['drv'] == 'nvidia' and not g.get('noinfo')]
        for i, g in enumerate(own):
            f['dev']['nvidia%d' % i] = dict(type='c', mode='0666', uid=0, gid=0, major=195, minor=i)
        f['dev']['nvidiactl'] = dict(type='c', mode='0666', uid=0, gid=0, major=195, minor=255)
        if 'nvidia_uvm' in d.get('loaded', ['nvidia_uvm']):
            f['dev']['nvidia-uvm'] = dict(type='c', mode='0666', uid=0, gid=0, major=508, minor=0)
            f['dev']['nvidia-uvm-tools'] = dict(type='c', mode='0666', uid=0, gid=0, major=508, minor=1)
    ver = d.get('kmod') or (m.get('wsl') or {}).get('windows_driver')
    if ver and (gs or m['kind'] == 'wsl2'):
        mx = cuda_max.get(ver.split('.')[0])
        f['cuInit'] = 0
        f['cuDriverVersion'] = vkey(mx)[0] * 1000 + vkey(mx)[1] * 10 if mx else None
        f['nvml'] = {'init': 0, 'driver': ver, 'cuda': mx, 'gpus': [dict(index=i, name=g['name'], uuid=g['uuid'], pci=g['at'], mig='disabled' if g['pci'] in MIG_CAPABLE else 'N/A', compute_mode='Default') for i, g in enumerate(gs)]}
    for p in m.get('pythons', []):
        if p.get('active'):
            f['env']['PATH'] = p['prefix'] + '/bin:' + f['env']['PATH']
            if p['type'] == 'conda':
                f['env'].update(CONDA_PREFIX=p['prefix'], CONDA_DEFAULT_ENV=p['prefix'].rsplit('/', 1)[1] if '/envs/' in p['prefix'] else 'base')
            elif p['type'] in ('venv', 'uv'):
                f['env']['VIRTUAL_ENV'] = p['prefix']
    return merge(f, json.loads(json.dumps(m.get('facts') or {})))


MAX_CUDA = {'390': '9.1', '418': '10.1', '450': '11.0', '460': '11.2', '470': '11.4', '510': '11.6', '515': '11.7', '520': '11.8', '525': '12.0', '530': '12.1', '535': '12.2', '537': '12.2', '545': '12.3', '550': '12.4',
            '555': '12.5', '560': '12.6', '565': '12.7', '570': '12.8', '575': '12.9', '580': '13.0', '590': '13.1', '595': '13.2', '540': '12.6', '610': '13.3'}


# ---------------------------------------------------------------- one machine
def tree(m, outside='/outside'):
    m = json.loads(json.dumps(m))
    m.setdefault('kind', 'host')
    m['id'] = m.get('id', 'x')
    t = Tree(m.get('arch', 'x86_64'))
    base_os(t, m)
    fx = facts(m, MAX_CUDA)
    m['_dev'] = (fx or {}).get('dev')
    if m['kind'] != 'image':
        kernel(t, m)
    driver(t, m)
    for k in m.get('toolkits', []):
        toolkit(t, m, k)
    for c in m.get('cudnn', []):
        d = c.get('dir', libdir(m))
        cudnn_libs(t, d, c['v'], c.get('cuda', '12.4'))
        t.f(c.get('include', '/usr/include/' + (TRIPLET[t.arch] if deb(m) else '')).rstrip('/') + '/cudnn_version.h', cudnn_header(c['v']))
    for p in m.get('pythons', []):
        python(t, m, p)
    if m['kind'] in ('wsl2', 'wsl1'):
        wsl(t, m)
    if m['kind'] == 'jetson':
        jetson(t, m)
    dpkg(t, m)
    if m.get('rpms'):
        t.f(m.get('rpmdb', '/var/lib/rpm/rpmdb.sqlite'), rpmdb(m['rpms']))
    if m.get('initramfs'):
        initramfs(t, m, m['initramfs'])
    sub = lambda x: x.replace('{OUT}', outside) if isinstance(x, str) else x
    for p, x in m.get('elfs', {}).items():
        x = dict(x)
        a = x.pop('arch_list', None)
        if a:
            x['fat'] = targets(a)
        t.so(p, **x)
    for p, x in m.get('files', {}).items():
        if isinstance(x, dict):
            b = base64.b64decode(x['b64']) if 'b64' in x else (sub(x['text'])).encode('utf-8', 'surrogateescape') * x.get('times', 1)
            t.f(p, b, int(x.get('mode', '644'), 8))
        else:
            t.f(p, sub(x))
    for p, x in m.get('links', {}).items():
        t.rm(p) if t.canon(p) in t.n else None
        t.l(p, sub(x))
    for p in m.get('dirs', []):
        t.d(p)
    for p in m.get('remove', []):
        t.rm(p)
    for n, x in m.get('ldconf', {}).items():
        t.f('/etc/ld.so.conf.d/' + n, ''.join(d + '\n' for d in x))
    if m.get('ldcache', True) and OS[m['os']][2] != 'nixos':
        ldcache(t, m)
    for p, x in m.get('late_links', {}).items():  # after ldconfig ran
        t.rm(p) if t.canon(p) in t.n else None
        t.l(p, sub(x))
    for p in m.get('late_remove', []):
        t.rm(p)
    if m['kind'] == 'container':
        container(t, m)
    for dv in (m['_dev'] or {}):
        t.f('/dev/' + dv, '')
    for h in m.get('hostile', []):
        hostile(t, h, outside)
    return t, fx


# ---------------------------------------------------------------- rpm's database, initramfs
def rpm_header(name, version, release, vendor):
    """A header as the database keeps it: number of entries, bytes of the store, entries, store."""
    store, entries = bytearray(), []
    for tag, text in ((1000, name), (1001, version), (1002, release), (1011, vendor)):
        if text:
            entries.append(struct.pack('>IIII', tag, 6, len(store), 1))
            store += text.encode() + b'\0'
    return struct.pack('>II', len(entries), len(store)) + b''.join(entries) + bytes(store)


def rpmdb(packages):
    """rpmdb.sqlite with rpm's two tables that matter, in WAL mode as rpm leaves it."""
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, 'rpmdb.sqlite')
        db = sqlite3.connect(path)
        db.execute('PRAGMA journal_mode=WAL')
        db.execute("CREATE TABLE 'Packages' (hnum INTEGER PRIMARY KEY AUTOINCREMENT, blob BLOB NOT NULL)")
        db.execute("CREATE TABLE 'Name' (key 'TEXT' NOT NULL, hnum INTEGER NOT NULL, idx INTEGER NOT NULL)")
        for n, p in enumerate([['bash', '5.2', '1', '']] + packages, 1):
            db.execute('INSERT INTO Packages VALUES (?, ?)', (n, rpm_header(*p)))
            db.execute('INSERT INTO Name VALUES (?, ?, 0)', (p[0], n))
        db.commit()
        db.close()
        with open(path, 'rb') as f:
            return f.read()


def cpio(files):
    """An archive in cpio's newc form, padded as the kernel's builders do."""
    out = bytearray()
    for n, (name, data) in enumerate(list(files) + [('TRAILER!!!', b'')], 1):
        mode = 0 if name == 'TRAILER!!!' else 0o100644
        head = b'070701' + b''.join(b'%08x' % v for v in (n, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0))
        out += head + name.encode() + b'\0'
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out) + bytes(-len(out) % 512)


def initramfs(t, m, x):
    """Microcode in front, then the packed archive: as Debian's and dracut's tools build it."""
    rel = m.get('kernel') or OS[m['os']][5]
    name = {'deb': '/boot/initrd.img-' + rel, 'rpm': '/boot/initramfs-%s.img' % rel}['deb' if deb(m) else 'rpm']
    base = 'usr/lib/modules/%s/' % rel
    files = [(base + 'kernel/drivers/nvme/nvme.ko', b'x' * 100)]
    for n, v in x['modules'].items():
        ko = kmod(n, v, rel)
        ko, end = {'xz': (lzma.compress(ko), '.xz'), 'zst': (zstd_raw(ko), '.zst'), '': (ko, '')}[x.get('ko', '')]
        files.append((base + 'updates/%s.ko%s' % (n, end), ko))
    early = cpio([('kernel/x86/microcode/GenuineIntel.bin', b'\0' * 5000)])
    body = cpio(files)
    t.f(name, early + bytes(1024) + {'gz': gzip.compress, 'xz': lzma.compress, '': bytes}[x.get('pack', 'gz')](body))


# ---------------------------------------------------------------- hostile content
def hostile(t, h, outside):
    what, p = h[0], h[1]
    if what in ('fifo', 'socket', 'sparse', 'loop', 'link', 'text', 'b64', 'script'):
        if t.canon(p) in t.n:
            t.rm(p)
    if what == 'fifo':
        t.put(p, ('p',))
    elif what == 'socket':
        t.put(p, ('s',))
    elif what == 'sparse':
        t.put(p, ('z', h[2], (h[3] if len(h) > 3 else '').encode()))
    elif what == 'link':
        t.l(p, h[2].replace('{OUT}', outside))
    elif what == 'text':
        t.f(p, h[2].replace('{OUT}', outside) * (h[3] if len(h) > 3 else 1))
    elif what == 'b64':
        t.f(p, base64.b64decode(h[2]))
    elif what == 'script':
        t.x(p, '#!/bin/sh\ntouch %s/ran\n' % outside)
    elif what == 'deep':
        t.put(p, ('deep', h[2], h[3]))
    elif what == 'wide':
        for i in range(h[2]):
            t.f(h[3] % ((p, i) if h[3].count('%') == 2 else (p,)), h[4] % i if '%' in h[4] else h[4])
    elif what == 'badelf':
        for i, (n, b) in enumerate(bad_elfs()):
            t.f('%s/%s' % (p, n), b, 0o755)
    elif what == 'badfat':
        for n, b in bad_fats():
            t.f('%s/%s' % (p, n), b, 0o755)
    elif what == 'badcache':
        e = t.n.get('/etc/ld.so.cache')
        b = bytearray(e[1])
        at = b.find(b'glibc-ld.so.cache1.1')
        if h[2] == 'truncated':
            b = b[:at + 48 + 24 * 3 + 5]
        elif h[2] == 'count':
            struct.pack_into('<II', b, at + 20, 0xFFFFFFFF, 0xFFFFFFFF)
        elif h[2] == 'offsets':
            for i in range(struct.unpack_from('<I', b, at + 20)[0]):
                struct.pack_into('<II', b, at + 48 + 24 * i + 4, 0xFFFFFFF0 - i, 0x7FFFFFFF)
        elif h[2] == 'noend':
            b = b.rstrip(b'\0') + b'A' * 4096
        elif h[2] == 'ext':
            struct.pack_into('<I', b, at + 32, len(b) - 3)
        t.f('/etc/ld.so.cache', bytes(b))
    else:
        raise ValueError(what)


def bad_elfs():
    good = elf('libcuda.so.1', ['libc.so.6'], runpath='$ORIGIN', glibc='2.17', defs=['cuInit'], fat=['sm_80', 'compute_80']).bytes()
    shoff, = struct.unpack_from('<Q', good, 40)
    nsec, = struct.unpack_from('<H', good, 60)

    def mut(*edits):
        b = bytearray(good)
        for off, fmt, val in edits:
            struct.pack_into(fmt, b, off, val)
        return bytes(b)
    S = [struct.unpack_from('<IIQQQQIIQQ', good, shoff + 64 * i) for i in range(nsec)]
    dyn = next(i for i, s in enumerate(S) if s[1] == 6)
    vr = next(i for i, s in enumerate(S) if s[1] == 0x6FFFFFFE)
    sy = next(i for i, s in enumerate(S) if s[1] == 11)
    fb = next(i for i, s in enumerate(S) if s[2] == 2 and s[1] == 1 and good[s[4]:s[4] + 4] == b'\x50\xed\x55\xba')
    at = lambda i, f: shoff + 64 * i + f
    yield 'libb00.so.1', b'\x7fELF'
    yield 'libb01.so.1', good[:63]
    yield 'libb02.so.1', good[:200]
    yield 'libb03.so.1', mut((40, '<Q', 0xFFFFFFFFFFFFFF00))
    yield 'libb04.so.1', mut((60, '<H', 0xFFFF))
    yield 'libb05.so.1', mut((62, '<H', 0xFFFE))
    yield 'libb06.so.1', mut((58, '<H', 1))
    yield 'libb07.so.1', mut((32, '<Q', 0x7FFFFFFFFFFFFFF0), (56, '<H', 0xFFFF))
    yield 'libb08.so.1', mut((at(dyn, 32), '<Q', 1 << 63))
    yield 'libb09.so.1', mut((at(dyn, 24), '<Q', len(good) - 8))
    yield 'libb10.so.1', mut((at(dyn, 40), '<I', 0xFFFFFFFF))
    yield 'libb11.so.1', mut(*[(S[dyn][4] + 16 * i + 8, '<Q', 0xFFFFFFFFFFFFFFFF) for i in range(S[dyn][5] // 16)])
    yield 'libb12.so.1', mut(*[(S[dyn][4] + 16 * i, '<Q', 1) for i in range(S[dyn][5] // 16)])
    yield 'libb13.so.1', mut((at(vr, 44), '<I', 0xFFFFFFFF), (S[vr][4] + 12, '<I', 0))
    yield 'libb14.so.1', mut((S[vr][4] + 8, '<I', 0), (S[vr][4] + 2, '<H', 0xFFFF))
    yield 'libb15.so.1', mut((S[vr][4] + 8, '<I', 0xFFFFFFF0))
    yield 'libb16.so.1', mut((S[vr][4] + 16 + 12, '<I', 0xFFFFFFF0), (S[vr][4] + 2, '<H', 0xFFFF))
    yield 'libb17.so.1', mut((at(fb, 32), '<Q', 1 << 62))
    yield 'libb18.so.1', mut((at(fb, 24), '<Q', 0xFFFFFFFFFFFFFFF8))
    yield 'libb19.so.1', mut((at(fb, 4), '<I', 8))
    yield 'libb20.so.1', mut((at(sy, 56), '<Q', 0), (at(sy, 32), '<Q', 1 << 40))
    yield 'libb21.so.1', mut((18, '<H', 0xFFFF), (4, '<B', 1))
    yield 'libb22.so.1', mut((5, '<B', 2))
    yield 'libb23.so.1', good[:shoff + 10]
    yield 'libb24.so.1', good[:64] + b'\xff' * (len(good) - 64)


def bad_fats():
    def f(name, raw):
        return name, elf(name, ['libc.so.6'], glibc='2.17', raw=raw).bytes()
    H = lambda size, hs=16: struct.pack('<IHHQ', 0xBA55ED50, 1, hs, size)
    E = lambda kind, hs, ps, arch, flags=0x11: struct.pack('<HHIQIIHHIIIQQQ', kind, 0x101, hs, ps, 0, 0, 8, 1, arch, 0, 0, flags, 0, 0)
    yield f('libf00.so.1', H((1 << 63) + 8) + E(2, 64, 8, 80) + bytes(8))
    yield f('libf01.so.1', H(64) + E(2, 0, 0, 80))
    yield f('libf02.so.1', H(72) + E(2, 64, 0xFFFFFFFFFFFFFFC0, 80) + bytes(8))
    yield f('libf03.so.1', H(72, 0) + E(2, 64, 8, 80) + bytes(8))
    yield f('libf04.so.1', H(72, 0xFFFF) + E(2, 64, 8, 80) + bytes(8))
    yield f('libf05.so.1', H(0) * 20000)
    yield f('libf06.so.1', H(64 * 2000) + E(2, 64, 0, 80) * 2000)
    yield f('libf07.so.1', H(72) + E(2, 0xFFFFFFF0, 8, 80) + bytes(8))
    yield f('libf08.so.1', H(72) + E(2, 64, 8, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF) + bytes(8))
    yield f('libf09.so.1', b'\x50\xed\x55\xba' * 5000)
    yield f('libf10.so.1', bytes(100000) + H(72) + E(0xFFFF, 64, 8, 80) + bytes(8))
    yield f('libf11.so.1', H(72)[:10])
    yield f('libf12.so.1', H(64 * 5000) + b''.join(E(2, 64, 0, i) for i in range(5000)))


# ---------------------------------------------------------------- files on disk
def build(m, dest):
    """dest/root, dest/facts.json, dest/outside (things that a judge of root must never touch)."""
    os.makedirs(dest)
    out = os.path.join(os.path.abspath(dest), 'outside')
    os.makedirs(out)
    with open(out + '/os-release', 'w') as f:
        f.write('PRETTY_NAME="CANARY-OUTSIDE 6.6.6"\nID=canary\nVERSION_ID="6.6.6"\n')
    with open(out + '/version', 'w') as f:
        f.write('NVRM version: NVIDIA UNIX x86_64 Kernel Module  666.66.66  CANARY-OUTSIDE\n')
    os.makedirs(out + '/torch')
    with open(out + '/torch/version.py', 'w') as f:
        f.write("__version__ = '6.6.6+cu666'\ncuda = '66.6'\n")
    os.makedirs(out + '/cuda-66.6/bin')
    with open(out + '/cuda-66.6/version.json', 'w') as f:
        f.write('{"cuda":{"name":"CANARY-OUTSIDE","version":"66.6.6"}}')
    t, fx = tree(m, out)
    t.write(os.path.join(dest, 'root'))
    if fx is not None:
        with open(os.path.join(dest, 'facts.json'), 'w') as f:
            if m.get('facts_raw'):
                f.write(m['facts_raw'][0] + m['facts_raw'][1] * m['facts_raw'][2])
            else:
                json.dump(fx, f, indent=1)
                f.write('\n')
    return t


def load(path=None):
    for p in ([path] if path else []) + [os.path.join(HERE, 'machines.json'), os.path.join(HERE, '..', 'cases', 'roots', 'machines.json')]:
        if p and os.path.exists(p):
            with open(p) as f:
                return json.load(f)
    sys.exit('no machines.json')


def load_all():
    """The machines of all lists beside this file."""
    return [m for p in sorted(glob.glob(os.path.join(HERE, 'machines*.json'))) for m in load(p)] or load()


def handed(id_):
    return int(hashlib.sha256(id_.encode()).hexdigest()[-1], 16) % 2 == 0


def selftest():
    import shutil, subprocess, tempfile
    with tempfile.TemporaryDirectory() as d:
        if shutil.which('readelf'):
            p = d + '/l.so'
            with open(p, 'wb') as f:
                f.write(elf('libx.so.1', ['libm.so.6'], rpath='$ORIGIN/../y', glibc='2.28', fat=['sm_75', 'compute_90'], defs=['f@V_1'], verdef=['V_1']).bytes())
            r = subprocess.run(['readelf', '-aW', p], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            assert not r.stderr and 'libx.so.1' in r.stdout and 'GLIBC_2.28' in r.stdout and '.nv_fatbin' in r.stdout, r.stderr
        ld = shutil.which('ldconfig', path=os.environ.get('PATH', '') + ':/sbin:/usr/sbin')
        for compat in (False, True):
            es = [('liba.so.10', '/x/liba.so.10'), ('liba.so.9', '/x/liba.so.9'), ('libcuda.so.1', '/s/libcuda.so.1'), ('libcuda.so.1', '/d/libcuda.so.1')]
            with open(d + '/c', 'wb') as f:
                f.write(ld_cache(es, 'x86_64', compat))
            if ld:
                o = subprocess.run([ld, '-p', '-C', d + '/c'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True).stdout
                got = re.findall(r'^\t(\S+) \(libc6,x86-64\) => (\S+)', o, re.M)
                assert sorted(got) == sorted(es) and [g for g in got if g[0] == 'libcuda.so.1'][0][1] == '/s/libcuda.so.1', o
    print('roots selftest ok')


def main(a):
    import shutil
    if not a or a[0] not in ('list', 'build', 'show', 'selftest'):
        sys.exit(__doc__)
    mf, out, ids, it = None, None, [], iter(a[1:])
    for x in it:
        if x == '--machines':
            mf = next(it)
        elif x == '--out':
            out = next(it)
        else:
            ids.append(x)
    if a[0] == 'selftest':
        return selftest()
    ms = [m for m in (load(mf) if mf else load_all()) if not ids or m['id'] in ids]
    lost = [i for i in ids if i not in [m['id'] for m in ms]]
    if lost:
        sys.exit('no machine of this name: %s' % ' '.join(lost))
    for m in ms:
        if a[0] == 'list':
            e = m['expect']
            print('%-40s %-9s %-22s %s' % (m['id'], m.get('kind', 'host'), json.dumps(e.get('verdict')), e.get('root_cause')))
        elif a[0] == 'show':
            t, fx = tree(m)
            for p in sorted(t.n):
                e = t.n[p]
                print(p + {'d': '/', 'l': ' -> ' + str(e[1]) if e[0] == 'l' else '', 'p': ' (fifo)', 's': ' (socket)', 'z': ' (sparse)'}.get(e[0], ''))
            print(json.dumps(fx, indent=1))
        else:
            d = os.path.join(out or sys.exit('--out DIR'), m['id'])
            if os.path.lexists(d):
                shutil.rmtree(d)
            build(m, d)
            print(d)


if __name__ == '__main__':
    main(sys.argv[1:])
