/* SPDX-License-Identifier: Apache-2.0 */
/* data: the age of the tables, newer ones for this user, and the way back. */
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/jsonw.h"
#include "base/suggest.h"
#include "cli/opts.h"
#include "cli/present.h"
#include "compat/embedded.h"
#include "compat/installed.h"
#include "compat/validate.h"
#include "report/report.h"
#include "update/update.h"

enum { OLD_DAYS = 90, DAY_SECONDS = 86400 };

static const struct opt opt_from = {
	.name = "from",
	.kind = OPT_STRING,
	.arg = "URL|FILE",
	.offset = offsetof(struct options, from),
	.help = N_("the archive; its signature lies beside it, with .sig after its name"),
};
static const struct opt opt_allow_older = {
	.name = "allow-older",
	.kind = OPT_FLAG,
	.offset = offsetof(struct options, allow_older),
	.help = N_("install tables that are not newer, too"),
};
static const struct opt opt_trust_key = {
	.name = "trust-key",
	.kind = OPT_STRING,
	.arg = "FILE",
	.offset = offsetof(struct options, trust_key),
	.help = N_("verify with this public key (PEM) in place of the built-in one"),
};

struct status {
	struct run *r;
	struct compat *c;
	const struct data_origin *origin;
	const char *date;
	int64_t age; /* days; negative when the clock is before that day */
	struct installed_set *sets;
	size_t n;
};

/* Days from `date` to now by the clock of the system, in UTC. */
static int64_t age_of(const char *date)
{
	struct view rest = view_of(date), y, m;
	uint64_t year, month, day;
	struct tm tm = { 0 };
	time_t then, now = time(NULL);

	y = view_cut(rest, '-', &rest);
	m = view_cut(rest, '-', &rest);
	if (!compat_is_date(date, false) || !view_u64(y, 10, &year) || !view_u64(m, 10, &month) ||
	    !view_u64(rest, 10, &day))
		return 0;
	tm.tm_year = (int)year - 1900;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)day;
	then = timegm(&tm);
	return now >= then ? (now - then) / DAY_SECONDS
			   : -((then - now + DAY_SECONDS - 1) / DAY_SECONDS);
}

static void take_sets(struct status *s)
{
	_cleanup_fd_ int fd = -1;
	const char **names;
	size_t i;

	if (installed_open(s->r->a, &fd, NULL))
		return;
	names = installed_names(s->r->a, fd, &s->n);
	s->sets = arena_calloc(s->r->a, s->n + 1, sizeof(*s->sets));
	for (i = 0; i < s->n; i++)
		installed_set(s->r->a, fd, names[i], &s->sets[i]);
}

static bool in_use(const struct status *s, const struct installed_set *set)
{
	const char *path = s->origin->path;
	const char *slash = s->origin->kind == DATA_USER && path ? strrchr(path, '/') : NULL;

	return slash && strcmp(slash + 1, set->name) == 0;
}

static void put_json(const struct status *s, const struct update_result *done, struct strbuf *out)
{
	const char *const *t;
	struct jsonw w;
	size_t i;

	jsonw_init(&w, out, true);
	jsonw_object(&w);
	jsonw_kstr(&w, "schema", "cuvet.data/1");
	if (done)
		jsonw_kbool(&w, "changed", done->changed);
	jsonw_key(&w, "active");
	jsonw_object(&w);
	jsonw_kstr(&w, "date", s->date);
	jsonw_kstr(&w, "origin", data_kind_name(s->origin->kind));
	jsonw_kstr(&w, "path", s->origin->path);
	jsonw_kint(&w, "age_days", s->age);
	jsonw_kbool(&w, "old", s->age > OLD_DAYS);
	jsonw_key(&w, "tables");
	jsonw_array(&w);
	for (t = compat_tables(s->c); *t; t++) {
		jsonw_object(&w);
		jsonw_kstr(&w, "name", *t);
		jsonw_kint(&w, "rows", (int64_t)compat_count(s->c, *t));
		jsonw_kstr(&w, "date", compat_table_date(s->c, *t));
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	jsonw_key(&w, "embedded");
	jsonw_object(&w);
	jsonw_key(&w, "date");
	jsonw_view(&w, compat_embedded_date());
	jsonw_end_object(&w);
	jsonw_kstr(&w, "ignored", s->origin->ignored);
	jsonw_key(&w, "installed");
	jsonw_array(&w);
	for (i = 0; i < s->n; i++) {
		jsonw_object(&w);
		jsonw_kstr(&w, "name", s->sets[i].name);
		jsonw_kstr(&w, "date", s->sets[i].date);
		jsonw_kbool(&w, "active", in_use(s, &s->sets[i]));
		jsonw_kstr(&w, "from", s->sets[i].from);
		jsonw_kstr(&w, "key", s->sets[i].key);
		jsonw_kstr(&w, "unusable", s->sets[i].unusable);
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_end_object(&w);
	strbuf_addc(out, '\n');
}

static void put_age(const struct status *s, struct strbuf *out)
{
	if (s->age < 0)
		strbuf_printf(out,
			      _("age        none: the clock of this system is before that day\n"));
	else if (s->age > OLD_DAYS)
		strbuf_printf(
			out,
			_("age        %lld days: old; newer cards, drivers and releases are not known\n"
			  "           (`cuvet data update --from URL|FILE` installs newer tables)\n"),
			(long long)s->age);
	else
		strbuf_printf(out, _("age        %lld days\n"), (long long)s->age);
}

static void put_text(const struct status *s, struct strbuf *out)
{
	static const char *const origins[] = {
		[DATA_EMBEDDED] = N_("the program's own"),
		[DATA_USER] = N_("installed for this user"),
		[DATA_FOLDER] = N_("--data"),
	};
	const char *const *t;
	size_t i, tables = 0, rows = 0;

	for (t = compat_tables(s->c); *t; t++) {
		tables++;
		rows += compat_count(s->c, *t);
	}
	strbuf_printf(out, _("tables of  %s (%s)\n"), s->date, _(origins[s->origin->kind]));
	put_age(s, out);
	strbuf_printf(out, _("holding    %zu tables, %zu rows\n"), tables, rows);
	if (s->origin->path) {
		strbuf_add(out, _("from       "));
		put_clean(out, s->origin->path);
		strbuf_addc(out, '\n');
	}
	if (s->origin->ignored) {
		strbuf_add(out, _("installed tables are not used: "));
		put_clean(out, s->origin->ignored);
		strbuf_addc(out, '\n');
	}
	for (i = 0; i < s->n; i++) {
		strbuf_printf(out, _("installed  %s%s"), s->sets[i].name,
			      in_use(s, &s->sets[i]) ? _(" (in use)") : "");
		if (s->sets[i].from) {
			strbuf_add(out, _(", from "));
			put_clean(out, s->sets[i].from);
		}
		if (s->sets[i].key && strcmp(s->sets[i].key, "built-in") != 0) {
			strbuf_add(out, _(", verified with the key "));
			put_clean(out, s->sets[i].key);
		}
		strbuf_addc(out, '\n');
	}
}

/* `done`: what was just done, said before the state; NULL for the state alone. */
static int show_status(struct run *r, const struct update_result *done, const char *said)
{
	struct status s = { .r = r };
	struct strbuf out;
	struct err e;

	if (compat_open(r->a, r->o->data, &s.c, &e))
		return cli_fail(&e);
	s.origin = compat_origin(s.c);
	s.date = compat_date(s.c);
	s.age = age_of(s.date);
	take_sets(&s);
	strbuf_init(&out, r->a);
	if (r->o->json) {
		put_json(&s, done, &out);
	} else if (said) {
		put_clean(&out, said);
		strbuf_addc(&out, '\n');
	} else {
		put_text(&s, &out);
	}
	if (compat_error(s.c))
		return cli_fail(compat_error(s.c));
	return r->o->json ? cli_write(r, out.s, out.n) : present_page(r, out.s, out.n);
}

static int status(struct run *r)
{
	return show_status(r, NULL, NULL);
}

static int update(struct run *r)
{
	const struct update_options o = {
		.from = r->o->from,
		.trust_key = r->o->trust_key,
		.allow_older = r->o->allow_older,
	};
	struct update_result done;
	struct err e = { 0 };
	const char *said;

	if (!o.from) {
		err_set(&e, ERR_USAGE, _("data update: needs --from URL|FILE"));
		return cli_fail(&e);
	}
	if (update_install(r->a, &o, &done, &e))
		return cli_fail(&e);
	if (done.changed)
		said = arena_printf(r->a, _("installed the tables of %s in place of those of %s; "
					    "`cuvet data rollback` goes back"),
				    done.date, done.was);
	else
		said = arena_printf(r->a, _("nothing newer: the tables of %s are in use"),
				    done.was);
	return show_status(r, &done, said);
}

static int rollback(struct run *r)
{
	struct update_result done;
	struct err e = { 0 };

	if (update_rollback(r->a, &done, &e))
		return cli_fail(&e);
	return show_status(
		r, &done,
		done.date ? arena_printf(r->a, _("the tables of %s are in use again"), done.date)
			  : _("the program's own tables are in use again"));
}

static const struct {
	const char *name;
	int (*run)(struct run *r);
} verbs[] = {
	{ .name = "status", .run = status },
	{ .name = "update", .run = update },
	{ .name = "rollback", .run = rollback },
};

static int unknown(const char *name)
{
	const char *names[ARRAY_LEN(verbs) + 1] = { 0 }, *near;
	struct err e;
	size_t i;

	for (i = 0; i < ARRAY_LEN(verbs); i++)
		names[i] = verbs[i].name;
	near = suggest(name, names);
	if (near)
		err_set(&e, ERR_USAGE, _("data %.80s: did you mean %s?"), name, near);
	else
		err_set(&e, ERR_USAGE, _("data %.80s: must be one of status, update, rollback"),
			name);
	return cli_fail(&e);
}

static int run(struct run *r)
{
	const struct options *o = r->o;
	const char *verb = o->args.n ? o->args.v[0] : "status";
	struct err e;
	size_t i;

	if (present_formats(r))
		return EXIT_USAGE;
	for (i = 0; i < ARRAY_LEN(verbs) && strcmp(verbs[i].name, verb) != 0; i++)
		;
	if (i == ARRAY_LEN(verbs))
		return unknown(verb);
	if (o->args.n > 1) {
		err_set(&e, ERR_USAGE, _("data %s takes no operand: %.200s"), verb, o->args.v[1]);
		return cli_fail(&e);
	}
	if (verbs[i].run != update && (o->from || o->trust_key || o->allow_older)) {
		err_set(&e, ERR_USAGE,
			_("--from, --trust-key and --allow-older go with `data update`"));
		return cli_fail(&e);
	}
	if (verbs[i].run != status && o->data) {
		err_set(&e, ERR_USAGE,
			_("--data goes with `data status`; what is installed lies in one place"));
		return cli_fail(&e);
	}
	return verbs[i].run(r);
}

static const struct opt *const opts[] = { &opt_from, &opt_trust_key, &opt_allow_older, NULL };

extern const struct cmd cmd_data;
const struct cmd cmd_data = {
	.name = "data",
	.args = "[status|update|rollback]",
	.words = "status|update|rollback",
	.summary = N_("the age of the matrix; a newer, signed one for this user"),
	.details = N_(
		"status (what is done without a word): which tables are in use, of which day, how old, and what is "
		"installed. update: reads an archive and the Ed25519 signature beside it, verifies it with the "
		"public key built in, validates every table and installs them for this user below "
		"$XDG_DATA_HOME/cuvet/data (~/.local/share/cuvet/data). Archives that are older than what is in use are refused. "
		"rollback: goes back to the tables that were used before, at last to the program's own.\n"
		"\n"
		"Installed tables are used when they are newer than the program's own; --data DIR comes first, and "
		"with CUVET_NO_USER_DATA=1 in the environment they are not looked at. Only https is spoken (http to "
		"this machine itself), only when --from names a URL; HTTPS_PROXY, NO_PROXY, CURL_CA_BUNDLE and "
		"SSL_CERT_FILE are heeded.\n"
		"\n"
		"  cuvet data\n"
		"  cuvet data update --from https://example.org/cuvet-data.json\n"
		"  cuvet data update --from cuvet-data.json\n"
		"  cuvet data rollback\n"),
	.opts = opts,
	.run = run,
};
