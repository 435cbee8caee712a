/* SPDX-License-Identifier: Apache-2.0 */
/* Facts from lines into the snapshot, by name; what a text says twice, and differently, is noted.
 */
#include "triage/paste.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/regex.h"
#include "triage/book.h"
#include "triage/hearsay.h"
#include "triage/sign.h"

enum { GPUS_MAX = 64, PACKAGES_MAX = 4000, VALUE_MAX = 4096, MATCHES_MAX = 250000 };

/* -------- whose */

/* "pasted line 12", with whose it is where a text shows several. */
const char *paste_source(struct paste *p, size_t line)
{
	const char *source = text_source(p->a, &p->t, line);
	size_t owner = line < p->t.n ? p->t.lines[line].owner : 0;

	return owner && p->owners.n > 2 && p->owners.v[owner].label
		       ? arena_printf(p->a, "%s (%s)", source, p->owners.v[owner].label)
		       : source;
}

bool paste_may_look(struct paste *p)
{
	enum { LOOKS_MAX = 4000 };

	return p->looked_back++ < LOOKS_MAX;
}

bool paste_under(const struct paste *p, size_t i, const char *what)
{
	int32_t by = p->t.lines[i].by;

	return by != NO_COMMAND && view_find(line_cmd(&p->t.lines[by]), what) >= 0;
}

bool paste_foreign(const struct paste *p, size_t line, enum scope scope)
{
	return line < p->t.n && p->owners.n &&
	       owner_foreign(&p->owners, p->t.lines[line].owner, scope);
}

static struct python *first_python(struct paste *p)
{
	struct python *py;

	if (p->s->n_pythons)
		return &p->s->pythons[0];
	py = ARENA_APPEND(p->a, p->s->pythons, p->s->n_pythons);
	fact_set(&py->prefix, _("the pasted environment"), "pasted");
	fact_set(&py->active, "yes", "pasted");
	return py;
}

struct python *paste_python(struct paste *p, size_t line)
{
	struct python *py = first_python(p);
	size_t owner;

	if (!paste_foreign(p, line, SCOPE_ENV))
		return py;
	owner = p->t.lines[line].owner;
	if (p->python_of[owner])
		return &p->s->pythons[p->python_of[owner] - 1];
	py = ARENA_APPEND(p->a, p->s->pythons, p->s->n_pythons);
	p->python_of[owner] = p->s->n_pythons;
	fact_set(&py->prefix, p->owners.v[owner].label, "pasted");
	fact_set(&py->active, "no", "pasted");
	return py;
}

static enum scope scope_of(const char *name)
{
	static const char *const machine[] = { "driver.", "gpu.", "host.kernel", "host.arch" };
	static const char *const place[] = { "host.", "toolkit.", "nvml.", "libcuda.",
					     "container." };
	size_t i;

	for (i = 0; i < ARRAY_LEN(machine); i++)
		if (strncmp(name, machine[i], strlen(machine[i])) == 0)
			return SCOPE_MACHINE;
	for (i = 0; i < ARRAY_LEN(place); i++)
		if (strncmp(name, place[i], strlen(place[i])) == 0)
			return SCOPE_PLACE;
	return SCOPE_ENV;
}

/* May what the line says of this scope be taken now?  An environment has a place of its own. */
static bool wanted(const struct paste *p, size_t line, enum scope scope)
{
	if (p->filling)
		return scope == SCOPE_MACHINE;
	return scope == SCOPE_ENV || !paste_foreign(p, line, scope);
}

/* -------- shapes of values */

static bool is_version(struct view v)
{
	size_t i;

	if (!v.n || v.n > 60 || !isdigit((unsigned char)v.p[0]))
		return false;
	for (i = 0; i < v.n; i++)
		if (!isalnum((unsigned char)v.p[i]) && !strchr(".+-_~:!", v.p[i]))
			return false;
	return true;
}

static struct view strip_marks(struct view v)
{
	v = view_trim(v);
	while (v.n && strchr("'\"`([|,;:=", v.p[0]))
		v = view_trim(view_skip(v, 1));
	while (v.n && strchr("'\"`)]|,;:.", v.p[v.n - 1]) &&
	       !(v.p[v.n - 1] == ')' && view_chr(v, '(') > 0))
		v = view_trim((struct view){ v.p, v.n - 1 });
	return v;
}

/* "12.4" and "12.4.131" say the same, one with more words. */
static bool same(const char *old, struct view v)
{
	size_t n = strlen(old), k = n < v.n ? n : v.n;

	if (strncasecmp(old, v.p, k) != 0)
		return false;
	return n == v.n || !isalnum((unsigned char)(n < v.n ? v.p[k] : old[k]));
}

/* -------- setting */

static void differs(struct paste *p, const char *name, struct view v, size_t line)
{
	sign_add(p, arena_printf(p->a, "differs:%s", name), line, v);
}

static void set(struct paste *p, struct fact *f, const char *name, struct view v, size_t line)
{
	if (fact_known(f)) {
		if (p->filling)
			return;
		if (!same(f->value, v))
			differs(p, name, v, line);
		/* The longer form of the same version says more. */
		else if (v.n > strlen(f->value))
			fact_set(f, view_dup(p->a, v), paste_source(p, line));
		return;
	}
	fact_set(f, view_dup(p->a, v), paste_source(p, line));
}

static void set_driver(struct paste *p, struct fact *f, struct view v, size_t line)
{
	/* Windows writes its own number, whose last five digits are NVIDIA's. */
	if (view_starts(v, "3") && v.n > 9 && v.p[2] == '.') {
		char *digits = arena_alloc(p->a, v.n + 2);
		size_t i, n = 0;

		for (i = 0; i < v.n; i++)
			if (isdigit((unsigned char)v.p[i]))
				digits[n++] = v.p[i];
		if (n >= 9) {
			char *s = arena_printf(p->a, "%.3s.%.2s", digits + n - 5, digits + n - 2);

			set(p, f, "driver.version", view_of(s), line);
			return;
		}
	}
	set(p, f, "driver.version", v, line);
}

static void set_torch(struct paste *p, struct view v, size_t line)
{
	struct torch *t = &paste_python(p, line)->torch;
	ptrdiff_t plus;

	if (fact_known(&t->version) && !same(t->version.value, v)) {
		differs(p, "torch.version", v, line);
		/* The one that runs is the one that printed itself last with a build tag. */
		return;
	}
	set(p, &t->version, "torch.version", v, line);
	plus = view_chr(v, '+');
	if (plus < 0)
		return;
	v = view_skip(v, (size_t)plus + 1);
	if (!fact_known(&t->variant) && v.n < 24)
		fact_set(&t->variant, view_dup(p->a, v), paste_source(p, line));
	if (view_starts(v, "cpu"))
		fact_absent(&t->cuda, paste_source(p, line));
	else if (view_starts(v, "cu") && v.n >= 4 && v.n <= 6 && isdigit((unsigned char)v.p[2]) &&
		 !fact_known(&t->cuda))
		fact_set(&t->cuda,
			 arena_printf(p->a, "%.*s.%c", (int)(v.n - 3), v.p + 2, v.p[v.n - 1]),
			 paste_source(p, line));
}

static void set_torch_cuda(struct paste *p, struct view v, size_t line)
{
	struct torch *t = &paste_python(p, line)->torch;

	/* collect_env says "N/A" where PyTorch could not even be imported. */
	if (view_is(v, "N/A"))
		return;
	if (view_is_nocase(v, "none") || view_starts(v, "Could not")) {
		if (t->cuda.state == FACT_NOT_ASKED)
			fact_absent(&t->cuda, paste_source(p, line));
		sign_add(p, "torch-cuda-none", line, v);
		return;
	}
	if (!is_version(v))
		return;
	set(p, &t->cuda, "torch.cuda", v, line);
}

static void set_toolkit(struct paste *p, struct view v, size_t line)
{
	struct toolkit *k;

	if (p->s->n_toolkits) {
		set(p, &p->s->toolkits[0].version, "toolkit.version", v, line);
		return;
	}
	k = ARENA_APPEND(p->a, p->s->toolkits, p->s->n_toolkits);
	fact_set(&k->version, view_dup(p->a, v), paste_source(p, line));
	fact_set(&k->via, "pasted", paste_source(p, line));
}

static void set_archs(struct paste *p, struct view v, size_t line)
{
	struct torch *t = &paste_python(p, line)->torch;
	const char **list = NULL;
	struct view w;
	size_t n = 0;

	if (t->arch_list.state == FACT_KNOWN)
		return;
	while (view_word(&v, &w) && n < 64) {
		w = strip_marks(w);
		if (view_starts(w, "sm_") || view_starts(w, "compute_"))
			*ARENA_APPEND(p->a, list, n) = view_dup(p->a, w);
	}
	if (n)
		fact_list_set(&t->arch_list, list, n, paste_source(p, line));
}

static void set_cc(struct paste *p, struct view v, size_t line)
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

static void set_system(struct paste *p, struct view v, size_t line)
{
	struct fact *f = &p->s->host.system;

	/* A WSL kernel says more than the name of the distribution in it. */
	if (fact_known(f) && !(view_starts(v, "wsl") && !view_starts(view_of(f->value), "wsl")))
		return;
	fact_set(f, view_dup(p->a, v), paste_source(p, line));
}

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

void paste_gpu(struct paste *p, struct view name, size_t line)
{
	struct gpu *g;
	char *s;
	size_t i;

	name = strip_marks(name);
	if (name.n < 2 || name.n > 80 || !wanted(p, line, SCOPE_MACHINE))
		return;
	if (p->filling && p->s->n_gpus)
		return;
	s = view_dup(p->a, name);
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

	if (name.n > 80 || !wanted(p, line, SCOPE_MACHINE) || (p->filling && p->s->n_gpus))
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

void paste_pci(struct paste *p, struct view id, size_t line)
{
	struct gpu *g = NULL;
	size_t i;

	if (!wanted(p, line, SCOPE_MACHINE))
		return;
	for (i = 0; i < p->s->n_gpus; i++)
		if (view_is(id, fact_value(&p->s->gpus[i].pci_id, "")))
			return;
	if (p->s->n_gpus >= GPUS_MAX)
		return;
	/* A name on the same line is its name. */
	for (i = 0; i < p->s->n_gpus && !g; i++)
		if (!fact_known(&p->s->gpus[i].pci_id) && p->s->gpus[i].name.source &&
		    strcmp(p->s->gpus[i].name.source, paste_source(p, line)) == 0)
			g = &p->s->gpus[i];
	if (!g)
		g = ARENA_APPEND(p->a, p->s->gpus, p->s->n_gpus);
	fact_set(&g->pci_id, view_dup(p->a, id), paste_source(p, line));
}

static bool simple(struct paste *p, const char *name, struct view v, size_t line)
{
	struct snapshot *s = p->s;
	const struct {
		const char *name;
		struct fact *f;
	} list[] = {
		{ "driver.ceiling", &s->driver.cuda_ceiling },
		{ "driver.flavor", &s->driver.flavor },
		{ "nvml.version", &s->driver.libnvml.version },
		{ "libcuda.version", &s->driver.libcuda.version },
		{ "host.os_name", &s->host.os_name },
		{ "host.os_id", &s->host.os_id },
		{ "host.os_version", &s->host.os_version },
		{ "host.arch", &s->host.arch },
		{ "host.glibc", &s->host.glibc },
		{ "host.libc", &s->host.libc },
		{ "host.kernel", &s->host.kernel },
		{ "host.gcc", &s->host.gcc },
		{ "host.secure_boot", &s->host.secure_boot },
		{ "host.selinux", &s->host.selinux },
		{ "container.kind", &s->container.kind },
		{ "container.image", &s->container.image },
		{ "runtime.docker", &s->runtime.docker },
		{ "runtime.default_runtime", &s->runtime.default_runtime },
		{ "runtime.nvidia_runtime", &s->runtime.nvidia_runtime },
		{ "runtime.toolkit_version", &s->runtime.toolkit_version },
		{ "runtime.library_version", &s->runtime.library_version },
		{ "runtime.cgroup", &s->runtime.cgroup },
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(list); i++)
		if (strcmp(list[i].name, name) == 0) {
			set(p, list[i].f, name, v, line);
			return true;
		}
	return false;
}

/* Facts whose values are words, not versions. */
static bool is_word_fact(const char *name)
{
	static const char *const list[] = {
		"host.os_name",
		"host.os_id",
		"host.arch",
		"host.libc",
		"driver.flavor",
		"container.kind",
		"container.image",
		"host.selinux",
		"host.secure_boot",
		"runtime.cgroup",
		"runtime.default_runtime",
		"runtime.nvidia_runtime",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(list); i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

bool paste_fact(struct paste *p, const char *name, struct view value, size_t line)
{
	struct view v = strip_marks(value);

	if (!v.n || v.n > VALUE_MAX || !wanted(p, line, scope_of(name)) || hearsay(p, line, v.p))
		return false;
	if (strcmp(name, "gpu.name") == 0)
		paste_gpu(p, v, line);
	else if (strcmp(name, "gpu.cc") == 0)
		set_cc(p, v, line);
	else if (strcmp(name, "torch.cuda") == 0)
		set_torch_cuda(p, v, line);
	else if (strcmp(name, "torch.archs") == 0)
		set_archs(p, v, line);
	else if (strcmp(name, "host.system") == 0)
		set_system(p, v, line);
	else if (is_word_fact(name))
		return simple(p, name, v, line);
	else if (!is_version(v))
		return false;
	else if (strcmp(name, "driver.version") == 0)
		set_driver(p, &p->s->driver.version, v, line);
	else if (strcmp(name, "torch.version") == 0)
		set_torch(p, v, line);
	else if (strcmp(name, "toolkit.version") == 0)
		set_toolkit(p, v, line);
	else if (strcmp(name, "python.version") == 0)
		set(p, &paste_python(p, line)->version, name, v, line);
	else if (strncmp(name, "package.", 8) == 0)
		paste_package(p, view_of(name + 8), v, line);
	else
		return simple(p, name, v, line);
	return true;
}

/* -------- packages and variables */

static char *normal(struct arena *a, struct view name)
{
	char *s = view_dup(a, name);
	size_t i;

	for (i = 0; s[i]; i++)
		s[i] = s[i] == '_' || s[i] == '.' ? '-' : (char)tolower((unsigned char)s[i]);
	return s;
}

void paste_package(struct paste *p, struct view name, struct view version, size_t line)
{
	struct python *py = paste_python(p, line);
	struct package *k;
	char *s;
	size_t i;

	version = strip_marks(version);
	if (!name.n || name.n > 100 || !is_version(version) || p->filling)
		return;
	s = normal(p->a, name);
	if (strcmp(s, "torch") == 0 || strcmp(s, "pytorch") == 0) {
		set_torch(p, version, line);
		s = arena_strdup(p->a, "torch");
	}
	if (strcmp(s, "torchvision") == 0)
		set(p, &py->torch.torchvision, "torchvision", version, line);
	if (strcmp(s, "torchaudio") == 0)
		set(p, &py->torch.torchaudio, "torchaudio", version, line);
	for (i = 0; i < py->n_packages; i++)
		if (strcmp(py->packages[i].name.value, s) == 0) {
			if (!same(fact_value(&py->packages[i].version, ""), version))
				differs(p, arena_printf(p->a, "package.%s", s), version, line);
			return;
		}
	if (py->n_packages >= PACKAGES_MAX)
		return;
	k = ARENA_APPEND(p->a, py->packages, py->n_packages);
	fact_set(&k->name, s, paste_source(p, line));
	fact_set(&k->version, view_dup(p->a, version), paste_source(p, line));
}

void paste_variable(struct paste *p, struct view name, struct view value, size_t line)
{
	struct var *v;
	size_t i;

	if (!name.n || name.n > 64 || value.n > VALUE_MAX || p->filling ||
	    paste_foreign(p, line, SCOPE_PLACE))
		return;
	for (i = 0; i < p->s->n_environment; i++)
		if (view_is(name, p->s->environment[i].name.value))
			return;
	if (p->s->n_environment >= 2000)
		return;
	v = ARENA_APPEND(p->a, p->s->environment, p->s->n_environment);
	fact_set(&v->name, view_dup(p->a, name), paste_source(p, line));
	fact_set(&v->value, view_dup(p->a, value), paste_source(p, line));
}

/* -------- patterns of extractors */

int paste_book(struct paste *p, struct err *err)
{
	return p->book ? 0 : book_open(p->c, &p->book, err);
}

bool paste_match(struct paste *p, const char *pattern, struct view v, struct regex_match *ret)
{
	struct regex *re;
	struct regex_match m;

	/* A text of nothing but what extractors look at; ordinary logs stay far below. */
	if (p->matches++ >= MATCHES_MAX || paste_book(p, NULL))
		return false;
	re = book_regex(p->c, p->book, pattern);
	if (!re)
		return false;
	if (v.n > 2000)
		v.n = 2000;
	return regex_find(re, v, 0, ret ? ret : &m) == REGEX_YES;
}
