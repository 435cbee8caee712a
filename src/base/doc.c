/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a document. Reads no text; nothing here changes a node. */
#include "base/doc.h"

#include <string.h>

static const struct doc *member(const struct doc *map, const char *key, int depth)
{
	const struct doc *d, *found;

	if (!map || map->kind != DOC_MAP)
		return NULL;
	/* Of two of one name the later counts, as in the tools that read such a file. */
	found = NULL;
	for (d = map->first; d; d = d->next)
		if (strcmp(d->key, key) == 0)
			found = d;
	if (found)
		return found;
	for (d = map->first; d && depth; d = d->next) {
		const struct doc *from = strcmp(d->key, "<<") == 0 ? d : NULL;

		if (from && from->kind == DOC_LIST)
			from = from->first;
		for (; from; from = d->kind == DOC_LIST ? from->next : NULL) {
			found = member(from, key, depth - 1);
			if (found)
				return found;
		}
	}
	return NULL;
}

const struct doc *doc_get(const struct doc *map, const char *key)
{
	return member(map, key, 4);
}

const struct doc *doc_at(const struct doc *map, const char *path)
{
	char key[64];
	size_t n;

	while (map && *path) {
		n = strcspn(path, ".");
		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		map = doc_get(map, key);
		path += n + (path[n] == '.');
	}
	return map;
}

const char *doc_str(const struct doc *d)
{
	return d && d->kind != DOC_NULL && d->kind != DOC_LIST && d->kind != DOC_MAP ? d->text
										      : NULL;
}

const char *doc_get_str(const struct doc *map, const char *key)
{
	return doc_str(doc_get(map, key));
}

bool doc_true(const struct doc *d)
{
	return d && d->kind == DOC_BOOL &&
	       (strcmp(d->text, "true") == 0 || strcmp(d->text, "True") == 0 ||
		strcmp(d->text, "TRUE") == 0);
}

bool doc_is(const struct doc *d, enum doc_kind kind)
{
	return d && d->kind == kind;
}

const struct doc *doc_first(const struct doc *d)
{
	return d && (d->kind == DOC_LIST || d->kind == DOC_MAP) ? d->first : NULL;
}
