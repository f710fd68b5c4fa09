/* relations.c -- checks that a relation, or a column of one, is in a database. */
#include "input/relations.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

enum { MOST = 128, LONGEST = 64 };

/* names points into text. */
struct names {
	char text[MOST][LONGEST];
	const char *names[MOST];
	size_t n;
};

static int relation_gather(void *ctx, const struct bsa_column *c)
{
	struct names *names = ctx;

	if (*c->name || names->n == MOST)
		return 0;
	snprintf(names->text[names->n], LONGEST, "%s", c->relation);
	names->names[names->n] = names->text[names->n];
	names->n++;
	return 0;
}

int bsv_relation_check(struct bsa_db *db, const char *name, struct bsa_err *err)
{
	struct names names = { .n = 0 };
	const char *nearest;
	int r = bsa_db_schema(db, NULL, relation_gather, &names, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++)
		if (!strcmp(names.names[i], name))
			return 0;
	nearest = bsv_nearest(name, names.names, names.n, sizeof(*names.names));
	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "no relation '%s'; did you mean '%s'?", name, nearest);
	return bsa_fail(err, BSA_E_USAGE, "no relation '%s'; burstscope schema shows them", name);
}

struct sought {
	const char *column;
	bool found;
};

static int column_seek(void *ctx, const struct bsa_column *c)
{
	struct sought *s = ctx;

	s->found |= !strcmp(c->name, s->column);
	return 0;
}

bool bsv_relation_has(struct bsa_db *db, const char *relation, const char *column)
{
	struct sought s = { column, false };

	return bsa_db_schema(db, relation, column_seek, &s, NULL) >= 0 && s.found;
}
