/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libcuda.so.1 that does what a script says; touches no device. */
#include "standin/script.h"

#include "probe/cuda_api.h"

/* What code.CALL says that it gives; with unless=GPU-2222 not where that one alone is seen. */
static long say_code(const char *call)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *but = say("", "unless", -1, NULL);

	if (but && visible && strncmp(visible, but, strlen(but)) == 0)
		return 0;
	return say_number("code.", call, -1, 0);
}

#ifndef STANDIN_OLD
#include "standin/compute.h"
#endif

#define P	     ""
/* code.CALL=N: what the call gives in place of doing its work. */
#define BEHAVE(call)                                               \
	do {                                                       \
		behave(P, call, "cuInit");                         \
		if (say_code(call))                                \
			return (CUresult)say_code(call);           \
	} while (0)

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuInit(unsigned int flags);
EXPORT CUresult cuDriverGetVersion(int *version);
#ifndef STANDIN_LACKS_COUNT
EXPORT CUresult cuDeviceGetCount(int *count);
#endif
EXPORT CUresult cuDeviceGet(CUdevice *dev, int index);
EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice dev);
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice dev);
EXPORT CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice dev);
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);
#ifndef STANDIN_OLD
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev);
#endif

__attribute__((constructor)) static void load(void)
{
	behave(P, "load", "cuInit");
}

CUresult cuInit(unsigned int flags)
{
	(void)flags;
	usleep((useconds_t)say_number(P, "init_ms", -1, 0) * 1000);
	BEHAVE("cuInit");
	if (is_behaviour(P, "preload") && getenv("LD_PRELOAD"))
		return 999;
	return (CUresult)say_number(P, "cuInit", -1, 0);
}

CUresult cuDriverGetVersion(int *version)
{
	BEHAVE("cuDriverGetVersion");
	*version = is_behaviour(P, "garbage") ? 0 : (int)say_number(P, "version", -1, 12040);
	return (CUresult)say_number(P, "cuDriverGetVersion", -1, 0);
}

#ifndef STANDIN_LACKS_COUNT
CUresult cuDeviceGetCount(int *count)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	BEHAVE("cuDeviceGetCount");
	if (visible && (strncmp(visible, "GPU-", 4) == 0 || strncmp(visible, "MIG-", 4) == 0)) {
		*count = 1;
		return 0;
	}
	*count = is_behaviour(P, "garbage") ? -1 : (int)say_number(P, "devices", -1, 1);
	return (CUresult)say_number(P, "cuDeviceGetCount", -1, 0);
}
#endif

CUresult cuDeviceGet(CUdevice *dev, int index)
{
	BEHAVE("cuDeviceGet");
	*dev = index;
	return 0;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice dev)
{
	BEHAVE("cuDeviceGetName");
	give_text(P, name, (size_t)size, say(P, "name", dev, "NVIDIA Stand-in"));
	return 0;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice dev)
{
	const char *cc, *dot;

	BEHAVE("cuDeviceGetAttribute");
#ifndef STANDIN_OLD
	if (compute_attribute(value, which))
		return 0;
#endif
	cc = say(P, "cc", dev, "8.9");
	dot = strchr(cc, '.');
	if (which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
		*value = atoi(cc);
	else
		*value = dot ? atoi(dot + 1) : 0;
	return 0;
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice dev)
{
	char dflt[32];

	snprintf(dflt, sizeof(dflt), "0000:%02X:00.0", (unsigned)(dev + 1) & 0xff);
	BEHAVE("cuDeviceGetPCIBusId");
	give_text(P, id, (size_t)size, say(P, "pci", dev, dflt));
	return 0;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	BEHAVE("cuDeviceTotalMem_v2");
	*bytes = (size_t)say_number(P, "mib", dev, 24576) << 20;
	return 0;
}

#ifndef STANDIN_OLD
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	BEHAVE("cuDeviceGetUuid_v2");
	memset(uuid->bytes, 0x11 * (dev + 1), sizeof(uuid->bytes));
	return 0;
}
#endif
