/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs from lines into the snapshot: by name, by PCI id, from lists. Two lines may mean one. */
#include <string.h>

#include "base/arena.h"
#include "triage/value.h"

enum { GPUS_MAX = 64 };

/* Is one name in the other?  "NVIDIA GeForce RTX 208..." is the beginning of a name. */
static bool covers(const char *longer, const char *shorter)
{
	char buf[96];
	size_t n = strlen(shorter);

	while (n && (shorter[n - 1] == '.' || shorter[n - 1] == ' '))
		n--;
	if (!n || n >= sizeof(buf))
		return false;
	memcpy(buf, shorter, n);
	buf[n] = '\0';
	return strcasestr(longer, buf) != NULL;
}

/* "GTX 3090": no GTX has such a number, and people write it for the RTX. */
static void rtx_said_gtx(char *s)
{
	char *g = strcasestr(s, "GTX"), *n = g ? g + 3 : NULL;

	if (n && *n == ' ')
		n++;
	if (n && *n >= '2' && *n <= '5' && n[1] == '0' && n[2] >= '5' && n[2] <= '9' && n[3] == '0')
		*g = *g == 'g' ? 'r' : 'R';
}

/* "RTX-3090", "Tesla-P40", "NVIDIA-GeForce-RTX-3090" as clusters label nodes. */
static void spaced(char *s)
{
	bool whole = strcasestr(s, "RTX") || strcasestr(s, "GTX");
	size_t i;

	for (i = 1; s[i]; i++)
		if ((s[i] == '-' || s[i] == '_') && strncasecmp(s + i, "-Q", 2) != 0 &&
		    (whole || strncasecmp(s + i - 1, "a-", 2) == 0))
			s[i] = ' ';
}

/* "RTX 6000 PRO", as people say, is sold as "RTX PRO 6000". */
static void pro_first(char *s)
{
	char *g = strcasestr(s, "RTX "), *n = g ? g + 4 : NULL;
	char number[4];

	if (!n || strspn(n, "0123456789") != 4 || strncasecmp(n + 4, " PRO", 4) != 0)
		return;
	memcpy(number, n, sizeof(number));
	memcpy(n, "PRO ", 4);
	memcpy(n + 4, number, sizeof(number));
}

void paste_gpu(struct paste *p, struct view name, size_t line)
{
	struct gpu *g;
	char *s;
	size_t i;

	name = value_bare(name);
	if (name.n < 2 || name.n > 80 || !value_wanted(p, line, SCOPE_MACHINE))
		return;
	if (p->filling && p->s->n_gpus)
		return;
	s = view_dup(p->a, name);
	spaced(s);
	rtx_said_gtx(s);
	pro_first(s);
	for (i = 0; i < p->s->n_gpus; i++) {
		const char *old = fact_value(&p->s->gpus[i].name, "");

		if (covers(old, s) || covers(s, old)) {
			size_t n = strlen(old) - (view_ends(view_of(old), "...") ? 3 : 0);

			if (strlen(s) > n)
				fact_set(&p->s->gpus[i].name, s, paste_source(p, line));
			return;
		}
	}
	if (p->s->n_gpus >= GPUS_MAX)
		return;
	/* One of which only its compute capability was said so far. */
	g = p->s->n_gpus == 1 && p->s->gpus[0].name.state == FACT_NOT_ASKED &&
			    !fact_known(&p->s->gpus[0].pci_id)
		    ? &p->s->gpus[0]
		    : ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	fact_set(&g->name, s, paste_source(p, line));
}

/* "0000:65:00.0" and "00000000:65:00.0" are one address. */
static bool same_address(const char *a, struct view b)
{
	size_t n = strlen(a);

	return n >= 7 && b.n >= 7 && strncasecmp(a + n - 7, b.p + b.n - 7, 7) == 0;
}

/* One that a list of the same machine showed before, or one that was only named so far. */
static struct gpu *listed_gpu(struct paste *p, struct view index, struct view name,
			      struct view address)
{
	struct gpu *named = NULL;
	size_t i;

	for (i = 0; i < p->s->n_gpus; i++) {
		struct gpu *g = &p->s->gpus[i];
		const char *old = fact_value(&g->name, "");
		bool alike = !name.n || !*old || covers(old, view_dup(p->a, name)) ||
			     covers(view_dup(p->a, name), old);

		if (address.n && fact_known(&g->address)) {
			if (same_address(g->address.value, address))
				return g;
			continue;
		}
		if (index.n && fact_known(&g->nvml_index)) {
			if (view_is(index, g->nvml_index.value) && alike)
				return g;
			continue;
		}
		if (!named && alike && !fact_known(&g->nvml_index) && !fact_known(&g->address))
			named = g;
	}
	return named;
}

struct gpu *paste_listed_gpu(struct paste *p, struct view index, struct view name,
			     struct view address, size_t line)
{
	struct gpu *g;
	const char *source;

	if (name.n > 80 || !value_wanted(p, line, SCOPE_MACHINE) || (p->filling && p->s->n_gpus))
		return NULL;
	source = paste_source(p, line);
	g = listed_gpu(p, index, name, address);
	if (!g && p->s->n_gpus >= GPUS_MAX)
		return NULL;
	if (!g)
		g = ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	if (name.n && (!fact_known(&g->name) || view_ends(view_of(g->name.value), "...") ||
		       (name.n > strlen(g->name.value) && !view_ends(name, "..."))))
		fact_set(&g->name, view_dup(p->a, name), source);
	if (index.n && !fact_known(&g->nvml_index))
		fact_set(&g->nvml_index, view_dup(p->a, index), source);
	if (address.n && !fact_known(&g->address))
		fact_set(&g->address, view_dup(p->a, address), source);
	return g;
}

/* One without a PCI id that this line named: the id is its own. */
static struct gpu *named_on_line(struct paste *p, size_t line)
{
	const char *source = paste_source(p, line);
	size_t i;

	for (i = 0; i < p->s->n_gpus; i++) {
		struct gpu *g = &p->s->gpus[i];

		if (!fact_known(&g->pci_id) && g->name.source &&
		    strcmp(g->name.source, source) == 0)
			return g;
	}
	return NULL;
}

void paste_pci(struct paste *p, struct view id, size_t line)
{
	struct gpu *g;
	size_t i;

	if (!value_wanted(p, line, SCOPE_MACHINE))
		return;
	for (i = 0; i < p->s->n_gpus; i++)
		if (view_is(id, fact_value(&p->s->gpus[i].pci_id, "")))
			return;
	if (p->s->n_gpus >= GPUS_MAX)
		return;
	g = named_on_line(p, line);
	if (!g)
		g = ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	fact_set(&g->pci_id, view_dup(p->a, id), paste_source(p, line));
}

void value_gpu_cc(struct paste *p, struct view v, size_t line)
{
	struct gpu *g;
	struct view cc = v;
	char *dotted;

	if (view_starts(v, "sm_"))
		cc = view_skip(v, 3);
	if (!cc.n || cc.n > 5)
		return;
	dotted = view_chr(cc, '.') < 0 && cc.n >= 2
			 ? arena_printf(p->a, "%.*s.%c", (int)cc.n - 1, cc.p, cc.p[cc.n - 1])
			 : view_dup(p->a, cc);
	if (!p->s->n_gpus)
		(void)ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	g = &p->s->gpus[p->s->n_gpus - 1];
	if (!fact_known(&g->compute_capability))
		fact_set(&g->compute_capability, dotted, paste_source(p, line));
}
