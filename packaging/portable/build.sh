#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# build.sh [--twice] [TARGET...]: builds the portable programs into build/portable, from the source
# tarball, in a root of Debian 11. TARGET is x86_64 (when none is named), aarch64 (cross-built) or
# audit (x86_64, static). --twice builds each in a second folder too and compares the bytes.
#
# Needs root, debootstrap and Debian's mirror. The root, the sources and the libraries are made once
# and kept in $RELEASE_WORK (~/.cache/cuvet-release); to start anew, remove that folder.
set -eu
umask 022
cd "$(dirname "$0")/../.."
LC_ALL=C
export LC_ALL

size_max=8388608
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
security=${DEBIAN_SECURITY:-http://deb.debian.org/debian-security}
work=${RELEASE_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/cuvet-release}
root=$work/root
in_root="chroot $root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin"
twice=
if [ "${1:-}" = --twice ]; then
	twice=yes
	shift
fi
[ $# -gt 0 ] || set -- x86_64

say() {
	echo "portable: $*"
}

die() {
	echo "portable: $*" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || die "needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || die "needs debootstrap"

inside() {
	$in_root HOME=/root LC_ALL=C TZ=UTC JOBS="${JOBS:-2}" SOURCE_DATE_EPOCH="$epoch" \
		sh /build/packaging/inside.sh "$@"
}

# The sources come from the newer releases, whose security support goes on; only the C library that
# they are compiled against has to be old.
make_root() {
	[ ! -e "$root/.ready" ] || return 0
	say "making the root $root"
	rm -rf "$root"
	mkdir -p "$work"
	debootstrap --variant=minbase bullseye "$root" "$mirror" >"$work/root.log" 2>&1 ||
		die "debootstrap failed: $work/root.log"
	{
		echo "deb $mirror bullseye main"
		for s in trixie trixie-updates bookworm; do
			echo "deb-src $mirror $s main"
		done
		for s in trixie-security bookworm-security; do
			echo "deb-src $security $s main"
		done
	} >"$root/etc/apt/sources.list"
	echo 'APT::Sandbox::User "root";' >"$root/etc/apt/apt.conf.d/sandbox"
	$in_root DEBIAN_FRONTEND=noninteractive sh -ec '
		apt-get -q update
		apt-get -q install -y --no-install-recommends gcc make libc6-dev linux-libc-dev \
			perl cmake dpkg-dev xz-utils bzip2 gettext musl-tools \
			gcc-aarch64-linux-gnu libc6-dev-arm64-cross' \
		>>"$work/root.log" 2>&1 || die "packages of the root: $work/root.log"
	: >"$root/.ready"
}

# unpack FOLDER: the source tarball as /build/tree/FOLDER of the root.
unpack() {
	rm -rf "$root/build/tree/$1"
	mkdir -p "$root/build/tree/$1"
	tar -xzf "$tarball" -C "$root/build/tree/$1" --strip-components=1
}

program() { # target
	case $1 in
	audit) name=cuvet-audit-x86_64 flags=-s ;;
	*) name=cuvet-$1 flags= ;;
	esac
	unpack "$1"
	inside program "$1" "/build/tree/$1" >"$work/$name.log" 2>&1 ||
		{ tail -n 20 "$work/$name.log" >&2; die "$name: $work/$name.log"; }
	made=$root/build/tree/$1/build/portable/$name
	# shellcheck disable=SC2086
	sh packaging/check-symbols.sh $flags "$made"
	size=$(wc -c <"$made")
	[ "$size" -le $size_max ] || die "$name has $size bytes, at most $size_max"
	if [ -n "$twice" ]; then
		again=another/folder/$1
		unpack "$again"
		inside program "$1" "/build/tree/$again" >"$work/$name.again.log" 2>&1 ||
			die "$name, again: $work/$name.again.log"
		cmp "$made" "$root/build/tree/$again/build/portable/$name" ||
			die "$name: another folder gives other bytes"
		say "$name: the same bytes from another folder"
	fi
	cp "$made" "build/portable/$name"
	say "build/portable/$name: $size bytes"
}

epoch=$(sh packaging/epoch.sh)
export SOURCE_DATE_EPOCH="$epoch"
tarball=$(sh packaging/dist.sh)
make_root
mkdir -p "$root/build" build/portable
rm -rf "$root/build/packaging"
cp -r packaging/portable "$root/build/packaging"
inside sources
for t; do
	if [ ! -e "$root/build/$t/.done" ]; then
		say "building the libraries for $t: $work/libraries-$t.log"
		inside libraries "$t" >"$work/libraries-$t.log" 2>&1 ||
			die "libraries: $work/libraries-$t.log"
	fi
	program "$t"
done
cp "$root/build/src/versions" build/portable/.sources
