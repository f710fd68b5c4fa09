/*
 * json_schema.c -- json_schema SCHEMA FILE: check FILE against the JSON Schema. With --mutants: check that
 * the schema refuses each mutant of FILE, which has one fault.
 *
 * It knows the keywords of our schemas only, and ends at any other keyword. In addition it checks that each
 * row has exactly the announced columns, where all columns have different names.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *root;
static char why[512];

static bool no(const char *what, const char *where)
{
	if (!*why)
		snprintf(why, sizeof(why), "%s: %s", where, what);
	return false;
}

static _Noreturn void end(const char *what, const char *where)
{
	fprintf(stderr, "json_schema: %s: %s\n", where, what);
	exit(2);
}

/* ---- the keywords of a schema ---- */

static bool holds(const json_t *schema, const json_t *value, const char *where);

static bool has_type(const char *type, const json_t *value)
{
	return !strcmp(type, "object")    ? json_is_object(value)
	       : !strcmp(type, "array")   ? json_is_array(value)
	       : !strcmp(type, "string")  ? json_is_string(value)
	       : !strcmp(type, "integer") ? json_is_integer(value)
	       : !strcmp(type, "number")  ? json_is_number(value)
	       : !strcmp(type, "boolean") ? json_is_boolean(value)
	       : !strcmp(type, "null")    ? json_is_null(value)
	                                  : (end("no such type", type), false);
}

static bool type_holds(const json_t *types, const json_t *value, const char *where)
{
	size_t i;
	json_t *type;

	if (json_is_string(types))
		return has_type(json_string_value(types), value) || no("of another type", where);
	json_array_foreach((json_t *)types, i, type) if (has_type(json_string_value(type), value)) return true;
	return no("of none of the types", where);
}

static bool enum_holds(const json_t *values, const json_t *value, const char *where)
{
	size_t i;
	json_t *each;

	json_array_foreach((json_t *)values, i, each) if (json_equal(each, value)) return true;
	return no("none of the values that there are", where);
}

static bool required_holds(const json_t *names, const json_t *value, const char *where)
{
	size_t i;
	json_t *name;

	json_array_foreach(
		(json_t *)names, i,
		name) if (json_is_object(value) &&
	                  !json_object_get(value, json_string_value(name))) return no(json_string_value(name), where);
	return true;
}

static bool members_hold(const json_t *schema, const json_t *value)
{
	const json_t *known = json_object_get(schema, "properties");
	const json_t *others = json_object_get(schema, "additionalProperties");
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member)
	{
		const json_t *of = json_object_get(known, name);

		of = of ? of : others;
		if (json_is_false(of))
			return no("a member too many", name);
		if (json_is_object(of) && !holds(of, member, name))
			return false;
	}
	return true;
}

static bool items_hold(const json_t *schema, const json_t *value, const char *where)
{
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)value, i, item) if (!holds(schema, item, where)) return false;
	return true;
}

static const json_t *referred(const json_t *ref)
{
	static const char prefix[] = "#/$defs/";
	const char *name = json_string_value(ref);
	const json_t *ret = NULL;

	if (name && !strncmp(name, prefix, strlen(prefix)))
		ret = json_object_get(json_object_get(root, "$defs"), name + strlen(prefix));
	if (!ret)
		end("refers to nothing", name ? name : "$ref");
	return ret;
}

static bool keyword_holds(const char *keyword, const json_t *says, const json_t *value, const char *where)
{
	static const char *const remarks[] = {
		"$schema", "$id", "$defs", "title", "description", "properties", "additionalProperties"
	};

	if (!strcmp(keyword, "type"))
		return type_holds(says, value, where);
	if (!strcmp(keyword, "enum"))
		return enum_holds(says, value, where);
	if (!strcmp(keyword, "const"))
		return json_equal(says, value) || no("another value", where);
	if (!strcmp(keyword, "required"))
		return required_holds(says, value, where);
	if (!strcmp(keyword, "items"))
		return items_hold(says, value, where);
	if (!strcmp(keyword, "minItems"))
		return !json_is_array(value) || (json_int_t)json_array_size(value) >= json_integer_value(says) ||
		       no("too few", where);
	if (!strcmp(keyword, "minLength"))
		return !json_is_string(value) ||
		       (json_int_t)strlen(json_string_value(value)) >= json_integer_value(says) ||
		       no("too short", where);
	if (!strcmp(keyword, "minimum"))
		return !json_is_number(value) || json_number_value(value) >= json_number_value(says) ||
		       no("too small", where);
	if (!strcmp(keyword, "$ref"))
		return holds(referred(says), value, where);
	for (size_t i = 0; i < sizeof(remarks) / sizeof(*remarks); i++)
		if (!strcmp(keyword, remarks[i]))
			return true;
	end("a keyword that is not known", keyword);
}

static bool holds(const json_t *schema, const json_t *value, const char *where)
{
	const char *keyword;
	json_t *says;

	json_object_foreach((json_t *)schema, keyword,
	                    says) if (!keyword_holds(keyword, says, value, where)) return false;
	return !json_is_object(value) || members_hold(schema, value);
}

/* ---- rows and their columns ---- */

static bool rows_have_columns(const json_t *table, const char *where)
{
	const json_t *columns = json_object_get(table, "columns"), *rows = json_object_get(table, "rows");
	size_t i, j;
	json_t *row, *column;

	json_array_foreach((json_t *)rows, i, row)
	{
		if (json_object_size(row) != json_array_size(columns))
			return no("a row has not as many members as there are columns", where);
		json_array_foreach((json_t *)columns, j, column) if (
			!json_object_get(
				row, json_string_value(json_object_get(
					     column, "name")))) return no("a row has not the columns that there are",
		                                                          where);
	}
	return true;
}

static bool is_answer(const json_t *value)
{
	const json_t *parts = json_object_get(value, "parts");
	size_t i;
	json_t *part;

	*why = 0;
	if (!holds(root, value, "the answer") || !rows_have_columns(value, "rows"))
		return false;
	json_array_foreach((json_t *)parts, i, part) if (!rows_have_columns(part, "parts")) return false;
	return true;
}

/* ---- mutants ---- */

static unsigned mutants, survivors;

static void judge(const json_t *whole, const char *what, const char *name)
{
	mutants++;
	if (!is_answer(whole))
		return;
	survivors++;
	printf("not objected to: %s, %s\n", name, what);
}

/* Members that are optional. */
static bool optional(const char *name)
{
	return !strcmp(name, "parts") || !strcmp(name, "replayed_with") || !strcmp(name, "silent_services") ||
	       !strcmp(name, "silent_ns") || !strcmp(name, "verdict") || !strcmp(name, "notes") ||
	       !strcmp(name, "unusable_events") || !strcmp(name, "impostor_events") ||
	       !strcmp(name, "unreadable_traces") || !strcmp(name, "service_alone") || !strcmp(name, "services") ||
	       !strcmp(name, "client_alone") || !strcmp(name, "headless") || !strcmp(name, "timeless") ||
	       !strcmp(name, "service_uids") || !strncmp(name, "joined_", 7);
}

static void mutate(json_t *whole, json_t *at);

static void mutate_member(json_t *whole, json_t *at, const char *name)
{
	json_t *member = json_incref(json_object_get(at, name));

	mutate(whole, member);
	json_object_set_new(at, name, json_pack("[[[]]]"));
	judge(whole, "an array of arrays in its place", name);
	if (!optional(name)) {
		json_object_del(at, name);
		judge(whole, "gone", name);
	}
	json_object_set_new(at, name, member);
}

static void mutate_object(json_t *whole, json_t *at)
{
	json_t *names = json_array(), *name, *member;
	const char *each;
	size_t i;

	json_object_set_new(at, "surplus", json_integer(1));
	judge(whole, "a member too many", "an object");
	json_object_del(at, "surplus");
	json_object_foreach(at, each, member) json_array_append_new(names, json_string(each));
	json_array_foreach(names, i, name) mutate_member(whole, at, json_string_value(name));
	json_decref(names);
}

static void mutate(json_t *whole, json_t *at)
{
	size_t i;
	json_t *item;

	if (json_is_object(at))
		mutate_object(whole, at);
	json_array_foreach(at, i, item) if (i < 3) mutate(whole, item);
}

/* ---- the files ---- */

static json_t *load(const char *path)
{
	json_error_t error;
	json_t *ret = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

	if (!ret)
		end(error.text, path);
	return ret;
}

int main(int argc, char **argv)
{
	bool mutating = argc == 4 && !strcmp(argv[1], "--mutants");
	json_t *value;

	if (argc != 3 + mutating)
		end("usage: json_schema [--mutants] SCHEMA FILE", "usage");
	root = load(argv[1 + mutating]);
	value = load(argv[2 + mutating]);
	if (!is_answer(value)) {
		printf("%s\n", why);
		return 1;
	}
	if (mutating)
		mutate(value, value);
	if (mutating)
		printf("%u mutants, %u of them not found out\n", mutants, survivors);
	json_decref(value);
	json_decref((json_t *)root);
	return survivors || (mutating && !mutants);
}
