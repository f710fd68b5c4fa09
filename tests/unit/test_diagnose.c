/*
 * test_diagnose.c -- the causes that are read from the database of a case: they name the right app, and causes
 * of other apps are left out.
 */
#include "analyzer/stored.h"

#include "nnb/status.h"
#include "watch/diagnose.h"

#define FACT(call, type, ...) facts.call(facts.ctx, &(struct type)__VA_ARGS__)

enum { AT = 50, UNKNOWN = 255, OWNER_APP = 3 };

/* An app of @user whose model could not be prepared. */
static void fails_to_prepare(struct bsa_store *s, uint32_t id, const char *name, uint32_t user)
{
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_app app = { .id = id, .trace = 1, .key = user, .uid = user, .uid_known = true };

	snprintf(app.name, sizeof(app.name), "%s", name);
	facts.app(facts.ctx, &app);
	FACT(model, bsa_model,
	     { .id = id,
	       .trace = 1,
	       .app = id,
	       .prepared = AT,
	       .priority = UNKNOWN,
	       .status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	       .name = "net" });
}

static void is_refused(struct bsa_store *s, uint32_t app, uint64_t asked)
{
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(exhausted, bsa_exhausted,
	     { .app = app, .trace = 1, .owner = OWNER_APP, .at = AT, .asked = asked, .limit = 4 });
}

/* The causes of errors in the database at @path; owned by the caller. */
static struct bsv_case diagnose_errors(const char *path)
{
	struct bsv_case c = { .at = AT, .before = 40, .after = 40, .n_fired = 1 };
	struct bsa_err err = { "" };
	bool met;

	strcpy(c.fired[0].on, "error");
	if (bsv_diagnose(&c, path, &met, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(met);
	return c;
}

static const struct bsv_case_cause *cause_of(const struct bsv_case *c, const char *app, uint32_t user)
{
	for (size_t i = 0; i < c->n_causes; i++)
		if (!strcmp(c->causes[i].app, app) && c->causes[i].has_user && c->causes[i].user == user)
			return &c->causes[i];
	fail_msg("no cause of %s of user %u", app, user);
	return NULL;
}

/* Two apps fail, and a limit refused the second one only: only its cause must name the limit. */
static void expect_limit_of_second(const char *path, const char *first, const char *second)
{
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsv_case c;

	fails_to_prepare(s, 1, first, 10);
	fails_to_prepare(s, 2, second, 20);
	is_refused(s, 2, 77);
	stored_finish(s);
	c = diagnose_errors(path);
	assert_int_equal(c.n_causes, 2);
	assert_null(strstr(cause_of(&c, first, 10)->what, "limit 4"));
	assert_non_null(strstr(cause_of(&c, second, 20)->what, "77 asked for, limit 4"));
	bsv_case_fini(&c);
}

static void the_limit_of_another_app_is_not_the_cause(void **state)
{
	expect_limit_of_second(*state, "camera", "hog");
}

/*
 * A death and an error fired, but the recording has the error alone. The case must name the death, too, and not
 * the error twice.
 */
static void an_unrecorded_condition_has_a_cause_of_its_own(void **state)
{
	struct bsv_case c = { .at = AT, .before = 40, .after = 40, .n_fired = 3 };
	struct bsa_store *s = stored_new(*state, "a", false);
	struct bsa_err err = { "" };
	bool met;

	fails_to_prepare(s, 1, "camera", 10);
	stored_finish(s);
	strcpy(c.fired[0].on, "death");
	c.fired[0].n = 2;
	strcpy(c.fired[1].on, "error");
	strcpy(c.fired[2].on, "death:app=music"); /* the event does not have the app's name */
	if (bsv_diagnose(&c, *state, &met, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(c.n_causes, 2);
	assert_string_equal(c.causes[0].condition, "error");
	assert_string_equal(c.causes[1].condition, "death");
	assert_string_equal(c.causes[1].finding, "unexplained");
	assert_string_equal(c.causes[1].what, "death fired 2 times, and the recording does not hold what it was about");
	assert_string_equal(c.summary, c.causes[0].what);
	bsv_case_fini(&c);
}

static void apps_of_one_name_and_two_users_are_kept_apart(void **state)
{
	expect_limit_of_second(*state, "camera", "camera");
}

/* An execution of @model of @app; 0: it has none. */
static void is_executed(struct bsa_store *s, uint32_t app, uint32_t model)
{
	static uint64_t id;
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_warm(++id, AT);

	x.app = app;
	x.model = model;
	facts.execution(facts.ctx, &x);
}

static void a_case_says_that_names_were_not_recorded(void **state)
{
	struct bsa_store *s = stored_new(*state, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	char *line;
	struct bsv_case c;

	fails_to_prepare(s, 1, "camera", 10);
	fails_to_prepare(s, 2, "", 20);
	FACT(model, bsa_model, { .id = 3, .trace = 1, .app = 1, .number = 77, .priority = UNKNOWN, .status = UNKNOWN });
	is_executed(s, 1, 1);
	stored_finish(s);
	c = diagnose_errors(*state);
	assert_int_equal(c.unnamed, 0);
	line = bsv_case_line(&c);
	assert_null(strstr(line, "were not recorded"));
	free(line);
	bsv_case_fini(&c);

	s = stored_new(*state, "b", true);
	is_executed(s, 2, 1);
	is_executed(s, 1, 3);
	is_executed(s, 0, 1);
	stored_finish(s);
	c = diagnose_errors(*state);
	assert_int_equal(c.unnamed, 3);
	line = bsv_case_line(&c);
	assert_non_null(strstr(line, "; the names of the app or the model of 3 executions were not recorded"));
	free(line);
	bsv_case_fini(&c);
}

/* What @c, whose watcher had recorded for @watched, holds before it of the database at @path. */
static void diagnose_watched(struct bsv_case *c, const char *path, int64_t watched)
{
	struct bsa_err err = { "" };
	bool met;

	*c = (struct bsv_case){ .at = AT, .before = 40, .after = 40, .n_fired = 1, .watched = watched };
	strcpy(c->fired[0].on, "error");
	if (bsv_diagnose(c, path, &met, &err) < 0)
		fail_msg("%s", err.text);
}

/* Apps that had just started are no reason for a larger buffer: the time before their first event was recorded. */
static void the_time_without_events_before_the_first_one_is_held(void **state)
{
	struct bsa_store *s = stored_new(*state, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsv_case c;
	int64_t first;
	char *line;

	fails_to_prepare(s, 1, "camera", 10);
	stored_finish(s);
	diagnose_watched(&c, *state, -1);
	first = c.held;
	assert_int_equal(first, AT - 5); /* of stored_new */
	assert_int_equal(c.recorded, first);
	bsv_case_fini(&c);

	diagnose_watched(&c, *state, 60);
	assert_int_equal(c.held, 60);
	assert_int_equal(c.recorded, 60);
	line = bsv_case_line(&c);
	assert_null(strstr(line, "were recorded"));
	free(line);
	bsv_case_fini(&c);

	/* no event can be older than the watcher, but the clocks are read at different times */
	diagnose_watched(&c, *state, first - 1);
	assert_int_equal(c.held, first);
	bsv_case_fini(&c);

	s = stored_new(*state, "b", true);
	facts = bsa_store_facts(s);
	fails_to_prepare(s, 1, "camera", 10);
	FACT(lost, bsa_lost, { .began = 10, .ended = 20, .events = 3, .packets = BSA_NEVER, .trace = 1 });
	stored_finish(s);
	diagnose_watched(&c, *state, 60);
	assert_int_equal(c.held, AT - 20);
	assert_int_equal(c.recorded, 60);
	bsv_case_fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_limit_of_another_app_is_not_the_cause, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(an_unrecorded_condition_has_a_cause_of_its_own, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(apps_of_one_name_and_two_users_are_kept_apart, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(a_case_says_that_names_were_not_recorded, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(the_time_without_events_before_the_first_one_is_held, stored_setup,
		                                stored_teardown),
	};

	return cmocka_run_group_tests_name("diagnose", tests, NULL, NULL);
}
