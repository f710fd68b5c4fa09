/* wait_file.h -- the files in which LTTng-UST waits for session daemons, which no other user may be able to shorten. */
#ifndef NNB_WAIT_FILE_H
#define NNB_WAIT_FILE_H

/*
 * Have wait files that no other users can write but root and the groups that root lets, before the provider is loaded.
 * Returns 0; or -errno, -EPERM where another user's is there: then the provider must not be loaded. Only while the
 * process has one thread.
 */
int wait_files_secure(void);

#endif
