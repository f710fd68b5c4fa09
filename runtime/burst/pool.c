/* pool.c -- memory that an app shares with services. */
#include "burst/pool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "trace/open.h"
#include "trace/span.h"

/* @memory is taken, whatever happens. */
static int pool_of(struct nnb_pool **ret, struct nnb_memory *memory)
{
	static atomic_uint_least64_t last;
	struct nnb_pool *p = calloc(1, sizeof(*p));
	int r = p ? 0 : -ENOMEM;

	if (!r)
		r = nnb_map(&p->mapping, memory);
	if (r && r != -ENOTSUP) {
		nnb_memory_close(memory);
		free(p);
		return r;
	}
	p->id = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	p->memory = *memory;
	*ret = p;
	return 0;
}

static void pool_emit_span(uint64_t began, uint64_t bytes, int r)
{
	nnb__span_end_own(began, NBT_span_kind_pool_make, bytes, r ? NNB_STATUS_GENERAL_FAILURE : NNB_STATUS_NONE);
}

int nnb_pool_new(struct nnb_pool **ret, uint64_t bytes)
{
	struct nnb_memory memory;
	uint64_t began;
	int r;

	nnb__trace_open(); /* an app may have pools before it has a service */
	began = nnb__span_begin();
	r = nnb_memory_ashmem(&memory, bytes);
	if (!r)
		r = pool_of(ret, &memory);
	pool_emit_span(began, bytes, r);
	return r;
}

int nnb_pool_from(struct nnb_pool **ret, const struct nnb_memory *memory)
{
	struct nnb_memory own;
	uint64_t began;
	int r;

	nnb__trace_open();
	began = nnb__span_begin();
	r = nnb_memory_dup(&own, memory);
	if (!r)
		r = pool_of(ret, &own);
	pool_emit_span(began, memory->size, r);
	return r;
}

void *nnb_pool_data(const struct nnb_pool *p)
{
	return p->mapping ? nnb_mapping_data(p->mapping) : NULL;
}

uint64_t nnb_pool_size(const struct nnb_pool *p)
{
	return p->memory.size;
}

const struct nnb_memory *nnb_pool_memory(const struct nnb_pool *p)
{
	return &p->memory;
}

struct nnb_pool *nnb_pool_free(struct nnb_pool *p)
{
	uint64_t began = nnb__span_begin(), bytes;

	if (!p)
		return NULL;
	bytes = p->memory.size;
	nnb__bursts_forget(p);
	nnb_mapping_unref(p->mapping);
	nnb_memory_close(&p->memory);
	free(p);
	nnb__span_end_own(began, NBT_span_kind_pool_free, bytes, NNB_STATUS_NONE);
	return NULL;
}
