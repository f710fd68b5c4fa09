/*
 * cache.c -- cache entries: a prepared model in two files, and back (O-22).
 *
 * LAYOUT    Model file: struct header, the model's wire form, a seal over both. Data file: the bytes of each
 *           CONSTANT_REFERENCE operand, in the order of the operands, each from a multiple of 64. In the saved model
 *           they lie in one pool, which is the data file. Offsets count from the file's start, whatever the position
 *           of its descriptor.
 * TRUST     The owner of the files can change them at any moment. So both carry seals (SipHash-2-4 of 128 bits
 *           under the device's key), a file is read once into private memory, and only sealed bytes are used.
 *           The model's seal covers the data's seal, the token, and the driver's name and version: an
 *           entry of another model, another token, another driver or another key is refused, and so is a mixture of
 *           two.
 * CRASH     Saving empties both files first and writes the model's last: an entry that a crash leaves incomplete is
 *           refused.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/device.h"
#include "driver/siphash.h"
#include "memory/errand.h"
#include "model/patience.h"
#include "model/reason.h"

enum { ALIGNMENT = 64, FORM = 2, CHUNK = 1 << 16, MODEL_FILE_MAX = 1 << 30 };
enum { CHUNK_UNITS = 2 * CHUNK }; /* units of patience.h for sealing, reading or writing one chunk */

static const char magic[8] = "NNBCACHE";

struct header {
	char magic[8];
	uint32_t form, byte_order;
	uint64_t wire_bytes, data_bytes;
	uint32_t preference, priority; /* */
	uint8_t token[NNB_TOKEN_BYTES];
	uint8_t data_seal[NNB__SEAL_BYTES];
};

static void bytes_freep(uint8_t **p)
{
	free(*p);
}

static uint64_t offset_align(uint64_t n)
{
	return (n + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- files ---- */

/*
 * Reading, writing and emptying a file may wait for as long as its owner likes, so the worker of the app does it, if
 * there is one (memory/errand.h).
 */
static const struct nnb__errand_wait file_wait = { .limit_ns = NNB__ERRAND_FILE_NS, .goes_on = nnb__patience_ask };

/* @errands: the owner's; NULL: it is a file of this process. */
static int write_at(struct nnb__errands *errands, int fd, uint64_t at, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		ssize_t done;

		if (!nnb__patient(CHUNK_UNITS))
			return -ECANCELED;
		done = nnb__errand_write(errands, fd, at, p, size_min(n, CHUNK), &file_wait);
		if (done == -EINTR)
			continue;
		if (done <= 0)
			return -EIO;
		p += done;
		at += (uint64_t)done;
		assert((size_t)done <= n);
		n -= (size_t)done;
	}
	return 0;
}

static int read_at(int fd, uint64_t at, void *data, size_t n)
{
	uint8_t *p = data;

	while (n) {
		ssize_t done;

		if (!nnb__patient(CHUNK_UNITS))
			return -ECANCELED;
		done = nnb__errand_read(nnb__errands_mine(), fd, at, p, size_min(n, CHUNK), &file_wait);
		if (done == -EINTR)
			continue;
		if (done <= 0)
			return -EIO;
		p += done;
		at += (uint64_t)done;
		assert((size_t)done <= n);
		n -= (size_t)done;
	}
	return 0;
}

/* The size of a regular file that allows this access; < 0: error. */
static int64_t file_bytes(int fd, bool writable)
{
	int flags = fcntl(fd, F_GETFL);
	uint64_t bytes;

	if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || (writable && (flags & O_ACCMODE) != O_RDWR))
		return -1;
	return nnb__errand_size(nnb__errands_mine(), fd, &file_wait, &bytes) ? -1 : (int64_t)bytes;
}

static bool files_are_right(const struct nnb_cache *c, bool writable)
{
	return c->n_model_files == NNB_MODEL_CACHE_FILES && c->n_data_files == NNB_DATA_CACHE_FILES &&
	       file_bytes(c->model_files[0], writable) >= 0 && file_bytes(c->data_files[0], writable) >= 0;
}

static enum nnb_status entry_refused(struct nnb_reason *reason, const char *why)
{
	nnb_because(reason, "cache: %s", why);
	return NNB_STATUS_GENERAL_FAILURE;
}

/* ---- seals ---- */

static void seal_begin(struct nnb__siphash *s, const struct nnb_device *d, const char *what)
{
	nnb__siphash_init(s, d->key);
	nnb__siphash_add(s, what, strlen(what) + 1);
}

static void seal_model(const struct nnb_device *d, const struct header *h, const uint8_t *wire,
                       uint8_t ret[NNB__SEAL_BYTES])
{
	struct nnb__siphash s;

	seal_begin(&s, d, "model");
	nnb__siphash_add(&s, d->driver->name, strlen(d->driver->name) + 1);
	nnb__siphash_add(&s, d->driver->version, strlen(d->driver->version) + 1);
	nnb__siphash_add(&s, h, sizeof(*h));
	/* If the caller aborts this, the seal is incomplete: it is not written, and it differs from the seal that was
	 * read. */
	for (size_t at = 0; at < h->wire_bytes && nnb__patient(CHUNK_UNITS); at += CHUNK)
		nnb__siphash_add(&s, wire + at, size_min(h->wire_bytes - at, CHUNK));
	nnb__siphash_done(&s, ret);
}

static bool same_seal(const uint8_t *a, const uint8_t *b)
{
	uint8_t differ = 0;

	/* In constant time: a forger does not learn how many bytes were right. */
	for (int i = 0; i < NNB__SEAL_BYTES; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/* ---- saving ---- */

/* A copy of @n operands, whose referenced constants lie in one pool from *at on. NULL: no memory. */
static struct nnb_operand *model_relocate(const struct nnb_operand *from, uint32_t n, uint64_t *at)
{
	struct nnb_operand *operands = calloc(n + (size_t)1, sizeof(*operands));

	for (uint32_t i = 0; operands && i < n; i++) {
		operands[i] = from[i];
		if (operands[i].lifetime != NNB_CONSTANT_REFERENCE)
			continue;
		operands[i].location.pool = 0;
		operands[i].location.offset = (uint32_t)*at;
		*at = offset_align(*at + operands[i].location.length);
	}
	return operands;
}

/*
 * The saved model: as @m, but its referenced constants lie in one pool, those of the main graph first.
 * *ret_data_bytes: its size.
 */
static bool relocate_all(const struct nnb_model *m, struct nnb_model *ret, uint64_t *ret_data_bytes)
{
	uint64_t at = 0;
	bool whole;

	*ret = *m;
	ret->operands = model_relocate(m->operands, m->n_operands, &at);
	ret->referenced = calloc(m->n_referenced + (size_t)1, sizeof(*ret->referenced));
	whole = ret->operands && ret->referenced;
	for (uint32_t i = 0; whole && i < m->n_referenced; i++) {
		ret->referenced[i] = m->referenced[i];
		ret->referenced[i].operands =
			model_relocate(m->referenced[i].operands, m->referenced[i].n_operands, &at);
		whole = ret->referenced[i].operands;
	}
	*ret_data_bytes = at;
	return whole;
}

static int model_encode(const struct nnb_model *m, uint8_t **ret, size_t *ret_bytes, uint64_t *ret_data_bytes)
{
	struct nnb_memory pool = { .name = "ashmem", .n_fds = 1, .fds = { -1 } };
	struct nnb_model saved;
	int r = -ENOMEM;

	if (relocate_all(m, &saved, ret_data_bytes)) {
		pool.size = *ret_data_bytes;
		saved.pools = &pool;
		saved.n_pools = pool.size > 0;
		r = pool.size > UINT32_MAX ? -EFBIG : nnb_model_encode(&saved, ret, ret_bytes);
	}
	for (uint32_t i = 0; saved.referenced && i < saved.n_referenced; i++)
		free(saved.referenced[i].operands);
	free(saved.referenced);
	free(saved.operands);
	return r;
}

/* Save one constant. The pool may change meanwhile, so one copy is both sealed and written. */
static int save_constant(int fd, uint64_t at, const uint8_t *data, uint64_t bytes, struct nnb__siphash *seal)
{
	static const uint8_t zeroes[ALIGNMENT];
	uint8_t chunk[CHUNK];
	int r = 0;

	for (uint64_t done = 0; !r && done < bytes;) {
		size_t n = bytes - done < CHUNK ? bytes - done : CHUNK;

		memcpy(chunk, data + done, n);
		nnb__siphash_add(seal, chunk, n);
		r = write_at(nnb__errands_mine(), fd, at + done, chunk, n);
		done += n;
	}
	nnb__siphash_add(seal, zeroes, offset_align(bytes) - bytes);
	return r ? r : write_at(nnb__errands_mine(), fd, at + bytes, zeroes, offset_align(bytes) - bytes);
}

/* Write the bytes that the graph refers to in pools to the file, from *at on. */
static int save_constants(int fd, const struct nnb_graph *g, uint64_t *at, struct nnb__siphash *seal)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < g->model->n_operands; i++) {
		const struct nnb_operand *o = &g->model->operands[i];

		if (o->lifetime != NNB_CONSTANT_REFERENCE)
			continue;
		r = save_constant(fd, *at, g->constants[i], o->location.length, seal);
		*at = offset_align(*at + o->location.length);
	}
	return r;
}

static int save_data(const struct nnb_prepared *p, int fd, struct header *h)
{
	const struct nnb_graph *g = &p->graph->seen;
	struct nnb__siphash seal;
	uint64_t at = 0;
	int r;

	seal_begin(&seal, p->device, "data");
	r = save_constants(fd, g, &at, &seal);
	for (uint32_t i = 0; !r && i < g->model->n_referenced; i++)
		r = save_constants(fd, g->referenced[i], &at, &seal);
	nnb__siphash_done(&seal, h->data_seal);
	for (uint32_t i = 0; i < p->model->n_pools; i++)
		if (nnb_mapping_torn(p->graph->mappings[i], 0))
			r = -EIO;
	return r;
}

enum nnb_status nnb__cache_save(const struct nnb_prepared *p, const struct nnb_cache *cache, struct nnb_reason *reason)
{
	struct header h = {
		.form = FORM, .byte_order = 0x01020304, .preference = p->how.preference, .priority = p->how.priority
	};
	__attribute__((cleanup(bytes_freep))) uint8_t *wire = NULL;
	uint8_t seal[NNB__SEAL_BYTES];
	size_t wire_bytes;
	struct nnb__errands *errands = nnb__errands_mine();
	int fd;

	if (!files_are_right(cache, true))
		return entry_refused(reason, "not one read-write file each for model and data");
	fd = cache->model_files[0];
	if (nnb__errand_truncate(errands, fd, 0, &file_wait) < 0 ||
	    nnb__errand_truncate(errands, cache->data_files[0], 0, &file_wait) < 0)
		return entry_refused(reason, "cannot empty the files");
	if (model_encode(p->model, &wire, &wire_bytes, &h.data_bytes) ||
	    wire_bytes > MODEL_FILE_MAX - sizeof(h) - sizeof(seal))
		return entry_refused(reason, "the model is too large");

	memcpy(h.magic, magic, sizeof(magic));
	memcpy(h.token, cache->token, sizeof(h.token));
	h.wire_bytes = wire_bytes;
	if (save_data(p, cache->data_files[0], &h))
		return entry_refused(reason, "cannot write the data");
	seal_model(p->device, &h, wire, seal);
	if (write_at(errands, fd, 0, &h, sizeof(h)) || write_at(errands, fd, sizeof(h), wire, wire_bytes) ||
	    write_at(errands, fd, sizeof(h) + wire_bytes, seal, sizeof(seal)))
		return entry_refused(reason, "cannot write the model");
	return NNB_STATUS_NONE;
}

/* ---- loading ---- */

/*
 * Read the whole model file, and check its seal. *ret, which the caller frees, is the header, followed by the wire
 * form.
 */
static enum nnb_status load_model_file(const struct nnb_device *d, const struct nnb_cache *cache, struct header *h,
                                       uint8_t **ret, struct nnb_reason *reason)
{
	__attribute__((cleanup(bytes_freep))) uint8_t *wire = NULL;
	int64_t bytes = file_bytes(cache->model_files[0], false);
	uint8_t seal[NNB__SEAL_BYTES], *stored;

	if (bytes > MODEL_FILE_MAX || read_at(cache->model_files[0], 0, h, sizeof(*h)))
		return entry_refused(reason, "no model in the file");
	if (memcmp(h->magic, magic, sizeof(magic)) != 0 || h->form != FORM || h->byte_order != 0x01020304)
		return entry_refused(reason, "the file is not of this form");
	if (memcmp(h->token, cache->token, sizeof(h->token)) != 0)
		return entry_refused(reason, "the token is another");
	if (h->wire_bytes > MODEL_FILE_MAX || (uint64_t)bytes != sizeof(*h) + h->wire_bytes + sizeof(seal))
		return entry_refused(reason, "the model file is not whole");

	wire = malloc(h->wire_bytes + sizeof(seal));
	if (!wire || read_at(cache->model_files[0], sizeof(*h), wire, h->wire_bytes + sizeof(seal)))
		return entry_refused(reason, "cannot read the model");
	stored = wire + h->wire_bytes;
	seal_model(d, h, wire, seal);
	if (!same_seal(seal, stored))
		return entry_refused(reason, "the model is not as it was saved here");
	*ret = wire;
	wire = NULL;
	return NNB_STATUS_NONE;
}

/* Copy the data file in pieces, each through private memory. 0, and the seal over the copied bytes. */
static int copy_data(const struct nnb_device *d, int from, int to, uint64_t bytes, uint8_t ret[NNB__SEAL_BYTES])
{
	struct nnb__siphash s;
	uint8_t chunk[CHUNK];
	int r = 0;

	seal_begin(&s, d, "data");
	for (uint64_t done = 0; !r && done < bytes;) {
		size_t n = bytes - done < CHUNK ? bytes - done : CHUNK;

		r = read_at(from, done, chunk, n);
		if (!r) {
			nnb__siphash_add(&s, chunk, n);
			r = write_at(NULL, to, done, chunk, n);
		}
		done += n;
	}
	nnb__siphash_done(&s, ret);
	return r;
}

/* Read the data file into private memory, and check its seal. */
static enum nnb_status load_data(const struct nnb_device *d, const struct nnb_cache *cache, const struct header *h,
                                 struct nnb_memory *ret, struct nnb_reason *reason)
{
	uint8_t seal[NNB__SEAL_BYTES];
	struct nnb_memory m;

	if ((uint64_t)file_bytes(cache->data_files[0], false) != h->data_bytes)
		return entry_refused(reason, "the data file is not whole");
	if (nnb_memory_ashmem(&m, h->data_bytes))
		return entry_refused(reason, "no memory for the data");
	if (copy_data(d, cache->data_files[0], m.fds[0], h->data_bytes, seal) || !same_seal(seal, h->data_seal)) {
		nnb_memory_close(&m);
		return entry_refused(reason, "the data are not as they were saved here");
	}
	*ret = m;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb__cache_load(const struct nnb_device *d, const struct nnb_cache *cache, struct nnb_model **ret,
                                struct nnb_prepare *ret_how, struct nnb_reason *reason)
{
	__attribute__((cleanup(bytes_freep))) uint8_t *wire = NULL;
	__attribute__((cleanup(nnb_model_freep))) struct nnb_model *model = NULL;
	enum nnb_status status;
	struct header h;

	if (!files_are_right(cache, false))
		return entry_refused(reason, "not one readable file each for model and data");
	status = load_model_file(d, cache, &h, &wire, reason);
	if (status)
		return status;
	if (nnb_model_decode(&model, wire, h.wire_bytes, reason) || model->n_pools != (h.data_bytes > 0))
		return entry_refused(reason, "the model is of another version");
	status = model->n_pools ? load_data(d, cache, &h, &model->pools[0], reason) : NNB_STATUS_NONE;
	if (status)
		return status;
	ret_how->preference = h.preference;
	ret_how->priority = h.priority;
	*ret = model;
	model = NULL;
	return NNB_STATUS_NONE;
}
