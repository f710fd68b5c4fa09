/* recipe.c -- finds where in the bytes of a trace's packets the fields are. */
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "tsdl.h"

enum { ID_MAX = 65535, BYTES_MAX = 1 << 20, PARTS_MAX = 1024 };

/* ---- what babeltrace2 makes of it ---- */

static bool class_is(const bt_field_class *class, bt_field_class_type type)
{
	return bt_field_class_type_is(bt_field_class_get_type(class), type);
}

static bool structures_agree(const struct bsa_tsdl_type *type, const bt_field_class *class);

static bool types_agree(const struct bsa_tsdl_type *type, const bt_field_class *class)
{
	if ((type->kind == BSA_TSDL_ARRAY || type->kind == BSA_TSDL_SEQUENCE) && type->is_text)
		return class_is(class, BT_FIELD_CLASS_TYPE_STRING);
	switch (type->kind) {
	case BSA_TSDL_INTEGER:
		return class_is(class, type->is_signed ? BT_FIELD_CLASS_TYPE_SIGNED_INTEGER
		                                       : BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) &&
		       bt_field_class_integer_get_field_value_range(class) == type->bits;
	case BSA_TSDL_REAL:
		return class_is(class, type->bits == 32 ? BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL
		                                        : BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL);
	case BSA_TSDL_STRING:
		return class_is(class, BT_FIELD_CLASS_TYPE_STRING);
	case BSA_TSDL_STRUCT:
		return class_is(class, BT_FIELD_CLASS_TYPE_STRUCTURE) && structures_agree(type, class);
	case BSA_TSDL_ARRAY:
		return class_is(class, BT_FIELD_CLASS_TYPE_STATIC_ARRAY) &&
		       bt_field_class_array_static_get_length(class) == type->length &&
		       types_agree(type->element, bt_field_class_array_borrow_element_field_class_const(class));
	case BSA_TSDL_SEQUENCE:
		return class_is(class, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY) &&
		       types_agree(type->element, bt_field_class_array_borrow_element_field_class_const(class));
	default:
		return false;
	}
}

/* Both NULL is fine, too: it is the same as none. */
static bool structures_agree(const struct bsa_tsdl_type *type, const bt_field_class *class)
{
	const struct bsa_tsdl_field *field = type ? type->fields : NULL;
	uint64_t n = class ? bt_field_class_structure_get_member_count(class) : 0;

	for (uint64_t i = 0; i < n; i++, field = field->next) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(class, i);

		if (!field || strcmp(bsa_tsdl_name(field->name), bt_field_class_structure_member_get_name(member)) ||
		    !types_agree(field->type, bt_field_class_structure_member_borrow_field_class_const(member)))
			return false;
	}
	return !field;
}

/* ---- what stands in a packet's header ---- */

static bool whole_bytes(const struct bsa_tsdl_type *type)
{
	return (type->bits == 8 || type->bits == 16 || type->bits == 32 || type->bits == 64) && type->align <= 8;
}

/* How many bytes it always has, or 0. */
static uint32_t fixed_bytes(const struct bsa_tsdl_type *type)
{
	if (type->kind == BSA_TSDL_INTEGER && whole_bytes(type))
		return type->bits / 8;
	if (type->kind == BSA_TSDL_ARRAY && type->element->kind == BSA_TSDL_INTEGER && whole_bytes(type->element) &&
	    type->length <= BSA_HEAD_MAX)
		return (uint32_t)type->length * (type->element->bits / 8);
	return 0;
}

struct wanted {
	const char *name;
	struct bsa_spot *spot;
	bool clock; /* a time */
};

/* Find them in a structure that begins @at; no other field is a time. False: it cannot be read. */
static bool find_spots(const struct bsa_tsdl_type *structure, uint32_t *at, const struct wanted *wanted, size_t n)
{
	if (!structure || structure->align > 8)
		return false;
	for (const struct bsa_tsdl_field *field = structure->fields; field; field = field->next) {
		uint32_t bytes = fixed_bytes(field->type);
		bool clock = false;

		for (size_t i = 0; i < n; i++) {
			if (strcmp(wanted[i].name, bsa_tsdl_name(field->name)))
				continue;
			if (field->type->kind != BSA_TSDL_INTEGER || field->type->is_signed)
				return false;
			*wanted[i].spot = (struct bsa_spot){ .at = (uint16_t)*at, .bytes = (uint8_t)bytes };
			clock = wanted[i].clock;
		}
		if (!bytes || bytes > BSA_HEAD_MAX - *at || field->type->is_clock != clock)
			return false;
		*at += bytes;
	}
	return true;
}

/* Where the trace's uuid stands. */
static bool find_uuid(struct bsa_recipe *recipe, const struct bsa_tsdl *tsdl)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t at = 0;
	size_t n = 0;

	for (const struct bsa_tsdl_field *field = tsdl->packet_header->fields; field; field = field->next) {
		const struct bsa_tsdl_type *type = field->type;

		if (!strcmp(bsa_tsdl_name(field->name), "uuid")) {
			if (type->kind != BSA_TSDL_ARRAY || type->length != 16 || type->element->bits != 8)
				return false;
			recipe->has_uuid = true;
			recipe->uuid_at = (uint16_t)at;
		}
		at += fixed_bytes(type);
	}
	if (!*tsdl->uuid)
		return !recipe->has_uuid;
	for (const char *p = tsdl->uuid; *p; p++) {
		const char *digit = memchr(digits, *p, 16);

		if (*p == '-')
			continue;
		if (!digit || n == 32)
			return false;
		recipe->uuid[n / 2] = (uint8_t)(recipe->uuid[n / 2] << 4 | (digit - digits));
		n++;
	}
	return n == 32;
}

/* ---- what stands before an event ---- */

static bool is_number(const struct bsa_tsdl_field *field, const char *name, unsigned bits, bool clock)
{
	return field && !strcmp(field->name, name) && field->type->kind == BSA_TSDL_INTEGER &&
	       !field->type->is_signed && field->type->bits == bits && field->type->align <= 8 &&
	       field->type->is_clock == clock;
}

static bool is_label(const struct bsa_tsdl_label *label, const char *name, uint64_t first, uint64_t last)
{
	return label && !strcmp(label->name, name) && label->first == first && label->last == last;
}

/* One of LTTng's: @bits of number, and @time_bits of time; or the number's last one, and then both. */
static bool is_lttng_header(const struct bsa_tsdl_type *header, unsigned bits, unsigned time_bits)
{
	const struct bsa_tsdl_field *id = header->fields, *v = id ? id->next : NULL, *compact, *extended;
	const struct bsa_tsdl_label *labels = id ? id->type->labels : NULL;
	uint64_t last = (UINT64_C(1) << bits) - 1;
	unsigned align = bits % 8 ? 1 : 8;

	if (header->align != 8 || !is_number(id, "id", bits, false) || id->type->align != align || !v || v->next ||
	    v->type->kind != BSA_TSDL_VARIANT || strcmp(v->type->by, "id") ||
	    !is_label(labels, "compact", 0, last - 1) || !is_label(labels->next, "extended", last, last) ||
	    labels->next->next)
		return false;
	compact = v->type->fields;
	extended = compact ? compact->next : NULL;
	if (!extended || extended->next || strcmp(compact->name, "compact") || strcmp(extended->name, "extended") ||
	    compact->type->kind != BSA_TSDL_STRUCT || extended->type->kind != BSA_TSDL_STRUCT ||
	    compact->type->align != align || extended->type->align != 8)
		return false;
	return is_number(compact->type->fields, "timestamp", time_bits, true) &&
	       compact->type->fields->type->align == align && !compact->type->fields->next &&
	       is_number(extended->type->fields, "id", 32, false) && extended->type->fields->type->align == 8 &&
	       is_number(extended->type->fields->next, "timestamp", 64, true) && !extended->type->fields->next->next;
}

static bool read_event_header(struct bsa_recipe_stream *stream, const struct bsa_tsdl_type *header)
{
	if (!header || header->align > 8)
		return false;
	if (is_lttng_header(header, 5, 27)) {
		stream->header = BSA_HEADER_COMPACT;
		return true;
	}
	if (is_lttng_header(header, 16, 32)) {
		stream->header = BSA_HEADER_LARGE;
		return true;
	}
	stream->header = BSA_HEADER_PLAIN;
	return is_number(header->fields, "id", 64, false) && is_number(header->fields->next, "timestamp", 64, true) &&
	       !header->fields->next->next;
}

/* ---- what an event is made of ---- */

struct cook {
	struct bsa_recipe_event *event;
	const struct bsa_plan *plan;
	size_t room;
	uint64_t where;
	bool failed;
};

static struct bsa_part *add_part(struct cook *cook, struct bsa_part part)
{
	struct bsa_recipe_event *event = cook->event;

	if (event->n_parts == PARTS_MAX || !BSA_RESERVE(event->parts, cook->room, event->n_parts + 1, 16)) {
		cook->failed = true;
		return NULL;
	}
	part.where = (uint32_t)cook->where;
	event->parts[event->n_parts] = part;
	return &event->parts[event->n_parts++];
}

static const struct bsa_step *step_of(const struct bsa_plan *plan, uint64_t member)
{
	for (unsigned i = 0; plan && i < plan->n_steps; i++)
		if (plan->steps[i].member == member)
			return &plan->steps[i];
	return NULL;
}

/* How so many bytes are copied as they are. */
static enum bsa_copy plain_copy(uint64_t bytes)
{
	switch (bytes) {
	case 8:
		return BSA_COPY_8;
	case 4:
		return BSA_COPY_4;
	case 2:
		return BSA_COPY_2;
	case 1:
		return BSA_COPY_1;
	default:
		return BSA_COPY_MANY;
	}
}

/* Add the work of the plan's step to the part. */
static void part_want(struct bsa_part *part, const struct bsa_step *step)
{
	bool array = step->op == BSA_OP_ARRAY;

	part->wanted = true;
	part->at = step->at;
	part->bytes = step->bytes;
	part->room = array ? step->n : 1;
	part->from_signed = step->from_signed;
	part->to_signed = !array && step->to_signed;
	if (part->from != part->bytes || part->from_signed != part->to_signed)
		part->copy = BSA_COPY_FITTING;
	else
		part->copy = part->room == 1 ? plain_copy(part->from) : BSA_COPY_MANY;
}

/* Arrays, and sequences whose length stands right before them. */
static void cook_many(struct cook *cook, const struct bsa_tsdl_type *type, const struct bsa_tsdl_field *before,
                      const struct bsa_step *step)
{
	const struct bsa_tsdl_type *element = type->element;
	bool sequence = type->kind == BSA_TSDL_SEQUENCE;
	struct bsa_part *part;

	if ((element->kind != BSA_TSDL_INTEGER && element->kind != BSA_TSDL_REAL) || element->is_clock ||
	    !whole_bytes(element) || type->length > BYTES_MAX ||
	    (sequence && (!before || strcmp(before->name, type->by) || before->type->kind != BSA_TSDL_INTEGER ||
	                  before->type->is_signed))) {
		cook->failed = true;
		return;
	}
	if (sequence) {
		cook->event->fixed = false;
		cook->event->parts[cook->event->n_parts - 1].counts = true;
	}
	part = add_part(cook, (struct bsa_part){ .kind = type->is_text ? BSA_PART_LETTERS : BSA_PART_NUMBERS,
	                                         .n = type->length,
	                                         .counted = sequence,
	                                         .from = (uint8_t)(element->bits / 8) });
	if (part && step)
		part_want(part, step);
	if (part && part->wanted && part->kind == BSA_PART_LETTERS)
		cook->event->fixed = false;
	cook->where += type->length * (element->bits / 8);
}

/* @planned: it is the payload, whose fields the plan knows. */
static void cook_structure(struct cook *cook, const struct bsa_tsdl_type *structure, bool planned)
{
	const struct bsa_tsdl_field *before = NULL;
	uint64_t member = 0;

	if (structure && structure->align > 8)
		cook->failed = true;
	for (const struct bsa_tsdl_field *field = structure ? structure->fields : NULL; field && !cook->failed;
	     before = field, field = field->next, member++) {
		const struct bsa_step *step = planned ? step_of(cook->plan, member) : NULL;
		struct bsa_part *part;

		switch (field->type->kind) {
		case BSA_TSDL_INTEGER:
		case BSA_TSDL_REAL:
			if (field->type->is_clock || !whole_bytes(field->type)) {
				cook->failed = true;
				break;
			}
			part = add_part(cook, (struct bsa_part){ .kind = BSA_PART_NUMBERS,
			                                         .n = 1,
			                                         .from = (uint8_t)(field->type->bits / 8) });
			if (part && step)
				part_want(part, step);
			cook->where += field->type->bits / 8;
			break;
		case BSA_TSDL_ARRAY:
		case BSA_TSDL_SEQUENCE:
			cook_many(cook, field->type, before, step);
			break;
		case BSA_TSDL_STRING:
			part = add_part(cook, (struct bsa_part){ .kind = BSA_PART_STRING, .n = 1 });
			if (part && step)
				part_want(part, step);
			cook->event->fixed = false;
			break;
		case BSA_TSDL_STRUCT:
			cook_structure(cook, field->type, false);
			break;
		default:
			cook->failed = true;
		}
		if (cook->where > BYTES_MAX)
			cook->failed = true;
	}
}

static bool cook_event(struct bsa_recipe_stream *stream, const struct bsa_tsdl_stream *of,
                       const struct bsa_tsdl_event *from, const bt_event_class *class)
{
	struct bsa_recipe_event *event = &stream->events[from->id];
	struct bsa_plan plan;
	struct cook cook = { .event = event, .plan = &plan };
	const char *name = bt_event_class_get_name(class);

	if (event->known || !name || strcmp(name, from->name) ||
	    !structures_agree(from->context, bt_event_class_borrow_specific_context_field_class_const(class)) ||
	    !structures_agree(from->payload, bt_event_class_borrow_payload_field_class_const(class)))
		return false;
	bsa_plan_make(&plan, class);
	event->known = event->fixed = true;
	event->kind = plan.kind;
	event->usable = plan.usable;
	event->blank = plan.blank;
	cook_structure(&cook, of->event_context, false);
	cook_structure(&cook, from->context, false);
	cook_structure(&cook, from->payload, true);
	event->bytes = (uint32_t)cook.where;
	if (cook.failed)
		return false;

	event->copies = calloc(event->n_parts + 1, sizeof(*event->copies));
	if (!event->copies)
		return false;
	for (size_t i = 0; i < event->n_parts; i++) {
		struct bsa_part *copy = &event->copies[event->n_copies];
		struct bsa_part *before = event->n_copies ? copy - 1 : NULL;
		uint64_t bytes = before ? before->n * before->bytes : 0;

		if (!event->parts[i].wanted)
			continue;
		*copy = event->parts[i];
		if (copy->n > copy->room)
			copy->n = copy->room;
		/* One copy does where what two copy stands side by side in both trace and record. */
		if (event->fixed && before && before->copy != BSA_COPY_FITTING && copy->copy != BSA_COPY_FITTING &&
		    before->where + bytes == copy->where && before->at + bytes == copy->at) {
			before->n = bytes + copy->n * copy->bytes;
			before->from = before->bytes = 1;
			before->copy = plain_copy(before->n);
			continue;
		}
		event->n_copies++;
	}
	return true;
}

/* ---- all of it ---- */

static bool cook_events(struct bsa_recipe_stream *stream, const struct bsa_tsdl *tsdl,
                        const struct bsa_tsdl_stream *from, const bt_stream_class *class)
{
	uint64_t max = 0;
	size_t n = 0;

	for (const struct bsa_tsdl_event *event = tsdl->events; event; event = event->next) {
		if (event->stream != from->id)
			continue;
		n++;
		if (event->id > max)
			max = event->id;
	}
	if (n != bt_stream_class_get_event_class_count(class) || max > ID_MAX)
		return false;
	stream->n_events = max + 1;
	stream->events = calloc(stream->n_events, sizeof(*stream->events));
	if (!stream->events)
		return false;
	for (const struct bsa_tsdl_event *event = tsdl->events; event; event = event->next) {
		const bt_event_class *of;

		if (event->stream != from->id)
			continue;
		of = bt_stream_class_borrow_event_class_by_id_const(class, event->id);
		if (!of || !cook_event(stream, from, event, of))
			return false;
	}
	return true;
}

/* Whether babeltrace2's fields of the packet context are the same: those that it does not use for times and counts. */
static bool packets_agree(const struct bsa_recipe_stream *stream, const bt_stream_class *class)
{
	const bt_field_class *context = bt_stream_class_borrow_packet_context_field_class_const(class);
	const bt_field_class_structure_member *cpu =
		context ? bt_field_class_structure_borrow_member_by_name_const(context, "cpu_id") : NULL;
	bool discarded = stream->discarded.bytes, number = stream->number.bytes;

	if (cpu && !class_is(bt_field_class_structure_member_borrow_field_class_const(cpu),
	                     BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return false;
	return !cpu == !stream->cpu.bytes && bt_stream_class_supports_packets(class) &&
	       bt_stream_class_packets_have_beginning_default_clock_snapshot(class) &&
	       bt_stream_class_packets_have_end_default_clock_snapshot(class) &&
	       !bt_stream_class_supports_discarded_events(class) == !discarded &&
	       !bt_stream_class_supports_discarded_packets(class) == !number &&
	       (!discarded || bt_stream_class_discarded_events_have_default_clock_snapshots(class)) &&
	       (!number || bt_stream_class_discarded_packets_have_default_clock_snapshots(class));
}

static bool cook_stream(struct bsa_recipe *recipe, const struct bsa_tsdl *tsdl, const struct bsa_tsdl_stream *from,
                        const bt_stream_class *class)
{
	struct bsa_recipe_stream *stream = &recipe->streams[recipe->n_streams];
	const struct wanted header[] = { { "magic", &recipe->magic, false },
		                         { "stream_id", &recipe->stream, false },
		                         { "stream_instance_id", &recipe->instance, false } };
	const struct wanted context[] = {
		{ "packet_size", &stream->packet_bits, false },
		{ "content_size", &stream->content_bits, false },
		{ "timestamp_begin", &stream->began, true },
		{ "timestamp_end", &stream->ended, true },
		{ "events_discarded", &stream->discarded, false },
		{ "packet_seq_num", &stream->number, false },
		{ "cpu_id", &stream->cpu, false },
	};
	const bt_clock_class *clock = class ? bt_stream_class_borrow_default_clock_class_const(class) : NULL;
	const char *name = clock ? bt_clock_class_get_name(clock) : NULL;

	if (!name || strcmp(name, tsdl->clock) || bt_clock_class_get_frequency(clock) != tsdl->frequency ||
	    bsa_recipe_stream(recipe, from->id))
		return false;
	*stream = (struct bsa_recipe_stream){ .id = from->id };
	recipe->n_streams++;

	if (!find_spots(tsdl->packet_header, &stream->head, header, sizeof(header) / sizeof(header[0])) ||
	    recipe->magic.bytes != 4 || !recipe->stream.bytes || !recipe->instance.bytes || !find_uuid(recipe, tsdl))
		return false;
	if (!find_spots(from->packet_context, &stream->head, context, sizeof(context) / sizeof(context[0])) ||
	    !stream->packet_bits.bytes || !stream->content_bits.bytes || stream->began.bytes != 8 ||
	    stream->ended.bytes != 8 || (stream->discarded.bytes && stream->discarded.bytes != 8) ||
	    (stream->number.bytes && stream->number.bytes != 8))
		return false;
	return packets_agree(stream, class) && read_event_header(stream, from->event_header) &&
	       structures_agree(from->event_context,
	                        bt_stream_class_borrow_event_common_context_field_class_const(class)) &&
	       cook_events(stream, tsdl, from, class);
}

static bool cook_all(struct bsa_recipe *recipe, const struct bsa_tsdl *tsdl, const bt_trace_class *class)
{
	bool by_lttng = !strcmp(tsdl->tracer, "lttng-ust");
	size_t n = 0;

	for (const struct bsa_tsdl_stream *stream = tsdl->streams; stream; stream = stream->next)
		n++;
	if (!n || n != bt_trace_class_get_stream_class_count(class) || !*tsdl->clock || !tsdl->frequency)
		return false;

	/* babeltrace2 corrects known errors of older versions and other tracers: such traces have no recipe. */
	if (by_lttng ? tsdl->tracer_major != 2 || tsdl->tracer_minor < 11 : *tsdl->tracer != 0)
		return false;
	recipe->frequency = tsdl->frequency;
	recipe->streams = calloc(n, sizeof(*recipe->streams));
	for (const struct bsa_tsdl_stream *stream = tsdl->streams; stream; stream = stream->next)
		if (!recipe->streams || !cook_stream(recipe, tsdl, stream,
		                                     bt_trace_class_borrow_stream_class_by_id_const(class, stream->id)))
			return false;
	return true;
}

struct bsa_recipe *bsa_recipe_make(const char *text, const bt_trace_class *class)
{
	struct bsa_tsdl *tsdl = bsa_tsdl_parse(text);
	struct bsa_recipe *recipe = calloc(1, sizeof(*recipe));

	if (!tsdl || !recipe || !cook_all(recipe, tsdl, class))
		recipe = bsa_recipe_free(recipe);
	bsa_tsdl_free(tsdl);
	return recipe;
}

struct bsa_recipe *bsa_recipe_free(struct bsa_recipe *recipe)
{
	if (!recipe)
		return NULL;
	for (size_t i = 0; i < recipe->n_streams; i++) {
		struct bsa_recipe_stream *stream = &recipe->streams[i];

		for (size_t k = 0; stream->events && k < stream->n_events; k++) {
			free(stream->events[k].parts);
			free(stream->events[k].copies);
		}
		free(stream->events);
	}
	free(recipe->streams);
	free(recipe);
	return NULL;
}

const struct bsa_recipe_stream *bsa_recipe_stream(const struct bsa_recipe *recipe, uint64_t id)
{
	for (size_t i = 0; i < recipe->n_streams; i++)
		if (recipe->streams[i].id == id)
			return &recipe->streams[i];
	return NULL;
}
