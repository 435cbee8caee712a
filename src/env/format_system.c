/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of systemd, environment modules, the loader, CMake and editors. */
#include <string.h>

#include "base/arena.h"
#include "env/format.h"

/* -------- systemd */

/* Environment= of a unit: C-like escapes between double quotes, and '%' begins a specifier. */
void env_put_systemd(struct strbuf *out, const struct env_set *s)
{
	const char *v;
	size_t i;

	env_comments(out, s, "# ", "");
	strbuf_add(out, "[Service]\n");
	for (i = 0; i < s->n_items; i++) {
		strbuf_printf(out, "Environment=\"%s=", s->items[i].name);
		for (v = env_whole(out->a, s, &s->items[i]); *v; v++) {
			if (*v == '"' || *v == '\\')
				strbuf_addc(out, '\\');
			if (*v == '%')
				strbuf_addc(out, '%');
			strbuf_addc(out, *v);
		}
		strbuf_add(out, "\"\n");
	}
}

/* environment.d: first quotes and backslashes are taken away, then variables are filled in, where
 * "$$" is a dollar sign. */
void env_put_environment_d(struct strbuf *out, const struct env_set *s)
{
	const char *v;
	size_t i;

	env_comments(out, s, "# ", "");
	for (i = 0; i < s->n_items; i++) {
		const struct env_item *it = &s->items[i];

		strbuf_printf(out, "%s=\"", it->name);
		for (v = env_joined(out->a, s, it); *v; v++) {
			if (strchr("\"\\`", *v))
				strbuf_addc(out, '\\');
			if (*v == '$')
				strbuf_addc(out, '$');
			strbuf_addc(out, *v);
		}
		if (it->kind == ENV_MANLIST)
			strbuf_printf(out, ":${%s:-}", it->name);
		else if (it->kind == ENV_LIST)
			strbuf_printf(out, "${%s:+:$%s}", it->name, it->name);
		strbuf_add(out, "\"\n");
	}
}

/* -------- environment modules */

static void tcl_word(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '\n') {
			strbuf_add(out, "\\n");
			continue;
		}
		if (strchr("\"\\$[]{};", *s))
			strbuf_addc(out, '\\');
		strbuf_addc(out, *s);
	}
	strbuf_addc(out, '"');
}

static void lua_word(struct strbuf *out, const char *s)
{
	strbuf_addc(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			strbuf_printf(out, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			strbuf_printf(out, "\\%03u", (unsigned char)*s);
		else
			strbuf_addc(out, *s);
	}
	strbuf_addc(out, '"');
}

/* prepend-path puts each in front of the last, so that the first comes at the end. */
void env_put_modulefile(struct strbuf *out, const struct env_set *s)
{
	size_t i, k;

	env_comments(out, s, "# ", "");
	strbuf_add(out, "module-whatis ");
	tcl_word(out, arena_printf(out->a, "CUDA%s%s", s->version ? " " : "",
				   s->version ? s->version : ""));
	strbuf_addc(out, '\n');
	for (i = 0; i < s->n_items; i++)
		for (k = s->items[i].n; k-- > 0;) {
			strbuf_printf(out, "%s %s ",
				      s->items[i].kind == ENV_SCALAR ? "setenv" : "prepend-path",
				      s->items[i].name);
			tcl_word(out, s->items[i].values[k]);
			strbuf_addc(out, '\n');
		}
	if (env_item_named(s, "MANPATH"))
		strbuf_add(out, "append-path MANPATH \"\"\n");
}

void env_put_lmod(struct strbuf *out, const struct env_set *s)
{
	size_t i, k;

	env_comments(out, s, "-- ", "");
	strbuf_add(out, "whatis(");
	lua_word(out, arena_printf(out->a, "CUDA%s%s", s->version ? " " : "",
				   s->version ? s->version : ""));
	strbuf_add(out, ")\nfamily(\"cuda\")\n");
	for (i = 0; i < s->n_items; i++)
		for (k = s->items[i].n; k-- > 0;) {
			strbuf_printf(out, "%s(\"%s\", ",
				      s->items[i].kind == ENV_SCALAR ? "setenv" : "prepend_path",
				      s->items[i].name);
			lua_word(out, s->items[i].values[k]);
			strbuf_add(out, ")\n");
		}
	/* The empty element is the system's own list. */
	if (env_item_named(s, "MANPATH"))
		strbuf_add(out, "append_path(\"MANPATH\", \"\")\n");
}

/* -------- the loader and CMake */

void env_put_ldconf(struct strbuf *out, const struct env_set *s)
{
	size_t i;

	env_comments(out, s, "# ", "");
	env_comment(out, "# ", _("run ldconfig as root afterwards"), "");
	for (i = 0; i < s->n_lib_dirs; i++)
		strbuf_printf(out, "%s\n", s->lib_dirs[i]);
}

/* STRING, since CMake turns the backslashes of a PATH. */
static void cmake_set(struct strbuf *out, const char *name, const char *value)
{
	strbuf_printf(out, "set(%s \"", name);
	for (; *value; value++) {
		if (strchr("\"\\$", *value))
			strbuf_addc(out, '\\');
		strbuf_addc(out, *value);
	}
	strbuf_add(out, "\" CACHE STRING \"\")\n");
}

/* For `cmake -C FILE`: an initial cache. */
void env_put_cmake(struct strbuf *out, const struct env_set *s)
{
	env_comments(out, s, "# ", "");
	if (s->toolkit) {
		cmake_set(out, "CUDAToolkit_ROOT", s->toolkit);
		cmake_set(out, "CUDA_TOOLKIT_ROOT_DIR", s->toolkit);
		cmake_set(out, "CMAKE_CUDA_COMPILER", path_join(out->a, s->toolkit, "bin/nvcc"));
	}
	if (s->cudnn) {
		cmake_set(out, "CUDNN_ROOT", s->cudnn);
		cmake_set(out, "CUDNN_ROOT_DIR", s->cudnn);
	}
}

/* -------- editors */

/* Of VS Code only PATH is known to be set; an unset variable would leave an empty element. */
void env_put_vscode(struct strbuf *out, const struct env_set *s)
{
	const char *key = s->windows ? "windows" : "linux";
	size_t i;

	strbuf_printf(out, "{\n  \"terminal.integrated.env.%s\": {\n", key);
	for (i = 0; i < s->n_items; i++) {
		const struct env_item *it = &s->items[i];
		const char *v = env_joined(out->a, s, it);

		if (strcmp(it->name, "PATH") == 0)
			v = arena_printf(out->a, "%s%c${env:PATH}", v, s->windows ? ';' : ':');
		else if (it->kind == ENV_MANLIST)
			v = arena_printf(out->a, "%s:", v);
		strbuf_printf(out, "    \"%s\": ", it->name);
		env_quote_json(out, v);
		strbuf_add(out, i + 1 < s->n_items ? ",\n" : "\n");
	}
	strbuf_add(out, "  }\n}\n");
}

/* "env" of a kernel.json, where "${PATH}" is filled in and "$$" is a dollar sign. */
void env_put_jupyter(struct strbuf *out, const struct env_set *s)
{
	struct strbuf v;
	const char *p;
	size_t i;

	strbuf_add(out, "{\n  \"env\": {\n");
	for (i = 0; i < s->n_items; i++) {
		const struct env_item *it = &s->items[i];

		strbuf_init(&v, out->a);
		for (p = env_joined(out->a, s, it); *p; p++) {
			if (*p == '$')
				strbuf_addc(&v, '$');
			strbuf_addc(&v, *p);
		}
		if (strcmp(it->name, "PATH") == 0)
			strbuf_add(&v, ":${PATH}");
		else if (it->kind == ENV_MANLIST)
			strbuf_addc(&v, ':');
		strbuf_printf(out, "    \"%s\": ", it->name);
		env_quote_json(out, v.s);
		strbuf_add(out, i + 1 < s->n_items ? ",\n" : "\n");
	}
	strbuf_add(out, "  }\n}\n");
}
