/*
 * packets.h -- reads LTTng's index of a recording: how much was written, when, and where events
 * were lost. Does not read the events.
 */
#ifndef BSV_PACKETS_H
#define BSV_PACKETS_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One buffer's: of a cpu, and of a user (or a process). */
struct bsv_stream {
	uint32_t cpu;
	uint64_t bytes, packets; /* bytes of events alone */
	uint64_t largest;        /* bytes of a packet, with its padding */
	uint64_t began, ended;   /* by the trace's clock, ns */
	uint64_t lost;           /* events */
	uint64_t lost_most;      /* the most events lost in consecutive packets */
	uint64_t rate;           /* bytes a second, in the packet that was filled most quickly */
	bool cut;                /* its file is shorter than the packets that are listed */
};

struct bsv_packets {
	struct bsv_stream *streams;
	size_t n;
	uint64_t files_bytes;  /* bytes of all files */
	unsigned cut_metadata; /* number of traces that cannot be read, because the end of their metadata is missing */
};

/* 0, and to be given to bsv_packets_fini; BSA_E_ENV: it cannot be read. A recording that is empty has no streams. */
int bsv_packets_read(struct bsv_packets *ret, const char *directory, struct bsa_err *err);
void bsv_packets_fini(struct bsv_packets *p);

/*
 * Streams that are not all there, of a recording that lasted until @until, in its clock's ns: how
 * many, and *@ret_whole, until when all of them are.
 */
size_t bsv_packets_short(const struct bsv_packets *p, uint64_t until, uint64_t *ret_whole);

/*
 * How many streams each channel of each buffer below @directory has, one for each cpu, by the names
 * of their files, none of which may be missing. 0 if no channel has a stream.
 */
unsigned bsv_streams_each(const char *directory);

/* How large the files below @directory are by now. */
uint64_t bsv_directory_bytes(const char *directory);

/* @directory and all that is below it are removed. */
void bsv_remove_tree(const char *directory);

#endif
