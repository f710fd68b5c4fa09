/* failed.h -- what libbabeltrace2 has to say of what went wrong in this thread. It prints nothing by itself. */
#ifndef BSA_DECODE_FAILED_H
#define BSA_DECODE_FAILED_H

#include "bsa/err.h"

#include <stdbool.h>

/* Say @format, ": " and the innermost cause. Returns @code. */
int bsa_bt_failed(struct bsa_err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* It does not matter. True: there was something. */
bool bsa_bt_forget(void);

#endif
