/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of tools other than PyTorch's: ds_report, bitsandbytes, xformers.info, the banners of
 * Ultralytics and others, JAX's environment. "Name: value" forms are extract_fields' work.
 */
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

/* Pattern of a line, and the fact that its first group is. */
struct form {
	const char *hint; /* stands in the line */
	const char *pattern, *fact;
};

static const struct form forms[] = {
	/* ds_report fills up with dots */
	{ "torch version ..", "^torch version \\.{3,}\\s*(\\d\\S*)", "torch.version" },
	{ "torch cuda version ..", "^torch cuda version \\.{3,}\\s*(\\S+)", "torch.cuda" },
	{ "nvcc version ..", "^nvcc version \\.{3,}\\s*(\\d\\S*)", "toolkit.version" },
	{ "deepspeed info ..", "^deepspeed info \\.{3,}\\s*(\\d[\\w.]*)", "package.deepspeed" },
	/* bitsandbytes */
	{ "ighest compute capability",
	  "ighest compute capability among GPUs detected: (\\d+\\.\\d)", "gpu.cc" },
	{ "ighest Compute Capability", "Highest Compute Capability: \\((\\d+), ?(\\d)\\)",
	  "gpu.cc2" },
	{ "PyTorch settings found", "PyTorch settings found: CUDA_VERSION=(\\d{3})\\b",
	  "torch.cuda3" },
	/* xformers.info */
	{ "xFormers ", "^xFormers (\\d[\\w.+]*)$", "package.xformers" },
	{ "pytorch.version", "^pytorch\\.version:\\s+(\\d\\S*)", "torch.version" },
	{ "gpu.compute_capability", "^gpu\\.compute_capability:\\s+(\\d+\\.\\d)", "gpu.cc" },
	/* Ultralytics, YOLOv5 */
	{ "torch-", "\\bPython-(\\d\\.\\d+\\.\\d+) torch-\\d", "python.version" },
	{ "torch-", "\\bPython-\\S+ torch-(\\d\\S*)", "torch.version" },
	{ "torch-", "^(?:YOLO\\S*|Ultralytics).{0,60}\\btorch-?\\s?(\\d\\S*)", "torch.version" },
	/* detectron2 */
	{ "@/", "^PyTorch\\s+(\\d\\S*) @/", "torch.version" },
	{ "(arch=", "\\(arch=(\\d\\.\\d)\\)", "gpu.cc" },
	/* wheel and file names say the Python and the system */
	{ "-cp3", "(?:Downloading|Using cached) \\S*torch-\\d[^ ]*-cp(3\\d{1,2})-cp3",
	  "python.tag" },
	/* torch.cuda.get_device_properties(0), get_device_capability() */
	{ "DeviceProperties(", "DeviceProperties\\(name='([^']{2,60})'", "gpu.name" },
	{ "DeviceProperties(", "DeviceProperties\\(.{0,120}major=(\\d+), minor=(\\d)", "gpu.cc2" },
	{ "capability", "get_device_capability\\([^)]{0,9}\\)+\\W{1,6}\\((\\d+), ?(\\d)\\)",
	  "gpu.cc2" },
	/* cupy.show_config(), chainer.print_runtime_info(), numba -s, deviceQuery, gpuDevice */
	{ "CUDA Driver Version", "^\\s*CUDA Driver Version\\s+: (\\d{1,2})0(\\d)0$",
	  "driver.ceiling2" },
	{ "CUDA Driver Version", "^\\s*CUDA Driver Version\\s+: (\\d{1,2}\\.\\d)$",
	  "driver.ceiling" },
	{ "CUDA Driver Version", "CUDA Driver Version / Runtime Version\\s+(\\d{1,2}\\.\\d) /",
	  "driver.ceiling" },
	{ "Device ", "^\\s*Device \\d+ Name\\s+: (\\S.{2,58}\\S)$", "gpu.name" },
	{ "Compute Capability", "^\\s*Device \\d+ Compute Capability\\s+: (\\d{1,2})(\\d)$",
	  "gpu.cc2" },
	{ "ComputeCapability", "^\\s*ComputeCapability: '(\\d{1,2}\\.\\d)'$", "gpu.cc" },
	/* PaddlePaddle before 2.2 */
	{ "CUDA Capability: ", "device: \\d+, CUDA Capability: (\\d{1,2})(\\d), Driver API",
	  "gpu.cc2" },
	/* TensorFlow's build information */
	{ "is_cuda_build", "'is_cuda_build',? ?:? ?(False)", "tf.cpu" },
	/* JAX */
	{ "release='", "uname_result\\(.{0,200}release='([^']+)'", "host.kernel" },
	/* build logs */
	{ "compiler identification", "The CUDA compiler identification is NVIDIA (\\d[\\d.]+)",
	  "toolkit.version" },
	{ "compiler identification", "The CXX? compiler identification is GNU (\\d[\\d.]+)",
	  "host.gcc" },
	{ "Found CUDA", "Found CUDA(?:Toolkit)?: .*?(?:found version|version) \"(\\d[\\d.]+)\"",
	  "toolkit.version" },
};

static void dotted(struct paste *p, const char *fact, struct view major, struct view minor,
		   size_t i)
{
	const char *v =
		arena_printf(p->a, "%.*s.%.*s", (int)major.n, major.p, (int)minor.n, minor.p);

	paste_fact(p, fact, view_of(v), i);
}

static void take(struct paste *p, const struct form *f, const struct regex_match *m, size_t i)
{
	struct view v = m->group[1], head = v, tail;

	if (strcmp(f->fact, "gpu.cc2") == 0) {
		dotted(p, "gpu.cc", v, m->group[2], i);
	} else if (strcmp(f->fact, "driver.ceiling2") == 0) {
		dotted(p, "driver.ceiling", v, m->group[2], i);
	} else if (strcmp(f->fact, "torch.cuda3") == 0 || strcmp(f->fact, "python.tag") == 0) {
		bool cuda = strcmp(f->fact, "torch.cuda3") == 0;

		head.n = cuda ? 2 : 1;
		tail = view_skip(v, head.n);
		dotted(p, cuda ? "torch.cuda" : "python.version", head, tail, i);
	} else if (strcmp(f->fact, "tf.cpu") == 0) {
		sign_add(p, "tf-build-cpu", i, v);
	} else {
		paste_fact(p, f->fact, v, i);
	}
}

/* A JAX that sees only the processor, or its GPUs. */
static void jax_devices(struct paste *p, struct view s, size_t i)
{
	if (paste_match(p, "[\\[{](?:Cuda|Gpu|StreamExecutorGpu)Device\\(id=\\d", s, NULL))
		sign_add(p, "cuda-works", i, (struct view){ 0 });
	if (!paste_match(p,
			 "jax\\.(?:local_)?devices.{0,40}\\[CpuDevice|^\\[CpuDevice\\(id=0\\)\\]$",
			 s, NULL))
		return;
	sign_add(p, "jax-cpu-devices", i, (struct view){ 0 });
}

static void reports_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	struct regex_match m;
	size_t k;

	if (s.n > 1000)
		s.n = 1000;
	for (k = 0; k < ARRAY_LEN(forms); k++)
		if (view_find(s, forms[k].hint) >= 0 && paste_match(p, forms[k].pattern, s, &m))
			take(p, &forms[k], &m, i);
	if (view_find(s, "Device(id=") >= 0)
		jax_devices(p, s, i);
	if (paste_under(p, i, "get_device_capability") &&
	    paste_match(p, "^\\((\\d+), ?(\\d)\\)$", s, &m))
		dotted(p, "gpu.cc", m.group[1], m.group[2], i);
	/* Of a wheel that is being fetched: which system pip thinks this is. */
	if (!view_starts(s, "Downloading ") && !view_starts(s, "Using cached "))
		return;
	if (view_find(s, "-win_amd64.whl") >= 0)
		paste_fact(p, "host.system", VIEW("windows"), i);
	if (view_find(s, "_aarch64.whl") >= 0)
		paste_fact(p, "host.arch", VIEW("aarch64"), i);
}

const struct extractor extract_reports = { .name = "reports", .line = reports_line };
