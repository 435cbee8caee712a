/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compilers of an environment: nvrtc, nvJitLink, Triton's ptxas. What each makes is loaded and
 * run. Facts: documentation of NVRTC, nvJitLink and ptxas.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prove/reference.h"
#include "prove/stack_call.h"

/* Loads machine code or PTX and runs its cuvet_fill(out, n, seed). */
static int run_fill(struct lab *l, const void *image, const char *what)
{
	uint32_t n = 50000, seed = lab_u32(l), i;
	uint32_t *want = arena_calloc(l->a, n, 4), *got = arena_calloc(l->a, n, 4);
	struct lab_launch how = { .blocks = (unsigned)l->sms, .threads = 128 };
	struct lab_buffer out;
	void *args[] = { &out.p, &n, &seed };
	CUmodule m;

	for (i = 0; i < n; i++)
		want[i] = ref_mix(seed + i);
	TRY(l, cuModuleLoadData, &m, image);
	TRY(l, cuModuleGetFunction, &how.f, m, "cuvet_fill");
	if (lab_out(l, n * 4UL, &out) || lab_launch(l, &how, args) || lab_take(l, &out, got))
		return -1;
	return lab_compare(l, what, got, want, n);
}

static const char source[] =
	"extern \"C\" __global__ void cuvet_fill(unsigned *out, unsigned n, unsigned seed) {\n"
	"	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {\n"
	"		unsigned x = seed + i;\n"
	"		x = (x ^ x >> 16) * 0x7feb352dU;\n"
	"		x = (x ^ x >> 15) * 0x846ca68bU;\n"
	"		out[i] = x ^ x >> 16;\n"
	"	}\n"
	"}\n";

static int nvrtc(struct lab *l, const struct stack *s)
{
	void *h = stack_open(l, s, STACK_NVRTC), *program = NULL;
	char arch[64], *image;
	const char *options[] = { arch };
	int major = 0, minor = 0, code;
	double start = lab_now_ms();
	size_t n = 0;

	if (!h)
		return -1;
	FUNCTION(l, h, int, version, "nvrtcVersion", (int *, int *));
	FUNCTION(l, h, int, create, "nvrtcCreateProgram",
		 (void **, const char *, const char *, int, const void *, const void *));
	FUNCTION(l, h, int, compile, "nvrtcCompileProgram", (void *, int, const char *const *));
	FUNCTION(l, h, int, cubin_size, "nvrtcGetCUBINSize", (void *, size_t *));
	FUNCTION(l, h, int, cubin, "nvrtcGetCUBIN", (void *, char *));
	FUNCTION(l, h, int, log, "nvrtcGetProgramLog", (void *, char *));
	FUNCTION(l, h, int, log_size, "nvrtcGetProgramLogSize", (void *, size_t *));

	MUST(l, "nvrtcVersion", version(&major, &minor));
	stack_version(l, major * 1000 + minor * 10);
	snprintf(arch, sizeof(arch), "--gpu-architecture=sm_%d", l->cc);
	MUST(l, "nvrtcCreateProgram", create(&program, source, "cuvet.cu", 0, NULL, NULL));
	lab_doing(l, "nvrtcCompileProgram");
	code = compile(program, 1, options);
	if (code && !log_size(program, &n) && n > 1 && n < 1 << 20) {
		image = arena_alloc(l->a, n + 1);
		log(program, image);
		l->o->code = code;
		return lab_fail(l, N_("nvrtc for sm_%d: %.160s"), l->cc, image);
	}
	MUST(l, "nvrtcCompileProgram", code);
	lab_figure(l, "compile_ms", lab_now_ms() - start);
	MUST(l, "nvrtcGetCUBINSize", cubin_size(program, &n));
	if (n < 64 || n > 64 << 20)
		return lab_fail(l, N_("machine code of %zu bytes makes no sense"), n);
	image = arena_alloc(l->a, n + 1);
	MUST(l, "nvrtcGetCUBIN", cubin(program, image));
	return run_fill(l, image, "nvrtc");
}

static int nvjitlink(struct lab *l, const struct stack *s)
{
	void *h = stack_open(l, s, STACK_NVJITLINK), *link = NULL, *image;
	unsigned major = 0, minor = 0;
	char arch[32];
	const char *options[] = { arch };
	size_t n, size = 0;
	const char *text = lab_image_text(IMAGE_BASE, &n);

	if (!h)
		return -1;
	FUNCTION(l, h, int, version, "nvJitLinkVersion", (unsigned *, unsigned *));
	FUNCTION(l, h, int, create, "nvJitLinkCreate", (void **, uint32_t, const char **));
	FUNCTION(l, h, int, add, "nvJitLinkAddData",
		 (void *, int, const void *, size_t, const char *));
	FUNCTION(l, h, int, complete, "nvJitLinkComplete", (void *));
	FUNCTION(l, h, int, get_size, "nvJitLinkGetLinkedCubinSize", (void *, size_t *));
	FUNCTION(l, h, int, get, "nvJitLinkGetLinkedCubin", (void *, void *));

	MUST(l, "nvJitLinkVersion", version(&major, &minor));
	stack_version(l, (int)(major * 1000 + minor * 10));
	snprintf(arch, sizeof(arch), "-arch=sm_%d", l->cc);
	MUST(l, "nvJitLinkCreate", create(&link, 1, options));
	/* NVJITLINK_INPUT_PTX */
	MUST(l, "nvJitLinkAddData", add(link, 2, text, n + 1, "base"));
	MUST(l, "nvJitLinkComplete", complete(link));
	MUST(l, "nvJitLinkGetLinkedCubinSize", get_size(link, &size));
	if (size < 64 || size > 64 << 20)
		return lab_fail(l, N_("machine code of %zu bytes makes no sense"), size);
	image = arena_alloc(l->a, size);
	MUST(l, "nvJitLinkGetLinkedCubin", get(link, image));
	return run_fill(l, image, "nvJitLink");
}

/* ptxas reads and writes files in memory, by their names in /proc. */
static int run_ptxas(struct lab *l, const char *ptxas, int in, int out)
{
	char from[32], to[32], arch[32];
	/* Triton compiles for the target with all its own instructions where there is one. */
	const char *all = l->cc >= 90 ? "a" : "";
	char *argv[] = { (char *)(uintptr_t)ptxas, arch, from, (char *)(uintptr_t) "-o", to, NULL };
	char *envp[] = { (char *)(uintptr_t) "LC_ALL=C", NULL };
	int status = -1;
	pid_t pid;

	snprintf(from, sizeof(from), "/proc/self/fd/%d", in);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", out);
	snprintf(arch, sizeof(arch), "-arch=sm_%d%s", l->cc, all);
	lab_doing(l, "ptxas of Triton");
	if (posix_spawn(&pid, ptxas, NULL, NULL, argv, envp) || waitpid(pid, &status, 0) != pid)
		return lab_fail(l, N_("ptxas could not be started"));
	if (WIFSIGNALED(status))
		return lab_fail(l, N_("ptxas was ended by signal %d"), WTERMSIG(status));
	if (WEXITSTATUS(status))
		return lab_fail(l, N_("ptxas %s ended with %d"), arch, WEXITSTATUS(status));
	return 0;
}

static int ptxas(struct lab *l, const struct stack *s)
{
	int in = memfd_create("in.ptx", 0), out = memfd_create("out.cubin", 0);
	size_t n;
	const char *text = lab_image_text(IMAGE_BASE, &n);
	const char *file = l->cc >= 100 && s->ptxas_10 ? s->ptxas_10 : s->ptxas;
	struct stat st;
	char *image;

	snprintf(l->o->path, sizeof(l->o->path), "%.*s", PROOF_TEXT - 1, file);
	if (in < 0 || out < 0 || write(in, text, n) != (ssize_t)n)
		return lab_skip(l, N_("no file in memory to hand to ptxas"));
	if (run_ptxas(l, file, in, out))
		return -1;
	if (fstat(out, &st) || st.st_size < 64 || st.st_size > 64 << 20)
		return lab_fail(l, N_("ptxas wrote no machine code"));
	image = arena_alloc(l->a, (size_t)st.st_size);
	if (pread(out, image, (size_t)st.st_size, 0) != (ssize_t)st.st_size)
		return lab_fail(l, N_("ptxas wrote no machine code"));
	return run_fill(l, image, "ptxas");
}

const struct stack_rung stack_nvrtc = {
	.name = "stack-nvrtc",
	.run = nvrtc,
	.deadline_s = 120,
	.needs = STACK_NVRTC,
	.before = { STACK_LIBRARIES },
};
const struct stack_rung stack_nvjitlink = {
	.name = "stack-nvjitlink",
	.run = nvjitlink,
	.deadline_s = 120,
	.needs = STACK_NVJITLINK,
	.before = { STACK_LIBRARIES },
};
const struct stack_rung stack_ptxas = {
	.name = "stack-ptxas",
	.run = ptxas,
	.deadline_s = 120,
	.needs = STACK_LIBRARIES,
	.before = { STACK_LIBRARIES },
};
