/* SPDX-License-Identifier: Apache-2.0 */
/* Which blobs an image consists of, by docker's manifest.json or the index of an OCI layout; trusts
 * neither names nor nesting. */
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/view.h"
#include "source/image.h"

enum { LAYERS_MAX = 512, NESTED_MAX = 4, PLATFORMS_MAX = 256 };

/* "sha256:0123..." into its digits; NULL for another algorithm or what is no digest. */
static const char *digits_of(const char *digest)
{
	size_t i;

	if (!digest || strncmp(digest, "sha256:", 7) != 0 || strlen(digest) != 7 + SHA256_HEX)
		return NULL;
	for (i = 7; digest[i]; i++)
		if (!strchr("0123456789abcdef", digest[i]))
			return NULL;
	return digest + 7;
}

static const char *blob_name(struct arena *a, const char *digest)
{
	const char *digits = digits_of(digest);

	return digits ? arena_printf(a, "blobs/sha256/%s", digits) : NULL;
}

static void add(struct arena *a, struct manifest *m, const char *name, const char *digest)
{
	size_t n = m->n;

	*ARENA_APPEND(a, m->layers, n) = name;
	*ARENA_APPEND(a, m->digests, m->n) = digest;
}

int manifest_docker(struct arena *a, const struct json *doc, const struct blobs *b,
		    struct manifest *ret, struct err *err)
{
	const struct json *image = json_first(doc), *v;
	const char *config = json_get_str(image, "Config");

	*ret = (struct manifest){ 0 };
	if (json_type(doc) != JSON_ARRAY || !image)
		return err_set(err, ERR_PARSE, "%s", _("manifest.json names no image"));
	ret->config = config ? b->json(b->ctx, config) : NULL;
	ret->reference = json_str(json_first(json_get(image, "RepoTags")));
	for (v = json_first(json_get(image, "Layers")); v; v = json_next(v)) {
		const char *name = json_str(v);

		if (!name || ret->n == LAYERS_MAX)
			return err_set(err, ERR_PARSE, "%s",
				       _("manifest.json: the layers make no sense"));
		/* Docker 25 names blobs by their digest, older ones do not. */
		add(a, ret, name,
		    strncmp(name, "blobs/sha256/", 13) == 0 && strlen(name) == 13 + SHA256_HEX
			    ? name + 13
			    : NULL);
	}
	return 0;
}

/* A manifest for this platform: linux, and amd64 before others; what only attests is none. */
static const struct json *choose(const struct json *index)
{
	const struct json *v, *best = NULL;
	size_t n = 0;

	for (v = json_first(json_get(index, "manifests")); v && n++ < PLATFORMS_MAX;
	     v = json_next(v)) {
		const struct json *platform = json_get(v, "platform");
		const char *os = json_get_str(platform, "os"),
			   *arch = json_get_str(platform, "architecture");

		if (os && strcmp(os, "linux") != 0)
			continue;
		if (arch && strcmp(arch, "amd64") == 0)
			return v;
		if (!best)
			best = v;
	}
	return best;
}

int manifest_oci(struct arena *a, const struct json *index, const struct blobs *b,
		 struct manifest *ret, struct err *err)
{
	const struct json *doc = index, *v = NULL;
	const char *name;
	unsigned depth;

	*ret = (struct manifest){ 0 };
	for (depth = 0; json_type(json_get(doc, "layers")) != JSON_ARRAY; depth++) {
		if (depth == NESTED_MAX)
			return err_set(err, ERR_PARSE, "%s",
				       _("indexes lead to indexes without an end"));
		v = choose(doc);
		if (!v)
			return err_set(err, ERR_PARSE, "%s",
				       _("the index names no image for Linux"));
		if (!ret->reference)
			ret->reference = json_get_str(json_get(v, "annotations"),
						      "org.opencontainers.image.ref.name");
		name = blob_name(a, json_get_str(v, "digest"));
		doc = name ? b->json(b->ctx, name) : NULL;
		if (!doc)
			return err_set(err, ERR_PARSE, _("a manifest is not in the archive: %.80s"),
				       json_get_str(v, "digest") ? json_get_str(v, "digest") : "?");
	}
	name = blob_name(a, json_get_str(json_get(doc, "config"), "digest"));
	ret->config = name ? b->json(b->ctx, name) : NULL;
	for (v = json_first(json_get(doc, "layers")); v; v = json_next(v)) {
		name = blob_name(a, json_get_str(v, "digest"));
		if (!name || ret->n == LAYERS_MAX)
			return err_set(err, ERR_PARSE, "%s",
				       _("the digests of the layers make no sense"));
		add(a, ret, name, digits_of(json_get_str(v, "digest")));
	}
	return 0;
}
