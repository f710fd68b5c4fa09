/* scoped.h -- rows, queries and texts that are freed at the end of their scope, and the error for a lack of memory. */
#ifndef BSV_BASE_SCOPED_H
#define BSV_BASE_SCOPED_H

#include <stdlib.h>

#include "base/rows.h"

static inline void bsv_rows_fini(struct bsv_rows **rows)
{
	bsv_rows_free(*rows);
}

static inline void bsv_query_fini(struct bsa_query **q)
{
	bsa_query_free(*q);
}

static inline void bsv_text_fini(char **text)
{
	free(*text);
}

/* bsv_scoped_text *sql = bsv_text(...); is freed when sql leaves its scope. */
#define bsv_scoped_rows __attribute__((cleanup(bsv_rows_fini))) struct bsv_rows
#define bsv_scoped_query __attribute__((cleanup(bsv_query_fini))) struct bsa_query
#define bsv_scoped_text __attribute__((cleanup(bsv_text_fini))) char

static inline int bsv_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "no memory");
}

#endif
