/*
 * fuzz_packet.c -- any bytes as a packet, in one region or two: a packet that parses, is built again and
 * parsed again, is equal.
 *
 * The input: a byte that chooses between request and result, whether the first datum gets the right size, and
 * whether terms have been agreed on; one for the place where the ring wraps; then the datums. Each region is
 * an allocation of its own size, so that a read beyond it is caught. A result's shapes have few places.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nnb/packet.h"

enum { DATUM = 24, DATUMS_MAX = 128, SHAPES = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void result_must(bool fine)
{
	if (!fine)
		abort();
}

/* @n datums, the first @at of them in the first region. */
static struct nnb_fmq_tx tx_new(size_t n, size_t at)
{
	struct nnb_fmq_tx tx = { .first = { malloc(at * DATUM + 1), at }, .elem_size = DATUM };

	if (at < n)
		tx.second = (struct nnb_fmq_region){ malloc((n - at) * DATUM), n - at };
	result_must(tx.first.base && (tx.second.base || at == n));
	return tx;
}

static void tx_free(struct nnb_fmq_tx *tx)
{
	free(tx->first.base);
	free(tx->second.base);
}

/* A packet built over bytes of 0xff must not show them between its fields: the same fields make the same bytes. */
static bool same_built(const struct nnb_fmq_tx *a, const struct nnb_fmq_tx *b)
{
	size_t n = a->first.n + a->second.n;
	unsigned char x[DATUM], y[DATUM];

	for (size_t i = 0; i < n; i++) {
		result_must(nnb_fmq_tx_copy_from(a, x, i, 1) && nnb_fmq_tx_copy_from(b, y, i, 1));
		if (memcmp(x, y, DATUM))
			return false;
	}
	return true;
}

static void same_arguments(const struct nnb_argument *a, const struct nnb_argument *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		result_must(a[i].no_value == b[i].no_value && a[i].rank == b[i].rank);
		result_must(!memcmp(&a[i].location, &b[i].location, sizeof(a[i].location)));
		result_must(!memcmp(a[i].dims, b[i].dims, a[i].rank * sizeof(*a[i].dims)));
	}
}

/* A rank that no argument has room for can be parsed, not built. */
static bool request_is_buildable(const struct nnb_packet_request *p)
{
	for (uint32_t i = 0; i < p->n_inputs + p->n_outputs; i++)
		if (p->arguments[i].rank > NNB_RANK_MAX)
			return false;
	return p->measure <= 1;
}

static void build_request(const struct nnb_fmq_tx *tx, const struct nnb_packet_request *p, int fill)
{
	const struct nnb_request r = { .inputs = p->inputs,
		                       .outputs = p->outputs,
		                       .n_inputs = p->n_inputs,
		                       .n_outputs = p->n_outputs,
		                       .n_pools = p->n_slots };

	result_must(nnb_packet_request_size(&r, &p->terms) == tx->first.n + tx->second.n);
	memset(tx->first.base, fill, tx->first.n * DATUM);
	if (tx->second.n)
		memset(tx->second.base, fill, tx->second.n * DATUM);
	nnb_packet_request_build(tx, &r, p->slots, p->measure, &p->terms);
}

/* The last request with other terms counts as no change. */
static void try_other_terms(struct nnb_packet_request *p, const struct nnb_fmq_tx *tx, size_t n)
{
	const struct nnb_request_datum terms = { .kind = NNB_REQUEST_TERMS, .terms = { 1, 2, 3, 4 } };
	uint64_t changes = p->changes;

	result_must(nnb_fmq_tx_copy_to(tx, &terms, n - 1, 1));
	result_must(!nnb_packet_request_parse(p, tx, NULL));
	result_must(p->changes == changes && p->terms.deadline_ns == (UINT64_C(2) << 32 | 1));
	result_must(p->terms.loop_timeout_ns == (UINT64_C(4) << 32 | 3));
}

static void try_request(const struct nnb_fmq_tx *tx, size_t n, size_t at, bool extended)
{
	struct nnb_packet_request p, q;
	struct nnb_fmq_tx again = tx_new(n, n - at ? n - at : n), other = tx_new(n, n);
	struct nnb_reason reason;
	int r;

	result_must(!nnb_packet_request_init(&p, n) && !nnb_packet_request_init(&q, n));
	p.extended = q.extended = extended;
	r = nnb_packet_request_parse(&p, tx, &reason);
	result_must(!r || r == -EBADMSG);
	result_must(nnb_packet_request_parse(&p, tx, NULL) == r); /* the same packet again, which the parser does not
	                                                    * read again */
	if (!r && request_is_buildable(&p)) {
		build_request(&again, &p, 0xff);
		build_request(&other, &p, 0);
		result_must(same_built(&again, &other));
		result_must(!nnb_packet_request_parse(&q, &again, NULL));
		result_must(p.n_inputs == q.n_inputs && p.n_outputs == q.n_outputs && p.n_slots == q.n_slots);
		result_must(p.measure == q.measure && !memcmp(p.slots, q.slots, p.n_slots * sizeof(*p.slots)));
		same_arguments(p.inputs, q.inputs, p.n_inputs);
		same_arguments(p.outputs, q.outputs, p.n_outputs);
		result_must(p.terms.deadline_ns == q.terms.deadline_ns &&
		            p.terms.loop_timeout_ns == q.terms.loop_timeout_ns);
	}
	if (!r && (p.terms.deadline_ns || p.terms.loop_timeout_ns)) {
		result_must(extended);
		try_other_terms(&p, tx, n);
	}
	nnb_packet_request_fini(&p);
	nnb_packet_request_fini(&q);
	tx_free(&again);
	tx_free(&other);
}

static void same_result(const struct nnb_result *a, const struct nnb_result *b)
{
	result_must(a->status == b->status && a->n_shapes == b->n_shapes);
	result_must(!memcmp(&a->timing, &b->timing, sizeof(a->timing)));
	for (uint32_t i = 0; i < a->n_shapes; i++) {
		result_must(a->shapes[i].rank == b->shapes[i].rank &&
		            a->shapes[i].sufficient == b->shapes[i].sufficient);
		result_must(!memcmp(a->shapes[i].dims, b->shapes[i].dims, a->shapes[i].rank * sizeof(uint32_t)));
	}
}

static void try_result(const struct nnb_fmq_tx *tx, size_t n, size_t at)
{
	struct nnb_output_shape shapes[SHAPES], shapes_again[SHAPES];
	struct nnb_result a = { .shapes = shapes }, b = { .shapes = shapes_again }, counted = { .shapes = NULL };
	struct nnb_fmq_tx again = tx_new(n, n - at ? n - at : n);
	struct nnb_reason reason;
	int r = nnb_packet_result_parse(&a, SHAPES, tx, &reason);

	result_must(!r || r == -EBADMSG);
	result_must(nnb_packet_result_parse(&counted, SHAPES, tx, NULL) == r);
	if (!r) {
		result_must(counted.n_shapes == a.n_shapes && a.n_shapes <= SHAPES);
		result_must(nnb_packet_result_size(&a) == n);
		memset(again.first.base, 0xff, again.first.n * DATUM);
		if (again.second.n)
			memset(again.second.base, 0xff, again.second.n * DATUM);
		nnb_packet_result_build(&again, &a);
		result_must(!nnb_packet_result_parse(&b, SHAPES, &again, NULL));
		same_result(&a, &b);
	}
	tx_free(&again);
}

static void say_size(void *first, bool request, uint32_t size)
{
	struct nnb_request_datum *q = first;
	struct nnb_result_datum *r = first;

	*(request ? &q->packet.size : &r->packet.size) = size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size < 2 ? 0 : (size - 2) / DATUM, at;
	struct nnb_fmq_tx tx;

	if (size < 2 || n > DATUMS_MAX)
		return 0;
	at = n ? 1 + data[1] % n : 0;
	tx = tx_new(n, at);
	result_must(!n || nnb_fmq_tx_copy_to(&tx, data + 2, 0, n));
	if (n && data[0] & 2) /* otherwise most inputs would end with their first datum */
		say_size(tx.first.base, data[0] & 1, (uint32_t)n);
	if (data[0] & 1)
		try_request(&tx, n, at, data[0] & 4);
	else
		try_result(&tx, n, at);
	tx_free(&tx);
	return 0;
}
