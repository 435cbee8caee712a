#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# profiles: release
"""Every example of README*.md and docs/*.md is real: a code block whose first line is `$ cuvet ...` is run and compared.

UPDATE_GOLDEN=1 writes the present output into the documents instead. `...` as a line of the block stands for any lines; an
excerpt is renewed from the first line of each of its parts, and left alone, as a failure, where one is not found.
A block that needs this or that machine is not written in this form; of these, and of what stands within a sentence, the
command and its options are held to the program's own list.
"""
import glob
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUVET = os.path.abspath(os.environ.get('CUVET', os.path.join(ROOT, 'build', 'cuvet')))
UPDATE = os.environ.get('UPDATE_GOLDEN') == '1'
BLOCK = re.compile(r'```\n\$ (cuvet (?:.*\\\n)*.*)\n((?:.*\n)*?)```\n')


def output(command):
    command = command.replace('\\\n', ' ').replace('cuvet', '"$CUVET"', 1)
    env = {'PATH': os.environ['PATH'], 'CUVET': CUVET, 'LC_ALL': 'C.UTF-8', 'HOME': '/nonexistent', 'CUVET_NO_USER_DATA': '1'}
    p = subprocess.run(['sh', '-c', command], cwd=ROOT, env=env, capture_output=True, text=True, timeout=30, check=False)
    return p.stdout + p.stderr


def fits(want, got):
    """Is `got` the block `want`, in which a line `...` stands for any lines?"""
    parts = [re.escape(x) for x in re.split(r'(?m)^\.\.\.\n', want)]
    return re.fullmatch(r'(?:.*\n)*?'.join(parts), got) is not None


def renewed(want, got):
    """The block `want` with the lines of `got`; None when a part of an excerpt is nowhere in it."""
    lines, out, at = got.splitlines(), [], 0
    if '...\n' not in want:
        return got
    for part in re.split(r'(?m)^(\.\.\.)\n', want):
        old = part.splitlines()
        if part == '...' or not old:
            out += old
            continue
        if old[0] not in lines[at:]:
            return None
        at = lines.index(old[0], at)
        out += lines[at:at + len(old)]
        at += len(old)
    new = '\n'.join(out) + '\n'
    return new if fits(new, got) else None


def mentions(text):
    """Commands that are shown without being run: indented lines, and code within a sentence."""
    text = BLOCK.sub('', text)
    for m in re.finditer(r'(?m)^ {4,}(?:eval "\$\()?(cuvet(?: [^\n#]*)?)', text):
        yield m[1]
    for m in re.finditer(r'`(?:eval "\$\()?(cuvet(?:\s[^`]*)?)`', re.sub(r'(?s)```.*?```', '', text)):
        yield ' '.join(m[1].split())


def unknown(command, cli):
    """What of a command the program does not know; None."""
    command = re.split(r'\s*(?:;|\||>|&&)', command.replace('>=', '=='))[0]
    command = re.sub(r'\)"?$', '', command.strip())
    try:
        words = shlex.split(command)
    except ValueError:
        return 'quotes'
    options = {'--' + o['name'] for o in cli['shared']} | {'-h', '-V'}
    rest = words[1:]
    if rest and re.fullmatch('[a-z]+', rest[0]):
        found = [c for c in cli['commands'] if c['name'] == rest[0]]
        if not found:
            return rest[0]
        options |= {'--' + o['name'] for o in found[0]['options']}
        options |= {'-' + o['letter'] for o in found[0]['options'] if o['letter']}
    else:
        options |= {'--' + o['name'] for c in cli['commands'] if c['name'] == 'check' for o in c['options']}
    for w in rest:
        if re.match('--?[a-zA-Z]', w) and w.split('=')[0] not in options:
            return w
    return None


def main():
    n = failed = 0
    files = sorted(glob.glob(os.path.join(ROOT, 'README*.md'))) + sorted(glob.glob(os.path.join(ROOT, 'docs', '*.md')))
    cli = json.loads(output('cuvet --dump-cli'))
    for path in files:
        with open(path, encoding='utf-8') as f:
            text = f.read()
        new = text
        for m in BLOCK.finditer(text):
            n += 1
            got = output(m[1])
            ok = fits(m[2], got)
            fresh = renewed(m[2], got) if UPDATE and not ok else None
            if fresh:
                new = new.replace(m[0], '```\n$ %s\n%s```\n' % (m[1], fresh))
                ok = True
            failed += not ok
            print('%sok %d - %s: %s' % ('' if ok else 'not ', n, os.path.basename(path), m[1].split('\n')[0][:60]))
            if not ok:
                print(''.join('# ' + x + '\n' for x in got.split('\n')), end='')
        wrong = ['%s: %s' % (c, unknown(c, cli)) for c in mentions(new) if unknown(c, cli)]
        n += 1
        failed += bool(wrong)
        print('%sok %d - %s: what is shown without being run is a command' % (
            'not ' if wrong else '', n, os.path.basename(path)))
        print(''.join('# ' + x + '\n' for x in wrong), end='')
        if new != text:
            with open(path, 'w', encoding='utf-8') as f:
                f.write(new)
    print('1..%d' % n)
    if not n:
        print('Bail out! no example was found')
    return 1 if failed or not n else 0


if __name__ == '__main__':
    sys.exit(main())
