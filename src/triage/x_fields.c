/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Name: value" reports: torch.utils.collect_env of every era, what vLLM and others built on it,
 * and the short forms that people write ("OS: Windows 11", "CUDA toolkit: 11.4.4").
 */
#include <string.h>

#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"

struct field {
	const char *name; /* lower case, single blanks */
	const char *fact; /* "" for those that only make a sign */
	const char *sign;
};

static const struct field fields[] = {
	{ "pytorch version", "torch.version", NULL },
	{ "torch version", "torch.version", NULL },
	{ "torch.__version__", "torch.version", NULL },
	{ "pytorch", "torch.version", NULL },
	{ "torch", "torch.version", NULL },
	{ "cuda used to build pytorch", "torch.cuda", NULL },
	{ "torch.version.cuda", "torch.cuda", NULL },
	{ "torch cuda version", "torch.cuda", NULL },
	{ "pytorch cuda version", "torch.cuda", NULL },
	{ "pytorch cuda", "torch.cuda", NULL },
	{ "rocm used to build pytorch", "torch.hip", NULL },
	{ "torch.version.hip", "torch.hip", NULL },
	{ "gcc version", "host.gcc", NULL },
	{ "gcc", "host.gcc", NULL },
	{ "libc version", "host.glibc", NULL },
	{ "glibc", "host.glibc", NULL },
	{ "glibc version", "host.glibc", NULL },
	{ "python version", "python.version", NULL },
	{ "python", "python.version", NULL },
	{ "cuda compiled version", "torch.cuda", NULL }, /* its JSON form */
	{ "is cuda available", "", "cuda-available" },
	{ "torch.cuda.is_available()", "", "cuda-available" },
	{ "cuda available", "", "cuda-available" },
	{ "torch.cuda.is_available", "", "cuda-available" },
	{ "cuda runtime version", "toolkit.version", NULL },
	{ "cuda toolkit", "toolkit.version", NULL },
	{ "cuda toolkit version", "toolkit.version", NULL },
	{ "cuda compiler", "toolkit.version", NULL },
	{ "nvcc", "toolkit.version", NULL },
	{ "nvcc version", "toolkit.version", NULL },
	{ "nvidia driver version", "driver.version", NULL },
	{ "nvidia driver", "driver.version", NULL },
	{ "nvidia gpu driver", "driver.version", NULL },
	{ "driver version", "driver.version", NULL },
	{ "driver", "driver.version", NULL },
	{ "gpu driver", "driver.version", NULL },
	{ "kmd version", "driver.version", NULL },
	{ "gpu", "gpu.name", NULL },
	{ "gpus", "gpu.name", NULL },
	{ "gpu model", "gpu.name", NULL },
	{ "gpu name", "gpu.name", NULL },
	{ "graphics card", "gpu.name", NULL },
	{ "device name", "gpu.name", NULL },
	{ "os", "os", NULL },
	{ "operating system", "os", NULL },
	{ "os platform and distribution", "os", NULL },
	{ "platform", "os", NULL },
	{ "python platform", "os", NULL },
	{ "system", "os", NULL },
	{ "kernel", "host.kernel", NULL },
	{ "kernel version", "host.kernel", NULL },
	{ "running kernel", "host.kernel", NULL },
	{ "torchvision", "package.torchvision", NULL },
	{ "torchaudio", "package.torchaudio", NULL },
	{ "tensorflow", "package.tensorflow", NULL },
	{ "tensorflow version", "package.tensorflow", NULL },
	{ "tf", "package.tensorflow", NULL },
	{ "tensorflow version (use command below)", "package.tensorflow", NULL },
	{ "jax", "package.jax", NULL },
	{ "jaxlib", "package.jaxlib", NULL },
	{ "numpy", "package.numpy", NULL },
	{ "xformers", "package.xformers", NULL },
	{ "triton", "package.triton", NULL },
	{ "bitsandbytes", "package.bitsandbytes", NULL },
	{ "flash_attn", "package.flash-attn", NULL },
	{ "flash-attn", "package.flash-attn", NULL },
	{ "onnxruntime", "package.onnxruntime", NULL },
	{ "onnxruntime-gpu", "package.onnxruntime-gpu", NULL },
	{ "vllm", "package.vllm", NULL },
	{ "vllm version", "package.vllm", NULL },
	/* transformers-cli env, accelerate env */
	{ "pytorch version (gpu?)", "torch.version", NULL },
	{ "tensorflow version (gpu?)", "package.tensorflow", NULL },
	{ "gpu type", "gpu.name", NULL },
	/* MMCV, detectron2, SGLang, Lightning, ComfyUI */
	{ "torchvision version", "package.torchvision", NULL },
	{ "gpu available", "", "cuda-available" },
	{ "cuda driver version", "driver.version", NULL },
	{ "compute capability", "gpu.cc", NULL },
	{ "gpu compute capability", "gpu.cc", NULL },
	{ "gpu 0 compute capability", "gpu.cc", NULL },
	{ "deepspeed", "package.deepspeed", NULL },
	{ "cupy version", "package.cupy", NULL },
	{ "transformers", "package.transformers", NULL },
	{ "jax version", "package.jax", NULL },
	{ "os name", "os", NULL },
	{ "linux distribution", "os", NULL },
	{ "distributor id", "os", NULL },
	{ "pretty_name", "os", NULL },
	{ "name", "distribution", NULL },
	{ "description", "distribution", NULL },
	/* Chinese: "pytorch", "torch", "driver" with "version" */
	{ "pytorch\xe7\x89\x88\xe6\x9c\xac", "torch.version", NULL },
	{ "torch\xe7\x89\x88\xe6\x9c\xac", "torch.version", NULL },
	{ "\xe9\xa9\xb1\xe5\x8a\xa8\xe7\x89\x88\xe6\x9c\xac", "driver.version", NULL },
	/* Korean */
	{ "\xec\x9a\xb4\xec\x98\x81\xec\xb2\xb4\xec\xa0\x9c", "os", NULL },
	{ "\xeb\x93\x9c\xeb\x9d\xbc\xec\x9d\xb4\xeb\xb2\x84 \xeb\xb2\x84\xec\xa0\x84",
	  "driver.version", NULL },
	{ "\xeb\x93\x9c\xeb\x9d\xbc\xec\x9d\xb4\xeb\xb2\x84", "driver.version", NULL },
	{ "\xed\x8c\x8c\xec\x9d\xb4\xed\x86\xa0\xec\xb9\x98", "torch.version", NULL },
	{ "\xed\x8c\x8c\xec\x9d\xb4\xec\x8d\xac", "python.version", NULL },
};

static bool name_is(struct view v, const char *name)
{
	size_t i, k = 0, n = strlen(name);

	for (i = 0; i < v.n && k < n; i++) {
		char c = v.p[i];

		if (c == ' ' && k && name[k - 1] == ' ')
			continue;
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 32);
		if (c == '_' && name[k] == ' ')
			c = ' ';
		if (c != name[k])
			return false;
		k++;
	}
	return k == n && i == v.n;
}

/* "Ubuntu 22.04.5 LTS (x86_64)": how commands are written for it depends on this. */
static void set_distribution(struct paste *p, struct view v, size_t i)
{
	static const struct {
		const char *pattern, *id;
	} list[] = {
		{ "\\bUbuntu[ -](\\d\\d\\.\\d\\d)", "ubuntu" },
		{ "\\bDebian(?: GNU/Linux)? (\\d{1,2})\\b", "debian" },
		{ "\\bFedora(?: Linux)?(?: release)? (\\d\\d)\\b", "fedora" },
		{ "\\bCentOS(?: Linux| Stream)?(?: release)? (\\d)", "centos" },
		{ "\\b(?:Red Hat Enterprise Linux|RHEL)(?: release)? (\\d{1,2})", "rhel" },
		{ "\\bRocky(?: Linux)?(?: release)? (\\d{1,2})", "rocky" },
		{ "\\bAlma(?:Linux)?(?: release)? (\\d{1,2})", "almalinux" },
		{ "\\bopenSUSE Leap (\\d\\d\\.\\d)", "opensuse-leap" },
		{ "\\bArch Linux()", "arch" },
		{ "\\bAlpine(?: Linux)? v?(\\d\\.\\d+)", "alpine" },
	};
	struct regex_match m;
	size_t k;

	for (k = 0; k < ARRAY_LEN(list); k++) {
		if (!paste_match(p, list[k].pattern, v, &m))
			continue;
		paste_fact(p, "host.os_id", view_of(list[k].id), i);
		if (m.group[1].n)
			paste_fact(p, "host.os_version", m.group[1], i);
		return;
	}
}

static void set_os(struct paste *p, struct view v, size_t i)
{
	struct regex_match m;

	/* A form that nobody has filled in. */
	if (view_find(v, "e.g.") >= 0)
		return;
	set_distribution(p, v, i);

	if (paste_match(p, "windows|^win(?:32|-64|-arm64)\\b", v, NULL))
		paste_fact(p, "host.system", VIEW("windows"), i);
	else if (paste_match(p, "mac ?os|darwin|os x|^osx-", v, NULL))
		paste_fact(p, "host.system", VIEW("macos"), i);
	else if (paste_match(p, "wsl ?2|microsoft-standard", v, NULL))
		paste_fact(p, "host.system", VIEW("wsl2"), i);
	else if (paste_match(p,
			     "linux|ubuntu|debian|fedora|centos|rhel|red hat|rocky|alma|suse|arch|"
			     "manjaro|gentoo|nixos|alpine|mint|pop!|amazon",
			     v, NULL))
		paste_fact(p, "host.system", VIEW("linux"), i);
	if (paste_match(p, "aarch64|arm64", v, NULL))
		paste_fact(p, "host.arch", VIEW("aarch64"), i);
	if (paste_match(p, "alpine", v, NULL))
		paste_fact(p, "host.libc", VIEW("musl"), i);
	if (paste_match(p, "glibc ?(\\d\\.\\d+)", v, &m))
		paste_fact(p, "host.glibc", m.group[1], i);
	if (paste_match(p, "-tegra", v, NULL))
		sign_add(p, "tegra", i, v);
}

static void available(struct paste *p, struct view v, size_t i)
{
	if (view_starts(v, "True") || view_starts(v, "Yes") || view_starts(v, "true"))
		sign_add(p, "cuda-available-true", i, v);
	else if (view_starts(v, "False") || view_starts(v, "No") || view_starts(v, "false"))
		sign_add(p, "cuda-available-false", i, v);
}

/* "version 3.28", "(Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "glibc-2.35", "3.10.12 (main, ...)". */
static struct view version_in(struct paste *p, struct view v, const char *fact)
{
	struct regex_match m;

	if (strcmp(fact, "host.gcc") == 0 &&
	    paste_match(p, "(?:\\)|gcc|version)?\\s*(\\d+\\.\\d+(?:\\.\\d+)?)\\s*$", v, &m))
		return m.group[1];
	if (strcmp(fact, "host.kernel") == 0 && paste_match(p, "^(\\d+\\.\\d+\\.\\S+)", v, &m))
		return m.group[1];
	if (paste_match(p, "^[^0-9]{0,12}?(\\d+(?:\\.\\w+)+(?:\\+[\\w.]+)?)", v, &m))
		return m.group[1];
	return (struct view){ 0 };
}

static void take(struct paste *p, const struct field *f, struct view v, size_t i)
{
	struct view version;

	if (f->sign) {
		available(p, v, i);
		return;
	}
	if (strcmp(f->fact, "os") == 0) {
		set_os(p, v, i);
		return;
	}
	if (strcmp(f->fact, "distribution") == 0) {
		/* "NAME=..." of os-release and lsb_release; others have names too. */
		if (paste_match(p,
				"^\"?(?:Ubuntu|Debian|Fedora|CentOS|Red Hat|Rocky|Alma|openSUSE|"
				"Arch|Linux Mint|Pop!_OS|Amazon Linux|Alpine)",
				v, NULL))
			set_os(p, v, i);
		return;
	}
	if (strcmp(f->fact, "torch.hip") == 0) {
		if (paste_match(p, "^\\d", v, NULL))
			sign_add(p, "torch-rocm", i, v);
		return;
	}
	if (strcmp(f->fact, "gpu.name") == 0)
		return; /* extract_gpu_names finds it, here and elsewhere */
	if (strcmp(f->fact, "torch.cuda") == 0 && !paste_match(p, "\\d", v, NULL)) {
		paste_fact(p, f->fact, v, i);
		return;
	}
	/* "wsl --version" on Windows speaks of the kernel that it would start. */
	if (strcmp(f->fact, "host.kernel") == 0 && paste_under(p, i, "wsl"))
		return;
	/* conda's own Python ("3.11.5.final.0") need not be the environment's. */
	if (strcmp(f->fact, "python.version") == 0 && view_find(v, ".final.") >= 0)
		return;
	version = version_in(p, v, f->fact);
	if (version.n)
		paste_fact(p, f->fact, version, i);
}

static void known_field(struct paste *p, struct view name, struct view v, size_t i)
{
	size_t k;

	for (k = 0; k < ARRAY_LEN(fields); k++)
		if (name_is(name, fields[k].name))
			take(p, &fields[k], v, i);
}

/* "**PyTorch version**", "`torch`", "- torch". */
static struct view plain_name(struct view v)
{
	v = view_trim(v);
	while (v.n && strchr("*`_-\"' ", v.p[0]))
		v = view_skip(v, 1);
	while (v.n && strchr("*`_\"' ", v.p[v.n - 1]))
		v.n--;
	return v;
}

/* "Name: value", "Name : value", "Name = value", "Name -> value"; several a line are two blanks
 * apart. */
static void one(struct paste *p, struct view s, size_t i)
{
	ptrdiff_t at = view_chr(s, ':'), wide = view_find(s, "\xef\xbc\x9a");
	struct view name, v;

	if (at < 0 && wide < 0)
		at = view_chr(s, '=');
	/* A colon of full width. */
	if (wide > 0 && (at < 0 || wide < at)) {
		at = wide;
		v = view_trim(view_skip(s, (size_t)at + 3));
	} else if (at < 0 && (at = view_find(s, "->")) > 0)
		v = view_trim(view_skip(s, (size_t)at + 2));
	else if (at > 0)
		v = view_trim(view_skip(s, (size_t)at + 1));
	else
		return;
	name = plain_name((struct view){ s.p, (size_t)at });
	/* "torch_version": "2.2.0", of JSON. */
	while (v.n && strchr("*\"',", v.p[v.n - 1]))
		v.n--;
	while (v.n && strchr("*\"'", v.p[0]))
		v = view_trim(view_skip(v, 1));
	if (v.n && v.p[0] == '>')
		v = view_trim(view_skip(v, 1));
	if (v.n && v.p[0] == '=')
		v = view_trim(view_skip(v, 1));
	while (v.n && strchr("*`", v.p[0]))
		v = view_trim(view_skip(v, 1));
	if (v.n && name.n <= 40)
		known_field(p, name, v, i);
}

/* Template fields that nobody filled in: "OS: [e.g. Ubuntu 20.04]". */
static bool is_template(struct view s)
{
	return view_find(s, "[e.g.") >= 0 || view_find(s, "[please") >= 0 ||
	       view_find(s, "(e.g.") >= 0 || view_find(s, "[insert") >= 0;
}

/* "| PyTorch | 2.1.0 |" of a Markdown table; nvidia-smi's rows have their own reader. */
static void cells(struct paste *p, struct view s, size_t i)
{
	struct view name, v;

	name = plain_name(view_cut(view_skip(s, 1), '|', &s));
	v = view_trim(view_cut(s, '|', &s));
	if (name.n && name.n <= 40 && v.n && !view_trim(s).n)
		known_field(p, name, v, i);
}

/* "Nvidia driver version:" whose value a narrow window put on the next line. */
static bool wrapped(struct paste *p, struct view s, size_t i)
{
	struct view next;

	if (!view_ends(s, ":") || s.n > 41 || i + 1 >= p->t.n)
		return false;
	next = p->t.lines[i + 1].s;
	if (!next.n || next.n > 120 || view_chr(next, ':') >= 0 || p->t.lines[i + 1].cmd_at)
		return false;
	known_field(p, plain_name((struct view){ s.p, s.n - 1 }), next, i + 1);
	return true;
}

/* "### TensorFlow version", a blank line, "2.14": how forms for reports are laid out. Where the
 * marks of the heading got lost, a name of several words has the line to itself. */
static bool headed(struct paste *p, struct view s, size_t i)
{
	bool marked = view_starts(s, "#");
	struct view v;
	size_t k = i + 1;

	while (view_starts(s, "#"))
		s = view_skip(s, 1);
	s = plain_name(s);
	if (s.n < 2 || s.n > 40 || (!marked && view_chr(s, ' ') < 0))
		return false;
	while (k < p->t.n && k < i + 3 && !p->t.lines[k].s.n)
		k++;
	if (k >= p->t.n || p->t.lines[k].cmd_at || p->t.lines[k].wished)
		return false;
	v = p->t.lines[k].s;
	if (!v.n || v.n > 120 || v.p[0] == '#' || v.p[0] == '_' || is_template(v))
		return false;
	if (!marked && (view_chr(v, ':') >= 0 || v.n > 40))
		return false;
	known_field(p, s, v, k);
	return marked;
}

static void fields_line(struct paste *p, size_t i)
{
	struct view s = p->t.lines[i].s;
	size_t k, start = 0;

	if (p->t.lines[i].cmd_at || p->t.lines[i].wished)
		return;
	if (is_template(s))
		return;
	if (view_starts(s, "- ") && paste_under(p, i, "uv "))
		return; /* what uv took away */
	if (view_starts(s, "- ") || view_starts(s, "* "))
		s = view_trim(view_skip(s, 2));
	if (s.n > 600)
		return;
	if (s.n > 4 && s.p[0] == '|') {
		cells(p, s, i);
		return;
	}
	if (wrapped(p, s, i) || headed(p, s, i))
		return;
	for (k = 0; k + 2 < s.n; k++) {
		if (s.p[k] != ' ' || s.p[k + 1] != ' ' || s.p[k + 2] == ' ' || s.p[k + 2] == ':')
			continue;
		one(p, view_trim((struct view){ s.p + start, k - start }), i);
		start = k + 2;
	}
	one(p, view_trim(view_skip(s, start)), i);
	if (start)
		one(p, s, i);
}

const struct extractor extract_fields = { .name = "fields", .line = fields_line };
