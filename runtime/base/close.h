/*
 * close.h -- closes an fd that a client has sent, without blocking for long.
 *
 * Closing the last fd of a TCP connection with SO_LINGER sleeps until its peer has read the data, possibly for hours;
 * and closing a socket also closes every fd in its receive queue. A signal ends that sleep: SIGURG, which is ignored
 * by default.
 */
#ifndef NNB_BASE_CLOSE_H
#define NNB_BASE_CLOSE_H

/* Let SIGURG interrupt system calls from now on: install a handler, unless the process has one. */
void nnb__close_arm(void);

/*
 * Close @fd, whose thread sleeps for 0.2 ms at most if nnb__close_arm has been called in this process. Each descriptor
 * of a file of a client is closed by this, and duplicated by nnb__dup (base/kept.h).
 */
void nnb__close(int fd);

/* The same for @fd, a file that has been mapped, and so is no socket. */
void nnb__close_mapped(int fd);

#endif
