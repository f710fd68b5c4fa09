/*
 * sim -- run a few threads over a weak memory, deterministically: the seed decides everything.
 *
 * Threads are coroutines. Shared memory comes from sim_shared(); in sources compiled with sim_atomics.h
 * included first, every atomic access to it, every fence and every memcpy goes through here. The simulator
 * also stands in for runtime/base/sys.c. sim.c describes the memory model and its limits.
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

/* Add a thread for sim_run. */
void sim_spawn(const char *name, void (*body)(void));

/* Run all threads to their end. NULL, or the violation, borrowed until the next sim_begin. */
const char *sim_run(void);

/* A number from 0 to @n-1, by the seed. */
uint32_t sim_random(uint32_t n);

/* From inside a thread: end the run with this violation. */
_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Counts since the program began. */
struct sim_counts {
	uint64_t steps;
	uint64_t stale; /* loads that did not read the newest message */
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
