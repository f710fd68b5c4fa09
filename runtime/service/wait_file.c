/*
 * wait_file.c -- makes or checks LTTng-UST's wait files.
 *
 * TRUST     LTTng-UST maps two files when it is loaded, even if they are another user's, and reads them in threads that
 *           block SIGBUS: the process ends if one is shortened. A FIFO in place of one keeps it for ever. If there is
 *           no file, LTTng-UST makes it; that of all users in such a way that every user can write it. Only root's
 *           session daemon makes one that others cannot. So the files must be there, and right, before LTTng-UST is
 *           loaded. A file that was another user's before root made it root's may still be open there; that cannot be
 *           seen.
 */
#include "service/wait_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/wait_file.h"

/* LTTng-UST maps a page of it. */
static int wait_file_make(const char *path, mode_t mode)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = ftruncate(fd, sysconf(_SC_PAGESIZE)) || fchmod(fd, mode) ? -errno : 0;
	if (r)
		unlink(path);
	close(fd);
	return r;
}

/* Root may let a group of its choice write it. */
static int wait_file_have(const char *path, mode_t mode)
{
	struct stat st;
	int r = wait_file_make(path, mode);

	if (r != -EEXIST)
		return r;
	r = nnb__wait_file_look(path, &st);
	if (r)
		return r;
	if (st.st_mode & S_IWOTH)
		return -EPERM;
	return st.st_uid == 0 || (st.st_uid == geteuid() && !(st.st_mode & S_IWGRP)) ? 0 : -EPERM;
}

int wait_files_secure(void)
{
	char own[NNB__WAIT_FILE_BYTES];
	int r = wait_file_have(NNB__WAIT_FILE, 0644);

	nnb__wait_file_own(own);
	return r ? r : wait_file_have(own, 0640); /* of this user's session daemon */
}
