/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks a file in the .xz format, as kernel modules are packed: LZMA2 alone, bounded, without a
 * library. Sums are not checked, since what comes out is parsed with the same distrust as any file.
 * Facts of the format: "The .xz File Format" 1.2.1; LZMA as in the kernel's lib/xz documentation.
 */
#ifndef SYS_XZ_H
#define SYS_XZ_H

#include <stddef.h>

/*
 * What the regular file `fd` (borrowed, read by pread) holds, as a new descriptor of an anonymous
 * file that the caller closes. -EFBIG: more than `max` bytes come out; -EBADMSG: it is no such
 * file, or a damaged one; another negative errno.
 */
int xz_unpack(int fd, size_t max);

#endif
