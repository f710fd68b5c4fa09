/*
 * test_narrow.c -- output on a narrow terminal (options/narrow.h): a table is split into parts, and lines
 * break between words.
 */
#include "abort_unless.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options/narrow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct {
	const char *name, *printed;
	size_t width;
	const char *shown;
} rows[] = {
	{ "in a file a table stays whole", "app   \v   n\v  p99\n", 0, "app       n   p99\n" },
	{ "a table that fits stays as it is", "app   \v   n\v  p99\nx     \v   1\v    2\n", 17,
	  "app       n   p99\nx         1     2\n" },
	{ "a wider one is printed in parts, each with the names of its rows",
	  "app   \v   n\v  p99\nx     \v   1\v    2\n", 16,
	  "app       n\nx         1\n\napp      p99\nx          2\n" },
	{ "a part has as many columns as there is room for", "a\v11\v22\v33\v44\nb\v 1\v 2\v 3\v 4\n", 8,
	  "a 11 22\nb  1  2\n\na 33 44\nb  3  4\n" },
	{ "a column that has no room by itself is printed all the same", "name\v12345678901234567890\v1\n", 10,
	  "name 12345678901234567890\n\nname 1\n" },
	{ "a number that is too long for its cell moves no other", "a\v 1\v 2\nb\v12345\v 2\nc\v 1\v 2\n", 8,
	  "a     1\nb 12345\nc     1\n\na  2\nb  2\nc  2\n" },
	{ "a row that ends early ends early", "app\v   1\v   2\nx  \v   -\n", 8,
	  "app    1\nx      -\n\napp    2\nx\n" },
	{ "a head in two lines is one head", "app\vmissed\vlate\n   \vtrans.\v    \nx  \v     1\v   2\n", 12,
	  "app missed\n    trans.\nx        1\n\napp late\n\nx      2\n" },
	{ "letters count, not bytes", "\u00fc\v12\n", 4, "\u00fc 12\n" },
	{ "lines between tables end one table", "a\v1\v2\n\nb\v3\v4\n", 3, "a 1\n\na 2\n\nb 3\n\nb 4\n" },
	{ "another line is broken between words", "one app that asks for little\n", 14,
	  "one app that\n  asks for\n  little\n" },
	{ "the text behind a name goes on below itself", "app   asks for all it can\n", 18,
	  "app   asks for all\n      it can\n" },
	{ "but not behind a long name", "background   all it can\n", 18, "background   all\n  it can\n" },
	{ "a word that is too long stays whole", "a supercalifragilistic word\n", 10,
	  "a\n  supercalifragilistic\n  word\n" },
	{ "a line of one word stays whole", "supercalifragilistic\n", 10, "supercalifragilistic\n" },
	{ "blanks at the begin are no place to break", "    1048.6   14 ####\n", 14, "    1048.6\n  14 ####\n" },
	{ "an empty line stays", "\n\n", 10, "\n\n" },
	{ "without a line end, there is one", "word", 10, "word\n" },
};

static void is_shown(void **state)
{
	const size_t i = (size_t)*state;
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	abort_unless(f);
	narrow_print(f, rows[i].printed, strlen(rows[i].printed), rows[i].width);
	fclose(f);
	assert_string_equal(text, rows[i].shown);
	free(text);
}

/*
 * The kept text is printed at the end, and nothing else is. Here it goes into a pipe, where blanks separate
 * cells.
 */
static void what_is_kept_is_printed_at_the_end(void **state)
{
	struct narrow narrow;
	char *text = NULL;
	size_t n = 0;
	FILE *real = stdout, *f = open_memstream(&text, &n);

	(void)state;
	abort_unless(f);
	stdout = f;
	narrow_begin(&narrow);
	printf("a\vb");
	puts("\vc");
	fflush(f);
	assert_int_equal(n, 0);
	narrow_end(&narrow);
	assert_ptr_equal(stdout, f);
	stdout = real;
	fclose(f);
	assert_string_equal(text, "a b c\n");
	free(text);
}

/* In another process, because the standard output becomes a terminal of 20 columns. */
static void a_table_fits_the_columns_of_its_terminal(void **state)
{
	static const char wanted[] = "app       n   p99\r\nx         1     2\r\n\r\napp     max\r\nx         3\r\n";
	char got[256] = "";
	const struct winsize size = { .ws_row = 24, .ws_col = 20 };
	size_t n = 0;
	pid_t child;
	int fd, status;

	(void)state;
	fflush(NULL);
	child = forkpty(&fd, NULL, NULL, &size);
	abort_unless(child >= 0);
	if (!child) {
		struct narrow narrow;

		unsetenv("COLUMNS");
		narrow_begin(&narrow);
		printf("app   \v   n\v  p99\v max\nx     \v   1\v    2\v   3\n");
		narrow_end(&narrow);
		_exit(fflush(stdout) ? 1 : 0);
	}
	while (n < strlen(wanted)) {
		ssize_t r = read(fd, got + n, sizeof(got) - 1 - n);

		if (r <= 0)
			break;
		n += (size_t)r;
	}
	abort_unless(waitpid(child, &status, 0) == child);
	close(fd);
	assert_int_equal(status, 0);
	assert_string_equal(got, wanted);
}

/*
 * In a process that may have only 64 MiB more memory than it has. Not under sanitizers, which need terabytes
 * of addresses.
 */
static void a_cell_lost_for_lack_of_memory_is_reported(void **state)
{
	int status;
	pid_t child;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip();
#endif
	fflush(NULL);
	child = fork();
	abort_unless(child >= 0);
	if (!child) {
		const struct rlimit most = { 64 << 20, 64 << 20 };
		struct narrow narrow;

		stdout = fopen("/dev/null", "w");
		stderr = stdout;
		if (!stdout || setrlimit(RLIMIT_AS, &most))
			_exit(2);
		narrow_begin(&narrow);
		for (int i = 0; i < 1 << 20; i++)
			printf("a line of more than sixty-four bytes, of which there are a million in all\n");
		_exit(narrow_end(&narrow));
	}
	abort_unless(waitpid(child, &status, 0) == child);
	assert_int_equal(status, 0);
}

int main(void)
{
	enum { N = sizeof(rows) / sizeof(rows[0]) };
	struct CMUnitTest tests[N + 3];

	for (size_t i = 0; i < N; i++)
		tests[i] =
			(struct CMUnitTest){ .name = rows[i].name, .test_func = is_shown, .initial_state = (void *)i };
	tests[N] = (struct CMUnitTest)cmocka_unit_test(what_is_kept_is_printed_at_the_end);
	tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(a_table_fits_the_columns_of_its_terminal);
	tests[N + 2] = (struct CMUnitTest)cmocka_unit_test(a_cell_lost_for_lack_of_memory_is_reported);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
