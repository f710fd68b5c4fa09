/* test_index.c -- an index returns every place that was added with a number, and hardly any other (base/index.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/index.h"

enum { MANY = 20000 };

/* ---- memory that runs out ---- */

static bool no_memory;

void *__real_calloc(size_t n, size_t size);
#pragma GCC visibility push(default) /* a sanitizer's library looks for it */
void *__wrap_calloc(size_t n, size_t size);
#pragma GCC visibility pop

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory ? NULL : __real_calloc(n, size);
}

/* ---- what an index returns ---- */

/* How often it returns @place for @number. *ret_others: other places. */
static size_t times_found(const struct bsa_index *x, uint64_t number, uint32_t place, size_t *ret_others)
{
	size_t at, n = 0;

	*ret_others = 0;
	for (uint32_t i = bsa_index_find(x, number, &at); i != BSA_INDEX_NONE; i = bsa_index_next(x, number, &at)) {
		n += i == place;
		*ret_others += i != place;
	}
	return n;
}

static void an_empty_index_has_nothing(void **state)
{
	struct bsa_index x = { 0 };
	size_t others;

	(void)state;
	assert_int_equal(0, times_found(&x, 0, 0, &others));
	assert_int_equal(0, others);
	bsa_index_fini(&x);
}

static void an_index_that_grows_keeps_its_places_and_is_at_most_half_full(void **state)
{
	struct bsa_index x = { 0 };
	size_t others;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		assert_true(bsa_index_add(&x, i, i));
		assert_true(x.n == i + 1 && 2 * x.n <= x.room && x.room <= 4 * x.n + 16);
		assert_int_equal(0, x.room & (x.room - 1));
		for (uint32_t before = 0; !(i & (i + 1)) && before <= i; before++)
			assert_int_equal(1, times_found(&x, before, before, &others));
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(1, times_found(&x, i, i, &others));
	for (uint64_t i = MANY; i < 2 * MANY; i++)
		assert_int_equal(0, times_found(&x, i, BSA_INDEX_NONE, &others));
	bsa_index_fini(&x);
	assert_true(!x.slots && !x.room && !x.n);
	assert_true(bsa_index_add(&x, 1, 1));
	bsa_index_fini(&x);
}

static void a_number_can_have_several_places(void **state)
{
	struct bsa_index x = { 0 };
	size_t others;

	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		assert_true(bsa_index_add(&x, i % 3, i));
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(1, times_found(&x, i % 3, i, &others));
		assert_int_equal(99, others);
	}
	assert_int_equal(0, times_found(&x, 3, 0, &others));
	bsa_index_fini(&x);
}

static void the_largest_place_is_kept(void **state)
{
	struct bsa_index x = { 0 };
	size_t others;

	(void)state;
	assert_true(bsa_index_add(&x, 5, BSA_INDEX_NONE - 1));
	assert_int_equal(1, times_found(&x, 5, BSA_INDEX_NONE - 1, &others));
	assert_int_equal(0, others);
	bsa_index_fini(&x);
}

static void without_memory_an_index_stays_what_it_was(void **state)
{
	struct bsa_index x = { 0 };
	size_t others;
	uint32_t n = 0;

	(void)state;
	no_memory = true;
	assert_false(bsa_index_add(&x, 0, 0));
	no_memory = false;
	assert_true(!x.slots && !x.room && !x.n);
	for (; n < 100; n++)
		assert_true(bsa_index_add(&x, n, n));
	no_memory = true;
	while (bsa_index_add(&x, n, n))
		n++;
	no_memory = false;
	assert_int_equal(n, x.n);
	assert_int_equal(2 * n, x.room);
	assert_int_equal(0, times_found(&x, n, n, &others));
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(1, times_found(&x, i, i, &others));
	assert_true(bsa_index_add(&x, n, n));
	assert_int_equal(1, times_found(&x, n, n, &others));
	bsa_index_fini(&x);
}

/* Numbers of every regular kind: a search looks at few slots. */
static void numbers_that_differ_in_any_bits_are_apart(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift < 64; shift++) {
		struct bsa_index x = { 0 };
		size_t run = 0, longest = 0;

		for (uint32_t i = 0; i < 4096; i++) {
			uint64_t number = shift > 52 ? (uint64_t)i << shift | i >> (64 - shift) : (uint64_t)i << shift;

			assert_true(bsa_index_add(&x, number, i));
		}
		for (size_t i = 0; i < x.room; i++) {
			run = x.slots[i].place ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		assert_true(longest < 100);
		bsa_index_fini(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_index_has_nothing),
		cmocka_unit_test(an_index_that_grows_keeps_its_places_and_is_at_most_half_full),
		cmocka_unit_test(a_number_can_have_several_places),
		cmocka_unit_test(the_largest_place_is_kept),
		cmocka_unit_test(without_memory_an_index_stays_what_it_was),
		cmocka_unit_test(numbers_that_differ_in_any_bits_are_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
