/* SPDX-License-Identifier: Apache-2.0 */
/* The program: calls the command line and nothing else. */
#include "cli/cmd.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
