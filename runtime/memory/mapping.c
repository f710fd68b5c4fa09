/*
 * mapping.c -- mappings: the view that this process has of a memory.
 *
 * LAYOUT    The file's pages, then one page of zeroes that can be read and not written: NNB_MAPPING_SLACK.
 * CONCURRENCY  Everything on one mapping from any thread, while it is held. Constant after it is made, but for the
 *           count of its holders and what mending changes; one thread mends, the others that find it torn wait.
 * ORDERING  (1) unref: count down, release --- pairs with (2)
 *           (2) the last unref: count down, acquire => what all holders did is done before the pages go
 *           (3) mend: map the file again, then store the tears it is mended of, release --- pairs with (4)
 *           (4) mark: load them, acquire, then compare with the tears there are => the file, and not the zeroes
 *           A mark is the tears that the mapping is mended of, not those there are: a thread that marks a mapping
 *           that is still torn finds it torn in the end, though another thread may mend it meanwhile.
 * CRASH     A mapping goes with its process; what was written is in the file, synced or not.
 * TRUST     With --app-identity uid, only files come here that passed memory/arrival.c. A memfd that is
 *           sealed against shrinking holds its size from when the seal was seen: no access to it can fault, and a
 *           mmap_fd is unwatched if it is such a memfd. Any other file can be cut while it is mapped: tear.c. A file
 *           of huge pages is refused, because mmap rounds its length up, beyond what is accounted for here. Whether
 *           mmap lets the file be mapped is its owner's choice at any moment (F_SEAL_WRITE), and a fixed mmap that
 *           fails may leave nothing in its place: so no file is ever mapped straight over what is there.
 * DMA-BUF   Its size is fixed, but its exporter may refuse a page at any time: it is watched like a file. The kernel
 *           maps no page behind its last one, so the page of zeroes is made first, and the pages are moved before it.
 *           Its CPU accesses are bracketed: from nnb_map until the mapping goes, and once more around each execution,
 *           because a mapping may outlive many of them.
 */
#include "nnb/driver.h"

#include <assert.h>
#include <errno.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/close.h"
#include "base/kept.h"
#include "base/pages.h"
#include "base/sealed.h"
#include "memory/gate.h"
#include "memory/handle.h"
#include "memory/slack.h"
#include "memory/tear.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

enum {
	MAPPINGS = 2,       /* the file's pages, and the page of zeroes */
	AT_A_TIME = 1 << 16 /* bytes, aligned, that the kernel maps for a read (fault_around_bytes) */
};

struct nnb_mapping {
	_Atomic uint32_t holders;
	uint64_t id;
	enum nnb_memory_kind kind;
	uint64_t size;
	int prot;
	uint64_t file, device; /* st_ino, st_dev */
	bool on_disk;          /* its file system writes pages back, to a disk or elsewhere: not tmpfs, no dma-buf */
	void *data;
	size_t bytes;           /* the file's pages; 0: nothing is mapped */
	struct nnb__gate *gate; /* of the app whose file it is; NULL: none */

	/*
	 * For an mmap_fd whose file can be truncated, and for a dma-buf; otherwise watch is NULL, and fd is -1 unless
	 * there is a gate, or the file was taken.
	 */
	struct nnb__watch *watch;
	int fd;
	bool dma_buf;
	uint64_t offset;
	bool is_for_one; /* made by nnb__map_taking: it has pages only where nnb__mapping_use told */
	uint64_t *parts; /* of NNB__PAGES_PART bytes, a bit each: where that is; NULL: nowhere */
	pthread_mutex_t mending;
	_Atomic uint32_t mended; /* number of tears that are repaired */
};

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- files ---- */

/* Does @file, of @fd, hold the bytes of @m? 0 or -errno. */
static int file_holds(const struct nnb_mapping *m, int fd, const struct nnb__file *file)
{
	uint64_t bytes = file->size;
	off_t end;

	if (m->dma_buf) {
		end = lseek(fd, 0, SEEK_END); /* stat does not give the size of a dma-buf */
		if (end < 0)
			return -errno;
		bytes = (uint64_t)end;
	} else if (m->kind != NNB_MEMORY_MMAP_FD && !file->is_sealed) {
		return -EPERM;
	} else if (!file->is_regular || file->file_system == HUGETLBFS_MAGIC || bytes > INT64_MAX) {
		return -EINVAL;
	}
	return m->size <= bytes && m->offset <= bytes - m->size ? 0 : -EINVAL;
}

/* ---- making ---- */

/* Map the @bytes of a dma-buf, and the page of zeroes behind them. */
static int map_dma_buf(struct nnb_mapping *m, int fd, uint64_t bytes, uint64_t page)
{
	void *room = mmap(NULL, bytes + page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *p;
	int r;

	if (room == MAP_FAILED)
		return -errno;
	p = mmap(NULL, bytes, m->prot, MAP_SHARED, fd, (off_t)m->offset);
	if (p == MAP_FAILED || mremap(p, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room) == MAP_FAILED) {
		r = -errno;
		if (p != MAP_FAILED)
			munmap(p, bytes);
		munmap(room, bytes + page);
		return r;
	}
	m->data = room;
	m->bytes = bytes;
	return 0;
}

/* Map the file of @m, and the page of zeroes behind it. */
static int map_pages(struct nnb_mapping *m, int fd)
{
	uint64_t page = page_bytes();
	uint64_t bytes = (m->size + page - 1) / page * page; /* a file's size is below 2^63 */
	int r;

	assert(!m->bytes);
	if (bytes > SIZE_MAX - page)
		return -ENOMEM;
	if (m->dma_buf)
		return map_dma_buf(m, fd, bytes, page);
	r = nnb__slack_map(&m->data, bytes, m->prot, fd, m->offset);
	m->bytes = r ? 0 : bytes;
	return r;
}

/* Free @m, which may be incomplete. */
static void mapping_discard(struct nnb_mapping *m)
{
	const size_t goes = nnb__slack_unmaps(m->bytes), stays = m->bytes + page_bytes() - goes;

	nnb__mapping_access_end(m);
	nnb__watch_end(m->watch); /* before the pages: the next mapping may be where they are */
	if (m->bytes) {
		for (uint64_t at = 0, i = 0; m->bytes > NNB__PAGES_PART && at < m->bytes; at += NNB__PAGES_PART, i++)
			if (!m->is_for_one || (m->parts && m->parts[i / 64] >> i % 64 & 1))
				nnb__pages_part_drop((char *)m->data + at, m->bytes - at);
		if (nnb__gate_unmap(m->gate, m->data, goes, stays, m->fd, MAPPINGS))
			nnb__slack_keep(m->data, m->bytes);
	} else if (m->fd >= 0) {
		nnb__close(m->fd);
	}
	nnb__gate_unref(m->gate);
	free(m->parts);
	pthread_mutex_destroy(&m->mending);
	free(m);
}

/* Fill in @m, which is of a kind that can be mapped. */
static int mapping_build(struct nnb_mapping *m, const struct nnb_memory *memory)
{
	int fd = m->fd < 0 ? memory->fds[0] : m->fd;
	struct nnb__gate_call call;
	struct nnb__file file;
	int r;

	assert(memory->n_fds == 1);
	m->size = memory->size;
	m->prot = PROT_READ | PROT_WRITE;
	r = nnb__file_look(fd, &file);
	if (r)
		return r;
	m->dma_buf = m->kind != NNB_MEMORY_ASHMEM && file.file_system == DMA_BUF_MAGIC;
	m->file = file.inode;
	m->device = file.device;
	m->on_disk = !m->dma_buf && file.file_system != TMPFS_MAGIC;
	if (m->kind == NNB_MEMORY_MMAP_FD) {
		m->prot = nnb__handle_prot(memory);
		m->offset = nnb__handle_offset(memory);
	}
	r = file_holds(m, fd, &file);
	if (r)
		return r;
	if (m->fd < 0 && (nnb__mapping_is_file(m) || m->gate)) {
		fd = m->fd = nnb__dup(fd);
		if (fd < 0)
			return fd;
	}
	r = nnb__gate_open(m->gate, fd, true, &call);
	if (r)
		return r;
	r = map_pages(m, fd);
	nnb__gate_close(m->gate, &call, !r);
	if (r || !nnb__mapping_is_file(m))
		return r;
	nnb__mapping_access_begin(m);
	if (!file.is_sealed) /* otherwise no access to it can fault */
		return nnb__watch_begin(&m->watch, m->data, m->bytes, m->prot, m->gate, m->fd);
	if (!m->gate) {
		nnb__close_mapped(m->fd); /* was kept to map the file again, which is never needed */
		m->fd = -1;
	}
	return 0;
}

/* @memory is checked, and of a kind that has a file. @taken: its fd, which the mapping owns then; NULL: it does not. */
static int mapping_new(struct nnb_mapping **ret, const struct nnb_memory *memory, int *taken)
{
	static _Atomic uint64_t ids;
	struct nnb_mapping *m;
	int r;

	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->kind = nnb_memory_kind(memory);
	m->fd = taken ? *taken : -1;
	m->is_for_one = taken;
	if (taken)
		*taken = -1;
	m->gate = nnb__gate_ref(nnb__gate_mine());
	pthread_mutex_init(&m->mending, NULL);
	r = mapping_build(m, memory);
	if (r < 0) {
		mapping_discard(m);
		return r;
	}
	atomic_init(&m->holders, 1);
	m->id = atomic_fetch_add_explicit(&ids, 1, memory_order_relaxed) + 1;
	*ret = m;
	return 0;
}

static int memory_map(struct nnb_mapping **ret, const struct nnb_memory *memory, int *taken)
{
	int r = nnb_memory_check(memory);

	if (r < 0)
		return r;
	if (nnb_memory_kind(memory) == NNB_MEMORY_HARDWARE_BUFFER || nnb_memory_kind(memory) == NNB_MEMORY_TOKEN)
		return -ENOTSUP;
	return mapping_new(ret, memory, taken);
}

int nnb_map(struct nnb_mapping **ret, const struct nnb_memory *memory)
{
	return memory_map(ret, memory, NULL);
}

int nnb__map_taking(struct nnb_mapping **ret, struct nnb_memory *memory)
{
	return memory_map(ret, memory, &memory->fds[0]);
}

int nnb_map_hardware_buffer(struct nnb_mapping **ret, const struct nnb_memory *memory)
{
	int r = nnb_memory_check(memory);

	if (r < 0)
		return r;
	return nnb_memory_kind(memory) == NNB_MEMORY_HARDWARE_BUFFER ? mapping_new(ret, memory, NULL) : -ENOTSUP;
}

struct nnb_mapping *nnb_mapping_ref(struct nnb_mapping *m)
{
	uint32_t before = atomic_fetch_add_explicit(&m->holders, 1, memory_order_relaxed);

	assert(before && before < UINT32_MAX);
	return m;
}

struct nnb_mapping *nnb_mapping_unref(struct nnb_mapping *m)
{
	uint32_t before;

	if (!m)
		return NULL;
	before = atomic_fetch_sub_explicit(&m->holders, 1, memory_order_acq_rel); /* (1) (2) */
	assert(before);
	if (before == 1)
		mapping_discard(m);
	return NULL;
}

/* ---- using ---- */

void *nnb_mapping_data(const struct nnb_mapping *m)
{
	return m->data;
}

uint64_t nnb_mapping_size(const struct nnb_mapping *m)
{
	return m->size;
}

bool nnb_mapping_readable(const struct nnb_mapping *m)
{
	return m->prot & PROT_READ;
}

bool nnb_mapping_writable(const struct nnb_mapping *m)
{
	return m->prot & PROT_WRITE;
}

enum nnb_memory_kind nnb_mapping_kind(const struct nnb_mapping *m)
{
	return m->kind;
}

bool nnb__mapping_same_file(const struct nnb_mapping *a, uint64_t *a_at, const struct nnb_mapping *b, uint64_t *b_at)
{
	if (a->file != b->file || a->device != b->device)
		return false;
	*a_at += a->offset;
	*b_at += b->offset;
	return true;
}

uint64_t nnb_mapping_id(const struct nnb_mapping *m)
{
	return m->id;
}

/* Whether msync has anything to do, as far as the handle shows. */
static bool is_synced(const struct nnb_mapping *m)
{
	return m->kind == NNB_MEMORY_MMAP_FD && !m->dma_buf && nnb_mapping_writable(m);
}

bool nnb__mapping_flush_waits(const struct nnb_mapping *m)
{
	return is_synced(m) && m->on_disk;
}

int nnb__mapping_flush(struct nnb_mapping *m, uint64_t from, uint64_t to)
{
	assert(from <= to && to <= m->bytes);
	if (!is_synced(m))
		return 0;
	from = from / page_bytes() * page_bytes();
	return msync((char *)m->data + from, to - from, MS_SYNC) < 0 ? -errno : 0;
}

int nnb_mapping_flush(struct nnb_mapping *m)
{
	return nnb__mapping_flush(m, 0, m->bytes);
}

bool nnb__mapping_is_file(const struct nnb_mapping *m)
{
	return m->kind == NNB_MEMORY_MMAP_FD || m->dma_buf;
}

bool nnb__mapping_passes(const struct nnb_mapping *m)
{
	return !m->watch || nnb__gate_passes(m->gate, m->fd);
}

uint64_t nnb__mapping_touch(const struct nnb_mapping *m, const void *start, uint64_t bytes, uint64_t most)
{
	const uintptr_t at = (uintptr_t)start, end = at + (bytes < most ? bytes : most);

	if (m->watch || m->on_disk || m->dma_buf || !nnb_mapping_readable(m) || !nnb_mapping_writable(m))
		return 0;
	for (uintptr_t p = at; p < end; p = p / AT_A_TIME * AT_A_TIME + AT_A_TIME)
		(void)*(const volatile char *)p;
	return end - at;
}

void nnb__mapping_use(struct nnb_mapping *m, uint64_t at, uint64_t bytes)
{
	uint64_t part = (at > AT_A_TIME ? at - AT_A_TIME : 0) / NNB__PAGES_PART;
	uint64_t end = (m->bytes - at - bytes > AT_A_TIME ? at + bytes + AT_A_TIME : m->bytes) / NNB__PAGES_PART + 1, n;

	assert(at <= m->bytes && bytes <= m->bytes - at);
	if (!m->is_for_one || m->bytes <= NNB__PAGES_PART)
		return;
	if (!m->parts)
		m->parts = calloc(m->bytes / NNB__PAGES_PART / 64 + 1, sizeof(*m->parts));
	if (!m->parts)
		m->is_for_one = false;
	for (; m->parts && part < end; part += n) {
		n = end - part < 64 - part % 64 ? end - part : 64 - part % 64;
		m->parts[part / 64] |= UINT64_MAX >> (64 - n) << part % 64;
	}
}

/* ---- dma-bufs ---- */

static void dma_buf_sync(const struct nnb_mapping *m, uint64_t edge)
{
	struct dma_buf_sync sync = { .flags = edge };

	if (!m->dma_buf || !m->bytes)
		return;
	assert(m->fd >= 0); /* a dma-buf keeps its file */
	if (m->prot & PROT_READ)
		sync.flags |= DMA_BUF_SYNC_READ;
	if (m->prot & PROT_WRITE)
		sync.flags |= DMA_BUF_SYNC_WRITE;
	while (ioctl(m->fd, DMA_BUF_IOCTL_SYNC, &sync) < 0 && (errno == EINTR || errno == EAGAIN))
		;
}

void nnb__mapping_access_begin(const struct nnb_mapping *m)
{
	dma_buf_sync(m, DMA_BUF_SYNC_START);
}

void nnb__mapping_access_end(const struct nnb_mapping *m)
{
	dma_buf_sync(m, DMA_BUF_SYNC_END);
}

/* ---- torn mappings ---- */

/*
 * If the file has its length back, put its pages where the zeroes are. Mapped elsewhere first and then moved:
 * see TRUST. After every failure, the mapping stays as torn as it is.
 */
static void mapping_mend(struct nnb_mapping *m)
{
	uint32_t tears = nnb__watch_tears(m->watch);
	struct nnb__gate_call call;
	void *p, *zeroes = MAP_FAILED;
	struct nnb__file file;

	assert(m->fd >= 0 && m->bytes); /* a watched mapping keeps its file */
	if (tears == atomic_load_explicit(&m->mended, memory_order_relaxed) || !nnb__watch_settled(m->watch) ||
	    nnb__file_look(m->fd, &file) < 0 || file_holds(m, m->fd, &file) < 0 ||
	    nnb__gate_open(m->gate, m->fd, false, &call))
		return;
	/*
	 * The kernel frees replaced pages with the memory map locked. So the pages that readers and writers have made
	 * of the zeroes are moved aside first, and freed in parts there: in place, readers and writers could bring
	 * pages back meanwhile. Without room for that, this mend takes longer.
	 */
	if (m->bytes > NNB__PAGES_PART)
		zeroes = mremap(m->data, m->bytes, m->bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	p = mmap(NULL, m->bytes, m->prot, MAP_SHARED, m->fd, (off_t)m->offset);
	if (p == MAP_FAILED)
		;
	else if (mremap(p, m->bytes, m->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, m->data) == MAP_FAILED)
		munmap(p, m->bytes);
	else
		atomic_store_explicit(&m->mended, tears, memory_order_release); /* (3) */
	nnb__gate_close(m->gate, &call, 0);
	if (zeroes != MAP_FAILED) {
		nnb__pages_drop(zeroes, m->bytes);
		munmap(zeroes, m->bytes);
	}
}

uint32_t nnb_mapping_mark(struct nnb_mapping *m)
{
	uint32_t mended = atomic_load_explicit(&m->mended, memory_order_acquire); /* (4) */

	if (!m->watch || nnb__watch_tears(m->watch) == mended)
		return mended;
	pthread_mutex_lock(&m->mending);
	mapping_mend(m);
	pthread_mutex_unlock(&m->mending);
	return atomic_load_explicit(&m->mended, memory_order_acquire);
}

bool nnb_mapping_torn(const struct nnb_mapping *m, uint32_t mark)
{
	return m->watch && nnb__watch_tears(m->watch) != mark;
}
