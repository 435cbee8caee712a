/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries of the layers from the snapshot; judges nothing: the mark comes from the findings. */
#include "report/layers.h"

#include <string.h>

#include "base/arena.h"

/* " WORD VALUE" pieces are added only when the fact is known. */
static void add(struct strbuf *b, const char *before, const struct fact *f, const char *after)
{
	if (!fact_known(f))
		return;
	strbuf_add(b, before);
	strbuf_add(b, f->value);
	strbuf_add(b, after);
}

static void gpu_line(struct strbuf *b, const struct gpu *g)
{
	const char *name = fact_value(&g->name, NULL);

	if (!name)
		name = fact_value(&g->pci_id, _("a GPU of unknown model"));
	strbuf_add(b, name);
	strbuf_add(b, " (");
	if (fact_known(&g->compute_capability))
		strbuf_printf(b, _("compute capability %s"), g->compute_capability.value);
	else
		strbuf_add(b, _("compute capability not known"));
	add(b, ", ", &g->chip, "");
	add(b, ", ", &g->pci_id, "");
	strbuf_add(b, ")");
}

/* Asked for and not answered: neither found nor absent. */
static bool bus_unread(const struct snapshot *s)
{
	return !s->n_gpus &&
	       (s->parts.pci.state == FACT_DENIED || s->parts.pci.state == FACT_BROKEN);
}

static void hardware(struct strbuf *b, const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++) {
		strbuf_sep(b, "; ");
		gpu_line(b, &s->gpus[i]);
	}
	if (!s->n_gpus && fact_yes(&s->parts.pci))
		strbuf_add(b, _("no NVIDIA GPU"));
	else if (bus_unread(s))
		strbuf_printf(b, _("the PCI bus could not be read (%s)"),
			      s->parts.pci.why ? _(s->parts.pci.why)
					       : fact_state_name(s->parts.pci.state));
}

static void kernel(struct strbuf *b, const struct snapshot *s)
{
	const struct host *h = &s->host;
	const struct driver *d = &s->driver;

	add(b, "", fact_known(&h->os_name) ? &h->os_name : &h->os_id, "");
	add(b, b->n ? ", " : "", &h->system, "");
	add(b, b->n ? " " : "", &h->kernel, "");
	add(b, b->n ? " " : "", &h->arch, "");
	add(b, b->n ? ", glibc " : "glibc ", &h->glibc, "");
	if (fact_yes(&d->module_loaded)) {
		strbuf_add(b, _("; nvidia module loaded"));
		add(b, " (", &d->flavor, ")");
	} else if (fact_no(&d->module_loaded)) {
		strbuf_add(b, _("; no nvidia module loaded"));
	}
}

static void driver(struct strbuf *b, const struct snapshot *s)
{
	const struct driver *d = &s->driver;

	add(b, "", &d->version, "");
	if (fact_known(&d->cuda_ceiling))
		strbuf_printf(b, _("%sCUDA up to %s"), b->n ? ", " : "", d->cuda_ceiling.value);
	if (fact_known(&d->libcuda.path))
		strbuf_printf(b, "%slibcuda.so.1: %s", b->n ? "; " : "", d->libcuda.path.value);
	if (!b->n && fact_no(&d->installed))
		strbuf_add(b, _("no driver"));
}

static void container(struct strbuf *b, const struct snapshot *s)
{
	add(b, "", &s->container.kind, "");
}

static void toolkit(struct strbuf *b, const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_toolkits; i++) {
		strbuf_sep(b, "; ");
		strbuf_printf(b, "CUDA %s",
			      fact_value(&s->toolkits[i].version, _("of unknown version")));
		add(b, " ", &s->toolkits[i].path, "");
		if (fact_no(&s->toolkits[i].nvcc))
			strbuf_add(b, _(", no nvcc"));
	}
	if (!s->n_toolkits && fact_yes(&s->parts.toolkit))
		strbuf_add(b, _("none (wheels bring their own CUDA libraries)"));
}

static void python(struct strbuf *b, const struct snapshot *s)
{
	const struct python *p = snapshot_active_python(s);
	size_t others = s->n_pythons;

	if (p) {
		others--;
		strbuf_printf(b, "%s", fact_value(&p->version, _("of unknown version")));
		add(b, ", ", &p->prefix, "");
		add(b, " (", &p->kind, ")");
	}
	if (others)
		strbuf_printf(
			b,
			lang_plural("%s%zu other environment", "%s%zu other environments", others),
			b->n ? "; " : "", others);
	if (!s->n_pythons && fact_yes(&s->parts.python))
		strbuf_add(b, _("no Python"));
}

static void torch_line(struct strbuf *b, const struct torch *t)
{
	size_t i;

	strbuf_printf(b, "torch %s", t->version.value);
	if (fact_known(&t->cuda))
		strbuf_printf(b, ", CUDA %s", t->cuda.value);
	else if (t->cuda.state == FACT_ABSENT)
		strbuf_add(b, _(", no CUDA"));
	for (i = 0; t->arch_list.state == FACT_KNOWN && i < t->arch_list.n; i++)
		strbuf_printf(b, "%s%s", i ? " " : ", ", t->arch_list.values[i]);
	add(b, ", cuDNN ", &t->cudnn.version, "");
	add(b, ", torchvision ", &t->torchvision, "");
}

/* The frameworks that stand on their own, in the order in which they are named. */
static const char *const framework_names[] = { "torch", "jaxlib", "tensorflow", "onnxruntime-gpu" };

/* One build, unless it stands there already or cannot be had. */
static void planned_line(struct strbuf *b, const struct wanted *w)
{
	const char *build = fact_value(&w->variant, NULL);
	const char *one;

	if (!fact_known(&w->version) || fact_known(&w->fault))
		return;
	if (build && strchr(w->version.value, '+'))
		build = NULL;
	one = arena_printf(b->a, "%s %s%s%s [", w->name.value, w->version.value, build ? "+" : "",
			   build ? build : "");
	if (strstr(b->s, one))
		return;
	strbuf_sep(b, ", ");
	strbuf_printf(b, "%s%s]", one, w->version.source ? w->version.source : "");
}

/* What project files would install: each build once, with the line that asks for it. */
static void planned_framework(struct strbuf *b, const struct snapshot *s)
{
	size_t i, k, q;

	for (k = 0; k < ARRAY_LEN(framework_names); k++)
		for (i = 0; i < s->n_projects; i++)
			for (q = 0; q < s->projects[i].n_packages; q++) {
				const struct wanted *w = &s->projects[i].packages[q];

				if (fact_is(&w->name, framework_names[k]))
					planned_line(b, w);
			}
	if (b->n)
		strbuf_add(b, _(" would be installed"));
}

static void framework(struct strbuf *b, const struct snapshot *s)
{
	const struct python *p = snapshot_active_python(s);
	size_t i;

	if (p && fact_known(&p->torch.version))
		torch_line(b, &p->torch);
	for (i = 0; !b->n && i < s->n_pythons; i++) {
		if (!fact_known(&s->pythons[i].torch.version))
			continue;
		torch_line(b, &s->pythons[i].torch);
		add(b, _(" in "), &s->pythons[i].prefix, _(" (not active)"));
	}
	if (!b->n)
		planned_framework(b, s);
	/* Files are for other things too: one that names no framework misses none. */
	if (!b->n && fact_yes(&s->parts.python) && !s->n_projects)
		strbuf_add(b, _("no PyTorch"));
}

static const struct {
	enum layer layer;
	bool always; /* shown even when there is nothing to say */
	void (*put)(struct strbuf *b, const struct snapshot *s);
} lines[] = {
	{ .layer = LAYER_HARDWARE, .always = true, .put = hardware },
	{ .layer = LAYER_KERNEL, .always = true, .put = kernel },
	{ .layer = LAYER_DRIVER, .always = true, .put = driver },
	{ .layer = LAYER_CONTAINER, .always = true, .put = container },
	{ .layer = LAYER_CLUSTER },
	{ .layer = LAYER_TOOLKIT, .always = true, .put = toolkit },
	{ .layer = LAYER_LIBRARY },
	{ .layer = LAYER_PYTHON, .always = true, .put = python },
	{ .layer = LAYER_FRAMEWORK, .always = true, .put = framework },
	{ .layer = LAYER_BUILD },
	{ .layer = LAYER_WORKLOAD },
};

/*
 * The worst finding of the layer decides; a consequence is not blamed on its layer beyond a
 * warning.
 */
static enum mark mark_of(const struct report *rep, enum layer l, const char **ret_name)
{
	enum mark m = rep->r->layer_judged[l] ? MARK_OK : MARK_UNKNOWN;
	size_t i;

	for (i = 0; i < rep->r->n_findings; i++) {
		const struct finding *f = rep->r->findings[i];
		const struct finding_info *info = finding_info(f->id);

		if (info->layer != l || f->severity == SEVERITY_INFO)
			continue;
		if (f->severity == SEVERITY_ERROR && m != MARK_ERROR) {
			m = MARK_ERROR;
			*ret_name = info->name;
		} else if (f->severity == SEVERITY_WARNING && m != MARK_ERROR &&
			   m != MARK_WARNING) {
			m = MARK_WARNING;
			*ret_name = info->name;
		}
	}
	return m;
}

/* What is not there is neither in order nor broken: rules say elsewhere whether it is missed. */
static bool nothing_there(enum layer l, const struct snapshot *s)
{
	size_t i;

	switch (l) {
	case LAYER_DRIVER:
		return fact_no(&s->driver.installed) && !fact_known(&s->driver.version) &&
		       !fact_known(&s->driver.libcuda.path);
	case LAYER_PYTHON:
		return !s->n_pythons;
	case LAYER_FRAMEWORK:
		for (i = 0; i < s->n_pythons; i++) {
			if (fact_known(&s->pythons[i].torch.version))
				return false;
		}
		return !s->n_projects;
	default:
		return false;
	}
}

struct layer_line *layer_lines(struct arena *a, const struct report *rep, size_t *ret_n)
{
	struct layer_line *out = NULL;
	const char *name;
	struct strbuf b;
	size_t i, n = 0;
	enum mark m;

	for (i = 0; i < ARRAY_LEN(lines); i++) {
		name = NULL;
		strbuf_init(&b, a);
		m = mark_of(rep, lines[i].layer, &name);
		if (lines[i].put)
			lines[i].put(&b, rep->s);
		if (!b.n && !lines[i].always && !name)
			continue;
		if (!name && lines[i].layer == LAYER_HARDWARE && bus_unread(rep->s))
			m = MARK_UNKNOWN;
		if (!name && nothing_there(lines[i].layer, rep->s))
			m = MARK_UNKNOWN;
		/* Files have no layers of a machine: only what was assumed or found is shown. */
		if (!b.n && !name && fact_is(&rep->s->source, "project"))
			continue;
		if (!b.n && !name) {
			strbuf_add(&b, _("not asked"));
			m = MARK_UNKNOWN;
		}
		if (name)
			strbuf_printf(&b, "%s%s", b.n ? ": " : "", name);
		*ARENA_APPEND(a, out, n) = (struct layer_line){ .layer = lines[i].layer,
								.mark = m,
								.text = clean(a, b.s) };
	}
	*ret_n = n;
	return out;
}
