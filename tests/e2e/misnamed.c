/*
 * misnamed.c HOW -- an app whose events belong to the recorded provider and break LTTng's metadata, because
 * LTTng copies names into the metadata of their user. HOW: `name`, of an event that ends its own declaration;
 * `field`, of a field that is no identifier; `twice`, of two fields of one event. The first line on standard
 * output shows that it has registered; it ends with its standard input.
 */
#include <lttng/tracepoint.h>
#include <lttng/ust-events.h>
#include <stdio.h>
#include <string.h>

static const struct lttng_ust_type_integer number = {
	.parent = { lttng_ust_type_integer }, .struct_size = sizeof(number), .size = 32, .alignment = 8, .base = 10
};
static const int level = LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, *const p_level = &level;
static const char *no_uri;
static struct lttng_ust_probe_desc probe;

static struct lttng_ust_event_field fields[2] = {
	{ .struct_size = sizeof(fields[0]), .name = "first", .type = &number.parent },
	{ .struct_size = sizeof(fields[0]), .name = "second", .type = &number.parent },
};
static const struct lttng_ust_event_field *const p_fields[] = { &fields[0], &fields[1] };

static void never_called(void)
{
}

static const struct lttng_ust_tracepoint_class class = { .struct_size = sizeof(class),
	                                                 .fields = p_fields,
	                                                 .nr_fields = 2,
	                                                 .probe_callback = never_called,
	                                                 .signature = "void",
	                                                 .probe_desc = &probe };
static struct lttng_ust_event_desc event = { .struct_size = sizeof(event),
	                                     .event_name = "strange",
	                                     .probe_desc = &probe,
	                                     .tp_class = &class,
	                                     .loglevel = (const int **)&p_level,
	                                     .model_emf_uri = &no_uri };
static const struct lttng_ust_event_desc *const events[] = { &event };

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (!strcmp(how, "name")) {
		event.event_name = "strange\"; }; none {";
	} else if (!strcmp(how, "field")) {
		fields[1].name = "no name; }";
	} else if (!strcmp(how, "twice")) {
		fields[1].name = fields[0].name;
	} else {
		fputs("misnamed: name, field or twice?\n", stderr);
		return 1;
	}
	probe = (struct lttng_ust_probe_desc){ .struct_size = sizeof(probe),
		                               .provider_name = "nnburst",
		                               .event_desc = events,
		                               .nr_events = 1,
		                               .major = LTTNG_UST_PROVIDER_MAJOR,
		                               .minor = LTTNG_UST_PROVIDER_MINOR };
	if (!lttng_ust_probe_register(&probe))
		return 1;
	puts("registered");
	fflush(stdout);
	return getchar() != EOF;
}
