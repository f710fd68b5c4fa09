/*
 * packets.c -- walks through the packets of a stream file. It believes a header if the next one is
 * where it points.
 */
#include "packets.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "bsa/regular.h"

enum {
	MAGIC = 0xc1fc1fc1,
	HEADER = 88, /* bytes of a packet's header and context: no layout has more */
	ALIKE = 20,  /* bytes that all headers of a trace share: the magic number, and the trace's uuid */
	INDEX_MAGIC = 0xc1f1dcc1,
	INDEX_ROW = 9, /* numbers of 64 bits */
	CHUNK_FIRST = 1 << 10,
	CHUNK = 64 << 10,
};

static const uint64_t BITS_MAX = UINT64_C(1) << 34; /* LTTng's packets are no larger */

/*
 * Where the fields are, in bytes; all are 64 bits, but the cpu and LTTng's stream class have 32. Number 0:
 * there is none.
 */
struct layout {
	size_t class_bytes, class, stream, began, ended, content, bytes, number, discarded, cpu, end;
};

static const struct layout layouts[] = {
	[BSA_HEADERS_LTTNG] = { 4, 20, 24, 32, 40, 48, 56, 64, 72, 80, 84 },
	[BSA_HEADERS_SINK] = { 8, 20, 28, 52, 60, 44, 36, 76, 68, 84, 88 },
	[BSA_HEADERS_UNNUMBERED] = { 8, 20, 28, 52, 60, 44, 36, 0, 68, 76, 80 },
};

/* A file under way. */
struct walk {
	struct bsa_packets *file;
	const struct layout *layout;
	int fd;
	uint8_t alike[ALIKE]; /* those bytes of its first header */
	uint64_t offset;      /* offset of the next packet */
	uint64_t before;      /* where the packet before that begins, if @within: it may be one that is cut */
	bool within;
	bool late; /* packets that are left out come behind all that is in the list */
};

static uint64_t header_number(const uint8_t *header, size_t at, size_t bytes, bool swapped)
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

static bool is_packet(const uint8_t *header, bool *ret_swapped)
{
	uint32_t is;

	memcpy(&is, header, sizeof(is));
	*ret_swapped = is == __builtin_bswap32(MAGIC);
	return is == MAGIC || *ret_swapped;
}

/* Read a packet's header, with the stream that it belongs to. */
static bool parse_header(struct bsa_packets *file, struct bsa_packet *ret, const struct layout *layout,
                         const uint8_t *header)
{
	bool swapped;
	uint64_t bits;

	if (!is_packet(header, &swapped))
		return false;
	bits = header_number(header, layout->bytes, 8, swapped);
	ret->bytes = bits / 8;
	ret->content_bits = header_number(header, layout->content, 8, swapped);
	ret->began = header_number(header, layout->began, 8, swapped);
	ret->ended = header_number(header, layout->ended, 8, swapped);
	ret->number = layout->number ? header_number(header, layout->number, 8, swapped) : file->n;
	ret->discarded = header_number(header, layout->discarded, 8, swapped);
	file->stream_class = header_number(header, layout->class, layout->class_bytes, swapped);
	file->stream = header_number(header, layout->stream, 8, swapped);
	file->cpu = (uint32_t)header_number(header, layout->cpu, 4, swapped);
	return bits % 8 == 0 && bits <= BITS_MAX && ret->content_bits <= bits && ret->content_bits >= layout->end * 8 &&
	       (ret->began <= ret->ended || !ret->ended) && file->stream_class < UINT32_MAX;
}

static uint64_t packet_end_of(const struct bsa_packet *p)
{
	return p->ended ? p->ended : p->began;
}

/* ---- what fits to what ---- */

static bool packet_follows(const struct bsa_packet *before, const struct bsa_packet *p)
{
	return p->number > before->number && p->began >= before->began && packet_end_of(p) >= packet_end_of(before);
}

static int packet_by_number(const void *key, const void *member)
{
	uint64_t wanted = *(const uint64_t *)key, is = ((const struct bsa_packet *)member)->number;

	return (wanted > is) - (wanted < is);
}

static const struct bsa_packet *find_packet(const struct bsa_packets *file, uint64_t number)
{
	return file->n ? bsearch(&number, file->list, file->n, sizeof(*file->list), packet_by_number) : NULL;
}

/* 1; 0; -errno. What may stand behind their content is nothing. */
static int same_packet(int fd, const struct bsa_packet *p, int other_fd, const struct bsa_packet *other)
{
	uint64_t at = p->offset, other_at = other->offset, n = p->content_bits / 8;
	uint8_t a[4096], b[sizeof(a)];

	if (p->content_bits != other->content_bits || p->began != other->began || p->ended != other->ended)
		return 0;
	while (n) {
		size_t some = n < sizeof(a) ? (size_t)n : sizeof(a);
		ssize_t got = pread(fd, a, some, (off_t)at), got_other = pread(other_fd, b, some, (off_t)other_at);

		if (got < 0 || got_other < 0)
			return -errno;
		if (got != got_other || got == 0 || memcmp(a, b, (size_t)got) != 0)
			return 0;
		at += (uint64_t)got;
		other_at += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 1;
}

static void doubt_packet(struct bsa_packets *file, const struct bsa_packet *p)
{
	if (!file->doubtful++ || p->began < file->doubtful_began)
		file->doubtful_began = p->began;
	if (packet_end_of(p) > file->doubtful_ended)
		file->doubtful_ended = packet_end_of(p);
}

/* ---- a file ---- */

/* Append the packet to the list if it fits. If only the last packet contradicts it, the last packet is the odd one. */
static int place_packet(struct walk *w, const struct bsa_packet *p)
{
	struct bsa_packets *file = w->file;
	const struct bsa_packet *last = file->n ? &file->list[file->n - 1] : NULL, *twin = find_packet(file, p->number);
	int r;

	w->late = false;
	if (!last || packet_follows(last, p)) {
		if (!BSA_RESERVE(file->list, file->room, file->n + 1, 16))
			return -ENOMEM;
		file->list[file->n++] = *p;
		return 0;
	}
	if (twin) {
		r = same_packet(w->fd, p, w->fd, twin);
		if (r < 0)
			return r;
		file->repeated += r > 0;
		if (!r)
			doubt_packet(file, p);
		return 0;
	}
	if (file->n > 1 && packet_follows(last - 1, p)) {
		doubt_packet(file, last);
		file->list[file->n - 1] = *p;
		return 0;
	}
	doubt_packet(file, p);
	w->late = p->number > last->number;
	return 0;
}

/* Whether a packet begins at @offset; if @ret is all of it that there should be, *ret_whole. 1; 0; -errno. */
static int header_at(struct walk *w, uint64_t offset, struct bsa_packet *ret, bool *ret_whole)
{
	struct bsa_packets whose = { .n = w->file->n };
	uint8_t header[HEADER] = { 0 };
	ssize_t n = pread(w->fd, header, sizeof(header), (off_t)offset);

	if (n < 0)
		return -errno;
	*ret = (struct bsa_packet){ 0 };
	if (!parse_header(&whose, ret, w->layout, header))
		return 0;
	ret->offset = offset;
	*ret_whole = ret->bytes <= w->file->bytes - offset;
	w->file->stream_class = whose.stream_class;
	w->file->stream = whose.stream;
	w->file->cpu = whose.cpu;
	return 1;
}

/*
 * Whether a packet of this stream begins where the same bytes are as in its first header; behind @before, if
 * that is not NULL.
 */
static int goes_on_at(struct walk *w, uint64_t offset, const struct bsa_packet *before)
{
	const struct bsa_packets was = *w->file;
	struct bsa_packet p;
	bool whole = false;
	int r = header_at(w, offset, &p, &whole);

	if (r > 0)
		r = whole && was.stream_class == w->file->stream_class && was.stream == w->file->stream &&
		    (!before || packet_follows(before, &p));
	w->file->stream_class = was.stream_class;
	w->file->stream = was.stream;
	w->file->cpu = was.cpu;
	return r;
}

/* Where the next packet begins, from @from on. 1: it was found; 0: no packet begins before @until; -errno. */
static int find_next(struct walk *w, uint64_t from, uint64_t until, const struct bsa_packet *before, uint64_t *ret)
{
	uint8_t chunk[CHUNK];
	size_t some = CHUNK_FIRST;

	for (; from < until; some = some < CHUNK ? 2 * some : CHUNK) {
		ssize_t n = pread(w->fd, chunk, some, (off_t)from);
		uint8_t *at = chunk, *found;

		if (n < 0)
			return -errno;
		if (n < (ssize_t)w->layout->end)
			return 0;
		while ((found = memmem(at, (size_t)(chunk + n - at), w->alike, ALIKE))) {
			uint64_t offset = from + (uint64_t)(found - chunk);
			int r = offset < until ? goes_on_at(w, offset, before) : 0;

			if (r) {
				*ret = offset;
				return r;
			}
			at = found + 1;
		}
		from += (uint64_t)n - (ALIKE - 1);
	}
	return 0;
}

/* At w->offset there is no packet, or one that goes on behind the end of the file: on to the next one. */
static int pass_over(struct walk *w, struct bsa_packet *packet)
{
	struct bsa_packets *file = w->file;
	struct bsa_packet before = { 0 };
	uint64_t next = 0;
	bool whole;
	int r = 0;

	if (!packet && w->within && (r = header_at(w, w->before, &before, &whole)) > 0)
		r = find_next(w, w->before + w->layout->end, w->offset, &before, &next);
	if (r > 0 && file->n && file->list[file->n - 1].offset == w->before)
		file->n--; /* only a part of the packet before is in the file */
	if (r == 0)
		r = find_next(w, w->offset + (packet ? w->layout->end : 1), file->bytes, packet, &next);
	if (r < 0)
		return r;
	if (r == 0) {
		/*
		 * The rest of a file belongs to the last packet, if that can be read so far. Otherwise it
		 * belongs to no packet, and is put to the one before.
		 */
		file->cut = true;
		w->offset = file->bytes;
		return packet && file->bytes - packet->offset >= w->layout->end ? place_packet(w, packet) : 0;
	}
	file->uneven = true;
	w->within = false;
	w->offset = next;
	return 0;
}

/* Give every byte of the file to a packet: gaps belong to the packet before. */
static void settle_bytes(struct bsa_packets *file)
{
	file->ended = 0;
	for (size_t i = 0; i < file->n; i++) {
		struct bsa_packet *p = &file->list[i];
		uint64_t from = i ? p->offset : 0, to = i + 1 < file->n ? p[1].offset : file->bytes;

		file->uneven |= p->bytes != to - from;
		p->bytes = to - from;
		if (p->ended > file->ended)
			file->ended = p->ended;
	}
}

static int read_packets(struct bsa_packets *file, int fd, const struct layout *layout)
{
	struct walk w = { .file = file, .layout = layout, .fd = fd };
	int r = pread(fd, w.alike, ALIKE, 0) < 0 ? -errno : 0;

	while (r == 0 && w.offset < file->bytes) {
		struct bsa_packet packet;
		bool whole = false;

		r = header_at(&w, w.offset, &packet, &whole);
		if (r < 0)
			break;
		if (!r || !whole) {
			r = pass_over(&w, r ? &packet : NULL);
			continue;
		}
		r = place_packet(&w, &packet);
		w.before = w.offset;
		w.within = true;
		w.offset += packet.bytes;
	}

	file->cut |= w.late;
	settle_bytes(file);
	return r;
}

/* The sink's packets begin with how large they are, LTTng's with when. */
enum bsa_headers bsa_packets_headers(const char *metadata)
{
	const char *bytes = strstr(metadata, " packet_size;"), *began = strstr(metadata, " timestamp_begin;");

	if (!bytes || (began && began < bytes))
		return BSA_HEADERS_LTTNG;
	return strstr(metadata, " packet_seq_num;") ? BSA_HEADERS_SINK : BSA_HEADERS_UNNUMBERED;
}

int bsa_packets_read(struct bsa_packets *ret, const char *path, enum bsa_headers headers)
{
	int fd = bsa_open_regular(path), r = 0;
	struct bsa_packets file = { 0 }, first = { 0 };
	const struct layout *layout = &layouts[headers];
	uint8_t header[HEADER] = { 0 };
	struct bsa_packet packet;
	struct stat st;
	bool swapped;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		r = -errno;
		close(fd);
		return r;
	}
	file.bytes = (uint64_t)st.st_size;
	file.empty = layout->end * 8;
	n = pread(fd, header, sizeof(header), 0);
	file.known = n >= (ssize_t)layout->end && parse_header(&first, &packet, layout, header);

	/* A file that is no stream, a note or a database beside the streams, does not mean that a stream was cut. */
	file.stray = !file.known && n >= 4 && !is_packet(header, &swapped);
	file.cut = !file.known && !file.stray;
	if (file.known)
		r = read_packets(&file, fd, layout);
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

/* ---- beside another file of the stream ---- */

/* Where it would be among them. */
static bool fits_among(const struct bsa_packets *other, const struct bsa_packet *p)
{
	size_t low = 0, high = other->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (other->list[middle].number < p->number)
			low = middle + 1;
		else
			high = middle;
	}
	return (!low || packet_follows(&other->list[low - 1], p)) &&
	       (low == other->n || packet_follows(p, &other->list[low]));
}

int bsa_packets_leave_out(struct bsa_packets *packets, const char *path, const struct bsa_packets *other,
                          const char *other_path, bool may_repeat)
{
	int fd = bsa_open_regular(path), other_fd = bsa_open_regular(other_path), r = fd < 0 ? fd : other_fd;
	size_t kept = 0;

	for (size_t i = 0; r >= 0 && i < packets->n; i++) {
		const struct bsa_packet p = packets->list[i], *twin = find_packet(other, p.number);

		r = twin ? same_packet(fd, &p, other_fd, twin) : fits_among(other, &p);
		if (r == 0)
			doubt_packet(packets, &p);
		else if (r > 0 && twin && !may_repeat)
			packets->repeated++;
		else if (r > 0)
			packets->list[kept++] = p;
	}
	if (fd >= 0)
		close(fd);
	if (other_fd >= 0)
		close(other_fd);
	if (r < 0)
		return r;
	packets->uneven |= kept < packets->n;
	packets->n = kept;
	settle_bytes(packets);
	return 0;
}

/* ---- an index ---- */

/* The next row as numbers of this machine. False: all rows were read. */
static bool next_row(FILE *f, uint64_t ret[INDEX_ROW])
{
	if (fread(ret, sizeof(*ret) * INDEX_ROW, 1, f) != 1)
		return false;
	for (int i = 0; i < INDEX_ROW; i++)
		ret[i] = be64toh(ret[i]);
	return true;
}

static enum bsa_index compare_index(FILE *f, const struct bsa_packets *packets, uint64_t *ret_ended)
{
	struct bsa_packet before = { 0 };
	uint64_t row[INDEX_ROW];
	uint32_t header[4];
	bool any = packets->n;

	if (fread(header, sizeof(header), 1, f) != 1 || be32toh(header[0]) != INDEX_MAGIC ||
	    be32toh(header[3]) != sizeof(row))
		return BSA_INDEX_WRONG;
	for (size_t i = 0; i < packets->n; i++) {
		const struct bsa_packet *p = &packets->list[i];

		if (!next_row(f, row))
			return BSA_INDEX_BEHIND;
		if (row[0] != p->offset || row[1] != p->bytes * 8 || row[2] != p->content_bits || row[3] != p->began ||
		    (row[4] != p->ended && row[4] != packet_end_of(p)) || row[5] != p->discarded ||
		    row[6] != packets->stream_class || row[7] != packets->stream || row[8] != p->number)
			return BSA_INDEX_WRONG;
		before = *p;
	}
	if (!next_row(f, row))
		return BSA_INDEX_SAME;

	/* Rows of packets that the file does not have could be true only if they go on where it ends. */
	do {
		struct bsa_packet p = {
			.offset = row[0], .bytes = row[1] / 8, .began = row[3], .ended = row[4], .number = row[8]
		};

		if (p.offset != before.offset + before.bytes || p.began > p.ended || row[1] % 8 || row[1] > BITS_MAX ||
		    (any &&
		     (!packet_follows(&before, &p) || row[6] != packets->stream_class || row[7] != packets->stream)))
			return BSA_INDEX_WRONG;
		*ret_ended = p.ended;
		before = p;
		any = true;
	} while (next_row(f, row));
	return BSA_INDEX_AHEAD;
}

enum bsa_index bsa_packets_compare_index(const struct bsa_packets *packets, const char *path, uint64_t *ret_ended)
{
	int fd = bsa_open_regular(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	enum bsa_index is;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return fd == -ENOENT || fd == -ENOTDIR ? BSA_INDEX_NONE : BSA_INDEX_WRONG;
	}
	is = compare_index(f, packets, ret_ended);
	fclose(f);
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
