/* look.c -- looks inside an operation: is the run to go on? */
#include "look.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

enum { COPY_BYTES = 1 << 16, BYTES_A_UNIT = 4 };

_Thread_local struct nnbx_work nnbx_work = { .left = SIZE_MAX };

void nnbx_work_begin(const struct nnb_look *look)
{
	/* one more: what takes as long as that has not been looked at in vain before it has begun */
	nnbx_work = (struct nnbx_work){ .look = look, .left = look ? NNBX_LOOK_EVERY + 1 : SIZE_MAX };
}

bool nnbx_work_end(void)
{
	bool stopped = nnbx_work.stopped;

	nnbx_work = (struct nnbx_work){ .left = SIZE_MAX };
	return !stopped;
}

uint64_t nnbx_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool goes_on(const struct nnb_look *look)
{
	uint64_t from = nnbx_work.is_timed ? nnbx_now() : 0;
	struct nnbx_work ours = nnbx_work;
	bool on = look->goes_on(look->arg);

	nnbx_work = ours; /* this thread may have run others' operations */
	if (nnbx_work.is_timed)
		nnbx_work.waited_ns += nnbx_now() - from;
	return on;
}

bool nnbx_work_look(void)
{
	const struct nnb_look *look = nnbx_work.look;

	if (!look) {
		nnbx_work.left = SIZE_MAX;
		return true;
	}
	if (!nnbx_work.stopped)
		nnbx_work.stopped = !goes_on(look);
	nnbx_work.left = nnbx_work.stopped ? 0 : NNBX_LOOK_EVERY;
	return !nnbx_work.stopped;
}

void nnbx_clear(void *to, size_t bytes)
{
	for (size_t at = 0, part; at < bytes; at += part) {
		part = bytes - at < COPY_BYTES ? bytes - at : COPY_BYTES;
		if (!nnbx_worked(part / BYTES_A_UNIT))
			return;
		memset((char *)to + at, 0, part);
	}
}

void nnbx_copy(void *to, const void *from, size_t bytes)
{
	for (size_t at = 0, part; at < bytes; at += part) {
		part = bytes - at < COPY_BYTES ? bytes - at : COPY_BYTES;
		if (!nnbx_worked(part / BYTES_A_UNIT))
			return;
		memcpy((char *)to + at, (const char *)from + at, part);
	}
}
