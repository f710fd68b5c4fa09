/* overhead.c -- distributes the overhead of an execution over its causes, until no time is left. */
#include "fold/overhead.h"

#include "fold/blame.h"

#include <assert.h>
#include <string.h>

struct giving {
	uint64_t left;
	uint64_t *by_cause;
};

/* Give @ns to @cause; unknown time goes to no cause. */
static void give_time(struct giving *g, enum bsa_cause cause, uint64_t ns)
{
	uint64_t part = ns == BSA_NEVER ? 0 : ns < g->left ? ns : g->left;

	assert(cause < BSA_CAUSES && part <= g->left);
	g->by_cause[cause] += part;
	g->left -= part;
}

/*
 * The time of a writer: waiting for room in the queue, as far as that is known; the time for which its thread
 * was ready without a CPU; and its own time. @delay: the part of the second one that is not yet distributed;
 * BSA_NEVER: unknown.
 */
static void give_giver(struct giving *g, uint64_t took, uint64_t blocked, enum bsa_cause cause, uint64_t *delay)
{
	uint64_t full = blocked == BSA_NEVER ? 0 : blocked < took ? blocked : took, busy;

	if (took == BSA_NEVER)
		return;
	busy = *delay == BSA_NEVER ? 0 : *delay < took - full ? *delay : took - full;
	give_time(g, BSA_QUEUE_FULL, full);
	give_time(g, BSA_MACHINE_BUSY, busy);
	give_time(g, cause, took - full - busy);
	if (*delay != BSA_NEVER)
		*delay -= busy;
}

uint64_t bsa_overhead(const struct bsa_execution *x, uint64_t ret[BSA_CAUSES])
{
	uint64_t run = x->phase[BSA_RUN], all, decode = x->delay[BSA_DELAY_DECODE], reply = x->delay[BSA_DELAY_REPLY];
	uint64_t none = BSA_NEVER;
	struct giving g = { .by_cause = ret };

	memset(ret, 0, BSA_CAUSES * sizeof(*ret));
	if (x->e2e == BSA_NEVER || run == BSA_NEVER || x->redo > run || run - x->redo > x->e2e)
		return BSA_NEVER;
	g.left = all = x->e2e - (run - x->redo);
	give_time(&g, BSA_REDO, x->redo);
	for (unsigned i = 0; i < BSA_WAIT_CAUSES; i++)
		give_time(&g, BSA_QUEUED_BEHIND + i, x->waited[i]);
	give_time(&g, BSA_CAUSE_STALLED, x->stalled);
	give_time(&g, BSA_MACHINE_BUSY, x->no_cpu);
	if (x->idle)
		give_time(&g, BSA_HANDOVER, x->phase[BSA_QUEUE]);
	if (x->fence_free)
		give_giver(&g, x->phase[BSA_FENCE], 0, BSA_SERVICE, &none);
	else
		give_time(&g, BSA_DEPENDENCY, x->phase[BSA_FENCE]);
	if (!bsa_is_warm(x->path, x->cold))
		give_time(&g, x->cold > 0 ? BSA_COLD : BSA_CAUSE_UNKNOWN, x->phase[BSA_SLOTS]);
	else
		give_giver(&g, x->phase[BSA_SLOTS], 0, BSA_SERVICE, &decode);
	give_time(&g, bsa_taker_cause(x, x->request.slept), x->phase[BSA_SEND]);
	give_time(&g, bsa_taker_cause(x, x->result.slept), x->phase[BSA_RETURN]);
	give_giver(&g, x->phase[BSA_PREPARE], x->request.blocked, BSA_CLIENT, &none);
	give_giver(&g, x->phase[BSA_REPLY], x->result.blocked, BSA_SERVICE, &reply);
	give_time(&g, BSA_CLIENT, x->phase[BSA_FINISH]);
	give_giver(&g, x->phase[BSA_DECODE], 0, BSA_SERVICE, &decode);
	give_giver(&g, x->phase[BSA_SIGNAL], 0, BSA_SERVICE, &reply);
	give_time(&g, BSA_CAUSE_UNKNOWN, g.left);
	return all;
}
