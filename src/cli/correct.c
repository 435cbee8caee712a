/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check --fix: corrections of lines that the rules are certain of. Each is tried on the text in
 * memory and judged again, for all targets, before it is offered; files are replaced as a whole.
 */
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cli/cmd.h"
#include "cli/judged.h"
#include "cli/targets.h"
#include "env/env.h"
#include "project/edit.h"
#include "project/project.h"
#include "report/report.h"

enum { ROUNDS = 200 };

struct text {
	const char *path;
	struct view before, now;
};

struct fix {
	struct run *r;
	struct compat *c;
	struct text *texts;
	size_t n_texts;
	struct left {
		const struct finding *f;
		const char *key, *why;
	} *left; /* what is left alone */
	size_t n_left;
	struct results now;
};

/* What a finding is about, whatever its line is by now. */
static const char *key_of(struct arena *a, const struct finding *f)
{
	return arena_printf(a, "%d %s %s", (int)f->id, f->subject,
			    f->n_evidence ? f->evidence[0].seen : "");
}

static bool is_left(const struct fix *x, const char *key)
{
	size_t i;

	for (i = 0; i < x->n_left; i++)
		if (strcmp(x->left[i].key, key) == 0)
			return true;
	return false;
}

static void leave(struct fix *x, const struct finding *f, const char *why)
{
	*ARENA_APPEND(x->r->a, x->left, x->n_left) =
		(struct left){ .f = f, .key = key_of(x->r->a, f), .why = why };
}

static const struct remedy *certain(const struct finding *f)
{
	size_t i;

	for (i = 0; i < f->n_remedies; i++)
		if (f->remedies[i].n_corrections)
			return &f->remedies[i];
	return NULL;
}

/* "FILE:LINE:COLUMN" */
static bool place_of(struct arena *a, const char *at, const char **ret_file, struct edit *e)
{
	size_t n = strlen(at), i, k;
	uint64_t number[2];

	for (i = 0; i < 2; i++) {
		for (k = n; k && at[k - 1] >= '0' && at[k - 1] <= '9'; k--)
			;
		if (k == n || k < 2 || at[k - 1] != ':' ||
		    !view_u64((struct view){ .p = at + k, .n = n - k }, 10, &number[i]))
			return false;
		n = k - 1;
	}
	*ret_file = arena_strndup(a, at, n);
	e->column = (size_t)number[0];
	e->line = (size_t)number[1];
	return true;
}

static struct text *text_of(struct fix *x, struct text **texts, size_t *n, const char *path)
{
	struct view v;
	size_t i;

	for (i = 0; i < *n; i++)
		if (same_path((*texts)[i].path, path))
			return &(*texts)[i];
	if (file_read(x->r->a, path, PROJECT_FILE_MAX, &v, NULL))
		return NULL;
	*ARENA_APPEND(x->r->a, *texts, *n) =
		(struct text){ .path = path, .before = v, .now = v };
	return &(*texts)[*n - 1];
}

/* All corrections of a remedy on copies of the texts; false when a line is not as expected. */
static bool apply(struct fix *x, const struct remedy *r, struct text **texts, size_t *n)
{
	size_t i;

	for (i = 0; i < r->n_corrections; i++) {
		const struct correction *c = &r->corrections[i];
		struct edit e = { .kind = (enum edit_kind)c->kind, .old = c->old, .new = c->new };
		const char *file;
		struct text *t;

		if (!c->at || !place_of(x->r->a, c->at, &file, &e))
			return false;
		t = text_of(x, texts, n, file);
		if (!t || (!edit_apply(x->r->a, t->now, &e, &t->now) &&
			   !edit_apply_arg(x->r->a, t->now, &e, &t->now)))
			return false;
	}
	return true;
}

static int judge_with(struct fix *x, const struct text *texts, size_t n, struct results *ret)
{
	struct project_overlay *o = arena_calloc(x->r->a, n + 1, sizeof(*o));
	size_t i;

	for (i = 0; i < n; i++)
		o[i] = (struct project_overlay){ .path = texts[i].path, .text = texts[i].now };
	return targets_judge(x->r, &x->c, o, n, ret);
}

static bool has(const struct results *r, struct arena *a, const char *key)
{
	size_t i;

	for (i = 0; i < r->n_findings; i++)
		if (strcmp(key_of(a, r->findings[i]), key) == 0)
			return true;
	return false;
}

/*
 * Is it gone, and is nothing wrong that was not before? What stood beside a root cause as a warning
 * becomes an error when that is gone: it was there.
 */
static bool settles(struct fix *x, const struct finding *f, const struct results *after)
{
	size_t i;

	if (has(after, x->r->a, key_of(x->r->a, f)))
		return false;
	for (i = 0; i < after->n_findings; i++)
		if (after->findings[i]->severity == SEVERITY_ERROR &&
		    !has(&x->now, x->r->a, key_of(x->r->a, after->findings[i])))
			return false;
	return true;
}

static int try_one(struct fix *x, const struct finding *f)
{
	const struct remedy *r = certain(f);
	struct text *texts = arena_calloc(x->r->a, x->n_texts + 1, sizeof(*texts));
	size_t n = x->n_texts;
	struct results after;
	int code;

	if (!r) {
		leave(x, f, _("more than one correction is possible"));
		return 0;
	}
	if (n)
		memcpy(texts, x->texts, n * sizeof(*texts));
	if (!apply(x, r, &texts, &n)) {
		leave(x, f, _("its line is written in a way that is not changed by itself"));
		return 0;
	}
	code = judge_with(x, texts, n, &after);
	if (code)
		return code;
	if (!settles(x, f, &after)) {
		leave(x, f, _("the correction of this line alone does not settle it"));
		return 0;
	}
	x->texts = texts;
	x->n_texts = n;
	x->now = after;
	return 0;
}

static const struct finding *next(struct fix *x)
{
	size_t i;

	for (i = 0; i < x->now.n_findings; i++) {
		const struct finding *f = x->now.findings[i];

		if ((f->severity == SEVERITY_ERROR || certain(f)) &&
		    !is_left(x, key_of(x->r->a, f)))
			return f;
	}
	return NULL;
}

/* -------- what is shown, asked and written */

static void show(const struct fix *x, struct strbuf *out)
{
	struct strbuf diff;
	struct view rest, line;
	size_t i;

	strbuf_init(&diff, x->r->a);
	for (i = 0; i < x->n_texts; i++)
		edit_diff(x->r->a, x->texts[i].path, x->texts[i].before, x->texts[i].now, &diff);
	rest = (struct view){ .p = diff.s, .n = diff.n };
	while (rest.n && view_line(&rest, &line))
		strbuf_printf(out, "%s\n", clean(x->r->a, view_dup(x->r->a, line)));
	for (i = 0; i < x->n_left; i++) {
		const struct finding *f = x->left[i].f;

		strbuf_printf(out, _("Left alone: %s: %s (%s)\n"),
			      clean(x->r->a, f->n_evidence ? f->evidence[0].source : f->subject),
			      finding_info(f->id)->name, x->left[i].why);
	}
	if (!diff.n && !x->n_left)
		strbuf_printf(out, "%s\n", _("There is nothing to correct."));
}

static bool answered_yes(void)
{
	char answer[16] = "";
	ssize_t n;

	n = read(STDIN_FILENO, answer, sizeof(answer) - 1);
	return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

static int write_all(struct fix *x)
{
	struct err err;
	size_t i;

	for (i = 0; i < x->n_texts; i++) {
		const struct text *t = &x->texts[i];
		struct env_file f;

		if (env_file_read(x->r->a, t->path, &f, &err))
			return cli_fail(&err);
		if (!f.exists || f.text.n != t->before.n ||
		    memcmp(f.text.p, t->before.p, f.text.n) != 0) {
			err_set(&err, ERR_IO, _("%s: changed meanwhile; nothing was written"),
				t->path);
			return cli_fail(&err);
		}
		if (env_file_write(x->r->a, &f, &t->now, false, &err))
			return cli_fail(&err);
	}
	return 0;
}

static int tell(struct fix *x, bool *ret_write)
{
	const struct options *o = x->r->o;
	bool ask = !o->yes && isatty(STDIN_FILENO);
	struct strbuf out;
	int code;

	strbuf_init(&out, x->r->a);
	show(x, &out);
	if (x->n_texts && ask)
		strbuf_add(&out, _("Write this? [y/N] "));
	else if (x->n_texts && !o->yes)
		strbuf_printf(&out, "%s\n", _("Nothing was written: --yes writes it."));
	code = cli_write(x->r, out.s, out.n);
	*ret_write = !code && x->n_texts && (o->yes || (ask && answered_yes()));
	return code;
}

int correct_run(struct run *r)
{
	struct fix x = { .r = r };
	struct results before;
	const struct finding *f;
	bool write_it;
	int code, round;

	code = judge_with(&x, NULL, 0, &x.now);
	before = x.now;
	for (round = 0; !code && round < ROUNDS && (f = next(&x)); round++)
		code = try_one(&x, f);
	if (!code)
		code = tell(&x, &write_it);
	if (code)
		return code;
	code = write_it ? write_all(&x) : 0;
	return code ? code : judged_exit(r->o, write_it ? x.now.verdict : before.verdict);
}
