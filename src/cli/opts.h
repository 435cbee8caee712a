/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of options that several commands share, and the parser over them. */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include "cli/cmd.h"

extern const struct opt opt_json, opt_format, opt_root, opt_facts, opt_python, opt_assume,
	opt_no_live, opt_data, opt_lang, opt_color, opt_strict, opt_error, opt_ignore, opt_help,
	opt_version, opt_deep, opt_no_cache, opt_timeout, opt_require, opt_gpu, opt_check;

/*
 * Parses argv[from..] by the rows of `cmd` (may be NULL) and the shared ones. Operands go to
 * o->args. ERR_USAGE with the nearest option when one is unknown, an argument is missing or a value
 * is not among the choices.
 */
int opts_parse(struct arena *a, const struct cmd *cmd, int argc, char **argv, int from,
	       struct options *o, struct err *err) ATTR_MUST;

/*
 * A shared option as it holds for a command: false when the command has one of that name itself;
 * formats of CI systems are there for findings alone.
 */
bool opt_shared(const struct cmd *cmd, const struct opt *o, struct opt *ret);

/*
 * PUT for each row of a command (may be NULL), and for each shared one as it holds for CMD (NULL:
 * all of them).
 */
struct strbuf;
typedef void opt_put(struct strbuf *out, const struct opt *o);
void opts_put(struct strbuf *out, const struct opt *const *rows, opt_put *put);
void opts_put_shared(struct strbuf *out, const struct cmd *cmd, opt_put *put);

/*
 * Where the first operand stands behind shared options and their values: 3 in `--lang ko show`.
 * 0 when there is none, or an option before it belongs to one command.
 */
int opts_command_at(int argc, char **argv);

#endif
