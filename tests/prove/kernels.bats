#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# profiles: release
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

# assemble PTXAS ARCHS ISA: every module of at most that ISA for those of the list that it serves.
assemble() {
	local name target ptx last arch first n=0
	while read -r name _ target ptx last _; do
		first=${target#sm_}
		[ "$ptx" -le "$3" ] || continue
		for arch in $2; do
			case $first in
			*a)
				[ "$arch" = "${first%a}" ] || continue
				arch=$first
				;;
			*)
				[ "$arch" -ge "$first" ] || continue
				[ "$arch" -le "$last" ] || continue
				;;
			esac
			"$1" -arch="sm_$arch" "$CUVET_ROOT/kernels/$name.ptx" -o "$BATS_TEST_TMPDIR/x" \
				>"$BATS_TEST_TMPDIR/err" 2>&1 || fail "$name for $arch: $(cat "$BATS_TEST_TMPDIR/err")"
			[ ! -s "$BATS_TEST_TMPDIR/err" ] || fail "$name for $arch: $(cat "$BATS_TEST_TMPDIR/err")"
			n=$((n + 1))
		done
	done < <(modules)
	[ "$n" -ge 10 ] || fail "only $n assembled"
}

@test "kernels: assemble for 7.5 to 12.1 without a word (ptxas 13)" {
	local ptxas
	ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
	[ -x "$ptxas" ] || skip "no ptxas"
	"$ptxas" --version | grep -q 'release 13' || skip "no ptxas of CUDA 13"
	assemble "$ptxas" "75 80 86 87 88 89 90 100 103 110 120 121" 90
}

@test "kernels: assemble for 5.0 to 9.0 without a word (ptxas 11.8)" {
	local old=${PTXAS_OLD:-$CUVET_ROOT/build/ptxas-old/ptxas}
	# Some 80 MB under NVIDIA's licence: fetched for CI, else by hand.
	if [ ! -x "$old" ] && [ "${CI-}" = true ]; then
		"$CUVET_ROOT/scripts/get-ptxas.sh" >"$BATS_TEST_TMPDIR/log" 2>&1 || skip "$(tail -n 1 "$BATS_TEST_TMPDIR/log")"
	fi
	[ -x "$old" ] || skip "no older ptxas: scripts/get-ptxas.sh fetches it"
	# What it does not know of (fp8, wgmma) is for GPUs that ptxas 13 covers.
	assemble "$old" "50 52 53 60 61 62 70 72 75 80 86 87 89 90" 78
}

@test "kernels: machine code is there for every target of nvcc and every module that it runs" {
	local nvcc target
	nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
	[ -x "$nvcc" ] || skip "no nvcc"
	sh "$CUVET_ROOT/scripts/build-sass.sh" "$BATS_TEST_TMPDIR/sass.c" "$BATS_TEST_TMPDIR/sass" "$nvcc" 2>"$BATS_TEST_TMPDIR/err"
	[ ! -s "$BATS_TEST_TMPDIR/err" ] || fail "$(head -3 "$BATS_TEST_TMPDIR/err")"
	for target in $("$nvcc" --list-gpu-code | sed -n 's/^sm_//p'); do
		grep -q "{ .image = \"base_sm50\", .cc = $target, " "$BATS_TEST_TMPDIR/sass.c" || fail "base for $target"
		grep -q "{ .image = \"tensor_sm[0-9]*\", .cc = $target, " "$BATS_TEST_TMPDIR/sass.c" || fail "tensor for $target"
	done
	grep -q '{ .image = "tensor_sm90a", .cc = 90, ' "$BATS_TEST_TMPDIR/sass.c" || fail "no wgmma"
	! grep -q '{ .image = "tensor_sm90a", .cc = 100, ' "$BATS_TEST_TMPDIR/sass.c" || fail "wgmma for 10.0"
	# Without nvcc the list is empty, and a program that has it links.
	sh "$CUVET_ROOT/scripts/build-sass.sh" "$BATS_TEST_TMPDIR/none.c" "$BATS_TEST_TMPDIR/none"
	grep -q 'sass_cuda = 0' "$BATS_TEST_TMPDIR/none.c" || fail "no nvcc, yet a version"
	cc -I"$CUVET_ROOT/src" -c "$BATS_TEST_TMPDIR/none.c" -o "$BATS_TEST_TMPDIR/none.o"
}
