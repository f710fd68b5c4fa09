/* blank.h -- the database that an import begins with: all tables and views, and no facts (blank.c). */
#ifndef BSA_STORE_BLANK_H
#define BSA_STORE_BLANK_H

#include <stdint.h>

/* Bytes of the file that are not all 0. */
struct bsa_blank_part {
	uint32_t at, bytes; /* bytes 0 ends the array */
};

extern const uint32_t bsa_blank_bytes; /* of the whole file */
extern const struct bsa_blank_part bsa_blank_parts[];
extern const uint8_t bsa_blank_data[]; /* of all parts, one after the other */

#endif
