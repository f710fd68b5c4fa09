/*
 * test_protocol_fields.c -- the structs in answers: each field goes over the wire, in its place, and nothing
 * else does. The test finds a field left out, one sent twice, padding sent, and a reader in another order
 * than the writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/protocol.h"

union any {
	struct nnb_service_counts counts;
	struct nnb_app_counts app;
	struct nnb_times times;
	struct nnb_capabilities capabilities;
	uint32_t words[sizeof(struct nnb_capabilities) + sizeof(struct nnb_service_counts)];
};

static void put_counts(struct nnb__message *m, const union any *a)
{
	nnb__put_counts(m, &a->counts);
}

static void get_counts(struct nnb__message *m, union any *a)
{
	nnb__get_counts(m, &a->counts);
}

static void put_app(struct nnb__message *m, const union any *a)
{
	nnb__put_app(m, &a->app);
}

static void get_app(struct nnb__message *m, union any *a)
{
	nnb__get_app(m, &a->app);
}

static void put_times(struct nnb__message *m, const union any *a)
{
	nnb__put_times(m, &a->times);
}

static void get_times(struct nnb__message *m, union any *a)
{
	nnb__get_times(m, &a->times);
}

/*
 * The structs of u32 and u64, and their sizes by nnburstd(8): three holdings of 8, four budgets of 5, 8 counters,
 * u32; ...
 */
static const struct kind {
	const char *name;
	size_t size, on_wire;
	void (*put)(struct nnb__message *m, const union any *a);
	void (*get)(struct nnb__message *m, union any *a);
} kinds[] = {
	{ "counts", offsetof(struct nnb_service_counts, performance_held) + 4, (3 * 8 + 4 * 5 + 8) * 8 + 4, put_counts,
	  get_counts },
	{ "app", sizeof(struct nnb_app_counts), 2 * 4 + 10 * 8, put_app, get_app },
	{ "times", sizeof(struct nnb_times), 4 * 8, put_times, get_times },
};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Each word of the struct differs from every other; @padding fills what lies behind its last field. */
static void fill(union any *a, const struct kind *k, uint8_t padding)
{
	memset(a, padding, sizeof(*a));
	for (size_t i = 0; i < k->size / 4; i++)
		a->words[i] = (uint32_t)(0x01010101 * (i + 1) + i);
}

/* The message as its receiver has it: @n bytes of what @from holds. */
static void receive(struct nnb__message *m, const struct nnb__message *from, size_t n)
{
	nnb__message_begin(m, NNB__ANSWER);
	nnb__put_bytes(m, from->body, n);
	assert_int_equal(m->bytes, n);
}

/* These structs have no holes before their last field, so the wire holds their bytes, in order, and no others. */
static void the_wire_has_every_field_in_order_and_no_padding(void **state)
{
	(void)state;
	for (int i = 0; i < N_KINDS; i++) {
		const struct kind *k = &kinds[i];
		struct nnb__message m = { 0 }, other = { 0 };
		union any a;

		assert_int_equal(k->size, k->on_wire);
		fill(&a, k, 0xaa);
		nnb__message_begin(&m, NNB__ANSWER);
		k->put(&m, &a);
		assert_int_equal(m.bytes, k->on_wire);
		assert_memory_equal(m.body, &a, k->on_wire);
		fill(&a, k, 0x55);
		nnb__message_begin(&other, NNB__ANSWER);
		k->put(&other, &a);
		assert_int_equal(other.bytes, m.bytes);
		assert_memory_equal(other.body, m.body, m.bytes);
		nnb__message_fini(&m);
		nnb__message_fini(&other);
	}
}

static void what_was_put_is_taken_and_a_shorter_message_fails(void **state)
{
	(void)state;
	for (int i = 0; i < N_KINDS; i++) {
		const struct kind *k = &kinds[i];
		struct nnb__message out = { 0 }, in = { 0 };
		union any a, b;

		fill(&a, k, 0);
		nnb__message_begin(&out, NNB__ANSWER);
		k->put(&out, &a);
		for (size_t n = 0; n <= out.bytes; n++) {
			memset(&b, 0xff, sizeof(b));
			receive(&in, &out, n);
			k->get(&in, &b);
			assert_int_equal(nnb__message_taken(&in), n == out.bytes);
			/* a field that did not arrive is zero, whatever the struct held before */
			for (size_t at = n; at < k->size; at++)
				assert_int_equal(((const uint8_t *)&b)[at], 0);
		}
		assert_memory_equal(&b, &a, k->size);
		nnb__message_fini(&out);
		nnb__message_fini(&in);
	}
}

static void capabilities_are_two_floats_and_a_list(void **state)
{
	struct nnb_capabilities c = { .relaxed = { 0.5f, 0.25f }, .n_types = 2 }, got;
	struct nnb__message out = { 0 }, in = { 0 };
	const float expected[] = { 0.5f, 0.25f };

	(void)state;
	c.types[0] = (struct nnb_type_performance){ 3, { 1.5f, 2.5f } };
	c.types[1] = (struct nnb_type_performance){ 7, { 3.5f, 4.5f } };
	nnb__message_begin(&out, NNB__ANSWER);
	nnb__put_capabilities(&out, &c);
	assert_int_equal(out.bytes, 4 + 4 + 4 + 2 * (4 + 4 + 4));
	assert_memory_equal(out.body, expected, sizeof(expected));
	assert_memory_equal(out.body + 8, &(uint32_t){ 2 }, 4);
	assert_memory_equal(out.body + 12, &(uint32_t){ 3 }, 4);
	assert_memory_equal(out.body + 16, &(float){ 1.5f }, 4);
	assert_memory_equal(out.body + 20, &(float){ 2.5f }, 4);
	receive(&in, &out, out.bytes);
	nnb__get_capabilities(&in, &got);
	assert_true(nnb__message_taken(&in));
	assert_int_equal(got.n_types, 2);
	assert_memory_equal(&got.relaxed, &c.relaxed, sizeof(c.relaxed));
	assert_memory_equal(got.types, c.types, 2 * sizeof(c.types[0]));
	/* more types than a client has room for: the client takes no type */
	memcpy(out.body + 8, &(uint32_t){ sizeof(c.types) / sizeof(c.types[0]) + 1 }, 4);
	receive(&in, &out, out.bytes);
	nnb__get_capabilities(&in, &got);
	assert_true(in.failed);
	assert_int_equal(got.n_types, 0);
	nnb__message_fini(&out);
	nnb__message_fini(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wire_has_every_field_in_order_and_no_padding),
		cmocka_unit_test(what_was_put_is_taken_and_a_shorter_message_fails),
		cmocka_unit_test(capabilities_are_two_floats_and_a_list),
	};

	return cmocka_run_group_tests_name("protocol: fields", tests, NULL, NULL);
}
