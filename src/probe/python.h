/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the Python probe share; for no other probe. Nothing of an environment is ever
 * run.
 */
#ifndef PROBE_PYTHON_H
#define PROBE_PYTHON_H

#include "probe/probe.h"

enum python_kind { PY_SYSTEM, PY_VENV, PY_CONDA, PY_PYENV, PY_UV, PY_USER };

/* One environment that was found. Paths are those of the audited root. */
struct py_env {
	enum python_kind kind;
	const char *prefix;	 /* as it was found */
	const char *real;	 /* with all links resolved: the same environment twice is one */
	const char *interpreter; /* bin/python...; NULL when there is none */
	const char *minor;	 /* "3.12"; NULL when not known */
	const char *version;	 /* "3.12.3", or the minor when more is not known; NULL */
	const char *version_from;
	const char *base;	/* venv: prefix of the Python that it was made from, or NULL */
	bool system_site;	/* venv: include-system-site-packages */
	bool threads;		/* free-threaded build: lib/python3.13t */
	bool dead;		/* interpreter is a link that leads nowhere */
	const char *why_active; /* NULL unless active */
};

struct py_find {
	struct probe_ctx *p;
	struct py_env *envs;
	size_t n;
	unsigned opened; /* folders that the search has opened */
	bool cut;	 /* it stopped at a limit */
};

/* pyvenv.cfg: keys that matter. */
struct pyvenv {
	const char *home, *version, *uv;
	bool system_site;
};
/*
 * Keys compare without case, blanks round '=' are dropped; the last of a key wins, as in site.py.
 */
void pyvenv_parse(struct arena *a, struct view text, struct pyvenv *ret);

/*
 * Headers Name and Version of METADATA or PKG-INFO; NULL for what is missing or is no plain word.
 */
struct py_metadata {
	const char *name, *version;
};
void py_metadata_parse(struct arena *a, struct view text, struct py_metadata *ret);
/* "Tag: cp312-cp312-manylinux_2_28_x86_64" of a WHEEL file, or NULL; the first of several. */
const char *py_wheel_tag(struct arena *a, struct view text);
/*
 * glibc that a wheel tag asks for, the lowest when it names several platforms (PEP 600, 513, 571,
 * 599): "2.28"; NULL for "linux".
 */
const char *py_tag_glibc(struct arena *a, const char *tag);
/*
 * A module that holds plain assignments: what `name` is set to, "None" included; NULL when it is
 * not there, "" when it is nothing that makes sense.
 */
const char *py_assigned(struct arena *a, struct view text, const char *name);
/* PEP 503: lower case, runs of "-_." are one '-'. NULL when it is no name of a package. */
const char *py_normalize(struct arena *a, struct view name);
/* Letters, digits and .+-_!~ only: what a version or a build string consists of. */
bool py_is_word(struct view v);
/* Does the name begin as one of these? */
bool py_begins(const char *name, const char *const *stems, size_t n);
/* "3.12" out of "3.12.3"; NULL when it does not begin like that. */
const char *py_minor(struct arena *a, const char *version);

/* python_find.c: every environment, each once. */
void py_find_all(struct py_find *f);
/*
 * python_active.c: adds the environments of --python and PATH, and marks the active one; to be
 * called first.
 */
void py_find_active(struct py_find *f);
/*
 * python_env.c: looks at one prefix; adds it when an environment is there. The entry or NULL; the
 * array may move.
 */
struct py_env *py_add_prefix(struct py_find *f, const char *prefix);
/* The environment that running this interpreter gives. */
struct py_env *py_add_interpreter(struct py_find *f, const char *path);

/* python_site.c: the package directories in the order of sys.path. */
const char **py_site_dirs(struct probe_ctx *p, const struct py_env *e, size_t *ret_n);
/* python_packages.c: fills out->packages and out->site_dirs. */
void py_packages(struct probe_ctx *p, const struct py_env *e, struct python *out);
/* python_torch.c: fills out->torch from the files of the package. */
void py_torch(struct probe_ctx *p, const struct py_env *e, struct python *out);

/*
 * python_cudnn.c: which libcudnn the libraries of this torch load. `lib` is the folder torch/lib.
 */
void py_cudnn(struct probe_ctx *p, const struct py_env *e, struct python *out, const char *lib);

/* python_loads.c: which CUDA libraries the frameworks load; needs packages and torch. */
void py_loads(struct probe_ctx *p, const struct py_env *e, struct python *out);
/* python_extensions.c: compiled add-ons against this torch; needs packages and torch. */
void py_extensions(struct probe_ctx *p, const struct py_env *e, struct python *out);
/* python_triton.c: Triton, its assembler, and what compiling at run time needs. */
void py_triton(struct probe_ctx *p, const struct py_env *e, struct python *out);
/* python_state.c: leftovers, copies, sources, requirements of packages, a torch.py in the way. */
void py_state(struct probe_ctx *p, const struct py_env *e, struct python *out);
/* python_record.c: files of PyTorch and of NVIDIA's wheels that are gone; needs packages, torch. */
void py_records(struct probe_ctx *p, const struct py_env *e, struct python *out);
/*
 * The path in a line of RECORD; NULL for one that is cut off, leads out of the folder or holds
 * control characters.
 */
const char *py_record_path(struct arena *a, struct view line);
/* python_packages.c: the channel in the JSON of conda-meta, without a login; NULL. */
const char *py_conda_channel(struct arena *a, struct view text);
/* python_kernels.c: a kernel of Jupyter, whose file is PATH; `argv0` of it, or NULL. */
const char *py_kernel(struct py_find *f, const char *path);

#endif
