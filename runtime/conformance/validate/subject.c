/* subject.c -- calls a driver or a service through the same functions. */
#include "conformance/validate/subject.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/validate/abort_unless.h"
#include "conformance/validate/sample_models.h"

const char *subject_name(const struct subject *s)
{
	return s->client ? nnb_client_info(s->client)->driver : nnb_device_name(s->device);
}

enum nnb_status subject_supported(const struct subject *s, const struct nnb_model *m, bool *ret,
                                  struct nnb_reason *reason)
{
	return s->client ? nnb_client_supported(s->client, m, ret, reason)
	                 : nnb_device_supported(s->device, m, ret, reason);
}

bool subject_takes(const struct subject *s, const struct nnb_model *m)
{
	bool *each = calloc(m->n_operations + (size_t)1, sizeof(*each)), all;

	abort_unless(each);
	all = subject_supported(s, m, each, NULL) == NNB_STATUS_NONE;
	for (uint32_t i = 0; all && i < m->n_operations; i++)
		all = each[i];
	free(each);
	return all;
}

/* ---- prepared models ---- */

enum nnb_status prepared_new(struct prepared *ret, const struct subject *s, const struct nnb_model *m,
                             const struct nnb_prepare *how, struct nnb_reason *reason)
{
	static const struct nnb_prepare usual = { .preference = 1, .priority = NNB_PRIORITY_MEDIUM };
	enum nnb_status status;

	*ret = (struct prepared){ .subject = s };
	how = how ? how : &usual;
	status = s->client ? nnb_remote_prepare(s->client, m, how, NULL, &ret->there, reason)
	                   : nnb_prepare(s->device, m, how, NULL, &ret->here, reason);
	if (status)
		*ret = (struct prepared){ 0 };
	return status;
}

void prepared_free(struct prepared *p)
{
	nnb_remote_release(p->there);
	nnb_prepared_unref(p->here);
	*p = (struct prepared){ 0 };
}

const struct nnb_model *prepared_model(const struct prepared *p)
{
	return p->there ? nnb_remote_model(p->there) : nnb_prepared_model(p->here);
}

enum nnb_status prepared_execute(const struct prepared *p, const struct nnb_call *call, struct nnb_reason *reason)
{
	struct nnb_memory *memories;
	struct nnb_request request = { .inputs = call->inputs,
		                       .outputs = call->outputs,
		                       .n_inputs = call->n_inputs,
		                       .n_outputs = call->n_outputs,
		                       .n_pools = call->n_pools };
	enum nnb_status status;

	if (p->there)
		return nnb_remote_execute(p->there, call, NULL, reason);
	request.pools = memories = calloc(call->n_pools + (size_t)1, sizeof(*memories));
	abort_unless(memories);
	for (uint32_t i = 0; i < call->n_pools; i++)
		memories[i] = *nnb_pool_memory(call->pools[i]);
	status = nnb_execute(p->here, &request, NULL, reason);
	free(memories);
	return status;
}

/* ---- buffers ---- */

static enum nnb_status buffer_here(struct buffer *ret, const struct subject *s, const struct prepared *models,
                                   uint32_t n, const struct nnb_buffer_desc *desc, struct nnb_reason *reason)
{
	struct nnb_prepared **list = calloc(n + (size_t)1, sizeof(struct nnb_prepared *));
	enum nnb_status status;

	abort_unless(list);
	for (uint32_t i = 0; i < n; i++)
		list[i] = models[i].here;
	status = nnb_buffer_new(&ret->here, s->device, list, n, desc, reason);
	free(list);
	if (!status)
		abort_unless(!nnb_pool_from(&ret->pool, nnb_buffer_memory(ret->here)));
	return status;
}

static enum nnb_status buffer_there(struct buffer *ret, const struct subject *s, const struct prepared *models,
                                    uint32_t n, const struct nnb_buffer_desc *desc, struct nnb_reason *reason)
{
	struct nnb_remote **list = calloc(n + (size_t)1, sizeof(struct nnb_remote *));
	enum nnb_status status;

	abort_unless(list);
	for (uint32_t i = 0; i < n; i++)
		list[i] = models[i].there;
	status = nnb_remote_buffer_new(&ret->there, s->client, list, n, desc, false, reason);
	free(list);
	if (!status)
		ret->pool = nnb_remote_buffer_pool(ret->there);
	return status;
}

enum nnb_status buffer_new(struct buffer *ret, const struct subject *s, const struct prepared *models,
                           uint32_t n_models, const struct nnb_buffer_desc *desc, struct nnb_reason *reason)
{
	enum nnb_status status;

	*ret = (struct buffer){ 0 };
	status = s->client ? buffer_there(ret, s, models, n_models, desc, reason)
	                   : buffer_here(ret, s, models, n_models, desc, reason);
	if (status)
		*ret = (struct buffer){ 0 };
	return status;
}

void buffer_free(struct buffer *b)
{
	if (b->here)
		nnb_pool_free(b->pool);
	nnb_buffer_unref(b->here);
	nnb_remote_buffer_free(b->there);
	*b = (struct buffer){ 0 };
}

enum nnb_status buffer_copy_from(const struct buffer *b, const struct nnb_memory *from, uint32_t rank,
                                 const uint32_t *dims, struct nnb_reason *reason)
{
	return b->there ? nnb_remote_buffer_copy_from(b->there, from, rank, dims, reason)
	                : nnb_buffer_copy_from(b->here, from, rank, dims, reason);
}

enum nnb_status buffer_copy_to(const struct buffer *b, const struct nnb_memory *to, struct nnb_reason *reason)
{
	return b->there ? nnb_remote_buffer_copy_to(b->there, to, reason) : nnb_buffer_copy_to(b->here, to, reason);
}

/* ---- chains ---- */

struct nnb_model *chain_model(uint32_t length, uint32_t n)
{
	const struct nnb_operand vector = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { length } };
	const struct nnb_operand scalar = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 1 } };
	const float one = 1;
	const int32_t fused = NNB_FUSED_NONE;
	struct nnb_model *m;
	uint32_t x, y, c, act;

	abort_unless(!nnb_model_new(&m, "chain", NNB_HAL_1_0));
	x = y = sample_operand(m, &vector);
	c = sample_operand(m, &scalar);
	abort_unless(!nnb_model_value(m, c, &one, sizeof(one)));
	act = sample_operand(m, &(struct nnb_operand){ .type = NNB_INT32 });
	abort_unless(!nnb_model_value(m, act, &fused, sizeof(fused)));
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t inputs[] = { y, c, act };

		y = sample_operand(m, &vector);
		abort_unless(nnb_model_operation(m, NNB_ADD, inputs, 3, &y, 1) >= 0);
	}
	abort_unless(!nnb_model_finish(m, &x, 1, &y, 1));
	return m;
}

struct nnb_model *layers_model(uint32_t width, uint32_t n)
{
	const struct nnb_operand vector = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1, width } };
	const struct nnb_operand matrix = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { width, width } };
	const struct nnb_operand bias = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { width } };
	float *zeroes = calloc((size_t)width * width, sizeof(*zeroes));
	const int32_t fused = NNB_FUSED_NONE;
	struct nnb_model *m;
	uint32_t x, y, w, b, act;

	abort_unless(zeroes && !nnb_model_new(&m, "layers", NNB_HAL_1_0));
	x = y = sample_operand(m, &vector);
	w = sample_operand(m, &matrix);
	abort_unless(!nnb_model_value(m, w, zeroes, (size_t)width * width * sizeof(*zeroes)));
	b = sample_operand(m, &bias);
	abort_unless(!nnb_model_value(m, b, zeroes, width * sizeof(*zeroes)));
	act = sample_operand(m, &(struct nnb_operand){ .type = NNB_INT32 });
	abort_unless(!nnb_model_value(m, act, &fused, sizeof(fused)));
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t inputs[] = { y, w, b, act };

		y = sample_operand(m, &vector);
		abort_unless(nnb_model_operation(m, NNB_FULLY_CONNECTED, inputs, 4, &y, 1) >= 0);
	}
	abort_unless(!nnb_model_finish(m, &x, 1, &y, 1));
	free(zeroes);
	return m;
}

float chain_expected(float x, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		x += 1;
	return x;
}

bool wants_status(struct checks *c, enum nnb_status is, enum nnb_status wanted, const char *what,
                  const struct nnb_reason *reason)
{
	return checks_row(c, is == wanted, "%s: %s%s%s, not %s", what, nnb_status_name(is),
	                  reason && reason->text[0] ? ": " : "", reason ? reason->text : "", nnb_status_name(wanted));
}
