/* catalogue.h -- where each field of the event catalogue goes in a record of fold/event.h. */
#ifndef BSA_DECODE_CATALOGUE_H
#define BSA_DECODE_CATALOGUE_H

#include "fold/event.h"

#include <stdbool.h>
#include <stdint.h>

enum bsa_shape { BSA_SHAPE_UNSIGNED, BSA_SHAPE_SIGNED, BSA_SHAPE_ARRAY, BSA_SHAPE_TEXT };

struct bsa_column {
	const char *name;
	uint16_t at;   /* from the record's beginning, its header and all */
	uint8_t bytes; /* bytes of one number, or of the whole text */
	uint8_t n;     /* numbers; 1, but in arrays */
	uint8_t shape; /* enum bsa_shape */
};

struct bsa_layout {
	const char *name; /* without the provider's */
	const struct bsa_column *columns;
	uint32_t needed; /* bit i: without column i the event means nothing */
	uint16_t n_columns;
	uint16_t bytes; /* bytes of a record, a multiple of 8 */
};

enum {
	BSA_COLUMNS_MAX = 20,
	BSA_RECORD_MAX = 192, /* bytes; no record is longer */
};

/* The layout of @kind, which is not BSA_loss. Static. */
const struct bsa_layout *bsa_layout(enum bsa_kind kind);

/* The kind of event that has this name, or BSA_N_KINDS. */
enum bsa_kind bsa_kind_named(const char *name);

/* A record of @kind with all fields absent and time and trace 0; its size is that of the layout. Static. */
const uint64_t *bsa_blank(enum bsa_kind kind);

#endif
