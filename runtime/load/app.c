/*
 * app.c -- one app: a process of its own, with a connection, its models, and a thread for each thread of each stream.
 *
 * The app reads its orders from the board, reports that it is ready, waits for the time to begin, and leaves its
 * counts on the board.
 */
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sys.h"
#include "board.h"
#include "load.h"
#include "stream.h"

enum { ROWS = 64 }; /* initial room for the counts of apps */

struct app {
	struct load_fds fds;
	struct load_board *board;
	struct load_scenario *scenario;
	const struct load_app *app;
	struct load_run run;
	struct load_line *lines;
	struct load_thread *threads;
	uint32_t n_started;
};

/* Write the problem to the board. Returns @status. */
static int app_broken(struct app *a, int status, const char *what, const char *why)
{
	struct load_board *b = a->board;

	nnb_because(&b->problem, "%s%s%s", what, *what && *why ? ": " : "", why);
	b->status = status;
	atomic_store(&b->state, LOAD_BROKEN);
	return status;
}

/* ---- getting ready ---- */

static int read_orders(struct app *a)
{
	const struct load_orders *o;
	struct nnb_reason why = { "" };
	struct load_orders first;
	char *text;
	int r;

	if (pread(a->fds.board, &first, sizeof(first), 0) != sizeof(first))
		return LOAD_ENVIRONMENT;
	a->board = mmap(NULL, first.board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, a->fds.board, 0);
	if (a->board == MAP_FAILED)
		return LOAD_ENVIRONMENT;
	o = &a->board->orders;
	text = mmap(NULL, o->scenario_bytes, PROT_READ, MAP_SHARED, a->fds.scenario, 0);
	if (text == MAP_FAILED)
		return app_broken(a, LOAD_ENVIRONMENT, "the scenario", strerror(errno));
	r = load_scenario_parse(&a->scenario, text, o->scenario_bytes, o->name, o->dir, &why);
	munmap(text, o->scenario_bytes);
	if (r)
		return app_broken(a, LOAD_INPUT, "the scenario", why.text);
	assert(o->app < a->scenario->n_apps); /* by the same program, from the same text */
	a->app = &a->scenario->apps[o->app];
	return LOAD_DONE;
}

/* Read the files before the process changes its user. */
static int make_works(struct app *a)
{
	struct nnb_reason why = { "" };

	a->lines = calloc(a->app->n_streams, sizeof(*a->lines));
	a->threads = calloc(a->app->n_threads, sizeof(*a->threads));
	if (!a->lines || !a->threads)
		return app_broken(a, LOAD_ENVIRONMENT, "no memory", "");
	for (uint32_t i = 0; i < a->app->n_streams; i++) {
		struct load_line *l = &a->lines[i];

		*l = (struct load_line){ .run = &a->run,
			                 .stream = &a->app->streams[i],
			                 .outcome = &a->board->outcomes[i],
			                 .left = a->board->orders.executions };
		if (load_work_new(&l->work, l->stream, a->scenario->dir, a->board->orders.seed, &why) ||
		    load_work_keep(l->work, l->stream, &why))
			return app_broken(a, LOAD_INPUT, l->stream->model, why.text);
	}
	return LOAD_DONE;
}

static int connect_to_service(struct app *a)
{
	const struct load_orders *o = &a->board->orders;
	struct nnb_client_config config = { .socket = o->socket[0] ? o->socket : NULL,
		                            .name = a->app->name,
		                            .timeout_ns = o->timeout_ns,
		                            .hal = (enum nnb_hal)(NNB_HAL_1_0 + a->app->hal) };
	struct nnb_reason why = { "" };
	int r = nnb_client_open(&a->run.client, &config, &why);

	if (r)
		return app_broken(a, LOAD_ENVIRONMENT, "", why.text[0] ? why.text : strerror(-r));
	a->board->service = *nnb_client_info(a->run.client);
	return LOAD_DONE;
}

static int app_prepare(struct app *a)
{
	for (uint32_t i = 0; i < a->app->n_streams; i++) {
		struct load_line *l = &a->lines[i];
		uint64_t began = nnb__now(), by = l->stream->prepare_deadline_ns;
		struct nnb_prepare how = { .preference = 1,
			                   .priority = l->stream->priority,
			                   .deadline_ns = by ? began + by : 0 };
		struct nnb_reason why = { "" }, words;
		enum nnb_status status =
			nnb_remote_prepare(a->run.client, l->work->model, &how, NULL, &l->remote, &why);

		l->outcome->prepared = status;
		if (status && !(by && load_expected(status, false))) {
			nnb_because(&words, "%s: %s", nnb_status_name(status), why.text);
			return app_broken(a, LOAD_FAILED, l->stream->name, words.text);
		}
		l->outcome->prepare_ns = nnb__now() - began;
		if (l->remote)
			l->outcome->remote = nnb_remote_id(l->remote);
	}
	return LOAD_DONE;
}

/* Ask the service for the counts of this app. False: no answer. */
static bool ask_of_us(struct app *a, struct nnb_app_counts *ret)
{
	struct nnb_app_counts *rows = NULL, *more;
	uint32_t room = 0, n = ROWS;
	bool answered = true;

	*ret = (struct nnb_app_counts){ .app = a->board->service.app };
	while (answered && n > room) { /* other apps may connect in between */
		room = n;
		more = realloc(rows, room * sizeof(*rows));
		answered = more && !nnb_client_apps(a->run.client, more, room, &n, NULL);
		rows = more ? more : rows;
	}
	for (uint32_t i = 0; answered && i < n; i++)
		if (rows[i].app == ret->app)
			*ret = rows[i];
	free(rows);
	return answered;
}

static int get_ready(struct app *a)
{
	int status = read_orders(a);
	uid_t uid;

	if (!status)
		status = make_works(a);
	if (status)
		return status;

	/* become the app's user */
	uid = (uid_t)a->app->uid;
	if (a->app->nice && setpriority(PRIO_PROCESS, 0, (int)a->app->nice))
		return app_broken(a, LOAD_ENVIRONMENT, "nice", strerror(errno));
	if (a->app->uid >= 0 && (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid)))
		return app_broken(a, LOAD_ENVIRONMENT, "uid", strerror(errno));
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the kernel clears this setting when the user changes */

	status = connect_to_service(a);
	if (!status)
		status = app_prepare(a);
	if (status)
		return status;
	ask_of_us(a, &a->board->before);
	a->run.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	a->run.idle = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->run.stop < 0 || a->run.idle < 0)
		return app_broken(a, LOAD_ENVIRONMENT, "eventfd", strerror(errno));
	return LOAD_DONE;
}

/* ---- running ---- */

static int start_threads(struct app *a)
{
	uint32_t n = 0; /* index of the thread among all threads of the app */

	for (uint32_t i = 0; i < a->app->n_streams; i++)
		for (int64_t k = 0; k < a->app->streams[i].threads; k++) {
			uint64_t number = (uint64_t)a->board->orders.app << 32 | i << 16 | (uint64_t)k;
			struct load_thread *t = &a->threads[a->n_started];
			struct load_figures *figures = &a->board->figures[n];
			struct load_log *log = load_board_log(a->board, a->app, n++);
			int r;

			assert(n <= a->app->n_threads && a->n_started < n);
			if (!a->lines[i].remote) /* not prepared */
				continue;
			*t = (struct load_thread){ .line = &a->lines[i],
				                   .figures = figures,
				                   .log = log,
				                   .seed = a->board->orders.seed + (number << 8) };
			r = pthread_create(&t->thread, NULL, load_thread_main, t);
			if (r)
				return app_broken(a, LOAD_ENVIRONMENT, "a thread", strerror(r));
			a->n_started++;
		}
	return LOAD_DONE;
}

static int app_run(struct app *a)
{
	struct pollfd fds[] = { { .fd = a->fds.orders, .events = POLLIN }, { .fd = a->run.idle, .events = POLLIN } };
	eventfd_t n;
	uint64_t through = 0;
	int status;

	/* let waits end in time, not up to 50 us late. Threads inherit the setting */
	prctl(PR_SET_TIMERSLACK, 1);
	a->board->began = a->run.began;
	atomic_store(&a->board->state, LOAD_RUNNING);
	status = start_threads(a);
	assert(a->n_started <= a->app->n_threads);
	/* until all threads have ended, or the parent closes its end */
	while (!status && through < a->n_started && !fds[0].revents)
		if (poll(fds, 2, -1) > 0 && eventfd_read(a->run.idle, &n) == 0)
			through += n;
	atomic_store(&a->run.stopping, true);
	eventfd_write(a->run.stop, 1);
	for (uint32_t i = 0; i < a->n_started; i++)
		pthread_join(a->threads[i].thread, NULL);
	a->board->ended = nnb__now();
	/* read the service's counts of this app and the times of its models, before disconnecting discards them */
	a->board->counted = ask_of_us(a, &a->board->after);
	for (uint32_t i = 0; i < a->app->n_streams; i++)
		if (a->lines[i].remote)
			nnb_remote_times(a->lines[i].remote, &a->board->outcomes[i].times, NULL);
	for (uint32_t i = 0; !status && i < a->app->n_streams; i++)
		if (a->board->outcomes[i].broken)
			status = app_broken(a, LOAD_FAILED, a->app->streams[i].name, a->board->outcomes[i].reason.text);
	return status;
}

int load_app_main(const struct load_fds *fds)
{
	struct app a = { .fds = *fds, .run.lock = PTHREAD_MUTEX_INITIALIZER };
	int status;

	status = get_ready(&a);
	a.run.board = a.board;
	if (!status) {
		/* report that the app is ready, and wait for the time to begin */
		atomic_store(&a.board->state, LOAD_READY);
		status = LOAD_FAILED;
		if (send(a.fds.orders, "", 1, MSG_NOSIGNAL) == 1 &&
		    recv(a.fds.orders, &a.run.began, sizeof(a.run.began), 0) == sizeof(a.run.began))
			status = app_run(&a);
	}
	for (uint32_t i = 0; a.lines && i < a.app->n_streams; i++) {
		nnb_remote_release(a.lines[i].remote);
		load_work_free(a.lines[i].work);
	}
	nnb_client_close(a.run.client);
	free(a.lines);
	free(a.threads);
	load_scenario_free(a.scenario);
	if (!status)
		atomic_store(&a.board->state, LOAD_FINISHED);
	return status;
}
