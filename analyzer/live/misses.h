/*
 * misses.h -- why executions miss their deadlines, while it is not known yet what is typical for them.
 *
 * A miss is blamed when it is reported, by what is typical so far; and again at the end (bsa_misses_again),
 * by what is typical then: so that in the end each has the primary cause that an import finds. For that all
 * there is of a miss is kept, MISSES_BYTES at the most: of more the oldest keep the cause that they had, and
 * bsa_misses_is_exact returns false. One thread.
 */
#ifndef BSA_LIVE_MISSES_H
#define BSA_LIVE_MISSES_H

#include "fold/facts.h"

enum { MISSES_BYTES = 24 << 20 };

struct bsa_misses;

/* NULL: no memory. */
struct bsa_misses *bsa_misses_new(void);
struct bsa_misses *bsa_misses_free(struct bsa_misses *m); /* NULL is fine; returns NULL */

/* Take facts, in the order in which the fold reports them. 0 or -ENOMEM. */
int bsa_misses_wait(struct bsa_misses *m, const struct bsa_wait *w);
int bsa_misses_preemption(struct bsa_misses *m, const struct bsa_preemption *p);
int bsa_misses_slice(struct bsa_misses *m, const struct bsa_slice *s);
int bsa_misses_refused(struct bsa_misses *m, const struct bsa_refused *r); /* as it seems so far */
void bsa_misses_refused_proven(struct bsa_misses *m, const struct bsa_refused *r);
int bsa_misses_model(struct bsa_misses *m, const struct bsa_model *model);
void bsa_misses_rules(struct bsa_misses *m, const struct bsa_rules *r);

/* @ret: its primary cause as far as is known; BSA_CAUSES: it missed nothing, or how late it was is not known. */
int bsa_misses_execution(struct bsa_misses *m, const struct bsa_execution *x, unsigned *ret);

/* After the last fact: call @report for each miss whose cause has changed. */
void bsa_misses_again(struct bsa_misses *m,
                      void (*report)(void *ctx, uint32_t app, uint32_t model, unsigned was, unsigned is), void *ctx);

bool bsa_misses_is_exact(const struct bsa_misses *m);

#endif
