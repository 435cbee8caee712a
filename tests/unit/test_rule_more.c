/* SPDX-License-Identifier: Apache-2.0 */
/* Rules beyond the main chain: packages, search paths, codes, schedulers. Each fires once and stays
 * silent once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "rule_world.h"

#define UNLOADED                                                                                 \
	"{'driver':{'version':null,'flavor':null,'module_loaded':'no','cuda_init':'100',"        \
	"'cuda_ceiling':null,'nvml_init':'9','modules':[{'name':'nvidia','version':'550.90.07'," \
	"'path':'/lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko',"                         \
	"'kernel':'6.8.0-45-generic'}]},'nodes':null,'gpus':[{'pci_id':'10de:2684',"             \
	"'compute_capability':'8.9'}]}"
#define ENV(name, value) "{'environment':[{'name':'" name "','value':'" value "'}]}"
#define FAILS(code) "{'driver':{'cuda_init':'" code "'}}"
#define PACKAGES(list) \
	"{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2','packages':[" list "]}]}"
#define PACKAGE(name, version) "{'name':'" name "','version':'" version "'}"
#define CUDNN(members) \
	"{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2'," \
	"'torch':{'version':'2.5.1+cu124'," \
	"'cuda':'12.4','origin':'pip','cudnn':{" members "}}}]}"
#define WHEEL "/v/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9"

static const struct world_case host_cases[] = {
	{ .what = "Secure Boot and DKMS",
	  .layers = { HOST, UNLOADED, "{'host':{'secure_boot':'yes'}}" },
	  .shows = "secure-boot-blocks-module",
	  .hides = "driver-module-missing",
	  .root = "secure-boot-blocks-module" },
	{ .what = "Secure Boot off",
	  .layers = { HOST, UNLOADED, "{'host':{'secure_boot':'no'}}" },
	  .hides = "secure-boot-blocks-module",
	  .root = "driver-module-missing" },
	{ .what = "Secure Boot and the distribution's module",
	  .layers = { HOST, UNLOADED,
		      "{'host':{'secure_boot':'yes'},'driver':{'modules':[{'name':'nvidia',"
		      "'path':'/lib/modules/6.8.0-45-generic/kernel/nvidia-550/nvidia.ko',"
		      "'kernel':'6.8.0-45-generic'}]}}" },
	  .hides = "secure-boot-blocks-module" },
	{ .what = "open 535 on GeForce",
	  .layers = { HOST, "{'driver':{'version':'535.183.01','flavor':'open','cuda_init':'100'},"
			    "'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9'}]}" },
	  .shows = "open-module-optin-required" },
	{ .what = "open 550 on GeForce",
	  .layers = { HOST, "{'driver':{'flavor':'open'},'gpus':[{'pci_id':'10de:2684',"
			    "'compute_capability':'8.9'}]}" },
	  .hides = "open-module-optin-required" },
	{ .what = "numba",
	  .layers = { HOST, ENV("NUMBA_CUDA_DRIVER", "/usr/local/cuda/lib64/libcudart.so") },
	  .shows = "libcuda-wrong-file",
	  .root = "" },
	{ .what = "numba with libcuda",
	  .layers = { HOST, ENV("NUMBA_CUDA_DRIVER", "/usr/lib/x86_64-linux-gnu/libcuda.so.1") },
	  .hides = "libcuda-wrong-file" },
	{ .what = "a MIG name of another machine",
	  .layers = { HOST, ENV("CUDA_VISIBLE_DEVICES", "MIG-b"), FAILS("100"),
		      "{'gpus':[{'pci_id':'10de:20b0','compute_capability':'8.0',"
		      "'mig_mode':'enabled',"
		      "'mig_devices':['MIG-a'],'nvml_index':'0'}]}" },
	  .shows = "mig-device-not-selected",
	  .hides = "visible-devices-wrong" },
	{ .what = "a MIG name",
	  .layers = { HOST, ENV("CUDA_VISIBLE_DEVICES", "MIG-a"),
		      "{'gpus':[{'pci_id':'10de:20b0','compute_capability':'8.0',"
		      "'mig_mode':'enabled',"
		      "'mig_devices':['MIG-a'],'nvml_index':'0'}]}" },
	  .hides = "mig-device-not-selected",
	  .root = "" },
	{ .what = "MPS", .layers = { HOST, FAILS("805") }, .root = "mps-unreachable" },
	{ .what = "HMM", .layers = { HOST, FAILS("3") }, .root = "uvm-hmm-init-failure" },
	{ .what = "no code", .layers = { HOST }, .hides = "mps-unreachable", .root = "" },
	{ .what = "a code that nothing explains",
	  .layers = { HOST, FAILS("46") },
	  .shows = "insufficient-evidence",
	  .root = "insufficient-evidence" },
	{ .what = "a job without a GPU",
	  .layers = { HOST, FAILS("100"),
		      "{'environment':[{'name':'SLURM_JOB_ID','value':'7'},"
		      "{'name':'CUDA_VISIBLE_DEVICES','value':''}]}" },
	  .shows = "visible-devices-wrong",
	  .root = "scheduler-no-gpu" },
	{ .what = "a job whose cgroup refuses",
	  .layers = { HOST, FAILS("100"),
		      "{'environment':[{'name':'SLURM_JOB_ID','value':'7'}],"
		      "'nodes':[{'name':'nvidia0','open':'EPERM'},{'name':"
		      "'nvidiactl','open':'ok'},{'name':'nvidia-uvm','open':"
		      "'ok'}]}" },
	  .root = "scheduler-no-gpu" },
	{ .what = "the node's number in a container",
	  .layers = { CONTAINER, FAILS("100"),
		      "{'environment':[{'name':'SLURM_JOB_ID','value':'7'},"
		      "{'name':'SLURM_JOB_GPUS','value':'3'},{'name':"
		      "'CUDA_VISIBLE_DEVICES','value':'3'}]}" },
	  .shows = "visible-devices-wrong",
	  .root = "scheduler-device-constraint" },
	{ .what = "no NVSwitch and 802",
	  .layers = { HOST, FAILS("802"),
		      "{'gpus':[{'pci_id':'10de:2331','compute_capability':"
		      "'9.0','nvml_index':'0'}]}" },
	  .root = "confidential-gpu-not-ready" },
	{ .what = "MIG without its nodes",
	  .layers = { CONTAINER, FAILS("100"),
		      "{'gpus':[{'pci_id':'10de:20b0','compute_capability':"
		      "'8.0','mig_mode':'enabled','mig_devices':['MIG-a'],"
		      "'nvml_index':'0'}]}" },
	  .root = "mig-caps-missing" },
	{ .what = "MIG with its nodes",
	  .layers = { CONTAINER, "{'gpus':[{'pci_id':'10de:20b0','compute_capability':'8.0',"
				 "'mig_mode':'enabled','mig_devices':['MIG-a'],'nvml_index':'0'}],"
				 "'nodes':[{'name':'nvidia0'},{'name':'nvidiactl'},{'name':"
				 "'nvidia-uvm'},{'name':'nvidia-caps/nvidia-cap21'}]}" },
	  .hides = "mig-caps-missing",
	  .root = "" },
	{ .what = "a job with one",
	  .layers = { HOST, "{'environment':[{'name':'SLURM_JOB_ID','value':'7'},"
			    "{'name':'SLURM_JOB_GPUS',"
			    "'value':'0'},{'name':'CUDA_VISIBLE_DEVICES','value':'0'}]}" },
	  .hides = "scheduler-no-gpu",
	  .root = "" },
	{ .what = "the distribution's nvcc first",
	  .layers = { HOST, "{'toolkits':[{'path':'/usr/lib/nvidia-cuda-toolkit','version':'11.5',"
			    "'nvcc':'yes','via':'PATH'},"
			    "{'path':'/usr/local/cuda-12.4','version':'12.4','nvcc':'yes',"
			    "'via':'/usr/local/cuda'}]}" },
	  .shows = "toolkit-shadowed" },
	{ .what = "NVIDIA's nvcc first",
	  .layers = { HOST, "{'toolkits':[{'path':'/usr/lib/nvidia-cuda-toolkit','version':'11.5',"
			    "'nvcc':'yes'},"
			    "{'path':'/usr/local/cuda-12.4','version':'12.4','nvcc':'yes',"
			    "'via':'PATH'}]}" },
	  .hides = "toolkit-shadowed" },
};

static const struct world_case package_cases[] = {
	{ .what = "two onnxruntimes",
	  .layers = { HOST, PACKAGES(PACKAGE("onnxruntime", "1.20.1") "," PACKAGE("onnxruntime-gpu",
										  "1.20.1")) },
	  .root = "onnxruntime-cpu-shadows-gpu" },
	{ .what = "one onnxruntime",
	  .layers = { HOST, PACKAGES(PACKAGE("onnxruntime-gpu", "1.20.1")) },
	  .hides = "onnxruntime-cpu-shadows-gpu" },
	{ .what = "TensorFlow on Windows",
	  .layers = { DECLARED, "{'parts':{'pci':null},'host':{'system':'windows'}}",
		      PACKAGES(PACKAGE("tensorflow", "2.15.0")) },
	  .root = "tf-windows-no-gpu" },
	{ .what = "TensorFlow 2.10 on Windows",
	  .layers = { DECLARED, "{'parts':{'pci':null},'host':{'system':'windows'}}",
		      PACKAGES(PACKAGE("tensorflow", "2.10.1")) },
	  .hides = "tf-windows-no-gpu" },
	{ .what = "withdrawn",
	  .layers = { HOST, PACKAGES(PACKAGE("tensorflow-gpu", "2.12.0")) },
	  .root = "removed-package" },
	{ .what = "before it was withdrawn",
	  .layers = { HOST, PACKAGES(PACKAGE("tensorflow-gpu", "2.11.0")) },
	  .hides = "removed-package" },
	{ .what = "placeholder",
	  .layers = { HOST, PACKAGES(PACKAGE("nvidia-cublas-cu13", "0.0.1")) },
	  .shows = "removed-package",
	  .root = "" },
	{ .what = "NumPy 2 and torch 2.2",
	  .layers = { HOST,
		      "{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2',"
		      "'torch':{'version':'2.2.2+cu121',"
		      "'cuda':'12.1','origin':'pip'},'packages':[{'name':'numpy',"
		      "'version':'2.1.3'}]}]}" },
	  .shows = "numpy2-abi",
	  .root = "" },
	{ .what = "NumPy 2 and torch 2.5",
	  .layers = { HOST, TORCH,
		      "{'pythons':[{'prefix':'/v','active':'yes','version':'3.11.2',"
		      "'torch':{'version':"
		      "'2.5.1+cu124','cuda':'12.4'},'packages':[{'name':'numpy',"
		      "'version':'2.1.3'}]}]}" },
	  .hides = "numpy2-abi" },
	{ .what = "TensorFlow wants a later cuDNN",
	  .layers = { HOST, PACKAGES(PACKAGE("tensorflow", "2.18.0") "," PACKAGE(
				    "nvidia-cudnn-cu12", "9.1.0.70")) },
	  .root = "cudnn-version-mismatch" },
	{ .what = "TensorFlow has it",
	  .layers = { HOST, PACKAGES(PACKAGE("tensorflow", "2.18.1") "," PACKAGE(
				    "nvidia-cudnn-cu12", "9.5.1.17")) },
	  .hides = "cudnn-version-mismatch" },
	{ .what = "cuDNN split by LD_LIBRARY_PATH",
	  .layers = { HOST, ENV("LD_LIBRARY_PATH", "/x:/opt/cudnn/lib/"),
		      CUDNN("'path':'" WHEEL
			    "','via':'DT_RPATH','shadowed':['/opt/cudnn/lib/libcudnn.so.9']") },
	  .shows = "lib-shadowing" },
	{ .what = "a copy in the cache does no harm",
	  .layers = { HOST, ENV("LD_LIBRARY_PATH", "/x"),
		      CUDNN("'path':'" WHEEL
			    "','via':'DT_RPATH','shadowed':['/usr/lib/libcudnn.so.9']") },
	  .hides = "lib-shadowing" },
	{ .what = "the system's copy instead of the bundled one",
	  .layers = { HOST,
		      CUDNN("'path':'/usr/lib/libcudnn.so.9','via':'ld.so.cache',"
			    "'shadowed':['" WHEEL
			    "']") },
	  .shows = "lib-shadowing" },
};

static void hosts(void **state)
{
	(void)state;
	world_cases(host_cases, ARRAY_LEN(host_cases));
}

static void packages(void **state)
{
	(void)state;
	world_cases(package_cases, ARRAY_LEN(package_cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts),
		cmocka_unit_test(packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
