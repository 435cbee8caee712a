#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [PATTERN...]: build both profiles and run every test program whose name holds one of the
# patterns (all without one). One line a program, what failed in full, and as the last line
# `N passed, N failed[, N skipped]`. Exits 0 only if nothing failed and something passed.
#
# What is run, by its name:
#   build/PROFILE            the build itself (release, asan)
#   unit/PROFILE/test_x      tests/unit/test_x.c
#   fuzz/x                   tests/fuzz/fuzz_x.c over tests/fuzz/corpus/x/, with the sanitizers
#   PATH/PROFILE/name.bats   tests/PATH/name.bats, with $CUVET set to the binary of the profile
#   PATH/PROFILE/test_x.py   tests/PATH/test_x.py, likewise
#   scripts/check-x          scripts/check-x.sh
#   lint/x                   scripts/lint-x.sh
# A program prints TAP ("ok N - name", "not ok ...", "ok ... # skip why") or, as its last line,
# `N passed, N failed[, N skipped]`; one that prints neither has failed. It runs in the root of the
# repository. In the first 20 lines of a .bats or .py file `# profiles: release asan` says under
# which profiles it runs (.bats: both, .py: release, when nothing is said), and `# timeout: N` how
# many seconds it may take (900).
#
# Environment: JOBS (programs at once), CI=true (a tool that is missing is a failure then, not a
# skip), UPDATE_GOLDEN=1 (run only what has golden files, which the programs rewrite).
# Full outputs stay in build/test-logs/.

set -u
cd "$(dirname "$0")/.." || exit 1
root=$PWD
# The variables given to make are in the environment; its flags would only confuse the jobs here.
unset MAKEFLAGS MFLAGS MAKELEVEL
make=${MAKE:-make}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
export JOBS=$jobs
patterns=("$@")
scratch=$(mktemp -d)
logs=$scratch/logs
mkdir -p "$logs"
# A test that goes on as another user has to reach what it made.
chmod 711 "$scratch"

# The logs of the last run that ended stay; another run at the same time is not disturbed. Test
# trees may hold folders without rights.
finish() {
	mkdir -p build && rm -rf build/test-logs && cp -r "$logs" build/test-logs
	chmod -R u+rwX "$scratch" 2>/dev/null
	rm -rf "$scratch"
}
trap finish EXIT

passed=0 failed=0 skipped=0
skips=()

selected() { # name
	local p
	[ ${#patterns[@]} -eq 0 ] && return 0
	for p in "${patterns[@]}"; do
		[[ $1 == *"$p"* ]] && return 0
	done
	return 1
}

log_of() { # name
	echo "$logs/${1//\//.}.log"
}

line() { # mark name text seconds
	printf '%-6s %-44s %-28s %s\n' "$1" "$2" "$3" "${4:+$4 s}"
}

# Counts a result that is not a program's: one test.
single() { # ok|FAILED|skip name text
	case $1 in
	ok) passed=$((passed + 1)) ;;
	FAILED) failed=$((failed + 1)) ;;
	skip)
		skipped=$((skipped + 1))
		skips+=("$2: $3")
		;;
	esac
	line "$@"
}

# A tool that is missing: skipped here, a failure where everything has to be there.
lacking() { # name text
	if [ "${CI:-}" = true ]; then
		single FAILED "$1" "$2"
	else
		single skip "$1" "$2"
	fi
}

# Reads a program's output: "passed failed skipped note".
count() { # log
	awk '
	/^ok([ \t]|$)/ {
		if (tolower($0) ~ /# *skip/) skip++; else pass++
	}
	# cmocka says "not ok N # SKIP name" of a test that was skipped.
	/^not ok([ \t]|$)/ {
		if ($0 ~ /^not ok [0-9]+ # SKIP /) skip++; else fail++
	}
	/^1\.\.[0-9]+/ {
		n = substr($1, 4) + 0
		if (n == 0 && tolower($0) ~ /skip/) { skip++; n = 1 }
		plan += n
	}
	/[^ \t\r]/ { last = $0 }
	END {
		seen = pass + fail + skip
		if (seen == 0 && plan == 0 &&
		    last ~ /^([A-Za-z]+: )?[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/) {
			sub(/^[A-Za-z]+: /, "", last)
			gsub(/,/, "", last)
			split(last, f, " ")
			pass = f[1]; fail = f[3]; skip = f[5]; seen = pass + fail + skip
		}
		note = ""
		if (seen == 0) {
			fail++; note = "no test was run"
		} else if (plan > seen) {
			fail += plan - seen; note = plan " planned, " seen " run"
		}
		print pass + 0, fail + 0, skip + 0, note
	}' "$1"
}

# Reports a program that has ended.
report() { # index
	local name=${names[$1]} log rc seconds note p f s text mark=ok
	log=$(log_of "$name")
	read -r rc seconds <"$scratch/$1/rc"
	read -r p f s note < <(count "$log")
	# What a sanitizer says counts even when the program's streams were thrown away.
	if compgen -G "$scratch/$1/san.*" >/dev/null; then
		cat "$scratch/$1"/san.* >>"$log"
		note="${note:+$note; }a sanitizer spoke"
		[ "$f" -eq 0 ] && f=1
	fi
	if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
		note="timed out"
		[ "$f" -eq 0 ] && f=1
	elif [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then
		note="${note:+$note; }exit code $rc"
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	text="$p passed"
	[ "$f" -gt 0 ] && text+=", $f failed" && mark=FAILED
	[ "$s" -gt 0 ] && text+=", $s skipped"
	[ "$p" -eq 0 ] && [ "$f" -eq 0 ] && mark=skip
	line "$mark" "$name" "$text${note:+ ($note)}" "$seconds"
	if [ "$mark" = FAILED ]; then
		# First which ones, then the end of the output.
		grep -a '^not ok' "$log" | grep -v ' # SKIP ' | head -n 40 | cut -c1-200 | cat -v |
			sed 's/^/    /'
		echo "    ---- end of build/test-logs/$(basename "$log")"
		tail -n 40 "$log" | cut -c1-400 | cat -v | sed 's/^/    | /'
	fi
	while IFS= read -r text; do
		skips+=("$name: $text")
	done < <(grep -a -i -E '^(ok .*# *skip|not ok [0-9]+ # skip|1\.\.0.*skip)' "$log" |
		sed -E 's/^(not )?ok +[0-9]* *-? *//; s/^1\.\.0 *//' | cat -v)
	rm -rf "${scratch:?}/$1" 2>/dev/null || chmod -R u+rwX "$scratch/$1" 2>/dev/null
}

names=() commands=() profiles=() timeouts=()
add() { # name profile timeout command...
	selected "$1" || return 0
	names+=("$1") profiles+=("$2") timeouts+=("$3")
	shift 3
	commands+=("$(printf '%q ' "$@")")
}

# One program in a clean environment: its own HOME and TMPDIR, no locale, none of this machine's
# settings that the tool under test would read. Sanitizers end with a code that is no verdict.
execute() { # index
	local dir=$scratch/$1 build=build rc start end
	[ "${profiles[$1]}" = asan ] && build=build/asan
	mkdir -p "$dir/home" "$dir/tmp"
	start=$(date +%s%N)
	env -i PATH="$PATH" HOME="$dir/home" TMPDIR="$dir/tmp" LC_ALL=C TZ=UTC TERM=dumb \
		SHELL=/bin/sh JOBS="$jobs" CI="${CI:-}" \
		${WERROR:+WERROR="$WERROR"} ${CC:+CC="$CC"} \
		${CFLAGS:+CFLAGS="$CFLAGS"} ${UPDATE_GOLDEN:+UPDATE_GOLDEN="$UPDATE_GOLDEN"} \
		MAKE="$make" CUVET_ROOT="$root" CUVET="$root/$build/cuvet" \
		CUVET_BUILD="$root/$build" CUVET_PROFILE="${profiles[$1]}" \
		CUVET_STANDIN="$root/build/standin" CMOCKA_MESSAGE_OUTPUT=TAP \
		ASAN_OPTIONS="exitcode=86:detect_leaks=1:strict_string_checks=1:log_path=$dir/san" \
		UBSAN_OPTIONS="exitcode=86:print_stacktrace=1:log_path=$dir/san" \
		timeout -k 10 "${timeouts[$1]}" bash -c "${commands[$1]}" \
		</dev/null >"$(log_of "${names[$1]}")" 2>&1
	rc=$?
	end=$(date +%s%N)
	echo "$rc $(awk -v n=$((end - start)) 'BEGIN { printf "%.1f", n / 1e9 }')" >"$dir/rc.new"
	mv "$dir/rc.new" "$dir/rc"
}

# Runs all programs that were added, $jobs at once, and reports each as it ends.
run_all() {
	local i=0 n=${#names[@]} running=0 k
	local -A open=()
	while [ $i -lt "$n" ] || [ $running -gt 0 ]; do
		while [ $i -lt "$n" ] && [ $running -lt "$jobs" ]; do
			execute $i &
			open[$i]=1
			i=$((i + 1)) running=$((running + 1))
		done
		wait -n
		for k in "${!open[@]}"; do
			if [ -e "$scratch/$k/rc" ]; then
				report "$k"
				unset "open[$k]"
				running=$((running - 1))
			fi
		done
	done
}

# Builds targets; leaves make's output in the log.
build() { # name targets...
	local name=$1 log start
	shift
	log=$(log_of "$name")
	start=$SECONDS
	if "$make" --no-print-directory -k -j"$jobs" "$@" >"$log" 2>&1; then
		single ok "$name" "" $((SECONDS - start))
		return 0
	fi
	single FAILED "$name" "" $((SECONDS - start))
	grep -a -E -A6 'error:|Error [0-9]|No rule|undefined reference' "$log" | head -n 40 |
		sed 's/^/    | /'
	return 1
}

# With -k make names each target that failed, and those that it did not come to.
built() { # log target
	[ -e "$2" ] && ! grep -a -q -F -e ": $2] Error" -e "Target '$2' not remade" "$1"
}

directive() { # word file
	sed -n "1,20s/^# *$1: *//p" "$2" | head -n 1
}

have_header() {
	echo "#include <$1>" | ${CC:-cc} -E -x c - >/dev/null 2>&1
}

# Is one of the sources there and its program asked for?
any_selected() { # prefix sources...
	local src name prefix=$1
	shift
	for src in "$@"; do
		name=$(basename "$src" .c)
		[ -e "$src" ] && selected "$prefix${name#fuzz_}" && return 0
	done
	return 1
}

add_units() { # profile build target
	local name src log
	any_selected "unit/$1/" tests/unit/test_*.c || return 0
	if ! have_header cmocka.h; then
		lacking "unit/$1" "cmocka is not installed"
		return 0
	fi
	log=$(log_of "build/$1-tests")
	build "build/$1-tests" "$3" || true
	for src in tests/unit/test_*.c; do
		name=$(basename "$src" .c)
		selected "unit/$1/$name" || continue
		if built "$log" "$2/unit/$name"; then
			add "unit/$1/$name" "$1" 300 "./$2/unit/$name"
		else
			single FAILED "unit/$1/$name" "was not built"
		fi
	done
}

add_fuzzers() {
	local src name log
	any_selected fuzz/ tests/fuzz/fuzz_*.c || return 0
	log=$(log_of build/fuzz)
	build build/fuzz fuzz-replay || true
	for src in tests/fuzz/fuzz_*.c; do
		name=$(basename "$src" .c)
		selected "fuzz/${name#fuzz_}" || continue
		if built "$log" "build/asan/fuzz/$name"; then
			add "fuzz/${name#fuzz_}" asan 300 "./build/asan/fuzz/$name" \
				"tests/fuzz/corpus/${name#fuzz_}"
		else
			single FAILED "fuzz/${name#fuzz_}" "was not built"
		fi
	done
}

# Test programs in files, in any folder but those that hold captured trees.
find_programs() { # pattern
	find tests \( -path 'tests/roots/*/*' -o -path tests/data -o -path tests/fuzz/corpus \) \
		-prune -o -type f -name "$1" -print | sort
}

golden() { # file
	[ -z "${UPDATE_GOLDEN:-}" ] || grep -q UPDATE_GOLDEN "$1"
}

add_file() { # name profile file tool...
	local name=$1 profile=$2 file=$3 limit
	shift 3
	if ! command -v "$1" >/dev/null; then
		selected "$name" && lacking "$name" "$1 is not installed"
		return 0
	fi
	limit=$(directive timeout "$file")
	add "$name" "$profile" "${limit:-900}" "$@" "$file"
}

add_files() { # profile
	local file name wanted
	while IFS= read -r file; do
		wanted=$(directive profiles "$file")
		[[ " ${wanted:-release asan} " == *" $1 "* ]] || continue
		golden "$file" || continue
		name=$(dirname "${file#tests/}")/$1/$(basename "$file")
		add_file "$name" "$1" "$file" bats --tap
	done < <(find_programs '*.bats')
	while IFS= read -r file; do
		wanted=$(directive profiles "$file")
		[[ " ${wanted:-release} " == *" $1 "* ]] || continue
		golden "$file" || continue
		name=$(dirname "${file#tests/}")/$1/$(basename "$file")
		add_file "$name" "$1" "$file" python3 -B
	done < <(find_programs 'test_*.py')
}

add_scripts() {
	local file name
	for file in scripts/lint-*.sh scripts/check-*.sh; do
		[ -e "$file" ] || continue
		name=scripts/$(basename "$file" .sh)
		add "${name/#scripts\/lint-/lint/}" release 2400 bash "$file"
	done
}

release=yes asan=yes
if [ "${#patterns[@]}" -gt 0 ] && [[ "${patterns[*]}" =~ ^((scripts|lint)/[a-z-]*\ ?)+$ ]]; then
	asan=not-needed
fi
release_lib=yes asan_lib=yes
if ! build build/release build/cuvet standin docs lib; then
	release=no
	built "$(log_of build/release)" build/libcuvet.a || release_lib=no
fi
[ -n "${UPDATE_GOLDEN:-}" ] || add_scripts
if [ $asan = yes ] && [ -z "${UPDATE_GOLDEN:-}" ]; then
	if ! build build/asan build/asan/cuvet; then
		asan=no
		built "$(log_of build/asan)" build/asan/libcuvet.a || asan_lib=no
	fi
	[ $asan_lib = no ] || add_fuzzers
	[ $release_lib = no ] || add_units release build unit
	[ $asan_lib = no ] || add_units asan build/asan unit-asan
	[ $asan = no ] || add_files asan
fi
[ $release = no ] || add_files release
if [ $release = no ] || [ $asan = no ]; then
	echo "what needs the part that did not build was not run"
fi
run_all

for s in ${skips[@]+"${skips[@]}"}; do
	echo "skipped: $s"
done
total="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || total+=", $skipped skipped"
echo "$total" | tee "$logs/total"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
