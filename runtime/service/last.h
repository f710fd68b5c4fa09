/* last.h -- exits without a wait for the files that this process has mapped. */
#ifndef NNB_SERVICE_LAST_H
#define NNB_SERVICE_LAST_H

/*
 * Exit with @status now, though the files that are mapped take long to unmap: another process, which shares this one's
 * memory and nothing else, stays until this one is gone, and the kernel unmaps them in that process. The prober of the
 * socket @prober (0: none) ends after that. Runs no handler of atexit; flushes no stream.
 */
_Noreturn void last_exit(int status, int prober);

#endif
