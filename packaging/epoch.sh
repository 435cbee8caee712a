#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# epoch.sh: prints the second that everything of a release is dated with: SOURCE_DATE_EPOCH, else
# that of the commit, else (no git: an unpacked source tarball) that of the file VERSION, which
# dist.sh dated.
set -eu
cd "$(dirname "$0")/.."

if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
	echo "$SOURCE_DATE_EPOCH"
elif [ -e .git ] && git log -1 --format=%ct 2>/dev/null; then
	:
else
	stat -c %Y VERSION 2>/dev/null || stat -f %m VERSION
fi
