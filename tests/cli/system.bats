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
	[ $(((end - start) / 1000000)) -lt 20000 ] || fail "took $(((end - start) / 1000000)) ms"
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

# reachable: skips unless other users can reach what this test makes; $copy is a binary for them.
reachable() {
	local path=$BATS_TEST_TMPDIR
	[ "$(id -u)" -eq 0 ] || skip "only root can become another"
	command -v setpriv >/dev/null || skip "no setpriv"
	copy=$BATS_TEST_TMPDIR/bin/cuvet
	chmod 755 "$BATS_TEST_TMPDIR" && mkdir -p "${copy%/*}" && cp "$CUVET" "$copy"
	chmod -R a+rX "${copy%/*}"
	while [ "$path" != / ]; do
		[ "$(stat -c %A "$path" | cut -c10)" != - ] || skip "$path is closed"
		path=$(dirname "$path")
	done
}

# node NAME FIELD: of a device node in the snapshot.
node() {
	json "{n['name']['v']: n['$2'].get('v') for n in d['facts']['nodes']}.get('$1')"
}

@test "a network namespace alone is no container" {
	need_userns
	unshare -Urn true 2>/dev/null || skip "needs network namespaces"
	cuvet snapshot
	local before
	before=$(json 'd["facts"]["container"]["kind"]["v"]')
	OUT=$BATS_TEST_TMPDIR/out
	unshare -Urn "$CUVET" snapshot >"$OUT"
	[ "$(json 'd["facts"]["container"]["kind"]["v"]')" = "$before" ] || fail "kind"
}

@test "an engine's mark is seen on a real mount" {
	need_userns
	need_mount
	spaced "mount -t tmpfs none /run && touch /run/.containerenv" snapshot
	[ "$(json 'd["facts"]["container"]["kind"]["v"]')" = podman ] || fail "kind"
	[ "$(json 'd["facts"]["container"]["marker"]["v"]')" = /run/.containerenv ] || fail "marker"
}

@test "a user namespace that a plain user made is one without root" {
	reachable
	setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur true 2>/dev/null ||
		skip "plain users may not make user namespaces"
	OUT=$BATS_TEST_TMPDIR/out
	setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Ur "$copy" snapshot >"$OUT"
	[ "$(json 'd["facts"]["container"]["rootless"]["v"]')" = yes ] || fail "rootless"
}

@test "plain files in the nodes' places are no devices" {
	need_userns
	need_mount
	spaced "mount -t tmpfs none /dev && touch /dev/nvidia0 /dev/nvidiactl" snapshot
	[ "$(node nvidia0 open) $(node nvidia0 type)" = "ENODEV other" ] || fail "nvidia0"
	[ "$(node nvidiactl open)" = ENODEV ] || fail "nvidiactl"
}

# shellcheck disable=SC2016 # the inner shell expands
@test "a node that a plain user may not open is denied, and one without a driver has none" {
	reachable
	local before='mount -t tmpfs -o dev none /dev && mknod -m 600 /dev/nvidia0 c 195 0 &&
		mknod -m 666 /dev/nvidia1 c 195 1'
	unshare -m sh -c "$before" 2>/dev/null || skip "no mounts or no nodes to be made"
	[ ! -e /proc/driver/nvidia ] || skip "a driver is here"
	OUT=$BATS_TEST_TMPDIR/out
	unshare -m sh -c "$before"' && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$0" snapshot' \
		"$copy" >"$OUT"
	[ "$(node nvidia0 open) $(node nvidia0 mode)" = "EACCES 0600" ] || fail "nvidia0"
	# By the device cgroup where there is one, else for want of a driver.
	[[ $(node nvidia1 open) =~ ^(ENXIO|EPERM|ENODEV)$ ]] || fail "nvidia1: $(node nvidia1 open)"
}

@test "a container that podman makes is one" {
	local dir=$BATS_TEST_TMPDIR/root lib
	command -v podman >/dev/null || skip "no podman"
	mkdir -p "$dir"/{proc,sys,dev,etc,tmp,run}
	cp "$CUVET" "$dir/cuvet"
	for lib in $(ldd "$CUVET" | grep -o '/[^ ]*'); do cp --parents -L "$lib" "$dir"; done
	OUT=$BATS_TEST_TMPDIR/out
	timeout 60 podman run --rm --network=none --rootfs "$dir" /cuvet snapshot >"$OUT" 2>/dev/null ||
		skip "podman starts no container here"
	[ "$(json 'd["facts"]["container"]["kind"]["v"]')" = podman ] || fail "kind"
}

@test "without a library for packed files the modules are not judged, and it is said" {
	local dir=$BATS_TEST_TMPDIR/m
	python3 "$CUVET_ROOT/tests/roots/roots.py" build --out "$dir" \
		--machines "$CUVET_ROOT/tests/roots/machines-system.json" module-set-mixed-zst >/dev/null
	mkdir "$BATS_TEST_TMPDIR/none" && echo no >"$BATS_TEST_TMPDIR/none/libarchive.so.13"
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/none cuvet snapshot --root "$dir/module-set-mixed-zst/root"
	json '[m["version"].get("why", "") for m in d["facts"]["driver"]["modules"]]' | grep -q libarchive ||
		fail "the library is not named"
	LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/none cuvet check --root "$dir/module-set-mixed-zst/root" --json
	[ "$(json 'd["root_cause"]["name"]')" != driver-module-set-mixed ] || fail "judged unread"
}

@test "--no-cache is taken, and nothing is kept with it or without" {
	export HOME=$BATS_TEST_TMPDIR/home XDG_CACHE_HOME=$BATS_TEST_TMPDIR/home/cache
	mkdir "$HOME"
	cuvet check --no-cache --json
	[ "$status" -le 3 ] || fail "an answer is wanted"
	cuvet check --deep --json
	[ -z "$(ls -A "$HOME")" ] || fail "something was written"
}

# with_log XID: the capture of an H200 with such a line in its kernel log, and cuInit failing.
with_log() {
	python3 - "$CUVET_ROOT/tests/captures/h200-torch-2.11.json" "$1" >"$BATS_TEST_TMPDIR/m.json" <<-'EOF'
		import json, sys
		d = json.load(open(sys.argv[1]))
		f = d['facts']
		f['parts']['log'] = {'v': 'yes', 's': 'dmesg'}
		f['driver']['cuda_init'] = {'v': '999', 's': 'cuInit'}
		e = {'id': 'xid', 'xid': sys.argv[2], 'address': f['gpus'][0]['address']['v'], 'text': 'NVRM: Xid', 'count': '1'}
		f['log'] = [{k: {'v': v, 's': 'dmesg'} for k, v in e.items()}]
		json.dump(d, sys.stdout)
	EOF
	cuvet check "$BATS_TEST_TMPDIR/m.json"
}

@test "an Xid brings the catalogue's action along" {
	with_log 95
	expect_out gpu-ecc-error
	expect_out "nvidia-smi --gpu-reset"
	with_log 94
	expect_out gpu-ecc-error
	expect_no_out "nvidia-smi --gpu-reset"
	expect_out "Start the program that was hit anew"
	with_log 74
	expect_out gpu-hardware-fault
	expect_out "nvidia-smi nvlink -e"
}

@test "a control group that lost its rule for the nodes is shown with what it lets through" {
	local dir=$BATS_TEST_TMPDIR/m root
	python3 "$CUVET_ROOT/tests/roots/roots.py" build --out "$dir" \
		--machines "$CUVET_ROOT/tests/roots/machines-variants.json" v-revoked >/dev/null
	root=$dir/v-revoked/root
	printf '5:devices:/\n0::/\n' >"$root/proc/self/cgroup"
	mkdir -p "$root/sys/fs/cgroup/devices"
	printf 'c 1:3 rwm\nc 5:* rwm\n' >"$root/sys/fs/cgroup/devices/devices.list"
	cuvet check --root "$root"
	expect_out container-device-access-revoked
	expect_out "no rule for c"
	printf 'a *:* rwm\n' >"$root/sys/fs/cgroup/devices/devices.list"
	cuvet check --root "$root"
	expect_out container-device-access-revoked
	expect_no_out "no rule for c"
}

@test "an add-on that may not be read is not judged, and it is said" {
	reachable
	local dir=$BATS_TEST_TMPDIR/m so
	python3 "$CUVET_ROOT/tests/roots/roots.py" build --out "$dir" \
		--machines "$CUVET_ROOT/tests/roots/machines-variants.json" v-abi-causal-conv >/dev/null
	chmod -R a+rX "$dir"
	so=$(find "$dir" -name 'causal_conv1d_cuda*.so')
	[ -n "$so" ] || fail "no such file was made"
	chmod 000 "$so"
	out=$(as_user "$copy" check --root "$dir/v-abi-causal-conv/root" | tr -s ' \n' ' ')
	expect_no_out abi-mismatch-extension
	[[ ${out#*Not judged} == *causal_conv1d_cuda*EACCES* ]] || fail "it is not said"
	chmod 644 "$so"
	out=$(as_user "$copy" check --root "$dir/v-abi-causal-conv/root" || true)
	expect_out abi-mismatch-extension
}
