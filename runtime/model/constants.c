/*
 * constants.c -- values in a model file: lists of numbers, and raw bytes in files beside it.
 *
 * TRUST     The text is untrusted. No allocation depends on a number in the text, only on the length of a list that
 *           exists or of a file. A side file must be a regular file directly in the model's directory, without a path
 *           or a symbolic link. Its owner can change or truncate the file later; the mapping handles that (memory.h).
 */
#include "model/constants.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nnb/half.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "side files are little-endian and used as they are");

enum { POOL_ALIGNMENT = 64 };

/* ---- lists ---- */

/* Write @json, an integer from @min to @max, to @to as 1, 2 or 4 bytes. */
static int put_integer(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, int64_t min,
                       int64_t max, size_t bytes, uint8_t *to)
{
	int64_t i = 0;
	int s = nnb__json_integer(reason, at, json, min, max, &i);

	memcpy(to, &i, bytes); /* little-endian: the lowest bytes */
	return s;
}

static int put_real(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, bool half, uint8_t *to)
{
	float f = 0;
	int s = nnb__json_real(reason, at, json, &f);
	uint16_t h = nnb_float_to_half(f);

	memcpy(to, half ? (const void *)&h : &f, half ? sizeof(h) : sizeof(f));
	return s;
}

/* Write one element of @type to @to. */
static int put_element(struct nnb_reason *reason, const struct nnb__place *at, const json_t *json, uint32_t type,
                       uint8_t *to)
{
	switch (type) {
	case NNB_FLOAT32:
	case NNB_TENSOR_FLOAT32:
		return put_real(reason, at, json, false, to);
	case NNB_FLOAT16:
	case NNB_TENSOR_FLOAT16:
		return put_real(reason, at, json, true, to);
	case NNB_INT32:
	case NNB_TENSOR_INT32:
		return put_integer(reason, at, json, INT32_MIN, INT32_MAX, 4, to);
	case NNB_UINT32:
		return put_integer(reason, at, json, 0, UINT32_MAX, 4, to);
	case NNB_BOOL:
	case NNB_TENSOR_BOOL8: /* true, false, 1 or 0 */
		if (!json_is_boolean(json))
			return put_integer(reason, at, json, 0, 1, 1, to);
		*to = json_is_true(json);
		return 0;
	case NNB_TENSOR_QUANT16_SYMM:
		return put_integer(reason, at, json, INT16_MIN, INT16_MAX, 2, to);
	case NNB_TENSOR_QUANT16_ASYMM:
		return put_integer(reason, at, json, 0, UINT16_MAX, 2, to);
	case NNB_TENSOR_QUANT8_SYMM:
	case NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL:
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
		return put_integer(reason, at, json, INT8_MIN, INT8_MAX, 1, to);
	default: /* TENSOR_QUANT8_ASYMM and TENSOR_OEM_BYTE */
		return put_integer(reason, at, json, 0, UINT8_MAX, 1, to);
	}
}

int nnb__list_convert(struct nnb_reason *reason, const struct nnb__place *at, const json_t *list, uint32_t type,
                      uint8_t *to)
{
	size_t n = json_array_size(list), bytes = nnb_type_info(type)->bytes;
	struct nnb__place here = { at, NULL, 0 };
	int s = 0;

	for (; here.index < n && s == 0; here.index++)
		s = put_element(reason, &here, json_array_get(list, here.index), type, to + here.index * bytes);
	return s;
}

/*
 * The bytes that the operand needs; 0: its dims do not determine the size. Fails beyond 4 GiB, the range of a location.
 */
static int operand_bytes(struct nnb_reason *reason, const struct nnb__place *at, const struct nnb_operand *o,
                         uint64_t *ret)
{
	if (nnb_operand_bytes(o->type, o->rank, o->dims, ret) < 0 || *ret > UINT32_MAX)
		return nnb__json_wrong(reason, at, -EINVAL, "its dims make it larger than 4 GiB");
	return 0;
}

int nnb__list_bytes(struct nnb_reason *reason, const struct nnb__place *at, const json_t *list,
                    const struct nnb_operand *o, bool may_vary, size_t *ret)
{
	const struct nnb_type_info *type = nnb_type_info(o->type);
	size_t n = json_array_size(list);
	uint64_t need;
	int s = operand_bytes(reason, at, o, &need);

	if (s < 0)
		return s;
	if (!type->bytes)
		return nnb__json_wrong(reason, at, -EINVAL, "values of type %s cannot be listed", type->name);
	if ((need || !may_vary) && n != need / type->bytes)
		return nnb__json_wrong(reason, at, -EINVAL, "%zu values, but the dims say %" PRIu64, n,
		                       need / type->bytes);
	*ret = n * type->bytes;
	return 0;
}

/* ---- constants ---- */

/* Extend the heap by @bytes at a multiple of @alignment. *ret: offset from heap->data. */
static int heap_extend(const struct nnb__constants *c, const struct nnb__place *at, struct nnb__heap *heap,
                       uint64_t bytes, uint32_t alignment, uint32_t *ret)
{
	uint64_t start = ((uint64_t)heap->bytes + alignment - 1) / alignment * alignment;
	uint64_t end = start + bytes;
	size_t room = heap->room;
	uint8_t *data;

	assert(alignment && heap->bytes <= heap->room);
	if (end > UINT32_MAX)
		return nnb__json_wrong(c->reason, at, -EINVAL, "the constants are larger than 4 GiB together");
	if (end > room) {
		room = end > 2 * (uint64_t)room ? end : 2 * room;
		data = realloc(heap->data, room);
		if (!data)
			return nnb__no_memory(c->reason);
		heap->data = data;
		heap->room = room;
	}
	memset(heap->data + heap->bytes, 0, end - heap->bytes);
	heap->bytes = (uint32_t)end;
	*ret = (uint32_t)start;
	return 0;
}

/* Append a pool to the model. *ret: its index. The model owns the pool, also after a later failure. */
static int add_pool(const struct nnb__constants *c, uint32_t *ret)
{
	struct nnb_model *m = c->model;
	struct nnb_memory *pools = realloc(m->pools, (m->n_pools + 1) * sizeof(*pools));

	if (!pools)
		return nnb__no_memory(c->reason);
	m->pools = pools;
	pools[m->n_pools] = (struct nnb_memory){ 0 };
	*ret = m->n_pools++;
	return 0;
}

int nnb__constants_scales(struct nnb__constants *c, const struct nnb__place *at, const json_t *list,
                          struct nnb_operand *o)
{
	size_t n = json_array_size(list);
	int s;

	if (n > NNB_OPERANDS_MAX)
		return nnb__json_wrong(c->reason, at, -EINVAL, "%zu are more than %d", n, NNB_OPERANDS_MAX);
	s = heap_extend(c, at, &c->values, n * sizeof(float), sizeof(float), &o->scales_at);
	o->n_scales = (uint32_t)n;
	return s ? s : nnb__list_convert(c->reason, at, list, NNB_TENSOR_FLOAT32, c->values.data + o->scales_at);
}

/* ---- side files ---- */

/* Open file @name in the model's directory; returns its descriptor and size. */
static int open_side(struct nnb__constants *c, const struct nnb__place *at, const char *name, int *ret_fd,
                     uint64_t *ret_bytes)
{
	struct stat st;
	int fd;

	if (!c->dir)
		return nnb__json_wrong(c->reason, at, -EINVAL, "this model has no directory for side files");
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return nnb__json_wrong(c->reason, at, -EINVAL, "'%.80s' is not a plain file name", name);
	if (c->dir_fd < 0)
		c->dir_fd = open(c->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->dir_fd < 0)
		return nnb__json_wrong(c->reason, at, -errno, "the model's directory: %s", strerror(errno));
	/* O_NONBLOCK: opening a FIFO would otherwise wait for its writer */
	fd = openat(c->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 && errno != ELOOP && errno != ENXIO)
		return nnb__json_wrong(c->reason, at, -errno, "%.80s: %s", name, strerror(errno));
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		return nnb__json_wrong(c->reason, at, -EINVAL, "%.80s is no regular file", name);
	}
	*ret_fd = fd;
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

/* Find the side file @name, which is opened on first use. */
static int find_side(struct nnb__constants *c, const struct nnb__place *at, const char *name,
                     struct nnb__side_file **ret)
{
	struct nnb__side_file side = { .pool = NNB__NO_POOL };
	struct nnb__side_file *all;
	int s;

	for (size_t i = 0; i < c->n_sides; i++)
		if (strcmp(c->sides[i].name, name) == 0) {
			*ret = &c->sides[i];
			return 0;
		}
	all = realloc(c->sides, (c->n_sides + 1) * sizeof(*all));
	if (!all)
		return nnb__no_memory(c->reason);
	c->sides = all;
	s = open_side(c, at, name, &side.fd, &side.bytes);
	if (s < 0)
		return s;
	side.name = strdup(name);
	if (!side.name) {
		close(side.fd);
		return nnb__no_memory(c->reason);
	}
	all[c->n_sides] = side;
	*ret = &all[c->n_sides++];
	return 0;
}

static int read_exactly(int fd, uint8_t *to, size_t n, off_t offset)
{
	while (n) {
		ssize_t got = pread(fd, to, n, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EINVAL;
		to += got;
		n -= (size_t)got;
		offset += got;
	}
	return 0;
}

static int copy_from_side(struct nnb__constants *c, const struct nnb__place *at, const struct nnb__side_file *side,
                          struct nnb_operand *o, struct nnb_location l)
{
	const struct nnb_type_info *type = nnb_type_info(o->type);
	uint32_t from = l.offset;
	int s = heap_extend(c, at, &c->values, l.length, type->bytes ? type->bytes : 1, &l.offset);

	if (s < 0)
		return s;
	s = read_exactly(side->fd, c->values.data + l.offset, l.length, from);
	if (s < 0)
		return nnb__json_wrong(c->reason, at, s, "%.80s: %s", side->name,
		                       s == -EINVAL ? "cut short" : strerror(-s));
	o->location = l;
	return 0;
}

static int refer_to_side(struct nnb__constants *c, const struct nnb__place *at, struct nnb__side_file *side,
                         struct nnb_operand *o, struct nnb_location l)
{
	int s;

	if (side->pool == NNB__NO_POOL) {
		s = add_pool(c, &side->pool);
		if (s < 0)
			return s;
		s = nnb_memory_mmap_fd(&c->model->pools[side->pool], side->fd, side->bytes, PROT_READ, 0);
		if (s < 0)
			return nnb__json_wrong(c->reason, at, s, "%.80s: %s", side->name, strerror(-s));
	}
	l.pool = side->pool;
	o->location = l;
	return 0;
}

/* Read the range of the side file that @value names, and check that the file contains it. */
static int side_range(const struct nnb__constants *c, const struct nnb__place *at, const json_t *value,
                      const struct nnb_operand *o, const struct nnb__side_file *side, struct nnb_location *ret)
{
	struct nnb__place offset_place = { at, "offset", 0 };
	struct nnb__place length_place = { at, "length", 0 };
	uint32_t element = nnb_type_info(o->type)->bytes;
	int64_t offset, length;
	uint64_t need;
	int s = nnb__json_integer(c->reason, &offset_place, json_object_get(value, "offset"), 0, UINT32_MAX, &offset);

	if (s == 0)
		s = nnb__json_integer(c->reason, &length_place, json_object_get(value, "length"), 1, UINT32_MAX,
		                      &length);
	if (s == 0)
		s = operand_bytes(c->reason, at, o, &need);
	if (s < 0)
		return s;
	if (element && offset % element)
		return nnb__json_wrong(c->reason, &offset_place, -EINVAL,
		                       "%" PRId64 " is no multiple of %u, an element's bytes", offset, element);
	if (element && (uint64_t)length != need)
		return nnb__json_wrong(c->reason, &length_place, -EINVAL,
		                       "%" PRId64 " bytes, but the dims say %" PRIu64, length, need);
	if ((uint64_t)offset + (uint64_t)length > side->bytes)
		return nnb__json_wrong(c->reason, at, -EINVAL,
		                       "%.80s has %" PRIu64 " bytes, and bytes %" PRId64 " to %" PRId64
		                       " are asked for",
		                       side->name, side->bytes, offset, offset + length);
	*ret = (struct nnb_location){ .offset = (uint32_t)offset, .length = (uint32_t)length };
	return 0;
}

static int side_value(struct nnb__constants *c, const struct nnb__place *at, const json_t *value, struct nnb_operand *o)
{
	struct nnb__place name_place = { at, "file", 0 };
	const json_t *name = nnb__json_member(c->reason, &name_place, value, JSON_STRING);
	struct nnb__side_file *side = NULL;
	struct nnb_location l;
	int s;

	if (!name)
		return -EINVAL;
	s = find_side(c, &name_place, json_string_value(name), &side);
	if (s == 0)
		s = side_range(c, at, value, o, side, &l);
	if (s < 0)
		return s;
	if (o->lifetime == NNB_CONSTANT_COPY)
		return copy_from_side(c, at, side, o, l);
	return refer_to_side(c, at, side, o, l);
}

/* ---- life cycle ---- */

int nnb__constants_place(struct nnb__constants *c)
{
	struct nnb_mapping *mapping;
	struct nnb_memory *pool;
	uint8_t *exact;
	int s;

	if (c->values.bytes) {
		exact = realloc(c->values.data, c->values.bytes);
		c->model->values = exact ? exact : c->values.data;
		c->model->n_values = c->values.bytes;
		c->values.data = NULL;
	}
	if (c->reference_pool == NNB__NO_POOL)
		return 0;
	pool = &c->model->pools[c->reference_pool];
	s = nnb_memory_ashmem(pool, c->references.bytes);
	if (s == 0)
		s = nnb_map(&mapping, pool);
	if (s < 0)
		return nnb__json_wrong(c->reason, NULL, s, "a pool of %u bytes: %s", c->references.bytes, strerror(-s));
	memcpy(nnb_mapping_data(mapping), c->references.data, c->references.bytes);
	nnb_mapping_unref(mapping);
	return 0;
}

int nnb__constants_add(struct nnb__constants *c, const struct nnb__place *at, const json_t *value,
                       struct nnb_operand *operand)
{
	bool copy = operand->lifetime == NNB_CONSTANT_COPY;
	struct nnb__heap *heap = copy ? &c->values : &c->references;
	struct nnb_location l = { 0 };
	size_t bytes;
	int s;

	if (!value)
		return nnb__json_wrong(c->reason, at, -EINVAL, "missing");
	if (json_is_object(value))
		return side_value(c, at, value, operand);
	if (!json_is_array(value))
		return nnb__json_wrong(c->reason, at, -EINVAL, "neither a list nor the place in a file");
	s = nnb__list_bytes(c->reason, at, value, operand, false, &bytes);
	if (s < 0 || !bytes)
		return s;
	s = heap_extend(c, at, heap, bytes, copy ? nnb_type_info(operand->type)->bytes : POOL_ALIGNMENT, &l.offset);
	if (s == 0)
		s = nnb__list_convert(c->reason, at, value, operand->type, heap->data + l.offset);
	if (s == 0 && !copy && c->reference_pool == NNB__NO_POOL)
		s = add_pool(c, &c->reference_pool);
	if (s < 0)
		return s;
	l.pool = copy ? 0 : c->reference_pool;
	l.length = (uint32_t)bytes;
	operand->location = l;
	return 0;
}

void nnb__constants_init(struct nnb__constants *c, const char *dir, struct nnb_reason *reason)
{
	*c = (struct nnb__constants){ .dir = dir, .reason = reason, .reference_pool = NNB__NO_POOL, .dir_fd = -1 };
}

void nnb__constants_fini(struct nnb__constants *c)
{
	free(c->values.data);
	free(c->references.data);
	for (size_t i = 0; i < c->n_sides; i++) {
		free(c->sides[i].name);
		close(c->sides[i].fd);
	}
	free(c->sides);
	if (c->dir_fd >= 0)
		close(c->dir_fd);
}
