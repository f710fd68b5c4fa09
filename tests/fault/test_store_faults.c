/*
 * test_store_faults.c -- an import whose n-th write fails, or that is killed at its n-th write, for each n: the
 * earlier database is unchanged.
 *
 * The writes are SQLite's, through the system calls of its VFS, and the store's own, wrapped by the linker.
 */
#include "analyzer/stored.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

static int steps, fail_at, kill_at; /* from 1; 0: never */

/* Count one more step; returns true if this step must fail. */
static bool step(void)
{
	steps++;
	if (steps == kill_at)
		raise(SIGKILL);
	if (steps != fail_at)
		return false;
	errno = ENOSPC;
	return true;
}

ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __real_copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t n, unsigned flags);
int __real_rename(const char *from, const char *to);
int __real_fsync(int fd);
#pragma GCC visibility push(default) /* a sanitizer's library looks for these functions */
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __wrap_copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t n, unsigned flags);
int __wrap_rename(const char *from, const char *to);
int __wrap_fsync(int fd);
#pragma GCC visibility pop

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at)
{
	return step() ? -1 : __real_pwrite(fd, p, n, at);
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	return step() ? -1 : __real_write(fd, p, n);
}

ssize_t __wrap_copy_file_range(int in, off_t *in_at, int out, off_t *out_at, size_t n, unsigned flags)
{
	return step() ? -1 : __real_copy_file_range(in, in_at, out, out_at, n, flags);
}

int __wrap_rename(const char *from, const char *to)
{
	return step() ? -1 : __real_rename(from, to);
}

int __wrap_fsync(int fd)
{
	return step() ? -1 : __real_fsync(fd);
}

static int vfs_ftruncate(int fd, off_t size)
{
	return step() ? -1 : ftruncate(fd, size);
}

static void watch_sqlite(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)__wrap_pwrite), SQLITE_OK);
	assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)__wrap_pwrite), SQLITE_OK);
	assert_int_equal(vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)__wrap_write), SQLITE_OK);
	assert_int_equal(vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr)vfs_ftruncate), SQLITE_OK);
}

/* More than the caches hold: executions, waits, misses, in several groups. */
enum { EXECUTIONS = 6000 };

static int import(const char *path, const char *uuid, bool append, struct bsa_err *err)
{
	struct bsa_store_options options = { .output = path, .append = append };
	struct bsa_trace_row trace = { .uuid = uuid, .path = "/trace" };
	struct bsa_store *s = NULL;
	struct bsa_facts facts;
	uint64_t first;
	int r = bsa_store_new(&s, &options, err);

	if (r)
		return r;
	trace.id = bsa_store_last_trace(s) + 1;
	first = bsa_store_last_ids(s).execution + 1;
	r = bsa_store_trace(s, &trace, err);
	facts = bsa_store_facts(s);
	for (uint64_t i = 0; i < EXECUTIONS && !r; i++) {
		struct bsa_execution x = stored_warm(first + i, i * 1000);

		x.model = 1 + i % 3;
		/* differs from its boundaries, so the store needs a further row */
		x.phase[BSA_PREPARE] += i % 100 == 0;
		if (i % 50 == 0) {
			x.miss = BSA_MISS_LATE;
			x.lateness = 7;
			x.deadline = x.at[BSA_RETURNED] - 7;
		}
		facts.execution(facts.ctx, &x);
		facts.wait(facts.ctx,
		           &(struct bsa_wait){ .execution = first + i, .began = i, .ended = i + 5, .blocker = i });
	}
	r = r ? r : bsa_store_finish(s, err);
	bsa_store_free(s);
	return r;
}

static void holds(const char *path, const char *uuids, unsigned executions)
{
	char expected[64];

	assert_rows(path, "SELECT group_concat(uuid) FROM (SELECT uuid FROM trace ORDER BY id)", uuids);
	snprintf(expected, sizeof(expected), "%u|%u\n", executions, executions);
	assert_rows(path, "SELECT count(*), (SELECT count(*) FROM stored_wait) FROM execution", expected);
}

/* The number of steps of an import that succeeds; @append: to an existing database. */
static int steps_of(const char *path, bool append)
{
	struct bsa_err err = { "" };

	steps = fail_at = kill_at = 0;
	if (import(path, "b", append, &err))
		fail_msg("%s", err.text);
	return steps;
}

/* Each of the first and the last steps, and some between them. */
static int next_step(int at, int all)
{
	return at < 15 || at > all - 15 ? at + 1 : at + 1 + (all - 30) / 12;
}

static void every_write_may_fail(void **state)
{
	const char *path = *state;
	struct bsa_err err;

	watch_sqlite();
	for (unsigned append = 0; append < 2; append++) {
		char scratch[256];
		int all, failed = 0;

		strcpy(scratch, stored_beside(path, "scratch.db"));
		fail_at = kill_at = 0;
		assert_int_equal(import(path, "a", false, NULL), 0);
		assert_int_equal(import(scratch, "a", false, NULL), 0);
		all = steps_of(scratch, append);
		unlink(scratch);
		assert_true(all > 20);
		for (int at = 1; at <= all; at = next_step(at, all)) {
			int r;

			steps = 0;
			fail_at = at;
			err.text[0] = 0;
			r = import(path, "b", append, &err);
			fail_at = 0;
			/* the failed step was not essential: a copy that has another method, or the last fsync */
			if (r == 0) {
				assert_int_equal(import(path, "a", false, NULL), 0);
				continue;
			}
			failed++;
			if (r != BSA_E_ENV || !err.text[0] || strchr(err.text, '\n'))
				fail_msg("step %d: %d, '%s'", at, r, err.text);
			if (strcmp(stored_ask(path, "SELECT max(uuid) FROM trace"), "b\n") == 0) {
				/* The file was renamed, and writing its directory failed only after that. */
				assert_int_equal(at, all);
				assert_int_equal(import(path, "a", false, NULL), 0);
			}
			holds(path, "a\n", EXECUTIONS);
			assert_int_equal(stored_files(path), 1);
		}
		assert_true(failed > 20);
	}
}

static void an_import_may_be_killed_at_every_write(void **state)
{
	const char *path = *state;

	watch_sqlite();
	for (unsigned append = 0; append < 2; append++) {
		char scratch[256];
		int all;

		strcpy(scratch, stored_beside(path, "scratch.db"));
		kill_at = fail_at = 0;
		assert_int_equal(import(path, "a", false, NULL), 0);
		assert_int_equal(import(scratch, "a", false, NULL), 0);
		all = steps_of(scratch, append);
		unlink(scratch);
		for (int at = 1; at <= all; at = next_step(at, all)) {
			pid_t pid = fork();
			int status;

			if (pid == 0) {
				steps = 0;
				kill_at = at;
				_exit(import(path, "b", append, NULL) ? 1 : 0);
			}
			assert_int_equal(waitpid(pid, &status, 0), pid);
			if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
				fail_msg("step %d of %d: status %x", at, all, status);
			if (at < all) /* the last step comes after the rename */
				holds(path, "a\n", EXECUTIONS);
			else
				holds(path, append ? "a,b\n" : "b\n", append ? 2 * EXECUTIONS : EXECUTIONS);
			assert_true(stored_files(path) <= 2);
		}
		kill_at = 0;
		assert_int_equal(import(path, "c", false, NULL), 0);
		assert_int_equal(stored_files(path), 1); /* the next import removes what the killed one left */
		holds(path, "c\n", EXECUTIONS);
		stored_sound(path);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, stored_setup, stored_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_write_may_fail),
		T(an_import_may_be_killed_at_every_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
