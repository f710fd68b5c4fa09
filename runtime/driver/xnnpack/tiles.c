/*
 * tiles.c -- XNNPACK's loops: the functions of libpthreadpool, for one thread, with a check between two tiles.
 *
 * The driver exports these functions. It is loaded before its libraries, so that XNNPACK, which is one of them,
 * finds these functions first. If a program has loaded libpthreadpool before, XNNPACK uses that one, and there is no
 * check (nnbx_tiles_ours).
 *
 * Without a pool of threads libpthreadpool calls the tasks one after the other, in this order, and with denormals
 * flushed if asked: results are the same to the last bit (test_cancel).
 */
#include "tiles.h"

#include <pthreadpool.h>
#include <stdatomic.h>
#include <stdint.h>

#include "kernels/look.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define OURS __attribute__((visibility("default")))

static _Thread_local size_t threads_wanted __attribute__((tls_model("initial-exec")));
static atomic_bool ours;

void nnbx_tiles_for(size_t threads)
{
	threads_wanted = threads;
}

bool nnbx_tiles_ours(void)
{
	return atomic_load_explicit(&ours, memory_order_relaxed);
}

OURS size_t pthreadpool_get_threads_count(pthreadpool_t pool)
{
	(void)pool;
	atomic_store_explicit(&ours, true, memory_order_relaxed);
	return threads_wanted ? threads_wanted : 1;
}

/* ---- denormals ---- */

#if defined(__x86_64__)
enum { FLUSH = 0x8040 }; /* FTZ and DAZ */

static uint64_t flush_denormals(uint32_t flags)
{
	uint32_t before = _mm_getcsr();

	if (flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS)
		_mm_setcsr(before | FLUSH);
	return before;
}

static void restore_denormals(uint32_t flags, uint64_t before)
{
	if (flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS)
		_mm_setcsr((uint32_t)before);
}
#elif defined(__aarch64__)
enum { FLUSH = 1 << 24 }; /* FZ */

static uint64_t flush_denormals(uint32_t flags)
{
	uint64_t before;

	__asm__ volatile("mrs %0, fpcr" : "=r"(before));
	if (flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS)
		__asm__ volatile("msr fpcr, %0" : : "r"(before | FLUSH));
	return before;
}

static void restore_denormals(uint32_t flags, uint64_t before)
{
	if (flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS)
		__asm__ volatile("msr fpcr, %0" : : "r"(before));
}
#else
#error "how are denormals flushed here?"
#endif

/* ---- looks ---- */

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Announce the work of a tile. False: the run was stopped, so do not compute it. */
static inline bool tile_worked(void)
{
	return nnbx_worked(nnbx_work.tile);
}

static inline bool goes_on(void)
{
	return !nnbx_work.stopped;
}

/* ---- the loops ---- */

OURS void pthreadpool_parallelize_1d(pthreadpool_t pool, pthreadpool_task_1d_t task, void *context, size_t range_i,
                                     uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && tile_worked(); i++)
		task(context, i);
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_1d_tile_1d(pthreadpool_t pool, pthreadpool_task_1d_tile_1d_t task, void *context,
                                             size_t range_i, size_t tile_i, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && tile_worked(); i += tile_i)
		task(context, i, least_of(range_i - i, tile_i));
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_2d(pthreadpool_t pool, pthreadpool_task_2d_t task, void *context, size_t range_i,
                                     size_t range_j, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && tile_worked(); j++)
			task(context, i, j);
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_2d_tile_1d(pthreadpool_t pool, pthreadpool_task_2d_tile_1d_t task, void *context,
                                             size_t range_i, size_t range_j, size_t tile_j, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && tile_worked(); j += tile_j)
			task(context, i, j, least_of(range_j - j, tile_j));
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_2d_tile_2d(pthreadpool_t pool, pthreadpool_task_2d_tile_2d_t task, void *context,
                                             size_t range_i, size_t range_j, size_t tile_i, size_t tile_j,
                                             uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i += tile_i)
		for (size_t j = 0; j < range_j && tile_worked(); j += tile_j)
			task(context, i, j, least_of(range_i - i, tile_i), least_of(range_j - j, tile_j));
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_3d(pthreadpool_t pool, pthreadpool_task_3d_t task, void *context, size_t range_i,
                                     size_t range_j, size_t range_k, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && goes_on(); j++)
			for (size_t k = 0; k < range_k && tile_worked(); k++)
				task(context, i, j, k);
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_3d_tile_2d(pthreadpool_t pool, pthreadpool_task_3d_tile_2d_t task, void *context,
                                             size_t range_i, size_t range_j, size_t range_k, size_t tile_j,
                                             size_t tile_k, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && goes_on(); j += tile_j)
			for (size_t k = 0; k < range_k && tile_worked(); k += tile_k)
				task(context, i, j, k, least_of(range_j - j, tile_j), least_of(range_k - k, tile_k));
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_4d(pthreadpool_t pool, pthreadpool_task_4d_t task, void *context, size_t range_i,
                                     size_t range_j, size_t range_k, size_t range_l, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && goes_on(); j++)
			for (size_t k = 0; k < range_k && goes_on(); k++)
				for (size_t l = 0; l < range_l && tile_worked(); l++)
					task(context, i, j, k, l);
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_4d_tile_2d(pthreadpool_t pool, pthreadpool_task_4d_tile_2d_t task, void *context,
                                             size_t range_i, size_t range_j, size_t range_k, size_t range_l,
                                             size_t tile_k, size_t tile_l, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && goes_on(); j++)
			for (size_t k = 0; k < range_k && goes_on(); k += tile_k)
				for (size_t l = 0; l < range_l && tile_worked(); l += tile_l)
					task(context, i, j, k, l, least_of(range_k - k, tile_k),
					     least_of(range_l - l, tile_l));
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_5d(pthreadpool_t pool, pthreadpool_task_5d_t task, void *context, size_t range_i,
                                     size_t range_j, size_t range_k, size_t range_l, size_t range_m, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && goes_on(); j++)
			for (size_t k = 0; k < range_k && goes_on(); k++)
				for (size_t l = 0; l < range_l && goes_on(); l++)
					for (size_t m = 0; m < range_m && tile_worked(); m++)
						task(context, i, j, k, l, m);
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_5d_tile_2d(pthreadpool_t pool, pthreadpool_task_5d_tile_2d_t task, void *context,
                                             size_t range_i, size_t range_j, size_t range_k, size_t range_l,
                                             size_t range_m, size_t tile_l, size_t tile_m, uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && goes_on(); j++)
			for (size_t k = 0; k < range_k && goes_on(); k++)
				for (size_t l = 0; l < range_l && goes_on(); l += tile_l)
					for (size_t m = 0; m < range_m && tile_worked(); m += tile_m)
						task(context, i, j, k, l, m, least_of(range_l - l, tile_l),
						     least_of(range_m - m, tile_m));
	restore_denormals(flags, before);
}

OURS void pthreadpool_parallelize_6d_tile_2d(pthreadpool_t pool, pthreadpool_task_6d_tile_2d_t task, void *context,
                                             size_t range_i, size_t range_j, size_t range_k, size_t range_l,
                                             size_t range_m, size_t range_n, size_t tile_m, size_t tile_n,
                                             uint32_t flags)
{
	uint64_t before = flush_denormals(flags);

	(void)pool;
	for (size_t i = 0; i < range_i && goes_on(); i++)
		for (size_t j = 0; j < range_j && goes_on(); j++)
			for (size_t k = 0; k < range_k && goes_on(); k++)
				for (size_t l = 0; l < range_l && goes_on(); l++)
					for (size_t m = 0; m < range_m && goes_on(); m += tile_m)
						for (size_t n = 0; n < range_n && tile_worked(); n += tile_n)
							task(context, i, j, k, l, m, n, least_of(range_m - m, tile_m),
							     least_of(range_n - n, tile_n));
	restore_denormals(flags, before);
}
