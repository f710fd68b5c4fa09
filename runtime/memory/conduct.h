/*
 * conduct.h -- what the files of one app have cost the other apps of a service, and whether they are still mapped.
 *
 * An app can make a service wait for its files: for a page that takes long, for a page that is gone, or for a lock of
 * the file, for which the kernel waits with the memory map of the whole service locked (docs/security.md). Each such
 * wait is charged to the app. An app that owes too much is an offender for a while: its pools are copied
 * (memory/copy.h), and not mapped, so that nothing but its own threads waits for its files.
 */
#ifndef NNB_MEMORY_CONDUCT_H
#define NNB_MEMORY_CONDUCT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NNB__STALL_COST_NS = 10 * 1000 * 1000, /* of an execution that lost its lane because it waited for a page */
	NNB__TEAR_COST_NS = 10 * 1000 * 1000,  /* of a mapping whose file became shorter while it was used */
	NNB__OWES_MOST_NS = 250 * 1000 * 1000  /* an app that owes more is an offender */
};

/* Any thread may use it. All zeroes, with the lock initialised: nothing is known against the app. */
struct nnb__conduct {
	/* CLOCK_MONOTONIC: until then the app is an offender; 0: it is none. It only grows until it is 0 again */
	_Atomic uint64_t copies_until;
	_Atomic uint64_t barred_until; /* until then no queue of the app is mapped */
	_Atomic uint64_t offences;     /* how often the app has become an offender */
	pthread_mutex_t lock;          /* guards the following fields. Taken after every other lock */
	uint64_t owed_ns, owed_at;     /* what it owed at that time */
	uint32_t relapses;             /* each doubles the time of the next one */
	/* called when the app becomes an offender, maybe with locks held: it only emits an event. NULL: nothing */
	void (*offends)(void *arg, uint64_t owed_ns);
	void *arg;
};

/* @copies: treat the app as an offender for ever. */
void nnb__conduct_init(struct nnb__conduct *conduct, bool copies);
void nnb__conduct_fini(struct nnb__conduct *conduct);

/* Charge the app @ns. NULL is fine. */
void nnb__conduct_charge(struct nnb__conduct *conduct, uint64_t ns);

/* Whether nothing is known against the app any more. */
bool nnb__conduct_is_clean(struct nnb__conduct *conduct);

/* For nnb__conduct_copies: whether the time has not passed yet. */
bool nnb__conduct_lasts(struct nnb__conduct *conduct);

/* Whether the app is an offender, so that its pools are copied. For another app this costs a load and a branch. */
static inline bool nnb__conduct_copies(struct nnb__conduct *conduct)
{
	return __builtin_expect(atomic_load_explicit(&conduct->copies_until, memory_order_relaxed) != 0, 0) &&
	       nnb__conduct_lasts(conduct);
}

/* Whether no queue of the app is to be mapped now. NULL: it may be. */
bool nnb__conduct_bars(struct nnb__conduct *conduct);

/*
 * The app whose files this thread maps from now on, borrowed until the next call or the thread's end. NULL: they are
 * nobody's but this process's own, which is so in a thread that never calls this.
 */
void nnb__conduct_enter(struct nnb__conduct *conduct);
struct nnb__conduct *nnb__conduct_mine(void);

/*
 * Around each mmap and munmap of a file of the app. One thread of the process at a time has its turn. So a thread
 * whose turn takes long waited for its own app's file, and not behind another app's. NULL: nothing happens.
 */
struct nnb__turn {
	uint64_t began, delay;
};
void nnb__turn_begin(struct nnb__conduct *conduct, struct nnb__turn *turn);
void nnb__turn_end(struct nnb__conduct *conduct, const struct nnb__turn *turn);

/*
 * Unmap pages of a file of the app, which no thread uses any more. If the app is an offender, another thread does that
 * later, at a pace at which the service waits for it for 2 % of the time at most.
 */
void nnb__conduct_unmap(struct nnb__conduct *conduct, void *start, size_t bytes);

#endif
