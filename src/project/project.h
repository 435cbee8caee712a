/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Project files: what they would install, where, and with which image, each fact with its line and
 * column. Readers fill `struct project`; project_resolve works out what pip, uv or conda would
 * take; project_fill writes it into a snapshot. Nothing is executed and nothing is fetched.
 */
#ifndef PROJECT_PROJECT_H
#define PROJECT_PROJECT_H

#include "base/err.h"
#include "base/view.h"
#include "compat/compat.h"
#include "model/snapshot.h"

struct arena;

/* A place in a file that the user named or that such a file names. */
struct place {
	const char *file;
	size_t line, column; /* from 1; 0: not known */
};
/* "FILE:LINE:COLUMN"; never NULL. */
const char *place_text(struct arena *a, const struct place *p);

/* -------- what is asked of an installer */

enum index_kind {
	INDEX_PYPI,    /* PyPI or a mirror of it */
	INDEX_TORCH,   /* one variant of PyTorch's own index */
	INDEX_ALL,     /* PyTorch's index with all variants, or its page of links */
	INDEX_NIGHTLY, /* pre-releases: nothing can be said */
	INDEX_OTHER,   /* nothing is known about it */
};

struct index {
	const char *url, *name; /* name: as a pyproject calls it, NULL */
	enum index_kind kind;
	const char *variant;	/* of INDEX_TORCH */
	bool links;		/* a page of links, beside the indexes */
	bool main;		/* replaces PyPI */
	bool only_named;	/* explicit: only for packages that name it */
	bool fallback;		/* poetry's supplemental */
	struct place at;
};

enum tool { BY_PIP, BY_UV_PIP, BY_UV, BY_POETRY, BY_PDM, BY_PIPENV, BY_CONDA, BY_PIXI };
const char *tool_name(enum tool t);

struct want {
	const char *name;   /* normalized */
	const char *extras; /* "and-cuda,test", NULL */
	const char *spec;   /* PEP 440, "" for any; NULL: an address */
	const char *text;   /* as written */
	const char *marker; /* NULL */
	const char *extra;  /* what the markers of a lock call the chosen extra; NULL */
	const char **unless; /* markers under which another source serves it; n_unless */
	size_t n_unless;
	const char **only; /* markers of a lock's fork, one of which has to hold; n_only */
	size_t n_only;
	const char *url;    /* NULL */
	const char *index;  /* name of the index it has to come from, NULL */
	const char *channel, *build; /* conda; NULL */
	bool constraint, locked, editable;
	const char *wheel_python; /* that the wheel of an address is for ("3.10"); NULL: any */
	bool known; /* a folder whose own requirements stand beside it */
	bool no_isolation; /* with --no-build-isolation */
	struct place at;
};

/* One command of an installer, or one file for it: resolved as a whole. */
struct step {
	enum tool tool;
	struct want *wants;
	size_t n_wants;
	struct index *indexes;
	size_t n_indexes;
	const char **channels; /* conda's, in order */
	size_t n_channels;
	bool upgrade, no_deps, no_index, force, best_match, pre;
	bool elsewhere;	     /* done in another stage, whose files are copied */
	bool removes;	     /* takes its packages away: pip uninstall */
	const char *backend; /* --torch-backend, UV_TORCH_BACKEND; NULL */
	struct place backend_at;
	const char *cuda;    /* pixi's declared CUDA; "" not declared; NULL does not apply */
	struct place cuda_at;
	const char *python; /* Python of this environment ("3.11"), NULL */
	bool built;	    /* solved on a builder without a GPU (a RUN line) */
	struct place at;
	struct place cut_at; /* where its packages became too many; line 0: they did not */
};

/* What else a RUN line does that matters here. */
enum act {
	ACT_COMPILE,	/* compiles CUDA code */
	ACT_DRIVER,	/* puts driver files into the image */
	ACT_TOOLKIT,	/* installs a CUDA toolkit with nvcc */
	ACT_COMPAT,	/* installs cuda-compat */
	ACT_LIBRARY,	/* installs CUDA or cuDNN libraries */
	ACT_RUN_GPU,	/* needs a GPU while it is built */
	ACT_CARRIES,	/* brings a program that was linked with CUDA's libraries */
};

struct action {
	enum act act;
	const char *what;    /* "nvidia-driver-535", "flash-attn" */
	const char *version; /* "535", "12.4"; NULL */
	struct place at;
};

struct setting {
	const char *name, *value;
	struct place at;
	bool build_only; /* an ARG */
};

enum project_kind {
	PROJECT_DOCKERFILE,
	PROJECT_REQUIREMENTS,
	PROJECT_PYPROJECT,
	PROJECT_CONDA,
	PROJECT_PIXI,
	PROJECT_PIPFILE,
	PROJECT_SETUP,
	PROJECT_COMPOSE,
	PROJECT_KUBERNETES,
	PROJECT_CI,
	PROJECT_APPTAINER,
	PROJECT_COG,
	PROJECT_DEVCONTAINER,
	PROJECT_LOCK,
	PROJECT_MODAL,
	PROJECT_SPACK,
	PROJECT_SCRIPT,
	PROJECT_SKYPILOT,
};
const char *project_kind_name(enum project_kind k);

/* How a container asks for GPUs. */
enum gpu_request {
	GPU_NOT_SAID,
	GPU_REQUESTED,	/* a device request */
	GPU_RUNTIME,	/* the nvidia runtime: variables say which */
	GPU_NOT_REQUESTED,
};

/* One environment that is to be: a stage of a Dockerfile, a requirements file, a service. */
struct project {
	enum project_kind kind;
	const char *file;
	const char *name; /* of the stage or service; NULL */
	bool final;	  /* what is run in the end */
	/* image, as written and substituted; NULL: none */
	const char *image;
	struct place image_at;
	bool image_unknown; /* a variable without value in it */
	const char *platform; /* "linux/arm64", NULL */
	struct step *steps;
	size_t n_steps;
	struct action *actions;
	size_t n_actions;
	struct setting *env;
	size_t n_env;
	const char *python; /* declared; NULL; "": another than the image's, and not known which */
	struct place python_at;
	const char *requires_python; /* "==3.12.*" as PEP 440, NULL */
	bool hosted; /* a CI job on a machine of the CI's provider, which has no GPU */
	enum gpu_request gpus;
	long gpu_count; /* -1 not known */
	struct place gpus_at;
	const char *capabilities; /* "gpu,utility"; NULL */
	struct place capabilities_at;
	struct project *build; /* the Dockerfile's last stage that a service builds; NULL */
	const char *context;   /* folder or Dockerfile that it builds from; NULL */
	const char *target;    /* stage of it; NULL: the last */
	/* what could not be decided, one sentence each */
	struct doubt {
		const char *what;
		struct place at;
	} *doubts;
	size_t n_doubts;
};

struct project_list {
	struct project **v;
	size_t n;
};

/* -------- reading */

struct candidate;
struct project_reader {
	struct arena *a;
	struct compat *c;
	const char *const *args; /* "NAME=VALUE" of --assume arg.NAME=VALUE */
	size_t n_args;
	struct project_list list;
	const char **used; /* files that another one reads: not judged by themselves */
	size_t n_used;
	/* texts that stand in for files: what --fix would write */
	const struct project_overlay {
		const char *path;
		struct view text;
	} *overlay;
	size_t n_overlay;
	const char **included; /* by -r or -c of another file; n_included */
	size_t n_included;
	/* "# cuvet: ignore=NAME reason": holds for its own line, or for the next one when it stands
	 * alone */
	struct pragma {
		const char *name, *reason;
		struct place at;
		bool alone;
	} *pragmas;
	size_t n_pragmas;
	/* What a service gives the Dockerfile that it builds: its stage and arguments. */
	struct build {
		const char *file, *target; /* target: NULL: the last */
		struct setting *args;
		size_t n_args;
	} *builds;
	size_t n_builds;
	size_t n_files;	   /* opened so far, bounded */
	bool no_files;	   /* the text is a stranger's: what it names is not opened */
	size_t depth;
	/* Extras and groups of a command ("uv sync --extra gpu"); chosen: there is a command. */
	struct {
		const char *name[16];
		size_t n;
		bool chosen;
	} extras;
	const struct candidate *candidates; /* of PyTorch; resolve_search.c's own */
	size_t n_candidates;
	const char *root; /* of a named folder; "": the present one; NULL: files were named */
};

enum { PROJECT_FILE_MAX = 16 << 20, PROJECT_FILES = 4096, PROJECT_DEPTH = 16 };

/*
 * What kind of file is this, by name and content? false when it is none of ours. `*ret` may be
 * PROJECT_LOCK for locks that stand by themselves.
 */
bool project_detect(const char *path, struct view text, enum project_kind *ret);
/*
 * Reads the named files and folders (a folder: the project files in and below it). ERR_PARSE for a
 * file that is broken, with its place. Others' faults become doubts of the project.
 */
int project_read(struct project_reader *r, const char *const *paths, size_t n,
		 struct err *err) ATTR_MUST;
/*
 * Reads one text of that kind, which `path` names in places; no lock files. Errors as of
 * project_read.
 */
int project_read_text(struct project_reader *r, enum project_kind kind, const char *path,
		      struct view text, struct err *err) ATTR_MUST;
/* Works out what would be installed and writes snapshot.projects. */
void project_fill(struct project_reader *r, struct snapshot *s);

/* -------- between the readers */

struct project *project_new(struct project_reader *r, enum project_kind kind, const char *file);
struct step *project_step(struct project_reader *r, struct project *p, enum tool tool,
			  struct place at);
struct want *step_want(struct project_reader *r, struct step *s, struct place at);
void project_doubt(struct project_reader *r, struct project *p, struct place at, const char *fmt,
		   ...) ATTR_PRINTF(4, 5);
void project_action(struct project_reader *r, struct project *p, enum act act, const char *what,
		    const char *version, struct place at);
/* What a stage copies from another: a program that was linked with CUDA, or the libraries. */
void project_carry(struct project_reader *r, struct project *p, const struct project *from,
		   const char *src, struct place at);
/* Last setting of that name, or NULL. */
const struct setting *project_env(const struct project *p, const char *name);
void project_set(struct project_reader *r, struct project *p, const char *name, const char *value,
		 struct place at);
/* A file beside `file`, or an absolute path; "" parts are resolved by the system. */
const char *beside_file(struct arena *a, const char *file, const char *path);
/*
 * A path of a build context: beside the Dockerfile or, in a folder that was named, above it up to
 * that folder, where it exists; else beside it.
 */
const char *context_file(struct project_reader *r, const char *dockerfile, const char *path);
/* Of a pattern of names ("reqs/" and a star) the folder; else the path as it is. */
const char *pattern_folder(struct arena *a, const char *path);
/* The word of a path that says that it is for machines without an NVIDIA GPU; NULL: none does. */
const char *project_apart(struct arena *a, const char *path);
/* The same path, "./" in front of either aside. */
bool same_path(const char *a, const char *b);
/* What services give a Dockerfile: the value of an argument (the first that names it), or NULL. */
const char *build_arg(const struct project_reader *r, const char *file, const char *name);
/* Is this stage of a Dockerfile one that is built? names: of its n stages, NULL where none. */
bool build_stage(const struct project_reader *r, const char *file, const char *const *names,
		 size_t n, size_t stage);
/* A service that builds a Dockerfile that was read is judged with its stage. */
void link_builds(struct project_reader *r);
/* Marks a file as read by another one. */
void project_use(struct project_reader *r, const char *path);
bool project_used(const struct project_reader *r, const char *path);
/* Reads a file; bounded in size and in how many are opened. */
int project_open(struct project_reader *r, const char *path, struct view *ret,
		 struct err *err) ATTR_MUST;

/* Notes the pragmas of a file's text. */
void pragma_scan(struct project_reader *r, struct view text, const char *path);

/* A requirement by its text (PEP 508, an address, a wheel's file name) into a step. */
void want_parse(struct project_reader *r, struct project *p, struct step *s, struct view text,
		struct place at);
/* An index by its URL into a step. */
struct index *step_index(struct project_reader *r, struct step *s, const char *url,
			 struct place at);
void index_classify(struct arena *a, struct index *i);

/* A requirements file into a step, with what it includes. */
void requirements_read(struct project_reader *r, struct project *p, struct step *s,
		       const char *path, struct place from, bool constraint);
void requirements_text(struct project_reader *r, struct project *p, struct step *s,
		       struct view text, const char *path, bool constraint);
/* pyproject.toml beside a lock: `lock` may be NULL (none). */
int pyproject_read(struct project_reader *r, struct project *p, struct view text,
		   const char *path, enum tool wanted, struct err *err) ATTR_MUST;
/*
 * A lock file into a step: its packages as exact wants. `project`: the name of the project whose
 * environment it is, `extra`: what was chosen of its extras; both NULL: any, none. true when it was
 * read.
 */
struct lock_scope {
	const char *project, *extra;
};
bool lock_read(struct project_reader *r, struct project *p, struct step *s, const char *path,
	       const struct lock_scope *scope);
bool lock_name(const char *base); /* "uv.lock" ... */
int pipfile_read(struct project_reader *r, struct project *p, struct view text, const char *path,
		 struct err *err) ATTR_MUST;
int dockerfile_read(struct project_reader *r, struct view text, const char *path,
		    struct err *err) ATTR_MUST;
int apptainer_read(struct project_reader *r, struct view text, const char *path,
		   struct err *err) ATTR_MUST;
int setup_read(struct project_reader *r, struct project *p, struct view text, const char *path,
	       struct err *err) ATTR_MUST;
int conda_read(struct project_reader *r, struct project *p, struct step *s, struct view text,
	       const char *path, struct err *err) ATTR_MUST;
int pixi_read(struct project_reader *r, struct project *p, struct view text, const char *path,
	      bool pyproject, struct err *err) ATTR_MUST;
/* The calls of modal.Image that are written out in a Python file; one project an image. */
int modal_read(struct project_reader *r, struct view text, const char *path,
	       struct err *err) ATTR_MUST;
/* Is it a shell script, by its name or its first line? */
bool script_name(const char *path, struct view text);
int script_read(struct project_reader *r, struct view text, const char *path,
		struct err *err) ATTR_MUST;
/* A list for `conda create --file`: one spec a line. */
bool conda_list_name(struct view text);
void conda_list_read(struct project_reader *r, struct project *p, struct step *s, struct view text,
		     const char *path);
/* pixi.lock into a step: its packages for linux-64 as exact wants. true when it was read. */
bool pixi_lock_read(struct project_reader *r, struct project *p, struct step *s, const char *path);
int yaml_project_read(struct project_reader *r, enum project_kind kind, struct view text,
		      const char *path, struct err *err) ATTR_MUST;
/* A conda match spec: "pytorch=2.5.1", "conda-forge::pytorch-gpu", "pytorch 2.1.* cuda*". */
void conda_want(struct project_reader *r, struct step *s, struct view text, struct place at);
/* Versions as poetry writes them ("^2.3", "~2.3", "2.3.*", "*") as PEP 440; NULL: not decided. */
const char *poetry_spec(struct arena *a, const char *text);

/* -------- shell text */

/* A piece of text whose offsets know where they came from (joined lines). */
struct mapped {
	struct view text;
	const char *file;
	struct piece {
		size_t offset, line, column;
	} *pieces;
	size_t n_pieces;
};
struct place mapped_place(const struct mapped *m, size_t offset);
void mapped_piece(struct arena *a, struct mapped *m, size_t offset, size_t line, size_t column);
/*
 * The lines of a shell script, the first of them line `number` of its file: continued ones joined,
 * and without what here-documents write to others.
 */
void mapped_script(struct arena *a, struct mapped *m, struct view text, size_t number);

struct word {
	const char *text; /* quotes removed, variables substituted */
	size_t offset;
	bool unknown; /* holds a variable without a value, or a command substitution */
	bool quoted;
};
struct command {
	struct word *words;
	size_t n;
};
/* Commands of shell text in order; control words and assignments taken away. */
struct shell {
	struct project_reader *r;
	struct project *p;
	const struct mapped *m;
	size_t depth;
	const char *workdir; /* in the image, NULL */
	const char *moved;   /* where "cd" led from there, NULL */
	const struct copied *copied; /* what COPY brought */
	size_t n_copied;
	bool built; /* runs on a builder */
	bool script; /* what depends on a condition is not read */
	size_t inside; /* of so many conditions and functions */
	bool said;     /* that something was left out so */
	enum { SHELL_SH, SHELL_EXEC } form;
};
/* The mark behind "<<", without its quotes. */
struct heredoc {
	const char *mark;
	bool strip; /* "<<-": blanks in front of the mark */
};
/* The next here-document in V from *at on, behind one of these bytes (NULL: any) or in front. */
bool heredoc_next(struct arena *a, struct view v, size_t *at, const char *before,
		  struct heredoc *ret);
bool heredoc_ends(const struct heredoc *h, struct view line);
/* COPY SRC DST. */
struct copied {
	const char *from; /* path of this checkout */
	const char *to;	  /* path in the image, as written (folders end in "/") */
};
void shell_run(struct shell *sh);
/* One command's meaning. */
void command_run(struct shell *sh, const struct command *c);
/* Text of "$(...)" or "`...`" where it is decided without running anything; NULL: it is not. */
const char *shell_evaluate(struct project_reader *r, const struct project *p, struct view inner);
/* "${NAME//a/b}", "${NAME%.*}": what is behind the name, applied to its value; NULL as above. */
const char *shell_expand(struct arena *a, const char *value, struct view how);
/* "${X:-y}" and "$X" in text; *ret_unknown when one has no value. */
const char *substitute(struct project_reader *r, const struct project *p, struct view text,
		       bool *ret_unknown);

/* -------- images */

struct base_image {
	const char *repo;    /* "nvidia/cuda", without docker.io and library/ */
	const char *tag;     /* NULL: none */
	const char *digest;  /* NULL */
	const char *family;  /* "nvidia/cuda", "pytorch", "python", ...; NULL not known */
	const char *cuda, *cudnn; /* NULL: none or not known */
	const char *flavor;  /* base, runtime, devel; NULL */
	const char *os;	     /* "ubuntu22.04", "debian12", "alpine", ...; NULL not known */
	const char *libc, *glibc, *python;
	const char *torch, *tensorflow; /* releases that are in it */
	bool bare;	     /* it is known that there is no CUDA in it */
	bool rocm;
	bool require;	     /* carries NVIDIA_REQUIRE_CUDA */
	bool own_torch;	     /* holds a PyTorch that no table knows */
};
void image_parse(struct arena *a, struct compat *c, const char *ref, struct base_image *ret);

#endif
