/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about files that configure or load something: modprobe, container runtimes, libraries,
 * add-ons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "rule_world.h"

#define ABSENT "{'state':'absent'}"
#define UNLOADED(more)                                                                    \
	"{'driver':{'version':null,'flavor':null,'module_loaded':'no','cuda_init':'100'," \
	"'cuda_ceiling':null,'nvml_init':'9','modules':[{'name':'nvidia'," \
	"'path':'/lib/modules/6.8.0-45-generic/kernel/nvidia.ko','kernel':'6.8.0-45-generic'}]," \
	more \
	"},'nodes':null,'gpus':[{'pci_id':'10de:2684',"                                   \
	"'compute_capability':'8.9'}]}"
#define BLOCK(module) \
	"'blocks':[{'module':'" module "','how':'blacklist','line':'blacklist " module "'}]"
#define ENVIRONMENT(torch, more)                                                                 \
	"{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2','torch':{" torch "}," more \
	"}]}"
#define CU124 "'version':'2.5.1+cu124','variant':'cu124','cuda':'12.4','origin':'pip'"
#define ORT(more) \
	"'loads':[{'name':'libcudnn.so.9','package':'onnxruntime-gpu','by':'/v/ort.so'," more "}]"
#define ADDON(package, more) \
	"'extensions':[{'package':'" package "','version':'1.0','path':'/v/x.so'," more "}]"

static const struct world_case host_cases[] = {
	{ .what = "blacklisted",
	  .layers = { HOST, UNLOADED(BLOCK("nvidia")) },
	  .shows = "driver-module-blocked",
	  .hides = "driver-module-missing",
	  .root = "driver-module-blocked" },
	{ .what = "nouveau is blacklisted",
	  .layers = { HOST, UNLOADED(BLOCK("nouveau")) },
	  .hides = "driver-module-blocked" },
	{ .what = "loaded all the same",
	  .layers = { HOST, "{'driver':{" BLOCK("nvidia") "}}" },
	  .root = "" },
	{ .what = "CDI of another driver",
	  .layers = { HOST, "{'cdi':[{'path':'/etc/cdi/nvidia.yaml','version':'535.54.03'}]}" },
	  .shows = "cdi-spec-stale",
	  .root = "" },
	{ .what = "CDI of this driver",
	  .layers = { HOST, "{'cdi':[{'path':'/etc/cdi/nvidia.yaml','version':'550.90.07'}]}" },
	  .hides = "cdi-spec-stale" },
	{ .what = "no-cgroups",
	  .layers = { HOST, "{'runtime':{'docker':'/usr/bin/dockerd','no_cgroups':'yes'}}" },
	  .shows = "container-no-cgroups",
	  .root = "" },
	{ .what = "no-cgroups of a rootless Docker",
	  .layers = { HOST,
		      "{'runtime':{'docker':'/usr/bin/dockerd','no_cgroups':'yes',"
		      "'rootless':'/home/a'}}" },
	  .hides = "container-no-cgroups" },
	{ .what = "runtime without toolkit",
	  .layers = { HOST, "{'runtime':{'docker':'/usr/bin/dockerd','config':"
			    "'/etc/docker/daemon.json','default_runtime':'nvidia',"
			    "'nvidia_runtime':'/usr/bin/nvidia-container-runtime',"
			    "'nvidia_file':'no','toolkit':" ABSENT "}}" },
	  .shows = "container-toolkit-missing",
	  .root = "" },
	{ .what = "no runtime asked for",
	  .layers = { HOST,
		      "{'runtime':{'config':'/etc/docker/daemon.json','toolkit':" ABSENT "}}" },
	  .hides = "container-toolkit-missing" },
};

static const struct world_case load_cases[] = {
	{ .what = "no cuDNN",
	  .layers = { HOST, ENVIRONMENT("", ORT("'path':" ABSENT)) },
	  .root = "cudnn-not-found" },
	{ .what = "another cuDNN",
	  .layers = { HOST, ENVIRONMENT("", ORT("'path':" ABSENT
						",'other':['/usr/lib/libcudnn.so.8']")) },
	  .root = "cudnn-major-mismatch" },
	{ .what = "cuDNN beside the path",
	  .layers = { HOST, ENVIRONMENT("", ORT("'path':" ABSENT
						",'elsewhere':['/opt/c/libcudnn.so.9']")) },
	  .root = "lib-path-not-set" },
	{ .what = "found",
	  .layers = { HOST, ENVIRONMENT("", ORT("'path':'/usr/lib/libcudnn.so.9'")) },
	  .root = "" },
	{ .what = "no cuBLAS 11",
	  .layers = { HOST,
		      ENVIRONMENT(
			      "",
			      "'loads':[{'name':'libcublas.so.11','package':'onnxruntime-gpu',"
			      "'path':" ABSENT
			      "}]") },
	  .root = "missing-cuda-runtime-lib" },
	{ .what = "ptxas of 11.7",
	  .layers = { HOST, ENVIRONMENT("", "'triton':{'version':'2.0.0','ptxas':'11.7.99'}") },
	  .shows = "ptxas-too-old",
	  .root = "" },
	{ .what = "ptxas of 12.4",
	  .layers = { HOST, ENVIRONMENT("", "'triton':{'version':'3.1.0','ptxas':'12.4.99'}") },
	  .hides = "ptxas-too-old" },
};

static const struct world_case addon_cases[] = {
	{ .what = "built for another torch",
	  .layers = { HOST, ENVIRONMENT(CU124,
					ADDON("flash-attn", "'cuda':'12','missing':['_ZN3c10']")) },
	  .shows = "abi-mismatch-extension" },
	{ .what = "built without CUDA",
	  .layers = { HOST, ENVIRONMENT(CU124, ADDON("bitsandbytes",
						     "'cuda':" ABSENT
						     ",'variants':['libbitsandbytes_cpu.so']")) },
	  .shows = "extension-built-without-cuda",
	  .hides = "extension-no-build-for-cuda" },
	{ .what = "an add-on that needs none",
	  .layers = { HOST, ENVIRONMENT(CU124, ADDON("torchaudio", "'cuda':" ABSENT)) },
	  .hides = "extension-built-without-cuda" },
	{ .what = "no file for this CUDA",
	  .layers = { HOST,
		      ENVIRONMENT(CU124,
				  ADDON("bitsandbytes",
					"'cuda':'12','variants':['libbitsandbytes_cuda121.so']")) },
	  .shows = "extension-no-build-for-cuda" },
	{ .what = "a file for this CUDA",
	  .layers = { HOST,
		      ENVIRONMENT(CU124,
				  ADDON("bitsandbytes",
					"'cuda':'12','variants':['libbitsandbytes_cuda124.so']")) },
	  .hides = "extension-no-build-for-cuda" },
	{ .what = "no code for the GPU",
	  .layers = { HOST,
		      ENVIRONMENT(CU124, ADDON("xformers", "'cuda':'12','targets':['sm_90']")) },
	  .shows = "extension-missing-gpu-arch" },
	{ .what = "code for the GPU",
	  .layers = { HOST, ENVIRONMENT(CU124, ADDON("xformers",
						     "'cuda':'12','targets':['sm_80','sm_90']")) },
	  .hides = "extension-missing-gpu-arch",
	  .root = "" },
};

static void hosts(void **state)
{
	(void)state;
	world_cases(host_cases, ARRAY_LEN(host_cases));
}

static void loads(void **state)
{
	(void)state;
	world_cases(load_cases, ARRAY_LEN(load_cases));
}

static void addons(void **state)
{
	(void)state;
	world_cases(addon_cases, ARRAY_LEN(addon_cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts),
		cmocka_unit_test(loads),
		cmocka_unit_test(addons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
