/* SPDX-License-Identifier: Apache-2.0 */
/* The option table and its parser. Help, completion and the manual read the same rows. */
#include "cli/opts.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/suggest.h"

#define AT(field) .offset = offsetof(struct options, field)

/* clang-format off */
const struct opt opt_json = { .name = "json", .kind = OPT_FLAG, AT(json),
	.help = N_("the result as one JSON document (as --format json)") };
const struct opt opt_format = { .name = "format", .kind = OPT_STRING, .arg = "FORMAT", AT(format),
	.choices = "text|json|markdown|sarif|junit|github|gitlab|checkstyle", .help = N_("form of the report") };
const struct opt opt_root = { .name = "root", .kind = OPT_STRING, .arg = "DIR", AT(root),
	.help = N_("judge the system below DIR instead of this machine") };
const struct opt opt_facts = { .name = "facts", .kind = OPT_STRING, .arg = "FILE", AT(facts),
	.help = N_("what the tree of --root cannot hold (default DIR/../facts.json)") };
const struct opt opt_python = { .name = "python", .kind = OPT_STRING, .arg = "PATH", AT(python),
	.help = N_("interpreter or prefix of the environment to judge") };
const struct opt opt_assume = { .name = "assume", .kind = OPT_LIST, .arg = "K=V", AT(assume),
	.help = N_("declare a fact: gpu, driver, driver-flavor, os, distro, arch, glibc, python, torch, "
		   "torchvision, torchaudio, tensorflow, jax, cuda, cudnn, gcc (repeatable)") };
const struct opt opt_no_live = { .name = "no-live", .kind = OPT_FLAG, AT(no_live),
	.help = N_("ask nothing of this machine: only sources and assumptions") };
const struct opt opt_data = { .name = "data", .kind = OPT_STRING, .arg = "DIR", AT(data),
	.help = N_("read the compatibility tables from DIR") };
const struct opt opt_lang = { .name = "lang", .kind = OPT_STRING, .arg = "LANG", AT(lang), .choices = "en|ko",
	.help = N_("language of the report") };
const struct opt opt_color = { .name = "color", .kind = OPT_STRING, .arg = "WHEN", AT(colour),
	.choices = "auto|always|never", .help = N_("colour the text report") };
const struct opt opt_strict = { .name = "strict", .kind = OPT_FLAG, AT(strict),
	.help = N_("exit 1 for warnings too") };
const struct opt opt_error = { .name = "error", .kind = OPT_LIST, .arg = "NAME", AT(error),
	.help = N_("take this finding as an error (repeatable)") };
const struct opt opt_ignore = { .name = "ignore", .kind = OPT_LIST, .arg = "NAME", AT(ignore),
	.help = N_("leave this finding out (repeatable)") };
const struct opt opt_help = { .name = "help", .letter = 'h', .kind = OPT_FLAG, AT(help),
	.help = N_("print help") };
const struct opt opt_version = { .name = "version", .letter = 'V', .kind = OPT_FLAG, AT(version),
	.help = N_("print the version") };
const struct opt opt_deep = { .name = "deep", .kind = OPT_FLAG, AT(deep),
	.help = N_("call cuInit even when all else is healthy; look into the initramfs; ask rpm and the journal") };
const struct opt opt_no_cache = { .name = "no-cache", .kind = OPT_FLAG, AT(no_cache),
	.help = N_("for scripts: answers of the driver are never cached, with this or without") };
const struct opt opt_timeout = { .name = "timeout", .kind = OPT_STRING, .arg = "SECONDS",
	AT(timeout), .help = N_("how long a call of the driver may take (default 10, at most 600)") };
const struct opt opt_require = { .name = "require", .kind = OPT_LIST, .arg = "K>=V", AT(require),
	.help = N_("what must hold: a key of --assume, cc or vram, and >= <= > < == or != (repeatable)") };
const struct opt opt_gpu = { .name = "gpu", .kind = OPT_STRING, .arg = "NAME", AT(gpu),
	.help = N_("only rows that serve this GPU") };
const struct opt opt_check = { .name = "check", .kind = OPT_FLAG, AT(check),
	.help = N_("validate the tables") };

const struct opt *const shared_opts[] = {
	&opt_json, &opt_format, &opt_root, &opt_facts, &opt_python, &opt_assume, &opt_no_live,
	&opt_data, &opt_lang, &opt_color, &opt_strict, &opt_error, &opt_ignore, &opt_help,
	&opt_version, NULL,
};
/* clang-format on */

struct parser {
	struct arena *a;
	const struct cmd *cmd;
	struct options *o;
	struct err *err;
};

static const struct opt *find_in(const struct opt *const *rows, const char *name, char letter)
{
	for (; rows && *rows; rows++)
		if (name ? strcmp((*rows)->name, name) == 0 : (*rows)->letter == letter)
			return *rows;
	return NULL;
}

static const struct opt *find(const struct parser *p, const char *name, char letter)
{
	const struct opt *o = p->cmd ? find_in(p->cmd->opts, name, letter) : NULL;

	return o ? o : find_in(shared_opts, name, letter);
}

static int unknown(const struct parser *p, const char *shown, const char *name)
{
	const char *names[64] = { 0 };
	const struct opt *const *rows;
	const char *near;
	size_t n = 0;

	for (rows = p->cmd ? p->cmd->opts : NULL; rows && *rows && n < ARRAY_LEN(names) - 1; rows++)
		names[n++] = (*rows)->name;
	for (rows = shared_opts; *rows && n < ARRAY_LEN(names) - 1; rows++)
		names[n++] = (*rows)->name;
	near = suggest(name, names);
	if (near)
		return err_set(p->err, ERR_USAGE, _("unknown option %.80s; did you mean --%s?"),
			       shown, near);
	return err_set(p->err, ERR_USAGE, _("unknown option %.80s; see `cuvet %s%s--help`"), shown,
		       p->cmd ? p->cmd->name : "", p->cmd ? " " : "");
}

static bool among(const char *choices, const char *value)
{
	struct view rest = view_of(choices), one;

	while (rest.n) {
		one = view_cut(rest, '|', &rest);
		if (view_is(one, value))
			return true;
	}
	return false;
}

static int store(const struct parser *p, const struct opt *o, const char *value)
{
	unsigned char *base = (unsigned char *)p->o;
	struct str_list *list;

	if (o->choices && !among(o->choices, value))
		return err_set(p->err, ERR_USAGE, _("--%s %.80s: must be one of %s"), o->name,
			       value, o->choices);
	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)(void *)(base + o->offset) = true;
		break;
	case OPT_STRING:
		*(const char **)(void *)(base + o->offset) = value;
		break;
	case OPT_LIST:
		list = (struct str_list *)(void *)(base + o->offset);
		*ARENA_APPEND(p->a, list->v, list->n) = value;
		break;
	}
	return 0;
}

/* One "--name", "--name=value", "-x"; *i stands on it and moves over a separate value. */
static int take(const struct parser *p, int argc, char **argv, int *i)
{
	const char *arg = argv[*i], *eq = NULL, *name;
	const struct opt *o;

	if (arg[1] == '-') {
		eq = strchr(arg, '=');
		name = eq ? arena_strndup(p->a, arg + 2, (size_t)(eq - arg - 2)) : arg + 2;
		o = find(p, name, 0);
		if (!o)
			return unknown(p, arena_printf(p->a, "--%s", name), name);
	} else {
		o = arg[2] == '\0' ? find(p, NULL, arg[1]) : NULL;
		if (!o)
			return unknown(p, arg, arg + 1);
	}
	if (o->kind == OPT_FLAG)
		return eq ? err_set(p->err, ERR_USAGE, _("--%s takes no value"), o->name)
			  : store(p, o, NULL);
	if (eq)
		return store(p, o, eq + 1);
	if (*i + 1 >= argc)
		return err_set(p->err, ERR_USAGE, _("--%s needs a value (%s)"), o->name, o->arg);
	return store(p, o, argv[++*i]);
}

int opts_parse(struct arena *a, const struct cmd *cmd, int argc, char **argv, int from,
	       struct options *o, struct err *err)
{
	struct parser p = { .a = a, .cmd = cmd, .o = o, .err = err };
	bool operands = false;
	int i, r;

	for (i = from; i < argc; i++) {
		if (operands || argv[i][0] != '-' || argv[i][1] == '\0') {
			*ARENA_APPEND(a, o->args.v, o->args.n) = argv[i];
		} else if (strcmp(argv[i], "--") == 0) {
			operands = true;
		} else {
			r = take(&p, argc, argv, &i);
			if (r)
				return r;
		}
	}
	return 0;
}

bool opt_shared(const struct cmd *cmd, const struct opt *o, struct opt *ret)
{
	if (find_in(cmd->opts, o->name, 0))
		return false;
	*ret = *o;
	if (o == &opt_format && !cmd->judges)
		ret->choices = "text|json|markdown";
	return true;
}

void opts_put(struct strbuf *out, const struct opt *const *rows, opt_put *put)
{
	for (; rows && *rows; rows++)
		put(out, *rows);
}

void opts_put_shared(struct strbuf *out, const struct cmd *cmd, opt_put *put)
{
	const struct opt *const *row;
	struct opt o;

	for (row = shared_opts; *row; row++)
		if (!cmd)
			put(out, *row);
		else if (opt_shared(cmd, *row, &o))
			put(out, &o);
}

int opts_command_at(int argc, char **argv)
{
	const struct opt *o;
	const char *name;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (argv[i][1] != '-')
			o = argv[i][2] ? NULL : find_in(shared_opts, NULL, argv[i][1]);
		else if (strchr(argv[i], '='))
			continue;
		else {
			name = argv[i] + 2;
			o = name[0] ? find_in(shared_opts, name, 0) : NULL;
		}
		if (!o)
			return 0;
		i += o->kind != OPT_FLAG;
	}
	return i < argc ? i : 0;
}
