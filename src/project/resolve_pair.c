/* SPDX-License-Identifier: Apache-2.0 */
/* torchvision and torchaudio beside a torch: what is there, and which builds their labels name. */
#include <string.h>

#include "base/arena.h"
#include "project/resolve.h"

bool pair_is_there(struct site *t, const struct step *s, const struct want *w)
{
	const struct torch_row *row = t->torch.row;
	const char *have = NULL, *local;

	if (s->upgrade || s->force || !row)
		return false;
	if (t->torchvision && strcmp(w->name, "torchvision") == 0)
		have = row->torchvision;
	if (t->torchaudio && strcmp(w->name, "torchaudio") == 0)
		have = row->torchaudio;
	return have && spec_holds(t, without_local(t, w->spec ? w->spec : "", &local), have);
}

/* torchvision==0.21.0+cu124: is that on one of the indexes? */
void vision_label(struct site *t, const struct step *s, const struct want *w)
{
	const char *exact = want_exact(t, w), *plus = exact ? strchr(exact, '+') : NULL, *release;
	struct sources src;
	struct wanted *o;
	size_t i;

	if (w->url || !plus || !plus[1] || strncmp(plus + 1, "cu", 2) != 0)
		return;
	release = compat_torch_of(t->r->c, w->name,
				  arena_strndup(t->r->a, exact, (size_t)(plus - exact)));
	sources_of(t, s, w, &src);
	if (!release || src.unknown)
		return;
	for (i = 0; i < src.n; i++)
		if ((src.v[i].kind == INDEX_TORCH && strcmp(src.v[i].variant, plus + 1) == 0) ||
		    src.v[i].kind == INDEX_ALL) {
			if (variant_exists(t, plus + 1, release))
				return;
		}
	o = emit(t, s, w);
	fact_set(&o->version, exact, source_at(t, &w->at));
	fact_set(&o->variant, plus + 1, source_at(t, &w->at));
	note_fault(t, o, variant_exists(t, plus + 1, release) ? "label" : "release", w);
}

/* Variant of the release that PyPI serves here; NULL: not known. */
const char *pypi_variant(struct site *t, const char *release)
{
	const struct torch_row *const *rows = compat_torch_of_release(t->r->c, release);
	size_t i;

	for (i = 0; rows[i]; i++)
		if (rows[i]->pypi_default && strcmp(rows[i]->platform, t->platform) == 0)
			return rows[i]->variant;
	return NULL;
}
