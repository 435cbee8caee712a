/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's packages by the system's package manager: dpkg's status file, pacman's directory.
 * rpm's database needs rpm itself, so there nothing is said. Nothing is run.
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "probe/os_packages.h"

enum { STATUS_MAX = 24 << 20, PACKAGES_MAX = 256, PACMAN_MAX = 16384 };

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
					      "linux-objects-nvidia-" };
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

static void add(struct probe_ctx *p, struct view name, struct view version, const char *status,
		const char *source)
{
	struct snapshot *s = p->s;
	struct ospackage *o;

	if (s->n_os_packages >= PACKAGES_MAX)
		return;
	o = ARENA_APPEND(p->a, s->os_packages, s->n_os_packages);
	fact_set(&o->name, view_dup(p->a, name), source);
	fact_set(&o->version, view_dup(p->a, version), source);
	fact_set(&o->status, status, source);
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
	struct view line, name = { 0 }, status = { 0 }, version;
	const char *state;
	ptrdiff_t at;

	/* Name, status and version stand in this order in every paragraph that dpkg writes. */
	while (view_line(&text, &line)) {
		if (!line.n) {
			name.n = 0;
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
		if (!view_starts(line, "Version: "))
			continue;
		version = view_trim(view_skip(line, 9));
		state = status_of(status);
		if (state)
			add(p, name, version, state, source);
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

static void run(struct probe_ctx *p)
{
	static const char dpkg[] = "/var/lib/dpkg/status", pacman[] = "/var/lib/pacman/local";
	struct dirlist list;
	struct view text;
	size_t i;

	if (sysroot_read(p->root, p->a, dpkg, STATUS_MAX, &text, NULL) == 0)
		os_packages_dpkg(p, text, dpkg);
	else if (sysroot_list(p->root, p->a, pacman, PACMAN_MAX, &list) == 0)
		for (i = 0; i < list.n; i++)
			pacman_entry(p, list.names[i], pacman);
}

const struct probe probe_os_packages = { .name = "os-packages", .run = run };
