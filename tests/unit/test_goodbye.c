/*
 * test_goodbye.c -- a client that has said goodbye and ended is not taken for dead, whatever is before the goodbye in
 * the queue of its life line.
 *
 * The service runs in this process. The test stands in for its porters (memory/errand.h): none is free for a message
 * that was refused before, until the client has ended.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "nnb/client.h"
#include "unit/device_helpers.h"

#include "base/sys.h"
#include "service/service.h"

static atomic_bool refused; /* a message that was refused is in the queue of the life line */
static atomic_int reason;   /* of the end of the connection; -1: it has not ended */

int __real_nnb__message_receive(int sock, struct nnb__message *m);
int __wrap_nnb__message_receive(int sock, struct nnb__message *m);
void __real_nnb__emit_disconnect(const struct nnb__connection *c);
void __wrap_nnb__emit_disconnect(const struct nnb__connection *c);

int __wrap_nnb__message_receive(int sock, struct nnb__message *m)
{
	if (!atomic_load(&refused))
		return __real_nnb__message_receive(sock, m);
	m->stays = m->until > nnb__now(); /* the service waits for nothing more once the client has ended */
	if (m->stays)
		usleep(1000);
	else
		atomic_store(&refused, false);
	return -EAGAIN;
}

void __wrap_nnb__emit_disconnect(const struct nnb__connection *c)
{
	atomic_store(&reason, (int)c->reason);
	__real_nnb__emit_disconnect(c);
}

static void *serve(void *service)
{
	assert_int_equal(nnb_service_run(service), 0);
	return NULL;
}

/* Connect once the parent process writes, say goodbye once it writes again, and end. */
static _Noreturn void client_run(const char *socket, int commands, int answers)
{
	const struct nnb_client_config config = { .socket = socket };
	struct nnb_client *client;
	char byte;

	if (read(commands, &byte, 1) != 1 || nnb_client_open(&client, &config, NULL) || write(answers, "c", 1) != 1 ||
	    read(commands, &byte, 1) != 1)
		_exit(1);
	nnb_client_close(client);
	_exit(0);
}

static void a_goodbye_behind_a_refused_message_is_one(void **state)
{
	struct nnb_service_config config = { .identity = NNB_APP_PID, .lanes = 1 };
	char dir[] = "/tmp/goodbye.XXXXXX", socket[64], lock[80], byte;
	struct nnb_service *service;
	int commands[2], answers[2], status;
	pthread_t thread;
	pid_t client;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(socket, sizeof(socket), "%s/socket", dir);
	snprintf(lock, sizeof(lock), "%s.lock", socket);
	assert_true(!pipe(commands) && !pipe(answers));
	client = fork();
	assert_true(client >= 0);
	if (!client)
		client_run(socket, commands[0], answers[1]);
	config.device = open_device(DRIVER_NULL);
	config.socket = socket;
	assert_int_equal(nnb_service_open(&service, &config, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, serve, service), 0);
	assert_int_equal(write(commands[1], "c", 1), 1);
	assert_int_equal(read(answers[0], &byte, 1), 1);
	atomic_store(&reason, -1);
	atomic_store(&refused, true);
	assert_int_equal(write(commands[1], "g", 1), 1);
	assert_int_equal(waitpid(client, &status, 0), client);
	assert_int_equal(status, 0);
	while (atomic_load(&reason) < 0)
		usleep(1000);
	assert_int_equal(atomic_load(&reason), NBT_reason_client);
	nnb_service_stop(service);
	pthread_join(thread, NULL);
	nnb_service_close(service);
	nnb_device_unref(config.device);
	unlink(lock);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_goodbye_behind_a_refused_message_is_one) };

	return cmocka_run_group_tests_name("goodbye", tests, NULL, NULL);
}
