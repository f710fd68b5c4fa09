/* kept.c -- see kept.h. */
#include "audit/kept.h"

#include <stdlib.h>

#include "base/template.h"

struct bsv_kept *bsv_kept_new(struct bsv_input *input)
{
	struct bsv_kept *ret = calloc(1, sizeof(*ret));

	if (!ret)
		return NULL;
	ret->n_unknown = ret->n_unseen = -1;
	ret->has_picked = input->picks && bsv_input_keep_picked(input, NULL) >= 0;
	return ret;
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
