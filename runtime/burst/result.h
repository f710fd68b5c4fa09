/* result.h -- what a client makes of an answer, on whichever path it came. */
#ifndef NNB_BURST_RESULT_H
#define NNB_BURST_RESULT_H

#include "nnb/burst.h"

/* Could a request be made of this call? False: not even packed. */
bool nnb__call_packable(const struct nnb_call *call, struct nnb_reason *reason);

/* The call as a request without its pools. */
struct nnb_request nnb__call_request(const struct nnb_call *call);

/* Nothing is known yet. @answer may be NULL. */
static inline void nnb__answer_none(struct nnb_answer *answer)
{
	if (!answer)
		return;
	answer->n_shapes = 0;
	answer->timing = NNB_NO_TIMING;
	answer->fallback = false;
	answer->exec = 0;
}

/*
 * Distrust what came: drop what its status does not go with; where shapes cannot be, the status becomes
 * GENERAL_FAILURE. Then tell it in @answer, which may be NULL. Returns the status.
 */
enum nnb_status nnb__answer(const struct nnb_model *model, const struct nnb_call *call, struct nnb_result *result,
                            struct nnb_answer *answer, struct nnb_reason *reason);

#endif
