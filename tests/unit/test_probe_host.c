/* SPDX-License-Identifier: Apache-2.0 */
/* Host, container, services: which facts come out of which files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/arena.h"
#include "probe/container.h"
#include "probe/host.h"
#include "tree.h"

#define FACTS "{\"schema\":\"cuvet.facts/1\"}"

static void kernel(struct tree *t, const char *release)
{
	fact_set(&t->s->host.kernel, release, "facts.json: uname");
}

#define IS(fact, want) assert_string_equal(fact_value(&(fact), "(not known)"), want)

static void test_os_release(void **state)
{
	struct tree *t = *state;
	struct host *h = &t->s->host;

	tree_put(
		t, "/usr/lib/os-release",
		"# comment\nNAME=\"x\"\nID=ubuntu\nVERSION_ID=\"22.04\"\r\nID_LIKE='debian of a kind'\n"
		"PRETTY_NAME=\"Ubuntu \\\"22.04\\\" LTS\"\nUBUNTU_ID=wrong\n");
	tree_link(t, "../usr/lib/os-release", "/etc/os-release");
	tree_probe(t, &probe_host);
	IS(h->os_id, "ubuntu");
	IS(h->os_version, "22.04");
	IS(h->os_like, "debian of a kind");
	IS(h->os_name, "Ubuntu \"22.04\" LTS");
	IS(h->system, "linux");
	assert_string_equal(h->os_id.source, "/etc/os-release");
}

/* T15, T3, T6: a damaged one is no crash; the second place counts when the first cannot be read. */
static void test_t15_os_release(void **state)
{
	struct tree *t = *state;
	struct host *h = &t->s->host;
	static char big[300000];

	tree_link(t, "os-release", "/etc/os-release");
	tree_probe(t, &probe_host);
	assert_int_equal(h->os_id.state, FACT_BROKEN);
	assert_string_equal(h->os_id.why, "ELOOP");

	tree_fifo(t, "/usr/lib/os-release");
	tree_probe(t, &probe_host);
	assert_int_equal(h->os_id.state, FACT_BROKEN);
	remove(arena_printf(t->a, "%s/usr/lib/os-release", t->top));

	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, "ID=\"", 4);
	tree_put(t, "/usr/lib/os-release", big);
	tree_probe(t, &probe_host);
	assert_true(strlen(h->os_id.value) <= 256);

	tree_put(t, "/usr/lib/os-release", "ID=\nVERSION_ID=\"\"\nPRETTY_NAME=\"open\n=\n\n");
	tree_probe(t, &probe_host);
	assert_int_equal(h->os_id.state, FACT_ABSENT);
	assert_int_equal(h->os_version.state, FACT_ABSENT);
	IS(h->os_name, "open");
}

static void test_glibc(void **state)
{
	struct tree *t = *state;
	struct host *h = &t->s->host;

	tree_probe(t, &probe_host);
	assert_int_equal(h->glibc.state, FACT_ABSENT);

	tree_put(t, "/var/lib/dpkg/status",
		 "Package: libc6-dev\nVersion: 9.9-1\n\nPackage: libc6\nStatus: ok\nVersion: "
		 "2.28-10+deb10u3\n\n");
	tree_probe(t, &probe_host);
	IS(h->glibc, "2.28");

	tree_put(t, "/lib64/ld-2.17.so", "");
	tree_link(t, "ld-2.17.so", "/lib64/ld-linux-x86-64.so.2");
	tree_probe(t, &probe_host);
	IS(h->glibc, "2.17");
	IS(h->arch, "x86_64");

	tree_put(t, "/usr/lib/x86_64-linux-gnu/libc-2.31.so", "");
	tree_link(t, "libc-2.31.so", "/usr/lib/x86_64-linux-gnu/libc.so.6");
	tree_probe(t, &probe_host);
	IS(h->glibc, "2.31");
	IS(h->libc, "glibc");
}

/* The banner, also where it lies across two pieces that are read. */
static void test_glibc_banner(void **state)
{
	struct tree *t = *state;
	static char big[65536 + 200];
	const char *banner =
		"GNU C Library (Debian GLIBC 2.36-9+deb12u8) stable release version 2.36.\n";
	size_t at;

	for (at = 65536 - 100; at < 65536 + 20; at += 20) {
		memset(big, 0, sizeof(big));
		memcpy(big + at, banner, strlen(banner));
		tree_put_bytes(t, "/lib64/libc.so.6", big, sizeof(big));
		t->s->host.glibc.state = FACT_NOT_ASKED;
		tree_probe(t, &probe_host);
		IS(t->s->host.glibc, "2.36");
	}
	assert_null(host_glibc_text(t->a, VIEW("GNU C Library (x) stable release version ")));
	assert_null(host_glibc_text(t->a, VIEW("GNU C Library (x")));
}

static void test_musl(void **state)
{
	struct tree *t = *state;

	tree_put(t, "/lib/ld-musl-x86_64.so.1", "");
	tree_probe(t, &probe_host);
	IS(t->s->host.libc, "musl");
	assert_int_equal(t->s->host.glibc.state, FACT_ABSENT);
}

static void test_wsl(void **state)
{
	struct tree *t = *state;

	assert_string_equal(host_system("4.4.0-19041-Microsoft"), "wsl1");
	assert_string_equal(host_system("5.15.153.1-microsoft-standard-WSL2"), "wsl2");
	assert_string_equal(host_system("6.8.0-45-generic"), "linux");
	tree_facts(t, FACTS);
	kernel(t, "6.6.36-own");
	tree_put(t, "/dev/dxg", "");
	tree_put(t, "/proc/sys/fs/binfmt_misc/WSLInterop", "enabled\n");
	tree_probe(t, &probe_host);
	IS(t->s->host.system, "wsl2");
}

static void test_secure_boot(void **state)
{
	static const char path[] =
		"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
	struct tree *t = *state;

	tree_put_bytes(t, path, "\6\0\0\0\1", 5);
	tree_put(t, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	tree_probe(t, &probe_host);
	assert_int_equal(t->s->host.secure_boot.state,
			 FACT_NOT_ASKED); /* a disk, not a running machine */
	tree_facts(t, FACTS);
	tree_probe(t, &probe_host);
	IS(t->s->host.secure_boot, "yes");
	IS(t->s->host.lockdown, "integrity");
	tree_put_bytes(t, path, "\6\0\0\0\0", 5);
	tree_put(t, "/sys/kernel/security/lockdown", "none [integrity");
	tree_probe(t, &probe_host);
	IS(t->s->host.secure_boot, "no");
	assert_int_equal(t->s->host.lockdown.state, FACT_BROKEN);
	tree_put_bytes(t, path, "\6\0\0", 3);
	tree_probe(t, &probe_host);
	assert_int_equal(t->s->host.secure_boot.state, FACT_BROKEN);
}

#define KIND(want)                               \
	do {                                     \
		tree_probe(t, &probe_container); \
		IS(t->s->container.kind, want);  \
	} while (0)

static void test_container_files(void **state)
{
	struct tree *t = *state;

	KIND("image");
	tree_facts(t, FACTS);
	KIND("none");
	tree_put(t, "/proc/self/cgroup", "0::/init.scope\n");
	tree_put(t, "/proc/self/mountinfo",
		 "1 0 0:5 / / rw shared:1 - overlay overlay rw,lowerdir=/run/live/rootfs\n");
	KIND("none"); /* a live medium */
	tree_put(t, "/proc/self/cgroup", "12:cpu:/docker/0123456789\n");
	KIND("docker");
	tree_put(t, "/proc/1/cgroup", "0::/kubepods.slice/kubepods-pod1\n");
	tree_put(t, "/proc/self/cgroup", "0::/\n");
	KIND("kubernetes");
	assert_string_equal(t->s->container.kind.source, "/proc/1/cgroup");
	tree_put(t, "/.dockerenv", "");
	KIND("docker");
	tree_put(t, "/run/.containerenv", "");
	KIND("podman");
	tree_env(t, "KUBERNETES_SERVICE_HOST", "10.0.0.1");
	KIND("kubernetes");
	tree_env(t, "APPTAINER_NAME", "x.sif");
	KIND("singularity");
}

static void test_container_mounts(void **state)
{
	struct tree *t = *state;
	struct container_mount m;
	int64_t n;

	tree_facts(t, FACTS);
	tree_put(
		t, "/proc/self/mountinfo",
		"no line\n640 478 0:71 / / rw master:190 - overlay overlay rw,upperdir=/var/lib/docker/overlay2/3f/diff\n"
		"647 642 0:78 / /dev/shm rw - tmpfs shm rw,size=65536k,inode64\n");
	KIND("docker");
	IS(t->s->host.shm_bytes, "67108864");
	assert_false(container_mount_line(VIEW("1 2 3 / /x rw"), &m));
	assert_false(container_size_option(VIEW("rw,size=99999999999999999999g"), &n));
	assert_false(container_size_option(VIEW("size=k"), &n));
	assert_true(container_size_option(VIEW("size=1g"), &n));
	assert_int_equal(n, 1 << 30);
	/* What the facts file says is not overwritten. */
	fact_set(&t->s->host.shm_bytes, "1", "facts.json: shm_bytes");
	KIND("docker");
	IS(t->s->host.shm_bytes, "1");
}

static void test_container_variable(void **state)
{
	struct tree *t = *state;

	tree_facts(t, FACTS);
	tree_env(t, "container", "lxc");
	KIND("lxc");
	IS(t->s->container.marker, "container=lxc");
}

static void test_services(void **state)
{
	struct tree *t = *state;

	tree_probe(t, &probe_services);
	assert_int_equal(t->s->n_services, 0);
	tree_facts(t, "{\"units\":{\"nvidia-fabricmanager\":\"failed\",\"odd\":3}}");
	tree_probe(t, &probe_services);
	assert_int_equal(t->s->n_services, 1);
	IS(t->s->services[0].name, "nvidia-fabricmanager");
	IS(t->s->services[0].state, "failed");
	assert_string_equal(t->s->services[0].state.source, "facts.json: units");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_os_release),
		T(test_t15_os_release),
		T(test_glibc),
		T(test_glibc_banner),
		T(test_musl),
		T(test_wsl),
		T(test_secure_boot),
		T(test_container_files),
		T(test_container_mounts),
		T(test_container_variable),
		T(test_services),
	};

	return cmocka_run_group_tests_name("probe_host", tests, NULL, NULL);
}
