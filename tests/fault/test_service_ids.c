/*
 * test_service_ids.c -- a service whose ids are nearly all taken, or all: what it refuses, that ended objects give
 * back theirs, and that a refused client takes none.
 *
 * The service runs in this process, so that the test can take ids from its set.
 */
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/service.h"
#include "service_helpers.h"

enum { N = 8, OF_CONNECTION = NNB__CALL_PATHS - NBT_path_sync + 1, CONNECTIONS_MOST = 3 };

struct here {
	struct nnb_device *device;
	struct nnb_service *service;
	struct nnb_model *model;
	pthread_t thread;
	char dir[32], socket[64], lock[80];
};

static void *here_serve(void *arg)
{
	assert_int_equal(nnb_service_run(arg), 0);
	return NULL;
}

static int here_open(void **state)
{
	struct here *h = calloc(1, sizeof(*h));
	struct nnb_service_config config = { .identity = NNB_APP_PID, .lanes = 1 };
	struct nnb_reason why = { "" };

	assert_non_null(h);
	strcpy(h->dir, "/tmp/ids.XXXXXX");
	assert_non_null(mkdtemp(h->dir));
	snprintf(h->socket, sizeof(h->socket), "%s/socket", h->dir);
	snprintf(h->lock, sizeof(h->lock), "%s.lock", h->socket);
	assert_int_equal(nnb_device_open(&h->device, "null", &why), 0);
	config.device = h->device;
	config.socket = h->socket;
	config.limits.connections = CONNECTIONS_MOST;
	assert_int_equal(nnb_service_open(&h->service, &config, &why), 0);
	assert_int_equal(pthread_create(&h->thread, NULL, here_serve, h->service), 0);
	h->model = vector_model(NNB_ADD, N, 1);
	*state = h;
	return 0;
}

static int here_close(void **state)
{
	struct here *h = *state;

	nnb_service_stop(h->service);
	pthread_join(h->thread, NULL);
	nnb_service_close(h->service);
	nnb_device_unref(h->device);
	nnb_model_free(h->model);
	unlink(h->lock);
	rmdir(h->dir);
	free(h);
	return 0;
}

/* ---- the service's set of ids ---- */

static uint32_t ids_taken(const struct here *h)
{
	struct nnb__ids *ids = &h->service->ids;
	uint32_t n = 0;

	pthread_mutex_lock(&ids->lock);
	for (uint32_t i = 0; i < NNB__ID_SERIALS / 64; i++)
		n += (uint32_t)__builtin_popcountll(ids->taken[i]);
	pthread_mutex_unlock(&ids->lock);
	return n - 1; /* without serial 0 */
}

static uint32_t ids_last(const struct here *h)
{
	uint32_t last;

	pthread_mutex_lock(&h->service->ids.lock);
	last = h->service->ids.last;
	pthread_mutex_unlock(&h->service->ids.lock);
	return last;
}

/* Take the ids that are free, except @n. Returns the set of what was taken before, which the caller frees. */
static uint64_t *ids_leave(const struct here *h, uint32_t n)
{
	struct nnb__ids *ids = &h->service->ids;
	uint64_t *before = malloc(sizeof(ids->taken));

	assert_non_null(before);
	pthread_mutex_lock(&ids->lock);
	memcpy(before, ids->taken, sizeof(ids->taken));
	for (uint32_t serial = 1; serial < NNB__ID_SERIALS; serial++) {
		uint64_t *word = &ids->taken[serial / 64], bit = UINT64_C(1) << serial % 64;

		if (!(*word & bit) && n)
			n--;
		else
			*word |= bit;
	}
	pthread_mutex_unlock(&ids->lock);
	return before;
}

/* Give the ids back that ids_leave took. Only while no object has ended since. */
static void ids_restore(const struct here *h, uint64_t *before)
{
	struct nnb__ids *ids = &h->service->ids;

	pthread_mutex_lock(&ids->lock);
	memcpy(ids->taken, before, sizeof(ids->taken));
	pthread_mutex_unlock(&ids->lock);
	free(before);
}

/* The service ends a connection after its client has closed it. */
static void ids_come_to(const struct here *h, uint32_t n)
{
	uint64_t until = now_ns() + PATIENCE;

	while (ids_taken(h) != n && now_ns() < until)
		poll_pause();
	assert_int_equal(ids_taken(h), n);
}

/* ---- clients ---- */

static int client_open(const struct here *h, struct nnb_client **ret, struct nnb_reason *why)
{
	const struct nnb_client_config config = { .socket = h->socket };

	return nnb_client_open(ret, &config, why);
}

static struct nnb_client *client_let_in(const struct here *h)
{
	struct nnb_client *client = NULL;
	struct nnb_reason why = { "" };

	if (client_open(h, &client, &why))
		fail_msg("the service refuses a client: %s", why.text);
	return client;
}

static enum nnb_status buffer_make(struct nnb_client *client, struct nnb_remote *remote, struct nnb_remote_buffer **ret,
                                   struct nnb_reason *why)
{
	const struct nnb_buffer_role role = { 0, 0, 1 };
	const struct nnb_buffer_desc desc = { .inputs = &role, .n_inputs = 1 };

	return nnb_remote_buffer_new(ret, client, &remote, 1, &desc, false, why);
}

/* ---- tests ---- */

static void each_object_takes_an_id_and_gives_it_back(void **state)
{
	struct here *h = *state;
	struct nnb_remote_buffer *buffer;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;

	client = client_let_in(h);
	assert_int_equal(ids_taken(h), OF_CONNECTION);
	assert_none(nnb_remote_prepare(client, h->model, NULL, NULL, &remote, &why));
	assert_int_equal(ids_taken(h), OF_CONNECTION + 1);
	assert_none(nnb_remote_burst(remote, NULL, &burst, &why));
	assert_int_equal(ids_taken(h), OF_CONNECTION + 2);
	assert_none(buffer_make(client, remote, &buffer, &why));
	assert_int_equal(ids_taken(h), OF_CONNECTION + 3);
	nnb_remote_buffer_free(buffer);
	ids_come_to(h, OF_CONNECTION + 2);
	nnb_burst_free(burst);
	ids_come_to(h, OF_CONNECTION + 1);
	nnb_remote_release(remote);
	ids_come_to(h, OF_CONNECTION);
	nnb_client_close(client);
	ids_come_to(h, 0);
}

static void the_end_of_a_connection_gives_back_the_ids_of_all_its_objects(void **state)
{
	struct here *h = *state;
	struct nnb_remote_buffer *buffer;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;

	client = client_let_in(h);
	assert_none(nnb_remote_prepare(client, h->model, NULL, NULL, &remote, &why));
	assert_none(nnb_remote_burst(remote, NULL, &burst, &why));
	assert_none(buffer_make(client, remote, &buffer, &why));
	assert_int_equal(ids_taken(h), OF_CONNECTION + 3);
	pthread_mutex_lock(&h->service->lock);
	shutdown(h->service->connections->life, SHUT_RDWR);
	pthread_mutex_unlock(&h->service->lock);
	ids_come_to(h, 0);
	nnb_remote_buffer_free(buffer);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
}

static void a_refused_client_takes_no_id(void **state)
{
	struct nnb_client *clients[CONNECTIONS_MOST], *more = NULL;
	struct here *h = *state;
	struct nnb_reason why = { "" };
	uint32_t last;

	for (int i = 0; i < CONNECTIONS_MOST; i++)
		clients[i] = client_let_in(h);
	last = ids_last(h);
	for (int i = 0; i < 20; i++)
		assert_true(client_open(h, &more, &why) < 0);
	assert_non_null(strstr(why.text, "connections: the app has 3 of 3"));
	assert_int_equal(ids_last(h), last);
	assert_int_equal(ids_taken(h), CONNECTIONS_MOST * OF_CONNECTION);
	for (int i = 0; i < CONNECTIONS_MOST; i++)
		nnb_client_close(clients[i]);
	ids_come_to(h, 0);
}

/* Without enough ids for a connection and all its streams, the client is refused, and no id is lost. */
static void without_an_id_a_client_is_refused_for_now(void **state)
{
	struct here *h = *state;

	for (uint32_t left = 0; left < OF_CONNECTION; left++) {
		struct nnb_reason why = { "" };
		struct nnb_client *client = NULL;
		uint64_t *before = ids_leave(h, left);
		uint32_t taken = ids_taken(h);

		assert_true(client_open(h, &client, &why) < 0);
		if (!strstr(why.text, "no id for another object"))
			fail_msg("'%s' does not say what is missing", why.text);
		assert_int_equal(ids_taken(h), taken);
		ids_restore(h, before);
		client = client_let_in(h);
		nnb_client_close(client);
		ids_come_to(h, 0);
	}
}

static void without_an_id_a_call_is_refused_for_now(void **state)
{
	struct nnb_remote *remote, *more_models = NULL;
	struct nnb_remote_buffer *buffer = NULL;
	struct nnb_burst *burst = NULL;
	struct nnb_service_counts counts;
	struct here *h = *state;
	struct nnb_reason refusal = { "" };
	struct nnb_client *client;
	uint64_t *before;

	client = client_let_in(h);
	assert_none(nnb_remote_prepare(client, h->model, NULL, NULL, &remote, &why));
	before = ids_leave(h, 0);
	assert_int_equal(nnb_remote_prepare(client, h->model, NULL, NULL, &more_models, &refusal),
	                 NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_int_equal(nnb_remote_burst(remote, NULL, &burst, &refusal), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_int_equal(buffer_make(client, remote, &buffer, &refusal), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_non_null(strstr(refusal.text, "no id for another object"));
	/* nothing stays charged */
	counts = app_counts(client);
	assert_int_equal(counts.app.models, 1);
	assert_int_equal(counts.app.bursts, 0);
	assert_int_equal(counts.app.buffers, 0);
	ids_restore(h, before);
	assert_none(nnb_remote_burst(remote, NULL, &burst, &why));
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
	ids_come_to(h, 0);
}

/* Whether the attacker's connection or a stream of it has an id of the victim's. */
static bool ids_are_shared(const struct nnb_service_info *attacker, const struct nnb_service_info *victim,
                           uint32_t model)
{
	const uint32_t has[] = { attacker->connection, attacker->sync_stream, attacker->fenced_stream,
		                 attacker->async_stream };
	const uint32_t victims[] = { victim->connection, victim->sync_stream, victim->fenced_stream,
		                     victim->async_stream, model };

	for (size_t i = 0; i < N_OF(has); i++)
		for (size_t k = 0; k < N_OF(victims); k++)
			if (has[i] == victims[k])
				return true;
	return false;
}

/* The attack: clients come and go until every serial was taken once more, while a victim has its objects. */
static void a_victim_keeps_its_ids_while_others_go_round(void **state)
{
	struct here *h = *state;
	struct nnb_client *victim, *client;
	struct nnb_remote *remote;
	uint32_t wraps = 0, before, mine;

	victim = client_let_in(h);
	assert_none(nnb_remote_prepare(victim, h->model, NULL, NULL, &remote, &why));
	mine = ids_taken(h);
	free(ids_leave(h, 4 * OF_CONNECTION)); /* so that a round is short */
	before = ids_last(h);
	for (int i = 0; i < 40; i++) {
		uint32_t taken = ids_taken(h), last;

		client = client_let_in(h);
		last = ids_last(h);
		wraps += last < before;
		before = last;
		assert_int_equal(ids_taken(h), taken + OF_CONNECTION);
		assert_false(ids_are_shared(nnb_client_info(client), nnb_client_info(victim), nnb_remote_id(remote)));
		nnb_client_close(client);
		ids_come_to(h, taken);
	}
	assert_true(wraps >= 9);
	assert_true(mine == OF_CONNECTION + 1);
	nnb_remote_release(remote);
	nnb_client_close(victim);
	ids_come_to(h, NNB__ID_SERIALS - 1 - 4 * OF_CONNECTION - mine);
}

#define HERE(f) cmocka_unit_test_setup_teardown(f, here_open, here_close)

int main(void)
{
	const struct CMUnitTest all[] = {
		HERE(each_object_takes_an_id_and_gives_it_back),
		HERE(the_end_of_a_connection_gives_back_the_ids_of_all_its_objects),
		HERE(a_refused_client_takes_no_id),
		HERE(without_an_id_a_client_is_refused_for_now),
		HERE(without_an_id_a_call_is_refused_for_now),
		HERE(a_victim_keeps_its_ids_while_others_go_round),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
