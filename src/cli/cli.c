/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up, dispatch and the two outputs: the result on stdout, one line of complaint on stderr. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/version.h"
#include "cli/docs.h"
#include "cli/help.h"
#include "cli/opts.h"
#include "report/report.h"

extern const struct cmd cmd_check, cmd_plan, cmd_env, cmd_show, cmd_explain, cmd_snapshot,
	cmd_data, cmd_inspect, cmd_prove, cmd_fetch, cmd_triage, cmd_guide;

const struct cmd *const cmds[] = {
	&cmd_check, &cmd_triage,  &cmd_guide, &cmd_plan,	 &cmd_fetch,	&cmd_env,
	&cmd_prove, &cmd_inspect, &cmd_show,  &cmd_explain, &cmd_snapshot, &cmd_data,
	NULL,
};

/*
 * A closed descriptor 0, 1 or 2 would be taken by the next open() and written to as if it were the
 * terminal. Standing in for stdout and stderr is a read-only /dev/null, so that writing to them
 * still fails.
 */
static void hold_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int cli_fail(const struct err *err)
{
	struct arena *a = arena_new(NULL);
	struct strbuf b;
	int code = err_exit_code(err->code);

	strbuf_init(&b, a);
	strbuf_add(&b, "cuvet: ");
	put_clean(&b, err->msg[0] ? err->msg : _(err_text(err->code)));
	strbuf_addc(&b, '\n');
	/* Nothing is left to do when stderr fails too. */
	if (file_write_fd(STDERR_FILENO, "stderr", (struct view){ .p = b.s, .n = b.n }, NULL))
		code = code ? code : EXIT_CANNOT;
	arena_free(a);
	return code;
}

/* As other tools end whose reader (`| head`) has seen enough: by the signal, without a word. */
static int end_by_sigpipe(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGPIPE);
	return EXIT_CANNOT;
}

int cli_write(const struct run *r, const char *text, size_t n)
{
	struct err err = { 0 };

	if (!file_write_fd(r->out_fd, _("standard output"), (struct view){ .p = text, .n = n },
			   &err))
		return EXIT_OK;
	return errno == EPIPE ? end_by_sigpipe() : cli_fail(&err);
}

static int write_buffer(struct run *r, const struct strbuf *b)
{
	return cli_write(r, b->s, b->n);
}

static int unknown_command(const char *name)
{
	const char *names[ARRAY_LEN(cmds)] = { 0 };
	struct err err;
	const char *near;
	size_t i;

	for (i = 0; cmds[i]; i++)
		names[i] = cmds[i]->name;
	near = suggest(name, names);
	if (near)
		err_set(&err, ERR_USAGE, _("unknown command %.80s; did you mean %s?"), name, near);
	else
		err_set(&err, ERR_USAGE, _("unknown command %.80s; `cuvet --help` lists them"),
			name);
	return cli_fail(&err);
}

static const struct cmd *find_command(const char *name)
{
	size_t i;

	for (i = 0; cmds[i]; i++)
		if (strcmp(cmds[i]->name, name) == 0)
			return cmds[i];
	return NULL;
}

static int print_version(struct run *r)
{
	return cli_write(r, "cuvet " CUVET_VERSION "\n", sizeof("cuvet " CUVET_VERSION "\n") - 1);
}

static int print_help(struct run *r, const struct cmd *cmd, bool dump)
{
	struct strbuf b;

	strbuf_init(&b, r->a);
	if (dump)
		help_dump(&b);
	else
		help_put(&b, cmd);
	return write_buffer(r, &b);
}

static int print_document(struct run *r, const char *what)
{
	struct strbuf b;
	struct err err;

	strbuf_init(&b, r->a);
	if (docs_put(&b, what))
		return write_buffer(r, &b);
	err_set(&err, ERR_USAGE,
		_("--dump-docs %.80s: no such document; `--dump-docs list` names the pages"), what);
	return cli_fail(&err);
}

/* What CI systems read is there for findings alone. */
static bool format_fits(const struct cmd *cmd, const char *format)
{
	static const char *const all[] = { "text", "json", "markdown" };
	size_t i;

	if (!format || !cmd || cmd->judges)
		return true;
	for (i = 0; i < ARRAY_LEN(all); i++)
		if (strcmp(all[i], format) == 0)
			return true;
	return false;
}

/* `cuvet --json plan` is `cuvet plan --json`: a command behind shared options moves forward. */
static void command_first(int argc, char **argv)
{
	int at = opts_command_at(argc, argv);
	char *name = at > 1 ? argv[at] : NULL;

	if (!name || !(find_command(name) || strcmp(name, "help") == 0))
		return;
	memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof(argv[0]));
	argv[1] = name;
}

static int dispatch(struct run *r, struct options *o, int argc, char **argv)
{
	const struct cmd *cmd = NULL;
	struct err err = { 0 };
	int from = 1;

	command_first(argc, argv);
	if (argc > 1 && strcmp(argv[1], "--dump-cli") == 0)
		return print_help(r, NULL, true);
	if (argc > 2 && strcmp(argv[1], "--dump-docs") == 0)
		return print_document(r, argv[2]);
	if (argc > 1 && argv[1][0] != '-') {
		cmd = find_command(argv[1]);
		if (!cmd && strcmp(argv[1], "help") == 0)
			return print_help(r, argc > 2 ? find_command(argv[2]) : NULL, false);
		/* Without a command: check, also of a file that is there. */
		if (!cmd && access(argv[1], F_OK) != 0)
			return unknown_command(argv[1]);
		from = cmd ? 2 : 1;
	}
	if (opts_parse(r->a, cmd ? cmd : &cmd_check, argc, argv, from, o, &err))
		return cli_fail(&err);
	lang_choose(o->lang);
	if (o->version)
		return print_version(r);
	if (o->help)
		return print_help(r, cmd, false);
	if (o->json && o->format && strcmp(o->format, "json") != 0) {
		err_set(&err, ERR_USAGE, _("--json and --format %s exclude each other"), o->format);
		return cli_fail(&err);
	}
	if (!format_fits(cmd, o->format)) {
		err_set(&err, ERR_USAGE, _("--format %s goes with check and triage alone"),
			o->format);
		return cli_fail(&err);
	}
	if (o->json)
		o->format = "json";
	if (o->format && strcmp(o->format, "json") == 0)
		o->json = true;
	return (cmd ? cmd : &cmd_check)->run(r);
}

int cli_main(int argc, char **argv)
{
	struct options o = { 0 };
	struct run r = { .o = &o, .out_fd = STDOUT_FILENO };
	int code;

	hold_standard_fds();
	/* A reader that went away shows where something is written, not as a death half-way. */
	signal(SIGPIPE, SIG_IGN);
	r.a = arena_new(NULL);
	r.out_tty = isatty(STDOUT_FILENO);
	code = dispatch(&r, &o, argc, argv);
	arena_free(r.a);
	return code;
}
