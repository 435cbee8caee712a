/* SPDX-License-Identifier: Apache-2.0 */
/* From heading to heading and prompt to prompt: whose each line is, and who is judged. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "triage/owner_read.h"

/* What the engine itself says of a container that it could not start is the host's. */
static bool engine_speaks(struct view v)
{
	return view_starts(v, "docker: ") || view_starts(v, "Error") ||
	       view_starts(v, "Unable to find image") || view_starts(v, "Status: ") ||
	       view_starts(v, "Digest: ");
}

/* -------- who is who */

static bool same(struct view a, struct view b)
{
	return a.n == b.n && (!a.n || (a.p && b.p && memcmp(a.p, b.p, a.n) == 0));
}

static size_t index_of(struct arena *a, struct owners *list, const struct owner *o)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->v[i].place == o->place && list->v[i].time == o->time &&
		    list->v[i].other == o->other && same(list->v[i].machine, o->machine) &&
		    same(list->v[i].env, o->env))
			return i;
	if (list->n >= OWNERS_MAX)
		return 0;
	*ARENA_APPEND(a, list->v, list->n) = (struct owner){
		.place = o->place,
		.time = o->time,
		.machine = o->machine,
		.env = o->env,
		.other = o->other,
	};
	return list->n - 1;
}

static bool fails(struct view v)
{
	static const char *const words[] = {
		"Error",    "ERROR",	   "error:",	   "False",	    "failed",
		"Failed",   "cannot ",	   "No devices",   "not found",	    "No CUDA",
		"no CUDA",  "unable to",   "Unable to",	   "fatal",	    "denied",
		"couldn't", "core dumped", "No such file", "not available", "unavailable",
		"rror 8",   "FAILED",	   "not compiled",
	};
	size_t i;

	if (v.n > 400)
		v.n = 400;
	if (view_find(v, "debug build") >= 0 || view_find(v, "XNNPACK") >= 0)
		return false;
	for (i = 0; i < ARRAY_LEN(words); i++)
		if (view_find(v, words[i]) >= 0)
			return true;
	return false;
}

/* What text a file's name says: "host.txt", "container-log.txt", "before.log". */
static void file_owner(const struct text *t, size_t file, struct owner *o)
{
	const char *slash = strrchr(t->files[file], '/');
	struct view name = view_of(slash ? slash + 1 : t->files[file]);
	const struct owner_mark *m;
	ptrdiff_t dot = view_chr(name, '.');

	*o = (struct owner){ .place = PLACE_UNSAID };
	if (t->n_files < 2)
		return;
	if (dot > 0)
		name.n = (size_t)dot;
	m = owner_mark_of(name);
	if (m) {
		o->place = m->place;
		o->time = m->time;
	}
}

static void add_word(struct arena *a, const char **label, const char *word)
{
	*label = *label ? arena_printf(a, "%s, %s", *label, word) : word;
}

static void set_labels(struct arena *a, struct owners *list)
{
	size_t i;

	for (i = 1; i < list->n; i++) {
		struct owner *o = &list->v[i];

		if (o->place)
			add_word(a, &o->label, o->place == PLACE_HOST ? _("host") : _("container"));
		if (o->other)
			add_word(a, &o->label, _("another machine"));
		else if (o->time)
			add_word(a, &o->label, o->time == TIME_BEFORE ? _("before") : _("after"));
		if (o->machine.n)
			add_word(a, &o->label, view_dup(a, o->machine));
		if (o->env.n)
			add_word(a, &o->label, arena_printf(a, "(%s)", view_dup(a, o->env)));
	}
}

/* The one that failed last; without a failure what is shown last of two times. */
static void choose(struct owners *list)
{
	size_t i, best = 0;

	for (i = 1; i < list->n; i++) {
		if (!list->v[i].failures)
			continue;
		/* What a heading calls the working one is not what is asked about. */
		if (best && list->v[i].time < list->v[best].time)
			continue;
		if (!best || list->v[i].time > list->v[best].time ||
		    list->v[i].last_failure > list->v[best].last_failure)
			best = i;
	}
	for (i = 1; i < list->n && !best; i++)
		if (list->v[i].time == TIME_AFTER)
			best = i;
	list->judged = best;
}

/* What holds from the last heading on, and where that stood. */
struct state {
	struct owner now;
	size_t since;
	size_t level; /* of that heading in Markdown; 7 when it is none */
	bool fenced;
	bool entered;	  /* a shell in a container, */
	struct view host; /* of this machine; empty: its prompt has no name */
};

/* "## Logs": the level of a Markdown heading. In a block of code "#" begins a comment. */
static size_t level_of(const struct text *t, size_t i, const struct state *st)
{
	struct view s = t->lines[i].s;
	size_t n = 0;

	while (n < s.n && s.p[n] == '#')
		n++;
	if (!n || n > 6 || n >= s.n || s.p[n] != ' ' || st->fenced)
		return 0;
	return n > 1 || (i && !t->lines[i - 1].s.n) ? n : 0;
}

/* A section ends where another of its level begins. */
static void next_section(const struct text *t, size_t i, const struct owner_mark *m,
			 struct state *st)
{
	size_t level = level_of(t, i, st);

	if (m) {
		if (m->place)
			st->now.place = m->place;
		st->now.time = m->time;
		st->now.other = m->other;
		st->level = level ? level : 7;
	} else if (level && st->level && level <= st->level) {
		st->now = (struct owner){ .place = PLACE_UNSAID };
		st->level = 0;
	} else {
		return;
	}
	st->since = i;
}

/* Prompts of another name than the host's, until that one is back. */
static void follow(struct state *st, const struct line *l, struct owner *o)
{
	struct view cmd = line_cmd(l);

	if (st->entered && o->machine.n && !same(o->machine, st->host))
		o->place = PLACE_CONTAINER;
	else if (o->machine.n)
		st->entered = false;
	if (!owner_enters(cmd))
		return;
	st->entered = true;
	st->host = o->machine;
}

static void one_line(struct arena *a, struct text *t, size_t i, struct owners *list,
		     struct state *st)
{
	struct line *l = &t->lines[i];
	const struct owner_mark *m = l->cmd_at ? NULL : owner_mark_of(owner_heading(l->s));
	struct owner o;

	if (text_fence(t, i, NULL))
		st->fenced = !st->fenced;
	if (!l->cmd_at)
		next_section(t, i, m, st);
	o = st->now;
	if (l->cmd_at) {
		owner_prompt(line_prompt(l), &o);
		owner_command(l, &o);
		follow(st, l, &o);
	} else if (l->by != NO_COMMAND && (size_t)l->by >= st->since) {
		o = list->v[t->lines[l->by].owner];
		if (o.place == PLACE_CONTAINER && engine_speaks(l->s))
			o.place = st->now.place;
	}
	l->owner = (uint16_t)index_of(a, list, &o);
	/* Facts come from the beginning and the end of a huge log, too. */
	if (!l->cmd_at && l->s.n && (i < FACT_LINES_HEAD || i + FACT_LINES_TAIL > t->n) &&
	    fails(l->s)) {
		list->v[l->owner].failures++;
		list->v[l->owner].last_failure = i;
	}
}

void owners_find(struct arena *a, struct text *t, struct owners *ret)
{
	struct state st = { .since = 0 };
	size_t i, file = SIZE_MAX;

	*ret = (struct owners){ .n = 0 };
	(void)ARENA_APPEND(a, ret->v, ret->n);
	for (i = 0; i < t->n; i++) {
		if (t->lines[i].file != file) {
			file = t->lines[i].file;
			file_owner(t, file, &st.now);
			st.since = i;
			st.level = 0;
			st.fenced = false;
		}
		one_line(a, t, i, ret, &st);
	}
	set_labels(a, ret);
	choose(ret);
}

bool owner_other_machine(const struct owners *list, size_t i)
{
	const struct owner *o, *j;

	if (!list->n)
		return false;
	o = &list->v[i];
	j = &list->v[list->judged];
	if (o->other != j->other)
		return true;
	return o->machine.n && j->machine.n && !same(o->machine, j->machine) &&
	       o->place != PLACE_CONTAINER && j->place != PLACE_CONTAINER;
}

bool owner_foreign(const struct owners *list, size_t i, enum scope scope)
{
	const struct owner *o = &list->v[i], *j = &list->v[list->judged];

	/* What fails stands under no heading, and this under that of the one which works. */
	if (!list->judged && i)
		return o->time == TIME_BEFORE && !o->failures && (o->other || list->v[0].failures);
	if (i == list->judged || !i)
		return false;
	if ((o->time && j->time && o->time != j->time) || owner_other_machine(list, i))
		return true;
	if (scope >= SCOPE_PLACE && o->place && j->place && o->place != j->place)
		return true;
	/* The prompt of a host, where a container is judged, and the other way round. */
	if (scope >= SCOPE_PLACE && j->place == PLACE_CONTAINER && !o->place && o->machine.n)
		return true;
	if (scope >= SCOPE_PLACE && o->place == PLACE_CONTAINER && !j->place && j->machine.n)
		return true;
	return scope == SCOPE_ENV && o->env.n && j->env.n && !same(o->env, j->env);
}
