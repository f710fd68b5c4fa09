/*
 * json.h -- looking into JSON, and saying where in it something is wrong.
 *
 * All of these return 0, or -errno with a reason that names the place.
 */
#ifndef NNB_MODEL_JSON_H
#define NNB_MODEL_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "nnb/status.h"

/* A place in the file, "operands[3].dims[1]": a chain on the stack, from the inside out. */
struct nnb__place {
	const struct nnb__place *in; /* NULL: the file itself */
	const char *key;             /* NULL: an element of a list, by its index */
	size_t index;
};

/* Write the reason, "PLACE: ..."; returns @error. @at may be NULL. */
int nnb__wrong(struct nnb_reason *reason, const struct nnb__place *at, int error, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int nnb__no_memory(struct nnb_reason *reason);

/* Is @json there, and of @type? JSON_TRUE means either truth value, JSON_REAL any number. */
int nnb__want(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, json_type type);

/* The member @at->key of @object, likewise. NULL: it is not. */
const json_t *nnb__member(struct nnb_reason *reason, const struct nnb__place *at, const json_t *object, json_type type);

int nnb__integer(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, int64_t min, int64_t max,
                 int64_t *ret);
int nnb__real(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, float *ret);

#endif
