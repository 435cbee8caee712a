/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that lie: every class of a hostile audited tree that the root layer answers, by its label.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "sys/sysroot.h"
#include "sys/sysroot_walk.h"

struct tree {
	char top[64];
	struct arena *a;
	struct sysroot *r;
};

static const char *at(struct tree *t, const char *path)
{
	return arena_printf(t->a, "%s/%s", t->top, path);
}

static void put(struct tree *t, const char *path, const char *text)
{
	FILE *f = fopen(at(t, path), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void dir(struct tree *t, const char *path)
{
	assert_int_equal(mkdir(at(t, path), 0755), 0);
}

static void ln(struct tree *t, const char *text, const char *path)
{
	assert_int_equal(symlink(text, at(t, path)), 0);
}

/* The root is the folder "r"; "secret" lies beside it and must never be read. */
static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	strcpy(t->top, "/tmp/cuvet-sysroot-XXXXXX");
	if (!mkdtemp(t->top))
		return -1;
	t->a = arena_new(NULL);
	dir(t, "r");
	dir(t, "r/etc");
	dir(t, "r/usr");
	dir(t, "r/usr/lib");
	put(t, "secret", "SECRET");
	put(t, "r/etc/name", "  inside \nsecond\n");
	if (sysroot_open(t->a, at(t, "r"), &t->r, NULL))
		return -1;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "chmod -R u+rwX %s; rm -rf %s", t->top, t->top);
	arena_free(t->a);
	free(t);
	return system(cmd);
}

/* Runs a check with openat2 and with the component walk. */
static void both(struct tree *t, void (*fn)(struct tree *))
{
	assert_false(t->r->live);
	fn(t);
	t->r->no_openat2 = !t->r->no_openat2;
	fn(t);
	t->r->no_openat2 = !t->r->no_openat2;
}

static int rd(struct tree *t, const char *path, const char **text)
{
	struct view v;
	int e = sysroot_read(t->r, t->a, path, 1000, &v, NULL);

	*text = e ? "" : view_dup(t->a, v);
	return e;
}

#define EXPECT_READ(path, want)                           \
	do {                                              \
		const char *text_;                        \
		assert_int_equal(rd(t, path, &text_), 0); \
		assert_string_equal(text_, want);         \
	} while (0)
#define EXPECT_ERR(path, e)                                  \
	do {                                                 \
		const char *text_;                           \
		assert_int_equal(rd(t, path, &text_), -(e)); \
	} while (0)

static void plain(struct tree *t)
{
	const char *s;
	struct fact f = { 0 };
	struct stat st;

	EXPECT_READ("/etc/name", "  inside \nsecond\n");
	EXPECT_READ("etc//./name", "  inside \nsecond\n");
	assert_int_equal(sysroot_read_line(t->r, t->a, "/etc/name", &s), 0);
	assert_string_equal(s, "inside");
	sysroot_fact(t->r, t->a, "/etc/name", &f);
	assert_true(fact_is(&f, "inside"));
	assert_string_equal(f.source, "/etc/name");
	sysroot_fact(t->r, t->a, "/etc/none", &f);
	assert_int_equal(f.state, FACT_ABSENT);
	sysroot_fact(t->r, t->a, "/etc", &f);
	assert_int_equal(f.state, FACT_BROKEN);
	EXPECT_ERR("/etc", EINVAL);
	EXPECT_ERR("/etc/name/x", ENOTDIR);
	EXPECT_ERR("/etc/name/", ENOTDIR);
	EXPECT_ERR("/etc/name/..", ENOTDIR);
	EXPECT_ERR("", ENOENT);
	assert_true(sysroot_is_dir(t->r, "/"));
	assert_true(sysroot_is_dir(t->r, "/usr/lib/"));
	assert_false(sysroot_is_dir(t->r, "/etc/name"));
	assert_true(sysroot_exists(t->r, "/etc/name"));
	assert_int_equal(sysroot_stat(t->r, "/etc/name", true, &st), 0);
	assert_int_equal(st.st_size, 17);
}

static void test_plain(void **state)
{
	both(*state, plain);
}

static void test_open_errors(void **state)
{
	struct tree *t = *state;
	struct sysroot *r;
	struct err err;

	assert_int_equal(sysroot_open(t->a, at(t, "none"), &r, &err), -(int)ERR_NOENT);
	assert_int_equal(sysroot_open(t->a, at(t, "secret"), &r, &err), -(int)ERR_TYPE);
	assert_int_equal(sysroot_open(t->a, "/", &r, &err), 0);
	assert_true(r->live);
	assert_string_equal(r->dir, "/");
	assert_int_equal(sysroot_open(t->a, "/tmp/..", &r, &err), 0);
	assert_true(r->live);
	/* The live kernel's files are read, whatever size they say that they have. */
	assert_true(sysroot_exists(r, "/proc/self/status"));
}

static void t1(struct tree *t)
{
	const char *s;

	EXPECT_READ("/usr/lib/abs", "inside text");
	EXPECT_READ("/usr/lib/chain", "inside text");
	assert_int_equal(sysroot_realpath(t->r, t->a, "/usr/lib/chain", &s), 0);
	assert_string_equal(s, "/etc/target");
	assert_int_equal(sysroot_realpath(t->r, t->a, "/lib/../lib/abs", &s), 0);
	assert_string_equal(s, "/etc/target");
	assert_int_equal(sysroot_readlink(t->r, t->a, "/lib/abs", &s), 0);
	assert_string_equal(s, "/etc/target");
	assert_int_equal(sysroot_readlink(t->r, t->a, "/etc/target", &s), -EINVAL);
	/* What exists outside under that name is not inside. */
	EXPECT_ERR("/usr/lib/outside", ENOENT);
}

static void test_t1_absolute_link(void **state)
{
	struct tree *t = *state;

	put(t, "r/etc/target", "inside text");
	ln(t, "/etc/target", "r/usr/lib/abs");
	ln(t, "/lib/abs", "r/usr/lib/chain");
	ln(t, "/usr/lib", "r/lib");
	ln(t, at(t, "secret"), "r/usr/lib/outside");
	both(t, t1);
}

static void t2(struct tree *t)
{
	const char *s;

	EXPECT_ERR("/usr/lib/up", ENOENT);
	EXPECT_READ("/usr/lib/updir/etc/name", "  inside \nsecond\n");
	EXPECT_ERR("/../secret", ENOENT);
	EXPECT_ERR("../../../../../../../secret", ENOENT);
	EXPECT_READ("/../../etc/name", "  inside \nsecond\n");
	assert_int_equal(sysroot_realpath(t->r, t->a, "/usr/lib/updir", &s), 0);
	assert_string_equal(s, "/");
	assert_false(sysroot_exists(t->r, "/usr/lib/up"));
	assert_int_equal(sysroot_open_dir(t->r, "/usr/lib/up"), -ENOENT);
}

static void test_t2_link_out(void **state)
{
	struct tree *t = *state;

	ln(t, "../../../secret", "r/usr/lib/up");
	ln(t, "../../../../../..", "r/usr/lib/updir");
	both(t, t2);
}

static void t3(struct tree *t)
{
	const char *s;
	struct fact f = { 0 };

	EXPECT_ERR("/etc/a", ELOOP);
	EXPECT_ERR("/etc/self/x", ELOOP);
	assert_int_equal(sysroot_realpath(t->r, t->a, "/etc/a", &s), -ELOOP);
	EXPECT_READ("/etc/l40", "  inside \nsecond\n");
	EXPECT_ERR("/etc/l41", ELOOP);
	sysroot_fact(t->r, t->a, "/etc/a", &f);
	assert_int_equal(f.state, FACT_BROKEN);
	assert_string_equal(f.why, "ELOOP");
	/* Each link doubles what is left: ends at the limits, soon. */
	EXPECT_ERR("/etc/bomb", ELOOP);
}

static void test_t3_link_loop(void **state)
{
	struct tree *t = *state;
	char from[32], to[32];

	ln(t, "b", "r/etc/a");
	ln(t, "a", "r/etc/b");
	ln(t, "self/x", "r/etc/self");
	ln(t, "bomb/bomb", "r/etc/bomb");
	ln(t, "name", "r/etc/l1");
	for (int i = 2; i <= 41; i++) {
		snprintf(to, sizeof(to), "l%d", i - 1);
		snprintf(from, sizeof(from), "r/etc/l%d", i);
		ln(t, to, from);
	}
	both(t, t3);
}

static void t4(struct tree *t)
{
	const char *s;
	struct stat st;

	EXPECT_ERR("/etc/dangling", ENOENT);
	assert_int_equal(sysroot_readlink(t->r, t->a, "/etc/dangling", &s), 0);
	assert_string_equal(s, "libcuda.so.1");
	assert_int_equal(sysroot_stat(t->r, "/etc/dangling", true, &st), -ENOENT);
	assert_int_equal(sysroot_stat(t->r, "/etc/dangling", false, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(sysroot_realpath(t->r, t->a, "/etc/dangling", &s), -ENOENT);
}

static void test_t4_dangling(void **state)
{
	struct tree *t = *state;

	ln(t, "libcuda.so.1", "r/etc/dangling");
	both(t, t4);
}

static void t5(struct tree *t)
{
	EXPECT_ERR("/etc/magic", ENOENT);
	EXPECT_ERR("/etc/cwd", ENOENT);
}

/* Links that name /proc of the present machine lead into the root, where there is none. */
static void test_t5_magic_link(void **state)
{
	struct tree *t = *state;

	ln(t, "/proc/self/exe", "r/etc/magic");
	ln(t, "/proc/self/cwd/secret", "r/etc/cwd");
	both(t, t5);
}

/* /proc of the present machine, mounted inside the root: it says nothing about the audited one. */
static void test_t12_t5_mount_boundary(void **state)
{
	struct tree *t = *state;
	int status;
	pid_t pid;

	ln(t, "/proc/self/exe", "r/etc/magic");
	dir(t, "r/proc");
	pid = fork();
	if (pid == 0) {
		struct view v;
		int bad = 0;

		if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("/proc", at(t, "r/proc"), NULL, MS_BIND | MS_REC, NULL) ||
		    sysroot_open(t->a, at(t, "r"), &t->r, NULL))
			_exit(77);
		for (int i = 0; i < 2; i++) {
			bad |= sysroot_read(t->r, t->a, "/proc/self/status", 99, &v, NULL) == 0;
			bad |= sysroot_read(t->r, t->a, "/proc/version", 99, &v, NULL) != -EXDEV;
			bad |= sysroot_read(t->r, t->a, "/etc/magic", 99, &v, NULL) == 0;
			bad |= sysroot_open_dir(t->r, "/proc/1") >= 0;
			t->r->no_openat2 = !t->r->no_openat2;
		}
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void t6(struct tree *t)
{
	struct fact f = { 0 };
	const char *s;

	alarm(5); /* a hang ends the test program */
	EXPECT_ERR("/etc/fifo", EINVAL);
	EXPECT_ERR("/etc/to-fifo", EINVAL);
	assert_int_equal(sysroot_read_line(t->r, t->a, "/etc/fifo", &s), -EINVAL);
	assert_int_equal(sysroot_open_file(t->r, "/etc/fifo"), -EINVAL);
	assert_int_equal(sysroot_open_dir(t->r, "/etc/fifo"), -ENOTDIR);
	sysroot_fact(t->r, t->a, "/etc/fifo", &f);
	assert_int_equal(f.state, FACT_BROKEN);
	alarm(0);
}

static void test_t6_fifo(void **state)
{
	struct tree *t = *state;
	int fd;

	assert_int_equal(mkfifo(at(t, "r/etc/fifo"), 0644), 0);
	ln(t, "fifo", "r/etc/to-fifo");
	both(t, t6);
	/* Nobody opened it for reading: a writer still finds none. */
	fd = open(at(t, "r/etc/fifo"), O_WRONLY | O_NONBLOCK);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, ENXIO);
}

static void t7(struct tree *t)
{
	EXPECT_ERR("/etc/socket", EINVAL);
	if (sysroot_exists(t->r, "/etc/device"))
		EXPECT_ERR("/etc/device", EINVAL);
}

static void test_t7_device_and_socket(void **state)
{
	struct tree *t = *state;
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sysroot *live;
	struct view v;

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", at(t, "r/etc/socket"));
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	close(fd);
	if (mknod(at(t, "r/etc/device"), S_IFCHR | 0666, makedev(1, 5)) != 0)
		assert_int_equal(errno, EPERM); /* only root can make one */
	both(t, t7);
	assert_int_equal(sysroot_open(t->a, "/", &live, NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sysroot_read(live, t->a, "/dev/zero", 10, &v, NULL), -EINVAL);
		live->no_openat2 = !live->no_openat2;
	}
}

static void t8(struct tree *t)
{
	struct view v;
	bool cut = false;

	assert_int_equal(sysroot_read(t->r, t->a, "/etc/sparse", 5000, &v, &cut), 0);
	assert_int_equal(v.n, 5000);
	assert_true(cut);
	assert_int_equal(sysroot_read(t->r, t->a, "/etc/exact", 10, &v, &cut), 0);
	assert_int_equal(v.n, 10);
	assert_false(cut);
	assert_int_equal(sysroot_read(t->r, t->a, "/etc/exact", 9, &v, &cut), 0);
	assert_int_equal(v.n, 9);
	assert_true(cut);
	assert_int_equal(sysroot_read(t->r, t->a, "/etc/empty", 9, &v, &cut), 0);
	assert_int_equal(v.n, 0);
	assert_false(cut);
}

static void test_t8_huge_and_sparse(void **state)
{
	struct tree *t = *state;
	const char *line;

	put(t, "r/etc/sparse", "x");
	assert_int_equal(truncate(at(t, "r/etc/sparse"), (off_t)1 << 42), 0);
	put(t, "r/etc/exact", "0123456789");
	put(t, "r/etc/empty", "");
	both(t, t8);
	/* The line of a file without newlines ends somewhere. */
	assert_int_equal(sysroot_read_line(t->r, t->a, "/etc/sparse", &line), 0);
	assert_string_equal(line, "x");
}

static void t9(struct tree *t)
{
	struct fact f = { 0 };
	struct dirlist l;

	sysroot_fact(t->r, t->a, "/etc/closed/x", &f);
	assert_int_equal(f.state, FACT_DENIED);
	assert_string_equal(f.why, "EACCES");
	sysroot_fact(t->r, t->a, "/etc/unreadable", &f);
	assert_int_equal(f.state, FACT_DENIED);
	assert_int_equal(sysroot_list(t->r, t->a, "/etc/closed", 10, &l), -EACCES);
	assert_int_equal(l.n, 0);
}

static void test_t9_unreadable_is_denied(void **state)
{
	struct tree *t = *state;
	uid_t was = geteuid();

	dir(t, "r/etc/closed");
	put(t, "r/etc/closed/x", "x");
	put(t, "r/etc/unreadable", "x");
	chmod(at(t, "r/etc/closed"), 0);
	chmod(at(t, "r/etc/unreadable"), 0);
	chmod(t->top, 0755);
	if (was == 0)
		assert_int_equal(seteuid(65534), 0);
	both(t, t9);
	if (was == 0)
		assert_int_equal(seteuid(0), 0);
}

struct swapper {
	const char *path, *a, *b;
	volatile int stop;
};

static void *swap(void *p)
{
	struct swapper *s = p;

	while (!s->stop) {
		rename(s->a, s->path);
		if (symlink("../../secret", s->a) == 0)
			rename(s->a, s->path);
		unlink(s->a);
		if (link(s->b, s->a))
			sched_yield();
	}
	return NULL;
}

/* Whoever swaps the file for a link to the outside while it is opened never gets it read. */
static void test_t10_swapped(void **state)
{
	struct tree *t = *state;
	struct swapper s = { .path = at(t, "r/etc/swapped"),
			     .a = at(t, "r/etc/new"),
			     .b = at(t, "r/etc/good") };
	int good = 0, other = 0;
	pthread_t thread;

	put(t, "r/etc/good", "good");
	put(t, "r/etc/new", "good");
	assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
	for (int i = 0; i < 4000; i++) {
		char buf[16] = "";
		int fd;

		t->r->no_openat2 = i & 1;
		fd = sysroot_open_file(t->r, "/etc/swapped");
		if (fd < 0) {
			assert_true(fd == -ENOENT || fd == -ESTALE);
			other++;
			continue;
		}
		assert_int_equal(read(fd, buf, 15), 4);
		assert_string_equal(buf, "good");
		close(fd);
		good++;
	}
	s.stop = 1;
	pthread_join(thread, NULL);
	assert_true(good + other == 4000);
}

static void *grow(void *p)
{
	struct swapper *s = p;
	FILE *f = fopen(s->path, "a");

	while (f && !s->stop)
		fputs("0123456789abcdef0123456789abcdef", f);
	if (f)
		fclose(f);
	return NULL;
}

static void test_t11_growing(void **state)
{
	struct tree *t = *state;
	struct swapper s = { .path = at(t, "r/etc/growing") };
	pthread_t thread;
	struct rlimit lim = { .rlim_cur = 64 << 20, .rlim_max = RLIM_INFINITY };
	bool cut = false;
	struct view v;

	put(t, "r/etc/growing", "x");
	setrlimit(RLIMIT_FSIZE, &lim);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(pthread_create(&thread, NULL, grow, &s), 0);
	/* On a busy machine the other thread may have to wait for its turn. */
	for (int i = 0; i < 20000 && !cut; i++) {
		assert_int_equal(sysroot_read(t->r, t->a, "/etc/growing", 65536, &v, &cut), 0);
		assert_true(v.n <= 65536);
		if (i >= 1000)
			usleep(500);
	}
	s.stop = 1;
	pthread_join(thread, NULL);
	assert_true(cut);
}

static void t16(struct tree *t)
{
	struct dirlist l;

	assert_int_equal(sysroot_list(t->r, t->a, "/many", 100, &l), 0);
	assert_int_equal(l.n, 100);
	assert_true(l.cut);
	for (size_t i = 1; i < l.n; i++)
		assert_true(strcmp(l.names[i - 1], l.names[i]) < 0);
	assert_int_equal(sysroot_list(t->r, t->a, "/etc", 1, &l), 0);
	assert_int_equal(l.n, 1);
	assert_false(l.cut);
	assert_string_equal(l.names[0], "name");
	assert_int_equal(sysroot_list(t->r, t->a, "/usr/lib", 1, &l), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(sysroot_list(t->r, t->a, "/etc/name", 1, &l), -ENOTDIR);
	assert_int_equal(sysroot_list(t->r, t->a, "/none", 1, &l), -ENOENT);
}

static void test_t16_many_entries(void **state)
{
	struct tree *t = *state;

	dir(t, "r/many");
	for (int i = 0; i < 3000; i++)
		put(t, arena_printf(t->a, "r/many/f%d", i), "");
	both(t, t16);
}

static void deep(struct tree *t)
{
	char path[8192];
	const char *s;

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[300] = '\0';
	EXPECT_ERR(path, ENAMETOOLONG);
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i & 1 ? '.' : '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(rd(t, path, &s), -ENAMETOOLONG);
}

static void test_names_too_long(void **state)
{
	both(*state, deep);
}

/* No descriptor is left behind, whatever failed. */
static void test_no_leak(void **state)
{
	struct tree *t = *state;
	int before = dup(0), after;
	const char *s;

	close(before);
	ln(t, "x/../name", "r/etc/odd");
	for (int i = 0; i < 50; i++) {
		EXPECT_ERR("/etc/odd", ENOENT);
		EXPECT_ERR("/usr/lib/none/x", ENOENT);
		EXPECT_ERR("/usr/lib", EINVAL);
		assert_int_equal(sysroot_realpath(t->r, t->a, "/usr/lib", &s), 0);
		t->r->no_openat2 = !t->r->no_openat2;
	}
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

static void test_paths(void **state)
{
	struct tree *t = *state;

	assert_string_equal(path_join(t->a, "/a", "b"), "/a/b");
	assert_string_equal(path_join(t->a, "/a/", "/b"), "/a/b");
	assert_string_equal(path_join(t->a, "/", "b"), "/b");
	assert_string_equal(path_base("/a/b"), "b");
	assert_string_equal(path_base("b"), "b");
	assert_string_equal(path_dir(t->a, "/a/b"), "/a");
	assert_string_equal(path_dir(t->a, "/a"), "/");
	assert_string_equal(path_dir(t->a, "a"), ".");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_plain),
		T(test_open_errors),
		T(test_t1_absolute_link),
		T(test_t2_link_out),
		T(test_t3_link_loop),
		T(test_t4_dangling),
		T(test_t5_magic_link),
		T(test_t12_t5_mount_boundary),
		T(test_t6_fifo),
		T(test_t7_device_and_socket),
		T(test_t8_huge_and_sparse),
		T(test_t9_unreadable_is_denied),
		T(test_t10_swapped),
		T(test_t11_growing),
		T(test_t16_many_entries),
		T(test_names_too_long),
		T(test_no_leak),
		T(test_paths),
	};

	return cmocka_run_group_tests_name("sysroot", tests, NULL, NULL);
}
