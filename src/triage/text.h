/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pasted text as clean lines, each with the number that it had in the paste and the command whose
 * output it is. Everything here is bounded by the size of the input (faults: P1-P6, P8, P9).
 */
#ifndef TRIAGE_TEXT_H
#define TRIAGE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/view.h"

struct arena;

enum { NO_COMMAND = -1, TEXT_LINES_MAX = 1000000 };
/* The whole line is a command, without a prompt. */
enum { CMD_BARE = UINT16_MAX };
/* Of a huge log facts are looked for in its first and its last lines, signs in all of it. */
enum { FACT_LINES_HEAD = 12000, FACT_LINES_TAIL = 4000 };

struct line {
	struct view s;	 /* without blanks at its ends */
	uint32_t number; /* in the paste, from 1 */
	int32_t by;	 /* index of the prompt line whose output this is, or NO_COMMAND */
	uint16_t cmd_at; /* where in s the command stands that was typed; 0: none; or CMD_BARE */
	uint16_t file;	 /* which of several texts */
	bool wished;	 /* of a project file: it says what is to be installed, not what is */
	bool benign;	 /* a message is known that says no ill; set by the signatures */
	uint16_t owner;	 /* of owner.h: which machine, environment, time; 0: nothing says it */
};

/* The command of a prompt line; empty for others. */
static inline struct view line_cmd(const struct line *l)
{
	if (l->cmd_at == CMD_BARE)
		return l->s;
	return l->cmd_at ? view_skip(l->s, l->cmd_at) : (struct view){ 0 };
}

/* What stands before the command of a prompt line. */
static inline struct view line_prompt(const struct line *l)
{
	return (struct view){ .p = l->s.p, .n = l->cmd_at == CMD_BARE ? 0 : l->cmd_at };
}

struct text {
	struct view s; /* all of it, normalised: LF at line ends, UTF-8, no controls */
	struct line *lines;
	size_t n;
	bool cut; /* lines beyond TEXT_LINES_MAX were left out */
	size_t service_line; /* index + 1 of the first whose prefix names a service; 0: none */
	size_t n_files;
	const char **files; /* names, for sources */
	uint32_t *joints;   /* ascending places in s where the end of a line was taken out */
	size_t n_joints;
};

/*
 * Adds one text; may be called for several, which are one case. `name` NULL: "pasted". The bytes of
 * `raw` are overwritten and stay in use: they belong to the arena.
 */
void text_add(struct arena *a, struct text *t, const char *name, struct view raw);
/* "pasted line 12", or "notes.txt line 12" when there are several texts. */
const char *text_source(struct arena *a, const struct text *t, size_t line);
/*
 * Of a line that was joined of several the part, or parts, in which `hit` stands, as they stood in
 * the paste; the whole line when hit is not of it. ret_number: of its first line there.
 */
struct view text_piece(const struct text *t, size_t line, struct view hit, uint32_t *ret_number);
/* As text_source, for that number. */
const char *text_source_at(struct arena *a, const struct text *t, size_t line, uint32_t number);
/* Index of the line in which byte `at` of s lies. */
size_t text_line_at(const struct text *t, size_t at);
/* Does the prompt line `i` have output?  Blank lines are none. */
bool text_silent(const struct text *t, size_t i);

/*
 * Is line i the fence of a block of code?  Its text is empty and still stands there; ret_info (may
 * be NULL): what stands behind the marks ("python").
 */
bool text_fence(const struct text *t, size_t i, struct view *ret_info);

/* Steps of normalisation, for tests and fuzzing. */
/* To UTF-8, whatever it was, but for single bytes that are none; of a binary the readable parts. */
struct view text_decode(struct arena *a, struct view raw);
/* In place: what stood in strings of JSON and other formats has its line ends and marks back. */
struct view text_unescape(struct view utf8);
/* In place: valid UTF-8 without escapes, controls, entities. */
struct view text_clean(struct view utf8);
/* The command of a prompt line ("$ ls -l", ">>> x", "PS C:\> dir"); empty when it is none. */
struct view text_prompt(struct view line);
/* Does the line begin, perhaps behind "sudo", with a program that helpdesks ask for? */
bool text_is_program(struct view line);
/* The line without the time, level, service or pod that a log writes in front of it. */
struct view text_unlogged(struct view line);
/* Does the line begin with what compose puts before a service's lines ("web_1  | ")? */
bool text_of_service(struct view line);
/*
 * Makes blanks of the time, service or rank between s and the line's text at `end`, for a message
 * of several lines. What names a program stays: "kernel:", "[real_accelerator.py:161]".
 */
void text_blank_log(char *s, const char *end);
/*
 * Where no line is longer than a terminal of 80 columns and some fill it, those were broken there:
 * joins them in place; or where lines of a wrapped text go on between words. A CR behind the end or
 * between the words stands for each end that was taken out, for the lines' numbers; blanks fill the
 * rest.
 */
void text_unwrap(char *s, size_t n);
/* In place: words of messages and numbers that were misread from a picture. */
void text_mend_ocr(char *s, size_t n);
/* Makes blanks of "[e.g. Ubuntu 22.04]", the examples of a form that nobody filled in. */
void text_blank_examples(char *s, size_t n);
/* Makes blanks of what a chatbot said ("ChatGPT says: ..."): it guesses. */
void text_blank_advice(char *s, size_t n);
/* Makes blanks of what stands at the margin of every line: numbers, ranks, a frame, a patch's plus.
 */
void text_unmargin(char *s, size_t n);

#endif
