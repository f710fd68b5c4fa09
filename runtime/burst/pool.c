/* pool.c -- memory that an app shares with services. */
#include "burst/pool.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

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

int nnb_pool_new(struct nnb_pool **ret, uint64_t bytes)
{
	struct nnb_memory memory;
	int r = nnb_memory_ashmem(&memory, bytes);

	return r ? r : pool_of(ret, &memory);
}

int nnb_pool_from(struct nnb_pool **ret, const struct nnb_memory *memory)
{
	struct nnb_memory own;
	int r = nnb_memory_dup(&own, memory);

	return r ? r : pool_of(ret, &own);
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
	if (!p)
		return NULL;
	nnb__bursts_forget(p);
	nnb_mapping_unref(p->mapping);
	nnb_memory_close(&p->memory);
	free(p);
	return NULL;
}
