/* of_live.c -- adds the figures of a growing recording to the metrics, as they become known. */
#include "metrics/of_live.h"

#include <stdlib.h>
#include <string.h>

/* Runs of a model, for their median: by powers of two, each in FINE parts, so that it is known to 6 %. */
enum { FINE = 8, OCTAVES = 40, MODELS_MAX = 1024, MEDIANS_STARVED = 10, NOT_KNOWN = -1000000000 };

struct runs {
	uint32_t model; /* 0: a free place */
	uint64_t n;
	uint32_t by_length[OCTAVES * FINE];
};

struct bsv_metrics_of_live {
	struct bsv_metrics *m;
	uint64_t events, lost_events, lost_packets, losses, late; /* as of the last state */
	bool held_back;
	bool stalls,
		events_seen; /* whether a service is silent, and when the last event was, was known at least once */
	struct runs *of_models[MODELS_MAX]; /* by a model's id; of those that would have one place the last one seen */
};

struct bsv_metrics_of_live *bsv_metrics_of_live_new(struct bsv_metrics *m)
{
	struct bsv_metrics_of_live *f = calloc(1, sizeof(*f));
	const char *version[] = { BURSTSCOPE_VERSION };

	if (f) {
		f->m = m;
		bsv_metric_add(bsv_metrics_set(m, BSV_METRIC_BUILD, version), 1);
	}
	return f;
}

struct bsv_metrics_of_live *bsv_metrics_of_live_free(struct bsv_metrics_of_live *f)
{
	for (size_t i = 0; f && i < MODELS_MAX; i++)
		free(f->of_models[i]);
	free(f);
	return NULL;
}

/* ---- how long a model usually runs ---- */

static void add_run(struct bsv_metrics_of_live *f, uint32_t model, uint64_t ns)
{
	struct runs **r = &f->of_models[model % MODELS_MAX];
	unsigned octave = 0;
	size_t place = OCTAVES * FINE - 1;

	if (!model)
		return;
	if (!*r && !(*r = calloc(1, sizeof(**r))))
		return;
	if ((*r)->model != model)
		**r = (struct runs){ .model = model };
	while (ns >> octave >= 2 * FINE)
		octave++;
	if (octave < OCTAVES - 1)
		place = octave * FINE + (size_t)(ns >> octave);
	(*r)->n++;
	(*r)->by_length[place]++;
}

/* ---- what is told ---- */

static void take_execution(void *ctx, const struct bsa_live_execution *x)
{
	struct bsv_metrics_of_live *f = ctx;
	const char *who[] = { x->app, x->model, x->path, x->status };
	bool fine = x->complete && x->status && !strcmp(x->status, "NONE");
	/* otherwise, e2e is the service's part alone */
	bool client_seen = !x->sides || strcmp(x->sides, "service") != 0;

	bsv_metrics_for(f->m, x->uid);
	bsv_metrics_set(f->m, BSV_METRIC_DURATION, who);
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_EXECUTIONS, who), 1);
	if (fine && client_seen && x->e2e_ns != BSA_LIVE_UNKNOWN)
		bsv_metric_observe(bsv_metrics_set(f->m, BSV_METRIC_DURATION, who), (int64_t)x->e2e_ns);
	for (unsigned i = 0; fine && i < BSA_LIVE_PHASES; i++)
		if (x->phase_ns[i] != BSA_LIVE_UNKNOWN)
			bsv_metric_observe(bsv_metrics_set(f->m, BSV_METRIC_PHASE,
			                                   (const char *[]){ x->model, bsa_live_phase(i) }),
			                   (int64_t)x->phase_ns[i]);
	if (fine && client_seen && x->overhead_ns != BSA_LIVE_UNKNOWN)
		bsv_metric_observe(bsv_metrics_set(f->m, BSV_METRIC_PHASE, (const char *[]){ x->model, "overhead" }),
		                   (int64_t)x->overhead_ns);
	if (fine && x->run_ns != BSA_LIVE_UNKNOWN)
		add_run(f, x->model_id, x->run_ns);
	if (!x->complete)
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_INCOMPLETE, who), 1);
	if (x->deadline)
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_DEADLINES, who), 1);
	if (x->deadline || x->missed)
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_MISSED, who), x->missed);
	if (x->outcome_unknown)
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_OUTCOMES_UNKNOWN, who), 1);
	if (x->missed)
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_MISSES, (const char *[]){ x->app, x->model, x->cause }),
		               1);
	if (x->preemptions != BSA_LIVE_UNKNOWN)
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_PREEMPTIONS, who), (int64_t)x->preemptions);
	if (x->slot_lookups != BSA_LIVE_UNKNOWN && x->slot_misses != BSA_LIVE_UNKNOWN) {
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_SLOT_LOOKUPS, who), (int64_t)x->slot_lookups);
		bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_SLOT_MISSES, who), (int64_t)x->slot_misses);
	}
}

static void take_share(void *ctx, const char *app, uint32_t uid, uint64_t received_ns, uint64_t entitled_ns)
{
	struct bsv_metrics_of_live *f = ctx;

	bsv_metrics_for(f->m, uid);
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_RECEIVED, &app), (int64_t)received_ns);
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_ENTITLED, &app), (int64_t)entitled_ns);
}

static void take_lag(void *ctx, const char *app, uint32_t uid, int64_t lag_ns)
{
	struct bsv_metrics_of_live *f = ctx;

	bsv_metrics_for(f->m, uid);
	bsv_metric_raise(bsv_metrics_set(f->m, BSV_METRIC_LAG, &app), lag_ns);
}

static void take_starved(void *ctx, const struct bsa_live_starved *s)
{
	struct bsv_metrics_of_live *f = ctx;
	const struct runs *r = f->of_models[s->model_id % MODELS_MAX];
	uint64_t seen = 0, median = 0; /* 0: not known */
	size_t i = 0, octave;

	if (r && r->model == s->model_id) {
		while ((seen += r->by_length[i]) * 2 < r->n)
			i++;
		octave = i / FINE;
		/* the shortest length that has this place */
		median = octave < 2 ? i : (uint64_t)(i - (octave - 1) * FINE) << (octave - 1);
	}
	if (s->gap_ns / MEDIANS_STARVED < median)
		return;
	bsv_metrics_for(f->m, s->uid);
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_STARVATIONS, &s->app), 1);
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_STARVED, &s->app), (int64_t)s->gap_ns);
}

static void take_mapped(void *ctx, const char *owner, const char *kind, uint64_t bytes)
{
	struct bsv_metrics_of_live *f = ctx;
	const char *which[] = { owner, kind };

	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_POOLS, which), 1);
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_POOL_BYTES, which), (int64_t)bytes);
}

struct bsa_live_calls bsv_metrics_of_live_calls(struct bsv_metrics_of_live *f)
{
	return (struct bsa_live_calls){ .ctx = f,
		                        .execution = take_execution,
		                        .share = take_share,
		                        .lag = take_lag,
		                        .starved = take_starved,
		                        .mapped = take_mapped };
}

void bsv_metrics_of_live_held_back(struct bsv_metrics_of_live *f)
{
	f->held_back = true;
}

/* How long nothing was heard. A value that was known and is not any more becomes -1 s. */
static void put_silences(struct bsv_metrics_of_live *f, const struct bsa_live_state *s)
{
	bool known = s->stalled_ns != BSA_LIVE_UNKNOWN && !f->held_back;

	f->stalls |= known;
	if (f->stalls)
		bsv_metric_put(bsv_metrics_set(f->m, BSV_METRIC_STALLED, NULL),
		               known ? (int64_t)s->stalled_ns : NOT_KNOWN);
	f->events_seen |= s->quiet_ns != BSA_LIVE_UNKNOWN;
	if (f->events_seen)
		bsv_metric_put(bsv_metrics_set(f->m, BSV_METRIC_QUIET, NULL),
		               s->quiet_ns == BSA_LIVE_UNKNOWN || f->held_back ? NOT_KNOWN : (int64_t)s->quiet_ns);
}

void bsv_metrics_of_live_state(struct bsv_metrics_of_live *f, const struct bsa_live_state *state)
{
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_EVENTS, NULL), (int64_t)(state->events - f->events));
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_LOST_EVENTS, NULL),
	               (int64_t)(state->lost_events - f->lost_events));
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_LOST_PACKETS, NULL),
	               (int64_t)(state->lost_packets - f->lost_packets));
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_LOSSES, NULL), (int64_t)(state->losses - f->losses));
	bsv_metric_add(bsv_metrics_set(f->m, BSV_METRIC_LATE, NULL), (int64_t)(state->late - f->late));
	bsv_metric_raise(bsv_metrics_set(f->m, BSV_METRIC_HELD_BACK, NULL), f->held_back);
	put_silences(f, state);
	f->events = state->events;
	f->lost_events = state->lost_events;
	f->lost_packets = state->lost_packets;
	f->losses = state->losses;
	f->late = state->late;
}
