/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code: what the driver's own linker makes of PTX, and what this build embeds. A GPU or a
 * driver that the embedded one is not for is skipped: PTX proves the same there.
 */
#include <string.h>

#include "compat/compat.h"
#include "prove/lab.h"
#include "prove/sass.h"

enum { CUBIN_LEAST = 64, CUBIN_MOST = 64 << 20 };

/* The driver's own linker makes machine code of PTX, which is then loaded as a file of an ELF form.
 */
static int linked(struct lab *l)
{
	enum lab_image image = l->cc >= 70 ? IMAGE_WARP70 : IMAGE_WARP50;
	size_t n, cubin_n = 0;
	const char *text = lab_image_text(image, &n);
	CUlinkState state;
	void *cubin = NULL, *kept;

	TRY(l, cuLinkCreate_v2, 0, NULL, NULL, &state);
	TRY(l, cuLinkAddData_v2, state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, n + 1, "warp", 0,
	    NULL, NULL);
	TRY(l, cuLinkComplete, state, &cubin, &cubin_n);
	if (!cubin || cubin_n < CUBIN_LEAST || cubin_n > CUBIN_MOST ||
	    memcmp(cubin, "\177ELF", 4) != 0)
		return lab_fail(l, N_("the linker's result is no machine code"));
	kept = arena_alloc(l->a, cubin_n);
	memcpy(kept, cubin, cubin_n);
	TRY(l, cuLinkDestroy, state);
	/* The next rungs take the kernel from it. */
	TRY(l, cuModuleLoadData, &l->modules[image], kept);
	lab_figure(l, "bytes", (double)cubin_n);
	return rung_warp.run(l);
}

/* Drivers of an older CUDA than the code need not take it. */
static int refused(struct lab *l)
{
	int major = sass_cuda / 1000, minor = sass_cuda % 1000 / 10;
	const char *driver = NULL, *release = arena_printf(l->a, "%d.%d", major, minor);
	bool inferred;

	if (l->version >= sass_cuda || l->version / 1000 >= major)
		return -1;
	if (l->opt->compat)
		driver = compat_min_driver(l->opt->compat, release, false, &inferred);
	if (driver)
		return lab_skip(l, N_("machine code of CUDA %s: needs driver >= %s"), release,
				driver);
	return lab_skip(l, N_("machine code of CUDA %s: needs a newer driver"), release);
}

/* Later rungs take their kernels from here, PTX where this is not to be had. */
static int embedded(struct lab *l)
{
	CUmodule loaded[IMAGES] = { NULL };
	size_t i, k, bytes = 0, n = 0;

	if (!sass_cuda)
		return lab_skip(l, N_("this cuvet was built without nvcc: it has PTX alone"));
	for (i = 0; sass_rows[i].image; i++) {
		if (sass_rows[i].cc != l->cc)
			continue;
		for (k = 0; strcmp(lab_image_name((enum lab_image)k), sass_rows[i].image) != 0;)
			k++;
		if (CU(l, cuModuleLoadData, &loaded[k], sass_rows[i].start))
			return refused(l);
		bytes += (size_t)(sass_rows[i].end - sass_rows[i].start);
		n++;
	}
	if (!n)
		return lab_skip(l, N_("the machine code in this cuvet is not for %d.%d"),
				l->cc / 10, l->cc % 10);
	for (k = 0; k < IMAGES; k++)
		if (loaded[k])
			l->modules[k] = loaded[k];
	lab_figure(l, "modules", (double)n);
	lab_figure(l, "bytes", (double)bytes);
	return lab_fill_check(l);
}

const struct rung rung_sass = { .name = "sass-load", .run = linked, .deadline_s = 180 };
const struct rung rung_embedded = { .name = "sass-embedded", .run = embedded, .deadline_s = 60 };
