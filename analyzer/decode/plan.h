/*
 * plan.h -- how events of one class become records: made once, when the class is first met.
 *
 * Fields are found by their names, of whatever integer width, enumerations or plain numbers; from then on
 * they are read by their places. A table of plans belongs to one thread.
 */
#ifndef BSA_DECODE_PLAN_H
#define BSA_DECODE_PLAN_H

#include "base/table.h"
#include "catalogue.h"

#include <babeltrace2/babeltrace.h>

/* The first four: what is read is unsigned and no wider than its place. */
enum bsa_op { BSA_OP_U8, BSA_OP_U16, BSA_OP_U32, BSA_OP_U64, BSA_OP_NUMBER, BSA_OP_ARRAY, BSA_OP_TEXT };

struct bsa_step {
	uint64_t member;
	uint16_t at;
	uint8_t op; /* enum bsa_op */
	uint8_t bytes, n;
	bool from_signed, to_signed;
};

struct bsa_plan {
	struct bsa_entry entry; /* bsa_plan_number(class), in bsa_plans */
	const bt_event_class *class;
	const uint64_t *blank;
	enum bsa_kind kind; /* BSA_N_KINDS: foreign, or not in the catalogue */
	uint32_t unknown;   /* fields that the catalogue does not know */
	bool usable;        /* the event has all that it needs */
	uint8_t n_steps;
	struct bsa_step steps[BSA_COLUMNS_MAX];
};

void bsa_plan_make(struct bsa_plan *ret, const bt_event_class *class);

/* All of the record but its time and trace. @plan is usable; @ret has room for BSA_RECORD_MAX. */
void bsa_plan_read(const struct bsa_plan *plan, const bt_event *event, struct bsa_event *ret);

/* A number to where it may not fit. @value: of a signed one, its two's complement. */
void bsa_put_fitting(void *at, uint8_t bytes, bool to_signed, uint64_t value, bool from_signed);

/* Plans by class. All zeroes: no plans. */
struct bsa_plans {
	struct bsa_table table; /* owned, and its entries; made with the first plan */
};

/*
 * Make the plan of @class, which has none, and which must outlive it. Borrowed until bsa_plans_fini. NULL: no memory.
 */
const struct bsa_plan *bsa_plans_add(struct bsa_plans *plans, const bt_event_class *class);
void bsa_plans_fini(struct bsa_plans *plans);

/* Addresses are multiples of 16, and a table does not mix the lowest bits of its numbers. */
static inline uint64_t bsa_plan_number(const bt_event_class *class)
{
	return (uintptr_t) class >> 4;
}

/* Like bsa_plans_add, of any class: the plan is made if there is none. */
static inline const struct bsa_plan *bsa_plans_get(struct bsa_plans *plans, const bt_event_class *class)
{
	const struct bsa_plan *plan = NULL;

	if (__builtin_expect(plans->table.chains != NULL, 1))
		plan = bsa_table_find(&plans->table, bsa_plan_number(class));
	while (plan && plan->class != class)
		plan = bsa_table_next(plan);
	return __builtin_expect(plan != NULL, 1) ? plan : bsa_plans_add(plans, class);
}

#endif
