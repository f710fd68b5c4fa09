/* services.c -- follows what each service reports of itself, and finds those that share an instance. */
#include "services.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/table.h"

enum {
	INSTANCES = 4096,
	INSTANCE_SHIFT = 20,
	EXEC_INSTANCE_SHIFT = 32 + INSTANCE_SHIFT,
	CONNECTIONS_MAX = 65536, /* limit of remembered services */
	ASKED_MAX = 16,
	AT_RUN_ENDED = 4 /* a value of exec_service's `at` (docs/events.md) */
};
static const uint64_t silence_ns = 1000000; /* a stop takes up to 0.3 ms for all cpus (decode/unseen.h) */
static const uint64_t summary_ns =
	100000000; /* a service answers, then emits its summary: on a busy cpu some ms later */
/* A service reads the clock, then emits: both are its beginning, and live/kept.c reports the one as the other. */
static const uint64_t same_begin_ns = 1000000000;

struct identity {
	uint32_t pid; /* 0: no service */
	uint64_t began;
	bool reported; /* @began is the service's own reading of the clock, and not the time of its first event */
};

/* An execution that was submitted after the service was heard. */
struct asked {
	uint64_t exec, began;
	bool serial; /* a burst, whose requests the service serves one after the other */
};

/* A burst with an answer about an execution that was submitted after the service was heard. */
struct answered {
	uint32_t stream;
	uint64_t at;
};

struct service {
	struct identity now, before;   /* before: the one that had the instance until @now began */
	uint64_t told;                 /* when @now reported itself last */
	uint32_t connections;          /* open */
	uint32_t trace;                /* time of its latest event */
	uint64_t heard;                /* the latest end of an execution that it reported; 0: no end */
	uint64_t ended;                /* the latest exec_end; 0: no such event */
	bool summed;                   /* heard was a summary, and the service emits no exec_end */
	uint64_t answered;             /* the latest answer about an execution that was submitted after that; 0: none */
	bool proven;                   /* since then it emitted an event that was not recorded */
	struct asked asked[ASKED_MAX]; /* the first ones */
	struct answered bursts[ASKED_MAX]; /* the first ones */
	unsigned n_asked, n_bursts;
};

struct bsa_services {
	struct service of[INSTANCES];
	struct bsa_table connections; /* open ones; owned */
	size_t n;
};

struct bsa_services *bsa_services_new(void)
{
	struct bsa_services *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (bsa_table_init(&s->connections)) {
		free(s);
		return NULL;
	}
	return s;
}

struct bsa_services *bsa_services_free(struct bsa_services *s)
{
	struct bsa_entry *e;
	size_t from = 0;

	if (!s)
		return NULL;
	while ((e = bsa_table_any(&s->connections, &from))) {
		bsa_table_remove(&s->connections, e);
		free(e);
	}
	bsa_table_fini(&s->connections);
	free(s);
	return NULL;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int fail_clash(const struct identity *one, const struct identity *other, uint32_t instance, struct bsa_err *err)
{
	char apart[64] = "";

	if (one->pid == other->pid) /* in two namespaces of process numbers */
		snprintf(apart, sizeof(apart), " (which began %.3f s %s)",
		         (double)distance(one->began, other->began) / 1e9,
		         other->began < one->began ? "earlier" : "later");
	return bsa_fail(err, BSA_E_INPUT,
	                "two services, processes %" PRIu32 " and %" PRIu32 "%s, have the same instance number (%" PRIu32
	                "), and the first was not seen to end before the other began: their executions have the "
	                "same numbers, and cannot be told apart. The numbers are random: record again with one of "
	                "them started anew",
	                one->pid, other->pid, apart, instance);
}

/*
 * Whether the process @pid, which reports that it began at @since (0: now), is the service @a. A service may be
 * stopped, or wait for a cpu, between its reading of the clock and its first event, for any time. So if only the time
 * of that event is known of @a, the service began at any time before it: two processes do not have one number at once.
 */
static bool is_same(const struct identity *a, uint32_t pid, uint64_t since)
{
	if (a->pid != pid)
		return false;
	return !since || (since <= a->began && !a->reported) || distance(since, a->began) < same_begin_ns;
}

static int service_reported(struct bsa_services *all, uint64_t at, const struct bsa_service_state *e,
                            struct bsa_err *err)
{
	struct identity it = { e->pid, e->since && e->since < at ? e->since : at, e->since };
	struct service *s;

	if (e->instance >= INSTANCES)
		return 0;
	s = &all->of[e->instance];
	if (s->now.pid && !is_same(&s->now, e->pid, e->since)) {
		if (s->connections || it.began <= s->told || is_same(&s->before, e->pid, e->since))
			return fail_clash(&s->now, &it, e->instance, err);
		s->before = s->now;
		s->now.pid = 0;
	}
	if (!s->now.pid || (it.reported && !s->now.reported))
		s->now = it;
	s->told = at;
	return 0;
}

static int client_connected(struct bsa_services *all, const struct bsa_client_connect *e, struct bsa_err *err)
{
	struct service *s = &all->of[e->conn >> INSTANCE_SHIFT];
	struct bsa_entry *c;

	if (bsa_table_find(&all->connections, e->conn)) {
		if (s->before.pid && !e->since) /* a service gives out each number once */
			return fail_clash(&s->now, &s->before, e->conn >> INSTANCE_SHIFT, err);
		return 0;
	}
	if (all->n == CONNECTIONS_MAX)
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	bsa_table_add(&all->connections, c, e->conn);
	all->n++;
	s->connections++;
	return 0;
}

/* ---- silence ---- */

static void service_heard(struct bsa_services *all, const struct bsa_event *e, uint64_t exec)
{
	struct service *s = &all->of[exec >> EXEC_INSTANCE_SHIFT];

	s->heard =
		e->at > s->heard ? e->at : s->heard; /* where a recording is read as it grows, an event may come late */
	s->trace = e->trace;
	s->summed = false;
	s->answered = 0;
	s->proven = false;
	s->n_asked = s->n_bursts = 0;
}

/*
 * A service serves the requests of a burst one after the other, and emits the summary of one before it takes
 * the next. So a second answer proves that the first summary was emitted, after the service was heard.
 */
static void burst_answered(struct service *s, uint32_t stream, uint64_t began, uint64_t at)
{
	for (unsigned i = 0; i < s->n_bursts; i++)
		if (s->bursts[i].stream == stream) {
			s->proven |= began > s->bursts[i].at;
			return;
		}
	if (s->n_bursts < ASKED_MAX)
		s->bursts[s->n_bursts++] = (struct answered){ stream, at };
}

static void execution_answered(struct bsa_services *all, uint64_t at, uint64_t exec)
{
	struct service *s = &all->of[exec >> EXEC_INSTANCE_SHIFT];

	for (unsigned i = 0; i < s->n_asked; i++)
		if (s->asked[i].exec == exec) {
			s->answered = at;
			if (s->asked[i].serial)
				burst_answered(s, (uint32_t)(exec >> 32), s->asked[i].began, at);
			s->asked[i] = s->asked[--s->n_asked];
			return;
		}
	if (s->answered)
		s->answered = at;
}

bool bsa_services_silence(const struct bsa_services *all, uint32_t *from, struct bsa_services_silence *ret)
{
	for (; *from < INSTANCES; ++*from) {
		const struct service *s = &all->of[*from];

		/*
		 * How long after the service was heard an answer may be, while all that the service emitted
		 * was recorded.
		 */
		if (!s->heard || s->answered < s->heard + (s->summed && !s->proven ? summary_ns : silence_ns))
			continue;
		*ret = (struct bsa_services_silence){ s->heard, s->answered, s->now.pid, s->trace, *from };
		++*from;
		return true;
	}
	return false;
}

int bsa_services_event(struct bsa_services *s, const struct bsa_event *e, struct bsa_err *err)
{
	const struct bsa_exec_service *summary;
	struct bsa_entry *connection;
	uint32_t conn;
	const struct bsa_exec_client *client;
	const struct bsa_exec_submit *submit;
	struct service *of;
	uint64_t took;

	switch ((enum bsa_kind)e->kind) {
	case BSA_exec_submit:
		submit = BSA_OF(e, exec_submit);
		of = &s->of[submit->exec >> EXEC_INSTANCE_SHIFT];
		/* A fenced execution is answered when it is launched, so its answer does not mean that it has ended. */
		if (of->n_asked < ASKED_MAX && submit->path != BSA_PATH_FENCED)
			of->asked[of->n_asked++] =
				(struct asked){ submit->exec, e->at, submit->path == BSA_PATH_BURST };
		return 0;
	case BSA_exec_end: /* every answer of status NONE has one */
		service_heard(s, e, BSA_OF(e, exec_end)->exec);
		s->of[BSA_OF(e, exec_end)->exec >> EXEC_INSTANCE_SHIFT].ended = e->at;
		return 0;
	case BSA_exec_service:
		summary = BSA_OF(e, exec_service);
		of = &s->of[summary->exec >> EXEC_INSTANCE_SHIFT];
		took = summary->at[AT_RUN_ENDED];
		service_heard(s, e, summary->exec);
		/*
		 * A service that emits exec_end emits it before the answer. Then no event after the answer is
		 * needed to prove that the service was recorded.
		 */
		of->summed = took == BSA_NEVER || of->ended < summary->began + took;
		return 0;
	case BSA_exec_return:
		if (BSA_OF(e, exec_return)->status == BSA_STATUS_NONE)
			execution_answered(s, e->at, BSA_OF(e, exec_return)->exec);
		return 0;
	case BSA_exec_client:
		client = BSA_OF(e, exec_client);
		of = &s->of[client->exec >> EXEC_INSTANCE_SHIFT];
		if (client->status != BSA_STATUS_NONE || !of->heard || client->began <= of->heard ||
		    client->path == BSA_PATH_FENCED)
			return 0;
		of->answered = e->at;
		if (client->path == BSA_PATH_BURST)
			burst_answered(of, (uint32_t)(client->exec >> 32), client->began, e->at);
		return 0;
	case BSA_service_state:
		return service_reported(s, e->at, BSA_OF(e, service_state), err);
	case BSA_client_connect:
		return client_connected(s, BSA_OF(e, client_connect), err);
	case BSA_client_disconnect:
		conn = BSA_OF(e, client_disconnect)->conn;
		connection = bsa_table_find(&s->connections, conn);
		if (!connection)
			return 0;
		bsa_table_remove(&s->connections, connection);
		free(connection);
		s->n--;
		s->of[conn >> INSTANCE_SHIFT].connections--;
		return 0;
	default:
		return 0;
	}
}
