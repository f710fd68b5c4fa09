/* browser.h -- opens a page in the user's browser. */
#ifndef BSV_BASE_BROWSER_H
#define BSV_BASE_BROWSER_H

#include "bsa/err.h"

/* Open the file @page with xdg-open. 0; BSA_E_ENV: there is no browser. */
int bsv_browser_open(const char *page, struct bsa_err *err);

#endif
