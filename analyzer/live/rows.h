/*
 * rows.h -- figures by app and model: sums since the beginning, and the last seconds.
 *
 * Time is that of the trace. The last seconds are slots of half a second; those that are past are used again.
 * One thread.
 */
#ifndef BSA_LIVE_ROWS_H
#define BSA_LIVE_ROWS_H

#include "bsa/live.h"
#include "fold/facts.h"

struct bsa_rows;

/* NULL: no memory. */
struct bsa_rows *bsa_rows_new(void);
struct bsa_rows *bsa_rows_free(struct bsa_rows *r); /* NULL is fine; returns NULL */

/* Facts. 0 or -ENOMEM. */
int bsa_rows_app(struct bsa_rows *r, const struct bsa_app *a);
int bsa_rows_model(struct bsa_rows *r, const struct bsa_model *m);

/* The execution has ended, and its waits may be unknown still (bsa_facts.over): counts it in the last seconds. */
int bsa_rows_over(struct bsa_rows *r, const struct bsa_execution *x);

/* All of the execution is known: adds it to the sums. @cause: of its miss; BSA_CAUSES: it has none. */
int bsa_rows_execution(struct bsa_rows *r, const struct bsa_execution *x, unsigned cause);

/* Lane time of an app in a window (bsa_facts.window), and over all time. */
void bsa_rows_window_of(struct bsa_rows *r, const struct bsa_lag *l);
void bsa_rows_share(struct bsa_rows *r, const struct bsa_share *s);

/* Move a miss of @app and @model from cause @was to cause @is; BSA_CAUSES: from or to no cause. */
void bsa_rows_recause(struct bsa_rows *r, uint32_t app, uint32_t model, unsigned was, unsigned is);

/* The recording begins at @at: executions that ended before are not counted in the last seconds. First call only. */
void bsa_rows_begin(struct bsa_rows *r, uint64_t at);

/* An execution whose last event was at @end was counted at @now. */
void bsa_rows_counted(struct bsa_rows *r, uint64_t end, uint64_t now);

/* Of that rank: the time from the last event of an execution until it was counted. BSA_LIVE_UNKNOWN: none was. */
uint64_t bsa_rows_counted_rank(const struct bsa_rows *r, unsigned permille);

/* Everything before @until is known. */
void bsa_rows_advance(struct bsa_rows *r, uint64_t until);

/* The name of @app as a row of bsa_live_rows has it. */
enum { BSA_ROWS_APP_TEXT = BSA_LIVE_NAME + 16 };
void bsa_rows_app_name(const struct bsa_rows *r, uint32_t app, char ret[BSA_ROWS_APP_TEXT]);

/* Was the name of @app, or @model, recorded? */
bool bsa_rows_app_named(const struct bsa_rows *r, uint32_t app);
bool bsa_rows_model_named(const struct bsa_rows *r, uint32_t model);

/* BSA_LIVE_NOBODY: unknown. */
uint32_t bsa_rows_app_user(const struct bsa_rows *r, uint32_t app);
const char *bsa_rows_model_name(const struct bsa_rows *r, uint32_t model); /* borrowed until the next fact */

/* What bsa_live_rows, bsa_live_state (sum, window_ns) and bsa_live_share return. */
size_t bsa_rows_get(const struct bsa_rows *r, bool all, struct bsa_live_row *ret, size_t max);
struct bsa_live_sum bsa_rows_sum(const struct bsa_rows *r);
uint64_t bsa_rows_window(const struct bsa_rows *r);
bool bsa_rows_share_of(const struct bsa_rows *r, uint32_t app, uint64_t *ret_received, uint64_t *ret_entitled);

#endif
