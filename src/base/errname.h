/* SPDX-License-Identifier: Apache-2.0 */
/* Names of errno values ("EACCES"), since glibc has them only from 2.32 on. */
#ifndef BASE_ERRNAME_H
#define BASE_ERRNAME_H

const char *errname(int errnum);	/* "EACCES"; "errno" when not in the list; never NULL */
int errname_number(const char *name); /* 0 when unknown */

#endif
