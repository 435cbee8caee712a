/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of fetch on stderr: one line that is rewritten on a terminal, plain lines elsewhere. */
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "cli/fetch_out.h"
#include "fetch/prefix.h"
#include "report/report.h"

enum { REWRITE_MS = 100, BAR = 24 };

static void say(const struct strbuf *b)
{
	/* Progress that cannot be shown is no reason to stop. */
	if (file_write_fd(STDERR_FILENO, "stderr", (struct view){ .p = b->s, .n = b->n }, NULL))
		return;
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void fetch_progress_init(struct fetch_progress *p, struct run *r)
{
	*p = (struct fetch_progress){ .r = r, .tty = isatty(STDERR_FILENO), .phase = -1 };
}

static const char *phase_name(enum fetch_phase phase)
{
	static const char *const names[] = {
		[FETCH_MANIFEST] = N_("reading"),
		[FETCH_DOWNLOAD] = N_("downloading"),
		[FETCH_VERIFY] = N_("verifying"),
		[FETCH_UNPACK] = N_("unpacking"),
	};

	return _(names[phase]);
}

void fetch_progress_end(struct fetch_progress *p)
{
	struct arena *a;
	struct strbuf b;

	if (!p->open)
		return;
	p->open = false;
	a = arena_new(NULL);
	strbuf_init(&b, a);
	strbuf_add(&b, "\r\033[K");
	say(&b);
	arena_free(a);
}

static void put_bar(struct fetch_progress *p, struct strbuf *b, uint64_t done, uint64_t total)
{
	long long ms = now_ms() - p->began;
	uint64_t rate = ms > 0 ? (done - p->first) * 1000 / (uint64_t)ms : 0;
	int i, full = total ? (int)(done * BAR / total) : 0;

	strbuf_add(b, " [");
	for (i = 0; i < BAR; i++)
		strbuf_addc(b, i < full ? '#' : '.');
	strbuf_printf(b, "] %3d%%  %.1f / %.1f MiB", total ? (int)(done * 100 / total) : 0,
		      (double)done / (1 << 20), (double)total / (1 << 20));
	if (rate)
		strbuf_printf(b, _("  %.1f MiB/s  %llu s left"), (double)rate / (1 << 20),
			      (unsigned long long)((total - done) / rate));
}

void fetch_progress(void *ctx, enum fetch_phase phase, const char *what, uint64_t done,
		    uint64_t total)
{
	struct fetch_progress *p = ctx;
	const char *slash = strrchr(what, '/');
	struct arena *a;
	struct strbuf b;
	long long now = now_ms();

	if (p->phase == (int)phase && (!p->tty || now - p->shown < REWRITE_MS))
		return;
	if (p->phase != (int)phase) {
		p->began = now;
		p->first = done;
	}
	p->phase = (int)phase;
	p->shown = now;
	a = arena_new(NULL);
	strbuf_init(&b, a);
	if (p->tty)
		strbuf_add(&b, "\r\033[K");
	strbuf_add(&b, phase_name(phase));
	if (!p->tty || !total) {
		strbuf_addc(&b, ' ');
		put_clean(&b, p->tty && slash ? slash + 1 : what);
	}
	if (!p->tty && total)
		strbuf_printf(&b, " (%.1f MiB)", (double)total / (1 << 20));
	if (p->tty && total)
		put_bar(p, &b, done, total);
	if (!p->tty)
		strbuf_addc(&b, '\n');
	p->open = p->tty;
	say(&b);
	arena_free(a);
}

void fetch_note(void *ctx, const char *text)
{
	struct fetch_progress *p = ctx;
	struct arena *a = arena_new(NULL);
	struct strbuf b;

	fetch_progress_end(p);
	strbuf_init(&b, a);
	strbuf_add(&b, "cuvet: ");
	put_clean(&b, text);
	strbuf_addc(&b, '\n');
	say(&b);
	p->phase = -1;
	arena_free(a);
}

/* A line of the terminal; "" when there is none, or when the run is to end. */
static void read_line(char *line, size_t size)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t n = 0;

	for (;;) {
		char c;

		line[n] = '\0';
		if (stop_check(NULL)) {
			line[0] = '\0';
			return;
		}
		if (poll(&in, 1, 200) <= 0)
			continue;
		if (read(STDIN_FILENO, &c, 1) != 1 || c == '\n')
			return;
		if (n + 1 < size)
			line[n++] = c;
	}
}

bool fetch_ask_licence(void *ctx, const struct fetch_item *item)
{
	struct fetch_progress *p = ctx;
	struct arena *a = arena_new(NULL);
	struct strbuf b;
	char line[16];

	fetch_progress_end(p);
	strbuf_init(&b, a);
	strbuf_printf(&b, _("%s %s comes under the licence \"%s\": "), item->name, item->version,
		      item->licence);
	put_clean(&b, item->licence_url);
	strbuf_add(&b, _("\nDo you accept it? [y/N] "));
	say(&b);
	arena_free(a);
	read_line(line, sizeof(line));
	return strcmp(line, "y") == 0 || strcmp(line, "Y") == 0 || strcmp(line, "yes") == 0;
}
