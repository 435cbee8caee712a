/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about hardware, kernel and driver of a Linux host: each fires once and stays silent once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "rule_world.h"

#define GPU(fields) \
	"{'gpus':[{'pci_id':'10de:2684','name':'NVIDIA GeForce RTX 4090'," \
	"'compute_capability':'8.9'," fields \
	"}]}"
#define ABSENT "{'state':'absent'}"
/* The driver is on disk and not loaded: what a host without its module looks like. */
#define UNLOADED \
	"{'driver':{'version':null,'flavor':null,'module_loaded':'no','uvm_loaded':'no'," \
	"'cuda_init':'100'," \
	"'cuda_ceiling':null,'nvml_init':'9','modules':[{'name':'nvidia'," \
	"'version':'550.90.07'," \
	"'path':'/lib/modules/6.8.0-45-generic/nvidia.ko','kernel':'6.8.0-45-generic'," \
	"'flavor':'proprietary'}]}," \
	"'nodes':null,'gpus':[{'pci_id':'10de:2684','name':'NVIDIA GeForce RTX 4090'," \
	"'compute_capability':'8.9'}]}"
#define NO_FILES                                                                                   \
	"{'driver':{'modules':null,'installed':'no','libcuda':{'path':" ABSENT ",'version':null}," \
	"'libnvml':{'path':" ABSENT ",'version':null}}}"

static const struct world_case hardware_cases[] = {
	{ .what = "healthy host", .layers = { HOST, TORCH }, .root = "" },
	{ .what = "no GPU",
	  .layers = { HOST, "{'gpus':null,'driver':{'cuda_init':'100'}}" },
	  .shows = "gpu-not-found",
	  .root = "gpu-not-found" },
	{ .what = "no GPU in a container",
	  .layers = { CONTAINER, "{'gpus':null,'driver':{'cuda_init':'100'}}" },
	  .hides = "gpu-not-found" },
	{ .what = "no PCI device under WSL",
	  .layers = { WSL, "{'gpus':null}" },
	  .hides = "gpu-not-found" },
	{ .what = "AMD alone",
	  .layers = { HOST, TORCH,
		      "{'gpus':[{'pci_id':'1002:744c'}],'driver':{'cuda_init':null}}" },
	  .shows = "cuda-build-on-amd",
	  .hides = "gpu-not-found",
	  .root = "cuda-build-on-amd" },
	{ .what = "AMD beside",
	  .layers = { HOST, TORCH,
		      "{'gpus':[{'pci_id':'1002:744c'},{'pci_id':'10de:2684',"
		      "'compute_capability':'8.9','nvml_index':'0'}]}" },
	  .hides = "cuda-build-on-amd",
	  .root = "" },
	{ .what = "vfio",
	  .layers = { HOST, UNLOADED, GPU("'kernel_driver':'vfio-pci'") },
	  .shows = "gpu-bound-to-vfio",
	  .hides = "driver-module-missing",
	  .root = "gpu-bound-to-vfio" },
	{ .what = "bound to nvidia", .layers = { HOST }, .hides = "gpu-bound-to-vfio" },
	{ .what = "off the bus",
	  .layers = { HOST, GPU("'config':'all-ff','power_state':'D0'"),
		      "{'driver':{'cuda_init':'100'}}" },
	  .shows = "gpu-off-bus",
	  .hides = "gpu-power-state",
	  .root = "gpu-off-bus" },
	{ .what = "on the bus",
	  .layers = { HOST, GPU("'config':'ok'") },
	  .hides = "gpu-off-bus" },
	{ .what = "asleep for good",
	  .layers = { HOST, GPU("'config':'all-ff','power_state':'D3cold'"),
		      "{'driver':{'cuda_init':'100'}}" },
	  .shows = "gpu-power-state",
	  .hides = "gpu-off-bus",
	  .root = "gpu-power-state" },
	{ .what = "asleep and fine",
	  .layers = { HOST, GPU("'power_state':'D3cold'") },
	  .hides = "gpu-power-state" },
	{ .what = "no BARs",
	  .layers = { HOST, GPU("'bars':'unassigned'") },
	  .shows = "pci-bar-unassigned" },
	{ .what = "BARs", .layers = { HOST }, .hides = "pci-bar-unassigned" },
	{ .what = "a name of two chips",
	  .layers = { DECLARED,
		      "{'gpus':[{'name':'GT 710','ambiguous':'10de:104d, 10de:128b'}]}" },
	  .shows = "insufficient-evidence",
	  .root = "insufficient-evidence" },
};

static void hardware(void **state)
{
	(void)state;
	world_cases(hardware_cases, ARRAY_LEN(hardware_cases));
}

static const struct world_case chip_and_branch_cases[] = {
	{ .what = "5070 Ti on 550",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:2c05','compute_capability':'12.0'}],"
		      "'driver':{'version':'550.120'}}" },
	  .shows = "gpu-needs-newer-driver",
	  .hides = "open-module-required",
	  .root = "gpu-needs-newer-driver" },
	{ .what = "5070 Ti on 550, proprietary, unloaded",
	  .layers = { HOST, UNLOADED,
		      "{'gpus':[{'pci_id':'10de:2c05','compute_capability':'12.0'}]}" },
	  .shows = "gpu-needs-newer-driver",
	  .hides = "driver-module-missing",
	  .root = "gpu-needs-newer-driver" },
	{ .what = "5070 Ti on 570",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:2c05','compute_capability':'12.0'}],"
		      "'driver':{'version':'570.133.07'}}" },
	  .hides = "gpu-needs-newer-driver" },
	{ .what = "a bare branch is its newest",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:2c05',"
		      "'compute_capability':'12.0'}],'driver':{'version':'570'}}" },
	  .hides = "gpu-needs-newer-driver" },
	{ .what = "the driver shows it works",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:2c05','driver_info':'yes',"
		      "'compute_capability':'12.0'}],'driver':{'version':'550.120'}}" },
	  .hides = "gpu-needs-newer-driver" },
	{ .what = "Kepler on 550",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:102d','compute_capability':'3.7'}],"
		      "'driver':{'version':'550.120'}}" },
	  .shows = "gpu-dropped-by-driver",
	  .root = "gpu-dropped-by-driver" },
	{ .what = "Kepler on 470",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:102d','compute_capability':'3.7'}],"
		      "'driver':{'version':'470.256.02'}}" },
	  .hides = "gpu-dropped-by-driver",
	  .root = "" },
	{ .what = "Kepler on Windows 475",
	  .layers = { DECLARED,
		      "{'host':{'system':'windows'},'gpus':[{'pci_id':'10de:102d',"
		      "'compute_capability':'3.7'}],'driver':{'version':'475.14'}}" },
	  .hides = "gpu-dropped-by-driver" },
	{ .what = "Volta on 580",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:1db4','compute_capability':'7.0'}],"
		      "'driver':{'version':'580.95.05'}}" },
	  .hides = "gpu-dropped-by-driver" },
	{ .what = "Blackwell, proprietary",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:2b85','compute_capability':'12.0'}],"
		      "'driver':{'version':'580.95.05','flavor':'proprietary'}}" },
	  .shows = "open-module-required",
	  .root = "open-module-required" },
	{ .what = "Blackwell, open",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:2b85','compute_capability':'12.0'}],"
		      "'driver':{'version':'580.95.05','flavor':'open'}}" },
	  .hides = "open-module-required",
	  .root = "" },
	{ .what = "Pascal, open",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:1b80','compute_capability':'6.1'}],"
		      "'driver':{'version':'560.35.03','flavor':'open'}}" },
	  .shows = "open-module-unsupported-gpu",
	  .hides = "gpu-dropped-by-driver" },
	{ .what = "Pascal, proprietary",
	  .layers = { DECLARED,
		      "{'gpus':[{'pci_id':'10de:1b80','compute_capability':'6.1'}],"
		      "'driver':{'version':'560.35.03','flavor':'proprietary'}}" },
	  .hides = "open-module-unsupported-gpu",
	  .root = "" },
	{ .what = "Kepler and CUDA 12",
	  .layers = { DECLARED, TORCH,
		      "{'gpus':[{'pci_id':'10de:102d','compute_capability':'3.7'}],"
		      "'driver':{'version':'470.256.02'}}" },
	  .shows = "driver-too-old",
	  .root = "no-driver-can-help" },
	{ .what = "Volta and CUDA 12",
	  .layers = { DECLARED, TORCH,
		      "{'gpus':[{'pci_id':'10de:1db4','compute_capability':'7.0'}],"
		      "'driver':{'version':'580.95.05'}}" },
	  .hides = "no-driver-can-help",
	  .root = "" },
};

static void chip_and_branch(void **state)
{
	(void)state;
	world_cases(chip_and_branch_cases, ARRAY_LEN(chip_and_branch_cases));
}

static const struct world_case modules_cases[] = {
	{ .what = "no driver",
	  .layers = { HOST, UNLOADED, NO_FILES },
	  .shows = "driver-not-installed",
	  .hides = "driver-module-missing",
	  .root = "driver-not-installed" },
	{ .what = "no driver, nouveau has it",
	  .layers = { HOST, UNLOADED, NO_FILES, GPU("'kernel_driver':'nouveau'") },
	  .hides = "nouveau-bound",
	  .root = "driver-not-installed" },
	{ .what = "no driver in WSL",
	  .layers = { WSL },
	  .hides = "driver-not-installed",
	  .root = "" },
	{ .what = "not built",
	  .layers = { HOST, UNLOADED, "{'host':{'kernel':'6.8.0-47-generic'}}" },
	  .shows = "driver-module-not-built",
	  .hides = "driver-module-missing",
	  .root = "driver-module-not-built" },
	{ .what = "not built, no file at all",
	  .layers = { HOST, UNLOADED, "{'driver':{'modules':null}}" },
	  .shows = "driver-module-not-built",
	  .hides = "driver-not-installed" },
	{ .what = "built",
	  .layers = { HOST, UNLOADED },
	  .hides = "driver-module-not-built",
	  .shows = "driver-module-missing",
	  .root = "driver-module-missing" },
	{ .what = "nouveau",
	  .layers = { HOST, UNLOADED, GPU("'kernel_driver':'nouveau'") },
	  .shows = "nouveau-bound",
	  .hides = "driver-module-missing",
	  .root = "nouveau-bound" },
	{ .what = "nouveau took an unbuilt one",
	  .layers = { HOST, UNLOADED, GPU("'kernel_driver':'nouveau'"),
		      "{'host':{'kernel':'6.8.0-47-generic'}}" },
	  .hides = "nouveau-bound",
	  .root = "driver-module-not-built" },
	{ .what = "loaded", .layers = { HOST }, .hides = "driver-module-missing" },
	{ .what = "mixed set",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'999','uvm_loaded':'no','modules':["
		      "{'name':'nvidia','version':'550.90.07','loaded':'yes','path':'/a',"
		      "'kernel':'6.8.0-45-generic'},"
		      "{'name':'nvidia-uvm','version':'550.54.14','path':'/b',"
		      "'kernel':'6.8.0-45-generic'}]}}" },
	  .shows = "driver-module-set-mixed",
	  .root = "driver-module-set-mixed" },
	{ .what = "another kernel's set",
	  .layers = { HOST,
		      "{'driver':{'modules':["
		      "{'name':'nvidia','version':'550.90.07','loaded':'yes','path':'/a',"
		      "'kernel':'6.8.0-45-generic'},"
		      "{'name':'nvidia-uvm','version':'550.54.14','path':'/b',"
		      "'kernel':'6.8.0-44-generic'}]}}" },
	  .hides = "driver-module-set-mixed" },
};

static void modules(void **state)
{
	(void)state;
	world_cases(modules_cases, ARRAY_LEN(modules_cases));
}

static const struct world_case libraries_cases[] = {
	{ .what = "stub by path",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'34',"
		      "'libcuda':{'path':'/usr/local/cuda/lib64/stubs/libcuda.so.1'}}}" },
	  .shows = "libcuda-stub-loaded",
	  .root = "libcuda-stub-loaded" },
	{ .what = "no stub", .layers = { HOST }, .hides = "libcuda-stub-loaded" },
	{ .what = "compat too old",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'803',"
		      "'libcuda':{'path':'/usr/local/cuda/compat/libcuda.so.1',"
		      "'version':'535.104.05'}}}" },
	  .shows = "cuda-compat-older-than-driver",
	  .hides = "driver-library-mismatch" },
	{ .what = "compat on GeForce",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'804',"
		      "'libcuda':{'path':'/usr/local/cuda/compat/libcuda.so.1',"
		      "'version':'570.86.15'}}}" },
	  .shows = "cuda-compat-unsupported-gpu",
	  .root = "cuda-compat-unsupported-gpu" },
	{ .what = "compat that works",
	  .layers = { HOST,
		      "{'driver':{'libcuda':{'path':'/usr/local/cuda/compat/libcuda.so.1',"
		      "'version':'570.86.15'}}}" },
	  .hides = "cuda-compat-unsupported-gpu" },
	{ .what = "dangling",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':null,'libcuda':{'path':{'state':'broken',"
		      "'why':'dangling'},'version':null}}}" },
	  .shows = "libcuda-broken-link",
	  .hides = "libcuda-not-installed",
	  .root = "libcuda-broken-link" },
	{ .what = "whole", .layers = { HOST }, .hides = "libcuda-broken-link" },
	{ .what = "no libcuda",
	  .layers = { HOST, "{'driver':{'cuda_init':null,'libcuda':{'path':" ABSENT
			    ",'version':null}}}" },
	  .shows = "libcuda-not-installed",
	  .root = "libcuda-not-installed" },
	{ .what = "libcuda beside the path",
	  .layers = { HOST, "{'driver':{'cuda_init':null,'libcuda':{'path':{'state':'absent','why':"
			    "'only in /run/opengl-driver/lib, which the loader does not search'},"
			    "'version':null}}}" },
	  .shows = "lib-path-not-set",
	  .hides = "libcuda-not-installed",
	  .root = "lib-path-not-set" },
	{ .what = "libcuda", .layers = { HOST }, .hides = "libcuda-not-installed" },
	{ .what = "libraries were upgraded",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'803','nvml_init':'18',"
		      "'libcuda':{'version':'560.35.03'},"
		      "'modules':[{'name':'nvidia','version':'560.35.03','path':'/a',"
		      "'kernel':'6.8.0-45-generic'}]}}" },
	  .shows = "driver-library-mismatch",
	  .hides = "driver-packages-mixed",
	  .root = "driver-library-mismatch" },
	{ .what = "packages are mixed",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'803','nvml_init':'18',"
		      "'libcuda':{'version':'560.35.03'}}}" },
	  .shows = "driver-packages-mixed",
	  .hides = "driver-library-mismatch" },
	{ .what = "one version", .layers = { HOST }, .hides = "driver-library-mismatch" },
};

static void libraries(void **state)
{
	(void)state;
	world_cases(libraries_cases, ARRAY_LEN(libraries_cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hardware),
		cmocka_unit_test(chip_and_branch),
		cmocka_unit_test(modules),
		cmocka_unit_test(libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
