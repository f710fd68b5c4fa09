/*
 * event_flag.c -- bits to set and to sleep on, in one futex word.
 *
 * LAYOUT    A 32-bit word. A queue's flag has a second word beside it that counts sleepers.
 * CONCURRENCY  Every function may run in any thread of any process at any time.
 * ORDERING  (1) wake: or the bits, release      --- pairs with (2)
 *           (2) wait: clear the bits, acquire   => the waiter sees what was written before the wake it took
 *           A queue's waker avoids an atomic write to a shared line for each message, so it loads the word first:
 *           (3) signal: the caller's store, full fence, load word       --- pairs with (4)
 *           (4) arm: clear the bits, full fence, the caller checks again => the signaller finds the bits clear
 *               and wakes, or the waiter finds the signaller's store, or both.
 *           (5) wake: or the bits, full fence, load sleepers            --- pairs with (6)
 *           (6) sleep: increment sleepers, full fence, the kernel compares => either the waker sees the sleeper and
 *               wakes it, or the kernel finds the word changed and the sleeper does not sleep.
 * PROGRESS  Wake is wait-free except for its system call, which is made only if a bit was clear and sleepers is not 0.
 *           Wait ends at its deadline by the kernel's clock or, if the word keeps changing, by this process's.
 * CRASH     A waiter that dies armed leaves bits clear: the next wake sets them. A waiter that dies asleep stays
 *           counted: from then on, every wake that sets a bit makes its system call.
 * TRUST     A peer may write any value into the words at any time. They decide whether a thread sleeps, never what it
 *           reads. A peer that never wakes costs the timeout; a peer that keeps changing the word costs cpu time
 *           until then.
 */
#include "event_flag.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/saturating.h"
#include "base/sys.h"

int nnb_event_flag_new(struct nnb_event_flag **ret, uint32_t *word)
{
	struct nnb_event_flag *flag;

	if (!word || (uintptr_t)word % sizeof(*word))
		return -EINVAL;
	flag = calloc(1, sizeof(*flag));
	if (!flag)
		return -ENOMEM;
	flag->word = (_Atomic uint32_t *)word;
	*ret = flag;
	return 0;
}

int nnb_event_flag_delete(struct nnb_event_flag **flag)
{
	if (!flag || !*flag)
		return -EINVAL;
	free(*flag);
	*flag = NULL;
	return 0;
}

int nnb_event_flag_wake(struct nnb_event_flag *flag, uint32_t mask)
{
	uint32_t old;

	if (!mask)
		return 0;
	old = atomic_fetch_or_explicit(flag->word, mask, memory_order_release); /* (1) */
	if ((old & mask) == mask)
		return 0;
	if (flag->sleepers) {
		atomic_thread_fence(memory_order_seq_cst); /* (5) */
		if (atomic_load_explicit(flag->sleepers, memory_order_relaxed) == 0)
			return 0;
	}
	return flag->wakes_most ? nnb__futex_wake_some(flag->word, flag->wakes_most, mask)
	                        : nnb__futex_wake(flag->word, mask);
}

int nnb_event_flag_wait(struct nnb_event_flag *flag, uint32_t mask, uint32_t *ret_bits, uint64_t timeout_ns, bool retry)
{
	uint64_t deadline = timeout_ns ? nnb__saturating_sum(nnb__now(), timeout_ns) : UINT64_MAX;
	uint32_t old;
	int r = 0;

	if (!ret_bits)
		return -EINVAL;
	*ret_bits = 0;
	if (!mask)
		return -EINVAL;
	for (bool slept = false;; slept = true) {
		old = atomic_fetch_and_explicit(flag->word, ~mask, memory_order_acquire); /* (2) */
		if (old & mask) {
			*ret_bits = old & mask;
			return 0;
		}
		if (slept && !retry)
			return r ? r : -EAGAIN;
		if (r && nnb__now() >= deadline) /* a word that keeps changing is never timed out by the kernel */
			return NNB_EVENT_TIMED_OUT;
		r = nnb__flag_sleep(flag, old, mask, deadline);
		if (r == -ETIMEDOUT)
			return NNB_EVENT_TIMED_OUT;
		if (r && r != -EAGAIN && r != -EINTR)
			return r;
	}
}

uint32_t nnb__flag_arm(struct nnb_event_flag *flag, uint32_t mask)
{
	uint32_t seen;

	assert(mask);
	seen = atomic_fetch_and_explicit(flag->word, ~mask, memory_order_relaxed) & ~mask;
	atomic_thread_fence(memory_order_seq_cst); /* (4) */
	return seen;
}

void nnb__flag_disarm(struct nnb_event_flag *flag, uint32_t mask)
{
	/* a queue without a count of sleepers would pay a system call here to save the waker one */
	if (flag->sleepers && (atomic_load_explicit(flag->word, memory_order_relaxed) & mask) != mask)
		nnb_event_flag_wake(flag, mask);
}

int nnb__flag_sleep(struct nnb_event_flag *flag, uint32_t seen, uint32_t mask, uint64_t deadline)
{
	int r;

	if (!flag->sleepers)
		return nnb__futex_wait(flag->word, seen, mask, deadline);
	atomic_fetch_add_explicit(flag->sleepers, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst); /* (6) */
	r = nnb__futex_wait(flag->word, seen, mask, deadline);
	atomic_fetch_sub_explicit(flag->sleepers, 1, memory_order_relaxed);
	return r;
}
