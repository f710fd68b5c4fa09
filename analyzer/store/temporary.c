/*
 * temporary.c -- opens SQLite's temporary files so that none is left behind by a killed process.
 *
 * SQLite creates a temporary file under a random name, and then unlinks the name. If the process is killed
 * between the two calls, the file stays. The default VFS of SQLite takes another function for its system call
 * open(2), so that no such name is ever created. The file system decides how:
 *
 * - O_TMPFILE, in the directory that SQLite has chosen ($SQLITE_TMPDIR, $TMPDIR, /var/tmp, ...).
 * - Some file systems (NFS; overlayfs before Linux 6.3) refuse O_TMPFILE. There the file gets its name in a
 *   directory of base/scratch.h: the next import removes that directory if this process is killed.
 */
#include "store/temporary.h"

#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_without_name(const char *path, int flags, int mode)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int n = slash ? snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path + 1), path) : -1;

	if (n < 0 || n >= (int)sizeof(directory))
		return errno = ENOENT, -1;
	return open(directory, (flags & ~(O_CREAT | O_NOFOLLOW)) | O_TMPFILE, mode);
}

static int open_in_scratch(int flags, int mode)
{
	struct bsa_scratch scratch = { 0 };
	char path[PATH_MAX];
	int fd = -1, error;

	if (bsa_scratch_make(&scratch, NULL))
		return errno = ENOENT, -1;
	if (snprintf(path, sizeof(path), "%s/sqlite", scratch.path) < (int)sizeof(path))
		fd = open(path, flags, mode);
	else
		errno = ENAMETOOLONG;
	error = errno;
	bsa_scratch_remove(&scratch);
	errno = error;
	return fd;
}

/*
 * The name that SQLite gives its temporary files. A program that uses us may open files of other kinds by the
 * same VFS: their names stay.
 */
static bool is_temporary(const char *path, int flags)
{
	const char *slash = strrchr(path, '/');

	return flags & O_EXCL && !strncmp(slash ? slash + 1 : path, "etilqs_", strlen("etilqs_"));
}

static int open_for_sqlite(const char *path, int flags, int mode)
{
	int fd;

	if (!is_temporary(path, flags))
		return open(path, flags, mode);
	fd = open_without_name(path, flags, mode);
	return fd >= 0 ? fd : open_in_scratch(flags, mode);
}

static void replace_open(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	if (vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall)
		vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_for_sqlite);
}

void bsa_temporary_unnamed(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, replace_open);
}
