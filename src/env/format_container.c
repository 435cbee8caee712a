/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of containers and of continuous integration. */
#include <string.h>

#include "base/arena.h"
#include "env/format.h"

const char *env_whole(struct arena *a, const struct env_set *s, const struct env_item *it)
{
	const char *v = env_joined(a, s, it);

	return strcmp(it->name, "PATH") == 0 ? env_list_add(a, v, ENV_DEFAULT_PATH, ENV_LIST)
	       : it->kind == ENV_MANLIST     ? arena_printf(a, "%s:", v)
					     : v;
}

/* -------- Dockerfile */

/* Between double quotes only these three mean something there. */
static void docker_text(struct strbuf *out, const char *s)
{
	for (; *s; s++) {
		if (strchr("\"\\$", *s))
			strbuf_addc(out, '\\');
		strbuf_addc(out, *s);
	}
}

static void docker_item(struct strbuf *out, const struct env_set *s, const struct env_item *it)
{
	strbuf_printf(out, "ENV %s=\"", it->name);
	docker_text(out, env_joined(out->a, s, it));
	if (it->kind == ENV_MANLIST)
		strbuf_printf(out, ":${%s}", it->name);
	else if (it->kind == ENV_LIST)
		strbuf_printf(out, "${%s:+:${%s}}", it->name, it->name);
	strbuf_add(out, "\"\n");
}

void env_put_dockerfile(struct strbuf *out, const struct env_set *s)
{
	struct strbuf check;
	size_t i;

	env_comments(out, s, "# ", "");
	env_comment(
		out, "# ",
		s->dev ? _("for a devel image: headers and link-time paths too; a runtime image "
			   "needs neither these nor nvcc")
		       : _("for a runtime image; a devel image, in which something is compiled, "
			   "wants --dev"),
		"");
	for (i = 0; i < s->n_items; i++)
		docker_item(out, s, &s->items[i]);
	strbuf_add(out,
		   "ENV NVIDIA_VISIBLE_DEVICES=\"${NVIDIA_VISIBLE_DEVICES:-all}\"\n"
		   "ENV NVIDIA_DRIVER_CAPABILITIES="
		   "\"${NVIDIA_DRIVER_CAPABILITIES:-compute,utility}\"\n");
	strbuf_init(&check, out->a);
	for (i = 0; i < s->n_assume; i++) {
		strbuf_add(&check, " --assume ");
		env_quote_sh(&check, s->assume[i]);
	}
	if (s->n_assume) {
		strbuf_printf(out, "RUN cuvet check%s\n", check.s);
		return;
	}
	env_comment(
		out, "# ",
		_("there is no GPU while an image is built: name where it will run, and let the "
		  "build fail when it cannot"),
		"");
	strbuf_add(out, "# RUN cuvet check --assume gpu=A100 --assume driver=580.65.06\n");
}

/* -------- Compose */

/* Compose takes "$$" for a dollar sign, and fills "$" from its own environment, not the image's. */
static void yaml_dollar(struct strbuf *out, const char *s)
{
	struct strbuf b;

	strbuf_init(&b, out->a);
	for (; *s; s++) {
		if (*s == '$')
			strbuf_addc(&b, '$');
		strbuf_addc(&b, *s);
	}
	env_quote_json(out, b.s);
}

void env_put_compose(struct strbuf *out, const struct env_set *s)
{
	size_t i;

	env_comments(out, s, "# ", "");
	env_comment(
		out, "# ",
		_("below services: NAME:. Compose cannot extend the image's values, so lists are "
		  "whole here"),
		"");
	strbuf_add(out, "environment:\n");
	for (i = 0; i < s->n_items; i++) {
		strbuf_printf(out, "  %s: ", s->items[i].name);
		yaml_dollar(out, env_whole(out->a, s, &s->items[i]));
		strbuf_addc(out, '\n');
	}
	strbuf_add(out, "  NVIDIA_VISIBLE_DEVICES: \"all\"\n"
			"  NVIDIA_DRIVER_CAPABILITIES: \"compute,utility\"\n"
			"deploy:\n  resources:\n    reservations:\n      devices:\n"
			"        - driver: nvidia\n          count: all\n"
			"          capabilities: [gpu]\n");
}

/* -------- GitHub Actions: a run step, in sh */

static void github_list(struct strbuf *out, const char *name, const char *value, bool man)
{
	strbuf_printf(out, "v=");
	env_quote_sh(out, value);
	if (man)
		strbuf_printf(out, ":\"${%s-}\"\n", name);
	else
		strbuf_printf(out, "\"${%s:+:${%s}}\"\n", name, name);
	strbuf_printf(out, "printf '%s=%%s\\n' \"$v\" >>\"$GITHUB_ENV\"\n", name);
}

void env_put_github(struct strbuf *out, const struct env_set *s)
{
	size_t i, k;

	env_comments(out, s, "# ", "");
	for (i = 0; i < s->n_items; i++) {
		const struct env_item *it = &s->items[i];

		if (strcmp(it->name, "PATH") == 0) {
			for (k = it->n; k-- > 0;) {
				strbuf_add(out, "printf '%s\\n' ");
				env_quote_sh(out, it->values[k]);
				strbuf_add(out, " >>\"$GITHUB_PATH\"\n");
			}
		} else if (it->kind != ENV_SCALAR) {
			github_list(out, it->name, env_joined(out->a, s, it),
				    it->kind == ENV_MANLIST);
		} else {
			strbuf_printf(out, "printf '%s=%%s\\n' ", it->name);
			env_quote_sh(out, it->values[0]);
			strbuf_add(out, " >>\"$GITHUB_ENV\"\n");
		}
	}
}

/* -------- GitLab: variables cannot name themselves, so that lists are exported by the script */

void env_put_gitlab(struct strbuf *out, const struct env_set *s)
{
	struct strbuf line;
	size_t i;

	env_comments(out, s, "# ", "");
	strbuf_add(out, "variables:\n");
	for (i = 0; i < s->n_items; i++) {
		if (s->items[i].kind != ENV_SCALAR)
			continue;
		strbuf_printf(out, "  %s: ", s->items[i].name);
		yaml_dollar(out, s->items[i].values[0]);
		strbuf_addc(out, '\n');
	}
	strbuf_add(out, "before_script:\n");
	for (i = 0; i < s->n_items; i++) {
		const struct env_item *it = &s->items[i];

		if (it->kind == ENV_SCALAR)
			continue;
		strbuf_init(&line, out->a);
		strbuf_printf(&line, "export %s=", it->name);
		env_quote_sh(&line, env_joined(out->a, s, it));
		if (it->kind == ENV_MANLIST)
			strbuf_printf(&line, ":\"${%s-}\"", it->name);
		else
			strbuf_printf(&line, "\"${%s:+:${%s}}\"", it->name, it->name);
		strbuf_add(out, "  - ");
		env_quote_json(out, line.s);
		strbuf_addc(out, '\n');
	}
}
