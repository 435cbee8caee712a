/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache: verified archives under their final names, parts of others as NAME.part with a note of
 * where they came from, manifests. Laid out as a mirror is, so that it can serve as one. What is
 * taken from it is hashed again.
 */
#ifndef FETCH_CACHE_H
#define FETCH_CACHE_H

#include "base/view.h"
#include "fetch/fetch.h"

struct crypto;
struct digest;
struct http;

struct cache {
	struct arena *a;
	const struct fetch_options *o;
	const char *path;
	bool own;     /* PREFIX/.cache, which goes away again when it is empty */
	int fd;	      /* -1: not there */
	const char *base; /* URL without a slash at its end; NULL: `folder` */
	const char *folder;
	struct http *http;     /* opened when first needed */
	struct crypto *crypto; /* likewise */
};

/* Opens nothing yet that is not there. ERR_USAGE for a mirror that cannot be one. */
int cache_init(struct arena *a, const struct fetch_options *o, struct cache *ret,
	       struct err *err) ATTR_MUST;
void cache_done(struct cache *c);
int cache_crypto(struct cache *c, struct err *err) ATTR_MUST;
/* The URL, or the path, of what lies at `rel` of the mirror. */
const char *cache_url(const struct cache *c, const char *rel);

struct cache_manifest {
	struct view text;
	bool fresh;	 /* from the mirror, just now */
	bool known;	 /* has the pinned hash */
	bool republished; /* a hash is pinned, and it has another */
};
/*
 * A manifest: out of the cache when it has the pinned hash or came from the same place, else (or
 * `anew`, unless offline) from the mirror.
 */
int cache_manifest(struct cache *c, const char *rel, const char *pinned, bool anew,
		   struct cache_manifest *ret, struct err *err) ATTR_MUST;
void cache_keep_manifest(struct cache *c, const char *rel, const struct view *text);
void cache_drop(struct cache *c, const char *rel);

/* -------- for part.c */
enum { CACHE_NOTE_MAX = 8192 };
int cache_make(struct cache *c, struct err *err) ATTR_MUST; /* the folder itself */
int cache_http(struct cache *c, struct err *err) ATTR_MUST;
bool cache_read_small(struct cache *c, const char *rel, size_t limit, struct view *ret);
void cache_write_small(struct cache *c, const char *rel, struct view text); /* or not at all */
void cache_drop_one(struct cache *c, const char *rel);
void cache_prune(struct cache *c, const char *rel); /* folders above it that are empty now */
const char *cache_note_of(struct cache *c, const char *rel);

/* Is the archive there, whole by its size? */
bool cache_has(struct cache *c, const struct fetch_item *item);
/* Or a part of it? */
bool cache_has_part(struct cache *c, const struct fetch_item *item);
/*
 * The taker of an archive's bytes: `start` (also again, when it begins anew) with a descriptor to
 * be read by pread, `more` whenever bytes were added.
 */
struct cache_taker {
	int (*start)(void *ctx, int fd, struct err *err);
	void (*more)(void *ctx, uint64_t n);
	void *ctx;
};
/*
 * Gets the archive into the cache, whole and with the right hash. *ret_fd stays open for the taker.
 * What fails after the network gave something is kept as a part, what is wrong is thrown away.
 */
int cache_archive(struct cache *c, const struct fetch_item *item, const struct cache_taker *t,
		  int *ret_fd, struct err *err) ATTR_MUST;

#endif
