/* failed.h -- the error messages of libbabeltrace2 in this thread. babeltrace2 prints nothing by itself. */
#ifndef BSA_DECODE_FAILED_H
#define BSA_DECODE_FAILED_H

#include "bsa/err.h"

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* Set the text to @format, ": " and the innermost cause. Returns @code. */
int bsa_bt_failed(struct bsa_err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Did a call of babeltrace2 fail because no memory or no descriptor was left? Its causes do not tell why the
 * machine refused to map a file: @number is errno after the call, and the caller sets errno to 0 before the
 * call. Call it before the causes are dropped.
 */
bool bsa_bt_no_means(int number);

/* Like bsa_bt_failed(), with the code BSA_E_ENV if @no_means, else BSA_E_INPUT. */
int bsa_bt_unreadable(struct bsa_err *err, bool no_means, const char *path);

/* Drop the messages. True: there were some. */
bool bsa_bt_forget(void);

/*
 * Release a graph. An iterator that gave its last messages together with an error keeps that error, and its end gives
 * the error back to the thread: the next call of babeltrace2 would abort because of it.
 */
void bsa_bt_graph_put(const bt_graph *graph);

#endif
