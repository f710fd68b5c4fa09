/*
 * test_call_numbers.c -- the numbers of calls: the service takes an honest client's numbers unchanged, and
 * takes none twice, whatever a client sends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"
#include "service/numbers.h"

#include <stdlib.h>

enum { CALLS = 200000, CHANNELS = 64 };

static uint32_t random_32(uint64_t *series)
{
	return (uint32_t)(lcg_next(series) >> 32);
}

/* Each channel has one call under way, and the calls arrive in any order. */
static void calls_may_overtake_each_other(void **state)
{
	struct nnb__numbers n = { 0 };
	uint32_t under_way[CHANNELS], next = 1;
	uint64_t series = 1;

	(void)state;
	for (int i = 0; i < CHANNELS; i++)
		under_way[i] = next++;
	for (int i = 0; i < CALLS; i++) {
		uint32_t *call = &under_way[random_32(&series) % CHANNELS], late = UINT32_MAX;

		/*
		 * one thread may wait long before it sends its call: the others make as many calls as the
		 * window allows
		 */
		for (int k = 0; k < CHANNELS; k++)
			late = under_way[k] < late ? under_way[k] : late;
		if (next - late > CHANNELS)
			for (int k = 0; k < CHANNELS; k++)
				call = under_way[k] == late ? &under_way[k] : call;
		assert_int_equal(nnb__number_take(&n, *call), *call);
		*call = next++;
	}
}

/* One thread is off its cpu while another one makes many calls: neither loses its number, nor does a later call. */
static void a_late_call_displaces_no_other(void **state)
{
	static const uint32_t laters[] = { 255, 256, 309, NNB__NUMBERS_BEHIND - 1, NNB__NUMBERS_BEHIND, 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof(laters) / sizeof(laters[0]); i++) {
		struct nnb__numbers n = { 0 };
		uint32_t late;

		for (uint32_t k = 0; k < laters[i]; k++)
			assert_int_equal(nnb__number_take(&n, 2 + k), 2 + k);
		late = nnb__number_take(&n, 1);
		assert_true(laters[i] < NNB__NUMBERS_BEHIND ? late == 1 : late > NNB__NUMBER_MOST);
		for (uint32_t k = 0; k < 1000; k++)
			assert_int_equal(nnb__number_take(&n, 2 + laters[i] + k), 2 + laters[i] + k);
	}
}

static void no_number_is_taken_twice(void **state)
{
	uint8_t *taken = calloc(1, UINT32_C(1) << 29);
	struct nnb__numbers n = { 0 };
	uint64_t series = 7;
	uint32_t clients = 0;

	(void)state;
	assert_non_null(taken);
	for (int i = 0; i < CALLS; i++) {
		uint32_t kind = random_32(&series) % 6, asked = kind == 0   ? 0
		                                                : kind == 1 ? 1
		                                                : kind == 2 ? n.highest
		                                                : kind == 3 ? n.highest - random_32(&series) % 20000
		                                                : kind == 4 ? n.highest + random_32(&series) % 2000
		                                                            : random_32(&series);
		uint32_t number = nnb__number_take(&n, asked);

		assert_true(number == asked || number > NNB__NUMBER_MOST);
		assert_true(number);
		assert_false(taken[number / 8] >> number % 8 & 1);
		taken[number / 8] |= (uint8_t)(1 << number % 8);
		clients += number == asked;
	}
	assert_in_range(clients, CALLS / 10, CALLS - 1);
	free(taken);
}

/* A client that counts on after the last number skips 0. */
static void after_the_last_number_comes_the_first(void **state)
{
	struct nnb__numbers n = { .highest = NNB__NUMBER_MOST - 3 };

	(void)state;
	assert_int_equal(nnb__number_take(&n, NNB__NUMBER_MOST - 1), NNB__NUMBER_MOST - 1);
	assert_int_equal(nnb__number_take(&n, NNB__NUMBER_MOST), NNB__NUMBER_MOST);
	assert_int_equal(nnb__number_take(&n, 0), NNB__NUMBER_MOST + 1);
	assert_int_equal(nnb__number_take(&n, 2), 2);
	/* a later call overtook it */
	assert_int_equal(nnb__number_take(&n, NNB__NUMBER_MOST - 2), NNB__NUMBER_MOST - 2);
	assert_int_equal(nnb__number_take(&n, NNB__NUMBER_MOST - 2), NNB__NUMBER_MOST + 2);
	assert_int_equal(nnb__number_take(&n, NNB__NUMBER_MOST + 1), NNB__NUMBER_MOST + 3);
	assert_int_equal(nnb__number_take(&n, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_may_overtake_each_other),
		cmocka_unit_test(a_late_call_displaces_no_other),
		cmocka_unit_test(no_number_is_taken_twice),
		cmocka_unit_test(after_the_last_number_comes_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
