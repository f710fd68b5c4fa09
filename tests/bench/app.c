/* app.c -- see app.h. */
#include "app.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "allocations.h"
#include "mobilenet.h"
#include "peers.h"
#include "syscalls.h"

/* ---- a client ---- */

void fail(enum nnb_status status, const char *what, const struct nnb_reason *reason)
{
	fprintf(stderr, "%s: %s: %s: %s\n", program_invocation_short_name, what, nnb_status_name(status),
	        reason ? reason->text : "");
	exit(1);
}

struct nnb_model *copy_model(uint32_t bytes)
{
	struct nnb_operand o = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { bytes / 4 } };
	uint32_t in = 0, out = 1;
	struct nnb_model *m;

	if (nnb_model_new(&m, "copy", NNB_HAL_1_2) || nnb_model_operand(m, &o) != 0 || nnb_model_operand(m, &o) != 1 ||
	    nnb_model_operation(m, NNB_RELU, &in, 1, &out, 1) || nnb_model_finish(m, &in, 1, &out, 1))
		die("a model");
	return m;
}

enum { ONE_SIDE = 88, ONE_CHANNELS = 256, ONE_WEIGHTS = ONE_CHANNELS * 9 * ONE_CHANNELS };
enum {
	ONE_IN_BYTES = ONE_SIDE * ONE_SIDE * ONE_CHANNELS * 4,
	ONE_OUT_BYTES = (ONE_SIDE - 2) * (ONE_SIDE - 2) * ONE_CHANNELS * 4
};

static uint32_t one_constant(struct nnb_model *m, const struct nnb_operand *o, const void *value, size_t bytes)
{
	int index = nnb_model_operand(m, o);

	if (index < 0 || nnb_model_value(m, (uint32_t)index, value, bytes))
		die("a model");
	return (uint32_t)index;
}

/* 4.4 G products in one operation. */
static struct nnb_model *one_operation_new(void)
{
	static float values[ONE_WEIGHTS];
	const int32_t valid = NNB_PADDING_VALID, one = 1, none = NNB_FUSED_NONE;
	const struct nnb_operand scalar = { .type = NNB_INT32 };
	struct nnb_operand image = { .type = NNB_TENSOR_FLOAT32,
		                     .rank = 4,
		                     .dims = { 1, ONE_SIDE, ONE_SIDE, ONE_CHANNELS } };
	const struct nnb_operand weights = { .type = NNB_TENSOR_FLOAT32,
		                             .rank = 4,
		                             .dims = { ONE_CHANNELS, 3, 3, ONE_CHANNELS } };
	const struct nnb_operand bias = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { ONE_CHANNELS } };
	uint32_t in[7] = { 0 }, out = 1;
	struct nnb_model *m;

	for (uint32_t i = 0; i < ONE_WEIGHTS; i++)
		values[i] = (float)(i % 31) / 32 - 0.5f;
	if (nnb_model_new(&m, "one operation", NNB_HAL_1_2) || nnb_model_operand(m, &image) != 0)
		die("a model");
	image.dims[1] = image.dims[2] = ONE_SIDE - 2;
	if (nnb_model_operand(m, &image) != 1)
		die("a model");
	in[1] = one_constant(m, &weights, values, sizeof(values));
	in[2] = one_constant(m, &bias, values, ONE_CHANNELS * sizeof(float));
	in[3] = one_constant(m, &scalar, &valid, sizeof(valid));
	in[4] = in[5] = one_constant(m, &scalar, &one, sizeof(one));
	in[6] = one_constant(m, &scalar, &none, sizeof(none));
	if (nnb_model_operation(m, NNB_CONV_2D, in, 7, &out, 1) || nnb_model_finish(m, in, 1, &out, 1))
		die("a model");
	return m;
}

void app_open_net(struct app *a, enum net_kind kind, uint32_t priority, const char *socket)
{
	bool one = kind == NET_ONE_OPERATION;
	struct nnb_model *m = one ? one_operation_new() : mobilenet_new();

	app_open_at(a, priority, socket, m, one ? ONE_IN_BYTES : MOBILENET_IN_BYTES,
	            one ? ONE_OUT_BYTES : MOBILENET_OUT_BYTES);
	nnb_model_free(m);
}

void app_open_at(struct app *a, uint32_t priority, const char *socket, const struct nnb_model *model, uint32_t in_bytes,
                 uint32_t out_bytes)
{
	const struct nnb_prepare how = { .preference = 1, .priority = priority };
	const struct nnb_client_config config = { .socket = socket };
	struct nnb_reason reason = { "" };

	if (nnb_client_open(&a->client, &config, &reason))
		must(NNB_STATUS_DEAD_OBJECT, "connecting", &reason);
	must(nnb_remote_prepare(a->client, model, &how, NULL, &a->remote, &reason), "preparing", &reason);
	a->in_bytes = in_bytes;
	a->out_bytes = out_bytes;
}

void app_open(struct app *a, const char *socket, const struct nnb_model *model, uint32_t in_bytes, uint32_t out_bytes)
{
	app_open_at(a, 1, socket, model, in_bytes, out_bytes);
}

void app_close(struct app *a)
{
	a->remote = nnb_remote_release(a->remote);
	a->client = nnb_client_close(a->client);
}

void user_pools(struct user *u, const struct app *a)
{
	if (nnb_pool_new(&u->pools[0], a->in_bytes) || nnb_pool_new(&u->pools[1], a->out_bytes))
		die("pools");
	u->in.location = (struct nnb_location){ 0, 0, a->in_bytes };
	u->out.location = (struct nnb_location){ 1, 0, a->out_bytes };
	u->call = (struct nnb_call){
		.inputs = &u->in, .outputs = &u->out, .pools = u->pools, .n_inputs = 1, .n_outputs = 1, .n_pools = 2
	};
	u->answer.shapes = &u->shape;
}

void user_no_pools(struct user *u)
{
	for (int i = 0; i < 2; i++)
		u->pools[i] = nnb_pool_free(u->pools[i]);
}

void user_burst(struct user *u, const struct app *a, uint64_t window_ns)
{
	const struct nnb_burst_config config = { .window_ns = window_ns };
	struct nnb_reason reason = { "" };

	must(nnb_remote_burst(a->remote, &config, &u->burst, &reason), "a burst", &reason);
}

void user_open(struct user *u, const struct app *a, uint64_t window_ns)
{
	user_pools(u, a);
	user_burst(u, a, window_ns);
	run_burst(u);
}

void user_close(struct user *u)
{
	u->burst = nnb_burst_free(u->burst);
	user_no_pools(u);
}

/* ---- apps as processes: from outside ---- */

struct order {
	uint32_t bursts, ms;
	uint32_t marked; /* executions between marks, on one thread; 0: bursts and ms count */
	uint32_t calls;  /* whether these are calls */
};

/* One byte says that this side is ready, or that the other may go on. */
static void byte_send(int sock)
{
	write_fully(sock, "", 1);
}

static void byte_await(int sock)
{
	char c;

	read_fully(sock, &c, 1);
}

/* @bytes: the size of the model's vectors; below N_NETS: the number of a net instead. */
static void start(struct process *p, const char *socket, uint32_t bytes, uint32_t priority, uint32_t bursts,
                  uint64_t window_ns)
{
	char numbers[5][24];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die("a socket pair");
	snprintf(numbers[0], sizeof(numbers[0]), "%d", pair[1]);
	snprintf(numbers[1], sizeof(numbers[1]), "%" PRIu32, bytes);
	snprintf(numbers[2], sizeof(numbers[2]), "%" PRIu32, priority);
	snprintf(numbers[3], sizeof(numbers[3]), "%" PRIu32, bursts);
	snprintf(numbers[4], sizeof(numbers[4]), "%" PRIu64, window_ns);
	fflush(NULL);
	p->pid = fork();
	if (p->pid < 0)
		die("fork");
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fcntl(pair[1], F_SETFD, 0);
		execl("/proc/self/exe", program_invocation_name, "--app", socket, numbers[0], numbers[1], numbers[2],
		      numbers[3], numbers[4], (char *)NULL);
		_exit(5);
	}
	close(pair[1]);
	p->sock = pair[0];
	byte_await(p->sock);
}

void process_start(struct process *p, const char *socket, uint32_t bytes, uint32_t bursts, uint64_t window_ns)
{
	start(p, socket, bytes, 1, bursts, window_ns);
}

void process_start_net(struct process *p, const char *socket, enum net_kind kind, uint32_t priority, uint64_t window_ns)
{
	start(p, socket, (uint32_t)kind, priority, 1, window_ns);
}

void process_end(struct process *p)
{
	close(p->sock);
	end_peer(p->pid);
}

void process_ready(const struct process *p, uint32_t bursts, uint32_t ms)
{
	const struct order order = { .bursts = bursts, .ms = ms };

	write_fully(p->sock, &order, sizeof(order));
	byte_await(p->sock);
}

void process_ready_marked(const struct process *p, uint32_t n, bool calls)
{
	const struct order order = { .marked = n, .calls = calls };

	write_fully(p->sock, &order, sizeof(order));
	byte_await(p->sock);
}

void process_go(const struct process *p)
{
	byte_send(p->sock);
}

void process_stop(const struct process *p)
{
	byte_send(p->sock);
}

uint64_t process_report(const struct process *p)
{
	uint64_t n;

	read_fully(p->sock, &n, sizeof(n));
	return n;
}

/* ---- apps as processes: from inside ---- */

struct worker {
	pthread_t thread;
	struct user *user;
	pthread_barrier_t *start;
	const atomic_bool *stop;
	uint64_t n;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(w->start);
	do {
		run_burst(w->user);
		w->n++;
	} while (!atomic_load_explicit(w->stop, memory_order_relaxed));
	return NULL;
}

static uint64_t work_all(int sock, struct user *users, const struct order *o)
{
	struct worker workers[APP_BURSTS_MAX] = { { 0 } };
	struct pollfd stopped = { .fd = sock, .events = POLLIN };
	pthread_barrier_t start;
	atomic_bool stop = false;
	uint64_t n = 0;

	assert(o->bursts <= APP_BURSTS_MAX);
	pthread_barrier_init(&start, NULL, o->bursts + 1);
	for (uint32_t i = 0; i < o->bursts; i++) {
		workers[i] = (struct worker){ .user = &users[i], .start = &start, .stop = &stop };
		errno = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (errno)
			die("a thread");
	}
	byte_send(sock);
	byte_await(sock);
	pthread_barrier_wait(&start);
	if (poll(&stopped, 1, (int)o->ms) > 0)
		byte_await(sock);
	atomic_store_explicit(&stop, true, memory_order_relaxed);
	for (uint32_t i = 0; i < o->bursts; i++) {
		pthread_join(workers[i].thread, NULL);
		n += workers[i].n;
	}
	pthread_barrier_destroy(&start);
	return n;
}

static void run_either(struct user *u, const struct app *a, bool by_call)
{
	if (by_call)
		run_sync(u, a);
	else
		run_burst(u);
}

/* Its answer is what it allocated meanwhile. */
static uint64_t work_marked(int sock, struct user *u, const struct app *a, const struct order *o)
{
	unsigned long before;

	for (int i = 0; i < 100; i++)
		run_either(u, a, o->calls);
	byte_send(sock);
	byte_await(sock);
	run_either(u, a, o->calls); /* the service may have gone to sleep */
	syscalls_mark();
	before = allocations();
	for (uint32_t i = 0; i < o->marked; i++)
		run_either(u, a, o->calls);
	before = allocations() - before;
	syscalls_mark();
	return before;
}

static void be_app(struct app *a, const char *socket, uint32_t bytes, uint32_t priority)
{
	struct nnb_model *model;

	if (bytes < N_NETS) {
		app_open_net(a, (enum net_kind)bytes, priority, socket);
		return;
	}
	model = copy_model(bytes);
	app_open_at(a, priority, socket, model, bytes, bytes);
	nnb_model_free(model);
}

int process_main(int argc, char **argv)
{
	static struct user users[APP_BURSTS_MAX];
	struct app app;
	struct order o;
	uint32_t n;
	uint64_t done;
	int sock;

	if (argc != 8 || strcmp(argv[1], "--app") != 0)
		return -1;
	sock = atoi(argv[3]);
	be_app(&app, argv[2], (uint32_t)strtoul(argv[4], NULL, 10), (uint32_t)strtoul(argv[5], NULL, 10));
	n = (uint32_t)strtoul(argv[6], NULL, 10);
	assert(n <= APP_BURSTS_MAX);
	for (uint32_t i = 0; i < n; i++)
		user_open(&users[i], &app, strtoull(argv[7], NULL, 10));
	byte_send(sock);
	while (recv(sock, &o, sizeof(o), MSG_WAITALL) == sizeof(o)) {
		done = o.marked ? work_marked(sock, &users[0], &app, &o) : work_all(sock, users, &o);
		write_fully(sock, &done, sizeof(done));
	}
	for (uint32_t i = 0; i < n; i++)
		user_close(&users[i]);
	app_close(&app);
	return 0;
}
