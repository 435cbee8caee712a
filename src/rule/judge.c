/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: runs every rule whose needs are met, and what rules call to say what they found.
 * Decides nothing. */
#include "rule/rule.h"

#include <string.h>

#include "base/arena.h"
#include "rule/settle.h"

/* -------- for rules */

struct finding *finding_add(struct judge *j, enum finding_id id, const char *subject)
{
	struct finding *f = arena_alloc(j->a, sizeof(*f));

	*f = (struct finding){
		.id = id,
		.severity = finding_info(id)->severity,
		.certainty = CERTAINTY_OBSERVED,
		.subject = subject ? subject : "",
		.message = _(finding_info(id)->title),
		.order = (int)j->n_findings,
	};
	*ARENA_APPEND(j->a, j->findings, j->n_findings) = f;
	return f;
}

void finding_message(struct judge *j, struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	f->message = arena_vprintf(j->a, fmt, ap);
	va_end(ap);
}

void finding_fact(struct judge *j, struct finding *f, const char *field, const struct fact *fact,
		  const char *wanted)
{
	const char *seen = fact->value;

	if (fact->state != FACT_KNOWN)
		seen = fact->why ? arena_printf(j->a, "%s (%s)", fact_state_name(fact->state),
						fact->why)
				 : fact_state_name(fact->state);
	finding_evidence(j, f, field, seen, wanted, fact->source);
	if (fact->source && strcmp(fact->source, "assumed") == 0)
		f->certainty = CERTAINTY_ASSUMED;
}

void finding_evidence(struct judge *j, struct finding *f, const char *field, const char *seen,
		      const char *wanted, const char *source)
{
	size_t i;

	/* Two rules may show the same line. */
	for (i = 0; i < f->n_evidence; i++)
		if (source && *source && strcmp(f->evidence[i].source, source) == 0 &&
		    strcmp(f->evidence[i].field, field) == 0 &&
		    strcmp(f->evidence[i].seen, seen ? seen : "") == 0)
			return;
	*ARENA_APPEND(j->a, f->evidence, f->n_evidence) = (struct evidence){
		.field = field,
		.seen = seen ? seen : "",
		.wanted = wanted,
		.source = source ? source : "",
	};
}

void finding_inferred(struct finding *f)
{
	if (f->certainty == CERTAINTY_OBSERVED)
		f->certainty = CERTAINTY_INFERRED;
}

struct remedy *finding_remedy(struct judge *j, struct finding *f, const char *fmt, ...)
{
	struct remedy *r = ARENA_APPEND(j->a, f->remedies, f->n_remedies);
	va_list ap;

	va_start(ap, fmt);
	r->text = arena_vprintf(j->a, fmt, ap);
	va_end(ap);
	r->risk = RISK_CHANGES;
	return r;
}

void remedy_command(struct judge *j, struct remedy *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*ARENA_APPEND(j->a, r->commands, r->n_commands) = arena_vprintf(j->a, fmt, ap);
	va_end(ap);
}

void remedy_correct(struct judge *j, struct remedy *r, const struct fact *line, const char *old,
		    const char *new)
{
	*ARENA_APPEND(j->a, r->corrections, r->n_corrections) = (struct correction){
		.kind = new ? CORRECT_WORD : CORRECT_LINE,
		.at = line->source,
		.old = old,
		.new = new,
	};
}

void judge_skip(struct judge *j, const char *needs, const char *fmt, ...)
{
	const char *rule = j->rule ? j->rule->name : "";
	const char *why;
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	why = arena_vprintf(j->a, fmt, ap);
	va_end(ap);
	for (i = 0; i < j->n_skipped; i++)
		if (strcmp(j->skipped[i].rule, rule) == 0 &&
		    strcmp(j->skipped[i].needs, needs) == 0)
			return;
	*ARENA_APPEND(j->a, j->skipped, j->n_skipped) =
		(struct skip){ .rule = rule, .needs = needs, .why = why };
}

void judge_ask(struct judge *j, const char *fmt, ...)
{
	const char *text;
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	text = arena_vprintf(j->a, fmt, ap);
	va_end(ap);
	for (i = 0; i < j->n_asks; i++)
		if (strcmp(j->asks[i], text) == 0)
			return;
	*ARENA_APPEND(j->a, j->asks, j->n_asks) = text;
}

bool judge_has(const struct judge *j, enum finding_id id)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->id == id)
			return true;
	return false;
}

const char *gpu_subject(struct judge *j, size_t index)
{
	const char *name = fact_value(&j->s->gpus[index].name, NULL);

	if (!name)
		name = fact_value(&j->s->gpus[index].pci_id, NULL);
	return name ? arena_printf(j->a, "GPU %zu (%s)", index, name)
		    : arena_printf(j->a, "GPU %zu", index);
}

/* -------- needs */

struct part_need {
	unsigned bit;
	const char *name;
	size_t offset;
};

#define PART(bit_, member) \
	{ .bit = NEED_##bit_, .name = #member, .offset = offsetof(struct parts, member) }
static const struct part_need part_needs[] = {
	PART(HOST, host),	    PART(PCI, pci),
	PART(KERNEL, kernel),	    PART(NODES, nodes),
	PART(USERLIB, userlib),	    PART(CUDA, cuda),
	PART(NVML, nvml),	    PART(CONTAINER, container),
	PART(ENVIRONMENT, environment), PART(SERVICES, services),
	PART(TOOLKIT, toolkit),	    PART(PYTHON, python),
	PART(LOG, log),
};

static const char *not_asked_why(struct judge *j)
{
	const char *source = fact_value(&j->s->source, NULL);

	if (!source)
		return _("not asked");
	if (strcmp(source, "image") == 0 || strcmp(source, "root") == 0)
		return arena_printf(j->a, _("not asked: the source (%s) cannot hold it"), source);
	if (strcmp(source, "assumed") == 0)
		return _("not asked: only what was assumed is judged");
	return arena_printf(j->a, _("not asked: the source is %s"), source);
}

static const char *part_why(struct judge *j, const struct fact *part)
{
	switch (part->state) {
	case FACT_DENIED:
		return part->why ? arena_printf(j->a, _("denied: %s"), _(part->why)) : _("denied");
	case FACT_BROKEN:
		return part->why ? arena_printf(j->a, _("unreadable: %s"), _(part->why))
				 : _("unreadable");
	case FACT_NOT_ASKED:
	case FACT_ABSENT:
	case FACT_KNOWN:
		break;
	}
	return part->why ? arena_printf(j->a, _("not asked: %s"), _(part->why)) : not_asked_why(j);
}

static bool gpu_known(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_gpus; i++)
		if (fact_known(&s->gpus[i].compute_capability))
			return true;
	return false;
}

static bool torch_known(const struct snapshot *s)
{
	size_t i;

	for (i = 0; i < s->n_pythons; i++)
		if (fact_known(&s->pythons[i].torch.version))
			return true;
	return false;
}

/* True when all that the rule needs is there; else says what is missing. */
static bool needs_met(struct judge *j, unsigned needs)
{
	bool met = true;
	size_t i;

	if ((needs & NEED_PROJECT) && !j->s->n_projects)
		return false;
	for (i = 0; i < ARRAY_LEN(part_needs); i++) {
		const char *base = (const char *)&j->s->parts;
		const struct fact *part =
			(const struct fact *)(const void *)(base + part_needs[i].offset);

		if (!(needs & part_needs[i].bit) || fact_yes(part))
			continue;
		judge_skip(j, part_needs[i].name, "%s", part_why(j, part));
		met = false;
	}
	if (!met)
		return false;
	if ((needs & NEED_GPU) && !gpu_known(j->s)) {
		judge_skip(j, "gpu.compute_capability",
			   _("no GPU with a known compute capability"));
		met = false;
	}
	if ((needs & NEED_DRIVER) && !fact_known(&j->s->driver.version)) {
		judge_skip(j, "driver.version", _("the driver's version is not known"));
		met = false;
	}
	if ((needs & NEED_TORCH) && !torch_known(j->s)) {
		judge_skip(j, "torch.version", _("no PyTorch was found or named"));
		met = false;
	}
	return met;
}

/* -------- for commands */

void judge_run(struct arena *a, const struct snapshot *s, struct compat *c,
	       const struct judge_options *opts, struct results *ret)
{
	static const struct judge_options none = { .n_ignore = 0 };
	struct judge j = { .a = a, .s = s, .c = c };
	bool judged[LAYER_COUNT] = { false };
	size_t i, before;
	int ran = 0;

	for (i = 0; rules[i]; i++) {
		j.rule = rules[i];
		before = j.n_skipped;
		if ((opts && opts->files_alone && !(rules[i]->needs & NEED_PROJECT)) ||
		    !needs_met(&j, rules[i]->needs))
			continue;
		rules[i]->run(&j);
		if (j.n_skipped != before)
			continue;
		judged[rules[i]->layer] = true;
		/* That a GPU is there, or was named, does not hold it against anything yet. */
		if (rules[i]->layer != LAYER_WORKLOAD && rules[i]->layer != LAYER_HARDWARE)
			ran++;
	}
	j.rule = NULL;
	if (opts && opts->more) {
		opts->more(&j, opts->with);
		ran++;
	}
	settle(&j, opts ? opts : &none, ran, ret);
	memcpy(ret->layer_judged, judged, sizeof(judged));
}
