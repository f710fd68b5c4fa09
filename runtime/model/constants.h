/*
 * constants.h -- values in a model file: lists of numbers, and raw bytes in files beside it.
 *
 * LAYOUT    What a file's constants become: CONSTANT_COPY is copied into the model's values. CONSTANT_REFERENCE
 *           lists are gathered in one ashmem pool, each value on a line of 64 bytes (P-19); every side file that
 *           a CONSTANT_REFERENCE names is a pool of its own, the file itself, mapped read-only and whole. Pools
 *           stand in the order in which they are first needed.
 */
#ifndef NNB_MODEL_CONSTANTS_H
#define NNB_MODEL_CONSTANTS_H

#include "nnb/model.h"

#include "model/json.h"

struct nnb__heap {
	uint8_t *data;
	uint32_t bytes;
	size_t room;
};

struct nnb__side_file {
	char *name;
	int fd;
	uint64_t bytes;
	uint32_t pool; /* the pool's index in the model; NNB__NO_POOL: no operand refers to this file yet */
};

enum { NNB__NO_POOL = NNB_OPERANDS_MAX };

/* The constants of a model that the reader is building. */
struct nnb__constants {
	struct nnb_model *model; /* borrowed; set before the first nnb__constants_add */
	const char *dir;         /* borrowed; NULL: no side files */
	struct nnb_reason *reason;
	struct nnb__heap values;
	struct nnb__heap references; /* the bytes of the future ashmem pool */
	uint32_t reference_pool;     /* the index of the ashmem pool, or NNB__NO_POOL */
	struct nnb__side_file *sides;
	size_t n_sides;
	int dir_fd;
};

void nnb__constants_init(struct nnb__constants *c, const char *dir, struct nnb_reason *reason);
void nnb__constants_fini(struct nnb__constants *c);

/* Store the value of @operand, whose lifetime must be that of a constant, and set its location. 0 or -errno. */
int nnb__constants_add(struct nnb__constants *c, const struct nnb__place *at, const json_t *value,
                       struct nnb_operand *operand);

/* Store the scales of @operand's channels among the model's values. 0 or -errno. */
int nnb__constants_scales(struct nnb__constants *c, const struct nnb__place *at, const json_t *list,
                          struct nnb_operand *operand);

/* After the last value: create the pools, so that every location is valid. 0 or -errno. */
int nnb__constants_place(struct nnb__constants *c);

/*
 * The number of bytes of @list as values of @operand. The list must fill the operand's dims. Where the dims do not
 * determine the size, a list of any length is accepted only with @may_vary. 0 or -errno.
 */
int nnb__list_bytes(struct nnb_reason *reason, const struct nnb__place *at, const json_t *list,
                    const struct nnb_operand *operand, bool may_vary, size_t *ret);

/* Convert the elements of @list to @type and write them to @to, which must be large enough. 0 or -errno. */
int nnb__list_convert(struct nnb_reason *reason, const struct nnb__place *at, const json_t *list, uint32_t type,
                      uint8_t *to);

#endif
