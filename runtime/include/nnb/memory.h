/*
 * memory.h -- shared memory: the pools that models and requests name, and their mappings.
 *
 * A struct nnb_memory is the HAL's unmapped memory: a name that says how to read the handle, the handle, a size.
 * It can come from a stranger; nothing in it is believed before nnb_memory_check has seen it. A mapping is what
 * this process sees of it. Rules P-10 to P-19 of the HAL; nnb_memory(3).
 */
#ifndef NNB_MEMORY_H
#define NNB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/defs.h"

NNB_BEGIN_DECLS

enum {
	NNB_MEMORY_NAME = 32,  /* bytes of a name, the last one zero */
	NNB_MEMORY_FDS = 2,    /* most fds of a handle */
	NNB_MEMORY_INTS = 8,   /* most integers of a handle */
	NNB_MAPPING_SLACK = 64 /* at least so many readable zero bytes follow the last page of every mapping */
};

enum nnb_memory_kind {
	NNB_MEMORY_ASHMEM,               /* "ashmem": [memfd sealed against shrinking] */
	NNB_MEMORY_MMAP_FD,              /* "mmap_fd": [fd], (prot, offset low, offset high) */
	NNB_MEMORY_HARDWARE_BUFFER_BLOB, /* "hardware_buffer_blob": [sealed memfd], description */
	NNB_MEMORY_HARDWARE_BUFFER,      /* "hardware_buffer": [sealed memfd], description; not for models */
	NNB_MEMORY_TOKEN,                /* "token": no fd, (token low, token high), size 0; a buffer of the driver's
	                                    (nnb/buffer.h): never mapped, and not for models */
	NNB_MEMORY_UNKNOWN               /* any other name: may be carried, never mapped */
};

struct nnb_memory {
	char name[NNB_MEMORY_NAME];
	uint64_t size;
	uint32_t n_fds, n_ints;
	int fds[NNB_MEMORY_FDS]; /* owned by who owns the struct */
	int32_t ints[NNB_MEMORY_INTS];
};

/* What a hardware buffer's integers say, in this order. */
struct nnb_hardware_buffer {
	uint32_t width, height, layers; /* pixels; of a BLOB: bytes, 1, 1 */
	uint32_t format;                /* AHardwareBuffer's numbers, see below */
	uint32_t stride;                /* pixels from row to row, >= width */
};

enum {
	NNB_FORMAT_R8G8B8A8 = 1,
	NNB_FORMAT_R8G8B8X8 = 2,
	NNB_FORMAT_R8G8B8 = 3,
	NNB_FORMAT_R5G6B5 = 4,
	NNB_FORMAT_R16G16B16A16_FLOAT = 0x16,
	NNB_FORMAT_BLOB = 0x21
};

/* ---- making: 0 and *ret owned (nnb_memory_close), or -errno and *ret untouched ---- */

/* A zeroed memfd, sealed against shrinking and growing. */
NNB_PUBLIC int nnb_memory_ashmem(struct nnb_memory *ret, uint64_t size);

/* @size bytes of @fd from @offset; @prot is PROT_READ and PROT_WRITE bits. @fd is duplicated. */
NNB_PUBLIC int nnb_memory_mmap_fd(struct nnb_memory *ret, int fd, uint64_t size, int prot, uint64_t offset);

NNB_PUBLIC int nnb_memory_hardware_buffer_blob(struct nnb_memory *ret, uint64_t size);

/* -EINVAL: a format that has no bytes per pixel here, a zero, or a product beyond 2^63. */
NNB_PUBLIC int nnb_memory_hardware_buffer(struct nnb_memory *ret, const struct nnb_hardware_buffer *description);

/* Name a driver's buffer. There is nothing in it to be closed. */
NNB_PUBLIC void nnb_memory_token(struct nnb_memory *ret, uint64_t token);

NNB_PUBLIC int nnb_memory_dup(struct nnb_memory *ret, const struct nnb_memory *memory);

/* Close the fds, clear the struct. NULL and all zeroes are fine. */
NNB_PUBLIC void nnb_memory_close(struct nnb_memory *memory);

/* ---- looking ---- */

NNB_PUBLIC enum nnb_memory_kind nnb_memory_kind(const struct nnb_memory *memory);
NNB_PUBLIC const char *nnb_memory_kind_name(enum nnb_memory_kind kind); /* "" for UNKNOWN. Static. */

/*
 * Is the handle of the canonical shape of its name (P table, R8)? Looks at numbers only, not at the files.
 * 0; -ENOTSUP: an unknown name; -EINVAL: a shape that is not the name's.
 */
NNB_PUBLIC int nnb_memory_check(const struct nnb_memory *memory);

/* ---- mappings: counted, shared between threads, safe to use from any ---- */

struct nnb_mapping;

/*
 * Map the whole memory. @memory is borrowed for the call; its fds may be closed afterwards.
 * 0 and *ret owned (nnb_mapping_unref); -ENOTSUP: a name that cannot be mapped here (unknown, a token,
 * or a hardware_buffer that is no BLOB); -EINVAL: not canonical, an offset that is no multiple of a page, or the file
 * is shorter than that; -EPERM: a memfd that its owner could shrink; else what mmap said.
 */
NNB_PUBLIC int nnb_map(struct nnb_mapping **ret, const struct nnb_memory *memory);

NNB_PUBLIC struct nnb_mapping *nnb_mapping_ref(struct nnb_mapping *mapping);
NNB_PUBLIC struct nnb_mapping *nnb_mapping_unref(struct nnb_mapping *mapping); /* NULL is fine. Returns NULL. */

NNB_PUBLIC void *nnb_mapping_data(const struct nnb_mapping *mapping); /* page aligned; borrowed */
NNB_PUBLIC uint64_t nnb_mapping_size(const struct nnb_mapping *mapping);
NNB_PUBLIC bool nnb_mapping_readable(const struct nnb_mapping *mapping);
NNB_PUBLIC bool nnb_mapping_writable(const struct nnb_mapping *mapping);
NNB_PUBLIC enum nnb_memory_kind nnb_mapping_kind(const struct nnb_mapping *mapping);

/* Never 0, never the same twice in a process. */
NNB_PUBLIC uint64_t nnb_mapping_id(const struct nnb_mapping *mapping);

/* After writing, before the peer is told. mmap_fd with PROT_WRITE: msync. 0 or -errno. */
NNB_PUBLIC int nnb_mapping_flush(struct nnb_mapping *mapping);

/*
 * Somebody may cut the file short under a mapping of kind mmap_fd. The process survives: the page that is gone
 * reads as zeroes from then on, and the mapping is *torn*. Whoever is about to use it takes its mark, and
 * afterwards asks whether it was torn since; what was read or written in between is worth nothing then.
 * nnb_mapping_mark also mends: a file that has its length back is seen again. A mark taken where that was not
 * possible finds the mapping torn in the end, whatever happens meanwhile.
 */
NNB_PUBLIC uint32_t nnb_mapping_mark(struct nnb_mapping *mapping);
NNB_PUBLIC bool nnb_mapping_torn(const struct nnb_mapping *mapping, uint32_t mark);

NNB_END_DECLS

#endif
