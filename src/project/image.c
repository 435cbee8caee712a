/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image's name says about what is in it: rows of families, each with a reader of its tags;
 * distributions by table. Whether a tag exists is for the rules to say.
 */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "project/project.h"

struct name {
	struct arena *a;
	struct compat *c;
	struct base_image *i;
	const char *parts[12]; /* of the tag, cut at "-" */
	size_t n;
};

/* -------- distributions */

static bool in_list(struct compat *c, size_t row, const char *word)
{
	const struct json *v;

	for (v = json_first(json_get(compat_row(c, "distro", row), "names")); v; v = json_next(v))
		if (json_str(v) && strcmp(json_str(v), word) == 0)
			return true;
	return false;
}

static bool distro(struct name *n, const char *word)
{
	size_t i, count = compat_count(n->c, "distro");

	for (i = 0; i < count; i++) {
		const char *os = compat_text(n->c, "distro", i, "os");

		if (!os || (strcmp(os, word) != 0 && !in_list(n->c, i, word)))
			continue;
		n->i->os = os;
		n->i->libc = compat_text(n->c, "distro", i, "libc");
		n->i->glibc = compat_text(n->c, "distro", i, "glibc");
		n->i->python = compat_text(n->c, "distro", i, "python");
		return true;
	}
	return false;
}

static bool has_part(const struct name *n, const char *word)
{
	size_t i;

	for (i = 0; i < n->n; i++)
		if (strcmp(n->parts[i], word) == 0)
			return true;
	return false;
}

static bool any_distro(struct name *n)
{
	size_t i;

	for (i = 0; i < n->n; i++) {
		if (strncmp(n->parts[i], "alpine", 6) == 0 && distro(n, "alpine"))
			return true;
		if (distro(n, n->parts[i]))
			return true;
	}
	return false;
}

static bool is_version(const char *s)
{
	return s[0] >= '0' && s[0] <= '9' && strspn(s, "0123456789.") == strlen(s);
}

/* -------- families */

static void cuda_image(struct name *n)
{
	size_t i;

	n->i->require = true;
	for (i = 0; i < n->n; i++) {
		const char *w = n->parts[i];

		if (i == 0 && is_version(w))
			n->i->cuda = w;
		else if (strncmp(w, "cudnn", 5) == 0)
			n->i->cudnn = w[5] ? w + 5 : "9";
		else if (strcmp(w, "base") == 0 || strcmp(w, "runtime") == 0 ||
			 strcmp(w, "devel") == 0)
			n->i->flavor = w;
		else
			distro(n, w);
	}
}

/* "2.5.1-cuda12.4-cudnn9-runtime" */
static void torch_image(struct name *n)
{
	size_t i;

	for (i = 0; i < n->n; i++) {
		const char *w = n->parts[i];

		if (i == 0 && is_version(w))
			n->i->torch = w;
		else if (strncmp(w, "cuda", 4) == 0)
			n->i->cuda = w + 4;
		else if (strncmp(w, "cudnn", 5) == 0)
			n->i->cudnn = w + 5;
		else if (strcmp(w, "runtime") == 0 || strcmp(w, "devel") == 0)
			n->i->flavor = w;
	}
	n->i->libc = "glibc";
}

/* The images for GPUs hold CUDA and cuDNN of the release, as the table has them. */
static void tensorflow_libraries(struct name *n)
{
	size_t i, count = compat_count(n->c, "tensorflow");
	struct version want, v;

	if (!n->i->tensorflow || !version_prefix(view_of(n->i->tensorflow), &want) || want.n < 2)
		return;
	for (i = 0; i < count; i++) {
		const struct json *row = compat_row(n->c, "tensorflow", i);
		const char *version = compat_text(n->c, "tensorflow", i, "version");
		const char *platform = json_get_str(row, "platform");

		if (!version || !platform || strcmp(platform, "linux_x86_64") != 0 ||
		    !version_prefix(view_of(version), &v) || v.part[0] != want.part[0] ||
		    v.part[1] != want.part[1])
			continue;
		n->i->cuda = json_get_str(row, "cuda");
		n->i->cudnn = json_get_str(row, "cudnn");
		return;
	}
}

static void tensorflow_image(struct name *n)
{
	if (n->n && is_version(n->parts[0]))
		n->i->tensorflow = n->parts[0];
	if (has_part(n, "gpu"))
		tensorflow_libraries(n);
	n->i->libc = "glibc";
	n->i->bare = n->i->tensorflow && !has_part(n, "gpu") && !has_part(n, "devel");
	n->i->flavor = has_part(n, "gpu") ? "runtime" : "base";
}

/* "3.11.9-slim-bookworm", "3.12-alpine" */
static void python_image(struct name *n)
{
	const char *version = n->n && is_version(n->parts[0]) ? n->parts[0] : NULL;
	struct version v;

	if (!any_distro(n))
		distro(n, version && version_at_least(version, "3.9") ? "debian13" : "debian12");
	if (version && version_prefix(view_of(version), &v) && v.n >= 2)
		n->i->python = arena_printf(n->a, "%u.%u", v.part[0], v.part[1]);
	else
		n->i->python = NULL;
	n->i->bare = !has_part(n, "windowsservercore") && !has_part(n, "nanoserver");
}

static void distro_of(struct name *n, const char *prefix, const char *newest)
{
	const char *tag = n->n ? n->parts[0] : "latest";
	struct version v;

	n->i->bare = true;
	if (is_version(tag) && version_prefix(view_of(tag), &v)) {
		if (strcmp(prefix, "ubuntu") != 0)
			tag = arena_printf(n->a, "%u", v.part[0]);
		if (strcmp(prefix, "amazonlinux") == 0 && v.part[0] > 2000)
			prefix = "amzn";
		distro(n, arena_printf(n->a, "%s%s", prefix, tag));
		return;
	}
	if (strcmp(tag, "latest") == 0 || strcmp(tag, "slim") == 0 || strcmp(tag, "stable") == 0 ||
	    strcmp(tag, "rolling") == 0)
		tag = newest;
	if (tag)
		distro(n, tag);
}

static void ubuntu_image(struct name *n)
{
	distro_of(n, "ubuntu", "ubuntu26.04");
}

static void debian_image(struct name *n)
{
	distro_of(n, "debian", "debian13");
}

static void alpine_image(struct name *n)
{
	n->i->bare = true;
	distro(n, "alpine");
}

static void rocky_image(struct name *n)
{
	distro_of(n, "rockylinux", NULL);
}

static void alma_image(struct name *n)
{
	distro_of(n, "almalinux", NULL);
}

static void centos_image(struct name *n)
{
	distro_of(n, "centos", NULL);
}

static void amazon_image(struct name *n)
{
	distro_of(n, "amazonlinux", "amzn2023");
}

static void ubi8_image(struct name *n)
{
	n->i->bare = distro(n, "ubi8");
}

static void ubi9_image(struct name *n)
{
	n->i->bare = distro(n, "ubi9");
}

static void conda_image(struct name *n)
{
	n->i->bare = true;
	if (any_distro(n))
		n->i->python = NULL;
	else
		n->i->libc = has_part(n, "alpine") ? "musl" : "glibc";
}

/* "python3.10-alpine", "0.9-python3.12-bookworm-slim", "alpine", "debian-slim" */
static void uv_image(struct name *n)
{
	size_t i;

	n->i->bare = true;
	if (!any_distro(n) && has_part(n, "debian"))
		distro(n, "debian13");
	n->i->python = NULL;
	for (i = 0; i < n->n; i++)
		if (strncmp(n->parts[i], "python3.", 8) == 0 && is_version(n->parts[i] + 6))
			n->i->python = n->parts[i] + 6;
}

/* CUDA of the image by release: from 0.20 on CUDA 13; before that all are CUDA 12. */
static void vllm_image(struct name *n)
{
	const char *v = n->n ? n->parts[0] : "latest";

	v += *v == 'v';
	n->i->libc = "glibc";
	n->i->own_torch = true;
	if (!is_version(v) || version_at_least(v, "0.20.0")) {
		n->i->cuda = "13.0";
		n->i->require = true;
	} else if (version_at_least(v, "0.4.0")) {
		n->i->cuda = "12.0";
	}
	n->i->flavor = "runtime";
}

static void own_image(struct name *n)
{
	n->i->own_torch = true;
	n->i->libc = "glibc";
}

/*
 * NVIDIA's releases by year and month: from 25.08 on they are built on CUDA 13 (release notes of
 * Triton and PyTorch 25.08: CUDA 13.0.0). Nothing is said of those before.
 */
static void ngc_torch_image(struct name *n)
{
	own_image(n);
	if (n->n && is_version(n->parts[0]) && strlen(n->parts[0]) == 5 &&
	    version_at_least(n->parts[0], "25.08"))
		n->i->cuda = "13.0";
}

static void rocm_image(struct name *n)
{
	n->i->rocm = true;
	n->i->own_torch = true;
}

static const struct {
	const char *repo, *family;
	void (*fn)(struct name *n);
} families[] = {
	{ .repo = "nvidia/cuda", .family = "nvidia/cuda", .fn = cuda_image },
	{ .repo = "nvcr.io/nvidia/cuda", .family = "nvidia/cuda", .fn = cuda_image },
	{ .repo = "pytorch/pytorch", .family = "pytorch", .fn = torch_image },
	{ .repo = "tensorflow/tensorflow", .family = "tensorflow", .fn = tensorflow_image },
	{ .repo = "python", .family = "python", .fn = python_image },
	{ .repo = "mcr.microsoft.com/devcontainers/python",
	  .family = "python",
	  .fn = python_image },
	{ .repo = "ubuntu", .family = "distro", .fn = ubuntu_image },
	{ .repo = "debian", .family = "distro", .fn = debian_image },
	{ .repo = "alpine", .family = "distro", .fn = alpine_image },
	{ .repo = "rockylinux", .family = "distro", .fn = rocky_image },
	{ .repo = "rockylinux/rockylinux", .family = "distro", .fn = rocky_image },
	{ .repo = "almalinux", .family = "distro", .fn = alma_image },
	{ .repo = "centos", .family = "distro", .fn = centos_image },
	{ .repo = "amazonlinux", .family = "distro", .fn = amazon_image },
	{ .repo = "public.ecr.aws/amazonlinux/amazonlinux",
	  .family = "distro",
	  .fn = amazon_image },
	{ .repo = "registry.access.redhat.com/ubi8", .family = "distro", .fn = ubi8_image },
	{ .repo = "registry.access.redhat.com/ubi9", .family = "distro", .fn = ubi9_image },
	{ .repo = "registry.access.redhat.com/ubi8/ubi", .family = "distro", .fn = ubi8_image },
	{ .repo = "registry.access.redhat.com/ubi9/ubi", .family = "distro", .fn = ubi9_image },
	{ .repo = "continuumio/miniconda3", .family = "conda", .fn = conda_image },
	{ .repo = "continuumio/anaconda3", .family = "conda", .fn = conda_image },
	{ .repo = "condaforge/miniforge3", .family = "conda", .fn = conda_image },
	{ .repo = "condaforge/mambaforge", .family = "conda", .fn = conda_image },
	{ .repo = "mambaorg/micromamba", .family = "conda", .fn = conda_image },
	{ .repo = "ghcr.io/prefix-dev/pixi", .family = "conda", .fn = conda_image },
	{ .repo = "ghcr.io/astral-sh/uv", .family = "uv", .fn = uv_image },
	{ .repo = "astral/uv", .family = "uv", .fn = uv_image },
	{ .repo = "nvcr.io/nvidia/pytorch", .family = "ngc", .fn = ngc_torch_image },
	{ .repo = "vllm/vllm-openai", .family = "vllm", .fn = vllm_image },
};

/* Whole name spaces. */
static const struct {
	const char *prefix, *family;
	void (*fn)(struct name *n);
} spaces[] = {
	{ .prefix = "nvcr.io/nvidia/l4t-", .family = "jetson", .fn = own_image },
	{ .prefix = "dustynv/", .family = "jetson", .fn = own_image },
	{ .prefix = "nvcr.io/nvidia/", .family = "ngc", .fn = own_image },
	{ .prefix = "nvcr.io/nim/", .family = "ngc", .fn = own_image },
	{ .prefix = "rocm/", .family = "rocm", .fn = rocm_image },
	{ .prefix = "ghcr.io/huggingface/text-generation-inference",
	  .family = "tgi",
	  .fn = own_image },
	{ .prefix = "huggingface/transformers-pytorch-gpu", .family = "hf", .fn = own_image },
	{ .prefix = "lmsysorg/sglang", .family = "sglang", .fn = own_image },
};

static void cut_tag(struct name *n)
{
	struct view rest = view_of(n->i->tag);

	while (rest.n && n->n < ARRAY_LEN(n->parts))
		n->parts[n->n++] = view_dup(n->a, view_cut(rest, '-', &rest));
}

static const char *without(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : s;
}

void image_parse(struct arena *a, struct compat *c, const char *ref, struct base_image *ret)
{
	struct name n = { .a = a, .c = c, .i = ret };
	const char *at = strchr(ref, '@'), *slash, *colon, *repo;
	size_t i;

	*ret = (struct base_image){ .repo = "" };
	if (at)
		ret->digest = at + 1;
	repo = at ? arena_strndup(a, ref, (size_t)(at - ref)) : ref;
	slash = strrchr(repo, '/');
	colon = strchr(slash ? slash : repo, ':');
	if (colon) {
		ret->tag = colon + 1;
		repo = arena_strndup(a, repo, (size_t)(colon - repo));
	}
	repo = without(without(without(without(repo, "docker.io/"), "index.docker.io/"),
			       "registry-1.docker.io/"),
		       "library/");
	repo = without(without(repo, "mirror.gcr.io/library/"), "public.ecr.aws/docker/library/");
	ret->repo = repo;
	cut_tag(&n);
	for (i = 0; i < ARRAY_LEN(families); i++)
		if (strcmp(families[i].repo, repo) == 0) {
			ret->family = families[i].family;
			families[i].fn(&n);
			return;
		}
	for (i = 0; i < ARRAY_LEN(spaces); i++)
		if (strncmp(repo, spaces[i].prefix, strlen(spaces[i].prefix)) == 0) {
			ret->family = spaces[i].family;
			spaces[i].fn(&n);
			return;
		}
}
