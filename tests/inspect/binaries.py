# SPDX-License-Identifier: Apache-2.0
"""Small binaries made by hand: ELF, GPU code, ar, PE; what is in them is said by the caller."""
import struct

MAGIC, RECORD_MAGIC = 0xBA55ED50, 0x466243B1
PTX, CUBIN, LTO = 1, 2, 8
A, F, LZ4, ZSTD, OLD = 0x100000, 0x200000, 0x2000, 0x8000, 0x1000


def entry(kind, arch, flags=0, payload=b'\xAA' * 40, header=64):
    h = struct.pack('<HHIQ', kind, 0x101, header, len(payload)).ljust(28, b'\0') + struct.pack('<I', arch)
    return h.ljust(40, b'\0') + struct.pack('<Q', 0x11 | flags) + bytes(header - 48) + payload


def blob(*entries, version=1, header=16):
    body = b''.join(entries)
    return struct.pack('<IHHQ', MAGIC, version, header, len(body)) + bytes(header - 16) + body


def fatbin(*blobs):
    out = b''
    for b in blobs:
        out = out.ljust((len(out) + 7) & ~7, b'\0') + b
    return out


def elf(soname=None, needed=(), rpath=None, runpath=None, sections=(), kind=3, machine=62, versions=(), records=None):
    """sections: (name, bytes). records: offsets in the first section for .nvFatBinSegment."""
    strings, dyn = b'\0', []

    def name(text):
        nonlocal strings
        at = len(strings)
        strings += text.encode() + b'\0'
        return at
    for tag, values in ((1, needed), (14, [soname] if soname else []), (15, [rpath] if rpath else []),
                        (29, [runpath] if runpath else [])):
        dyn += [(tag, name(v)) for v in values]
    vers = [name(v) for v in versions]
    libc = name('libc.so.6')
    out = bytearray(64 + 56 * 2)
    strtab = len(out)
    out += strings
    out += bytes(-len(out) % 16)
    if vers:
        dyn.append((0x6ffffffe, len(out)))
        out += struct.pack('<HHIII', 1, len(vers), libc, 16, 0)
        for i, v in enumerate(vers):
            out += struct.pack('<IHHII', 0, 0, 0, v, 16 if i + 1 < len(vers) else 0)
    dyn += [(5, strtab), (10, len(strings)), (0, 0)]
    out += bytes(-len(out) % 16)
    dyn_at = len(out)
    for tag, value in dyn:
        out += struct.pack('<QQ', tag, value)
    table = [(b'', 0, 0, 0)]
    names = b'\0'
    placed = []
    for section, data in sections:
        out += bytes(-len(out) % 16)
        placed.append(len(out))
        table.append((section, 1, len(out), len(data)))
        out += data
    if records is not None:
        out += bytes(-len(out) % 16)
        table.append(('.nvFatBinSegment', 1, len(out), 24 * len(records)))
        for r in records:
            out += struct.pack('<IIQQ', RECORD_MAGIC, 1, placed[0] + r, 0)
    at = []
    for section, *_ in table:
        at.append(len(names) if section else 0)
        names += section.encode() + b'\0' if section else b''
    at.append(len(names))
    names += b'.shstrtab\0'
    table.append(('.shstrtab', 3, len(out), len(names)))
    out += names
    out += bytes(-len(out) % 8)
    shoff = len(out)
    for i, (section, typ, off, size) in enumerate(table):
        out += struct.pack('<IIQQQQIIQQ', at[i], typ, 0, off, off, size, 0, 0, 1, 0)
    struct.pack_into('<16sHHIQQQIHHHHHH', out, 0, b'\x7fELF\x02\x01\x01', kind, machine, 1, 0, 64, shoff, 0, 64, 56,
                     2, 64, len(table), len(table) - 1)
    struct.pack_into('<IIQQQQQQ', out, 64, 1, 6, 0, 0, 0, shoff, shoff, 0x1000)
    struct.pack_into('<IIQQQQQQ', out, 120, 2, 6, dyn_at, dyn_at, dyn_at, 16 * len(dyn), 16 * len(dyn), 8)
    return bytes(out)


def ar(members, bsd=False):
    """members: (name, bytes)."""
    out, names = b'!<arch>\n', b''

    def header(name, size):
        return ('%-16s%-12d%-6d%-6d%-8o%-10d`\n' % (name, 0, 0, 0, 0o644, size)).encode()
    body = b''
    for name, data in members:
        if bsd:
            part = name.encode() + data
            head = header('#1/%d' % len(name), len(part))
        elif len(name) > 15:
            head = header('/%d' % len(names), len(data))
            names += name.encode() + b'/\n'
            part = data
        else:
            head, part = header(name + '/', len(data)), data
        body += head + part + b'\n' * (len(part) & 1)
    if names:
        out += header('//', len(names)) + names + b'\n' * (len(names) & 1)
    return out + body


def pe(imports=(), delayed=(), exports=(), name='x.dll', fat=None, machine=0x8664):
    """One section .rdata with the tables, and .nv_fatb when there is GPU code."""
    rva = 0x1000
    data = bytearray(0x40)

    def put(raw):
        at = len(data)
        data.extend(raw)
        return rva + at
    text = {n: put(n.encode() + b'\0') for n in list(imports) + list(delayed) + list(exports) + [name]}
    data.extend(bytes(-len(data) % 8))
    imp = rva + len(data)
    for n in imports:
        put(struct.pack('<IIIII', 0, 0, 0, text[n], 0))
    put(bytes(20))
    dly = rva + len(data)
    for n in delayed:
        put(struct.pack('<IIIIIIII', 1, text[n], 0, 0, 0, 0, 0, 0))
    put(bytes(32))
    ptrs = put(b''.join(struct.pack('<I', text[n]) for n in exports))
    exp = put(struct.pack('<IIHHIIIIIII', 0, 0, 0, 0, text[name], 1, len(exports), len(exports), 0, ptrs, 0))
    dirs = [(exp, 40) if exports else (0, 0), (imp, 20)] + [(0, 0)] * 11 + [(dly if delayed else 0, 32)] + [(0, 0)] * 2
    sections = [(b'.rdata', rva, bytes(data))]
    if fat is not None:
        sections.append((b'.nv_fatb', 0x100000, fat))
    opt = struct.pack('<H', 0x20b).ljust(24, b'\0') + struct.pack('<Q', 0x180000000)
    opt = opt.ljust(108, b'\0') + struct.pack('<I', 16) + b''.join(struct.pack('<II', *d) for d in dirs)
    head = b'MZ'.ljust(0x3c, b'\0') + struct.pack('<I', 64)
    head += b'PE\0\0' + struct.pack('<HHIIIHH', machine, len(sections), 0, 0, 0, len(opt), 0x2022) + opt
    at = 0x400
    body = b''
    for n, addr, raw in sections:
        raw = raw.ljust((len(raw) + 511) & ~511, b'\0')
        head += n.ljust(8, b'\0') + struct.pack('<IIII', len(raw), addr, len(raw), at + len(body)) + bytes(16)
        body += raw
    return head.ljust(at, b'\0') + body


def note(text, owner=b'NVIDIA Corporation\0'):
    pad = bytes(-len(owner) % 4)
    return struct.pack('<III', len(owner), len(text), 0) + owner + pad + text + bytes(-len(text) % 4)
