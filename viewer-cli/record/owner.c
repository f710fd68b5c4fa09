/* owner.c -- checks whether another user could replace the files of a directory. */
#include "record/owner.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int bsv_check_owner(const char *directory, const char *name, struct bsa_err *err)
{
	struct stat st;

	if (stat(directory, &st))
		return bsa_fail(err, BSA_E_ENV, "%s: %s", name, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return bsa_fail(err, BSA_E_ENV, "%s is not a directory", name);
	if (st.st_uid != geteuid())
		return bsa_fail(err, BSA_E_ENV,
		                "%s belongs to another user, who could replace what is written there; give -o a "
		                "directory of your own",
		                name);
	if (st.st_mode & S_IWOTH)
		return bsa_fail(err, BSA_E_ENV,
		                "%s can be written by all users, who could replace what is written there; give -o "
		                "another directory",
		                name);
	/*
	 * A group whose number is the user's is taken for the group that useradd makes for that
	 * user alone, as pam_umask does; but not if the user is root, whose group may have other
	 * members.
	 */
	if ((st.st_mode & S_IWGRP) && (!geteuid() || st.st_gid != geteuid()))
		return bsa_fail(
			err, BSA_E_ENV,
			"%s can be written by its group, who could replace what is written there; take that right "
			"away with chmod g-w, or give -o another directory",
			name);
	return 0;
}
