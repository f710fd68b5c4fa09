/*
 * sim -- run a few threads over a weak memory, deterministically: what happens is a function of the seed.
 *
 * Threads are coroutines. Shared memory is what sim_shared() gave; in sources compiled with sim_atomics.h
 * included first, every atomic access to it, every fence and every memcpy goes through here. The simulator also
 * stands in for runtime/base/sys.c. The memory model, and what it leaves out, is described in sim.c.
 */
#ifndef NNB_MODEL_SIM_H
#define NNB_MODEL_SIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- for a scenario ---- */

/* Forget the last run. With @trace every step is printed. */
void sim_begin(uint64_t seed, bool trace);

/* @bytes of shared memory, zero, borrowed until the next sim_begin. Plain stores set it up, before sim_run only. */
void *sim_shared(const char *name, size_t bytes);

/* A thread for sim_run. */
void sim_spawn(const char *name, void (*body)(void));

/* Run all threads to their end. NULL, or what went wrong, borrowed until the next sim_begin. */
const char *sim_run(void);

/* Out of 0..@n-1, by the seed. */
uint32_t sim_random(uint32_t n);

/* From inside a thread: the run is over, and this is why. */
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Since the program began. */
struct sim_counts {
	uint64_t steps;
	uint64_t stale; /* loads of something else than the newest */
	uint64_t sleeps;
};
extern struct sim_counts sim_counts;

/* ---- for sim_atomics.h ---- */

enum sim_rmw { SIM_OR, SIM_AND, SIM_ADD, SIM_SUB };

uint64_t sim_load(const volatile void *p, size_t size, memory_order order, const char *at);
void sim_store(volatile void *p, size_t size, uint64_t value, memory_order order, const char *at);
uint64_t sim_rmw(enum sim_rmw op, volatile void *p, size_t size, uint64_t operand, memory_order order, const char *at);
uint64_t sim_split_rmw(enum sim_rmw op, volatile void *p, size_t size, uint64_t operand, memory_order order,
                       const char *at);
void sim_fence(memory_order order, const char *at);
void *sim_memcpy(void *dst, const void *src, size_t n, const char *at);

#endif
