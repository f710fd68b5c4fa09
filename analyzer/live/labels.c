/*
 * labels.c -- makes the names of numbers from labels.def, for programs that show figures and read
 * no recording.
 */
#include "live/labels.h"

#include <stddef.h>

#include "bsa/live.h"

#define REL_NAME(labels, name, number) [number] = #name,
#define REL_LABELS(labels, names) static const char *const of_##labels[] = { names };
#include "store/labels.def"

static const struct {
	const char *const *names;
	size_t n;
} labels[] = {
#define REL_NAME(labels, name, number)
#define REL_LABELS(labels, names) { of_##labels, sizeof(of_##labels) / sizeof(*of_##labels) },
#include "store/labels.def"
};

const char *bsa_live_label(enum bsa_live_labels of, unsigned number)
{
	return number < labels[of].n ? labels[of].names[number] : NULL;
}

const char *bsa_live_cause(unsigned cause)
{
	return bsa_live_label(BSA_LABELS_cause, cause);
}

const char *bsa_live_phase(unsigned phase)
{
	return bsa_live_label(BSA_LABELS_phase, phase);
}
