/* SPDX-License-Identifier: Apache-2.0 */
/* The driver probe against stand-ins for libcuda and NVML: every way in which they can fail (V1 to
 * V12). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "probe/driver.h"

struct machine {
	struct arena *a;
	struct sysroot root;
	struct snapshot s;
	struct probe_ctx p;
	char dir[64];
	long ms; /* that the end of the probe took */
};

static const char *standin(struct arena *a, const char *name)
{
	const char *dir = getenv("CUVET_STANDIN");

	return arena_printf(a, "%s/%s", dir ? dir : "build/standin", name);
}

/* A live machine with an empty tree, so that nothing of the present one takes part. */
static void machine_init(struct machine *m, const char *script)
{
	memset(m, 0, sizeof(*m));
	m->a = arena_new(NULL);
	strcpy(m->dir, "/tmp/cuvet-driver-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	m->root = (struct sysroot){ .fd = open(m->dir, O_PATH | O_DIRECTORY),
				    .live = true,
				    .dir = "/" };
	m->p = (struct probe_ctx){ .a = m->a, .root = &m->root, .s = &m->s };
	fact_set(&m->s.driver.libcuda.path, standin(m->a, "libcuda.so"), "test");
	fact_set(&m->s.driver.libnvml.path, standin(m->a, "libnvidia-ml.so"), "test");
	setenv("CUVET_STANDIN_SCRIPT", script, 1);
}

static void machine_run(struct machine *m, const char *deadline_ms)
{
	long before = clock_ms();

	setenv("CUVET_DRIVER_TIMEOUT_MS", deadline_ms, 1);
	probe_driver_start.run(&m->p);
	probe_driver_end.run(&m->p);
	m->ms = clock_ms() - before;
}

static void machine_done(struct machine *m)
{
	close(m->root.fd);
	rmdir(m->dir);
	arena_free(m->a);
}

static void add_node(struct machine *m, const char *name)
{
	struct node *n = ARENA_APPEND(m->a, m->s.nodes, m->s.n_nodes);

	fact_set(&n->name, name, "test");
	fact_set(&n->open, "ok", "test");
}

/* What the other probes say of a machine on which all is well; `gpus` of them. */
static void make_healthy(struct machine *m, int gpus)
{
	struct driver *d = &m->s.driver;
	struct gpu *g;
	int i;

	fact_set(&m->s.host.system, "linux", "test");
	fact_set(&m->s.container.kind, "docker", "test"); /* which alone is no doubt */
	fact_set(&d->version, "550.90.07", "test");
	fact_flag(&d->module_loaded, true, "test");
	fact_flag(&d->uvm_loaded, true, "test");
	fact_set(&d->libcuda.version, "550.90.07", "test");
	add_node(m, "nvidiactl");
	add_node(m, "nvidia-uvm");
	for (i = 0; i < gpus; i++) {
		add_node(m, arena_printf(m->a, "nvidia%d", i));
		g = ARENA_APPEND(m->a, m->s.gpus, m->s.n_gpus);
		fact_set(&g->address, arena_printf(m->a, "0000:%02x:00.0", i + 1), "test");
		fact_set(&g->kernel_driver, "nvidia", "test");
	}
}

static void assert_broken(const struct fact *f, const char *why)
{
	assert_int_equal(f->state, FACT_BROKEN);
	assert_non_null(f->why);
	if (!strstr(f->why, why))
		fail_msg("\"%s\" is not in \"%s\"", why, f->why);
}

static void assert_value(const struct fact *f, const char *value)
{
	assert_int_equal(f->state, FACT_KNOWN);
	assert_string_equal(f->value, value);
}

static void a_healthy_machine_is_read_through_both(void **state)
{
	struct machine m;
	struct gpu *g;

	(void)state;
	machine_init(
		&m, "version=13000;nvml.cuda=13000;nvml.driver=580.65.06;nvml.name0=NVIDIA H200;"
		    "nvml.cc0=9.0;nvml.pci0=00000000:1B:00.0;nvml.id0=0x233510de;nvml.mib0=143771");
	m.p.deep = true;
	machine_run(&m, "5000");
	assert_value(&m.s.driver.nvml_init, "0");
	assert_value(&m.s.driver.nvml_driver, "580.65.06");
	assert_value(&m.s.driver.version, "580.65.06");
	assert_value(&m.s.driver.cuda_init, "0");
	assert_non_null(strstr(m.s.driver.cuda_init.source, "libcuda.so"));
	assert_value(&m.s.driver.cuda_ceiling, "13.0");
	assert_value(&m.s.driver.cuda_devices, "1");
	assert_true(fact_yes(&m.s.parts.cuda) && fact_yes(&m.s.parts.nvml));
	/* CUDA speaks of 0000:01:00.0: two entries, each with what was said of it. */
	assert_int_equal(m.s.n_gpus, 2);
	g = &m.s.gpus[0];
	assert_value(&g->address, "0000:1b:00.0");
	assert_value(&g->pci_id, "10de:2335");
	assert_value(&g->name, "NVIDIA H200");
	assert_value(&g->compute_capability, "9.0");
	assert_value(&g->memory_mib, "143771");
	assert_value(&g->compute_mode, "Default");
	assert_value(&g->mig_mode, "N/A");
	assert_value(&g->nvml_index, "0");
	machine_done(&m);
}

static void sixteen_mixed_gpus_are_merged_by_address(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "devices=16;nvml.devices=16;nvml.cc15=6.1;nvml.name15=NVIDIA TITAN X");
	make_healthy(&m, 16);
	m.p.deep = true;
	machine_run(&m, "5000");
	assert_int_equal(m.s.n_gpus, 16);
	assert_value(&m.s.driver.cuda_devices, "16");
	assert_value(&m.s.driver.nvml_devices, "16");
	assert_value(&m.s.gpus[15].compute_capability, "6.1");
	assert_value(&m.s.gpus[15].name, "NVIDIA TITAN X");
	assert_value(&m.s.gpus[14].compute_capability, "8.9");
	machine_done(&m);
}

static void health_licence_and_place_of_each_gpu(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "devices=3;nvml.devices=3;nvml.ecc0=2;nvml.remap0=1;nvml.persistence0=1;"
			 "nvml.virtual0=1;nvml.remap1=2;nvml.virtual1=2;nvml.license1=0;"
			 "nvml.retired2=1;nvml.virtual2=9;nvml.fabric2=2;nvml.cc_feature=1;"
			 "nvml.cc_ready=0;nvml.ecc_on0=1;nvml.held0=0xc4;nvml.procs0=2;"
			 "nvml.procs1=40");
	make_healthy(&m, 3);
	machine_run(&m, "5000");
	assert_value(&m.s.gpus[0].ecc_errors, "2");
	assert_value(&m.s.gpus[0].row_remap, "pending");
	assert_value(&m.s.gpus[0].persistence, "yes");
	assert_value(&m.s.gpus[0].virtualization, "passthrough");
	assert_value(&m.s.gpus[0].fabric, "none");
	assert_value(&m.s.gpus[0].ecc_mode, "on");
	assert_int_equal(m.s.gpus[0].clocks_held.n, 3);
	assert_string_equal(m.s.gpus[0].clocks_held.values[0], "sw_power_cap");
	assert_string_equal(m.s.gpus[0].clocks_held.values[2], "hw_power_brake_slowdown");
	assert_value(&m.s.gpus[0].processes, "2");
	assert_int_equal(m.s.gpus[0].mps_server.state, FACT_NOT_ASKED);
	assert_value(&m.s.gpus[1].processes, "40"); /* more than there is room for */
	assert_value(&m.s.gpus[1].ecc_mode, "off");
	assert_string_equal(m.s.gpus[1].clocks_held.values[0], "gpu_idle");
	/* Rows or pages: who has rows is not asked for pages, and who is no virtual GPU not for a
	 * licence. */
	assert_int_equal(m.s.gpus[0].retired_pending.state, FACT_NOT_ASKED);
	assert_int_equal(m.s.gpus[0].license.state, FACT_NOT_ASKED);
	assert_value(&m.s.gpus[1].row_remap, "failed");
	assert_value(&m.s.gpus[1].virtualization, "vgpu");
	assert_value(&m.s.gpus[1].license, "unlicensed");
	assert_int_equal(m.s.gpus[1].ecc_errors.state, FACT_NOT_ASKED);
	assert_value(&m.s.gpus[2].retired_pending, "yes");
	assert_value(&m.s.gpus[2].fabric, "in-progress");
	assert_int_equal(m.s.gpus[2].virtualization.state, FACT_NOT_ASKED);
	assert_value(&m.s.driver.conf_compute, "on");
	assert_value(&m.s.driver.conf_ready, "no");
	machine_done(&m);
}

static void mig_devices_are_listed_and_modes_named(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "nvml.mig0=1;nvml.migs0=2;nvml.mode0=2;nvml.devices=2");
	machine_run(&m, "5000");
	assert_value(&m.s.gpus[0].mig_mode, "enabled");
	assert_int_equal(m.s.gpus[0].mig_devices.n, 2);
	assert_string_equal(m.s.gpus[0].mig_devices.values[1], "MIG-0-1");
	assert_value(&m.s.gpus[0].compute_mode, "Prohibited");
	assert_value(&m.s.gpus[1].mig_mode, "N/A");
	assert_int_equal(m.s.gpus[1].mig_devices.state, FACT_NOT_ASKED);
	machine_done(&m);
}

static void a_lost_gpu_is_the_one_that_nobody_else_claims(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "nvml.devices=2;nvml.lost0=15;nvml.pci1=00000000:02:00.0");
	make_healthy(&m, 2);
	machine_run(&m, "5000");
	assert_int_equal(m.s.n_gpus, 2);
	assert_value(&m.s.gpus[0].nvml_error, "15");
	assert_value(&m.s.gpus[0].nvml_index, "0");
	assert_int_equal(m.s.gpus[1].nvml_error.state, FACT_NOT_ASKED);
	machine_done(&m);
}

static void V1_no_library_is_absence(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "");
	fact_set(&m.s.driver.libcuda.path, "/nonexistent/libcuda.so.1", "test");
	fact_set(&m.s.driver.libnvml.path, "/nonexistent/libnvidia-ml.so.1", "test");
	machine_run(&m, "5000");
	assert_int_equal(m.s.driver.cuda_init.state, FACT_ABSENT);
	assert_int_equal(m.s.driver.nvml_init.state, FACT_ABSENT);
	assert_true(fact_yes(&m.s.parts.cuda));
	machine_done(&m);
}

static void V2_a_stub_says_that_it_is_one(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "cuInit=34;cuDriverGetVersion=34");
	machine_run(&m, "5000");
	assert_value(&m.s.driver.cuda_init, "34");
	assert_int_equal(m.s.driver.cuda_devices.state, FACT_NOT_ASKED);
	machine_done(&m);
}

static void V3_later_symbols_may_lack_needed_ones_not(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "");
	fact_set(&m.s.driver.libcuda.path, standin(m.a, "libcuda-old.so"), "test");
	machine_run(&m, "5000");
	assert_value(&m.s.driver.cuda_init, "0");
	assert_value(&m.s.driver.cuda_devices, "1");
	machine_done(&m);
	machine_init(&m, "");
	fact_set(&m.s.driver.libcuda.path, standin(m.a, "libcuda-lacking.so"), "test");
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.cuda_init, "cuDeviceGetCount");
	machine_done(&m);
}

/* A copy of the stand-in with one byte of its header changed, or cut. */
static void damaged_copy(struct machine *m, const char *name, long offset, char value, size_t limit)
{
	const char *to = arena_printf(m->a, "%s/%s", m->dir, name);
	static char buf[1 << 20];
	FILE *f = fopen(standin(m->a, "libcuda.so"), "rb");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	buf[offset] = value;
	f = fopen(to, "wb");
	assert_non_null(f);
	n = n < limit ? n : limit;
	assert_int_equal(fwrite(buf, 1, n, f), n);
	fclose(f);
	fact_set(&m->s.driver.libcuda.path, to, "test");
}

static void V4_another_class_or_a_torn_file_is_broken(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "");
	damaged_copy(&m, "x.so", 4, 1, 1 << 20);
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.cuda_init, "ELFCLASS32");
	unlink(m.s.driver.libcuda.path.value);
	machine_done(&m);
	machine_init(&m, "");
	damaged_copy(&m, "x.so", 4, 2, 40);
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.cuda_init, "x.so");
	unlink(m.s.driver.libcuda.path.value);
	machine_done(&m);
}

static void V5_a_constructor_that_crashes_or_hangs(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "at=load;behave=segv;nvml.at=load;nvml.behave=loop");
	machine_run(&m, "200");
	assert_broken(&m.s.driver.cuda_init, "SIGSEGV inside dlopen");
	assert_broken(&m.s.driver.nvml_init, "hung: no answer within 200 ms from dlopen");
	assert_true(m.ms < 700);
	machine_done(&m);
}

static void V6_every_code_is_passed_on(void **state)
{
	static const int cuda[] = { 3, 34, 46, 100, 101, 304, 800, 801, 802, 803, 804, 805, 999 };
	static const int nvml[] = { 4, 9, 12, 15, 17, 18, 999 };
	struct machine m;
	char script[64], text[16];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cuda); i++) {
		int code = nvml[i % ARRAY_LEN(nvml)];

		snprintf(script, sizeof(script), "cuInit=%d;nvml.init=%d", cuda[i], code);
		machine_init(&m, script);
		machine_run(&m, "5000");
		snprintf(text, sizeof(text), "%d", cuda[i]);
		assert_value(&m.s.driver.cuda_init, text);
		snprintf(text, sizeof(text), "%d", code);
		assert_value(&m.s.driver.nvml_init, text);
		assert_int_equal(m.s.n_gpus, 0);
		machine_done(&m);
	}
}

static void V7_senseless_answers_are_broken_facts(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "behave=garbage;nvml.behave=garbage");
	machine_run(&m, "5000");
	assert_value(&m.s.driver.cuda_init, "0");
	assert_broken(&m.s.driver.cuda_devices, "-1 is no number");
	assert_broken(&m.s.driver.nvml_devices, "4294967295 is no number");
	assert_broken(&m.s.driver.cuda_ceiling, "0 is no CUDA version");
	machine_done(&m);
	machine_init(&m, "devices=1000000;nvml.devices=1000000;cuInit=0");
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.cuda_devices, "1000000 is no number");
	assert_broken(&m.s.driver.nvml_devices, "1000000 is no number");
	machine_done(&m);
	machine_init(&m, "cuInit=-7;nvml.init=123456");
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.cuda_init, "-7 is no result of cuInit");
	assert_broken(&m.s.driver.nvml_init, "123456 is no result");
	machine_done(&m);
}

static void V7_texts_without_an_end_are_broken_facts(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "behave=nonul;nvml.behave=nonul;nvml.cc0=-3.44;nvml.mib0=0");
	make_healthy(&m, 1);
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.nvml_driver, "no readable text");
	assert_broken(&m.s.gpus[0].name, "no readable text");
	assert_broken(&m.s.gpus[0].uuid, "no readable text");
	assert_broken(&m.s.gpus[0].compute_capability, "no compute capability");
	assert_broken(&m.s.gpus[0].memory_mib, "no memory");
	assert_int_equal(m.s.n_gpus, 1);
	machine_done(&m);
	machine_init(&m, "nvml.driver=not a version");
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.nvml_driver, "is no driver version");
	machine_done(&m);
}

static void V8_a_crash_names_its_call(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "behave=segv;nvml.behave=abort");
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.cuda_init, "SIGSEGV inside cuInit");
	assert_broken(&m.s.driver.nvml_init, "SIGABRT inside nvmlInit_v2");
	machine_done(&m);
	/* What was answered before the crash counts. */
	machine_init(&m,
		     "at=cuDeviceGetName;behave=bus;nvml.at=nvmlDeviceGetName;nvml.behave=segv");
	machine_run(&m, "5000");
	assert_value(&m.s.driver.cuda_init, "0");
	assert_broken(&m.s.driver.cuda_devices, "SIGBUS inside cuDeviceGetName");
	assert_value(&m.s.driver.nvml_init, "0");
	assert_broken(&m.s.driver.nvml_devices, "SIGSEGV inside nvmlDeviceGetName");
	machine_done(&m);
}

static void V9_exit_inside_is_broken(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "behave=exit0;nvml.behave=exit0");
	machine_run(&m, "5000");
	assert_broken(&m.s.driver.cuda_init, "ended with status 0 inside cuInit");
	assert_broken(&m.s.driver.nvml_init, "ended with status 0 inside nvmlInit_v2");
	machine_done(&m);
}

static void V10_both_hang_and_the_deadline_holds_once(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "behave=loop;nvml.behave=loop");
	machine_run(&m, "1000");
	assert_broken(&m.s.driver.cuda_init, "hung: no answer within 1 s from cuInit");
	assert_broken(&m.s.driver.nvml_init, "hung: no answer within 1 s from nvmlInit_v2");
	assert_in_range(m.ms, 999, 1500);
	machine_done(&m);
}

static void V12_a_flood_changes_nothing(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "behave=flood;nvml.behave=junk");
	machine_run(&m, "5000");
	assert_value(&m.s.driver.cuda_init, "0");
	/* Bytes of its own in the answer's pipe: nvmlInit's code came another way, the rest is not
	 * believed. */
	assert_value(&m.s.driver.nvml_init, "0");
	assert_int_equal(m.s.driver.nvml_devices.state, FACT_BROKEN);
	assert_int_equal(m.s.n_gpus, 1); /* CUDA's */
	machine_done(&m);
}

static void V10_cuInit_is_not_called_where_all_is_well(void **state)
{
	struct machine m;

	(void)state;
	machine_init(&m, "at=load;behave=segv;version=13000");
	make_healthy(&m, 1);
	machine_run(&m, "5000");
	assert_int_equal(m.s.driver.cuda_init.state, FACT_NOT_ASKED);
	assert_non_null(strstr(m.s.driver.cuda_init.why, "check --deep"));
	assert_int_equal(m.s.parts.cuda.state, FACT_NOT_ASKED);
	assert_value(&m.s.driver.cuda_ceiling, "12.4");
	assert_true(m.ms < 300);
	machine_done(&m);
	machine_init(&m, "init_ms=300");
	make_healthy(&m, 1);
	m.p.deep = true;
	machine_run(&m, "5000");
	assert_value(&m.s.driver.cuda_init, "0");
	machine_done(&m);
}

typedef void spoil_fn(struct machine *m);

static void no_uvm(struct machine *m)
{
	fact_flag(&m->s.driver.uvm_loaded, false, "test");
}
static void old_library(struct machine *m)
{
	fact_set(&m->s.driver.libcuda.version, "535.54.03", "test");
}
static void library_without_version(struct machine *m)
{
	m->s.driver.libcuda.version = (struct fact){ .state = FACT_ABSENT };
}
static void old_module(struct machine *m)
{
	fact_set(&m->s.driver.version, "535.54.03", "test");
}
static void shut_node(struct machine *m)
{
	fact_set(&m->s.nodes[1].open, "EACCES", "test");
}
static void no_nodes(struct machine *m)
{
	m->s.n_nodes = 0;
}
static void on_wsl(struct machine *m)
{
	fact_set(&m->s.host.system, "wsl2", "test");
}
static void set_variable(struct machine *m, const char *name)
{
	struct var *v = ARENA_APPEND(m->a, m->s.environment, m->s.n_environment);

	fact_set(&v->name, name, "test");
	fact_set(&v->value, "0", "test");
}
static void with_visible_devices(struct machine *m)
{
	set_variable(m, "CUDA_VISIBLE_DEVICES");
}
static void with_mps(struct machine *m)
{
	set_variable(m, "CUDA_MPS_PIPE_DIRECTORY");
}
static void nothing(struct machine *m)
{
	(void)m;
}

static void every_doubt_calls_cuInit(void **state)
{
	static const struct {
		spoil_fn *spoil;
		const char *script;
	} rows[] = {
		{ no_uvm, "" },
		{ old_library, "" },
		{ old_module, "" },
		{ library_without_version, "" },
		{ shut_node, "" },
		{ no_nodes, "" },
		{ on_wsl, "" },
		{ with_visible_devices, "" },
		{ with_mps, "" },
		{ nothing, "nvml.init=18" },
		{ nothing, "nvml.devices=0" },
		{ nothing, "nvml.mig0=1" },
		{ nothing, "nvml.mode0=3" },
		{ nothing, "nvml.error0=15" },
		{ nothing, "nvml.fabric0=1" },
		{ nothing, "nvml.cc_feature=1" },
		{ nothing, "nvml.behave=segv" },
	};
	struct machine m;
	char script[96];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(script, sizeof(script), "init_ms=120;cuInit=999;%s", rows[i].script);
		machine_init(&m, script);
		make_healthy(&m, 1);
		rows[i].spoil(&m);
		machine_run(&m, "5000");
		if (!fact_is(&m.s.driver.cuda_init, "999"))
			fail_msg("row %zu did not call it", i);
		machine_done(&m);
	}
}

static void V13_what_is_preloaded_stays_out_of_the_children(void **state)
{
	struct machine m;

	(void)state;
	/* With it in the child, programs that the driver starts would load it. */
	setenv("LD_PRELOAD", "", 1);
	machine_init(&m, "behave=preload");
	machine_run(&m, "5000");
	unsetenv("LD_PRELOAD");
	assert_value(&m.s.driver.cuda_init, "0");
	machine_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_machine_is_read_through_both),
		cmocka_unit_test(sixteen_mixed_gpus_are_merged_by_address),
		cmocka_unit_test(health_licence_and_place_of_each_gpu),
		cmocka_unit_test(mig_devices_are_listed_and_modes_named),
		cmocka_unit_test(a_lost_gpu_is_the_one_that_nobody_else_claims),
		cmocka_unit_test(V1_no_library_is_absence),
		cmocka_unit_test(V2_a_stub_says_that_it_is_one),
		cmocka_unit_test(V3_later_symbols_may_lack_needed_ones_not),
		cmocka_unit_test(V4_another_class_or_a_torn_file_is_broken),
		cmocka_unit_test(V5_a_constructor_that_crashes_or_hangs),
		cmocka_unit_test(V6_every_code_is_passed_on),
		cmocka_unit_test(V7_senseless_answers_are_broken_facts),
		cmocka_unit_test(V7_texts_without_an_end_are_broken_facts),
		cmocka_unit_test(V8_a_crash_names_its_call),
		cmocka_unit_test(V9_exit_inside_is_broken),
		cmocka_unit_test(V10_both_hang_and_the_deadline_holds_once),
		cmocka_unit_test(V10_cuInit_is_not_called_where_all_is_well),
		cmocka_unit_test(V12_a_flood_changes_nothing),
		cmocka_unit_test(V13_what_is_preloaded_stays_out_of_the_children),
		cmocka_unit_test(every_doubt_calls_cuInit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
