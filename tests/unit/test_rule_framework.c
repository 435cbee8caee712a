/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about builds, environments, toolkits and requirements: each fires once and stays silent
 * once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "rule_world.h"

#define GPU(id, cc) "{'gpus':[{'pci_id':'10de:" id "','compute_capability':'" cc "'}]}"
#define DRIVER(v) "{'driver':{'version':'" v "'}}"
/* A torch that was found: torch's members follow. */
#define FOUND(members)                                                                             \
	"{'pythons':[{'prefix':'/home/ana/v','version':'3.10.12','active':'yes','torch':{" members \
	"}}]}"
#define ASSUMED(v) "{'v':'" v "','s':'assumed'}"
#define NAMED(members, python)                                                         \
	"{'pythons':[{'prefix':" ASSUMED("assumed environment") ",'version':" ASSUMED( \
		python) ",'active':'yes','torch':{" members "}}]}"
#define ABSENT "{'state':'absent'}"
/* Only an environment was declared. */
#define BARE "{'source':'assumed','parts':{'python':'yes'}}"
#define CU128 \
	"'version':'2.8.0+cu128','variant':'cu128','cuda':'12.8','origin':'pip','min_glibc':'2.28'"

static const struct world_case code_and_driver_cases[] = {
	{ .what = "minor versions",
	  .layers = { DECLARED, TORCH, GPU("2684", "8.9"), DRIVER("525.60.13") },
	  .root = "" },
	{ .what = "below the minimum of the major",
	  .layers = { DECLARED, TORCH, GPU("2684", "8.9"), DRIVER("520.61.05") },
	  .shows = "driver-too-old",
	  .root = "driver-too-old" },
	{ .what = "470 and CUDA 11.8",
	  .layers = { DECLARED, GPU("1eb8", "7.5"), DRIVER("470.256.02"),
		      FOUND("'version':'2.3.1+cu118','variant':'cu118','cuda':'11.8',"
			    "'origin':'pip'") },
	  .hides = "driver-too-old",
	  .root = "" },
	{ .what = "CUDA 13 on 550",
	  .layers = { DECLARED, GPU("2684", "8.9"), DRIVER("550.90.07"),
		      FOUND("'version':'2.9.1+cu130','variant':'cu130','cuda':'13.0',"
			    "'origin':'pip'") },
	  .root = "driver-too-old" },
	{ .what = "same major, lower minor",
	  .layers = { DECLARED, GPU("2882", "8.9"), DRIVER("570.133.07"),
		      FOUND(CU128
			    ",'arch_list':['sm_75','sm_80','sm_86','sm_90','sm_100',"
			    "'sm_120']") },
	  .root = "" },
	{ .what = "too new",
	  .layers = { DECLARED, TORCH, GPU("2b85", "12.0"), DRIVER("570.133.07") },
	  .shows = "gpu-too-new-for-build",
	  .hides = "driver-too-old",
	  .root = "gpu-too-new-for-build" },
	{ .what = "too old",
	  .layers = { DECLARED, GPU("1b06", "6.1"), DRIVER("570.133.07"),
		      FOUND(CU128
			    ",'arch_list':['sm_70','sm_75','sm_80','sm_86','sm_90',"
			    "'sm_100','sm_120']") },
	  .shows = "gpu-too-old-for-build",
	  .hides = "gpu-too-new-for-build",
	  .root = "gpu-too-old-for-build" },
	{ .what = "PTX of a later chip does not help",
	  .layers = { DECLARED, GPU("1db4", "7.0"), DRIVER("580.95.05"),
		      FOUND("'version':'2.9.1+cu130','cuda':'13.0','arch_list':['sm_75',"
			    "'sm_80','sm_120','compute_120']") },
	  .root = "gpu-too-old-for-build" },
	{ .what = "the list of the matrix",
	  .layers = { DECLARED, GPU("2b85", "12.0"), DRIVER("570.133.07"),
		      FOUND("'version':'2.6.0+cu124','variant':'cu124','cuda':'12.4',"
			    "'origin':'pip'") },
	  .root = "gpu-too-new-for-build" },
	{ .what = "conda's list is not the wheel's",
	  .layers = { DECLARED, GPU("2b85", "12.0"), DRIVER("570.133.07"),
		      FOUND("'version':'2.6.0','variant':'cu124','cuda':'12.6',"
			    "'origin':'conda-forge'") },
	  .hides = "gpu-too-new-for-build",
	  .root = "" },
	{ .what = "the second GPU is judged",
	  .layers = { DECLARED, TORCH, DRIVER("570.133.07"),
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9'},"
		      "{'pci_id':'10de:2b85','compute_capability':'12.0'}]}" },
	  .root = "gpu-too-new-for-build" },
	{ .what = "a hidden GPU is not",
	  .layers = { DECLARED, TORCH, DRIVER("570.133.07"),
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9'},"
		      "{'pci_id':'10de:2b85','compute_capability':'12.0'}],"
		      "'environment':[{'name':'CUDA_VISIBLE_DEVICES','value':'0'},"
		      "{'name':'CUDA_DEVICE_ORDER','value':'PCI_BUS_ID'}]}" },
	  .hides = "gpu-too-new-for-build",
	  .root = "" },
	{ .what = "PTX newer than the driver",
	  .layers = { DECLARED, GPU("2684", "8.9"), DRIVER("535.183.01"),
		      FOUND("'version':'2.6.0','cuda':'12.4','arch_list':['compute_80']") },
	  .shows = "ptx-newer-than-driver",
	  .root = "ptx-newer-than-driver" },
	{ .what = "PTX that the driver knows",
	  .layers = { DECLARED, GPU("2684", "8.9"), DRIVER("550.90.07"),
		      FOUND("'version':'2.6.0','cuda':'12.4','arch_list':['compute_80']") },
	  .hides = "ptx-newer-than-driver",
	  .root = "" },
};

static void code_and_driver(void **state)
{
	(void)state;
	world_cases(code_and_driver_cases, ARRAY_LEN(code_and_driver_cases));
}

static const struct world_case builds_cases[] = {
	{ .what = "CPU wheel",
	  .layers = { HOST, FOUND("'version':'2.5.1+cpu','variant':'cpu','cuda':" ABSENT
				  ",'origin':'pip'") },
	  .shows = "cpu-only-wheel",
	  .root = "cpu-only-wheel" },
	{ .what = "CUDA wheel", .layers = { HOST, TORCH }, .hides = "cpu-only-wheel" },
	{ .what = "CPU wheel in an image",
	  .layers = { IMAGE, FOUND("'version':'2.5.1+cpu','variant':'cpu','cuda':" ABSENT
				   ",'origin':'pip'") },
	  .hides = "gpu-not-found",
	  .root = "cpu-only-wheel" },
	{ .what = "not known is no verdict",
	  .layers = { HOST, FOUND("'version':'2.5.1','origin':'source',"
				  "'cuda':{'state':'broken'}") },
	  .hides = "cpu-only-wheel",
	  .root = "" },
	{ .what = "conda CPU",
	  .layers = { HOST, FOUND("'version':'2.5.1','variant':'cpu','cuda':" ABSENT
				  ",'origin':'conda-forge'") },
	  .shows = "cpu-only-conda-build",
	  .hides = "cpu-only-wheel" },
	{ .what = "conda CUDA",
	  .layers = { HOST, FOUND("'version':'2.5.1','cuda':'12.4','origin':'conda-forge'") },
	  .hides = "cpu-only-conda-build",
	  .root = "" },
	{ .what = "aarch64 from PyPI",
	  .layers = { HOST, "{'host':{'arch':'aarch64'}}", GPU("2342", "9.0"),
		      FOUND("'version':'2.4.1','cuda':" ABSENT ",'origin':'pip'") },
	  .shows = "cpu-only-platform",
	  .hides = "cpu-only-wheel" },
	{ .what = "ROCm",
	  .layers = { HOST, FOUND("'version':'2.6.0+rocm6.2.4','hip':'6.2.4','cuda':" ABSENT
				  ",'origin':'pip'") },
	  .shows = "rocm-build-on-nvidia",
	  .hides = "cpu-only-wheel" },
	{ .what = "no ROCm", .layers = { HOST, TORCH }, .hides = "rocm-build-on-nvidia" },
	{ .what = "vision of another torch",
	  .layers = { HOST, FOUND("'version':'2.4.0+cu121','variant':'cu121','cuda':'12.1',"
				  "'origin':'pip',"
				  "'torchvision':'0.20.1'") },
	  .shows = "torch-torchvision-mismatch",
	  .root = "torch-torchvision-mismatch" },
	{ .what = "its own vision",
	  .layers = { HOST, TORCH },
	  .hides = "torch-torchvision-mismatch" },
	{ .what = "glibc",
	  .layers = { HOST, "{'host':{'glibc':'2.27'}}", FOUND(CU128) },
	  .shows = "glibc-too-old",
	  .root = "glibc-too-old" },
	{ .what = "glibc fits",
	  .layers = { HOST, "{'host':{'glibc':'2.28'}}", FOUND(CU128) },
	  .hides = "glibc-too-old" },
	{ .what = "musl",
	  .layers = { HOST, "{'host':{'glibc':null,'libc':'musl'}}", FOUND(CU128) },
	  .shows = "musl-no-wheel" },
	{ .what = "JAX alone",
	  .layers = { HOST, "{'pythons':[{'prefix':'/j','active':'yes','version':'3.11.2',"
			    "'packages':["
			    "{'name':'jax','version':'0.4.35'},{'name':'jaxlib',"
			    "'version':'0.4.35'}]}]}" },
	  .shows = "jax-cpu-only",
	  .root = "jax-cpu-only" },
	{ .what = "JAX with its plugin",
	  .layers = { HOST, "{'pythons':[{'prefix':'/j','active':'yes','version':'3.11.2',"
			    "'packages':["
			    "{'name':'jaxlib','version':'0.4.35'},{'name':'jax-cuda12-plugin',"
			    "'version':'0.4.35'}]}]}" },
	  .hides = "jax-cpu-only",
	  .root = "" },
	{ .what = "two NCCL wheels",
	  .layers = { HOST, "{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2',"
			    "'torch':{'version':'2.5.1+cu124','cuda':'12.4','origin':'pip'},"
			    "'packages':["
			    "{'name':'nvidia-nccl-cu11','version':'2.14.3'},"
			    "{'name':'nvidia-nccl-cu12','version':'2.21.5'}]}]}" },
	  .shows = "mixed-cuda-wheels",
	  .root = "mixed-cuda-wheels" },
	{ .what = "a wheel whose file went with another one",
	  .layers = { HOST,
		      "{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2',"
		      "'torch':{'version':'2.5.1+cu124','cuda':'12.4','origin':'pip'},"
		      "'loads':[{'name':'libcublas.so.12','by':'libtorch_cuda.so','package':'torch',"
		      "'path':{'state':'absent'}}],"
		      "'packages':["
		      "{'name':'nvidia-cublas-cu12','version':'12.4.5.8',"
		      "'missing':['nvidia/cublas/lib/libcublas.so.12']}]}]}" },
	  .shows = "mixed-cuda-wheels",
	  .root = "mixed-cuda-wheels" },
	{ .what = "a file that nobody asks for",
	  .layers = { HOST, "{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2',"
			    "'torch':{'version':'2.5.1+cu124','cuda':'12.4','origin':'pip'},"
			    "'packages':["
			    "{'name':'nvidia-cublas-cu12','version':'12.4.5.8',"
			    "'missing':['nvidia/cublas/lib/libnvblas.so.12']}]}]}" },
	  .shows = "mixed-cuda-wheels",
	  .root = "" },
	{ .what = "wheels of two folders",
	  .layers = { HOST, "{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2',"
			    "'packages':["
			    "{'name':'nvidia-cublas','version':'13.0.0.19'},"
			    "{'name':'nvidia-cublas-cu12','version':'12.4.5.8'}]}]}" },
	  .hides = "mixed-cuda-wheels",
	  .root = "" },
};

static void builds(void **state)
{
	(void)state;
	world_cases(builds_cases, ARRAY_LEN(builds_cases));
}

static const struct world_case declared_cases[] = {
	{ .what = "Python too new",
	  .layers = { BARE, NAMED("'version':" ASSUMED("2.5.1+cu124") ",'variant':" ASSUMED(
					  "cu124") ",'cuda':" ASSUMED("12.4"),
				  "3.14") },
	  .shows = "python-no-wheel",
	  .root = "python-no-wheel" },
	{ .what = "Python fits",
	  .layers = { BARE, NAMED("'version':" ASSUMED("2.5.1+cu124") ",'variant':" ASSUMED(
					  "cu124") ",'cuda':" ASSUMED("12.4"),
				  "3.12") },
	  .hides = "python-no-wheel",
	  .root = "" },
	{ .what = "installed is published enough",
	  .layers = { HOST, TORCH,
		      "{'pythons':[{'prefix':'/v','active':'yes','version':'3.14.0',"
		      "'torch':{'version':'2.5.1+cu124','cuda':'12.4'}}]}" },
	  .hides = "python-no-wheel" },
	{ .what = "no such tag",
	  .layers = { BARE,
		      NAMED("'version':" ASSUMED("2.5.1+cu130") ",'variant':" ASSUMED(
				    "cu130") ",'cuda':" ASSUMED("13.0"),
			    "3.12"),
		      "{'parts':{'pci':'yes'}}", GPU("2204", "8.6"), DRIVER("550.90.07") },
	  .shows = "wrong-index-tag",
	  .hides = "driver-too-old",
	  .root = "wrong-index-tag" },
	{ .what = "no such release",
	  .layers = { BARE, NAMED("'version':" ASSUMED("2.5.7"), "3.12") },
	  .shows = "wrong-index-tag" },
	{ .what = "newer than the matrix",
	  .layers = { BARE, NAMED("'version':" ASSUMED("99.1.0+cu990"), "3.12") },
	  .hides = "wrong-index-tag" },
	{ .what = "nothing at all",
	  .layers = { "{'source':'assumed'}" },
	  .shows = "insufficient-evidence",
	  .root = "insufficient-evidence" },
	{ .what = "a GPU alone",
	  .layers = { "{'source':'assumed','parts':{'pci':'yes'}}", GPU("2204", "8.6") },
	  .root = "insufficient-evidence" },
};

static void declared(void **state)
{
	(void)state;
	world_cases(declared_cases, ARRAY_LEN(declared_cases));
}

static const struct world_case toolkits_cases[] = {
	{ .what = "CUDA_HOME as a list",
	  .layers = { HOST, TORCH,
		      "{'environment':[{'name':'CUDA_HOME',"
		      "'value':':/usr/local/cuda-12.4'}]}" },
	  .shows = "cuda-home-wrong",
	  .root = "" },
	{ .what = "CUDA_HOME",
	  .layers = { HOST, TORCH,
		      "{'environment':[{'name':'CUDA_HOME',"
		      "'value':'/usr/local/cuda-12.4'}],"
		      "'toolkits':[{'path':'/usr/local/cuda-12.4','version':'12.4.1',"
		      "'nvcc':'/usr/local/cuda-12.4/bin/nvcc'}]}" },
	  .hides = "cuda-home-wrong",
	  .root = "" },
	{ .what = "nvcc 13 and Volta",
	  .layers = { HOST, GPU("1db4", "7.0"),
		      "{'toolkits':[{'path':'/t','version':'13.0','nvcc':'yes'}]}" },
	  .shows = "toolkit-too-new-for-gpu",
	  .root = "" },
	{ .what = "nvcc 12 and Volta",
	  .layers = { HOST, GPU("1db4", "7.0"),
		      "{'toolkits':[{'path':'/t','version':'12.4','nvcc':'yes'}]}" },
	  .hides = "toolkit-too-new-for-gpu",
	  .root = "" },
	{ .what = "nvcc 12.4 and Blackwell",
	  .layers = { HOST, GPU("2b85", "12.0"),
		      "{'driver':{'version':'580.95.05','flavor':'open'},"
		      "'toolkits':[{'path':'/t','version':'12.4','nvcc':'yes'}]}" },
	  .shows = "toolkit-too-old-for-gpu" },
	{ .what = "an old toolkit beside the one that builds",
	  .layers = { HOST, "{'toolkits':[{'path':'/a','version':'11.0','nvcc':'yes'},{'path':'/b',"
			    "'version':'12.4','nvcc':'yes','via':'/usr/local/cuda'}]}" },
	  .hides = "toolkit-too-old-for-gpu",
	  .root = "" },
	{ .what = "nvcc of another major",
	  .layers = { HOST, TORCH,
		      "{'toolkits':[{'path':'/t','version':'11.8','nvcc':'yes'}]}" },
	  .shows = "toolkit-torch-mismatch",
	  .root = "" },
	{ .what = "nvcc of another minor",
	  .layers = { HOST, TORCH,
		      "{'toolkits':[{'path':'/t','version':'12.2','nvcc':'yes'}]}" },
	  .hides = "toolkit-torch-mismatch",
	  .root = "" },
	{ .what = "no nvcc",
	  .layers = { HOST, TORCH,
		      "{'toolkits':[{'path':'/t','version':'11.8','nvcc':" ABSENT "}]}" },
	  .hides = "toolkit-torch-mismatch",
	  .root = "" },
};

static void toolkits(void **state)
{
	(void)state;
	world_cases(toolkits_cases, ARRAY_LEN(toolkits_cases));
}

#define REQUIRE(k, o, v) "{'require':[{'key':'" k "','op':'" o "','value':'" v "'}]}"

static const struct world_case requirements_cases[] = {
	{ .what = "cc holds",
	  .layers = { HOST, TORCH, REQUIRE("cc", ">=", "8.0") },
	  .root = "" },
	{ .what = "cc fails",
	  .layers = { HOST, TORCH, REQUIRE("cc", ">=", "9.0") },
	  .root = "gpu-feature-unsupported" },
	{ .what = "memory holds",
	  .layers = { HOST, REQUIRE("vram", ">=", "24") },
	  .root = "" },
	{ .what = "memory as the driver counts it",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9',"
		      "'memory_mib':'24564',"
		      "'nvml_index':'0'}]}",
		      REQUIRE("vram", ">=", "24GiB") },
	  .root = "" },
	{ .what = "memory fails",
	  .layers = { HOST, REQUIRE("vram", ">=", "40") },
	  .root = "gpu-feature-unsupported" },
	{ .what = "driver holds",
	  .layers = { HOST, REQUIRE("driver", ">=", "550") },
	  .root = "" },
	{ .what = "driver fails",
	  .layers = { HOST, REQUIRE("driver", ">=", "580.65.06") },
	  .root = "driver-too-old" },
	{ .what = "GPU by another spelling",
	  .layers = { HOST, REQUIRE("gpu", "==", "rtx 4090") },
	  .root = "" },
	{ .what = "another GPU",
	  .layers = { HOST, REQUIRE("gpu", "==", "rtx 3090") },
	  .root = "gpu-feature-unsupported" },
	{ .what = "toolkit fails",
	  .layers = { HOST, REQUIRE("cuda", ">=", "12") },
	  .root = "toolkit-not-installed" },
	{ .what = "toolkit holds",
	  .layers = { HOST, "{'toolkits':[{'path':'/t','version':'12.4.1'}]}",
		      REQUIRE("cuda", "==", "12.4") },
	  .root = "" },
	{ .what = "Python fails",
	  .layers = { HOST, TORCH, REQUIRE("python", ">=", "3.12") },
	  .root = "python-no-wheel" },
	{ .what = "glibc fails",
	  .layers = { HOST, REQUIRE("glibc", ">=", "2.39") },
	  .root = "glibc-too-old" },
	{ .what = "torch holds",
	  .layers = { HOST, TORCH, REQUIRE("torch", "==", "2.5") },
	  .root = "" },
	{ .what = "torch fails",
	  .layers = { HOST, TORCH, REQUIRE("torch", ">=", "2.6") },
	  .root = "conflicting-pins" },
	{ .what = "not known",
	  .layers = { HOST, REQUIRE("gcc", "<=", "13") },
	  .root = "insufficient-evidence" },
	{ .what = "no sense",
	  .layers = { HOST, REQUIRE("vram", ">=", "plenty") },
	  .root = "insufficient-evidence" },
};

static void requirements(void **state)
{
	(void)state;
	world_cases(requirements_cases, ARRAY_LEN(requirements_cases));
}

/* What a command installs must itself fit: read the build out of the command and judge it. */
static void remedies_hold(void **state)
{
	static const char *const broken[][4] = {
		{ DECLARED, TORCH, GPU("2b85", "12.0"), DRIVER("570.133.07") },
		{ DECLARED, GPU("1b06", "6.1"), DRIVER("550.90.07"), FOUND(CU128) },
		{ DECLARED, GPU("102d", "3.7"), DRIVER("470.256.02"), TORCH },
		{ DECLARED, GPU("2684", "8.9"), DRIVER("535.183.01"),
		  FOUND("'version':'2.9.1+cu130','variant':'cu130','cuda':'13.0','origin':'pip'") },
		{ DECLARED, GPU("1eb8", "7.5"), DRIVER("470.57.02"),
		  FOUND("'version':'2.6.0+cpu','variant':'cpu','cuda':" ABSENT) },
	};
	size_t i, k, n;

	(void)state;
	for (i = 0; i < ARRAY_LEN(broken); i++) {
		struct world w, again;
		const char *command = NULL, *at, *url, *variant, *fixed;
		char release[32] = "";

		world_judge(&w, broken[i], 4, NULL);
		assert_non_null(w.r.root);
		for (k = 0; k < w.r.root->n_remedies; k++)
			for (n = 0; n < w.r.root->remedies[k].n_commands; n++)
				if (strstr(w.r.root->remedies[k].commands[n], "torch=="))
					command = w.r.root->remedies[k].commands[n];
		assert_non_null(command);
		at = strstr(command, "torch==") + 7;
		memcpy(release, at, strcspn(at, " "));
		url = strstr(command, "/whl/");
		variant = url ? url + 5 : NULL;
		if (!variant) {
			const struct torch_row *rows = compat_torch_rows(w.c, &n);

			for (k = 0; k < n; k++)
				if (rows[k].pypi_default && strcmp(rows[k].version, release) == 0 &&
				    strcmp(rows[k].platform, "linux_x86_64") == 0)
					variant = rows[k].variant;
		}
		assert_non_null(variant);
		fixed = arena_printf(
			w.a,
			"{'pythons':[{'prefix':'/v','version':{'v':'3.10','s':'assumed'},"
			"'active':'yes','torch':{"
			"'version':{'v':'%s+%s','s':'assumed'},'origin':'pip'}}]}",
			release, variant);
		world_judge(&again,
			    (const char *const[]){ DECLARED, broken[i][1], broken[i][2],
						   broken[i][3], fixed },
			    5, NULL);
		if (again.r.verdict != VERDICT_STACK_OK)
			fail_msg("row %zu: %s leads to %s", i, command,
				 again.r.findings[0]->message);
		world_free(&again);
		world_free(&w);
	}
}

/* The distribution's own package is named only where its branch drives the card. */
static void driver_packages(void **state)
{
	static const struct {
		const char *layers[4];
		const char *command; /* NULL: no command */
	} rows[] = {
		{ .layers = { DECLARED, GPU("2c05", "12.0"), DRIVER("550.120"),
			      "{'host':{'system':'linux','os_id':'ubuntu','os_version':'24.04'}}" },
		  .command = "sudo apt-get install nvidia-driver-580-open" },
		{ .layers = { DECLARED, GPU("102d", "3.7"), DRIVER("550.120"),
			      "{'host':{'system':'linux','os_id':'ubuntu','os_version':'22.04'}}" },
		  .command = "sudo apt-get install nvidia-driver-470" },
		{ .layers = { DECLARED, GPU("102d", "3.7"), DRIVER("550.120"),
			      "{'host':{'system':'linux','os_id':'debian','os_version':'12'}}" } },
		{ .layers = { DECLARED, GPU("2c05", "12.0"), DRIVER("535.183.01"),
			      "{'host':{'system':'linux','os_id':'debian','os_version':'12'}}" } },
		{ .layers = { DECLARED, GPU("2c05", "12.0"), DRIVER("535.183.01"),
			      "{'host':{'system':'linux','os_id':'rocky','os_version':'9.4'}}" },
		  .command = "sudo dnf module install nvidia-driver:580-open" },
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct remedy *r;
		bool seen = false;
		struct world w;

		world_judge(&w, rows[i].layers, 4, NULL);
		assert_non_null(w.r.root);
		assert_true(w.r.root->n_remedies > 0);
		r = &w.r.root->remedies[0];
		for (k = 0; rows[i].command && k < r->n_commands; k++)
			seen |= strcmp(r->commands[k], rows[i].command) == 0;
		if (rows[i].command ? !seen : r->n_commands != 0)
			fail_msg("row %zu: %s", i,
				 r->n_commands ? r->commands[r->n_commands - 1] : r->text);
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_and_driver), cmocka_unit_test(builds),
		cmocka_unit_test(declared),	   cmocka_unit_test(toolkits),
		cmocka_unit_test(requirements),	   cmocka_unit_test(remedies_hold),
		cmocka_unit_test(driver_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
