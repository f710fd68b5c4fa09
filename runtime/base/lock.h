/*
 * lock.h -- asks whether this thread holds a lock, for the asserts of functions that are called under it. Only builds
 * with NNB_CHECK_LOCKS ask (all but release): the answer needs a system call, which is too much on the path of an
 * execution.
 */
#ifndef NNB_BASE_LOCK_H
#define NNB_BASE_LOCK_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

/*
 * Does this thread hold @lock? The C library has no such question. glibc stores the owner in every mutex. With
 * another C library, the lock is only known to be held by some thread. Without NNB_CHECK_LOCKS the answer is always
 * true.
 */
static inline bool nnb__is_locked(const pthread_mutex_t *lock)
{
#if !defined(NNB_CHECK_LOCKS)
	(void)lock;
	return true;
#elif defined(__GLIBC__)
	return lock->__data.__owner == gettid();
#else
	return pthread_mutex_trylock((pthread_mutex_t *)lock) == EBUSY;
#endif
}

#endif
