/* SPDX-License-Identifier: Apache-2.0 */
/* Part of project/edit: what a correction changes elsewhere, since it is named there. Pure. */
#ifndef PROJECT_EDIT_NAME_H
#define PROJECT_EDIT_NAME_H

#include "project/edit.h"

/*
 * After the address of an index was changed on the line at offset `at`: the name of its table,
 * where it has the old address's last part in it, and every reference to that name. False when the
 * new name is taken, or something else has the old one.
 */
bool edit_rename_index(struct arena *a, struct view *text, size_t at, const struct edit *e);

#endif
