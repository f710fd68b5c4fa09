/*
 * test_cache.c -- compilation caching (O-22): each caching case of the HAL's own tests, and crashes and forged
 * files.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/device_helpers.h"

enum { N = 700 }; /* floats of a constant: more than NNB_COPY_MAX, so that there are data to save */

struct fixture {
	struct nnb_device *device;
	struct nnb_model *adds, *multiplies;
	int files[2]; /* model, data */
	struct nnb_cache cache;
	char dir[32];
};

static int some_file(void)
{
	int fd = memfd_create("cache", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static struct nnb_cache cache_of(const int files[2], uint8_t token)
{
	return (struct nnb_cache){ .model_files = &files[0],
		                   .data_files = &files[1],
		                   .n_model_files = 1,
		                   .n_data_files = 1,
		                   .token = { token } };
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->device = open_device("xnnpack");
	f->adds = vector_model(NNB_ADD, N, 1);
	f->multiplies = vector_model(NNB_MUL, N, 1);
	f->files[0] = some_file();
	f->files[1] = some_file();
	f->cache = cache_of(f->files, 7);
	strcpy(f->dir, "/tmp/nnb_cache.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	close(f->files[0]);
	close(f->files[1]);
	nnb_model_free(f->adds);
	nnb_model_free(f->multiplies);
	nnb_device_unref(f->device);
	free(f);
	return 0;
}

/* Prepare @m and save it. Preparing must not fail because of the cache. */
static void save(struct fixture *f, const struct nnb_model *m, const struct nnb_cache *cache)
{
	struct nnb_prepared *p = NULL;
	enum nnb_op op = m == f->adds ? NNB_ADD : NNB_MUL;

	assert_int_equal(nnb_prepare(f->device, m, &ordinary, cache, &p, NULL), NNB_STATUS_NONE);
	expect_vector(p, op, N, 1);
	nnb_prepared_unref(p);
}

static void expect_found(struct fixture *f, const struct nnb_cache *cache, enum nnb_op op)
{
	struct nnb_prepared *p = NULL;
	struct nnb_reason reason = { "" };

	if (nnb_prepare_from_cache(f->device, 0, cache, &p, &reason))
		fail_msg("%s", reason.text);
	expect_vector(p, op, N, 1);
	nnb_prepared_unref(p);
}

/* Expect GENERAL_FAILURE, no model, and a reason that contains @why. */
static void expect_refused(struct fixture *f, const struct nnb_cache *cache, const char *why)
{
	struct nnb_prepared *untouched = (struct nnb_prepared *)f, *p = untouched;
	struct nnb_reason reason = { "" };

	assert_int_equal(nnb_prepare_from_cache(f->device, 0, cache, &p, &reason), NNB_STATUS_GENERAL_FAILURE);
	assert_ptr_equal(p, untouched);
	if (!strstr(reason.text, why))
		fail_msg("'%s' does not contain '%s'", reason.text, why);
}

static off_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static void flip(int fd, off_t at)
{
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void copy(int from, int to)
{
	off_t n = size_of(from);
	char *bytes = malloc((size_t)n + 1);

	assert_non_null(bytes);
	assert_int_equal(pread(from, bytes, (size_t)n, 0), n);
	assert_int_equal(ftruncate(to, 0), 0);
	assert_int_equal(pwrite(to, bytes, (size_t)n, 0), n);
	free(bytes);
}

/* ---- the cases of the HAL's tests ---- */

static void saving_and_retrieval(void **state)
{
	struct fixture *f = *state;

	save(f, f->adds, &f->cache);
	assert_true(size_of(f->files[0]) > 0 && size_of(f->files[1]) >= N * 4);
	expect_found(f, &f->cache, NNB_ADD);
	expect_found(f, &f->cache, NNB_ADD); /* an entry can be used again and again */
}

static void saving_and_retrieval_at_a_non_zero_offset(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(write(f->files[i], "?", 1), 1);
		assert_int_equal(lseek(f->files[i], 1, SEEK_SET), 1);
	}
	save(f, f->adds, &f->cache);
	expect_found(f, &f->cache, NNB_ADD);
	assert_int_equal(lseek(f->files[0], 5, SEEK_SET), 5);
	expect_found(f, &f->cache, NNB_ADD);
}

static void saving_with_the_wrong_number_of_files(void **state)
{
	struct fixture *f = *state;
	int many[2][2] = { { f->files[0], f->files[0] }, { f->files[1], f->files[1] } };

	for (uint32_t models = 0; models <= 2; models++)
		for (uint32_t data = 0; data <= 2; data++) {
			struct nnb_cache c = { .model_files = many[0],
				               .data_files = many[1],
				               .n_model_files = models,
				               .n_data_files = data };

			if (models == 1 && data == 1)
				continue;
			save(f, f->adds, &c);
			assert_int_equal(size_of(f->files[0]), 0);
			expect_refused(f, &c, "not one readable file each");
		}
}

static void retrieving_with_the_wrong_number_of_files(void **state)
{
	struct fixture *f = *state;
	int many[2][2] = { { f->files[0], f->files[0] }, { f->files[1], f->files[1] } };

	save(f, f->adds, &f->cache);
	for (uint32_t models = 0; models <= 2; models++)
		for (uint32_t data = 0; data <= 2; data++) {
			struct nnb_cache c = f->cache;

			c.model_files = many[0];
			c.data_files = many[1];
			c.n_model_files = models;
			c.n_data_files = data;
			if (models == 1 && data == 1)
				expect_found(f, &c, NNB_ADD);
			else
				expect_refused(f, &c, "not one readable file each");
		}
}

/* Open the same file again, with other flags. */
static int reopened(int fd, int flags)
{
	char path[32];
	int other;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, flags | O_CLOEXEC);
	assert_true(other >= 0);
	return other;
}

static void saving_to_files_of_the_wrong_access_mode(void **state)
{
	struct fixture *f = *state;

	for (int which = 0; which < 2; which++)
		for (int flags = O_RDONLY; flags <= O_WRONLY; flags++) {
			int files[2] = { f->files[0], f->files[1] };
			struct nnb_cache c = cache_of(files, 7);

			files[which] = reopened(files[which], flags);
			save(f, f->adds, &c);
			assert_int_equal(size_of(f->files[0]), 0);
			assert_int_equal(size_of(f->files[1]), 0);
			close(files[which]);
		}
}

static void retrieving_from_files_of_the_wrong_access_mode(void **state)
{
	struct fixture *f = *state;

	save(f, f->adds, &f->cache);
	for (int which = 0; which < 2; which++) {
		int files[2] = { f->files[0], f->files[1] };
		struct nnb_cache c = cache_of(files, 7);

		files[which] = reopened(f->files[which], O_WRONLY);
		expect_refused(f, &c, "not one readable file each");
		close(files[which]);
	}
}

static void fds_that_are_not_files(void **state)
{
	struct fixture *f = *state;
	int pipes[2], files[2] = { -1, -1 };
	struct nnb_cache c = cache_of(files, 7);

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	files[0] = pipes[0];
	files[1] = f->files[1];
	save(f, f->adds, &c);
	expect_refused(f, &c, "not one readable file each");
	files[0] = f->files[0];
	files[1] = -1;
	save(f, f->adds, &c);
	expect_refused(f, &c, "not one readable file each");
	close(pipes[0]);
	close(pipes[1]);
}

/* Mix the files of two good entries of one token. The result must be one of the models, or an error. */
static void a_mixture_of_two_entries_is_not_an_entry(void **state)
{
	struct fixture *f = *state;
	int other[2] = { some_file(), some_file() }, mixed[2];
	struct nnb_cache c = cache_of(other, 7), mix = cache_of(mixed, 7);

	nnb_model_free(f->multiplies);
	f->multiplies = vector_model(NNB_MUL, N, 1);
	save(f, f->adds, &f->cache);
	save(f, f->multiplies, &c);

	/* the data are equal, so each model file with either data file is that model */
	mixed[0] = f->files[0];
	mixed[1] = other[1];
	expect_found(f, &mix, NNB_ADD);

	/* with different data, no mixture is an entry */
	nnb_model_free(f->multiplies);
	f->multiplies = vector_model(NNB_MUL, N, 2);
	{
		struct nnb_prepared *p;

		assert_int_equal(nnb_prepare(f->device, f->multiplies, &ordinary, &c, &p, NULL), NNB_STATUS_NONE);
		nnb_prepared_unref(p);
	}
	expect_refused(f, &mix, "the data are not");
	mixed[0] = other[0];
	mixed[1] = f->files[1];
	expect_refused(f, &mix, "the data are not");
	close(other[0]);
	close(other[1]);
}

/*
 * TOCTOU: the files change while the library reads them. The result must be one of the models, or an error;
 * never a mixture.
 */
static void files_swapped_while_they_are_read(void **state)
{
	struct fixture *f = *state;
	int other[2] = { some_file(), some_file() };
	struct nnb_cache c = cache_of(other, 7);
	int status;
	pid_t child;

	save(f, f->adds, &f->cache);
	save(f, f->multiplies, &c);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int shown[2] = { f->files[0], f->files[1] };

		for (unsigned i = 0; i < 100000; i++) { /* until the parent kills this child */
			copy(other[i % 2], shown[i % 2]);
			copy(i % 4 < 2 ? other[i % 2] : shown[i % 2], shown[i % 2]);
		}
		_exit(0);
	}
	for (int i = 0; i < 300; i++) {
		struct nnb_prepared *p;
		enum nnb_status s = nnb_prepare_from_cache(f->device, 0, &f->cache, &p, NULL);

		if (s) {
			assert_int_equal(s, NNB_STATUS_GENERAL_FAILURE);
			continue;
		}
		expect_vector(p, nnb_prepared_model(p)->operations[0].type, N, 1);
		nnb_prepared_unref(p);
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(other[0]);
	close(other[1]);
}

static void replacing_the_security_sensitive_cache(void **state)
{
	struct fixture *f = *state;
	int other[2] = { some_file(), some_file() };
	struct nnb_cache c = cache_of(other, 8);

	save(f, f->adds, &f->cache);
	save(f, f->multiplies, &c);
	copy(f->files[0], other[0]);
	expect_refused(f, &c, "the token is another");
	close(other[0]);
	close(other[1]);
}

static void a_corrupted_model_cache(void **state)
{
	struct fixture *f = *state;

	save(f, f->adds, &f->cache);
	for (off_t at = 0; at < size_of(f->files[0]); at++) { /* each byte counts */
		flip(f->files[0], at);
		expect_refused(f, &f->cache, "cache: ");
		flip(f->files[0], at);
	}
	expect_found(f, &f->cache, NNB_ADD);
}

static void a_corrupted_data_cache(void **state)
{
	struct fixture *f = *state;

	save(f, f->adds, &f->cache);
	for (off_t at = 0; at < size_of(f->files[1]); at += 61) {
		flip(f->files[1], at);
		expect_refused(f, &f->cache, "the data are not");
		flip(f->files[1], at);
	}
	expect_found(f, &f->cache, NNB_ADD);
}

static void a_model_cache_of_the_wrong_length(void **state)
{
	struct fixture *f = *state;
	off_t whole;

	save(f, f->adds, &f->cache);
	whole = size_of(f->files[0]);
	assert_int_equal(ftruncate(f->files[0], whole + 1), 0);
	expect_refused(f, &f->cache, "the model file is not whole");
	for (off_t n = whole - 1; n >= 0; n--) {
		assert_int_equal(ftruncate(f->files[0], n), 0);
		expect_refused(f, &f->cache, "cache: ");
	}
}

static void a_data_cache_of_the_wrong_length(void **state)
{
	struct fixture *f = *state;
	off_t whole;

	save(f, f->adds, &f->cache);
	whole = size_of(f->files[1]);
	assert_int_equal(ftruncate(f->files[1], whole + 1), 0);
	expect_refused(f, &f->cache, "the data file is not whole");
	assert_int_equal(ftruncate(f->files[1], whole - 1), 0);
	expect_refused(f, &f->cache, "the data file is not whole");
	assert_int_equal(ftruncate(f->files[1], 0), 0);
	expect_refused(f, &f->cache, "the data file is not whole");
}

static void a_wrong_token(void **state)
{
	struct fixture *f = *state;
	struct nnb_cache c = f->cache;

	save(f, f->adds, &f->cache);
	c.token[NNB_TOKEN_BYTES - 1] ^= 1;
	expect_refused(f, &c, "the token is another");
}

/* ---- more than the HAL's tests ask ---- */

static void empty_files_are_missing(void **state)
{
	struct fixture *f = *state;

	expect_refused(f, &f->cache, "no model in the file");
}

static void a_huge_sparse_file_is_refused_at_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ftruncate(f->files[0], INT64_C(1) << 40), 0);
	expect_refused(f, &f->cache, "no model in the file");
	assert_int_equal(ftruncate(f->files[0], 1 << 30), 0);
	expect_refused(f, &f->cache, "not of this form");
}

static void saving_again_replaces_what_was_there(void **state)
{
	struct fixture *f = *state;

	save(f, f->adds, &f->cache);
	save(f, f->multiplies, &f->cache);
	expect_found(f, &f->cache, NNB_MUL);
}

static void an_entry_of_another_key_is_foreign(void **state)
{
	struct fixture *f = *state;
	const uint8_t key[NNB_KEY_BYTES] = "another key";

	save(f, f->adds, &f->cache);
	nnb_device_cache_key(f->device, key);
	expect_refused(f, &f->cache, "not as it was saved here");
}

static void an_entry_of_another_driver_is_foreign(void **state)
{
	struct fixture *f = *state;
	struct nnb_device *null = open_device("null");
	const uint8_t key[NNB_KEY_BYTES] = "the same key";
	struct nnb_prepared *p;

	nnb_device_cache_key(f->device, key);
	nnb_device_cache_key(null, key);
	assert_int_equal(nnb_prepare(null, f->adds, &ordinary, &f->cache, &p, NULL), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	expect_refused(f, &f->cache, "not as it was saved here");
	nnb_device_unref(null);
}

static void a_model_without_data_is_cached_too(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *small = vector_model(NNB_ADD, 5, 1);
	struct nnb_prepared *p;

	assert_int_equal(small->n_pools, 0);
	assert_int_equal(nnb_prepare(f->device, small, &ordinary, &f->cache, &p, NULL), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	assert_int_equal(size_of(f->files[1]), 0);
	assert_int_equal(nnb_prepare_from_cache(f->device, 0, &f->cache, &p, NULL), NNB_STATUS_NONE);
	expect_vector(p, NNB_ADD, 5, 1);
	nnb_prepared_unref(p);
	nnb_model_free(small);
}

static void one_file_for_model_and_data_is_not_an_entry(void **state)
{
	struct fixture *f = *state;
	int files[2] = { f->files[0], f->files[0] };
	struct nnb_cache c = cache_of(files, 7);

	save(f, f->adds, &c);
	expect_refused(f, &c, "cache: ");
}

/* */
static void an_entry_keeps_the_priority_it_was_made_with(void **state)
{
	const struct nnb_prepare how = { .preference = 2, .priority = 0 };
	struct fixture *f = *state;
	struct nnb_prepared *p;

	assert_int_equal(nnb_prepare(f->device, f->adds, &how, &f->cache, &p, NULL), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	assert_int_equal(nnb_prepare_from_cache(f->device, 0, &f->cache, &p, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_prepared_how(p)->preference, 2);
	assert_int_equal(nnb_prepared_how(p)->priority, 0);
	nnb_prepared_unref(p);
}

/* ---- a directory of entries ---- */

static const uint8_t token[NNB_TOKEN_BYTES] = { 0xab };

static void cached(struct fixture *f, bool expect_from_cache)
{
	struct nnb_prepared *p;
	bool from_cache = !expect_from_cache;

	assert_int_equal(nnb_prepare_cached(f->device, f->adds, &ordinary, f->dir, token, &p, &from_cache, NULL),
	                 NNB_STATUS_NONE);
	assert_int_equal(from_cache, expect_from_cache);
	expect_vector(p, NNB_ADD, N, 1);
	nnb_prepared_unref(p);
}

static int entry(struct fixture *f, const char *kind)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/ab%062d-1-1.%s", f->dir, 0, kind);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void a_directory_is_filled_and_used(void **state)
{
	cached(*state, false);
	cached(*state, true);
	cached(*state, true);
}

/* After any damage to the entry, the library prepares the model, and the entry is good again. */
static void a_spoilt_entry_in_a_directory_is_made_anew(void **state)
{
	struct fixture *f = *state;

	cached(f, false);
	for (int i = 0; i < 4; i++) {
		int fd = entry(f, i % 2 ? "data" : "model");

		if (i < 2)
			assert_int_equal(ftruncate(fd, 10), 0);
		else
			flip(fd, 150);
		close(fd);
		cached(f, false);
		cached(f, true);
	}
}

/* Prepare with @how in the directory. The model must have been prepared with @how, from the cache or not. */
static bool is_prepared_from_cache(struct fixture *f, const struct nnb_prepare *how)
{
	struct nnb_prepared *p;
	bool from_cache;

	assert_int_equal(nnb_prepare_cached(f->device, f->adds, how, f->dir, token, &p, &from_cache, NULL),
	                 NNB_STATUS_NONE);
	assert_int_equal(nnb_prepared_how(p)->preference, how->preference);
	assert_int_equal(nnb_prepared_how(p)->priority, how->priority);
	nnb_prepared_unref(p);
	return from_cache;
}

/* */
static void a_directory_has_an_entry_for_each_preference_and_priority(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 9; i++)
			assert_int_equal(is_prepared_from_cache(f, &(struct nnb_prepare){ i / 3, i % 3 }), round);
}

static void put_in_the_place_of(struct fixture *f, const char *entry, const char *another)
{
	char from[160], to[160];

	for (int i = 0; i < 2; i++) {
		snprintf(from, sizeof(from), "%s/ab%062d-%s.%s", f->dir, 0, entry, i ? "data" : "model");
		snprintf(to, sizeof(to), "%s/ab%062d-%s.%s", f->dir, 0, another, i ? "data" : "model");
		assert_int_equal(rename(from, to), 0);
	}
}

static void an_entry_in_the_place_of_another_priority_is_foreign(void **state)
{
	const struct nnb_prepare low = { 1, NNB_PRIORITY_LOW }, high = { 1, NNB_PRIORITY_HIGH };
	struct fixture *f = *state;

	assert_false(is_prepared_from_cache(f, &low));
	assert_false(is_prepared_from_cache(f, &high));
	put_in_the_place_of(f, "1-2", "1-0");
	assert_false(is_prepared_from_cache(f, &low));
	assert_true(is_prepared_from_cache(f, &low));
	assert_false(is_prepared_from_cache(f, &high));
}

static void a_deadline_is_no_part_of_an_entry(void **state)
{
	struct fixture *f = *state;

	assert_false(is_prepared_from_cache(f, &(struct nnb_prepare){ 1, 1, .deadline_ns = INT64_MAX }));
	assert_true(is_prepared_from_cache(f, &(struct nnb_prepare){ 1, 1, .deadline_ns = INT64_MAX - 1 }));
	assert_true(is_prepared_from_cache(f, &ordinary));
}

static void a_missing_directory_saves_nothing_and_is_not_an_error(void **state)
{
	struct fixture *f = *state;
	struct nnb_prepared *p;
	bool from_cache;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			nnb_prepare_cached(f->device, f->adds, &ordinary, "/nonexistent", token, &p, &from_cache, NULL),
			NNB_STATUS_NONE);
		assert_false(from_cache);
		nnb_prepared_unref(p);
	}
}

static void a_key_file_is_made_once_and_for_its_owner(void **state)
{
	struct fixture *f = *state;
	uint8_t key[2][NNB_KEY_BYTES];
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/key", f->dir);
	assert_int_equal(nnb_cache_key_file(path, key[0]), 0);
	assert_int_equal(nnb_cache_key_file(path, key[1]), 0);
	assert_memory_equal(key[0], key[1], NNB_KEY_BYTES);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(truncate(path, 3), 0);
	assert_int_equal(nnb_cache_key_file(path, key[0]), -EIO);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(saving_and_retrieval),
		CASE(saving_and_retrieval_at_a_non_zero_offset),
		CASE(saving_with_the_wrong_number_of_files),
		CASE(retrieving_with_the_wrong_number_of_files),
		CASE(saving_to_files_of_the_wrong_access_mode),
		CASE(retrieving_from_files_of_the_wrong_access_mode),
		CASE(fds_that_are_not_files),
		CASE(a_mixture_of_two_entries_is_not_an_entry),
		CASE(files_swapped_while_they_are_read),
		CASE(replacing_the_security_sensitive_cache),
		CASE(a_corrupted_model_cache),
		CASE(a_corrupted_data_cache),
		CASE(a_model_cache_of_the_wrong_length),
		CASE(a_data_cache_of_the_wrong_length),
		CASE(a_wrong_token),
		CASE(empty_files_are_missing),
		CASE(a_huge_sparse_file_is_refused_at_once),
		CASE(saving_again_replaces_what_was_there),
		CASE(an_entry_of_another_key_is_foreign),
		CASE(an_entry_of_another_driver_is_foreign),
		CASE(a_model_without_data_is_cached_too),
		CASE(one_file_for_model_and_data_is_not_an_entry),
		CASE(an_entry_keeps_the_priority_it_was_made_with),
		CASE(a_directory_is_filled_and_used),
		CASE(a_spoilt_entry_in_a_directory_is_made_anew),
		CASE(a_directory_has_an_entry_for_each_preference_and_priority),
		CASE(an_entry_in_the_place_of_another_priority_is_foreign),
		CASE(a_deadline_is_no_part_of_an_entry),
		CASE(a_missing_directory_saves_nothing_and_is_not_an_error),
		CASE(a_key_file_is_made_once_and_for_its_owner),
	};

	return cmocka_run_group_tests_name("caching (O-22)", tests, NULL, NULL);
}
