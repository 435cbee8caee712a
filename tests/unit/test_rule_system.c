/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the system layer on facts that no tree can hold: NVML's counters, licences, ACS, codes.
 * Each fires once and stays silent once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "rule_world.h"

#define FAILS(code) "{'driver':{'cuda_init':'" code "'}}"
#define A100(more)                                                                          \
	"{'gpus':[{'pci_id':'10de:20b5','name':'NVIDIA A100 80GB PCIe',"                    \
	"'compute_capability':'8.0',"                                                       \
	"'address':'0000:01:00.0','kernel_driver':'nvidia','nvml_index':'0','config':'ok'," \
	"'bars':'ok'" more "}]}"
#define H100(more)                                                                               \
	"{'gpus':[{'pci_id':'10de:2331','name':'NVIDIA H100 PCIe','compute_capability':'9.0'," \
	"'address':'0000:01:00.0','nvml_index':'0'" more "}]}"
#define TWO                                                                                      \
	"{'gpus':[{'pci_id':'10de:2684','address':'0000:01:00.0','compute_capability':'8.9',"    \
	"'nvml_index':'0'},{'pci_id':'10de:2684','address':'0000:02:00.0',"                      \
	"'compute_capability':'8.9','nvml_index':'1'}]}"
#define EVENT(id, text) "{'log':[{'id':'" id "','text':'" text "'}],'parts':{'log':'yes'}}"

static const struct world_case cases[] = {
	{ .what = "a GPU named twice",
	  .layers = { HOST, FAILS("101"),
		      "{'environment':[{'name':'CUDA_VISIBLE_DEVICES','value':'0,0'}]}" },
	  .root = "visible-devices-wrong" },
	{ .what = "a GPU named once",
	  .layers = { HOST, FAILS("101"),
		      "{'environment':[{'name':'CUDA_VISIBLE_DEVICES','value':'0'}]}" },
	  .hides = "visible-devices-wrong" },
	{ .what = "uncorrected errors counted",
	  .layers = { HOST, A100(",'ecc_errors':'2'") },
	  .shows = "gpu-ecc-error",
	  .root = "" },
	{ .what = "no errors counted",
	  .layers = { HOST, A100(",'ecc_errors':'0','row_remap':'none','retired_pending':'no'") },
	  .hides = "gpu-ecc-error",
	  .root = "" },
	{ .what = "row remapping failed",
	  .layers = { HOST, A100(",'row_remap':'failed'") },
	  .root = "gpu-ecc-error" },
	{ .what = "row remapping waits for a reset",
	  .layers = { HOST, A100(",'row_remap':'pending'") },
	  .shows = "gpu-ecc-error",
	  .root = "" },
	{ .what = "NVML says that the GPU is lost",
	  .layers = { HOST, A100(",'nvml_error':'15'"), FAILS("999") },
	  .root = "gpu-off-bus" },
	{ .what = "confidential computing is on and not ready",
	  .layers = { HOST, H100(""), FAILS("802"),
		      "{'driver':{'conf_compute':'on','conf_ready':'no'},"
		      "'services':[{'name':'nvidia-fabricmanager','state':'not-found'}]}" },
	  .hides = "fabric-manager-not-running",
	  .root = "confidential-gpu-not-ready" },
	{ .what = "confidential computing is off",
	  .layers = { HOST, H100(""), FAILS("802"),
		      "{'driver':{'conf_compute':'off'},"
		      "'services':[{'name':'nvidia-fabricmanager','state':'not-found'}]}" },
	  .hides = "confidential-gpu-not-ready",
	  .root = "insufficient-evidence" },
	{ .what = "a fabric by NVML alone, the manager stopped",
	  .layers = { HOST, H100(",'fabric':'in-progress'"), FAILS("802"),
		      "{'services':[{'name':'nvidia-fabricmanager','state':'inactive'}]}" },
	  .root = "fabric-manager-not-running" },
	{ .what = "a fabric whose manager runs",
	  .layers = { HOST, H100(",'fabric':'in-progress'"), FAILS("802"),
		      "{'services':[{'name':'nvidia-fabricmanager','state':'active'}]}" },
	  .hides = "fabric-manager-not-running",
	  .root = "insufficient-evidence" },
	{ .what = "a virtual GPU without a licence",
	  .layers = { HOST, A100(",'virtualization':'vgpu','license':'unlicensed'") },
	  .shows = "vgpu-unlicensed",
	  .root = "" },
	{ .what = "a virtual GPU with a licence",
	  .layers = { HOST, A100(",'virtualization':'vgpu','license':'licensed'") },
	  .hides = "vgpu-unlicensed",
	  .root = "" },
	{ .what = "ACS redirects between two GPUs",
	  .layers = { HOST, TWO, "{'host':{'acs':'redirects','iommu':'DMA','hypervisor':'no'}}" },
	  .shows = "p2p-blocked-by-acs",
	  .root = "" },
	{ .what = "ACS in a virtual machine",
	  .layers = { HOST, TWO, "{'host':{'acs':'redirects','hypervisor':'yes'}}" },
	  .hides = "p2p-blocked-by-acs" },
	{ .what = "ACS above one GPU",
	  .layers = { HOST, "{'host':{'acs':'redirects','hypervisor':'no'}}" },
	  .hides = "p2p-blocked-by-acs" },
	{ .what = "ACS off",
	  .layers = { HOST, TWO, "{'host':{'acs':'off','hypervisor':'no'}}" },
	  .hides = "p2p-blocked-by-acs" },
	{ .what = "a second process on one MIG slice",
	  .layers = { HOST,
		      A100(",'mig_mode':'enabled','mig_devices':['MIG-a','MIG-b']"),
		      "{'environment':[{'name':'LOCAL_RANK','value':'1'}],"
		      "'driver':{'cuda_devices':'1'}}" },
	  .root = "mig-single-instance" },
	{ .what = "the first process on one MIG slice",
	  .layers = { HOST,
		      A100(",'mig_mode':'enabled','mig_devices':['MIG-a','MIG-b']"),
		      "{'environment':[{'name':'LOCAL_RANK','value':'0'}],"
		      "'driver':{'cuda_devices':'1'}}" },
	  .hides = "mig-single-instance" },
	{ .what = "an unprivileged container that starts Docker",
	  .layers = { CONTAINER,
		      "{'container':{'kind':'lxc','rootless':'yes'},"
		      "'runtime':{'docker':'/usr/bin/dockerd',"
		      "'toolkit':'/usr/bin/nvidia-container-runtime','no_cgroups':'no'}}" },
	  .shows = "container-cgroup-denied" },
	{ .what = "a privileged container that starts Docker",
	  .layers = { CONTAINER,
		      "{'container':{'kind':'lxc','rootless':'no'},"
		      "'runtime':{'docker':'/usr/bin/dockerd',"
		      "'toolkit':'/usr/bin/nvidia-container-runtime','no_cgroups':'no'}}" },
	  .hides = "container-cgroup-denied" },
	{ .what = "a container on a machine whose bus has no GPU",
	  .layers = { CONTAINER, FAILS("100"),
		      "{'source':'live','gpus':[],'nodes':[],'host':{'pci_devices':'6'},"
		      "'environment':[]}" },
	  .hides = "container-no-gpu-requested",
	  .root = "gpu-not-found" },
	{ .what = "the same, and the variable says that none was asked for",
	  .layers = { CONTAINER, FAILS("100"),
		      "{'source':'live','gpus':[],'nodes':[],'host':{'pci_devices':'6'},"
		      "'environment':[{'name':'NVIDIA_VISIBLE_DEVICES','value':'void'}]}" },
	  .hides = "gpu-not-found",
	  .root = "container-no-gpu-requested" },
	{ .what = "a container that sees no bus at all",
	  .layers = { CONTAINER, FAILS("100"),
		      "{'source':'live','gpus':[],'nodes':[],'host':{'pci_devices':'0'},"
		      "'environment':[]}" },
	  .hides = "gpu-not-found",
	  .root = "container-no-gpu-requested" },
	{ .what = "the vGPU manager of the host refuses",
	  .layers = { HOST, FAILS("100"), EVENT("vgpu-host", "Incompatible Guest/Host drivers") },
	  .root = "vgpu-version-mismatch" },
	{ .what = "a line of the vGPU manager while all works",
	  .layers = { HOST, EVENT("vgpu-host", "Incompatible Guest/Host drivers") },
	  .hides = "vgpu-version-mismatch",
	  .root = "" },
	{ .what = "Secure Boot and a key of the distribution",
	  .layers = { HOST,
		      "{'driver':{'version':null,'flavor':null,'module_loaded':'no',"
		      "'cuda_init':'100','cuda_ceiling':null,'nvml_init':'9','modules':[{"
		      "'name':'nvidia','path':'/lib/modules/6.8.0-45-generic/updates/nvidia.ko',"
		      "'kernel':'6.8.0-45-generic','signer':'Canonical Ltd. Kernel Module "
		      "Signing'}]},'nodes':null,'gpus':[{'pci_id':'10de:2684',"
		      "'compute_capability':'8.9'}],'host':{'secure_boot':'yes'}}" },
	  .hides = "secure-boot-blocks-module",
	  .root = "driver-module-missing" },
};

static void system_layer(void **state)
{
	(void)state;
	world_cases(cases, ARRAY_LEN(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(system_layer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
