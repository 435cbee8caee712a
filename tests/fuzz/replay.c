/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over saved inputs, so that each input is a test; it must not make up any. */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Gives the target its own allocation of exactly the input's size, so that a read past its end
 * is seen by the address sanitizer. */
static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;
	size_t size;

	if (!f)
		return -1;
	if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode)) {
		fclose(f);
		return -1;
	}
	size = (size_t)st.st_size;
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, f) != size) {
		free(data);
		fclose(f);
		return -1;
	}
	fclose(f);
	if (size == 0) {
		/* Still a valid pointer, but not one byte may be read. */
		free(data);
		data = malloc(0);
	}
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
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
