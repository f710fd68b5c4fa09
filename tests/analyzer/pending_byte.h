/* pending_byte.h -- where test_store_large has the page that SQLite never uses. */
#ifndef ANALYZER_PENDING_BYTE_H
#define ANALYZER_PENDING_BYTE_H

extern unsigned pending_byte;

#endif
