/*
 * errand.h -- calls on an app's file that may wait for ever, made by a process that works for that app alone.
 *
 * Many system calls on a file wait for the lock of its inode, where no signal ends the wait, SIGKILL included. A user
 * who has a FUSE file system can hold that lock for ever: a write to the file from a page that the file system never
 * delivers (docs/security.md). So the service has such calls made by a worker, another process, and waits for its
 * answer with a time limit. A worker that does not answer in time is killed and left behind, and counts against its
 * app until it has ended. Porters are workers that receive messages with files; they are not killed.
 *
 * Every function returns within its time limit, and takes NULL in place of the errands: then this thread makes the
 * call itself, without a time limit (a program that has no prober, and trusts the files).
 */
#ifndef NNB_MEMORY_ERRAND_H
#define NNB_MEMORY_ERRAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
	NNB__ERRAND_BYTES = 1 << 16, /* the most that one call reads or writes */
	NNB__ERRAND_WORKERS = 4,     /* processes of one app, for all calls but trials */
	NNB__ERRAND_LEFT = 2,        /* of these, an app may leave so many behind before its errands fail */
	NNB__ERRAND_TRIERS = 2,      /* further processes of one app, for trials */
	NNB__ERRAND_PORTERS = 2,     /* and for messages with files, all of which may be left behind */
	NNB__ERRAND_PORTERS_ALL = 4, /* with those that were left behind before, and have come back */
	NNB__ERRAND_ALWAYS = 2       /* apps that can be guaranteed their own workers by name */
};

/* The limit for one call on a file that may be on a slow disk. */
#define NNB__ERRAND_FILE_NS UINT64_C(5000000000)

/*
 * Use the prober of that socket, borrowed until the process ends. @workers: the limit of processes of all apps
 * together; half as many more may make trials, and four times as many more may be porters. Call this before
 * nnb__errands_of; only the first call has an effect.
 */
void nnb__errands_begin(int prober, unsigned workers);

/*
 * Each of the first @apps apps may have a process for trials, and a porter, beyond the limits of all apps, whatever
 * others have left behind; so may, whenever they come, the @n apps @keys, NNB__ERRAND_ALWAYS at most, which are not
 * counted among the first ones. Call this after nnb__errands_begin and before nnb__errands_of; only the first call has
 * an effect.
 */
void nnb__errands_guarantee(unsigned apps, const uint32_t *keys, unsigned n);

/* The workers of app @key. The caller owns a reference. NULL: there is no prober, or no memory. Any thread. */
struct nnb__errands;
struct nnb__errands *nnb__errands_of(uint32_t key);
struct nnb__errands *nnb__errands_unref(struct nnb__errands *errands); /* NULL is fine. Returns NULL. */

/* What this thread does from now on is for the app of @errands, borrowed until the next call; NULL: for no app. */
void nnb__errands_enter(struct nnb__errands *errands);
struct nnb__errands *nnb__errands_mine(void); /* borrowed; NULL: none */

/* The workers of @errands that were left behind and have not ended, but for those that make trials. */
unsigned nnb__errands_left(struct nnb__errands *errands);

/*
 * The workers that were left behind by trials, asleep in the kernel, and have not ended. *ret_left: with those of which
 * it is not known yet whether they are asleep or only have no cpu.
 */
unsigned nnb__errands_stuck(struct nnb__errands *errands, unsigned *ret_left);

/* How long a caller waits for an errand. */
struct nnb__errand_wait {
	uint64_t limit_ns;
	bool (*goes_on)(void); /* asked every 20 ms on the waiting thread; false: give up at once. NULL: yes */
};

/*
 * The calls. Any thread; nothing of them waits for another app's errand. The result of the system call, or -errno:
 *   -ETIMEDOUT  no answer within the limit, or no free worker
 *   -ECANCELED  goes_on has returned false
 *   -EBUSY      the app has left NNB__ERRAND_LEFT workers behind, or all apps together as many as there may be. If
 *               these are porters of a time when the app was gone, they may only have no cpu: after the limit
 *   -EIO        the worker has ended, or could not be started
 * The call itself may have failed with any of these, too. After the first two it may still happen, at any later time.
 */

/*
 * Map one page of @fd and unmap it again. 0, and *ret_blocked_ns: for how long the worker slept in these two calls;
 * time in which it was ready and had no cpu does not count. After -ETIMEDOUT, *ret_blocked_ns is the time since the
 * trial began if the worker still sleeps in the kernel, and 0 if it may only have had no cpu, or there was no worker.
 * -EBUSY: all workers that the app may have for trials were left behind, asleep in the kernel; or one was, and the
 * limit of all apps allows no other.
 */
int nnb__errand_try(struct nnb__errands *errands, int fd, const struct nnb__errand_wait *wait,
                    uint64_t *ret_blocked_ns);

/*
 * The same in two parts, to try a file beside another call on it. Begin: the number of the trial, or -errno as above
 * (-ETIMEDOUT: no worker is free), without a wait. Each trial that has begun must be ended, by one thread, once;
 * @errands are not NULL.
 */
int nnb__errand_try_begin(struct nnb__errands *errands, int fd);
bool nnb__errand_try_has_ended(struct nnb__errands *errands, int trial); /* its end would not wait */
int nnb__errand_try_end(struct nnb__errands *errands, int trial, const struct nnb__errand_wait *wait,
                        uint64_t *ret_blocked_ns);

/* fcntl(F_ADD_SEALS). 0 or -errno. */
int nnb__errand_seal(struct nnb__errands *errands, int fd, int seals, const struct nnb__errand_wait *wait);

/* ftruncate. 0 or -errno. */
int nnb__errand_truncate(struct nnb__errands *errands, int fd, uint64_t bytes, const struct nnb__errand_wait *wait);

/* fstat. 0, and *ret is the size; -EINVAL: @fd is no regular file; or the -errno of fstat. */
int nnb__errand_size(struct nnb__errands *errands, int fd, const struct nnb__errand_wait *wait, uint64_t *ret);

/* pread and pwrite of @n bytes, NNB__ERRAND_BYTES at most. The number of bytes, which may be less; or -errno. */
ssize_t nnb__errand_read(struct nnb__errands *errands, int fd, uint64_t at, void *data, size_t n,
                         const struct nnb__errand_wait *wait);
ssize_t nnb__errand_write(struct nnb__errands *errands, int fd, uint64_t at, const void *data, size_t n,
                          const struct nnb__errand_wait *wait);

/*
 * What a client sends with files, of any kind, is received by a worker (memory/arrival.h), which also has every socket
 * of the client as long as something may be in its queue. These three take no NULL in place of the errands.
 */

/* Hold @sock, which was accepted. 0 or -errno: -EAGAIN: no porter was free, and none might be started. */
int nnb__errand_hold(struct nnb__errands *errands, int sock, const struct nnb__errand_wait *wait);

/*
 * Shut @sock down and close all that is in its queue. 0 or -errno. After -ETIMEDOUT and -ECANCELED that happens later:
 * @sock may be closed.
 */
int nnb__errand_empty(struct nnb__errands *errands, int sock, const struct nnb__errand_wait *wait);

/* A packet of a client. */
struct nnb__delivery {
	struct iovec parts[2]; /* where to put it */
	int *fds;              /* the files, owned by the caller */
	uint32_t n_fds;        /* how many may come, and then how many came */
	bool lost;             /* more came than might */
	bool stays;            /* -ETIMEDOUT: no porter was free, so the packet is in the queue still */
};

/*
 * Receive the packet that is in the queue of @sock. The number of bytes; 0: the socket's end; or -errno: -EMSGSIZE if
 * the packet is longer than the parts, with its files all the same. After -ETIMEDOUT and -ECANCELED, the packet may
 * still be received, and is lost then, unless it stays.
 */
ssize_t nnb__errand_receive(struct nnb__errands *errands, int sock, const struct nnb__errand_wait *wait,
                            struct nnb__delivery *delivery);

#endif
