/* template.c -- fills in the placeholders of SQL. */
#include "base/template.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"

char *bsv_fill(const char *template, const struct bsv_placeholder *placeholders)
{
	char *ret = NULL;
	size_t bytes;
	FILE *to = open_memstream(&ret, &bytes);
	bool fine;

	if (!to)
		return NULL;
	for (const char *at = template; *at;) {
		size_t n = *at == '@' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0;
		const struct bsv_placeholder *placeholder = placeholders;

		if (n == 0 || at[n + 1] != '@') { /* no placeholder, which is "@name@" */
			fputc(*at++, to);
			continue;
		}
		while (placeholder->name && (strlen(placeholder->name) != n || memcmp(placeholder->name, at + 1, n)))
			placeholder++;
		assert(placeholder->name && "a placeholder without a text");
		if (placeholder->name && placeholder->text) {
			fputs(placeholder->text, to);
			at += n + 2;
		} else {
			fputc(*at++, to);
		}
	}
	fine = !ferror(to);
	if (fclose(to) || !fine) {
		free(ret);
		return NULL;
	}
	return ret;
}

int bsv_query_new(struct bsa_query **ret, struct bsa_db *db, const char *template,
                  const struct bsv_placeholder *placeholders, struct bsa_err *err)
{
	bsv_scoped_text *sql = placeholders ? bsv_fill(template, placeholders) : NULL;

	if (placeholders && !sql)
		return bsv_no_memory(err);
	return bsa_query_new(ret, db, placeholders ? sql : template, err);
}

char *bsv_and(char *all, char *more)
{
	const struct bsv_placeholder placeholders[] = { { "all", all }, { "more", more }, { NULL, NULL } };
	char *ret = NULL;

	if (all && more)
		ret = *all && *more ? bsv_fill(bsv_sql_and_more, placeholders) : strdup(*all ? all : more);
	free(all);
	free(more);
	return ret;
}

char *bsv_and_equal(char *all, const char *column, const char *value)
{
	bsv_scoped_text *before = NULL, *quoted = NULL;

	if (!all || !value)
		return all;
	before = all;
	quoted = bsv_quoted(value);
	return quoted ? bsv_fill(bsv_sql_and_equal,
	                         (const struct bsv_placeholder[]){
					 { "all", before }, { "column", column }, { "value", quoted }, { NULL, NULL } })
	              : NULL;
}

char *bsv_quoted(const char *s)
{
	char *ret = malloc(2 * strlen(s) + 3), *at = ret;

	if (!ret)
		return NULL;
	*at++ = '\'';
	for (; *s; s++) {
		if (*s == '\'')
			*at++ = '\'';
		*at++ = *s;
	}
	*at++ = '\'';
	*at = 0;
	return ret;
}
