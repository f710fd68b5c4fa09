/*
 * memory.h -- shared memory: the pools that models and requests name, and their mappings.
 *
 * A struct nnb_memory is the HAL's unmapped memory: a name that determines the meaning of the handle, the handle, and
 * a size. It may come from an untrusted peer: check it with nnb_memory_check before using it. A mapping is the view
 * of it in this process. Rules P-10 to P-19 of the HAL; nnb_memory(3).
 */
#ifndef NNB_MEMORY_H
#define NNB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/defs.h"

NNB_BEGIN_DECLS

enum {
	NNB_MEMORY_NAME = 32,  /* bytes of a name, the last one zero */
	NNB_MEMORY_FDS = 2,    /* largest number of fds in a handle */
	NNB_MEMORY_INTS = 8,   /* largest number of integers in a handle */
	NNB_MAPPING_SLACK = 64 /* at least so many readable zero bytes follow the last page of every mapping */
};

enum nnb_memory_kind {
	NNB_MEMORY_ASHMEM,               /* "ashmem": [memfd sealed against shrinking] */
	NNB_MEMORY_MMAP_FD,              /* "mmap_fd": [fd], (prot, offset low, offset high) */
	NNB_MEMORY_HARDWARE_BUFFER_BLOB, /* "hardware_buffer_blob": [sealed memfd or dma-buf], description */
	NNB_MEMORY_HARDWARE_BUFFER,      /* "hardware_buffer": [sealed memfd], description; not for models */
	NNB_MEMORY_TOKEN,                /* "token": no fd, (token low, token high), size 0; a buffer of the driver's
	                                    (nnb/buffer.h): never mapped, and not for models */
	NNB_MEMORY_UNKNOWN               /* any other name: can be passed on, never mapped */
};

struct nnb_memory {
	char name[NNB_MEMORY_NAME];
	uint64_t size;
	uint32_t n_fds, n_ints;
	int fds[NNB_MEMORY_FDS]; /* owned by the struct's owner */
	int32_t ints[NNB_MEMORY_INTS];
};

/* The integers of a hardware buffer, in this order. */
struct nnb_hardware_buffer {
	uint32_t width, height, layers; /* pixels; for a BLOB: bytes, 1, 1 */
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

/* @size bytes of @fd, a file or a dma-buf, from @offset; @prot is PROT_READ and PROT_WRITE bits. @fd is duplicated. */
NNB_PUBLIC int nnb_memory_mmap_fd(struct nnb_memory *ret, int fd, uint64_t size, int prot, uint64_t offset);

NNB_PUBLIC int nnb_memory_hardware_buffer_blob(struct nnb_memory *ret, uint64_t size);

/*
 * Import the first @size bytes of @fd, a dma-buf or a memfd sealed against shrinking, as a BLOB. @fd is duplicated;
 * nnb_map looks at it.
 */
NNB_PUBLIC int nnb_memory_hardware_buffer_blob_fd(struct nnb_memory *ret, int fd, uint64_t size);

/* -EINVAL: an unknown format, a zero, or a size beyond 2^63. */
NNB_PUBLIC int nnb_memory_hardware_buffer(struct nnb_memory *ret, const struct nnb_hardware_buffer *description);

/* Read the description of a hardware buffer, BLOB or not, that nnb_memory_check accepts. */
NNB_PUBLIC void nnb_memory_description(const struct nnb_memory *memory, struct nnb_hardware_buffer *ret);

/* Make the memory that names a driver's buffer. It has no fds to close. */
NNB_PUBLIC void nnb_memory_token(struct nnb_memory *ret, uint64_t token);

NNB_PUBLIC int nnb_memory_dup(struct nnb_memory *ret, const struct nnb_memory *memory);

/* Close the fds, clear the struct. NULL and all zeroes are fine. */
NNB_PUBLIC void nnb_memory_close(struct nnb_memory *memory);

/* ---- kinds and checks ---- */

NNB_PUBLIC enum nnb_memory_kind nnb_memory_kind(const struct nnb_memory *memory);
NNB_PUBLIC const char *nnb_memory_kind_name(enum nnb_memory_kind kind); /* "" for UNKNOWN. Static. */

/*
 * Check that the handle has the fds and integers that its name requires (P table, R8). Checks numbers only, not the
 * files. 0; -ENOTSUP: an unknown name; -EINVAL: other fds or integers than the name requires.
 */
NNB_PUBLIC int nnb_memory_check(const struct nnb_memory *memory);

/* ---- mappings: reference-counted; any thread may use them ---- */

struct nnb_mapping;

/*
 * Map the whole memory. @memory is borrowed for the call; its fds may be closed afterwards.
 * 0, and the caller owns *ret (nnb_mapping_unref); -ENOTSUP: a kind that cannot be mapped (unknown, a token, or a
 * hardware_buffer that is not a BLOB); -EINVAL: nnb_memory_check fails, the offset is not a multiple of a page, or
 * the file is too short; -EPERM: a memfd that its owner could shrink; or the error of mmap.
 */
NNB_PUBLIC int nnb_map(struct nnb_mapping **ret, const struct nnb_memory *memory);

NNB_PUBLIC struct nnb_mapping *nnb_mapping_ref(struct nnb_mapping *mapping);
NNB_PUBLIC struct nnb_mapping *nnb_mapping_unref(struct nnb_mapping *mapping); /* NULL is fine. Returns NULL. */

NNB_PUBLIC void *nnb_mapping_data(const struct nnb_mapping *mapping); /* page aligned; borrowed */
NNB_PUBLIC uint64_t nnb_mapping_size(const struct nnb_mapping *mapping);
NNB_PUBLIC bool nnb_mapping_readable(const struct nnb_mapping *mapping);
NNB_PUBLIC bool nnb_mapping_writable(const struct nnb_mapping *mapping);
NNB_PUBLIC enum nnb_memory_kind nnb_mapping_kind(const struct nnb_mapping *mapping);

/* The number of the mapping: never 0, unique in the process. */
NNB_PUBLIC uint64_t nnb_mapping_id(const struct nnb_mapping *mapping);

/*
 * Call after writing and before notifying the peer. Calls msync for an mmap_fd of a file with PROT_WRITE. 0 or
 * -errno.
 */
NNB_PUBLIC int nnb_mapping_flush(struct nnb_mapping *mapping);

/*
 * Another process may truncate the file of a mapping of kind mmap_fd, and the owner of a dma-buf may withdraw its
 * pages. This process survives: the missing page reads as zeroes from then on, and the mapping is *torn*. A user of
 * the mapping takes a mark first, and checks afterwards whether the mapping was torn since the mark; if it was, the
 * data read or written are invalid. nnb_mapping_mark also repairs: it maps a file again that has regained its length.
 * If the repair is not possible, nnb_mapping_torn returns true for the mark, regardless of what happens later.
 */
NNB_PUBLIC uint32_t nnb_mapping_mark(struct nnb_mapping *mapping);
NNB_PUBLIC bool nnb_mapping_torn(const struct nnb_mapping *mapping, uint32_t mark);

NNB_END_DECLS

#endif
