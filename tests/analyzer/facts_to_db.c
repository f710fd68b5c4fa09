/* facts_to_db.c -- facts_to_db PATH EXECUTIONS: a database of executions that are made up, as an import writes it. */
#include "bench/facts.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: facts_to_db PATH EXECUTIONS\n");
		return 2;
	}
	facts_database(argv[1], strtoull(argv[2], NULL, 10), 1, 1);
	return 0;
}
