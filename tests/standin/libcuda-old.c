/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in for libcuda of a driver before 11.4: without the calls that came later. */
#define STANDIN_OLD
#include "standin/libcuda.c"
