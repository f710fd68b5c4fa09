/* test_waiting.c -- while a request to LTTng takes long, a line names the program that LTTng waits for. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/programs.h"
#include "record/waiting.h"

static char directory[] = "/tmp/waiting.XXXXXX", provider[64], said[64];

/* A process that has mapped a file with the name of the provider, and stops. */
static pid_t start_stopped(void)
{
	pid_t pid = fork();
	int fd, status;

	if (!pid) {
		fd = open(provider, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static bool is_found(pid_t pid)
{
	struct bsv_program programs[BSV_PROGRAMS_MOST];
	unsigned n = bsv_programs_stopped(programs);

	while (n && programs[n - 1].pid != pid)
		n--;
	return n;
}

static void a_stopped_program_is_found(void **state)
{
	pid_t pid = start_stopped();
	bool found = is_found(pid);

	(void)state;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(found);
	assert_false(is_found(getpid()));
}

/* Wait with standard error in a file: until a line is there, if @for_it. */
static void wait_and_read(bool quiet, bool for_it, char ret[512])
{
	int before = dup(STDERR_FILENO), fd = open(said, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct bsv_waiting w;
	struct stat st;
	ssize_t n;

	assert_true(before >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	bsv_waiting_begin(&w, quiet);
	while (for_it && !fstat(fd, &st) && !st.st_size)
		usleep(10000);
	bsv_waiting_end(&w);
	dup2(before, STDERR_FILENO);
	close(before);
	n = pread(fd, ret, 511, 0);
	close(fd);
	ret[n > 0 ? n : 0] = 0;
}

static void a_line_says_who_is_waited_for(void **state)
{
	pid_t pid = start_stopped();
	char line[512];

	(void)state;
	wait_and_read(false, true, line);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* Another test's program may be stopped, too. */
	if (strncmp(line, "waiting: ", 9) != 0 || !strstr(line, "does not answer LTTng, because it is stopped"))
		fail_msg("said: %s", line);
	wait_and_read(true, false, line);
	assert_string_equal(line, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_program_is_found),
		cmocka_unit_test(a_line_says_who_is_waited_for),
	};
	int r;

	if (!mkdtemp(directory))
		return 1;
	snprintf(said, sizeof(said), "%s/said", directory);
	snprintf(provider, sizeof(provider), "%s/nnburst", directory);
	mkdir(provider, 0700);
	snprintf(provider, sizeof(provider), "%s/nnburst/tracepoints.so", directory);
	r = open(provider, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (r < 0 || write(r, "x", 1) != 1)
		return 1;
	close(r);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(provider);
	unlink(said);
	snprintf(provider, sizeof(provider), "%s/nnburst", directory);
	rmdir(provider);
	rmdir(directory);
	return r;
}
