/*
 * machine.c -- follows the threads of each cpu in a kernel's trace, and sums up how long they were ready without one.
 */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vector.h"

enum { CPUS_MOST = 1024, ENTRIES_MOST = 4 << 20, BURSTS_MOST = 4096, CANDIDATES = 16, STRETCHES = 32 };

#define TID_UNKNOWN UINT32_MAX /* the thread that a cpu ran is unknown */

struct span {
	uint64_t from, to;
};

struct spans {
	struct span *of;
	size_t n, room;
};

/* The thread that a cpu runs from a time on. */
struct turn {
	uint64_t from;
	uint32_t tid;
};

struct cpu {
	struct turn *turns;
	size_t n, room;
	uint64_t began, khz, irq_began;
	uint32_t tid;
	bool known, in_irq;
	char name[BSA_KERNEL_NAME], irq[BSA_KERNEL_NAME];
};

enum state { UNKNOWN, WAITS, READY, RUNS };

struct thread {
	struct bsa_entry entry; /* tid */
	struct thread *next;
	uint64_t known_from, ready_since;
	enum state state;
	struct spans ready; /* ready, and on no cpu */
};

/* A burst, and its execution under way. */
struct burst {
	struct bsa_entry entry; /* the stream */
	struct burst *next;
	uint32_t candidates[CANDIDATES], tid; /* tid 0: not known yet, or never */
	unsigned n_candidates, n_runs;
	bool begun, hopeless, running, unsure;
	uint64_t read_at, enqueued_at, ended_at;
	struct span runs[STRETCHES];
};

struct bsa_machine {
	void (*report)(void *ctx, const struct bsa_machine_state *state);
	void *ctx;
	struct cpu *cpus;
	size_t n_cpus, n_entries, n_bursts;
	struct bsa_table threads, bursts;
	struct thread *all_threads;
	struct burst *all_bursts;
	struct spans lost;
	uint64_t first, last, amended;
	bool full;
	union {
		struct bsa_event event;
		char room[sizeof(struct bsa_event) + sizeof(struct bsa_exec_service) + 64];
	} copy;
};

struct bsa_machine *bsa_machine_new(void (*report)(void *ctx, const struct bsa_machine_state *state), void *ctx)
{
	struct bsa_machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->report = report;
	m->ctx = ctx;
	m->first = BSA_NEVER;
	if (bsa_table_init(&m->threads) || bsa_table_init(&m->bursts))
		return bsa_machine_free(m);
	return m;
}

struct bsa_machine *bsa_machine_free(struct bsa_machine *m)
{
	if (!m)
		return NULL;
	for (struct thread *t = m->all_threads, *next; t; t = next) {
		next = t->next;
		free(t->ready.of);
		free(t);
	}
	for (struct burst *b = m->all_bursts, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	for (size_t i = 0; i < m->n_cpus; i++)
		free(m->cpus[i].turns);
	free(m->cpus);
	free(m->lost.of);
	bsa_table_fini(&m->threads);
	bsa_table_fini(&m->bursts);
	free(m);
	return NULL;
}

uint64_t bsa_machine_amended(const struct bsa_machine *m)
{
	return m->amended;
}

/* ---- the kernel's events ---- */

/* False: there is no room, and nothing is added. */
static bool add_span(struct bsa_machine *m, struct spans *s, uint64_t from, uint64_t to)
{
	if (m->n_entries >= ENTRIES_MOST || !BSA_RESERVE(s->of, s->room, s->n + 1, 8))
		return false;
	s->of[s->n++] = (struct span){ from, to };
	m->n_entries++;
	return true;
}

static bool add_turn(struct bsa_machine *m, struct cpu *c, uint64_t from, uint32_t tid)
{
	if (m->n_entries >= ENTRIES_MOST || !BSA_RESERVE(c->turns, c->room, c->n + 1, 64))
		return false;
	c->turns[c->n++] = (struct turn){ from, tid };
	m->n_entries++;
	return true;
}

static struct cpu *find_cpu(struct bsa_machine *m, uint32_t number)
{
	struct cpu *more;

	if (number >= CPUS_MOST)
		return NULL;
	if (number >= m->n_cpus) {
		more = realloc(m->cpus, (number + 1) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + m->n_cpus, 0, (number + 1 - m->n_cpus) * sizeof(*more));
		m->cpus = more;
		m->n_cpus = number + 1;
	}
	return &m->cpus[number];
}

static struct thread *find_thread(struct bsa_machine *m, uint32_t tid, uint64_t at)
{
	struct thread *t = bsa_table_find(&m->threads, tid);

	if (t || m->n_entries >= ENTRIES_MOST || !(t = calloc(1, sizeof(*t))))
		return t;
	t->known_from = at;
	t->next = m->all_threads;
	m->all_threads = t;
	bsa_table_add(&m->threads, &t->entry, tid);
	m->n_entries += 4; /* a thread takes the memory of four entries */
	return t;
}

static void report_state(const struct bsa_machine *m, uint32_t number, const struct cpu *c, uint64_t until)
{
	const struct bsa_machine_state s = { .began = c->began,
		                             .ended = until,
		                             .khz = c->khz,
		                             .cpu = number,
		                             .tid = c->tid,
		                             .did = c->tid ? MACHINE_THREAD : MACHINE_IDLE,
		                             .name = c->name };

	if (m->report && c->known && until > c->began)
		m->report(m->ctx, &s);
}

static bool take_switch(struct bsa_machine *m, struct cpu *c, const struct bsa_kernel_event *e)
{
	struct thread *from = e->tid ? find_thread(m, e->tid, e->at) : NULL;
	struct thread *to = e->next ? find_thread(m, e->next, e->at) : NULL;

	if (c->n && c->turns[c->n - 1].tid == TID_UNKNOWN)
		c->turns[c->n - 1].tid = e->tid;
	if ((e->tid && !from) || (e->next && !to) || (!c->n && !add_turn(m, c, 0, e->tid)) ||
	    !add_turn(m, c, e->at, e->next))
		return false;
	report_state(m, e->cpu, c, e->at);
	c->began = e->at;
	c->tid = e->next;
	c->known = true;
	memcpy(c->name, e->name, sizeof(c->name));
	if (from) {
		from->state = e->runnable ? READY : WAITS;
		from->ready_since = e->at;
	}
	if (to && to->state == READY && e->at > to->ready_since && !add_span(m, &to->ready, to->ready_since, e->at))
		return false;
	if (to)
		to->state = RUNS;
	return true;
}

static void take_irq(struct bsa_machine *m, struct cpu *c, const struct bsa_kernel_event *e)
{
	const struct bsa_machine_state s = {
		.began = c->irq_began, .ended = e->at, .khz = c->khz, .cpu = e->cpu, .did = MACHINE_IRQ, .name = c->irq
	};

	if (e->kind == BSA_KERNEL_IRQ_EXIT && c->in_irq && m->report)
		m->report(m->ctx, &s);
	c->in_irq = e->kind == BSA_KERNEL_IRQ_ENTRY;
	c->irq_began = e->at;
	memcpy(c->irq, e->name, sizeof(c->irq));
}

/* The lost records may be any switches: forget what ran before. */
static bool take_lost(struct bsa_machine *m, const struct bsa_kernel_event *e)
{
	bool done = add_span(m, &m->lost, e->began, e->at);

	for (struct thread *t = m->all_threads; t; t = t->next) {
		t->state = UNKNOWN;
		t->known_from = e->at;
	}
	for (size_t i = 0; i < m->n_cpus && done; i++) {
		struct cpu *c = &m->cpus[i];

		report_state(m, (uint32_t)i, c, e->began);
		c->known = c->in_irq = false;
		done = add_turn(m, c, e->at, TID_UNKNOWN);
	}
	return done;
}

bool bsa_machine_take(void *ctx, const struct bsa_kernel_event *e)
{
	struct bsa_machine *m = ctx;
	struct cpu *c = e->kind == BSA_KERNEL_LOST ? NULL : find_cpu(m, e->cpu);
	struct thread *t;
	bool done = true;

	if (e->kind != BSA_KERNEL_LOST && !c)
		return true; /* no such cpu */
	if (e->at < m->last)
		return true; /* records in order cannot have that time: ignore this one */
	switch (e->kind) {
	case BSA_KERNEL_SWITCH:
		done = take_switch(m, c, e);
		break;
	case BSA_KERNEL_WAKING:
		t = e->tid ? find_thread(m, e->tid, e->at) : NULL;
		if (t && (t->state == WAITS || t->state == UNKNOWN)) {
			t->state = READY;
			t->ready_since = e->at;
		}
		done = t || !e->tid;
		break;
	case BSA_KERNEL_IRQ_ENTRY:
	case BSA_KERNEL_IRQ_EXIT:
		take_irq(m, c, e);
		break;
	case BSA_KERNEL_FREQUENCY:
		report_state(m, e->cpu, c, e->at);
		c->began = e->at;
		c->khz = e->number;
		break;
	case BSA_KERNEL_LOST:
		done = take_lost(m, e);
		break;
	}
	if (done) {
		m->first = m->first == BSA_NEVER ? e->at : m->first;
		m->last = e->at;
	}
	m->full = !done;
	return done;
}

bool bsa_machine_has_any(const struct bsa_machine *m)
{
	return m->last || m->full;
}

void bsa_machine_taken(struct bsa_machine *m)
{
	for (size_t i = 0; i < m->n_cpus; i++)
		report_state(m, (uint32_t)i, &m->cpus[i], m->last);
}

/* ---- what of it a thread was due to ---- */

/* The first of @s that ends after @at. */
static size_t span_after(const struct spans *s, uint64_t at)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->of[middle].to > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static uint64_t sum_within(const struct spans *s, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = span_after(s, from); i < s->n && s->of[i].from < to; i++)
		sum += (s->of[i].to < to ? s->of[i].to : to) - (s->of[i].from > from ? s->of[i].from : from);
	return sum;
}

static bool is_covered(const struct bsa_machine *m, uint64_t from, uint64_t to)
{
	size_t i = span_after(&m->lost, from);

	return from >= m->first && to <= m->last && (i == m->lost.n || m->lost.of[i].from >= to);
}

/* TID_UNKNOWN: unknown. */
static uint32_t thread_on(const struct cpu *c, uint64_t at)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->turns[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? c->turns[low - 1].tid : TID_UNKNOWN;
}

/* ---- which thread ---- */

static bool runs_at(const struct bsa_machine *m, uint32_t tid, uint64_t at)
{
	for (size_t i = 0; i < m->n_cpus; i++)
		if (thread_on(&m->cpus[i], at) == tid)
			return true;
	return false;
}

/* The burst's thread has emitted an event at this time. */
static void narrow_down(const struct bsa_machine *m, struct burst *b, uint64_t at)
{
	unsigned n = 0;

	if (b->hopeless || !is_covered(m, at, at))
		return;
	/* At first, all threads that run then are candidates. */
	for (size_t i = 0; !b->begun && i < m->n_cpus; i++) {
		uint32_t tid = thread_on(&m->cpus[i], at);

		if (tid == TID_UNKNOWN || b->n_candidates == CANDIDATES) {
			b->n_candidates =
				0; /* the thread may be another one: wait for a time when all cpus are known */
			return;
		}
		if (tid)
			b->candidates[b->n_candidates++] = tid;
	}
	if (!b->begun) {
		b->begun = b->n_candidates > 0;
		return;
	}

	for (unsigned i = 0; i < b->n_candidates; i++)
		if (runs_at(m, b->candidates[i], at))
			b->candidates[n++] = b->candidates[i];
	b->n_candidates = n;
	b->hopeless = !n; /* the trace is another machine's, or the burst has no thread of its own */
	b->tid = n == 1 ? b->candidates[0] : 0;
}

/* ---- records ---- */

static void begin_run(struct burst *b, uint64_t at)
{
	b->unsure |= b->running || b->n_runs == STRETCHES;
	b->running = true;
	if (b->n_runs < STRETCHES)
		b->runs[b->n_runs] = (struct span){ at, at };
}

static void machine_end_run(struct burst *b, uint64_t at)
{
	b->unsure |= !b->running;
	if (b->running && b->n_runs < STRETCHES)
		b->runs[b->n_runs++].to = at;
	b->running = false;
}

static void begin_execution(struct burst *b, uint64_t at)
{
	b->read_at = at;
	b->enqueued_at = b->ended_at = 0;
	b->n_runs = 0;
	b->running = b->unsure = false;
}

/* True: @delays are the kernel's. */
static bool sum_delays(struct bsa_machine *m, const struct burst *b, uint64_t until, uint64_t delays[3])
{
	const struct thread *t = b->tid ? bsa_table_find(&m->threads, b->tid) : NULL;

	if (!t || b->unsure || b->running || !b->read_at || !b->enqueued_at || !b->ended_at || !b->n_runs ||
	    t->known_from > b->read_at || !is_covered(m, b->read_at, until))
		return false;
	delays[0] = sum_within(&t->ready, b->read_at, b->enqueued_at);
	delays[1] = 0;
	for (unsigned i = 0; i < b->n_runs; i++)
		delays[1] += sum_within(&t->ready, b->runs[i].from, b->runs[i].to);
	delays[2] = sum_within(&t->ready, b->ended_at, until);
	m->amended++;
	return true;
}

static const struct bsa_event *copy_event(struct bsa_machine *m, const struct bsa_event *e)
{
	if (e->size > sizeof(m->copy))
		return NULL;
	memcpy(&m->copy, e, e->size);
	return &m->copy.event;
}

/*
 * A summary has when the first run began and the last one ended; events between them were emitted when they happened.
 */
static const struct bsa_event *amend_summary(struct bsa_machine *m, struct burst *b, const struct bsa_event *e)
{
	const struct bsa_exec_service *x = BSA_OF(e, exec_service);
	enum { ENQUEUED = 2, DISPATCHED, RUN_ENDED, WRITTEN };
	const struct bsa_event *copy;
	uint64_t delays[3], from = x->began;

	for (int i = ENQUEUED; i <= WRITTEN; i++)
		if (x->at[i] > (uint64_t)1 << 62 || from > (uint64_t)1 << 62)
			return e;
	if (b->n_runs != x->preemptions || (x->preemptions && !b->running))
		return e;
	b->read_at = from;
	b->enqueued_at = from + x->at[ENQUEUED];
	b->ended_at = from + x->at[RUN_ENDED];
	if (!x->preemptions)
		begin_run(b, from + x->at[DISPATCHED]);
	else
		b->runs[0].from = from + x->at[DISPATCHED];
	machine_end_run(b, b->ended_at);
	copy = sum_delays(m, b, from + x->at[WRITTEN], delays) ? copy_event(m, e) : NULL;
	if (!copy)
		return e;
	memcpy(((struct bsa_exec_service *)(&m->copy.event + 1))->delays, delays, sizeof(delays));
	return copy;
}

static uint64_t exec_of(const struct bsa_event *e)
{
	switch (e->kind) {
	case BSA_fmq_read:
		return BSA_OF(e, fmq_read)->queue == 0 ? BSA_OF(e, fmq_read)->exec : 0;
	case BSA_request_decode:
		return BSA_OF(e, request_decode)->exec;
	case BSA_sched_enqueue:
		return BSA_OF(e, sched_enqueue)->exec;
	case BSA_sched_dispatch:
		return BSA_OF(e, sched_dispatch)->exec;
	case BSA_sched_preempt:
		return BSA_OF(e, sched_preempt)->exec;
	case BSA_sched_resume:
		return BSA_OF(e, sched_resume)->exec;
	case BSA_exec_end:
		return BSA_OF(e, exec_end)->exec;
	case BSA_exec_delay:
		return BSA_OF(e, exec_delay)->exec;
	case BSA_exec_service:
		return BSA_OF(e, exec_service)->exec;
	default:
		return 0;
	}
}

static const struct bsa_event *follow_execution(struct bsa_machine *m, struct burst *b, const struct bsa_event *e)
{
	const struct bsa_event *copy;
	uint64_t delays[3];

	narrow_down(m, b, e->at);
	switch (e->kind) {
	case BSA_fmq_read:
		begin_execution(b, e->at);
		break;
	case BSA_sched_enqueue:
		b->enqueued_at = e->at;
		break;
	case BSA_sched_dispatch:
	case BSA_sched_resume:
		begin_run(b, e->at);
		break;
	case BSA_sched_preempt:
		if (!b->running && !b->n_runs)
			begin_run(b, e->at); /* its beginning is in the summary that comes */
		machine_end_run(b, e->at);
		break;
	case BSA_exec_end:
		machine_end_run(b, e->at);
		b->ended_at = e->at;
		break;
	case BSA_exec_delay:
		copy = sum_delays(m, b, e->at, delays) ? copy_event(m, e) : NULL;
		if (!copy)
			break;
		memcpy(((struct bsa_exec_delay *)(&m->copy.event + 1))->delays, delays, sizeof(delays));
		return copy;
	case BSA_exec_service:
		e = amend_summary(m, b, e);
		begin_execution(b, 0);
		break;
	default:
		break;
	}
	return e;
}

const struct bsa_event *bsa_machine_amend(struct bsa_machine *m, const struct bsa_event *e)
{
	uint64_t exec = exec_of(e);
	struct burst *b = exec ? bsa_table_find(&m->bursts, exec >> 32) : NULL, *begun;

	if (e->kind == BSA_stream_open && BSA_OF(e, stream_open)->path == 0 && m->n_bursts < BURSTS_MOST &&
	    !bsa_table_find(&m->bursts, BSA_OF(e, stream_open)->stream) && (begun = calloc(1, sizeof(*begun)))) {
		begun->next = m->all_bursts;
		m->all_bursts = begun;
		m->n_bursts++;
		bsa_table_add(&m->bursts, &begun->entry, BSA_OF(e, stream_open)->stream);
	}
	return b ? follow_execution(m, b, e) : e;
}
