/*
 * services.h -- finds, from the records of a clock group, services with the same numbers, and services that
 * were not recorded any more.
 *
 * SAME NUMBERS  The upper 12 bits of every number are the instance of its service, which is random: one of
 *               4095. The process and the time of its start distinguish services with the same instance.
 *               A service may report itself long after it began, or twice, first as beginning now and then with
 *               its time: one process is one service as long as both can be true. Executions of two services can be
 *               distinguished only if the first service had no client any more when the second one began;
 *               otherwise no event but the two reports tells whose it is, and there is no part of the instance's
 *               executions that could be kept without those of the other service among them.
 * SILENT        `lttng stop` ends the recording of one process after another. If a client gets an answer to
 *               an execution that it submitted after the last event of the service, the service still ran,
 *               and was not recorded any more. The answer about a fenced execution proves nothing, because
 *               its run comes after it. A service that emits nothing but summaries emits each after the
 *               answer, so there one answer proves little; two of one burst prove that a summary lies between
 *               them.
 */
#ifndef BSA_SERVICES_H
#define BSA_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "bsa/err.h"
#include "fold/event.h"

struct bsa_services;

/* NULL: no memory. */
struct bsa_services *bsa_services_new(void);

/* NULL is fine. Returns NULL. */
struct bsa_services *bsa_services_free(struct bsa_services *services);

/* A service that was not recorded from @began on, while an app was answered until @ended. */
struct bsa_services_silence {
	uint64_t began, ended;
	uint32_t pid, trace; /* 0: unknown */
	uint32_t instance;
};

/* The next record of one clock. 0, or negative: its contents cannot belong to one service alone; or no memory. */
int bsa_services_event(struct bsa_services *services, const struct bsa_event *e, struct bsa_err *err);

/* Call after the last record: each silence, the one after *from; 0 at first. False: there are no more. */
bool bsa_services_silence(const struct bsa_services *services, uint32_t *from, struct bsa_services_silence *ret);

#endif
