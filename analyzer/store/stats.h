/* stats.h -- percentiles of groups of executions, what is typical, and which long waits were starvation. */
#ifndef BSA_STORE_STATS_H
#define BSA_STORE_STATS_H

struct bsa_store;

/* After the last fact. 0, or the code that is kept. */
int bsa_stats_run(struct bsa_store *s);

#endif
