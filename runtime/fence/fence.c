/*
 * fence.c -- fences: eventfds that are written once, and never read.
 *
 * LAYOUT    The count: 0 pending, 0xfffffffffffffffe failed, anything else signalled. poll(2) shows which: only a count
 *           below the greatest is writable, only one that is not 0 readable.
 * ORDERING  A process that finds a fence signalled sees what the signaller wrote before, because both take the
 *           kernel's lock.
 * PROGRESS  If two threads signal a fence at the same time, the kernel decides: failing needs a count of 0,
 *           signalling any count but the greatest. Two threads that both signal it make the count 2, which is
 *           signalled, too.
 * TRUST     A peer may send any file as a fence, and poll(2) or write(2) on it may block or do harm: so the code
 *           first asks the kernel for the type of the file. A peer that reads its fence or writes to it spoils its
 *           own answers. A peer can make a write to the fence block, between the check of the flags and the write:
 *           then a signal interrupts the write, and the code checks the flags again (service/fenced.c). No other
 *           means keeps a write from blocking: the flags belong to the open file, which the peer has too; an eventfd
 *           refuses RWF_NOWAIT for writes (EOPNOTSUPP), and cannot be opened a second time (ENXIO). So a thread that
 *           signals holds nothing that others wait for.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/saturating.h"
#include "base/sys.h"
#include "fence/fence.h"

#define SIGNALLED UINT64_C(1)
#define FAILED UINT64_C(0xfffffffffffffffe)

enum { LINE, OWN, FENCES }; /* indexes into the pollfds of a wait */

int nnb_fence_new(int *ret)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

/* The state of an fd that is an eventfd. */
static int state_of(int fence)
{
	struct pollfd at = { .fd = fence, .events = POLLIN | POLLOUT };

	while (poll(&at, 1, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (at.revents & POLLNVAL)
		return -EINVAL;
	if (!(at.revents & POLLIN))
		return NNB_FENCE_PENDING;
	return at.revents & POLLOUT ? NNB_FENCE_SIGNALLED : NNB_FENCE_FAILED;
}

int nnb_fence_state(int fence)
{
	return nnb__is_eventfd(fence) ? state_of(fence) : -EINVAL;
}

int nnb_fence_signal(int fence, bool failed)
{
	const uint64_t n = failed ? FAILED : SIGNALLED;
	int flags, r = nnb_fence_state(fence);

	while (r == NNB_FENCE_PENDING) {
		/* read the flags again, because another holder of the eventfd may have changed them */
		flags = fcntl(fence, F_GETFL);
		if (!(flags & O_NONBLOCK))
			fcntl(fence, F_SETFL, flags | O_NONBLOCK);
		if (write(fence, &n, sizeof(n)) >= 0 || errno == EAGAIN)
			return 0; /* EAGAIN: another caller was first */
		if (errno != EINTR)
			return -errno;
		r = state_of(fence);
	}
	return r < 0 ? r : 0;
}

/* ---- waiting ---- */

/* Remove the fences that are signalled from @fds. Returns how many are left; *ret: FAILED, or an error. */
static uint32_t strike_out(struct pollfd *fds, uint32_t n, int *ret)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		int state = fds[i].revents ? state_of(fds[i].fd) : NNB_FENCE_PENDING;

		if (state == NNB_FENCE_FAILED || state < 0)
			*ret = state;
		if (state == NNB_FENCE_SIGNALLED)
			fds[i].fd = -1;
		left += fds[i].fd >= 0;
	}
	return left;
}

static int wait_for_all(struct pollfd *fds, uint32_t n, uint64_t until)
{
	int r = NNB_FENCE_PENDING;
	uint32_t left = n;

	while (left && r == NNB_FENCE_PENDING) {
		uint64_t now = nnb__now(), ns = until > now ? until - now : 0;
		const struct timespec timeout = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
		uint32_t before = left;
		int ready = ppoll(fds, n + FENCES, until == UINT64_MAX ? NULL : &timeout, NULL);

		if (ready < 0)
			return -errno;
		if (!ready)
			return NNB_FENCE_PENDING;
		if (fds[LINE].revents || fds[OWN].revents)
			return -ECANCELED;
		left = strike_out(fds + FENCES, n, &r);
		assert(left <= before);
	}
	return r == NNB_FENCE_PENDING ? NNB_FENCE_SIGNALLED : r;
}

int nnb__fence_wait(const int *fences, uint32_t n, uint64_t until, int line, int own)
{
	struct pollfd *fds;
	int r;

	for (uint32_t i = 0; i < n; i++)
		if (!nnb__is_eventfd(fences[i]))
			return -EINVAL;
	fds = calloc((size_t)n + FENCES, sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	fds[LINE] = (struct pollfd){ .fd = line };
	fds[OWN] = (struct pollfd){ .fd = own, .events = POLLIN };
	for (uint32_t i = 0; i < n; i++)
		fds[FENCES + i] = (struct pollfd){ .fd = fences[i], .events = POLLIN };
	r = wait_for_all(fds, n, until);
	free(fds);
	return r;
}

int nnb_fence_wait(const int *fences, uint32_t n, uint64_t timeout_ns)
{
	return nnb__fence_wait(fences, n, timeout_ns ? nnb__saturating_sum(nnb__now(), timeout_ns) : UINT64_MAX, -1,
	                       -1);
}
