/*
 * protocol.h -- messages between a client and the service, for both.
 *
 * A message consists of a type, a body of bytes, and fds. Code writes and reads it a field at a time; fields are in
 * the machine's byte order, without padding. nnburstd(8) lists the fields of each type.
 *
 * CONCURRENCY  One thread uses a message. A socket has one sender and one receiver at a time.
 */
#ifndef NNB_WIRE_PROTOCOL_H
#define NNB_WIRE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "burst/executor.h"
#include "memory/errand.h"
#include "nnb/buffer.h"
#include "nnb/counts.h"

enum {
	NNB__PROTOCOL = 9,           /* its version */
	NNB__MAGIC = 0x43424e4e,     /* "NNBC" */
	NNB__INLINE_MAX = 64 * 1024, /* a larger body travels in a sealed memfd */
	NNB__PACKET_FDS = 253,       /* the kernel's limit; more fds follow in packets of their own */
	NNB__FDS_MAX = 4096,         /* fds of a message */
	NNB__BODY_MAX = 256 * 1024 * 1024
};

enum nnb__type {
	/* on the life line, from the client */
	/* version u32, hal u32, name -> an answer: struct nnb_service_info. No files can be sent before that */
	NNB__HELLO = 1,
	NNB__CHANNEL, /* fd: the offer (base/offer.h) of a socket to answer calls on -> an answer */
	NNB__BYE,     /* the client disconnects; without this message it has died. No answer */
	NNB__EVENTS,  /* fd: the offer of a socket to send on what is done -> an answer */

	/* on a channel, from the client; each is answered */
	NNB__COUNTS = 16, /* -> the fields of struct nnb_service_counts */
	NNB__SUPPORTED,   /* model -> a byte for each operation */
	NNB__PREPARE,     /* preference u32, priority u32, deadline u64, cache, model -> id u32, preference u32 */
	NNB__PREPARE_FROM_CACHE, /* deadline u64, cache -> id u32, preference u32 */
	NNB__RELEASE,            /* model's id -> */
	NNB__EXECUTE,            /* model's id, number u32, measure, terms, request -> result */
	/* model's id, number u32, measure, terms, request, serial u64 -> ; u32: NNB__DONE will come */
	NNB__EXECUTE_ASYNC,
	/* model's id, extended u32, two descriptors; fd: the offer of a socket to ask for memories -> id u32 */
	NNB__BURST,
	NNB__BURST_CLOSE, /* burst's id -> */
	NNB__FREE_MEMORY, /* burst's id, slot -> */
	/* model's id, number u32, measure, terms, request, duration u64, n u32, serial u64; n fences, then its own
	 * -> */
	NNB__EXECUTE_FENCED,
	NNB__TIMES, /* model's id -> the fields of struct nnb_times */
	NNB__APPS,  /* -> n u32, n times the fields of struct nnb_app_counts */
	/* rank u32, dims; n u32, models' ids; input roles, output roles, each n u32, n roles -> id u32, token u64 */
	NNB__BUFFER,
	NNB__BUFFER_FREE,  /* buffer's id -> */
	NNB__BUFFER_WRITE, /* buffer's id, rank u32, dims, a memory -> */
	NNB__BUFFER_READ,  /* buffer's id, a memory -> */

	/* from the service */
	NNB__DONE = 48, /* on the events' socket: serial u64, result. No answer */
	NNB__MEMORIES,  /* on a burst's: n u32, slots -> n memories */
	/* on the events' socket: serial u64, status u32, two timings. No answer. Then the fence is signalled */
	NNB__FENCED,

	NNB__ANSWER = 64, /* status u32, reason; then what was asked for, if the status is NONE */
	NNB__MORE         /* no body: more fds of the message before */
};

struct nnb__message {
	uint16_t type;
	uint8_t *body;
	size_t bytes, room; /* in use, allocated */
	size_t at;          /* bytes that have been read */
	int *fds;           /* received: owned until a reader takes them, then -1. To be sent: borrowed */
	uint32_t n_fds, room_fds, fds_at;
	bool received;
	bool failed; /* a field was missing, or there was no memory for it */
	/*
	 * Who receives the packets that come with files (memory/errand.h), until the app of this thread is gone
	 * (memory/wait.h). The peer has no duplicate of the socket. NULL: this thread does.
	 */
	struct nnb__errands *porters;
	struct nnb__budget budget; /* lends the memory of a large message while it is received and parsed */
	uint64_t borrowed;
	uint32_t arriving;       /* fds that are charged until the next message begins */
	enum nnb_status refused; /* the budget's status, if it refused; or that no porter was free */
	struct nnb_reason why;   /* and the reason */
	bool stays;              /* the last message was refused, and no porter has taken it out of the queue yet */
	/*
	 * Limits of the time that nnb__message_receive and nnb__send_without_fds wait, which hold whatever the peer
	 * does to the socket: @until, by nnb__now, and @rest_ns from the first packet of a message that is received
	 * to its last. 0: no limit.
	 */
	uint64_t until, rest_ns;
	uint64_t ends; /* the limit of the message that is being received or sent */
};

/*
 * Begin a message of @type in the same memory. Closes received fds that no reader has taken. A message of zeroes is
 * empty.
 */
void nnb__message_begin(struct nnb__message *m, uint16_t type);
void nnb__message_fini(struct nnb__message *m);
/*
 * Free the message's memory, if that is more than a message of one packet needs. A body that is not sent yet is lost.
 */
void nnb__message_trim(struct nnb__message *m);
/* The message has been parsed: free its body, and return what was lent for it. Its fds stay charged. */
void nnb__message_drop_body(struct nnb__message *m);

/* ---- writing; sending reports an earlier error ---- */

void nnb__put_bytes(struct nnb__message *m, const void *from, size_t n);
void nnb__put_u32(struct nnb__message *m, uint32_t n);
void nnb__put_u64(struct nnb__message *m, uint64_t n);
void nnb__put_text(struct nnb__message *m, const char *text);
void nnb__put_fd(struct nnb__message *m, int fd);
void nnb__put_memory(struct nnb__message *m, const struct nnb_memory *memory);
void nnb__put_dims(struct nnb__message *m, uint32_t rank, const uint32_t *dims);
void nnb__put_roles(struct nnb__message *m, const struct nnb_buffer_role *roles, uint32_t n);
void nnb__put_request(struct nnb__message *m, const struct nnb_call *call);
void nnb__put_terms(struct nnb__message *m, const struct nnb_terms *terms);
void nnb__put_result(struct nnb__message *m, const struct nnb_result *result);

/* ---- reading: a missing field is zero, and sets m->failed ---- */

void nnb__get_bytes(struct nnb__message *m, void *to, size_t n);
uint32_t nnb__get_u32(struct nnb__message *m);
uint64_t nnb__get_u64(struct nnb__message *m);
void nnb__get_text(struct nnb__message *m, char *to, size_t room); /* truncated to @room; always terminated */
int nnb__get_fd(struct nnb__message *m); /* owned by the caller; -1: the message has no more */
void nnb__get_memory(struct nnb__message *m, struct nnb_memory *ret); /* owned by the caller; perhaps not canonical */
uint32_t nnb__get_dims(struct nnb__message *m, uint32_t dims[NNB_RANK_MAX]); /* their number */
/*
 * At most NNB_BUFFER_ROLES_MAX of them, *ret owned (free); NULL: none, or failed. False: there is no memory for them.
 */
bool nnb__get_roles(struct nnb__message *m, struct nnb_buffer_role **ret, uint32_t *ret_n);
/* Whether the rest has at least @least bytes for each of @n things; if not, the message has failed. */
bool nnb__message_holds(struct nnb__message *m, uint64_t n, size_t least);
/* Whether all bytes and fds have been read, and no field was missing. */
bool nnb__message_taken(const struct nnb__message *m);

/* A request with its memory. */
struct nnb__request {
	struct nnb_argument *arguments;
	struct nnb_memory *pools;
	struct nnb_request request;
};

/*
 * The memory that reading the next request takes, and that its result takes in a message. 0: nnb__get_request will
 * find it malformed. Reads nothing.
 */
uint64_t nnb__request_bytes(const struct nnb__message *m, uint32_t most);

/* Read a request of at most @most arguments. False: malformed; there is nothing to free. */
bool nnb__get_request(struct nnb__message *m, uint32_t most, struct nnb__request *ret);
void nnb__request_fini(struct nnb__request *request);
void nnb__get_terms(struct nnb__message *m, struct nnb_terms *ret);
/* @ret: its shapes have room for @room, or are NULL. */
void nnb__get_result(struct nnb__message *m, struct nnb_result *ret, uint32_t room);

/* ---- structs in answers, field by field: fields.c. @ret is filled with zeroes where the message has failed ---- */

void nnb__put_counts(struct nnb__message *m, const struct nnb_service_counts *counts);
void nnb__get_counts(struct nnb__message *m, struct nnb_service_counts *ret);
void nnb__put_app(struct nnb__message *m, const struct nnb_app_counts *counts);
void nnb__get_app(struct nnb__message *m, struct nnb_app_counts *ret);
void nnb__put_times(struct nnb__message *m, const struct nnb_times *times);
void nnb__get_times(struct nnb__message *m, struct nnb_times *ret);
void nnb__put_capabilities(struct nnb__message *m, const struct nnb_capabilities *capabilities);
void nnb__get_capabilities(struct nnb__message *m, struct nnb_capabilities *ret);

/* ---- answers ---- */

void nnb__answer_begin(struct nnb__message *m, enum nnb_status status, const struct nnb_reason *reason);
/* Read the status at the head of an answer; GENERAL_FAILURE if the message is not an answer. */
enum nnb_status nnb__answer_status(struct nnb__message *m, struct nnb_reason *reason);

/* ---- sockets ---- */

/* 0; -EPIPE or -ECONNRESET: the peer has closed; -ENOMEM, -EMSGSIZE: the message cannot be sent; another -errno. */
int nnb__message_send(int sock, struct nnb__message *m);

/* nnb__message_send for the service, which sends no fds, not even for a large body. */
int nnb__send_without_fds(int sock, struct nnb__message *m);

/*
 * Wait for a message. 0; -ECONNRESET: the peer has closed; -EBADMSG: not a message, or some of its fds are lost;
 * -ETIMEDOUT (nnb__socket_timeout); -ENOMEM; -EDQUOT: the budget refused the message, or no porter was free for it: it
 * is skipped; m->refused and m->why have the reason. -EAGAIN, where there are porters: no message; one that was refused
 * before may be in the queue still. Receive again.
 */
int nnb__message_receive(int sock, struct nnb__message *m);

/*
 * As nnb__get_fd, for an offer of a socket (base/offer.h): the socket. -1: the message has no more files, or this one
 * is no offer, and is closed; then only m->failed shows which.
 */
int nnb__get_line(struct nnb__message *m);

/*
 * Shut down @sock, and close it: what is in its queue still, with the help of @porters. NULL: this thread closes that.
 */
void nnb__line_close(struct nnb__errands *porters, int sock);

/*
 * Limit how long nnb__message_receive waits for each packet on @sock, and nnb__message_send for room; 0: no limit. A
 * process with a duplicate of @sock can change the limit: for a socket that the peer has made, see the limits of
 * struct nnb__message.
 */
void nnb__socket_timeout(int sock, uint64_t ns);

#endif
