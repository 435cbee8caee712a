#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The interface of libcuvet is what src/api/libcuvet.abi says: exported names with their versions,
# the soname, what the library loads, and every declaration of its header. UPDATE_GOLDEN=1 writes
# the present state into that file; a line that goes or changes is a new soname, a new line is not.
. "$(dirname "$0")/tap.sh"

tap_need readelf
lib=build/lib/libcuvet.so
[ -e $lib ] || { tap "$lib" "not built"; tap_end; }
abi=src/api/libcuvet.abi

# shellcheck disable=SC2086
now() {
	readelf -dW $lib | sed -n 's/.*(SONAME).*\[\(.*\)\]/soname \1/p'
	readelf -dW $lib | sed -n 's/.*(NEEDED).*\[\(.*\)\]/needs \1/p' |
		grep -vE 'ld-linux|lib(dl|m)\.so' | sort
	nm -D --defined-only --with-symbol-versions $lib | awk '{ print "exports", $NF }' | sort
	echo '#include <cuvet.h>' | ${CC:-cc} -E -P -D'__attribute__(x)=' -Iinclude -x c - |
		tr '\n' ' ' | sed -e 's/\([;}]\)/\1\n/g' | tr -s ' \t' ' ' |
		sed -e 's/^ //' -e 's/ *$//' | grep cuvet
}

if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
	now >$abi
fi
tap "the interface is that of $abi" "$(diff <(now) $abi)"
tap "nothing else is exported" "$(nm -D --defined-only $lib | awk '{ print $NF }' |
	grep -vE '^(cuvet_[a-z_]+(@.*)?|CUVET_0(\.[0-9]+)?(@.*)?)$')"
tap "the archive has no other global name" \
	"$(nm -g --defined-only build/lib/libcuvet.a | awk 'NF == 3 { print $3 }' |
		grep -v '^cuvet_')"
prints='[fvd]*printf|f?put[sc]|putchar|fwrite|perror|stdout|stderr|(quick_)?exit'
# The border: no way to print or to end the process is in it but the arena's own, which the library
# never takes, and that of forked children.
tap "the library calls nothing that prints" \
	"$(nm -D --undefined-only $lib | awk '{ print $NF }' | sed -e 's/@.*//' -e 's/^__//' \
		-e 's/_chk$//' | grep -xE "$prints")"
tap "the text of include/cuvet.h and the map agree" \
	"$(diff <(sed -n 's/^CUVET_API .*[ *]\(cuvet_[a-z_]*\)(.*/\1/p' include/cuvet.h | sort) \
		<(sed -n 's/^\t\(cuvet_[a-z_]*\);/\1/p' src/api/libcuvet.map | sort))"
tap_end
