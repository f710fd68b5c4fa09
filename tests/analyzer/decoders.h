/*
 * decoders.h -- both decoders over the same trace: their records, their counts and their refusals are to be the same.
 */
#ifndef ANALYZER_DECODERS_H
#define ANALYZER_DECODERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoders {
	bool quick;       /* the quick one understands it */
	int code;         /* 0: all of it was read; negative: both return this */
	uint64_t records; /* records that were read */
	uint64_t lost_events;
	bool cut;
	char differs[320]; /* "": nothing does */
};

/* The records of the trace, or traces, below @path. */
struct decoders decoders_compare(const char *path, unsigned threads);

#endif
