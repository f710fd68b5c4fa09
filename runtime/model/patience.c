/* patience.c -- counts units of work, and calls the thread's callback after every NNB__PATIENCE units. */
#include "model/patience.h"

#include <assert.h>
#include <string.h>

#include "model/reason.h"

enum { COPY_BYTES = 1 << 16, COPY_UNITS = COPY_BYTES / 2 /* a new page costs as much as copying it */ };

static _Thread_local struct nnb__patience patience = { .left = UINT64_MAX };

struct nnb__patience nnb__patience_begin(bool (*goes_on)(void *arg), void *arg)
{
	struct nnb__patience before = patience;

	patience = (struct nnb__patience){ .goes_on = goes_on, .arg = arg, .left = NNB__PATIENCE };
	return before;
}

void nnb__patience_end(const struct nnb__patience *before)
{
	patience = *before;
}

bool nnb__patience_ask(void)
{
	if (!patience.goes_on)
		return true;
	if (!patience.over)
		patience.over = !patience.goes_on(patience.arg);
	patience.left = patience.over ? 0 : NNB__PATIENCE;
	return !patience.over;
}

bool nnb__patient(uint64_t units)
{
	if (!patience.goes_on)
		return true;
	if (patience.left <= units)
		return nnb__patience_ask();
	assert(patience.left > units && !patience.over);
	patience.left -= units;
	return true;
}

enum nnb_status nnb__impatient(struct nnb_reason *reason)
{
	nnb_because(reason, "the caller ended the work");
	return NNB_STATUS_GENERAL_FAILURE;
}

bool nnb__patient_copy(void *to, const void *from, size_t bytes)
{
	for (size_t at = 0, part; at < bytes; at += part) {
		part = bytes - at < COPY_BYTES ? bytes - at : COPY_BYTES;
		if (!nnb__patient(COPY_UNITS))
			return false;
		memcpy((char *)to + at, (const char *)from + at, part);
	}
	return true;
}
