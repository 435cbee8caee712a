/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel module, modprobe, udev and the driver's services wrote to the logs of this boot.
 * A line becomes an event by a table; several lines of NVRM that belong together become one. It
 * judges nothing, and keeps of a line only what stands behind its time and host.
 */
#include "probe/klog.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "sys/logs.h"
#include "sys/run_text.h"

enum { TAIL_MAX = 512 << 10, EVENTS_MAX = 256, TEXT_MAX = 240, JOURNAL_MS = 5000 };

/* Sources of the texts: matrix kernel_log (open-gpu-kernel-modules), linux kernel/module, systemd.
 */
static const struct pattern {
	const char *id;
	enum klog_kind kind;
	const char *text, *also; /* both have to stand in the line; also may be NULL */
} patterns[] = {
	{ .id = "fallen-off-bus", .text = "fallen off the bus" },
	{ .id = "d3cold", .text = "change power state from D3cold" },
	{ .id = "bar-invalid", .text = "I/O region assigned to your NVIDIA device is invalid" },
	{ .id = "bar-invalid", .text = "NVRM: BAR", .also = "is 0M @ 0x0 (PCI:" },
	{ .id = "power-cables", .text = "does not have the necessary power cables connected" },
	{ .id = "bbswitch-off", .text = "bbswitch: disabling discrete graphics" },
	{ .id = "open-module-required", .text = "requires use of the NVIDIA open kernel modules" },
	{ .id = "open-module-unsupported",
	  .text = "installed in this system is not supported by open" },
	{ .id = "open-module-gate", .text = "Open nvidia.ko is only ready for use on Data Center" },
	{ .id = "release-unsupported", .text = "installed in this system is not supported by the" },
	{ .id = "legacy-gpu", .text = "ignoring the legacy GPU" },
	{ .id = "legacy-gpu", .text = "Legacy drivers" },
	{ .id = "probe-not-called", .text = "probe routine was not called" },
	{ .id = "api-mismatch", .text = "NVRM: API mismatch" },
	{ .id = "init-failed", .text = "RmInitAdapter failed" },
	{ .id = "gsp", .text = "NVRM", .also = "Timeout waiting for RPC from GSP" },
	{ .id = "gsp-firmware", .text = "firmware", .also = "gsp_" },
	{ .id = "key-rejected", .text = "Loading of unsigned module is rejected" },
	{ .id = "key-rejected", .text = "Loading of module with un", .also = "is rejected" },
	{ .id = "key-rejected", .text = "unsigned module loading is restricted" },
	{ .id = "key-rejected", .text = "Key was rejected by service" },
	{ .id = "key-rejected", .text = "Required key not available" },
	{ .id = "suspend", .text = "PM: suspend exit" },
	{ .id = "suspend", .text = "PM: suspend entry" },
	{ .id = "suspend", .text = "enter system sleep state" },
	{ .id = "suspend", .text = "PM: hibernation: hibernation exit" },
	{ .id = "suspend", .text = "PM: hibernation exit" },
	{ .id = "suspend", .text = "PM: Finishing wakeup" },
	{ .id = "suspend", .text = "PM: resume devices took" },
	{ .id = "suspend", .text = "PM: Waking up from system sleep" },
	{ .id = "suspend", .kind = KLOG_SERVICE, .text = "returned from sleep" },
	{ .id = "suspend",
	  .kind = KLOG_SERVICE,
	  .text = "systemd-sleep",
	  .also = "Entering sleep" },
	{ .id = "vgpu-host", .text = "NVRM", .also = "vGPU version" },
	{ .id = "selinux", .text = "avc:", .also = "nvidia" },
	{ .id = "selinux", .kind = KLOG_SERVICE, .text = "avc:", .also = "nvidia" },
	{ .id = "fabric-version",
	  .kind = KLOG_SERVICE,
	  .text = "driver interface version",
	  .also = "match with driver version" },
	{ .id = "fabric-prerequisite", .kind = KLOG_SERVICE, .text = "abric", .also = "ib_umad" },
	{ .id = "fabric-prerequisite", .kind = KLOG_SERVICE, .text = "abric", .also = "NVLSM" },
	{ .id = "vgpu-host", .kind = KLOG_SERVICE, .text = "Incompatible Guest/Host drivers" },
	{ .id = "vgpu-host", .text = "Incompatible Guest/Host drivers" },
	{ .id = "vgpu-licence",
	  .kind = KLOG_SERVICE,
	  .text = "gridd",
	  .also = "Failed to acquire" },
	{ .id = "vgpu-licence", .kind = KLOG_SERVICE, .text = "gridd", .also = "Unlicensed" },
	{ .id = "vgpu-licence",
	  .kind = KLOG_SERVICE,
	  .text = "gridd",
	  .also = "license not found" },
	{ .id = "vgpu-licensed",
	  .kind = KLOG_SERVICE,
	  .text = "gridd",
	  .also = "License acquired successfully" },
};

struct reader {
	struct probe_ctx *p;
	const char *source;
	const char *address; /* of the NVRM line that begins a message of several lines */
	size_t first;	     /* events of this text begin here */
};

/*
 * Length of a stamp at the begin of the line, 0 when none is: "[  12.345]", "[ T101]" and "[ C3]"
 * of kernels that print the caller, "[Wed Jan 15 10:11:12 2025]" of dmesg -T.
 */
static size_t stamp(struct view line)
{
	enum { STAMP_MAX = 30 };
	ptrdiff_t end = view_chr(line, ']');
	size_t i = 1;

	if (!view_starts(line, "[") || end < 2 || end > STAMP_MAX)
		return 0;
	while (line.p[i] == ' ')
		i++;
	if (line.p[i] == 'T' || line.p[i] == 'C')
		i++;
	/* A date has its digits behind two words; "[drm]" and "[nvidia]" have none. */
	else if (line.p[i] >= 'A' && line.p[i] <= 'Z' && end > 20)
		i = (size_t)end - 1;
	return line.p[i] >= '0' && line.p[i] <= '9' ? (size_t)end + 1 : 0;
}

/* Behind "Nov 20 10:00:01 box kernel: ", "<6>[  12.345] " and "[  12.345][ T101] ". */
static struct view message_of(struct view line)
{
	ptrdiff_t at = view_find(line, " kernel: ");

	if (at >= 0)
		line = view_skip(line, (size_t)at + strlen(" kernel: "));
	if (view_starts(line, "<") && view_chr(line, '>') > 0 && view_chr(line, '>') < 5)
		line = view_skip(line, (size_t)view_chr(line, '>') + 1);
	line = view_trim(line);
	while (stamp(line))
		line = view_trim(view_skip(line, stamp(line)));
	return line;
}

/* Service lines keep the name of the service: behind the host. */
static struct view service_of(struct view line)
{
	static const char *const names[] = { "nvidia-gridd", "nv-fabricmanager", "nvidia-vgpu-mgr",
					     "fabricmanager", "avc:", "vmiop_log" };
	ptrdiff_t at, best = -1;
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		at = view_find(line, names[i]);
		if (at >= 0 && (best < 0 || at < best))
			best = at;
	}
	return view_trim(best > 0 ? view_skip(line, (size_t)best) : line);
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* "0000:61:00" or "0000:61:00.0" anywhere in the line, as "0000:61:00.0"; NULL when none is. */
static const char *address_in(struct arena *a, struct view v)
{
	size_t i, k;
	char *s;

	for (i = 0; i + 10 <= v.n; i++) {
		for (k = 0; k < 10; k++)
			if (k == 4 || k == 7 ? v.p[i + k] != ':' : !is_hex(v.p[i + k]))
				break;
		if (k < 10 || (i && is_hex(v.p[i - 1])))
			continue;
		s = arena_strndup(a, v.p + i, 10);
		for (k = 0; k < 10; k++)
			if (s[k] >= 'A' && s[k] <= 'F')
				s[k] = (char)(s[k] - 'A' + 'a');
		return arena_printf(a, "%s.%c", s,
				    i + 12 <= v.n && v.p[i + 10] == '.' ? v.p[i + 11] : '0');
	}
	return NULL;
}

static void count_up(struct probe_ctx *p, struct event *e, const char *source)
{
	int64_t n = 1;

	if (!view_i64(view_of(fact_known(&e->count) ? e->count.value : "1"), &n))
		n = 1;
	fact_int(p->a, &e->count, n + 1, source);
}

static void add(struct reader *r, const char *id, const char *xid, const char *address,
		struct view text)
{
	struct snapshot *s = r->p->s;
	struct event *e;
	size_t i;

	for (i = r->first; i < s->n_log; i++) {
		e = &s->log[i];
		if (fact_is(&e->id, id) && (!xid || fact_is(&e->xid, xid)) &&
		    (address ? fact_is(&e->address, address) : !fact_known(&e->address))) {
			count_up(r->p, e, r->source);
			return;
		}
	}
	if (s->n_log >= EVENTS_MAX)
		return;
	e = ARENA_APPEND(r->p->a, s->log, s->n_log);
	/* Events of an earlier boot may have stood in this place. */
	*e = (struct event){ 0 };
	text.n = text.n > TEXT_MAX ? TEXT_MAX : text.n;
	fact_set(&e->id, id, r->source);
	if (xid)
		fact_set(&e->xid, xid, r->source);
	if (address)
		fact_set(&e->address, address, r->source);
	fact_set(&e->text, view_dup(r->p->a, text), r->source);
	fact_int(r->p->a, &e->count, 1, r->source);
}

/* "NVRM: Xid (PCI:0000:61:00): 119, pid=...", "... GPU-I:00): 48", "SXid (PCI:0000:05:00.0):
 * 12028". */
static bool xid_line(struct reader *r, struct view m)
{
	ptrdiff_t at = view_find(m, "Xid (PCI:");
	bool switch_ = at > 0 && m.p[at - 1] == 'S';
	static const char before[] = "caused by previous Xid ";
	struct view rest, number, cause;
	uint64_t n;

	if (at < 0)
		return false;
	rest = view_skip(m, (size_t)at);
	at = view_find(rest, "): ");
	if (at < 0)
		return false;
	number = view_trim(view_cut(view_skip(rest, (size_t)at + 3), ',', &rest));
	/* "45, pid=4711, name=python3, Ch 00000001 caused by previous Xid 149": it is the 149
	 * again. */
	at = view_find(rest, before);
	if (at >= 0) {
		cause = view_skip(rest, (size_t)at + strlen(before));
		for (number = cause, number.n = 0;
		     number.n < cause.n && isdigit((unsigned char)cause.p[number.n]); number.n++)
			;
	}
	if (!view_u64(number, 10, &n) || n > 99999)
		return false;
	add(r, switch_ ? "sxid" : "xid", arena_printf(r->p->a, "%u", (unsigned)n),
	    address_in(r->p->a, m), m);
	return true;
}

/* Most lines of a log are of others: a few words let them pass before the table is asked. */
static bool may_matter(struct view m, enum klog_kind kind)
{
	static const char *const kernel[] = { "NVRM",	"nvidia",     "PM:",	 "avc:",
					      "module", " key",	      "Key ",	 "gsp_",
					      "GPU",	"Guest/Host", "bbswitch" };
	static const char *const service[] = { "avc:",	"abric", "gridd", "Guest/Host",
					       "sleep", "driver interface" };
	const char *const *words = kind == KLOG_KERNEL ? kernel : service;
	size_t n = kind == KLOG_KERNEL ? ARRAY_LEN(kernel) : ARRAY_LEN(service), i;

	for (i = 0; i < n; i++)
		if (view_find(m, words[i]) >= 0)
			return true;
	return false;
}

static void line(struct reader *r, struct view m, enum klog_kind kind)
{
	const char *address = address_in(r->p->a, m);
	size_t i;

	if (kind == KLOG_KERNEL && xid_line(r, m))
		return;
	/* "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2c05)", then what is the matter with it.
	 */
	if (view_find(m, "NVRM: The NVIDIA GPU ") >= 0)
		r->address = address;
	else if (!view_starts(m, "NVRM:"))
		r->address = NULL;
	for (i = 0; i < ARRAY_LEN(patterns); i++) {
		if (patterns[i].kind != kind || view_find(m, patterns[i].text) < 0 ||
		    (patterns[i].also && view_find(m, patterns[i].also) < 0))
			continue;
		add(r, patterns[i].id, NULL, address ? address : r->address, m);
		return;
	}
}

void klog_events(struct probe_ctx *p, struct view text, enum klog_kind kind, const char *source)
{
	struct reader r = { .p = p, .source = source, .first = p->s->n_log };
	struct view l, m;

	while (view_line(&text, &l)) {
		if (!may_matter(l, kind) && view_find(l, "Linux version ") < 0)
			continue;
		m = kind == KLOG_KERNEL ? message_of(l) : service_of(l);
		/* The kernel's first line: what stands above is of an earlier boot. */
		if (kind == KLOG_KERNEL && view_starts(m, "Linux version "))
			p->s->n_log = r.first;
		else if (m.n)
			line(&r, m, kind);
	}
}

/* -------- which files */

/* They repeat each other: the first that is there is taken. */
static void kernel_files(struct probe_ctx *p)
{
	static const char *const paths[] = { "/var/log/kern.log",    "/var/log/messages",
					     "/var/log/syslog",	     "/var/log/dmesg",
					     "/var/log/dmesg.log",   "/var/log/dmesg.txt",
					     "/var/log/journal.log", "/var/log/journal.txt" };
	struct fact *part = &p->s->parts.log;
	struct view text;
	size_t i;
	int e;

	for (i = 0; i < ARRAY_LEN(paths); i++) {
		e = logs_tail(p->root, p->a, paths[i], TAIL_MAX, &text);
		if (e == 0) {
			fact_flag(part, true, paths[i]);
			klog_events(p, text, KLOG_KERNEL, paths[i]);
			return;
		}
		if (e == -EACCES || e == -EPERM)
			fact_denied(part, paths[i], _("only root and the group adm may read it"));
	}
}

static void service_files(struct probe_ctx *p)
{
	static const char *const paths[] = { "/var/log/syslog", "/var/log/messages",
					     "/var/log/journal.log", "/var/log/journal.txt",
					     "/var/log/audit/audit.log",
					     "/var/log/fabricmanager.log" };
	struct view text;
	size_t i;

	for (i = 0; i < ARRAY_LEN(paths); i++)
		if (logs_tail(p->root, p->a, paths[i], TAIL_MAX, &text) == 0)
			klog_events(p, text, KLOG_SERVICE, paths[i]);
}

/*
 * The journal has a form of its own, and whoever is in the group adm or systemd-journal may read it
 * where the kernel's own buffer is closed to him. journalctl takes its time (50 ms and more), so it
 * is asked with --deep, and where the log alone can say why an installed driver is not loaded.
 */
static void journal(struct probe_ctx *p)
{
	static const char *const argv[] = { "/usr/bin/journalctl", "-k",
					    "-b",		   "-q",
					    "--no-pager",	   "--output=short-monotonic",
					    "--lines=5000",	   NULL };
	static const char source[] = "journalctl -k -b";
	const struct driver *d = &p->s->driver;
	struct fact *part = &p->s->parts.log;
	struct view text;

	if (!p->root->live || fact_known(part))
		return;
	if (!p->deep && !(fact_yes(&d->installed) && fact_no(&d->module_loaded) && p->s->n_gpus))
		return;
	if (run_text(p->a, argv, TAIL_MAX, JOURNAL_MS, &text) < 0 || !text.n)
		return;
	fact_flag(part, true, source);
	klog_events(p, text, KLOG_KERNEL, source);
}

static void run(struct probe_ctx *p)
{
	static const char live[] = "syslog(2)";
	struct view text;
	int e;

	if (!probe_is_running(p))
		return;
	e = p->root->live ? logs_kernel(p->a, TAIL_MAX, &text) : -ENOENT;
	if (e == 0) {
		fact_flag(&p->s->parts.log, true, live);
		klog_events(p, text, KLOG_KERNEL, live);
	} else {
		if (e == -EPERM)
			fact_denied(&p->s->parts.log, live,
				    _("only root may read the kernel log (sudo dmesg)"));
		kernel_files(p);
		journal(p);
	}
	service_files(p);
}

const struct probe probe_klog = { .name = "klog", .run = run };
