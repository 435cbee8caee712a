/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manual pages (scdoc source) and shell completions from the rows of commands, options and
 * findings.
 */
#ifndef CLI_DOCS_H
#define CLI_DOCS_H

#include <stdbool.h>

#include "base/strbuf.h"

/*
 * `what`: "bash", "zsh", "fish", "cuvet.1", "cuvet-COMMAND.1", "cuvet-findings.7", or "list" for
 * the names of the pages, one a line. false when there is no such document.
 */
bool docs_put(struct strbuf *out, const char *what);

#endif
