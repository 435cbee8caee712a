/* SPDX-License-Identifier: Apache-2.0 */
/* Help, and the machine form of the command line from which completion and manual are generated. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/strbuf.h"
#include "cli/cmd.h"

/* cmd NULL: the program's own help. 80 columns. */
void help_put(struct strbuf *out, const struct cmd *cmd);
/* `cuvet --dump-cli`: {"commands":[{"name":...,"options":[...]}],"shared":[...]}. */
void help_dump(struct strbuf *out);

#endif
