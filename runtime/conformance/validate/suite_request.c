/* suite_request.c -- ValidateRequest: every request of every sample with one invalid argument must be refused. */
#include <stdlib.h>
#include <string.h>

#include "conformance/validate/abort_unless.h"
#include "conformance/validate/sample_models.h"
#include "conformance/validate/subject.h"

#define SUITE "request"

/* A valid call whose arguments the suite changes. */
struct bench {
	struct nnb_argument *inputs, *outputs; /* both point into one array */
	struct nnb_call call;
};

struct spoil {
	const char *rule, *name;
	void (*run)(struct bench *b, struct nnb_argument *arg);
	bool outputs_only;
};

static void argument_drop(struct nnb_argument *args, uint32_t *n, const struct nnb_argument *arg)
{
	size_t at = (size_t)(arg - args);

	(*n)--;
	memmove(args + at, args + at + 1, (*n - at) * sizeof(*arg));
}

static void remove_argument(struct bench *b, struct nnb_argument *arg)
{
	if (arg >= b->outputs && arg < b->outputs + b->call.n_outputs)
		argument_drop(b->outputs, &b->call.n_outputs, arg);
	else
		argument_drop(b->inputs, &b->call.n_inputs, arg);
}

static void a_byte_short(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->location.length--;
}

static void a_byte_long(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->location.length++;
}

static void no_bytes(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->location.length = 0;
}

static void begins_at_end(struct bench *b, struct nnb_argument *arg)
{
	arg->location.offset = (uint32_t)nnb_pool_size(b->call.pools[arg->location.pool]);
}

static void range_wraps(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->location.offset = UINT32_MAX - arg->location.length + 1;
}

static void no_such_pool(struct bench *b, struct nnb_argument *arg)
{
	arg->location.pool = b->call.n_pools;
}

static void last_pool(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->location.pool = UINT32_MAX;
}

static void too_high_a_rank(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->rank = NNB_RANK_MAX + 1;
}

static void left_out(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	*arg = (struct nnb_argument){ .no_value = true };
}

static void left_out_with_length(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->no_value = true;
}

static const struct spoil spoils[] = {
	{ "R1", "an argument is removed", remove_argument, false },
	{ "R2", "an output is left out", left_out, true },
	{ "R2", "an argument is left out and has a length", left_out_with_length, false },
	{ "R3", "an argument in a pool beyond the last", no_such_pool, false },
	{ "R3", "an argument in pool 2^32 - 1", last_pool, false },
	{ "R4", "an argument that begins where its pool ends", begins_at_end, false },
	{ "R4", "an argument whose end wraps to 0", range_wraps, false },
	{ "R6", "an argument of rank 9", too_high_a_rank, false },
	{ "R7", "an argument that is a byte short", a_byte_short, false },
	{ "R7", "an argument that is a byte long", a_byte_long, false },
	{ "R7", "an argument without bytes", no_bytes, false },
};

static void expect_refused(struct checks *c, const struct prepared *p, const struct job *j, const struct spoil *spoil,
                           bool output, uint32_t i)
{
	const struct nnb_call *call = &j->call;
	struct bench b = { .inputs = calloc(call->n_inputs + (size_t)1, sizeof(*b.inputs)),
		           .outputs = calloc(call->n_outputs + (size_t)1, sizeof(*b.outputs)),
		           .call = *call };
	struct nnb_reason reason = { "" };
	struct nnb_argument *arg;
	enum nnb_status status;

	abort_unless(b.inputs && b.outputs);
	memcpy(b.inputs, call->inputs, call->n_inputs * sizeof(*b.inputs));
	memcpy(b.outputs, call->outputs, call->n_outputs * sizeof(*b.outputs));
	b.call.inputs = b.inputs;
	b.call.outputs = b.outputs;
	arg = output ? &b.outputs[i] : &b.inputs[i];
	if (!arg->no_value) {
		spoil->run(&b, arg);
		status = prepared_execute(p, &b.call, &reason);
		checks_row(c, status == NNB_STATUS_INVALID_ARGUMENT, "%s: %s %u: %s: %s, not INVALID_ARGUMENT",
		           prepared_model(p)->name, output ? "output" : "input", i, spoil->name,
		           nnb_status_name(status));
	}
	free(b.inputs);
	free(b.outputs);
}

/* Prepare a sample. False: the subject does not support it, or an argument's size is unknown. */
static bool sample_prepare(const struct subject *s, size_t sample, struct prepared *p, struct job *j)
{
	struct nnb_model *m = sample_new(sample);
	bool good = subject_takes(s, m) && !prepared_new(p, s, m, NULL, NULL);

	if (good && !job_init(j, m)) {
		prepared_free(p);
		good = false;
	}
	nnb_model_free(m);
	return good;
}

static void check_spoil(const struct subject *s, struct checks *c, const struct spoil *spoil)
{
	struct prepared p;
	struct job j;

	if (!checks_wants(c, SUITE, spoil->rule))
		return;
	checks_begin(c, SUITE, spoil->rule, spoil->name);
	for (size_t sample = 0; sample < sample_count(); sample++) {
		if (!sample_prepare(s, sample, &p, &j))
			continue;
		for (uint32_t i = 0; !spoil->outputs_only && i < j.call.n_inputs; i++)
			expect_refused(c, &p, &j, spoil, false, i);
		for (uint32_t i = 0; i < j.call.n_outputs; i++)
			expect_refused(c, &p, &j, spoil, true, i);
		job_fini(&j);
		prepared_free(&p);
	}
	checks_skip(c, "no sample model is supported");
	checks_end(c);
}

void suite_request(const struct subject *s, struct checks *c)
{
	struct nnb_reason reason = { "" };
	struct prepared p;
	struct job j;

	for (size_t i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++)
		check_spoil(s, c, &spoils[i]);
	/* After all refused requests, execute a valid one. */
	if (!checks_wants(c, SUITE, "R1"))
		return;
	checks_begin(c, SUITE, "R1", "a valid request is executed");
	for (size_t sample = 0; sample < sample_count(); sample++) {
		if (!sample_prepare(s, sample, &p, &j))
			continue;
		wants_status(c, prepared_execute(&p, &j.call, &reason), NNB_STATUS_NONE, sample_name(sample), &reason);
		job_fini(&j);
		prepared_free(&p);
	}
	checks_skip(c, "no sample model is supported");
	checks_end(c);
}
