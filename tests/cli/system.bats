#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The system layer on this very machine: namespaces that the kernel makes for us, deadlines, and
# identities. What the kernel does not allow is skipped by name.

load ../lib.sh

# inside COMMAND...: as root of a user namespace with mounts of its own.
inside() {
	unshare --user --map-root-user --mount "$@"
}

setup() {
	unset LD_LIBRARY_PATH
}

# spaced COMMANDS ARGS...: runs the binary with ARGS in a namespace, after the commands.
# shellcheck disable=SC2016,SC2034 # the inner shell expands; $out is for the tests
spaced() {
	local before=$1
	shift
	OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
	status=0
	inside bash -c "$before"' && exec "$0" "$@"' "$CUVET" "$@" >"$OUT" 2>"$ERR" || status=$?
	out=$(tr '\0' '?' <"$OUT")
}

@test "a user namespace is seen, and its absence too" {
	need_userns
	spaced true snapshot
	# For root it is mapped to root, which is no sign of a container without root.
	[ "$(json 'd["facts"]["container"]["rootless"]["v"]')" = \
		"$([ "$(id -u)" -eq 0 ] && echo no || echo yes)" ] || fail "rootless"
	cuvet snapshot
	json 'd["facts"]["container"]["rootless"]["s"]' | grep -q uid_map || fail "source"
}

@test "driver files that are mounted one by one, and one whose source is gone, are told apart" {
	need_userns
	need_mount
	local dir=$BATS_TEST_TMPDIR/m
	mkdir "$dir" && touch "$dir"/{libcuda.so.510.73.05,libnvidia-ml.so.510.73.05,a,b}
	spaced "cd '$dir' && mount --bind a libcuda.so.510.73.05 && \
		mount --bind b libnvidia-ml.so.510.73.05 && rm a" snapshot
	json 'd["facts"]["container"]["mounted"]' >"$BATS_TEST_TMPDIR/mounted"
	json 'd["facts"]["container"]["deleted"]' >"$BATS_TEST_TMPDIR/deleted"
	grep -q libnvidia-ml "$BATS_TEST_TMPDIR/mounted" || fail "mounted"
	grep -q libcuda "$BATS_TEST_TMPDIR/deleted" || fail "deleted"
	! grep -q libnvidia-ml "$BATS_TEST_TMPDIR/deleted" || fail "not deleted"
}

@test "without a GPU on a bus that is seen the root cause is the GPU, whatever marks there are" {
	[ -n "$(ls -A /sys/bus/pci/devices 2>/dev/null)" ] || skip "no PCI bus"
	! cat /sys/bus/pci/devices/*/vendor | grep -q 10de || skip "a GPU is here"
	! grep -qi microsoft /proc/version || skip "WSL"
	[ ! -e /dev/kfd ] || skip "an AMD GPU is here"
	case ${NVIDIA_VISIBLE_DEVICES-unset} in void | none | "") skip "told to have none" ;; esac
	cuvet check --json
	[ "$(json 'd["root_cause"]["name"]')" = gpu-not-found ] || fail "root cause"
}

@test "V10: --timeout ends a driver that hangs" {
	local dir=${CUVET_STANDIN:-$CUVET_ROOT/build/standin} start end
	mkdir "$BATS_TEST_TMPDIR/libs"
	ln -s "$dir/libcuda.so" "$BATS_TEST_TMPDIR/libs/libcuda.so.1"
	ln -s "$dir/libnvidia-ml.so" "$BATS_TEST_TMPDIR/libs/libnvidia-ml.so.1"
	export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/libs
	export CUVET_STANDIN_SCRIPT="behave=loop;nvml.behave=loop"
	start=$(date +%s%N)
	cuvet check --timeout 1 --json
	end=$(date +%s%N)
	expect_out "no answer within 1 s from cuInit"
	# The rest of the run is not the driver's; on a busy machine it takes a while.
	[ $(((end - start) / 1000000)) -lt 4000 ] || fail "took $(((end - start) / 1000000)) ms"
}

@test "--timeout wants whole seconds" {
	local bad
	for bad in 0 601 1.5 -1 x ""; do
		cuvet check --timeout "$bad"
		if [ -n "$bad" ]; then
			expect_status 2
			expect_err_lines 1
		fi
	done
}

@test "an ordinary user is told what he may not read" {
	[ "$(id -u)" -eq 0 ] || skip "only root can become another"
	command -v setpriv >/dev/null || skip "no setpriv"
	[ "$(cat /proc/sys/kernel/dmesg_restrict)" = 1 ] || skip "everyone may read the kernel log"
	local copy=$BATS_TEST_TMPDIR/bin
	# Folders of bats that only root may pass; what lies in them stays unreadable but for the copy.
	chmod 711 "$BATS_RUN_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
	chmod 755 "$BATS_TEST_TMPDIR" && mkdir "$copy" && cp "$CUVET" "$copy/cuvet" && chmod -R a+rX "$copy"
	local path=$BATS_TEST_TMPDIR
	while [ "$path" != / ]; do
		[ -x "$path" ] && [ "$(stat -c %A "$path" | cut -c10)" != - ] || skip "$path is closed"
		path=$(dirname "$path")
	done
	OUT=$BATS_TEST_TMPDIR/out
	setpriv --reuid=65534 --regid=65534 --clear-groups "$copy/cuvet" snapshot >"$OUT" || true
	[ "$(json 'd["facts"]["parts"]["log"]["state"]')" = denied ] || fail "the log is not denied"
}
