/* SPDX-License-Identifier: Apache-2.0 */
/* Windows files and the GPU code in them. */
#include "base/arena.h"
#include "inspect/parts.h"
#include "sys/pe.h"

bool inspect_pe(struct inspect *in, int fd, uint64_t base, uint64_t size, struct inspect_file *f)
{
	struct inspect_code code = { .section = ".nv_fatbin", .linked = true };
	struct fatbin_place place = { .fd = fd, .base = base };
	struct elf_section segment;
	struct pe p;

	if (pe_read(in->a, fd, base, size, &p) < 0)
		return false;
	f->kind = p.dll ? INSPECT_DLL : INSPECT_EXE;
	f->machine = pe_machine_name(&p);
	f->soname = p.name;
	f->needed = p.imports;
	f->n_needed = p.n_imports;
	f->delayed = p.delayed;
	f->n_delayed = p.n_delayed;
	f->has_exports = true;
	f->exports = p.n_exports;
	f->why = p.damage;
	f->python = p.python ? inspect_python_tag(in->a, f->path) : NULL;
	if (p.python && !f->python)
		f->python = "python";
	/* Names of sections have eight bytes here. */
	if (pe_section(&p, ".nvFatBi", &segment))
		place.segment = &segment;
	if (pe_section(&p, ".nv_fatb", &place.section))
		inspect_add_code(in, f, &place, &code);
	return true;
}
