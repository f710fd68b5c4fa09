/*
 * base/scratch.c -- makes a locked directory below $TMPDIR, and removes those without a lock.
 *
 * CONCURRENCY  Any number of processes create and remove directories at the same time. A new directory is not
 *              locked for a moment, in which another process may remove it: so the creator checks, when it
 *              has the lock, that the directory still exists, and creates another one if not.
 * TRUST        $TMPDIR is shared with other users, who may create anything there under any name: only
 *              directories of our user are removed, no symbolic link is followed, and no other file system is
 *              entered.
 */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "burstscope-scratch-"

enum { TRIES = 100 };

static const char *temporary_place(void)
{
	const char *where = getenv("TMPDIR");

	return where && *where ? where : "/tmp";
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path); /* a file in a temporary directory that cannot be removed stays there */
	return 0;
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Open the directory and lock it. -1: another process has locked it, or it is not ours. */
static int lock_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	return -1;
}

int bsa_scratch_make(struct bsa_scratch *scratch, struct bsa_err *err)
{
	if (scratch->path)
		return 0;
	for (int i = 0; i < TRIES; i++) {
		struct stat now, locked;
		char *made = NULL;
		int lock;

		if (asprintf(&made, "%s/" PREFIX "XXXXXX", temporary_place()) < 0)
			return bsa_fail(err, BSA_E_ENV, "there is no memory left to open traces");
		if (!mkdtemp(made)) {
			int r = bsa_fail(err, BSA_E_ENV, "%s cannot be made, to read a trace that is not whole: %s",
			                 made, strerror(errno));

			free(made);
			return r;
		}
		lock = lock_directory(made);
		if (lock >= 0 && !lstat(made, &now) && !fstat(lock, &locked) && now.st_ino == locked.st_ino &&
		    now.st_dev == locked.st_dev) {
			*scratch = (struct bsa_scratch){ .path = made, .lock = lock };
			return 0;
		}
		/*
		 * Another importer removed the directory before this one locked it: the path leads to no
		 * directory, or to another one.
		 */
		if (lock >= 0)
			close(lock);
		free(made);
	}
	return bsa_fail(err, BSA_E_ENV, "%s: another program removes each new folder at once", temporary_place());
}

void bsa_scratch_remove(struct bsa_scratch *scratch)
{
	if (!scratch->path)
		return;
	remove_tree(scratch->path);
	close(scratch->lock);
	free(scratch->path);
	*scratch = (struct bsa_scratch){ 0 };
}

void bsa_scratch_clean(void)
{
	DIR *directory = opendir(temporary_place());
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path = NULL;
		int lock;

		if (strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) != 0 ||
		    asprintf(&path, "%s/%s", temporary_place(), entry->d_name) < 0)
			continue;
		lock = lock_directory(path);
		if (lock >= 0) {
			remove_tree(path);
			close(lock);
		}
		free(path);
	}
	if (directory)
		closedir(directory);
}
