/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: each fills its part of the snapshot from the root and, when the root is this machine,
 * from live calls. What no file can hold comes from the facts file beside a foreign root; without
 * it those parts are not asked. A probe never judges, never prints and never fails the run: what
 * went wrong is the state of a fact.
 */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "base/err.h"
#include "model/snapshot.h"
#include "sys/sysroot.h"

struct arena;
struct json;

struct probe_ctx {
	struct arena *a;
	const struct sysroot *root;
	struct snapshot *s;
	const struct json *facts; /* document of cuvet.facts/1, or NULL */
	const char *facts_name;	  /* its path, for sources */
	const char *python;	  /* --python PATH or NULL */
	long timeout_ms;	  /* for each driver call; 0: the default */
	bool deep;		  /* wait for slow driver calls however healthy the rest looks */
	const char *const *env; /* NAME=VALUE of an image's configuration, or NULL */
	size_t n_env;
	const char *env_source;
	struct live_calls *calls; /* started driver children, NULL when none */
};

struct probe {
	const char *name;
	void (*run)(struct probe_ctx *p);
};

/*
 * True when facts about the running system (devices, codes, environment) can be had from this
 * source.
 */
static inline bool probe_is_running(const struct probe_ctx *p)
{
	return p->root->live || p->facts;
}

/* The ordered table; environment first, since later probes read it. NULL-terminated. */
extern const struct probe *const probes[];
/*
 * Reads FILE, or DIR/../facts.json if that is a regular file. A damaged FILE is an error
 * (ERR_PARSE); a damaged facts.json came with the tree: it is left out, and its parts of the
 * snapshot are broken with the reason.
 */
int probe_facts_load(struct probe_ctx *p, const char *facts_file, struct err *err) ATTR_MUST;
/* Runs all; s must be zeroed. */
void probe_all(struct probe_ctx *p);

/* One per file. */
extern const struct probe probe_environ;   /* environment.c: variables, identity, uname */
extern const struct probe probe_host;	   /* host.c: os-release, libc, kernel, secure boot, WSL */
extern const struct probe probe_container; /* container.c */
extern const struct probe
	probe_boundary; /* boundary.c: mounts, user namespace, wake-ups, SELinux */
extern const struct probe probe_pci_topology; /* pci_topology.c: links, IOMMU, access control */
extern const struct probe probe_modprobe; /* modprobe.c: what keeps modules from loading */
extern const struct probe probe_dkms;	  /* dkms.c */
extern const struct probe probe_os_packages; /* os_packages.c: dpkg, pacman */
extern const struct probe probe_runtime;  /* runtime.c, cdi.c: Docker, toolkit, Kubernetes */
extern const struct probe probe_klog;	  /* klog.c: what the driver logged */
extern const struct probe probe_pci;	   /* pci.c */
extern const struct probe
	probe_kmod; /* kmod.c: loaded modules, /proc/driver/nvidia, modules on disk */
extern const struct probe
	probe_initramfs; /* initramfs.c: modules that are loaded before the disk */
extern const struct probe probe_nodes;	   /* nodes.c */
extern const struct probe
	probe_userlib; /* userlib.c: libcuda, libnvidia-ml as the loader would take them */
extern const struct probe
	probe_driver_start;		   /* driver.c: starts the NVML and CUDA children (live) */
extern const struct probe probe_services;  /* services.c */
extern const struct probe probe_toolkit;   /* toolkit.c */
extern const struct probe probe_python;	   /* python.c, python_*.c */
extern const struct probe
	probe_driver_end; /* driver.c: collects their answers, or those of the facts file */

#endif
