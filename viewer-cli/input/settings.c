/* settings.c -- reads the settings of the services and bursts that were recorded. */
#include "input/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/rows.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "base/vector.h"

enum { SETTINGS_MOST = 256 }; /* a hostile recording may have any number; only the first ones count */

static int setting_order(const void *x, const void *y)
{
	const struct bsv_setting *a = x, *b = y;
	int r = strcmp(a->name, b->name);

	return r ? r : strcmp(a->value, b->value);
}

/* @value is owned here, also after an error. */
static int settings_put(struct bsv_settings *s, const char *name, char *value, struct bsa_err *err)
{
	struct bsv_setting one = { strdup(name), value };
	bool known = false;

	for (size_t i = 0; one.name && value && i < s->n && !known; i++)
		known = !setting_order(&s->of[i], &one);
	if (known || s->n == SETTINGS_MOST || !one.name || !value) {
		int r = one.name && value ? 0 : bsv_no_memory(err);

		free(one.name);
		free(value);
		return r;
	}
	if (!bsv_array_grow(&s->of, s->n, sizeof(*s->of))) {
		free(one.name);
		free(value);
		return bsv_no_memory(err);
	}
	s->of[s->n++] = one;
	return 0;
}

/* The setting that a column of service_rules stands for; NULL: the column is an id or a time. */
static const char *rule_name(const char *column)
{
	static const char *const others[] = { "trace_id", "process_id", "instance", "at" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(column, others[i]))
			return NULL;
	return column;
}

/* The setting that a column of stream stands for; NULL: none. An older database lacks these columns. */
static const char *burst_name(const char *column)
{
	return !strcmp(column, "cache") ? "burst_mappings" : !strcmp(column, "spin_us") ? "burst_spin_us" : NULL;
}

static int settings_read(struct bsv_settings *ret, const struct bsv_input *input, const char *sql,
                         const char *(*name_of)(const char *column), struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_rows_query(&rows, input->db, sql, err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
		for (size_t i = 0; r >= 0 && i < bsv_rows_columns(rows); i++) {
			const char *name = name_of(bsv_rows_column(rows, i)->name);
			struct bsv_cell cell = bsv_rows_cell(rows, i);

			if (name && cell.type != BSA_NULL)
				r = settings_put(ret, name,
				                 cell.type == BSA_INT    ? bsv_text("%lld", (long long)cell.integer)
				                 : cell.type == BSA_REAL ? bsv_text("%g", cell.real)
				                                         : strdup(cell.text ? cell.text : ""),
				                 err);
		}
	return r;
}

int bsv_settings_add(struct bsv_settings *ret, const struct bsv_input *input, struct bsa_err *err)
{
	int r = settings_read(ret, input, bsv_sql_settings_rules, rule_name, err);

	if (r >= 0)
		r = settings_read(ret, input, bsv_sql_settings_bursts, burst_name, err);
	if (ret->n)
		qsort(ret->of, ret->n, sizeof(*ret->of), setting_order);
	return r;
}

void bsv_settings_fini(struct bsv_settings *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->of[i].name);
		free(s->of[i].value);
	}
	free(s->of);
	*s = (struct bsv_settings){ NULL, 0 };
}

struct range {
	double least, most;
	size_t n;
};

static struct range setting_range(const struct bsv_settings *s, const char *name)
{
	struct range ret = { 0, 0, 0 };

	for (size_t i = 0; i < s->n; i++) {
		double value;

		if (strcmp(s->of[i].name, name))
			continue;
		value = strtod(s->of[i].value, NULL);
		ret.least = !ret.n || value < ret.least ? value : ret.least;
		ret.most = !ret.n || value > ret.most ? value : ret.most;
		ret.n++;
	}
	return ret;
}

bool bsv_settings_differ(const struct bsv_settings *a, const struct bsv_settings *b, const char *name)
{
	bsv_scoped_text *in_a = bsv_settings_values(a, name), *in_b = bsv_settings_values(b, name);
	struct range x = setting_range(a, name), y = setting_range(b, name);
	const char *end = strstr(name, "spin_us");
	bool is_measured = end && !strcmp(end, "spin_us");

	if (!in_a || !in_b || !is_measured)
		return strcmp(in_a ? in_a : "", in_b ? in_b : "");
	return x.least > 2 * y.most || y.least > 2 * x.most;
}

char *bsv_settings_values(const struct bsv_settings *s, const char *name)
{
	char *ret = NULL;

	for (size_t i = 0; i < s->n; i++) {
		bsv_scoped_text *before = ret;

		if (strcmp(s->of[i].name, name)) {
			ret = before ? strdup(before) : NULL;
			continue;
		}
		ret = bsv_text("%s%s%s", before ? before : "", before ? ", " : "", s->of[i].value);
	}
	return ret;
}
