/*
 * service.h -- the service's internal interface: apps and their holdings, connections, models, bursts, executions.
 *
 * service.c listens on the socket and keeps the list of apps. quota.c divides the machine's limits among apps.
 * account.c charges an app for the memory of a model. desk.c bounds an app's calls about whole models. sweep.c closes
 * the sockets of refused clients. subuid.c knows to which account a uid belongs. ids.c has the ids of living objects.
 * connection.c runs a connection and its channels. calls.c, models.c, buffers.c, executions.c and fenced.c answer the
 * calls on channels. burst.c is the service's side of a burst, with the line to its client. emit.c emits the events
 * about the service's objects.
 */
#ifndef NNB_SERVICE_SERVICE_H
#define NNB_SERVICE_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "burst/map.h"
#include "memory/errand.h"
#include "memory/gate.h"
#include "memory/prober.h"
#include "nnb/service.h"
#include "sched/run.h"
#include "sched/stalls.h"
#include "service/account.h"
#include "service/desk.h"
#include "service/ids.h"
#include "service/numbers.h"
#include "service/quota.h"
#include "service/subuid.h"
#include "service/sweep.h"
#include "wire/protocol.h"

/* The resources of which an app may have a limited number. */
enum nnb__resource {
	NNB__CONNECTIONS,
	NNB__CHANNELS,
	NNB__MODELS,
	NNB__BURSTS,
	NNB__BUFFERS,
	NNB__POOLS,
	NNB__BYTES,
	NNB__ASYNC,
	NNB__THREADS, /* threads of asynchronous executions, until the client is notified. No limit of their own */
	/*
	 * files of bursts' queues, beyond one for each queue; and files that wait to be unmapped, after what had them
	 * is gone. No limit of their own
	 */
	NNB__FILES,
	NNB__ARRIVING, /* file descriptors of messages that are received and parsed. No limit of its own */
	NNB__N_RESOURCES
};

/* Resources that the machine limits for all apps together. */
enum nnb__machine_resource {
	NNB__DESCRIPTORS,
	NNB__MAPPINGS, /* in NNB__MAPPING-ths */
	NNB__MEMORY,   /* in bytes */
	NNB__TASKS,    /* threads */
	NNB__PLACES,   /* connections of all apps: a limit of the service, not of the machine */
	NNB__N_MACHINE
};

/*
 * One mapping, in units of its quota. A byte of memory is one unit, because memory from malloc takes mappings, too.
 * nnburstd configures malloc so that each of its mappings has at least 16 MiB; so a byte is charged as a 16 777 216th
 * of a mapping.
 */
#define NNB__MAPPING (UINT64_C(1) << 24)

struct nnb__app {
	struct nnb__app *next;
	struct nnb_service *service;
	uint32_t key; /* the uid of an account, or a pid */
	uint64_t held[NNB__N_RESOURCES];
	struct nnb__quota_held of_machine[NNB__N_MACHINE];
	bool guaranteed;               /* one of NNB__QUOTA_APPS */
	struct nnb__desk desk;         /* its calls about whole models */
	struct nnb__lane_app lane_app; /* lane time of its executions and its trial runs */
	struct nnb__errands *errands;  /* calls on its files that may not return; NULL: the service makes them itself */
	struct nnb__errands *porters;  /* the same, if they receive its messages with files; NULL: the service does */
	struct nnb__gate *gate;        /* what maps its files; NULL: none */
	/* What of its files waits to be unmapped: the mappings; and what they take and is not charged yet. */
	uint64_t late, late_files, late_bytes;
};

enum nnb__counter {
	NNB__BURST_REQUESTS,
	NNB__BURST_MALFORMED,
	NNB__SLOT_LOOKUPS,
	NNB__SLOT_MISSES,
	NNB__SYNC,
	NNB__ASYNCS,
	NNB__FENCEDS,
	NNB__REFUSED,
	NNB__N_COUNTERS
};

struct nnb_service {
	struct nnb_service_config config; /* defaults filled in */
	uint64_t limits[NNB__N_RESOURCES];
	struct nnb__lanes lanes;
	char *socket, *lock_path;
	int listener, lock_fd, stop_fd;
	bool bound; /* this process has made the socket at that path */
	uint32_t instance;
	struct nnb__ids ids;                        /* of connections, streams, models and buffers; its lock is in it */
	_Atomic uint64_t counters[NNB__N_COUNTERS]; /* counts of objects that have ended */
	atomic_uint holds;                          /* bursts that keep the device fast; changed under the lock */
	uint64_t since;                             /* time when the service was opened */
	atomic_bool stopping;
	_Atomic uint64_t heard;   /* number by nbt_news of the trace sessions that have the existing objects */
	pthread_mutex_t emitting; /* orders threads that emit existing objects. Before the lock */
	struct nnb__sweeper sweeper;
	struct nnb__subuids subuids; /* owned by the thread that accepts connections */
	struct nnb__stalls stalls;

	/*
	 * Guards the list of bursts. burst_delist holds it while it adds the counts of a burst that ends to the
	 * counters, so that each burst is counted once. No execution waits for this lock, because a thread that has it
	 * may visit all bursts of all apps. The last lock that a thread takes.
	 */
	pthread_mutex_t bursts_lock;
	struct nnb__burst *bursts; /* all bursts with a server */

	pthread_mutex_t lock; /* guards the following fields */
	pthread_cond_t fewer; /* signalled when a connection has ended */
	struct nnb__app *apps;
	struct nnb__connection *connections;
	struct nnb__model *models;       /* all models */
	uint64_t held[NNB__N_RESOURCES]; /* held by all apps */
	struct nnb__quota quotas[NNB__N_MACHINE];
	uint32_t guaranteed; /* apps, without those of root and of the service's own user */
	char tasks_name[48]; /* the name of NNB__TASKS in refusals. Written once */
};

/*
 * Charge @app for @n of a resource, or give them back. Charging respects the app's limits and its part of the
 * machine's limits. NONE; RESOURCE_EXHAUSTED_TRANSIENT; RESOURCE_EXHAUSTED_PERSISTENT: @n alone is more than the app
 * may ever hold.
 */
enum nnb_status nnb__app_take(struct nnb__app *app, enum nnb__resource resource, uint64_t n, struct nnb_reason *reason);
/* Whether an app that holds nothing else could hold @n. */
bool nnb__could_have(const struct nnb_service *service, enum nnb__resource resource, uint64_t n);
/* As nnb__app_take, but false (the app may not have them) is not counted, emitted or reported as a refusal. */
bool nnb__app_lend(struct nnb__app *app, enum nnb__resource resource, uint64_t n);
void nnb__app_give(struct nnb__app *app, enum nnb__resource resource, uint64_t n);
enum nnb_status nnb__app_take_pools(struct nnb__app *app, uint32_t pools, uint64_t bytes, struct nnb_reason *reason);
/* @ever: whether the app could have @n some time. If not, a refusal is PERSISTENT. */
enum nnb_status nnb__app_take_if(struct nnb__app *app, enum nnb__resource resource, uint64_t n, bool ever,
                                 struct nnb_reason *reason);
enum nnb_status nnb__app_take_pools_if(struct nnb__app *app, uint32_t pools, uint64_t bytes, bool ever,
                                       struct nnb_reason *reason);
void nnb__app_give_pools(struct nnb__app *app, uint32_t pools, uint64_t bytes);

/*
 * Give back @n of @from and take @k of @to, as one step: other threads see one or the other. As nnb__app_take; after
 * a refusal the app holds @n of @from as before.
 */
enum nnb_status nnb__app_swap(struct nnb__app *app, enum nnb__resource from, uint64_t n, enum nnb__resource to,
                              uint64_t k, struct nnb_reason *reason);

/* The app's budget, for code that keeps pools; its arg is the app. */
struct nnb__budget nnb__budget_of(struct nnb__app *app);

/*
 * The part of @bytes, which the service keeps for a call or a burst, that is charged: what is small is not, because
 * calls come often, and because the number of an app's calls and bursts is limited.
 */
static inline uint64_t nnb__charged_of(uint64_t bytes)
{
	return bytes > (128 << 10) ? bytes : 0;
}

/*
 * An id for a new object, which no living object has (nnb__id_take). NONE, and the object gives it back at its end
 * (nnb__id_give), after its last event; RESOURCE_EXHAUSTED_TRANSIENT: the living objects have all ids.
 */
enum nnb_status nnb__new_id(struct nnb_service *service, uint32_t *ret, struct nnb_reason *reason);

struct nnb__connection;

void nnb__service_count(struct nnb_service *service, enum nnb__counter counter, uint64_t n);

/* The counts of @only, or of all apps (NULL). Returns their number; the caller owns *ret; NULL: no memory. */
uint32_t nnb__apps_counts(struct nnb_service *service, struct nnb__app *only, struct nnb_app_counts **ret);

/* ---- models: with a reference count; the last unref gives back what the model is charged for ---- */

/* A trial run of a model that is being prepared, for the event exec_state. */
struct nnb__trial {
	struct nnb__trial *next, **from; /* list of the connection, under its lock */
	struct nnb__trace trace;
};

/* The data of the event model_prepare. */
struct nnb__model_birth {
	uint32_t conn;
	uint64_t began, took_ns, deadline_ns;
	uint64_t since;  /* time when the model was prepared */
	uint32_t digest; /* model/digest.h */
};

struct nnb__model {
	struct nnb__model *next, **from; /* the service's list */
	struct nnb__model_birth birth;
	atomic_uint refs;
	struct nnb__app *app;
	uint32_t id;
	struct nnb_prepared *prepared;
	struct nnb__times times;
	struct nnb__account account;
	uint64_t frame_bytes; /* bytes reserved for each execution: the temporaries whose shapes are known in advance */
	bool low_power;
	uint32_t pools;
	uint64_t bytes; /* bytes charged for the prepared model; executions are charged in addition */
};

struct nnb__model *nnb__model_ref(struct nnb__model *model);
void nnb__model_unref(struct nnb__model *model);

/*
 * As nnb__app_take_pools, for an execution of @model. If the pools would not fit beside the model and a frame, even
 * in an app that holds nothing else, the refusal is RESOURCE_EXHAUSTED_PERSISTENT.
 */
enum nnb_status nnb__model_take(struct nnb__model *model, uint32_t pools, uint64_t bytes, struct nnb_reason *reason);
/* Reserve a frame for an execution whose pools have @bytes. */
enum nnb_status nnb__model_reserve(struct nnb__model *model, uint64_t bytes, struct nnb_reason *reason);
void nnb__model_release(struct nnb__model *model);
/* Whether the model's app could hold this and the model, if it held nothing else. */
bool nnb__model_fits(const struct nnb__model *model, uint32_t pools, uint64_t bytes);
struct nnb__budget nnb__model_budget(struct nnb__model *model);

/* ---- bursts: with a reference count, too ---- */

struct nnb__burst {
	struct nnb__burst *next, **from; /* the service's list */
	atomic_uint refs;
	struct nnb__connection *connection;
	struct nnb__model *model;
	uint32_t id;
	bool extended;
	uint64_t bytes;      /* charged for what the service keeps for its requests and results */
	uint32_t more_files; /* files of the two queues, beyond one for each queue */
	int line;            /* socket to the client, to ask for the memories of slots */
	bool broken; /* the callback's channel is out of step: do not use it any more. Owned by the burst's thread */
	struct nnb__message message; /* question and answer on the line. Owned by the burst's thread */
	struct nnb_burst_server *server;
	uint64_t since;   /* time when the burst was emitted; 0: not yet */
	uint64_t took_ns; /* duration of making the burst */
};

/* Takes ownership of @line and of a reference of @model, also when it fails. */
enum nnb_status nnb__burst_new(struct nnb__burst **ret, struct nnb__connection *connection, struct nnb__model *model,
                               bool extended, const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
                               int line, struct nnb_reason *reason);
void nnb__burst_unref(struct nnb__burst *burst);
/* End every wait of the burst's thread for the client's answer or for a lane. Any thread. */
void nnb__burst_hang_up(struct nnb__burst *burst);

/* ---- connections ---- */

/* A list by id, of models, bursts or buffers. */
struct nnb__table {
	struct nnb__map by_id;
	void **items;
	uint32_t n, room;
};

/* Each connection has a stream for its calls of each path, and one for trial runs of models. Each burst is a stream. */
enum { NNB__CALL_PATHS = NBT_path_prepare + 1 };

struct nnb__connection {
	struct nnb__connection *next, **from; /* the service's list */
	struct nnb_service *service;
	struct nnb__app *app;
	uint32_t id;
	char name[NNB_NAME_MAX];
	uint32_t hal;                      /* enum nnb_hal */
	bool sees_all;                     /* may see the lane time of other apps */
	uint32_t streams[NNB__CALL_PATHS]; /* by path: the number of the stream in traces */
	atomic_uint n_trials;              /* trial runs so far */
	int life, events;
	int process;                 /* a pidfd of the client; -1: the kernel gave none */
	uint32_t pid, uid;           /* the client's */
	uint32_t owner;              /* the uid of the account that has @uid, as a subordinate one or as its own */
	uint64_t since;              /* time when the connection was emitted; 0: not yet. Under the service's lock */
	uint8_t reason;              /* enum nbt_reason: the reason of the end. Set before closing */
	pthread_mutex_t events_lock; /* one sender at a time */
	atomic_bool closing;

	pthread_mutex_t lock; /* guards the following fields */
	pthread_cond_t fewer; /* signalled when a channel or an asynchronous execution has ended */
	struct nnb__channel *channels;
	uint32_t n_channels, n_async;                 /* counts, with those that are about to end */
	struct nnb__fenced *signalling;               /* executions that are about to signal their fences */
	struct nnb__job *jobs;                        /* executions under way */
	struct nnb__trial *trials;                    /* trial runs under way */
	struct nnb__numbers numbers[NNB__CALL_PATHS]; /* numbers of the calls, by path */
	struct nnb__table models, bursts, buffers;
};

struct nnb__channel {
	struct nnb__channel *next, **from;
	struct nnb__connection *connection;
	int sock;
	pthread_t thread; /* valid if thread_known; under the connection's lock */
	bool thread_known;
	struct nnb__message in, out;
	uint64_t owed;                                /* bytes charged for the answer, until it is sent */
	bool at_desk;                                 /* the current call has a place at the app's desk */
	uint32_t made_model, made_burst, made_buffer; /* ids of the objects that the current call has made; 0: none */
	int made_fence;     /* fence of the execution that the current call has launched; -1: no fence */
	bool will_complete; /* the answer promises a completion event */
};

/* Serve the client at the other end of @sock on a thread of its own. Takes ownership of @sock. */
void nnb__connection_start(struct nnb_service *service, int sock);

/*
 * In service.c, for connection.c. Enter: find the app by the client's credentials, charge it for a connection, and
 * enter the service's list, unless the connection is refused. Retire: take the life line out of the connection; the
 * caller closes it. Leave: leave the list; afterwards the service may be freed.
 */
enum nnb_status nnb__connection_enter(struct nnb__connection *connection, struct nnb_reason *reason);
int nnb__connection_retire(struct nnb__connection *connection);
void nnb__connection_leave(struct nnb__connection *connection);

/*
 * In connection.c: send @m on the client's socket for events, and free it. If that fails, end the socket, which the
 * client sees.
 */
void nnb__event_send(struct nnb__connection *connection, struct nnb__message *m);

/* ---- calls ---- */

/* Execute the call in channel->in, and write the answer into channel->out. 0; -EBADMSG: the message is not a call. */
int nnb__call_dispatch(struct nnb__channel *channel);

/* The answer did not reach the client: undo what the call made. */
void nnb__call_undo(struct nnb__channel *channel);

/* Whether the client's HAL has deadlines and priorities, and their statuses. */
static inline bool nnb__has_qos(const struct nnb__connection *connection)
{
	return connection->hal >= NNB_HAL_1_3;
}

/* The status in the client's HAL. */
enum nnb_status nnb__status_for(const struct nnb__connection *connection, enum nnb_status status);

/* Begin the answer to the current call: with a status, or to a malformed call. */
void nnb__call_answer(struct nnb__channel *channel, enum nnb_status status, const struct nnb_reason *why);
void nnb__call_malformed(struct nnb__channel *channel);

/* The connection's model with this id, with a reference for the caller; NULL: no model has it. */
struct nnb__model *nnb__model_get(struct nnb__connection *connection, uint32_t id);

/*
 * The model whose id is the next field of the call, with a reference. NULL: no model has it, and the call has been
 * answered.
 */
struct nnb__model *nnb__call_model(struct nnb__channel *channel);

/* models.c */
void nnb__call_supported(struct nnb__channel *channel);
void nnb__call_prepare(struct nnb__channel *channel);
void nnb__call_prepare_from_cache(struct nnb__channel *channel);
void nnb__call_release(struct nnb__channel *channel);
void nnb__model_drop(struct nnb__connection *connection, uint32_t id);
uint64_t nnb__pools_bytes(const struct nnb_memory *pools, uint32_t n); /* UINT64_MAX: that or more */

/* ---- buffers: the app is charged for a buffer until its last use has ended ---- */

/* buffers.c */
void nnb__call_buffer(struct nnb__channel *channel);
void nnb__call_buffer_free(struct nnb__channel *channel);
void nnb__call_buffer_write(struct nnb__channel *channel);
void nnb__call_buffer_read(struct nnb__channel *channel);
void nnb__buffer_drop(struct nnb__connection *connection, uint32_t id, enum nbt_cause cause);
void nnb__buffers_drop(struct nnb__table *taken); /* all; the connection has ended */

/* ---- executions by call ---- */

/* One execution, from the call to its result. */
struct nnb__job {
	struct nnb__job *next, **from; /* list of the connection: executions under way */
	struct nnb__connection *connection;
	struct nnb__model *model;
	struct nnb__request request;
	/* for an execution without waiting: the buffers of its pools (nnb__buffers_hold). NULL: look them up */
	struct nnb_buffer **held;
	struct nnb_terms terms;
	struct nnb__trace trace;
	struct nnb_result result; /* owns its shapes */
	bool measure;
	uint64_t began;             /* time of the call, if the client asked for a measurement */
	uint64_t serial;            /* serial of an asynchronous or fenced execution */
	uint32_t pools;             /* pools charged to the app until the job is freed */
	uint64_t bytes;             /* bytes of these pools, charged once the job executes */
	uint64_t call_bytes;        /* bytes charged for the request and the result, until the job is freed */
	struct nnb__fenced *fenced; /* for a fenced execution, owned; else NULL */
};

/* Parse the call up to its request. False: the call has been answered. */
bool nnb__job_of(struct nnb__channel *channel, enum nbt_path path, struct nnb__job *ret);
void nnb__job_malformed(struct nnb__channel *channel, struct nnb__job *job); /* answers, and frees it */
void nnb__job_decoded(struct nnb__job *job, enum nnb_status status);
void nnb__job_answered(struct nnb__job *job, enum nbt_queue queue); /* the answer is sent, or about to be */
void nnb__job_fini(struct nnb__job *job);
void nnb__job_forget(struct nnb__job *job); /* its request */

/* Whether the job could meet its deadline if it began now (nnb__admit). */
enum nnb_status nnb__job_admit(struct nnb__job *job, struct nnb_reason *why);

/* Fail a valid job without executing it: its outputs in buffers become uninitialised. */
void nnb__job_fail(struct nnb__job *job);

/* Map its pools, run it on a lane, unmap them: job->result. */
void nnb__job_execute(struct nnb__job *job, struct nnb_reason *why);

/*
 * Run @run on a thread of its own, with a copy of @job. @run gives back NNB__ASYNC, sends the outcome to the client,
 * and calls nnb__job_leave with the copy last. NONE, and the thread owns what @job held; or a status, and the caller
 * still owns it.
 */
enum nnb_status nnb__job_launch(struct nnb__job *job, void *(*run)(void *job), struct nnb_reason *why);
void nnb__job_leave(struct nnb__job *job);

void nnb__call_times(struct nnb__channel *channel);

/* executions.c */
void nnb__call_execute(struct nnb__channel *channel);
void nnb__call_execute_async(struct nnb__channel *channel);

/* fenced.c */
void nnb__call_execute_fenced(struct nnb__channel *channel);
/* @arrived: whether the answer reached the client; if not, the waiting execution is cancelled. */
void nnb__fenced_answered(struct nnb__channel *channel, bool arrived);
void nnb__fenced_free(struct nnb__fenced *fenced);
/* Interrupt threads that block while they signal a fence. The caller holds the connection's lock. */
void nnb__fenced_hurry(struct nnb__connection *connection);

/* ---- events about objects, other than executions: emit.c ---- */

/* Emit all existing objects if a session has begun. Call at the beginning of work, without holding a lock. */
void nnb__service_news(struct nnb_service *service);

void nnb__emit_service(struct nnb_service *service); /* call before the first client is served */
void nnb__emit_hold(bool on);
/* @app: the key of the app whose limit is reached; NULL: a limit of all apps together. */
void nnb__emit_exhausted(const struct nnb_service *service, const uint32_t *app, enum nbt_resource resource,
                         uint64_t asked, uint64_t limit, bool forever);
enum nbt_resource nnb__resource_in_events(enum nnb__resource resource);

void nnb__emit_connect(struct nnb__connection *connection);
/* call when the connection has left the list, under the list's lock */
void nnb__emit_disconnect(const struct nnb__connection *connection);

void nnb__emit_prepare(struct nnb__model *model); /* call when the model has entered the list, under the list's lock */
/* @model may be NULL: unknown. */
void nnb__emit_unprepared(const struct nnb__model_birth *birth, const struct nnb_model *model, uint32_t priority,
                          enum nnb_status status);
void nnb__emit_release(const struct nnb__model *model);

void nnb__emit_burst(struct nnb__burst *burst); /* call when the burst has entered the list, under the list's lock */
void nnb__emit_burst_end(const struct nnb__burst *burst, uint64_t began); /* @began: by nnb__span_begin */

/* In buffers.c: emit an existing buffer once more. The caller holds the connection's lock. */
struct nnb__buffer;
void nnb__buffer_emit_state(const struct nnb__buffer *buffer);

/* ---- tables ---- */

/* The caller holds the connection's lock, and owns a removed item. */
int nnb__table_put(struct nnb__table *table, uint32_t id, void *item);
void *nnb__table_get(const struct nnb__table *table, uint32_t id);
void *nnb__table_remove(struct nnb__table *table, uint32_t id);
void nnb__table_fini(struct nnb__table *table);

#endif
