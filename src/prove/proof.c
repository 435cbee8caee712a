/* SPDX-License-Identifier: Apache-2.0 */
/* Verdict, exit code and the JSON form of a proof. */
#include "prove/proof.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/jsonw.h"

const char *proof_result_name(enum proof_result r)
{
	static const char *const names[] = {
		[PROOF_PASS] = "pass",	     [PROOF_FAIL] = "fail",
		[PROOF_SKIP] = "skip",	     [PROOF_HUNG] = "hung",
		[PROOF_CRASHED] = "crashed", [PROOF_INCONCLUSIVE] = "inconclusive",
	};

	return names[r];
}

void proof_sort(struct proof *p)
{
	struct proof_test t;
	size_t i, k;

	for (i = 1; i < p->n; i++) {
		t = p->tests[i];
		for (k = i; k && (unsigned)p->tests[k - 1].gpu > (unsigned)t.gpu; k--)
			p->tests[k] = p->tests[k - 1];
		p->tests[k] = t;
	}
}

void outcome_figure(struct proof_outcome *o, const char *name, double value)
{
	struct proof_figure *f;

	if (o->n_figures >= PROOF_FIGURES)
		return;
	f = &o->figures[o->n_figures++];
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->value = value;
}

void outcome_seal(struct proof_outcome *o)
{
	uint32_t i;

	o->why[sizeof(o->why) - 1] = o->call[sizeof(o->call) - 1] = o->path[sizeof(o->path) - 1] =
		'\0';
	if (o->n_figures > PROOF_FIGURES)
		o->n_figures = 0;
	if (o->result > PROOF_INCONCLUSIVE)
		o->result = PROOF_FAIL;
	for (i = 0; i < o->n_figures; i++)
		o->figures[i].name[PROOF_NAME - 1] = '\0';
}

static size_t count(const struct proof *p, enum proof_result r)
{
	size_t i, n = 0;

	for (i = 0; i < p->n; i++)
		n += p->tests[i].o.result == r;
	return n;
}

/* Did any GPU run a kernel? What comes before proves nothing. */
static bool has_run(const struct proof *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->tests[i].o.result == PROOF_PASS && strcmp(p->tests[i].name, "ptx-jit") == 0)
			return true;
	return false;
}

const char *proof_verdict(const struct proof *p)
{
	if (p->nothing)
		return "undetermined";
	if (count(p, PROOF_FAIL) || count(p, PROOF_HUNG) || count(p, PROOF_CRASHED))
		return "blocked";
	if (p->interrupted || !has_run(p))
		return "undetermined";
	return count(p, PROOF_INCONCLUSIVE) ? "degraded" : "stack-ok";
}

int proof_exit(const struct proof *p)
{
	const char *v = proof_verdict(p);

	return strcmp(v, "blocked") == 0 ? 1 : strcmp(v, "undetermined") == 0 ? 3 : 0;
}

static void test_json(struct jsonw *w, const struct proof_test *t)
{
	const struct proof_outcome *o = &t->o;
	uint32_t i;

	jsonw_object(w);
	jsonw_kstr(w, "name", t->name);
	jsonw_key(w, "gpu");
	if (t->gpu < 0)
		jsonw_null(w);
	else
		jsonw_int(w, t->gpu);
	jsonw_kstr(w, "result", proof_result_name(o->result));
	jsonw_key(w, "code");
	if (o->code)
		jsonw_int(w, o->code);
	else
		jsonw_null(w);
	jsonw_key(w, "ms");
	jsonw_num(w, (double)(int64_t)(o->ms * 1e3 + 0.5) / 1e3);
	jsonw_key(w, "figures");
	jsonw_object(w);
	for (i = 0; i < o->n_figures && i < PROOF_FIGURES; i++) {
		jsonw_key(w, o->figures[i].name);
		jsonw_num(w, o->figures[i].value);
	}
	jsonw_end_object(w);
	jsonw_kstr(w, "why", o->why[0] ? o->why : NULL);
	if (o->call[0])
		jsonw_kstr(w, "call", o->call);
	if (o->path[0])
		jsonw_kstr(w, "path", o->path);
	jsonw_end_object(w);
}

static void gpus_json(struct jsonw *w, const struct proof *p)
{
	char cc[16];
	size_t i;

	jsonw_key(w, "gpus");
	jsonw_array(w);
	for (i = 0; i < p->n_gpus; i++) {
		const struct proof_gpu *g = &p->gpus[i];

		if (!g->known)
			continue;
		snprintf(cc, sizeof(cc), "%d.%d", g->cc / 10, g->cc % 10);
		jsonw_object(w);
		jsonw_kint(w, "gpu", (int64_t)i);
		jsonw_kstr(w, "name", g->name);
		jsonw_kstr(w, "compute_capability", cc);
		jsonw_kstr(w, "uuid", g->uuid[0] ? g->uuid : NULL);
		jsonw_kstr(w, "address", g->address[0] ? g->address : NULL);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}

void proof_json(const struct proof *p, struct strbuf *out)
{
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.proof/1");
	jsonw_kstr(&w, "cuvet", CUVET_VERSION);
	jsonw_kstr(&w, "command", "prove");
	jsonw_kstr(&w, "verdict", proof_verdict(p));
	jsonw_kstr(&w, "root_cause", p->cause);
	jsonw_kstr(&w, "driver_library", p->driver);
	jsonw_key(&w, "cuda");
	if (p->cuda > 0)
		jsonw_int(&w, p->cuda);
	else
		jsonw_null(&w);
	jsonw_kint(&w, "ms", p->ms);
	gpus_json(&w, p);
	jsonw_key(&w, "tests");
	jsonw_array(&w);
	for (i = 0; i < p->n; i++)
		test_json(&w, &p->tests[i]);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}
