/* SPDX-License-Identifier: Apache-2.0 */
/* The errno names that file, device and process calls return on Linux. */
#include "base/errname.h"

#include <errno.h>
#include <string.h>

#include "base/attr.h"

#define NAME(e) { .number = e, .name = #e }
static const struct {
	int number;
	const char *name;
} names[] = {
	NAME(EPERM),   NAME(ENOENT),	 NAME(ESRCH),	 NAME(EINTR),	NAME(EIO),
	NAME(ENXIO),   NAME(E2BIG),	 NAME(ENOEXEC),	 NAME(EBADF),	NAME(ECHILD),
	NAME(EAGAIN),  NAME(ENOMEM),	 NAME(EACCES),	 NAME(EFAULT),	NAME(ENOTBLK),
	NAME(EBUSY),   NAME(EEXIST),	 NAME(EXDEV),	 NAME(ENODEV),	NAME(ENOTDIR),
	NAME(EISDIR),  NAME(EINVAL),	 NAME(ENFILE),	 NAME(EMFILE),	NAME(ENOTTY),
	NAME(ETXTBSY), NAME(EFBIG),	 NAME(ENOSPC),	 NAME(ESPIPE),	NAME(EROFS),
	NAME(EMLINK),  NAME(EPIPE),	 NAME(EDOM),	 NAME(ERANGE),	NAME(EDEADLK),
	NAME(ENOSYS),  NAME(ENOTEMPTY),	 NAME(ELOOP),	 NAME(ENODATA), NAME(ETIME),
	NAME(EPROTO),  NAME(EOVERFLOW),	 NAME(ENOTSUP),	 NAME(ESTALE),	NAME(EDQUOT),
	NAME(EREMOTE), NAME(ENAMETOOLONG), NAME(ETIMEDOUT), NAME(EREMOTEIO),
};

const char *errname(int errnum)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].number == errnum)
			return names[i].name;
	return "errno";
}

int errname_number(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].number;
	return 0;
}
