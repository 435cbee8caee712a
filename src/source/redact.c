/* SPDX-License-Identifier: Apache-2.0 */
/* Consistent masking of users, hosts, addresses, UUIDs and secrets in every text of a snapshot. */
#include "source/redact.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "model/snapshot_json.h"
#include "source/cmdline.h"
#include "source/redact_names.h"

enum { UUID_LEN = 36, TOKEN_MIN = 20 };

struct redactor {
	struct arena *a;
	const char **uuids, **users, **hosts, **macs;
	size_t n_uuids, n_users, n_hosts, n_macs;
	const struct redact_names *names; /* of the whole text; NULL */
};

static bool is_uuid(const char *s)
{
	size_t i;

	for (i = 0; i < UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
			return false;
	}
	return !isxdigit((unsigned char)s[UUID_LEN]);
}

static size_t number(struct redactor *r, const char ***list, size_t *n, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (strlen((*list)[i]) == len && memcmp((*list)[i], s, len) == 0)
			return i + 1;
	*ARENA_APPEND(r->a, *list, *n) = arena_strndup(r->a, s, len);
	return *n;
}

/* "/home/ana/x" at p: the length of the name behind it, else 0. */
static size_t user_at(const char *text, const char *p, const char **ret_name)
{
	static const char *const homes[] = { "/home/",	      "/Users/",     "\\Users\\", "/users/",
					     "\\\\Users\\\\", "/run/media/", "/media/" };
	size_t i, n;

	/* "/mnt/c/Users/ana", "/data/home/ana": a folder of homes may lie anywhere. */
	if (p != text && p[-1] == '.')
		return 0;
	for (i = 0; i < ARRAY_LEN(homes); i++) {
		if (strncmp(p, homes[i], strlen(homes[i])) != 0)
			continue;
		*ret_name = p + strlen(homes[i]);
		n = strcspn(*ret_name, "/\\:;, \t\"'>");
		return n;
	}
	return 0;
}

static bool is_secret_prefix(const char *p)
{
	static const char *const prefixes[] = {
		"hf_",	     "ghp_",	  "gho_",   "ghs_",  "ghu_",  "github_pat_",
		"sk-",	     "AKIA",	  "ASIA",   "xoxb-", "xoxp-", "xapp-",
		"glpat-",    "pypi-",	  "nvapi-", "AIza",  "ya29.", "eyJ",
		"dckr_pat_", "wandb_v1_", "npm_",   "r8_",   "gsk_",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(prefixes); i++)
		if (strncmp(p, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static size_t token_at(const char *text, const char *p)
{
	size_t n = 0;

	if ((p != text && isalnum((unsigned char)p[-1])) || !is_secret_prefix(p))
		return 0;
	/* A JSON web token is three parts with dots between them. */
	while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-' ||
	       (p[n] == '.' && n && isalnum((unsigned char)p[n + 1])))
		n++;
	return n >= TOKEN_MIN ? n : 0;
}

/* "https://user:password@host": the length of "user:password" when p stands behind "//". */
static size_t credentials_at(const char *text, const char *p)
{
	size_t n;

	if (p < text + 3 || strncmp(p - 3, "://", 3) != 0)
		return 0;
	n = strcspn(p, "/@ \t\"'");
	return p[n] == '@' ? n : 0;
}

/* "password=x", "token: x", "Authorization: Bearer x", "Serial Number : 123": the length of x,
 * which begins at *ret. */
static size_t labelled_at(const char *text, const char *p, const char **ret)
{
	static const char *const labels[] = {
		"password",	 "passwd",	     "secret",
		"token",	 "api_key",	     "api-key",
		"apikey",	 "Bearer ",	     "Basic ",
		"Serial Number", "serial",	     "Host Name",
		"hostname",	 "Registered Owner", "Product ID",
		"access_key",	 "private_key",	     "SECRET_ACCESS_KEY",
		"LOGNAME",	 "SUDO_USER",	     "USERNAME",
		"nodename",	 "WANDB_API_KEY",    "board_serial",
		"GPU Serial",
	};
	size_t i, n;

	if (p != text && isalnum((unsigned char)p[-1]))
		return 0;
	for (i = 0; i < ARRAY_LEN(labels); i++) {
		n = strlen(labels[i]);
		if (strncasecmp(p, labels[i], n) != 0)
			continue;
		if (labels[i][n - 1] != ' ') {
			n += strspn(p + n, "\"' \t");
			if (p[n] != '=' && p[n] != ':')
				return 0;
			n += strspn(p + n, "=: \t\"'");
		}
		*ret = p + n;
		n = strcspn(*ret, " \t\"',;&");
		return n >= 4 && strncmp(*ret, "[N/A]", 5) != 0 && strncmp(*ret, "REDACTED", 8) != 0
			       ? n
			       : 0;
	}
	return 0;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-' || c == '+';
}

/* "ana@gpu01:~$", "ana@example.org": both sides. "image@sha256:..." and "torch @ git+" are none. */
static size_t at_sign(const char *text, const char *p, size_t *ret_user)
{
	size_t n = 0, k;

	if (p != text && in_name(p[-1]))
		return 0;
	while (in_name(p[n]))
		n++;
	if (!n || n > 64 || p[n] != '@' || !isalnum((unsigned char)p[n + 1]))
		return 0;
	*ret_user = n;
	k = n + 1;
	while (in_name(p[k]))
		k++;
	if (strncmp(p + n + 1, "sha256", 6) == 0 || k - n > 128)
		return 0;
	while (p[k - 1] == '.')
		k--;
	return k;
}

/*
 * An IPv4 address, where something says that it is one: versions have four parts too. A port behind
 * it, a private range of 192.168, "//", "@" or a word in front.
 */
static size_t ipv4_at(const char *text, const char *p)
{
	static const char *const before[] = { "://", "@",   "inet ", "host ", "from ",	"addr:",
					      "ip ", "IP ", "ip=",   "host=", "rank0 ", "tcp://" };
	size_t i, n = 0, dots = 0;
	const char *q = p;

	if (!isdigit((unsigned char)*p) || (p != text && (in_name(p[-1]) || p[-1] == '=')))
		return 0;
	while (isdigit((unsigned char)q[n]) || (q[n] == '.' && isdigit((unsigned char)q[n + 1]))) {
		dots += q[n] == '.';
		n++;
	}
	if (dots != 3 || n < 7 || n > 15 || strncmp(p, "0.0.0.0", 7) == 0 ||
	    strncmp(p, "127.", 4) == 0)
		return 0;
	if (strncmp(p, "192.168.", 8) == 0 || (q[n] == ':' && isdigit((unsigned char)q[n + 1])))
		return n;
	for (i = 0; i < ARRAY_LEN(before); i++) {
		size_t k = strlen(before[i]);

		if ((size_t)(p - text) >= k && strncmp(p - k, before[i], k) == 0)
			return n;
	}
	return 0;
}

/* "02:42:ac:11:00:02": six pairs of hexadecimal digits. */
static size_t mac_at(const char *text, const char *p)
{
	size_t i;

	if (p != text && (isalnum((unsigned char)p[-1]) || p[-1] == ':' || p[-1] == '.'))
		return 0;
	for (i = 0; i < 17; i++)
		if (i % 3 == 2 ? p[i] != ':' : !isxdigit((unsigned char)p[i]))
			return 0;
	return isalnum((unsigned char)p[17]) || p[17] == ':' ? 0 : 17;
}

/* "fe80::1ff:fe23:4567:890a", "[2001:db8::1]:29500": hexadecimal groups with a "::" or eight of
 * them. */
static size_t ipv6_at(const char *text, const char *p)
{
	size_t n = 0, groups = 0, doubled = 0, letters = 0;

	if ((p != text && (in_name(p[-1]) || p[-1] == ':')) || !isxdigit((unsigned char)*p))
		return 0;
	while (isxdigit((unsigned char)p[n]) || p[n] == ':') {
		letters += isalpha((unsigned char)p[n]) != 0;
		if (p[n] == ':' && p[n + 1] == ':')
			doubled++;
		else if (p[n] == ':')
			groups++;
		n++;
	}
	while (n && p[n - 1] == ':')
		n--;
	if (in_name(p[n]) && p[n] != '.')
		return 0;
	/* "std::a" is a name, "12:34:56" a time: a pair of colons alone proves nothing. */
	return n >= 6 && ((doubled == 1 && groups >= 1) || (groups == 7 && letters)) && n <= 39 ? n
												: 0;
}

/* A name that the text showed to be one, standing by itself. */
static size_t name_at(const struct redactor *r, const char *text, const char *p, bool *ret_host)
{
	size_t n = 0;

	if (!r->names || (p != text && in_name(p[-1])) || !isalnum((unsigned char)*p))
		return 0;
	while (in_name(p[n]) && p[n] != '+')
		n++;
	while (n && (p[n - 1] == '.' || p[n - 1] == '-'))
		n--;
	return redact_names_have(r->names, (struct view){ .p = p, .n = n }, ret_host) ? n : 0;
}

static const char *rewrite(void *ctx, const char *text)
{
	struct redactor *r = ctx;
	const char *p = text, *name = NULL;
	struct strbuf b;
	size_t n, user = 0;
	bool host = false;

	strbuf_init(&b, r->a);
	while (*p) {
		if (strlen(p) >= UUID_LEN && is_uuid(p)) {
			strbuf_printf(&b, "00000000-0000-0000-0000-%012zu",
				      number(r, &r->uuids, &r->n_uuids, p, UUID_LEN));
			p += UUID_LEN;
		} else if ((n = user_at(text, p, &name)) != 0) {
			strbuf_addn(&b, p, (size_t)(name - p));
			strbuf_printf(&b, "user%zu", number(r, &r->users, &r->n_users, name, n));
			p = name + n;
		} else if ((n = token_at(text, p)) != 0 || (n = credentials_at(text, p)) != 0) {
			strbuf_add(&b, "REDACTED");
			p += n;
		} else if ((n = labelled_at(text, p, &name)) != 0) {
			strbuf_addn(&b, p, (size_t)(name - p));
			strbuf_add(&b, "REDACTED");
			p = name + n;
		} else if ((n = at_sign(text, p, &user)) != 0) {
			strbuf_printf(
				&b, "user%zu@host%zu", number(r, &r->users, &r->n_users, p, user),
				number(r, &r->hosts, &r->n_hosts, p + user + 1, n - user - 1));
			p += n;
		} else if ((n = mac_at(text, p)) != 0) {
			strbuf_printf(&b, "mac%zu", number(r, &r->macs, &r->n_macs, p, n));
			p += n;
		} else if ((n = name_at(r, text, p, &host)) != 0) {
			strbuf_printf(&b, host ? "host%zu" : "user%zu",
				      host ? number(r, &r->hosts, &r->n_hosts, p, n)
					   : number(r, &r->users, &r->n_users, p, n));
			p += n;
		} else if ((n = ipv4_at(text, p)) != 0 || (n = ipv6_at(text, p)) != 0) {
			strbuf_printf(&b, "ip%zu", number(r, &r->hosts, &r->n_hosts, p, n));
			p += n;
		} else {
			strbuf_addc(&b, *p++);
		}
	}
	return strcmp(b.s, text) == 0 ? text : b.s;
}

void source_redact(struct arena *a, struct snapshot *s)
{
	source_redact_text(a, s, (struct view){ 0 });
}

void source_redact_text(struct arena *a, struct snapshot *s, struct view text)
{
	struct redact_names *names = redact_names_of(a, text);
	struct redactor r = { .a = a, .names = names };
	size_t i, k;

	/* A user may be called as a package is; facts need the package. */
	for (i = 0; i < s->n_pythons; i++)
		for (k = 0; k < s->pythons[i].n_packages; k++)
			redact_names_drop(names, fact_value(&s->pythons[i].packages[k].name, ""));

	if (fact_known(&s->host.cmdline))
		s->host.cmdline.value = cmdline_kept(a, s->host.cmdline.value);
	snapshot_rewrite(s, rewrite, &r);
}

const char *source_redact_line(struct arena *a, const char *line)
{
	struct redactor r = { .a = a };

	return rewrite(&r, line);
}
