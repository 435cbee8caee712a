#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each door is in one place: a foreign library is included by one file, only the outer layers print,
# only a few files open paths of the system. Seen in the release objects (nm -u), where the
# fortified and the 64-bit names of a function count as the function.
. "$(dirname "$0")/tap.sh"

# library: what its headers are called, and the files that may include it (a pattern of case).
door() { # name header-pattern files-pattern
	local bad include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'
	bad=$(grep -rnE --include='*.[ch]' "$include($2)" src |
		while IFS=: read -r file rest; do
			# shellcheck disable=SC2254
			case $file in
			$3) ;;
			*) echo "$file:$rest" ;;
			esac
		done)
	tap "one door to $1" "$bad"
}
shopt -s extglob
door cJSON 'cjson/|cJSON' 'src/base/json*.c'
door libcurl 'curl/' 'src/net/http_curl.c'
door libarchive 'archive(_entry)?\.h' 'src/sys/archive_door?(_tar).c'
door liblzma 'lzma\.h' 'src/sys/xz_door.c'
door libcrypto 'openssl/' 'src/net/crypto.c'
door PCRE2 'pcre2' 'src/base/regex*.c'
door libyaml 'yaml' 'src/base/yaml*.c'
door dlopen 'dlfcn' 'src/sys/dl*.c'

# Undefined symbols of every object, with decoration taken off: __printf_chk is printf,
# __open64_2 is open, fopen64 is fopen.
uses=$(mktemp)
trap 'rm -f "$uses"' EXIT
layers=$(sed -e '/^#/d' -e '/^main/d' scripts/layers | awk '{ print $1 }')
# shellcheck disable=SC2046,SC2086
nm -A -u $(tap_objects $layers) 2>/dev/null | awk '{
	file = $1; sub(/:.*/, "", file); sub(/^build\/obj\//, "", file)
	s = $NF
	sub(/@.*/, "", s)
	if (sub(/_chk$/, "", s) || sub(/_2$/, "", s) || s ~ /^__isoc99_/)
		sub(/^__(isoc99_)?/, "", s)
	sub(/64(_time64)?$/, "", s)
	sub(/_unlocked$/, "", s)
	print s, file
}' >"$uses"
# shellcheck disable=SC2046,SC2086
tap "release objects are there" "$(ls $(tap_objects $layers) 2>&1 >/dev/null)"

# calls NAME FUNCTIONS FILES: none of the functions is called but from the files (pattern of case).
calls() {
	local bad
	bad=$(awk -v list=" $2 " 'index(list, " " $1 " ")' "$uses" | while read -r symbol file; do
		# shellcheck disable=SC2254
		case $file in
		$3) ;;
		*) echo "$file calls $symbol" ;;
		esac
	done)
	tap "$1" "$bad"
}

calls "only report and cli print" \
	"printf fprintf vprintf vfprintf dprintf vdprintf puts fputs putchar putc fputc fwrite \
	perror psignal stdout stderr err errx verr verrx warn warnx vwarn vwarnx error" \
	'@(report|cli)/*'
# These the C library may inline, so the sources are looked at.
banned='atoi|atol|atoll|atof|sscanf|scanf|fscanf|vsscanf|strtok|strtok_r|gets|strcpy|strcat'
banned+='|sprintf|vsprintf|alloca'
# shellcheck disable=SC2016
tap "no unsafe or locale-bound parsing" "$(grep -rnE --include='*.[ch]' \
	"(^|[^A-Za-z0-9_])($banned)[[:space:]]*\(" src | grep -vE ':[[:space:]]*(/?\*|//)')"
# Paths of the system: sysroot and the live probes. Files that the user names: file and facts, image
# (archives and layouts), project (files and folders of projects). The cache of copies: keep.
openers='sys/sysroot*|sys/live*|base/file|probe/facts|compat/installed|update/store|env/write'
openers+='|fetch/*|source/@(image*|project)|project/@(read|config)|sys/keep|sys/scratch'
calls "only sysroot, live probes, file and fetch open paths" \
	"open openat openat2 creat fopen freopen opendir fdopendir scandir stat lstat fstatat \
	statx access faccessat readlink readlinkat realpath glob ftw nftw chdir" \
	"@($openers|sys/child|cli/cli).o"
tap "a child and the command line open /dev/null alone" \
	"$(grep -nE '[^_]open(at)?\(' src/sys/child*.c src/cli/cli.c 2>/dev/null |
		grep -vE 'open\("/dev/null"|:[[:space:]]*/?\*')"
calls "no shell and no program of the system" \
	"system popen execlp execvp execvpe wordexp" 'none'
calls "exit only by the arena, a child and the command line" \
	"exit _exit quick_exit abort" '@(base/arena|api/guard|sys/child*|fetch/unpacker|prove/@(climb|exec)|cli/*).o'
tap_end
