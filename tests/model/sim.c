/*
 * sim.c -- threads as coroutines over a weak memory, and a kernel with a futex.
 *
 * MODEL     C11 as RC11 repairs it, by views. An atomic place is a log of messages, its modification order. A
 *           load may take any message not older than the thread's view of the place: all weakness comes of that.
 *             cur   what the thread knows. Its loads and stores of a place move it on in that place.
 *             acq   what its loads were given besides; an acquire fence makes it cur, an acquire load does at once.
 *             rel   cur as of its last release fence: what a relaxed store passes on. A release store passes cur on.
 *           A read-modify-write reads the newest message and passes on what that one had. A full fence is
 *           acquire and release, and exchanges cur with one view that all full fences share.
 *           A view has two parts: the oldest messages that may still be read, and a vector clock of what happened
 *           before. Full fences share the first only: after one no thread reads older than what an earlier one knew,
 *           but that makes nothing happen before.
 *           Plain memory (sim_memcpy) is checked by the clocks: two accesses, one of them a write, neither before
 *           the other, are a data race, and fail the run.
 *           A store ends the release sequence of the same thread, as in C++20; C11 let it go on.
 * FUTEX     No more than futex(2) promises. Operations on one word are totally ordered, and in this order no thread
 *           compares an older value than what an earlier one compared or its caller knew. None is a fence: a wait may
 *           compare a stale value, publishes nothing and acquires nothing. (Linux has a full barrier inside; what is
 *           right here does not lean on it.)
 * CHOICES   When a thread is preempted, which message it reads, whether a wait is interrupted: by the seed. How
 *           often: by the seed too, so that some runs are calm and some are wild.
 * FAILURES  A data race; sim_fail(); all threads asleep or gone and one asleep, a lost wake-up; too many steps.
 * LEFT OUT  Loads that read what is stored later (load buffering). An ordering that only keeps an earlier load
 *           before a store is therefore looked at through the clocks, where the load is of plain memory, and not
 *           at all where it is atomic. Stores that enter the modification order before its end: they cannot, where
 *           one thread alone stores, or all are read-modify-writes, and anything else is refused. Also refused:
 *           seq_cst loads and stores, mixed sizes, atomics narrower than 4 bytes, timeouts. Dependencies order
 *           nothing. Memory that is not sim_shared() is not looked at.
 *           Nothing is proved: that mutate.sh sees every weakened ordering fail is the evidence of enough seeds.
 */
#include "sim.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/sys.h"

#undef memcpy

enum {
	MAX_THREADS = 4,
	MAX_PLACES = 24,
	MAX_MESSAGES = 512,
	MAX_PARTS = 8,
	MAX_STEPS = 20000,
	ARENA = 4096,
	GRAIN = 4, /* plain memory is checked by words of this size */
	STACK = 128 * 1024,
	APART = 128,
	NOBODY = -1,
};

struct view {
	uint16_t seen[MAX_PLACES];   /* by place: the oldest message that may still be read */
	uint32_t clock[MAX_THREADS]; /* by thread: how many of its steps happened before */
};

struct message {
	uint64_t value;
	struct view view; /* passed on to the thread that acquires it */
};

struct place {
	volatile unsigned char *p;
	size_t size;
	int storer;          /* the thread that stores here; or no thread yet */
	bool modified;       /* by a read-modify-write */
	uint16_t futex_seen; /* by the last futex operation on it */
	unsigned n;
	struct message log[MAX_MESSAGES];
};

struct access {
	uint32_t clock; /* 0: never */
	const char *at;
};

struct grain {
	struct place *place; /* the place of its atomic */
	int writer;
	struct access written, read[MAX_THREADS];
};

struct thread {
	const char *name;
	void (*body)(void);
	ucontext_t context;
	struct view cur, acq, rel;
	bool done;
	struct place *sleeps_on; /* NULL: it does not sleep */
	uint32_t sleeps_for;
};

struct sim_counts sim_counts;

/* The one run. */
static _Alignas(APART) unsigned char arena[ARENA];
static struct grain grains[ARENA / GRAIN];
static struct place places[MAX_PLACES];
static struct thread threads[MAX_THREADS];
static _Alignas(64) unsigned char stacks[MAX_THREADS][STACK];
static struct {
	const char *name;
	size_t start;
} parts[MAX_PARTS];
static size_t arena_used;
static unsigned n_places, n_threads, n_parts;
static struct view full; /* shared by the full fences */
static struct thread *self;
static ucontext_t home;
static uint64_t random_state, now;
static unsigned steps, calm_switch, calm_load;
static bool one_cpu, tracing, failed;
static char verdict[400];

/* ---- views ---- */

static void join_seen(struct view *to, const struct view *from)
{
	for (unsigned i = 0; i < n_places; i++)
		if (to->seen[i] < from->seen[i])
			to->seen[i] = from->seen[i];
}

static void join(struct view *to, const struct view *from)
{
	join_seen(to, from);
	for (unsigned i = 0; i < n_threads; i++)
		if (to->clock[i] < from->clock[i])
			to->clock[i] = from->clock[i];
}

static bool acquires(memory_order order)
{
	return order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

static bool releases(memory_order order)
{
	return order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

/* ---- messages ---- */

static const char *file_line(const char *at)
{
	const char *slash = strrchr(at, '/');

	return slash ? slash + 1 : at;
}

static const char *order_name(memory_order order)
{
	return order == memory_order_seq_cst        ? "seq_cst"
	       : acquires(order) && releases(order) ? "acq_rel"
	       : acquires(order)                    ? "acquire"
	       : releases(order)                    ? "release"
	                                            : "relaxed";
}

/* A place as "ring+8". Two buffers by turns. */
static const char *where(const volatile void *p)
{
	static char text[2][48];
	static unsigned turn;
	size_t at = (size_t)((const volatile unsigned char *)p - arena);
	unsigned i = n_parts - 1;

	while (parts[i].start > at)
		i--;
	turn = !turn;
	snprintf(text[turn], sizeof(text[turn]), at > parts[i].start ? "%s+%zu" : "%s", parts[i].name,
	         at - parts[i].start);
	return text[turn];
}

__attribute__((format(printf, 1, 2))) static void trace(const char *format, ...)
{
	va_list args;

	if (!tracing)
		return;
	printf("%5u  %-8s  ", steps, self->name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void sim_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(verdict, sizeof(verdict), format, args);
	va_end(args);
	failed = true;
	setcontext(&home);
	abort();
}

/* ---- scheduling ---- */

uint32_t sim_random(uint32_t n)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(((z ^ (z >> 31)) >> 32) * n >> 32);
}

/* Before each access of a thread to shared memory, other threads may go first. */
static void step(void)
{
	sim_counts.steps++;
	if (++steps > MAX_STEPS)
		sim_fail("%s got nowhere in %d steps", self->name, MAX_STEPS);
	if (sim_random(calm_switch) == 0)
		swapcontext(&self->context, &home);
	self->cur.clock[self - threads]++;
}

static void begin_thread(void)
{
	self->body();
	self->done = true;
	setcontext(&home);
}

/* A thread that can go on; NULL: no thread can. */
static struct thread *pick(void)
{
	struct thread *able[MAX_THREADS];
	uint32_t n = 0;

	for (unsigned i = 0; i < n_threads; i++)
		if (!threads[i].done && !threads[i].sleeps_on)
			able[n++] = &threads[i];
	return n ? able[sim_random(n)] : NULL;
}

void sim_begin(uint64_t seed, bool trace_it)
{
	memset(arena, 0, arena_used);
	memset(grains, 0, arena_used / GRAIN * sizeof(*grains));
	memset(threads, 0, sizeof(threads));
	memset(&full, 0, sizeof(full));
	arena_used = n_places = n_threads = n_parts = steps = 0;
	failed = false;
	now = 1;
	tracing = trace_it;
	random_state = seed;
	calm_switch = 1U << (1 + sim_random(5));
	calm_load = 1U << sim_random(5);
	one_cpu = sim_random(2);
}

void *sim_shared(const char *name, size_t bytes)
{
	void *p = &arena[arena_used];

	if (n_parts == MAX_PARTS || bytes > ARENA - arena_used)
		abort();
	parts[n_parts].name = name;
	parts[n_parts++].start = arena_used;
	arena_used += (bytes + APART - 1) / APART * APART;
	return p;
}

void sim_spawn(const char *name, void (*body)(void))
{
	struct thread *t = &threads[n_threads];

	if (n_threads == MAX_THREADS)
		abort();
	t->name = name;
	t->body = body;
	getcontext(&t->context);
	t->context.uc_stack.ss_sp = stacks[n_threads++];
	t->context.uc_stack.ss_size = STACK;
	makecontext(&t->context, begin_thread, 0);
}

const char *sim_run(void)
{
	while (!failed && (self = pick()))
		swapcontext(&home, &self->context);
	for (unsigned i = 0; i < n_threads && !failed; i++) {
		struct thread *t = &threads[i];

		if (!t->sleeps_on)
			continue;
		failed = true;
		snprintf(verdict, sizeof(verdict), "lost wake-up: %s sleeps for ever, for bits %#x of %s", t->name,
		         t->sleeps_for, where(t->sleeps_on->p));
	}
	return failed ? verdict : NULL;
}

/* ---- atomics ---- */

static struct place *place_of(const volatile void *p, size_t size, memory_order order, const char *at)
{
	size_t offset = (size_t)((const volatile unsigned char *)p - arena);
	struct grain *g = &grains[offset / GRAIN];
	struct place *place = g->place;

	if (offset >= arena_used)
		sim_fail("%s makes an atomic access outside shared memory at %s", self->name, file_line(at));
	if (order == memory_order_seq_cst)
		sim_fail("the model is too small: seq_cst access to %s at %s", where(p), file_line(at));
	if (place) {
		if (place->p != p || place->size != size)
			sim_fail("the model is too small: mixed sizes in %s at %s", where(p), file_line(at));
		return place;
	}
	if ((size != 4 && size != 8) || offset % size || n_places == MAX_PLACES)
		sim_fail("the model is too small: %zu bytes of %s at %s", size, where(p), file_line(at));
	place = &places[n_places++];
	*place = (struct place){ .p = &arena[offset], .size = size, .storer = NOBODY, .n = 1 };
	place->log[0].value = size == 4 ? *(const volatile uint32_t *)p : *(const volatile uint64_t *)p;
	for (size_t i = 0; i < size / GRAIN; i++) {
		if (g[i].written.clock)
			sim_fail("%s was plain, is atomic at %s", where(p), file_line(at));
		g[i].place = place;
	}
	return place;
}

/* The index of the message that a load of @place reads, no older than the thread may read. */
static uint16_t choose(struct place *place)
{
	uint16_t oldest = self->cur.seen[place - places];
	uint32_t n = place->n - oldest;

	if (n == 1 || sim_random(calm_load))
		return (uint16_t)(place->n - 1);
	n = sim_random(n);
	sim_counts.stale += n + oldest + 1 < place->n;
	return (uint16_t)(oldest + n);
}

static uint64_t take(struct place *place, uint16_t i, memory_order order)
{
	const struct message *m = &place->log[i];

	self->cur.seen[place - places] = i;
	join(&self->acq, &m->view);
	if (acquires(order))
		join(&self->cur, &m->view);
	return m->value;
}

/* @passed_on: the view of the message that the same operation read, or NULL. */
static void append(struct place *place, uint64_t value, memory_order order, const struct view *passed_on)
{
	struct message *m = &place->log[place->n];

	if (place->n == MAX_MESSAGES)
		sim_fail("the model is too small: %u messages in %s", place->n, where(place->p));
	m->value = value;
	m->view = releases(order) ? self->cur : self->rel;
	if (passed_on)
		join(&m->view, passed_on);
	m->view.seen[place - places] = self->cur.seen[place - places] = (uint16_t)place->n++;
}

uint64_t sim_load(const volatile void *p, size_t size, memory_order order, const char *at)
{
	struct place *place;
	uint64_t value;
	uint16_t i;

	step();
	place = place_of(p, size, order, at);
	i = choose(place);
	value = take(place, i, order);
	trace("load   %-9s %s: %#jx (message %u of %u)  %s", where(p), order_name(order), (uintmax_t)value, i,
	      place->n - 1, file_line(at));
	return value;
}

void sim_store(volatile void *p, size_t size, uint64_t value, memory_order order, const char *at)
{
	int me = (int)(self - threads);
	struct place *place;

	step();
	place = place_of(p, size, order, at);
	if (place->modified || (place->storer != NOBODY && place->storer != me))
		sim_fail("the model is too small: several storers of %s at %s", where(p), file_line(at));
	place->storer = me;
	append(place, value, order, NULL);
	trace("store  %-9s %s: %#jx  %s", where(p), order_name(order), (uintmax_t)value, file_line(at));
}

static uint64_t apply(enum sim_rmw op, uint64_t old, uint64_t operand)
{
	switch (op) {
	case SIM_OR:
		return old | operand;
	case SIM_AND:
		return old & operand;
	case SIM_ADD:
		return old + operand;
	default:
		return old - operand;
	}
}

uint64_t sim_rmw(enum sim_rmw op, volatile void *p, size_t size, uint64_t operand, memory_order order, const char *at)
{
	struct place *place;
	uint16_t newest;
	uint64_t old, new;

	step();
	place = place_of(p, size, order, at);
	if (place->storer != NOBODY)
		sim_fail("the model is too small: %s is stored to and modified at %s", where(p), file_line(at));
	place->modified = true;
	newest = (uint16_t)(place->n - 1);
	old = take(place, newest, order);
	new = apply(op, old, operand);
	if (size == 4)
		new = (uint32_t) new;
	append(place, new, order, &place->log[newest].view);
	trace("modify %-9s %s: %#jx -> %#jx  %s", where(p), order_name(order), (uintmax_t)old, (uintmax_t) new,
	      file_line(at));
	return old;
}

uint64_t sim_split_rmw(enum sim_rmw op, volatile void *p, size_t size, uint64_t operand, memory_order order,
                       const char *at)
{
	uint64_t old = sim_load(p, size, acquires(order) ? memory_order_acquire : memory_order_relaxed, at);
	struct place *place;

	step();
	place = place_of(p, size, order, at);
	append(place, apply(op, old, operand), order, NULL);
	trace("store  %-9s %s: split  %s", where(p), order_name(order), file_line(at));
	return old;
}

void sim_fence(memory_order order, const char *at)
{
	step();
	if (acquires(order))
		join(&self->cur, &self->acq);
	if (order == memory_order_seq_cst) {
		join_seen(&self->cur, &full);
		full = self->cur;
	}
	if (releases(order))
		self->rel = self->cur;
	trace("fence            %s  %s", order_name(order), file_line(at));
}

/* ---- plain memory ---- */

static void touch(const void *p, size_t n, bool write, const char *at)
{
	size_t offset = (size_t)((const unsigned char *)p - arena);
	int me = (int)(self - threads);
	struct access mine = { self->cur.clock[me], file_line(at) };

	if (offset >= arena_used)
		return;
	for (struct grain *g = &grains[offset / GRAIN]; g < &grains[(offset + n + GRAIN - 1) / GRAIN]; g++) {
		const unsigned char *here = arena + (size_t)(g - grains) * GRAIN;

		if (g->place)
			sim_fail("%s is atomic, is plain at %s", where(here), file_line(at));
		if (g->written.clock > self->cur.clock[g->writer])
			sim_fail("data race: %s %s %s at %s, %s wrote it at %s", self->name, write ? "writes" : "reads",
			         where(here), file_line(at), threads[g->writer].name, g->written.at);
		for (unsigned i = 0; write && i < n_threads; i++)
			if (g->read[i].clock > self->cur.clock[i])
				sim_fail("data race: %s writes %s at %s, %s read it at %s", self->name, where(here),
				         file_line(at), threads[i].name, g->read[i].at);
		if (write) {
			g->written = mine;
			g->writer = me;
		} else {
			g->read[me] = mine;
		}
	}
	trace("%-6s %-9s plain: %zu bytes  %s", write ? "write" : "read", where(p), n, file_line(at));
}

void *sim_memcpy(void *dst, const void *src, size_t n, const char *at)
{
	if (!n)
		return dst;
	step();
	touch(src, n, false, at);
	touch(dst, n, true, at);
	return memcpy(dst, src, n);
}

/* ---- the system ---- */

uint64_t nnb__now(void)
{
	step();
	return now++;
}

uint32_t nnb__cpu(void)
{
	return one_cpu ? 0 : (uint32_t)(self - threads);
}

int nnb__futex_wait(_Atomic uint32_t *word, uint32_t expected, uint32_t bits, uint64_t deadline)
{
	struct place *place;
	uint16_t *seen;

	step();
	if (deadline != UINT64_MAX)
		sim_fail("the model is too small: %s waits with a timeout", self->name);
	place = place_of(word, sizeof(*word), memory_order_relaxed, "futex_wait");
	seen = &self->cur.seen[place - places];
	if (*seen < place->futex_seen)
		*seen = place->futex_seen;
	*seen = place->futex_seen = choose(place);
	trace("wait   %-9s for %#x while %#x: is %#jx (message %u of %u)", where(place->p), bits, expected,
	      (uintmax_t)place->log[*seen].value, *seen, place->n - 1);
	if (place->log[*seen].value != expected)
		return -EAGAIN;
	if (sim_random(16) == 0)
		return -EINTR;
	sim_counts.sleeps++;
	self->sleeps_on = place;
	self->sleeps_for = bits;
	swapcontext(&self->context, &home);
	return 0;
}

int nnb__futex_wake(_Atomic uint32_t *word, uint32_t bits)
{
	struct place *place;
	uint16_t seen;

	step();
	place = place_of(word, sizeof(*word), memory_order_relaxed, "futex_wake");
	seen = self->cur.seen[place - places];
	if (place->futex_seen < seen)
		place->futex_seen = seen;
	trace("wake   %-9s for %#x", where(place->p), bits);
	for (unsigned i = 0; i < n_threads; i++)
		if (threads[i].sleeps_on == place && threads[i].sleeps_for & bits)
			threads[i].sleeps_on = NULL;
	return 0;
}

int nnb__futex_wake_some(_Atomic uint32_t *word, int most, uint32_t bits)
{
	(void)most;
	return nnb__futex_wake(word, bits);
}
