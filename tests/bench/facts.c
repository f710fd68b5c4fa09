/* facts.c -- see facts.h. */
#include "facts.h"

#include "base.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

/* Pools of facts_pools come after those of slots. */
enum { FIRST_POOL = 1 << 24 };

enum { STREAMS = 16, APPS = 4, MODELS = 8, BEGAN_S = 1000, PERIOD_NS = 40000, WINDOW_NS = 100000000 };
enum { COLD_EVERY = 500, FETCH_NS = 20000, MAP_NS = 9000 };

static uint64_t state = 88172645463325252;

static uint64_t random_below(uint64_t n)
{
	return xorshift_next(&state) % n;
}

struct bsa_execution facts_execution(const struct bsa_facts *facts, uint64_t i)
{
	uint64_t t = BEGAN_S * UINT64_C(1000000000) + i * PERIOD_NS, stream = 1 + i % STREAMS;
	struct bsa_execution x = {
		.id = i + 1,
		.exec = (0x12300000 + stream) << 32 | (i / STREAMS + 1),
		.trace = 1,
		.stream = (uint32_t)stream,
		.app = 1 + (uint32_t)(stream % APPS),
		.model = 1 + (uint32_t)(stream % MODELS),
		.lookups = 2,
		.misses = i % COLD_EVERY == 0,
		.cold = i % COLD_EVERY == 0,
		.priority = 1,
		.lane = 0,
		.idle = i % 50 != 0,
		.cpu = BSA_NEVER,
		.estimate = 12000,
		.missed_at = BSA_NEVER,
		.result = { .spun = random_below(20000) },
		.request = { .spun = random_below(9000) },
	};
	static const uint32_t usual[BSA_PHASES] = { 900, 3000, 1500, 0, 400, 700, 12000, 0, 800, 3500, 600, 0 };
	static const uint8_t ends[] = { BSA_REQUEST_WRITTEN, BSA_REQUEST_READ, BSA_DECODED,   BSA_FENCED,
		                        BSA_ENQUEUED,        BSA_DISPATCHED,   BSA_RUN_ENDED, BSA_RUN_ENDED,
		                        BSA_RESULT_WRITTEN,  BSA_RESULT_READ,  BSA_RETURNED,  BSA_SIGNALLED };

	for (unsigned b = 0; b < BSA_BOUNDARIES; b++)
		x.at[b] = BSA_NEVER;
	x.at[BSA_SUBMITTED] = t;
	for (unsigned p = 0; p < BSA_PHASES; p++) {
		if (!usual[p])
			continue;
		x.phase[p] = usual[p] + random_below(usual[p] / 4);
		if (random_below(100) == 0)
			x.phase[p] *= 1 + random_below(30);
		if (p == BSA_SLOTS && x.cold)
			x.phase[p] += FETCH_NS + MAP_NS;
		t += x.phase[p];
		x.at[ends[p]] = t;
	}
	x.e2e = t - x.at[BSA_SUBMITTED];
	x.run = x.phase[BSA_RUN];
	x.queue = x.phase[BSA_QUEUE];
	x.slots = x.phase[BSA_SLOTS];
	x.deadline = x.at[BSA_SUBMITTED] + 60000;
	if (i % 200 == 0) {
		x.deadline = t - 5000;
		x.miss = BSA_MISS_LATE;
		x.lateness = 5000;
	}
	facts->execution(facts->ctx, &x);
	if (i % 50 == 0)
		facts->wait(facts->ctx, &(struct bsa_wait){ .execution = x.id,
		                                            .began = x.at[BSA_ENQUEUED],
		                                            .ended = x.at[BSA_DISPATCHED],
		                                            .blocker = x.id - 1,
		                                            .blocker_app = 1,
		                                            .cause = BSA_CROWDED_OUT });
	return x;
}

void facts_who(const struct bsa_facts *facts)
{
	for (uint32_t i = 1; i <= APPS; i++)
		facts->app(
			facts->ctx,
			&(struct bsa_app){ .id = i, .trace = 1, .key = i, .name = { 'a', 'p', 'p', (char)('0' + i) } });
	for (uint32_t i = 1; i <= MODELS; i++) {
		struct bsa_model m = { .id = i, .trace = 1, .app = 1, .number = i, .estimate_ns = 12000 };

		snprintf(m.name, sizeof(m.name), "model%u", i);
		facts->model(facts->ctx, &m);
	}
	for (uint32_t i = 1; i <= STREAMS; i++)
		facts->stream(facts->ctx, &(struct bsa_stream){ .id = i,
		                                                .trace = 1,
		                                                .number = 0x12300000 + i,
		                                                .app = 1 + i % APPS,
		                                                .model = 1 + i % MODELS });
}

/* ---- beside them ---- */

static void missed_slot(const struct bsa_facts *facts, const struct bsa_execution *x, uint64_t i)
{
	facts->slot_missed(facts->ctx, &(struct bsa_slot_missed){ .execution = x->id,
	                                                          .at = x->at[BSA_DECODED],
	                                                          .fetch_ns = FETCH_NS,
	                                                          .map_ns = MAP_NS,
	                                                          .slot = (int32_t)(i % 64) });
	facts->mapping(facts->ctx, &(struct bsa_mapping){ .id = i / COLD_EVERY + 1,
	                                                  .bytes = 1 << 16,
	                                                  .mapped = x->at[BSA_DECODED],
	                                                  .unmapped = x->at[BSA_DECODED] + 40000000,
	                                                  .took = MAP_NS,
	                                                  .owner_id = x->exec >> 32,
	                                                  .stream = x->stream,
	                                                  .trace = 1,
	                                                  .slot = (int32_t)(i % 64),
	                                                  .owner = 1 });
}

static void preempted(const struct bsa_facts *facts, const struct bsa_execution *x)
{
	uint64_t stopped = x->at[BSA_DISPATCHED] + 3000, resumed = x->at[BSA_RUN_ENDED] - 3000;

	facts->preemption(facts->ctx, &(struct bsa_preemption){ .execution = x->id,
	                                                        .by = x->id - 1,
	                                                        .asked = stopped - 500,
	                                                        .stopped = stopped,
	                                                        .resumed = resumed,
	                                                        .at_op = 3,
	                                                        .lane = 0 });
	facts->slice(facts->ctx,
	             &(struct bsa_slice){
			     .execution = x->id, .began = x->at[BSA_DISPATCHED], .ended = stopped, .trace = 1 });
}

void facts_beside(const struct bsa_facts *facts, const struct bsa_execution *x, uint64_t i)
{
	if (x->cold)
		missed_slot(facts, x, i);
	if (i % 100 == 99)
		preempted(facts, x);
	if (i % 20 == 19)
		facts->chosen(facts->ctx, &(struct bsa_chosen){ .at = x->at[BSA_DISPATCHED],
		                                                .chosen = x->id,
		                                                .passed_over = x->id - 1,
		                                                .app = x->app,
		                                                .honoured = i % 40 == 19 });
	if (i % 1000 == 999)
		facts->inverted(facts->ctx, &(struct bsa_inverted){ .victim = x->id,
		                                                    .holder = x->id - 1,
		                                                    .began = x->at[BSA_ENQUEUED],
		                                                    .dur = 2000000 });
	if (i % 20000 == 19999)
		facts->starved(facts->ctx, &(struct bsa_starved){ .execution = x->id,
		                                                  .began = x->at[BSA_ENQUEUED],
		                                                  .gap = 150000000,
		                                                  .top_culprit_ns = 90000000,
		                                                  .app = x->app,
		                                                  .top_culprit_app = 1 + x->app % APPS,
		                                                  .bypassed = 12,
		                                                  .model = x->model });
	if (x->miss)
		facts->deadline_missed(facts->ctx, &(struct bsa_deadline_missed){ .execution = x->id,
		                                                                  .at = x->at[BSA_RETURNED],
		                                                                  .deadline = x->deadline,
		                                                                  .estimate = 12000,
		                                                                  .over = x->lateness,
		                                                                  .model = x->model,
		                                                                  .trace = 1,
		                                                                  .kind = 2, /* late */
		                                                                  .stage = BSA_STAGE_DONE });
}

void facts_between(const struct bsa_facts *facts, uint64_t n)
{
	for (uint32_t app = 1; app <= APPS; app++) {
		facts->share(facts->ctx, &(struct bsa_share){ .app = app,
		                                              .received = n * 3000,
		                                              .entitled = n * 3000,
		                                              .max_lag = 3000000 * app,
		                                              .max_lag_at = BEGAN_S * UINT64_C(1000000000) });
		for (uint64_t w = 0; w < n * PERIOD_NS / WINDOW_NS; w++)
			facts->lag(facts->ctx,
			           &(struct bsa_lag){ .app = app,
			                              .window_began = BEGAN_S * UINT64_C(1000000000) + w * WINDOW_NS,
			                              .received = 7500000 + random_below(1000000),
			                              .entitled = 7500000 + random_below(1000000),
			                              .lag = (int64_t)random_below(3000000) });
		for (uint32_t by = 1; by <= APPS; by++)
			facts->interfered(facts->ctx, &(struct bsa_interfered){ .ns = n * by, .by = by, .app = app });
	}
}

/* ---- pools ---- */

/* Calls without a burst have their pools mapped for each execution; some thousand are mapped at a time. */
void facts_pools(const struct bsa_facts *facts, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = BEGAN_S * UINT64_C(1000000000) + i * (PERIOD_NS / 4);

		facts->mapping(facts->ctx, &(struct bsa_mapping){ .id = FIRST_POOL + i,
		                                                  .bytes = 4096 << random_below(8),
		                                                  .mapped = at,
		                                                  .unmapped = at + 10000 + random_below(50000000),
		                                                  .took = 2000 + random_below(30000),
		                                                  .owner_id = i / 2,
		                                                  .trace = 1,
		                                                  .slot = (int32_t)(i % 2),
		                                                  .owner = 2 + i % 16 / 15, /* exec, app */
		                                                  .kind = i % 8 == 0,
		                                                  .cause = 0 });
	}
}

static void must(int r, const struct bsa_err *err)
{
	if (r >= 0)
		return;
	fprintf(stderr, "a database of facts: %s\n", err->text);
	exit(1);
}

void facts_database(const char *path, uint64_t n, unsigned pools, uint8_t lanes)
{
	struct bsa_store_options options = { .output = path };
	struct bsa_trace_row trace = { .id = 1,
		                       .uuid = "a-b-c",
		                       .path = "trace",
		                       .began = BEGAN_S * UINT64_C(1000000000),
		                       .ended = BEGAN_S * UINT64_C(1000000000) + n * PERIOD_NS };
	struct bsa_store *s = NULL;
	struct bsa_facts facts;
	struct bsa_err err;

	must(bsa_store_new(&s, &options, &err), &err);
	must(bsa_store_trace(s, &trace, &err), &err);
	facts = bsa_store_facts(s);
	facts_who(&facts);
	if (lanes)
		facts.rules(facts.ctx, &(struct bsa_rules){ .at = trace.began, .trace = 1, .lanes = lanes });
	for (uint64_t i = 0; i < n; i++) {
		struct bsa_execution x = facts_execution(&facts, i);

		facts_beside(&facts, &x, i);
	}
	facts_between(&facts, n);
	if (pools)
		facts_pools(&facts, pools * n);
	must(bsa_store_finish(s, &err), &err);
	bsa_store_free(s);
}
