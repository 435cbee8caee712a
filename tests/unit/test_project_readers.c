/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each reader of project files: what it takes from a text, with the place of each fact, and what it
 * says of a damaged one (faults: P10 to P14). Texts stand in for files; none is opened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/strbuf.h"
#include "project/edit.h"
#include "project/project.h"

static void put_step(struct strbuf *b, const struct step *s)
{
	size_t i;

	strbuf_printf(b, " %s(", tool_name(s->tool));
	for (i = 0; i < s->n_channels; i++)
		strbuf_printf(b, "%s<%s>", i ? " " : "", s->channels[i]);
	for (i = 0; i < s->n_indexes; i++)
		strbuf_printf(b, "%s{%s%s}", i || s->n_channels ? " " : "", s->indexes[i].url,
			      s->indexes[i].main	? " main"
			      : s->indexes[i].links	? " links"
			      : s->indexes[i].only_named ? " named"
							 : "");
	for (i = 0; i < s->n_wants; i++) {
		const struct want *w = &s->wants[i];

		if (i || s->n_indexes || s->n_channels)
			strbuf_addc(b, ' ');
		strbuf_printf(b, "%s%s%s%s%s@%zu:%zu", w->name, w->extras ? "+" : "",
			      w->extras ? w->extras : "", w->spec ? w->spec : "!",
			      w->locked	      ? "L"
			      : w->constraint ? "C"
					      : "",
			      w->at.line, w->at.column);
		if (w->marker)
			strbuf_printf(b, ";%s", w->marker);
	}
	strbuf_addc(b, ')');
}

static void put_project(struct strbuf *b, const struct project *p)
{
	size_t i;

	strbuf_printf(b, "%s%s", b->n ? " | " : "", project_kind_name(p->kind));
	if (p->name)
		strbuf_printf(b, " %s", p->name);
	if (p->image)
		strbuf_printf(b, " image=%s@%zu:%zu", p->image, p->image_at.line,
			      p->image_at.column);
	if (p->python)
		strbuf_printf(b, " python=%s", p->python);
	if (p->requires_python)
		strbuf_printf(b, " python%s", p->requires_python);
	if (p->gpus == GPU_REQUESTED)
		strbuf_add(b, " gpu");
	if (p->gpus == GPU_RUNTIME)
		strbuf_add(b, " runtime");
	if (p->capabilities)
		strbuf_printf(b, " caps=%s", p->capabilities);
	if (p->hosted)
		strbuf_add(b, " hosted");
	for (i = 0; i < p->n_steps; i++)
		put_step(b, &p->steps[i]);
	for (i = 0; i < p->n_actions; i++)
		strbuf_printf(b, " !%s", p->actions[i].what);
	if (p->n_doubts)
		strbuf_printf(b, " doubts=%zu", p->n_doubts);
}

/* What is made of one text, with another beside it (NULL: none); faults as their message. */
static const char *read_two(struct arena *a, const char *path, const char *text, const char *more,
			    const char *beside)
{
	struct project_overlay o[] = { { .path = path, .text = view_of(text) },
				       { .path = more, .text = view_of(beside ? beside : "") } };
	struct project_reader r = { .a = a, .overlay = o, .n_overlay = more ? 2 : 1 };
	struct strbuf b;
	struct err e;
	size_t i;

	assert_int_equal(compat_open(a, NULL, &r.c, &e), 0);
	if (project_read(&r, &path, 1, &e))
		return arena_printf(a, "error %s", e.msg);
	strbuf_init(&b, a);
	for (i = 0; i < r.list.n; i++)
		put_project(&b, r.list.v[i]);
	return b.n ? b.s : "";
}

struct row {
	const char *path, *text, *want, *more, *beside;
};

static void rows(const struct row *v, size_t n)
{
	struct arena *a = arena_new(NULL);
	size_t i;

	for (i = 0; i < n; i++) {
		const char *got = read_two(a, v[i].path, v[i].text, v[i].more, v[i].beside);

		if (strcmp(got, v[i].want) != 0)
			print_error("row %zu: %s\n", i, got);
		assert_string_equal(got, v[i].want);
	}
	arena_free(a);
}
#define ROWS(v) rows(v, ARRAY_LEN(v))

static void requirements(void **state)
{
	static const struct row v[] = {
		{ .path = "q/requirements.txt",
		  .text = "# a\n  Torch_Vision==0.20.1 ; python_version > '3.8'\n-i https://pypi."
			  "org/simple\n"
			  "--extra-index-url=https://u:p@download.pytorch.org/whl/cu124\njax[cuda"
			  "12]>=0.4\n",
		  .want = "requirements pip({https://pypi.org/simple main} {https://download.pyto"
			  "rch.org/whl/cu124} torch-vision==0.20.1@2:3;python_version > '3.8' jax"
			  "+cuda12>=0.4@5:1)" },
		{ .path = "q/requirements.txt",
		  .text = "torch==2.5.1 \\\n    --hash=sha256:aa\n-r more.txt\n-c /etc/c.txt\n",
		  .more = "q/more.txt",
		  .beside = "vllm==0.6.3\n",
		  .want = "requirements pip(torch==2.5.1@1:1 vllm==0.6.3@1:1) doubts=1" },
		{ .path = "q/requirements.txt",
		  .text = "torch=>2.5.1\n==\nok==1\n",
		  .want = "requirements pip(ok==1@3:1) doubts=2" },
		{ .path = "q/requirements.txt",
		  .text = "-r requirements.txt\n",
		  .want = "requirements pip() doubts=1" },
		{ .path = "q/requirements.txt",
		  .text = "https://download.pytorch.org/whl/cu118/torch-2.1.0%2Bcu118-cp310-cp310"
			  "-linux_x86_64.whl\n",
		  .want = "requirements pip(torch==2.1.0+cu118@1:1)" },
	};

	(void)state;
	ROWS(v);
}

static void dockerfiles(void **state)
{
	static const struct row v[] = {
		{ .path = "q/Dockerfile",
		  .text = "ARG V=12.4.1\nFROM nvidia/cuda:${V}-base-ubuntu22.04 AS b\nRUN pip ins"
			  "tall --no-cache-dir \\\n  # c\n  'torch==2.5.1'\nFROM b\nENV A=1 B=\"x"
			  " y\"\nRUN python3.11 -m pip install jax\n",
		  .want = "dockerfile image=nvidia/cuda:12.4.1-base-ubuntu22.04@2:6 python=3.11 p"
			  "ip(torch==2.5.1@5:3) pip(jax@8:31)" },
		{ .path = "q/Dockerfile",
		  .text = "FROM python:3.11 AS a\nRUN pip install torch\nFROM python:3.11-slim\nC"
			  "OPY --from=a /usr/local /usr/local\n",
		  .want = "dockerfile a image=python:3.11@1:6 pip(torch@2:17) | dockerfile image="
			  "python:3.11-slim@3:6 pip(torch@2:17)" },
		{ .path = "q/Dockerfile",
		  .text = "FROM x\nRUN <<EOF\nuv pip install --torch-backend=auto torch\nEOF\nRUN"
			  " apt-get install -y cuda-toolkit-12-4 nvidia-driver-535\n",
		  .want = "dockerfile image=x@1:6 uv pip(torch@3:37) !cuda-toolkit-12-4 !nvidia-d"
			  "river-535" },
		{ .path = "q/Dockerfile",
		  .text = "FROM x\nRUN pip install torch && pip uninstall -y torch\n",
		  .want = "dockerfile image=x@1:6 pip(torch@2:17) pip(torch@2:43)" },
		{ .path = "q/Dockerfile",
		  .text = "FROM ${A}\nRUN pip install torch==${B}\n",
		  .want = "dockerfile image=@1:6 pip() doubts=1" },
		{ .path = "q/Dockerfile",
		  .text = "FROM x\nWHAT y\n",
		  .want = "error q/Dockerfile:2:1: no instruction of a Dockerfile: WHAT" },
		{ .path = "q/Dockerfile",
		  .text = "RUN x\n",
		  .want = "error q/Dockerfile: no FROM in this Dockerfile" },
	};

	(void)state;
	ROWS(v);
}

static void pyprojects(void **state)
{
	static const struct row v[] = {
		{ .path = "q/pyproject.toml",
		  .text = "[project]\nname = 'p'\nrequires-python = '>=3.10'\ndependencies = [\n "
			  " 'torch>=2.5',\n]\n[tool.uv.sources]\ntorch = { index = 'g' }\n[[tool."
			  "uv.index]]\nname = 'g'\nurl = 'https://download.pytorch.org/whl/cu126'"
			  "\nexplicit = true\n",
		  .want = "pyproject python>=3.10 uv({https://download.pytorch.org/whl/cu126 name"
			  "d} torch>=2.5@5:3)" },
		{ .path = "q/pyproject.toml",
		  .text = "[tool.poetry]\nname = 'p'\n[tool.poetry.dependencies]\npython = '^3.11"
			  "'\ntorch = {version = '~2.5', source = 's'}\n[[tool.poetry.source]]\nn"
			  "ame = 's'\nurl = 'https://download.pytorch.org/whl/cu124'\npriority = "
			  "'explicit'\n",
		  .want = "pyproject python>=3.11,<4 poetry({https://download.pytorch.org/whl/cu1"
			  "24 named} torch>=2.5,<2.6@5:1)" },
		{ .path = "q/pyproject.toml",
		  .text = "[project]\nname = 'p'\ndependencies = ['torch']\n[tool.pdm]\n",
		  .more = "q/pdm.lock",
		  .beside = "[[package]]\nname = 'torch'\nversion = '2.6.0'\ngroups = ['default']"
			  "\n[[package]]\nname = 'jax'\nversion = '0.5'\ngroups = ['dev']\n",
		  .want = "pyproject pdm({https://pypi.org/simple named} torch@3:17 torch==2.6.0L"
			  "@3:1)" },
		{ .path = "q/pyproject.toml",
		  .text = "[project]\nname = 'p'\nname = 'q'\n",
		  .want = "error q/pyproject.toml:3:1: this key is defined already" },
		{ .path = "q/Pipfile",
		  .text = "[[source]]\nurl = 'https://pypi.org/simple'\nname = 'pypi'\n[packages]"
			  "\ntorch = '==2.5.1'\n[requires]\npython_version = '3.11'\n",
		  .want = "pipfile python=3.11 pipenv({https://pypi.org/simple main} torch==2.5.1"
			  "@5:1)" },
		{ .path = "q/setup.py",
		  .text = "from setuptools import setup\nsetup(name='x',\n  install_requires=[\n "
			  "   'torch==2.5.1',  # 'no'\n    \"numpy\"],\n)\n",
		  .want = "setup pip(torch==2.5.1@4:6 numpy@5:6)" },
		{ .path = "q/setup.py",
		  .text = "setup(install_requires=read('x'))\n",
		  .want = "setup pip()" },
		{ .path = "q/setup.cfg",
		  .text = "[options]\npython_requires = >=3.9\ninstall_requires =\n    torch==2.5"
			  ".1\n[x]\n  jax\n",
		  .want = "setup python>=3.9 pip(torch==2.5.1@4:5)" },
	};

	(void)state;
	ROWS(v);
}

static void locks(void **state)
{
	static const struct row v[] = {
		{ .path = "q/uv.lock",
		  .text = "[[package]]\nname = 'p'\nsource = { editable = '.' }\ndependencies = ["
			  "{ name = 'a', extra = ['g'] }]\n[[package]]\nname = 'a'\nversion = '1'"
			  "\n[package.optional-dependencies]\ng = [{ name = 'torch', marker = \"s"
			  "ys_platform == 'linux'\" }]\n[[package]]\nname = 'torch'\nversion = '2"
			  ".6.0'\nsource = { registry = 'https://pypi.org/simple' }\n[[package]]"
			  "\nname = 'jax'\nversion = '0.5'\n",
		  .want = "lock uv({https://pypi.org/simple named} torch==2.6.0L@12:1;(sys_platfo"
			  "rm == 'linux'))" },
		{ .path = "q/poetry.lock",
		  .text = "[[package]]\nname = 'torch'\nversion = '2.6.0+cu124'\nmarkers = 'x == "
			  "1'\n[package.source]\nurl = 'https://download.pytorch.org/whl/cu124'\n"
			  "[[package]]\nname = 'jax'\nversion = '1'\noptional = true\n",
		  .want = "lock uv({https://download.pytorch.org/whl/cu124 named} torch==2.6.0+cu"
			  "124L@3:1;x == 1)" },
		{ .path = "q/pylock.toml",
		  .text = "lock-version = '1.0'\n[[packages]]\nname = 'torch'\nversion = '2.6.0'"
			  "\nindex = 'https://pypi.org/simple'\n",
		  .want = "lock uv({https://pypi.org/simple named} torch==2.6.0L@4:1)" },
		{ .path = "q/Pipfile.lock",
		  .text = "{\"_meta\": {\"sources\": [{\"name\": \"pypi\", \"url\": \"https://pyp"
			  "i.org/simple\"}]},\n \"default\": {\"torch\": {\"version\": \"==2.6.0"
			  "\", \"index\": \"pypi\"}}}\n",
		  .want = "lock uv({https://pypi.org/simple named} torch==2.6.0L@2:14)" },
		{ .path = "q/pixi.lock",
		  .text = "version: 6\nenvironments:\n  default:\n    channels:\n    - url: https"
			  "://conda.anaconda.org/conda-forge/\n    packages:\n      linux-64:\n  "
			  "    - conda: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2"
			  ".5.1-cpu_generic_py311_h1_5.conda\n      - conda: https://conda.anacon"
			  "da.org/conda-forge/linux-64/zlib-1.3-h1_0.conda\n",
		  .want = "lock pixi(pytorch==2.5.1L@8:16)" },
		{ .path = "q/uv.lock", .text = "[[package]\n", .want = "lock uv() doubts=1" },
		{ .path = "q/pixi.lock", .text = "a: [", .want = "lock pixi() doubts=1" },
		{ .path = "q/Pipfile.lock", .text = "{\"default\": ", .want = "lock uv() doubts=1"
			  },
	};

	(void)state;
	ROWS(v);
}

static void conda(void **state)
{
	static const struct row v[] = {
		{ .path = "q/environment.yml",
		  .text = "channels: [pytorch, nvidia]\ndependencies:\n  - python=3.10\n  - pytor"
			  "ch::pytorch==2.1.0=py3.10_cuda12.1_cudnn8\n  - pip:\n    - torch==2.5."
			  "1\n",
		  .want = "conda conda(<pytorch> <nvidia> python==3.10.*@3:5 pytorch==2.1.0@4:5) "
			  "pip(torch==2.5.1@6:7)" },
		{ .path = "q/gpu.yaml",
		  .text = "dependencies:\n  - pytorch-gpu >=2.1\n",
		  .want = "conda conda(pytorch-gpu>=2.1@2:5)" },
		{ .path = "q/pixi.toml",
		  .text = "[workspace]\nchannels = ['conda-forge']\nplatforms = ['linux-64']\n[sy"
			  "stem-requirements]\ncuda = '12'\n[dependencies]\npytorch = '2.5.*'\n[p"
			  "ypi-dependencies]\njax = { version = '*', extras = ['cuda12'] }\n",
		  .want = "pixi pixi(<conda-forge> pytorch==2.5.*@7:1) uv(jax+cuda12@9:1)" },
		{ .path = "q/environment.yml",
		  .text = "dependencies: [a\n",
		  .want = "error q/environment.yml:2:1: did not find expected ',' or ']'" },
	};

	(void)state;
	ROWS(v);
}

static void services(void **state)
{
	static const struct row v[] = {
		{ .path = "q/compose.yml",
		  .text = "services:\n  a:\n    image: x/y:1\n    runtime: nvidia\n  b:\n    imag"
			  "e: z\n    deploy:\n      resources:\n        reservations:\n          "
			  "devices:\n          - capabilities: [gpu, utility]\n",
		  .want = "compose a image=x/y:1@3:12 runtime | compose b image=z@6:12 gpu caps=g"
			  "pu,utility" },
		{ .path = "q/pod.yaml",
		  .text = "apiVersion: v1\nkind: Pod\nspec:\n  runtimeClassName: nvidia\n  contai"
			  "ners:\n  - name: a\n    image: x\n  - name: b\n    image: y\n    resou"
			  "rces:\n      limits:\n        nvidia.com/gpu: 2\n",
		  .want = "kubernetes a image=x@7:12 runtime | kubernetes b image=y@9:12 gpu" },
		{ .path = "q/rendered.yaml",
		  .text = "---\n# Source: c/templates/d.yaml\napiVersion: apps/v1\nkind: Deployme"
			  "nt\nspec: {template: {spec: {containers: [{name: c, image: x}]}}}\n---"
			  "\n# Source: c/templates/e.yaml\napiVersion: v1\nkind: Service\n",
		  .want = "kubernetes c image=x@5:56" },
		{ .path = "q/deploy.yaml",
		  .text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Values.n"
			  "ame }}\n",
		  .want = "kubernetes doubts=1" },
		{ .path = "q/.github/workflows/a.yml",
		  .text = "on: push\njobs:\n  t:\n    runs-on: ubuntu-latest\n    container: x:1"
			  "\n    steps:\n    - uses: actions/setup-python@v5\n      with: {python"
			  "-version: '3.11'}\n    - run: |\n        pip install torch==2.5.1\n",
		  .want = "ci t image=x:1@5:16 python=3.11 hosted pip(torch==2.5.1@10:13)" },
		{ .path = "q/.gitlab-ci.yml",
		  .text = "image: x:1\ntrain:\n  script:\n    - pip install torch\n",
		  .want = "ci train image=x:1@1:8 pip(torch@4:19)" },
		{ .path = "q/cog.yaml",
		  .text = "build:\n  gpu: true\n  python_version: '3.11'\n  python_packages: ['to"
			  "rch==2.5.1']\n",
		  .want = "cog python=3.11 pip({https://download.pytorch.org/whl/cu124} torch==2."
			  "5.1@4:21)" },
		{ .path = "q/devcontainer.json",
		  .text = "{ // c\n  \"image\": \"x:1\", /* d */\n  \"runArgs\": [\"--gpus=all\"]"
			  " }\n",
		  .want = "devcontainer image=x:1@2:12 gpu" },
		{ .path = "q/spack.yaml",
		  .text = "spack:\n  specs: [py-torch+cuda cuda_arch=80, zlib]\n",
		  .want = "spack doubts=1" },
		{ .path = "q/c.def",
		  .text = "Bootstrap: docker\nFrom: x:1\n\n%post\n  pip install torch\n",
		  .want = "apptainer image=x:1@2:7 pip(torch@5:15)" },
		{ .path = "q/compose.yml",
		  .text = "services: {a: {image: \"x\n",
		  .want = "error q/compose.yml:2:1: found unexpected end of stream" },
	};

	(void)state;
	ROWS(v);
}

static void modal(void **state)
{
	static const struct row v[] = {
		{ .path = "q/app.py",
		  .text = "import modal\n# .pip_install('no')\nimage = (\n    modal.Image.debian_"
			  "slim(python_version=\"3.11\")\n    .apt_install(\"git\")\n    .pip_ins"
			  "tall(\"torch==2.5.1\", \"x\", index_url=\"https://download.pytorch.org"
			  "/whl/cu124\")\n    .run_commands(\"pip install flash-attn\")\n)\n",
		  .want = "modal image=python:3.11-slim-bookworm@4:45 pip({https://download.pytor"
			  "ch.org/whl/cu124 main} torch==2.5.1@6:19 x@6:35) pip(flash-attn@7:32)" },
		{ .path = "q/app.py",
		  .text = "import modal\nb = modal.Image.from_registry('nvidia/cuda:12.1-base', a"
			  "dd_python='3.10').uv_pip_install(\n  'torch',\n  *names)\n",
		  .want = "modal image=nvidia/cuda:12.1-base@2:32 python=3.10 uv pip(torch@3:4) d"
			  "oubts=1" },
		{ .path = "q/app.py",
		  .text = "import modal\nx.pip_install('torch')\ny = '''open",
		  .want = "" },
		{ .path = "q/app.py",
		  .text = "import modal\nmodal.Image.debian_slim().pip_install(\"torch",
		  .want = "modal image=debian:12-slim@2:13 pip(torch@2:40)" },
	};

	(void)state;
	ROWS(v);
}

/* -------- corrections */

static void edits_change_one_place(void **state)
{
	static const struct {
		const char *text;
		struct edit e;
		const char *want; /* NULL: refused */
	} v[] = {
		{ "a\nb c\n", { .line = 2, .column = 3, .old = "c", .new = "d" }, "a\nb d\n" },
		{ "b\r\nc", { .line = 2, .column = 1, .old = "c", .new = "x\ny" }, "b\r\nx\ny" },
		{ "c\r\nb", { .line = 1, .column = 1, .old = "c", .new = "x\ny" }, "x\r\ny\r\nb" },
		{ "a\n b \nc", { .kind = EDIT_LINE, .line = 2, .column = 2, .old = "b" }, "a\nc" },
		{ "a\nb", { .kind = EDIT_LINE, .line = 2, .column = 1, .old = "b" }, "a\n" },
		{ "x: [a, b]", { .kind = EDIT_FLOW, .line = 1, .column = 5, .old = "a", .new =
			  "a, c" }, "x: [a, c, b]" },
		{ "'a'", { .line = 1, .column = 2, .old = "a", .new = "b" }, "'b'" },
		{ "x 'a'", { .line = 1, .column = 3, .old = "a", .new = "b" }, "x 'b'" },
		/* not what was expected there */
		{ "x 'a'", { .line = 1, .column = 3, .old = "a", .new = "b -c" }, NULL },
		{ "a\nb", { .line = 2, .column = 1, .old = "c", .new = "d" }, NULL },
		{ "a\nbc", { .line = 2, .column = 1, .old = "b", .new = "d" }, NULL },
		{ "a\nbc", { .line = 2, .column = 2, .old = "c", .new = "d" }, NULL },
		{ "a\n", { .line = 3, .column = 1, .old = "c", .new = "d" }, NULL },
		{ "a\n", { .line = 0, .column = 1, .old = "a", .new = "d" }, NULL },
		{ "a\n", { .line = 1, .column = 9, .old = "a", .new = "d" }, NULL },
		{ " a\n", { .line = 1, .column = 2, .old = "a", .new = "d\ne" }, NULL },
		{ "- a\n", { .kind = EDIT_FLOW, .line = 1, .column = 3, .old = "a", .new = "b"
			  }, NULL },
		{ "a # c\n", { .kind = EDIT_LINE, .line = 1, .column = 1, .old = "a" }, NULL },
	};
	struct arena *a = arena_new(NULL);
	struct view got;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(v); i++) {
		bool done = edit_apply(a, view_of(v[i].text), &v[i].e, &got);

		assert_int_equal(done, v[i].want != NULL);
		if (done) {
			assert_int_equal(got.n, strlen(v[i].want));
			assert_memory_equal(got.p, v[i].want, got.n);
		}
	}
	arena_free(a);
}

static void differences_are_unified(void **state)
{
	struct arena *a = arena_new(NULL);
	struct strbuf b;

	(void)state;
	strbuf_init(&b, a);
	edit_diff(a, "f", view_of("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12"),
		  view_of("1\nx\n3\n4\n5\n6\n7\n8\n9\n10\ny\n11\n12"), &b);
	assert_string_equal(b.s, "--- f\n+++ f\n@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n 4\n 5\n"
				 "@@ -8,5 +8,6 @@\n 8\n 9\n 10\n+y\n 11\n 12\n"
				 "\\ No newline at end of file\n");
	strbuf_init(&b, a);
	edit_diff(a, "f", view_of("1\n"), view_of("1\n"), &b);
	assert_int_equal(b.n, 0);
	edit_diff(a, "f", view_of("1\n"), view_of(""), &b);
	assert_string_equal(b.s, "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-1\n");
	arena_free(a);
}

static void versions_out_of_versions(void **state)
{
	static const struct {
		const char *text, *want; /* NULL: not decided */
	} v[] = {
		{ "$(echo $V | cut -d. -f1,2 | tr -d .)", "124" },
		{ "cu$(echo \"${V}\" | cut -d '.' -f 1-2 | sed 's/\\.//')", "cu124" },
		{ "$(cut -f1,2 -d. <<< ${V//./.})", "12.4" },
		{ "$(echo ${V} | tr . 0)", "120401" },
		{ "$(echo $V | sed 's/\\./0/g')", "120401" },
		{ "${V//./}", "1241" },
		{ "${V/./0}", "1204.1" },
		{ "${V%.*}", "12.4" },
		{ "${V%%.*}", "12" },
		{ "${V#*.}", "4.1" },
		{ "${V%.1}", "12.4" },
		{ "$(nvcc --version)", NULL },
		{ "$(echo $UNSET | tr -d .)", NULL },
		{ "$(echo $V; rm x)", NULL },
		{ "$(echo $V | tr a-z A-Z)", NULL },
		{ "$(echo $V | awk x)", NULL },
		{ "$(echo $V | cut -d. -f)", NULL },
		{ "$(", NULL },
		{ "$(echo 'a", NULL },
		{ "${V%[0-9]}", NULL },
	};
	struct arena *a = arena_new(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(v); i++) {
		const char *text = arena_printf(a, "FROM x\nENV V=12.4.1\nRUN pip install p==%s\n",
						v[i].text);
		const char *got = read_two(a, "q/Dockerfile", text, NULL, NULL);
		const char *want =
			v[i].want ? arena_printf(a, "pip(p==%s@3:17)", v[i].want) : "doubts=1";

		/* "cu124" is no version: it is said as such, with what it became. */
		if (v[i].want && v[i].want[0] == 'c')
			want = "doubts=1";
		if (!strstr(got, want))
			print_error("%s: %s\n", v[i].text, got);
		assert_non_null(strstr(got, want));
	}
	arena_free(a);
}

static void names_of_other_machines(void **state)
{
	static const struct {
		const char *path, *want;
	} v[] = {
		{ "docker/Dockerfile.rocm", "rocm" }, { "requirements_cpu.txt", "cpu" },
		{ "rocm72-pt211/Dockerfile", "rocm" }, { "docs/requirements.txt", "docs" },
		{ "cpu_and_gpu.yml", NULL },	      { "docker/cuda/Dockerfile", NULL },
		{ "src/amdahl/requirements.txt", NULL }, { "requirements.txt", NULL },
	};
	struct arena *a = arena_new(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(v); i++) {
		const char *got = project_apart(a, v[i].path);

		assert_int_equal(got == NULL, v[i].want == NULL);
		if (got)
			assert_string_equal(got, v[i].want);
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requirements),
		cmocka_unit_test(dockerfiles),
		cmocka_unit_test(pyprojects),
		cmocka_unit_test(locks),
		cmocka_unit_test(conda),
		cmocka_unit_test(services),
		cmocka_unit_test(modal),
		cmocka_unit_test(edits_change_one_place),
		cmocka_unit_test(differences_are_unified),
		cmocka_unit_test(versions_out_of_versions),
		cmocka_unit_test(names_of_other_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
