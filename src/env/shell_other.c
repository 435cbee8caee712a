/* SPDX-License-Identifier: Apache-2.0 */
/* The snippets for nu, PowerShell, xonsh and cmd. */
#include <string.h>

#include "base/arena.h"
#include "env/lang.h"

/* clang-format off */
/* nu turns PATH into a list; here all values are joined, and PATH is given back as a list. */
static const char *const nu_head[] = {
	"def cuvet-get [name: string] {",
	"\tif not ($name in $env) { return '' }",
	"\tlet v = ($env | get $name)",
	("\tif ($v | describe | str starts-with 'list') { $v | str join ':' } else { $v | into "
	 "string }"),
	"}",
	"def --env cuvet-put [name: string, value: string] {",
	("\tif $name == 'PATH' { load-env { PATH: ($value | split row ':') } } else { load-env { "
	 "$name: $value } }"),
	"}",
	"def cuvet-add [added: string, old: string, kind: string] {",
	("\t$'($added):($old)' | split row ':' | where {|e| $e != '' or $kind == 'm' } | uniq | "
	 "str join ':'"),
	"}",
	"def cuvet-less [value: string, gone: string, kept: string] {",
	"\tlet out = ($gone | split row ':')",
	"\tlet in = ($kept | split row ':')",
	"\t$value | split row ':' | where {|e| $e not-in $out or $e in $in } | str join ':'",
	"}",
	"def --env cuvet-undo [name: string, kind: string] {",
	"\tlet add = $'CUVET_ADD_($name)'",
	"\tlet old = $'CUVET_OLD_($name)'",
	"\tif not ($add in $env) { return }",
	"\tlet a = (cuvet-get $add)",
	"\tlet had = ($old in $env)",
	"\tlet o = (cuvet-get $old)",
	"\tlet v = (cuvet-get $name)",
	"\thide-env $add",
	"\tif $had { hide-env $old }",
	"\tif $kind == 's' and $v != $a { return }",
	"\tlet same = (if $kind == 's' { true } else { $v == (cuvet-add $a $o $kind) })",
	"\tlet r = (if $same { $o } else { cuvet-less $v $a $o })",
	"\tif $had or $r != '' { cuvet-put $name $r } else if $name in $env { hide-env $name }",
	"}",
	"@set",
	"def --env cuvet-set [name: string, kind: string, value: string] {",
	"\tlet v = (cuvet-get $name)",
	"\tif $name in $env { load-env { $'CUVET_OLD_($name)': $v } }",
	"\tload-env { $'CUVET_ADD_($name)': $value }",
	"\tcuvet-put $name (if $kind == 's' { $value } else { cuvet-add $value $v $kind })",
	"}",
	"@drop",
	"def --env cuvet-drop [name: string, kind: string, value: string] {",
	"\tlet v = (cuvet-get $name)",
	"\tif $v == '' { return }",
	("\tlet r = (if $kind == 's' { if $v == $value { '' } else { $v } } else { cuvet-less $v "
	 "$value '' })"),
	"\tif $r == '' { hide-env $name } else { cuvet-put $name $r }",
	"}",
	NULL,
};
static const char *const no_tail[] = { NULL };

/* On Windows names of folders are compared without regard to case. */
static const char *const powershell_head[] = {
	"function _cuvet_has($name) { Test-Path -LiteralPath \"Env:$name\" }",
	("function _cuvet_get($name) { if (_cuvet_has $name) { (Get-Item -LiteralPath "
	 "\"Env:$name\").Value } else { '' } }"),
	"function _cuvet_put($name, $value) { Set-Item -LiteralPath \"Env:$name\" -Value $value }",
	("function _cuvet_gone($name) { if (_cuvet_has $name) { Remove-Item -LiteralPath "
	 "\"Env:$name\" } }"),
	("function _cuvet_in($list, $e) { if ([IO.Path]::PathSeparator -eq ';') { $list -contains "
	 "$e } else { $list -ccontains $e } }"),
	"function _cuvet_split($value) { , \"$value\".Split([IO.Path]::PathSeparator) }",
	("function _cuvet_join($list) { [string]::Join([string][IO.Path]::PathSeparator, "
	 "[string[]]@($list)) }"),
	"function _cuvet_add($added, $old, $kind) {",
	"\t$r = @()",
	"\tforeach ($e in (_cuvet_split ($added + [IO.Path]::PathSeparator + $old))) {",
	"\t\tif (($e -ne '' -or $kind -eq 'm') -and -not (_cuvet_in $r $e)) { $r += $e }",
	"\t}",
	"\t_cuvet_join $r",
	"}",
	"function _cuvet_less($value, $gone, $kept) {",
	"\t$out = _cuvet_split $gone; $in = _cuvet_split $kept; $r = @()",
	"\tforeach ($e in (_cuvet_split $value)) {",
	"\t\tif (-not (_cuvet_in $out $e) -or (_cuvet_in $in $e)) { $r += $e }",
	"\t}",
	"\t_cuvet_join $r",
	"}",
	"function _cuvet_undo($name, $kind) {",
	"\tif (-not (_cuvet_has \"CUVET_ADD_$name\")) { return }",
	"\t$a = _cuvet_get \"CUVET_ADD_$name\"; $had = _cuvet_has \"CUVET_OLD_$name\"",
	"\t$o = _cuvet_get \"CUVET_OLD_$name\"; $v = _cuvet_get $name; $r = $o",
	"\t_cuvet_gone \"CUVET_ADD_$name\"; _cuvet_gone \"CUVET_OLD_$name\"",
	"\tif ($kind -eq 's') { if ($v -cne $a) { return } }",
	"\telseif ($v -cne (_cuvet_add $a $o $kind)) { $r = _cuvet_less $v $a $o }",
	"\tif ($had -or $r -ne '') { _cuvet_put $name $r } else { _cuvet_gone $name }",
	"}",
	"@set",
	"function _cuvet_set($name, $kind, $value) {",
	"\t$v = _cuvet_get $name",
	"\tif (_cuvet_has $name) { _cuvet_put \"CUVET_OLD_$name\" $v }",
	"\t_cuvet_put \"CUVET_ADD_$name\" $value",
	"\tif ($kind -ne 's') { $value = _cuvet_add $value $v $kind }",
	"\t_cuvet_put $name $value",
	"}",
	"@drop",
	"function _cuvet_drop($name, $kind, $value) {",
	"\t$v = _cuvet_get $name",
	"\tif ($v -eq '') { return }",
	("\t$r = if ($kind -eq 's') { if ($v -ceq $value) { '' } else { $v } } else { _cuvet_less "
	 "$v $value '' }"),
	"\tif ($r -eq '') { _cuvet_gone $name } else { _cuvet_put $name $r }",
	"}",
	NULL,
};
static const char *const powershell_tail[] = {
	("foreach ($f in 'has', 'get', 'put', 'gone', 'in', 'split', 'join', 'add', 'less', "
	 "'undo'@) {"
	 " Remove-Item -LiteralPath \"Function:_cuvet_$f\" }"),
	NULL,
};

/* detype() is the environment as a child process would see it. */
static const char *const xonsh_head[] = {
	"def _cuvet_get(name):",
	"    return __xonsh__.env.detype().get(name) if name in __xonsh__.env else None",
	"def _cuvet_put(name, value):",
	"    if value is None:",
	"        __xonsh__.env.pop(name, None)",
	"    elif name.endswith('PATH') and not name.startswith('CUVET_'):",
	"        __xonsh__.env[name] = value.split(':') if value else []",
	"    else:",
	"        __xonsh__.env[name] = value",
	"def _cuvet_add(added, old, kind):",
	("    return ':'.join(dict.fromkeys(e for e in (added + ':' + (old or '')).split(':') if "
	 "e or kind == 'm'))"),
	"def _cuvet_less(value, gone, kept):",
	("    return ':'.join(e for e in value.split(':') if e not in gone.split(':') or e in "
	 "kept.split(':'))"),
	"def _cuvet_undo(name, kind):",
	("    a, o, v = _cuvet_get('CUVET_ADD_' + name), _cuvet_get('CUVET_OLD_' + name), "
	 "_cuvet_get(name)"),
	"    if a is None:",
	"        return",
	"    _cuvet_put('CUVET_ADD_' + name, None)",
	"    _cuvet_put('CUVET_OLD_' + name, None)",
	"    r = o",
	"    if kind == 's':",
	"        if v != a:",
	"            return",
	"    elif (v or '') != _cuvet_add(a, o, kind):",
	"        r = _cuvet_less(v or '', a, o or '')",
	"    _cuvet_put(name, r if r or o is not None else None)",
	"@set",
	"def _cuvet_set(name, kind, value):",
	"    v = _cuvet_get(name)",
	"    _cuvet_put('CUVET_OLD_' + name, v)",
	"    _cuvet_put('CUVET_ADD_' + name, value)",
	"    _cuvet_put(name, value if kind == 's' else _cuvet_add(value, v, kind))",
	"@drop",
	"def _cuvet_drop(name, kind, value):",
	"    v = _cuvet_get(name)",
	"    if v and kind == 's' and v == value:",
	"        _cuvet_put(name, None)",
	"    elif v and kind != 's':",
	"        _cuvet_put(name, _cuvet_less(v, value, '') or None)",
	NULL,
};
static const char *const xonsh_tail[] = {
	"del _cuvet_get, _cuvet_put, _cuvet_add, _cuvet_less, _cuvet_undo@",
	NULL,
};
/* clang-format on */

void env_put_nu(struct strbuf *out, const struct env_set *s)
{
	static const struct env_lang lang = {
		.head = nu_head,
		.tail = no_tail,
		.prefix = "cuvet-",
		.open = " ",
		.sep = " ",
		.close = "",
		.quote = env_quote_nu,
	};

	env_comments(out, s, "# ", "");
	env_lang_put(out, s, &lang);
}

void env_put_powershell(struct strbuf *out, const struct env_set *s)
{
	static const struct env_lang lang = {
		.head = powershell_head,
		.tail = powershell_tail,
		.more = ", '",
		.more_end = "'",
		.prefix = "_cuvet_",
		.open = " ",
		.sep = " ",
		.close = "",
		.quote_all = true,
		.quote = env_quote_powershell,
	};

	env_comments(out, s, "# ", "");
	env_lang_put(out, s, &lang);
}

void env_put_xonsh(struct strbuf *out, const struct env_set *s)
{
	static const struct env_lang lang = {
		.head = xonsh_head,
		.tail = xonsh_tail,
		.more = ", _cuvet_",
		.more_end = "",
		.prefix = "_cuvet_",
		.open = "(",
		.sep = ", ",
		.close = ")",
		.quote_all = true,
		.quote = env_quote_python,
	};

	env_comments(out, s, "# ", "");
	env_lang_put(out, s, &lang);
}

/* -------- cmd */

/*
 * In a batch file a percent sign is written twice; between the quotes of `set "A=B"` nothing else
 * is special.
 */
static void cmd_set(struct strbuf *out, const char *name, const char *value)
{
	strbuf_printf(out, "set \"%s=", name);
	for (; *value; value++) {
		if (*value == '%')
			strbuf_addc(out, '%');
		strbuf_addc(out, *value);
	}
	strbuf_add(out, "\"\r\n");
}

/*
 * cmd has no lists: what was put in front is remembered with the value that it gave, and taken back
 * when that is still the value.
 */
void env_put_cmd(struct strbuf *out, const struct env_set *s)
{
	const struct env_item *it;
	const struct env_name *n;
	struct strbuf head;
	size_t i;

	strbuf_init(&head, out->a);
	env_comments(&head, s, "rem ", " ");
	for (i = 0; i < head.n; i++) {
		if (head.s[i] == '\n')
			strbuf_addc(out, '\r');
		strbuf_addc(out, head.s[i]);
	}
	for (n = env_names; n->name; n++)
		strbuf_printf(out,
			      "if defined CUVET_NEW_%s if \"%%%s%%\"==\"%%CUVET_NEW_%s%%\" set "
			      "\"%s=%%CUVET_OLD_%s%%\"\r\n"
			      "set \"CUVET_NEW_%s=\"\r\nset \"CUVET_OLD_%s=\"\r\n",
			      n->name, n->name, n->name, n->name, n->name, n->name, n->name);
	for (n = env_names; n->name && !s->unset; n++) {
		it = env_item_named(s, n->name);
		if (!it)
			continue;
		strbuf_printf(out, "set \"CUVET_OLD_%s=%%%s%%\"\r\n", n->name, n->name);
		cmd_set(out, n->name, env_joined(out->a, s, it));
		if (n->kind != ENV_SCALAR)
			strbuf_printf(
				out,
				"if defined CUVET_OLD_%s set \"%s=%%%s%%;%%CUVET_OLD_%s%%\"\r\n",
				n->name, n->name, n->name, n->name);
		strbuf_printf(out, "set \"CUVET_NEW_%s=%%%s%%\"\r\n", n->name, n->name);
	}
}
