/*
 * client.h -- inside of a client.
 *
 * channel.c calls the service; events.c receives its events, on a thread; client.c is the connection; remote.c models
 * and executions; fenced.c those with fences; burst.c bursts; buffer.c buffers. The head of client.c has the rules of
 * their locks.
 */
#ifndef NNB_CLIENT_CLIENT_H
#define NNB_CLIENT_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "nnb/client.h"
#include "trace/trace.h"
#include "wire/protocol.h"

enum { NNB__EVENTS_TAG = 1, NNB__WAKE_TAG = 2, NNB__FIRST_LINE_TAG = 16 }; /* epoll tags of the ready fds */

/* To the service: one call at a time. */
struct nnb__channel {
	struct nnb__channel *next;
	int sock;
	uint64_t patience;
	uint64_t sent_at; /* when the last request had been sent */
	bool broken;      /* out of step: of no more use */
	struct nnb__message out, in;
};

/* An asynchronous execution under way. */
struct nnb__pending {
	struct nnb__pending *next;
	uint64_t serial;
	struct nnb_remote *remote; /* held */
	/* for checking the answer */
	struct nnb_argument *outputs;
	uint32_t n_outputs;
	bool measure;
	struct nnb__call_trace trace;
	void (*done)(void *arg, const struct nnb_result *result);
	void *arg;
};

/* A burst's line to us. */
struct nnb__line {
	struct nnb__line *next, **from;
	struct nnb_client *client;
	struct nnb_remote *remote; /* held */
	uint64_t tag;
	uint32_t id; /* the service's number of the burst */
	int sock;
	struct nnb_burst_callback callback;
	pthread_mutex_t lock;    /* guards the following fields */
	struct nnb_burst *burst; /* NULL: not yet, or no more */
	bool lost;
	unsigned users; /* the thread, while it answers; under the client's lock */
};

struct nnb_client {
	atomic_uint refs;
	uint32_t hal; /* enum nnb_hal */
	uint64_t timeout_ns;
	struct nnb_service_info info;
	atomic_uint calls[NBT_path_async + 1]; /* number of calls of each path so far */
	int life, events, epoll, wake;
	pthread_mutex_t life_lock; /* one opens a channel at a time */
	pthread_t thread;
	atomic_bool dead, stopping;
	bool orphan; /* the thread's: it was the last to hold the client */

	pthread_mutex_t lock;  /* guards the following fields */
	pthread_cond_t unused; /* a line has one user less, or a channel none */
	struct nnb__channel *idle;
	uint32_t n_idle, n_channels; /* channels: idle, all */
	struct nnb__line *lines;
	struct nnb__pending *pending;
	struct nnb_fenced *fenced;
	uint64_t last_serial, last_tag;
};

struct nnb_remote {
	atomic_uint refs;
	struct nnb_client *client; /* held */
	uint32_t id;
	bool low_power;
	struct nnb_model *model; /* a copy, without fds */
};

/* ---- client.c ---- */

struct nnb_client *nnb__client_ref(struct nnb_client *client);
void nnb__client_unref(struct nnb_client *client);
void nnb__client_free(struct nnb_client *client);
int nnb__client_watch(struct nnb_client *client, int fd, uint64_t tag); /* 0 or -errno */

/*
 * The app asks for an execution by call: begin its trace, @ret. Returns its number, for the message. @duration_ns: of
 * a fenced execution; 0: any. @fallback: a burst could not carry the execution.
 */
uint32_t nnb__call_submit(struct nnb_remote *remote, enum nbt_path path, const struct nnb_call *call,
                          uint64_t duration_ns, bool fallback, struct nnb__call_trace *ret);

/* ---- channel.c ---- */

/*
 * Offer the service a socket with the message @out. NONE, and *ret is our end; or the service's answer @in is another
 * status, or it has none. *ret may be owned by the caller all the same.
 */
enum nnb_status nnb__client_offer(struct nnb_client *client, struct nnb__message *out, struct nnb__message *in,
                                  int *ret, struct nnb_reason *reason);

/*
 * A channel to call on: fill its out. Where the service allows us no more of them, wait for one of ours, so long.
 * @timeout_ns: 0: the client's.
 */
enum nnb_status nnb__channel_take(struct nnb_client *client, uint16_t type, uint64_t timeout_ns,
                                  struct nnb__channel **ret, struct nnb_reason *reason);
void nnb__channel_give(struct nnb_client *client, struct nnb__channel *channel);
void nnb__channel_free(struct nnb__channel *channel);

/*
 * Send what has been put into out, and wait for the answer, in in. 0 or -errno. One that does not come in time is
 * refused: the service finds out, and undoes what it has made for us; one that has just come is taken.
 */
int nnb__channel_exchange(struct nnb_client *client, struct nnb__channel *channel, uint64_t timeout_ns);

/* Emit that the answer to an execution was read; the client has slept since it had sent the request. */
void nnb__channel_heard(const struct nnb__channel *channel, struct nnb__call_trace *trace);

/*
 * A call in two steps. Await: send out, and wait for the answer; with NONE, its fields come next in @channel's in.
 * End: with @status, of the first step; NONE becomes GENERAL_FAILURE if the answer had not exactly the fields that
 * were taken. The channel goes back.
 */
enum nnb_status nnb__answer_await(struct nnb_client *client, struct nnb__channel *channel, struct nnb_reason *reason);
enum nnb_status nnb__answer_end(struct nnb_client *client, struct nnb__channel *channel, enum nnb_status status,
                                struct nnb_reason *reason);

/* A call whose answer holds @bytes, which go to @ret with NONE. The channel goes back. */
enum nnb_status nnb__call_for(struct nnb_client *client, struct nnb__channel *channel, void *ret, size_t bytes,
                              struct nnb_reason *reason);

/* The status of an exchange that failed with @error, mapped to the HAL version of @client (NULL: not mapped). */
enum nnb_status nnb__status_lost(const struct nnb_client *client, int error, struct nnb_reason *reason);
enum nnb_status nnb__status_dead(struct nnb_reason *reason);
enum nnb_status nnb__no_answer(struct nnb_reason *reason);
enum nnb_status nnb__status_exhausted(const struct nnb_client *client, struct nnb_reason *reason);

/* ---- events.c ---- */

/* The thread; its argument is the client. */
void *nnb__events_thread(void *client);

struct nnb__pending *nnb__pending_new(struct nnb_remote *remote, const struct nnb_call *call);
void nnb__pending_drop(struct nnb__pending *pending);

/*
 * From now on the callback of @pending will be called, in every case. Returns its serial number; 0: the service is
 * gone, the caller still owns @pending.
 */
uint64_t nnb__pending_add(struct nnb_client *client, struct nnb__pending *pending);

/* Take the pending execution @serial from the list; the caller owns it. NULL: its callback has been called. */
struct nnb__pending *nnb__pending_take(struct nnb_client *client, uint64_t serial);

/* Call back with @status alone, and free the pending execution. */
void nnb__pending_fail(struct nnb__pending *pending, enum nnb_status status);

/* ---- fenced.c, for the thread ---- */

void nnb__fenced_take_result(struct nnb_client *client, struct nnb__message *message); /* NNB__FENCED came */
void nnb__fenced_die(struct nnb_client *client);                                       /* nothing will come any more */
void nnb__fenced_forget(struct nnb_client *client);                                    /* there is no thread any more */

/* ---- remote.c ---- */

struct nnb_remote *nnb__remote_ref(struct nnb_remote *remote);
enum nnb_status nnb__remote_execute(struct nnb_remote *remote, const struct nnb_call *call, bool fallback,
                                    struct nnb_answer *answer, struct nnb_reason *reason);

#endif
