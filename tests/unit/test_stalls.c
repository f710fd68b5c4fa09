/*
 * test_stalls.c -- an execution whose thread waits for a page loses its lane to one that waits.
 *
 * The page is one that this process must provide itself (userfaultfd), so it takes as long as the test wants.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "unit/burst_helpers.h"

#include "base/sys.h"
#include "driver/execution.h"
#include "sched/run.h"
#include "sched/stalls.h"

/* ---- pages that take long ---- */

/* No page of the @bytes at @at comes from here on. The descriptor; -1: this kernel does not let us. */
static int pages_hold(void *at, size_t bytes)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (uintptr_t)at, bytes }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0)
		return -1;
	if (!ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &range))
		return fd;
	close(fd);
	return -1;
}

/* All pages come. */
static void pages_release(int fd, void *at, size_t bytes)
{
	struct uffdio_range range = { (uintptr_t)at, bytes };

	assert_int_equal(ioctl(fd, UFFDIO_UNREGISTER, &range), 0);
	close(fd);
}

/* ---- whether a thread waits for a page ---- */

struct sleeper {
	pthread_t thread;
	atomic_int tid;
	volatile unsigned char *page; /* NULL: it waits in a system call */
	atomic_bool over;
};

static void *sleeps(void *arg)
{
	struct sleeper *s = arg;

	s->tid = gettid();
	if (s->page)
		(void)*s->page;
	while (!s->over)
		nap();
	return NULL;
}

static void sleeper_start(struct sleeper *s)
{
	assert_int_equal(pthread_create(&s->thread, NULL, sleeps, s), 0);
	while (!s->tid)
		nap();
}

static void a_thread_waits_for_a_page_or_for_something_else(void **state)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sleeper faults = { .page = page }, naps = { .page = NULL };
	int fd;

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	fd = pages_hold(page, bytes);
	if (fd < 0)
		skip();
	sleeper_start(&naps);
	for (int i = 0; i < 100; i++)
		assert_int_not_equal(nnb__thread_waits(naps.tid), NNB__WAIT_PAGE);
	assert_int_equal(nnb__thread_waits(gettid()), NNB__WAIT_OTHER);
	assert_int_equal(nnb__thread_waits(0), NNB__WAIT_OTHER); /* no thread */
	sleeper_start(&faults);
	while (nnb__thread_waits(faults.tid) != NNB__WAIT_PAGE)
		nap();
	pages_release(fd, page, bytes);
	while (nnb__thread_waits(faults.tid) == NNB__WAIT_PAGE)
		nap();
	naps.over = faults.over = true;
	pthread_join(naps.thread, NULL);
	pthread_join(faults.thread, NULL);
	munmap(page, bytes);
}

/* ---- executions that wait for a page ---- */

struct fixture {
	struct nnb__lanes lanes;
	struct nnb__lane_app app, others;
	struct nnb__stalls stalls;
	struct nnb_prepared *prepared;
	struct nnb_pool *pool;
	struct sum sum;
	struct nnb_memory memories[2];
	struct nnb_request request;
	struct nnb_mapping *mappings[2];
	struct nnb_execution *execution;
	atomic_bool cancelled;
	int fd;
	/* the execution's thread */
	struct nnb__runner runner;
	pthread_t thread;
	enum nnb_status status;
	uint64_t on_device_ns, took_ns;
	atomic_bool done;
};

struct kind {
	const char *name;
	enum nnb_policy policy;
	enum nnb_preempt preempt;
};

static void *runs(void *arg)
{
	struct fixture *f = arg;
	uint64_t began = nnb__now();

	f->status = nnb__run(&f->runner, f->execution, &(struct nnb_terms){ 0 }, &f->on_device_ns, NULL);
	f->took_ns = nnb__now() - began;
	f->done = true;
	return NULL;
}

/* An execution is on the only lane, and its input does not come. False: this kernel cannot do that. */
static bool begin(struct fixture *f, const struct kind *k)
{
	memset(f, 0, sizeof(*f));
	assert_int_equal(nnb__lanes_init(&f->lanes, k->policy, k->preempt, NNB_DEADLINES_ABORT, 1), 0);
	nnb__stalls_init(&f->stalls, &f->lanes);
	assert_int_equal(nnb__stalls_start(&f->stalls), 0);
	f->prepared = prepared_sum(DRIVER_XNNPACK);
	f->pool = new_pool();
	sum_init(&f->sum, f->pool, f->pool);
	f->request = request_of_call(&f->sum.call, f->memories);
	for (int i = 0; i < 2; i++)
		assert_int_equal(nnb_map(&f->mappings[i], &f->memories[i]), 0);
	f->fd = pages_hold(nnb_mapping_data(f->mappings[0]), (size_t)sysconf(_SC_PAGESIZE));
	if (f->fd < 0)
		return false;
	assert_int_equal(nnb_execution_begin(f->prepared, &f->request, f->mappings, false, NULL, &f->execution, NULL),
	                 0);
	nnb__runner_init(&f->runner, &f->lanes, &f->app, NULL, 1, &f->cancelled);
	assert_int_equal(pthread_create(&f->thread, NULL, runs, f), 0);
	return true;
}

static void end(struct fixture *f)
{
	nnb_execution_end(f->execution);
	for (int i = 0; i < 2; i++)
		nnb_mapping_unref(f->mappings[i]);
	nnb_pool_free(f->pool);
	nnb_prepared_unref(f->prepared);
	nnb__stalls_end(&f->stalls);
	assert_null(f->lanes.policy.apps);
	assert_int_equal(f->lanes.policy.free, 1);
	nnb__lanes_fini(&f->lanes);
}

/* Wait until the execution's thread sleeps on its lane. */
static void await_stall(struct fixture *f)
{
	pid_t tid = 0;

	while (!tid || nnb__thread_waits(tid) != NNB__WAIT_PAGE) {
		nap();
		pthread_mutex_lock(&f->lanes.lock);
		tid = f->runner.seat.tid;
		pthread_mutex_unlock(&f->lanes.lock);
	}
}

/* Were the lane not taken away, this test would not end. */
static void an_execution_that_waits_for_a_page_loses_its_lane(void **state)
{
	struct nnb__seat other;
	struct fixture f;

	if (!begin(&f, *state)) {
		end(&f);
		skip();
	}
	await_stall(&f);
	nnb__seat_init(&other, &f.lanes, &f.others, 1, NULL);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nnb__lanes_take(&other, NNB__NEVER), 0);
		nnb__lanes_give(&other);
	}
	assert_true(nnb__lanes_lost(&f.runner.seat));
	assert_false(f.done);
	assert_int_equal(f.app.shares.preemptions, 1);
	pages_release(f.fd, nnb_mapping_data(f.mappings[0]), (size_t)sysconf(_SC_PAGESIZE));
	pthread_join(f.thread, NULL);
	assert_int_equal(f.status, NNB_STATUS_NONE);
	assert_true(f.on_device_ns < f.took_ns);
	assert_int_equal(f.runner.seat.trace->preemptions, 1);
	for (int i = 0; i < 3; i++) { /* the seat is as good as new */
		assert_int_equal(nnb_execution_restart(f.execution), NNB_STATUS_NONE);
		runs(&f);
		assert_int_equal(f.status, NNB_STATUS_NONE);
	}
	end(&f);
}

/* While no execution waits, it keeps its lane: until the thread that watches has found that often enough to sleep. */
static void a_lane_that_nobody_wants_is_not_lost(void **state)
{
	struct fixture f;

	if (!begin(&f, *state)) {
		end(&f);
		skip();
	}
	await_stall(&f);
	while (!atomic_load(&f.stalls.sleeps))
		nap();
	assert_false(nnb__lanes_lost(&f.runner.seat));
	pages_release(f.fd, nnb_mapping_data(f.mappings[0]), (size_t)sysconf(_SC_PAGESIZE));
	pthread_join(f.thread, NULL);
	assert_int_equal(f.status, NNB_STATUS_NONE);
	assert_int_equal(f.app.shares.preemptions, 0);
	end(&f);
}

/* Its app is gone: once the page comes, it ends, and gives back no lane. */
static void a_cancelled_execution_without_its_lane_ends(void **state)
{
	struct nnb__seat other;
	struct fixture f;

	if (!begin(&f, *state)) {
		end(&f);
		skip();
	}
	await_stall(&f);
	nnb__seat_init(&other, &f.lanes, &f.others, 1, NULL);
	assert_int_equal(nnb__lanes_take(&other, NNB__NEVER), 0);
	f.cancelled = true;
	pages_release(f.fd, nnb_mapping_data(f.mappings[0]), (size_t)sysconf(_SC_PAGESIZE));
	pthread_join(f.thread, NULL);
	assert_true(f.lanes.policy.running[0] == &other.job);
	nnb__lanes_give(&other);
	end(&f);
}

int main(void)
{
	static struct kind kinds[] = {
		{ "fair, save", NNB_POLICY_FAIR, NNB_PREEMPT_SAVE },
		{ "fair, restart", NNB_POLICY_FAIR, NNB_PREEMPT_RESTART },
		{ "fifo, none", NNB_POLICY_FIFO, NNB_PREEMPT_NONE },
		{ "priority, save", NNB_POLICY_PRIORITY, NNB_PREEMPT_SAVE },
	};

	add_test(a_thread_waits_for_a_page_or_for_something_else, NULL, NULL, NULL, "a thread waits for a page or not");
	for (size_t i = 0; i < N_OF(kinds); i++) {
		add_test(an_execution_that_waits_for_a_page_loses_its_lane, NULL, NULL, &kinds[i],
		         "an execution that waits for a page loses its lane: %s", kinds[i].name);
		add_test(a_lane_that_nobody_wants_is_not_lost, NULL, NULL, &kinds[i],
		         "a lane is not lost while no seat waits: %s", kinds[i].name);
		add_test(a_cancelled_execution_without_its_lane_ends, NULL, NULL, &kinds[i],
		         "a cancelled execution without its lane ends: %s", kinds[i].name);
	}
	alarm(WATCHDOG_S);
	return _cmocka_run_group_tests("stalls", tests, n_tests, NULL, NULL);
}
