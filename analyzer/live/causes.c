/* causes.c -- what causes of misses are called: for who shows figures, and reads no recording. */
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

const char *bsa_live_cause(unsigned cause)
{
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (labels[i].number == cause && !strcmp(labels[i].labels, "cause"))
			return labels[i].name;
	return NULL;
}
