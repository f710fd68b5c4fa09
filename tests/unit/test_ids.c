/*
 * test_ids.c -- the ids of the service's objects: no two living objects have the same one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/ids.h"

enum { INSTANCE = 4095, IDS = NNB__ID_SERIALS - 1, THREADS = 4, ROUNDS = 20000, HELD = 16 };

static int ids_new(void **state)
{
	struct nnb__ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -1;
	nnb__ids_init(ids, INSTANCE);
	*state = ids;
	return 0;
}

static int ids_free(void **state)
{
	nnb__ids_fini(*state);
	free(*state);
	return 0;
}

static void an_id_has_the_instance_and_a_serial_that_is_not_0(void **state)
{
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(nnb__id_take(*state), (uint32_t)INSTANCE << NNB__ID_SERIAL_BITS | i);
}

/* 3 rounds through all serials, while every 1000th object of the first round lives on. */
static void no_id_of_a_living_object_is_taken_again(void **state)
{
	bool *living = calloc(NNB__ID_SERIALS, sizeof(*living));

	assert_non_null(living);
	for (uint32_t i = 0; i < 3 * NNB__ID_SERIALS; i++) {
		uint32_t id = nnb__id_take(*state);

		assert_int_not_equal(id, 0);
		assert_int_not_equal(id % NNB__ID_SERIALS, 0);
		assert_false(living[id % NNB__ID_SERIALS]);
		if (i < NNB__ID_SERIALS && !(i % 1000))
			living[id % NNB__ID_SERIALS] = true;
		else
			nnb__id_give(*state, id);
	}
	free(living);
}

static void an_id_is_taken_again_after_all_others_that_are_free(void **state)
{
	enum { LIVING = 5 };
	uint32_t first;

	for (int i = 0; i < LIVING; i++)
		assert_int_not_equal(nnb__id_take(*state), 0);
	first = nnb__id_take(*state);
	nnb__id_give(*state, first);
	for (uint32_t i = 1; i < IDS - LIVING; i++) {
		uint32_t id = nnb__id_take(*state);

		assert_int_not_equal(id, first);
		nnb__id_give(*state, id);
	}
	assert_int_equal(nnb__id_take(*state), first);
}

static void if_all_ids_are_taken_there_is_none_until_one_is_given_back(void **state)
{
	static const uint32_t given[] = { 1, 63, 64, 65, 700000, IDS };
	uint32_t base = (uint32_t)INSTANCE << NNB__ID_SERIAL_BITS;

	for (uint32_t i = 0; i < IDS; i++)
		assert_int_not_equal(nnb__id_take(*state), 0);
	assert_int_equal(nnb__id_take(*state), 0);
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		for (int again = 0; again < 3; again++) {
			nnb__id_give(*state, base | given[i]);
			assert_int_equal(nnb__id_take(*state), base | given[i]);
			assert_int_equal(nnb__id_take(*state), 0);
		}
	}
	/* a serial of the same word as the last one, and before it */
	nnb__id_give(*state, base | 700000);
	assert_int_equal(nnb__id_take(*state), base | 700000);
	nnb__id_give(*state, base | (700000 - 1));
	assert_int_equal(nnb__id_take(*state), base | (700000 - 1));
	assert_int_equal(nnb__id_take(*state), 0);
}

static void giving_0_back_does_nothing(void **state)
{
	struct nnb__ids *ids = *state;

	nnb__id_give(ids, 0);
	assert_int_equal(ids->taken[0], 1);
}

struct takers {
	struct nnb__ids *ids;
	unsigned char *holders; /* by serial: how many threads hold it */
	bool shared;
};

static void *ids_take_and_give(void *arg)
{
	struct takers *t = arg;
	uint32_t held[HELD] = { 0 };

	for (int i = 0; i < ROUNDS; i++) {
		uint32_t *at = &held[i % HELD];

		if (*at) {
			__atomic_sub_fetch(&t->holders[*at % NNB__ID_SERIALS], 1, __ATOMIC_RELAXED);
			nnb__id_give(t->ids, *at);
		}
		*at = nnb__id_take(t->ids);
		if (__atomic_add_fetch(&t->holders[*at % NNB__ID_SERIALS], 1, __ATOMIC_RELAXED) != 1)
			__atomic_store_n(&t->shared, true, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Only 255 serials are free, so that the threads go round often. */
static void threads_never_hold_the_same_id(void **state)
{
	struct takers t = { .ids = *state, .holders = calloc(NNB__ID_SERIALS, 1) };
	pthread_t threads[THREADS];

	assert_non_null(t.holders);
	memset(t.ids->taken + 4, 0xff, sizeof(t.ids->taken) - 4 * sizeof(*t.ids->taken));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ids_take_and_give, &t), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_false(t.shared);
	free(t.holders);
}

#define WITH_IDS(f) cmocka_unit_test_setup_teardown(f, ids_new, ids_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_IDS(an_id_has_the_instance_and_a_serial_that_is_not_0),
		WITH_IDS(no_id_of_a_living_object_is_taken_again),
		WITH_IDS(an_id_is_taken_again_after_all_others_that_are_free),
		WITH_IDS(if_all_ids_are_taken_there_is_none_until_one_is_given_back),
		WITH_IDS(giving_0_back_does_nothing),
		WITH_IDS(threads_never_hold_the_same_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
