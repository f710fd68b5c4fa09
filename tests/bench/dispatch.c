/* dispatch.c -- see dispatch.h. */
#include "dispatch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "daemon.h"
#include "mobilenet.h"
#include "net.h"
#include "peers.h"

enum { URGENT = CLIENT, LONG = SERVER }; /* cpus */
enum { LOW = 0, HIGH = 2 };
enum { TINY = 16 }; /* bytes that an urgent execution reads, and writes */
enum { SAMPLES = 200, QUICK_SAMPLES = 20, RUNS_MAX = 4 * SAMPLES };
enum { ONE_AT_LEAST_MS = 40 /* less shows nothing */, LEARNT_FROM = 5 /* executions */ };
enum { SETTLE_MS = 5, AT_MOST_MS = 60000, APPS_MAX = 8 };
enum { THINK_NS = 300000, THINK_MORE_NS = 1000000 };

enum { NONE, RESTART, SAVE, ACROSS, ONE, ONE_ACROSS, N_MODES };

#define COMMON "--lanes", "1", "--spin", "none"
#define OF_ONE_APP "--policy", "fair", "--app-identity", "uid", COMMON

static const struct {
	const char *name;
	const char *const options[16];
	bool judged;        /* by a wake, and the longest operation */
	enum net_kind busy; /* the network of the long executions */
} modes[N_MODES] = {
	[NONE] = { "preempt none", { "--preempt", "none", OF_ONE_APP }, false, NET_MOBILENET },
	[RESTART] = { "preempt restart", { "--preempt", "restart", OF_ONE_APP }, false, NET_MOBILENET },
	[SAVE] = { "preempt save", { "--preempt", "save", OF_ONE_APP }, true, NET_MOBILENET },
	[ACROSS] = { "another app's", { "--preempt", "save", "--policy", "priority", COMMON }, true, NET_MOBILENET },
	[ONE] = { "one operation", { "--preempt", "save", OF_ONE_APP }, false, NET_ONE_OPERATION },
	[ONE_ACROSS] = { "one operation, another app's",
	                 { "--preempt", "save", "--policy", "priority", COMMON },
	                 false,
	                 NET_ONE_OPERATION },
};

#define ONE_AT_MOST_US 1500.0

struct mode {
	struct daemon daemon;
	struct process busy; /* with the long executions */
	struct app app;
	struct user urgent;
	double longest;                   /* operation of the busy one, as the service has it */
	size_t row, p99, over, preempted; /* a row; figures. Over: of one operation, the p99 in wakes */
};

/* The same by hand. */
struct by_hand {
	pthread_t thread;
	struct net net;
	atomic_bool stop;
	_Atomic bool wanted;
	_Alignas(64) _Atomic uint32_t word; /* futex word of the sleeper */
	_Atomic uint64_t called;            /* when it was woken */
	uint64_t last;                      /* when an operation began */
	double *op_ns[MOBILENET_OPERATIONS];
	size_t n_runs;
};

struct dispatch {
	struct mode modes[N_MODES];
	struct by_hand hand;
	uint64_t random;
	double longest_now;                /* operation of a MobileNet, in this round, ordinarily */
	size_t wake, whole, longest, told; /* rows */
	size_t wake_p99;                   /* a figure */
};

/* ---- who is urgent ---- */

/* Asleep for a while that has nothing to do with what runs. */
static void think(struct dispatch *d)
{
	struct timespec t = { 0 };

	d->random = d->random * 6364136223846793005u + 1442695040888963407u;
	t.tv_nsec = (long)(THINK_NS + (d->random >> 33) % THINK_MORE_NS);
	nanosleep(&t, NULL);
}

/* All that are to be busy are. */
static const struct timespec settled = { .tv_nsec = SETTLE_MS * 1000000 };

static int samples(const struct bench *b)
{
	return b->quick ? QUICK_SAMPLES : SAMPLES;
}

static double round_p99(const struct bench *b, size_t row)
{
	const struct bench_row *r = &b->rows[row];

	return bench_percentile(r->samples + r->round_start, r->n - r->round_start, 99);
}

/* ---- by the service ---- */

static uint64_t preemptions(const struct mode *m)
{
	struct nnb_app_counts apps[APPS_MAX];
	struct nnb_reason reason = { "" };
	uint64_t sum = 0;
	uint32_t n;

	must(nnb_client_apps(m->app.client, apps, APPS_MAX, &n, &reason), "counts", &reason);
	for (uint32_t i = 0; i < n && i < APPS_MAX; i++)
		sum += apps[i].preemptions;
	return sum;
}

/* From when the service has taken the request to when it is on the lane. */
static double wait_for_lane(struct user *u)
{
	run_burst(u);
	return (double)u->answer.timing.in_driver_ns - (double)u->answer.timing.on_device_ns;
}

/* The p99 of this round. */
static double by_service(struct bench *b, struct dispatch *d, struct mode *m)
{
	int n = samples(b);
	uint64_t before;
	double p99;

	process_ready(&m->busy, 1, AT_MOST_MS);
	process_go(&m->busy);
	nanosleep(&settled, NULL);
	before = preemptions(m);
	for (int i = 0; i < n; i++) {
		think(d);
		bench_sample(b, m->row, wait_for_lane(&m->urgent));
	}
	bench_figure_is(b, m->preempted, 100 * (double)(preemptions(m) - before) / (double)n);
	process_stop(&m->busy);
	process_report(&m->busy);
	p99 = round_p99(b, m->row);
	bench_round_done(b, m->row);
	return p99;
}

/* ---- by hand ---- */

static void wake(struct by_hand *h)
{
	atomic_store_explicit(&h->wanted, false, memory_order_relaxed);
	atomic_store_explicit(&h->called, bench_now(), memory_order_relaxed);
	atomic_store_explicit(&h->word, 1, memory_order_release);
	syscall(SYS_futex, &h->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Operation @next - 1 has run. */
static bool look(void *arg, uint32_t next)
{
	struct by_hand *h = arg;
	uint64_t now = bench_now();

	h->op_ns[next - 1][h->n_runs] = (double)(now - h->last);
	if (atomic_load_explicit(&h->wanted, memory_order_acquire)) {
		wake(h);
		now = bench_now();
	}
	h->last = now;
	return true;
}

static void *compute(void *arg)
{
	struct by_hand *h = arg;
	bool finished;

	settle(TWO_CPUS, LONG);
	while (!atomic_load_explicit(&h->stop, memory_order_relaxed)) {
		net_again(&h->net);
		h->last = bench_now();
		must(nnb_execution_run(h->net.execution, look, h, &finished), "an execution", NULL);
		look(h, MOBILENET_OPERATIONS);
		h->n_runs += h->n_runs + 1 < RUNS_MAX;
	}
	return NULL;
}

static void be_woken(struct bench *b, struct dispatch *d)
{
	struct by_hand *h = &d->hand;
	uint64_t asked, woken;

	think(d);
	atomic_store_explicit(&h->word, 0, memory_order_relaxed);
	asked = bench_now();
	atomic_store_explicit(&h->wanted, true, memory_order_release);
	while (!atomic_load_explicit(&h->word, memory_order_acquire))
		syscall(SYS_futex, &h->word, FUTEX_WAIT, 0, NULL, NULL, 0);
	woken = bench_now();
	bench_sample(b, d->wake, (double)(woken - atomic_load_explicit(&h->called, memory_order_relaxed)));
	bench_sample(b, d->whole, (double)(woken - asked));
}

/* The operation that takes longest, all in all, and every time that it did. */
static void note_longest(struct bench *b, struct dispatch *d)
{
	const struct by_hand *h = &d->hand;
	double longest = 0, each;
	int which = 0;

	for (int i = 0; i < MOBILENET_OPERATIONS; i++) {
		each = bench_median(h->op_ns[i], h->n_runs);
		if (each > longest) {
			longest = each;
			which = i;
		}
	}
	for (size_t i = 0; i < h->n_runs; i++)
		bench_sample(b, d->longest, h->op_ns[which][i]);
	bench_round_done(b, d->longest);
	d->longest_now = longest;
}

/* The p99 of this round's wakes. */
static double by_hand(struct bench *b, struct dispatch *d)
{
	struct by_hand *h = &d->hand;
	double p99;

	h->n_runs = 0;
	atomic_store_explicit(&h->stop, false, memory_order_relaxed);
	errno = pthread_create(&h->thread, NULL, compute, h);
	if (errno)
		die("a thread");
	nanosleep(&settled, NULL);
	for (int i = 0; i < samples(b); i++)
		be_woken(b, d);
	atomic_store_explicit(&h->stop, true, memory_order_relaxed);
	pthread_join(h->thread, NULL);
	p99 = round_p99(b, d->wake);
	bench_round_done(b, d->wake);
	bench_round_done(b, d->whole);
	note_longest(b, d);
	return p99;
}

/* ---- the whole ---- */

/* The longest operation is the shorter of what the service has found and what it was found to be just now. */
void dispatch_round(struct bench *b, struct dispatch *d)
{
	double wake, longest, p99;

	settle(TWO_CPUS, URGENT);
	wake = by_hand(b, d);
	bench_figure_is(b, d->wake_p99, wake / 1e3);
	for (int i = 0; i < N_MODES; i++) {
		struct mode *m = &d->modes[i];

		longest = m->longest < d->longest_now ? m->longest : d->longest_now;
		p99 = by_service(b, d, m);
		bench_figure_is(b, m->p99, p99 / 1e3);
		bench_figure_is(b, m->over, (p99 - (modes[i].busy == NET_MOBILENET ? longest : 0)) / wake);
	}
	settle(UNPINNED, URGENT);
}

void dispatch_judge(struct bench *b, const struct dispatch *d)
{
	char name[80];

	for (int i = 0; i < N_MODES; i++) {
		snprintf(name, sizeof(name), "%s / by hand", modes[i].name);
		bench_ratio(b, name, d->modes[i].row, d->whole, SIZE_MAX);
		if (modes[i].busy == NET_ONE_OPERATION) {
			snprintf(name, sizeof(name), "%s: p99 of the wait, us", modes[i].name);
			bench_at_most(b, name, bench_figure_median(b, d->modes[i].p99), ONE_AT_MOST_US);
			snprintf(name, sizeof(name), "%s: its length, ms", modes[i].name);
			bench_at_least(b, name, d->modes[i].longest / 1e6, ONE_AT_LEAST_MS);
		}
		if (!modes[i].judged)
			continue;
		snprintf(name, sizeof(name), "%s: (p99 - longest) / p99 of a wake", modes[i].name);
		bench_at_most(b, name, bench_figure_median(b, d->modes[i].over), 1.2);
	}
}

/* ---- beginning and end ---- */

/*
 * The figures of the very model that the long executions run. A trial run of the one operation may take longer than
 * the service allows, and then shows no operation: its length is what the service has learnt from executions.
 */
static double longest_operation(const char *socket, enum net_kind kind)
{
	struct nnb_reason reason = { "" };
	struct nnb_times times;
	struct user user = { .burst = NULL };
	struct app app;

	app_open_net(&app, kind, LOW, socket);
	if (kind == NET_ONE_OPERATION) {
		user_open(&user, &app, NNB_FMQ_WINDOW_NONE);
		for (int i = 0; i < LEARNT_FROM; i++)
			run_burst(&user);
		user_close(&user);
	}
	must(nnb_remote_times(app.remote, &times, &reason), "the times of a model", &reason);
	app_close(&app);
	return kind == NET_ONE_OPERATION ? (double)times.estimate_ns : (double)times.step_ns;
}

static void open_mode(struct bench *b, struct mode *m, int i, const char *service)
{
	struct nnb_model *tiny = copy_model(TINY);
	struct tasks before;
	char name[80];

	snprintf(name, sizeof(name), "urgent/%s", modes[i].name);
	m->row = bench_row(b, name);
	snprintf(name, sizeof(name), "%s: p99, us", modes[i].name);
	m->p99 = bench_figure(b, name);
	snprintf(name, sizeof(name),
	         modes[i].busy == NET_MOBILENET ? "%s: (p99 - longest) / p99 of a wake" : "%s: p99 / p99 of a wake",
	         modes[i].name);
	m->over = bench_figure(b, name);
	snprintf(name, sizeof(name), "%s: long ones that made room, %%", modes[i].name);
	m->preempted = bench_figure(b, name);

	daemon_start(&m->daemon, service, modes[i].options);
	m->longest = longest_operation(m->daemon.socket, modes[i].busy);
	process_start_net(&m->busy, m->daemon.socket, modes[i].busy, LOW, NNB_FMQ_WINDOW_NONE);
	settle_all(m->busy.pid, cpu_of(TWO_CPUS, LONG));
	app_open_at(&m->app, HIGH, m->daemon.socket, tiny, TINY, TINY);
	settle_all(m->daemon.pid, cpu_of(TWO_CPUS, LONG));
	tasks_of(m->daemon.pid, &before);
	user_pools(&m->urgent, &m->app);
	user_burst(&m->urgent, &m->app, NNB_FMQ_WINDOW_NONE);
	settle_new(m->daemon.pid, &before, cpu_of(TWO_CPUS, URGENT));
	m->urgent.call.measure = true;
	run_burst(&m->urgent);
	nnb_model_free(tiny);
}

static void open_hand(struct by_hand *h)
{
	for (int i = 0; i < MOBILENET_OPERATIONS; i++) {
		h->op_ns[i] = calloc(RUNS_MAX, sizeof(double));
		if (!h->op_ns[i])
			die("memory");
	}
	net_open(&h->net, "xnnpack");
}

struct dispatch *dispatch_open(struct bench *b, const char *service)
{
	struct dispatch *d = aligned_alloc(64, (sizeof(*d) + 63) / 64 * 64);

	if (!d)
		die("memory");
	memset(d, 0, sizeof(*d));
	d->wake = bench_row(b, "by hand/a wake");
	d->whole = bench_row(b, "by hand/rest of an operation, a wake");
	d->longest = bench_row(b, "by hand/longest operation");
	d->told = bench_row(b, "the service's longest operation");
	d->wake_p99 = bench_figure(b, "by hand/a wake: p99, us");
	open_hand(&d->hand);
	for (int i = 0; i < N_MODES; i++) {
		open_mode(b, &d->modes[i], i, service);
		bench_sample(b, d->told, d->modes[i].longest);
	}
	return d;
}

void dispatch_close(struct dispatch *d)
{
	for (int i = 0; i < N_MODES; i++) {
		struct mode *m = &d->modes[i];

		user_close(&m->urgent);
		app_close(&m->app);
		process_end(&m->busy);
		daemon_stop(&m->daemon);
	}
	net_close(&d->hand.net);
	for (int i = 0; i < MOBILENET_OPERATIONS; i++)
		free(d->hand.op_ns[i]);
	free(d);
}
