#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fill.sh FILE...: replaces in place what a packaging file says between @: the version (the file
# VERSION alone has it), the date in the forms that packages want, the packager (DEBFULLNAME and
# DEBEMAIL, as Debian has it), the SHA-256 of the source tarball ($TARBALL) and where it can be had
# ($SOURCE_URL; where nothing is said: that file).
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
version=$(cat "$here/VERSION")
epoch=$(sh "$here/packaging/epoch.sh")
debian_date=$(LC_ALL=C TZ=UTC date -d "@$epoch" '+%a, %d %b %Y %H:%M:%S +0000')
rpm_date=$(LC_ALL=C TZ=UTC date -d "@$epoch" '+%a %b %d %Y')
who="${DEBFULLNAME:-The cuvet developers} <${DEBEMAIL:-cuvet@packages.invalid}>"
sum=$([ -z "${TARBALL:-}" ] || sha256sum "$TARBALL" | cut -d' ' -f1)

sed -i -e "s|@VERSION@|$version|g" -e "s|@DATE@|$debian_date|g" -e "s|@RPM_DATE@|$rpm_date|g" \
	-e "s|@WHO@|$who|g" -e "s|@SHA256@|$sum|g" \
	-e "s|@URL@|${SOURCE_URL:-file://${TARBALL:-}}|g" "$@"
