/* rows.h -- facts as rows. */
#ifndef BSA_STORE_ROWS_H
#define BSA_STORE_ROWS_H

#include "store/store.h"

/* Every byte that is no UTF-8 becomes a '?', for readers that insist. */
void bsa_rows_clean(char *text);

/* Write the rows of facts that a later fact could still have changed. */
void bsa_rows_finish(struct bsa_store *s);

#endif
