/*
 * users.c -- keeps the claims of users on services and numbers, and counts only events of the user that has
 * what they name.
 */
#include "users.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "fold/list.h"
#include "fold/valid.h"
#include "instance.h"

enum {
	INSTANCE_SHIFT = 20,
	EXEC_SHIFT = 32,
	CLAIMS_MAX = 64,      /* users that claim to have the service; more are not remembered */
	CLOSED_MAX = 1 << 16, /* connections and streams that are kept after their end, for later events about them */
	/* numbers that are not announced, that clients use: a client that uses more is a forger, */
	GUESSES_MAX = 1 << 14,
	CLAIMANTS_MAX = 4,     /* a user that claims a number that so many others claim is a forger, too */
	TELLING_NS = 20000000, /* in which a service that has emitted its state has emitted all that it has */
};

/* Objects that the service announces for a user. Each kind has numbers of its own. */
enum peer_kind { PEER_CONNECTION, PEER_STREAM, PEER_MODEL };

/* A connection, or a stream or model of one, and whose it is. */
struct peer {
	struct bsa_entry entry; /* its number, and its kind */
	struct bsa_link closed; /* in the line of those that are */
	uint32_t uid;
};

/* An object that is not announced yet, and the users whose clients name it. */
struct guess {
	struct bsa_entry entry; /* its number, and its kind */
	uint32_t uids[CLAIMANTS_MAX];
	unsigned n;
};

/* A user that claims to have the service. */
struct claim {
	uint32_t uid;
	bool strong; /* by service_state */
};

struct bsa_users {
	uint32_t *of_traces; /* by number, from 1. Owned */
	uint32_t n_traces;
	bool several;            /* users */
	bool last_go;            /* the decision is not changed any more */
	uint32_t named, assumed; /* the service's uid */
	bool lenient;            /* events of clients counted when no service was known */
	bool lost_some;          /* something was lost: perhaps an announcement */
	/* from then on, an object that the service has not announced belongs to no user; BSA_NEVER: unknown */
	uint64_t all_told;
	struct claim claims[CLAIMS_MAX];
	unsigned n_claims;
	uint32_t own[INSTANCES]; /* the uid of a process that has this number for itself; else USERS_UNKNOWN */
	/* uid of another service that had this number; USERS_UNKNOWN if there was none */
	uint32_t turned_away[INSTANCES];
	bool served[INSTANCES];   /* the service has this number */
	struct bsa_table guesses; /* owned, and its entries */
	uint32_t n_guesses;
	uint32_t forgers[USERS_FORGERS]; /* users that named an object announced for another user later */
	unsigned n_forgers;
	uint32_t distrusted[USERS_FORGERS]; /* likewise, as an earlier go found out */
	unsigned n_distrusted;
	struct bsa_table peers; /* owned, and its entries */
	struct bsa_link closed; /* the longest first */
	uint32_t n_closed;
};

struct bsa_users *bsa_users_new(uint32_t service)
{
	struct bsa_users *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	if (bsa_table_init(&u->peers) || bsa_table_init(&u->guesses)) {
		bsa_table_fini(&u->peers);
		free(u);
		return NULL;
	}
	u->named = u->assumed = service;
	u->all_told = BSA_NEVER;
	for (unsigned i = 0; i < INSTANCES; i++)
		u->own[i] = u->turned_away[i] = USERS_UNKNOWN;
	bsa_list_init(&u->closed);
	return u;
}

static void free_all(struct bsa_table *t)
{
	struct bsa_entry *e;
	size_t from = 0;

	while ((e = bsa_table_any(t, &from))) {
		bsa_table_remove(t, e);
		free(e);
	}
	bsa_table_fini(t);
}

struct bsa_users *bsa_users_free(struct bsa_users *u)
{
	if (!u)
		return NULL;
	free_all(&u->peers);
	free_all(&u->guesses);
	free(u->of_traces);
	free(u);
	return NULL;
}

int bsa_users_trace(struct bsa_users *u, uint32_t number, uint32_t uid)
{
	if (number > u->n_traces) {
		uint32_t *more = realloc(u->of_traces, number * sizeof(*more));

		if (!more)
			return -ENOMEM;
		for (uint32_t i = u->n_traces; i < number; i++)
			more[i] = USERS_UNKNOWN;
		u->of_traces = more;
		u->n_traces = number;
	}
	u->of_traces[number - 1] = uid;
	for (uint32_t i = 0; i < u->n_traces; i++)
		u->several |= uid != USERS_UNKNOWN && u->of_traces[i] != USERS_UNKNOWN && u->of_traces[i] != uid;
	return 0;
}

/* ---- connections and streams ---- */

static uint64_t key_of(uint32_t number, enum peer_kind kind)
{
	return (uint64_t)kind << 32 | number;
}

/* ---- who tells of what is another one's ---- */

static void add_forger(uint32_t *forgers, unsigned *n, uint32_t uid)
{
	for (unsigned i = 0; i < *n; i++)
		if (forgers[i] == uid || forgers[i] == USERS_ALL)
			return;
	if (*n < USERS_FORGERS)
		forgers[(*n)++] = uid;
	else
		forgers[USERS_FORGERS - 1] = USERS_ALL;
}

void bsa_users_distrust(struct bsa_users *u, uint32_t uid)
{
	add_forger(u->distrusted, &u->n_distrusted, uid);
}

static bool is_distrusted(const struct bsa_users *u, uint32_t uid)
{
	for (unsigned i = 0; i < u->n_distrusted; i++)
		if (u->distrusted[i] == uid || u->distrusted[i] == USERS_ALL)
			return true;
	return false;
}

/* A client of @uid uses what is not announced yet: that counts. 1 or -ENOMEM. */
static int guess_user(struct bsa_users *u, uint64_t key, uint32_t uid)
{
	struct guess *g = bsa_table_find(&u->guesses, key);

	if (!g && u->n_guesses == GUESSES_MAX) {
		add_forger(u->forgers, &u->n_forgers, uid);
		return 1;
	}
	if (!g) {
		g = calloc(1, sizeof(*g));
		if (!g)
			return -ENOMEM;
		bsa_table_add(&u->guesses, &g->entry, key);
		u->n_guesses++;
	}
	for (unsigned i = 0; i < g->n; i++)
		if (g->uids[i] == uid)
			return 1;
	if (g->n < CLAIMANTS_MAX)
		g->uids[g->n++] = uid;
	else
		add_forger(u->forgers, &u->n_forgers, uid);
	return 1;
}

/* The object belongs to @uid from now on. 1 or -ENOMEM. */
static int peer_is_of(struct bsa_users *u, uint32_t number, enum peer_kind kind, uint32_t uid)
{
	struct peer *p = bsa_table_find(&u->peers, key_of(number, kind));
	struct guess *g =
		u->n_guesses && uid != USERS_UNKNOWN ? bsa_table_find(&u->guesses, key_of(number, kind)) : NULL;

	/* Other users that named the object are forgers. */
	for (unsigned i = 0; g && i < g->n; i++)
		if (g->uids[i] != uid)
			add_forger(u->forgers, &u->n_forgers, g->uids[i]);
	if (g) {
		bsa_table_remove(&u->guesses, &g->entry);
		free(g);
		u->n_guesses--;
	}

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		bsa_table_add(&u->peers, &p->entry, key_of(number, kind));
	}
	if (p->closed.next) { /* the peer is open again */
		bsa_list_remove(&p->closed);
		p->closed = (struct bsa_link){ 0 };
		u->n_closed--;
	}
	p->uid = uid;
	return 1;
}

/* Events that still name the object arrive soon: of many closed objects the oldest are dropped. */
static void peer_closes(struct bsa_users *u, uint32_t number, enum peer_kind kind)
{
	struct peer *p = bsa_table_find(&u->peers, key_of(number, kind));

	if (!p || p->closed.next)
		return;
	bsa_list_add(&u->closed, &p->closed);
	if (u->n_closed++ < CLOSED_MAX)
		return;
	p = BSA_LINKED(bsa_list_first(&u->closed), struct peer, closed);
	bsa_list_remove(&p->closed);
	u->n_closed--;
	bsa_table_remove(&u->peers, &p->entry);
	free(p);
}

static uint32_t peer_user(const struct bsa_users *u, uint32_t number, enum peer_kind kind)
{
	const struct peer *p = bsa_table_find(&u->peers, key_of(number, kind));

	return p ? p->uid : USERS_UNKNOWN;
}

/* ---- whose numbers ---- */

/* Numbers below those of all instances are of models that a process calls as it likes. */
static bool is_within(uint64_t number, unsigned instance)
{
	return number >> INSTANCE_SHIFT == 0 || number >> INSTANCE_SHIFT == instance;
}

/*
 * Are all other numbers that it names of @instance, too? A stream of one's own on another's connection would
 * be the other's.
 */
static bool names_only(const struct bsa_event *e, unsigned instance)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_stream_open:
		return is_within(BSA_OF(e, stream_open)->conn, instance) &&
		       is_within(BSA_OF(e, stream_open)->model, instance);
	case BSA_model_prepare:
		return is_within(BSA_OF(e, model_prepare)->model, instance);
	case BSA_buffer_allocate:
		return is_within(BSA_OF(e, buffer_allocate)->buffer, instance);
	case BSA_exec_submit:
		return is_within(BSA_OF(e, exec_submit)->model, instance);
	case BSA_request_decode:
		return is_within(BSA_OF(e, request_decode)->model, instance);
	case BSA_sched_enqueue:
		return is_within(BSA_OF(e, sched_enqueue)->model, instance);
	case BSA_sched_preempt:
		return is_within(BSA_OF(e, sched_preempt)->by >> EXEC_SHIFT, instance);
	case BSA_deadline_miss:
		return is_within(BSA_OF(e, deadline_miss)->model, instance);
	case BSA_exec_service:
		return is_within(BSA_OF(e, exec_service)->model, instance);
	case BSA_exec_client:
		return is_within(BSA_OF(e, exec_client)->model, instance);
	case BSA_exec_state:
		return is_within(BSA_OF(e, exec_state)->model, instance);
	case BSA_buffer_reject:
		return is_within(BSA_OF(e, buffer_reject)->exec >> EXEC_SHIFT, instance);
	default:
		return true;
	}
}

static bool is_own(const struct bsa_users *u, const struct bsa_event *e, unsigned instance, uint32_t uid)
{
	struct bsa_mended room;
	bool unknown;

	if (!names_only(e, instance))
		return false;
	if (bsa_valid_is_of_service(e) && !bsa_valid(e, &room, &unknown))
		return false; /* the fold treats it as a loss of the service's */
	if (e->kind == BSA_service_state || (e->kind == BSA_client_connect && BSA_OF(e, client_connect)->uid != uid))
		return false;
	return instance < INSTANCES && !u->served[instance] && u->own[instance] == uid;
}

/* A process of @uid reports itself as its own client. */
static bool reports_itself(struct bsa_users *u, const struct bsa_event *e, unsigned instance, uint32_t uid)
{
	if (e->kind != BSA_client_connect || BSA_OF(e, client_connect)->uid != uid || u->served[instance] ||
	    u->own[instance] != USERS_UNKNOWN || u->turned_away[instance] == uid)
		return false;
	u->own[instance] = uid;
	return true;
}

/* ---- the service ---- */

/* 1: it is announced; -ENOMEM. */
static int announce_peer(struct bsa_users *u, const struct bsa_event *e)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_client_connect:
		return peer_is_of(u, BSA_OF(e, client_connect)->conn, PEER_CONNECTION, BSA_OF(e, client_connect)->uid);
	case BSA_client_disconnect:
		peer_closes(u, BSA_OF(e, client_disconnect)->conn, PEER_CONNECTION);
		return 1;
	case BSA_stream_open:
		return peer_is_of(u, BSA_OF(e, stream_open)->stream, PEER_STREAM,
		                  peer_user(u, BSA_OF(e, stream_open)->conn, PEER_CONNECTION));
	case BSA_model_prepare:
		return BSA_OF(e, model_prepare)->model
		               ? peer_is_of(u, BSA_OF(e, model_prepare)->model, PEER_MODEL,
		                            peer_user(u, BSA_OF(e, model_prepare)->conn, PEER_CONNECTION))
		               : 1;
	case BSA_model_release:
		peer_closes(u, BSA_OF(e, model_release)->model, PEER_MODEL);
		return 1;
	case BSA_stream_close:
		peer_closes(u, BSA_OF(e, stream_close)->stream, PEER_STREAM);
		return 1;
	default:
		return 1;
	}
}

static int service_announces(struct bsa_users *u, const struct bsa_event *e, unsigned instance, uint32_t uid)
{
	unsigned i = 0;

	/* Remember the claim of @uid. */
	while (i < u->n_claims && u->claims[i].uid != uid)
		i++;
	if (i == u->n_claims && i < CLAIMS_MAX)
		u->claims[u->n_claims++] = (struct claim){ uid, false };
	if (i < u->n_claims)
		u->claims[i].strong |= e->kind == BSA_service_state;

	if (u->assumed == USERS_UNKNOWN)
		u->assumed = uid;
	if (uid != u->assumed) {
		if (e->kind == BSA_service_state && instance < INSTANCES)
			u->turned_away[instance] = uid;
		return 0;
	}
	if (instance < INSTANCES)
		u->served[instance] = true;
	if (e->kind == BSA_service_state && !u->lost_some && u->all_told == BSA_NEVER)
		u->all_told = e->at + TELLING_NS;
	return announce_peer(u, e);
}

/* ---- clients ---- */

/*
 * May connection, stream or model @number belong to user @uid? The recording need not have its announcement:
 * see CLIENTS in users.h. 1, 0, or -ENOMEM.
 */
static int may_be_of(struct bsa_users *u, uint32_t number, enum peer_kind kind, uint32_t uid, uint64_t at)
{
	uint32_t of = peer_user(u, number, kind);

	if (of != USERS_UNKNOWN)
		return of == uid;
	return at < u->all_told && !is_distrusted(u, uid) ? guess_user(u, key_of(number, kind), uid) : 0;
}

static int client_uses(struct bsa_users *u, const struct bsa_event *e, unsigned instance, uint32_t uid)
{
	const struct bsa_app_span *span = e->kind == BSA_app_span ? BSA_OF(e, app_span) : NULL;
	const struct bsa_deadline_miss *miss = e->kind == BSA_deadline_miss ? BSA_OF(e, deadline_miss) : NULL;
	uint32_t stream;

	if (instance < INSTANCES && !u->served[instance] && u->own[instance] != USERS_UNKNOWN)
		return 0; /* another process's, without a service */
	if (u->assumed == USERS_UNKNOWN) {
		u->lenient = true;
		return 1;
	}
	if (span && span->owner == BSA_OWNER_PROCESS) /* no connection is named */
		return 1;
	if (span)
		return may_be_of(u, (uint32_t)span->owner_id,
		                 span->owner == BSA_OWNER_STREAM ? PEER_STREAM : PEER_CONNECTION, uid, e->at);
	if (miss && !miss->exec) /* for a preparation */
		return may_be_of(u, miss->model, PEER_MODEL, uid, e->at);
	/* all others begin with the number of their execution */
	stream = (uint32_t)(BSA_OF(e, exec_return)->exec >> EXEC_SHIFT);
	return stream ? may_be_of(u, stream, PEER_STREAM, uid, e->at) : 0;
}

int bsa_users_event(struct bsa_users *u, const struct bsa_event *e)
{
	uint32_t uid = e->trace - 1 < u->n_traces ? u->of_traces[e->trace - 1] : USERS_UNKNOWN;
	unsigned instance;

	if (e->kind == BSA_loss) {
		u->lost_some = true;
		u->all_told = BSA_NEVER;
	}
	/* Between programs that use queues for something of their own. */
	if (!u->several || uid == USERS_UNKNOWN || e->kind == BSA_loss ||
	    (e->kind == BSA_fmq_write && !BSA_OF(e, fmq_write)->exec))
		return 1;
	instance = bsa_instance_of_event(e);
	if (uid == u->assumed) /* the service's user may be a client, too */
		return bsa_valid_is_of_service(e) ? service_announces(u, e, instance, uid) : 1;
	if (is_own(u, e, instance, uid) || (instance < INSTANCES && reports_itself(u, e, instance, uid)))
		return 1;
	return bsa_valid_is_of_service(e) ? service_announces(u, e, instance, uid) : client_uses(u, e, instance, uid);
}

bool bsa_users_undecided(const struct bsa_users *u)
{
	return u->several && !u->last_go;
}

void bsa_users_last_go(struct bsa_users *u)
{
	u->last_go = true;
}

struct bsa_users_decided bsa_users_decided(const struct bsa_users *u)
{
	struct bsa_users_decided d = { u->several ? u->named : USERS_UNKNOWN, USERS_UNKNOWN, { 0 }, u->n_forgers > 0 };
	const struct claim *best = NULL;

	for (unsigned i = 0; i < USERS_FORGERS; i++)
		d.forgers[i] = i < u->n_forgers ? u->forgers[i] : USERS_UNKNOWN;

	/* The best claim: of root, which can act as any user; or the first with a service_state; or the first. */
	for (unsigned i = 0; u->several && u->named == USERS_UNKNOWN && i < u->n_claims; i++) {
		const struct claim *c = &u->claims[i];

		if (!best || c->uid == 0 || (best->uid != 0 && c->strong && !best->strong))
			best = c;
	}
	if (!best)
		return d;
	d.service = best->uid;
	d.again |= d.service != u->assumed || u->lenient;
	if (best->uid == 0 && best->strong)
		return d;
	for (unsigned i = 0; i < u->n_claims && d.rival == USERS_UNKNOWN; i++)
		if (u->claims[i].uid != d.service)
			d.rival = u->claims[i].uid;
	return d;
}
