/*
 * test_cpu_delay.c -- the time in which a thread was ready and had no cpu: it grows while another thread has
 * the cpu, and reading it leaves no fd open.
 */
#include "unit/fmq_helpers.h"

#include "base/sys.h"

static atomic_bool enough;

static void *keeps_the_cpu(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough))
		;
	return NULL;
}

static void the_delay_grows_while_another_thread_has_the_cpu(void **state)
{
	uint64_t before = nnb__cpu_delay(), end = now_ns() + PATIENCE;
	cpu_set_t all;
	pthread_t other;

	(void)state;
	assert_true(before != UINT64_MAX);
	sched_getaffinity(0, sizeof(all), &all);
	pin(sched_getcpu());
	assert_int_equal(pthread_create(&other, NULL, keeps_the_cpu, NULL), 0); /* on the same cpu */
	while (nnb__cpu_delay() - before < 5 * MS && now_ns() < end)
		;
	atomic_store(&enough, true);
	pthread_join(other, NULL);
	sched_setaffinity(0, sizeof(all), &all);
	assert_in_range(nnb__cpu_delay() - before, 5 * MS, PATIENCE);
}

/* The kernel's count for the calling thread. */
static uint64_t counted_delay(void)
{
	unsigned long long ran, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	return waited;
}

struct asked {
	uint64_t before, delay, after;
};

static void *asks(void *arg)
{
	struct asked *a = arg;

	a->before = counted_delay();
	a->delay = nnb__cpu_delay();
	a->after = counted_delay();
	return (void *)(uintptr_t)nnb__this_thread();
}

static void threads_have_counts_of_their_own_and_leave_no_fd(void **state)
{
	struct asked asked;
	unsigned fds;
	void *thread;
	pthread_t other;

	(void)state;
	nnb__cpu_delay();
	fds = count_fds();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&other, NULL, asks, &asked), 0);
		pthread_join(other, &thread);
		assert_in_range(asked.delay, asked.before, asked.after);
		assert_true(thread && thread != nnb__this_thread());
	}
	assert_int_equal(count_fds(), fds);
}

int main(void)
{
	if (access("/proc/thread-self/schedstat", R_OK))
		return 77;
	add_test(the_delay_grows_while_another_thread_has_the_cpu, NULL, NULL, NULL,
	         "the delay grows while another thread has the cpu");
	add_test(threads_have_counts_of_their_own_and_leave_no_fd, NULL, NULL, NULL,
	         "threads have counts of their own, and leave nothing");
	return _cmocka_run_group_tests("cpu delay", tests, n_tests, NULL, NULL);
}
