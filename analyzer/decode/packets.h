/*
 * packets.h -- where the packets of a stream file are, by their headers: of LTTng's traces, and of babeltrace2's.
 *
 * babeltrace2 refuses a trace of which one file ends within a packet, and reads for ever where a packet is
 * empty by its header. So it is found out beforehand, and where that is so, an index is written that has it
 * read what is there: mend.h.
 *
 * TRUST  Headers of a file are checked against each other: the packets of a stream have ascending numbers,
 *        and none begins or ends before the one before it does. What is there twice is taken once. Of packets
 *        that contradict each other those are taken that most others agree with. LTTng's index of the file is
 *        a hint: it can prove that the file was longer, and no more.
 * HOLES  A disk that is full leaves a part of a packet, and once there is room again whole ones behind it. So
 *        where no packet begins the next one is looked for, and what is between is left out; the numbers show
 *        that it is missing.
 */
#ifndef BSA_DECODE_PACKETS_H
#define BSA_DECODE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_packet {
	uint64_t offset, bytes, content_bits;
	uint64_t began, ended, discarded, number;
};

struct bsa_packets {
	struct bsa_packet *list; /* by number, which is the order of the file */
	size_t n, room;
	uint64_t bytes; /* size of the file */
	uint64_t stream_class, stream;
	uint32_t cpu;   /* CPU of the last packet */
	uint64_t empty; /* content bits of a packet without an event */
	uint64_t ended; /* latest end of a packet, in cycles of its clock */
	bool known;     /* the first header is of one of these kinds; else there is nothing to be read */
	bool stray;     /* the file does not begin like a stream */
	bool cut;       /* the end is missing; of the last packet there may be a part */
	/* there are bytes that belong to none of the packets in the list: each is put to the packet before */
	bool uneven;
	size_t repeated, doubtful; /* packets that were left out: there already; in contradiction to others */
	uint64_t doubtful_began, doubtful_ended; /* range of the times in doubtful packets */
};

/*
 * The kind of headers, which a trace's metadata determines for all of its files. Unnumbered: as the sink
 * writes them from a source without packet numbers.
 */
enum bsa_headers { BSA_HEADERS_LTTNG, BSA_HEADERS_SINK, BSA_HEADERS_UNNUMBERED };
enum bsa_headers bsa_packets_headers(const char *metadata);

/* 0; -errno: it cannot be read, and there is nothing to end. */
int bsa_packets_read(struct bsa_packets *ret, const char *path, enum bsa_headers headers);
void bsa_packets_fini(struct bsa_packets *packets);

/*
 * @path and @other_path are of one stream, and @other goes before: what of @packets is there already is left
 * out, unless both may be there, as in snapshots that overlap (@may_repeat); and what contradicts @other. 0;
 * -errno.
 */
int bsa_packets_leave_out(struct bsa_packets *packets, const char *path, const struct bsa_packets *other,
                          const char *other_path, bool may_repeat);

/* The index at @path, compared with the packets of its file. */
enum bsa_index {
	BSA_INDEX_NONE,   /* there is no index */
	BSA_INDEX_SAME,   /* the same */
	BSA_INDEX_BEHIND, /* the same, as far as it goes */
	/* the same, and that there were more, until @ret_ended in the clock's cycles: the file is cut */
	BSA_INDEX_AHEAD,
	BSA_INDEX_WRONG /* something else, or it is no index */
};
enum bsa_index bsa_packets_compare_index(const struct bsa_packets *packets, const char *path, uint64_t *ret_ended);

/* As LTTng's index of the file, with which all its bytes are some packet's. 0; -errno. */
int bsa_packets_write_index(const struct bsa_packets *packets, const char *path);

#endif
