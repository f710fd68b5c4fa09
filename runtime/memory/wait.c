/* wait.c -- waits for the files of an app, which end when the app is gone, or the service stops. */
#include "memory/wait.h"

#include <stddef.h>
#include <unistd.h>

#include "base/sys.h"

#define SLICE_NS UINT64_C(20000000) /* between two looks at whether a wait is over */

static atomic_bool ended;
static _Thread_local const atomic_bool *mine_gone;

void nnb__wait_enter(const atomic_bool *gone)
{
	mine_gone = gone;
}

void nnb__waits_end(void)
{
	atomic_store_explicit(&ended, true, memory_order_relaxed);
}

void nnb__waits_begin(void)
{
	atomic_store_explicit(&ended, false, memory_order_relaxed);
}

bool nnb__waits_have_ended(void)
{
	return atomic_load_explicit(&ended, memory_order_relaxed);
}

bool nnb__wait_app_stays(void)
{
	return !mine_gone || !atomic_load_explicit(mine_gone, memory_order_relaxed);
}

bool nnb__wait_is_over(void)
{
	return nnb__waits_have_ended() || !nnb__wait_app_stays();
}

uint64_t nnb__wait_slice(uint64_t now, uint64_t until)
{
	return until - now < SLICE_NS ? until : now + SLICE_NS;
}

bool nnb__wait_until(uint64_t until)
{
	uint64_t now;

	while ((now = nnb__now()) < until) {
		if (nnb__wait_is_over())
			return false;
		usleep((useconds_t)((nnb__wait_slice(now, until) - now) / 1000 + 1));
	}
	return !nnb__wait_is_over();
}
