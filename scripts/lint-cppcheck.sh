#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cppcheck over the sources. A false alarm is answered beside the line that raises it:
# /* cppcheck-suppress NAME; reason */.
. "$(dirname "$0")/tap.sh"

tap_need cppcheck
mkdir -p build/cppcheck
# Not asked: normalCheckLevelMaxBranches, missingInclude (information about cppcheck itself), and
# unknownMacro and internalAstError, which X-lists and statement expressions set off in good code,
# uninitvar, which does not see that an error is never 0 (gcc's maybe-uninitialized asks instead).
log=$(cppcheck --quiet --std=c11 --language=c -D_GNU_SOURCE -DCUVET_VERSION='""' -Isrc -Ibuild/gen \
	--enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
	--suppress=normalCheckLevelMaxBranches --suppress=missingIncludeSystem \
	--suppress=unknownMacro --suppress=internalAstError --suppress=uninitvar \
	--cppcheck-build-dir=build/cppcheck -j "${JOBS:-2}" src 2>&1)
rc=$?
tap "cppcheck finds nothing in $(find src -name '*.c' | wc -l) files" \
	"$([ $rc -eq 0 ] || printf '%s\n' "$log" "exit code $rc")"
tap_end
