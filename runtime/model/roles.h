/* roles.h -- what a buffer is like that can play all of its roles (M-3 to M-6). */
#ifndef NNB_MODEL_ROLES_H
#define NNB_MODEL_ROLES_H

#include "nnb/buffer.h"

/* What is known of it before anybody has written it. */
struct nnb__buffer_kind {
	uint32_t type; /* enum nnb_type */
	uint32_t rank; /* 0: unknown, or a scalar */
	uint32_t dims[NNB_RANK_MAX];
	uint64_t bytes; /* 0: it depends on what is not known */
};

/*
 * M-5, but for where the models come from; NULL for one that is none. Two of them that are one model are the same
 * pointer. NONE or INVALID_ARGUMENT.
 */
enum nnb_status nnb__roles_combine(struct nnb__buffer_kind *ret, const struct nnb_model *const *models,
                                   uint32_t n_models, const struct nnb_buffer_desc *desc, struct nnb_reason *reason);

/* M-6: have these extents too. False: they contradict, and then it is as it was. */
bool nnb__kind_combine(struct nnb__buffer_kind *kind, uint32_t rank, const uint32_t *dims);

#endif
