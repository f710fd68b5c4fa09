/*
 * json.h -- typed access to JSON, with errors that name the place in the file.
 *
 * Every function here returns 0, or -errno with a reason that names the place.
 */
#ifndef NNB_MODEL_JSON_H
#define NNB_MODEL_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "nnb/status.h"

/* A place in the file, such as "operands[3].dims[1]": a chain on the stack, innermost first. */
struct nnb__place {
	const struct nnb__place *in; /* the enclosing place; NULL: the file itself */
	const char *key;             /* the key of a member; NULL: an element of a list, at index */
	size_t index;
};

/* Write the reason "PLACE: ..." and return @error. @at may be NULL. */
int nnb__json_wrong(struct nnb_reason *reason, const struct nnb__place *at, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int nnb__no_memory(struct nnb_reason *reason);

/* Require that @json exists and is of @type. JSON_TRUE accepts both truth values, JSON_REAL any number. */
int nnb__json_want(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, json_type type);

/* The member @at->key of @object, with the same requirements. NULL: the member is missing or of another type. */
const json_t *nnb__json_member(struct nnb_reason *reason, const struct nnb__place *at, const json_t *object,
                               json_type type);

int nnb__json_integer(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, int64_t min,
                      int64_t max, int64_t *ret);
int nnb__json_real(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, float *ret);

#endif
