/* file.c -- makes the output beside its name, and renames it when it is whole. */
#include "store/file.h"

#include "store/blank.h"
#include "store/header.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".burstscope"

static void close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void free_(void *p)
{
	free(*(void **)p);
}

static void closedir_(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* ---- where ---- */

/* Through links, so that what is replaced is what a link points to. */
static int set_names(struct bsa_store_file *f, const char *output, struct bsa_err *err)
{
	__attribute__((cleanup(free_))) char *a = NULL, *b = NULL;
	size_t n = strlen(output);

	if (!n || output[n - 1] == '/')
		return bsa_fail(err, BSA_E_USAGE, "'%s' is no name of a file", output);
	f->output = realpath(output, NULL);
	if (!f->output)
		f->output = strdup(output);
	a = f->output ? strdup(f->output) : NULL;
	b = f->output ? strdup(f->output) : NULL;
	f->directory = a ? strdup(dirname(a)) : NULL;
	f->name = b ? strdup(basename(b)) : NULL;
	if (!f->directory || !f->name)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	return 0;
}

/* An existing file may be replaced if an import made it, or if it is empty. */
static int look_at_old(struct bsa_store_file *f, bool append, struct bsa_err *err)
{
	enum header_is is;
	struct stat st;

	if (stat(f->output, &st)) {
		if (errno != ENOENT && errno != ENOTDIR)
			return bsa_fail(err, BSA_E_ENV, "cannot look at %s: %s", f->output, strerror(errno));
		return 0; /* a missing directory is an error when the file is opened */
	}
	if (S_ISDIR(st.st_mode))
		return bsa_fail(err, BSA_E_USAGE, "%s is a directory", f->output);
	if (!S_ISREG(st.st_mode))
		return bsa_fail(err, BSA_E_USAGE, "%s is not a file", f->output);
	f->old_fd = open(f->output, O_RDONLY | O_CLOEXEC);
	if (f->old_fd < 0)
		return bsa_fail(err, BSA_E_ENV, "cannot read %s: %s", f->output, strerror(errno));
	is = bsa_header_look(f->old_fd);
	if (is == HEADER_EMPTY || (is != HEADER_FOREIGN && !append))
		return close_(&f->old_fd), 0;
	if (is == HEADER_FOREIGN && !append)
		return bsa_fail(err, BSA_E_USAGE, "%s is not a database of burstscope, and will not be replaced",
		                f->output);
	return bsa_header_refuse(is, f->output, err);
}

/* ---- what others left ---- */

/* .NAME.PID-..., or 0. */
static pid_t owner_of(const char *name, const struct bsa_store_file *f)
{
	size_t n = strlen(f->name), all = strlen(name);
	char *end;
	long pid;

	if (all < n + sizeof(SUFFIX) + 2 || name[0] != '.' || strncmp(name + 1, f->name, n) || name[n + 1] != '.' ||
	    strcmp(name + all - strlen(SUFFIX), SUFFIX))
		return 0;
	pid = strtol(name + n + 2, &end, 10);
	return *end == '-' && pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* Dead, but perhaps not waited for yet. */
static bool is_dead(pid_t pid)
{
	char path[32], stat[512] = "";
	__attribute__((cleanup(close_))) int fd = -1;
	const char *end;

	if (kill(pid, 0))
		return errno != EPERM;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, stat, sizeof(stat) - 1) <= 0)
		return false;
	end = strrchr(stat, ')'); /* the end of the process's name */
	return end && !strncmp(end, ") Z", 3);
}

/*
 * A living importer holds the lock of its file. Its process id proves less: the id may belong to another
 * process now, or to another machine, or to a zombie. Only between creation and locking the process id is all
 * there is: then the file is empty.
 */
static void remove_stale(struct bsa_store_file *f)
{
	__attribute__((cleanup(closedir_))) DIR *d = opendir(f->directory);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		pid_t owner = owner_of(entry->d_name, f);
		__attribute__((cleanup(close_))) int fd = -1;
		struct stat st;

		if (!owner)
			continue;
		fd = openat(f->directory_fd, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &st))
			continue;
		if (st.st_size || is_dead(owner))
			unlinkat(f->directory_fd, entry->d_name, 0);
	}
}

/* ---- the new one ---- */

static int make_new(struct bsa_store_file *f, struct bsa_err *err)
{
	uint64_t random;

	f->directory_fd = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->directory_fd < 0)
		return bsa_fail(err, BSA_E_ENV, "cannot write into %s: %s", f->directory, strerror(errno));
	remove_stale(f);
	if (getrandom(&random, sizeof(random), 0) != sizeof(random) ||
	    asprintf(&f->path, "%s/.%s.%d-%016llx" SUFFIX, f->directory, f->name, (int)getpid(),
	             (unsigned long long)random) < 0) {
		f->path = NULL;
		return bsa_fail(err, BSA_E_ENV, "no memory");
	}
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (f->fd < 0) {
		int error = errno;

		free(f->path);
		f->path = NULL;
		return bsa_fail(err, BSA_E_ENV, "cannot write into %s: %s", f->directory, strerror(error));
	}
	if (flock(f->fd, LOCK_EX | LOCK_NB))
		return bsa_fail(err, BSA_E_ENV, "cannot lock %s: %s", f->path, strerror(errno));
	return 0;
}

/* Shared blocks where the file system can, otherwise inside the kernel, otherwise by hand. */
static int copy_old(struct bsa_store_file *f, struct bsa_err *err)
{
	static char buffer[1 << 16];
	uint64_t at;
	ssize_t n;

	if (f->old_fd < 0 || ioctl(f->fd, FICLONE, f->old_fd) == 0)
		return 0;
	do
		n = copy_file_range(f->old_fd, NULL, f->fd, NULL, 1 << 30, 0);
	while (n > 0);
	if (n < 0 && errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return bsa_fail(err, BSA_E_ENV, "cannot copy %s: %s", f->output, strerror(errno));
	at = (uint64_t)lseek(f->fd, 0, SEEK_CUR); /* behind what the kernel copied */
	for (; n && (n = read(f->old_fd, buffer, sizeof(buffer))) > 0; at += (uint64_t)n)
		if (bsa_store_file_write(f->fd, buffer, (size_t)n, at))
			return bsa_fail(err, BSA_E_ENV, "cannot copy %s: %s", f->output, strerror(errno));
	if (n < 0)
		return bsa_fail(err, BSA_E_ENV, "cannot copy %s: %s", f->output, strerror(errno));
	return 0;
}

int bsa_store_file_init(struct bsa_store_file *f, const char *output, bool append, struct bsa_err *err)
{
	struct stat mine, there;
	int r;

	*f = (struct bsa_store_file){ .fd = -1, .directory_fd = -1, .old_fd = -1 };
	if ((r = set_names(f, output, err)) || (r = look_at_old(f, append, err)))
		return r;

	/* Two that append to one file would lose what one of them adds. */
	if (f->old_fd >= 0 && flock(f->old_fd, LOCK_EX | LOCK_NB))
		return bsa_fail(err, BSA_E_ENV, "another import into %s is under way", f->output);
	if (f->old_fd >= 0 && (fstat(f->old_fd, &mine) || stat(f->output, &there) || mine.st_ino != there.st_ino ||
	                       mine.st_dev != there.st_dev))
		return bsa_fail(err, BSA_E_ENV, "another import into %s has just ended; try again", f->output);

	r = make_new(f, err);
	return r ? r : copy_old(f, err);
}

int bsa_store_file_blank(struct bsa_store_file *f, struct bsa_err *err)
{
	const uint8_t *data = bsa_blank_data;

	if (ftruncate(f->fd, bsa_blank_bytes))
		return bsa_fail(err, BSA_E_ENV, "cannot write %s: %s", f->output, strerror(errno));
	for (const struct bsa_blank_part *p = bsa_blank_parts; p->bytes; data += p->bytes, p++)
		if (bsa_store_file_write(f->fd, data, p->bytes, p->at))
			return bsa_fail(err, BSA_E_ENV, "cannot write %s: %s", f->output, strerror(errno));
	return 0;
}

int bsa_store_file_publish(struct bsa_store_file *f, struct bsa_err *err)
{
	if (fsync(f->fd))
		return bsa_fail(err, BSA_E_ENV, "cannot write %s: %s", f->output, strerror(errno));
	if (rename(f->path, f->output))
		return bsa_fail(err, BSA_E_ENV, "cannot rename to %s: %s", f->output, strerror(errno));
	free(f->path);
	f->path = NULL;
	if (fsync(f->directory_fd) && errno != EINVAL)
		return bsa_fail(err, BSA_E_ENV, "cannot write %s: %s", f->directory, strerror(errno));
	return 0;
}

void bsa_store_file_fini(struct bsa_store_file *f)
{
	if (f->path)
		unlink(f->path);
	close_(&f->fd);
	close_(&f->directory_fd);
	close_(&f->old_fd);
	free(f->path);
	free(f->output);
	free(f->directory);
	free(f->name);
}

void bsa_store_file_clean(const char *output)
{
	__attribute__((
		cleanup(bsa_store_file_fini))) struct bsa_store_file f = { .fd = -1, .directory_fd = -1, .old_fd = -1 };

	if (set_names(&f, output, NULL))
		return;
	f.directory_fd = open(f.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f.directory_fd >= 0)
		remove_stale(&f);
}

int bsa_store_file_write(int fd, const void *from, size_t bytes, uint64_t at)
{
	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return errno = n ? errno : ENOSPC, -1;
		at += (uint64_t)n;
		from = (const char *)from + n;
		bytes -= (size_t)n;
	}
	return 0;
}

int bsa_store_file_scratch(const struct bsa_store_file *f)
{
	char path[PATH_MAX];
	int fd = open(f->directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	/* The name of a file that remove_stale removes, if this process is killed before it unlinks the name. */
	if (snprintf(path, sizeof(path), "%s" SUFFIX, f->path) >= (int)sizeof(path))
		return errno = ENAMETOOLONG, -1;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		unlink(path);
	return fd;
}
