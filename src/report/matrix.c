/* SPDX-License-Identifier: Apache-2.0 */
/* The table of project files and targets. Decides nothing: verdicts come with the rows. */
#include "report/matrix.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "report/formats.h"

static size_t index_in(struct arena *a, const char ***list, size_t *n, const char *s)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (strcmp((*list)[i], s) == 0)
			return i;
	*ARENA_APPEND(a, *list, *n) = s;
	return *n - 1;
}

static const char *name_of(struct arena *a, const struct report_target *t)
{
	return clean(a, t->part ? arena_printf(a, "%s, %s", t->file, t->part) : t->file);
}

static const char *cell_of(const struct report_target *t)
{
	if (t->finding)
		return t->finding;
	return t->verdict == VERDICT_STACK_OK ? "ok" : verdict_name(t->verdict);
}

void matrix_make(struct arena *a, const struct report *rep, struct matrix *ret)
{
	struct matrix m = { .n_files = 0 };
	size_t i, f, t;

	for (i = 0; i < rep->n_targets; i++) {
		index_in(a, &m.files, &m.n_files, name_of(a, &rep->targets[i]));
		index_in(a, &m.targets, &m.n_targets, clean(a, rep->targets[i].target));
	}
	m.cells = arena_calloc(a, m.n_files * m.n_targets + 1, sizeof(*m.cells));
	for (i = 0; i < rep->n_targets; i++) {
		const char *cell = cell_of(&rep->targets[i]), **at;

		f = index_in(a, &m.files, &m.n_files, name_of(a, &rep->targets[i]));
		t = index_in(a, &m.targets, &m.n_targets, clean(a, rep->targets[i].target));
		at = &m.cells[f * m.n_targets + t];
		/* Services of one name: the worse one stands for both. */
		if (!*at || strcmp(*at, "ok") == 0)
			*at = cell;
	}
	*ret = m;
}

const char *matrix_cell(const struct matrix *m, size_t file, size_t target)
{
	const char *c = m->cells[file * m->n_targets + target];

	return c ? c : "-";
}

static void pad(struct strbuf *out, const char *s, size_t width)
{
	size_t n = utf8_columns(s);

	strbuf_add(out, s);
	for (; n < width; n++)
		strbuf_addc(out, ' ');
}

bool matrix_text(struct arena *a, const struct matrix *m, int width, struct strbuf *out)
{
	size_t *w = arena_calloc(a, m->n_targets + 1, sizeof(*w)), first = 0, sum, i, k;

	for (i = 0; i < m->n_files; i++)
		first = utf8_columns(m->files[i]) > first ? utf8_columns(m->files[i]) : first;
	sum = 2 + first;
	for (k = 0; k < m->n_targets; k++) {
		w[k] = utf8_columns(m->targets[k]);
		for (i = 0; i < m->n_files; i++) {
			size_t n = utf8_columns(matrix_cell(m, i, k));

			w[k] = n > w[k] ? n : w[k];
		}
		sum += 2 + w[k];
	}
	if (width > 0 && sum > (size_t)width)
		return false;
	strbuf_add(out, "  ");
	pad(out, "", first);
	for (k = 0; k < m->n_targets; k++) {
		strbuf_add(out, "  ");
		pad(out, m->targets[k], k + 1 < m->n_targets ? w[k] : 0);
	}
	strbuf_addc(out, '\n');
	for (i = 0; i < m->n_files; i++) {
		strbuf_add(out, "  ");
		pad(out, m->files[i], first);
		for (k = 0; k < m->n_targets; k++) {
			strbuf_add(out, "  ");
			pad(out, matrix_cell(m, i, k), k + 1 < m->n_targets ? w[k] : 0);
		}
		strbuf_addc(out, '\n');
	}
	return true;
}

void matrix_markdown(const struct matrix *m, struct strbuf *out)
{
	size_t i, k;

	strbuf_printf(out, "| %s |", _("file"));
	for (k = 0; k < m->n_targets; k++) {
		strbuf_addc(out, ' ');
		put_clean_markdown(out, *m->targets[k] ? m->targets[k] : _("verdict"));
		strbuf_add(out, " |");
	}
	strbuf_add(out, "\n| --- |");
	for (k = 0; k < m->n_targets; k++)
		strbuf_add(out, " --- |");
	strbuf_addc(out, '\n');
	for (i = 0; i < m->n_files; i++) {
		strbuf_add(out, "| ");
		put_clean_markdown(out, m->files[i]);
		strbuf_add(out, " |");
		for (k = 0; k < m->n_targets; k++)
			strbuf_printf(out, " %s |", matrix_cell(m, i, k));
		strbuf_addc(out, '\n');
	}
	strbuf_addc(out, '\n');
}
