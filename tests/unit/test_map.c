/*
 * test_map.c -- the hash map of burstscope: the same answers as a plain array gives, for many keys and for keys that
 * collide.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/map.h"

static void an_empty_map_has_no_key(void **state)
{
	struct bsv_map m = { 0 };

	(void)state;
	assert_int_equal(bsv_map_get(&m, 0), 0);
	assert_int_equal(bsv_map_get(&m, UINT64_MAX), 0);
	bsv_map_clear(&m);
	assert_int_equal(bsv_map_get(&m, 0), 0);
	bsv_map_fini(&m);
}

/* Keys of each row are @step apart, so that whole rows share their low or their high bits. */
static void values_stay_with_their_keys_while_the_map_grows(void **state)
{
	static const uint64_t steps[] = {
		1, 2, 256, 1 << 20, UINT64_C(1) << 32, UINT64_C(1) << 44, 0x9e3779b97f4a7c15
	};
	enum { KEYS = 5000 };

	(void)state;
	for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
		struct bsv_map m = { 0 };

		for (uint64_t i = 0; i < KEYS; i++) {
			uint64_t *value = bsv_map_at(&m, i * steps[s]);

			assert_non_null(value);
			assert_int_equal(*value, 0);
			*value = i + 1;
		}
		for (uint64_t i = 0; i < KEYS; i++) {
			*bsv_map_at(&m, i * steps[s]) += KEYS;
			assert_int_equal(bsv_map_get(&m, i * steps[s]), i + 1 + KEYS);
		}
		assert_int_equal(bsv_map_get(&m, KEYS * steps[s]), 0);
		assert_int_equal(m.n, KEYS);
		bsv_map_fini(&m);
	}
}

static void a_quarter_of_the_places_stays_free(void **state)
{
	struct bsv_map m = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		*bsv_map_at(&m, i) = 1;
		assert_true(4 * m.n <= 3 * m.room + 4);
		assert_true(m.room == 256 || 8 * m.n >= 3 * m.room); /* not larger than necessary */
	}
	bsv_map_fini(&m);
}

static void a_key_without_a_value_is_not_in_the_map(void **state)
{
	struct bsv_map m = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(*bsv_map_at(&m, i), 0);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(bsv_map_get(&m, i), 0);
	bsv_map_fini(&m);
}

static void a_cleared_map_takes_as_many_keys_in_the_same_memory(void **state)
{
	enum { KEYS = 1000 };
	const struct bsv_map_place *places;
	struct bsv_map m = { 0 };

	(void)state;
	for (uint64_t i = 0; i < KEYS; i++)
		*bsv_map_at(&m, i) = i + 1;
	places = m.places;
	bsv_map_clear(&m);
	for (uint64_t i = 0; i < KEYS; i++)
		assert_int_equal(bsv_map_get(&m, i), 0);
	for (uint64_t i = 0; i < KEYS; i++)
		*bsv_map_at(&m, KEYS + i) = i + 1;
	assert_ptr_equal(m.places, places);
	for (uint64_t i = 0; i < KEYS; i++) {
		assert_int_equal(bsv_map_get(&m, i), 0);
		assert_int_equal(bsv_map_get(&m, KEYS + i), i + 1);
	}
	bsv_map_fini(&m);
}

/* Where each key would be without a secret: 20 000 of these keys in one place of 2^15 take 2 * 10^8 looks to add. */
static void keys_cannot_be_chosen_to_share_a_place(void **state)
{
	enum { KEYS = 20000, ROOM = 1 << 15 };
	const uint64_t inverse = UINT64_C(0xf1de83e19937733d); /* of the factor by which keys were spread */
	uint64_t sum = 0;
	struct bsv_map m = { 0 };

	(void)state;
	assert_true(inverse * UINT64_C(0x9e3779b97f4a7c15) == 1);
	for (uint64_t i = 0; i < KEYS; i++)
		*bsv_map_at(&m, inverse * (i << 35)) = i + 1;
	assert_int_equal(m.room, ROOM);
	for (size_t i = 0; i < m.room; i++) { /* keys in a row of full places: few, because a quarter is free */
		size_t row = 0;

		while (row < m.room && m.places[(i + row) & (m.room - 1)].value)
			row++;
		sum += row;
	}
	assert_true(sum < (uint64_t)ROOM * 64);
	bsv_map_fini(&m);
}

static void the_key_of_a_text_depends_on_all_of_it(void **state)
{
	uint64_t foobar = bsv_map_text(0, "foobar", 6);

	(void)state;
	assert_true(bsv_map_text(0, "foobar", 6) == foobar);
	assert_false(bsv_map_text(1, "foobar", 6) == foobar);
	assert_false(bsv_map_text(0, "foobaz", 6) == foobar);
	assert_false(bsv_map_text(0, "goobar", 6) == foobar);
	assert_false(bsv_map_text(bsv_map_text(0, "fo", 2), "o", 1) == bsv_map_text(bsv_map_text(0, "f", 1), "oo", 2));
	assert_false(foobar == bsv_hash(BSV_HASH_NONE, "foobar", 6)); /* which everybody can compute */
}

static void the_hash_is_fnv_1a(void **state)
{
	(void)state;
	assert_true(bsv_hash(BSV_HASH_NONE, "", 0) == UINT64_C(0xcbf29ce484222325));
	assert_true(bsv_hash(BSV_HASH_NONE, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(bsv_hash(BSV_HASH_NONE, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	assert_true(bsv_hash(bsv_hash(BSV_HASH_NONE, "foo", 3), "bar", 3) == UINT64_C(0x85944171f73967e8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_no_key),
		cmocka_unit_test(values_stay_with_their_keys_while_the_map_grows),
		cmocka_unit_test(a_quarter_of_the_places_stays_free),
		cmocka_unit_test(a_key_without_a_value_is_not_in_the_map),
		cmocka_unit_test(a_cleared_map_takes_as_many_keys_in_the_same_memory),
		cmocka_unit_test(keys_cannot_be_chosen_to_share_a_place),
		cmocka_unit_test(the_key_of_a_text_depends_on_all_of_it),
		cmocka_unit_test(the_hash_is_fnv_1a),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
