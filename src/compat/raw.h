/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking into the text of one JSON object without a parse, so that finding a row costs no
 * allocation.
 */
#ifndef COMPAT_RAW_H
#define COMPAT_RAW_H

#include <stdbool.h>

#include "base/view.h"

/*
 * The text of the value of a top-level member of `object` (which begins with "{"): a string with
 * its quotes, a whole list or object. Only the first member of that name counts. False when there
 * is none or the text is not JSON as far as it was looked at. It checks no more than it needs: text
 * that was not made by us goes through json_parse.
 */
bool raw_member(struct view object, const char *key, struct view *ret_value);
/*
 * As raw_member for a string without escapes; the view lies between the quotes. False for anything
 * else.
 */
bool raw_string(struct view object, const char *key, struct view *ret);

#endif
