/* SPDX-License-Identifier: Apache-2.0 */
/* The door to libyaml: its events become a document; depth, keys and aliases are bounded. */
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/doc.h"

enum { ANCHORS = 4096 };

struct anchor {
	const char *name;
	const struct doc *node;
};

struct frame {
	struct doc *node;
	const char *key; /* read, its value is next; NULL: a key is next (maps) */
	size_t key_line, key_column;
	const char *anchor;
};

struct reader {
	struct arena *a;
	const char *name;
	struct err *err;
	struct frame stack[DOC_DEPTH + 2];
	size_t depth;
	struct anchor *anchors;
	size_t n_anchors;
	size_t weight;
};

static int complain(struct reader *r, const yaml_mark_t *m, const char *what)
{
	return err_set(r->err, ERR_PARSE, "%.300s:%zu:%zu: %s", r->name, m->line + 1, m->column + 1,
		       what);
}

static struct doc *new_node(struct reader *r, enum doc_kind kind, const yaml_event_t *e)
{
	struct doc *d = arena_alloc(r->a, sizeof(*d));

	d->kind = kind;
	d->line = e->start_mark.line + 1;
	d->column = e->start_mark.column + 1;
	d->end_line = e->end_mark.line + 1;
	d->weight = 1;
	return d;
}

static bool word_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(s, *list) == 0)
			return true;
	return false;
}

static enum doc_kind kind_of(const char *s)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const bools[] = {
		"true", "True", "TRUE", "false", "False", "FALSE", NULL
	};
	size_t n = strlen(s), sign = *s == '-' || *s == '+';

	if (word_of(s, nulls))
		return DOC_NULL;
	if (word_of(s, bools))
		return DOC_BOOL;
	if (n > sign && strspn(s + sign, "0123456789") == n - sign)
		return DOC_INT;
	if (n > sign && s[sign] >= '0' && s[sign] <= '9' &&
	    strspn(s + sign, "0123456789.eE+-") == n - sign && strchr(s, '.') == strrchr(s, '.'))
		return DOC_FLOAT;
	return DOC_STRING;
}

/* Puts a finished value where it belongs: into the innermost list or map. */
static int place(struct reader *r, struct doc *d, const yaml_event_t *e)
{
	struct frame *f = &r->stack[r->depth - 1];

	if (f->node->kind == DOC_MAP) {
		d->key = f->key;
		d->key_line = f->key_line;
		d->key_column = f->key_column;
		f->key = NULL;
		if (f->node->n >= DOC_KEYS)
			return complain(r, &e->start_mark, _("too many keys in one map"));
	}
	if (f->node->last)
		f->node->last->next = d;
	else
		f->node->first = d;
	f->node->last = d;
	f->node->n++;
	f->node->weight += d->weight;
	f->node->end_line = d->end_line > f->node->end_line ? d->end_line : f->node->end_line;
	r->weight += d->weight;
	return r->weight > DOC_WEIGHT
		       ? complain(r, &e->start_mark, _("too many values (aliases counted)"))
		       : 0;
}

static int remember(struct reader *r, const char *anchor, const struct doc *d,
		    const yaml_event_t *e)
{
	if (!anchor)
		return 0;
	if (r->n_anchors >= ANCHORS)
		return complain(r, &e->start_mark, _("too many anchors"));
	*ARENA_APPEND(r->a, r->anchors, r->n_anchors) =
		(struct anchor){ .name = anchor, .node = d };
	return 0;
}

static const char *copy(struct reader *r, const unsigned char *s)
{
	return s ? arena_strdup(r->a, (const char *)s) : NULL;
}

static bool wants_key(const struct reader *r)
{
	const struct frame *f = &r->stack[r->depth - 1];

	return f->node->kind == DOC_MAP && !f->key;
}

static int scalar(struct reader *r, const yaml_event_t *e)
{
	const char *text = arena_strndup(r->a, (const char *)e->data.scalar.value,
					 e->data.scalar.length);
	struct frame *f = &r->stack[r->depth - 1];
	struct doc *d;
	int rc;

	if (wants_key(r)) {
		f->key = text;
		f->key_line = e->start_mark.line + 1;
		f->key_column = e->start_mark.column + 1;
		return 0;
	}
	d = new_node(r, e->data.scalar.plain_implicit ? kind_of(text) : DOC_STRING, e);
	d->text = text;
	rc = place(r, d, e);
	return rc ? rc : remember(r, copy(r, e->data.scalar.anchor), d, e);
}

static int alias(struct reader *r, const yaml_event_t *e)
{
	const char *name = (const char *)e->data.alias.anchor;
	struct doc *d;
	size_t i;

	if (wants_key(r))
		return complain(r, &e->start_mark, _("an alias cannot be a key here"));
	for (i = r->n_anchors; i > 0; i--)
		if (strcmp(r->anchors[i - 1].name, name) == 0)
			break;
	if (!i)
		return complain(r, &e->start_mark, _("this alias names no anchor before it"));
	d = arena_alloc(r->a, sizeof(*d));
	*d = *r->anchors[i - 1].node;
	d->next = NULL;
	d->key = NULL;
	return place(r, d, e);
}

static int open_node(struct reader *r, enum doc_kind kind, const yaml_event_t *e,
		     const unsigned char *anchor)
{
	if (r->depth > DOC_DEPTH)
		return complain(r, &e->start_mark, _("nested too deep"));
	if (wants_key(r))
		return complain(r, &e->start_mark, _("a key has to be a word here"));
	r->stack[r->depth++] = (struct frame){ .node = new_node(r, kind, e),
					       .anchor = copy(r, anchor) };
	return 0;
}

static int close_node(struct reader *r, const yaml_event_t *e)
{
	struct frame *f = &r->stack[--r->depth];
	struct doc *d = f->node;
	size_t weight = r->weight;
	int rc;

	rc = place(r, d, e);
	/* Its members are counted already. */
	r->weight = weight + 1;
	return rc ? rc : remember(r, f->anchor, d, e);
}

static int handle(struct reader *r, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return scalar(r, e);
	case YAML_ALIAS_EVENT:
		return alias(r, e);
	case YAML_SEQUENCE_START_EVENT:
		return open_node(r, DOC_LIST, e, e->data.sequence_start.anchor);
	case YAML_MAPPING_START_EVENT:
		return open_node(r, DOC_MAP, e, e->data.mapping_start.anchor);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return close_node(r, e);
	case YAML_DOCUMENT_START_EVENT:
		r->n_anchors = 0;
		r->anchors = NULL;
		return 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

static int events(struct reader *r, yaml_parser_t *p)
{
	bool done = false;
	int rc = 0;

	while (!rc && !done) {
		__attribute__((cleanup(yaml_event_delete))) yaml_event_t e = { 0 };

		if (!yaml_parser_parse(p, &e)) {
			if (p->error == YAML_MEMORY_ERROR)
				arena_exhausted(r->a);
			return complain(r, &p->problem_mark,
					p->problem ? p->problem : _("not YAML"));
		}
		done = e.type == YAML_STREAM_END_EVENT;
		rc = handle(r, &e);
	}
	return rc;
}

int yaml_parse(struct arena *a, struct view text, const char *name, const struct doc **ret,
	       struct err *err)
{
	struct err own;
	struct reader *r = arena_alloc(a, sizeof(*r));
	struct doc *root = arena_alloc(a, sizeof(*root));
	__attribute__((cleanup(yaml_parser_delete))) yaml_parser_t p = { 0 };
	int rc;

	r->a = a;
	r->name = name;
	r->err = err ? err : &own;
	root->kind = DOC_LIST;
	root->line = root->column = 1;
	r->stack[r->depth++] = (struct frame){ .node = root };
	if (!yaml_parser_initialize(&p))
		arena_exhausted(a);
	yaml_parser_set_input_string(&p, (const unsigned char *)(text.p ? text.p : ""), text.n);
	rc = events(r, &p);
	if (!rc)
		*ret = root;
	return rc;
}
