/*
 * test_packet.c -- requests and results as datums: building, parsing, and malformed packets.
 *
 * Packets lie in memory of exactly their size, in one region or in two, as where the ring wraps; so a
 * sanitizer sees a read beyond them. Packets are built over bytes of 0xff.
 */
#include "unit/fmq_helpers.h"

#include "nnb/packet.h"

enum { DATUM = 24, MOST = 64 /* datums of any packet here */ };

enum { WITH_DIMENSIONS = 4, TOO_SMALL = 4 }; /* places of a request and of a result that several tests use */

/* ---- transactions ---- */

/* @n datums, the first @at of them in the first region. */
static struct nnb_fmq_tx tx_new(size_t n, size_t at)
{
	struct nnb_fmq_tx tx = { .first = { malloc(at * DATUM + !at), at }, .elem_size = DATUM };

	if (at < n)
		tx.second = (struct nnb_fmq_region){ malloc((n - at) * DATUM), n - at };
	memset(tx.first.base, 0xff, at * DATUM);
	if (tx.second.base)
		memset(tx.second.base, 0xff, (n - at) * DATUM);
	return tx;
}

static struct nnb_fmq_tx tx_of(const void *datums, size_t n, size_t at)
{
	struct nnb_fmq_tx tx = tx_new(n, at);

	assert_true(n == 0 || nnb_fmq_tx_copy_to(&tx, datums, 0, n));
	return tx;
}

static void tx_free(struct nnb_fmq_tx *tx)
{
	free(tx->first.base);
	free(tx->second.base);
}

/* ---- the HAL's numbers ---- */

static void datums_have_the_layout_of_the_manual(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct nnb_request_datum), DATUM);
	assert_int_equal(sizeof(struct nnb_result_datum), DATUM);
	assert_int_equal(offsetof(struct nnb_request_datum, packet.size), 4);
	assert_int_equal(offsetof(struct nnb_request_datum, packet.n_pools), 16);
	assert_int_equal(offsetof(struct nnb_request_datum, operand.no_value), 4);
	assert_int_equal(offsetof(struct nnb_request_datum, operand.pool), 8);
	assert_int_equal(offsetof(struct nnb_request_datum, operand.offset), 12);
	assert_int_equal(offsetof(struct nnb_request_datum, operand.length), 16);
	assert_int_equal(offsetof(struct nnb_request_datum, operand.rank), 20);
	assert_int_equal(offsetof(struct nnb_request_datum, dimension), 4);
	assert_int_equal(offsetof(struct nnb_request_datum, slot), 4);
	assert_int_equal(offsetof(struct nnb_request_datum, measure), 4);
	assert_int_equal(offsetof(struct nnb_request_datum, terms.deadline_low), 4);
	assert_int_equal(offsetof(struct nnb_request_datum, terms.deadline_high), 8);
	assert_int_equal(offsetof(struct nnb_request_datum, terms.loop_low), 12);
	assert_int_equal(offsetof(struct nnb_request_datum, terms.loop_high), 16);
	assert_int_equal(offsetof(struct nnb_result_datum, packet.size), 8);
	assert_int_equal(offsetof(struct nnb_result_datum, packet.n_operands), 16);
	assert_int_equal(offsetof(struct nnb_result_datum, operand.sufficient), 8);
	assert_int_equal(offsetof(struct nnb_result_datum, operand.rank) -
	                         offsetof(struct nnb_result_datum, operand.sufficient),
	                 4); /* section 2.3 */
	assert_int_equal(offsetof(struct nnb_result_datum, dimension), 8);
	assert_int_equal(offsetof(struct nnb_result_datum, timing.on_device_us), 8);
	assert_int_equal(offsetof(struct nnb_result_datum, timing.in_driver_us), 16);
}

/* ---- requests that can be ---- */

static const struct nnb_argument scalar = { .location = { 0, 0, 4 } };
static const struct nnb_argument omitted = { .no_value = true };
static const struct nnb_argument matrix = { .location = { 1, 64, 24 }, .rank = 2, .dims = { 2, 3 } };
static const struct nnb_argument extreme = { .location = { UINT32_MAX, UINT32_MAX, UINT32_MAX },
	                                     .rank = NNB_RANK_MAX,
	                                     .dims = { 0, 1, UINT32_MAX, 3, 4, 5, 6, 7 } };

static const struct request_case {
	const char *name;
	uint32_t n_inputs, n_outputs, n_pools;
	const struct nnb_argument *inputs[4], *outputs[4];
	int32_t slots[4];
	bool measure;
	size_t size; /* B-10 */
	struct nnb_terms terms;
} requests[] = {
	{ "nothing at all", 0, 0, 0, .size = 2 },
	{ "nothing, measured", 0, 0, 0, .measure = true, .size = 2 },
	{ "one of each", 1, 1, 1, { &scalar }, { &scalar }, { 0 }, .size = 5 },
	{ "an omitted input", 2, 1, 1, { &scalar, &omitted }, { &scalar }, { 3 }, true, .size = 6 },
	[WITH_DIMENSIONS] = { "dimensions",
	                      2,
	                      2,
	                      2,
	                      { &matrix, &scalar },
	                      { &matrix, &matrix },
	                      { 1, 0 },
	                      true,
	                      .size = 14 },
	{ "one memory twice (S-3)", 1, 1, 2, { &scalar }, { &matrix }, { 7, 7 }, .size = 8 },
	{ "the largest numbers", 1, 1, 3, { &extreme }, { &extreme }, { INT32_MAX, 1, 2 }, .size = 23 },
	{ "slots that are none (B-19)", 0, 0, 4, .slots = { -1, INT32_MIN, INT32_MAX, 0 }, true, .size = 6 },
	{ "outputs alone", 0, 3, 0, .outputs = { &matrix, &scalar, &matrix }, .size = 9 },
	{ "inputs alone", 4, 0, 1, { &omitted, &omitted, &omitted, &matrix }, .slots = { 9 }, .size = 9 },
	{ "nothing, by a deadline", 0, 0, 0, .size = 3, .terms = { 1, 0 } },
	{ "a deadline", 1, 1, 1, { &scalar }, { &scalar }, { 0 }, .size = 6, .terms = { UINT64_C(1) << 32, 0 } },
	{ "a loop's timeout", 1, 1, 1, { &scalar }, { &matrix }, { 4 }, true, 8, { 0, 1 } },
	{ "the largest terms", 1, 0, 0, { &matrix }, .size = 6, .terms = { UINT64_MAX, UINT64_MAX } },
	{ "terms with halves that differ",
	  0,
	  0,
	  1,
	  .slots = { 1 },
	  true,
	  4,
	  { UINT64_C(1) << 32 | 2, UINT64_C(3) << 32 | 4 } },
};

struct request_memory {
	struct nnb_argument inputs[4], outputs[4];
	struct nnb_request request;
};

static const struct nnb_request *request_of(const struct request_case *c, struct request_memory *m)
{
	*m = (struct request_memory){ .request = { .inputs = m->inputs,
		                                   .outputs = m->outputs,
		                                   .n_inputs = c->n_inputs,
		                                   .n_outputs = c->n_outputs,
		                                   .n_pools = c->n_pools } };
	for (uint32_t i = 0; i < c->n_inputs; i++)
		m->inputs[i] = *c->inputs[i];
	for (uint32_t i = 0; i < c->n_outputs; i++)
		m->outputs[i] = *c->outputs[i];
	return &m->request;
}

/* B-13 wants every byte zero that is not a field of the datum's kind. */
static bool is_sanitized(const struct nnb_request_datum *d)
{
	static const uint8_t fields[][DATUM] = {
		/* 1: a field is there */
		[NNB_REQUEST_PACKET] = { [4 ... 19] = 1 },          [NNB_REQUEST_INPUT] = { [4] = 1, [8 ... 23] = 1 },
		[NNB_REQUEST_INPUT_DIMENSION] = { [4 ... 7] = 1 },  [NNB_REQUEST_OUTPUT] = { [4] = 1, [8 ... 23] = 1 },
		[NNB_REQUEST_OUTPUT_DIMENSION] = { [4 ... 7] = 1 }, [NNB_REQUEST_SLOT] = { [4 ... 7] = 1 },
		[NNB_REQUEST_MEASURE] = { [4 ... 7] = 1 },          [NNB_REQUEST_TERMS] = { [4 ... 19] = 1 }
	};
	unsigned char bytes[DATUM];

	assert_true(d->kind <= NNB_REQUEST_TERMS);
	memcpy(bytes, d, DATUM);
	for (size_t i = 1; i < DATUM; i++)
		if (!fields[d->kind][i] && bytes[i])
			return false;
	return true;
}

static void expect_argument(const struct nnb_argument *got, const struct nnb_argument *want)
{
	assert_int_equal(got->no_value, want->no_value);
	assert_memory_equal(&got->location, &want->location, sizeof(want->location));
	assert_int_equal(got->rank, want->rank);
	assert_memory_equal(got->dims, want->dims, want->rank * sizeof(*want->dims));
}

static void expect_request(const struct nnb_packet_request *got, const struct request_case *c)
{
	assert_int_equal(got->n_inputs, c->n_inputs);
	assert_int_equal(got->n_outputs, c->n_outputs);
	assert_int_equal(got->n_slots, c->n_pools);
	assert_int_equal(got->measure, c->measure);
	for (uint32_t i = 0; i < c->n_inputs; i++)
		expect_argument(&got->inputs[i], c->inputs[i]);
	for (uint32_t i = 0; i < c->n_outputs; i++)
		expect_argument(&got->outputs[i], c->outputs[i]);
	assert_memory_equal(got->slots, c->slots, c->n_pools * sizeof(*c->slots));
	assert_memory_equal(&got->terms, &c->terms, sizeof(c->terms));
}

/* Wherever the ring wraps, the datums are the same and sanitised, and parsing gives the request back. */
static void a_request_goes_there_and_back(void **state)
{
	const struct request_case *c = *state;
	struct nnb_request_datum whole[MOST], split[MOST];
	struct nnb_packet_request parsed;
	struct request_memory m;
	const struct nnb_request *r = request_of(c, &m);
	struct nnb_reason reason = { "" };

	assert_int_equal(nnb_packet_request_size(r, &c->terms), c->size);
	assert_int_equal(nnb_packet_request_init(&parsed, c->size), 0);
	assert_false(parsed.extended);
	parsed.extended = true;
	for (size_t at = c->size; at > 0; at--) {
		struct nnb_fmq_tx tx = tx_new(c->size, at);

		nnb_packet_request_build(&tx, r, c->slots, c->measure, &c->terms);
		assert_true(nnb_fmq_tx_copy_from(&tx, split, 0, c->size));
		if (at == c->size)
			memcpy(whole, split, c->size * DATUM);
		assert_memory_equal(split, whole, c->size * DATUM);
		if (nnb_packet_request_parse(&parsed, &tx, &reason))
			fail_msg("%s", reason.text);
		expect_request(&parsed, c);
		tx_free(&tx);
	}
	for (size_t i = 0; i < c->size; i++)
		assert_true(is_sanitized(&whole[i]));
	nnb_packet_request_fini(&parsed);
}

/* HIDL's bursts have no terms. */
static void terms_are_taken_where_they_were_agreed_on_only(void **state)
{
	const struct request_case *c = *state;
	bool any = c->terms.deadline_ns || c->terms.loop_timeout_ns;
	struct nnb_fmq_tx tx = tx_new(c->size, c->size);
	struct nnb_packet_request parsed;
	struct request_memory m;

	nnb_packet_request_build(&tx, request_of(c, &m), c->slots, c->measure, &c->terms);
	assert_int_equal(nnb_packet_request_init(&parsed, c->size), 0);
	assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), any ? -EBADMSG : 0);
	nnb_packet_request_fini(&parsed);
	tx_free(&tx);
}

static void no_terms_are_the_same_as_terms_of_zeroes(void **state)
{
	const struct request_case *c = *state;
	const struct nnb_terms none = { 0 };
	struct request_memory m;
	const struct nnb_request *r = request_of(c, &m);
	size_t n = nnb_packet_request_size(r, NULL);
	struct nnb_fmq_tx tx = tx_new(n, n), other = tx_new(n, n);

	assert_int_equal(nnb_packet_request_size(r, &none), n);
	nnb_packet_request_build(&tx, r, c->slots, c->measure, NULL);
	nnb_packet_request_build(&other, r, c->slots, c->measure, &none);
	assert_memory_equal(tx.first.base, other.first.base, n * DATUM);
	tx_free(&tx);
	tx_free(&other);
}

/* B-10, datum by datum. */
static void a_request_is_in_the_order_of_the_hal(void **state)
{
	const struct nnb_request_datum want[] = {
		{ .kind = 0, .packet = { 15, 2, 2, 2 } },
		{ .kind = 1, .operand = { 0, { 0 }, 1, 64, 24, 2 } },
		{ .kind = 2, .dimension = 2 },
		{ .kind = 2, .dimension = 3 },
		{ .kind = 1, .operand = { 0, { 0 }, 0, 0, 4, 0 } },
		{ .kind = 3, .operand = { 0, { 0 }, 1, 64, 24, 2 } },
		{ .kind = 4, .dimension = 2 },
		{ .kind = 4, .dimension = 3 },
		{ .kind = 3, .operand = { 0, { 0 }, 1, 64, 24, 2 } },
		{ .kind = 4, .dimension = 2 },
		{ .kind = 4, .dimension = 3 },
		{ .kind = 5, .slot = 1 },
		{ .kind = 5, .slot = 0 },
		{ .kind = 6, .measure = 1 },
		{ .kind = 7, .terms = { 2, 1, 4, 3 } },
	};
	const struct nnb_terms terms = { UINT64_C(1) << 32 | 2, UINT64_C(3) << 32 | 4 };
	const struct request_case *c = &requests[WITH_DIMENSIONS];
	struct nnb_fmq_tx tx = tx_new(N_OF(want), N_OF(want));
	struct request_memory m;

	(void)state;
	nnb_packet_request_build(&tx, request_of(c, &m), c->slots, c->measure, &terms);
	for (size_t i = 0; i < N_OF(want); i++)
		assert_memory_equal((char *)tx.first.base + i * DATUM, &want[i], DATUM);
	tx_free(&tx);
}

/* ---- spoiling ---- */

enum edit {
	AS_IT_IS,
	KIND,   /* the kind of datum @at becomes @value */
	SET,    /* the four bytes at @offset of datum @at */
	REMOVE, /* datum @at; the head still has the old size */
	REMOVE_AND_SAY,
	INSERT, /* a copy of datum @at, after it */
	INSERT_AND_SAY,
	CUT, /* from datum @at on */
	CUT_AND_SAY,
};

struct spoilt {
	const char *name;
	enum edit edit;
	size_t at, offset;
	uint32_t value;
	const char *words; /* NULL: the packet is well-formed all the same */
};

/* Change the packet of @n datums. Its size is at @size_at of the first datum. Returns its new length. */
static size_t spoil(unsigned char *datums, size_t n, size_t size_at, const struct spoilt *s)
{
	unsigned char *at = datums + s->at * DATUM;
	size_t behind = (n - s->at - 1) * DATUM;
	uint32_t size;

	switch (s->edit) {
	case AS_IT_IS:
		break;
	case KIND:
		*at = (unsigned char)s->value;
		break;
	case SET:
		memcpy(at + s->offset, &s->value, 4);
		break;
	case REMOVE:
	case REMOVE_AND_SAY:
		memmove(at, at + DATUM, behind);
		n--;
		break;
	case INSERT:
	case INSERT_AND_SAY:
		memmove(at + DATUM, at, behind + DATUM);
		n++;
		break;
	case CUT:
	case CUT_AND_SAY:
		n = s->at;
		break;
	}
	size = (uint32_t)n;
	if (s->edit == REMOVE_AND_SAY || s->edit == INSERT_AND_SAY || s->edit == CUT_AND_SAY)
		memcpy(datums + size_at, &size, 4);
	return n;
}

/* ---- malformed requests: B-17 ---- */

#define FIELD(f) offsetof(struct nnb_request_datum, f)

/*
 * 0 PACKET 9: 2 inputs, 1 output, 1 pool
 * 1 INPUT rank 2, 2 and 3 its dimensions; 4 INPUT omitted; 5 OUTPUT rank 1, 6 its dimension; 7 SLOT; 8 MEASURE
 */
static size_t good_request(struct nnb_request_datum *ret)
{
	const struct nnb_argument in[] = { matrix, omitted };
	const struct nnb_argument out = { .location = { 0, 0, 8 }, .rank = 1, .dims = { 2 } };
	const struct nnb_request r = { .inputs = in, .outputs = &out, .n_inputs = 2, .n_outputs = 1, .n_pools = 1 };
	size_t n = nnb_packet_request_size(&r, NULL);
	struct nnb_fmq_tx tx = tx_new(n, n);

	nnb_packet_request_build(&tx, &r, &(int32_t){ 5 }, true, NULL);
	memcpy(ret, tx.first.base, n * DATUM);
	tx_free(&tx);
	return n;
}

/* The same, with TERMS as 9. */
static size_t good_extended_request(struct nnb_request_datum *ret)
{
	size_t n = good_request(ret);

	ret[n] = (struct nnb_request_datum){ .kind = NNB_REQUEST_TERMS, .terms = { 1, 2, 3, 4 } };
	ret[0].packet.size = (uint32_t)n + 1;
	return n + 1;
}

static const struct spoilt bad_requests[] = {
	/* 1 */
	{ "empty", CUT, 0, .words = "it is empty" },
	{ "the first datum is an input", KIND, 0, .value = 1, .words = "does not begin" },
	{ "the first datum is of no kind", KIND, 0, .value = 7, .words = "does not begin" },
	{ "the first datum is of the largest kind", KIND, 0, .value = 255, .words = "does not begin" },
	{ "the first datum is missing", REMOVE, 0, .words = "does not begin" },
	/* 2 */
	{ "it says one more than there are", SET, 0, FIELD(packet.size), 10, "9 datums, but the head states 10" },
	{ "it says one less than there are", SET, 0, FIELD(packet.size), 8, "9 datums, but the head states 8" },
	{ "it says none", SET, 0, FIELD(packet.size), 0, "9 datums, but the head states 0" },
	{ "it says 2^32 - 1", SET, 0, FIELD(packet.size), UINT32_MAX, "9 datums, but the head states 4294967295" },
	{ "one datum is missing", REMOVE, 8, .words = "8 datums, but the head states 9" },
	{ "one datum is too many", INSERT, 8, .words = "10 datums, but the head states 9" },
	/* 3 */
	{ "the first input is an output", KIND, 1, .value = 3, .words = "input 0 is missing" },
	{ "the second input is a dimension", KIND, 4, .value = 2, .words = "input 1 is missing" },
	{ "the second input is not there", REMOVE_AND_SAY, 4, .words = "input 1 is missing" },
	{ "three inputs are said", SET, 0, FIELD(packet.n_inputs), 3, "input 2 is missing" },
	{ "one input is said", SET, 0, FIELD(packet.n_inputs), 1, "output 0 is missing" },
	{ "an input's dimension is an output's", KIND, 2, .value = 4, .words = "input 0: dimension 0 is missing" },
	{ "an input's dimension is a slot", KIND, 3, .value = 5, .words = "input 0: dimension 1 is missing" },
	{ "an input's dimension is not there", REMOVE_AND_SAY, 3, .words = "input 0: dimension 1 is missing" },
	{ "an input's dimension is there twice", INSERT_AND_SAY, 2, .words = "input 1 is missing" },
	{ "an input's rank is one less", SET, 1, FIELD(operand.rank), 1, "input 1 is missing" },
	{ "an input's rank is one more", SET, 1, FIELD(operand.rank), 3, "input 0: dimension 2 is missing" },
	{ "an omitted input has a rank", SET, 4, FIELD(operand.rank), 1, "input 1: dimension 0 is missing" },
	{ "an input's rank is 2^32 - 1", SET, 1, FIELD(operand.rank), UINT32_MAX, "input 0: dimension 2 is missing" },
	{ "an input's rank is 2^31", SET, 1, FIELD(operand.rank), 1u << 31, "input 0: dimension 2 is missing" },
	/* 4 */
	{ "the output is an input", KIND, 5, .value = 1, .words = "output 0 is missing" },
	{ "the output is not there", REMOVE_AND_SAY, 5, .words = "output 0 is missing" },
	{ "two outputs are said", SET, 0, FIELD(packet.n_outputs), 2, "output 1 is missing" },
	{ "no outputs are said", SET, 0, FIELD(packet.n_outputs), 0, "slot 0 is missing" },
	{ "an output's dimension is an input's", KIND, 6, .value = 2, .words = "output 0: dimension 0 is missing" },
	{ "an output's dimension is not there", REMOVE_AND_SAY, 6, .words = "output 0: dimension 0 is missing" },
	{ "an output's rank is 2^32 - 1", SET, 5, FIELD(operand.rank), UINT32_MAX, "output 0: dimension 1 is missing" },
	/* 5 */
	{ "the slot is a measure", KIND, 7, .value = 6, .words = "slot 0 is missing" },
	{ "the slot is not there", REMOVE_AND_SAY, 7, .words = "slot 0 is missing" },
	{ "two pools are said", SET, 0, FIELD(packet.n_pools), 2, "slot 1 is missing" },
	{ "no pools are said", SET, 0, FIELD(packet.n_pools), 0, "the datum MEASURE is missing" },
	/* 6 */
	{ "the measure is a slot", KIND, 8, .value = 5, .words = "the datum MEASURE is missing" },
	{ "the measure is of no kind", KIND, 8, .value = 7, .words = "the datum MEASURE is missing" },
	{ "the measure is not there", REMOVE_AND_SAY, 8, .words = "the datum MEASURE is missing" },
	{ "the slot is there twice", INSERT_AND_SAY, 7, .words = "the datum MEASURE is missing" },
	/* 7 */
	{ "the measure is there twice", INSERT_AND_SAY, 8, .words = "datums follow the end of the packet" },
	/* Counts that must neither make the parser allocate, nor wrap. */
	{ "2^32 - 1 inputs", SET, 0, FIELD(packet.n_inputs), UINT32_MAX, "than datums" },
	{ "2^32 - 1 outputs", SET, 0, FIELD(packet.n_outputs), UINT32_MAX, "than datums" },
	{ "2^32 - 1 pools", SET, 0, FIELD(packet.n_pools), UINT32_MAX, "than datums" },
	{ "2^32 - 3 inputs: all counts together are 0", SET, 0, FIELD(packet.n_inputs), UINT32_MAX - 3, "than datums" },
	/* Values that the parser does not judge (B-19). */
	{ "as it is", AS_IT_IS },
	{ "a slot below zero", SET, 7, FIELD(slot), UINT32_MAX },
	{ "measure 2", SET, 8, FIELD(measure), 2 },
	{ "measure 2^32 - 1", SET, 8, FIELD(measure), UINT32_MAX },
	{ "a pool there is none of", SET, 1, FIELD(operand.pool), 99 },
	{ "an omitted input that lies somewhere", SET, 4, FIELD(operand.offset), 99 },
	{ "dimension 0", SET, 2, FIELD(dimension), 0 },
	{ "padding that is not zero", SET, 7, 20, UINT32_MAX },
};

/* Where terms have been agreed on. */
static const struct spoilt bad_extended_requests[] = {
	{ "as it is", AS_IT_IS },
	{ "without terms", REMOVE_AND_SAY, 9 },
	{ "terms are missing", REMOVE, 9, .words = "9 datums, but the head states 10" },
	{ "terms are there twice", INSERT_AND_SAY, 9, .words = "datums follow the end of the packet" },
	{ "the measure is there twice", INSERT_AND_SAY, 8, .words = "datums follow the end of the packet" },
	{ "a measure in the place of terms", KIND, 9, .value = 6, .words = "datums follow the end of the packet" },
	{ "terms of no kind", KIND, 9, .value = 8, .words = "datums follow the end of the packet" },
	{ "terms in the place of the measure", KIND, 8, .value = 7, .words = "the datum MEASURE is missing" },
	{ "terms without a measure", REMOVE_AND_SAY, 8, .words = "the datum MEASURE is missing" },
	{ "terms in the place of a slot", KIND, 7, .value = 7, .words = "slot 0 is missing" },
	{ "terms alone", REMOVE, 0, .words = "does not begin" },
	{ "terms first", KIND, 0, .value = 7, .words = "does not begin" },
	{ "terms that end a packet of more", SET, 0, FIELD(packet.size), 11, "10 datums, but the head states 11" },
	{ "terms with no lower halves", SET, 9, FIELD(terms.deadline_low), 0 },
	{ "padding that is not zero", SET, 9, 20, UINT32_MAX },
};

static void expect_parse(const void *datums, size_t n, bool extended, const char *words)
{
	struct nnb_packet_request parsed;

	assert_int_equal(nnb_packet_request_init(&parsed, MOST), 0);
	parsed.extended = extended;
	for (size_t at = n; at || n == 0; at--) {
		struct nnb_fmq_tx tx = tx_of(datums, n, at);
		struct nnb_reason reason = { "" };
		int r = nnb_packet_request_parse(&parsed, &tx, &reason);

		tx_free(&tx);
		if (words && !strstr(reason.text, words))
			fail_msg("split at %zu: '%s' does not say '%s'", at, reason.text, words);
		if (r != (words ? -EBADMSG : 0))
			fail_msg("split at %zu: %d: %s", at, r, reason.text);
		if (!n)
			break;
	}
	nnb_packet_request_fini(&parsed);
}

static void a_request_is_judged(void **state)
{
	const struct spoilt *s = *state;
	struct nnb_request_datum datums[MOST];
	size_t n = good_request(datums);

	n = spoil((unsigned char *)datums, n, FIELD(packet.size), s);
	expect_parse(datums, n, false, s->words);
}

/* A malformed packet is malformed with terms, too. */
static void an_extended_request_is_judged(void **state)
{
	const struct spoilt *s = *state;
	struct nnb_request_datum datums[MOST];
	size_t n = good_extended_request(datums);

	n = spoil((unsigned char *)datums, n, FIELD(packet.size), s);
	expect_parse(datums, n, true, s->words);
}

static void terms_that_say_nothing_are_malformed(void **state)
{
	struct nnb_request_datum datums[MOST];
	size_t n = good_extended_request(datums);

	(void)state;
	for (int i = 0; i < 4; i++) {
		datums[n - 1] = (struct nnb_request_datum){ .kind = NNB_REQUEST_TERMS };
		expect_parse(datums, n, true, "terms without a deadline or a loop timeout");
		datums[n - 1].words[i] = 1;
		expect_parse(datums, n, true, NULL);
	}
	datums[n - 1] = (struct nnb_request_datum){ .kind = NNB_REQUEST_TERMS, .words = { [4] = 1 } };
	expect_parse(datums, n, true, "terms without a deadline or a loop timeout");
}

static void a_request_cut_anywhere_is_malformed(void **state)
{
	struct nnb_request_datum datums[MOST];
	size_t n = good_request(datums);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (int say = 0; say < 2; say++) {
			struct spoilt s = { .edit = say ? CUT_AND_SAY : CUT, .at = i };

			good_request(datums);
			expect_parse(datums, spoil((unsigned char *)datums, n, FIELD(packet.size), &s), false, "");
		}
}

static void a_datum_of_any_other_kind_is_malformed(void **state)
{
	struct nnb_request_datum datums[MOST];
	size_t n = good_request(datums);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (unsigned kind = 0; kind < 256; kind++) {
			uint8_t right = datums[i].kind;

			datums[i].kind = (uint8_t)kind;
			expect_parse(datums, n, false, kind == right ? NULL : "");
			datums[i].kind = right;
		}
}

static void a_request_with_no_words_asked_for_is_judged_too(void **state)
{
	struct nnb_packet_request parsed;
	struct nnb_request_datum datums[MOST];
	size_t n = good_request(datums);
	struct nnb_fmq_tx tx = tx_of(datums, n - 1, n - 1);

	(void)state;
	assert_int_equal(nnb_packet_request_init(&parsed, n), 0);
	assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), -EBADMSG);
	tx_free(&tx);
	nnb_packet_request_fini(&parsed);
}

static void a_request_of_more_datums_than_room_is_refused(void **state)
{
	struct nnb_packet_request parsed;
	struct nnb_request_datum datums[MOST];
	struct nnb_reason reason = { "" };
	size_t n = good_request(datums);
	struct nnb_fmq_tx tx = tx_of(datums, n, n);

	(void)state;
	assert_int_equal(nnb_packet_request_init(&parsed, n - 1), 0);
	assert_int_equal(nnb_packet_request_parse(&parsed, &tx, &reason), -EBADMSG);
	assert_non_null(strstr(reason.text, "room for 8"));
	nnb_packet_request_fini(&parsed);
	tx_free(&tx);
	nnb_packet_request_fini(&(struct nnb_packet_request){ 0 });
}

/* B-19: the executor refuses it, not the parser; the parser still finds the datums behind. */
static void a_rank_beyond_the_largest_is_well_formed(void **state)
{
	enum { RANK = 20, N = 2 + 1 + RANK + 1 + 1 };
	struct nnb_request_datum datums[N] = { { .kind = 0, .packet = { N, 1, 1, 1 } }, { .kind = 1 } };
	struct nnb_packet_request parsed;
	struct nnb_fmq_tx tx;

	(void)state;
	datums[1].operand.rank = RANK;
	for (uint32_t i = 0; i < RANK; i++)
		datums[2 + i] = (struct nnb_request_datum){ .kind = 2, .dimension = 100 + i };
	datums[N - 3] = (struct nnb_request_datum){ .kind = 3, .operand = { .offset = 77 } };
	datums[N - 2] = (struct nnb_request_datum){ .kind = 5, .slot = 8 };
	datums[N - 1] = (struct nnb_request_datum){ .kind = 6, .measure = 1 };
	tx = tx_of(datums, N, 11);
	assert_int_equal(nnb_packet_request_init(&parsed, N), 0);
	assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), 0);
	assert_int_equal(parsed.inputs[0].rank, RANK);
	for (uint32_t i = 0; i < NNB_RANK_MAX; i++)
		assert_int_equal(parsed.inputs[0].dims[i], 100 + i);
	assert_int_equal(parsed.outputs[0].location.offset, 77);
	assert_int_equal(parsed.slots[0], 8);
	assert_int_equal(parsed.measure, 1);
	nnb_packet_request_fini(&parsed);
	tx_free(&tx);
}

/* The largest packet, and one that is parsed after it with the same lists. */
static void a_packet_of_slots_alone_fills_all_the_room(void **state)
{
	enum { N = 1024 };
	struct nnb_packet_request parsed;
	struct nnb_request r = { .n_pools = N - 2 };
	struct nnb_fmq_tx tx = tx_new(N, 1000);
	int32_t *slots = calloc(r.n_pools, sizeof(*slots));

	(void)state;
	assert_non_null(slots);
	for (uint32_t i = 0; i < r.n_pools; i++)
		slots[i] = (int32_t)(r.n_pools - i);
	assert_int_equal(nnb_packet_request_size(&r, NULL), N);
	nnb_packet_request_build(&tx, &r, slots, false, NULL);
	assert_int_equal(nnb_packet_request_init(&parsed, N), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), 0);
		assert_int_equal(parsed.n_slots, N - 2);
		assert_memory_equal(parsed.slots, slots, r.n_pools * sizeof(*slots));
	}
	nnb_packet_request_fini(&parsed);
	tx_free(&tx);
	free(slots);
}

/* A repeat of the last packet counts as no change; a malformed packet, or another one, does not. */
static void a_repeated_request_is_no_change(void **state)
{
	struct nnb_packet_request parsed;
	struct nnb_request_datum datums[MOST];
	struct request_memory m;
	const struct request_case *c = &requests[WITH_DIMENSIONS];
	struct nnb_fmq_tx other = tx_new(c->size, 3), tx;
	size_t n = good_request(datums);
	uint64_t changes;

	(void)state;
	nnb_packet_request_build(&other, request_of(c, &m), c->slots, c->measure, NULL);
	assert_int_equal(nnb_packet_request_init(&parsed, MOST), 0);
	for (size_t at = n; at > 0; at--) {
		tx = tx_of(datums, n, at);
		assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), 0);
		changes = parsed.changes;
		assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), 0);
		assert_true(parsed.changes == changes);
		assert_int_equal(nnb_packet_request_parse(&parsed, &other, NULL), 0);
		expect_request(&parsed, c);
		assert_true(parsed.changes > changes);
		tx_free(&tx);
		changes = parsed.changes;
		tx = tx_of(datums, n - 1, at < n ? at : n - 1);
		assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), -EBADMSG);
		assert_int_equal(nnb_packet_request_parse(&parsed, &tx, NULL), -EBADMSG);
		assert_int_equal(nnb_packet_request_parse(&parsed, &other, NULL), 0);
		expect_request(&parsed, c);
		assert_true(parsed.changes > changes);
		tx_free(&tx);
	}
	tx_free(&other);
	nnb_packet_request_fini(&parsed);
}

/* Each parse of the packet gives the same request, with these terms. */
static void expect_terms(struct nnb_packet_request *parsed, const struct nnb_fmq_tx *tx, uint64_t deadline,
                         uint64_t changes)
{
	assert_int_equal(nnb_packet_request_parse(parsed, tx, NULL), 0);
	assert_true(parsed->terms.deadline_ns == deadline);
	assert_true(parsed->changes == changes);
	assert_int_equal(parsed->n_inputs, 2);
	assert_int_equal(parsed->slots[0], 5);
}

/* Executors look at the changes, so a new deadline for each frame must cost less than the frame. */
static void a_request_with_other_terms_only_is_no_change(void **state)
{
	struct nnb_packet_request parsed;
	struct nnb_request_datum datums[MOST], bare[MOST];
	size_t n = good_extended_request(datums), n_bare = good_request(bare);
	struct nnb_fmq_tx tx, without = tx_of(bare, n_bare, n_bare);

	(void)state;
	for (size_t at = n; at > 0; at--) {
		assert_int_equal(nnb_packet_request_init(&parsed, MOST), 0);
		parsed.extended = true;
		for (uint32_t i = 1; i < 4; i++) {
			datums[n - 1].terms.deadline_low = i;
			tx = tx_of(datums, n, at);
			expect_terms(&parsed, &tx, UINT64_C(2) << 32 | i, 1);
			expect_terms(&parsed, &tx, UINT64_C(2) << 32 | i, 1);
			tx_free(&tx);
		}
		expect_terms(&parsed, &without, 0, 2);
		tx = tx_of(datums, n, at);
		expect_terms(&parsed, &tx, UINT64_C(2) << 32 | 3, 3);
		tx_free(&tx);
		nnb_packet_request_fini(&parsed);
	}
	tx_free(&without);
}

/* A malformed packet stays malformed when it is like the last one. */
static void a_repeated_request_with_invalid_terms_is_malformed(void **state)
{
	static const struct nnb_request_datum none[] = { { .kind = NNB_REQUEST_TERMS },
		                                         { .kind = NNB_REQUEST_MEASURE, .measure = 1 },
		                                         { .kind = 8, .words = { 1 } } };
	struct nnb_packet_request parsed;
	struct nnb_request_datum datums[MOST], spoilt[MOST];
	size_t n = good_extended_request(datums);

	(void)state;
	assert_int_equal(nnb_packet_request_init(&parsed, MOST), 0);
	parsed.extended = true;
	for (size_t i = 0; i < N_OF(none); i++)
		for (size_t at = n; at > 0; at--) {
			struct nnb_fmq_tx good = tx_of(datums, n, at), bad;

			memcpy(spoilt, datums, sizeof(spoilt));
			spoilt[n - 1] = none[i];
			bad = tx_of(spoilt, n, at);
			assert_int_equal(nnb_packet_request_parse(&parsed, &good, NULL), 0);
			assert_int_equal(nnb_packet_request_parse(&parsed, &bad, NULL), -EBADMSG);
			assert_int_equal(nnb_packet_request_parse(&parsed, &bad, NULL), -EBADMSG);
			tx_free(&good);
			tx_free(&bad);
		}
	nnb_packet_request_fini(&parsed);
}

/* ---- results that can be ---- */

static const struct nnb_output_shape vector = { .rank = 1, .dims = { 9 }, .sufficient = true };
static const struct nnb_output_shape too_small = { .rank = 3, .dims = { 2, 0, UINT32_MAX } };
static const struct nnb_output_shape unknown = { .sufficient = true };
static const struct nnb_output_shape deep = { .rank = NNB_RANK_MAX, .dims = { 1, 2, 3, 4, 5, 6, 7, 8 } };

static const struct result_case {
	const char *name;
	enum nnb_status status;
	uint32_t n_shapes;
	const struct nnb_output_shape *shapes[4];
	struct nnb_timing timing;
	size_t size; /* B-12 */
} results[] = {
	{ "no shapes", NNB_STATUS_NONE, 0, { 0 }, { UINT64_MAX, UINT64_MAX }, 2 },
	{ "a failure", NNB_STATUS_GENERAL_FAILURE, 0, { 0 }, { UINT64_MAX, UINT64_MAX }, NNB_RESULT_MIN },
	{ "the last status", NNB_STATUS_DEAD_OBJECT, 0, { 0 }, { UINT64_MAX, UINT64_MAX }, 2 },
	{ "a shape", NNB_STATUS_NONE, 1, { &vector }, { 3000, 5000 }, 4 },
	[TOO_SMALL] = { "an output too small",
	                NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE,
	                2,
	                { &vector, &too_small },
	                { 0, 0 },
	                8 },
	{ "every rank's shape", NNB_STATUS_NONE, 4, { &unknown, &deep, &vector, &deep }, { 0, 1000 }, 23 },
};

static void fill_result(struct nnb_result *ret, struct nnb_output_shape *shapes, const struct result_case *c)
{
	*ret = (struct nnb_result){
		.status = c->status, .timing = c->timing, .shapes = shapes, .n_shapes = c->n_shapes
	};
	for (uint32_t i = 0; i < c->n_shapes; i++)
		shapes[i] = *c->shapes[i];
}

static bool result_is_sanitized(const struct nnb_result_datum *d)
{
	static const uint8_t fields[][DATUM] = { [NNB_RESULT_PACKET] = { [8 ... 19] = 1 },
		                                 [NNB_RESULT_OPERAND] = { [8] = 1, [12 ... 15] = 1 },
		                                 [NNB_RESULT_DIMENSION] = { [8 ... 11] = 1 },
		                                 [NNB_RESULT_TIMING] = { [8 ... 23] = 1 } };
	unsigned char bytes[DATUM];

	assert_true(d->kind <= NNB_RESULT_TIMING);
	memcpy(bytes, d, DATUM);
	for (size_t i = 1; i < DATUM; i++)
		if (!fields[d->kind][i] && bytes[i])
			return false;
	return true;
}

static void expect_result(const struct nnb_result *got, const struct result_case *c)
{
	assert_int_equal(got->status, c->status);
	assert_int_equal(got->n_shapes, c->n_shapes);
	assert_true(got->timing.on_device_ns == c->timing.on_device_ns);
	assert_true(got->timing.in_driver_ns == c->timing.in_driver_ns);
	for (uint32_t i = 0; got->shapes && i < c->n_shapes; i++) {
		assert_int_equal(got->shapes[i].sufficient, c->shapes[i]->sufficient);
		assert_int_equal(got->shapes[i].rank, c->shapes[i]->rank);
		assert_memory_equal(got->shapes[i].dims, c->shapes[i]->dims, c->shapes[i]->rank * sizeof(uint32_t));
	}
}

static void a_result_goes_there_and_back(void **state)
{
	const struct result_case *c = *state;
	struct nnb_result_datum whole[MOST], split[MOST];
	struct nnb_output_shape shapes[4], parsed_shapes[4];
	struct nnb_result r;

	fill_result(&r, shapes, c);
	assert_int_equal(nnb_packet_result_size(&r), c->size);
	for (size_t at = c->size; at > 0; at--) {
		struct nnb_result with = { .shapes = parsed_shapes }, without = { .shapes = NULL };
		struct nnb_fmq_tx tx = tx_new(c->size, at);

		nnb_packet_result_build(&tx, &r);
		assert_true(nnb_fmq_tx_copy_from(&tx, split, 0, c->size));
		if (at == c->size)
			memcpy(whole, split, c->size * DATUM);
		assert_memory_equal(split, whole, c->size * DATUM);
		assert_int_equal(nnb_packet_result_parse(&with, c->n_shapes, &tx, NULL), 0);
		expect_result(&with, c);
		assert_int_equal(nnb_packet_result_parse(&without, c->n_shapes, &tx, NULL), 0);
		assert_null(without.shapes);
		expect_result(&without, c);
		tx_free(&tx);
	}
	for (size_t i = 0; i < c->size; i++)
		assert_true(result_is_sanitized(&whole[i]));
}

/* B-12, datum by datum. */
static void a_result_is_in_the_order_of_the_hal(void **state)
{
	const struct nnb_result_datum want[] = {
		{ .kind = 0, .packet = { 8, NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE, 2, 0 } },
		{ .kind = 1, .operand = { 1, { 0 }, 1 } },
		{ .kind = 2, .dimension = 9 },
		{ .kind = 1, .operand = { 0, { 0 }, 3 } },
		{ .kind = 2, .dimension = 2 },
		{ .kind = 2, .dimension = 0 },
		{ .kind = 2, .dimension = UINT32_MAX },
		{ .kind = 3, .timing = { 0, 0 } },
	};
	struct nnb_fmq_tx tx = tx_new(N_OF(want), N_OF(want));
	struct nnb_output_shape shapes[4];
	struct nnb_result r;

	(void)state;
	fill_result(&r, shapes, &results[TOO_SMALL]);
	nnb_packet_result_build(&tx, &r);
	for (size_t i = 0; i < N_OF(want); i++)
		assert_memory_equal((char *)tx.first.base + i * DATUM, &want[i], DATUM);
	tx_free(&tx);
}

/* in microseconds, rounded up; a time that was not measured stays so. */
static const struct timing_case {
	const char *name;
	uint64_t built_ns, sent_us, parsed_ns;
} timings[] = {
	{ "no time", 0, 0, 0 },
	{ "1 ns is 1 us", 1, 1, 1000 },
	{ "999 ns are 1 us", 999, 1, 1000 },
	{ "1000 ns are 1 us", 1000, 1, 1000 },
	{ "1001 ns are 2 us", 1001, 2, 2000 },
	{ "an hour", UINT64_C(3600000000001), UINT64_C(3600000001), UINT64_C(3600000001000) },
	{ "not measured", UINT64_MAX, UINT64_MAX, UINT64_MAX },
	{ "the longest time", UINT64_MAX - 1, UINT64_MAX / 1000 + 1, UINT64_MAX },
};

static void timing_travels_in_microseconds(void **state)
{
	const struct timing_case *c = *state;
	struct nnb_fmq_tx tx = tx_new(2, 1);
	struct nnb_result r = { .timing = { c->built_ns, c->built_ns } }, parsed = { .status = NNB_STATUS_NONE };
	struct nnb_result_datum last;

	nnb_packet_result_build(&tx, &r);
	assert_true(nnb_fmq_tx_copy_from(&tx, &last, 1, 1));
	assert_true(last.timing.on_device_us == c->sent_us && last.timing.in_driver_us == c->sent_us);
	assert_int_equal(nnb_packet_result_parse(&parsed, 0, &tx, NULL), 0);
	assert_true(parsed.timing.on_device_ns == c->parsed_ns && parsed.timing.in_driver_ns == c->parsed_ns);
	tx_free(&tx);
}

/* ---- malformed results ---- */

#define RESULT_FIELD(f) offsetof(struct nnb_result_datum, f)

/* 0 PACKET 7: 2 operands; 1 OPERAND rank 2, 2 and 3 its dimensions; 4 OPERAND rank 1, 5 its dimension; 6 TIMING */
static size_t good_result(struct nnb_result_datum *ret)
{
	struct nnb_output_shape shapes[] = { { 2, { 4, 5 }, true }, { 1, { 6 }, true } };
	const struct nnb_result r = { .timing = { 1, 2 }, .shapes = shapes, .n_shapes = 2 };
	size_t n = nnb_packet_result_size(&r);
	struct nnb_fmq_tx tx = tx_new(n, n);

	nnb_packet_result_build(&tx, &r);
	memcpy(ret, tx.first.base, n * DATUM);
	tx_free(&tx);
	return n;
}

static const struct spoilt bad_results[] = {
	{ "empty", CUT, 0, .words = "does not begin" },
	{ "the first datum is a timing", KIND, 0, .value = 3, .words = "does not begin" },
	{ "the first datum is of no kind", KIND, 0, .value = 4, .words = "does not begin" },
	{ "it says one more than there are", SET, 0, RESULT_FIELD(packet.size), 8, "7 datums, but the head states 8" },
	{ "it says none", SET, 0, RESULT_FIELD(packet.size), 0, "7 datums, but the head states 0" },
	{ "it says 2^32 - 1", SET, 0, RESULT_FIELD(packet.size), UINT32_MAX,
	  "7 datums, but the head states 4294967295" },
	{ "one datum is missing", REMOVE, 6, .words = "6 datums, but the head states 7" },
	{ "one datum is too many", INSERT, 6, .words = "8 datums, but the head states 7" },
	{ "a status that is none", SET, 0, RESULT_FIELD(packet.status), 10, "status 10 is out of range" },
	{ "status 2^32 - 1", SET, 0, RESULT_FIELD(packet.status), UINT32_MAX, "is out of range" },
	{ "three shapes, where two are wanted", SET, 0, RESULT_FIELD(packet.n_operands), 3, "3 outputs" },
	{ "2^32 - 1 shapes", SET, 0, RESULT_FIELD(packet.n_operands), UINT32_MAX, "4294967295 outputs" },
	{ "one shape is said", SET, 0, RESULT_FIELD(packet.n_operands), 1, "timing is missing" },
	{ "a shape is a dimension", KIND, 1, .value = 2, .words = "output 0 is missing" },
	{ "a shape is not there", REMOVE_AND_SAY, 4, .words = "output 1 is missing" },
	{ "a dimension is a shape", KIND, 3, .value = 1, .words = "output 0: dimension 1 is missing" },
	{ "a dimension is not there", REMOVE_AND_SAY, 3, .words = "output 0: dimension 1 is missing" },
	{ "a dimension is there twice", INSERT_AND_SAY, 2, .words = "output 1 is missing" },
	{ "a rank is one more", SET, 1, RESULT_FIELD(operand.rank), 3, "output 0: dimension 2 is missing" },
	{ "a rank is one less", SET, 1, RESULT_FIELD(operand.rank), 1, "output 1 is missing" },
	{ "a rank beyond the largest", SET, 1, RESULT_FIELD(operand.rank), NNB_RANK_MAX + 1, "output 0: rank 9" },
	{ "rank 2^32 - 1", SET, 4, RESULT_FIELD(operand.rank), UINT32_MAX, "output 1: rank 4294967295" },
	{ "the timing is a dimension", KIND, 6, .value = 2, .words = "timing is missing" },
	{ "the timing is not there", REMOVE_AND_SAY, 6, .words = "timing is missing" },
	{ "the timing is there twice", INSERT_AND_SAY, 6, .words = "datums follow the end of the packet" },
	{ "as it is", AS_IT_IS },
	{ "padding that is not zero", SET, 2, 20, UINT32_MAX },
};

/* A malformed packet leaves the result as it was, with and without shapes. */
static void expect_result_parse(const void *datums, size_t n, const char *words)
{
	for (size_t at = n; at || n == 0; at--)
		for (int shapeless = 0; shapeless < 2; shapeless++) {
			struct nnb_output_shape shapes[2];
			struct nnb_result result = { .status = NNB_STATUS_DEVICE_UNAVAILABLE,
				                     .timing = { 11, 12 },
				                     .shapes = shapeless ? NULL : shapes,
				                     .n_shapes = 13 };
			struct nnb_result before = result;
			struct nnb_fmq_tx tx = tx_of(datums, n, at);
			struct nnb_reason reason = { "" };
			int r = nnb_packet_result_parse(&result, 2, &tx, &reason);

			tx_free(&tx);
			if (r != (words ? -EBADMSG : 0) || (words && !strstr(reason.text, words)))
				fail_msg("split at %zu: %d: '%s' does not say '%s'", at, r, reason.text,
				         words ? words : "");
			if (words)
				assert_memory_equal(&result, &before, sizeof(before));
			if (!n)
				return;
		}
}

static void a_result_is_judged(void **state)
{
	const struct spoilt *s = *state;
	struct nnb_result_datum datums[MOST];
	size_t n = good_result(datums);

	n = spoil((unsigned char *)datums, n, RESULT_FIELD(packet.size), s);
	expect_result_parse(datums, n, s->words);
}

static void a_result_cut_anywhere_is_malformed(void **state)
{
	struct nnb_result_datum datums[MOST];
	size_t n = good_result(datums);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (int say = 0; say < 2; say++) {
			struct spoilt s = { .edit = say ? CUT_AND_SAY : CUT, .at = i };

			good_result(datums);
			expect_result_parse(datums, spoil((unsigned char *)datums, n, RESULT_FIELD(packet.size), &s),
			                    "");
		}
}

static void a_result_datum_of_any_other_kind_is_malformed(void **state)
{
	struct nnb_result_datum datums[MOST];
	size_t n = good_result(datums);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (unsigned kind = 0; kind < 256; kind++) {
			uint8_t right = datums[i].kind;

			datums[i].kind = (uint8_t)kind;
			expect_result_parse(datums, n, kind == right ? NULL : "");
			datums[i].kind = right;
		}
}

#define TEST(f) add_test(f, NULL, NULL, NULL, "%s", #f)
#define ROWS(f, rows, of)                       \
	for (size_t i = 0; i < N_OF(rows); i++) \
	add_test(f, NULL, NULL, (void *)&(rows)[i], "%s: %s", of, (rows)[i].name)

int main(void)
{
	TEST(datums_have_the_layout_of_the_manual);
	ROWS(a_request_goes_there_and_back, requests, "a request goes there and back");
	ROWS(terms_are_taken_where_they_were_agreed_on_only, requests, "without an agreement");
	ROWS(no_terms_are_the_same_as_terms_of_zeroes, requests, "terms of zeroes");
	TEST(a_request_is_in_the_order_of_the_hal);
	ROWS(a_request_is_judged, bad_requests, "a request");
	ROWS(an_extended_request_is_judged, bad_extended_requests, "a request with terms");
	TEST(terms_that_say_nothing_are_malformed);
	TEST(a_request_cut_anywhere_is_malformed);
	TEST(a_datum_of_any_other_kind_is_malformed);
	TEST(a_request_with_no_words_asked_for_is_judged_too);
	TEST(a_request_of_more_datums_than_room_is_refused);
	TEST(a_rank_beyond_the_largest_is_well_formed);
	TEST(a_packet_of_slots_alone_fills_all_the_room);
	TEST(a_repeated_request_is_no_change);
	TEST(a_request_with_other_terms_only_is_no_change);
	TEST(a_repeated_request_with_invalid_terms_is_malformed);
	ROWS(a_result_goes_there_and_back, results, "a result goes there and back");
	TEST(a_result_is_in_the_order_of_the_hal);
	ROWS(timing_travels_in_microseconds, timings, "timing");
	ROWS(a_result_is_judged, bad_results, "a result");
	TEST(a_result_cut_anywhere_is_malformed);
	TEST(a_result_datum_of_any_other_kind_is_malformed);
	return _cmocka_run_group_tests("packets", tests, n_tests, NULL, NULL);
}
