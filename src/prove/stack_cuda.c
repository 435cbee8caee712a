/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime: counts the devices and launches a kernel by the way of compiled programs, with
 * a fat binary that is made here. Facts: CUDA Runtime API reference; the layout of fat binaries as
 * sys/fatbin.c reads it.
 */
#include <stdio.h>
#include <string.h>

#include "prove/reference.h"
#include "prove/stack_call.h"

int stack_code(struct lab *l, const char *name, int code)
{
	if (!code)
		return 0;
	l->o->code = code;
	snprintf(l->o->call, sizeof(l->o->call), "%s", name);
	lab_fail(l, N_("%s gave %d"), name, code);
	return -1;
}

void stack_version(struct lab *l, int version)
{
	lab_figure(l, "version", version);
}

struct fat_header {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;
};

struct fat_entry {
	uint16_t kind, version;
	uint32_t header_size;
	uint64_t size;
	uint32_t compressed, options;
	uint16_t minor, major;
	uint32_t arch, name_offset, name_size;
	uint64_t flags, zero, uncompressed;
	uint64_t options_at,
		none; /* what `options` points to: where the compiler's options would be */
};

struct fat_wrapper {
	uint32_t magic, version;
	const void *data;
	void *unused;
};

struct dim3 {
	unsigned x, y, z;
};

/* The base module as a compiler would have put it into a program. */
static void *make_fat(struct lab *l)
{
	size_t n, padded;
	const char *text = lab_image_text(IMAGE_BASE, &n);
	struct fat_header *h;
	struct fat_entry *e;

	padded = (n + 1 + 7) / 8 * 8;
	h = arena_alloc(l->a, sizeof(*h) + sizeof(*e) + padded);
	e = (struct fat_entry *)(void *)(h + 1);
	*h = (struct fat_header){ .magic = 0xba55ed50,
				  .version = 1,
				  .header_size = sizeof(*h),
				  .size = sizeof(*e) + padded };
	/* PTX 4.0 for 5.0, of 64 bits. */
	*e = (struct fat_entry){ .kind = 1,
				 .version = 0x101,
				 .header_size = sizeof(*e),
				 .size = padded,
				 .options = offsetof(struct fat_entry, options_at),
				 .major = 4,
				 .arch = 50,
				 .flags = 0x11,
				 .options_at = offsetof(struct fat_entry, none) };
	memcpy(e + 1, text, n);
	return h;
}

/* Its address stands for the kernel. */
static void host_side(void)
{
}

static int cudart(struct lab *l, const struct stack *s)
{
	void *h = stack_open(l, s, STACK_CUDART), *module, *device = NULL;
	struct fat_wrapper *w = arena_alloc(l->a, sizeof(*w));
	uint32_t n = 50000, seed = lab_u32(l), *got = arena_calloc(l->a, n, 4), i;
	uint32_t *want = arena_calloc(l->a, n, 4);
	void *args[] = { &device, &n, &seed };
	int version = 0, count = 0;

	if (!h)
		return -1;
	FUNCTION(l, h, int, get_version, "cudaRuntimeGetVersion", (int *));
	FUNCTION(l, h, int, get_count, "cudaGetDeviceCount", (int *));
	FUNCTION(l, h, int, set_device, "cudaSetDevice", (int));
	FUNCTION(l, h, int, allocate, "cudaMalloc", (void **, size_t));
	FUNCTION(l, h, int, set, "cudaMemset", (void *, int, size_t));
	FUNCTION(l, h, int, copy, "cudaMemcpy", (void *, const void *, size_t, int));
	FUNCTION(l, h, int, release, "cudaFree", (void *));
	FUNCTION(l, h, int, last_error, "cudaGetLastError", (void));
	FUNCTION(l, h, void *, register_fat, "__cudaRegisterFatBinary", (void *));
	FUNCTION(l, h, void, register_function, "__cudaRegisterFunction",
		 (void *, const char *, char *, const char *, int, void *, void *, void *, void *,
		  int *));
	FUNCTION(l, h, int, launch, "cudaLaunchKernel",
		 (const void *, struct dim3, struct dim3, void **, size_t, void *));
	void (*register_end)(void *) =
		(void (*)(void *))stack_symbol(l, h, "__cudaRegisterFatBinaryEnd");

	/* Only from 10.1 on. */
	if (!register_end)
		memset(l->o, 0, sizeof(*l->o));
	MUST(l, "cudaRuntimeGetVersion", get_version(&version));
	stack_version(l, version);
	MUST(l, "cudaGetDeviceCount", get_count(&count));
	lab_figure(l, "devices", count);
	if (count < 1 || count <= l->ordinal)
		return lab_fail(l, N_("cudaGetDeviceCount: %d devices"), count);
	MUST(l, "cudaSetDevice", set_device(l->ordinal));
	*w = (struct fat_wrapper){ .magic = 0x466243b1, .version = 1, .data = make_fat(l) };
	lab_doing(l, "__cudaRegisterFatBinary");
	module = register_fat(w);
	register_function(module, (const char *)(uintptr_t)host_side,
			  (char *)(uintptr_t) "cuvet_fill", "cuvet_fill", -1, NULL, NULL, NULL,
			  NULL, NULL);
	if (register_end)
		register_end(module);
	MUST(l, "cudaMalloc", allocate(&device, n * 4UL));
	MUST(l, "cudaMemset", set(device, 0xff, n * 4UL));
	MUST(l, "cudaLaunchKernel",
	     launch((const void *)(uintptr_t)host_side, (struct dim3){ (unsigned)l->sms, 1, 1 },
		    (struct dim3){ 128, 1, 1 }, args, 0, NULL));
	MUST(l, "cudaGetLastError", last_error());
	MUST(l, "cudaMemcpy", copy(got, device, n * 4UL, 2));
	MUST(l, "cudaFree", release(device));
	for (i = 0; i < n; i++)
		want[i] = ref_mix(seed + i);
	return lab_compare(l, "cudaLaunchKernel", got, want, n);
}

const struct stack_rung stack_cudart = {
	.name = "stack-cudart",
	.run = cudart,
	.deadline_s = 120,
	.needs = STACK_CUDART,
	.before = { STACK_LIBRARIES },
};
