#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deb.sh [SUITE]: builds the Debian package from the source tarball in a clean root of SUITE
# (bookworm), looks at it with lintian, and leaves it in build/deb. With the root at hand it then
# installs, upgrades and removes the package in another clean root and runs its autopkgtest there.
# Needs root and debootstrap.
set -eu
umask 022
cd "$(dirname "$0")/.."
LC_ALL=C
export LC_ALL
suite=${1:-bookworm}
out=$PWD/build/deb
work=${RELEASE_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/cuvet-release}
root=$work/deb-build test=$work/deb-test
version=$(cat VERSION)
SOURCE_DATE_EPOCH=$(sh packaging/epoch.sh)
export SOURCE_DATE_EPOCH

die() {
	echo "deb: $*" >&2
	exit 1
}

inside() { # root command...
	r=$1
	shift
	chroot "$r" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
		DEB_BUILD_OPTIONS="parallel=${JOBS:-2}" sh -ec "$*"
}

build() {
	tarball=$(sh packaging/dist.sh)
	sh packaging/clean-root.sh "$suite" "$root"
	mkdir -p "$root/build" "$out"
	rm -f "$out"/*
	cp "$tarball" "$root/build/cuvet_$version.orig.tar.gz"
	tar -C "$root/build" -xzf "$tarball"
	cp -r packaging/debian "$root/build/cuvet-$version/debian"
	(cd "$root/build/cuvet-$version/debian" && sh "$OLDPWD/packaging/fill.sh" control changelog)
	inside "$root" "apt-get -q update; cd /build/cuvet-$version
		apt-get -q install -y --no-install-recommends dpkg-dev build-essential
		apt-get -q build-dep -y --no-install-recommends ./
		dpkg-buildpackage -us -uc" >"$work/deb.log" 2>&1 || die "build: $work/deb.log"
	find "$root/build" -maxdepth 1 -type f -exec cp {} "$out/" \;
}

look() {
	command -v lintian >/dev/null || die "lintian is missing"
	lintian --allow-root --fail-on error,warning,info --suppress-tags \
		initial-upload-closes-no-bugs,bogus-mail-host,bad-distribution-in-changes-file \
		"$out/"*.changes || die "lintian"
}

# An upgrade comes from the same tree under a lower version.
older() {
	cp -a "$out/cuvet_$version-1_$arch.deb" "$test/new.deb"
	mkdir "$test/old"
	dpkg-deb -R "$test/new.deb" "$test/old"
	sed -i 's/^Version: .*/Version: 0.0.1-1/' "$test/old/DEBIAN/control"
	dpkg-deb -b --root-owner-group "$test/old" "$test/old.deb" >/dev/null
}

lifecycle() {
	arch=$(dpkg --print-architecture)
	sh packaging/clean-root.sh "$suite" "$test"
	older
	inside "$test" '
		apt-get -q update
		apt-get -q install -y --no-install-recommends /old.deb
		cuvet --version
		apt-get -q install -y --no-install-recommends /new.deb
		cuvet --version | grep -qx "cuvet '"$version"'"
		dpkg --verify cuvet
		cuvet check --no-live --assume gpu=T4 --assume driver=535 \
			--assume torch=2.5.1+cu121 --assume python=3.12
		dpkg --purge cuvet
		! command -v cuvet
		! find / -xdev -not -path "/proc/*" -name "*cuvet*" | grep -v "^/old" | grep .
		' >"$work/deb-test.log" 2>&1 || die "install, upgrade, remove: $work/deb-test.log"
	echo "deb: installs, upgrades and goes without a trace on $suite"
}

autopkg() {
	command -v autopkgtest >/dev/null || die "autopkgtest is missing"
	# With /proc, which bash wants for <(...); the mount ends with the name space.
	ln -sfn /proc/self/fd "$test/dev/fd"
	# shellcheck disable=SC2016
	unshare -m sh -ec 'mount -t proc proc "$1/proc"; root=$1; shift
		exec autopkgtest -q --no-built-binaries "$@" -- chroot "$root"' autopkgtest \
		"$test" "$out/cuvet_$version-1_"*.deb "$out/cuvet_$version-1.dsc" \
		--output-dir "$work/autopkgtest" >"$work/autopkgtest.log" 2>&1 ||
		die "autopkgtest: $work/autopkgtest.log"
	echo "deb: autopkgtest passes on $suite"
}

build
look
lifecycle
rm -rf "$work/autopkgtest"
autopkg
rm -rf "$root" "$test"
echo "deb: $(cd "$out" && ls ./*.deb)"
