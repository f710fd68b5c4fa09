/* importer.c -- the fold and the store, joined: one fold for each clock group, one after the other. */
#include "importer.h"

#include <assert.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "asked.h"
#include "base/vector.h"
#include "decode/decode.h"
#include "fold/fold.h"
#include "machine.h"
#include "services.h"
#include "store/store.h"
#include "users.h"

enum {
	EVENTS_PER_CHECK = 4096,
	/* most apps whose shares are kept in memory; with more, shares of idle apps are stored in parts until
	 * the end */
	TENANTS_MAX = 4096
};
static const uint64_t usual_horizon_ns = 1000000000;
static const uint64_t stop_ns = 1000000; /* LTTng stops all programs within that time, unless one does not answer */
static const uint64_t at_once_ns =
	1000000000; /* as far apart as two sessions may have events of one side of an execution */

/* A trace as it was given, with strings of our own. */
struct known {
	struct bsa_trace_row row;
	char *strings[5];
	unsigned group;
	uint64_t declared;
	bool compact, over; /* over: the fold of its group is */
	uint32_t uid;
	uint32_t service; /* pid of the service that was asked for alone; 0: all */
	uint64_t impostors;
	uint64_t until;                   /* the end of its recording; 0: unknown */
	uint64_t recorded_until, over_by; /* as in bsa_trace */
	uint64_t after_end;               /* events that were left out because they are later than that */
	uint64_t last;                    /* the latest event that was not left out; 0: none */
	bool inside;                      /* an event is not later than until */
};

/* One side of an execution is one process, which LTTng writes into one trace of a session. */
struct once {
	uint64_t exec, at;
	uint32_t trace; /* 0: the entry is free */
	bool service;   /* client or service */
};

enum { ONCE = 4096 }; /* as many are remembered: two sessions emit the same event within microseconds */

/* A record that has another trace. */
struct renumbered {
	struct bsa_event event;
	union {
#define K(name) struct bsa_##name name;
		BSA_KINDS(K)
#undef K
	} fields;
};

struct bsa_importer {
	struct bsa_store *store;
	struct bsa_facts facts;
	struct bsa_fold *fold; /* the clock group of the current records */
	struct bsa_fold_ids last;
	struct known *traces;
	size_t n_traces, traces_room;
	uint32_t before;            /* traces that were in the database already */
	uint64_t horizon_ns;        /* allowed for */
	uint64_t latest_summary_ns; /* over the folds that have ended */
	uint64_t holes, unusable;   /* the same */
	unsigned group, unchecked;
	bool blind; /* bsa_importer_options.unchecked */
	struct renumbered renumbered;
	struct bsa_services *services; /* the services of that group. Owned */
	struct bsa_users *user_check;  /* the users of that group. Owned */
	uint32_t service_uid;          /* named by the caller; USERS_UNKNOWN: none */
	struct bsa_err refusal;        /* warning about a possible impostor: printed unless a second pass follows */
	bool refused;
	bool ends, half_ended; /* bsa_importer_options.ends; whether a group that is over wants that */
	bool second, again;    /* second: users is what a first go found out; again: there should be one */
	struct bsa_importer_users users;
	struct bsa_asked asked;
	struct once once[ONCE]; /* by what they are of, the last one each */
};

static int importer_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "no memory");
}

int bsa_importer_new(struct bsa_importer **ret, const struct bsa_importer_options *options, struct bsa_err *err)
{
	struct bsa_store_options so = {
		.output = options->output,
		.keep_operations = options->keep_operations,
		.append = options->append,
	};
	struct bsa_importer *im = calloc(1, sizeof(*im));
	int r;

	if (!im)
		return importer_no_memory(err);
	im->horizon_ns = options->horizon_ns ? options->horizon_ns : usual_horizon_ns;
	r = bsa_store_new(&im->store, &so, err);
	if (r < 0) {
		bsa_importer_free(im);
		return r;
	}
	im->facts = bsa_store_facts(im->store);
	im->last = bsa_store_last_ids(im->store);
	im->before = bsa_store_last_trace(im->store);
	im->blind = options->unchecked;
	im->service_uid = options->service_uid ? *options->service_uid : USERS_UNKNOWN;
	im->second = options->users;
	im->ends = options->ends;
	memset(&im->users, 0xff, sizeof(im->users));
	if (options->users)
		im->users = *options->users;
	if (options->asked) {
		im->asked = *options->asked;
		bsa_asked_rewind(&im->asked);
	}
	*ret = im;
	return 0;
}

static void known_fini(struct known *k)
{
	for (size_t i = 0; i < sizeof(k->strings) / sizeof(*k->strings); i++)
		free(k->strings[i]);
}

struct bsa_importer *bsa_importer_free(struct bsa_importer *im)
{
	if (!im)
		return NULL;
	bsa_fold_free(im->fold);
	bsa_services_free(im->services);
	bsa_users_free(im->user_check);
	bsa_store_free(im->store);
	for (size_t i = 0; i < im->n_traces; i++)
		known_fini(&im->traces[i]);
	free(im->traces);
	free(im);
	return NULL;
}

/* ---- traces ---- */

/* An end of a recording; 0 if the database cannot have it: the recorder's notes and packets may say anything. */
static uint64_t storable_end(uint64_t at, int64_t offset)
{
	const uint64_t most = UINT64_C(1) << 62;

	return at < most && (offset <= 0 || ((uint64_t)offset < most && at + (uint64_t)offset < most)) ? at : 0;
}

/* Copies of @t's strings. */
static bool known_init(struct known *k, const struct bsa_trace *t, uint32_t id)
{
	const char *const from[] = { t->uuid, t->path, t->host, t->session, t->clock };

	*k = (struct known){ .group = t->clock_group,
		             .compact = t->compact,
		             .declared = t->declared,
		             .uid = t->uid,
		             .service = t->scope.service,
		             .until = t->until,
		             .recorded_until = storable_end(t->recorded_until, t->clock_offset),
		             .over_by = storable_end(t->over_by, t->clock_offset) };
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
		k->strings[i] = strdup(from[i]);
		if (!k->strings[i]) {
			known_fini(k);
			return false;
		}
	}
	k->row = (struct bsa_trace_row){
		.id = id,
		.uuid = k->strings[0],
		.path = k->strings[1],
		.host = k->strings[2],
		.session = k->strings[3],
		.clock = k->strings[4],
		.clock_offset = t->clock_offset,
		.began = BSA_NEVER,
		.ended = BSA_NEVER,
		.uid = t->uid,
		.boottime_known = t->boottime_known,
		.boottime = t->boottime,
		.unreadable = t->unreadable,
	};
	return true;
}

int bsa_importer_trace(struct bsa_importer *im, const struct bsa_trace *trace, struct bsa_err *err)
{
	struct known k;
	int r;

	if (!BSA_RESERVE(im->traces, im->traces_room, im->n_traces + 1, 4))
		return importer_no_memory(err);
	if (!known_init(&k, trace, im->before + (uint32_t)im->n_traces + 1))
		return importer_no_memory(err);
	r = bsa_store_trace(im->store, &k.row, err);
	if (r < 0) {
		known_fini(&k);
		return r;
	}
	im->traces[im->n_traces++] = k;
	bsa_store_scope(im->store, trace->scope.app, trace->scope.pid, trace->scope.service);
	return 0;
}

void bsa_importer_machine(struct bsa_importer *im, const struct bsa_machine_state *state)
{
	const struct bsa_cpu_state row = { .began = state->began,
		                           .ended = state->ended,
		                           .khz = state->khz,
		                           .cpu = state->cpu,
		                           .tid = state->tid,
		                           .did = (uint8_t)state->did,
		                           .name = state->name };

	assert(im->n_traces > 0);
	bsa_store_clock(im->store, im->traces[0].row.clock_offset);
	bsa_store_cpu_state(im->store, &row);
}

void bsa_importer_kernel(struct bsa_importer *im, uint64_t read, uint64_t left_out, uint64_t delays)
{
	bsa_store_kernel(im->store, read, left_out, delays);
}

/* @at, an end of a recording, if its last event is so early that this is more than a stop takes; else 0. */
static uint64_t later_end(uint64_t at, uint64_t last)
{
	return last != BSA_NEVER && at >= last + BSA_FOLD_STOPPING_NS ? at : 0;
}

/*
 * The latest event of @k. Where later ones were left out, the recording ended at its noted end; where all programs were
 * recorded until then, nothing happened between the latest event and that end.
 */
static uint64_t last_kept(const struct known *k, const struct bsa_decoded *decoded)
{
	if (!k->after_end)
		return decoded->ended;
	return k->recorded_until && k->last ? k->last : k->until;
}

int bsa_importer_decoded(struct bsa_importer *im, uint32_t number, const struct bsa_decoded *decoded,
                         struct bsa_err *err)
{
	const int64_t most = INT64_C(1) << 62;
	struct known *k = &im->traces[number - 1];
	struct bsa_trace_row *row = &k->row;
	int64_t offset;

	assert(number - 1 < im->n_traces);
	/* The store bounds times (store/numbers.h), and all beyond would be one. */
	offset = row->clock_offset;
	if (decoded->ended != BSA_NEVER && (decoded->ended >= (uint64_t)most || offset <= -most || offset >= most ||
	                                    offset + (int64_t)decoded->ended >= most))
		return bsa_fail(err, BSA_E_INPUT,
		                "%s: its last event is at %" PRIu64 " ns of a clock that began at %" PRId64
		                ": times from 2^62 ns on cannot be told apart in a database",
		                row->path, decoded->ended, row->clock_offset);
	row->began = decoded->began;
	row->ended = last_kept(k, decoded);
	row->recorded_until = decoded->ended != BSA_NEVER ? k->recorded_until : 0;
	row->over_by = later_end(k->over_by, decoded->ended);
	row->events = decoded->events - k->after_end;
	row->lost_events = decoded->lost_events;
	row->lost_packets = decoded->lost_packets;
	row->foreign = decoded->foreign;
	row->unusable = decoded->unusable;
	row->cut = decoded->cut;
	row->impostors = k->impostors;
	if (im->blind)
		im->facts.lost(im->facts.ctx, &(struct bsa_lost){ .began = decoded->began,
		                                                  .ended = decoded->ended,
		                                                  .events = BSA_NEVER,
		                                                  .packets = BSA_NEVER,
		                                                  .trace = row->id,
		                                                  .cpu = UINT32_MAX,
		                                                  .cause = BSA_LOSS_UNCHECKED });
	return bsa_store_trace(im->store, row, err);
}

/* ---- clock groups ---- */

static uint64_t latest_summary(const struct bsa_importer *im)
{
	uint64_t latest = im->fold ? bsa_fold_latest_summary(im->fold) : 0;

	return latest > im->latest_summary_ns ? latest : im->latest_summary_ns;
}

/*
 * Did a program go on after the end of its recording: for long, because another one did not answer when LTTng stopped
 * it, or as a service of which LTTng had stopped a client? The summary of an execution may come so late. If all events
 * are later, because LTTng had not reached any program before, nothing is left out.
 */
static bool goes_on(const struct bsa_importer *im)
{
	bool inside = false, beyond = false;

	for (size_t i = 0; im->fold && i < im->n_traces; i++) {
		const struct known *k = &im->traces[i];

		if (k->group != im->group || !k->until)
			continue;
		inside |= k->inside;
		beyond |= k->last > k->until + (k->compact ? BSA_FOLD_STOPPING_NS : stop_ns) ||
		          bsa_fold_began_unasked(im->fold, im->before + (uint32_t)i + 1, k->until);
	}
	return inside && beyond;
}

/* Did LTTng stop some programs long before others, or a service before its clients, after their recording was over? */
static bool is_half_ended(const struct bsa_importer *im)
{
	struct bsa_services_silence silence;
	uint32_t from = 0;

	if (im->ends || !im->services)
		return false;
	while (bsa_services_silence(im->services, &from, &silence))
		if (silence.trace && im->traces[silence.trace - 1].until &&
		    silence.ended > im->traces[silence.trace - 1].until)
			return true;
	return goes_on(im);
}

/* Keep what the first pass found out about the users of the group; of groups that are too many, nothing is kept. */
static void users_keep(struct bsa_importer *im, const struct bsa_users_decided *decided)
{
	if (im->second || im->group >= BSA_IMPORTER_GROUPS)
		return;
	im->users.of[im->group].service = decided->service;
	im->users.of[im->group].rival = decided->rival;
	memcpy(im->users.of[im->group].forgers, decided->forgers, sizeof(decided->forgers));
	im->again |= decided->again;
}

/* The fold of the group before, if there was one, reports all that it knows. */
static int end_group(struct bsa_importer *im, struct bsa_err *err)
{
	struct bsa_left_out left_out;
	struct bsa_users_decided decided;
	struct bsa_services_silence silence;
	uint32_t from = 0;

	if (!im->fold)
		return 0;
	for (size_t i = 0; i < im->n_traces; i++)
		if (im->traces[i].group == im->group &&
		    bsa_fold_recorded(im->fold, im->before + (uint32_t)i + 1, im->traces[i].recorded_until,
		                      im->traces[i].over_by))
			return importer_no_memory(err);
	if (bsa_fold_finish(im->fold))
		return importer_no_memory(err);
	for (size_t i = 0; i < im->n_traces; i++)
		im->traces[i].over |= im->traces[i].group == im->group;
	im->half_ended |= is_half_ended(im);

	/* The recording of a service ended before that of its clients: a tail that no packet shows. */
	while (bsa_services_silence(im->services, &from, &silence)) {
		bsa_fold_went_on(im->fold, silence.instance, silence.ended);
		im->facts.lost(im->facts.ctx, &(struct bsa_lost){ .began = silence.began,
		                                                  .ended = silence.ended,
		                                                  .events = BSA_NEVER,
		                                                  .packets = BSA_NEVER,
		                                                  .trace = silence.trace + im->before,
		                                                  .cpu = UINT32_MAX,
		                                                  .pid = silence.pid,
		                                                  .cause = BSA_LOSS_TAIL });
		im->holes++;
	}

	decided = bsa_users_decided(im->user_check);
	users_keep(im, &decided);
	if (im->second && im->group < BSA_IMPORTER_GROUPS) {
		decided.service = im->users.of[im->group].service;
		decided.rival = im->users.of[im->group].rival;
	}
	if (decided.service != USERS_UNKNOWN)
		bsa_store_service(im->store, decided.service, decided.rival);

	left_out = bsa_fold_left_out(im->fold);
	bsa_store_left_out(im->store, &left_out);
	im->unusable += left_out.unusable + left_out.absurd;
	im->last = bsa_fold_last(im->fold);
	im->holes += bsa_fold_holes(im->fold);
	im->latest_summary_ns = latest_summary(im);
	im->fold = bsa_fold_free(im->fold);
	malloc_trim(0); /* the end of the store must not come on top of what the fold had */
	return bsa_store_check(im->store, err);
}

static bool begin_users(struct bsa_importer *im, unsigned group)
{
	uint32_t service = im->service_uid;
	bool done;

	if (im->second && group < BSA_IMPORTER_GROUPS)
		service = im->users.of[group].service;
	bsa_users_free(im->user_check);
	im->user_check = bsa_users_new(service);
	done = im->user_check;
	if (done && im->second)
		bsa_users_last_go(im->user_check);
	for (size_t i = 0; done && im->second && group < BSA_IMPORTER_GROUPS && i < USERS_FORGERS; i++)
		if (im->users.of[group].forgers[i] != USERS_UNKNOWN)
			bsa_users_distrust(im->user_check, im->users.of[group].forgers[i]);
	for (size_t i = 0; done && i < im->n_traces; i++)
		if (im->traces[i].group == group)
			done = !bsa_users_trace(im->user_check, (uint32_t)i + 1, im->traces[i].uid);
	return done;
}

static int begin_group(struct bsa_importer *im, const struct known *first, struct bsa_err *err)
{
	struct bsa_fold_options options = { .tenants_max = TENANTS_MAX };
	uint64_t declared = 0;
	bool declares = true;
	int r = end_group(im, err);

	if (r < 0)
		return r;
	if (first->over)
		return bsa_fail(err, BSA_E_INPUT, "%s: its records are mixed with those of another clock",
		                first->row.path);
	options.last = im->last;
	for (size_t i = 0; i < im->n_traces; i++) {
		if (im->traces[i].group != first->group)
			continue;
		if (im->traces[i].compact)
			options.horizon_ns = im->horizon_ns;
		declared |= im->traces[i].declared;
		declares &= im->traces[i].declared != 0;
	}
	if (declares) {
		options.declared = declared;
		options.undeclared = ~declared;
	}
	bsa_store_clock(im->store, first->row.clock_offset);
	im->group = first->group;
	memset(im->once, 0, sizeof(im->once)); /* numbers are a clock's own: those of another host may be the same */
	bsa_services_free(im->services);
	im->services = bsa_services_new();
	im->fold = bsa_fold_new(&im->facts, &options);
	return im->fold && im->services && begin_users(im, im->group) ? 0 : importer_no_memory(err);
}

/* ---- twice the same ---- */

/* exec 0: @e is of no execution, or both sides emit such events. */
static struct once once_of(const struct bsa_event *e)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_exec_submit:
		return (struct once){ BSA_OF(e, exec_submit)->exec, e->at, e->trace, false };
	case BSA_exec_return:
		return (struct once){ BSA_OF(e, exec_return)->exec, e->at, e->trace, false };
	case BSA_exec_client:
		return (struct once){ BSA_OF(e, exec_client)->exec, e->at, e->trace, false };
	case BSA_exec_end:
		return (struct once){ BSA_OF(e, exec_end)->exec, e->at, e->trace, true };
	case BSA_exec_service:
		return (struct once){ BSA_OF(e, exec_service)->exec, e->at, e->trace, true };
	default:
		return (struct once){ 0 };
	}
}

/*
 * Two sessions of one run count everything twice. Their traces differ in everything but the executions that
 * they are about. Numbers of two services may be the same by chance, but hardly at the same time.
 */
static int refuse_twice(struct bsa_importer *im, const struct bsa_event *e, struct bsa_err *err)
{
	const struct once now = once_of(e);
	struct once *once = &im->once[(now.exec ^ now.exec >> 32 ^ (now.service ? ONCE / 2 : 0)) % ONCE], was = *once;

	if (!now.exec)
		return 0;
	*once = now;
	if (!was.trace || was.exec != now.exec || was.service != now.service || was.trace == now.trace ||
	    now.at - was.at > at_once_ns)
		return 0;
	return bsa_fail(err, BSA_E_INPUT,
	                "%s and %s are of the same run, and would count it twice: execution %" PRIu64
	                " is in both; import one of them",
	                im->traces[was.trace - 1].row.path, im->traces[now.trace - 1].row.path, now.exec);
}

/* ---- records ---- */

/* An impostor must not have a recording refused: as long as it is not certain who is one, a refusal waits. */
static int refuse_event(struct bsa_importer *im, const struct bsa_event *e, struct bsa_err *err)
{
	struct bsa_err why = { "" };
	int r = im->n_traces > 1 ? refuse_twice(im, e, &why) : 0;

	if (r >= 0)
		r = bsa_services_event(im->services, e, &why);
	if (r >= 0)
		return r;
	if (r != BSA_E_INPUT || !bsa_users_undecided(im->user_check))
		return bsa_fail(err, r, "%s", why.text);
	if (!im->refused)
		im->refusal = why;
	im->refused = true;
	return 0;
}

int bsa_importer_event(struct bsa_importer *im, const struct bsa_event *e, struct bsa_err *err)
{
	struct known *of = &im->traces[e->trace - 1];
	int r = 0, counts;

	assert(e->trace - 1 < im->n_traces);
	if (im->ends && of->until && e->at > of->until && e->kind != BSA_loss) {
		of->after_end++;
		return 0;
	}
	if (e->kind != BSA_loss) {
		of->last = e->at;
		of->inside |= e->at <= of->until;
	}
	if (!im->fold || of->group != im->group)
		r = begin_group(im, of, err);
	if (r < 0)
		return r;
	counts = bsa_users_event(im->user_check, e);
	if (counts < 0)
		return importer_no_memory(err);
	of->impostors += !counts;
	if (!counts || !bsa_asked_event(&im->asked, of->service, e))
		return 0;
	r = refuse_event(im, e, err);
	if (r < 0)
		return r;
	if (im->before) {
		assert(e->size <= sizeof(im->renumbered));
		memcpy(&im->renumbered, e, e->size);
		im->renumbered.event.trace += im->before;
		e = &im->renumbered.event;
	}
	if (bsa_fold_event(im->fold, e))
		return importer_no_memory(err);
	if (++im->unchecked < EVENTS_PER_CHECK)
		return 0;
	im->unchecked = 0;
	return bsa_store_check(im->store, err);
}

int bsa_importer_finish(struct bsa_importer *im, struct bsa_err *err)
{
	int r;

	if (im->refused)
		return bsa_fail(err, BSA_E_INPUT, "%s", im->refusal.text);
	r = end_group(im, err);
	bsa_store_after_end(im->store, bsa_importer_counts(im).after_end);
	if (im->asked.known)
		bsa_store_others(im->store, bsa_asked_left_out(&im->asked));
	return r < 0 ? r : bsa_store_finish(im->store, err);
}

struct bsa_importer_counts bsa_importer_counts(const struct bsa_importer *im)
{
	struct bsa_store_counts told = bsa_store_counts(im->store);
	struct bsa_importer_counts counts = { .executions = told.executions,
		                              .holes = im->holes,
		                              .unusable = im->unusable };

	for (size_t i = 0; i < im->n_traces; i++) {
		counts.impostors += im->traces[i].impostors;
		counts.after_end += im->traces[i].after_end;
	}
	for (size_t i = 0; i <= BSA_QUALITY_OPEN; i++)
		if (i != BSA_QUALITY_COMPLETE)
			counts.incomplete += told.quality[i];
	counts.touched_by_loss = told.quality[BSA_QUALITY_GAP] + told.quality[BSA_QUALITY_TAIL];
	return counts;
}

void bsa_importer_stop(struct bsa_importer *im)
{
	bsa_store_stop(im->store);
}

uint64_t bsa_importer_wants_horizon(const struct bsa_importer *im)
{
	uint64_t latest = latest_summary(im);

	return latest > im->horizon_ns ? latest : 0;
}

bool bsa_importer_wants_asked(const struct bsa_importer *im, struct bsa_asked *ret)
{
	bool again = bsa_asked_again(&im->asked);

	if (again)
		*ret = im->asked;
	return again;
}

bool bsa_importer_wants_ends(const struct bsa_importer *im)
{
	return im->half_ended || is_half_ended(im);
}

bool bsa_importer_wants_users(struct bsa_importer *im, struct bsa_importer_users *ret)
{
	struct bsa_users_decided decided;

	if (im->second || !im->user_check)
		return false;
	decided = bsa_users_decided(im->user_check); /* the last group, which has not ended yet */
	users_keep(im, &decided);
	*ret = im->users;
	return im->again;
}
