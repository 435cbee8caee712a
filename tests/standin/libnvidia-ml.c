/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvidia-ml.so.1 that does what a script says; touches no device. */
#include "standin/script.h"

#include "probe/nvml_api.h"

#define P	     "nvml."
#define BEHAVE(call) behave(P, call, "nvmlInit_v2")
#define EXPORT	     __attribute__((visibility("default")))

#define REQ(name, args) EXPORT nvmlReturn_t name args;
#define OPT(name, args) EXPORT nvmlReturn_t name args;
#include "probe/nvml_api.def"

/* A handle is an index and one; a MIG device's has its place in the upper half. */
static int index_of(nvmlDevice_t dev)
{
	return (int)((size_t)dev & 0xffff) - 1;
}

static nvmlDevice_t handle(int index, unsigned mig)
{
	return (nvmlDevice_t)(((size_t)mig << 16) | (size_t)(index + 1));
}

static nvmlReturn_t device_error(nvmlDevice_t dev)
{
	return (nvmlReturn_t)say_number(P, "error", index_of(dev), 0);
}

__attribute__((constructor)) static void load(void)
{
	BEHAVE("load");
}

nvmlReturn_t nvmlInit_v2(void)
{
	usleep((useconds_t)say_number(P, "init_ms", -1, 0) * 1000);
	BEHAVE("nvmlInit_v2");
	return (nvmlReturn_t)say_number(P, "init", -1, 0);
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
	BEHAVE("nvmlSystemGetDriverVersion");
	give_text(P, text, size, say(P, "driver", -1, "550.90.07"));
	return 0;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = is_behaviour(P, "garbage") ? 0 : (int)say_number(P, "cuda", -1, 12040);
	return 0;
}

nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state)
{
	*state = (nvmlConfComputeSystemState_t){ 0 };
	state->ccFeature = (unsigned)say_number(P, "cc_feature", -1, 0);
	return 0;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
	BEHAVE("nvmlDeviceGetCount_v2");
	*count = is_behaviour(P, "garbage") ? ~0U : (unsigned)say_number(P, "devices", -1, 1);
	return (nvmlReturn_t)say_number(P, "count", -1, 0);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *dev)
{
	BEHAVE("nvmlDeviceGetHandleByIndex_v2");
	*dev = handle((int)index, 0);
	return (nvmlReturn_t)say_number(P, "lost", (int)index, 0);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t dev, char *text, unsigned int size)
{
	BEHAVE("nvmlDeviceGetName");
	give_text(P, text, size, say(P, "name", index_of(dev), "NVIDIA Stand-in"));
	return device_error(dev);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t dev, char *text, unsigned int size)
{
	size_t mig = (size_t)dev >> 16;
	char dflt[64];

	if (mig)
		snprintf(dflt, sizeof(dflt), "MIG-%d-%zu", index_of(dev), mig - 1);
	else
		snprintf(dflt, sizeof(dflt), "GPU-%08d-0000-0000-0000-000000000000", index_of(dev));
	give_text(P, text, size, mig ? dflt : say(P, "uuid", index_of(dev), dflt));
	return device_error(dev);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t dev, nvmlPciInfo_t *pci)
{
	char dflt[32];

	snprintf(dflt, sizeof(dflt), "00000000:%02X:00.0", (unsigned)(index_of(dev) + 1) & 0xff);
	memset(pci, 0, sizeof(*pci));
	give_text(P, pci->busId, sizeof(pci->busId), say(P, "pci", index_of(dev), dflt));
	pci->pciDeviceId = (unsigned)say_number(P, "id", index_of(dev), 0x268410de);
	pci->pciSubSystemId = (unsigned)say_number(P, "sub", index_of(dev), 0x16f410de);
	return device_error(dev);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t dev, nvmlMemory_t *memory)
{
	memset(memory, 0, sizeof(*memory));
	memory->total = (unsigned long long)say_number(P, "mib", index_of(dev), 24564) << 20;
	return device_error(dev);
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t dev, nvmlComputeMode_t *mode)
{
	*mode = is_behaviour(P, "garbage")
			? 77
			: (nvmlComputeMode_t)say_number(P, "mode", index_of(dev), 0);
	return 0;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t dev, int *major, int *minor)
{
	const char *cc = say(P, "cc", index_of(dev), "8.9"), *dot = strchr(cc, '.');

	*major = atoi(cc);
	*minor = dot ? atoi(dot + 1) : 0;
	return 0;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t dev, unsigned int *now, unsigned int *pending)
{
	long mode = say_number(P, "mig", index_of(dev), -1);

	*now = *pending = (unsigned)mode;
	return mode < 0 ? NVML_ERROR_NOT_SUPPORTED : 0;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t dev, unsigned int *count)
{
	(void)dev;
	*count = 7;
	return 0;
}

/* Every other place is empty, as after instances were destroyed. */
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t dev, unsigned int index,
						 nvmlDevice_t *mig)
{
	if (index % 2 || (long)index / 2 >= say_number(P, "migs", index_of(dev), 0))
		return NVML_ERROR_NOT_FOUND;
	*mig = handle(index_of(dev), index / 2 + 1);
	return 0;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t dev, nvmlGpuFabricInfo_t *info)
{
	memset(info, 0, sizeof(*info));
	info->state = (unsigned char)say_number(P, "fabric", index_of(dev), 0);
	return 0;
}

/* Each counter is not supported unless the script names it, as on a card without ECC. */
static nvmlReturn_t scripted(const char *key, nvmlDevice_t dev, long *ret)
{
	*ret = say_number(P, key, index_of(dev), -1);
	return *ret < 0 ? NVML_ERROR_NOT_SUPPORTED : 0;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t dev, nvmlMemoryErrorType_t type,
					 nvmlEccCounterType_t counter, unsigned long long *n)
{
	long value;
	nvmlReturn_t r = scripted("ecc", dev, &value);

	if (type != NVML_MEMORY_ERROR_TYPE_UNCORRECTED || counter != NVML_VOLATILE_ECC)
		return NVML_ERROR_NOT_FOUND;
	*n = (unsigned long long)value;
	return r;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t dev, unsigned int *corrected,
				       unsigned int *uncorrected, unsigned int *pending,
				       unsigned int *failed)
{
	long value;
	nvmlReturn_t r = scripted("remap", dev, &value);

	*corrected = *uncorrected = 0;
	*pending = value & 1;
	*failed = (value >> 1) & 1;
	return r;
}

nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t dev, nvmlEnableState_t *pending)
{
	long value;
	nvmlReturn_t r = scripted("retired", dev, &value);

	*pending = (nvmlEnableState_t)value;
	return r;
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t dev, nvmlEnableState_t *mode)
{
	long value;
	nvmlReturn_t r = scripted("persistence", dev, &value);

	*mode = (nvmlEnableState_t)value;
	return r;
}

/* What `prove --bench` asks besides. */

EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *address, nvmlDevice_t *dev)
{
	const char *colon = strchr(address, ':');

	*dev = handle(colon ? (int)strtol(colon + 1, NULL, 16) - 1 : 0, 0);
	return 0;
}

struct utilization {
	unsigned gpu, memory;
};
EXPORT nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t dev, struct utilization *u)
{
	u->gpu = u->memory = (unsigned)say_number(P, "busy", index_of(dev), 0);
	return 0;
}

#define SCRIPTED(call, key)                                                       \
	EXPORT nvmlReturn_t call(nvmlDevice_t dev, unsigned *n);                  \
	nvmlReturn_t call(nvmlDevice_t dev, unsigned *n)                          \
	{                                                                         \
		long value;                                                       \
		nvmlReturn_t r = scripted(key, dev, &value);                      \
										  \
		*n = (unsigned)value;                                             \
		return r;                                                         \
	}
SCRIPTED(nvmlDeviceGetCurrPcieLinkGeneration, "gen")
SCRIPTED(nvmlDeviceGetCurrPcieLinkWidth, "width")
SCRIPTED(nvmlDeviceGetMaxPcieLinkGeneration, "max_gen")
SCRIPTED(nvmlDeviceGetMaxPcieLinkWidth, "max_width")
SCRIPTED(nvmlDeviceGetEnforcedPowerLimit, "power")
SCRIPTED(nvmlDeviceGetPowerManagementDefaultLimit, "full_power")

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t dev,
						       unsigned long long *reasons)
{
	*reasons = (unsigned long long)say_number(P, "held", index_of(dev), 1);
	return 0;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t dev, unsigned long long *reasons)
{
	return nvmlDeviceGetCurrentClocksThrottleReasons(dev, reasons);
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t dev, nvmlEnableState_t *now,
				  nvmlEnableState_t *pending)
{
	*now = *pending = (nvmlEnableState_t)say_number(P, "ecc_on", index_of(dev), 0);
	return 0;
}

/* As many as the script says, all of one process. */
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t dev, unsigned int *n,
						     nvmlProcessInfo_t *list)
{
	unsigned all = (unsigned)say_number(P, "procs", index_of(dev), 0), room = *n, i;

	*n = all;
	if (all > room)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (i = 0; i < all; i++)
		list[i].pid = (unsigned)say_number(P, "pid", index_of(dev), 1);
	return 0;
}

nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t dev, nvmlGpuVirtualizationMode_t *mode)
{
	long value;
	nvmlReturn_t r = scripted("virtual", dev, &value);

	*mode = (nvmlGpuVirtualizationMode_t)value;
	return r;
}

nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t dev,
						    nvmlGridLicensableFeatures_t *f)
{
	long value;
	nvmlReturn_t r = scripted("license", dev, &value);

	memset(f, 0, sizeof(*f));
	f->isGridLicenseSupported = 1;
	/* One more than there is room for. */
	f->licensableFeaturesCount = 4;
	f->gridLicensableFeatures[1].featureState = value > 0;
	return r;
}

nvmlReturn_t nvmlSystemGetConfComputeGpusReadyState(unsigned int *ready)
{
	*ready = (unsigned)say_number(P, "cc_ready", -1, 0);
	return 0;
}
