/*
 * test_validate_burst.c -- VTS's ValidateBurst and ValidateRequest over bursts (sections 2.9 and 4.4), on the
 * requests of all sample models.
 *
 * A request with measure YES is written into the queue with one datum removed, inserted or replaced. The
 * result must be a failure without shapes or timing, and the burst must then execute the original request.
 */
#include "conformance/validate/job.h"
#include "unit/burst_helpers.h"

#include "conformance/validate/sample_models.h"

/* ---- the mutations ---- */

static const struct nnb_request_datum bad[] = {
	{ .kind = NNB_REQUEST_PACKET, .packet = { 10, 10, 10, 10 } },
	{ .kind = NNB_REQUEST_INPUT, .operand = { .rank = 10 } },
	{ .kind = NNB_REQUEST_INPUT_DIMENSION, .dimension = 0 },
	{ .kind = NNB_REQUEST_OUTPUT, .operand = { .rank = 10 } },
	{ .kind = NNB_REQUEST_OUTPUT_DIMENSION, .dimension = 0 },
	{ .kind = NNB_REQUEST_SLOT, .slot = INT32_MAX },
	{ .kind = NNB_REQUEST_MEASURE, .measure = 1 },
};

enum mutation { REMOVE, INSERT, REPLACE, N_MUTATIONS };

static const char *const mutation_names[] = { "removed", "inserted", "replaced" };
static unsigned rows[N_MUTATIONS], rows_of_requests, rows_sanitized;

static bool is_dimension(const struct nnb_request_datum *d)
{
	return d->kind == NNB_REQUEST_INPUT_DIMENSION || d->kind == NNB_REQUEST_OUTPUT_DIMENSION;
}

/* Section 2.9: it differs, and is not the same kind of dimension value. */
static bool is_a_change(const struct nnb_request_datum *from, const struct nnb_request_datum *to)
{
	return memcmp(from, to, sizeof(*from)) && !(is_dimension(from) && from->kind == to->kind);
}

/*
 * Write @good with a datum less, more or other at @at into @ret. Returns its length; 0: there is no such
 * mutation.
 */
static uint32_t mutate(struct nnb_request_datum *ret, const struct nnb_request_datum *good, uint32_t n,
                       enum mutation how, uint32_t at, const struct nnb_request_datum *with)
{
	size_t one = sizeof(*good);

	memcpy(ret, good, at * one);
	switch (how) {
	case REMOVE:
		memcpy(ret + at, good + at + 1, (n - at - 1) * one);
		return n - 1;
	case INSERT:
		ret[at] = *with;
		memcpy(ret + at + 1, good + at, (n - at) * one);
		return n + 1;
	default:
		memcpy(ret + at, good + at, (n - at) * one);
		ret[at] = *with;
		return is_a_change(&good[at], with) ? n : 0;
	}
}

/* ---- a sample, on a driver that has its operations ---- */

struct subject {
	struct nnb_model *model;
	struct nnb_prepared *prepared;
	struct job job;
};

static void subject_init(struct subject *s, size_t sample)
{
	struct nnb_device *d = open_device("xnnpack");

	s->model = sample_new(sample);
	if (!supports(d, s->model)) {
		nnb_device_unref(d);
		d = open_device("null");
	}
	s->prepared = prepared(d, s->model);
	nnb_device_unref(d);
	assert_true(job_init(&s->job, s->model));
	assert_true(s->model->n_inputs + s->model->n_outputs <= ARGUMENTS_MAX);
}

static void subject_fini(struct subject *s)
{
	job_fini(&s->job);
	nnb_prepared_unref(s->prepared);
	nnb_model_free(s->model);
}

static void peer_of(struct peer *p, const struct subject *s)
{
	peer_init(p, s->prepared);
	for (uint32_t i = 0; i < s->job.call.n_pools; i++)
		p->memories[i] = *nnb_pool_memory(s->job.call.pools[i]);
}

/* ---- ValidateBurst ---- */

static void expect_row(struct peer *p, const struct nnb_request_datum *good, uint32_t n, enum mutation how, uint32_t at,
                       const struct nnb_request_datum *with)
{
	struct nnb_request_datum *mutated = calloc((size_t)n + 1, sizeof(*mutated));
	struct nnb_result_datum result[RESULT_MAX];
	uint32_t length = mutate(mutated, good, n, how, at, with);
	const char *trouble;

	if (length) {
		peer_send(p, mutated, length);
		trouble = not_a_failure(result, peer_receive(p, result), NNB_STATUS_NONE);
		if (trouble)
			fail_msg("datum %u of %u %s, kind %d: %s", at, n, mutation_names[how], with ? with->kind : -1,
			         trouble);
		expect_service(p, good, n);
		rows[how]++;
	}
	free(mutated);
}

static void every_datum_removed_inserted_and_replaced(void **state)
{
	struct nnb_burst_counts counts;
	struct nnb_request_datum *good;
	struct subject s;
	struct peer p;
	uint32_t n;

	subject_init(&s, *(size_t *)*state);
	peer_of(&p, &s);
	good = datums_of(&s.job.call, true, &n);
	assert_true(n <= NNB_BURST_CAPACITY);
	expect_service(&p, good, n);
	for (uint32_t at = 0; at < n; at++)
		expect_row(&p, good, n, REMOVE, at, NULL);
	for (size_t i = 0; i < N_OF(bad); i++) {
		for (uint32_t at = 0; at <= n; at++)
			expect_row(&p, good, n, INSERT, at, &bad[i]);
		for (uint32_t at = 0; at < n; at++)
			expect_row(&p, good, n, REPLACE, at, &bad[i]);
	}
	nnb_burst_server_counts(p.server, &counts);
	assert_true(counts.malformed > 0 && counts.malformed < counts.requests);
	peer_fini(&p);
	free(good);
	subject_fini(&s);
}

/* B-13 */
static bool is_sanitized(const struct nnb_result_datum *d)
{
	static const uint8_t fields[][sizeof(*d)] = { [NNB_RESULT_PACKET] = { [8 ... 19] = 1 },
		                                      [NNB_RESULT_OPERAND] = { [8] = 1, [12 ... 15] = 1 },
		                                      [NNB_RESULT_DIMENSION] = { [8 ... 11] = 1 },
		                                      [NNB_RESULT_TIMING] = { [8 ... 23] = 1 } };
	unsigned char bytes[sizeof(*d)];

	memcpy(bytes, d, sizeof(*d));
	for (size_t i = 1; i < sizeof(*d); i++)
		if (!fields[d->kind][i] && bytes[i])
			return false;
	return true;
}

/* Fill the queue's memory with other bytes, as after a round of the ring. */
static void fill_with_old_bytes(struct nnb_fmq *q)
{
	struct raw raw;

	raw_open(&raw, q);
	memset(raw_part(&raw, NNB_FMQ_RING), 0xff, nnb_fmq_capacity(q) * nnb_fmq_elem_size(q));
	raw_close(&raw);
}

static void what_comes_back_is_sanitized(void **state)
{
	struct nnb_result_datum result[RESULT_MAX];
	struct nnb_request_datum *good;
	struct subject s;
	struct peer p;
	uint32_t n, got;

	subject_init(&s, *(size_t *)*state);
	peer_of(&p, &s);
	good = datums_of(&s.job.call, true, &n);
	for (int i = 0; i < 2; i++) { /* a failed result, and one with shapes */
		fill_with_old_bytes(p.result);
		peer_send(&p, good, i ? n : 1);
		got = peer_receive(&p, result);
		assert_int_equal(result[0].packet.status, i ? NNB_STATUS_NONE : NNB_STATUS_GENERAL_FAILURE);
		for (uint32_t k = 0; k < got; k++)
			assert_true(is_sanitized(&result[k]));
		rows_sanitized++;
	}
	assert_int_equal(result[0].packet.n_operands, s.model->n_outputs);
	peer_fini(&p);
	free(good);
	subject_fini(&s);
}

/* ---- ValidateRequest ---- */

static void without_one(struct nnb_call *call, struct nnb_argument *args, const struct job *j, bool input, uint32_t i)
{
	uint32_t at = input ? i : j->call.n_inputs + i, n = j->call.n_inputs + j->call.n_outputs;

	memcpy(args, j->args, at * sizeof(*args));
	memcpy(args + at, j->args + at + 1, (n - at - 1) * sizeof(*args));
	*call = j->call;
	call->measure = true;
	call->n_inputs -= input;
	call->n_outputs -= !input;
	call->inputs = args;
	call->outputs = args + call->n_inputs;
}

/* "freeMemory of a known key, of an unknown one, and again, is harmless" */
static void expect_harmless_frees(struct desk *d, struct nnb_burst *b, struct job *j)
{
	nnb_burst_server_free_memory(d->server, 0);
	nnb_burst_server_free_memory(d->server, 17);
	nnb_burst_server_free_memory(d->server, 0);
	assert_int_equal(burst_execute(b, &j->call, NULL, NULL), NNB_STATUS_NONE);
}

static void a_request_without_one_of_its_arguments_is_invalid(void **state)
{
	struct nnb_argument args[ARGUMENTS_MAX];
	struct desk d;
	struct nnb_call call;
	struct nnb_burst *b;
	struct subject s;

	subject_init(&s, *(size_t *)*state);
	desk_init(&d, s.prepared);
	b = desk_burst(&d, NULL);
	for (uint32_t i = 0; i < s.model->n_inputs + s.model->n_outputs; i++) {
		bool input = i < s.model->n_inputs;

		without_one(&call, args, &s.job, input, input ? i : i - s.model->n_inputs);
		expect_failure(b, &call, NNB_STATUS_INVALID_ARGUMENT);
		expect_harmless_frees(&d, b, &s.job);
		rows_of_requests++;
	}
	assert_int_equal(d.fallbacks, 0);
	subject_fini(&s); /* the pools go before the burst; a second free of them does nothing */
	assert_int_equal(d.frees, 2);
	nnb_burst_free(b);
}

int main(void)
{
	size_t n = sample_count();
	size_t *indexes = calloc(n, sizeof(*indexes));
	int status;

	without_tracer();
	for (size_t i = 0; i < n; i++) {
		indexes[i] = i;
		add_test(every_datum_removed_inserted_and_replaced, NULL, NULL, &indexes[i], "%s: datums",
		         sample_name(i));
		add_test(what_comes_back_is_sanitized, NULL, NULL, &indexes[i], "%s: sanitized", sample_name(i));
		add_test(a_request_without_one_of_its_arguments_is_invalid, NULL, NULL, &indexes[i], "%s: arguments",
		         sample_name(i));
	}
	status = _cmocka_run_group_tests("ValidateBurst", tests, n_tests, NULL, NULL);
	print_message("ValidateBurst: %u rows removed, %u inserted, %u replaced, %u sanitized; ValidateRequest: %u\n",
	              rows[REMOVE], rows[INSERT], rows[REPLACE], rows_sanitized, rows_of_requests);
	free(indexes);
	return status;
}
