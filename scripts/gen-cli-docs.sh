#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gen-cli-docs.sh CUVET DIR: completions and the scdoc sources of the manual pages, made from the
# program's own tables.
set -eu
# The tables that came with the program, in its own language, whoever builds.
export CUVET_NO_USER_DATA=1 LC_ALL=C
cuvet=$1 dir=$2
mkdir -p "$dir/man"
"$cuvet" --dump-docs bash >"$dir/cuvet.bash"
"$cuvet" --dump-docs zsh >"$dir/_cuvet"
"$cuvet" --dump-docs fish >"$dir/cuvet.fish"
for page in $("$cuvet" --dump-docs list); do
	"$cuvet" --dump-docs "$page" >"$dir/man/$page.scd"
done
