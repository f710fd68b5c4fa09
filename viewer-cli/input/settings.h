/*
 * settings.h -- the settings of services and bursts in a recording: policy, lanes, polling, and all
 * others in service_rules and stream.
 */
#ifndef BSV_SETTINGS_H
#define BSV_SETTINGS_H

#include "input/input.h"

struct bsv_settings {
	struct bsv_setting {
		char *name, *value;
	} * of; /* ordered by name and value, each once */
	size_t n;
};

/* Append the settings of @input to *ret, which is owned by the caller, for bsv_settings_fini, also after an error. */
int bsv_settings_add(struct bsv_settings *ret, const struct bsv_input *input, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_settings_fini(struct bsv_settings *s);

/*
 * Has @name different values in @a and @b? The service measures at its start how long it polls,
 * with a slightly different result each time: such values differ if one is more than twice the
 * other.
 */
bool bsv_settings_differ(const struct bsv_settings *a, const struct bsv_settings *b, const char *name);

/* "fair", or "fair, fifo"; NULL: no setting of that name, or no memory. Owned by the caller. */
char *bsv_settings_values(const struct bsv_settings *s, const char *name);

#endif
