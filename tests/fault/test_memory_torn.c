/*
 * test_memory_torn.c -- files that are truncated under mappings of kind mmap_fd: the process lives, and learns
 * of it.
 *
 * The effect of a SIGBUS outside these mappings depends on the handler that was installed before the process's
 * first mapping. So tests run this program again, with the name of a scene.
 */
#include "unit/fmq_helpers.h"

#include <sys/stat.h>

#include "nnb/memory.h"

#define RW (PROT_READ | PROT_WRITE)
enum { PAGES = 4, FILL = 0xa5 };

#ifdef __SANITIZE_THREAD__ /* TSan blocks every signal in every handler, and aborts where it cannot map memory */
enum { HANDLERS_NEST = false, LIVES_WITHOUT_MAPPING = false };
#else
enum { HANDLERS_NEST = true, LIVES_WITHOUT_MAPPING = true };
#endif

static size_t page;

/* ---- a mapping and its file ---- */

enum where { IN_MEMORY, ON_DISK };

struct victim {
	int fd;
	struct nnb_mapping *m;
	volatile unsigned char *data;
};

static int new_victim_file(enum where where)
{
	char path[] = P_tmpdir "/test_memory_torn-XXXXXX";
	int fd = where == ON_DISK ? mkostemp(path, O_CLOEXEC) : memfd_create("test", MFD_CLOEXEC);

	if (fd < 0 || (where == ON_DISK && unlink(path) < 0))
		abort();
	return fd;
}

/* Give the file its length and its bytes back. */
static void regrow(int fd)
{
	unsigned char fill[4096];

	memset(fill, FILL, sizeof(fill));
	for (size_t at = 0; at < PAGES * page; at += sizeof(fill))
		if (pwrite(fd, fill, sizeof(fill), (off_t)at) != sizeof(fill))
			abort();
}

static void truncate_file(int fd, size_t bytes)
{
	if (ftruncate(fd, (off_t)bytes) < 0)
		abort();
}

/* Make another mapping of the same file; the first keeps the fd. */
static void map_again(struct victim *v, int fd, int prot)
{
	struct nnb_memory memory;

	if (nnb_memory_mmap_fd(&memory, fd, PAGES * page, prot, 0) < 0 || nnb_map(&v->m, &memory) < 0)
		abort();
	nnb_memory_close(&memory);
	v->fd = fd;
	v->data = nnb_mapping_data(v->m);
}

static void open_victim(struct victim *v, enum where where, int prot)
{
	int fd = new_victim_file(where);

	regrow(fd);
	map_again(v, fd, prot);
}

static void close_victim(struct victim *v)
{
	nnb_mapping_unref(v->m);
	close(v->fd);
}

/* Truncate the file, touch the torn page, and regrow the file. */
static void tear(struct victim *v)
{
	truncate_file(v->fd, 0);
	(void)v->data[0];
	regrow(v->fd);
}

/* The compiler knows that a memory access does not change errno. Here the signal handler could. */
static void set_errno(int value)
{
	*(volatile int *)&errno = value;
}

static int get_errno(void)
{
	return *(volatile int *)&errno;
}

/* ---- one mapping ---- */

static void a_read_survives(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m);

	assert_int_equal(v->data[page], FILL);
	truncate_file(v->fd, page);
	assert_false(nnb_mapping_torn(v->m, mark));
	set_errno(ETIME);
	assert_int_equal(v->data[page + 5], 0);
	assert_int_equal(get_errno(), ETIME);
	assert_true(nnb_mapping_torn(v->m, mark));
}

static void a_write_survives(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m);

	truncate_file(v->fd, 0);
	v->data[3 * page + 1] = 17;
	assert_int_equal(v->data[3 * page + 1], 17);
	assert_int_equal(v->data[3 * page], 0);
	assert_true(nnb_mapping_torn(v->m, mark));
	assert_int_equal(nnb_mapping_flush(v->m), 0);
}

/* The number of pieces that the process's address space has now. */
static unsigned count_pieces(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned n = 0;

	if (!f)
		abort();
	for (int c = fgetc(f); c != EOF; c = fgetc(f))
		n += c == '\n';
	fclose(f);
	return n;
}

static void one_lost_page_tears_the_whole_mapping(struct victim *v)
{
	unsigned pieces = count_pieces();

	truncate_file(v->fd, 3 * page);
	assert_int_equal(v->data[3 * page], 0);
	assert_int_equal(v->data[3 * page - 1], 0);
	assert_int_equal(v->data[PAGES * page], 0); /* the zeroes behind the file */
	assert_int_equal(count_pieces(), pieces);
	regrow(v->fd);
	assert_int_equal(v->data[3 * page], 0);
	assert_int_equal(v->data[2 * page], 0);
	nnb_mapping_mark(v->m);
	assert_int_equal(v->data[2 * page], FILL);
	assert_int_equal(count_pieces(), pieces);
}

static void a_page_cut_in_two_reads_on(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m);

	truncate_file(v->fd, page + 100);
	assert_int_equal(v->data[page + 99], FILL);
	assert_int_equal(v->data[page + 100], 0);
	assert_false(nnb_mapping_torn(v->m, mark));
}

static _Atomic size_t freed_most; /* by one call, of bytes that are in memory */

static void freed_note(void *start, size_t bytes)
{
	static _Thread_local unsigned char is_there[(64 << 20) / 4096];
	size_t n = 0;

	if (bytes / page > sizeof(is_there) || mincore(start, bytes, is_there))
		return;
	for (size_t i = 0; i < bytes / page; i++)
		n += is_there[i] & 1;
	if (n * page > freed_most)
		freed_most = n * page;
}

/* Replaces the C library's: the library's calls go through here. */
__attribute__((visibility("default"))) void *mremap(void *start, size_t bytes, size_t then, int flags, ...)
{
	void *to = NULL;
	va_list more;

	va_start(more, flags);
	if (flags & MREMAP_FIXED)
		freed_note(to = va_arg(more, void *), then);
	va_end(more);
	return (void *)syscall(SYS_mremap, start, bytes, then, flags, to);
}

/* While it mends a mapping, the kernel keeps the memory map locked for few pages at a time. */
static void a_mend_frees_few_pages_at_once(struct victim *v)
{
	enum { LARGE = 32 << 20, FEW = 4 << 20 };
	struct nnb_memory memory;
	struct victim large = { .fd = new_victim_file(IN_MEMORY) };

	truncate_file(large.fd, LARGE);
	assert_int_equal(nnb_memory_mmap_fd(&memory, large.fd, LARGE, RW, 0), 0);
	assert_int_equal(nnb_map(&large.m, &memory), 0);
	nnb_memory_close(&memory);
	large.data = nnb_mapping_data(large.m);
	truncate_file(large.fd, 0);
	for (size_t i = 0; i < LARGE; i += page)
		large.data[i] = 1;
	truncate_file(large.fd, LARGE);
	freed_most = 0;
	assert_false(nnb_mapping_torn(large.m, nnb_mapping_mark(large.m)));
	assert_int_equal(large.data[LARGE - page], 0);
	assert_true(freed_most < FEW);
	close_victim(&large);
	(void)v;
}

static void every_page_may_go(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m);

	truncate_file(v->fd, 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(v->data[i * page + i], 0);
	assert_true(nnb_mapping_torn(v->m, mark));
	regrow(v->fd);
	mark = nnb_mapping_mark(v->m);
	for (size_t i = 0; i < PAGES * page; i++)
		assert_int_equal(v->data[i], FILL);
	assert_false(nnb_mapping_torn(v->m, mark));
}

static void a_mark_mends(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m), again;
	unsigned char byte;

	tear(v);
	assert_int_equal(v->data[0], 0);
	again = nnb_mapping_mark(v->m);
	assert_int_equal(v->data[0], FILL);
	v->data[1] = 3;
	assert_int_equal(pread(v->fd, &byte, 1, 1), 1);
	assert_int_equal(byte, 3);
	assert_int_equal(v->data[PAGES * page], 0);
	assert_false(nnb_mapping_torn(v->m, again));
	assert_true(nnb_mapping_torn(v->m, mark));
}

static void a_mapping_is_torn_and_mended_again_and_again(struct victim *v)
{
	for (unsigned i = 0; i < 100; i++) {
		uint32_t mark = nnb_mapping_mark(v->m);

		assert_int_equal(v->data[0], FILL);
		assert_false(nnb_mapping_torn(v->m, mark));
		tear(v);
		assert_true(nnb_mapping_torn(v->m, mark));
	}
}

/* A sealed file cannot be truncated, so it is never torn, and the library does not keep it open. */
static void a_sealed_file_is_never_torn(struct victim *v)
{
	int fd = new_file(PAGES * page, F_SEAL_SHRINK);
	struct victim sealed;
	unsigned fds;

	(void)v;
	fds = count_fds();
	map_again(&sealed, fd, RW);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(ftruncate(fd, 0), -1);
	sealed.data[3 * page] = 7;
	assert_int_equal(sealed.data[3 * page], 7);
	assert_false(nnb_mapping_torn(sealed.m, nnb_mapping_mark(sealed.m)));
	assert_int_equal(nnb_mapping_flush(sealed.m), 0);
	close_victim(&sealed);
}

static void a_file_still_short_is_torn_for_the_next(struct victim *v)
{
	uint32_t mark;

	truncate_file(v->fd, 0);
	(void)v->data[0];
	mark = nnb_mapping_mark(v->m);
	assert_true(nnb_mapping_torn(v->m, mark));
	assert_int_equal(v->data[0], 0); /* not a fault any more */
	assert_true(nnb_mapping_torn(v->m, mark));
	truncate_file(v->fd, PAGES * page - 1);
	mark = nnb_mapping_mark(v->m);
	assert_true(nnb_mapping_torn(v->m, mark));
	regrow(v->fd);
	assert_false(nnb_mapping_torn(v->m, nnb_mapping_mark(v->m)));
}

/* A reader that began on zeroes must learn of the tear, even if the mapping is mended for a later reader. */
static void a_later_mark_does_not_mend_for_an_earlier(struct victim *v)
{
	uint32_t earlier, later;

	truncate_file(v->fd, 0);
	(void)v->data[0];
	earlier = nnb_mapping_mark(v->m);
	assert_int_equal(v->data[0], 0);
	regrow(v->fd);
	later = nnb_mapping_mark(v->m);
	assert_false(nnb_mapping_torn(v->m, later));
	assert_true(nnb_mapping_torn(v->m, earlier));
}

static void cut_and_not_touched_is_not_torn(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m);

	truncate_file(v->fd, page);
	assert_int_equal(v->data[0], FILL);
	assert_false(nnb_mapping_torn(v->m, mark));
	assert_false(nnb_mapping_torn(v->m, nnb_mapping_mark(v->m)));
}

static void cut_and_regrown_is_not_torn(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m);

	truncate_file(v->fd, 0);
	regrow(v->fd);
	assert_int_equal(v->data[2 * page], FILL);
	assert_false(nnb_mapping_torn(v->m, mark));
}

static void another_mapping_of_the_file_is_not_torn(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m), others;
	struct victim other;

	map_again(&other, v->fd, PROT_READ);
	others = nnb_mapping_mark(other.m);
	tear(v);
	assert_true(nnb_mapping_torn(v->m, mark));
	assert_int_equal(other.data[0], FILL);
	assert_false(nnb_mapping_torn(other.m, others));
	nnb_mapping_unref(other.m);
}

static void the_next_mapping_inherits_no_tear(struct victim *v)
{
	for (unsigned i = 0; i < 100; i++) {
		struct victim next;

		map_again(&next, v->fd, i % 2 ? RW : PROT_READ);
		assert_int_equal(nnb_mapping_mark(next.m), 0);
		assert_int_equal(next.data[0], FILL);
		assert_false(nnb_mapping_torn(next.m, 0));
		tear(&next);
		assert_true(nnb_mapping_torn(next.m, 0));
		nnb_mapping_unref(next.m);
	}
	assert_false(nnb_mapping_torn(v->m, 0));
}

/* More than one chunk of watches. */
static void many_mappings_are_watched(struct victim *v)
{
	static struct victim many[300];

	for (unsigned i = 0; i < N_OF(many); i++)
		map_again(&many[i], v->fd, PROT_READ);
	truncate_file(v->fd, 0);
	for (unsigned i = 0; i < N_OF(many); i += 3)
		assert_int_equal(many[i].data[page], 0);
	for (unsigned i = 0; i < N_OF(many); i++) {
		assert_int_equal(nnb_mapping_torn(many[i].m, 0), i % 3 == 0);
		nnb_mapping_unref(many[i].m);
	}
}

/* mmap refuses the file, so the mapping is not mended, but its range stays mapped. */
static void a_file_that_mmap_refuses_stays_torn(struct victim *v)
{
	int fd = new_file(PAGES * page, 0);
	uint32_t mark;
	struct victim sealed;

	(void)v;
	map_again(&sealed, fd, RW);
	truncate_file(fd, 0);
	sealed.data[page] = 5;
	truncate_file(fd, PAGES * page);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	mark = nnb_mapping_mark(sealed.m);
	assert_true(nnb_mapping_torn(sealed.m, mark));
	assert_int_equal(sealed.data[page], 5);
	assert_int_equal(sealed.data[PAGES * page - 1], 0);
	close_victim(&sealed);
}

static void a_system_call_fails_and_tears_nothing(struct victim *v)
{
	uint32_t mark = nnb_mapping_mark(v->m);
	int fd = memfd_create("test", MFD_CLOEXEC);

	truncate_file(v->fd, 0);
	assert_int_equal(write(fd, (void *)v->data, 1), -1);
	assert_int_equal(errno, EFAULT);
	assert_false(nnb_mapping_torn(v->m, mark));
	close(fd);
}

static void tear_in_child(void *arg)
{
	struct victim *v = arg;

	must(v->data[0] == 0);
	must(nnb_mapping_torn(v->m, 0));
}

static void a_child_has_tears_of_its_own(struct victim *v)
{
	truncate_file(v->fd, 0);
	assert_int_equal(reap(spawn(tear_in_child, v)), 0);
	assert_false(nnb_mapping_torn(v->m, 0));
	assert_int_equal(v->data[0], 0);
	assert_true(nnb_mapping_torn(v->m, 0));
}

static void nothing_is_left(struct victim *v)
{
	unsigned fds = count_fds();
	struct victim next;

	map_again(&next, v->fd, RW);
	tear(&next);
	nnb_mapping_mark(next.m);
	tear(&next);
	nnb_mapping_unref(next.m);
	assert_int_equal(msync((void *)next.data, page, MS_ASYNC), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(count_fds(), fds);
}

/* ---- threads ---- */

static void *tear_for_long(void *arg)
{
	struct victim *v = arg;
	uintptr_t wrong = 0;

	for (unsigned i = 0; i < 300; i++) {
		uint32_t mark = nnb_mapping_mark(v->m);

		wrong += v->data[2 * page] != FILL || nnb_mapping_torn(v->m, mark);
		truncate_file(v->fd, 0);
		wrong += v->data[page] != 0 || v->data[3 * page] != 0 || !nnb_mapping_torn(v->m, mark);
		regrow(v->fd);
	}
	return (void *)wrong;
}

static void two_threads_tear_two_mappings(struct victim *v)
{
	struct victim other;
	pthread_t thread;
	void *wrong;

	open_victim(&other, IN_MEMORY, RW);
	assert_int_equal(pthread_create(&thread, NULL, tear_for_long, &other), 0);
	assert_null(tear_for_long(v));
	pthread_join(thread, &wrong);
	assert_null(wrong);
	close_victim(&other);
}

struct reader {
	struct victim v;
	_Atomic bool stop;
	unsigned wrong;
};

static void *read_on(void *arg)
{
	struct reader *r = arg;
	uint32_t mark = nnb_mapping_mark(r->v.m);

	do {
		for (size_t i = 0; i < PAGES; i++)
			r->wrong += r->v.data[i * page] != FILL;
		r->wrong += nnb_mapping_torn(r->v.m, mark);
	} while (!atomic_load(&r->stop));
	return NULL;
}

static void a_reader_of_another_mapping_is_not_affected(struct victim *v)
{
	struct reader reader = { .wrong = 0 };
	pthread_t thread;

	open_victim(&reader.v, IN_MEMORY, PROT_READ);
	assert_int_equal(pthread_create(&thread, NULL, read_on, &reader), 0);
	assert_null(tear_for_long(v));
	atomic_store(&reader.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(reader.wrong, 0);
	close_victim(&reader.v);
}

static void ten_thousand_mappings_come_and_go_while_others_tear(struct victim *v)
{
	enum { TEARERS = 2 };
	struct victim tearing[TEARERS];
	pthread_t threads[TEARERS];
	void *wrong;

	for (unsigned i = 0; i < TEARERS; i++) {
		open_victim(&tearing[i], IN_MEMORY, RW);
		assert_int_equal(pthread_create(&threads[i], NULL, tear_for_long, &tearing[i]), 0);
	}
	for (unsigned i = 0; i < 10000; i++) {
		struct victim next;

		map_again(&next, v->fd, RW);
		assert_int_equal(next.data[i % PAGES * page], FILL);
		assert_false(nnb_mapping_torn(next.m, 0));
		nnb_mapping_unref(next.m);
	}
	for (unsigned i = 0; i < TEARERS; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
		close_victim(&tearing[i]);
	}
}

/* One file that is whole only at even times, and readers of one mapping that mark, read and judge. */
struct judged {
	struct victim v;
	_Atomic uint32_t time;
	_Atomic bool stop;
	_Atomic unsigned accepted, wrong;
};

static void *read_and_judge(void *arg)
{
	struct judged *j = arg;

	while (!atomic_load(&j->stop)) {
		uint32_t before = atomic_load(&j->time);
		uint32_t mark = nnb_mapping_mark(j->v.m);
		bool whole = true;

		for (size_t i = 0; i < PAGES; i++)
			whole &= j->v.data[i * page] == FILL;
		if (nnb_mapping_torn(j->v.m, mark) || before % 2 || atomic_load(&j->time) != before)
			continue;
		atomic_fetch_add(&j->accepted, 1);
		if (!whole)
			atomic_fetch_add(&j->wrong, 1);
	}
	return NULL;
}

static void a_reader_never_accepts_zeroes(struct victim *v)
{
	enum { READERS = 3, CUTS = 400 };
	struct judged j = { .v = *v };
	pthread_t threads[READERS];
	unsigned accepted;

	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_and_judge, &j), 0);
	for (unsigned i = 0; i < CUTS; i++) {
		atomic_fetch_add(&j.time, 1);
		truncate_file(v->fd, i % 2 * page);
		sched_yield();
		regrow(v->fd);
		atomic_fetch_add(&j.time, 1);
		/* the mapping mends itself, and a reader sees it */
		for (accepted = atomic_load(&j.accepted); atomic_load(&j.accepted) == accepted;)
			sched_yield();
	}
	atomic_store(&j.stop, true);
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(j.wrong, 0);
}

static const struct row {
	const char *name;
	void (*run)(struct victim *);
} rows[] = {
	{ "a read of a lost page survives, and its mapping is marked", a_read_survives },
	{ "a write to a lost page survives, and its mapping is marked", a_write_survives },
	{ "one lost page tears the whole mapping, and splits it no further", one_lost_page_tears_the_whole_mapping },
	{ "a page cut in two reads on", a_page_cut_in_two_reads_on },
	{ "a mend frees few pages at once", a_mend_frees_few_pages_at_once },
	{ "every page may go, and come back", every_page_may_go },
	{ "a mark mends a mapping whose file has its length back", a_mark_mends },
	{ "a mapping is torn and mended again and again", a_mapping_is_torn_and_mended_again_and_again },
	{ "a sealed file is never torn", a_sealed_file_is_never_torn },
	{ "a file that is still short is torn for the next reader", a_file_still_short_is_torn_for_the_next },
	{ "a later mark does not mend for an earlier reader", a_later_mark_does_not_mend_for_an_earlier },
	{ "a file cut and not touched is not torn", cut_and_not_touched_is_not_torn },
	{ "a file cut and regrown is not torn", cut_and_regrown_is_not_torn },
	{ "another mapping of the file is not torn", another_mapping_of_the_file_is_not_torn },
	{ "the next mapping inherits no tear", the_next_mapping_inherits_no_tear },
	{ "many mappings are watched", many_mappings_are_watched },
	{ "a file that mmap refuses stays torn", a_file_that_mmap_refuses_stays_torn },
	{ "a system call fails and tears nothing", a_system_call_fails_and_tears_nothing },
	{ "a child has tears of its own", a_child_has_tears_of_its_own },
	{ "nothing is left of a torn mapping", nothing_is_left },
	{ "two threads tear two mappings", two_threads_tear_two_mappings },
	{ "a reader of another mapping is not affected", a_reader_of_another_mapping_is_not_affected },
	{ "ten thousand mappings come and go while others tear", ten_thousand_mappings_come_and_go_while_others_tear },
	{ "a reader never accepts zeroes", a_reader_never_accepts_zeroes },
};

/* ---- scenes: the earlier handler of SIGBUS ---- */

enum { SKIPPED = 77 }; /* exit status of a scene that cannot be played on this machine */

static struct victim ours;
static volatile unsigned char *foreign; /* a page whose file is gone, and which is not registered with the library */
static volatile sig_atomic_t calls;
static sigjmp_buf out;

/* Run the rest of the scene after the previous handler of the signal has been installed. */
static void set_scene(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	open_victim(&ours, IN_MEMORY, RW);
	must(ftruncate(fd, (off_t)page) == 0);
	foreign = mmap(NULL, page, RW, MAP_SHARED, fd, 0);
	must(foreign != MAP_FAILED);
	truncate_file(fd, 0);
	tear(&ours);
	must(nnb_mapping_torn(ours.m, 0));
	must(!calls);
}

static void hold(int sig, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	must(sigaction(sig, &action, NULL) == 0);
}

static void hold_info(void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO };

	sigaddset(&action.sa_mask, SIGUSR1);
	must(sigaction(SIGBUS, &action, NULL) == 0);
}

static void put_page(void)
{
	must(mmap((void *)foreign, page, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
}

static bool blocked(int sig)
{
	sigset_t set;

	must(pthread_sigmask(SIG_BLOCK, NULL, &set) == 0);
	return sigismember(&set, sig);
}

static void check_info_and_put(int sig, siginfo_t *info, void *context)
{
	must(sig == SIGBUS && info->si_code == BUS_ADRERR && context);
	must(info->si_addr == (void *)(foreign + 7));
	must(blocked(SIGBUS) && blocked(SIGUSR1));
	calls++;
	errno = ENOTTY;
	put_page();
}

static void earlier_handler_gets_sigbus_of_other_memory(void)
{
	hold_info(check_info_and_put, 0);
	set_scene();
	set_errno(ETIME);
	must(foreign[7] == 0);
	must(get_errno() == ETIME);
	must(calls == 1);
	must(!blocked(SIGBUS) && !blocked(SIGUSR1));
	must(nnb_mapping_mark(ours.m) == 1);
	must(!nnb_mapping_torn(ours.m, 1));
	tear(&ours);
	must(calls == 1);
}

static void count_and_put(int sig)
{
	must(sig == SIGBUS);
	calls++;
	put_page();
}

static void earlier_handler_takes_no_siginfo(void)
{
	hold(SIGBUS, count_and_put, 0);
	set_scene();
	foreign[7] = 1;
	must(calls == 1);
}

static void jump(int sig)
{
	(void)sig;
	siglongjmp(out, 1);
}

static void earlier_handler_jumps_out(void)
{
	hold(SIGBUS, jump, 0);
	set_scene();
	for (volatile int i = 0; i < 3; i++)
		if (sigsetjmp(out, 1) == 0) {
			(void)*foreign;
			_exit(1);
		}
	nnb_mapping_mark(ours.m);
	tear(&ours);
}

static void count_only(int sig)
{
	(void)sig;
	must(++calls == 1);
}

static void earlier_handler_is_called_once_only(void)
{
	hold(SIGBUS, count_only, SA_RESETHAND);
	set_scene();
	(void)*foreign;
}

static void touch_mapping_and_put(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	truncate_file(ours.fd, 0);
	must(ours.data[3 * page] == 0);
	put_page();
}

static void earlier_handler_touches_a_torn_page(void)
{
	uint32_t mark;

	if (!HANDLERS_NEST)
		_exit(SKIPPED);
	hold_info(touch_mapping_and_put, SA_NODEFER);
	set_scene();
	mark = nnb_mapping_mark(ours.m);
	must(*foreign == 0);
	must(nnb_mapping_torn(ours.m, mark));
}

/* The kernel would do the same without the library: it ends a process that faults while the signal is blocked. */
static void earlier_handler_may_not_fault(void)
{
	hold_info(touch_mapping_and_put, 0);
	set_scene();
	nnb_mapping_mark(ours.m);
	(void)*foreign;
}

static void no_earlier_handler(void)
{
	hold(SIGBUS, SIG_DFL, 0);
	set_scene();
	(void)*foreign;
}

static void sigbus_was_ignored(void)
{
	hold(SIGBUS, SIG_IGN, 0);
	set_scene();
	(void)*foreign;
}

static void sent_while_sigbus_was_ignored(void)
{
	hold(SIGBUS, SIG_IGN, 0);
	set_scene();
	must(raise(SIGBUS) == 0);
	must(kill(getpid(), SIGBUS) == 0);
}

static void sent_without_an_earlier_handler(void)
{
	hold(SIGBUS, SIG_DFL, 0);
	set_scene();
	kill(getpid(), SIGBUS);
	_exit(1);
}

/* A signal that a process sent may carry an address of the library's, but it is not a fault of that mapping. */
static void sent_with_an_address_of_a_mapping(void)
{
	siginfo_t info;

	hold(SIGBUS, SIG_DFL, 0);
	set_scene();
	memset(&info, 0, sizeof(info));
	info.si_signo = SIGBUS;
	info.si_code = SI_QUEUE;
	info.si_addr = (void *)ours.data;
	syscall(SYS_rt_sigqueueinfo, getpid(), SIGBUS, &info);
	_exit(1);
}

static unsigned char *alternate;

static void check_stack(int sig)
{
	unsigned char here;

	must((uintptr_t)&here - (uintptr_t)alternate < 65536);
	count_and_put(sig);
}

static void on_an_alternate_stack(void)
{
	stack_t stack = { .ss_size = 65536 };

	alternate = malloc(stack.ss_size);
	must(alternate);
	stack.ss_sp = alternate;
	must(sigaltstack(&stack, NULL) == 0);
	hold(SIGBUS, check_stack, SA_ONSTACK);
	set_scene();
	must(*foreign == 0);
	must(calls == 1);
}

static void tear_in_a_handler(int sig)
{
	(void)sig;
	truncate_file(ours.fd, 0);
	calls += ours.data[2 * page] == 0;
}

/* While the previous handler of SIGBUS runs, a handler of another signal touches a torn page. */
static void raise_and_put(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	(void)context;
	raise(SIGUSR2);
	put_page();
}

static void a_signal_in_between_touches_a_torn_page(void)
{
	if (!HANDLERS_NEST)
		_exit(SKIPPED);
	hold_info(raise_and_put, SA_NODEFER);
	hold(SIGUSR2, tear_in_a_handler, 0);
	set_scene();
	nnb_mapping_mark(ours.m);
	must(*foreign == 0);
	must(calls == 1);
}

/* The address is just behind a mapping of the library's, or just before it: the library does not handle it. */
static void neighbours_of_a_mapping_are_not_handled(void)
{
	unsigned char *volatile around;
	int fd = memfd_create("test", MFD_CLOEXEC);

	hold(SIGBUS, jump, 0);
	set_scene();
	must(ftruncate(fd, (off_t)page) == 0);
	for (int side = 0; side < 2; side++) {
		around = (unsigned char *)nnb_mapping_data(ours.m) +
		         (side ? (ptrdiff_t)(PAGES * page) : -(ptrdiff_t)page);
		must(mmap(around, page, RW, MAP_SHARED | MAP_FIXED, fd, 0) == around);
		truncate_file(fd, 0);
		if (sigsetjmp(out, 1) == 0) {
			(void)*(volatile unsigned char *)(side ? around : around + page - 1);
			_exit(1);
		}
		must(ftruncate(fd, (off_t)page) == 0);
	}
	_exit(0); /* the previous disposition of the signal is unknown here */
}

static void place_of_a_former_mapping_is_not_handled(void)
{
	unsigned char *was;
	int fd = memfd_create("test", MFD_CLOEXEC);

	hold(SIGBUS, SIG_DFL, 0);
	set_scene();
	was = nnb_mapping_data(ours.m);
	nnb_mapping_unref(ours.m);
	must(ftruncate(fd, (off_t)page) == 0);
	must(mmap(was, page, RW, MAP_SHARED | MAP_FIXED, fd, 0) == was);
	truncate_file(fd, 0);
	(void)*(volatile unsigned char *)was;
}

static unsigned char *splinters;

/* Split a mapping until the process may have no more pieces. */
static void use_up_the_pieces(void)
{
	size_t pages = 1 << 21;

	splinters = mmap(NULL, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(splinters != MAP_FAILED);
	for (size_t i = 1; i < pages; i += 2)
		if (mprotect(splinters + i * page, page, PROT_READ) < 0)
			return;
	_exit(SKIPPED); /* the limit is out of reach */
}

/*
 * At the limit the kernel refuses to split a mapping, but it makes one more. After that it makes none, not even
 * in place.
 */
static void use_up_one_piece_more(void)
{
	use_up_the_pieces();
	while (mmap(NULL, page, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		;
	must(errno == ENOMEM);
	must(mmap(splinters + page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED);
}

static void no_room_for_one_more_piece(void)
{
	struct victim readable;
	uint32_t mark;

	open_victim(&readable, IN_MEMORY, PROT_READ);
	set_scene();
	mark = nnb_mapping_mark(ours.m);
	truncate_file(ours.fd, 0);
	truncate_file(readable.fd, 0);
	use_up_the_pieces();
	for (size_t i = 1; i < PAGES + 1; i++)
		must(ours.data[i % PAGES * page] == 0 && readable.data[i % PAGES * page] == 0);
	must(ours.data[PAGES * page] == 0 && readable.data[PAGES * page] == 0);
	must(nnb_mapping_torn(ours.m, mark));
	must(nnb_mapping_torn(readable.m, 0));
	_exit(0); /* no other mapping fits either */
}

static void one_piece_more_than_the_kernel_allows(void)
{
	struct victim another;
	struct nnb_memory memory;

	if (!LIVES_WITHOUT_MAPPING)
		_exit(SKIPPED);
	open_victim(&another, IN_MEMORY, RW);
	set_scene();
	must(nnb_memory_mmap_fd(&memory, another.fd, PAGES * page, RW, 0) == 0);
	nnb_mapping_mark(ours.m);
	truncate_file(ours.fd, 0);
	truncate_file(another.fd, 0);
	use_up_one_piece_more();
	must(ours.data[page] == 0); /* a page of the reserve */
	while (mmap(NULL, page, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		;
	regrow(another.fd);
	munmap(splinters, 32 * page); /* enough room for the file, but not for the reserve */
	must(nnb_map(&another.m, &memory) == -ENOMEM);
	munmap(splinters, 4096 * page);
	must(nnb_map(&another.m, &memory) == 0);
	another.data = nnb_mapping_data(another.m);
	truncate_file(another.fd, 0);
	use_up_one_piece_more();
	must(another.data[3 * page] == 0);
	_exit(0);
}

static const struct scene {
	const char *name;
	void (*run)(void);
	int dies_of;
} scenes[] = {
	{ "the earlier handler gets a SIGBUS of other memory", earlier_handler_gets_sigbus_of_other_memory, 0 },
	{ "the earlier handler takes no siginfo", earlier_handler_takes_no_siginfo, 0 },
	{ "the earlier handler jumps out", earlier_handler_jumps_out, 0 },
	{ "the earlier handler is called once only", earlier_handler_is_called_once_only, SIGBUS },
	{ "the earlier handler touches a torn page", earlier_handler_touches_a_torn_page, 0 },
	{ "a signal in between touches a torn page", a_signal_in_between_touches_a_torn_page, 0 },
	{ "the earlier handler blocks SIGBUS and touches a torn page", earlier_handler_may_not_fault, SIGBUS },
	{ "a handler on an alternate stack", on_an_alternate_stack, 0 },
	{ "a SIGBUS of other memory is fatal without an earlier handler", no_earlier_handler, SIGBUS },
	{ "a SIGBUS of other memory is fatal though SIGBUS was ignored", sigbus_was_ignored, SIGBUS },
	{ "a SIGBUS that was sent is ignored as before", sent_while_sigbus_was_ignored, 0 },
	{ "a SIGBUS that was sent is fatal as before", sent_without_an_earlier_handler, SIGBUS },
	{ "a sent SIGBUS with an address of a mapping is not handled", sent_with_an_address_of_a_mapping, SIGBUS },
	{ "the pages next to a mapping are not handled", neighbours_of_a_mapping_are_not_handled, 0 },
	{ "the place of a former mapping is not handled", place_of_a_former_mapping_is_not_handled, SIGBUS },
	{ "no room for one more piece", no_room_for_one_more_piece, 0 },
	{ "one piece more than the kernel allows", one_piece_more_than_the_kernel_allows, 0 },
};

static void be_run_again(void *arg)
{
	const struct scene *s = arg;
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)(s - scenes));
	execl("/proc/self/exe", "test_memory_torn", number, NULL);
	_exit(1);
}

static void play_scene(void **state)
{
	const struct scene *s = *state;
	int status = reap(spawn(be_run_again, *state));

	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip();
	if (s->dies_of)
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == s->dies_of);
	else
		assert_int_equal(status, 0);
}

/* ---- the tests ---- */

struct bench {
	const struct row *row;
	enum where where;
};

static struct bench benches[2 * N_OF(rows)];

/*
 * cmocka replaces the SIGBUS handler for each test. The library installed its own with the first mapping, so
 * give it back.
 */
static struct sigaction of_the_library;

static void restore_library_handler(void)
{
	struct victim v;

	open_victim(&v, IN_MEMORY, RW);
	close_victim(&v);
	sigaction(SIGBUS, NULL, &of_the_library);
}

static void run_row(void **state)
{
	const struct bench *b = *state;
	unsigned fds = count_fds();
	struct victim v;

	sigaction(SIGBUS, &of_the_library, NULL);
	alarm(4 * WATCHDOG_S);
	open_victim(&v, b->where, RW);
	b->row->run(&v);
	close_victim(&v);
	alarm(0);
	assert_int_equal(count_fds(), fds);
}

int main(int argc, char **argv)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	if (argc > 1) {
		scenes[(size_t)atoi(argv[1]) % N_OF(scenes)].run();
		return 0;
	}
	restore_library_handler();
	for (size_t i = 0; i < N_OF(benches); i++) {
		benches[i] = (struct bench){ &rows[i / 2], i % 2 ? ON_DISK : IN_MEMORY };
		add_test(run_row, NULL, NULL, &benches[i], "%s (%s)", benches[i].row->name,
		         i % 2 ? "file on disk" : "memfd");
	}
	for (size_t i = 0; i < N_OF(scenes); i++)
		add_test(play_scene, NULL, NULL, (void *)&scenes[i], "%s", scenes[i].name);
	return _cmocka_run_group_tests("memory: torn", tests, n_tests, NULL, NULL);
}
