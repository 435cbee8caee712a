#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# release.sh [STEP...]: all of a release, or the named steps of it, with a log in build/release/.
# The steps, in order: ready dist tests portable portable-runs data deb rpm arch image sums. Ends at
# the first that fails. docs/release.md says what each one does and needs. As root, for debootstrap.
set -u
cd "$(dirname "$0")/.." || exit 1
LC_ALL=C.UTF-8
export LC_ALL
version=$(cat VERSION)
out=build/release
mkdir -p $out
log=$PWD/$out/release.log
SOURCE_DATE_EPOCH=$(sh packaging/epoch.sh)
export SOURCE_DATE_EPOCH

all=(ready dist tests portable portable-runs data deb rpm arch image sums)
targets=(x86_64 audit aarch64)
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)

die() {
	echo "$*" >&2
	return 1
}

ready() {
	grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' VERSION || die "VERSION is no semantic version" || return
	[ "$(sed -n 's/^## //p' NEWS.md | head -n 1)" = "$version" ] ||
		die "NEWS.md does not begin with $version" || return
	[ ! -e .git ] || [ -z "$(git status --porcelain)" ] ||
		die "not committed: $(git status --porcelain | head -n 5)" || return
	openssl pkey -pubin -in data/keys/cuvet-data.pub -noout ||
		die "no public key for data" || return
	[ -z "${CUVET_DATA_KEY:-}" ] ||
		openssl pkey -in "$CUVET_DATA_KEY" -pubout | cmp - data/keys/cuvet-data.pub ||
		die "CUVET_DATA_KEY is not the private half of data/keys/cuvet-data.pub" || return
	for tool in debootstrap buildah lintian autopkgtest rpmbuild rpmlint python3 bats scdoc \
		msgfmt makepkg bsdtar zstd; do
		command -v $tool >/dev/null || die "$tool is missing" || return
	done
}

# The tarball gives the same bytes twice, also from its own tree, and builds where there is no git.
dist() {
	local tree=$out/tree first
	first=$(sh packaging/dist.sh) || return
	rm -rf $tree && mkdir -p $tree
	tar -xzf "$first" -C $tree --strip-components=1
	sh $tree/packaging/dist.sh $tree/build/dist >/dev/null || return
	cmp "$first" "$tree/build/dist/$(basename "$first")" || return
	make -C $tree --no-print-directory -j"${JOBS:-2}" install DESTDIR="$PWD/$out/installed" \
		PREFIX=/usr || return
	[ "$("$out/installed/usr/bin/cuvet" --version)" = "cuvet $version" ] || return
	rm -rf $tree $out/installed
}

tests() {
	make check
}

portable() {
	sh packaging/portable/build.sh --twice "${targets[@]}"
}

portable_runs() {
	local p=build/portable t
	bash packaging/portable/try.sh $p/cuvet-x86_64 || return
	bash packaging/portable/try.sh --static $p/cuvet-audit-x86_64 || return
	[ -n "$emulator" ] || die "no emulator for aarch64" || return
	bash packaging/portable/try.sh $p/cuvet-aarch64 "$emulator" || return
	# What is linked in does what the libraries do that are loaded.
	make --no-print-directory -j"${JOBS:-2}" standin || return
	for t in tests/fetch/test_archives.py tests/fetch/test_net.py tests/cli/test_data_net.py; do
		CUVET=$PWD/$p/cuvet-x86_64 python3 $t || return
	done
	CUVET=$PWD/$p/cuvet-x86_64 bats tests/cli/driver.bats tests/triage/triage.bats
}

deb() {
	sh packaging/deb.sh bookworm && sh packaging/deb.sh trixie
}

rpm() {
	sh packaging/rpm.sh
}

arch() {
	sh packaging/arch.sh
}

image() {
	sh packaging/image.sh
}

# The tables as an archive for `cuvet data update`, signed where the private key is.
data() {
	[ -n "${CUVET_DATA_KEY:-}" ] || { echo "no CUVET_DATA_KEY: no archive of data"; return 0; }
	mkdir -p build/data &&
		sh scripts/make-data-archive.sh "$CUVET_DATA_KEY" build/data/cuvet-data.json &&
		XDG_DATA_HOME=$PWD/build/data/home build/portable/cuvet-x86_64 data update \
			--allow-older --from build/data/cuvet-data.json
}

# What is given away, in one folder, with its sums.
sums() {
	local give=$out/cuvet-$version
	rm -rf "$give" && mkdir -p "$give"
	python3 packaging/portable/sbom.py build/portable >"build/portable/cuvet-$version.spdx.json" &&
		shopt -s nullglob &&
		cp build/dist/cuvet-"$version".tar.gz build/portable/cuvet-* build/deb/*.deb \
			build/rpm/RPMS/*.rpm build/data/cuvet-data.json* "$give/" || return
	(cd "$give" && sha256sum -- * >SHA256SUMS && sha256sum -c --quiet SHA256SUMS && ls -l)
}

wanted=("${@:-${all[@]}}")
: >"$log"
for step in "${wanted[@]}"; do
	function=${step//-/_}
	declare -F "$function" >/dev/null || { die "no such step: $step"; exit 2; }
	start=$SECONDS
	printf '== %s\n' "$step" >>"$log"
	if "$function" >>"$log" 2>&1; then
		printf 'ok    %-14s %5d s\n' "$step" $((SECONDS - start)) | tee -a "$log"
	else
		tail -n 15 "$log" >&2
		printf 'FAIL  %-14s %5d s  (%s)\n' "$step" $((SECONDS - start)) "$log" | tee -a "$log"
		exit 1
	fi
done
