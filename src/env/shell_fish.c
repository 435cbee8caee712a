/* SPDX-License-Identifier: Apache-2.0 */
/* The snippets for fish and elvish. */
#include "env/lang.h"

/*
 * fish keeps every variable whose name ends in PATH as a list and joins it with ':' between double
 * quotes, which is the form in which other shells know it.
 */
/* clang-format off */
static const char *const fish_head[] = {
	"function _cuvet_add -a added old kind",
	"\tset -g --path _cuvet_r",
	"\tset -l --path all \"$added:$old\"",
	"\tfor e in $all",
	"\t\ttest -n \"$e\"; or test $kind = m; or continue",
	"\t\tcontains -- \"$e\" $_cuvet_r; or set -a _cuvet_r \"$e\"",
	"\tend",
	"end",
	"function _cuvet_less -a value gone kept",
	"\tset -g --path _cuvet_r",
	"\tset -l --path all \"$value\"",
	"\tset -l --path out \"$gone\"",
	"\tset -l --path in \"$kept\"",
	"\tfor e in $all",
	"\t\tcontains -- \"$e\" $out; and not contains -- \"$e\" $in; or set -a _cuvet_r \"$e\"",
	"\tend",
	"end",
	"function _cuvet_undo -a name kind",
	"\tset -l add CUVET_ADD_$name",
	"\tset -l old CUVET_OLD_$name",
	"\tset -q $add; or return 0",
	"\tset -l a \"$$add\"",
	"\tset -l had",
	"\tset -l o",
	"\tif set -q $old",
	"\t\tset had 1",
	"\t\tset o \"$$old\"",
	"\tend",
	"\tset -l v \"$$name\"",
	"\tset -e -g $add; set -e -g $old",
	"\tif test $kind = s",
	"\t\ttest \"x$v\" = \"x$a\"; or return 0",
	"\t\tset -g _cuvet_r \"$o\"",
	"\telse",
	"\t\t_cuvet_add \"$a\" \"$o\" $kind",
	"\t\tif test \"x$v\" = \"x$_cuvet_r\"",
	"\t\t\tset -g _cuvet_r \"$o\"",
	"\t\telse",
	"\t\t\t_cuvet_less \"$v\" \"$a\" \"$o\"",
	"\t\tend",
	"\tend",
	"\tif test -n \"$had$_cuvet_r\"",
	"\t\tset -gx $name \"$_cuvet_r\"",
	"\telse",
	"\t\tset -e -g $name",
	"\tend",
	"end",
	"@set",
	"function _cuvet_set -a name kind value",
	"\tif set -q $name",
	"\t\tset -gx CUVET_OLD_$name \"$$name\"",
	"\tend",
	"\tset -gx CUVET_ADD_$name \"$value\"",
	"\tif test $kind = s",
	"\t\tset -gx $name \"$value\"",
	"\telse",
	"\t\t_cuvet_add \"$value\" \"$$name\" $kind",
	"\t\tset -gx $name $_cuvet_r",
	"\tend",
	"end",
	"@drop",
	"function _cuvet_drop -a name kind value",
	"\tset -q $name; or return 0",
	"\tif test $kind = s",
	"\t\ttest \"x$$name\" = \"x$value\"; and set -e -g $name",
	"\t\treturn 0",
	"\tend",
	"\t_cuvet_less \"$$name\" \"$value\" ''",
	"\tif test -n \"$_cuvet_r\"",
	"\t\tset -gx $name $_cuvet_r",
	"\telse",
	"\t\tset -e -g $name",
	"\tend",
	"end",
	NULL,
};
static const char *const fish_tail[] = {
	"functions -e _cuvet_add _cuvet_less _cuvet_undo@",
	"set -e -g _cuvet_r",
	NULL,
};

static const char *const elvish_head[] = {
	"{",
	"use str",
	"fn cuvet-get {|name| if (has-env $name) { get-env $name } else { put '' } }",
	"fn cuvet-add {|added old kind|",
	"\tvar r = []",
	"\tfor e [(str:split ':' $added':'$old)] {",
	("\t\tif (and (or (not-eq $e '') (eq $kind 'm')) (not (has-value $r $e))) { set r = [$@r "
	 "$e] }"),
	"\t}",
	"\tstr:join ':' $r",
	"}",
	"fn cuvet-less {|value gone kept|",
	"\tvar out = [(str:split ':' $gone)]",
	"\tvar in = [(str:split ':' $kept)]",
	"\tvar r = []",
	"\tfor e [(str:split ':' $value)] {",
	"\t\tif (or (not (has-value $out $e)) (has-value $in $e)) { set r = [$@r $e] }",
	"\t}",
	"\tstr:join ':' $r",
	"}",
	"fn cuvet-undo {|name kind|",
	"\tif (not (has-env CUVET_ADD_$name)) { return }",
	"\tvar a = (get-env CUVET_ADD_$name)",
	"\tvar had = (has-env CUVET_OLD_$name)",
	"\tvar o = (cuvet-get CUVET_OLD_$name)",
	"\tvar v = (cuvet-get $name)",
	"\tunset-env CUVET_ADD_$name",
	"\tunset-env CUVET_OLD_$name",
	"\tvar r = $o",
	"\tif (eq $kind 's') {",
	"\t\tif (not-eq $v $a) { return }",
	"\t} elif (not-eq $v (cuvet-add $a $o $kind)) {",
	"\t\tset r = (cuvet-less $v $a $o)",
	"\t}",
	"\tif (or $had (not-eq $r '')) { set-env $name $r } else { unset-env $name }",
	"}",
	"@set",
	"fn cuvet-set {|name kind value|",
	"\tvar v = (cuvet-get $name)",
	"\tif (has-env $name) { set-env CUVET_OLD_$name $v }",
	"\tset-env CUVET_ADD_$name $value",
	("\tif (eq $kind 's') { set-env $name $value } else { set-env $name (cuvet-add $value $v "
	 "$kind) }"),
	"}",
	"@drop",
	"fn cuvet-drop {|name kind value|",
	"\tvar v = (cuvet-get $name)",
	"\tif (eq $v '') { return }",
	"\tif (eq $kind 's') {",
	"\t\tif (eq $v $value) { unset-env $name }",
	"\t\treturn",
	"\t}",
	"\tvar r = (cuvet-less $v $value '')",
	"\tif (eq $r '') { unset-env $name } else { set-env $name $r }",
	"}",
	NULL,
};
static const char *const elvish_tail[] = { "}", NULL };
/* clang-format on */

void env_put_fish(struct strbuf *out, const struct env_set *s)
{
	static const struct env_lang lang = {
		.head = fish_head,
		.tail = fish_tail,
		.more = " _cuvet_",
		.more_end = "",
		.prefix = "_cuvet_",
		.open = " ",
		.sep = " ",
		.close = "",
		.quote = env_quote_fish,
	};

	env_comments(out, s, "# ", "");
	env_lang_put(out, s, &lang);
}

void env_put_elvish(struct strbuf *out, const struct env_set *s)
{
	static const struct env_lang lang = {
		.head = elvish_head,
		.tail = elvish_tail,
		.prefix = "cuvet-",
		.open = " ",
		.sep = " ",
		.close = "",
		.quote = env_quote_doubled,
	};

	env_comments(out, s, "# ", "");
	env_lang_put(out, s, &lang);
}
