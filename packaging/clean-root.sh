#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# clean-root.sh SUITE FOLDER: makes FOLDER a clean minimal root of a Debian release (bullseye,
# bookworm, trixie). The first one of a suite takes debootstrap; the next ones are copies of what is
# kept in $RELEASE_WORK (~/.cache/cuvet-release). Needs root.
set -eu
suite=$1 folder=$2
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
kept=${RELEASE_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/cuvet-release}/clean
mkdir -p "$kept"

if [ ! -e "$kept/$suite.tar" ]; then
	rm -rf "${kept:?}/$suite"
	debootstrap --variant=minbase "$suite" "$kept/$suite" "$mirror" >"$kept/$suite.log" 2>&1 || {
		echo "clean-root: debootstrap failed: $kept/$suite.log" >&2
		exit 1
	}
	tar -C "$kept/$suite" -cf "$kept/$suite.tar.new" .
	mv "$kept/$suite.tar.new" "$kept/$suite.tar"
	rm -rf "${kept:?}/$suite"
fi
rm -rf "$folder"
mkdir -p "$folder"
tar -C "$folder" -xf "$kept/$suite.tar"
echo 'APT::Sandbox::User "root";' >"$folder/etc/apt/apt.conf.d/sandbox"
