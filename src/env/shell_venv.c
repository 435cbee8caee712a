/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a virtual environment's bin/activate: sets, and makes `deactivate` take it back. The
 * function that activate defined is kept and called; a shell that cannot copy functions gets one
 * that does the same.
 */
#include "env/lang.h"

/* clang-format off */
static const char before[] =
	"if [ -n \"${VIRTUAL_ENV:-}\" ]; then\n"
	"if command -v typeset >/dev/null 2>&1 && [ -z \"${KSH_VERSION:-}\" ]; then\n"
	"eval \"_cuvet_venv_$(typeset -f deactivate)\"\n"
	"else\n"
	"_cuvet_venv_deactivate() {\n"
	"if [ -n \"${_OLD_VIRTUAL_PATH:-}\" ]; then PATH=\"${_OLD_VIRTUAL_PATH}\"; export PATH; "
	"fi\n"
	"if [ -n \"${_OLD_VIRTUAL_PYTHONHOME:-}\" ]; then "
	"PYTHONHOME=\"${_OLD_VIRTUAL_PYTHONHOME}\"; export PYTHONHOME; fi\n"
	"if [ -n \"${_OLD_VIRTUAL_PS1:-}\" ]; then PS1=\"${_OLD_VIRTUAL_PS1}\"; export PS1; fi\n"
	"unset _OLD_VIRTUAL_PATH _OLD_VIRTUAL_PYTHONHOME _OLD_VIRTUAL_PS1 VIRTUAL_ENV "
	"VIRTUAL_ENV_PROMPT\n"
	"hash -r 2>/dev/null || :\n"
	"unset -f deactivate\n"
	"}\n"
	"fi\n"
	"deactivate() {\n";
static const char after[] =
	"_cuvet_venv_deactivate \"$@\"\n"
	"if [ \"${1:-}\" != nondestructive ]; then\n"
	"unset -f _cuvet_venv_deactivate\n"
	"unset -f deactivate 2>/dev/null || :\n"
	"fi\n"
	"}\n"
	"fi\n";
/* clang-format on */

void env_put_venv(struct strbuf *out, const struct env_set *s)
{
	const struct env_set undo = { .unset = true };

	env_put_sh(out, s);
	if (s->unset)
		return;
	strbuf_add(out, before);
	env_put_sh(out, &undo);
	strbuf_add(out, after);
}
