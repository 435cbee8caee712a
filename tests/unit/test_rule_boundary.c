/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about containers, images, WSL and what stands between a driver and a context. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "rule_world.h"

#define ABSENT "{'state':'absent'}"
#define NO_LIBCUDA "'cuda_init':null,'libcuda':{'path':" ABSENT ",'version':null}"
#define NO_LIBNVML "'nvml_init':null,'libnvml':{'path':" ABSENT ",'version':null}"

static const struct world_case containers_cases[] = {
	{ .what = "healthy", .layers = { CONTAINER, TORCH }, .root = "" },
	{ .what = "no GPUs",
	  .layers = { CONTAINER, TORCH,
		      "{'nodes':null,'environment':null,'driver':{'version':null,"
		      "'module_loaded':null," NO_LIBCUDA
		      "," NO_LIBNVML "}}" },
	  .shows = "container-no-gpu-requested",
	  .hides = "gpu-not-found",
	  .root = "container-no-gpu-requested" },
	{ .what = "no GPUs, bus hidden",
	  .layers = { CONTAINER,
		      "{'gpus':null,'nodes':null,'driver':{'version':null," NO_LIBCUDA
		      "," NO_LIBNVML "}}" },
	  .hides = "gpu-not-found",
	  .root = "container-no-gpu-requested" },
	{ .what = "a host is none",
	  .layers = { HOST, "{'nodes':null,'driver':{'cuda_init':'100'}}" },
	  .hides = "container-no-gpu-requested" },
	{ .what = "utility alone",
	  .layers = { CONTAINER,
		      "{'nodes':[{'name':'nvidia0'},{'name':'nvidiactl'}],"
		      "'driver':{" NO_LIBCUDA
		      "},"
		      "'environment':[{'name':'NVIDIA_DRIVER_CAPABILITIES',"
		      "'value':'utility'}]}" },
	  .shows = "container-capability-missing",
	  .hides = "libcuda-not-installed",
	  .root = "container-capability-missing" },
	{ .what = "compute asked for",
	  .layers = { CONTAINER },
	  .hides = "container-capability-missing" },
	{ .what = "no uvm node",
	  .layers = { CONTAINER,
		      "{'nodes':[{'name':'nvidia0'},{'name':'nvidiactl'}],"
		      "'driver':{'cuda_init':'999'}}" },
	  .shows = "container-device-nodes-missing",
	  .hides = "uvm-not-loaded",
	  .root = "container-device-nodes-missing" },
	{ .what = "no GPU among the nodes",
	  .layers = { CONTAINER, "{'nodes':[{'name':'nvidiactl'},{'name':'nvidia-uvm'}],"
				 "'driver':{'cuda_init':'100'}}" },
	  .root = "container-device-nodes-missing" },
	{ .what = "a compat library is no leftover",
	  .layers = { CONTAINER, "{'driver':{'cuda_init':'803','libcuda':{'path':"
				 "'/usr/local/cuda/compat/libcuda.so.1','version':'535.104.05',"
				 "'shadowed':['/usr/lib/libcuda.so.1']}}}" },
	  .hides = "container-stale-driver-libs",
	  .root = "cuda-compat-older-than-driver" },
	{ .what = "all nodes",
	  .layers = { CONTAINER },
	  .hides = "container-device-nodes-missing" },
	{ .what = "revoked",
	  .layers = { CONTAINER,
		      "{'nodes':[{'name':'nvidia0','open':'EPERM'},{'name':'nvidiactl',"
		      "'open':'EPERM'},"
		      "{'name':'nvidia-uvm','open':'EPERM'}],'driver':{'cuda_init':'100',"
		      "'nvml_init':'999'}}" },
	  .shows = "container-device-access-revoked",
	  .hides = "device-node-permissions" },
	{ .what = "EPERM on a host",
	  .layers = { HOST, "{'nodes':[{'name':'nvidia0','open':'EPERM'}]}" },
	  .hides = "container-device-access-revoked" },
	{ .what = "image with a driver",
	  .layers = { IMAGE,
		      "{'driver':{'libcuda':{'path':'/usr/lib/libcuda.so.1',"
		      "'version':'535.161.07'}}}" },
	  .shows = "container-stale-driver-libs",
	  .hides = "driver-library-mismatch" },
	{ .what = "the mounted disk of a host",
	  .layers = { IMAGE, "{'driver':{'libcuda':{'path':'/usr/lib/libcuda.so.1','version':"
			     "'535.161.07'},'modules':[{'name':'nvidia','version':'535.161.07',"
			     "'path':'/lib/modules/6/nvidia.ko','kernel':'6'}]}}" },
	  .hides = "container-stale-driver-libs",
	  .root = "" },
	{ .what = "image without",
	  .layers = { IMAGE, TORCH },
	  .hides = "container-stale-driver-libs",
	  .root = "" },
	{ .what = "old copies in the image shadow",
	  .layers = { CONTAINER,
		      "{'driver':{'cuda_init':'803',"
		      "'libcuda':{'path':'/usr/lib/a/libcuda.so.1',"
		      "'version':'535.161.07','shadowed':['/usr/lib/b/libcuda.so.1']}}}" },
	  .shows = "container-stale-driver-libs" },
	{ .what = "mounts of before",
	  .layers = { CONTAINER,
		      "{'driver':{'cuda_init':'803','nvml_init':'18',"
		      "'libcuda':{'version':'535.161.07'},"
		      "'libnvml':{'version':'535.161.07'}}}" },
	  .shows = "container-stale-driver-mounts",
	  .hides = "container-stale-driver-libs" },
	{ .what = "small shm",
	  .layers = { CONTAINER, TORCH, "{'host':{'shm_bytes':'67108864'}}" },
	  .shows = "shm-too-small",
	  .root = "" },
	{ .what = "large shm",
	  .layers = { CONTAINER, TORCH, "{'host':{'shm_bytes':'8589934592'}}" },
	  .hides = "shm-too-small" },
	{ .what = "shm of a host",
	  .layers = { HOST, TORCH, "{'host':{'shm_bytes':'67108864'}}" },
	  .hides = "shm-too-small" },
};

static void containers(void **state)
{
	(void)state;
	world_cases(containers_cases, ARRAY_LEN(containers_cases));
}

static const struct world_case wsl_cases[] = {
	{ .what = "healthy", .layers = { WSL, TORCH }, .root = "" },
	{ .what = "WSL 1",
	  .layers = { WSL,
		      "{'host':{'system':'wsl1'},'nodes':null,"
		      "'driver':{'cuda_init':null}}" },
	  .shows = "wsl1-no-gpu",
	  .root = "wsl1-no-gpu" },
	{ .what = "no dxg",
	  .layers = { WSL, "{'nodes':null,'gpus':null,'driver':{'cuda_init':'100'}}" },
	  .shows = "wsl-no-dxg",
	  .hides = "gpu-not-found",
	  .root = "wsl-no-dxg" },
	{ .what = "Linux driver inside",
	  .layers = { WSL,
		      "{'driver':{'cuda_init':'100',"
		      "'libcuda':{'path':'/usr/lib/x86_64-linux-gnu/libcuda.so.1',"
		      "'version':'550.90.07'}}}" },
	  .shows = "wsl-libcuda-shadowed",
	  .hides = "driver-library-mismatch",
	  .root = "wsl-libcuda-shadowed" },
	{ .what = "stub in front",
	  .layers = { WSL,
		      "{'driver':{'cuda_init':'34',"
		      "'libcuda':{'path':'/usr/local/cuda/lib64/stubs/libcuda.so.1'}}}" },
	  .hides = "wsl-libcuda-shadowed",
	  .root = "libcuda-stub-loaded" },
	{ .what = "not on the path",
	  .layers = { WSL, "{'driver':{" NO_LIBCUDA "}}" },
	  .shows = "wsl-libcuda-not-on-path",
	  .hides = "libcuda-not-installed",
	  .root = "wsl-libcuda-not-on-path" },
	{ .what = "the Windows driver is too old",
	  .layers = { WSL, TORCH,
		      "{'driver':{'windows_driver':'516.94','cuda_ceiling':'11.7'}}" },
	  .shows = "driver-too-old",
	  .root = "driver-too-old" },
};

static void wsl(void **state)
{
	(void)state;
	world_cases(wsl_cases, ARRAY_LEN(wsl_cases));
}

static const struct world_case devices_cases[] = {
	{ .what = "uvm",
	  .layers = { HOST,
		      "{'driver':{'uvm_loaded':'no','cuda_init':'999','modules':null}}" },
	  .shows = "uvm-not-loaded",
	  .root = "uvm-not-loaded" },
	{ .what = "uvm not needed yet",
	  .layers = { HOST, "{'driver':{'uvm_loaded':'no','modules':null}}" },
	  .hides = "uvm-not-loaded" },
	{ .what = "mode by owner",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'100'},'nodes':[{'name':'nvidia0',"
		      "'mode':'0660','uid':'0','gid':'27'},"
		      "{'name':'nvidiactl','mode':'0666'},{'name':'nvidia-uvm',"
		      "'mode':'0666'}]}" },
	  .shows = "device-node-permissions",
	  .root = "device-node-permissions" },
	{ .what = "mode by group",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'100'},'nodes':[{'name':'nvidia0',"
		      "'mode':'0660','uid':'0','gid':'44'},"
		      "{'name':'nvidiactl','mode':'0666'},{'name':'nvidia-uvm',"
		      "'mode':'0666'}]}" },
	  .hides = "device-node-permissions" },
	{ .what = "EACCES",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'100'},'nodes':[{'name':'nvidiactl',"
		      "'mode':'0600','open':'EACCES'},"
		      "{'name':'nvidia-uvm','mode':'0666'}]}" },
	  .shows = "device-node-permissions" },
	{ .what = "fabric",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'802'},"
		      "'services':[{'name':'nvidia-fabricmanager','state':'failed'}]}" },
	  .shows = "fabric-manager-not-running",
	  .root = "fabric-manager-not-running" },
	{ .what = "fabric is up",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'802'},"
		      "'services':[{'name':'nvidia-fabricmanager','state':'active'}]}" },
	  .hides = "fabric-manager-not-running" },
	{ .what = "MIG empty",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:20b0','compute_capability':'8.0',"
		      "'mig_mode':'enabled','mig_devices':[],"
		      "'nvml_index':'0'}],'driver':{'cuda_init':'100'}}" },
	  .shows = "mig-no-instance",
	  .root = "mig-no-instance" },
	{ .what = "MIG with one",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:20b0','compute_capability':'8.0',"
		      "'mig_mode':'enabled',"
		      "'mig_devices':['MIG-1'],'nvml_index':'0'}]}" },
	  .hides = "mig-no-instance" },
	{ .what = "prohibited",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9',"
		      "'compute_mode':'Prohibited','nvml_index':'0'}]}" },
	  .shows = "compute-mode-exclusive",
	  .root = "compute-mode-exclusive" },
	{ .what = "exclusive and taken",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9',"
		      "'compute_mode':'Exclusive_Process','nvml_index':'0',"
		      "'processes':'1'}]}" },
	  .shows = "compute-mode-exclusive" },
	{ .what = "exclusive and free",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9',"
		      "'compute_mode':'Exclusive_Process','nvml_index':'0',"
		      "'processes':'0'}]}" },
	  .hides = "compute-mode-exclusive" },
	{ .what = "exclusive and taken by the server of MPS",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9',"
		      "'compute_mode':'Exclusive_Process','nvml_index':'0',"
		      "'processes':'1','mps_server':'yes'}]}" },
	  .hides = "compute-mode-exclusive" },
	{ .what = "V10 cuInit hangs",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':null,'cuda_end':'hung'}}" },
	  .shows = "driver-call-hung",
	  .root = "driver-call-hung" },
	{ .what = "V10 cuInit hangs after the firmware stopped",
	  .layers = { HOST,
		      "{'parts':{'log':'yes'},'driver':{'cuda_init':null,'cuda_end':'hung'},"
		      "'log':[{'id':'xid','xid':'119','address':'0000:01:00.0','text':'Xid'}]}" },
	  .shows = "gsp-timeout",
	  .root = "gsp-timeout" },
	{ .what = "V8 cuInit crashes",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':null,'cuda_end':'crashed'}}" },
	  .shows = "driver-library-crash",
	  .root = "driver-library-crash" },
	{ .what = "V9 cuInit ends the process",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':null,'cuda_end':'exited'}}" },
	  .shows = "driver-library-crash",
	  .root = "driver-library-crash" },
	{ .what = "V3 V4 the loader does not take it",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':null,'cuda_end':'refused'}}" },
	  .shows = "libcuda-wrong-file",
	  .root = "libcuda-wrong-file" },
	{ .what = "V7 cuInit gives what is no code",
	  .layers = { HOST, "{'driver':{'cuda_init':{'state':'broken','why':'junk'}}}" },
	  .shows = "insufficient-evidence",
	  .root = "insufficient-evidence" },
	{ .what = "NVML hangs and CUDA works",
	  .layers = { HOST, "{'driver':{'nvml_init':null,'nvml_end':'hung'}}" },
	  .shows = "driver-call-hung" },
	{ .what = "calls that come back", .layers = { HOST }, .hides = "driver-call-hung" },
	{ .what = "calls that do not crash", .layers = { HOST }, .hides = "driver-library-crash" },
	{ .what = "a library that loads", .layers = { HOST }, .hides = "libcuda-wrong-file" },
	{ .what = "default mode", .layers = { HOST }, .hides = "compute-mode-exclusive" },
	{ .what = "hidden",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'100'},"
		      "'environment':[{'name':'CUDA_VISIBLE_DEVICES','value':'-1'}]}" },
	  .shows = "visible-devices-wrong",
	  .root = "visible-devices-wrong" },
	{ .what = "names none",
	  .layers = { HOST,
		      "{'environment':[{'name':'CUDA_VISIBLE_DEVICES','value':'3'}]}" },
	  .shows = "visible-devices-wrong" },
	{ .what = "names one",
	  .layers = { HOST,
		      "{'environment':[{'name':'CUDA_VISIBLE_DEVICES','value':'0,7'}]}" },
	  .hides = "visible-devices-wrong" },
	{ .what = "by UUID",
	  .layers = { HOST,
		      "{'environment':[{'name':'CUDA_VISIBLE_DEVICES',"
		      "'value':'GPU-aaaa'}]}" },
	  .hides = "visible-devices-wrong" },
	{ .what = "the scheduler gave one of two",
	  .layers = { HOST,
		      "{'gpus':[{'pci_id':'10de:2684','compute_capability':'8.9'},{'pci_id':"
		      "'10de:2684','compute_capability':'8.9','nvml_index':'0'}],'environment':"
		      "[{'name':'CUDA_VISIBLE_DEVICES','value':'1'}]}" },
	  .shows = "visible-devices-wrong" },
	{ .what = "by a wrong UUID",
	  .layers = { HOST,
		      "{'driver':{'cuda_init':'100'},'environment':[{'name':"
		      "'CUDA_VISIBLE_DEVICES','value':'GPU-bbbb'}]}" },
	  .shows = "visible-devices-wrong" },
};

static void devices(void **state)
{
	(void)state;
	world_cases(devices_cases, ARRAY_LEN(devices_cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(containers),
		cmocka_unit_test(wsl),
		cmocka_unit_test(devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
