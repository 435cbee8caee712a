#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release asan
"""cuvet inspect over binaries made by hand: every kind of GPU code, archives, wheels, Windows files, damaged ones."""
import io
import json
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from binaries import (A, CUBIN, F, LTO, LZ4, OLD, PTX, ZSTD, ar, blob, elf, entry, fatbin, note, pe)  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.path.abspath(os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet')))
CODE = fatbin(blob(entry(PTX, 120), entry(CUBIN, 90, A | ZSTD), entry(CUBIN, 80, LZ4)),
              blob(entry(CUBIN, 100, F), entry(LTO, 75, OLD, header=128)))


class Case(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.dir = self.tmp.name

    def tearDown(self):
        self.tmp.cleanup()

    def put(self, name, data):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def run_cuvet(self, *args, code=0):
        p = subprocess.run([CUVET, 'inspect', *args], capture_output=True, check=False, timeout=120,
                           env={'LC_ALL': 'C', 'PATH': '/usr/bin:/bin', **{k: v for k, v in os.environ.items() if 'SAN' in k}})
        self.assertEqual(p.returncode, code, p.stderr.decode(errors='replace'))
        return p.stdout.decode()

    def files(self, *args):
        doc = json.loads(self.run_cuvet('--json', *args))
        self.assertEqual(doc['schema'], 'cuvet.binary/1')
        self.run_cuvet(*args)
        return doc['files']

    def one(self, name, data):
        files = self.files(self.put(name, data))
        self.assertEqual(len(files), 1)
        return files[0]


class Elf(Case):
    def test_the_fields_of_the_contract(self):
        f = self.one('libx.so.1', elf('libx.so.1', ['libcudnn.so.9', 'libc.so.6'], rpath='$ORIGIN:/opt', versions=[
            'GLIBC_2.2.5', 'GLIBC_2.28', 'GLIBCXX_3.4.9', 'GLIBCXX_3.4.30', 'CXXABI_1.3.13', 'CXXABI_TM_1', 'GLIBC_PRIVATE'],
            sections=[('.nv_fatbin', CODE)], records=[0]))
        self.assertEqual((f['kind'], f['machine'], f['soname']), ('shared-object', 'x86_64', 'libx.so.1'))
        self.assertEqual(f['needed'], ['libcudnn.so.9', 'libc.so.6'])
        self.assertEqual((f['rpath'], f['runpath']), (['$ORIGIN', '/opt'], []))
        self.assertEqual((f['glibc'], f['glibcxx'], f['cxxabi']), ('2.28', '3.4.30', '1.3.13'))
        self.assertEqual(f['cubins'], ['sm_80', 'sm_90a', 'sm_100f'])
        self.assertEqual((f['ptx'], f['lto']), (['compute_120'], ['lto_75']))
        self.assertEqual(f['linked'][0]['packing'], {'none': 2, 'lz4': 1, 'zstd': 1, 'other': 1})
        self.assertEqual((f['linked'][0]['blobs'], f['linked'][0]['registered']), (2, 1))
        self.assertIsNone(f['why'])

    def test_code_elsewhere_is_told_apart(self):
        data = bytes(40) + fatbin(blob(entry(CUBIN, 86)))
        for section in ('__nv_relfatbin', '.ldata', '.cask_resource', '.rodata'):
            f = self.one('libx.so', elf(sections=[(section, data if section != '__nv_relfatbin' else data[40:])]))
            self.assertEqual((f['cubins'], f['linked']), ([], []), section)
            self.assertEqual([(e['section'], e['cubins']) for e in f['elsewhere']], [(section, ['sm_86'])])

    def test_a_stub_section_beside_the_real_kernels(self):
        f = self.one('libcufft.so', elf(sections=[('.nv_fatbin', fatbin(blob(entry(CUBIN, 75)))),
                                                  ('.ldata', b'\1' * 6060 + b'\0' * 4 + fatbin(blob(entry(CUBIN, 90))))]))
        self.assertEqual((f['cubins'], f['elsewhere'][0]['cubins']), (['sm_75'], ['sm_90']))

    def test_e14_unknown_is_not_absent(self):
        f = self.one('libx.so', elf(sections=[('.nv_fatbin', fatbin(blob(entry(16, 120), entry(CUBIN, 80)), blob(
            entry(CUBIN, 90), version=7)))]))
        self.assertEqual(f['linked'][0]['unknown'], {'count': 2, 'kinds': [16], 'versions': [7]})
        self.assertEqual(f['cubins'], ['sm_80'])

    def test_e12_e11_sizes_that_lie(self):
        good = fatbin(blob(entry(CUBIN, 80)), blob(entry(CUBIN, 90)))
        for at, size, value in ((16 + 8, '<Q', 1 << 40), (8, '<Q', 1 << 63), (6, '<H', 3), (16 + 4, '<I', 1)):
            bad = bytearray(good)
            struct.pack_into(size, bad, at, value)
            f = self.one('libx.so', elf(sections=[('.nv_fatbin', bytes(bad))]))
            self.assertIn('.nv_fatbin', f['why'])

    def test_e13_payloads_are_never_read(self):
        f = self.one('libx.so', elf(sections=[('.nv_fatbin', fatbin(blob(*[entry(CUBIN, 80, ZSTD, bytes(1 << 20))] * 8)))]))
        self.assertEqual(f['linked'][0]['entries'], 8)
        self.assertLess(f['linked'][0]['bytes_read'], 8 * 64 + 1024)

    def test_objects_and_bare_code(self):
        f = self.one('k.o', elf(kind=1, sections=[('__nv_relfatbin', fatbin(blob(entry(CUBIN, 89))))]))
        self.assertEqual((f['kind'], f['elsewhere'][0]['cubins']), ('object', ['sm_89']))
        f = self.one('k.fatbin', fatbin(blob(entry(CUBIN, 89), entry(PTX, 89))))
        self.assertEqual((f['kind'], f['cubins'], f['ptx']), ('fatbin', ['sm_89'], ['compute_89']))

    def test_forward_compat_note(self):
        text = b'{"format":1,"CUDA version":"12.9","driver":[535,550]}'
        f = self.one('libcuda.so.1', elf('libcuda.so.1', sections=[('.note.cuda.fwd_compatibility', note(text))]))
        self.assertEqual(f['compat'], {'cuda': '12.9', 'drivers': ['535', '550'], 'why': None})

    def test_e8_notes_that_lie(self):
        for bad in (note(b'{'), note(b'[]'), b'\xff' * 40, b'', note(b'{}', b'x' * 2000)[:40]):
            f = self.one('libcuda.so.1', elf(sections=[('.note.cuda.fwd_compatibility', bad)]))
            self.assertTrue(f['compat']['why'], bad)

    def test_python_modules(self):
        for name, tag in (('_C.cpython-312-x86_64-linux-gnu.so', 'cpython-312'), ('_C.abi3.so', 'abi3'), ('libc10.so', None)):
            self.assertEqual(self.one(name, elf())['python'], tag)

    def test_e1_e3_e5_damaged(self):
        good = elf('libx.so', ['a'], sections=[('.nv_fatbin', CODE)])
        for cut in (0, 3, 4, 15, 40, 63, 64, 100, 200, len(good) - 1):
            f = self.one('libx.so', good[:cut])
            self.assertTrue(f['why'] or f['kind'] == 'shared-object')
        for at in list(range(16, 64)) + list(range(64, 176, 3)):
            for value in (0, 0xff):
                bad = bytearray(good)
                bad[at] = value
                self.one('libx.so', bytes(bad))

    def test_e15_named_for_what_it_is(self):
        for data, kind in ((b'/* GNU ld script */\nGROUP ( a.so )', 'linker-script'), (b'#!/bin/sh\n', 'script'), (b'', 'empty'),
                           (b'version https://git-lfs.github.com/spec/v1\noid x', 'text'), (b'\1\2\3\4\5\6', 'unknown')):
            f = self.one('libx.so', data)
            self.assertEqual((f['kind'], bool(f['why'])), (kind, True))


class Archives(Case):
    def test_members_and_long_names(self):
        obj = elf(kind=1, sections=[('__nv_relfatbin', fatbin(blob(entry(CUBIN, 80))))])
        # An odd size: the next member lies at an odd multiple of two, where its bundles are still found.
        members = [('readme', b'abc'), ('a.o', obj), ('a_very_long_name_of_an_object.o', obj + b'\0'), ('b.o', obj)]
        for bsd in (False, True):
            files = self.files(self.put('libx.a', ar(members, bsd)))
            self.assertEqual((files[0]['kind'], files[0]['members']), ('archive', 4))
            self.assertEqual([f['path'].split('!')[1] for f in files[1:]], [m[0] for m in members[1:]])
            self.assertEqual([f['elsewhere'][0]['cubins'] for f in files[1:]], [['sm_80']] * 3)

    def test_thin_and_damaged(self):
        self.assertEqual(self.one('libx.a', b'!<thin>\n' + bytes(60))['kind'], 'thin-archive')
        good = ar([('a.o', elf(kind=1)), ('a_very_long_name_of_an_object.o', elf(kind=1))])
        for cut in range(8, len(good), 37):
            self.files(self.put('libx.a', good[:cut]))
        self.assertTrue(self.files(self.put('libx.a', good[:100]))[0]['why'])
        self.assertTrue(self.files(self.put('libx.a', good.replace(b'/0  ', b'/99 ')))[0]['why'])

    def test_no_end_of_archives_in_archives(self):
        data = b'x'
        for _ in range(50):
            data = ar([('lib.a', data)])
        self.assertLess(len(self.files(self.put('libx.a', data))), 10)


class Windows(Case):
    def test_dll(self):
        f = self.one('torch_cuda.dll', pe(['cudart64_12.dll', 'KERNEL32.dll'], ['cudnn64_9.dll'], ['f', 'g'], fat=CODE))
        self.assertEqual((f['kind'], f['machine'], f['soname'], f['exports']), ('dll', 'x86_64', 'x.dll', 2))
        self.assertEqual((f['needed'], f['needed_delayed']), (['cudart64_12.dll', 'KERNEL32.dll'], ['cudnn64_9.dll']))
        self.assertEqual(f['cubins'], ['sm_80', 'sm_90a', 'sm_100f'])
        self.assertIsNone(f['why'])

    def test_python_module(self):
        self.assertEqual(self.one('_C.cp312-win_amd64.pyd', pe(exports=['PyInit__C']))['python'], 'cp312')

    def test_damaged(self):
        good = pe(['a.dll'], ['b.dll'], ['f'], fat=CODE)
        for cut in list(range(0, 0x400, 9)) + list(range(0x400, len(good), 401)):
            self.one('x.dll', good[:cut])
        for at in range(64, 0x400, 2):
            bad = bytearray(good)
            bad[at] ^= 0xff
            self.one('x.dll', bytes(bad))


class Packed(Case):
    def zip(self, name, members, method=zipfile.ZIP_DEFLATED):
        path = os.path.join(self.dir, name)
        with zipfile.ZipFile(path, 'w', method) as z:
            for n, d in members:
                z.writestr(n, d)
        return path

    def wheel_like(self, size):
        """A library of that size, most of it payload, with padding before the code and a header at each seam."""
        blobs = [blob(entry(CUBIN, 80, 0, b'\xAA' * (size // 40)), entry(CUBIN, 90, 0, b'\xBB' * (size // 50 - i * 7)))
                 for i in range(20)]
        return elf('libtorch_cuda.so', ['libcudart.so.12'], runpath='$ORIGIN', sections=[('.nv_fatbin', fatbin(*blobs))],
                   versions=['GLIBC_2.17'])

    def test_wheel(self):
        lib = self.wheel_like(100000)
        files = self.files(self.zip('t-1.0-cp312-cp312-linux_x86_64.whl', [('t/lib/libtorch_cuda.so', lib), ('t/METADATA', b'x')]))
        self.assertEqual((files[0]['kind'], files[0]['members']), ('wheel', 2))
        self.assertEqual(files[1]['path'], files[0]['path'] + '!t/lib/libtorch_cuda.so')
        self.assertEqual((files[1]['container'], files[1]['cubins']), (files[0]['path'], ['sm_80', 'sm_90']))
        self.assertEqual((files[1]['soname'], files[1]['glibc'], files[1]['resolved']), ('libtorch_cuda.so', '2.17', []))

    def test_large_members_are_sifted(self):
        lib = self.wheel_like(40 << 20)
        self.assertGreater(len(lib), 20 << 20)
        whole = self.one('libtorch_cuda.so', lib)
        for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            files = self.files(self.zip('t.whl', [('a.so', elf()), ('libtorch_cuda.so', lib), ('z.so', elf())], method))
            self.assertEqual(len(files), 4)
            for key in ('soname', 'needed', 'runpath', 'glibc', 'cubins', 'ptx', 'why'):
                self.assertEqual(files[2][key], whole[key], key)
            self.assertEqual(files[2]['linked'][0]['blobs'], 20)
            self.assertEqual(files[2]['linked'][0]['entries'], 40)

    def test_large_dll(self):
        dll = pe(['cudart64_12.dll'], exports=['f'], fat=fatbin(*[blob(entry(CUBIN, 86, 0, bytes(5 << 20)))] * 4))
        files = self.files(self.zip('t.whl', [('torch_cuda.dll', dll)]))
        self.assertEqual((files[1]['needed'], files[1]['cubins']), (['cudart64_12.dll'], ['sm_86']))

    def test_source_archive(self):
        for name, mode in (('s-1.tar.gz', 'w:gz'), ('s-1.tar.xz', 'w:xz'), ('s-1.tar', 'w')):
            path = os.path.join(self.dir, name)
            with tarfile.open(path, mode) as t:
                for n, d in (('s/setup.py', b'x'), ('s/prebuilt.so', elf('p.so', sections=[('.nv_fatbin', CODE)]))):
                    info = tarfile.TarInfo(n)
                    info.size = len(d)
                    t.addfile(info, io.BytesIO(d))
                link = tarfile.TarInfo('s/link.so')
                link.type, link.linkname = tarfile.SYMTYPE, '/etc/passwd'
                t.addfile(link)
            files = self.files(path)
            self.assertEqual((files[0]['kind'], files[0]['members']), ('sdist', 3))
            self.assertEqual([f['soname'] for f in files[1:]], ['p.so'])

    def test_a17_cut_off(self):
        good = open(self.zip('t.whl', [('a.so', elf()), ('b.so', elf('b.so', sections=[('.nv_fatbin', CODE)]))]), 'rb').read()
        for cut in range(4, len(good), 29):
            files = self.files(self.put('t.whl', good[:cut]))
            self.assertTrue(files[0]['why'])
        with tarfile.open(os.path.join(self.dir, 's.tar.gz'), 'w:gz') as t:
            info = tarfile.TarInfo('a.so')
            info.size = 5000
            t.addfile(info, io.BytesIO(elf().ljust(5000, b'\0')))
        good = open(os.path.join(self.dir, 's.tar.gz'), 'rb').read()
        self.assertTrue(self.files(self.put('s.tar.gz', good[:len(good) // 2]))[0]['why'])

    def test_a18_bomb(self):
        head = elf('bomb.so', sections=[('.nv_fatbin', CODE)])
        path = os.path.join(self.dir, 'bomb.whl')
        with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as z:
            with z.open('bomb.so', 'w', force_zip64=True) as f:
                f.write(head)
                for _ in range(300):
                    f.write(bytes(1 << 20))
        files = self.files(path)
        self.assertIn('bomb', files[0]['why'])

    def test_x7_hostile_names(self):
        out = self.run_cuvet(self.zip('t.whl', [('a\x1b[31m\u202e.so', elf('s\x1b]0;x\x07.so'))]))
        self.assertIsNone(re.search('[\x00-\x09\x0b-\x1f\x7f\x9b\u202e]', out))


class Running(Case):
    def test_pid_of_this_process(self):
        p = subprocess.Popen(['/bin/sleep', '60'])
        try:
            while os.path.realpath('/proc/%d/exe' % p.pid) != os.path.realpath('/bin/sleep'):
                pass
            # The libraries are mapped a moment after the program.
            end = time.monotonic() + 20
            while 'libc.so' not in open('/proc/%d/maps' % p.pid).read() and time.monotonic() < end:
                time.sleep(0.005)
            doc = json.loads(self.run_cuvet('--json', '--pid', str(p.pid)))
        finally:
            p.kill()
            p.wait()
        self.assertEqual(doc['process']['pid'], p.pid)
        states = {os.path.basename(m['path']): m['state'] for m in doc['process']['loaded']}
        self.assertEqual({v for k, v in states.items() if k.startswith('libc.so')}, {'same'})

    def test_a_copy_that_would_win_now(self):
        # The library that a process has is replaced in its search path by another one.
        src = self.put('m.c', b'int f(void);int main(void){f();for(;;)__builtin_ia32_pause();}')
        lib = self.put('f.c', b'int f(void){return 0;}')
        try:
            for d in ('one', 'two'):
                os.makedirs(self.dir + '/' + d)
                subprocess.run(['cc', '-shared', '-fPIC', '-o', self.dir + '/%s/libf.so' % d, lib, '-Wl,-soname,libf.so'], check=True,
                               capture_output=True)
            os.rename(self.dir + '/one/libf.so', self.dir + '/one/x')
            subprocess.run(['cc', '-o', self.dir + '/m', src, self.dir + '/two/libf.so',
                            '-Wl,-rpath,%s/one:%s/two' % (self.dir, self.dir)], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest('no compiler')
        p = subprocess.Popen([self.dir + '/m'])
        try:
            for _ in range(100000):
                if 'libf.so' in open('/proc/%d/maps' % p.pid).read():
                    break
            os.rename(self.dir + '/one/x', self.dir + '/one/libf.so')
            doc = json.loads(self.run_cuvet('--json', '--pid', str(p.pid)))
        finally:
            p.kill()
            p.wait()
        m = [x for x in doc['process']['loaded'] if x['path'].endswith('two/libf.so')][0]
        self.assertEqual((m['state'], m['expected']), ('other', self.dir + '/one/libf.so'))

    def test_usage(self):
        for args in ([], ['--pid', '0'], ['--pid', 'x'], ['--pid', '1', 'x'], ['--facts', 'x', 'y'], ['--format', 'sarif', 'x']):
            self.run_cuvet(*args, code=2)
        self.run_cuvet('/nonexistent/file', code=4)
        os.mkfifo(self.dir + '/fifo')
        self.run_cuvet(self.dir + '/fifo', code=4)
        self.run_cuvet(self.dir)


if __name__ == '__main__':
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    bad = len(result.failures) + len(result.errors)
    print('%d passed, %d failed, %d skipped' % (result.testsRun - bad - len(result.skipped), bad, len(result.skipped)))
    sys.exit(1 if bad else 0)
