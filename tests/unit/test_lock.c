/* test_lock.c -- the asserts of functions that are called under a lock fail in a thread that does not hold it. */
#include "base/lock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_changed;

static void *another_asks(void *ret)
{
	*(bool *)ret = nnb__is_locked(&lock);
	return NULL;
}

static bool another_holds(void)
{
	bool answer = true;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, another_asks, &answer), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	return answer;
}

static void only_the_thread_that_locked_holds_the_lock(void **state)
{
	(void)state;
	assert_false(nnb__is_locked(&lock));
	pthread_mutex_lock(&lock);
	assert_true(nnb__is_locked(&lock));
	assert_false(another_holds());
	pthread_mutex_unlock(&lock);
	assert_false(nnb__is_locked(&lock));
}

static void *change(void *arg)
{
	pthread_mutex_lock(&lock);
	is_changed = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void a_thread_that_waited_for_a_change_holds_the_lock_again(void **state)
{
	pthread_t thread;

	(void)state;
	pthread_mutex_lock(&lock);
	assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
	while (!is_changed)
		pthread_cond_wait(&changed, &lock);
	assert_true(nnb__is_locked(&lock));
	pthread_mutex_unlock(&lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_forked_child_holds_what_it_has_locked_itself(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		pthread_mutex_lock(&lock);
		_exit(nnb__is_locked(&lock) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_thread_that_locked_holds_the_lock),
		cmocka_unit_test(a_thread_that_waited_for_a_change_holds_the_lock_again),
		cmocka_unit_test(a_forked_child_holds_what_it_has_locked_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
