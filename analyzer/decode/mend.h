/*
 * mend.h -- the stream files of a trace, and a copy of its directory where one of them ends within a packet, or is none.
 *
 * A copy has links to the files, and indices of those that are cut, which make babeltrace2 read them up to where they end.
 */
#ifndef BSA_DECODE_MEND_H
#define BSA_DECODE_MEND_H

#include "bsa/err.h"
#include "scratch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packets of a file that follow each other without time between them, in the clock's cycles. */
struct bsa_stretch {
	uint64_t began, ended;
	uint64_t number; /* the first packet's */
	bool empty;      /* one packet without events, which begins and ends at one time */
};

/* One file: the stream it is of, if its headers say so. */
struct bsa_file {
	char *path;
	uint64_t stream_class, stream, bytes, packets;
	struct bsa_stretch *stretches; /* in the file's order */
	size_t n_stretches;
	uint32_t cpu;
	bool known, cut;
};

struct bsa_files {
	struct bsa_file *list;
	size_t n;
	size_t unwritten; /* streams that have a file and an index, and no packet in either */
	uint64_t ended;   /* the latest end that a packet says, in its clock's cycles */
	bool cut;         /* one of them is */
	bool stray;       /* there are files that are no streams; they are not in the list */
	bool by_lttng;    /* their headers are LTTng's own */
};

void bsa_files_fini(struct bsa_files *files); /* zeroes are fine */

/*
 * Look at the stream files of *@directory, and add them. If one is cut, or stray, *@directory is freed, and then that of a copy in
 * @scratch, which is made if there is none. 0; BSA_E_INPUT; BSA_E_ENV.
 */
int bsa_mend(char **directory, struct bsa_files *files, struct bsa_scratch *scratch, struct bsa_err *err);

#endif
