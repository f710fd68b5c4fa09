/*
 * flat.h -- reading FlatBuffers that may be anybody's: tables, vectors and strings in a run of bytes.
 *
 * By hand, because what reads a .tflite file needs six kinds of access to twenty tables: flatcc is not packaged by Debian, and the
 * C++ library's verifier looks at the whole file before anything is read of it, while this one looks at what it reads.
 *
 * LAYOUT    Numbers are little-endian. The first 4 bytes are the offset of the root table, the next 4 what kind of file it is. A table
 *           begins with the distance back to its vtable: bytes of the vtable, bytes of the table, and for each field where it is in
 *           the table, 0 being nowhere: then it has its default. A field that is a table, a vector or a string is an offset forward
 *           from itself. A vector is a count and its elements; a string a vector of bytes.
 * TRUST     Every offset and count is looked at before it is followed, and read once, since the bytes may be a file that changes
 *           meanwhile. What is wrong is kept (wrong_at, wrong), and all that is read afterwards is 0, empty or not there: who reads
 *           looks once in a while. Nothing here recurs or allocates, so that depth and size are the caller's.
 */
#ifndef NNB_MODEL_TFLITE_FLAT_H
#define NNB_MODEL_TFLITE_FLAT_H

#include <stdbool.h>
#include <stdint.h>

struct nnb__flat {
	const uint8_t *bytes; /* borrowed */
	uint32_t n;
	const char *wrong; /* NULL: nothing was, so far. Static */
	uint32_t wrong_at;
};

/* All zeroes are a table that is not there: its fields have their defaults. */
struct nnb__flat_table {
	uint32_t at;
	uint32_t vtable, vtable_bytes, bytes;
};

struct nnb__flat_vector {
	uint32_t at; /* of the first element */
	uint32_t n;
	uint32_t size; /* of an element */
};

/* Are these 4 letters at offset 4? */
bool nnb__flat_is(const struct nnb__flat *f, const char *identifier);

struct nnb__flat_table nnb__flat_root(struct nnb__flat *f);

/* Field @field of @t; what it is when it is not there, and elsewhere 0, empty or no table. */
uint8_t nnb__flat_u8(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint8_t otherwise);
int32_t nnb__flat_i32(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, int32_t otherwise);
uint64_t nnb__flat_u64(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint64_t otherwise);
float nnb__flat_f32(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, float otherwise);
struct nnb__flat_table nnb__flat_table(struct nnb__flat *f, struct nnb__flat_table t, unsigned field);
struct nnb__flat_vector nnb__flat_vector(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint32_t size);
bool nnb__flat_has(struct nnb__flat *f, struct nnb__flat_table t, unsigned field);

/* Element @i of @v; one that is beyond it is wrong. */
int32_t nnb__flat_i32_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);
int64_t nnb__flat_i64_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);
float nnb__flat_f32_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);
struct nnb__flat_table nnb__flat_table_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i);

/* The string of a field as a line: what does not fit in @room is cut off, what is not printable ASCII becomes '?'. Returns @to. */
char *nnb__flat_line(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, char *to, uint32_t room);

#endif
