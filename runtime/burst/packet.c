/*
 * packet.c -- requests and results as datums, built and parsed where they lie in the queue.
 *
 * LAYOUT    Datums of 24 bytes: a kind, then its fields, zeroes elsewhere. The wire is of one machine, so its byte
 *           order is the machine's. A request is
 *             PACKET, for each input INPUT and its DIMENSIONs, for each output OUTPUT and its, SLOTs, MEASURE,
 *             and TERMS if there are any
 *           and a result
 *             PACKET, for each output OPERAND and its DIMENSIONs, TIMING.
 * PROGRESS  A burst sends the same request again and again. The parser compares a request with the last one in the
 *           queue, and copies and parses it only if they differ; "changes" counts these. TERMS come last, because
 *           they may differ each time.
 * TRUST     The peer can write a datum while it is parsed. The parser reads only copies, or datums that equal a copy.
 *           It trusts a count one datum at a time: the next datum must exist and have the kind that is due, so the
 *           number of datums bounds all counts together.
 */
#include "nnb/packet.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "burst/repeat.h"

enum { DATUM_BYTES = 24 };
_Static_assert(sizeof(struct nnb_request_datum) == DATUM_BYTES, "a request's datum is the HAL's");
_Static_assert(sizeof(struct nnb_result_datum) == DATUM_BYTES, "a result's datum is the HAL's");
_Static_assert(offsetof(struct nnb_request_datum, operand.rank) == 20, "fields are where the HAL's are");
_Static_assert(offsetof(struct nnb_request_datum, operand.rank) - offsetof(struct nnb_request_datum, operand.pool) ==
                       sizeof(struct nnb_location),
               "an argument's location is a part of its datum");
_Static_assert(offsetof(struct nnb_result_datum, operand.rank) == 12, "fields are where the HAL's are");

#define MALFORMED(reason, ...) (nnb_because(reason, __VA_ARGS__), -EBADMSG)

/* Walks a transaction, a datum at a time. Datums of both kinds have the same size. */
struct cursor {
	unsigned char *at, *end, *second; /* the next datum; the end of this region; the next region */
	size_t n_second;                  /* datums of the next region; 0 once the cursor is there */
};

static inline struct cursor cursor_of(const struct nnb_fmq_tx *tx)
{
	unsigned char *first = tx->first.base, *end = tx->first.n ? first + tx->first.n * DATUM_BYTES : first;

	return (struct cursor){ first, end, tx->second.base, tx->second.n };
}

static inline size_t tx_datums(const struct nnb_fmq_tx *tx)
{
	return tx->first.n + tx->second.n;
}

static inline void cursor_enter_second(struct cursor *c)
{
	assert(c->n_second);
	c->at = c->second;
	c->end = c->second + c->n_second * DATUM_BYTES;
	c->n_second = 0;
}

/* The place of the next datum, which must exist. */
static inline void *cursor_next(struct cursor *c)
{
	unsigned char *at;

	if (__builtin_expect(c->at == c->end, 0))
		cursor_enter_second(c);
	at = c->at;
	c->at += DATUM_BYTES;
	return at;
}

static inline bool cursor_at_end(const struct cursor *c)
{
	return c->at == c->end && !c->n_second;
}

/* ---- requests: building ---- */

static size_t sum_ranks(const struct nnb_argument *a, uint32_t n)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += a[i].rank;
	return sum;
}

static inline bool has_terms(const struct nnb_terms *terms)
{
	return terms && nnb__has_terms(terms);
}

size_t nnb_packet_request_size(const struct nnb_request *r, const struct nnb_terms *terms)
{
	return (size_t)2 + has_terms(terms) + r->n_inputs + r->n_outputs + r->n_pools +
	       sum_ranks(r->inputs, r->n_inputs) + sum_ranks(r->outputs, r->n_outputs);
}

/* The next datum, of which the caller writes every field that is not zero. */
static inline struct nnb_request_datum *new_request(struct cursor *c, uint8_t kind)
{
	struct nnb_request_datum *d = cursor_next(c);

	d->kind = kind;
	memset(d->zero, 0, sizeof(d->zero));
	return d;
}

static inline void put_number(struct cursor *c, uint8_t kind, uint32_t n)
{
	struct nnb_request_datum *d = new_request(c, kind);

	d->words[0] = n;
	memset(&d->words[1], 0, sizeof(d->words) - sizeof(d->words[0]));
}

static inline void put_arguments(struct cursor *c, const struct nnb_argument *a, uint32_t n, uint8_t kind)
{
	for (uint32_t i = 0; i < n; i++, a++) {
		struct nnb_request_datum *d = new_request(c, kind);

		assert(a->rank <= NNB_RANK_MAX);
		d->operand.no_value = a->no_value;
		memset(d->operand.zero, 0, sizeof(d->operand.zero));
		d->operand.pool = a->location.pool;
		d->operand.offset = a->location.offset;
		d->operand.length = a->location.length;
		d->operand.rank = a->rank;
		for (uint32_t k = 0; k < a->rank; k++)
			put_number(c, kind + 1, a->dims[k]);
	}
}

static inline void put_terms(struct nnb_request_datum *d, const struct nnb_terms *terms)
{
	d->terms.deadline_low = (uint32_t)terms->deadline_ns;
	d->terms.deadline_high = (uint32_t)(terms->deadline_ns >> 32);
	d->terms.loop_low = (uint32_t)terms->loop_timeout_ns;
	d->terms.loop_high = (uint32_t)(terms->loop_timeout_ns >> 32);
	d->words[4] = 0;
}

void nnb_packet_request_build(const struct nnb_fmq_tx *tx, const struct nnb_request *r, const int32_t *slots,
                              bool measure, const struct nnb_terms *terms)
{
	struct cursor c = cursor_of(tx);
	struct nnb_request_datum *d = new_request(&c, NNB_REQUEST_PACKET);

	d->packet.size = (uint32_t)tx_datums(tx);
	d->packet.n_inputs = r->n_inputs;
	d->packet.n_outputs = r->n_outputs;
	d->packet.n_pools = r->n_pools;
	d->words[4] = 0;
	put_arguments(&c, r->inputs, r->n_inputs, NNB_REQUEST_INPUT);
	put_arguments(&c, r->outputs, r->n_outputs, NNB_REQUEST_OUTPUT);
	for (uint32_t i = 0; i < r->n_pools; i++)
		put_number(&c, NNB_REQUEST_SLOT, (uint32_t)slots[i]);
	put_number(&c, NNB_REQUEST_MEASURE, measure);
	if (has_terms(terms))
		put_terms(new_request(&c, NNB_REQUEST_TERMS), terms);
	assert(cursor_at_end(&c)); /* nnb_packet_request_size counted the same datums */
}

/* ---- requests: repeating ---- */

/* Do the datums from @d on have these arguments? Returns the datum behind them; NULL: they differ. */
static inline const struct nnb_request_datum *same_arguments(const struct nnb_request_datum *d,
                                                             const struct nnb_argument *a, uint32_t n)
{
	for (const struct nnb_argument *end = a + n; a != end; a++, d++) {
		if (memcmp(&d->operand.pool, &a->location, sizeof(a->location)) != 0 || d->operand.rank != a->rank ||
		    d->operand.no_value != a->no_value)
			return NULL;
		for (uint32_t k = 0; k < a->rank; k++)
			if ((++d)->dimension != a->dims[k])
				return NULL;
	}
	return d;
}

bool nnb__packet_repeats(const struct nnb_request_datum *packet, size_t n, const struct nnb_call *call)
{
	const struct nnb_request_datum *d = packet;

	if (!n || d->packet.n_inputs != call->n_inputs || d->packet.n_outputs != call->n_outputs ||
	    d->packet.n_pools != call->n_pools)
		return false;
	d = same_arguments(d + 1, call->inputs, call->n_inputs);
	if (d)
		d = same_arguments(d, call->outputs, call->n_outputs);
	if (!d)
		return false;
	d += call->n_pools; /* the slots */
	return d->measure == call->measure && (d + 1 != packet + n) == has_terms(&call->terms);
}

void nnb__packet_set_terms(struct nnb_request_datum *packet, size_t n, const struct nnb_terms *terms)
{
	if (has_terms(terms))
		put_terms(&packet[n - 1], terms);
}

/* ---- whole packets ---- */

bool nnb__tx_equals(const struct nnb_fmq_tx *tx, const void *packet, size_t n)
{
	size_t first = n < tx->first.n ? n : tx->first.n;

	return !memcmp(tx->first.base, packet, first * DATUM_BYTES) &&
	       (n == first ||
	        !memcmp(tx->second.base, (const char *)packet + first * DATUM_BYTES, (n - first) * DATUM_BYTES));
}

void nnb__tx_read(const struct nnb_fmq_tx *tx, void *packet)
{
	memcpy(packet, tx->first.base, tx->first.n * DATUM_BYTES);
	if (tx->second.n)
		memcpy((char *)packet + tx->first.n * DATUM_BYTES, tx->second.base, tx->second.n * DATUM_BYTES);
	__asm__("" : : : "memory"); /* a compiler must not read the original again: from here on, code reads the copy */
}

/* ---- requests: parsing ---- */

int nnb_packet_request_init(struct nnb_packet_request *ret, size_t capacity)
{
	struct nnb_packet_request r = { .room = (uint32_t)capacity };

	r.arguments = calloc(capacity + 1, sizeof(*r.arguments));
	r.slots = calloc(capacity + 1, sizeof(*r.slots));
	r.datums = calloc(capacity + 1, sizeof(*r.datums));
	if (!r.arguments || !r.slots || !r.datums) {
		nnb_packet_request_fini(&r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

void nnb_packet_request_fini(struct nnb_packet_request *r)
{
	free(r->arguments);
	free(r->slots);
	free(r->datums);
	*r = (struct nnb_packet_request){ 0 };
}

/* The datums of the private copy that are not parsed yet. */
struct reader {
	const struct nnb_request_datum *at, *end;
};

/* The next datum, if it is there and of @kind. */
static const struct nnb_request_datum *take_request(struct reader *r, uint8_t kind)
{
	return r->at < r->end && r->at->kind == kind ? r->at++ : NULL;
}

static int parse_arguments(struct reader *r, struct nnb_argument *to, uint32_t n, uint8_t kind,
                           struct nnb_reason *reason)
{
	const char *what = kind == NNB_REQUEST_INPUT ? "input" : "output";
	const struct nnb_request_datum *d;

	for (uint32_t i = 0; i < n; i++, to++) {
		d = take_request(r, kind);
		if (!d)
			return MALFORMED(reason, "%s %u is missing", what, i);
		to->no_value = d->operand.no_value;
		to->location = (struct nnb_location){ d->operand.pool, d->operand.offset, d->operand.length };
		to->rank = d->operand.rank;
		for (uint32_t k = 0; k < to->rank; k++) {
			d = take_request(r, kind + 1);
			if (!d)
				return MALFORMED(reason, "%s %u: dimension %u is missing", what, i, k);
			if (k < NNB_RANK_MAX)
				to->dims[k] = d->dimension;
		}
	}
	return 0;
}

/* Parse the end of a request: nothing, or in an extended burst perhaps terms. */
static int parse_terms(struct reader *from, struct nnb_terms *to, bool extended, struct nnb_reason *reason)
{
	const struct nnb_request_datum *d = extended ? take_request(from, NNB_REQUEST_TERMS) : NULL;

	*to = (struct nnb_terms){ 0 };
	if (d) {
		to->deadline_ns = (uint64_t)d->terms.deadline_high << 32 | d->terms.deadline_low;
		to->loop_timeout_ns = (uint64_t)d->terms.loop_high << 32 | d->terms.loop_low;
		if (!has_terms(to))
			return MALFORMED(reason, "terms without a deadline or a loop timeout");
	}
	return from->at == from->end ? 0 : MALFORMED(reason, "datums follow the end of the packet");
}

/* Parse the @n datums that were copied. */
static int parse_copy(struct nnb_packet_request *ret, uint32_t n, struct nnb_reason *reason)
{
	struct reader from = { ret->datums, ret->datums + n };
	const struct nnb_request_datum *head = take_request(&from, NNB_REQUEST_PACKET), *last;
	int r;

	if (!head)
		return MALFORMED(reason, "the packet does not begin with its head");
	if (head->packet.size != n)
		return MALFORMED(reason, "%u datums, but the head states %u", n, head->packet.size);
	if ((uint64_t)head->packet.n_inputs + head->packet.n_outputs + head->packet.n_pools + 2 > n)
		return MALFORMED(reason, "more inputs, outputs and pools than datums");
	ret->n_inputs = head->packet.n_inputs;
	ret->n_outputs = head->packet.n_outputs;
	ret->n_slots = head->packet.n_pools;
	ret->inputs = ret->arguments;
	ret->outputs = ret->arguments + ret->n_inputs;
	r = parse_arguments(&from, ret->inputs, ret->n_inputs, NNB_REQUEST_INPUT, reason);
	if (!r)
		r = parse_arguments(&from, ret->outputs, ret->n_outputs, NNB_REQUEST_OUTPUT, reason);
	if (r)
		return r;
	for (uint32_t i = 0; i < ret->n_slots; i++) {
		const struct nnb_request_datum *d = take_request(&from, NNB_REQUEST_SLOT);

		if (!d)
			return MALFORMED(reason, "slot %u is missing", i);
		ret->slots[i] = d->slot;
	}
	last = take_request(&from, NNB_REQUEST_MEASURE);
	if (!last)
		return MALFORMED(reason, "the datum MEASURE is missing");
	ret->measure = last->measure;
	return parse_terms(&from, &ret->terms, ret->extended, reason);
}

/* Parse the terms, the last datum of a request that is the same otherwise. */
static __attribute__((noinline)) bool parse_new_terms(struct nnb_packet_request *r, const struct nnb_fmq_tx *tx)
{
	struct nnb_request_datum last;
	struct reader from = { &last, &last + 1 };

	memcpy(&last,
	       (const char *)(tx->second.n ? tx->second.base : tx->first.base) +
	               ((tx->second.n ? tx->second.n : tx->first.n) - 1) * sizeof(last),
	       sizeof(last));
	__asm__("" : "+m"(last)); /* from here on, code reads the copy */
	return !parse_terms(&from, &r->terms, true, NULL);
}

/* Is the request equal to the last one, except perhaps for its terms? Then parse the terms. */
static inline bool same_request(struct nnb_packet_request *r, const struct nnb_fmq_tx *tx, size_t n)
{
	bool terms;

	if (n != r->n_datums || !n)
		return false;
	terms = r->datums[n - 1].kind == NNB_REQUEST_TERMS;
	return nnb__tx_equals(tx, r->datums, n - terms) && (!terms || parse_new_terms(r, tx));
}

/* Parse a packet that differs from the last one. */
static __attribute__((noinline)) int parse_changed(struct nnb_packet_request *ret, const struct nnb_fmq_tx *tx,
                                                   size_t n, struct nnb_reason *reason)
{
	int r;

	ret->changes++;
	ret->n_datums = 0;
	if (!n)
		return MALFORMED(reason, "it is empty");
	if (n > ret->room)
		return MALFORMED(reason, "%zu datums, but the queue has room for %u", n, ret->room);
	nnb__tx_read(tx, ret->datums);
	r = parse_copy(ret, (uint32_t)n, reason);
	if (!r)
		ret->n_datums = (uint32_t)n;
	return r;
}

int nnb_packet_request_parse(struct nnb_packet_request *ret, const struct nnb_fmq_tx *tx, struct nnb_reason *reason)
{
	size_t n = tx_datums(tx);

	return __builtin_expect(same_request(ret, tx, n), 1) ? 0 : parse_changed(ret, tx, n, reason);
}

/* ---- results: building ---- */

size_t nnb_packet_result_size(const struct nnb_result *r)
{
	size_t n = (size_t)2 + r->n_shapes;

	for (uint32_t i = 0; i < r->n_shapes; i++)
		n += r->shapes[i].rank;
	return n;
}

static inline struct nnb_result_datum *new_result(struct cursor *c, uint8_t kind)
{
	struct nnb_result_datum *d = cursor_next(c);

	memset(d, 0, sizeof(*d)); /* as a whole: two stores */
	d->kind = kind;
	return d;
}

static uint64_t us_of_ns(uint64_t ns)
{
	return ns == UINT64_MAX ? ns : ns / 1000 + (ns % 1000 != 0);
}

void nnb_packet_result_build(const struct nnb_fmq_tx *tx, const struct nnb_result *r)
{
	struct cursor c = cursor_of(tx);
	struct nnb_result_datum *d = new_result(&c, NNB_RESULT_PACKET);

	d->packet.size = (uint32_t)tx_datums(tx);
	d->packet.status = r->status;
	d->packet.n_operands = r->n_shapes;
	for (uint32_t i = 0; i < r->n_shapes; i++) {
		const struct nnb_output_shape *s = &r->shapes[i];

		d = new_result(&c, NNB_RESULT_OPERAND);
		d->operand.sufficient = s->sufficient;
		assert(s->rank <= NNB_RANK_MAX);
		d->operand.rank = s->rank;
		for (uint32_t k = 0; k < s->rank; k++) {
			d = new_result(&c, NNB_RESULT_DIMENSION);
			d->dimension = s->dims[k];
		}
	}
	d = new_result(&c, NNB_RESULT_TIMING);
	d->timing.on_device_us = us_of_ns(r->timing.on_device_ns);
	d->timing.in_driver_us = us_of_ns(r->timing.in_driver_ns);
	assert(cursor_at_end(&c)); /* nnb_packet_result_size counted the same datums */
}

/* ---- results: parsing ---- */

static inline bool take_result(struct cursor *c, uint8_t kind, struct nnb_result_datum *ret)
{
	if (__builtin_expect(cursor_at_end(c), 0))
		return false;
	memcpy(ret, cursor_next(c), sizeof(*ret));
	__asm__("" : "+m"(*ret)); /* a compiler must not read the original again: from here on, code reads the copy */
	return ret->kind == kind;
}

static int parse_shape(struct cursor *c, struct nnb_output_shape *ret, uint32_t i, struct nnb_reason *reason)
{
	struct nnb_result_datum d;

	if (!take_result(c, NNB_RESULT_OPERAND, &d))
		return MALFORMED(reason, "output %u is missing", i);
	if (d.operand.rank > NNB_RANK_MAX)
		return MALFORMED(reason, "output %u: rank %u", i, d.operand.rank);
	ret->sufficient = d.operand.sufficient;
	ret->rank = d.operand.rank;
	for (uint32_t k = 0; k < ret->rank; k++) {
		if (!take_result(c, NNB_RESULT_DIMENSION, &d))
			return MALFORMED(reason, "output %u: dimension %u is missing", i, k);
		ret->dims[k] = d.dimension;
	}
	return 0;
}

static uint64_t ns_of_us(uint64_t us)
{
	return us > UINT64_MAX / 1000 ? UINT64_MAX : us * 1000;
}

int nnb_packet_result_parse(struct nnb_result *ret, uint32_t room, const struct nnb_fmq_tx *tx,
                            struct nnb_reason *reason)
{
	struct cursor c = cursor_of(tx);
	struct nnb_result_datum head, last;
	struct nnb_output_shape unwanted;
	size_t n = tx_datums(tx);

	if (!take_result(&c, NNB_RESULT_PACKET, &head))
		return MALFORMED(reason, "the packet does not begin with its head");
	if (head.packet.size != n)
		return MALFORMED(reason, "%zu datums, but the head states %u", n, head.packet.size);
	if (head.packet.status > NNB_STATUS_DEAD_OBJECT)
		return MALFORMED(reason, "status %u is out of range", head.packet.status);
	if (head.packet.n_operands > room)
		return MALFORMED(reason, "%u outputs, but the model has %u", head.packet.n_operands, room);
	for (uint32_t i = 0; i < head.packet.n_operands; i++) {
		int r = parse_shape(&c, ret->shapes ? &ret->shapes[i] : &unwanted, i, reason);

		if (r)
			return r;
	}
	if (!take_result(&c, NNB_RESULT_TIMING, &last))
		return MALFORMED(reason, "the timing is missing");
	if (!cursor_at_end(&c))
		return MALFORMED(reason, "datums follow the end of the packet");
	ret->status = (enum nnb_status)head.packet.status;
	ret->n_shapes = head.packet.n_operands;
	ret->timing = (struct nnb_timing){ ns_of_us(last.timing.on_device_us), ns_of_us(last.timing.in_driver_us) };
	return 0;
}
