/*
 * advice.h -- what may make a cause smaller, where the service does not do that already.
 */
#ifndef BSV_ADVICE_H
#define BSV_ADVICE_H

#include <stdbool.h>

#include "input/input.h"

/* What the services of a recording were set to, and what was lost. A setting counts if any of them ever had it. */
struct bsv_settings {
	bool known; /* the rules of a service were recorded; otherwise no advice is about them */
	bool fair, heeds_priority, preempts, saves, native, polls_always;
	bool lost; /* the tracer dropped events, which larger buffers would have kept */
};

/* What the advice is about. Texts are borrowed; NULL: unknown, or there is none. */
struct bsv_advised {
	const char *cause, *path, *priority, *culprit_priority;
};

int bsv_settings_read(struct bsv_settings *ret, const struct bsv_input *input, struct bsa_err *err);

/* A sentence; NULL: none fits. It never recommends a setting that @settings has. */
const char *bsv_advice(const struct bsv_advised *what, const struct bsv_settings *settings);

#endif
