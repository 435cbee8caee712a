/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl by dlopen; no other file includes its headers, and nothing else goes to the network. */
#include "net/http.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "sys/dl.h"
#include "sys/live_certs.h"

#if __has_include(<curl/curl.h>)
/* Old names of options work with every version of the library; the new ones do not. */
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define CURL_API(ROW)                                            \
	ROW(global_init, curl_global_init)                       \
	ROW(global_cleanup, curl_global_cleanup)                 \
	ROW(init, curl_easy_init)                                \
	ROW(cleanup, curl_easy_cleanup)                          \
	ROW(reset, curl_easy_reset)                              \
	ROW(setopt, curl_easy_setopt)                            \
	ROW(getinfo, curl_easy_getinfo)                          \
	ROW(perform, curl_easy_perform)                          \
	ROW(strerror, curl_easy_strerror)                        \
	ROW(slist_append, curl_slist_append)                     \
	ROW(slist_free, curl_slist_free_all)

struct curl_api {
#define ROW(field, symbol) __typeof__(symbol) *field;
	CURL_API(ROW)
#undef ROW
};

struct http {
	struct arena *a;
	struct curl_api api;
	CURL *easy;
	struct strbuf body;
	size_t limit;
	bool too_big;
	char text[CURL_ERROR_SIZE];
};

static const struct dl_symbol symbols[] = {
#define ROW(field, symbol) DL_ROW(struct curl_api, field, symbol),
	CURL_API(ROW)
#undef ROW
};

enum {
	CONNECT_SECONDS = 10,
	STALL_SECONDS = 15,
	STALL_BYTES = 1024, /* a second */
	TOTAL_SECONDS = 600,
	REDIRECTS = 5,
	BUFFER = 256 << 10,
	BUFFER_LEAST = 1024,
	READS = 100,
	PASSED_MAX = 64 << 10,
};

static void http_close(void *p)
{
	struct http *h = p;

	h->api.cleanup(h->easy);
	h->api.global_cleanup();
}

int http_open(struct arena *a, struct http **ret, struct err *err)
{
	/* With OpenSSL, then with GnuTLS, under which name some systems have it alone. */
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	struct http *h = arena_alloc(a, sizeof(*h));
	struct dl_report r = { .state = DL_ABSENT };
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && r.state != DL_LOADED; i++)
		dl_load(names[i], symbols, ARRAY_LEN(symbols), &h->api, &r);
	if (r.state != DL_LOADED)
		return err_set(
			err, ERR_UNSUPPORTED,
			_("libcurl is not installed: install libcurl4, or name a file or a folder "
			  "in place of the URL"));
	if (h->api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, ERR_UNSUPPORTED, _("libcurl does not start"));
	h->a = a;
	h->easy = h->api.init();
	if (!h->easy) {
		h->api.global_cleanup();
		return err_set(err, ERR_UNSUPPORTED, _("libcurl does not start"));
	}
	arena_defer(a, http_close, h);
	*ret = h;
	return 0;
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct http *h = ctx;

	n *= size;
	if (h->body.n + n > h->limit) {
		h->too_big = true;
		return 0;
	}
	strbuf_addn(&h->body, p, n);
	return n;
}

/* The tool curl reads these variables; the library leaves that to its caller. */
static bool set_certificates(struct http *h)
{
	const char *file = getenv("CURL_CA_BUNDLE"), *dir = getenv("SSL_CERT_DIR");
	bool ok = true;

	if (!file || !*file)
		file = getenv("SSL_CERT_FILE");
#ifdef CUVET_LINKED
	/* The library that is linked in knows no place of its own. */
	if (!file || !*file)
		file = live_certs_file();
	if (!file && (!dir || !*dir))
		dir = live_certs_dir();
#endif
	if (file && *file)
		ok &= h->api.setopt(h->easy, CURLOPT_CAINFO, file) == CURLE_OK;
	if (dir && *dir)
		ok &= h->api.setopt(h->easy, CURLOPT_CAPATH, dir) == CURLE_OK;
	return ok;
}

/* True when every option was taken: one that is not could be the one that keeps to https. */
static bool set_options(struct http *h, const char *url)
{
	bool plain = strncasecmp(url, "http:", 5) == 0;
	CURL *e = h->easy;
	bool ok = true;

#define SET(option, value) (ok &= h->api.setopt(e, (option), (value)) == CURLE_OK)
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS, (long)(plain ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS));
	SET(CURLOPT_REDIR_PROTOCOLS, (long)CURLPROTO_HTTPS);
	SET(CURLOPT_FOLLOWLOCATION, 1L);
	SET(CURLOPT_MAXREDIRS, (long)REDIRECTS);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	SET(CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
	SET(CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
	SET(CURLOPT_TIMEOUT, (long)TOTAL_SECONDS);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_USERAGENT, "cuvet/" CUVET_VERSION);
	SET(CURLOPT_ERRORBUFFER, h->text);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, h);
	/* What is for this machine itself goes through no proxy. */
	if (plain)
		SET(CURLOPT_PROXY, "");
#undef SET
	return ok && set_certificates(h);
}

static const char *advice(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
		return _(
			"; without a network, download the file and its .sig elsewhere and use --from FILE");
	case CURLE_UNSUPPORTED_PROTOCOL:
		return _("; a redirect may lead to https alone");
	case CURLE_PEER_FAILED_VERIFICATION:
		return _("; CURL_CA_BUNDLE=FILE names the certificates of an own authority");
	default:
		return "";
	}
}

int http_get(struct http *h, const char *url, size_t limit, struct view *ret, struct err *err)
{
	CURLcode code;
	long status = 0;

	strbuf_init(&h->body, h->a);
	h->limit = limit;
	h->too_big = false;
	h->text[0] = '\0';
	h->api.reset(h->easy);
	if (!set_options(h, url))
		return err_set(err, ERR_UNSUPPORTED,
			       _("this libcurl does not do https as it is needed"));
	code = h->api.perform(h->easy);
	h->api.getinfo(h->easy, CURLINFO_RESPONSE_CODE, &status);
	if (h->too_big)
		return err_set(err, ERR_TOOBIG, _("%.300s: larger than the limit of %zu KiB"), url,
			       limit >> 10);
	if (code != CURLE_OK)
		return err_set(err, code == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_IO,
			       "%.300s: %.300s%s", url,
			       h->text[0] ? h->text : h->api.strerror(code), advice(code));
	if (status != 200)
		return err_set(err, ERR_IO, _("%.300s: the server answered %ld%s"), url, status,
			       status == 429 || status == 503 ? _(" (try again later)") : "");
	*ret = (struct view){ .p = h->body.s, .n = h->body.n };
	return 0;
}

/* -------- http_stream */

struct stream {
	struct http *h;
	const struct http_ask *ask;
	const struct http_taker *t;
	struct http_head head;
	bool head_given;
	size_t passed; /* of the body of a redirect */
	int failed; /* what the taker returned; *err is its */
	struct err *err;
};

static void keep(char *to, size_t size, struct view v)
{
	size_t i, n = v.n < size - 1 ? v.n : 0;

	for (i = 0; i < n; i++)
		if ((unsigned char)v.p[i] < ' ' || v.p[i] == 0x7F)
			n = 0;
	memcpy(to, v.p ? v.p : "", n);
	to[n] = '\0';
}

/* "bytes 100-999/1000" */
static void read_range(struct http_head *head, struct view v)
{
	struct view from, to, total;
	uint64_t a, b, n;

	if (!view_starts(v, "bytes "))
		return;
	from = view_cut(view_skip(v, 6), '-', &to);
	to = view_cut(to, '/', &total);
	if (!view_u64(from, 10, &a) || !view_u64(to, 10, &b) || !view_u64(total, 10, &n) ||
	    a > b || b >= n || n > INT64_MAX)
		return;
	head->range_from = (int64_t)a;
	head->range_total = (int64_t)n;
}

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct stream *s = ctx;
	struct view value, line = view_trim((struct view){ .p = p, .n = size * n }), name;
	uint64_t number;

	/* Each answer of a chain (proxy, 100, redirect) begins anew. */
	if (view_starts(line, "HTTP/"))
		s->head = (struct http_head){ .length = -1, .range_from = -1, .range_total = -1 };
	name = view_cut(line, ':', &value);
	value = view_trim(value);
	if (view_is_nocase(name, "etag"))
		keep(s->head.etag, sizeof(s->head.etag), value);
	else if (view_is_nocase(name, "last-modified"))
		keep(s->head.modified, sizeof(s->head.modified), value);
	else if (view_is_nocase(name, "content-encoding"))
		keep(s->head.encoding, sizeof(s->head.encoding), value);
	else if (view_is_nocase(name, "content-type"))
		keep(s->head.type, sizeof(s->head.type), value);
	else if (view_is_nocase(name, "content-range"))
		read_range(&s->head, value);
	else if (view_is_nocase(name, "content-length") && view_u64(value, 10, &number) &&
		 number <= INT64_MAX)
		s->head.length = (int64_t)number;
	return size * n;
}

static void give_head(struct stream *s)
{
	struct http *h = s->h;
	char *url = NULL;
	curl_off_t after = 0;

	if (s->head_given)
		return;
	s->head_given = true;
	h->api.getinfo(h->easy, CURLINFO_RESPONSE_CODE, &s->head.status);
	h->api.getinfo(h->easy, CURLINFO_EFFECTIVE_URL, &url);
	if (h->api.getinfo(h->easy, CURLINFO_RETRY_AFTER, &after) == CURLE_OK && after > 0)
		s->head.retry_after = after < 86400 ? (long)after : 86400;
	s->head.url = url ? arena_strdup(h->a, url) : s->ask->url;
	if ((s->head.status == 200 || s->head.status == 206) && s->t->head)
		s->failed = s->t->head(s->t->ctx, &s->head, s->err);
}

static size_t on_part(char *p, size_t size, size_t n, void *ctx)
{
	struct stream *s = ctx;

	give_head(s);
	n *= size;
	/* What comes with a redirect is passed over, so that curl says where it leads ... */
	if (!s->failed && s->head.status >= 300 && s->head.status < 400) {
		s->passed += n;
		return s->passed <= PASSED_MAX ? n : 0;
	}
	/* ... and what comes with an error is not taken; the connection is not kept. */
	if (s->failed || (s->head.status != 200 && s->head.status != 206))
		return 0;
	s->failed = s->t->body(s->t->ctx, p, n, s->err);
	return s->failed ? 0 : n;
}

static int on_tick(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct stream *s = ctx;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	if (!s->failed && s->t->tick)
		s->failed = s->t->tick(s->t->ctx, s->err);
	return s->failed != 0;
}

/* A rate is held by waiting between rounds of up to 100 reads, which must not hold too much. */
static long buffer_for(uint64_t rate)
{
	if (!rate || rate / READS >= BUFFER)
		return BUFFER;
	return rate / READS > BUFFER_LEAST ? (long)(rate / READS) : BUFFER_LEAST;
}

static bool set_stream(struct stream *s, const char *url, struct curl_slist *headers)
{
	const struct http_ask *ask = s->ask;
	CURL *e = s->h->easy;
	long floor = STALL_BYTES;
	bool ok = true;

	if (ask->limit_rate && ask->limit_rate / 2 < STALL_BYTES)
		floor = (long)(ask->limit_rate / 2 ? ask->limit_rate / 2 : 1);
#define SET(option, value) (ok &= s->h->api.setopt(e, (option), (value)) == CURLE_OK)
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	/* Redirects are followed here, since where one may lead depends on the host too. */
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_CONNECTTIMEOUT, ask->timeout_s);
	SET(CURLOPT_LOW_SPEED_LIMIT, floor);
	SET(CURLOPT_LOW_SPEED_TIME, ask->timeout_s);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_USERAGENT, "cuvet/" CUVET_VERSION);
	/* Refused while a buffer of an earlier try is there, which then has this size already. */
	(void)s->h->api.setopt(e, CURLOPT_BUFFERSIZE, buffer_for(ask->limit_rate));
	SET(CURLOPT_ERRORBUFFER, s->h->text);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, s);
	SET(CURLOPT_WRITEFUNCTION, on_part);
	SET(CURLOPT_WRITEDATA, s);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, on_tick);
	SET(CURLOPT_XFERINFODATA, s);
	SET(CURLOPT_HTTPHEADER, headers);
	if (ask->limit_rate)
		SET(CURLOPT_MAX_RECV_SPEED_LARGE, (curl_off_t)ask->limit_rate);
	if (ask->proxy)
		SET(CURLOPT_PROXY, ask->proxy);
	if (ask->from)
		SET(CURLOPT_RANGE,
		    arena_printf(s->h->a, "%llu-", (unsigned long long)ask->from));
	ok &= set_certificates(s->h);
	if (ask->ca_bundle) {
		SET(CURLOPT_CAINFO, ask->ca_bundle);
		/* Only what it names: not the system's authorities beside it. */
		SET(CURLOPT_CAPATH, NULL);
	}
#undef SET
	return ok;
}

static struct curl_slist *headers_of(struct stream *s)
{
	struct curl_slist *list = s->h->api.slist_append(NULL, "Accept-Encoding: identity");
	const char *line;

	if (!list || !s->ask->from || !s->ask->if_range || !*s->ask->if_range)
		return list;
	line = arena_printf(s->h->a, "If-Range: %s", s->ask->if_range);
	return s->h->api.slist_append(list, line) ? list : NULL;
}

static bool may_pass(CURLcode code, long connect_status)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_PARTIAL_FILE:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		/* A proxy that says no says no again. */
		return connect_status < 400 || connect_status >= 500;
	default:
		return false;
	}
}

static const char *stream_advice(CURLcode code, long connect_status)
{
	if (connect_status == 407)
		return _(
			"; the proxy wants a user and a password: --proxy http://USER:PASSWORD@HOST:PORT");
	if (code == CURLE_PEER_FAILED_VERIFICATION)
		return _("; --ca-bundle FILE names the certificates of an own authority");
	return "";
}

static enum http_end fault(struct stream *s, const char *url, CURLcode code)
{
	struct http *h = s->h;
	long status = s->head.status, through = 0;

	h->api.getinfo(h->easy, CURLINFO_HTTP_CONNECTCODE, &through);
	if (s->failed)
		return HTTP_STOPPED;
	if (s->head_given && status != 200 && status != 206) {
		bool again = status == 429 || status == 408 || status == 500 ||
			     (status >= 502 && status <= 504);

		err_set(s->err, ERR_IO, _("%.400s: the server answered %ld%s"), url, status,
			status == 407 ? stream_advice(CURLE_OK, 407) : "");
		return again ? HTTP_AGAIN : HTTP_NEVER;
	}
	err_set(s->err, code == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_IO,
		"%.400s: %.200s%s", url, h->text[0] ? h->text : h->api.strerror(code),
		stream_advice(code, through));
	return may_pass(code, through) ? HTTP_AGAIN : HTTP_NEVER;
}

static bool is_https(const char *url)
{
	return strncasecmp(url, "https:", 6) == 0;
}

/* May the redirect be followed? */
static int redirect_ok(struct stream *s, const char *from, const char *to)
{
	struct err e = { 0 };
	int r = s->ask->allow_http ? http_allowed_plain(to, &e) : http_allowed(to, &e);

	if (r)
		return err_set(s->err, ERR_IO,
			       _("%.300s: redirects to what is not taken: %.300s"), from, e.msg);
	if (is_https(from) && !is_https(to) && !s->ask->allow_http)
		return err_set(s->err, ERR_IO,
			       _("%.300s: redirects from https to plain http: %.300s"), from, to);
	return 0;
}

/* One request; *ret_next is where it redirects to, or NULL. */
static enum http_end one(struct stream *s, const char *url, const char **ret_next)
{
	struct http *h = s->h;
	struct curl_slist *headers = headers_of(s);
	char *next = NULL;
	CURLcode code;

	*ret_next = NULL;
	h->text[0] = '\0';
	h->api.reset(h->easy);
	s->head = (struct http_head){ .length = -1, .range_from = -1, .range_total = -1 };
	s->head_given = false;
	s->passed = 0;
	if (!headers || !set_stream(s, url, headers)) {
		h->api.slist_free(headers);
		err_set(s->err, ERR_UNSUPPORTED,
			_("this libcurl does not take the options that are needed (%.200s)"), url);
		return HTTP_NEVER;
	}
	code = h->api.perform(h->easy);
	h->api.slist_free(headers);
	h->api.setopt(h->easy, CURLOPT_HTTPHEADER, NULL);
	/* An empty body has not given its head yet. */
	if (code == CURLE_OK)
		give_head(s);
	if (!s->failed && s->head_given && s->head.status >= 300 && s->head.status < 400 &&
	    h->api.getinfo(h->easy, CURLINFO_REDIRECT_URL, &next) == CURLE_OK && next) {
		*ret_next = arena_strdup(h->a, next);
		return HTTP_WHOLE;
	}
	if (code == CURLE_OK && !s->failed && (s->head.status == 200 || s->head.status == 206))
		return HTTP_WHOLE;
	return fault(s, url, code);
}

enum http_end http_stream(struct http *h, const struct http_ask *ask, const struct http_taker *t,
			  struct http_head *ret_head, struct err *err)
{
	struct stream s = { .h = h, .ask = ask, .t = t, .err = err };
	const char *url = ask->url, *next;
	enum http_end end;
	int i;

	for (i = 0; i <= REDIRECTS; i++) {
		end = one(&s, url, &next);
		if (!next) {
			*ret_head = s.head;
			return end;
		}
		if (redirect_ok(&s, url, next))
			return HTTP_NEVER;
		url = next;
	}
	err_set(err, ERR_IO, _("%.400s: more than %d redirects, the last to %.300s"), ask->url,
		REDIRECTS, url);
	return HTTP_NEVER;
}

#else

int http_open(struct arena *a, struct http **ret, struct err *err)
{
	(void)a;
	(void)ret;
	return err_set(
		err, ERR_UNSUPPORTED,
		_("this cuvet was built without libcurl's headers: name a file or a folder in place of the URL"));
}

int http_get(struct http *h, const char *url, size_t limit, struct view *ret, struct err *err)
{
	(void)h;
	(void)url;
	(void)limit;
	(void)ret;
	return err_set(err, ERR_UNSUPPORTED, "%s", _(err_text(ERR_UNSUPPORTED)));
}

enum http_end http_stream(struct http *h, const struct http_ask *ask, const struct http_taker *t,
			  struct http_head *ret_head, struct err *err)
{
	(void)h;
	(void)ask;
	(void)t;
	(void)ret_head;
	err_set(err, ERR_UNSUPPORTED, "%s", _(err_text(ERR_UNSUPPORTED)));
	return HTTP_NEVER;
}

#endif
