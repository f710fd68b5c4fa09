/* roles.h -- the type and shape of a buffer that can play all of its roles (M-3 to M-6). */
#ifndef NNB_MODEL_ROLES_H
#define NNB_MODEL_ROLES_H

#include "nnb/buffer.h"

/* The properties of a buffer that are known before the first write to it. */
struct nnb__buffer_kind {
	uint32_t type; /* enum nnb_type */
	uint32_t rank; /* 0: unknown, or a scalar */
	uint32_t dims[NNB_RANK_MAX];
	uint64_t bytes; /* 0: the size depends on an unknown extent */
};

/*
 * Combine the roles of @desc (M-5), except for the check of where the models come from. An entry of @models is
 * NULL where the caller's model is invalid; the same model must be the same pointer. NONE or INVALID_ARGUMENT.
 */
enum nnb_status nnb__roles_combine(struct nnb__buffer_kind *ret, const struct nnb_model *const *models,
                                   uint32_t n_models, const struct nnb_buffer_desc *desc, struct nnb_reason *reason);

/* M-6: add these extents. False: they contradict @kind, which stays unchanged. */
bool nnb__kind_combine(struct nnb__buffer_kind *kind, uint32_t rank, const uint32_t *dims);

#endif
