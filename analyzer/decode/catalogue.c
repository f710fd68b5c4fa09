/* catalogue.c -- makes the table of fields of nbt/events.def, and asserts that both agree. */
#include "catalogue.h"

#include <assert.h>
#include <string.h>

#include "nbt/events.h"

/* Kinds have the catalogue's order and names, and every record has its place in a batch. */
#define NBT_EVENT(name, sides, level, about, fields)                                                             \
	_Static_assert((int)BSA_##name == (int)NBT_EVENT_##name, "the catalogue's order");                       \
	_Static_assert(sizeof(struct bsa_event) + sizeof(struct bsa_##name) + 8 <= BSA_RECORD_MAX, "room for a " \
	                                                                                           "record");
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
_Static_assert((int)BSA_loss == (int)NBT_EVENTS, "every event of the catalogue has a record");

/* 0, so that they can stand in an expression: all numbers of a field fit into what a record has for it. */
#define HOLDS(condition)                                                                        \
	(0 * sizeof(struct {                                                                    \
		 _Static_assert(condition, "a record's field holds less than the catalogue's"); \
		 char c;                                                                        \
	 }))
#define IS_SIGNED(type) ((type)-1 < (type)1)
#define TYPE_OF(expression) __typeof__(expression)
#define FITS(type, member) HOLDS(sizeof(type) <= sizeof(member) && IS_SIGNED(type) == IS_SIGNED(TYPE_OF(member)))
#define OF(name) (((self *)0)->name)
#define AT(name) (uint16_t)(sizeof(struct bsa_event) + offsetof(self, name))

/* A function an event: in it, `self` is the event's own struct. */
#define NBT_EVENT(name, sides, level, about, fields)                     \
	static const struct bsa_column *columns_of_##name(uint16_t *ret) \
	{                                                                \
		typedef struct bsa_##name self;                          \
		static const struct bsa_column columns[] = { fields };   \
		*ret = sizeof(columns) / sizeof(columns[0]);             \
		return columns;                                          \
	}
/* clang-format off */
#define NBT_INT(type, name)                                                                 \
	{ #name, AT(name), (uint8_t)(sizeof(OF(name)) + FITS(nbt_##type, OF(name))), 1,     \
	  IS_SIGNED(TYPE_OF(OF(name))) ? BSA_SHAPE_SIGNED : BSA_SHAPE_UNSIGNED },
#define NBT_LABEL(enumeration, name) NBT_INT(u8, name)
#define NBT_ARRAY(type, name, count)                                                        \
	{ #name, AT(name), (uint8_t)(sizeof(OF(name)[0]) + FITS(nbt_##type, OF(name)[0])),  \
	  (uint8_t)(count + HOLDS(sizeof(OF(name)) == (count) * sizeof(OF(name)[0]))), BSA_SHAPE_ARRAY },
#define NBT_TEXT(name)                                                                      \
	{ #name, AT(name), (uint8_t)(sizeof(OF(name)) + HOLDS(sizeof(OF(name)) > NBT_TEXT_MAX)), 1, BSA_SHAPE_TEXT },
#include "nbt/events.def"

/* The fields without which an event means nothing: for most, the number of an execution. */
static const char *const needed[BSA_N_KINDS][2] = {
	[BSA_service_state] = { "instance" },
	[BSA_client_connect] = { "conn" },
	[BSA_client_disconnect] = { "conn" },
	[BSA_model_prepare] = { "model" },
	[BSA_model_release] = { "model" },
	[BSA_stream_open] = { "stream", "path" },
	[BSA_stream_close] = { "stream" },
	[BSA_performance_hold] = { "on" },
	[BSA_fmq_write] = { "exec", "queue" },
	[BSA_fmq_read] = { "exec", "queue" },
	[BSA_slot_lookup] = { "exec", "hit" },
	[BSA_pool_map] = { "owner", "owner_id" },
	[BSA_pool_unmap] = { "owner", "owner_id" },
	[BSA_deadline_miss] = { "exec", "stage" },
	[BSA_resource_exhausted] = { "owner", "resource" },
	[BSA_exec_state] = { "exec", "phase" },
	[BSA_buffer_allocate] = { "buffer" },
	[BSA_buffer_copy] = { "buffer" },
	[BSA_buffer_reject] = { "buffer" },
	[BSA_buffer_free] = { "buffer" },
	[BSA_app_span] = { "kind", "owner_id" },
};
/* clang-format on */

static struct bsa_layout layouts[BSA_loss];
static uint64_t blanks[BSA_loss][BSA_RECORD_MAX / 8];

static void layout_fill(enum bsa_kind kind, const char *name, size_t bytes, const struct bsa_column *columns,
                        uint16_t n)
{
	struct bsa_layout *layout = &layouts[kind];
	struct bsa_event *blank = (struct bsa_event *)blanks[kind];
	const char *first = needed[kind][0] ? needed[kind][0] : "exec", *second = needed[kind][1];

	*layout = (struct bsa_layout){ .name = name, .columns = columns, .n_columns = n };
	layout->bytes = (uint16_t)((sizeof(struct bsa_event) + bytes + 7) / 8 * 8);
	assert(n <= BSA_COLUMNS_MAX);
	for (uint16_t i = 0; i < n; i++) {
		const struct bsa_column *column = &columns[i];

		if (!strcmp(column->name, first) || (second && !strcmp(column->name, second)))
			layout->needed |= UINT32_C(1) << i;
		/* An unknown value is 0, except for these: all ones. */
		if (column->shape == BSA_SHAPE_ARRAY || !strcmp(column->name, "cpu_ns") ||
		    !strcmp(column->name, "lane") || !strcmp(column->name, "deadlines") ||
		    !strcmp(column->name, "client_spin_us"))
			memset((char *)blank + column->at, 0xff, (size_t)column->bytes * column->n);
	}
	assert(layout->needed);
	blank->kind = (uint16_t)kind;
	blank->size = layout->bytes;
}

/* Before main, so that no thread has to ask whether it is there. */
__attribute__((constructor)) static void fill_all(void)
{
	const struct bsa_column *columns;
	uint16_t n;

#define NBT_EVENT(name, sides, level, about, fields) \
	columns = columns_of_##name(&n);             \
	layout_fill(BSA_##name, #name, sizeof(struct bsa_##name), columns, n);
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
}

const struct bsa_layout *bsa_layout(enum bsa_kind kind)
{
	assert(kind < BSA_loss);
	return &layouts[kind];
}

enum bsa_kind bsa_kind_named(const char *name)
{
	for (int i = 0; i < BSA_loss; i++)
		if (!strcmp(layouts[i].name, name))
			return (enum bsa_kind)i;
	return BSA_N_KINDS;
}

const uint64_t *bsa_blank(enum bsa_kind kind)
{
	assert(kind < BSA_loss);
	return blanks[kind];
}
