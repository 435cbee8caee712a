/* SPDX-License-Identifier: Apache-2.0 */
/* The commands' readers to each other. Private to project/. */
#ifndef PROJECT_COMMAND_H
#define PROJECT_COMMAND_H

#include "project/project.h"

bool word_is(const struct word *w, const char *s);
struct place word_place(const struct shell *sh, const struct word *w);

/* Arguments behind "install". */
void command_pip(struct shell *sh, const struct word *program, const struct command *args,
		 enum tool tool);
/* Arguments behind "uninstall": a step that takes its packages away. */
void command_uninstall(struct shell *sh, const struct word *program, const struct command *args);
void command_pip_config(struct shell *sh, const struct command *args);
/* `uv pip sync FILE...`: the operands are files. */
void command_files(struct shell *sh, struct command *args);
/* `uv sync`, `poetry install`: the project and lock beside it. */
void command_project(struct shell *sh, const struct word *verb, const struct command *args,
		     enum tool tool);
void command_uv_python(struct shell *sh, const struct command *args);
void command_conda(struct shell *sh, const struct word *verb, const struct command *args,
		   bool env);
/* python setup.py VERB. */
void command_setup(struct shell *sh, const struct command *c, size_t verb);
/* Reads what the folders among a step's wants ask for ("pip install -e ."). */
void local_read(struct shell *sh, size_t step);
/* A file of the image as a file of the checkout that was copied there; NULL: none was. */
const char *local_file(struct shell *sh, const char *path);
/* A package of the distribution. */
void command_package(struct shell *sh, const struct word *w);
void command_compile(struct shell *sh, const struct command *c);
void command_gpu(struct shell *sh, const struct command *c);
void command_other(struct shell *sh, const struct command *c);
/* A file of the image as a file of the checkout; never NULL. */
const char *command_file(struct shell *sh, const char *path);

#endif
