/* terms.c -- the effect of a deadline. */
#include "policy/terms.h"

enum nnb__admission nnb__admission(enum nnb_deadlines deadlines, uint64_t deadline_ns, uint64_t now, uint64_t least,
                                   uint64_t wait_ns)
{
	if (deadline_ns == NNB__NEVER || deadlines == NNB_DEADLINES_ADVISE)
		return NNB__ADMITTED;
	if (now >= deadline_ns) /* Q-16, section 11 */
		return NNB__PASSED;
	if (deadline_ns - now < least)
		return NNB__TOO_LONG;
	return wait_ns > deadline_ns - now - least ? NNB__TOO_FULL : NNB__ADMITTED;
}

uint64_t nnb__ordered_by(uint64_t deadline_ns, uint64_t now)
{
	return deadline_ns > now ? deadline_ns : NNB__NEVER;
}

uint64_t nnb__too_late(uint64_t given_up_for, uint64_t least)
{
	if (given_up_for == NNB__NEVER)
		return NNB__NEVER;
	return given_up_for > least ? given_up_for - least : 0;
}

uint64_t nnb__waits_until(enum nnb_deadlines deadlines, uint64_t deadline_ns, uint64_t least)
{
	return nnb__too_late(deadlines == NNB_DEADLINES_ADVISE ? NNB__NEVER : deadline_ns, least);
}

uint64_t nnb__given_up_for(enum nnb_deadlines deadlines, uint64_t deadline_ns)
{
	return deadlines == NNB_DEADLINES_ABORT ? deadline_ns : NNB__NEVER;
}

enum nnb__next nnb__at_checkpoint(uint64_t now, uint64_t too_late, uint64_t yield_at)
{
	if (now >= too_late)
		return NNB__GIVES_UP;
	return now < yield_at ? NNB__GOES_ON : NNB__IS_ASKED;
}

bool nnb__leaves_inside(enum nnb_preempt preempt)
{
	return preempt == NNB_PREEMPT_SAVE;
}
