/* rows.h -- facts as rows. */
#ifndef BSA_STORE_ROWS_H
#define BSA_STORE_ROWS_H

#include "store/store.h"

/* Statements for rows with text. 0, or the code that is kept. */
int rows_init(struct bsa_store *s);
void rows_fini(struct bsa_store *s);

/* Every byte that is no UTF-8 becomes a '?', for readers that insist. */
void rows_clean(char *text);

#endif
