/* SPDX-License-Identifier: Apache-2.0 */
/* Names of people and machines that a text gives away somewhere, to be masked everywhere in it. */
#ifndef SOURCE_REDACT_NAMES_H
#define SOURCE_REDACT_NAMES_H

#include <stdbool.h>

#include "base/view.h"

struct arena;
struct redact_names;

/* Prompts, homes, owners of files, uname, id, mail: what names somebody. Never NULL. */
struct redact_names *redact_names_of(struct arena *a, struct view text);
/* It is a package's name, or another word that facts need: no name any more. */
void redact_names_drop(struct redact_names *n, const char *word);
/* Is it one of them?  *ret_host: a machine's. */
bool redact_names_have(const struct redact_names *n, struct view word, bool *ret_host);

#endif
