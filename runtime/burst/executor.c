/*
 * executor.c -- executes the requests of one burst, a client's stream of executions of one model. A request names its
 * memories by slots, numbers that the client chose; the executor keeps the memory of each slot, and the prepared
 * model.
 *
 * CALLS     For each request: admit; missing; where slots are missing, add, and missing again; then execute; then
 *           answered, after the result was sent, and also before it if sending may wait for the client. Forgo ends a
 *           request whose memories never came. The numbers S-9, P-13 and the like are rules of docs/hal-rules.md.
 * LAYOUT    Entries by slot. The executor and the kind of memory decide what an entry owns:
 *           - the cached executor maps it once; the entry owns the mapping; its fds are closed, and their numbers in
 *             the struct are stale;
 *           - the plain executor maps it for each execution; the entry owns the fds;
 *           - a hardware buffer that the driver opens is never mapped; the entry owns the fds, which the driver uses;
 *           - a driver's buffer is a token, and nothing is owned. Each execution looks the buffer up
 *             (driver/buffer.c), because it may have been freed, or may be in use by another execution.
 * CONCURRENCY  Any thread may call remove, cancel and emit_all; only the server's thread calls the rest: set_stream
 *           before any other thread knows the executor, and free when none uses it any more. The lock guards the
 *           entries and the binding.
 *           The binding is what the last request uses; it is kept, because the next request is likely to be the same.
 *           While the state is BUSY, the server's thread uses the binding without the lock. A thread that removes an
 *           entry, bound or not, sets STALE. If the state was BUSY, the server's thread then releases the binding
 *           when the execution ends, and the mapping, fds and budget of the removed entry stay until it has; if the
 *           state was IDLE, the remover takes the binding away, and releases it at once. Either unmaps and closes
 *           without the lock, because an app can make that last for seconds (memory/gate.h). The executor may call
 *           the budget's functions under the lock, so the budget's locks are taken after this lock. A thread that
 *           calls emit_all may hold locks of the budget, so it takes `emit_lock` alone, the last in the order of
 *           locks; a thread that changes `by_slot` holds both. In `runner`, seat.lanes and seat.job.app never change,
 *           so any thread may read them.
 * ORDERING  (1) the server's thread takes the binding: compare and exchange IDLE -> BUSY, acquire  --- pairs with (4)
 *           (2) the server's thread leaves it: compare and exchange BUSY -> IDLE, release  --- pairs with (3)
 *           (3) a remover sets STALE, acquire => if it found IDLE, the server's thread has used the binding for the
 *               last time
 *           (4) a thread that holds the lock, and has released the binding, taken it away or made a new one, stores
 *               IDLE (or BUSY, if it is the server's thread and will execute), release => when (1) succeeds,
 *               nothing of the binding is being released; while it is being taken away, the state has STALE, so (1)
 *               fails, and the server's thread waits for the lock
 * AGAIN     executor_again runs the last execution once more, if all that it came to is still so: the same request
 *           (`changes`), a binding that is not STALE and has its pools, an execution that repeats and uses no files, a
 *           lane that its seat has kept since, and a model whose next run need not be timed. Each of these is a word
 *           that its writer changes: a thread that frees a slot sets STALE, one that wants the lane takes it away
 *           ((6) of lanes.c). It is cancelled, yields and loses its lane like any run.
 * TRUST     The client chooses the slots: any numbers. The budget bounds the memory behind them to what the client
 *           may use.
 */
#include "burst/executor.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/saturating.h"
#include "base/vector.h"
#include "burst/map.h"
#include "burst/slots.h"
#include "driver/buffer.h"
#include "driver/execution.h"
#include "sched/run.h"
#include "trace/pools.h"

struct entry {
	struct nnb_memory memory;
	struct nnb_mapping *mapping; /* NULL: plain, a token, or for the driver to open */
	uint64_t since, took_ns;     /* when the entry was added; duration of the mapping */
	bool leaving; /* removed while BUSY: its fds are open, and its place is used, until the binding is released */
};

enum { IDLE = 0, BUSY = 1, STALE = 2 };

struct executor {
	struct nnb_prepared *prepared;
	bool cached;
	uint32_t stream; /* number of the burst in traces */
	struct nnb__budget budget;
	pthread_mutex_t lock, emit_lock;
	struct nnb__map by_slot; /* maps a slot to an index of entries */
	struct entry *entries;
	uint32_t n, room;           /* entries that were ever used; room of entries and of unused */
	uint32_t *unused, n_unused; /* indices of entries that are free again */
	uint32_t n_leaving;
	atomic_bool cancelled;
	struct nnb__runner runner; /* the server's thread's */

	/* the binding of the last request */
	atomic_uint state;   /* bits BUSY and STALE, see ORDERING */
	uint32_t owed_pools; /* number of removed pools, given back to the budget when the binding is released */
	uint64_t owed_bytes;
	int32_t *slots;
	struct nnb_memory *pools;
	struct nnb_mapping **bound;
	uint32_t n_bound, room_bound;
	uint64_t bound_for; /* plain: the number of the execution for which the pools were mapped, for the events */
	uint32_t n_known; /* when slots were missing: slots[0..n_known) are the known ones, sorted, and n_bound is 0 */

	/* owned by the server's thread */
	const struct nnb_packet_request *asked; /* the current request; NULL before the first request */
	struct nnb_execution *execution;        /* begun once, then reused */
	struct nnb__burst_context context;      /* the driver's context of the burst */
	/*
	 * A request in the same struct, with the same `changes`, as the last one that was begun need only restart the
	 * execution: all its bits but the terms are the same, so it has the same slots. Their mappings are still
	 * bound then, because bind_all clears `repeats`. A remover cannot clear it, but n_bound is 0 after it
	 * released them, so the next request with slots gets to bind_all; and a request without slots has the same
	 * `changes` only if the last one had no mappings.
	 */
	bool repeats;
	bool again; /* executor_again may run it: it also uses no files */
	uint64_t changes;
	const struct nnb_output_shape *shapes; /* only compared: the server's array, which still has the same shapes */
};

/* ---- entries; under the lock ---- */

static int entry_insert(struct executor *x, int32_t slot, const struct entry *e)
{
	uint32_t i = x->n, room = x->room, unused_room = x->room;

	assert(nnb__is_locked(&x->lock) && nnb__is_locked(&x->emit_lock));
	if (x->n_unused)
		i = x->unused[x->n_unused - 1];
	else if (!NNB__RESERVE(x->entries, room, i + 1, 8) || !NNB__RESERVE(x->unused, unused_room, i + 1, 8))
		return -ENOMEM;
	x->room = unused_room; /* if the second fails, x->room stays as it was, so that it is true of both lists */
	if (nnb__map_put(&x->by_slot, (uint32_t)slot, i))
		return -ENOMEM;
	if (x->n_unused)
		x->n_unused--;
	else
		x->n++;
	assert(i < x->n && x->n <= x->room);
	x->entries[i] = *e;
	return 0;
}

static bool is_token(const struct nnb_memory *memory)
{
	return nnb_memory_kind(memory) == NNB_MEMORY_TOKEN;
}

/* Does the library leave this memory to the driver, so that there is no mapping of it? */
static bool is_unmapped(const struct executor *x, const struct nnb_memory *memory)
{
	return is_token(memory) || nnb__prepared_opens(x->prepared, memory);
}

static void budget_give(const struct executor *x, uint32_t pools, uint64_t bytes)
{
	if (x->budget.give && pools)
		x->budget.give(x->budget.arg, pools, bytes);
}

/* What a removed entry owned, and the binding if the server's thread does not use it: removed_drop releases that. */
struct removed {
	struct entry entry;
	struct nnb_mapping **bound;
	uint32_t n_bound, pools; /* pools, bytes: what to give back to the budget then */
	uint64_t bytes;
};

/*
 * Release the binding, which the server's thread uses: the state is BUSY, or no other thread uses the executor. The
 * pools are unmapped and closed without the lock, because that may take long. Returns with the lock held: no entry is
 * removed before the caller has set the state.
 */
static void binding_drop(struct executor *x)
{
	while (x->n_bound) {
		struct nnb_mapping *m = x->bound[--x->n_bound];

		nnb_mapping_unref(m);
		if (m && !x->cached)
			nnb__emit_pool_unmap(NBT_owner_exec, x->bound_for, x->slots[x->n_bound], NBT_cause_owner_end);
	}
	pthread_mutex_lock(&x->lock);
	for (uint32_t i = 0; x->n_leaving; i = (i + 1) % x->n) { /* others may add to them meanwhile, at any place */
		struct nnb_memory memory = x->entries[i].memory;

		assert(i < x->n && x->n_leaving <= x->n - x->n_unused);
		if (!x->entries[i].leaving)
			continue;
		x->entries[i].leaving = false;
		x->unused[x->n_unused++] = i;
		x->n_leaving--;
		pthread_mutex_unlock(&x->lock);
		nnb_memory_close(&memory);
		pthread_mutex_lock(&x->lock);
	}
	budget_give(x, x->owed_pools, x->owed_bytes);
	x->owed_pools = 0;
	x->owed_bytes = 0;
}

/*
 * @r->entry was removed: take the binding from the executor, too. Returns false if the server's thread uses it: then
 * that thread finds it STALE, and releases it.
 */
static bool binding_take_away(struct executor *x, struct removed *r)
{
	assert(nnb__is_locked(&x->lock));
	if (atomic_fetch_or_explicit(&x->state, STALE, memory_order_acquire) & BUSY) { /* (3) */
		x->owed_pools++;
		x->owed_bytes += r->entry.memory.size;
		return false;
	}
	assert(!x->n_leaving && !x->owed_pools);
	r->pools = 1;
	r->bytes = r->entry.memory.size;
	if (x->n_bound) {
		r->bound = x->bound;
		r->n_bound = x->n_bound;
		x->bound = NULL;
		x->n_bound = x->room_bound = 0;
	}
	atomic_store_explicit(&x->state, IDLE, memory_order_release); /* (4) */
	return true;
}

/*
 * Emit that the entry is mapped. A token counts as mapped. An entry without a mapping emits nothing: it is mapped for
 * each execution.
 */
static void emit_entry(const struct executor *x, int32_t slot, const struct entry *e, uint64_t since)
{
	assert(nnb__is_locked(&x->emit_lock));
	if (e->mapping || is_token(&e->memory))
		nnb__emit_pool_map(NBT_owner_stream, x->stream, slot, &e->memory, e->took_ns, NNB_STATUS_NONE, since);
}

/*
 * Remove the entry of a slot. The caller calls removed_drop. Fds that the current execution may use stay in the entry
 * until that execution ends, and @ret has none. If there is no entry, *ret is empty.
 */
static void entry_take(struct executor *x, int32_t slot, enum nbt_cause why, struct removed *ret)
{
	uint32_t i;
	bool found;

	*ret = (struct removed){ 0 };
	pthread_mutex_lock(&x->emit_lock);
	found = nnb__map_take(&x->by_slot, (uint32_t)slot, &i);
	if (found && (x->entries[i].mapping || is_token(&x->entries[i].memory)))
		nnb__emit_pool_unmap(NBT_owner_stream, x->stream, slot, why);
	pthread_mutex_unlock(&x->emit_lock);
	if (!found)
		return;
	assert(i < x->n && x->n_unused < x->n && x->n <= x->room);
	ret->entry = x->entries[i];
	if (binding_take_away(x, ret) || ret->entry.mapping) {
		x->unused[x->n_unused++] = i;
	} else {
		x->entries[i].leaving = true;
		x->n_leaving++;
		ret->entry.memory = (struct nnb_memory){ 0 }; /* without fds: entry_drop closes nothing */
	}
}

static void entry_drop(struct entry *e)
{
	if (!e->mapping)
		nnb_memory_close(&e->memory);
	nnb_mapping_unref(e->mapping);
}

/* Call this without the lock if other threads use the executor, because unmapping and closing may take long. */
static void removed_drop(const struct executor *x, struct removed *r)
{
	while (r->n_bound)
		nnb_mapping_unref(r->bound[--r->n_bound]);
	free(r->bound);
	entry_drop(&r->entry);
	budget_give(x, r->pools, r->bytes);
}

/* ---- what a request uses; bind_all and what it calls run under the lock ---- */

static bool room_to_bind(struct executor *x, uint32_t n)
{
	if (n <= x->room_bound)
		return true;
	free(x->slots);
	free(x->pools);
	free(x->bound);
	x->room_bound = 0;
	x->slots = calloc(n, sizeof(*x->slots));
	x->pools = calloc(n, sizeof(*x->pools));
	x->bound = calloc(n, sizeof(struct nnb_mapping *));
	if (!x->slots || !x->pools || !x->bound)
		return false;
	x->room_bound = n;
	return true;
}

/*
 * Map memory for the next execution, in the plain executor. The lock is held meanwhile, so that no other thread
 * removes the entry; only such a thread waits for it. NULL: the memory cannot be mapped.
 */
static struct nnb_mapping *map_for_now(struct executor *x, int32_t slot, const struct nnb_memory *memory)
{
	uint64_t began = nbt_on(NBT_EVENT_pool_map) ? nnb__now() : 0;
	struct nnb_mapping *m;
	int r = nnb_map(&m, memory);

	assert(nnb__is_locked(&x->lock));
	x->bound_for = x->runner.seat.trace->exec;
	nnb__emit_pool_map(NBT_owner_exec, x->bound_for, slot, memory, began ? nnb__now() - began : 0,
	                   r ? NNB_STATUS_GENERAL_FAILURE : NNB_STATUS_NONE, 0);
	return r ? NULL : m;
}

/*
 * Bind an entry to pool @i of the next execution. The mapping of a token, or of memory that cannot be mapped, is
 * NULL.
 */
static void pool_bind(struct executor *x, int32_t slot, const struct entry *e, uint32_t i)
{
	assert(i < x->room_bound);
	x->slots[i] = slot;
	x->pools[i] = e->memory;
	x->bound[i] = NULL;
	if (e->mapping)
		x->bound[i] = nnb_mapping_ref(e->mapping);
	else if (!is_unmapped(x, &e->memory))
		x->bound[i] = map_for_now(x, slot, &e->memory);
	x->n_bound = i + 1;
}

static uint32_t sort_and_unique(int32_t *slots, uint32_t n)
{
	uint32_t kept = 0;

	qsort(slots, n, sizeof(*slots), nnb__by_slot);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || slots[i] != slots[kept - 1])
			slots[kept++] = slots[i];
	return kept;
}

/* Bind all slots, or write the missing ones to @missing. Returns how many are missing. Nothing is bound before. */
static uint32_t bind_all(struct executor *x, const int32_t *slots, uint32_t n, int32_t *missing)
{
	uint32_t n_missing = 0, found = 0, i;

	assert(nnb__is_locked(&x->lock) && !x->n_bound);
	x->repeats = false;
	x->n_known = 0;
	if (!room_to_bind(x, n))
		return 0; /* n_bound is 0, so execution_begin answers that there is no memory */
	for (uint32_t k = 0; k < n; k++)
		if (nnb__map_get(&x->by_slot, (uint32_t)slots[k], &i))
			x->slots[found++] = slots[k];
		else
			missing[n_missing++] = slots[k];
	if (n_missing) {
		x->n_known = sort_and_unique(x->slots, found);
		return n_missing;
	}
	for (uint32_t k = 0; k < n; k++)
		if (nnb__map_get(&x->by_slot, (uint32_t)slots[k], &i))
			pool_bind(x, slots[k], &x->entries[i], k);
	return 0;
}

static inline bool binding_is_for(const struct executor *x, const int32_t *slots, uint32_t n)
{
	if (n != x->n_bound)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (slots[i] != x->slots[i])
			return false;
	return true;
}

/*
 * Take the binding of the last request. False if it is STALE. Also false if it is still BUSY, because a server, unlike
 * ours (server.c), called `missing` and then did not execute. In that case the memories of the last request stay bound,
 * and those of removed slots stay mapped and charged to the budget, until the next `missing` or `free`.
 */
static inline bool take_binding(struct executor *x)
{
	unsigned idle = IDLE;

	return atomic_compare_exchange_strong_explicit(&x->state, &idle, BUSY, memory_order_acquire, /* (1) */
	                                               memory_order_relaxed);
}

/* The slots are not those of the last request, or the binding is not usable any more. */
static __attribute__((noinline)) uint32_t bind_again(struct executor *x, const int32_t *slots, uint32_t n, int32_t *ret)
{
	uint32_t n_missing;

	pthread_mutex_lock(&x->lock); /* no other thread is taking the binding away */
	atomic_fetch_or_explicit(&x->state, BUSY, memory_order_acquire);
	pthread_mutex_unlock(&x->lock);
	binding_drop(x);
	n_missing = bind_all(x, slots, n, ret);
	assert(n_missing <= n && (!n_missing || !x->n_bound));
	atomic_store_explicit(&x->state, n_missing ? IDLE : BUSY, memory_order_release); /* (4) */
	pthread_mutex_unlock(&x->lock);
	return n_missing ? sort_and_unique(ret, n_missing) : 0;
}

static uint32_t executor_missing(void *arg, const int32_t *slots, uint32_t n, int32_t *ret)
{
	struct executor *x = arg;

	if (__builtin_expect(take_binding(x) && binding_is_for(x, slots, n), 1))
		return 0;
	return bind_again(x, slots, n, ret);
}

static enum nnb_status map_entry(const struct executor *x, int32_t slot, struct entry *e)
{
	uint64_t began = nnb__now();
	int r = nnb_map(&e->mapping, &e->memory);

	e->took_ns = nnb__now() - began;
	if (!r)
		return NNB_STATUS_NONE;
	nnb__emit_pool_map(NBT_owner_stream, x->stream, slot, &e->memory, e->took_ns, NNB_STATUS_GENERAL_FAILURE, 0);
	return r == -EBUSY ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_GENERAL_FAILURE;
}

/*
 * Add an entry in place of the slot's earlier one. If the memory exceeds the budget or cannot be mapped, the earlier
 * one stays; if there is no room for the entry, it is removed all the same. Owns @memory from now on, also on
 * failure.
 */
static enum nnb_status entry_add(struct executor *x, int32_t slot, struct nnb_memory *memory)
{
	struct entry e = { .memory = *memory, .since = nnb__now() };
	struct removed old = { 0 };
	enum nnb_status status = NNB_STATUS_NONE;
	uint64_t bytes = e.memory.size;

	if (x->budget.take)
		status = x->budget.take(x->budget.arg, 1, e.memory.size);
	if (status) {
		nnb_memory_close(&e.memory);
		return status;
	}
	if (x->cached && !is_unmapped(x, memory))
		status = map_entry(x, slot, &e);
	if (e.mapping) /* no fds are needed any more; e.memory still describes the memory */
		nnb_memory_close(memory);
	if (!status) {
		pthread_mutex_lock(&x->lock);
		entry_take(x, slot, NBT_cause_evicted, &old);
		pthread_mutex_lock(&x->emit_lock);
		if (entry_insert(x, slot, &e))
			status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		else
			emit_entry(x, slot, &e, 0);
		pthread_mutex_unlock(&x->emit_lock);
		pthread_mutex_unlock(&x->lock);
	}
	removed_drop(x, &old);
	if (status) {
		entry_drop(&e);
		budget_give(x, 1, bytes);
	}
	return status;
}

/* Add the pools and bytes of the request's known slots to *@pools and *@bytes. */
static void known_slots_sum(struct executor *x, uint32_t *pools, uint64_t *bytes)
{
	uint32_t i;

	pthread_mutex_lock(&x->lock);
	for (uint32_t k = 0; k < x->n_known; k++)
		if (nnb__map_get(&x->by_slot, (uint32_t)x->slots[k], &i)) {
			const struct nnb_memory *memory = &x->entries[i].memory;

			*pools += 1;
			*bytes = nnb__saturating_sum(*bytes, memory->size);
			*bytes = nnb__saturating_sum(*bytes, nnb__buffers_bytes(x->prepared, memory, 1, false));
		}
	pthread_mutex_unlock(&x->lock);
}

/*
 * The request with the number of its pools, which are unknown yet: nnb__prepared_check then leaves out what depends
 * on them.
 */
static struct nnb_request request_without_pools(const struct nnb_packet_request *p)
{
	return (struct nnb_request){ .exec = p->trace ? p->trace->exec : 0,
		                     .inputs = p->inputs,
		                     .outputs = p->outputs,
		                     .n_inputs = p->n_inputs,
		                     .n_outputs = p->n_outputs,
		                     .n_pools = p->n_slots };
}

/*
 * Write the pools that are known by now into @ret, which has room for all. @look: why the slots are looked up, for
 * the events. Returns whether all are known. The copies are used without the lock, so another thread may close their
 * fds: only the checks use them, which read sizes, kinds and the numbers of driver's buffers, and no fd.
 */
static bool known_pools(struct executor *x, const struct nnb_packet_request *p, enum nbt_look look,
                        struct nnb_memory *ret)
{
	uint32_t i, n = 0;
	bool known;

	pthread_mutex_lock(&x->lock);
	for (uint32_t k = 0; k < p->n_slots; k++) {
		known = nnb__map_get(&x->by_slot, (uint32_t)p->slots[k], &i);
		if (known)
			ret[k] = x->entries[i].memory;
		n += known;
		nnb__trace_lookup(x->runner.seat.trace, p->slots[k], known, look);
	}
	pthread_mutex_unlock(&x->lock);
	return n == p->n_slots;
}

/*
 * Check the request with the memories of its known slots, and with @memories for its missing ones: @slots, sorted.
 * Maps nothing. If malloc fails, the request counts as valid.
 */
static enum nnb_status check_with(struct executor *x, const int32_t *slots, uint32_t n,
                                  const struct nnb_memory *memories, struct nnb_reason *reason)
{
	const struct nnb_packet_request *p = x->asked;
	struct nnb_memory *pools = p ? calloc((size_t)p->n_slots + 1, sizeof(*pools)) : NULL;
	struct nnb_request request;
	enum nnb_status wrong;

	if (!pools)
		return NNB_STATUS_NONE;
	known_pools(x, p, NBT_look_again, pools);
	for (uint32_t k = 0; k < p->n_slots; k++) {
		const int32_t *slot = bsearch(&p->slots[k], slots, n, sizeof(*slots), nnb__by_slot);

		if (slot)
			pools[k] = memories[slot - slots];
	}
	request = request_without_pools(p);
	request.pools = pools;
	wrong = nnb__prepared_check(x->prepared, &request, reason);
	free(pools);
	return wrong;
}

/*
 * Rules S-9, S-11. @slots: as missing wrote them. If the request is invalid, that status takes precedence over
 * GENERAL_FAILURE, memory that cannot be mapped, as in an execution without a burst.
 */
static enum nnb_status executor_add(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *memories,
                                    struct nnb_reason *reason)
{
	struct executor *x = arg;
	struct nnb_reason why_wrong = { "" };
	enum nnb_status status = NNB_STATUS_NONE, added, wrong = check_with(x, slots, n, memories, &why_wrong);
	uint64_t bytes = 0;
	uint32_t pools = n;

	for (uint32_t i = 0; i < n; i++)
		bytes = nnb__saturating_sum(bytes, memories[i].size);
	bytes = nnb__saturating_sum(bytes, nnb__buffers_bytes(x->prepared, memories, n, false));
	known_slots_sum(x, &pools, &bytes);
	for (uint32_t i = 0; i < n; i++) {
		/* Tokens also after a failure: forgo comes next, and must find their buffers, to make them
		 * uninitialised. */
		if (status && !is_token(&memories[i])) {
			nnb_memory_close(&memories[i]);
			continue;
		}
		added = entry_add(x, slots[i], &memories[i]);
		if (added && !status)
			nnb_because(reason, "the memory of slot %d cannot be used", slots[i]);
		status = status ? status : added;
	}
	if (status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT && x->budget.ever &&
	    !x->budget.ever(x->budget.arg, pools, bytes))
		status = NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	if (status != NNB_STATUS_GENERAL_FAILURE || !wrong)
		return status;
	nnb_because(reason, "%s", why_wrong.text);
	return wrong;
}

static void slot_remove(struct executor *x, int32_t slot, enum nbt_cause why)
{
	struct removed removed;

	pthread_mutex_lock(&x->lock);
	entry_take(x, slot, why, &removed);
	pthread_mutex_unlock(&x->lock);
	removed_drop(x, &removed);
}

static void executor_remove(void *arg, int32_t slot)
{
	slot_remove(arg, slot, NBT_cause_freed);
}

static void executor_emit_all(void *arg)
{
	struct executor *x = arg;

	pthread_mutex_lock(&x->emit_lock);
	for (uint32_t i = 0; x->by_slot.entries && i <= x->by_slot.mask; i++) {
		const struct nnb__map_entry *m = &x->by_slot.entries[i];

		if (m->used)
			emit_entry(x, (int32_t)m->key, &x->entries[m->value], x->entries[m->value].since);
	}
	pthread_mutex_unlock(&x->emit_lock);
}

/* ---- executing ---- */

/*
 * Check the buffers of a request that is valid otherwise. If they are valid as well, make the buffers of its outputs
 * uninitialised.
 */
static enum nnb_status fail_buffers(struct executor *x, const struct nnb_request *request, struct nnb_reason *reason)
{
	enum nnb_status wrong = nnb__buffers_check(x->prepared, request, false, reason);

	if (!wrong)
		nnb__buffers_fail(x->prepared, request);
	return wrong;
}

/*
 * Fail a request without executing it. An error in the request, as far as its known slots show, takes precedence; if
 * there is none, outputs in known buffers become uninitialised, as after a failed execution.
 */
static __attribute__((noinline)) enum nnb_status request_fail(struct executor *x, const struct nnb_packet_request *p,
                                                              struct nnb_reason *reason)
{
	struct nnb_memory *pools = calloc((size_t)p->n_slots + 1, sizeof(*pools));
	struct nnb_request request = request_without_pools(p);
	enum nnb_status wrong;

	if (pools && known_pools(x, p, NBT_look_refused, pools))
		request.pools = pools;
	wrong = nnb__prepared_check(x->prepared, &request, reason);
	request.pools = pools; /* pools of unknown slots are all zero, so they are no buffers */
	if (!wrong && pools)
		wrong = fail_buffers(x, &request, reason);
	free(pools);
	return wrong;
}

/* The server will not execute the request, because the memory of some slots did not come. */
static void executor_forgo(void *arg, const struct nnb_packet_request *p)
{
	request_fail(arg, p, NULL);
}

static void request_set(struct executor *x, const struct nnb_packet_request *p)
{
	if (__builtin_expect(x->asked != p, 0)) /* `changes` of another struct is another count */
		x->repeats = false;
	x->asked = p;
	x->runner.seat.trace = p->trace ? p->trace : &x->runner.untraced; /* emits no events */
}

static enum nnb_status executor_admit(void *arg, const struct nnb_packet_request *p, struct nnb_reason *reason)
{
	struct executor *x = arg;
	enum nnb_status status, wrong;

	request_set(x, p);
	if (__builtin_expect(!p->terms.deadline_ns, 1)) /* nnb__admit admits it */
		return NNB_STATUS_NONE;
	status = nnb__admit(&x->runner, &p->terms, reason);
	if (__builtin_expect(!status, 1))
		return status;
	wrong = request_fail(x, p, reason);
	return wrong ? wrong : status;
}

static __attribute__((noinline)) enum nnb_status execution_begin(struct executor *x, const struct nnb_packet_request *p,
                                                                 struct nnb_result *result, struct nnb_reason *reason)
{
	struct nnb_request request = request_without_pools(p);
	enum nnb_status status;

	if (p->measure > 1) {
		nnb_because(reason, "MEASURE is %u; it must be 0 or 1", p->measure);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (x->n_bound != p->n_slots) {
		status = request_fail(x, p, reason);
		if (status)
			return status;
		nnb_because(reason, "the service has no memory left to bind the pools");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (uint32_t i = 0; i < x->n_bound; i++)
		if (__builtin_expect(!x->bound[i] && !is_unmapped(x, &x->pools[i]), 0)) {
			request.pools = x->pools;
			status = nnb__prepared_check(x->prepared, &request, reason);
			if (!status)
				status = fail_buffers(x, &request, reason);
			if (status)
				return status;
			nnb_because(reason, "pool %u (%s) cannot be mapped", i, x->pools[i].name);
			return NNB_STATUS_GENERAL_FAILURE; /* rule P-13 */
		}
	x->changes = p->changes;
	x->shapes = result->shapes;
	request.pools = x->pools;
	if (x->execution)
		return nnb_execution_again(x->execution, &request, x->bound, false, result->shapes, reason);
	status = nnb_execution_begin(x->prepared, &request, x->bound, false, result->shapes, &x->execution, reason);
	if (!status)
		nnb__execution_burst(x->execution, &x->context);
	return status;
}

/*
 * If @status is TRANSIENT, the budget has no room for the driver's buffers of the execution now. Return PERSISTENT if
 * it could never have room for them and the request's pools together, and @status else.
 */
static __attribute__((noinline)) enum nnb_status exhaustion_status(const struct executor *x, enum nnb_status status)
{
	struct {
		int32_t slot; /* first, for nnb__by_slot */
		uint64_t bytes;
	} * bound;
	uint64_t bytes;
	uint32_t pools = 0;

	if (status != NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT || !x->budget.ever)
		return status;
	bound = calloc((size_t)x->n_bound + 1, sizeof(*bound));
	if (!bound)
		return status;
	for (uint32_t i = 0; i < x->n_bound; i++) {
		bound[i].slot = x->slots[i];
		bound[i].bytes = x->pools[i].size;
	}
	qsort(bound, x->n_bound, sizeof(*bound), nnb__by_slot);
	bytes = nnb__buffers_bytes(x->prepared, x->pools, x->n_bound, true);
	for (uint32_t i = 0; i < x->n_bound; i++) {
		if (i && bound[i].slot == bound[i - 1].slot)
			continue;
		pools++;
		bytes = nnb__saturating_sum(bytes, bound[i].bytes);
	}
	free(bound);
	return x->budget.ever(x->budget.arg, pools, bytes) ? status : NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
}

/* The lane of the last execution may already be another one's, whose thread sleeps: wake that thread. */
static void executor_answered(void *arg)
{
	struct executor *x = arg;

	if (__builtin_expect(x->runner.seat.heir != NULL, 0))
		nnb__lanes_wake(&x->runner.seat);
}

/* The execution has ended, and the executor does not keep its binding. */
static __attribute__((noinline)) void binding_leave(struct executor *x)
{
	/* before unmapping, which takes as long as the app's pools are large, and leaves the lane idle */
	executor_answered(x);
	assert(atomic_load_explicit(&x->state, memory_order_relaxed) & BUSY); /* only this thread clears BUSY */
	binding_drop(x);
	atomic_store_explicit(&x->state, IDLE, memory_order_release); /* (4) */
	pthread_mutex_unlock(&x->lock);
}

/*
 * The server's thread is done with the binding. The cached executor keeps it for the next request, unless it is STALE.
 */
static inline void binding_return(struct executor *x)
{
	unsigned busy = BUSY;

	if (__builtin_expect(!x->cached || !atomic_compare_exchange_strong_explicit(&x->state, &busy, IDLE,
	                                                                            memory_order_release, /* (2) */
	                                                                            memory_order_relaxed),
	                     0))
		binding_leave(x);
}

static bool executor_again(void *arg, enum nnb_status *ret)
{
	struct executor *x = arg;
	bool ran;

	if (!x->again || !x->repeats || x->changes != x->asked->changes || !take_binding(x))
		return false;
	*ret = NNB_STATUS_NONE;
	ran = x->n_bound == x->asked->n_slots; /* otherwise its pools were released meanwhile */
	if (ran) {
		*ret = nnb_execution_restart(x->execution);
		ran = *ret || nnb__run_again(&x->runner, x->execution, ret);
		if (*ret || !ran) /* no run of the driver is left, whose pools may go before the next one */
			nnb__execution_give_up(x->execution);
	}
	binding_return(x);
	return ran;
}

static void executor_execute(void *arg, const struct nnb_packet_request *p, struct nnb_result *result,
                             struct nnb_reason *reason)
{
	struct executor *x = arg;

	if (__builtin_expect(x->asked != p, 0)) /* executor_admit has set it, unless the server does not call admit */
		request_set(x, p);
	result->timing = NNB_NO_TIMING;
	if (x->repeats && x->changes == p->changes && x->shapes == result->shapes) {
		assert(x->execution);
		result->status = nnb__execution_passes(x->execution, reason);
		if (!result->status)
			result->status = nnb_execution_restart(x->execution);
	} else {
		result->status = execution_begin(x, p, result, reason);
		x->repeats = !result->status && x->cached && nnb__execution_repeats(x->execution);
	}
	result->n_shapes = p->n_outputs;
	if (!result->status) {
		result->status = nnb__run(&x->runner, x->execution, &p->terms,
		                          p->measure ? &result->timing.on_device_ns : NULL, reason);
		if (result->status) {
			nnb__execution_give_up(x->execution);
			if (result->status !=
			    NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE) /* this failure returns the shapes to the client */
				result->n_shapes = 0;
		}
	} else if (result->status != NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE) {
		result->n_shapes = 0; /* rule P-31: without an execution the client gets no shapes */
		result->status = exhaustion_status(x, result->status);
	}
	x->again = !result->status && x->repeats && !nnb__execution_uses_files(x->execution);
	binding_return(x);
}

static void executor_set_stream(void *arg, uint32_t stream)
{
	struct executor *x = arg;

	x->stream = stream;
}

static void executor_cancel(void *arg)
{
	struct executor *x = arg;

	atomic_store_explicit(&x->cancelled, true, memory_order_relaxed);
	if (x->runner.seat.lanes)
		nnb__lanes_look(x->runner.seat.lanes, (struct nnb__lane_app *)x->runner.seat.job.app);
}

/* ---- life ---- */

static void executor_free(void *arg)
{
	struct executor *x = arg;

	nnb__lanes_release(&x->runner.seat);
	nnb_execution_end(x->execution);
	nnb__burst_context_end(&x->context, x->prepared);
	binding_drop(x);
	pthread_mutex_unlock(&x->lock);
	assert(!x->n_bound && !x->n_leaving);
	atomic_store_explicit(&x->state, IDLE, memory_order_relaxed); /* no other thread uses the executor any more */
	for (uint32_t i = 0; x->by_slot.entries && i <= x->by_slot.mask; i++)
		while (x->by_slot.entries[i].used)
			slot_remove(x, (int32_t)x->by_slot.entries[i].key, NBT_cause_owner_end);
	nnb__map_fini(&x->by_slot);
	free(x->entries);
	free(x->unused);
	free(x->slots);
	free(x->pools);
	free(x->bound);
	nnb_prepared_unref(x->prepared);
	pthread_mutex_destroy(&x->emit_lock);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

int nnb__burst_executor(struct nnb_burst_executor *ret, struct nnb_prepared *prepared, bool cached,
                        const struct nnb__burst_place *place)
{
	struct executor *x = calloc(1, sizeof(*x));
	uint32_t priority = nnb_prepared_how(prepared)->priority;

	if (!x)
		return -ENOMEM;
	pthread_mutex_init(&x->lock, NULL);
	pthread_mutex_init(&x->emit_lock, NULL);
	x->prepared = nnb_prepared_ref(prepared);
	x->cached = cached;
	x->budget = place->budget;
	x->stream = place->stream;
	nnb__runner_init(&x->runner, place->lanes, place->app, place->times, priority, &x->cancelled);
	x->runner.seat.keeps = place->lanes != NULL; /* its lane, between executions; executor_free releases it */
	x->runner.seat.answers_first = true;         /* the server calls answered (CALLS) */
	nnb__burst_context_begin(&x->context, prepared);
	*ret = (struct nnb_burst_executor){ .arg = x,
		                            .missing = executor_missing,
		                            .add = executor_add,
		                            .remove = executor_remove,
		                            .admit = executor_admit,
		                            .forgo = executor_forgo,
		                            .execute = executor_execute,
		                            .cancel = executor_cancel,
		                            .emit_all = executor_emit_all,
		                            .free = executor_free,
		                            .set_stream = executor_set_stream,
		                            .answered = executor_answered,
		                            .again = executor_again };
	return 0;
}

int nnb_burst_executor_cached(struct nnb_burst_executor *ret, struct nnb_prepared *prepared)
{
	return nnb__burst_executor(ret, prepared, true, &(struct nnb__burst_place){ 0 });
}

int nnb_burst_executor_plain(struct nnb_burst_executor *ret, struct nnb_prepared *prepared)
{
	return nnb__burst_executor(ret, prepared, false, &(struct nnb__burst_place){ 0 });
}
