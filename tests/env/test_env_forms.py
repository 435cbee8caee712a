#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""File formats of `cuvet env`, each read by the program that it is for, where that is here. Prints TAP.

A prefix with blanks, quotes, a dollar sign, glob characters and letters beyond ASCII has to come out as it is.
"""
import glob
import json
import os
import shutil
import string
import subprocess
import sys
import tempfile

ROOT = os.environ.get('CUVET_ROOT') or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.path.abspath(os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet')))
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden')
UPDATE = os.environ.get('UPDATE_GOLDEN') == '1'
ODD = "cuda o'dd \"q\" $HOME ${x} [a]* ? {b} ; & | \\ ` ~ # % ü한 !x"
TOP = tempfile.mkdtemp(prefix='cuvet-env-')
count = failed = 0


def report(name, problem=None, skip=None):
    global count, failed
    count += 1
    failed += bool(problem)
    print('%sok %d - %s%s' % ('not ' if problem else '', count, name, ' # skip ' + skip if skip else ''))
    if problem:
        for line in str(problem).split('\n')[:20]:
            print('# ' + line[:300])


def differs(got, want):
    return '' if got == want else 'want %r\n got %r' % (want, got)


def toolkit(name, man=False):
    prefix = os.path.join(TOP, name)
    for d in ['bin', 'lib64', 'include'] + (['share/man'] if man else []):
        os.makedirs(os.path.join(prefix, d), exist_ok=True)
    with open(os.path.join(prefix, 'bin', 'nvcc'), 'w', encoding='utf-8'):
        pass
    return prefix


def cuvet(*args, ok=True):
    p = subprocess.run([CUVET, 'env', *args], capture_output=True, text=True, check=False, timeout=30)
    if ok and (p.returncode or p.stderr):
        raise RuntimeError('%s: %d %s' % (args, p.returncode, p.stderr))
    return p.stdout if ok else p


def write(name, text):
    path = os.path.join(TOP, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8', newline='') as f:
        f.write(text)
    return path


def child_env(argv, script, env):
    """Variables that a child of this shell sees after the script."""
    env = {'PATH': '/usr/bin:/bin', 'HOME': TOP, 'LC_ALL': 'C.UTF-8', **env}
    p = subprocess.run(argv + [script + '\n/usr/bin/env -0'], env=env, capture_output=True, check=False, timeout=60)
    if p.returncode or p.stderr:
        raise RuntimeError('exit code %d: %s' % (p.returncode, p.stderr.decode('utf-8', 'replace')))
    return dict(x.split('=', 1) for x in p.stdout.decode('utf-8').split('\0') if '=' in x)


def wanted(prefix, ld='', path='/usr/bin:/bin'):
    return {'PATH': prefix + '/bin:' + path, 'LD_LIBRARY_PATH': prefix + '/lib64' + (':' + ld if ld else ''),
            'CUDA_HOME': prefix, 'CUDA_PATH': prefix}


def part(env, keys):
    return {k: env.get(k) for k in keys}


# -------- environment modules

def modules():
    prefix, man = toolkit(ODD), toolkit('plain', True)
    write('modules/cuda', cuvet('--format', 'modulefile', '--cuda', prefix))
    write('modules/man', cuvet('--format', 'modulefile', '--cuda', man))
    command = next(iter(glob.glob('/usr/lib/*/modulecmd.tcl') + glob.glob('/usr/share/modules/libexec/modulecmd.tcl')), None)
    command = os.environ.get('MODULECMD', command)
    if not command:
        report('environment-modules: load, unload', skip='needs environment-modules')
        return
    run = "m() { eval \"$(tclsh '%s' sh \"$@\")\"; }; " % command
    both = {'MODULEPATH': TOP + '/modules', 'LD_LIBRARY_PATH': '/own'}
    w = wanted(prefix, '/own')
    report('environment-modules: load', differs(part(child_env(['sh', '-c'], run + 'm load cuda', both), w), w))
    got = child_env(['sh', '-c'], run + 'm load cuda; m load cuda; m unload cuda', both)
    report('environment-modules: unload', differs(part(got, w), {'PATH': '/usr/bin:/bin', 'LD_LIBRARY_PATH': '/own',
                                                               'CUDA_HOME': None, 'CUDA_PATH': None}))
    got = child_env(['sh', '-c'], run + 'm load man', both)
    report('environment-modules: the manual keeps its own list', differs(got.get('MANPATH'), man + '/share/man:'))


def lmod():
    prefix = toolkit(ODD)
    write('lmod/cuda.lua', cuvet('--format', 'lmod', '--cuda', prefix))
    command = next((p for p in ('/usr/share/lmod/lmod/libexec/lmod', '/opt/lmod/lmod/libexec/lmod') if os.path.exists(p)), None)
    if not command:
        report('Lmod: load, unload', skip='needs lmod')
        return
    run = "m() { eval \"$('%s' bash \"$@\")\"; }; " % command
    both = {'MODULEPATH': TOP + '/lmod', 'LD_LIBRARY_PATH': '/own'}
    w = wanted(prefix, '/own')
    report('Lmod: load', differs(part(child_env(['bash', '-c'], run + 'm load cuda', both), w), w))
    for how in 'unload cuda', 'purge':
        got = child_env(['bash', '-c'], run + 'm load cuda; m ' + how, both)
        report('Lmod: ' + how, differs(part(got, w), {'PATH': '/usr/bin:/bin', 'LD_LIBRARY_PATH': '/own',
                                                     'CUDA_HOME': None, 'CUDA_PATH': None}))


# -------- systemd

def environment_d():
    generator = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator'
    prefix = toolkit(ODD)
    write('xdg/environment.d/50-cuda.conf', cuvet('--format', 'environment.d', '--cuda', prefix))
    if not os.path.exists(generator):
        report('environment.d: systemd\'s own generator', skip='needs systemd')
        return
    for own in None, '/own':
        env = {'PATH': '/usr/bin:/bin', 'HOME': TOP, 'XDG_CONFIG_HOME': TOP + '/xdg'}
        if own:
            env['LD_LIBRARY_PATH'] = own
        p = subprocess.run([generator], env=env, capture_output=True, text=True, check=False, timeout=30)
        # It prints assignments in the form of a shell.
        got = child_env(['sh', '-c'], 'set -a; . ' + write('generated', p.stdout), {'LD_LIBRARY_PATH': own or ''})
        w = wanted(prefix, own)
        report('environment.d: systemd\'s own generator, LD_LIBRARY_PATH %s' % ('set' if own else 'unset'),
               p.stderr or differs(part(got, w), w))


def systemd():
    prefix = toolkit(ODD)
    text = cuvet('--format', 'systemd', '--cuda', prefix)
    w = wanted(prefix, path='/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin')
    got = {}
    for line in text.split('\n'):
        if line.startswith('Environment="'):
            # Unquoted as systemd does it: backslashes, then specifiers.
            value = line[len('Environment="'):-1].replace('\\\\', '\0').replace('\\"', '"').replace('\0', '\\')
            name, value = value.split('=', 1)
            got[name] = value.replace('%%', '%')
    report('systemd: a unit\'s Environment=', differs(got, w))
    if shutil.which('systemd-analyze'):
        unit = write('units/cuvet-test.service', '[Unit]\nDescription=x\n' + text + 'ExecStart=/bin/true\n')
        p = subprocess.run(['systemd-analyze', 'verify', '--man=no', unit], capture_output=True, text=True, check=False, timeout=60)
        bad = [x for x in p.stderr.split('\n') if 'cuvet-test' in x and 'nvironment' in x]
        report('systemd: systemd-analyze verify', '\n'.join(bad))
    else:
        report('systemd: systemd-analyze verify', skip='needs systemd-analyze')


# -------- hooks of environments

def conda():
    prefix = toolkit(ODD)
    hook = os.path.join(TOP, 'conda/etc/conda/activate.d/cuda.sh')
    cuvet('--cuda', prefix, '--write', hook)
    off = hook.replace('/activate.d/', '/deactivate.d/')
    report('conda: --write makes both hooks', '' if os.path.exists(off) else 'no ' + off)
    for shell in 'bash', 'zsh', 'dash':
        if not shutil.which(shell):
            report('conda: hooks in ' + shell, skip='needs ' + shell)
            continue
        argv = [shell] + (['-f'] if shell == 'zsh' else []) + ['-c']
        start = {'LD_LIBRARY_PATH': ':/own:', 'CUDA_HOME': '/before'}
        w = wanted(prefix, '/own')
        report('conda: activate.d in ' + shell, differs(part(child_env(argv, '. "%s"' % hook, start), w), w))
        got = child_env(argv, '. "%s"; . "%s"' % (hook, off), start)
        report('conda: deactivate.d in ' + shell, differs(part(got, w), {
            'PATH': '/usr/bin:/bin', 'LD_LIBRARY_PATH': ':/own:', 'CUDA_HOME': '/before', 'CUDA_PATH': None}))
    cuvet('--remove', hook)
    report('conda: --remove takes both away', '' if not os.path.exists(hook) and not os.path.exists(off) else 'still there')


def venv():
    prefix = toolkit(ODD)
    env = os.path.join(TOP, 'venv')
    p = subprocess.run([sys.executable, '-m', 'venv', '--without-pip', env], capture_output=True, text=True, check=False, timeout=120)
    if p.returncode:
        report('venv', skip='needs the venv module of Python')
        return
    activate = env + '/bin/activate'
    with open(activate, encoding='utf-8') as f:
        before = f.read()
    cuvet('--cuda', prefix, '--write', activate)
    cuvet('--cuda', prefix, '--write', activate)
    for argv in ['bash', '-c'], ['zsh', '-f', '-c'], ['dash', '-c'], ['ksh93', '-c'], ['mksh', '-c']:
        if not shutil.which(argv[0]):
            report('venv: ' + argv[0], skip='needs ' + argv[0])
            continue
        w = wanted(prefix, '/own', env + '/bin:/usr/bin:/bin')
        start = {'LD_LIBRARY_PATH': '/own'}
        report('venv: activate in ' + argv[0], differs(part(child_env(argv, '. "%s"' % activate, start), w), w))
        got = child_env(argv, '. "%s"; deactivate' % activate, start)
        keys = list(w) + ['VIRTUAL_ENV', 'CUVET_ADD_PATH']
        report('venv: deactivate in ' + argv[0], differs(part(got, keys), {
            'PATH': '/usr/bin:/bin', 'LD_LIBRARY_PATH': '/own', 'CUDA_HOME': None, 'CUDA_PATH': None, 'VIRTUAL_ENV': None,
            'CUVET_ADD_PATH': None}))
    cuvet('--remove', activate)
    with open(activate, encoding='utf-8') as f:
        report('venv: --remove gives the file back', '' if f.read() == before else 'it differs')


def direnv():
    prefix = toolkit(ODD)
    write('direnv/.envrc', cuvet('--format', 'direnv', '--cuda', prefix))
    if not shutil.which('direnv'):
        report('direnv', skip='needs direnv')
        return
    here = os.path.join(TOP, 'direnv')
    env = {'PATH': '/usr/bin:/bin', 'HOME': TOP, 'LC_ALL': 'C.UTF-8', 'LD_LIBRARY_PATH': '/own'}
    subprocess.run(['direnv', 'allow', here], env=env, capture_output=True, check=False, timeout=30)
    p = subprocess.run(['direnv', 'exec', here, '/usr/bin/env', '-0'], env=env, capture_output=True, check=False, timeout=30)
    got = dict(x.split('=', 1) for x in p.stdout.decode('utf-8').split('\0') if '=' in x)
    w = wanted(prefix, '/own')
    report('direnv', differs(part(got, w), w))


# -------- continuous integration, editors, containers

def github():
    prefix = toolkit(ODD)
    files = {'GITHUB_ENV': TOP + '/gh.env', 'GITHUB_PATH': TOP + '/gh.path', 'LD_LIBRARY_PATH': '/own'}
    script = write('step.sh', cuvet('--format', 'github', '--cuda', prefix))
    child_env(['sh', '-eu', '-c'], '. ' + script, files)
    with open(files['GITHUB_ENV'], encoding='utf-8') as f:
        got = dict(x.split('=', 1) for x in f.read().split('\n') if x)
    with open(files['GITHUB_PATH'], encoding='utf-8') as f:
        got['PATH'] = ':'.join(reversed(f.read().split('\n')[:-1])) + ':/usr/bin:/bin'
    report('github: the two files of a step', differs(got, wanted(prefix, '/own')))


def gitlab():
    prefix = toolkit(ODD)
    text = cuvet('--format', 'gitlab', '--cuda', prefix)
    script = ''.join(json.loads(x[4:]) + '\n' for x in text.split('\n') if x.startswith('  - '))
    for own in {}, {'LD_LIBRARY_PATH': '/own'}:
        w = {k: v for k, v in wanted(prefix, own.get('LD_LIBRARY_PATH')).items() if 'PATH' in k and k != 'CUDA_PATH'}
        report('gitlab: before_script', differs(part(child_env(['sh', '-eu', '-c'], script, own), w), w))
    scalars = dict(x.strip().split(': ', 1) for x in text.split('\n') if x.startswith('  CUDA'))
    report('gitlab: variables', differs(json.loads(scalars['CUDA_HOME']).replace('$$', '$'), prefix))


def compose():
    prefix = toolkit(ODD)
    text = cuvet('--format', 'compose', '--cuda', prefix)
    got = dict(x.strip().split(': ', 1) for x in text.split('\n') if x.startswith('  ') and ': "' in x)
    got = {k: json.loads(v).replace('$$', '$') for k, v in got.items() if 'NVIDIA' not in k}
    w = wanted(prefix, path='/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin')
    report('compose: values', differs(got, w))


def editors():
    prefix = toolkit(ODD.replace('${x}', ''))
    doc = json.loads(cuvet('--format', 'vscode', '--cuda', prefix))['terminal.integrated.env.linux']
    w = wanted(prefix, path='${env:PATH}')
    report('vscode: settings', differs(doc, w))
    p = cuvet('--format', 'vscode', '--cuda', toolkit(ODD), ok=False)
    report('vscode: what it would fill in itself is refused', '' if p.returncode == 2 and p.stderr.count('\n') == 1 and not p.stdout else p)
    prefix = toolkit(ODD)
    doc = json.loads(cuvet('--format', 'jupyter', '--cuda', prefix))['env']
    got = {k: string.Template(v).safe_substitute({'PATH': '/usr/bin:/bin'}) for k, v in doc.items()}
    report('jupyter: kernel.json, filled in as jupyter_client does', differs(got, wanted(prefix)))


def dockerfile():
    prefix = toolkit(ODD)
    text = cuvet('--format', 'dockerfile', '--cuda', prefix, '--assume', 'gpu=A100')
    report('dockerfile: a check of the image with --assume', '' if "\nRUN cuvet check --assume 'gpu=A100'\n" in text else text)
    # The rules of the Dockerfile reference: \ before ", \ and $; ${x:+word}, ${x:-word}.
    for own in None, '/own':
        env = {'PATH': '/usr/bin:/bin', **({'LD_LIBRARY_PATH': own} if own else {})}
        script = ''.join('export ' + x[4:].replace('`', '\\`').replace('!', '!') + '\n' for x in text.split('\n') if x.startswith('ENV '))
        got = child_env(['dash', '-c'], script, env) if shutil.which('dash') else None
        w = {**wanted(prefix, own), 'NVIDIA_VISIBLE_DEVICES': 'all', 'NVIDIA_DRIVER_CAPABILITIES': 'compute,utility'}
        report('dockerfile: ENV lines, read with the same rules, LD_LIBRARY_PATH %s' % ('set' if own else 'unset'),
               differs(part(got, w), w) if got else '', None if got else 'needs dash')
    if not shutil.which('buildah'):
        report('dockerfile: a build with buildah', skip='needs buildah')
        return
    write('image/Dockerfile', 'FROM scratch\n' + ''.join(x + '\n' for x in text.split('\n') if x.startswith('ENV ')))
    p = subprocess.run(['buildah', '--storage-driver', 'vfs', 'bud', '-t', 'cuvet-test', TOP + '/image'], capture_output=True, text=True,
                       check=False, timeout=120)
    if p.returncode:
        report('dockerfile: a build with buildah', skip='buildah cannot build here')
        return
    p = subprocess.run(['buildah', '--storage-driver', 'vfs', 'inspect', '--type', 'image', 'cuvet-test'], capture_output=True, text=True,
                       check=True, timeout=60)
    report('dockerfile: a build with buildah', '' if 'CUDA_HOME=' + prefix in json.loads(p.stdout)['OCIv1']['config']['Env'] else p.stdout)


def loader_and_cmake():
    prefix = toolkit(ODD.replace('#', '').replace('=', ''))
    conf = write('l.conf', cuvet('--format', 'ldconf', '--cuda', prefix))
    ldconfig = shutil.which('ldconfig', path='/sbin:/usr/sbin:/bin:/usr/bin')
    if ldconfig:
        p = subprocess.run([ldconfig, '-X', '-v', '-f', conf, '-C', TOP + '/cache'], capture_output=True, text=True, check=False, timeout=60)
        report('ldconf: ldconfig reads it', '' if prefix + '/lib64:' in p.stdout else p.stdout + p.stderr)
    else:
        report('ldconf: ldconfig reads it', skip='needs ldconfig')
    if shutil.which('cmake'):
        prefix = toolkit(ODD.replace(';', ''))
        script = write('c.cmake', cuvet('--format', 'cmake', '--cuda', prefix) + 'file(WRITE "%s/out" "${CUDAToolkit_ROOT}")\n' % TOP)
        p = subprocess.run(['cmake', '-P', script], capture_output=True, text=True, check=False, timeout=60)
        with open(TOP + '/out', encoding='utf-8') as f:
            report('cmake: cmake -P reads it', p.stderr or differs(f.read(), prefix))
    else:
        report('cmake: cmake -P reads it', skip='needs cmake')


def shellcheck():
    if not shutil.which('shellcheck'):
        report('shellcheck', skip='needs shellcheck')
        return
    # A dollar sign between single quotes is what is meant (SC2016).
    prefix = toolkit("cuda o'dd \"q\" [a]* ; & | ~ # ü한 !x")
    for form in ['--shell', 'bash'], ['--shell', 'dash'], ['--shell', 'ksh'], ['--format', 'conda'], ['--format', 'github']:
        for more in [], ['--dev'], ['--unset'], ['--unset', '--cuda', prefix]:
            if 'github' in form and '--unset' in more:
                continue
            args = form + more + ([] if '--unset' in more else ['--cuda', prefix])
            p = subprocess.run(['shellcheck', '-s', form[1] if form[0] == '--shell' else 'sh', '-e', 'SC2129', '-'], input=cuvet(*args),
                               capture_output=True, text=True, check=False, timeout=60)
            report('shellcheck: %s' % ' '.join(form + [x for x in more if x != prefix]), p.stdout + p.stderr)


# -------- shells that are not here: quoted by their documented rules

def golden():
    root = os.path.join(TOP, 'root')
    prefix = "/opt/cuda o'dd ‘q’ $x [a]* %y% é"
    for d in 'bin', 'lib64', 'share/man':
        os.makedirs(root + prefix + '/' + d)
    with open(root + prefix + '/version.json', 'w', encoding='utf-8') as f:
        f.write('{"cuda":{"name":"CUDA SDK","version":"12.4.127"}}')
    for shell, args in [('nu', []), ('powershell', []), ('cmd', ['C:\\Program Files\\100% CUDA\\v12.4']),
                        ('powershell-windows', ['C:\\Program Files\\it\'s\\v12.4']), ('nu-unset', None), ('powershell-unset', None),
                        ('cmd-unset', None)]:
        call = ['--shell', shell.split('-')[0], '--root', root]
        call += ['--unset'] if args is None else ['--cuda', args[0] if args else prefix]
        p = subprocess.run([CUVET, 'env'] + call, capture_output=True, check=False, timeout=30)
        path = os.path.join(GOLDEN, shell + '.txt')
        if UPDATE:
            with open(path, 'wb') as f:
                f.write(p.stdout)
        with open(path, 'rb') as f:
            want = f.read()
        report('golden: ' + shell, '' if not p.returncode and p.stdout == want else 'differs from %s (make update-golden)' % path)


def main():
    try:
        for part_of in (modules, lmod, environment_d, systemd, conda, venv, direnv, github, gitlab, compose, editors, dockerfile,
                        loader_and_cmake, shellcheck, golden):
            try:
                part_of()
            except (OSError, ValueError, KeyError, RuntimeError, subprocess.SubprocessError) as e:
                report(part_of.__name__, repr(e))
    finally:
        shutil.rmtree(TOP)
    print('1..%d' % count)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
