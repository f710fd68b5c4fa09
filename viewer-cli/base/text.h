/* text.h -- texts that the caller owns. */
#ifndef BSV_BASE_TEXT_H
#define BSV_BASE_TEXT_H

#include <stdbool.h>

/* As printf, into memory owned by the caller; NULL: no memory. */
char *bsv_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "noisy's mobilenet"; owned by the caller. NULL: neither is known, or no memory. */
char *bsv_full_name(const char *app, const char *model);

/* Owned by the caller. NULL: @text is NULL, or no memory. */
char *bsv_text_copy(const char *text);

/* Append to *text, which may be NULL, behind "; " if it has text already. False: no memory. @more is freed. */
bool bsv_text_join(char **text, char *more);

#endif
