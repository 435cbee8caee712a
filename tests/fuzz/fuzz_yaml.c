/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as YAML: read within bounds, or refused with a place. */
#include "fuzz/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_doc(yaml_parse, data, size);
}
