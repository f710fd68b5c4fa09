/* schedule_facts.h -- the facts that a schedule reports, each as a line of text. */
#ifndef TESTS_SCHEDULE_FACTS_H
#define TESTS_SCHEDULE_FACTS_H

#include "analyzer/lag_windows.h"
#include "fold/facts.h"

#include <stddef.h>

struct lines {
	char **all; /* owned */
	size_t n, room;
	struct lag_windows windows; /* owned */
};

void lines_fini(struct lines *l);
void lines_add(struct lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lines_sort(struct lines *l);

/* Facts that become lines of @l. @l must outlive them. */
struct bsa_facts lines_facts(struct lines *l);

/* One function for each kind of line, for tests that compute the same lines in another way. */
void line_slice(void *ctx, const struct bsa_slice *s);
void line_wait(void *ctx, const struct bsa_wait *w);
void line_possible_wait(void *ctx, const struct bsa_possible_wait *w);
void line_unknown_lane(void *ctx, const struct bsa_unknown_lane *l);
void line_inverted(void *ctx, const struct bsa_inverted *i);
void line_starved(void *ctx, const struct bsa_starved *s);
void line_share(void *ctx, const struct bsa_share *s);
void line_lag(void *ctx, const struct bsa_lag *s);
void line_interfered(void *ctx, const struct bsa_interfered *i);
void line_chosen(void *ctx, const struct bsa_chosen *c);
void line_refused(void *ctx, const struct bsa_refused *r);

#endif
