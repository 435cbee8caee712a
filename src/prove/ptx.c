/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX modules of kernels/, embedded by the assembler; kernels/modules.list says how they are
 * made. */
#include "prove/lab.h"

#define IMAGE(name)                                                                         \
	extern const char ptx_##name[] __attribute__((visibility("hidden")));               \
	extern const char ptx_##name##_end[] __attribute__((visibility("hidden")));         \
	__asm__(".pushsection .rodata\n"                                                    \
		".globl ptx_" #name ", ptx_" #name "_end\n"                                 \
		".hidden ptx_" #name ", ptx_" #name "_end\n"                                \
		".balign 16\nptx_" #name ":\n.incbin \"kernels/" #name ".ptx\"\nptx_" #name \
		"_end:\n"                                                                   \
		".byte 0\n.popsection\n")

IMAGE(base_sm50);
IMAGE(memory_sm50);
IMAGE(warp_sm50);
IMAGE(warp_sm70);
IMAGE(tensor_sm70);
IMAGE(tensor_sm72);
IMAGE(tensor_sm80);
IMAGE(tensor_sm89);
IMAGE(tensor_sm90a);

static const struct {
	const char *name, *start, *end;
} images[IMAGES] = {
#define ROW(id, file) [id] = { .name = #file, .start = ptx_##file, .end = ptx_##file##_end }
	ROW(IMAGE_BASE, base_sm50),	    ROW(IMAGE_MEMORY, memory_sm50),
	ROW(IMAGE_WARP50, warp_sm50),	    ROW(IMAGE_WARP70, warp_sm70),
	ROW(IMAGE_TENSOR70, tensor_sm70),   ROW(IMAGE_TENSOR72, tensor_sm72),
	ROW(IMAGE_TENSOR80, tensor_sm80),   ROW(IMAGE_TENSOR89, tensor_sm89),
	ROW(IMAGE_TENSOR90A, tensor_sm90a),
};

const char *lab_image_text(enum lab_image i, size_t *ret_n)
{
	*ret_n = (size_t)(images[i].end - images[i].start);
	return images[i].start;
}

const char *lab_image_name(enum lab_image i)
{
	return images[i].name;
}
