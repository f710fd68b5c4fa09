/*
 * test_memory_domains_uses.c -- buffers of a service while executions and copies use them: which uses
 * conflict, what a buffer holds after an execution or a copy failed, what freeing does, and which apps may
 * use a buffer. VTS has no rows for these rules.
 *
 * Speed does not matter here: the gate holds executions and copies for as long as the test needs.
 */
#include "domains.h"

#include "nnb/fence.h"

enum { NO_OP = 99 /* an operation that no model has, so the gate holds no execution there */, RETRIES = 20 };

struct fixture {
	struct service s;
	const void *row;
	enum path path;
};

static struct setting {
	const void *row;
	enum path path;
} settings[N_OF(tests)];

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct setting *s = *state;

	assert_non_null(f);
	f->row = s->row;
	f->path = s->path;
	service_init(&f->s);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	if (places_were_left())
		service_kill(&f->s);
	else
		service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

static void hold_runs(struct fixture *f, unsigned op)
{
	atomic_store(&f->s.gate->came, 0);
	atomic_store(&f->s.gate->hold_op, op);
	atomic_store(&f->s.gate->hold_runs, 1);
}

/* The gate keeps the execution that it holds, and holds no other one. */
static void hold_no_more(struct fixture *f)
{
	await(&f->s.gate->came, 1);
	atomic_store(&f->s.gate->hold_op, NO_OP);
}

static void let_runs_go(struct fixture *f)
{
	atomic_store(&f->s.gate->hold_runs, 0);
}

/* ---- copies on a thread of their own ---- */

struct copy {
	struct actor actor;
	const struct buffer *buffer;
	struct nnb_memory memory;
	bool from;
};

static int copy_run(struct actor *a)
{
	const struct copy *c = a->arg;

	return (int)(c->from ? buffer_copy_from(c->buffer, &c->memory, 0, NULL, NULL)
	                     : buffer_copy_to(c->buffer, &c->memory, NULL));
}

/* When this returns, the gate holds the copy. */
static void begin_copy(struct fixture *f, struct copy *c, const struct buffer *b, bool from, enum nnb_memory_kind kind,
                       uint32_t seed)
{
	*c = (struct copy){ .actor = { .act = copy_run, .arg = c }, .buffer = b, .from = from };
	memory_new(&c->memory, kind, ROW * 4);
	memory_fill(&c->memory, &types[FLOATS], seed);
	atomic_store(&f->s.gate->hold_copies, 1);
	start(&c->actor);
	await(&f->s.gate->held_copies, 1);
}

static enum nnb_status end_copy(struct fixture *f, struct copy *c)
{
	enum nnb_status status;

	assert_false(atomic_load(&c->actor.done));
	atomic_store(&f->s.gate->hold_copies, 0);
	status = (enum nnb_status)finish(&c->actor);
	nnb_memory_close(&c->memory);
	return status;
}

/* ---- M-11: which uses conflict ---- */

enum use { AN_INPUT, AN_OUTPUT, COPIED_TO, COPIED_FROM, N_USES };
static const char *const use_names[] = { "an input", "an output", "copied to memory", "copied from memory" };

static bool writes(enum use use)
{
	return use == AN_OUTPUT || use == COPIED_FROM;
}

static struct meeting {
	enum use first, second;
} meetings[N_USES * N_USES];

struct first {
	struct request request;
	struct launched launched;
	struct copy copy;
};

/* The first user begins: the buffer holds the result of 5, and the first user has it. */
static void begin_first(struct fixture *f, struct scene *c, enum use use, struct first *ret)
{
	initialise(&c->buffer, c->type, 5);
	request_init(&ret->request, c->type, ARGUMENTS, 1, false);
	request_refresh(&ret->request, 20);
	if (use == COPIED_TO || use == COPIED_FROM) {
		begin_copy(f, &ret->copy, &c->buffer, use == COPIED_FROM, copy_kinds[0], 30);
		return;
	}
	put_in(&ret->request, use == AN_INPUT ? &ret->request.in[0] : &ret->request.out[0], &c->buffer);
	hold_runs(f, 0);
	launch(&ret->launched, &c->model, &ret->request);
	hold_no_more(f);
}

static void end_first(struct fixture *f, enum use use, struct first *first)
{
	if (use == COPIED_TO || use == COPIED_FROM) {
		assert_int_equal(end_copy(f, &first->copy), NONE);
	} else {
		assert_false(atomic_load(&first->launched.told));
		let_runs_go(f);
		assert_int_equal(landed(&first->launched), NONE);
	}
	request_fini(&first->request);
}

static void expect_second_use(struct scene *c, enum use use, enum nnb_status want)
{
	uint32_t room[ROW];

	if (use == COPIED_TO)
		expect(want, copy_out(&c->buffer, sizeof(room), room, &why));
	else if (use == COPIED_FROM)
		expect(want, copy_in(&c->buffer, c->type, 1, NULL, 40, &why));
	else
		run_with(c, &c->model, use == AN_OUTPUT, 0, want);
}

static void what_meets_a_use_is_refused_at_once_or_goes_well(void **state)
{
	struct fixture *f = *state;
	const struct meeting *m = f->row;
	enum nnb_status want = writes(m->first) || writes(m->second) ? GENERAL_FAILURE : NONE;
	struct first first;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	begin_first(f, &c, m->first, &first);
	expect_second_use(&c, m->second, want);
	if (!want && m->second == AN_INPUT)
		expect_output(&c, 0, 5);
	end_first(f, m->first, &first);
	if (m->first == COPIED_FROM)
		expect_holds(&c.buffer, c.type, 1, 30, false);
	else
		expect_holds(&c.buffer, c.type, 1, m->first == AN_OUTPUT ? 20 : 5, m->first == AN_OUTPUT);
	initialise(&c.buffer, c.type, 6); /* the first use is over: any use is allowed again */
	run_with(&c, &c.model, false, 0, NONE);
	expect_output(&c, 0, 6);
	scene_fini(&c);
}

/* ---- section 11: what an output holds after its execution failed ---- */

static void opens_when_it_is_late(struct fixture *f, atomic_bool *over, uint64_t deadline_ns)
{
	while (!atomic_load(over) && !(atomic_load(&f->s.gate->came) && now_ns() > deadline_ns))
		poll_pause();
	let_runs_go(f);
}

struct opener {
	struct actor actor;
	struct fixture *f;
	atomic_bool over;
	uint64_t deadline_ns;
};

static int gate_opens(struct actor *a)
{
	struct opener *o = a->arg;

	opens_when_it_is_late(o->f, &o->over, o->deadline_ns);
	return 0;
}

/* Before the service looks at the request. */
static void too_late_at_the_call(struct fixture *f, struct scene *c, uint64_t relative_ns, struct outcome *ret)
{
	(void)f;
	(void)relative_ns;
	c->request.call.terms.deadline_ns = 1;
	execute(&c->model, c->path, &c->request, ret);
}

/* Another execution holds the lane until the deadline has passed. */
static void too_late_in_the_queue(struct fixture *f, struct scene *c, uint64_t relative_ns, struct outcome *ret)
{
	struct launched other;
	struct request r;

	request_init(&r, c->type, ARGUMENTS, 1, false);
	hold_runs(f, 0);
	launch(&other, &c->equal, &r);
	hold_no_more(f);
	c->request.call.terms.deadline_ns = now_ns() + relative_ns;
	execute(&c->model, c->path, &c->request, ret);
	let_runs_go(f);
	assert_int_equal(landed(&other), NONE);
	request_fini(&r);
}

/* Between its two operations. */
static void too_late_at_a_checkpoint(struct fixture *f, struct scene *c, uint64_t relative_ns, struct outcome *ret)
{
	struct opener o = { .actor = { .act = gate_opens, .arg = &o }, .f = f };

	hold_runs(f, 0);
	c->request.call.terms.deadline_ns = o.deadline_ns = now_ns() + relative_ns;
	start(&o.actor);
	execute(&c->model, c->path, &c->request, ret);
	atomic_store(&o.over, true);
	finish(&o.actor);
}

static const struct failure_row {
	const char *name;
	void (*happen)(struct fixture *f, struct scene *c, uint64_t relative_ns, struct outcome *ret);
	enum nnb_status want;
} failure_rows[] = {
	{ "misses its deadline at the call", too_late_at_the_call, NNB_STATUS_MISSED_DEADLINE_PERSISTENT },
	{ "misses its deadline while it waits for a lane", too_late_in_the_queue,
	  NNB_STATUS_MISSED_DEADLINE_TRANSIENT },
	{ "misses its deadline at a checkpoint", too_late_at_a_checkpoint, NNB_STATUS_MISSED_DEADLINE_TRANSIENT },
};

static void fail_as(struct fixture *f, struct scene *c, const struct failure_row *row, struct outcome *ret)
{
	uint64_t relative_ns = 50 * MS;

	do { /* a slow machine may pass the deadline before the step that the test wants: try again */
		row->happen(f, c, relative_ns, ret);
	} while (ret->status != row->want && ret->status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT &&
	         (relative_ns *= 2) < PATIENCE);
	if (ret->status != row->want)
		fail_msg("%s (%s)", nnb_status_name(ret->status), ret->why);
}

/* Make the request again, with buffers for input 0 and output 0. */
static void from_to(struct scene *c, const struct buffer *in, const struct buffer *out)
{
	scene_again(c);
	put_in(&c->request, &c->request.in[0], in);
	put_in(&c->request, &c->request.out[0], out);
}

static void an_output_of_what_fails_is_uninitialised(void **state)
{
	struct fixture *f = *state;
	const struct failure_row *row = f->row;
	struct buffer out;
	struct outcome o;
	struct scene c;

	service_start(&f->s, OPTIONS("--lanes", "1", "--preempt", "none"));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 0);
	buffer_init(&out, &c.model, 1, 1);
	initialise(&c.buffer, c.type, 5);
	from_to(&c, &c.buffer, &out);
	expect_run(&c.model, c.path, &c.request, NONE);
	expect_holds(&out, c.type, 1, 5, true);
	fail_as(f, &c, row, &o);
	assert_int_equal(o.n_shapes, 0);
	expect_uninitialised(&out, c.type, 1);
	expect_holds(&c.buffer, c.type, 1, 5, false); /* the input holds what it held */
	scene_again(&c);
	put_in(&c.request, &c.request.in[0], &out);
	expect_run(&c.model, c.path, &c.request, GENERAL_FAILURE);
	from_to(&c, &c.buffer, &out);
	expect_run(&c.model, c.path, &c.request, NONE);
	expect_holds(&out, c.type, 1, 5, true);
	buffer_fini(&out);
	scene_fini(&c);
}

/* M-11: the next user finds the buffer unused, although the burst has had no other request. */
static void what_fails_uses_nothing_any_more(void **state)
{
	struct fixture *f = *state;
	struct buffer out;
	struct outcome o;
	struct scene c;

	service_start(&f->s, OPTIONS("--lanes", "1", "--preempt", "none"));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 0);
	buffer_init(&out, &c.model, 0, 1);
	initialise(&c.buffer, c.type, 5);
	from_to(&c, &c.buffer, &out);
	fail_as(f, &c, f->row, &o);
	expect_uninitialised(&out, c.type, 1);
	initialise(&c.buffer, c.type, 6);
	initialise(&out, c.type, 7);
	expect_holds(&c.buffer, c.type, 1, 6, false);
	expect_holds(&out, c.type, 1, 7, false);
	buffer_fini(&out);
	scene_fini(&c);
}

/* P-31: another output lacks room. */
static void an_output_beside_one_without_room_is_uninitialised(void **state)
{
	struct fixture *f = *state;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, true, 2);
	buffer_init(&c.buffer, &c.model, 1, 1);
	initialise(&c.buffer, c.type, 5);
	scene_again(&c);
	put_in(&c.request, &c.request.out[0], &c.buffer);
	c.request.out[1].rank = 0;
	c.request.out[1].location.length = 4;
	expect_run(&c.model, c.path, &c.request, NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE);
	expect_uninitialised(&c.buffer, c.type, 1);
	run_with(&c, &c.model, false, 0, GENERAL_FAILURE);
	run_with(&c, &c.model, true, 0, NONE);
	expect_holds(&c.buffer, c.type, 2, 1, true);
	scene_fini(&c);
}

/* P-13: another argument is in memory that cannot be mapped. */
static void an_output_beside_what_cannot_be_mapped_is_uninitialised(void **state)
{
	struct fixture *f = *state;
	struct nnb_memory file;
	struct nnb_pool *pool;
	struct outcome o;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	run_with(&c, &c.model, true, 0, NONE);
	memory_new(&file, NNB_MEMORY_MMAP_FD, ROW * 4);
	assert_int_equal(nnb_pool_from(&pool, &file), 0);
	assert_int_equal(ftruncate(file.fds[0], 0), 0);
	scene_again(&c);
	put_in(&c.request, &c.request.out[0], &c.buffer);
	put_into(&c.request, &c.request.in[1], pool);
	c.request.in[1].location.length = ROW * 4;
	execute(&c.model, c.path, &c.request, &o);
	assert_int_equal(o.status, GENERAL_FAILURE);
	expect_uninitialised(&c.buffer, c.type, 1);
	nnb_pool_free(pool);
	nnb_memory_close(&file);
	scene_fini(&c);
}

/* Its burst is closed while the execution is queued, so no thread waits for the execution any more. */
static void an_output_of_what_is_cancelled_is_uninitialised(void **state)
{
	struct fixture *f = *state;
	struct nnb_burst *burst;
	struct launched other;
	struct request r;
	struct scene c;

	service_start(&f->s, OPTIONS("--lanes", "1", "--preempt", "none"));
	scene_init(&c, &f->s, &types[FLOATS], BY_BURST, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	initialise(&c.buffer, c.type, 5);
	request_init(&r, c.type, ARGUMENTS, 1, false);
	hold_runs(f, 0);
	launch(&other, &c.equal, &r);
	hold_no_more(f);
	put_in(&c.request, &c.request.out[0], &c.buffer);
	c.request.call.timeout_ns = 50 * MS; /* the other execution holds the lane for longer */
	burst = app_burst(c.model.remote);
	assert_int_equal(nnb_burst_execute(burst, &c.request.call, NULL, NULL), GENERAL_FAILURE);
	nnb_burst_free(burst);
	assert_false(atomic_load(&other.told));
	expect_uninitialised(&c.buffer, c.type, 1); /* the output is uninitialised and unused */
	initialise(&c.buffer, c.type, 6);
	let_runs_go(f);
	assert_int_equal(landed(&other), NONE);
	expect_holds(&c.buffer, c.type, 1, 6, false);
	request_fini(&r);
	scene_fini(&c);
}

/* ---- M-8: freed buffers ---- */

/* A pool of a buffer's token; the pool outlives the buffer. */
static struct nnb_pool *token_pool(const struct buffer *b)
{
	struct nnb_pool *pool;

	assert_int_equal(nnb_pool_from(&pool, nnb_pool_memory(b->pool)), 0);
	return pool;
}

static void run_with_pool(struct scene *c, struct model *m, bool output, struct nnb_pool *pool, enum nnb_status want)
{
	scene_again(c);
	put_into(&c->request, argument(c, output, 0), pool);
	expect_run(m, c->path, &c->request, want);
}

static void what_is_freed_while_it_is_used_goes_when_it_is_not(void **state)
{
	struct fixture *f = *state;
	struct nnb_pool *tokens[2];
	struct launched first;
	struct buffer in, out;
	struct request r;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&in, &c.model, 1, 1);
	buffer_init(&out, &c.model, 2, 2);
	initialise(&in, c.type, 5);
	tokens[0] = token_pool(&in);
	tokens[1] = token_pool(&out);
	request_init(&r, c.type, ARGUMENTS, 1, false);
	put_into(&r, &r.in[0], tokens[0]);
	put_into(&r, &r.out[1], tokens[1]);
	hold_runs(f, 0);
	launch(&first, &c.model, &r);
	hold_no_more(f);
	buffer_fini(&in);
	buffer_fini(&out);
	assert_int_equal(atomic_load(&f->s.gate->buffers), 2);
	for (int i = 0; i < 4; i++)
		run_with_pool(&c, &c.model, i / 2, tokens[i % 2], INVALID_ARGUMENT);
	assert_false(atomic_load(&first.told));
	let_runs_go(f);
	assert_int_equal(landed(&first), NONE);
	assert_true(is_computed(c.type, argument_data(&r, &r.out[0]), ROW, 5));
	await(&f->s.gate->buffers, 0);
	nnb_pool_free(tokens[0]);
	nnb_pool_free(tokens[1]);
	request_fini(&r);
	scene_fini(&c);
}

/* A freed token is invalid at once, also on a burst that has used it for long. */
static void a_freed_token_means_nothing_at_once(void **state)
{
	struct fixture *f = *state;
	struct nnb_pool *token;
	struct buffer next;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	token = token_pool(&c.buffer);
	initialise(&c.buffer, c.type, 5);
	run_with_pool(&c, &c.model, false, token, NONE);
	expect_output(&c, 0, 5);
	run_with_pool(&c, &c.model, true, token, NONE);
	buffer_fini(&c.buffer);
	run_with_pool(&c, &c.model, false, token, INVALID_ARGUMENT);
	buffer_init(&next, &c.model, 1, 1); /* the new buffer is not mistaken for the freed one */
	initialise(&next, c.type, 6);
	for (int i = 0; i < 2; i++)
		run_with_pool(&c, &c.model, i, token, INVALID_ARGUMENT);
	expect_holds(&next, c.type, 1, 6, false);
	nnb_pool_free(token);
	buffer_fini(&next);
	scene_fini(&c);
}

/*
 * M-20: a client that prepared an equal model, in the same app or in another, knows the token, but cannot use
 * the buffer.
 */
static void a_token_is_of_no_use_to_others(void **state)
{
	struct fixture *f = *state;
	struct nnb_pool *token;
	struct scene c, other;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	scene_init(&other, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	initialise(&c.buffer, c.type, 5);
	token = token_pool(&c.buffer);
	for (int i = 0; i < 2; i++) {
		run_with_pool(&other, &other.model, i, token, INVALID_ARGUMENT);
		run_with_pool(&c, &c.equal, i, token, INVALID_ARGUMENT);
	}
	expect_holds(&c.buffer, c.type, 1, 5, false);
	nnb_pool_free(token);
	scene_fini(&other);
	scene_fini(&c);
}

/* M-4 */
static void tokens_are_not_0_and_each_is_another(void **state)
{
	enum { MANY = 300 };
	static struct buffer buffers[2][MANY];
	struct fixture *f = *state;
	uint64_t tokens[2 * MANY];
	struct scene c[2];

	service_start(&f->s, OPTIONS(NULL));
	for (unsigned k = 0; k < 2; k++) {
		scene_init(&c[k], &f->s, &types[QUANTS], BY_SYNC, false, 1);
		for (unsigned i = 0; i < MANY; i++) {
			buffer_init(&buffers[k][i], &c[k].model, 1, 0);
			tokens[k * MANY + i] = buffer_token(&buffers[k][i]);
		}
	}
	for (size_t i = 0; i < N_OF(tokens); i++) {
		assert_true(tokens[i] != 0);
		for (size_t k = 0; k < i; k++)
			assert_true(tokens[i] != tokens[k]);
	}
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned i = 0; i < MANY; i++)
			buffer_fini(&buffers[k][i]);
		scene_fini(&c[k]);
	}
}

/* ---- behind a fence, an execution reads its buffers when it begins ---- */

struct behind {
	int fence, end;
	struct nnb_fenced *fenced;
};

static void begin_behind(struct behind *b, struct model *m, struct request *r)
{
	const struct nnb_fenced_how how = { .wait_for = &b->fence, .n_wait_for = 1 };

	assert_int_equal(nnb_fence_new(&b->fence), 0);
	expect(NONE, nnb_remote_execute_fenced(m->remote, &r->call, &how, &b->fenced, &b->end, &why));
}

static enum nnb_status signal_behind(struct behind *b, bool failed)
{
	enum nnb_status status;
	int state;

	nnb_fence_signal(b->fence, failed);
	do
		state = nnb_fence_wait(&b->end, 1, 0);
	while (state == -EINTR);
	status = nnb_fenced_info(b->fenced, NULL, NULL, NULL);
	assert_true((state == NNB_FENCE_SIGNALLED) == !status);
	nnb_fenced_free(b->fenced);
	close(b->fence);
	close(b->end);
	return status;
}

static enum nnb_status end_behind(struct behind *b)
{
	return signal_behind(b, false);
}

/* The fence that it waits for fails. */
static void fail_behind(struct behind *b)
{
	assert_int_equal(signal_behind(b, true), GENERAL_FAILURE);
}

static void behind_a_fence_buffers_are_what_they_are_when_it_begins(void **state)
{
	struct fixture *f = *state;
	struct behind first, second;
	struct buffer out;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], BY_FENCED, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	buffer_init(&out, &c.model, 1, 1);
	from_to(&c, &c.buffer, &out);
	begin_behind(&first, &c.model, &c.request); /* the input is still uninitialised */
	initialise(&c.buffer, c.type, 5);
	initialise(&out, c.type, 6); /* the output is still unused */
	assert_int_equal(end_behind(&first), NONE);
	expect_holds(&out, c.type, 1, 5, true);
	begin_behind(&second, &c.model, &c.request);
	initialise(&c.buffer, c.type, 7);
	assert_int_equal(end_behind(&second), NONE);
	expect_holds(&out, c.type, 1, 7, true);
	buffer_fini(&out);
	scene_fini(&c);
}

static void behind_a_fence_an_input_that_is_never_initialised_is_a_failure(void **state)
{
	struct fixture *f = *state;
	struct behind b;
	struct buffer out;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], BY_FENCED, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	buffer_init(&out, &c.model, 1, 1);
	initialise(&out, c.type, 6);
	from_to(&c, &c.buffer, &out);
	begin_behind(&b, &c.model, &c.request);
	assert_int_equal(end_behind(&b), GENERAL_FAILURE);
	expect_holds(&out, c.type, 1, 6, false);
	buffer_fini(&out);
	scene_fini(&c);
}

/* M-11: the same for a buffer that another execution writes: the launch does not fail, the execution does. */
static void behind_a_fence_an_output_may_be_in_use_until_it_begins(void **state)
{
	struct fixture *f = *state;
	enum use use = *(const enum use *)f->row;
	struct first first;
	struct behind well, too_early;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], BY_FENCED, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	begin_first(f, &c, use, &first);
	put_in(&c.request, &c.request.out[0], &c.buffer);
	begin_behind(&well, &c.model, &c.request);
	begin_behind(&too_early, &c.model, &c.request);
	assert_int_equal(end_behind(&too_early), GENERAL_FAILURE);
	end_first(f, use, &first);
	expect_holds(&c.buffer, c.type, 1, use == AN_INPUT ? 5 : 20, use == AN_OUTPUT);
	assert_int_equal(end_behind(&well), NONE);
	expect_holds(&c.buffer, c.type, 1, 1, true);
	scene_fini(&c);
}

/*
 * An execution that fails before it begins has not taken its output: a copy that reads that buffer goes on.
 */
static void what_fails_before_it_begins_takes_nothing_from_a_reader(void **state)
{
	struct fixture *f = *state;
	struct nnb_fenced *none = NULL;
	struct nnb_fenced_how how = { .n_wait_for = 1 };
	struct behind fails;
	struct first first;
	struct scene c;
	int fence, end = -1;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], BY_FENCED, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	begin_first(f, &c, AN_INPUT, &first);
	put_in(&c.request, &c.request.out[0], &c.buffer);
	begin_behind(&fails, &c.model, &c.request);
	assert_int_equal(nnb_fence_new(&fence), 0);
	how.wait_for = &fence;
	c.request.call.terms.deadline_ns = 1;
	expect(NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
	       nnb_remote_execute_fenced(c.model.remote, &c.request.call, &how, &none, &end, &why));
	expect_holds(&c.buffer, c.type, 1, 5, false);
	fail_behind(&fails);
	expect_holds(&c.buffer, c.type, 1, 5, false);
	run_with(&c, &c.model, false, 0, NONE);
	expect_output(&c, 0, 5);
	assert_false(atomic_load(&first.launched.told));
	end_first(f, AN_INPUT, &first);
	expect_holds(&c.buffer, c.type, 1, 5, false);
	close(fence);
	scene_fini(&c);
}

/* M-8: a launched execution holds the buffers that it names, even after their tokens are freed. */
static void what_waits_behind_a_fence_keeps_what_is_freed(void **state)
{
	struct fixture *f = *state;
	struct nnb_pool *tokens[2];
	struct behind b;
	struct buffer in, out;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], BY_FENCED, false, 1);
	buffer_init(&in, &c.model, 1, 1);
	buffer_init(&out, &c.model, 2, 2);
	initialise(&in, c.type, 5);
	tokens[0] = token_pool(&in);
	tokens[1] = token_pool(&out);
	put_into(&c.request, &c.request.in[0], tokens[0]);
	put_into(&c.request, &c.request.out[1], tokens[1]);
	begin_behind(&b, &c.model, &c.request);
	buffer_fini(&in);
	buffer_fini(&out);
	for (int i = 0; i < 2; i++) {
		struct request r;

		request_init(&r, c.type, ARGUMENTS, 1, false);
		put_into(&r, i ? &r.out[0] : &r.in[0], tokens[i]);
		expect_run(&c.model, BY_FENCED, &r, INVALID_ARGUMENT);
		request_fini(&r);
	}
	assert_int_equal(end_behind(&b), NONE);
	expect_output(&c, 0, 5);
	await(&f->s.gate->buffers, 0);
	nnb_pool_free(tokens[0]);
	nnb_pool_free(tokens[1]);
	scene_fini(&c);
}

static void what_waits_for_a_lane_keeps_what_is_freed(void **state)
{
	struct fixture *f = *state;
	struct launched before, waits;
	struct nnb_pool *token;
	struct request r;
	struct scene c;

	service_start(&f->s, OPTIONS("--lanes", "1", "--preempt", "none"));
	scene_init(&c, &f->s, &types[FLOATS], BY_ASYNC, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	initialise(&c.buffer, c.type, 5);
	token = token_pool(&c.buffer);
	request_init(&r, c.type, ARGUMENTS, 1, false);
	hold_runs(f, 0);
	launch(&before, &c.equal, &r);
	hold_no_more(f);
	put_into(&c.request, &c.request.in[0], token);
	launch(&waits, &c.model, &c.request);
	buffer_fini(&c.buffer);
	assert_false(atomic_load(&before.told) || atomic_load(&waits.told));
	let_runs_go(f);
	assert_int_equal(landed(&before), NONE);
	assert_int_equal(landed(&waits), NONE);
	expect_output(&c, 0, 5);
	await(&f->s.gate->buffers, 0);
	nnb_pool_free(token);
	request_fini(&r);
	scene_fini(&c);
}

/* ---- M-30, M-31, M-32: copies ---- */

static void file_of(struct nnb_memory *ret, int prot, int flags)
{
	int fd = new_file(ROW * 4, 0), other;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, flags | O_CLOEXEC);
	assert_true(other >= 0);
	assert_int_equal(nnb_memory_mmap_fd(ret, other, ROW * 4, prot, 0), 0);
	close(other);
	close(fd);
}

static void read_only(struct nnb_memory *ret)
{
	file_of(ret, PROT_READ, O_RDWR);
}

static void write_only(struct nnb_memory *ret)
{
	file_of(ret, PROT_WRITE, O_RDWR);
}

static void writable_by_its_handle_alone(struct nnb_memory *ret)
{
	file_of(ret, PROT_READ | PROT_WRITE, O_RDONLY);
}

static void read_only_by_its_handle_too(struct nnb_memory *ret)
{
	file_of(ret, PROT_READ, O_RDONLY);
}

static void cut_short(struct nnb_memory *ret)
{
	memory_new(ret, NNB_MEMORY_MMAP_FD, ROW * 4);
	assert_int_equal(ftruncate(ret->fds[0], ROW * 4 - 4096), 0);
}

static void part_of_a_file(struct nnb_memory *ret)
{
	int fd = new_file(ROW * 4 + 8192, 0);

	assert_int_equal(nnb_memory_mmap_fd(ret, fd, ROW * 4, PROT_READ | PROT_WRITE, 8192), 0);
	close(fd);
}

static void between_pages(struct nnb_memory *ret)
{
	int fd = new_file(ROW * 4 + 8192, 0);

	assert_int_equal(nnb_memory_mmap_fd(ret, fd, ROW * 4, PROT_READ | PROT_WRITE, 100), 0);
	close(fd);
}

static void image_memory(struct nnb_memory *ret)
{
	const struct nnb_hardware_buffer description = {
		.width = 32, .height = 256, .layers = 1, .format = NNB_FORMAT_R8G8B8A8, .stride = 32
	};

	assert_int_equal(nnb_memory_hardware_buffer(ret, &description), 0);
	assert_int_equal(ret->size, ROW * 4);
}

static void unknown_kind(struct nnb_memory *ret)
{
	memory_new(ret, NNB_MEMORY_ASHMEM, ROW * 4);
	strcpy(ret->name, "ion");
}

static void no_canonical_handle(struct nnb_memory *ret)
{
	memory_new(ret, NNB_MEMORY_ASHMEM, ROW * 4);
	ret->n_ints = 1;
}

static void a_token(struct nnb_memory *ret)
{
	nnb_memory_token(ret, 100);
}

static const struct other_memory_row {
	const char *name;
	void (*make)(struct nnb_memory *ret);
	enum nnb_status from, to;
} other_memory_rows[] = {
	{ "that may only be read", read_only, NONE, INVALID_ARGUMENT },
	{ "that can only be read, and says so", read_only_by_its_handle_too, NONE, INVALID_ARGUMENT },
	{ "that can only be read, and says otherwise", writable_by_its_handle_alone, GENERAL_FAILURE, GENERAL_FAILURE },
	{ "that may only be written", write_only, INVALID_ARGUMENT, NONE },
	{ "that is a part of a file", part_of_a_file, NONE, NONE },
	{ "that begins between two pages", between_pages, GENERAL_FAILURE, GENERAL_FAILURE },
	{ "whose file has been cut short", cut_short, GENERAL_FAILURE, GENERAL_FAILURE },
	{ "that is an image (P-10)", image_memory, GENERAL_FAILURE, GENERAL_FAILURE },
	{ "of an unknown kind", unknown_kind, GENERAL_FAILURE, GENERAL_FAILURE },
	{ "whose handle is not canonical", no_canonical_handle, INVALID_ARGUMENT, INVALID_ARGUMENT },
	{ "that is a buffer", a_token, INVALID_ARGUMENT, INVALID_ARGUMENT },
};

static void copies_with_other_memory(void **state)
{
	struct fixture *f = *state;
	const struct other_memory_row *row = f->row;
	struct nnb_memory memory;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	row->make(&memory);
	expect(row->from, buffer_copy_from(&c.buffer, &memory, 0, NULL, &why));
	initialise(&c.buffer, c.type, 5);
	expect(row->to, buffer_copy_to(&c.buffer, &memory, &why));
	expect_holds(&c.buffer, c.type, 1, 5, false); /* the copy may return anything */
	expect(row->from, buffer_copy_from(&c.buffer, &memory, 0, NULL, &why));
	if (row->from == GENERAL_FAILURE)
		expect_uninitialised(&c.buffer, c.type, 1);
	if (row->from == INVALID_ARGUMENT)
		expect_holds(&c.buffer, c.type, 1, 5, false);
	nnb_memory_close(&memory);
	scene_fini(&c);
}

/* P-15: the file is cut short in the middle of the copy. */
static void a_copy_that_is_torn_is_a_failure(void **state)
{
	struct fixture *f = *state;
	struct copy copy;
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], BY_SYNC, false, 1);
	buffer_init(&c.buffer, &c.model, 1, 1);
	initialise(&c.buffer, c.type, 5);
	begin_copy(f, &copy, &c.buffer, false, NNB_MEMORY_MMAP_FD, 30);
	assert_int_equal(ftruncate(copy.memory.fds[0], 4096), 0);
	assert_int_equal(end_copy(f, &copy), GENERAL_FAILURE);
	expect_holds(&c.buffer, c.type, 1, 5, false);
	begin_copy(f, &copy, &c.buffer, true, NNB_MEMORY_MMAP_FD, 30);
	assert_int_equal(ftruncate(copy.memory.fds[0], 4096), 0);
	assert_int_equal(end_copy(f, &copy), GENERAL_FAILURE);
	expect_uninitialised(&c.buffer, c.type, 1);
	initialise(&c.buffer, c.type, 6);
	expect_holds(&c.buffer, c.type, 1, 6, false);
	scene_fini(&c);
}

/* ---- M-1, M-30: a use of buffers ---- */

/* A state passes from execution to execution, in two buffers by turns; the app never reads it. */
static void a_state_goes_from_execution_to_execution(void **state)
{
	enum { STEPS = 10 };
	struct fixture *f = *state;
	struct buffer states[2];
	uint32_t room[ROW];
	float first[ROW];
	struct scene c;

	service_start(&f->s, OPTIONS(NULL));
	scene_init(&c, &f->s, &types[FLOATS], f->path, false, 1);
	buffer_init(&states[0], &c.model, 1, 1);
	buffer_init(&states[1], &c.model, 1, 1);
	initialise(&states[0], c.type, 5);
	fill(c.type, first, ROW, 5);
	for (unsigned i = 0; i < STEPS; i++) {
		from_to(&c, &states[i % 2], &states[!(i % 2)]);
		expect_run(&c.model, c.path, &c.request, NONE);
		expect_output(&c, 1, 2);
	}
	expect(NONE, copy_out(&states[STEPS % 2], sizeof(room), room, &why));
	for (uint32_t i = 0; i < ROW; i++)
		assert_true(((float *)room)[i] == first[i] * (1 << STEPS));
	buffer_fini(&states[0]);
	buffer_fini(&states[1]);
	scene_fini(&c);
}

/* ---- */

static __attribute__((format(printf, 4, 5))) void add(CMUnitTestFunction run, const void *row, unsigned path,
                                                      const char *format, ...)
{
	struct setting *s = &settings[n_tests];
	char name[200];
	va_list ap;

	*s = (struct setting){ row, (enum path)path };
	va_start(ap, format);
	vsnprintf(name, sizeof(name), format, ap);
	va_end(ap);
	add_test(run, set_up, tear_down, s, "%s", name);
}

/*
 * A copy is the same on every path, so one path has its rows. test_buffer covers two copies to memory at
 * once, without a gate.
 */
static void add_meetings(void)
{
	for (unsigned i = 0; i < N_USES * N_USES; i++) {
		struct meeting *m = &meetings[i];

		m->first = (enum use)(i / N_USES);
		m->second = (enum use)(i % N_USES);
		if (m->first == COPIED_TO && m->second == COPIED_TO)
			continue;
		for (unsigned path = 0; path < N_SERVICE_PATHS; path++) {
			bool copy = m->second == COPIED_TO || m->second == COPIED_FROM;

			if (copy && path)
				continue;
			add(what_meets_a_use_is_refused_at_once_or_goes_well, m, path,
			    "M-11: while it is %s it is to be %s%s%s: %s", use_names[m->first], use_names[m->second],
			    copy ? "" : ", ", copy ? "" : path_names[path],
			    writes(m->first) || writes(m->second) ? "GENERAL_FAILURE" : "NONE");
		}
	}
}

static void add_paths(CMUnitTestFunction run, unsigned n_paths, const char *name)
{
	for (unsigned path = 0; path < n_paths; path++)
		add(run, NULL, path, "%s: %s", name, path_names[path]);
}

static void add_failures(void)
{
	for (size_t i = 0; i < N_OF(failure_rows); i++)
		for (unsigned path = 0; path < N_SERVICE_PATHS; path++)
			add(an_output_of_what_fails_is_uninitialised, &failure_rows[i], path,
			    "section 11: the output of what %s is uninitialised: %s", failure_rows[i].name,
			    path_names[path]);
	for (size_t i = 0; i < N_OF(failure_rows); i++)
		for (unsigned path = 0; path < N_SERVICE_PATHS; path++)
			add(what_fails_uses_nothing_any_more, &failure_rows[i], path,
			    "M-11: what %s uses nothing any more: %s", failure_rows[i].name, path_names[path]);
	for (unsigned path = 0; path < N_PATHS; path++)
		if (path != BY_FENCED) /* a fenced execution's outputs are fully specified */
			add(an_output_beside_one_without_room_is_uninitialised, NULL, path,
			    "section 11: the output beside one without room is uninitialised: %s", path_names[path]);
	add_paths(an_output_beside_what_cannot_be_mapped_is_uninitialised, N_SERVICE_PATHS,
	          "section 11: the output beside what cannot be mapped is uninitialised");
	add(an_output_of_what_is_cancelled_is_uninitialised, NULL, BY_BURST,
	    "section 11: the output of what is cancelled is uninitialised");
}

static void add_copies(void)
{
	for (size_t i = 0; i < N_OF(other_memory_rows); i++)
		for (unsigned here = 0; here < 2; here++)
			add(copies_with_other_memory, &other_memory_rows[i], here ? HERE : BY_SYNC,
			    "M-31, M-32: copies with memory %s: %s%s", other_memory_rows[i].name,
			    nnb_status_name(other_memory_rows[i].from), here ? ", here" : "");
	add(a_copy_that_is_torn_is_a_failure, NULL, BY_SYNC, "P-15, 5.3: a copy that is torn is a failure");
}

int main(void)
{
	static const enum use first_uses[] = { AN_INPUT, AN_OUTPUT };

	add_meetings();
	add_failures();
	add_copies();
	add(tokens_are_not_0_and_each_is_another, NULL, BY_SYNC, "M-4: tokens are not 0, and each is another");
	add_paths(what_is_freed_while_it_is_used_goes_when_it_is_not, N_SERVICE_PATHS,
	          "M-8: what is freed while it is used goes when it is not");
	add_paths(a_freed_token_means_nothing_at_once, N_PATHS, "M-8: a freed token means nothing at once");
	add_paths(a_token_is_of_no_use_to_others, N_PATHS, "M-20, M-21: a token is of no use to others");
	add(behind_a_fence_buffers_are_what_they_are_when_it_begins, NULL, BY_FENCED,
	    "behind a fence, buffers are what they are when it begins");
	add(behind_a_fence_an_input_that_is_never_initialised_is_a_failure, NULL, BY_FENCED,
	    "behind a fence, an input that is never initialised is a failure");
	for (size_t i = 0; i < N_OF(first_uses); i++)
		add(behind_a_fence_an_output_may_be_in_use_until_it_begins, &first_uses[i], BY_FENCED,
		    "M-11: behind a fence, an output may be %s until it begins", use_names[first_uses[i]]);
	add(what_fails_before_it_begins_takes_nothing_from_a_reader, NULL, BY_SYNC,
	    "M-11: what fails before it begins takes nothing from a reader");
	add(what_waits_behind_a_fence_keeps_what_is_freed, NULL, BY_FENCED,
	    "M-8: what waits behind a fence keeps what is freed");
	add(what_waits_for_a_lane_keeps_what_is_freed, NULL, BY_ASYNC,
	    "M-8: what waits for a lane keeps what is freed");
	add_paths(a_state_goes_from_execution_to_execution, N_PATHS,
	          "M-1, M-30: a state goes from execution to execution");
	return _cmocka_run_group_tests("uses of memory domains", tests, n_tests, NULL, NULL);
}
