/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images of containers as a source: archives of docker, podman, buildah and skopeo, OCI layouts as
 * an archive or a folder, plain archives of a root; each plain or packed. Layers are laid over each
 * other in memory; nothing is unpacked.
 */
#ifndef SOURCE_IMAGE_H
#define SOURCE_IMAGE_H

#include "base/err.h"
#include "sys/keep.h"
#include "sys/tar.h"

struct arena;
struct json;

struct layer_entry {
	const char *name, *symlink, *hardlink;
	struct tree_data *data;
	mode_t mode;
};

/* What a layer says; applied later, when the order of the layers is known. */
struct layer {
	const char *name; /* of the member or blob */
	struct layer_entry *entries;
	size_t n;
};

struct image {
	struct ftree *tree;
	const struct json *config; /* of OCI and docker, or NULL */
	const char *reference;	   /* "pytorch/pytorch:2.5.1", or NULL */
	const char *layout;	   /* "docker archive", "OCI layout", "root archive", "squashfs" */
	const char **notes;	   /* what was left out and why; translated */
	size_t n_notes;
};

/* Does the beginning of the file look like an image (tar, gzip, xz, zstd, squashfs)? */
bool source_is_archive(const char *path);
/* Is the folder an OCI layout? */
bool source_is_oci(const char *dir);
/* `deep`: digests of everything are compared, not only of what is read anyway. */
int source_image(struct arena *a, const char *path, bool deep, struct image *ret, struct err *err)
	ATTR_MUST;

/* -------- image_layer.c */
/*
 * Reads members until the end. fd and base: where the unpacked stream lies, so that contents can
 * stay there; fd -1: it passes by once.
 */
int layer_read(struct arena *a, struct tar *t, int fd, uint64_t base, uint64_t end, struct spill *s,
	       struct layer *ret, struct err *err) ATTR_MUST;
/* One member; to be called before the next one is asked for. */
int layer_add(struct arena *a, struct tar *t, const struct tar_member *m, int fd, uint64_t base,
	      uint64_t end, struct spill *s, struct layer *ret, struct err *err) ATTR_MUST;
void layer_apply(struct ftree *t, const struct layer *l, unsigned number);
/* Where the data of the member begin whose header is at `header`; 0 when that makes no sense. */
uint64_t layer_data(int fd, uint64_t header);
/* What is kept of a file of that name, and whether its name is kept at all. */
enum keep_how layer_keep(const char *path, uint64_t size, bool *ret_name);

/* -------- image_manifest.c: finds texts by the name of their blob */
struct blobs {
	void *ctx;
	/* Text of the JSON blob, or NULL. */
	const struct json *(*json)(void *ctx, const char *name);
};
struct manifest {
	const struct json *config;
	const char *reference;
	const char **layers;  /* names of members: "blobs/sha256/...", "abc/layer.tar" */
	const char **digests; /* sha256 of the blob as it lies there, or NULL */
	size_t n;
};
int manifest_docker(struct arena *a, const struct json *doc, const struct blobs *b,
		    struct manifest *ret, struct err *err) ATTR_MUST;
int manifest_oci(struct arena *a, const struct json *index, const struct blobs *b,
		 struct manifest *ret, struct err *err) ATTR_MUST;

#endif
