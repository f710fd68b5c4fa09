/*
 * settings.h -- what services and bursts of a recording were set to: policy, lanes, polling, and what else service_rules and stream have.
 */
#ifndef BSV_SETTINGS_H
#define BSV_SETTINGS_H

#include "input/input.h"

struct bsv_settings {
	struct bsv_setting {
		char *name, *value;
	} * of; /* by name, then value; each once */
	size_t n;
};

/* Append those of @input to *ret, which is owned by the caller, for bsv_settings_fini, on failure too. */
int bsv_settings_add(struct bsv_settings *ret, const struct bsv_input *input, struct bsa_err *err);

/* All 0 is fine. */
void bsv_settings_fini(struct bsv_settings *s);

/*
 * Whether the two sides have other values of it. How long a service polls is measured by the service itself when it starts, and differs a
 * little each time: that counts if one is more than twice the other.
 */
bool bsv_settings_differ(const struct bsv_settings *a, const struct bsv_settings *b, const char *name);

/* "fair", or "fair, fifo"; NULL: no setting of that name, or no memory. Owned by the caller. */
char *bsv_settings_values(const struct bsv_settings *s, const char *name);

#endif
