/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcuvet: will a GPU deep-learning stack run on a machine, and if not, which one thing is broken?
 * The engine of the program cuvet, for installers, launchers and monitors.
 *
 *	struct cuvet *c;
 *	const char *text;
 *	size_t n;
 *
 *	if (cuvet_open(NULL, &c) == CUVET_OK && cuvet_look_live(c) == CUVET_OK &&
 *	    cuvet_judge(c) >= 0 && cuvet_report(c, "json", &text, &n) == CUVET_OK)
 *		fwrite(text, 1, n, stdout);
 *	else
 *		fprintf(stderr, "%s\n", cuvet_error(c));
 *	cuvet_close(c);
 *
 * The library never prints, never exits, and executes nothing of what it judges. Functions may be
 * added; none of these is changed or taken away within libcuvet.so.0.
 *
 * Threads. A context belongs to one thread at a time; different contexts do not know each other.
 * The locale and the working directory of the process stay as they are; texts come in the
 * language that the environment's LANGUAGE names ("ko"), else in English. A live look forks
 * children that call the driver's libraries, each with a deadline, and waits for these children
 * alone; when the process ignores SIGCHLD, its action is set to the default. cuvet_look_files
 * starts sqfs2tar for a squashfs image. No other function forks, and none uses the network.
 *
 * Memory. What a function hands out belongs to the context, and lives until the next cuvet_look_*,
 * cuvet_reset or cuvet_close. When memory runs out the call fails with CUVET_ERROR_MEMORY; what it
 * had opened is closed. That context then only serves cuvet_error and cuvet_close.
 */
#ifndef CUVET_H
#define CUVET_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUVET_API __attribute__((visibility("default")))
#else
#define CUVET_API
#endif

/* A context: the compatibility tables, what was asked for, one snapshot and its judgement. */
struct cuvet;

enum cuvet_status {
	CUVET_OK = 0,
	CUVET_ERROR_MEMORY = -1, /* out of memory */
	CUVET_ERROR_USAGE = -2,  /* unknown key, value, format or name; a call out of order */
	CUVET_ERROR_INPUT = -3,  /* what was to be read is malformed */
	CUVET_ERROR_IO = -4,	 /* it could not be read */
	CUVET_ERROR_DATA = -5	 /* the compatibility tables are damaged */
};

enum cuvet_verdict {
	CUVET_STACK_OK = 0,
	CUVET_DEGRADED = 1,    /* it runs, with warnings */
	CUVET_BLOCKED = 2,     /* it will not run as it is */
	CUVET_UNDETERMINED = 3 /* what is known does not decide */
};

/* Version of the library: "0.1.0". */
CUVET_API const char *cuvet_version(void);
/* "stack-ok", "degraded", "blocked", "undetermined"; NULL for anything else. */
CUVET_API const char *cuvet_verdict_name(int verdict);

/*
 * Opens a context. data_dir: a folder of tables, or NULL for those that are built in or installed
 * for this user. *ret is set also when it fails, for cuvet_error(), except without memory (NULL).
 */
CUVET_API int cuvet_open(const char *data_dir, struct cuvet **ret);
/* Accepts NULL. */
CUVET_API void cuvet_close(struct cuvet *c);
/* What the last failed call could not do, one line; "" when none failed. NULL context: "out of
 * memory". Lives until the next call. */
CUVET_API const char *cuvet_error(const struct cuvet *c);
/* Date of the tables, "2026-11-30". */
CUVET_API const char *cuvet_data_date(struct cuvet *c);

/*
 * What holds for the looks that follow, until cuvet_reset. Values are read when they are used, so
 * that a bad one is an error of the look.
 */
/* A declared fact, "gpu=T4", as cuvet --assume takes it. Repeatable. */
CUVET_API int cuvet_assume(struct cuvet *c, const char *key_value);
/* What must hold, "cc>=8.0", as cuvet check --require takes it. Repeatable. */
CUVET_API int cuvet_require(struct cuvet *c, const char *condition);
/*
 * Options: "python" (interpreter or prefix to judge), "timeout" (seconds for a call of the driver,
 * 1 to 600), "deep" ("yes": wait for slow calls of the driver), "ignore" and "error" (name of a
 * finding; repeatable).
 */
CUVET_API int cuvet_set(struct cuvet *c, const char *option, const char *value);
/* Forgets assumptions, requirements, options, snapshot and judgement. */
CUVET_API int cuvet_reset(struct cuvet *c);

/* -------- looks: each takes a new snapshot in the place of the last one */
/* This machine. */
CUVET_API int cuvet_look_live(struct cuvet *c);
/* A tree below dir. facts: file with what a tree cannot hold; NULL: DIR/../facts.json if there. */
CUVET_API int cuvet_look_root(struct cuvet *c, const char *dir, const char *facts);
/*
 * What `cuvet check SOURCE...` takes: an image, a saved snapshot or report, project files, a folder
 * of them. What they would run on is declared with cuvet_assume.
 */
CUVET_API int cuvet_look_files(struct cuvet *c, const char *const *paths, size_t n);
/* Pasted text, as `cuvet triage` reads it. name: for evidence; NULL. */
CUVET_API int cuvet_look_text(struct cuvet *c, const char *name, const char *text, size_t n);
/* A saved snapshot or report in memory. name: for messages; NULL. */
CUVET_API int cuvet_look_json(struct cuvet *c, const char *name, const char *json, size_t n);
/* Nothing but what was assumed. */
CUVET_API int cuvet_look_assumed(struct cuvet *c);

/* -------- results of the last look */
/* An enum cuvet_verdict, or a negative status. */
CUVET_API int cuvet_judge(struct cuvet *c);
/* Name of the finding that is the root cause, "driver-too-old"; NULL: none, or not judged. */
CUVET_API const char *cuvet_root_cause(const struct cuvet *c);
/*
 * The judgement as "json" (schema cuvet.report/1), "text", "markdown", "sarif", "junit", "github",
 * "gitlab" or "checkstyle". UTF-8 with a NUL behind the n bytes.
 */
CUVET_API int cuvet_report(struct cuvet *c, const char *format, const char **ret, size_t *ret_n);
/* The facts, users and identifiers masked, as JSON (schema cuvet.snapshot/1). */
CUVET_API int cuvet_snapshot(struct cuvet *c, const char **ret, size_t *ret_n);

#ifdef __cplusplus
}
#endif

#endif
