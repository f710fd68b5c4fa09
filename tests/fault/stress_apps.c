/* stress_apps.c -- see stress_apps.h. */
#include "fault/stress_apps.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- in the test ---- */

void stress_app_start(struct stress_crowd *c, unsigned i)
{
	struct stress_app *a = &c->apps[i];
	char argument[64];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFD, 0), 0);
	snprintf(argument, sizeof(argument), "%d %d %u %u", ends[1], c->shared_fd, i, ++c->started);
	child_start(&a->child, "app", &c->s, argument);
	close(ends[1]);
	a->line = ends[0];
	a->works = false;
}

static void stress_app_await(struct stress_app *a)
{
	if (!a->works)
		assert_int_equal(child_read(&a->child), '.');
	a->works = true;
}

void stress_app_kill(struct stress_crowd *c, unsigned i)
{
	child_kill(&c->apps[i].child);
	close(c->apps[i].line);
	c->killed++;
}

void stress_app_end(struct stress_crowd *c, unsigned i, void *report, size_t bytes)
{
	struct stress_app *a = &c->apps[i];
	int status;

	stress_app_await(a);
	assert_int_equal(send(a->line, ".", 1, MSG_NOSIGNAL), 1);
	status = child_end(&a->child);
	if (status)
		fail_msg("an app ended with %d", status);
	if (bytes)
		assert_int_equal(recv(a->line, report, bytes, 0), bytes);
	close(a->line);
}

void stress_crowd_step(struct stress_crowd *c, uint64_t most_ns)
{
	static const unsigned op_us[] = { 0, 0, 20, 100, 400 };
	unsigned i = (unsigned)(next_random(&c->seed) % c->n);

	atomic_store(&c->s.gate->op_us, op_us[next_random(&c->seed) % N_OF(op_us)]);
	if (next_random(&c->seed) % 4)
		stress_app_await(&c->apps[i]); /* otherwise the app may be killed while it begins */
	nanosleep(&(struct timespec){ .tv_nsec = (long)(next_random(&c->seed) % most_ns) }, NULL);
	stress_app_kill(c, i);
	stress_app_start(c, i);
}

/* ---- in an app ---- */

bool stress_app_read(struct stress_argument *ret, const char *text)
{
	return sscanf(text, "%d %d %u %u", &ret->line, &ret->shared_fd, &ret->seat, &ret->number) == 4;
}

bool stress_app_is_called_off(int line)
{
	struct pollfd at = { .fd = line, .events = POLLIN };
	char byte;

	return poll(&at, 1, 100) == 1 && recv(line, &byte, 1, 0) == 1;
}

void stress_app_check_wait(uint64_t since)
{
	uint64_t now = now_ns();

	if (now > since && now - since > PATIENCE) {
		fprintf(stderr, "app %d waits for ever\n", (int)getpid());
		_exit(5);
	}
}
