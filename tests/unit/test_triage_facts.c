/* SPDX-License-Identifier: Apache-2.0 */
/* Text to facts: what each extractor takes, with its line, and what it must not take. */
#include "pasted.h"

static void collect_env(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"Collecting environment information...\n"
		"PyTorch version: 2.6.0+cu124\nIs debug build: False\n"
		"CUDA used to build PyTorch: 12.4\nROCM used to build PyTorch: N/A\n\n"
		"OS: Ubuntu 22.04.5 LTS (x86_64)\nGCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\n"
		"Libc version: glibc-2.35\n\nPython version: 3.10.12 (main, Aug 15 2025) (64-bit runtime)\n"
		"Is CUDA available: False\nCUDA runtime version: 12.8.93\n"
		"GPU models and configuration: GPU 0: NVIDIA GeForce RTX 3090\n"
		"Nvidia driver version: 535.183.01\n[pip3] torchvision==0.21.0+cu124\n");
	is(&w.s.pythons[0].torch.version, "2.6.0+cu124", "pasted line 2");
	is(&w.s.pythons[0].torch.cuda, "12.4", NULL);
	is(&w.s.pythons[0].torch.torchvision, "0.21.0+cu124", "pasted line 16");
	is(&w.s.pythons[0].version, "3.10.12", NULL);
	is(&w.s.host.glibc, "2.35", "pasted line 9");
	is(&w.s.host.gcc, "11.4.0", NULL);
	is(&w.s.toolkits[0].version, "12.8.93", NULL);
	is(&w.s.driver.version, "535.183.01", "pasted line 15");
	is(&w.s.gpus[0].name, "NVIDIA GeForce RTX 3090", NULL);
	assert_true(has(&w, "cuda-available-false"));
	arena_free(w.a);
}

static void nvidia_smi_of_all_ages(void **state)
{
	static const struct {
		const char *line, *driver, *cuda;
	} rows[] = {
		{ "| NVIDIA-SMI 390.12                 Driver Version: 390.12                    |",
		  "390.12", NULL },
		{ "| NVIDIA-SMI 510.47.03    Driver Version: 510.47.03    CUDA Version: 11.6     |",
		  "510.47.03", "11.6" },
		{ "| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD Version: 13.3     |",
		  "610.57.04", "13.3" },
	};
	struct paste_world w;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		read_text(&w, rows[i].line);
		is(&w.s.driver.version, rows[i].driver, "pasted line 1");
		if (rows[i].cuda)
			is(&w.s.driver.cuda_ceiling, rows[i].cuda, NULL);
		else
			assert_false(fact_known(&w.s.driver.cuda_ceiling));
		arena_free(w.a);
	}
	read_text(
		&w,
		"|   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0  On |                  N/A |\n"
		"|   1  Tesla T4                       Off | 00000000:02:00.0 Off |                    0 |\n");
	assert_int_equal(w.s.n_gpus, 2);
	is(&w.s.gpus[1].name, "Tesla T4", "pasted line 2");
	arena_free(w.a);
}

static void lists_of_packages(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ conda list\npytorch   2.5.1   py3.12_cuda12.4_cudnn9.1.0_0   pytorch\n"
		      "numpy     1.26.4  py312hc5e2394_0   defaults\n$ pip list\nPackage  Version\n"
		      "nvidia-cublas-cu12   12.4.5.8\n");
	is(&w.s.pythons[0].torch.version, "2.5.1", "pasted line 2");
	assert_true(has(&w, "conda-torch-cuda"));
	assert_non_null(python_package(&w.s.pythons[0], "nvidia-cublas-cu12"));
	arena_free(w.a);
}

static void variables_and_nodes(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "export CUDA_VISIBLE_DEVICES=2\n$ ls -l /dev/nvidia*\n"
		      "crw-rw---- 1 root video 195, 0 /dev/nvidia0\n"
		      "crw-rw-rw- 1 root root 195, 255 /dev/nvidiactl\n");
	assert_string_equal(snapshot_env(&w.s, "CUDA_VISIBLE_DEVICES"), "2");
	assert_int_equal(w.s.n_nodes, 2);
	is(&w.s.nodes[0].mode, "crw-rw----", "pasted line 3");
	assert_true(has(&w, "node-closed"));
	assert_false(has(&w, "node-uvm"));
	arena_free(w.a);
}

static void P8_what_disagrees_is_noted(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "PyTorch version: 2.1.0+cu121\n[pip3] torch==2.4.0\n");
	is(&w.s.pythons[0].torch.version, "2.1.0+cu121", NULL);
	assert_true(has(&w, "differs:torch.version"));
	arena_free(w.a);
}

static void P9_half_a_traceback_is_read(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "  File \"/x/torch/cuda/__init__.py\", line 293, in _lazy_init\n"
		      "    raise AssertionError(\"Torch not compiled with CUDA ena");
	assert_false(has(&w, "not-compiled"));
	arena_free(w.a);
	read_text(
		&w,
		"line 293, in _lazy_init\nAssertionError: Torch not compiled\n    with CUDA enabled");
	assert_true(has(&w, "not-compiled"));
	arena_free(w.a);
}

static void silence_is_a_sign(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ lsmod | grep nvidia\n$ uname -r\n6.5.0-14-generic\n");
	assert_true(has(&w, "lsmod-empty"));
	is(&w.s.host.kernel, "6.5.0-14-generic", "pasted line 3");
	arena_free(w.a);
	read_text(&w, "$ lsmod | grep nvidia\nnvidia 56717312 0\n");
	assert_false(has(&w, "lsmod-empty"));
	arena_free(w.a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(collect_env),
		cmocka_unit_test(nvidia_smi_of_all_ages),
		cmocka_unit_test(lists_of_packages),
		cmocka_unit_test(variables_and_nodes),
		cmocka_unit_test(P8_what_disagrees_is_noted),
		cmocka_unit_test(P9_half_a_traceback_is_read),
		cmocka_unit_test(silence_is_a_sign),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
