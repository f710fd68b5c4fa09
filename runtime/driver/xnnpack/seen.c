/* seen.c -- converts operands for an operation (seen.h). */
#include "seen.h"

#include <assert.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/look.h"
#include "memory.h"

enum { ALIGNMENT = 64 };

enum how { AS_IT_IS, HALF, SIGNED };

/* A converted operand. */
struct otherwise {
	uint32_t position; /* index among the inputs, followed by the outputs */
	enum how how;
	bool turned;
	void *constant;   /* the converted constant; NULL: the operand is converted into the scratch memory, */
	size_t offset;    /* at this offset */
	size_t elements;  /* how many it has */
	size_t elem;      /* bytes of an element before the conversion ... */
	size_t seen_elem; /* ... and after it */
};

struct seen {
	uint32_t n;
	size_t scratch; /* bytes of the site's scratch memory that conversions use */
	struct otherwise *of;
	void *at[]; /* addresses of the operands after conversion: inputs, then outputs */
};

/* ---- types ---- */

static enum how conversion_of(uint32_t type)
{
	switch (type) {
	case NNB_TENSOR_FLOAT16:
		return HALF;
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNB_TENSOR_QUANT8_SYMM:
	case NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL:
		return SIGNED;
	default:
		return AS_IT_IS;
	}
}

bool nnbx_sees_otherwise(const struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++)
		if (conversion_of(m->operands[i].type))
			return true;
	return false;
}

struct nnb_operand nnbx_see(const struct nnb_operand *o)
{
	struct nnb_operand seen = *o;

	switch (conversion_of(o->type)) {
	case HALF:
		seen.type = NNB_TENSOR_FLOAT32;
		break;
	case SIGNED:
		seen.type = NNB_TENSOR_QUANT8_ASYMM;
		seen.zero_point += 128;
		break;
	default:
		return seen;
	}
	seen.lifetime = o->lifetime == NNB_NO_VALUE ? NNB_NO_VALUE : NNB_TEMPORARY; /* only this operation uses it */
	return seen;
}

/* ---- images ---- */

static struct nnb_shape channels_last(const struct nnb_shape *s)
{
	return (struct nnb_shape){ .rank = 4,
		                   .dims = { s->dims[0], s->dims[2], s->dims[3], s->dims[1] },
		                   .known = s->known };
}

void nnbx_see_images(struct site *s)
{
	s->in_image = channels_last(&s->shapes[s->op->inputs[0]]);
	s->out_image = channels_last(&s->shapes[s->op->outputs[0]]);
	s->turned = true;
}

/* ---- where everything is ---- */

static uint64_t align_up(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* Is the operand at @position converted? Then *ret describes it, without its place. */
static bool is_otherwise(const struct site *s, uint32_t position, struct otherwise *ret)
{
	uint32_t operand = operand_at(s->op, position), type = s->graph->model->operands[operand].type;
	bool first = position == 0 || position == s->op->n_inputs;
	bool hashed = s->op->type == NNB_LSH_PROJECTION && position == 1; /* bytes are hashed as they are */

	*ret = (struct otherwise){ .position = position,
		                   .how = s->operands[operand].type == type || hashed ? AS_IT_IS : conversion_of(type),
		                   .turned = s->turned && first };
	if ((!ret->how && !ret->turned) || s->shapes[operand].omitted)
		return false;
	ret->elements = shape_elements(&s->shapes[operand]);
	ret->elem = nnb_type_info(type)->bytes;
	ret->seen_elem = nnb_type_info(s->operands[operand].type)->bytes;
	return true;
}

/* Is the operand an input whose value is known when the step is made? */
static bool is_constant(const struct site *s, uint32_t position)
{
	return position < s->op->n_inputs && s->graph->constants[s->op->inputs[position]];
}

uint64_t nnbx_seen_scratch(const struct site *s)
{
	struct otherwise o;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < s->op->n_inputs + s->op->n_outputs; i++)
		if (is_otherwise(s, i, &o) && !is_constant(s, i))
			bytes += align_up(o.elements * o.seen_elem + NNB_MAPPING_SLACK);
	return bytes;
}

/* ---- converting ---- */

/* The image's batch, and its channels and cells. */
struct image {
	size_t batch, channels, cells;
};

static struct image image_of(const struct nnb_shape *last)
{
	return (struct image){ last->dims[0], last->dims[3], (size_t)last->dims[1] * last->dims[2] };
}

static void convert_in(const struct site *s, const struct otherwise *o, const void *from, void *to)
{
	struct image image = image_of(&s->in_image);

	if (o->turned) {
		/* at the end of @to, so that widening from front to back does not overwrite what it has not read yet */
		char *turned = (char *)to + o->elements * (o->seen_elem - o->elem);

		nnbx_transpose(image.batch, image.channels, image.cells, o->elem, from, turned);
		from = turned;
	}
	if (o->how == HALF)
		nnbx_half_to_float(o->elements, from, to);
	else if (o->how == SIGNED)
		nnbx_flip(o->elements, from, to);
}

/* ---- making and unmaking ---- */

static void *seen_allocate(size_t bytes)
{
	return nnbx_allocator.aligned_allocate(nnbx_allocator.context, ALIGNMENT, bytes);
}

static void seen_release(void *p)
{
	if (p)
		nnbx_allocator.aligned_deallocate(nnbx_allocator.context, p);
}

static struct seen *seen_blank(const struct site *s, uint32_t n)
{
	uint32_t all = s->op->n_inputs + s->op->n_outputs;
	struct seen *seen = seen_allocate(sizeof(*seen) + all * sizeof(*seen->at));

	if (!seen)
		return NULL;
	memset(seen, 0, sizeof(*seen) + all * sizeof(*seen->at));
	seen->of = seen_allocate(n * sizeof(*seen->of));
	if (seen->of)
		return seen;
	seen_release(seen);
	return NULL;
}

static bool otherwise_place(struct otherwise *o, const struct site *s, size_t *scratch)
{
	size_t bytes = o->elements * o->seen_elem + NNB_MAPPING_SLACK;

	if (!is_constant(s, o->position)) {
		o->offset = *scratch;
		*scratch += align_up(bytes);
		return true;
	}
	o->constant = seen_allocate(bytes);
	if (!o->constant)
		return false;
	memset((char *)o->constant + bytes - NNB_MAPPING_SLACK, 0, NNB_MAPPING_SLACK);
	convert_in(s, o, s->graph->constants[s->op->inputs[o->position]], o->constant);
	return true;
}

enum nnb_status nnbx_seen_new(struct seen **ret, const struct site *s)
{
	uint32_t all = s->op->n_inputs + s->op->n_outputs, n = 0;
	size_t scratch = 0;
	struct otherwise o;
	struct seen *seen;

	*ret = NULL;
	for (uint32_t i = 0; i < all; i++)
		n += is_otherwise(s, i, &o);
	if (!n)
		return NNB_STATUS_NONE;
	seen = seen_blank(s, n);
	for (uint32_t i = 0; seen && i < all; i++) {
		if (!is_otherwise(s, i, &o))
			continue;
		if (!otherwise_place(&o, s, &scratch)) {
			nnbx_seen_free(seen);
			seen = NULL;
			break;
		}
		assert(seen->n < n);
		seen->of[seen->n++] = o;
	}
	assert(!seen || seen->n == n);
	if (seen)
		seen->scratch = scratch;
	*ret = seen;
	return seen ? NNB_STATUS_NONE : NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

void nnbx_seen_free(struct seen *seen)
{
	if (!seen)
		return;
	for (uint32_t i = 0; i < seen->n; i++)
		seen_release(seen->of[i].constant);
	seen_release(seen->of);
	seen_release(seen);
}

/* ---- running ---- */

struct site nnbx_seen_site(struct seen *seen, const struct site *s)
{
	struct site ret = *s;

	for (uint32_t i = 0; i < s->op->n_inputs + s->op->n_outputs; i++)
		seen->at[i] = s->at[operand_at(s->op, i)];
	for (uint32_t i = 0; i < seen->n; i++) {
		const struct otherwise *o = &seen->of[i];

		seen->at[o->position] = o->constant ? o->constant : (char *)s->scratch + o->offset;
	}
	ret.ins = seen->at;
	ret.outs = seen->at + s->op->n_inputs;
	ret.scratch = (char *)s->scratch + seen->scratch;
	return ret;
}

void nnbx_seen_load(const struct seen *seen, const struct site *s)
{
	for (uint32_t i = 0; i < seen->n; i++) {
		const struct otherwise *o = &seen->of[i];

		if (o->position < s->op->n_inputs && !o->constant)
			convert_in(s, o, s->at[s->op->inputs[o->position]], seen->at[o->position]);
	}
}

void nnbx_seen_store(const struct seen *seen, const struct site *s)
{
	for (uint32_t i = 0; i < seen->n; i++) {
		const struct otherwise *o = &seen->of[i];

		if (o->position >= s->op->n_inputs) {
			void *from = seen->at[o->position];
			void *to = s->at[operand_at(s->op, o->position)];
			struct image image = image_of(&s->out_image);
			void *converted = o->turned ? from : to;

			if (o->how == HALF)
				nnbx_float_to_half(o->elements, from, converted);
			else if (o->how == SIGNED)
				nnbx_flip(o->elements, from, converted);
			if (o->turned)
				nnbx_transpose(image.batch, image.cells, image.channels, o->elem, from, to);
		}
	}
}
