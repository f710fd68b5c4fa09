/*
 * http.h -- a small HTTP server for programs that scrape metrics: GET and HEAD of pages that a
 * function makes, and nothing else.
 *
 * libmicrohttpd implements the protocol; it is loaded when it is needed. Every answer closes its
 * connection. A connection waits for the end of its request outside of libmicrohttpd (lobby.h). If the
 * request is not complete after ten seconds, or the answer is not read ten seconds later, it is closed, even if
 * it is active; if there are too many, the oldest is closed. So slow or numerous clients take nothing
 * from a client that requests a page and reads it.
 *
 * One thread: the caller's loop polls bsv_http_fd, for bsv_http_patience at most, and then calls bsv_http_run.
 */
#ifndef BSV_EXPORTER_HTTP_H
#define BSV_EXPORTER_HTTP_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsv_http;

/* The answer to a request. */
struct bsv_http_page {
	int status;       /* 200, 404, 503 */
	const char *type; /* type of the content. Static */
	char *body;       /* from malloc, and taken; NULL: no memory */
	size_t bytes;
};

/*
 * @path: as "/metrics", without a query. @accept: the types of content that the client takes; "" if it names none.
 * @arrived_ns: when the request was complete, in ns of CLOCK_MONOTONIC: a page that was begun later answers it, too.
 */
typedef struct bsv_http_page bsv_http_asked(void *context, const char *path, const char *accept, uint64_t arrived_ns);

/*
 * @listen: ADDRESS:PORT or PORT (of 127.0.0.1), with [ ] around an address of IPv6; port 0 is any
 * that is free. 0 and *ret owned by the caller; BSA_E_USAGE: @listen is none; BSA_E_ENV.
 */
int bsv_http_open(struct bsv_http **ret, const char *listen, bsv_http_asked *asked, void *context, struct bsa_err *err);

/* NULL is fine. Returns NULL. */
struct bsv_http *bsv_http_free(struct bsv_http *h);

/* Where it listens: "127.0.0.1:9464". Borrowed. */
const char *bsv_http_where(const struct bsv_http *h);

/* Other machines may reach it. */
bool bsv_http_is_public(const struct bsv_http *h);

/* Readable when bsv_http_run has something to do. */
int bsv_http_fd(const struct bsv_http *h);

/* ms until it must be run, though its fd is not readable; at most @most. */
int bsv_http_patience(const struct bsv_http *h, int most);

void bsv_http_run(struct bsv_http *h);

#endif
