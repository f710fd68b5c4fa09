/* failed.h -- the error messages of libbabeltrace2 in this thread. babeltrace2 prints nothing by itself. */
#ifndef BSA_DECODE_FAILED_H
#define BSA_DECODE_FAILED_H

#include "bsa/err.h"

#include <stdbool.h>

/* Set the text to @format, ": " and the innermost cause. Returns @code. */
int bsa_bt_failed(struct bsa_err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Drop the messages. True: there were some. */
bool bsa_bt_forget(void);

#endif
