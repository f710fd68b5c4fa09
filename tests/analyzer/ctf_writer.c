/*
 * ctf_writer.c -- see ctf_writer.h: what is to be written is kept until the end, and then handed to babeltrace2's
 * sink by a source component of our own, packet by packet, stream by stream.
 */
#include "analyzer/ctf_writer.h"

#include <babeltrace2/babeltrace.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/script.h"
#include "base.h"

enum { CPUS = 64, FIELDS = 20, CLASSES = 80, NS = 1000000000 };

static _Noreturn void __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "ctf_writer: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

static void *must(void *p)
{
	if (!p)
		wrong("no memory, or babeltrace2 does not want to");
	return p;
}

#define DONE(call)                                \
	do {                                      \
		if ((call) != 0)                  \
			wrong("%s fails", #call); \
	} while (0)

/* ---- event classes ---- */

struct field {
	const char *name;        /* NULL: there are no more */
	const char *enumeration; /* NULL if the numbers have no names */
	size_t at, bytes;        /* bytes of a number, in what is kept of an event */
	unsigned n, bits;        /* n: numbers; 0: as many as are given, the first being how many */
	char kind;               /* u, i, f, or t: text */
};

enum level { RARE, FULL, VERBOSE, COMPACT, OTHER };

struct class
{
	const char *name; /* the provider's, too */
	struct field fields[FIELDS + 1];
	size_t bytes; /* bytes of what is kept of an event */
	char *words;  /* for an event that was defined: where its fields have their names */
	enum level level;
	bt_event_class *bt;
};

static const struct {
	const char *enumeration, *label;
	uint64_t number;
} labels[] = {
#define NBT_ENUMERATION(name, list) list
#define NBT_VALUE(name, text, value) { #name, #text, value },
#include "nbt/enums.def"
};

#define MEMBER(member) (((record *)0)->member)
#define NBT_EVENT(event, sides, lev, about, list)                                                                 \
	static const struct class *class_of_##event(void)                                                         \
	{                                                                                                         \
		typedef struct bsa_##event record;                                                                \
		static const struct class class = {                                                               \
			.name = "nnburst:" #event, .fields = { list{ 0 } }, .bytes = sizeof(record), .level = lev \
		};                                                                                                \
		return &class;                                                                                    \
	}
/* clang-format off */
#define NUMBER(member, letter, width, ...) \
	{ .name = #member, .at = offsetof(record, member), .kind = letter, .bits = width, __VA_ARGS__ },
#define NBT_INT(type, member) \
	NUMBER(member, #type[0], 8 * sizeof(MEMBER(member)), .n = 1, .bytes = sizeof(MEMBER(member)))
#define NBT_LABEL(labels, member) \
	NUMBER(member, 'u', 8, .n = 1, .bytes = sizeof(MEMBER(member)), .enumeration = #labels)
#define NBT_ARRAY(type, member, count) \
	NUMBER(member, #type[0], 8 * sizeof(MEMBER(member)[0]), .n = count, .bytes = sizeof(MEMBER(member)[0]))
#define NBT_TEXT(member) NUMBER(member, 't', 8, .n = BSA_TEXT, .bytes = 1)
#include "nbt/events.def"
/* clang-format on */

static const struct class *(*const catalogue[])(void) = {
#define NBT_EVENT(name, sides, level, about, fields) class_of_##name,
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
};

/* ---- what is to be written ---- */

struct event {
	uint64_t at;
	struct class *class; /* NULL: a loss */
	void *data;          /* its fields; of a loss, a struct bsa_loss */
};

struct stream {
	struct event *events;
	size_t n, room;
};

enum what { STREAM_BEGINS, PACKET_BEGINS, EVENT, PACKET_ENDS, LOST_EVENTS, LOST_PACKETS, STREAM_ENDS };

struct op {
	enum what what;
	unsigned cpu;
	uint64_t at, ended;
	const struct event *event;
};

struct ctf_writer {
	char *directory;
	struct ctf_options options;
	struct class classes[CLASSES];
	size_t n_classes;
	struct stream streams[CPUS];
	struct op *ops;
	size_t n_ops, ops_room, next;

	bt_stream_class *stream_class;
	bt_trace *trace;
	bt_stream *stream;
	bt_packet *packet;
};

static char *text(const char *s, const char *otherwise)
{
	return must(strdup(s ? s : otherwise));
}

static char *uuid_of(const char *directory)
{
	uint64_t h[2] = { 0xcbf29ce484222325, 0x84222325cbf29ce4 };
	char *uuid = NULL;

	for (const char *p = directory; *p; p++)
		for (int i = 0; i < 2; i++)
			h[i] = (h[i] ^ (unsigned char)*p) * 0x100000001b3;
	if (asprintf(&uuid, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(h[0] >> 32), (unsigned)(h[0] >> 16) & 0xffff,
	             (unsigned)h[0] & 0xfff, (unsigned)(h[1] >> 52), (unsigned long long)h[1] & 0xffffffffffff) < 0)
		wrong("no memory");
	return uuid;
}

struct ctf_writer *ctf_writer_new(const char *directory, const struct ctf_options *options)
{
	struct ctf_writer *w = must(calloc(1, sizeof(*w)));

	w->directory = text(directory, "");
	w->options = *options;
	w->options.uuid = options->uuid ? text(options->uuid, "") : uuid_of(directory);
	w->options.host = text(options->host, "host");
	w->options.session = text(options->session, "session");
	w->options.clock_uuid = text(options->clock_uuid, "00112233-4455-4677-8899-aabbccddeeff");
	w->options.frequency = options->frequency ? options->frequency : NS;
	w->options.packet = options->packet ? options->packet : 1000;
	for (; w->n_classes < N_OF(catalogue); w->n_classes++)
		w->classes[w->n_classes] = *catalogue[w->n_classes]();
	return w;
}

static void keep(struct ctf_writer *w, unsigned cpu, uint64_t at, struct class *class, const void *data, size_t bytes)
{
	struct stream *stream = &w->streams[cpu];
	struct event *event;

	if (cpu >= CPUS)
		wrong("cpu %u is too many", cpu);
	if (!w->options.backwards && stream->n && at < stream->events[stream->n - 1].at)
		wrong("%llu on cpu %u: time goes backwards", (unsigned long long)at, cpu);
	if (stream->n == stream->room) {
		stream->room = stream->room ? stream->room * 2 : 64;
		stream->events = must(realloc(stream->events, stream->room * sizeof(*stream->events)));
	}
	event = &stream->events[stream->n++];
	*event = (struct event){ .at = at, .class = class, .data = must(malloc(bytes)) };
	memcpy(event->data, data, bytes);
	if (cpu >= w->options.cpus)
		w->options.cpus = cpu + 1;
}

void ctf_writer_record(struct ctf_writer *w, unsigned cpu, const struct bsa_event *record)
{
	if (record->kind == BSA_loss) {
		keep(w, cpu, record->at, NULL, record + 1, sizeof(struct bsa_loss));
	} else {
		struct class *class = &w->classes[record->kind];

		keep(w, cpu, record->at, class, record + 1, class->bytes);
	}
}

/* A cpu=N in a line about an event is for us; script.h does not know it. */
static unsigned take_cpu(char *line)
{
	char *word = strstr(line, " cpu="), *end = NULL;
	unsigned cpu;

	if (!word)
		return 0;
	cpu = (unsigned)strtoul(word + strlen(" cpu="), &end, 10);
	if (!strstr(line, "loss "))
		memset(word, ' ', (size_t)(end - word));
	return cpu;
}

void ctf_writer_script(struct ctf_writer *w, const char *lines, uint32_t trace)
{
	char *copy = text(lines, ""), *at = copy, *line;
	size_t n = 0, room = 64;
	unsigned *cpus = must(malloc(room * sizeof(*cpus)));
	const struct bsa_event *record;
	struct script *script;

	/* the n-th line that is not empty is the n-th record */
	for (; (line = at) && *at; at = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line)) {
		size_t length = strcspn(line, "\n");
		char ended = line[length];

		line[length] = 0;
		if (line[strspn(line, " \t")] && line[strspn(line, " \t")] != '#') {
			if (n == room)
				cpus = must(realloc(cpus, (room *= 2) * sizeof(*cpus)));
			cpus[n++] = take_cpu(line);
		}
		line[length] = ended;
	}
	script = script_new(copy);
	for (size_t i = 0; (record = script_next(script)); i++) {
		if (i >= n)
			wrong("more records than lines");
		if (record->trace == trace)
			ctf_writer_record(w, cpus[i], record);
	}
	script_free(script);
	free(cpus);
	free(copy);
}

/* ---- events of one's own ---- */

static struct class *find_class(struct ctf_writer *w, const char *name)
{
	for (size_t i = 0; i < w->n_classes; i++)
		if (!strcmp(w->classes[i].name, name))
			return &w->classes[i];
	return NULL;
}

/* NAME:TYPE */
static void define_field(struct class *class, char *word)
{
	char *type = strchr(word, ':'), *array;
	struct field *f = class->fields;

	while (f->name)
		f++;
	if (!type || f == &class->fields[FIELDS])
		wrong("%s: a field is NAME:TYPE, and there are at most %d", word, FIELDS);
	*type++ = 0;
	array = strchr(type, '[');
	*f = (struct field){ .name = word, .at = class->bytes, .bytes = 8, .n = 1, .kind = *type };
	f->bits = (unsigned)strtoul(type + 1, NULL, 10);
	if (*type == 'e') {
		f->kind = 'u';
		f->enumeration = "priority";
	}
	if (array)
		f->n = (unsigned)strtoul(array + 1, NULL, 10);
	if (*type == 't')
		*f = (struct field){ .name = word, .at = class->bytes, .bytes = 1, .n = 256, .bits = 8, .kind = 't' };
	class->bytes += f->bytes * (f->n ? f->n : 17);
}

void ctf_writer_define(struct ctf_writer *w, const char *event, const char *fields)
{
	struct class *class = find_class(w, event);
	char *words = text(fields, ""), *rest = words, *word;

	if (!class) {
		if (w->n_classes == CLASSES)
			wrong("more than %d event classes", CLASSES);
		class = &w->classes[w->n_classes++];
	}
	*class = (struct class){ .name = text(event, ""), .words = words, .level = OTHER };
	while ((word = strsep(&rest, " ")))
		if (*word)
			define_field(class, word);
}

static void put(void *at, size_t bytes, uint64_t value)
{
	memcpy(at, &value, bytes); /* little end first, as this machine; tests are not for others */
}

static void put_value(char *data, const struct field *f, const char *value)
{
	char *at = data + f->at, *end;
	unsigned n = 0;

	if (f->kind == 't') {
		memset(at, 0, f->n);
		memcpy(at, value, strnlen(value, f->n - 1u));
		return;
	}
	for (; *value; n++, value = *end ? end + 1 : end) {
		if (n == (f->n ? f->n : 16))
			wrong("%s: too many numbers", f->name);
		put(at + (n + !f->n) * f->bytes, f->bytes, strtoull(value, &end, 0));
		if (end == value || (*end && *end != ','))
			wrong("%s: no number: %s", f->name, value);
	}
	if (!f->n)
		put(at, f->bytes, n);
}

void ctf_writer_event(struct ctf_writer *w, unsigned cpu, uint64_t at, const char *event, const char *values)
{
	struct class *class = find_class(w, event);
	char *words = text(values, ""), *rest = words, *word;
	char *data;

	if (!class)
		wrong("there is no event %s", event);
	data = must(calloc(1, class->bytes + 1));
	while ((word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');
		const struct field *f = class->fields;

		if (!*word)
			continue;
		if (!value)
			wrong("no value: %s", word);
		*value++ = 0;
		while (f->name && strcmp(f->name, word))
			f++;
		if (!f->name)
			wrong("%s has no field %s", event, word);
		put_value(data, f, value);
	}
	keep(w, cpu, at, class, data, class->bytes);
	free(data);
	free(words);
}

/* ---- packets ---- */

static void op(struct ctf_writer *w, enum what what, unsigned cpu, uint64_t at, uint64_t ended,
               const struct event *event)
{
	if (w->n_ops == w->ops_room) {
		w->ops_room = w->ops_room ? w->ops_room * 2 : 256;
		w->ops = must(realloc(w->ops, w->ops_room * sizeof(*w->ops)));
	}
	w->ops[w->n_ops++] = (struct op){ what, cpu, at, ended, event };
}

/* The part of a stream that has been put into packets. */
struct packing {
	unsigned cpu;
	bool open, any; /* a packet is; there was one */
	unsigned in_it;
	uint64_t until; /* a packet after a loss has to end then: 0: when it wants to */
	uint64_t last;
};

static void end_packet(struct ctf_writer *w, struct packing *p, uint64_t at)
{
	if (p->open)
		op(w, PACKET_ENDS, p->cpu, at, 0, NULL);
	p->open = false;
	p->until = 0;
	p->last = at;
}

static void begin_packet(struct ctf_writer *w, struct packing *p, uint64_t at)
{
	op(w, PACKET_BEGINS, p->cpu, at, 0, NULL);
	p->open = p->any = true;
	p->in_it = 0;
}

/*
 * CTF counts what was lost at the end of each packet: lost were events between the end of the packet before and the
 * end of this one, and packets up to its beginning.
 */
static void pack_loss(struct ctf_writer *w, struct packing *p, const struct event *event)
{
	const struct bsa_loss *loss = event->data;

	if (p->until > event->at || loss->ended < event->at)
		wrong("losses of cpu %u meet, or end before they begin", p->cpu);
	if (!p->any)
		begin_packet(w, p, event->at);
	if (!p->open) /* a packet of nothing, so that the one before ends when the loss begins */
		begin_packet(w, p, event->at);
	end_packet(w, p, event->at);
	if (loss->events != BSA_NEVER && loss->events)
		op(w, LOST_EVENTS, p->cpu, event->at, loss->ended, event);
	if (loss->packets != BSA_NEVER && loss->packets)
		op(w, LOST_PACKETS, p->cpu, event->at, loss->ended, event);
	begin_packet(w, p, loss->packets != BSA_NEVER && loss->packets ? loss->ended : event->at);
	p->until = loss->ended;
}

static void pack_event(struct ctf_writer *w, struct packing *p, const struct event *event)
{
	if (p->until && event->at > p->until)
		end_packet(w, p, p->until);
	if (p->open && !p->until && p->in_it >= w->options.packet)
		end_packet(w, p, p->last);
	if (!p->open)
		begin_packet(w, p, event->at);
	op(w, EVENT, p->cpu, event->at, 0, event);
	p->in_it++;
	p->last = event->at;
}

static void pack(struct ctf_writer *w, unsigned cpu)
{
	const struct stream *stream = &w->streams[cpu];
	struct packing p = { .cpu = cpu };

	op(w, STREAM_BEGINS, cpu, 0, 0, NULL);
	for (size_t i = 0; i < stream->n; i++)
		if (stream->events[i].class)
			pack_event(w, &p, &stream->events[i]);
		else
			pack_loss(w, &p, &stream->events[i]);
	if (!p.any)
		begin_packet(w, &p, 1);
	end_packet(w, &p, p.until ? p.until : p.last ? p.last : 1);
	op(w, STREAM_ENDS, cpu, 0, 0, NULL);
}

/* ---- the source: classes ---- */

static bt_field_class *enumeration(bt_trace_class *tc, const struct field *f)
{
	bt_field_class *class = must(bt_field_class_enumeration_unsigned_create(tc));

	for (size_t i = 0; i < N_OF(labels); i++) {
		bt_integer_range_set_unsigned *range;

		if (strcmp(labels[i].enumeration, f->enumeration))
			continue;
		range = must(bt_integer_range_set_unsigned_create());
		DONE(bt_integer_range_set_unsigned_add_range(range, labels[i].number, labels[i].number));
		DONE(bt_field_class_enumeration_unsigned_add_mapping(class, labels[i].label, range));
		bt_integer_range_set_unsigned_put_ref(range);
	}
	bt_field_class_integer_set_field_value_range(class, f->bits);
	return class;
}

static bt_field_class *number_class(bt_trace_class *tc, const struct field *f)
{
	bt_field_class *class;

	if (f->enumeration)
		return enumeration(tc, f);
	if (f->kind == 'f')
		return must(bt_field_class_real_double_precision_create(tc));
	class = must(f->kind == 'i' ? bt_field_class_integer_signed_create(tc)
	                            : bt_field_class_integer_unsigned_create(tc));
	bt_field_class_integer_set_field_value_range(class, f->bits);
	return class;
}

static bt_field_class *field_class(bt_trace_class *tc, const struct field *f)
{
	bt_field_class *element, *array;

	if (f->kind == 't')
		return must(bt_field_class_string_create(tc));
	element = number_class(tc, f);
	if (f->n == 1)
		return element;
	array = must(f->n ? bt_field_class_array_static_create(tc, element, f->n)
	                  : bt_field_class_array_dynamic_create(tc, element, NULL));
	bt_field_class_put_ref(element);
	return array;
}

static void make_class(struct ctf_writer *w, bt_trace_class *tc, struct class *class)
{
	static const bt_event_class_log_level levels[] = { [RARE] = BT_EVENT_CLASS_LOG_LEVEL_NOTICE,
		                                           [FULL] = BT_EVENT_CLASS_LOG_LEVEL_DEBUG_FUNCTION,
		                                           [VERBOSE] = BT_EVENT_CLASS_LOG_LEVEL_DEBUG_LINE,
		                                           [COMPACT] = BT_EVENT_CLASS_LOG_LEVEL_DEBUG,
		                                           [OTHER] = BT_EVENT_CLASS_LOG_LEVEL_INFO };
	bt_field_class *payload = must(bt_field_class_structure_create(tc));

	for (const struct field *f = class->fields; f->name; f++) {
		bt_field_class *member = field_class(tc, f);

		DONE(bt_field_class_structure_append_member(payload, f->name, member));
		bt_field_class_put_ref(member);
	}
	class->bt = must(bt_event_class_create(w->stream_class));
	DONE(bt_event_class_set_name(class->bt, class->name));
	bt_event_class_set_log_level(class->bt, levels[class->level]);
	DONE(bt_event_class_set_payload_field_class(class->bt, payload));
	bt_field_class_put_ref(payload);
}

static void parse_uuid(uint8_t ret[16], const char *uuid)
{
	for (int i = 0; i < 16; i++) {
		unsigned byte;

		uuid += *uuid == '-';
		if (sscanf(uuid, "%2x", &byte) != 1)
			wrong("no uuid: %s", uuid);
		ret[i] = (uint8_t)byte;
		uuid += 2;
	}
}

static bt_clock_class *make_clock(struct ctf_writer *w, bt_self_component *self)
{
	const struct ctf_options *o = &w->options;
	bt_clock_class *clock = must(bt_clock_class_create(self));
	int64_t seconds = o->clock_offset / NS - (o->clock_offset % NS < 0);
	uint8_t uuid[16];

	bt_clock_class_set_frequency(clock, o->frequency);
	bt_clock_class_set_offset(clock, seconds,
	                          (uint64_t)((unsigned __int128)(o->clock_offset - seconds * NS) * o->frequency / NS));
	DONE(bt_clock_class_set_name(clock, "monotonic"));
	if (*o->clock_uuid) {
		parse_uuid(uuid, o->clock_uuid);
		bt_clock_class_set_uuid(clock, uuid);
	}
	return clock;
}

static void make_stream_class(struct ctf_writer *w, bt_self_component *self, bt_trace_class *tc)
{
	bt_clock_class *clock = make_clock(w, self);
	bt_field_class *context = must(bt_field_class_structure_create(tc));
	bt_field_class *cpu = must(bt_field_class_integer_unsigned_create(tc));

	w->stream_class = must(bt_stream_class_create(tc));
	bt_stream_class_set_assigns_automatic_stream_id(w->stream_class, BT_FALSE);
	DONE(bt_stream_class_set_default_clock_class(w->stream_class, clock));
	bt_stream_class_set_supports_packets(w->stream_class, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(w->stream_class, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_packets(w->stream_class, BT_TRUE, BT_TRUE);
	bt_field_class_integer_set_field_value_range(cpu, 32);
	DONE(bt_field_class_structure_append_member(context, "cpu_id", cpu));
	DONE(bt_stream_class_set_packet_context_field_class(w->stream_class, context));
	bt_field_class_put_ref(cpu);
	bt_field_class_put_ref(context);
	bt_clock_class_put_ref(clock);
}

static void make_trace(struct ctf_writer *w, bt_trace_class *tc)
{
	const struct ctf_options *o = &w->options;

	w->trace = must(bt_trace_create(tc));
	DONE(bt_trace_set_environment_entry_string(w->trace, "domain", "ust"));
	DONE(bt_trace_set_environment_entry_string(w->trace, "tracer_name", "lttng-ust"));
	DONE(bt_trace_set_environment_entry_integer(w->trace, "tracer_major", 2));
	DONE(bt_trace_set_environment_entry_integer(w->trace, "tracer_minor", 13));
	DONE(bt_trace_set_environment_entry_string(w->trace, "trace_name", o->session));
	DONE(bt_trace_set_environment_entry_string(w->trace, "hostname", o->host));
	if (o->uid) {
		DONE(bt_trace_set_environment_entry_string(w->trace, "tracer_buffering_scheme", "uid"));
		DONE(bt_trace_set_environment_entry_integer(w->trace, "tracer_buffering_id",
		                                            strtoll(o->uid, NULL, 10)));
	}
	if (o->pid)
		DONE(bt_trace_set_environment_entry_integer(w->trace, "vpid", o->pid));
}

static bt_component_class_initialize_method_status initialize(bt_self_component_source *source,
                                                              bt_self_component_source_configuration *configuration,
                                                              const bt_value *params, void *data)
{
	bt_self_component *self = bt_self_component_source_as_self_component(source);
	bt_trace_class *tc = must(bt_trace_class_create(self));
	struct ctf_writer *w = data;

	(void)configuration;
	(void)params;
	bt_self_component_set_data(self, w);
	make_stream_class(w, self, tc);
	for (size_t i = 0; i < w->n_classes; i++)
		make_class(w, tc, &w->classes[i]);
	make_trace(w, tc);
	bt_trace_class_put_ref(tc);
	DONE(bt_self_component_source_add_output_port(source, "out", NULL, NULL));
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* ---- the source: messages ---- */

static uint64_t number(const char *data, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, data, bytes);
	return value;
}

static void set_number(bt_field *field, const struct field *f, const char *data)
{
	uint64_t value = number(data, f->bytes), most = UINT64_MAX >> (64 - f->bits % 65);

	if (f->kind == 'f')
		bt_field_real_double_precision_set_value(field, (double)value);
	else if (f->kind == 'i') /* its sign, which may be narrower than 64 bits */
		bt_field_integer_signed_set_value(field,
		                                  (int64_t)(value << (64 - 8 * f->bytes)) >> (64 - 8 * f->bytes));
	else if (value > most)
		wrong("%s: %llu is more than %u bits", f->name, (unsigned long long)value, f->bits);
	else
		bt_field_integer_unsigned_set_value(field, value);
}

static void set_field(bt_field *field, const struct field *f, const char *data)
{
	unsigned n = f->n;

	data += f->at;
	if (f->kind == 't') {
		DONE(bt_field_string_set_value(field, data));
		return;
	}
	if (n == 1) {
		set_number(field, f, data);
		return;
	}
	if (!n) {
		n = (unsigned)number(data, f->bytes);
		data += f->bytes;
		DONE(bt_field_array_dynamic_set_length(field, n));
	}
	for (unsigned i = 0; i < n; i++)
		set_number(bt_field_array_borrow_element_field_by_index(field, i), f, data + i * f->bytes);
}

static bt_message *event_message(struct ctf_writer *w, bt_self_message_iterator *self, const struct event *e)
{
	bt_message *message = must(
		bt_message_event_create_with_packet_and_default_clock_snapshot(self, e->class->bt, w->packet, e->at));
	bt_field *payload = bt_event_borrow_payload_field(bt_message_event_borrow_event(message));

	for (size_t i = 0; e->class->fields[i].name; i++)
		set_field(bt_field_structure_borrow_member_field_by_index(payload, i), &e->class->fields[i], e->data);
	return message;
}

static bt_message *packet_begins(struct ctf_writer *w, bt_self_message_iterator *self, const struct op *o)
{
	bt_field *context;

	bt_packet_put_ref(w->packet);
	w->packet = must(bt_packet_create(w->stream));
	context = bt_packet_borrow_context_field(w->packet);
	bt_field_integer_unsigned_set_value(bt_field_structure_borrow_member_field_by_index(context, 0), o->cpu);
	return must(bt_message_packet_beginning_create_with_default_clock_snapshot(self, w->packet, o->at));
}

static bt_message *lost(struct ctf_writer *w, bt_self_message_iterator *self, const struct op *o)
{
	const struct bsa_loss *loss = o->event->data;
	bt_message *message;

	if (o->what == LOST_PACKETS) {
		message = must(bt_message_discarded_packets_create_with_default_clock_snapshots(self, w->stream, o->at,
		                                                                                o->ended));
		bt_message_discarded_packets_set_count(message, loss->packets);
		return message;
	}
	message =
		must(bt_message_discarded_events_create_with_default_clock_snapshots(self, w->stream, o->at, o->ended));
	bt_message_discarded_events_set_count(message, loss->events);
	return message;
}

static bt_message *message_of(struct ctf_writer *w, bt_self_message_iterator *self, const struct op *o)
{
	char name[16];

	switch (o->what) {
	case STREAM_BEGINS:
		bt_packet_put_ref(w->packet);
		w->packet = NULL;
		bt_stream_put_ref(w->stream);
		w->stream = must(bt_stream_create_with_id(w->stream_class, w->trace, o->cpu));
		snprintf(name, sizeof(name), "cpu_%u",
		         o->cpu); /* the file goes, too: the sink takes names again of streams that ended */
		DONE(bt_stream_set_name(w->stream, name));
		return must(bt_message_stream_beginning_create(self, w->stream));
	case PACKET_BEGINS:
		return packet_begins(w, self, o);
	case EVENT:
		return event_message(w, self, o->event);
	case PACKET_ENDS:
		return must(bt_message_packet_end_create_with_default_clock_snapshot(self, w->packet, o->at));
	case STREAM_ENDS:
		return must(bt_message_stream_end_create(self, w->stream));
	default:
		return lost(w, self, o);
	}
}

static bt_message_iterator_class_next_method_status
next(bt_self_message_iterator *self, bt_message_array_const messages, uint64_t capacity, uint64_t *count)
{
	struct ctf_writer *w = bt_self_component_get_data(bt_self_message_iterator_borrow_component(self));

	if (w->next == w->n_ops)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	for (*count = 0; *count < capacity && w->next < w->n_ops; (*count)++)
		messages[*count] = message_of(w, self, &w->ops[w->next++]);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

/* ---- the graph ---- */

static const bt_component_source *add_source(struct ctf_writer *w, bt_graph *graph)
{
	bt_message_iterator_class *iterators = must(bt_message_iterator_class_create(next));
	bt_component_class_source *class = must(bt_component_class_source_create("script", iterators));
	const bt_component_source *source;

	DONE(bt_component_class_source_set_initialize_method(class, initialize));
	DONE(bt_graph_add_source_component_with_initialize_method_data(graph, class, "script", NULL, w,
	                                                               BT_LOGGING_LEVEL_NONE, &source));
	bt_component_class_source_put_ref(class);
	bt_message_iterator_class_put_ref(iterators);
	return source;
}

static const bt_component_sink *add_sink(struct ctf_writer *w, bt_graph *graph)
{
	bt_value *params = must(bt_value_map_create());
	const bt_component_sink *sink;
	const bt_plugin *plugin;

	DONE(bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin));
	DONE(bt_value_map_insert_string_entry(params, "path", w->directory));
	DONE(bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE));
	DONE(bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE));
	DONE(bt_graph_add_sink_component(graph, bt_plugin_borrow_sink_component_class_by_name_const(plugin, "fs"), "fs",
	                                 params, BT_LOGGING_LEVEL_NONE, &sink));
	bt_value_put_ref(params);
	bt_plugin_put_ref(plugin);
	return sink;
}

static void write_trace(struct ctf_writer *w)
{
	bt_graph *graph = must(bt_graph_create(0));
	const bt_component_source *source;
	const bt_component_sink *sink;

	if (!w->options.cpus)
		w->options.cpus = 1;
	for (unsigned cpu = 0; cpu < w->options.cpus; cpu++)
		pack(w, cpu);
	source = add_source(w, graph);
	sink = add_sink(w, graph);
	DONE(bt_graph_connect_ports(graph, bt_component_source_borrow_output_port_by_index_const(source, 0),
	                            bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL));
	if (bt_graph_run(graph) != BT_GRAPH_RUN_STATUS_OK) {
		const bt_error *error = bt_current_thread_take_error();

		wrong("%s cannot be written: %s", w->directory,
		      error ? bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)) : "no reason given");
	}
	bt_packet_put_ref(w->packet);
	bt_stream_put_ref(w->stream);
	bt_trace_put_ref(w->trace);
	for (size_t i = 0; i < w->n_classes; i++)
		bt_event_class_put_ref(w->classes[i].bt);
	bt_stream_class_put_ref(w->stream_class);
	bt_graph_put_ref(graph);
}

/* ---- its uuid ---- */

/* The sink makes one up, and writes it in each packet: where ours has to be. */
static void rename_packets(const char *path, const uint8_t uuid[16])
{
	enum { UUID = 4, BITS = 36 }; /* where they are in a packet of the sink's */
	FILE *f = must(fopen(path, "r+"));
	uint64_t bits;

	for (long at = 0; !fseek(f, at + BITS, SEEK_SET) && fread(&bits, sizeof(bits), 1, f) == 1;
	     at += (long)(bits / 8)) {
		fseek(f, at + UUID, SEEK_SET);
		if (fwrite(uuid, 16, 1, f) != 1)
			wrong("%s cannot be written", path);
	}
	if (fclose(f))
		wrong("%s cannot be written", path);
}

static void rename_metadata(const char *path, const char *uuid)
{
	FILE *f = must(fopen(path, "r+"));
	char text[4096], *found;
	size_t n = fread(text, 1, sizeof(text) - 1, f);

	text[n] = 0;
	found = must(strstr(text, "uuid = \""));
	fseek(f, found + strlen("uuid = \"") - text, SEEK_SET);
	if (fwrite(uuid, 36, 1, f) != 1 || fclose(f))
		wrong("%s cannot be written", path);
}

static void rename_trace(struct ctf_writer *w)
{
	char path[4096];
	uint8_t uuid[16];

	if (!*w->options.uuid)
		return;
	parse_uuid(uuid, w->options.uuid);
	snprintf(path, sizeof(path), "%s/metadata", w->directory);
	rename_metadata(path, w->options.uuid);
	for (unsigned cpu = 0; cpu < w->options.cpus; cpu++) {
		snprintf(path, sizeof(path), "%s/cpu_%u", w->directory, cpu);
		rename_packets(path, uuid);
	}
}

static void forget(struct ctf_writer *w)
{
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		for (size_t i = 0; i < w->streams[cpu].n; i++)
			free(w->streams[cpu].events[i].data);
		free(w->streams[cpu].events);
	}
	for (size_t i = 0; i < w->n_classes; i++) {
		if (w->classes[i].level != OTHER)
			continue;
		free((char *)w->classes[i].name);
		free(w->classes[i].words);
	}
	free((char *)w->options.uuid);
	free((char *)w->options.host);
	free((char *)w->options.session);
	free((char *)w->options.clock_uuid);
	free(w->directory);
	free(w->ops);
	free(w);
}

struct ctf_writer *ctf_writer_free(struct ctf_writer *w)
{
	if (!w)
		return NULL;
	write_trace(w);
	rename_trace(w);
	forget(w);
	return NULL;
}
