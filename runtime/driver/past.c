/*
 * past.c -- a list of kinds, each the SipHash of what the times depend on, with its least CPU time; the kind unused
 * for longest makes room.
 */
#include "driver/past.h"

#include <assert.h>
#include <string.h>

#include "base/lock.h"
#include "driver/siphash.h"
#include "model/parts.h"
#include "model/patience.h"

void nnb__past_init(struct nnb__past *past)
{
	pthread_mutex_init(&past->lock, NULL);
}

void nnb__past_fini(struct nnb__past *past)
{
	pthread_mutex_destroy(&past->lock);
}

static bool add_graph(struct nnb__siphash *s, const struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_operand *o = &m->operands[i];
		const uint32_t numbers[] = { o->type, o->lifetime, o->rank, o->location.length };

		if (!nnb__patient(NNB__OPERAND_UNITS))
			return false;
		nnb__siphash_add(s, numbers, sizeof(numbers));
		nnb__siphash_add(s, o->dims, (o->rank < NNB_RANK_MAX ? o->rank : NNB_RANK_MAX) * sizeof(o->dims[0]));
	}
	for (uint32_t i = 0; i < m->n_operations; i++) {
		const struct nnb_operation *op = &m->operations[i];
		const uint32_t numbers[] = { op->type, op->n_inputs, op->n_outputs };

		if (!nnb__patient(NNB__OPERATION_UNITS + op->n_inputs + op->n_outputs))
			return false;
		nnb__siphash_add(s, numbers, sizeof(numbers));
		nnb__siphash_add(s, op->inputs, op->n_inputs * sizeof(op->inputs[0]));
		nnb__siphash_add(s, op->outputs, op->n_outputs * sizeof(op->outputs[0]));
	}
	return true;
}

uint64_t nnb__past_kind(const struct nnb_model *m)
{
	static const uint8_t key[16] = "what it took";
	uint8_t seal[NNB__SEAL_BYTES];
	struct nnb__siphash s;
	uint64_t kind;

	nnb__siphash_init(&s, key);
	for (uint32_t part = 0; part <= m->n_referenced; part++) {
		const struct nnb_model view = nnb__part(m, part);

		if (!add_graph(&s, &view))
			return 0;
	}
	nnb__siphash_done(&s, seal);
	memcpy(&kind, seal, sizeof(kind));
	return kind;
}

/* Where this kind is, or where it may be; the lock is held. */
static unsigned past_find(const struct nnb__past *past, uint64_t kind)
{
	unsigned oldest = 0;

	assert(nnb__is_locked(&past->lock));
	for (unsigned i = 0; i < NNB__PAST; i++) {
		if (past->kinds[i].used && past->kinds[i].kind == kind)
			return i;
		if (past->kinds[i].used < past->kinds[oldest].used)
			oldest = i;
	}
	return oldest;
}

void nnb__past_learn(struct nnb__past *past, uint64_t kind, uint64_t cpu_ns)
{
	unsigned i;

	pthread_mutex_lock(&past->lock);
	i = past_find(past, kind);
	assert(i < NNB__PAST);
	if (!past->kinds[i].used || past->kinds[i].kind != kind || cpu_ns < past->kinds[i].cpu_ns)
		past->kinds[i].cpu_ns = cpu_ns;
	past->kinds[i].kind = kind;
	past->kinds[i].used = ++past->uses;
	pthread_mutex_unlock(&past->lock);
}

bool nnb__past_refuses(struct nnb__past *past, uint64_t kind, uint64_t budget_ns)
{
	bool refuses;
	unsigned i;

	pthread_mutex_lock(&past->lock);
	i = past_find(past, kind);
	refuses = past->kinds[i].used && past->kinds[i].kind == kind && past->kinds[i].cpu_ns / 2 > budget_ns;
	if (refuses) {
		past->kinds[i].cpu_ns -= past->kinds[i].cpu_ns / 16;
		past->kinds[i].used = ++past->uses;
	}
	pthread_mutex_unlock(&past->lock);
	return refuses;
}
