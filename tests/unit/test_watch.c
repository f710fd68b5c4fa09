/*
 * test_watch.c -- the conditions of burstscope watch, the events that decide them, and the store of cases.
 */
#include "watch/known.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "record/packets.h"

/* ---- conditions ---- */

static const struct {
	const char *text, *event, *filter;
	size_t n; /* events */
	bool database;
} good[] = {
	{ "miss", "nnburst:deadline_miss", NULL, 1, false },
	{ "miss:persistent", "nnburst:deadline_miss", "kind == 1", 1, false },
	{ "miss:kind=late,app=camera", "nnburst:deadline_miss", "kind == 2", 1, true },
	{ "miss:cause=hogged,culprit=noisy", "nnburst:deadline_miss", NULL, 1, true },
	{ "error", "nnburst:exec_service", "status != 0 && status != 5 && status != 6", 3, false },
	{ "error:status=DEAD_OBJECT", "nnburst:exec_service", "status == 9", 3, false },
	{ "death", "nnburst:client_disconnect", "reason == 1", 1, false },
	{ "death:app=camera", "nnburst:client_disconnect", "reason == 1", 1, true },
};

static void a_condition_is_the_events_that_may_say_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct bsv_rule rules[BSV_CONDITION_RULES];
		struct bsv_condition c;
		struct bsa_err err;
		char filter[64];

		assert_int_equal(bsv_condition_read(&c, good[i].text, &err), 0);
		assert_int_equal(c.decided, BSV_BY_EVENT);
		assert_int_equal(bsv_condition_rules(&c, BSV_DETAIL_COMPACT, rules, filter), good[i].n);
		assert_string_equal(rules[0].event, good[i].event);
		if (good[i].filter)
			assert_string_equal(rules[0].filter, good[i].filter);
		else
			assert_null(rules[0].filter);
		assert_int_equal(bsv_condition_needs_database(&c), good[i].database);
	}
}

static void what_takes_a_fold_has_no_events(void **state)
{
	static const struct {
		const char *text;
		enum bsv_watched watched;
		int64_t longer_than;
	} folds[] = {
		{ "starvation>100ms", BSV_WATCH_STARVATION, 100000000 },
		{ "starvation>1.5s:app=camera,model=net", BSV_WATCH_STARVATION, 1500000000 },
		{ "inversion>2ms", BSV_WATCH_INVERSION, 2000000 },
		{ "silence>2s", BSV_WATCH_SILENCE, 2000000000 },
		{ "silence>100ms", BSV_WATCH_SILENCE, 100000000 },
		{ "priority inversion <= 2ms", BSV_WATCH_INVERSION, 2000000 },
		{ "p99 e2e of app=camera path=burst <= 5ms", BSV_WATCH_RULE, 0 },
		{ "p50 overhead share <= 30 %", BSV_WATCH_RULE, 0 },
		{ "miss ratio of app=\"a:b,c>d\" <= 1 %", BSV_WATCH_RULE, 0 },
		{ "executions of app=camera >= 10", BSV_WATCH_RULE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(folds) / sizeof(*folds); i++) {
		struct bsv_rule rules[BSV_CONDITION_RULES];
		struct bsv_condition c;
		struct bsa_err err = { "" };
		char filter[64];

		if (bsv_condition_read(&c, folds[i].text, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(c.decided, BSV_BY_FOLD);
		assert_int_equal(c.watched, folds[i].watched);
		assert_true(c.longer_than == folds[i].longer_than);
		assert_int_equal(bsv_condition_rules(&c, BSV_DETAIL_COMPACT, rules, filter), 0);
		assert_true(bsv_condition_needs_database(&c));
	}
}

static void what_is_no_condition_is_refused_with_a_sentence(void **state)
{
	static const char *const bad[][2] = {
		{ "", "no condition ''" },
		{ "misses", "did you mean 'miss'" },
		{ "miss:", NULL },
		{ "miss:app=", "is no app" },
		{ "miss:aap=x", "did you mean 'app'" },
		{ "miss:status=DEAD_OBJECT", "miss has no status" },
		{ "error:status=NONE", "NONE is no error" },
		{ "error:status=NOPE", "no status 'NOPE'; see burstscope watch --help" },
		{ "error:status=MISSED_DEADLINE_TRANSIENT",
		  "MISSED_DEADLINE_TRANSIENT is a missed deadline; write miss:kind=transient" },
		{ "error:app=x,status=MISSED_DEADLINE_PERSISTENT",
		  "MISSED_DEADLINE_PERSISTENT is a missed deadline; write miss:kind=persistent" },
		{ "error:status=MISSED_DEADLINE_TRANSIEN", "no status 'MISSED_DEADLINE_TRANSIEN'" },
		{ "error:status=DEAD", "no status 'DEAD'" },
		{ "miss:cause=hoged", "no cause 'hoged'; did you mean 'hogged'? burstscope-misses(1) has them all" },
		{ "miss:cause=zzzzzzzz", "no cause 'zzzzzzzz'; burstscope-misses(1) has them all" },
		{ "death:model=x", "death has no model" },
		{ "inversion", "longer than what? Write inversion>100ms" },
		{ "starvation>", "longer than what? Write starvation>100ms" },
		{ "starvation>1", "'1' is not a time; write starvation>100ms" },
		{ "starvation>3m", "'3m' is not a time; write starvation>100ms" },
		{ "starvation>999us", "999us is too short; write starvation>1ms or longer" },
		{ "inversion>100us:app=camera", "100us is too short; write inversion>1ms or longer" },
		{ "silence", "longer than what? Write silence>100ms" },
		{ "silence>99ms", "99ms is too short; write silence>100ms or longer" },
		{ "silence>1s:app=camera", "silence has no app" },
		{ "starvation>1s\nfairness", "is not a time" },
		{ "starvation>1s:cause=hogged", "starvation has no cause" },
		{ "miss>100ms", "miss is not longer or shorter" },
		{ "rule", "no condition 'rule'" },
		{ "p99>5ms", "expected e2e, overhead, overhead share, or a phase, not '>'" },
		{ "p99 e2e", "expected 'of' and a selection, or '<=' and a limit, but the line ends" },
		{ "p99 e2e of app=camera", "expected '<=' and a limit, but the line ends" },
		{ "miss ratio of app=camera", "expected '<=' and a limit, but the line ends" },
		{ "executions", "expected 'of' and a selection, or '>=' and a limit, but the line ends" },
		{ "fairness", "cannot be held against the last seconds" },
		{ "starvation none", "cannot be held against the last seconds" },
		{ "missing ratio", "no condition 'missing ratio'" },
		{ "p99 e2e <= 5", "expected a time as in '5ms'" },
		{ "p99 e2e <= 5ms\np50 e2e <= 1ms", "not one rule" },
		{ "p99 e2e <= baseline", "cannot be held against the last seconds" },
		{ "fairness lag <= 5ms", "cannot be held against the last seconds" },
		{ "coverage >= 99 %", "cannot be held against the last seconds" },
	};
	char longest[400];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct bsv_condition c;
		struct bsa_err err = { "" };
		int r = bsv_condition_read(&c, bad[i][0], &err);

		if (!bad[i][1]) { /* a condition without a filter */
			assert_int_equal(r, 0);
			continue;
		}
		assert_int_equal(r, BSA_E_USAGE);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], err.text);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	memcpy(longest, "miss:app=", 9);
	assert_int_equal(bsv_condition_read(&(struct bsv_condition){ .text = "" }, longest, NULL), BSA_E_USAGE);
}

/* ---- cases ---- */

struct place {
	char directory[64];
	struct bsv_store store;
	const void *row;
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	p->row = *state;
	strcpy(p->directory, "/tmp/test_watch.XXXXXX");
	assert_non_null(mkdtemp(p->directory));
	assert_int_equal(bsv_store_open(&p->store, p->directory, NULL), 0);
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;

	bsv_store_close(&p->store);
	bsv_remove_tree(p->directory);
	free(p);
	return 0;
}

/* Write @c, which is freed, as a finished case with a file of @bytes. */
static void keep_case(struct place *p, struct bsv_case *c, size_t bytes)
{
	char path[PATH_MAX], file[PATH_MAX + 8];
	int fd;

	assert_int_equal(bsv_store_begin(&p->store, c, path, NULL), 0);
	assert_int_equal(bsv_case_write(c, path, NULL), 0);
	snprintf(file, sizeof(file), "%s/trace", path);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	close(fd);
	assert_int_equal(bsv_store_finish(&p->store, path, NULL), 0);
	bsv_case_fini(c);
}

/* @user below 0: unknown. */
static struct bsv_case_cause a_cause(const char *finding, const char *app, int user)
{
	return (struct bsv_case_cause){ .condition = strdup("miss"),
		                        .finding = strdup(finding),
		                        .app = strdup(app),
		                        .has_user = user >= 0,
		                        .user = user >= 0 ? (uint32_t)user : 0 };
}

/* A case of @cause, of an app of @user (below 0: unknown), caught at @caught, with a file of @bytes. */
static void keep_of_user(struct place *p, const char *cause, const char *app, int user, int64_t caught, size_t bytes)
{
	struct bsv_case c = { .state = strdup("explained"), .caught = caught, .n_fired = 1, .n_causes = 1, .again = 7 };

	strcpy(c.fired[0].on, "miss");
	c.fired[0].execs[c.fired[0].n_execs++] = UINT64_MAX;
	c.causes[0] = a_cause(cause, app, user);
	keep_case(p, &c, bytes);
}

static void keep(struct place *p, const char *cause, const char *app, int64_t caught, size_t bytes)
{
	keep_of_user(p, cause, app, -1, caught, bytes);
}

static size_t count(const struct place *p, bool half)
{
	char **names;
	size_t n;

	assert_int_equal(bsv_store_list(p->directory, half, &names, &n, NULL), 0);
	bsv_store_list_free(names, n);
	return n;
}

static void a_case_is_read_back_as_it_was_written(void **state)
{
	struct place *p = *state;
	struct bsv_case c;
	char **names;
	size_t n;

	keep(p, "hogged", "cam\"era\n\xff", 1795405393553000000, 1);
	assert_int_equal(bsv_store_list(p->directory, false, &names, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(bsv_case_read(&c, names[0], NULL), 0);
	assert_string_equal(c.name, "20261123-034313-553");
	assert_int_equal(c.caught, 1795405393553000000);
	assert_int_equal(c.again, 7);
	assert_true(c.fired[0].execs[0] == UINT64_MAX);
	assert_string_equal(c.causes[0].finding, "hogged");
	assert_null(c.causes[0].culprit);
	bsv_case_fini(&c);
	bsv_store_list_free(names, n);
}

static void a_file_of_a_stranger_is_no_case(void **state)
{
	static const char *const texts[] = { "", "[]", "{\"burstscope_case\": 2}", "{\"burstscope_case\": \"x\"",
		                             "{\"burstscope_case\": 1, \"burstscope_case\": 1}" };
	struct place *p = *state;
	struct bsv_case c;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/case.json", p->directory);
	assert_int_equal(bsv_case_read(&c, p->directory, NULL), BSA_E_INPUT);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		FILE *f = fopen(path, "w");

		fputs(texts[i], f);
		fclose(f);
		assert_int_equal(bsv_case_read(&c, p->directory, NULL), BSA_E_INPUT);
	}
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0); /* no process writes to it */
	assert_int_equal(bsv_case_read(&c, p->directory, NULL), BSA_E_INPUT);
}

static void members_of_the_wrong_type_are_ignored_and_lists_are_cut(void **state)
{
	struct place *p = *state;
	struct bsv_case c;
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/case.json", p->directory);
	f = fopen(path, "w");
	fputs("{\"burstscope_case\": 1, \"summary\": 5, \"again\": [], \"unnamed_executions\": -3, \"bytes\": \"-1\", "
	      "\"fired\": {}, \"causes\": [3",
	      f);
	for (int i = 0; i < 50; i++)
		fputs(", {\"finding\": null, \"app\": \"a\", \"n\": -2}", f);
	fputs("]}", f);
	fclose(f);
	assert_int_equal(bsv_case_read(&c, p->directory, NULL), 0);
	assert_null(c.summary);
	assert_int_equal(c.n_fired, 0);
	assert_int_equal(c.n_causes, BSV_CASE_CAUSES);
	assert_int_equal(c.unnamed, 0); /* a case with a negative number is read as 0 */
	assert_int_equal(c.bytes, 0);
	assert_int_equal(c.causes[0].n, 0);
	bsv_case_fini(&c);
}

static void the_oldest_cases_go_first_and_the_newest_never(void **state)
{
	struct place *p = *state;
	char other[PATH_MAX];

	for (int i = 0; i < 6; i++)
		keep(p, "cold", "camera", 1795405393553000000 + i * INT64_C(1000000), 100000);
	snprintf(other, sizeof(other), "%s/20200101-000000-mine", p->directory);
	mkdir(other, 0700);
	assert_int_equal(bsv_store_prune(&p->store, 4, 0), 2);
	assert_int_equal(count(p, false), 4);
	assert_int_equal(bsv_store_prune(&p->store, 10, 250000), 2);
	assert_int_equal(count(p, false), 2);
	assert_int_equal(bsv_store_prune(&p->store, 10, 1), 1);
	assert_int_equal(bsv_store_prune(&p->store, 10, 1), 0);
	assert_int_equal(count(p, false), 1);
	assert_int_equal(access(other, F_OK), 0); /* a file that is no case stays */
}

/* ---- a share of the cases for each user and app ---- */

/* A case of each of @users, one ms after another, the app of which is named by the letter in @apps. */
static void keep_of(struct place *p, const char *users, const char *apps)
{
	for (int i = 0; users[i]; i++) {
		char name[2] = { apps[i] };

		keep_of_user(p, "cold", name, users[i] - '0', 1795405393000000000 + i * INT64_C(1000000), 100000);
	}
}

/* Check the users and apps of the last causes of the remaining cases, the oldest case first. */
static void expect_left(struct place *p, const char *users, const char *apps)
{
	char left[2][32] = { "", "" }, **names;
	struct bsv_case c;
	size_t n;

	assert_int_equal(bsv_store_list(p->directory, false, &names, &n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(bsv_case_read(&c, names[i], NULL), 0);
		assert_true(c.causes[c.n_causes - 1].has_user);
		left[0][i] = (char)('0' + c.causes[c.n_causes - 1].user);
		left[1][i] = *c.causes[c.n_causes - 1].app;
		bsv_case_fini(&c);
	}
	bsv_store_list_free(names, n);
	assert_string_equal(left[0], users);
	assert_string_equal(left[1], apps);
}

static const struct pruning {
	const char *name, *users, *apps;
	size_t cases;   /* a limit */
	uint64_t bytes; /* a limit; 0: no limit */
	unsigned removed;
	const char *users_left, *apps_left;
} prunings[] = {
	/* clang-format off */
	{ "a user with many cases and names removes its own only",    "1122222222", "aabcdefghi", 4, 0, 6, "1122", "aahi" },
	{ "the app with the most cases of a user loses the oldest",   "11111", "abbba", 3, 0, 2, "111", "bba" },
	{ "the user with the most bytes makes room on the disk",      "1222", "abcd", 10, 250000, 2, "12", "ad" },
	{ "the newest case stays, also if its user has the most",     "122", "aaa", 1, 0, 2, "2", "a" },
	/* clang-format on */
};

static void cases_are_pruned(void **state)
{
	struct place *p = *state;
	const struct pruning *row = p->row;

	keep_of(p, row->users, row->apps);
	assert_int_equal(bsv_store_prune(&p->store, row->cases, row->bytes), row->removed);
	expect_left(p, row->users_left, row->apps_left);
}

/* Write a case with a cause of each of @users; the letter in @apps names the app. */
static void keep_shared(struct place *p, const char *users, const char *apps, int64_t caught)
{
	struct bsv_case c = { .caught = caught };

	for (int i = 0; users[i]; i++)
		c.causes[c.n_causes++] = a_cause("cold", (char[]){ apps[i], 0 }, users[i] - '0');
	keep_case(p, &c, 100000);
}

static const struct shared_case {
	const char *name, *users, *apps;
	uint64_t bytes;
} shared_cases[] = {
	{ "a case of two users goes when both have most", "21", "nv", 0 },
	{ "the order of its causes does not matter", "12", "vn", 0 },
	{ "a case of two users counts its bytes for both", "221", "nov", 250000 },
};

/* A case of @users and @apps, then five of user 2: the shared case stays, whichever cause is its first. */
static void a_shared_case_is_left(void **state)
{
	struct place *p = *state;
	const struct shared_case *row = p->row;
	size_t last = strlen(row->users) - 1;
	char left[2][3] = { { row->users[last], '2', 0 }, { row->apps[last], 'e', 0 } };

	keep_shared(p, row->users, row->apps, 1795405392000000000);
	keep_of(p, "22222", "abcde");
	assert_int_equal(bsv_store_prune(&p->store, row->bytes ? 10 : 2, row->bytes), 4);
	expect_left(p, left[0], left[1]);
	assert_int_equal(bsv_store_prune(&p->store, 1, 0), 1);
	expect_left(p, "2", "e");
}

/* Two apps of one user: the case of both is the only one of the app named v. */
static void a_case_of_two_apps_goes_when_both_have_most(void **state)
{
	struct place *p = *state;

	keep_shared(p, "11", "nv", 1795405392000000000);
	keep_of(p, "1111", "nnnn");
	assert_int_equal(bsv_store_prune(&p->store, 2, 0), 3);
	expect_left(p, "11", "vn");
}

/* The app of user 2 has another name each time, and the app named v misses whenever it does. */
static void an_app_that_makes_another_one_miss_does_not_remove_what_befell_a_third_one(void **state)
{
	struct place *p = *state;

	keep_of(p, "33", "aa");
	for (char name = 'f'; name <= 'j'; name++)
		keep_shared(p, "23", (char[]){ name, 'v', 0 }, 1795405394000000000 + name);
	assert_int_equal(bsv_store_prune(&p->store, 4, 0), 3);
	expect_left(p, "3333", "aavv");
}

/*
 * Add a cause of each of @users, whose app the letter in @apps names; @users_kept and @apps_kept are those
 * that must remain.
 */
static void expect_kept(const char *users, const char *apps, const char *users_kept, const char *apps_kept)
{
	struct bsv_case c = { .n_causes = 0 };
	char kept[2][BSV_CASE_CAUSES + 1] = { "", "" };

	for (int i = 0; users[i]; i++)
		bsv_case_add(&c, (struct bsv_case_cause){ .app = strndup(&apps[i], 1),
		                                          .has_user = true,
		                                          .user = (uint32_t)(users[i] - '0') });
	for (size_t i = 0; i < c.n_causes; i++) {
		kept[0][i] = (char)('0' + c.causes[i].user);
		kept[1][i] = *c.causes[i].app;
	}
	bsv_case_fini(&c);
	assert_string_equal(kept[0], users_kept);
	assert_string_equal(kept[1], apps_kept);
}

static void the_line_of_a_case_shows_what_is_missing_before(void **state)
{
	char summary[] = "faces missed a deadline";
	struct bsv_case c = { .summary = summary, .before = 3000000000, .held = 313137274 };
	static const struct {
		int64_t held;
		const char *line;
	} lines[] = {
		{ 313137274, "faces missed a deadline; of the 3.000 s before it only the last 313.1 ms were recorded" },
		{ 3000000000, "faces missed a deadline" },
		{ 9000000000, "faces missed a deadline" },
		{ -1, "faces missed a deadline" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *line;

		c.held = lines[i].held;
		line = bsv_case_line(&c);
		assert_string_equal(line, lines[i].line);
		free(line);
	}
}

static void no_user_fills_a_case_and_hides_another_one(void **state)
{
	(void)state;
	expect_kept("2222222221", "abcdefghia", "22222221", "abcdefga"); /* the ninth cause of user 2 is dropped */
	expect_kept("222222223333", "abcdefghabcd", "22223333", "abcdabcd");
	expect_kept("1222222222", "aabcdefghi", "12222222", "aabcdefg"); /* earlier causes stay */
}

static void no_app_of_a_user_hides_another_one_of_that_user(void **state)
{
	(void)state;
	expect_kept("111111111", "aaaaaaaab", "11111111", "aaaaaaab");
	expect_kept("111111111", "aaaaaaabb", "11111111", "aaaaaabb");
	expect_kept("111111111", "aaaaaaaaa", "11111111", "aaaaaaaa");
	expect_kept("111122221", "aaaaaaaab", "11122221",
	            "aaaaaaab"); /* another user has as many, before or behind it */
	expect_kept("222211111", "aaaaaaaab", "22221111", "aaaaaaab");
	expect_kept("111222231", "aaaaaaaab", "11222231", "aaaaaaab"); /* another user has more */
	expect_kept("222211131", "aaaaaaaab", "22221131", "aaaaaaab");
	expect_kept("111122221", "abcdaaaae", "11112222", "abcdaaaa"); /* each app has one: the earlier ones stay */
}

static void another_user_of_the_same_name_is_another_app(void **state)
{
	struct bsv_case_cause a = { .app = (char[]){ "camera" }, .has_user = true, .user = 1 }, b = a;

	(void)state;
	assert_true(bsv_case_cause_same(&a, &b));
	b.user = 2;
	assert_false(bsv_case_cause_same(&a, &b));
	b.has_user = false;
	b.user = 0;
	assert_false(bsv_case_cause_same(&a, &b));
}

static void two_cases_of_one_millisecond_have_two_names(void **state)
{
	struct place *p = *state;

	keep(p, "cold", "camera", 1795405393553000000, 1);
	keep(p, "cold", "camera", 1795405393553000000, 1);
	assert_int_equal(count(p, false), 2);
	assert_int_equal(count(p, true), 0);
}

static void a_second_watcher_of_a_directory_is_refused(void **state)
{
	struct place *p = *state;
	struct bsv_store second;
	struct bsa_err err;
	char pid[32];

	assert_int_equal(bsv_store_open(&second, p->directory, &err), BSA_E_ENV);
	snprintf(pid, sizeof(pid), "(pid %ld)", (long)getpid());
	assert_non_null(strstr(err.text, pid));
	bsv_store_close(&p->store);
	assert_int_equal(bsv_store_open(&p->store, p->directory, &err), 0);
}

/*
 * A user who can read a file can lock it, and so keep every watch away. All users could read the lock of an
 * older build.
 */
static void no_other_user_can_lock_the_store(void **state)
{
	struct place *p = *state;
	char lock[PATH_MAX];
	struct stat st;

	snprintf(lock, sizeof(lock), "%s/.burstscope-watch", p->directory);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(stat(lock, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		bsv_store_close(&p->store);
		assert_int_equal(chmod(lock, 0644), 0);
		assert_int_equal(bsv_store_open(&p->store, p->directory, NULL), 0);
	}
}

/* ---- known findings ---- */

static struct bsv_case a_case_of(char *const *findings, size_t n)
{
	struct bsv_case c = { .name = "first", .n_causes = n };

	for (size_t i = 0; i < n; i++)
		c.causes[i] = (struct bsv_case_cause){ .condition = (char *)"miss", .finding = findings[i] };
	return c;
}

static size_t found_new(const struct bsv_known *k, struct bsv_case *c, int64_t caught)
{
	c->caught = caught;
	return bsv_known_find_new(k, c);
}

static void the_same_cause_is_new_again_when_the_cooldown_is_over(void **state)
{
	char *const both[] = { (char *)"hogged", (char *)"unknown" }, *const unknown[] = { (char *)"unknown" };
	struct bsv_known *k = calloc(1, sizeof(*k));
	struct bsv_case c = a_case_of(both, 2), u = a_case_of(unknown, 1);

	(void)state;
	k->cooldown = 100;
	assert_int_equal(found_new(k, &c, 1000), 0);
	bsv_known_add(k, &c);
	assert_int_equal(found_new(k, &c, 1099), 2);
	assert_string_equal(bsv_known_case(k, &c), "first");
	assert_int_equal(found_new(k, &c, 1100), 0);
	c.causes[0].app = (char *)"another";
	assert_int_equal(found_new(k, &c, 1099), 0);
	bsv_known_fini(k);
	assert_int_equal(found_new(k, &u, 1000), 0); /* alone it is new */
	k->cooldown = 0;
	bsv_known_add(k, &u);
	assert_int_equal(found_new(k, &u, 1000), 0);
	bsv_known_fini(k);
	free(k);
}

static void what_was_caught_before_a_watcher_was_killed_is_known_to_the_next(void **state)
{
	struct place *p = *state;
	struct bsv_known *k = calloc(1, sizeof(*k));
	struct bsv_case c = {
		.n_causes = 1,
		.causes = { { .condition = (char *)"miss", .finding = (char *)"cold", .app = (char *)"camera" } }
	};

	keep(p, "cold", "camera", 1795405393553000000, 1);
	k->cooldown = 1000000000;
	bsv_known_read(k, &p->store, 1795405393553000001);
	assert_int_equal(found_new(k, &c, 1795405393553000001), 1);
	assert_int_equal(found_new(k, &c, 1795405394553000001), 0);
	bsv_known_fini(k);
	free(k);
}

static void a_cause_is_new_again_when_its_case_is_removed(void **state)
{
	struct place *p = *state;
	struct bsv_known *k = calloc(1, sizeof(*k));
	struct bsv_case c = { .caught = 1795405393000000001, .n_causes = 1 };

	c.causes[0] = a_cause("cold", "v", 1);
	k->cooldown = 600000000000;
	keep_shared(p, "21", "nv", 1795405392000000000);
	keep_of(p, "1", "a");
	bsv_known_read(k, &p->store, c.caught);
	bsv_known_forget_removed(k, &p->store, &c);
	assert_int_equal(bsv_known_find_new(k, &c), 1);
	assert_int_equal(bsv_store_prune(&p->store, 1, 0), 1);
	assert_int_equal(bsv_known_find_new(k, &c), 1);
	bsv_known_forget_removed(k, &p->store, &c);
	assert_int_equal(bsv_known_find_new(k, &c), 0);
	free(c.causes[0].app);
	c.causes[0].app = strdup("a"); /* the case of this finding is there */
	bsv_known_forget_removed(k, &p->store, &c);
	assert_int_equal(bsv_known_find_new(k, &c), 1);
	bsv_known_fini(k);
	free(k);
	bsv_case_fini(&c);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_is_the_events_that_may_say_it),
		cmocka_unit_test(what_takes_a_fold_has_no_events),
		cmocka_unit_test(what_is_no_condition_is_refused_with_a_sentence),
		IN_PLACE(a_case_is_read_back_as_it_was_written),
		IN_PLACE(a_file_of_a_stranger_is_no_case),
		IN_PLACE(members_of_the_wrong_type_are_ignored_and_lists_are_cut),
		IN_PLACE(the_oldest_cases_go_first_and_the_newest_never),
		IN_PLACE(a_case_of_two_apps_goes_when_both_have_most),
		IN_PLACE(an_app_that_makes_another_one_miss_does_not_remove_what_befell_a_third_one),
		cmocka_unit_test(another_user_of_the_same_name_is_another_app),
		cmocka_unit_test(the_line_of_a_case_shows_what_is_missing_before),
		cmocka_unit_test(no_user_fills_a_case_and_hides_another_one),
		cmocka_unit_test(no_app_of_a_user_hides_another_one_of_that_user),
		IN_PLACE(two_cases_of_one_millisecond_have_two_names),
		IN_PLACE(a_second_watcher_of_a_directory_is_refused),
		IN_PLACE(no_other_user_can_lock_the_store),
		cmocka_unit_test(the_same_cause_is_new_again_when_the_cooldown_is_over),
		IN_PLACE(what_was_caught_before_a_watcher_was_killed_is_known_to_the_next),
		IN_PLACE(a_cause_is_new_again_when_its_case_is_removed),
	};

	struct CMUnitTest of_rows[N_OF(prunings) + N_OF(shared_cases)];
	size_t n = 0;

	for (size_t i = 0; i < N_OF(prunings); i++)
		of_rows[n++] = (struct CMUnitTest){ prunings[i].name, cases_are_pruned, make_place, remove_place,
			                            (void *)&prunings[i] };
	for (size_t i = 0; i < N_OF(shared_cases); i++)
		of_rows[n++] = (struct CMUnitTest){ shared_cases[i].name, a_shared_case_is_left, make_place,
			                            remove_place, (void *)&shared_cases[i] };
	return cmocka_run_group_tests(tests, NULL, NULL) + cmocka_run_group_tests(of_rows, NULL, NULL);
}
