/*
 * service.h -- inside of the service: apps and what they hold, connections, models, bursts.
 *
 * service.c listens and keeps the apps; quota.c shares the machine's limits out among them; account.c is what a model costs its app; sweep.c closes the sockets of those that are refused; connection.c is the life of a connection and its channels; calls.c, models.c,
 * buffers.c, executions.c and fenced.c answer what comes over a channel; burst.c is a burst's service side with its line to
 * the client; tell.c says what there is to who listens.
 */
#ifndef NNB_SERVICE_SERVICE_H
#define NNB_SERVICE_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "burst/map.h"
#include "nnb/service.h"
#include "sched/run.h"
#include "service/account.h"
#include "service/numbers.h"
#include "service/protocol.h"
#include "service/quota.h"
#include "service/sweep.h"

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
	NNB__THREADS,  /* threads of asynchronous executions, until the client is notified. No limit of their own */
	NNB__FILES,    /* files of bursts' queues, beyond one for each queue. No limit of their own */
	NNB__ARRIVING, /* file descriptors of messages that are received and looked at. No limit of its own */
	NNB__N_RESOURCES
};

/* Resources that the machine limits for all apps together. */
enum nnb__machine_resource {
	NNB__DESCRIPTORS,
	NNB__MAPPINGS, /* in NNB__MAPPING-ths */
	NNB__MEMORY,   /* in bytes */
	NNB__PLACES,   /* connections: not the machine's, but what the service has for all apps */
	NNB__N_MACHINE
};

/*
 * One mapping, in units of its quota. A byte is one unit: memory from malloc takes mappings, too, of which each has 16 MiB
 * at least (nnburstd sees to that), so that a byte of an app is charged with a 16 777 216th of a mapping.
 */
#define NNB__MAPPING (UINT64_C(1) << 24)

struct nnb__app {
	struct nnb__app *next;
	struct nnb_service *service;
	uint32_t key; /* a uid, or a pid */
	uint64_t held[NNB__N_RESOURCES];
	struct nnb__quota_held of_machine[NNB__N_MACHINE];
	bool guaranteed;               /* one of the first NNB__QUOTA_APPS */
	struct nnb__lane_app lane_app; /* lane time of its executions and its trial runs */
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
	bool bound; /* the socket of that name is ours */
	uint32_t instance;
	atomic_uint last_id;
	_Atomic uint64_t counters[NNB__N_COUNTERS]; /* counts of objects that have ended */
	atomic_uint holds;                          /* bursts that keep the device fast; changed under the lock */
	uint64_t since;                             /* when it was opened */
	atomic_bool stopping;
	_Atomic uint64_t heard;  /* by nbt_news: who has been told what there is */
	pthread_mutex_t telling; /* orders threads that emit existing objects. Before the lock */
	struct nnb__sweeper sweeper;

	pthread_mutex_t lock; /* guards the following fields */
	pthread_cond_t fewer; /* a connection has gone */
	struct nnb__app *apps;
	struct nnb__connection *connections;
	struct nnb__model *models;       /* all there are */
	uint64_t held[NNB__N_RESOURCES]; /* held by all apps */
	struct nnb__quota quotas[NNB__N_MACHINE];
	uint32_t guaranteed; /* apps */
};

/*
 * Take or give back what an app holds, within the app's limits and its part of what the machine has. NONE;
 * RESOURCE_EXHAUSTED_TRANSIENT; RESOURCE_EXHAUSTED_PERSISTENT: @n alone is more than it may ever have.
 */
enum nnb_status nnb__app_take(struct nnb__app *app, enum nnb__resource resource, uint64_t n, struct nnb_reason *reason);
/* Could an app that holds nothing else ever have @n? */
bool nnb__could_have(const struct nnb_service *service, enum nnb__resource resource, uint64_t n);
/* The same without a word: false is no refusal of anything. */
bool nnb__app_lend(struct nnb__app *app, enum nnb__resource resource, uint64_t n);
void nnb__app_give(struct nnb__app *app, enum nnb__resource resource, uint64_t n);
enum nnb_status nnb__app_take_pools(struct nnb__app *app, uint32_t pools, uint64_t bytes, struct nnb_reason *reason);
/* @ever: could it be had some time? What is refused otherwise is PERSISTENT. */
enum nnb_status nnb__app_take_if(struct nnb__app *app, enum nnb__resource resource, uint64_t n, bool ever,
                                 struct nnb_reason *reason);
enum nnb_status nnb__app_take_pools_if(struct nnb__app *app, uint32_t pools, uint64_t bytes, bool ever,
                                       struct nnb_reason *reason);

/* Instead of @n of one have @k of another: at no time neither or both. As nnb__app_take; then it has what it had. */
enum nnb_status nnb__app_swap(struct nnb__app *app, enum nnb__resource from, uint64_t n, enum nnb__resource to,
                              uint64_t k, struct nnb_reason *reason);

/* The same as what keepers of pools ask; its arg is the app. */
struct nnb__budget nnb__budget_of(struct nnb__app *app);

/* UINT64_MAX: as much or more. */
static inline uint64_t nnb__saturating_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* An id that was not used lately: the instance number in its high 12 bits. Never 0. */
uint32_t nnb__new_id(struct nnb_service *service);

struct nnb__connection;
struct nnb__table;
/* The same, and none that is in @table, one of the connection's, whose lock is not held. */
uint32_t nnb__new_id_for(struct nnb__connection *connection, const struct nnb__table *table);

void nnb__service_count(struct nnb_service *service, enum nnb__counter counter, uint64_t n);

/* The lane time of @only, or of all apps (NULL). Returns their number; the caller owns *ret; NULL: no memory. */
uint32_t nnb__apps_counts(struct nnb_service *service, struct nnb__app *only, struct nnb_app_counts **ret);

/* ---- models: counted; what they hold of their app is given back with the last count ---- */

/* A model that is being prepared is tried out: what exec_state says of that. */
struct nnb__trial {
	struct nnb__trial *next, **from; /* the connection's list, under its lock */
	struct nnb__trace trace;
};

/* The data of the event model_prepare. */
struct nnb__model_birth {
	uint32_t conn;
	uint64_t began, took_ns, deadline_ns;
	uint64_t since; /* when it was there */
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
	uint64_t frame_bytes; /* reserved for each execution: as far as that is known before there is one */
	bool low_power;
	uint32_t pools;
	uint64_t bytes; /* bytes charged for the prepared model; executions are charged in addition */
};

struct nnb__model *nnb__model_ref(struct nnb__model *model);
void nnb__model_unref(struct nnb__model *model);

/*
 * As nnb__app_take_pools, for executions of @model, which its app holds besides: what does not fit beside it and a frame never
 * will, and is RESOURCE_EXHAUSTED_PERSISTENT.
 */
enum nnb_status nnb__model_take(struct nnb__model *model, uint32_t pools, uint64_t bytes, struct nnb_reason *reason);
/* Reserve a frame, for an execution whose pools are of @bytes. */
enum nnb_status nnb__model_reserve(struct nnb__model *model, uint64_t bytes, struct nnb_reason *reason);
void nnb__model_release(struct nnb__model *model);
/* Could its app ever have this besides the model? */
bool nnb__model_fits(const struct nnb__model *model, uint32_t pools, uint64_t bytes);
struct nnb__budget nnb__model_budget(struct nnb__model *model);

/* ---- bursts: counted likewise ---- */

struct nnb__burst {
	atomic_uint refs;
	struct nnb__connection *connection;
	struct nnb__model *model;
	uint32_t id;
	bool extended;
	uint32_t more_files; /* files of its queues, beyond one for each */
	int line;            /* to the client, to ask what slots are */
	bool broken; /* the callback's channel is out of step: do not use it any more. Owned by the burst's thread */
	struct nnb__message message; /* likewise */
	struct nnb_burst_server *server;
	uint64_t since;   /* when it was there; 0: it is not yet */
	uint64_t took_ns; /* to make it */
};

/* @line is taken, whatever happens, and so is a count of @model. */
enum nnb_status nnb__burst_new(struct nnb__burst **ret, struct nnb__connection *connection, struct nnb__model *model,
                               bool extended, const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
                               int line, struct nnb_reason *reason);
void nnb__burst_unref(struct nnb__burst *burst);
/* End every wait of the burst's thread for the client's answer, or for a lane. Any thread. */
void nnb__burst_hang_up(struct nnb__burst *burst);

/* ---- connections ---- */

/* A list by id, of models, bursts or buffers. */
struct nnb__table {
	struct nnb__map by_id;
	void **items;
	uint32_t n, room;
};

/* Things with a stream in each connection: calls by path, and trial runs of models. Bursts have streams of their own. */
enum { NNB__CALL_PATHS = NBT_path_prepare + 1 };

struct nnb__connection {
	struct nnb__connection *next, **from; /* the service's list */
	struct nnb_service *service;
	struct nnb__app *app;
	uint32_t id;
	char name[NNB_NAME_MAX];
	uint32_t hal;                      /* enum nnb_hal */
	bool sees_all;                     /* may see the lane time of other apps */
	uint32_t streams[NNB__CALL_PATHS]; /* by path: the stream of its calls in traces */
	atomic_uint n_trials;              /* trial runs so far */
	int life, events;
	int process;                 /* a pidfd of who connected; -1: there is none to be had */
	uint32_t pid, uid;           /* likewise */
	uint64_t since;              /* when it was told of; 0: it is not yet. Under the service's lock */
	uint8_t reason;              /* enum nbt_reason: why it ends. Before closing is set */
	pthread_mutex_t events_lock; /* one sender at a time */
	atomic_bool closing;

	pthread_mutex_t lock; /* guards the following fields */
	pthread_cond_t fewer; /* a channel or an asynchronous execution has gone */
	struct nnb__channel *channels;
	uint32_t n_channels, n_async;                 /* those that are about to end, too */
	struct nnb__fenced *signalling;               /* about to signal their fences */
	struct nnb__job *jobs;                        /* under way */
	struct nnb__trial *trials;                    /* likewise */
	struct nnb__numbers numbers[NNB__CALL_PATHS]; /* of its calls, by path */
	struct nnb__table models, bursts, buffers;
};

struct nnb__channel {
	struct nnb__channel *next, **from;
	struct nnb__connection *connection;
	int sock;
	pthread_t thread; /* if it is known: the connection's lock is held */
	bool thread_known;
	struct nnb__message in, out;
	uint32_t made_model, made_burst, made_buffer; /* by the call under way; 0: none */
	int made_fence;                               /* likewise: of the execution that it launched; -1: none */
	bool will_tell;                               /* the client was promised a completion event */
};

/* Serve the client at the other end of @sock, which is taken, on a thread of its own. */
void nnb__connection_start(struct nnb_service *service, int sock);

/*
 * In service.c, for connection.c. Enter: set the app of the connection's credentials, take a place for a connection, and enter the
 * service's list, unless the connection is refused. Retire: take back the life line, which the caller closes.
 */
enum nnb_status nnb__connection_enter(struct nnb__connection *connection, struct nnb_reason *reason);
int nnb__connection_retire(struct nnb__connection *connection);
void nnb__connection_leave(struct nnb__connection *connection);

/* ---- calls ---- */

/* Answer the call in channel->in, into channel->out. 0; -EBADMSG: it is no call. */
int nnb__call_dispatch(struct nnb__channel *channel);

/* The answer did not arrive: undo what the call made. */
void nnb__call_undo(struct nnb__channel *channel);

/* Has the client a HAL with deadlines and priorities, and their statuses? */
static inline bool nnb__has_qos(const struct nnb__connection *connection)
{
	return connection->hal >= NNB_HAL_1_3;
}

/* The status as this client knows it. */
enum nnb_status nnb__status_for(const struct nnb__connection *connection, enum nnb_status status);

/* For who answers. */
void nnb__call_answer(struct nnb__channel *channel, enum nnb_status status, const struct nnb_reason *why);
void nnb__call_malformed(struct nnb__channel *channel);

/* The model of this id, counted; NULL: the client has none. */
struct nnb__model *nnb__model_get(struct nnb__connection *connection, uint32_t id);

/* The model whose id comes next in the call. NULL: the call has been answered. */
struct nnb__model *nnb__call_model(struct nnb__channel *channel);

/* models.c */
void nnb__call_supported(struct nnb__channel *channel);
void nnb__call_prepare(struct nnb__channel *channel);
void nnb__call_prepare_from_cache(struct nnb__channel *channel);
void nnb__call_release(struct nnb__channel *channel);
void nnb__model_drop(struct nnb__connection *connection, uint32_t id);
uint64_t nnb__pools_bytes(const struct nnb_memory *pools, uint32_t n); /* UINT64_MAX: more than that */

/* ---- buffers: what they hold of their app is given back when their last use is over ---- */

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
	struct nnb__job *next, **from; /* the connection's list of those that are under way */
	struct nnb__connection *connection;
	struct nnb__model *model;
	struct nnb__request request;
	/* for an execution without waiting: the buffers of its pools (nnb__buffers_hold). NULL: look them up */
	struct nnb_buffer **held;
	struct nnb_terms terms;
	struct nnb__trace trace;
	struct nnb_result result; /* owns its shapes */
	bool measure;
	uint64_t began;             /* if it is to be measured */
	uint64_t serial;            /* for an execution without waiting: its serial */
	uint32_t pools;             /* pools charged to the app until the job is freed ... */
	uint64_t bytes;             /* ... and theirs, once it executes */
	struct nnb__fenced *fenced; /* for a fenced execution, owned; else NULL */
};

/* Take the call apart as far as its request. False, and the call is answered. */
bool nnb__job_of(struct nnb__channel *channel, enum nbt_path path, struct nnb__job *ret);
void nnb__job_malformed(struct nnb__channel *channel, struct nnb__job *job); /* answers, and frees it */
void nnb__job_decoded(struct nnb__job *job, enum nnb_status status);
void nnb__job_answered(struct nnb__job *job, enum nbt_queue queue); /* the answer is sent, or about to be */
void nnb__job_fini(struct nnb__job *job);
void nnb__job_forget(struct nnb__job *job); /* its request */

/* Is there any point in beginning? (nnb__admit) */
enum nnb_status nnb__job_admit(struct nnb__job *job, struct nnb_reason *why);

/* Fail a valid job without executing it: its outputs in buffers become uninitialised. */
void nnb__job_fail(struct nnb__job *job);

/* Map its pools, run it on a lane, unmap them: job->result. */
void nnb__job_execute(struct nnb__job *job, struct nnb_reason *why);

/*
 * Have @run end a copy of @job, on a thread of its own: it gives back its NNB__ASYNC, says what became of the job, and
 * calls nnb__job_leave with it, last of all. NONE; or why not, and nothing has happened.
 */
enum nnb_status nnb__job_launch(struct nnb__job *job, void *(*run)(void *job), struct nnb_reason *why);
void nnb__job_leave(struct nnb__job *job);

void nnb__call_times(struct nnb__channel *channel);

/* executions.c */
void nnb__call_execute(struct nnb__channel *channel);
void nnb__call_execute_async(struct nnb__channel *channel);

/* fenced.c */
void nnb__call_execute_fenced(struct nnb__channel *channel);
/* @arrived false: the answer was not delivered, so the waiting execution is given up */
void nnb__fenced_answered(struct nnb__channel *channel, bool arrived);
void nnb__fenced_free(struct nnb__fenced *fenced);
/* let no thread be held up. The caller holds the connection's lock */
void nnb__fenced_hurry(struct nnb__connection *connection);

/* ---- what is said of it besides executions: tell.c ---- */

/* Emit all existing objects if a session has begun. Call at the beginning of work, without holding a lock. */
void nnb__service_news(struct nnb_service *service);

void nnb__tell_service(struct nnb_service *service); /* call before the first client is served */
void nnb__tell_hold(bool on);
/* @app: its key; NULL: it is what all of them have together. */
void nnb__tell_exhausted(const struct nnb_service *service, const uint32_t *app, enum nbt_resource resource,
                         uint64_t asked, uint64_t limit, bool forever);
enum nbt_resource nnb__resource_told(enum nnb__resource resource);

void nnb__tell_connect(struct nnb__connection *connection);
/* call when the connection has left the list, under the list's lock */
void nnb__tell_disconnect(const struct nnb__connection *connection);

void nnb__tell_prepare(struct nnb__model *model); /* call when the model has entered the list, under the list's lock */
/* @model may be NULL: unknown. */
void nnb__tell_unprepared(const struct nnb__model_birth *birth, const struct nnb_model *model, uint32_t priority,
                          enum nnb_status status);
void nnb__tell_release(const struct nnb__model *model);

void nnb__tell_burst(struct nnb__burst *burst); /* call when the burst has entered the list, under the list's lock */
void nnb__tell_burst_end(const struct nnb__burst *burst, uint64_t began); /* began: to end it, as of a span */

/* buffers.c: once more. The connection's lock is held. */
struct nnb__buffer;
void nnb__buffer_tell(const struct nnb__buffer *buffer);

/* ---- tables ---- */

/* Into and out of a table; the connection's lock is held. A removed item is the caller's. */
int nnb__table_put(struct nnb__table *table, uint32_t id, void *item);
void *nnb__table_get(const struct nnb__table *table, uint32_t id);
void *nnb__table_remove(struct nnb__table *table, uint32_t id);
void nnb__table_fini(struct nnb__table *table);

#endif
