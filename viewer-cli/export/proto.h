/*
 * proto.h -- protobuf's wire format, written into a buffer: the few field types that a Perfetto trace needs.
 *
 * A buffer grows as needed. Without memory, `failed` is set and later writes do nothing; the
 * function that writes the buffer out reports it.
 */
#ifndef BSV_PROTO_H
#define BSV_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsv_proto {
	uint8_t *bytes;
	size_t n, room;
	bool failed;
};

/* All 0 is fine. Leaves the buffer empty. */
void bsv_proto_fini(struct bsv_proto *p);

void bsv_proto_varint(struct bsv_proto *p, unsigned field, uint64_t value);
void bsv_proto_fixed64(struct bsv_proto *p, unsigned field, uint64_t value);
void bsv_proto_bytes(struct bsv_proto *p, unsigned field, const void *bytes, size_t n);

/*
 * A string field holds UTF-8 only: each byte that is not part of any becomes '?', and so does what
 * a terminal would obey.
 */
void bsv_proto_string(struct bsv_proto *p, unsigned field, const char *text);

/*
 * A message inside: fields between open and close belong to it. bsv_proto_open returns what
 * bsv_proto_close takes. Messages nest, and the inner ones are closed first.
 */
size_t bsv_proto_open(struct bsv_proto *p, unsigned field);
void bsv_proto_close(struct bsv_proto *p, size_t opened);

#endif
