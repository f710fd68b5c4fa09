/*
 * fuzz_import.c -- any records, folded and stored: the database is whole and passes every check
 * (tests/analyzer/check.sql), or the output is to the byte what it was before, because the records were refused.
 *
 * The first byte of the input chooses how to import; each record then takes one byte for its kind, one for
 * the time since the record before, and one or two for each field, so that numbers are small, often equal,
 * and sometimes absurd.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsa/db.h"
#include "decode/decode.h"
#include "importer.h"

enum {
	RECORDS_MAX = 4096,
	SMALL = 8,
	APPEND = 1,
	COMPACT = 2,
	KEEP = 4,
	SECOND_CLOCK = 8,
	INPUT_MAX = 4096,
	MADE = 4096
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char output[64], check[1 << 16];

struct bytes {
	const uint8_t *at;
	size_t left;
};

static uint8_t bytes_next(struct bytes *b)
{
	if (!b->left)
		return 0;
	b->left--;
	return *b->at++;
}

static void err_must(bool fine, const struct bsa_err *err)
{
	if (fine)
		return;
	fprintf(stderr, "fuzz_import: %s\n", err->text);
	abort();
}

/* ---- records ---- */

struct record {
	struct bsa_event e;
	union {
#define K(name) struct bsa_##name name;
		BSA_KINDS(K)
#undef K
	} fields;
};

static const uint16_t sizes[BSA_N_KINDS] = {
#define K(name) [BSA_##name] = (sizeof(struct bsa_event) + sizeof(struct bsa_##name) + 7) & ~7u,
	BSA_KINDS(K)
#undef K
};

static uint64_t bytes_number(struct bytes *b)
{
	static const uint64_t absurd[] = { UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN,
		                           UINT32_MAX, INT32_MAX, 1ull << 52,
		                           255,        254 };
	uint8_t byte = bytes_next(b);

	if (byte < 0xc0)
		return byte % SMALL;
	if (byte < 0xe0)
		return 1000ull * bytes_next(b);
	return absurd[byte % (sizeof(absurd) / sizeof(*absurd))];
}

/* Few streams and executions, so that records share them. */
static uint64_t bytes_field(struct bytes *b, const char *name)
{
	if (strcmp(name, "exec") != 0 && strcmp(name, "by") != 0)
		return bytes_number(b);
	return bytes_number(b) << 32 | (uint32_t)bytes_number(b);
}

static void record_fill(struct bytes *b, struct record *r)
{
	switch (r->e.kind) {
#define NBT_INT(type, name) f->name = (__typeof__(f->name))bytes_field(b, #name);
#define NBT_LABEL(enumeration, name) f->name = (__typeof__(f->name))bytes_number(b);
#define NBT_ARRAY(type, name, n)           \
	for (unsigned i = 0; i < (n); i++) \
		f->name[i] = bytes_number(b);
#define NBT_TEXT(name)                                   \
	for (unsigned i = 0; i < bytes_next(b) % 4; i++) \
		f->name[i] = (char)bytes_next(b);
#define NBT_EVENT(kind, sides, level, about, list)      \
	case BSA_##kind: {                              \
		struct bsa_##kind *f = &r->fields.kind; \
		list break;                             \
	}
#include "nbt/events.def"
	default:
		r->fields.loss =
			(struct bsa_loss){ r->e.at + bytes_number(b), bytes_number(b),
			                   bytes_number(b),           (uint32_t)bytes_number(b),
			                   (uint32_t)bytes_number(b), (uint32_t)bytes_number(b) % BSA_LOSS_CAUSES,
			                   (uint32_t)bytes_number(b), 0 };
		if (r->fields.loss.ended < r->e.at) /* the decoder makes losses, so their times are in order */
			r->fields.loss.ended = r->e.at;
	}
}

/* ---- one import ---- */

static void tell_trace(struct bsa_importer *im, unsigned i, bool compact, struct bsa_err *err)
{
	char uuid[40];

	snprintf(uuid, sizeof(uuid), "%08x-0000-0000-0000-%012x", i, i);
	err_must(!bsa_importer_trace(im,
	                             &(struct bsa_trace){ .path = "fuzz",
	                                                  .uuid = uuid,
	                                                  .host = "",
	                                                  .session = "",
	                                                  .clock = "",
	                                                  .clock_uuid = "",
	                                                  .clock_offset = 1000000 * (int64_t)i,
	                                                  .clock_group = i,
	                                                  .compact = compact },
	                             err),
	         err);
}

/* A checksum of the database; 0 if there is no database. */
static uint64_t hash_output(void)
{
	static uint64_t words[1 << 13];
	uint64_t hash = 0xcbf29ce484222325;
	FILE *f = fopen(output, "r");
	size_t n;

	if (!f)
		return 0;
	while ((n = fread(words, sizeof(*words), sizeof(words) / sizeof(*words), f))) /* its size is whole pages */
		for (size_t i = 0; i < n; i++)
			hash = (hash ^ words[i]) * 0x100000001b3;
	fclose(f);
	return hash;
}

/* False: the records were refused because of their contents, and the old database is unchanged, if there was one. */
static bool records_import(struct bytes *b, uint8_t how, bool append)
{
	struct bsa_importer_options options = { .output = output, .keep_operations = how & KEEP, .append = append };
	struct bsa_decoded decoded = { .began = 0, .ended = 1 };
	struct bsa_importer *im = NULL;
	struct bsa_err err = { "" };
	uint64_t at = 1000, before = hash_output();
	int refused = 0;

	err_must(!bsa_importer_new(&im, &options, &err), &err);
	for (unsigned i = 0; i < 2; i++)
		tell_trace(im, i + 2 * append, how & COMPACT, &err);
	for (unsigned i = 0; !refused && b->left && i < RECORDS_MAX; i++) {
		struct record r = { .e.kind = bytes_next(b) % BSA_N_KINDS };
		uint8_t delta = bytes_next(b);

		at += delta < 0xf0 ? delta : 1ull << (delta - 0xf0) * 2;
		r.e.at = at;
		r.e.trace = 1 + (how & SECOND_CLOCK && i > RECORDS_MAX / 64);
		r.e.size = sizes[r.e.kind];
		record_fill(b, &r);
		refused = bsa_importer_event(im, &r.e, &err);
		err_must(!refused || refused == BSA_E_INPUT, &err);
	}
	if (!refused) {
		for (unsigned i = 0; i < 2; i++)
			err_must(!bsa_importer_decoded(im, i + 1, &decoded, &err), &err);
		err_must(!bsa_importer_finish(im, &err), &err);
	}
	bsa_importer_free(im);
	if (refused && hash_output() != before) {
		fputs("fuzz_import: not so: refused records leave the output as it was\n", stderr);
		abort();
	}
	return !refused;
}

/* Each row is a violation. */
static void database_judge(void)
{
	struct bsa_err err = { "" };
	struct bsa_query *q = NULL;
	struct bsa_db *db = NULL;
	int r;

	err_must(!bsa_db_open(&db, output, &err), &err);
	err_must(!bsa_query_new(&q, db, check, &err), &err);
	r = bsa_query_step(q, &err);
	err_must(r >= 0, &err);
	if (r) {
		const char *detail = bsa_query_get_string(q, 2, NULL);

		fprintf(stderr, "fuzz_import: not so: %s: %lld: %s\n", bsa_query_get_string(q, 0, NULL),
		        (long long)bsa_query_get_int(q, 1), detail ? detail : "");
		abort();
	}
	bsa_query_free(q);
	bsa_db_close(db);
}

static void output_must_be_gone(void)
{
	unlink(output);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd = open(CHECK_SQL, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, check, sizeof(check) - 1);

	(void)argc;
	(void)argv;
	if (n <= 0)
		abort();
	close(fd);
	snprintf(output, sizeof(output), "/dev/shm/fuzz_import.%d.db", getpid());
	atexit(output_must_be_gone);
	return 0;
}

/*
 * @data, followed by the output of a generator that it seeds, so that every input has some hundred records:
 * an import of three takes as long, and few defects show with so few.
 */
static struct bytes bytes_lengthened(const uint8_t *data, size_t n)
{
	static uint8_t all[INPUT_MAX + MADE];
	size_t used = n < INPUT_MAX ? n : INPUT_MAX;
	uint64_t state = 0x9e3779b97f4a7c15;

	memcpy(all, data, used);
	for (size_t i = 0; i < used; i++)
		state = (state ^ data[i]) * 0x100000001b3;
	for (size_t i = used; i < used + MADE; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		all[i] = (uint8_t)(state >> 32);
	}
	return (struct bytes){ all, used + MADE };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bytes b = bytes_lengthened(data, n);
	uint8_t how = bytes_next(&b);

	if (how & APPEND) {
		struct bytes first = { b.at, b.left / 2 };

		if (!records_import(&first, how, false))
			return 0;
		b.at += b.left - b.left / 2;
		b.left /= 2;
	}
	if (records_import(&b, how, how & APPEND) || how & APPEND)
		database_judge();
	return 0;
}
