/*
 * test_temporary.c -- SQLite's temporary files: no process leaves one, at whatever system call the process is killed.
 *
 * The store's calls of open(2) are wrapped by the linker.
 */
#include "analyzer/stored.h"
#include "base/scratch.h"
#include "store/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool refuses_tmpfile, kills_at_open;
static bool sorts; /* from now on, each file that is opened for writing is a temporary one of SQLite */

int __real_open(const char *path, int flags, ...);
#pragma GCC visibility push(default) /* a sanitizer's library looks for it */
int __wrap_open(const char *path, int flags, int mode);
#pragma GCC visibility pop

int __wrap_open(const char *path, int flags, int mode)
{
	bool without_name = (flags & O_TMPFILE) == O_TMPFILE;
	int fd;

	if (refuses_tmpfile && without_name)
		return errno = EOPNOTSUPP, -1;
	fd = __real_open(path, flags, mode);
	if (sorts && kills_at_open && fd >= 0 && (flags & O_ACCMODE) == O_RDWR)
		raise(SIGKILL);
	return fd;
}

/*
 * Have SQLite sort more than it keeps in memory. Returns how many files without names the process has in @directory
 * meanwhile.
 */
static unsigned sort_much(const char *directory)
{
	static const char sql[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) "
				  "SELECT i, hex(zeroblob(100)) FROM n ORDER BY -i";
	unsigned ret = 0;
	sqlite3 *db = NULL;
	sqlite3_stmt *q = NULL;

	assert_int_equal(sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, bsa_temporary_vfs()), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA cache_size = -64", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(q), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(q, 0), 50000);
	for (int fd = 0; fd < 256; fd++) {
		char link[64], to[PATH_MAX];
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = 0;
		ret += !strncmp(to, directory, strlen(directory)) && strstr(to, "(deleted)");
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
	return ret;
}

/*
 * The names that were created in the directory that @watch watches, but for scratch directories, which the next
 * import removes.
 */
static unsigned created(int watch)
{
	char buffer[4096] __attribute__((aligned(8)));
	ssize_t n;
	unsigned ret = 0;

	while ((n = read(watch, buffer, sizeof(buffer))) > 0)
		for (char *at = buffer; at < buffer + n;) {
			const struct inotify_event *e = (const struct inotify_event *)(const void *)at;

			ret += strncmp(e->name, "burstscope-scratch-", 19) != 0;
			at += sizeof(*e) + e->len;
		}
	return ret;
}

static unsigned files_in(const char *directory)
{
	DIR *d = opendir(directory);
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* As an importer and a viewer do. */
static void begin_with(const char *path, bool importer)
{
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_db *db = NULL;

	if (importer)
		return; /* the store stays open */
	stored_finish(s);
	assert_int_equal(bsa_db_open(&db, path, NULL), 0);
}

/* 0: all well; otherwise the status of the process. */
static int sort_in_process(const char *path, const char *directory, bool importer)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		unsigned open_files;

		setenv("TMPDIR", directory, 1);
		setenv("SQLITE_TMPDIR", directory, 1);
		begin_with(path, importer);
		if (watch < 0 || inotify_add_watch(watch, directory, IN_CREATE | IN_MOVED_TO) < 0)
			_exit(9);
		sorts = true;
		open_files = sort_much(directory);
		_exit(!open_files ? 8 : created(watch) ? 7 : files_in(directory) ? 6 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void each_way(const char *path, int status)
{
	for (unsigned way = 0; way < 4; way++) {
		char directory[PATH_MAX];

		refuses_tmpfile = way & 1;
		snprintf(directory, sizeof(directory), "%s.%u", path, way);
		assert_return_code(mkdir(directory, 0700), errno);
		assert_int_equal(sort_in_process(path, directory, way & 2), status);
		setenv("TMPDIR", directory, 1);
		bsa_scratch_clean();
		assert_int_equal(files_in(directory), 0);
		rmdir(directory);
	}
}

static void temporary_files_have_no_names(void **state)
{
	kills_at_open = false;
	each_way(*state, 0);
}

static void a_killed_process_leaves_nothing_that_the_next_import_does_not_remove(void **state)
{
	kills_at_open = true;
	each_way(*state, SIGKILL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, stored_setup, stored_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(temporary_files_have_no_names),
		T(a_killed_process_leaves_nothing_that_the_next_import_does_not_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
