/*
 * lost.h -- what a recording lost, and which settings would have lost nothing.
 */
#ifndef BSV_LOST_H
#define BSV_LOST_H

#include "command.h"
#include "record/sizing.h"

/* burstscope doctor INPUT: an exit status, or negative. */
int bsv_doctor_recording(const struct bsv_call *call, struct bsa_err *err);

/* With which settings it was recorded is in a file of the recording, for when something was lost. */
void bsv_settings_write(const char *directory, enum bsv_detail detail, uint64_t buffer);

void bsv_settings_remove(const char *directory);

#endif
