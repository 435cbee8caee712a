#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No mutable state of file or program scope outside main.c: .data and .bss of every release object
# are empty. (nm would not do: it shows const tables of pointers as data; they lie in .data.rel.ro.)
. "$(dirname "$0")/tap.sh"

layers=$(sed -e '/^#/d' -e '/^main/d' scripts/layers | awk '{ print $1 }')
for layer in $layers; do
	objects=$(tap_objects "$layer")
	[ -n "$objects" ] || continue
	bad=$(for o in $objects; do
		# The pointer to the C library's own unwinder is no state.
		size -A "$o" 2>&1 | awk -v o="$o" '
			/DW\.ref\.__gcc_personality_v0/ { next }
			/No such file/ { print }
			$1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 {
				print o ": " $2 " bytes in " $1
			}'
		size -A "$o" 2>/dev/null |
			awk '/DW\.ref\.__gcc_personality_v0/ { next }
				$1 ~ /^\.(data|bss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { f = 1 }
				END { exit !f }' &&
			nm -S "$o" | awk '$3 ~ /^[dDbB]$/ { print "    " $4 }'
	done)
	tap "no mutable globals in $layer" "$bad"
done
tap_end
