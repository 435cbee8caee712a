/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that turn answers of the driver into facts, whether they came live or from a file. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/errname.h"
#include "base/json.h"
#include "base/signame.h"
#include "model/version.h"
#include "probe/driver.h"

void driver_take_text(struct driver_text *t, int code, const char *buf, size_t size)
{
	size_t n;

	t->code = code;
	if (code)
		return;
	n = strnlen(buf, size);
	if (n == 0 || n == size || n >= sizeof(t->s)) {
		t->code = CODE_GARBAGE;
		return;
	}
	memcpy(t->s, buf, n + 1);
}

void driver_seal(struct dl_report *r, struct driver_text *t, size_t n)
{
	size_t i;

	if (r) {
		r->text[sizeof(r->text) - 1] = '\0';
		r->path[sizeof(r->path) - 1] = '\0';
	}
	for (i = 0; i < n; i++)
		t[i].s[sizeof(t[i].s) - 1] = '\0';
}

static const char *signal_name(struct arena *a, int sig)
{
	const char *name = signame(sig);

	if (*name != '?')
		return arena_printf(a, "SIG%s", name);
	return arena_printf(a, _("signal %d"), sig);
}

static const char *call_name(const struct driver_call *c)
{
	int32_t at = c->progress->call;

	if (at < 0)
		return "dlopen";
	return (size_t)at < c->n_names ? c->names[at] : "the library";
}

static const char *hung(struct arena *a, const char *call, long deadline_ms, bool left)
{
	bool whole = deadline_ms % 1000 == 0;
	const char *text = arena_printf(a,
					whole ? _("hung: no answer within %ld s from %s")
					      : _("hung: no answer within %ld ms from %s"),
					whole ? deadline_ms / 1000 : deadline_ms, call);

	/* Only the kernel can hold a process that was killed. */
	return left ? arena_printf(a, _("%s; no signal ends it, it waits inside the kernel"), text)
		    : text;
}

const char *driver_failure(struct arena *a, const struct driver_call *c, long deadline_ms)
{
	const char *call = call_name(c);

	switch (c->result.end) {
	case CHILD_ANSWERED:
		return NULL;
	case CHILD_HUNG:
		return hung(a, call, deadline_ms, c->result.left);
	case CHILD_CRASHED:
		return arena_printf(a, _("%s inside %s"), signal_name(a, c->result.detail), call);
	case CHILD_FAILED:
		return arena_printf(a, _("no process could be started: %s"),
				    errname(c->result.detail));
	case CHILD_EXITED:
		break;
	}
	if (c->result.detail < 0)
		return arena_printf(a, _("answered in no known form after %s"), call);
	return arena_printf(a, _("the process ended with status %d inside %s"), c->result.detail,
			    call);
}

/* Where the file that answered lies belongs to the source: another copy may answer otherwise. */
static const char *init_source(struct probe_ctx *p, const struct driver_call *c,
			       const struct dl_report *library)
{
	bool answered = c->result.end == CHILD_ANSWERED;
	const char *path = answered && library->path[0] ? library->path : c->ask.library;

	return arena_printf(p->a, "%s (%s)", c->names[0], path);
}

static bool library_fact(struct probe_ctx *p, struct fact *f, const struct driver_call *c,
			 const struct dl_report *library)
{
	const char *source = arena_printf(p->a, "dlopen %s", c->ask.library);

	switch (library->state) {
	case DL_LOADED:
		return true;
	case DL_ABSENT:
		fact_absent(f, source);
		f->why = arena_strdup(p->a, library->text);
		return false;
	case DL_LACKS:
		fact_broken(f, source,
			    arena_printf(p->a, _("the library has no %s"), library->text));
		return false;
	case DL_BROKEN:
		break;
	}
	fact_broken(f, source, arena_strdup(p->a, library->text));
	return false;
}

void driver_end_fact(struct fact *f, const struct driver_call *c, const struct dl_report *library)
{
	const char *word = NULL;

	switch (c->result.end) {
	case CHILD_ANSWERED:
		if (library->state == DL_LACKS || library->state == DL_BROKEN)
			word = "refused";
		break;
	case CHILD_HUNG:
		word = "hung";
		break;
	case CHILD_CRASHED:
		word = "crashed";
		break;
	case CHILD_EXITED:
		word = "exited";
		break;
	case CHILD_FAILED:
		break;
	}
	if (word)
		fact_set(f, word, call_name(c));
}

bool driver_init_fact(struct probe_ctx *p, struct fact *f, const struct driver_call *c,
		      const struct dl_report *library, const struct driver_number *init)
{
	const char *failure = driver_failure(p->a, c, p->calls->deadline_ms);
	const char *source = init_source(p, c, library);
	int64_t code = failure ? c->progress->init : init->n;

	if (failure && !c->progress->init_done) {
		fact_broken(f, source, failure);
		return false;
	}
	if (!failure && !library_fact(p, f, c, library))
		return false;
	if (code < 0 || code > 9999) {
		fact_broken(f, source,
			    arena_printf(p->a, _("%lld is no result of %s"), (long long)code,
					 c->names[0]));
		return false;
	}
	fact_int(p->a, f, code, source);
	return code == 0;
}

const char *driver_address(struct arena *a, const char *text)
{
	struct view rest = view_of(text), part;
	uint64_t domain, bus, dev, fn;

	part = view_cut(rest, ':', &rest);
	if (part.n < 4 || part.n > 8 || !view_u64(part, 16, &domain))
		return NULL;
	part = view_cut(rest, ':', &rest);
	if (part.n != 2 || !view_u64(part, 16, &bus))
		return NULL;
	part = view_cut(rest, '.', &rest);
	if (part.n != 2 || !view_u64(part, 16, &dev))
		return NULL;
	if (rest.n != 1 || !view_u64(rest, 16, &fn))
		return NULL;
	return arena_printf(a, "%04x:%02x:%02x.%x", (unsigned)domain, (unsigned)bus, (unsigned)dev,
			    (unsigned)fn);
}

struct gpu *driver_gpu(struct probe_ctx *p, const char *address, const char *source)
{
	struct snapshot *s = p->s;
	struct gpu *g;
	size_t i;

	for (i = 0; address && i < s->n_gpus; i++)
		if (fact_is(&s->gpus[i].address, address))
			return &s->gpus[i];
	g = ARENA_APPEND(p->a, s->gpus, s->n_gpus);
	if (address)
		fact_set(&g->address, address, source);
	return g;
}

const char *driver_compute_mode(int64_t mode)
{
	static const char *const names[] = { "Default", "Exclusive_Thread", "Prohibited",
					     "Exclusive_Process" };

	return mode >= 0 && mode < (int64_t)ARRAY_LEN(names) ? names[mode] : NULL;
}

static bool is_wsl(const struct snapshot *s)
{
	return fact_is(&s->host.system, "wsl2") || fact_is(&s->host.system, "wsl1");
}

void driver_version_facts(struct probe_ctx *p, const char *version, const char *source)
{
	struct driver *d = &p->s->driver;

	fact_set(&d->nvml_driver, version, source);
	if (is_wsl(p->s))
		fact_set(&d->windows_driver, version, source);
	if (!fact_known(&d->version))
		fact_set(&d->version, version, source);
}

void driver_ceiling_fact(struct probe_ctx *p, int64_t number, const char *source)
{
	struct fact *f = &p->s->driver.cuda_ceiling;

	if (number >= 1000 && number <= 99999)
		fact_set(f, version_of_cuda_number(p->a, (long)number), source);
	else if (!fact_known(f))
		fact_broken(f, source,
			    arena_printf(p->a, _("%lld is no CUDA version"), (long long)number));
}
