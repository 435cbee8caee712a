/* SPDX-License-Identifier: Apache-2.0 */
/* PCI devices, kernel modules, device nodes, the driver's libraries, toolkits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "probe/kmod.h"
#include "probe/pci.h"
#include "probe/toolkit.h"
#include "tree.h"

#define FACTS	       "{\"schema\":\"cuvet.facts/1\"}"
#define IS(fact, want) assert_string_equal(fact_value(&(fact), "(not known)"), want)

/* -------- PCI */

static void pci(struct tree *t, const char *address, const char *vendor, const char *device,
		const char *class)
{
	const char *dev = arena_printf(t->a, "/sys/devices/pci0000:00/%s", address);

	tree_put(t, arena_printf(t->a, "%s/vendor", dev), vendor);
	tree_put(t, arena_printf(t->a, "%s/device", dev), device);
	tree_put(t, arena_printf(t->a, "%s/class", dev), class);
	tree_link(t, arena_printf(t->a, "../../../devices/pci0000:00/%s", address),
		  arena_printf(t->a, "/sys/bus/pci/devices/%s", address));
}

#define DEV		"/sys/devices/pci0000:00/0000:01:00.0"
#define REGION(s, e, f) "0x00000000" s " 0x00000000" e " 0x00000000" f "\n"
#define NONE		REGION("00000000", "00000000", "00000000")

static void test_pci(void **state)
{
	struct tree *t = *state;
	struct gpu *g;

	pci(t, "0000:01:00.1", "0x10de\n", "0x22ba\n", "0x040300\n"); /* its sound */
	pci(t, "0000:01:00.0", "0x10de\n", "0x2684\n", "0x030000\n");
	pci(t, "0000:02:00.0", "0x10de\n", "0x22a3\n", "0x068000\n"); /* NVSwitch */
	pci(t, "0000:00:02.0", "0x8086\n", "0xa780\n", "0x030000\n");
	pci(t, "0000:03:00.0", "0x1002\n", "0x744c\n", "0x030000\n");
	tree_put(t, DEV "/subsystem_vendor", "0x1043\n");
	tree_put(t, DEV "/subsystem_device", "0x88e2\n");
	tree_put(t, DEV "/power_state", "D0\n");
	tree_put(t, DEV "/power/runtime_status", "active\n");
	tree_put_bytes(t, DEV "/config", "\xde\x10\x84\x26", 4);
	tree_put(t, DEV "/resource", REGION("f6000000", "f6ffffff", "00040200") NONE NONE);
	tree_link(t, "../../../bus/pci/drivers/nouveau", DEV "/driver");
	tree_put(t, "/proc/driver/nvidia/gpus/0000:01:00.0/information",
		 "Model: \t\t NVIDIA GeForce RTX 4090\nGPU UUID: \t GPU-????????\n");

	tree_probe(t, &probe_pci);
	assert_int_equal(t->s->n_gpus, 0); /* an image has no bus */
	tree_facts(t, FACTS);
	tree_probe(t, &probe_pci);
	assert_true(fact_yes(&t->s->parts.pci));
	assert_int_equal(t->s->n_gpus, 2);
	g = &t->s->gpus[0];
	IS(g->address, "0000:01:00.0");
	IS(g->pci_id, "10de:2684");
	IS(g->subsystem, "1043:88e2");
	IS(g->pci_class, "030000");
	IS(g->kernel_driver, "nouveau");
	IS(g->config, "ok");
	IS(g->bars, "ok");
	IS(g->driver_info, "yes");
	IS(g->name, "NVIDIA GeForce RTX 4090");
	assert_int_equal(g->uuid.state, FACT_NOT_ASKED);
	IS(t->s->gpus[1].pci_id, "1002:744c");
	assert_int_equal(t->s->gpus[1].kernel_driver.state, FACT_ABSENT);
}

static void test_pci_odd(void **state)
{
	struct tree *t = *state;
	static char ff[256];
	struct gpu *g;

	memset(ff, 0xff, sizeof(ff));
	tree_facts(t, FACTS);
	tree_probe(t, &probe_pci);
	assert_int_equal(t->s->parts.pci.state, FACT_ABSENT);
	pci(t, "0000:01:00.0", "0x10de\n", "0x2684\n", "0x030200\n");
	tree_put_bytes(t, DEV "/config", ff, sizeof(ff));
	tree_put(t, DEV "/resource", NONE NONE NONE NONE NONE NONE);
	/* A pipe in the vendor's place (T6): the uevent says it too. */
	remove(arena_printf(t->a, "%s" DEV "/vendor", t->top));
	tree_fifo(t, DEV "/vendor");
	tree_put(t, DEV "/uevent", "PCI_CLASS=30000\nPCI_ID=10DE:2684\nPCI_SUBSYS_ID=1043:88E2\n");
	tree_probe(t, &probe_pci);
	assert_int_equal(t->s->n_gpus, 1);
	g = &t->s->gpus[0];
	IS(g->pci_id, "10de:2684");
	IS(g->subsystem, "1043:88e2");
	IS(g->config, "all-ff");
	IS(g->bars, "unassigned");
	/* A sleeping device is not woken by reading it. */
	tree_put(t, DEV "/power_state", "D3cold\n");
	tree_probe(t, &probe_pci);
	assert_int_equal(t->s->gpus[0].config.state, FACT_NOT_ASKED);
	assert_non_null(t->s->gpus[0].config.why);
}

static void test_bars(void **state)
{
	struct fact f;

	(void)state;
	/* H100: upper halves of 64-bit regions are empty, I/O ports may be unassigned. */
	pci_bars(&f,
		 VIEW(REGION("f6000000", "f6ffffff", "0014220c")
			      NONE REGION("00000000", "0000007f", "00040101")),
		 "x");
	IS(f, "ok");
	pci_bars(&f,
		 VIEW(REGION("f6000000", "f6ffffff", "0014220c")
			      REGION("00000000", "0fffffff", "0014220c")),
		 "x");
	IS(f, "unassigned");
	pci_bars(&f, VIEW("0x1 0x2\n"), "x");
	assert_int_equal(f.state, FACT_BROKEN);
	pci_bars(&f, VIEW(""), "x");
	assert_int_equal(f.state, FACT_BROKEN);
}

static void test_tegra(void **state)
{
	struct tree *t = *state;

	tree_facts(t, FACTS);
	tree_put_bytes(t, "/proc/device-tree/compatible", "nvidia,p3768-0000\0nvidia,tegra234", 33);
	tree_put_bytes(t, "/proc/device-tree/model", "NVIDIA Jetson Orin NX\0", 22);
	tree_probe(t, &probe_pci);
	assert_int_equal(t->s->n_gpus, 1);
	IS(t->s->gpus[0].name, "NVIDIA Jetson Orin NX");
	IS(t->s->gpus[0].compute_capability, "8.7");
}

/* -------- kernel modules */

static void test_nvrm(void **state)
{
	struct tree *t = *state;
	struct kmod_nvrm n;

	assert_true(kmod_nvrm(
		t->a,
		VIEW("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
		     "(nixbld@)  \nGCC version:  gcc version 15.3.0 (GCC) \n"),
		&n));
	assert_string_equal(n.version, "580.159.04");
	assert_string_equal(n.flavor, "open");
	assert_true(kmod_nvrm(
		t->a,
		VIEW("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Fri May 31 09:35:42 UTC"),
		&n));
	assert_string_equal(n.version, "535.183.01");
	assert_string_equal(n.flavor, "proprietary");
	assert_true(kmod_nvrm(t->a, VIEW("NVRM version:"), &n));
	assert_null(n.version);
	assert_false(kmod_nvrm(t->a, VIEW("GCC version: 12.2.0"), &n));
}

static void test_loaded(void **state)
{
	struct tree *t = *state;
	struct driver *d = &t->s->driver;

	tree_put(
		t, "/proc/modules",
		"nvidia_uvm 1 0 - Live 0x0 (OE)\nnvidia 1 2 nvidia_uvm, Live 0x0 (OE)\nnvidiafb 1\n"
		"nouveau 1 0 - Live 0x0\n");
	tree_put(t, "/sys/module/nvidia/version", "550.90.07\n");
	tree_put(t, "/sys/module/nvidia_uvm/version", "550.54.15\n");
	tree_probe(t, &probe_kmod);
	assert_int_equal(d->module_loaded.state, FACT_NOT_ASKED); /* a disk has nothing loaded */
	tree_facts(t, FACTS);
	tree_probe(t, &probe_kmod);
	assert_true(fact_yes(&d->module_loaded) && fact_yes(&d->uvm_loaded) &&
		    fact_yes(&d->nouveau_loaded));
	assert_true(fact_yes(&d->installed));
	IS(d->version, "550.90.07");
	assert_string_equal(d->version.source, "/sys/module/nvidia/version");
	assert_int_equal(d->n_modules, 2);
	IS(d->modules[0].name, "nvidia_uvm");
	IS(d->modules[0].version, "550.54.15");
	/* The proprietary one taints the kernel so. */
	tree_put(t, "/sys/module/nvidia/taint", "POE\n");
	tree_probe(t, &probe_kmod);
	IS(d->flavor, "proprietary");
	tree_put(t, "/proc/driver/nvidia/version",
		 "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07\n");
	tree_probe(t, &probe_kmod);
	IS(d->flavor, "open");
}

static void test_not_loaded(void **state)
{
	struct tree *t = *state;
	struct driver *d = &t->s->driver;

	tree_facts(t, FACTS);
	tree_fifo(t, "/proc/modules");
	tree_probe(t, &probe_kmod);
	assert_int_equal(t->s->parts.kernel.state, FACT_BROKEN);
	assert_int_equal(d->module_loaded.state, FACT_BROKEN);
	remove(arena_printf(t->a, "%s/proc/modules", t->top));
	tree_put(t, "/proc/modules", "e1000e 1 0 - Live 0x0\n");
	tree_probe(t, &probe_kmod);
	assert_true(fact_no(&d->module_loaded) && fact_no(&d->uvm_loaded) &&
		    fact_no(&d->installed));
	assert_int_equal(d->version.state, FACT_ABSENT);
}

static void test_modules_on_disk(void **state)
{
	struct tree *t = *state;
	struct driver *d = &t->s->driver;

	tree_put(t, "/usr/lib/modules/6.1/updates/dkms/nvidia.ko", "no ELF");
	tree_put(t, "/usr/lib/modules/6.1/updates/dkms/nvidia-uvm.ko.zst", "");
	tree_put(t, "/usr/lib/modules/6.1/updates/dkms/other.ko", "");
	tree_put(t, "/usr/lib/modules/6.1/updates/nvidia.ko.txt", "");
	tree_put(t, "/usr/lib/modules/6.2/kernel/nvidia-550/nvidia.ko.xz", "");
	tree_put(t, "/usr/lib/modules/6.2/kernel/fs/nvidia.ko", ""); /* not where drivers are put */
	tree_link(t, "usr/lib", "/lib");
	tree_link(t, "..", "/usr/lib/modules/6.1/updates/up");
	tree_probe(t, &probe_kmod);
	assert_true(d->n_modules >= 3);
	IS(d->modules[0].name, "nvidia-uvm");
	IS(d->modules[0].kernel, "6.1");
	assert_int_equal(d->modules[0].version.state, FACT_NOT_ASKED);
	assert_string_equal(d->modules[0].version.why, "packed (zst)");
	IS(d->modules[1].path, "/lib/modules/6.1/updates/dkms/nvidia.ko");
	assert_int_equal(d->modules[1].version.state, FACT_BROKEN);
	IS(d->modules[d->n_modules - 1].kernel, "6.2");
	IS(d->modules[d->n_modules - 1].name, "nvidia");
	assert_true(fact_yes(&d->installed));
	assert_string_equal(
		kmod_modinfo(t->a, (struct view){ .p = "a=b\0\0version=1.2\0versionx=3", .n = 28 },
			     "version"),
		"1.2");
}

/* T3, T16: folders that lead into each other end soon. */
static void test_modules_link_bomb(void **state)
{
	struct tree *t = *state;

	tree_dir(t, "/lib/modules/6.1/extra");
	for (int i = 0; i < 200; i++)
		tree_link(t, ".", arena_printf(t->a, "/lib/modules/6.1/extra/d%d", i));
	alarm(20);
	tree_probe(t, &probe_kmod);
	alarm(0);
	assert_true(fact_no(&t->s->driver.installed));
}

/* -------- nodes */

static void test_nodes(void **state)
{
	struct tree *t = *state;
	static const char *const want[] = { "ok", "EACCES", "ok", "EPERM", "ENODEV" };
	static const char *const gids[] = { "1000", "44" };

	tree_probe(t, &probe_nodes);
	assert_int_equal(t->s->n_nodes, 0);
	tree_facts(
		t,
		"{\"dev\":{\"a\":{\"type\":\"c\",\"mode\":\"0666\",\"uid\":0,\"gid\":0,\"major\":195,\"minor\":0},"
		"\"b\":{\"type\":\"c\",\"mode\":\"0660\",\"uid\":0,\"gid\":0},"
		"\"c\":{\"type\":\"c\",\"mode\":\"0660\",\"uid\":0,\"gid\":44},"
		"\"d\":{\"type\":\"c\",\"mode\":\"0666\",\"uid\":0,\"gid\":0,\"open\":\"EPERM\"},"
		"\"e\":{\"type\":\"f\",\"mode\":\"0666\",\"uid\":0,\"gid\":0},"
		"\"f\":{\"type\":\"c\",\"mode\":\"rw\",\"uid\":0,\"gid\":0},\"g\":1}}");
	fact_set(&t->s->host.euid, "1000", "x");
	fact_list_set(&t->s->host.gids, (const char **)(uintptr_t)gids, 2, "x");
	tree_probe(t, &probe_nodes);
	assert_int_equal(t->s->n_nodes, 6);
	for (size_t i = 0; i < 5; i++)
		IS(t->s->nodes[i].open, want[i]);
	assert_int_equal(t->s->nodes[5].open.state, FACT_BROKEN);
	IS(t->s->nodes[0].major, "195");
	fact_set(&t->s->host.euid, "0", "x");
	tree_probe(t, &probe_nodes);
	IS(t->s->nodes[1].open, "ok");
}

/* -------- libraries */

static void test_userlib(void **state)
{
	struct tree *t = *state;
	struct library *l = &t->s->driver.libcuda;

	fact_set(&t->s->host.arch, "x86_64", "x");
	tree_probe(t, &probe_userlib);
	assert_int_equal(l->path.state, FACT_ABSENT);
	assert_null(l->path.why);

	tree_library(t, "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so.1");
	tree_probe(t, &probe_userlib);
	assert_int_equal(l->path.state, FACT_ABSENT);
	assert_string_equal(l->path.why,
			    "only in /usr/lib/wsl/lib, which the loader does not search");

	tree_library(t, "/usr/lib64/libcuda.so.550.90.07", "libcuda.so.1");
	tree_library(t, "/usr/lib64/libcuda.so.535.161.07", "libcuda.so.1");
	tree_link(t, "libcuda.so.550.90.07", "/usr/lib64/libcuda.so.1");
	tree_library(t, "/usr/local/cuda/lib64/stubs/libcuda.so.1", "libcuda.so.1");
	tree_probe(t, &probe_userlib);
	IS(l->path, "/usr/lib64/libcuda.so.1");
	IS(l->real, "/usr/lib64/libcuda.so.550.90.07");
	IS(l->version, "550.90.07");
	IS(l->via, "default");
	IS(l->soname, "libcuda.so.1");
	assert_int_equal(l->shadowed.n, 1);
	assert_string_equal(l->shadowed.values[0], "/usr/lib64/libcuda.so.535.161.07");

	tree_env(t, "LD_LIBRARY_PATH", "/usr/local/cuda/lib64/stubs");
	tree_probe(t, &probe_userlib);
	IS(l->path, "/usr/local/cuda/lib64/stubs/libcuda.so.1");
	IS(l->via, "LD_LIBRARY_PATH");
	assert_int_equal(l->version.state, FACT_ABSENT);
	assert_true(fact_list_has(&l->shadowed, "/usr/lib64/libcuda.so.1"));
}

/* T4, T3, T9 */
static void test_userlib_broken(void **state)
{
	struct tree *t = *state;
	struct library *l = &t->s->driver.libcuda;
	uid_t was = geteuid();

	tree_link(t, "libcuda.so.535.161.07", "/usr/lib64/libcuda.so.1");
	tree_probe(t, &probe_userlib);
	assert_int_equal(l->path.state, FACT_BROKEN);
	assert_string_equal(l->path.why, "dangling link to libcuda.so.535.161.07");
	assert_string_equal(l->path.source, "/usr/lib64/libcuda.so.1");
	/* The loader goes on, and so does the search. */
	tree_library(t, "/usr/lib/libcuda.so.1", "libcuda.so.1");
	tree_probe(t, &probe_userlib);
	IS(l->path, "/usr/lib/libcuda.so.1");

	chmod(arena_printf(t->a, "%s/usr/lib/libcuda.so.1", t->top), 0);
	remove(arena_printf(t->a, "%s/usr/lib64/libcuda.so.1", t->top));
	chmod(t->top, 0755);
	if (was == 0)
		assert_int_equal(seteuid(65534), 0);
	tree_probe(t, &probe_userlib);
	if (was == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(l->path.state, FACT_DENIED);
}

/* -------- toolkits */

static void test_toolkits(void **state)
{
	struct tree *t = *state;
	struct toolkit *k;

	tree_put(t, "/usr/local/cuda-12.4/version.json",
		 "{\"cuda\":{\"name\":\"CUDA SDK\",\"version\":\"12.4.127\"}}");
	tree_put(t, "/usr/local/cuda-12.4/bin/nvcc", "");
	tree_put(t, "/usr/local/cuda-10.2/version.txt", "CUDA Version 10.2.89\n");
	tree_put(t, "/usr/local/cuda-11.8/targets/x86_64-linux/lib/libcudart.so.11.8.89", "");
	tree_put(t, "/usr/local/cuda-9.9/nvvm/x", "");
	tree_dir(t, "/usr/local/cuda-8.0");
	tree_link(t, "/etc/alternatives/cuda", "/usr/local/cuda");
	tree_link(t, "/usr/local/cuda-12.4", "/etc/alternatives/cuda");
	tree_env(t, "CUDA_HOME", ":/usr/local/cuda-12.4");
	tree_env(t, "CUDA_PATH", "/usr/local/cuda");
	tree_env(t, "PATH", "relative:/none:/usr/local/cuda/bin");
	tree_probe(t, &probe_toolkit);
	assert_int_equal(t->s->n_toolkits, 4);
	k = t->s->toolkits;
	IS(k[0].path, "/usr/local/cuda-12.4");
	IS(k[0].version, "12.4.127");
	IS(k[0].nvcc, "yes");
	IS(k[0].via,
	   "CUDA_PATH, PATH, /usr/local/cuda, /etc/alternatives/cuda, /usr/local/cuda-12.4");
	IS(k[1].version, "10.2.89");
	IS(k[1].nvcc, "no");
	IS(k[2].version, "11.8.89");
	IS(k[3].version, "9.9");
	assert_string_equal(k[3].version.source, "/usr/local/cuda-9.9");
}

/* By path alone: NVIDIA's HPC SDK, spack of both layouts, what modules lead to, alternatives. */
static void test_toolkits_of_clusters(void **state)
{
	static const char *const homes[] = {
		"/opt/cuda-a/cuda-12.1",
		"/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4",
		"/opt/spack/opt/spack/linux-zen3/cuda-12.6.3-abcdef",
		"/home/u/spack/opt/spack/linux-ubuntu22.04-zen2/gcc-11.4.0/cuda-11.8.0-abcdef",
		"/apps/cuda/12.2",
		"/opt/x/CUDA-12.8",
	};
	static const char *const versions[] = {
		"12.1", "12.4", "12.6.3", "11.8.0", "12.2", "12.8"
	};
	struct tree *t = *state;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(homes); i++)
		tree_put(t, arena_printf(t->a, "%s/bin/nvcc", homes[i]), "");
	tree_link(t, "/etc/alternatives/nvcc", "/usr/bin/nvcc");
	tree_link(t, "/opt/cuda-a/cuda-12.1/bin/nvcc", "/etc/alternatives/nvcc");
	tree_env(t, "HOME", "/home/u");
	tree_env(t, "EBROOTCUDA", "/opt/x/CUDA-12.8");
	tree_probe(t, &probe_toolkit);
	assert_int_equal(t->s->n_toolkits, ARRAY_LEN(homes));
	for (i = 0; i < ARRAY_LEN(homes); i++) {
		for (k = 0; k < t->s->n_toolkits; k++)
			if (fact_is(&t->s->toolkits[k].path, homes[i]))
				break;
		assert_true(k < t->s->n_toolkits);
		if (i == 0)
			IS(t->s->toolkits[k].via, "/etc/alternatives/nvcc");
		IS(t->s->toolkits[k].version, versions[i]);
	}
}

static void test_toolkit_of_debian(void **state)
{
	struct tree *t = *state;

	tree_put(t, "/usr/bin/nvcc", "#!/bin/sh");
	tree_put(t, "/usr/lib/nvidia-cuda-toolkit/bin/nvcc", "");
	tree_put(t, "/usr/lib/cuda/version.txt", "CUDA Version 11.5.119\n");
	tree_env(t, "PATH", "/usr/bin");
	tree_probe(t, &probe_toolkit);
	assert_int_equal(t->s->n_toolkits, 1);
	IS(t->s->toolkits[0].path, "/usr/lib/nvidia-cuda-toolkit");
	IS(t->s->toolkits[0].version, "11.5.119");
	IS(t->s->toolkits[0].nvcc, "yes");
}

/* T15 */
static void test_t15_version_json(void **state)
{
	struct tree *t = *state;

	tree_put(t, "/usr/local/cuda-12.4/version.json", "{\"cuda\":");
	tree_probe(t, &probe_toolkit);
	assert_int_equal(t->s->n_toolkits, 1);
	/* The folder's name still says it. */
	IS(t->s->toolkits[0].version, "12.4");
	assert_null(
		toolkit_version_json(t->a, VIEW("{\"cuda\":{\"version\":\"\\u001b[31m\"}}"), "x"));
	assert_null(toolkit_version_json(t->a, VIEW("[]"), "x"));
	assert_null(toolkit_version_txt(t->a, VIEW("CUDA Version x\n")));
	assert_null(toolkit_version_txt(t->a, VIEW("CUDA Version \n")));
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, tree_setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_pci),
		T(test_pci_odd),
		cmocka_unit_test(test_bars),
		T(test_tegra),
		T(test_nvrm),
		T(test_loaded),
		T(test_not_loaded),
		T(test_modules_on_disk),
		T(test_modules_link_bomb),
		T(test_nodes),
		T(test_userlib),
		T(test_userlib_broken),
		T(test_toolkits),
		T(test_toolkits_of_clusters),
		T(test_toolkit_of_debian),
		T(test_t15_version_json),
	};

	return cmocka_run_group_tests_name("probe_driver", tests, NULL, NULL);
}
