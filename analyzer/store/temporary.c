/*
 * temporary.c -- opens SQLite's temporary files so that none is left behind by a killed process.
 *
 * SQLite's default VFS creates a temporary file under a random name, and then unlinks the name. If the process is
 * killed between the two calls, the file stays. The VFS here leaves everything to the default VFS, databases and
 * their locks too, except temporary files, which SQLite opens without a name. The file system decides how:
 *
 * - O_TMPFILE, in the directory that SQLite would choose ($SQLITE_TMPDIR, $TMPDIR, /var/tmp, ...).
 * - Some file systems (NFS; overlayfs before Linux 6.3) refuse O_TMPFILE. There the file gets its name in a
 *   directory of base/scratch.h: the next import removes that directory if this process is killed.
 * - If neither can be had, the default VFS opens the file.
 *
 * The default VFS cannot be given a file without a name: it opens paths with O_NOFOLLOW, which refuses
 * /proc/self/fd/N. So these files have methods of their own. One connection uses each of them, so there are no
 * locks; and its content dies with the process, so nothing is synced.
 *
 * The process may be any program that has loaded the plugin, and may unload it: the VFS is never the default one,
 * and it is unregistered when this library is unloaded.
 */
#include "store/temporary.h"

#include "base/scratch.h"
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FD_LEAST = 3, /* a program whose standard streams are closed may still print */
	MODE = 0600,
};

/* ---- a temporary file ---- */

struct temporary {
	sqlite3_file file; /* the first member: SQLite sees nothing else */
	int fd;            /* owned */
};

static int fd_of(const sqlite3_file *file)
{
	return ((const struct temporary *)(const void *)file)->fd;
}

static int temporary_close(sqlite3_file *file)
{
	close(fd_of(file));
	return SQLITE_OK;
}

static int temporary_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
	char *bytes = to;

	while (n > 0) {
		ssize_t r = pread(fd_of(file), bytes, (size_t)n, at);

		if (r < 0 && errno != EINTR)
			return SQLITE_IOERR_READ;
		if (r == 0) { /* SQLite wants zeroes behind the end of the file */
			memset(bytes, 0, (size_t)n);
			return SQLITE_IOERR_SHORT_READ;
		}
		if (r > 0)
			bytes += r, n -= (int)r, at += r;
	}
	return SQLITE_OK;
}

static int temporary_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
	if (!bsa_store_file_write(fd_of(file), from, (size_t)n, (uint64_t)at))
		return SQLITE_OK;
	return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int temporary_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return ftruncate(fd_of(file), size) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int temporary_sync(sqlite3_file *file, int flags)
{
	(void)file, (void)flags;
	return SQLITE_OK;
}

static int temporary_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	struct stat st;

	if (fstat(fd_of(file), &st))
		return SQLITE_IOERR_FSTAT;
	*ret = st.st_size;
	return SQLITE_OK;
}

static int temporary_lock(sqlite3_file *file, int level)
{
	(void)file, (void)level;
	return SQLITE_OK;
}

static int temporary_is_reserved(sqlite3_file *file, int *ret)
{
	(void)file;
	*ret = 0;
	return SQLITE_OK;
}

static int temporary_control(sqlite3_file *file, int op, void *arg)
{
	(void)file, (void)op, (void)arg;
	return SQLITE_NOTFOUND;
}

static int temporary_sector(sqlite3_file *file)
{
	(void)file;
	return 4096; /* what the default VFS says of every file on Linux */
}

static int temporary_device(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods temporary_methods = {
	.iVersion = 1,
	.xClose = temporary_close,
	.xRead = temporary_read,
	.xWrite = temporary_write,
	.xTruncate = temporary_truncate,
	.xSync = temporary_sync,
	.xFileSize = temporary_size,
	.xLock = temporary_lock,
	.xUnlock = temporary_lock,
	.xCheckReservedLock = temporary_is_reserved,
	.xFileControl = temporary_control,
	.xSectorSize = temporary_sector,
	.xDeviceCharacteristics = temporary_device,
};

/* ---- where temporary files are ---- */

/* As SQLite chooses. NULL: no directory can be written to. */
static const char *temporary_directory(void)
{
	const char *const places[] = {
		getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", ".",
	};
	struct stat st;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] && !stat(places[i], &st) && S_ISDIR(st.st_mode) && !access(places[i], W_OK | X_OK))
			return places[i];
	return NULL;
}

static int open_without_name(void)
{
	const char *directory = temporary_directory();

	return directory ? open(directory, O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, MODE) : -1;
}

static int open_in_scratch(void)
{
	struct bsa_scratch scratch = { 0 };
	char path[PATH_MAX];
	int fd = -1;

	if (bsa_scratch_make(&scratch, NULL))
		return -1;
	if (snprintf(path, sizeof(path), "%s/sqlite", scratch.path) < (int)sizeof(path))
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
	bsa_scratch_remove(&scratch);
	return fd;
}

/* -1: the file cannot be had. */
static int open_temporary(void)
{
	int fd = open_without_name(), higher;

	if (fd < 0)
		fd = open_in_scratch();
	if (fd < 0 || fd >= FD_LEAST)
		return fd;
	higher = fcntl(fd, F_DUPFD_CLOEXEC, FD_LEAST);
	close(fd);
	return higher;
}

/* ---- the VFS ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	sqlite3_vfs *of = vfs->pAppData;
	int fd = name ? -1 : open_temporary();

	if (fd < 0)
		return of->xOpen(of, name, file, flags, ret_flags);
	*(struct temporary *)(void *)file = (struct temporary){ .file.pMethods = &temporary_methods, .fd = fd };
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	sqlite3_vfs *of = vfs->pAppData;

	return of->xDelete(of, name, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	sqlite3_vfs *of = vfs->pAppData;

	return of->xAccess(of, name, flags, ret);
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int n, char *ret)
{
	sqlite3_vfs *of = vfs->pAppData;

	return of->xFullPathname(of, name, n, ret);
}

static int vfs_random(sqlite3_vfs *vfs, int n, char *ret)
{
	sqlite3_vfs *of = vfs->pAppData;

	return of->xRandomness(of, n, ret);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	sqlite3_vfs *of = vfs->pAppData;

	return of->xSleep(of, us);
}

static int vfs_time(sqlite3_vfs *vfs, double *ret)
{
	sqlite3_vfs *of = vfs->pAppData;

	return of->xCurrentTime(of, ret);
}

static int vfs_error(sqlite3_vfs *vfs, int n, char *ret)
{
	sqlite3_vfs *of = vfs->pAppData;

	return of->xGetLastError ? of->xGetLastError(of, n, ret) : 0;
}

/* No connection of ours loads extensions. */
static void *vfs_load(sqlite3_vfs *vfs, const char *name)
{
	(void)vfs, (void)name;
	return NULL;
}

static void vfs_load_error(sqlite3_vfs *vfs, int n, char *ret)
{
	(void)vfs;
	sqlite3_snprintf(n, ret, "no extensions are loaded here");
}

static char vfs_name[32];
static bool registered;

static sqlite3_vfs temporary_vfs = {
	.iVersion = 1,
	.zName = vfs_name,
	.xOpen = vfs_open,
	.xDelete = vfs_delete,
	.xAccess = vfs_access,
	.xFullPathname = vfs_full_name,
	.xDlOpen = vfs_load,
	.xDlError = vfs_load_error,
	.xRandomness = vfs_random,
	.xSleep = vfs_sleep,
	.xCurrentTime = vfs_time,
	.xGetLastError = vfs_error,
};

static void register_vfs(void)
{
	sqlite3_vfs *of = sqlite3_vfs_find(NULL);

	if (!of)
		return;
	/* A process may have this library twice, in the plugin and in itself, and each must use its own VFS. */
	snprintf(vfs_name, sizeof(vfs_name), "burstscope-%p", (void *)&temporary_vfs);
	temporary_vfs.pAppData = of;
	temporary_vfs.mxPathname = of->mxPathname;
	temporary_vfs.szOsFile = of->szOsFile;
	if (temporary_vfs.szOsFile < (int)sizeof(struct temporary))
		temporary_vfs.szOsFile = sizeof(struct temporary);
	registered = sqlite3_vfs_register(&temporary_vfs, 0) == SQLITE_OK;
}

/* At the end of the process, too, where it does no harm. */
__attribute__((destructor)) static void unregister_vfs(void)
{
	if (registered)
		sqlite3_vfs_unregister(&temporary_vfs);
}

const char *bsa_temporary_vfs(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_vfs);
	return registered ? vfs_name : NULL;
}
