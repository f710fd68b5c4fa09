/*
 * suspicion.h -- whether an app holds the locks of its files: what its own workers find out.
 *
 * A call that maps or unmaps a file can take long because of that file's lock, and as well because another app holds up
 * the memory map of this process. So each call is watched, and while one takes long, a worker of the app
 * (memory/errand.h) maps and unmaps the same file, in a process of its own: a trial. If the worker is blocked, the app
 * holds the lock, and is suspected. Who may map a file is decided by the caller (memory/gate.h).
 */
#ifndef NNB_MEMORY_SUSPICION_H
#define NNB_MEMORY_SUSPICION_H

#include <stdbool.h>
#include <stdint.h>

/* What a trial has found. */
enum nnb__tried {
	NNB__TRIED_FREE,   /* the file's lock is free, as far as another process can find out */
	NNB__TRIED_HELD,   /* the worker was blocked by the file */
	NNB__TRIED_SILENT, /* no answer in time, and perhaps no cpu; or no free worker */
	NNB__TRIED_OVER    /* the app is gone, or the service stops (memory/wait.h) */
};

/* Begin to watch calls, after nnb__errands_begin. Only the first call has an effect. 0 or -errno. */
int nnb__suspicions_begin(void);

/*
 * What is known of app @key. The caller owns a reference. What makes the app suspected outlives its references. NULL:
 * no memory.
 */
struct nnb__suspicion;
struct nnb__suspicion *nnb__suspicion_of(uint32_t key);
struct nnb__suspicion *nnb__suspicion_ref(struct nnb__suspicion *suspicion);   /* NULL is fine */
struct nnb__suspicion *nnb__suspicion_unref(struct nnb__suspicion *suspicion); /* NULL is fine. Returns NULL. */

/* ---- calls that are watched ---- */

/* A call under way. */
struct nnb__flight {
	uint64_t began;
	unsigned place; /* among those that are watched */
};

/* A call that maps or unmaps @fd begins. @fd stays open until its end. A signal handler calls these, too. */
void nnb__flight_begin(struct nnb__suspicion *suspicion, int fd, struct nnb__flight *flight);
void nnb__flight_end(struct nnb__suspicion *suspicion, const struct nnb__flight *flight);

/* The end of a call that replaced torn pages. */
void nnb__flight_end_of_tear(struct nnb__suspicion *suspicion, const struct nnb__flight *flight);

/*
 * Draw the consequence of what the worker has found beside a call. False: it has not answered yet, and the watcher asks
 * again. The second one waits for that until @until; false: no answer by then, or the wait is over (memory/wait.h).
 */
bool nnb__suspicion_settle(struct nnb__suspicion *suspicion);
bool nnb__suspicion_await(struct nnb__suspicion *suspicion, uint64_t until);

/* ---- what is known ---- */

/*
 * The app has held the lock of a file lately, or has left workers behind: each file must be tried before it is mapped
 * or unmapped.
 */
bool nnb__is_suspected(struct nnb__suspicion *suspicion);

/* Until when nothing of the app is mapped or unmapped; a time that has passed, or 0: that is allowed. */
uint64_t nnb__suspicion_refuse_until(const struct nnb__suspicion *suspicion);

/* How often the app has held the lock of a file beside a call since it is suspected. */
uint32_t nnb__suspicion_strikes(const struct nnb__suspicion *suspicion);

/* To replace torn pages of the app has taken long lately. */
bool nnb__suspicion_tears(const struct nnb__suspicion *suspicion);

/* ---- trials before a call ---- */

/* Try the file @fd until @until. Without a prober (memory/errand.h), each trial finds a free lock. */
enum nnb__tried nnb__suspicion_try(struct nnb__suspicion *suspicion, int fd, uint64_t until);

/*
 * The same for a thread that comes back: a trial that has not ended by @until goes on, and until it has ended, each
 * further call is SILENT at once. The second one gives up such a trial. One thread at a time for an app; it must not
 * drop its reference in between.
 */
enum nnb__tried nnb__suspicion_look(struct nnb__suspicion *suspicion, int fd, uint64_t until);
void nnb__suspicion_look_end(struct nnb__suspicion *suspicion);

#endif
