/*
 * worker.h -- the process that makes calls on an app's file, or receives the app's messages, for the service.
 */
#ifndef NNB_MEMORY_WORKER_H
#define NNB_MEMORY_WORKER_H

#include "memory/packet.h"

/* Make the call @request, one of NNB__ERRAND_TRY to NNB__ERRAND_WRITE, on @fd. @data: what it reads or writes. */
struct nnb__errand_answer nnb__errand_make(const struct nnb__errand_request *request, int fd, void *data);

/* Be a worker: run the errands that come from @sock, until nothing is left to do. */
_Noreturn void nnb__worker_run(int sock);

#endif
