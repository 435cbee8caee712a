#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# get-ptxas.sh [DIR]: the ptxas of CUDA 11.8 or 12, which still knows Maxwell to Volta, out of
# Debian's nvidia-cuda-toolkit (non-free), to DIR/ptxas (default build/ptxas-old). Nothing is
# installed and apt's own configuration stays as it is: lists and the package go to a folder that is
# removed. By hand, since it fetches 80 MB under a licence of its own; with CI=true the tests do it.
set -eu
cd "$(dirname "$0")/.."
to=${1:-build/ptxas-old}
[ ! -x "$to/ptxas" ] || exit 0

give_up() {
	echo "get-ptxas: $*" >&2
	exit 1
}

for tool in apt-get dpkg-deb; do
	command -v "$tool" >/dev/null || give_up "needs $tool"
done
# shellcheck disable=SC2016 # apt's own variables
# The archive that this system's main component comes from.
archive=$(apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(REPO_URI) $(RELEASE)' |
	awk '$1 == "Packages" && $2 == "main" { print $3, $4; exit }')
[ -n "$archive" ] || give_up "apt names no archive with a main component"
keys=$(find /usr/share/keyrings -name 'debian-archive-keyring.*' 2>/dev/null | sort | tail -n 1)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/x"
echo "deb ${keys:+[signed-by=$keys] }$archive non-free" >"$tmp/sources.list"
apt() {
	apt-get -q -o Dir::Etc::sourcelist="$tmp/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::Lists="$tmp/lists" -o Dir::Cache="$tmp/cache" -o Acquire::Retries=3 \
		-o APT::Sandbox::User=root "$@" </dev/null >"$tmp/log" 2>&1
}
apt update || give_up "$(tail -n 3 "$tmp/log")"
(cd "$tmp" && apt download nvidia-cuda-toolkit) || give_up "$(tail -n 3 "$tmp/log")"
dpkg-deb --fsys-tarfile "$tmp"/nvidia-cuda-toolkit_*.deb | tar -x -C "$tmp/x" ./usr/bin/ptxas ||
	give_up "the package holds no ptxas"
mkdir -p "$to"
mv "$tmp/x/usr/bin/ptxas" "$to/ptxas"
"$to/ptxas" --version | tail -n 2 | head -n 1
