/*
 * bench_sched -- what the rules cost by which executions share a device, and what they are good for: a lane no other
 * app wants, checkpoints in a MobileNet, how soon an urgent execution gets a lane that a long one has, and the same
 * arrivals under every policy.
 *
 * The scheduler's own sources are compiled in: what they cost is measured call by call. The rest goes through nnburstd,
 * a process of its own for each set of rules.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app.h"
#include "bench.h"
#include "daemon.h"
#include "dispatch.h"
#include "driver/execution.h"
#include "memory/gate.h"
#include "mobilenet.h"
#include "net.h"
#include "nnb/service.h"
#include "peers.h"
#include "policies.h"
#include "sched/run.h"
#include "syscalls.h"

enum { TINY = 16 }; /* bytes of an input and of an output */

#define HOUR_NS UINT64_C(3600000000000)

/* The library keeps these to itself. They are asked where executions restart, or are seeded: neither happens here. */
bool nnb__execution_can_restart(const struct nnb_execution *e)
{
	(void)e;
	abort();
}

/* The two parts of nnb_execution_run are one here: no output lies in a file. */
enum nnb_status nnb__execution_compute(struct nnb_execution *e, bool (*checkpoint)(void *arg, uint32_t next_op),
                                       void *arg, bool *finished)
{
	return nnb_execution_run(e, checkpoint, arg, finished);
}

bool nnb__execution_is_computed(const struct nnb_execution *e)
{
	(void)e;
	return false;
}

enum nnb_status nnb__execution_publish(struct nnb_execution *e)
{
	(void)e;
	return NNB_STATUS_NONE;
}

uint32_t nnb__execution_op_type(const struct nnb_execution *e, uint32_t op)
{
	(void)e;
	return op;
}

/* Here operations are not asked: ./run bench burst has what that costs. */
void nnb__execution_look(struct nnb_execution *e, bool (*goes_on)(void *arg), void *arg)
{
	(void)e;
	(void)goes_on;
	(void)arg;
}

void nnb__execution_loops(struct nnb_execution *e, uint64_t timeout_ns,
                          void (*iterated)(void *arg, uint32_t op, uint32_t depth, uint64_t iteration), void *arg)
{
	(void)e;
	(void)timeout_ns;
	(void)iterated;
	(void)arg;
}

void nnb__execution_deadline(struct nnb_execution *e, uint64_t deadline_ns)
{
	(void)e;
	(void)deadline_ns;
}

struct nnb__gate *nnb__gate_swap(struct nnb__gate *gate)
{
	(void)gate;
	abort();
}

uint64_t nnb__execution_work_limit(const struct nnb_execution *e)
{
	(void)e;
	return 0;
}

bool nnb__prepared_is_fixed(const struct nnb_prepared *p)
{
	(void)p;
	abort();
}

/* ---- a lane ---- */

enum { TAKES = 1000, BATCHES = 40, QUICK_BATCHES = 2 };

static void open_lanes(struct nnb__lanes *l, uint32_t n)
{
	if (nnb__lanes_init(l, NNB_POLICY_FAIR, NNB_PREEMPT_SAVE, NNB_DEADLINES_ABORT, n))
		die("lanes");
}

static void take(struct nnb__seat *s)
{
	if (nnb__lanes_take(s, NNB__NEVER))
		die("a lane");
}

static void takes(struct bench *b, size_t row, struct nnb__seat *s)
{
	uint64_t start;

	for (int k = 0; k < (b->quick ? QUICK_BATCHES : BATCHES); k++) {
		start = bench_now();
		for (int i = 0; i < TAKES; i++) {
			take(s);
			nnb__lanes_give(s);
		}
		bench_sample(b, row, (double)(bench_now() - start) / TAKES);
	}
	bench_round_done(b, row);
}

struct other {
	struct nnb__seat *seat;
	pthread_barrier_t ready;
	atomic_bool stop;
};

static void *take_too(void *arg)
{
	struct other *o = arg;

	settle(TWO_CPUS, SERVER);
	pthread_barrier_wait(&o->ready);
	while (!atomic_load_explicit(&o->stop, memory_order_relaxed)) {
		take(o->seat);
		nnb__lanes_give(o->seat);
	}
	return NULL;
}

/* No execution waits for a lane, but for the lock and its line. */
static void takes_of_two(struct bench *b, size_t row, struct nnb__seat *s, struct nnb__seat *another)
{
	struct other o = { .seat = another };
	pthread_t thread;

	pthread_barrier_init(&o.ready, NULL, 2);
	errno = pthread_create(&thread, NULL, take_too, &o);
	if (errno)
		die("a thread");
	pthread_barrier_wait(&o.ready);
	takes(b, row, s);
	atomic_store_explicit(&o.stop, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&o.ready);
}

struct lane_rows {
	size_t alone, beside, two;
};

static void lane(struct bench *b, const struct lane_rows *r)
{
	struct nnb__lane_app apps[2] = { 0 };
	struct nnb__lanes lanes;
	struct nnb__seat seats[2];

	settle(TWO_CPUS, CLIENT);
	open_lanes(&lanes, 2);
	for (int i = 0; i < 2; i++)
		nnb__seat_init(&seats[i], &lanes, &apps[i], 1, NULL);
	takes(b, r->alone, &seats[0]);
	take(&seats[1]);
	takes(b, r->beside, &seats[0]);
	nnb__lanes_give(&seats[1]);
	takes_of_two(b, r->two, &seats[0], &seats[1]);
	nnb__lanes_fini(&lanes);
}

/* ---- a burst with a lane, and without ---- */

/* The service in this process, so that nothing else differs. */
struct here {
	struct nnb_device *null;
	struct nnb_prepared *prepared;
	struct nnb_service *service;
	char dir[32], socket[64];
	pthread_t thread;
	struct app app;
};

static void *serve(void *arg)
{
	if (nnb_service_run(arg))
		die("serving");
	return NULL;
}

static void here_open(struct here *h)
{
	struct nnb_service_config config = { .identity = NNB_APP_PID,
		                             .policy = NNB_POLICY_FAIR,
		                             .preempt = NNB_PREEMPT_SAVE,
		                             .lanes = 1,
		                             .window_ns = NNB_FMQ_WINDOW_ALWAYS };
	const struct nnb_prepare how = { .preference = 1, .priority = 1 };
	struct nnb_model *tiny = copy_model(TINY);
	struct nnb_reason reason = { "" };

	snprintf(h->dir, sizeof(h->dir), "/tmp/bench.XXXXXX");
	if (!mkdtemp(h->dir))
		die(h->dir);
	snprintf(h->socket, sizeof(h->socket), "%s/socket", h->dir);
	if (nnb_device_open(&h->null, "null", &reason))
		must(NNB_STATUS_DEVICE_UNAVAILABLE, "the null driver", &reason);
	config.device = h->null;
	config.socket = h->socket;
	if (nnb_service_open(&h->service, &config, &reason))
		must(NNB_STATUS_DEVICE_UNAVAILABLE, "a service", &reason);
	errno = pthread_create(&h->thread, NULL, serve, h->service);
	if (errno)
		die("a thread");
	must(nnb_prepare(h->null, tiny, &how, NULL, &h->prepared, &reason), "preparing", &reason);
	app_open(&h->app, h->socket, tiny, TINY, TINY);
	nnb_model_free(tiny);
}

static void here_close(struct here *h)
{
	char lock[80];

	snprintf(lock, sizeof(lock), "%s.lock", h->socket);
	app_close(&h->app);
	nnb_service_stop(h->service);
	pthread_join(h->thread, NULL);
	nnb_service_close(h->service);
	nnb_prepared_unref(h->prepared);
	nnb_device_unref(h->null);
	unlink(lock);
	rmdir(h->dir);
}

static void open_local(struct user *u, const struct here *h)
{
	const struct nnb_burst_config config = { .window_ns = NNB_FMQ_WINDOW_ALWAYS };
	struct nnb_reason reason = { "" };

	must(nnb_burst_local(&u->burst, h->prepared, true, &config, &reason), "a burst", &reason);
}

enum { OPENINGS = 8, WARM_UP = 200, EXECUTIONS = 100 };

struct burst_rows {
	size_t local, service, more; /* more: a figure */
};

static void executions(struct bench *b, size_t row, const struct here *h, bool by_service)
{
	struct user u = { 0 };
	struct tasks before;
	uint64_t start;

	tasks_of(getpid(), &before);
	user_pools(&u, &h->app);
	if (by_service)
		user_burst(&u, &h->app, NNB_FMQ_WINDOW_ALWAYS);
	else
		open_local(&u, h);
	settle_new(getpid(), &before, cpu_of(TWO_CPUS, SERVER));
	for (int i = 0; i < WARM_UP; i++)
		run_burst(&u);
	for (int k = 0; k < (b->quick ? 1 : BATCHES / OPENINGS); k++) {
		start = bench_now();
		for (int i = 0; i < EXECUTIONS; i++)
			run_burst(&u);
		bench_sample(b, row, (double)(bench_now() - start) / EXECUTIONS);
	}
	user_close(&u);
}

static double last_round(const struct bench *b, size_t row)
{
	return b->rows[row].per_round[b->rows[row].n_rounds - 1];
}

static void bursts(struct bench *b, const struct burst_rows *r, const struct here *h)
{
	settle(TWO_CPUS, CLIENT);
	for (int i = 0; i < (b->quick ? 1 : OPENINGS); i++) {
		if (i % 2)
			executions(b, r->service, h, true);
		executions(b, r->local, h, false);
		if (i % 2 == 0)
			executions(b, r->service, h, true);
	}
	bench_round_done(b, r->local);
	bench_round_done(b, r->service);
	bench_figure_is(b, r->more, last_round(b, r->service) - last_round(b, r->local));
}

/* ---- checkpoints ---- */

enum { BARE, AGAIN, CHECKED, ON_LANE, BOUND, N_WAYS };

static const char *const ways[N_WAYS] = {
	[BARE] = "MobileNet/no checkpoints",
	[AGAIN] = "MobileNet/the same once more",
	[CHECKED] = "MobileNet/checkpoints",
	[ON_LANE] = "MobileNet/checkpoints, lane",
	[BOUND] = "MobileNet/checkpoints, lane, deadline",
};

enum { RUNS = 80, QUICK_RUNS = 3, TRIES = 3, NULL_RUNS = 500, NULL_BATCHES = 20, OP_NS = 20000 };

struct checkpoints {
	struct net net, null;
	struct nnb__lanes lanes;
	struct nnb__lane_app app;
	struct nnb__times times, null_times;
	struct nnb__runner runners[N_WAYS], null_runner;
	size_t rows[N_WAYS], more[N_WAYS]; /* more: figures, in percent */
	size_t null_bare, null_bound, each, computed, error;
};

static uint64_t run_once(const struct net *n, struct nnb__runner *runner, bool bound)
{
	struct nnb_terms terms = { 0 };
	uint64_t start = bench_now();
	bool finished;

	terms.deadline_ns = bound ? start + HOUR_NS : 0;
	net_again(n);
	if (runner)
		must(nnb__run(runner, n->execution, &terms, NULL, NULL), "an execution", NULL);
	else
		must(nnb_execution_run(n->execution, NULL, NULL, &finished), "an execution", NULL);
	return bench_now() - start;
}

/* How often this thread lost its cpu to another one. */
static long disturbances(void)
{
	struct rusage own;

	getrusage(RUSAGE_THREAD, &own);
	return own.ru_nivcsw;
}

/* Every way, forwards and backwards in turn, so that each comes after each neighbour as often. */
static void step(struct checkpoints *c, int i, double t[N_WAYS])
{
	for (int k = 0; k < N_WAYS; k++) {
		int way = (i + (i % 2 ? N_WAYS - k : k)) % N_WAYS;

		t[way] = (double)run_once(&c->net, way < CHECKED ? NULL : &c->runners[way], way == BOUND);
	}
}

/* A step during which another thread had the cpu is worth nothing, and is taken again, within reason. */
static void measure_net(struct bench *b, struct checkpoints *c)
{
	int n = b->quick ? QUICK_RUNS : RUNS, got = 0;
	double t[N_WAYS], more[N_WAYS][RUNS];
	long before;

	for (int i = 0; i < TRIES * n && got < n; i++) {
		before = disturbances();
		step(c, i, t);
		if (disturbances() != before && (got || i < TRIES * n - 1))
			continue;
		for (int way = 0; way < N_WAYS; way++) {
			bench_sample(b, c->rows[way], t[way]);
			more[way][got] = t[way] - t[BARE];
		}
		got++;
	}
	for (int way = 0; way < N_WAYS; way++)
		bench_round_done(b, c->rows[way]);
	for (int way = AGAIN; way < N_WAYS; way++)
		bench_figure_is(b, c->more[way],
		                100 * bench_median(more[way], (size_t)got) / last_round(b, c->rows[BARE]));
}

/* A model that computes nothing is to pass for a long one. */
static double null_batch(struct checkpoints *c, struct nnb__runner *runner)
{
	uint64_t start = bench_now();

	for (int i = 0; i < NULL_RUNS; i++) {
		atomic_store_explicit(&c->null_times.estimate_ns, OP_NS * MOBILENET_OPERATIONS, memory_order_relaxed);
		run_once(&c->null, runner, runner);
	}
	return (double)(bench_now() - start) / NULL_RUNS;
}

/* The same where nothing is computed: what is left is what the rules cost, and can be measured to the nanosecond. */
static void measure_null(struct bench *b, struct checkpoints *c)
{
	double more;

	for (int k = 0; k < (b->quick ? 1 : NULL_BATCHES); k++) {
		bench_sample(b, c->null_bare, null_batch(c, NULL));
		bench_sample(b, c->null_bound, null_batch(c, &c->null_runner));
	}
	bench_round_done(b, c->null_bare);
	bench_round_done(b, c->null_bound);
	more = last_round(b, c->null_bound) - last_round(b, c->null_bare);
	bench_figure_is(b, c->each, more / (MOBILENET_OPERATIONS - 1));
	bench_figure_is(b, c->computed, 100 * more / last_round(b, c->rows[BARE]));
}

static void checkpoints(struct bench *b, struct checkpoints *c)
{
	settle(TWO_CPUS, SERVER);
	measure_net(b, c);
	measure_null(b, c);
	settle(UNPINNED, CLIENT);
}

/* Each operation as long as any other: what is divided and compared is the same. */
static void checkpoints_open(struct bench *b, struct checkpoints *c)
{
	uint64_t op_ns[MOBILENET_OPERATIONS];
	char name[80];

	for (int way = 0; way < N_WAYS; way++)
		c->rows[way] = bench_row(b, ways[way]);
	c->null_bare = bench_row(b, "null driver/no checkpoints");
	c->null_bound = bench_row(b, "null driver/checkpoints, lane, deadline");
	for (int way = AGAIN; way < N_WAYS; way++) {
		snprintf(name, sizeof(name), "%s: more time, %%", ways[way]);
		c->more[way] = bench_figure(b, name);
	}
	c->error = bench_figure(b, "MobileNet/checkpoints, lane, deadline: error of that, %");
	c->each = bench_figure(b, "null driver: a checkpoint with a deadline, ns");
	c->computed = bench_figure(b, "the same by the null driver / MobileNet, %");

	net_open(&c->net, "xnnpack");
	net_open(&c->null, "null");
	open_lanes(&c->lanes, 1);
	for (int i = 0; i < MOBILENET_OPERATIONS; i++)
		op_ns[i] = OP_NS;
	nnb__times_init(&c->times, MOBILENET_OPERATIONS, true, op_ns, OP_NS, 0);
	nnb__times_init(&c->null_times, MOBILENET_OPERATIONS, true, op_ns, OP_NS, 0);
	for (int way = 0; way < N_WAYS; way++)
		nnb__runner_init(&c->runners[way], way == CHECKED ? NULL : &c->lanes, way == CHECKED ? NULL : &c->app,
		                 &c->times, 1, NULL);
	nnb__runner_init(&c->null_runner, &c->lanes, &c->app, &c->null_times, 1, NULL);
}

static void checkpoints_close(struct checkpoints *c)
{
	nnb__times_fini(&c->times);
	nnb__times_fini(&c->null_times);
	nnb__lanes_fini(&c->lanes);
	net_close(&c->net);
	net_close(&c->null);
}

/* ---- counting ---- */

enum { COUNTED = 1000 };

static void send_off(void *process)
{
	process_go(process);
}

/* A warm polling execution on a lane that no other app wants asks the kernel for nothing, so it wakes no thread. */
static void count_calls(struct bench *b)
{
	static const char *const options[] = { "--driver", "null", "--spin", "always", "--lanes", "1", NULL };
	struct daemon d;
	struct process p;
	long calls;

	daemon_start(&d, NNBURSTD, options);
	settle_all(d.pid, cpu_of(TWO_CPUS, SERVER));
	settle(TWO_CPUS, CLIENT); /* the app inherits it; we wait in the kernel */
	process_start(&p, d.socket, TINY, 1, NNB_FMQ_WINDOW_ALWAYS);
	process_ready_marked(&p, COUNTED, false);
	calls = syscalls_between_marks(p.pid, d.pid, send_off, &p);
	process_report(&p);
	process_end(&p);
	daemon_stop(&d);
	if (calls < 0)
		fprintf(stderr, "bench_sched: may not trace: system calls are not counted\n");
	else
		bench_at_most(b, "system calls in 1000 executions on a lane, both sides", (double)calls, 0);
}

/* ---- what others had of the machine ---- */

struct ticks {
	double all, stolen;
};

/* Time of all cpus, since it started. Without, there is nothing to be measured. */
static struct ticks ticks(void)
{
	double t[8] = { 0 };
	struct ticks ret = { 0 };
	FILE *f = fopen("/proc/stat", "re");

	if (f && fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
	                &t[7]) == 8)
		ret.stolen = t[7];
	for (int i = 0; i < 8; i++)
		ret.all += t[i];
	if (f)
		fclose(f);
	return ret;
}

static void tell_stolen(struct bench *b, struct ticks before)
{
	struct ticks now = ticks();

	if (now.all > before.all)
		bench_figure_is(b, bench_figure(b, "cpu time that the host took, %"),
		                100 * (now.stolen - before.stolen) / (now.all - before.all));
}

/* ---- the whole ---- */

enum { POLICIES_EVERY = 5 }; /* rounds: they take long */

struct world {
	struct here here;
	struct checkpoints checkpoints;
	struct dispatch *dispatch;
	struct policies *policies;
	struct lane_rows lane;
	struct burst_rows burst;
};

static void open_world(struct bench *b, struct world *w)
{
	w->dispatch = dispatch_open(b, NNBURSTD);
	w->policies = policies_open(NNBURSTD, NNBURST_LOAD, "deadline-mix");
	here_open(&w->here);
	w->lane = (struct lane_rows){ .alone = bench_row(b, "a lane/taken and given"),
		                      .beside = bench_row(b, "a lane/another app has the other"),
		                      .two = bench_row(b, "a lane/two threads, each its own") };
	w->burst = (struct burst_rows){ .local = bench_row(b, "no-op burst/no lanes"),
		                        .service = bench_row(b, "no-op burst/a lane"),
		                        .more = bench_figure(b, "no-op burst: more with a lane, ns") };
	checkpoints_open(b, &w->checkpoints);
}

static void measure(struct bench *b, struct world *w, unsigned round)
{
	lane(b, &w->lane);
	bursts(b, &w->burst, &w->here);
	checkpoints(b, &w->checkpoints);
	dispatch_round(b, w->dispatch);
	if (round % POLICIES_EVERY == 0)
		policies_round(b, w->policies, round + 1);
}

static void judge(struct bench *b, const struct world *w)
{
	const struct checkpoints *c = &w->checkpoints;

	bench_figure_is(b, c->error, bench_figure_error(b, c->more[BOUND]));
	bench_ratio(b, "no-op burst: a lane / no lanes", w->burst.service, w->burst.local, SIZE_MAX);
	bench_at_most(b, "a lane taken and given, ns",
	              bench_median(b->rows[w->lane.alone].per_round, b->rows[w->lane.alone].n_rounds), 100);
	bench_at_most(b, "the same while another app has the other lane, ns",
	              bench_median(b->rows[w->lane.beside].per_round, b->rows[w->lane.beside].n_rounds), 100);
	bench_at_most(b, "no-op burst: more with a lane, ns", bench_figure_median(b, w->burst.more), 100);
	dispatch_judge(b, w->dispatch);
	bench_at_most(b, "MobileNet: checkpoints, lane, deadline: more time, %", bench_figure_median(b, c->more[BOUND]),
	              0.5);
	bench_at_most(b, "the same by the null driver / MobileNet, %", bench_figure_median(b, c->computed), 0.5);
}

static void close_world(struct world *w)
{
	checkpoints_close(&w->checkpoints);
	here_close(&w->here);
	policies_close(w->policies);
	dispatch_close(w->dispatch);
}

int main(int argc, char **argv)
{
	static struct world w;
	struct bench b;
	struct ticks before;
	int status = process_main(argc, argv);

	if (status >= 0)
		return status;
	bench_open(&b, "sched", 21, argc, argv);
	find_cpus();
	settle(UNPINNED, CLIENT);
	open_world(&b, &w);
	before = ticks();
	for (unsigned i = 0; i < b.rounds; i++)
		measure(&b, &w, i);
	tell_stolen(&b, before);
	judge(&b, &w);
	close_world(&w);
	count_calls(&b);
	return bench_close(&b);
}
