/*
 * sharing_run.h -- recorded executions under ideal fair sharing: read from a database, and played by
 * replay/sharing.h.
 */
#ifndef BSA_STORE_SHARING_RUN_H
#define BSA_STORE_SHARING_RUN_H

#include <sqlite3.h>

#include "bsa/sharing.h"
#include "store/store.h"

/*
 * Replay the traces from @trace on. Returns 0, a code of SQLite such as SQLITE_NOMEM, or the result of
 * @report, below 0.
 */
int bsa_sharing_of(sqlite3 *sql, int64_t trace, int64_t from, int64_t to, bsa_shared_call *report, void *ctx);

/* Fill app_sharing with what this import brought. 0, or the code that the store keeps. */
int bsa_sharing_write(struct bsa_store *s);

#endif
