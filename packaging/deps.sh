#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh build|test|fuzz|bench|release: see to it that what the build, the tests, the benchmark or
# a release need is there. Debian 12, 13 and Ubuntu 22.04, 24.04 (and what is like them): looks
# first, and runs apt-get only for what is missing, as root or through sudo, saying so. Elsewhere it
# says what is missing and goes on if that is nothing. Needs nothing but sh and dpkg-query itself;
# asks nothing.
set -eu

usage() {
	echo "usage: packaging/deps.sh build|test|fuzz|bench|release" >&2
	exit 2
}

say() {
	echo "deps: $*" >&2
}

# One need a line: level, how to see it (cmd NAME | header FILE | python MODULE | deb NAME |
# modules NAME), the Debian package, and "must" or "may": without a "must" nothing can be built,
# without a "may" the tests that need it are skipped by name; without the last two of "build"
# `cuvet data update` cannot verify, or can take files alone.
needs() {
	cat <<-'END'
	build cmd cc gcc must
	build header stdio.h libc6-dev must
	build header cjson/cJSON.h libcjson-dev must
	build header yaml.h libyaml-dev must
	build header archive.h libarchive-dev may
	build header lzma.h liblzma-dev may
	build header pcre2.h libpcre2-dev must
	build header openssl/evp.h libssl-dev may
	build header curl/curl.h libcurl4-openssl-dev may
	build cmd msgfmt gettext may
	test header cmocka.h libcmocka-dev may
	test cmd bats bats may
	test cmd shellcheck shellcheck may
	test cmd pkg-config pkgconf may
	test cmd cppcheck cppcheck may
	test cmd clang clang may
	test cmd clang-tidy clang-tidy may
	test cmd python3 python3 may
	test cmd openssl openssl may
	test python jsonschema python3-jsonschema may
	test cmd openssl openssl may
	test cmd xz xz-utils may
	test cmd g++ g++ may
	test cmd git git may
	test deb ca-certificates ca-certificates may
	test cmd umoci umoci may
	test cmd skopeo skopeo may
	test cmd buildah buildah may
	test cmd zsh zsh may
	test cmd ksh93 ksh93u+m may
	test cmd mksh mksh may
	test cmd fish fish may
	test cmd tcsh tcsh may
	test cmd elvish elvish may
	test cmd xonsh xonsh may
	test cmd direnv direnv may
	test modules modulecmd environment-modules may
	test cmd tclsh tcl may
	test cmd nginx nginx-light may
	test cmd scdoc scdoc may
	test cmd xgettext gettext may
	fuzz cmd clang clang must
	fuzz deb libclang-rt-dev libclang-rt-dev may
	bench cmd hyperfine hyperfine may
	bench cmd /usr/bin/time time may
	release cmd debootstrap debootstrap may
	release cmd buildah buildah may
	release cmd qemu-aarch64-static qemu-user-static may
	release cmd lintian lintian may
	release cmd autopkgtest autopkgtest may
	release cmd dpkg-buildpackage dpkg-dev may
	release cmd rpmbuild rpm may
	release cmd rpmlint rpmlint may
	release cmd makepkg makepkg may
	release cmd bsdtar libarchive-tools may
	release cmd zstd zstd may
	release cmd ruby ruby may
	release cmd nix-instantiate nix-bin may
	END
}

wanted() {
	case $level in
	build) needs | grep '^build ' ;;
	test) needs | grep -E '^(build|test) ' ;;
	fuzz) needs | grep -E '^(build|fuzz) ' ;;
	bench) needs | grep -E '^(build|bench) ' ;;
	release) needs | grep -E '^(build|test|release) ' ;;
	esac
}

# Is the need met? Headers and modules are looked for where they lie, which is instant.
met() { # kind name
	case $1 in
	cmd) command -v "$2" >/dev/null 2>&1 ;;
	header)
		for d in /usr/include /usr/include/*-linux-gnu /usr/local/include; do
			[ -e "$d/$2" ] && return 0
		done
		# A compiler may know other places.
		command -v cc >/dev/null 2>&1 &&
			echo "#include <$2>" | cc -E -x c - >/dev/null 2>&1
		;;
	python)
		for d in /usr/lib/python3/dist-packages /usr/local/lib/python3*/dist-packages; do
			[ -e "$d/$2" ] && return 0
		done
		command -v python3 >/dev/null 2>&1 && python3 -c "import $2" 2>/dev/null
		;;
	modules)
		# Lmod does as well, and apt-get would put the one in the place of the other.
		[ -e /usr/share/lmod ] || [ -e /usr/share/modules ]
		;;
	deb)
		! command -v dpkg-query >/dev/null 2>&1 ||
			dpkg-query -W -f '${Status}' "$2" 2>/dev/null | grep -q ' installed$'
		;;
	esac
}

# Prints the unmet needs of this level: "package must|may", one a line.
missing() {
	wanted | while read -r _ kind name package force; do
		met "$kind" "$name" || echo "$package $force"
	done
}

apt_like() {
	command -v apt-get >/dev/null 2>&1 && command -v dpkg-query >/dev/null 2>&1
}

# apt-get as root, so that it asks nothing; $sudo is "", "sudo" or "sudo -n".
apt() { # arguments of apt-get
	# shellcheck disable=SC2086
	$sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -o Acquire::Retries=3 \
		-o DPkg::Lock::Timeout=300 "$@" </dev/null >"$log" 2>&1
}

install() { # packages
	apt install -y --no-install-recommends "$@"
}

# apt-cache knows a package only once the lists are there.
known() {
	apt-cache show "$1" 2>/dev/null | grep -q '^Package:'
}

# Drops the optional packages that this release does not have.
available() {
	for p in "$@"; do
		if known "$p" || printf '%s\n' "$must" | grep -qx "$p"; then
			echo "$p"
		fi
	done
}

[ $# -eq 1 ] || usage
level=$1
case $level in build | test | fuzz | bench | release) ;; *) usage ;; esac

lack=$(missing)
[ -n "$lack" ] || exit 0
packages=$(printf '%s\n' "$lack" | cut -d' ' -f1)
must=$(printf '%s\n' "$lack" | sed -n 's/ must$//p')
names=$(printf '%s' "$packages" | tr '\n' ' ')

give_up() { # reason
	say "$1; missing: $names"
	if [ -n "$must" ]; then
		# shellcheck disable=SC2086
		say "nothing can be built without" $must
		exit 1
	fi
	say "going on; what needs them is skipped"
	exit 0
}

apt_like || give_up "no apt-get here, install these (Debian's names) with your package manager"

sudo=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		give_up "not root and no sudo; as root: apt-get install $names"
	elif [ -t 2 ] && [ "${CI:-}" = "" ]; then
		sudo=sudo
		sudo -v || give_up "sudo refused"
	elif sudo -n true 2>/dev/null; then
		sudo="sudo -n"
	else
		give_up "not root, and sudo would ask for a password"
	fi
fi

how="${sudo:+$sudo }apt-get"
[ -n "$sudo" ] || how="apt-get (as root)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for p in $packages; do
	if ! known "$p"; then
		say "running $how update"
		apt update || say "$how update failed"
		break
	fi
done

# shellcheck disable=SC2086
packages=$(available $packages)
[ -n "$packages" ] || exit 0
packages=$(printf '%s' "$packages" | tr '\n' ' ')
say "installing with $how: $packages"
# A stale package list names files that are gone: one more try with a new list.
# shellcheck disable=SC2086
if ! install $packages; then
	apt update || true
	if ! install $packages; then
		tail -n 15 "$log" >&2
		give_up "apt-get failed"
	fi
fi

lack=$(missing)
must=$(printf '%s\n' "$lack" | sed -n 's/ must$//p')
if [ -n "$must" ]; then
	names=$must
	give_up "installed, and yet not found"
fi
