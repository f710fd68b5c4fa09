/*
 * test_answers_first.c -- a burst's thread answers its client before it wakes the thread that gets its lane. A
 * woken thread may take the waker's cpu, and the answer would wait behind it. Where the client can make the
 * answer wait, the thread wakes the lane's next thread first.
 *
 * The test does not depend on time: at each wake it looks for the answer in the result queue, which the client
 * does not read meanwhile.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "unit/burst_helpers.h"

#include "base/sys.h"
#include "burst/executor.h"
#include "fmq/queue.h"
#include "sched/lanes.h"

/* ---- the wake, watched ---- */

static struct {
	pthread_t test;                   /* the test's own wakes do not count */
	atomic_int most_woken;            /* the most threads that one wake for a message asked to wake */
	_Atomic(_Atomic uint32_t *) word; /* the futex of the waiting seat; NULL: look at no wake */
	struct nnb_fmq *result;
	atomic_uint wakes, answered; /* answered: wakes after the answer was in the queue */
	atomic_bool running;         /* the thread of the waiting seat has its lane */
	atomic_uint flushes, early;  /* early: flushes after the answer was in the queue */
	uint64_t flushed_bytes;
} watched;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/*
 * Wraps syscall, not nnb__futex_wake: in a library that is optimized as a whole the linker cannot wrap the
 * latter's calls.
 */
long __wrap_syscall(long number, ...)
{
	/* all other system calls of the library have at most three arguments */
	size_t n = number == SYS_futex || number == SYS_mmap ? 6 : 3;
	long a[6] = { 0 };
	va_list ap;

	va_start(ap, number);
	for (size_t i = 0; i < n; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_futex && (int)a[1] == FUTEX_WAKE_BITSET && a[0] == (long)atomic_load(&watched.word)) {
		watched.answered += nnb_fmq_available_to_read(watched.result) > 0;
		watched.wakes++; /* last, because the test waits for it */
	}
	if (number == SYS_futex && (int)a[1] == FUTEX_WAKE_BITSET && (uint32_t)a[5] == NNB_FMQ_NOT_EMPTY &&
	    !pthread_equal(pthread_self(), watched.test) && (int)a[2] > watched.most_woken)
		watched.most_woken = (int)a[2];
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int __real_msync(void *at, size_t bytes, int flags);
int __wrap_msync(void *at, size_t bytes, int flags);

/* A disk that takes until the thread that waited for the lane runs on it. */
int __wrap_msync(void *at, size_t bytes, int flags)
{
	while (!watched.running)
		nap();
	watched.early += nnb_fmq_available_to_read(watched.result) > 0;
	watched.flushed_bytes = bytes;
	watched.flushes++;
	return __real_msync(at, bytes, flags);
}

/* ---- seats of the test's own ---- */

struct waiter {
	struct nnb__seat seat;
	pthread_t thread;
	int got;
};

static void *waits(void *arg)
{
	struct waiter *w = arg;

	w->got = nnb__lanes_take(&w->seat, NNB__NEVER);
	watched.running = true;
	return NULL;
}

static void await_waiting(struct nnb__lanes *l, uint32_t n)
{
	uint32_t waiting;

	do {
		nap();
		pthread_mutex_lock(&l->lock);
		waiting = l->policy.waiting;
		pthread_mutex_unlock(&l->lock);
	} while (waiting != n);
}

/* ---- a client that does not read its results, and a server on one lane ---- */

struct fixture {
	struct nnb__lanes lanes;
	struct nnb__lane_app app, others;
	struct nnb_prepared *prepared;
	struct nnb_pool *pool;
	struct sum sum;
	struct peer peer;
	struct nnb_request_datum *datums;
	uint32_t n;
};

struct kind {
	const char *name;
	bool cached;
	/*
	 * the client provides the ring's file, which may be larger and have other uses, so the library must not
	 * seal it
	 */
	bool own_ring;
	bool first; /* the answer comes before the wake */
	bool file;  /* the pool is a file on a disk */
};

static struct nnb_fmq *result_queue(bool own_ring)
{
	enum { ELEMENT = sizeof(struct nnb_result_datum) };
	struct nnb_fmq_config c = { .elem_size = ELEMENT,
		                    .capacity = NNB_BURST_CAPACITY,
		                    .flavour = NNB_FMQ_SYNCHRONIZED,
		                    .event_flag = true,
		                    .ring_fd_bytes = NNB_BURST_CAPACITY * ELEMENT };
	struct nnb_fmq *q;

	if (!own_ring)
		return burst_queue(ELEMENT, NNB_BURST_CAPACITY);
	c.ring_fd = new_file(c.ring_fd_bytes, 0);
	assert_int_equal(nnb_fmq_new(&q, &c), 0);
	close(c.ring_fd);
	return q;
}

enum { FILE_BYTES = 1 << 24 };

/* A pool in a file of P_tmpdir, far larger than the arguments; NULL: that is in memory. */
static struct nnb_pool *file_pool(void)
{
	char path[] = P_tmpdir "/test_answers_first-XXXXXX";
	struct nnb_memory memory;
	struct nnb_pool *p;
	struct statfs fs;
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
	assert_int_equal(fstatfs(fd, &fs), 0);
	if (fs.f_type == TMPFS_MAGIC) {
		close(fd);
		return NULL;
	}
	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, FILE_BYTES, PROT_READ | PROT_WRITE, 0), 0);
	assert_int_equal(nnb_pool_from(&p, &memory), 0);
	nnb_memory_close(&memory);
	close(fd);
	return p;
}

/* Whether a process can take a page out of the ring. */
static bool can_punch(const struct nnb_fmq *q)
{
	struct nnb_fmq_desc d;

	nnb_fmq_describe(q, &d);
	return !fallocate(d.fds[d.grantors[NNB_FMQ_RING].fd_index], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
	                  4096);
}

static void begin(struct fixture *f, const struct kind *kind)
{
	struct nnb__burst_place place = { .lanes = &f->lanes, .app = &f->app };
	struct nnb_burst_executor executor;
	struct nnb_reason reason = { "" };

	memset(f, 0, sizeof(*f));
	assert_int_equal(nnb__lanes_init(&f->lanes, NNB_POLICY_FIFO, NNB_PREEMPT_NONE, NNB_DEADLINES_ABORT, 1), 0);
	f->prepared = prepared_sum(DRIVER_NULL);
	f->pool = kind->file ? file_pool() : new_pool();
	if (!f->pool)
		skip();
	sum_init(&f->sum, f->pool, f->pool);
	f->peer = (struct peer){ .request = burst_queue(sizeof(struct nnb_request_datum), NNB_BURST_CAPACITY),
		                 .result = result_queue(kind->own_ring),
		                 .answers_first = true };
	f->peer.memories[0] = f->peer.memories[1] = *nnb_pool_memory(f->pool);
	f->datums = datums_of(&f->sum.call, false, &f->n);
	assert_int_equal(nnb__burst_executor(&executor, f->prepared, kind->cached, &place), 0);
	if (peer_serve(&f->peer, &executor, 1, &reason))
		fail_msg("%s", reason.text);
	/* only a queue that its client cannot tear is answered first */
	assert_int_equal(can_punch(f->peer.result), kind->own_ring);
	watched.result = f->peer.result;
	watched.wakes = watched.answered = 0;
	watched.most_woken = 0;
	watched.running = false;
	watched.flushes = watched.early = 0;
	watched.test = pthread_self();
}

static void end(struct fixture *f)
{
	atomic_store(&watched.word, NULL);
	peer_fini(&f->peer);
	free(f->datums);
	nnb_pool_free(f->pool);
	nnb_prepared_unref(f->prepared);
	assert_null(f->lanes.policy.apps);
	nnb__lanes_fini(&f->lanes);
}

static void expect_answer(struct fixture *f)
{
	struct nnb_result_datum result[RESULT_MAX];

	peer_receive(&f->peer, result);
	assert_int_equal(result[0].packet.status, NNB_STATUS_NONE);
}

/* The server's execution waits behind the holder's, and another execution waits behind it. */
static void the_answer_is_queued_before_the_next_thread_is_woken(void **state)
{
	struct nnb__seat holder;
	struct waiter next = { .got = 1 };
	const struct kind *kind = *state;
	struct fixture f;

	begin(&f, kind);
	for (unsigned i = 1; i <= 3; i++) {
		nnb__seat_init(&holder, &f.lanes, &f.others, 1, NULL);
		nnb__seat_init(&next.seat, &f.lanes, &f.others, 1, NULL);
		assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
		peer_send(&f.peer, f.datums, f.n);
		await_waiting(&f.lanes, 1);
		assert_int_equal(pthread_create(&next.thread, NULL, waits, &next), 0);
		await_waiting(&f.lanes, 2);
		atomic_store(&watched.word, &next.seat.turn);
		nnb__lanes_give(&holder);
		pthread_join(next.thread, NULL); /* the thread may have got its lane without sleeping */
		while (watched.wakes < i)
			nap();
		assert_int_equal(watched.answered, kind->first ? i : 0);
		assert_int_equal(next.got, 0);
		expect_answer(&f);
		nnb__lanes_give(&next.seat);
	}
	assert_int_equal(watched.wakes, 3);
	end(&f);
}

/*
 * Of outputs in a file, the written pages are flushed, and then the client is answered (P-16); meanwhile the lane is
 * another execution's. Were it not, this test would not end.
 */
static void the_lane_does_not_wait_for_the_disk(void **state)
{
	struct nnb__seat holder;
	struct waiter next = { .got = 1 };
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct fixture f;

	begin(&f, *state);
	for (unsigned i = 1; i <= 3; i++) {
		watched.running = false;
		nnb__seat_init(&holder, &f.lanes, &f.others, 1, NULL);
		nnb__seat_init(&next.seat, &f.lanes, &f.others, 1, NULL);
		assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
		peer_send(&f.peer, f.datums, f.n);
		await_waiting(&f.lanes, 1);
		assert_int_equal(pthread_create(&next.thread, NULL, waits, &next), 0);
		await_waiting(&f.lanes, 2);
		nnb__lanes_give(&holder);
		pthread_join(next.thread, NULL);
		expect_answer(&f);
		assert_int_equal(watched.flushes, i);
		assert_int_equal(watched.early, 0);
		assert_in_range(watched.flushed_bytes, 1, 2 * page);
		nnb__lanes_give(&next.seat);
	}
	end(&f);
}

/* The server ends without an answer, but it must wake the next thread, or this test does not end. */
static void a_server_that_stops_wakes_the_next_thread(void **state)
{
	struct nnb__seat holder;
	struct waiter next = { .got = 1 };
	struct fixture f;

	begin(&f, *state);
	nnb__seat_init(&holder, &f.lanes, &f.others, 1, NULL);
	nnb__seat_init(&next.seat, &f.lanes, &f.others, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	peer_send(&f.peer, f.datums, f.n);
	await_waiting(&f.lanes, 1);
	assert_int_equal(pthread_create(&next.thread, NULL, waits, &next), 0);
	await_waiting(&f.lanes, 2);
	nnb__lanes_give(&holder);
	nnb_burst_server_stop(f.peer.server); /* before, during or after its execution */
	pthread_join(next.thread, NULL);
	assert_int_equal(next.got, 0);
	nnb__lanes_give(&next.seat);
	end(&f);
}

static void *reads(void *arg)
{
	expect_answer(arg);
	return NULL;
}

/*
 * Many threads of the app may wait for results. A wake wakes few of them, because the lane is idle until all
 * are awake.
 */
static void an_answer_wakes_few_threads(void **state)
{
	struct nnb__seat holder;
	struct fixture f;
	pthread_t reader;

	begin(&f, *state);
	nnb__seat_init(&holder, &f.lanes, &f.others, 1, NULL);
	assert_int_equal(nnb__lanes_take(&holder, NNB__NEVER), 0);
	peer_send(&f.peer, f.datums, f.n);
	await_waiting(&f.lanes, 1);
	assert_int_equal(pthread_create(&reader, NULL, reads, &f), 0);
	while (!atomic_load(f.peer.result->flag.sleepers)) /* from now on, an answer makes the system call */
		nap();
	nnb__lanes_give(&holder);
	pthread_join(reader, NULL);
	assert_in_range(watched.most_woken, 1, 8);
	end(&f);
}

int main(void)
{
	static struct kind kinds[] = {
		{ "cached", true, false, true, false },
		{ "plain", false, false, false, false }, /* unmapping the pools would delay the next execution */
		{ "cached, a ring of the client's own", true, true, false, false },
	};
	static struct kind files[] = {
		{ "cached", true, false, true, true },
		{ "plain", false, false, false, true },
		{ "cached, a ring of the client's own", true, true, false, true },
	};

	for (size_t i = 0; i < N_OF(files); i++)
		add_test(the_lane_does_not_wait_for_the_disk, NULL, NULL, &files[i],
		         "P-16: the lane does not wait for the disk, %s", files[i].name);
	for (size_t i = 0; i < N_OF(kinds); i++) {
		add_test(the_answer_is_queued_before_the_next_thread_is_woken, NULL, NULL, &kinds[i],
		         "the answer first, %s", kinds[i].name);
		add_test(an_answer_wakes_few_threads, NULL, NULL, &kinds[i], "few are woken, %s", kinds[i].name);
		add_test(a_server_that_stops_wakes_the_next_thread, NULL, NULL, &kinds[i], "a server that stops, %s",
		         kinds[i].name);
	}
	alarm(WATCHDOG_S);
	return _cmocka_run_group_tests("answers", tests, n_tests, NULL, NULL);
}
