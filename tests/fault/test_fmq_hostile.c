/*
 * test_fmq_hostile.c -- a peer that lies, truncates, dies or never wakes: it may spoil its own answers, and
 * nothing else.
 *
 * F-32: no crash, no access outside the ring, no hang beyond the timeout, and an error that the caller can
 * name. Results are otherwise arbitrary, so the test checks that the header allows each, and that each region
 * lies inside the ring. NNB_SOAK_SECONDS sets the length of the random parts.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include "unit/fmq_helpers.h"

enum { CAPACITY = 96, PROMPT_S = 5 };

#define SHORT_WAIT (MS / 10) /* F-32's 100 us */

/* When a random part that begins now ends: after @ms or, in a soak, after one of @parts of its time. */
static uint64_t end_of_part(unsigned ms, unsigned parts)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");

	if (soak && atoi(soak) > 0)
		ms = (unsigned)atoi(soak) * 1000 / parts;
	return now_ns() + ms * MS;
}

enum { RANDOM_PARTS = 5 }; /* scribbling on one reader, on five, descriptors, dying writers, dying readers */

/* ---- results that a call may return ---- */

enum call {
	WRITE,
	WRITE_BLOCKING,
	READ,
	READ_BLOCKING,
	COMMIT_WRITE,
	COMMIT_WAKE_READER,
	COMMIT_READ,
	COMMIT_WAKE_WRITER
};

/* Beside 0, which ends each row. To begin a transaction has the results of the call that copies. */
static const int allowed[][6] = {
	[WRITE] = { NNB_FMQ_FULL, -EBADMSG, -EMSGSIZE, -EACCES },
	[WRITE_BLOCKING] = { NNB_FMQ_TIMED_OUT, -EBADMSG, -EMSGSIZE, -EOPNOTSUPP, -EACCES },
	[READ] = { NNB_FMQ_EMPTY, NNB_FMQ_OVERRUN, -EBADMSG, -EMSGSIZE },
	[READ_BLOCKING] = { NNB_FMQ_OVERRUN, NNB_FMQ_TIMED_OUT, -EBADMSG, -EMSGSIZE, -EOPNOTSUPP },
	[COMMIT_WRITE] = { -EINVAL },
	[COMMIT_WAKE_READER] = { -EINVAL, -EOPNOTSUPP },
	[COMMIT_READ] = { NNB_FMQ_OVERRUN, -EBADMSG, -EINVAL },
	[COMMIT_WAKE_WRITER] = { NNB_FMQ_OVERRUN, -EBADMSG, -EINVAL, -EOPNOTSUPP },
};

static void check_answer(enum call call, int r)
{
	const int *is = allowed[call];

	while (*is && *is != r)
		is++;
	if (*is != r)
		fail_msg("%d is no answer of call %d that the header knows", r, (int)call);
}

struct victim {
	struct nnb_fmq *q;
	const unsigned char *ring;
	size_t ring_bytes;
	uint64_t seed;
	unsigned char buf[CAPACITY * 24];
};

/* Find the ring in this handle's own mapping: the regions of a whole-ring transaction show it. */
static void find_ring(struct victim *v)
{
	struct nnb_fmq_tx tx;

	assert_int_equal(nnb_fmq_begin_write(v->q, nnb_fmq_capacity(v->q), &tx), 0);
	assert_null(tx.second.base);
	v->ring = tx.first.base;
	v->ring_bytes = nnb_fmq_capacity(v->q) * nnb_fmq_elem_size(v->q);
}

static void check_region(const struct victim *v, const struct nnb_fmq_region *r)
{
	const unsigned char *p = r->base;
	size_t bytes = r->n * nnb_fmq_elem_size(v->q);

	if (!r->n)
		return;
	assert_true(p >= v->ring && p < v->ring + v->ring_bytes && bytes <= v->ring_bytes - (size_t)(p - v->ring));
}

static void check_tx(const struct victim *v, const struct nnb_fmq_tx *tx, enum call call, int r, size_t n)
{
	check_answer(call, r);
	assert_int_equal(tx->first.n + tx->second.n, r ? 0 : n);
	check_region(v, &tx->first);
	check_region(v, &tx->second);
}

static void one_write(struct victim *v, size_t n, unsigned how)
{
	struct nnb_fmq_tx tx;
	int r;

	switch (how % 4) {
	case 0:
		check_answer(WRITE, nnb_fmq_write(v->q, v->buf, n));
		break;
	case 1:
		check_answer(WRITE_BLOCKING, nnb_fmq_write_blocking(v->q, v->buf, n, SHORT_WAIT));
		break;
	case 2:
		r = nnb_fmq_begin_write(v->q, n, &tx);
		check_tx(v, &tx, WRITE, r, n);
		if (tx.first.n)
			memset(tx.first.base, 0x5a, tx.first.n * tx.elem_size);
		check_answer(COMMIT_WRITE, nnb_fmq_commit_write(v->q, n));
		break;
	default:
		r = nnb_fmq_begin_write_blocking(v->q, n, SHORT_WAIT, &tx);
		check_tx(v, &tx, WRITE_BLOCKING, r, n);
		check_answer(COMMIT_WAKE_READER, nnb_fmq_commit_write_and_wake(v->q, n));
	}
	nnb_fmq_available_to_write(v->q);
}

static void one_read(struct victim *v, size_t n, unsigned how)
{
	struct nnb_fmq_tx tx;
	int r;

	switch (how % 4) {
	case 0:
		check_answer(READ, nnb_fmq_read(v->q, v->buf, n));
		break;
	case 1:
		check_answer(READ_BLOCKING, nnb_fmq_read_blocking(v->q, v->buf, n, SHORT_WAIT));
		break;
	case 2:
		r = nnb_fmq_begin_read(v->q, n, &tx);
		check_tx(v, &tx, READ, r, n);
		if (!r)
			nnb_fmq_tx_copy_from(&tx, v->buf, 0, n);
		check_answer(COMMIT_READ, nnb_fmq_commit_read(v->q, n));
		break;
	default:
		r = nnb_fmq_begin_read_blocking(v->q, n, SHORT_WAIT, &tx);
		check_tx(v, &tx, READ_BLOCKING, r, n);
		check_answer(COMMIT_WAKE_WRITER, nnb_fmq_commit_read_and_wake(v->q, n));
	}
	nnb_fmq_available_to_read(v->q);
}

static void make_victim(struct victim *v, enum nnb_fmq_flavour flavour, size_t elem_size, enum nnb_fmq_layout layout)
{
	struct nnb_fmq_config c = { elem_size, CAPACITY, flavour, layout, .event_flag = true, .window_ns = 2000 };

	*v = (struct victim){ .seed = 7 };
	assert_int_equal(nnb_fmq_new(&v->q, &c), 0);
	find_ring(v);
}

/* ---- every extreme value, in every word, before every call ---- */

static const uint64_t extremes[] = { 0,
	                             1,
	                             7,
	                             8,
	                             24,
	                             CAPACITY * 24 - 1,
	                             CAPACITY * 24,
	                             CAPACITY * 24 + 24,
	                             INT32_MAX,
	                             UINT32_MAX,
	                             (uint64_t)1 << 32,
	                             INT64_MAX,
	                             (uint64_t)1 << 63,
	                             UINT64_MAX - CAPACITY * 24,
	                             UINT64_MAX - 23,
	                             UINT64_MAX };

struct flavour_row {
	const char *name;
	enum nnb_fmq_flavour flavour;
	size_t elem_size;
	enum nnb_fmq_layout layout;
};

static const struct flavour_row flavours[] = {
	{ "synchronized, 8 B", NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD },
	{ "synchronized, 24 B", NNB_FMQ_SYNCHRONIZED, 24, NNB_FMQ_LAYOUT_SPREAD },
	{ "synchronized, 3 B, packed", NNB_FMQ_SYNCHRONIZED, 3, NNB_FMQ_LAYOUT_PACKED },
	{ "unsynchronized, 8 B", NNB_FMQ_UNSYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD },
	{ "unsynchronized, 24 B, packed", NNB_FMQ_UNSYNCHRONIZED, 24, NNB_FMQ_LAYOUT_PACKED },
};

static void any_counter_value_is_survived(void **state)
{
	const struct flavour_row *row = *state;
	static const size_t counts[] = { 0, 1, 5, CAPACITY, CAPACITY + 1, SIZE_MAX };
	struct victim v;
	struct raw raw;

	make_victim(&v, row->flavour, row->elem_size, row->layout);
	raw_open(&raw, v.q);
	for (size_t a = 0; a < N_OF(extremes); a++)
		for (size_t b = 0; b < N_OF(extremes); b++)
			for (size_t c = 0; c < N_OF(counts); c++)
				for (unsigned how = 0; how < 8; how++) {
					atomic_store(raw_counter(&raw, NNB_FMQ_READ_COUNTER), extremes[a]);
					atomic_store(raw_counter(&raw, NNB_FMQ_WRITE_COUNTER), extremes[b]);
					/* a set flag keeps a waiting call from taking its whole timeout */
					if (how % 4 % 2)
						atomic_store(raw_flag(&raw), (uint32_t)extremes[a]);
					if (how < 4)
						one_write(&v, counts[c], how);
					else
						one_read(&v, counts[c], how);
				}
	raw_close(&raw);
	nnb_fmq_free(v.q);
}

/* ---- a peer that overwrites shared memory all the time ---- */

/* Write anywhere: odd values to whole words, and sometimes to the ring and the waiting room. */
static void scribble(void *arg)
{
	const struct raw *raw = arg;
	uint64_t seed = 99;

	for (;;) {
		uint64_t x = next_random(&seed);
		_Atomic uint64_t *counter = raw_counter(raw, x & 1);

		switch (x >> 8 & 7) {
		case 0:
			atomic_store(counter, extremes[(x >> 16) % N_OF(extremes)]);
			break;
		case 1:
			atomic_store(counter, x);
			break;
		case 2:
		case 3: /* off by about an element, which a check might accept */
			atomic_fetch_add(counter, (x >> 16 & 63) * 8 - 256);
			break;
		case 4:
			atomic_store(raw_flag(raw), (uint32_t)(x >> 16));
			break;
		case 5:
			if (raw->desc.n_grantors > NNB_FMQ_WAITING_ROOM)
				((_Atomic uint32_t *)raw_part(raw, NNB_FMQ_WAITING_ROOM))[(x >> 16) % 64] =
					(uint32_t)(x >> 24);
			break;
		case 6:
			((_Atomic unsigned char *)raw_part(raw, NNB_FMQ_RING))[(x >> 16) % CAPACITY] =
				(unsigned char)(x >> 40);
			break;
		default: /* nothing wrong for a while */
			for (unsigned i = 0; i < (x >> 16 & 1023); i++)
				atomic_load(counter);
		}
	}
}

static void end_child(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* the peer lived until this signal */
}

static void a_peer_scribbles(void **state)
{
	const struct flavour_row *row = *state;
	uint64_t end = end_of_part(60, RANDOM_PARTS * N_OF(flavours));
	struct raw raw;
	pid_t peer;
	struct victim v;
	uint64_t start;

	make_victim(&v, row->flavour, row->elem_size, row->layout);
	raw_open(&raw, v.q);
	peer = spawn(scribble, &raw);
	while (now_ns() < end) {
		uint64_t x = next_random(&v.seed);

		start = now_ns();
		if (x & 1)
			one_write(&v, (x >> 8) % (CAPACITY + 2), (unsigned)(x >> 32));
		else
			one_read(&v, (x >> 8) % (CAPACITY + 2), (unsigned)(x >> 32));
		assert_true(now_ns() - start < PROMPT_S * 1000 * MS);
	}
	end_child(peer);
	raw_close(&raw);
	nnb_fmq_free(v.q);
}

/* F-32: up to five readers of one unsynchronized queue while a peer writes garbage over it. */
static void a_peer_scribbles_on_five_readers(void **state)
{
	uint64_t end = end_of_part(75, RANDOM_PARTS);
	struct raw raw;
	pid_t peer;
	struct victim writer;
	struct victim readers[5];
	uint64_t seed = 3;

	(void)state;
	make_victim(&writer, NNB_FMQ_UNSYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	for (size_t i = 0; i < N_OF(readers); i++) {
		readers[i] = (struct victim){ .seed = i + 1 };
		assert_int_equal(join_queue(&readers[i].q, writer.q), 0);
		find_ring(&readers[i]);
	}
	raw_open(&raw, writer.q);
	peer = spawn(scribble, &raw);
	while (now_ns() < end) {
		uint64_t x = next_random(&seed), start = now_ns();

		if (x % 3 == 0)
			one_write(&writer, (x >> 8) % (CAPACITY + 2), (unsigned)(x >> 32));
		else
			one_read(&readers[(x >> 4) % N_OF(readers)], (x >> 8) % (CAPACITY + 2), (unsigned)(x >> 32));
		assert_true(now_ns() - start < PROMPT_S * 1000 * MS);
	}
	end_child(peer);
	raw_close(&raw);
	for (size_t i = 0; i < N_OF(readers); i++)
		nnb_fmq_free(readers[i].q);
	nnb_fmq_free(writer.q);
}

/* ---- the file ---- */

static void the_file_cannot_be_cut(void **state)
{
	struct victim v;
	struct nnb_fmq_desc d;

	(void)state;
	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	nnb_fmq_describe(v.q, &d);
	assert_int_equal(ftruncate(d.fds[0], 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(d.fds[0], 1 << 20), -1);
	nnb_fmq_free(v.q);
}

/* Punching a hole does not shrink the file: the words become 0, and no reader crashes. */
static void a_hole_is_only_zeros(void **state)
{
	struct victim v;
	struct nnb_fmq_desc d;
	struct stat st;

	(void)state;
	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	nnb_fmq_describe(v.q, &d);
	assert_int_equal(fstat(d.fds[0], &st), 0);
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(fallocate(d.fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size), 0);
		one_write(&v, i % 8, i);
		one_read(&v, i % 8, i / 4);
	}
	nnb_fmq_free(v.q);
}

static int unsealed_memfd(void)
{
	return new_file(1 << 16, 0);
}

static int grow_sealed_memfd(void)
{
	return new_file(1 << 16, F_SEAL_GROW);
}

static int huge_memfd(void)
{
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd >= 0 && (ftruncate(fd, 2 << 20) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int plain_file(void)
{
	char path[] = "/tmp/burstscope-hostile-XXXXXX";
	int fd = mkstemp(path);

	if (fd >= 0) {
		unlink(path);
		if (ftruncate(fd, 1 << 16) < 0)
			abort();
	}
	return fd;
}

static int pipe_end(void)
{
	int fd[2];

	if (pipe(fd) < 0)
		return -1;
	close(fd[1]);
	return fd[0];
}

static int a_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int a_directory(void)
{
	return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int dev_zero(void)
{
	return open("/dev/zero", O_RDWR | O_CLOEXEC);
}

static int path_only(void)
{
	return open("/", O_PATH | O_CLOEXEC);
}

static const struct file_row {
	const char *name;
	int (*open)(void);
	int want;
} files[] = {
	{ "a memfd its owner can shrink", unsealed_memfd, -EPERM },
	{ "a memfd sealed against growing only", grow_sealed_memfd, -EPERM },
	{ "a memfd of huge pages, which may run out", huge_memfd, -EPERM },
	{ "a file on disk", plain_file, -EPERM },
	{ "a pipe", pipe_end, -EPERM },
	{ "a socket", a_socket, -EPERM },
	{ "a directory", a_directory, -EPERM },
	{ "a device", dev_zero, -EPERM },
	{ "a path", path_only, -EBADF },
};

static void wrong_files_are_refused(void **state)
{
	const struct file_row *row = *state;
	struct nnb_fmq_attach how = { .elem_size = 8 };
	struct nnb_fmq *q = NULL;
	struct nnb_fmq_desc d;
	struct victim v;
	unsigned before;

	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	nnb_fmq_describe(v.q, &d);
	d.fds[0] = row->open();
	if (d.fds[0] < 0) {
		nnb_fmq_free(v.q);
		skip(); /* no huge pages in this kernel */
	}
	before = count_fds();
	assert_int_equal(nnb_fmq_attach(&q, &d, &how), row->want);
	assert_null(q);
	assert_int_equal(count_fds(), before);
	close(d.fds[0]);
	nnb_fmq_free(v.q);
}

/* ---- descriptors ---- */

/* Change one thing in a descriptor. */
static void forge(struct nnb_fmq_desc *d, uint64_t random)
{
	struct nnb_fmq_grantor *g = &d->grantors[random % NNB_FMQ_MAX_GRANTORS];
	uint64_t x = random >> 16;

	switch (random >> 8 & 7) {
	case 0:
		g->offset = (uint32_t)extremes[x % N_OF(extremes)];
		break;
	case 1:
		g->offset = (uint32_t)x & 0xff8;
		break;
	case 2:
		g->extent = extremes[x % N_OF(extremes)];
		break;
	case 3:
		g->extent = x & 0x1fff;
		break;
	case 4:
		g->fd_index = (uint32_t)x & 3;
		break;
	case 5:
		d->quantum = x & 1 ? 8 : (uint32_t)(x >> 1);
		break;
	case 6:
		d->n_grantors = (uint32_t)x % 12;
		break;
	default:
		d->flags = (uint32_t)x & 3;
	}
}

/* Attach to a stranger's descriptor, and use the queue. Returns whether it was one. */
static bool try_stranger(const struct nnb_fmq_desc *d, bool keep_counters)
{
	struct nnb_fmq_attach how = { d->quantum, keep_counters, NNB_FMQ_WINDOW_NONE };
	unsigned char buf[4 * 24] = { 0 };
	struct nnb_fmq *q;
	int r = nnb_fmq_attach(&q, d, &how);

	if (r) {
		assert_true(r == -EINVAL || r == -EPERM);
		return false;
	}
	if (how.elem_size * 4 <= sizeof(buf)) {
		check_answer(WRITE, nnb_fmq_write(q, buf, 4));
		check_answer(READ, nnb_fmq_read(q, buf, 4));
		check_answer(WRITE_BLOCKING, nnb_fmq_write_blocking(q, buf, 1, 1));
		check_answer(READ_BLOCKING, nnb_fmq_read_blocking(q, buf, 1, 1));
	}
	nnb_fmq_free(q);
	return true;
}

/* Attaching to any descriptor must fail, or give a queue that lies inside its file. */
static void any_descriptor_is_refused_or_usable(void **state)
{
	uint64_t end = end_of_part(500, RANDOM_PARTS);
	unsigned attached = 0, refused = 0;
	struct nnb_fmq_desc good, d;
	uint64_t seed = 11;
	struct victim v;
	unsigned before;

	(void)state;
	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	nnb_fmq_describe(v.q, &good);
	before = count_fds();
	for (unsigned i = 0; i < 20000 || now_ns() < end; i++) {
		uint64_t x = next_random(&seed);

		d = good;
		forge(&d, next_random(&seed));
		if (x & 2)
			forge(&d, next_random(&seed));
		if (try_stranger(&d, x & 1))
			attached++;
		else
			refused++;
	}
	assert_true(attached > 1000 && refused > 1000);
	assert_int_equal(count_fds(), before);
	nnb_fmq_free(v.q);
}

/* ---- waking and dying ---- */

/* F-30: without a wake-up, the sleeper returns after its timeout, and still gets the elements that arrived. */
static void a_peer_that_never_wakes(void **state)
{
	uint64_t element = 42, got = 0, start;
	struct victim v;
	struct nnb_fmq *peer;

	(void)state;
	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	assert_int_equal(join_queue(&peer, v.q), 0);
	start = now_ns();
	assert_int_equal(nnb_fmq_read_blocking(v.q, &got, 1, 50 * MS), NNB_FMQ_TIMED_OUT);
	assert_true(now_ns() - start >= 50 * MS);
	assert_int_equal(nnb_fmq_write(peer, &element, 1), 0);
	assert_int_equal(nnb_fmq_read_blocking(v.q, &got, 1, 50 * MS), 0);
	assert_int_equal(got, 42);
	nnb_fmq_free(peer);
	nnb_fmq_free(v.q);
}

/* A flag word that changes all the time keeps the sleeper awake, but its timeout still ends the call. */
static void flap(void *arg)
{
	for (;;)
		atomic_fetch_add(raw_flag(arg), 1);
}

static void a_flapping_flag_does_not_hold_up_the_timeout(void **state)
{
	struct raw raw;
	pid_t peer;
	struct victim v;
	uint64_t start;
	uint32_t bits;

	(void)state;
	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	raw_open(&raw, v.q);
	peer = spawn(flap, &raw);
	start = now_ns();
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(nnb_fmq_read_blocking(v.q, v.buf, 1, 20 * MS), NNB_FMQ_TIMED_OUT);
	nnb_event_flag_wait(nnb_fmq_event_flag(v.q), (uint32_t)1 << 31, &bits, 20 * MS, true);
	assert_true(now_ns() - start < PROMPT_S * 1000 * MS);
	end_child(peer);
	raw_close(&raw);
	nnb_fmq_free(v.q);
}

struct stream {
	struct nnb_fmq_desc desc;
	uint64_t next;
	bool writes;
};

static struct nnb_fmq *attach_child(const struct nnb_fmq_desc *desc)
{
	struct nnb_fmq_attach how = { .elem_size = 8, .keep_counters = true, .window_ns = 5000 };
	struct nnb_fmq *q;

	must(nnb_fmq_attach(&q, desc, &how) == 0);
	return q;
}

/* Write numbers, or check them, until killed. */
static void stream_for_ever(void *arg)
{
	struct stream *s = arg;
	struct nnb_fmq *q = attach_child(&s->desc);
	uint64_t v[3];

	for (uint64_t i = s->next;; i++) {
		size_t n = 1 + i % 3;

		if (s->writes) {
			for (size_t k = 0; k < n; k++)
				v[k] = i;
			must(nnb_fmq_write_blocking(q, v, n, 0) == 0);
		} else {
			must(nnb_fmq_read_blocking(q, v, 1, 0) == 0);
		}
	}
}

static void pause_a_little(uint64_t *seed)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)(next_random(seed) % 3000000) }, NULL);
}

/* The reader finds whole messages only, in order, and then a timeout; the next writer goes on in the queue. */
static void a_writer_killed_anywhere(void **state)
{
	uint64_t end = end_of_part(400, RANDOM_PARTS);
	uint64_t seed = 5, at = 0, last = 0;
	struct stream s = { .writes = true };
	struct victim v;
	unsigned kills = 0;

	(void)state;
	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	nnb_fmq_describe(v.q, &s.desc);
	for (; kills < 20 || now_ns() < end; kills++) {
		pid_t pid = spawn(stream_for_ever, &s);
		uint64_t stop = now_ns() + next_random(&seed) % (3 * MS);
		uint64_t number;
		bool killed = false;
		int r;

		for (;;) {
			if (!killed && now_ns() >= stop) {
				kill(pid, SIGKILL);
				waitpid(pid, NULL, 0);
				killed = true;
			}
			r = nnb_fmq_read_blocking(v.q, &number, 1, killed ? 1 : PATIENCE);
			if (killed && r == NNB_FMQ_TIMED_OUT)
				break;
			assert_int_equal(r, 0);
			if (!at) { /* a message is a number, and as many copies as the number decides */
				assert_int_equal(number, last++);
				at = 1 + number % 3;
			} else {
				assert_int_equal(number, last - 1);
			}
			at--;
		}
		assert_int_equal(at, 0);
		s.next = last;
	}
	nnb_fmq_free(v.q);
}

/* The writer blocks no longer than its timeout, and the next reader loses nothing. */
static void a_reader_killed_anywhere(void **state)
{
	uint64_t end = end_of_part(400, RANDOM_PARTS);
	uint64_t seed = 6, number = 0, got, expected;
	struct stream s = { .writes = false };
	struct nnb_fmq *reader;
	struct victim v;

	(void)state;
	make_victim(&v, NNB_FMQ_SYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	nnb_fmq_describe(v.q, &s.desc);
	for (unsigned kills = 0; kills < 20 || now_ns() < end; kills++) {
		pid_t pid = spawn(stream_for_ever, &s);
		uint64_t stop = now_ns() + next_random(&seed) % (3 * MS);

		while (now_ns() < stop) {
			assert_int_equal(nnb_fmq_write_blocking(v.q, &number, 1, PATIENCE), 0);
			number++;
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (nnb_fmq_write_blocking(v.q, &number, 1, 1) == 0)
			number++;
		assert_int_equal(nnb_fmq_available_to_write(v.q), 0);
		assert_int_equal(join_queue(&reader, v.q), 0);
		for (expected = number - CAPACITY; expected < number; expected++) {
			assert_int_equal(nnb_fmq_read_blocking(reader, &got, 1, PATIENCE), 0);
			assert_int_equal(got, expected);
		}
		nnb_fmq_free(reader);
		pause_a_little(&seed);
	}
	nnb_fmq_free(v.q);
}

/* The words that a dying writer had begun to overwrite stay lost when the next writer writes less. */
static void a_writer_dead_in_the_middle_of_a_write(void **state)
{
	uint64_t elements[CAPACITY];
	struct nnb_fmq *reader, *next;
	struct nnb_fmq_tx tx;
	struct victim v;

	(void)state;
	for (uint64_t i = 0; i < CAPACITY; i++)
		elements[i] = i;
	make_victim(&v, NNB_FMQ_UNSYNCHRONIZED, 8, NNB_FMQ_LAYOUT_SPREAD);
	assert_int_equal(join_queue(&reader, v.q), 0);
	assert_int_equal(nnb_fmq_write(v.q, elements, CAPACITY), 0);
	assert_int_equal(nnb_fmq_read(reader, elements, 5), 0);
	assert_int_equal(nnb_fmq_begin_write(v.q, 10, &tx), 0);
	memset(tx.first.base, 0xee, 10 * sizeof(elements[0]));
	assert_int_equal(join_queue(&next, v.q), 0);
	assert_int_equal(nnb_fmq_write(next, elements, 1), 0);
	assert_int_equal(nnb_fmq_read(reader, elements, 3), NNB_FMQ_OVERRUN);
	assert_int_equal(nnb_fmq_write(next, elements, 20), 0);
	assert_int_equal(nnb_fmq_read(reader, elements, 20), 0);
	nnb_fmq_free(next);
	nnb_fmq_free(reader);
	nnb_fmq_free(v.q);
}

int main(void)
{
	without_tracer();
	for (size_t i = 0; i < N_OF(flavours); i++) {
		add_test(any_counter_value_is_survived, NULL, NULL, (void *)&flavours[i],
		         "any counter value is survived: %s", flavours[i].name);
		add_test(a_peer_scribbles, NULL, NULL, (void *)&flavours[i], "a peer scribbles: %s", flavours[i].name);
	}
	add_test(a_peer_scribbles_on_five_readers, NULL, NULL, NULL, "a peer scribbles on five readers");
	add_test(the_file_cannot_be_cut, NULL, NULL, NULL, "the file cannot be cut");
	add_test(a_hole_is_only_zeros, NULL, NULL, NULL, "a hole is only zeros");
	for (size_t i = 0; i < N_OF(files); i++)
		add_test(wrong_files_are_refused, NULL, NULL, (void *)&files[i], "refused: %s", files[i].name);
	add_test(any_descriptor_is_refused_or_usable, NULL, NULL, NULL, "any descriptor is refused or usable");
	add_test(a_peer_that_never_wakes, NULL, NULL, NULL, "a peer that never wakes");
	add_test(a_flapping_flag_does_not_hold_up_the_timeout, NULL, NULL, NULL, "a flapping flag");
	add_test(a_writer_killed_anywhere, NULL, NULL, NULL, "a writer killed anywhere");
	add_test(a_writer_dead_in_the_middle_of_a_write, NULL, NULL, NULL, "a writer dead in the middle of a write");
	add_test(a_reader_killed_anywhere, NULL, NULL, NULL, "a reader killed anywhere");
	return _cmocka_run_group_tests("fmq: hostile peers", tests, n_tests, NULL, NULL);
}
