/*
 * look.h -- checks inside an operation whether the run is to go on.
 *
 * A kernel announces the work that it is about to do, in units of about a nanosecond. Every NNBX_LOOK_EVERY units the function of
 * struct nnb_look is called. After its first answer of no, all further calls return no at once: loops end, and their results are
 * not used.
 *
 * CONCURRENCY  One thread: an operation runs on one. The function may take long: the thread may wait for its lane meanwhile.
 */
#ifndef NNBX_LOOK_H
#define NNBX_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "nnb/driver.h"

enum {
	NNBX_LOOK_EVERY = 100000, /* units */
	NNBX_PART = 8192          /* elements at a time, at most */
};

struct nnbx_work {
	const struct nnb_look *look; /* NULL: there is no function to call */
	bool stopped;
	size_t tile;        /* units that a tile of XNNPACK's takes (tiles.c) */
	size_t left;        /* units until the next look */
	bool is_timed;      /* how long looks take is to be added up */
	uint64_t waited_ns; /* likewise, so far */
};

extern _Thread_local struct nnbx_work nnbx_work __attribute__((tls_model("initial-exec")));

/* Around an operation. End: false: it was stopped, and what it has computed is of no use. */
void nnbx_work_begin(const struct nnb_look *look);
bool nnbx_work_end(void);

/* Ask now. */
bool nnbx_work_look(void);

/* @units are about to be done. False: they are not to be. */
static inline bool nnbx_worked(size_t units)
{
	if (__builtin_expect(nnbx_work.left <= units, 0))
		return nnbx_work_look();
	nnbx_work.left -= units;
	return true;
}

/* How many of @n elements, of @units each, are to be done next; 0: none. */
static inline size_t nnbx_part(size_t n, size_t units)
{
	size_t part = n < NNBX_PART ? n : NNBX_PART;

	return nnbx_worked(part * units) ? part : 0;
}

/* for (at = 0; at < n; at += part), with @part elements of @units each at a time, until it is stopped. */
#define NNBX_IN_PARTS(n, units, at, part) \
	for (size_t at = 0, part; at < (n) && (part = nnbx_part((n)-at, units)); at += part)

/* memcpy, and memset of 0, in parts. */
void nnbx_copy(void *to, const void *from, size_t bytes);
void nnbx_clear(void *to, size_t bytes);

#endif
