/*
 * blank.c -- a program that the build runs: blank OUT writes a C file with the database that every import begins with.
 *
 * Making the tables and views takes most of the time of a small import, and SQLite makes the same bytes each time. Most
 * of them are 0, because most pages are of empty tables: OUT stores only the parts that are not zero.
 */
#include "store/blank.h"

#include "bsa/db.h"
#include "store/own.h"
#include "store/pages.h"
#include "store/sql.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A part ends where so many zeros follow. */
enum { ZEROS = 64 };

static _Noreturn void blank_fail(const char *why)
{
	fprintf(stderr, "blank: %s\n", why);
	exit(1);
}

static void run_sql(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		blank_fail(sqlite3_errmsg(db));
}

static unsigned char *blank_make(sqlite3_int64 *ret_bytes)
{
	unsigned char *bytes;
	char sql[256];
	sqlite3 *db;
	int n;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		blank_fail("no memory");
	n = snprintf(sql, sizeof(sql),
	             "PRAGMA page_size = %d; PRAGMA auto_vacuum = NONE; PRAGMA application_id = %d; "
	             "PRAGMA user_version = %d; BEGIN",
	             PAGE_BYTES, APPLICATION_ID, BSA_SCHEMA_VERSION);
	assert(n > 0 && (size_t)n < sizeof(sql));
	run_sql(db, sql);
	run_sql(db, bsa_sql_schema);
	run_sql(db, "COMMIT");
	bytes = sqlite3_serialize(db, "main", ret_bytes, 0);
	if (!bytes)
		blank_fail("no memory");
	sqlite3_close(db);
	return bytes;
}

/* The end of the part that begins at @at: ZEROS bytes of 0 follow, or the end. */
static const unsigned char *part_end(const unsigned char *at, const unsigned char *end)
{
	const unsigned char *ret = at;

	for (; at < end && at - ret < ZEROS; at++)
		if (*at)
			ret = at + 1;
	return ret;
}

/* The first byte from @at on that is not 0; @end: all are. */
static const unsigned char *part_begin(const unsigned char *at, const unsigned char *end)
{
	while (at < end && !*at)
		at++;
	return at;
}

static void write_bytes(FILE *out, const unsigned char *from, const unsigned char *to)
{
	for (unsigned n = 0; from < to; from++)
		fprintf(out, "%d,%s", *from, ++n % 32 && from + 1 < to ? "" : "\n");
}

int main(int argc, char **argv)
{
	FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
	const unsigned char *end, *to;
	unsigned char *all;
	sqlite3_int64 bytes;
	bool failed;

	if (!out)
		blank_fail("usage: blank OUT");
	all = blank_make(&bytes);
	assert(bytes > 0 && bytes <= UINT32_MAX);
	end = all + bytes;
	fprintf(out,
	        "/* Made by blank.c. */\n#include \"store/blank.h\"\n\n"
	        "const uint32_t bsa_blank_bytes = %lld;\n\nconst struct bsa_blank_part bsa_blank_parts[] = {\n",
	        (long long)bytes);
	for (const unsigned char *at = part_begin(all, end); at < end; at = part_begin(to, end)) {
		to = part_end(at, end);
		fprintf(out, "\t{ %lld, %lld },\n", (long long)(at - all), (long long)(to - at));
	}
	fputs("\t{ 0, 0 },\n};\n\nconst uint8_t bsa_blank_data[] = {\n", out);
	for (const unsigned char *at = part_begin(all, end); at < end; at = part_begin(to, end)) {
		to = part_end(at, end);
		write_bytes(out, at, to);
	}
	fputs("};\n", out);
	sqlite3_free(all);
	failed = ferror(out); /* of a write before the last, which fclose() need not report */
	if (fclose(out) || failed)
		blank_fail("cannot write");
	return 0;
}
