/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one command of a RUN line or a CI step asks of an installer. The commands that matter are
 * rows; all others are none of ours.
 */
#include "project/command.h"

#include <string.h>

#include "base/arena.h"
#include "base/path.h"

bool word_is(const struct word *w, const char *s)
{
	return strcmp(w->text, s) == 0;
}

struct place word_place(const struct shell *sh, const struct word *w)
{
	return mapped_place(sh->m, w->offset);
}

/* "pip", "pip3", "pip3.11" */
static bool is_pip(const char *base)
{
	return strncmp(base, "pip", 3) == 0 && strspn(base + 3, "0123456789.") == strlen(base + 3);
}

static bool is_python(const char *base)
{
	return strncmp(base, "python", 6) == 0 &&
	       strspn(base + 6, "0123456789.") == strlen(base + 6);
}

/* "3.11" of "python3.11" or "pip3.11"; NULL when it does not say. */
static const char *version_in(struct arena *a, const char *base)
{
	const char *digits = base + strcspn(base, "0123456789");

	return strchr(digits, '.') ? arena_strdup(a, digits) : NULL;
}

static struct command behind(const struct command *c, size_t n)
{
	return (struct command){ .words = c->words + n, .n = c->n - n };
}

/* Options in front of a subcommand; those in `valued` take a word. */
static size_t skip_options(const struct command *c, size_t i, const char *valued)
{
	while (i < c->n && c->words[i].text[0] == '-') {
		const char *w = c->words[i].text;
		const char *at = strstr(valued, w);

		i += at && !strchr(w, '=') && (at[strlen(w)] == ' ' || !at[strlen(w)]) ? 2 : 1;
	}
	return i < c->n ? i : c->n;
}

static void note_python(struct shell *sh, const char *version, const struct word *w)
{
	if (!version)
		return;
	sh->p->python = version;
	sh->p->python_at = word_place(sh, w);
}

/*
 * A script that makes another environment has finished with the one before. Its variables stay, and
 * the image that it runs in.
 */
static void new_environment(struct shell *sh)
{
	const struct project *old = sh->p;
	size_t i;

	if (!sh->script || !old->n_steps)
		return;
	sh->p = project_new(sh->r, old->kind, old->file);
	sh->p->image = old->image;
	sh->p->image_at = old->image_at;
	for (i = 0; i < old->n_env; i++)
		*ARENA_APPEND(sh->r->a, sh->p->env, sh->p->n_env) = old->env[i];
}

static void on_pip(struct shell *sh, const struct command *c)
{
	size_t i = skip_options(c, 1, "--python --proxy --cache-dir");
	struct command rest;

	if (i >= c->n)
		return;
	rest = behind(c, i + 1);
	if (word_is(&c->words[i], "install"))
		command_pip(sh, &c->words[0], &rest, BY_PIP);
	else if (word_is(&c->words[i], "uninstall"))
		command_uninstall(sh, &c->words[0], &rest);
	else if (word_is(&c->words[i], "config") && rest.n >= 3 && word_is(&rest.words[0], "set"))
		command_pip_config(sh, &rest);
}

static void on_python(struct shell *sh, const struct command *c)
{
	const char *version = version_in(sh->r->a, path_base(c->words[0].text));
	size_t i = 1;
	struct command rest;

	while (i < c->n && c->words[i].text[0] == '-' && !word_is(&c->words[i], "-m"))
		i++;
	if (i + 1 < c->n && word_is(&c->words[i], "-m")) {
		rest = behind(c, i + 1);
		if (is_pip(rest.words[0].text)) {
			note_python(sh, version, &c->words[0]);
			on_pip(sh, &rest);
		} else if (!word_is(&rest.words[0], "venv")) {
			command_run(sh, &rest);
		} else {
			new_environment(sh);
			note_python(sh, version, &c->words[0]);
		}
		return;
	}
	if (i < c->n && strcmp(path_base(c->words[i].text), "setup.py") == 0 && i + 1 < c->n)
		command_setup(sh, c, i + 1);
}

static void on_uv(struct shell *sh, const struct command *c)
{
	size_t i = skip_options(c, 1, "--project --directory --cache-dir --config-file");
	struct command rest;

	if (i >= c->n)
		return;
	rest = behind(c, i + 1);
	if (word_is(&c->words[i], "pip") && rest.n > 1 &&
	    (word_is(&rest.words[0], "install") || word_is(&rest.words[0], "sync"))) {
		struct command args = behind(&rest, 1);

		if (word_is(&rest.words[0], "sync"))
			command_files(sh, &args);
		command_pip(sh, &c->words[0], &args, BY_UV_PIP);
	} else if (word_is(&c->words[i], "pip") && rest.n > 1 &&
		   word_is(&rest.words[0], "uninstall")) {
		struct command args = behind(&rest, 1);

		command_uninstall(sh, &c->words[0], &args);
	} else if (word_is(&c->words[i], "sync") || word_is(&c->words[i], "run")) {
		command_project(sh, &c->words[i], &rest, BY_UV);
	} else if (word_is(&c->words[i], "add")) {
		command_pip(sh, &c->words[0], &rest, BY_UV);
	} else if (word_is(&c->words[i], "venv") || word_is(&c->words[i], "python")) {
		if (word_is(&c->words[i], "venv"))
			new_environment(sh);
		command_uv_python(sh, &rest);
	}
}

static void on_project_tool(struct shell *sh, const struct command *c)
{
	const char *base = path_base(c->words[0].text);
	enum tool tool = strcmp(base, "poetry") == 0 ? BY_POETRY
			 : strcmp(base, "pdm") == 0  ? BY_PDM
			 : strcmp(base, "pixi") == 0 ? BY_PIXI
						     : BY_PIPENV;
	size_t i = skip_options(c, 1, "-C --directory -P --project --python");
	struct command rest;

	if (i >= c->n)
		return;
	rest = behind(c, i + 1);
	if (word_is(&c->words[i], "install") || word_is(&c->words[i], "sync"))
		command_project(sh, &c->words[i], &rest, tool);
}

static void on_conda(struct shell *sh, const struct command *c)
{
	static const char valued[] = "-n --name -p --prefix --cwd -c";
	size_t i = skip_options(c, 1, valued);
	struct command rest;

	if (i >= c->n)
		return;
	rest = behind(c, i + 1);
	if (word_is(&c->words[i], "run")) {
		size_t k = skip_options(&rest, 0, valued);

		rest = behind(&rest, k);
		if (rest.n)
			command_run(sh, &rest);
		return;
	}
	if (word_is(&c->words[i], "create") ||
	    (word_is(&c->words[i], "env") && rest.n && word_is(&rest.words[0], "create")))
		new_environment(sh);
	if (word_is(&c->words[i], "env") && rest.n) {
		rest = behind(&rest, 1);
		command_conda(sh, &c->words[i], &rest, true);
		return;
	}
	if (word_is(&c->words[i], "install") || word_is(&c->words[i], "create") ||
	    word_is(&c->words[i], "update"))
		command_conda(sh, &c->words[i], &rest, false);
}

static void on_apt(struct shell *sh, const struct command *c)
{
	size_t i;
	bool install = false;

	for (i = 1; i < c->n; i++) {
		if (word_is(&c->words[i], "install") || word_is(&c->words[i], "add"))
			install = true;
		else if (install && c->words[i].text[0] != '-')
			command_package(sh, &c->words[i]);
	}
}

static void on_cd(struct shell *sh, const struct command *c)
{
	const char *to = c->n > 1 ? c->words[1].text : "/root";

	if (c->n > 1 && c->words[1].unknown)
		to = "/?";
	sh->moved = to[0] == '/' || !sh->moved
			    ? to
			    : arena_printf(sh->r->a, "%s/%s", sh->moved, to);
}

static const struct {
	const char *name;
	void (*fn)(struct shell *sh, const struct command *c);
} tools[] = {
	{ .name = "cd", .fn = on_cd },
	{ .name = "pushd", .fn = on_cd },
	{ .name = "uv", .fn = on_uv },
	{ .name = "conda", .fn = on_conda },
	{ .name = "mamba", .fn = on_conda },
	{ .name = "micromamba", .fn = on_conda },
	{ .name = "poetry", .fn = on_project_tool },
	{ .name = "pdm", .fn = on_project_tool },
	{ .name = "pipenv", .fn = on_project_tool },
	{ .name = "pixi", .fn = on_project_tool },
	{ .name = "apt-get", .fn = on_apt },
	{ .name = "apt", .fn = on_apt },
	{ .name = "aptitude", .fn = on_apt },
	{ .name = "yum", .fn = on_apt },
	{ .name = "dnf", .fn = on_apt },
	{ .name = "microdnf", .fn = on_apt },
	{ .name = "apk", .fn = on_apt },
	{ .name = "cmake", .fn = command_compile },
	{ .name = "make", .fn = command_compile },
	{ .name = "ninja", .fn = command_compile },
	{ .name = "nvcc", .fn = command_compile },
	{ .name = "nvidia-smi", .fn = command_gpu },
};

void command_run(struct shell *sh, const struct command *c)
{
	const char *base = c->n ? path_base(c->words[0].text) : "";
	size_t i;

	if (!c->n)
		return;
	/* "$PYTHON -m pip": whose Python it is is not known, what it installs is. */
	if (c->words[0].unknown && c->n > 2 && word_is(&c->words[1], "-m") &&
	    is_pip(c->words[2].text)) {
		struct command rest = behind(c, 2);

		on_pip(sh, &rest);
		return;
	}
	if (c->words[0].unknown)
		return;
	if (is_pip(base)) {
		note_python(sh, version_in(sh->r->a, base), &c->words[0]);
		on_pip(sh, c);
		return;
	}
	if (is_python(base)) {
		on_python(sh, c);
		return;
	}
	for (i = 0; i < ARRAY_LEN(tools); i++)
		if (strcmp(tools[i].name, base) == 0) {
			tools[i].fn(sh, c);
			return;
		}
	command_other(sh, c);
}
