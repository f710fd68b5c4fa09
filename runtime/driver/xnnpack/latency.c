/*
 * latency.c -- keeping the CPU out of deep idle states while a burst is open (B-2), by the kernel's PM QoS.
 *
 * Between two requests of a burst a CPU that has nothing to do goes to sleep, the deeper the longer the gap; waking
 * up from the deepest state takes some 100 us, which the next request waits. A process that holds
 * /dev/cpu_dma_latency open has a request with the kernel: no state from which waking up takes longer than the number
 * of microseconds that was written there.
 *
 * CONCURRENCY  One call at a time (nnb_driver): several devices of one process have calls side by side, so that
 *              holders are counted.
 * CRASH        The kernel drops the request with the process's last descriptor of it.
 */
#include "latency.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned holders; /* under the lock, as is fd */
static int fd = -1;      /* -1: the process has no request, or may not have one */

static int open_request(void)
{
	const int32_t microseconds = NNBX_WAKE_UP_US;
	int request = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);

	if (request >= 0 && write(request, &microseconds, sizeof(microseconds)) != sizeof(microseconds)) {
		close(request);
		request = -1;
	}
	return request; /* a hint: only root may open it, and not every machine has it */
}

void nnbx_performance(void *device, bool on)
{
	(void)device;
	pthread_mutex_lock(&lock);
	if (on && holders++ == 0)
		fd = open_request();
	if (!on && --holders == 0 && fd >= 0) {
		close(fd);
		fd = -1;
	}
	pthread_mutex_unlock(&lock);
}
