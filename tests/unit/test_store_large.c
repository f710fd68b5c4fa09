/*
 * test_store_large.c -- databases with the page that SQLite never uses at every place: at one GiB, and here behind the
 * pages that an import begins with.
 */
#include "analyzer/stored.h"

#include <sqlite3.h>

#include "store/blank.h"

unsigned pending_byte;

enum { EXECUTIONS = 6000, WAITS = 9000, PAGE = 16384, MOST = 90 };

static unsigned pages_of(const char *path)
{
	return (unsigned)atoi(stored_ask(path, "PRAGMA page_count"));
}

static void one_page_is_never_used(void **state)
{
	const char *path = *state;
	unsigned behind = 0, first = bsa_blank_bytes / PAGE + 1;

	for (unsigned page = first; page < first + MOST; page++) {
		struct bsa_store *s;
		struct bsa_facts facts;

		pending_byte = (page - 1) * PAGE;
		sqlite3_test_control(SQLITE_TESTCTRL_PENDING_BYTE, pending_byte);
		s = stored_new(path, "a", false);
		facts = bsa_store_facts(s);
		for (uint64_t i = 1; i <= EXECUTIONS; i++) {
			struct bsa_execution x = stored_warm(i, i * 1000);

			x.stream = 1 + (uint32_t)(i % 5);
			x.request.spun = x.result.spun = i << 40;
			facts.execution(facts.ctx, &x);
		}
		for (uint64_t i = 1; i <= WAITS; i++)
			facts.wait(facts.ctx, &(struct bsa_wait){ .execution = i, .began = i << 40, .ended = i << 41 });
		stored_finish(s);
		stored_sound(path);
		assert_rows(path, "SELECT count(*), sum(seq), sum(request_spun_ns >> 40) FROM execution",
		            "6000|18003000|18003000\n");
		assert_rows(path, "SELECT count(*), sum(execution_id) FROM stored_wait", "9000|40504500\n");
		behind += pages_of(path) < page;
	}
	assert_true(behind > 0 && behind < MOST); /* the page was within the table, and beyond it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_page_is_never_used, stored_setup, stored_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
