#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profiles: release
# timeout: 300
#
# The PTX that is checked in: it is what its sources give, says the ISA version and the target that
# kernels/modules.list wants, and assembles for every architecture that it claims.

load ../lib.sh

modules() {
	sed -e '/^#/d' -e '/^$/d' "$CUVET_ROOT/kernels/modules.list"
}

@test "kernels: the checked-in PTX is what the sources give" {
	command -v "${CLANG_PTX:-clang-19}" >/dev/null || skip "no clang-19"
	sh "$CUVET_ROOT/scripts/build-kernels.sh" "$BATS_TEST_TMPDIR"
	for f in "$CUVET_ROOT"/kernels/*.ptx; do
		cmp "$f" "$BATS_TEST_TMPDIR/${f##*/}" || fail "stale: ${f##*/}; make kernels"
	done
}

@test "kernels: each module has the lowest ISA version that serves, and its target" {
	local name target ptx
	while read -r name _ target ptx _; do
		grep -qx ".version ${ptx%?}.${ptx#?}" "$CUVET_ROOT/kernels/$name.ptx" || fail "$name: version"
		grep -qx ".target $target" "$CUVET_ROOT/kernels/$name.ptx" || fail "$name: target"
	done < <(modules)
	# What every driver of a Maxwell card compiles.
	[ "$(head -4 "$CUVET_ROOT/kernels/base_sm50.ptx" | tail -1)" = ".version 4.0" ]
}

# assemble PTXAS ARCHS: every module for those of the list that it serves.
assemble() {
	local name target arch first
	while read -r name _ target _; do
		first=${target#sm_}
		for arch in $2; do
			case $first in
			90a)
				[ "$arch" = 90 ] || continue
				arch=90a
				;;
			*) [ "$arch" -ge "$first" ] || continue ;;
			esac
			"$1" -arch="sm_$arch" "$CUVET_ROOT/kernels/$name.ptx" -o "$BATS_TEST_TMPDIR/x" \
				2>"$BATS_TEST_TMPDIR/err" || fail "$name for $arch: $(cat "$BATS_TEST_TMPDIR/err")"
		done
	done < <(modules)
}

@test "kernels: assemble for 7.5 to 12.0 (ptxas 13)" {
	local ptxas
	ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
	[ -x "$ptxas" ] || skip "no ptxas"
	"$ptxas" --version | grep -q 'release 13' || skip "no ptxas of CUDA 13"
	assemble "$ptxas" "75 80 86 87 88 89 90 100 103 110 120 121"
}

@test "kernels: assemble for 5.0 to 7.2 (ptxas 11.8)" {
	[ -x "${PTXAS_118:-}" ] || skip "PTXAS_118 names no ptxas of CUDA 11.8"
	assemble "$PTXAS_118" "50 52 53 60 61 62 70 72 75 80 86 87 89 90"
}
