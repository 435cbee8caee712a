/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules about project files share. Private to rule/. */
#ifndef RULE_PROJECT_H
#define RULE_PROJECT_H

#include "rule/look.h"
#include "rule/rule.h"

/* FN for each environment in which wheels for glibc can be: a musl one is told of as a whole. */
void project_each(struct judge *j, void (*fn)(struct judge *j, const struct planned *p));
/* "docker-compose.yml, llm"; never NULL. */
const char *project_subject(struct judge *j, const struct planned *p);
/* An error whose first evidence is the line that the fact comes from. */
struct finding *project_finding(struct judge *j, enum finding_id id, const struct planned *p,
				const char *field, const struct fact *line, const char *wanted);
/* Text of the line's fact for messages: what was written. */
const char *project_text(const struct wanted *w);
const struct wanted *project_package(const struct planned *p, const char *name);
const struct deed *project_deed(const struct planned *p, const char *act);
const struct var *project_var(const struct planned *p, const char *name);
bool project_extra(const struct wanted *w, const char *extra);
bool project_linux(const struct planned *p);
bool project_aarch64(const struct planned *p);
/* Major of "12.4": 12; 0 when not known. */
unsigned project_major(const char *version);

/*
 * Is the driver of the target below what a build of this CUDA needs? Forward compatibility of the
 * image counted. *ret_least: the lowest one that does.
 */
bool project_driver_below(struct judge *j, const struct planned *p, const char *cuda,
			  const char **ret_least);
/* The worst GPU for an arch list: its index, or -1 when all run it. *ret_old: it is below the list.
 */
long project_gpu_unfit(struct judge *j, const char *const *archs, size_t n, bool *ret_old);

/* Does a step install CUDA's libraries from the distribution or a toolkit? */
bool project_has_libraries(const struct planned *p);

/*
 * Row of a table whose `version` (through `to`) holds this release; series rows hold 1.20.x. Where
 * `field` is named its text has to be `value`. NULL: none.
 */
const struct json *project_row(struct judge *j, const char *table, const char *version,
			       const char *field, const char *value);

/* TensorFlow's row for Linux: of the release itself, or for a patch release of its series. */
const struct json *project_tensorflow(struct judge *j, const char *version);

/* -------- libraries that a framework takes from the system (project_frameworks.c) */
struct lib_need {
	const struct wanted *w;
	unsigned cuda, cudnn; /* majors; 0 not known */
	const char *extra;    /* what brings the libraries: "tensorflow[and-cuda]"; NULL: none */
	const char *other;    /* what else helps */
};

/* Holds what a framework loads from the system against what the image has. */
void project_system_libraries(struct judge *j, const struct planned *p, const struct lib_need *n);

/* -------- pins beside jax (project_jax.c) */
void project_jax_pins(struct judge *j, const struct planned *p);

/* -------- add-ons (project_addons.c, project_ort.c) */
void project_onnxruntime(struct judge *j, const struct planned *p, const struct wanted *w);
void project_ctranslate2(struct judge *j, const struct planned *p, const struct wanted *w);
void project_cupy(struct judge *j, const struct planned *p, const struct wanted *w);
void project_vllm(struct judge *j, const struct planned *p, const struct wanted *w);
void project_bitsandbytes(struct judge *j, const struct planned *p, const struct wanted *w);
/* An add-on whose code begins at a compute capability that a GPU does not have. */
void project_least_cc(struct judge *j, const struct planned *p, const struct wanted *w,
		      enum finding_id id);

/* -------- remedies: a corrected line */
/* The PyTorch that fits target, Python and C library, in the words of the file. */
void project_fix_torch(struct judge *j, struct finding *f, const struct planned *p,
		       const struct wanted *w);
/* "Or a driver of branch 580 or newer": when one drives all GPUs of the target. */
void project_fix_driver(struct judge *j, struct finding *f, const char *cuda);

#endif
