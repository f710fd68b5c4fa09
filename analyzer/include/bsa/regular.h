/*
 * regular.h -- opening files of a directory that a stranger has made: those of a trace, and what lies beside it.
 */
#ifndef BSA_REGULAR_H
#define BSA_REGULAR_H

/*
 * To be read: a file descriptor, closed on exec; or -errno, EINVAL being of what is no regular file. A pipe
 * is never waited for, and no device is opened. Links are followed.
 */
int bsa_open_regular(const char *path);

#endif
