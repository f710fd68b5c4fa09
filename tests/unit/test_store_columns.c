/*
 * test_store_columns.c -- every column of relations.def: the store writes its smallest value, its largest and
 * NULL; SQLite and the views must read the same. The same for every value of every field of bits, and for
 * every name of a number.
 *
 * The test reads the definition with macros of its own. Two parts are written by hand, because a wrong
 * definition would agree with itself: the place of each field in the file, and (nbt/enums.def) the names that
 * traces give the same numbers. test_store.c checks that producers fill a column with the right fact.
 */
#include "analyzer/stored.h"

#include "store/own.h"
#include "store/sql.h"

#include <ctype.h>
#include <sqlite3.h>

/* ---- the definition, as data ---- */

enum kind { LAST, KEY, NUMBER, SINCE, TEXT, WORD, FIELD, PRIMARY };
enum null { OPTIONAL, REQUIRED };

struct column {
	const char *name, *labels, *unit;
	enum kind kind;
	enum null null;
	size_t at; /* offset in the row; of a field: in struct bits_ */
	unsigned bits;
};

struct table {
	const char *name, *sql;
	size_t bytes; /* bytes of a row */
	const struct column *(*columns)(void);
	void (*write)(struct bsa_store *s, const void *row);
};

/* For functions in which row_here is the struct of the row. */
#define REL_KEY(n, a) { .name = #n, .kind = KEY, .null = REQUIRED, .at = offsetof(row_here, n) },
#define REL_INT(n, u, nul, a) { .name = #n, .kind = NUMBER, .unit = u, .null = nul, .at = offsetof(row_here, n) },
#define REL_SINCE(n, nul, a) { .name = #n, .kind = SINCE, .null = nul, .at = offsetof(row_here, n) },
#define REL_LABEL(n, l, nul, a) { .name = #n, .kind = NUMBER, .labels = #l, .null = nul, .at = offsetof(row_here, n) },
#define REL_TEXT(n, nul, a) { .name = #n, .kind = TEXT, .null = nul, .at = offsetof(row_here, n) },
#define REL_WORD(t, n, fields) { .name = #n, .kind = WORD, .at = offsetof(row_here, n) }, fields
#define REL_BITS(t, n, b, u, nul, a) \
	{ .name = #n, .kind = FIELD, .unit = u, .bits = b, .null = nul, .at = offsetof(struct bits_##t, n) },
#define REL_LABEL_BITS(t, n, b, l, nul, a) \
	{ .name = #n, .kind = FIELD, .labels = #l, .bits = b, .null = nul, .at = offsetof(struct bits_##t, n) },
#define REL_ROWS_BY(...) { .name = #__VA_ARGS__, .kind = PRIMARY },
#define COLUMNS_OF(n, ...)                                                              \
	static const struct column *columns_of_##n(void)                                \
	{                                                                               \
		typedef struct row_##n row_here;                                        \
		static const struct column columns[] = { __VA_ARGS__{ .kind = LAST } }; \
		return columns;                                                         \
	}
#define REL_BATCH(n, t, room, a, c)                                 \
	COLUMNS_OF(n, c)                                            \
	static void write_##n(struct bsa_store *s, const void *row) \
	{                                                           \
		struct row_##n *to = bsa_batch_row(s, BATCH_##n);   \
                                                                    \
		assert_non_null(to);                                \
		*to = *(const struct row_##n *)row;                 \
	}
#define REL_STATEMENT(n, t, a, c)                                   \
	COLUMNS_OF(n, c)                                            \
	static void write_##n(struct bsa_store *s, const void *row) \
	{                                                           \
		bsa_statement_##n(s, row);                          \
	}
#include "store/relations.def"

#define REL_BATCH(n, t, room, a, c) { #n, #t, sizeof(struct row_##n), columns_of_##n, write_##n },
#define REL_STATEMENT(n, t, a, c) { #n, #t, sizeof(struct row_##n), columns_of_##n, write_##n },
static const struct table tables[] = {
#include "store/relations.def"
};

/* A view (view, of), or one of its columns that shows a column of that table (name, column). */
struct passed {
	const char *view, *of, *name, *column;
};

#define REL_SAME(n) { NULL, NULL, #n, #n },
#define REL_RENAMED(n, c) { NULL, NULL, #n, #c },
#define REL_VIEW(n, o, a, c) { #n, #o, NULL, NULL }, c
static const struct passed passed[] = {
#include "store/relations.def"
};

struct name {
	const char *labels, *name;
	int64_t number;
};

#define REL_NAME(l, n, i) { #l, #n, i },
#define REL_LABELS(l, names) names
static const struct name names[] = {
#include "store/labels.def"
};

static const char *name_of(const char *labels, int64_t number)
{
	for (size_t i = 0; i < N_OF(names); i++)
		if (!strcmp(names[i].labels, labels) && names[i].number == number)
			return names[i].name;
	return NULL;
}

static const struct column *find(const struct table *t, const char *name)
{
	for (const struct column *c = t->columns(); c->kind; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* Whether the row has a member for the column. */
static bool is_stored(const struct column *c)
{
	return c->kind != FIELD && c->kind != PRIMARY;
}

union value {
	int64_t number;
	const char *text;
};

static void set(void *row, const struct column *c, union value v)
{
	if (c->kind == TEXT)
		memcpy((char *)row + c->at, &v.text, sizeof(v.text));
	else
		memcpy((char *)row + c->at, &v.number, sizeof(v.number));
}

static union value get(const void *row, const struct column *c)
{
	union value v = { 0 };

	memcpy(&v, (const char *)row + c->at, sizeof(v));
	return v;
}

/* ---- a store that only writes rows: finishing an import would compute with them ---- */

static struct bsa_store *open_store(const char *path)
{
	struct bsa_store *s = calloc(1, sizeof(*s));

	assert_int_equal(sqlite3_open(path, &s->db), SQLITE_OK);
	bsa_store_run(s, bsa_sql_schema);
	bsa_batches_init(s);
	assert_int_equal(bsa_statements_init(s), 0);
	return s;
}

static void close_store(struct bsa_store *s)
{
	if (s->code)
		fail_msg("%s", s->err.text);
	bsa_batches_fini(s);
	bsa_statements_fini(s);
	assert_int_equal(sqlite3_close(s->db), SQLITE_OK);
	free(s);
}

/* ---- tables ---- */

static char long_text[3000];

/* The values of each column: smallest, largest, unknown, and those next to 0. */
static const union value numbers[] = { { INT64_MIN + 1 }, { -1 }, { 0 }, { INT64_MAX }, { NOTHING } };
static const union value texts[] = {
	{ .text = "" }, { .text = long_text }, { .text = "\xc3\xa4'\"|" }, { .text = NULL }
};

static size_t values_of(const struct column *c, const union value **ret)
{
	*ret = c->kind == TEXT ? texts : numbers;
	return c->kind == TEXT ? N_OF(texts) : N_OF(numbers);
}

/* Whether the table refuses @v in @c: an unknown value where the definition requires a known one. */
static bool is_refused(const struct column *c, union value v)
{
	return c->null == REQUIRED && (c->kind == TEXT ? !v.text : v.number == NOTHING);
}

/* Where the primary key names @c; below 0: not at all. SQLite returns rows in the order of the column at 0. */
static int place_in_key(const struct table *t, const struct column *c)
{
	for (const struct column *p = t->columns(); p->kind; p++)
		if (p->kind == PRIMARY) {
			const char *at = strstr(p->name, c->name);

			return at ? (int)(at - p->name) : -1;
		}
	return c->kind == KEY ? 0 : -1;
}

/* Give each column a value of its own, so that swapped columns differ; the key is @key. */
static void set_all(const struct table *t, void *row, int64_t key)
{
	int64_t n = 100;

	for (const struct column *c = t->columns(); c->kind; c++)
		if (is_stored(c))
			set(row, c,
			    c->kind == TEXT ? (union value){ .text = c->name }
			                    : (union value){ place_in_key(t, c) == 0 ? key : n++ });
}

struct rows {
	char *all;
	size_t n;
};

/* Make a row for each value of each column, in the order of keys. */
static struct rows rows_of(const struct table *t)
{
	struct rows ret = { NULL, 0 };

	for (unsigned pass = 0; pass < 3; pass++) /* the smallest key, all other columns, the largest key */
		for (const struct column *c = t->columns(); c->kind; c++) {
			const union value *values;
			size_t n = is_stored(c) ? values_of(c, &values) : 0;

			for (size_t i = 0; i < n; i++) {
				int64_t v = values[i].number;
				int place = place_in_key(t, c);

				if (is_refused(c, values[i]))
					continue;
				if (place >= 0 && (v == NOTHING || (place == 0 && v == 0)))
					continue; /* SQLite numbers or refuses a NULL; 0 would be out of order */
				if (pass != (place != 0 ? 1 : v < 0 ? 0 : 2))
					continue;
				ret.all = realloc(ret.all, (ret.n + 1) * t->bytes);
				set_all(t, ret.all + ret.n * t->bytes, (int64_t)ret.n + 1);
				set(ret.all + ret.n++ * t->bytes, c, values[i]);
			}
		}
	return ret;
}

/* SQLite must have @v in @column of the present row of @q. */
static void check_value(const struct table *t, const struct column *c, sqlite3_stmt *q, int column, union value v)
{
	const char *text = (const char *)sqlite3_column_text(q, column);
	bool fine = c->kind == TEXT       ? v.text ? text && !strcmp(text, v.text) : !text
	            : v.number == NOTHING ? sqlite3_column_type(q, column) == SQLITE_NULL
	                                  : sqlite3_column_type(q, column) == SQLITE_INTEGER &&
	                                            sqlite3_column_int64(q, column) == v.number;

	if (!fine && c->kind == TEXT)
		fail_msg("%s.%s: %s, not %s", t->sql, c->name, text ? text : "NULL", v.text ? v.text : "NULL");
	if (!fine)
		fail_msg("%s.%s: %s, not %lld", t->sql, c->name, text ? text : "NULL", (long long)v.number);
}

static void check_rows(const struct table *t, sqlite3 *db, const struct rows *rows)
{
	char sql[4096] = "SELECT ";
	size_t row = 0;
	sqlite3_stmt *q;
	int r;

	for (const struct column *c = t->columns(); c->kind; c++)
		if (is_stored(c))
			sprintf(sql + strlen(sql), "\"%s\", ", c->name);
	sprintf(sql + strlen(sql), "0 FROM %s", t->sql);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	for (; (r = sqlite3_step(q)) == SQLITE_ROW; row++) {
		int column = 0;

		assert_true(row < rows->n);
		for (const struct column *c = t->columns(); c->kind; c++)
			if (is_stored(c))
				check_value(t, c, q, column++, get(rows->all + row * t->bytes, c));
	}
	assert_int_equal(r, SQLITE_DONE);
	if (row != rows->n)
		fail_msg("%s: %zu rows, not %zu", t->sql, row, rows->n);
	sqlite3_finalize(q);
}

/* There are more rows than a batch has room for: the store writes some batches more than once. */
static void columns_hold_their_smallest_and_largest_and_nothing(void **state)
{
	const char *path = *state;
	struct bsa_store *s = open_store(path);
	struct rows rows[N_OF(tables)];
	sqlite3 *db;

	memset(long_text, 'x', sizeof(long_text) - 1);
	bsa_store_run(s, "BEGIN");
	for (size_t i = 0; i < N_OF(tables); i++) {
		rows[i] = rows_of(&tables[i]);
		for (size_t k = 0; k < rows[i].n; k++)
			tables[i].write(s, rows[i].all + k * tables[i].bytes);
	}
	bsa_batches_flush(s);
	bsa_store_run(s, "COMMIT");
	close_store(s);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	for (size_t i = 0; i < N_OF(tables); i++) {
		check_rows(&tables[i], db, &rows[i]);
		free(rows[i].all);
	}
	sqlite3_close(db);
}

/*
 * An import that would store NULL in a column that the documentation calls known must fail, and not publish the file.
 */
static void a_required_column_refuses_nothing(void **state)
{
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(tables); i++)
		for (const struct column *c = tables[i].columns(); c->kind; c++) {
			struct bsa_store *s;
			char row[512];

			if (!is_stored(c) || c->null == OPTIONAL || c->kind == KEY)
				continue;
			s = open_store(":memory:");
			set_all(&tables[i], row, 1);
			set(row, c, c->kind == TEXT ? (union value){ .text = NULL } : (union value){ NOTHING });
			tables[i].write(s, row);
			if (!bsa_batches_flush(s))
				fail_msg("%s.%s is required, but the table holds a NULL", tables[i].sql, c->name);
			s->code = 0;
			close_store(s);
			n++;
		}
	assert_true(n > 50);
}

/* Members and columns are the same, in the same order: SELECT * gives a struct. */
static void structs_are_tables(void **state)
{
	const char *path = *state;

	close_store(open_store(path));
	for (size_t i = 0; i < N_OF(tables); i++) {
		char sql[128], expected[4096] = "";

		for (const struct column *c = tables[i].columns(); c->kind; c++)
			if (is_stored(c))
				sprintf(expected + strlen(expected), "%zu|%s\n", c->at / sizeof(int64_t), c->name);
		snprintf(sql, sizeof(sql), "SELECT cid, name FROM pragma_table_info('%s')", tables[i].sql);
		assert_rows(path, sql, expected);
	}
}

/* ---- views ---- */

/* @view must have one row, with @expected in @column. */
static void check_shown(sqlite3 *db, const char *view, const char *column, const char *expected, const char *of)
{
	char sql[256];
	sqlite3_stmt *q;
	const char *text;

	snprintf(sql, sizeof(sql), "SELECT \"%s\" FROM %s", column, view);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
	if (sqlite3_step(q) != SQLITE_ROW)
		fail_msg("%s.%s: no row with %s", view, column, of);
	text = (const char *)sqlite3_column_text(q, 0);
	if (expected ? !text || strcmp(text, expected) : text != NULL)
		fail_msg("%s.%s: %s, not %s, of %s", view, column, text ? text : "NULL", expected ? expected : "NULL",
		         of);
	assert_int_not_equal(sqlite3_step(q), SQLITE_ROW);
	sqlite3_finalize(q);
}

static void remove_rows(struct bsa_store *s, const struct table *t)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "DELETE FROM %s", t->sql);
	bsa_store_run(s, sql);
}

/* Make @row the only row of its table. */
static void write_only(struct bsa_store *s, const struct table *t, const void *row)
{
	remove_rows(s, t);
	t->write(s, row);
	assert_int_equal(bsa_batches_flush(s), 0);
}

/* A row that every view shows: bursts only are in `burst`, and times stay in range while base is 0. */
static void set_shown(const struct table *t, void *row)
{
	set_all(t, row, 7);
	for (const struct column *c = t->columns(); c->kind; c++)
		if (is_stored(c) && (c->labels || !strcmp(c->name, "base")))
			set(row, c, (union value){ 0 });
}

static void check_column(struct bsa_store *s, const struct table *t, const struct column *c, const char *view,
                         const char *shown)
{
	const union value *values;
	size_t n = values_of(c, &values);
	char row[512], text[32];

	assert_true(t->bytes <= sizeof(row));
	for (size_t i = 0; i < n; i++) {
		int64_t v = values[i].number;

		if (is_refused(c, values[i]) || (place_in_key(t, c) >= 0 && v == NOTHING))
			continue;
		set_shown(t, row);
		set(row, c, values[i]);
		write_only(s, t, row);
		snprintf(text, sizeof(text), "%lld", (long long)v);
		check_shown(s->db, view, shown,
		            c->kind == TEXT ? values[i].text
		            : c->labels     ? name_of(c->labels, v)
		            : v == NOTHING  ? NULL
		                            : text,
		            text);
	}
	for (int64_t v = 0; c->labels && v < 64; v++) {
		if (!strcmp(view, "burst"))
			continue;
		set_shown(t, row);
		set(row, c, (union value){ v });
		write_only(s, t, row);
		snprintf(text, sizeof(text), "%lld", (long long)v);
		check_shown(s->db, view, shown, name_of(c->labels, v), text);
	}
}

static const struct table *find_table(const char *name)
{
	for (size_t i = 0; i < N_OF(tables); i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}

static void views_show_what_columns_hold(void **state)
{
	struct bsa_store *s = open_store(":memory:");
	const struct table *t = NULL;
	const char *view = NULL;
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(passed); i++) {
		const struct passed *p = &passed[i];
		const struct column *c;

		if (p->view) {
			if (t)
				remove_rows(s, t);
			view = p->view;
			t = find_table(p->of);
			continue;
		}
		if (!t) /* SQL fills it */
			continue;
		c = find(t, p->column);
		assert_non_null(c);
		if (c->kind == FIELD)
			continue;
		check_column(s, t, c, view, p->name);
		n++;
	}
	assert_true(n > 200);
	close_store(s);
}

/* ---- bits ---- */

/* The place of each field in the file. To move one, increment BSA_SCHEMA_VERSION. */
static const struct {
	const char *table, *field;
	unsigned at, bits;
} in_the_file[] = {
	{ "execution", "path", 0, 3 },    { "execution", "priority", 3, 2 }, { "execution", "fallback", 5, 2 },
	{ "execution", "status", 7, 4 },  { "execution", "miss", 11, 2 },    { "execution", "quality", 13, 3 },
	{ "execution", "sides", 16, 2 },  { "execution", "cold", 18, 2 },    { "execution", "lane", 20, 7 },
	{ "execution", "idle", 27, 1 },   { "execution", "plain", 28, 1 },   { "execution", "fence_free", 29, 1 },
	{ "wait", "kind", 0, 1 },         { "wait", "lane", 1, 8 },          { "wait", "occupancy", 9, 2 },
	{ "wait", "cause", 11, 5 },       { "wait", "open", 16, 2 },         { "wait_run", "run_kind", 0, 1 },
	{ "wait_run", "run_lane", 1, 8 }, { "wait_run", "run_level", 9, 2 }, { "wait_run", "run_open", 11, 2 },
	{ "fmq_op", "queue", 0, 2 },      { "fmq_op", "op", 2, 1 },          { "fmq_op", "other", 3, 1 },
};

static unsigned place_of(const char *table, const struct column *field)
{
	for (size_t i = 0; i < N_OF(in_the_file); i++)
		if (!strcmp(in_the_file[i].table, table) && !strcmp(in_the_file[i].field, field->name)) {
			assert_int_equal(in_the_file[i].bits, field->bits);
			return in_the_file[i].at;
		}
	fail_msg("%s.%s: add its place to in_the_file", table, field->name);
	return 0;
}

struct packing {
	const char *table, *view;
	int64_t (*pack)(const void *bits);
	void (*unpack)(int64_t word, void *ret);
};

#define PACKING(n)                                               \
	static int64_t packed_##n(const void *bits)              \
	{                                                        \
		return pack_##n(*(const struct bits_##n *)bits); \
	}                                                        \
	static void unpacked_##n(int64_t word, void *ret)        \
	{                                                        \
		*(struct bits_##n *)ret = unpack_##n(word);      \
	}
#define REL_WORD(t, n, fields) PACKING(t)
#define REL_BATCH(n, t, room, a, c) c
#include "store/relations.def"

#define REL_WORD(t, n, fields) { #t, #t, packed_##t, unpacked_##t },
#define REL_BATCH(n, t, room, a, c) c
static const struct packing packings[] = {
/* the view has the name of the table */
#include "store/relations.def"
};

static int64_t all_of(const struct column *field)
{
	int64_t all = 0;

	for (unsigned i = 0; i < field->bits; i++)
		all = 2 * all + 1;
	return all;
}

/* The text of @v as a view shows it, NULL for NULL. */
static const char *shown_as(const struct column *field, int64_t v, char room[32])
{
	if (field->labels)
		return name_of(field->labels, v);
	if (field->null == OPTIONAL && (v == all_of(field) || (!strcmp(field->unit, "0/1") && v > 1)))
		return NULL;
	snprintf(room, 32, "%lld", (long long)v);
	return room;
}

/*
 * Pack @given into a field while all other fields are all zeroes, or all ones. The field must hold @stored, the
 * others what they held.
 */
static void check_bits(struct bsa_store *s, const struct packing *p, const struct column *field, bool ones,
                       int64_t given, int64_t stored)
{
	const struct table *t = find_table(p->table);
	const struct column *word = NULL;
	char bits[512], back[512], row[512], number[32];
	int64_t expected = 0, got;

	for (const struct column *c = t->columns(); c->kind; c++) {
		int64_t v = c == field ? stored : ones ? all_of(c) : 0;

		if (c->kind == WORD)
			word = c;
		if (c->kind != FIELD)
			continue;
		set(bits, c, (union value){ c == field ? given : v });
		for (unsigned i = place_of(p->table, c); i > 0; i--)
			v *= 2;
		expected += v;
	}
	got = p->pack(bits);
	if (got != expected)
		fail_msg("%s.%s = %lld: %llx, not %llx", p->table, field->name, (long long)given, (long long)got,
		         (long long)expected);
	set_shown(t, row);
	set(row, word, (union value){ got });
	write_only(s, t, row);
	p->unpack(got, back);
	for (const struct column *c = t->columns(); c->kind; c++) {
		int64_t v = c == field ? stored : ones ? all_of(c) : 0;

		if (c->kind != FIELD)
			continue;
		assert_int_equal(get(back, c).number, v);
		for (size_t i = 0, within = 0; i < N_OF(passed); i++) {
			within = passed[i].view ? !strcmp(passed[i].view, p->view) : within;
			if (within && passed[i].column && !strcmp(passed[i].column, c->name))
				check_shown(s->db, p->view, passed[i].name, shown_as(c, v, number), field->name);
		}
	}
	remove_rows(s, t);
}

static void bits_stay_in_their_place_and_leave_others_alone(void **state)
{
	struct bsa_store *s = open_store(":memory:");
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(packings); i++)
		for (const struct column *c = find_table(packings[i].table)->columns(); c->kind; c++) {
			const int64_t all = c->kind == FIELD ? all_of(c) : 0,
				      none[] = { -1, all + 1, INT64_MIN, INT64_MAX };

			if (c->kind != FIELD)
				continue;
			n++;
			for (unsigned ones = 0; ones < 2; ones++) {
				for (int64_t v = 0; v <= all; v++)
					check_bits(s, &packings[i], c, ones, v, v);
				for (size_t k = 0; k < N_OF(none); k++)
					check_bits(s, &packings[i], c, ones, none[k], all);
			}
		}
	assert_int_equal(n, N_OF(in_the_file));
	close_store(s);
}

/* ---- names ---- */

/* Traces and databases must give a number the same name. Some enumerations have another name here. */
static void numbers_have_the_names_of_the_catalogue(void **state)
{
	static const char *const other[][2] = { { "miss", "miss_kind" },
		                                { "exhausted", "resource_kind" },
		                                { "cause", "cause_of_end" },
		                                { "dir", "buffer_op" } };
	/* Enumerations that only traces have. */
	static const char *const alone[] = { "resumed", "cache", "phase" };
#define NBT_VALUE(e, l, n) { #e, #l, n },
#define NBT_ENUMERATION(e, l) l
	static const struct name catalogue[] = {
#include "nbt/enums.def"
	};
	unsigned held = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(catalogue); i++) {
		const char *labels = catalogue[i].labels, *name;
		bool skip = false;

		for (size_t k = 0; k < N_OF(alone); k++)
			skip |= !strcmp(labels, alone[k]);
		for (size_t k = 0; k < N_OF(other); k++)
			if (!strcmp(labels, other[k][0])) {
				labels = other[k][1];
				break;
			}
		if (skip)
			continue;
		name = name_of(labels, catalogue[i].number);
		if (!name || strcasecmp(name, catalogue[i].name))
			fail_msg("%s %lld is called %s, not %s", labels, (long long)catalogue[i].number,
			         name ? name : "nothing", catalogue[i].name);
		held++;
	}
	assert_true(held > 50);
}

#define T(f) cmocka_unit_test_setup_teardown(f, stored_setup, stored_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(structs_are_tables),
		T(columns_hold_their_smallest_and_largest_and_nothing),
		T(a_required_column_refuses_nothing),
		T(views_show_what_columns_hold),
		T(bits_stay_in_their_place_and_leave_others_alone),
		T(numbers_have_the_names_of_the_catalogue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
