/* result.h -- the client's checks of an answer, the same for bursts and for ordinary calls. */
#ifndef NNB_BURST_RESULT_H
#define NNB_BURST_RESULT_H

#include "nnb/burst.h"

/* True: the call can be packed as a request. False: it cannot, and @reason is filled in. */
bool nnb__call_packable(const struct nnb_call *call, struct nnb_reason *reason);

/* The call as a request without its pools. */
struct nnb_request nnb__call_request(const struct nnb_call *call);

/* Clear @answer: no shapes, no timing, no fallback, no number. @answer may be NULL. */
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
 * Check an answer that came from a service: drop shapes and timing that its status does not allow; if the shapes
 * contradict the model or the call, the status becomes GENERAL_FAILURE. Write the shapes' number and the timing into
 * @answer, which may be NULL. Returns the status.
 */
enum nnb_status nnb__answer_from_result(const struct nnb_model *model, const struct nnb_call *call,
                                        struct nnb_result *result, struct nnb_answer *answer,
                                        struct nnb_reason *reason);

#endif
