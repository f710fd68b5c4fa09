/*
 * plan.c -- finds the fields of a class of events by name. A number that does not fit into its
 * place becomes the nearest that does; a negative one where there are none, the largest, which is
 * what it would have been there.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

static const char provider[] = "nnburst:";

static bool class_is(const bt_field_class *class, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(class), type);
}

/* True: a field of this class can fill the column; *ret is the step that copies it. */
static bool step_fits(struct bsa_step *ret, const struct bsa_column *column, const bt_field_class *class)
{
	bool array = class_is(class, BT_FIELD_CLASS_TYPE_ARRAY);

	if (column->shape == BSA_SHAPE_TEXT && class_is(class, BT_FIELD_CLASS_TYPE_STRING)) {
		ret->op = BSA_OP_TEXT;
		return true;
	}
	if (array != (column->shape == BSA_SHAPE_ARRAY || column->shape == BSA_SHAPE_TEXT))
		return false;
	if (array)
		class = bt_field_class_array_borrow_element_field_class_const(class);
	if (!class_is(class, BT_FIELD_CLASS_TYPE_INTEGER))
		return false;
	ret->from_signed = class_is(class, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	ret->op = array ? BSA_OP_ARRAY : BSA_OP_NUMBER;
	if (!array && !ret->from_signed && column->shape == BSA_SHAPE_UNSIGNED &&
	    bt_field_class_integer_get_field_value_range(class) <= column->bytes * UINT64_C(8))
		ret->op = column->bytes == 1   ? BSA_OP_U8
		          : column->bytes == 2 ? BSA_OP_U16
		          : column->bytes == 4 ? BSA_OP_U32
		                               : BSA_OP_U64;
	if (column->shape == BSA_SHAPE_TEXT) { /* letter by letter, the last place being for the zero */
		ret->n = (uint8_t)(column->bytes - 1);
		ret->bytes = 1;
	}
	return true;
}

void bsa_plan_make(struct bsa_plan *ret, const bt_event_class *class)
{
	const char *name = bt_event_class_get_name(class);
	const struct bsa_layout *layout;
	const bt_field_class *payload;
	uint64_t n;
	uint32_t seen = 0;

	*ret = (struct bsa_plan){ .class = class, .kind = BSA_N_KINDS };
	if (!name || strncmp(name, provider, strlen(provider)))
		return;
	ret->kind = bsa_kind_named(name + strlen(provider));
	if (ret->kind == BSA_N_KINDS)
		return;
	ret->blank = bsa_blank(ret->kind);

	layout = bsa_layout(ret->kind);
	payload = bt_event_class_borrow_payload_field_class_const(class);
	n = payload ? bt_field_class_structure_get_member_count(payload) : 0;
	for (uint64_t i = 0; i < n; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(payload, i);
		const char *field = bt_field_class_structure_member_get_name(member);
		const struct bsa_column *column;
		struct bsa_step step;
		int at = 0;

		while (at < layout->n_columns && strcmp(layout->columns[at].name, field) != 0)
			at++;
		if (at == layout->n_columns) {
			ret->unknown++;
			continue;
		}
		column = &layout->columns[at];
		step = (struct bsa_step){ .member = i,
			                  .at = column->at,
			                  .bytes = column->bytes,
			                  .n = column->n,
			                  .to_signed = column->shape == BSA_SHAPE_SIGNED };
		if (!(seen & UINT32_C(1) << at) &&
		    step_fits(&step, column, bt_field_class_structure_member_borrow_field_class_const(member))) {
			seen |= UINT32_C(1) << at;
			ret->steps[ret->n_steps++] = step;
		}
	}
	ret->usable = (seen & layout->needed) == layout->needed;
}

void bsa_put_fitting(void *at, uint8_t bytes, bool to_signed, uint64_t value, bool from_signed)
{
	int64_t s = from_signed ? (int64_t)value : 0;
	uint64_t max = (UINT64_MAX >> (64 - 8 * bytes)) >> to_signed;

	if (s < 0) {
		if (!to_signed)
			value = max;
		else if (s < -(int64_t)max - 1)
			value = ~max;
	} else if (value > max) {
		value = max;
	}
	switch (bytes) { /* the host's order, whatever that is */
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

static void put_fitting(void *at, uint8_t bytes, bool to_signed, const bt_field *field, bool from_signed)
{
	uint64_t u = from_signed ? (uint64_t)bt_field_integer_signed_get_value(field)
	                         : bt_field_integer_unsigned_get_value(field);

	bsa_put_fitting(at, bytes, to_signed, u, from_signed);
}

void bsa_plan_read(const struct bsa_plan *plan, const bt_event *event, struct bsa_event *ret)
{
	const bt_field *payload = bt_event_borrow_payload_field_const(event);
	const struct bsa_step *step = plan->steps, *end = step + plan->n_steps;
	uint64_t *words = (uint64_t *)ret, n;

	for (unsigned i = 0; i < ((const struct bsa_event *)plan->blank)->size / 8u; i++)
		words[i] = plan->blank[i];
	for (; step < end; step++) {
		const bt_field *field = bt_field_structure_borrow_member_field_by_index_const(payload, step->member);
		void *at = (char *)ret + step->at;

		switch ((enum bsa_op)step->op) {
		case BSA_OP_U8:
			*(uint8_t *)at = (uint8_t)bt_field_integer_unsigned_get_value(field);
			break;
		case BSA_OP_U16:
			*(uint16_t *)at = (uint16_t)bt_field_integer_unsigned_get_value(field);
			break;
		case BSA_OP_U32:
			*(uint32_t *)at = (uint32_t)bt_field_integer_unsigned_get_value(field);
			break;
		case BSA_OP_U64:
			*(uint64_t *)at = bt_field_integer_unsigned_get_value(field);
			break;
		case BSA_OP_NUMBER:
			put_fitting(at, step->bytes, step->to_signed, field, step->from_signed);
			break;
		case BSA_OP_ARRAY:
			n = bt_field_array_get_length(field);
			for (uint64_t i = 0; i < n && i < step->n; i++)
				put_fitting((char *)at + i * step->bytes, step->bytes, false,
				            bt_field_array_borrow_element_field_by_index_const(field, i),
				            step->from_signed);
			break;
		case BSA_OP_TEXT:
			n = bt_field_string_get_length(field);
			memcpy(at, bt_field_string_get_value(field), n < step->bytes ? n : step->bytes - 1u);
			break;
		}
	}
}

const struct bsa_plan *bsa_plans_add(struct bsa_plans *plans, const bt_event_class *class)
{
	struct bsa_plan *plan;

	if (!plans->table.chains && bsa_table_init(&plans->table))
		return NULL;
	plan = malloc(sizeof(*plan));
	if (!plan)
		return NULL;
	bsa_plan_make(plan, class);
	bsa_table_add(&plans->table, &plan->entry, bsa_plan_number(class));
	return plan;
}

void bsa_plans_fini(struct bsa_plans *plans)
{
	struct bsa_table_walk walk = { 0 };
	struct bsa_plan *plan;

	while (plans->table.chains && (plan = bsa_table_walk(&plans->table, &walk)))
		free(plan);
	bsa_table_fini(&plans->table);
}
