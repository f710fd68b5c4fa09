/*
 * bench_memory -- a recurrent model whose state stays with the driver, against one whose state comes and goes through
 * shared memory; and what buffers of the driver cost.
 *
 * The service is nnburstd, a process of its own. The model is the SVDF of nnburst-load's zoo, with 1 MiB of state. Each
 * kind of state goes on through the whole run, in turns of a few steps in changing order, on the same inputs: what
 * comes out of every step, and the state in the end, must be the same to the bit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "bench.h"
#include "daemon.h"
#include "peers.h"
#include "zoo.h"

enum { FRAME = 40 * 4, WORDS = 12, STATE = 1 << 20, TINY = 16 };
enum {
	TURNS = 3,
	QUICK_TURNS = 1,
	STEPS = 20,
	UNCOUNTED = 2
};                        /* steps of a turn: the first follow on another kind's */
enum { UP_TO_NS = 1000 }; /* a burst's times are rounded up to this */

/* How both sides of a burst wait; SYNC is the ordinary path. */
enum { POLLING, USUAL, SYNC, N_PATHS };

static const struct path {
	const char *name, *spin;
	uint64_t window;
} paths[N_PATHS] = {
	[POLLING] = { "burst, polling", "always", NNB_FMQ_WINDOW_ALWAYS },
	[USUAL] = { "burst, default window", "auto", NNB_FMQ_WINDOW_AUTO },
	[SYNC] = { "sync", "none", 0 },
};

/* Where the state is. */
enum { DEVICE, COPIED, SWAPPED, N_KINDS };

static const char *const kinds[N_KINDS] = {
	[DEVICE] = "driver buffers", /* two, that swap their roles */
	[COPIED] = "pools copied",   /* its output is copied to its input: who has fixed places can do no better */
	[SWAPPED] = "pools swapped", /* two, that swap: who may choose the places of each execution */
};

/* ---- stepping ---- */

struct stepper {
	int kind;
	struct nnb_remote_buffer *buffers[2]; /* or */
	struct nnb_pool *states[2];
	struct nnb_pool *small; /* the frame and the words */
	unsigned turn;          /* the one of two that is the input */
	struct nnb_argument in[2], out[2];
	struct nnb_pool *pools[3];
	struct nnb_call call;
	struct nnb_output_shape shapes[2];
	struct nnb_answer answer;
};

static char *words_of(const struct stepper *s)
{
	return (char *)nnb_pool_data(s->small) + FRAME;
}

static struct nnb_remote_buffer *state_buffer(const struct app *a)
{
	const struct nnb_buffer_role in = { 0, 1, 1 }, out = { 0, 1, 1 };
	const struct nnb_buffer_desc desc = { .inputs = &in, .outputs = &out, .n_inputs = 1, .n_outputs = 1 };
	struct nnb_remote_buffer *buffer;
	struct nnb_reason reason = { "" };

	must(nnb_remote_buffer_new(&buffer, a->client, &a->remote, 1, &desc, false, &reason), "a buffer", &reason);
	return buffer;
}

/* From zeroes. */
static void stepper_init(struct stepper *s, const struct app *a, int kind)
{
	struct nnb_reason reason = { "" };

	*s = (struct stepper){ .kind = kind };
	if (nnb_pool_new(&s->small, FRAME + WORDS * 4))
		die("a pool");
	for (int i = 0; i < 2; i++)
		if (nnb_pool_new(&s->states[i], STATE))
			die("a pool");
	for (int i = 0; kind == DEVICE && i < 2; i++)
		s->buffers[i] = state_buffer(a);
	if (kind == DEVICE)
		must(nnb_remote_buffer_copy_from(s->buffers[0], nnb_pool_memory(s->states[0]), 0, NULL, &reason),
		     "a state of zeroes", &reason);
	s->pools[0] = s->small;
	for (int i = 0; i < 2; i++)
		s->pools[1 + i] = kind == DEVICE ? nnb_remote_buffer_pool(s->buffers[i]) : s->states[i];
	s->in[0].location = (struct nnb_location){ 0, 0, FRAME };
	s->out[0].location = (struct nnb_location){ 0, FRAME, WORDS * 4 };
	s->answer.shapes = s->shapes;
	s->call = (struct nnb_call){ .inputs = s->in,
		                     .outputs = s->out,
		                     .pools = s->pools,
		                     .n_inputs = 2,
		                     .n_outputs = 2,
		                     .n_pools = 3,
		                     .measure = true };
}

static void stepper_fini(struct stepper *s)
{
	for (int i = 0; i < 2; i++) {
		nnb_remote_buffer_free(s->buffers[i]);
		nnb_pool_free(s->states[i]);
	}
	nnb_pool_free(s->small);
}

static struct nnb_argument place_of(const struct stepper *s, unsigned which)
{
	if (s->kind == DEVICE)
		return nnb_remote_buffer_argument(s->buffers[which], 1 + which);
	return (struct nnb_argument){ .location = { 1 + which, 0, STATE } };
}

/*
 * The time of a step, and the part of it that was not on the device: all else that the client does, or waits for.
 * Where the time on the device was rounded up, the most that this may be.
 */
struct cost {
	double step, transfer;
};

static struct cost step(struct stepper *s, const struct app *a, struct nnb_burst *burst)
{
	struct nnb_reason reason = { "" };
	uint64_t start = bench_now();
	double all;

	s->in[1] = place_of(s, s->turn);
	s->out[1] = place_of(s, !s->turn);
	if (burst)
		must(nnb_burst_execute(burst, &s->call, &s->answer, &reason), "a burst execution", &reason);
	else
		must(nnb_remote_execute(a->remote, &s->call, &s->answer, &reason), "an execution", &reason);
	if (s->kind == COPIED)
		memcpy(nnb_pool_data(s->states[0]), nnb_pool_data(s->states[1]), STATE);
	else
		s->turn = !s->turn;
	all = (double)(bench_now() - start);
	if (s->answer.fallback || s->answer.timing.on_device_ns == UINT64_MAX)
		must(NNB_STATUS_GENERAL_FAILURE, "an execution that fell back, or was not measured", NULL);
	return (struct cost){ all, all - (double)s->answer.timing.on_device_ns + (burst ? UP_TO_NS : 0) };
}

/* ---- a path: an app, and a stepper for each kind ---- */

struct walk {
	int path;
	struct daemon daemon;
	struct app app;
	struct stepper steppers[N_KINDS];
	unsigned steps; /* that each has taken */
	float words[N_KINDS][STEPS][WORDS];
	size_t step_rows[N_KINDS], transfer_rows[N_KINDS];
};

static void differ(const struct walk *w, int kind, const char *what)
{
	fprintf(stderr, "bench_memory: after %u steps %s differs: %s, %s\n", w->steps, what, paths[w->path].name,
	        kinds[kind]);
	exit(1);
}

/* Each step has a frame of its own, the same for every kind and path. */
static void take_turn(struct bench *b, struct walk *w, struct nnb_burst *burst, int kind)
{
	struct stepper *s = &w->steppers[kind];

	for (unsigned i = 0; i < STEPS; i++) {
		struct cost c;

		load_zoo_numbers(nnb_pool_data(s->small), FRAME / 4, 7, w->steps + i);
		memset(words_of(s), 0xff, WORDS * 4);
		c = step(s, &w->app, burst);
		memcpy(w->words[kind][i], words_of(s), WORDS * 4);
		if (i < UNCOUNTED)
			continue;
		bench_sample(b, w->step_rows[kind], c.step);
		bench_sample(b, w->transfer_rows[kind], c.transfer);
	}
}

/* One burst for all kinds: where the service polls, each burst has a thread that does. */
static void walk_on(struct bench *b, struct walk *w)
{
	const struct nnb_burst_config config = { .window_ns = paths[w->path].window };
	struct nnb_reason reason = { "" };
	struct nnb_burst *burst = NULL;

	settle(TWO_CPUS, CLIENT);
	if (w->path != SYNC)
		must(nnb_remote_burst(w->app.remote, &config, &burst, &reason), "a burst", &reason);
	settle_all(w->daemon.pid, cpu_of(TWO_CPUS, SERVER));
	for (int turn = 0; turn < (b->quick ? QUICK_TURNS : TURNS); turn++) {
		for (int i = 0; i < N_KINDS; i++)
			take_turn(b, w, burst, (turn + i) % N_KINDS);
		w->steps += STEPS;
		for (int k = 0; k < N_KINDS; k++)
			if (memcmp(w->words[k], w->words[DEVICE], sizeof(w->words[k])) != 0)
				differ(w, k, "what came out");
	}
	nnb_burst_free(burst);
	for (int k = 0; k < N_KINDS; k++) {
		bench_round_done(b, w->step_rows[k]);
		bench_round_done(b, w->transfer_rows[k]);
	}
}

static void walk_init(struct bench *b, struct walk *w, int path, const struct nnb_model *model)
{
	const char *const options[] = { "--spin", paths[path].spin, NULL };
	char name[64];

	*w = (struct walk){ .path = path };
	daemon_start(&w->daemon, NNBURSTD, options);
	app_open(&w->app, w->daemon.socket, model, FRAME, WORDS * 4);
	for (int k = 0; k < N_KINDS; k++) {
		stepper_init(&w->steppers[k], &w->app, k);
		snprintf(name, sizeof(name), "%s/%s/transfer", paths[path].name, kinds[k]);
		w->transfer_rows[k] = bench_row(b, name);
		snprintf(name, sizeof(name), "%s/%s/step", paths[path].name, kinds[k]);
		w->step_rows[k] = bench_row(b, name);
	}
}

static void walk_fini(struct walk *w)
{
	for (int k = 0; k < N_KINDS; k++)
		stepper_fini(&w->steppers[k]);
	app_close(&w->app);
	daemon_stop(&w->daemon);
}

/* The state of each, which has taken as many steps as every other. */
static void compare_states(const struct walk *walks)
{
	struct nnb_reason reason = { "" };
	struct nnb_pool *first, *each;

	if (nnb_pool_new(&first, STATE) || nnb_pool_new(&each, STATE))
		die("pools");
	for (int p = 0; p < N_PATHS; p++)
		for (int k = 0; k < N_KINDS; k++) {
			const struct stepper *s = &walks[p].steppers[k];
			struct nnb_pool *to = p || k ? each : first;

			if (k == DEVICE)
				must(nnb_remote_buffer_copy_to(s->buffers[s->turn], nnb_pool_memory(to), &reason),
				     "the state", &reason);
			else
				memcpy(nnb_pool_data(to), nnb_pool_data(s->states[s->turn]), STATE);
			if (memcmp(nnb_pool_data(to), nnb_pool_data(first), STATE) != 0)
				differ(&walks[p], k, "the state");
		}
	nnb_pool_free(first);
	nnb_pool_free(each);
}

/* ---- what a buffer costs ---- */

struct buffer_rows {
	size_t memcpy, buffer, pool, from, to;
};

static double since(uint64_t start)
{
	return (double)(bench_now() - start);
}

static void buffers(struct bench *b, const struct buffer_rows *r, struct walk *w)
{
	struct nnb_pool *pools[2], *pool;
	struct nnb_remote_buffer *buffer = state_buffer(&w->app);
	struct nnb_reason reason = { "" };
	uint64_t start;

	settle(TWO_CPUS, CLIENT);
	settle_all(w->daemon.pid, cpu_of(TWO_CPUS, SERVER));
	if (nnb_pool_new(&pools[0], STATE) || nnb_pool_new(&pools[1], STATE))
		die("pools");
	memset(nnb_pool_data(pools[0]), 1, STATE);
	for (int i = -3; i < (b->quick ? 2 : 30); i++) {
		double times[5];

		start = bench_now();
		memcpy(nnb_pool_data(pools[1]), nnb_pool_data(pools[0]), STATE);
		times[0] = since(start);
		start = bench_now();
		nnb_remote_buffer_free(state_buffer(&w->app));
		times[1] = since(start);
		start = bench_now();
		if (nnb_pool_new(&pool, STATE))
			die("a pool");
		memset(nnb_pool_data(pool), 0, STATE); /* a driver's buffer has all its pages */
		nnb_pool_free(pool);
		times[2] = since(start);
		start = bench_now();
		must(nnb_remote_buffer_copy_from(buffer, nnb_pool_memory(pools[0]), 0, NULL, &reason), "copy_from",
		     &reason);
		times[3] = since(start);
		start = bench_now();
		must(nnb_remote_buffer_copy_to(buffer, nnb_pool_memory(pools[1]), &reason), "copy_to", &reason);
		times[4] = since(start);
		for (int k = 0; i >= 0 && k < 5; k++)
			bench_sample(b, (const size_t[]){ r->memcpy, r->buffer, r->pool, r->from, r->to }[k], times[k]);
	}
	for (int k = 0; k < 5; k++)
		bench_round_done(b, (const size_t[]){ r->memcpy, r->buffer, r->pool, r->from, r->to }[k]);
	nnb_remote_buffer_free(buffer);
	nnb_pool_free(pools[0]);
	nnb_pool_free(pools[1]);
}

/* ---- what a token costs, where nothing is computed ---- */

struct no_op {
	struct daemon daemon;
	struct app app;
	struct nnb_model *model;
	struct nnb_remote_buffer *buffers[2];
	size_t pool_row, token_row;
};

static struct nnb_remote_buffer *role_buffer(const struct app *a, bool output)
{
	const struct nnb_buffer_role role = { 0, 0, 1 };
	const struct nnb_buffer_desc desc = {
		.inputs = &role, .outputs = &role, .n_inputs = !output, .n_outputs = output
	};
	struct nnb_remote_buffer *buffer;
	struct nnb_reason reason = { "" };

	must(nnb_remote_buffer_new(&buffer, a->client, &a->remote, 1, &desc, false, &reason), "a buffer", &reason);
	return buffer;
}

static void no_op_init(struct bench *b, struct no_op *n)
{
	const char *const options[] = { "--driver", "null", "--spin", "always", NULL };
	struct nnb_reason reason = { "" };
	struct nnb_pool *zeroes;

	n->model = copy_model(TINY);
	daemon_start(&n->daemon, NNBURSTD, options);
	app_open(&n->app, n->daemon.socket, n->model, TINY, TINY);
	for (int i = 0; i < 2; i++)
		n->buffers[i] = role_buffer(&n->app, i);
	if (nnb_pool_new(&zeroes, TINY))
		die("a pool");
	must(nnb_remote_buffer_copy_from(n->buffers[0], nnb_pool_memory(zeroes), 0, NULL, &reason), "copy_from",
	     &reason);
	nnb_pool_free(zeroes);
	n->pool_row = bench_row(b, "no-op burst/shared pools");
	n->token_row = bench_row(b, "no-op burst/tokens");
}

static void no_op_fini(struct no_op *n)
{
	for (int i = 0; i < 2; i++)
		nnb_remote_buffer_free(n->buffers[i]);
	app_close(&n->app);
	daemon_stop(&n->daemon);
	nnb_model_free(n->model);
}

static void batch(struct bench *b, size_t row, struct user *u, int n)
{
	uint64_t start = bench_now();

	for (int i = 0; i < n; i++)
		run_burst(u);
	bench_sample(b, row, since(start) / n);
	for (int i = 0; i < n; i++) {
		start = bench_now();
		run_burst(u);
		bench_tail(b, row, since(start));
	}
}

/* One burst: batches with pools and with tokens in turns. */
static void no_op(struct bench *b, struct no_op *n)
{
	struct nnb_pool *tokens[2], *pools[2];
	struct nnb_argument in[2], out[2];
	struct user u = { 0 };

	settle(TWO_CPUS, CLIENT);
	user_open(&u, &n->app, NNB_FMQ_WINDOW_ALWAYS);
	settle_all(n->daemon.pid, cpu_of(TWO_CPUS, SERVER));
	for (int i = 0; i < 2; i++) {
		tokens[i] = nnb_remote_buffer_pool(n->buffers[i]);
		pools[i] = u.pools[i];
	}
	in[0] = u.in;
	out[0] = u.out;
	in[1] = nnb_remote_buffer_argument(n->buffers[0], 0);
	out[1] = nnb_remote_buffer_argument(n->buffers[1], 1);
	for (int i = -4; i < (b->quick ? 4 : 80); i++) {
		bool token = i & 1;

		u.call.inputs = &in[token];
		u.call.outputs = &out[token];
		u.call.pools = token ? tokens : pools;
		if (i < 0)
			run_burst(&u);
		else
			batch(b, token ? n->token_row : n->pool_row, &u, b->quick ? 10 : 100);
	}
	bench_round_done(b, n->pool_row);
	bench_round_done(b, n->token_row);
	user_close(&u);
}

/* ---- the whole ---- */

static void judge_path(struct bench *b, const struct walk *w, size_t memcpy_row)
{
	const char *path = paths[w->path].name;
	size_t figure;
	char name[80];
	double v;

	snprintf(name, sizeof(name), "%s, transfer: pools copied / driver buffers", path);
	v = bench_ratio(b, name, w->transfer_rows[COPIED], w->transfer_rows[DEVICE], SIZE_MAX);
	bench_at_least(b, name, v, 1.5);
	snprintf(name, sizeof(name), "%s, transfer: pools swapped / driver buffers", path);
	bench_ratio(b, name, w->transfer_rows[SWAPPED], w->transfer_rows[DEVICE], SIZE_MAX);
	snprintf(name, sizeof(name), "%s, whole step: pools copied / driver buffers", path);
	bench_ratio(b, name, w->step_rows[COPIED], w->step_rows[DEVICE], SIZE_MAX);
	snprintf(name, sizeof(name), "%s, whole step: pools swapped / driver buffers", path);
	bench_ratio(b, name, w->step_rows[SWAPPED], w->step_rows[DEVICE], SIZE_MAX);
	snprintf(name, sizeof(name), "%s: what copying adds / memcpy", path);
	figure = bench_figure(b, name);
	for (unsigned i = 0; i < b->rounds; i++)
		bench_figure_is(b, figure,
		                (b->rows[w->transfer_rows[COPIED]].per_round[i] -
		                 b->rows[w->transfer_rows[DEVICE]].per_round[i]) /
		                        b->rows[memcpy_row].per_round[i]);
}

int main(int argc, char **argv)
{
	static struct walk walks[N_PATHS];
	static struct no_op n;
	struct buffer_rows r;
	struct nnb_model *model;
	struct bench b;

	bench_open(&b, "memory", 21, argc, argv);
	find_cpus();
	if (load_zoo_new(&model, "svdf-1024", 1))
		die("a model");
	for (int p = 0; p < N_PATHS; p++)
		walk_init(&b, &walks[p], p, model);
	r = (struct buffer_rows){ .memcpy = bench_row(&b, "memcpy of 1 MiB"),
		                  .from = bench_row(&b, "copy_from of 1 MiB"),
		                  .to = bench_row(&b, "copy_to of 1 MiB"),
		                  .buffer = bench_row(&b, "a buffer of 1 MiB, allocated and freed"),
		                  .pool = bench_row(&b, "a pool of 1 MiB, made, filled and freed") };
	no_op_init(&b, &n);
	for (unsigned i = 0; i < b.rounds; i++) {
		for (int p = 0; p < N_PATHS; p++)
			walk_on(&b, &walks[p]);
		buffers(&b, &r, &walks[SYNC]);
		no_op(&b, &n);
	}
	compare_states(walks);
	for (int p = 0; p < N_PATHS; p++)
		judge_path(&b, &walks[p], r.memcpy);
	bench_ratio(&b, "copy_from / memcpy", r.from, r.memcpy, SIZE_MAX);
	bench_ratio(&b, "copy_to / memcpy", r.to, r.memcpy, SIZE_MAX);
	bench_ratio(&b, "no-op burst: tokens / shared pools", n.token_row, n.pool_row, SIZE_MAX);
	for (int p = 0; p < N_PATHS; p++)
		walk_fini(&walks[p]);
	no_op_fini(&n);
	nnb_model_free(model);
	return bench_close(&b);
}
