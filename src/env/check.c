/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cuvet env --check`: the search paths element by element, toolkits that are mixed, and what
 * LD_LIBRARY_PATH hides of the environments. Reads folders, starts nothing.
 */
#include "env/check.h"

#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "env/env.h"
#include "rule/look.h"
#include "rule/remedy.h"

enum { DIRS_MAX = 256, NAMES_MAX = 4096, SHOWN_MAX = 8, WHEELS_MAX = 64 };

static const enum finding_id covered[] = {
	FINDING_SEARCH_PATH_UNSOUND,	      FINDING_CUDA_HOME_WRONG,
	FINDING_TOOLKIT_SHADOWED,	      FINDING_TOOLKIT_SYMLINK_BROKEN,
	FINDING_NVCC_MISSING,		      FINDING_TOOLKIT_TORCH_MISMATCH,
	FINDING_LIB_SHADOWING,		      FINDING_LIB_PATH_NOT_SET,
	FINDING_LIBCUDA_STUB_LOADED,	      FINDING_LIBCUDA_WRONG_FILE,
	FINDING_CUDA_COMPAT_UNSUPPORTED_GPU,  FINDING_CUDA_COMPAT_OLDER_THAN_DRIVER,
	FINDING_WSL_LIBCUDA_SHADOWED,	      FINDING_WSL_LIBCUDA_NOT_ON_PATH,
	FINDING_CUDNN_MAJOR_MISMATCH,	      FINDING_CUDNN_VERSION_MISMATCH,
	FINDING_VISIBLE_DEVICES_WRONG,	      FINDING_MULTIPLE_ENVS,
};

bool env_check_covers(enum finding_id id)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(covered); i++)
		if (covered[i] == id)
			return true;
	return false;
}

struct look {
	struct judge *j;
	const struct env_check *c;
	struct fact var; /* the variable that is looked at */
	const char *name;
	struct view *dirs;
	size_t n;
};

/* -------- saying it */

static void mend(struct look *l, struct finding *f)
{
	struct remedy *r = finding_remedy(
		l->j, f, "%s",
		_("Take the line out that sets it so, and let cuvet set it: nothing empty, nothing "
		  "twice, one toolkit in the place of another."));

	remedy_command(l->j, r, "%s", l->c->fix);
	r->risk = RISK_SAFE;
}

/* One finding for all elements of a kind; the first few are named. */
struct some {
	const char *seen[SHOWN_MAX];
	size_t n;
};

static void note(struct look *l, struct some *s, struct view dir, size_t at)
{
	if (s->n < SHOWN_MAX)
		s->seen[s->n] = dir.n ? view_dup(l->j->a, dir)
				      : arena_printf(l->j->a, _("element %zu is empty"), at + 1);
	s->n++;
}

static void say(struct look *l, const struct some *s, enum severity severity, const char *message)
{
	struct finding *f;
	size_t i;

	if (!s->n)
		return;
	f = finding_add(l->j, FINDING_SEARCH_PATH_UNSOUND, l->name);
	f->severity = severity;
	finding_message(l->j, f, "%s %s", l->name, message);
	for (i = 0; i < s->n && i < SHOWN_MAX; i++)
		finding_evidence(l->j, f, l->name, s->seen[i], NULL, l->var.source);
	mend(l, f);
}

/* -------- one variable */

static bool take(struct look *l, struct judge *j, const struct env_check *c, const char *name)
{
	const struct fact *env = snapshot_env_fact(j->s, name);
	struct view rest;
	ptrdiff_t at;

	*l = (struct look){ .j = j, .c = c, .name = name };
	if (!env || !fact_known(env) || !*env->value)
		return false;
	l->var = *env;
	rest = view_of(env->value);
	while (l->n < DIRS_MAX && (at = view_chr(rest, ':')) >= 0) {
		*ARENA_APPEND(j->a, l->dirs, l->n) = (struct view){ .p = rest.p, .n = (size_t)at };
		rest = view_skip(rest, (size_t)at + 1);
	}
	*ARENA_APPEND(j->a, l->dirs, l->n) = rest;
	return true;
}

static bool seen_before(const struct look *l, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (l->dirs[k].n == l->dirs[i].n &&
		    memcmp(l->dirs[k].p, l->dirs[i].p, l->dirs[i].n) == 0)
			return true;
	return false;
}

static bool ends_in(struct view dir, const char *name)
{
	while (dir.n > 1 && dir.p[dir.n - 1] == '/')
		dir.n--;
	return view_ends(dir, name);
}

/* May compat libraries be used? Only on data-centre GPUs; without a known GPU nobody can say. */
static bool compat_may(struct judge *j)
{
	const struct gpu_row *row;
	size_t i;

	for (i = 0; i < j->s->n_gpus; i++) {
		if (!look_is_nvidia(&j->s->gpus[i]))
			continue;
		row = look_gpu_row(j, &j->s->gpus[i]);
		if (!row || !row->gpu_class || strcmp(row->gpu_class, "datacenter") != 0)
			return false;
	}
	return j->s->n_gpus > 0;
}

static void elements(struct look *l)
{
	struct some empty = { .n = 0 }, relative = { .n = 0 }, gone = { .n = 0 },
		    twice = { .n = 0 }, stubs = { .n = 0 }, compat = { .n = 0 };
	bool loads = strcmp(l->name, "LD_LIBRARY_PATH") == 0;
	const char *dir;
	size_t i;

	for (i = 0; i < l->n; i++) {
		dir = view_dup(l->j->a, l->dirs[i]);
		if (!l->dirs[i].n)
			note(l, &empty, l->dirs[i], i);
		else if (dir[0] != '/')
			note(l, &relative, l->dirs[i], i);
		else if (seen_before(l, i))
			note(l, &twice, l->dirs[i], i);
		else if (!sysroot_is_dir(l->c->root, dir))
			note(l, &gone, l->dirs[i], i);
		else if (loads && ends_in(l->dirs[i], "/stubs"))
			note(l, &stubs, l->dirs[i], i);
		else if (loads && ends_in(l->dirs[i], "/compat") && !compat_may(l->j))
			note(l, &compat, l->dirs[i], i);
	}
	say(l, &empty, SEVERITY_WARNING,
	    _("has an empty element, which is the current directory, whatever that is."));
	say(l, &relative, SEVERITY_WARNING,
	    _("has an element that is relative to the current directory."));
	say(l, &stubs, SEVERITY_WARNING,
	    _("has a stubs folder: what lies there is for linking and drives no GPU."));
	say(l, &compat, SEVERITY_WARNING,
	    _("has a compat folder, whose libcuda works on data-centre GPUs alone."));
	say(l, &gone, SEVERITY_WARNING, _("names folders that are not there."));
	say(l, &twice, SEVERITY_INFO, _("has the same folder more than once."));
}

/* -------- toolkits */

struct prefixes {
	const char *v[SHOWN_MAX], *from[SHOWN_MAX];
	size_t n;
};

static void add_prefix(struct judge *j, const struct env_check *c, struct prefixes *p,
		       const char *dir, const char *from)
{
	const char *real, *lib;
	size_t i;

	if (dir[0] != '/' || sysroot_realpath(c->root, j->a, dir, &real) != 0)
		return;
	/* bin, lib64, lib64/stubs, targets/x86_64-linux/lib: some folders up. */
	for (i = 0; i < 4 && strcmp(real, "/") != 0 && strcmp(real, "/usr") != 0; i++) {
		if (env_is_toolkit(c->root, j->a, real, &lib))
			break;
		real = path_dir(j->a, real);
	}
	/* Links to nvcc in /usr/local/bin make no toolkit of /usr/local. */
	if (i == 4 || strcmp(real, "/") == 0 || strcmp(real, "/usr") == 0 ||
	    strcmp(real, "/usr/local") == 0)
		return;
	for (i = 0; i < p->n; i++)
		if (strcmp(p->v[i], real) == 0)
			return;
	if (p->n < SHOWN_MAX) {
		p->v[p->n] = real;
		p->from[p->n++] = from;
	}
}

static void mixed(struct judge *j, const struct env_check *c)
{
	static const char *const lists[] = { "PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH" };
	struct prefixes p = { .n = 0 };
	struct finding *f;
	struct look l;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		for (k = take(&l, j, c, lists[i]) ? 0 : l.n; k < l.n; k++)
			if (l.dirs[k].n)
				add_prefix(j, c, &p, view_dup(j->a, l.dirs[k]), lists[i]);
	if (p.n < 2)
		return;
	f = finding_add(j, FINDING_SEARCH_PATH_UNSOUND, p.v[1]);
	finding_message(j, f, _("Two toolkits are mixed: %s has %s, and %s has %s."), p.from[0],
			p.v[0], p.from[1], p.v[1]);
	for (i = 0; i < p.n; i++)
		finding_evidence(j, f, p.from[i], p.v[i], i ? p.v[0] : NULL, "environment");
	l = (struct look){ .j = j, .c = c };
	mend(&l, f);
}

/* The nvcc that a shell starts against the one that a build by CUDA_HOME takes. */
static void nvcc(struct judge *j, const struct env_check *c)
{
	const struct fact *home = snapshot_env_fact(j->s, "CUDA_HOME");
	const char *wanted, *found = NULL;
	struct finding *f;
	struct look l;
	size_t i;

	if (!home || !fact_known(home) || home->value[0] != '/' ||
	    judge_has(j, FINDING_CUDA_HOME_WRONG) ||
	    sysroot_realpath(c->root, j->a, path_join(j->a, home->value, "bin/nvcc"), &wanted) !=
		    0 ||
	    !take(&l, j, c, "PATH"))
		return;
	for (i = 0; i < l.n && !found; i++)
		if (l.dirs[i].n && l.dirs[i].p[0] == '/' &&
		    sysroot_realpath(c->root, j->a,
				     path_join(j->a, view_dup(j->a, l.dirs[i]), "nvcc"),
				     &found) != 0)
			found = NULL;
	if (!found || strcmp(found, wanted) == 0)
		return;
	f = finding_add(j, FINDING_CUDA_HOME_WRONG, "CUDA_HOME");
	finding_message(j, f, _("CUDA_HOME leads to %s, and the nvcc that PATH finds is %s."),
			wanted, found);
	finding_fact(j, f, "CUDA_HOME", home, NULL);
	finding_evidence(j, f, "PATH", found, wanted, l.var.source);
	mend(&l, f);
}

/* -------- what is hidden */

struct copies {
	const char *dir;
	struct dirlist names;
};

static bool is_library(const char *name)
{
	return strncmp(name, "lib", 3) == 0 && strstr(name, ".so.") != NULL;
}

static const char *hidden(const struct copies *own, size_t n, const struct dirlist *in,
			  const char **ret_dir)
{
	size_t i, k, m;

	for (i = 0; i < in->n; i++)
		for (k = 0; is_library(in->names[i]) && k < n; k++)
			for (m = 0; m < own[k].names.n; m++)
				if (strcmp(own[k].names.names[m], in->names[i]) == 0) {
					*ret_dir = own[k].dir;
					return in->names[i];
				}
	return NULL;
}

static size_t own_copies(struct judge *j, const struct env_check *c, const struct python *p,
			 struct copies *out)
{
	struct dirlist subs;
	const char *top;
	size_t i, k, n = 0;

	for (i = 0; i < p->site_dirs.n; i++) {
		top = path_join(j->a, p->site_dirs.values[i], "torch/lib");
		if (n < WHEELS_MAX &&
		    sysroot_list(c->root, j->a, top, NAMES_MAX, &out[n].names) == 0)
			out[n++].dir = top;
		top = path_join(j->a, p->site_dirs.values[i], "nvidia");
		if (sysroot_list(c->root, j->a, top, WHEELS_MAX, &subs) != 0)
			continue;
		for (k = 0; k < subs.n && n < WHEELS_MAX; k++) {
			out[n].dir = arena_printf(j->a, "%s/%s/lib", top, subs.names[k]);
			if (sysroot_list(c->root, j->a, out[n].dir, NAMES_MAX, &out[n].names) == 0)
				n++;
		}
	}
	return n;
}

static void shadows(struct judge *j, const struct env_check *c, const struct python *p,
		    const struct look *l)
{
	struct copies *own = arena_calloc(j->a, WHEELS_MAX, sizeof(*own));
	size_t n = own_copies(j, c, p, own), i;
	const char *dir, *name = NULL, *of = NULL;
	struct dirlist names;
	struct finding *f;
	struct remedy *r;

	for (i = 0; i < l->n && !name; i++) {
		dir = view_dup(j->a, l->dirs[i]);
		if (dir[0] == '/' && !view_starts(l->dirs[i], fact_value(&p->prefix, "?")) &&
		    sysroot_list(c->root, j->a, dir, NAMES_MAX, &names) == 0)
			name = hidden(own, n, &names, &of);
	}
	if (!name)
		return;
	f = finding_add(j, FINDING_LIB_SHADOWING, look_prefix(p));
	f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("LD_LIBRARY_PATH has a %s in %s, which can take the place of the "
				"environment's own."),
			name, view_dup(j->a, l->dirs[i - 1]));
	finding_evidence(j, f, "LD_LIBRARY_PATH", view_dup(j->a, l->dirs[i - 1]), _("without it"),
			 l->var.source);
	finding_evidence(j, f, name, path_join(j->a, of, name), NULL, of);
	finding_inferred(f);
	r = finding_remedy(j, f, "%s",
			   _("Take that folder out of LD_LIBRARY_PATH: the wheels find their own "
			     "libraries."));
	remedy_command(j, r, "unset LD_LIBRARY_PATH");
	r->risk = RISK_SAFE;
}

static bool judged_already(const struct judge *j, const char *prefix)
{
	size_t i;

	for (i = 0; i < j->n_findings; i++)
		if (j->findings[i]->id == FINDING_LIB_SHADOWING &&
		    strcmp(j->findings[i]->subject, prefix) == 0)
			return true;
	return false;
}

/* -------- Python and GPUs */

static void python_path(struct judge *j, const struct env_check *c)
{
	static const char *const packages[] = { "torch", "nvidia", "numpy", "jax", "tensorflow" };
	struct finding *f;
	struct look l;
	size_t i, k;

	if (judge_has(j, FINDING_MULTIPLE_ENVS) || !take(&l, j, c, "PYTHONPATH"))
		return;
	for (i = 0; i < l.n; i++)
		for (k = 0; l.dirs[i].n && k < ARRAY_LEN(packages); k++) {
			const char *dir = path_join(j->a, view_dup(j->a, l.dirs[i]), packages[k]);

			if (dir[0] != '/' || !sysroot_is_dir(c->root, dir))
				continue;
			f = finding_add(j, FINDING_MULTIPLE_ENVS, "PYTHONPATH");
			f->severity = SEVERITY_WARNING;
			finding_message(j, f,
					_("PYTHONPATH puts %s in front of what every environment "
					  "has of it."),
					dir);
			finding_fact(j, f, "PYTHONPATH", &l.var, NULL);
			remedy_command(j, finding_remedy(j, f, "%s", _("Unset it.")),
				       "unset PYTHONPATH");
			return;
		}
}

static void hidden_gpus(struct judge *j)
{
	const struct fact *env = snapshot_env_fact(j->s, "CUDA_VISIBLE_DEVICES");
	size_t i, used = 0, all = 0;
	struct finding *f;
	bool none;

	if (!env || !fact_known(env) || judge_has(j, FINDING_VISIBLE_DEVICES_WRONG))
		return;
	none = !*env->value || strcmp(env->value, "-1") == 0 ||
	       strcmp(env->value, "NoDevFiles") == 0;
	for (i = 0; i < j->s->n_gpus; i++) {
		all += look_is_nvidia(&j->s->gpus[i]);
		used += look_is_nvidia(&j->s->gpus[i]) && look_gpu_used(j->s, i);
	}
	if (!none && used == all)
		return;
	f = finding_add(j, FINDING_VISIBLE_DEVICES_WRONG, "CUDA_VISIBLE_DEVICES");
	f->severity = none ? SEVERITY_WARNING : SEVERITY_INFO;
	if (none)
		finding_message(j, f, _("CUDA_VISIBLE_DEVICES=\"%s\" hides every GPU."),
				env->value);
	else
		finding_message(j, f,
				_("CUDA_VISIBLE_DEVICES=\"%s\" shows %zu of the %zu GPUs here."),
				env->value, used, all);
	finding_fact(j, f, "CUDA_VISIBLE_DEVICES", env, NULL);
	remedy_command(j, finding_remedy(j, f, "%s", _("Unset it to use all GPUs.")),
		       "unset CUDA_VISIBLE_DEVICES");
}

void env_check(struct judge *j, const void *with)
{
	static const char *const lists[] = { "PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH" };
	const struct env_check *c = with;
	struct look l;
	size_t i;

	if (!fact_yes(&j->s->parts.environment)) {
		judge_skip(j, "environment", "%s", _("the variables are not known"));
		return;
	}
	for (i = 0; i < ARRAY_LEN(lists); i++)
		if (take(&l, j, c, lists[i]))
			elements(&l);
	mixed(j, c);
	nvcc(j, c);
	for (i = 0; take(&l, j, c, "LD_LIBRARY_PATH") && i < j->s->n_pythons; i++)
		if (!judged_already(j, look_prefix(&j->s->pythons[i])))
			shadows(j, c, &j->s->pythons[i], &l);
	python_path(j, c);
	hidden_gpus(j);
}
