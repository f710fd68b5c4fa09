/* sealed.c -- memfds that cannot be truncated: once the seal is verified, no access to a mapping raises SIGBUS. */
#include "base/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

static int sealed_make(const char *name, uint64_t bytes, int seals)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) < 0)
		r = -errno;
	else if (fcntl(fd, F_ADD_SEALS, seals) < 0)
		r = -EPERM;
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int nnb__sealed_new(const char *name, uint64_t bytes)
{
	return sealed_make(name, bytes, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

int nnb__sealed_new_for_more(const char *name, uint64_t bytes)
{
	return sealed_make(name, bytes, F_SEAL_SHRINK | F_SEAL_GROW);
}

int nnb__sealed_bytes(int fd, uint64_t *ret)
{
	struct statfs fs;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return errno == EBADF ? -EBADF : -EPERM;
	if (!(seals & F_SEAL_SHRINK))
		return -EPERM;
	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (fs.f_type != TMPFS_MAGIC) /* a hole in hugetlbfs is a SIGBUS when the huge pages have run out */
		return -EPERM;
	*ret = (uint64_t)st.st_size;
	return 0;
}
