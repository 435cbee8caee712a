/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks libcuvet whether a stack runs: this machine, or what is declared on the command line.
 *
 *	cc -o check check.c $(pkg-config --cflags --libs libcuvet)
 *	./check
 *	./check 'gpu=RTX 5090' driver=580.65.06 torch=2.6.0+cu124 python=3.12
 */
#include <cuvet.h>
#include <stdio.h>

static int report(struct cuvet *c)
{
	const char *text;
	size_t n;
	int verdict = cuvet_judge(c);

	if (verdict < 0 || cuvet_report(c, "text", &text, &n) != CUVET_OK)
		return -1;
	fwrite(text, 1, n, stdout);
	if (cuvet_root_cause(c))
		printf("\nroot cause: %s\n", cuvet_root_cause(c));
	return verdict;
}

int main(int argc, char **argv)
{
	struct cuvet *c;
	int i, verdict = -1, status = cuvet_open(NULL, &c);

	for (i = 1; i < argc && status == CUVET_OK; i++)
		status = cuvet_assume(c, argv[i]);
	if (status == CUVET_OK)
		status = argc > 1 ? cuvet_look_assumed(c) : cuvet_look_live(c);
	if (status == CUVET_OK)
		verdict = report(c);
	if (verdict < 0)
		fprintf(stderr, "check: %s\n", cuvet_error(c));
	cuvet_close(c);
	return verdict < 0 ? 4 : verdict == CUVET_BLOCKED;
}
