/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan to the calls of a shell language, and the quoting of each. */
#include "env/lang.h"

#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

void env_comment(struct strbuf *out, const char *begin, const char *text, const char *end)
{
	struct view v = view_of(text);
	size_t i = 0, at;
	int32_t cp;

	strbuf_add(out, begin);
	while (i < v.n) {
		at = i;
		cp = utf8_next(v, &i);
		if (cp < 0 || utf8_is_control(cp) || utf8_is_format(cp) ||
		    (*end && strchr("'!%", cp & 0x7f) && cp < 0x80))
			strbuf_addc(out, '?');
		else
			strbuf_addn(out, v.p + at, i - at);
	}
	strbuf_add(out, end);
	strbuf_addc(out, '\n');
}

void env_comments(struct strbuf *out, const struct env_set *s, const char *begin, const char *end)
{
	size_t i;

	if (s->toolkit)
		env_comment(out, begin,
			    arena_printf(out->a,
					 s->unset ? _("cuvet env --unset: CUDA %s in %s")
						  : _("cuvet env: CUDA %s in %s"),
					 s->version ? s->version : _("(version not known)"),
					 s->toolkit),
			    end);
	else
		env_comment(out, begin, s->unset ? _("cuvet env --unset") : "cuvet env", end);
	if (s->toolkit && s->why)
		env_comment(out, begin, arena_printf(out->a, _("  chosen: %s"), s->why), end);
	if (s->cudnn)
		env_comment(out, begin, arena_printf(out->a, _("  cuDNN in %s"), s->cudnn), end);
	for (i = 0; i < s->n_notes; i++)
		env_comment(out, begin, arena_printf(out->a, "  %s", s->notes[i]), end);
}

const char *env_joined(struct arena *a, const struct env_set *s, const struct env_item *it)
{
	struct strbuf b;
	size_t i;

	strbuf_init(&b, a);
	for (i = 0; i < it->n; i++) {
		if (i)
			strbuf_addc(&b, s->windows ? ';' : ':');
		strbuf_add(&b, it->values[i]);
	}
	return b.s;
}

const struct env_item *env_item_named(const struct env_set *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_items; i++)
		if (strcmp(s->items[i].name, name) == 0)
			return &s->items[i];
	return NULL;
}

/* -------- calls */

static void call(struct strbuf *out, const struct env_lang *l, const char *what,
		 const struct env_name *n, const char *value)
{
	const char kind[2] = { (char)n->kind, '\0' };

	strbuf_printf(out, "%s%s%s", l->prefix, what, l->open);
	if (l->quote_all)
		l->quote(out, n->name);
	else
		strbuf_add(out, n->name);
	strbuf_add(out, l->sep);
	if (l->quote_all)
		l->quote(out, kind);
	else
		strbuf_add(out, kind);
	if (value) {
		strbuf_add(out, l->sep);
		l->quote(out, value);
	}
	strbuf_add(out, l->close);
	strbuf_addc(out, '\n');
}

static void put_head(struct strbuf *out, const struct env_lang *l, const char *what)
{
	bool wanted = true;
	size_t i;

	for (i = 0; l->head[i]; i++) {
		if (l->head[i][0] == '@')
			wanted = what && strcmp(l->head[i] + 1, what) == 0;
		else if (wanted)
			strbuf_printf(out, "%s\n", l->head[i]);
	}
}

static void put_tail(struct strbuf *out, const struct env_lang *l, const char *what)
{
	const char *at;
	size_t i;

	for (i = 0; l->tail[i]; i++) {
		at = strchr(l->tail[i], '@');
		if (!at) {
			strbuf_printf(out, "%s\n", l->tail[i]);
			continue;
		}
		strbuf_addn(out, l->tail[i], (size_t)(at - l->tail[i]));
		if (what)
			strbuf_printf(out, "%s%s%s", l->more, what, l->more_end);
		strbuf_printf(out, "%s\n", at + 1);
	}
}

/* All that was set before is taken back first, so that nothing is stacked and nothing stays. */
void env_lang_put(struct strbuf *out, const struct env_set *s, const struct env_lang *l)
{
	const char *what = !s->unset ? "set" : s->n_items ? "drop" : NULL;
	const struct env_item *it;
	const struct env_name *n;

	put_head(out, l, what);
	for (n = env_names; n->name; n++)
		call(out, l, "undo", n, NULL);
	for (n = env_names; n->name; n++) {
		it = env_item_named(s, n->name);
		if (it)
			call(out, l, what, n, env_joined(out->a, s, it));
	}
	put_tail(out, l, what);
}

/* -------- quoting */

void env_quote_sh(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			strbuf_add(out, "'\\''");
		else
			strbuf_addc(out, *s);
	}
	strbuf_addc(out, '\'');
}

/* History takes a '!' between quotes too; behind a backslash outside of them it does not. */
void env_quote_csh(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '!')
			strbuf_printf(out, "'\\%c'", *s);
		else
			strbuf_addc(out, *s);
	}
	strbuf_addc(out, '\'');
}

void env_quote_fish(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			strbuf_addc(out, '\\');
		strbuf_addc(out, *s);
	}
	strbuf_addc(out, '\'');
}

void env_quote_doubled(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			strbuf_addc(out, '\'');
		strbuf_addc(out, *s);
	}
	strbuf_addc(out, '\'');
}

/* PowerShell takes the typographic single quotes for quotes as well (U+2018 to U+201B). */
void env_quote_powershell(struct strbuf *out, const char *s)
{
	struct view v = view_of(s);
	size_t i = 0, at;
	int32_t cp;

	strbuf_addc(out, '\'');
	while (i < v.n) {
		at = i;
		cp = utf8_next(v, &i);
		if (cp == '\'' || (cp >= 0x2018 && cp <= 0x201b))
			strbuf_addn(out, v.p + at, i - at);
		strbuf_addn(out, v.p + at, i - at);
	}
	strbuf_addc(out, '\'');
}

void env_quote_nu(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addc(out, '\\');
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			strbuf_printf(out, "\\u{%x}", (unsigned char)*s);
		else
			strbuf_addc(out, *s);
	}
	strbuf_addc(out, '"');
}

void env_quote_python(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			strbuf_addc(out, '\\');
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			strbuf_printf(out, "\\x%02x", (unsigned char)*s);
		else
			strbuf_addc(out, *s);
	}
	strbuf_addc(out, '\'');
}

void env_quote_json(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_addc(out, '\\');
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			strbuf_printf(out, "\\u%04x", (unsigned char)*s);
		else
			strbuf_addc(out, *s);
	}
	strbuf_addc(out, '"');
}
