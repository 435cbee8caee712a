/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl by dlopen; no other file includes its headers, and nothing else goes to the network. */
#include "net/http.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/version.h"
#include "sys/dl.h"

#if __has_include(<curl/curl.h>)
/* Old names of options work with every version of the library; the new ones do not. */
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

struct curl_api {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_global_cleanup) *global_cleanup;
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__(curl_easy_reset) *reset;
	__typeof__(curl_easy_setopt) *setopt;
	__typeof__(curl_easy_getinfo) *getinfo;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_strerror) *strerror;
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

#define ROW(field, symbol) \
	{ .name = symbol, .offset = offsetof(struct curl_api, field), .required = true }

static const struct dl_symbol symbols[] = {
	ROW(global_init, "curl_global_init"),
	ROW(global_cleanup, "curl_global_cleanup"),
	ROW(init, "curl_easy_init"),
	ROW(cleanup, "curl_easy_cleanup"),
	ROW(reset, "curl_easy_reset"),
	ROW(setopt, "curl_easy_setopt"),
	ROW(getinfo, "curl_easy_getinfo"),
	ROW(perform, "curl_easy_perform"),
	ROW(strerror, "curl_easy_strerror"),
};

enum {
	CONNECT_SECONDS = 10,
	STALL_SECONDS = 15,
	STALL_BYTES = 1024, /* a second */
	TOTAL_SECONDS = 600,
	REDIRECTS = 5,
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
			_("libcurl is not installed: install libcurl4, or download the file and its "
			  ".sig and use --from FILE"));
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

#else

int http_open(struct arena *a, struct http **ret, struct err *err)
{
	(void)a;
	(void)ret;
	return err_set(
		err, ERR_UNSUPPORTED,
		_("this cuvet was built without libcurl's headers: download the file and its .sig and use --from FILE"));
}

int http_get(struct http *h, const char *url, size_t limit, struct view *ret, struct err *err)
{
	(void)h;
	(void)url;
	(void)limit;
	(void)ret;
	return err_set(err, ERR_UNSUPPORTED, "%s", _(err_text(ERR_UNSUPPORTED)));
}

#endif
