/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a toolkit: which one, what to set, and the text that sets it in a shell or a
 * file format. Nothing of a toolkit is started, and nothing here prints.
 */
#ifndef ENV_ENV_H
#define ENV_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "compat/compat.h"
#include "model/snapshot.h"
#include "sys/sysroot.h"

struct arena;

/* How a variable is changed; the letter is what the snippets pass around. */
enum env_kind {
	ENV_SCALAR = 's', /* one value */
	ENV_LIST = 'l',	   /* directories in front of what is there; empty elements go */
	ENV_MANLIST = 'm', /* the same; an empty element is the system's own list and stays */
};

struct env_item {
	const char *name;
	enum env_kind kind;
	const char **values; /* of a scalar one */
	size_t n;
};

/* Every variable that a snippet may touch, in the order in which they are written. */
struct env_name {
	const char *name;
	enum env_kind kind;
};
extern const struct env_name env_names[]; /* ends with name NULL */

struct env_set {
	const char *toolkit, *version; /* prefix; NULL when none is set */
	const char *cudnn;	       /* prefix; NULL when none is set */
	const char *why;	       /* why this toolkit; one sentence without a full stop */
	const char **notes;	       /* more that a reader should know, a sentence each */
	size_t n_notes;
	struct env_item *items;
	size_t n_items;
	const char **lib_dirs; /* all library directories, needed in LD_LIBRARY_PATH or not */
	size_t n_lib_dirs;
	bool dev;     /* headers and link-time paths too */
	bool unset;   /* take away instead of set */
	bool windows; /* paths of Windows: lists are separated by ';' */
	const char **assume; /* "gpu=...", for a line that checks an image while it is built */
	size_t n_assume;
};

struct env_request {
	const char *cuda;  /* version or prefix; NULL: choose */
	const char *cudnn; /* version or prefix; NULL: the installed one, or none */
	bool dev, unset;
	bool elsewhere; /* read where the loader's cache of this machine says nothing */
};

/*
 * Chooses toolkit and cuDNN and says what has to be set. `cwd`: what a relative prefix is relative
 * to. -ERR_NOENT: there is no toolkit (of that version), the message says what to do; ERR_USAGE: a
 * prefix that is no toolkit or cannot stand in a list.
 */
int env_plan(struct arena *a, const struct sysroot *root, struct compat *c,
	     const struct snapshot *s, const struct env_request *q, struct env_set *ret,
	     struct err *err) ATTR_MUST;
/* Is it a prefix rather than a version? */
bool env_is_prefix(const char *text);

/* -------- toolkit.c, cudnn.c: what lies in a prefix */
/* version.json, version.txt or bin/nvcc, and lib64 or lib. `ret_lib`: "lib64" or "lib"; NULL. */
bool env_is_toolkit(const struct sysroot *root, struct arena *a, const char *prefix,
		    const char **ret_lib);
/* What its version file says; NULL when there is none that can be read. */
const char *env_toolkit_version(const struct sysroot *root, struct arena *a, const char *prefix);
struct env_toolkit {
	const char *prefix, *version, *lib, *why; /* version may be NULL; lib: directory */
	bool asked;				  /* the user named it */
};
int env_choose_toolkit(struct arena *a, const struct sysroot *root, struct compat *c,
		       const struct snapshot *s, const char *asked, struct env_toolkit *ret,
		       struct err *err) ATTR_MUST;
/* *ret_prefix stays NULL when none was asked for and none is installed for that CUDA. */
int env_choose_cudnn(struct arena *a, const struct sysroot *root, const struct snapshot *s,
		     const char *asked, const char *cuda, const char **ret_prefix,
		     struct err *err) ATTR_MUST;
/* "lib64" or "lib" below a prefix of cuDNN, as a directory; NULL when neither is there. */
const char *env_cudnn_lib(const struct sysroot *root, struct arena *a, const char *prefix);
/* Does the loader's cache lead to what lies in this directory, so that no variable is needed? */
bool env_loader_finds(const struct sysroot *root, struct arena *a, const char *dir);

/* -------- forms.c: shells and file formats */
struct env_form {
	const char *name;
	bool shell;
	bool elsewhere;	     /* is read in an image or a job: see env_request */
	const char *comment; /* begins a comment line; NULL: the format has none */
	const char *first;   /* line that has to be the first of a file; NULL */
	const char *refused; /* characters that a value cannot hold here */
	void (*put)(struct strbuf *out, const struct env_set *s);
};
const struct env_form *env_shell(const char *name);  /* also sh, csh, mksh, pwsh; NULL */
const struct env_form *env_format(const char *name); /* NULL */
/* The form that a file of this name is read as; NULL when the name says nothing. */
const struct env_form *env_form_of_file(const char *path);
/* The text; ERR_USAGE when a value cannot be said in this form, or nothing can be taken away. */
int env_render(struct arena *a, const struct env_form *f, const struct env_set *s,
	       const char **ret, struct err *err) ATTR_MUST;

/* -------- list.c: search paths */
/* Elements of `added`, then those of `old` (NULL: unset), each once. */
const char *env_list_add(struct arena *a, const char *added, const char *old, enum env_kind kind);
/*
 * What is left when `added` is taken out of `now`; what stood in `old` too stays. Undoes
 * env_list_add() exactly when nothing else changed. NULL: the variable goes.
 */
const char *env_list_undo(struct arena *a, const char *now, const char *added, const char *old,
			  enum env_kind kind);

/* -------- block.c: the marked block in a file */
/*
 * Text with the block put in (body NULL: taken out), in the comment style of `comment`. An existing
 * block is replaced where it stands; a new one goes to the end. ERR_PARSE when markers do not pair.
 * *ret_had: was there a block?
 */
int env_block_edit(struct arena *a, struct view text, const char *comment, const char *body,
		   const char **ret, size_t *ret_n, bool *ret_had, struct err *err) ATTR_MUST;
/* Unified difference of two texts that differ in one place; "" when they do not. */
const char *env_diff(struct arena *a, const char *path, struct view from, struct view to);

/* -------- write.c: files */
struct env_file {
	const char *path; /* behind the links that are the user's own */
	struct view text;
	bool exists, linked;
	unsigned long long dev, ino, size;
	long long mtime, mtime_ns, ctime, ctime_ns;
};
/* Reads it; a missing file is empty. Foreign links, hard links and special files are refused. */
int env_file_read(struct arena *a, const char *path, struct env_file *ret,
		  struct err *err) ATTR_MUST;
/*
 * Puts `text` in its place, all or nothing, with owner, mode and attributes kept; refused when the
 * file changed since it was read. `text` NULL removes the file. mkdirs: missing folders are made.
 */
int env_file_write(struct arena *a, const struct env_file *f, const struct view *text, bool mkdirs,
		   struct err *err) ATTR_MUST;

#endif
