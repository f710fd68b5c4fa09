/* test_conjunct.c -- at which AND a condition of --where is cut in two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "input/conjunct.h"

static const struct row {
	const char *where, *first, *rest; /* first NULL: the cut is unknown; rest NULL: first is the whole condition */
} rows[] = {
	{ "app = 'a'", "app = 'a'", NULL },
	{ "app = 'a' AND run_ns > 0", "app = 'a'", "run_ns > 0" },
	{ "app = 'a'and(x)and y", "app = 'a'", "(x)and y" },
	{ "app = 'a AND b' AND c", "app = 'a AND b'", "c" },
	{ "app = 'it''s AND' AND c", "app = 'it''s AND'", "c" },
	{ "(a AND b) AND c", "(a AND b)", "c" },
	{ "(a OR b) AND (c OR d)", "(a OR b)", "(c OR d)" },
	{ "brand = 1", "brand = 1", NULL },
	{ "orchid AND bandit", "orchid", "bandit" },
	{ "app BETWEEN 'a' AND 'b' AND c", "app BETWEEN 'a'", "'b' AND c" },
	{ "a AND b OR c", NULL, NULL },
	{ "a oR b AND c", NULL, NULL },
	{ "a AND b -- OR", NULL, NULL },
	{ "a /* AND */ AND b", NULL, NULL },
	{ "\"a AND b\" AND c", NULL, NULL },
	{ "[a AND b] AND c", NULL, NULL },
	{ "a = 'open AND b", NULL, NULL },
	{ "1) AND (1", NULL, NULL },
	{ "(1 AND 2", NULL, NULL },
};

static void a_condition_is_cut_at_its_first_and(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		const char *rest;
		size_t n;
		bool known = bsv_first_conjunct(rows[i].where, &n, &rest);

		if (known != (rows[i].first != NULL))
			fail_msg("%s: %d", rows[i].where, known);
		if (!known)
			continue;
		if (n != strlen(rows[i].first) || strncmp(rows[i].where, rows[i].first, n))
			fail_msg("%s: first is %.*s", rows[i].where, (int)n, rows[i].where);
		if (!rest != !rows[i].rest || (rest && strcmp(rest, rows[i].rest)))
			fail_msg("%s: the rest is %s", rows[i].where, rest ? rest : "nothing");
	}
}

int main(void)
{
	const struct CMUnitTest all[] = { cmocka_unit_test(a_condition_is_cut_at_its_first_and) };

	return cmocka_run_group_tests(all, NULL, NULL);
}
