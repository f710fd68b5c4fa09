/*
 * advice.h -- advice that may reduce a cause, unless the service is already set up so.
 */
#ifndef BSV_ADVICE_H
#define BSV_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "input/input.h"

/*
 * Settings of the services of a recording, and whether events were lost. A setting counts if any
 * service ever had it.
 */
struct bsv_settings {
	bool known; /* whether the rules of a service were recorded; if not, no advice depends on them */
	bool fair, heeds_priority, preempts, saves, native, polls_always;
	bool lost;       /* whether the tracer dropped events that larger buffers would have kept */
	bool replayable; /* whether whatif may answer; it checks more, as which executions are complete */
};

/* The case that needs advice. Texts are borrowed; NULL: unknown, or not applicable. */
struct bsv_advised {
	const char *cause, *path, *priority, *culprit_priority;
	bool is_miss;    /* the cause of a missed deadline, and not of overhead */
	int64_t mean_ns; /* what the cause took of each execution that has it, on average; 0: unknown */
};

int bsv_settings_read(struct bsv_settings *ret, const struct bsv_input *input, struct bsa_err *err);

/* A sentence; NULL: no advice fits. It never recommends a setting that @settings has. */
const char *bsv_advice(const struct bsv_advised *what, const struct bsv_settings *settings);

#endif
