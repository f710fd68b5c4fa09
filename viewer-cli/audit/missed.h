/* missed.h -- findings about missed deadlines: one for each app that took the lane from others, and for each other cause. */
#ifndef BSV_MISSED_H
#define BSV_MISSED_H

#include "audit/findings.h"

int bsv_missed_add(struct bsv_findings *f, struct bsv_input *input, struct bsa_err *err);

#endif
