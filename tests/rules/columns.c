/* columns.c -- every relation of a database and every column of it, as docs/database.md has them. */
#include "bsa/db.h"

#include <stdio.h>

static int tell(void *ctx, const struct bsa_column *c)
{
	(void)ctx;
	if (!*c->name)
		printf("\n### %s\n\nOne row per %s.\n\n| column | unit | |\n|---|---|---|\n", c->relation, c->about);
	else
		printf("| `%s` | %s | %s |\n", c->name, c->unit, c->about);
	return 0;
}

int main(void)
{
	struct bsa_err err;

	if (bsa_db_schema(NULL, NULL, tell, NULL, &err)) {
		fprintf(stderr, "columns: %s\n", err.text);
		return 1;
	}
	return 0;
}
