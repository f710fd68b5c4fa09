/* test_discover.c -- the search for traces: directories that are traces, and paths for which that is unknown. */
#include "decode/discover.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STRANGER = 65534 };

static char directory[64], trace[PATH_MAX], metadata[PATH_MAX];

static int make_trace(void **state)
{
	int fd;

	(void)state;
	strcpy(directory, "/tmp/test_discover.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(trace, sizeof(trace), "%s/trace", directory);
	snprintf(metadata, sizeof(metadata), "%s/trace/metadata", directory);
	assert_int_equal(mkdir(trace, 0700), 0);
	fd = open(metadata, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int remove_trace(void **state)
{
	(void)state;
	chmod(trace, 0700);
	unlink(metadata);
	rmdir(trace);
	return rmdir(directory);
}

/* NULL: one trace is found, @trace; otherwise the error contains @words. Prints the difference. */
static bool finds(const char *words)
{
	struct bsa_places places = { 0 };
	struct bsa_err err = { "" };
	int r = bsa_discover(&places, (const char *[]){ directory }, 1, &err);
	bool right = words ? r == BSA_E_INPUT && strstr(err.text, words)
	                   : r == 0 && places.n == 1 && !strcmp(places.paths[0], trace);

	if (!right)
		print_error("%d: %zu traces, '%s'\n", r, places.n, err.text);
	bsa_places_fini(&places);
	return right;
}

static void a_directory_with_a_file_named_metadata_is_a_trace(void **state)
{
	(void)state;
	assert_true(finds(NULL));
}

static void a_dangling_link_is_not_metadata(void **state)
{
	(void)state;
	unlink(metadata);
	assert_true(finds("no directory there has a file named metadata"));
	assert_int_equal(symlink("missing", metadata), 0);
	assert_true(finds("no directory there has a file named metadata"));
	unlink(metadata);
	assert_int_equal(symlink("metadata", metadata), 0);
	assert_true(finds("no directory there has a file named metadata"));
}

/* Root may search every directory, so the test becomes another user. */
static void a_directory_that_cannot_be_searched_may_be_a_trace(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (!geteuid())
		assert_int_equal(chown(directory, STRANGER, STRANGER) | chown(trace, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(trace, 0400), 0);
	pid = fork();
	if (!pid) {
		if (!geteuid() && (setgid(STRANGER) || setuid(STRANGER)))
			_exit(2);
		_exit(!finds("trace cannot be read: Permission denied"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
#define WITH_TRACE(f) cmocka_unit_test_setup_teardown(f, make_trace, remove_trace)
	const struct CMUnitTest tests[] = {
		WITH_TRACE(a_directory_with_a_file_named_metadata_is_a_trace),
		WITH_TRACE(a_dangling_link_is_not_metadata),
		WITH_TRACE(a_directory_that_cannot_be_searched_may_be_a_trace),
	};

	return cmocka_run_group_tests_name("discover", tests, NULL, NULL);
}
