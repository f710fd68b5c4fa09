/* facts.h -- executions made up for benches of the store: as many as one likes, always the same. */
#ifndef BENCH_FACTS_H
#define BENCH_FACTS_H

#include "fold/facts.h"

void facts_who(const struct bsa_facts *facts);

/*
 * A warm burst on an idle lane, full detail, mostly; every 50th waited behind another, every 200th missed its
 * deadline.
 */
struct bsa_execution facts_execution(const struct bsa_facts *facts, uint64_t i);

/* Further facts of @x, the @i-th: slots, preemptions, choices, inversions, long waits; and of @n, of apps. */
void facts_beside(const struct bsa_facts *facts, const struct bsa_execution *x, uint64_t i);
void facts_between(const struct bsa_facts *facts, uint64_t n);

/* @n mappings of pools, beside those of facts_beside. */
void facts_pools(const struct bsa_facts *facts, uint64_t n);

/*
 * A database at @path of @n executions and @pools mappings of pools for each, of a fair service of @lanes lanes; 0:
 * its rules are not known. Ends the program if it cannot be made.
 */
void facts_database(const char *path, uint64_t n, unsigned pools, uint8_t lanes);

#endif
