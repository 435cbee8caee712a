#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# image.sh: an image that holds the static program and nothing else, built with buildah from
# build/portable/cuvet-audit-x86_64 into build/image/cuvet.tar (an OCI archive), then run once.
# Equal programs give equal bytes of the layer (SOURCE_DATE_EPOCH).
set -eu
umask 022
cd "$(dirname "$0")/.."
program=build/portable/cuvet-audit-x86_64
version=$(cat VERSION)
epoch=$(sh packaging/epoch.sh)
command -v buildah >/dev/null || { echo "image: buildah is missing" >&2; exit 1; }
[ -e $program ] || { echo "image: make portable TARGETS=audit first" >&2; exit 1; }

mkdir -p build/image
box=$(buildah from scratch)
trap 'buildah rm "$box" >/dev/null' EXIT
buildah copy --chmod 755 "$box" $program /cuvet >/dev/null
buildah config --entrypoint '["/cuvet"]' --cmd check --label "version=$version" \
	--label licenses=Apache-2.0 "$box"
rm -f build/image/cuvet.tar
buildah commit -q --timestamp "$epoch" "$box" oci-archive:build/image/cuvet.tar:cuvet:"$version" \
	>/dev/null
# As a container would: nothing there but the program.
root=$(buildah mount "$box")
chroot "$root" /cuvet --version | grep -qx "cuvet $version"
# And the image is one that cuvet itself reads.
$program check build/image/cuvet.tar --assume gpu=T4 --assume driver=535 >/dev/null || [ $? -ne 4 ]
echo "image: build/image/cuvet.tar: $(wc -c <build/image/cuvet.tar) bytes"
