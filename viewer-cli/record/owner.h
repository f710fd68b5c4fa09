/* owner.h -- whether another user could replace what is written into a directory. */
#ifndef BSV_RECORD_OWNER_H
#define BSV_RECORD_OWNER_H

#include "bsa/err.h"

/*
 * 0; BSA_E_ENV: @directory is another user's, or all users or users of a group may write to it, or
 * it is not a directory. @name: as it is called in @err.
 */
int bsv_check_owner(const char *directory, const char *name, struct bsa_err *err);

#endif
