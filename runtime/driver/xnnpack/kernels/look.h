/*
 * look.h -- checks inside an operation whether the run must continue.
 *
 * A kernel announces its next work, in units of about a nanosecond. Every NNBX_LOOK_EVERY units, nnbx_worked calls
 * the function of struct nnb_look. Once that function has returned false, nnbx_worked returns false at once: loops
 * end, and their results are not used.
 *
 * CONCURRENCY  One thread: an operation runs on one. The function may take long: the thread may wait for its lane
 *              meanwhile.
 */
#ifndef NNBX_LOOK_H
#define NNBX_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "nnb/driver.h"

enum {
	NNBX_LOOK_EVERY = 25000, /* units */
	NNBX_PART = 8192         /* elements at a time, at most */
};

struct nnbx_work {
	const struct nnb_look *look; /* NULL: there is no function to call */
	bool stopped;
	size_t tile;        /* units that a tile of XNNPACK's takes (tiles.c) */
	size_t left;        /* units until the next look */
	bool is_timed;      /* add the time of looks to waited_ns */
	uint64_t waited_ns; /* time of the looks so far */
};

extern _Thread_local struct nnbx_work nnbx_work __attribute__((tls_model("initial-exec")));

/*
 * Call these before and after an operation. End returns false if a look stopped the operation: its result is not
 * complete.
 */
void nnbx_work_begin(const struct nnb_look *look);
bool nnbx_work_end(void);

/* CLOCK_MONOTONIC in ns. */
uint64_t nnbx_now(void);

/* Call the function of struct nnb_look now. False: stop. */
bool nnbx_work_look(void);

/* Announce @units of work. False: stop without doing them. */
static inline bool nnbx_worked(size_t units)
{
	if (__builtin_expect(nnbx_work.left <= units, 0))
		return nnbx_work_look();
	nnbx_work.left -= units;
	return true;
}

/* How many of @n elements, of @units each, to do next; 0: stop. */
static inline size_t nnbx_part(size_t n, size_t units)
{
	size_t part = n < NNBX_PART ? n : NNBX_PART;

	return nnbx_worked(part * units) ? part : 0;
}

/* A loop over @n elements of @units each: the body does @part elements from @at on. A look may end it early. */
#define NNBX_IN_PARTS(n, units, at, part) \
	for (size_t at = 0, part; at < (n) && (part = nnbx_part((n)-at, units)); at += part)

/* memcpy, and memset of 0, in parts. */
void nnbx_copy(void *to, const void *from, size_t bytes);
void nnbx_clear(void *to, size_t bytes);

#endif
