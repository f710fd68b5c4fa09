/*
 * test_memory.c -- memories and their mappings: every kind made, sent, mapped, and every way to get it wrong.
 *
 * "P-10" and "R8" name rules of the HAL that the row shows; "P table" is its table of memory kinds.
 * test_memory_torn covers a file that is cut under its mapping.
 */
#include "unit/fmq_helpers.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include "base/pages.h"
#include "base/sealed.h"
#include "memory/gate.h"
#include "memory/handle.h"
#include "nnb/memory.h"

#define GIB (UINT64_C(1) << 30)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define UNTOUCHED ((struct nnb_mapping *)(uintptr_t)0x5a5a)
#define RW (PROT_READ | PROT_WRITE)

static size_t page;

/* ---- files and memories ---- */

enum file { MEMFD, SEALED_MEMFD, HUGE_MEMFD, DISK, DIRECTORY, PIPE, SOCKET, DEVICE, CLOSED };

static int new_disk_file(uint64_t bytes)
{
	char path[] = P_tmpdir "/test_memory-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0 || unlink(path) < 0 || ftruncate(fd, (off_t)bytes) < 0)
		abort();
	return fd;
}

/* An fd of that kind, or -1 where this machine has none. */
static int open_file(enum file file, uint64_t bytes)
{
	int fds[2];
	int fd;

	switch (file) {
	case MEMFD:
		return new_file(bytes, 0);
	case SEALED_MEMFD:
		return new_file(bytes, F_SEAL_SHRINK);
	case HUGE_MEMFD:
		fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
		if (fd >= 0 && (ftruncate(fd, 64 << 20) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0))
			abort();
		return fd;
	case DISK:
		return new_disk_file(bytes);
	case DIRECTORY:
		return open(P_tmpdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	case PIPE:
		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		close(fds[1]);
		return fds[0];
	case SOCKET:
		return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	case DEVICE:
		return open("/dev/zero", O_RDWR | O_CLOEXEC);
	default:
		return closed_fd();
	}
}

/* Make a memory of a kind that can be mapped, or have it refused. */
static int make(struct nnb_memory *ret, enum nnb_memory_kind kind, uint64_t size)
{
	int fd;
	int r;

	switch (kind) {
	case NNB_MEMORY_ASHMEM:
		return nnb_memory_ashmem(ret, size);
	case NNB_MEMORY_HARDWARE_BUFFER_BLOB:
		return nnb_memory_hardware_buffer_blob(ret, size);
	default:
		fd = new_file(size, 0);
		r = nnb_memory_mmap_fd(ret, fd, size, RW, 0);
		close(fd);
		return r;
	}
}

static struct nnb_mapping *map(const struct nnb_memory *memory)
{
	struct nnb_mapping *m;

	assert_int_equal(nnb_map(&m, memory), 0);
	return m;
}

/* Map @size bytes of @fd from @offset; the caller still owns the fd. */
static struct nnb_mapping *map_fd(int fd, uint64_t size, int prot, uint64_t offset)
{
	struct nnb_memory memory;
	struct nnb_mapping *m;

	assert_int_equal(nnb_memory_mmap_fd(&memory, fd, size, prot, offset), 0);
	m = map(&memory);
	nnb_memory_close(&memory);
	return m;
}

static unsigned char *data_of(const struct nnb_mapping *m)
{
	return nnb_mapping_data(m);
}

static size_t whole_pages(size_t size)
{
	return (size + page - 1) / page * page;
}

/* ---- every kind, every size ---- */

static const enum nnb_memory_kind mapped_kinds[] = { NNB_MEMORY_ASHMEM, NNB_MEMORY_MMAP_FD,
	                                             NNB_MEMORY_HARDWARE_BUFFER_BLOB };

struct sized {
	enum nnb_memory_kind kind;
	size_t pages, more; /* how large */
};

static struct sized all_sized[64];

static size_t size_of(const struct sized *s)
{
	return s->pages * page + s->more;
}

static void made_is_canonical(void **state)
{
	const struct sized *s = *state;
	struct nnb_memory memory;
	struct stat st;

	assert_int_equal(make(&memory, s->kind, size_of(s)), 0);
	assert_int_equal(nnb_memory_check(&memory), 0);
	assert_int_equal(nnb_memory_kind(&memory), s->kind);
	assert_string_equal(memory.name, nnb_memory_kind_name(s->kind));
	assert_int_equal(memory.size, size_of(s));
	assert_int_equal(fstat(memory.fds[0], &st), 0);
	assert_int_equal(st.st_size, size_of(s));
	assert_true(fcntl(memory.fds[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(memory.fds[0], F_GET_SEALS), s->kind == NNB_MEMORY_MMAP_FD ? 0 : SEALS);
	nnb_memory_close(&memory);
	assert_int_equal(memory.n_fds, 0);
	assert_int_equal(memory.size, 0);
}

static void two_mappings_see_the_same(void **state)
{
	const struct sized *s = *state;
	struct nnb_mapping *one, *other;
	struct nnb_memory memory;
	size_t size = size_of(s);

	assert_int_equal(make(&memory, s->kind, size), 0);
	one = map(&memory);
	other = map(&memory);
	nnb_memory_close(&memory);
	assert_int_equal(nnb_mapping_kind(one), s->kind);
	assert_int_equal(nnb_mapping_size(one), size);
	assert_true(nnb_mapping_readable(one) && nnb_mapping_writable(one));
	assert_int_equal((uintptr_t)data_of(one) % page, 0);
	assert_ptr_not_equal(data_of(one), data_of(other));
	for (size_t i = 0; i < size; i++)
		assert_int_equal(data_of(one)[i], 0);
	make_elements(data_of(one), 1, 0, size);
	assert_memory_equal(data_of(one), data_of(other), size);
	assert_int_equal(nnb_mapping_flush(one), 0);
	nnb_mapping_unref(one);
	data_of(other)[size - 1]++;
	nnb_mapping_unref(other);
}

static void answer_from_child(void *arg)
{
	const struct nnb_memory *memory = arg;
	struct nnb_mapping *m;

	must(nnb_map(&m, memory) == 0);
	must(data_of(m)[0] == 41);
	data_of(m)[memory->size - 1] = 42;
	nnb_mapping_unref(m);
}

static void another_process_sees_the_same(void **state)
{
	const struct sized *s = *state;
	struct nnb_memory memory;
	struct nnb_mapping *m;

	assert_int_equal(make(&memory, s->kind, size_of(s)), 0);
	m = map(&memory);
	data_of(m)[0] = 41;
	assert_int_equal(reap(spawn(answer_from_child, &memory)), 0);
	assert_int_equal(data_of(m)[memory.size - 1], 42);
	nnb_mapping_unref(m);
	nnb_memory_close(&memory);
}

static void write_by_default(void *arg)
{
	signal(SIGSEGV, SIG_DFL); /* from a sanitizer */
	*(volatile unsigned char *)arg = 1;
}

static void read_by_default(void *arg)
{
	signal(SIGSEGV, SIG_DFL);
	(void)*(volatile unsigned char *)arg;
}

static bool dies_of(int sig, void (*body)(void *), void *arg)
{
	int status = reap(spawn(body, arg));

	return WIFSIGNALED(status) && WTERMSIG(status) == sig;
}

static void zeroes_follow(void **state)
{
	const struct sized *s = *state;
	unsigned char *behind;
	struct nnb_memory memory;
	struct nnb_mapping *m;

	assert_int_equal(make(&memory, s->kind, size_of(s)), 0);
	m = map(&memory);
	behind = data_of(m) + whole_pages(size_of(s));
	memset(data_of(m), 0xee, size_of(s));
	for (size_t i = 0; i < NNB_MAPPING_SLACK; i++)
		assert_int_equal(behind[i], 0);
	assert_true(dies_of(SIGSEGV, write_by_default, behind));
	nnb_mapping_unref(m);
	nnb_memory_close(&memory);
}

/* The mapping ends with zeroes, although the file goes on with other bytes. */
static void zeroes_follow_though_the_file_goes_on(void **state)
{
	const struct sized *s = *state;
	struct nnb_memory memory;
	struct nnb_mapping *m;
	size_t bytes = whole_pages(size_of(s)) + 2 * page;
	int fd = new_file(bytes, F_SEAL_SHRINK);
	unsigned char *fill = malloc(bytes);

	assert_non_null(fill);
	memset(fill, 0xee, bytes);
	assert_int_equal(pwrite(fd, fill, bytes, 0), bytes);
	free(fill);
	assert_int_equal(make(&memory, s->kind, size_of(s)), 0);
	assert_int_equal(dup2(fd, memory.fds[0]), memory.fds[0]);
	m = map(&memory);
	assert_int_equal(data_of(m)[size_of(s) - 1], 0xee);
	for (size_t i = 0; i < NNB_MAPPING_SLACK; i++)
		assert_int_equal(data_of(m)[whole_pages(size_of(s)) + i], 0);
	nnb_mapping_unref(m);
	nnb_memory_close(&memory);
	close(fd);
}

static bool is_mapped(const void *at)
{
	return msync((void *)((uintptr_t)at / page * page), page, MS_ASYNC) == 0;
}

static void the_last_unref_leaves_nothing(void **state)
{
	const struct sized *s = *state;
	unsigned fds = count_fds();
	struct nnb_memory memory;
	struct nnb_mapping *m;
	unsigned char *data;
	size_t pages = whole_pages(size_of(s));

	assert_int_equal(make(&memory, s->kind, size_of(s)), 0);
	m = map(&memory);
	nnb_memory_close(&memory);
	data = data_of(m);
	assert_ptr_equal(nnb_mapping_ref(m), m);
	assert_null(nnb_mapping_unref(m));
	data[0] = 1;
	assert_true(is_mapped(data) && is_mapped(data + pages));
	assert_null(nnb_mapping_unref(m));
	assert_false(is_mapped(data) || is_mapped(data + pages - page)); /* zeroes may stay behind */
	assert_int_equal(count_fds(), fds);
}

static void what_was_written_stays(void **state)
{
	const struct sized *s = *state;
	struct nnb_memory memory;
	struct nnb_mapping *m;

	assert_int_equal(make(&memory, s->kind, size_of(s)), 0);
	m = map(&memory);
	for (size_t i = 0; i < size_of(s); i++)
		data_of(m)[i] = (unsigned char)(i % 251 + 1);
	nnb_mapping_unref(m);
	m = map(&memory);
	for (size_t i = 0; i < size_of(s); i++)
		assert_int_equal(data_of(m)[i], i % 251 + 1);
	nnb_mapping_unref(m);
	nnb_memory_close(&memory);
}

static const struct {
	const char *name;
	CMUnitTestFunction run;
} of_every_size[] = {
	{ "what was written stays when it is unmapped", what_was_written_stays },
	{ "what is made is canonical (P table)", made_is_canonical },
	{ "two mappings see the same", two_mappings_see_the_same },
	{ "another process sees the same", another_process_sees_the_same },
	{ "zeroes follow that cannot be written", zeroes_follow },
	{ "zeroes follow though the file goes on", zeroes_follow_though_the_file_goes_on },
	{ "the last unref leaves nothing of the file (P-12)", the_last_unref_leaves_nothing },
};

/* ---- handles that are not canonical ---- */

#define ASHMEM .name = "ashmem", .size = 100, .n_fds = 1
#define MMAP_FD .name = "mmap_fd", .size = 100, .n_fds = 1, .n_ints = 3
#define BLOB .name = "hardware_buffer_blob", .size = 100, .n_fds = 1, .n_ints = 5
#define BUFFER .name = "hardware_buffer", .n_fds = 1, .n_ints = 5

static const struct check_case {
	const char *name;
	struct nnb_memory memory;
	int want;
} check_cases[] = {
	{ "ashmem", { ASHMEM }, 0 },
	{ "ashmem of 2^64-1 bytes, whatever its file holds", { .name = "ashmem", .size = UINT64_MAX, .n_fds = 1 }, 0 },
	{ "ashmem of no bytes", { .name = "ashmem", .n_fds = 1 }, -EINVAL },
	{ "ashmem without an fd", { .name = "ashmem", .size = 100 }, -EINVAL },
	{ "ashmem with two fds", { .name = "ashmem", .size = 100, .n_fds = 2 }, -EINVAL },
	{ "ashmem with an integer", { ASHMEM, .n_ints = 1 }, -EINVAL },
	{ "ashmem with a negative fd", { ASHMEM, .fds = { -1 } }, -EINVAL },
	{ "mmap_fd", { MMAP_FD, .ints = { RW } }, 0 },
	{ "mmap_fd of no protection", { MMAP_FD }, 0 },
	{ "mmap_fd that ends with the offsets",
	  { .name = "mmap_fd", .size = 0x1000, .n_fds = 1, .n_ints = 3, .ints = { PROT_READ, -0x1001, -1 } },
	  0 },
	{ "mmap_fd that ends after the offsets",
	  { .name = "mmap_fd", .size = 0x1000, .n_fds = 1, .n_ints = 3, .ints = { PROT_READ, -0x1000, -1 } },
	  -EINVAL },
	{ "mmap_fd of 2^64-1 bytes from 1",
	  { .name = "mmap_fd", .size = UINT64_MAX, .n_fds = 1, .n_ints = 3, .ints = { PROT_READ, 1 } },
	  -EINVAL },
	{ "mmap_fd of no bytes", { .name = "mmap_fd", .n_fds = 1, .n_ints = 3, .ints = { RW } }, -EINVAL },
	{ "mmap_fd to be executed", { MMAP_FD, .ints = { PROT_READ | PROT_EXEC } }, -EINVAL },
	{ "mmap_fd that grows down", { MMAP_FD, .ints = { PROT_READ | PROT_GROWSDOWN } }, -EINVAL },
	{ "mmap_fd of all protections", { MMAP_FD, .ints = { -1 } }, -EINVAL },
	{ "mmap_fd without integers", { .name = "mmap_fd", .size = 100, .n_fds = 1 }, -EINVAL },
	{ "mmap_fd with two integers", { .name = "mmap_fd", .size = 100, .n_fds = 1, .n_ints = 2 }, -EINVAL },
	{ "mmap_fd with four integers", { .name = "mmap_fd", .size = 100, .n_fds = 1, .n_ints = 4 }, -EINVAL },
	{ "mmap_fd without an fd", { .name = "mmap_fd", .size = 100, .n_ints = 3 }, -EINVAL },
	{ "mmap_fd with a negative fd", { MMAP_FD, .fds = { INT32_MIN } }, -EINVAL },
	{ "blob", { BLOB, .ints = { 100, 1, 1, NNB_FORMAT_BLOB, 100 } }, 0 },
	{ "blob of another width", { BLOB, .ints = { 99, 1, 1, NNB_FORMAT_BLOB, 100 } }, -EINVAL },
	{ "blob of two rows", { BLOB, .ints = { 100, 2, 1, NNB_FORMAT_BLOB, 100 } }, -EINVAL },
	{ "blob of no layer", { BLOB, .ints = { 100, 1, 0, NNB_FORMAT_BLOB, 100 } }, -EINVAL },
	{ "blob of pixels", { BLOB, .ints = { 100, 1, 1, NNB_FORMAT_R8G8B8A8, 100 } }, -EINVAL },
	{ "blob of another stride", { BLOB, .ints = { 100, 1, 1, NNB_FORMAT_BLOB, 128 } }, -EINVAL },
	{ "blob of 2^32 + 100 bytes",
	  { .name = "hardware_buffer_blob",
	    .size = 4 * GIB + 100,
	    .n_fds = 1,
	    .n_ints = 5,
	    .ints = { 100, 1, 1, NNB_FORMAT_BLOB, 100 } },
	  -EINVAL },
	{ "blob of no bytes",
	  { .name = "hardware_buffer_blob", .n_fds = 1, .n_ints = 5, .ints = { 0, 1, 1, NNB_FORMAT_BLOB, 0 } },
	  -EINVAL },
	{ "blob with four integers",
	  { .name = "hardware_buffer_blob",
	    .size = 100,
	    .n_fds = 1,
	    .n_ints = 4,
	    .ints = { 100, 1, 1, NNB_FORMAT_BLOB, 100 } },
	  -EINVAL },
	{ "blob without an fd",
	  { .name = "hardware_buffer_blob", .size = 100, .n_ints = 5, .ints = { 100, 1, 1, NNB_FORMAT_BLOB, 100 } },
	  -EINVAL },
	{ "buffer of pixels", { BUFFER, .size = 480, .ints = { 10, 4, 1, NNB_FORMAT_R8G8B8, 40 } }, 0 },
	{ "buffer of another size", { BUFFER, .size = 479, .ints = { 10, 4, 1, NNB_FORMAT_R8G8B8, 40 } }, -EINVAL },
	{ "buffer of format BLOB", { BUFFER, .size = 100, .ints = { 100, 1, 1, NNB_FORMAT_BLOB, 100 } }, -EINVAL },
	{ "buffer of an unknown format", { BUFFER, .size = 100, .ints = { 100, 1, 1, 77, 100 } }, -EINVAL },
	{ "buffer of no bytes", { BUFFER, .ints = { 10, 0, 1, NNB_FORMAT_R8G8B8, 40 } }, -EINVAL },
	{ "buffer of rows that overlap", { BUFFER, .size = 27, .ints = { 10, 1, 1, NNB_FORMAT_R8G8B8, 9 } }, -EINVAL },
	{ "buffer of 2^64 + 32 bytes",
	  { BUFFER, .size = 32, .ints = { 1, INT32_MIN, 2, NNB_FORMAT_R16G16B16A16_FLOAT, 1 << 29 } },
	  -EINVAL },
	{ "buffer of 2^63 bytes",
	  { BUFFER, .size = UINT64_C(1) << 63, .ints = { 1, 1 << 30, 1, NNB_FORMAT_R16G16B16A16_FLOAT, 1 << 30 } },
	  -EINVAL },
	{ "buffer with two fds",
	  { .name = "hardware_buffer", .size = 4, .n_fds = 2, .n_ints = 5, .ints = { 1, 1, 1, 1, 1 } },
	  -EINVAL },
	{ "a name never seen (P-11)", { .name = "dmabuf", .size = 100, .n_fds = 2, .n_ints = 8 }, -ENOTSUP },
	{ "an empty name", { .size = 100 }, -ENOTSUP },
	{ "all zeroes", { .name = "" }, -ENOTSUP },
	{ "a name that begins like one", { .name = "ashme", .size = 100, .n_fds = 1 }, -ENOTSUP },
	{ "a name that goes on after one", { .name = "ashmem2", .size = 100, .n_fds = 1 }, -ENOTSUP },
	{ "a name in capitals", { .name = "ASHMEM", .size = 100, .n_fds = 1 }, -ENOTSUP },
	{ "a name without an end", { .name = "0123456789abcdef0123456789abcdef", .size = 100 }, -EINVAL },
	{ "a name never seen with three fds", { .name = "dmabuf", .n_fds = 3 }, -EINVAL },
	{ "a name never seen with nine integers", { .name = "dmabuf", .n_ints = 9 }, -EINVAL },
	{ "a name never seen with a negative fd", { .name = "dmabuf", .n_fds = 2, .fds = { 0, -1 } }, -EINVAL },
	{ "ashmem with 2^32-1 fds", { .name = "ashmem", .size = 100, .n_fds = UINT32_MAX }, -EINVAL },
};

/* nnb_map refuses what nnb_memory_check refuses, with the same status. */
static void check_shape(void **state)
{
	const struct check_case *c = *state;
	struct nnb_mapping *m = UNTOUCHED;

	assert_int_equal(nnb_memory_check(&c->memory), c->want);
	if (c->want < 0) {
		assert_int_equal(nnb_map(&m, &c->memory), c->want);
		assert_ptr_equal(m, UNTOUCHED);
	}
}

static void kinds_and_names(void **state)
{
	static const char *const names[] = { "ashmem", "mmap_fd", "hardware_buffer_blob", "hardware_buffer" };
	struct nnb_memory m = { .name = "0123456789abcdef0123456789abcdef" };

	(void)state;
	for (unsigned i = 0; i < N_OF(names); i++) {
		struct nnb_memory named = { 0 };

		strcpy(named.name, names[i]);
		assert_int_equal(nnb_memory_kind(&named), i);
		assert_string_equal(nnb_memory_kind_name((enum nnb_memory_kind)i), names[i]);
	}
	assert_int_equal(nnb_memory_kind(&m), NNB_MEMORY_UNKNOWN);
	assert_string_equal(nnb_memory_kind_name(NNB_MEMORY_UNKNOWN), "");
	assert_string_equal(nnb_memory_kind_name((enum nnb_memory_kind) - 1), "");
}

/* ---- making what cannot be ---- */

static int no_ashmem(struct nnb_memory *ret)
{
	return nnb_memory_ashmem(ret, 0);
}

static int ashmem_too_large(struct nnb_memory *ret)
{
	return nnb_memory_ashmem(ret, (uint64_t)INT64_MAX + 1);
}

static int no_blob(struct nnb_memory *ret)
{
	return nnb_memory_hardware_buffer_blob(ret, 0);
}

static int blob_too_large(struct nnb_memory *ret)
{
	return nnb_memory_hardware_buffer_blob(ret, 4 * GIB + 1);
}

static int executable_fd(struct nnb_memory *ret)
{
	return nnb_memory_mmap_fd(ret, 0, page, PROT_READ | PROT_EXEC, 0);
}

static int fd_of_no_bytes(struct nnb_memory *ret)
{
	return nnb_memory_mmap_fd(ret, 0, 0, PROT_READ, 0);
}

static int fd_beyond_all_files(struct nnb_memory *ret)
{
	return nnb_memory_mmap_fd(ret, 0, page, PROT_READ, UINT64_MAX - page + 1);
}

static int no_fd(struct nnb_memory *ret)
{
	return nnb_memory_mmap_fd(ret, -1, page, PROT_READ, 0);
}

static int fd_that_is_closed(struct nnb_memory *ret)
{
	return nnb_memory_mmap_fd(ret, closed_fd(), page, PROT_READ, 0);
}

static int dup_of_a_closed_fd(struct nnb_memory *ret)
{
	return nnb_memory_dup(ret, &(struct nnb_memory){ .name = "two", .n_fds = 2, .fds = { 0, closed_fd() } });
}

static int dup_of_three_fds(struct nnb_memory *ret)
{
	return nnb_memory_dup(ret, &(struct nnb_memory){ .name = "three", .n_fds = 3 });
}

static int dup_of_nine_integers(struct nnb_memory *ret)
{
	return nnb_memory_dup(ret, &(struct nnb_memory){ .name = "nine", .n_ints = 9 });
}

static int dup_without_a_name_that_ends(struct nnb_memory *ret)
{
	return nnb_memory_dup(ret, &(struct nnb_memory){ .name = "0123456789abcdef0123456789abcdef" });
}

static const struct make_case {
	const char *name;
	int (*make)(struct nnb_memory *ret);
	int want;
} make_cases[] = {
	{ "ashmem of no bytes", no_ashmem, -EINVAL },
	{ "ashmem of 2^63 bytes", ashmem_too_large, -EINVAL },
	{ "blob of no bytes", no_blob, -EINVAL },
	{ "blob of 2^32 + 1 bytes, which its integers cannot say", blob_too_large, -EINVAL },
	{ "mmap_fd to be executed", executable_fd, -EINVAL },
	{ "mmap_fd of no bytes", fd_of_no_bytes, -EINVAL },
	{ "mmap_fd whose end is beyond 2^64", fd_beyond_all_files, -EINVAL },
	{ "mmap_fd of fd -1", no_fd, -EBADF },
	{ "mmap_fd of a closed fd", fd_that_is_closed, -EBADF },
	{ "duplicate with a closed fd", dup_of_a_closed_fd, -EBADF },
	{ "duplicate of three fds", dup_of_three_fds, -EINVAL },
	{ "duplicate of nine integers", dup_of_nine_integers, -EINVAL },
	{ "duplicate of a name without an end", dup_without_a_name_that_ends, -EINVAL },
};

static void refuse_to_make(void **state)
{
	const struct make_case *c = *state;
	struct nnb_memory memory, before;
	unsigned fds = count_fds();

	memset(&before, 0x5a, sizeof(before));
	memcpy(&memory, &before, sizeof(memory));
	assert_int_equal(c->make(&memory), c->want);
	assert_memory_equal(&memory, &before, sizeof(memory));
	assert_int_equal(count_fds(), fds);
}

/* ---- hardware buffers ---- */

static const struct buffer_case {
	const char *name;
	struct nnb_hardware_buffer description; /* width, height, layers, format, stride */
	uint64_t bytes;                         /* 0: refused */
} buffer_cases[] = {
	{ "R8G8B8A8", { 10, 3, 2, NNB_FORMAT_R8G8B8A8, 16 }, 384 },
	{ "R8G8B8X8", { 10, 3, 2, NNB_FORMAT_R8G8B8X8, 10 }, 240 },
	{ "R8G8B8", { 10, 3, 2, NNB_FORMAT_R8G8B8, 10 }, 180 },
	{ "R5G6B5", { 10, 3, 2, NNB_FORMAT_R5G6B5, 10 }, 120 },
	{ "R16G16B16A16_FLOAT", { 10, 3, 2, NNB_FORMAT_R16G16B16A16_FLOAT, 10 }, 480 },
	{ "stride beyond 2^31", { 1, 1, 1, NNB_FORMAT_R5G6B5, UINT32_MAX }, UINT64_C(0x1fffffffe) },
	{ "refused: BLOB", { 10, 1, 1, NNB_FORMAT_BLOB, 10 }, 0 },
	{ "refused: an unknown format", { 10, 1, 1, 0x22, 10 }, 0 },
	{ "refused: no width", { 0, 3, 2, NNB_FORMAT_R8G8B8A8, 16 }, 0 },
	{ "refused: no height", { 10, 0, 2, NNB_FORMAT_R8G8B8A8, 16 }, 0 },
	{ "refused: no layers", { 10, 3, 0, NNB_FORMAT_R8G8B8A8, 16 }, 0 },
	{ "refused: stride below width", { 10, 3, 2, NNB_FORMAT_R8G8B8A8, 9 }, 0 },
	{ "refused: 2^63 bytes", { 1, 1 << 30, 1, NNB_FORMAT_R16G16B16A16_FLOAT, 1 << 30 }, 0 },
	{ "refused: 2^64 bytes", { 1, 1 << 31, 1, NNB_FORMAT_R16G16B16A16_FLOAT, 1 << 30 }, 0 },
	{ "refused: 2^93 pixels", { 1, 1u << 31, 1u << 31, NNB_FORMAT_R5G6B5, 1u << 31 }, 0 },
};

static void describe_and_refuse_to_map(void **state)
{
	const struct buffer_case *c = *state;
	const struct nnb_hardware_buffer *d = &c->description;
	struct nnb_mapping *m = UNTOUCHED;
	struct nnb_memory memory, copy;

	if (!c->bytes) {
		assert_int_equal(nnb_memory_hardware_buffer(&memory, d), -EINVAL);
		return;
	}
	assert_int_equal(nnb_memory_hardware_buffer(&memory, d), 0);
	assert_int_equal(nnb_memory_check(&memory), 0);
	assert_int_equal(nnb_memory_kind(&memory), NNB_MEMORY_HARDWARE_BUFFER);
	assert_int_equal(memory.size, c->bytes);
	assert_int_equal(lseek(memory.fds[0], 0, SEEK_END), c->bytes);
	assert_int_equal(fcntl(memory.fds[0], F_GET_SEALS), SEALS);
	assert_int_equal((uint32_t)memory.ints[0], d->width);
	assert_int_equal((uint32_t)memory.ints[1], d->height);
	assert_int_equal((uint32_t)memory.ints[2], d->layers);
	assert_int_equal((uint32_t)memory.ints[3], d->format);
	assert_int_equal((uint32_t)memory.ints[4], d->stride);
	assert_int_equal(nnb_memory_dup(&copy, &memory), 0);
	assert_int_equal(nnb_map(&m, &copy), -ENOTSUP);
	assert_ptr_equal(m, UNTOUCHED);
	nnb_memory_close(&copy);
	nnb_memory_close(&memory);
}

/* ---- mapping strangers' files ---- */

static const struct map_case {
	const char *name;
	enum nnb_memory_kind kind;
	enum file file;
	uint64_t bytes; /* the file's bytes, */
	uint64_t size;  /* the memory's size; pages are added to both */
	uint64_t offset;
	int prot;
	int want;
	uint64_t pages, offset_pages; /* added to both sizes; to the offset */
} map_cases[] = {
	{ "ashmem that is larger than said", NNB_MEMORY_ASHMEM, SEALED_MEMFD, 101, 100, 0, RW, 0 },
	{ "ashmem that is smaller than said", NNB_MEMORY_ASHMEM, SEALED_MEMFD, 100, 101, 0, RW, -EINVAL },
	{ "ashmem that is empty", NNB_MEMORY_ASHMEM, SEALED_MEMFD, 0, 1, 0, RW, -EINVAL },
	{ "ashmem of 2^64-1 bytes", NNB_MEMORY_ASHMEM, SEALED_MEMFD, 100, UINT64_MAX, 0, RW, -EINVAL },
	{ "ashmem that could be cut", NNB_MEMORY_ASHMEM, MEMFD, 100, 100, 0, RW, -EPERM },
	{ "ashmem of huge pages", NNB_MEMORY_ASHMEM, HUGE_MEMFD, 100, 100, 0, RW, -EPERM },
	{ "ashmem that is on disk", NNB_MEMORY_ASHMEM, DISK, 100, 100, 0, RW, -EPERM },
	{ "ashmem that is a pipe", NNB_MEMORY_ASHMEM, PIPE, 0, 100, 0, RW, -EPERM },
	{ "ashmem that is closed", NNB_MEMORY_ASHMEM, CLOSED, 0, 100, 0, RW, -EBADF },
	{ "blob that is larger than said", NNB_MEMORY_HARDWARE_BUFFER_BLOB, SEALED_MEMFD, 101, 100, 0, RW, 0 },
	{ "blob that is smaller than said", NNB_MEMORY_HARDWARE_BUFFER_BLOB, SEALED_MEMFD, 99, 100, 0, RW, -EINVAL },
	{ "blob that could be cut", NNB_MEMORY_HARDWARE_BUFFER_BLOB, MEMFD, 100, 100, 0, RW, -EPERM },
	{ "mmap_fd that could be cut", NNB_MEMORY_MMAP_FD, MEMFD, 100, 100, 0, RW, 0 },
	{ "mmap_fd that is on disk", NNB_MEMORY_MMAP_FD, DISK, 100, 100, 0, RW, 0 },
	{ "mmap_fd from where its file has ended", NNB_MEMORY_MMAP_FD, MEMFD, 100, 100, 0, RW, -EINVAL, 0, 1 },
	{ "mmap_fd one byte beyond its file", NNB_MEMORY_MMAP_FD, MEMFD, 100, 101, 0, RW, -EINVAL },
	{ "mmap_fd of the last byte", NNB_MEMORY_MMAP_FD, DISK, 1, 1, 0, RW, 0 },
	{ "mmap_fd from the second page, one byte too long", NNB_MEMORY_MMAP_FD, DISK, 0, 0, 0, RW, -EINVAL, 1, 1 },
	{ "mmap_fd from inside of a page", NNB_MEMORY_MMAP_FD, MEMFD, 300, 100, 8, RW, -EINVAL },
	{ "mmap_fd from half a page", NNB_MEMORY_MMAP_FD, MEMFD, 8192, 100, 2048, RW, -EINVAL },
	{ "mmap_fd from beyond 2^63", NNB_MEMORY_MMAP_FD, MEMFD, 100, 100, UINT64_C(1) << 63, RW, -EINVAL },
	{ "mmap_fd of 2^63 bytes", NNB_MEMORY_MMAP_FD, MEMFD, 100, UINT64_C(1) << 63, 0, RW, -EINVAL },
	{ "mmap_fd of a directory", NNB_MEMORY_MMAP_FD, DIRECTORY, 0, 1, 0, PROT_READ, -EINVAL },
	{ "mmap_fd of a pipe", NNB_MEMORY_MMAP_FD, PIPE, 0, 1, 0, PROT_READ, -EINVAL },
	{ "mmap_fd of a socket", NNB_MEMORY_MMAP_FD, SOCKET, 0, 1, 0, PROT_READ, -EINVAL },
	{ "mmap_fd of a device", NNB_MEMORY_MMAP_FD, DEVICE, 0, 1, 0, PROT_READ, -EINVAL },
	{ "mmap_fd of huge pages", NNB_MEMORY_MMAP_FD, HUGE_MEMFD, 0, 1, 0, PROT_READ, -EINVAL },
	{ "mmap_fd that is closed", NNB_MEMORY_MMAP_FD, CLOSED, 0, 1, 0, PROT_READ, -EBADF },
	{ "mmap_fd of 2^62 bytes that the file has", NNB_MEMORY_MMAP_FD, MEMFD, 1ULL << 62, 1ULL << 62, 0, RW,
	  -ENOMEM },
	{ "ashmem of 2^62 bytes that the file has", NNB_MEMORY_ASHMEM, SEALED_MEMFD, 1ULL << 62, 1ULL << 62, 0, RW,
	  -ENOMEM },
};

static struct nnb_memory strange_memory(const struct map_case *c, int fd)
{
	uint64_t size = c->size + c->pages * page;
	uint64_t offset = c->offset + c->offset_pages * page;
	struct nnb_memory memory = { .size = size, .n_fds = 1, .fds = { fd } };

	strcpy(memory.name, nnb_memory_kind_name(c->kind));
	if (c->kind == NNB_MEMORY_MMAP_FD) {
		memory.n_ints = 3;
		memory.ints[0] = c->prot;
		memory.ints[1] = (int32_t)(uint32_t)offset;
		memory.ints[2] = (int32_t)(uint32_t)(offset >> 32);
	}
	if (c->kind == NNB_MEMORY_HARDWARE_BUFFER_BLOB) {
		int32_t ints[] = { (int32_t)size, 1, 1, NNB_FORMAT_BLOB, (int32_t)size };

		memory.n_ints = N_OF(ints);
		memcpy(memory.ints, ints, sizeof(ints));
	}
	return memory;
}

static void map_a_strange_file(void **state)
{
	const struct map_case *c = *state;
	int fd = open_file(c->file, c->bytes + c->pages * page);
	struct nnb_memory memory = strange_memory(c, fd);
	struct nnb_mapping *m = UNTOUCHED;
	unsigned fds = count_fds();

	if (fd < 0)
		skip(); /* this machine has no such file */
	assert_int_equal(nnb_memory_check(&memory), 0);
	assert_int_equal(nnb_map(&m, &memory), c->want);
	if (c->want < 0)
		assert_ptr_equal(m, UNTOUCHED);
	else
		nnb_mapping_unref(m);
	assert_int_equal(count_fds(), fds);
	/* the same, and the mapping takes the file, with or without success */
	m = UNTOUCHED;
	assert_int_equal(nnb__map_taking(&m, &memory), c->want);
	assert_int_equal(memory.fds[0], -1);
	if (c->want < 0)
		assert_ptr_equal(m, UNTOUCHED);
	else
		nnb_mapping_unref(m);
	assert_int_equal(count_fds(), c->file == CLOSED ? fds : fds - 1);
}

/* A refusal does not change other mappings, even when mmap refuses late. */
static void a_file_that_may_not_be_written(void **state)
{
	int fd = new_file(3 * page, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE);
	struct nnb_memory memory = { .name = "ashmem", .size = 3 * page, .n_fds = 1, .fds = { fd } };
	struct nnb_mapping *m = UNTOUCHED;

	(void)state;
	assert_int_equal(nnb_map(&m, &memory), -EPERM);
	assert_ptr_equal(m, UNTOUCHED);
	m = map_fd(fd, page, PROT_READ, page);
	assert_false(nnb_mapping_writable(m));
	nnb_mapping_unref(m);
	close(fd);
}

static void a_file_open_for_reading_only(void **state)
{
	struct nnb_mapping *m = UNTOUCHED;
	struct nnb_memory memory;
	char path[64];
	int fd = new_file(page, 0);
	int readable;

	(void)state;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readable = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(readable >= 0);
	assert_int_equal(nnb_memory_mmap_fd(&memory, readable, page, RW, 0), 0);
	assert_int_equal(nnb_map(&m, &memory), -EACCES);
	assert_ptr_equal(m, UNTOUCHED);
	nnb_memory_close(&memory);
	nnb_mapping_unref(map_fd(readable, page, PROT_READ, 0));
	close(readable);
	close(fd);
}

static int cut_and_sealed = -1; /* as soon as its size was looked at */

int __real_fstat(int fd, struct stat *ret);
/* not hidden: the linker takes the fstat of a sanitizer's library for it, too */
__attribute__((visibility("default"))) int __wrap_fstat(int fd, struct stat *ret);

int __wrap_fstat(int fd, struct stat *ret)
{
	int r = __real_fstat(fd, ret);

	if (fd == cut_and_sealed && (ftruncate(fd, 0) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0))
		abort();
	return r;
}

/* A file keeps the size that it has when its seals are seen; its size before that may be another one. */
static void seals_are_seen_before_the_size(void **state)
{
	struct nnb__file file;
	int fd = new_file(2 * page, 0);

	(void)state;
	cut_and_sealed = fd;
	assert_int_equal(nnb__file_look(fd, &file), 0);
	cut_and_sealed = -1;
	assert_int_equal(file.size, 2 * page);
	assert_false(file.is_sealed);
	assert_int_equal(nnb__file_look(fd, &file), 0);
	assert_int_equal(file.size, 0);
	assert_true(file.is_sealed);
	close(fd);
}

static struct {
	const char *from, *to; /* of the mapping that is watched */
	unsigned times;
	bool has_given[64]; /* by parts */
} given_back;

int __real_madvise(void *start, size_t bytes, int advice);
__attribute__((visibility("default"))) int __wrap_madvise(void *start, size_t bytes, int advice);

int __wrap_madvise(void *start, size_t bytes, int advice)
{
	const char *at = start;

	if (at >= given_back.from && at < given_back.to && advice == MADV_DONTNEED) {
		given_back.times++;
		given_back.has_given[(at - given_back.from) / NNB__PAGES_PART] = true;
	}
	return __real_madvise(start, bytes, advice);
}

static const struct use_case {
	const char *name;
	uint64_t at, bytes; /* that are used; 0: none */
	bool is_taking;
	unsigned first, n; /* parts that are given back before the rest is unmapped */
} use_cases[] = {
	{ "of no use", 0, 0, true, 0, 0 },
	{ "used at its begin", 0, 1, true, 0, 1 },
	{ "used at its end", 64 * NNB__PAGES_PART - 1, 1, true, 63, 1 },
	{ "used over words of bits, and around", 8 * NNB__PAGES_PART, 56 * NNB__PAGES_PART, true, 7, 57 },
	{ "used near the begin of a part", 5 * NNB__PAGES_PART + 8, 8, true, 4, 2 },
	{ "used near the end of a part", 6 * NNB__PAGES_PART - 8, 8, true, 5, 2 },
	{ "for any use", 0, 0, false, 0, 64 },
};

/* A mapping for one execution is searched for pages only where it was used: a search may flush all cpus' TLBs. */
static void a_large_mapping_is_searched_where_it_was_used(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_OF(use_cases); i++) {
		const struct use_case *c = &use_cases[i];
		struct nnb_memory memory;
		struct nnb_mapping *m;

		assert_int_equal(nnb_memory_ashmem(&memory, 64 * NNB__PAGES_PART), 0);
		assert_int_equal(c->is_taking ? nnb__map_taking(&m, &memory) : nnb_map(&m, &memory), 0);
		if (c->bytes) {
			nnb__mapping_use(m, c->at, c->bytes);
			data_of(m)[c->at] = data_of(m)[c->at + c->bytes - 1] = 1;
		}
		memset(&given_back, 0, sizeof(given_back));
		given_back.from = (const char *)data_of(m);
		given_back.to = given_back.from + 64 * NNB__PAGES_PART;
		nnb_mapping_unref(m);
		given_back.to = given_back.from;
		print_message("%s\n", c->name);
		assert_int_equal(given_back.times, c->n);
		for (unsigned part = c->first; part < c->first + c->n; part++)
			assert_true(given_back.has_given[part]);
		nnb_memory_close(&memory);
	}
}

/* ---- mmap_fd ---- */

static void the_offset_is_where_it_begins(void **state)
{
	static const uint64_t offset_pages[] = { 0, 1, 2, GIB, 4 * GIB + 3 }; /* the last two above 2^32 bytes */
	uint64_t bytes = (offset_pages[N_OF(offset_pages) - 1] + 1) * page;
	int fd = new_file(bytes, 0);

	(void)state;
	for (unsigned i = 0; i < N_OF(offset_pages); i++) {
		uint64_t offset = offset_pages[i] * page;
		struct nnb_mapping *m = map_fd(fd, page, RW, offset);
		unsigned char byte = (unsigned char)(i + 1);

		assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
		assert_int_equal(data_of(m)[0], i + 1);
		data_of(m)[page - 1] = 200;
		assert_int_equal(pread(fd, &byte, 1, (off_t)(offset + page - 1)), 1);
		assert_int_equal(byte, 200);
		nnb_mapping_unref(m);
	}
	close(fd);
}

static const struct prot_case {
	const char *name;
	int prot;
	bool readable, writable;
} prot_cases[] = {
	{ "nothing", PROT_NONE, false, false },
	{ "reading", PROT_READ, true, false },
	{ "writing", PROT_WRITE, false, true },
	{ "both", RW, true, true },
};

static void a_mapping_has_the_protection_of_its_handle(void **state)
{
	const struct prot_case *c = *state;
	int fd = new_file(page, 0);
	struct nnb_mapping *m = map_fd(fd, page, c->prot, 0);

	assert_int_equal(nnb_mapping_readable(m), c->readable);
	assert_int_equal(nnb_mapping_writable(m), c->writable);
	assert_int_equal(dies_of(SIGSEGV, write_by_default, data_of(m)), !c->writable);
	if (!c->writable) /* a processor may read what it can write */
		assert_int_equal(dies_of(SIGSEGV, read_by_default, data_of(m)), !c->readable);
	assert_int_equal(data_of(m)[page], 0);
	assert_int_equal(nnb_mapping_flush(m), 0);
	nnb_mapping_unref(m);
	close(fd);
}

static void what_is_flushed_is_in_the_file(void **state)
{
	int fd = new_disk_file(2 * page + 5);
	struct nnb_mapping *m = map_fd(fd, page + 5, RW, page);
	char got[5];

	(void)state;
	memcpy(data_of(m) + page, "bytes", 5);
	assert_int_equal(nnb_mapping_flush(m), 0);
	assert_int_equal(pread(fd, got, 5, (off_t)(2 * page)), 5);
	assert_memory_equal(got, "bytes", 5);
	nnb_mapping_unref(m);
	close(fd);
}

/* Have every msync fail with EIO from here on. */
static bool break_msync(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_msync, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = N_OF(filter), .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void flush_without_msync(void *arg)
{
	struct nnb_mapping *const *m = arg;

	if (!break_msync())
		_exit(NO_SECCOMP);
	must(nnb_mapping_flush(m[0]) == -EIO);
	must(nnb_mapping_flush(m[1]) == 0);
	must(nnb_mapping_flush(m[2]) == 0);
	must(nnb_mapping_flush(m[3]) == 0);
}

static void only_written_mmap_fds_are_synced(void **state)
{
	int fd = new_file(page, 0);
	struct nnb_memory ashmem, blob;
	struct nnb_mapping *m[4];
	int status;

	(void)state;
	assert_int_equal(nnb_memory_ashmem(&ashmem, page), 0);
	assert_int_equal(nnb_memory_hardware_buffer_blob(&blob, page), 0);
	m[0] = map_fd(fd, page, RW, 0);
	m[1] = map_fd(fd, page, PROT_READ, 0);
	m[2] = map(&ashmem);
	m[3] = map(&blob);
	status = reap(spawn(flush_without_msync, m));
	for (unsigned i = 0; i < N_OF(m); i++)
		nnb_mapping_unref(m[i]);
	nnb_memory_close(&blob);
	nnb_memory_close(&ashmem);
	close(fd);
	if (lacks_seccomp(status))
		skip();
	assert_int_equal(status, 0);
}

/* ---- duplicating and closing ---- */

static void a_duplicate_is_its_own(void **state)
{
	struct nnb_memory memory, copy;
	unsigned fds = count_fds();
	struct nnb_mapping *one, *other;

	(void)state;
	assert_int_equal(nnb_memory_hardware_buffer_blob(&memory, 100), 0);
	assert_int_equal(nnb_memory_dup(&copy, &memory), 0);
	assert_int_not_equal(copy.fds[0], memory.fds[0]);
	assert_true(fcntl(copy.fds[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(copy.size, memory.size);
	assert_string_equal(copy.name, memory.name);
	assert_memory_equal(copy.ints, memory.ints, sizeof(copy.ints));
	one = map(&memory);
	nnb_memory_close(&memory);
	other = map(&copy);
	data_of(one)[99] = 7;
	assert_int_equal(data_of(other)[99], 7);
	nnb_memory_close(&copy);
	nnb_mapping_unref(one);
	nnb_mapping_unref(other);
	assert_int_equal(count_fds(), fds);
}

/*
 * The fds and ints beyond the counts are not duplicated: they may be anything, and the copy may be sent to
 * others.
 */
static void only_what_counts_is_duplicated(void **state)
{
	int fd = new_file(1, 0);
	struct nnb_memory copy;
	struct nnb_memory memory = {
		.name = "known\0to somebody", .size = 9, .n_fds = 1, .n_ints = 1, .fds = { fd, 5 }, .ints = { 3, 4 }
	};

	(void)state;
	assert_int_equal(nnb_memory_dup(&copy, &memory), 0);
	assert_int_equal(nnb_memory_check(&copy), -ENOTSUP);
	assert_int_equal(copy.ints[0], 3);
	assert_int_equal(copy.ints[1], 0);
	assert_int_equal(copy.fds[1], 0);
	for (size_t i = strlen(copy.name); i < sizeof(copy.name); i++)
		assert_int_equal(copy.name[i], 0);
	nnb_memory_close(&copy);
	close(fd);
}

static void closing_closes_once(void **state)
{
	int fds[3] = { new_file(1, 0), new_file(1, 0), new_file(1, 0) };
	struct nnb_memory memory = { .name = "two", .n_fds = 2, .fds = { fds[0], fds[1] } };
	struct nnb_memory hostile = { .name = "many", .n_fds = UINT32_MAX, .fds = { -1, -1 }, .ints = { fds[2] } };
	struct nnb_memory zeroes = { 0 };

	(void)state;
	nnb_memory_close(&memory);
	assert_int_equal(fcntl(fds[0], F_GETFD), -1);
	assert_int_equal(fcntl(fds[1], F_GETFD), -1);
	nnb_memory_close(&memory);
	nnb_memory_close(&hostile);
	nnb_memory_close(&zeroes);
	nnb_memory_close(NULL);
	assert_null(nnb_mapping_unref(NULL));
	assert_int_not_equal(fcntl(0, F_GETFD), -1);
	assert_int_not_equal(fcntl(fds[2], F_GETFD), -1);
	close(fds[2]);
}

/* ---- any thread ---- */

enum { THREADS = 4, ROUNDS = 250 };

struct crowd {
	struct nnb_memory memory;
	struct nnb_mapping *shared;
	_Atomic unsigned next;
	uint64_t ids[THREADS][ROUNDS];
	_Atomic unsigned wrong;
};

/* Map, hold what other threads hold too, release. */
static void *map_and_hold(void *arg)
{
	struct crowd *crowd = arg;
	uint64_t *ids = crowd->ids[atomic_fetch_add(&crowd->next, 1)];

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct nnb_mapping *m = NULL;

		crowd->wrong += nnb_map(&m, &crowd->memory) != 0;
		ids[i] = nnb_mapping_id(m);
		nnb_mapping_ref(crowd->shared);
		crowd->wrong += data_of(m)[0] != 9 || data_of(crowd->shared)[0] != 9;
		crowd->wrong += nnb_mapping_torn(m, nnb_mapping_mark(m));
		nnb_mapping_unref(crowd->shared);
		nnb_mapping_unref(m);
	}
	nnb_mapping_unref(crowd->shared); /* each thread has one */
	return NULL;
}

static void threads_map_and_hold(void **state)
{
	const enum nnb_memory_kind *kind = *state;
	static struct crowd crowd;
	uint64_t *ids = &crowd.ids[0][0];
	pthread_t threads[THREADS];
	unsigned char *data;

	memset(&crowd, 0, sizeof(crowd));
	assert_int_equal(make(&crowd.memory, *kind, page), 0);
	crowd.shared = map(&crowd.memory);
	data = data_of(crowd.shared);
	data[0] = 9;
	for (unsigned i = 0; i < THREADS; i++)
		nnb_mapping_ref(crowd.shared);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, map_and_hold, &crowd), 0);
	nnb_mapping_unref(crowd.shared);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(crowd.wrong, 0);
	assert_false(is_mapped(data));
	qsort(ids, THREADS * ROUNDS, sizeof(ids[0]), by_number);
	assert_int_not_equal(ids[0], 0);
	for (unsigned i = 1; i < THREADS * ROUNDS; i++)
		assert_int_not_equal(ids[i], ids[i - 1]);
	nnb_memory_close(&crowd.memory);
}

/* ---- zeroes that stay, for the next mapping of that size ---- */

enum { KEPT_MOST = 16, KEPT_PAGES_MOST = 4095 };

static struct nnb_mapping *map_pages_of(enum nnb_memory_kind kind, size_t pages)
{
	struct nnb_memory memory;
	struct nnb_mapping *m;

	assert_int_equal(make(&memory, kind, pages * page), 0);
	m = map(&memory);
	nnb_memory_close(&memory);
	memset(data_of(m), 0xee, page);
	memset(data_of(m) + (pages - 1) * page, 0xee, page);
	return m;
}

static void assert_zeroes_at(unsigned char *at)
{
	for (size_t i = 0; i < page; i++)
		assert_int_equal(at[i], 0);
	assert_true(dies_of(SIGSEGV, write_by_default, at));
}

static void the_next_one_is_before_the_same_zeroes(void **state)
{
	const enum nnb_memory_kind *kind = *state;
	struct nnb_mapping *m = map_pages_of(*kind, 17);
	unsigned char *data = data_of(m), *zeroes = data + 17 * page;

	nnb_mapping_unref(m);
	assert_false(is_mapped(data));
	assert_zeroes_at(zeroes);
	m = map_pages_of(*kind, 17);
	assert_ptr_equal(data_of(m), data);
	assert_zeroes_at(zeroes);
	nnb_mapping_unref(m);
	m = map_pages_of(*kind, 18); /* of another size */
	assert_ptr_not_equal(data_of(m) + 18 * page, zeroes);
	assert_zeroes_at(zeroes);
	nnb_mapping_unref(m);
}

/* What another thread has mapped where a file was stays there. */
static void nothing_is_mapped_over(void **state)
{
	const enum nnb_memory_kind *kind = *state;
	struct nnb_mapping *m = map_pages_of(*kind, 17);
	unsigned char *data = data_of(m), *own = data + 3 * page;

	nnb_mapping_unref(m);
	assert_ptr_equal(mmap(own, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), own);
	memset(own, 0x11, page);
	m = map_pages_of(*kind, 17);
	assert_true(data_of(m) + 17 * page <= own || data_of(m) >= own + page);
	assert_zeroes_at(data_of(m) + 17 * page);
	for (size_t i = 0; i < page; i++)
		assert_int_equal(own[i], 0x11);
	nnb_mapping_unref(m);
	munmap(own, page);
}

/* Of mappings of many sizes, and of any number at once, few pages stay. */
static void few_zeroes_stay(void **state)
{
	const enum nnb_memory_kind *kind = *state;
	unsigned char *behind[3 * KEPT_MOST];
	struct nnb_mapping *m[N_OF(behind)];
	unsigned n = 0;

	for (unsigned i = 0; i < N_OF(m); i++) {
		m[i] = map_pages_of(*kind, i / 2 + 1);
		behind[i] = data_of(m[i]) + (i / 2 + 1) * page;
	}
	for (unsigned i = 0; i < N_OF(m); i++)
		nnb_mapping_unref(m[i]);
	for (unsigned i = 0; i < N_OF(m); i++)
		n += is_mapped(behind[i]);
	assert_in_range(n, 1, KEPT_MOST);
}

static void none_stay_behind_much(void **state)
{
	const enum nnb_memory_kind *kind = *state;
	struct nnb_mapping *m = map_pages_of(*kind, KEPT_PAGES_MOST + 1);
	unsigned char *behind = data_of(m) + (KEPT_PAGES_MOST + 1) * page;

	assert_zeroes_at(behind);
	nnb_mapping_unref(m);
	assert_false(is_mapped(behind) || is_mapped(behind - page));
}

/* No zeroes are kept behind a file that stays mapped: they stay, too, and no file is mapped before them. */
static void none_are_kept_behind_what_stays(void **state)
{
	const enum nnb_memory_kind *kind = *state;
	const size_t pages = 33 + *kind; /* no other test leaves zeroes for that many */
	struct nnb__gate *gate;
	struct nnb_mapping *m;
	unsigned char *data;

	assert_int_equal(nnb__gates_begin(), 0);
	gate = nnb__gate_of(1, NULL, NULL);
	nnb__gate_enter(gate, NULL);
	m = map_pages_of(*kind, pages);
	nnb__gate_enter(NULL, NULL);
	data = data_of(m);
	assert_true(nnb__gates_leave(0)); /* from now on nothing of the gate is unmapped */
	nnb_mapping_unref(m);
	assert_null(nnb__gate_unref(gate));
	nnb_mapping_unref(map_pages_of(*kind, pages));
	assert_true(is_mapped(data) && is_mapped(data + pages * page));
	assert_zeroes_at(data + pages * page);
	munmap(data, (pages + 1) * page);
}

static void sealed_kinds_are_never_torn(void **state)
{
	const enum nnb_memory_kind *kind = *state;
	struct nnb_memory memory;
	struct nnb_mapping *m;

	assert_int_equal(make(&memory, *kind, page), 0);
	m = map(&memory);
	if (*kind != NNB_MEMORY_MMAP_FD)
		assert_int_equal(ftruncate(memory.fds[0], 0), -1);
	assert_int_equal(nnb_mapping_mark(m), 0);
	assert_false(nnb_mapping_torn(m, 0));
	nnb_mapping_unref(m);
	nnb_memory_close(&memory);
}

static const struct {
	const char *name;
	CMUnitTestFunction run;
} functions[] = {
	{ "kinds and names (P table)", kinds_and_names },
	{ "a file that may not be written is not mapped for it", a_file_that_may_not_be_written },
	{ "a large mapping is searched where it was used", a_large_mapping_is_searched_where_it_was_used },
	{ "a file open for reading only is mapped for reading only", a_file_open_for_reading_only },
	{ "the seals of a file are seen before its size", seals_are_seen_before_the_size },
	{ "mmap_fd: the offset is where it begins (P table)", the_offset_is_where_it_begins },
	{ "mmap_fd: what is flushed is in the file (P-16)", what_is_flushed_is_in_the_file },
	{ "only mmap_fds that are written are synced (P table)", only_written_mmap_fds_are_synced },
	{ "a duplicate is its own", a_duplicate_is_its_own },
	{ "only what counts is duplicated", only_what_counts_is_duplicated },
	{ "closing closes once", closing_closes_once },
};

static const struct {
	const char *name;
	CMUnitTestFunction run;
} of_every_kind[] = {
	{ "threads map and hold, and no id comes twice", threads_map_and_hold },
	{ "whole is not torn", sealed_kinds_are_never_torn },
	{ "the next one is before the same zeroes", the_next_one_is_before_the_same_zeroes },
	{ "nothing is mapped over what has come before kept zeroes", nothing_is_mapped_over },
	{ "few zeroes stay", few_zeroes_stay },
	{ "none stay behind what is large", none_stay_behind_much },
	{ "none are kept behind what stays mapped", none_are_kept_behind_what_stays },
};

/* ---- all of them ---- */

static void add_sized(void)
{
	static const struct sized sizes[] = { { 0, 0, 1 }, { 0, 0, 100 }, { 0, 1, 0 },
		                              { 0, 1, 1 }, { 0, 3, 0 },   { 0, 200, 5 } /* unmapped in two parts */ };
	size_t n = 0;

	for (size_t k = 0; k < N_OF(mapped_kinds); k++)
		for (size_t i = 0; i < N_OF(sizes); i++, n++) {
			all_sized[n] = (struct sized){ mapped_kinds[k], sizes[i].pages, sizes[i].more };
			for (size_t j = 0; j < N_OF(of_every_size); j++)
				add_test(of_every_size[j].run, NULL, NULL, &all_sized[n],
				         "%s of %zu pages, %zu bytes: %s", nnb_memory_kind_name(mapped_kinds[k]),
				         sizes[i].pages, sizes[i].more, of_every_size[j].name);
		}
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	add_sized();
	for (size_t i = 0; i < N_OF(check_cases); i++)
		add_test(check_shape, NULL, NULL, (void *)&check_cases[i], "%s: %s (R8)",
		         check_cases[i].want ? "not canonical" : "canonical", check_cases[i].name);
	for (size_t i = 0; i < N_OF(make_cases); i++)
		add_test(refuse_to_make, NULL, NULL, (void *)&make_cases[i], "not made: %s", make_cases[i].name);
	for (size_t i = 0; i < N_OF(buffer_cases); i++)
		add_test(describe_and_refuse_to_map, NULL, NULL, (void *)&buffer_cases[i],
		         "hardware_buffer, carried and never mapped (P-14): %s", buffer_cases[i].name);
	for (size_t i = 0; i < N_OF(map_cases); i++)
		add_test(map_a_strange_file, NULL, NULL, (void *)&map_cases[i], "%s (P-15): %s",
		         map_cases[i].want ? "not mapped" : "mapped", map_cases[i].name);
	for (size_t i = 0; i < N_OF(prot_cases); i++)
		add_test(a_mapping_has_the_protection_of_its_handle, NULL, NULL, (void *)&prot_cases[i],
		         "mmap_fd for %s (P table)", prot_cases[i].name);
	for (size_t i = 0; i < N_OF(functions); i++)
		add_test(functions[i].run, NULL, NULL, NULL, "%s", functions[i].name);
	for (size_t i = 0; i < N_OF(mapped_kinds); i++)
		for (size_t j = 0; j < N_OF(of_every_kind); j++)
			add_test(of_every_kind[j].run, NULL, NULL, (void *)&mapped_kinds[i], "%s: %s",
			         nnb_memory_kind_name(mapped_kinds[i]), of_every_kind[j].name);
	return _cmocka_run_group_tests("memory", tests, n_tests, NULL, NULL);
}
