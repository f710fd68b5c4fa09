/*
 * test_dma_buf.c -- dma-bufs and memfds as hardware_buffer_blob and mmap_fd.
 *
 * Few kernels let a test make a dma-buf. Where /dev/udmabuf is missing, the rows of real dma-bufs are skipped
 * with a message. The other rows use a memfd that answers like a dma-buf: this program's fstat, fstatfs, mmap
 * and ioctl replace the C library's, for libnnburst, too.
 */
#include "unit/device_helpers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/scrambled.h"

enum { N = 1024, BYTES = 8192 }; /* floats of the input and of the output, which take two pages */

/* ---- a file that answers as a dma-buf ---- */

static struct {
	ino_t file;
	uint64_t bytes;
	unsigned begins, ends; /* the numbers of accesses */
	uint64_t last;         /* flags of the last access */
	bool interrupts;       /* the next access is interrupted */
} fake;

static bool is_fake(int fd)
{
	struct stat st;

	return fake.file && fd >= 0 && syscall(SYS_fstat, fd, &st) == 0 && st.st_ino == fake.file;
}

NNB_PUBLIC int fstat(int fd, struct stat *ret)
{
	int r = (int)syscall(SYS_fstat, fd, ret);

	if (r == 0 && is_fake(fd))
		ret->st_dev++; /* dma-bufs have a device of their own */
	return r;
}

NNB_PUBLIC int fstatfs(int fd, struct statfs *ret)
{
	int r = (int)syscall(SYS_fstatfs, fd, ret);

	if (r == 0 && is_fake(fd))
		ret->f_type = DMA_BUF_MAGIC;
	return r;
}

/* TSan maps memory with it before TSan can be called. */
__attribute__((no_sanitize("thread"))) NNB_PUBLIC void *mmap(void *at, size_t bytes, int prot, int flags, int fd,
                                                             off_t offset)
{
	if (!(flags & MAP_ANONYMOUS) && is_fake(fd) && (uint64_t)offset + bytes > fake.bytes) {
		errno = EINVAL; /* the kernel's own error */
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
}

NNB_PUBLIC int ioctl(int fd, unsigned long request, ...)
{
	struct dma_buf_sync *sync;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request != DMA_BUF_IOCTL_SYNC || !is_fake(fd))
		return (int)syscall(SYS_ioctl, fd, request, arg);
	if (fake.interrupts) {
		fake.interrupts = false;
		errno = EINTR;
		return -1;
	}
	sync = arg;
	fake.last = sync->flags;
	*(sync->flags & DMA_BUF_SYNC_END ? &fake.ends : &fake.begins) += 1;
	return 0;
}

static int new_memfd(uint64_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

/* Without seals, so that the library cannot take the fake dma-buf for a sealed memfd. */
static int new_fake(uint64_t bytes)
{
	struct stat st;
	int fd = new_memfd(bytes, 0);

	assert_int_equal(fstat(fd, &st), 0);
	memset(&fake, 0, sizeof(fake));
	fake.file = st.st_ino;
	fake.bytes = bytes;
	return fd;
}

static int no_fake(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

/* A BLOB of @fd, which is closed. */
static struct nnb_memory blob_of(int fd, uint64_t bytes)
{
	struct nnb_memory m;

	assert_int_equal(nnb_memory_hardware_buffer_blob_fd(&m, fd, bytes), 0);
	assert_int_equal(nnb_memory_kind(&m), NNB_MEMORY_HARDWARE_BUFFER_BLOB);
	close(fd);
	return m;
}

static struct nnb_memory file_of(int fd, uint64_t bytes, uint64_t offset)
{
	struct nnb_memory m;

	assert_int_equal(nnb_memory_mmap_fd(&m, fd, bytes, PROT_READ | PROT_WRITE, offset), 0);
	close(fd);
	return m;
}

/* ---- memories that can be mapped ---- */

static void expect_mapped(struct nnb_memory *m, int through, uint64_t offset)
{
	struct nnb_mapping *mapping;
	unsigned char *data, byte;

	assert_int_equal(nnb_map(&mapping, m), 0);
	nnb_memory_close(m);
	data = nnb_mapping_data(mapping);
	data[3] = 42;
	assert_int_equal(pread(through, &byte, 1, (off_t)offset + 3), 1);
	assert_int_equal(byte, 42);
	for (size_t i = 0; i < NNB_MAPPING_SLACK; i++)
		assert_int_equal(data[(nnb_mapping_size(mapping) + 4095) / 4096 * 4096 + i], 0);
	assert_false(nnb_mapping_torn(mapping, nnb_mapping_mark(mapping)));
	assert_int_equal(nnb_mapping_flush(mapping), 0);
	nnb_mapping_unref(mapping);
	close(through);
}

static void a_sealed_memfd_is_imported_as_a_blob(void **state)
{
	int fd = new_memfd(BYTES, F_SEAL_SHRINK), through = dup(fd);
	struct nnb_memory m = blob_of(fd, 5000);

	(void)state;
	expect_mapped(&m, through, 0);
}

static void a_dma_buf_is_imported_as_a_blob(void **state)
{
	int fd = new_fake(BYTES), through = dup(fd);
	struct nnb_memory m = blob_of(fd, BYTES);

	(void)state;
	fake.interrupts = true;
	expect_mapped(&m, through, 0);
	assert_int_equal(fake.begins, 1);
	assert_int_equal(fake.ends, 1);
	assert_int_equal(fake.last, DMA_BUF_SYNC_RW | DMA_BUF_SYNC_END);
}

static void a_part_of_a_dma_buf_is_a_file(void **state)
{
	int fd = new_fake(BYTES), through = dup(fd);
	struct nnb_memory m = file_of(fd, 4000, 4096);

	(void)state;
	expect_mapped(&m, through, 4096);
	assert_int_equal(fake.begins, 1);
	assert_int_equal(fake.ends, 1);
}

static void a_read_only_dma_buf_is_only_read(void **state)
{
	struct nnb_mapping *mapping;
	struct nnb_memory m;
	int fd = new_fake(BYTES);

	(void)state;
	assert_int_equal(nnb_memory_mmap_fd(&m, fd, BYTES, PROT_READ, 0), 0);
	close(fd);
	assert_int_equal(nnb_map(&mapping, &m), 0);
	assert_int_equal(fake.last, DMA_BUF_SYNC_READ | DMA_BUF_SYNC_START);
	assert_false(nnb_mapping_writable(mapping));
	nnb_mapping_unref(mapping);
	nnb_memory_close(&m);
}

static void expect_refused(struct nnb_memory m, int error)
{
	struct nnb_mapping *mapping;

	assert_int_equal(nnb_map(&mapping, &m), error);
	nnb_memory_close(&m);
	assert_int_equal(fake.begins, fake.ends);
}

static void a_file_shorter_than_its_memory_is_refused(void **state)
{
	struct nnb_memory m;

	(void)state;
	expect_refused(blob_of(new_fake(BYTES), BYTES + 1), -EINVAL);
	expect_refused(file_of(new_fake(BYTES), BYTES, 4096), -EINVAL);
	expect_refused(blob_of(new_memfd(BYTES, F_SEAL_SHRINK), BYTES + 1), -EINVAL);
	expect_refused(blob_of(new_memfd(BYTES, 0), BYTES), -EPERM); /* its owner could shrink it */
	expect_refused(blob_of(open("/dev/zero", O_RDWR | O_CLOEXEC), BYTES), -EPERM);
	m = blob_of(new_fake(BYTES), BYTES); /* an ashmem memory is not a dma-buf */
	strcpy(m.name, "ashmem");
	m.n_ints = 0;
	expect_refused(m, -EPERM);
	assert_int_equal(nnb_memory_hardware_buffer_blob_fd(&m, 0, 0), -EINVAL);
	assert_int_equal(nnb_memory_hardware_buffer_blob_fd(&m, 0, UINT64_C(1) << 32), -EINVAL);
	assert_int_equal(nnb_memory_hardware_buffer_blob_fd(&m, -1, BYTES), -EBADF);
}

/* ---- executions ---- */

struct scene {
	struct nnb_device *device;
	struct nnb_prepared *prepared;
	struct nnb_model *model;
	struct nnb_argument in, out;
	struct nnb_memory pool;
	struct nnb_request request;
	float *data; /* the data as another device sees it */
};

static void scene_init_with(struct scene *s, const char *driver, struct nnb_memory pool, int through)
{
	memset(s, 0, sizeof(*s));
	s->device = open_device(driver);
	s->model = vector_model(NNB_ADD, N, 1);
	s->prepared = prepared(s->device, s->model);
	s->in.location = (struct nnb_location){ 0, 0, N * 4 };
	s->out.location = (struct nnb_location){ 0, N * 4, N * 4 };
	s->pool = pool;
	s->request = (struct nnb_request){
		.inputs = &s->in, .outputs = &s->out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &s->pool
	};
	s->data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, through, 0);
	assert_true(s->data != MAP_FAILED);
	for (uint32_t i = 0; i < N; i++)
		s->data[i] = (float)i;
	close(through);
}

static void scene_init(struct scene *s, struct nnb_memory pool, int through)
{
	scene_init_with(s, "xnnpack", pool, through);
}

static void scene_fini(struct scene *s)
{
	munmap(s->data, BYTES);
	nnb_memory_close(&s->pool);
	nnb_prepared_unref(s->prepared);
	nnb_model_free(s->model);
	nnb_device_unref(s->device);
}

static void expect_result(struct scene *s)
{
	for (uint32_t i = 0; i < N; i++)
		assert_true(s->data[N + i] == vector_expected(NNB_ADD, 1, i, (float)i));
	memset(s->data + N, 0, N * 4);
}

static void run_to_its_end(struct nnb_execution *e)
{
	bool finished;

	assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_NONE);
	assert_true(finished);
}

static void an_execution_brackets_its_accesses(void **state)
{
	int fd = new_fake(BYTES), through = dup(fd);
	struct nnb_reason why = { "" };
	struct nnb_mapping *mapping;
	struct nnb_execution *e;
	struct scene s;

	(void)state;
	scene_init(&s, blob_of(fd, BYTES), through);
	assert_int_equal(nnb_execute(s.prepared, &s.request, NULL, &why), NNB_STATUS_NONE);
	expect_result(&s);
	assert_int_equal(fake.begins, 2); /* one by the mapping, one by the execution */
	assert_int_equal(fake.ends, 2);

	/* a burst keeps the mapping: the device gets the buffer back after each execution */
	assert_int_equal(nnb_map(&mapping, &s.pool), 0);
	fake.begins = fake.ends = 0;
	assert_int_equal(nnb_execution_begin(s.prepared, &s.request, &mapping, false, NULL, &e, &why), NNB_STATUS_NONE);
	assert_int_equal(fake.begins, 1);
	run_to_its_end(e);
	assert_int_equal(fake.ends, 1);
	expect_result(&s);
	assert_int_equal(nnb_execution_again(e, &s.request, &mapping, false, NULL, &why), NNB_STATUS_NONE);
	assert_int_equal(fake.begins, 2);
	run_to_its_end(e);
	assert_int_equal(fake.ends, 2);
	assert_int_equal(nnb_execution_restart(e), NNB_STATUS_NONE);
	assert_int_equal(fake.begins, 3);
	nnb_execution_end(e); /* before it ran */
	assert_int_equal(fake.ends, 3);
	nnb_mapping_unref(mapping);
	scene_fini(&s);
}

/* A burst then frees the mapping when the app frees the slot, although the execution stays bound. */
static void an_execution_that_the_driver_refuses_to_restart_accesses_nothing(void **state)
{
	int fd = new_fake(BYTES), through = dup(fd);
	struct nnb_reason why = { "" };
	struct nnb_mapping *mapping;
	struct nnb_execution *e;
	struct scrambled *driver;
	struct scene s;
	void *object;

	(void)state;
	scene_init_with(&s, DRIVER_SCRAMBLED, blob_of(fd, BYTES), through);
	object = dlopen(DRIVER_SCRAMBLED, RTLD_NOW | RTLD_NOLOAD);
	driver = dlsym(object, "nnb_scrambled");
	assert_non_null(driver);
	dlclose(object);
	assert_int_equal(nnb_map(&mapping, &s.pool), 0);
	fake.begins = fake.ends = 0;
	assert_int_equal(nnb_execution_begin(s.prepared, &s.request, &mapping, false, NULL, &e, &why), NNB_STATUS_NONE);
	run_to_its_end(e);
	assert_int_equal(fake.begins, fake.ends);
	atomic_store(&driver->run_begins, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_int_equal(nnb_execution_restart(e), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	atomic_store(&driver->run_begins, NNB_STATUS_NONE);
	assert_int_equal(fake.begins, fake.ends);
	nnb_mapping_unref(mapping);
	nnb_execution_end(e); /* uses the mapping no more */
	scene_fini(&s);
}

/* ---- real ones ---- */

static void a_real_dma_buf_is_used(void **state)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memfd, fd;
	struct nnb_reason why = { "" };
	struct scene s;

	(void)state;
	if (device < 0) {
		print_message("skipped: /dev/udmabuf cannot be opened here: no real dma-buf was tried\n");
		skip();
	}
	memfd = new_memfd(BYTES, F_SEAL_SHRINK);
	for (int kind = 0; kind < 2; kind++) {
		fd = ioctl(device, UDMABUF_CREATE,
		           &(struct udmabuf_create){
				   .memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = BYTES });
		assert_true(fd >= 0);
		scene_init(&s, kind ? file_of(fd, BYTES, 0) : blob_of(fd, BYTES), dup(memfd));
		assert_int_equal(nnb_execute(s.prepared, &s.request, NULL, &why), NNB_STATUS_NONE);
		expect_result(&s);
		scene_fini(&s);
	}
	close(memfd);
	close(device);
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup(test, no_fake)
	const struct CMUnitTest rows[] = {
		ROW(a_sealed_memfd_is_imported_as_a_blob),
		ROW(a_dma_buf_is_imported_as_a_blob),
		ROW(a_part_of_a_dma_buf_is_a_file),
		ROW(a_read_only_dma_buf_is_only_read),
		ROW(a_file_shorter_than_its_memory_is_refused),
		ROW(an_execution_brackets_its_accesses),
		ROW(an_execution_that_the_driver_refuses_to_restart_accesses_nothing),
		ROW(a_real_dma_buf_is_used),
	};

	return cmocka_run_group_tests(rows, NULL, NULL);
}
