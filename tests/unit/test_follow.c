/*
 * test_follow.c -- traces that grow while they are read. Whatever part of a file exists, the records that come
 * are those of the whole trace, in the same order. Files that shrink, are replaced, or hold garbage lose their
 * own records, and no others.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/script.h"
#include "decode/decode.h"
#include "decode/follow.h"

enum { PATH = 512, FILE_MAX = 1 << 16, RECORDS_MAX = 256, SETTLE = 1000 };

static char top[PATH / 4], place[PATH - 128];
static int tests;

/* ---- files ---- */

struct file {
	uint8_t bytes[FILE_MAX];
	size_t n;
};

static void load(struct file *ret, const char *name)
{
	char path[PATH];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/whole/%.64s", place, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, ret->bytes, sizeof(ret->bytes));
	close(fd);
	assert_true(n > 0 && n < FILE_MAX);
	ret->n = (size_t)n;
}

/* Write to the growing trace; the file is truncated first if @flags has O_TRUNC. */
static void put(const char *name, const void *bytes, size_t n, int flags)
{
	char path[PATH];
	int fd;

	snprintf(path, sizeof(path), "%s/grows/%.64s", place, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static void drop(const char *name)
{
	char path[PATH];

	snprintf(path, sizeof(path), "%s/grows/%.64s", place, name);
	assert_int_equal(unlink(path), 0);
}

/* ---- a trace of two cpus, and its content ---- */

enum { EVENTS = 12 };

static const struct ctf_options options = { .packet = 2, .cpus = 2 };

/* Times 1000, 1100, ...: the cpus take turns. */
static void write_whole(void)
{
	char path[PATH], line[128];
	struct ctf_writer *w;

	snprintf(path, sizeof(path), "%s/whole", place);
	w = ctf_writer_new(path, &options);
	for (unsigned i = 0; i < EVENTS; i++) {
		struct bsa_event *e;

		snprintf(line, sizeof(line), "%u exec_submit exec=2:%u model=7 path=burst", 1000 + 100 * i, i + 1);
		e = script_record(line);
		ctf_writer_record(w, i % 2, e);
		free(e);
	}
	ctf_writer_free(w);
}

static int begin(void **state)
{
	char path[PATH];

	(void)state;
	snprintf(place, sizeof(place), "%s/%d", top, tests++);
	assert_int_equal(mkdir(place, 0700), 0);
	write_whole();
	snprintf(path, sizeof(path), "%s/grows", place);
	return mkdir(path, 0700);
}

static char streams[2][64]; /* streams of the whole trace, by cpu */
static struct file content[2];

static void load_all(void)
{
	static struct file metadata;

	for (unsigned i = 0; i < 2; i++) {
		snprintf(streams[i], sizeof(streams[i]), "cpu_%u", i);
		load(&content[i], streams[i]);
	}
	load(&metadata, "metadata");
	put("metadata", metadata.bytes, metadata.n, 0);
}

/* ---- following ---- */

struct seen {
	uint64_t at[RECORDS_MAX], exec[RECORDS_MAX];
	size_t n, losses, late; /* late: records that came after one of a later time */
	uint64_t lost_packets, latest;
	uint64_t cut_began, cut_ended; /* of the losses of a stream that cannot be read */
	size_t cuts;
};

static struct bsa_follow *follow(void)
{
	struct bsa_follow *f = NULL;
	struct bsa_err err = { "" };
	char path[PATH];

	snprintf(path, sizeof(path), "%s/grows", place);
	assert_int_equal(bsa_follow_open(&f, &(struct bsa_follow_options){ path, SETTLE }, &err), 0);
	return f;
}

static void look(struct bsa_follow *f, uint64_t now, struct seen *seen)
{
	const struct bsa_event *e;
	struct bsa_err err = { "" };
	int r;

	assert_int_equal(bsa_follow_look(f, now, &err), 0);
	while ((r = bsa_follow_next(f, &e, &err)) > 0) {
		if (e->kind == BSA_loss) {
			seen->losses++;
			if (BSA_OF(e, loss)->packets != BSA_NEVER)
				seen->lost_packets += BSA_OF(e, loss)->packets;
			if (BSA_OF(e, loss)->cause == BSA_LOSS_CUT) {
				assert_true(e->at < BSA_OF(e, loss)->ended);
				assert_true(!seen->cuts || e->at == seen->cut_ended);
				seen->cut_began = seen->cuts++ ? seen->cut_began : e->at;
				seen->cut_ended = BSA_OF(e, loss)->ended;
			}
			continue;
		}
		assert_int_equal(e->kind, BSA_exec_submit);
		assert_true(seen->n < RECORDS_MAX);
		seen->late += seen->n && e->at < seen->latest;
		seen->latest = e->at > seen->latest ? e->at : seen->latest;
		assert_int_equal(e->at, 1000 + 100 * (BSA_OF(e, exec_submit)->exec - (UINT64_C(2) << 32) - 1));
		seen->at[seen->n] = e->at;
		seen->exec[seen->n++] = BSA_OF(e, exec_submit)->exec & UINT32_MAX;
	}
	assert_int_equal(r, 0);
}

static void assert_all(const struct seen *seen)
{
	assert_int_equal(seen->n, EVENTS);
	for (size_t i = 0; i < EVENTS; i++) {
		assert_int_equal(seen->at[i], 1000 + 100 * i);
		assert_int_equal(seen->exec[i], i + 1);
	}
	assert_int_equal(seen->losses + seen->late, 0);
}

/* ---- tests ---- */

static void each_byte_boundary_gives_the_same_records(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	uint64_t cut[2] = { 0 };

	(void)state;
	load_all();
	while (cut[0] < content[0].n || cut[1] < content[1].n)
		for (unsigned i = 0; i < 2; i++)
			if (cut[i] < content[i].n) {
				put(streams[i], &content[i].bytes[cut[i]++], 1, 0);
				look(f, SETTLE, &seen); /* the settle time is 0, so nothing is certain by time alone */
			}
	look(f, BSA_NEVER, &seen);
	assert_all(&seen);
	assert_int_equal(bsa_follow_followed(f).late, 0);
	assert_int_equal(bsa_follow_decoded(f, 0).events, EVENTS);
	bsa_follow_free(f);
}

static void a_record_waits_for_possible_earlier_records(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };

	(void)state;
	load_all();
	put(streams[0], content[0].bytes, content[0].n, 0);
	put(streams[1], content[1].bytes, 100, 0); /* the first packet's header, and a part of the packet */
	look(f, SETTLE + 1001, &seen);
	assert_int_equal(seen.n, 1); /* everything before 1001 is certain */
	look(f, SETTLE + 1001, &seen);
	assert_int_equal(seen.n, 1);
	put(streams[1], content[1].bytes + 100, content[1].n - 100, 0);
	look(f, SETTLE + 1001, &seen);
	assert_true(seen.n >= EVENTS - 2); /* both streams have packets, without the ends of the last ones */
	look(f, BSA_NEVER, &seen);
	assert_all(&seen);
	bsa_follow_free(f);
}

static void a_late_record_keeps_its_time_and_is_counted(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };

	(void)state;
	load_all();
	put(streams[0], content[0].bytes, content[0].n, 0);
	look(f, SETTLE + 5000, &seen);
	assert_int_equal(seen.n, EVENTS / 2);
	put(streams[1], content[1].bytes, content[1].n, 0);
	look(f, SETTLE + 6000, &seen);
	assert_int_equal(seen.n, EVENTS);
	/* all but the last record, which is the latest */
	assert_int_equal(bsa_follow_followed(f).late, EVENTS / 2 - 1);
	assert_int_equal(seen.late, EVENTS / 2 - 1);
	assert_int_equal(bsa_follow_followed(f).late_ns, 900);
	bsa_follow_free(f);
}

/* The offset of packet @k of a stream, by the sizes in the headers. */
static size_t packet_at(unsigned stream, unsigned k)
{
	size_t at = 0;

	while (k--) {
		uint64_t bits;

		memcpy(&bits, &content[stream].bytes[at + 36], sizeof(bits));
		at += bits / 8;
	}
	return at;
}

static void a_stream_goes_on_in_its_next_file(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	size_t at;

	(void)state;
	load_all();
	at = packet_at(0, 1);
	put("other_0", content[0].bytes, at, 0);
	put(streams[1], content[1].bytes, content[1].n, 0);
	look(f, SETTLE, &seen);
	put("other_1", content[0].bytes + at, content[0].n - at, 0);
	look(f, SETTLE, &seen);
	look(f, BSA_NEVER, &seen);
	assert_all(&seen);
	assert_int_equal(bsa_follow_followed(f).streams, 2);
	bsa_follow_free(f);
}

static void a_rewritten_file_loses_its_unread_records(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	size_t at, next;

	(void)state;
	load_all();
	at = packet_at(0, 1);
	next = packet_at(0, 2);
	put(streams[0], content[0].bytes, at + 10, 0);
	put(streams[1], content[1].bytes, content[1].n, 0);
	look(f, SETTLE, &seen);
	put(streams[0], content[0].bytes, 0, O_TRUNC); /* the follower never sees the second packet whole */
	look(f, SETTLE, &seen);
	put(streams[0], content[0].bytes + next, content[0].n - next, 0);
	for (int i = 0; i < 3; i++)
		look(f, SETTLE, &seen);
	look(f, BSA_NEVER, &seen);
	assert_int_equal(seen.n, EVENTS - 2);
	assert_int_equal(seen.lost_packets, 1);
	assert_int_equal(bsa_follow_followed(f).lost_hold, 1);
	bsa_follow_free(f);
}

static void a_file_that_is_replaced_is_read_to_its_end_first(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	size_t at;

	(void)state;
	load_all();
	at = packet_at(0, 2);
	put(streams[0], content[0].bytes, at, 0);
	put(streams[1], content[1].bytes, content[1].n, 0);
	assert_int_equal(bsa_follow_look(f, SETTLE, NULL), 0); /* opened, but not read yet */
	drop(streams[0]);
	put(streams[0], content[0].bytes + at, content[0].n - at, 0);
	look(f, SETTLE, &seen);
	look(f, BSA_NEVER, &seen);
	assert_all(&seen);
	bsa_follow_free(f);
}

static void garbage_is_given_up(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	uint8_t garbage[4096];

	(void)state;
	memset(garbage, 0x5a, sizeof(garbage));
	load_all();
	put("garbage", garbage, sizeof(garbage), 0);
	put(streams[0], content[0].bytes, packet_at(0, 1), 0);
	put(streams[0], garbage, sizeof(garbage), 0);
	put(streams[1], content[1].bytes, content[1].n, 0);
	look(f, SETTLE, &seen);
	look(f, BSA_NEVER, &seen);
	assert_int_equal(seen.n, EVENTS / 2 + 2); /* one stream, and a packet of the other one */
	assert_int_equal(bsa_follow_followed(f).broken, 1);
	bsa_follow_free(f);
}

/* The id of the event @k of a stream's packet @packet, which no class has. */
static void spoil_event(struct file *f, unsigned stream, unsigned packet)
{
	enum { SINK_HEADER = 88 };
	const uint32_t unknown = 0xfefe;

	memcpy(&f->bytes[packet_at(stream, packet) + SINK_HEADER], &unknown, sizeof(unknown));
}

enum { SECOND = 1000000000 };

static void a_stream_that_breaks_within_a_packet_is_lost_from_there_on(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	struct file spoilt;

	(void)state;
	load_all();
	spoilt = content[0];
	spoil_event(&spoilt, 0, 1);
	put(streams[0], spoilt.bytes, spoilt.n, 0);
	put(streams[1], content[1].bytes, content[1].n, 0);
	look(f, SETTLE + 5000, &seen);
	assert_int_equal(seen.cuts, 0); /* its class may still be described */
	look(f, (uint64_t)SECOND * 3, &seen);
	assert_int_equal(seen.n, EVENTS / 2 + 2);
	assert_int_equal(seen.cuts, 1);
	assert_int_equal(seen.cut_began, 1400); /* where the packet begins */
	assert_true(seen.cut_ended > (uint64_t)SECOND * 3);
	assert_int_equal(bsa_follow_followed(f).unread, 1);
	look(f, (uint64_t)SECOND * 5, &seen);
	assert_int_equal(seen.cuts, 2);
	assert_true(seen.cut_ended > (uint64_t)SECOND * 5);
	look(f, BSA_NEVER, &seen);
	assert_int_equal(seen.cuts, 2);
	assert_int_equal(bsa_follow_followed(f).broken, 1);
	bsa_follow_free(f);
}

static void at_the_end_a_stream_is_lost_to_the_last_packet(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	struct file spoilt;

	(void)state;
	load_all();
	spoilt = content[0];
	spoil_event(&spoilt, 0, 1);
	put(streams[0], spoilt.bytes, spoilt.n, 0);
	put(streams[1], content[1].bytes, content[1].n, 0);
	look(f, BSA_NEVER, &seen);
	assert_int_equal(seen.cuts, 1);
	assert_int_equal(seen.cut_began, 1400);
	assert_int_equal(seen.cut_ended, 1000 + 100 * (EVENTS - 1));
	look(f, BSA_NEVER, &seen);
	assert_int_equal(seen.cuts, 1);
	bsa_follow_free(f);
}

static void another_file_of_the_stream_ends_its_loss(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };
	uint8_t garbage[4096];
	size_t next;

	(void)state;
	memset(garbage, 0x5a, sizeof(garbage));
	load_all();
	next = packet_at(0, 2);
	put("other_0", content[0].bytes, packet_at(0, 1), 0);
	put("other_0", garbage, sizeof(garbage), 0);
	put(streams[1], content[1].bytes, content[1].n, 0);
	for (int i = 0; i < 401; i++) /* until the header is believed to stay as it is */
		look(f, SETTLE + 1401, &seen);
	assert_int_equal(bsa_follow_followed(f).broken, 1);
	assert_int_equal(seen.cuts, 1);
	assert_int_equal(seen.cut_began, 1200); /* the last record that was read */
	put("other_1", content[0].bytes + next, content[0].n - next, 0);
	look(f, SETTLE + 1401, &seen);
	look(f, (uint64_t)SECOND * 5, &seen);
	look(f, BSA_NEVER, &seen);
	assert_int_equal(seen.cuts, 1);
	assert_int_equal(seen.lost_packets, 1);
	assert_int_equal(seen.n, EVENTS - 2);
	bsa_follow_free(f);
}

static void a_spoilt_byte_affects_its_stream_only(void **state)
{
	(void)state;
	load_all();
	put(streams[1], content[1].bytes, content[1].n, 0);
	for (size_t i = 0; i < content[0].n; i += 3) {
		struct bsa_follow *f = follow();
		struct seen seen = { .n = 0 };
		struct file spoilt = content[0];
		const struct bsa_event *e;
		struct bsa_err err = { "" };

		spoilt.bytes[i] ^= 0xff;
		put(streams[0], spoilt.bytes, spoilt.n, O_TRUNC);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(bsa_follow_look(f, k ? BSA_NEVER : SETTLE, &err), 0);
			while (bsa_follow_next(f, &e, &err) > 0)
				seen.n += e->kind != BSA_loss;
		}
		assert_true(seen.n >= EVENTS / 2);
		bsa_follow_free(f);
	}
}

static void a_missing_trace_is_not_an_error(void **state)
{
	struct bsa_follow *f = follow();
	struct seen seen = { .n = 0 };

	(void)state;
	look(f, 5000, &seen);
	look(f, 10000, &seen);
	assert_int_equal(bsa_follow_until(f), 10000 - SETTLE);
	assert_null(bsa_follow_trace(f, 0));
	bsa_follow_free(f);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest all[] = {
		TEST(each_byte_boundary_gives_the_same_records),
		TEST(a_record_waits_for_possible_earlier_records),
		TEST(a_late_record_keeps_its_time_and_is_counted),
		TEST(a_stream_goes_on_in_its_next_file),
		TEST(a_rewritten_file_loses_its_unread_records),
		TEST(a_file_that_is_replaced_is_read_to_its_end_first),
		TEST(garbage_is_given_up),
		TEST(a_stream_that_breaks_within_a_packet_is_lost_from_there_on),
		TEST(at_the_end_a_stream_is_lost_to_the_last_packet),
		TEST(another_file_of_the_stream_ends_its_loss),
		TEST(a_spoilt_byte_affects_its_stream_only),
		TEST(a_missing_trace_is_not_an_error),
	};
	char command[PATH];
	int failed;

	snprintf(top, sizeof(top), "%s/test_follow-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(top))
		return 1;
	failed = cmocka_run_group_tests(all, NULL, NULL);

	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	return system(command) ? 1 : failed;
}
