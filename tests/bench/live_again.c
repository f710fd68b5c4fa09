/*
 * live_again.c TRACE DIRECTORY -- read a recording again as it grew: packet by packet into DIRECTORY, which must not
 * exist, with a look each 5 ms of its own time and the rows of a screen each 100 ms. For `valgrind --tool=callgrind`,
 * whose counts are the same on any machine:
 *
 *   valgrind --tool=callgrind --toggle-collect=bsa_live_look --toggle-collect=bsa_live_rows live_again TRACE DIRECTORY
 *
 * TRACE is one trace of LTTng: the directory with the metadata. Prints what was read.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "bsa/live.h"

enum { LOOK_NS = 5000000, WRITTEN_AFTER_NS = 500000, ROWS_EACH = 20, ROWS = 1024, SETTLE_NS = 15000000 };
enum { ENDED_AT = 40, BITS_AT = 56 }; /* in the header of LTTng's packets */

struct packet {
	char name[NAME_MAX + 1]; /* name of its file */
	const char *bytes;
	uint64_t offset, n, ended;
};

static struct packet *packets;
static size_t n_packets;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "live_again: %s\n", what);
	exit(1);
}

static void write_part(const char *directory, const char *name, const char *bytes, uint64_t n, uint64_t offset)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || pwrite(fd, bytes, n, (off_t)offset) != (ssize_t)n)
		fail(path);
	close(fd);
}

static void add_packets(const char *name, const char *bytes, uint64_t n)
{
	uint64_t bits;

	for (uint64_t at = 0; n - at > BITS_AT + sizeof(bits); at += bits / 8) {
		struct packet *p;

		packets = reallocarray(packets, n_packets + 1, sizeof(*packets));
		if (!packets)
			fail("no memory");
		p = &packets[n_packets++];
		memcpy(&bits, bytes + at + BITS_AT, sizeof(bits));
		*p = (struct packet){ .bytes = bytes + at, .offset = at, .n = bits / 8 };
		memcpy(&p->ended, bytes + at + ENDED_AT, sizeof(p->ended));
		snprintf(p->name, sizeof(p->name), "%s", name);
		if (!p->n || p->n > n - at)
			fail("a file that LTTng did not write");
	}
}

static int by_end(const void *a, const void *b)
{
	const struct packet *x = a, *y = b;

	return (x->ended > y->ended) - (x->ended < y->ended);
}

/* All packets of the trace, by their ends; the metadata is copied at once. */
static void read_trace(const char *trace, const char *directory)
{
	DIR *d = opendir(trace);
	const struct dirent *e;

	if (!d || mkdir(directory, 0700))
		fail("there is no such trace, or the directory cannot be made");
	while ((e = readdir(d))) {
		char path[PATH_MAX], *bytes;
		size_t n;

		if (e->d_type != DT_REG)
			continue;
		snprintf(path, sizeof(path), "%s/%s", trace, e->d_name);
		bytes = file_content(path, &n);
		if (!bytes)
			fail(path);
		if (strcmp(e->d_name, "metadata") != 0)
			add_packets(e->d_name, bytes, n); /* its bytes are kept */
		else
			write_part(directory, e->d_name, bytes, n, 0);
	}
	closedir(d);
	qsort(packets, n_packets, sizeof(*packets), by_end);
}

static void read_again(struct bsa_live *l, const char *directory)
{
	static struct bsa_live_row rows[ROWS];
	uint64_t now = packets[0].ended;
	struct bsa_err err = { "" };
	size_t next = 0;

	for (unsigned looks = 1; next < n_packets; looks++, now += LOOK_NS) {
		for (; next < n_packets && packets[next].ended + WRITTEN_AFTER_NS <= now; next++)
			write_part(directory, packets[next].name, packets[next].bytes, packets[next].n,
			           packets[next].offset);
		if (bsa_live_look(l, now, &err))
			fail(err.text);
		if (looks % ROWS_EACH == 0)
			bsa_live_rows(l, false, rows, ROWS);
	}
}

int main(int argc, char **argv)
{
	const struct bsa_live_options options = { .directory = argc == 3 ? argv[2] : NULL, .settle_ns = SETTLE_NS };
	struct bsa_err err = { "" };
	struct bsa_live_state s;
	struct bsa_live *l;

	if (argc != 3)
		fail("usage: live_again TRACE DIRECTORY");
	read_trace(argv[1], argv[2]);
	if (!n_packets)
		fail("the trace has no packet");
	if (bsa_live_open(&l, &options, &err))
		fail(err.text);
	read_again(l, argv[2]);
	s = bsa_live_state(l);
	printf("%zu packets, %" PRIu64 " events, %" PRIu64 " executions\n", n_packets, s.events, s.sum.executions);
	bsa_live_free(l);
	return 0;
}
