/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of blobs, compared in a child while their contents are read. */
#ifndef SOURCE_IMAGE_DIGEST_H
#define SOURCE_IMAGE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct hashing {
	const char *path; /* of the archive */
	struct hash_job {
		const char *file;   /* NULL: the archive */
		const char *digest; /* 64 digits */
		uint64_t from, size;
	} * jobs;
	size_t n;
};

/* For sys/child: answers an unsigned, 1 + the number of the first blob that is not what its digest
 * says; 0 when all are. */
long hash_all(void *ctx, void *answer, size_t size);

#endif
