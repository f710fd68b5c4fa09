/* labels.c -- see labels.h: for who shows figures, and reads no recording. */
#include "live/labels.h"

#include <string.h>

#include "bsa/live.h"

/* The names that views of the database give to numbers. */
#define REL_NAME(labels, name, number) { #labels, #name, number },
#define REL_LABELS(labels, names) names
static const struct {
	const char *labels, *name;
	unsigned number;
} labels[] = {
#include "store/labels.def"
};

const char *bsa_live_label(const char *of, unsigned number)
{
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (labels[i].number == number && !strcmp(labels[i].labels, of))
			return labels[i].name;
	return NULL;
}

const char *bsa_live_cause(unsigned cause)
{
	return bsa_live_label("cause", cause);
}

const char *bsa_live_phase(unsigned phase)
{
	return bsa_live_label("phase", phase);
}
