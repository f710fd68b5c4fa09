/* dressed.c -- prints rows for people: a repeated key once, and percentages as bars. */
#include "answer/dressed.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"

#define UNSEEN_PERCENT 99.95

enum { BAR = 20, EIGHTHS_MAX = 64 * 8, SHAPELESS = 10 /* fewer have no histogram */ };

void bsv_dressed_fini(struct bsv_dressed *d)
{
	bsv_rows_free(d->from);
}

/* @percent of BAR columns, into @to, which is returned. */
static const char *draw_bar(char to[4 * BAR + 1], double percent, const struct bsv_screen *screen)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int eighths = (int)lround((percent < 0 ? 0 : percent > 100 ? 100 : percent) * BAR * 8 / 100);
	char *at = to;

	if (!screen->unicode) {
		eighths = (eighths + 4) / 8;
		memset(to, '#', (size_t)eighths);
		to[eighths] = 0;
		return to;
	}
	for (; eighths >= 8; eighths -= 8)
		at = stpcpy(at, "█");
	strcpy(at, parts[eighths]);
	return to;
}

/* ---- the group that a row belongs to ---- */

struct group {
	size_t keys;
	char *last[BSV_DRESSED_COLUMNS];
	bool any, first; /* first: none of its rows was printed yet */
};

static void group_fini(struct group *group)
{
	for (size_t i = 0; i < group->keys; i++)
		free(group->last[i]);
}

/* Does the current row of @from begin another group than the row before? */
static bool group_changes(const struct group *group, const struct bsv_rows *from)
{
	for (size_t i = 0; group->any && i < group->keys; i++) {
		const char *text = bsv_rows_cell(from, i).text;

		if (group->last[i] && text ? strcmp(group->last[i], text) : group->last[i] || text)
			return true;
	}
	return !group->any;
}

static void group_begin(struct group *group, const struct bsv_rows *from)
{
	for (size_t i = 0; i < group->keys; i++) {
		const char *text = bsv_rows_cell(from, i).text;

		free(group->last[i]);
		group->last[i] = text ? strdup(text) : NULL;
	}
	group->any = group->first = true;
}

/* The keys of a group are printed in its first row only, whichever row that is. */
static void add_keys(struct bsv_rows *to, struct group *group)
{
	for (size_t i = 0; i < group->keys; i++)
		bsv_rows_text(to, group->first ? group->last[i] : "");
	group->first = false;
}

/* ---- shares ---- */

static struct bsv_column bar_column(void)
{
	return (struct bsv_column){ .name = "", .class = "text" };
}

/* Sums over the rows of a group, for the rows at its end. */
struct rest {
	double little; /* sum of the rows below @least */
	double said;   /* sum of all rows */
};

static void add_rest_row(struct bsv_rows *to, struct group *group, size_t columns, const char *what, double percent,
                         const struct bsv_screen *screen)
{
	char bar[4 * BAR + 1];

	add_keys(to, group);
	bsv_rows_text(to, what);
	for (size_t i = group->keys + 1; i + 1 < columns; i++)
		bsv_rows_null(to);
	bsv_rows_real(to, percent);
	bsv_rows_text(to, draw_bar(bar, percent, screen));
}

static void add_rest(struct bsv_rows *to, struct group *group, size_t columns, struct rest *rest,
                     const struct bsv_screen *screen)
{
	if (rest->little > 0)
		add_rest_row(to, group, columns, "(others)", rest->little, screen);
	if (group->any &&
	    rest->said < UNSEEN_PERCENT) /* an execution seen from one side lacks the phases of the other */
		add_rest_row(to, group, columns, "(not seen)", 100 - rest->said, screen);
	*rest = (struct rest){ .little = 0 };
}

/* Query @sql, and copy its columns; one column more still fits. */
static int columns_query(struct bsv_dressed *d, struct bsa_db *db, const char *sql, struct bsa_err *err)
{
	int r = sql ? bsv_rows_query(&d->from, db, sql, err) : bsv_no_memory(err);

	if (r < 0)
		return r;
	assert(bsv_rows_columns(d->from) < BSV_DRESSED_COLUMNS);
	for (size_t i = 0; i < bsv_rows_columns(d->from); i++)
		d->columns[i] = *bsv_rows_column(d->from, i);
	return 0;
}

int bsv_dressed_shares(struct bsv_rows **ret, struct bsv_dressed *d, struct bsa_db *db, const char *sql, size_t keys,
                       double least, const struct bsv_screen *screen, struct bsa_err *err)
{
	__attribute__((cleanup(group_fini))) struct group group = { .keys = keys };
	struct rest rest = { .little = 0 };
	char bar[4 * BAR + 1];
	struct bsv_rows *rows;
	int r = columns_query(d, db, sql, err);
	size_t n;

	if (r < 0)
		return r;
	n = bsv_rows_columns(d->from);
	d->columns[n] = bar_column();
	rows = bsv_rows_new(d->columns, n + 1);
	if (!rows)
		return bsv_no_memory(err);
	while ((r = bsv_rows_step(d->from, err)) > 0) {
		double percent = bsv_rows_cell(d->from, n - 1).real; /* the last column */

		if (group_changes(&group, d->from)) {
			add_rest(rows, &group, n, &rest, screen);
			group_begin(&group, d->from);
		}
		rest.said += percent;
		if (percent < least) {
			rest.little += percent;
			continue;
		}
		add_keys(rows, &group);
		for (size_t i = keys; i < n; i++) {
			struct bsv_cell cell = bsv_rows_cell(d->from, i);

			if (cell.type == BSA_INT)
				bsv_rows_int(rows, cell.integer);
			else if (cell.type == BSA_REAL)
				bsv_rows_real(rows, cell.real);
			else
				bsv_rows_text(rows, cell.text);
		}
		bsv_rows_text(rows, draw_bar(bar, percent, screen));
	}
	add_rest(rows, &group, n, &rest, screen);
	if (r < 0) {
		bsv_rows_free(rows);
		return r;
	}
	*ret = rows;
	return 0;
}

/* ---- histogram ---- */

/* Histogram of one group: counts by eighth of an octave, and the count of zeros. */
struct buckets {
	int eighth[EIGHTHS_MAX];
	int64_t n[EIGHTHS_MAX], zeros, total;
	size_t used;
};

static void add_bucket(struct bsv_rows *to, struct group *group, int64_t from, int64_t n, const struct buckets *b,
                       int64_t highest, const struct bsv_screen *screen)
{
	char bar[4 * BAR + 1];

	add_keys(to, group);
	bsv_rows_int(to, from);
	bsv_rows_int(to, n);
	bsv_rows_real(to, 100. * (double)n / (double)b->total);
	bsv_rows_text(to, draw_bar(bar, 100. * (double)n / (double)highest, screen));
}

static void buckets_print(struct bsv_rows *to, struct group *group, struct buckets *b, size_t most,
                          const struct bsv_screen *screen)
{
	int64_t sums[EIGHTHS_MAX] = { 0 }, highest = b->zeros;
	int width = 1, first = 0, n = 0;

	if (b->total < SHAPELESS)
		*b = (struct buckets){ .used = 0 };
	if (b->used) {
		/* The eighths that one row stands for, so that at most @most rows are needed. */
		while ((size_t)(b->eighth[b->used - 1] / width - b->eighth[0] / width) + 1 > most)
			width *= 2;
		first = b->eighth[0] / width;
		n = b->eighth[b->used - 1] / width - first + 1;
		for (size_t i = 0; i < b->used; i++) {
			int64_t *sum = &sums[b->eighth[i] / width - first];

			assert(sum >= sums && sum < sums + n); /* the query sorts the buckets */

			*sum += b->n[i];
			highest = *sum > highest ? *sum : highest;
		}
	}
	if (b->zeros)
		add_bucket(to, group, 0, b->zeros, b, highest, screen);
	for (int i = 0; i < n; i++)
		add_bucket(to, group, (int64_t)ceil(exp2((first + i) * width / 8.)), sums[i], b, highest, screen);
	*b = (struct buckets){ .used = 0 };
}

int bsv_dressed_histogram(struct bsv_rows **ret, struct bsv_dressed *d, struct bsa_db *db, const char *sql, size_t keys,
                          size_t most, const struct bsv_screen *screen, struct bsa_err *err)
{
	__attribute__((cleanup(group_fini))) struct group group = { .keys = keys };
	struct buckets b = { .used = 0 };
	struct bsv_rows *rows;
	int r = columns_query(d, db, sql, err);
	int64_t from, n;

	if (r < 0)
		return r;
	d->columns[keys + 1] = d->columns[keys + 2]; /* the count takes the place of the bucket's end */
	d->columns[keys + 2] = (struct bsv_column){ .name = "share_percent", .class = "percent", .unit = "%" };
	d->columns[keys + 3] = bar_column();
	rows = bsv_rows_new(d->columns, keys + 4);
	if (!rows)
		return bsv_no_memory(err);
	while ((r = bsv_rows_step(d->from, err)) > 0) {
		if (group_changes(&group, d->from)) {
			buckets_print(rows, &group, &b, most, screen);
			group_begin(&group, d->from);
		}
		from = bsv_rows_get(d->from, keys, 0);
		n = bsv_rows_get(d->from, keys + 2, 0);
		b.total += n;
		if (from <= 0) {
			b.zeros += n;
		} else if (b.used < EIGHTHS_MAX) {
			b.eighth[b.used] = (int)floor(8 * log2((double)from));
			b.n[b.used++] = n;
		}
	}
	buckets_print(rows, &group, &b, most, screen);
	if (r < 0) {
		bsv_rows_free(rows);
		return r;
	}
	*ret = rows;
	return 0;
}
