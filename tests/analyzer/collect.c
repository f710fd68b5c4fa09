/* collect.c -- see collect.h. */
#include "analyzer/collect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keeping ---- */

/* Room for one more of @size bytes each. */
static void *more(void *items, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return items;
	*room = *room ? *room * 2 : 64;
	items = realloc(items, *room * size);
	if (!items)
		abort();
	return items;
}

#define K(kind)                                                                               \
	static void add_##kind(void *ctx, const struct bsa_##kind *fact)                      \
	{                                                                                     \
		struct collected *c = ctx;                                                    \
                                                                                              \
		c->kind.items = more(c->kind.items, c->kind.n, &c->kind.room, sizeof(*fact)); \
		c->kind.items[c->kind.n++] = *fact;                                           \
	}
COLLECT_KINDS(K)
#undef K

/* Ids are given from 1: looked for from the end, where it mostly is. */
#define AGAIN(kind)                                                       \
	static void tell_##kind(void *ctx, const struct bsa_##kind *fact) \
	{                                                                 \
		struct collected *c = ctx;                                \
                                                                          \
		for (size_t i = c->kind.n; i-- > 0;)                      \
			if (c->kind.items[i].id == fact->id) {            \
				c->kind.items[i] = *fact;                 \
				return;                                   \
			}                                                 \
		add_##kind(ctx, fact);                                    \
	}
AGAIN(app)
AGAIN(process)
AGAIN(model)
AGAIN(stream)
#undef AGAIN

static void tell_lag_window(void *ctx, const struct bsa_lag_window *w)
{
	lag_windows_add(&((struct collected *)ctx)->lag_windows, w);
}

static void tell_lag(void *ctx, const struct bsa_lag *lag)
{
	lag_windows_each(&((struct collected *)ctx)->lag_windows, lag, add_lag, ctx);
}

struct bsa_facts collect_facts(struct collected *c)
{
	struct bsa_facts f = { .ctx = c };

#define K(kind) f.kind = add_##kind;
	COLLECT_KINDS(K)
#undef K
	f.app = tell_app;
	f.process = tell_process;
	f.model = tell_model;
	f.stream = tell_stream;
	f.lag = tell_lag;
	f.lag_window = tell_lag_window;
	return f;
}

void collect_fini(struct collected *c)
{
#define K(kind) free(c->kind.items);
	COLLECT_KINDS(K)
#undef K
	free(c->lag_windows.items);
	*c = (struct collected){ 0 };
}

const struct bsa_execution *collect_execution(const struct collected *c, uint64_t exec)
{
	for (size_t i = c->execution.n; i-- > 0;)
		if (c->execution.items[i].exec == exec)
			return &c->execution.items[i];
	return NULL;
}

/* ---- what facts are made of ---- */

enum as { NUMBER, COUNT, SIGNED, TIME, TEXT, EXECUTION, APP, PROCESS, MODEL, STREAM, BUFFER };

struct column {
	const char *name;
	size_t offset, width, n;
	enum as as;
	bool full; /* compact events do not have it */
};

#define COLUMN(kind_of, field, ...)              \
	{ .name = #field,                        \
	  .offset = offsetof(record, field),     \
	  .width = sizeof(((record *)0)->field), \
	  .n = 1,                                \
	  .as = kind_of,                         \
	  __VA_ARGS__ },
#define LIST(kind_of, field, count) COLUMN(kind_of, field, .width = sizeof(((record *)0)->field[0]), .n = count)

/* clang-format off */
#define COLUMNS_app COLUMN(NUMBER, trace) COLUMN(NUMBER, key) COLUMN(NUMBER, uid) COLUMN(NUMBER, uid_known) COLUMN(TEXT, name)
#define COLUMNS_process COLUMN(NUMBER, trace) COLUMN(NUMBER, pid) COLUMN(APP, app) COLUMN(NUMBER, role) COLUMN(TEXT, name)
#define COLUMNS_rules COLUMN(TIME, at) COLUMN(NUMBER, trace) COLUMN(PROCESS, process) COLUMN(NUMBER, spin_us) \
	COLUMN(NUMBER, instance) COLUMN(NUMBER, policy) COLUMN(NUMBER, preempt_mode) COLUMN(NUMBER, lanes) \
	COLUMN(NUMBER, deadlines)
#define COLUMNS_model COLUMN(NUMBER, number) COLUMN(NUMBER, trace) COLUMN(PROCESS, process) COLUMN(APP, app) \
	COLUMN(TEXT, name) COLUMN(NUMBER, priority) COLUMN(NUMBER, status) COLUMN(NUMBER, operations) COLUMN(NUMBER, digest) \
	COLUMN(TIME, const_bytes) COLUMN(TIME, step_ns) COLUMN(TIME, look_ns) COLUMN(TIME, estimate_ns) COLUMN(TIME, measured_ns) COLUMN(TIME, prepare_ns) \
	COLUMN(TIME, prepared) COLUMN(TIME, released) COLUMN(TIME, deadline)
#define COLUMNS_stream COLUMN(NUMBER, number) COLUMN(NUMBER, trace) COLUMN(NUMBER, path) COLUMN(APP, app) \
	COLUMN(MODEL, model) COLUMN(PROCESS, process) COLUMN(TIME, opened) COLUMN(TIME, closed) COLUMN(NUMBER, reason) \
	COLUMN(TIME, executions) COLUMN(TIME, cold, .full = true) COLUMN(TIME, first) COLUMN(TIME, last) COLUMN(NUMBER, spin_us) \
	COLUMN(NUMBER, client_spin_us) COLUMN(NUMBER, cache)
#define COLUMNS_execution COLUMN(EXECUTION, id) COLUMN(NUMBER, trace) COLUMN(STREAM, stream) COLUMN(APP, app) \
	COLUMN(MODEL, model) COLUMN(NUMBER, path) COLUMN(NUMBER, priority) COLUMN(NUMBER, status) COLUMN(NUMBER, quality) \
	COLUMN(NUMBER, sides) LIST(TIME, at, BSA_BOUNDARIES) LIST(TIME, phase, BSA_PHASES) COLUMN(TIME, e2e) \
	COLUMN(TIME, run) COLUMN(TIME, redo) COLUMN(TIME, cpu) COLUMN(TIME, queue) COLUMN(TIME, preempted) \
	COLUMN(TIME, slots) COLUMN(TIME, request.blocked, .full = true) COLUMN(TIME, request.spun, .full = true) \
	COLUMN(TIME, request.slept) COLUMN(TIME, result.blocked) COLUMN(TIME, result.spun, .full = true) \
	COLUMN(TIME, result.slept) COLUMN(TIME, deadline) COLUMN(TIME, duration) COLUMN(TIME, estimate, .full = true) COLUMN(TIME, floor, .full = true) COLUMN(TIME, reference) COLUMN(TIME, missed_at) \
	COLUMN(NUMBER, miss) COLUMN(SIGNED, lateness) COLUMN(COUNT, lookups) COLUMN(COUNT, misses) \
	COLUMN(COUNT, preemptions) COLUMN(COUNT, bypassed) COLUMN(NUMBER, fallback) COLUMN(SIGNED, cold) \
	COLUMN(SIGNED, lane) COLUMN(NUMBER, idle) LIST(TIME, waited, BSA_WAIT_CAUSES) LIST(TIME, delay, BSA_DELAYS)
#define COLUMNS_slice COLUMN(NUMBER, instance) COLUMN(NUMBER, lane) COLUMN(EXECUTION, execution) COLUMN(TIME, began) \
	COLUMN(TIME, ended) COLUMN(NUMBER, trace)
#define COLUMNS_wait COLUMN(EXECUTION, execution) COLUMN(TIME, began) COLUMN(TIME, ended) COLUMN(NUMBER, kind) \
	COLUMN(NUMBER, lane) COLUMN(NUMBER, occupancy) COLUMN(NUMBER, cause) COLUMN(EXECUTION, blocker) COLUMN(APP, blocker_app) \
	COLUMN(NUMBER, open)
#define COLUMNS_preemption COLUMN(EXECUTION, execution) COLUMN(EXECUTION, by) COLUMN(TIME, asked) COLUMN(TIME, stopped) \
	COLUMN(TIME, resumed) COLUMN(TIME, redo) COLUMN(NUMBER, at_op) COLUMN(NUMBER, mode) COLUMN(NUMBER, lane)
#define COLUMNS_deadline_missed COLUMN(EXECUTION, execution) COLUMN(TIME, at) COLUMN(TIME, deadline) COLUMN(TIME, estimate) \
	COLUMN(SIGNED, over) COLUMN(MODEL, model) COLUMN(NUMBER, kind) COLUMN(NUMBER, stage) COLUMN(NUMBER, trace)
#define COLUMNS_refused COLUMN(EXECUTION, execution) COLUMN(TIME, at) COLUMN(TIME, lane_free) COLUMN(TIME, queue_free) \
	COLUMN(EXECUTION, holder) COLUMN(APP, holder_app) COLUMN(NUMBER, holder_cause) COLUMN(NUMBER, queue_cause)
#define COLUMNS_exhausted COLUMN(TIME, at) COLUMN(EXECUTION, execution) COLUMN(MODEL, model) COLUMN(APP, app) \
	COLUMN(NUMBER, owner) COLUMN(NUMBER, owner_id) COLUMN(NUMBER, kind) COLUMN(NUMBER, resource) COLUMN(NUMBER, asked) \
	COLUMN(NUMBER, limit) COLUMN(NUMBER, trace)
#define COLUMNS_slot_missed COLUMN(EXECUTION, execution, .full = true) COLUMN(TIME, at) COLUMN(SIGNED, slot) \
	COLUMN(TIME, fetch_ns) COLUMN(TIME, map_ns)
#define COLUMNS_mapping COLUMN(TIME, mapped) COLUMN(TIME, unmapped) COLUMN(STREAM, stream) COLUMN(NUMBER, owner) \
	COLUMN(NUMBER, owner_id) COLUMN(SIGNED, slot) COLUMN(NUMBER, kind) COLUMN(NUMBER, bytes) COLUMN(TIME, took) \
	COLUMN(NUMBER, status) COLUMN(NUMBER, cause) COLUMN(NUMBER, trace)
#define COLUMNS_buffer COLUMN(NUMBER, number) COLUMN(NUMBER, trace) COLUMN(APP, app) COLUMN(TIME, bytes) COLUMN(NUMBER, roles) \
	COLUMN(TIME, allocated) COLUMN(TIME, freed) COLUMN(NUMBER, status) COLUMN(NUMBER, cause)
#define COLUMNS_buffer_used COLUMN(TIME, at, .full = true) COLUMN(BUFFER, buffer) COLUMN(NUMBER, op) COLUMN(EXECUTION, execution) \
	COLUMN(TIME, bytes) COLUMN(TIME, took) COLUMN(NUMBER, status) COLUMN(NUMBER, cause)
#define COLUMNS_inverted COLUMN(EXECUTION, victim) COLUMN(EXECUTION, holder) COLUMN(NUMBER, lane) COLUMN(TIME, began) \
	COLUMN(TIME, dur) COLUMN(NUMBER, open)
#define COLUMNS_starved COLUMN(EXECUTION, execution) COLUMN(APP, app) COLUMN(MODEL, model) COLUMN(TIME, began) COLUMN(TIME, gap) \
	COLUMN(NUMBER, bypassed) COLUMN(APP, top_culprit_app) COLUMN(TIME, top_culprit_ns) COLUMN(NUMBER, open)
#define COLUMNS_share COLUMN(APP, app) COLUMN(TIME, received) COLUMN(TIME, entitled) COLUMN(SIGNED, max_lag) COLUMN(TIME, max_lag_at) COLUMN(SIGNED, most_lag)
#define COLUMNS_lag COLUMN(TIME, window_began) COLUMN(APP, app) COLUMN(TIME, received) COLUMN(TIME, entitled) COLUMN(SIGNED, lag) COLUMN(SIGNED, most)
#define COLUMNS_interfered COLUMN(APP, by) COLUMN(APP, app) COLUMN(TIME, ns)
#define COLUMNS_chosen COLUMN(TIME, at) COLUMN(EXECUTION, chosen) COLUMN(EXECUTION, passed_over) COLUMN(NUMBER, honoured)
#define COLUMNS_possible_wait COLUMN(EXECUTION, execution, .full = true) COLUMN(TIME, began) COLUMN(TIME, ended) COLUMN(APP, app) COLUMN(MODEL, model)
#define COLUMNS_unknown_lane COLUMN(EXECUTION, execution) COLUMN(NUMBER, instance) COLUMN(NUMBER, lane) COLUMN(TIME, began) COLUMN(TIME, ended)
#define COLUMNS_fmq_op COLUMN(EXECUTION, execution, .full = true) COLUMN(NUMBER, queue) COLUMN(NUMBER, write) COLUMN(TIME, at) \
	COLUMN(NUMBER, items) COLUMN(NUMBER, used) COLUMN(TIME, blocked) COLUMN(TIME, spun) COLUMN(TIME, slept) \
	COLUMN(NUMBER, number)
#define COLUMNS_lookup COLUMN(EXECUTION, execution, .full = true) COLUMN(TIME, at) COLUMN(SIGNED, slot) COLUMN(NUMBER, hit) \
	COLUMN(NUMBER, look)
#define COLUMNS_operation COLUMN(EXECUTION, execution, .full = true) COLUMN(NUMBER, op) COLUMN(NUMBER, type) COLUMN(TIME, began) \
	COLUMN(TIME, ended)
#define COLUMNS_lost COLUMN(TIME, began) COLUMN(TIME, ended) COLUMN(TIME, events) COLUMN(TIME, packets) COLUMN(NUMBER, trace) \
	COLUMN(NUMBER, cpu) COLUMN(NUMBER, pid) COLUMN(NUMBER, cause)
#define COLUMNS_silence COLUMN(NUMBER, instance) COLUMN(PROCESS, process) COLUMN(TIME, began) COLUMN(TIME, ended) COLUMN(TIME, heard) COLUMN(NUMBER, awaited) \
	COLUMN(NUMBER, failed) COLUMN(EXECUTION, execution) COLUMN(NUMBER, trace) COLUMN(NUMBER, went_on)
#define COLUMNS_spanned COLUMN(NUMBER, kind) COLUMN(TIME, began) COLUMN(TIME, ended) COLUMN(NUMBER, value) COLUMN(APP, app) \
	COLUMN(PROCESS, process) COLUMN(STREAM, stream) COLUMN(NUMBER, pid) COLUMN(NUMBER, status) COLUMN(NUMBER, trace)
/* clang-format on */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#define K(kind)                                                                 \
	static const struct column *columns_of_##kind(void)                     \
	{                                                                       \
		typedef struct bsa_##kind record;                               \
		static const struct column columns[] = { COLUMNS_##kind{ 0 } }; \
		return columns;                                                 \
	}
COLLECT_KINDS(K)
#undef K
#pragma GCC diagnostic pop

static const struct {
	const char *name;
	size_t offset, size; /* offset of the list in struct collected; size of a fact */
	const struct column *(*columns)(void);
} kinds[] = {
#define K(kind) { #kind, offsetof(struct collected, kind), sizeof(struct bsa_##kind), columns_of_##kind },
	COLLECT_KINDS(K)
#undef K
};

/* ---- printing ---- */

/* Lines under way, and executions by their ids. */
struct page {
	const struct collected *c;
	struct bsa_execution const **by_id;
	char **lines;
	size_t n, room;
	bool common;
};

static int by_id(const void *one, const void *other)
{
	uint64_t a = (*(const struct bsa_execution *const *)one)->id,
		 b = (*(const struct bsa_execution *const *)other)->id;

	return (a > b) - (a < b);
}

static void index_executions(struct page *p)
{
	p->by_id = calloc(p->c->execution.n + 1, sizeof(struct bsa_execution *));
	if (!p->by_id)
		abort();
	for (size_t i = 0; i < p->c->execution.n; i++)
		p->by_id[i] = &p->c->execution.items[i];
	qsort(p->by_id, p->c->execution.n, sizeof(*p->by_id), by_id);
}

static void print_execution(const struct page *p, FILE *f, uint64_t id)
{
	struct bsa_execution key = { .id = id };
	const struct bsa_execution *at = &key, **x = NULL;

	if (p->c->execution.n)
		x = bsearch(&at, p->by_id, p->c->execution.n, sizeof(*p->by_id), by_id);
	if (!id)
		fprintf(f, "none");
	else if (!x)
		fprintf(f, "?");
	else
		fprintf(f, "%" PRIu64 ":%" PRIu64, (*x)->exec >> 32, (*x)->exec & UINT32_MAX);
}

/* @print is what it is known by. */
#define PRINT_NAMED(kind, ...)                                                    \
	static void print_##kind(const struct collected *c, FILE *f, uint64_t id) \
	{                                                                         \
		for (size_t i = 0; i < c->kind.n; i++)                            \
			if (c->kind.items[i].id == id) {                          \
				const struct bsa_##kind *is = &c->kind.items[i];  \
                                                                                  \
				fprintf(f, __VA_ARGS__);                          \
				return;                                           \
			}                                                         \
		fprintf(f, id ? "?" : "none");                                    \
	}
PRINT_NAMED(app, "%u/%s", is->key, is->name)
PRINT_NAMED(process, "%u", is->pid)
PRINT_NAMED(model, "%u/%s", is->number, is->name)
PRINT_NAMED(stream, "%u", is->number)
PRINT_NAMED(buffer, "%u", is->number)

static uint64_t number_at(const char *at, size_t width)
{
	uint64_t v = 0;

	memcpy(&v, at, width);
	return v;
}

static int64_t signed_at(const char *at, size_t width)
{
	unsigned unused = (unsigned)(64 - 8 * width);

	return (int64_t)(number_at(at, width) << unused) >> unused;
}

static void print_value(const struct page *p, FILE *f, const char *at, const struct column *c)
{
	uint64_t v = c->as == TEXT ? 0 : number_at(at, c->width);

	switch (c->as) {
	case EXECUTION:
		print_execution(p, f, v);
		break;
	case APP:
		print_app(p->c, f, v);
		break;
	case PROCESS:
		print_process(p->c, f, v);
		break;
	case MODEL:
		print_model(p->c, f, v);
		break;
	case STREAM:
		print_stream(p->c, f, v);
		break;
	case BUFFER:
		print_buffer(p->c, f, v);
		break;
	case TEXT:
		fprintf(f, "%.*s", (int)c->width, at);
		break;
	case SIGNED:
		if (signed_at(at, c->width) == INT64_MIN)
			fprintf(f, "-");
		else
			fprintf(f, "%" PRIi64, signed_at(at, c->width));
		break;
	default:
		if ((c->as == TIME && v == BSA_NEVER) || (c->as == COUNT && v == BSA_COUNT_UNKNOWN))
			fprintf(f, "-");
		else
			fprintf(f, "%" PRIu64, v);
		break;
	}
}

/* How a fenced one's launch was answered. */
static bool hides_answer(const struct page *p, const struct column *c, const void *fact, size_t i)
{
	const struct bsa_execution *x = fact;
	bool is = (!strcmp(c->name, "at") && c->n == BSA_BOUNDARIES && i == BSA_RESULT_WRITTEN) ||
	          !strcmp(c->name, "result.blocked");

	return p->common && is && x->at[BSA_SIGNALLED] != BSA_NEVER;
}

static void print_column(const struct page *p, FILE *f, const char *fact, const struct column *c)
{
	fprintf(f, " %s=", c->name);
	for (size_t i = 0; i < c->n; i++) {
		fprintf(f, "%s", i ? "," : "");
		if (hides_answer(p, c, fact, i))
			fprintf(f, "*");
		else
			print_value(p, f, fact + c->offset + i * c->width, c);
	}
}

static void print_fact(struct page *p, enum collect_kind kind, const void *fact)
{
	char *line = NULL;
	size_t n;
	FILE *f = open_memstream(&line, &n);

	if (!f)
		abort();
	fprintf(f, "%s", kinds[kind].name);
	for (const struct column *c = kinds[kind].columns(); c->name; c++)
		if (!p->common || !c->full)
			print_column(p, f, fact, c);
	fprintf(f, "\n");
	fclose(f);
	p->lines = more(p->lines, p->n, &p->room, sizeof(*p->lines));
	p->lines[p->n++] = line;
}

static int by_text(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

/* A kind that compact events do not have is marked in its first column. */
static bool is_printed(const struct page *p, enum collect_kind kind)
{
	return !p->common || !kinds[kind].columns()->full;
}

static void print_kind(struct page *p, FILE *f, enum collect_kind kind)
{
	struct {
		char *items;
		size_t n;
	} list;

	memcpy(&list, (const char *)p->c + kinds[kind].offset, sizeof(list));
	p->n = 0;
	for (size_t i = 0; is_printed(p, kind) && i < list.n; i++)
		print_fact(p, kind, list.items + i * kinds[kind].size);
	if (p->n)
		qsort(p->lines, p->n, sizeof(*p->lines), by_text);
	for (size_t i = 0; i < p->n; i++) {
		fputs(p->lines[i], f);
		free(p->lines[i]);
	}
}

static char *print(const struct collected *c, enum collect_kind first, enum collect_kind end, bool common)
{
	struct page p = { .c = c, .common = common };
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		abort();
	index_executions(&p);
	for (enum collect_kind kind = first; kind < end; kind++)
		print_kind(&p, f, kind);
	fclose(f);
	free(p.by_id);
	free(p.lines);
	return text;
}

char *collect_text(const struct collected *c, bool common)
{
	return print(c, 0, COLLECT_N_KINDS, common);
}

char *collect_kind_text(const struct collected *c, enum collect_kind kind, bool common)
{
	return print(c, kind, kind + 1, common);
}
