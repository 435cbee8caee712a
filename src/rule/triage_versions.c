/* SPDX-License-Identifier: Apache-2.0 */
/* What a text's versions of nvcc, its compiler and the driver say when held against the tables. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "rule/look.h"
#include "rule/triage.h"

/* -------- nvcc and the GPU */

/* The only toolkit that is named lies in "/usr/local/cuda-10.1": none of those that drop cards. */
static bool folder_of_old_cuda(const struct triage *t)
{
	const char *v = triage_value(t, "word-toolkit-folder");
	const char *at = v ? strstr(v, "cuda-") : NULL;
	long major = at ? strtol(at + 5, NULL, 10) : 0;

	return major > 0 && major < 13;
}

/* Every CUDA that is named, one at least, is before 13, the first that drops Volta and older. */
static bool cuda_before_13(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	bool any = false;
	size_t i;

	for (i = 0; i < s->n_signs; i++) {
		if (!fact_is(&s->signs[i].id, "cuda-number"))
			continue;
		if (look_branch(fact_value(&s->signs[i].value, "0")) >= 13)
			return false;
		any = true;
	}
	return any;
}

/* Without a version of nvcc: does what lies around it say that it is not of CUDA 13?  That needs a
 * driver of 580 and a glibc of 2.28, and no distribution has it as its own /usr/bin/nvcc. */
static bool before_cuda_13(const struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *driver = fact_value(&s->driver.version, NULL);
	const char *glibc = fact_value(&s->host.glibc, NULL);
	const struct torch *torch = s->n_pythons ? &s->pythons[0].torch : NULL;
	const char *cuda = torch ? look_torch_cuda(t->j, torch) : NULL;

	if (folder_of_old_cuda(t) || cuda_before_13(t) || triage_has(t, "nvcc-usr-bin"))
		return true;
	if (driver && look_branch(driver) < 580 && !triage_has(t, "windows"))
		return true;
	if (cuda && look_branch(cuda) < 13)
		return true;
	return glibc && version_cmp_str(glibc, "2.28") < 0;
}

static void nvcc_arch(struct triage *t)
{
	const char *v = triage_value(t, "nvcc-arch");
	const struct snapshot *s = t->j->s;
	const struct cuda_row *row = NULL;
	struct finding *f;
	long cc = v ? strtol(v, NULL, 10) : 0;
	bool old;

	if (cc <= 0)
		return;
	if (s->n_toolkits && fact_known(&s->toolkits[0].version))
		row = compat_cuda(t->j->c, s->toolkits[0].version.value);
	old = cc < 75 && !(row && row->nvcc_min_cc > 0 && cc >= row->nvcc_min_cc);
	if (row && row->nvcc_max_cc > 0 && cc > row->nvcc_max_cc)
		old = false;
	/* What came before CUDA 8, of which no bounds are known, had dropped 1.x at most. */
	if (s->n_toolkits && fact_known(&s->toolkits[0].version) && cc >= 20 &&
	    look_branch(s->toolkits[0].version.value) < 8)
		old = false;
	if (!row && cc >= 60 && before_cuda_13(t))
		old = false;
	f = triage_add(t, old ? FINDING_TOOLKIT_TOO_NEW_FOR_GPU : FINDING_TOOLKIT_TOO_OLD_FOR_GPU,
		       88, "nvcc-arch");
	finding_message(t->j, f,
			old ? _("This nvcc no longer knows compute capability %ld.%ld.")
			    : _("This nvcc does not know compute capability %ld.%ld yet."),
			cc / 10, cc % 10);
	if (s->n_toolkits)
		finding_fact(t->j, f, "toolkit.version", &s->toolkits[0].version, NULL);
}

/* A compiler beyond what this nvcc takes, and something that does not compile. */
static void host_compiler(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	const char *kit = s->n_toolkits ? fact_value(&s->toolkits[0].version, NULL) : NULL;
	const char *gcc = fact_value(&s->host.gcc, NULL), *max;
	bool said = triage_has(t, "compiler-unsupported-said");
	const struct cuda_row *row;
	struct finding *f;

	/* "Building it with CUDA 10.2": of what is compiled, that is the toolkit. */
	if (!kit && said)
		kit = triage_value(t, "cuda-built-with-said");
	row = kit ? compat_cuda(t->j->c, kit) : NULL;
	if (!row || !gcc || (!said && !triage_has(t, "error-seen")))
		return;
	max = compat_value(t->j->c, "host_compiler",
			   compat_find(t->j->c, "host_compiler", 0, "cuda", row->cuda), "gcc_max");
	if (!max || look_branch(gcc) <= look_branch(max) || (!said && !triage_has(t, "compiling")))
		return;
	f = triage_add(t, FINDING_HOST_COMPILER_TOO_NEW, 70,
		       "gcc-std-errors|compiling|compiler-unsupported-said");
	finding_fact(t->j, f, "gcc", &s->host.gcc, max);
}

/* -------- the driver */

const char *triage_found_cuda(const struct triage *t)
{
	const char *v = triage_value(t, "driver-too-old-torch");
	long n = v ? strtol(v, NULL, 10) : 0;

	return n >= 8000 && n < 20000 ? version_of_cuda_number(t->j->a, n) : NULL;
}

static void found_version(struct triage *t)
{
	const char *cuda = triage_found_cuda(t);
	const struct finding *f;
	size_t i;

	if (!cuda)
		return;
	for (i = 0; i < t->j->n_findings; i++) {
		f = t->j->findings[i];
		if (f->id == FINDING_DRIVER_TOO_OLD && f->n_remedies == 0)
			finding_message(t->j, t->j->findings[i],
					_("The driver offers CUDA %s, and this build needs a "
					  "newer one."),
					cuda);
	}
}

/* The PTX is of a newer CUDA than the driver's. */
static void ptx(struct triage *t)
{
	const struct snapshot *s = t->j->s;
	struct finding *f = NULL;
	size_t i;

	for (i = 0; i < t->j->n_findings; i++)
		if (t->j->findings[i]->id == FINDING_PTX_NEWER_THAN_DRIVER)
			f = t->j->findings[i];
	if (!f)
		return;
	if (fact_known(&s->driver.version))
		finding_fact(t->j, f, "driver.version", &s->driver.version, NULL);
	if (s->n_toolkits && fact_known(&s->toolkits[0].version))
		finding_fact(t->j, f, "toolkit.version", &s->toolkits[0].version, NULL);
}

void triage_versions(struct triage *t)
{
	triage_archs(t);
	nvcc_arch(t);
	host_compiler(t);
	found_version(t);
	ptx(t);
}
