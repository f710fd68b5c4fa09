/*
 * plan.h -- how events of one class become records: made once, when the class is first met.
 *
 * Fields are found by their names, of whatever integer width, enumerations or plain numbers; from then on they are read by
 * their places. A table of plans belongs to one thread.
 */
#ifndef BSA_DECODE_PLAN_H
#define BSA_DECODE_PLAN_H

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

/* Plans by class. Zeroes are an empty one. */
struct bsa_plans {
	struct bsa_plan **slots;
	size_t n, room; /* room: a power of two */
};

/* Borrowed until the table is ended; made if it is not there. NULL: no memory. @class has to outlive the table. */
const struct bsa_plan *bsa_plans_add(struct bsa_plans *plans, const bt_event_class *class);
void bsa_plans_fini(struct bsa_plans *plans);

static inline size_t bsa_plans_hash(const bt_event_class *class)
{
	return (size_t)(((uintptr_t) class >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static inline const struct bsa_plan *bsa_plans_get(struct bsa_plans *plans, const bt_event_class *class)
{
	if (__builtin_expect(plans->room != 0, 1)) {
		const struct bsa_plan *plan = plans->slots[bsa_plans_hash(class) & (plans->room - 1)];

		if (__builtin_expect(plan && plan->class == class, 1))
			return plan;
	}
	return bsa_plans_add(plans, class);
}

#endif
