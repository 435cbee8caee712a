/* SPDX-License-Identifier: Apache-2.0 */
/* conda and its kin, packages of the distribution, compilers, installers that are fetched. */
#include <string.h>

#include "base/arena.h"
#include "base/path.h"
#include "project/command.h"

static void channel(struct shell *sh, struct step *s, const char *name)
{
	*ARENA_APPEND(sh->r->a, s->channels, s->n_channels) = name;
}

static void conda_file(struct shell *sh, struct step *s, const struct word *w)
{
	const char *path = command_file(sh, w->text);
	struct view text;
	struct err e;

	project_use(sh->r, path);
	if (project_open(sh->r, path, &text, &e) ||
	    conda_read(sh->r, sh->p, s, text, path, &e))
		project_doubt(sh->r, sh->p, word_place(sh, w), "%s", e.msg);
}

void command_conda(struct shell *sh, const struct word *verb, const struct command *args,
		   bool env)
{
	static const char *const valued[] = {
		"-n", "--name",	       "-p",	     "--prefix", "--solver",
		"-r", "--root-prefix", "--platform", "--subdir"
	};
	struct step *s = project_step(sh->r, sh->p, BY_CONDA, word_place(sh, verb));
	size_t i, k;

	s->built = sh->built;
	for (i = 0; i < args->n; i++) {
		const struct word *w = &args->words[i];
		const char *text = w->text;
		bool more = i + 1 < args->n, took = false;

		for (k = 0; k < ARRAY_LEN(valued); k++)
			took |= strcmp(valued[k], text) == 0;
		if (took) {
			i++;
		} else if ((strcmp(text, "-c") == 0 || strcmp(text, "--channel") == 0) && more) {
			channel(sh, s, args->words[++i].text);
		} else if (strncmp(text, "--channel=", 10) == 0) {
			channel(sh, s, text + 10);
		} else if ((strcmp(text, "-f") == 0 || strcmp(text, "--file") == 0) && more) {
			conda_file(sh, s, &args->words[++i]);
		} else if (strncmp(text, "--file=", 7) == 0) {
			struct word inner = *w;

			inner.text = text + 7;
			conda_file(sh, s, &inner);
		} else if (text[0] != '-' && text[0] != '>' && !env) {
			if (w->unknown)
				project_doubt(sh->r, sh->p, word_place(sh, w),
					      _("%s: a variable has no value here"), text);
			else
				conda_want(sh->r, s, view_of(text), word_place(sh, w));
		}
	}
	if (!s->n_wants && !s->n_channels && s == &sh->p->steps[sh->p->n_steps - 1])
		sh->p->n_steps--;
}

/* -------- packages of the distribution */

/* "535" of "nvidia-driver-535-server" */
static const char *number_in(struct arena *a, const char *name)
{
	size_t at = 0, n;

	while (name[at]) {
		if (name[at] == '-') {
			n = strspn(name + at + 1, "0123456789");
			if (n && (name[at + 1 + n] == '\0' || strchr("-=:", name[at + 1 + n])))
				return arena_strndup(a, name + at + 1, n);
		}
		at++;
	}
	return NULL;
}

/* "12.4" of "cuda-toolkit-12-4=..." */
static const char *cuda_in(struct arena *a, const char *name)
{
	const char *p = name;
	size_t n, m;

	for (p = strchr(p, '-'); p; p = strchr(p + 1, '-')) {
		n = strspn(p + 1, "0123456789");
		if (!n || p[1 + n] != '-')
			continue;
		m = strspn(p + 2 + n, "0123456789");
		if (m)
			return arena_printf(a, "%.*s.%.*s", (int)n, p + 1, (int)m, p + 2 + n);
	}
	return NULL;
}

static const struct {
	const char *prefix;
	enum act act;
} packages[] = {
	{ .prefix = "nvidia-driver", .act = ACT_DRIVER },
	{ .prefix = "nvidia-headless", .act = ACT_DRIVER },
	{ .prefix = "nvidia-utils", .act = ACT_DRIVER },
	{ .prefix = "nvidia-compute-utils", .act = ACT_DRIVER },
	{ .prefix = "nvidia-kernel", .act = ACT_DRIVER },
	{ .prefix = "nvidia-dkms", .act = ACT_DRIVER },
	{ .prefix = "nvidia-open", .act = ACT_DRIVER },
	{ .prefix = "nvidia-smi", .act = ACT_DRIVER },
	{ .prefix = "libnvidia-", .act = ACT_DRIVER },
	{ .prefix = "libcuda1", .act = ACT_DRIVER },
	{ .prefix = "cuda-drivers", .act = ACT_DRIVER },
	{ .prefix = "cuda-compat-", .act = ACT_COMPAT },
	{ .prefix = "nvidia-cuda-toolkit", .act = ACT_TOOLKIT },
	{ .prefix = "cuda-toolkit", .act = ACT_TOOLKIT },
	{ .prefix = "cuda-nvcc", .act = ACT_TOOLKIT },
	{ .prefix = "cuda-compiler", .act = ACT_TOOLKIT },
	{ .prefix = "cuda-minimal-build", .act = ACT_TOOLKIT },
	{ .prefix = "cuda-libraries", .act = ACT_LIBRARY },
	{ .prefix = "cuda-cudart", .act = ACT_LIBRARY },
	{ .prefix = "libcublas", .act = ACT_LIBRARY },
	{ .prefix = "libcudnn", .act = ACT_LIBRARY },
	{ .prefix = "cudnn", .act = ACT_LIBRARY },
	{ .prefix = "nvidia-cudnn", .act = ACT_LIBRARY },
};

void command_package(struct shell *sh, const struct word *w)
{
	const char *name = w->text;
	size_t i, n;

	if (strncmp(name, "python3.", 8) == 0) {
		n = strspn(name + 8, "0123456789");
		if (n && (name[8 + n] == '\0' || strchr("-=", name[8 + n])) && !sh->p->python) {
			sh->p->python = arena_printf(sh->r->a, "3.%.*s", (int)n, name + 8);
			sh->p->python_at = word_place(sh, w);
		}
		return;
	}
	/* "libnvidia-container" is the host's toolkit, not the driver. */
	if (strncmp(name, "libnvidia-container", 19) == 0 ||
	    strncmp(name, "nvidia-container", 16) == 0)
		return;
	for (i = 0; i < ARRAY_LEN(packages); i++)
		if (strncmp(name, packages[i].prefix, strlen(packages[i].prefix)) == 0) {
			project_action(sh->r, sh->p, packages[i].act, name,
				       packages[i].act == ACT_DRIVER ? number_in(sh->r->a, name)
								     : cuda_in(sh->r->a, name),
				       word_place(sh, w));
			return;
		}
	/* The meta packages: "cuda-runtime-12-4" is driver and libraries, */
	if (strncmp(name, "cuda-runtime-", 13) == 0 || strncmp(name, "cuda-demo-suite-", 16) == 0) {
		project_action(sh->r, sh->p, ACT_DRIVER, name, NULL, word_place(sh, w));
		project_action(sh->r, sh->p, ACT_LIBRARY, name, cuda_in(sh->r->a, name),
			       word_place(sh, w));
		return;
	}
	/* "cuda" and "cuda-12-4": driver and toolkit both. */
	if (strcmp(name, "cuda") == 0 ||
	    (strncmp(name, "cuda-", 5) == 0 && name[5] >= '0' && name[5] <= '9')) {
		project_action(sh->r, sh->p, ACT_DRIVER, name, NULL, word_place(sh, w));
		project_action(sh->r, sh->p, ACT_TOOLKIT, name, cuda_in(sh->r->a, name),
			       word_place(sh, w));
	}
}

/* -------- compiling */

static bool says_cuda(const struct command *c)
{
	static const char *const signs[] = { "-DGGML_CUDA=", "-DGGML_CUBLAS=", "-DLLAMA_CUBLAS=",
					     "-DLLAMA_CUDA=", "-DUSE_CUDA=",  "-DWITH_CUDA=",
					     "-DENABLE_CUDA=", "-DCMAKE_CUDA_", "-DCUDA_",
					     "GGML_CUDA=1",   "LLAMA_CUBLAS=1", "LLAMA_CUDA=1",
					     "-DWHISPER_CUBLAS=", "-DWHISPER_CUDA=", "-DSD_CUDA=",
					     "-DTCNN_CUDA_", "CUDA=1", "-DBUILD_CUDA" };
	size_t i, k;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < ARRAY_LEN(signs); k++)
			if (strncmp(c->words[i].text, signs[k], strlen(signs[k])) == 0) {
				const char *v = strrchr(c->words[i].text, '=');

				if (!v || (strcmp(v, "=OFF") != 0 && strcmp(v, "=0") != 0 &&
					   strcmp(v, "=off") != 0 && strcmp(v, "=NO") != 0))
					return true;
			}
	return false;
}

/* What of these builds links CUDA's libraries, unless it is told to be static. */
static bool links_shared(const struct command *c)
{
	static const char *const signs[] = { "-DGGML_CUDA=", "-DLLAMA_CUBLAS=", "-DLLAMA_CUDA=",
					     "-DGGML_CUBLAS=", "-DWHISPER_CUBLAS=",
					     "-DWHISPER_CUDA=", "-DSD_CUDA=" };
	bool shared = false;
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		if (strstr(c->words[i].text, "STATIC") || strstr(c->words[i].text, "-static"))
			return false;
		for (k = 0; k < ARRAY_LEN(signs); k++)
			shared |= strncmp(c->words[i].text, signs[k], strlen(signs[k])) == 0;
	}
	return shared;
}

void command_compile(struct shell *sh, const struct command *c)
{
	bool nvcc = strcmp(path_base(c->words[0].text), "nvcc") == 0;

	if (!nvcc && !says_cuda(c))
		return;
	/* nvcc --version looks, and compiles nothing; it has to be there all the same. */
	project_action(sh->r, sh->p, ACT_COMPILE, path_base(c->words[0].text),
		       links_shared(c) ? "shared" : NULL, word_place(sh, &c->words[0]));
}

void command_gpu(struct shell *sh, const struct command *c)
{
	project_action(sh->r, sh->p, ACT_RUN_GPU, c->words[0].text, NULL,
		       word_place(sh, &c->words[0]));
}

/* "535.183.01" of NVIDIA-Linux-x86_64-535.183.01.run */
static const char *runfile_version(struct arena *a, const char *name)
{
	const char *p = strstr(name, "NVIDIA-Linux-");

	for (p = p ? strrchr(p, '-') : NULL; p;) {
		size_t n = strspn(p + 1, "0123456789.");

		while (n && p[n] == '.')
			n--;
		return n ? arena_strndup(a, p + 1, n) : NULL;
	}
	return NULL;
}

/*
 * Installers of conda and the source of Python say which Python stands in front of the
 * distribution's: "Miniconda3-py310_23.11.0-2-Linux-x86_64.sh", "python.org/ftp/python/3.11.9/".
 */
static void other_python(struct shell *sh, const struct word *w)
{
	static const char *const names[] = { "Miniconda3-", "Miniforge3", "Mambaforge",
					     "Anaconda3-" };
	const char *source = strstr(w->text, "ftp/python/3."), *py = strstr(w->text, "-py3");
	bool conda = false;
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(names); i++)
		conda |= strstr(w->text, names[i]) != NULL;
	if (source) {
		n = strspn(source + 13, "0123456789");
		sh->p->python = arena_printf(sh->r->a, "3.%.*s", (int)n, source + 13);
	} else if (conda) {
		n = py ? strspn(py + 4, "0123456789") : 0;
		sh->p->python = n ? arena_printf(sh->r->a, "3.%.*s", (int)n, py + 4) : "";
	} else {
		return;
	}
	sh->p->python_at = word_place(sh, w);
}

void command_other(struct shell *sh, const struct command *c)
{
	bool fetch = strcmp(path_base(c->words[0].text), "wget") == 0 ||
		     strcmp(path_base(c->words[0].text), "curl") == 0;
	const char *run = NULL;
	bool toolkit_only = false, driver = false;
	size_t i, at = 0;

	for (i = 0; i < c->n; i++) {
		const char *w = c->words[i].text;

		other_python(sh, &c->words[i]);
		if (strstr(w, ".run") &&
		    (strstr(w, "NVIDIA-Linux-") || strstr(path_base(w), "cuda_") ||
		     strncmp(path_base(w), "cuda", 4) == 0)) {
			run = path_base(w);
			at = i;
		}
		toolkit_only |= strcmp(w, "--toolkit") == 0;
		driver |= strcmp(w, "--driver") == 0;
	}
	if (!run || fetch)
		return;
	if (strstr(run, "NVIDIA-Linux-") || driver || !toolkit_only)
		project_action(sh->r, sh->p, ACT_DRIVER, run, runfile_version(sh->r->a, run),
			       word_place(sh, &c->words[at]));
	if (!strstr(run, "NVIDIA-Linux-"))
		project_action(sh->r, sh->p, ACT_TOOLKIT, run, NULL, word_place(sh, &c->words[at]));
}

/* ggml and its kin link libcudart and libcublas; a static build says so. */
static bool linked_with_cuda(const struct project *p)
{
	size_t i;

	for (i = 0; i < p->n_actions; i++)
		if (p->actions[i].act == ACT_COMPILE && strcmp(p->actions[i].what, "cmake") == 0 &&
		    p->actions[i].version && strcmp(p->actions[i].version, "shared") == 0)
			return true;
	return false;
}

void project_carry(struct project_reader *r, struct project *p, const struct project *from,
		   const char *src, struct place at)
{
	if (strstr(src, "/cuda") || strstr(src, "libcu"))
		project_action(r, p, ACT_LIBRARY, src, NULL, at);
	else if (linked_with_cuda(from))
		project_action(r, p, ACT_CARRIES, src, NULL, at);
}
