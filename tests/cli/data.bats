#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# data status, update and rollback from files. What comes over the network: test_data_net.py.

load ../lib.sh

setup_file() {
	export WORK=$BATS_FILE_TMPDIR
	command -v openssl >/dev/null && command -v python3 >/dev/null || return 0
	local k
	for k in key other; do
		openssl genpkey -algorithm ed25519 -out "$WORK/$k" 2>/dev/null
		openssl pkey -in "$WORK/$k" -pubout -out "$WORK/$k.pub"
	done
	# Far in the future, so that the tables of the program may become newer.
	archive 2090-01-02 new
	archive 2090-02-03 newer
	archive 2020-01-02 old all
}

setup() {
	need openssl
	need python3
	unset XDG_DATA_HOME
	HOME=$BATS_TEST_TMPDIR/home
	mkdir "$HOME"
	DATA=$HOME/.local/share/cuvet/data
}

teardown() {
	[ -z "${OPEN:-}" ] || rm -rf "$OPEN"
}

# archive DATE NAME [all]: the repository's tables with that date, signed; one table's date or all.
archive() {
	local dir=$WORK/data-$2 f
	mkdir "$dir"
	cp "$CUVET_ROOT"/data/compat/*.json "$dir"
	for f in "$dir"/${3:+*}${3:-gpu}.json "$dir"/*.json; do
		[ -e "$f" ] || continue
		[ -n "${3:-}" ] || [ "$f" = "$dir/gpu.json" ] || continue
		sed -i '1s/"date":"[0-9-]*"/"date":"'"$1"'"/' "$f"
	done
	pack "$2"
}

# pack NAME [KEY]: signs data-NAME as NAME.json.
pack() {
	sh "$CUVET_ROOT/scripts/make-data-archive.sh" --data "$WORK/data-$1" --unchecked \
		"$WORK/${2:-key}" "$WORK/$1.json" >/dev/null
}

# variant NAME: a copy of the data of "new" to be spoilt.
variant() {
	rm -rf "$WORK/data-$1"
	cp -r "$WORK/data-new" "$WORK/data-$1"
}

# resign FILE: signs its bytes as they are.
resign() {
	openssl pkeyutl -sign -rawin -inkey "$WORK/key" -in "$1" -out "$1.sig"
}

update() {
	cuvet data update --trust-key "$WORK/key.pub" --from "$@"
}

in_use() { # date
	cuvet data status --json
	expect_status 0
	[ "$(json 'd["active"]["date"]')" = "$1" ] || fail "$1 is not in use"
}

# What is refused changes nothing, whatever was in use.
refused() { # archive text
	update "$1"
	expect_status 4
	expect_no_out
	expect_err "$2"
	expect_err_lines 1
	[ -z "$(ls -d "$DATA"/20* "$DATA"/.new "$DATA"/current 2>/dev/null)" ] || fail "something was left"
}

embedded() {
	env CUVET_NO_USER_DATA=1 "$CUVET" data status --json |
		python3 -c 'import json,sys; print(json.load(sys.stdin)["active"]["date"])'
}

@test "status: the program's own tables, their date and number" {
	cuvet data
	expect_status 0
	expect_out "tables of  $(embedded)"
	expect_no_err
	cuvet data status --json
	[ "$(json 'd["schema"], d["active"]["origin"], d["active"]["path"], d["installed"]')" = \
		"('cuvet.data/1', 'embedded', None, [])" ] || fail "not as wanted"
	[ "$(json 'len(d["active"]["tables"])')" -eq "$(ls "$CUVET_ROOT"/data/compat/*.json | wc -l)" ]
}

@test "status: old tables say their age, by the date inside" {
	cuvet data status --data "$WORK/data-old"
	expect_status 0
	expect_out "days: old"
	expect_out "(--data)"
	cuvet data status --json --data "$WORK/data-old"
	[ "$(json 'd["active"]["old"] and d["active"]["age_days"] > 2000')" = True ] || fail "not old"
}

@test "D14: a clock before the day of the tables is said, and no negative age" {
	cuvet data status --data "$WORK/data-new"
	expect_status 0
	expect_out "the clock of this system is before that day"
	expect_no_out "days"
}

@test "update installs, every command uses it, rollback goes back step by step" {
	update "$WORK/new.json"
	expect_status 0
	expect_out "2090-01-02"
	expect_no_err
	in_use 2090-01-02
	cuvet show
	expect_out "2090-01-02"
	update "$WORK/newer.json"
	in_use 2090-02-03
	cuvet show --check
	expect_status 0
	cuvet data rollback
	expect_status 0
	in_use 2090-01-02
	cuvet data rollback
	in_use "$(embedded)"
	cuvet data rollback
	expect_status 4
	expect_err "nothing to go back to"
	update "$WORK/newer.json"
	in_use 2090-02-03
}

@test "the tables are installed byte by byte" {
	update "$WORK/new.json"
	for f in "$WORK"/data-new/*.json; do
		cmp "$f" "$DATA"/2090-01-02-*/"${f##*/}"
	done
}

@test "--data and CUVET_NO_USER_DATA come before what is installed" {
	update "$WORK/newer.json"
	cuvet data status --json --data "$WORK/data-new"
	[ "$(json 'd["active"]["date"]')" = 2090-01-02 ]
	[ "$(embedded)" != 2090-02-03 ]
}

@test "the same archive again, and one of the same day, are nothing newer" {
	update "$WORK/new.json"
	update "$WORK/new.json"
	expect_status 0
	expect_out "nothing newer"
	variant same
	sed -i 's/"note":"/"note":"Again. /' "$WORK/data-same/gpu.json"
	pack same
	update "$WORK/same.json"
	expect_status 0
	expect_out "nothing newer"
	[ "$(ls -d "$DATA"/2090* | wc -l)" -eq 1 ]
}

@test "N18: an older archive is refused, whatever is in use; --allow-older takes it" {
	refused "$WORK/old.json" "older than the tables of $(embedded)"
	update "$WORK/newer.json"
	update "$WORK/new.json"
	expect_status 4
	expect_err "older than the tables of 2090-02-03"
	in_use 2090-02-03
	update "$WORK/new.json" --allow-older
	expect_status 0
	in_use 2090-01-02
	update "$WORK/old.json" --allow-older
	in_use 2020-01-02
	cuvet data rollback
	in_use 2090-01-02
}

@test "N18: old tables under a new date are refused (mix and match)" {
	variant mixed
	pack mixed
	sed -i 's/"date":"2090-01-02"/"date":"2091-01-01"/' "$WORK/mixed.json"
	resign "$WORK/mixed.json"
	refused "$WORK/mixed.json" "its date is 2091-01-01 and that of its newest table 2090-01-02"
}

@test "N17: bytes, signatures and keys that do not fit" {
	cp "$WORK/new.json" "$WORK/x.json"
	refused "$WORK/x.json" "x.json.sig"
	cp "$WORK/newer.json.sig" "$WORK/x.json.sig"
	refused "$WORK/x.json" "signature does not fit"
	cp "$WORK/new.json.sig" "$WORK/x.json.sig"
	printf ' ' >>"$WORK/x.json"
	refused "$WORK/x.json" "signature does not fit"
	for sig in "" "AAAA" "$(head -c 85 "$WORK/new.json.sig")" "$(cat "$WORK/new.json.sig")A"; do
		printf '%s' "$sig" >"$WORK/x.json.sig"
		refused "$WORK/x.json" "not a signature"
	done
	cuvet data update --from "$WORK/new.json"
	expect_status 4
	expect_err "signature does not fit"
	cuvet data update --from "$WORK/new.json" --trust-key "$WORK/other.pub"
	expect_status 4
	cuvet data update --from "$WORK/new.json" --trust-key "$WORK/key"
	expect_status 4
	expect_err "not a public Ed25519 key"
	openssl genpkey -algorithm x25519 -out "$WORK/x" 2>/dev/null
	openssl pkey -in "$WORK/x" -pubout -out "$WORK/x.pub"
	cuvet data update --from "$WORK/new.json" --trust-key "$WORK/x.pub"
	expect_status 4
	expect_err "not a public Ed25519 key"
}

@test "a raw signature of 64 bytes is one too" {
	cp "$WORK/new.json" "$WORK/raw.json"
	resign "$WORK/raw.json"
	[ "$(wc -c <"$WORK/raw.json.sig")" -eq 64 ]
	update "$WORK/raw.json"
	expect_status 0
}

@test "signed rubbish is refused" {
	local text
	for text in ' ' '[]' '{"schema":"cuvet.data-archive/1"}' 'null' '{"schema":"cuvet.data-archive/2"}' \
		'{"schema":"cuvet.data-archive/1","date":"2091-02-30","tables":{}}' \
		'{"schema":"cuvet.data-archive/1","date":"2091-02-03","tables":{"gpu":"x"}}' \
		"$(head -c 100000 /dev/zero | tr '\0' '[')"; do
		printf '%s' "$text" >"$WORK/rubbish.json"
		resign "$WORK/rubbish.json"
		refused "$WORK/rubbish.json" "rubbish.json"
	done
}

@test "signed tables that are not valid are refused, naming the row" {
	variant bad
	sed -i 's/"id":"2684",/"id":"2684","cc":7,/' "$WORK/data-bad/gpu.json"
	pack bad
	refused "$WORK/bad.json" "gpu"
	variant bad
	sed -i 's/"chip":"AD102","cc"/"chip":"AD999","cc"/' "$WORK/data-bad/gpu.json"
	pack bad
	refused "$WORK/bad.json" "AD999 is not in chip.chip"
	variant bad
	sed -i 's/^"rows":\[$/"rows": [/' "$WORK/data-bad/gpu.json"
	pack bad
	refused "$WORK/bad.json" "a line each"
	variant bad
	python3 - "$WORK/data-bad/gpu.json" <<-'END'
		import sys
		text = open(sys.argv[1]).read()
		open(sys.argv[1], "w").write(text.replace('},\n{"id":"0', '},{"id":"0', 1))
	END
	pack bad
	refused "$WORK/bad.json" "gpu"
	variant bad
	rm "$WORK/data-bad/vram.json"
	pack bad
	refused "$WORK/bad.json" "lacks the table vram"
}

@test "a newer archive may have fields and tables that this version does not know" {
	variant grown
	sed -i 's/"id":"2684",/"id":"2684","colour":"green",/' "$WORK/data-grown/gpu.json"
	sed 's/"table":"vram"/"table":"aaa"/' "$WORK/data-new/vram.json" >"$WORK/data-grown/aaa.json"
	pack grown
	update "$WORK/grown.json"
	expect_status 0
	in_use 2090-01-02
	cuvet show gpu 10de:2684
	expect_status 0
}

@test "D13: links in place of our folders are refused, links above them are not" {
	mkdir -p "$BATS_TEST_TMPDIR/elsewhere" "$HOME/.local/share/cuvet"
	ln -s "$BATS_TEST_TMPDIR/elsewhere" "$DATA"
	update "$WORK/new.json"
	expect_status 4
	expect_err "not a folder of its own"
	rm -r "$HOME/.local/share/cuvet"
	ln -s "$BATS_TEST_TMPDIR/elsewhere" "$HOME/.local/share/cuvet"
	update "$WORK/new.json"
	expect_status 4
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/elsewhere")" ]
	rm -r "$HOME/.local"
	ln -s "$BATS_TEST_TMPDIR/elsewhere" "$HOME/.local"
	update "$WORK/new.json"
	expect_status 0
	in_use 2090-01-02
}

@test "D13: a link in place of a set, of current or of the lock is not followed" {
	update "$WORK/new.json"
	local set
	set=$(basename "$DATA"/2090-01-02-*)
	mv "$DATA/$set" "$BATS_TEST_TMPDIR/moved"
	ln -s "$BATS_TEST_TMPDIR/moved" "$DATA/$set"
	in_use "$(embedded)"
	update "$WORK/new.json"
	expect_status 0
	[ ! -L "$DATA/$set" ]
	[ -e "$BATS_TEST_TMPDIR/moved/gpu.json" ]
	in_use 2090-01-02
	mv "$DATA/current" "$BATS_TEST_TMPDIR/current"
	ln -s "$BATS_TEST_TMPDIR/current" "$DATA/current"
	in_use "$(embedded)"
	rm "$DATA/lock"
	ln -s "$BATS_TEST_TMPDIR/target" "$DATA/lock"
	update "$WORK/newer.json"
	expect_status 4
	[ ! -e "$BATS_TEST_TMPDIR/target" ]
}

@test "tables that others could have written are not used, and status says why" {
	update "$WORK/new.json"
	chmod g+w "$DATA"/2090*/gpu.json
	in_use "$(embedded)"
	[[ "$(json 'd["ignored"]')" == *"others may write"* ]] || fail "no reason"
	chmod g-w "$DATA"/2090*/gpu.json
	in_use 2090-01-02
	chmod o+w "$DATA"
	in_use "$(embedded)"
	update "$WORK/newer.json"
	expect_status 4
	expect_err "others may write"
	chmod o-w "$DATA"
	chmod g+w "$DATA"/2090*
	in_use "$(embedded)"
}

@test "root does not use what another user could have written" {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	update "$WORK/new.json"
	chown -R 65534 "$DATA"
	in_use "$(embedded)"
	[[ "$(json 'd["ignored"]')" == *"another user"* ]] || fail "no reason"
}

@test "a damaged set is not used, and installing it again mends it" {
	update "$WORK/new.json"
	truncate -s 100 "$DATA"/2090*/torch.json
	in_use "$(embedded)"
	[[ "$(json 'd["ignored"]')" == *"torch.json"* ]] || fail "no reason"
	update "$WORK/new.json"
	expect_status 0
	in_use 2090-01-02
	rm "$DATA"/2090*/torch.json
	in_use "$(embedded)"
	echo '{' >"$DATA/current"
	in_use "$(embedded)"
	echo '{"use":"../../../etc"}' >"$DATA/current"
	in_use "$(embedded)"
	update "$WORK/new.json"
	in_use 2090-01-02
}

@test "X5: without HOME there is no place, and nothing else is troubled" {
	unset HOME
	update "$WORK/new.json"
	expect_status 4
	expect_err "neither XDG_DATA_HOME nor HOME"
	expect_err_lines 1
	in_use "$(embedded)"
	XDG_DATA_HOME=relative HOME=relative update "$WORK/new.json"
	expect_status 4
	[ ! -e relative ]
}

@test "D4: a place without rights is said and left" {
	# Where another user gets to, unlike the folder of the tests.
	OPEN=$(mktemp -d /tmp/cuvet-data.XXXXXX)
	chmod 755 "$OPEN"
	cp "$CUVET" "$OPEN/cuvet"
	cp "$WORK"/new.json "$WORK"/new.json.sig "$WORK"/key.pub "$OPEN"
	mkdir -m 555 "$OPEN/locked"
	status=0
	XDG_DATA_HOME=$OPEN/locked as_user "$OPEN/cuvet" data update --from "$OPEN/new.json" \
		--trust-key "$OPEN/key.pub" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
	OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err err=$(cat "$BATS_TEST_TMPDIR/err")
	expect_status 4
	expect_err "ermission denied"
	expect_err_lines 1
}

@test "D10: a second update waits for the lock, and both end well" {
	local pid a=0 b=0
	"$CUVET" data update --trust-key "$WORK/key.pub" --from "$WORK/new.json" >/dev/null &
	pid=$!
	"$CUVET" data update --trust-key "$WORK/key.pub" --from "$WORK/newer.json" >/dev/null || a=$?
	wait $pid || b=$?
	[ $a -eq 0 ]
	# The older one is refused when it came second.
	[ $b -eq 0 ] || [ $b -eq 4 ]
	in_use 2090-02-03
}

@test "D12: what a killed update left behind is taken away" {
	update "$WORK/new.json"
	mkdir "$DATA/.new"
	echo junk >"$DATA/.new/gpu.json"
	echo junk >"$DATA/.current"
	update "$WORK/newer.json"
	expect_status 0
	[ ! -e "$DATA/.new" ] && [ ! -e "$DATA/.current" ]
	in_use 2090-02-03
}

@test "only the set in use and two before it are kept" {
	local i
	for i in 1 2 3 4 5; do
		variant "v$i"
		sed -i '1s/2090-01-02/2090-03-0'$i'/' "$WORK/data-v$i/gpu.json"
		pack "v$i"
		update "$WORK/v$i.json"
		expect_status 0
	done
	[ "$(ls -d "$DATA"/20* | wc -l)" -eq 3 ]
	cuvet data rollback
	cuvet data rollback
	in_use 2090-03-03
	cuvet data rollback
	in_use "$(embedded)"
}

# With the N'th call that changes anything failing, or killing the process.
failing() { # how n archive
	local lib=$CUVET_ROOT/build/standin/failing-fs.so
	[ -e "$lib" ] || skip "needs the stand-ins"
	status=0
	LD_PRELOAD=$lib CUVET_FAIL_WITH=$1 CUVET_FAIL_AT=$2 CUVET_FAIL_COUNT=$BATS_TEST_TMPDIR/count \
		"$CUVET" data update --trust-key "$WORK/key.pub" --from "$WORK/$3.json" \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || status=$?
}
# one_or_other WHEN: the old or the new set is in use, whole.
one_or_other() {
	cuvet data
	expect_status 0
	expect_no_out "not used"
	[[ $out == "tables of  2090-01-02"* || $out == "tables of  2090-02-03"* ]] ||
		fail "$1: neither the one nor the other"
}
# Makes it as it was before the update.
again() {
	[[ $out == "tables of  2090-01-02"* ]] || cuvet data rollback
	rm -rf "$DATA"/2090-02-03*
}
not_asan() {
	[ "${CUVET_PROFILE:-release}" = release ] || skip "LD_PRELOAD does not go with the sanitizers"
}

@test "D1, D2, D3, D5: every call fails in turn; what was in use stays in use" {
	not_asan
	update "$WORK/new.json"
	failing 0 0 newer
	[ "$status" -eq 0 ]
	local calls how n
	calls=$(head -n 1 "$BATS_TEST_TMPDIR/count")
	[ "$calls" -gt 100 ]
	cuvet data rollback
	rm -r "$DATA"/2090-02-03*
	# A table takes four calls, and one is as good as another: all calls at both ends and every
	# seventh between them, with ENOSPC, EIO, EROFS and EDQUOT in turn.
	for ((n = 1; n <= calls; n += n < 16 || n > calls - 16 ? 1 : 7)); do
		how=$((n % 4 == 0 ? 5 : n % 4 == 1 ? 30 : n % 4 == 2 ? 122 : 28))
		failing $how $n newer
		# A folder that is there already, or the removal of what is old, may fail.
		if [ "$status" -eq 4 ]; then
			[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq 1 ] || fail "call $n, $how"
			[ ! -e "$DATA/.new" ] || fail "call $n, $how: .new was left"
		else
			[ "$status" -eq 0 ] || fail "call $n, $how: $status"
		fi
		one_or_other "call $n, $how"
		again
	done
}

@test "D8: killed at every call, the old or the new set is in use, and the next update works" {
	not_asan
	update "$WORK/new.json"
	failing 0 0 newer
	local calls n
	calls=$(head -n 1 "$BATS_TEST_TMPDIR/count")
	cuvet data rollback
	for ((n = 1; n <= calls; n += n < 16 || n > calls - 16 ? 1 : 7)); do
		failing kill $n newer
		[ "$status" -eq 137 ] || fail "call $n: $status"
		one_or_other "call $n"
		again
	done
	update "$WORK/newer.json"
	expect_status 0
	in_use 2090-02-03
}

@test "D9: every file and folder is synced before it gets its name" {
	not_asan
	failing 0 0 new
	[ "$status" -eq 0 ]
	local order
	order=$(tail -n 1 "$BATS_TEST_TMPDIR/count")
	# The folders and the lock; the set, file by file, and its folder; current.
	[[ $order =~ ^m*om(ow+cs)+srs(ow+cs)rs$ ]] || fail "$order"
}

@test "X2: short writes and EINTR lose nothing" {
	not_asan
	failing short 1 new
	[ "$status" -eq 0 ]
	for f in "$WORK"/data-new/*.json; do
		cmp "$f" "$DATA"/2090-01-02-*/"${f##*/}"
	done
}

@test "D1: a full disk, in earnest" {
	need_mount
	local dir=$BATS_TEST_TMPDIR/full
	mkdir "$dir"
	run unshare -Urm sh -c 'mount -t tmpfs -o size=600k none "$1" && XDG_DATA_HOME=$1 "$2" data update \
		--from "$3/new.json" --trust-key "$3/key.pub"; rc=$?; ls -A "$1/cuvet/data"; exit $rc' \
		sh "$dir" "$CUVET" "$WORK"
	[ "$status" -eq 4 ]
	[[ $output == *"No space left"* ]]
	[[ $output != *".new"* ]]
}

# without PATTERN COMMAND...: runs it where the libraries of that name cannot be loaded.
without() {
	local pattern=$1
	shift
	OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
	status=0
	unshare -Urm sh -c 'for f in $(ls -d /usr/lib*/*/$0 /usr/lib*/$0 /lib*/$0 2>/dev/null); do
			mount --bind /dev/null "$(realpath "$f")" || exit 99
		done; exec "$@"' "$pattern" "$@" >"$OUT" 2>"$ERR" || status=$?
	out=$(cat "$OUT") err=$(cat "$ERR")
}

@test "without libcurl a URL is refused with what to do instead, and a file installs" {
	need_mount
	without 'libcurl*.so.*' "$CUVET" data update --from https://localhost:1/a.json
	expect_status 4
	expect_err "name a file or a folder in place of the URL"
	expect_err_lines 1
	without 'libcurl*.so.*' "$CUVET" data update --from "$WORK/new.json" --trust-key "$WORK/key.pub"
	expect_status 0
	in_use 2090-01-02
}

@test "without libcrypto nothing is installed, and everything else works" {
	need_mount
	without 'libcrypto.so.*' "$CUVET" data update --from "$WORK/new.json" --trust-key "$WORK/key.pub"
	expect_status 4
	expect_err "libcrypto"
	expect_err_lines 1
	without 'libcrypto.so.*' "$CUVET" show driver 580
	expect_status 0
}

@test "bad usage is one line and exit 2" {
	local args
	for args in "updaet" "update" "status x" "rollback --from x" "status --allow-older" "update --from -" \
		"update --from x --data y" "rollback --data y" "update --from ftp://x/y"; do
		# shellcheck disable=SC2086
		cuvet data $args
		expect_status 2
		expect_no_out
		expect_err_lines 1
	done
	cuvet data updat
	expect_err "did you mean update"
}

@test "update --json is the state after it, one document" {
	update "$WORK/new.json" --json
	expect_status 0
	[ "$(json 'd["schema"], d["changed"], d["active"]["date"], d["installed"][0]["active"]')" = \
		"('cuvet.data/1', True, '2090-01-02', True)" ] || fail "not as wanted"
	[ "$(json 'len(d["installed"][0]["key"])')" -eq 44 ]
	update "$WORK/new.json" --json
	[ "$(json 'd["changed"]')" = False ]
	cuvet data rollback --json
	[ "$(json 'd["changed"], d["active"]["origin"]')" = "(True, 'embedded')" ]
}

@test "X7: foreign names reach the terminal clean" {
	local odd=$BATS_TEST_TMPDIR/$'a\e[31mb.json'
	cp "$WORK/new.json" "$odd"
	cp "$WORK/new.json.sig" "$odd.sig"
	update "$odd"
	expect_status 0
	cuvet data
	expect_clean "$OUT"
	cuvet data --json
	expect_clean "$OUT"
	update "$odd.no"
	expect_status 4
	expect_clean "$ERR"
}

@test "show --check: the program's tables hold, by the schemas inside" {
	cuvet show --check
	expect_status 0
	expect_out "ok: "
	cuvet show --check --json
	expect_status 0
	[ "$(json 'd["rows"]')" = "[]" ]
}

# damage FILE PYTHON: changes one table of a copy; `t` is its text.
damage() {
	local dir=$BATS_TEST_TMPDIR/data
	rm -rf "$dir"
	mkdir "$dir"
	cp "$CUVET_ROOT"/data/compat/*.json "$dir"
	python3 - "$dir/$1.json" "$2" <<-'END'
		import json, sys
		t = open(sys.argv[1]).read()
		n = eval(sys.argv[2], {"t": t, "json": json})
		assert n != t, "nothing changed"
		open(sys.argv[1], "w").write(n)
	END
	cuvet show --check --data "$dir"
}

@test "show --check: each kind of damage is one line that names the row, exit 4" {
	local table change text n=0
	while IFS='|' read -r table change text; do
		damage "$table" "$change"
		[[ $status -eq 4 && $out == *"$text"* ]] || fail "$table: $change: $text"
		expect_no_err
		n=$((n + 1))
	done <<-'END'
		gpu|t.replace('{"id":"2684",', '{"id":"26840",')|gpu 26840: id:
		gpu|t.replace('"id":"2684","name"', '"id":"2684","nmae"')|gpu 2684: lacks "name"
		gpu|t.replace('"id":"2684","name"', '"id":"2684","x":1,"name"')|gpu 2684: "x" is no member
		gpu|t.replace('"chip":"AD102","cc":"8.9"', '"chip":"AD102","cc":"89"')|cc: "89" has not the form
		gpu|t.replace('"chip":"AD102"', '"chip":"AD999"')|chip AD999 is not in chip.chip
		gpu|t.replace('"id":"2684"', '"id":"2685"')|its key is not unique
		gpu|t.replace('"id":"2684"', '"id":"0000"')|is out of order
		gpu|t.replace('"sources":["I"', '"sources":["NOPE"', 1)|source NOPE is not defined
		gpu|t.replace('"sources":{', '"sources":{"Z":{"what":"x","where":null,"date":"2026"},')|source Z is never used
		gpu|t.replace('"date":"2026-', '"date":"2026-2', 1)|gpu: date:
		gpu|t[:-100]|gpu:
		gpu|t.replace('"table":"gpu"', '"table":"chip"')|gpu:
		gpu|t.replace('"rows":[', '"rows":[7,')|rows/0: is not of type object
		gpu|t.replace('"open":"supported"', '"open":"perhaps"', 1)|"perhaps" is none of the values
		torch|t.replace('"cuda":"12.4"', '"cuda":"99.4"')|99.4 is not in cuda.cuda
		torch|t.replace('"version":"2.6.0"', '"version":"2.99.99"')|is out of order
		torch|t.replace('"sm_90"', '"sm90"')|arch_list/
		driver|t.replace('"branch":580', '"branch":"580"')|driver 580: branch: is not of type integer
		driver|t.replace('"date":"2026-11-30"', '"date":"2026-02-29"', 1)|driver: date: no such day: 2026-02-29
		cuda|'{"a":1,"a":2}'|stands twice
		cuda|'{}'|cuda: lacks "schema"
		cuda|'[]'|cuda: is not of type object
		cuda|''|cuda:
		cuda|'\x00\x01'|cuda:
	END
	[ $n -eq 24 ]
}

@test "show --check: a folder without tables is no success" {
	mkdir "$BATS_TEST_TMPDIR/empty"
	cuvet show --check --data "$BATS_TEST_TMPDIR/empty"
	expect_status 4
	expect_err "no table"
	cuvet show --check --data "$BATS_TEST_TMPDIR/none"
	expect_status 4
}

@test "show --check and check.py agree that the repository's tables hold" {
	python3 -c 'import jsonschema' 2>/dev/null || skip "needs python3-jsonschema"
	python3 -B "$CUVET_ROOT/scripts/compat/check.py"
	cuvet show --check --data "$CUVET_ROOT/data/compat"
	expect_status 0
}

@test "nothing of the network is loaded at start" {
	need readelf
	! readelf -dW "$CUVET" | grep -E 'NEEDED.*(curl|ssl|crypto)'
}
