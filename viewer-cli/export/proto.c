/* proto.c -- writes the fields of protobuf messages into a buffer. */
#include "export/proto.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"

enum { VARINT, FIXED64, DELIMITED }; /* wire types */

enum { VARINT_MOST = 10, FIRST_ROOM = 4096 };

/* The length of a message is known when it is closed. It is given one byte, and moved if it needs more. */
enum { LENGTH_ROOM = 1 };

void bsv_proto_fini(struct bsv_proto *p)
{
	free(p->bytes);
	*p = (struct bsv_proto){ 0 };
}

static bool proto_make_room(struct bsv_proto *p, size_t n)
{
	size_t room = p->room ? p->room : FIRST_ROOM;
	uint8_t *bytes;

	if (p->n + n <= p->room)
		return true;
	if (p->failed)
		return false;
	while (room < p->n + n)
		room *= 2;
	bytes = realloc(p->bytes, room);
	if (!bytes) {
		p->failed = true;
		return false;
	}
	p->bytes = bytes;
	p->room = room;
	return true;
}

/* There is room for it. */
static size_t put_varint(uint8_t *to, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = (uint8_t)(value | 0x80);
	to[n++] = (uint8_t)value;
	return n;
}

static void put_tag(struct bsv_proto *p, unsigned field, unsigned type)
{
	p->n += put_varint(p->bytes + p->n, (uint64_t)field << 3 | type);
}

void bsv_proto_varint(struct bsv_proto *p, unsigned field, uint64_t value)
{
	if (!proto_make_room(p, 2 * VARINT_MOST))
		return;
	put_tag(p, field, VARINT);
	p->n += put_varint(p->bytes + p->n, value);
}

void bsv_proto_fixed64(struct bsv_proto *p, unsigned field, uint64_t value)
{
	if (!proto_make_room(p, VARINT_MOST + sizeof(value)))
		return;
	put_tag(p, field, FIXED64);
	for (size_t i = 0; i < sizeof(value); i++)
		p->bytes[p->n++] = (uint8_t)(value >> (8 * i));
}

void bsv_proto_bytes(struct bsv_proto *p, unsigned field, const void *bytes, size_t n)
{
	if (!proto_make_room(p, 2 * VARINT_MOST + n))
		return;
	put_tag(p, field, DELIMITED);
	p->n += put_varint(p->bytes + p->n, n);
	if (n)
		memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

void bsv_proto_string(struct bsv_proto *p, unsigned field, const char *text)
{
	size_t left = strlen(text), length;
	uint8_t *to;
	uint32_t c;

	bsv_proto_bytes(p, field, text, left);
	if (p->failed)
		return;
	for (to = p->bytes + p->n - left; left; text += length, to += length, left -= length) {
		length = bsv_letter(text, left, &c);
		if (!length || bsv_obeyed(c))
			memset(to, '?', length ? length : 1);
		length = length ? length : 1;
	}
}

size_t bsv_proto_open(struct bsv_proto *p, unsigned field)
{
	if (!proto_make_room(p, VARINT_MOST + LENGTH_ROOM))
		return 0;
	put_tag(p, field, DELIMITED);
	p->n += LENGTH_ROOM;
	return p->n;
}

void bsv_proto_close(struct bsv_proto *p, size_t opened)
{
	uint8_t length[VARINT_MOST];
	size_t n;

	if (p->failed || !proto_make_room(p, VARINT_MOST))
		return;
	n = put_varint(length, p->n - opened);
	if (n > LENGTH_ROOM)
		memmove(p->bytes + opened + n - LENGTH_ROOM, p->bytes + opened, p->n - opened);
	memcpy(p->bytes + opened - LENGTH_ROOM, length, n);
	p->n += n - LENGTH_ROOM;
}
