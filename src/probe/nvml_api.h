/* SPDX-License-Identifier: Apache-2.0 */
/* Own declarations of the part of NVML that is called, so that no toolkit is needed to build. */
#ifndef PROBE_NVML_API_H
#define PROBE_NVML_API_H

#include <stddef.h>

enum {
#define CONST(name, value) name = (value),
#include "probe/nvml_api.def"
};

typedef unsigned int nvmlReturn_t;	/* an enum there; same size and sign */
typedef unsigned int nvmlComputeMode_t; /* likewise */
typedef unsigned int nvmlMemoryErrorType_t;
typedef unsigned int nvmlEccCounterType_t;
typedef unsigned int nvmlEnableState_t;
typedef unsigned int nvmlGpuVirtualizationMode_t;
typedef struct nvmlDevice_st *nvmlDevice_t;

typedef struct nvml_pci_info {
	char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE];
	unsigned int domain;
	unsigned int bus;
	unsigned int device;
	unsigned int pciDeviceId;    /* device in the upper half, vendor in the lower */
	unsigned int pciSubSystemId; /* likewise */
	char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfo_t;

typedef struct nvml_memory {
	unsigned long long total; /* bytes */
	unsigned long long free;
	unsigned long long used;
} nvmlMemory_t;

typedef struct nvml_process_info {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
} nvmlProcessInfo_t;

typedef struct nvml_fabric_info {
	unsigned char clusterUuid[16];
	nvmlReturn_t status; /* of the registration, when state is COMPLETED */
	unsigned int cliqueId;
	unsigned char state;
} nvmlGpuFabricInfo_t;

typedef struct nvml_conf_compute {
	unsigned int environment;
	unsigned int ccFeature;
	unsigned int devToolsMode;
} nvmlConfComputeSystemState_t;

typedef struct nvml_grid_feature {
	unsigned int featureCode; /* an enum there */
	unsigned int featureState; /* not 0: licensed */
	char licenseInfo[NVML_GRID_LICENSE_BUFFER_SIZE];
	char productName[NVML_GRID_LICENSE_BUFFER_SIZE];
	unsigned int featureEnabled;
	struct {
		unsigned int year;
		unsigned short month, day, hour, min, sec;
		unsigned char status;
	} licenseExpiry;
} nvmlGridLicensableFeature_t;

typedef struct nvml_grid_features {
	int isGridLicenseSupported;
	unsigned int licensableFeaturesCount;
	nvmlGridLicensableFeature_t gridLicensableFeatures[NVML_GRID_LICENSE_FEATURE_MAX_COUNT];
} nvmlGridLicensableFeatures_t;

/* Its functions as pointers; NULL where this library has none. */
struct nvml_api {
#define REQ(name, args) nvmlReturn_t(*name) args;
#define OPT(name, args) nvmlReturn_t(*name) args;
#include "probe/nvml_api.def"
};

#endif
