/*
 * nbt.h -- the seam: where a program says what happens, whether or not anybody listens.
 *
 *   NBT(exec_end, .exec = exec, .lane = lane, .status = NBT_status_none, .ops_run = n);
 *
 * The fields are those of the catalogue, by name; what is left out is zero. They are evaluated only if somebody listens
 * to that very event: otherwise it costs one branch, which is predicted. The listener is a provider, a shared object that
 * nbt_open loads; a program links to nothing of it. Compiled with NBT_OFF, NBT is only type-checked. nbt(3).
 *
 * CONCURRENCY  Any thread, at any time, signal handlers aside. nbt_open: one at a time. What it finds stays for good.
 * ORDERING     nbt_open stores emit, then enabled, release; an event loads enabled, acquire: who sees it on finds emit.
 */
#ifndef NBT_NBT_H
#define NBT_NBT_H

#include <stdbool.h>
#include <stdint.h>

#include "nbt/events.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a provider is: a shared object that exports one of these as nbt_provider. */
struct nbt_provider {
	uint32_t abi; /* NBT_PROVIDER_ABI */
	uint32_t n_events;
	/* by event; fewer bytes than ours, or more: another catalogue's, and the event stays off */
	const uint16_t *bytes;
	const int *const *enabled;              /* not 0: somebody listens to it */
	void (*const *emit)(const void *event); /* struct nbt_EVENT */
	uint64_t (*listeners)(void);            /* another number each time that somebody begins to listen */
};

enum { NBT_PROVIDER_ABI = 1 };

/*
 * Load a provider, if there is none yet: $NNBURST_TRACEPOINTS, unless the program has more rights than who runs it; else
 * @path (NULL: none). It must belong to root or to the user, and nobody else may be able to write it. 0; -ENOENT: there is
 * none; -EPERM: it is somebody else's; -ELIBACC: it cannot be loaded, or is no provider. *why, where @why is not NULL, is
 * a static word on that.
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
 * Has somebody begun to listen since *@seen was written? Then what there is should be told again, with its `since`. To be
 * asked where something begins and no lock is held. Off, it costs one branch.
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
