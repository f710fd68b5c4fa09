/*
 * regular.h -- opens files that a user has named, for reading. A pipe would wait for its writer, and a device may
 * have no end, or do something when it is opened: only regular files are opened. Links are followed.
 */
#ifndef NNB_BASE_REGULAR_H
#define NNB_BASE_REGULAR_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0; -EISDIR; -EINVAL: neither a regular file nor a directory. */
static inline int nnb__regular_check(const struct stat *st)
{
	return S_ISREG(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
}

/*
 * A file descriptor, which the caller closes; or -errno (nnb__regular_error). What @path names may change between the
 * two checks.
 */
static inline int nnb__regular_open(const char *path)
{
	struct stat st;
	int fd, r = stat(path, &st) ? -errno : nnb__regular_check(&st);

	if (r)
		return r;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) ? -errno : nnb__regular_check(&st);
	if (!r)
		return fd;
	close(fd);
	return r;
}

/* The reason for which a file was not opened, or not read. */
static inline const char *nnb__regular_error(int r)
{
	return r == -EINVAL ? "it is not a regular file" : strerror(-r);
}

#endif
