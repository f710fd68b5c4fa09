/*
 * test_load_state.c -- streams of nnburst-load that have a state, against a real nnburstd: at any place of the
 * state, and by every path, each step gives the same as in this process. A failure costs a step, or the state.
 */
#include <sys/eventfd.h>

#include "base/sys.h"
#include "service_helpers.h"

#include "load.h"
#include "state.h"
#include "stream.h"

enum { STEPS = 24 };

/* ---- one stream, run by its own thread's function ---- */

struct fixture {
	struct service s;
	struct load_stream *row;
	struct load_board *board;
	struct load_run run;
	struct load_line line;
	struct load_thread thread;
	struct load_figures *figures;
};

static struct load_stream *stream_of(const char *model, enum load_path path, enum load_keeping keeping)
{
	struct load_stream *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*s = (struct load_stream){ .name = "stream", .priority = 1, .threads = 1, .pools = 2, .told = true };
	strcpy(s->model, model);
	s->path = path;
	s->state = keeping;
	return s;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	service_start(&f->s, OPTIONS(NULL));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	service_fini(&f->s);
	free(f->row);
	free(f);
	return 0;
}

/* Prepare a stream of one thread that executes @executions times, as app.c does. */
static void get_ready(struct fixture *f, const struct load_stream *stream, enum nnb_hal hal, int64_t executions)
{
	const struct nnb_client_config config = { .socket = f->s.socket, .hal = hal };
	struct nnb_reason why = { "" };

	f->board = calloc(1, sizeof(*f->board) + sizeof(*f->figures));
	assert_non_null(f->board);
	f->board->orders.executions = executions;
	f->board->orders.duration_ns = LOAD_DURATION_MAX;
	f->board->orders.timeout_ns = 10 * LOAD_S;
	f->figures = f->board->figures;
	f->run = (struct load_run){ .board = f->board, .lock = PTHREAD_MUTEX_INITIALIZER, .began = nnb__now() };
	f->run.stop = eventfd(0, EFD_CLOEXEC);
	f->run.idle = eventfd(0, EFD_CLOEXEC);
	f->line = (struct load_line){
		.run = &f->run, .stream = stream, .outcome = &f->board->outcomes[0], .left = executions
	};
	f->thread = (struct load_thread){ .line = &f->line, .figures = f->figures, .seed = 1 };
	if (nnb_client_open(&f->run.client, &config, &why) || load_work_new(&f->line.work, stream, ".", 1, &why) ||
	    load_work_keep(f->line.work, stream, &why))
		fail_msg("%s", why.text);
	f->line.remote = app_prepare(f->run.client, f->line.work->model);
}

static void clean_up(struct fixture *f)
{
	nnb_remote_release(f->line.remote);
	nnb_client_close(f->run.client);
	load_work_free(f->line.work);
	close(f->run.stop);
	close(f->run.idle);
	free(f->board);
}

/* ---- expected outputs ---- */

/*
 * Compute the same steps in this process, without code of the stream or of state.c. Unless @hand_on, each step
 * begins with zeroes.
 */
static struct load_sequence expected(const struct load_work *work, unsigned steps, bool hand_on)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_prepared *p = prepared(d, work->model);
	struct load_sequence s = { 0 };
	struct load_buffers b;
	struct nnb_memory pool;
	struct nnb_request request;
	struct nnb_reason why = { "" };

	assert_int_equal(load_buffers_init(&b, work, 1, false), 0);
	pool = *nnb_pool_memory(b.pools[0]);
	request = (struct nnb_request){ .inputs = b.inputs,
		                        .outputs = b.outputs,
		                        .n_inputs = work->model->n_inputs,
		                        .n_outputs = work->model->n_outputs,
		                        .n_pools = 1,
		                        .pools = &pool };
	for (unsigned i = 0; i < steps; i++) {
		if (nnb_execute(p, &request, NULL, &why))
			fail_msg("%s", why.text);
		assert_true(load_sequence_add(&s, load_buffers_digest(&b)));
		for (uint32_t k = 0; hand_on && k < work->state.n; k++)
			memcpy(load_input_at(&b, work->state.list[k].input),
			       load_output_at(&b, work->state.list[k].output),
			       work->input_bytes[work->state.list[k].input]);
	}
	s.state = load_digest(0, NULL, 0);
	for (uint32_t k = 0; k < work->state.n; k++)
		s.state = load_digest(s.state, load_input_at(&b, work->state.list[k].input),
		                      work->input_bytes[work->state.list[k].input]);
	load_buffers_fini(&b);
	nnb_prepared_unref(p);
	nnb_device_unref(d);
	return s;
}

static void expect_steps(const struct fixture *f, unsigned steps)
{
	struct load_sequence right = expected(f->line.work, steps, true);
	const struct load_sequence *is = &f->figures->sequence;

	if (f->board->outcomes[0].broken)
		fail_msg("%s", f->board->outcomes[0].reason.text);
	assert_int_equal(is->steps, steps);
	assert_true(is->digest == right.digest && is->state == right.state);
	assert_memory_equal(is->marks, right.marks, sizeof(is->marks));
	assert_int_equal(f->figures->wrong, 0);
}

/* Expect two buffers for each pair and beginning. */
static void expect_buffers(const struct fixture *f, unsigned beginnings, bool fallen)
{
	unsigned n = f->row->state == LOAD_ON_DEVICE ? 2 * f->line.work->state.n * beginnings : 0;

	assert_int_equal(f->figures->state_buffers, n);
	assert_int_equal(f->figures->state_fallen, fallen ? n : 0);
	assert_int_equal(f->figures->state_resets, beginnings - 1);
	assert_true(!f->figures->state_copy_ns == (f->row->state == LOAD_ON_DEVICE));
}

/* ---- each row: a model, a path, a place ---- */

static void each_step_gives_the_same_as_in_this_process(void **state)
{
	struct fixture *f = *state;

	get_ready(f, f->row, NNB_HAL_1_3, STEPS);
	load_thread_main(&f->thread);
	assert_int_equal(f->figures->statuses[NNB_STATUS_NONE], STEPS);
	expect_steps(f, STEPS);
	expect_buffers(f, 1, false);
	clean_up(f);
}

/* M-2: before HAL 1.3 a service gives no buffers; shared memory does as well. */
static void falls_back_to_shared_memory(void **state)
{
	struct fixture *f = *state;

	get_ready(f, f->row, NNB_HAL_1_2, STEPS);
	load_thread_main(&f->thread);
	expect_steps(f, STEPS);
	expect_buffers(f, 1, true);
	clean_up(f);
}

static void steps_go_on_with_other_pools_and_bursts(void **state)
{
	struct fixture *f = *state;
	struct load_stream s = *f->row;

	s.fresh_pools = 5;
	s.burst_length = s.path == LOAD_BURST ? 3 : 0;
	s.pools = 5;
	get_ready(f, &s, NNB_HAL_1_3, STEPS);
	load_thread_main(&f->thread);
	assert_int_equal(f->figures->pools, (STEPS + 4) / 5 * 5);
	expect_steps(f, STEPS);
	expect_buffers(f, 1, false);
	clean_up(f);
}

/* A deadline passes while the driver works: the outputs are worthless then, and the inputs unchanged. */
static void a_missed_deadline_costs_the_step_only(void **state)
{
	struct fixture *f = *state;
	struct load_stream s = *f->row;
	pthread_t thread;
	unsigned good;

	s.deadline_ns = 300 * (uint64_t)LOAD_MS;
	get_ready(f, &s, NNB_HAL_1_3, STEPS + 1);
	/* the driver holds it before its second operation, where it looks at the deadline */
	atomic_store(&f->s.gate->hold_op, 1);
	atomic_store(&f->s.gate->hold_runs, 1);
	assert_int_equal(pthread_create(&thread, NULL, load_thread_main, &f->thread), 0);
	await(&f->s.gate->held_runs, 1);
	/* the deadline counts from a time before the gate held the run */
	for (uint64_t then = nnb__now() + s.deadline_ns; nnb__now() < then;)
		poll_pause();
	atomic_store(&f->s.gate->hold_runs, 0);
	pthread_join(thread, NULL);
	good = (unsigned)f->figures->statuses[NNB_STATUS_NONE];
	assert_true(good >= 1 && good < STEPS + 1);
	assert_int_equal(f->figures->statuses[NNB_STATUS_MISSED_DEADLINE_TRANSIENT] +
	                         f->figures->statuses[NNB_STATUS_MISSED_DEADLINE_PERSISTENT],
	                 STEPS + 1 - good);
	expect_steps(f, good);
	expect_buffers(f, 1, false);
	clean_up(f);
}

/* The client cannot know whether the service still executes: it takes other buffers, other pools, and zeroes. */
static void an_answer_that_does_not_come_costs_the_state(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;

	get_ready(f, f->row, NNB_HAL_1_3, STEPS + 1);
	f->board->orders.timeout_ns = 100 * (uint64_t)LOAD_MS;
	atomic_store(&f->s.gate->hold_op, 0);
	atomic_store(&f->s.gate->hold_runs, 1);
	assert_int_equal(pthread_create(&thread, NULL, load_thread_main, &f->thread), 0);
	while (!atomic_load(&f->figures->executions))
		poll_pause();
	atomic_store(&f->s.gate->hold_runs, 0);
	pthread_join(thread, NULL);
	assert_true(f->figures->statuses[NNB_STATUS_GENERAL_FAILURE] >= 1);
	assert_true(f->figures->statuses[NNB_STATUS_NONE] >= 1);
	assert_int_equal(f->figures->executions, STEPS + 1);
	expect_steps(f, (unsigned)f->figures->sequence.steps);
	expect_buffers(f, 1 + (unsigned)f->figures->statuses[NNB_STATUS_GENERAL_FAILURE], false);
	clean_up(f);
}

/* ---- the state itself ---- */

static void each_step_depends_on_the_one_before(void **state)
{
	struct fixture *f = *state;
	struct load_sequence all, each;

	get_ready(f, f->row, NNB_HAL_1_3, 1);
	all = expected(f->line.work, 2, true);
	each = expected(f->line.work, 2, false);
	assert_true(all.marks[0] == each.marks[0] && all.marks[1] != each.marks[1]);
	clean_up(f);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void **state);
	} each[] = {
		{ "each step gives the same as in this process", each_step_gives_the_same_as_in_this_process },
		{ "steps go on with other pools and bursts", steps_go_on_with_other_pools_and_bursts },
		{ "a missed deadline costs the step only", a_missed_deadline_costs_the_step_only },
		{ "an answer that does not come costs the state", an_answer_that_does_not_come_costs_the_state },
	};

	for (size_t i = 0; i < N_OF(each); i++)
		for (int path = 0; path < 4; path++)
			for (int k = LOAD_IN_POOLS; k <= LOAD_ON_DEVICE; k++)
				add_test(each[i].run, set_up, tear_down,
				         stream_of(path % 2 ? "svdf" : "recurrent", (enum load_path)path,
				                   (enum load_keeping)k),
				         "%s, %s: %s", load_path_names[path], load_keeping_names[k], each[i].name);
	for (int path = 0; path < LOAD_FENCED; path++) /* before HAL 1.3 there were no fenced executions */
		add_test(falls_back_to_shared_memory, set_up, tear_down,
		         stream_of("recurrent", (enum load_path)path, LOAD_ON_DEVICE),
		         "%s: falls back to shared memory before HAL 1.3 (M-2)", load_path_names[path]);
	add_test(each_step_depends_on_the_one_before, set_up, tear_down, stream_of("svdf", LOAD_SYNC, LOAD_IN_POOLS),
	         "each step depends on the one before");
	return _cmocka_run_group_tests("states of nnburst-load", tests, n_tests, NULL, NULL);
}
