/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A convolution by cuDNN, checked: by the graph interface from version 9 on, as frameworks use it,
 * else by the one of versions 7 and 8. Facts: the documentation of cuDNN (enumerations,
 * prototypes).
 */
#include <string.h>

#include "prove/stack_call.h"

enum { C = 8, H = 16, F = 8 }; /* channels, height and width, filters of 3 x 3 */

static void reference_conv(const float *x, const float *w, float *y)
{
	int f, c, i, j, u, v, a, b;
	double sum;

	for (f = 0; f < F; f++) {
		for (i = 0; i < H * H; i++) {
			for (sum = 0, c = 0; c < C; c++) {
				for (j = 0; j < 9; j++) {
					u = i / H + j / 3 - 1;
					v = i % H + j % 3 - 1;
					a = (c * H + u) * H + v;
					b = (f * C + c) * 9 + j;
					if (u >= 0 && u < H && v >= 0 && v < H)
						sum += (double)x[a] * (double)w[b];
				}
			}
			y[f * H * H + i] = (float)sum;
		}
	}
}

/* Whole numbers, whose sums are exact. */
static void conv_make(struct lab *l, float *x, float *w, float *y)
{
	size_t i;

	for (i = 0; i < (size_t)C * H * H; i++)
		x[i] = (float)(int)(lab_u32(l) % 31) - 15;
	for (i = 0; i < (size_t)F * C * 9; i++)
		w[i] = (float)(int)(lab_u32(l) % 31) - 15;
	reference_conv(x, w, y);
}

/* The problem on the GPU. */
struct conv {
	void *library;
	struct lab_buffer x, w, y;
};

/* Versions 7 and 8. */
static int legacy(struct lab *l, const struct conv *v)
{
	float one = 1, zero = 0;
	void *h = v->library, *handle = NULL, *dx, *dy, *dw, *conv;
	CUdeviceptr space = 0;
	size_t space_size = 0;

	FUNCTION(l, h, int, create, "cudnnCreate", (void **));
	FUNCTION(l, h, int, destroy, "cudnnDestroy", (void *));
	FUNCTION(l, h, int, new_tensor, "cudnnCreateTensorDescriptor", (void **));
	FUNCTION(l, h, int, set_tensor, "cudnnSetTensor4dDescriptor",
		 (void *, int, int, int, int, int, int));
	FUNCTION(l, h, int, new_filter, "cudnnCreateFilterDescriptor", (void **));
	FUNCTION(l, h, int, set_filter, "cudnnSetFilter4dDescriptor",
		 (void *, int, int, int, int, int, int));
	FUNCTION(l, h, int, new_conv, "cudnnCreateConvolutionDescriptor", (void **));
	FUNCTION(l, h, int, set_conv, "cudnnSetConvolution2dDescriptor",
		 (void *, int, int, int, int, int, int, int, int));
	FUNCTION(l, h, int, get_space, "cudnnGetConvolutionForwardWorkspaceSize",
		 (void *, void *, void *, void *, void *, int, size_t *));
	FUNCTION(l, h, int, forward, "cudnnConvolutionForward",
		 (void *, const void *, void *, const void *, void *, const void *, void *, int,
		  void *, size_t, const void *, void *, void *));

	MUST(l, "cudnnCreate", create(&handle));
	MUST(l, "cudnnCreateTensorDescriptor", new_tensor(&dx));
	MUST(l, "cudnnCreateTensorDescriptor", new_tensor(&dy));
	MUST(l, "cudnnCreateFilterDescriptor", new_filter(&dw));
	MUST(l, "cudnnCreateConvolutionDescriptor", new_conv(&conv));
	MUST(l, "cudnnSetTensor4dDescriptor", set_tensor(dx, 0, 0, 1, C, H, H));
	MUST(l, "cudnnSetTensor4dDescriptor", set_tensor(dy, 0, 0, 1, F, H, H));
	MUST(l, "cudnnSetFilter4dDescriptor", set_filter(dw, 0, 0, F, C, 3, 3));
	MUST(l, "cudnnSetConvolution2dDescriptor", set_conv(conv, 1, 1, 1, 1, 1, 1, 1, 0));
	MUST(l, "cudnnGetConvolutionForwardWorkspaceSize",
	     get_space(handle, dx, dw, conv, dy, 0, &space_size));
	if (space_size > 1 << 30)
		return lab_fail(l, N_("a workspace of %zu bytes makes no sense"), space_size);
	if (space_size)
		TRY(l, cuMemAlloc_v2, &space, space_size);
	MUST(l, "cudnnConvolutionForward",
	     forward(handle, &one, dx, (void *)v->x.p, dw, (void *)v->w.p, conv, 0, (void *)space,
		     space_size, &zero, dy, (void *)v->y.p));
	TRY(l, cuCtxSynchronize);
	MUST(l, "cudnnDestroy", destroy(handle));
	return 0;
}

/* ---- the graph interface */

enum {
	TYPE_HANDLE = 0,
	TYPE_DATA_TYPE = 1,
	TYPE_INT64 = 3,
	TYPE_FLOAT = 4,
	TYPE_VOID_PTR = 6,
	TYPE_CONVOLUTION_MODE = 7,
	TYPE_HEUR_MODE = 8,
	TYPE_DESCRIPTOR = 15,
};
enum {
	DESC_CONVOLUTION = 1,
	DESC_ENGINECFG = 3,
	DESC_ENGINEHEUR = 4,
	DESC_PLAN = 5,
	DESC_FORWARD = 10,
	DESC_GRAPH = 15,
	DESC_VARIANT_PACK = 16,
	DESC_TENSOR = 17,
};
enum {
	CONV_COMP_TYPE = 100,
	CONV_MODE = 101,
	CONV_DILATIONS = 102,
	CONV_STRIDES = 103,
	CONV_POST_PADDINGS = 104,
	CONV_PRE_PADDINGS = 105,
	CONV_SPATIAL_DIMS = 106,
	HEUR_MODE = 200,
	HEUR_GRAPH = 201,
	HEUR_RESULTS = 202,
	PLAN_HANDLE = 400,
	PLAN_CONFIG = 401,
	PLAN_WORKSPACE = 402,
	FORWARD_ALPHA = 700,
	FORWARD_BETA = 701,
	FORWARD_CONV = 702,
	FORWARD_W = 703,
	FORWARD_X = 704,
	FORWARD_Y = 705,
	GRAPH_HANDLE = 800,
	GRAPH_OPS = 801,
	TENSOR_ALIGNMENT = 900,
	TENSOR_TYPE = 901,
	TENSOR_DIMENSIONS = 902,
	TENSOR_STRIDES = 903,
	TENSOR_ID = 906,
	PACK_IDS = 1000,
	PACK_POINTERS = 1001,
	PACK_WORKSPACE = 1003,
};
enum { HEUR_FALLBACK = 2, HEUR_A = 3, CONFIGS = 16 };

struct graph {
	void *handle;
	int (*create)(int, void **);
	int (*set)(void *, int, int, int64_t, const void *);
	int (*get)(void *, int, int, int64_t, int64_t *, void *);
	int (*finish)(void *);
	int (*execute)(void *, void *, void *);
};

struct attribute {
	int name, type, n;
	const void *at;
};

static int describe(struct lab *l, const struct graph *g, int kind, const struct attribute *rows,
		    void **ret)
{
	*ret = NULL;
	MUST(l, "cudnnBackendCreateDescriptor", g->create(kind, ret));
	for (; rows->n; rows++)
		MUST(l, "cudnnBackendSetAttribute",
		     g->set(*ret, rows->name, rows->type, rows->n, rows->at));
	return 0;
}

static int tensor(struct lab *l, const struct graph *g, int64_t id, const int64_t dims[4],
		  void **ret)
{
	int64_t strides[4] = { dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1 };
	int64_t alignment = 16;
	int type = 0;
	const struct attribute rows[] = {
		{ TENSOR_ALIGNMENT, TYPE_INT64, 1, &alignment },
		{ TENSOR_TYPE, TYPE_DATA_TYPE, 1, &type },
		{ TENSOR_DIMENSIONS, TYPE_INT64, 4, dims },
		{ TENSOR_STRIDES, TYPE_INT64, 4, strides },
		{ TENSOR_ID, TYPE_INT64, 1, &id },
		{ .n = 0 },
	};

	if (describe(l, g, DESC_TENSOR, rows, ret))
		return -1;
	MUST(l, "cudnnBackendFinalize", g->finish(*ret));
	return 0;
}

static int operation(struct lab *l, const struct graph *g, void **ret)
{
	static const int64_t dims[3][4] = { { 1, C, H, H }, { F, C, 3, 3 }, { 1, F, H, H } };
	int64_t ones[2] = { 1, 1 }, spatial = 2;
	int type = 0, mode = 1; /* float; cross-correlation */
	float one = 1, zero = 0;
	void *t[3], *conv;
	const struct attribute shape[] = {
		{ CONV_COMP_TYPE, TYPE_DATA_TYPE, 1, &type },
		{ CONV_MODE, TYPE_CONVOLUTION_MODE, 1, &mode },
		{ CONV_DILATIONS, TYPE_INT64, 2, ones },
		{ CONV_STRIDES, TYPE_INT64, 2, ones },
		{ CONV_POST_PADDINGS, TYPE_INT64, 2, ones },
		{ CONV_PRE_PADDINGS, TYPE_INT64, 2, ones },
		{ CONV_SPATIAL_DIMS, TYPE_INT64, 1, &spatial },
		{ .n = 0 },
	};
	const struct attribute forward[] = {
		{ FORWARD_ALPHA, TYPE_FLOAT, 1, &one },
		{ FORWARD_BETA, TYPE_FLOAT, 1, &zero },
		{ FORWARD_CONV, TYPE_DESCRIPTOR, 1, &conv },
		{ FORWARD_X, TYPE_DESCRIPTOR, 1, &t[0] },
		{ FORWARD_W, TYPE_DESCRIPTOR, 1, &t[1] },
		{ FORWARD_Y, TYPE_DESCRIPTOR, 1, &t[2] },
		{ .n = 0 },
	};

	if (tensor(l, g, 1, dims[0], &t[0]) || tensor(l, g, 2, dims[1], &t[1]) ||
	    tensor(l, g, 3, dims[2], &t[2]) || describe(l, g, DESC_CONVOLUTION, shape, &conv))
		return -1;
	MUST(l, "cudnnBackendFinalize", g->finish(conv));
	if (describe(l, g, DESC_FORWARD, forward, ret))
		return -1;
	MUST(l, "cudnnBackendFinalize", g->finish(*ret));
	return 0;
}

/* The first configuration that a heuristic names and that this GPU can make a plan of. */
static int plan_by(struct lab *l, const struct graph *g, void *graph, int mode, void **ret)
{
	void *heur, *configs[CONFIGS], *plan;
	const struct attribute asked[] = {
		{ HEUR_GRAPH, TYPE_DESCRIPTOR, 1, &graph },
		{ HEUR_MODE, TYPE_HEUR_MODE, 1, &mode },
		{ .n = 0 },
	};
	int64_t n = 0, i;

	*ret = NULL;
	if (describe(l, g, DESC_ENGINEHEUR, asked, &heur))
		return -1;
	lab_doing(l, "cudnnBackendFinalize");
	if (g->finish(heur))
		return 0;
	for (i = 0; i < CONFIGS; i++)
		MUST(l, "cudnnBackendCreateDescriptor", g->create(DESC_ENGINECFG, &configs[i]));
	MUST(l, "cudnnBackendGetAttribute",
	     g->get(heur, HEUR_RESULTS, TYPE_DESCRIPTOR, CONFIGS, &n, configs));
	for (i = 0; i < n && i < CONFIGS; i++) {
		const struct attribute rows[] = {
			{ PLAN_HANDLE, TYPE_HANDLE, 1, &g->handle },
			{ PLAN_CONFIG, TYPE_DESCRIPTOR, 1, &configs[i] },
			{ .n = 0 },
		};

		if (describe(l, g, DESC_PLAN, rows, &plan))
			return -1;
		lab_doing(l, "cudnnBackendFinalize");
		if (g->finish(plan) == 0) {
			*ret = plan;
			return 0;
		}
	}
	return 0;
}

static int plan_run(struct lab *l, const struct graph *g, void *plan, const struct conv *v)
{
	const int64_t ids[3] = { 1, 2, 3 };
	void *pointers[3] = { (void *)v->x.p, (void *)v->w.p, (void *)v->y.p }, *pack;
	int64_t space_size = 0, n = 0;
	CUdeviceptr space = 0;
	const struct attribute rows[] = {
		{ PACK_POINTERS, TYPE_VOID_PTR, 3, pointers },
		{ PACK_IDS, TYPE_INT64, 3, ids },
		{ PACK_WORKSPACE, TYPE_VOID_PTR, 1, &space },
		{ .n = 0 },
	};

	MUST(l, "cudnnBackendGetAttribute",
	     g->get(plan, PLAN_WORKSPACE, TYPE_INT64, 1, &n, &space_size));
	if (space_size < 0 || space_size > 1 << 30)
		return lab_fail(l, N_("a workspace of %zu bytes makes no sense"),
				(size_t)space_size);
	TRY(l, cuMemAlloc_v2, &space, (size_t)space_size + 16);
	if (describe(l, g, DESC_VARIANT_PACK, rows, &pack))
		return -1;
	MUST(l, "cudnnBackendFinalize", g->finish(pack));
	MUST(l, "cudnnBackendExecute", g->execute(g->handle, plan, pack));
	TRY(l, cuCtxSynchronize);
	return 0;
}

static int by_graph(struct lab *l, const struct conv *v)
{
	struct graph g = { .handle = NULL };
	void *h = v->library, *op, *graph, *plan;

	FUNCTION(l, h, int, create_handle, "cudnnCreate", (void **));
	FUNCTION(l, h, int, destroy_handle, "cudnnDestroy", (void *));
	FUNCTION(l, h, int, create, "cudnnBackendCreateDescriptor", (int, void **));
	FUNCTION(l, h, int, set, "cudnnBackendSetAttribute",
		 (void *, int, int, int64_t, const void *));
	FUNCTION(l, h, int, get, "cudnnBackendGetAttribute",
		 (void *, int, int, int64_t, int64_t *, void *));
	FUNCTION(l, h, int, finish, "cudnnBackendFinalize", (void *));
	FUNCTION(l, h, int, execute, "cudnnBackendExecute", (void *, void *, void *));

	g = (struct graph){ NULL, create, set, get, finish, execute };
	MUST(l, "cudnnCreate", create_handle(&g.handle));
	const struct attribute rows[] = {
		{ GRAPH_HANDLE, TYPE_HANDLE, 1, &g.handle },
		{ GRAPH_OPS, TYPE_DESCRIPTOR, 1, &op },
		{ .n = 0 },
	};
	if (operation(l, &g, &op) || describe(l, &g, DESC_GRAPH, rows, &graph))
		return -1;
	MUST(l, "cudnnBackendFinalize", g.finish(graph));
	if (plan_by(l, &g, graph, HEUR_A, &plan) ||
	    (!plan && plan_by(l, &g, graph, HEUR_FALLBACK, &plan)))
		return -1;
	if (!plan)
		return lab_fail(l, N_("cuDNN has no plan for a convolution on this GPU"));
	if (plan_run(l, &g, plan, v))
		return -1;
	MUST(l, "cudnnDestroy", destroy_handle(g.handle));
	return 0;
}

static int cudnn(struct lab *l, const struct stack *s)
{
	size_t n = (size_t)F * H * H, i;
	float *x = arena_calloc(l->a, (size_t)C * H * H, 4);
	float *w = arena_calloc(l->a, (size_t)F * C * 9, 4);
	float *y = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	double *want = arena_calloc(l->a, n, 8), *bound = arena_calloc(l->a, n, 8);
	struct conv v = { .library = stack_open(l, s, STACK_CUDNN) };
	size_t version;

	if (!v.library)
		return -1;
	FUNCTION(l, v.library, size_t, get_version, "cudnnGetVersion", (void));

	version = get_version();
	stack_version(l, (int)version);
	conv_make(l, x, w, y);
	for (i = 0; i < n; i++) {
		want[i] = (double)y[i];
		/* Sums are whole; an algorithm by way of transforms may miss them by a little. */
		bound[i] = 0.25;
	}
	if (lab_in(l, x, 4UL * C * H * H, &v.x) || lab_in(l, w, 4UL * F * C * 9, &v.w) ||
	    lab_out(l, 4UL * n, &v.y))
		return -1;
	if ((version >= 90000 ? by_graph(l, &v) : legacy(l, &v)) || lab_take(l, &v.y, got))
		return -1;
	return lab_near(l, "convolution", got, want, bound, n);
}

const struct stack_rung stack_cudnn = {
	.name = "stack-cudnn",
	.run = cudnn,
	.deadline_s = 120,
	.needs = STACK_CUDNN,
	.before = { STACK_CUBLASLT, STACK_CUBLAS, STACK_NVRTC, STACK_LIBRARIES },
};
