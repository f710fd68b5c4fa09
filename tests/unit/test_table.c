/*
 * test_table.c -- a table finds the entries that are in it by their numbers, and no others, whatever is added and
 * removed (base/table.h).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/table.h"

enum { MANY = 20000 };

struct item {
	struct bsa_entry entry;
	bool in, seen;
};

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

/* ---- a table, and what it has to have ---- */

static struct item items[MANY];

static void table_begin(struct bsa_table *t)
{
	for (size_t i = 0; i < MANY; i++)
		items[i] = (struct item){ 0 };
	assert_int_equal(0, bsa_table_init(t));
}

static void item_add(struct bsa_table *t, struct item *item, uint64_t number)
{
	bsa_table_add(t, &item->entry, number);
	item->in = true;
}

static void item_remove(struct bsa_table *t, struct item *item)
{
	bsa_table_remove(t, &item->entry);
	item->in = false;
}

/* Every item that is in the table is found by its number, once, and by an iteration, once; none of the others is. */
static void assert_has_what_is_in(const struct bsa_table *t)
{
	struct bsa_table_walk walk = { 0 };
	struct item *item;
	size_t n = 0, found, walked = 0;

	for (size_t i = 0; i < MANY; i++) {
		n += items[i].in;
		items[i].seen = false;
		found = 0;
		for (item = bsa_table_find(t, items[i].entry.number); item; item = bsa_table_next(item)) {
			assert_true(item->entry.number == items[i].entry.number);
			found += item == &items[i];
		}
		assert_int_equal(items[i].in, found);
	}
	for (; (item = bsa_table_walk(t, &walk)); walked++) {
		assert_true(item->in && !item->seen);
		item->seen = true;
	}
	assert_int_equal(n, walked);
	assert_int_equal(n, t->n);
}

/* The longest chain of the table. */
static size_t longest_chain(const struct bsa_table *t)
{
	size_t longest = 0;

	for (size_t i = 0; i < (size_t)1 << t->bits; i++) {
		size_t n = 0;

		for (const struct bsa_entry *e = t->chains[i]; e; e = e->next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* ---- the tests ---- */

static void an_empty_table_has_nothing(void **state)
{
	struct bsa_table_walk walk = { 0 };
	struct bsa_table t;
	size_t from = 0;

	(void)state;
	table_begin(&t);
	assert_null(bsa_table_find(&t, 0));
	assert_null(bsa_table_any(&t, &from));
	assert_null(bsa_table_walk(&t, &walk));
	bsa_table_fini(&t);
	bsa_table_fini(&t); /* a table may be ended twice */
}

static void a_table_that_grows_keeps_its_entries_and_is_at_most_half_full(void **state)
{
	struct bsa_table t;

	(void)state;
	table_begin(&t);
	for (size_t i = 0; i < MANY; i++) {
		item_add(&t, &items[i], i * UINT64_C(0x100000001));
		assert_true(2 * (t.n - 1) <= (size_t)1 << t.bits);
		if (!(i & (i + 1)))
			assert_has_what_is_in(&t);
	}
	assert_has_what_is_in(&t);
	assert_true((size_t)1 << t.bits <= 4 * (size_t)MANY);
	bsa_table_fini(&t);
}

static void entries_of_one_number_are_found_one_after_the_other(void **state)
{
	struct bsa_table t;

	(void)state;
	table_begin(&t);
	for (size_t i = 0; i < 300; i++)
		item_add(&t, &items[i], i % 3);
	assert_has_what_is_in(&t);
	for (size_t i = 0; i < 300; i += 2)
		item_remove(&t, &items[i]);
	assert_has_what_is_in(&t);
	bsa_table_fini(&t);
}

static void an_entry_can_be_removed_when_an_iteration_has_returned_it(void **state)
{
	struct bsa_table_walk walk = { 0 };
	struct bsa_table t;
	struct item *item;
	size_t n = 0;

	(void)state;
	table_begin(&t);
	for (size_t i = 0; i < 5000; i++)
		item_add(&t, &items[i], i / 2); /* some in one chain */
	for (; (item = bsa_table_walk(&t, &walk)); n++) {
		assert_false(item->seen);
		item->seen = true;
		if (n % 3)
			continue;
		item_remove(&t, item);
		item->entry.next = (struct bsa_entry *)(uintptr_t)1; /* as if freed: the walk must not use it */
	}
	assert_int_equal(5000, n);
	assert_has_what_is_in(&t);
	bsa_table_fini(&t);
}

static bool is_later(const struct bsa_entry *a, const struct bsa_entry *b)
{
	return (const struct item *)a > (const struct item *)b;
}

/* Numbers follow each other, or are all over the place; each is there twice. */
static void a_sorted_table_returns_its_entries_in_order_and_keeps_them(void **state)
{
	for (unsigned way = 0; way < 4; way++) {
		struct bsa_table_walk walk = { 0 };
		const struct item *item, *last = NULL;
		struct bsa_table t;
		size_t n = 0, from = 0;

		(void)state;
		table_begin(&t);
		for (size_t i = 0; i < 1000; i++)
			item_add(&t, &items[i], i / 2 * (way & 1 ? UINT64_C(0x9e3779b97f4a7c15) : 1));
		bsa_table_sort(&t, way & 2 ? is_later : NULL);
		assert_has_what_is_in(&t);
		for (; (item = bsa_table_walk(&t, &walk)); n++, last = item)
			assert_true(!last || (way & 2 ? item < last : item->entry.number >= last->entry.number));
		assert_int_equal(1000, n);
		item = (const struct item *)bsa_table_any(&t, &from);
		assert_true(way & 2 ? item == &items[999] : item->entry.number == 0);
		item_remove(&t, &items[item - items]);
		bsa_table_unsort(&t);
		assert_has_what_is_in(&t);
		assert_true(longest_chain(&t) < 20);
		item_add(&t, &items[1000], 7);
		assert_has_what_is_in(&t);
		bsa_table_fini(&t);
	}
}

/* What is equal keeps its order, however often the table is sorted: the order of bsa_table_next. */
static void sorting_keeps_the_order_of_equal_entries(void **state)
{
	struct bsa_table t;
	struct item *before[1000], *item;
	size_t n = 0;

	(void)state;
	table_begin(&t);
	for (size_t i = 0; i < 1000; i++)
		item_add(&t, &items[i], i % 10);
	for (item = bsa_table_find(&t, 3); item; item = bsa_table_next(item))
		before[n++] = item;
	assert_int_equal(100, n);
	for (unsigned times = 0; times < 3; times++) {
		bsa_table_sort(&t, NULL);
		bsa_table_unsort(&t);
		n = 0;
		for (item = bsa_table_find(&t, 3); item; item = bsa_table_next(item))
			assert_ptr_equal(before[n++], item);
		assert_int_equal(100, n);
	}
	bsa_table_sort(&t, NULL);
	bsa_table_clear(&t);
	item_add(&t, &items[1001], 5);
	assert_ptr_equal(&items[1001], bsa_table_find(&t, 5));
	bsa_table_fini(&t);
}

/* As numbers were mixed when there was no secret. */
static uint64_t mixed_without_secret(uint64_t v)
{
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 32;
}

/* With that, the chains of all of these would have 12 bits in common. */
static void chosen_numbers_do_not_collide(void **state)
{
	struct bsa_table t;

	(void)state;
	table_begin(&t);
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t near = (0 - mixed_without_secret(i)) & ((1 << BSA_TABLE_NEAR_BITS) - 1);

		item_add(&t, &items[i], i << BSA_TABLE_NEAR_BITS | near);
	}
	assert_true(longest_chain(&t) < 20);
	bsa_table_fini(&t);
}

/* Numbers that differ in their lowest 12 bits alone, which are not mixed: at most two in a chain. */
static void near_numbers_have_chains_of_their_own(void **state)
{
	struct bsa_table t;

	(void)state;
	for (uint64_t step = 1; step <= 64; step *= 2) {
		table_begin(&t);
		for (uint64_t i = 0; i * step < 1 << BSA_TABLE_NEAR_BITS; i++)
			item_add(&t, &items[i], UINT64_C(0x123456789000) + i * step);
		assert_true(longest_chain(&t) <= (size_t)1 << BSA_TABLE_NEAR_BITS >> t.bits || longest_chain(&t) == 1);
		bsa_table_fini(&t);
	}
}

static void removing_any_entry_again_and_again_removes_all(void **state)
{
	struct bsa_table t;
	struct bsa_entry *e;
	size_t from = 0;

	(void)state;
	table_begin(&t);
	for (size_t i = 0; i < 1000; i++)
		item_add(&t, &items[i], i / 2);
	for (size_t n = 1000; (e = bsa_table_any(&t, &from)); n--) {
		assert_int_equal(n, t.n);
		item_remove(&t, (struct item *)e);
	}
	assert_has_what_is_in(&t);
	assert_int_equal(0, t.n);
	bsa_table_fini(&t);
}

static void a_cleared_table_is_empty_and_can_be_filled_again(void **state)
{
	struct bsa_table t;

	(void)state;
	table_begin(&t);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < 1000; i++)
			item_add(&t, &items[i], i + 7000);
		assert_has_what_is_in(&t);
		for (size_t i = 0; i < 1000; i++) {
			items[i].in = false;
			items[i].entry.next = (struct bsa_entry *)(uintptr_t)1; /* as if it was freed */
		}
		bsa_table_clear(&t);
		assert_has_what_is_in(&t);
	}
	bsa_table_fini(&t);
}

static void without_memory_to_grow_a_table_still_has_all(void **state)
{
	struct bsa_table t = { 0 };

	(void)state;
	no_memory = true;
	assert_int_equal(-ENOMEM, bsa_table_init(&t));
	no_memory = false;
	table_begin(&t);
	no_memory = true;
	for (size_t i = 0; i < 2000; i++)
		item_add(&t, &items[i], i);
	no_memory = false;
	assert_has_what_is_in(&t);
	for (size_t i = 2000; i < 4000; i++) /* now it grows */
		item_add(&t, &items[i], i);
	assert_has_what_is_in(&t);
	assert_true((size_t)1 << t.bits > 1000);
	bsa_table_fini(&t);
}

/* Numbers of every regular kind: such chains are no longer than those of random numbers may be. */
static void numbers_that_differ_in_any_bits_are_in_different_chains(void **state)
{
	struct bsa_table t;

	(void)state;
	for (unsigned shift = 0; shift < 64; shift++) {
		table_begin(&t);
		for (uint64_t i = 0; i < 4096; i++)
			item_add(&t, &items[i], shift > 52 ? i << shift | i >> (64 - shift) : i << shift);
		assert_has_what_is_in(&t);
		/* longer chains are allowed where the lowest varying bit is one of the near bits */
		assert_true(longest_chain(&t) < 16 || (shift && shift < BSA_TABLE_NEAR_BITS));
		if (!shift)
			assert_int_equal(1, longest_chain(&t));
		bsa_table_fini(&t);
	}
}

static void the_number_of_a_text_depends_on_every_letter_and_on_the_number_besides(void **state)
{
	(void)state;
	assert_true(bsa_mixed_text(1, "a") == bsa_mixed_text(1, "a"));
	assert_true(bsa_mixed_text(1, "a") != bsa_mixed_text(2, "a"));
	assert_true(bsa_mixed_text(1, "ab") != bsa_mixed_text(1, "ba"));
	assert_true(bsa_mixed_text(1, "") != bsa_mixed_text(1, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_has_nothing),
		cmocka_unit_test(a_table_that_grows_keeps_its_entries_and_is_at_most_half_full),
		cmocka_unit_test(entries_of_one_number_are_found_one_after_the_other),
		cmocka_unit_test(an_entry_can_be_removed_when_an_iteration_has_returned_it),
		cmocka_unit_test(a_sorted_table_returns_its_entries_in_order_and_keeps_them),
		cmocka_unit_test(sorting_keeps_the_order_of_equal_entries),
		cmocka_unit_test(chosen_numbers_do_not_collide),
		cmocka_unit_test(near_numbers_have_chains_of_their_own),
		cmocka_unit_test(removing_any_entry_again_and_again_removes_all),
		cmocka_unit_test(a_cleared_table_is_empty_and_can_be_filled_again),
		cmocka_unit_test(without_memory_to_grow_a_table_still_has_all),
		cmocka_unit_test(numbers_that_differ_in_any_bits_are_in_different_chains),
		cmocka_unit_test(the_number_of_a_text_depends_on_every_letter_and_on_the_number_besides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
