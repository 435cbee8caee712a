/* SPDX-License-Identifier: Apache-2.0 */
/* Which gcc a host has, by the names of its files: "gcc" leads to "x86_64-linux-gnu-gcc-12", or its
 * own folder is called so. It is not started. */
#include <string.h>

#include "base/arena.h"
#include "model/version.h"
#include "probe/toolkit.h"

enum { ENTRIES_MAX = 256 };

/* "12" of "x86_64-linux-gnu-gcc-12" and "gcc-12.3"; NULL when the name says none. */
static const char *version_of_name(struct arena *a, const char *name)
{
	const char *at = strrchr(name, '-');
	struct version v;

	(void)a;
	return at && version_parse(view_of(at + 1), &v) && v.part[0] < 100 ? at + 1 : NULL;
}

/* The newest folder below /usr/lib/gcc/TRIPLET. */
static const char *version_of_folder(struct probe_ctx *p, const char **ret_dir)
{
	static const char *const tops[] = { "/usr/lib/gcc", "/usr/lib64/gcc" };
	const char *best = NULL;
	struct dirlist triplets, list;
	struct version v;
	size_t i, k, n;

	for (i = 0; i < ARRAY_LEN(tops); i++) {
		if (sysroot_list(p->root, p->a, tops[i], ENTRIES_MAX, &triplets) < 0)
			continue;
		for (k = 0; k < triplets.n; k++) {
			const char *dir = path_join(p->a, tops[i], triplets.names[k]);

			if (sysroot_list(p->root, p->a, dir, ENTRIES_MAX, &list) < 0)
				continue;
			for (n = 0; n < list.n; n++)
				if (version_parse(view_of(list.names[n]), &v) &&
				    (!best || version_cmp_str(list.names[n], best) > 0)) {
					best = list.names[n];
					*ret_dir = dir;
				}
		}
	}
	return best;
}

void toolkit_compiler(struct probe_ctx *p)
{
	static const char *const names[] = { "/usr/local/bin/gcc", "/usr/bin/gcc" };
	static const char *const others[] = { "/usr/bin/cc", "/usr/bin/clang",
					      "/usr/local/bin/cc" };
	struct fact *f = &p->s->host.gcc;
	const char *real, *v, *dir = NULL;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		if (sysroot_realpath(p->root, p->a, names[i], &real) < 0)
			continue;
		v = version_of_name(p->a, path_base(real));
		if (v) {
			fact_set(f, v, names[i]);
			return;
		}
		v = strcmp(names[i], "/usr/bin/gcc") == 0 ? version_of_folder(p, &dir) : NULL;
		if (v)
			fact_set(f, v, dir);
		else
			fact_broken(f, names[i], N_("its version is not in its name"));
		return;
	}
	for (i = 0; i < ARRAY_LEN(others); i++)
		if (sysroot_exists(p->root, others[i])) {
			fact_broken(f, others[i], N_("another compiler than gcc"));
			return;
		}
	fact_absent(f, "/usr/bin/gcc");
}
