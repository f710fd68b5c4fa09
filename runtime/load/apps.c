/*
 * apps.c -- starts the apps of a scenario, waits for them, and collects their boards.
 *
 * An app is a process of this program. It dies with its parent, which reaps it by its pid. Signals are unblocked only
 * while the parent waits, so none is missed.
 */
#include "apps.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "load.h"

#define HEAD_START (20 * (uint64_t)LOAD_MS)     /* from the message with the time to begin until that time */
#define PATIENCE (10 * LOAD_S)                  /* wait for an app, beyond the timeout of a call */
#define BETWEEN_LOOKS (200 * (uint64_t)LOAD_MS) /* interval of the progress line */

static volatile sig_atomic_t interrupts;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupts++;
}

/* ---- starting ---- */

static int memory_of(const char *name, const void *bytes, size_t n, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Runs in the new process, which is still a copy of the parent. */
static void __attribute__((noreturn)) become_app(const struct load_fds *fds, const sigset_t *signals)
{
	const int all[] = { fds->orders, fds->scenario, fds->board };
	char words[64];
	char *argv[] = { program_invocation_name, "--app", words, NULL };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN); /* Ctrl-C interrupts the parent, which then stops the app */
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		fcntl(all[i], F_SETFD, 0);
	snprintf(words, sizeof(words), "%d,%d,%d", fds->orders, fds->scenario, fds->board);
	sigprocmask(SIG_SETMASK, signals, NULL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

static int app_start(struct load_session *s, uint32_t app, int scenario, const sigset_t *signals)
{
	struct load_process *p = &s->processes[app];
	struct load_fds fds = { .scenario = scenario, .board = -1 };
	struct load_orders orders = { .app = app,
		                      .seed = s->seed,
		                      .duration_ns = s->duration_ns,
		                      .timeout_ns = s->scenario->timeout_ns,
		                      .executions = s->scenario->executions,
		                      .scenario_bytes = s->text_bytes,
		                      .board_bytes = load_board_bytes(&s->scenario->apps[app], s->log_room),
		                      .log_room = s->log_room };
	int sock[2];

	strcpy(orders.name, s->scenario->name);
	strcpy(orders.dir, s->scenario->dir);
	if (s->socket)
		snprintf(orders.socket, sizeof(orders.socket), "%s", s->socket);
	fds.board = memory_of("nnburst-load-board", &orders, sizeof(orders), orders.board_bytes);
	if (fds.board < 0)
		return -errno;
	p->board = mmap(NULL, orders.board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds.board, 0);
	if (p->board == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock)) {
		if (p->board == MAP_FAILED)
			p->board = NULL;
		close(fds.board);
		return -errno;
	}
	for (uint32_t i = 0; s->log_room && i < s->scenario->apps[app].n_threads; i++)
		load_board_log(p->board, &s->scenario->apps[app], i)->room = s->log_room;
	fds.orders = sock[1];
	p->orders = sock[0];
	p->pid = fork();
	if (p->pid == 0)
		become_app(&fds, signals);
	close(sock[1]);
	close(fds.board);
	if (p->pid > 0)
		return 0;
	p->pid = 0;
	close(p->orders);
	return -errno;
}

/* ---- waiting ---- */

static void show_progress(const struct load_session *s)
{
	uint64_t now = nnb__now(), n = 0;

	if (!s->progress || !s->began)
		return;
	for (uint32_t i = 0; i < s->scenario->n_apps; i++)
		for (uint32_t k = 0; k < s->scenario->apps[i].n_threads; k++)
			n += atomic_load_explicit(&s->processes[i].board->figures[k].executions, memory_order_relaxed);
	fprintf(stderr, "\r%6.1f s of %.1f s, %" PRIu64 " executions ",
	        now > s->began ? (double)(now - s->began) / 1e9 : 0.0, (double)s->duration_ns / 1e9, n);
}

static void stop_all_apps(struct load_session *s)
{
	for (uint32_t i = 0; i < s->scenario->n_apps; i++)
		if (s->processes[i].pid && !s->processes[i].gone)
			shutdown(s->processes[i].orders, SHUT_WR);
}

static void kill_all(struct load_session *s, bool slow)
{
	for (uint32_t i = 0; i < s->scenario->n_apps; i++)
		if (s->processes[i].pid && !s->processes[i].gone) {
			s->processes[i].slow = slow;
			kill(s->processes[i].pid, SIGKILL);
		}
}

/* Read from an app: a byte means that it is ready, the end that it has ended or is about to. */
static void app_hear(struct load_process *p)
{
	char byte;

	if (recv(p->orders, &byte, 1, MSG_DONTWAIT) == 1) {
		p->ready = true;
		return;
	}
	assert(p->pid && !p->gone);
	p->gone = true;
	close(p->orders);
	while (wait4(p->pid, &p->wait_status, 0, &p->usage) < 0 && errno == EINTR)
		;
}

/* Wait until an app sends a message, a signal arrives, or @until has passed. */
static void listen_once(struct load_session *s, uint64_t until, const sigset_t *signals)
{
	struct pollfd fds[LOAD_APPS_MAX];
	uint64_t now = nnb__now(), left = until > now ? until - now : 0;
	struct timespec t;

	assert(s->scenario->n_apps <= LOAD_APPS_MAX);
	if (s->progress && left > BETWEEN_LOOKS)
		left = BETWEEN_LOOKS;
	t = (struct timespec){ .tv_sec = (time_t)(left / LOAD_S), .tv_nsec = (long)(left % LOAD_S) };
	for (uint32_t i = 0; i < s->scenario->n_apps; i++) {
		const struct load_process *p = &s->processes[i];

		fds[i] = (struct pollfd){ .fd = p->pid && !p->gone ? p->orders : -1, .events = POLLIN };
	}
	if (ppoll(fds, s->scenario->n_apps, &t, signals) <= 0)
		return;
	for (uint32_t i = 0; i < s->scenario->n_apps; i++)
		if (fds[i].revents)
			app_hear(&s->processes[i]);
}

static bool all_apps(const struct load_session *s, bool ready)
{
	for (uint32_t i = 0; i < s->scenario->n_apps; i++) {
		const struct load_process *p = &s->processes[i];

		if (p->pid && !p->gone && !(ready && p->ready))
			return false;
	}
	return true;
}

/*
 * Wait until all apps have ended or, if @ready is true, are ready. An app that takes too long is asked to stop, then
 * killed.
 */
static void wait_for_all(struct load_session *s, bool ready, uint64_t until, const sigset_t *signals)
{
	bool stopped = false;

	while (!all_apps(s, ready)) {
		listen_once(s, until, signals);
		show_progress(s);
		if (interrupts > 1 || (stopped && nnb__now() >= until)) {
			kill_all(s, interrupts <= 1);
			until = UINT64_MAX;
		} else if (!stopped && (interrupts || nnb__now() >= until)) {
			stop_all_apps(s);
			stopped = true;
			until = nnb__now() + s->scenario->timeout_ns + PATIENCE;
		}
	}
}

/* ---- from beginning to end ---- */

bool load_process_fine(const struct load_process *p)
{
	return p->gone && WIFEXITED(p->wait_status) && WEXITSTATUS(p->wait_status) == LOAD_DONE;
}

/* The status of an app that ended before the beginning, if there is one. */
static int first_problem(const struct load_session *s, struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < s->scenario->n_apps; i++) {
		const struct load_process *p = &s->processes[i];

		if (!p->gone)
			continue;
		nnb_because(reason, "app '%s': %.180s", s->scenario->apps[i].name,
		            atomic_load(&p->board->state) == LOAD_BROKEN ? p->board->problem.text
		                                                         : "died before it began");
		return atomic_load(&p->board->state) == LOAD_BROKEN ? p->board->status : LOAD_FAILED;
	}
	return LOAD_DONE;
}

static int session_begin(struct load_session *s, struct nnb_reason *reason)
{
	int status = first_problem(s, reason);

	if (!status && interrupts) {
		nnb_because(reason, "interrupted before it began");
		status = LOAD_FAILED;
	}
	if (status) {
		stop_all_apps(s);
		return status;
	}
	s->began = nnb__now() + HEAD_START;
	for (uint32_t i = 0; i < s->scenario->n_apps; i++)
		send(s->processes[i].orders, &s->began, sizeof(s->began), MSG_NOSIGNAL);
	return LOAD_DONE;
}

static int start_all(struct load_session *s, const sigset_t *signals, struct nnb_reason *reason)
{
	int scenario = memory_of("nnburst-load-scenario", s->text, s->text_bytes, s->text_bytes), r = 0;

	if (scenario < 0)
		r = -errno;
	for (uint32_t i = 0; !r && i < s->scenario->n_apps; i++)
		r = app_start(s, i, scenario, signals);
	if (scenario >= 0)
		close(scenario);
	if (!r)
		return LOAD_DONE;
	nnb_because(reason, "cannot start an app: %s", strerror(-r));
	kill_all(s, false);
	return LOAD_ENVIRONMENT;
}

int load_session_run(struct load_session *s, struct nnb_reason *reason)
{
	uint64_t patience = s->scenario->timeout_ns + PATIENCE;
	struct sigaction action = { .sa_handler = on_interrupt };
	sigset_t ours, signals;
	int status;

	s->processes = calloc(s->scenario->n_apps, sizeof(*s->processes));
	if (!s->processes) {
		nnb_because(reason, "no memory");
		return LOAD_ENVIRONMENT;
	}
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGTERM);
	sigprocmask(SIG_BLOCK, &ours, &signals);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	status = start_all(s, &signals, reason);
	if (!status) {
		wait_for_all(s, true, nnb__now() + patience, &signals);
		status = session_begin(s, reason);
	}
	wait_for_all(s, false, nnb__now() + (s->began ? s->duration_ns : 0) + patience, &signals);
	s->ended = nnb__now();
	s->interrupted = interrupts > 0;
	if (s->progress)
		fputs("\r\033[K", stderr);
	return status;
}

uint64_t load_session_log(const struct load_session *s, FILE *to)
{
	uint64_t dropped = 0;

	load_log_head(to);
	for (uint32_t i = 0; s->processes && i < s->scenario->n_apps; i++)
		for (uint32_t k = 0; s->processes[i].board && k < s->scenario->apps[i].n_threads; k++) {
			const struct load_log *log = load_board_log(s->processes[i].board, &s->scenario->apps[i], k);

			load_log_write(to, log);
			dropped += load_log_dropped(log);
		}
	return dropped;
}

void load_session_fini(struct load_session *s)
{
	for (uint32_t i = 0; s->processes && i < s->scenario->n_apps; i++)
		if (s->processes[i].board)
			munmap(s->processes[i].board, load_board_bytes(&s->scenario->apps[i], s->log_room));
	free(s->processes);
}
