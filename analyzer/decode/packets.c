/* packets.c -- see packets.h. A header is believed as far as the next one is where it says. */
#include "packets.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MAGIC = 0xc1fc1fc1,
	HEADER = 88, /* bytes of a packet's header and context: no layout has more */
	INDEX_MAGIC = 0xc1f1dcc1,
};

static const uint64_t BITS_MAX = UINT64_C(1) << 34; /* LTTng's packets are no larger */

/* Where the fields are, in bytes; all are 64 bits, but the cpu and LTTng's stream class have 32. */
struct layout {
	size_t class_bytes, class, stream, began, ended, content, bytes, number, discarded, cpu, end;
};

static const struct layout layouts[] = {
	[BSA_HEADERS_LTTNG] = { 4, 20, 24, 32, 40, 48, 56, 64, 72, 80, 84 },
	[BSA_HEADERS_SINK] = { 8, 20, 28, 52, 60, 44, 36, 76, 68, 84, 88 },
};

static uint64_t number(const uint8_t *header, size_t at, size_t bytes, bool swapped)
{
	uint32_t narrow;
	uint64_t wide;

	if (bytes == 4) {
		memcpy(&narrow, header + at, sizeof(narrow));
		return swapped ? __builtin_bswap32(narrow) : narrow;
	}
	memcpy(&wide, header + at, sizeof(wide));
	return swapped ? __builtin_bswap64(wide) : wide;
}

static bool magic(const uint8_t *header, bool *ret_swapped)
{
	uint32_t is;

	memcpy(&is, header, sizeof(is));
	*ret_swapped = is == __builtin_bswap32(MAGIC);
	return is == MAGIC || *ret_swapped;
}

/* One packet's header; whose it is, too. */
static bool parse(struct bsa_packets *file, struct bsa_packet *ret, const struct layout *layout, const uint8_t *header)
{
	bool swapped;
	uint64_t bits;

	if (!magic(header, &swapped))
		return false;
	bits = number(header, layout->bytes, 8, swapped);
	ret->bytes = bits / 8;
	ret->content_bits = number(header, layout->content, 8, swapped);
	ret->began = number(header, layout->began, 8, swapped);
	ret->ended = number(header, layout->ended, 8, swapped);
	ret->number = number(header, layout->number, 8, swapped);
	ret->discarded = number(header, layout->discarded, 8, swapped);
	file->stream_class = number(header, layout->class, layout->class_bytes, swapped);
	file->stream = number(header, layout->stream, 8, swapped);
	file->cpu = (uint32_t)number(header, layout->cpu, 4, swapped);
	return bits % 8 == 0 && bits <= BITS_MAX && ret->content_bits <= bits && ret->content_bits >= layout->end * 8 &&
	       (ret->began <= ret->ended || !ret->ended) && file->stream_class < UINT32_MAX;
}

static int add(struct bsa_packets *file, const struct bsa_packet *packet)
{
	struct bsa_packet *list = file->list;

	if (file->n == file->room) {
		size_t room = file->room ? file->room * 2 : 16;

		list = reallocarray(list, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		file->list = list;
		file->room = room;
	}
	list[file->n++] = *packet;
	if (packet->ended > file->ended)
		file->ended = packet->ended;
	return 0;
}

/* What is left of a file is the last packet's if that may be read so far, and else nobody's: it is put to the one before. */
static int rest(struct bsa_packets *file, const struct layout *layout, uint64_t offset, struct bsa_packet *packet)
{
	uint64_t left = file->bytes - offset;

	file->cut = true;
	if (packet && left >= layout->end) {
		packet->bytes = left;
		return add(file, packet);
	}
	if (file->n)
		file->list[file->n - 1].bytes += left;
	return 0;
}

static int walk(struct bsa_packets *file, int fd, const struct layout *layout)
{
	uint64_t offset = 0;
	int r = 0;

	while (r == 0 && offset < file->bytes) {
		struct bsa_packet packet = { .offset = offset };
		uint8_t header[HEADER] = { 0 };
		ssize_t n = pread(fd, header, sizeof(header), (off_t)offset);
		bool is;

		if (n < 0)
			return -errno;
		is = parse(file, &packet, layout, header);
		packet.offset = offset;
		if (!is || packet.bytes > file->bytes - offset)
			return rest(file, layout, offset, is ? &packet : NULL);
		r = add(file, &packet);
		offset += packet.bytes;
	}
	return r;
}

/* The sink's packets begin with how large they are, LTTng's with when. */
enum bsa_headers bsa_packets_headers(const char *metadata)
{
	const char *bytes = strstr(metadata, " packet_size;"), *began = strstr(metadata, " timestamp_begin;");

	return bytes && (!began || bytes < began) ? BSA_HEADERS_SINK : BSA_HEADERS_LTTNG;
}

/* Whether the first header is one. */
static bool is_one(int fd, const struct layout *layout)
{
	struct bsa_packets file = { 0 };
	uint8_t header[HEADER] = { 0 };
	struct bsa_packet packet;

	return pread(fd, header, sizeof(header), 0) >= (ssize_t)layout->end && parse(&file, &packet, layout, header);
}

/* Whoever put a note, or the database, beside the streams has not cut anything. */
static bool is_stray(int fd)
{
	uint8_t header[4] = { 0 };
	bool swapped;

	return pread(fd, header, sizeof(header), 0) == 4 && !magic(header, &swapped);
}

int bsa_packets_read(struct bsa_packets *ret, const char *path, enum bsa_headers headers)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r = 0;
	struct bsa_packets file = { 0 };
	const struct layout *layout = &layouts[headers];
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		r = -errno;
		close(fd);
		return r;
	}
	file.bytes = (uint64_t)st.st_size;
	file.empty = layout->end * 8;
	file.known = is_one(fd, layout);
	file.stray = !file.known && is_stray(fd);
	file.cut = !file.known && !file.stray;
	if (file.known)
		r = walk(&file, fd, layout);
	close(fd);
	if (r)
		bsa_packets_fini(&file);
	else
		*ret = file;
	return r;
}

void bsa_packets_fini(struct bsa_packets *packets)
{
	free(packets->list);
	*packets = (struct bsa_packets){ 0 };
}

bool bsa_packets_index_end(struct bsa_index_end *ret, const char *path)
{
	enum { ENTRY = 9 * sizeof(uint64_t), ENDED = 4, HEADER_WORDS = 4 };
	uint32_t header[HEADER_WORDS];
	uint64_t entry[ENTRY / sizeof(uint64_t)];
	FILE *f = fopen(path, "re");
	struct bsa_index_end end = { 0 };
	bool is = f && fread(header, sizeof(header), 1, f) == 1 && be32toh(header[0]) == INDEX_MAGIC &&
	          be32toh(header[3]) == ENTRY;

	for (; is && fread(entry, sizeof(entry), 1, f) == 1; end.n++)
		end.ended = be64toh(entry[ENDED]);
	if (f)
		fclose(f);
	if (is)
		*ret = end;
	return is;
}

int bsa_packets_write_index(const struct bsa_packets *packets, const char *path)
{
	const uint32_t header[] = { htobe32(INDEX_MAGIC), htobe32(1), htobe32(1), htobe32(9 * sizeof(uint64_t)) };
	FILE *f = fopen(path, "wxe");
	bool done;

	if (!f)
		return -errno;
	done = fwrite(header, sizeof(header), 1, f) == 1;
	for (size_t i = 0; done && i < packets->n; i++) {
		const struct bsa_packet *p = &packets->list[i];
		const uint64_t entry[] = { htobe64(p->offset),
			                   htobe64(p->bytes * 8),
			                   htobe64(p->content_bits),
			                   htobe64(p->began),
			                   htobe64(p->ended ? p->ended : p->began),
			                   htobe64(p->discarded),
			                   htobe64(packets->stream_class),
			                   htobe64(packets->stream),
			                   htobe64(p->number) };

		done = fwrite(entry, sizeof(entry), 1, f) == 1;
	}
	if (fclose(f) || !done)
		return errno ? -errno : -EIO;
	return 0;
}
