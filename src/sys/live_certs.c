/* SPDX-License-Identifier: Apache-2.0 */
/* The usual places of CA certificates. Nothing is opened here. */
#include "sys/live_certs.h"

#include <unistd.h>

#include "base/attr.h"

static const char *first(const char *const *paths, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (access(paths[i], R_OK) == 0)
			return paths[i];
	return NULL;
}

const char *live_certs_file(void)
{
	static const char *const paths[] = {
		"/etc/ssl/certs/ca-certificates.crt",		     /* Debian, Arch, Alpine */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL 7 and newer */
		"/etc/pki/tls/certs/ca-bundle.crt",		     /* older RHEL */
		"/etc/ssl/ca-bundle.pem",			     /* SUSE */
		"/etc/ssl/cert.pem",				     /* OpenSSL's own name */
	};

	return first(paths, ARRAY_LEN(paths));
}

const char *live_certs_dir(void)
{
	static const char *const paths[] = { "/etc/ssl/certs", "/etc/pki/tls/certs" };

	return first(paths, ARRAY_LEN(paths));
}
