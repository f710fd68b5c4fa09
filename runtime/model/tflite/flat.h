/*
 * flat.h -- reads untrusted FlatBuffers: tables, vectors and strings in an array of bytes.
 *
 * This reader is written by hand because the .tflite loader needs only six kinds of access to twenty tables. Debian
 * does not package flatcc. The C++ library's verifier checks the whole file before the first access; this reader
 * checks only the bytes that it reads.
 *
 * LAYOUT    Numbers are little-endian. The first 4 bytes are the offset of the root table, the next 4 identify the
 *           kind of file. A table begins with the distance back to its vtable. The vtable holds its own size, the
 *           table's size, and the offset of each field within the table; offset 0 means that the field is absent and
 *           has its default. A field that is a table, a vector or a string holds an offset forward from the field
 *           itself. A vector is a count followed by its elements; a string is a vector of bytes.
 * TRUST     Every offset and count is read once and checked before use, because the bytes may be a file that changes
 *           meanwhile. The first error is kept (wrong_at, wrong). After an error every read returns 0, an empty
 *           vector or an absent table, so a caller checks for errors only from time to time. No function here
 *           recurses or allocates: the caller bounds depth and size.
 */
#ifndef NNB_MODEL_TFLITE_FLAT_H
#define NNB_MODEL_TFLITE_FLAT_H

#include <stdbool.h>
#include <stdint.h>

struct nnb__flat {
	const uint8_t *bytes; /* borrowed */
	uint32_t n;
	const char *wrong; /* the first error, a static string; NULL: no error so far */
	uint32_t wrong_at;
};

/* A struct of zeroes is an absent table: every field has its default. */
struct nnb__flat_table {
	uint32_t at;
	uint32_t vtable, vtable_bytes, bytes;
};

struct nnb__flat_vector {
	uint32_t at; /* offset of the first element */
	uint32_t n;
	uint32_t size; /* bytes of an element */
};

/* Do the bytes at offset 4 equal these 4 letters? */
bool nnb__flat_is(const struct nnb__flat *f, const char *identifier);

struct nnb__flat_table nnb__flat_root(struct nnb__flat *f);

/*
 * Read field @field of @t. An absent field returns @otherwise, or for functions without @otherwise: 0, empty or no
 * table.
 */
uint8_t nnb__flat_u8(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint8_t otherwise);
int32_t nnb__flat_i32(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, int32_t otherwise);
uint64_t nnb__flat_u64(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint64_t otherwise);
float nnb__flat_f32(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, float otherwise);
struct nnb__flat_table nnb__flat_table(struct nnb__flat *f, struct nnb__flat_table t, unsigned field);
struct nnb__flat_vector nnb__flat_vector(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint32_t size);
bool nnb__flat_has(struct nnb__flat *f, struct nnb__flat_table t, unsigned field);

/* Read element @i of @v. An index beyond the vector is an error. */
int32_t nnb__flat_i32_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);
int64_t nnb__flat_i64_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);
float nnb__flat_f32_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);
struct nnb__flat_table nnb__flat_table_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);

/*
 * Copy the string of a field to @to as one line, cut off at @room; a character that is not printable ASCII becomes '?'.
 * Returns @to.
 */
char *nnb__flat_line(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, char *to, uint32_t room);

#endif
