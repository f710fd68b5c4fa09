/* options.c -- see options.h. */
#include "record/options.h"

const char *const bsv_details[] = { "full", "compact", "verbose", NULL };
const char *const bsv_details_compact[] = { "compact", "full", "verbose", NULL };

enum bsv_detail bsv_detail_compact(int i)
{
	static const enum bsv_detail of[] = { BSV_DETAIL_COMPACT, BSV_DETAIL_FULL, BSV_DETAIL_VERBOSE };

	return of[i];
}
