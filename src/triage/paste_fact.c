/* SPDX-License-Identifier: Apache-2.0 */
/* Facts and variables from lines into the snapshot, by name. */
#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "triage/hearsay.h"
#include "triage/value.h"

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

			value_set(p, f, "driver.version", view_of(s), line);
			return;
		}
	}
	value_set(p, f, "driver.version", v, line);
}

static void set_toolkit(struct paste *p, struct view v, size_t line)
{
	struct toolkit *k;

	if (p->s->n_toolkits) {
		value_set(p, &p->s->toolkits[0].version, "toolkit.version", v, line);
		return;
	}
	k = ARENA_APPEND(p->a, p->s->toolkits, p->s->n_toolkits);
	fact_set(&k->version, view_dup(p->a, v), paste_source(p, line));
	fact_set(&k->via, "pasted", paste_source(p, line));
}

static void set_system(struct paste *p, struct view v, size_t line)
{
	struct fact *f = &p->s->host.system;

	/* A WSL kernel says more than the name of the distribution in it. */
	if (fact_known(f) && !(view_starts(v, "wsl") && !view_starts(view_of(f->value), "wsl")))
		return;
	fact_set(f, view_dup(p->a, v), paste_source(p, line));
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
			value_set(p, list[i].f, name, v, line);
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

/* Facts of what was installed to mend it are not those of what failed. */
static bool of_cure(struct paste *p, const char *name, struct view v, size_t line)
{
	return (strncmp(name, "torch.", 6) == 0 || strncmp(name, "package.", 8) == 0) &&
	       told_of_cure(p, line, v.p);
}

bool paste_fact(struct paste *p, const char *name, struct view value, size_t line)
{
	struct view v = value_bare(value);

	if (!v.n || v.n > VALUE_MAX || !value_wanted(p, line, scope_of(name)) ||
	    hearsay(p, line, v.p) || of_cure(p, name, v, line))
		return false;
	if (strcmp(name, "gpu.name") == 0)
		paste_gpu(p, v, line);
	else if (strcmp(name, "gpu.cc") == 0)
		value_gpu_cc(p, v, line);
	else if (strcmp(name, "torch.cuda") == 0)
		value_torch_cuda(p, v, line);
	else if (strcmp(name, "torch.archs") == 0)
		value_torch_archs(p, v, line);
	else if (strcmp(name, "host.system") == 0)
		set_system(p, v, line);
	else if (is_word_fact(name))
		return simple(p, name, v, line);
	else if (!value_is_version(v))
		return false;
	else if (strcmp(name, "driver.version") == 0)
		set_driver(p, &p->s->driver.version, v, line);
	else if (strcmp(name, "torch.version") == 0)
		value_torch(p, v, line);
	else if (strcmp(name, "toolkit.version") == 0)
		set_toolkit(p, v, line);
	else if (strcmp(name, "python.version") == 0)
		value_set(p, &paste_python(p, line)->version, name, v, line);
	else if (strncmp(name, "package.", 8) == 0)
		paste_package(p, view_of(name + 8), v, line);
	else
		return simple(p, name, v, line);
	return true;
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
