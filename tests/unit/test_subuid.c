/*
 * test_subuid.c -- to which account a uid belongs, by the lines of files like /etc/subuid and /etc/passwd.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/subuid.h"

static const char passwd_text[] = "root:x:0:0:root:/root:/bin/sh\n"
				  "ann:x:1000:1000::/:/bin/sh\n"
				  "a line without colons\n"
				  "bob:x:1001:1001::/:/bin/sh\n"
				  "eve:x:minus one:1002::/:\n";

struct files {
	char dir[32], subuid[48], passwd[48];
	struct nnb__subuids subuids;
};

static void file_write(const char *path, const char *text)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "%s.new", path);
	f = fopen(name, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rename(name, path), 0);
}

static int set_up(void **state)
{
	struct files *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->dir, "/tmp/nnb_subuid.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->subuid, sizeof(f->subuid), "%s/subuid", f->dir);
	snprintf(f->passwd, sizeof(f->passwd), "%s/passwd", f->dir);
	file_write(f->passwd, passwd_text);
	nnb__subuids_init(&f->subuids, f->subuid, f->passwd);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct files *f = *state;

	nnb__subuids_fini(&f->subuids);
	unlink(f->subuid);
	unlink(f->passwd);
	rmdir(f->dir);
	free(f);
	return 0;
}

static const struct row {
	const char *name, *lines;
	uint32_t uid, owner;
} rows[] = {
	{ "no line", "", 100000, 100000 },
	{ "the first uid of a range belongs to the account", "ann:100000:65536\n", 100000, 1000 },
	{ "so does the last one", "ann:100000:65536\n", 165535, 1000 },
	{ "the uid behind it does not", "ann:100000:65536\n", 165536, 165536 },
	{ "nor does the one before", "ann:100000:65536\n", 99999, 99999 },
	{ "the account itself is its own", "ann:100000:65536\n", 1000, 1000 },
	{ "an account is given by its uid", "1001:100000:65536\n", 100001, 1001 },
	{ "each account has its range", "ann:100000:65536\nbob:165536:65536\n", 165536, 1001 },
	{ "in whatever order", "bob:165536:65536\nann:100000:65536\n", 165535, 1000 },
	{ "an account has two ranges", "ann:100000:10\nbob:200000:10\nann:300000:10\n", 300009, 1000 },
	{ "an unknown account is known by its first uid", "zoe:100000:10\n", 100005, 100000 },
	{ "in all of its ranges", "zoe:300000:10\nzoe:100000:10\n", 300005, 100000 },
	{ "an account whose uid is no number is unknown", "eve:100000:10\n", 100005, 100000 },
	{ "a range within another one", "ann:100000:1000\nbob:100100:10\n", 100105, 1001 },
	{ "behind the inner range is the outer one", "ann:100000:1000\nbob:100100:10\n", 100110, 1000 },
	{ "behind both is none", "ann:100000:1000\nbob:100100:10\n", 101000, 101000 },
	{ "the last line without its end", "ann:100000:10", 100001, 1000 },
	{ "a range up to the last uid", "ann:4294967295:1\n", UINT32_MAX, 1000 },
	{ "a range beyond the last uid", "ann:4294967290:4294967295\n", UINT32_MAX, 1000 },
	{ "a range of nothing is skipped", "ann:100000:0\n", 100000, 100000 },
	{ "a line without a count is skipped", "ann:100000\n", 100000, 100000 },
	{ "a line without an account is skipped", ":100000:10\n", 100000, 100000 },
	{ "a comment is skipped", "# ann:100000:10\nann:200000:10\n", 200000, 1000 },
	{ "a negative number is skipped", "ann:-1:10\n", 3, 3 },
	{ "a number beyond 32 bits is skipped", "ann:4294967296:10\n", 3, 3 },
	{ "a number beyond 64 bits is skipped", "ann:99999999999999999999999:10\n", 3, 3 },
	{ "a word behind the count is skipped", "ann:100000:10 \n", 100000, 100000 },
	{ "skipping goes on", "ann\nann:x:1\n\nann:100000:10\n", 100000, 1000 },
};

static void belongs_to(void **state)
{
	const struct row *row = *state;
	struct files *files;
	void *own = NULL;

	set_up(&own);
	files = own;
	file_write(files->subuid, row->lines);
	assert_int_equal(nnb__subuids_refresh(&files->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&files->subuids, row->uid), row->owner);
	tear_down(&own);
}

static void a_file_that_is_not_there_has_no_ranges(void **state)
{
	struct files *f = *state;

	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 100000);
}

static void a_file_that_changes_is_read_again(void **state)
{
	struct files *f = *state;

	file_write(f->subuid, "ann:100000:10\n");
	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 1000);
	file_write(f->subuid, "bob:100000:10\n");
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 1000);
	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 1001);
	unlink(f->subuid);
	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 100000);
}

static void a_passwd_that_changes_is_read_again(void **state)
{
	struct files *f = *state;

	file_write(f->subuid, "ann:100000:10\nzoe:200000:10\n");
	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 1000);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 200005), 200000);
	file_write(f->passwd, "ann:x:1007:1000::/:/bin/sh\nzoe:x:1008:1008::/:/bin/sh\n");
	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 1007);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 200005), 1008);
	unlink(f->passwd);
	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 100000);
}

static void a_file_that_cannot_be_read_leaves_the_ranges(void **state)
{
	struct files *f = *state;

	file_write(f->subuid, "ann:100000:10\n");
	assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
	f->subuids.file = f->dir; /* a directory can be opened, and not read */
	assert_int_not_equal(nnb__subuids_refresh(&f->subuids), 0);
	assert_int_equal(nnb__subuid_owner(&f->subuids, 100000), 1000);
}

static void without_a_file_each_uid_is_its_own(void **state)
{
	struct nnb__subuids none;

	(void)state;
	nnb__subuids_init(&none, NULL, NULL);
	assert_int_equal(nnb__subuids_refresh(&none), 0);
	assert_int_equal(nnb__subuid_owner(&none, 0), 0);
	assert_int_equal(nnb__subuid_owner(&none, UINT32_MAX), UINT32_MAX);
	nnb__subuids_fini(&none);
}

/* Random ranges, and the rule that is written in the header, applied to each of them. */
static void random_ranges_have_the_owners_that_a_search_of_all_finds(void **state)
{
	enum { ROUNDS = 200, RANGES = 12, SPACE = 60 };
	struct files *f = *state;
	unsigned seed = 1;

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t first[RANGES], count[RANGES];
		char lines[1024] = "", line[64];

		for (unsigned i = 0; i < RANGES; i++) {
			first[i] = (uint32_t)rand_r(&seed) % SPACE * RANGES + i; /* no two begin together */
			count[i] = 1 + (uint32_t)rand_r(&seed) % 200;
			snprintf(line, sizeof(line), "%u:%u:%u\n", 5000 + i, first[i], count[i]);
			strcat(lines, line);
		}
		file_write(f->subuid, lines);
		assert_int_equal(nnb__subuids_refresh(&f->subuids), 0);
		for (uint32_t uid = 0; uid < SPACE * RANGES + 250; uid++) {
			uint32_t owner = uid, begins = 0;

			for (unsigned i = 0; i < RANGES; i++)
				if (uid >= first[i] && uid < first[i] + count[i] && first[i] >= begins) {
					begins = first[i];
					owner = 5000 + i;
				}
			assert_int_equal(nnb__subuid_owner(&f->subuids, uid), owner);
		}
	}
}

int main(void)
{
	static struct CMUnitTest tests[sizeof(rows) / sizeof(rows[0]) + 8];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tests[n++] = (struct CMUnitTest){ .name = rows[i].name,
			                          .test_func = belongs_to,
			                          .initial_state = (void *)&rows[i] };
#define TEST(f) tests[n++] = (struct CMUnitTest)cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	TEST(a_file_that_is_not_there_has_no_ranges);
	TEST(a_file_that_changes_is_read_again);
	TEST(a_passwd_that_changes_is_read_again);
	TEST(a_file_that_cannot_be_read_leaves_the_ranges);
	TEST(without_a_file_each_uid_is_its_own);
	TEST(random_ranges_have_the_owners_that_a_search_of_all_finds);
	return _cmocka_run_group_tests("subordinate uids", tests, n, NULL, NULL);
}
