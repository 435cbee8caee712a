/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project's own declarations of the CUDA driver API and NVML against the real headers, where
 * this machine has them. A difference does not compile; without a header its test is skipped by
 * name.
 */
#include <stddef.h>
#include <stdio.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAVE_CUDA_H 1
#elif __has_include("/usr/local/cuda/include/cuda.h")
#include "/usr/local/cuda/include/cuda.h"
#define HAVE_CUDA_H 1
#else
#define HAVE_CUDA_H 0
#endif

#if __has_include(<nvml.h>)
#include <nvml.h>
#define HAVE_NVML_H 1
#elif __has_include("/usr/local/cuda/include/nvml.h")
#include "/usr/local/cuda/include/nvml.h"
#define HAVE_NVML_H 1
#else
#define HAVE_NVML_H 0
#endif

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wtype-limits"

#define SAME(type, name, args) \
	_Static_assert(__builtin_types_compatible_p(type args, __typeof__(name)), #name)

#if HAVE_CUDA_H
/* Values and prototypes: the lists, read with the real types. */
#define CONST(name, value) _Static_assert((long long)(name) == (value), #name);
#define REQ(name, args)	   SAME(CUresult, name, args);
#define OPT(name, args)	   SAME(CUresult, name, args);
#include "probe/cuda_api.def"
typedef CUresult real_CUresult;
typedef CUdevice real_CUdevice;
typedef CUdevice_attribute real_CUdevice_attribute;
typedef CUuuid real_CUuuid;
#undef cuDeviceGetUuid
#endif

#if HAVE_NVML_H
#define CONST(name, value) _Static_assert((long long)(name) == (value), #name);
#define REQ(name, args)	   SAME(nvmlReturn_t, name, args);
#define OPT(name, args)	   SAME(nvmlReturn_t, name, args);
#include "probe/nvml_api.def"
typedef nvmlReturn_t real_nvmlReturn_t;
typedef nvmlComputeMode_t real_nvmlComputeMode_t;
typedef nvmlPciInfo_t real_nvmlPciInfo_t;
typedef nvmlMemory_t real_nvmlMemory_t;
typedef nvmlProcessInfo_t real_nvmlProcessInfo_t;
typedef nvmlGpuFabricInfo_t real_nvmlGpuFabricInfo_t;
typedef nvmlConfComputeSystemState_t real_nvmlConfComputeSystemState_t;
typedef nvmlMemoryErrorType_t real_nvmlMemoryErrorType_t;
typedef nvmlEccCounterType_t real_nvmlEccCounterType_t;
typedef nvmlEnableState_t real_nvmlEnableState_t;
typedef nvmlGpuVirtualizationMode_t real_nvmlGpuVirtualizationMode_t;
typedef nvmlGridLicensableFeature_t real_nvmlGridLicensableFeature_t;
typedef nvmlGridLicensableFeatures_t real_nvmlGridLicensableFeatures_t;
#undef NVML_DEVICE_UUID_V2_BUFFER_SIZE
#undef NVML_DEVICE_NAME_V2_BUFFER_SIZE
#undef NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
#undef NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE
#undef NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE
#undef NVML_DEVICE_MIG_DISABLE
#undef NVML_DEVICE_MIG_ENABLE
#undef NVML_GPU_FABRIC_STATE_NOT_SUPPORTED
#undef NVML_GPU_FABRIC_STATE_COMPLETED
#undef NVML_CC_SYSTEM_FEATURE_DISABLED
#undef NVML_GRID_LICENSE_FEATURE_MAX_COUNT
#undef NVML_GRID_LICENSE_BUFFER_SIZE
#endif

/* Our own types under other names, beside the real ones. */
#define CUresult				     own_CUresult
#define CUdevice				     own_CUdevice
#define CUdevice_attribute			     own_CUdevice_attribute
#define CUuuid					     own_CUuuid
#define CUDA_SUCCESS				     own_CUDA_SUCCESS
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR own_MAJOR
#define CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR own_MINOR
#include "probe/cuda_api.h"

#define nvmlReturn_t			   own_nvmlReturn_t
#define nvmlComputeMode_t		   own_nvmlComputeMode_t
#define nvmlDevice_t			   own_nvmlDevice_t
#define nvmlPciInfo_t			   own_nvmlPciInfo_t
#define nvmlMemory_t			   own_nvmlMemory_t
#define nvmlProcessInfo_t		   own_nvmlProcessInfo_t
#define nvmlGpuFabricInfo_t		   own_nvmlGpuFabricInfo_t
#define nvmlConfComputeSystemState_t	   own_nvmlConfComputeSystemState_t
#define nvmlMemoryErrorType_t	   own_nvmlMemoryErrorType_t
#define nvmlEccCounterType_t	   own_nvmlEccCounterType_t
#define nvmlEnableState_t		   own_nvmlEnableState_t
#define nvmlGpuVirtualizationMode_t own_nvmlGpuVirtualizationMode_t
#define nvmlGridLicensableFeature_t own_nvmlGridLicensableFeature_t
#define nvmlGridLicensableFeatures_t own_nvmlGridLicensableFeatures_t
#define NVML_SUCCESS			   own_NVML_SUCCESS
#define NVML_MEMORY_ERROR_TYPE_UNCORRECTED own_UNCORRECTED
#define NVML_VOLATILE_ECC		   own_VOLATILE
#define NVML_GPU_VIRTUALIZATION_MODE_VGPU  own_MODE_VGPU
#define NVML_ERROR_NOT_SUPPORTED	   own_NOT_SUPPORTED
#define NVML_ERROR_NOT_FOUND		   own_NOT_FOUND
#define NVML_ERROR_INSUFFICIENT_SIZE	   own_INSUFFICIENT_SIZE
#define NVML_ERROR_FUNCTION_NOT_FOUND	   own_FUNCTION_NOT_FOUND
#define NVML_COMPUTEMODE_DEFAULT	   own_DEFAULT
#define NVML_COMPUTEMODE_EXCLUSIVE_THREAD  own_EXCLUSIVE_THREAD
#define NVML_COMPUTEMODE_PROHIBITED	   own_PROHIBITED
#define NVML_COMPUTEMODE_EXCLUSIVE_PROCESS own_EXCLUSIVE_PROCESS
#include "probe/nvml_api.h"

#define SIZE(type)                                                            \
	_Static_assert(sizeof(own_##type) == sizeof(real_##type) &&           \
			       _Alignof(own_##type) == _Alignof(real_##type), \
		       #type)
#define SIGN(type) _Static_assert(((own_##type) - 1 < 0) == ((real_##type) - 1 < 0), #type)
#define AT(type, field)                                                               \
	_Static_assert(offsetof(own_##type, field) == offsetof(real_##type, field) && \
			       sizeof(((own_##type *)0)->field) ==                    \
				       sizeof(((real_##type *)0)->field),             \
		       #type "." #field)

#if HAVE_CUDA_H
SIZE(CUresult);
SIGN(CUresult);
SIZE(CUdevice);
SIGN(CUdevice);
SIZE(CUdevice_attribute);
SIZE(CUuuid);
#endif

#if HAVE_NVML_H
SIZE(nvmlReturn_t);
SIGN(nvmlReturn_t);
SIZE(nvmlComputeMode_t);
SIZE(nvmlPciInfo_t);
AT(nvmlPciInfo_t, busIdLegacy);
AT(nvmlPciInfo_t, pciDeviceId);
AT(nvmlPciInfo_t, pciSubSystemId);
AT(nvmlPciInfo_t, busId);
SIZE(nvmlMemory_t);
AT(nvmlMemory_t, total);
SIZE(nvmlProcessInfo_t);
AT(nvmlProcessInfo_t, usedGpuMemory);
SIZE(nvmlGpuFabricInfo_t);
AT(nvmlGpuFabricInfo_t, status);
AT(nvmlGpuFabricInfo_t, state);
SIZE(nvmlConfComputeSystemState_t);
AT(nvmlConfComputeSystemState_t, ccFeature);
SIZE(nvmlMemoryErrorType_t);
SIZE(nvmlEccCounterType_t);
SIZE(nvmlEnableState_t);
SIZE(nvmlGpuVirtualizationMode_t);
SIZE(nvmlGridLicensableFeatures_t);
AT(nvmlGridLicensableFeatures_t, gridLicensableFeatures);
AT(nvmlGridLicensableFeature_t, featureState);
#endif

/* All is decided when this compiles; cmocka's way to skip is a failure in TAP. */
int main(void)
{
	puts("1..2");
	puts(HAVE_CUDA_H ? "ok 1 - CUDA's declarations are those of cuda.h"
			 : "ok 1 - CUDA's declarations # SKIP no cuda.h here");
	puts(HAVE_NVML_H ? "ok 2 - NVML's declarations are those of nvml.h"
			 : "ok 2 - NVML's declarations # SKIP no nvml.h here");
	return 0;
}
