/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keeps the nvidia module away: lines of modprobe's configuration, the kernel's command line,
 * a graphics mode, rules that take the device off the bus. It only reads; whether that matters is
 * the rules' to say.
 */
#include <string.h>

#include "base/arena.h"
#include "probe/modprobe.h"

enum { FILES_MAX = 512, FILE_MAX = 256 << 10, BLOCKS_MAX = 64 };

/* In the order of modprobe.d(5): a file of the same name in an earlier directory replaces a later
 * one. */
static const char *const dirs[] = { "/etc/modprobe.d", "/run/modprobe.d",
				    "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
				    "/lib/modprobe.d" };

static void add(struct probe_ctx *p, const char *module, const char *how, struct view line,
		const char *source)
{
	struct driver *d = &p->s->driver;
	struct block *b;

	if (d->n_blocks >= BLOCKS_MAX)
		return;
	b = ARENA_APPEND(p->a, d->blocks, d->n_blocks);
	fact_set(&b->module, module, source);
	fact_set(&b->how, how, source);
	fact_set(&b->line, view_dup(p->a, line), source);
}

/* "nvidia" for nvidia and for the names under which Debian keeps several of them; NULL for others.
 */
static const char *blocked_module(struct view name)
{
	if (view_is(name, "nvidia") || view_is(name, "nvidia-current"))
		return "nvidia";
	if (view_is(name, "nvidia-uvm") || view_is(name, "nvidia_uvm"))
		return "nvidia_uvm";
	return NULL;
}

/* Does an `install` line run something that loads nothing? */
static bool refuses(struct view command)
{
	static const char *const idle[] = { "false", "true", ":", "exit" };
	struct view word;
	size_t i;

	if (!view_word(&command, &word))
		return false;
	while (view_chr(word, '/') >= 0)
		word = view_skip(word, (size_t)view_chr(word, '/') + 1);
	for (i = 0; i < ARRAY_LEN(idle); i++)
		if (view_is(word, idle[i]))
			return true;
	return false;
}

const char *modprobe_block(struct view line, const char **ret_how)
{
	struct view rest = view_trim(line), word, name, third;
	const char *module;

	if (!view_word(&rest, &word) || !view_word(&rest, &name))
		return NULL;
	module = blocked_module(name);
	if (!module)
		return NULL;
	if (view_is(word, "blacklist"))
		*ret_how = "blacklist";
	else if (view_is(word, "alias") && view_word(&rest, &third) && view_is(third, "off"))
		*ret_how = "alias-off";
	else if (view_is(word, "install") && refuses(rest))
		*ret_how = "install";
	else
		return NULL;
	return module;
}

static void config_file(struct probe_ctx *p, const char *path)
{
	const char *module, *how = NULL;
	struct view text, line;

	if (sysroot_read(p->root, p->a, path, FILE_MAX, &text, NULL) < 0)
		return;
	while (view_line(&text, &line)) {
		module = modprobe_block(line, &how);
		if (module)
			add(p, module, how, view_trim(line), path);
	}
}

/* Is /lib the same directory as /usr/lib, or the file replaced by one in an earlier directory? */
static bool replaced(struct probe_ctx *p, size_t dir, const char *name)
{
	struct stat st;
	size_t i;

	for (i = 0; i < dir; i++)
		if (sysroot_stat(p->root, path_join(p->a, dirs[i], name), false, &st) == 0)
			return true;
	return false;
}

static void config(struct probe_ctx *p)
{
	struct dirlist list;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(dirs); i++) {
		if (sysroot_list(p->root, p->a, dirs[i], FILES_MAX, &list) < 0)
			continue;
		for (k = 0; k < list.n; k++)
			if (view_ends(view_of(list.names[k]), ".conf") &&
			    !replaced(p, i, list.names[k]))
				config_file(p, path_join(p->a, dirs[i], list.names[k]));
	}
}

/* module_blacklist= forbids loading at all; modprobe.blacklist= and rd.driver.blacklist= are
 * modprobe's. */
static void command_line(struct probe_ctx *p)
{
	static const char *const keys[] = { "module_blacklist=", "modprobe.blacklist=",
					    "rd.driver.blacklist=" };
	struct view text = view_of(fact_value(&p->s->host.cmdline, "")), word, names, name;
	const char *module;
	size_t i;

	while (view_word(&text, &word))
		for (i = 0; i < ARRAY_LEN(keys); i++) {
			if (!view_starts(word, keys[i]))
				continue;
			names = view_skip(word, strlen(keys[i]));
			while (names.n) {
				name = view_cut(names, ',', &names);
				module = blocked_module(name);
				if (module)
					add(p, module, "module_blacklist", word,
					    p->s->host.cmdline.source);
			}
		}
}

/* Rules of udev with which graphics-mode tools switch the card off: ATTR{remove}="1" for vendor
 * 10de.
 */
static void removed(struct probe_ctx *p)
{
	static const char *const places[] = { "/etc/udev/rules.d", "/run/udev/rules.d",
					      "/usr/lib/udev/rules.d", "/lib/udev/rules.d" };
	struct fact *f = &p->s->host.gpu_removed_by;
	struct view text, line;
	struct dirlist list;
	const char *path;
	size_t i, k;

	fact_absent(f, places[0]);
	for (i = 0; i < ARRAY_LEN(places); i++) {
		if (sysroot_list(p->root, p->a, places[i], FILES_MAX, &list) < 0)
			continue;
		for (k = 0; k < list.n; k++) {
			path = path_join(p->a, places[i], list.names[k]);
			if ((!strstr(list.names[k], "nvidia") && !strstr(list.names[k], "prime") &&
			     !strstr(list.names[k], "optimus")) ||
			    sysroot_read(p->root, p->a, path, FILE_MAX, &text, NULL) < 0)
				continue;
			while (view_line(&text, &line))
				if (!view_starts(view_trim(line), "#") &&
				    view_find(line, "10de") >= 0 &&
				    view_find(line, "remove}=\"1\"") >= 0)
					fact_set(f, path, path);
		}
	}
}

/* NVRM's parameters as the loaded module has them ("Name: value"), and one of nvidia_uvm. */
static void parameters(struct probe_ctx *p)
{
	static const char path[] = "/proc/driver/nvidia/params";
	struct driver *d = &p->s->driver;
	const struct {
		const char *key;
		struct fact *fact;
	} rows[] = {
		{ .key = "OpenRmEnableUnsupportedGpus", .fact = &d->open_unsupported },
		{ .key = "PreserveVideoMemoryAllocations", .fact = &d->preserve_memory },
	};
	struct view text, line, key, value;
	size_t i;
	int e = sysroot_read(p->root, p->a, path, 64 << 10, &text, NULL);

	for (i = 0; i < ARRAY_LEN(rows); i++)
		fact_errno(rows[i].fact, e ? -e : 2, path);
	while (!e && view_line(&text, &line)) {
		key = view_cut(line, ':', &value);
		for (i = 0; i < ARRAY_LEN(rows); i++)
			if (view_is(key, rows[i].key))
				fact_set(rows[i].fact, view_dup(p->a, view_trim(value)), path);
	}
	sysroot_fact(p->root, p->a, "/sys/module/nvidia_uvm/parameters/uvm_disable_hmm",
		     &d->hmm_disabled);
}

static void run(struct probe_ctx *p)
{
	if (!probe_is_running(p))
		return;
	config(p);
	command_line(p);
	sysroot_fact(p->root, p->a, "/etc/prime-discrete", &p->s->host.prime);
	removed(p);
	parameters(p);
}

const struct probe probe_modprobe = { .name = "modprobe", .run = run };
