/*
 * service.c -- listens, keeps apps and their limits, starts and stops.
 *
 * CONCURRENCY  nnb_service_run is one thread, which never waits for a client; each connection has its own threads,
 *           which call here on behalf of their app. The lock guards the lists and what apps hold; under it no thread
 *           waits, and nothing from a client is closed, because closing may take long. Order: this lock before a
 *           connection's, and that one before the lock of the ids (ids.c).
 * PROGRESS  A stop takes FAREWELL_NS and the time of the process's exit, regardless of clients: what has not ended by
 *           then (an operation of the driver, a file system that does not answer) ends with the process.
 * CRASH     The socket's lock file is locked as long as the process lives: a process that finds it unlocked may
 *           replace the socket, because its owner is dead. A thread that never ends keeps the file open in a dead
 *           process, so the prober (memory/errand.h) unlocks it then.
 * TRUST     The kernel identifies a client (SO_PEERCRED). Everything that a client may hold is counted before it is
 *           made. Clients that are users can send no files before they are let in, so closing what is in the backlog,
 *           or was refused, waits for no file of theirs (Linux 6.16).
 */
#include "service/service.h"
#include "base/close.h"
#include "base/lock.h"
#include "base/offer.h"
#include "base/sys.h"
#include "trace/open.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum { CONNECTIONS = 256, BACKLOG = 64, LATE_FILES = 2 /* of a burst or a pool: what it has mapped */ };
#define CALLBACK_NS UINT64_C(10000000000)
#define WORK_NS UINT64_C(60000000000)
#define FAREWELL_NS UINT64_C(1500000000) /* limit of the time in which a stopping service waits for its threads */
#define BREATH_MS 20
#define LOCK_WAITS 25
#define WORKERS_MOST 64

static const struct {
	const char *name;
	uint64_t usual; /* limit of an app */
	/*
	 * The most that one object takes of the machine. A connection: its life line, its socket for events, its
	 * process's pidfd; a thread. A channel: its socket; a thread. A burst: its line, two queues of one file each;
	 * a thread. A pool: its received file, and a duplicate for its mapping (a thread's stack takes two mappings,
	 * a pool two). An asynchronous execution: its fence, twice; its thread. A model: the mappings of its
	 * operators.
	 */
	uint8_t descriptors, mappings, threads;
} resources[NNB__N_RESOURCES] = {
	[NNB__CONNECTIONS] = { "connections", 16, 3, 2, 1 },
	[NNB__CHANNELS] = { "channels", 64, 1, 2, 1 },
	[NNB__MODELS] = { "models", 64, 0, 4, 0 },
	[NNB__BURSTS] = { "bursts", 256, 3, 4, 1 },
	[NNB__BUFFERS] = { "buffers", 1024, 0, 0, 0 },
	[NNB__POOLS] = { "pools", 4096, 2, 2, 0 },
	[NNB__BYTES] = { "bytes", UINT64_C(4) << 30, 0, 0, 0 },
	[NNB__ASYNC] = { "asynchronous executions", 64, 0, 0, 0 },
	[NNB__THREADS] = { "threads of asynchronous executions", UINT64_MAX, 2, 2, 1 },
	[NNB__FILES] = { "files of queues, or to be unmapped", UINT64_MAX, 1, 1, 0 },
	[NNB__ARRIVING] = { "file descriptors of a message", UINT64_MAX, 1, 0, 0 },
};

static const struct {
	const char *name;
	uint8_t in_events; /* enum nbt_resource */
	uint64_t unit;     /* units of its quota for each one */
} machine[NNB__N_MACHINE] = {
	[NNB__DESCRIPTORS] = { "file descriptors (RLIMIT_NOFILE)", NBT_resource_descriptors, 1 },
	[NNB__MAPPINGS] = { "mappings (vm.max_map_count)", NBT_resource_mappings, NNB__MAPPING },
	[NNB__MEMORY] = { "bytes (memory of the machine)", NBT_resource_memory, 1 },
	[NNB__TASKS] = { "threads", NBT_resource_threads, 1 },
	[NNB__PLACES] = { "connections (total-connections)", NBT_resource_connections, 1 },
};

/* ---- what apps hold ---- */

/* A request for resources, and the reason if it is refused. */
struct asked {
	uint64_t n;
	const char *name;
	enum nbt_resource in_events;
	bool own; /* the app's own limit is reached; otherwise the limit of all apps */
	uint64_t held, most;
	bool forever;
};

/* In units of a quota. */
static uint64_t cost_of(enum nnb__resource resource, enum nnb__machine_resource of, uint64_t n)
{
	switch (of) {
	case NNB__DESCRIPTORS:
		return n * resources[resource].descriptors;
	case NNB__MAPPINGS:
		return resource == NNB__BYTES ? n : n * resources[resource].mappings * NNB__MAPPING;
	case NNB__MEMORY:
		return resource == NNB__BYTES ? n : 0;
	case NNB__TASKS:
		return n * resources[resource].threads;
	default:
		return resource == NNB__CONNECTIONS ? n : 0;
	}
}

/* Check the app's own limit and the limit of all apps. The lock is held. */
static bool has_in_limits(struct nnb__app *app, enum nnb__resource resource, struct asked *ask)
{
	const struct nnb_service *s = app->service;
	uint64_t limit = s->limits[resource], most = resource == NNB__BYTES ? s->config.memory : UINT64_MAX;

	assert(nnb__is_locked(&app->service->lock));
	ask->own = ask->n > limit || app->held[resource] > limit - ask->n;
	if (!ask->own && s->held[resource] <= most - ask->n)
		return true;
	ask->name = resources[resource].name;
	ask->in_events = nnb__resource_in_events(resource);
	ask->held = ask->own ? app->held[resource] : s->held[resource];
	ask->most = ask->own ? limit : most;
	ask->forever = ask->n > limit;
	return false;
}

/* Check the app's part of a machine limit. The lock is held. */
static bool has_in_machine(struct nnb__app *app, enum nnb__resource resource, enum nnb__machine_resource of,
                           struct asked *ask)
{
	const struct nnb__quota *q = &app->service->quotas[of];
	uint64_t cost = cost_of(resource, of, ask->n);
	enum nnb__quota_answer answer = cost ? nnb__quota_asks(q, &app->of_machine[of], cost) : NNB__QUOTA_HAS;

	assert(nnb__is_locked(&app->service->lock));
	if (answer == NNB__QUOTA_HAS)
		return true;
	ask->n = (cost + machine[of].unit - 1) / machine[of].unit;
	ask->own = answer == NNB__QUOTA_OWN;
	ask->name = of == NNB__TASKS ? app->service->tasks_name : machine[of].name;
	ask->in_events = machine[of].in_events;
	ask->held = (ask->own ? app->of_machine[of].units : q->used) / machine[of].unit;
	ask->most = (ask->own ? q->most : q->limit) / machine[of].unit;
	ask->forever = cost > q->most;
	return false;
}

bool nnb__could_have(const struct nnb_service *s, enum nnb__resource resource, uint64_t n)
{
	if (n > s->limits[resource])
		return false;
	for (int of = 0; of < NNB__N_MACHINE; of++)
		if (cost_of(resource, of, n) > s->quotas[of].most)
			return false;
	return true;
}

/* The lock is held. */
static void resource_hold(struct nnb__app *app, enum nnb__resource resource, uint64_t n)
{
	struct nnb_service *s = app->service;

	assert(nnb__is_locked(&s->lock));
	for (int of = 0; of < NNB__N_MACHINE; of++)
		nnb__quota_take(&s->quotas[of], &app->of_machine[of], cost_of(resource, of, n));
	app->held[resource] += n;
	s->held[resource] += n;
}

/* Charge the app if all limits allow it. The lock is held. */
static bool resource_lend(struct nnb__app *app, enum nnb__resource resource, struct asked *ask)
{
	uint64_t n = ask->n;

	assert(nnb__is_locked(&app->service->lock));
	if (!has_in_limits(app, resource, ask))
		return false;
	for (int of = 0; of < NNB__N_MACHINE; of++)
		if (!has_in_machine(app, resource, of, ask))
			return false;
	resource_hold(app, resource, n);
	return true;
}

bool nnb__app_lend(struct nnb__app *app, enum nnb__resource resource, uint64_t n)
{
	struct asked ask = { .n = n };
	bool lent;

	pthread_mutex_lock(&app->service->lock);
	lent = resource_lend(app, resource, &ask);
	pthread_mutex_unlock(&app->service->lock);
	return lent;
}

static enum nnb_status refusal_report(const struct nnb__app *app, const struct asked *ask, struct nnb_reason *reason)
{
	nnb__emit_exhausted(app->service, ask->own ? &app->key : NULL, ask->in_events, ask->n, ask->most, ask->forever);
	nnb_because(reason, "%llu more %s: %s %llu of %llu", (unsigned long long)ask->n, ask->name,
	            ask->own ? "the app has" : "all apps together have", (unsigned long long)ask->held,
	            (unsigned long long)ask->most);
	return ask->forever ? NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT : NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnb_status nnb__app_take_if(struct nnb__app *app, enum nnb__resource resource, uint64_t n, bool ever,
                                 struct nnb_reason *reason)
{
	struct nnb_service *s = app->service;
	struct asked ask = { .n = n };
	bool lent;

	pthread_mutex_lock(&s->lock);
	lent = resource_lend(app, resource, &ask);
	pthread_mutex_unlock(&s->lock);
	if (lent)
		return NNB_STATUS_NONE;
	nnb__service_count(s, NNB__REFUSED, 1);
	ask.forever |= !ever;
	return refusal_report(app, &ask, reason);
}

enum nnb_status nnb__app_take(struct nnb__app *app, enum nnb__resource resource, uint64_t n, struct nnb_reason *reason)
{
	return nnb__app_take_if(app, resource, n, true, reason);
}

/* Charge the app for @n of *@due, if all limits allow it. The lock is held. */
static void late_lend(struct nnb__app *app, enum nnb__resource resource, uint64_t *due, uint64_t n)
{
	struct asked ask = { .n = n < *due ? n : *due };

	assert(nnb__is_locked(&app->service->lock));
	if (ask.n && resource_lend(app, resource, &ask))
		*due -= ask.n;
}

/* The lock is held. */
static void resource_give(struct nnb__app *app, enum nnb__resource resource, uint64_t n)
{
	struct nnb_service *s = app->service;

	assert(nnb__is_locked(&s->lock));
	for (int of = 0; of < NNB__N_MACHINE; of++)
		nnb__quota_give(&s->quotas[of], &app->of_machine[of], cost_of(resource, of, n));
	assert(n <= app->held[resource] && n <= s->held[resource]);
	app->held[resource] -= n;
	s->held[resource] -= n;
	/*
	 * What is still mapped takes the place of what this stood for. Only bursts and pools stood for files, and only
	 * bytes for bytes; to offer their room after anything else lends no more than there is.
	 */
	if (app->late) {
		late_lend(app, NNB__FILES, &app->late_files, n * LATE_FILES);
		late_lend(app, NNB__BYTES, &app->late_bytes, n);
	}
}

void nnb__app_give(struct nnb__app *app, enum nnb__resource resource, uint64_t n)
{
	pthread_mutex_lock(&app->service->lock);
	resource_give(app, resource, n);
	pthread_mutex_unlock(&app->service->lock);
}

enum nnb_status nnb__app_swap(struct nnb__app *app, enum nnb__resource from, uint64_t n, enum nnb__resource to,
                              uint64_t k, struct nnb_reason *reason)
{
	struct nnb_service *s = app->service;
	struct asked ask = { .n = k };
	bool lent;

	pthread_mutex_lock(&s->lock);
	resource_give(app, from, n);
	lent = resource_lend(app, to, &ask);
	if (!lent)
		resource_hold(app, from, n);
	pthread_mutex_unlock(&s->lock);
	if (lent)
		return NNB_STATUS_NONE;
	nnb__service_count(s, NNB__REFUSED, 1);
	return refusal_report(app, &ask, reason);
}

enum nnb_status nnb__app_take_pools(struct nnb__app *app, uint32_t pools, uint64_t bytes, struct nnb_reason *reason)
{
	return nnb__app_take_pools_if(app, pools, bytes, true, reason);
}

enum nnb_status nnb__app_take_pools_if(struct nnb__app *app, uint32_t pools, uint64_t bytes, bool ever,
                                       struct nnb_reason *reason)
{
	enum nnb_status status = nnb__app_take_if(app, NNB__POOLS, pools, ever, reason);

	if (status)
		return status;
	status = nnb__app_take_if(app, NNB__BYTES, bytes, ever, reason);
	if (status)
		nnb__app_give(app, NNB__POOLS, pools);
	return status;
}

void nnb__app_give_pools(struct nnb__app *app, uint32_t pools, uint64_t bytes)
{
	nnb__app_give(app, NNB__POOLS, pools);
	nnb__app_give(app, NNB__BYTES, bytes);
}

static enum nnb_status budget_take(void *arg, uint32_t pools, uint64_t bytes)
{
	return nnb__app_take_pools(arg, pools, bytes, NULL);
}

static void budget_give(void *arg, uint32_t pools, uint64_t bytes)
{
	nnb__app_give_pools(arg, pools, bytes);
}

static enum nnb_status budget_take_fds(void *arg, uint32_t n, struct nnb_reason *reason)
{
	return nnb__app_take(arg, NNB__ARRIVING, n, reason);
}

static void budget_give_fds(void *arg, uint32_t n)
{
	nnb__app_give(arg, NNB__ARRIVING, n);
}

struct nnb__budget nnb__budget_of(struct nnb__app *app)
{
	return (struct nnb__budget){ .take = budget_take,
		                     .give = budget_give,
		                     .take_fds = budget_take_fds,
		                     .give_fds = budget_give_fds,
		                     .arg = app };
}

void nnb__service_count(struct nnb_service *s, enum nnb__counter counter, uint64_t n)
{
	atomic_fetch_add_explicit(&s->counters[counter], n, memory_order_relaxed);
}

enum nnb_status nnb__new_id(struct nnb_service *s, uint32_t *ret, struct nnb_reason *reason)
{
	uint32_t id = nnb__id_take(&s->ids);

	if (!id) {
		nnb_because(reason, "the service has no id for another object");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	*ret = id;
	return NNB_STATUS_NONE;
}

/* ---- apps and connections ---- */

/* Processes of one user can end each other anyway: where apps are processes, nothing bounds what their files cost. */
static bool has_gates(const struct nnb_service *s)
{
	return s->config.prober > 0 && s->config.identity == NNB_APP_UID;
}

/* Whether the app @key is root's, or the service's own user's, who look after the service. */
static bool is_administrator(const struct nnb_service *s, uint32_t key)
{
	return s->config.identity == NNB_APP_UID && (key == 0 || key == geteuid());
}

/* Whether a new app @key has guaranteed parts of the limits; *first: as one of the first apps. The lock is held. */
static bool app_has_guarantee(const struct nnb_service *s, uint32_t key, bool *first)
{
	const uint32_t kept = s->config.identity == NNB_APP_UID ? NNB__QUOTA_ADMINISTRATORS : 0;

	assert(nnb__is_locked(&s->lock));
	*first = !is_administrator(s, key) && s->guaranteed < NNB__QUOTA_APPS - kept;
	return *first || is_administrator(s, key);
}

/* Free an app without connections, which holds nothing. The lock is held. */
static void forget_app(struct nnb_service *s, struct nnb__app *app)
{
	struct nnb__app **at = &s->apps;

	assert(nnb__is_locked(&s->lock));
	if (app->held[NNB__CONNECTIONS] || app->late)
		return;
	for (int r = 0; r < NNB__N_RESOURCES; r++)
		assert(!app->held[r]); /* an object is gone before its connection is */
	while (*at != app)
		at = &(*at)->next;
	*at = app->next;
	if (app->guaranteed && !is_administrator(s, app->key)) {
		assert(s->guaranteed);
		s->guaranteed--;
	}
	nnb__desk_fini(&app->desk);
	nnb__gate_unref(app->gate);
	nnb__errands_unref(app->errands);
	free(app);
}

/* As nnb__gate_keeper wants it. What finds no room beside the charge of its user comes in its place (resource_give). */
static void late_hold(void *arg, uint32_t files, uint64_t bytes)
{
	struct nnb__app *app = arg;

	pthread_mutex_lock(&app->service->lock);
	app->late++;
	app->late_files += files;
	app->late_bytes += bytes;
	late_lend(app, NNB__FILES, &app->late_files, UINT64_MAX);
	late_lend(app, NNB__BYTES, &app->late_bytes, UINT64_MAX);
	pthread_mutex_unlock(&app->service->lock);
}

/* Give back @n, of which *@due has not been charged. The lock is held. */
static void late_give(struct nnb__app *app, enum nnb__resource resource, uint64_t *due, uint64_t n)
{
	uint64_t never = *due < n ? *due : n;

	*due -= never;
	if (n > never)
		resource_give(app, resource, n - never);
}

static void late_release(void *arg, uint32_t files, uint64_t bytes)
{
	struct nnb__app *app = arg;
	struct nnb_service *s = app->service;

	pthread_mutex_lock(&s->lock);
	assert(app->late);
	late_give(app, NNB__FILES, &app->late_files, files);
	late_give(app, NNB__BYTES, &app->late_bytes, bytes);
	if (!--app->late)
		forget_app(s, app);
	pthread_mutex_unlock(&s->lock);
}

static const struct nnb__gate_keeper gate_keeper = { .hold = late_hold, .release = late_release };

static struct nnb__app *find_app(struct nnb_service *s, uint32_t key)
{
	struct nnb__app *app = s->apps;
	bool is_first;

	assert(nnb__is_locked(&s->lock));
	while (app && app->key != key)
		app = app->next;
	if (app)
		return app;
	app = calloc(1, sizeof(*app));
	if (!app)
		return NULL;
	app->service = s;
	app->key = key;
	app->gate = has_gates(s) ? nnb__gate_of(key, &gate_keeper, app) : NULL;
	app->guaranteed = app_has_guarantee(s, key, &is_first);
	s->guaranteed += is_first;
	for (int of = 0; of < NNB__N_MACHINE; of++)
		app->of_machine[of].guaranteed = app->guaranteed;
	nnb__desk_init(&app->desk, s->config.limits.preparations);
	app->errands = s->config.prober > 0 ? nnb__errands_of(key) : NULL;
	app->porters = has_gates(s) ? app->errands : NULL;
	app->next = s->apps;
	s->apps = app;
	return app;
}

uint32_t nnb__apps_counts(struct nnb_service *s, struct nnb__app *only, struct nnb_app_counts **ret)
{
	uint32_t n = 0, room = 0;

	pthread_mutex_lock(&s->lock);
	for (struct nnb__app *a = s->apps; a; a = a->next)
		room++;
	*ret = calloc(room, sizeof(**ret));
	for (struct nnb__app *a = s->apps; *ret && a; a = a->next) {
		if (only && a != only)
			continue;
		(*ret)[n].app = a->key;
		nnb__lanes_counts(&s->lanes, &a->lane_app, &(*ret)[n++]);
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

/* Charge the app for a connection. The lock is held. */
static enum nnb_status connection_admit(struct nnb_service *s, struct nnb__connection *c, uint32_t key,
                                        struct nnb_reason *reason)
{
	struct nnb__app *app = find_app(s, key);
	struct asked ask = { .n = 1 };
	enum nnb_status status;

	assert(nnb__is_locked(&s->lock));
	if (!app) {
		nnb_because(reason, "the service has no memory for another app");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (resource_lend(app, NNB__CONNECTIONS, &ask)) {
		c->app = app;
		return NNB_STATUS_NONE;
	}
	status = refusal_report(app, &ask, reason);
	forget_app(s, app);
	return status;
}

/* Whether a call failed because the service or the machine has no file or memory left, for now. */
static bool lacks_room(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/*
 * A pidfd of the client's process; -1 where the machine has none. The socket has it since Linux 6.5; on older kernels
 * another process may have the pid by now, if the client has ended. 0, or -errno: there is no room (lacks_room);
 * otherwise the process has ended, as far as is known.
 */
static int peer_process(int sock, pid_t pid, int *ret)
{
	socklen_t size = sizeof(*ret);
	struct pollfd ended = { .events = POLLIN };

	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, ret, &size)) {
		*ret = -1;
		if (errno != ENOPROTOOPT)
			return -errno;
		*ret = pidfd_open(pid, 0);
		if (*ret < 0)
			return errno == ESRCH || lacks_room(errno) ? -errno : 0;
	}
	ended.fd = *ret;
	return poll(&ended, 1, 0) > 0 ? -ESRCH : 0;
}

/*
 * May a process be this client? Its socket can outlive it in another process, and its pid can be another's then: no
 * connection begins for a process that has ended. Where apps are processes, the service must see them: all that it
 * cannot see have the pid 0.
 */
static enum nnb_status identity_check(struct nnb__connection *c, pid_t pid, struct nnb_reason *reason)
{
	bool by_pid = c->service->config.identity == NNB_APP_PID;
	int r = peer_process(c->life, pid, &c->process);

	if (r) {
		nnb_because(reason, "the process that connected cannot be watched: %s", strerror(-r));
		return lacks_room(-r) ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_GENERAL_FAILURE;
	}
	if (by_pid && c->uid != geteuid()) {
		nnb_because(reason, "this service is user %u's own", geteuid());
		return NNB_STATUS_DEVICE_UNAVAILABLE;
	}
	if (by_pid && pid <= 0) {
		nnb_because(reason, "this service takes each process for an app, and the client's is in a pid "
		                    "namespace that it does not see");
		return NNB_STATUS_DEVICE_UNAVAILABLE;
	}
	return NNB_STATUS_NONE;
}

/* Give back the ids of the connection and of its streams. */
static void connection_give_ids(struct nnb__connection *c)
{
	for (int path = NBT_path_sync; path < NNB__CALL_PATHS; path++)
		nnb__id_give(&c->service->ids, c->streams[path]);
	nnb__id_give(&c->service->ids, c->id);
}

/* Take ids for the connection, which is admitted, and for its streams. The lock is held. */
static enum nnb_status connection_take_ids(struct nnb__connection *c, struct nnb_reason *reason)
{
	enum nnb_status status = nnb__new_id(c->service, &c->id, reason);

	for (int path = NBT_path_sync; !status && path < NNB__CALL_PATHS; path++)
		status = nnb__new_id(c->service, &c->streams[path], reason);
	if (status) {
		connection_give_ids(c);
		resource_give(c->app, NNB__CONNECTIONS, 1);
		forget_app(c->service, c->app);
	}
	return status;
}

enum nnb_status nnb__connection_enter(struct nnb__connection *c, struct nnb_reason *reason)
{
	struct nnb_service *s = c->service;
	bool by_pid = s->config.identity == NNB_APP_PID;
	enum nnb_status status = NNB_STATUS_NONE;
	struct ucred who = { 0 };
	socklen_t size = sizeof(who);

	if (getsockopt(c->life, SOL_SOCKET, SO_PEERCRED, &who, &size))
		status = NNB_STATUS_GENERAL_FAILURE;
	c->pid = (uint32_t)who.pid;
	c->uid = who.uid;
	nnb__subuids_refresh(&s->subuids); /* if that fails, the ranges that were read last stay valid */
	c->owner = nnb__subuid_owner(&s->subuids, who.uid);
	c->sees_all = who.uid == 0 || who.uid == geteuid();
	if (!status)
		status = identity_check(c, who.pid, reason);
	pthread_mutex_lock(&s->lock);
	if (!status)
		status = connection_admit(s, c, by_pid ? (uint32_t)who.pid : c->owner, reason);
	if (!status) /* not earlier: a refused connection takes no id */
		status = connection_take_ids(c, reason);
	if (!status) {
		c->next = s->connections;
		c->from = &s->connections;
		if (c->next)
			c->next->from = &c->next;
		s->connections = c;
	}
	pthread_mutex_unlock(&s->lock);
	if (status)
		nnb__service_count(s, NNB__REFUSED, 1);
	return status;
}

int nnb__connection_retire(struct nnb__connection *c)
{
	int life;

	pthread_mutex_lock(&c->service->lock);
	life = c->life;
	assert(life >= 0);
	c->life = -1;
	pthread_mutex_unlock(&c->service->lock);
	return life;
}

void nnb__connection_leave(struct nnb__connection *c)
{
	struct nnb_service *s = c->service;

	pthread_mutex_lock(&s->lock);
	assert(c->life < 0 && !c->n_channels && !c->n_async && *c->from == c);
	*c->from = c->next;
	if (c->next)
		c->next->from = c->from;
	nnb__emit_disconnect(c);
	connection_give_ids(c);
	resource_give(c->app, NNB__CONNECTIONS, 1);
	forget_app(s, c->app);
	pthread_cond_broadcast(&s->fewer);
	pthread_mutex_unlock(&s->lock);
}

/* ---- the socket ---- */

static int socket_error(struct nnb_reason *reason, const char *what, const char *path)
{
	int error = errno;

	nnb_because(reason, "%s: %s: %s", path, what, strerror(error));
	return -error;
}

/* Make the socket under another name, and rename it when it listens, so that a client that finds it can connect. */
static int socket_listen(struct nnb_service *s, const char *name, struct nnb_reason *reason)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	mode_t mode = s->config.identity == NNB_APP_UID ? 0666 : 0600;

	if (strlen(name) >= sizeof(at.sun_path)) {
		nnb_because(reason, "%s: too long for a socket", s->socket);
		return -ENAMETOOLONG;
	}
	strcpy(at.sun_path, name);
	unlink(name);
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener < 0)
		return socket_error(reason, "no socket", s->socket);
	if (has_gates(s))
		nnb__socket_take_files(s->listener, false);
	if (bind(s->listener, (struct sockaddr *)&at, sizeof(at)))
		return socket_error(reason, "cannot bind", s->socket);
	if (chmod(name, mode) || listen(s->listener, BACKLOG) || rename(name, s->socket)) {
		int r = socket_error(reason, "cannot listen", s->socket);

		unlink(name);
		return r;
	}
	s->bound = true;
	return 0;
}

/* As flock. The prober of a service that was killed needs a moment to give the lock back. */
static int file_lock(int fd)
{
	int r = flock(fd, LOCK_EX | LOCK_NB);

	for (int waits = 0; r && errno == EWOULDBLOCK && waits < LOCK_WAITS; waits++) {
		poll(NULL, 0, BREATH_MS);
		r = flock(fd, LOCK_EX | LOCK_NB);
	}
	return r;
}

static int bind_socket(struct nnb_service *s, struct nnb_reason *reason)
{
	char *name = NULL;
	struct stat st;
	int r = 0;

	/* Lock the lock file: only its holder may replace the socket. */
	s->lock_fd = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock_fd < 0)
		return socket_error(reason, "cannot open", s->lock_path);
	if (file_lock(s->lock_fd)) {
		if (errno != EWOULDBLOCK)
			return socket_error(reason, "cannot lock", s->lock_path);
		nnb_because(reason, "%s: another instance serves it", s->socket);
		close(s->lock_fd);
		s->lock_fd = -1;
		return -EADDRINUSE;
	}

	/* the socket of a dead instance may be replaced, anything else may not */
	if (!lstat(s->socket, &st) && !S_ISSOCK(st.st_mode)) {
		nnb_because(reason, "%s exists and is not a socket", s->socket);
		r = -EEXIST;
	}
	if (!r && asprintf(&name, "%s.new", s->socket) < 0)
		r = -ENOMEM;
	if (!r)
		r = socket_listen(s, name, reason);
	free(name);
	return r;
}

/* ---- life ---- */

static void config_apply(struct nnb_service *s, const struct nnb_service_config *c)
{
	const uint64_t asked[NNB__N_RESOURCES] = {
		[NNB__CONNECTIONS] = c->limits.connections,
		[NNB__CHANNELS] = c->limits.channels,
		[NNB__MODELS] = c->limits.models,
		[NNB__BURSTS] = c->limits.bursts,
		[NNB__BUFFERS] = c->limits.buffers,
		[NNB__POOLS] = c->limits.pools,
		[NNB__BYTES] = c->limits.bytes,
		[NNB__ASYNC] = c->limits.async,
		[NNB__THREADS] = UINT64_MAX,
		[NNB__FILES] = UINT64_MAX,
		[NNB__ARRIVING] = UINT64_MAX,
	};
	const char *tasks;

	s->config = *c;
	if (!s->config.connections)
		s->config.connections = CONNECTIONS;
	if (!s->config.limits.preparations) {
		cpu_set_t cpus;
		int n;

		/* Half of the cpus that this process may use, and at least one. */
		n = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);
		s->config.limits.preparations = n > 1 ? (uint32_t)n / 2 : 1;
	}
	if (!s->config.callback_ns)
		s->config.callback_ns = CALLBACK_NS;
	if (!s->config.memory)
		s->config.memory = UINT64_MAX;
	for (int i = 0; i < NNB__N_RESOURCES; i++)
		s->limits[i] = asked[i] ? asked[i] : resources[i].usual;
	nnb_device_limit_work(c->device, c->limits.work_ns ? c->limits.work_ns : WORK_NS);
	if (s->limits[NNB__BYTES] > s->config.memory) /* one app may not have more than all apps together */
		s->limits[NNB__BYTES] = s->config.memory;
	nnb__quota_init(&s->quotas[NNB__DESCRIPTORS], nnb__machine_descriptors());
	nnb__quota_init(&s->quotas[NNB__MAPPINGS], nnb__machine_mappings() * NNB__MAPPING);
	if (c->memory)
		/* the user who started the service has set the limit */
		nnb__quota_init_of_apps(&s->quotas[NNB__MEMORY], UINT64_MAX);
	else
		nnb__quota_init(&s->quotas[NNB__MEMORY], nnb__machine_memory());
	nnb__quota_init(&s->quotas[NNB__TASKS], nnb__machine_threads(&tasks));
	snprintf(s->tasks_name, sizeof(s->tasks_name), "threads (%s)", tasks);
	nnb__quota_init_of_apps(&s->quotas[NNB__PLACES], s->config.connections);
	if (getrandom(&s->instance, sizeof(s->instance), 0) != sizeof(s->instance))
		s->instance = (uint32_t)getpid();
	s->instance = s->instance % 4095 + 1;
}

int nnb_service_prober(int *ret)
{
	return nnb__prober_start(ret);
}

void nnb_service_prober_stop(int prober)
{
	nnb__prober_stop(prober);
}

int nnb_service_prober_follow(int prober, int pid)
{
	return nnb__prober_follow(prober, pid);
}

/*
 * How many workers (memory/errand.h) there may be: one for each @descriptors of the limit of descriptors, and one for
 * each @tasks of that of threads, but no fewer than @least, and no more than @most.
 */
static unsigned workers_within(const struct nnb_service *s, unsigned descriptors, unsigned tasks, unsigned least,
                               unsigned most)
{
	uint64_t n = s->quotas[NNB__DESCRIPTORS].limit / descriptors, by_tasks = s->quotas[NNB__TASKS].limit / tasks;

	n = by_tasks < n ? by_tasks : n;
	if (n < least)
		return least;
	return n < most ? (unsigned)n : most;
}

static void workers_begin(const struct nnb_service *s, int prober)
{
	const uint32_t administrators[NNB__QUOTA_ADMINISTRATORS] = { 0, geteuid() };

	/*
	 * Of all apps together; half as many more may make trials, and four times as many more may be porters. A worker
	 * takes two descriptors here, and a process, and the porters of an app another one: all together at most three
	 * quarters of the service's own quarter of descriptors, and eleven sixteenths of that of threads.
	 */
	nnb__errands_begin(prober, workers_within(s, 80, 32, NNB__ERRAND_WORKERS, WORKERS_MOST));
	/*
	 * The apps that may have a worker more for trials, and a porter more, whatever others have left behind:
	 * as many as have guaranteed parts of other limits (quota.h). These workers take at most a sixth of the
	 * service's own quarter of descriptors, and a 16th of that of threads.
	 */
	nnb__errands_guarantee(workers_within(s, 144, 128, 0, NNB__QUOTA_APPS), administrators,
	                       s->config.identity == NNB_APP_UID ? NNB__QUOTA_ADMINISTRATORS : 0);
}

int nnb_service_open(struct nnb_service **ret, const struct nnb_service_config *config, struct nnb_reason *reason)
{
	struct nnb_service *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	nnb__trace_open();
	nnb__close_arm();
	nnb__sweeper_init(&s->sweeper);
	s->listener = s->lock_fd = s->stop_fd = -1;
	pthread_mutex_init(&s->emitting, NULL);
	pthread_mutex_init(&s->bursts_lock, NULL);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->fewer, NULL);
	config_apply(s, config);
	if (config->prober > 0)
		workers_begin(s, config->prober);
	nnb__ids_init(&s->ids, s->instance);
	r = nnb__lanes_init(&s->lanes, config->policy, config->preempt, config->deadlines, config->lanes);
	if (r) {
		nnb_because(reason, "the kernel does not let us set nice values: that takes CAP_SYS_NICE, or "
		                    "a limit (RLIMIT_NICE) of 30");
		nnb_service_close(s);
		return r;
	}
	nnb__stalls_init(&s->stalls, &s->lanes);
	if (has_gates(s)) {
		r = nnb__gates_begin();
		if (r) {
			nnb_because(reason, "no thread that unmaps files");
			nnb_service_close(s);
			return r;
		}
	}
	s->config.lanes = s->lanes.policy.lanes;
	nnb__subuids_init(&s->subuids, config->identity == NNB_APP_UID ? config->subuid : NULL, "/etc/passwd");
	r = nnb__subuids_refresh(&s->subuids);
	if (r) {
		nnb_because(reason, "cannot read %s: %s", config->subuid, strerror(-r));
		nnb_service_close(s);
		return r;
	}
	s->socket = strdup(config->socket);
	if (!s->socket || asprintf(&s->lock_path, "%s.lock", config->socket) < 0)
		r = -ENOMEM;
	else
		r = bind_socket(s, reason);
	if (!r && config->prober > 0) /* if that fails, a thread that never ends keeps the lock of a killed service */
		nnb__prober_keep(config->prober, s->lock_fd);
	if (!r) {
		s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		r = s->stop_fd < 0 ? -errno : 0;
	}
	if (r) {
		nnb_service_close(s);
		return r;
	}
	nnb__emit_service(s);
	*ret = s;
	return 0;
}

int nnb_service_run(struct nnb_service *s)
{
	struct pollfd fds[2] = { { .fd = s->stop_fd, .events = POLLIN }, { .fd = s->listener, .events = POLLIN } };
	struct timespec at;
	uint64_t until;
	int r = nnb__sweeper_start(&s->sweeper), waited = 0;
	bool left;

	if (!r)
		r = nnb__stalls_start(&s->stalls);
	while (!r && !fds[0].revents) {
		int sock;

		if (poll(fds, 2, -1) < 0) {
			r = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (!fds[1].revents)
			continue;
		sock = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
		if (sock >= 0)
			nnb__connection_start(s, sock);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			poll(NULL, 0, BREATH_MS); /* waiting clients are accepted when resources have been freed */
	}
	until = nnb__now() + FAREWELL_NS;
	/* refuses new clients at once; clients in the backlog when the socket is closed */
	shutdown(s->listener, SHUT_RDWR);
	nnb__sweeper_end(&s->sweeper, s->listener);
	s->listener = -1;
	/* disconnect all clients, and wait until their connections have ended */
	at = (struct timespec){ (time_t)(until / 1000000000), (long)(until % 1000000000) };
	atomic_store_explicit(&s->stopping, true, memory_order_relaxed);
	if (has_gates(s))
		nnb__gates_leave(0);
	pthread_mutex_lock(&s->lock);
	for (struct nnb__connection *c = s->connections; c; c = c->next)
		shutdown(c->life, SHUT_RDWR);
	while (s->connections && !waited)
		waited = pthread_cond_clockwait(&s->fewer, &s->lock, CLOCK_MONOTONIC, &at);
	left = s->connections;
	pthread_mutex_unlock(&s->lock);
	nnb__stalls_end(&s->stalls);
	if (has_gates(s))
		left |= !nnb__gates_leave(until);
	if (!nnb__sweeper_wait(&s->sweeper, until) || left) {
		unlink(s->socket);
		/* a thread that never ends keeps the file open after the exit */
		flock(s->lock_fd, LOCK_UN);
		return -EBUSY;
	}
	return r;
}

uint64_t nnb_service_mapped(void)
{
	return nnb__gates_mapped();
}

void nnb_service_stop(struct nnb_service *s)
{
	int saved = errno;
	uint64_t one = 1;

	while (write(s->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	errno = saved;
}

struct nnb_service *nnb_service_close(struct nnb_service *s)
{
	if (!s)
		return NULL;
	assert(!s->connections && !s->apps && !s->bursts);
	if (s->listener >= 0)
		nnb__close(s->listener);
	if (s->bound)
		unlink(s->socket); /* the socket belongs to this process: it was made under the lock */
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->lock_fd >= 0) {
		flock(s->lock_fd, LOCK_UN); /* the prober has it, too */
		close(s->lock_fd); /* the file stays: otherwise two processes could lock two files of one name */
	}
	nnb__lanes_fini(&s->lanes);
	pthread_cond_destroy(&s->fewer);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->emitting);
	pthread_mutex_destroy(&s->bursts_lock);
	nnb__sweeper_fini(&s->sweeper);
	nnb__ids_fini(&s->ids);
	nnb__subuids_fini(&s->subuids);
	free(s->socket);
	free(s->lock_path);
	free(s);
	return NULL;
}
