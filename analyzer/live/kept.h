/*
 * kept.h -- the records of the last seconds, and what must be known before them, so that a database can be
 * made of them: of a session at a relay daemon there is nothing else that could be read again.
 *
 * WORLD   What falls out of the records is remembered as far as later ones are about it: services, clients,
 *         models, streams and buffers that are there. An import hears of them at the beginning of the
 *         records, as a program emits again what there is (docs/events.md, `since`). Pools and executions
 *         that were under way are not remembered.
 * MEMORY  @bytes of records, and up to half a MiB more, and 16384 things; of more, the oldest are forgotten.
 */
#ifndef BSA_LIVE_KEPT_H
#define BSA_LIVE_KEPT_H

#include "bsa/err.h"
#include "decode/decode.h"

struct bsa_kept;

/* Owned by the caller. NULL: no memory. */
struct bsa_kept *bsa_kept_new(size_t bytes);
struct bsa_kept *bsa_kept_free(struct bsa_kept *k); /* NULL is fine; returns NULL */

/* The next record, in the order of time. 0 or -ENOMEM. */
int bsa_kept_add(struct bsa_kept *k, const struct bsa_event *e);

/*
 * A database of what is kept. @traces: of records, by their numbers less 1. 0; BSA_E_ENV, BSA_E_INPUT: there
 * is nothing at @output.
 */
int bsa_kept_import(const struct bsa_kept *k, const struct bsa_trace *const *traces, size_t n_traces,
                    const char *output, struct bsa_err *err);

#endif
