#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Which package a distribution has for a branch or a flavour of the driver (table driver_package): what
# check and plan say, row by row, and where there is none.

load ../lib.sh

# commands DISTRO GPU ASSUMPTION...: the commands of the root cause's first remedy, in one line, as $got.
commands() {
	local args=() a
	for a in "distro=$1" "gpu=$2" "${@:3}"; do
		args+=(--assume "$a")
	done
	cuvet check --no-live --assume os=linux --json "${args[@]}"
	got=$(json '"; ".join(d["root_cause"]["remedies"][0]["commands"])')
}

@test "cards that newer branches dropped: the distribution's own package of their last one" {
	local distro gpu driver want got
	while IFS='|' read -r distro gpu driver want; do
		commands "$distro" "$gpu" "driver=$driver"
		[[ $got == *"$want"* ]] || fail "$distro, $gpu: $got"
		[[ $got == *reboot ]] || fail "no reboot: $got"
	done <<-'END'
		fedora43|GTX 1080|590.44.01|dnf install --allowerasing akmod-nvidia-580xx xorg-x11-drv-nvidia-580xx-cuda;
		fedora43|Tesla V100-SXM2-16GB|595.58.03|akmod-nvidia-580xx
		fedora41|Tesla K80|535.183.01|akmod-nvidia-470xx xorg-x11-drv-nvidia-470xx-cuda;
		fedora41|GeForce GTX 480|470.256.02|akmod-nvidia-390xx
		opensuse-leap15.6|GTX 1080|590.44.01|openSUSE-repos-Leap-NVIDIA; sudo zypper install nvidia-driver-G06-kmp-meta nvidia-compute-utils-G06;
		opensuse-leap16.0|GTX 1080|590.44.01|nvidia-driver-G06-kmp-meta
		opensuse-tumbleweed|GTX 980|590.44.01|openSUSE-repos-Tumbleweed-NVIDIA; sudo zypper install nvidia-driver-G06-kmp-meta
		opensuse-leap15.6|Tesla K80|580.65.06|zypper install x11-video-nvidiaG05 nvidia-computeG05;
		amzn2023|Tesla V100-SXM2-16GB|590.44.01|amzn2023/x86_64/cuda-amzn2023.repo; sudo dnf module reset nvidia-driver; sudo dnf module install nvidia-driver:580-dkms;
		arch|GTX 1080|590.44.01|yay -S nvidia-580xx-dkms nvidia-580xx-utils
		rhel10|Tesla P100-PCIE-16GB|590.44.01|dnf versionlock add '*nvidia*580*'; sudo dnf install cuda-drivers
		rhel9|GTX 1080|590.44.01|dnf module install nvidia-driver:580-dkms
	END
}

@test "where the distribution has no such package NVIDIA's page is named, and no command that would fail" {
	local distro gpu got
	while IFS='|' read -r distro gpu; do
		commands "$distro" "$gpu" driver=590.44.01
		[ -z "$got" ] || fail "$distro: $got"
		[[ $(json 'd["root_cause"]["remedies"][0]["text"]') == *nvidia.com/drivers* ]] || fail "$distro, $gpu"
	done <<-'END'
		amzn2023|Tesla K80
		amzn2|GTX 1080
		opensuse-leap16.0|Tesla K80
		rhel9|Tesla K80
		sles15.6|GTX 1080
	END
	# What is not built for the processor is not named either.
	commands fedora41 'Tesla K80' driver=535.183.01 arch=aarch64
	[ -z "$got" ] || fail aarch64
}

@test "the flavour: cards that need the open modules, on distributions with a package for them" {
	local distro want got
	while IFS='|' read -r distro want; do
		commands "$distro" 'RTX 5090' driver=580.65.06 driver-flavor=proprietary
		[ "$(json 'd["root_cause"]["name"]')" = open-module-required ] || fail "$distro: cause"
		[[ $got == *"$want"* ]] || fail "$distro: $got"
	done <<-'END'
		amzn2023|nvidia-driver:open-dkms
		rhel10|dnf install nvidia-open
		fedora43|dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda
		ubuntu24.04|nvidia-driver-580-open
		opensuse-leap15.6|nvidia-open-driver-G06-signed-kmp-meta
		arch|nvidia-open-dkms
	END
	while IFS='|' read -r distro want; do
		commands "$distro" 'GTX 1080' driver=580.65.06 driver-flavor=open
		[ "$(json 'd["root_cause"]["name"]')" = open-module-unsupported-gpu ] || fail "$distro: cause"
		[[ $got == *"$want"* ]] || fail "$distro: $got"
	done <<-'END'
		fedora43|akmod-nvidia-580xx
		amzn2023|nvidia-driver:580-dkms
		ubuntu24.04|nvidia-driver-580;
	END
}

@test "show driver_package: a row with its source" {
	cuvet show driver_package fedora --json
	expect_status 0
	[ "$(json '[r["branch"] for r in d["rows"]]')" = "['390', '470', '580']" ] || fail rows
	[ "$(json 'all(r["sources"] for r in d["rows"])')" = True ] || fail sources
}
