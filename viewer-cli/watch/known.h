/*
 * known.h -- causes that were caught a short while ago: the same one again is counted, and not kept again.
 */
#ifndef BSV_KNOWN_H
#define BSV_KNOWN_H

#include "watch/store.h"

enum { BSV_KNOWN_MOST = 64, BSV_SEEN_MOST = 256 };

/* All 0: none. When there are more than fit, the oldest is forgotten: it is then kept once more than it need be. */
struct bsv_known {
	int64_t cooldown; /* ns; 0: nothing is ever known */
	struct bsv_known_cause {
		struct bsv_case_cause cause;
		char name[BSV_CASE_NAME]; /* the name of its case */
		int64_t until;            /* CLOCK_REALTIME, ns */
	} causes[BSV_KNOWN_MOST];
	size_t n_causes;
	struct bsv_known_event {
		uint64_t key;
		unsigned condition;
		int64_t until;
	} events[BSV_SEEN_MOST]; /* events that were part of a case */
	size_t n_events;
};

void bsv_known_fini(struct bsv_known *k);

/* Remember what the cases of @store are about, as a watcher that was killed would have. */
void bsv_known_read(struct bsv_known *k, const struct bsv_store *store, int64_t now);

/*
 * The place in @c of the first cause that was not known when @c was caught, however long its
 * diagnosis took; c->n_causes: all were.
 */
size_t bsv_known_find_new(const struct bsv_known *k, const struct bsv_case *c);

/* The name of the case of the first cause of @c that was known then; NULL if no cause was. Borrowed. */
const char *bsv_known_case(const struct bsv_known *k, const struct bsv_case *c);

/* Forget the causes of @c whose cases are not in @store any more: what befalls their apps next is kept again. */
void bsv_known_forget_removed(struct bsv_known *k, const struct bsv_store *store, const struct bsv_case *c);

/* All causes of @c are known from the time at which it was caught. */
void bsv_known_add(struct bsv_known *k, const struct bsv_case *c);

/* Whether an event of that @condition and @key was part of a case a short while ago; and from now on it was. */
bool bsv_known_event_seen(const struct bsv_known *k, unsigned condition, uint64_t key, int64_t now);
void bsv_known_event_add(struct bsv_known *k, unsigned condition, uint64_t key, int64_t now);

#endif
