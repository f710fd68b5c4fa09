/*
 * packing.c -- looks at the deadline while XNNPACK packs weights, in a handler of SIGSEGV.
 *
 * XNNPACK packs an operator's weights in one call, some GB/s; and it calls nothing of ours meanwhile but the
 * allocator. So a large block that it allocates is without access at first, but for its ends. The first write to each
 * PART of it is a fault. The handler gives access to that part and looks; when the look ends the preparation, the
 * handler jumps back to nnbx_packing. XNNPACK clears a block before it packs weights: that is why a part can be
 * inaccessible twice. At the end the whole block has access again, and is one mapping with its neighbours as before.
 * A part takes a millisecond or so to pack, and a fault some us.
 *
 * A jump out of XNNPACK's packing is safe: there it only computes, holds no lock and has no memory but what came from
 * the allocator, which keeps a list of that. All faults are in such places: nothing else has the block's address yet.
 *
 * CONCURRENCY  Everything belongs to the thread that packs: the list, the place to jump to, the blocks. The handler
 *           runs on the thread whose write it was. Any number of threads may pack at a time. The handler is the
 *           process's only while one of them has such a block: the first installs it, the last puts back what was
 *           there. A program that replaces it in between gets the signal: it must not do so while it prepares a
 *           model.
 * TRUST     The handler answers only for writes to this thread's own blocks. Every other fault is passed on.
 */
#include "packing.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/look.h"
#include "memory.h"

enum {
	PART = 1 << 20,         /* bytes between two looks */
	WATCHED_MIN = 2 * PART, /* smaller blocks are packed without a look */
	BLOCKS_MAX = 16,        /* limit of blocks of one call; XNNPACK makes three */
	CALL_UNITS = 5000
};

struct block {
	void *at;
	uintptr_t start, end; /* range that is inaccessible at first; may be empty */
	uintptr_t part;       /* address of the last part with a fault; 0 before the first fault */
	bool packs;           /* parts that have become accessible stay accessible */
};

struct packing {
	sigjmp_buf out;
	bool looks;   /* body is running, and a look is under way */
	bool watches; /* this thread counts among the watchers; before: its signal mask until then */
	sigset_t before;
	struct block blocks[BLOCKS_MAX];
	unsigned n;
};

/* NULL: this thread packs nothing, or packs without looks. */
static _Thread_local struct packing *packing __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static unsigned watchers;                                /* threads with inaccessible blocks */
static struct sigaction previous;                        /* the handler before; constant while there are watchers */

/* ---- access ---- */

/* This calls the kernel directly, because POSIX does not list mprotect as async-signal-safe. */
static bool pages_protect(uintptr_t start, uintptr_t end, int prot)
{
	return start >= end || syscall(SYS_mprotect, start, end - start, (long)prot) == 0;
}

static bool pages_permit(uintptr_t start, uintptr_t end)
{
	return pages_protect(start, end, PROT_READ | PROT_WRITE);
}

static struct block *block_of(struct packing *p, uintptr_t address)
{
	for (unsigned i = 0; i < p->n; i++)
		if (address >= p->blocks[i].start && address < p->blocks[i].end)
			return &p->blocks[i];
	return NULL;
}

static uintptr_t part_of(uintptr_t address)
{
	return address & ~(uintptr_t)(PART - 1);
}

static bool set_part(const struct block *b, uintptr_t part, int prot)
{
	uintptr_t end = part + PART;

	return pages_protect(part > b->start ? part : b->start, end < b->end ? end : b->end, prot);
}

/*
 * A write to @address, in a part that is inaccessible. While parts come one after the other, they are cleared: those
 * that have been become inaccessible again, but for the last, and their next write is a fault, too. The first fault
 * at a lower address than the one before shows that weights are packed. False: neither the part nor the whole can be
 * made accessible, because there are too many mappings.
 */
static bool permit_part(struct block *b, uintptr_t address)
{
	uintptr_t part = part_of(address);

	b->packs |= part < b->part;
	if (!b->packs && b->part && part_of(b->start) <= b->part - PART)
		set_part(b, b->part - PART, PROT_NONE);
	b->part = part;
	return set_part(b, part, PROT_READ | PROT_WRITE) || pages_permit(b->start, b->end);
}

/* ---- the handler ---- */

/* As the kernel would have called it. A fault that stays comes again, and ends the process. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	bool ends = previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN;

	if (ends && (info->si_code > 0 || previous.sa_handler == SIG_DFL))
		signal(sig, SIG_DFL);
	if (ends && info->si_code <= 0 && previous.sa_handler == SIG_DFL)
		raise(sig); /* the signal was sent by a process, and does not come again */
	else if (ends)
		return;
	else if (previous.sa_flags & SA_SIGINFO)
		previous.sa_sigaction(sig, info, context);
	else
		previous.sa_handler(sig);
}

static void on_sigsegv(int sig, siginfo_t *info, void *context)
{
	struct packing *p = packing;
	uintptr_t address = (uintptr_t)info->si_addr;
	struct block *b = p && p->looks && info->si_code == SEGV_ACCERR ? block_of(p, address) : NULL;
	int saved = errno;

	if (!b || !permit_part(b, address))
		pass_on(sig, info, context);
	else if (!nnbx_work_look())
		siglongjmp(p->out, 1);
	errno = saved;
}

/* Called for the first watcher. */
static void handler_install(void)
{
	struct sigaction ours = { .sa_sigaction = on_sigsegv, .sa_flags = SA_SIGINFO | SA_NODEFER };

	pthread_mutex_lock(&lock);
	if (watchers++ == 0) {
		sigaction(SIGSEGV, NULL, &previous);
		sigaction(SIGSEGV, &ours, NULL);
	}
	pthread_mutex_unlock(&lock);
}

/* Called for the last user. If another handler was installed over ours meanwhile, it stays. */
static void handler_uninstall(void)
{
	struct sigaction now;

	pthread_mutex_lock(&lock);
	assert(watchers > 0);
	if (--watchers == 0 && !sigaction(SIGSEGV, NULL, &now) && now.sa_flags & SA_SIGINFO &&
	    now.sa_sigaction == on_sigsegv)
		sigaction(SIGSEGV, &previous, NULL);
	pthread_mutex_unlock(&lock);
}

/* From now on this thread has faults: unblock SIGSEGV, because a fault in a thread that blocks it ends the process. */
static void watcher_begin(struct packing *p)
{
	sigset_t faults;

	if (p->watches)
		return;
	handler_install();
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	pthread_sigmask(SIG_UNBLOCK, &faults, &p->before);
	p->watches = true;
}

/* ---- what is allocated ---- */

static void block_watch(struct packing *p, struct block *b, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = ((uintptr_t)b->at + page - 1) & ~(page - 1),
		  end = ((uintptr_t)b->at + bytes) & ~(page - 1);

	if (bytes < WATCHED_MIN)
		return;
	watcher_begin(p);
	if (pages_protect(start, end, PROT_NONE)) {
		b->start = start;
		b->end = end;
	}
}

bool nnbx_packing_allocated(void *at, size_t bytes)
{
	struct packing *p = packing;

	if (!p || !p->looks)
		return true;
	assert(p->n <= BLOCKS_MAX);
	if (p->n == BLOCKS_MAX)
		return false;
	p->blocks[p->n] = (struct block){ .at = at };
	block_watch(p, &p->blocks[p->n++], bytes);
	return true;
}

void nnbx_packing_freed(const void *at)
{
	struct packing *p = packing;

	for (unsigned i = 0; p && i < p->n; i++)
		if (p->blocks[i].at == at) {
			pages_permit(p->blocks[i].start, p->blocks[i].end);
			p->blocks[i] = p->blocks[--p->n];
			return;
		}
}

/* ---- a call ---- */

/* A function of its own, because variables of the function that sets the jump are undefined after it. */
static void call_watched(struct packing *p, void (*body)(void *arg), void *arg)
{
	packing = p;
	p->looks = true;
	if (!sigsetjmp(p->out, 0))
		body(arg);
	p->looks = false;
}

bool nnbx_packing(void (*body)(void *arg), void (*undo)(void *arg), void *arg)
{
	struct packing p = { .n = 0 };

	if (!nnbx_work.look) {
		body(arg);
		return true;
	}
	if (nnbx_worked(CALL_UNITS)) {
		call_watched(&p, body, arg);
		for (unsigned i = 0; i < p.n; i++) {
			pages_permit(p.blocks[i].start, p.blocks[i].end);
			p.blocks[i].start = p.blocks[i].end = 0;
		}
		if (p.watches) {
			pthread_sigmask(SIG_SETMASK, &p.before, NULL);
			handler_uninstall();
			p.watches = false;
		}
	}
	if (nnbx_work.stopped) {
		undo(arg);
		while (p.n)
			nnbx_allocator.aligned_deallocate(NULL, p.blocks[p.n - 1].at);
	}
	packing = NULL;
	return !nnbx_work.stopped;
}
