/* SPDX-License-Identifier: Apache-2.0 */
/* The system layer's probes: logs, modprobe, packages, runtimes, CDI, bridges, mounts. Good text
 * and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "probe/boundary.h"
#include "probe/klog.h"
#include "probe/modprobe.h"
#include "probe/os_packages.h"
#include "probe/pci_topology.h"
#include "probe/runtime.h"
#include "sys/logs.h"
#include "tree.h"

#define FACTS "{\"schema\":\"cuvet.facts/1\"}"
#define IS(fact, want) assert_string_equal(fact_value(&(fact), "(not known)"), want)

static const char *block(const char *line, const char **how)
{
	*how = "";
	return modprobe_block(view_of(line), how);
}

static void modprobe_lines(void **state)
{
	const char *how;

	(void)state;
	assert_string_equal(block("blacklist nvidia", &how), "nvidia");
	assert_string_equal(how, "blacklist");
	assert_string_equal(block("  alias  nvidia\toff ", &how), "nvidia");
	assert_string_equal(how, "alias-off");
	assert_string_equal(block("install nvidia /usr/bin/false", &how), "nvidia");
	assert_string_equal(how, "install");
	assert_string_equal(block("blacklist nvidia_uvm", &how), "nvidia_uvm");
	assert_null(block("install nvidia modprobe -i nvidia-current $CMDLINE_OPTS", &how));
	assert_null(block("alias nvidia nvidia-current", &how));
	assert_null(block("#blacklist nvidia", &how));
	assert_null(block("blacklist nvidiafb", &how));
	assert_null(block("blacklist", &how));
	assert_null(block("", &how));
}

static void log_lines(void **state)
{
	struct tree *t = *state;
	struct snapshot *s = t->s;
	const char *text =
		"Nov 20 11:00:01 box kernel: NVRM: Xid (PCI:0000:0B:00): 79, GPU has fallen off\n"
		"<6>[   12.345] NVRM: Xid (PCI:0000:0b:00 GPU-I:01): 48, pid=1, name=x, DBE\n"
		"[   13.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Non-fatal\n"
		"NVRM: Xid (PCI:0000:0b:00): 48, pid=2, name=y, DBE\n"
		"[    5.123456] box kernel: NVRM: Xid (PCI:0000:0b:00): 48, pid=3, DBE\n"
		"NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2c05)\n"
		"NVRM: installed in this system is not supported by the\n"
		"NVRM: NVIDIA 550.120 driver release.\n"
		"NVRM: Xid (PCI:0000:0b:00): many, pid=2\n"
		"NVRM: Xid (PCI:0000:0b:00): 45, pid=4, name=z, Ch 1 caused by previous Xid 48\n"
		"NVRM: Xid (PCI:0000:0b:00): 45, pid=4, name=z, caused by previous Xid 48, x\n"
		"NVRM: Xid (PCI:\n";

	klog_events(&t->p, view_of(text), KLOG_KERNEL, "log");
	assert_int_equal(s->n_log, 4);
	IS(s->log[0].xid, "79");
	IS(s->log[0].address, "0000:0b:00.0");
	IS(s->log[1].xid, "48");
	IS(s->log[1].count, "5");
	IS(s->log[2].id, "sxid");
	IS(s->log[3].id, "release-unsupported");
	IS(s->log[3].address, "0000:01:00.0");
	/* No host's name goes along. */
	assert_null(strstr(s->log[0].text.value, "box"));
}

static void a_log_begins_with_its_boot(void **state)
{
	struct tree *t = *state;

	klog_events(&t->p,
		    view_of("kernel: PM: suspend exit\nx kernel: Linux version 6.8\n"
			    "x kernel: NVRM: Xid (PCI:0000:01:00): 31, x\n"),
		    KLOG_KERNEL, "log");
	assert_int_equal(t->s->n_log, 1);
	IS(t->s->log[0].xid, "31");
	IS(t->s->log[0].count, "1");
}

/* T8, T16: as many events as one likes, lines without an end, bytes that are no text. */
static void hostile_logs(void **state)
{
	struct tree *t = *state;
	char *big = arena_alloc(t->a, 200000);
	size_t i, n = 0;

	for (i = 0; i < 3000; i++)
		n += (size_t)snprintf(big + n, 60, "NVRM: Xid (PCI:%04x:00:00): %zu, x\n",
				      (unsigned)i, i + 1);
	klog_events(&t->p, (struct view){ .p = big, .n = n }, KLOG_KERNEL, "log");
	assert_true(t->s->n_log <= 256);
	memset(big, '[', 200000);
	klog_events(&t->p, (struct view){ .p = big, .n = 200000 }, KLOG_KERNEL, "log");
	memset(big, 0, 200000);
	klog_events(&t->p, (struct view){ .p = big, .n = 200000 }, KLOG_SERVICE, "log");
}

static void the_end_of_a_log(void **state)
{
	struct tree *t = *state;
	struct view v;

	tree_put(t, "/var/log/kern.log", "first line\nsecond line\nthird\n");
	assert_int_equal(logs_tail(t->p.root, t->a, "/var/log/kern.log", 14, &v), 0);
	assert_true(view_is(v, "third\n"));
	assert_int_equal(logs_tail(t->p.root, t->a, "/var/log/kern.log", 1000, &v), 0);
	assert_true(view_starts(v, "first"));
	tree_put(t, "/var/log/empty", "");
	assert_int_equal(logs_tail(t->p.root, t->a, "/var/log/empty", 1000, &v), 0);
	assert_int_equal(v.n, 0);
	assert_true(logs_tail(t->p.root, t->a, "/nowhere", 10, &v) < 0);
	tree_fifo(t, "/var/log/fifo");
	assert_true(logs_tail(t->p.root, t->a, "/var/log/fifo", 10, &v) < 0);
}

static void toml(void **state)
{
	struct tree *t = *state;
	struct view text = view_of("top = 1\n[nvidia-container-cli]\n#no-cgroups = false\n"
				   "no-cgroups=true # why\npath = \"a # b\"\n[ other ]\n"
				   "no-cgroups = false\nbroken\n= x\n[");

	assert_string_equal(runtime_toml(t->a, text, "", "top"), "1");
	assert_string_equal(runtime_toml(t->a, text, "nvidia-container-cli", "no-cgroups"), "true");
	assert_string_equal(runtime_toml(t->a, text, "nvidia-container-cli", "path"), "a # b");
	assert_string_equal(runtime_toml(t->a, text, "other", "no-cgroups"), "false");
	assert_null(runtime_toml(t->a, text, "other", "path"));
	assert_null(runtime_toml(t->a, text, "none", "top"));
}

static bool collect(void *ctx, const char *path)
{
	char *all = ctx;

	strcat(strcat(all, path), " ");
	return true;
}

static void cdi(void **state)
{
	struct tree *t = *state;
	const char *version;
	char all[4096] = "";

	cdi_scan(t->a,
		 view_of("mounts:\n- hostPath: /usr/lib/libnvidia-egl-wayland.so.1.1.13\n"
			 "- containerPath: /x\n  hostPath: '/usr/lib/libcuda.so.570.124.06'\n"
			 "- hostPath: relative\n- hostPath:\n"),
		 &version, collect, all);
	assert_string_equal(version, "570.124.06");
	assert_string_equal(all, "/usr/lib/libnvidia-egl-wayland.so.1.1.13 "
				 "/usr/lib/libcuda.so.570.124.06 ");
	all[0] = '\0';
	cdi_scan(t->a, view_of("{\"hostPath\":\"/a/b\",\"hostPath\" : \"/c\"}"), &version, collect,
		 all);
	assert_null(version);
	assert_string_equal(all, "/a/b /c ");
	cdi_scan(t->a, view_of("hostPath"), &version, collect, all);
}

static void dpkg(void **state)
{
	struct tree *t = *state;
	struct snapshot *s = t->s;

	os_packages_dpkg(
		&t->p,
		view_of("Package: nvidia-driver-550\nStatus: hold ok installed\n"
			"Version: 550.120-0ubuntu1\n\n"
			"Package: nvidia-dkms-550\nStatus: install ok half-configured\n"
			"Architecture: amd64\nVersion: 550.120-0ubuntu1\n\n"
			"Package: nvidia-utils-535\nStatus: deinstall ok config-files\n"
			"Version: 535.1\n\nPackage: bash\nStatus: install ok installed\n"
			"Version: 5\n\nPackage: x\n\nPackage: nvidia-smi\n"
			"Status: install ok installed\nVersion: 2\n\nVersion: 1\nPackage: nvidia-smi\n"),
		"status");
	assert_int_equal(s->n_os_packages, 3);
	IS(s->os_packages[2].name, "nvidia-smi");
	IS(s->os_packages[0].status, "held");
	IS(s->os_packages[1].status, "half-configured");
	IS(s->os_packages[1].version, "550.120-0ubuntu1");
}

static void bridges(void **state)
{
	unsigned char config[4096] = { 0 };
	struct view v = { .p = (const char *)config, .n = sizeof(config) };

	(void)state;
	assert_int_equal(pci_acs((struct view){ .p = v.p, .n = 64 }), -1);
	assert_int_equal(pci_acs(v), 0);
	/* An AER capability, then ACS with redirects on. */
	config[0x100] = 0x01;
	config[0x102] = 0x01;
	config[0x103] = 0x20;
	config[0x200] = 0x0d;
	config[0x202] = 0x01;
	config[0x206] = 0x1d;
	assert_int_equal(pci_acs(v), 1);
	config[0x206] = 0x01;
	assert_int_equal(pci_acs(v), 0);
	/* A ring ends. */
	config[0x200] = 0x02;
	config[0x202] = 0x01;
	config[0x203] = 0x10;
	assert_int_equal(pci_acs(v), 0);
}

static void mounts(void **state)
{
	struct tree *t = *state;
	struct container *c = &t->s->container;

	boundary_mounts(&t->p,
			view_of("651 640 259:2 /usr/lib/libcuda.so.510//deleted "
				"/usr/lib/libcuda.so.510 ro - ext4 /dev/x rw\n"
				"652 640 259:2 /usr/lib/libnvidia-ml.so.515 "
				"/usr/lib/libnvidia-ml.so.515 ro - ext4 /dev/x rw\n"
				"653 640 259:2 / / rw - overlay overlay rw\n653\n"),
			"mountinfo");
	assert_int_equal(c->mounted.n, 2);
	assert_int_equal(c->deleted.n, 1);
	assert_string_equal(c->deleted.values[0], "/usr/lib/libcuda.so.510");
}

static void a_disk_made_from_an_image_is_no_container(void **state)
{
	struct tree *t = *state;

	tree_facts(t, FACTS);
	tree_put(t, "/.dockerenv", "");
	tree_put(t, "/proc/self/mountinfo", "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n");
	tree_probe(t, &probe_container);
	IS(t->s->container.kind, "none");
	tree_put(t, "/proc/self/mountinfo",
		 "27 1 254:0 / / rw,relatime - overlay overlay rw,upperdir=/x/docker/overlay2/y\n");
	tree_probe(t, &probe_container);
	IS(t->s->container.kind, "docker");
	/* A layer of the device mapper, and one of the vfs driver. */
	tree_put(t, "/proc/self/mountinfo",
		 "27 1 254:0 / / rw,relatime - ext4 /dev/mapper/docker-254:1-2 rw\n");
	tree_probe(t, &probe_container);
	IS(t->s->container.kind, "docker");
	tree_put(t, "/proc/self/mountinfo",
		 "27 1 254:0 /var/lib/docker/vfs/dir/1 / rw - ext4 /dev/vda rw\n");
	tree_probe(t, &probe_container);
	IS(t->s->container.kind, "docker");
}

static void dkms(void **state)
{
	struct tree *t = *state;

	tree_facts(t, FACTS);
	tree_dir(t, "/var/lib/dkms/nvidia/550.90.07/6.8.0-45-generic/x86_64/module");
	tree_put(t, "/var/lib/dkms/nvidia/550.120/build/make.log",
		 "make: start\nnv.c:12: error: implicit declaration\nmore\n");
	tree_dir(t, "/var/lib/dkms/nvidia/535.183.01");
	tree_probe(t, &probe_dkms);
	assert_int_equal(t->s->driver.n_dkms, 3);
	IS(t->s->driver.dkms[0].state, "added");
	IS(t->s->driver.dkms[1].state, "failed");
	IS(t->s->driver.dkms[1].error, "nv.c:12: error: implicit declaration");
	IS(t->s->driver.dkms[2].state, "built");
	IS(t->s->driver.dkms[2].kernel, "6.8.0-45-generic");
}

/* T9: what may not be read is denied, never absent. */
static void test_t9_a_log_that_may_not_be_read(void **state)
{
	struct tree *t = *state;
	const char *path = arena_printf(t->a, "%s/var/log/kern.log", t->top);

	if (geteuid() == 0)
		skip();
	tree_facts(t, FACTS);
	tree_put(t, "/var/log/kern.log", "x\n");
	assert_int_equal(chmod(path, 0), 0);
	tree_probe(t, &probe_klog);
	assert_int_equal(t->s->parts.log.state, FACT_DENIED);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

/* The own group's rules, or those of the top where a container sees itself as the top; v2 has none
 * to read. */
static void rules_of_the_control_group(void **state)
{
	struct tree *t = *state;
	const struct fact_list *l = &t->s->container.device_rules;

	tree_facts(t, "{\"schema\":\"cuvet.facts/1\"}");
	tree_put(t, "/proc/self/cgroup", "0::/\n");
	tree_probe(t, &probe_boundary);
	assert_int_equal(l->state, FACT_NOT_ASKED);
	tree_put(t, "/proc/self/cgroup", "7:cpu,cpuacct:/x\n5:devices:/docker/01\n0::/\n");
	tree_put(t, "/sys/fs/cgroup/devices/devices.list", "c 1:3 rwm\n");
	tree_probe(t, &probe_boundary);
	assert_int_equal(l->n, 1);
	assert_string_equal(l->values[0], "c 1:3 rwm");
	tree_put(t, "/sys/fs/cgroup/devices/docker/01/devices.list", "c 195:* rwm\nb 8:* r\n");
	tree_probe(t, &probe_boundary);
	assert_int_equal(l->n, 2);
	assert_string_equal(l->values[0], "c 195:* rwm");
	assert_non_null(strstr(l->source, "/docker/01/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rules_of_the_control_group, tree_setup,
						tree_teardown),
		cmocka_unit_test(modprobe_lines),
		TEST(log_lines),
		TEST(a_log_begins_with_its_boot),
		TEST(hostile_logs),
		TEST(the_end_of_a_log),
		TEST(toml),
		TEST(cdi),
		TEST(dpkg),
		cmocka_unit_test(bridges),
		TEST(mounts),
		TEST(a_disk_made_from_an_image_is_no_container),
		TEST(dkms),
		TEST(test_t9_a_log_that_may_not_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
