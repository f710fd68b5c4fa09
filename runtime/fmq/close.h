/*
 * close.h -- closing what a client has given to a service: it takes no time, whatever that is.
 *
 * To close the last fd of a TCP connection with SO_LINGER sleeps until its peer has read, for hours if its owner likes; and
 * to close a socket closes all that lies unread in its queue. A signal ends that sleep: SIGURG, which does nothing by itself.
 */
#ifndef NNB_FMQ_CLOSE_H
#define NNB_FMQ_CLOSE_H

/* SIGURG interrupts, from now on: it is given a handler, if nobody has given it one. */
void nnb__close_arm(void);

/* Close @fd, whose thread sleeps for 0.2 ms at most if nnb__close_arm has been called in this process. */
void nnb__close(int fd);

#endif
