/* SPDX-License-Identifier: Apache-2.0 */
/* One function a file format; env/forms.c has the table. */
#ifndef ENV_FORMAT_H
#define ENV_FORMAT_H

#include "env/lang.h"

/* What an image or a service has in PATH when nobody sets it. */
#define ENV_DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

typedef void env_format_fn(struct strbuf *out, const struct env_set *s);

env_format_fn env_put_dockerfile, env_put_compose, env_put_systemd, env_put_environment_d,
	env_put_modulefile, env_put_lmod, env_put_vscode, env_put_jupyter,
	env_put_github, env_put_gitlab, env_put_ldconf, env_put_cmake;

/* Value of a list in a form that cannot extend what is there: PATH gets the usual one behind it. */
const char *env_whole(struct arena *a, const struct env_set *s, const struct env_item *it);

#endif
