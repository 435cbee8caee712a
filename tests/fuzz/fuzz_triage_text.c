/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as pasted text: lines are within it, valid UTF-8 and without controls. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "triage/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct text t = { 0 };
	size_t i, half = size / 2;

	text_add(a, &t, "a", (struct view){ arena_strndup(a, (const char *)data, half), half });
	text_add(a, &t, "b",
		 (struct view){ arena_strndup(a, (const char *)data + half, size - half),
				size - half });
	for (i = 0; i < t.n; i++) {
		const struct line *l = &t.lines[i];
		struct view cmd = line_cmd(l);

		if (l->s.n && (l->s.p < t.s.p || l->s.p + l->s.n > t.s.p + t.s.n))
			abort();
		if (cmd.n && cmd.p + cmd.n != l->s.p + l->s.n)
			abort();
		if (l->by != NO_COMMAND && ((size_t)l->by >= i || !t.lines[l->by].cmd_at))
			abort();
		(void)text_silent(&t, i);
	}
	for (i = 0; i < t.s.n; i++)
		if ((unsigned char)t.s.p[i] < 0x20 && t.s.p[i] != '\n' && t.s.p[i] != '\t')
			abort();
	arena_free(a);
	return 0;
}
