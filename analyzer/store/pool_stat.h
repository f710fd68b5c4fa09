/* pool_stat.h -- pool_stat and pool_peak: mappings of pools added up, when all of them are in the database. */
#ifndef BSA_STORE_POOL_STAT_H
#define BSA_STORE_POOL_STAT_H

struct bsa_store;

/* Replaces what an earlier import added up. 0, or the code that is kept. */
int bsa_pool_stat_run(struct bsa_store *s);

#endif
