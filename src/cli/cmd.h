/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands and options: const rows from which parsing, help, completion and the manual's option
 * lists come.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct arena;

/* Exit codes: design.md, and the manual. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_BLOCKED = 1,
	EXIT_USAGE = 2,
	EXIT_UNDETERMINED = 3,
	EXIT_CANNOT = 4
};

struct str_list {
	const char **v;
	size_t n;
};

/* All option values of a run; a command reads those that its rows list. */
struct options {
	bool json, strict, no_live, help, version, deep, no_cache, check;
	bool driver_upgrade, all; /* plan */
	bool allow_older;
	bool quick, full, bench, exec, keep_going; /* prove */
	const char *stack;
	const char *from, *trust_key;
	const char *pid; /* inspect */
	const char *reply; /* triage */
	bool each, facts_only;
	bool fix, yes; /* check */
	bool dev, unset, dry_run; /* env */
	const char *shell, *env_format, *cuda, *cudnn, *write, *remove; /* env */
	bool accept_license, allow_http, offline; /* fetch */
	const char *prefix, *cache, *mirror, *platform, *components, *into, *ca_bundle, *proxy,
		*retries, *limit_rate, *max_size; /* fetch */
	const char *fix_script; /* check, triage, plan */
	bool force;
	const char *timeout; /* seconds, of check and snapshot */
	const char *format, *root, *facts, *python, *data, *lang, *colour, *gpu, *batch;
	struct str_list assume, require, error, ignore, requirement;
	struct str_list args; /* operands */
};

enum opt_kind { OPT_FLAG, OPT_STRING, OPT_LIST };

struct opt {
	const char *name; /* "assume": --assume */
	char letter;	  /* 'j' or 0 */
	enum opt_kind kind;
	const char *arg;      /* "K=V" */
	const char *help;     /* one line, N_() */
	const char *choices;  /* "text|json|markdown" or NULL: checked by the parser */
	size_t offset;	      /* into struct options */
};

struct run {
	struct arena *a;
	const struct options *o;
	int out_fd; /* stdout: the result alone */
	bool out_tty;
};

struct cmd {
	const char *name;
	const char *args;    /* "[SOURCE...]" */
	const char *words;   /* first operands that shells complete: "status|update"; NULL: files */
	bool judges;	     /* ends in findings: formats of CI systems, too */
	const char *summary; /* one line, N_() */
	const char *details; /* paragraphs for --help and the manual, N_() */
	const struct opt *const *opts; /* NULL-terminated, besides the shared ones */
	int (*run)(struct run *r);     /* exit code */
};

extern const struct cmd *const cmds[]; /* NULL-terminated, in the order of the manual */
extern const struct opt *const shared_opts[];

/* Whole program. argv[0] may be NULL. */
int cli_main(int argc, char **argv);

/* For commands: one line "cuvet: MESSAGE" on stderr; returns the error's exit code. */
int cli_fail(const struct err *err);
/*
 * Writes the result to stdout; a full or closed stdout is EXIT_CANNOT with one line on stderr. A
 * pipe that nobody reads any more ends the process by SIGPIPE.
 */
int cli_write(const struct run *r, const char *text, size_t n);

#endif
