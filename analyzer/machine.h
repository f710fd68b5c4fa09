/*
 * machine.h -- the work of the machine's cpus, from a kernel's trace, and the part of it that delayed an execution.
 *
 * WHAT FOR     The service reads how long its threads were ready and on no cpu, and reports it in delays[].
 *              Where a kernel's trace covers an execution of a burst, the same is summed up of it: the times
 *              from when the thread was woken, or was taken off a cpu unfinished, until a cpu ran it.
 *              bsa_machine_amend puts that in place of what the service reported.
 * WHICH THREAD No event has the thread that emitted it. But a burst has one thread in the service, and that
 *              thread ran on some cpu whenever it emitted an event: of the threads that ran at all of those
 *              times one is left after a few events. Until then, and where events of the kernel were lost,
 *              what the service reported remains.
 * MEMORY       Bounded: behind some millions of switches the trace covers nothing more.
 *
 * One thread.
 */
#ifndef BSA_MACHINE_H
#define BSA_MACHINE_H

#include "decode/kernel.h"
#include "fold/event.h"

struct bsa_machine;

enum machine_did { MACHINE_THREAD, MACHINE_IDLE, MACHINE_IRQ };

/* A stretch of time of a cpu. Interrupts lie within threads, or within idle time. */
struct bsa_machine_state {
	uint64_t began, ended; /* raw clock of the host */
	uint64_t khz;          /* 0: unknown */
	uint32_t cpu, tid;
	enum machine_did did;
	const char *name; /* name of the thread or the interrupt; untrusted. Borrowed for the call */
};

/* @report may be NULL. NULL: no memory. */
struct bsa_machine *bsa_machine_new(void (*report)(void *ctx, const struct bsa_machine_state *state), void *ctx);
struct bsa_machine *bsa_machine_free(struct bsa_machine *m); /* NULL is fine; returns NULL */

/*
 * The next event of the kernel, in the order of time, before all of those below; false: there is no more
 * room. @m: a struct bsa_machine.
 */
bool bsa_machine_take(void *m, const struct bsa_kernel_event *event);

/* Whether an event was taken. */
bool bsa_machine_has_any(const struct bsa_machine *m);

/* There are no more of them. */
void bsa_machine_taken(struct bsa_machine *m);

/* The next record, in the order of time: @e, or a copy that is borrowed until the next call. */
const struct bsa_event *bsa_machine_amend(struct bsa_machine *m, const struct bsa_event *e);

/* Executions whose delays the kernel's trace had. */
uint64_t bsa_machine_amended(const struct bsa_machine *m);

#endif
