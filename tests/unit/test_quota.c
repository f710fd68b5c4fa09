/*
 * test_quota.c -- quotas divide what the machine has among apps: by hand, and in random worlds in which apps
 * take all they can.
 */
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "service/quota.h"

enum { APPS = 100 };

static uint64_t chance(uint64_t *seed, uint64_t n)
{
	return (xorshift_star_next(seed) >> 11) % n;
}

static enum nnb__quota_answer take(struct nnb__quota *q, struct nnb__quota_held *held, uint64_t n)
{
	enum nnb__quota_answer answer = nnb__quota_asks(q, held, n);

	if (answer == NNB__QUOTA_HAS)
		nnb__quota_take(q, held, n);
	return answer;
}

/* Take steps of @n until the quota refuses. */
static uint64_t take_all(struct nnb__quota *q, struct nnb__quota_held *held, uint64_t n)
{
	while (take(q, held, n) == NNB__QUOTA_HAS)
		;
	return held->units;
}

static void one_app_has_a_quarter_at_most(void **state)
{
	struct nnb__quota_held app = { .guaranteed = true };
	struct nnb__quota q;

	(void)state;
	nnb__quota_init(&q, 12800);
	assert_int_equal(take_all(&q, &app, 1), 3200);
	assert_int_equal(nnb__quota_asks(&q, &app, 1), NNB__QUOTA_OWN);
	assert_int_equal(nnb__quota_asks(&q, &app, UINT64_MAX), NNB__QUOTA_OWN);
}

static void a_late_app_has_its_guarantee_and_the_service_its_quarter(void **state)
{
	struct nnb__quota_held apps[APPS] = { { 0 } };
	uint64_t sum = 0;
	struct nnb__quota q;

	(void)state;
	nnb__quota_init(&q, 12800);
	for (int i = 0; i < APPS; i++) {
		apps[i].guaranteed = i < NNB__QUOTA_APPS;
		take_all(&q, &apps[i], 7);
		take_all(&q, &apps[i], 1);
	}
	for (int i = 0; i < APPS; i++) {
		sum += apps[i].units;
		if (i < NNB__QUOTA_APPS)
			assert_true(apps[i].units >= 100);
		else
			assert_int_equal(apps[i].units, 0);
	}
	assert_int_equal(sum, 9600);
	assert_int_equal(q.used, sum);
	assert_int_equal(q.shared_used, q.shared);
}

/* A limit too small to guarantee anything to an app, and a limit so large that nothing is refused. */
static void the_smallest_and_the_largest_limit_are_limits(void **state)
{
	struct nnb__quota_held app = { .guaranteed = true };
	struct nnb__quota q;

	(void)state;
	nnb__quota_init(&q, 8);
	assert_int_equal(take_all(&q, &app, 1), 2);
	nnb__quota_init(&q, UINT64_MAX);
	app.units = 0;
	assert_int_equal(take(&q, &app, UINT64_MAX / 8), NNB__QUOTA_HAS);
	nnb__quota_give(&q, &app, UINT64_MAX / 8);
	assert_int_equal(q.shared_used, 0);
	nnb__quota_init_of_apps(&q, 256);
	assert_int_equal(take_all(&q, &app, 1), 2 + 128);
	assert_int_equal(nnb__quota_asks(&q, &app, 1), NNB__QUOTA_SHARED);
}

static void look(const struct nnb__quota *q, const struct nnb__quota_held *apps)
{
	uint64_t sum = 0, shared = 0;

	for (int i = 0; i < APPS; i++) {
		uint64_t own = apps[i].guaranteed ? q->guaranteed : 0;

		sum += apps[i].units;
		shared += apps[i].units > own ? apps[i].units - own : 0;
		assert_true(apps[i].units <= q->limit / 4);
		if (apps[i].guaranteed && apps[i].units < q->guaranteed)
			assert_int_equal(nnb__quota_asks(q, &apps[i], q->guaranteed - apps[i].units), NNB__QUOTA_HAS);
	}
	assert_int_equal(sum, q->used);
	assert_int_equal(shared, q->shared_used);
	assert_true(sum <= q->limit - q->limit / 4);
}

static void guarantees_hold_in_any_world(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct nnb__quota_held apps[APPS] = { { 0 } };
		uint64_t random = seed * 77, limit = 1 + chance(&random, 100000);
		struct nnb__quota q;

		nnb__quota_init(&q, limit);
		for (int i = 0; i < NNB__QUOTA_APPS; i++)
			apps[i].guaranteed = true;
		for (int step = 0; step < 3000; step++) {
			struct nnb__quota_held *app = &apps[chance(&random, APPS)];
			uint64_t n = 1 + chance(&random, limit / 50 + 1);

			if (chance(&random, 4))
				take(&q, app, n);
			else
				nnb__quota_give(&q, app, n < app->units ? n : app->units);
			if (step % 50 == 0)
				look(&q, apps);
		}
	}
}

static void the_machine_s_limits_are_read(void **state)
{
	struct rlimit was, less;
	const char *name;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	less = was;
	less.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
	assert_int_equal(nnb__machine_descriptors(), 100);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_true(nnb__machine_mappings() >= 1000 && nnb__machine_mappings() < UINT64_C(1) << 32);
	assert_true(nnb__machine_threads(&name) >= 10 && nnb__machine_threads(&name) < UINT64_C(1) << 32);
	assert_true(strlen(name) > 0);
	assert_true(nnb__machine_memory() >= 1 << 20 && nnb__machine_memory() < UINT64_C(1) << 50);
}

/*
 * The service has no threads of the user's other processes, so at the limit only the process's own threads
 * are left.
 */
static void other_processes_of_the_user_leave_less_threads(void **state)
{
	const struct rlimit limit = { 60, 60 };
	const char *name = NULL;
	int status, ends[2];
	pid_t pid, other;
	uid_t user = 40000 + (uid_t)getpid() % 20000; /* a user that no other test has */
	uint64_t most;
	char byte;

	(void)state;
	if (geteuid())
		skip(); /* only root can become a user without other processes */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgroups(0, NULL) || setgid(user) || setuid(user) || setrlimit(RLIMIT_NPROC, &limit))
			_exit(1);
		if (nnb__machine_threads(&name) != 60 || strcmp(name, "RLIMIT_NPROC") != 0)
			_exit(2);
		other = fork();
		if (!other) {
			close(ends[1]);
			_exit(read(ends[0], &byte, 1) != 0);
		}
		most = nnb__machine_threads(&name);
#ifdef __SANITIZE_THREAD__ /* which may have a thread of its own in @other by now */
		most += most == 58;
#endif
		if (most != 59)
			_exit(3);
		close(ends[1]);
		_exit(waitpid(other, &status, 0) != other || status ? 4 : 0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ends[0]);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_app_has_a_quarter_at_most),
		cmocka_unit_test(a_late_app_has_its_guarantee_and_the_service_its_quarter),
		cmocka_unit_test(the_smallest_and_the_largest_limit_are_limits),
		cmocka_unit_test(guarantees_hold_in_any_world),
		cmocka_unit_test(the_machine_s_limits_are_read),
		cmocka_unit_test(other_processes_of_the_user_leave_less_threads),
	};

	return cmocka_run_group_tests_name("quota: what the machine has is shared out", tests, NULL, NULL);
}
