/*
 * packets.h -- where the packets of a stream file are, by their headers: of LTTng's traces, and of babeltrace2's.
 *
 * babeltrace2 refuses a trace of which one file ends within a packet, and reads for ever where one says that it is empty. So it
 * is found out beforehand, and where that is so, an index is written that has it read what is there: mend.h.
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
	struct bsa_packet *list;
	size_t n, room;
	uint64_t bytes; /* of the file */
	uint64_t stream_class, stream;
	uint32_t cpu;   /* of the last packet */
	uint64_t empty; /* content bits of a packet without an event */
	uint64_t ended; /* the latest end that a packet says, in its clock's cycles */
	bool known;     /* the first header is of one of these kinds; else there is nothing to be read */
	bool stray;     /* it does not even begin like one: it is no stream */
	bool cut;       /* not all of the file is whole packets; of the last one there may be a part */
};

/* Whose headers they are; a trace's metadata says it for all of its files. */
enum bsa_headers { BSA_HEADERS_LTTNG, BSA_HEADERS_SINK };
enum bsa_headers bsa_packets_headers(const char *metadata);

/* 0; -errno: it cannot be read, and there is nothing to end. */
int bsa_packets_read(struct bsa_packets *ret, const char *path, enum bsa_headers headers);
void bsa_packets_fini(struct bsa_packets *packets);

/* How many packets an index has, and when the last one ends, in the clock's cycles. False: it is no index of LTTng's. */
struct bsa_index_end {
	uint64_t n, ended;
};
bool bsa_packets_index_end(struct bsa_index_end *ret, const char *path);

/* As LTTng's index of the file, with which all its bytes are some packet's. 0; -errno. */
int bsa_packets_write_index(const struct bsa_packets *packets, const char *path);

#endif
