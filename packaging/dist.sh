#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# dist.sh [FOLDER]: writes FOLDER/cuvet-VERSION.tar.gz (build/dist), the source tarball that every
# package is built from. In a clone it holds what git knows, in an unpacked tarball what came with
# it; the same sources give the same bytes.
set -eu
out=${1:-build/dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
LC_ALL=C
export LC_ALL

name=cuvet-$(cat VERSION)
epoch=$(sh packaging/epoch.sh)
list=$(mktemp)
trap 'rm -f "$list"' EXIT

if [ -e .git ]; then
	git ls-files
else
	# Nothing that was built or fetched, whatever it is called.
	find . \( -path ./build -o -path ./.dev -o -path ./debian -o -path ./.pc \) -prune \
		-o \( -type f -o -type l \) -print | sed 's,^\./,,'
fi | sort -u >"$list"

# Private keys never travel, not even by mistake.
if xargs -d '\n' grep -lE -e '^-----BEGIN ([A-Z]+ )?PRIVATE KEY' <"$list" | grep -v '^tests/' >&2; then
	echo "dist: a private key is among the files above" >&2
	exit 1
fi

tar --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u=rwX,go=rX \
	--transform="s,^,$name/,S" --no-recursion -T "$list" -cf - | gzip -9n >"$out/.$name.$$"
mv "$out/.$name.$$" "$out/$name.tar.gz"
echo "$out/$name.tar.gz"
