/* json.c -- typed access to JSON, with errors that name the place in the file. */
#include "model/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "model/reason.h"

/* Print the place. Returns the full length, as snprintf does. */
static size_t print_place(char *to, size_t room, const struct nnb__place *at)
{
	size_t n = at->in ? print_place(to, room, at->in) : 0;
	char *end = to + (n < room ? n : room);
	size_t left = n < room ? room - n : 0;

	if (at->key)
		return n + (size_t)snprintf(end, left, "%s%s", n ? "." : "", at->key);
	return n + (size_t)snprintf(end, left, "[%zu]", at->index);
}

int nnb__json_wrong(struct nnb_reason *reason, const struct nnb__place *at, int error, const char *format, ...)
{
	char text[sizeof(reason->text)];
	char where[sizeof(reason->text)] = "";
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* Replace all but printable ASCII: words of an untrusted file reach terminals and logs. */
	for (char *c = text; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	if (at)
		print_place(where, sizeof(where), at);
	nnb_because(reason, "%s%s%s", where, at ? ": " : "", text);
	return error;
}

int nnb__no_memory(struct nnb_reason *reason)
{
	return nnb__json_wrong(reason, NULL, -ENOMEM, "out of memory");
}

/* The description of a type, for error messages. */
static const char *type_words(json_type type)
{
	switch (type) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number";
	default:
		return "true or false";
	}
}

static bool is_of_type(const json_t *json, json_type type)
{
	switch (type) {
	case JSON_REAL:
		return json_is_number(json);
	case JSON_TRUE:
		return json_is_boolean(json);
	default:
		return json_typeof(json) == type;
	}
}

int nnb__json_want(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, json_type type)
{
	if (!json)
		return nnb__json_wrong(reason, at, -EINVAL, "missing");
	if (!is_of_type(json, type))
		return nnb__json_wrong(reason, at, -EINVAL, "not %s", type_words(type));
	return 0;
}

const json_t *nnb__json_member(struct nnb_reason *reason, const struct nnb__place *at, const json_t *object,
                               json_type type)
{
	const json_t *json = json_object_get(object, at->key);

	return nnb__json_want(reason, at, json, type) < 0 ? NULL : json;
}

int nnb__json_integer(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, int64_t min,
                      int64_t max, int64_t *ret)
{
	int64_t n;

	if (nnb__json_want(reason, at, json, JSON_INTEGER) < 0)
		return -EINVAL;
	n = json_integer_value(json);
	if (n < min || n > max)
		return nnb__json_wrong(reason, at, -EINVAL, "%" PRId64 " is not from %" PRId64 " to %" PRId64, n, min,
		                       max);
	*ret = n;
	return 0;
}

int nnb__json_real(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, float *ret)
{
	const double limit = 0x1.ffffffp127; /* the smallest double that rounds to infinity as float32 */
	double d;

	if (nnb__json_want(reason, at, json, JSON_REAL) < 0)
		return -EINVAL;
	d = json_number_value(json);
	if (d >= limit || d <= -limit)
		return nnb__json_wrong(reason, at, -EINVAL, "%g is beyond float32", d);
	*ret = (float)d;
	return 0;
}
