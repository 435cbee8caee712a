/* SPDX-License-Identifier: Apache-2.0 */
/* Setting and reading facts; knows nothing of what they are about. */
#include "model/fact.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/errname.h"
#include "base/view.h"

static const char *const state_names[] = {
	[FACT_NOT_ASKED] = "not-asked", [FACT_ABSENT] = "absent", [FACT_DENIED] = "denied",
	[FACT_BROKEN] = "broken",	[FACT_KNOWN] = "known",
};

void fact_set(struct fact *f, const char *value, const char *source)
{
	*f = (struct fact){ .state = value ? FACT_KNOWN : FACT_ABSENT,
			    .value = value,
			    .source = source };
}

void fact_absent(struct fact *f, const char *source)
{
	*f = (struct fact){ .state = FACT_ABSENT, .source = source };
}

void fact_denied(struct fact *f, const char *source, const char *why)
{
	*f = (struct fact){ .state = FACT_DENIED, .source = source, .why = why };
}

void fact_broken(struct fact *f, const char *source, const char *why)
{
	*f = (struct fact){ .state = FACT_BROKEN, .source = source, .why = why };
}

void fact_flag(struct fact *f, bool yes, const char *source)
{
	fact_set(f, yes ? "yes" : "no", source);
}

void fact_int(struct arena *a, struct fact *f, int64_t value, const char *source)
{
	fact_set(f, arena_printf(a, "%lld", (long long)value), source);
}

void fact_errno(struct fact *f, int errnum, const char *source)
{
	if (errnum == ENOENT || errnum == ENOTDIR)
		fact_absent(f, source);
	else if (errnum == EACCES || errnum == EPERM)
		fact_denied(f, source, errname(errnum));
	else
		fact_broken(f, source, errname(errnum));
}

void fact_list_set(struct fact_list *f, const char **values, size_t n, const char *source)
{
	*f = (struct fact_list){ .state = values ? FACT_KNOWN : FACT_ABSENT,
				 .values = values,
				 .n = n,
				 .source = source };
}

void fact_list_add(struct arena *a, struct fact_list *f, const char *value, const char *source,
		   size_t most)
{
	const char **list = NULL;
	size_t n = 0, i;

	if (f->n == most)
		return;
	for (i = 0; i < f->n; i++) {
		if (strcmp(f->values[i], value) == 0)
			return;
		*ARENA_APPEND(a, list, n) = f->values[i];
	}
	*ARENA_APPEND(a, list, n) = value;
	fact_list_set(f, list, n, source);
}

bool fact_is(const struct fact *f, const char *value)
{
	return f->state == FACT_KNOWN && strcmp(f->value, value) == 0;
}

bool fact_yes(const struct fact *f)
{
	return fact_is(f, "yes");
}

bool fact_no(const struct fact *f)
{
	return fact_is(f, "no");
}

const char *fact_value(const struct fact *f, const char *dflt)
{
	return f->state == FACT_KNOWN ? f->value : dflt;
}

bool fact_to_int(const struct fact *f, int64_t *ret)
{
	return f->state == FACT_KNOWN && view_i64(view_of(f->value), ret);
}

bool fact_list_has(const struct fact_list *f, const char *value)
{
	size_t i;

	for (i = 0; f->state == FACT_KNOWN && i < f->n; i++)
		if (strcmp(f->values[i], value) == 0)
			return true;
	return false;
}

const char *fact_state_name(enum fact_state s)
{
	return (size_t)s < ARRAY_LEN(state_names) ? state_names[s] : "broken";
}

bool fact_state_from_name(const char *name, enum fact_state *ret)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(state_names); i++) {
		if (strcmp(state_names[i], name) == 0) {
			*ret = (enum fact_state)i;
			return true;
		}
	}
	return false;
}
