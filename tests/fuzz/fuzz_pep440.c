/* SPDX-License-Identifier: Apache-2.0 */
/* "VERSION\nVERSION\nSPECIFIER": the order is antisymmetric, and == and != never agree. */
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "model/pep440.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new(NULL);
	struct view v = { .p = (const char *)data, .n = size }, x = view_cut(v, '\n', &v),
		    y = view_cut(v, '\n', &v);
	struct pep440 p, q;
	struct pep440_spec s;
	const char *what = NULL;
	size_t at = 0, i;

	if (pep440_parse(x, &p) && pep440_parse(y, &q)) {
		int c = pep440_cmp(&p, &q), d = pep440_cmp(&q, &p);

		if ((c > 0) != (d < 0) || (c == 0) != (d == 0) || pep440_cmp(&p, &p) != 0)
			abort();
	}
	if (!pep440_spec_parse(a, v, &s, &at, &what)) {
		if (at > v.n || !what)
			abort();
	} else if (pep440_parse(x, &p)) {
		for (i = 0; i < s.n; i++) {
			struct pep440_clause not = s.clauses[i];

			if (not.op != PEP440_EQ)
				continue;
			not.op = PEP440_NE;
			if (pep440_clause_holds(&not, &p, x) ==
			    pep440_clause_holds(&s.clauses[i], &p, x))
				abort();
		}
		pep440_spec_holds(&s, &p, x);
	}
	arena_free(a);
	return 0;
}
