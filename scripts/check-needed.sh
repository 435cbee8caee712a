#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the program loads at start is libc and the few small libraries below, so that starting it
# stays instant and works everywhere; and it is hardened as the Makefile says. libcurl and what
# comes with it may never be in this list: it is loaded when something is to be fetched.
. "$(dirname "$0")/tap.sh"

may='libc\.so\.6|libm\.so\.6|libdl\.so\.2|ld-linux.*|libcjson\.so\.1|libyaml-0\.so\.2'
tap_need readelf
[ -x build/cuvet ] || { tap "build/cuvet" "not built"; tap_end; }
dynamic=$(readelf -dW build/cuvet)
tap "loads nothing but what is listed" \
	"$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic" | grep -vxE "$may")"
tap "no search path built in" "$(grep -E '\((RPATH|RUNPATH)\)' <<<"$dynamic")"
tap "position independent" \
	"$(readelf -hW build/cuvet | grep -q 'Type:.*DYN' || echo 'not a PIE')"
tap "all relocations read-only, bound at start" \
	"$(readelf -lW build/cuvet | grep -q GNU_RELRO && grep -qE 'BIND_NOW|NOW' <<<"$dynamic" ||
		echo 'no full RELRO')"
tap "stack not executable" "$(readelf -lW build/cuvet | grep 'GNU_STACK.*RWE')"
tap "no text relocations" "$(grep TEXTREL <<<"$dynamic")"
tap_end
