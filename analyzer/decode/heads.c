/* heads.c -- see heads.h. */
#include "heads.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint32_t magic = 0xc1fc1fc1, index_magic = 0xc1f1dcc1;
static const uint64_t bits_max = UINT64_C(1) << 34; /* LTTng's packets are no larger */

enum { INDEX_ENTRY = 9, INDEX_HEADER = 4 };

static uint64_t number(const uint8_t *bytes, struct bsa_spot spot, uint64_t none)
{
	uint64_t value = 0;

	if (!spot.bytes)
		return none;
	memcpy(&value, bytes + spot.at, spot.bytes); /* little-endian, both the trace and the host */
	return value;
}

static bool makes_sense(const struct bsa_packet_head *head, uint64_t packet_bits, uint64_t content_bits)
{
	return packet_bits % 8 == 0 && content_bits % 8 == 0 && packet_bits <= bits_max &&
	       content_bits <= packet_bits && head->content >= head->stream->head && head->began <= head->ended &&
	       head->ended != UINT64_MAX;
}

bool bsa_packet_head_read(struct bsa_packet_head *ret, const struct bsa_recipe *recipe, const uint8_t *bytes, size_t n)
{
	const struct bsa_recipe_stream *stream;
	struct bsa_packet_head head;
	uint64_t cpu, packet_bits, content_bits;

	if (n < (size_t)recipe->stream.at + recipe->stream.bytes || n < (size_t)recipe->magic.at + recipe->magic.bytes)
		return false;
	stream = bsa_recipe_stream(recipe, number(bytes, recipe->stream, 0));
	if (number(bytes, recipe->magic, 0) != magic || !stream || n < stream->head ||
	    (recipe->has_uuid && memcmp(bytes + recipe->uuid_at, recipe->uuid, sizeof(recipe->uuid)) != 0))
		return false;
	packet_bits = number(bytes, stream->packet_bits, 0);
	content_bits = number(bytes, stream->content_bits, 0);
	cpu = number(bytes, stream->cpu, UINT32_MAX);
	head = (struct bsa_packet_head){ .stream = stream,
		                         .instance = number(bytes, recipe->instance, 0),
		                         .bytes = packet_bits / 8,
		                         .content = content_bits / 8,
		                         .began = number(bytes, stream->began, 0),
		                         .ended = number(bytes, stream->ended, 0),
		                         .discarded = number(bytes, stream->discarded, BSA_NEVER),
		                         .number = number(bytes, stream->number, BSA_NEVER),
		                         .cpu = cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX };
	if (!makes_sense(&head, packet_bits, content_bits) ||
	    (stream->discarded.bytes && head.discarded == BSA_NEVER) ||
	    (stream->number.bytes && head.number == BSA_NEVER))
		return false;
	*ret = head;
	return true;
}

bool bsa_packet_head_follows(const struct bsa_packet_head *head, const struct bsa_packet_head *next)
{
	return next->stream == head->stream && next->instance == head->instance && next->began >= head->ended &&
	       next->number >= head->number;
}

/* ---- an index, as LTTng writes it ---- */

/* Next to the stream's file, in index/. NULL: there is none. */
static FILE *open_index(const char *path)
{
	const char *name = strrchr(path, '/');
	char *index = NULL;
	FILE *f;

	if (!name || asprintf(&index, "%.*s/index/%s.idx", (int)(name - path), path, name + 1) < 0)
		return NULL;
	f = fopen(index, "re");
	free(index);
	return f;
}

static bool index_begins(FILE *f)
{
	uint32_t header[INDEX_HEADER];

	return fread(header, sizeof(header), 1, f) == 1 && be32toh(header[0]) == index_magic &&
	       be32toh(header[1]) == 1 && be32toh(header[2]) == 1 &&
	       be32toh(header[3]) == INDEX_ENTRY * sizeof(uint64_t);
}

static bool index_says(FILE *f, uint64_t offset, const struct bsa_packet_head *head)
{
	const uint64_t wanted[INDEX_ENTRY] = { offset,           head->bytes * 8, head->content * 8,
		                               head->began,      head->ended,     head->discarded,
		                               head->stream->id, head->instance,  head->number };
	uint64_t entry[INDEX_ENTRY];

	if (fread(entry, sizeof(entry), 1, f) != 1)
		return false;
	for (int i = 0; i < INDEX_ENTRY; i++)
		if (be64toh(entry[i]) != wanted[i])
			return false;
	return true;
}

/* ---- a file ---- */

static bool walk(struct bsa_packet_head *ret, const struct bsa_recipe *recipe, int fd, uint64_t bytes, FILE *index)
{
	struct bsa_packet_head head, last = { 0 };
	uint8_t start[BSA_HEAD_MAX];

	for (uint64_t offset = 0; offset < bytes; offset += head.bytes) {
		ssize_t n = pread(fd, start, sizeof(start), (off_t)offset);

		if (n < 0 || !bsa_packet_head_read(&head, recipe, start, (size_t)n) || head.bytes > bytes - offset ||
		    (offset && !bsa_packet_head_follows(&last, &head)) || (index && !index_says(index, offset, &head)))
			return false;
		if (!offset)
			*ret = head;
		last = head;
	}
	return bytes && (!index || getc(index) == EOF);
}

bool bsa_heads_are_plain(struct bsa_packet_head *ret, const struct bsa_recipe *recipe, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	FILE *index = open_index(path);
	struct stat st;
	bool plain = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && (!index || index_begins(index)) &&
	             walk(ret, recipe, fd, (uint64_t)st.st_size, index);

	if (index)
		fclose(index);
	if (fd >= 0)
		close(fd);
	return plain;
}
