/* sealed.c -- memfds that cannot be truncated: once the seal is verified, no access to a mapping raises SIGBUS. */
#include "base/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
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

/* The device of the kernel's own tmpfs, which has all memfds, and no other file system; 0: not known. */
static uint64_t memfd_device(void)
{
	static _Atomic uint64_t known;
	uint64_t device = atomic_load_explicit(&known, memory_order_relaxed);
	struct statfs fs;
	struct stat st;
	int fd;

	if (device)
		return device;
	fd = memfd_create("nnb-device", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC && !fstat(fd, &st))
		device = st.st_dev;
	close(fd);
	atomic_store_explicit(&known, device, memory_order_relaxed);
	return device;
}

int nnb__file_look(int fd, struct nnb__file *ret)
{
	/* the seals first: a file that is sealed then keeps the size that it has then */
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs = { .f_type = TMPFS_MAGIC };
	struct stat st;

	if (seals < 0 && errno == EBADF) /* of a path (O_PATH), too, whose file fstat knows */
		return -EBADF;
	if (fstat(fd, &st) < 0 || (st.st_dev != memfd_device() && fstatfs(fd, &fs) < 0))
		return -errno;
	*ret = (struct nnb__file){ .size = (uint64_t)st.st_size,
		                   .inode = st.st_ino,
		                   .device = st.st_dev,
		                   .file_system = (uint32_t)fs.f_type,
		                   .is_regular = S_ISREG(st.st_mode) };
	/* a hole in hugetlbfs is a SIGBUS when the huge pages have run out */
	ret->is_sealed = seals >= 0 && seals & F_SEAL_SHRINK && fs.f_type == TMPFS_MAGIC;
	return 0;
}

int nnb__sealed_bytes(int fd, uint64_t *ret)
{
	struct nnb__file file;
	int r = nnb__file_look(fd, &file);

	if (!r && !file.is_sealed)
		r = -EPERM;
	if (!r)
		*ret = file.size;
	return r;
}
