/* wait_file.h -- the file in which LTTng-UST waits for a session daemon, which no other user may be able to shorten. */
#ifndef NNB_WAIT_FILE_H
#define NNB_WAIT_FILE_H

/*
 * Have a wait file that no other user but root can write, before the provider is loaded. Returns 0; or -errno, -EPERM
 * where another user's is there: then the provider must not be loaded. Only while the process has one thread.
 */
int wait_file_secure(void);

#endif
