/*
 * test_copy.c -- the two ways to use a memory, mapped and copied: both hold the same bytes, and refuse the same files;
 * and what makes an app one whose pools are copied.
 */
#include "unit/fmq_helpers.h"

#include <signal.h>
#include <sys/stat.h>

#include "base/sys.h"
#include "memory/conduct.h"
#include "memory/copy.h"

#define RW (PROT_READ | PROT_WRITE)
#define SECOND UINT64_C(1000000000)

static size_t page;

static struct nnb_mapping *copy_of_fd(int fd, uint64_t size, int prot, uint64_t offset)
{
	struct nnb_memory memory;
	struct nnb_mapping *m;

	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, size, prot, offset), 0);
	assert_int_equal(nnb__copy_open(&m, &memory, true), 0);
	nnb_memory_close(&memory);
	return m;
}

/* ---- bytes ---- */

static const enum nnb_memory_kind kinds[] = { NNB_MEMORY_ASHMEM, NNB_MEMORY_MMAP_FD, NNB_MEMORY_HARDWARE_BUFFER_BLOB };

static void make(struct nnb_memory *ret, enum nnb_memory_kind kind, uint64_t size)
{
	int fd;

	if (kind == NNB_MEMORY_ASHMEM) {
		assert_int_equal(nnb_memory_ashmem(ret, size), 0);
	} else if (kind == NNB_MEMORY_HARDWARE_BUFFER_BLOB) {
		assert_int_equal(nnb_memory_hardware_buffer_blob(ret, size), 0);
	} else {
		fd = new_file(size, 0);
		assert_int_equal(nnb_memory_mmap_fd(ret, fd, size, RW, 0), 0);
		close(fd);
	}
}

static void both_ways_hold_the_same_bytes(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t size = 1; size < 5 * page; size = size * 3 + 1) {
			unsigned char *bytes = malloc(size);
			struct nnb_mapping *mapped, *copied;
			struct nnb_memory memory;

			assert_non_null(bytes);
			make(&memory, kinds[k], size);
			assert_int_equal(nnb_map(&mapped, &memory), 0);
			assert_int_equal(nnb__copy_open(&copied, &memory, false), 0);
			nnb_memory_close(&memory);
			assert_true(nnb__mapping_is_copy(copied) && !nnb__mapping_is_copy(mapped));
			assert_null(nnb_mapping_data(copied));
			assert_int_equal(nnb_mapping_size(copied), size);
			assert_int_equal(nnb_mapping_kind(copied), kinds[k]);
			assert_true(nnb_mapping_readable(copied) && nnb_mapping_writable(copied));
			make_elements(nnb_mapping_data(mapped), 1, 0, size);
			memset(bytes, 0, size);
			assert_int_equal(nnb__copy_read(copied, 0, bytes, size), 0);
			assert_memory_equal(bytes, nnb_mapping_data(mapped), size);
			memset(bytes, 0x5a, size);
			assert_int_equal(nnb__copy_write(copied, size / 2, bytes, size - size / 2), 0);
			assert_memory_equal((char *)nnb_mapping_data(mapped) + size / 2, bytes, size - size / 2);
			assert_int_equal(nnb__copy_read(copied, 0, bytes, size / 2), 0);
			assert_memory_equal(bytes, nnb_mapping_data(mapped), size / 2);
			assert_false(nnb_mapping_torn(copied, nnb_mapping_mark(copied)));
			nnb_mapping_unref(mapped);
			nnb_mapping_unref(copied);
			free(bytes);
		}
}

static void a_copy_that_is_kept_is_read_and_flushed(void **state)
{
	int fd = new_file(3 * page, 0);
	struct nnb_mapping *from, *to;
	char byte;

	(void)state;
	assert_int_equal(pwrite(fd, "x", 1, (off_t)(2 * page - 1)), 1);
	from = copy_of_fd(fd, page, RW, page);
	assert_int_equal(nnb__copy_keep(from, true), 0);
	assert_int_equal(((char *)nnb_mapping_data(from))[page - 1], 'x');
	for (int i = 0; i < NNB_MAPPING_SLACK; i++)
		assert_int_equal(((char *)nnb_mapping_data(from))[page + (size_t)i], 0);
	to = copy_of_fd(fd, page, RW, page);
	assert_int_equal(nnb__copy_keep(to, false), 0);
	assert_int_equal(((char *)nnb_mapping_data(to))[page - 1], 0);
	((char *)nnb_mapping_data(to))[0] = 'y';
	assert_int_equal(nnb_mapping_flush(to), 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)page), 1);
	assert_int_equal(byte, 'y');
	assert_int_equal(((char *)nnb_mapping_data(from))[0], 0); /* a copy of another time */
	nnb_mapping_unref(from);
	nnb_mapping_unref(to);
	close(fd);
}

static void a_mapping_of_an_app_can_be_turned_into_a_copy(void **state)
{
	struct nnb__conduct app;
	struct nnb_mapping *mapped, *copied;
	struct nnb_memory memory;
	char byte;

	(void)state;
	make(&memory, NNB_MEMORY_ASHMEM, page);
	assert_int_equal(nnb_map(&mapped, &memory), 0);
	assert_int_equal(nnb__copy_of(&copied, mapped), -ENOTSUP); /* this process's own: its file was closed */
	nnb_mapping_unref(mapped);
	nnb__conduct_init(&app, false);
	nnb__conduct_enter(&app);
	assert_int_equal(nnb_map(&mapped, &memory), 0);
	*(char *)nnb_mapping_data(mapped) = 'z';
	assert_int_equal(nnb__copy_of(&copied, mapped), 0);
	nnb_mapping_unref(mapped);
	assert_int_equal(nnb__copy_read(copied, 0, &byte, 1), 0);
	assert_int_equal(byte, 'z');
	nnb_mapping_unref(copied);
	nnb__conduct_enter(NULL);
	nnb__conduct_fini(&app);
	nnb_memory_close(&memory);
}

/* ---- files that are wrong ---- */

static void both_ways_refuse_the_same_files(void **state)
{
	char path[] = P_tmpdir "/test_copy-XXXXXX";
	int disk = mkostemp(path, O_CLOEXEC), fds[8];
	const int prots[] = { PROT_READ, PROT_WRITE, RW };

	(void)state;
	assert_true(disk >= 0 && !ftruncate(disk, (off_t)(2 * page)));
	fds[0] = new_file(2 * page, 0);
	fds[1] = new_file(2 * page, F_SEAL_WRITE);
	fds[2] = new_file(2 * page, F_SEAL_FUTURE_WRITE);
	fds[3] = open(path, O_RDONLY | O_CLOEXEC);
	fds[4] = open(path, O_WRONLY | O_CLOEXEC);
	fds[5] = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
	fds[6] = open(path, O_PATH | O_CLOEXEC);
	fds[7] = open(P_tmpdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unlink(path);
	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < 3; k++)
			for (uint64_t offset = 0; offset <= 2 * page; offset += page / 2) {
				struct nnb_mapping *mapped = NULL, *copied = NULL;
				struct nnb_memory memory;
				int r;

				if (i == 1 && prots[k] == PROT_READ) /* mmap refuses that before Linux 6.7 */
					continue;
				assert_int_equal(nnb_memory_mmap_fd(&memory, fds[i], page, prots[k], offset), 0);
				r = nnb_map(&mapped, &memory);
				if (!nnb__copy_open(&copied, &memory, true) != !r)
					fail_msg("file %zu, prot %d, offset %zu: mapped %d", i, prots[k],
					         (size_t)offset, r);
				nnb_mapping_unref(mapped);
				nnb_mapping_unref(copied);
				nnb_memory_close(&memory);
			}
	for (size_t i = 0; i < 8; i++)
		close(fds[i]);
	close(disk);
}

static void a_file_that_was_cut_is_an_error_and_does_not_grow(void **state)
{
	int fd = new_file(4 * page, 0);
	struct nnb_mapping *m = copy_of_fd(fd, 4 * page, RW, 0);
	char *bytes = calloc(4, page);
	struct stat st;

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(ftruncate(fd, (off_t)page + 1), 0);
	assert_int_equal(nnb__copy_read(m, 0, bytes, page + 1), 0);
	assert_int_equal(nnb__copy_read(m, 0, bytes, page + 2), -EFAULT);
	assert_int_equal(nnb__copy_read(m, 2 * page, bytes, page), -EFAULT);
	assert_int_equal(nnb__copy_write(m, 2 * page, bytes, page), -EFAULT);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, page + 1);
	assert_int_equal(ftruncate(fd, (off_t)(4 * page)), 0);
	assert_int_equal(nnb__copy_write(m, 2 * page, bytes, page), 0);
	assert_int_equal(nnb__copy_read(m, 0, bytes, 4 * page), 0);
	nnb_mapping_unref(m);
	free(bytes);
	close(fd);
}

/* Not on tmpfs, where no kernel is known to write at the end: on a disk, too. */
static void a_write_goes_to_its_place_in_a_file_that_appends(void **state)
{
	char path[] = P_tmpdir "/test_copy-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC | O_APPEND);
	struct nnb_mapping *m;
	char bytes[4] = { 0 };
	struct stat st;
	int r;

	(void)state;
	assert_true(fd >= 0 && !ftruncate(fd, (off_t)page));
	unlink(path);
	m = copy_of_fd(fd, page, RW, 0);
	r = nnb__copy_write(m, 8, "abcd", 4);
	assert_true(r == 0 || r == -EOPNOTSUPP); /* before Linux 6.9 */
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, page);
	assert_int_equal(pread(fd, bytes, 4, 8), 4);
	assert_memory_equal(bytes, r ? "\0\0\0\0" : "abcd", 4);
	nnb_mapping_unref(m);
	close(fd);
}

/* ---- conduct ---- */

static unsigned n_offences;

static void note_offence(void *arg, uint64_t owed_ns)
{
	(void)arg;
	assert_true(owed_ns > NNB__OWES_MOST_NS);
	n_offences++;
}

static void what_an_app_owes_fades(void **state)
{
	struct nnb__conduct app;

	(void)state;
	nnb__conduct_init(&app, false);
	app.offends = note_offence;
	n_offences = 0;
	assert_true(nnb__conduct_is_clean(&app));
	/* a page in a second, for a minute */
	for (int i = 0; i < 60; i++) {
		nnb__conduct_charge(&app, NNB__STALL_COST_NS);
		app.owed_at -= SECOND;
	}
	assert_false(nnb__conduct_copies(&app));
	/* many at once */
	for (int i = 0; i < 30; i++)
		nnb__conduct_charge(&app, NNB__STALL_COST_NS);
	assert_true(nnb__conduct_copies(&app));
	assert_int_equal(n_offences, 1);
	assert_int_equal(atomic_load(&app.offences), 1);
	assert_false(nnb__conduct_is_clean(&app));
	/* an offender for ten minutes, and then for twenty */
	assert_true(atomic_load(&app.copies_until) - nnb__now() <= 600 * SECOND);
	atomic_store(&app.copies_until, nnb__now() - 1);
	assert_false(nnb__conduct_copies(&app));
	nnb__conduct_charge(&app, UINT64_MAX);
	assert_true(nnb__conduct_copies(&app));
	assert_true(atomic_load(&app.copies_until) - nnb__now() > 1100 * SECOND);
	/* forgotten in the end */
	atomic_store(&app.copies_until, 1);
	assert_true(nnb__conduct_is_clean(&app) || nnb__now() < 1200 * SECOND);
	nnb__conduct_fini(&app);
}

static void an_app_that_is_always_copied_stays_so(void **state)
{
	struct nnb__conduct app;

	(void)state;
	nnb__conduct_init(&app, true);
	assert_true(nnb__conduct_copies(&app) && nnb__conduct_is_clean(&app) && !nnb__conduct_bars(&app));
	nnb__conduct_charge(&app, UINT64_MAX);
	assert_int_equal(atomic_load(&app.copies_until), UINT64_MAX);
	nnb__conduct_fini(&app);
}

static struct sigaction of_the_library;

static void tears_are_charged_once_each(void **state)
{
	struct nnb__conduct app;
	struct nnb_mapping *m;
	struct nnb_memory memory;
	int fd = new_file(page, 0);

	(void)state;
	nnb__conduct_init(&app, false);
	nnb__conduct_enter(&app);
	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, page, RW, 0), 0);
	assert_int_equal(nnb_map(&m, &memory), 0);
	assert_int_equal(sigaction(SIGBUS, &of_the_library, NULL), 0); /* cmocka has replaced it for this test */
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(*(volatile char *)nnb_mapping_data(m), 0);
		assert_int_equal(ftruncate(fd, (off_t)page), 0);
		nnb_mapping_mark(m);
		nnb_mapping_mark(m);
		assert_in_range(app.owed_ns, i * NNB__TEAR_COST_NS - SECOND / 100 * i,
		                (i + 1) * NNB__TEAR_COST_NS); /* and what it took */
	}
	nnb_mapping_unref(m);
	nnb__conduct_enter(NULL);
	nnb__conduct_fini(&app);
	nnb_memory_close(&memory);
	close(fd);
}

static unsigned mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:") != NULL;
	fclose(f);
	return n;
}

static void what_an_offender_has_mapped_is_unmapped_by_another_thread(void **state)
{
	struct nnb_mapping *m[8];
	struct nnb__conduct app;
	struct nnb_memory memory;
	unsigned before = mappings();

	(void)state;
	nnb__conduct_init(&app, false);
	nnb__conduct_enter(&app);
	make(&memory, NNB_MEMORY_ASHMEM, page);
	for (int i = 0; i < 8; i++)
		assert_int_equal(nnb_map(&m[i], &memory), 0);
	nnb_memory_close(&memory);
	nnb__conduct_charge(&app, UINT64_MAX);
	for (int i = 0; i < 8; i++)
		nnb_mapping_unref(m[i]);
	for (int i = 0; i < 5000 && mappings() > before; i++)
		usleep(1000);
	assert_int_equal(mappings(), before);
	nnb__conduct_enter(NULL);
	nnb__conduct_fini(&app);
}

static void make_a_watch(void)
{
	struct nnb_memory memory;
	struct nnb_mapping *m;
	int fd = new_file(page, 0);

	must(nnb_memory_mmap_fd(&memory, fd, page, RW, 0) == 0 && nnb_map(&m, &memory) == 0);
	nnb_mapping_unref(m);
	nnb_memory_close(&memory);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(both_ways_hold_the_same_bytes),
		cmocka_unit_test(a_copy_that_is_kept_is_read_and_flushed),
		cmocka_unit_test(a_mapping_of_an_app_can_be_turned_into_a_copy),
		cmocka_unit_test(both_ways_refuse_the_same_files),
		cmocka_unit_test(a_file_that_was_cut_is_an_error_and_does_not_grow),
		cmocka_unit_test(a_write_goes_to_its_place_in_a_file_that_appends),
		cmocka_unit_test(what_an_app_owes_fades),
		cmocka_unit_test(an_app_that_is_always_copied_stays_so),
		cmocka_unit_test(tears_are_charged_once_each),
		cmocka_unit_test(what_an_offender_has_mapped_is_unmapped_by_another_thread),
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	make_a_watch(); /* which installs the handler */
	sigaction(SIGBUS, NULL, &of_the_library);
	return cmocka_run_group_tests_name("memory: copies", all, NULL, NULL);
}
