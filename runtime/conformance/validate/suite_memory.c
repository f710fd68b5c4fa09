/*
 * suite_memory.c -- memory domains (M-1 to M-33): which models may share a buffer, its contents, and its use by
 * executions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/validate/abort_unless.h"
#include "conformance/validate/subject.h"

#define SUITE "memory"
enum { LENGTH = 16, BYTES = LENGTH * 4, CHAIN = 2 };

struct scene {
	const struct subject *subject;
	struct checks *checks;
	struct prepared model, other; /* two prepared models of the same form */
	struct job job;
};

static const struct nnb_buffer_role first_role = { .model = 0, .index = 0, .frequency = 1 };

static enum nnb_status buffer_allocate(const struct scene *s, struct buffer *ret, const struct nnb_buffer_desc *desc,
                                       struct nnb_reason *reason)
{
	return buffer_new(ret, s->subject, &s->model, 1, desc, reason);
}

/* Create a buffer for the first input, for the first output, or for both. */
static bool buffer_for(const struct scene *s, struct buffer *ret, bool input, bool output)
{
	const struct nnb_buffer_desc desc = {
		.inputs = &first_role, .n_inputs = input, .outputs = &first_role, .n_outputs = output
	};
	struct nnb_reason reason = { "" };

	return wants_status(s->checks, buffer_allocate(s, ret, &desc, &reason), NNB_STATUS_NONE, "an allocation",
	                    &reason);
}

/* M-2: does the driver support buffers? */
static bool keeps_buffers(const struct scene *s)
{
	const struct nnb_buffer_desc desc = { .inputs = &first_role, .n_inputs = 1 };
	struct nnb_reason reason = { "" };
	struct buffer b;
	enum nnb_status status = buffer_allocate(s, &b, &desc, &reason);

	if (!status)
		buffer_free(&b);
	else
		checks_skip(s->checks, "the driver has no buffers (%s: %.200s)", nnb_status_name(status), reason.text);
	return !status;
}

/* A call with some arguments in buffers. */
struct placed {
	struct nnb_argument args[2];
	struct nnb_pool *pools[4];
	struct nnb_call call;
};

static void placed_init(struct placed *ret, const struct scene *s, const struct buffer *in, const struct buffer *out)
{
	memcpy(ret->args, s->job.args, sizeof(ret->args));
	memcpy(ret->pools, s->job.pools, sizeof(s->job.pools));
	ret->call = s->job.call;
	ret->call.inputs = ret->args;
	ret->call.outputs = ret->args + 1;
	ret->call.pools = ret->pools;
	if (in) {
		ret->pools[ret->call.n_pools] = in->pool;
		ret->args[0].location = (struct nnb_location){ .pool = ret->call.n_pools++ };
	}
	if (out) {
		ret->pools[ret->call.n_pools] = out->pool;
		ret->args[1].location = (struct nnb_location){ .pool = ret->call.n_pools++ };
	}
}

static enum nnb_status execute_placed(const struct scene *s, const struct buffer *in, const struct buffer *out,
                                      struct nnb_reason *reason)
{
	struct placed p;

	placed_init(&p, s, in, out);
	return prepared_execute(&s->model, &p.call, reason);
}

/* ---- M-5: the roles of a buffer ---- */

static void invalid_allocations(const struct scene *s)
{
	const struct nnb_buffer_role twice[] = { first_role, first_role };
	const struct nnb_buffer_role roles[] = {
		{ 1, 0, 1 }, { UINT32_MAX, 0, 1 }, { 0, 1, 1 },  { 0, UINT32_MAX, 1 },
		{ 0, 0, 0 }, { 0, 0, -0.5F },      { 0, 0, 10 }, { 0, 0, NAN },
	};
	static const char *const names[] = {
		"model 1 of 1", "model 2^32 - 1", "input 1 of 1", "input 2^32 - 1",
		"frequency 0",  "frequency -0.5", "frequency 10", "a frequency that is no number",
	};
	struct nnb_buffer_desc desc = { .n_inputs = 1 };
	struct buffer b;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		desc.inputs = &roles[i];
		wants_status(s->checks, buffer_allocate(s, &b, &desc, NULL), NNB_STATUS_INVALID_ARGUMENT, names[i],
		             NULL);
		buffer_free(&b);
	}
	desc = (struct nnb_buffer_desc){ .inputs = twice, .n_inputs = 2 };
	wants_status(s->checks, buffer_allocate(s, &b, &desc, NULL), NNB_STATUS_INVALID_ARGUMENT, "a role twice", NULL);
	buffer_free(&b);
	desc = (struct nnb_buffer_desc){ .n_inputs = 0 };
	wants_status(s->checks, buffer_allocate(s, &b, &desc, NULL), NNB_STATUS_INVALID_ARGUMENT, "no role", NULL);
	buffer_free(&b);
	desc = (struct nnb_buffer_desc){ .rank = 1, .dims = { LENGTH + 1 }, .inputs = &first_role, .n_inputs = 1 };
	wants_status(s->checks, buffer_allocate(s, &b, &desc, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "another extent than the role's", NULL);
	buffer_free(&b);
	desc = (struct nnb_buffer_desc){ .rank = 2, .dims = { LENGTH, 1 }, .inputs = &first_role, .n_inputs = 1 };
	wants_status(s->checks, buffer_allocate(s, &b, &desc, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "another rank than the role's", NULL);
	buffer_free(&b);
	desc = (struct nnb_buffer_desc){ .inputs = &first_role, .n_inputs = 1 };
	wants_status(s->checks, buffer_new(&b, s->subject, &s->model, 0, &desc, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "no model", NULL);
	buffer_free(&b);
}

/* ---- copies ---- */

static bool is_filled(const struct nnb_pool *pool, float first, uint32_t plus)
{
	const float *x = nnb_pool_data(pool);

	for (uint32_t i = 0; i < LENGTH; i++)
		if (x[i] != chain_expected(first + (float)i, plus))
			return false;
	return true;
}

static struct nnb_pool *pool_of(uint64_t bytes)
{
	struct nnb_pool *pool;

	abort_unless(!nnb_pool_new(&pool, bytes));
	return pool;
}

static enum nnb_status copy_in(const struct buffer *b, float first)
{
	struct nnb_pool *pool = pool_of(BYTES);
	enum nnb_status status;
	float *x = nnb_pool_data(pool);

	for (uint64_t i = 0; i < nnb_pool_size(pool) / sizeof(*x); i++)
		x[i] = first + (float)i;
	status = buffer_copy_from(b, nnb_pool_memory(pool), 0, NULL, NULL);
	nnb_pool_free(pool);
	return status;
}

/* Require NONE, and the contents that were filled in, plus 1 for each of @additions. */
static void expect_content(const struct scene *s, const struct buffer *b, float first, uint32_t plus, const char *what)
{
	struct nnb_pool *pool = pool_of(BYTES);
	struct nnb_reason reason = { "" };
	enum nnb_status status = buffer_copy_to(b, nnb_pool_memory(pool), &reason);

	if (wants_status(s->checks, status, NNB_STATUS_NONE, what, &reason))
		checks_row(s->checks, is_filled(pool, first, plus), "%s: the contents are wrong", what);
	nnb_pool_free(pool);
}

static void sizes_of_copies(const struct scene *s)
{
	static const uint64_t wrong[] = { BYTES - 1, BYTES + 1, BYTES / 2, 1 };
	static const uint32_t dims[][2] = { { LENGTH + 1 }, { 0 } };
	struct nnb_pool *pool;
	struct buffer b;

	if (!buffer_for(s, &b, true, true))
		return;
	copy_in(&b, 5);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		pool = pool_of(wrong[i]);
		wants_status(s->checks, buffer_copy_from(&b, nnb_pool_memory(pool), 0, NULL, NULL),
		             NNB_STATUS_INVALID_ARGUMENT, "copy from a memory of another size", NULL);
		wants_status(s->checks, buffer_copy_to(&b, nnb_pool_memory(pool), NULL), NNB_STATUS_INVALID_ARGUMENT,
		             "copy to a memory of another size", NULL);
		nnb_pool_free(pool);
	}
	pool = pool_of(BYTES);
	for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++)
		wants_status(s->checks, buffer_copy_from(&b, nnb_pool_memory(pool), 1, dims[i], NULL),
		             NNB_STATUS_INVALID_ARGUMENT, "copy from with other extents", NULL);
	nnb_pool_free(pool);
	expect_content(s, &b, 5, 0, "after copies that were refused");
	buffer_free(&b);
}

static void round_trip(const struct scene *s)
{
	struct buffer b;

	if (!buffer_for(s, &b, true, true))
		return;
	for (int i = 0; i < 3; i++) {
		wants_status(s->checks, copy_in(&b, (float)i), NNB_STATUS_NONE, "copy from", NULL);
		expect_content(s, &b, (float)i, 0, "the copied contents");
	}
	buffer_free(&b);
}

/* ---- the initialised flag ---- */

static void uninitialised_reads(const struct scene *s)
{
	struct nnb_pool *pool = pool_of(BYTES), *small = pool_of(1);
	struct buffer b;

	if (buffer_for(s, &b, true, true)) {
		wants_status(s->checks, buffer_copy_to(&b, nnb_pool_memory(pool), NULL), NNB_STATUS_GENERAL_FAILURE,
		             "copy of a new buffer", NULL);
		wants_status(s->checks, buffer_copy_to(&b, nnb_pool_memory(small), NULL), NNB_STATUS_INVALID_ARGUMENT,
		             "copy of a new buffer to a memory of another size (the size is looked at first)", NULL);
		wants_status(s->checks, execute_placed(s, &b, NULL, NULL), NNB_STATUS_GENERAL_FAILURE,
		             "a new buffer as an input", NULL);
		buffer_free(&b);
	}
	nnb_pool_free(pool);
	nnb_pool_free(small);
}

static void initialised_by_execution(const struct scene *s)
{
	struct nnb_reason reason = { "" };
	struct buffer in, out;

	if (!buffer_for(s, &in, true, false))
		return;
	if (buffer_for(s, &out, true, true)) {
		wants_status(s->checks, copy_in(&in, 3), NNB_STATUS_NONE, "copy from", NULL);
		wants_status(s->checks, execute_placed(s, &in, &out, &reason), NNB_STATUS_NONE,
		             "an execution in buffers", &reason);
		expect_content(s, &out, 3, CHAIN, "the execution's output");
		wants_status(s->checks, execute_placed(s, &out, NULL, &reason), NNB_STATUS_NONE,
		             "its output used as an input", &reason);
		checks_row(s->checks, is_filled(s->job.pools[1], 3, 2 * CHAIN),
		           "the output computed from the written buffer is wrong");
		buffer_free(&out);
	}
	buffer_free(&in);
}

/* ---- M-20, M-21: illegal uses ---- */

static void illegal_uses(const struct scene *s)
{
	struct buffer in, both;
	struct placed p;

	if (!buffer_for(s, &in, true, false))
		return;
	if (!buffer_for(s, &both, true, true)) {
		buffer_free(&in);
		return;
	}
	copy_in(&in, 1);
	copy_in(&both, 2);
	wants_status(s->checks, execute_placed(s, NULL, &in, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "as an output without that role", NULL);
	wants_status(s->checks, execute_placed(s, &both, &both, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "as input and output at once", NULL);
	placed_init(&p, s, &in, NULL);
	wants_status(s->checks, prepared_execute(&s->other, &p.call, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "with another model", NULL);
	p.args[0].location.length = BYTES;
	wants_status(s->checks, prepared_execute(&s->model, &p.call, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "a part of a buffer", NULL);
	p.args[0].location = (struct nnb_location){ .pool = p.args[0].location.pool, .offset = 4 };
	wants_status(s->checks, prepared_execute(&s->model, &p.call, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "an offset in a buffer", NULL);
	expect_content(s, &in, 1, 0, "after uses that were refused");
	expect_content(s, &both, 2, 0, "after uses that were refused");
	buffer_free(&both);
	buffer_free(&in);
}

static void unknown_tokens(const struct scene *s)
{
	static const uint64_t tokens[] = { 1, 2, UINT64_MAX, UINT64_C(0x5a5a5a5a5a5a5a5a) };
	struct nnb_memory memory;
	struct nnb_pool *stale;
	struct buffer b;

	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		struct buffer forged = { 0 };

		nnb_memory_token(&memory, tokens[i]);
		abort_unless(!nnb_pool_from(&forged.pool, &memory));
		wants_status(s->checks, execute_placed(s, &forged, NULL, NULL), NNB_STATUS_INVALID_ARGUMENT,
		             "a token that was never issued", NULL);
		nnb_pool_free(forged.pool);
	}
	if (!buffer_for(s, &b, true, true))
		return;
	copy_in(&b, 1);
	abort_unless(!nnb_pool_from(&stale, nnb_pool_memory(b.pool)));
	buffer_free(&b);
	wants_status(s->checks, execute_placed(s, &(struct buffer){ .pool = stale }, NULL, NULL),
	             NNB_STATUS_INVALID_ARGUMENT, "the token of a buffer that was freed", NULL);
	nnb_pool_free(stale);
}

static const struct {
	const char *rule, *name;
	void (*run)(const struct scene *s);
} all[] = {
	{ "M-5", "allocations that are not valid are refused", invalid_allocations },
	{ "M-20", "a use without a role, of a part, or twice is refused and changes nothing", illegal_uses },
	{ "M-21", "tokens that were not given, or are freed, are refused", unknown_tokens },
	{ "M-22", "an execution's output in a buffer is initialised, and right", initialised_by_execution },
	{ "M-30", "contents copied to a buffer can be copied back unchanged", round_trip },
	{ "M-31", "copies of other sizes and extents are refused and change nothing", sizes_of_copies },
	{ "M-32", "a buffer that was not written is uninitialised", uninitialised_reads },
};

void suite_memory(const struct subject *subject, struct checks *c)
{
	struct scene s = { .subject = subject, .checks = c };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (checks_wants(c, SUITE, all[i].rule)) {
			struct nnb_model *m = chain_model(LENGTH, CHAIN);
			struct nnb_reason reason = { "" };

			checks_begin(s.checks, SUITE, all[i].rule, all[i].name);
			if (!subject_takes(s.subject, m)) {
				checks_skip(s.checks, "the driver does not support ADD of float32");
			} else if (wants_status(s.checks, prepared_new(&s.model, s.subject, m, NULL, &reason),
			                        NNB_STATUS_NONE, "to prepare", &reason) &&
			           wants_status(s.checks, prepared_new(&s.other, s.subject, m, NULL, &reason),
			                        NNB_STATUS_NONE, "to prepare again", &reason)) {
				abort_unless(job_init(&s.job, m));
				if (keeps_buffers(&s))
					all[i].run(&s);
				job_fini(&s.job);
			}
			prepared_free(&s.other);
			prepared_free(&s.model);
			nnb_model_free(m);
			checks_end(s.checks);
		}
}
