/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda that lacks a call which every one has: a damaged or a foreign file. */
#define STANDIN_LACKS_COUNT
#include "standin/libcuda.c"
