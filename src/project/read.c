/* SPDX-License-Identifier: Apache-2.0 */
/* What the user named: which file is what (by name and by content), folders, who reads whom. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/path.h"
#include "model/requirement.h"
#include "project/project.h"
#include "project/resolve.h"

static bool ends(const char *s, const char *end)
{
	return view_ends(view_of(s), end);
}

static bool first_word_is(struct view text, const char *word)
{
	struct view line, w;
	size_t n = 0;

	while (n++ < 2000 && view_line(&text, &line)) {
		struct view rest = line;

		if (!view_word(&rest, &w) || w.p[0] == '#')
			continue;
		if (view_is_nocase(w, "ARG"))
			continue;
		return view_is_nocase(w, word);
	}
	return false;
}

static bool yaml_kind(const char *path, struct view text, enum project_kind *ret)
{
	const char *base = path_base(path);
	bool compose = strstr(base, "compose") != NULL;

	if (compose || view_has_line(text, "services:"))
		*ret = PROJECT_COMPOSE;
	else if (view_has_line(text, "apiVersion:") && view_has_line(text, "kind:"))
		*ret = PROJECT_KUBERNETES;
	else if (view_has_line(text, "spack:"))
		*ret = PROJECT_SPACK;
	else if (strcmp(base, "cog.yaml") == 0 || strcmp(base, "cog.yml") == 0 ||
		 strcmp(base, "replicate.yaml") == 0)
		*ret = PROJECT_COG;
	else if (view_has_line(text, "resources:") &&
		 (view_has_line(text, "setup:") || view_has_line(text, "run:")))
		*ret = PROJECT_SKYPILOT;
	else if (view_has_line(text, "dependencies:") || ends(base, "conda-lock.yml"))
		*ret = PROJECT_CONDA;
	else if (strstr(path, ".github/workflows/") || strstr(base, "gitlab-ci") ||
		 (view_has_line(text, "jobs:") &&
		  (view_has_line(text, "on:") || view_has_line(text, "\"on\":"))))
		*ret = PROJECT_CI;
	else
		return false;
	return true;
}

/* A line of a requirements file: an option of pip, a version that is wanted, a GPU package. */
static bool requirements_line(struct view line)
{
	char name[64];
	size_t n = 0;

	if (line.n > 2 && line.p[0] == '-' &&
	    (line.p[1] == '-' || (strchr("rcefi", line.p[1]) && line.p[2] == ' ')))
		return true;
	if (view_find(line, "==") > 0 || view_find(line, ">=") > 0)
		return true;
	while (n < line.n && n < sizeof(name) - 1 &&
	       (isalnum((unsigned char)line.p[n]) || strchr("._-", line.p[n])))
		n++;
	/* Prose may begin with such a name too. */
	if (!n || (n < line.n && !strchr("[<>=~!;@", line.p[n])))
		return false;
	requirement_fold((struct view){ .p = line.p, .n = n }, name);
	return package_matters(name);
}

/* Lines that look like what pip reads, most of them. */
static bool looks_like_requirements(struct view text)
{
	struct view line;
	size_t good = 0, bad = 0, n = 0;

	while (n++ < 200 && view_line(&text, &line)) {
		line = view_trim(line);
		if (!line.n || line.p[0] == '#' || view_starts(line, "--hash"))
			continue;
		if (requirements_line(line))
			good++;
		else if (view_chr(line, ' ') >= 0 || view_chr(line, ':') >= 0)
			bad++;
	}
	return good > bad;
}

bool project_detect(const char *path, struct view text, enum project_kind *ret)
{
	const char *base = path_base(path);

	if (strcmp(base, "pyproject.toml") == 0)
		*ret = PROJECT_PYPROJECT;
	else if (strcmp(base, "pixi.toml") == 0)
		*ret = PROJECT_PIXI;
	else if (strcmp(base, "Pipfile") == 0)
		*ret = PROJECT_PIPFILE;
	else if (lock_name(base))
		*ret = PROJECT_LOCK;
	else if (strcmp(base, "setup.cfg") == 0 || strcmp(base, "setup.py") == 0)
		*ret = PROJECT_SETUP;
	else if (strcmp(base, "devcontainer.json") == 0 || strcmp(base, ".devcontainer.json") == 0)
		*ret = PROJECT_DEVCONTAINER;
	else if (ends(base, ".yml") || ends(base, ".yaml"))
		return yaml_kind(path, text, ret);
	else if (ends(base, ".py")) {
		if (!view_has_line(text, "import modal") && !view_has_line(text, "from modal"))
			return false;
		*ret = PROJECT_MODAL;
	} else if (ends(base, ".sh"))
		*ret = PROJECT_SCRIPT;
	else if (strstr(base, "Dockerfile") || strstr(base, "Containerfile") ||
		 strstr(base, "dockerfile") || first_word_is(text, "FROM"))
		*ret = PROJECT_DOCKERFILE;
	else if (ends(base, ".def") || first_word_is(text, "Bootstrap:"))
		*ret = PROJECT_APPTAINER;
	else if (ends(base, ".txt") || ends(base, ".in") || ends(base, ".pip")) {
		if (!strstr(base, "requirement") && !strstr(base, "constraint") &&
		    !strstr(path, "requirements/") && !looks_like_requirements(text))
			return false;
		*ret = conda_list_name(text) ? PROJECT_CONDA : PROJECT_REQUIREMENTS;
	} else if (ends(base, ".toml")) {
		if (view_has_line(text, "[workspace]") && view_has_line(text, "[dependencies]"))
			*ret = PROJECT_PIXI;
		else if (view_has_line(text, "[project]") || view_has_line(text, "[tool."))
			*ret = PROJECT_PYPROJECT;
		else
			return false;
	} else if (script_name(path, text)) {
		*ret = PROJECT_SCRIPT;
	} else {
		return false;
	}
	return true;
}

/* -------- files in the order in which one reads another */

struct named {
	const char *path;
	struct view text;
	enum project_kind kind;
	bool given; /* by the user, not found in a folder */
	bool constraints;
	size_t order;
};

struct names {
	struct named *v;
	size_t n;
	struct apart {
		const char *path, *word;
	} *apart; /* in a folder: for other machines by their names */
	size_t n_apart;
};

/* Who reads others comes first, so that what it reads is not judged by itself again. */
static int rank(enum project_kind k)
{
	switch (k) {
	case PROJECT_DOCKERFILE:
	case PROJECT_APPTAINER:
	case PROJECT_COG:
	case PROJECT_MODAL:
	case PROJECT_SCRIPT:
	case PROJECT_SKYPILOT:
		return 0;
	case PROJECT_CI:
		return 1;
	case PROJECT_PYPROJECT:
	case PROJECT_PIXI:
	case PROJECT_PIPFILE:
		return 2;
	case PROJECT_REQUIREMENTS:
	case PROJECT_CONDA:
	case PROJECT_SETUP:
		return 3;
	case PROJECT_LOCK:
		return 4;
	/* They give Dockerfiles their arguments. */
	case PROJECT_COMPOSE:
	case PROJECT_DEVCONTAINER:
		return -1;
	case PROJECT_KUBERNETES:
	case PROJECT_SPACK:
		break;
	}
	return 5;
}

static int by_rank(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int ra = rank(a->kind), rb = rank(b->kind);

	if (ra != rb)
		return ra - rb;
	if (a->constraints != b->constraints)
		return (int)a->constraints - (int)b->constraints;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* One environment in one project: what the file lists. */
static int read_list(struct project_reader *r, const struct named *f, struct err *err)
{
	struct project *p = project_new(r, f->kind, f->path);
	bool pixi = f->kind == PROJECT_LOCK && strcmp(path_base(f->path), "pixi.lock") == 0;
	struct place at = { .file = f->path, .line = 1 };
	size_t own = p->n_steps;

	project_step(r, p,
		     f->kind == PROJECT_CONDA  ? BY_CONDA
		     : pixi		       ? BY_PIXI
		     : f->kind == PROJECT_LOCK ? BY_UV
					       : BY_PIP,
		     at);
	if (f->kind == PROJECT_CONDA && !conda_list_name(f->text))
		return conda_read(r, p, &p->steps[own], f->text, f->path, err);
	if (f->kind == PROJECT_CONDA) {
		conda_list_read(r, p, &p->steps[own], f->text, f->path);
	} else if (pixi) {
		pixi_lock_read(r, p, &p->steps[own], f->path);
	} else if (f->kind == PROJECT_LOCK) {
		lock_read(r, p, &p->steps[own], f->path, &(struct lock_scope){ .extra = NULL });
	} else {
		project_use(r, f->path);
		requirements_text(r, p, &p->steps[own], f->text, f->path, f->constraints);
	}
	return 0;
}

static int read_one(struct project_reader *r, const struct named *f, struct err *err)
{
	struct project *p;

	switch (f->kind) {
	case PROJECT_DOCKERFILE:
		return dockerfile_read(r, f->text, f->path, err);
	case PROJECT_APPTAINER:
		return apptainer_read(r, f->text, f->path, err);
	case PROJECT_MODAL:
		return modal_read(r, f->text, f->path, err);
	case PROJECT_SCRIPT:
		return script_read(r, f->text, f->path, err);
	case PROJECT_SPACK:
	case PROJECT_SKYPILOT:
	case PROJECT_COMPOSE:
	case PROJECT_KUBERNETES:
	case PROJECT_CI:
	case PROJECT_COG:
	case PROJECT_DEVCONTAINER:
		return yaml_project_read(r, f->kind, f->text, f->path, err);
	case PROJECT_PYPROJECT:
	case PROJECT_PIXI:
	case PROJECT_PIPFILE:
	case PROJECT_SETUP:
		break;
	case PROJECT_REQUIREMENTS:
	case PROJECT_CONDA:
	case PROJECT_LOCK:
		return read_list(r, f, err);
	}
	p = project_new(r, f->kind, f->path);
	if (f->kind == PROJECT_PYPROJECT)
		return pyproject_read(r, p, f->text, f->path, BY_PIP, err);
	if (f->kind == PROJECT_PIXI)
		return pixi_read(r, p, f->text, f->path, false, err);
	if (f->kind == PROJECT_PIPFILE)
		return pipfile_read(r, p, f->text, f->path, err);
	return setup_read(r, p, f->text, f->path, err);
}

int project_read_text(struct project_reader *r, enum project_kind kind, const char *path,
		      struct view text, struct err *err)
{
	const struct named f = { .path = path, .text = text, .kind = kind };

	if (kind == PROJECT_LOCK)
		return err_set(err, ERR_UNSUPPORTED, _("%.200s: a lock is read as a file"), path);
	return read_one(r, &f, err);
}

static bool is_constraints(const char *path)
{
	return strstr(path_base(path), "constraint") != NULL;
}

static int unknown_file(const char *path, struct view text, struct err *err)
{
	if (view_starts(view_trim(text), "{") && view_find(text, "\"cuvet.") >= 0)
		return err_set(err, ERR_USAGE,
			       _("%.300s: a snapshot is judged by itself, with no other source"),
			       path);
	return err_set(err, ERR_PARSE,
		       _("%.300s: neither a snapshot nor a project file that is known here"), path);
}

static int add_file(struct project_reader *r, struct names *l, const char *path, bool given,
		    struct err *err)
{
	enum project_kind kind;
	struct view text;
	int rc = project_open(r, path, &text, err);

	if (rc)
		return rc;
	if (!project_detect(path, text, &kind))
		return given ? unknown_file(path, text, err) : 0;
	*ARENA_APPEND(r->a, l->v, l->n) = (struct named){
		.path = path,
		.text = text,
		.kind = kind,
		.given = given,
		.constraints = kind == PROJECT_REQUIREMENTS && is_constraints(path),
		.order = l->n,
	};
	return 0;
}

/* Names that can be project files, so that a large tree is not read through. */
static bool may_be(const char *base)
{
	static const char *const ending[] = { ".yml", ".yaml", ".toml", ".lock", ".def", "Pipfile",
					      "setup.py", "setup.cfg", "devcontainer.json",
					      "modal.py", "modal_app.py" };
	size_t i;

	if (strstr(base, "ockerfile") || strstr(base, "ontainerfile"))
		return true;
	if ((ends(base, ".txt") || ends(base, ".in")) &&
	    (strstr(base, "requirement") || strstr(base, "constraint")))
		return true;
	for (i = 0; i < ARRAY_LEN(ending); i++)
		if (ends(base, ending[i]))
			return true;
	return false;
}

static bool skipped_folder(const char *base)
{
	static const char *const names[] = { "node_modules", "__pycache__", "site-packages",
					     "build",	     "dist",	    "venv",
					     "env",	     "third_party", "vendor" };
	size_t i;

	if (base[0] == '.')
		return strcmp(base, ".github") != 0 && strcmp(base, ".devcontainer") != 0;
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], base) == 0)
			return true;
	return false;
}

/* A path of a named folder without that folder. */
static const char *below(const struct project_reader *r, const char *path)
{
	size_t n = r->root ? strlen(r->root) : 0;

	return n && strncmp(path, r->root, n) == 0 ? path + n : path;
}

/* What was left out for its name is said, once a file and bounded. */
static void say_apart(struct project_reader *r, const struct names *l)
{
	size_t i;

	for (i = 0; i < l->n_apart && i < 20 && r->list.n; i++)
		project_doubt(r, r->list.v[0], (struct place){ .file = l->apart[i].path },
			      _("its name (%s) says that it is not for NVIDIA GPUs; named on the "
				"command line it is judged"),
			      l->apart[i].word);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Links are not followed: a folder is judged, not what it points to. */
static int add_folder(struct project_reader *r, struct names *l, const char *path, int depth,
		      struct err *err)
{
	_cleanup_dir_ DIR *d = opendir(path);
	const char **names = NULL;
	struct dirent *e;
	size_t n = 0, i;
	int rc = 0;

	if (!d || depth > 8)
		return 0;
	while ((e = readdir(d)) && n < PROJECT_FILES)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			*ARENA_APPEND(r->a, names, n) = arena_strdup(r->a, e->d_name);
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	for (i = 0; i < n && !rc; i++) {
		const char *full = strcmp(path, ".") == 0
					   ? names[i]
					   : arena_printf(r->a, "%s/%s", path, names[i]);
		struct stat st;

		if (lstat(full, &st))
			continue;
		if (S_ISDIR(st.st_mode) && !skipped_folder(names[i]))
			rc = add_folder(r, l, full, depth + 1, err);
		else if (S_ISREG(st.st_mode) && may_be(names[i]) && r->n_files < PROJECT_FILES) {
			struct err own;
			const char *word = project_apart(r->a, below(r, full));

			if (word)
				*ARENA_APPEND(r->a, l->apart, l->n_apart) = (struct apart){
					.path = full, .word = word
				};
			else if (add_file(r, l, full, false, &own))
				continue;
		}
	}
	return rc;
}

/* A requirements file that turned out to be a part of another one is judged with that one. */
static void drop_included(struct project_reader *r)
{
	size_t i, k, n = 0;

	for (i = 0; i < r->list.n; i++) {
		struct project *p = r->list.v[i];

		for (k = 0; p->kind == PROJECT_REQUIREMENTS && k < r->n_included; k++)
			if (same_path(p->file, r->included[k]))
				break;
		if (p->kind != PROJECT_REQUIREMENTS || k == r->n_included)
			r->list.v[n++] = p;
	}
	/* Files that include each other: one of them has to stand for all. */
	if (!n && r->list.n)
		n = 1;
	r->list.n = n;
}

int project_read(struct project_reader *r, const char *const *paths, size_t n, struct err *err)
{
	struct names l = { .n = 0 };
	struct stat st;
	size_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		const char *path = paths[i];

		/* The configuration is named: what it is for is its folder. */
		if (strcmp(path_base(path), ".cuvet.toml") == 0)
			path = path == path_base(path)
				       ? "."
				       : arena_strndup(r->a, path,
						       (size_t)(path_base(path) - path) - 1);
		if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
			r->root = strcmp(path, ".") == 0 ? "" : path;
			rc = add_folder(r, &l, path, 0, err);
		} else
			rc = add_file(r, &l, paths[i], true, err);
	}
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), by_rank);
	for (i = 0; i < l.n && !rc; i++) {
		if (project_used(r, l.v[i].path) && l.v[i].kind != PROJECT_COMPOSE)
			continue;
		rc = read_one(r, &l.v[i], err);
		/* In a folder a broken file is one among others: it is said, and the rest is
		 * judged. */
		if (rc && !l.v[i].given && err) {
			struct project *p = project_new(r, l.v[i].kind, l.v[i].path);

			project_doubt(r, p, (struct place){ .file = l.v[i].path }, "%s",
				      arena_strdup(r->a, err->msg));
			rc = 0;
		}
	}
	drop_included(r);
	link_builds(r);
	say_apart(r, &l);
	return rc;
}

/* -------- paths of a build context */

static bool exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* The path from a folder above the Dockerfile, up to the one that was named; NULL: nowhere. */
static const char *above(struct project_reader *r, const char *dockerfile, const char *path)
{
	size_t root = strlen(r->root);
	const char *slash = strrchr(dockerfile, '/'), *folder = dockerfile, *up;

	while (slash) {
		folder = arena_strndup(r->a, folder, (size_t)(slash - folder));
		if (root && (strlen(folder) <= root || strncmp(folder, r->root, root) != 0))
			return NULL;
		slash = strrchr(folder, '/');
		up = slash ? arena_printf(r->a, "%.*s/%s", (int)(slash - folder), folder, path)
			   : path;
		if (exists(up))
			return up;
	}
	return NULL;
}

/* "docker/Dockerfile": such folders hold Dockerfiles alone, and the context is above them. */
static bool in_docker_folder(const char *dockerfile)
{
	const char *end = strrchr(dockerfile, '/'), *at = end;

	if (!end)
		return false;
	while (at > dockerfile && at[-1] != '/')
		at--;
	return view_find((struct view){ .p = at, .n = (size_t)(end - at) }, "docker") >= 0;
}

const char *context_file(struct project_reader *r, const char *dockerfile, const char *path)
{
	const char *beside = beside_file(r->a, dockerfile, path), *up;

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (path[0] == '/' || !r->root)
		return beside;
	if (!in_docker_folder(dockerfile) && exists(beside))
		return beside;
	up = above(r, dockerfile, path);
	return up ? up : beside;
}
