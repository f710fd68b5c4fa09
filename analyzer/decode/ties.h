/*
 * ties.h -- records of one time, put into an order in which no effect comes before its cause.
 *
 * Two cpus may give their events one time: a clock has steps. The clock does not decide which of them was
 * first, but the records themselves do:
 *
 *   within a stream    the order of its records holds
 *   one execution      it is submitted, written, read, decoded, enqueued, dispatched, preempted, resumed, ended,
 *                      answered, in that order
 *   one lane           its holder leaves before another one enters; an execution that enters and leaves at this very
 *                      time holds the lane for 0 ns, before one that stays
 *   one connection, stream or model    is made before it is used, and used before it ends
 *
 * Of what is left open, the step in an execution's life decides, then numbers: so the order does not depend
 * on which cpu an event was on. Where records contradict each other, the streams' own order holds.
 *
 * Records that cannot be known to belong together (more than BSA_TIES_MAX of one time) are put into order so
 * many at a time.
 */
#ifndef BSA_DECODE_TIES_H
#define BSA_DECODE_TIES_H

#include "catalogue.h"
#include "fold/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BSA_TIES_MAX = 1024 };

struct bsa_ties;

/* NULL: no memory. Owned by the caller. */
struct bsa_ties *bsa_ties_new(void);

/* NULL is fine. Returns NULL. */
struct bsa_ties *bsa_ties_free(struct bsa_ties *t);

/* How many records it has that were not handed out. */
size_t bsa_ties_count(const struct bsa_ties *t);

/*
 * Copy a record of stream @rank. All records have one time, and those of a stream come in its order. It is
 * not full, and nothing has been handed out since it was empty.
 */
void bsa_ties_add(struct bsa_ties *t, uint64_t rank, const struct bsa_event *e);

/* Returns the next record in order, borrowed until the next call; NULL: all were returned, and records may be added. */
const struct bsa_event *bsa_ties_next(struct bsa_ties *t);

#endif
