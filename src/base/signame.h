/* SPDX-License-Identifier: Apache-2.0 */
/* Names of signals, which libc has a function for only since glibc 2.32. */
#ifndef BASE_SIGNAME_H
#define BASE_SIGNAME_H

/* "SEGV" for 11, without "SIG"; "?" for one without a name here. */
const char *signame(int signal);

#endif
