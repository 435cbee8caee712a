/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of inspect/ share; for no other layer. */
#ifndef INSPECT_PARTS_H
#define INSPECT_PARTS_H

#include "inspect/inspect.h"

/* Fill *f from `size` bytes at `base`; false when they are no such file. */
bool inspect_elf(struct inspect *in, int fd, uint64_t base, uint64_t size, struct inspect_file *f);
bool inspect_pe(struct inspect *in, int fd, uint64_t base, uint64_t size, struct inspect_file *f);
/*
 * Walks a section and adds it to f->code when it holds GPU code. `proto` says which section it is;
 * place->junk_max is set here.
 */
void inspect_add_code(struct inspect *in, struct inspect_file *f, struct fatbin_place *place,
		      struct inspect_code *proto);
/* The tag of an extension module by its name, or NULL. */
const char *inspect_python_tag(struct arena *a, const char *path);

#endif
