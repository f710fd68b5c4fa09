/* flat.c -- reads untrusted FlatBuffers. Every offset is checked before use; the first error is kept. */
#include "model/tflite/flat.h"

#include <assert.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read as they are");

enum { OFFSET = 4, IDENTIFIER = 4 };

/* ---- bytes ---- */

static bool flat_wrong(struct nnb__flat *f, uint64_t at, const char *what)
{
	if (!f->wrong) {
		f->wrong = what;
		f->wrong_at = at < UINT32_MAX ? (uint32_t)at : UINT32_MAX;
	}
	return false;
}

/* Copy @bytes from @at; zeroes, and an error, where they are beyond the end. */
static bool flat_get(struct nnb__flat *f, uint64_t at, void *to, uint32_t bytes)
{
	memset(to, 0, bytes);
	if (f->wrong)
		return false;
	assert(at <= UINT64_MAX - bytes);
	if (at + bytes > f->n)
		return flat_wrong(f, at, "a field extends beyond the end of the file");
	memcpy(to, f->bytes + at, bytes);
	return true;
}

/* The target of the offset at @at; 0: invalid. */
static uint32_t flat_follow(struct nnb__flat *f, uint32_t at)
{
	uint32_t offset;

	if (!flat_get(f, at, &offset, sizeof(offset)))
		return 0;
	if ((uint64_t)at + offset >= f->n || !offset) {
		flat_wrong(f, at, "an offset leads beyond the file");
		return 0;
	}
	return at + offset;
}

bool nnb__flat_is(const struct nnb__flat *f, const char *identifier)
{
	return f->n >= OFFSET + IDENTIFIER && memcmp(f->bytes + OFFSET, identifier, IDENTIFIER) == 0;
}

/* ---- tables ---- */

static struct nnb__flat_table table_at(struct nnb__flat *f, uint32_t at)
{
	struct nnb__flat_table t = { .at = at };
	int32_t back;
	int64_t vtable;
	uint16_t bytes[2];

	if (!at || !flat_get(f, at, &back, sizeof(back)))
		return (struct nnb__flat_table){ 0 };
	vtable = (int64_t)at - back;
	if (vtable < 0 || vtable > f->n || !flat_get(f, (uint64_t)vtable, bytes, sizeof(bytes))) {
		flat_wrong(f, at, "a table's vtable is beyond the file");
		return (struct nnb__flat_table){ 0 };
	}
	assert(vtable >= 0 && vtable <= UINT32_MAX);
	t.vtable = (uint32_t)vtable;
	t.vtable_bytes = bytes[0];
	t.bytes = bytes[1];
	if (t.vtable_bytes < sizeof(bytes) || (uint64_t)t.vtable + t.vtable_bytes > f->n ||
	    (uint64_t)t.at + t.bytes > f->n || t.bytes < sizeof(back)) {
		flat_wrong(f, at, "a table goes beyond the file");
		return (struct nnb__flat_table){ 0 };
	}
	return t;
}

struct nnb__flat_table nnb__flat_root(struct nnb__flat *f)
{
	return table_at(f, flat_follow(f, 0));
}

/* The offset of field @field, of @bytes bytes; 0: the field is absent. */
static uint32_t field_at(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint32_t bytes)
{
	uint32_t entry = 4 + 2 * field;
	uint16_t where;

	if (f->wrong || !t.at || entry + 2 > t.vtable_bytes ||
	    !flat_get(f, (uint64_t)t.vtable + entry, &where, sizeof(where)) || !where)
		return 0;
	if (where + bytes > t.bytes) {
		flat_wrong(f, t.at, "a field lies outside its table");
		return 0;
	}
	assert((uint64_t)t.at + t.bytes <= f->n); /* table_at checked the table */
	return t.at + where;
}

bool nnb__flat_has(struct nnb__flat *f, struct nnb__flat_table t, unsigned field)
{
	return field_at(f, t, field, 1) != 0;
}

#define SCALAR(NAME, TYPE)                                                                       \
	TYPE NAME(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, TYPE otherwise) \
	{                                                                                        \
		uint32_t at = field_at(f, t, field, sizeof(TYPE));                               \
		TYPE value;                                                                      \
                                                                                                 \
		if (!at)                                                                         \
			return otherwise;                                                        \
		flat_get(f, at, &value, sizeof(value));                                          \
		return value;                                                                    \
	}
SCALAR(nnb__flat_u8, uint8_t)
SCALAR(nnb__flat_i32, int32_t)
SCALAR(nnb__flat_u64, uint64_t)
SCALAR(nnb__flat_f32, float)

struct nnb__flat_table nnb__flat_table(struct nnb__flat *f, struct nnb__flat_table t, unsigned field)
{
	uint32_t at = field_at(f, t, field, OFFSET);

	return at ? table_at(f, flat_follow(f, at)) : (struct nnb__flat_table){ 0 };
}

/* ---- vectors ---- */

struct nnb__flat_vector nnb__flat_vector(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, uint32_t size)
{
	uint32_t at = field_at(f, t, field, OFFSET), n;

	at = at ? flat_follow(f, at) : 0;
	if (!at || !flat_get(f, at, &n, sizeof(n)))
		return (struct nnb__flat_vector){ 0 };
	if ((uint64_t)at + sizeof(n) + (uint64_t)n * size > f->n) {
		flat_wrong(f, at, "a vector goes beyond the file");
		return (struct nnb__flat_vector){ 0 };
	}
	return (struct nnb__flat_vector){ .at = at + (uint32_t)sizeof(n), .n = n, .size = size };
}

/* The offset of element @i, of @bytes bytes; 0: invalid. */
static uint32_t element_at(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i, uint32_t size)
{
	if (f->wrong || i >= v.n || v.size != size) {
		flat_wrong(f, v.at, "a vector has fewer elements than are asked for");
		return 0;
	}
	assert((uint64_t)v.at + (uint64_t)v.n * size <= f->n); /* nnb__flat_vector checked the vector */
	return v.at + i * size;
}

#define ELEMENT(NAME, TYPE)                                                   \
	TYPE NAME(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i) \
	{                                                                     \
		uint32_t at = element_at(f, v, i, sizeof(TYPE));              \
		TYPE value = 0;                                               \
                                                                              \
		if (at)                                                       \
			flat_get(f, at, &value, sizeof(value));               \
		return value;                                                 \
	}
ELEMENT(nnb__flat_i32_of, int32_t)
ELEMENT(nnb__flat_i64_of, int64_t)
ELEMENT(nnb__flat_f32_of, float)

struct nnb__flat_table nnb__flat_table_of(struct nnb__flat *f, struct nnb__flat_vector v, uint32_t i)
{
	uint32_t at = element_at(f, v, i, OFFSET);

	return at ? table_at(f, flat_follow(f, at)) : (struct nnb__flat_table){ 0 };
}

/* ---- strings ---- */

char *nnb__flat_line(struct nnb__flat *f, struct nnb__flat_table t, unsigned field, char *to, uint32_t room)
{
	struct nnb__flat_vector text = nnb__flat_vector(f, t, field, 1);
	uint32_t n;

	assert(room);
	n = text.n < room - 1 ? text.n : room - 1;
	if (!flat_get(f, text.at, to, n))
		n = 0;
	to[n] = '\0';
	for (uint32_t i = 0; i < n; i++)
		if (to[i] < 0x20 || to[i] > 0x7e)
			to[i] = '?';
	return to;
}
