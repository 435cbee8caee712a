/* SPDX-License-Identifier: Apache-2.0 */
/* By which fields each table is looked up; a list beside data/compat/README.md and no more. */
#include <string.h>

#include "compat/compat.h"

#define KEY(f) { .field = (f), .in_key = true }
#define ALSO(f) { .field = (f) }
#define END { .field = NULL }

static const struct {
	const char *table;
	struct table_key keys[6];
} tables[] = {
	{ .table = "addon", .keys = { KEY("package"), KEY("version"), END } },
	{ .table = "chip", .keys = { KEY("chip"), ALSO("arch"), ALSO("cc"), END } },
	{ .table = "cuda", .keys = { KEY("cuda"), ALSO("kind"), END } },
	{ .table = "cuda_error",
	  .keys = { KEY("code"), ALSO("driver_name"), ALSO("runtime_name"), END } },
	{ .table = "cuda_os", .keys = { KEY("cuda"), END } },
	{ .table = "cudnn", .keys = { KEY("version"), ALSO("soname"), END } },
	{ .table = "driver", .keys = { KEY("branch"), ALSO("kind"), END } },
	{ .table = "driver_package",
	  .keys = { KEY("os"), KEY("branch"), KEY("kind"), END } },
	{ .table = "forward_compat",
	  .keys = { KEY("package"), ALSO("name"), ALSO("branch"), END } },
	{ .table = "gpu", .keys = { KEY("id"), ALSO("name"), ALSO("chip"), ALSO("cc"), END } },
	{ .table = "host_compiler", .keys = { KEY("cuda"), END } },
	{ .table = "image_tag", .keys = { KEY("version"), END } },
	{ .table = "jax", .keys = { KEY("version"), END } },
	{ .table = "kernel_log", .keys = { KEY("id"), ALSO("points_to"), END } },
	{ .table = "known_bad", .keys = { KEY("id"), END } },
	{ .table = "mirror", .keys = { KEY("id"), END } },
	{ .table = "name", .keys = { KEY("name"), ALSO("kind"), ALSO("cc"), ALSO("class"), END } },
	{ .table = "nvidia_wheel", .keys = { KEY("name"), ALSO("library"), ALSO("major"), END } },
	{ .table = "nvml_error", .keys = { KEY("code"), ALSO("name"), END } },
	{ .table = "onnxruntime", .keys = { KEY("version"), KEY("channel"), END } },
	{ .table = "pair", .keys = { KEY("torch"), ALSO("torchvision"), END } },
	{ .table = "perf", .keys = { KEY("name"), ALSO("chip"), END } },
	{ .table = "redist", .keys = { KEY("product"), KEY("label"), END } },
	{ .table = "signatures", .keys = { KEY("id"), END } },
	{ .table = "tensorflow", .keys = { KEY("version"), END } },
	{ .table = "torch",
	  .keys = { KEY("version"), KEY("platform"), KEY("variant"), ALSO("cuda"), END } },
	{ .table = "torch_conda",
	  .keys = { KEY("channel"), KEY("version"), KEY("platform"), ALSO("selector"), END } },
	{ .table = "torch_message", .keys = { KEY("id"), ALSO("group"), ALSO("kind"), END } },
	{ .table = "triton", .keys = { KEY("kind"), KEY("version"), END } },
	{ .table = "vram", .keys = { KEY("case"), END } },
	{ .table = "xid", .keys = { KEY("xid"), ALSO("name"), ALSO("driver_name"), END } },
};

const struct table_key *compat_table_keys(const char *table)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(tables); i++)
		if (strcmp(tables[i].table, table) == 0)
			return tables[i].keys;
	return NULL;
}
