/* SPDX-License-Identifier: Apache-2.0 */
/* Names of what holds: the signs of a text, their tags, and what follows from the facts. */
#include "rule/triage_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/look.h"
#include "rule/mend.h"

static void atom(struct triage *t, const char *name, const struct sign *sign)
{
	*ARENA_APPEND(t->j->a, t->atoms, t->n_atoms) =
		(struct triage_atom){ .name = name, .sign = sign };
}

static void points_of(struct triage *t, const struct json *row)
{
	const struct json *v;
	enum finding_id id;
	int64_t w;

	for (v = json_first(json_get(row, "for")); v; v = json_next(v)) {
		if (!json_int(v, &w) || w <= 0 || w > 100 || !finding_lookup(json_key(v), &id))
			continue;
		if (w >= TRIAGE_ROOT && !triage_row_decides(t, row))
			w = TRIAGE_ROOT - 1;
		if (w > t->points[id])
			t->points[id] = (int)w;
	}
	for (v = json_first(json_get(row, "against")); v; v = json_next(v))
		if (json_str(v) && finding_lookup(json_str(v), &id))
			t->against[id] = true;
}

/* A row counts once. Its name alone does not tell: another row's tag may be that name. */
static bool is_hit(const struct triage *t, const struct json *row)
{
	size_t i;

	for (i = 0; i < t->n_hits; i++)
		if (t->hits[i].row == row)
			return true;
	return false;
}

static void sign_atoms(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct json *row, *v;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		const char *id = s->signs[i].id.value;

		atom(t, id, &s->signs[i]);
		row = triage_row(t, id);
		if (!row || is_hit(t, row))
			continue;
		*ARENA_APPEND(t->j->a, t->hits, t->n_hits) =
			(struct triage_hit){ .sign = &s->signs[i], .row = row };
		for (v = json_first(json_get(row, "tags")); v; v = json_next(v))
			if (json_str(v))
				atom(t, json_str(v), &s->signs[i]);
	}
}

static void when(struct triage *t, bool holds, const char *name)
{
	if (holds && !triage_has(t, name))
		atom(t, name, NULL);
}

/* A variable of the environment begins with the text. */
static bool env_starts(const struct snapshot *s, const char *name, const char *text)
{
	const char *v = snapshot_env(s, name);

	return v && strncmp(v, text, strlen(text)) == 0;
}

/* Two MIG instances and more are listed. */
static bool several_instances(const struct snapshot *s)
{
	size_t i, n = 0, lines = 0;

	for (i = 0; i < s->n_gpus; i++)
		n += s->gpus[i].mig_devices.n;
	/* Where their UUIDs were taken out of the report. */
	for (i = 0; i < s->n_signs; i++)
		lines += fact_is(&s->signs[i].id, "mig-device");
	return n > 1 || lines > 1;
}

/* One GPU by an index above 0. */
static bool one_index(const struct snapshot *s)
{
	const char *v = snapshot_env(s, "CUDA_VISIBLE_DEVICES");

	return v && *v >= '1' && *v <= '9' && strspn(v, "0123456789") == strlen(v);
}

/* CUDA_VISIBLE_DEVICES begins with an index above 0. */
static bool index_above(const struct snapshot *s)
{
	const char *v = snapshot_env(s, "CUDA_VISIBLE_DEVICES");

	return v && *v >= '1' && *v <= '9';
}

/* More processes, a GPU each, than CUDA_VISIBLE_DEVICES lists. */
static bool more_processes(struct triage *t)
{
	const char *v = snapshot_env(t->j->s, "CUDA_VISIBLE_DEVICES");
	const char *asked = triage_value(t, "processes-asked");
	long listed = 1;

	if (!v || !asked || *v < '0' || *v > '9')
		return false;
	for (; *v; v++)
		listed += *v == ',' && v[1] >= '0' && v[1] <= '9';
	return strtol(asked, NULL, 10) > listed;
}

/* Each container that was started with GPUs ran one test and ended, and another without. */
static bool gpus_only_tested(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	size_t i, asked = 0, tested = 0;

	for (i = 0; i < s->n_signs; i++) {
		asked += fact_is(&s->signs[i].id, "container-gpu-asked");
		tested += fact_is(&s->signs[i].id, "container-gpu-test");
	}
	return tested > 0 && asked == tested && triage_has(t, "container-gpu-not-asked");
}

/* nvcc of another major than the CUDA of PyTorch, which then refuses to compile with it. */
static bool toolkit_other_major(struct triage *t, const struct torch *torch)
{
	const struct snapshot *s = t->j->s;
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const char *kit = s->n_toolkits ? fact_value(&s->toolkits[0].version, NULL) : NULL;

	return cuda && kit && look_branch(cuda) != look_branch(kit);
}

/* Every index that is named is of this kind: "cpu", "rocm". */
static bool only_index(const struct snapshot *s, const char *kind)
{
	bool any = false;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "index-tag"))
			continue;
		any = true;
		if (!view_starts(view_of(fact_value(&s->signs[i].value, "")), kind))
			return false;
	}
	return any;
}

/* What pip took up says of no build: it is PyPI's, whatever other index was named besides. */
static bool plain_wheel(const struct triage *t)
{
	const char *v = triage_value(t, "torch-taken-up");

	return v && !strpbrk(v, "+%");
}

/* The major release of a package of the judged environment; 0 when it is not known. */
static unsigned major_of(const struct snapshot *s, const char *name)
{
	const struct package *p = s->n_pythons ? python_package(&s->pythons[0], name) : NULL;

	return p && fact_known(&p->version) ? look_branch(p->version.value) : 0;
}

/* LD_LIBRARY_PATH names the toolkit of another release than the one that PyTorch brings. */
static bool path_of_other_cuda(struct triage *t, const struct torch *torch)
{
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;
	const char *path = snapshot_env(t->j->s, "LD_LIBRARY_PATH");
	const char *at = path ? strstr(path, "/cuda-") : NULL;

	return cuda && at && at[6] >= '0' && at[6] <= '9' &&
	       strncmp(at + 6, cuda, strlen(cuda)) != 0;
}

/* The system that the text is of. */
static void place_atoms(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	bool wsl = look_is_wsl(s) || triage_has(t, "is-wsl");

	when(t, wsl, "wsl");
	when(t, !wsl && (fact_is(&s->host.system, "windows") || triage_has(t, "is-windows")),
	     "windows");
	when(t, fact_is(&s->host.system, "macos"), "macos");
	when(t, !triage_has(t, "windows") && !triage_has(t, "macos"), "linux");
	when(t, fact_is(&s->host.arch, "aarch64") || triage_has(t, "is-aarch64"), "aarch64");
	when(t, fact_is(&s->host.libc, "musl") || triage_has(t, "is-alpine"), "musl");
	when(t,
	     triage_has(t, "container-run") || triage_has(t, "container-prompt") ||
		     triage_has(t, "is-container"),
	     "container");
}

/* Variables of its environment. */
static void variable_atoms(struct triage *t, const struct torch *torch)
{
	const struct snapshot *s = t->j->s;

	when(t, env_starts(s, "CUDA_VISIBLE_DEVICES", "MIG-"), "mig-chosen");
	when(t, env_starts(s, "CUDA_VISIBLE_DEVICES", "GPU-"), "gpu-uuid-chosen");
	when(t,
	     env_starts(s, "NVIDIA_VISIBLE_DEVICES", "GPU-") ||
		     env_starts(s, "NVIDIA_VISIBLE_DEVICES", "MIG-"),
	     "given-by-uuid");
	when(t, one_index(s), "one-index");
	when(t, index_above(s), "index-above");
	when(t, more_processes(t), "more-processes");
	when(t, several_instances(s), "mig-several");
	when(t,
	     snapshot_env(s, "LD_LIBRARY_PATH") &&
		     (strstr(snapshot_env(s, "LD_LIBRARY_PATH"), "/cuda") ||
		      strstr(snapshot_env(s, "LD_LIBRARY_PATH"), "/cudnn")),
	     "ld-path-cuda");
	when(t, snapshot_env(s, "LD_LIBRARY_PATH") && *snapshot_env(s, "LD_LIBRARY_PATH"),
	     "ld-path-set");
	when(t, path_of_other_cuda(t, torch), "ld-path-other-cuda");
}

/* What PyTorch was built for. */
static void build_atoms(struct triage *t, const struct torch *torch)
{
	const char *variant = torch ? look_torch_variant(t->j, torch) : NULL;
	bool cpu = (variant && strncmp(variant, "cpu", 3) == 0) || triage_has(t, "conda-torch-cpu");
	bool rocm = (variant && strncmp(variant, "rocm", 4) == 0) || triage_has(t, "torch-rocm") ||
		    (!variant && only_index(t->j->s, "rocm") && !plain_wheel(t));

	if (torch && torch->cuda.state == FACT_ABSENT && !rocm)
		cpu = true;
	when(t, torch && strncmp(fact_value(&torch->variant, ""), "cu", 2) == 0, "torch-tag-cuda");
	when(t, cpu, "torch-cpu");
	when(t, rocm, "torch-rocm");
	when(t, !cpu && !rocm && torch && look_torch_cuda(t->j, torch), "torch-cuda");
}

/* nvidia-smi is told to work, and not told to fail further down, under a new kernel. */
static bool smi_said_to_work(const struct triage *t)
{
	const struct sign *ok = triage_sign(t, "smi-said-ok"), *fails;

	if (!ok)
		return false;
	fails = triage_sign(t, "smi-failed-said");
	return !fails || triage_has(t, "container") || !triage_has(t, "kernel-update-said") ||
	       triage_line_of(fails->text.source) < triage_line_of(ok->text.source);
}

/* For rows that call a text healthy: whatever would show that something does not work. */
static const char nothing_fails[] =
	"!error-seen !failure-line !crash-said !cuda-available-false !cuda-fails !smi-fails "
	"!no-device !oom !torch-cpu !cpu-said !said-false !lib-missing !tf-no-gpu !no-kernel-image "
	"!reasons-wanted !tensor-shown !jax-cpu-devices !program-on-cpu !ecc-counted "
	"!gpu-missing-said";

static void fact_atoms(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;

	place_atoms(t);
	when(t, torch && fact_known(&torch->version), "torch");
	variable_atoms(t, torch);
	when(t, triage_stack_fails(t), "stack-fails");
	when(t, gpus_only_tested(t), "container-gpu-only-tested");
	when(t, fact_is(&s->runtime.default_runtime, "runc"), "default-runc");
	build_atoms(t, torch);
	when(t, s->n_gpus > 0, "gpu");
	when(t, look_virtual_gpu(s), "vgpu");
	when(t, mend_family(t) != NULL, mend_family(t));
	when(t, triage_has(t, "on-ubuntu") || triage_has(t, "on-debian"), "on-apt");
	when(t, triage_all_of(s, 80), "gpus-ampere");
	when(t, triage_all_of(s, 89), "gpus-ada");
	when(t, triage_all_of(s, 90), "gpus-hopper");
	when(t, triage_all_of(s, 100), "gpus-blackwell");
	when(t, triage_all_below(s, 89), "gpus-before-ada");
	when(t, triage_all_below(s, 80), "gpus-before-ampere");
	when(t, triage_all_below(s, 75), "gpus-before-turing");
	when(t, triage_all_below(s, 50), "gpus-before-maxwell");
	when(t, triage_all_below(s, 60), "gpus-before-pascal");
	when(t, triage_all_below(s, 70), "gpus-before-volta");
	when(t, triage_no_fabric(t), "gpus-no-fabric");
	when(t, triage_jax_without_cuda(s), "jax-alone");
	when(t, only_index(s, "cpu"), "cpu-index");
	when(t, only_index(s, "rocm"), "rocm-index");
	when(t, major_of(s, "numpy") >= 2, "numpy-2");
	when(t, major_of(s, "numpy") == 1, "numpy-1");
	when(t, fact_no(&s->host.secure_boot), "secure-boot-off");
	when(t, fact_known(&s->driver.version), "driver");
	when(t, fact_is(&s->driver.flavor, "open"), "module-open");
	when(t, s->n_toolkits > 0, "toolkit");
	when(t, toolkit_other_major(t, torch), "toolkit-other-major");
	when(t,
	     triage_has(t, "smi-gpu") ||
		     (triage_has(t, "smi-header") && !triage_has(t, "smi-fails")) ||
		     smi_said_to_work(t),
	     "smi-works");
	when(t, triage_holds(t, nothing_fails, NULL), "nothing-fails");
}

const struct json *triage_row(const struct triage *t, const char *id)
{
	return compat_sorted(t->j->c, "signatures", "id", id);
}

bool triage_row_decides(struct triage *t, const struct json *row)
{
	const char *terms = json_get_str(row, "with");

	return !terms || triage_holds(t, terms, NULL);
}

void triage_atoms(struct triage *t)
{
	size_t i;

	sign_atoms(t);
	fact_atoms(t);
	/* When all atoms are known: a row may want others beside it. */
	for (i = 0; i < t->n_hits; i++)
		points_of(t, t->hits[i].row);
}

bool triage_has(const struct triage *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n_atoms; i++)
		if (strcmp(t->atoms[i].name, name) == 0)
			return true;
	return false;
}

const struct sign *triage_sign(const struct triage *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n_atoms; i++)
		if (t->atoms[i].sign && strcmp(t->atoms[i].name, name) == 0)
			return t->atoms[i].sign;
	return NULL;
}

const char *triage_value(const struct triage *t, const char *name)
{
	const struct sign *g = triage_sign(t, name);

	return g ? fact_value(&g->value, NULL) : NULL;
}
