/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the rungs: what later ones rest on comes first. */
#include "prove/lab.h"

const struct rung *const ladder[] = {
	&rung_library,	&rung_init,	   &rung_device,     &rung_context,   &rung_allocation,
	&rung_copy,	&rung_jit,	   &rung_sass,	     &rung_fma,	      &rung_integer,
	&rung_shared,	&rung_warp,	   &rung_reduction,  &rung_constant,  &rung_streams,
	&rung_graph,	&rung_dynamic,	   &rung_f16,	     &rung_bf16,      &rung_tf32,
	&rung_s8,	&rung_fp8,	   &rung_wgmma,	     &rung_memory,    &rung_cooperative,
	&rung_print,	&rung_pinned,	   &bench_host_to_device, &bench_device_to_host,
	&bench_pageable, &bench_device,	   &bench_launch,    &rung_assert,    NULL,
};
