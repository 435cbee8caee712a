/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-smi's longer forms: -q (text and XML) and --query-gpu in CSV. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/regex.h"
#include "triage/paste.h"
#include "triage/sign.h"
#include "triage/smi.h"

void smi_narrow(struct paste *p, struct gpu *g, size_t line)
{
	const char *name = fact_value(&g->name, "");
	double gib = strtod(fact_value(&g->memory_mib, "0"), NULL) / 1024;
	const struct gpu_row *only = NULL;
	struct gpu_match m;
	int cc = 0;
	size_t i;

	if (!view_ends(view_of(name), "...") || gib <= 0)
		return;
	compat_gpu_find(p->c, name, &m);
	for (i = 0; i < m.n; i++) {
		/* Drivers show a little less than what is on the board. */
		if (m.rows[i]->memory_gib <= 0 || gib > m.rows[i]->memory_gib * 1.03 ||
		    gib < m.rows[i]->memory_gib * 0.9)
			continue;
		only = only && strcmp(only->name, m.rows[i]->name) != 0 ? NULL : m.rows[i];
		cc = !cc || cc == m.rows[i]->cc ? m.rows[i]->cc : -1;
	}
	if (only && cc > 0)
		fact_set(&g->name, only->name, g->name.source);
	if (cc > 0 && !fact_known(&g->compute_capability))
		fact_set(&g->compute_capability, arena_printf(p->a, "%d.%d", cc / 10, cc % 10),
			 paste_source(p, line));
}

/* -------- what both forms say of one GPU */

enum what {
	GPU_NAME,
	GPU_CC,
	GPU_MEMORY,
	GPU_UUID,
	GPU_MIG,
	GPU_COMPUTE_MODE,
	GPU_DRIVER_MODEL,
	GPU_DRIVER,
	GPU_CEILING,
	GPU_INDEX,
	GPU_ADDRESS,
	GPU_LICENSE,
	GPU_FABRIC,
	GPU_REMAP,
	GPU_VIRTUALIZATION,
	GPU_PERSISTENCE,
	GPU_PCI_ID,
	GPU_RETIRED,
	GPU_ECC,
	GPU_RETIRE_PENDING,
	GPU_REMAP_FAILED,
	GPU_OTHER,
};

static void put(struct paste *p, struct fact *f, const char *value, size_t i)
{
	if (!fact_known(f))
		fact_set(f, value, paste_source(p, i));
}

static const char *word(struct paste *p, struct view v)
{
	char *s = view_dup(p->a, v);
	size_t i;

	for (i = 0; s[i]; i++)
		s[i] = s[i] == ' ' || s[i] == '_'   ? '-'
		       : s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] + 32)
						    : s[i];
	return s;
}

static void take_mode(struct paste *p, struct gpu *g, enum what what, struct view v, size_t i)
{
	switch (what) {
	case GPU_MIG:
		put(p, &g->mig_mode, view_starts(v, "Enabled") ? "enabled" : "disabled", i);
		if (view_starts(v, "Enabled"))
			sign_add(p, "mig-on", i, v);
		break;
	case GPU_COMPUTE_MODE:
		put(p, &g->compute_mode, view_dup(p->a, v), i);
		if (!view_starts(v, "Default"))
			sign_add(p, "exclusive", i, v);
		break;
	case GPU_DRIVER_MODEL:
		if (view_is(v, "WDDM") || view_is(v, "TCC") || view_is(v, "MCDM"))
			paste_fact(p, "host.system", VIEW("windows"), i);
		break;
	case GPU_LICENSE:
		put(p, &g->license, view_starts(v, "Licensed") ? "licensed" : "unlicensed", i);
		break;
	case GPU_FABRIC:
		put(p, &g->fabric,
		    view_starts(v, "Completed")	    ? "completed"
		    : view_starts(v, "In Progress") ? "in-progress"
		    : view_starts(v, "Not")	    ? "not-started"
						    : "none",
		    i);
		break;
	case GPU_REMAP:
		put(p, &g->row_remap, view_starts(v, "Yes") ? "pending" : "none", i);
		if (view_starts(v, "Yes") || view_is(v, "1"))
			sign_add(p, "remap-pending", i, v);
		break;
	case GPU_REMAP_FAILED:
		if (view_starts(v, "Yes") || view_is(v, "1"))
			sign_add(p, "remap-failed", i, v);
		break;
	case GPU_RETIRE_PENDING:
		if (view_starts(v, "Yes"))
			sign_add(p, "remap-pending", i, v);
		break;
	case GPU_ECC:
		if (paste_match(p, "^[1-9]\\d*$", v, NULL))
			sign_add(p, "ecc-counted", i, v);
		break;
	case GPU_VIRTUALIZATION:
		put(p, &g->virtualization,
		    view_starts(v, "Pass")	  ? "passthrough"
		    : view_starts(v, "VGPU")	  ? "vgpu"
		    : view_starts(v, "Host VGPU") ? "host-vgpu"
		    : view_starts(v, "Host VSGA") ? "host-vsga"
						  : "none",
		    i);
		break;
	case GPU_PERSISTENCE:
		put(p, &g->persistence, view_starts(v, "Enabled") ? "yes" : "no", i);
		break;
	default:
		break;
	}
}

static void take(struct paste *p, struct gpu *g, enum what what, struct view v, size_t i)
{
	struct regex_match m;

	/* "[N/A]", "[Not Supported]", "N/A" say nothing. */
	if (!v.n || v.p[0] == '[' || view_is(v, "N/A") || view_starts(v, "Unknown"))
		return;
	if (what == GPU_DRIVER)
		paste_fact(p, "driver.version", v, i);
	else if (what == GPU_CEILING)
		paste_fact(p, "driver.ceiling", v, i);
	if (!g)
		return;
	if (what == GPU_CC && paste_match(p, "^\\d{1,2}\\.\\d$", v, NULL))
		put(p, &g->compute_capability, view_dup(p->a, v), i);
	else if (what == GPU_MEMORY && paste_match(p, "^(\\d+)\\s*(?:MiB)?$", v, &m)) {
		put(p, &g->memory_mib, view_dup(p->a, m.group[1]), i);
		smi_narrow(p, g, i);
	} else if (what == GPU_UUID && view_starts(v, "GPU-")) {
		put(p, &g->uuid, view_dup(p->a, v), i);
	} else if (what == GPU_PCI_ID && paste_match(p, "^0x([0-9A-F]{4})10DE$", v, &m)) {
		put(p, &g->pci_id,
		    word(p, view_of(arena_printf(p->a, "10de:%s", view_dup(p->a, m.group[1])))), i);
	} else {
		take_mode(p, g, what, v, i);
	}
}

/* -------- nvidia-smi -q */

struct key {
	const char *name;  /* as -q writes it; in XML lower case with '_' */
	const char *under; /* the heading above it, NULL: none is needed */
	enum what what;
};

static const struct key keys[] = {
	{ .name = "Driver Version", .what = GPU_DRIVER },
	{ .name = "KMD Version", .what = GPU_DRIVER },
	{ .name = "CUDA Version", .what = GPU_CEILING },
	{ .name = "CUDA UMD Version", .what = GPU_CEILING },
	{ .name = "Product Name", .what = GPU_NAME },
	{ .name = "GPU UUID", .what = GPU_UUID },
	{ .name = "uuid", .what = GPU_UUID },
	{ .name = "Compute Mode", .what = GPU_COMPUTE_MODE },
	{ .name = "Persistence Mode", .what = GPU_PERSISTENCE },
	{ .name = "Current", .under = "MIG Mode", .what = GPU_MIG },
	{ .name = "current_mig", .what = GPU_MIG },
	{ .name = "Current", .under = "Driver Model", .what = GPU_DRIVER_MODEL },
	{ .name = "current_dm", .what = GPU_DRIVER_MODEL },
	{ .name = "Total", .under = "FB Memory Usage", .what = GPU_MEMORY },
	{ .name = "License Status", .what = GPU_LICENSE },
	{ .name = "State", .under = "Fabric", .what = GPU_FABRIC },
	{ .name = "Pending", .under = "Remapped Rows", .what = GPU_REMAP },
	{ .name = "Virtualization Mode", .what = GPU_VIRTUALIZATION },
	{ .name = "Device Id", .what = GPU_PCI_ID },
	{ .name = "pci_device_id", .what = GPU_PCI_ID },
};

static bool key_is(struct view v, const char *name)
{
	size_t i;

	if (v.n != strlen(name))
		return false;
	for (i = 0; i < v.n; i++) {
		char c = name[i], x = v.p[i];

		if (x == '_')
			x = ' ';
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 32);
		if (x >= 'A' && x <= 'Z')
			x = (char)(x + 32);
		if (x != (c == '_' ? ' ' : c))
			return false;
	}
	return true;
}

/* The nearest line above without a value: "MIG Mode". */
static bool below_heading(struct paste *p, size_t i, const char *heading)
{
	size_t back;

	for (back = 1; back <= 12 && back <= i; back++) {
		struct view s = p->t.lines[i - back].s;

		if (view_chr(s, ':') < 0)
			return view_is(s, heading);
	}
	return false;
}

/* Is this within "nvidia-smi -q"?  Its GPUs begin with "GPU 00000000:01:00.0". */
static bool in_log(struct paste *p, size_t i)
{
	size_t back;

	if (!paste_may_look(p))
		return false;
	for (back = 1; back <= 400 && back <= i; back++)
		if (view_find(p->t.lines[i - back].s, "NVSMI LOG") >= 0 ||
		    view_find(p->t.lines[i - back].s, "nvidia_smi_log") >= 0 ||
		    view_starts(p->t.lines[i - back].s, "Attached GPUs"))
			return true;
	return paste_under(p, i, "nvidia-smi -q") || paste_under(p, i, "nvidia-smi -a");
}

/* The GPU that "GPU 0000...:01:00.0" above named. */
static struct gpu *current(struct paste *p, size_t i)
{
	struct regex_match m;
	size_t back;

	for (back = 1; back <= 300 && back <= i; back++)
		if (paste_match(p,
				"^(?:GPU |<gpu id=\")([0-9A-F]{4,8}:[0-9A-F]{2}:[0-9A-F]{2}\\.\\d)",
				p->t.lines[i - back].s, &m))
			return paste_listed_gpu(p, (struct view){ 0 }, (struct view){ 0 },
						m.group[1], i - back);
	return NULL;
}

static void named(struct paste *p, const struct key *k, struct view v, size_t i)
{
	struct gpu *g = k->what == GPU_DRIVER || k->what == GPU_CEILING ? NULL : current(p, i);

	if (k->what == GPU_NAME && g) {
		sign_add(p, "smi-gpu", i, v);
		if (!fact_known(&g->name) || view_ends(view_of(g->name.value), "..."))
			fact_set(&g->name, view_dup(p->a, v), paste_source(p, i));
		return;
	}
	take(p, g, k->what, v, i);
}

/* "    Product Name    : Tesla T4", "<product_name>Tesla T4</product_name>". */
static void log_line(struct paste *p, struct view s, size_t i)
{
	struct regex_match m;
	size_t k;

	if (!paste_match(p, "^([A-Za-z][\\w /]{2,30}?)\\s*:\\s+(\\S.*)$", s, &m) &&
	    !paste_match(p, "^<(\\w{4,30})>([^<]+)</", s, &m))
		return;
	for (k = 0; k < ARRAY_LEN(keys); k++)
		if (key_is(m.group[1], keys[k].name) &&
		    (!keys[k].under || below_heading(p, i, keys[k].under)) && in_log(p, i)) {
			named(p, &keys[k], view_trim(m.group[2]), i);
			return;
		}
}

/* -------- CSV */

static const struct {
	const char *name;
	enum what what;
} columns[] = {
	{ "index", GPU_INDEX },
	{ "name", GPU_NAME },
	{ "gpu_name", GPU_NAME },
	{ "driver_version", GPU_DRIVER },
	{ "compute_cap", GPU_CC },
	{ "memory.total", GPU_MEMORY },
	{ "uuid", GPU_UUID },
	{ "gpu_uuid", GPU_UUID },
	{ "pci.bus_id", GPU_ADDRESS },
	{ "gpu_bus_id", GPU_ADDRESS },
	{ "mig.mode.current", GPU_MIG },
	{ "compute_mode", GPU_COMPUTE_MODE },
	{ "driver_model.current", GPU_DRIVER_MODEL },
	{ "persistence_mode", GPU_PERSISTENCE },
	{ "pci.device_id", GPU_PCI_ID },
	{ "ecc.errors.uncorrected.volatile.total", GPU_ECC },
	{ "ecc.errors.uncorrected.volatile.dram", GPU_ECC },
	{ "ecc.errors.uncorrected.volatile.device_memory", GPU_ECC },
	{ "retired_pages.pending", GPU_RETIRE_PENDING },
	{ "remapped_rows.pending", GPU_REMAP },
	{ "remapped_rows.failure", GPU_REMAP_FAILED },
};

enum { COLUMNS_MAX = 24 };

/* "name, driver_version, memory.total [MiB]": which column is what. 0 when it is no such list. */
static size_t read_columns(struct view list, enum what *ret)
{
	struct view one;
	size_t n = 0, known = 0, k;

	while (list.n && n < COLUMNS_MAX) {
		one = view_trim(view_cut(list, ',', &list));
		if (view_find(one, " [") > 0)
			one.n = (size_t)view_find(one, " [");
		ret[n] = GPU_OTHER;
		for (k = 0; k < ARRAY_LEN(columns); k++)
			if (view_is(one, columns[k].name)) {
				ret[n] = columns[k].what;
				known++;
			}
		n++;
	}
	return known ? n : 0;
}

/* The columns of the row: of the command, or of the line in front of the rows. */
static size_t columns_of(struct paste *p, size_t i, enum what *ret)
{
	const struct line *l = &p->t.lines[i];
	struct regex_match m;
	size_t back;

	if (l->by != NO_COMMAND &&
	    paste_match(p, "--query-gpu[= ]\"?([\\w.,]+)", line_cmd(&p->t.lines[l->by]), &m))
		return read_columns(m.group[1], ret);
	for (back = 1; back <= 16 && back <= i; back++) {
		struct view s = p->t.lines[i - back].s;

		if (view_chr(s, ',') < 0)
			return 0;
		if (view_find(s, "name") >= 0 && read_columns(s, ret))
			return read_columns(s, ret);
	}
	return 0;
}

static void csv_row(struct paste *p, struct view s, size_t i)
{
	enum what what[COLUMNS_MAX];
	struct view cells[COLUMNS_MAX], index = { 0 }, name = { 0 }, address = { 0 };
	size_t k, n = columns_of(p, i, what), got = 0;
	struct gpu *g;

	if (!n || view_find(s, "driver_version") >= 0)
		return;
	while (s.n && got < n)
		cells[got++] = view_trim(view_cut(s, ',', &s));
	if (got != n || s.n)
		return;
	for (k = 0; k < n; k++) {
		if (what[k] == GPU_NAME)
			name = cells[k];
		else if (what[k] == GPU_INDEX)
			index = cells[k];
		else if (what[k] == GPU_ADDRESS)
			address = cells[k];
	}
	if (name.n)
		sign_add(p, "smi-gpu", i, name);
	g = name.n || index.n || address.n ? paste_listed_gpu(p, index, name, address, i)
	    : p->s->n_gpus == 1		   ? &p->s->gpus[0]
					   : NULL;
	for (k = 0; k < n; k++)
		take(p, g, what[k], cells[k], i);
}

/* nvidia-smi says instead that it found none, or could not ask. */
static bool is_complaint(struct paste *p, struct view s)
{
	return s.n > 60 ||
	       paste_match(p, "fail|error|unable|not found|no devices|denied|fault|lost", s, NULL);
}

/* The answer to a question for one column: "535.183.01", "8.6". */
static void bare_answer(struct paste *p, struct view s, size_t i)
{
	enum what what[COLUMNS_MAX];

	if (columns_of(p, i, what) == 1 && !view_is(s, "driver_version") &&
	    !view_is(s, "compute_cap") && !view_is(s, "name")) {
		struct gpu *g = p->s->n_gpus ? &p->s->gpus[0] : NULL;

		if (what[0] == GPU_CC)
			paste_fact(p, "gpu.cc", s, i);
		else if (what[0] == GPU_NAME && !is_complaint(p, s)) {
			sign_add(p, "smi-gpu", i, s);
			(void)paste_listed_gpu(p, (struct view){ 0 }, s, (struct view){ 0 }, i);
		} else if (what[0] != GPU_NAME)
			take(p, g, what[0], s, i);
	}
}

static void smi_query_line(struct paste *p, size_t i)
{
	const struct line *l = &p->t.lines[i];
	struct view s = l->s;

	if (l->cmd_at || s.n > 400 || s.n < 3)
		return;
	if (view_chr(s, ',') > 0)
		csv_row(p, s, i);
	else if (paste_under(p, i, "--query-gpu"))
		bare_answer(p, s, i);
	else if (s.p[0] == '<' || view_find(s, ": ") > 0)
		log_line(p, s, i);
}

const struct extractor extract_smi_query = { .name = "smi_query", .line = smi_query_line };
