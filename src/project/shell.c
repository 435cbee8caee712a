/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shell text of RUN lines, CI steps and the like: cut into commands and words. It is read as far as
 * installers need it (quotes, escapes, variables, operators); nothing is ever run.
 */
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "project/project.h"

enum { WORDS = 4096, SHELL_DEPTH = 3 };

struct place mapped_place(const struct mapped *m, size_t offset)
{
	size_t lo = 0, hi = m->n_pieces, mid;
	const struct piece *p;

	if (!m->n_pieces)
		return (struct place){ .file = m->file };
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (m->pieces[mid].offset <= offset)
			lo = mid;
		else
			hi = mid;
	}
	p = &m->pieces[lo];
	return (struct place){ .file = m->file,
			       .line = p->line,
			       .column =
				       p->column + (offset > p->offset ? offset - p->offset : 0) };
}

void mapped_piece(struct arena *a, struct mapped *m, size_t offset, size_t line, size_t column)
{
	*ARENA_APPEND(a, m->pieces, m->n_pieces) =
		(struct piece){ .offset = offset, .line = line, .column = column };
}

static bool name_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

static size_t name_length(struct view v)
{
	size_t n = 0;

	while (n < v.n && name_char(v.p[n], n == 0))
		n++;
	return n;
}

static const char *lookup(struct project_reader *r, const struct project *p, struct view name)
{
	const struct setting *s = project_env(p, view_dup(r->a, name));

	return s ? s->value : NULL;
}

/* "${NAME:-text}" behind the "${"; returns how much was taken. */
static size_t braced(struct project_reader *r, const struct project *p, struct view v,
		     struct strbuf *b, bool *ret_unknown, int depth)
{
	size_t n = name_length(v), end = n, level = 1;
	const char *value, *op;
	struct view rest, word;
	bool colon, set;

	while (end < v.n && level) {
		level += v.p[end] == '{' ? 1 : 0;
		level -= v.p[end] == '}' ? 1 : 0;
		end++;
	}
	value = lookup(r, p, (struct view){ .p = v.p, .n = n });
	rest = (struct view){ .p = v.p + n, .n = end - n - (level ? 0 : 1) };
	colon = rest.n && rest.p[0] == ':';
	op = rest.n > (size_t)colon ? rest.p + colon : "";
	word = view_skip(rest, (size_t)colon + 1);
	set = value && (!colon || *value);
	if (!rest.n || (*op != '-' && *op != '+')) {
		const char *made = value && rest.n ? shell_expand(r->a, value, rest) : value;

		if (made)
			strbuf_add(b, made);
		else
			*ret_unknown = true;
	} else if (*op == '-' && set) {
		strbuf_add(b, value);
	} else if (*op == '-' ? depth < 4 : set && depth < 4) {
		strbuf_add(b, substitute(r, p, word, ret_unknown));
	}
	return end;
}

const char *substitute(struct project_reader *r, const struct project *p, struct view text,
		       bool *ret_unknown)
{
	struct strbuf b;
	struct view rest;
	const char *value;
	size_t i, n;

	strbuf_init(&b, r->a);
	for (i = 0; i < text.n; i++) {
		if (text.p[i] == '\\' && i + 1 < text.n && text.p[i + 1] == '$') {
			strbuf_addc(&b, text.p[++i]);
			continue;
		}
		if (text.p[i] != '$' || i + 1 == text.n) {
			strbuf_addc(&b, text.p[i]);
			continue;
		}
		rest = view_skip(text, i + 1);
		if (rest.p[0] == '{') {
			if (++r->depth > 24)
				*ret_unknown = true;
			else
				i += braced(r, p, view_skip(rest, 1), &b, ret_unknown, 0) + 1;
			r->depth--;
			continue;
		}
		n = name_length(rest);
		value = n ? lookup(r, p, (struct view){ .p = rest.p, .n = n }) : NULL;
		if (value)
			strbuf_add(&b, value);
		else if (n)
			*ret_unknown = true;
		else
			strbuf_addc(&b, '$');
		i += n;
	}
	return b.s;
}

/* -------- here-documents */

bool heredoc_next(struct arena *a, struct view v, size_t *at, const char *before,
		  struct heredoc *ret)
{
	size_t i, n;

	for (i = *at; i + 2 < v.n; i++) {
		char q = 0;

		if (v.p[i] != '<' || v.p[i + 1] != '<' ||
		    (before && i && !strchr(before, v.p[i - 1])))
			continue;
		i += 2;
		if (v.p[i] == '<')
			continue;
		ret->strip = v.p[i] == '-';
		i += ret->strip;
		while (!before && i < v.n && (v.p[i] == ' ' || v.p[i] == '\t'))
			i++;
		if (i < v.n && (v.p[i] == '"' || v.p[i] == '\''))
			q = v.p[i++];
		else if (i < v.n && v.p[i] == '\\')
			i++;
		for (n = i; n < v.n && (q ? v.p[n] != q : !strchr(" \t;&|)>", v.p[n])); n++)
			;
		if (n == i)
			continue;
		ret->mark = arena_strndup(a, v.p + i, n - i);
		*at = n + 1;
		return true;
	}
	return false;
}

bool heredoc_ends(const struct heredoc *h, struct view line)
{
	while (h->strip && line.n && line.p[0] == '\t')
		line = view_skip(line, 1);
	return view_is(line, h->mark);
}

/* -------- words */

struct lexer {
	struct shell *sh;
	struct view text;
	size_t at;
	struct command cmd;
	size_t words;
	size_t n_env; /* of the project when the text began */
	bool maybe;   /* in a script: stands behind "||", or behind a test and "&&" */
};

/* $(...), `...`: opaque; returns behind its end. */
static size_t skip_substitution(struct view t, size_t at)
{
	size_t level = 0;

	if (t.p[at] == '`') {
		for (at++; at < t.n && t.p[at] != '`'; at++)
			;
		return at + 1;
	}
	for (at++; at < t.n; at++) {
		level += t.p[at] == '(' ? 1 : 0;
		if (t.p[at] == ')' && --level == 0)
			return at + 1;
	}
	return t.n;
}

static size_t variable_end(struct view t, size_t at)
{
	size_t level = 0;

	if (at + 1 < t.n && t.p[at + 1] == '{') {
		for (at++; at < t.n; at++) {
			level += t.p[at] == '{' ? 1 : 0;
			if (t.p[at] == '}' && --level == 0)
				return at + 1;
		}
		return t.n;
	}
	return at + 1 + name_length(view_skip(t, at + 1));
}

static void put_variable(struct lexer *l, struct strbuf *b, struct word *w)
{
	struct view t = l->text;
	size_t end;

	if (l->at + 1 < t.n && t.p[l->at + 1] == '(') {
		const char *made;
		size_t inner = l->at + 2;

		end = skip_substitution(t, l->at);
		made = end > inner ? shell_evaluate(l->sh->r, l->sh->p,
						    (struct view){ .p = t.p + inner,
								   .n = end - inner - 1 })
				   : NULL;
		if (made)
			strbuf_add(b, made);
		else
			w->unknown = true;
	} else {
		end = variable_end(t, l->at);
		strbuf_add(b, substitute(l->sh->r, l->sh->p,
					 (struct view){ .p = t.p + l->at, .n = end - l->at },
					 &w->unknown));
	}
	l->at = end;
}

static void quoted(struct lexer *l, char q, struct strbuf *b, struct word *w)
{
	struct view t = l->text;

	w->quoted = true;
	for (l->at++; l->at < t.n && t.p[l->at] != q;) {
		if (q == '"' && t.p[l->at] == '\\' && l->at + 1 < t.n &&
		    strchr("\\\"$`\n", t.p[l->at + 1])) {
			strbuf_addc(b, t.p[l->at + 1]);
			l->at += 2;
		} else if (q == '"' && t.p[l->at] == '$') {
			put_variable(l, b, w);
		} else if (q == '"' && t.p[l->at] == '`') {
			w->unknown = true;
			l->at = skip_substitution(t, l->at);
		} else {
			strbuf_addc(b, t.p[l->at++]);
		}
	}
	l->at += l->at < t.n;
}

static bool is_operator(char c)
{
	return c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')';
}

static void take_word(struct lexer *l)
{
	struct view t = l->text;
	struct word w = { .offset = l->at };
	struct strbuf b;

	strbuf_init(&b, l->sh->r->a);
	while (l->at < t.n) {
		char c = t.p[l->at];

		if (c == ' ' || c == '\t' || c == '\r' || c == '\0' || is_operator(c))
			break;
		if (c == '\'' || c == '"') {
			quoted(l, c, &b, &w);
		} else if (c == '\\' && l->at + 1 < t.n) {
			strbuf_addc(&b, t.p[l->at + 1]);
			l->at += 2;
		} else if (c == '$') {
			put_variable(l, &b, &w);
		} else if (c == '`') {
			w.unknown = true;
			l->at = skip_substitution(t, l->at);
		} else if ((c == '>' || c == '<') && !b.n && !w.quoted) {
			strbuf_addc(&b, c);
			l->at++;
			while (l->at < t.n && strchr("<>&-", t.p[l->at]) && t.p[l->at])
				strbuf_addc(&b, t.p[l->at++]);
		} else {
			/* torch>=2 unquoted is a redirection to a shell, and yet what was meant. */
			strbuf_addc(&b, c);
			l->at++;
		}
	}
	w.text = b.s;
	if (++l->words <= WORDS)
		*ARENA_APPEND(l->sh->r->a, l->cmd.words, l->cmd.n) = w;
	else if (l->words == WORDS + 1)
		project_doubt(l->sh->r, l->sh->p, mapped_place(l->sh->m, w.offset), "%s",
			      _("what comes from here on is too long to be read"));
}

/* -------- commands */

static bool is_assignment(const struct word *w)
{
	size_t n = name_length(view_of(w->text));

	return n && w->text[n] == '=';
}

static void assign(struct shell *sh, const struct word *w)
{
	size_t n = name_length(view_of(w->text));

	if (w->unknown)
		return;
	project_set(sh->r, sh->p, arena_strndup(sh->r->a, w->text, n), w->text + n + 1,
		    mapped_place(sh->m, w->offset));
}

static bool is_control(const char *w)
{
	static const char *const words[] = { "if",   "then", "else", "elif", "fi",   "do", "done",
					     "while", "until", "{",  "}",    "!",    "time", "sudo",
					     "exec", "nohup", "command", "eval", "env", "-E" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], w) == 0)
			return true;
	return false;
}

/* `bash -c "..."`, `sh -lc '...'`: the text inside is read like the rest. */
static bool nested(struct shell *sh, const struct command *c)
{
	const char *base = strrchr(c->words[0].text, '/');
	struct mapped m = { .file = sh->m->file };
	struct shell inner = *sh;
	struct place at;
	size_t i;

	base = base ? base + 1 : c->words[0].text;
	if (strcmp(base, "bash") != 0 && strcmp(base, "sh") != 0)
		return false;
	for (i = 1; i + 1 < c->n; i++)
		if (c->words[i].text[0] == '-' && strchr(c->words[i].text, 'c') &&
		    c->words[i].text[1] != '-')
			break;
	if (i + 1 >= c->n || sh->depth >= SHELL_DEPTH)
		return false;
	at = mapped_place(sh->m, c->words[i + 1].offset);
	m.text = view_of(c->words[i + 1].text);
	mapped_piece(sh->r->a, &m, 0, at.line, at.column);
	inner.m = &m;
	inner.depth++;
	shell_run(&inner);
	return true;
}

static bool bare(const struct word *w, const char *text)
{
	return !w->quoted && strcmp(w->text, text) == 0;
}

/* In a script: how many conditions, loops apart, and functions the command is inside of. */
static bool conditional(struct shell *sh, const struct command *c)
{
	const char *first, *last = c->n ? c->words[c->n - 1].text : "";
	size_t i = 0;

	if (!sh->script)
		return false;
	/* "then if ...", "do if ..." on one line. */
	while (i < c->n && (bare(&c->words[i], "then") || bare(&c->words[i], "else") ||
			    bare(&c->words[i], "do")))
		i++;
	first = i < c->n && !c->words[i].quoted ? c->words[i].text : "";
	if (strcmp(first, "if") == 0 || strcmp(first, "case") == 0 || strcmp(first, "{") == 0 ||
	    strcmp(last, "{") == 0)
		sh->inside++;
	else if ((strcmp(first, "fi") == 0 || strcmp(first, "esac") == 0 ||
		  strcmp(first, "}") == 0) &&
		 sh->inside)
		sh->inside--;
	return sh->inside > 0;
}

/* What may be installed there is said once. */
static void left_open(struct shell *sh, const struct command *c)
{
	size_t i;

	for (i = 0; i + 1 < c->n && !sh->said; i++)
		if (strcmp(c->words[i + 1].text, "install") == 0) {
			project_doubt(sh->r, sh->p, mapped_place(sh->m, c->words[i].offset), "%s",
				      _("what depends on a condition is not read"));
			sh->said = true;
		}
}

/* Does what follows depend on how this command ends? `at` is behind the operator's first mark. */
static bool next_maybe(struct lexer *l, const struct command *c)
{
	const char *first = c->n ? c->words[0].text : "";
	char op = l->at && l->at <= l->text.n ? l->text.p[l->at - 1] : '\0';
	bool twice = l->at < l->text.n && l->text.p[l->at] == op;

	/* The second mark of "||" and "&&" comes with no command. */
	if (!l->sh->script || !c->n)
		return l->sh->script && l->maybe && (op == '|' || op == '&');
	if (op == '|')
		return twice;
	return op == '&' && twice &&
	       (l->maybe || strcmp(first, "[") == 0 || strcmp(first, "[[") == 0 ||
		strcmp(first, "test") == 0);
}

static void finish(struct lexer *l)
{
	struct command c = l->cmd;
	struct project *p = l->sh->p;
	size_t keep = p->n_env;
	bool lone, maybe = l->maybe;

	l->maybe = next_maybe(l, &c);
	l->cmd = (struct command){ .n = 0 };
	if (conditional(l->sh, &c) || maybe) {
		left_open(l->sh, &c);
		return;
	}
	while (c.n && !c.words[0].quoted && is_control(c.words[0].text)) {
		c.words++;
		c.n--;
	}
	if (c.n > 1 && strcmp(c.words[0].text, "export") == 0) {
		c.words++;
		c.n--;
	}
	for (; c.n && is_assignment(&c.words[0]); c.words++, c.n--)
		assign(l->sh, &c.words[0]);
	lone = !c.n;
	while (c.n && !c.words[0].quoted && is_control(c.words[0].text)) {
		c.words++;
		c.n--;
	}
	if (c.n && !nested(l->sh, &c))
		command_run(l->sh, &c);
	/* What stands in front of a command is for that command alone. */
	if (!lone)
		p->n_env = l->sh->p->n_env = keep;
}

/* Exported variables end with their shell; what a command set for good stays. */
static void end_exports(struct project *p, size_t keep)
{
	size_t i;

	for (i = keep; i < p->n_env; i++)
		if (!p->env[i].build_only)
			p->env[keep++] = p->env[i];
	p->n_env = keep < p->n_env ? keep : p->n_env;
}

void shell_run(struct shell *sh)
{
	struct lexer l = { .sh = sh, .text = sh->m->text };
	struct project *begun = sh->p;
	size_t keep = begun->n_env, from = sh->r->list.n, i;

	if (sh->depth == 0)
		l.n_env = keep;
	while (l.at < l.text.n) {
		char c = l.text.p[l.at];

		if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
			l.at++;
		} else if (c == '#' && (l.at == 0 || strchr(" \t\n;", l.text.p[l.at - 1]))) {
			while (l.at < l.text.n && l.text.p[l.at] != '\n')
				l.at++;
		} else if (is_operator(c)) {
			l.at++;
			finish(&l);
		} else {
			take_word(&l);
		}
	}
	finish(&l);
	end_exports(begun, keep);
	/* Environments that it made got its variables, too. */
	for (i = from; i < sh->r->list.n; i++)
		end_exports(sh->r->list.v[i], keep);
}
