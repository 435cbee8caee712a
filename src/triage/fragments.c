/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts project files out of a paste: a fenced block, what cat put out, or the lines from a FROM on.
 * The text that a reader gets begins with as many empty lines as stand in front of it, so that its
 * places are lines of the paste.
 */
#include "triage/fragments.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "base/strbuf.h"
#include "model/snapshot_json.h"
#include "project/project.h"

enum { FRAGMENTS = 12, LINES_SEARCHED = 12000, FRAGMENT_BYTES = 256 << 10, FRAGMENT_LINES = 3000 };

struct excerpt {
	size_t from, to;  /* lines, `to` not in it */
	struct view name; /* "requirements.txt" of a caption or of cat; empty */
	struct view info; /* of the fence */
};

/* -------- names */

static struct view base_name(struct view path)
{
	size_t i = path.n;

	while (i && path.p[i - 1] != '/' && path.p[i - 1] != '\\')
		i--;
	return view_skip(path, i);
}

/* The name of a project file in a line: "requirements.txt:", "### Dockerfile", "`environment.yml`".
 */
static struct view named(struct paste *p, struct view s)
{
	struct regex_match m;

	if (s.n > 80 ||
	    !paste_match(
		    p,
		    "^[#*`>\\-\\s\"']*(?:[\\w ]{0,20}?[\\s:]+)?[`\"'*(]*([\\w./-]*(?:Dockerfile[\\w.-]*|"
		    "[\\w-]*requirements[\\w-]*\\.txt|environment\\.ya?ml|env\\.ya?ml|pyproject\\.toml|"
		    "(?:docker-)?compose[\\w.-]*\\.ya?ml|Pipfile|pixi\\.toml|setup\\.py|setup\\.cfg))"
		    "[`\"'*)]*\\s*:?\\s*[*`]*$",
		    s, &m))
		return (struct view){ 0 };
	return base_name(m.group[1]);
}

static struct view cat_name(struct paste *p, struct view cmd)
{
	struct regex_match m;

	if (!paste_match(
		    p,
		    "^(?:sudo )?(?:cat|type|less|more|bat|head|Get-Content)\\s+(?:-\\S+\\s+)*(\\S+)$",
		    cmd, &m))
		return (struct view){ 0 };
	return named(p, base_name(m.group[1]));
}

/* -------- blocks */

/* The line as it was written, with its indentation; a quoted one without its marks. */
static struct view raw_line(const struct text *t, size_t i)
{
	const struct line *l = &t->lines[i];
	const char *start = l->s.p;

	while (start > t->s.p && (start[-1] == ' ' || start[-1] == '\t'))
		start--;
	if (start > t->s.p && start[-1] != '\n' && start[-1] != ' ')
		start = l->s.p;
	return (struct view){ .p = start, .n = (size_t)(l->s.p - start) + l->s.n };
}

static bool instruction(struct view s)
{
	static const char *const words[] = { "FROM ",	"RUN ",	       "COPY ",	 "ADD ",   "ENV ",
					     "ARG ",	"WORKDIR ",    "USER ",	 "CMD ",   "LABEL ",
					     "EXPOSE ", "ENTRYPOINT ", "SHELL ", "VOLUME " };
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (view_starts(s, words[i]))
			return true;
	return false;
}

/* From a FROM on: instructions, what they continue, comments and blanks. */
static bool bare_dockerfile(struct paste *p, size_t i, struct excerpt *ret)
{
	const struct text *t = &p->t;
	size_t k, last = i, more = 0;
	bool goes_on = false;

	if (!view_starts(t->lines[i].s, "FROM ") ||
	    !paste_match(p, "^FROM\\s+(?:--platform=\\S+\\s+)?[\\w./:@${}-]+(?:\\s+AS\\s+\\S+)?$",
			 t->lines[i].s, NULL))
		return false;
	for (k = i + 1; k < t->n && k < i + FRAGMENT_LINES; k++) {
		struct view s = t->lines[k].s;

		if (goes_on || instruction(s)) {
			last = k;
			more++;
		} else if (s.n && s.p[0] != '#') {
			break;
		}
		goes_on = s.n ? s.p[s.n - 1] == '\\' : goes_on;
	}
	*ret = (struct excerpt){ .from = i, .to = last + 1, .name = VIEW("Dockerfile") };
	return more > 0;
}

static bool block_at(struct paste *p, size_t i, struct excerpt *ret)
{
	const struct text *t = &p->t;
	const struct line *l = &t->lines[i];
	struct view info, name;
	size_t k;

	if (text_fence(t, i, &info)) {
		for (k = i + 1; k < t->n && !text_fence(t, k, NULL); k++)
			;
		*ret = (struct excerpt){ .from = i + 1, .to = k, .info = info };
		for (k = i; k > 0 && i - k < 3 && !ret->name.n; k--)
			ret->name = named(p, t->lines[k - 1].s);
		return true;
	}
	if (l->cmd_at && (name = cat_name(p, line_cmd(l))).n) {
		for (k = i + 1; k < t->n && t->lines[k].by == (int32_t)i && !text_fence(t, k, NULL);
		     k++)
			;
		*ret = (struct excerpt){ .from = i + 1, .to = k, .name = name };
		return true;
	}
	if (!l->cmd_at && (l->s.n && l->s.p[0] == 'F') && bare_dockerfile(p, i, ret))
		return true;
	return false;
}

/* -------- kinds */

static bool kind_of(struct paste *p, const struct excerpt *b, struct view text,
		    enum project_kind *ret)
{
	const char *name = b->name.n ? view_dup(p->a, b->name) : NULL;

	if (!name && (view_is_nocase(b->info, "dockerfile") || view_is_nocase(b->info, "docker")))
		name = view_has_line(text, "FROM ") ? "Dockerfile" : NULL;
	else if (!name && view_is_nocase(b->info, "toml"))
		name = "pasted.toml";
	else if (!name && (view_has_line(text, "dependencies:") ||
			   view_has_line(text, "services:") || view_has_line(text, "apiVersion:")))
		name = "pasted.yaml";
	else if (!name && view_has_line(text, "FROM ") && view_has_line(text, "RUN "))
		name = "Dockerfile";
	return name && project_detect(name, text, ret) && *ret != PROJECT_LOCK;
}

/* -------- reading */

/* A Dockerfile's directives count in front of everything else but others of their kind. */
static bool begins_with_directive(struct paste *p, const struct excerpt *b)
{
	return b->from < b->to &&
	       paste_match(p, "^#\\s*(?:escape|syntax|check)\\s*=", p->t.lines[b->from].s, NULL);
}

static struct view text_of(struct paste *p, const struct excerpt *b)
{
	const char *pad = begins_with_directive(p, b) ? "#-=-\n" : "\n";
	struct strbuf s;
	uint32_t at = 1;
	size_t i;

	strbuf_init(&s, p->a);
	for (i = b->from; i < b->to && s.n < FRAGMENT_BYTES + 5 * LINES_SEARCHED; i++) {
		struct view raw = raw_line(&p->t, i);

		for (; at < p->t.lines[i].number; at++)
			strbuf_add(&s, i == b->from ? pad : "\n");
		strbuf_addn(&s, raw.p, raw.n);
	}
	strbuf_addc(&s, '\n');
	return (struct view){ .p = s.s, .n = s.n };
}

static const char *file_of(const struct paste *p, size_t line)
{
	return p->t.n_files > 1 ? p->t.files[p->t.lines[line].file] : "pasted";
}

static void read_block(struct paste *p, const struct excerpt *b)
{
	struct project_reader *r = p->projects;
	enum project_kind kind;
	struct view text;
	size_t before, i;
	struct err err;

	if (b->from >= b->to || b->to - b->from > FRAGMENT_LINES ||
	    paste_foreign(p, b->from, SCOPE_MACHINE))
		return;
	text = text_of(p, b);
	if (!kind_of(p, b, text, &kind))
		return;
	before = r ? r->list.n : 0;
	if (!r) {
		r = p->projects = arena_alloc(p->a, sizeof(*r));
		*r = (struct project_reader){ .a = p->a, .c = p->c, .no_files = true };
	}
	/* A piece of a file may be broken where it was cut off: what was read of it is left out. */
	if (project_read_text(r, kind, file_of(p, b->from), text, &err)) {
		r->list.n = before;
		return;
	}
	for (i = b->from; i < b->to; i++)
		p->t.lines[i].wished = true;
}

void fragments_read(struct paste *p)
{
	size_t i = 0, n = p->t.n < LINES_SEARCHED ? p->t.n : LINES_SEARCHED, found = 0;
	struct excerpt b;

	while (i < n && found < FRAGMENTS) {
		if (!block_at(p, i, &b)) {
			i++;
			continue;
		}
		found++;
		read_block(p, &b);
		i = b.to > i ? b.to + 1 : i + 1;
	}
}

/* -------- places */

/* "pasted:12:3" to "pasted line 12". */
static const char *place(void *ctx, const char *text)
{
	struct paste *p = ctx;
	size_t i, n, digits;

	for (i = 0; i < (p->t.n_files > 1 ? p->t.n_files : 1); i++) {
		const char *file = p->t.n_files > 1 ? p->t.files[i] : "pasted";

		n = strlen(file);
		if (strncmp(text, file, n) != 0 || text[n] != ':')
			continue;
		digits = strspn(text + n + 1, "0123456789");
		if (digits && (text[n + 1 + digits] == ':' || !text[n + 1 + digits]) &&
		    strspn(text + n + 1, "0123456789:") == strlen(text + n + 1))
			return arena_printf(p->a, "%s line %.*s", file, (int)digits, text + n + 1);
	}
	return text;
}

void fragments_fill(struct paste *p)
{
	struct snapshot only = { .n_gpus = 0 };
	size_t i;

	if (!p->projects || !p->projects->list.n)
		return;
	project_fill(p->projects, p->s);
	only.projects = p->s->projects;
	only.n_projects = p->s->n_projects;
	snapshot_rewrite(&only, place, p);
	for (i = 0; i < p->s->n_projects; i++) {
		struct planned *o = &p->s->projects[i];

		fact_set(&o->file,
			 arena_printf(p->a, _("the pasted %s"), fact_value(&o->kind, "file")),
			 o->file.source);
	}
	/* What a stranger's comments leave out is still judged. */
	p->s->n_pragmas = 0;
}
