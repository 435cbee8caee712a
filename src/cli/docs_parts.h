/* SPDX-License-Identifier: Apache-2.0 */
/* The documents of cli/docs.c. Private to cli/. */
#ifndef CLI_DOCS_PARTS_H
#define CLI_DOCS_PARTS_H

#include "base/strbuf.h"
#include "cli/cmd.h"

void docs_put_program(struct strbuf *out);
void docs_put_command(struct strbuf *out, const struct cmd *c);
void docs_put_findings(struct strbuf *out);
void docs_put_compat(struct strbuf *out);
/* Text with what scdoc takes as markup escaped; the head of a page "name.7". */
void docs_put_escaped(struct strbuf *out, const char *s);
void docs_put_title(struct strbuf *out, const char *page, const char *summary);
void docs_put_bash(struct strbuf *out);
void docs_put_zsh(struct strbuf *out);
void docs_put_fish(struct strbuf *out);

#endif
