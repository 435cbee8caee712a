/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where this machine keeps the certificates of its authorities. Only a program with its own TLS
 * library has to look: a distribution's library knows the place.
 */
#ifndef SYS_LIVE_CERTS_H
#define SYS_LIVE_CERTS_H

/* The first bundle (PEM) of the usual places that can be read, or NULL. */
const char *live_certs_file(void);
/* The first folder of hashed certificates, or NULL. */
const char *live_certs_dir(void);

#endif
