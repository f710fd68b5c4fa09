/* services.c -- see services.h. */
#include "services.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fold/table.h"

enum {
	INSTANCES = 4096,
	INSTANCE_SHIFT = 20,
	EXEC_INSTANCE_SHIFT = 32 + INSTANCE_SHIFT,
	CONNECTIONS_MAX = 65536, /* limit of remembered services */
	ASKED_MAX = 16
};
static const uint64_t silence_ns = 1000000; /* a stop takes up to 0.3 ms for all cpus (decode/unseen.h) */
static const uint64_t summary_ns =
	100000000; /* a service answers, then emits its summary: on a busy cpu some ms later */
static const uint64_t same_begin_ns = 1000000000; /* a service reads the clock, then emits: both are its beginning */

struct identity {
	uint32_t pid; /* 0: no service */
	uint64_t began;
};

struct service {
	struct identity now, before; /* before: the one that had the instance until @now began */
	uint64_t told;               /* when @now told of itself last */
	uint32_t connections;        /* open */
	uint32_t trace;              /* time of its latest event */
	uint64_t heard;              /* the latest end of an execution that it told of; 0: none */
	bool summed;                 /* by a summary */
	uint64_t answered;           /* the latest answer about an execution that was submitted after that; 0: none */
	uint64_t asked[ASKED_MAX];   /* executions submitted after that, the first ones */
	unsigned n_asked;
};

struct services {
	struct service of[INSTANCES];
	struct bsa_table connections; /* open ones; owned */
	size_t n;
};

struct services *services_new(void)
{
	struct services *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (bsa_table_init(&s->connections)) {
		free(s);
		return NULL;
	}
	return s;
}

struct services *services_free(struct services *s)
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

static int fail_clash(const struct service *s, uint32_t pid, uint32_t instance, struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_INPUT,
	                "two services, processes %" PRIu32 " and %" PRIu32 ", have the same instance number (%" PRIu32
	                "), and process %" PRIu32
	                " was not seen to end before the other began: their executions have the "
	                "same numbers, and cannot be told apart",
	                s->now.pid, pid, instance, s->now.pid);
}

static bool is_same(const struct identity *a, uint32_t pid, uint64_t since)
{
	uint64_t apart = since > a->began ? since - a->began : a->began - since;

	return a->pid == pid && (!since || apart < same_begin_ns);
}

static int service_told(struct services *all, uint64_t at, const struct bsa_service_state *e, struct bsa_err *err)
{
	uint64_t began = e->since && e->since < at ? e->since : at;
	struct service *s;

	if (e->instance >= INSTANCES)
		return 0;
	s = &all->of[e->instance];
	if (s->now.pid && !is_same(&s->now, e->pid, e->since)) {
		if (s->connections || began <= s->told || is_same(&s->before, e->pid, e->since))
			return fail_clash(s, e->pid, e->instance, err);
		s->before = s->now;
		s->now.pid = 0;
	}
	if (!s->now.pid)
		s->now = (struct identity){ e->pid, began };
	s->told = at;
	return 0;
}

static int client_connected(struct services *all, const struct bsa_client_connect *e, struct bsa_err *err)
{
	struct service *s = &all->of[e->conn >> INSTANCE_SHIFT];
	struct bsa_entry *c;

	if (bsa_table_find(&all->connections, e->conn)) {
		if (s->before.pid && !e->since) /* a service gives out each number once */
			return fail_clash(s, s->before.pid, e->conn >> INSTANCE_SHIFT, err);
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

static void client_disconnected(struct services *all, uint32_t conn)
{
	struct bsa_entry *c = bsa_table_find(&all->connections, conn);

	if (!c)
		return;
	bsa_table_remove(&all->connections, c);
	free(c);
	all->n--;
	all->of[conn >> INSTANCE_SHIFT].connections--;
}

/* ---- silence ---- */

static void service_heard(struct services *all, const struct bsa_event *e, uint64_t exec)
{
	struct service *s = &all->of[exec >> EXEC_INSTANCE_SHIFT];

	s->heard =
		e->at > s->heard ? e->at : s->heard; /* where a recording is read as it grows, an event may come late */
	s->trace = e->trace;
	s->summed = e->kind == BSA_exec_service;
	s->answered = 0;
	s->n_asked = 0;
}

/* A fenced execution is answered when it is launched, so its answer does not say that it has ended. */
static void execution_asked(struct services *all, const struct bsa_exec_submit *e)
{
	struct service *s = &all->of[e->exec >> EXEC_INSTANCE_SHIFT];

	if (s->n_asked < ASKED_MAX && e->path != BSA_PATH_FENCED)
		s->asked[s->n_asked++] = e->exec;
}

static void execution_answered(struct services *all, uint64_t at, uint64_t exec)
{
	struct service *s = &all->of[exec >> EXEC_INSTANCE_SHIFT];

	for (unsigned i = 0; i < s->n_asked; i++)
		if (s->asked[i] == exec || s->answered) {
			s->answered = at;
			return;
		}
}

static void summed_up(struct services *all, uint64_t at, const struct bsa_exec_client *e)
{
	struct service *s = &all->of[e->exec >> EXEC_INSTANCE_SHIFT];

	if (s->heard && e->began > s->heard && e->path != BSA_PATH_FENCED)
		s->answered = at;
}

bool services_silence(const struct services *all, uint32_t *from, struct silence *ret)
{
	for (; *from < INSTANCES; ++*from) {
		const struct service *s = &all->of[*from];

		if (!s->heard || s->answered < s->heard + (s->summed ? summary_ns : silence_ns))
			continue;
		*ret = (struct silence){ s->heard, s->answered, s->now.pid, s->trace };
		++*from;
		return true;
	}
	return false;
}

int services_event(struct services *s, const struct bsa_event *e, struct bsa_err *err)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_exec_submit:
		execution_asked(s, BSA_OF(e, exec_submit));
		return 0;
	case BSA_exec_end: /* every answer of status NONE has one */
		service_heard(s, e, BSA_OF(e, exec_end)->exec);
		return 0;
	case BSA_exec_service:
		service_heard(s, e, BSA_OF(e, exec_service)->exec);
		return 0;
	case BSA_exec_return:
		if (BSA_OF(e, exec_return)->status == BSA_STATUS_NONE)
			execution_answered(s, e->at, BSA_OF(e, exec_return)->exec);
		return 0;
	case BSA_exec_client:
		if (BSA_OF(e, exec_client)->status == BSA_STATUS_NONE)
			summed_up(s, e->at, BSA_OF(e, exec_client));
		return 0;
	case BSA_service_state:
		return service_told(s, e->at, BSA_OF(e, service_state), err);
	case BSA_client_connect:
		return client_connected(s, BSA_OF(e, client_connect), err);
	case BSA_client_disconnect:
		client_disconnected(s, BSA_OF(e, client_disconnect)->conn);
		return 0;
	default:
		return 0;
	}
}
