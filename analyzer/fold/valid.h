/*
 * valid.h -- whether the numbers in a record can be: one table, by event and field, for all of the fold.
 *
 * What is in a record comes from strangers. The rest of the fold may rely on this of each record that it is
 * given: numbers of executions have both halves, lanes and instances exist, and times and durations end
 * before 2^62 ns, so that they do not overflow when they are added, and are never mistaken for BSA_NEVER.
 */
#ifndef BSA_FOLD_VALID_H
#define BSA_FOLD_VALID_H

#include "fold/event.h"

#include <stdbool.h>

#define BSA_TIME_MOST (UINT64_C(1) << 62) /* 146 years */

enum { BSA_VALID_RECORD_MAX = 256 };

/* A copy of a record, in which numbers were brought into their range. */
struct bsa_mended {
	uint64_t words[BSA_VALID_RECORD_MAX / 8];
};

/*
 * @e, or what is made of it in @room: an app may ask for any deadline, and the service passes the deadline
 * on, so one that is too large becomes the largest, and -1, which is none, 0; of a number that may be
 * unknown, one that cannot be is unknown (*ret_unknown). NULL: another number of the record cannot be, so the
 * record is unusable.
 */
const struct bsa_event *bsa_valid(const struct bsa_event *e, struct bsa_mended *room, bool *ret_unknown);

/* Is there a rule about this field of this event? For the test that wants one of each number. */
bool bsa_valid_knows(enum bsa_kind kind, uint16_t at);

/* Does the service emit this? Of events of the client, no other execution can hide behind it. */
bool bsa_valid_is_of_service(const struct bsa_event *e);

#endif
