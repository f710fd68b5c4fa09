/* metadata.h -- whether a trace can be read at all, before anybody tries. */
#ifndef BSA_METADATA_H
#define BSA_METADATA_H

#include "bsa/err.h"

/* Whether the metadata in @directory has its end: 0, or BSA_E_INPUT. */
int bsa_metadata_whole(const char *directory, struct bsa_err *err);

#endif
