/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions for bash, zsh and fish from the option rows. Findings complete for --ignore, --error
 * and explain.
 */
#include <string.h>

#include "cli/docs_parts.h"
#include "compat/embedded.h"
#include "rule/finding.h"

static void put_words(struct strbuf *out, const char *choices)
{
	for (; *choices; choices++)
		strbuf_addc(out, *choices == '|' ? ' ' : *choices);
}

static void put_finding_names(struct strbuf *out)
{
	size_t i;

	for (i = 0; i < FINDING_COUNT; i++)
		strbuf_printf(out, "%s%s", i ? " " : "", finding_info((enum finding_id)i)->name);
}

static void put_option_names(struct strbuf *out, const struct opt *const *rows)
{
	for (; rows && *rows; rows++)
		strbuf_printf(out, "--%s ", (*rows)->name);
}

/* What completes as an operand: names of findings or tables, or the command's own words. */
static bool put_operands(struct strbuf *out, const struct cmd *c)
{
	size_t i;

	if (strcmp(c->name, "explain") == 0)
		put_finding_names(out);
	else if (strcmp(c->name, "show") == 0)
		for (i = 0; compat_embedded_table(i); i++)
			strbuf_printf(out, "%s%s", i ? " " : "", compat_embedded_table(i));
	else if (c->words)
		put_words(out, c->words);
	else
		return false;
	return true;
}

static bool takes_finding(const struct opt *o)
{
	return strcmp(o->name, "ignore") == 0 || strcmp(o->name, "error") == 0;
}

static bool takes_path(const struct opt *o)
{
	return o->arg && (strcmp(o->arg, "DIR") == 0 || strcmp(o->arg, "FILE") == 0 ||
			  strcmp(o->arg, "PATH") == 0);
}

static void bash_values(struct strbuf *out, const struct opt *const *rows)
{
	for (; rows && *rows; rows++) {
		if ((*rows)->kind == OPT_FLAG)
			continue;
		strbuf_printf(out, "\t--%s)\n", (*rows)->name);
		if ((*rows)->choices) {
			strbuf_add(out, "\t\tmapfile -t COMPREPLY < <(compgen -W '");
			put_words(out, (*rows)->choices);
			strbuf_add(out, "' -- \"$cur\")\n");
		} else if (takes_finding(*rows)) {
			strbuf_add(
				out,
				"\t\tmapfile -t COMPREPLY < <(compgen -W \"$findings\" -- \"$cur\")\n");
		} else if (takes_path(*rows)) {
			strbuf_add(out, "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n");
		}
		strbuf_add(out, "\t\treturn ;;\n");
	}
}

void docs_put_bash(struct strbuf *out)
{
	const struct cmd *const *c;

	strbuf_add(
		out,
		"# bash completion for cuvet; made by `cuvet --dump-docs bash`\n"
		"_cuvet() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
		"\tlocal options operands findings='");
	put_finding_names(out);
	strbuf_add(out, "'\n\tCOMPREPLY=()\n\tcase $prev in\n");
	bash_values(out, shared_opts);
	for (c = cmds; *c; c++)
		bash_values(out, (*c)->opts);
	strbuf_add(out, "\tesac\n\tcase $command in\n");
	for (c = cmds; *c; c++) {
		strbuf_printf(out, "\t%s) options='", (*c)->name);
		put_option_names(out, (*c)->opts);
		strbuf_add(out, "' operands='");
		put_operands(out, *c);
		strbuf_add(out, "' ;;\n");
	}
	strbuf_add(out, "\tesac\n\toptions+='");
	put_option_names(out, shared_opts);
	strbuf_add(out, "'\n\tif [[ $cur == -* ]]; then\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
			"\telif ((COMP_CWORD == 1)); then\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (c = cmds; *c; c++)
		strbuf_printf(out, "%s ", (*c)->name);
	strbuf_add(out, "' -- \"$cur\")\n"
			"\telif [[ $operands ]]; then\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$cur\")\n"
			"\telse\n"
			"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
			"\tfi\n}\ncomplete -F _cuvet cuvet\n");
}

/* Help text inside single quotes; zsh also takes brackets and colons. */
static void put_quoted(struct strbuf *out, const char *s, const char *special)
{
	for (; *s; s++) {
		if (*s == '\'')
			strbuf_add(out, "'\\''");
		else if (strchr(special, *s))
			strbuf_printf(out, "\\%c", *s);
		else
			strbuf_addc(out, *s);
	}
}

static void zsh_options(struct strbuf *out, const struct opt *const *rows)
{
	for (; rows && *rows; rows++) {
		strbuf_printf(out, "\t\t'%s--%s%s[", (*rows)->kind == OPT_LIST ? "*" : "",
			      (*rows)->name, (*rows)->kind == OPT_FLAG ? "" : "=");
		put_quoted(out, (*rows)->help, "[]:\\");
		strbuf_add(out, "]");
		if ((*rows)->choices) {
			strbuf_printf(out, ":%s:(", (*rows)->arg);
			put_words(out, (*rows)->choices);
			strbuf_add(out, ")");
		} else if ((*rows)->kind != OPT_FLAG) {
			strbuf_printf(out, ":%s:%s", (*rows)->arg,
				      takes_finding(*rows) ? "($findings)"
				      : takes_path(*rows)  ? "_files"
							   : "");
		}
		strbuf_add(out, "'\n");
	}
}

/* The command is the first operand; those that it takes itself follow. */
static void zsh_command(struct strbuf *out, const struct cmd *c)
{
	struct strbuf words;

	strbuf_init(&words, out->a);
	strbuf_printf(out, "\t%s) own=(\n", c->name);
	zsh_options(out, c->opts);
	strbuf_add(out, "\t\t)\n\t\t_arguments $shared $own '1:command:' '*:argument:");
	if (put_operands(&words, c))
		strbuf_printf(out, "(%s)", words.s);
	else
		strbuf_add(out, "_files");
	strbuf_add(out, "' ;;\n");
}

void docs_put_zsh(struct strbuf *out)
{
	const struct cmd *const *c;

	strbuf_add(out,
		   "#compdef cuvet\n# zsh completion for cuvet; made by `cuvet --dump-docs zsh`\n"
		   "_cuvet() {\n\tlocal -a commands shared own findings\n\tcommands=(\n");
	for (c = cmds; *c; c++) {
		strbuf_printf(out, "\t\t'%s:", (*c)->name);
		put_quoted(out, (*c)->summary, ":\\");
		strbuf_add(out, "'\n");
	}
	strbuf_add(out, "\t)\n\tfindings=(");
	put_finding_names(out);
	strbuf_add(out, ")\n\tshared=(\n");
	zsh_options(out, shared_opts);
	strbuf_add(out, "\t)\n\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
			"\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase $words[2] in\n");
	for (c = cmds; *c; c++)
		zsh_command(out, *c);
	strbuf_add(out, "\t*) _arguments $shared ;;\n\tesac\n}\n_cuvet \"$@\"\n");
}

static void fish_options(struct strbuf *out, const char *condition, const struct opt *const *rows)
{
	for (; rows && *rows; rows++) {
		strbuf_printf(out, "complete -c cuvet%s -l %s", condition, (*rows)->name);
		if ((*rows)->letter)
			strbuf_printf(out, " -s %c", (*rows)->letter);
		if ((*rows)->kind != OPT_FLAG)
			strbuf_add(out, takes_path(*rows) ? " -r -F" : " -x");
		if ((*rows)->choices) {
			strbuf_add(out, " -a '");
			put_words(out, (*rows)->choices);
			strbuf_add(out, "'");
		} else if (takes_finding(*rows)) {
			strbuf_add(out, " -a \"$cuvet_findings\"");
		}
		strbuf_add(out, " -d '");
		put_quoted(out, (*rows)->help, "\\");
		strbuf_add(out, "'\n");
	}
}

void docs_put_fish(struct strbuf *out)
{
	const struct cmd *const *c;

	strbuf_add(
		out,
		"# fish completion for cuvet; made by `cuvet --dump-docs fish`\nset -g cuvet_findings '");
	put_finding_names(out);
	strbuf_add(out, "'\n");
	for (c = cmds; *c; c++) {
		strbuf_printf(out, "complete -c cuvet -n __fish_use_subcommand -f -a %s -d '",
			      (*c)->name);
		put_quoted(out, (*c)->summary, "\\");
		strbuf_add(out, "'\n");
	}
	fish_options(out, "", shared_opts);
	for (c = cmds; *c; c++) {
		struct strbuf condition;

		strbuf_init(&condition, out->a);
		strbuf_printf(&condition, " -n '__fish_seen_subcommand_from %s'", (*c)->name);
		fish_options(out, condition.s, (*c)->opts);
	}
	for (c = cmds; *c; c++) {
		struct strbuf words;

		strbuf_init(&words, out->a);
		if (put_operands(&words, *c))
			strbuf_printf(
				out,
				"complete -c cuvet -n '__fish_seen_subcommand_from %s' -f -a '%s'\n",
				(*c)->name, words.s);
	}
}
