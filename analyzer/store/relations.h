/*
 * relations.h -- relations.def and labels.def as C types and constants.
 *
 * struct row_NAME     a row of the table: one member per column, in the order of the columns; int64_t, or const char
 *                     * for text
 * COLUMNS_NAME        the number of columns
 * struct bits_NAME    the fields of the table's packed column, unpacked; pack_NAME and unpack_NAME convert
 * AT_NAME_FIELD       the lowest bit of a field
 * ALL_NAME_FIELD      all bits of a field set. A value that does not fit is stored as this, and means unknown
 *                     if the field is OPTIONAL
 * LABEL_LABELS_NAME   the number that has this name
 */
#ifndef BSA_STORE_RELATIONS_H
#define BSA_STORE_RELATIONS_H

#include <assert.h>
#include <stdint.h>

#define NOTHING INT64_MIN /* NULL, as a member of a row */

/* ---- rows ---- */

#define REL_KEY(name, about) int64_t name;
#define REL_INT(name, unit, null, about) int64_t name;
#define REL_SINCE(name, null, about) int64_t name;
#define REL_LABEL(name, labels, null, about) int64_t name;
#define REL_WORD(table, name, fields) int64_t name;
#define REL_TEXT(name, null, about) const char *name;
#define REL_BATCH(name, table, room, about, columns) \
	struct row_##name {                          \
		columns                              \
	};
#define REL_STATEMENT(name, table, about, columns) \
	struct row_##name {                        \
		columns                            \
	};
#include "store/relations.def"

#define REL_KEY(name, about) +1
#define REL_INT(name, unit, null, about) +1
#define REL_SINCE(name, null, about) +1
#define REL_LABEL(name, labels, null, about) +1
#define REL_WORD(table, name, fields) +1
#define REL_TEXT(name, null, about) +1
#define REL_BATCH(name, table, room, about, columns) COLUMNS_##name = 0 columns,
#define REL_STATEMENT(name, table, about, columns) COLUMNS_##name = 0 columns,
enum {
#include "store/relations.def"
};

/* Batches and pages read a row as an array of int64_t. */
#define REL_BATCH(name, table, room, about, columns) \
	static_assert(sizeof(struct row_##name) == COLUMNS_##name * sizeof(int64_t), "a row has holes");
#include "store/relations.def"

/* The number of arguments, from 1 to 40. */
#define N_ARGS(...)                                                                                                  \
	N_ARGS_(__VA_ARGS__, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, \
	        18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define N_ARGS_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, \
                a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, n, ...)    \
	n

/* Set *@row from designated initialisers. The build fails unless every column has one. */
#define FILL_ROW(row, name, ...)                                                                           \
	do {                                                                                               \
		static_assert(N_ARGS(__VA_ARGS__) == COLUMNS_##name, "every column needs an initialiser"); \
		*(row) = (struct row_##name){ __VA_ARGS__ };                                               \
	} while (0)

/* ---- bits of packed columns ---- */

/* Fields lie side by side: an enumerator without a value is its predecessor plus one. */
#define REL_BITS(table, name, bits, unit, null, about) \
	AT_##table##_##name, TOP_##table##_##name = AT_##table##_##name + bits - 1,
#define REL_LABEL_BITS(table, name, bits, labels, null, about) REL_BITS(table, name, bits, 0, null, about)
#define REL_WORD(table, name, fields) enum { fields };
#define REL_BATCH(name, table, room, about, columns) columns
#include "store/relations.def"

#define REL_BITS(table, name, bits, unit, null, about) ALL_##table##_##name = (1 << bits) - 1,
#define REL_LABEL_BITS(table, name, bits, labels, null, about) REL_BITS(table, name, bits, 0, null, about)
#define REL_WORD(table, name, fields) enum { fields };
#define REL_BATCH(name, table, room, about, columns) columns
#include "store/relations.def"

#define REL_BITS(table, name, bits, unit, null, about) int64_t name;
#define REL_LABEL_BITS(table, name, bits, labels, null, about) int64_t name;
#define REL_WORD(table, name, fields) \
	struct bits_##table {         \
		fields                \
	};
#define REL_BATCH(name, table, room, about, columns) columns
#include "store/relations.def"

#define REL_BITS(table, name, bits, unit, null, about) +1
#define REL_LABEL_BITS(table, name, bits, labels, null, about) +1
#define REL_WORD(table, name, fields) enum { FIELDS_##table = 0 fields };
#define REL_BATCH(name, table, room, about, columns) columns
#include "store/relations.def"

static inline int64_t bits_of(int64_t value, int64_t all, unsigned at)
{
	return (value < 0 || value > all ? all : value) << at;
}

#define REL_BITS(table, name, bits, unit, null, about) | bits_of(b.name, ALL_##table##_##name, AT_##table##_##name)
#define REL_LABEL_BITS(table, name, bits, labels, null, about) REL_BITS(table, name, bits, 0, null, about)
#define REL_WORD(table, name, fields)                             \
	static inline int64_t pack_##table(struct bits_##table b) \
	{                                                         \
		return 0 fields;                                  \
	}
#define REL_BATCH(name, table, room, about, columns) columns
#include "store/relations.def"

#define REL_BITS(table, name, bits, unit, null, about) .name = word >> AT_##table##_##name & ALL_##table##_##name,
#define REL_LABEL_BITS(table, name, bits, labels, null, about) REL_BITS(table, name, bits, 0, null, about)
#define REL_WORD(table, name, fields)                                  \
	static inline struct bits_##table unpack_##table(int64_t word) \
	{                                                              \
		return (struct bits_##table){ fields };                \
	}
#define REL_BATCH(name, table, room, about, columns) columns
#include "store/relations.def"

/* The packed column of @table from designated initialisers. The build fails unless every field has one. */
#define PACK(table, ...)                                                                                   \
	(pack_##table((struct bits_##table){ __VA_ARGS__ }) +                                              \
	 0 * (int64_t)sizeof(struct {                                                                      \
		 static_assert(N_ARGS(__VA_ARGS__) == FIELDS_##table, "every field needs an initialiser"); \
		 char none;                                                                                \
	 }))

/* ---- names of numbers ---- */

#define REL_NAME(labels, name, number) LABEL_##labels##_##name = number,
#define REL_LABELS(labels, names) names
enum {
#include "store/labels.def"
};

#endif
