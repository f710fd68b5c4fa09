/*
 * offer.h -- sockets that a client offers to a service, of which the service's end is the service's alone.
 *
 * Who makes a socket pair and sends one end of it, can keep a duplicate of that end: receive from it, and put one
 * message in the place of another. So a client offers a listening socket instead, to which it has connected. What the
 * service accepts from it is a new file.
 */
#ifndef NNB_BASE_OFFER_H
#define NNB_BASE_OFFER_H

#include <stdbool.h>

/*
 * Make a socket, ret[0], and the offer of its other end, ret[1], to be sent and closed. 0 or -errno: -EAGAIN if other
 * users kept this one from connecting to each of its offers. Does not wait.
 */
int nnb__offer_new(int ret[2]);

/* Whether @fd may be such an offer. Does not wait. */
bool nnb__is_offer(int fd);

/*
 * Accept the other end, on which the kernel adds no credentials to messages. A file descriptor, or -errno: -EINVAL if
 * no process of the user who offers has connected. The caller still owns @offer. Does not wait.
 */
int nnb__offer_accept(int offer);

/* Whether messages with file descriptors may be sent to @sock, and to sockets that are accepted from it (Linux 6.16) */
void nnb__socket_take_files(int sock, bool takes);

#endif
