/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load session over a root whose program, library and cache are the input, cut at byte values in
 * its first four bytes; the search paths are part of it. Loading must end, and what is said to be
 * loaded must lie in the root.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/ldso_load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = { "app/main", "lib/liba.so", "etc/ld.so.cache",
				     "lib64/ld-linux-x86-64.so.2" };

static void put(int root, const char *path, const uint8_t *data, size_t size)
{
	int fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static int make_root(char *dir)
{
	int root;

	if (!mkdtemp(dir))
		abort();
	root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || mkdirat(root, "app", 0755) || mkdirat(root, "lib", 0755) ||
	    mkdirat(root, "etc", 0755) || mkdirat(root, "lib64", 0755))
		abort();
	return root;
}

static void drop_root(int root, const char *dir)
{
	static const char *const folders[] = { "app", "lib", "etc", "lib64" };
	size_t i;

	for (i = 0; i < 4; i++)
		unlinkat(root, files[i], 0);
	for (i = 0; i < 4; i++)
		unlinkat(root, folders[i], AT_REMOVEDIR);
	close(root);
	if (rmdir(dir))
		abort();
}

static void load(struct arena *a, const struct sysroot *r, const char *path)
{
	struct load_env env = { .library_path = path, .preload = path, .cwd = "/" };
	struct ldso_root *w = arena_alloc(a, sizeof(*w));
	const struct load_answer *list;
	struct load_session *s;
	size_t n, i;

	ldso_root_init(w, r, a, NULL);
	s = load_session_new(a, w, &env);
	if (load_session_main(s, "/app/main"))
		return;
	(void)load_session_dlopen(s, "liba.so", NULL, NULL);
	list = load_session_answers(s, &n);
	for (i = 0; i < n; i++)
		if (!list[i].object || (list[i].object->path && list[i].object->path[0] != '/'))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char dir[] = "/tmp/cuvet-fuzz-XXXXXX";
	struct sysroot *r;
	struct arena *a;
	size_t i, n;
	int root;

	if (size < 4)
		return 0;
	root = make_root(dir);
	a = arena_new(NULL);
	n = size - 4;
	for (i = 0; i < 4; i++) {
		size_t part = i == 3 ? n : n * data[i] / 256;
		const uint8_t *p = data + size - n;

		put(root, files[i], p, part);
		n -= part;
	}
	if (sysroot_open(a, dir, &r, NULL))
		abort();
	load(a, r, arena_strndup(a, (const char *)data, size < 200 ? size : 200));
	arena_free(a);
	drop_root(root, dir);
	return 0;
}
