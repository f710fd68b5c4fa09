/*
 * pack.c -- packs rows into blocks of compressed columns. While rows are read into one block, a
 * thread of its own compresses and writes the block before: at most one such thread, which alone
 * touches that block and the stream until it is joined.
 */
#include "report/pack.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/scoped.h"

/* COLUMN_ROOM: columns that are a power of two apart would compete for the same few lines of a cache. */
enum { PACK_ROWS = 65536, COLUMN_ROOM = PACK_ROWS + 8, COMPRESSION = 4, MOST_WIDTH = 8 };

/* Rows on their way into the page. */
struct block {
	FILE *to;
	unsigned char *planes, *small;
	size_t filled, small_room;
	unsigned *widths; /* width of each column, in bytes */
	bool failed;      /* whether the rows could not be compressed */
};

struct bsv_pack {
	FILE *to;
	const char *name;
	const struct bsv_pack_column *columns;
	size_t n_columns, n;    /* n: rows that wait to be written */
	uint64_t *codes;        /* COLUMN_ROOM of each column, one column after the other */
	int64_t *last;          /* last value of each delta column */
	struct block blocks[2]; /* two: one is being filled, the other is being written */
	size_t turn;            /* the one to be filled next */
	pthread_t writer;       /* writes the other one */
	bool writes;
	uint64_t rows;
};

static bool block_is_whole(const struct block *b)
{
	return b->planes && b->small && b->widths;
}

struct bsv_pack *bsv_pack_new(FILE *to, const char *name, const struct bsv_pack_column *columns, size_t n_columns)
{
	size_t most = n_columns * COLUMN_ROOM * MOST_WIDTH;
	struct bsv_pack *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct bsv_pack){ .to = to, .name = name, .columns = columns, .n_columns = n_columns };
	p->codes = malloc(most);
	p->last = calloc(n_columns, sizeof(*p->last));
	for (size_t i = 0; i < 2; i++)
		p->blocks[i] = (struct block){ .to = to,
			                       .planes = malloc(most),
			                       .small = malloc(compressBound(most)),
			                       .small_room = compressBound(most),
			                       .widths = calloc(n_columns, sizeof(unsigned)) };
	return p->codes && p->last && block_is_whole(&p->blocks[0]) && block_is_whole(&p->blocks[1]) ? p
	                                                                                             : bsv_pack_free(p);
}

/* Wait until the block before is written. False: it could not be. */
static bool writer_join(struct bsv_pack *p)
{
	if (p->writes) {
		int r = pthread_join(p->writer, NULL);

		assert(!r);
		p->writes = false;
	}
	return !p->blocks[0].failed && !p->blocks[1].failed;
}

struct bsv_pack *bsv_pack_free(struct bsv_pack *p)
{
	if (p) {
		writer_join(p);
		for (size_t i = 0; i < 2; i++) {
			free(p->blocks[i].planes);
			free(p->blocks[i].small);
			free(p->blocks[i].widths);
		}
		free(p->codes);
		free(p->last);
		free(p);
	}
	return NULL;
}

uint64_t bsv_pack_rows(const struct bsv_pack *p)
{
	return p->rows;
}

static uint64_t zigzag_code(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

void bsv_base64(FILE *to, const unsigned char *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char line[4096];
	size_t filled = 0;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
		                 (i + 2 < n ? bytes[i + 2] : 0);

		line[filled++] = digits[three >> 18];
		line[filled++] = digits[three >> 12 & 63];
		line[filled++] = i + 1 < n ? digits[three >> 6 & 63] : '=';
		line[filled++] = i + 2 < n ? digits[three & 63] : '=';
		if (filled == sizeof(line)) {
			fwrite(line, 1, filled, to);
			filled = 0;
		}
	}
	fwrite(line, 1, filled, to);
}

static void *block_write(void *arg)
{
	struct block *b = arg;
	uLongf size = b->small_room;

	b->failed = compress2(b->small, &size, b->planes, b->filled, COMPRESSION) != Z_OK;
	if (b->failed)
		return NULL;
	fputs("\">", b->to);
	bsv_base64(b->to, b->small, size);
	fputs("</script>\n", b->to);
	return NULL;
}

/* Begin to write the rows that wait, once the block before is written. */
static int write_rows(struct bsv_pack *p, struct bsa_err *err)
{
	struct block *b = &p->blocks[p->turn];

	if (!p->n)
		return 0;
	b->filled = 0;
	for (size_t c = 0; c < p->n_columns; c++) {
		const uint64_t *codes = p->codes + c * COLUMN_ROOM;
		unsigned char *to = b->planes + b->filled;
		uint64_t all = 0;
		unsigned width = 0;

		for (size_t i = 0; i < p->n; i++)
			all |= codes[i];
		for (; all; all >>= 8)
			width++;
		b->widths[c] = width;
		for (unsigned plane = 0; plane < width; plane++)
			for (size_t i = 0; i < p->n; i++)
				*to++ = (unsigned char)(codes[i] >> 8 * plane);
		b->filled += p->n * width;
	}
	if (!writer_join(p))
		return bsv_no_memory(err);
	fprintf(p->to, "<script type=\"text/plain\" data-pack=\"%s\" data-rows=\"%zu\" data-widths=\"", p->name, p->n);
	for (size_t c = 0; c < p->n_columns; c++)
		fprintf(p->to, c ? ",%u" : "%u", b->widths[c]);
	if (ferror(p->to))
		return bsa_fail(err, BSA_E_ENV, "the page cannot be written");
	p->writes = !pthread_create(&p->writer, NULL, block_write, b);
	if (!p->writes)
		block_write(b); /* there are too many threads: this one does it */
	p->turn = !p->turn;
	p->n = 0;
	return 0;
}

int bsv_pack_row(struct bsv_pack *p, const int64_t *values, struct bsa_err *err)
{
	for (size_t c = 0; c < p->n_columns; c++) {
		uint64_t *code = &p->codes[c * COLUMN_ROOM + p->n];

		if (p->columns[c].delta) {
			*code = zigzag_code(values[c] - p->last[c]);
			p->last[c] = values[c];
		} else {
			*code = values[c] == BSV_PACK_NULL ? 0 : 1 + zigzag_code(values[c]);
		}
	}
	p->rows++;
	return ++p->n == PACK_ROWS ? write_rows(p, err) : 0;
}

int bsv_pack_end(struct bsv_pack *p, struct bsa_err *err)
{
	int r = write_rows(p, err);

	if (r < 0)
		return r;
	if (!writer_join(p))
		return bsv_no_memory(err);
	return ferror(p->to) ? bsa_fail(err, BSA_E_ENV, "the page cannot be written") : 0;
}
