# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by the check and lint scripts: goes to the root of the repository and prints TAP.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export LC_ALL=C
tap_count=0 tap_failed=0

# tap NAME PROBLEMS: one test; it passed when PROBLEMS (any number of lines) is empty.
tap() {
	tap_count=$((tap_count + 1))
	if [ -z "$2" ]; then
		echo "ok $tap_count - $1"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# The last line of a script: its plan and its exit code.
tap_end() {
	echo "1..$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}

# tap_need COMMAND: ends the script as skipped where the command is missing, as failed in CI.
tap_need() {
	command -v "$1" >/dev/null 2>&1 && return 0
	if [ "${CI:-}" = true ]; then
		tap "$1 is installed" "not found"
		tap_end
	fi
	echo "1..0 # skip $1 is not installed"
	exit 0
}

# The files of one kind, sorted, without what is built or captured.
tap_files() { # find's tests
	find . \( -path ./build -o -path ./.git -o -path ./tests/roots -o -path ./tests/data \
		-o -path ./tests/fuzz/corpus -o -path ./.dev \) -prune \
		-o -type f \( "$@" \) -print |
		sed 's,^\./,,' | sort
}

# The release objects by layer: build/obj/<layer>/.../x.o for every source that exists now.
tap_objects() { # layer...
	local layer src
	for layer in "$@"; do
		for src in src/"$layer"/*.c src/"$layer"/*/*.c; do
			[ -e "$src" ] || continue
			src=build/obj/${src#src/}
			echo "${src%.c}.o"
		done
	done
}
