/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries that the RECORD of an installed wheel lists and that are gone: what removing another
 * wheel of the same folder leaves behind. Only of PyTorch and of NVIDIA's own wheels, and only
 * shared libraries: the other thousands of files decide nothing here.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "probe/python.h"

enum {
	RECORD_BYTES = 4 << 20, /* PyTorch's has 2 MiB */
	LOOKS_MAX = 256,	/* libraries of one package */
	MISSING_MAX = 16,
};

/* The first field of a line: plain up to the comma, or quoted with "" for one quote. */
const char *py_record_path(struct arena *a, struct view line)
{
	bool quoted = view_starts(line, "\"");
	char *out = arena_alloc(a, line.n + 1);
	size_t i, n = 0;

	for (i = quoted; i < line.n; i++) {
		if (quoted && line.p[i] == '"') {
			i++;
			if (i >= line.n || line.p[i] != '"')
				break;
		} else if (!quoted && line.p[i] == ',') {
			break;
		}
		if ((unsigned char)line.p[i] < ' ' || line.p[i] == 0x7f)
			return NULL;
		out[n++] = line.p[i];
	}
	out[n] = '\0';
	/* A line that was cut off has no comma; nothing outside of the environment is looked for.
	 */
	if (i >= line.n || line.p[i] != ',' || !n || out[0] == '/' || strstr(out, "../"))
		return NULL;
	return out;
}

/* "nvidia/cudnn/lib/libcudnn.so.9", "torch/lib/libtorch_cuda.so". */
static bool is_library(struct view line)
{
	if (view_starts(line, "\""))
		line = view_skip(line, 1);
	return (view_starts(line, "nvidia/") || view_starts(line, "torch/lib/")) &&
	       view_find(line, ".so") > 0;
}

/* A file that may not be looked at is not gone. */
static bool is_gone(struct probe_ctx *p, const char *path)
{
	struct stat st;

	return sysroot_stat(p->root, path, false, &st) == -ENOENT;
}

static void look_at(struct probe_ctx *p, struct package *pkg)
{
	const char *record = path_join(p->a, pkg->name.source, "RECORD"), **list = NULL, *path;
	struct view text, line;
	size_t looks = 0, n = 0;

	if (sysroot_read(p->root, p->a, record, RECORD_BYTES, &text, NULL) != 0)
		return;
	while (looks < LOOKS_MAX && n < MISSING_MAX && view_line(&text, &line)) {
		if (!is_library(line))
			continue;
		path = py_record_path(p->a, line);
		if (!path || !strstr(path_base(path), ".so"))
			continue;
		looks++;
		if (is_gone(p, path_join(p->a, pkg->location.value, path)))
			*ARENA_APPEND(p->a, list, n) = path;
	}
	if (n)
		fact_list_set(&pkg->missing, list, n, record);
}

void py_records(struct probe_ctx *p, const struct py_env *e, struct python *out)
{
	size_t i, others = 0;

	/* Of many environments only the one that is used: each costs megabytes to read. */
	for (i = 0; i < p->s->n_pythons; i++)
		others += &p->s->pythons[i] != out && fact_known(&p->s->pythons[i].torch.version);
	if (!e->why_active && others)
		return;
	for (i = 0; i < out->n_packages; i++) {
		struct package *pkg = &out->packages[i];
		const char *name = fact_value(&pkg->name, "");

		if ((strcmp(name, "torch") == 0 || strncmp(name, "nvidia-", 7) == 0) &&
		    pkg->name.source && fact_known(&pkg->location) &&
		    view_ends(view_of(pkg->name.source), ".dist-info"))
			look_at(p, pkg);
	}
}
