/*
 * test_output.c -- the file that an answer goes to: written whole or not at all; a pipe or a device is
 * written to unless another user made it.
 */
#include "export/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { STRANGER = 65534 };

static char directory[64], path[PATH_MAX];

/* Stands for another user: runs just before, or just after, the look at the directory's entry. */
static void (*before_look)(void), (*after_look)(void);

/* Replaces the C library's. */
int lstat(const char *name, struct stat *ret)
{
	int r, error;

	if (before_look)
		before_look();
	r = fstatat(AT_FDCWD, name, ret, AT_SYMLINK_NOFOLLOW);
	error = errno;
	if (after_look)
		after_look();
	errno = error;
	return r;
}

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/test_output.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/out", directory);
	return 0;
}

static int remove_directory(void **state)
{
	static const char *const names[] = { "out", "other", "fifo" };

	(void)state;
	before_look = after_look = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		unlink(path);
	}
	return rmdir(directory); /* nothing else is left there */
}

static int writes_hello(void *ctx, FILE *to, struct bsa_err *err)
{
	(void)ctx;
	(void)err;
	return fputs("hello", to) < 0 ? BSA_E_ENV : 0;
}

/* @fd's file holds "hello". */
static void expect_hello(int fd)
{
	char text[8] = "";

	assert_int_equal(read(fd, text, sizeof(text) - 1), 5);
	assert_string_equal(text, "hello");
}

static void a_file_is_replaced_and_a_link_to_another_file_too(void **state)
{
	char other[PATH_MAX];
	struct stat st;
	int fd;

	(void)state;
	snprintf(other, sizeof(other), "%s/other", directory);
	fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(bsv_output_write(path, writes_hello, NULL, NULL), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	expect_hello(fd);
	close(fd);
}

static void a_pipe_of_ones_own_is_written(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(bsv_output_write(path, writes_hello, NULL, NULL), 0);
	expect_hello(fd);
	close(fd);
}

static void a_link_of_ones_own_to_a_pipe_of_another_user_is_written(void **state)
{
	char fifo[PATH_MAX];
	int fd;

	(void)state;
	if (geteuid())
		skip(); /* only root can make files of other users */
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(chown(fifo, STRANGER, STRANGER), 0);
	assert_int_equal(symlink(fifo, path), 0);
	fd = open(fifo, O_RDWR | O_CLOEXEC);
	assert_int_equal(bsv_output_write(path, writes_hello, NULL, NULL), 0);
	expect_hello(fd);
	close(fd);
}

/* Nothing reads from the pipe: a writer would wait for ever. */
static void a_pipe_of_another_user_is_refused(void **state)
{
	struct bsa_err err = { "" };

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	assert_int_equal(bsv_output_write(path, writes_hello, NULL, &err), BSA_E_ENV);
	assert_non_null(strstr(err.text, "belongs to another user"));
}

static void a_link_of_another_user_to_a_device_is_refused(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
	assert_int_equal(bsv_output_write(path, writes_hello, NULL, NULL), BSA_E_ENV);
}

static void remove_entry(void)
{
	assert_int_equal(unlink(path), 0);
}

static void link_to_other_file(void)
{
	char other[PATH_MAX];

	unlink(path);
	snprintf(other, sizeof(other), "%s/other", directory);
	assert_int_equal(symlink(other, path), 0);
}

/* The answer's file is a pipe at first; the other file must keep its text. */
static void expect_other_file_kept(void)
{
	char other[PATH_MAX], text[8] = "";
	int fd, r;

	snprintf(other, sizeof(other), "%s/other", directory);
	fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	assert_int_equal(mkfifo(path, 0600), 0);
	r = bsv_output_write(path, writes_hello, NULL, NULL);
	assert_int_equal(pread(fd, text, 8, 0), 8);
	close(fd);
	assert_memory_equal(text, "precious", 8);
	assert_int_equal(r, BSA_E_ENV);
}

static void a_pipe_that_is_gone_when_its_owner_is_asked_for_is_not_written(void **state)
{
	(void)state;
	before_look = remove_entry;
	after_look = link_to_other_file;
	expect_other_file_kept();
}

static void a_pipe_that_becomes_a_link_before_it_is_opened_is_not_written(void **state)
{
	(void)state;
	after_look = link_to_other_file;
	expect_other_file_kept();
}

int main(void)
{
#define IN_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, make_directory, remove_directory)
	const struct CMUnitTest tests[] = {
		IN_DIRECTORY(a_file_is_replaced_and_a_link_to_another_file_too),
		IN_DIRECTORY(a_pipe_of_ones_own_is_written),
		IN_DIRECTORY(a_link_of_ones_own_to_a_pipe_of_another_user_is_written),
		IN_DIRECTORY(a_pipe_of_another_user_is_refused),
		IN_DIRECTORY(a_link_of_another_user_to_a_device_is_refused),
		IN_DIRECTORY(a_pipe_that_is_gone_when_its_owner_is_asked_for_is_not_written),
		IN_DIRECTORY(a_pipe_that_becomes_a_link_before_it_is_opened_is_not_written),
	};

	alarm(60); /* if the writer waits for a reader, the alarm fails the test */
	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
