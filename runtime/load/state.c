/* state.c -- keeps the state of a recurrent model between executions, in pools or in device buffers. */
#include "state.h"

#include <assert.h>
#include <string.h>

static enum nnb_status fill_with_zeroes(struct nnb_remote_buffer *buffer, size_t bytes, struct nnb_reason *reason)
{
	struct nnb_pool *zeroes;
	enum nnb_status status;

	if (nnb_pool_new(&zeroes, bytes)) {
		nnb_because(reason, "no memory for %zu bytes of state", bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = nnb_remote_buffer_copy_from(buffer, nnb_pool_memory(zeroes), 0, NULL, reason);
	nnb_pool_free(zeroes);
	return status;
}

enum nnb_status load_state_init(struct load_state *ret, enum load_keeping keeping, struct nnb_client *client,
                                struct nnb_remote *remote, const struct load_work *work, struct nnb_reason *reason)
{
	struct load_state s = { .work = work, .keeping = keeping };
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t i = 0; keeping == LOAD_ON_DEVICE && !status && i < work->state.n; i++) {
		const struct load_pair *pair = &work->state.list[i];
		struct nnb_buffer_role in = { 0, pair->input, 1 }, out = { 0, pair->output, 1 };
		struct nnb_buffer_desc desc = { .inputs = &in, .outputs = &out, .n_inputs = 1, .n_outputs = 1 };

		for (int k = 0; !status && k < 2; k++)
			status = nnb_remote_buffer_new(&s.buffers[i][k], client, &remote, 1, &desc, true, reason);
		if (!status)
			status = fill_with_zeroes(s.buffers[i][0], work->input_bytes[pair->input], reason);
	}
	if (status)
		load_state_fini(&s);
	else
		*ret = s;
	return status;
}

void load_state_fini(struct load_state *s)
{
	for (uint32_t i = 0; i < LOAD_PAIRS_MAX; i++)
		for (int k = 0; k < 2; k++)
			nnb_remote_buffer_free(s->buffers[i][k]);
	*s = (struct load_state){ 0 };
}

uint32_t load_state_buffers(const struct load_state *s, uint32_t *ret_fallen)
{
	uint32_t n = 0, fallen = 0;

	for (uint32_t i = 0; i < LOAD_PAIRS_MAX; i++)
		for (int k = 0; k < 2 && s->buffers[i][k]; k++, n++)
			fallen += nnb_remote_buffer_fell_back(s->buffers[i][k]);
	*ret_fallen = fallen;
	return n;
}

uint32_t load_state_aim(const struct load_state *s, struct load_buffers *b)
{
	uint32_t n = b->n_pools;

	assert(s->work == b->work && s->turn < 2);
	for (uint32_t i = 0; s->keeping == LOAD_ON_DEVICE && i < s->work->state.n; i++) {
		const struct load_pair *pair = &s->work->state.list[i];
		struct nnb_remote_buffer *const *each = s->buffers[i];

		for (unsigned k = 0; k < 2; k++)
			b->pools[n + k] = nnb_remote_buffer_pool(each[k]);
		b->inputs[pair->input] = nnb_remote_buffer_argument(each[s->turn], n + s->turn);
		b->outputs[pair->output] = nnb_remote_buffer_argument(each[!s->turn], n + !s->turn);
		n += 2;
	}
	return n;
}

void load_state_advance(struct load_state *s, const struct load_buffers *b)
{
	s->turn = !s->turn;
	for (uint32_t i = 0; s->keeping == LOAD_IN_POOLS && i < s->work->state.n; i++) {
		const struct load_pair *pair = &s->work->state.list[i];

		memcpy(load_input_at(b, pair->input), load_output_at(b, pair->output),
		       s->work->input_bytes[pair->input]);
	}
}

void load_state_move(const struct load_state *s, const struct load_buffers *from, const struct load_buffers *to)
{
	for (uint32_t i = 0; s->keeping == LOAD_IN_POOLS && i < s->work->state.n; i++) {
		uint32_t input = s->work->state.list[i].input;

		memcpy(load_input_at(to, input), load_input_at(from, input), s->work->input_bytes[input]);
	}
}

/* The digest of @before and the contents of a buffer; 0: the buffer cannot be read. */
static uint64_t digest_of_buffer(uint64_t before, struct nnb_remote_buffer *buffer, size_t bytes)
{
	struct nnb_pool *copy;

	if (nnb_pool_new(&copy, bytes))
		return 0;
	if (nnb_remote_buffer_copy_to(buffer, nnb_pool_memory(copy), NULL))
		before = 0;
	else
		before = load_digest(before, nnb_pool_data(copy), bytes);
	nnb_pool_free(copy);
	return before;
}

uint64_t load_state_digest(const struct load_state *s, const struct load_buffers *b)
{
	uint64_t digest = load_digest(0, NULL, 0);

	for (uint32_t i = 0; digest && i < s->work->state.n; i++) {
		uint32_t input = s->work->state.list[i].input;
		size_t bytes = s->work->input_bytes[input];

		if (s->keeping == LOAD_ON_DEVICE)
			digest = digest_of_buffer(digest, s->buffers[i][s->turn], bytes);
		else
			digest = load_digest(digest, load_input_at(b, input), bytes);
	}
	return digest;
}
