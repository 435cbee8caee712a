/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about libraries around the framework: the C library, and NVIDIA wheels that overwrite each
 * other. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- glibc */

static void musl(struct judge *j, const struct python *p)
{
	struct finding *f = finding_add(j, FINDING_MUSL_NO_WHEEL, look_prefix(p));
	struct remedy *r;

	finding_message(j, f, "%s",
			_("The C library here is musl, and PyTorch is published for glibc alone."));
	finding_fact(j, f, "host.libc", &j->s->host.libc, "glibc");
	r = finding_remedy(j, f, "%s", _("Take a base image with glibc (Debian, Ubuntu)."));
	remedy_command(j, r, "FROM python:3.12-slim");
}

static void glibc_in(struct judge *j, const struct python *p)
{
	const struct host *h = &j->s->host;
	const struct torch *t = &p->torch;
	const struct torch_row *row = look_torch_row(j, t);
	struct fact needed = t->min_glibc;
	struct finding *f;

	if (fact_is(&h->libc, "musl")) {
		musl(j, p);
		return;
	}
	if (look_unpublished(j, p))
		return;
	if (!fact_known(&needed) && row && row->min_glibc &&
	    (!fact_known(&t->origin) || fact_is(&t->origin, "pip")))
		fact_set(&needed, row->min_glibc, row->source);
	if (!fact_known(&needed) || !fact_known(&h->glibc)) {
		judge_skip(j, fact_known(&needed) ? "host.glibc" : "torch.min_glibc", "%s",
			   _("the glibc here, or the one that this torch needs, is not known"));
		return;
	}
	if (version_cmp_str(h->glibc.value, needed.value) >= 0)
		return;
	f = finding_add(j, FINDING_GLIBC_TOO_OLD, look_prefix(p));
	finding_message(j, f, _("This torch needs glibc %s or newer, and this system has %s."),
			needed.value, h->glibc.value);
	finding_fact(j, f, "host.glibc", &h->glibc, arena_printf(j->a, ">= %s", needed.value));
	finding_fact(j, f, "torch.min_glibc", &needed, NULL);
	finding_fact(j, f, "torch.version", &t->version, NULL);
	remedy_torch(j, f, p);
}

/* A wheel of an add-on that was built on a newer system than torch itself asks for. */
static void glibc_of_extension(struct judge *j, const struct python *p)
{
	const struct host *h = &j->s->host;
	const struct extension *x;
	struct finding *f;
	struct remedy *r;
	size_t i;

	for (i = 0; fact_known(&h->glibc) && i < p->n_extensions; i++) {
		x = &p->extensions[i];
		if (!fact_known(&x->min_glibc) || !fact_known(&x->package) ||
		    version_cmp_str(h->glibc.value, x->min_glibc.value) >= 0)
			continue;
		f = finding_add(j, FINDING_GLIBC_TOO_OLD, look_prefix(p));
		f->severity = SEVERITY_WARNING;
		finding_message(j, f, _("%s needs glibc %s or newer, and this system has %s."),
				x->package.value, x->min_glibc.value, h->glibc.value);
		finding_fact(j, f, "host.glibc", &h->glibc,
			     arena_printf(j->a, ">= %s", x->min_glibc.value));
		finding_fact(j, f, "extension.min_glibc", &x->min_glibc, NULL);
		r = finding_remedy(j, f, _("Compile %s here, or take a newer system."),
				   x->package.value);
		remedy_command(j, r,
			       "%s install --no-build-isolation --no-binary %s --force-reinstall "
			       "--no-deps %s",
			       remedy_pip(j, p), shell_word(j->a, x->package.value),
			       shell_word(j->a, x->package.value));
		return;
	}
}

static void run_glibc_too_old(struct judge *j)
{
	size_t i, n;

	if (fact_is(&j->s->host.system, "windows") || fact_is(&j->s->host.system, "macos"))
		return;
	for (i = 0; i < j->s->n_pythons; i++) {
		n = j->n_findings;
		if (fact_known(&j->s->pythons[i].torch.version))
			glibc_in(j, &j->s->pythons[i]);
		if (n == j->n_findings)
			glibc_of_extension(j, &j->s->pythons[i]);
	}
}

/* -------- wheels that own the same files */

static const struct json *wheel_row(const struct json *table, const char *name)
{
	const struct json *row;
	const char *n;

	for (row = json_first(json_get(table, "rows")); row; row = json_next(row)) {
		n = json_get_str(row, "name");
		if (n && strcmp(n, name) == 0)
			return row;
	}
	return NULL;
}

static bool same_field(const struct json *a, const struct json *b, const char *key)
{
	const char *x = json_get_str(a, key), *y = json_get_str(b, key);

	return x && y && strcmp(x, y) == 0;
}

/* Do the two wheels install a file of one name?  Most libraries carry their major in it and lie
 * side by side; cuDNN's is its own major, whatever the CUDA. */
static bool share_file(const struct json *row_a, const struct package *a, const struct json *row_b,
		       const struct package *b)
{
	const struct json *x, *y;

	if (same_field(row_a, row_b, "library") &&
	    strcmp(json_get_str(row_a, "library"), "cudnn") == 0)
		return look_branch(fact_value(&a->version, NULL)) ==
		       look_branch(fact_value(&b->version, NULL));
	for (x = json_first(json_get(row_a, "sonames")); x; x = json_next(x))
		for (y = json_first(json_get(row_b, "sonames")); y; y = json_next(y))
			if (json_str(x) && json_str(y) && strcmp(json_str(x), json_str(y)) == 0)
				return true;
	return false;
}

/* Which of two wheels is of the build's own CUDA major. */
enum wheel_wanted { NEITHER_WANTED, FIRST_WANTED, SECOND_WANTED };

static enum wheel_wanted wanted_of(const struct json *row_a, const struct json *row_b,
				   const char *cuda)
{
	const char *ma = json_get_str(row_a, "major"), *mb = json_get_str(row_b, "major");
	unsigned major = look_branch(cuda);

	if (!cuda || !ma || !mb)
		return NEITHER_WANTED;
	return look_branch(ma) == major	  ? FIRST_WANTED
	       : look_branch(mb) == major ? SECOND_WANTED
					  : NEITHER_WANTED;
}

/* They hold the same files in different versions: what is loaded is whichever came last. */
static void overwritten(struct judge *j, const struct python *p, const struct package *a,
			const struct package *b, const char *dir, enum wheel_wanted wanted)
{
	const struct package *keep = wanted == FIRST_WANTED ? a : b,
			     *other = wanted == FIRST_WANTED ? b : a;
	struct finding *f = finding_add(j, FINDING_MIXED_CUDA_WHEELS, look_prefix(p));
	struct remedy *r;

	f->severity = wanted != NEITHER_WANTED ? SEVERITY_ERROR : SEVERITY_WARNING;
	finding_message(
		j, f,
		_("%s %s and %s %s are both installed into %s: one overwrites the other's files."),
		a->name.value, fact_value(&a->version, ""), b->name.value,
		fact_value(&b->version, ""), dir);
	finding_fact(j, f, arena_printf(j->a, "package.%s", a->name.value), &a->version, NULL);
	finding_fact(j, f, arena_printf(j->a, "package.%s", b->name.value), &b->version, NULL);
	r = finding_remedy(
		j, f,
		_("Remove %s and install %s anew, since removing one takes the shared files away."),
		other->name.value, keep->name.value);
	remedy_command(j, r, "%s uninstall -y %s %s", remedy_pip(j, p), other->name.value,
		       keep->name.value);
	remedy_command(j, r, "%s install --no-deps %s", remedy_pip(j, p),
		       shell_word(j->a, arena_printf(j->a, "%s==%s", keep->name.value,
						     fact_value(&keep->version, ""))));
}

static void mixed_pair(struct judge *j, const struct python *p, const struct package *a,
		       const struct json *row_a, const struct package *b)
{
	const struct json *row_b = wheel_row(compat_table(j->c, "nvidia_wheel"), b->name.value);
	const char *cuda = look_torch_cuda(j, &p->torch);

	if (!row_b || !same_field(row_a, row_b, "library") || !same_field(row_a, row_b, "dir") ||
	    same_field(row_a, row_b, "major") || !share_file(row_a, a, row_b, b))
		return;
	overwritten(j, p, a, b, json_get_str(row_a, "dir"), wanted_of(row_a, row_b, cuda));
}

/* CuPy has a package for each CUDA, and all of them own the folder cupy. */
static bool is_cupy(const struct package *pkg)
{
	const char *name = fact_value(&pkg->name, "");

	return strcmp(name, "cupy") == 0 || strncmp(name, "cupy-cuda", 9) == 0;
}

/* Does the framework of this environment ask for one of these files in vain? */
static bool is_wanted(const struct python *p, const struct fact_list *gone)
{
	size_t i, k;

	for (i = 0; i < gone->n; i++) {
		const char *slash = strrchr(gone->values[i], '/');
		const char *name = slash ? slash + 1 : gone->values[i];

		if (p->torch.cudnn.path.state == FACT_ABSENT && fact_is(&p->torch.cudnn.name, name))
			return true;
		for (k = 0; k < p->n_loads; k++)
			if (p->loads[k].path.state == FACT_ABSENT &&
			    fact_is(&p->loads[k].name, name))
				return true;
	}
	return false;
}

/* What is left when a wheel of the same folder was removed: pip takes the shared files along. */
static void emptied(struct judge *j, const struct python *p, const struct package *pkg)
{
	struct finding *f = finding_add(j, FINDING_MIXED_CUDA_WHEELS, look_prefix(p));
	struct remedy *r;

	/* Unless it is asked for, it may have been left out on purpose, to make an image smaller.
	 */
	f->severity = is_wanted(p, &pkg->missing) ? SEVERITY_ERROR : SEVERITY_WARNING;
	finding_message(j, f,
			_("%s %s is installed, but %s is gone, as it goes when another wheel of "
			  "the same folder is removed."),
			pkg->name.value, fact_value(&pkg->version, ""), pkg->missing.values[0]);
	finding_evidence(j, f, arena_printf(j->a, "package.%s.missing", pkg->name.value),
			 pkg->missing.values[0], NULL, pkg->missing.source);
	r = finding_remedy(j, f, _("Install %s anew: for pip it is there already."),
			   pkg->name.value);
	remedy_command(j, r, "%s install --force-reinstall --no-deps %s", remedy_pip(j, p),
		       shell_word(j->a, arena_printf(j->a, "%s==%s", pkg->name.value,
						     fact_value(&pkg->version, ""))));
}

static void cupys_in(struct judge *j, const struct python *p)
{
	const struct package *a = NULL, *b;
	size_t i;

	for (i = 0; i < p->n_packages; i++) {
		b = &p->packages[i];
		if (!is_cupy(b))
			continue;
		if (!a) {
			a = b;
			continue;
		}
		/* The one of the later CUDA is last in the alphabet. */
		if (strcmp(a->name.value, b->name.value) < 0)
			overwritten(j, p, a, b, "cupy", NEITHER_WANTED);
		else
			overwritten(j, p, b, a, "cupy", NEITHER_WANTED);
		return;
	}
}

static void mixed_in(struct judge *j, const struct python *p)
{
	const struct json *table, *row;
	size_t i, k;

	cupys_in(j, p);
	for (i = 0; i < p->n_packages; i++) {
		const char *name = fact_value(&p->packages[i].name, "");

		if (strncmp(name, "nvidia-", 7) != 0)
			continue;
		table = compat_table(j->c, "nvidia_wheel");
		row = table ? wheel_row(table, name) : NULL;
		if (!row)
			continue;
		if (p->packages[i].missing.n)
			emptied(j, p, &p->packages[i]);
		for (k = i + 1; k < p->n_packages; k++)
			if (strncmp(fact_value(&p->packages[k].name, ""), "nvidia-", 7) == 0)
				mixed_pair(j, p, &p->packages[i], row, &p->packages[k]);
	}
}

static void run_mixed_cuda_wheels(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++)
		mixed_in(j, &j->s->pythons[i]);
}

const struct rule rule_glibc_too_old = {
	.name = "glibc-too-old",
	.needs = NEED_TORCH,
	.layer = LAYER_LIBRARY,
	.run = run_glibc_too_old,
};
const struct rule rule_mixed_cuda_wheels = {
	.name = "mixed-cuda-wheels",
	.needs = NEED_PYTHON,
	.layer = LAYER_LIBRARY,
	.run = run_mixed_cuda_wheels,
};
