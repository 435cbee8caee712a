/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot: all that sources found out about a machine, as facts. Probes, parsers and loaders
 * fill it, rules read it, renderers print it. Each struct is written once, as a list of fields:
 * from the list come the struct, the JSON form and the flat report (model/snapshot_json.c). A new
 * fact is a new row.
 *
 * Rows: F(name, label) one fact; L(name, label) a list; O(name, TYPE, label) an object;
 * A(name, TYPE, label) an array of objects (pointer `name`, length `n_name`).
 */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include "model/fact.h"

/* Which parts of the machine were asked; KNOWN "yes" when asked, else the state says why not. */
#define PARTS_FIELDS(F, L, O, A)                                  \
	F(host, N_("operating system"))                           \
	F(pci, N_("PCI devices"))                                 \
	F(kernel, N_("kernel modules"))                           \
	F(nodes, N_("device nodes"))                              \
	F(userlib, N_("user-space driver libraries"))             \
	F(cuda, N_("CUDA driver API"))                            \
	F(nvml, N_("NVML"))                                       \
	F(container, N_("container boundary"))                    \
	F(environment, N_("environment variables"))               \
	F(services, N_("system services"))                        \
	F(toolkit, N_("CUDA toolkits"))                           \
	F(python, N_("Python environments"))                      \
	F(log, N_("kernel log"))                                  \
	F(packages, N_("system packages"))                        \
	F(initramfs, N_("initramfs"))

#define HOST_FIELDS(F, L, O, A)                                   \
	F(system, N_("system")) /* linux, wsl1, wsl2, windows, macos */ \
	F(kernel, N_("kernel release"))                           \
	F(arch, N_("machine architecture")) /* x86_64, aarch64 */ \
	F(os_id, N_("distribution"))                              \
	F(os_version, N_("distribution version"))                 \
	F(os_name, N_("distribution name"))                       \
	F(os_like, N_("distribution family"))                     \
	F(libc, N_("C library")) /* glibc, musl */                \
	F(glibc, N_("glibc version"))                             \
	F(secure_boot, N_("Secure Boot"))                         \
	F(lockdown, N_("kernel lockdown"))                        \
	F(euid, N_("effective user"))                             \
	L(gids, N_("groups"))                                     \
	F(shm_bytes, N_("size of /dev/shm"))                      \
	F(cmdline, N_("kernel command line"))                     \
	F(gcc, N_("host compiler"))                               \
	F(pci_devices, N_("PCI devices of any kind"))             \
	F(hypervisor, N_("virtual machine"))                      \
	F(suspends, N_("times suspended since boot"))             \
	F(iommu, N_("IOMMU")) /* off, DMA, DMA-FQ, identity */    \
	F(acs, N_("PCIe access control above GPUs")) /* redirects, off */ \
	F(selinux, N_("SELinux")) /* enforcing, permissive */     \
	F(prime, N_("graphics mode")) /* on, off, on-demand */    \
	F(gpu_removed_by, N_("rule that takes the GPU off the bus")) \
	F(memlock, N_("limit of locked memory"))                  \
	F(memory_mib, N_("memory (MiB)"))

#define CONTAINER_FIELDS(F, L, O, A)                              \
	F(kind, N_("container")) /* none, docker, podman, kubernetes, lxc, singularity, image */ \
	F(marker, N_("container marker"))                         \
	F(image, N_("image"))                                     \
	F(layout, N_("form of the image"))                        \
	F(entrypoint, N_("entry point"))                          \
	F(workdir, N_("working directory"))                       \
	F(user, N_("user of the image"))                          \
	L(labels, N_("labels of the image"))                      \
	L(left_out, N_("left out of the image"))                         \
	F(rootless, N_("user namespace"))                         \
	L(mounted, N_("driver files mounted"))                    \
	L(deleted, N_("driver files mounted and deleted since"))  \
	L(device_rules, N_("device rules of the control group"))

#define GPU_FIELDS(F, L, O, A)                                                             \
	F(address, N_("PCI address"))                                                      \
	F(pci_id, N_("PCI id"))		 /* 10de:2684 */                                   \
	F(subsystem, N_("subsystem id")) /* 10de:129e */                                   \
	F(pci_class, N_("PCI class"))	 /* 030000, 030200 */                              \
	F(name, N_("model"))                                                               \
	F(chip, N_("chip"))                                                                \
	F(compute_capability, N_("compute capability"))                                    \
	F(kernel_driver, N_("bound kernel driver"))                                        \
	F(power_state, N_("PCI power state")) /* D0, D3cold */                             \
	F(runtime_status, N_("runtime power status"))                                      \
	F(config, N_("PCI configuration space"))  /* ok, all-ff */                         \
	F(bars, N_("PCI memory regions"))	  /* ok, unassigned */                     \
	F(driver_info, N_("known to the driver")) /* yes: /proc/driver/nvidia/gpus/ADDR */ \
	F(uuid, N_("UUID"))                                                                \
	F(nvml_index, N_("NVML index"))                                                    \
	F(nvml_error, N_("NVML error"))                                                    \
	F(memory_mib, N_("memory (MiB)"))                                                  \
	F(mig_mode, N_("MIG mode"))                                                        \
	L(mig_devices, N_("MIG devices"))                                                  \
	F(compute_mode, N_("compute mode"))                                                \
	F(ambiguous, N_("what the name could also be"))                                    \
	F(link_speed, N_("PCIe speed"))                                                    \
	F(link_speed_max, N_("PCIe speed that is possible"))                               \
	F(link_width, N_("PCIe width"))                                                    \
	F(link_width_max, N_("PCIe width that is possible"))                               \
	F(iommu_group, N_("IOMMU group"))                                                  \
	F(ecc_errors, N_("uncorrected ECC errors since the driver loaded"))                \
	F(row_remap, N_("row remapping")) /* none, pending, failed */                      \
	F(retired_pending, N_("page retirement pending"))                                  \
	F(fabric, N_("NVLink fabric")) /* none, not-started, in-progress, completed */     \
	F(virtualization,                                                                  \
	  N_("virtualization"))	       /* none, passthrough, vgpu, host-vgpu, host-vsga */ \
	F(license, N_("vGPU licence")) /* licensed, unlicensed */                          \
	F(persistence, N_("persistence mode"))                                              \
	F(ecc_mode, N_("ECC")) /* on, off */                                                \
	L(clocks_held, N_("what keeps the clocks down")) /* gpu_idle, sw_power_cap */       \
	F(processes, N_("programs that compute on it"))                                     \
	F(mps_server, N_("MPS server on it"))

#define MODULE_FIELDS(F, L, O, A)                                 \
	F(name, N_("module"))                                     \
	F(version, N_("version"))                                 \
	F(loaded, N_("loaded"))                                   \
	F(path, N_("file"))                                       \
	F(kernel, N_("built for kernel"))                         \
	F(flavor, N_("flavour")) /* open, proprietary */          \
	F(signer, N_("signed by"))

/* A line of modprobe's configuration, or of the kernel's, that keeps a module away. */
#define BLOCK_FIELDS(F, L, O, A)                                  \
	F(module, N_("module"))                                   \
	F(how, N_("how")) /* blacklist, alias-off, install, module_blacklist */ \
	F(line, N_("line"))

#define DKMS_FIELDS(F, L, O, A)                                   \
	F(name, N_("DKMS module"))                                \
	F(version, N_("version"))                                 \
	F(kernel, N_("kernel"))                                   \
	F(state, N_("state")) /* added, built, failed */          \
	F(error, N_("error in its log"))

/* What the kernel or a service of the driver wrote; equal ones are counted. */
#define EVENT_FIELDS(F, L, O, A)                                  \
	F(id, N_("event"))                                        \
	F(xid, N_("Xid"))                                         \
	F(address, N_("PCI address"))                             \
	F(text, N_("line"))                                       \
	F(count, N_("times"))

#define OSPACKAGE_FIELDS(F, L, O, A)                              \
	F(name, N_("package"))                                    \
	F(version, N_("version"))                                 \
	F(status, N_("status")) /* installed, held, half-installed, unpacked, half-configured */ \
	F(origin, N_("built by"))

#define CDI_FIELDS(F, L, O, A)                                    \
	F(path, N_("CDI specification"))                          \
	F(version, N_("driver version in it"))                    \
	F(missing, N_("file that it names and that is gone"))

/* What would start containers here. */
#define RUNTIME_FIELDS(F, L, O, A)                                \
	F(docker, N_("Docker daemon"))                            \
	F(docker_via, N_("Docker from")) /* package, snap */      \
	F(rootless, N_("rootless Docker"))                        \
	F(podman, N_("Podman"))                                   \
	F(config, N_("Docker configuration"))                     \
	F(default_runtime, N_("default runtime"))                 \
	F(nvidia_runtime, N_("nvidia runtime"))                   \
	F(nvidia_file, N_("its program is there"))                \
	F(toolkit, N_("container toolkit"))                       \
	F(toolkit_version, N_("container toolkit version"))       \
	F(library_version, N_("libnvidia-container version"))     \
	F(no_cgroups, N_("no-cgroups"))                           \
	F(mode, N_("mode of the container runtime"))              \
	F(cgroup, N_("control groups")) /* v1, v2 */              \
	F(kubelet, N_("Kubernetes node"))                         \
	F(cri_config, N_("configuration of the CRI runtime"))     \
	F(cri_nvidia, N_("CRI runtime knows nvidia"))             \
	F(operator_driver, N_("driver container"))

#define LIBRARY_FIELDS(F, L, O, A)                                \
	F(name, N_("library"))                                    \
	F(path, N_("file that the loader takes"))                 \
	F(real, N_("file behind the links"))                      \
	F(version, N_("version"))                                 \
	F(soname, N_("soname"))                                   \
	F(via, N_("rule by which it was found")) /* LD_LIBRARY_PATH, ld.so.cache, default */ \
	L(shadowed, N_("copies that it hides"))

#define DRIVER_FIELDS(F, L, O, A)                                 \
	F(version, N_("driver version")) /* the loaded module's, else NVML's, else assumed */ \
	F(flavor, N_("flavour")) /* open, proprietary */          \
	F(proc_version, N_("NVRM version line"))                  \
	F(module_loaded, N_("nvidia module loaded"))              \
	F(uvm_loaded, N_("nvidia_uvm module loaded"))             \
	F(nouveau_loaded, N_("nouveau loaded"))                   \
	F(installed, N_("driver files installed"))                \
	A(modules, MODULE, N_("modules"))                         \
	O(libcuda, LIBRARY, N_("libcuda.so.1"))                   \
	O(libnvml, LIBRARY, N_("libnvidia-ml.so.1"))              \
	F(cuda_init, N_("cuInit"))                                \
	F(cuda_ceiling, N_("newest CUDA of this driver"))         \
	F(cuda_devices, N_("devices counted by CUDA"))            \
	F(nvml_init, N_("nvmlInit"))                              \
	F(nvml_driver, N_("driver version by NVML"))              \
	F(nvml_devices, N_("devices counted by NVML"))            \
	F(windows_driver, N_("Windows driver"))                   \
	F(open_unsupported, N_("NVreg_OpenRmEnableUnsupportedGpus")) \
	F(preserve_memory, N_("NVreg_PreserveVideoMemoryAllocations")) \
	F(hmm_disabled, N_("uvm_disable_hmm"))                    \
	F(ib_umad_loaded, N_("ib_umad module loaded"))            \
	F(conf_compute, N_("confidential computing"))             \
	F(conf_ready, N_("confidential GPUs ready"))              \
	A(blocks, BLOCK, N_("modules kept away"))                 \
	A(dkms, DKMS, N_("DKMS"))                                 \
	A(initramfs, MODULE, N_("modules in the initramfs"))      \
	F(cuda_end, N_("how asking CUDA ended"))  /* hung, crashed, exited, refused */ \
	F(nvml_end, N_("how asking NVML ended"))

#define NODE_FIELDS(F, L, O, A)                                   \
	F(name, N_("device node")) /* below /dev: nvidia0, nvidia-caps/nvidia-cap1 */ \
	F(type, N_("type"))                                       \
	F(mode, N_("mode"))                                       \
	F(uid, N_("owner"))                                       \
	F(gid, N_("group"))                                       \
	F(major, N_("major"))                                     \
	F(minor, N_("minor"))                                     \
	F(open, N_("open")) /* ok, EACCES, EPERM, ENXIO, ... */

#define VAR_FIELDS(F, L, O, A)                                    \
	F(name, N_("variable"))                                   \
	F(value, N_("value"))

#define UNIT_FIELDS(F, L, O, A)                                   \
	F(name, N_("service"))                                    \
	F(state, N_("state"))

#define TOOLKIT_FIELDS(F, L, O, A)                                \
	F(path, N_("toolkit"))                                    \
	F(version, N_("version"))                                 \
	F(nvcc, N_("nvcc"))                                       \
	F(via, N_("found through"))                               \
	F(link, N_("link to it")) /* BROKEN: it leads nowhere */  \
	F(cudnn, N_("cuDNN in it"))

#define PACKAGE_FIELDS(F, L, O, A)                                \
	F(name, N_("package")) /* normalized: lower case, '-' */  \
	F(version, N_("version"))                                 \
	F(location, N_("directory"))                              \
	F(tag, N_("wheel tag"))                                   \
	F(build, N_("conda build"))                               \
	F(channel, N_("conda channel"))                           \
	F(installer, N_("installed by"))                          \
	F(direct_url, N_("installed from"))                       \
	L(copies, N_("further copies")) /* other metadata of this name in one environment */ \
	L(requires, N_("requires")) /* of those that matter to a GPU */ \
	L(missing, N_("libraries that it lists and that are gone"))

/* A compiled add-on of PyTorch, or another library of a package that holds GPU code. */
#define EXTENSION_FIELDS(F, L, O, A)                              \
	F(package, N_("package"))                                 \
	F(version, N_("version"))                                 \
	F(path, N_("file"))                                       \
	F(cuda, N_("CUDA major that it needs")) /* ABSENT: neither needs CUDA nor holds code */ \
	L(targets, N_("GPU targets"))                             \
	L(missing, N_("symbols that PyTorch does not have"))      \
	F(min_glibc, N_("glibc needed"))                          \
	L(variants, N_("one file a CUDA version"))

/* A library of CUDA that a framework asks the loader for. */
#define LOAD_FIELDS(F, L, O, A)                                   \
	F(name, N_("library"))                                    \
	F(by, N_("asked for by"))                                 \
	F(package, N_("package"))                                 \
	F(path, N_("file that the loader takes"))                 \
	F(via, N_("rule by which it was found"))                  \
	F(version, N_("version in its file name"))                \
	L(own, N_("copy of the environment"))                     \
	L(elsewhere, N_("where it lies without being searched"))  \
	L(other, N_("other versions of it"))                      \
	L(missing, N_("symbols that it lacks"))                   \
	L(parts, N_("versions of its parts"))

#define TRITON_FIELDS(F, L, O, A)                                 \
	F(version, N_("Triton"))                                  \
	F(path, N_("directory"))                                  \
	F(ptxas, N_("its ptxas"))                                 \
	F(ptxas_blackwell, N_("its ptxas for Blackwell"))

/* A kernel of Jupyter. */
#define KERNEL_FIELDS(F, L, O, A)                                 \
	F(name, N_("notebook kernel"))                            \
	F(path, N_("file"))                                       \
	F(interpreter, N_("interpreter"))                         \
	F(prefix, N_("environment"))                              \
	L(env, N_("its variables"))

#define TORCH_FIELDS(F, L, O, A)                                  \
	F(version, N_("torch")) /* 2.6.0+cu124: as it prints itself */ \
	F(variant, N_("build variant")) /* cu124, cpu, rocm6.2 */ \
	F(cuda, N_("CUDA of the build")) /* 12.4; ABSENT: a build without CUDA */ \
	F(hip, N_("HIP of the build"))                            \
	F(path, N_("directory"))                                  \
	F(origin, N_("built by")) /* pip, conda, conda-forge, source */ \
	F(has_cuda_library, N_("libtorch_cuda present"))          \
	L(arch_list, N_("arch list"))                             \
	F(min_glibc, N_("glibc needed"))                          \
	O(cudnn, LIBRARY, N_("cuDNN"))                            \
	F(torchvision, N_("torchvision"))                         \
	F(torchaudio, N_("torchaudio"))

#define PYTHON_FIELDS(F, L, O, A)                                 \
	F(prefix, N_("environment"))                              \
	F(kind, N_("kind")) /* system, venv, conda, pyenv, uv, user */ \
	F(version, N_("Python"))                                  \
	F(interpreter, N_("interpreter"))                         \
	F(abi, N_("ABI")) /* cp312, cp313t */                     \
	F(active, N_("active"))                                   \
	F(active_why, N_("active because"))                       \
	L(site_dirs, N_("package directories"))                   \
	A(packages, PACKAGE, N_("packages"))                      \
	O(torch, TORCH, N_("PyTorch"))                            \
	O(triton, TRITON, N_("Triton"))                           \
	A(extensions, EXTENSION, N_("compiled add-ons"))          \
	A(loads, LOAD, N_("CUDA libraries"))                      \
	L(leftovers, N_("leftovers of an installation"))          \
	F(hidden_by, N_("file that hides PyTorch"))               \
	F(headers, N_("headers of Python"))

#define REQUIRE_FIELDS(F, L, O, A)                                \
	F(key, N_("key"))                                         \
	F(op, N_("comparison"))                                   \
	F(value, N_("value"))

/*
 * A signature (compat table "signatures") that a pasted text matched, or what an extractor noticed
 * that is no fact of its own; source says in which line. It is evidence, never a finding. `end` is
 * the last line of what takes several, or how a command that only looks was answered.
 */
#define SIGN_FIELDS(F, L, O, A)                                   \
	F(id, N_("signature"))                                    \
	F(text, N_("line"))                                       \
	F(end, N_("last line"))                                   \
	F(value, N_("what it names"))                             \
	F(count, N_("times"))

/*
 * A package that project files ask for, as the installer would take it. The source of each fact is
 * the line that decides it ("requirements.txt:3:1").
 */
#define WANTED_FIELDS(F, L, O, A)                                 \
	F(name, N_("package"))                                    \
	F(text, N_("as written"))                                 \
	F(extras, N_("extras"))                                   \
	F(version, N_("version that would be installed"))         \
	F(variant, N_("build variant"))                           \
	F(cuda, N_("CUDA of the build"))                          \
	F(index, N_("index"))                                     \
	F(channel, N_("conda channel"))                           \
	F(tool, N_("installer"))                                  \
	F(pinned, N_("pinned")) /* yes: one release is named */   \
	/* tag, release, python, glibc, platform, label, channel, toolkit, cpu-solve */ \
	F(fault, N_("why it cannot be installed"))                \
	F(clash, N_("what excludes it"))                          \
	F(because, N_("asked for by"))                            \
	F(replaces, N_("build that it replaces"))                 \
	F(system_cuda, N_("declared CUDA")) /* pixi */            \
	F(elsewhere, N_("installed in another stage"))            \
	F(no_isolation, N_("built without isolation"))            \
	F(inferred, N_("inferred"))

/* What a RUN line does beside installing packages of Python. */
#define DEED_FIELDS(F, L, O, A)                                   \
	F(act, N_("does")) /* compile, driver, toolkit, compat, library, use-gpu */ \
	F(what, N_("with"))                                       \
	F(version, N_("version"))

/* An environment that project files would make: a stage, a requirements file, a service. */
#define PLANNED_FIELDS(F, L, O, A)                                \
	F(file, N_("file"))                                       \
	F(kind, N_("kind")) /* dockerfile, requirements, conda, compose, ... */ \
	F(name, N_("stage or service"))                           \
	F(final, N_("what runs in the end"))                      \
	F(image, N_("image"))                                     \
	F(image_repo, N_("repository of the image"))              \
	F(image_tag, N_("tag of the image"))                      \
	F(image_family, N_("kind of image"))                      \
	F(image_cuda, N_("CUDA of the image"))                    \
	F(image_cudnn, N_("cuDNN of the image"))                  \
	F(image_flavor, N_("flavour of the image")) /* base, runtime, devel */ \
	F(image_bare, N_("no CUDA in the image"))                 \
	F(image_require, N_("image demands a driver"))            \
	F(image_rocm, N_("image for AMD GPUs"))                   \
	F(os, N_("distribution"))                                 \
	F(libc, N_("C library"))                                  \
	F(glibc, N_("glibc version"))                             \
	F(python, N_("Python"))                                   \
	F(requires_python, N_("Python that is allowed"))          \
	F(platform, N_("platform")) /* linux_x86_64 */            \
	F(hosted, N_("job on a machine of the CI's provider"))    \
	F(gpus, N_("GPUs asked for")) /* yes, no, runtime */      \
	F(gpu_count, N_("number of GPUs asked for"))              \
	F(capabilities, N_("driver capabilities asked for"))      \
	A(packages, WANTED, N_("packages"))                       \
	A(deeds, DEED, N_("other steps"))                         \
	A(environment, VAR, N_("variables"))                      \
	A(doubts, DOUBT, N_("not decided"))

#define DOUBT_FIELDS(F, L, O, A)                                  \
	F(what, N_("not decided"))

/* A finding that a line of a project file, or .cuvet.toml, leaves out. */
#define PRAGMA_FIELDS(F, L, O, A)                                 \
	F(name, N_("finding left out"))                           \
	F(reason, N_("reason"))                                   \
	F(line, N_("line that it holds for")) /* FILE:LINE; ABSENT: everywhere */ \
	F(file, N_("file that it holds for"))

#define SNAPSHOT_FIELDS(F, L, O, A)                               \
	F(source, N_("source")) /* live, root, image, snapshot, assumed */ \
	F(root, N_("root"))                                       \
	O(parts, PARTS, N_("what was asked"))                     \
	O(host, HOST, N_("host"))                                 \
	O(container, CONTAINER, N_("container"))                  \
	A(gpus, GPU, N_("GPUs"))                                  \
	O(driver, DRIVER, N_("driver"))                           \
	A(nodes, NODE, N_("device nodes"))                        \
	A(environment, VAR, N_("environment"))                    \
	A(services, UNIT, N_("services"))                         \
	A(toolkits, TOOLKIT, N_("toolkits"))                      \
	A(pythons, PYTHON, N_("Python environments"))             \
	A(kernels, KERNEL, N_("notebook kernels"))                \
	A(require, REQUIRE, N_("required"))                       \
	L(assumed, N_("assumed"))                                 \
	O(runtime, RUNTIME, N_("container runtime"))              \
	A(cdi, CDI, N_("CDI specifications"))                     \
	A(os_packages, OSPACKAGE, N_("driver packages"))          \
	A(log, EVENT, N_("kernel log"))                           \
	A(signs, SIGN, N_("signs in the text"))                   \
	A(projects, PLANNED, N_("project files"))                 \
	A(pragmas, PRAGMA, N_("findings left out"))

/* Struct tags by the TYPE word of O and A rows. */
#define STRUCT_PARTS struct parts
#define STRUCT_HOST struct host
#define STRUCT_CONTAINER struct container
#define STRUCT_GPU struct gpu
#define STRUCT_MODULE struct module
#define STRUCT_LIBRARY struct library
#define STRUCT_DRIVER struct driver
#define STRUCT_NODE struct node
#define STRUCT_VAR struct var
#define STRUCT_UNIT struct unit
#define STRUCT_TOOLKIT struct toolkit
#define STRUCT_PACKAGE struct package
#define STRUCT_TORCH struct torch
#define STRUCT_EXTENSION struct extension
#define STRUCT_LOAD struct load
#define STRUCT_TRITON struct triton
#define STRUCT_KERNEL struct kernelspec
#define STRUCT_PYTHON struct python
#define STRUCT_REQUIRE struct require
#define STRUCT_BLOCK struct block
#define STRUCT_DKMS struct dkms
#define STRUCT_EVENT struct event
#define STRUCT_OSPACKAGE struct ospackage
#define STRUCT_CDI struct cdi
#define STRUCT_RUNTIME struct runtime
#define STRUCT_SIGN struct sign
#define STRUCT_WANTED struct wanted
#define STRUCT_DEED struct deed
#define STRUCT_DOUBT struct undecided
#define STRUCT_PLANNED struct planned
#define STRUCT_PRAGMA struct left_out

#define FIELD_F(name, label) struct fact name;
#define FIELD_L(name, label) struct fact_list name;
#define FIELD_O(name, type, label) STRUCT_##type name;
#define FIELD_A(name, type, label) \
	STRUCT_##type *name;       \
	size_t n_##name;

struct parts { PARTS_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct host { HOST_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct container { CONTAINER_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct gpu { GPU_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct module { MODULE_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct library { LIBRARY_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct block { BLOCK_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct dkms { DKMS_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct event { EVENT_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct ospackage { OSPACKAGE_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct cdi { CDI_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct runtime { RUNTIME_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct sign { SIGN_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct driver { DRIVER_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct node { NODE_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct var { VAR_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct unit { UNIT_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct toolkit { TOOLKIT_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct package { PACKAGE_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct extension { EXTENSION_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct load { LOAD_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct triton { TRITON_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct kernelspec { KERNEL_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct torch { TORCH_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct python { PYTHON_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct wanted { WANTED_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct deed { DEED_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct undecided { DOUBT_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct planned { PLANNED_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct left_out { PRAGMA_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct require { REQUIRE_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };
struct snapshot { SNAPSHOT_FIELDS(FIELD_F, FIELD_L, FIELD_O, FIELD_A) };

/*
 * Value of a variable of the audited environment, or NULL (unset, or the environment was not
 * asked).
 */
const char *snapshot_env(const struct snapshot *s, const char *name);
/* The fact itself, for evidence; NULL when unset. */
const struct fact *snapshot_env_fact(const struct snapshot *s, const char *name);
/* The active Python environment, or NULL. */
const struct python *snapshot_active_python(const struct snapshot *s);
/* Package by normalized name, or NULL. */
const struct package *python_package(const struct python *p, const char *name);
/* Loaded module by name ("nvidia"), or NULL. */
const struct module *driver_loaded_module(const struct driver *d, const char *name);

#endif
