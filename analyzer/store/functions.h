/* functions.h -- SQL functions that queries through db.h have. */
#ifndef BSA_STORE_FUNCTIONS_H
#define BSA_STORE_FUNCTIONS_H

struct sqlite3;

/* An SQLite result code. */
int bsa_functions_register(struct sqlite3 *db);

#endif
