/* SPDX-License-Identifier: Apache-2.0 */
/* Which commands may stand live in a script of remedies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "report/fix_script.h"

static const struct {
	const char *command;
	enum fix_kind kind;
} rows[] = {
	{ "python3 -m pip install --force-reinstall torch==2.14.1", FIX_PLAIN },
	{ "'/home/a b/.venv/bin/python' -m pip install 'numpy<2'", FIX_PLAIN },
	{ "'/home/it'\\''s/bin/python3.11' -m pip install torch==2.6.0", FIX_PLAIN },
	{ "sudo apt-get install linux-headers-$(uname -r) nvidia-driver-580", FIX_PLAIN },
	{ "sudo apt-get update && sudo apt-get install nvidia-driver-580-open", FIX_PLAIN },
	{ "echo 'options nvidia_uvm uvm_disable_hmm=1' | sudo tee /etc/modprobe.d/x.conf", FIX_PLAIN },
	{ "CONDA_OVERRIDE_CUDA=12.4 conda install -p /opt/c -c conda-forge pytorch", FIX_PLAIN },
	{ "TORCH_CUDA_ARCH_LIST=\"8.9;12.0\" pip install x", FIX_PLAIN },
	{ "python3 -m pip uninstall -y onnxruntime", FIX_PLAIN },
	{ "sudo nvidia-smi -i 0 -c 0", FIX_PLAIN },
	{ "lspci -nn -d 10de:", FIX_LOOKS },
	{ "nvidia-smi", FIX_LOOKS },
	{ "nvidia-smi -L", FIX_LOOKS },
	{ "sudo dmesg | grep -iE 'xid|fallen off the bus'", FIX_LOOKS },
	{ "sudo apt-get purge 'nvidia-driver-*'", FIX_TAKES_AWAY },
	{ "sudo rm /etc/modprobe.d/x.conf", FIX_TAKES_AWAY },
	{ "sudo apt-get remove nvidia-cuda-toolkit", FIX_TAKES_AWAY },
	{ "conda remove -y -p /opt/c pytorch", FIX_TAKES_AWAY },
	{ "sudo reboot", FIX_TAKES_AWAY },
	{ "sudo systemctl reboot", FIX_TAKES_AWAY },
	{ "docker rm -f CONTAINER && docker run --gpus all IMAGE", FIX_TAKES_AWAY },
	{ "pip install a ; rm b", FIX_TAKES_AWAY },
	{ "unset LD_LIBRARY_PATH", FIX_OWN_SHELL },
	{ "conda activate x", FIX_OWN_SHELL },
	{ ". .venv/bin/activate", FIX_OWN_SHELL },
	{ "export PATH=/x:/y", FIX_OWN_SHELL },
	/* not plain: expansions, patterns, redirections, two lines, jobs, no command at all */
	{ "eval \"$(cuvet env)\"", FIX_OTHER },
	{ "pip install $(touch x)", FIX_OTHER },
	{ "pip install `touch x`", FIX_OTHER },
	{ "pip install \"$(touch x)\"", FIX_OTHER },
	{ "pip install \"`touch x`\"", FIX_OTHER },
	{ "pip install $HOME/x", FIX_OTHER },
	{ "'/home/$(touch x)/bin/python' -m pip install a", FIX_OTHER },
	{ "pip install \"a", FIX_OTHER },
	{ "pip install 'a", FIX_OTHER },
	{ "pip install a\ntouch x", FIX_OTHER },
	{ "pip install 'a\ntouch x'", FIX_OTHER },
	{ "pip install a\rtouch x", FIX_OTHER },
	{ "pip install a\033[2K", FIX_OTHER },
	{ "pip install a\xE2\x80\xAE" "b", FIX_OTHER },
	{ "pip install a > b", FIX_OTHER },
	{ "pip install numpy<2", FIX_OTHER },
	{ "pip install a & touch x", FIX_OTHER },
	{ "pip install a || touch x", FIX_OTHER },
	{ "pip install a; touch x", FIX_OTHER },
	{ "pip install a | sh", FIX_OTHER },
	{ "pip install a ;", FIX_OTHER },
	{ "; pip install a", FIX_OTHER },
	{ "(pip install a)", FIX_OTHER },
	{ "pip install {a,b}", FIX_OTHER },
	{ "pip install a*", FIX_OTHER },
	{ "pip install !x", FIX_OTHER },
	{ "pip install # x", FIX_OTHER },
	{ "# pip install x", FIX_OTHER },
	{ "torch==2.6.0", FIX_OTHER },
	{ "FROM python:3.12-slim", FIX_OTHER },
	{ "gpus: all", FIX_OTHER },
	{ "python3 -c 'import os'", FIX_OTHER },
	{ "python3 evil.py", FIX_OTHER },
	{ "/tmp/pip install x", FIX_OTHER },
	{ "sudo", FIX_OTHER },
	{ "sudo sh -c 'x'", FIX_OTHER },
	{ "env pip install x", FIX_OTHER },
	{ "", FIX_OTHER },
	{ "   ", FIX_OTHER },
	{ "A=b", FIX_OTHER },
};

static void commands_are_of_their_kind(void **state)
{
	struct arena *a = arena_new(NULL);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (fix_kind_of(a, rows[i].command) != rows[i].kind)
			fail_msg("%s: %d, wanted %d", rows[i].command,
				 (int)fix_kind_of(a, rows[i].command), (int)rows[i].kind);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_of_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
