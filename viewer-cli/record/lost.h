/* lost.h -- the losses of a recording, and the settings that would have lost nothing. */
#ifndef BSV_LOST_H
#define BSV_LOST_H

#include "base/command.h"
#include "record/sizing.h"

/* burstscope doctor INPUT: an exit status, or negative. */
int bsv_doctor_recording(const struct bsv_call *call, struct bsa_err *err);

/*
 * How something was recorded, in a file of the recording, for when something was lost: here, and
 * analyzer/decode/recorded.h.
 */
struct bsv_settings_kept {
	const char *session; /* LTTng's name of it */
	enum bsv_detail detail;
	uint64_t buffer;
	uint64_t began, ended; /* CLOCK_MONOTONIC; 0: not yet */
	int64_t boottime;      /* CLOCK_BOOTTIME less CLOCK_MONOTONIC; below 0: not the same all the time */
	const struct bsv_scope *scope;
};

/* Each time it is as long, so where there was room for the first one the last one needs none. */
void bsv_settings_write(const char *directory, const struct bsv_settings_kept *kept);

void bsv_settings_remove(const char *directory);

#endif
