/*
 * late_app.c SOCKET GATE -- an app with one object of each kind, of a service with the tests' driver.
 *
 * It prints the numbers that traces have for its objects, a word and a number a line, then "ready"; at that time the
 * gate holds an asynchronous execution. Then it obeys the words that it reads, one a line, and prints "done" after
 * each:
 *
 *   call       make a call that changes nothing
 *   burst      execute by burst; the gate does not hold it
 *   let        let the held execution go on, and wait until its end is reported
 *   sync       execute by call; the gate does not hold it
 *   refuse     make requests that rules and limits forbid: a copy of another size; a buffer without contents as an
 *              input, in another role, and with a token that no buffer has; an id that no model has; another burst
 *   junk       open another connection, which breaks the protocol
 *   leave      close everything; the connection last
 *   part, bye  the same in two steps: everything but the connection; then the connection, without the service's answer
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "nnb/client.h"
#include "unit/abort_unless.h"
#include "unit/device_helpers.h"
#include "unit/gate.h"

enum { N = 64 };

static struct gate *gate;
static struct nnb_client *client;
static struct nnb_remote *remote;
static struct nnb_burst *burst;
static struct nnb_remote_buffer *buffer;
static struct nnb_pool *in, *out, *held_in, *held_out;
static atomic_bool over;

static void none(enum nnb_status status, const struct nnb_reason *why, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "late_app: %s: %s: %s\n", what, nnb_status_name(status), why->text);
	exit(1);
}

static void open_gate(const char *path)
{
	int fd = open(path, O_RDWR);

	gate = mmap(NULL, sizeof(*gate), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	abort_unless(gate != MAP_FAILED);
	close(fd);
}

static void breathe(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* x, whose first element is @first, and y: a pool for each. */
static struct nnb_call vectors(struct nnb_pool *pools[2], struct nnb_argument arguments[2], float first)
{
	((float *)nnb_pool_data(pools[0]))[0] = first;
	arguments[0] = (struct nnb_argument){ .location = { 0, 0, N * 4 } };
	arguments[1] = (struct nnb_argument){ .location = { 1, 0, N * 4 } };
	return (struct nnb_call){ .inputs = &arguments[0],
		                  .outputs = &arguments[1],
		                  .pools = pools,
		                  .n_inputs = 1,
		                  .n_outputs = 1,
		                  .n_pools = 2 };
}

static void by_burst(void)
{
	struct nnb_pool *pools[2] = { in, out };
	struct nnb_argument arguments[2];
	struct nnb_call call = vectors(pools, arguments, 0);
	struct nnb_answer answer = { 0 };
	struct nnb_reason why = { "" };

	none(nnb_burst_execute(burst, &call, &answer, &why), &why, "by burst");
	abort_unless(!answer.fallback);
	printf("burst %u\n", (unsigned)(answer.exec >> 32));
}

/*
 * Execute by call, with the buffer of @token as its input or, with @as_output, as its output. Returns the
 * execution's number.
 */
static uint64_t by_call(enum nnb_status want, struct nnb_pool *token, bool as_output)
{
	struct nnb_pool *pools[2] = { in, out };
	struct nnb_argument arguments[2];
	struct nnb_call call = vectors(pools, arguments, 0);
	struct nnb_answer answer = { 0 };
	struct nnb_reason why = { "" };
	enum nnb_status status;

	if (token) {
		pools[as_output] = token;
		arguments[as_output].location = (struct nnb_location){ .pool = as_output };
	}
	status = nnb_remote_execute(remote, &call, &answer, &why);
	if (status != want)
		fprintf(stderr, "late_app: %s (%s) and not %s\n", nnb_status_name(status), why.text,
		        nnb_status_name(want));
	abort_unless(status == want);
	return answer.exec;
}

static void done(void *arg, const struct nnb_result *result)
{
	(void)arg;
	(void)result;
	atomic_store(&over, true);
}

static void hold_one(void)
{
	struct nnb_pool *pools[2] = { held_in, held_out };
	struct nnb_argument arguments[2];
	struct nnb_call call = vectors(pools, arguments, 1);
	struct nnb_reason why = { "" };

	atomic_store(&gate->hold_runs, 1);
	none(nnb_remote_execute_async(remote, &call, done, NULL, &why), &why, "asynchronously");
	while (!atomic_load(&gate->held_runs))
		breathe();
}

static void make_everything(const char *socket)
{
	const struct nnb_client_config config = { .socket = socket, .name = "late" };
	const struct nnb_buffer_role role = { .frequency = 1 };
	const struct nnb_buffer_desc desc = { .inputs = &role, .n_inputs = 1 };
	struct nnb_model *model = vector_model(NNB_ADD, N, 1);
	struct nnb_reason why = { "" };

	if (nnb_client_open(&client, &config, &why))
		none(NNB_STATUS_DEVICE_UNAVAILABLE, &why, "no service");
	none(nnb_remote_prepare(client, model, NULL, NULL, &remote, &why), &why, "prepare");
	none(nnb_remote_burst(remote, NULL, &burst, &why), &why, "burst");
	none(nnb_remote_buffer_new(&buffer, client, &remote, 1, &desc, false, &why), &why, "buffer");
	abort_unless(!nnb_pool_new(&in, N * 4) && !nnb_pool_new(&out, N * 4));
	abort_unless(!nnb_pool_new(&held_in, N * 4) && !nnb_pool_new(&held_out, N * 4));
	nnb_model_free(model);
	by_burst();
	hold_one();
	printf("conn %u\nsync %u\nfenced %u\nasync %u\nmodel %u\n", nnb_client_info(client)->connection,
	       nnb_client_info(client)->sync_stream, nnb_client_info(client)->fenced_stream,
	       nnb_client_info(client)->async_stream, nnb_remote_id(remote));
}

static void call(void)
{
	struct nnb_service_counts counts;
	struct nnb_reason why = { "" };

	none(nnb_client_counts(client, &counts, &why), &why, "call");
}

static void let(void)
{
	atomic_store(&gate->hold_runs, 0);
	while (!atomic_load(&over))
		breathe();
}

static void refuse_buffers(void)
{
	struct nnb_pool *token = nnb_remote_buffer_pool(buffer), *nobodys;
	struct nnb_memory memory;

	printf("uninitialised %" PRIu64 "\n", by_call(NNB_STATUS_GENERAL_FAILURE, token, false));
	printf("role %" PRIu64 "\n", by_call(NNB_STATUS_INVALID_ARGUMENT, token, true));
	nnb_memory_token(&memory, 1);
	abort_unless(!nnb_pool_from(&nobodys, &memory));
	printf("unknown %" PRIu64 "\n", by_call(NNB_STATUS_INVALID_ARGUMENT, nobodys, false));
	nnb_pool_free(nobodys);
}

static void refuse(void)
{
	struct nnb_model *model = vector_model(NNB_ADD, N, 1);
	struct nnb_remote *another;
	struct nnb_burst *second;
	struct nnb_pool *small;

	refuse_buffers();
	abort_unless(nnb_remote_burst(remote, NULL, &second, NULL) == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	abort_unless(!nnb_pool_new(&small, N));
	abort_unless(nnb_remote_buffer_copy_from(buffer, nnb_pool_memory(small), 0, NULL, NULL) ==
	             NNB_STATUS_INVALID_ARGUMENT);
	model->operations[0].type = 9999;
	abort_unless(nnb_remote_prepare(client, model, NULL, NULL, &another, NULL) == NNB_STATUS_INVALID_ARGUMENT);
	nnb_model_free(model);
	nnb_pool_free(small);
}

static void junk(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char byte;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	abort_unless(sock >= 0 && !connect(sock, (struct sockaddr *)&at, sizeof(at)));
	abort_unless(send(sock, "junk", 4, 0) == 4);
	while (recv(sock, &byte, 1, 0) > 0)
		;
	close(sock);
}

static void part(void)
{
	nnb_burst_free(burst);
	nnb_remote_buffer_free(buffer);
	nnb_remote_release(remote);
}

static void leave(void)
{
	part();
	nnb_client_close(client);
}

int main(int argc, char **argv)
{
	char word[16];

	abort_unless(argc == 3);
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_gate(argv[2]);
	make_everything(argv[1]);
	puts("ready");
	while (scanf("%15s", word) == 1) {
		if (!strcmp(word, "call"))
			call();
		else if (!strcmp(word, "burst"))
			by_burst();
		else if (!strcmp(word, "sync"))
			printf("sync_exec %" PRIu64 "\n", by_call(NNB_STATUS_NONE, NULL, false));
		else if (!strcmp(word, "let"))
			let();
		else if (!strcmp(word, "refuse"))
			refuse();
		else if (!strcmp(word, "junk"))
			junk(argv[1]);
		else if (!strcmp(word, "leave"))
			leave();
		else if (!strcmp(word, "part"))
			part();
		else if (!strcmp(word, "bye"))
			nnb_client_close(client);
		else
			abort_unless(!*word);
		puts("done");
	}
	return 0;
}
