/* SPDX-License-Identifier: Apache-2.0 */
/* A pasted text as facts and signs, for the tests of triage. */
#ifndef TESTS_PASTED_H
#define TESTS_PASTED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "triage/triage.h"

struct paste_world {
	struct arena *a;
	struct compat *c;
	struct snapshot s;
};

static inline void read_text(struct paste_world *w, const char *s)
{
	struct text t = { 0 };
	struct err err = { 0 };

	w->a = arena_new(NULL);
	assert_int_equal(compat_open(w->a, NULL, &w->c, &err), 0);
	text_add(w->a, &t, NULL, view_of(arena_strdup(w->a, s)));
	if (triage_snapshot(w->a, w->c, &t, &w->s, &err))
		fail_msg("%s", err.msg);
}

static inline void is(const struct fact *f, const char *want, const char *source)
{
	if (f->state != FACT_KNOWN)
		fail_msg("not known; want %s", want);
	assert_string_equal(f->value, want);
	if (source)
		assert_string_equal(f->source, source);
}

static inline const struct sign *sign_of(const struct paste_world *w, const char *id)
{
	size_t i;

	for (i = 0; i < w->s.n_signs; i++)
		if (strcmp(w->s.signs[i].id.value, id) == 0)
			return &w->s.signs[i];
	return NULL;
}

static inline bool has(const struct paste_world *w, const char *id)
{
	return sign_of(w, id) != NULL;
}

/* The sign names this, on this line. */
static inline void names(const struct paste_world *w, const char *id, const char *value,
			 const char *source)
{
	const struct sign *g = sign_of(w, id);

	if (!g)
		fail_msg("no sign %s", id);
	else
		is(&g->value, value, source);
}

static inline const char *package_of(const struct paste_world *w, const char *name)
{
	const struct package *k = w->s.n_pythons ? python_package(&w->s.pythons[0], name) : NULL;

	return k ? fact_value(&k->version, "") : "";
}

#endif
