/* options.c -- converts values of the options that recording commands share. */
#include "record/options.h"

#include "record/ring.h"

const char *const bsv_details[] = { "full", "compact", "verbose", NULL };
const char *const bsv_details_compact[] = { "compact", "full", "verbose", NULL };

enum bsv_detail bsv_detail_compact(int i)
{
	static const enum bsv_detail of[] = { BSV_DETAIL_COMPACT, BSV_DETAIL_FULL, BSV_DETAIL_VERBOSE };

	return of[i];
}

int bsv_option_ring(uint64_t *ret, const struct bsv_quantity *given, struct bsa_err *err)
{
	*ret = given->given ? (uint64_t)given->value : BSV_RING_USUAL;
	if (*ret < BSV_RING_LEAST || *ret > BSV_RING_MOST)
		return bsa_fail(err, BSA_E_USAGE, "--ring takes 1M to 16G");
	return 0;
}
