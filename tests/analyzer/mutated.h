/*
 * mutated.h -- traces with a few values changed, for tests of the import.
 *
 * BYTES   A copy of a trace's directory, with some bytes of its streams (seldom of its metadata) changed, for
 *         bsa_import.
 * FIELDS  The records of a trace, with some fields changed to another record's, to absurd numbers, or a little; some
 *         records twice, gone, or at another time; for bsa_importer_event. A field keeps its width and times stay in
 *         order: the decoder promises no more than that of any trace.
 *
 * A seed gives the same mutation on every machine.
 */
#ifndef ANALYZER_MUTATED_H
#define ANALYZER_MUTATED_H

#include <stddef.h>
#include <stdint.h>

#include "fold/event.h"

/* Records of one trace, in the order of their times. */
struct records {
	uint64_t *bytes; /* owned */
	size_t *at;      /* where each of the @n begins, in 8 bytes. Owned */
	size_t n, used, room, places;
};

void records_init(struct records *r);
void records_fini(struct records *r);
void records_add(struct records *r, const struct bsa_event *e);
static inline struct bsa_event *records_get(const struct records *r, size_t i)
{
	return (struct bsa_event *)(r->bytes + r->at[i]);
}

/*
 * A copy of @from with changes. @ret is initialized. @said (of @size bytes): what was changed, for the search of the
 * reason.
 */
void mutate_fields(const struct records *from, uint64_t seed, struct records *ret, char *said, size_t size);

/*
 * Copy directory @from, in which are files and directories, to @to, which is not there, and change bytes of the copy.
 */
void mutate_bytes(const char *from, const char *to, uint64_t seed, char *said, size_t size);

#endif
