/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static inspection: what files hold and what they would load. Libraries, programs, objects,
 * archives (.a, .whl, source archives), DLLs. Only headers are read; nothing is unpacked to disk,
 * mapped or run.
 */
#ifndef INSPECT_INSPECT_H
#define INSPECT_INSPECT_H

#include "base/err.h"
#include "sys/fatbin.h"
#include "sys/ldso_load.h"

struct arena;

/* KIND(id, word in JSON, text) */
#define INSPECT_KINDS(KIND)                                                                        \
	KIND(SHARED, "shared-object", N_("shared library"))                                        \
	KIND(PROGRAM, "executable", N_("program"))                                                 \
	KIND(OBJECT, "object", N_("object file"))                                                  \
	KIND(CUBIN, "cubin", N_("GPU program"))                                                    \
	KIND(FATBIN, "fatbin", N_("bundle of GPU code"))                                           \
	KIND(CORE, "core", N_("core dump"))                                                        \
	KIND(AR, "archive", N_("archive of objects"))                                              \
	KIND(THIN_AR, "thin-archive", N_("thin archive"))                                          \
	KIND(DLL, "dll", N_("Windows library"))                                                    \
	KIND(EXE, "exe", N_("Windows program"))                                                    \
	KIND(WHEEL, "wheel", N_("wheel"))                                                          \
	KIND(SDIST, "sdist", N_("source archive"))                                                 \
	KIND(LDSCRIPT, "linker-script", N_("linker script"))                                       \
	KIND(SCRIPT, "script", N_("script"))                                                       \
	KIND(TEXT, "text", N_("text"))                                                             \
	KIND(EMPTY, "empty", N_("empty file"))                                                     \
	KIND(UNKNOWN, "unknown", N_("unknown"))

enum inspect_kind {
#define KIND(id, word, text) INSPECT_##id,
	INSPECT_KINDS(KIND)
#undef KIND
		INSPECT_KIND_COUNT
};

/* GPU code of one section. */
struct inspect_code {
	const char *section; /* ".nv_fatbin" */
	bool linked;	     /* it is the section that programs register: what it holds counts */
	int64_t records;     /* bundles that are registered at start; -1: not known */
	struct fatbin f;
};

/* NVIDIA's note in a libcuda of the compat package. */
struct inspect_compat {
	const char *cuda;     /* "12.9", or NULL */
	const char **drivers; /* host branches that it works on */
	size_t n_drivers;
	const char *why; /* the note makes no sense: why */
};

struct inspect_file {
	const char *path; /* below the root; of a member "X.whl!torch/_C.so" */
	const char *container; /* path of the archive that it lies in, or NULL */
	enum inspect_kind kind;
	const char *machine, *soname, *glibc, *glibcxx, *cxxabi, *interp; /* NULL: none */
	const char **needed;
	size_t n_needed;
	const char **delayed; /* DLLs that are loaded when they are first called */
	size_t n_delayed;
	const char *rpath, *runpath; /* as they stand in the file */
	const char *python;	     /* extension module: "cpython-312", "abi3", "cp312"; NULL */
	bool has_exports;
	uint32_t exports; /* PE */
	size_t members;	  /* of an archive */
	struct inspect_code *code; /* sections with GPU code */
	size_t n_code;
	struct inspect_compat *compat; /* NULL: no such note */
	const struct load_session
		*session; /* NULL: it is nothing that the loader of the root takes */
	const char *note; /* something to know, translated; NULL */
	const char *why; /* what makes no sense in it, translated or as a parser words it; NULL when
			    sound */
	uint64_t bytes;	  /* of GPU code's headers that were read */
};

struct inspect {
	struct arena *a;
	const struct sysroot *r;
	struct ldso_root *w;  /* NULL: do not ask what would be loaded */
	struct load_env env;
	struct inspect_file *files;
	size_t n;
	bool cut; /* there were more files than are looked at */
	unsigned opened;
};

/*
 * Looks at a file, or at everything below a folder that it knows what to make of (links are not
 * followed there). Adds to in->files. A path that cannot be opened is an error: ERR_NOENT,
 * ERR_ACCESS, ERR_TYPE.
 */
int inspect_path(struct inspect *in, const char *path, struct err *err) ATTR_MUST;
/* Looks at `size` bytes at `base` of fd, as the file `path`; false when it is nothing known and
 * !`always`. */
bool inspect_bytes(struct inspect *in, int fd, uint64_t base, uint64_t size,
		   struct inspect_file *proto, bool always);
/* The members of a wheel or source archive. `fd` is at its beginning. */
void inspect_packed(struct inspect *in, int fd, struct inspect_file *f);

const char *inspect_kind_word(enum inspect_kind k);
const char *inspect_kind_text(enum inspect_kind k); /* translated */
/* Targets of the sections that count, or (linked false) of the others: each name once. */
const char **inspect_targets(struct arena *a, const struct inspect_file *f, enum fatbin_kind kind,
			     bool linked, size_t *ret_n);

#endif
