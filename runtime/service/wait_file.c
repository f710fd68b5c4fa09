/*
 * wait_file.c -- makes or checks LTTng-UST's wait file.
 *
 * TRUST     LTTng-UST maps the file when it is loaded, even if it is another user's, and reads it in a thread that
 *           blocks SIGBUS: the process ends if the file is shortened. If there is no file, LTTng-UST makes one that
 *           every user can write. Only root's session daemon makes one that others cannot. So the file must be there,
 *           and right, before LTTng-UST is loaded. A file that was another user's before root's session daemon made it
 *           its own may still be open there; that cannot be seen.
 */
#include "service/wait_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_FILE \
	"/dev/shm/lttng-ust-wait-8" /* 8: the version of what applications and session daemons say to each other */

/* LTTng-UST maps a page of it. */
static int wait_file_make(void)
{
	int fd = open(WAIT_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = ftruncate(fd, sysconf(_SC_PAGESIZE)) || fchmod(fd, 0644) ? -errno : 0;
	if (r)
		unlink(WAIT_FILE);
	close(fd);
	return r;
}

int wait_file_secure(void)
{
	struct stat st;
	int r = wait_file_make();

	if (r != -EEXIST)
		return r;
	if (lstat(WAIT_FILE, &st))
		return -errno;
	return S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & S_IWOTH) ? 0
	                                                                                                    : -EPERM;
}
