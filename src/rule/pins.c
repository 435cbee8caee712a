/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about versions that exclude each other among what is installed: what the metadata requires,
 * NumPy's binary interface, JAX and its plugin. */
#include <string.h>

#include "base/arena.h"
#include "model/pep440.h"
#include "rule/look.h"
#include "rule/remedy.h"
#include "rule/rules.h"

/* -------- conflicting-pins */

/* Packages whose version another one really depends on: they share a binary interface. */
static bool is_tied(const char *name)
{
	static const char *const names[] = { "torch",	"torchvision", "torchaudio", "triton",
					     "jaxlib",	"xformers",    "tensorflow", "jax",
					     "flash-attn" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Lower case, runs of "-_." one '-'. */
static const char *normalized(struct arena *a, struct view v)
{
	char *s = arena_alloc(a, v.n + 1);
	size_t i, n = 0;

	for (i = 0; i < v.n; i++) {
		char c = v.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c == '_' || c == '.')
			c = '-';
		if (c != '-' || (n && s[n - 1] != '-'))
			s[n++] = c;
	}
	s[n] = '\0';
	return s;
}

/* "torch==2.5.1 ; platform_system == 'Linux'" into name and specifier; false for what depends on
 * anything else. */
static bool split(struct arena *a, const char *text, const char **ret_name, const char **ret_spec)
{
	struct view marker, head = view_trim(view_cut(view_of(text), ';', &marker)), spec;
	size_t n = 0;

	if (marker.n &&
	    (view_find(marker, "==") < 0 ||
	     (view_find(marker, "platform_system") < 0 && view_find(marker, "sys_platform") < 0) ||
	     (view_find(marker, "Linux") < 0 && view_find(marker, "linux") < 0) ||
	     view_find(marker, "python_version") >= 0 || view_find(marker, " or ") >= 0))
		return false;
	while (n < head.n && !strchr(" (<>=!~[", head.p[n]))
		n++;
	*ret_name = normalized(a, (struct view){ .p = head.p, .n = n });
	spec = view_trim(view_skip(head, n));
	if (spec.n && spec.p[0] == '[')
		return false;
	if (spec.n > 1 && spec.p[0] == '(' && spec.p[spec.n - 1] == ')')
		spec = view_trim((struct view){ .p = spec.p + 1, .n = spec.n - 2 });
	*ret_spec = view_dup(a, spec);
	return spec.n > 0;
}

static bool excludes(struct judge *j, const char *spec, const char *version)
{
	struct pep440_spec s;
	struct pep440 v;
	const char *what;
	size_t at, i;

	if (!pep440_spec_parse(j->a, view_of(spec), &s, &at, &what) ||
	    !pep440_parse(view_of(version), &v))
		return false;
	for (i = 0; i < s.n; i++)
		if (!pep440_clause_holds(&s.clauses[i], &v, view_of(version)))
			return true;
	return false;
}

static void conflict(struct judge *j, const struct python *p, const struct package *pkg,
		     const struct package *dep, const char *text)
{
	struct finding *f = finding_add(j, FINDING_CONFLICTING_PINS, look_prefix(p));
	struct remedy *r;

	f->severity = SEVERITY_WARNING;
	finding_message(j, f, _("%s %s requires \"%s\", and %s %s is installed."), pkg->name.value,
			fact_value(&pkg->version, ""), text, dep->name.value, dep->version.value);
	finding_evidence(j, f, arena_printf(j->a, "package.%s.requires", pkg->name.value), text,
			 NULL, pkg->requires.source);
	finding_fact(j, f, arena_printf(j->a, "package.%s", dep->name.value), &dep->version, text);
	r = finding_remedy(j, f, _("Install the release of %s that goes with this %s."),
			   pkg->name.value, dep->name.value);
	remedy_command(j, r, "%s install --upgrade %s %s", remedy_pip(j, p),
		       shell_word(j->a, pkg->name.value),
		       shell_word(j->a, arena_printf(j->a, "%s==%s", dep->name.value,
						     dep->version.value)));
}

static void pins_in(struct judge *j, const struct python *p)
{
	size_t i, k;

	for (i = 0; i < p->n_packages; i++) {
		const struct package *pkg = &p->packages[i];

		for (k = 0; k < pkg->requires.n; k++) {
			const char *name, *spec;
			const struct package *dep;

			if (!split(j->a, pkg->requires.values[k], &name, &spec) || !is_tied(name))
				continue;
			dep = python_package(p, name);
			/* A build of conda's bears a version of its own. */
			if (!dep || !fact_known(&dep->version) || fact_known(&dep->build) ||
			    !excludes(j, spec, dep->version.value))
				continue;
			conflict(j, p, pkg, dep, pkg->requires.values[k]);
		}
	}
}

/* A plugin of another release than jaxlib is not used. */
static void jax_plugin(struct judge *j, const struct python *p)
{
	static const char *const names[] = { "jax-cuda12-plugin", "jax-cuda13-plugin",
					     "jax-cuda11-plugin" };
	const struct package *lib = python_package(p, "jaxlib"), *plugin;
	struct finding *f;
	struct remedy *r;
	size_t i;

	if (!lib || !fact_known(&lib->version))
		return;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		plugin = python_package(p, names[i]);
		if (!plugin || !fact_known(&plugin->version) ||
		    strcmp(plugin->version.value, lib->version.value) == 0)
			continue;
		f = finding_add(j, FINDING_CONFLICTING_PINS, look_prefix(p));
		if (look_torch_cuda(j, &p->torch))
			f->severity = SEVERITY_WARNING;
		finding_message(
			j, f,
			_("%s is %s and jaxlib %s: JAX does not use a plugin of another release "
			  "and runs on the CPU."),
			names[i], plugin->version.value, lib->version.value);
		finding_fact(j, f, arena_printf(j->a, "package.%s", names[i]), &plugin->version,
			     lib->version.value);
		finding_fact(j, f, "package.jaxlib", &lib->version, NULL);
		r = finding_remedy(j, f, "%s", _("Install both in one release."));
		remedy_command(j, r, "%s install %s", remedy_pip(j, p),
			       shell_word(j->a, arena_printf(j->a, "jax[cuda%.2s]==%s",
							     names[i] + 8, lib->version.value)));
	}
}

static void run_pins(struct judge *j)
{
	size_t i;

	for (i = 0; i < j->s->n_pythons; i++) {
		pins_in(j, &j->s->pythons[i]);
		jax_plugin(j, &j->s->pythons[i]);
	}
}

/* -------- NumPy 2 under what was compiled for NumPy 1 */

static void numpy_under(struct judge *j, const struct python *p, const char *name,
			const char *since)
{
	const struct package *numpy = python_package(p, "numpy"), *pkg = python_package(p, name);
	struct finding *f;
	struct remedy *r;

	if (!numpy || !pkg || !fact_known(&pkg->version) || fact_known(&pkg->build) ||
	    !version_at_least(fact_value(&numpy->version, NULL), "2") ||
	    version_at_least(pkg->version.value, since))
		return;
	f = finding_add(j, FINDING_NUMPY2_ABI, look_prefix(p));
	if (look_torch_cuda(j, &p->torch))
		f->severity = SEVERITY_WARNING;
	finding_message(j, f,
			_("%s %s was compiled for NumPy 1, and NumPy %s is installed: it cannot be "
			  "imported."),
			name, pkg->version.value, numpy->version.value);
	finding_fact(j, f, "package.numpy", &numpy->version, "< 2");
	finding_fact(j, f, arena_printf(j->a, "package.%s", name), &pkg->version,
		     arena_printf(j->a, ">= %s", since));
	r = finding_remedy(j, f, _("Go back to NumPy 1, or take %s %s or later."), name, since);
	remedy_command(j, r, "%s install 'numpy<2'", remedy_pip(j, p));
}

static void run_numpy_modules(struct judge *j)
{
	/* First releases that were compiled against NumPy 2; their own metadata says the same. */
	static const struct {
		const char *name, *since;
	} rows[] = {
		{ .name = "tensorflow", .since = "2.18" },
		{ .name = "onnxruntime", .since = "1.19" },
		{ .name = "onnxruntime-gpu", .since = "1.19" },
		{ .name = "jaxlib", .since = "0.4.26" },
	};
	size_t i, k;

	for (i = 0; i < j->s->n_pythons; i++)
		for (k = 0; k < ARRAY_LEN(rows); k++)
			numpy_under(j, &j->s->pythons[i], rows[k].name, rows[k].since);
}

const struct rule rule_conflicting_pins = {
	.name = "conflicting-pins",
	.needs = NEED_PYTHON,
	.layer = LAYER_PYTHON,
	.run = run_pins,
};
const struct rule rule_numpy_modules = {
	.name = "numpy2-abi",
	.needs = NEED_PYTHON,
	.layer = LAYER_PYTHON,
	.run = run_numpy_modules,
};
