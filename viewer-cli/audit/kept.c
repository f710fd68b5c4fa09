/* kept.c -- see kept.h. */
#include "audit/kept.h"

#include <stdlib.h>

struct bsv_kept *bsv_kept_new(void)
{
	return calloc(1, sizeof(struct bsv_kept));
}

struct bsv_kept *bsv_kept_free(struct bsv_kept *kept)
{
	if (!kept)
		return NULL;
	kept->sharing.is_kept = false; /* the last user is gone */
	bsv_sharing_fini(&kept->sharing);
	free(kept);
	return NULL;
}
