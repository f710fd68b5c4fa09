/*
 * kernel.h -- reads the trace of a kernel, as LTTng's kernel tracer writes it: which thread each cpu ran,
 * which threads were woken, interrupts, and frequencies. The formats are those that lttng-modules documents:
 * sched_switch, sched_waking, irq_handler_entry, irq_handler_exit, power_cpu_frequency. Other events, and
 * events that lack a field, are left out.
 */
#ifndef BSA_DECODE_KERNEL_H
#define BSA_DECODE_KERNEL_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bsa_kernel_kind {
	BSA_KERNEL_SWITCH,    /* from tid to next */
	BSA_KERNEL_WAKING,    /* tid is ready to run from now on */
	BSA_KERNEL_IRQ_ENTRY, /* the cpu handles an interrupt */
	BSA_KERNEL_IRQ_EXIT,
	BSA_KERNEL_FREQUENCY, /* number: kHz */
	BSA_KERNEL_LOST       /* events were lost from began to at, of all cpus for all that is known */
};

enum { BSA_KERNEL_NAME = 17 };

struct bsa_kernel_event {
	uint64_t at, began; /* raw clock of the host, ns */
	uint64_t number;
	uint32_t cpu;
	uint32_t tid, next; /* tid 0: the cpu's idle thread */
	bool runnable;      /* in a switch: tid was still runnable */
	enum bsa_kernel_kind kind;
	char name[BSA_KERNEL_NAME]; /* name of thread next or of the interrupt; untrusted */
};

/*
 * The directories of kernel traces at or below @paths. Owned by the caller, as each of them; NULL if no directory has
 * one.
 */
char **bsa_kernel_find(const char *const *paths, size_t n_paths, size_t *ret_n);
void bsa_kernel_free(char **directories, size_t n);

/*
 * Call @each for each event, in the order of time; it returns false for no more. @clock_uuid: the clock that
 * the trace must have, "": any. 1; 0: it has another clock; BSA_E_INPUT: it cannot be read to its end;
 * BSA_E_ENV.
 */
int bsa_kernel_read(const char *directory, const char *clock_uuid,
                    bool (*each)(void *ctx, const struct bsa_kernel_event *event), void *ctx, struct bsa_err *err);

#endif
