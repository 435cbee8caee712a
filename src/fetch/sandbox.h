/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the present process needs no more, given up for good: programs, sockets, other processes,
 * and every file but those that are open or lie below one folder. As far as the kernel offers it;
 * what it does not offer is not missed, since the limits of the unpacker hold without it.
 */
#ifndef FETCH_SANDBOX_H
#define FETCH_SANDBOX_H

/* `writable`: a folder in which files may still be made; -1: none. */
void sandbox_enter(int writable);

#endif
