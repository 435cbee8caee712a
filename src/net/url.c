/* SPDX-License-Identifier: Apache-2.0 */
/* Which URLs may be asked for; asks for none. */
#include <string.h>

#include "net/http.h"

static bool scheme_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '+' || c == '-' || c == '.';
}

static struct view scheme_of(const char *url, struct view *ret_rest)
{
	struct view v = view_of(url);
	size_t n = 0;

	while (n < v.n && scheme_char(v.p[n]))
		n++;
	*ret_rest = view_skip(v, n);
	if (!n || !view_starts(*ret_rest, "://"))
		return (struct view){ .p = url, .n = 0 };
	*ret_rest = view_skip(*ret_rest, 3);
	return (struct view){ .p = url, .n = n };
}

bool http_is_url(const char *text)
{
	struct view rest;

	return scheme_of(text, &rest).n > 0;
}

/* "127.0.0.1", not "127.0.0.1.example.org". */
static bool is_127(struct view host)
{
	struct view part, rest = host;
	uint64_t n;
	int i;

	for (i = 0; i < 4; i++) {
		part = view_cut(rest, '.', &rest);
		if (!view_u64(part, 10, &n) || n > 255 || (i == 0 && n != 127))
			return false;
	}
	return !rest.n && host.p[host.n - 1] != '.';
}

static bool is_loopback(struct view authority)
{
	struct view host, port;

	if (view_starts(authority, "[::1]"))
		return authority.n == 5 || authority.p[5] == ':';
	host = view_cut(authority, ':', &port);
	return view_is_nocase(host, "localhost") || is_127(host);
}

static int allowed(const char *url, bool plain, struct err *err)
{
	struct view rest, scheme = scheme_of(url, &rest), authority = rest;
	size_t i;

	for (i = 0; url[i]; i++)
		if ((unsigned char)url[i] <= ' ' || (unsigned char)url[i] == 0x7F || url[i] == '\\')
			return err_set(err, ERR_USAGE, _("%.200s: not a URL"), url);
	for (i = 0; i < rest.n && !strchr("/?#", rest.p[i]); i++)
		;
	authority.n = i;
	if (!view_is_nocase(scheme, "https") && !view_is_nocase(scheme, "http"))
		return err_set(err, ERR_USAGE, _("%.200s: only https is spoken"), url);
	if (!authority.n)
		return err_set(err, ERR_USAGE, _("%.200s: names no host"), url);
	if (view_chr(authority, '@') >= 0)
		return err_set(err, ERR_USAGE,
			       _("a URL with a user name or password is not taken"));
	if (view_is_nocase(scheme, "https") || plain || is_loopback(authority))
		return 0;
	return err_set(err, ERR_USAGE,
		       _("%.200s: only https is spoken (http to this machine itself alone)"), url);
}

int http_allowed(const char *url, struct err *err)
{
	return allowed(url, false, err);
}

int http_allowed_plain(const char *url, struct err *err)
{
	return allowed(url, true, err);
}
