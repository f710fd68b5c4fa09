/*
 * mend.h -- the stream files of a trace, and a copy of its directory where not all of it can be believed.
 *
 * A copy has links to the files, and indices of our own, which make babeltrace2 read each packet that is to
 * be read, once, and up to where its file ends. It is made where a file is cut or is no stream, where packets
 * are left out (packets.h), and where LTTng's index of a file contradicts the file.
 *
 * Only regular files are opened. Links to such are followed: of the directory, of streams and indices, and of
 * the metadata.
 */
#ifndef BSA_DECODE_MEND_H
#define BSA_DECODE_MEND_H

#include "base/scratch.h"
#include "bsa/err.h"
#include "packets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packets of a file that follow each other without time between them, in the clock's cycles. */
struct bsa_stretch {
	uint64_t began, ended;
	uint64_t number, last_number; /* of the first and the last packet */
	bool empty;                   /* one packet without events, which begins and ends at one time */
};

/* The times that the header of a packet names, in the clock's cycles. */
struct bsa_span {
	uint64_t began, ended; /* ended UINT64_MAX: unknown */
};

/* A file, and the stream that its headers name, if they name one. */
struct bsa_file {
	char *path;
	uint64_t stream_class, stream, bytes, packets;
	struct bsa_stretch *stretches; /* in the file's order */
	size_t n_stretches;
	struct bsa_span *spans;                  /* one for each of its packets, in the file's order */
	struct bsa_packet first, last;           /* its first and last packet, if it has any */
	uint64_t doubtful_began, doubtful_ended; /* range of the times in doubtful packets */
	size_t directory;                        /* index of its directory among those of the trace */
	uint32_t cpu;
	bool known, cut;
};

struct bsa_files {
	struct bsa_file *list;
	size_t n, room;
	size_t unindexed; /* streams that have packets, and no index beside them: LTTng writes none of a snapshot */
	size_t unwritten; /* streams that have a file and an index, and no packet in either */
	uint64_t ended;   /* latest end of a packet, in cycles of its clock */
	size_t directories;
	size_t repeated, doubtful; /* packets that were left out: there already; in contradiction to others */
	size_t wrong_indices;
	size_t compared; /* pairs of files of one stream, of which neither has all its packets before the other's */
	bool cut;        /* one of the files is cut */
	bool stray;      /* there are files that are no streams; they are not in the list */
	bool uneven;     /* not all bytes of all streams are to be read, or an index is not to be believed */
	bool by_lttng;   /* their headers are LTTng's own */
};

void bsa_files_fini(struct bsa_files *files); /* zeroes are fine */

/*
 * Look at the stream files of *@directory, and add them. If one is cut, stray or uneven, *@directory is
 * freed, and then that of a copy in @scratch, which is made if there is none. 0; BSA_E_INPUT; BSA_E_ENV.
 */
int bsa_mend(char **directory, struct bsa_files *files, struct bsa_scratch *scratch, struct bsa_err *err);

#endif
