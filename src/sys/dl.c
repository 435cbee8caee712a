/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen by a list of symbols; never closes what it opened. */
#include "sys/dl.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"

/* "NAME: cannot open shared object file: No such file ..." of NAME itself, not of what it needs. */
static bool is_absence(const char *name, const char *text)
{
	size_t n = strlen(name);

	return strncmp(text, name, n) == 0 && text[n] == ':' &&
	       strstr(text, "No such file or directory") != NULL;
}

static void note_path(void *handle, struct dl_report *ret)
{
	struct link_map *map = NULL;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name)
		snprintf(ret->path, sizeof(ret->path), "%s", map->l_name);
}

static void take_linked(const struct dl_symbol *symbols, size_t n, void *table)
{
	size_t i;

	for (i = 0; i < n; i++)
		memcpy((char *)table + symbols[i].offset, &symbols[i].linked, sizeof(void *));
}

void dl_load(const char *name, const struct dl_symbol *symbols, size_t n, void *table,
	     struct dl_report *ret)
{
	void *handle, *p;
	const char *text;
	size_t i;

	*ret = (struct dl_report){ .state = DL_LOADED };
	if (n && symbols[0].linked) {
		take_linked(symbols, n, table);
		return;
	}
	handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		text = dlerror();
		text = text ? text : "dlopen";
		ret->state = is_absence(name, text) ? DL_ABSENT : DL_BROKEN;
		snprintf(ret->text, sizeof(ret->text), "%s", text);
		return;
	}
	note_path(handle, ret);
	for (i = 0; i < n; i++) {
		p = dlsym(handle, symbols[i].name);
		memcpy((char *)table + symbols[i].offset, &p, sizeof(p));
		if (p)
			continue;
		if (!symbols[i].required) {
			ret->missing++;
		} else if (ret->state == DL_LOADED) {
			ret->state = DL_LACKS;
			snprintf(ret->text, sizeof(ret->text), "%s", symbols[i].name);
		}
	}
}
