/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several rules ask of a snapshot: which environment decides, which GPUs are used, which
 * driver it is. Every answer is a pure function of the snapshot; nothing here adds a finding.
 */
#ifndef RULE_LOOK_H
#define RULE_LOOK_H

#include "rule/rule.h"

/* -------- where are we */
bool look_is_wsl(const struct snapshot *s);	  /* WSL 1 or 2 */
bool look_is_windows(
	const struct snapshot *s); /* drivers are numbered as on Windows: windows, wsl1, wsl2 */
bool look_in_container(const struct snapshot *s); /* a container, running or as an image */
bool look_is_tegra(const struct judge *j);	  /* integrated GPU: no PCI device, L4T driver */
/* Bare metal or VM with Linux whose kernel side was asked: the place where kernel rules make sense.
 */
bool look_is_linux_host(const struct judge *j);
/*
 * A container on this machine that sees the bus, which holds other devices and no NVIDIA GPU: there
 * is none to be passed in. Captured trees often leave devices out and are not judged by that.
 */
bool look_bus_without_gpu(const struct judge *j);
/* Name of the platform in the PyTorch table: "linux_x86_64". */
const char *look_platform(const struct snapshot *s);

/* -------- environments */
/* The environment that decides: the active one, else the only one with a framework; NULL when open.
 */
const struct python *look_deciding(const struct snapshot *s);
/* Environment by prefix (a subject), or NULL. */
const struct python *look_python_of(const struct snapshot *s, const char *prefix);
/* Subject of a finding about an environment; never NULL. */
const char *look_prefix(const struct python *p);
/* Was this PyTorch declared with --assume, and not found? */
bool look_declared(const struct torch *t);
/* Is it a declared build that was never published, so that nothing else about it can be judged?
 * Says so as a skip. */
bool look_unpublished(struct judge *j, const struct python *p);
/* "2.6.0" of "2.6.0+cu124"; NULL when the version is not known. */
const char *look_torch_release(struct judge *j, const struct torch *t);
/* The variant's name: the fact, else the local part of the version; NULL when neither says. */
const char *look_torch_variant(struct judge *j, const struct torch *t);
/* Row of the matrix of exactly this build, or NULL. */
const struct torch_row *look_torch_row(struct judge *j, const struct torch *t);
/* The arch list: of the binary, else of the matrix. false when neither knows. */
struct look_archs {
	const char *const *list;
	size_t n;
	const char *source;
	bool from_table;
};
bool look_torch_archs(struct judge *j, const struct torch *t, struct look_archs *ret);
/* The build's CUDA as "12.4", or NULL (a build without CUDA, or not known). */
const char *look_torch_cuda(struct judge *j, const struct torch *t);

/* -------- GPUs */
bool look_is_nvidia(const struct gpu *g);
bool look_has_nvidia(const struct snapshot *s);
bool look_has_amd(const struct snapshot *s);
/* May the audited process use this GPU (CUDA_VISIBLE_DEVICES)? */
bool look_gpu_used(const struct snapshot *s, size_t index);
/* Does the list name a GPU twice, in whatever form?  CUDA then takes none (101). */
bool look_visible_twice(const struct snapshot *s);
/* Is one named by a profile of NVIDIA's vGPU software: "NVIDIA A10-4Q", "GRID T4-8C"? */
bool look_virtual_gpu(const struct snapshot *s);
int look_cc(const struct gpu *g); /* 89; -1 not known */
/* Does "7.0 8.6+PTX", a TORCH_CUDA_ARCH_LIST, give code for it? Names are not held against it. */
bool look_arch_list_covers(const char *list, int cc);
/* Row of the matrix for this GPU: by subsystem, by PCI id, by name when that is one row, else NULL.
 */
const struct gpu_row *look_gpu_row(struct judge *j, const struct gpu *g);
/* Is the GPU known to work with the present driver (NVML lists it, or the driver shows it)? */
bool look_gpu_works(const struct gpu *g);

/* -------- the driver */
/* The best fact about its version: loaded, NVML's, on disk for this kernel, the library's. NULL
 * when none. */
const struct fact *look_driver(const struct snapshot *s);
/* The version that CUDA's minimums are compared with: Windows' under WSL. NULL when not known. */
const struct fact *look_cuda_driver(const struct snapshot *s);
/*
 * The same for a rule that compares it. NULL on a Tegra, whose driver comes with its system, and
 * where it is not known: the rule is then noted as skipped.
 */
const struct fact *look_driver_or_skip(struct judge *j);
const struct fact *look_flavor(const struct snapshot *s); /* NULL when not known */
/* Newest CUDA of the driver: what it said itself, else by the matrix (*ret_inferred). NULL when not
 * known. */
const char *look_ceiling(struct judge *j, struct fact *ret_fact, bool *ret_inferred);
bool look_module_loaded(const struct snapshot *s);
/* Is there any file of the driver (module on disk, library)? */
bool look_driver_installed(const struct snapshot *s);
/* Does libcuda come from a compat package (forward compatibility)? */
bool look_compat_libcuda(const struct snapshot *s);
bool look_cuda_works(const struct snapshot *s); /* cuInit returned 0 */
bool look_cuda_failed(const struct snapshot *s); /* a code, or no answer: hung, crashed */
/* Code of cuInit or -1 when it was not called. */
long look_cuda_init(const struct snapshot *s);
long look_nvml_init(const struct snapshot *s);
const struct node *look_node(const struct snapshot *s, const char *name);
/* Is this driver older than `least`? A bare branch ("580") stands for the newest of it. */
bool look_driver_below(const char *driver, const char *least);
/* Number in front of a version: 580 of "580.65.06"; 0 when there is none. */
unsigned look_branch(const char *version);

#endif
