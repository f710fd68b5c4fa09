/*
 * labels.h -- the names that views of the database give to numbers (store/labels.def).
 */
#ifndef BSA_LIVE_LABELS_H
#define BSA_LIVE_LABELS_H

/* @of: "status". Borrowed for good. NULL: it has no such name. */
const char *bsa_live_label(const char *of, unsigned number);

#endif
