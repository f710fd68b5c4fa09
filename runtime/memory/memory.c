/*
 * memory.c -- memories that are not mapped: making, distinguishing kinds, judging, duplicating.
 *
 * TRUST     A struct nnb_memory may have come from a stranger, so its counts bound nothing before fds_whole() has seen
 *           them, and its integers are taken for what they claim only after the shape of its kind. The files behind
 *           the fds are looked at where they are mapped, in mapping.c.
 */
#include "nnb/memory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/close.h"
#include "base/kept.h"
#include "base/sealed.h"
#include "memory/handle.h"

#define MEMFD_NAME "nnb-memory"

enum { MMAP_FD_PROT, MMAP_FD_OFFSET_LOW, MMAP_FD_OFFSET_HIGH, MMAP_FD_INTS };
enum { TOKEN_LOW, TOKEN_HIGH, TOKEN_INTS };
enum { BUFFER_WIDTH, BUFFER_HEIGHT, BUFFER_LAYERS, BUFFER_FORMAT, BUFFER_STRIDE, BUFFER_INTS };

static const struct shape {
	const char *name;
	uint32_t n_fds, n_ints;
} shapes[] = {
	[NNB_MEMORY_ASHMEM] = { "ashmem", 1, 0 },
	[NNB_MEMORY_MMAP_FD] = { "mmap_fd", 1, MMAP_FD_INTS },
	[NNB_MEMORY_HARDWARE_BUFFER_BLOB] = { "hardware_buffer_blob", 1, BUFFER_INTS },
	[NNB_MEMORY_HARDWARE_BUFFER] = { "hardware_buffer", 1, BUFFER_INTS },
	[NNB_MEMORY_TOKEN] = { "token", 0, TOKEN_INTS },
};

/* ---- checks ---- */

enum nnb_memory_kind nnb_memory_kind(const struct nnb_memory *memory)
{
	for (unsigned kind = 0; kind < NNB_MEMORY_UNKNOWN; kind++)
		if (memory->name[0] == shapes[kind].name[0] && /* the first letter decides nearly always */
		    strncmp(memory->name, shapes[kind].name, sizeof(memory->name)) == 0)
			return (enum nnb_memory_kind)kind;
	return NNB_MEMORY_UNKNOWN;
}

const char *nnb_memory_kind_name(enum nnb_memory_kind kind)
{
	return (unsigned)kind < NNB_MEMORY_UNKNOWN ? shapes[kind].name : "";
}

/* Whether the name ends and the counts are in bounds, so that the struct can be read. */
static bool fds_whole(const struct nnb_memory *m)
{
	if (strnlen(m->name, sizeof(m->name)) == sizeof(m->name) || m->n_fds > NNB_MEMORY_FDS ||
	    m->n_ints > NNB_MEMORY_INTS)
		return false;
	for (uint32_t i = 0; i < m->n_fds; i++)
		if (m->fds[i] < 0)
			return false;
	return true;
}

int nnb__handle_prot(const struct nnb_memory *m)
{
	assert(m->n_ints == MMAP_FD_INTS);
	return m->ints[MMAP_FD_PROT];
}

uint64_t nnb__handle_offset(const struct nnb_memory *m)
{
	assert(m->n_ints == MMAP_FD_INTS);
	return (uint64_t)(uint32_t)m->ints[MMAP_FD_OFFSET_HIGH] << 32 | (uint32_t)m->ints[MMAP_FD_OFFSET_LOW];
}

uint64_t nnb__handle_token(const struct nnb_memory *m)
{
	assert(m->n_ints == TOKEN_INTS);
	return (uint64_t)(uint32_t)m->ints[TOKEN_HIGH] << 32 | (uint32_t)m->ints[TOKEN_LOW];
}

static struct nnb_hardware_buffer description_of(const struct nnb_memory *m)
{
	return (struct nnb_hardware_buffer){
		.width = (uint32_t)m->ints[BUFFER_WIDTH],
		.height = (uint32_t)m->ints[BUFFER_HEIGHT],
		.layers = (uint32_t)m->ints[BUFFER_LAYERS],
		.format = (uint32_t)m->ints[BUFFER_FORMAT],
		.stride = (uint32_t)m->ints[BUFFER_STRIDE],
	};
}

void nnb_memory_description(const struct nnb_memory *memory, struct nnb_hardware_buffer *ret)
{
	assert(memory->n_ints == BUFFER_INTS);
	*ret = description_of(memory);
}

static uint32_t bytes_per_pixel(uint32_t format)
{
	switch (format) {
	case NNB_FORMAT_R8G8B8A8:
	case NNB_FORMAT_R8G8B8X8:
		return 4;
	case NNB_FORMAT_R8G8B8:
		return 3;
	case NNB_FORMAT_R5G6B5:
		return 2;
	case NNB_FORMAT_R16G16B16A16_FLOAT:
		return 8;
	default:
		return 0;
	}
}

/* The bytes of a buffer of pixels; 0 where there can be no such buffer. */
static uint64_t hardware_bytes_of(const struct nnb_hardware_buffer *d)
{
	uint64_t bytes;

	if (!d->width || d->stride < d->width)
		return 0;
	if (__builtin_mul_overflow((uint64_t)d->stride * d->height, d->layers, &bytes) ||
	    __builtin_mul_overflow(bytes, bytes_per_pixel(d->format), &bytes))
		return 0;
	return bytes <= INT64_MAX ? bytes : 0;
}

int nnb_memory_check(const struct nnb_memory *m)
{
	enum nnb_memory_kind kind = nnb_memory_kind(m);
	struct nnb_hardware_buffer d;
	bool canonical = true;
	uint64_t end;

	if (!fds_whole(m))
		return -EINVAL;
	if (kind == NNB_MEMORY_UNKNOWN)
		return -ENOTSUP;
	if (m->n_fds != shapes[kind].n_fds || m->n_ints != shapes[kind].n_ints ||
	    !m->size != (kind == NNB_MEMORY_TOKEN))
		return -EINVAL;
	if (kind == NNB_MEMORY_MMAP_FD)
		canonical = !(nnb__handle_prot(m) & ~(PROT_READ | PROT_WRITE)) &&
		            !__builtin_add_overflow(nnb__handle_offset(m), m->size, &end);
	if (kind == NNB_MEMORY_HARDWARE_BUFFER_BLOB || kind == NNB_MEMORY_HARDWARE_BUFFER)
		d = description_of(m);
	if (kind == NNB_MEMORY_HARDWARE_BUFFER_BLOB) /* one row of bytes */
		canonical = d.width == m->size && d.height == 1 && d.layers == 1 && d.format == NNB_FORMAT_BLOB &&
		            d.stride == m->size;
	if (kind == NNB_MEMORY_HARDWARE_BUFFER)
		canonical = hardware_bytes_of(&d) == m->size;
	return canonical ? 0 : -EINVAL;
}

/* ---- making ---- */

/* The handle of @kind, with a place for its fd. */
static struct nnb_memory memory_begin(enum nnb_memory_kind kind, uint64_t size)
{
	struct nnb_memory m = { .size = size, .n_fds = shapes[kind].n_fds, .n_ints = shapes[kind].n_ints };

	strcpy(m.name, shapes[kind].name);
	return m;
}

/* Check @m, and make its memfd. */
static int memory_finish(struct nnb_memory *ret, struct nnb_memory *m)
{
	int r = nnb_memory_check(m);

	if (r < 0)
		return r;
	m->fds[0] = nnb__sealed_new(MEMFD_NAME, m->size);
	if (m->fds[0] < 0)
		return m->fds[0];
	*ret = *m;
	return 0;
}

int nnb_memory_ashmem(struct nnb_memory *ret, uint64_t size)
{
	struct nnb_memory m = memory_begin(NNB_MEMORY_ASHMEM, size);

	return memory_finish(ret, &m);
}

int nnb_memory_mmap_fd(struct nnb_memory *ret, int fd, uint64_t size, int prot, uint64_t offset)
{
	struct nnb_memory m = memory_begin(NNB_MEMORY_MMAP_FD, size);
	int r;

	m.ints[MMAP_FD_PROT] = prot;
	m.ints[MMAP_FD_OFFSET_LOW] = (int32_t)(uint32_t)offset;
	m.ints[MMAP_FD_OFFSET_HIGH] = (int32_t)(uint32_t)(offset >> 32);
	r = nnb_memory_check(&m);
	if (r < 0)
		return r;
	m.fds[0] = nnb__dup(fd);
	if (m.fds[0] < 0)
		return m.fds[0];
	*ret = m;
	return 0;
}

static void memory_describe(struct nnb_memory *m, const struct nnb_hardware_buffer *d)
{
	m->ints[BUFFER_WIDTH] = (int32_t)d->width;
	m->ints[BUFFER_HEIGHT] = (int32_t)d->height;
	m->ints[BUFFER_LAYERS] = (int32_t)d->layers;
	m->ints[BUFFER_FORMAT] = (int32_t)d->format;
	m->ints[BUFFER_STRIDE] = (int32_t)d->stride;
}

/* A size that does not fit into the integers is not the width it is cut to, and so not canonical. */
int nnb_memory_hardware_buffer_blob(struct nnb_memory *ret, uint64_t size)
{
	struct nnb_memory m = memory_begin(NNB_MEMORY_HARDWARE_BUFFER_BLOB, size);

	memory_describe(&m, &(struct nnb_hardware_buffer){ (uint32_t)size, 1, 1, NNB_FORMAT_BLOB, (uint32_t)size });
	return memory_finish(ret, &m);
}

int nnb_memory_hardware_buffer_blob_fd(struct nnb_memory *ret, int fd, uint64_t size)
{
	struct nnb_memory m = memory_begin(NNB_MEMORY_HARDWARE_BUFFER_BLOB, size);
	int r;

	memory_describe(&m, &(struct nnb_hardware_buffer){ (uint32_t)size, 1, 1, NNB_FORMAT_BLOB, (uint32_t)size });
	r = nnb_memory_check(&m);
	if (r < 0)
		return r;
	m.fds[0] = nnb__dup(fd);
	if (m.fds[0] < 0)
		return m.fds[0];
	*ret = m;
	return 0;
}

int nnb_memory_hardware_buffer(struct nnb_memory *ret, const struct nnb_hardware_buffer *description)
{
	struct nnb_memory m = memory_begin(NNB_MEMORY_HARDWARE_BUFFER, hardware_bytes_of(description));

	memory_describe(&m, description);
	return memory_finish(ret, &m);
}

void nnb_memory_token(struct nnb_memory *ret, uint64_t token)
{
	*ret = memory_begin(NNB_MEMORY_TOKEN, 0);
	ret->ints[TOKEN_LOW] = (int32_t)(uint32_t)token;
	ret->ints[TOKEN_HIGH] = (int32_t)(uint32_t)(token >> 32);
}

int nnb_memory_dup(struct nnb_memory *ret, const struct nnb_memory *memory)
{
	struct nnb_memory m = { .size = memory->size, .n_ints = memory->n_ints };

	if (!fds_whole(memory))
		return -EINVAL;
	strcpy(m.name, memory->name);
	memcpy(m.ints, memory->ints, m.n_ints * sizeof(m.ints[0]));
	while (m.n_fds < memory->n_fds) {
		int fd = nnb__dup(memory->fds[m.n_fds]);

		if (fd < 0) {
			nnb_memory_close(&m);
			return fd;
		}
		m.fds[m.n_fds++] = fd;
	}
	*ret = m;
	return 0;
}

void nnb_memory_close(struct nnb_memory *memory)
{
	if (!memory)
		return;
	for (uint32_t i = 0; i < memory->n_fds && i < NNB_MEMORY_FDS; i++)
		if (memory->fds[i] >= 0)
			nnb__close(memory->fds[i]); /* a peer may have sent a socket */
	memset(memory, 0, sizeof(*memory));
}
