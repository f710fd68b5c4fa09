/*
 * tear.c -- survives the truncation of mapped files: the list of watched mappings, and the SIGBUS handler.
 *
 * LAYOUT    Watches lie in chunks of a list that only grows; an ended watch is used again. Its state is a
 *           generation (odd while it is live) above the count of tears. The reserve is a range of pages of which
 *           every other one has another protection: RESERVE_PAGES mappings of the process that one mprotect frees.
 * CONCURRENCY  Any thread may call everything, and the handler may run in any thread, nested too. The owner ends a
 *           watch once, when no thread uses its pages. The handler takes no lock and allocates nothing. All of this
 *           works between fork and exec, too, because no lock exists. Any number of threads may fill the reserve
 *           while handlers spend it: all of them set protections that do not depend on the previous ones.
 * ORDERING  (1) begin: store start, end, prot, release, then store the live state, release --- pairs with (2)
 *           (2) handler: load state, acquire, then start, end, prot, acquire   => the range belongs to this generation,
 *               or to a later one; then state has changed before, and (4) detects that
 *           (3) handler: busy + 1, then
 *           (4) count the tear by a compare-and-swap of the state found in (2), which fails for another
 *               generation: an older one's tear is never charged to a new one. Then
 *           (5) put the zeroes in place, then busy - 1, release
 *           The tear is counted before the zeroes are in place: a thread that has read a zero sees the tear in the
 *           count, because the kernel orders the change of the page tables with the reader's fault on the new page (6).
 *           (7) nnb__watch_settled, whose caller has loaded the count from (4), sees busy of (3) or of (5). If it
 *               is 0, the zeroes of all tears counted until then are in place: the file may be mapped again.
 *           end: the state changes, then the place becomes free, release; the next begin takes it, acquire.
 *           (8) fill: load the number of times that the reserve was spent, acquire, then protect its pages, then
 *               store that number as the one it is filled after, release. The reserve is full if the two numbers are
 *               equal: a thread that spends it counts first, so that a concurrent fill does not count as a full one.
 * PROGRESS  The handler visits each place of the list once; it repeats only the compare-and-swap (4), if another thread
 *           has torn the same mapping meanwhile.
 * CRASH     If a handler never returns from (5), because a fork has left its thread behind, the watch stays unsettled:
 *           its mapping works and is never repaired.
 * TRUST     A peer chooses where the tears are, and the number of mappings of a process is limited
 *           (vm.max_map_count). So the first tear replaces the whole mapping by one other: no number of tears takes
 *           more mappings. If the process has one mapping more than the limit, which the kernel permits, the kernel
 *           refuses even this replacement: then the handler spends the reserve. A file that can be truncated is not
 *           mapped while the reserve cannot be filled. No other process can send a SIGBUS with the si_code of a
 *           fault.
 */
#include "memory/tear.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/gate.h"

enum { CHUNK = 64, RESERVE_PAGES = 128, ROOM_TRIES = 100000, DROP_BYTES = 4 << 20 };

struct nnb__watch {
	_Atomic uint64_t state; /* generation << 32 | tears */
	_Atomic uintptr_t start, end;
	_Atomic int prot;
	struct nnb__gate *_Atomic gate; /* with fd, its file: constant while the watch is live */
	_Atomic int fd;
	_Atomic uint32_t busy; /* handlers between counting and having put the zeroes in place */
	_Atomic bool taken;
};

struct chunk {
	struct nnb__watch watches[CHUNK];
	struct chunk *_Atomic next;
};

static struct chunk first;

/* Set before the handler is installed. */
static uintptr_t page_bytes;
static struct sigaction previous;

static _Atomic uintptr_t reserve;                          /* address of the reserve; 0: it is not mapped yet */
static _Atomic uint32_t reserve_spent = 1, reserve_filled; /* different at first, so that the reserve counts as spent */

/* ---- states ---- */

static bool watch_is_live(uint64_t state)
{
	return state >> 32 & 1;
}

static uint64_t next_generation(uint64_t state)
{
	return ((state >> 32) + 1) << 32;
}

/* ---- the reserve ---- */

/* This calls the kernel directly, because POSIX does not list mprotect as async-signal-safe. */
static bool pages_protect(uintptr_t start, uintptr_t bytes, int prot)
{
	return syscall(SYS_mprotect, start, bytes, (long)prot) == 0;
}

/* Give all pages one protection: they become one mapping, which frees the other mappings. Handlers call this. */
static void reserve_spend(void)
{
	uintptr_t start = atomic_load_explicit(&reserve, memory_order_acquire);

	atomic_fetch_add_explicit(&reserve_spent, 1, memory_order_acq_rel); /* (8) */
	if (start)
		pages_protect(start, RESERVE_PAGES * page_bytes, PROT_NONE);
}

/* The address of the reserve, which is mapped if it is not yet; 0: that failed. */
static uintptr_t reserve_start(void)
{
	uintptr_t start = atomic_load_explicit(&reserve, memory_order_acquire);
	void *p;

	if (start)
		return start;
	p = mmap(NULL, RESERVE_PAGES * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	if (atomic_compare_exchange_strong_explicit(&reserve, &start, (uintptr_t)p, memory_order_acq_rel,
	                                            memory_order_acquire))
		return (uintptr_t)p;
	munmap(p, RESERVE_PAGES * page_bytes);
	return start;
}

/* Fill the reserve. False: the process would have too many mappings. */
static bool reserve_fill(void)
{
	uint32_t spent = atomic_load_explicit(&reserve_spent, memory_order_acquire); /* (8) */
	uintptr_t start;

	if (atomic_load_explicit(&reserve_filled, memory_order_acquire) == spent)
		return true;
	start = reserve_start();
	if (!start)
		return false;
	for (uintptr_t i = 1; i < RESERVE_PAGES; i += 2)
		if (!pages_protect(start + i * page_bytes, page_bytes, PROT_READ))
			return false;
	atomic_store_explicit(&reserve_filled, spent, memory_order_release);
	return true;
}

/* ---- the handler ---- */

/*
 * This calls the kernel directly, because a sanitizer takes mmap for a write, and POSIX does not list mmap as
 * async-signal-safe.
 */
static bool put_zeroes_at(uintptr_t start, uintptr_t bytes, int prot)
{
	/* NORESERVE: the call must not fail for lack of memory that may never be touched. */
	long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
#ifdef SYS_mmap2
	long call = SYS_mmap2;
#else
	long call = SYS_mmap;
#endif

	return syscall(call, start, bytes, (long)prot, flags, -1L, 0L) != -1;
}

/*
 * Replace the whole mapping by zeroes. If the kernel refuses that, spend the reserve, and try again, ROOM_TRIES times
 * at most.
 */
static bool put_zeroes(const struct nnb__watch *w)
{
	uintptr_t start = atomic_load_explicit(&w->start, memory_order_relaxed);
	uintptr_t end = atomic_load_explicit(&w->end, memory_order_relaxed);
	int prot = atomic_load_explicit(&w->prot, memory_order_relaxed);

	/*
	 * Release the file's pages first, a step at a time. The kernel holds the lock of the address space, for which
	 * every other thread's mmap waits, during a step, and not for as long as gigabytes take (some 90 us a MiB).
	 * Threads may bring pages back, which does no harm.
	 */
	for (uintptr_t at = start; end - start > DROP_BYTES && at < end; at += DROP_BYTES)
		syscall(SYS_madvise, at, end - at < DROP_BYTES ? end - at : DROP_BYTES, (long)MADV_DONTNEED);
	for (unsigned i = 0; i < ROOM_TRIES; i++) {
		if (put_zeroes_at(start, end - start, prot))
			return true;
		reserve_spend();
		if (i)
			/* other threads may have used the mappings that the reserve freed, and will free some */
			syscall(SYS_sched_yield);
	}
	return false;
}

static bool watch_covers(const struct nnb__watch *w, uint64_t state, uintptr_t address)
{
	return watch_is_live(state) && address >= atomic_load_explicit(&w->start, memory_order_acquire) &&
	       address < atomic_load_explicit(&w->end, memory_order_acquire);
}

/* If the address is this watch's, put zeroes there. */
static bool contain_in(struct nnb__watch *w, uintptr_t address)
{
	uint64_t state = atomic_load_explicit(&w->state, memory_order_acquire); /* (2) */
	struct nnb__gate *gate;
	bool counted = false;
	struct nnb__gate_call call;
	uint64_t torn; /* the same generation, one tear more */
	bool zeroes = false;

	if (!watch_covers(w, state, address))
		return false;
	atomic_fetch_add_explicit(&w->busy, 1, memory_order_relaxed); /* (3) */
	while (!counted && watch_covers(w, state, address)) {
		torn = (state & ~(uint64_t)UINT32_MAX) | (uint32_t)(state + 1);
		counted = atomic_compare_exchange_strong_explicit(&w->state, &state, torn, memory_order_acq_rel,
		                                                  memory_order_acquire); /* (4) */
	}
	gate = atomic_load_explicit(&w->gate, memory_order_acquire); /* (2): as start and end */
	if (counted) {
		nnb__gate_tear_begins(gate, atomic_load_explicit(&w->fd, memory_order_acquire), &call);
		zeroes = put_zeroes(w);
		nnb__gate_tear_ends(gate, &call);
	}
	atomic_fetch_sub_explicit(&w->busy, 1, memory_order_release); /* (5) */
	return zeroes;
}

static void restore_default(int sig)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };

	sigaction(sig, &by_default, NULL);
}

/*
 * The fault is in no watched mapping. It repeats after the handler has returned, and is then fatal. A signal that was
 * sent does not repeat.
 */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	bool again = info->si_code > 0 && info->si_code != BUS_MCEERR_AO;

	if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
		/* call the previous handler as the kernel would */
		sigset_t blocked = previous.sa_mask;

		if (!(previous.sa_flags & SA_NODEFER))
			sigaddset(&blocked, sig);
		if (previous.sa_flags & SA_RESETHAND)
			restore_default(sig);
		pthread_sigmask(SIG_BLOCK, &blocked, NULL); /* until we return */
		if (previous.sa_flags & SA_SIGINFO)
			previous.sa_sigaction(sig, info, context);
		else
			previous.sa_handler(sig);
		return;
	}
	if (previous.sa_handler == SIG_IGN && !again)
		return;
	restore_default(sig);
	if (!again)
		raise(sig);
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	struct chunk *c = info->si_code == BUS_ADRERR ? &first : NULL;
	bool contained = false;
	int saved = errno;

	for (; c && !contained; c = atomic_load_explicit(&c->next, memory_order_acquire))
		for (unsigned i = 0; i < CHUNK && !contained; i++)
			contained = contain_in(&c->watches[i], (uintptr_t)info->si_addr);
	if (!contained)
		pass_on(sig, info, context);
	errno = saved;
}

static void handler_install(void)
{
	/* NODEFER: a handler that interrupts this one, or that this one calls, may touch a torn page, too. */
	struct sigaction ours = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, NULL, &previous);
	sigaction(SIGBUS, &ours, NULL);
}

/* ---- watches ---- */

/* The chunk after @c, which is allocated if necessary. NULL: no memory. */
static struct chunk *chunk_after(struct chunk *c)
{
	struct chunk *next = atomic_load_explicit(&c->next, memory_order_acquire);
	struct chunk *made;

	if (next)
		return next;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	if (atomic_compare_exchange_strong_explicit(&c->next, &next, made, memory_order_acq_rel, memory_order_acquire))
		return made;
	free(made);
	return next;
}

int nnb__watch_begin(struct nnb__watch **ret, void *start, size_t bytes, int prot, struct nnb__gate *gate, int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct nnb__watch *w = NULL;
	uint64_t state;

	pthread_once(&once, handler_install);
	if (!reserve_fill())
		return -ENOMEM;
	for (struct chunk *c = &first; !w; c = chunk_after(c)) {
		if (!c)
			return -ENOMEM;
		for (unsigned i = 0; i < CHUNK && !w; i++)
			if (!atomic_load_explicit(&c->watches[i].taken, memory_order_relaxed) &&
			    !atomic_exchange_explicit(&c->watches[i].taken, true, memory_order_acquire))
				w = &c->watches[i];
	}
	state = atomic_load_explicit(&w->state, memory_order_relaxed);
	assert(!watch_is_live(state));
	atomic_store_explicit(&w->start, (uintptr_t)start, memory_order_release); /* (1) */
	atomic_store_explicit(&w->end, (uintptr_t)start + bytes, memory_order_release);
	atomic_store_explicit(&w->prot, prot, memory_order_release);
	atomic_store_explicit(&w->gate, gate, memory_order_release);
	atomic_store_explicit(&w->fd, fd, memory_order_release);
	atomic_store_explicit(&w->state, next_generation(state), memory_order_release);
	*ret = w;
	return 0;
}

void nnb__watch_end(struct nnb__watch *w)
{
	uint64_t state;

	if (!w)
		return;
	state = atomic_load_explicit(&w->state, memory_order_relaxed);
	assert(watch_is_live(state));
	atomic_store_explicit(&w->state, next_generation(state), memory_order_release);
	atomic_store_explicit(&w->taken, false, memory_order_release);
}

uint32_t nnb__watch_tears(const struct nnb__watch *w)
{
	atomic_thread_fence(memory_order_acquire); /* (6) */
	return (uint32_t)atomic_load_explicit(&w->state, memory_order_acquire);
}

bool nnb__watch_settled(const struct nnb__watch *w)
{
	return atomic_load_explicit(&w->busy, memory_order_acquire) == 0; /* (7) */
}
