#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gen-cli-docs.sh CUVET DIR: completions and the scdoc sources of the manual pages, made from the
# program's own tables.
set -eu
cuvet=$1 dir=$2
mkdir -p "$dir/man"
"$cuvet" --dump-docs bash >"$dir/cuvet.bash"
"$cuvet" --dump-docs zsh >"$dir/_cuvet"
"$cuvet" --dump-docs fish >"$dir/cuvet.fish"
for page in $("$cuvet" --dump-docs list); do
	"$cuvet" --dump-docs "$page" >"$dir/man/$page.scd"
done
