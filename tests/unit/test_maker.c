/*
 * test_maker.c -- a case is made in a directory that is renamed afterwards: its page must name the directory that a
 * reader will find.
 */
#include "analyzer/stored.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nnb/status.h"
#include "watch/maker.h"

#define FACT(call, type, ...) facts.call(facts.ctx, &(struct type)__VA_ARGS__)

enum { AT = 50, UNKNOWN = 255, FINAL = 256, HALF = FINAL + 8, PATH = 512, PAGE = 8 << 20 };

static char page[PAGE];

/* A database of an app whose model could not be prepared, and with @executed of an execution. */
static void make_database(const char *path, bool executed)
{
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_warm(1, AT);

	FACT(app, bsa_app, { .id = 1, .trace = 1, .key = 10, .uid = 10, .uid_known = true, .name = "camera" });
	FACT(model, bsa_model,
	     { .id = 1,
	       .trace = 1,
	       .app = 1,
	       .prepared = AT,
	       .priority = UNKNOWN,
	       .status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	       .name = "net" });
	if (executed)
		facts.execution(facts.ctx, &x);
	stored_finish(s);
}

/* Make a caught case in @directory, which has the case's database already. */
static void catch_case(const char *directory, bool executed)
{
	struct bsv_case c = { .state = strdup("caught"), .at = AT, .before = 40, .after = 40, .n_fired = 1 };
	struct bsa_err err = { "" };
	char database[PATH];

	strcpy(c.name, "case");
	strcpy(c.fired[0].on, "error");
	c.fired[0].n = 1;
	assert_int_equal(mkdir(directory, 0700), 0);
	snprintf(database, sizeof(database), "%s/trace.db", directory);
	make_database(database, executed);
	if (bsv_case_write(&c, directory, &err) < 0)
		fail_msg("%s", err.text);
	bsv_case_fini(&c);
}

static void make_case(const char *directory)
{
	struct bsa_err err = { "" };
	pid_t pid = bsv_maker_start(directory, &err);
	int status;

	if (pid < 0)
		fail_msg("%s", err.text);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(bsv_maker_result(status, directory), BSV_MADE_CASE);
}

static void read_page(const char *directory)
{
	char path[PATH];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/report.html", directory);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(page, 1, sizeof(page) - 1, f);
	page[n] = 0;
	assert_true(n > 0 && feof(f));
	fclose(f);
}

static void remove_case(const char *directory)
{
	static const char *const files[] = { "trace.db", "case.json", "report.html" };
	char path[PATH];

	for (size_t i = 0; i < N_OF(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, files[i]);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(directory), 0);
}

static void page_has(const char *before, const char *directory, const char *after)
{
	char words[PATH];

	snprintf(words, sizeof(words), "%s%s/trace.db%s", before, directory, after);
	if (!strstr(page, words))
		fail_msg("the page does not have: %s", words);
}

/* Make a case in @state's directory and read its page. *final: the directory that the case is renamed to. */
static void make_and_read(void *const *state, bool executed, char final[FINAL])
{
	char half[HALF];

	snprintf(final, FINAL, "%s", stored_beside(*state, "case"));
	snprintf(half, sizeof(half), "%s.half", final);
	catch_case(half, executed);
	make_case(half);
	read_page(half);
	remove_case(half);
	if (strstr(page, ".half"))
		fail_msg("the page names the unfinished case: %.200s", strstr(page, ".half") - 100);
	page_has("\"database\":\"", final, "\"");
	page_has("\"command\":\"summary\",\"input\":\"", final, "\"");
	page_has("burstscope misses ", final, "");
}

static void a_page_names_the_place_of_the_finished_case(void **state)
{
	char final[FINAL];

	make_and_read(state, true, final);
	page_has("\"command\":\"misses\",\"input\":\"", final, "\"");
}

static void so_do_the_errors_in_a_page(void **state)
{
	char final[FINAL];

	make_and_read(state, false, final);
	page_has("{\"error\":\"", final, " contains no executions");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_page_names_the_place_of_the_finished_case, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(so_do_the_errors_in_a_page, stored_setup, stored_teardown),
	};

	return cmocka_run_group_tests_name("maker", tests, NULL, NULL);
}
