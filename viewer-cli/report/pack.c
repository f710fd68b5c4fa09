/* pack.c -- see pack.h. */
#include "report/pack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/scoped.h"

enum { PACK_ROWS = 65536, COMPRESSION = 4, MOST_WIDTH = 8 };

struct bsv_pack {
	FILE *to;
	const char *name;
	const struct bsv_pack_column *columns;
	size_t n_columns, n; /* n: rows that wait to be written */
	uint64_t *codes;     /* PACK_ROWS of each column, one column after the other */
	int64_t *last;       /* last value of each delta column */
	unsigned char *planes, *small;
	size_t small_room;
	uint64_t rows;
};

struct bsv_pack *bsv_pack_new(FILE *to, const char *name, const struct bsv_pack_column *columns, size_t n_columns)
{
	size_t most = n_columns * PACK_ROWS * MOST_WIDTH;
	struct bsv_pack *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct bsv_pack){ .to = to, .name = name, .columns = columns, .n_columns = n_columns };
	p->small_room = compressBound(most);
	p->codes = malloc(most);
	p->planes = malloc(most);
	p->small = malloc(p->small_room);
	p->last = calloc(n_columns, sizeof(*p->last));
	return p->codes && p->planes && p->small && p->last ? p : bsv_pack_free(p);
}

struct bsv_pack *bsv_pack_free(struct bsv_pack *p)
{
	if (p) {
		free(p->codes);
		free(p->planes);
		free(p->small);
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

static unsigned width_of(const uint64_t *codes, size_t n)
{
	uint64_t all = 0;
	unsigned width = 0;

	for (size_t i = 0; i < n; i++)
		all |= codes[i];
	for (; all; all >>= 8)
		width++;
	return width;
}

/* The planes of one column; how many bytes they have. */
static size_t shuffle_planes(unsigned char *to, const uint64_t *codes, size_t n, unsigned width)
{
	for (unsigned plane = 0; plane < width; plane++)
		for (size_t i = 0; i < n; i++)
			*to++ = (unsigned char)(codes[i] >> 8 * plane);
	return n * width;
}

static int write_rows(struct bsv_pack *p, struct bsa_err *err)
{
	uLongf size = p->small_room;
	size_t filled = 0;

	if (!p->n)
		return 0;
	fprintf(p->to, "<script type=\"text/plain\" data-pack=\"%s\" data-rows=\"%zu\" data-widths=\"", p->name, p->n);
	for (size_t c = 0; c < p->n_columns; c++) {
		const uint64_t *codes = p->codes + c * PACK_ROWS;
		unsigned width = width_of(codes, p->n);

		fprintf(p->to, c ? ",%u" : "%u", width);
		filled += shuffle_planes(p->planes + filled, codes, p->n, width);
	}
	if (compress2(p->small, &size, p->planes, filled, COMPRESSION) != Z_OK)
		return bsv_no_memory(err);
	fputs("\">", p->to);
	bsv_base64(p->to, p->small, size);
	fputs("</script>\n", p->to);
	p->n = 0;
	return ferror(p->to) ? bsa_fail(err, BSA_E_ENV, "the page cannot be written") : 0;
}

int bsv_pack_row(struct bsv_pack *p, const int64_t *values, struct bsa_err *err)
{
	for (size_t c = 0; c < p->n_columns; c++) {
		uint64_t *code = &p->codes[c * PACK_ROWS + p->n];

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
	return write_rows(p, err);
}
