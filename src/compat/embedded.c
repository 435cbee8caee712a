/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up embedded files by name; copies nothing. */
#include "compat/embedded.h"

#include <string.h>

#include "compat/raw.h"
#include "compat_data.h"

static struct view bytes(const struct embedded_table *e)
{
	return (struct view){ .p = (const char *)e->start, .n = (size_t)(e->end - e->start) };
}

struct view compat_embedded(const char *name)
{
	size_t i;

	for (i = 0; i < embedded_file_count; i++)
		if (strcmp(embedded_file[i].name, name) == 0)
			return bytes(&embedded_file[i]);
	return (struct view){ .p = "", .n = 0 };
}

struct view compat_embedded_date(void)
{
	struct view newest = { .p = "", .n = 0 }, date;
	size_t i;

	for (i = 0; i < embedded_table_count; i++) {
		if (!raw_string(bytes(&embedded_table[i]), "date", &date) || date.n != 10)
			continue;
		if (!newest.n || memcmp(date.p, newest.p, date.n) > 0)
			newest = date;
	}
	return newest;
}

const char *compat_embedded_table(size_t i)
{
	return i < embedded_table_count ? embedded_table[i].name : NULL;
}
