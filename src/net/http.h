/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a file over the network, when the user named a URL and never otherwise. https alone; http
 * for this machine's own loopback. The bytes are not to be trusted: their signature is.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

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

#endif
