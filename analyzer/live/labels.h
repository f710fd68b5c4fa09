/*
 * labels.h -- the names that views of the database give to numbers (store/labels.def).
 */
#ifndef BSA_LIVE_LABELS_H
#define BSA_LIVE_LABELS_H

/* BSA_LABELS_status and so on: one for each set of names. */
#define REL_NAME(labels, name, number)
#define REL_LABELS(labels, names) BSA_LABELS_##labels,
enum bsa_live_labels {
#include "store/labels.def"
	BSA_LABELS
};

/* Borrowed for good. NULL: @of has no such name. It costs one look into a table: each execution asks for several. */
const char *bsa_live_label(enum bsa_live_labels of, unsigned number);

#endif
