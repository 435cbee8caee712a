/* SPDX-License-Identifier: Apache-2.0 */
/* Is what is asked for installed already, and still whole? Takes nothing away, mends nothing. */
#include <string.h>

#include "base/arena.h"
#include "fetch/into.h"
#include "fetch/prefix.h"
#include "fetch/there.h"

bool there_is(struct prefix *s, const struct fetch_options *o, struct fetch_item *item)
{
	struct installed_item probe = {
		.name = item->name, .dir = item->dir, .path = item->path, .into = o->into
	};
	struct record r;

	if (s->fd < 0)
		return false;
	probe.record =
		o->into ? arena_printf(s->a, "%s/%s%s", PREFIX_INTO,
				       into_id(s->a, item->name, item->dir, o->into), INTO_DONE)
			: arena_printf(s->a, "%s/%s/%s", item->name, item->dir, RECORD_NAME);
	if (prefix_read_record(s, &probe, &r, NULL) ||
	    (r.platform && strcmp(r.platform, item->platform) != 0))
		return false;
	item->files = r.n_files;
	item->licence_file = record_licence(&r);
	item->other = r.sha256 && strcmp(r.sha256, item->sha256) != 0;
	item->damaged = prefix_glance(s, &probe, &r);
	return true;
}

/* What was changed may be somebody's work: it is not written over, and not called installed. */
int there_whole(const struct fetch_item *item, const struct fetch_options *o, struct err *err)
{
	if (!item->damaged)
		return 0;
	return err_set(
		err, ERR_DATA,
		_("%.300s/%.200s is missing or was changed since it was installed: "
		  "`cuvet fetch verify %.64s --prefix %.300s` names all that is, `cuvet fetch remove "
		  "%.64s/%.128s --prefix %.300s%s%.300s` makes room for a new one"),
		item->path, item->damaged, item->name, o->prefix, item->name, item->dir, o->prefix,
		o->into ? " --into " : "", o->into ? o->into : "");
}

/* "12.4" was asked for and "12" is there: one build for all of 12. */
static bool cuda_serves(const char *have, const char *asked)
{
	size_t n = have ? strlen(have) : 0;

	return !asked || (n && strncmp(have, asked, n) == 0 && (!asked[n] || asked[n] == '.'));
}

int fetch_installed(struct arena *a, const struct fetch_options *o, struct fetch_item **ret,
		    struct err *err)
{
	struct installed_item *items;
	struct fetch_item *found = NULL;
	struct prefix s;
	size_t n, i;
	int r = prefix_look(a, o->prefix, &s, err);

	*ret = NULL;
	if (!r)
		r = prefix_items(&s, &items, &n, err);
	for (i = 0; !r && i < n; i++) {
		const struct installed_item *it = &items[i];
		struct record rec;

		if (strcmp(it->name, o->product) != 0 ||
		    strcmp(it->platform ? it->platform : "", o->platform) != 0 ||
		    (o->into ? !it->into || strcmp(it->into, o->into) != 0 : it->into != NULL) ||
		    !cuda_serves(it->cuda, o->cuda) ||
		    (strcmp(it->label ? it->label : "", o->label) != 0 &&
		     strcmp(it->version, o->label) != 0))
			continue;
		/* A damaged one does not count; and of several the user has to say which. */
		if (prefix_read_record(&s, it, &rec, NULL))
			continue;
		if (found) {
			found = NULL;
			break;
		}
		found = arena_alloc(a, sizeof(*found));
		*found = (struct fetch_item){
			.name = it->name,
			.version = it->version,
			.label = it->label,
			.cuda = it->cuda,
			.platform = it->platform,
			.url = it->url,
			.sha256 = it->sha256,
			.dir = it->dir,
			.path = it->path,
			.licence = rec.licence,
			.licence_url = rec.licence_url,
			.licence_file = record_licence(&rec),
			.state = FETCH_INSTALLED,
			.files = rec.n_files,
			.damaged = prefix_glance(&s, it, &rec),
		};
		if (!rec.size || !view_u64(view_of(rec.size), 10, &found->size))
			found->size = 0;
	}
	prefix_close(&s);
	if (!r && found)
		r = there_whole(found, o, err);
	*ret = r ? NULL : found;
	return r;
}
