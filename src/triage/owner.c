/* SPDX-License-Identifier: Apache-2.0 */
/* Owners from headings, prompts, names of files and commands that run in a container. */
#include "triage/owner.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"

/* -------- words that say it */

struct mark {
	const char *words; /* lower case */
	enum owner_place place;
	enum owner_time time;
	bool other;
};

/* At the beginning of a heading. */
static const struct mark marks[] = {
	{ .words = "in container", .place = PLACE_CONTAINER },
	{ .words = "in the container", .place = PLACE_CONTAINER },
	{ .words = "in a container", .place = PLACE_CONTAINER },
	{ .words = "in docker", .place = PLACE_CONTAINER },
	{ .words = "in the docker", .place = PLACE_CONTAINER },
	{ .words = "in the pod", .place = PLACE_CONTAINER },
	{ .words = "in pod", .place = PLACE_CONTAINER },
	{ .words = "inside container", .place = PLACE_CONTAINER },
	{ .words = "inside the container", .place = PLACE_CONTAINER },
	{ .words = "inside a container", .place = PLACE_CONTAINER },
	{ .words = "inside docker", .place = PLACE_CONTAINER },
	{ .words = "inside the docker", .place = PLACE_CONTAINER },
	{ .words = "inside the pod", .place = PLACE_CONTAINER },
	{ .words = "inside pod", .place = PLACE_CONTAINER },
	{ .words = "within the container", .place = PLACE_CONTAINER },
	{ .words = "from the container", .place = PLACE_CONTAINER },
	{ .words = "container", .place = PLACE_CONTAINER },
	{ .words = "docker container", .place = PLACE_CONTAINER },
	{ .words = "pod", .place = PLACE_CONTAINER },
	{ .words = "guest", .place = PLACE_CONTAINER },
	{ .words = "\xec\xbb\xa8\xed\x85\x8c\xec\x9d\xb4\xeb\x84\x88", .place = PLACE_CONTAINER },
	{ .words = "\xeb\x8f\x84\xec\xbb\xa4", .place = PLACE_CONTAINER },
	{ .words = "on host", .place = PLACE_HOST },
	{ .words = "on the host", .place = PLACE_HOST },
	{ .words = "on my host", .place = PLACE_HOST },
	{ .words = "from the host", .place = PLACE_HOST },
	{ .words = "from host", .place = PLACE_HOST },
	{ .words = "host", .place = PLACE_HOST },
	{ .words = "outside the container", .place = PLACE_HOST },
	{ .words = "outside docker", .place = PLACE_HOST },
	{ .words = "bare metal", .place = PLACE_HOST },
	{ .words = "\xed\x98\xb8\xec\x8a\xa4\xed\x8a\xb8", .place = PLACE_HOST },
	{ .words = "before", .time = TIME_BEFORE },
	{ .words = "previously", .time = TIME_BEFORE },
	{ .words = "earlier", .time = TIME_BEFORE },
	{ .words = "old", .time = TIME_BEFORE },
	{ .words = "working", .time = TIME_BEFORE },
	{ .words = "works", .time = TIME_BEFORE },
	{ .words = "good", .time = TIME_BEFORE },
	{ .words = "\xec\x9d\xb4\xec\xa0\x84", .time = TIME_BEFORE },
	{ .words = "after", .time = TIME_AFTER },
	{ .words = "now", .time = TIME_AFTER },
	{ .words = "new", .time = TIME_AFTER },
	{ .words = "not working", .time = TIME_AFTER },
	{ .words = "broken", .time = TIME_AFTER },
	{ .words = "failing", .time = TIME_AFTER },
	{ .words = "fails", .time = TIME_AFTER },
	{ .words = "bad", .time = TIME_AFTER },
	{ .words = "\xec\x9d\xb4\xed\x9b\x84", .time = TIME_AFTER },
};

static bool begins(struct view v, const char *words)
{
	size_t n = strlen(words);

	return v.n >= n && strncasecmp(v.p, words, n) == 0 &&
	       (v.n == n || !isalnum((unsigned char)v.p[n]));
}

/*
 * "## On the host", "Inside the container:", "=== after the update ===", "[container]", "(host)":
 * the words without their frame, else nothing.
 */
static struct view heading(struct view v)
{
	static const char frame[] = "#*=->[(_ \t<";
	bool framed;

	if (!v.n || v.n > 80)
		return (struct view){ 0 };
	framed = strchr("#*=[(<", v.p[0]) != NULL || view_starts(v, "--") || view_ends(v, ":");
	/* "**Host**", "(host)": a list's dash or a sentence is no heading. */
	if (!framed)
		return (struct view){ 0 };
	while (v.n && strchr(frame, v.p[0]))
		v = view_skip(v, 1);
	while (v.n && strchr("#*=-])_: \t>", v.p[v.n - 1]))
		v.n--;
	return v;
}

/* Whole words, in any case; a "-" at an entry's end: as the beginning of one. */
static bool says(struct view v, const char *const *words, size_t n)
{
	size_t i, k, len;
	bool open;

	for (i = 0; i < v.n; i++) {
		if (i && isalnum((unsigned char)v.p[i - 1]))
			continue;
		for (k = 0; k < n; k++) {
			len = strlen(words[k]);
			open = words[k][len - 1] == '-';
			len -= open;
			if (i + len <= v.n && strncasecmp(v.p + i, words[k], len) == 0 &&
			    (open || i + len == v.n || !isalnum((unsigned char)v.p[i + len])))
				return true;
		}
	}
	return false;
}

/*
 * "On my other machine it works", "This PC (fails)": two machines beside each other are told apart
 * as two times of one are, the one that works and the one that does not.
 */
static const struct mark *machine_mark(struct view words)
{
	static const struct mark well = { .time = TIME_BEFORE, .other = true },
				 ill = { .time = TIME_AFTER };
	static const char *const machines[] = {
		"machine",
		"machines",
		"computer",
		"pc",
		"laptop",
		"desktop",
		"server",
		"workstation",
		"box",
		"node",
		"colleague",
		"colleagues",
		"friend",
		"system",
		"rig",
		"cluster",
		"\xec\xbb\xb4\xed\x93\xa8\xed\x84\xb0-",
	};
	static const char *const ills[] = { "fail-",	"broken", "not",    "doesn",   "does not",
					    "problem-", "error-", "issue-", "affected" };
	static const char *const wells[] = { "other",	  "another",
					     "different", "second",
					     "colleague", "friend",
					     "works",	  "working",
					     "worked",	  "fine",
					     "ok",	  "healthy",
					     "good",	  "\xeb\x8b\xa4\xeb\xa5\xb8-" };
	static const char *const heres[] = { "this" };

	if (!says(words, machines, ARRAY_LEN(machines)))
		return NULL;
	if (says(words, ills, ARRAY_LEN(ills)))
		return &ill;
	if (says(words, wells, ARRAY_LEN(wells)))
		return &well;
	return says(words, heres, ARRAY_LEN(heres)) ? &ill : NULL;
}

static const struct mark *mark_of(struct view words)
{
	static const char *const of_forms[] = { " you",		  "submit", " issue", "eature",
						"nvironment var", " bug",   "post" };
	const struct mark *m;
	size_t i;

	/* A sentence says more than where one is. */
	if (!words.n || words.n > 60 || memchr(words.p, '.', words.n) ||
	    memchr(words.p, '=', words.n) || memchr(words.p, '/', words.n))
		return NULL;
	/* "Before you start", "New feature" of an issue's form speak of the form. */
	for (i = 0; i < ARRAY_LEN(of_forms); i++)
		if (view_find(words, of_forms[i]) >= 0)
			return NULL;
	m = machine_mark(words);
	if (m)
		return m;
	for (i = 0; i < ARRAY_LEN(marks); i++)
		/* "Now", "After the update"; "New issue about ..." is another matter. */
		if (begins(words, marks[i].words) && (marks[i].place || words.n <= 28))
			return &marks[i];
	return NULL;
}

/* -------- prompts */

static bool is_hex(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (!isxdigit((unsigned char)v.p[i]))
			return false;
	return v.n == 12;
}

/* What the name of a prompt says, when it's one of these words. */
static enum owner_place named_place(struct view name)
{
	static const char *const inside[] = { "container", "ct", "lxc", "pod", "docker" };
	size_t i;

	if (view_is_nocase(name, "host") || view_is_nocase(name, "pve"))
		return PLACE_HOST;
	for (i = 0; i < ARRAY_LEN(inside); i++)
		if (view_is_nocase(name, inside[i]))
			return PLACE_CONTAINER;
	return PLACE_UNSAID;
}

/* "(torch) ana@gpu01:~$ ", "[root@0123456789ab /]# ", "root@gpu01:/# ". */
static void read_prompt(struct view v, struct owner *o)
{
	ptrdiff_t at;
	size_t n;

	if (v.n && v.p[0] == '(' && (at = view_chr(v, ')')) > 1 && at < 40) {
		struct view name = { .p = v.p + 1, .n = (size_t)at - 1 };

		if (!memchr(name.p, ' ', name.n)) {
			if (begins(name, "container") || begins(name, "docker") ||
			    view_is(name, "lxc") || view_is(name, "pod"))
				o->place = PLACE_CONTAINER;
			else
				o->env = name;
		}
		v = view_trim(view_skip(v, (size_t)at + 1));
	}
	if (begins(v, "Singularity") || begins(v, "Apptainer"))
		o->place = PLACE_CONTAINER;
	/* "host# ", "CT# ", "container$ ". */
	for (n = 0; n < v.n && isalnum((unsigned char)v.p[n]); n++)
		;
	if (n && n < v.n && (v.p[n] == '#' || v.p[n] == '$'))
		o->place = named_place((struct view){ .p = v.p, .n = n });
	at = view_chr(v, '@');
	if (at <= 0 || at > 40)
		return;
	v = view_skip(v, (size_t)at + 1);
	for (n = 0;
	     n < v.n && n < 64 &&
	     (isalnum((unsigned char)v.p[n]) || v.p[n] == '-' || v.p[n] == '.' || v.p[n] == '_');
	     n++)
		;
	v.n = n;
	if (is_hex(v))
		o->place = PLACE_CONTAINER;
	else
		o->machine = v;
}

/* "# in container: ls", "$ docker exec x nvidia-smi": where the output comes from. */
static void read_command(const struct line *l, struct owner *o)
{
	struct view cmd = line_cmd(l), words;
	const struct mark *m;
	ptrdiff_t colon;

	words = line_prompt(l);
	while (words.n && strchr("#( ", words.p[0]))
		words = view_skip(words, 1);
	colon = view_chr(words, ':');
	if (l->s.p[0] == '#' && colon > 0) {
		words.n = (size_t)colon;
		m = mark_of(words);
		if (m && m->place)
			o->place = m->place;
		if (m && m->time)
			o->time = m->time;
	}
	if (view_starts(cmd, "sudo "))
		cmd = view_trim(view_skip(cmd, 5));
	if ((view_starts(cmd, "docker ") || view_starts(cmd, "podman ") ||
	     view_starts(cmd, "nerdctl ") || view_starts(cmd, "kubectl ")) &&
	    (view_find(cmd, " run ") > 0 || view_find(cmd, " exec ") > 0))
		o->place = PLACE_CONTAINER;
}

/* "pct enter 104", "lxc exec c1 -- bash": the prompts that follow are a container's. */
static bool enters(struct view cmd)
{
	static const char *const shells[] = { "bash", "sh", "zsh", "ash", "login" };
	struct view word, last = { 0 };
	size_t i;

	if (view_starts(cmd, "sudo "))
		cmd = view_trim(view_skip(cmd, 5));
	if (view_starts(cmd, "pct enter ") || view_starts(cmd, "lxc-attach ") ||
	    view_starts(cmd, "lxc shell ") || view_starts(cmd, "incus shell ") ||
	    view_starts(cmd, "machinectl shell "))
		return true;
	if (!view_starts(cmd, "lxc exec ") && !view_starts(cmd, "incus exec ") &&
	    !view_starts(cmd, "docker exec ") && !view_starts(cmd, "podman exec "))
		return false;
	while (view_word(&cmd, &word))
		last = word;
	if (view_starts(last, "/bin/"))
		last = view_skip(last, 5);
	for (i = 0; i < ARRAY_LEN(shells); i++)
		if (view_is(last, shells[i]))
			return true;
	return false;
}

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
	const struct mark *m;
	ptrdiff_t dot = view_chr(name, '.');

	*o = (struct owner){ .place = PLACE_UNSAID };
	if (t->n_files < 2)
		return;
	if (dot > 0)
		name.n = (size_t)dot;
	m = mark_of(name);
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
static void next_section(const struct text *t, size_t i, const struct mark *m, struct state *st)
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

/* A fence is an empty line whose text is still there. */
static bool is_fence(const struct text *t, const struct line *l)
{
	return !l->s.n && l->s.p + 3 <= t->s.p + t->s.n &&
	       (memcmp(l->s.p, "```", 3) == 0 || memcmp(l->s.p, "~~~", 3) == 0);
}

/* Prompts of another name than the host's, until that one is back. */
static void follow(struct state *st, const struct line *l, struct owner *o)
{
	struct view cmd = line_cmd(l);

	if (st->entered && o->machine.n && !same(o->machine, st->host))
		o->place = PLACE_CONTAINER;
	else if (o->machine.n)
		st->entered = false;
	if (!enters(cmd))
		return;
	st->entered = true;
	st->host = o->machine;
}

static void one_line(struct arena *a, struct text *t, size_t i, struct owners *list,
		     struct state *st)
{
	struct line *l = &t->lines[i];
	const struct mark *m = l->cmd_at ? NULL : mark_of(heading(l->s));
	struct owner o;

	if (is_fence(t, l))
		st->fenced = !st->fenced;
	if (!l->cmd_at)
		next_section(t, i, m, st);
	o = st->now;
	if (l->cmd_at) {
		read_prompt(line_prompt(l), &o);
		read_command(l, &o);
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
