/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's packages by the system's package manager: dpkg's status file, pacman's directory,
 * rpm's database. Of rpm's older databases only rpm itself knows the form: with --deep it is asked,
 * on this machine alone.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "probe/os_packages.h"
#include "sys/rpmdb.h"
#include "sys/run_text.h"

enum {
	STATUS_MAX = 24 << 20,
	PACKAGES_MAX = 256,
	PACMAN_MAX = 16384,
	RPM_MAX = 256 << 10,
	RPM_MS = 5000,
};

/* What belongs to the driver or starts containers with it. */
static bool is_wanted(struct view name)
{
	static const char *const starts[] = { "nvidia-",
					      "libnvidia-",
					      "libcuda1",
					      "linux-modules-nvidia-",
					      "cuda-drivers",
					      "cuda-compat-",
					      "xserver-xorg-video-nvidia",
					      "docker-ce",
					      "docker.io",
					      "containerd",
					      "podman",
					      "nvlsm",
					      "linux-objects-nvidia-",
					      "kmod-nvidia",
					      "akmod-nvidia",
					      "dkms-nvidia",
					      "xorg-x11-drv-nvidia" };
	static const char *const not_driver[] = { "nvidia-cuda-", "nvidia-cudnn", "nvidia-nsight",
						  "nvidia-visual-profiler", "nvidia-profiler",
						  "nvidia-prime-applet" };
	size_t i;

	for (i = 0; i < ARRAY_LEN(not_driver); i++)
		if (view_starts(name, not_driver[i]))
			return false;
	if (view_is(name, "nvidia"))
		return true;
	for (i = 0; i < ARRAY_LEN(starts); i++)
		if (view_starts(name, starts[i]))
			return true;
	return false;
}

static struct ospackage *add(struct probe_ctx *p, struct view name, struct view version,
			     const char *status, const char *source)
{
	struct snapshot *s = p->s;
	struct ospackage *o;

	if (s->n_os_packages >= PACKAGES_MAX)
		return NULL;
	o = ARENA_APPEND(p->a, s->os_packages, s->n_os_packages);
	fact_set(&o->name, view_dup(p->a, name), source);
	fact_set(&o->version, view_dup(p->a, version), source);
	fact_set(&o->status, status, source);
	return o;
}

/* Who built it: "NVIDIA Corporation <someone@nvidia.com>" without the address. */
static void add_origin(struct probe_ctx *p, struct ospackage *o, struct view who,
		       const char *source)
{
	struct view rest;

	who = view_trim(view_cut(who, '<', &rest));
	if (o && who.n)
		fact_set(&o->origin, view_dup(p->a, who), source);
}

/* "install ok installed", "hold ok installed", "install ok half-configured"; NULL when it is not
 * there. */
static const char *status_of(struct view status)
{
	static const char *const states[] = { "half-installed", "unpacked", "half-configured",
					      "triggers-pending" };
	struct view want = { 0 }, word = { 0 };
	size_t i;

	if (!view_word(&status, &want) || !view_word(&status, &word) || !view_word(&status, &word))
		return NULL;
	if (view_is(word, "installed"))
		return view_is(want, "hold") ? "held" : "installed";
	for (i = 0; i < ARRAY_LEN(states); i++)
		if (view_is(word, states[i]))
			return states[i];
	return NULL;
}

void os_packages_dpkg(struct probe_ctx *p, struct view text, const char *source)
{
	struct view line, name = { 0 }, status = { 0 }, who = { 0 }, version;
	const char *state;
	ptrdiff_t at;

	/* Name, status and version stand in this order in every paragraph that dpkg writes. */
	while (view_line(&text, &line)) {
		if (!line.n) {
			name.n = who.n = 0;
			continue;
		}
		if (view_starts(line, "Package: "))
			name = view_trim(view_skip(line, 9));
		if (!name.n || !is_wanted(name)) {
			/* Thousands of packages are of no interest: on to the next paragraph. */
			at = view_starts(text, "\n") ? 0 : view_find(text, "\n\n");
			text = view_skip(text, at < 0 ? text.n : (size_t)at + 1);
			name.n = 0;
			continue;
		}
		if (view_starts(line, "Status: "))
			status = view_skip(line, 8);
		if (view_starts(line, "Maintainer: "))
			who = view_skip(line, 12);
		if (!view_starts(line, "Version: "))
			continue;
		version = view_trim(view_skip(line, 9));
		state = status_of(status);
		if (state)
			add_origin(p, add(p, name, version, state, source), who, source);
		name.n = status.n = 0;
	}
}

/* "nvidia-utils-580.95.05-2": the name ends before the last two dashes. */
static void pacman_entry(struct probe_ctx *p, const char *entry, const char *source)
{
	struct view v = view_of(entry);
	size_t i, dashes = 0;

	for (i = v.n; i > 0 && dashes < 2; i--)
		dashes += v.p[i - 1] == '-';
	if (dashes == 2 && is_wanted((struct view){ .p = v.p, .n = i }))
		add(p, (struct view){ .p = v.p, .n = i }, view_skip(v, i + 1), "installed", source);
}

/* -------- rpm */

static bool rpm_sqlite(struct probe_ctx *p)
{
	static const char *const paths[] = { "/usr/lib/sysimage/rpm/rpmdb.sqlite",
					     "/var/lib/rpm/rpmdb.sqlite" };
	struct rpm_packages list;
	struct err err = { 0 };
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(paths); i++) {
		_cleanup_fd_ int fd = sysroot_open_file(p->root, paths[i]);

		if (fd == -EACCES || fd == -EPERM) {
			fact_errno(&p->s->parts.packages, -fd, paths[i]);
			return true;
		}
		if (fd < 0)
			continue;
		if (rpmdb_read(p->a, fd, is_wanted, RPM_MS, &list, &err) < 0) {
			fact_broken(&p->s->parts.packages, paths[i], arena_strdup(p->a, err.msg));
			return true;
		}
		fact_flag(&p->s->parts.packages, true, paths[i]);
		for (k = 0; k < list.n; k++)
			add_origin(p,
				   add(p, view_of(list.list[k].name), view_of(list.list[k].version),
				       "installed", paths[i]),
				   view_of(list.list[k].vendor), paths[i]);
		return true;
	}
	return false;
}

/* "name\tversion-release\tvendor" a line. */
void os_packages_rpm(struct probe_ctx *p, struct view text, const char *source)
{
	struct view line, name, version, who;

	while (view_line(&text, &line)) {
		name = view_cut(line, '\t', &version);
		version = view_cut(version, '\t', &who);
		if (is_wanted(name) && version.n)
			add_origin(p, add(p, name, version, "installed", source),
				   view_is(who, "(none)") ? (struct view){ 0 } : who, source);
	}
}

/* Databases of before 2020, in forms of their own. */
static bool rpm_itself(struct probe_ctx *p)
{
	static const char *const files[] = { "/var/lib/rpm/Packages", "/var/lib/rpm/Packages.db",
					     "/usr/lib/sysimage/rpm/Packages.db" };
	static const char *const argv[] = { "/usr/bin/rpm", "-qa", "--qf",
					    "%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{VENDOR}\\n",
					    NULL };
	struct fact *part = &p->s->parts.packages;
	struct view text;
	size_t i = 0;

	while (i < ARRAY_LEN(files) && !sysroot_exists(p->root, files[i]))
		i++;
	if (i == ARRAY_LEN(files))
		return false;
	*part = (struct fact){ .source = files[i],
			       .why = !p->root->live ? _("only rpm itself reads this database")
						     : _("`check --deep` asks rpm for it") };
	if (!p->root->live || !p->deep)
		return true;
	if (run_text(p->a, argv, RPM_MAX, RPM_MS, &text) < 0) {
		fact_broken(part, "rpm -qa", _("rpm gave no answer"));
		return true;
	}
	fact_flag(part, true, "rpm -qa");
	os_packages_rpm(p, text, "rpm -qa");
	return true;
}

static void run(struct probe_ctx *p)
{
	static const char dpkg[] = "/var/lib/dpkg/status", pacman[] = "/var/lib/pacman/local";
	struct fact *part = &p->s->parts.packages;
	struct dirlist list;
	struct view text;
	size_t i;

	if (sysroot_read(p->root, p->a, dpkg, STATUS_MAX, &text, NULL) == 0) {
		fact_flag(part, true, dpkg);
		os_packages_dpkg(p, text, dpkg);
	} else if (sysroot_list(p->root, p->a, pacman, PACMAN_MAX, &list) == 0) {
		fact_flag(part, true, pacman);
		for (i = 0; i < list.n; i++)
			pacman_entry(p, list.names[i], pacman);
	} else if (!rpm_sqlite(p) && !rpm_itself(p)) {
		fact_absent(part, p->root->dir);
	}
}

const struct probe probe_os_packages = { .name = "os-packages", .run = run };
