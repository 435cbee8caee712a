/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over saved inputs, so that each input is a test; it must not make up any. */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Gives the target an allocation of exactly the input's size, so that the address sanitizer sees a
 * read past its end; an empty input is the end of one, as a block of no bytes would get one.
 */
static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *block = NULL;
	struct stat st;
	size_t size, lead;
	int r = -1;

	if (!f)
		return -1;
	if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode))
		goto out;
	size = (size_t)st.st_size;
	lead = size ? 0 : 16;
	block = malloc(lead + size);
	if (!block || fread(block + lead, 1, size, f) != size)
		goto out;
	LLVMFuzzerTestOneInput(block + lead, size);
	r = 0;
out:
	free(block);
	fclose(f);
	return r;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **list;
	int failed = 0;
	int n;

	if (argc != 2) {
		fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
		return 2;
	}
	n = scandir(argv[1], &list, visible, alphasort);
	if (n < 0) {
		perror(argv[1]);
		return 1;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		char path[4096];
		int bad;

		snprintf(path, sizeof(path), "%s/%s", argv[1], list[i]->d_name);
		/* A crash ends the program here: the plan then says that tests are missing, and
		 * this line says which input it was. */
		printf("# %s\n", path);
		fflush(stdout);
		bad = replay_file(path);
		failed |= bad;
		printf("%sok %d - %s\n", bad ? "not " : "", i + 1, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return failed ? 1 : 0;
}
