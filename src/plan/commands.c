/* SPDX-License-Identifier: Apache-2.0 */
/* What to type, for each installer. Nothing is named that the matrix does not hold. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "plan/solve.h"
#include "rule/remedy.h"

struct writer {
	const struct solver *s;
	struct plan_choice *c;
	const char
		*index; /* pins that come from torch's index: "torch==2.7.1 torchvision==0.22.1" */
	const char *pypi;   /* pins that come from PyPI, "" when there are none */
	const char *late;   /* what builds against the torch that is there; "" */
	const char *source; /* "--index-url URL" or "-f URL"; "" */
	const char *links;  /* " -f URL" of a package; "" */
	const char *name;   /* name of the index: "pytorch-cu128" */
};

const char *plan_tool_name(enum plan_tool t)
{
	static const char *const names[TOOL_COUNT] = {
		[TOOL_PIP] = "pip",	[TOOL_UV] = "uv",	  [TOOL_CONDA] = "conda",
		[TOOL_PIXI] = "pixi",	[TOOL_POETRY] = "poetry", [TOOL_DOCKER] = "docker",
	};

	return t < TOOL_COUNT ? names[t] : "";
}

static void line(struct writer *w, enum plan_tool tool, const char *fmt, ...) ATTR_PRINTF(3, 4);
static void line(struct writer *w, enum plan_tool tool, const char *fmt, ...)
{
	struct plan_commands *c = &w->c->commands[tool];
	va_list ap;

	va_start(ap, fmt);
	*ARENA_APPEND(w->s->a, c->lines, c->n) = arena_vprintf(w->s->a, fmt, ap);
	va_end(ap);
}

/* -------- which package comes from where */

static const char *suffix(const struct torch_row *r)
{
	/* A page of links lies beside PyPI, so there the variant has to be named. */
	return r->find_links && !r->pypi_default ? r->variant : NULL;
}

static void torch_pins(struct writer *w, struct strbuf *b)
{
	const struct torch_row *r = w->c->torch;
	const char *variant = r ? suffix(r) : NULL, *plus = variant ? "+" : "";

	if (!r)
		return;
	variant = variant ? variant : "";
	strbuf_printf(b, "torch==%s%s%s", r->version, plus, variant);
	if (r->torchvision)
		strbuf_printf(b, " torchvision==%s%s%s", r->torchvision, plus, variant);
	if (r->torchaudio)
		strbuf_printf(b, " torchaudio==%s", r->torchaudio);
}

static bool from_index(const struct plan_package *p)
{
	return strcmp(p->name, "xformers") == 0;
}

static bool builds_late(const struct plan_package *p)
{
	return strcmp(p->name, "flash-attn") == 0;
}

static void add_others(struct writer *w, struct strbuf *b)
{
	const struct wishes *x = w->s->w;
	struct marker_env env = { .python = w->c->python->text, .python_full = w->c->python->full };
	size_t i;

	for (i = 0; i < x->n_others; i++) {
		const struct requirement *r = x->others[i];

		if (!requirement_applies(w->s->a, r, &env))
			continue;
		strbuf_sep(b, " ");
		strbuf_add(b, shell_word(w->s->a, r->text));
	}
}

static void sort_out(struct writer *w)
{
	struct arena *a = w->s->a;
	struct strbuf index, pypi, late;
	size_t i;

	strbuf_init(&index, a);
	strbuf_init(&pypi, a);
	strbuf_init(&late, a);
	torch_pins(w, &index);
	w->links = "";
	for (i = 0; i < w->c->n_packages; i++) {
		const struct plan_package *p = &w->c->packages[i];
		struct strbuf *b = builds_late(p) ? &late : from_index(p) ? &index : &pypi;

		strbuf_sep(b, " ");
		strbuf_add(b, shell_word(a, p->pin));
		if (p->find_links)
			w->links = arena_printf(a, " -f %s", p->find_links);
	}
	add_others(w, &pypi);
	w->index = index.s;
	w->pypi = pypi.s;
	w->late = late.s;
	w->source = "";
	/*
	 * What PyPI has of old releases bears no variant; on the page of links the bare version
	 * would give another one, such as +rocm, which sorts higher.
	 */
	if (w->c->torch && w->c->torch->index_url &&
	    !(w->c->torch->find_links && w->c->torch->pypi_default))
		w->source =
			arena_printf(a, " %s %s", w->c->torch->find_links ? "-f" : "--index-url",
				     w->c->torch->index_url);
	w->name = w->c->torch ? arena_printf(a, "pytorch-%s", w->c->torch->variant) : "";
}

/* What follows must not move torch to another release. */
static const char *keep(const struct writer *w)
{
	return w->c->torch ? arena_printf(w->s->a, "torch==%s ", w->c->torch->version) : "";
}

static void install(struct writer *w, enum plan_tool tool, const char *with)
{
	bool uv = tool == TOOL_UV;

	if (*w->index)
		line(w, tool, "%s install %s%s", with, w->index,
		     uv && w->c->torch->find_links
			     ? arena_printf(w->s->a, " --find-links %s", w->c->torch->index_url)
			     : w->source);
	if (*w->pypi)
		line(w, tool, "%s install %s%s%s", with, keep(w), w->pypi,
		     uv && *w->links
			     ? arena_printf(w->s->a, " --find-links%s", w->links + strlen(" -f"))
			     : w->links);
	if (*w->late)
		line(w, tool, "%s install %s --no-build-isolation", with, w->late);
}

static void pip(struct writer *w)
{
	const struct plan_python *p = w->c->python;
	bool distribution =
		p->where && (strcmp(p->where, "/usr") == 0 || strcmp(p->where, "/usr/local") == 0);

	/* A distribution's own Python refuses pip (PEP 668), and belongs to the distribution. */
	if (distribution) {
		line(w, TOOL_PIP, "python%s -m venv .venv", p->text);
		install(w, TOOL_PIP, ".venv/bin/python -m pip");
	} else if (p->where && p->where[0] == '/' && !p->active) {
		install(w, TOOL_PIP,
			arena_printf(w->s->a, "%s/bin/python -m pip",
				     shell_word(w->s->a, p->where)));
	} else {
		install(w, TOOL_PIP, "pip");
	}
}

/* -------- uv, pixi, poetry */

/* NAME = "..." lines for what comes from the index. */
static void index_names(struct writer *w, struct strbuf *b, const char *fmt_value)
{
	const struct torch_row *r = w->c->torch;
	size_t i;

	strbuf_printf(b, "torch = %s\n", fmt_value);
	if (r->torchvision)
		strbuf_printf(b, "torchvision = %s\n", fmt_value);
	if (r->torchaudio)
		strbuf_printf(b, "torchaudio = %s\n", fmt_value);
	for (i = 0; i < w->c->n_packages; i++)
		if (from_index(&w->c->packages[i]))
			strbuf_printf(b, "%s = %s\n", w->c->packages[i].name, fmt_value);
}

static void uv(struct writer *w)
{
	const struct torch_row *r = w->c->torch;
	struct strbuf b;

	if (!w->c->python->active)
		line(w, TOOL_UV, "uv venv --python %s", w->c->python->text);
	install(w, TOOL_UV, "uv pip");
	if (!r || !r->index_url)
		return;
	strbuf_init(&b, w->s->a);
	strbuf_add(&b, "# pyproject.toml, for `uv add` and `uv sync`\n[tool.uv.sources]\n");
	index_names(w, &b, arena_printf(w->s->a, "{ index = \"%s\" }", w->name));
	strbuf_printf(&b, "\n[[tool.uv.index]]\nname = \"%s\"\nurl = \"%s\"\n%sexplicit = true\n",
		      w->name, r->index_url, r->find_links ? "format = \"flat\"\n" : "");
	line(w, TOOL_UV, "%s", b.s);
}

static void pixi_pin(struct strbuf *b, const struct torch_row *r, const char *name,
		     const char *version)
{
	/* torchaudio carries no variant in its version on the pages of links. */
	const char *variant = strcmp(name, "torchaudio") != 0 ? suffix(r) : NULL;

	if (!version)
		return;
	if (r->find_links)
		strbuf_printf(b, "%s = \"==%s%s%s\"\n", name, version, variant ? "+" : "",
			      variant ? variant : "");
	else
		strbuf_printf(b, "%s = { version = \"==%s\", index = \"%s\" }\n", name, version,
			      r->index_url);
}

static const char *pixi_platform(const char *platform)
{
	if (strcmp(platform, "windows_x86_64") == 0)
		return "win-64";
	if (strcmp(platform, "macos_arm64") == 0)
		return "osx-arm64";
	return strcmp(platform, "linux_aarch64") == 0 ? "linux-aarch64" : "linux-64";
}

static void pixi(struct writer *w)
{
	const struct torch_row *r = w->c->torch;
	struct strbuf b;
	size_t i;

	if (w->c->python->threaded)
		return;
	line(w, TOOL_PIXI, "pixi init --platform %s", pixi_platform(w->s->t->platform));
	line(w, TOOL_PIXI, "pixi add 'python=%s.*'", w->c->python->text);
	if (r && r->index_url) {
		strbuf_init(&b, w->s->a);
		strbuf_add(&b, "# pixi.toml\n");
		if (r->cuda && w->s->t->driver_cuda)
			strbuf_printf(&b, "[system-requirements]\ncuda = \"%u\"\n\n",
				      cuda_major(r->cuda));
		if (r->find_links)
			strbuf_printf(&b, "[pypi-options]\nfind-links = [{ url = \"%s\" }]\n\n",
				      r->index_url);
		strbuf_add(&b, "[pypi-dependencies]\n");
		pixi_pin(&b, r, "torch", r->version);
		pixi_pin(&b, r, "torchvision", r->torchvision);
		pixi_pin(&b, r, "torchaudio", r->torchaudio);
		for (i = 0; i < w->c->n_packages; i++)
			if (from_index(&w->c->packages[i]))
				pixi_pin(&b, r, w->c->packages[i].name, w->c->packages[i].version);
		line(w, TOOL_PIXI, "%s", b.s);
	}
	if (*w->pypi)
		line(w, TOOL_PIXI, "pixi add --pypi %s", w->pypi);
	line(w, TOOL_PIXI, "pixi install");
	if (*w->late)
		line(w, TOOL_PIXI, "pixi run pip install %s --no-build-isolation", w->late);
}

static void poetry(struct writer *w)
{
	const struct torch_row *r = w->c->torch;

	if (r && r->index_url) {
		line(w, TOOL_POETRY, "poetry source add --priority=explicit %s %s", w->name,
		     r->index_url);
		line(w, TOOL_POETRY, "poetry add --source %s %s", w->name, w->index);
	}
	if (*w->pypi)
		line(w, TOOL_POETRY, "poetry add %s", w->pypi);
	if (*w->late)
		line(w, TOOL_POETRY, "poetry run pip install %s --no-build-isolation", w->late);
}

static void docker(struct writer *w)
{
	const struct plan_python *p = w->c->python;

	if (strncmp(w->s->t->platform, "linux", 5) != 0) {
		w->c->commands[TOOL_DOCKER].note =
			_("containers run Linux: plan with --assume os=linux");
		return;
	}
	if (p->threaded) {
		w->c->commands[TOOL_DOCKER].note =
			_("no official image has a free-threaded Python");
		return;
	}
	/* The wheels bring CUDA, so the base needs none; only the driver comes from the host. */
	line(w, TOOL_DOCKER, "FROM python:%s-slim", p->text);
	line(w, TOOL_DOCKER,
	     "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	install(w, TOOL_DOCKER, "RUN pip --no-cache-dir");
	w->c->commands[TOOL_DOCKER].note = _("start it with `docker run --gpus all`");
}

void commands_fill(const struct solver *s, struct plan_choice *c)
{
	struct writer w = { .s = s, .c = c };

	sort_out(&w);
	pip(&w);
	uv(&w);
	commands_conda(s, c, *w.pypi ? arena_printf(s->a, "%s%s", keep(&w), w.pypi) : NULL);
	if (c->commands[TOOL_CONDA].n && *w.late)
		line(&w, TOOL_CONDA, "conda run -n torch pip install %s --no-build-isolation",
		     w.late);
	pixi(&w);
	poetry(&w);
	docker(&w);
}
