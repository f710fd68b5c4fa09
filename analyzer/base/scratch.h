/*
 * base/scratch.h -- a directory for as long as an import takes, below $TMPDIR; what a process that died has
 * left there is removed.
 *
 * The importer that uses a directory holds a lock on it. The kernel drops the lock with the process, so an
 * unlocked directory is left over.
 */
#ifndef BSA_BASE_SCRATCH_H
#define BSA_BASE_SCRATCH_H

#include "bsa/err.h"

/* All zeroes: no directory. */
struct bsa_scratch {
	char *path;
	int lock;
};

/* 0, also if there is one already; BSA_E_ENV. */
int bsa_scratch_make(struct bsa_scratch *scratch, struct bsa_err *err);

/* Remove it and all that is in it. None is fine. */
void bsa_scratch_remove(struct bsa_scratch *scratch);

/* Remove this user's directories that no process has locked. */
void bsa_scratch_clean(void);

#endif
