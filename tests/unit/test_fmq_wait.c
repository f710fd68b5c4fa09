/* test_fmq_wait.c -- waits on a queue: polling, sleeping, wake-ups, and the cost of each. */
#include "base.h"
#include "fmq_helpers.h"

enum { CAPACITY = 8, TRIPS = 1000, MANY_TRIPS = 10000 };

static cpu_set_t our_cpus; /* as before all tests */

struct bench {
	const struct arrangement *in;
	struct nnb_fmq *q;
	struct raw raw;
};

static int open_queue(struct nnb_fmq **ret, const struct arrangement *in, uint64_t window_ns)
{
	struct nnb_fmq_config config = {
		.elem_size = sizeof(uint64_t),
		.capacity = CAPACITY,
		.flavour = NNB_FMQ_SYNCHRONIZED,
		.event_flag = true,
		.window_ns = window_ns,
	};

	return new_queue(ret, config, in);
}

/* A queue that sleeps without polling. */
static int set_up(void **state)
{
	struct bench *b = *state;

	alarm(WATCHDOG_S);
	if (open_queue(&b->q, b->in, NNB_FMQ_WINDOW_NONE) < 0)
		return -1;
	raw_open(&b->raw, b->q);
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	sched_setaffinity(0, sizeof(our_cpus), &our_cpus);
	raw_close(&b->raw);
	b->q = nnb_fmq_free(b->q);
	return 0;
}

static int read_one(struct actor *a)
{
	return nnb_fmq_read_blocking(a->q, a->arg, 1, a->timeout_ns);
}

static int write_some(struct actor *a)
{
	return nnb_fmq_write_blocking(a->q, a->arg, a->n, a->timeout_ns);
}

/* ---- the window ---- */

static void the_window_is_as_configured_or_measured(void **state)
{
	static const uint64_t fixed[] = { NNB_FMQ_WINDOW_NONE, 12345, NNB_FMQ_WINDOW_ALWAYS };
	const struct bench *b = *state;
	struct nnb_fmq_attach how = { .elem_size = 8, .keep_counters = true };
	struct nnb_fmq_desc d;
	struct nnb_fmq *q;

	assert_int_equal(nnb_fmq_wake_cost(), nnb_fmq_wake_cost());
	assert_int_equal(open_queue(&q, b->in, NNB_FMQ_WINDOW_AUTO), 0);
	assert_int_equal(nnb_fmq_window(q), nnb_fmq_wake_cost());
	nnb_fmq_free(q);
	nnb_fmq_describe(b->q, &d);
	for (size_t i = 0; i < N_OF(fixed); i++) {
		assert_int_equal(open_queue(&q, b->in, fixed[i]), 0);
		assert_int_equal(nnb_fmq_window(q), fixed[i]);
		nnb_fmq_free(q);
		how.window_ns = fixed[i];
		assert_int_equal(nnb_fmq_attach(&q, &d, &how), 0);
		assert_int_equal(nnb_fmq_window(q), fixed[i]);
		nnb_fmq_free(q);
	}
}

/* In a child that has not measured the wake cost yet, and may use one cpu only. */
static void measure_on_one_cpu(void *arg)
{
	cpu_set_t before;
	cpu_set_t after;

	pin(*(int *)arg);
	must(sched_getaffinity(0, sizeof(before), &before) == 0);
	nnb_fmq_wake_cost();
	must(sched_getaffinity(0, sizeof(after), &after) == 0);
	must(CPU_EQUAL(&before, &after));
	must(nnb_fmq_wake_cost() == nnb_fmq_wake_cost());
}

static void measuring_keeps_the_callers_cpus(void **state)
{
	int cpu = sched_getcpu();

	(void)state;
	assert_int_equal(reap(spawn(measure_on_one_cpu, &cpu)), 0);
}

/* ---- sleeping ---- */

static void reader_sleeps_at_once(void **state)
{
	struct bench *b = *state;
	uint64_t least_spun = UINT64_MAX;

	for (uint64_t i = 0; i < 20; i++) {
		uint64_t e = 0;
		struct actor reader = { .act = read_one, .q = b->q, .arg = &e, .timeout_ns = PATIENCE };
		struct nnb_fmq_waited last;

		start(&reader);
		assert_true(actor_sleeps(&reader));
		assert_int_equal(nnb_fmq_write_blocking(b->q, &i, 1, PATIENCE), 0);
		assert_int_equal(finish(&reader), 0);
		assert_int_equal(e, i);
		nnb_fmq_waited(b->q, NNB_FMQ_READER, &last, NULL);
		assert_true(last.slept_ns > 0);
		assert_true(last.wakeups >= 1);
		if (last.spun_ns < least_spun)
			least_spun = last.spun_ns;
	}
	assert_true(least_spun < MS / 10); /* the least, because the kernel may preempt the reader while it polls */
}

static void writer_sleeps_at_once(void **state)
{
	struct bench *b = *state;
	uint64_t full[CAPACITY] = { 0 };
	uint64_t e = 9;
	struct actor writer = { .act = write_some, .q = b->q, .arg = &e, .n = 1, .timeout_ns = PATIENCE };
	struct nnb_fmq_waited last;

	assert_int_equal(nnb_fmq_write_blocking(b->q, full, CAPACITY, PATIENCE), 0);
	start(&writer);
	assert_true(actor_sleeps(&writer));
	assert_int_equal(nnb_fmq_read_blocking(b->q, full, CAPACITY, PATIENCE), 0);
	assert_int_equal(finish(&writer), 0);
	nnb_fmq_waited(b->q, NNB_FMQ_WRITER, &last, NULL);
	assert_true(last.slept_ns > 0);
	assert_true(last.wakeups >= 1);
	assert_int_equal(nnb_fmq_read(b->q, full, 1), 0);
	assert_int_equal(full[0], 9);
}

static void in_place_calls_sleep_and_wake(void **state)
{
	struct bench *b = *state;
	uint64_t e = 0;
	struct actor reader = { .act = read_one, .q = b->q, .arg = &e, .timeout_ns = PATIENCE };
	struct actor writer = { .act = write_some, .q = b->q, .arg = &e, .n = CAPACITY, .timeout_ns = PATIENCE };
	uint64_t full[CAPACITY] = { 0 };
	struct nnb_fmq_tx tx;

	start(&reader);
	assert_true(actor_sleeps(&reader));
	assert_int_equal(nnb_fmq_begin_write_blocking(b->q, 1, PATIENCE, &tx), 0);
	*(uint64_t *)nnb_fmq_tx_slot(&tx, 0) = 42;
	assert_true(actor_sleeps(&reader)); /* nothing is published yet */
	assert_int_equal(nnb_fmq_commit_write_and_wake(b->q, 1), 0);
	assert_int_equal(finish(&reader), 0);
	assert_int_equal(e, 42);

	writer.arg = full;
	assert_int_equal(nnb_fmq_write(b->q, full, 1), 0);
	start(&writer);
	assert_true(actor_sleeps(&writer));
	assert_int_equal(nnb_fmq_begin_read_blocking(b->q, 1, PATIENCE, &tx), 0);
	assert_true(actor_sleeps(&writer));
	assert_int_equal(nnb_fmq_commit_read_and_wake(b->q, 1), 0);
	assert_int_equal(finish(&writer), 0);
	assert_int_equal(nnb_fmq_available_to_read(b->q), CAPACITY);
}

/* The long forms with the caller's bits and flag, on both sides. */
static int read_with(struct actor *a)
{
	uint64_t e;

	return nnb_fmq_read_blocking_with(a->q, &e, 1, 0x10, 0x20, a->timeout_ns, a->arg);
}

static void callers_flag_wakes(void **state)
{
	static _Alignas(8) uint32_t word;
	struct bench *b = *state;
	struct nnb_event_flag *flag;
	struct actor reader = { .act = read_with, .q = b->q, .timeout_ns = PATIENCE };
	uint64_t e = 1;

	assert_int_equal(nnb_event_flag_new(&flag, &word), 0);
	reader.arg = flag;
	for (unsigned i = 0; i < 10; i++) {
		start(&reader);
		assert_true(actor_sleeps(&reader));
		assert_int_equal(nnb_fmq_write_blocking_with(b->q, &e, 1, 0x10, 0x20, PATIENCE, flag), 0);
		assert_int_equal(finish(&reader), 0);
	}
	nnb_event_flag_delete(&flag);
}

static void timeouts_are_kept(void **state)
{
	struct bench *b = *state;
	static const uint64_t window[] = { NNB_FMQ_WINDOW_NONE, NNB_FMQ_WINDOW_AUTO, NNB_FMQ_WINDOW_ALWAYS };
	static const uint64_t timeout[] = { 1, 1000, MS, 30 * MS };
	uint64_t full[CAPACITY] = { 0 };

	for (size_t i = 0; i < N_OF(window); i++)
		for (size_t k = 0; k < N_OF(timeout); k++) {
			struct nnb_fmq *q;
			uint64_t begin;

			assert_int_equal(open_queue(&q, b->in, window[i]), 0);
			begin = now_ns();
			assert_int_equal(nnb_fmq_read_blocking(q, full, 1, timeout[k]), NNB_FMQ_TIMED_OUT);
			assert_true(now_ns() - begin >= timeout[k]);
			assert_int_equal(nnb_fmq_write_blocking(q, full, CAPACITY, timeout[k]), 0);
			begin = now_ns();
			assert_int_equal(nnb_fmq_write_blocking(q, full, 1, timeout[k]), NNB_FMQ_TIMED_OUT);
			assert_true(now_ns() - begin >= timeout[k]);
			nnb_fmq_free(q);
		}
}

static void sums_are_of_all_calls(void **state)
{
	struct bench *b = *state;
	struct nnb_fmq_waited sum = { 0 };
	struct nnb_fmq_waited last;
	struct nnb_fmq_waited total;
	struct nnb_fmq *q;
	uint64_t e[CAPACITY] = { 0 };

	assert_int_equal(open_queue(&q, b->in, MS / 2), 0);
	nnb_fmq_waited(q, NNB_FMQ_READER, &last, &total);
	assert_memory_equal(&last, &sum, sizeof(sum));
	assert_memory_equal(&total, &sum, sizeof(sum));
	for (unsigned i = 0; i < 12; i++) {
		bool there = i % 3 == 0;

		if (there)
			assert_int_equal(nnb_fmq_write(q, e, 1), 0);
		assert_int_equal(nnb_fmq_read_blocking(q, e, 1, i % 3 * MS), there ? 0 : NNB_FMQ_TIMED_OUT);
		nnb_fmq_waited(q, NNB_FMQ_READER, &last, &total);
		if (there) {
			assert_int_equal(last.spun_ns, 0);
			assert_int_equal(last.slept_ns, 0);
			assert_int_equal(last.wakeups, 0);
		} else {
			assert_true(last.spun_ns >= MS / 2);
			assert_true(last.spun_ns + last.slept_ns >= i % 3 * MS);
		}
		sum.spun_ns += last.spun_ns;
		sum.slept_ns += last.slept_ns;
		sum.wakeups += last.wakeups;
		assert_memory_equal(&total, &sum, sizeof(sum));
	}
	assert_true(total.slept_ns > 0);
	nnb_fmq_waited(q, NNB_FMQ_READER, NULL, NULL);
	nnb_fmq_waited(q, NNB_FMQ_WRITER, &last, &total); /* each side has its own numbers */
	assert_int_equal(last.spun_ns + last.slept_ns + last.wakeups, 0);
	assert_int_equal(total.spun_ns + total.slept_ns + total.wakeups, 0);
	nnb_fmq_free(q);
}

/* ---- disturbed ---- */

static void do_nothing(int sig)
{
	(void)sig;
}

static void signals_end_no_call(void **state)
{
	struct bench *b = *state;
	struct sigaction act = { .sa_handler = do_nothing };
	uint64_t e = 0;
	struct actor reader = { .act = read_one, .q = b->q, .arg = &e, .timeout_ns = PATIENCE };
	struct nnb_fmq_waited last;

	sigaction(SIGUSR1, &act, NULL);
	start(&reader);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(actor_sleeps(&reader));
		pthread_kill(reader.thread, SIGUSR1);
	}
	assert_true(actor_sleeps(&reader));
	assert_int_equal(nnb_fmq_write_blocking(b->q, &(uint64_t){ 5 }, 1, PATIENCE), 0);
	assert_int_equal(finish(&reader), 0);
	assert_int_equal(e, 5);
	nnb_fmq_waited(b->q, NNB_FMQ_READER, &last, NULL);
	assert_true(last.wakeups >= 6);

	reader.timeout_ns = 50 * MS; /* stray wakes must not prolong the wait */
	start(&reader);
	while (!atomic_load(&reader.done)) {
		pthread_kill(reader.thread, SIGUSR1);
		nap();
	}
	assert_int_equal(finish(&reader), NNB_FMQ_TIMED_OUT);
}

static void stray_wakes_end_no_call(void **state)
{
	struct bench *b = *state;
	uint64_t e = 0;
	struct actor reader = { .act = read_one, .q = b->q, .arg = &e, .timeout_ns = PATIENCE };

	start(&reader);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(actor_sleeps(&reader));
		assert_int_equal(nnb_event_flag_wake(nnb_fmq_event_flag(b->q), UINT32_MAX), 0);
		while (atomic_load(raw_flag(&b->raw)) & NNB_FMQ_NOT_EMPTY) /* until the reader has taken the bit */
			nap();
	}
	assert_true(actor_sleeps(&reader));
	assert_int_equal(nnb_fmq_write_blocking(b->q, &(uint64_t){ 5 }, 1, PATIENCE), 0);
	assert_int_equal(finish(&reader), 0);
	assert_int_equal(e, 5);
}

struct restless {
	_Atomic uint32_t *word;
	_Atomic bool stop;
};

static int keep_changing(struct actor *a)
{
	struct restless *r = a->arg;

	while (!atomic_load_explicit(&r->stop, memory_order_relaxed))
		atomic_fetch_add(r->word, 0x100);
	return 0;
}

static void timed_out_though_the_word_changes(void **state)
{
	struct bench *b = *state;
	struct restless restless = { .word = raw_flag(&b->raw) };
	struct actor actor = { .act = keep_changing, .arg = &restless };
	uint64_t full[CAPACITY] = { 0 };
	uint64_t begin;

	start(&actor);
	begin = now_ns();
	assert_int_equal(nnb_fmq_read_blocking(b->q, full, 1, 50 * MS), NNB_FMQ_TIMED_OUT);
	assert_true(now_ns() - begin >= 50 * MS);
	assert_int_equal(nnb_fmq_write_blocking(b->q, full, CAPACITY, 50 * MS), 0);
	begin = now_ns();
	assert_int_equal(nnb_fmq_write_blocking(b->q, full, 1, 50 * MS), NNB_FMQ_TIMED_OUT);
	assert_true(now_ns() - begin >= 50 * MS);
	atomic_store(&restless.stop, true);
	finish(&actor);
}

/* ---- shutting ---- */

static int receive_all(struct actor *a)
{
	struct nnb_fmq_tx tx;

	return nnb_fmq_begin_receive(a->q, a->timeout_ns, &tx);
}

static void shutting_ends_every_wait(void **state)
{
	struct bench *b = *state;
	uint64_t full[CAPACITY] = { 0 };
	struct actor writer = { .act = write_some, .q = b->q, .arg = full, .n = CAPACITY };

	assert_int_equal(nnb_fmq_write(b->q, full, 1), 0);
	start(&writer);
	assert_true(actor_sleeps(&writer));
	nnb_fmq_shut(b->q);
	assert_int_equal(finish(&writer), -ESHUTDOWN);
	assert_int_equal(nnb_fmq_read_blocking(b->q, full, 1, 0), 0); /* elements that are present can be read */
	assert_int_equal(nnb_fmq_read_blocking(b->q, full, 1, 0), -ESHUTDOWN);
	assert_int_equal(nnb_fmq_write_blocking(b->q, full, CAPACITY, 0), 0);
	assert_int_equal(nnb_fmq_write_blocking(b->q, full, 1, 0), -ESHUTDOWN);
	assert_int_equal(nnb_fmq_read(b->q, full, CAPACITY), 0);
}

static void shutting_wakes_a_reader(void **state)
{
	struct bench *b = *state;
	struct actor reader = { .act = receive_all, .q = b->q };

	start(&reader);
	assert_true(actor_sleeps(&reader));
	nnb_fmq_shut(b->q);
	assert_int_equal(finish(&reader), -ESHUTDOWN);
}

static void shutting_ends_polling(void **state)
{
	struct bench *b = *state;
	struct actor reader = { .act = receive_all };
	struct nnb_fmq *q;

	assert_int_equal(open_queue(&q, b->in, NNB_FMQ_WINDOW_ALWAYS), 0);
	reader.q = q;
	start(&reader);
	nnb_fmq_shut(q);
	assert_int_equal(finish(&reader), -ESHUTDOWN);
	nnb_fmq_free(q);
}

static int undo_wakes(struct actor *a)
{
	struct restless *r = a->arg;

	while (!atomic_load_explicit(&r->stop, memory_order_relaxed))
		atomic_store(r->word, 0);
	return 0;
}

/* A hostile peer clears each bit that is set: shutting the queue may then take several tries, but must succeed. */
static void shutting_again_ends_every_wait(void **state)
{
	struct bench *b = *state;
	struct restless restless = { .word = raw_flag(&b->raw) };
	struct actor peer = { .act = undo_wakes, .arg = &restless };

	start(&peer);
	for (int i = 0; i < 200; i++) {
		struct actor reader = { .act = receive_all };
		struct nnb_fmq_attach how = { .elem_size = sizeof(uint64_t),
			                      .keep_counters = true,
			                      .window_ns = NNB_FMQ_WINDOW_NONE };
		struct nnb_fmq_desc desc;

		nnb_fmq_describe(b->q, &desc);
		assert_int_equal(nnb_fmq_attach(&reader.q, &desc, &how), 0);
		start(&reader);
		while (!atomic_load(&reader.done)) {
			nnb_fmq_shut(reader.q);
			nap();
		}
		assert_int_equal(finish(&reader), -ESHUTDOWN);
		nnb_fmq_free(reader.q);
	}
	atomic_store(&restless.stop, true);
	finish(&peer);
}

static void receiving_takes_all_there_is(void **state)
{
	struct bench *b = *state;
	uint64_t in[CAPACITY] = { 1, 2, 3, 4, 5 }, out[CAPACITY];
	struct nnb_fmq_tx tx;

	for (size_t turn = 0; turn < 3 * CAPACITY; turn++) { /* at each position of the ring */
		assert_int_equal(nnb_fmq_write(b->q, in, 3), 0);
		assert_int_equal(nnb_fmq_write(b->q, in + 3, 2), 0);
		assert_int_equal(nnb_fmq_begin_receive(b->q, PATIENCE, &tx), 0);
		assert_int_equal(tx.first.n + tx.second.n, 5);
		assert_true(nnb_fmq_tx_copy_from(&tx, out, 0, 5));
		assert_memory_equal(in, out, 5 * sizeof(*in));
		assert_int_equal(nnb_fmq_commit_read(b->q, 5), 0);
		assert_int_equal(nnb_fmq_begin_receive(b->q, MS, &tx), NNB_FMQ_TIMED_OUT);
		assert_int_equal(tx.first.n + tx.second.n, 0);
	}
}

struct deaf {
	struct bench *bench;
	const struct futex_answer *a;
};

/* In a child: without a wake-up, and without the kernel's clock. */
static void wait_with_answers(void *arg)
{
	const struct deaf *deaf = arg;
	struct nnb_fmq *q = deaf->bench->q;
	uint64_t full[CAPACITY] = { 0 };
	uint64_t begin = now_ns();

	if (!answer_futex(SECCOMP_RET_ERRNO | (uint32_t)deaf->a->answer))
		_exit(NO_SECCOMP);
	must(nnb_fmq_read_blocking(q, full, 1, 20 * MS) == (deaf->a->want < 0 ? deaf->a->want : NNB_FMQ_TIMED_OUT));
	must(deaf->a->want < 0 || now_ns() - begin >= 20 * MS);
	must(nnb_fmq_write_blocking(q, full, CAPACITY, 1) == 0);
	begin = now_ns();
	must(nnb_fmq_write_blocking(q, full, 1, 20 * MS) == (deaf->a->want < 0 ? deaf->a->want : NNB_FMQ_TIMED_OUT));
	must(deaf->a->want < 0 || now_ns() - begin >= 20 * MS);
	must(nnb_fmq_read(q, full, CAPACITY) == 0);
}

static void any_answer_ends_in_time(void **state)
{
	for (size_t i = 0; i < N_OF(futex_answers); i++) {
		struct deaf deaf = { *state, &futex_answers[i] };
		int status = reap(spawn(wait_with_answers, &deaf));

		if (lacks_seccomp(status))
			skip();
		assert_int_equal(status, 0);
	}
}

/* In a child: wait for an element that never comes. */
static void wait_for_ever(void *arg)
{
	struct bench *b = arg;
	uint64_t e[CAPACITY];
	struct nnb_fmq *q;

	must(join_queue(&q, b->q) == 0);
	if (nnb_fmq_available_to_read(q))
		must(nnb_fmq_write_blocking(q, e, 1, 0) == 0);
	else
		must(nnb_fmq_read_blocking(q, e, 1, 0) == 0);
}

/* @n children fall asleep on the queue and die there. */
static void sleepers_die(struct bench *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = spawn(wait_for_ever, b);

		/* Look several times, because a child may sleep for a moment before it reaches the wait. */
		for (unsigned k = 0; k < 20; k++)
			assert_true(falls_asleep(pid, pid));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(WTERMSIG(reap(pid)), SIGKILL);
	}
}

static void queue_survives_its_sleepers(void **state)
{
	struct bench *b = *state;
	uint64_t e[CAPACITY] = { 0 };
	struct actor reader = { .act = read_one, .q = b->q, .arg = e, .timeout_ns = PATIENCE };
	struct actor writer = { .act = write_some, .q = b->q, .arg = e, .n = 1, .timeout_ns = PATIENCE };

	sleepers_die(b, 3);
	for (uint64_t i = 0; i < 100; i++) { /* the next reader sleeps and wakes up */
		start(&reader);
		if (i % 10 == 0)
			assert_true(actor_sleeps(&reader));
		assert_int_equal(nnb_fmq_write_blocking(b->q, &i, 1, PATIENCE), 0);
		assert_int_equal(finish(&reader), 0);
		assert_int_equal(e[0], i);
	}
	assert_int_equal(nnb_fmq_write_blocking(b->q, e, CAPACITY, PATIENCE), 0);
	sleepers_die(b, 3);
	for (unsigned i = 0; i < 100; i++) { /* the next writer does, too */
		uint64_t out;

		start(&writer);
		if (i % 10 == 0)
			assert_true(actor_sleeps(&writer));
		assert_int_equal(nnb_fmq_read_blocking(b->q, &out, 1, PATIENCE), 0);
		assert_int_equal(finish(&writer), 0);
	}
}

/* ---- polling ---- */

struct pinned {
	struct actor actor;
	struct nnb_fmq *in, *out;
	int cpu;
	unsigned trips;
};

/* Send each element back, @trips times. */
static int echo(struct actor *a)
{
	struct pinned *p = a->arg;
	uint64_t e;
	int r = 0;

	pin(p->cpu);
	for (unsigned i = 0; i < p->trips && !r; i++) {
		r = nnb_fmq_read_blocking(p->in, &e, 1, PATIENCE);
		if (!r)
			r = nnb_fmq_write_blocking(p->out, &e, 1, PATIENCE);
	}
	return r;
}

static uint64_t cpu_time_of(pthread_t thread)
{
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock))
		abort();
	return clock_ns(clock);
}

static int go_round(struct pinned *p, uint64_t value)
{
	uint64_t e = ~value;
	int r = nnb_fmq_write_blocking(p->in, &value, 1, PATIENCE);

	if (!r)
		r = nnb_fmq_read_blocking(p->out, &e, 1, PATIENCE);
	return r ? r : e == value ? 0 : -EILSEQ;
}

static void open_pair(struct pinned *p, const struct bench *b, int cpu, unsigned trips)
{
	*p = (struct pinned){ .cpu = cpu, .trips = trips };
	p->actor.act = echo;
	p->actor.arg = p;
	assert_int_equal(open_queue(&p->in, b->in, NNB_FMQ_WINDOW_ALWAYS), 0);
	assert_int_equal(open_queue(&p->out, b->in, NNB_FMQ_WINDOW_ALWAYS), 0);
}

static void close_pair(struct pinned *p)
{
	nnb_fmq_free(p->in);
	nnb_fmq_free(p->out);
}

static void polls_while_the_peer_is_elsewhere(void **state)
{
	struct nnb_fmq_waited last;
	struct nnb_fmq_waited total;
	struct pinned p;
	uint64_t cpu_time;
	int cpu[2];

	if (!two_cpus(cpu))
		skip();
	pin(cpu[0]);
	open_pair(&p, *state, cpu[1], 4);
	start(&p.actor);
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(go_round(&p, i), 0); /* now each side knows the other's cpu */
		if (i == 3)
			break;
		cpu_time = cpu_time_of(p.actor.thread);
		while (cpu_time_of(p.actor.thread) - cpu_time < 2 * MS) /* while it uses cpu time, it polls */
			nap();
	}
	assert_int_equal(finish(&p.actor), 0);
	nnb_fmq_waited(p.in, NNB_FMQ_READER, &last, &total);
	assert_true(last.spun_ns >= MS);
	assert_int_equal(total.slept_ns, 0);
	assert_int_equal(total.wakeups, 0);
	close_pair(&p);
}

static void sleeps_while_the_peer_needs_this_cpu(void **state)
{
	struct nnb_fmq_waited before[2];
	struct nnb_fmq_waited after[2];
	struct pinned p;
	uint64_t begin;
	uint64_t took;
	int cpu[2];

	if (!two_cpus(cpu))
		cpu[0] = sched_getcpu();
	pin(cpu[0]);
	open_pair(&p, *state, cpu[0], TRIPS + 10);
	start(&p.actor);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(go_round(&p, i), 0);
	nnb_fmq_waited(p.out, NNB_FMQ_READER, NULL, &before[0]);
	begin = now_ns();
	for (uint64_t i = 0; i < TRIPS; i++)
		assert_int_equal(go_round(&p, i), 0);
	took = now_ns() - begin;
	nnb_fmq_waited(p.out, NNB_FMQ_READER, NULL, &after[0]);
	assert_int_equal(finish(&p.actor), 0);
	nnb_fmq_waited(p.in, NNB_FMQ_READER, NULL, &after[1]);
	/* One side may do all the sleeping, if the scheduler runs a woken thread at once. */
	assert_true(after[0].wakeups - before[0].wakeups + after[1].wakeups >= TRIPS / 10);
	assert_true(after[0].spun_ns - before[0].spun_ns <= took / 2);
	assert_true(took < PATIENCE);
	close_pair(&p);
}

/* ---- no system call without sleepers: in a child that SYS_futex would kill ---- */

static void talk_to_oneself(void *arg)
{
	struct bench *b = arg;
	struct nnb_fmq_tx tx;
	uint64_t e;

	/* libfmq's layout does not count sleepers: the first wake of each bit makes the system call. */
	if (b->in->layout == NNB_FMQ_LAYOUT_PACKED) {
		must(nnb_fmq_write_blocking(b->q, &(uint64_t){ 0 }, 1, PATIENCE) == 0);
		must(nnb_fmq_read_blocking(b->q, &e, 1, PATIENCE) == 0);
	}
	forbid_futex();
	for (uint64_t i = 0; i < MANY_TRIPS; i++) {
		must(nnb_fmq_write_blocking(b->q, &i, 1, PATIENCE) == 0);
		must(nnb_fmq_read_blocking(b->q, &e, 1, PATIENCE) == 0 && e == i);
		must(nnb_fmq_begin_write_blocking(b->q, 1, PATIENCE, &tx) == 0);
		must(nnb_fmq_tx_copy_to(&tx, &i, 0, 1));
		must(nnb_fmq_commit_write_and_wake(b->q, 1) == 0);
		must(nnb_fmq_begin_read_blocking(b->q, 1, PATIENCE, &tx) == 0);
		must(nnb_fmq_tx_copy_from(&tx, &e, 0, 1) && e == i);
		must(nnb_fmq_commit_read_and_wake(b->q, 1) == 0);
	}
}

static void sleep_anyway(void *arg)
{
	struct bench *b = arg;
	uint64_t e;

	forbid_futex();
	nnb_fmq_read_blocking(b->q, &e, 1, MS);
}

static void a_wake_without_sleepers_makes_no_system_call(void **state)
{
	struct bench *b = *state;
	int status = reap(spawn(talk_to_oneself, b));

	if (lacks_seccomp(status))
		skip();
	assert_int_equal(status, 0);
	status = reap(spawn(sleep_anyway, b)); /* shows that the filter works; the child dies counted as a sleeper */
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

/* A wake after a regular end of sleeping makes no system call either. */
static void a_wake_after_the_last_sleeper_makes_no_system_call(void **state)
{
	struct bench *b = *state;
	uint64_t e[CAPACITY] = { 0 };
	struct actor reader = { .act = read_one, .q = b->q, .arg = e, .timeout_ns = PATIENCE };

	start(&reader);
	assert_true(actor_sleeps(&reader));
	assert_int_equal(nnb_fmq_write_blocking(b->q, e, 1, PATIENCE), 0);
	assert_int_equal(finish(&reader), 0);
	assert_int_equal(nnb_fmq_read_blocking(b->q, e, 1, MS), NNB_FMQ_TIMED_OUT);
	assert_int_equal(nnb_fmq_write_blocking(b->q, e, CAPACITY, MS), 0);
	assert_int_equal(nnb_fmq_write_blocking(b->q, e, 1, MS), NNB_FMQ_TIMED_OUT);
	assert_int_equal(nnb_fmq_read(b->q, e, CAPACITY), 0);
	a_wake_without_sleepers_makes_no_system_call(state);
}

struct talker {
	struct nnb_fmq *in, *out;
	int cpu;
	bool begins;
};

/* One of two processes on two cpus, which poll. */
static void talk_to_the_other(void *arg)
{
	struct talker *t = arg;
	struct nnb_fmq *in;
	struct nnb_fmq *out;
	uint64_t e = 0;

	must(join_queue(&in, t->in) == 0 && join_queue(&out, t->out) == 0);
	pin(t->cpu);
	for (uint64_t i = 0; i < TRIPS; i++) {
		if (i == 10) /* by now each side knows the other's cpu */
			forbid_futex();
		must(!t->begins || nnb_fmq_write_blocking(out, &i, 1, PATIENCE) == 0);
		must(nnb_fmq_read_blocking(in, &e, 1, PATIENCE) == 0 && e == i);
		must(t->begins || nnb_fmq_write_blocking(out, &e, 1, PATIENCE) == 0);
	}
}

static void two_polling_processes_make_no_system_call(void **state)
{
	struct pinned p;
	struct talker t[2];
	pid_t pid[2];
	int status[2];
	int cpu[2];

	if (!two_cpus(cpu))
		skip();
	open_pair(&p, *state, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		t[i] = (struct talker){ i ? p.in : p.out, i ? p.out : p.in, cpu[i], i == 0 };
		pid[i] = spawn(talk_to_the_other, &t[i]);
	}
	for (unsigned i = 0; i < 2; i++)
		status[i] = reap(pid[i]);
	close_pair(&p);
	if (lacks_seccomp(status[0]))
		skip();
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], 0);
}

static const struct row {
	const char *name;
	const char *rules;
	CMUnitTestFunction run;
	bool spread_only; /* needs the waiting room */
} rows[] = {
	/* The first test, because the cost is measured once and then kept. */
	{ "measuring leaves the caller on its cpu", "", .run = measuring_keeps_the_callers_cpus },
	{ "the window is what was asked for, or measured", "", .run = the_window_is_as_configured_or_measured },
	{ "no window: the reader sleeps", "F-28", .run = reader_sleeps_at_once },
	{ "no window: the writer sleeps", "F-28", .run = writer_sleeps_at_once },
	{ "in place: sleep, commit, wake", "F-28", .run = in_place_calls_sleep_and_wake },
	{ "a flag of the caller's wakes", "F-26", .run = callers_flag_wakes },
	{ "timeouts are kept, whatever the window", "F-28", .run = timeouts_are_kept },
	{ "the total is the sum of all calls", "", .run = sums_are_of_all_calls },
	{ "signals end no call", "F-23 F-28", .run = signals_end_no_call },
	{ "stray wakes end no call", "F-24 F-28", .run = stray_wakes_end_no_call },
	{ "shutting ends every wait", "F-30", .run = shutting_ends_every_wait },
	{ "shutting wakes a reader that sleeps", "F-30", .run = shutting_wakes_a_reader },
	{ "shutting ends polling", "F-30", .run = shutting_ends_polling },
	{ "shutting again and again gets everybody out", "F-30", .run = shutting_again_ends_every_wait },
	{ "receiving takes all there is", "B-14", .run = receiving_takes_all_there_is },
	{ "timed out though the word keeps changing", "F-28", .run = timed_out_though_the_word_changes },
	{ "whatever the kernel answers", "F-28", .run = any_answer_ends_in_time },
	{ "sleepers that are killed", "F-30", .run = queue_survives_its_sleepers },
	{ "polls while the peer is on another cpu", "", .run = polls_while_the_peer_is_elsewhere, .spread_only = true },
	{ "sleeps while the peer needs this cpu", "", .run = sleeps_while_the_peer_needs_this_cpu,
	  .spread_only = true },
	{ "a wake without sleepers makes no system call", "F-22", .run = a_wake_without_sleepers_makes_no_system_call },
	{ "a wake after the last sleeper makes no system call", "F-22",
	  .run = a_wake_after_the_last_sleeper_makes_no_system_call, .spread_only = true },
	{ "two polling processes make no system call", "F-22", .run = two_polling_processes_make_no_system_call,
	  .spread_only = true },
};

int main(void)
{
	static struct bench benches[N_OF(arrangements)];

	without_tracer();
	sched_getaffinity(0, sizeof(our_cpus), &our_cpus);
	for (size_t i = 0; i < N_OF(rows); i++)
		for (size_t k = 0; k < N_OF(arrangements); k++) {
			if (rows[i].spread_only && arrangements[k].layout != NNB_FMQ_LAYOUT_SPREAD)
				continue;
			benches[k].in = &arrangements[k];
			add_test(rows[i].run, set_up, tear_down, &benches[k], "%s (%s) %s", rows[i].name,
			         arrangements[k].name, rows[i].rules);
		}
	return cmocka_run_group_tests_name("fmq_wait", tests, NULL, NULL);
}
