/* test_case_lines.c -- lines of analyzer/timeline.h that cannot be read end the program, so that no typo is a test. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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

#include "analyzer/timeline.h"
#include "base.h"

static const struct refused {
	const char *name, *text;
} refused[] = {
	{ "an unknown end", "1ms 1:1 dies=slot" },
	{ "an unknown side", "1ms 1:1 side=clients" },
	{ "an unknown field", "1ms 1:1 prio=2" },
	{ "a word that is no field", "1ms 1:1 high" },
	{ "an execution with letters", "1ms 1:7x" },
	{ "an execution without a number", "1ms 1:" },
	{ "a stream beyond 32 bits", "1ms 4294967296:1" },
	{ "no executions", "1ms 1:1 x0" },
	{ "a loss of nine executions", "lose 1ms 2ms 1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8 1:9" },
	{ "a loss without an end", "lose 1ms" },
	{ "a start without a time", "start" },
	{ "a value that is missing", "1ms 1:1 deadline=" },
	{ "a list with a hole", "1ms 1:1 run=1,,2 off=1,1" },
	{ "an unknown unit", "1m 1:1" },
	{ "a time beyond 64 bits", "99999999999s 1:1" },
	{ "an unknown path", "1ms stream_open stream=1 conn=1 path=bursts" },
	{ "an unknown priority", "1ms model_prepare model=1 conn=1 priority=lowest" },
	{ "a stream that is no number", "1ms stream_open stream=one conn=1 path=burst" },
};

static void is_refused(void **state)
{
	const struct refused *r = *state;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		const struct rlimit none = { 0, 0 };
		int fd = open("/dev/null", O_WRONLY);

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		dup2(fd, STDERR_FILENO);
		free(timeline(r->text, TIMELINE_FULL));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void long_words_and_events_are_refused(void **state)
{
	char text[1024];
	struct refused r = { .text = text };
	void *of = &r;

	(void)state;
	snprintf(text, sizeof(text), "1ms 1:1 deadline=%0300d", 1);
	is_refused(&of);
	snprintf(text, sizeof(text), "1ms client_connect %0200d %0200d %0200d", 1, 1, 1);
	is_refused(&of);
}

/* Numbers that are equal in their last six bits are of different streams all the same. */
static void each_stream_has_facts_of_its_own(void **state)
{
	char *text = timeline("0 client_connect conn=1 app=1000\n"
	                      "0 model_prepare model=1 conn=1 priority=high\n"
	                      "0 model_prepare model=65 conn=1 priority=low\n"
	                      "0 stream_open stream=1 conn=1 model=1 path=burst\n"
	                      "0 stream_open stream=65 conn=1 model=65 path=burst # of another model\n"
	                      "0 stream_open stream=66 path=burst\n"
	                      "0 stream_open stream=67 conn=1 model=65 path=burst\n"
	                      "1ms 1:1 run=1ms queue=1us\n"
	                      "5ms 66:1 run=1ms queue=1us\n",
	                      TIMELINE_FULL);

	(void)state;
	assert_non_null(strstr(text, "exec=4294967297 model=1 app=1000 priority=2 "));
	assert_non_null(strstr(text, "exec=283467841537 model=0 app=0 priority=0 "));
	free(text);
}

int main(void)
{
	struct CMUnitTest tests[N_OF(refused) + 2];
	size_t n = 0;

	for (; n < N_OF(refused); n++)
		tests[n] = (struct CMUnitTest){ .name = refused[n].name,
			                        .test_func = is_refused,
			                        .initial_state = (void *)&refused[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(long_words_and_events_are_refused);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(each_stream_has_facts_of_its_own);
	return _cmocka_run_group_tests("lines of cases", tests, n, NULL, NULL);
}
