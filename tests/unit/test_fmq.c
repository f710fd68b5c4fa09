/*
 * test_fmq.c -- the queue within one process: libfmq's unit tests under their names, then the rules one by one.
 *
 * A row is either a script of steps, run on one handle and on two, or a function. Each runs in every
 * arrangement of its memory where that can make a difference. "F-17" names a rule of libfmq's behaviour that
 * the row shows.
 */
#include "fmq_helpers.h"

#include <limits.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum { N = 2048 }; /* elements of one byte, as many as in libfmq's tests */
#define SYNC NNB_FMQ_SYNCHRONIZED
#define UNSYNC NNB_FMQ_UNSYNCHRONIZED
#define FULL NNB_FMQ_FULL
#define EMPTY NNB_FMQ_EMPTY
#define OVERRUN NNB_FMQ_OVERRUN
#define UNTOUCHED ((struct nnb_fmq *)(uintptr_t)0x5a5a)

/* ---- scripts ---- */

enum op {
	END,
	WRITE,          /* nnb_fmq_write */
	WRITE_TX,       /* begin, copy_to, commit */
	WRITE_SLOTS,    /* begin, each element by its slot, commit */
	WRITE_REGIONS,  /* begin, straight into the regions, commit */
	WRITE_BLOCKING, /* nnb_fmq_write_blocking */
	READ,
	READ_TX,
	READ_SLOTS,
	READ_REGIONS,
	READ_BLOCKING,
	ROOM,   /* available_to_write is n */
	UNREAD, /* available_to_read is n */
};

struct step {
	enum op op;
	size_t n;
	int want;
};

struct bench;

/* The arrangements that make a difference to a row. */
enum where { EVERYWHERE, IN_SPREAD, IN_ONE_FILE, ONCE };

struct row {
	const char *name;
	const char *rules;
	struct nnb_fmq_config config;
	uint64_t base; /* start value of both counters */
	void (*run)(struct bench *);
	enum where where;
	struct step steps[16];
};

/* A row in an arrangement. */
struct bench {
	const struct row *row;
	const struct arrangement *in;
	bool two_handles;
	struct nnb_fmq *q;     /* the row's queue, on the writer's handle */
	struct nnb_fmq *other; /* the reader's handle: the same, or another one */
	struct raw raw;
};

static void assert_emptied(const struct nnb_fmq_tx *tx)
{
	assert_null(tx->first.base);
	assert_int_equal(tx->first.n, 0);
	assert_null(tx->second.base);
	assert_int_equal(tx->second.n, 0);
	assert_null(nnb_fmq_tx_slot(tx, 0));
}

/*
 * Expect @n elements in order: the second region is used only if the elements cross the ring's end, and begins
 * at the ring's start.
 */
static void assert_laid_out(const struct nnb_fmq_tx *tx, size_t n)
{
	assert_int_equal(tx->first.n + tx->second.n, n);
	assert_int_equal(tx->first.n > 0, n > 0);
	assert_int_equal(tx->first.base != NULL, n > 0);
	assert_int_equal(tx->second.base != NULL, tx->second.n > 0);
	assert_true(!tx->second.n || (unsigned char *)tx->second.base < (unsigned char *)tx->first.base);
}

static int write_by(struct nnb_fmq *q, enum op op, const unsigned char *src, size_t n)
{
	size_t size = nnb_fmq_elem_size(q);
	struct nnb_fmq_tx tx;
	int r;

	if (op == WRITE)
		return nnb_fmq_write(q, src, n);
	if (op == WRITE_BLOCKING)
		return nnb_fmq_write_blocking(q, src, n, PATIENCE);
	memset(&tx, 0xff, sizeof(tx));
	r = nnb_fmq_begin_write(q, n, &tx);
	if (r) {
		assert_emptied(&tx);
		return r;
	}
	assert_laid_out(&tx, n);
	if (op == WRITE_TX)
		assert_true(nnb_fmq_tx_copy_to(&tx, src, 0, n));
	for (size_t i = 0; op == WRITE_SLOTS && i < n; i++)
		memcpy(nnb_fmq_tx_slot(&tx, i), src + i * size, size);
	if (op == WRITE_REGIONS && tx.first.n)
		memcpy(tx.first.base, src, tx.first.n * size);
	if (op == WRITE_REGIONS && tx.second.n)
		memcpy(tx.second.base, src + tx.first.n * size, tx.second.n * size);
	return nnb_fmq_commit_write(q, n);
}

static int read_by(struct nnb_fmq *q, enum op op, unsigned char *dst, size_t n)
{
	size_t size = nnb_fmq_elem_size(q);
	struct nnb_fmq_tx tx;
	int r;

	if (op == READ)
		return nnb_fmq_read(q, dst, n);
	if (op == READ_BLOCKING)
		return nnb_fmq_read_blocking(q, dst, n, PATIENCE);
	memset(&tx, 0xff, sizeof(tx));
	r = nnb_fmq_begin_read(q, n, &tx);
	if (r) {
		assert_emptied(&tx);
		return r;
	}
	assert_laid_out(&tx, n);
	if (op == READ_TX)
		assert_true(nnb_fmq_tx_copy_from(&tx, dst, 0, n));
	for (size_t i = 0; op == READ_SLOTS && i < n; i++)
		memcpy(dst + i * size, nnb_fmq_tx_slot(&tx, i), size);
	if (op == READ_REGIONS && tx.first.n)
		memcpy(dst, tx.first.base, tx.first.n * size);
	if (op == READ_REGIONS && tx.second.n)
		memcpy(dst + tx.first.n * size, tx.second.base, tx.second.n * size);
	return nnb_fmq_commit_read(q, n);
}

/* How far a script has come, in elements. */
struct progress {
	uint64_t written, read;
};

static int take_step(const struct bench *b, const struct step *s, struct progress *at)
{
	size_t size = b->row->config.elem_size;
	unsigned char *is = test_malloc(s->n * size + 1);
	unsigned char *want = test_malloc(s->n * size + 1);
	int r;

	if (s->op < READ) {
		make_elements(is, size, at->written, s->n);
		r = write_by(b->q, s->op, is, s->n);
		at->written += r ? 0 : s->n;
	} else {
		make_elements(want, size, at->read, s->n);
		r = read_by(b->other, s->op, is, s->n);
		if (r == 0) {
			assert_memory_equal(is, want, s->n * size);
			at->read += s->n;
		} else if (r == OVERRUN) {
			at->read = at->written;
		}
	}
	test_free(is);
	test_free(want);
	return r;
}

static void run_steps(struct bench *b)
{
	struct progress at = { 0 };
	long is;
	long want;

	for (const struct step *s = b->row->steps; s->op; s++) {
		if (s->op == ROOM || s->op == UNREAD) {
			is = (long)(s->op == ROOM ? nnb_fmq_available_to_write(b->q)
			                          : nnb_fmq_available_to_read(b->other));
			want = (long)s->n;
		} else {
			is = take_step(b, s, &at);
			want = s->want;
		}
		if (is != want) {
			print_error("step %d gives %ld, not %ld\n", (int)(s - b->row->steps) + 1, is, want);
			fail();
		}
	}
}

/* ---- descriptors ---- */

static struct nnb_fmq_attach joining(size_t elem_size)
{
	return (struct nnb_fmq_attach){ .elem_size = elem_size, .keep_counters = true };
}

/* Attaching to @d must fail with @want, and leave no queue and no fd. */
static void refused(const struct nnb_fmq_desc *d, size_t elem_size, int want)
{
	struct nnb_fmq_attach how = joining(elem_size);
	struct nnb_fmq *q = UNTOUCHED;
	unsigned fds = count_fds();

	assert_int_equal(nnb_fmq_attach(&q, d, &how), want);
	assert_ptr_equal(q, UNTOUCHED);
	assert_int_equal(count_fds(), fds);
}

static void not_made(const struct bench *b, struct nnb_fmq_config config, int want)
{
	struct nnb_fmq *q = UNTOUCHED;
	unsigned fds = count_fds();

	assert_int_equal(new_queue(&q, config, b->in), want);
	assert_ptr_equal(q, UNTOUCHED);
	assert_int_equal(count_fds(), fds);
}

/* Encode @q's descriptor, and decode it. The fds are borrowed. */
static void convert(const struct nnb_fmq *q, struct nnb_fmq_desc *ret)
{
	unsigned char wire[NNB_FMQ_WIRE_MAX];
	struct nnb_fmq_desc d;
	int n;

	nnb_fmq_describe(q, &d);
	n = nnb_fmq_desc_encode(&d, wire, sizeof(wire));
	assert_true(n > 0);
	assert_int_equal(nnb_fmq_desc_decode(ret, wire, (size_t)n, d.fds, d.n_fds), 0);
}

/* A file of @bytes, and a descriptor of a u16 queue that lies in it from offset 0. */
static void make_file_by_hand(struct nnb_fmq_desc *d, size_t bytes)
{
	*d = (struct nnb_fmq_desc){ .quantum = 2, .flags = SYNC, .n_grantors = 3, .n_fds = 1 };
	for (unsigned i = 0; i < 3; i++)
		d->grantors[i].extent = bytes;
	d->fds[0] = new_file(bytes, F_SEAL_SHRINK);
}

static void too_large(struct bench *b)
{
	not_made(b, (struct nnb_fmq_config){ .elem_size = 2, .capacity = SIZE_MAX / 2 + 1, .flavour = SYNC }, -EINVAL);
}

static void too_large_signed(struct bench *b)
{
	not_made(b, (struct nnb_fmq_config){ .elem_size = 2, .capacity = SSIZE_MAX / 2 + 1, .flavour = SYNC }, -EINVAL);
	not_made(b, (struct nnb_fmq_config){ .elem_size = 2, .capacity = INT32_MAX / 2, .flavour = SYNC }, -EINVAL);
}

static void grantors_on_top_of_each_other(struct bench *b)
{
	struct nnb_fmq_attach how = { .elem_size = 2 };
	struct nnb_fmq *q;
	struct nnb_fmq_desc d;
	uint16_t element = 7;

	(void)b;
	make_file_by_hand(&d, 4096);
	assert_int_equal(nnb_fmq_attach(&q, &d, &how), 0);
	assert_int_equal(nnb_fmq_capacity(q), 2048);
	(void)nnb_fmq_write(q, &element, 1); /* the queue may spoil its own counters; it must not do anything worse */
	(void)nnb_fmq_read(q, &element, 1);
	nnb_fmq_free(q);
	nnb_fmq_desc_close(&d);
}

static void bad_fd_index(struct bench *b)
{
	struct nnb_fmq_desc d;

	(void)b;
	make_file_by_hand(&d, 4096);
	d.grantors[0].fd_index = 5;
	refused(&d, 2, -EINVAL);
	nnb_fmq_desc_close(&d);
}

static void extent_too_large(struct bench *b)
{
	struct nnb_fmq_desc d;

	(void)b;
	make_file_by_hand(&d, 4096);
	d.grantors[0].extent = 0xfffff041;
	refused(&d, 2, -EINVAL);
	nnb_fmq_desc_close(&d);
}

static void negative_quantum(struct bench *b)
{
	struct nnb_fmq_desc d;

	nnb_fmq_describe(b->q, &d);
	d.quantum = (uint32_t)-10;
	refused(&d, 2, -EINVAL);
	refused(&d, (uint32_t)-10, -EINVAL);
}

static void negative_extent(struct bench *b)
{
	struct nnb_fmq_desc d;

	for (unsigned i = 0; i < 4; i++) {
		nnb_fmq_describe(b->q, &d);
		d.grantors[i].extent = (uint64_t)-10;
		refused(&d, 2, -EINVAL);
	}
}

static void mismatched_quantum(struct bench *b)
{
	struct nnb_fmq_attach how = joining(2);
	struct nnb_fmq_desc d;
	struct nnb_fmq *q;

	nnb_fmq_describe(b->q, &d);
	d.quantum = 8;
	refused(&d, 2, -EINVAL);
	d.quantum = 2;
	refused(&d, 8, -EINVAL);
	assert_int_equal(nnb_fmq_attach(&q, &d, &how), 0);
	nnb_fmq_free(q);
}

static void converted_queue_carries_data(struct bench *b)
{
	struct nnb_fmq_attach how = joining(2);
	uint16_t in[4];
	uint16_t out[4];
	struct nnb_fmq_desc d;
	struct nnb_fmq *q;

	convert(b->q, &d);
	assert_int_equal(nnb_fmq_attach(&q, &d, &how), 0);
	assert_int_equal(nnb_fmq_capacity(q), 64);
	make_elements(in, 2, 0, 4);
	assert_int_equal(nnb_fmq_write(b->q, in, 4), 0);
	assert_int_equal(nnb_fmq_read(q, out, 4), 0);
	assert_memory_equal(in, out, sizeof(in));
	nnb_fmq_free(q);
}

static void two_converted_readers_read_all(struct bench *b)
{
	struct nnb_fmq_attach how = joining(2);
	struct nnb_fmq *readers[2];
	uint16_t in[4];
	struct nnb_fmq_desc d;

	convert(b->q, &d);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(nnb_fmq_attach(&readers[i], &d, &how), 0);
	make_elements(in, 2, 0, 4);
	assert_int_equal(nnb_fmq_write(b->q, in, 4), 0);
	for (unsigned i = 0; i < 2; i++) {
		uint16_t out[4] = { 0 };

		assert_int_equal(nnb_fmq_read(readers[i], out, 4), 0);
		assert_memory_equal(in, out, sizeof(in));
		assert_int_equal(nnb_fmq_available_to_read(readers[i]), 0);
		nnb_fmq_free(readers[i]);
	}
}

static void converted_fd_index_1(struct bench *b)
{
	struct nnb_fmq_attach how = joining(2);
	unsigned char wire[NNB_FMQ_WIRE_MAX];
	struct nnb_fmq_desc d;
	struct nnb_fmq_desc converted;
	struct nnb_fmq *q;
	int n;

	(void)b;
	make_file_by_hand(&d, 4096);
	d.fds[1] = d.fds[0];
	d.fds[0] = new_file(1, F_SEAL_SHRINK);
	d.n_fds = 2;
	for (unsigned i = 0; i < 3; i++)
		d.grantors[i].fd_index = 1;
	n = nnb_fmq_desc_encode(&d, wire, sizeof(wire));
	assert_true(n > 0);
	assert_int_equal(nnb_fmq_desc_decode(&converted, wire, (size_t)n, d.fds, 2), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(converted.grantors[i].fd_index, 1);
	assert_int_equal(nnb_fmq_attach(&q, &converted, &how), 0);
	nnb_fmq_free(q);
	nnb_fmq_desc_close(&d);
}

static void converted_fds_are_the_same(struct bench *b)
{
	struct nnb_fmq_desc d;
	struct nnb_fmq_desc converted;

	nnb_fmq_describe(b->q, &d);
	convert(b->q, &converted);
	assert_int_equal(converted.n_fds, b->in->two_fds ? 2 : 1);
	assert_int_equal(converted.n_fds, d.n_fds);
	for (unsigned i = 0; i < d.n_fds; i++)
		assert_int_equal(converted.fds[i], d.fds[i]);
	converted_queue_carries_data(b);
}

/* In a child: a failure while making a queue leaves no fd open. */
static void make_gigantic_queues(void *arg)
{
	const struct bench *b = arg;
	struct nnb_fmq_config invalid = { .elem_size = 2, .capacity = SSIZE_MAX / 2 + 1, .flavour = SYNC };
	struct nnb_fmq_config unmappable = { .elem_size = 2, .capacity = INT32_MAX / 2 - 4096, .flavour = SYNC };
	struct rlimit files = { 64, 64 };
	struct rlimit space;
	struct nnb_fmq *q = UNTOUCHED;
	unsigned long pages;
	unsigned fds;
	char text[64] = "";
	int fd;

	must(setrlimit(RLIMIT_NOFILE, &files) == 0);
	fds = count_fds();
	for (unsigned i = 0; i < files.rlim_cur + 2; i++)
		must(new_queue(&q, invalid, b->in) == -EINVAL);
	fd = open("/proc/self/statm", O_RDONLY);
	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	pages = strtoul(text, NULL, 10);
	space.rlim_cur = space.rlim_max = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (256 << 20);
	must(setrlimit(RLIMIT_AS, &space) == 0);
	for (unsigned i = 0; i < files.rlim_cur + 2; i++)
		must(new_queue(&q, unmappable, b->in) == -ENOMEM);
	must(q == UNTOUCHED);
	must(count_fds() == fds);
	must(open("/dev/null", O_RDONLY) >= 0);
}

static void gigantic_queues_leak_no_fds(struct bench *b)
{
	assert_int_equal(reap(spawn(make_gigantic_queues, b)), 0);
}

/* In a child: with @i free fds, making a queue fails and leaves no fd open; with enough, it succeeds. */
static void make_queues_with_few_fds(void *arg)
{
	const struct bench *b = arg;
	struct nnb_fmq_config config = { .elem_size = 2, .capacity = 64, .flavour = SYNC };
	struct nnb_fmq *q = UNTOUCHED;
	struct rlimit files = { 64, 64 };
	int spare[64];
	int n = 0;
	unsigned all;
	int r;

	must(setrlimit(RLIMIT_NOFILE, &files) == 0);
	config.layout = b->in->layout;
	if (b->in->two_fds) {
		config.ring_fd = new_file(128, 0);
		config.ring_fd_bytes = 128;
	}
	while ((spare[n] = open("/dev/null", O_RDONLY)) >= 0)
		n++;
	must(errno == EMFILE);
	all = count_fds();
	for (unsigned left = 0;; left++) {
		r = nnb_fmq_new(&q, &config);
		if (r == 0)
			break;
		must(r == -EMFILE && q == UNTOUCHED && count_fds() + left == all && left < 4);
		close(spare[--n]);
	}
	must(nnb_fmq_free(q) == NULL);
}

static void too_few_fds_leak_none(struct bench *b)
{
	assert_int_equal(reap(spawn(make_queues_with_few_fds, b)), 0);
}

/* ---- libfmq's rows about a second fd ---- */

/* A u16 queue of 64 elements in a ring of the caller's. */
static int with_ring(const struct bench *b, int fd, size_t bytes, struct nnb_fmq **ret)
{
	return nnb_fmq_new(ret, &(struct nnb_fmq_config){
					.elem_size = 2,
					.capacity = 64,
					.flavour = SYNC,
					.layout = b->in->layout,
					.ring_fd = fd,
					.ring_fd_bytes = bytes,
				});
}

static void ring_fd_is_closed(struct bench *b)
{
	struct nnb_fmq *q = UNTOUCHED;

	assert_int_equal(with_ring(b, closed_fd(), 128, &q), -EBADF);
	assert_ptr_equal(q, UNTOUCHED);
}

static void ring_fd_is_too_small(struct bench *b)
{
	struct nnb_fmq *q = UNTOUCHED;
	int fd = new_file(4096, 0);
	int small = new_file(120, 0);
	unsigned fds = count_fds();

	assert_int_equal(with_ring(b, fd, 128 - 8, &q), -EINVAL);
	assert_int_equal(with_ring(b, small, 128, &q), -EINVAL); /* F-8: the file's real size counts */
	assert_ptr_equal(q, UNTOUCHED);
	assert_int_equal(count_fds(), fds);
	close(fd);
	close(small);
}

static void ring_fd_is_larger(struct bench *b)
{
	int fd = new_file(128 + 8, 0);
	uint16_t in[64];
	uint16_t out[64];
	struct nnb_fmq *q;

	assert_int_equal(with_ring(b, fd, 128 + 8, &q), 0);
	assert_true(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK);
	close(fd);
	assert_int_equal(nnb_fmq_capacity(q), 64);
	make_elements(in, 2, 0, 64);
	assert_int_equal(nnb_fmq_write(q, in, 64), 0);
	assert_int_equal(nnb_fmq_write(q, in, 1), FULL);
	assert_int_equal(nnb_fmq_read(q, out, 64), 0);
	assert_memory_equal(in, out, sizeof(in));
	nnb_fmq_free(q);
}

static void ring_fd_cannot_be_sealed(struct bench *b)
{
	int ends[2];
	int fd = new_file(4096, F_SEAL_SEAL);
	struct nnb_fmq *q = UNTOUCHED;

	assert_int_equal(with_ring(b, fd, 128, &q), -EPERM);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(with_ring(b, ends[0], 128, &q), -EPERM);
	assert_ptr_equal(q, UNTOUCHED);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* ---- libfmq's rows about waiting ---- */

static int wait_then_read(struct actor *a)
{
	uint32_t bits;
	int r = nnb_event_flag_wait(nnb_fmq_event_flag(a->q), NNB_FMQ_NOT_EMPTY, &bits, PATIENCE, true);

	if (r || bits != NNB_FMQ_NOT_EMPTY)
		return r ? r : -EPROTO;
	r = nnb_fmq_read(a->q, a->arg, a->n);
	return r ? r : nnb_event_flag_wake(nnb_fmq_event_flag(a->q), NNB_FMQ_NOT_FULL);
}

static int read_blocking(struct actor *a)
{
	return nnb_fmq_read_blocking(a->q, a->arg, a->n, a->timeout_ns);
}

static int write_blocking(struct actor *a)
{
	return nnb_fmq_write_blocking(a->q, a->arg, a->n, a->timeout_ns);
}

static void reader_waits_for_the_bit(struct bench *b)
{
	unsigned char in[64];
	unsigned char out[64] = { 0 };
	struct actor reader = { .act = wait_then_read, .q = b->other, .arg = out, .n = 64 };
	uint32_t bits;

	make_elements(in, 1, 0, 64);
	start(&reader);
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL); /* libfmq's own test waits so long */
	assert_int_equal(nnb_fmq_write(b->q, in, 64), 0);
	assert_int_equal(nnb_event_flag_wake(nnb_fmq_event_flag(b->q), NNB_FMQ_NOT_EMPTY), 0);
	assert_int_equal(nnb_event_flag_wait(nnb_fmq_event_flag(b->q), NNB_FMQ_NOT_FULL, &bits, PATIENCE, true), 0);
	assert_int_equal(finish(&reader), 0);
	assert_memory_equal(in, out, 64);
}

static void blocking_write_meets_blocking_read(struct bench *b)
{
	unsigned char in[64];
	unsigned char out[64] = { 0 };
	struct actor reader = { .act = read_blocking, .q = b->other, .arg = out, .n = 64, .timeout_ns = PATIENCE };

	make_elements(in, 1, 0, 64);
	start(&reader);
	assert_int_equal(nnb_fmq_write_blocking(b->q, in, 64, PATIENCE), 0);
	assert_int_equal(finish(&reader), 0);
	assert_memory_equal(in, out, 64);
}

static void a_wait_without_a_wake_up_times_out(struct bench *b)
{
	uint64_t begin = now_ns();
	uint32_t bits = 1;

	assert_int_equal(nnb_event_flag_wait(nnb_fmq_event_flag(b->q), NNB_FMQ_NOT_EMPTY, &bits, 1000 * MS, true),
	                 NNB_EVENT_TIMED_OUT);
	assert_true(now_ns() - begin >= 1000 * MS);
	assert_int_equal(bits, 0);
}

/* ---- layout ---- */

/* F-7, F-8: the layout of a queue of that element size and capacity. */
static void placement(struct bench *b)
{
	static const struct {
		size_t elem_size, capacity;
	} sizes[] = { { 1, 1 }, { 1, 2049 }, { 3, 5 }, { 8, 64 }, { 12, 7 }, { 24, 341 } };
	static const bool flag[] = { false, true };

	for (size_t i = 0; i < 2 * N_OF(sizes); i++) {
		size_t bytes = sizes[i / 2].elem_size * sizes[i / 2].capacity;
		struct nnb_fmq_config config = {
			.elem_size = sizes[i / 2].elem_size,
			.capacity = sizes[i / 2].capacity,
			.flavour = SYNC,
			.event_flag = flag[i % 2],
		};
		const struct nnb_fmq_grantor *g;
		struct nnb_fmq_desc d;
		struct nnb_fmq *q;
		struct stat st;

		assert_int_equal(new_queue(&q, config, b->in), 0);
		nnb_fmq_describe(q, &d);
		g = d.grantors;
		assert_int_equal(d.quantum, config.elem_size);
		assert_int_equal(d.flags, SYNC);
		assert_int_equal(d.n_fds, b->in->two_fds ? 2 : 1);
		assert_int_equal(g[NNB_FMQ_READ_COUNTER].extent, 8);
		assert_int_equal(g[NNB_FMQ_WRITE_COUNTER].extent, 8);
		assert_int_equal(g[NNB_FMQ_RING].extent, bytes);
		assert_int_equal(g[NNB_FMQ_RING].fd_index, b->in->two_fds ? 1 : 0);
		assert_int_equal(g[NNB_FMQ_READ_COUNTER].offset, 0);
		if (b->in->layout == NNB_FMQ_LAYOUT_PACKED) {
			uint32_t behind = b->in->two_fds ? 16 : (uint32_t)(16 + bytes + 7) / 8 * 8;

			assert_int_equal(d.n_grantors, flag[i % 2] ? 4 : 3);
			assert_int_equal(g[NNB_FMQ_WRITE_COUNTER].offset, 8);
			assert_int_equal(g[NNB_FMQ_RING].offset, b->in->two_fds ? 0 : 16);
			if (flag[i % 2]) {
				assert_int_equal(g[NNB_FMQ_EVENT_FLAG].offset, behind);
				assert_int_equal(g[NNB_FMQ_EVENT_FLAG].extent, 4);
			}
		}
		for (unsigned k = 0; k < d.n_grantors; k++) {
			assert_int_equal(g[k].flags, 0);
			assert_int_equal(g[k].zero, 0);
			assert_int_equal(g[k].offset % 8, 0);
			assert_int_equal(fstat(d.fds[g[k].fd_index], &st), 0);
			assert_true(g[k].offset + g[k].extent <= (uint64_t)st.st_size);
			for (unsigned j = 0; j < k; j++)
				assert_true(g[j].fd_index != g[k].fd_index ||
				            g[j].offset + g[j].extent <= g[k].offset ||
				            g[k].offset + g[k].extent <= g[j].offset);
		}
		assert_int_equal(fstat(d.fds[0], &st), 0);
		assert_int_equal(st.st_size % sysconf(_SC_PAGESIZE), 0);
		for (unsigned k = 0; k < d.n_fds; k++) {
			assert_true(fcntl(d.fds[k], F_GET_SEALS) & F_SEAL_SHRINK);
			assert_true(fcntl(d.fds[k], F_GETFD) & FD_CLOEXEC);
		}
		assert_int_equal(nnb_fmq_capacity(q), config.capacity);
		assert_int_equal(nnb_fmq_elem_size(q), config.elem_size);
		assert_int_equal(nnb_fmq_flavour(q), SYNC);
		nnb_fmq_free(q);
	}
}

static void misaligned_offset(struct bench *b)
{
	struct nnb_fmq_desc d;

	for (unsigned i = 0; i < 4; i++)
		for (uint32_t off = 1; off < 8; off++) {
			nnb_fmq_describe(b->q, &d);
			d.grantors[i].offset += off;
			refused(&d, 8, -EINVAL);
		}
}

/* ---- F-10: each cause ---- */

static void impossible_configs(struct bench *b)
{
	static const struct nnb_fmq_config configs[] = {
		{ .elem_size = 8, .capacity = 0, .flavour = SYNC },
		{ .elem_size = 0, .capacity = 8, .flavour = SYNC },
		{ .elem_size = 8, .capacity = SIZE_MAX / 8 + 1, .flavour = SYNC },
		{ .elem_size = SIZE_MAX, .capacity = 2, .flavour = SYNC },
		{ .elem_size = SIZE_MAX, .capacity = 1, .flavour = SYNC },
		{ .elem_size = 1, .capacity = INT32_MAX, .flavour = SYNC },
		{ .elem_size = 1, .capacity = UINT32_C(1) << 31, .flavour = SYNC },
		{ .elem_size = UINT32_C(1) << 31, .capacity = 1, .flavour = SYNC },
		{ .elem_size = 8, .capacity = 8 },
		{ .elem_size = 8, .capacity = 8, .flavour = 3 },
	};

	for (size_t i = 0; i < N_OF(configs); i++)
		not_made(b, configs[i], -EINVAL);
	assert_int_equal(
		nnb_fmq_new(&b->other,
	                    &(struct nnb_fmq_config){ .elem_size = 8, .capacity = 8, .flavour = SYNC, .layout = 2 }),
		-EINVAL);
}

struct spoil {
	const char *name;
	size_t at; /* offset in the descriptor */
	size_t size;
	uint64_t value;
};

#define FIELD(f) offsetof(struct nnb_fmq_desc, f), sizeof(((struct nnb_fmq_desc *)NULL)->f)

static const struct spoil spoils[] = {
	{ "no quantum", FIELD(quantum), 0 },
	{ "quantum of another type", FIELD(quantum), 4 },
	{ "no flavour", FIELD(flags), 0 },
	{ "unknown flavour", FIELD(flags), 3 },
	{ "no grantors", FIELD(n_grantors), 0 },
	{ "no ring", FIELD(n_grantors), 2 },
	{ "too many grantors", FIELD(n_grantors), NNB_FMQ_MAX_GRANTORS + 1 },
	{ "far too many grantors", FIELD(n_grantors), UINT32_MAX },
	{ "no fds", FIELD(n_fds), 0 },
	{ "too many fds", FIELD(n_fds), NNB_FMQ_MAX_FDS + 1 },
	{ "far too many fds", FIELD(n_fds), UINT32_MAX },
	{ "short read counter", FIELD(grantors[0].extent), 7 },
	{ "short write counter", FIELD(grantors[1].extent), 7 },
	{ "short flag", FIELD(grantors[3].extent), 3 },
	{ "no room in the ring", FIELD(grantors[2].extent), 0 },
	{ "less than an element of ring", FIELD(grantors[2].extent), 7 },
	{ "ring beyond the file", FIELD(grantors[2].extent), 1 << 20 },
	{ "ring of 2 GiB less a page and more", FIELD(grantors[2].extent), INT32_MAX - 4096 + 1 },
	{ "ring of 2 GiB", FIELD(grantors[2].extent), UINT64_C(1) << 31 },
	{ "ring of all memory", FIELD(grantors[2].extent), UINT64_MAX - 7 },
	{ "counter of all memory", FIELD(grantors[0].extent), UINT64_MAX },
	{ "flag of all memory", FIELD(grantors[3].extent), UINT64_MAX },
	{ "read counter in no file", FIELD(grantors[0].fd_index), 2 },
	{ "write counter in no file", FIELD(grantors[1].fd_index), UINT32_MAX },
	{ "ring in no file", FIELD(grantors[2].fd_index), 4 },
	{ "flag in no file", FIELD(grantors[3].fd_index), 5 },
	{ "read counter behind its file", FIELD(grantors[0].offset), 1 << 20 },
	{ "write counter across its file's end", FIELD(grantors[1].offset), 4096 * 5 },
	{ "ring behind its file", FIELD(grantors[2].offset), 1 << 20 },
	{ "flag behind its file", FIELD(grantors[3].offset), 1 << 20 },
	{ "negative offset", FIELD(grantors[0].offset), (uint32_t)-8 },
	{ "closed file", FIELD(fds[0]), 0xffffffff },
};

static void spoilt_descriptors(struct bench *b)
{
	struct nnb_fmq_desc good;
	struct nnb_fmq_desc d;
	struct nnb_fmq *q;

	nnb_fmq_describe(b->q, &good);
	for (size_t i = 0; i < N_OF(spoils); i++) {
		const struct spoil *s = &spoils[i];
		struct nnb_fmq_attach how = joining(8);
		unsigned fds = count_fds();
		int r;

		d = good;
		memcpy((unsigned char *)&d + s->at, &s->value, s->size); /* little-endian */
		q = UNTOUCHED;
		r = nnb_fmq_attach(&q, &d, &how);
		if (r != (s->at == offsetof(struct nnb_fmq_desc, fds) ? -EBADF : -EINVAL) || q != UNTOUCHED)
			fail_msg("%s: %d", s->name, r);
		assert_int_equal(count_fds(), fds);
	}
	assert_int_equal(join_queue(&q, b->q), 0);
	nnb_fmq_free(q);
}

/* Files that another process could truncate, fds that are not files, and files that are too small. */
static void unfit_files(struct bench *b)
{
	struct nnb_fmq_desc d;
	int ends[2];
	int bad[] = { new_file(1 << 16, 0),
		      new_file(1 << 16, F_SEAL_GROW | F_SEAL_WRITE),
		      new_file(8, F_SEAL_SHRINK),
		      closed_fd(),
		      -1,
		      open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
		      0,
		      0 };
	int want[] = { -EPERM, -EPERM, -EINVAL, -EBADF, -EBADF, -EPERM, -EPERM, -EPERM };

	assert_int_equal(pipe(ends), 0);
	bad[6] = ends[0];
	bad[7] = socket(AF_UNIX, SOCK_STREAM, 0);
	for (size_t i = 0; i < N_OF(bad); i++)
		for (unsigned f = 0; f < (b->in->two_fds ? 2 : 1); f++) {
			nnb_fmq_describe(b->q, &d);
			d.fds[f] = bad[i];
			refused(&d, 8, want[i]);
		}
	for (size_t i = 0; i < N_OF(bad); i++)
		close(bad[i]);
	close(ends[1]);
}

static void freeing_null_is_fine(struct bench *b)
{
	assert_null(nnb_fmq_free(NULL));
	nnb_fmq_freep(&b->other);
	assert_null(b->other);
	nnb_fmq_freep(&b->other);
}

/* ---- F-12: readers that may only read ---- */

static void reopened_read_only(struct bench *b)
{
	struct nnb_fmq_attach how = joining(8);
	struct nnb_fmq_tx tx = { .elem_size = 1 };
	struct nnb_fmq_desc d;
	struct nnb_fmq *reader;
	uint64_t in[4];
	uint64_t out[4];

	nnb_fmq_describe(b->q, &d);
	for (unsigned i = 0; i < d.n_fds; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", d.fds[i]);
		d.fds[i] = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(d.fds[i] >= 0);
	}
	assert_int_equal(nnb_fmq_attach(&reader, &d, &how), 0);
	make_elements(in, 8, 0, 4);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(nnb_fmq_write(b->q, in, 4), 0);
		assert_int_equal(nnb_fmq_read(reader, out, 4), 0);
		assert_memory_equal(in, out, sizeof(in));
	}
	assert_int_equal(nnb_fmq_write(reader, in, 1), -EACCES);
	assert_int_equal(nnb_fmq_begin_write(reader, 1, &tx), -EACCES);
	assert_emptied(&tx);
	nnb_fmq_free(reader);
	how.keep_counters = false; /* a reader may not reset the write counter, but it may begin at 0 */
	assert_int_equal(nnb_fmq_attach(&reader, &d, &how), 0);
	assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_WRITE_COUNTER), 20 * 8);
	assert_int_equal(nnb_fmq_read(reader, out, 1), OVERRUN);
	nnb_fmq_free(reader);
	nnb_fmq_desc_close(&d);
}

static void sealed_against_future_writers(struct bench *b)
{
	struct nnb_fmq_attach how = joining(8);
	struct nnb_fmq *writer;
	struct nnb_fmq *reader;
	struct nnb_fmq_desc d;
	uint64_t in[4];
	uint64_t out[4];

	nnb_fmq_describe(b->q, &d);
	for (unsigned i = 0; i < d.n_fds; i++)
		d.fds[i] = new_file(b->raw.bytes[i], F_SEAL_SHRINK);
	assert_int_equal(nnb_fmq_attach(&writer, &d, &how), 0);
	for (unsigned i = 0; i < d.n_fds; i++)
		assert_int_equal(fcntl(d.fds[i], F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	assert_int_equal(nnb_fmq_attach(&reader, &d, &how), 0);
	make_elements(in, 8, 0, 4);
	assert_int_equal(nnb_fmq_write(writer, in, 4), 0);
	assert_int_equal(nnb_fmq_write(reader, in, 1), -EACCES);
	assert_int_equal(nnb_fmq_read(reader, out, 4), 0);
	assert_memory_equal(in, out, sizeof(in));
	nnb_fmq_free(reader);
	nnb_fmq_free(writer);
	nnb_fmq_desc_close(&d);
}

static void synchronized_reader_must_write(struct bench *b)
{
	struct nnb_fmq_desc d;
	char path[64];

	nnb_fmq_describe(b->q, &d);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", d.fds[0]);
	d.fds[0] = open(path, O_RDONLY | O_CLOEXEC);
	refused(&d, 8, -EACCES);
	close(d.fds[0]);
}

/* ---- F-13: joining and starting over ---- */

static void attach_keeps_or_resets(struct bench *b)
{
	bool sync = b->row->config.flavour == SYNC;
	struct nnb_fmq_attach how = joining(8);
	uint64_t in[8];
	uint64_t out[8];
	struct nnb_fmq *q;
	struct nnb_fmq_desc d;

	make_elements(in, 8, 0, 8);
	nnb_fmq_describe(b->q, &d);
	assert_int_equal(nnb_fmq_write(b->q, in, 5), 0);
	assert_int_equal(nnb_fmq_read(b->q, out, 2), 0);
	assert_int_equal(nnb_fmq_attach(&q, &d, &how), 0);
	assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_WRITE_COUNTER), 5 * 8);
	assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_READ_COUNTER), sync ? 2 * 8 : 0);
	assert_int_equal(nnb_fmq_available_to_read(q), sync ? 3 : 5); /* an unsynchronized reader begins at 0 */
	assert_int_equal(nnb_fmq_read(q, out, sync ? 3 : 5), 0);
	assert_memory_equal(out, in + (sync ? 2 : 0), (sync ? 3 : 5) * 8);
	nnb_fmq_free(q);

	assert_int_equal(nnb_fmq_write(b->q, in, 1), 0);
	how.keep_counters = false;
	assert_int_equal(nnb_fmq_attach(&q, &d, &how), 0);
	assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_WRITE_COUNTER), 0);
	assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_READ_COUNTER), 0);
	assert_int_equal(nnb_fmq_available_to_read(q), 0);
	assert_int_equal(nnb_fmq_read(q, out, 1), EMPTY);
	assert_int_equal(nnb_fmq_write(q, in, 8), 0);
	assert_int_equal(nnb_fmq_read(q, out, 8), 0);
	assert_memory_equal(out, in, 8 * 8);
	nnb_fmq_free(q);
}

/* ---- F-5, F-15, F-16, F-18: impossible counters ---- */

/* Set the counters of a queue of 8 elements. */
static void counters_are(struct bench *b, uint64_t rd, uint64_t wr)
{
	atomic_store(raw_counter(&b->raw, NNB_FMQ_READ_COUNTER), rd);
	atomic_store(raw_counter(&b->raw, NNB_FMQ_WRITE_COUNTER), wr);
}

static void misaligned_counters(struct bench *b)
{
	size_t size = b->row->config.elem_size;
	bool sync = b->row->config.flavour == SYNC;
	const struct {
		uint64_t rd, wr;
	} spoilt[] = { { 0, 1 },
		       { 0, size - 1 },
		       { 0, size + 1 },
		       { 1, size },
		       { size + 1, 3 * size },
		       { size, 3 * size + 1 },
		       { 1, 1 },
		       { size - 1, 2 * size - 1 },
		       { 0, 8 * size - 1 } };
	unsigned char *space = test_calloc(8, size);
	struct nnb_fmq_tx tx;

	for (size_t i = 0; i < N_OF(spoilt); i++) {
		struct nnb_fmq *q;

		if (!sync && spoilt[i].wr % size == 0)
			continue; /* an unsynchronized reader has a read counter of its own */
		counters_are(b, spoilt[i].rd, spoilt[i].wr);
		assert_int_equal(join_queue(&q, b->q), 0);
		assert_int_equal(nnb_fmq_read(q, space, 1), -EBADMSG);
		assert_int_equal(nnb_fmq_write(q, space, 1), -EBADMSG);
		memset(&tx, 0xff, sizeof(tx));
		assert_int_equal(nnb_fmq_begin_read(q, 1, &tx), -EBADMSG);
		assert_emptied(&tx);
		memset(&tx, 0xff, sizeof(tx));
		assert_int_equal(nnb_fmq_begin_write(q, 1, &tx), -EBADMSG);
		assert_emptied(&tx);
		if (sync) {
			assert_int_equal(nnb_fmq_available_to_read(q), 0);
			assert_int_equal(nnb_fmq_available_to_write(q), 0);
			assert_int_equal(nnb_fmq_read_blocking(q, space, 1, PATIENCE), -EBADMSG);
			assert_int_equal(nnb_fmq_write_blocking(q, space, 1, PATIENCE), -EBADMSG);
		}
		assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_READ_COUNTER), spoilt[i].rd);
		assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_WRITE_COUNTER), spoilt[i].wr);
		nnb_fmq_free(q);
	}
	test_free(space);
}

static void impossible_counters(struct bench *b)
{
	static const struct {
		uint64_t rd, wr;
	} spoilt[] = { { 0, 9 * 8 },
		       { 8, 0 },
		       { 800, 0 },
		       { 0, UINT64_MAX - 7 },
		       { 16, 16 + 9 * 8 },
		       { UINT64_MAX - 7, 8 * 8 },
		       { 0, UINT64_C(1) << 63 } };
	uint64_t in[8];
	uint64_t out[8];

	make_elements(in, 8, 0, 8);
	for (size_t i = 0; i < N_OF(spoilt); i++) {
		struct nnb_fmq *q;

		counters_are(b, spoilt[i].rd, spoilt[i].wr);
		assert_int_equal(join_queue(&q, b->q), 0);
		assert_int_equal(nnb_fmq_available_to_read(q), 0);
		assert_int_equal(nnb_fmq_available_to_write(q), 0);
		assert_int_equal(nnb_fmq_write(q, in, 1), -EBADMSG);
		assert_int_equal(nnb_fmq_write_blocking(q, in, 1, PATIENCE), -EBADMSG);
		assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_WRITE_COUNTER), spoilt[i].wr);
		assert_int_equal(nnb_fmq_read(q, out, 1), -EBADMSG);
		/* F-18: the reader drops everything, so the counters agree again. */
		assert_int_equal(*raw_counter(&b->raw, NNB_FMQ_READ_COUNTER), spoilt[i].wr);
		assert_int_equal(nnb_fmq_read(q, out, 1), EMPTY);
		assert_int_equal(nnb_fmq_write(q, in, 8), 0);
		assert_int_equal(nnb_fmq_read(q, out, 8), 0);
		assert_memory_equal(in, out, sizeof(in));
		nnb_fmq_free(q);
	}
}

static void unsynchronized_reader_ahead(struct bench *b)
{
	uint64_t out[8] = { 0 };

	assert_int_equal(nnb_fmq_write(b->q, out, 8), 0);
	assert_int_equal(nnb_fmq_read(b->other, out, 8), 0);
	counters_are(b, 0, 8); /* the writer went back */
	assert_int_equal(nnb_fmq_available_to_read(b->other), 0);
	assert_int_equal(nnb_fmq_read(b->other, out, 1), OVERRUN);
	assert_int_equal(nnb_fmq_read(b->other, out, 1), EMPTY);
}

/* ---- F-17 to F-20: transactions ---- */

static void transactions_refuse_too_much(struct bench *b)
{
	uint64_t in[8];
	uint64_t out[8];
	struct nnb_fmq_tx tx;

	make_elements(in, 8, 0, 8);
	assert_int_equal(nnb_fmq_commit_write(b->q, 1), -EINVAL); /* no write was begun */
	assert_int_equal(nnb_fmq_commit_read(b->other, 1), -EINVAL);
	assert_int_equal(nnb_fmq_commit_write(b->q, 0), 0);
	assert_int_equal(nnb_fmq_commit_read(b->other, 0), 0);

	assert_int_equal(nnb_fmq_begin_write(b->q, 5, &tx), 0);
	assert_int_equal(nnb_fmq_commit_write(b->q, 6), -EINVAL);
	assert_int_equal(nnb_fmq_available_to_read(b->other), 0);
	assert_int_equal(nnb_fmq_begin_write(b->q, 4, &tx), 0); /* a second begin replaces the first */
	assert_int_equal(nnb_fmq_commit_write(b->q, 5), -EINVAL);
	assert_true(nnb_fmq_tx_copy_to(&tx, in, 0, 4));
	assert_int_equal(nnb_fmq_commit_write(b->q, 3), 0); /* fewer elements than begun */
	assert_int_equal(nnb_fmq_commit_write(b->q, 1), -EINVAL);
	assert_int_equal(nnb_fmq_available_to_read(b->other), 3);

	assert_int_equal(nnb_fmq_begin_read(b->other, 3, &tx), 0);
	assert_int_equal(nnb_fmq_commit_read(b->other, 4), -EINVAL);
	assert_true(nnb_fmq_tx_copy_from(&tx, out, 0, 3));
	assert_memory_equal(in, out, 3 * 8);
	assert_int_equal(nnb_fmq_commit_read(b->other, 1), 0);
	assert_int_equal(nnb_fmq_commit_read(b->other, 1), -EINVAL);
	assert_int_equal(nnb_fmq_read(b->other, out, 2), 0);
	assert_memory_equal(in + 1, out, 2 * 8);

	assert_int_equal(nnb_fmq_begin_write(b->q, 2, &tx), 0);
	/* a failed begin ends the earlier transaction */
	assert_int_equal(nnb_fmq_begin_write(b->q, 9, &tx), -EMSGSIZE);
	assert_int_equal(nnb_fmq_commit_write(b->q, 1), -EINVAL);
}

static void lapped_while_reading(struct bench *b)
{
	uint64_t in[8];
	uint64_t out[8];
	struct nnb_fmq_tx tx;

	make_elements(in, 8, 0, 8);
	assert_int_equal(nnb_fmq_write(b->q, in, 8), 0);
	assert_int_equal(nnb_fmq_begin_read(b->other, 4, &tx), 0);
	assert_int_equal(nnb_fmq_write(b->q, in, 1), 0);
	assert_int_equal(nnb_fmq_commit_read(b->other, 4), OVERRUN);
	assert_int_equal(nnb_fmq_available_to_read(b->other), 0); /* the reader drops all elements */
	assert_int_equal(nnb_fmq_write(b->q, in + 2, 2), 0);
	assert_int_equal(nnb_fmq_begin_read(b->other, 2, &tx), 0);
	assert_int_equal(nnb_fmq_write(b->q, in, 6), 0); /* one element less than a lap */
	assert_true(nnb_fmq_tx_copy_from(&tx, out, 0, 2));
	assert_int_equal(nnb_fmq_commit_read(b->other, 2), 0);
	assert_memory_equal(in + 2, out, 2 * 8);
}

/* libfmq's layout has no field that would announce the write. */
static void lapped_by_a_write_under_way(struct bench *b)
{
	uint64_t in[8] = { 0 };
	struct nnb_fmq_tx w;
	struct nnb_fmq_tx r;

	assert_int_equal(nnb_fmq_write(b->q, in, 8), 0);
	assert_int_equal(nnb_fmq_begin_read(b->other, 4, &r), 0);
	assert_int_equal(nnb_fmq_begin_write(b->q, 1, &w), 0);
	assert_int_equal(nnb_fmq_commit_read(b->other, 4), OVERRUN);
	assert_int_equal(nnb_fmq_commit_write(b->q, 1), 0);
	assert_int_equal(nnb_fmq_available_to_read(b->other), 1);
	assert_int_equal(nnb_fmq_read(b->other, in, 1), 0);
}

static void counts_that_overflow(struct bench *b)
{
	size_t size = b->row->config.elem_size;
	const size_t counts[] = {
		SIZE_MAX, SIZE_MAX / size, SIZE_MAX / size + 1, SIZE_MAX / size + 2, SIZE_MAX / 2, SIZE_MAX - 1,
		9,        SIZE_MAX / 2 + 1
	};
	unsigned char *space = test_calloc(8, size);
	struct nnb_fmq_tx tx;

	assert_int_equal(nnb_fmq_write(b->q, space, 8), 0);
	for (size_t i = 0; i < N_OF(counts); i++) {
		assert_int_equal(nnb_fmq_write(b->q, space, counts[i]), -EMSGSIZE);
		assert_int_equal(nnb_fmq_read(b->other, space, counts[i]), -EMSGSIZE);
		memset(&tx, 0xff, sizeof(tx));
		assert_int_equal(nnb_fmq_begin_write(b->q, counts[i], &tx), -EMSGSIZE);
		assert_emptied(&tx);
		memset(&tx, 0xff, sizeof(tx));
		assert_int_equal(nnb_fmq_begin_read(b->other, counts[i], &tx), -EMSGSIZE);
		assert_emptied(&tx);
	}
	assert_int_equal(nnb_fmq_available_to_read(b->other), 8);
	test_free(space);
}

static const struct {
	size_t start, n;
	bool fits;
} ranges[] = {
	{ 0, 4, true },
	{ 4, 0, true },
	{ 0, 0, true },
	{ 1, 2, true },
	{ 2, 2, true },
	{ 3, 1, true },
	{ 0, 2, true },
	{ 1, 3, true },
	{ 5, 0, false },
	{ 0, 5, false },
	{ 3, 2, false },
	{ 4, 1, false },
	{ 2, 3, false },
	{ SIZE_MAX, 1, false },
	{ 1, SIZE_MAX, false },
	{ 2, SIZE_MAX - 1, false },
	{ SIZE_MAX, SIZE_MAX, false },
};

/* A transaction of 4 elements of 12 bytes, two of them before the ring's end. */
static void transaction_bounds(struct bench *b)
{
	unsigned char in[5 * 12];
	unsigned char out[5 * 12];
	unsigned char nothing[5 * 12];
	struct nnb_fmq_tx tx;

	make_elements(in, 12, 0, 5);
	assert_int_equal(nnb_fmq_write(b->q, in, 3), 0);
	assert_int_equal(nnb_fmq_read(b->other, out, 3), 0);
	assert_int_equal(nnb_fmq_begin_write(b->q, 4, &tx), 0);
	assert_int_equal(tx.first.n, 2);
	assert_int_equal(tx.second.n, 2);
	assert_int_equal((unsigned char *)tx.first.base - (unsigned char *)tx.second.base, 3 * 12);
	for (size_t i = 0; i < 4; i++)
		assert_ptr_equal(nnb_fmq_tx_slot(&tx, i),
		                 (unsigned char *)(i < 2 ? tx.first.base : tx.second.base) + i % 2 * 12);
	assert_null(nnb_fmq_tx_slot(&tx, 4));
	assert_null(nnb_fmq_tx_slot(&tx, 5));
	assert_null(nnb_fmq_tx_slot(&tx, SIZE_MAX));
	assert_false(nnb_fmq_tx_copy_to(&tx, NULL, 0, 1));
	assert_false(nnb_fmq_tx_copy_from(&tx, NULL, 0, 1));
	memset(nothing, 0xee, sizeof(nothing));
	for (size_t i = 0; i < N_OF(ranges); i++) {
		size_t start = ranges[i].start;
		size_t n = ranges[i].n;

		memset(tx.first.base, 0xee, 2 * 12);
		memset(tx.second.base, 0xee, 2 * 12);
		assert_int_equal(nnb_fmq_tx_copy_to(&tx, in, start, n), ranges[i].fits);
		memset(out, 0xee, sizeof(out));
		memcpy(out, tx.first.base, 2 * 12);
		memcpy(out + 2 * 12, tx.second.base, 2 * 12);
		if (ranges[i].fits) {
			assert_memory_equal(out + start * 12, in, n * 12);
			memset(out + start * 12, 0xee, n * 12);
		}
		assert_memory_equal(out, nothing, sizeof(out));
		assert_true(nnb_fmq_tx_copy_to(&tx, in, 0, 4));
		assert_int_equal(nnb_fmq_tx_copy_from(&tx, out, start, n), ranges[i].fits);
		if (ranges[i].fits) {
			assert_memory_equal(out, in + start * 12, n * 12);
			memset(out, 0xee, n * 12);
		}
		assert_memory_equal(out, nothing, sizeof(out));
	}
	assert_int_equal(nnb_fmq_commit_write(b->q, 4), 0);
	assert_int_equal(nnb_fmq_read(b->other, out, 4), 0);
	assert_memory_equal(out, in, 4 * 12);
}

/* ---- F-26 to F-31: waiting ---- */

static int call_write(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	uint64_t space[16] = { 0 };

	return nnb_fmq_write_blocking_with(q, space, n, mask, NNB_FMQ_NOT_EMPTY, PATIENCE, NULL);
}

static int call_read(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	uint64_t space[16];

	return nnb_fmq_read_blocking_with(q, space, n, NNB_FMQ_NOT_FULL, mask, PATIENCE, NULL);
}

static int call_write_short(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	uint64_t space[16] = { 0 };

	(void)mask;
	return nnb_fmq_write_blocking(q, space, n, PATIENCE);
}

static int call_read_short(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	uint64_t space[16];

	(void)mask;
	return nnb_fmq_read_blocking(q, space, n, PATIENCE);
}

static int call_begin_write(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	struct nnb_fmq_tx tx;
	int r = nnb_fmq_begin_write_blocking(q, n, PATIENCE, &tx);

	(void)mask;
	if (r)
		assert_emptied(&tx);
	return r;
}

static int call_begin_read(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	struct nnb_fmq_tx tx;
	int r = nnb_fmq_begin_read_blocking(q, n, PATIENCE, &tx);

	(void)mask;
	if (r)
		assert_emptied(&tx);
	return r;
}

static int call_commit_write(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	(void)mask;
	return nnb_fmq_commit_write_and_wake(q, n);
}

static int call_commit_read(struct nnb_fmq *q, size_t n, uint32_t mask)
{
	(void)mask;
	return nnb_fmq_commit_read_and_wake(q, n);
}

static const struct {
	const char *name;
	int (*call)(struct nnb_fmq *, size_t n, uint32_t mask);
	bool has_mask, can_be_too_long;
} blocking_calls[] = {
	{ "write_blocking_with", call_write, true, true },
	{ "read_blocking_with", call_read, true, true },
	{ "write_blocking", call_write_short, false, true },
	{ "read_blocking", call_read_short, false, true },
	{ "begin_write_blocking", call_begin_write, false, true },
	{ "begin_read_blocking", call_begin_read, false, true },
	{ "commit_write_and_wake", call_commit_write, false, false },
	{ "commit_read_and_wake", call_commit_read, false, false },
};

/* The queue is half full, so none of the calls has to wait. */
static void all_blocking_calls_give(struct bench *b, size_t n, uint32_t mask, int want)
{
	uint64_t some[4] = { 0 };

	assert_int_equal(nnb_fmq_write(b->q, some, 4), 0);
	for (size_t i = 0; i < N_OF(blocking_calls); i++) {
		int r;

		if ((mask == 0 && !blocking_calls[i].has_mask) || (n > 8 && !blocking_calls[i].can_be_too_long))
			continue;
		r = blocking_calls[i].call(b->q, n, mask);
		if (r != want)
			fail_msg("%s gives %d, not %d", blocking_calls[i].name, r, want);
	}
	assert_int_equal(nnb_fmq_available_to_read(b->q), 4);
}

static void no_flag_no_waiting(struct bench *b)
{
	assert_int_equal(nnb_fmq_event_flag(b->q) != NULL, b->row->config.event_flag);
	assert_int_equal(nnb_fmq_window(b->q), 0);
	all_blocking_calls_give(b, 1, 1, -EOPNOTSUPP);
}

static void nothing_to_wait_for(struct bench *b)
{
	all_blocking_calls_give(b, 1, 0, -EINVAL);
}

static void too_many_to_wait_for(struct bench *b)
{
	all_blocking_calls_give(b, 9, 1, -EMSGSIZE);
	assert_int_equal(nnb_fmq_write_blocking(b->q, NULL, SIZE_MAX, PATIENCE), -EMSGSIZE);
	assert_int_equal(nnb_fmq_read_blocking(b->q, NULL, SIZE_MAX / 8 + 1, PATIENCE), -EMSGSIZE);
}

/* F-28: try first, wait only then, and wake at the end. The word shows the wake, and that no call waited. */
static void success_wakes_the_peer(struct bench *b)
{
	_Atomic uint32_t *word = raw_flag(&b->raw);
	uint64_t e = 7;

	assert_int_equal(*word, 0);
	assert_int_equal(nnb_fmq_write_blocking(b->q, &e, 1, 1), 0);
	assert_int_equal(*word, NNB_FMQ_NOT_EMPTY);
	assert_int_equal(nnb_fmq_read_blocking(b->other, &e, 1, 1), 0);
	assert_int_equal(*word, NNB_FMQ_NOT_EMPTY | NNB_FMQ_NOT_FULL);

	atomic_store(word, 0);
	/* with no bits there is no wake */
	assert_int_equal(nnb_fmq_write_blocking_with(b->q, &e, 1, 0x10, 0, 1, NULL), 0);
	assert_int_equal(nnb_fmq_read_blocking_with(b->other, &e, 1, 0, 0x20, 1, NULL), 0);
	assert_int_equal(*word, 0);
	assert_int_equal(nnb_fmq_write_blocking_with(b->q, &e, 1, 0x10, 0x60, 1, NULL), 0);
	assert_int_equal(*word, 0x60);
	assert_int_equal(nnb_fmq_read_blocking_with(b->other, &e, 1, 0x90, 0x20, 1, NULL), 0);
	assert_int_equal(*word, 0xf0);
}

/* The long forms use the flag that they are given, and leave the queue's flag alone. */
static void a_flag_of_the_callers(struct bench *b)
{
	_Alignas(8) uint32_t word = 0;
	struct nnb_event_flag *flag;
	uint64_t e = 7;

	assert_int_equal(nnb_event_flag_new(&flag, &word), 0);
	assert_int_equal(nnb_fmq_write_blocking_with(b->q, &e, 1, 1, 2, 1, flag), 0);
	assert_int_equal(word, 2);
	assert_int_equal(nnb_fmq_read_blocking_with(b->other, &e, 1, 1, 2, 1, flag), 0);
	assert_int_equal(word, 3);
	assert_int_equal(nnb_fmq_read_blocking_with(b->other, &e, 1, 1, 2, 5 * MS, flag), NNB_FMQ_TIMED_OUT);
	assert_int_equal(*raw_flag(&b->raw), 0);
	nnb_event_flag_delete(&flag);
}

static void in_place_forms_wake(struct bench *b)
{
	_Atomic uint32_t *word = raw_flag(&b->raw);
	uint64_t e = 7;
	struct nnb_fmq_tx tx;

	assert_int_equal(nnb_fmq_begin_write_blocking(b->q, 2, 1, &tx), 0);
	assert_true(nnb_fmq_tx_copy_to(&tx, &e, 0, 1));
	assert_int_equal(*word, 0);
	assert_int_equal(nnb_fmq_commit_write_and_wake(b->q, 3), -EINVAL);
	assert_int_equal(*word, 0);
	assert_int_equal(nnb_fmq_commit_write_and_wake(b->q, 1), 0);
	assert_int_equal(*word, NNB_FMQ_NOT_EMPTY);
	e = 0;
	assert_int_equal(nnb_fmq_begin_read_blocking(b->other, 1, 1, &tx), 0);
	assert_true(nnb_fmq_tx_copy_from(&tx, &e, 0, 1));
	assert_int_equal(nnb_fmq_commit_read_and_wake(b->other, 2), -EINVAL);
	assert_int_equal(nnb_fmq_commit_read_and_wake(b->other, 1), 0);
	assert_int_equal(e, 7);
	assert_int_equal(*word, NNB_FMQ_NOT_EMPTY | NNB_FMQ_NOT_FULL);
	assert_int_equal(nnb_fmq_begin_read_blocking(b->other, 1, 5 * MS, &tx), NNB_FMQ_TIMED_OUT);
	assert_emptied(&tx);
}

/* F-24, F-28: a stale bit is not an element, and ends in a timeout. */
static void stale_bits_are_not_elements(struct bench *b)
{
	uint64_t e[8] = { 0 };
	uint64_t begin = now_ns();

	atomic_store(raw_flag(&b->raw), UINT32_MAX);
	assert_int_equal(nnb_fmq_read_blocking(b->other, e, 1, 20 * MS), NNB_FMQ_TIMED_OUT);
	assert_true(now_ns() - begin >= 20 * MS);
	assert_int_equal(nnb_fmq_write(b->q, e, 8), 0);
	atomic_store(raw_flag(&b->raw), UINT32_MAX);
	begin = now_ns();
	assert_int_equal(nnb_fmq_write_blocking(b->q, e, 1, 20 * MS), NNB_FMQ_TIMED_OUT);
	assert_true(now_ns() - begin >= 20 * MS);
	assert_int_equal(nnb_fmq_available_to_read(b->other), 8);
}

static void a_transfer_of_no_elements_never_waits(struct bench *b)
{
	_Atomic uint32_t *word = raw_flag(&b->raw);
	uint64_t full[8] = { 0 };

	assert_int_equal(nnb_fmq_read_blocking(b->other, NULL, 0, 1), 0); /* empty */
	assert_int_equal(*word, NNB_FMQ_NOT_FULL);
	assert_int_equal(nnb_fmq_write_blocking(b->q, full, 8, 1), 0);
	atomic_store(word, 0);
	assert_int_equal(nnb_fmq_write_blocking(b->q, NULL, 0, 1), 0); /* full */
	assert_int_equal(*word, NNB_FMQ_NOT_EMPTY);
	assert_int_equal(nnb_fmq_available_to_read(b->other), 8);
}

/* F-31: each of three reads wakes a writer of three elements, which goes back to sleep until the last read. */
static void writer_waits_for_enough_room(struct bench *b)
{
	uint64_t in[8];
	uint64_t out[8];
	struct actor writer = { .act = write_blocking, .q = b->q, .n = 3, .timeout_ns = PATIENCE };

	make_elements(in, 8, 0, 8);
	writer.arg = in;
	assert_int_equal(nnb_fmq_write_blocking(b->q, in, 8, PATIENCE), 0);
	start(&writer);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(actor_sleeps(&writer));
		assert_int_equal(nnb_fmq_read_blocking(b->other, out + i, 1, PATIENCE), 0);
	}
	assert_int_equal(finish(&writer), 0);
	assert_int_equal(nnb_fmq_read_blocking(b->other, out + 3, 5, PATIENCE), 0);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(nnb_fmq_read_blocking(b->other, out, 3, PATIENCE), 0);
	assert_memory_equal(in, out, 3 * 8);
}

/* ---- F-3: any sizes, any history, compared with a plain count ---- */

enum { READERS = 2 };

/* The expected state, in elements. */
struct model {
	size_t capacity;
	bool sync, sees_reach;
	uint64_t written, reach;
	uint64_t read[READERS];
};

static int model_write(struct model *m, size_t n)
{
	if (n > m->capacity)
		return -EMSGSIZE;
	if (m->sync && m->written - m->read[0] + n > m->capacity)
		return FULL;
	m->reach = m->written + n;
	return 0;
}

static int model_begin_read(struct model *m, unsigned who, size_t n)
{
	if (n > m->capacity)
		return -EMSGSIZE;
	if (m->written - m->read[who] > m->capacity) {
		m->read[who] = m->written;
		return OVERRUN;
	}
	return m->written - m->read[who] < n ? EMPTY : 0;
}

static int model_commit_read(struct model *m, unsigned who, size_t n)
{
	if (!m->sync && n && (m->sees_reach ? m->reach : m->written) - m->read[who] > m->capacity) {
		m->read[who] = m->written;
		return OVERRUN;
	}
	m->read[who] += n;
	return 0;
}

static void play_writer(struct nnb_fmq *q, struct model *m, size_t n, bool in_place, uint64_t chance)
{
	size_t size = nnb_fmq_elem_size(q);
	unsigned char *elements = test_malloc(n * size + 1);
	int want = model_write(m, n);
	struct nnb_fmq_tx tx;

	make_elements(elements, size, m->written, n);
	if (!in_place) {
		assert_int_equal(nnb_fmq_write(q, elements, n), want);
		m->written += want ? 0 : n;
	} else {
		assert_int_equal(nnb_fmq_begin_write(q, n, &tx), want);
		if (want) {
			assert_emptied(&tx);
		} else {
			assert_laid_out(&tx, n);
			n = n ? chance % (n + 1) : 0; /* commit the first of them only */
			assert_true(nnb_fmq_tx_copy_to(&tx, elements, 0, n));
			assert_int_equal(nnb_fmq_commit_write(q, n), 0);
			m->written += n;
		}
	}
	test_free(elements);
}

static void play_reader(struct nnb_fmq *q, struct nnb_fmq *writer, struct model *m, unsigned who, size_t n,
                        bool in_place, uint64_t chance)
{
	size_t size = nnb_fmq_elem_size(q);
	unsigned char *is = test_malloc(n * size + 1);
	unsigned char *should = test_malloc(n * size + 1);
	uint64_t from = m->read[who];
	int want = model_begin_read(m, who, n);
	struct nnb_fmq_tx tx;

	make_elements(should, size, from, n);
	if (!in_place) {
		want = want ? want : model_commit_read(m, who, n);
		assert_int_equal(nnb_fmq_read(q, is, n), want);
	} else {
		assert_int_equal(nnb_fmq_begin_read(q, n, &tx), want);
		if (want) {
			assert_emptied(&tx);
		} else {
			assert_laid_out(&tx, n);
			assert_true(nnb_fmq_tx_copy_from(&tx, is, 0, n));
			if (!m->sync && chance % 4 == 0) /* the writer writes before the commit */
				play_writer(writer, m, chance % (m->capacity + 1), false, 0);
			n = n ? chance / 4 % (n + 1) : 0;
			want = model_commit_read(m, who, n);
			assert_int_equal(nnb_fmq_commit_read(q, n), want);
		}
	}
	if (want == 0)
		assert_memory_equal(is, should, n * size);
	test_free(is);
	test_free(should);
}

/* One queue with a random history; its counters start at @base. */
static void random_history(const struct arrangement *in, enum nnb_fmq_flavour flavour, size_t elem_size,
                           size_t capacity, uint64_t base, uint64_t seed)
{
	struct nnb_fmq_config config = { .elem_size = elem_size, .capacity = capacity, .flavour = flavour };
	struct model m = { .capacity = capacity, .sync = flavour == SYNC, .sees_reach = in->layout == 0 };
	struct nnb_fmq *q;
	struct nnb_fmq *readers[READERS];
	unsigned n_readers = m.sync ? 1 : READERS;
	struct raw raw;

	assert_int_equal(new_queue(&q, config, in), 0);
	raw_open(&raw, q);
	if (m.sync)
		atomic_store(raw_counter(&raw, NNB_FMQ_READ_COUNTER), base);
	atomic_store(raw_counter(&raw, NNB_FMQ_WRITE_COUNTER), base);
	play_writer(q, &m, 0, false, 0); /* makes the handle take over the base */
	for (unsigned i = 0; i < n_readers; i++) {
		assert_int_equal(join_queue(&readers[i], q), 0);
		if (!m.sync && base > capacity * elem_size)
			/* moves the reader to the writer's position */
			assert_int_equal(nnb_fmq_read(readers[i], NULL, 0), OVERRUN);
		else if (!m.sync)
			assert_int_equal(base, 0);
	}
	for (unsigned i = 0; i < 150; i++) {
		uint64_t chance = next_random(&seed);
		size_t n = chance % (capacity + 2);
		unsigned who = (unsigned)(chance >> 20) % n_readers;
		bool in_place = chance >> 30 & 1;

		if (chance >> 31 & 1)
			play_writer(q, &m, n, in_place, chance >> 40);
		else
			play_reader(readers[who], q, &m, who, n, in_place, chance >> 40);
		if (m.sync) {
			assert_int_equal(nnb_fmq_available_to_write(q), capacity - (m.written - m.read[0]));
			assert_int_equal(nnb_fmq_available_to_read(readers[0]), m.written - m.read[0]);
		}
	}
	assert_int_equal(*raw_counter(&raw, NNB_FMQ_WRITE_COUNTER), base + m.written * elem_size);
	raw_close(&raw);
	for (unsigned i = 0; i < n_readers; i++)
		nnb_fmq_free(readers[i]);
	nnb_fmq_free(q);
}

static bool power_of_2(uint64_t n)
{
	return (n & (n - 1)) == 0;
}

static void any_history(struct bench *b)
{
	static const size_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 24 };

	for (size_t i = 0; i < N_OF(sizes); i++)
		for (size_t capacity = 1; capacity <= 9; capacity++) {
			size_t size = sizes[i];
			const uint64_t bases[] = {
				0,
				size * 1000003,
				(UINT64_C(1) << 32) / size * size - size,
				(UINT64_C(1) << 63) / size * size - size,     /* across the sign bit */
				(UINT64_MAX / size - 1000 * capacity) * size, /* near the largest counter */
				UINT64_MAX - size * capacity + 1,             /* across the largest counter */
			};

			for (size_t k = 0; k < N_OF(bases); k++)
				if (k < N_OF(bases) - 1 || power_of_2(size * capacity))
					random_history(b->in, b->row->config.flavour, size, capacity, bases[k],
					               i * 1000 + capacity * 10 + k + 1);
		}
}

/* ---- the rows ---- */

#define OF(size, n, which)                                               \
	{                                                                \
		.elem_size = (size), .capacity = (n), .flavour = (which) \
	}
#define OF_WAITING(size, n)                                                                \
	{                                                                                  \
		.elem_size = (size), .capacity = (n), .flavour = SYNC, .event_flag = true, \
		.window_ns = NNB_FMQ_WINDOW_NONE                                           \
	}
#define BYTES(which) OF(1, N, which)
#define WORDS(n, which) OF(8, n, which)

/* clang-format off */

/* Scripts, on one handle and on two. First those of table 1.5 of the behaviour notes, then rules. */
static const struct row scripts[] = {
	{ "QueueSizeOdd.EventFlagTest", "F-7", OF_WAITING(1, 2049),
	  .steps = { { WRITE_BLOCKING, 64 }, { READ_BLOCKING, 64 } } },

	{ "Sync.SmallInputTest1", "F-19", BYTES(SYNC), .steps = { { WRITE, 16 }, { READ, 16 } } },
	{ "Sync.SmallInputTest2", "F-17 F-18 F-20", BYTES(SYNC), .steps = { { WRITE_TX, 16 }, { READ_TX, 16 } } },
	{ "Sync.SmallInputTest3", "F-20", BYTES(SYNC),
	  .steps = { { WRITE_SLOTS, 16 }, { READ_SLOTS, 16 }, { WRITE_REGIONS, 16 }, { READ_REGIONS, 16 } } },
	{ "Sync.ReadWhenEmpty1", "F-16 F-18", BYTES(SYNC),
	  .steps = { { UNREAD, 0 }, { READ, 2, EMPTY }, { UNREAD, 0 } } },
	{ "Sync.ReadWhenEmpty2", "F-18", BYTES(SYNC), .steps = { { READ_TX, 2, EMPTY } } },
	{ "Sync.WriteWhenFull1", "F-15 F-17", BYTES(SYNC),
	  .steps = { { WRITE, N }, { ROOM, 0 }, { WRITE, 1, FULL }, { UNREAD, N }, { READ, N } } },
	{ "Sync.WriteWhenFull2", "F-17", BYTES(SYNC), .steps = { { WRITE, N }, { ROOM, 0 }, { WRITE_TX, 1, FULL } } },
	{ "Sync.LargeInputTest1", "F-3", BYTES(SYNC), .steps = { { ROOM, N }, { WRITE, N }, { READ, N } } },
	{ "Sync.LargeInputTest2", "F-17", BYTES(SYNC),
	  .steps = { { WRITE, 4096, -EMSGSIZE }, { UNREAD, 0 }, { READ, 4096, -EMSGSIZE }, { READ, N, EMPTY } } },
	{ "Sync.LargeInputTest3", "F-17", BYTES(SYNC),
	  .steps = { { WRITE, N }, { WRITE, 1, FULL }, { WRITE, N, FULL }, { READ, N } } },
	{ "Sync.LargeInputTest4", "F-17", BYTES(SYNC),
	  .steps = { { WRITE_TX, N + 1, -EMSGSIZE }, { WRITE_TX, 4096, -EMSGSIZE }, { UNREAD, 0 } } },
	{ "Sync.MultipleRead", "F-19", BYTES(SYNC),
	  .steps = { { WRITE, 500 }, { READ, 100 }, { READ, 100 }, { READ, 100 }, { READ, 100 }, { READ, 100 } } },
	{ "Sync.MultipleWrite", "F-19", BYTES(SYNC),
	  .steps = { { WRITE, 100 }, { WRITE, 100 }, { WRITE, 100 }, { WRITE, 100 }, { WRITE, 100 }, { READ, 500 } } },
	{ "Sync.ReadWriteWrapAround1", "F-3", BYTES(SYNC),
	  .steps = { { WRITE, N - 1 }, { READ, N - 1 }, { WRITE, N }, { READ, N } } },
	{ "Sync.ReadWriteWrapAround2", "F-3 F-17", BYTES(SYNC),
	  .steps = { { WRITE_REGIONS, N - 1 }, { READ_REGIONS, N - 1 }, { WRITE_REGIONS, N }, { READ_REGIONS, N },
		     { WRITE_TX, N }, { READ_TX, N } } },

	{ "Unsync.SmallInputTest1", "F-19", BYTES(UNSYNC), .steps = { { WRITE, 16 }, { READ, 16 } } },
	{ "Unsync.ReadWhenEmpty", "F-18", BYTES(UNSYNC), .steps = { { READ, 2, EMPTY }, { UNREAD, 0 } } },
	{ "Unsync.WriteWhenFull1", "F-1 F-15", BYTES(UNSYNC),
	  .steps = { { WRITE, N }, { ROOM, 0 }, { WRITE, 1 }, { READ, N, OVERRUN } } },
	{ "Unsync.WriteWhenFull2", "F-1", BYTES(UNSYNC),
	  .steps = { { WRITE, N }, { ROOM, 0 }, { WRITE_TX, 1 }, { READ, N, OVERRUN } } },
	{ "Unsync.LargeInputTest1", "F-3", BYTES(UNSYNC), .steps = { { WRITE, N }, { READ, N } } },
	{ "Unsync.LargeInputTest2", "F-17", BYTES(UNSYNC),
	  .steps = { { WRITE, 4096, -EMSGSIZE }, { UNREAD, 0 }, { READ, 4096, -EMSGSIZE }, { READ, N, EMPTY } } },
	{ "Unsync.LargeInputTest3", "F-1", BYTES(UNSYNC),
	  .steps = { { WRITE, N }, { WRITE, N }, { READ, N, OVERRUN } } },
	{ "Unsync.MultipleRead", "F-19", BYTES(UNSYNC),
	  .steps = { { WRITE, 500 }, { READ, 100 }, { READ, 100 }, { READ, 100 }, { READ, 100 }, { READ, 100 } } },
	{ "Unsync.MultipleWrite", "F-19", BYTES(UNSYNC),
	  .steps = { { WRITE, 100 }, { WRITE, 100 }, { WRITE, 100 }, { WRITE, 100 }, { WRITE, 100 }, { READ, 500 } } },
	{ "Unsync.ReadWriteWrapAround", "F-3", BYTES(UNSYNC),
	  .steps = { { WRITE, N - 1 }, { READ, N - 1 }, { WRITE, N }, { READ, N } } },

	{ "every element of an odd ring is usable", "F-3", WORDS(7, SYNC),
	  .steps = { { WRITE, 5 }, { READ, 5 }, { ROOM, 7 }, { WRITE, 7 }, { ROOM, 0 }, { WRITE, 1, FULL },
		     { READ, 7 } } },
	{ "a ring of one element", "F-3", OF(24, 1, SYNC),
	  .steps = { { WRITE, 1 }, { WRITE, 1, FULL }, { READ, 1 }, { READ, 1, EMPTY }, { WRITE, 1 }, { READ, 1 } } },
	{ "elements of 3 bytes wrap", "F-3", OF(3, 5, SYNC),
	  .steps = { { WRITE, 4 }, { READ, 3 }, { WRITE_REGIONS, 4 }, { ROOM, 0 }, { READ_REGIONS, 5 },
		     { UNREAD, 0 } } },
	{ "elements of 12 bytes wrap", "F-3", OF(12, 5, SYNC),
	  .steps = { { WRITE, 4 }, { READ, 3 }, { WRITE_SLOTS, 4 }, { ROOM, 0 }, { READ_SLOTS, 5 }, { UNREAD, 0 } } },
	{ "elements of 24 bytes wrap", "F-3", OF(24, 5, UNSYNC),
	  .steps = { { WRITE, 4 }, { READ, 3 }, { WRITE_TX, 4 }, { READ_TX, 5 }, { UNREAD, 0 } } },
	{ "counters start anywhere", "F-3", OF(12, 5, SYNC), .base = 12 * UINT64_C(1000000007),
	  .steps = { { UNREAD, 0 }, { WRITE, 5 }, { ROOM, 0 }, { READ, 3 }, { WRITE, 3 }, { READ, 5 } } },
	{ "counters pass 2^64", "F-3", WORDS(8, SYNC), .base = UINT64_MAX - 3 * 8 + 1,
	  .steps = { { ROOM, 8 }, { WRITE, 8 }, { ROOM, 0 }, { UNREAD, 8 }, { WRITE, 1, FULL }, { READ, 5 },
		     { WRITE, 5 }, { READ, 8 }, { READ, 1, EMPTY } } },
	{ "unsynchronized room means nothing", "F-15", WORDS(4, UNSYNC),
	  .steps = { { WRITE, 4 }, { READ, 4 }, { ROOM, 0 }, { WRITE, 4 }, { READ, 4 }, { ROOM, 0 } } },
	{ "more unread than there can be", "F-16", WORDS(4, UNSYNC),
	  .steps = { { WRITE, 4 }, { WRITE, 4 }, { WRITE, 1 }, { UNREAD, 9 } } },
	{ "an overrun drops all that is pending", "F-18", WORDS(8, UNSYNC),
	  .steps = { { WRITE, 8 }, { WRITE, 1 }, { READ, 1, OVERRUN }, { UNREAD, 0 }, { READ, 1, EMPTY }, { WRITE, 3 },
		     { READ, 3 }, { WRITE, 8 }, { READ, 8 } } },
	{ "an overrun is reported before a lack of elements", "F-18", WORDS(8, UNSYNC),
	  .steps = { { WRITE, 8 }, { WRITE, 8 }, { READ, 0, OVERRUN }, { READ_TX, 8, EMPTY } } },
	{ "a transfer takes all elements or none", "F-19", WORDS(8, SYNC),
	  .steps = { { WRITE, 6 }, { WRITE, 3, FULL }, { ROOM, 2 }, { WRITE, 2 }, { READ, 5 }, { READ, 4, EMPTY },
		     { UNREAD, 3 }, { READ, 3 } } },
	{ "a transfer of no elements always succeeds", "F-29", WORDS(2, SYNC),
	  .steps = { { READ, 0 }, { READ_TX, 0 }, { WRITE, 0 }, { WRITE_TX, 0 }, { WRITE, 2 }, { WRITE, 0 },
		     { WRITE_SLOTS, 0 }, { READ, 2 }, { READ_REGIONS, 0 } } },
};

/* Functions. */
static const struct row functions[] = {
	{ "BadQueueConfig.QueueSizeTooLarge", "F-10", .run = too_large },
	{ "HidlOnlyBad.SanityCheck", "F-11", .run = grantors_on_top_of_each_other, .where = ONCE },
	{ "HidlOnlyBad.BadFdIndex", "F-10", .run = bad_fd_index, .where = ONCE },
	{ "HidlOnlyBad.ExtentTooLarge", "F-10", .run = extent_too_large, .where = ONCE },
	{ "AidlOnlyBad.LookForLeakedFds", "F-10", .run = gigantic_queues_leak_no_fds },
	{ "AidlOnlyBad.QueueSizeTooLargeForAidl", "F-10", .run = too_large_signed },
	{ "AidlOnlyBad.NegativeAidlDescriptor", "F-6", OF_WAITING(2, 64), .run = negative_quantum },
	{ "AidlOnlyBad.NegativeAidlDescriptorGrantor", "F-6", OF_WAITING(2, 64), .run = negative_extent },
	{ "AidlOnlyBad.MismatchedPayloadSize", "F-2 F-10", OF(2, 64, SYNC), .run = mismatched_quantum },
	{ "Hidl2Aidl.ConvertDescriptorsSync", "F-6", OF(2, 64, SYNC), .run = converted_queue_carries_data },
	{ "Hidl2Aidl.ConvertDescriptorsUnsync", "F-6 F-13", OF(2, 64, UNSYNC), .run = two_converted_readers_read_all },
	{ "Hidl2Aidl.ConvertFdIndex1", "F-6", .run = converted_fd_index_1, .where = ONCE },
	{ "Hidl2Aidl.ConvertMultipleFds", "F-6", OF(2, 64, SYNC), .run = converted_fds_are_the_same },
	{ "DoubleFdFailures.InvalidFd", "F-8", .run = ring_fd_is_closed, .where = IN_ONE_FILE },
	{ "DoubleFdFailures.InvalidFdSize", "F-8", .run = ring_fd_is_too_small, .where = IN_ONE_FILE },
	{ "DoubleFdFailures.LargerFdSize", "F-8", .run = ring_fd_is_larger, .where = IN_ONE_FILE },
	{ "BlockingReadWrites.SmallInputTest1", "F-23", OF_WAITING(1, N), .run = reader_waits_for_the_bit },
	{ "BlockingReadWrites.SmallInputTest2", "F-28", OF_WAITING(1, N), .run = blocking_write_meets_blocking_read },
	{ "BlockingReadWrites.BlockingTimeOutTest", "F-23", OF_WAITING(1, N),
	  .run = a_wait_without_a_wake_up_times_out, .where = IN_ONE_FILE },

	{ "a ring that cannot be sealed", "F-8", .run = ring_fd_cannot_be_sealed, .where = IN_ONE_FILE },
	{ "too few fds for a queue", "F-10", .run = too_few_fds_leak_none },
	{ "where the parts lie", "F-7 F-8", .run = placement },
	{ "every offset is a multiple of 8", "F-7", OF_WAITING(8, 8), .run = misaligned_offset },
	{ "configurations that cannot be", "F-10", .run = impossible_configs },
	{ "descriptors that cannot be", "F-6 F-10", OF_WAITING(8, 8), .run = spoilt_descriptors },
	{ "files that will not do", "F-10", WORDS(8, SYNC), .run = unfit_files },
	{ "freeing NULL, and twice", "F-14", .run = freeing_null_is_fine, .where = ONCE },
	{ "a reader on a read-only fd", "F-12", WORDS(8, UNSYNC), .run = reopened_read_only },
	{ "a reader of a file sealed against writing", "F-12", WORDS(8, UNSYNC), .run = sealed_against_future_writers },
	{ "a synchronized queue on a read-only fd", "F-12", WORDS(8, SYNC), .run = synchronized_reader_must_write },
	{ "attach keeps or resets, synchronized", "F-13", WORDS(8, SYNC), .run = attach_keeps_or_resets },
	{ "attach keeps or resets, unsynchronized", "F-13", WORDS(8, UNSYNC), .run = attach_keeps_or_resets },
	{ "misaligned counters, 8 bytes", "F-5", OF_WAITING(8, 8), .run = misaligned_counters },
	{ "misaligned counters, 12 bytes", "F-5", OF_WAITING(12, 8), .run = misaligned_counters },
	{ "misaligned counters, unsynchronized", "F-5", OF(12, 8, UNSYNC), .run = misaligned_counters },
	{ "impossible counters", "F-15 F-16 F-18", OF_WAITING(8, 8), .run = impossible_counters },
	{ "a writer that goes back", "F-16 F-18", WORDS(8, UNSYNC), .run = unsynchronized_reader_ahead },
	{ "no more is committed than was begun", "F-17", WORDS(8, SYNC), .run = transactions_refuse_too_much },
	{ "no more is committed than was begun, unsynchronized", "F-17", WORDS(8, UNSYNC),
	  .run = transactions_refuse_too_much },
	{ "lapped between begin and commit", "F-18", WORDS(8, UNSYNC), .run = lapped_while_reading },
	{ "lapped by a write not yet committed", "F-18", WORDS(8, UNSYNC),
	  .run = lapped_by_a_write_under_way, .where = IN_SPREAD },
	{ "counts that overflow", "F-19", WORDS(8, SYNC), .run = counts_that_overflow },
	{ "counts that overflow, 12 bytes", "F-19", OF(12, 8, UNSYNC), .run = counts_that_overflow },
	{ "slots and copies stay inside", "F-20", OF(12, 5, SYNC), .run = transaction_bounds },
	{ "slots and copies stay inside, unsynchronized", "F-20", OF(12, 5, UNSYNC), .run = transaction_bounds },
	{ "no event flag, no blocking", "F-27", WORDS(8, SYNC), .run = no_flag_no_waiting },
	{ "no blocking when unsynchronized", "F-26", WORDS(8, UNSYNC), .run = no_flag_no_waiting },
	{ "no blocking when unsynchronized, with a flag", "F-26",
	  { .elem_size = 8, .capacity = 8, .flavour = UNSYNC, .event_flag = true }, .run = no_flag_no_waiting },
	{ "no bit to wait for", "F-27", OF_WAITING(8, 8), .run = nothing_to_wait_for },
	{ "more than can ever fit", "F-27", OF_WAITING(8, 8), .run = too_many_to_wait_for },
	{ "success needs no wait and wakes the peer", "F-28", OF_WAITING(8, 8), .run = success_wakes_the_peer },
	{ "a flag of the caller's", "F-26", OF_WAITING(8, 8), .run = a_flag_of_the_callers },
	{ "in place, waiting and waking", "F-28", OF_WAITING(8, 8), .run = in_place_forms_wake },
	{ "a stale bit ends no wait", "F-24 F-28", OF_WAITING(8, 8), .run = stale_bits_are_not_elements },
	{ "a blocking transfer of no elements", "F-29", OF_WAITING(8, 8), .run = a_transfer_of_no_elements_never_waits },
	{ "a writer waits for enough room", "F-31", OF_WAITING(8, 8), .run = writer_waits_for_enough_room },
	{ "any sizes, any history", "F-3 F-17 F-18", { .flavour = SYNC }, .run = any_history },
	{ "any sizes, any history, unsynchronized", "F-3 F-17 F-18", { .flavour = UNSYNC }, .run = any_history },
};
/* clang-format on */

static int set_up(void **state)
{
	struct bench *b = *state;

	alarm(WATCHDOG_S);
	if (!b->row->config.elem_size)
		return 0;
	if (new_queue(&b->q, b->row->config, b->in) < 0)
		return -1;
	raw_open(&b->raw, b->q);
	if (b->row->base)
		counters_are(b, b->row->base, b->row->base);
	b->other = b->q;
	return b->two_handles ? join_queue(&b->other, b->q) : 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	raw_close(&b->raw);
	if (b->other != b->q)
		nnb_fmq_free(b->other);
	b->other = NULL;
	b->q = nnb_fmq_free(b->q);
	return 0;
}

static void run_row(void **state)
{
	struct bench *b = *state;
	unsigned fds = count_fds();

	(b->row->run ? b->row->run : run_steps)(b);
	assert_int_equal(count_fds(), fds);
}

static bool belongs(const struct row *row, const struct arrangement *in)
{
	switch (row->where) {
	case IN_SPREAD:
		return in->layout == NNB_FMQ_LAYOUT_SPREAD;
	case IN_ONE_FILE:
		return !in->two_fds;
	case ONCE:
		return in == arrangements;
	default:
		return true;
	}
}

static void add_row(const struct row *row, const struct arrangement *in, bool two_handles)
{
	static struct bench benches[N_OF(tests)];
	struct bench *b = &benches[n_tests];

	if (!belongs(row, in))
		return;
	*b = (struct bench){ .row = row, .in = in, .two_handles = two_handles };
	add_test(run_row, set_up, tear_down, b, "%s (%s%s) %s", row->name, in->name, two_handles ? ", two handles" : "",
	         row->rules);
}

int main(void)
{
	without_tracer();
	for (size_t i = 0; i < N_OF(scripts); i++)
		for (size_t k = 0; k < N_OF(arrangements); k++) {
			add_row(&scripts[i], &arrangements[k], false);
			add_row(&scripts[i], &arrangements[k], true);
		}
	for (size_t i = 0; i < N_OF(functions); i++)
		for (size_t k = 0; k < N_OF(arrangements); k++)
			add_row(&functions[i], &arrangements[k], false);
	return cmocka_run_group_tests_name("fmq", tests, NULL, NULL);
}
