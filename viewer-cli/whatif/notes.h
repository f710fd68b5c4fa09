/* notes.h -- notes below the answers of burstscope whatif: what the recording leaves unknown. */
#ifndef BSV_WHATIF_NOTES_H
#define BSV_WHATIF_NOTES_H

#include "answer/answer.h"
#include "whatif/past.h"

/*
 * Did executions lose lanes while they waited for pages? Was the machine busy, or is that not
 * known? Adds no note on the machine where threads had a cpu for most of the known runs.
 */
void bsv_notes_machine(struct bsv_answer *answer, const struct bsv_past *past);

#endif
