/* SPDX-License-Identifier: Apache-2.0 */
/* The table of shells and formats: what each can hold, and by which file names it is known. */
#include <string.h>

#include "base/arena.h"
#include "env/format.h"

/* clang-format off */
static const struct env_form shells[] = {
	{ .name = "bash", .shell = true, .comment = "#", .put = env_put_sh },
	{ .name = "zsh", .shell = true, .comment = "#", .put = env_put_sh },
	{ .name = "dash", .shell = true, .comment = "#", .put = env_put_sh },
	{ .name = "ksh", .shell = true, .comment = "#", .put = env_put_sh },
	{ .name = "fish", .shell = true, .comment = "#", .put = env_put_fish },
	{ .name = "tcsh", .shell = true, .comment = "#", .refused = "\n\r", .put = env_put_csh },
	{ .name = "elvish", .shell = true, .comment = "#", .put = env_put_elvish },
	{ .name = "nu", .shell = true, .comment = "#", .put = env_put_nu },
	{ .name = "powershell", .shell = true, .comment = "#", .put = env_put_powershell },
	{ .name = "cmd", .shell = true, .comment = "rem", .refused = "\n\r\"", .put = env_put_cmd },
	{ .name = "xonsh", .shell = true, .comment = "#", .put = env_put_xonsh },
};

static const struct {
	const char *name, *is;
} aliases[] = {
	{ "sh", "dash" }, { "ash", "dash" }, { "busybox", "dash" }, { "csh", "tcsh" },
	{ "mksh", "ksh" },
	{ "ksh93", "ksh" }, { "pwsh", "powershell" }, { "rbash", "bash" }, { "nushell", "nu" },
};

static const struct env_form formats[] = {
	{ .name = "dockerfile", .elsewhere = true, .comment = "#", .refused = "\n\r",
	  .put = env_put_dockerfile },
	{ .name = "compose", .elsewhere = true, .comment = "#", .put = env_put_compose },
	{ .name = "systemd", .comment = "#", .refused = "\n\r", .put = env_put_systemd },
	{ .name = "environment.d", .comment = "#", .refused = "\n\r",
	  .put = env_put_environment_d },
	{ .name = "modulefile", .comment = "#", .first = "#%Module1.0", .put = env_put_modulefile },
	{ .name = "lmod", .comment = "--", .put = env_put_lmod },
	{ .name = "conda", .comment = "#", .put = env_put_sh },
	{ .name = "venv", .comment = "#", .put = env_put_venv },
	/* bash reads an .envrc, and direnv takes back by itself what it did. */
	{ .name = "direnv", .comment = "#", .put = env_put_sh },
	{ .name = "vscode", .put = env_put_vscode },
	{ .name = "jupyter", .put = env_put_jupyter },
	{ .name = "github", .elsewhere = true, .comment = "#", .refused = "\n\r",
	  .put = env_put_github },
	{ .name = "gitlab", .elsewhere = true, .comment = "#", .put = env_put_gitlab },
	{ .name = "ldconf", .elsewhere = true, .comment = "#", .refused = "\n\r#=",
	  .put = env_put_ldconf },
	{ .name = "cmake", .comment = "#", .refused = ";", .put = env_put_cmake },
};

/* By the end of a file's path; the first that fits. '*' before a name: any beginning. */
static const struct {
	const char *end, *form;
} files[] = {
	{ "/activate.d/*.fish", "fish" }, { "/activate.d/*.csh", "tcsh" },
	{ "/activate.d/*.xsh", "xonsh" },
	{ "/activate.d/*.ps1", "powershell" }, { "/activate.d/*.bat", "cmd" },
	{ "/activate.d/*", "conda" },
	{ "/bin/activate", "venv" }, { "/bin/activate.fish", "fish" },
	{ "/bin/activate.csh", "tcsh" },
	{ "/.bashrc", "bash" }, { "/.bash_profile", "bash" }, { "/.bash_login", "bash" },
	{ "/.profile", "dash" }, { "/.zshrc", "zsh" }, { "/.zshenv", "zsh" },
	{ "/.zprofile", "zsh" },
	{ "/.kshrc", "ksh" }, { "/.mkshrc", "ksh" }, { "/.cshrc", "tcsh" }, { "/.tcshrc", "tcsh" },
	{ "/.login", "tcsh" }, { "/.xonshrc", "xonsh" }, { "/.envrc", "direnv" },
	{ "/ld.so.conf.d/*.conf", "ldconf" }, { "/environment.d/*.conf", "environment.d" },
	{ ".service.d/*.conf", "systemd" }, { "/Dockerfile", "dockerfile" },
	{ "/Containerfile", "dockerfile" },
	{ "*.dockerfile", "dockerfile" }, { "*.bash", "bash" }, { "*.zsh", "zsh" },
	{ "*.fish", "fish" },
	{ "*.csh", "tcsh" }, { "*.elv", "elvish" }, { "*.nu", "nu" }, { "*.ps1", "powershell" },
	{ "*.bat", "cmd" }, { "*.cmd", "cmd" }, { "*.xsh", "xonsh" }, { "*.lua", "lmod" },
	{ "*.cmake", "cmake" }, { "*.ksh", "ksh" }, { "*.sh", "dash" },
};
/* clang-format on */

static const struct env_form *find(const struct env_form *rows, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

const struct env_form *env_shell(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(aliases); i++)
		if (strcmp(aliases[i].name, name) == 0)
			name = aliases[i].is;
	return find(shells, ARRAY_LEN(shells), name);
}

const struct env_form *env_format(const char *name)
{
	return find(formats, ARRAY_LEN(formats), name);
}

/* "/activate.d/<star>.fish" against the end of a path: folder, then the end of the name. */
static bool is_called(const char *path, const char *pattern)
{
	const char *star = strchr(pattern, '*'), *slash = strrchr(path, '/');
	struct view dir = { .p = path, .n = slash ? (size_t)(slash - path) + 1 : 0 };
	struct view head = { .p = pattern, .n = star ? (size_t)(star - pattern) : 0 };

	if (!star)
		return view_ends(view_of(path), pattern) ||
		       (!slash && pattern[0] == '/' && strcmp(path, pattern + 1) == 0);
	if (!view_ends(view_of(path), star + 1))
		return false;
	return head.n <= dir.n && memcmp(dir.p + dir.n - head.n, head.p, head.n) == 0;
}

const struct env_form *env_form_of_file(const char *path)
{
	const struct env_form *f;
	size_t i;

	for (i = 0; i < ARRAY_LEN(files); i++) {
		if (!is_called(path, files[i].end))
			continue;
		f = env_shell(files[i].form);
		return f ? f : env_format(files[i].form);
	}
	return NULL;
}

/* -------- rendering */

static int can_hold(const struct env_form *f, const char *value, struct err *err)
{
	size_t n = f->refused ? strcspn(value, f->refused) : strlen(value);
	bool var = strcmp(f->name, "vscode") == 0 && strstr(value, "${");

	if (!value[n] && !var)
		return 0;
	if (value[n] == '\n' || value[n] == '\r')
		return err_set(err, ERR_USAGE, _("%.300s: %s cannot hold a line break"), value,
			       f->name);
	return err_set(err, ERR_USAGE, _("%.300s: %s cannot hold a path with %s in it"), value,
		       f->name,
		       var ? "${" : (char[2]){ value[n], '\0' });
}

static int can_hold_all(const struct env_form *f, const struct env_set *s, struct err *err)
{
	bool libs = f->put == env_put_ldconf;
	size_t i, k;
	int r = 0;

	for (i = 0; !r && libs && i < s->n_lib_dirs; i++)
		r = can_hold(f, s->lib_dirs[i], err);
	for (i = 0; !libs && i < s->n_items; i++)
		for (k = 0; !r && k < s->items[i].n; k++)
			r = can_hold(f, s->items[i].values[k], err);
	return r;
}

int env_render(struct arena *a, const struct env_form *f, const struct env_set *s,
	       const char **ret, struct err *err)
{
	struct strbuf out;
	int r = can_hold_all(f, s, err);

	if (r)
		return r;
	if (s->unset && !f->shell && f->put != env_put_sh && f->put != env_put_venv)
		return err_set(
			err, ERR_USAGE,
			_("--unset goes with shells, conda and venv; what a %s file sets goes "
			  "with the file"),
			f->name);
	if (s->windows && f->put != env_put_cmd && f->put != env_put_powershell &&
	    f->put != env_put_vscode)
		return err_set(err, ERR_USAGE, _("%s is not for paths of Windows"), f->name);
	strbuf_init(&out, a);
	f->put(&out, s);
	*ret = out.s;
	return 0;
}
