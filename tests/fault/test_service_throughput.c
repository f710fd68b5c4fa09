/*
 * test_service_throughput.c -- a well-behaved app beside another one that attacks the service, in every known
 * way. It has at least half of the throughput that it has beside as many processes that only burn cpu time, no
 * wrong result, and keeps its connection; a new connection takes 100 ms longer at most. A row for each attack, which
 * counts what it did: an attack that does nothing while the victim is measured fails its row.
 *
 * test_service_throughput NAME measures the one attack whose name begins so. Times are judged in soak only
 * (NNB_SOAK_SECONDS), which gives each row some seconds; results are judged always.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/hostile_models.h"
#include "fault/lock_holder.h"
#include "loop_models.h"
#include "nnb/fence.h"
#include "service_helpers.h"

enum {
	FIRST_USER = 65000,
	ATTACKERS = 2, /* as root, two processes of another user, which are one app; otherwise each process is an app */
	N = 1 << 14,   /* elements of the victim's model */
	HEAVY = 1 << 20,  /* elements of the attackers' model */
	SMALL = 16,       /* elements of the model of attackers that do not compute */
	SHORT_MS = 150,   /* a measurement, where times are not judged */
	UNDER_WAY = 5,    /* attacks of a process before its victim is measured */
	SLOWER_MS = 100,  /* milliseconds that a new connection may take longer */
	CONNECTIONS = 20, /* more than an app may have */
	ASKERS = 12,      /* concurrent calls of each process that asks about models */
	READERS = 8,      /* threads of each process that reads the service's command line */
	TORN = 1 << 16,   /* elements of the model whose pool is torn */
	TRICKLED = 250,   /* descriptors of a message, each in a packet of its own */
	FILES_AT_ONCE = 64,
	USERS = 64,    /* users of the attacks of many users */
	CALLERS = 24,  /* concurrent calls of each process that executes large requests */
	LAUNCHED = 70, /* asynchronous executions, more than an app may have under way */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	ASKED = 3000, /* operations of its model */
	FILES = 192,  /* files of each process that takes files: all of them are as many as an app may have */
	OUTPUTS = 500,
	HUGE = HEAVY,     /* elements of a huge model */
	BUFFER = 4 << 20, /* elements of a large buffer */
#else
	ASKED = 100000,
	FILES = 2048,
	OUTPUTS = 20000, /* outputs of the model of large requests */
	HUGE = 16 << 20,
	BUFFER = 64 << 20,
#endif
	CONNECTS = 5, /* connections of the victim in each measurement, at equal distances */
	/* in turns with and without the attack: for each, the kernel places threads anew, which changes the rate up
	 * to 5x */
	MEASUREMENTS = 9
};

/* ---- attacks: scenes that never end ---- */

static const char *where;

/*
 * What the attackers did, in memory that the test shares with them. Its file has no name that scribble() looks for, and
 * its descriptor is that of $NNB_DID in each attacker.
 */
static atomic_ullong *did;

static void did_share(void)
{
	FILE *file = tmpfile(); /* has no FD_CLOEXEC: each child inherits it */
	char number[16];

	must(file != NULL && ftruncate(fileno(file), sizeof(*did)) == 0);
	snprintf(number, sizeof(number), "%d", fileno(file));
	setenv("NNB_DID", number, 1);
}

static void did_map(void)
{
	did = mmap(NULL, sizeof(*did), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(getenv("NNB_DID")), 0);
	must(did != MAP_FAILED);
}

/* Count something that the attack did; an attempt without an effect, such as an execution that failed, is not @real. */
static void did_one(bool real)
{
	if (real)
		atomic_fetch_add_explicit(did, 1, memory_order_relaxed);
}

static struct nnb_client *opened(void)
{
	struct nnb_client *client;

	return nnb_client_open(&client, &(struct nnb_client_config){ .socket = where }, NULL) ? NULL : client;
}

static struct nnb_client *must_open(void)
{
	struct nnb_client *client = opened();

	must(client != NULL);
	return client;
}

static struct nnb_remote *ready(struct nnb_client *client, uint32_t n)
{
	struct nnb_remote *remote;

	must(nnb_remote_prepare(client, vector_model(NNB_MUL, n, 1), NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	return remote;
}

/* The attack is under way: report that in its @n-th round. */
static void report_round(unsigned n)
{
	if (n == UNDER_WAY)
		scene_report('.');
}

static void *burns_alone(void *unused)
{
	(void)unused;
	for (volatile unsigned i = 0;; i++) {
		report_round(i);
		did_one(i % 1000 == 0);
	}
	return NULL;
}

/* $NNB_BURNERS threads burn, as many as the attack has. */
static void burns(void)
{
	pthread_t thread;

	for (int i = 1; i < atoi(getenv("NNB_BURNERS")); i++)
		must(pthread_create(&thread, NULL, burns_alone, NULL) == 0);
	burns_alone(NULL);
}

static void floods(void)
{
	struct nnb_remote *remote = ready(must_open(), HEAVY);
	struct io io;

	io_init(&io, HEAVY);
	for (unsigned n = 1;; n++, report_round(n))
		did_one(nnb_remote_execute(remote, &io.call, NULL, NULL) == NNB_STATUS_NONE);
}

static void *floods_its_burst(void *remote)
{
	struct nnb_burst *burst;
	struct io io;

	must(nnb_remote_burst(remote, NULL, &burst, NULL) == NNB_STATUS_NONE);
	io_init(&io, SMALL);
	for (unsigned n = 1;; n++, report_round(n))
		did_one(nnb_burst_execute(burst, &io.call, &io.answer, NULL) == NNB_STATUS_NONE);
	return NULL;
}

/* Each thread has a burst, and so has a thread in the service. */
static void floods_by_many_bursts(void)
{
	struct nnb_remote *remote = ready(must_open(), SMALL);
	pthread_t thread;

	for (unsigned i = 1; i < CALLERS; i++)
		must(pthread_create(&thread, NULL, floods_its_burst, remote) == 0);
	floods_its_burst(remote);
}

static void floods_by_burst(void)
{
	floods_its_burst(ready(must_open(), SMALL));
}

static void prepares(void)
{
	struct nnb_model *m = vector_model(NNB_MUL, HEAVY / 4, 1);
	struct nnb_client *client = must_open();
	struct nnb_remote *remote;

	for (unsigned n = 1;; n++, report_round(n))
		if (!nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL)) {
			did_one(true);
			nnb_remote_release(remote);
		}
}

/* A huge model and a tiny one by turns: memory comes and goes. */
static void prepares_huge_and_tiny(void)
{
	struct nnb_model *models[] = { vector_model(NNB_MUL, HUGE, 1), vector_model(NNB_ADD, 1, 1) };
	struct nnb_client *client = must_open();
	struct nnb_remote *remote;

	for (unsigned n = 1;; n++, report_round(n))
		if (!nnb_remote_prepare(client, models[n % 2], NULL, NULL, &remote, NULL)) {
			did_one(true);
			nnb_remote_release(remote);
		}
}

/* Memory of the device comes and goes. */
static void takes_buffers(void)
{
	const struct nnb_buffer_role role = { 0, 0, 1.0F };
	const struct nnb_buffer_desc desc = { .rank = 1, .dims = { BUFFER }, .inputs = &role, .n_inputs = 1 };
	struct nnb_client *client = must_open();
	struct nnb_remote *remote;

	must(nnb_remote_prepare(client, vector_model_of_any_length(), NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	for (unsigned n = 1;; n++, report_round(n)) {
		struct nnb_remote_buffer *buffer;

		if (!nnb_remote_buffer_new(&buffer, client, &remote, 1, &desc, false, NULL)) {
			did_one(true);
			nnb_remote_buffer_free(buffer);
		}
	}
}

static atomic_uint n_under_way;

static void launched_ends(void *arg, const struct nnb_result *result)
{
	(void)arg;
	did_one(!result->status);
	atomic_fetch_sub(&n_under_way, 1);
}

/* As many asynchronous executions as an app may have under way. */
static void floods_asynchronously(void)
{
	struct nnb_remote *remote = ready(must_open(), SMALL);
	struct io io;

	io_init(&io, SMALL);
	for (unsigned n = 1;; n++, report_round(n)) {
		while (atomic_load(&n_under_way) >= LAUNCHED)
			poll_pause();
		atomic_fetch_add(&n_under_way, 1);
		nnb_remote_execute_async(remote, &io.call, launched_ends, NULL, NULL);
	}
}

/* y[i] = x + x for each of @n outputs. */
static struct nnb_model *model_of_outputs(uint32_t n)
{
	uint32_t *outputs = calloc(n, sizeof(*outputs)), x, act;
	struct nnb_model *m;

	must(outputs && nnb_model_new(&m, "many outputs", NNB_HAL_1_0) == 0);
	x = float_tensor(m, 1);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < n; i++) {
		outputs[i] = float_tensor(m, 1);
		must(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, x, act }, 3, &outputs[i], 1) >= 0);
	}
	must(nnb_model_finish(m, &x, 1, outputs, n) == 0);
	free(outputs);
	return m;
}

static struct nnb_pool *large_pool;
static atomic_uint n_large;

static void *executes_large_requests(void *remote)
{
	struct nnb_argument in = { .location = { 0, 0, 4 } }, *out = calloc(OUTPUTS, sizeof(*out));
	struct nnb_call call = {
		.inputs = &in, .outputs = out, .pools = &large_pool, .n_inputs = 1, .n_outputs = OUTPUTS, .n_pools = 1
	};

	must(out != NULL);
	for (uint32_t i = 0; i < OUTPUTS; i++)
		out[i] = (struct nnb_argument){ .location = { 0, 4 * (i + 1), 4 } };
	for (;;) {
		did_one(nnb_remote_execute(remote, &call, NULL, NULL) == NNB_STATUS_NONE);
		report_round(UNDER_WAY * (atomic_fetch_add(&n_large, 1) + 1));
	}
	return NULL;
}

/* The service takes large requests apart on many channels at once. */
static void executes_large_requests_at_once(void)
{
	struct nnb_remote *remote;
	pthread_t thread;

	must(nnb_remote_prepare(must_open(), model_of_outputs(OUTPUTS), NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	must(nnb_pool_new(&large_pool, 4 * (OUTPUTS + 1)) == 0);
	for (unsigned i = 1; i < CALLERS; i++)
		must(pthread_create(&thread, NULL, executes_large_requests, remote) == 0);
	executes_large_requests(remote);
}

static void opens_bursts(void)
{
	struct nnb_remote *remote = ready(must_open(), SMALL);

	for (unsigned n = 1;; n++, report_round(n)) {
		struct nnb_burst *burst;

		if (nnb_remote_burst(remote, NULL, &burst, NULL))
			continue;
		did_one(true);
		nnb_burst_free(burst);
	}
}

/*
 * Execute @m again and again, with two inputs of @first and @second bytes, the second of which is @values, and
 * an output of @out.
 */
static void executes_again_and_again(struct nnb_model *m, uint32_t first, const void *values, uint32_t second,
                                     uint32_t out_bytes)
{
	struct nnb_argument in[2] = { { .location = { 0, 0, first } }, { .location = { 0, first, second } } };
	struct nnb_argument out = { .location = { 0, first + 64, out_bytes } };
	struct nnb_client *client = must_open();
	struct nnb_remote *remote;
	struct nnb_pool *pool;
	struct nnb_call call = {
		.inputs = in, .outputs = &out, .pools = &pool, .n_inputs = 2, .n_outputs = 1, .n_pools = 1
	};

	must(nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	must(nnb_pool_new(&pool, (uint64_t)first + 64 + out_bytes) == 0);
	memcpy((char *)nnb_pool_data(pool) + first, values, second);
	for (unsigned n = 1;; n++) {
		must(nnb_remote_execute(remote, &call, NULL, NULL) == NNB_STATUS_NONE);
		did_one(true);
		report_round(UNDER_WAY * n); /* each execution takes long, so one is enough */
	}
}

/* 3^9 additions, behind 30 000 IFs. */
static void branches(void)
{
	executes_again_and_again(loop_wide(10, 3, 0), LOOP_N * sizeof(float), &(int32_t){ 0 }, sizeof(int32_t),
	                         LOOP_N * sizeof(float));
}

#ifdef __SANITIZE_THREAD__
enum { WINDOW = 120 }; /* a ninth of the cells, because each takes nine times as long here */
#else
enum { WINDOW = 96 };
#endif

/* The run computes shapes with 40 million cells, which the estimate could not know. */
static void computes_shapes(void)
{
	enum { OUT_SIDE = 2 * UNKNOWN_SIDE - WINDOW + 1 };
	const int32_t once[4] = { 1, 1, 1, 1 };

	executes_again_and_again(model_of_unknown_work(WINDOW), UNKNOWN_SIDE * UNKNOWN_SIDE * UNKNOWN_CHANNELS, once,
	                         sizeof(once), 2 * OUT_SIDE * OUT_SIDE * 2 * UNKNOWN_CHANNELS);
}

/*
 * As many executions as allowed wait for a fence that is never signalled. The attacker asks for more, and
 * starts over.
 */
static void waits_for_no_signal(void)
{
	int never, fence;
	struct io io;

	must(nnb_fence_new(&never) == 0);
	io_init(&io, SMALL);
	for (unsigned n = 1;; n++, report_round(n)) {
		const struct nnb_fenced_how how = { .wait_for = &never, .n_wait_for = 1 };
		struct nnb_client *client = must_open();
		struct nnb_remote *remote = ready(client, SMALL);
		enum nnb_status status = NNB_STATUS_NONE;
		struct nnb_fenced *fenced;

		for (unsigned i = 0; i < 1000 && !status; i++) {
			status = nnb_remote_execute_fenced(remote, &io.call, &how, &fenced, &fence, NULL);
			if (!status) {
				nnb_fenced_free(fenced);
				close(fence);
			}
		}
		did_one(status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT); /* as many wait as allowed */
		nnb_remote_release(remote);
		nnb_client_close(client);
	}
}

static struct nnb_model *chain_of(uint32_t n)
{
	uint32_t at, first, act, next;
	struct nnb_model *m;

	must(nnb_model_new(&m, "asked about", NNB_HAL_1_0) == 0);
	first = at = float_tensor(m, SMALL);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < n; i++, at = next) {
		next = float_tensor(m, SMALL);
		must(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ at, at, act }, 3, &next, 1) >= 0);
	}
	must(nnb_model_finish(m, &first, 1, &at, 1) == 0);
	return m;
}

static struct nnb_model *asked_about;
static atomic_uint n_asked;

static void *asks(void *client)
{
	bool *each = calloc(ASKED, sizeof(*each));

	must(each != NULL);
	for (;;) {
		/* Concurrent calls have a channel each. */
		did_one(nnb_client_supported(client, asked_about, each, NULL) == NNB_STATUS_NONE);
		report_round(UNDER_WAY *
		             (atomic_fetch_add(&n_asked, 1) + 1)); /* each call takes long, so one is enough */
	}
	return NULL;
}

/* Ask which operations of a large model are supported, on many channels at once. */
static void asks_about_models(void)
{
	struct nnb_client *client = must_open();
	pthread_t thread;

	asked_about = chain_of(ASKED);
	for (unsigned i = 1; i < ASKERS; i++)
		must(pthread_create(&thread, NULL, asks, client) == 0);
	asks(client);
}

static void *asks_counts(void *client)
{
	struct nnb_service_counts counts;
	struct nnb_app_counts app;
	uint32_t n_apps;

	for (;;) {
		did_one(nnb_client_counts(client, &counts, NULL) == NNB_STATUS_NONE);
		did_one(nnb_client_apps(client, &app, 1, &n_apps, NULL) == NNB_STATUS_NONE);
		report_round(atomic_fetch_add(&n_asked, 1) + 1);
	}
	return NULL;
}

/* Ask what all apps hold, on many channels at once, with as many bursts as an app may have. */
static void asks_for_counts(void)
{
	struct nnb_client *client = must_open();
	struct nnb_remote *remote = ready(client, SMALL);
	struct nnb_burst *burst;
	pthread_t thread;

	while (!nnb_remote_burst(remote, NULL, &burst, NULL))
		;
	for (unsigned i = 1; i < ASKERS; i++)
		must(pthread_create(&thread, NULL, asks_counts, client) == 0);
	asks_counts(client);
}

/* Take connections, models and bursts until the service refuses all; then free them. */
static void takes_all_it_may_have(void)
{
	enum { MODELS = 100, BURSTS = 300 };
	static struct nnb_burst *bursts[BURSTS];
	struct nnb_client *clients[CONNECTIONS];
	struct nnb_remote *remotes[MODELS];
	struct nnb_model *m = vector_model(NNB_MUL, SMALL, 1);

	for (unsigned n = 1;; n++, report_round(n)) {
		unsigned has[3] = { 0 };

		/* The service may not have released yet what the user's processes held before. */
		while (!(clients[0] = opened()))
			poll_pause();
		for (has[0] = 1; has[0] < CONNECTIONS && (clients[has[0]] = opened());)
			has[0]++;
		while (has[1] < MODELS && !nnb_remote_prepare(clients[0], m, NULL, NULL, &remotes[has[1]], NULL))
			has[1]++;
		while (has[1] && has[2] < BURSTS && !nnb_remote_burst(remotes[0], NULL, &bursts[has[2]], NULL))
			has[2]++;
		did_one(has[0] > 1 && has[1] && has[2]);
		while (has[2])
			nnb_burst_free(bursts[--has[2]]);
		while (has[1])
			nnb_remote_release(remotes[--has[1]]);
		while (has[0])
			nnb_client_close(clients[--has[0]]);
	}
}

static void connects(void)
{
	for (unsigned n = 1;; n++, report_round(n)) {
		struct nnb_client *client = opened();

		did_one(client != NULL);
		if (client)
			nnb_client_close(client);
	}
}

/* Each process connects, has a burst, and ends without a goodbye. */
static void dies_again_and_again(void)
{
	for (unsigned n = 1;; n++, report_round(n)) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(1); /* it has threads that did not come with it, and their locks */
			struct nnb_client *client = opened();
			struct nnb_burst *burst;

			if (client && !nnb_remote_burst(ready(client, SMALL), NULL, &burst, NULL))
				did_one(true);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* Connect to the service without the client library. -1: there is no connection. */
static int connected(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	must(fd >= 0);
	strcpy(at.sun_path, where);
	if (!connect(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -1;
}

/* Have as many connections as an app may have, without a word; then close them. */
static void says_nothing(void)
{
	for (unsigned n = 1;; n++, report_round(n)) {
		int fds[CONNECTIONS];

		for (unsigned i = 0; i < CONNECTIONS; i++) {
			fds[i] = connected();
			did_one(fds[i] >= 0);
		}
		for (unsigned i = 0; i < CONNECTIONS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
}

/* Of the protocol of nnburstd(8). */
struct packet_header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

/* Send a packet with one descriptor. */
static bool packet_send(int sock, uint16_t type, uint32_t n_fds, int fd)
{
	struct packet_header header = { 0x43424e4e, type, 0, 0, n_fds };

	return fd_send(sock, &header, sizeof(header), fd, 0);
}

/* Introduce this client, which can send descriptors from then on. */
static bool is_let_in(int sock)
{
	const struct {
		struct packet_header head;
		uint32_t version, hal, name_bytes;
	} hello = { { 0x43424e4e, 1, 0, 12, 0 }, 9, 0, 0 };
	struct {
		struct packet_header head;
		uint32_t status;
	} answer;

	return send(sock, &hello, sizeof(hello), MSG_NOSIGNAL) >= 0 &&
	       recv(sock, &answer, sizeof(answer), 0) == sizeof(answer) && !answer.status;
}

/* Ask for a channel in as many packets as there are descriptors, none of which is an offer of a socket. */
static void trickles(void)
{
	enum { CHANNEL = 2, MORE = 65 };
	int fd = memfd_create("trickled", MFD_CLOEXEC);

	for (unsigned n = 1;; n++, report_round(n)) {
		int sock = connected();
		char none;

		if (sock < 0)
			continue;
		if (is_let_in(sock) && packet_send(sock, CHANNEL, TRICKLED, fd)) {
			unsigned sent = 1;

			while (sent < TRICKLED && packet_send(sock, MORE, 1, fd))
				sent++;
			did_one(sent == TRICKLED);
		}
		while (recv(sock, &none, 1, 0) > 0) /* until the service has closed it */
			;
		close(sock);
	}
}

static void is_refused(void)
{
	for (int i = 0; i < CONNECTIONS; i++)
		opened();
	for (unsigned n = 1;; n++, report_round(n)) {
		struct nnb_client *client = opened();

		did_one(client == NULL);
		if (client)
			nnb_client_close(client);
	}
}

static struct nnb_pool *file_pool(int fd, uint32_t n)
{
	struct nnb_memory memory;
	struct nnb_pool *pool;

	must(fd >= 0 && ftruncate(fd, (off_t)n * 8) == 0);
	must(nnb_memory_mmap_fd(&memory, fd, (uint64_t)n * 8, PROT_READ | PROT_WRITE, 0) == 0);
	must(nnb_pool_from(&pool, &memory) == 0);
	nnb_memory_close(&memory);
	return pool;
}

/* A file that a burst has mapped is truncated, and the service computes on it; then it grows again. */
static void tears(void)
{
	int fd = memfd_create("torn", MFD_CLOEXEC);
	struct nnb_remote *remote = ready(must_open(), TORN);
	struct nnb_pool *pool = file_pool(fd, TORN);
	struct nnb_burst *burst;
	struct io io;
	bool whole;

	must(nnb_remote_burst(remote, NULL, &burst, NULL) == NNB_STATUS_NONE);
	io_init_on(&io, TORN, pool);
	for (unsigned n = 1;; n++, report_round(n)) {
		must(ftruncate(fd, (off_t)TORN * 8) == 0);
		whole = !nnb_burst_execute(burst, &io.call, &io.answer, NULL);
		must(ftruncate(fd, 0) == 0);
		did_one(nnb_burst_execute(burst, &io.call, &io.answer, NULL) == NNB_STATUS_GENERAL_FAILURE && whole);
		nnb_remote_execute(remote, &io.call, NULL, NULL); /* refuses to map it */
	}
}

/* Bytes of a file whose pages are punched, and of a larger one: two of these are nearly all that an app may have. */
#define PUNCHED (UINT64_C(1) << 20)
#define PUNCHED_LARGE (UINT64_C(2000) << 20)

static int punched;

static void *punches_again_and_again(void *bytes)
{
	for (;;)
		must(fallocate(punched, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, *(const off_t *)bytes) == 0);
	return NULL;
}

/*
 * A thread punches all pages out of a file of @bytes, again and again, while the service computes on it. With
 * $NNB_ALONE this process computes on it instead.
 */
static void punches(off_t bytes, bool by_burst)
{
	const bool alone = atoi(getenv("NNB_ALONE"));
	const uint32_t fit = (uint32_t)(bytes / 8), n = fit < HEAVY ? fit : HEAVY;
	struct nnb_burst *burst = NULL;
	struct nnb_remote *remote;
	pthread_t thread;
	struct io io;

	punched = memfd_create("punched", MFD_CLOEXEC);
	io_init_on(&io, n, file_pool(punched, fit));
	remote = alone ? NULL : ready(must_open(), n);
	must(!by_burst || alone || nnb_remote_burst(remote, NULL, &burst, NULL) == NNB_STATUS_NONE);
	must(pthread_create(&thread, NULL, punches_again_and_again, &bytes) == 0);
	for (unsigned r = 1;; r++) {
		for (uint32_t i = 0; alone && i < n; i++)
			((volatile float *)io.y)[i] = io.x[i] * io.x[i];
		did_one(alone || !(by_burst ? nnb_burst_execute(burst, &io.call, &io.answer, NULL)
		                            : nnb_remote_execute(remote, &io.call, NULL, NULL)));
		report_round(UNDER_WAY * r); /* each round takes long, so one is enough */
	}
}

static void punches_by_calls(void)
{
	punches(PUNCHED, false);
}

static void punches_by_bursts(void)
{
	punches(PUNCHED, true);
}

static void punches_much_by_calls(void)
{
	punches(PUNCHED_LARGE, false);
}

static void punches_much_by_bursts(void)
{
	punches(PUNCHED_LARGE, true);
}

static void punches_much_and_rarely_runs(void)
{
	const struct sched_param none = { 0 };

	must(sched_setscheduler(0, SCHED_IDLE, &none) == 0);
	punches_much_by_calls();
}

/* A burst learns new files with each execution, until the app has as many as allowed; then all of them are freed. */
static void takes_files(void)
{
	struct nnb_remote *remote = ready(must_open(), SMALL);
	static struct nnb_pool *pools[FILES];

	for (unsigned n = 1;; n++) {
		struct nnb_burst *burst = NULL;
		unsigned has = 0;
		bool may = !nnb_remote_burst(remote, NULL, &burst, NULL);

		while (may && has < FILES) {
			struct io io;

			for (unsigned i = 0; i < FILES_AT_ONCE; i++) {
				int fd = memfd_create("file", MFD_CLOEXEC);

				pools[has + i] = file_pool(fd, SMALL);
				close(fd);
			}
			io_init_on(&io, SMALL, pools[has]);
			io.call.pools = &pools[has];
			io.call.n_pools = FILES_AT_ONCE;
			has += FILES_AT_ONCE;
			may = !nnb_burst_execute(burst, &io.call, &io.answer, NULL);
			did_one(may);
		}
		nnb_burst_free(burst);
		while (has)
			nnb_pool_free(pools[--has]);
		report_round(UNDER_WAY * n); /* each round takes long, so one is enough */
	}
}

/* Overwrite all shared memory: pools and queues. The process does not survive that for long. */
static void scribble(unsigned seed)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");

	must(maps != NULL);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char mode[8];

		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || strcmp(mode, "rw-s") ||
		    !strstr(line, "memfd:"))
			continue;
		for (int i = 0; i < 16; i++) {
			seed = seed * 1664525 + 1013904223;
			((volatile uint8_t *)from)[seed % (to - from)] ^= (uint8_t)(seed >> 13);
		}
		did_one(true);
	}
	fclose(maps);
}

static void scribbles(void)
{
	for (unsigned n = 1;; n++, report_round(n)) {
		pid_t pid = fork();

		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			alarm(1); /* the attacker may wait for an object that it has spoilt */
			struct nnb_remote *remote = ready(must_open(), SMALL);
			struct nnb_burst *burst;
			struct io io;

			must(nnb_remote_burst(remote, NULL, &burst, NULL) == NNB_STATUS_NONE);
			io_init(&io, SMALL);
			for (unsigned i = 0; i < 1000; i++) {
				nnb_burst_execute(burst, &io.call, &io.answer, NULL);
				scribble(n * 1000 + i);
			}
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void *reads(void *path)
{
	const struct sched_param none = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];

	must(fd >= 0 && sched_setscheduler(0, SCHED_IDLE, &none) == 0);
	for (unsigned n = 1;; n++, report_round(n)) {
		ssize_t r = pread(fd, text, sizeof(text), 0);

		must(r >= 0); /* 0 where the service prevents it, which is an attempt, too */
		did_one(true);
	}
	return NULL;
}

/* Threads that rarely get a cpu read the service's command line; the kernel locks its memory map for each read. */
static void reads_the_command_line(void)
{
	static char path[64];
	pthread_t thread;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", nnb_client_info(must_open())->pid);
	for (unsigned i = 1; i < READERS; i++)
		must(pthread_create(&thread, NULL, reads, path) == 0);
	reads(path);
}

static void begins(void)
{
	report_round(UNDER_WAY); /* a call may take seconds */
}

static void goes_on(void)
{
	did_one(true);
}

static void holds_the_lock_of_its_file(void)
{
	lock_hold(ready(must_open(), SMALL), SMALL, begins, goes_on);
}

static void prepares_to_hold_the_lock(void)
{
	lock_prepare(ready(must_open(), SMALL), SMALL, begins, goes_on);
}

static const struct attack {
	const char *name;
	void (*goes)(void);
	const char *counts; /* what it does */
	double least;       /* the limit, where it is not one half: a known gap */
	unsigned users;     /* each has one process; 0: ATTACKERS processes of one user */
	unsigned threads;   /* of each process, and as many of each that burns; 0: one */
	bool itself;        /* it costs as much of the cpus without the service: measured, too, with $NNB_ALONE */
	bool of_strangers;  /* the service prevents it only where other users may connect: root alone can be these */
} attacks[] = {
	{ "burns cpu time", burns, "1000 rounds" },
	/*
	 * The victim's executions are short: waking its thread and preempting the other run take longer than
	 * they do.
	 */
	{ "floods with long executions", floods, "executions", 0.4 },
	{ "floods with short ones by burst", floods_by_burst, "executions" },
	{ "floods by many bursts at once", floods_by_many_bursts, "executions", .threads = CALLERS },
	{ "floods with asynchronous ones", floods_asynchronously, "executions" },
	{ "executes large requests at once", executes_large_requests_at_once, "executions" },
	{ "64 users flood by burst", floods_by_burst, "executions", .users = USERS, .of_strangers = true },
	{ "prepares again and again", prepares, "models" },
	{ "prepares huge and tiny models in turn", prepares_huge_and_tiny, "models" },
	{ "takes large buffers", takes_buffers, "buffers" },
	{ "opens bursts again and again", opens_bursts, "bursts" },
	{ "connects again and again", connects, "connections" },
	{ "64 users connect again and again", connects, "connections", .users = USERS, .of_strangers = true },
	{ "dies again and again", dies_again_and_again, "deaths" },
	{ "connects and says nothing", says_nothing, "connections" },
	{ "sends a message bit by bit", trickles, "messages" },
	{ "is refused again and again", is_refused, "refusals" },
	{ "tears its files", tears, "torn executions" },
	/*
	 * Each process punches and computes at the same time, and would do so without the service. What the service
	 * adds is described in docs/security.md: for one, page faults take the lock on its memory map.
	 */
	{ "punches the file of its calls", punches_by_calls, "executions", 0.4, .threads = 2, .itself = true },
	{ "punches the file of its bursts", punches_by_bursts, "executions", 0.4, .threads = 2, .itself = true },
	{ "punches 2000 MiB of its calls", punches_much_by_calls, "executions", 0.4, .threads = 2, .itself = true },
	{ "punches 2000 MiB of its bursts", punches_much_by_bursts, "executions", 0.4, .threads = 2, .itself = true },
	{ "punches 2000 MiB, and is SCHED_IDLE", punches_much_and_rarely_runs, "executions", .threads = 2,
	  .itself = true },
	{ "takes files and mappings", takes_files, "times 64 files" },
	{ "scribbles into shared memory", scribbles, "scribbled mappings" },
	/* A busy machine costs as much: the victim waits for some 30 us, and its cycle takes some 200 to 600. */
	{ "executes branches within branches", branches, "executions", 0.4 },
	{ "executes shapes that it computes", computes_shapes, "executions" },
	{ "waits for fences that nothing signals", waits_for_no_signal, "refusals while all wait" },
	{ "asks about models on many channels", asks_about_models, "answers" },
	{ "asks for counts on many channels", asks_for_counts, "answers", .threads = ASKERS },
	{ "takes all it may have", takes_all_it_may_have, "times all" },
	{ "reads the service's command line", reads_the_command_line, "attempts", .of_strangers = true },
	{ "holds the lock of its file", holds_the_lock_of_its_file, "rounds", .of_strangers = true },
	/* The processes that it forks burn cpu time, too. */
	{ "maps its file 60 000 times", prepares_to_hold_the_lock, "rounds", .threads = 1 + LOCK_HOLDERS,
	  .of_strangers = true },
};

/* ---- the victim ---- */

/* Sums over measurements. */
struct measured {
	uint64_t executions, ns;
	uint64_t connect_ns; /* the slowest connection of each measurement */
	uint64_t did;        /* what the attackers did meanwhile */
};

static int set_up(void **state)
{
	struct one_app *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	if (!geteuid())
		service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", geteuid() ? "pid" : "uid", "--lanes", "1"));
	one_app_open(f, N);
	f->burst = app_burst(f->remote);
	did_share(); /* after the service, which must not inherit it */
	did_map();
	*state = f;
	return 0;
}

/* One more connection of the victim with one call, then closed. */
static uint64_t connect_ns(const struct one_app *f)
{
	uint64_t began = now_ns();
	struct nnb_client *client = app_open(&f->s);

	app_counts(client);
	began = now_ns() - began;
	nnb_client_close(client);
	return began;
}

static double per_s(const struct measured *m)
{
	return (double)m->executions * 1e9 / (double)m->ns;
}

/* Measure on connections from before the attack, where each failure fails the test. */
static void measure(struct one_app *f, unsigned ms, struct measured *sum)
{
	uint64_t began = now_ns(), until = began + ms * MS, n = 0, spent = 0, slowest = 0;
	unsigned connects = 0;

	for (uint64_t now = began; now < until; now = now_ns()) {
		/* as many connections in each measurement, whatever the throughput: the slowest of more is slower */
		if (now - began >= connects * (ms * MS / CONNECTS)) {
			uint64_t ns = connect_ns(f);

			connects++;
			spent += ns;
			slowest = ns > slowest ? ns : slowest;
		}
		if (++n % 2)
			expect_sync(f->remote, &f->io, NNB_ADD);
		else
			expect_burst(f->burst, &f->io, NNB_ADD);
	}
	sum->executions += n;
	sum->ns += now_ns() - began - spent;
	sum->connect_ns += slowest;
}

static unsigned processes_of(const struct attack *a)
{
	return a->users ? a->users : geteuid() ? 1 : ATTACKERS;
}

/* Measure beside as many processes that do as @a as the attack @like has; @alone: without the service. */
static void measure_beside(struct one_app *f, const struct attack *a, const struct attack *like, bool alone,
                           unsigned ms, struct measured *sum)
{
	unsigned n = processes_of(like);
	char burners[16];
	uint64_t before, until;
	struct child c[USERS];

	snprintf(burners, sizeof(burners), "%u", like->threads ? like->threads : 1);
	setenv("NNB_BURNERS", burners, 1);
	setenv("NNB_ALONE", alone ? "1" : "0", 1);
	for (unsigned i = 0; i < n; i++) {
		char user[16];

		snprintf(user, sizeof(user), "%d", geteuid() ? 0 : FIRST_USER + (like->users ? (int)i : 0));
		child_start(&c[i], a->name, &f->s, user);
	}
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(child_read(&c[i]), '.');
	before = atomic_load(did);
	measure(f, ms, sum);
	sum->did += atomic_load(did) - before;
	/* One thing that it does may take longer than the measurement. */
	until = now_ns() + PATIENCE;
	while (atomic_load(did) == before && now_ns() < until)
		poll_pause();
	if (atomic_load(did) == before)
		fail_msg("\"%s\" does nothing: no %s", a->name, a->counts);
	for (unsigned i = 0; i < n; i++)
		child_kill(&c[i]);
	app_comes_to_hold(f->client, all.connections, 1);
}

static const char *only; /* the attack to measure, by the beginning of its name; NULL: all */

static bool is_measured(const struct attack *a)
{
	return (!only || !strncmp(a->name, only, strlen(only))) && (!a->of_strangers || !geteuid());
}

/*
 * The first measured row that has as many processes and threads as @row. Where times are not judged, one measurement
 * beside burning processes serves all such rows.
 */
static unsigned first_like(unsigned row)
{
	unsigned r = 1;

	while (!is_measured(&attacks[r]) || attacks[r].users != attacks[row].users ||
	       attacks[r].threads != attacks[row].threads)
		r++;
	return r;
}

static void the_victim_keeps_half_of_its_throughput(void **state)
{
	struct measured cpu[N_OF(attacks)] = { { 0 } };
	struct one_app *f = *state;
	const char *soak = getenv("NNB_SOAK_SECONDS");
	unsigned rows = N_OF(attacks) - 1, most = soak ? (unsigned)atoi(soak) * 1000 : 0;
	unsigned ms = most / (rows * 2 * MEASUREMENTS) < SHORT_MS ? SHORT_MS : most / (rows * 2 * MEASUREMENTS);
	unsigned times = soak ? MEASUREMENTS : 1, failed = 0;

	ms = ms > 3000 ? 3000 : ms;
	print_message("%-37s %10s %10s %6s %12s  %s\n", "the other app", "beside cpu", "beside it", "ratio",
	              "connecting", "which did");
	for (unsigned row = 1; row <= rows; row++) {
		struct measured it = { 0 }, alone = { 0 }, *burnt;
		double ratio, slower;

		if (!is_measured(&attacks[row]))
			continue;
		burnt = &cpu[soak ? row : first_like(row)];
		for (unsigned i = 0; i < times; i++) {
			if (burnt == &cpu[row])
				measure_beside(f, &attacks[0], &attacks[row], false, ms, burnt);
			measure_beside(f, &attacks[row], &attacks[row], false, ms, &it);
			if (soak && attacks[row].itself)
				measure_beside(f, &attacks[row], &attacks[row], true, ms, &alone);
		}
		ratio = per_s(&it) / per_s(burnt);
		slower = ((double)it.connect_ns - (double)burnt->connect_ns) / times / 1e6;
		print_message("%-37s %8.0f/s %8.0f/s %6.2f %+9.1f ms  %" PRIu64 " %s\n", attacks[row].name,
		              per_s(burnt), per_s(&it), ratio, slower, it.did, attacks[row].counts);
		if (alone.ns)
			print_message("%-37s %10s %8.0f/s %6.2f\n", "    without the service", "", per_s(&alone),
			              per_s(&alone) / per_s(burnt));
		failed += ratio < (attacks[row].least > 0 ? attacks[row].least : 0.5) || slower > SLOWER_MS;
	}
	if (soak)
		assert_int_equal(failed, 0);
}

/* ---- slices ---- */

static bool slice_note(pid_t tid, void *arg)
{
	uint64_t *longest = arg, slice = slice_of(tid);

	*longest = slice > *longest ? slice : *longest;
	return false;
}

/* The longest slice of a thread of process @pid; 0: the kernel has none for each thread (before Linux 6.12). */
static uint64_t longest_slice(pid_t pid)
{
	uint64_t longest = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	is_any_process(path, slice_note, &longest);
	return longest;
}

static void an_app_that_executes_for_long_again_and_again_has_long_slices(void **state)
{
	struct one_app *f = *state;
	uint64_t usual = longest_slice(f->s.pid);
	struct nnb_remote *remote;
	struct nnb_model *m;
	struct io io;

	if (!usual)
		skip();
	m = vector_model(NNB_MUL, HEAVY, 1);
	assert_int_equal(nnb_remote_prepare(f->client, m, NULL, NULL, &remote, NULL), 0);
	nnb_model_free(m);
	io_init(&io, HEAVY);
	while (longest_slice(f->s.pid) <= usual)
		assert_int_equal(nnb_remote_execute(remote, &io.call, NULL, NULL), 0);
	nnb_remote_release(remote);
	io_fini(&io);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		where = argv[3];
		did_map();
		become_user((uid_t)atoi(argv[4]));
		for (size_t i = 0; i < N_OF(attacks); i++)
			if (!strcmp(argv[2], attacks[i].name))
				attacks[i].goes();
		return 1;
	}
	skip_without_files(2048);
	only = argc == 2 ? argv[1] : NULL;
#define TEST(f) add_test(f, set_up, one_app_tear_down, NULL, "%s", #f)
	if (!only)
		TEST(an_app_that_executes_for_long_again_and_again_has_long_slices);
	TEST(the_victim_keeps_half_of_its_throughput);
	return _cmocka_run_group_tests("service: throughput under attack", tests, n_tests, NULL, NULL);
}
