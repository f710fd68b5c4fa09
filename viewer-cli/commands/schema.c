/* schema.c -- burstscope schema: what there is in a database, with units. */
#include <stdio.h>

#include "bsa/db.h"
#include "command.h"

static int tell_relation(void *ctx, const struct bsa_column *c)
{
	(void)ctx;
	if (!*c->name)
		printf("%-18s %s\n", c->relation, c->about);
	return 0;
}

static int tell_column(void *ctx, const struct bsa_column *c)
{
	(void)ctx;
	if (*c->name)
		printf("%-20s %-7s %s\n", c->name, c->unit, c->about);
	else
		printf("%s: each row is one %s\n\n", c->relation, c->about);
	return 0;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const char *relation = call->n_operands ? call->operands[0] : NULL;

	return bsa_db_schema(NULL, relation, relation ? tell_column : tell_relation, NULL, err);
}

const struct bsv_command bsv_schema = {
	.name = "schema",
	.operands = "[TABLE]",
	.says = "say what is in a database: tables, columns, units",
	.examples = "  burstscope schema\n"
		    "  burstscope schema execution\n",
	.more = "A time is in ns on one clock for all of a database; a column whose name ends in _ns is a duration.\n",
	.max = 1,
	.run = run,
};
