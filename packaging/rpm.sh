#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# rpm.sh: builds the RPM from the source tarball into build/rpm, looks at it with rpmlint, and
# installs, upgrades and removes it below an empty root. Where this is not a system of RPMs, what is
# required is not looked up (the names are Fedora's): only that all of it builds is shown then.
set -eu
umask 022
cd "$(dirname "$0")/.."
out=$PWD/build/rpm
version=$(cat VERSION)
SOURCE_DATE_EPOCH=$(sh packaging/epoch.sh)
export SOURCE_DATE_EPOCH

die() {
	echo "rpm: $*" >&2
	exit 1
}

for tool in rpmbuild rpmlint rpm; do
	command -v $tool >/dev/null || die "$tool is missing"
done
tarball=$(sh packaging/dist.sh)
rm -rf "$out"
mkdir -p "$out/SOURCES" "$out/SPECS" "$out/root"
cp "$tarball" "$out/SOURCES/"
cp packaging/cuvet.spec "$out/SPECS/"
sh packaging/fill.sh "$out/SPECS/cuvet.spec"
nodeps=
[ -e /etc/redhat-release ] || [ -e /etc/SUSE-brand ] || nodeps=--nodeps

make_rpm() { # release
	rpmbuild $nodeps --define "_topdir $out" --define "release_number $1" \
		--define "_smp_mflags -j${JOBS:-2}" --define 'use_source_date_epoch_as_buildtime 1' \
		--define 'clamp_mtime_to_source_date_epoch 1' "-b$2" "$out/SPECS/cuvet.spec" >"$out/build-$1.log" 2>&1 || die "$out/build-$1.log"
}

make_rpm 1 a
# The next release of the same files, for the upgrade.
make_rpm 2 b
first=$(ls "$out"/RPMS/*/cuvet-"$version"-1*.rpm)
second=$(ls "$out"/RPMS/*/cuvet-"$version"-2*.rpm)
rpmlint -r packaging/cuvet.rpmlintrc "$out/SPECS/cuvet.spec" "$first" >"$out/rpmlint.log" 2>&1 || true
tail -n 1 "$out/rpmlint.log"
grep -q ' 0 errors' "$out/rpmlint.log" || { cat "$out/rpmlint.log" >&2; die "rpmlint"; }

# Debian's rpm wants to be told that this is meant.
force=
[ ! -e /etc/debian_version ] || force=--force-debian
in_root() {
	rpm --root "$out/root" --dbpath /var/lib/rpm $force "$@"
}
mkdir -p "$out/root/var/lib/rpm"
in_root -i --nodeps "$first"
"$out/root/usr/bin/cuvet" --version | grep -qx "cuvet $version" || die "does not run"
in_root -U --nodeps "$second"
[ "$(in_root -q cuvet --qf '%{release}' | cut -c1)" = 2 ] || die "upgrade"
in_root -V --nodeps cuvet || die "verify"
in_root -e --nodeps cuvet
left=$(find "$out/root" -name '*cuvet*')
[ -z "$left" ] || die "left after removing: $left"
rm "$second"
mv "$first" "$out/RPMS/"
echo "rpm: builds, installs, upgrades and goes without a trace: $(basename "$first")"
