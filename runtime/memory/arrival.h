/*
 * arrival.h -- receives what a client sends with files, in a process that works for that app alone: judges the files,
 * and holds the sockets.
 *
 * The last one to close a file may wait for ever for the file system that it is in: for an answer to FLUSH; in a FUSE
 * file system with a writeback cache, for its pages, also if the file was in a message and was never received. So the
 * service closes no file before it is known to be of a kind that does not wait, and no socket that may have such a file
 * in its queue while no other process has that socket, too (docs/security.md). The last one to close any other file may
 * wait as well, and frees what pages it has: of these, this process keeps a duplicate until the service has closed its
 * own.
 */
#ifndef NNB_MEMORY_ARRIVAL_H
#define NNB_MEMORY_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NNB__ARRIVAL_FDS = 253 /* of one packet, the kernel's limit */ };

struct pollfd;

/*
 * What this process has for the service: sockets, until nothing can be in their queues any more, and files, until the
 * service has closed and unmapped its own. All zeroes: nothing.
 */
struct nnb__held {
	struct pollfd *at; /* the sockets; those that have been shut down as ~fd */
	unsigned n, room, n_shut;
	uint64_t look_at; /* when to look at those */
	/* a pipe from which come the numbers (u32, descriptors here) of kept files that the service has closed */
	int told; /* 0: none. Then no file can be kept */
	unsigned n_kept, kept_most;
	bool is_over; /* the other end of the pipe is closed: the service ends, and then this process is killed */
};

/* Hold @sock, whose ownership is taken. 0 or -ENOMEM: the caller still owns it. */
int nnb__held_add(struct nnb__held *held, int sock);

/* Keep files from now on, as told by @pipe, whose ownership is taken. */
void nnb__held_begin(struct nnb__held *held, int pipe);

/*
 * Those of @n files that @is_kept selects are kept from now on: their descriptors stay open. False: these are too many,
 * and none is kept.
 */
bool nnb__held_keep(struct nnb__held *held, const bool *is_kept, uint32_t n);

/*
 * Wait until there is something to receive on @sock, or its end; -1: until nothing is held. Lets go of sockets that
 * have been shut down and are empty, and of files that the service has closed.
 */
void nnb__held_wait(struct nnb__held *held, int sock);

/*
 * Shut @sock down and take all messages out of its queue, of any size, and close their files. Waits as long as these
 * files do.
 */
void nnb__line_drain(int sock);

/*
 * Drain all sockets that are held, which the service uses no more, and let go of them; and then of the files, once the
 * service has closed its own.
 */
void nnb__held_drain(struct nnb__held *held);

struct nnb__arrival {
	ssize_t bytes; /* of the packet; 0: the socket's end; or -errno. -EMSGSIZE: it is longer than there was room */
	bool lost;     /* more files came than were wanted */
	uint32_t n, n_lines, n_refused;
	int fds[NNB__ARRIVAL_FDS];       /* for the service: @n, owned */
	bool is_kept[NNB__ARRIVAL_FDS];  /* false: a socket, or the file in place of a refused one */
	bool is_small[NNB__ARRIVAL_FDS]; /* their pages are few, and stay so */
	int lines[NNB__ARRIVAL_FDS];     /* those of them that are sockets: @n_lines */
	int refused
		[NNB__ARRIVAL_FDS]; /* what came in place of some of them: @n_refused, owned. To close them may wait */
};

/*
 * Receive a packet from @sock, and up to @most files with it. An offer (base/offer.h) becomes the socket that was
 * offered. In place of a file of a kind that the service does not take comes one that is good for nothing, so that the
 * service refuses it, with the status of what it is for. Does not wait for the packet, but perhaps for the files.
 */
void nnb__arrival_receive(int sock, uint32_t most, void *data, size_t room, struct nnb__arrival *ret);

/* Close @n files of a client. Waits for file systems, but not for a peer. */
void nnb__files_close(const int *fds, uint32_t n);

#endif
