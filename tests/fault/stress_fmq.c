/*
 * stress_fmq.c -- no lost wake-up, no torn or lost element, under load. Meant for the thread sanitizer.
 *
 * The parties are threads on one handle, because the sanitizer compares addresses: it takes two mappings of one
 * file for different memory. A lost wake-up shows as a call that times out. NNB_SOAK_SECONDS sets the length.
 */
#include "fault/stress_length.h"
#include "unit/fmq_helpers.h"

enum { MAX_BATCH = 16, ELEM_MAX = 24 };

static const struct stress {
	const char *name;
	size_t elem_size, capacity;
	uint64_t window_ns;
	enum nnb_fmq_layout layout;
	bool in_place;
} rows[] = {
	{ "8 B x 2, sleeping", 8, 2, NNB_FMQ_WINDOW_NONE, NNB_FMQ_LAYOUT_SPREAD, false },
	{ "24 B x 7, sleeping", 24, 7, NNB_FMQ_WINDOW_NONE, NNB_FMQ_LAYOUT_SPREAD, false },
	{ "24 B x 7, sleeping, in place", 24, 7, NNB_FMQ_WINDOW_NONE, NNB_FMQ_LAYOUT_SPREAD, true },
	{ "8 B x 5, sleeping, packed: sleepers are not counted", 8, 5, NNB_FMQ_WINDOW_NONE, NNB_FMQ_LAYOUT_PACKED,
	  false },
	{ "8 B x 3, polling a little", 8, 3, 2000, NNB_FMQ_LAYOUT_SPREAD, false },
	{ "24 B x 64, default window, in place", 24, 64, NNB_FMQ_WINDOW_AUTO, NNB_FMQ_LAYOUT_SPREAD, true },
};

struct game {
	const struct stress *how;
	struct nnb_fmq *q;
	uint64_t end;
	_Atomic uint64_t written; /* UINT64_MAX until the writer has stopped */
	const char *trouble;
};

/* Delay each party by a random time, so that wake-ups race with every step of going to sleep. */
static void delay_randomly(uint64_t *seed)
{
	for (volatile uint64_t n = next_random(seed) % 300; n; n--)
		;
}

/* Batches of both sides together must fit, or each could wait for the other. */
static size_t batch_max(const struct game *g)
{
	size_t fair = (g->how->capacity + 1) / 2;

	return fair < MAX_BATCH ? fair : MAX_BATCH;
}

static int put(struct game *g, const void *elements, size_t n)
{
	struct nnb_fmq_tx tx;
	int r;

	if (!g->how->in_place)
		return nnb_fmq_write_blocking(g->q, elements, n, PATIENCE);
	r = nnb_fmq_begin_write_blocking(g->q, n, PATIENCE, &tx);
	if (r)
		return r;
	nnb_fmq_tx_copy_to(&tx, elements, 0, n);
	return nnb_fmq_commit_write_and_wake(g->q, n);
}

static int take(struct game *g, void *elements, size_t n)
{
	struct nnb_fmq_tx tx;
	int r;

	if (!g->how->in_place)
		return nnb_fmq_read_blocking(g->q, elements, n, PATIENCE);
	r = nnb_fmq_begin_read_blocking(g->q, n, PATIENCE, &tx);
	if (r)
		return r;
	nnb_fmq_tx_copy_from(&tx, elements, 0, n);
	return nnb_fmq_commit_read_and_wake(g->q, n);
}

static void *writes(void *arg)
{
	unsigned char elements[MAX_BATCH * ELEM_MAX];
	struct game *g = arg;
	uint64_t seed = 1;
	uint64_t at = 0;

	while (now_ns() < g->end) {
		size_t n = 1 + next_random(&seed) % batch_max(g);

		make_elements(elements, g->how->elem_size, at, n);
		delay_randomly(&seed);
		if (put(g, elements, n)) {
			g->trouble = "the writer was not woken";
			break;
		}
		at += n;
	}
	atomic_store(&g->written, at);
	/* The reader may be in the middle of a batch of its own. */
	make_elements(elements, g->how->elem_size, at, batch_max(g));
	if (put(g, elements, batch_max(g)))
		g->trouble = "the writer was not woken at the end";
	return NULL;
}

static void no_element_is_lost_or_torn(void **state)
{
	const struct stress *how = *state;
	struct nnb_fmq_config c = {
		.elem_size = how->elem_size,
		.capacity = how->capacity,
		.flavour = NNB_FMQ_SYNCHRONIZED,
		.layout = how->layout,
		.event_flag = true,
		.window_ns = how->window_ns,
	};
	struct game g = { .how = how, .written = UINT64_MAX };
	unsigned char want[MAX_BATCH * ELEM_MAX], got[MAX_BATCH * ELEM_MAX];
	struct nnb_fmq_waited total;
	uint64_t seed = 2;
	uint64_t at = 0;
	pthread_t thread;

	assert_int_equal(nnb_fmq_new(&g.q, &c), 0);
	g.end = now_ns() + stress_length_ns(N_OF(rows) + 2, 400 * MS);
	assert_int_equal(pthread_create(&thread, NULL, writes, &g), 0);
	while (at < atomic_load(&g.written)) {
		size_t n = 1 + next_random(&seed) % batch_max(&g);

		delay_randomly(&seed);
		assert_int_equal(take(&g, got, n), 0); /* NNB_FMQ_TIMED_OUT: the reader was not woken */
		make_elements(want, how->elem_size, at, n);
		assert_memory_equal(got, want, n * how->elem_size);
		at += n;
	}
	pthread_join(thread, NULL);
	assert_null(g.trouble);
	nnb_fmq_waited(g.q, NNB_FMQ_READER, NULL, &total);
	if (how->window_ns == NNB_FMQ_WINDOW_NONE)
		assert_true(total.wakeups > 0); /* otherwise no party slept */
	assert_true(at > 100);
	nnb_fmq_free(g.q);
}

/* ---- unsynchronized: batches that a reader accepts are whole ---- */

enum { UNSYNC_CAPACITY = 12, UNSYNC_BATCH = 4, READERS = 3 };

struct listener {
	const struct nnb_fmq *q;
	_Atomic bool *stop;
	_Atomic uint64_t accepted;
	bool torn;
	pthread_t thread;
};

/* A batch is one number, UNSYNC_BATCH times, three words each. */
static void *listens(void *arg)
{
	uint64_t got[UNSYNC_BATCH * 3];
	struct listener *l = arg;
	uint64_t last = 0;
	struct nnb_fmq *q;

	if (join_queue(&q, l->q))
		abort();
	while (!atomic_load(l->stop)) {
		if (nnb_fmq_read(q, got, UNSYNC_BATCH))
			continue;
		for (size_t i = 1; i < N_OF(got); i++)
			l->torn |= got[i] != got[0];
		l->torn |= l->accepted && got[0] <= last;
		last = got[0];
		l->accepted++;
	}
	nnb_fmq_free(q);
	return NULL;
}

static void a_batch_that_a_reader_accepts_is_whole(void **state)
{
	struct nnb_fmq_config c = { .elem_size = 24, .capacity = UNSYNC_CAPACITY, .flavour = NNB_FMQ_UNSYNCHRONIZED };
	uint64_t end = now_ns() + stress_length_ns(N_OF(rows) + 2, 400 * MS);
	_Atomic bool stop = false;
	struct listener l[READERS];
	bool all = false;
	uint64_t batch[UNSYNC_BATCH * 3];
	uint64_t seed = 9;
	struct nnb_fmq *q;

	(void)state;
	assert_int_equal(nnb_fmq_new(&q, &c), 0);
	for (size_t i = 0; i < READERS; i++) {
		l[i] = (struct listener){ .q = q, .stop = &stop };
		assert_int_equal(pthread_create(&l[i].thread, NULL, listens, &l[i]), 0);
	}
	for (uint64_t number = 1; now_ns() < end || (!all && now_ns() < end + PATIENCE); number++) {
		for (size_t i = 0; i < N_OF(batch); i++)
			batch[i] = number;
		assert_int_equal(nnb_fmq_write(q, batch, UNSYNC_BATCH), 0);
		delay_randomly(&seed);
		if (number % 16 == 0)
			nap(); /* long enough for any reader */
		all = true;
		for (size_t i = 0; i < READERS; i++)
			all &= atomic_load(&l[i].accepted) >= 10;
	}
	atomic_store(&stop, true);
	for (size_t i = 0; i < READERS; i++) {
		pthread_join(l[i].thread, NULL);
		assert_false(l[i].torn);
	}
	assert_true(all);
	nnb_fmq_free(q);
}

/* ---- the event flag alone carries plain data ---- */

struct handoff {
	struct nnb_event_flag *flag;
	uint64_t end;
	uint64_t data[2]; /* plain: the flag is all that orders the accesses */
};

enum { FULL_BIT = 1, EMPTY_BIT = 2 };

static void *hands_over(void *arg)
{
	struct handoff *h = arg;
	uint32_t bits;

	for (uint64_t i = 1;; i++) {
		bool last = now_ns() >= h->end;

		h->data[0] = i;
		h->data[1] = last;
		nnb_event_flag_wake(h->flag, FULL_BIT);
		if (last || nnb_event_flag_wait(h->flag, EMPTY_BIT, &bits, PATIENCE, true))
			return NULL;
	}
}

static void a_flag_carries_plain_data(void **state)
{
	struct handoff h = { .end = now_ns() + stress_length_ns(N_OF(rows) + 2, 400 * MS) };
	uint32_t word = 0, bits;
	pthread_t thread;

	(void)state;
	assert_int_equal(nnb_event_flag_new(&h.flag, &word), 0);
	assert_int_equal(pthread_create(&thread, NULL, hands_over, &h), 0);
	for (uint64_t i = 1;; i++) {
		assert_int_equal(nnb_event_flag_wait(h.flag, FULL_BIT, &bits, PATIENCE, true), 0);
		assert_int_equal(h.data[0], i);
		if (h.data[1])
			break;
		nnb_event_flag_wake(h.flag, EMPTY_BIT);
	}
	pthread_join(thread, NULL);
	nnb_event_flag_delete(&h.flag);
}

int main(void)
{
	without_tracer();
	for (size_t i = 0; i < N_OF(rows); i++)
		add_test(no_element_is_lost_or_torn, NULL, NULL, (void *)&rows[i], "%s", rows[i].name);
	add_test(a_batch_that_a_reader_accepts_is_whole, NULL, NULL, NULL,
	         "unsynchronized: a batch that a reader accepts is whole");
	add_test(a_flag_carries_plain_data, NULL, NULL, NULL, "an event flag carries plain data");
	return _cmocka_run_group_tests("fmq: stress", tests, n_tests, NULL, NULL);
}
