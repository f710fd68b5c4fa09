/* test_cpu_delay.c -- how long a thread was ready and had no cpu: that grows while another thread has it, and leaves nothing behind. */
#include "unit/fmq_helpers.h"

#include "fmq/sys.h"

static atomic_bool enough;

static void *keeps_the_cpu(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough))
		;
	return NULL;
}

static void it_grows_while_another_thread_has_the_cpu(void **state)
{
	uint64_t before = nnb__cpu_delay(), end = now_ns() + PATIENCE;
	cpu_set_t all;
	pthread_t other;

	(void)state;
	assert_true(before != UINT64_MAX);
	sched_getaffinity(0, sizeof(all), &all);
	pin(sched_getcpu());
	assert_int_equal(pthread_create(&other, NULL, keeps_the_cpu, NULL), 0); /* on the same one */
	while (nnb__cpu_delay() - before < 5 * MS && now_ns() < end)
		;
	atomic_store(&enough, true);
	pthread_join(other, NULL);
	sched_setaffinity(0, sizeof(all), &all);
	assert_in_range(nnb__cpu_delay() - before, 5 * MS, PATIENCE);
}

static void *asks(void *arg)
{
	*(uint64_t *)arg = nnb__cpu_delay();
	assert_true(nnb__this_thread() != NULL);
	return (void *)(uintptr_t)nnb__this_thread();
}

static void threads_have_counts_of_their_own_and_leave_nothing(void **state)
{
	uint64_t delay = UINT64_MAX;
	unsigned fds;
	void *thread;
	pthread_t other;

	(void)state;
	nnb__cpu_delay();
	fds = count_fds();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&other, NULL, asks, &delay), 0);
		pthread_join(other, &thread);
		assert_true(delay < nnb__cpu_delay()); /* it had just begun */
		assert_true(thread != nnb__this_thread());
	}
	assert_int_equal(count_fds(), fds);
}

int main(void)
{
	if (access("/proc/thread-self/schedstat", R_OK))
		return 77;
	add_test(it_grows_while_another_thread_has_the_cpu, NULL, NULL, NULL,
	         "it grows while another thread has the cpu");
	add_test(threads_have_counts_of_their_own_and_leave_nothing, NULL, NULL, NULL,
	         "threads have counts of their own, and leave nothing");
	return _cmocka_run_group_tests("cpu delay", tests, n_tests, NULL, NULL);
}
