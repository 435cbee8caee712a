/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the script of remedies into a new file, or on standard output; never makes it executable. */
#include "cli/fix.h"

#include <string.h>

#include "base/file.h"

#define AT(field) .offset = offsetof(struct options, field)
/* clang-format off */
const struct opt opt_fix_script = { .name = "fix-script", .kind = OPT_STRING, .arg = "FILE|-",
	AT(fix_script),
	.help = N_("write the remedies as a shell script to read and run; - in the place of the report") };
const struct opt opt_force = { .name = "force", .kind = OPT_FLAG, AT(force),
	.help = N_("let --fix-script replace a file that is there") };
/* clang-format on */

bool fix_instead(const struct run *r)
{
	return r->o->fix_script && strcmp(r->o->fix_script, "-") == 0;
}

int fix_check(const struct run *r)
{
	const struct options *o = r->o;
	struct err err = { 0 };

	if (o->force && !o->fix_script) {
		err_set(&err, ERR_USAGE, _("--force goes with --fix-script"));
		return cli_fail(&err);
	}
	if (fix_instead(r) && o->format && strcmp(o->format, "text") != 0) {
		err_set(&err, ERR_USAGE, _("--fix-script - and --format %s exclude each other"),
			o->format);
		return cli_fail(&err);
	}
	if (o->fix_script && !fix_instead(r) && file_may_be_new(o->fix_script, o->force, &err))
		return cli_fail(&err);
	return 0;
}

int fix_write(const struct run *r, const struct strbuf *script)
{
	struct err err = { 0 };

	if (fix_instead(r))
		return cli_write(r, script->s, script->n);
	if (file_write_new(r->o->fix_script, (struct view){ .p = script->s, .n = script->n },
			   r->o->force, &err))
		return cli_fail(&err);
	return 0;
}
