/*
 * write.h -- writes all of a text or a struct, with as many calls as that takes.
 */
#ifndef BSV_BASE_WRITE_H
#define BSV_BASE_WRITE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/*
 * Write @n bytes to @fd. False: an error, errno has which. Async-signal-safe, but changes errno. A pipe without a
 * reader raises SIGPIPE.
 */
static inline bool bsv_write_all(int fd, const void *from, size_t n)
{
	while (n) {
		ssize_t done = write(fd, from, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		from = (const char *)from + done;
		n -= (size_t)done;
	}
	return true;
}

#endif
