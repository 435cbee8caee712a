/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, closing and asking a context; looks nowhere. */
#include "api/context.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/version.h"
#include "base/view.h"

enum { TIMEOUT_MAX_S = 600 };

const char *cuvet_version(void)
{
	return CUVET_VERSION;
}

const char *cuvet_verdict_name(int verdict)
{
	static const enum verdict ours[] = {
		[CUVET_STACK_OK] = VERDICT_STACK_OK,
		[CUVET_DEGRADED] = VERDICT_DEGRADED,
		[CUVET_BLOCKED] = VERDICT_BLOCKED,
		[CUVET_UNDETERMINED] = VERDICT_UNDETERMINED,
	};

	if (verdict < 0 || (size_t)verdict >= ARRAY_LEN(ours))
		return NULL;
	return verdict_name(ours[verdict]);
}

static int do_open(struct cuvet *c, const void *with)
{
	const char *dir = with;

	c->tables = api_arena(c);
	c->asking = api_arena(c);
	if (compat_open(c->tables, dir ? arena_strdup(c->tables, dir) : NULL, &c->compat, &c->err))
		return api_status(c);
	return CUVET_OK;
}

int cuvet_open(const char *data_dir, struct cuvet **ret)
{
	struct cuvet *c;

	if (!ret)
		return CUVET_ERROR_USAGE;
	*ret = c = calloc(1, sizeof(*c));
	if (!c)
		return CUVET_ERROR_MEMORY;
	return api_call(c, do_open, data_dir);
}

void cuvet_close(struct cuvet *c)
{
	if (!c)
		return;
	arena_free(c->look);
	arena_free(c->asking);
	arena_free(c->tables);
	free(c);
}

const char *cuvet_error(const struct cuvet *c)
{
	return c ? c->err.msg : _("out of memory");
}

static int do_date(struct cuvet *c, const void *with)
{
	const char **ret = *(const char **const *)with;

	if (!c->compat)
		return api_usage(c, "%s", _("the context could not be opened"));
	*ret = compat_date(c->compat);
	return CUVET_OK;
}

const char *cuvet_data_date(struct cuvet *c)
{
	const char *date = NULL, **ret = &date;

	return api_call(c, do_date, &ret) == CUVET_OK ? date : NULL;
}

/* -------- what is asked for */

static int do_assume(struct cuvet *c, const void *with)
{
	*ARENA_APPEND(c->asking, c->assume.v, c->assume.n) = arena_strdup(c->asking, with);
	return CUVET_OK;
}

int cuvet_assume(struct cuvet *c, const char *key_value)
{
	return key_value ? api_call(c, do_assume, key_value) : CUVET_ERROR_USAGE;
}

static int do_require(struct cuvet *c, const void *with)
{
	*ARENA_APPEND(c->asking, c->require.v, c->require.n) = arena_strdup(c->asking, with);
	return CUVET_OK;
}

int cuvet_require(struct cuvet *c, const char *condition)
{
	return condition ? api_call(c, do_require, condition) : CUVET_ERROR_USAGE;
}

static int set_python(struct cuvet *c, const char *value)
{
	c->python = arena_strdup(c->asking, value);
	return CUVET_OK;
}

static int set_timeout(struct cuvet *c, const char *value)
{
	uint64_t s;

	if (!view_u64(view_of(value), 10, &s) || !s || s > TIMEOUT_MAX_S)
		return api_usage(c, _("timeout %.40s: whole seconds from 1 to 600"), value);
	c->timeout_ms = (long)s * 1000;
	return CUVET_OK;
}

static int set_deep(struct cuvet *c, const char *value)
{
	c->deep = strcmp(value, "yes") == 0;
	if (!c->deep && strcmp(value, "no") != 0)
		return api_usage(c, _("deep %.40s: yes or no"), value);
	return CUVET_OK;
}

static int add_finding(struct cuvet *c, const char *value, enum finding_id *list, size_t *n)
{
	enum finding_id id;
	size_t i;

	if (!finding_lookup(value, &id))
		return api_usage(c, _("%.80s: no finding has this name"), value);
	for (i = 0; i < *n; i++)
		if (list[i] == id)
			return CUVET_OK;
	list[(*n)++] = id;
	return CUVET_OK;
}

static int set_ignore(struct cuvet *c, const char *value)
{
	return add_finding(c, value, c->ignore, &c->n_ignore);
}

static int set_error(struct cuvet *c, const char *value)
{
	return add_finding(c, value, c->error, &c->n_error);
}

static const struct {
	const char *name;
	int (*set)(struct cuvet *c, const char *value);
} settings[] = {
	{ .name = "python", .set = set_python }, { .name = "timeout", .set = set_timeout },
	{ .name = "deep", .set = set_deep },	 { .name = "ignore", .set = set_ignore },
	{ .name = "error", .set = set_error },
};

struct setting {
	const char *option, *value;
};

static int do_set(struct cuvet *c, const void *with)
{
	const struct setting *s = with;
	size_t i;

	for (i = 0; i < ARRAY_LEN(settings); i++)
		if (strcmp(settings[i].name, s->option) == 0)
			return settings[i].set(c, s->value);
	return api_usage(c, _("unknown option %.80s"), s->option);
}

int cuvet_set(struct cuvet *c, const char *option, const char *value)
{
	struct setting s = { .option = option, .value = value };

	return option && value ? api_call(c, do_set, &s) : CUVET_ERROR_USAGE;
}

static int do_reset(struct cuvet *c, const void *with)
{
	(void)with;
	arena_free(c->look);
	c->look = NULL;
	c->looked = c->judged = false;
	arena_free(c->asking);
	c->asking = NULL;
	c->assume.n = c->require.n = c->n_ignore = c->n_error = 0;
	c->python = NULL;
	c->timeout_ms = 0;
	c->deep = false;
	c->asking = api_arena(c);
	return CUVET_OK;
}

int cuvet_reset(struct cuvet *c)
{
	return api_call(c, do_reset, NULL);
}
