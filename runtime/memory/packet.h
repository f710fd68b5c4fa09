/*
 * packet.h -- what travels between the service, the prober and the workers (errand.h): errands, answers, descriptors.
 */
#ifndef NNB_MEMORY_PACKET_H
#define NNB_MEMORY_PACKET_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* What an errand asks for: a call on a file, or what a porter does; the last two give it files of the service. */
enum nnb__errand_call {
	NNB__ERRAND_TRY,
	NNB__ERRAND_SEAL,
	NNB__ERRAND_TRUNCATE,
	NNB__ERRAND_SIZE,
	NNB__ERRAND_READ,
	NNB__ERRAND_WRITE,
	NNB__ERRAND_HOLD,
	NNB__ERRAND_RECEIVE,
	NNB__ERRAND_EMPTY,
	NNB__ERRAND_APP, /* signalled when the app is gone. No answer comes */
	NNB__ERRAND_KEEP /* tells which files the service has closed (base/kept.h). No answer comes */
};

struct nnb__errand_request {
	uint64_t at;   /* or the seals, or the size to be */
	uint32_t n;    /* bytes, or the files to receive */
	uint32_t call; /* enum nnb__errand_call */
};

struct nnb__errand_answer {
	int64_t result;      /* of the call, or -errno */
	uint64_t blocked_ns; /* of a trial */
	/* of NNB__ERRAND_RECEIVE */
	uint32_t lost, refused; /* more files came than were wanted; some are refused, and closed now */
	uint32_t files;         /* the descriptors with this answer */
};

/*
 * Behind the answer to NNB__ERRAND_RECEIVE, for each file that it may bring: the descriptor by which the porter keeps
 * that file, perhaps with NNB__KEPT_SMALL (base/kept.h), or this.
 */
#define NNB__NOT_KEPT UINT32_MAX

/* A message on a worker's socket: a head, numbers of files, data of up to two parts, and descriptors. */
struct nnb__packet {
	struct iovec parts[4];
	unsigned n_parts;
	int *fds;
	uint32_t n_fds; /* to be sent; or the room for those that are received, and then their number */
};

/* Send @p; @flags as in sendmsg. 0 or -errno. */
int nnb__packet_send(int sock, struct nnb__packet *p, int flags);

/*
 * Receive a packet; @flags as in recvmsg. The number of bytes, with the parts and descriptors of @p filled; 0: the
 * socket's end; or -errno.
 */
ssize_t nnb__packet_receive(int sock, struct nnb__packet *p, int flags);

#endif
