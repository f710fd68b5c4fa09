/* test_counts.c -- counts of what was read of traces, added up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/counts.h"

static void sums_of_losses_stop_at_the_largest_number(void **state)
{
	struct bsa_decoded sum = { .began = BSA_NEVER, .ended = BSA_NEVER };
	struct bsa_counts counts;

	(void)state;
	bsa_counts_init(&counts);
	bsa_count(&counts.lost_events, 5);
	bsa_count(&counts.lost_packets, UINT64_MAX - 4);
	bsa_counts_add(&sum, &counts);
	assert_int_equal(sum.lost_events, 5);
	assert_true(sum.lost_packets == UINT64_MAX - 4);
	bsa_count(&counts.lost_events, UINT64_MAX);
	assert_true(counts.lost_events == UINT64_MAX);
	bsa_counts_add(&sum, &counts);
	assert_true(sum.lost_events == UINT64_MAX);
	assert_true(sum.lost_packets == UINT64_MAX);
}

static void a_sum_has_the_time_of_all(void **state)
{
	static const uint64_t times[][2] = { { 30, 40 }, { 10, 20 }, { 35, 50 } };
	struct bsa_decoded sum = { .began = BSA_NEVER, .ended = BSA_NEVER };
	struct bsa_counts counts;

	(void)state;
	bsa_counts_init(&counts);
	bsa_counts_add(&sum, &counts);
	assert_true(sum.began == BSA_NEVER && sum.ended == BSA_NEVER);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		bsa_counts_init(&counts);
		bsa_count_time(&counts, times[i][0]);
		bsa_count_time(&counts, times[i][1]);
		bsa_counts_add(&sum, &counts);
	}
	assert_int_equal(sum.began, 10);
	assert_int_equal(sum.ended, 50);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(sums_of_losses_stop_at_the_largest_number),
		cmocka_unit_test(a_sum_has_the_time_of_all),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
