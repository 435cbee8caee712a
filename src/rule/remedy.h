/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies that several rules share. Each adds at least one remedy to the finding; a command is
 * given only when what it brings fits the GPUs, the driver, the Python and the C library, as far as
 * these are known.
 */
#ifndef RULE_REMEDY_H
#define RULE_REMEDY_H

#include "rule/rule.h"

/* Text safe to paste into a POSIX shell as one word; quotes only what needs it. */
const char *shell_word(struct arena *a, const char *text);

enum driver_kind { DRIVER_ANY, DRIVER_OPEN, DRIVER_PROPRIETARY };

/*
 * Install or change to a driver branch ("580"; NULL: the one that the distribution recommends), in
 * the words of the distribution; in a container, under WSL and on Windows it says where that has to
 * be done.
 */
void remedy_driver(struct judge *j, struct finding *f, const char *branch, enum driver_kind kind);
/* "Install driver branch 580 and reboot." */
const char *remedy_driver_text(struct judge *j, const char *branch, bool open) ATTR_NONNULL;
/* Does a driver of this branch drive every GPU here, as far as the matrix knows? */
bool remedy_drives_all(struct judge *j, unsigned branch);
/*
 * The same where the distribution has a package of its own for that branch (NULL: any) and flavour,
 * by the table driver_package; for DRIVER_ANY its newest. False, with nothing added, where it has
 * none.
 */
bool driver_package(struct judge *j, struct finding *f, const char *branch, enum driver_kind kind);
/* Which kind all used GPUs agree on: open where one needs it, proprietary where one cannot have it.
 */
enum driver_kind remedy_driver_kind(struct judge *j);
/* Branch for a CUDA version that still drives all GPUs; NULL when there is none. */
const char *remedy_branch(struct judge *j, const char *cuda);
/*
 * A maintained branch that is at least `least` (NULL: any) and still drives all GPUs here; the
 * oldest GPU's last branch when that is lower. NULL when no branch drives them all, or the matrix
 * does not say.
 */
const char *remedy_branch_for_gpus(struct judge *j, const char *least);
/* For packages that are half installed: evidence and the commands; adds nothing when all are whole.
 */
void remedy_finish_packages(struct judge *j, struct finding *f);
/* The command that builds the initramfs anew, as the distribution has it. */
void remedy_initramfs(struct judge *j, struct remedy *r);
/* Writes the boot loader's configuration anew; no command when the distribution is unknown. */
void remedy_boot_loader(struct judge *j, struct remedy *r);
/*
 * Build and install the modules of that version (NULL: the present one) for that kernel: by DKMS
 * where it builds them, else as the distribution does.
 */
void remedy_build_module(struct judge *j, struct remedy *r, const char *version,
			 const char *kernel);
/* Keep a module from loading at the next boot, the initramfs included. */
void remedy_blacklist(struct judge *j, struct remedy *r, const char *module);
/* Reload the modules, or reboot. */
void remedy_reload(struct judge *j, struct finding *f);

/*
 * Put a PyTorch into the environment that fits everything known; keeps the release when a variant
 * of it fits. When none fits with the present driver or Python it says which change of these makes
 * one fit, else that none exists.
 */
void remedy_torch(struct judge *j, struct finding *f, const struct python *p);
/* "/home/ana/v/bin/python -m pip": the pip of the environment, quoted for a shell. */
const char *remedy_pip(struct judge *j, const struct python *p);
/*
 * The driver to count on where none is known: the first that drives the newest GPU here, and one of
 * a maintained branch at least.
 */
const char *remedy_usual_driver(struct judge *j);
/* "torch==2.6.0 --index-url URL", with torchvision where wished: what pip and uv are told. */
const char *remedy_torch_words(struct judge *j, const struct torch_row *row, bool vision);
/* `docker run --gpus all` and its kin, for a container that was started without GPUs. */
void remedy_start_container(struct judge *j, struct finding *f);

#endif
