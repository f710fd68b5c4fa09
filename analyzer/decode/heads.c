/* heads.c -- reads the headers of a stream file's packets, by a recipe. */
#include "heads.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsa/regular.h"

static const uint32_t magic = 0xc1fc1fc1;
static const uint64_t bits_max = UINT64_C(1) << 34; /* LTTng's packets are no larger */

static uint64_t head_number(const uint8_t *bytes, struct bsa_spot spot, uint64_t none)
{
	uint64_t value = 0;

	if (!spot.bytes)
		return none;
	memcpy(&value, bytes + spot.at, spot.bytes); /* little-endian, both the trace and the host */
	return value;
}

bool bsa_packet_head_read(struct bsa_packet_head *ret, const struct bsa_recipe *recipe, const uint8_t *bytes, size_t n)
{
	const struct bsa_recipe_stream *stream;
	struct bsa_packet_head head;
	uint64_t cpu, packet_bits, content_bits;

	if (n < (size_t)recipe->stream.at + recipe->stream.bytes || n < (size_t)recipe->magic.at + recipe->magic.bytes)
		return false;
	stream = bsa_recipe_stream(recipe, head_number(bytes, recipe->stream, 0));
	if (head_number(bytes, recipe->magic, 0) != magic || !stream || n < stream->head ||
	    (recipe->has_uuid && memcmp(bytes + recipe->uuid_at, recipe->uuid, sizeof(recipe->uuid)) != 0))
		return false;
	packet_bits = head_number(bytes, stream->packet_bits, 0);
	content_bits = head_number(bytes, stream->content_bits, 0);
	cpu = head_number(bytes, stream->cpu, UINT32_MAX);
	head = (struct bsa_packet_head){ .stream = stream,
		                         .instance = head_number(bytes, recipe->instance, 0),
		                         .bytes = packet_bits / 8,
		                         .content = content_bits / 8,
		                         .began = head_number(bytes, stream->began, 0),
		                         .ended = head_number(bytes, stream->ended, 0),
		                         .discarded = head_number(bytes, stream->discarded, BSA_NEVER),
		                         .number = head_number(bytes, stream->number, BSA_NEVER),
		                         .cpu = cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX };
	if (packet_bits % 8 || content_bits % 8 || packet_bits > bits_max || content_bits > packet_bits ||
	    head.content < stream->head || head.began > head.ended || head.ended == UINT64_MAX)
		return false;
	if ((stream->discarded.bytes && head.discarded == BSA_NEVER) ||
	    (stream->number.bytes && head.number == BSA_NEVER))
		return false;
	*ret = head;
	return true;
}

bool bsa_packet_head_follows(const struct bsa_packet_head *head, const struct bsa_packet_head *next)
{
	return next->stream == head->stream && next->instance == head->instance && next->began >= head->ended &&
	       (next->number > head->number || next->number == BSA_NEVER);
}

/* ---- a file ---- */

bool bsa_heads_are_plain(struct bsa_packet_head *ret, const struct bsa_recipe *recipe, const char *path)
{
	struct bsa_packet_head head = { 0 }, last = { 0 };
	uint8_t start[BSA_HEAD_MAX];
	int fd = bsa_open_regular(path);
	struct stat st;
	bool plain = fd >= 0 && !fstat(fd, &st) && st.st_size > 0;
	uint64_t bytes = plain ? (uint64_t)st.st_size : 0;

	for (uint64_t offset = 0; plain && offset < bytes; offset += head.bytes) {
		ssize_t n = pread(fd, start, sizeof(start), (off_t)offset);

		plain = n >= 0 && bsa_packet_head_read(&head, recipe, start, (size_t)n) &&
		        head.bytes <= bytes - offset && (!offset || bsa_packet_head_follows(&last, &head));
		if (plain && !offset)
			*ret = head;
		last = head;
	}

	if (fd >= 0)
		close(fd);
	return plain;
}
