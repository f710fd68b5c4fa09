/*
 * wait_file.h -- the two files that LTTng-UST maps when it is loaded: of all users, and of this process's user.
 *
 * TRUST     Any user may have made them. LTTng-UST opens what is there, and sleeps for ever if that is a FIFO; if it is
 *           an empty file, SIGBUS ends the process.
 */
#ifndef NNB_TRACE_WAIT_FILE_H
#define NNB_TRACE_WAIT_FILE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NNB__WAIT_FILE \
	"/dev/shm/lttng-ust-wait-8" /* 8: the version of what applications and session daemons say to each other */

enum { NNB__WAIT_FILE_BYTES = sizeof(NNB__WAIT_FILE) + 16 };

static inline void nnb__wait_file_own(char ret[NNB__WAIT_FILE_BYTES])
{
	snprintf(ret, NNB__WAIT_FILE_BYTES, NNB__WAIT_FILE "-%u", (unsigned)getuid());
}

/* 0; -EPERM: LTTng-UST must not be loaded, because it is an empty file, or none; or the -errno of lstat. */
static inline int nnb__wait_file_look(const char *path, struct stat *ret)
{
	if (lstat(path, ret))
		return -errno;
	return S_ISREG(ret->st_mode) && ret->st_size ? 0 : -EPERM;
}

#endif
