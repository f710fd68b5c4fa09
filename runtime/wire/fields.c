/*
 * fields.c -- the structs that answers carry, a field at a time.
 *
 * LAYOUT    The fields of a struct follow each other in the order of its table, without padding: nnburstd(8) lists
 *           them. A table serves both directions, so that they cannot differ.
 * TRUST     A struct that arrives incomplete is filled with zeroes from there on, and the message has failed.
 */
#include <stddef.h>
#include <string.h>

#include "wire/protocol.h"

enum type { U32, U64 };

/* A member of a struct, of one of the widths that messages have. */
struct field {
	uint16_t at;
	uint8_t type;
};

#define FIELD32(of, member)               \
	{                                 \
		offsetof(of, member), U32 \
	}
#define FIELD64(of, member)               \
	{                                 \
		offsetof(of, member), U64 \
	}
#define N(fields) (sizeof(fields) / sizeof((fields)[0]))

#define COUNT(member) FIELD64(struct nnb_service_counts, member)
#define HOLDINGS(of)                                                                                      \
	COUNT(of.connections), COUNT(of.channels), COUNT(of.models), COUNT(of.bursts), COUNT(of.buffers), \
		COUNT(of.pools), COUNT(of.bytes), COUNT(of.executions_under_way)
#define BUDGET(of) COUNT(of.limit), COUNT(of.most), COUNT(of.guaranteed), COUNT(of.all), COUNT(of.app)

static const struct field counts_fields[] = {
	HOLDINGS(all),           HOLDINGS(app),
	HOLDINGS(limit),         BUDGET(descriptors),
	BUDGET(mappings),        BUDGET(memory),
	BUDGET(threads),         COUNT(burst_requests),
	COUNT(burst_malformed),  COUNT(slot_lookups),
	COUNT(slot_misses),      COUNT(sync_executions),
	COUNT(async_executions), COUNT(fenced_executions),
	COUNT(refused),          FIELD32(struct nnb_service_counts, performance_held),
};

static const struct field app_fields[] = {
	FIELD32(struct nnb_app_counts, app),
	FIELD32(struct nnb_app_counts, waiting),
	FIELD64(struct nnb_app_counts, executions),
	FIELD64(struct nnb_app_counts, preemptions),
	FIELD64(struct nnb_app_counts, restarts),
	FIELD64(struct nnb_app_counts, missed_transient),
	FIELD64(struct nnb_app_counts, missed_persistent),
	FIELD64(struct nnb_app_counts, late),
	FIELD64(struct nnb_app_counts, received_ns),
	FIELD64(struct nnb_app_counts, entitled_ns),
	FIELD64(struct nnb_app_counts, max_lag_ns),
	FIELD64(struct nnb_app_counts, longest_wait_ns),
};

static const struct field times_fields[] = {
	FIELD64(struct nnb_times, floor_ns),
	FIELD64(struct nnb_times, estimate_ns),
	FIELD64(struct nnb_times, step_ns),
	FIELD64(struct nnb_times, longest_ns),
};

static void put_fields(struct nnb__message *m, const void *from, const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		nnb__put_bytes(m, (const uint8_t *)from + fields[i].at, fields[i].type == U32 ? 4 : 8);
}

static void get_fields(struct nnb__message *m, void *to, const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n && !m->failed; i++)
		nnb__get_bytes(m, (uint8_t *)to + fields[i].at, fields[i].type == U32 ? 4 : 8);
}

void nnb__put_counts(struct nnb__message *m, const struct nnb_service_counts *counts)
{
	put_fields(m, counts, counts_fields, N(counts_fields));
}

void nnb__get_counts(struct nnb__message *m, struct nnb_service_counts *ret)
{
	*ret = (struct nnb_service_counts){ 0 };
	get_fields(m, ret, counts_fields, N(counts_fields));
}

void nnb__put_app(struct nnb__message *m, const struct nnb_app_counts *counts)
{
	put_fields(m, counts, app_fields, N(app_fields));
}

void nnb__get_app(struct nnb__message *m, struct nnb_app_counts *ret)
{
	*ret = (struct nnb_app_counts){ 0 };
	get_fields(m, ret, app_fields, N(app_fields));
}

void nnb__put_times(struct nnb__message *m, const struct nnb_times *times)
{
	put_fields(m, times, times_fields, N(times_fields));
}

void nnb__get_times(struct nnb__message *m, struct nnb_times *ret)
{
	*ret = (struct nnb_times){ 0 };
	get_fields(m, ret, times_fields, N(times_fields));
}

static void put_performance(struct nnb__message *m, const struct nnb_performance *p)
{
	nnb__put_bytes(m, &p->time, sizeof(p->time));
	nnb__put_bytes(m, &p->power, sizeof(p->power));
}

static void get_performance(struct nnb__message *m, struct nnb_performance *ret)
{
	nnb__get_bytes(m, &ret->time, sizeof(ret->time));
	nnb__get_bytes(m, &ret->power, sizeof(ret->power));
}

void nnb__put_capabilities(struct nnb__message *m, const struct nnb_capabilities *c)
{
	put_performance(m, &c->relaxed);
	nnb__put_u32(m, c->n_types);
	for (uint32_t i = 0; i < c->n_types; i++) {
		nnb__put_u32(m, c->types[i].type);
		put_performance(m, &c->types[i].performance);
	}
}

void nnb__get_capabilities(struct nnb__message *m, struct nnb_capabilities *ret)
{
	*ret = (struct nnb_capabilities){ 0 };
	get_performance(m, &ret->relaxed);
	ret->n_types = nnb__get_u32(m);
	if (ret->n_types > sizeof(ret->types) / sizeof(ret->types[0])) {
		ret->n_types = 0;
		m->failed = true;
	}
	for (uint32_t i = 0; i < ret->n_types && !m->failed; i++) {
		ret->types[i].type = nnb__get_u32(m);
		get_performance(m, &ret->types[i].performance);
	}
}
