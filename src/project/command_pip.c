/* SPDX-License-Identifier: Apache-2.0 */
/* pip, uv pip and what installs a whole project: options, variables, operands. */
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "project/command.h"

const char *command_file(struct shell *sh, const char *path)
{
	const char *base = path_base(path), *dir;
	size_t i, n;

	if (sh->moved) {
		const char *found = local_file(sh, path);

		/* What was fetched or made there is no file of this checkout. */
		if (!found)
			found = beside_file(sh->r->a, sh->m->file,
					    arena_printf(sh->r->a, "%s/%s",
							 sh->moved + (sh->moved[0] == '/'),
							 path + (path[0] == '/')));
		return found;
	}
	for (i = sh->n_copied; i > 0; i--) {
		const struct copied *c = &sh->copied[i - 1];

		n = strlen(c->to);
		if (strcmp(path_base(c->from), base) == 0 &&
		    (n == 0 || c->to[n - 1] == '/' || c->to[n - 1] == '.' ||
		     strcmp(path_base(c->to), base) == 0 || strchr(path_base(c->to), '.') == NULL))
			return c->from;
		if (strcmp(path_base(c->to), base) == 0)
			return c->from;
	}
	/* COPY . /app: the path below the folder that it went to, else below the working folder. */
	dir = sh->workdir;
	for (i = sh->n_copied; i > 0; i--) {
		const struct copied *c = &sh->copied[i - 1];

		n = strlen(c->to);
		while (n && c->to[n - 1] == '/')
			n--;
		if (n && path[0] == '/' && strncmp(path, c->to, n) == 0 && path[n] == '/') {
			const char *rest = path + n + 1;

			return strcmp(path_base(c->from), ".") == 0 || !*path_base(c->from)
				       ? context_file(sh->r, sh->m->file, rest)
				       : arena_printf(sh->r->a, "%s/%s", c->from, rest);
		}
	}
	if (path[0] != '/')
		return context_file(sh->r, sh->m->file, path);
	n = dir ? strlen(dir) : 0;
	if (n && strncmp(path, dir, n) == 0 && path[n] == '/')
		return context_file(sh->r, sh->m->file, path + n + 1);
	return context_file(sh->r, sh->m->file, base);
}

/* -------- variables */

static void index_env(struct shell *sh, struct step *s, const char *name, bool main, bool links)
{
	const struct setting *e = project_env(sh->p, name);
	struct view rest, word;
	struct index *i;

	if (!e || !*e->value)
		return;
	rest = view_of(e->value);
	while (view_word(&rest, &word)) {
		i = step_index(sh->r, s, view_dup(sh->r->a, word), e->at);
		i->main = main;
		i->links = links;
	}
}

static void from_variables(struct shell *sh, struct step *s)
{
	const struct setting *e;
	bool uv = s->tool != BY_PIP;
	size_t i;
	bool main = false;

	for (i = 0; i < s->n_indexes; i++)
		main = main || s->indexes[i].main;
	if (!main && uv) {
		index_env(sh, s, "UV_INDEX_URL", true, false);
		index_env(sh, s, "UV_DEFAULT_INDEX", true, false);
	} else if (!main) {
		index_env(sh, s, "PIP_INDEX_URL", true, false);
	}
	index_env(sh, s, uv ? "UV_EXTRA_INDEX_URL" : "PIP_EXTRA_INDEX_URL", false, false);
	if (uv)
		index_env(sh, s, "UV_INDEX", false, false);
	index_env(sh, s, uv ? "UV_FIND_LINKS" : "PIP_FIND_LINKS", false, true);
	e = project_env(sh->p, uv ? "UV_CONSTRAINT" : "PIP_CONSTRAINT");
	if (e && *e->value)
		requirements_read(sh->r, sh->p, s, command_file(sh, e->value), e->at, true);
	e = s->tool == BY_UV_PIP && !s->backend ? project_env(sh->p, "UV_TORCH_BACKEND") : NULL;
	if (e && *e->value) {
		s->backend = e->value;
		s->backend_at = e->at;
	}
	e = uv ? project_env(sh->p, "UV_INDEX_STRATEGY") : NULL;
	if (e && strncmp(e->value, "unsafe", 6) == 0)
		s->best_match = true;
}

/* -------- options */

enum option {
	O_MAIN,
	O_EXTRA,
	O_LINKS,
	O_FILE,
	O_CONSTRAINT,
	O_EDITABLE,
	O_BACKEND,
	O_STRATEGY,
	O_VALUE, /* takes a word that does not matter */
	O_UPGRADE,
	O_FORCE,
	O_NO_DEPS,
	O_NO_INDEX,
	O_ISOLATION,
	O_PRE,
	O_REINSTALL,
};

static const struct {
	const char *name;
	enum option o;
} options[] = {
	{ .name = "-i", .o = O_MAIN },
	{ .name = "--index-url", .o = O_MAIN },
	{ .name = "--default-index", .o = O_MAIN },
	{ .name = "--extra-index-url", .o = O_EXTRA },
	{ .name = "--index", .o = O_EXTRA },
	{ .name = "-f", .o = O_LINKS },
	{ .name = "--find-links", .o = O_LINKS },
	{ .name = "-r", .o = O_FILE },
	{ .name = "--requirement", .o = O_FILE },
	{ .name = "--requirements", .o = O_FILE },
	{ .name = "-c", .o = O_CONSTRAINT },
	{ .name = "--constraint", .o = O_CONSTRAINT },
	{ .name = "--constraints", .o = O_CONSTRAINT },
	{ .name = "-e", .o = O_EDITABLE },
	{ .name = "--editable", .o = O_EDITABLE },
	{ .name = "--torch-backend", .o = O_BACKEND },
	{ .name = "--index-strategy", .o = O_STRATEGY },
	{ .name = "-U", .o = O_UPGRADE },
	{ .name = "--upgrade", .o = O_UPGRADE },
	{ .name = "--force-reinstall", .o = O_FORCE },
	{ .name = "--reinstall", .o = O_FORCE },
	{ .name = "-I", .o = O_FORCE },
	{ .name = "--ignore-installed", .o = O_FORCE },
	{ .name = "--no-deps", .o = O_NO_DEPS },
	{ .name = "--no-index", .o = O_NO_INDEX },
	{ .name = "--no-build-isolation", .o = O_ISOLATION },
	{ .name = "--pre", .o = O_PRE },
	{ .name = "-t", .o = O_VALUE },
	{ .name = "--target", .o = O_VALUE },
	{ .name = "--prefix", .o = O_VALUE },
	{ .name = "--root", .o = O_VALUE },
	{ .name = "--trusted-host", .o = O_VALUE },
	{ .name = "--timeout", .o = O_VALUE },
	{ .name = "--default-timeout", .o = O_VALUE },
	{ .name = "--retries", .o = O_VALUE },
	{ .name = "--cache-dir", .o = O_VALUE },
	{ .name = "--python", .o = O_VALUE },
	{ .name = "-p", .o = O_VALUE },
	{ .name = "--python-version", .o = O_VALUE },
	{ .name = "--platform", .o = O_VALUE },
	{ .name = "--only-binary", .o = O_VALUE },
	{ .name = "--no-binary", .o = O_VALUE },
	{ .name = "--upgrade-strategy", .o = O_VALUE },
	{ .name = "--config-settings", .o = O_VALUE },
	{ .name = "-C", .o = O_VALUE },
	{ .name = "--global-option", .o = O_VALUE },
	{ .name = "--log", .o = O_VALUE },
	{ .name = "--proxy", .o = O_VALUE },
	{ .name = "--link-mode", .o = O_VALUE },
	{ .name = "--group", .o = O_VALUE },
	{ .name = "--optional", .o = O_VALUE },
	{ .name = "--extra", .o = O_VALUE },
	{ .name = "--prerelease", .o = O_VALUE },
	{ .name = "--overrides", .o = O_VALUE },
};

static bool takes_word(enum option o)
{
	return o < O_UPGRADE;
}

/* "--index-url=X", "--index-url", "-iX", "-Uq" */
static bool find_option(const char *w, enum option *ret, const char **ret_value)
{
	size_t i, n;

	*ret_value = NULL;
	for (i = 0; i < ARRAY_LEN(options); i++) {
		n = strlen(options[i].name);
		if (strncmp(w, options[i].name, n) != 0)
			continue;
		if (w[n] == '\0' || (w[n] == '=' && n > 2)) {
			*ret = options[i].o;
			*ret_value = w[n] ? w + n + 1 : NULL;
			return true;
		}
		if (n == 2 && w[1] != '-' && takes_word(options[i].o) && w[2]) {
			*ret = options[i].o;
			*ret_value = w + 2;
			return true;
		}
	}
	if (w[0] == '-' && w[1] != '-' && strchr(w, 'U')) {
		*ret = O_UPGRADE;
		return true;
	}
	return false;
}

static void add_index(struct shell *sh, struct step *s, const char *url, const struct word *w,
		      enum option o)
{
	struct index *i;
	const char *eq = strchr(url, '=');

	/* uv's NAME=URL */
	if (eq && !memchr(url, ':', (size_t)(eq - url)))
		url = eq + 1;
	i = step_index(sh->r, s, url, word_place(sh, w));
	i->main = o == O_MAIN;
	i->links = o == O_LINKS;
}

static void value_option(struct shell *sh, struct step *s, enum option o, const char *v,
			 const struct word *w)
{
	size_t before = s->n_wants;

	switch (o) {
	case O_MAIN:
	case O_EXTRA:
	case O_LINKS:
		add_index(sh, s, v, w, o);
		return;
	case O_FILE:
	case O_CONSTRAINT:
		if (strcmp(path_base(v), "pyproject.toml") == 0)
			command_project(sh, w, &(struct command){ .n = 0 }, BY_PIP);
		else
			requirements_read(sh->r, sh->p, s, command_file(sh, v), word_place(sh, w),
					  o == O_CONSTRAINT);
		return;
	case O_EDITABLE:
		want_parse(sh->r, sh->p, s, view_of(v), word_place(sh, w));
		for (; before < s->n_wants; before++)
			s->wants[before].editable = true;
		return;
	case O_BACKEND:
		s->backend = v;
		s->backend_at = word_place(sh, w);
		return;
	case O_STRATEGY:
		s->best_match = strncmp(v, "unsafe", 6) == 0;
		return;
	case O_VALUE:
	case O_UPGRADE:
	case O_FORCE:
	case O_NO_DEPS:
	case O_NO_INDEX:
	case O_ISOLATION:
	case O_PRE:
	case O_REINSTALL:
		return;
	}
}

static void flag_option(struct step *s, enum option o, bool *ret_isolation)
{
	s->upgrade |= o == O_UPGRADE;
	s->force |= o == O_FORCE;
	s->no_deps |= o == O_NO_DEPS;
	s->no_index |= o == O_NO_INDEX;
	s->pre |= o == O_PRE;
	*ret_isolation |= o == O_ISOLATION;
}

/* What compiles when it is installed, by name or since it is source of this project. */
static void note_source(struct shell *sh, const struct want *w, bool no_isolation)
{
	const char *text = w->url ? w->url : "";
	bool local = w->url && !strstr(text, "://") && !strstr(text, ".whl");

	/* Without isolation a local folder is built against the torch that is there: CUDA code. */
	if (local && no_isolation && strcmp(text, ".") != 0)
		project_action(sh->r, sh->p, ACT_COMPILE, text, NULL, w->at);
}

static bool is_operand(const char *w)
{
	return w[0] != '-' && w[0] != '>' && w[0] != '<' && w[0] != '\0' && strcmp(w, "2>&1") != 0;
}

void command_pip(struct shell *sh, const struct word *program, const struct command *args,
		 enum tool tool)
{
	struct step *s = project_step(sh->r, sh->p, tool, word_place(sh, program));
	size_t index = sh->p->n_steps - 1;
	bool isolation = false, skip = false;
	enum option o;
	const char *value;
	size_t i;

	s->built = sh->built;
	for (i = 0; i < args->n; i++) {
		const struct word *w = &args->words[i];

		if (w->text[0] == '>' || w->text[0] == '<' || skip) {
			skip = !skip && !w->text[1 + strspn(w->text + 1, "<>&")];
			continue;
		}
		if (w->text[0] == '-') {
			if (!find_option(w->text, &o, &value))
				continue;
			if (!takes_word(o)) {
				flag_option(s, o, &isolation);
			} else if (value || i + 1 < args->n) {
				bool next = !value;

				if (next)
					w = &args->words[++i];
				if (!w->unknown)
					value_option(sh, s, o, next ? w->text : value, w);
				else
					project_doubt(sh->r, sh->p, word_place(sh, w),
						      _("%s: a variable has no value here"),
						      w->text);
				/* Another project may have been read: the list may have moved. */
				s = &sh->p->steps[index];
			}
			continue;
		}
		if (!is_operand(w->text))
			continue;
		if (w->unknown) {
			project_doubt(sh->r, sh->p, word_place(sh, w),
				      _("%s: a variable has no value here"), w->text);
			continue;
		}
		want_parse(sh->r, sh->p, s, view_of(w->text), word_place(sh, w));
	}
	local_read(sh, index);
	s = &sh->p->steps[index];
	from_variables(sh, s);
	for (i = 0; i < s->n_wants; i++) {
		s->wants[i].no_isolation = isolation;
		note_source(sh, &s->wants[i], isolation);
	}
}

void command_uninstall(struct shell *sh, const struct word *program, const struct command *args)
{
	size_t index = sh->p->n_steps;

	command_pip(sh, program, args, BY_PIP);
	if (index < sh->p->n_steps) {
		sh->p->steps[index].removes = true;
		sh->p->steps[index].n_indexes = 0;
	}
}

/* pip config set global.index-url URL */
void command_pip_config(struct shell *sh, const struct command *args)
{
	static const struct {
		const char *key, *variable;
	} keys[] = {
		{ .key = ".index-url", .variable = "PIP_INDEX_URL" },
		{ .key = ".extra-index-url", .variable = "PIP_EXTRA_INDEX_URL" },
		{ .key = ".find-links", .variable = "PIP_FIND_LINKS" },
	};
	size_t i, n = args->n ? strlen(args->words[1].text) : 0;

	for (i = 0; i < ARRAY_LEN(keys); i++) {
		size_t k = strlen(keys[i].key);

		if (n <= k || strcmp(args->words[1].text + n - k, keys[i].key) != 0)
			continue;
		project_set(sh->r, sh->p, keys[i].variable, args->words[2].text,
			    word_place(sh, &args->words[2]));
		sh->p->env[sh->p->n_env - 1].build_only = true;
	}
}

void command_files(struct shell *sh, struct command *args)
{
	struct word *words = arena_calloc(sh->r->a, args->n * 2 + 1, sizeof(*words));
	size_t i, n = 0;

	for (i = 0; i < args->n; i++) {
		if (is_operand(args->words[i].text)) {
			words[n] = args->words[i];
			words[n++].text = "-r";
		}
		words[n++] = args->words[i];
	}
	*args = (struct command){ .words = words, .n = n };
}

/* -------- whole projects */

/* "--extra gpu", "--extras 'a b'", "-E a", "--group b", "--with b" */
static void read_extras(struct shell *sh, const struct command *args)
{
	static const char *const names[] = { "--extra", "--extras", "-E", "--group", "--with" };
	struct project_reader *r = sh->r;
	struct view rest, word;
	size_t i, k;

	r->extras.n = 0;
	r->extras.chosen = args->n > 0;
	for (i = 0; i < args->n; i++)
		for (k = 0; k < ARRAY_LEN(names); k++) {
			const char *w = args->words[i].text;
			size_t n = strlen(names[k]);

			if (strcmp(w, "--all-extras") == 0)
				r->extras.chosen = false;
			if (strncmp(w, names[k], n) != 0 || (w[n] && w[n] != '='))
				continue;
			if (!w[n] && i + 1 == args->n)
				continue;
			rest = view_of(w[n] ? w + n + 1 : args->words[i + 1].text);
			while (view_word(&rest, &word) && r->extras.n < ARRAY_LEN(r->extras.name))
				r->extras.name[r->extras.n++] = view_dup(r->a, word);
		}
}

void command_project(struct shell *sh, const struct word *verb, const struct command *args,
		     enum tool tool)
{
	static const char *const names[] = {
		[BY_POETRY] = "pyproject.toml", [BY_PDM] = "pyproject.toml",
		[BY_UV] = "pyproject.toml",	[BY_PIP] = "pyproject.toml",
		[BY_PIPENV] = "Pipfile",	[BY_PIXI] = "pixi.toml"
	};
	const char *path = command_file(sh, names[tool]);
	size_t before = sh->p->n_steps;
	struct view text;
	struct err e;
	int rc;

	read_extras(sh, args);
	if (project_open(sh->r, path, &text, &e)) {
		project_doubt(sh->r, sh->p, word_place(sh, verb), "%s", e.msg);
		return;
	}
	project_use(sh->r, path);
	if (tool == BY_PIPENV)
		rc = pipfile_read(sh->r, sh->p, text, path, &e);
	else if (tool == BY_PIXI)
		rc = pixi_read(sh->r, sh->p, text, path, false, &e);
	else
		rc = pyproject_read(sh->r, sh->p, text, path, tool, &e);
	sh->r->extras.chosen = false;
	if (rc)
		project_doubt(sh->r, sh->p, word_place(sh, verb), "%s", e.msg);
	for (; before < sh->p->n_steps; before++)
		sh->p->steps[before].built = sh->built;
}

/* uv venv --python 3.12, uv python install 3.12 */
void command_uv_python(struct shell *sh, const struct command *args)
{
	size_t i;

	for (i = 0; i < args->n; i++) {
		const char *w = args->words[i].text;

		if (strncmp(w, "--python=", 9) == 0)
			w += 9;
		if (w[0] == '3' && w[1] == '.' && strspn(w, "0123456789.") == strlen(w)) {
			sh->p->python = w;
			sh->p->python_at = word_place(sh, &args->words[i]);
		}
	}
}

/* pip install . of a setup.py in place */
void command_setup(struct shell *sh, const struct command *c, size_t verb)
{
	if (word_is(&c->words[verb], "install") || word_is(&c->words[verb], "develop") ||
	    word_is(&c->words[verb], "build_ext") || word_is(&c->words[verb], "bdist_wheel"))
		project_action(sh->r, sh->p, ACT_COMPILE, "setup.py", NULL,
			       word_place(sh, &c->words[verb]));
}
