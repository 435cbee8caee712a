/* SPDX-License-Identifier: Apache-2.0 */
/* How the parts of the resolver speak to each other. Private to project/. */
#ifndef PROJECT_RESOLVE_H
#define PROJECT_RESOLVE_H

#include "model/pep440.h"
#include "model/requirement.h"
#include "project/project.h"

/* A PyTorch that is, or would be, in the environment. */
struct got {
	bool set, known;       /* known: version and variant are */
	bool weak;	       /* set, but it is only possible that there is one */
	bool conda;
	const char *version;   /* "2.5.1" */
	const char *variant;   /* "cu124", "cpu" */
	const char *cuda;      /* "12.4", NULL */
	const struct torch_row *row;
	struct place at;
};

struct site {
	struct project_reader *r;
	const struct project *p;
	struct planned *out;
	struct base_image image;
	const char *python;	/* "3.11"; NULL not known */
	const char *allowed[24]; /* Pythons that may be used; n 0: any */
	size_t n_allowed;
	const char *glibc, *platform;
	bool musl, windows, macos, aarch64;
	const char *driver; /* of the target, NULL */
	struct marker_env env;
	struct got torch;
	bool torchvision, torchaudio; /* are installed */
	bool cuda_driver; /* a driver is declared at all */
};

bool package_matters(const char *name);
/* Does the marker hold at this site? */
bool want_holds(struct site *t, const struct want *w);
/* One release exactly ("==2.4.1", "===..."): its text, else NULL. */
const char *want_exact(struct site *t, const struct want *w);
/* A row of the result for a want; version may be NULL. */
struct wanted *emit(struct site *t, const struct step *s, const struct want *w);
/* Does this Python do (any that is allowed)? list NULL-terminated. */
bool python_in(const struct site *t, const char *const *list);
bool spec_holds(struct site *t, const char *spec, const char *version);
const char *source_at(struct site *t, const struct place *p);

/* The indexes in which a want is looked for; `ordered`: the first that holds it alone counts. */
struct sources {
	struct index v[16];
	size_t n;
	bool ordered;
	bool unknown; /* one of them may hold anything */
};
void sources_of(struct site *t, const struct step *s, const struct want *w, struct sources *ret);

/* A build of torch on an index. */
struct pick {
	const struct torch_row *row;
	const char *text; /* "2.4.1+cu121" */
	struct pep440 v;
	const struct index *index;
};

/* A build of the table with its versions parsed: thousands of lines ask for them. */
struct candidate {
	size_t number; /* of the table's row */
	struct view platform, variant;
	const char *release, *build; /* "2.4.1", "2.4.1+cu121" */
	struct pep440 v_release, v_build;
};
const struct candidate *candidates(struct site *t, size_t *ret_n);

/* What is searched for. */
struct search {
	const char *spec;
	bool any_target; /* Python and glibc do not count */
	struct pep440_spec parsed;
};

/* The best that the installer would take; row NULL: none. */
struct pick search(struct site *t, const struct sources *src, const struct search *asked);
/* Do Python and glibc of the site do for it? */
enum serves { SERVES, NO_PYTHON, NO_GLIBC };

enum serves row_serves(struct site *t, const struct torch_row *r);
void put_pick(struct site *t, struct wanted *o, const struct pick *p, const struct want *w);

/* -------- why there is none (resolve_why.c) */
/* Is there any build of this variant (of this release, unless NULL)? */
bool variant_exists(struct site *t, const char *variant, const char *release);
/* The specifier without local labels; the last label in *ret_local. */
const char *without_local(struct site *t, const char *spec, const char **ret_local);
void note_fault(struct site *t, struct wanted *o, const char *what, const struct want *w);
void why_none(struct site *t, struct wanted *o, const struct sources *src, const char *spec,
	      const struct want *w);

/* Torch and what goes with it, for one step of pip or uv. */
void resolve_torch(struct site *t, const struct step *s);
/* One step of conda or pixi. */
void resolve_conda(struct site *t, const struct step *s);
/* Why `torch` has to be what a package needs: "==2.5.1", NULL when not known. */
const char *needs_torch(struct site *t, const char *package, const char *version);
/* The same for its newest release whose need is known: at least that. */
const char *newest_needs(struct site *t, const char *package);
/*
 * The same for the newest release within a range that goes with a torch of the specifier `torch`;
 * when none does, for the newest of the range.
 */
const char *range_needs(struct site *t, const char *package, const char *spec,
			const char *torch);
/* What of this place can't be judged, in a translated sentence, is said so. */
void site_doubt(struct site *t, const char *what, const struct place *at);
/* Each of its releases is for one release of torch. */
bool torch_exactly(const char *name);
/* torchvision==0.21.0+cu124: a fault when that is on none of the indexes. */
void vision_label(struct site *t, const struct step *s, const struct want *w);
/* Variant of the release that PyPI serves here; NULL: not known. */
const char *pypi_variant(struct site *t, const char *release);
/* The torchvision or torchaudio of the torch that is there is within the range. */
bool pair_is_there(struct site *t, const struct step *s, const struct want *w);
/*
 * The newest release of torch on these indexes ("==2.5.1") for which each of these ranges of other
 * packages holds a release that goes with it; NULL: there is none.
 */
const char *ranges_meet(struct site *t, const struct sources *src, const char *torch,
			const struct want *const *w, size_t n);
/* Variant ("cu124") of the add-on's release on PyPI; NULL when not known. */
const char *pypi_cuda(struct site *t, const char *package, const char *version);
/* Packages that bring a torch when there is none. */
bool brings_torch(const char *name);
/* Packages that hold it below a version that is not known. */
bool caps_torch(const char *name);

#endif
