/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue of findings as tables: look-ups and the closure of causes. Judges nothing. */
#include "rule/finding.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/suggest.h"

static const struct finding_info infos[FINDING_COUNT] = {
#define FINDING(id_, code_, name_, layer_, severity_, title_, means_, decided_, fix_, not_this_) \
	[FINDING_##id_] = {                                                                      \
		.code = (code_),                                                                 \
		.name = (name_),                                                                 \
		.layer = LAYER_##layer_,                                                         \
		.severity = SEVERITY_##severity_,                                                \
		.title = (title_),                                                               \
		.means = (means_),                                                               \
		.decided = (decided_),                                                           \
		.fix = (fix_),                                                                   \
		.not_this = (not_this_),                                                         \
	},
#include "rule/finding.def"
#undef FINDING
};

struct edge {
	enum finding_id cause, effect;
};

static const struct edge edges[] = {
#define EXPLAINS(cause_, effect_) { .cause = FINDING_##cause_, .effect = FINDING_##effect_ },
#include "rule/cause.def"
#undef EXPLAINS
};

static const char *const layer_names[LAYER_COUNT] = {
	[LAYER_HARDWARE] = "hardware",	 [LAYER_KERNEL] = "kernel",
	[LAYER_DRIVER] = "driver",	 [LAYER_CONTAINER] = "container",
	[LAYER_CLUSTER] = "cluster",	 [LAYER_TOOLKIT] = "toolkit",
	[LAYER_LIBRARY] = "library",	 [LAYER_PYTHON] = "python",
	[LAYER_FRAMEWORK] = "framework", [LAYER_BUILD] = "build",
	[LAYER_WORKLOAD] = "workload",
};
static const char *const severity_names[] = {
	[SEVERITY_INFO] = "info",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_ERROR] = "error",
};
static const char *const certainty_names[] = {
	[CERTAINTY_OBSERVED] = "observed",
	[CERTAINTY_INFERRED] = "inferred",
	[CERTAINTY_ASSUMED] = "assumed",
};
static const char *const risk_names[] = {
	[RISK_SAFE] = "safe",
	[RISK_CHANGES] = "changes",
	[RISK_DESTROYS] = "destroys",
};
static const char *const verdict_names[] = {
	[VERDICT_STACK_OK] = "stack-ok",
	[VERDICT_DEGRADED] = "degraded",
	[VERDICT_BLOCKED] = "blocked",
	[VERDICT_UNDETERMINED] = "undetermined",
};

const struct finding_info *finding_info(enum finding_id id)
{
	return &infos[(size_t)id < FINDING_COUNT ? id : FINDING_INSUFFICIENT_EVIDENCE];
}

bool finding_is_fine(enum finding_id id)
{
	return id == FINDING_OUT_OF_MEMORY || id == FINDING_HOST_MEMORY ||
	       id == FINDING_APPLICATION_BUG || id == FINDING_HARMLESS_WARNING ||
	       id == FINDING_NO_FAULT;
}

bool finding_lookup(const char *name_or_code, enum finding_id *ret)
{
	size_t i;

	for (i = 0; name_or_code && i < FINDING_COUNT; i++) {
		if (strcasecmp(infos[i].name, name_or_code) == 0 ||
		    strcasecmp(infos[i].code, name_or_code) == 0) {
			*ret = (enum finding_id)i;
			return true;
		}
	}
	return false;
}

const char *layer_name(enum layer l)
{
	return (size_t)l < LAYER_COUNT ? layer_names[l] : "workload";
}

const char *severity_name(enum severity s)
{
	return (size_t)s < ARRAY_LEN(severity_names) ? severity_names[s] : "info";
}

const char *certainty_name(enum certainty c)
{
	return (size_t)c < ARRAY_LEN(certainty_names) ? certainty_names[c] : "assumed";
}

const char *risk_name(enum risk r)
{
	return (size_t)r < ARRAY_LEN(risk_names) ? risk_names[r] : "destroys";
}

const char *verdict_name(enum verdict v)
{
	return (size_t)v < ARRAY_LEN(verdict_names) ? verdict_names[v] : "undetermined";
}

bool finding_explains(enum finding_id cause, enum finding_id effect)
{
	bool reached[FINDING_COUNT] = { false };
	enum finding_id queue[FINDING_COUNT];
	size_t head = 0, tail = 0, i;

	if ((size_t)cause >= FINDING_COUNT || (size_t)effect >= FINDING_COUNT || cause == effect)
		return false;
	reached[cause] = true;
	queue[tail++] = cause;
	while (head < tail) {
		enum finding_id from = queue[head++];

		for (i = 0; i < ARRAY_LEN(edges); i++) {
			if (edges[i].cause != from || reached[edges[i].effect])
				continue;
			if (edges[i].effect == effect)
				return true;
			reached[edges[i].effect] = true;
			queue[tail++] = edges[i].effect;
		}
	}
	return false;
}

const char *finding_near(const char *word)
{
	const char *all[FINDING_COUNT + 1] = { 0 };
	size_t i;

	for (i = 0; i < FINDING_COUNT; i++)
		all[i] = finding_info((enum finding_id)i)->name;
	return suggest(word, all);
}
