/*
 * lobby.h -- connections that wait until the head of their request is there.
 *
 * The server sees a connection only when it can answer it at once, so a client that sends nothing, or half of a
 * request, takes a file descriptor and nothing else. A client whose first byte is not a letter, as that of every
 * method is, is closed at once. Complete requests leave in the order in which they came. If too many clients wait
 * (4096, or a quarter of the files that the process may open, if that is less), the one that has waited longest is
 * closed: a client is closed for others only if as many have connected before its request arrived.
 *
 * One thread.
 */
#ifndef BSV_EXPORTER_LOBBY_H
#define BSV_EXPORTER_LOBBY_H

#include <stdbool.h>
#include <stdint.h>

struct bsv_lobby;

/*
 * Takes ownership of @listener, a listening socket that does not block, also when it fails. NULL: no memory or files.
 */
struct bsv_lobby *bsv_lobby_new(int listener);

/* Closes everything. NULL is fine. Returns NULL. */
struct bsv_lobby *bsv_lobby_free(struct bsv_lobby *lobby);

/* Readable when bsv_lobby_run has something to do, or a watched file is readable. Borrowed until bsv_lobby_free. */
int bsv_lobby_fd(const struct bsv_lobby *lobby);

/* Watch @fd, too: it stays the caller's, and the watch ends when it is closed. False: no memory, or @fd is watched. */
bool bsv_lobby_watch(struct bsv_lobby *lobby, int fd);

/* ms until it must be run, though its fd is not readable; at most @most. */
int bsv_lobby_patience(const struct bsv_lobby *lobby, int most);

/* Accept clients, look for what has come from them, and close those that have waited too long. */
void bsv_lobby_run(struct bsv_lobby *lobby);

/*
 * A connection whose request has a complete head, or a longer one than the server takes: owned by the caller; -1: none.
 * *@ret_arrived_ns: when the end of the head was seen, in ns of CLOCK_MONOTONIC.
 */
int bsv_lobby_take(struct bsv_lobby *lobby, uint64_t *ret_arrived_ns);

#endif
