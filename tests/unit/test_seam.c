/*
 * test_seam.c -- the seam: off, it does nothing; on, it passes on what it is given; and which providers it
 * accepts.
 *
 * A provider stays loaded, so each test has a process of its own. The provider is one of the tests' own,
 * because only the seam is tested here: tests/e2e/tracepoints.sh listens with LTTng.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/provider_fake.h"

static int evaluated;

static uint64_t count(uint64_t n)
{
	evaluated++;
	return n;
}

static void emit_one(uint64_t exec)
{
	NBT(exec_end, .exec = count(exec), .lane = 3, .status = NBT_status_dead_object, .ops_run = 7,
	    .cpu_ns = UINT64_MAX);
}

/* Run @body in a process of its own; its return value is the exit status. */
static void run_apart(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define NOT_SO(condition)                                                          \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "%d: not so: %s\n", __LINE__, #condition); \
			return 1;                                                  \
		}                                                                  \
	} while (0)

/* ---- off ---- */

static int off_body(void)
{
	uint64_t seen = 0;

	emit_one(1);
	NOT_SO(evaluated == 0);
	NOT_SO(!nbt_on(NBT_EVENT_exec_end));
	NOT_SO(!nbt_news(&seen));
	return 0;
}

static void without_a_provider_nothing_is_evaluated(void **state)
{
	(void)state;
	run_apart(off_body);
}

#ifndef NBT_OFF

static int loaded_body(void)
{
	struct fake *fake;

	NOT_SO(nbt_open(PROVIDER_FAKE, NULL) == 0);
	NOT_SO((fake = fake_of(PROVIDER_FAKE)));
	emit_one(1);
	NOT_SO(evaluated == 0 && fake->heard == 0);
	fake->on[NBT_EVENT_exec_return] = 1; /* another one */
	emit_one(1);
	NOT_SO(evaluated == 0 && fake->heard == 0);
	return 0;
}

static void without_a_listener_no_field_is_evaluated(void **state)
{
	(void)state;
	run_apart(loaded_body);
}

/* ---- on ---- */

static int on_body(void)
{
	struct nbt_exec_end e;
	struct fake *fake;

	NOT_SO(nbt_open(PROVIDER_FAKE, NULL) == 0);
	NOT_SO((fake = fake_of(PROVIDER_FAKE)));
	fake->on[NBT_EVENT_exec_end] = 1;
	emit_one(0x123456789abcdef0);
	NOT_SO(evaluated == 1 && fake->heard == 1 && fake->last == NBT_EVENT_exec_end);
	memcpy(&e, fake->bytes, sizeof(e));
	NOT_SO(e.exec == 0x123456789abcdef0 && e.lane == 3 && e.status == 9 && e.ops_run == 7);
	NOT_SO(e.cpu_ns == UINT64_MAX && e.redo_ns == 0); /* a field that is left out is zero */
	fake->on[NBT_EVENT_exec_end] = 0;
	emit_one(1);
	NOT_SO(evaluated == 1 && fake->heard == 1);
	return 0;
}

static void an_event_has_the_fields_it_was_given(void **state)
{
	(void)state;
	run_apart(on_body);
}

static int news_body(void)
{
	struct fake *fake;
	uint64_t seen = 0;

	NOT_SO(nbt_open(PROVIDER_FAKE, NULL) == 0);
	NOT_SO((fake = fake_of(PROVIDER_FAKE)));
	fake->listeners = 1;
	NOT_SO(!nbt_news(&seen)); /* there is a listener, but no event is enabled */
	fake->on[NBT_EVENT_service_state] = 1;
	NOT_SO(nbt_news(&seen));
	NOT_SO(!nbt_news(&seen));
	fake->listeners = 2;
	NOT_SO(nbt_news(&seen));
	NOT_SO(!nbt_news(&seen));
	return 0;
}

static void a_new_listener_is_news_once(void **state)
{
	(void)state;
	run_apart(news_body);
}

static int other_body(void)
{
	struct fake *fake;

	NOT_SO(nbt_open(PROVIDER_OTHER, NULL) == 0);
	NOT_SO((fake = fake_of(PROVIDER_OTHER)));
	fake->on[NBT_EVENT_checkpoint] = fake->on[NBT_EVENT_exec_end] = 1;
	NBT(checkpoint, .exec = count(1));
	NOT_SO(evaluated == 0 && fake->heard == 0);
	emit_one(1);
	NOT_SO(evaluated == 1 && fake->heard == 1);
	return 0;
}

static void an_event_that_the_provider_knows_otherwise_stays_off(void **state)
{
	(void)state;
	run_apart(other_body);
}

/* ---- which providers the seam accepts ---- */

static char copy[] = "/tmp/nbt-provider-XXXXXX";

/* A file of this user with the bytes of @from. */
static void copy_of(const char *from, mode_t mode)
{
	int in = open(from, O_RDONLY), out;
	char buffer[65536];
	ssize_t n;

	strcpy(copy + strlen(copy) - 6, "XXXXXX");
	out = mkstemp(copy);
	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, (size_t)n), n);
	assert_int_equal(fchmod(out, mode), 0);
	close(in);
	close(out);
}

static int open_copy(void)
{
	const char *why = "";
	int r = nbt_open(copy, &why);

	NOT_SO(r == 0 || *why);
	return -r;
}

static int answer_apart(int (*body)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(body());
	waitpid(pid, &status, 0);
	unlink(copy);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : 1;
}

static void a_file_that_others_can_write_is_not_loaded(void **state)
{
	static const struct {
		mode_t mode;
		int r;
	} rows[] = { { 0755, 0 }, { 0600, 0 }, { 0775, -EPERM }, { 0757, -EPERM } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		copy_of(PROVIDER_FAKE, rows[i].mode);
		assert_int_equal(answer_apart(open_copy), rows[i].r);
	}
}

static int as_another_user(void)
{
	return setgid(65534) || setuid(65534) ? 1 : open_copy();
}

static void a_file_of_another_user_is_not_loaded(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	copy_of(PROVIDER_FAKE, 0755); /* root's, and executable by all users */
	assert_int_equal(answer_apart(as_another_user), 0);
	copy_of(PROVIDER_FAKE, 0755);
	assert_int_equal(chown(copy, 65533, 65533), 0);
	assert_int_equal(answer_apart(as_another_user), -EPERM);
	copy_of(PROVIDER_FAKE, 0755);
	assert_int_equal(chown(copy, 65533, 65533), 0);
	assert_int_equal(answer_apart(open_copy), -EPERM); /* root may not load it either */
}

static void an_invalid_provider_is_reported(void **state)
{
	(void)state;
	copy_of("/proc/self/comm", 0755); /* not a shared object */
	assert_int_equal(answer_apart(open_copy), -ELIBACC);
	copy_of(NO_PROVIDER, 0755); /* a shared object that is no provider */
	assert_int_equal(answer_apart(open_copy), -ELIBACC);
	copy_of(PROVIDER_OLD, 0755); /* one for another seam */
	assert_int_equal(answer_apart(open_copy), -ELIBACC);
	copy_of(PROVIDER_FAKE, 0755);
	unlink(copy);
	assert_int_equal(answer_apart(open_copy), -ENOENT);
}

static int by_environment(void)
{
	NOT_SO(!setenv("NNBURST_TRACEPOINTS", PROVIDER_FAKE, 1));
	NOT_SO(nbt_open("/nonexistent", NULL) == 0);
	NOT_SO(fake_of(PROVIDER_FAKE));
	return 0;
}

static int by_empty_environment(void)
{
	NOT_SO(!setenv("NNBURST_TRACEPOINTS", "", 1));
	NOT_SO(nbt_open(PROVIDER_FAKE, NULL) == -ENOENT);
	NOT_SO(!fake_of(PROVIDER_FAKE));
	return 0;
}

static void the_environment_names_the_provider_or_none(void **state)
{
	(void)state;
	run_apart(by_environment);
	run_apart(by_empty_environment);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_provider_nothing_is_evaluated),
#ifndef NBT_OFF
		cmocka_unit_test(without_a_listener_no_field_is_evaluated),
		cmocka_unit_test(an_event_has_the_fields_it_was_given),
		cmocka_unit_test(a_new_listener_is_news_once),
		cmocka_unit_test(an_event_that_the_provider_knows_otherwise_stays_off),
		cmocka_unit_test(a_file_that_others_can_write_is_not_loaded),
		cmocka_unit_test(a_file_of_another_user_is_not_loaded),
		cmocka_unit_test(an_invalid_provider_is_reported),
		cmocka_unit_test(the_environment_names_the_provider_or_none),
#endif
	};

	unsetenv("NNBURST_TRACEPOINTS");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
