/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own version; the Makefile gives it from the file VERSION. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#ifndef CUVET_VERSION
#define CUVET_VERSION "0.0.0"
#endif

#endif
