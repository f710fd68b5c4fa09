/* pools.c -- mappings of pools, buffers of the driver, and what was refused for want of something. */
#include "fold/inside.h"

#include <stdlib.h>

enum {
	OWNER_MODEL, /* the catalogue's numbers */
	OWNER_STREAM,
	OWNER_EXEC,
	OWNER_APP,
	OWNER_SERVICE,
	UNKNOWN = 255,
	BUFFERS_MAX = 1 << 18,
	MAPPINGS_MAX = 1 << 18 /* open at a time; of others only the beginning is reported */
};

/* ---- mappings ---- */

static uint64_t number_of(uint8_t owner, uint64_t owner_id, int32_t slot)
{
	return bsa_mixed(owner_id) ^ bsa_mixed((uint64_t)owner << 32 | (uint32_t)slot) >> 1;
}

static struct bsa_mapping_open *find_mapping(const struct bsa_fold *f, uint8_t owner, uint64_t owner_id, int32_t slot)
{
	struct bsa_mapping_open *m = bsa_table_find(&f->world.mappings, number_of(owner, owner_id, slot));

	while (m && (m->fact.owner != owner || m->fact.owner_id != owner_id || m->fact.slot != slot))
		m = bsa_table_next(m);
	return m;
}

void bsa_mapping_end(struct bsa_fold *f, struct bsa_mapping_open *m, uint64_t at, uint8_t cause)
{
	m->fact.unmapped = at;
	m->fact.cause = cause;
	f->facts.mapping(f->facts.ctx, &m->fact);
	bsa_list_remove(&m->of_stream);
	bsa_table_remove(&f->world.mappings, &m->entry);
	free(m);
}

void bsa_on_pool_map(struct bsa_fold *f, const struct bsa_pool_map *e)
{
	bool of_stream = e->owner == OWNER_STREAM && e->owner_id && e->owner_id <= UINT32_MAX;
	struct bsa_mapping_open *m = find_mapping(f, e->owner, e->owner_id, e->slot);
	struct bsa_stream_known *s;
	struct bsa_mapping fact;

	if (m && !e->status) {
		if (e->since && m->fact.bytes == e->bytes && m->fact.kind == e->kind)
			return;
		bsa_mapping_end(f, m, e->since ? BSA_NEVER : f->now, UNKNOWN);
	}
	s = of_stream ? bsa_stream_of(f, (uint32_t)e->owner_id) : NULL;
	bsa_exec_mapped(f, s, e->owner == OWNER_EXEC ? e->owner_id : 0, e->slot, e->took_ns);
	fact = (struct bsa_mapping){ .id = ++f->last.mapping,
		                     .bytes = e->bytes,
		                     .mapped = bsa_fold_since(f, e->since),
		                     .unmapped = BSA_NEVER,
		                     .took = e->took_ns,
		                     .owner_id = e->owner_id,
		                     .stream = s ? s->fact.id : 0,
		                     .trace = f->trace,
		                     .slot = e->slot,
		                     .owner = e->owner,
		                     .kind = e->kind,
		                     .status = e->status,
		                     .cause = UNKNOWN };
	if (e->status || f->world.mappings.n >= MAPPINGS_MAX) { /* the span cannot be kept until its end */
		f->facts.mapping(f->facts.ctx, &fact);
		return;
	}
	m = bsa_fold_alloc(f, sizeof(*m));
	if (!m)
		return;
	m->fact = fact;
	bsa_table_add(&f->world.mappings, &m->entry, number_of(e->owner, e->owner_id, e->slot));
	if (s)
		bsa_list_add(&s->mappings, &m->of_stream);
}

void bsa_on_pool_unmap(struct bsa_fold *f, const struct bsa_pool_unmap *e)
{
	struct bsa_mapping_open *m = find_mapping(f, e->owner, e->owner_id, e->slot);

	if (m)
		bsa_mapping_end(f, m, f->now, e->cause);
}

/* ---- buffers ---- */

static struct bsa_buffer buffer_unknown(struct bsa_fold *f, uint32_t number)
{
	return (struct bsa_buffer){ .id = ++f->last.buffer,
		                    .trace = f->trace,
		                    .number = number,
		                    .bytes = BSA_NEVER,
		                    .allocated = BSA_NEVER,
		                    .freed = BSA_NEVER,
		                    .status = UNKNOWN,
		                    .cause = UNKNOWN };
}

/* NULL if @number is 0, or with too many, or without memory. */
static struct bsa_buffer_known *buffer_of(struct bsa_fold *f, uint32_t number)
{
	struct bsa_buffer_known *b = bsa_table_find(&f->world.buffers, number);

	if (b || !number || f->world.buffers.n >= BUFFERS_MAX || !(b = bsa_fold_alloc(f, sizeof(*b))))
		return b;
	b->fact = buffer_unknown(f, number);
	bsa_table_add(&f->world.buffers, &b->entry, number);
	return b;
}

static void buffer_end(struct bsa_fold *f, struct bsa_buffer_known *b)
{
	f->facts.buffer(f->facts.ctx, &b->fact);
	bsa_table_remove(&f->world.buffers, &b->entry);
	free(b);
}

static void report_buffer(struct bsa_fold *f, struct bsa_buffer *fact, const struct bsa_buffer_allocate *e)
{
	const struct bsa_connection *c = bsa_table_find(&f->world.connections, e->conn);

	fact->app = c && c->app ? c->app->fact.id : 0;
	fact->bytes = e->bytes;
	fact->allocated = bsa_fold_since(f, e->since);
	fact->roles = e->roles;
	fact->status = e->status;
}

void bsa_on_buffer_allocate(struct bsa_fold *f, const struct bsa_buffer_allocate *e)
{
	struct bsa_buffer_known *b = bsa_table_find(&f->world.buffers, e->buffer);

	if (!e->buffer || e->status) {
		struct bsa_buffer refused = buffer_unknown(f, e->buffer);

		report_buffer(f, &refused, e);
		f->facts.buffer(f->facts.ctx, &refused);
		return;
	}
	if (b && b->fact.allocated != BSA_NEVER) {
		/* A repetition has the time of the allocation; the memory may have grown since, or been taken away. */
		if (e->since && bsa_fold_since(f, e->since) <= b->fact.allocated) {
			b->fact.bytes = e->bytes > b->fact.bytes ? e->bytes : b->fact.bytes;
			return;
		}
		buffer_end(f, b); /* another one, of the same number */
	}
	b = buffer_of(f, e->buffer);
	if (b)
		report_buffer(f, &b->fact, e);
}

static void report_use(struct bsa_fold *f, uint32_t buffer, struct bsa_buffer_used fact)
{
	const struct bsa_buffer_known *b = buffer_of(f, buffer);

	fact.at = f->now;
	fact.buffer = b ? b->fact.id : 0;
	f->facts.buffer_used(f->facts.ctx, &fact);
}

void bsa_on_buffer_copy(struct bsa_fold *f, const struct bsa_buffer_copy *e)
{
	report_use(f, e->buffer,
	           (struct bsa_buffer_used){ .bytes = e->bytes,
	                                     .took = e->took_ns,
	                                     .op = e->dir ? BSA_BUFFER_FROM : BSA_BUFFER_TO,
	                                     .status = e->status,
	                                     .cause = UNKNOWN });
}

void bsa_on_buffer_reject(struct bsa_fold *f, const struct bsa_buffer_reject *e)
{
	const struct bsa_exec *x = e->exec ? bsa_exec_of(f, e->exec) : NULL;

	report_use(f, e->buffer,
	           (struct bsa_buffer_used){ .execution = x ? x->fact.id : 0,
	                                     .bytes = BSA_NEVER,
	                                     .took = BSA_NEVER,
	                                     .op = BSA_BUFFER_REJECT,
	                                     .status = UNKNOWN,
	                                     .cause = e->cause });
}

void bsa_on_buffer_free(struct bsa_fold *f, const struct bsa_buffer_free *e)
{
	struct bsa_buffer_known *b = buffer_of(f, e->buffer);

	if (!b)
		return;
	b->fact.freed = f->now;
	b->fact.cause = e->cause;
	buffer_end(f, b);
}

/* The table's own order is that of mixed numbers, which differs from process to process. */
static bool mapping_is_before(const struct bsa_entry *a, const struct bsa_entry *b)
{
	return ((const struct bsa_mapping_open *)a)->fact.id < ((const struct bsa_mapping_open *)b)->fact.id;
}

void bsa_pools_finish(struct bsa_fold *f)
{
	struct bsa_entry *e;
	size_t from = 0;

	bsa_table_sort(&f->world.mappings, mapping_is_before); /* for the order of the reports */
	while ((e = bsa_table_any(&f->world.mappings, &from)))
		bsa_mapping_end(f, (struct bsa_mapping_open *)e, BSA_NEVER, UNKNOWN);
	bsa_table_sort(&f->world.buffers, NULL);
	for (from = 0; (e = bsa_table_any(&f->world.buffers, &from));)
		buffer_end(f, (struct bsa_buffer_known *)e);
}

/* ---- what there was too little of ---- */

void bsa_on_resource_exhausted(struct bsa_fold *f, const struct bsa_resource_exhausted *e)
{
	struct bsa_exhausted fact = { .owner_id = e->owner_id,
		                      .at = f->now,
		                      .asked = e->asked,
		                      .limit = e->limit,
		                      .trace = f->trace,
		                      .owner = e->owner,
		                      .kind = e->kind,
		                      .resource = e->resource };
	const struct bsa_model_known *m = NULL;
	const struct bsa_stream_known *s = NULL;
	const struct bsa_app_known *a = NULL;
	const struct bsa_exec *x = NULL;

	if (fact.owner == OWNER_MODEL && fact.owner_id <= UINT32_MAX)
		m = bsa_table_find(&f->world.models, fact.owner_id);
	else if (fact.owner == OWNER_STREAM && fact.owner_id <= UINT32_MAX)
		s = bsa_table_find(&f->world.streams, fact.owner_id);
	else if (fact.owner == OWNER_EXEC && fact.owner_id)
		x = bsa_exec_of(f, fact.owner_id);
	/* Keys of apps are each service's own, and the event does not name the service: the one that knows it. */
	if (fact.owner == OWNER_APP && fact.owner_id <= UINT32_MAX)
		for (const struct bsa_service *of = f->world.all_services; of && !a; of = of->next)
			a = bsa_table_find(&f->world.apps, of->entry.number << 32 | fact.owner_id);
	if (a)
		fact.app = a->fact.id;
	if (x)
		fact.execution = x->fact.id;
	if (m || s || x) {
		fact.model = m ? m->fact.id : s ? s->fact.model : x->fact.model;
		fact.app = m ? m->fact.app : s ? s->fact.app : x->fact.app;
	}
	f->facts.exhausted(f->facts.ctx, &fact);
}
