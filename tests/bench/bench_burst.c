/*
 * bench_burst -- bursts through the service: what they cost over the cache lines below them, what they save over the
 * ordinary path, and what they cost when they are cold, many, or idle.
 *
 * The service is nnburstd, a process of its own for every way it is run here. With the null driver there is nothing to
 * compute, and all that is measured is in between; with xnnpack a MobileNet is held against the same in this process.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "allocations.h"
#include "app.h"
#include "bench.h"
#include "daemon.h"
#include "mobilenet.h"
#include "nnb/device.h"
#include "peers.h"
#include "syscalls.h"

enum { TINY = 16, FILLED = 65536 }; /* bytes of an input and of an output */

/* ---- what is there for the whole run ---- */

enum { POLLING, SLEEPING, USUAL, N_WAYS }; /* how both sides of a burst wait */

static const struct way {
	const char *name, *spin;
	uint64_t window;
} ways[N_WAYS] = {
	[POLLING] = { "polling", "always", NNB_FMQ_WINDOW_ALWAYS },
	[SLEEPING] = { "blocking", "none", NNB_FMQ_WINDOW_NONE },
	[USUAL] = { "default window", "auto", NNB_FMQ_WINDOW_AUTO },
};

/*
 * The use of pools that are passed: PASSED is all, with the null driver; USED has xnnpack compute a RELU from one
 * to the other, so that every page of theirs is touched.
 */
enum { PASSED, USED, N_PATHS };

static const struct {
	const char *name, *driver;
} paths[N_PATHS] = { [PASSED] = { "passed", "null" }, [USED] = { "used", "xnnpack" } };

enum { APPS = 8, BURSTS = 64 };

struct world {
	struct daemon daemons[N_PATHS][N_WAYS];
	struct app filled[N_PATHS][N_WAYS], tiny, net[N_WAYS]; /* net: never SLEEPING */
	struct process crowd[N_WAYS][APPS];                    /* never POLLING */
	struct nnb_model *mobilenet;
	struct nnb_device *device; /* in this process */
	struct nnb_prepared *prepared;
};

/* Both sides on the cpus of the placement, as far as they are threads that the other side waits for. */
static void place(const struct daemon *d, int placement)
{
	settle(placement, CLIENT);
	settle_all(d->pid, cpu_of(placement, SERVER));
}

/* ---- round trips of an execution ---- */

/* One round of @row: as peers.c does it, with an execution for the trip. */
static void executions(struct bench *b, size_t row, struct user *u, bool polls)
{
	const struct transport like = { .polls = polls };
	struct plan p = plan_for(b, &like, TWO_CPUS);
	uint64_t start;

	for (unsigned i = 0; i < p.warm_up; i++)
		run_burst(u);
	for (unsigned k = 0; k < p.batches; k++) {
		start = bench_now();
		for (unsigned j = 0; j < p.batch; j++)
			run_burst(u);
		bench_sample(b, row, (double)(bench_now() - start) / p.batch);
	}
	for (unsigned k = 0; k < p.singles; k++) {
		start = bench_now();
		run_burst(u);
		bench_tail(b, row, (double)(bench_now() - start));
	}
	bench_round_done(b, row);
}

static void burst(struct bench *b, size_t row, const struct daemon *d, const struct app *a, int way, int placement)
{
	struct user u = { 0 };

	place(d, placement);
	user_open(&u, a, ways[way].window);
	executions(b, row, &u, way == POLLING);
	user_close(&u);
}

static void sync_path(struct bench *b, size_t row, const struct daemon *d, const struct app *a, int placement)
{
	const struct transport like = { .polls = false };
	struct plan p = plan_for(b, &like, placement);
	struct user u = { 0 };
	uint64_t start;

	place(d, placement);
	user_pools(&u, a);
	for (unsigned i = 0; i < p.warm_up; i++)
		run_sync(&u, a);
	for (unsigned i = 0; i < p.batches; i++) {
		start = bench_now();
		run_sync(&u, a);
		bench_sample(b, row, (double)(bench_now() - start));
	}
	bench_round_done(b, row);
	user_no_pools(&u);
}

/* ---- the bare round trip: two memories are sent, mapped, perhaps used, unmapped, closed; and an answer ---- */

struct link {
	int sock[2]; /* by side */
	int memories[2];
	bool used;
};

union fds_room {
	struct cmsghdr align;
	char room[CMSG_SPACE(2 * sizeof(int))];
};

static void bare_send(struct link *l, int side, const void *p)
{
	uint64_t number = number_of(p);
	union fds_room room = { .room = { 0 } };
	struct iovec bytes = { &number, sizeof(number) };
	struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1 };
	struct cmsghdr *c = &room.align;

	if (side == CLIENT) {
		m.msg_control = &room;
		m.msg_controllen = sizeof(room);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(2 * sizeof(int));
		memcpy(CMSG_DATA(c), l->memories, 2 * sizeof(int));
	}
	if (sendmsg(l->sock[side], &m, MSG_NOSIGNAL) != sizeof(number))
		die("sendmsg");
}

/* As little as there can be: a word of every page. */
static void touch(const char *from, char *to)
{
	for (long i = 0; i < FILLED; i += sysconf(_SC_PAGESIZE))
		*(volatile uint32_t *)(to + i) = *(const volatile uint32_t *)(from + i);
}

static void use(const int memories[2], bool used)
{
	char *p[2];

	for (int i = 0; i < 2; i++) {
		p[i] = mmap(NULL, FILLED, PROT_READ | PROT_WRITE, MAP_SHARED, memories[i], 0);
		if (p[i] == MAP_FAILED)
			die("mmap");
	}
	if (used)
		touch(p[0], p[1]);
	for (int i = 0; i < 2; i++) {
		munmap(p[i], FILLED);
		close(memories[i]);
	}
}

static void bare_recv(struct link *l, int side, void *p)
{
	union fds_room room;
	struct iovec bytes = { p, sizeof(uint64_t) };
	struct msghdr m = { .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int memories[2];

	if (recvmsg(l->sock[side], &m, MSG_CMSG_CLOEXEC) != sizeof(uint64_t))
		die("recvmsg");
	c = CMSG_FIRSTHDR(&m);
	if (side != SERVER)
		return;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(2 * sizeof(int)))
		die("the memories");
	memcpy(memories, CMSG_DATA(c), sizeof(memories));
	use(memories, l->used);
}

static void bare_open(struct link *l)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->sock))
		die("socketpair");
}

static const struct transport bare = { "bare", bare_open, bare_send, bare_recv, false };

static void bare_trips(struct bench *b, size_t row, const struct app *a, bool used, int placement)
{
	struct link l = { .used = used };
	struct user u = { 0 };

	user_pools(&u, a); /* the same memories that the other paths pass */
	for (int i = 0; i < 2; i++)
		l.memories[i] = nnb_pool_memory(u.pools[i])->fds[0];
	settle(placement, CLIENT);
	bare.open(&l);
	round_trips(b, row, &l, NULL, &bare, placement);
	close(l.sock[0]);
	close(l.sock[1]);
	user_no_pools(&u);
}

/* ---- limits ---- */

static const struct transport limits[] = {
	{ "cache lines", lines_open, line_send, line_recv, true },
	{ "cache lines, pause", lines_open, line_send, line_recv_pause, true },
	{ "raw futex", futex_open, futex_send, futex_recv, false },
};

enum { LINES, LINES_PAUSE, FUTEX, N_LIMITS };

static void limit(struct bench *b, size_t row, int which, int placement)
{
	settle(placement, CLIENT);
	limits[which].open(NULL);
	round_trips(b, row, NULL, NULL, &limits[which], placement);
}

/* ---- cold ---- */

struct cold_rows {
	size_t configure, close, first, second, warm;
};

static double timed(struct user *u)
{
	uint64_t start = bench_now();

	run_burst(u);
	return (double)(bench_now() - start);
}

static void cold(struct bench *b, const struct cold_rows *r, struct world *w)
{
	const struct app *a = &w->filled[USED][USUAL];

	place(&w->daemons[USED][USUAL], TWO_CPUS);
	for (int i = 0; i < (b->quick ? 2 : 20); i++) {
		struct user u = { 0 };
		uint64_t start = bench_now(), configured, closing;

		user_burst(&u, a, ways[USUAL].window);
		configured = bench_now();
		user_pools(&u, a);
		bench_sample(b, r->first, timed(&u));
		bench_sample(b, r->second, timed(&u));
		for (int k = 0; k < 10; k++)
			run_burst(&u);
		bench_sample(b, r->warm, timed(&u));
		closing = bench_now();
		u.burst = nnb_burst_free(u.burst);
		bench_sample(b, r->close, (double)(bench_now() - closing));
		bench_sample(b, r->configure, (double)(configured - start));
		user_no_pools(&u);
	}
	bench_round_done(b, r->configure);
	bench_round_done(b, r->close);
	bench_round_done(b, r->first);
	bench_round_done(b, r->second);
	bench_round_done(b, r->warm);
}

/* ---- a MobileNet ---- */

enum { NET_IN = MOBILENET_SIDE * MOBILENET_SIDE * 3 * 4, NET_OUT = MOBILENET_CLASSES * 4 };

struct net_rows {
	size_t alone, inside, burst, usual;
};

/* The same execution in this process, its pools mapped already, as a burst's are in the service. */
struct inside {
	struct nnb_prepared *prepared;
	struct nnb_request request;
	struct nnb_memory pools[2];
	struct nnb_mapping *mappings[2];
};

static void inside_make(struct inside *in, const struct world *w, const struct user *u)
{
	in->prepared = w->prepared;
	for (int i = 0; i < 2; i++) {
		in->pools[i] = *nnb_pool_memory(u->pools[i]);
		if (nnb_map(&in->mappings[i], &in->pools[i]))
			die("mapping a pool");
	}
	in->request = (struct nnb_request){
		.inputs = &u->in, .outputs = &u->out, .n_inputs = 1, .n_outputs = 1, .n_pools = 2, .pools = in->pools
	};
	for (int i = 0; i < NET_IN / 4; i++)
		((float *)nnb_mapping_data(in->mappings[0]))[i] = (float)(i % 255) / 127.5f - 1;
}

static void inside_free(struct inside *in)
{
	for (int i = 0; i < 2; i++)
		nnb_mapping_unref(in->mappings[i]);
}

static double timed_inside(const struct inside *in)
{
	struct nnb_reason reason = { "" };
	struct nnb_execution *e;
	uint64_t start = bench_now();
	bool finished;

	must(nnb_execution_begin(in->prepared, &in->request, in->mappings, false, NULL, &e, &reason), "an execution",
	     &reason);
	must(nnb_execution_run(e, NULL, NULL, &finished), "an execution", NULL);
	nnb_execution_end(e);
	return (double)(bench_now() - start);
}

struct pair {
	double inside, burst;
};

enum { PAIRS = 40, QUICK_PAIRS = 2, TRIES = 3 };

/* How often we, or a thread of the service, lost a cpu or gave it up. */
static uint64_t disturbances(const struct daemon *d)
{
	struct rusage own;

	getrusage(RUSAGE_THREAD, &own);
	return switches(d->pid) + (uint64_t)own.ru_nivcsw;
}

/*
 * Turn and turn about, each first as often as second. Where both sides poll (@d), a pair during which another thread
 * had one of the cpus is worth nothing and is measured again, within reason. Returns how many there are, one at
 * least.
 */
static int pairs(const struct inside *in, struct user *u, const struct daemon *d, struct pair *ret, int n)
{
	int got = 0;

	for (int i = -3; i < TRIES * n && got < n; i++) {
		uint64_t before = d ? disturbances(d) : 0;
		struct pair p = { 0 };

		if (i % 2)
			p.inside = timed_inside(in);
		p.burst = timed(u);
		if (i % 2 == 0)
			p.inside = timed_inside(in);
		if (i >= 0 && (!d || disturbances(d) == before || (i == TRIES * n - 1 && !got)))
			ret[got++] = p;
	}
	return got;
}

/*
 * While one side computes, the other polls, on the other cpu. So that neither has the better cpu, they change places
 * halfway, and a sample is the mean of an execution in one place and one in the other.
 */
static void net_polling(struct bench *b, const struct net_rows *r, struct world *w)
{
	const struct daemon *d = &w->daemons[USED][POLLING];
	int n = b->quick ? QUICK_PAIRS : PAIRS;
	struct pair p[2][PAIRS];
	struct user u = { 0 };
	struct inside in;

	place(d, TWO_CPUS);
	user_pools(&u, &w->net[POLLING]);
	inside_make(&in, w, &u);
	user_burst(&u, &w->net[POLLING], ways[POLLING].window);
	for (int half = 0; half < 2; half++) {
		bench_pin(cpu_of(TWO_CPUS, half));
		settle_all(d->pid, cpu_of(TWO_CPUS, !half));
		n = pairs(&in, &u, d, p[half], n);
	}
	for (int i = 0; i < n; i++) {
		bench_sample(b, r->inside, (p[0][i].inside + p[1][i].inside) / 2);
		bench_sample(b, r->burst, (p[0][i].burst + p[1][i].burst) / 2);
	}
	bench_round_done(b, r->inside);
	bench_round_done(b, r->burst);
	inside_free(&in);
	user_close(&u);
}

/* The default: both sides go to sleep while the other computes. */
static void net_usual(struct bench *b, const struct net_rows *r, struct world *w)
{
	int n = b->quick ? QUICK_PAIRS : PAIRS;
	struct pair p[PAIRS];
	struct user u = { 0 };
	struct inside in;

	place(&w->daemons[USED][USUAL], UNPINNED);
	user_pools(&u, &w->net[USUAL]);
	inside_make(&in, w, &u);
	user_burst(&u, &w->net[USUAL], ways[USUAL].window);
	pairs(&in, &u, NULL, p, n);
	for (int i = 0; i < n; i++) {
		bench_sample(b, r->alone, p[i].inside);
		bench_sample(b, r->usual, p[i].burst);
	}
	bench_round_done(b, r->alone);
	bench_round_done(b, r->usual);
	inside_free(&in);
	user_close(&u);
}

/* Both must compute the same, to the bit. */
static void check_net(struct world *w)
{
	float answers[2][MOBILENET_CLASSES];
	struct user u = { 0 };
	struct inside in;

	user_pools(&u, &w->net[USUAL]);
	inside_make(&in, w, &u);
	user_burst(&u, &w->net[USUAL], ways[USUAL].window);
	for (int i = 0; i < 2; i++) {
		memset(nnb_pool_data(u.pools[1]), 0xff, NET_OUT);
		if (i)
			timed_inside(&in);
		else
			run_burst(&u);
		memcpy(answers[i], nnb_pool_data(u.pools[1]), NET_OUT);
	}
	if (memcmp(answers[0], answers[1], NET_OUT) != 0 || isnan(answers[0][0])) {
		fprintf(stderr, "bench_burst: a MobileNet says %g by burst and %g here\n", answers[0][0],
		        answers[1][0]);
		exit(1);
	}
	inside_free(&in);
	user_close(&u);
}

/* ---- many bursts ---- */

enum { N_COUNTS = 7 }; /* 1, 2, 4, ... 64 */

struct crowd_rows {
	size_t time[N_WAYS][N_COUNTS], cpu[N_WAYS][N_COUNTS];
};

static uint64_t crowd_cpu(const struct world *w, int way)
{
	uint64_t sum = cpu_ns(w->daemons[PASSED][way].pid);

	for (int i = 0; i < APPS; i++)
		sum += cpu_ns(w->crowd[way][i].pid);
	return sum;
}

/* @n bursts execute as fast as they can, spread over the apps. */
static void crowd(struct bench *b, size_t time_row, size_t cpu_row, struct world *w, int way, uint32_t n)
{
	uint64_t done = 0, start, cpu, elapsed;

	place(&w->daemons[PASSED][way], UNPINNED);
	for (uint32_t i = 0; i < APPS && i < n; i++)
		process_ready(&w->crowd[way][i], n / APPS + (i < n % APPS), b->quick ? 5 : 60);
	cpu = crowd_cpu(w, way);
	start = bench_now();
	for (uint32_t i = 0; i < APPS && i < n; i++)
		process_go(&w->crowd[way][i]);
	for (uint32_t i = 0; i < APPS && i < n; i++)
		done += process_report(&w->crowd[way][i]);
	elapsed = bench_now() - start;
	cpu = crowd_cpu(w, way) - cpu;
	bench_sample(b, time_row, (double)elapsed / (double)done);
	bench_sample(b, cpu_row, (double)cpu / (double)done);
	bench_round_done(b, time_row);
	bench_round_done(b, cpu_row);
}

static uint64_t crowd_switches(const struct world *w, int way)
{
	uint64_t sum = switches(w->daemons[PASSED][way].pid);

	for (int i = 0; i < APPS; i++)
		sum += switches(w->crowd[way][i].pid);
	return sum;
}

static void idle(struct bench *b, const struct world *w, unsigned seconds)
{
	const struct timespec calm = { .tv_nsec = 200000000 };
	uint64_t cpu, changes;

	nanosleep(&calm, NULL);
	changes = crowd_switches(w, USUAL);
	cpu = crowd_cpu(w, USUAL);
	sleep(seconds);
	cpu = crowd_cpu(w, USUAL) - cpu;
	changes = crowd_switches(w, USUAL) - changes;
	bench_at_most(b, "64 idle bursts, 8 apps, the service: cpu ns in 2 s", (double)cpu, 0);
	bench_at_most(b, "64 idle bursts, 8 apps, the service: context switches", (double)changes, 0);
}

/* ---- counting ---- */

/*
 * A call with two pools: the message is sent, looked at and received; each pool is looked at (2), mapped, unmapped and
 * closed; the answer is sent and received.
 */
enum { COUNTED = 1000, CALLS_IN_A_CALL = 15 };

static void send_off(void *process)
{
	process_go(process);
}

/* What both sides ask of the kernel for COUNTED executions. The app is a process of its own, to be traced. */
static void count_calls_of(struct bench *b, const struct world *w, bool by_call)
{
	const int way = by_call ? SLEEPING : POLLING;
	const struct daemon *d = &w->daemons[PASSED][way];
	struct process p;
	double allocated;
	long calls;

	settle_all(d->pid, cpu_of(TWO_CPUS, SERVER));
	settle(TWO_CPUS, CLIENT); /* the app inherits it; we wait in the kernel */
	process_start(&p, d->socket, FILLED, 1, ways[way].window);
	process_ready_marked(&p, COUNTED, by_call);
	calls = syscalls_between_marks(p.pid, d->pid, send_off, &p);
	allocated = (double)process_report(&p);
	process_end(&p);
	if (calls < 0)
		fprintf(stderr, "bench_burst: may not trace: system calls are not counted\n");
	else if (by_call)
		bench_at_most(b, "system calls in a call, both sides", (double)calls / COUNTED,
		              CALLS_IN_A_CALL + 0.5); /* other threads of the service may make some */
	else
		bench_at_most(b, "system calls in 1000 warm executions, both sides", (double)calls, 0);
	if (!by_call)
		bench_at_most(b, "allocations in 1000 warm executions, the client", allocated, 0);
}

/* A warm polling execution asks the kernel for nothing, on neither side. */
static void count_calls(struct bench *b, struct world *w)
{
	count_calls_of(b, w, false);
	count_calls_of(b, w, true);
}

/* The service cannot be looked into; the same code in this process can. */
static void count_allocations(struct bench *b, struct world *w)
{
	const struct nnb_burst_config config = { .window_ns = ways[POLLING].window };
	struct nnb_model *model = copy_model(FILLED);
	struct nnb_reason reason = { "" };
	struct nnb_prepare how = { .preference = 1, .priority = 1 };
	struct nnb_prepared *prepared;
	struct nnb_device *null;
	struct user u = { 0 };
	unsigned long before;

	settle(UNPINNED, CLIENT);
	if (nnb_device_open(&null, "null", &reason))
		must(NNB_STATUS_DEVICE_UNAVAILABLE, "the null driver", &reason);
	must(nnb_prepare(null, model, &how, NULL, &prepared, &reason), "preparing", &reason);
	user_pools(&u, &w->filled[PASSED][POLLING]);
	must(nnb_burst_local(&u.burst, prepared, true, &config, &reason), "a burst in this process", &reason);
	for (int i = 0; i < 100; i++)
		run_burst(&u);
	before = allocations();
	for (int i = 0; i < COUNTED; i++)
		run_burst(&u);
	bench_at_most(b, "allocations in 1000 warm executions, both sides", (double)(allocations() - before), 0);
	user_close(&u);
	nnb_prepared_unref(prepared);
	nnb_device_unref(null);
	nnb_model_free(model);
}

/* ---- the whole ---- */

struct path_rows {
	size_t bare, sync, way[N_WAYS]; /* polling: on two cpus only */
};

struct rows {
	size_t limit[N_LIMITS], futex_one_cpu, no_op;
	struct path_rows path[N_PATHS][N_PLACEMENTS];
	struct cold_rows cold;
	struct net_rows net;
	struct crowd_rows crowd;
};

/* Where pools are only passed, two placements are enough. */
static bool worth_measuring(int path, int placement)
{
	return path == USED || placement != UNPINNED;
}

static void make_path_rows(struct bench *b, struct path_rows *r, int path, int placement)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/%s/bare", placements[placement], paths[path].name);
	r->bare = bench_row(b, name);
	snprintf(name, sizeof(name), "%s/%s/sync", placements[placement], paths[path].name);
	r->sync = bench_row(b, name);
	for (int way = placement == TWO_CPUS ? POLLING : SLEEPING; way < N_WAYS; way++) {
		snprintf(name, sizeof(name), "%s/%s/burst, %s", placements[placement], paths[path].name,
		         ways[way].name);
		r->way[way] = bench_row(b, name);
	}
}

static void make_crowd_rows(struct bench *b, struct crowd_rows *r, int way)
{
	char name[64];

	for (int i = 0; i < N_COUNTS; i++) {
		snprintf(name, sizeof(name), "%s/%d of 64 bursts: time", ways[way].name, 1 << i);
		r->time[way][i] = bench_row(b, name);
		snprintf(name, sizeof(name), "%s/%d of 64 bursts: cpu", ways[way].name, 1 << i);
		r->cpu[way][i] = bench_row(b, name);
	}
}

static void make_rows(struct bench *b, struct rows *r)
{
	r->limit[LINES] = bench_row(b, "two cpus/cache lines");
	r->limit[LINES_PAUSE] = bench_row(b, "two cpus/cache lines, pause");
	r->no_op = bench_row(b, "two cpus/no-op burst, polling");
	r->limit[FUTEX] = bench_row(b, "two cpus/raw futex");
	r->futex_one_cpu = bench_row(b, "one cpu/raw futex");
	for (int path = N_PATHS - 1; path >= 0; path--)
		for (int p = 0; p < N_PLACEMENTS; p++)
			if (worth_measuring(path, p))
				make_path_rows(b, &r->path[path][p], path, p);
	r->cold = (struct cold_rows){ .configure = bench_row(b, "configure a burst"),
		                      .first = bench_row(b, "first execution, 2 fresh pools"),
		                      .second = bench_row(b, "second execution"),
		                      .warm = bench_row(b, "later execution"),
		                      .close = bench_row(b, "close the burst") };
	r->net = (struct net_rows){ .inside = bench_row(b, "MobileNet/in process, service polling"),
		                    .burst = bench_row(b, "MobileNet/burst, polling"),
		                    .alone = bench_row(b, "MobileNet/in process"),
		                    .usual = bench_row(b, "MobileNet/burst, default window") };
	for (int way = SLEEPING; way < N_WAYS; way++)
		make_crowd_rows(b, &r->crowd, way);
}

static void measure_path(struct bench *b, const struct path_rows *r, struct world *w, int path, int placement)
{
	const struct app *sync = &w->filled[path][SLEEPING];

	bare_trips(b, r->bare, sync, path == USED, placement);
	sync_path(b, r->sync, &w->daemons[path][SLEEPING], sync, placement);
	for (int way = placement == TWO_CPUS ? POLLING : SLEEPING; way < N_WAYS; way++)
		burst(b, r->way[way], &w->daemons[path][way], &w->filled[path][way], way, placement);
}

static void measure(struct bench *b, const struct rows *r, struct world *w)
{
	for (int i = 0; i < N_LIMITS; i++)
		limit(b, r->limit[i], i, TWO_CPUS);
	limit(b, r->futex_one_cpu, FUTEX, ONE_CPU);
	burst(b, r->no_op, &w->daemons[PASSED][POLLING], &w->tiny, POLLING, TWO_CPUS);
	for (int path = 0; path < N_PATHS; path++)
		for (int p = 0; p < N_PLACEMENTS; p++)
			if (worth_measuring(path, p))
				measure_path(b, &r->path[path][p], w, path, p);
	cold(b, &r->cold, w);
	net_polling(b, &r->net, w);
	net_usual(b, &r->net, w);
	for (int way = SLEEPING; way < N_WAYS; way++)
		for (int i = 0; i < N_COUNTS; i++)
			crowd(b, r->crowd.time[way][i], r->crowd.cpu[way][i], w, way, 1u << i);
}

static double path_ratio(struct bench *b, const char *what, int path, int placement, size_t num, size_t den)
{
	char name[80];

	snprintf(name, sizeof(name), "%s, %s: %s", placements[placement], paths[path].name, what);
	return bench_ratio(b, name, num, den, SIZE_MAX);
}

/* Judged is what happens by itself: pools that are used, and two cpus to do it. */
static void judge_path(struct bench *b, const struct rows *rows, int path, int p)
{
	const struct path_rows *r = &rows->path[path][p];
	bool judged = path == USED && p == TWO_CPUS;
	double v;

	v = path_ratio(b, "sync / bare", path, p, r->sync, r->bare);
	if (judged)
		bench_at_most(b, "sync / bare", v, 1.3);
	v = path_ratio(b, "sync / burst, blocking", path, p, r->sync, r->way[SLEEPING]);
	if (judged)
		bench_at_least(b, "sync / burst, blocking", v, 2);
	path_ratio(b, "sync / burst, default window", path, p, r->sync, r->way[USUAL]);
	if (p != TWO_CPUS)
		return;
	v = path_ratio(b, "sync / burst, polling", path, p, r->sync, r->way[POLLING]);
	if (judged)
		bench_at_least(b, "sync / burst, polling", v, 20);
}

static void judge(struct bench *b, const struct rows *r)
{
	const struct path_rows *passed = r->path[PASSED];
	char name[80];
	double v;

	v = bench_ratio(b, "no-op burst, polling / cache lines", r->no_op, r->limit[LINES], r->limit[LINES_PAUSE]);
	bench_at_most(b, "no-op burst, polling / cache lines", v, 2.5);
	for (int path = N_PATHS - 1; path >= 0; path--)
		for (int p = 0; p < N_PLACEMENTS; p++)
			if (worth_measuring(path, p))
				judge_path(b, r, path, p);
	bench_ratio(b, "two cpus, passed: burst, blocking / raw futex", passed[TWO_CPUS].way[SLEEPING], r->limit[FUTEX],
	            SIZE_MAX);
	bench_ratio(b, "one cpu, passed: burst, blocking / raw futex", passed[ONE_CPU].way[SLEEPING], r->futex_one_cpu,
	            SIZE_MAX);
	bench_ratio(b, "first execution / sync", r->cold.first, r->path[USED][TWO_CPUS].sync, SIZE_MAX);
	bench_ratio(b, "first execution / later", r->cold.first, r->cold.warm, SIZE_MAX);
	v = bench_ratio(b, "MobileNet: burst, polling / in process", r->net.burst, r->net.inside, SIZE_MAX);
	bench_at_most(b, "MobileNet: burst, polling / in process", v, 1.01);
	bench_ratio(b, "MobileNet: burst, default window / in process", r->net.usual, r->net.alone, SIZE_MAX);
	for (int way = SLEEPING; way < N_WAYS; way++) {
		snprintf(name, sizeof(name), "%s: cpu of an execution, 64 bursts / 1", ways[way].name);
		bench_ratio(b, name, r->crowd.cpu[way][N_COUNTS - 1], r->crowd.cpu[way][0], SIZE_MAX);
	}
}

/* ---- beginning and end ---- */

static void prepare_here(struct world *w)
{
	struct nnb_prepare how = { .preference = 1, .priority = 1 };
	struct nnb_reason reason = { "" };

	w->mobilenet = mobilenet_new();
	if (nnb_device_open(&w->device, "xnnpack", &reason))
		must(NNB_STATUS_DEVICE_UNAVAILABLE, "the xnnpack driver", &reason);
	must(nnb_prepare(w->device, w->mobilenet, &how, NULL, &w->prepared, &reason), "preparing", &reason);
}

static void open_world(struct world *w)
{
	struct nnb_model *tiny = copy_model(TINY), *filled = copy_model(FILLED);

	prepare_here(w);
	for (int path = 0; path < N_PATHS; path++)
		for (int way = 0; way < N_WAYS; way++) {
			const char *const options[] = { "--driver", paths[path].driver, "--spin", ways[way].spin,
				                        NULL };

			daemon_start(&w->daemons[path][way], NNBURSTD, options);
			app_open(&w->filled[path][way], w->daemons[path][way].socket, filled, FILLED, FILLED);
		}
	app_open(&w->tiny, w->daemons[PASSED][POLLING].socket, tiny, TINY, TINY);
	for (int way = 0; way < N_WAYS; way++)
		if (way != SLEEPING)
			app_open(&w->net[way], w->daemons[USED][way].socket, w->mobilenet, NET_IN, NET_OUT);
	for (int way = SLEEPING; way < N_WAYS; way++)
		for (int i = 0; i < APPS; i++)
			process_start(&w->crowd[way][i], w->daemons[PASSED][way].socket, FILLED, BURSTS / APPS,
			              ways[way].window);
	nnb_model_free(tiny);
	nnb_model_free(filled);
}

static void close_world(struct world *w)
{
	for (int way = SLEEPING; way < N_WAYS; way++)
		for (int i = 0; i < APPS; i++)
			process_end(&w->crowd[way][i]);
	app_close(&w->tiny);
	for (int way = 0; way < N_WAYS; way++)
		app_close(&w->net[way]);
	for (int path = 0; path < N_PATHS; path++)
		for (int way = 0; way < N_WAYS; way++) {
			app_close(&w->filled[path][way]);
			daemon_stop(&w->daemons[path][way]);
		}
	nnb_prepared_unref(w->prepared);
	nnb_device_unref(w->device);
	nnb_model_free(w->mobilenet);
}

int main(int argc, char **argv)
{
	static struct world w;
	struct bench b;
	struct rows rows;
	int status = process_main(argc, argv);

	if (status >= 0)
		return status;
	bench_open(&b, "burst", 21, argc, argv);
	find_cpus();
	settle(UNPINNED, CLIENT);
	open_world(&w);
	check_net(&w);
	make_rows(&b, &rows);
	for (unsigned i = 0; i < b.rounds; i++)
		measure(&b, &rows, &w);
	judge(&b, &rows);
	count_calls(&b, &w);
	count_allocations(&b, &w);
	idle(&b, &w, b.quick ? 1 : 2);
	close_world(&w);
	return bench_close(&b);
}
