#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A folder of src/ is a layer: no #include, and no call, goes against the table in scripts/layers.
. "$(dirname "$0")/tap.sh"

allowed() { # layer
	sed -e '/^#/d' scripts/layers | awk -v l="$1" '
		$1 == l { print; seen = 1 } END { if (!seen) print "unknown" }'
}

layer_of() { # file below src/
	case $1 in
	*/*) echo "${1%%/*}" ;;
	*) echo "${1%%.*}" ;;
	esac
}

layers=$(sed -e '/^#/d' -e '/^$/d' scripts/layers | awk '{ print $1 }')

# Includes. Ours are written "layer/file.h", from whatever file.
for layer in $layers; do
	files=$(find "src/$layer" -name '*.[ch]' -o -name '*.def' 2>/dev/null | sort)
	[ "$layer" = main ] && files=$(find src -maxdepth 1 -name '*.[ch]')
	[ -n "$files" ] || continue
	# shellcheck disable=SC2086
	bad=$(awk -v may=" $(allowed "$layer") " '
		function ok(l) { return may ~ / \* / || index(may, " " l " ") }
		BEGIN { gsub(/\t/, " ", may) }
		/^[ \t]*#[ \t]*include[ \t]*"/ {
			split($0, q, "\"")
			path = q[2]
			if (path == "compat_data.h")
				l = "compat"
			else if (path ~ /\//)
				l = substr(path, 1, index(path, "/") - 1)
			else {
				print FILENAME ":" FNR ": write \"layer/file.h\": " path
				next
			}
			if (!ok(l))
				print FILENAME ":" FNR ": includes " path
		}' $files)
	tap "includes of $layer" "$bad"
done
bad=$(find src -mindepth 1 -maxdepth 1 | while read -r dir; do
	layer=$(layer_of "${dir#src/}")
	[ "$(allowed "$layer")" = unknown ] && echo "$dir is no layer of scripts/layers"
done)
tap "every folder is a layer" "$bad"

# Calls: a declaration written by hand would get round the includes. Who defines what, then who
# needs what.
defined=$(mktemp)
trap 'rm -f "$defined"' EXIT
for layer in $layers; do
	objects=$(tap_objects "$layer")
	[ -n "$objects" ] || continue
	# shellcheck disable=SC2086
	nm -g --defined-only $objects 2>/dev/null |
		awk -v l="$layer" 'NF == 3 { print $3, l }' >>"$defined"
done
for layer in $layers; do
	objects=$(tap_objects "$layer")
	[ -n "$objects" ] || continue
	# shellcheck disable=SC2086
	bad=$(nm -A -u $objects 2>&1 | awk -v may=" $(allowed "$layer") " '
		BEGIN { gsub(/\t/, " ", may) }
		NR == FNR { home[$1] = $2; next }
		/No such file/ { print; next }
		{
			l = home[$NF]
			if (l != "" && may !~ / \* / && !index(may, " " l " "))
				print $1 " needs " $NF " of " l
		}' "$defined" -)
	tap "calls of $layer" "$bad"
done
tap_end
