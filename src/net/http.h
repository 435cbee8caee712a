/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a file over the network, when the user asked for it and never otherwise. https alone;
 * http for this machine's own loopback. The bytes are not to be trusted: their signature or hash
 * is.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/view.h"

struct arena;
struct http;

/* Does it begin with "SCHEME://"? */
bool http_is_url(const char *text);
/* May it be asked for at all? ERR_USAGE with the reason when not. */
int http_allowed(const char *url, struct err *err) ATTR_MUST;

/* Loads libcurl. ERR_UNSUPPORTED when there is none. */
int http_open(struct arena *a, struct http **ret, struct err *err) ATTR_MUST;
/*
 * The body that `url` answers with, at most `limit` bytes. Certificates are verified; proxies and
 * CA files by curl's variables (HTTPS_PROXY, NO_PROXY, CURL_CA_BUNDLE, SSL_CERT_FILE,
 * SSL_CERT_DIR). Gives up after 10 s without a connection, 15 s below 1 KiB/s, 10 min in all, 5
 * redirects, and on a redirect to anything but https. Anything but the status 200 is an error.
 */
int http_get(struct http *h, const char *url, size_t limit, struct view *ret,
	     struct err *err) ATTR_MUST;

/* -------- large files, in parts */

struct http_ask {
	const char *url;
	const char *ca_bundle; /* NULL: by curl's variables */
	const char *proxy;     /* NULL: by curl's variables */
	long timeout_s;	       /* without a connection, and below a floor of 1 KiB/s */
	uint64_t limit_rate;   /* bytes a second; 0: none */
	bool allow_http;       /* plain http to any host */
	uint64_t from;	       /* first byte that is wanted */
	const char *if_range;  /* only if this is still the file's ETag or date; NULL */
};

struct http_head {
	long status;
	char etag[256], modified[64], encoding[32], type[64]; /* "" when the server did not say */
	int64_t length;	     /* of this body; -1 */
	int64_t range_from, range_total; /* of Content-Range; -1 */
	long retry_after;    /* seconds; 0 */
	const char *url;     /* behind redirects */
};

/* The taker of an answer: each function returns 0, or -code with *err set, which ends it. */
struct http_taker {
	int (*head)(void *ctx, const struct http_head *head, struct err *err); /* 200 and 206 */
	int (*body)(void *ctx, const char *p, size_t n, struct err *err);
	int (*tick)(void *ctx, struct err *err); /* now and then, also when nothing comes */
	void *ctx;
};

enum http_end {
	HTTP_WHOLE,   /* the body ended as announced */
	HTTP_AGAIN,   /* a fault that may pass: *err says which; head.retry_after as asked */
	HTTP_NEVER,   /* one that will not */
	HTTP_STOPPED, /* the taker ended it */
};

/*
 * Asks once, following at most 5 redirects to where the same rules hold; from https never to http.
 * HTTP_WHOLE has status 200 or 206; anything else fails with *err set. No compression is asked for.
 */
enum http_end http_stream(struct http *h, const struct http_ask *ask, const struct http_taker *t,
			  struct http_head *ret_head, struct err *err);
/* As http_allowed, but takes plain http to any host. */
int http_allowed_plain(const char *url, struct err *err) ATTR_MUST;

#endif
