/* blame_run.h -- causes of every missed deadline of this import. */
#ifndef BSA_STORE_BLAME_RUN_H
#define BSA_STORE_BLAME_RUN_H

struct bsa_store;

/* After the last fact, what is typical, and the indices. 0, or the code that is kept. */
int bsa_blame_run(struct bsa_store *s);

#endif
