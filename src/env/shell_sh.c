/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snippet for POSIX shells (bash, zsh, dash, ksh, mksh), and for csh, which has sh do the work.
 * Each line stands by itself or joined to the next by a blank, as csh's eval needs it.
 */
#include "env/lang.h"

/* clang-format off */
const char *const env_sh_head[] = {
	/* added, old, kind: the elements of both, each once */
	"_cuvet_add() {",
	"_cuvet_r='';",
	"_cuvet_l=\"${1}:${2}:\";",
	"while [ -n \"${_cuvet_l}\" ]; do",
	"_cuvet_e=\"${_cuvet_l%%:*}\";",
	"_cuvet_l=\"${_cuvet_l#*:}\";",
	"case \"${3}${_cuvet_e}\" in l) ;;",
	"*) case \"${_cuvet_r}:\" in *\":${_cuvet_e}:\"*) ;;",
	"*) _cuvet_r=\"${_cuvet_r}:${_cuvet_e}\";; esac;; esac;",
	"done;",
	"_cuvet_r=\"${_cuvet_r#:}\";",
	"};",
	/* value, elements to leave out, elements to keep all the same */
	"_cuvet_less() {",
	"_cuvet_r='';",
	"_cuvet_l=\"${1}:\";",
	"while [ -n \"${_cuvet_l}\" ]; do",
	"_cuvet_e=\"${_cuvet_l%%:*}\";",
	"_cuvet_l=\"${_cuvet_l#*:}\";",
	"case \":${3}:\" in *\":${_cuvet_e}:\"*) ;;",
	"*) case \":${2}:\" in *\":${_cuvet_e}:\"*) continue;; esac;; esac;",
	"_cuvet_r=\"${_cuvet_r}:${_cuvet_e}\";",
	"done;",
	"_cuvet_r=\"${_cuvet_r#:}\";",
	"};",
	/* name: _cuvet_r, or nothing when that is empty and the variable is not wanted then */
	"_cuvet_put() {",
	"if [ -n \"${_cuvet_r}${2}\" ]; then eval \"export ${1}=\\\"\\${_cuvet_r}\\\"\";",
	"else unset \"${1}\"; fi;",
	"};",
	/* name, kind */
	"_cuvet_undo() {",
	"_cuvet_v='' _cuvet_a='' _cuvet_o='' _cuvet_x='';",
	"eval \"_cuvet_v=\\\"\\${${1}-}\\\" _cuvet_a=\\\"\\${CUVET_ADD_${1}-}\\\"\";",
	"eval \"_cuvet_o=\\\"\\${CUVET_OLD_${1}-}\\\" _cuvet_x=\\\"\\${CUVET_OLD_${1}+x}\\\"\";",
	"if [ -z \"${_cuvet_a}\" ]; then return 0; fi;",
	"unset \"CUVET_ADD_${1}\" \"CUVET_OLD_${1}\";",
	"case \"${2}\" in s) _cuvet_r=\"${_cuvet_a}\";;",
	"*) _cuvet_add \"${_cuvet_a}\" \"${_cuvet_o}\" \"${2}\";; esac;",
	"if [ \"${_cuvet_v}\" = \"${_cuvet_r}\" ]; then _cuvet_r=\"${_cuvet_o}\";",
	"else case \"${2}\" in s) return 0;; esac;",
	"_cuvet_less \"${_cuvet_v}\" \"${_cuvet_a}\" \"${_cuvet_o}\"; fi;",
	"_cuvet_put \"${1}\" \"${_cuvet_x}\";",
	"};",
	/* name, kind, value */
	"@set",
	"_cuvet_set() {",
	"eval \"_cuvet_v=\\\"\\${${1}-}\\\" _cuvet_x=\\\"\\${${1}+x}\\\"\";",
	/* zsh has a MANPATH of its own, empty and not exported. */
	"case \"${2}${ZSH_VERSION+z}${_cuvet_v}\" in mz) _cuvet_x='';; esac;",
	"case \"${2}\" in s) _cuvet_r=\"${3}\";;",
	"*) _cuvet_add \"${3}\" \"${_cuvet_v}\" \"${2}\";; esac;",
	"eval \"export ${1}=\\\"\\${_cuvet_r}\\\" CUVET_ADD_${1}=\\\"\\${3}\\\"\";",
	"if [ -n \"${_cuvet_x}\" ]; then eval \"export CUVET_OLD_${1}=\\\"\\${_cuvet_v}\\\"\"; fi;",
	"};",
	"@drop",
	"_cuvet_drop() {",
	"eval \"_cuvet_v=\\\"\\${${1}-}\\\"\";",
	"if [ -z \"${_cuvet_v}\" ]; then return 0; fi;",
	"case \"${2}\" in s) if [ \"${_cuvet_v}\" = \"${3}\" ]; then unset \"${1}\"; fi;;",
	"*) _cuvet_less \"${_cuvet_v}\" \"${3}\" ''; _cuvet_put \"${1}\" '';; esac;",
	"};",
	NULL,
};
static const char *const tail[] = {
	"unset -f _cuvet_add _cuvet_less _cuvet_put _cuvet_undo@;",
	"unset _cuvet_r _cuvet_l _cuvet_e _cuvet_v _cuvet_a _cuvet_o _cuvet_x;",
	NULL,
};
static const char *const no_tail[] = { NULL };
/* clang-format on */

void env_put_sh(struct strbuf *out, const struct env_set *s)
{
	static const struct env_lang lang = {
		.head = env_sh_head,
		.tail = tail,
		.more = " _cuvet_",
		.more_end = "",
		.prefix = "_cuvet_",
		.open = " ",
		.sep = " ",
		.close = ";",
		.quote = env_quote_sh,
	};

	env_comments(out, s, "# ", "");
	env_lang_put(out, s, &lang);
}

/* -------- csh */

/* Prints what csh has to do; values of several lines it cannot take. */
static const char *const csh_print[] = {
	"_cuvet_say() {",
	"eval \"_cuvet_v=\\\"\\${${1}-}\\\" _cuvet_x=\\\"\\${${1}+x}\\\"\";",
	"if [ -z \"${_cuvet_x}\" ]; then echo \"unsetenv ${1};\"; return 0; fi;",
	"_cuvet_r='';",
	"while :; do case \"${_cuvet_v}\" in",
	"*[\\'\\!]*) _cuvet_e=\"${_cuvet_v%%[\\'\\!]*}\";",
	"_cuvet_v=\"${_cuvet_v#\"${_cuvet_e}\"}\";",
	"_cuvet_r=\"${_cuvet_r}${_cuvet_e}'\\\\${_cuvet_v%\"${_cuvet_v#?}\"}'\";",
	"_cuvet_v=\"${_cuvet_v#?}\";; *) break;; esac; done;",
	"_cuvet_r=\"${_cuvet_r}${_cuvet_v}\";",
	"printf \"setenv %s '%s';\\n\" \"${1}\" \"${_cuvet_r}\";",
	"};",
	NULL,
};

static void join(struct strbuf *to, const struct strbuf *lines)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		strbuf_addc(to, lines->s[i] == '\n' ? ' ' : lines->s[i]);
}

/*
 * csh joins the lines of `eval "`cuvet env`"` with blanks: every statement ends in ';', comments
 * are words of the command ':', and the whole work is a script for sh that csh only carries in a
 * variable, since no '$', '"' or '!' may stand in the command that csh substitutes.
 */
void env_put_csh(struct strbuf *out, const struct env_set *s)
{
	static const struct env_lang lang = {
		.head = env_sh_head,
		.tail = no_tail,
		.prefix = "_cuvet_",
		.open = " ",
		.sep = " ",
		.close = ";",
		.quote = env_quote_sh,
	};
	struct strbuf sh, line;
	const struct env_name *n;
	size_t i;

	strbuf_init(&sh, out->a);
	strbuf_init(&line, out->a);
	strbuf_add(&sh, "LC_ALL=C;\n");
	env_lang_put(&sh, s, &lang);
	for (i = 0; csh_print[i]; i++)
		strbuf_printf(&sh, "%s\n", csh_print[i]);
	strbuf_add(&sh, "for _cuvet_n in");
	for (n = env_names; n->name; n++)
		strbuf_printf(&sh, " %s CUVET_ADD_%s CUVET_OLD_%s", n->name, n->name, n->name);
	strbuf_add(&sh, "; do _cuvet_say ${_cuvet_n}; done\n");
	join(&line, &sh);
	env_comments(out, s, ": '# ", "';");
	strbuf_add(out, "setenv CUVET_SH ");
	env_quote_csh(out, line.s);
	strbuf_add(out,
		   ";\neval \"`/bin/sh -c 'PATH=/usr/bin:/bin printenv CUVET_SH' | /bin/sh`\";\n"
		   "unsetenv CUVET_SH;\n");
}
