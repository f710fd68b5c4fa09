/* execution.c -- conditions and times of an execution. */
#include "input/execution.h"

#include <assert.h>
#include <stddef.h>

int64_t bsv_minus(int64_t a, int64_t b)
{
	int64_t ret;

	if (a == BSA_NULL_INT || b == BSA_NULL_INT)
		return BSA_NULL_INT;
	if (__builtin_sub_overflow(a, b, &ret) || ret == BSA_NULL_INT)
		return a < 0 ? -INT64_MAX : INT64_MAX;
	return ret;
}

int64_t bsv_phase_of(const struct bsa_execution_row *x, enum bsv_phase phase)
{
#define AT(name) offsetof(struct bsa_execution_row, name##_ns)
	static const size_t at[BSV_PHASES] = {
		[BSV_E2E] = AT(e2e),
		[BSV_PREPARE] = AT(prepare),
		[BSV_SEND] = AT(send),
		[BSV_DECODE] = AT(decode),
		[BSV_FENCE] = AT(fence),
		[BSV_SLOTS] = AT(slots),
		[BSV_QUEUE] = AT(queue),
		[BSV_RUN] = AT(run),
		[BSV_REPLY] = AT(reply),
		[BSV_RETURN] = AT(return ),
		[BSV_PREEMPTED] = AT(preempted),
		[BSV_FINISH] = AT(finish),
		[BSV_SIGNAL] = AT(signal),
	};
#undef AT
	int64_t ret;

	assert(phase != BSV_OVERHEAD);
	memcpy(&ret, (const char *)x + at[phase], sizeof(ret));
	return ret;
}

int64_t bsv_latency_seen(const struct bsa_execution_row *x)
{
	int64_t ended = x->run_ended;

	if (x->e2e_ns != BSA_NULL_INT || !bsv_is(x->quality, "head"))
		return x->e2e_ns;
	if (bsv_is(x->path, "fenced"))
		ended = x->signalled != BSA_NULL_INT ? x->signalled : ended;
	else if (x->returned != BSA_NULL_INT)
		ended = x->returned;
	else if (x->result_written != BSA_NULL_INT)
		ended = x->result_written;
	return bsv_minus(ended, x->request_read);
}

bool bsv_lost_in_part(const struct bsa_execution_row *x)
{
	return bsv_is(x->quality, "gap") || bsv_is(x->quality, "tail");
}

bool bsv_may_be_trial(const struct bsa_execution_row *x)
{
	const int64_t asked[] = { x->submitted,      x->request_written, x->request_read, x->decoded,   x->fenced,
		                  x->result_written, x->result_read,     x->returned,     x->signalled, x->deadline };

	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		if (asked[i] != BSA_NULL_INT)
			return false;
	return !x->path && !x->miss;
}

bool bsv_deadline_unknown(const struct bsa_execution_row *x)
{
	return x->deadline == BSA_NULL_INT && x->submitted == BSA_NULL_INT && !bsv_is(x->sides, "client") &&
	       !bsv_is(x->path, "prepare") && (x->enqueued == BSA_NULL_INT || x->request_spun_ns == BSA_NULL_INT) &&
	       (bsv_is(x->sides, "service") || bsv_lost_in_part(x));
}

bool bsv_one_side(const struct bsa_execution_row *x)
{
	if (bsv_is(x->path, "fenced"))
		return !x->status;
	return (!x->status || bsv_is(x->status, "NONE")) && x->returned == BSA_NULL_INT;
}
