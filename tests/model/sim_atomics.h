/*
 * sim_atomics.h -- included before everything else (-include) in sources that run over the simulator:
 * replaces the atomics and memcpy. Only the operations that the queue uses are replaced; any other access
 * would order nothing, and the scenarios would fail.
 */
#ifndef NNB_MODEL_SIM_ATOMICS_H
#define NNB_MODEL_SIM_ATOMICS_H

#include <stdatomic.h>
#include <string.h>

#include "sim.h"

#define SIM_LINE(line) #line
#define SIM_AT_LINE(file, line) file ":" SIM_LINE(line)
#define SIM_AT SIM_AT_LINE(__FILE__, __LINE__)
#define SIM_VALUE(p) __typeof__((void)0, *(p)) /* the comma takes _Atomic and const off */
#define SIM_RMW(rmw, op, p, v, order)          /* a statement: its value may go unused */ \
	({ (SIM_VALUE(p)) rmw(op, (p), sizeof(*(p)), (uint64_t)(SIM_VALUE(p))(v), (order), SIM_AT); })

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_thread_fence
#undef memcpy

#define atomic_load_explicit(p, order) ((SIM_VALUE(p))sim_load((p), sizeof(*(p)), (order), SIM_AT))
#define atomic_store_explicit(p, v, order) sim_store((p), sizeof(*(p)), (uint64_t)(SIM_VALUE(p))(v), (order), SIM_AT)
#define atomic_fetch_or_explicit(p, v, order) SIM_RMW(sim_rmw, SIM_OR, p, v, order)
#define atomic_fetch_and_explicit(p, v, order) SIM_RMW(sim_rmw, SIM_AND, p, v, order)
#define atomic_fetch_add_explicit(p, v, order) SIM_RMW(sim_rmw, SIM_ADD, p, v, order)
#define atomic_fetch_sub_explicit(p, v, order) SIM_RMW(sim_rmw, SIM_SUB, p, v, order)
#define atomic_thread_fence(order) sim_fence((order), SIM_AT)
#define memcpy(dst, src, n) sim_memcpy((dst), (src), (n), SIM_AT)

/* For mutate.sh: the same in two steps, which is no read-modify-write. */
#define split_atomic_fetch_or_explicit(p, v, order) SIM_RMW(sim_split_rmw, SIM_OR, p, v, order)
#define split_atomic_fetch_and_explicit(p, v, order) SIM_RMW(sim_split_rmw, SIM_AND, p, v, order)
#define split_atomic_fetch_add_explicit(p, v, order) SIM_RMW(sim_split_rmw, SIM_ADD, p, v, order)
#define split_atomic_fetch_sub_explicit(p, v, order) SIM_RMW(sim_split_rmw, SIM_SUB, p, v, order)

#endif
