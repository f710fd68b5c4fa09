/*
 * places.c -- which apps may have workers, and how many; also the functions of errand.h that concern no call.
 *
 * BOUND     A worker that has not answered is killed. If a call keeps the worker where no signal ends it, the worker
 *           stays and counts against its app. An app has few workers, and all apps together have a limit. Trials have
 *           workers and limits of their own, so that an app that keeps all others at work, or has left them behind, is
 *           tried nevertheless (suspicion.c). Messages with files have workers and limits of their own, too: porters.
 *           Some apps are guaranteed one of each. A porter is never killed while the service lives, because the service
 *           would be the last one to close the sockets that it has. It counts until it has ended (worker.c), against
 *           its app and against the limit of all. One that was left behind and comes back is a former porter: its app
 *           may have another one in its place, but has few in all. An app with a connection has sockets that a porter
 *           holds, so its porter would not end if another app took its place: it has that place until it is gone. The
 *           more porters an app has, the more places must be free for another one; the last quarter of them is for
 *           apps that have none. So an app that was let in has a porter, whatever others do.
 * CONCURRENCY  Any thread. One lock guards all workers' records. No thread waits under it: no socket blocks there, and
 *           no file of an app is closed there. A caller whose worker is BUSY uses that worker without the lock. A
 *           thread of its own closes what is left here of porters that end with their apps.
 */
#include "memory/places.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/kept.h"
#include "base/lock.h"
#include "base/sys.h"
#include "memory/packet.h"
#include "memory/prober.h"

#define CLOSE_NS UINT64_C(1000000000)   /* for refused files; then it is left behind */
#define GOING_LOOK_NS UINT64_C(1000000) /* between two looks whether a porter that is about to end has ended */
#define STUCK_NS UINT64_C(10000000000)  /* what was killed and has not ended for so long has not only no cpu */

enum { REAP_US = 5000 }; /* between two looks whether porters have ended whose apps are gone */

/* A porter that was left behind and has come back. It counts among the porters of all apps. */
struct former {
	struct nnb__keeper *keeper; /* NULL: none. It shows whether the porter has ended */
	uint64_t gone;              /* when its app was gone, so that it is about to end; 0: not yet */
};

struct nnb__errands {
	struct former formers[NNB__ERRAND_PORTERS_ALL];
	bool is_guaranteed; /* it may have a process for trials, and a porter, beyond the limits of all apps */
	struct nnb__errands *next;
	uint32_t key;
	uint32_t refs;
	uint64_t unused_at; /* when its app was gone, if refs is 0 */
	int gone; /* an eventfd that its porters have, too, and that is signalled when no one uses this; -1: none yet */
	struct nnb__worker workers[NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS + NNB__ERRAND_PORTERS];
};

/* Which workers of an app are of a kind, and how many of these it may leave behind. */
static const struct {
	int first, end;
	unsigned left;
} places[NNB__WORKER_KINDS] = {
	[NNB__CALLERS] = { 0, NNB__ERRAND_WORKERS, NNB__ERRAND_LEFT },
	[NNB__TRIERS] = { NNB__ERRAND_WORKERS, NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS, NNB__ERRAND_TRIERS },
	[NNB__PORTERS] = { NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS,
	                   NNB__ERRAND_WORKERS + NNB__ERRAND_TRIERS + NNB__ERRAND_PORTERS, NNB__ERRAND_PORTERS },
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of this */
static pthread_cond_t some_idle = PTHREAD_COND_INITIALIZER;
static struct nnb__errands *all;
/* of all apps, without those that are beyond */
static unsigned n_workers[NNB__WORKER_KINDS], workers_most[NNB__WORKER_KINDS];
static unsigned n_guaranteed, guaranteed_most; /* apps, without those that are always guaranteed */
static uint32_t always[NNB__ERRAND_ALWAYS];    /* keys of apps that are always guaranteed */
static unsigned n_always;
static int prober = -1; /* written once, before any errands exist */

static _Thread_local struct nnb__errands *mine;

void nnb__errands_begin(int sock, unsigned workers)
{
	pthread_mutex_lock(&lock);
	if (prober < 0) {
		prober = sock;
		workers_most[NNB__CALLERS] = workers;
		workers_most[NNB__TRIERS] = workers / 2 > NNB__ERRAND_TRIERS ? workers / 2 : NNB__ERRAND_TRIERS;
		workers_most[NNB__PORTERS] = 4 * workers;
	}
	pthread_mutex_unlock(&lock);
}

void nnb__errands_guarantee(unsigned apps, const uint32_t *keys, unsigned n)
{
	assert(n <= NNB__ERRAND_ALWAYS);
	pthread_mutex_lock(&lock);
	if (!guaranteed_most && !n_always) {
		guaranteed_most = apps;
		n_always = n;
		for (unsigned i = 0; i < n; i++)
			always[i] = keys[i];
	}
	pthread_mutex_unlock(&lock);
}

/* The lock is held. */
static void worker_end(struct nnb__worker *w)
{
	assert(nnb__is_locked(&lock) && (w->is_beyond || n_workers[w->kind]));
	n_workers[w->kind] -= !w->is_beyond;
	close(w->sock);
	if (w->process >= 0)
		close(w->process);
	nnb__keeper_unref(w->keeper);
	*w = (struct nnb__worker){ .state = NNB__WORKER_NONE, .sock = -1, .process = -1 };
}

/* A worker has all its sockets closed once it has ended, however long that takes. */
static bool worker_has_ended(const struct nnb__worker *w)
{
	struct pollfd p = { .fd = w->sock };

	return poll(&p, 1, 0) > 0;
}

/* Forget the former porters that have ended. Returns the number of the others, and *ret_left: that count. Locked. */
static unsigned formers_left(struct nnb__errands *e, unsigned *ret_left)
{
	unsigned n = 0;

	assert(nnb__is_locked(&lock));
	*ret_left = 0;
	for (int i = 0; i < NNB__ERRAND_PORTERS_ALL; i++) {
		struct former *f = &e->formers[i];

		if (f->keeper && nnb__keeper_has_ended(f->keeper)) {
			f->keeper = nnb__keeper_unref(f->keeper);
			n_workers[NNB__PORTERS]--;
		}
		n += f->keeper != NULL;
		*ret_left += f->keeper && f->gone && nnb__now() - f->gone >= CLOSE_NS;
	}
	return n;
}

/* The lock is held. */
static bool is_full(enum nnb__worker_kind kind)
{
	return n_workers[kind] >= workers_most[kind];
}

/*
 * The service has no more errands for the porter @w of @e, which stays until it holds nothing. False: it is beyond the
 * limit of all apps, and has to stay so. The lock is held.
 */
static bool former_add(struct nnb__errands *e, const struct nnb__worker *w)
{
	int i = 0;

	assert(nnb__is_locked(&lock));
	if (!w->keeper || nnb__keeper_has_ended(w->keeper))
		return true;
	if (w->is_beyond && is_full(NNB__PORTERS))
		return false;
	while (i < NNB__ERRAND_PORTERS_ALL && e->formers[i].keeper)
		i++;
	assert(i < NNB__ERRAND_PORTERS_ALL); /* porter_fits */
	e->formers[i] = (struct former){ .keeper = nnb__keeper_ref(w->keeper), .gone = e->refs ? 0 : nnb__now() };
	n_workers[NNB__PORTERS]++; /* beside @w, until that ends */
	return true;
}

/*
 * The service has no more errands for @w, which has ended, or does so once it holds nothing: its place is free, unless
 * it cannot be a former porter. The lock is held.
 */
static void worker_retire(struct nnb__errands *e, struct nnb__worker *w)
{
	nnb__keeper_hurry(w->keeper);
	if (w->kind != NNB__PORTERS || former_add(e, w)) {
		worker_end(w);
		return;
	}
	w->state = NNB__WORKER_LEFT;
	shutdown(w->sock, SHUT_RDWR);
}

/*
 * Leave @w behind. One that holds sockets of the app is not killed: the service would be the last one to close them.
 * The lock is held.
 */
static void worker_leave(struct nnb__errands *e, struct nnb__worker *w)
{
	char byte;

	assert(nnb__is_locked(&lock));
	w->state = NNB__WORKER_LEFT;
	nnb__keeper_hurry(w->keeper);
	if (w->kind != NNB__PORTERS && w->process >= 0)
		syscall(SYS_pidfd_send_signal, w->process, SIGKILL, NULL, 0);
	/*
	 * One that has not begun yet ends after this errand. An answer of a porter would stay in the queue with its
	 * files, so it cannot come any more; then the porter ends, too. One that has just sent its second answer, which
	 * has no files, waits for the end of its socket.
	 */
	shutdown(w->sock, w->kind == NNB__PORTERS ? SHUT_RD : SHUT_WR);
	if (w->kind == NNB__PORTERS && recv(w->sock, &byte, 1, MSG_DONTWAIT) > 0)
		worker_retire(e, w);
}

/*
 * Whether @w, which was left behind, counts against its app. One that has made a trial was killed soon, and may only
 * have had no cpu to end: that is no fault of the app. Nor is it that a porter whose app was gone is about to end.
 */
static bool worker_counts(const struct nnb__worker *w)
{
	uint64_t grace;

	if (w->state != NNB__WORKER_LEFT)
		return false;
	grace = w->kind == NNB__TRIERS && !w->is_stuck ? STUCK_NS : w->is_going ? CLOSE_NS : 0;
	return !grace || nnb__now() - w->began >= grace;
}

/* Forget the workers of a kind that were left behind and have ended. Returns the number of the others. Locked. */
static unsigned left_behind(struct nnb__errands *e, enum nnb__worker_kind kind)
{
	unsigned n = 0;

	assert(nnb__is_locked(&lock));
	for (int i = places[kind].first; i < places[kind].end; i++) {
		if (e->workers[i].state == NNB__WORKER_LEFT && worker_has_ended(&e->workers[i]))
			worker_retire(e, &e->workers[i]);
		n += e->workers[i].state == NNB__WORKER_LEFT;
	}
	return n;
}

/* Whether the app @key is guaranteed its own workers, whichever come before. The lock is held. */
static bool is_always(uint32_t key)
{
	bool is = false;

	assert(nnb__is_locked(&lock));
	for (unsigned i = 0; i < n_always; i++)
		is |= always[i] == key;
	return is;
}

/* Another app may be guaranteed now what @e was. The lock is held. */
static void guarantee_end(struct nnb__errands *e)
{
	n_guaranteed -= e->is_guaranteed && !is_always(e->key);
	e->is_guaranteed = false;
}

/* Free the errands that no one uses and that have left nothing behind. The lock is held. */
static void errands_forget(void)
{
	struct nnb__errands **at = &all;

	assert(nnb__is_locked(&lock));
	while (*at) {
		struct nnb__errands *e = *at;
		unsigned left = left_behind(e, NNB__CALLERS) + left_behind(e, NNB__TRIERS) +
		                left_behind(e, NNB__PORTERS),
			 none;

		/* after those that were left behind, which may become former ones */
		if (left + formers_left(e, &none) || e->refs) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		guarantee_end(e);
		free(e);
	}
}

/* Take the second answer of @w, which closes files; or leave it behind, if that takes long. The lock is held. */
static void worker_closes(struct nnb__errands *e, struct nnb__worker *w)
{
	struct nnb__errand_answer a;
	struct nnb__packet p = { .parts = { { &a, sizeof(a) } }, .n_parts = 1 };
	ssize_t n = nnb__packet_receive(w->sock, &p, MSG_DONTWAIT);

	assert(nnb__is_locked(&lock));
	if (n > 0)
		w->state = NNB__WORKER_IDLE;
	else if (n != -EAGAIN)
		worker_retire(e, w);
	else if (nnb__now() - w->began >= CLOSE_NS)
		worker_leave(e, w);
}

/*
 * No one uses @w any more. A porter closes what is in the queues of its app's sockets before it ends, and counts until
 * then: against the limit of all apps if there is room, otherwise as the one that its app is guaranteed. The lock is
 * held.
 */
static void worker_dismiss(struct nnb__errands *e, struct nnb__worker *w)
{
	if (w->state == NNB__WORKER_CLOSING)
		worker_closes(e, w);
	if (w->state == NNB__WORKER_CLOSING)
		worker_leave(e, w);
	if (w->state == NNB__WORKER_IDLE && w->kind == NNB__PORTERS) {
		if (!is_full(NNB__PORTERS)) {
			n_workers[NNB__PORTERS] += w->is_beyond;
			w->is_beyond = false;
		}
		w->is_going = true;
		w->began = nnb__now();
		w->state = NNB__WORKER_LEFT;
		nnb__keeper_hurry(w->keeper);
		shutdown(w->sock, SHUT_WR); /* it sees the end of its socket, and has no answer to send */
	}
	if (w->state == NNB__WORKER_IDLE)
		worker_end(w);
}

static bool reaps; /* the thread that forgets workers whose apps are gone is there; the lock guards it */

/*
 * Whether some workers of an app that is gone are about to end. Those that have not ended for long are forgotten later
 * (errands_forget). The lock is held.
 */
static bool is_any_going(void)
{
	const uint64_t now = nnb__now();

	assert(nnb__is_locked(&lock));
	for (struct nnb__errands *e = all; e; e = e->next)
		if (!e->refs && now - e->unused_at < STUCK_NS) /* otherwise errands_forget has freed it */
			return true;
	return false;
}

static void *errands_reap(void *arg)
{
	bool goes_on = true;

	while (goes_on) {
		usleep(REAP_US);
		pthread_mutex_lock(&lock);
		errands_forget();
		goes_on = reaps = is_any_going();
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/* Close the descriptors of workers soon after they have ended, even if no other app comes. The lock is held. */
static void errands_reap_soon(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	assert(nnb__is_locked(&lock));
	if (reaps || !is_any_going())
		return;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	reaps = !pthread_create(&thread, &attr, errands_reap, NULL);
	pthread_attr_destroy(&attr);
}

/* The app of @e is gone: dismiss its workers. The lock is held. */
static void errands_quit(struct nnb__errands *e)
{
	const uint64_t one = 1;
	bool left = false;

	assert(nnb__is_locked(&lock) && !e->refs);
	if (e->gone >= 0) {
		(void)!write(e->gone, &one, sizeof(one)); /* first: a porter asks at the end of its socket */
		close(e->gone);
	}
	e->gone = -1;
	e->unused_at = nnb__now();
	for (int i = 0; i < NNB__ERRAND_PORTERS_ALL; i++)
		e->formers[i].gone = e->formers[i].gone ? e->formers[i].gone : nnb__now();
	for (int i = 0; i < places[NNB__PORTERS].end; i++) {
		worker_dismiss(e, &e->workers[i]);
		left |= e->workers[i].state == NNB__WORKER_LEFT && (!e->workers[i].is_going || e->workers[i].is_beyond);
	}
	if (!left) /* another app may be guaranteed now what this one was */
		guarantee_end(e);
	errands_forget();
	errands_reap_soon();
}

/* An app comes, or comes back before all its workers have ended. The lock is held. */
static void errands_enlist(struct nnb__errands *e)
{
	assert(nnb__is_locked(&lock) && !e->refs);
	if (e->is_guaranteed || (!is_always(e->key) && n_guaranteed >= guaranteed_most))
		return;
	e->is_guaranteed = true;
	n_guaranteed += !is_always(e->key);
}

struct nnb__errands *nnb__errands_of(uint32_t key)
{
	struct nnb__errands *e;

	pthread_mutex_lock(&lock);
	if (prober >= 0)
		errands_forget();
	for (e = all; e && e->key != key;)
		e = e->next;
	if (!e && prober >= 0 && (e = calloc(1, sizeof(*e)))) {
		e->key = key;
		e->gone = -1;
		e->next = all;
		all = e;
	}
	if (e && !e->refs)
		errands_enlist(e);
	if (e)
		e->refs++;
	pthread_mutex_unlock(&lock);
	return e;
}

struct nnb__errands *nnb__errands_unref(struct nnb__errands *e)
{
	if (!e)
		return NULL;
	pthread_mutex_lock(&lock);
	assert(e->refs);
	if (!--e->refs)
		errands_quit(e);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void nnb__errands_enter(struct nnb__errands *e)
{
	mine = e;
}

struct nnb__errands *nnb__errands_mine(void)
{
	return mine;
}

unsigned nnb__errands_left(struct nnb__errands *e)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = left_behind(e, NNB__CALLERS);
	pthread_mutex_unlock(&lock);
	return n;
}

/* Whether the next worker of @e may be beyond the limit of all apps. The lock is held. */
static bool is_guaranteed_one(const struct nnb__errands *e, enum nnb__worker_kind kind)
{
	bool has = false;

	for (int i = places[kind].first; i < places[kind].end; i++)
		has |= e->workers[i].is_beyond;
	return kind != NNB__CALLERS && e->is_guaranteed && !has;
}

/*
 * Whether @e may have another porter. For each that it has, a quarter of all places must be vacant, and another quarter
 * for each of these that takes errands: with one of them an app can go on. The lock is held.
 */
static bool porter_fits(struct nnb__errands *e)
{
	const unsigned most = workers_most[NNB__PORTERS], quarters = NNB__ERRAND_PORTERS_ALL;
	unsigned left, n = formers_left(e, &left), usable = 0, vacant;

	for (int i = places[NNB__PORTERS].first; i < places[NNB__PORTERS].end; i++) {
		const enum nnb__worker_state state = e->workers[i].state;

		n += state != NNB__WORKER_NONE;
		usable += state != NNB__WORKER_NONE && state != NNB__WORKER_LEFT;
	}
	vacant = is_full(NNB__PORTERS) ? 0 : most - n_workers[NNB__PORTERS];
	return n < NNB__ERRAND_PORTERS_ALL &&
	       (is_guaranteed_one(e, NNB__PORTERS) || vacant * quarters >= (n + usable) * most);
}

enum { NO_PLACE = 1 }; /* a condition: the limit of all apps allows no other worker now */

/*
 * Make a place for another worker, in place of one that has ended, or of an idle one that is no porter. 0; NO_PLACE;
 * -EBUSY: all were left behind. That is not the fault of the app whose file is tried, so a trial never gets -EBUSY
 * here. The lock is held.
 */
static int place_make(enum nnb__worker_kind kind)
{
	const bool of_porters = kind == NNB__PORTERS;
	unsigned left = 0;

	assert(nnb__is_locked(&lock));
	/* of porters, how many have not ended matters before all places are taken (porter_fits) */
	for (struct nnb__errands *e = all; e && (of_porters || is_full(kind)); e = e->next) {
		unsigned formers = 0;

		left_behind(e, kind);
		if (of_porters)
			formers_left(e, &formers);
		left += formers;
		for (int i = places[kind].first; i < places[kind].end; i++) {
			struct nnb__worker *w = &e->workers[i];

			left += worker_counts(w) && !w->is_beyond;
			/* the end of one that is beyond makes no place */
			if (w->state == NNB__WORKER_IDLE && !w->is_beyond && !of_porters && is_full(kind))
				worker_end(w);
		}
	}
	if (!is_full(kind))
		return 0;
	return kind == NNB__TRIERS || left < workers_most[kind] ? NO_PLACE : -EBUSY;
}

/*
 * Give the porter at the other end of @sock what tells it that the app of @e is gone. One without it waits for its
 * sockets alone.
 */
static void porter_enlist(struct nnb__errands *e, int sock)
{
	struct nnb__errand_request q = { .call = NNB__ERRAND_APP };
	struct nnb__packet out = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &e->gone, .n_fds = 1 };

	assert(nnb__is_locked(&lock));
	if (e->gone < 0)
		e->gone = eventfd(0, EFD_CLOEXEC);
	if (e->gone >= 0)
		nnb__packet_send(sock, &out, MSG_DONTWAIT);
}

/* Give the porter at the other end of @sock the pipe that tells it which files are closed here. NULL: that failed. */
static struct nnb__keeper *keeper_start(int sock)
{
	struct nnb__errand_request q = { .call = NNB__ERRAND_KEEP };
	int ends[2];
	struct nnb__packet out = { .parts = { { &q, sizeof(q) } }, .n_parts = 1, .fds = &ends[0], .n_fds = 1 };
	struct nnb__keeper *keeper = NULL;

	assert(nnb__is_locked(&lock));
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return NULL;
	keeper = nnb__keeper_new(ends[1]);
	if (keeper && nnb__packet_send(sock, &out, MSG_DONTWAIT))
		keeper = nnb__keeper_unref(keeper);
	close(ends[0]);
	return keeper;
}

/* Have the prober start @w of @app. 0; NO_PLACE; -EAGAIN: later, maybe; another -errno. The lock is held. */
static int worker_start(struct nnb__errands *app, struct nnb__worker *w, enum nnb__worker_kind kind)
{
	const bool is_beyond = is_guaranteed_one(app, kind);
	int pair[2], r;

	assert(nnb__is_locked(&lock) && w->state == NNB__WORKER_NONE);
	r = is_beyond ? 0 : place_make(kind);
	if (!r && kind == NNB__PORTERS && !porter_fits(app))
		r = NO_PLACE;
	if (r)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	r = nnb__prober_work(prober, pair[1]);
	if (r) {
		close(pair[0]);
		return r;
	}
	*w = (struct nnb__worker){
		.state = NNB__WORKER_BUSY, .kind = kind, .sock = pair[0], .process = -1, .is_beyond = is_beyond
	};
	n_workers[kind] += !is_beyond;
	if (kind == NNB__PORTERS) {
		porter_enlist(app, pair[0]);
		w->keeper = keeper_start(pair[0]);
		if (!w->keeper) { /* it could keep nothing, and so pass nothing */
			worker_end(w);
			return -EIO;
		}
	}
	return 0;
}

unsigned nnb__errands_stuck(struct nnb__errands *e, unsigned *ret_left)
{
	unsigned n = 0;

	pthread_mutex_lock(&lock);
	*ret_left = left_behind(e, NNB__TRIERS);
	for (int i = places[NNB__TRIERS].first; i < places[NNB__TRIERS].end; i++)
		n += worker_counts(&e->workers[i]);
	pthread_mutex_unlock(&lock);
	return n;
}

int nnb__place_take(struct nnb__errands *e, enum nnb__worker_kind kind, const struct nnb__errand_wait *wait,
                    uint64_t until, struct nnb__worker **ret)
{
	int r;

	pthread_mutex_lock(&lock);
	for (;;) {
		struct nnb__worker *empty = NULL, *idle = NULL;
		uint64_t now, slice;
		struct timespec at;
		unsigned left = 0, going = 0, late; /* of those left: porters that may yet end */
		bool are_left;

		left_behind(e, kind);
		if (kind == NNB__PORTERS)
			formers_left(e, &left);
		late = left;
		for (int i = places[kind].first; i < places[kind].end; i++) {
			struct nnb__worker *w = &e->workers[i];

			if (w->state == NNB__WORKER_CLOSING)
				worker_closes(e, w);
			if (w->state == NNB__WORKER_IDLE && worker_has_ended(w)) /* for lack of memory, say */
				worker_retire(e, w);
			left += worker_counts(w);
			late += w->is_going && worker_counts(w);
			going += w->is_going && !worker_counts(w);
			empty = w->state == NNB__WORKER_NONE ? w : empty;
			idle = w->state == NNB__WORKER_IDLE ? w : idle;
		}
		now = nnb__now();
		are_left = left >= places[kind].left;
		if (are_left && (!late || now >= until)) {
			r = -EBUSY;
			break;
		}
		r = are_left ? -EAGAIN : idle ? 0 : empty ? worker_start(e, empty, kind) : -EAGAIN;
		if (r == NO_PLACE) /* a worker of @e for trials is one of those that leave no place */
			r = kind == NNB__TRIERS && left ? -EBUSY : -EAGAIN;
		if (!r) {
			*ret = idle ? idle : empty;
			(*ret)->state = NNB__WORKER_BUSY;
			(*ret)->began = now;
		}
		if (r != -EAGAIN)
			break;
		r = -ETIMEDOUT;
		if (now >= until)
			break;
		slice = now + (going ? GOING_LOOK_NS : NNB__SLICE_NS);
		slice = slice < until ? slice : until;
		at = (struct timespec){ (time_t)(slice / 1000000000), (long)(slice % 1000000000) };
		pthread_cond_clockwait(&some_idle, &lock, CLOCK_MONOTONIC, &at);
		pthread_mutex_unlock(&lock);
		if (!nnb__errand_is_wanted(wait))
			return -ECANCELED;
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return r;
}

void nnb__place_give(struct nnb__errands *e, struct nnb__worker *w, int r, bool closes, bool is_stuck)
{
	pthread_mutex_lock(&lock);
	assert(w->state == NNB__WORKER_BUSY);
	w->is_stuck = is_stuck;
	if (!r) {
		w->state = closes ? NNB__WORKER_CLOSING : NNB__WORKER_IDLE;
		w->began = closes ? nnb__now() : w->began;
	} else if (r == -ETIMEDOUT || r == -ECANCELED) {
		worker_leave(e, w);
	} else {
		worker_retire(e, w);
	}
	pthread_cond_broadcast(&some_idle);
	pthread_mutex_unlock(&lock);
}

int nnb__place_number(const struct nnb__errands *e, const struct nnb__worker *w)
{
	return (int)(w - e->workers);
}

struct nnb__worker *nnb__place_worker(struct nnb__errands *e, int number)
{
	assert(number >= 0 && (size_t)number < sizeof(e->workers) / sizeof(e->workers[0]));
	return &e->workers[number];
}
