/*
 * nbt.h -- the seam: a program emits events here, whether or not a trace session records them.
 *
 *   NBT(exec_end, .exec = exec, .lane = lane, .status = NBT_status_none, .ops_run = n);
 *
 * The fields are those of the catalogue (events.def), by name; omitted ones are zero. They are evaluated only if a
 * session has enabled the event: otherwise an event costs one predicted branch. Events go to a provider, a shared
 * object that nbt_open loads; the program does not link to it. Compiled with NBT_OFF, NBT is only type-checked.
 * nbt(3).
 *
 * CONCURRENCY  Any thread, at any time, signal handlers aside. nbt_open: one at a time. The provider that it finds
 *              stays loaded for good.
 * ORDERING     nbt_open stores emit, then enabled, release; an event loads enabled, acquire: a thread that sees it on
 *              finds emit.
 */
#ifndef NBT_NBT_H
#define NBT_NBT_H

#include <stdbool.h>
#include <stdint.h>

#include "nbt/events.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A provider is a shared object that exports a variable nbt_provider of this type. */
struct nbt_provider {
	uint32_t abi; /* NBT_PROVIDER_ABI */
	uint32_t n_events;
	/* by event; fewer bytes than ours, or more: another catalogue's, and the event stays off */
	const uint16_t *bytes;
	const int *const *enabled;              /* by event; not 0: a session has enabled it */
	void (*const *emit)(const void *event); /* struct nbt_EVENT */
	uint64_t (*listeners)(void);            /* a number that changes each time that a session begins */
};

enum { NBT_PROVIDER_ABI = 1 };

/*
 * Load a provider, unless one is loaded: $NNBURST_TRACEPOINTS, which is ignored if the program has more rights than
 * its user; or else @path (may be NULL). The file must belong to root or to the user, and no other user may be able
 * to write it. 0; -ENOENT: no such file; -EPERM: another user owns it or can write it; -ELIBACC: it cannot be loaded,
 * or is not a provider. *why, unless NULL, is a static text about the error.
 */
int nbt_open(const char *path, const char **why);

/* The seam's own. */
struct nbt_seam {
	const int *enabled[NBT_EVENTS];
	void (*emit[NBT_EVENTS])(const void *event);
	uint64_t (*listeners)(void);
};
extern struct nbt_seam nbt__seam;

static inline bool nbt_on(enum nbt_event event)
{
#ifdef NBT_OFF
	(void)event;
	return false;
#else
	return __builtin_expect(
		__atomic_load_n(__atomic_load_n(&nbt__seam.enabled[event], __ATOMIC_ACQUIRE), __ATOMIC_RELAXED), 0);
#endif
}

#define NBT(event, ...)                                                        \
	do {                                                                   \
		if (nbt_on(NBT_EVENT_##event)) {                               \
			const struct nbt_##event nbt__event = { __VA_ARGS__ }; \
			nbt__seam.emit[NBT_EVENT_##event](&nbt__event);        \
		}                                                              \
	} while (0)

/*
 * Whether a session has begun since *@seen was written. If so, the caller should emit its existing objects again,
 * with their `since`. Call this at the beginning of work, without holding a lock. Without a session it costs one
 * branch.
 */
bool nbt__news(uint64_t *seen);
static inline bool nbt_news(uint64_t *seen)
{
	return nbt_on(NBT_EVENT_service_state) && nbt__news(seen);
}

#ifdef __cplusplus
}
#endif

#endif
