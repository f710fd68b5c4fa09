/*
 * burst_context.c -- a driver that speaks the burst protocol: cc burst_context.c $(pkg-config --cflags --libs
 * nnburst)
 */
#include <nnb/burst.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What a driver is given when a burst is configured, and what it keeps. */
struct context {
	struct nnb_fmq *request, *result; /* attached to the client's descriptors */
	struct nnb_burst_callback client; /* knows what a slot is */
	struct nnb_mapping *pool;         /* of slot 0, from its first use on */
};

/* y = x[0] + x[1] + x[2], all of it in slot 0. Nothing of a request is believed that was not looked at. */
static enum nnb_status add_up(struct context *c, const struct nnb_packet_request *q)
{
	static const struct nnb_location x = { 0, 0, 12 }, y = { 0, 12, 4 };
	struct nnb_memory memory = { 0 };

	if (q->n_inputs != 1 || memcmp(&q->inputs[0].location, &x, sizeof(x)) || q->n_outputs != 1 ||
	    memcmp(&q->outputs[0].location, &y, sizeof(y)) || q->n_slots != 1 || q->slots[0] != 0)
		return NNB_STATUS_INVALID_ARGUMENT;
	if (!c->pool && !c->client.memories(c->client.arg, q->slots, 1, &memory))
		nnb_map(&c->pool, &memory);
	nnb_memory_close(&memory); /* the mapping is enough */
	if (!c->pool || nnb_mapping_size(c->pool) < 16)
		return NNB_STATUS_GENERAL_FAILURE;
	float *at = nnb_mapping_data(c->pool);
	at[3] = at[0] + at[1] + at[2];
	return NNB_STATUS_NONE;
}

static void *driver(void *arg)
{
	struct nnb_packet_request q = { 0 };
	struct context *c = arg;
	struct nnb_fmq_tx tx;

	nnb_packet_request_init(&q, nnb_fmq_capacity(c->request));
	while (!nnb_fmq_begin_read_blocking(c->request, 1, 0, &tx)) {
		struct nnb_result result = { .status = NNB_STATUS_GENERAL_FAILURE, .timing = NNB_NO_TIMING };
		size_t n = nnb_fmq_available_to_read(c->request); /* a packet is what is there */

		if (!nnb_fmq_begin_read(c->request, n, &tx) && !nnb_packet_request_parse(&q, &tx, NULL))
			result.status = add_up(c, &q);
		nnb_fmq_commit_read(c->request, n);
		if (nnb_fmq_begin_write(c->result, NNB_RESULT_MIN, &tx)) /* no shapes: it is as short as can be */
			break;
		nnb_packet_result_build(&tx, &result);
		nnb_fmq_commit_write_and_wake(c->result, NNB_RESULT_MIN);
	}
	nnb_packet_request_fini(&q);
	return NULL;
}

static enum nnb_status slot_0(void *pool, const int32_t *slots, uint32_t n, struct nnb_memory *ret)
{
	return n != 1 || slots[0] || nnb_memory_dup(ret, nnb_pool_memory(pool)) ? NNB_STATUS_INVALID_ARGUMENT : 0;
}

int main(void)
{
	const struct nnb_fmq_config queue = { .elem_size = 24, .capacity = 64, .flavour = 1, .event_flag = true };
	const struct nnb_request_datum ask[] = {
		{ .kind = NNB_REQUEST_PACKET, .packet = { 5, 1, 1, 1 } }, /* as nnb_packet_request_build would */
		{ .kind = NNB_REQUEST_INPUT, .operand = { .length = 12 } },
		{ .kind = NNB_REQUEST_OUTPUT, .operand = { .offset = 12, .length = 4 } },
		{ .kind = NNB_REQUEST_SLOT, .slot = 0 },
		{ .kind = NNB_REQUEST_MEASURE, .measure = 0 },
	};
	struct nnb_result_datum answer[NNB_RESULT_MIN];
	struct nnb_fmq *q[4]; /* our ends, of requests and of results, and the driver's */
	struct nnb_fmq_attach how = { .elem_size = 24, .keep_counters = true };
	struct nnb_fmq_desc d[2];
	struct nnb_pool *pool;
	pthread_t thread;

	if (nnb_fmq_new(&q[0], &queue) || nnb_fmq_new(&q[1], &queue) || nnb_pool_new(&pool, 16))
		return 1;
	nnb_fmq_describe(q[0], &d[0]); /* this is what would go to another process */
	nnb_fmq_describe(q[1], &d[1]);
	if (nnb_fmq_attach(&q[2], &d[0], &how) || nnb_fmq_attach(&q[3], &d[1], &how))
		return 1;
	struct context c = { q[2], q[3], { slot_0, pool }, NULL };
	pthread_create(&thread, NULL, driver, &c);
	for (float *x = nnb_pool_data(pool), k = 1; k <= 3; k++) {
		memcpy(x, (float[]){ k, 2 * k, 3 * k }, 12);
		nnb_fmq_write_blocking(q[0], ask, 5, 0);
		nnb_fmq_read_blocking(q[1], answer, NNB_RESULT_MIN, 0);
		printf("%s %g\n", nnb_status_name(answer[0].packet.status), x[3]);
	}
	nnb_fmq_shut(c.request);
	pthread_join(thread, NULL);
	nnb_mapping_unref(c.pool);
	nnb_pool_free(pool);
	for (int i = 0; i < 4; i++)
		nnb_fmq_free(q[i]);
	return 0;
}
