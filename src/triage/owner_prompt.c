/* SPDX-License-Identifier: Apache-2.0 */
/* What prompts and the commands behind them say: a container, a machine by name, an environment. */
#include <ctype.h>
#include <string.h>

#include "base/attr.h"
#include "triage/owner_read.h"

static bool is_hex(struct view v)
{
	size_t i;

	for (i = 0; i < v.n; i++)
		if (!isxdigit((unsigned char)v.p[i]))
			return false;
	return v.n == 12;
}

/* "-7d4b9c6f5x" at the end of v, n signs and more, of those that Kubernetes makes names of; taken
 * off. */
static bool drop_random(struct view *v, size_t least)
{
	size_t n = 0;

	while (n < v->n && strchr("bcdfghjklmnpqrstvwxz2456789", v->p[v->n - n - 1]))
		n++;
	if (n < least || n > 10 || n >= v->n || v->p[v->n - n - 1] != '-')
		return false;
	v->n -= n + 1;
	return true;
}

/* JupyterHub's name for the server of a user: "ana@jupyter-ana", "ana@jupyter-ana--big". A machine
 * of somebody's may be called jupyter-gpu. */
static bool is_users(struct view name, struct view user)
{
	static const char hub[] = "jupyter-";
	size_t n = strlen(hub);

	return view_starts(name, hub) && name.n >= n + user.n &&
	       memcmp(name.p + n, user.p, user.n) == 0 &&
	       (name.n == n + user.n || name.p[n + user.n] == '-');
}

/* Names that containers have as machines: an id, the server of a user, a pod of a deployment. */
static bool is_container_name(struct view v, struct view user)
{
	struct view pod = v;

	return is_hex(v) || is_users(v, user) || (drop_random(&pod, 5) && drop_random(&pod, 6));
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

void owner_prompt(struct view v, struct owner *o)
{
	struct view user;
	ptrdiff_t at;
	size_t n;

	if (v.n && v.p[0] == '(' && (at = view_chr(v, ')')) > 1 && at < 40) {
		struct view name = { .p = v.p + 1, .n = (size_t)at - 1 };

		if (!memchr(name.p, ' ', name.n)) {
			if (owner_begins(name, "container") || owner_begins(name, "docker") ||
			    view_is(name, "lxc") || view_is(name, "pod"))
				o->place = PLACE_CONTAINER;
			else
				o->env = name;
		}
		v = view_trim(view_skip(v, (size_t)at + 1));
	}
	if (owner_begins(v, "Singularity") || owner_begins(v, "Apptainer"))
		o->place = PLACE_CONTAINER;
	/* "host# ", "CT# ", "container$ ". */
	for (n = 0; n < v.n && isalnum((unsigned char)v.p[n]); n++)
		;
	if (n && n < v.n && (v.p[n] == '#' || v.p[n] == '$'))
		o->place = named_place((struct view){ .p = v.p, .n = n });
	at = view_chr(v, '@');
	if (at <= 0 || at > 40)
		return;
	user = (struct view){ .p = v.p, .n = (size_t)at };
	v = view_skip(v, (size_t)at + 1);
	for (n = 0;
	     n < v.n && n < 64 &&
	     (isalnum((unsigned char)v.p[n]) || v.p[n] == '-' || v.p[n] == '.' || v.p[n] == '_');
	     n++)
		;
	v.n = n;
	if (is_container_name(v, user))
		o->place = PLACE_CONTAINER;
	else
		o->machine = v;
}

void owner_command(const struct line *l, struct owner *o)
{
	struct view cmd = line_cmd(l), words;
	const struct owner_mark *m;
	ptrdiff_t colon;

	words = line_prompt(l);
	while (words.n && strchr("#( ", words.p[0]))
		words = view_skip(words, 1);
	colon = view_chr(words, ':');
	if (l->s.p[0] == '#' && colon > 0) {
		words.n = (size_t)colon;
		m = owner_mark_of(words);
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

bool owner_enters(struct view cmd)
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
