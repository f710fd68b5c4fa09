/*
 * packets.c -- reads the index that LTTng writes beside each stream.
 *
 * LAYOUT   index/NAME_CPU.idx has a head, and for each packet of the file NAME_CPU a row of 64-bit
 *          numbers. All of it is big-endian.
 * TRUST    Whatever the numbers are, they are numbers: nothing is allocated or addressed by them
 *          but the length of a row, which is bounded.
 */
#include "record/packets.h"

#include <endian.h>
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "bsa/metadata.h"
#include "bsa/regular.h"

enum {
	MAGIC = (int)0xC1F1DCC1,
	LEAST_ROW = 48,
	MOST_ROW = 4096,
	HEAD_BYTES = 84,
	TELLING_BYTES = 2048,
	PIECES = 16,
	CPUS_MOST = 1 << 12
};

struct head {
	uint32_t magic, major, minor, row_bytes;
};

struct row {
	uint64_t offset, packet_bits, content_bits, began, ended, lost;
};

/*
 * Losses in a row: between two of them fewer packets came through than there are sub-buffers, which
 * so were never empty.
 */
struct run {
	uint64_t lost;
	unsigned since; /* packets that lost nothing */
};

/* How many bytes of packets are listed. */
static uint64_t read_rows(FILE *f, struct bsv_stream *s)
{
	union {
		unsigned char raw[MOST_ROW];
		uint64_t number[LEAST_ROW / 8];
	} u;
	struct head h;
	uint32_t bytes;
	struct run run = { 0 };
	uint64_t listed = 0;

	if (fread(&h, sizeof(h), 1, f) != 1 || h.magic != htobe32((uint32_t)MAGIC))
		return 0;
	bytes = be32toh(h.row_bytes);
	if (bytes < LEAST_ROW || bytes > MOST_ROW)
		return 0;
	while (fread(u.raw, bytes, 1, f) == 1) {
		struct row r = { be64toh(u.number[0]), be64toh(u.number[1]), be64toh(u.number[2]),
			         be64toh(u.number[3]), be64toh(u.number[4]), be64toh(u.number[5]) };
		uint64_t content = r.content_bits / 8, ns = r.ended > r.began ? r.ended - r.began : 1;
		double rate = (double)content / (double)ns * 1e9; /* a second */

		if (!s->packets || r.began < s->began)
			s->began = r.began;
		if (r.ended > s->ended)
			s->ended = r.ended;
		if (content > HEAD_BYTES)
			s->bytes += content - HEAD_BYTES;
		s->packets++;
		if (r.packet_bits / 8 > s->largest)
			s->largest = r.packet_bits / 8;
		if (content >= TELLING_BYTES && rate < 0x1p62 && (uint64_t)rate > s->rate)
			s->rate = (uint64_t)rate;
		if (r.lost > s->lost) {
			run.lost += r.lost - s->lost;
			run.since = 0;
			s->lost = r.lost;
		} else if (++run.since >= PIECES) {
			run.lost = 0;
		}
		if (run.lost > s->lost_most)
			s->lost_most = run.lost;
		listed += r.packet_bits / 8;
	}
	return listed;
}

static int add_stream(struct bsv_packets *p, const char *path, const char *name)
{
	const char *cpu = strrchr(name, '_');
	char *packets = NULL;
	uint64_t listed;
	struct stat st;
	FILE *f;
	int fd;

	if (!bsv_array_grow(&p->streams, p->n, sizeof(*p->streams)))
		return -ENOMEM;
	fd = bsa_open_regular(path);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return fd < 0 ? fd : -ENOMEM;
	}
	p->streams[p->n] = (struct bsv_stream){ .cpu = cpu ? (uint32_t)strtoul(cpu + 1, NULL, 10) : 0 };
	listed = read_rows(f, &p->streams[p->n]);
	fclose(f);

	/* The file of packets, beside the directory of this index, may have fewer bytes than the index lists. */
	if (asprintf(&packets, "%.*s../%.*s", (int)(strlen(path) - strlen(name)), path, (int)strlen(name) - 4, name) >=
	    0) {
		p->streams[p->n].cut = listed > 0 && (stat(packets, &st) || (uint64_t)st.st_size < listed);
		free(packets);
	}
	p->n++;
	return 0;
}

static bool is_index(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".idx");
}

static int walk_files(const char *directory, int (*tell)(struct bsv_packets *, const FTSENT *), struct bsv_packets *p)
{
	char *const paths[] = { (char *)directory, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;
	int r = 0;

	if (!fts)
		return -errno;
	while (!r && (e = fts_read(fts)))
		if (e->fts_info == FTS_F)
			r = tell(p, e);
		else if (e->fts_level == FTS_ROOTLEVEL && e->fts_errno)
			r = -e->fts_errno;
	fts_close(fts);
	return r;
}

static int take_file(struct bsv_packets *p, const FTSENT *e)
{
	p->files_bytes += (uint64_t)e->fts_statp->st_size;
	if (!strcmp(e->fts_name, "metadata")) {
		char *directory = strndup(e->fts_accpath, strlen(e->fts_accpath) - strlen(e->fts_name));

		p->cut_metadata += directory && bsa_metadata_whole(directory, NULL) < 0;
		free(directory);
	}
	return is_index(e->fts_name) ? add_stream(p, e->fts_accpath, e->fts_name) : 0;
}

/*
 * LTTng names the index of a stream CHANNEL_CPU.idx, or CHANNEL_CPU_FILE.idx. The channel of
 * burstscope has no '_' in its name.
 */
static int stream_number_note(struct bsv_packets *p, const FTSENT *e)
{
	bool of_programs = strstr(e->fts_path, "/ust/") && is_index(e->fts_name);
	const char *cpu = of_programs ? strchr(e->fts_name, '_') : NULL;
	unsigned long n = cpu ? strtoul(cpu + 1, NULL, 10) + 1 : 0;

	if (n > p->n && n <= CPUS_MOST)
		p->n = n;
	return 0;
}

static int file_size_add(struct bsv_packets *p, const FTSENT *e)
{
	p->files_bytes += (uint64_t)e->fts_statp->st_size;
	return 0;
}

int bsv_packets_read(struct bsv_packets *ret, const char *directory, struct bsa_err *err)
{
	struct bsv_packets p = { .streams = NULL };
	int r = walk_files(directory, take_file, &p);

	if (r < 0) {
		bsv_packets_fini(&p);
		return bsa_fail(err, BSA_E_ENV, "%s cannot be read: %s", directory, strerror(-r));
	}
	*ret = p;
	return 0;
}

void bsv_packets_fini(struct bsv_packets *p)
{
	free(p->streams);
	*p = (struct bsv_packets){ .streams = NULL };
}

size_t bsv_packets_short(const struct bsv_packets *p, uint64_t until, uint64_t *ret_whole)
{
	size_t n = 0;

	*ret_whole = until;
	for (size_t i = 0; i < p->n; i++) {
		const struct bsv_stream *s = &p->streams[i];

		if (s->ended >= until && !s->cut)
			continue;
		n++;
		if (s->ended < *ret_whole)
			*ret_whole = s->ended;
	}
	return n;
}

unsigned bsv_streams_each(const char *directory)
{
	struct bsv_packets p = { 0 };

	return walk_files(directory, stream_number_note, &p) < 0 ? 0 : (unsigned)p.n;
}

uint64_t bsv_directory_bytes(const char *directory)
{
	struct bsv_packets p = { .streams = NULL };

	walk_files(directory, file_size_add, &p);
	return p.files_bytes;
}

void bsv_remove_tree(const char *directory)
{
	char *const paths[] = { (char *)directory, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info != FTS_D)
			remove(e->fts_accpath);
	if (fts)
		fts_close(fts);
}
