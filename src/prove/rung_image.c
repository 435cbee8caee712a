/* SPDX-License-Identifier: Apache-2.0 */
/* Constant memory, surfaces and textures. */
#include "prove/lab.h"
#include "prove/reference.h"

static int constants(struct lab *l)
{
	uint32_t table[1024], n = 20000, i;
	uint32_t *in = arena_calloc(l->a, n, 4);
	uint32_t *want = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	struct lab_buffer din, out;
	void *args[] = { &out.p, &din.p, &n };
	CUdeviceptr where = 0;
	size_t bytes = 0;
	CUfunction f;

	lab_fill_u32(l, table, ARRAY_LEN(table));
	lab_fill_u32(l, in, n);
	for (i = 0; i < n; i++)
		want[i] = table[in[i] & 1023] ^ in[i];
	if (lab_kernel(l, IMAGE_BASE, "cuvet_constant", &f))
		return -1;
	TRY(l, cuModuleGetGlobal_v2, &where, &bytes, l->modules[IMAGE_BASE], "cuvet_table");
	if (bytes != sizeof(table))
		return lab_fail(l, N_("a constant of %zu bytes has %zu"), sizeof(table), bytes);
	TRY(l, cuMemcpyHtoD_v2, where, table, sizeof(table));
	if (lab_in(l, in, n * 4UL, &din) || lab_out(l, n * 4UL, &out) ||
	    lab_run(l, IMAGE_BASE, "cuvet_constant", (unsigned)l->sms, 128, args) ||
	    lab_take(l, &out, got) || lab_free(l, &din))
		return -1;
	return lab_compare(l, "cuvet_constant", got, want, n);
}

struct image {
	uint32_t width, height;
	CUarray array;
	CUsurfObject surface;
	CUtexObject texture;
};

static int image_make(struct lab *l, struct image *m)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {
		.Width = m->width,
		.Height = m->height,
		.Format = CU_AD_FORMAT_UNSIGNED_INT32,
		.NumChannels = 1,
		.Flags = CUDA_ARRAY3D_SURFACE_LDST,
	};
	CUDA_TEXTURE_DESC how = {
		.addressMode = { CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP,
				 CU_TR_ADDRESS_MODE_CLAMP },
		.flags = CU_TRSF_READ_AS_INTEGER,
	};
	CUDA_RESOURCE_DESC what = { .resType = 0 };

	TRY(l, cuArray3DCreate_v2, &m->array, &shape);
	what.res.array.hArray = m->array;
	TRY(l, cuSurfObjectCreate, &m->surface, &what);
	TRY(l, cuTexObjectCreate, &m->texture, &what, &how, NULL);
	return 0;
}

static int image_free(struct lab *l, const struct image *m)
{
	TRY(l, cuTexObjectDestroy, m->texture);
	TRY(l, cuSurfObjectDestroy, m->surface);
	TRY(l, cuArrayDestroy, m->array);
	return 0;
}

/* Written through a surface, read turned through a texture. */
static int images(struct lab *l)
{
	struct image m = { .width = 256, .height = 96 };
	size_t n = (size_t)m.width * m.height;
	uint32_t *in = arena_calloc(l->a, n, 4);
	uint32_t *want = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	struct lab_buffer din, out;
	void *writing[] = { &m.surface, &din.p, &m.width, &m.height };
	void *reading[] = { &out.p, &m.texture, &m.width, &m.height };

	lab_fill_u32(l, in, n);
	ref_texture(want, in, m.width, m.height);
	if (image_make(l, &m) || lab_in(l, in, n * 4, &din) || lab_out(l, n * 4, &out) ||
	    lab_run(l, IMAGE_BASE, "cuvet_surface", (unsigned)l->sms, 128, writing) ||
	    lab_run(l, IMAGE_BASE, "cuvet_texture", (unsigned)l->sms, 128, reading) ||
	    lab_take(l, &out, got) || lab_free(l, &din) || image_free(l, &m))
		return -1;
	return lab_compare(l, "cuvet_texture", got, want, n);
}

static int both(struct lab *l)
{
	return constants(l) || images(l) ? -1 : 0;
}

const struct rung rung_constant = { .name = "constant-texture", .run = both, .deadline_s = 20 };
