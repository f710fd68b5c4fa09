/* metadata.h -- checks whether a trace can be read, before it is read. */
#ifndef BSA_METADATA_H
#define BSA_METADATA_H

#include "bsa/err.h"

/* Whether the metadata in @directory has its end: 0, or BSA_E_INPUT. */
int bsa_metadata_whole(const char *directory, struct bsa_err *err);

#endif
