/* request.h -- validates requests for callers that have analysed the model before. */
#ifndef NNB_MODEL_REQUEST_H
#define NNB_MODEL_REQUEST_H

#include "nnb/model.h"

/* Write to may_omit[i] whether every operation that reads model input i lets it be omitted. 0 or -ENOMEM. */
int nnb__may_omit(const struct nnb_model *model, bool *may_omit);

/* nnb_request_validate with a @may_omit computed before; allocates nothing. */
enum nnb_status nnb__request_validate(const struct nnb_model *model, const bool *may_omit,
                                      const struct nnb_request *request, bool fenced, struct nnb_reason *reason);

/* The same, without the checks that need the pools: only their number is known yet. */
enum nnb_status nnb__request_validate_unplaced(const struct nnb_model *model, const bool *may_omit,
                                               const struct nnb_request *request, struct nnb_reason *reason);

#endif
