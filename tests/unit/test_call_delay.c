/*
 * test_call_delay.c -- how long an app's thread had no cpu before it submitted, compared with the kernel's own
 * count for the thread. Unknown is reported as 0 turns: the first call of a thread, the first of a session, and
 * a call whose predecessor was not recorded.
 */
#include "unit/fmq_helpers.h"

#include <sys/wait.h>

#include "trace/trace.h"

enum { LATER = 1 << 30 };

static int on = 1, off;
static uint64_t session;
static struct nbt_exec_submit said;
static struct nbt_exec_client summed;

static void hear_submit(const void *event)
{
	said = *(const struct nbt_exec_submit *)event;
}

static void hear_return(const void *event)
{
	(void)event;
}

static void hear_client(const void *event)
{
	summed = *(const struct nbt_exec_client *)event;
}

static uint64_t session_number(void)
{
	return session;
}

static void hear_delays(const int *to)
{
	nbt__seam.listeners = session_number;
	nbt__seam.emit[NBT_EVENT_exec_submit] = hear_submit;
	nbt__seam.emit[NBT_EVENT_exec_return] = hear_return;
	nbt__seam.emit[NBT_EVENT_exec_client] = hear_client;
	nbt__seam.enabled[NBT_EVENT_exec_submit] = nbt__seam.enabled[NBT_EVENT_exec_return] = to;
	nbt__seam.enabled[NBT_EVENT_exec_client] = to;
}

static int set_up(void **state)
{
	(void)state;
	session += 1;
	said = (struct nbt_exec_submit){ .turns = 1000 };
	hear_delays(&on);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hear_delays(&off);
	return 0;
}

static void call_begin(struct nnb__call_trace *call, bool has_deadline)
{
	NNB__CALL_BEGIN(call, 1, .deadline_ns = has_deadline ? nnb__now() + LATER : 0);
}

/* A complete call. Returns its turns; 0: the time without a cpu is unknown. */
static uint32_t call(bool has_deadline)
{
	struct nnb__call_trace call = { .exec = 0 };

	call_begin(&call, has_deadline);
	nnb__call_end(&call, NNB_STATUS_NONE);
	assert_int_equal(summed.turns, said.turns);
	assert_int_equal(summed.delay_ns, said.delay_ns);
	assert_int_equal(summed.gap_ns, said.gap_ns);
	assert_true(said.turns ? said.gap_ns > 0 : !said.gap_ns && !said.delay_ns);
	return said.turns;
}

/* ---- as the kernel counts ---- */

struct counted {
	unsigned long long ran, delay, turns, at;
};

static struct counted count_now(void)
{
	struct counted c = { .at = now_ns() };
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu %llu %llu", &c.ran, &c.delay, &c.turns), 3);
	fclose(f);
	return c;
}

/*
 * Call, do @wait, and call again. The second call must report what lies between the kernel's counts within and
 * around @wait.
 */
static void held_against(void (*wait)(void), bool has_deadline, struct counted *ret_least)
{
	struct counted around[2], within[2];
	struct nnb__call_trace first = { .exec = 0 };

	call_begin(&first, true);
	around[0] = count_now();
	nnb__call_end(&first, NNB_STATUS_NONE);
	within[0] = count_now();
	wait();
	within[1] = count_now();
	assert_int_not_equal(call(has_deadline), 0);
	around[1] = count_now();
	*ret_least = (struct counted){ .delay = within[1].delay - within[0].delay,
		                       .turns = within[1].turns - within[0].turns };
	assert_in_range(said.gap_ns, within[1].at - within[0].at, around[1].at - around[0].at);
	assert_in_range(said.delay_ns, ret_least->delay, around[1].delay - around[0].delay);
	assert_in_range(said.turns, ret_least->turns + 1, around[1].turns - around[0].turns + 1);
}

static atomic_bool enough;

static void *keeps_the_cpu(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough))
		;
	return NULL;
}

static void until_it_was_kept_from_the_cpu(void)
{
	uint64_t before = count_now().delay, end = now_ns() + PATIENCE;

	while (count_now().delay - before < 5 * MS && now_ns() < end)
		;
}

static void a_thread_without_a_cpu_reports_for_how_long(void **state)
{
	struct counted least;
	cpu_set_t all;
	pthread_t other;

	(void)state;
	sched_getaffinity(0, sizeof(all), &all);
	pin(sched_getcpu());
	atomic_store(&enough, false);
	assert_int_equal(pthread_create(&other, NULL, keeps_the_cpu, NULL), 0); /* on the same cpu */
	held_against(until_it_was_kept_from_the_cpu, true, &least);
	atomic_store(&enough, true);
	pthread_join(other, NULL);
	sched_setaffinity(0, sizeof(all), &all);
	assert_in_range(least.delay, 5 * MS, PATIENCE);
	assert_true(said.delay_ns >= 5 * MS);
}

static void sleep_a_while(void)
{
	nap();
}

static void a_thread_that_slept_reports_no_delay(void **state)
{
	struct counted least;

	(void)state;
	held_against(sleep_a_while, true, &least);
	assert_true(said.turns >= 2); /* the thread left the cpu, and came back */
	held_against(sleep_a_while, false, &least);
	assert_true(said.turns >= 2);
}

/* ---- unknown delays ---- */

static void the_first_call_of_a_thread_reports_no_delay(void **state)
{
	(void)state;
	assert_int_equal(call(true), 0);
	assert_int_not_equal(call(true), 0);
}

static void the_first_call_of_a_session_reports_no_delay(void **state)
{
	(void)state;
	call(true);
	session++; /* calls between the two sessions are not recorded */
	assert_int_equal(call(true), 0);
	assert_int_not_equal(call(true), 0);
}

static void a_thread_without_deadlines_is_not_measured(void **state)
{
	(void)state;
	assert_int_equal(call(false), 0);
	assert_int_equal(call(false), 0);
	assert_int_equal(call(true), 0);
	assert_int_not_equal(call(false), 0);
}

/* The thread that receives the answer did not submit the call. */
static void *ends_it(void *arg)
{
	nnb__call_end(arg, NNB_STATUS_NONE);
	return NULL;
}

static void an_answer_on_another_thread_changes_nothing(void **state)
{
	struct nnb__call_trace first = { .exec = 0 };
	pthread_t other;

	(void)state;
	call_begin(&first, true);
	assert_int_equal(pthread_create(&other, NULL, ends_it, &first), 0);
	pthread_join(other, NULL);
	assert_int_not_equal(call(true), 0); /* since the call that it submitted */
}

static void *calls_once(void *arg)
{
	(void)arg;
	return (void *)(uintptr_t)call(true);
}

static void another_thread_has_a_count_of_its_own(void **state)
{
	pthread_t other;
	void *turns;

	(void)state;
	call(true);
	assert_int_equal(pthread_create(&other, NULL, calls_once, NULL), 0);
	pthread_join(other, &turns);
	assert_null(turns);
	assert_int_not_equal(call(true), 0);
}

/* The child inherits an open file that is about the parent's thread. */
static void a_forked_child_has_a_count_of_its_own(void **state)
{
	struct nnb__cpu_stat stat;
	unsigned fds;
	int status;
	pid_t child;

	(void)state;
	call(true);
	fds = count_fds();
	child = fork();
	if (!child) {
		must(count_fds() == fds - 1);
		must(call(true) == 0);
		must(call(true) != 0);
		for (int i = 0; i < 100; i++)
			sched_yield();
		must(nnb__cpu_stat(&stat) && !stat.is_first);
		must(stat.turns <= count_now().turns);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(count_fds(), fds);
	assert_int_not_equal(call(true), 0);
}

#define ADD(function) add_test(function, set_up, tear_down, NULL, #function)

int main(void)
{
	if (access("/proc/thread-self/schedstat", R_OK))
		return 77;
	/* must be the first test, because all tests run on one thread */
	ADD(the_first_call_of_a_thread_reports_no_delay);
	ADD(the_first_call_of_a_session_reports_no_delay);
	ADD(a_thread_without_a_cpu_reports_for_how_long);
	ADD(a_thread_that_slept_reports_no_delay);
	ADD(an_answer_on_another_thread_changes_nothing);
	ADD(another_thread_has_a_count_of_its_own);
	ADD(a_thread_without_deadlines_is_not_measured);
	ADD(a_forked_child_has_a_count_of_its_own);
	return _cmocka_run_group_tests("call delay", tests, n_tests, NULL, NULL);
}
