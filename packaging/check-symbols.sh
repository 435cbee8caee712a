#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check-symbols.sh [-m VERSION] [-s] FILE...: does the program run where it is meant to? Fails with
# what it found: a symbol of a glibc newer than VERSION (2.28), a library beside those of glibc
# itself, a search path. -s: it has to be static, with no loader and no library at all.
set -eu
LC_ALL=C
export LC_ALL
max=2.28 static=
while getopts m:s o; do
	case $o in
	m) max=$OPTARG ;;
	s) static=yes ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { echo "usage: check-symbols.sh [-m VERSION] [-s] FILE..." >&2; exit 2; }

libraries='lib(c|m|pthread)\.so\.6|lib(dl)\.so\.2|libpthread\.so\.0|ld-linux-[a-z0-9-]+\.so\.[12]'

# Version needs that are above the limit, compared number by number. glibc's names alone: another
# library's versions come with the library, which is refused anyway.
newer() { # file
	readelf -VW "$1" | sed -n 's/.*Name: \(GLIBC_[0-9.]*\|GLIBC_ABI_[A-Z_]*\) .*/\1/p' | sort -u |
		awk -v max="$max" '
		/^GLIBC_ABI_/ { print; next }
		{
			n = split(substr($0, 7), v, "."); m = split(max, w, ".")
			for (i = 1; i <= n || i <= m; i++)
				if (v[i] + 0 != w[i] + 0) {
					if (v[i] + 0 > w[i] + 0)
						print
					next
				}
		}'
}

# Which symbols need the versions, for the message.
symbols() { # file version
	readelf --dyn-syms -W "$1" | sed -n "s/.* UND \\([^ ]*@$2\\)\\( .*\\)\\{0,1\\}\$/\\1/p" |
		tr '\n' ' '
}

rc=0
bad() {
	echo "check-symbols: $*" >&2
	rc=1
}

for f; do
	dynamic=$(readelf -dW "$f") || exit 2
	needed=$(printf '%s\n' "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	if printf '%s\n' "$dynamic" | grep -qE '\((RPATH|RUNPATH)\)'; then
		bad "$f: has a search path"
	fi
	if [ -n "$static" ]; then
		[ -z "$needed" ] || bad "$f: not static, needs $(echo "$needed" | tr '\n' ' ')"
		! readelf -lW "$f" | grep -q INTERP || bad "$f: not static, has a loader"
		continue
	fi
	for l in $needed; do
		printf '%s\n' "$l" | grep -qxE "$libraries" || bad "$f: needs $l"
	done
	for v in $(newer "$f"); do
		bad "$f: needs $v, at most GLIBC_$max is allowed: $(symbols "$f" "$v")"
	done
done
exit $rc
