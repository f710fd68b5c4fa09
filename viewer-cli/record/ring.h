/*
 * ring.h -- where a session is recorded to that is read while it records, and not kept: a directory
 * in memory, of a bounded size.
 *
 * CRASH  It is a scratch directory (record/scratch.h): the next one of ours to record removes it.
 */
#ifndef BSV_RECORD_RING_H
#define BSV_RECORD_RING_H

#include "record/session.h"

enum { BSV_RING_USUAL = 32 << 20, BSV_RING_LEAST = 1 << 20 }; /* bytes, for each cpu and user */
#define BSV_RING_MOST (UINT64_C(1) << 34)

/*
 * Below XDG_RUNTIME_DIR or /dev/shm if there is room for four times @ring on each cpu, otherwise
 * below TMPDIR or /tmp. The caller removes it (bsv_remove_tree). BSA_E_ENV.
 */
int bsv_ring_make(char ret[PATH_MAX], uint64_t ring, struct bsa_err *err);

/* Tracefiles that keep the latest @ring bytes, and are written at least every @timer_us. */
struct bsv_live_session bsv_ring_session(uint64_t ring, unsigned timer_us);

#endif
