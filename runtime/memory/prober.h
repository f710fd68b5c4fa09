/*
 * prober.h -- the process that starts the workers of errand.h, and ends after the service.
 */
#ifndef NNB_MEMORY_PROBER_H
#define NNB_MEMORY_PROBER_H

#include <sys/types.h>

/*
 * Start the prober, the process that starts workers, and that ends with the calling thread and with *ret. Call this in
 * the main thread while the process has no other thread, no file of an app, and no secret. 0 and *ret, a socket; or
 * -errno.
 */
int nnb__prober_start(int *ret);

/*
 * End the prober and wait for its end, 0.2 s at most, so that no zombie is left to a process 1 that does not reap. Does
 * nothing if the files of apps stay mapped that its workers keep (base/kept.h).
 */
void nnb__prober_stop(int prober);

/* The prober ends after the process @pid, too, because that shares the memory of this one. 0 or -errno. */
int nnb__prober_follow(int prober, pid_t pid);

/*
 * Have the prober unlock @fd (flock) when this process dies: a thread that never ends keeps all files of the process
 * open, and locked. The process must unlock it (flock) before it closes it. Replaces the one before. 0 or -errno.
 */
int nnb__prober_keep(int prober, int fd);

/* Have the prober start a worker that reads from @sock, whose ownership is taken. 0; -EAGAIN: later, maybe; -EIO. */
int nnb__prober_work(int prober, int sock);

#endif
