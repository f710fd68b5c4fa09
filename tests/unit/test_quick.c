/*
 * test_quick.c -- the quick decoder against babeltrace2, record by record and count by count: over traces as
 * LTTng-UST and babeltrace2's sink write them, and over the same traces cut and damaged at any place.
 */
#include <endian.h>
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
#include "analyzer/decoders.h"
#include "analyzer/folders.h"
#include "base.h"
#include "decode/decode.h"
#include "decode/follow.h"
#include "decode/packets.h"

enum { PATH = 512, FILE_MAX = 1 << 20 };

/* ---- files ---- */

struct file {
	uint8_t bytes[FILE_MAX];
	size_t n;
};

static void save(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	close(fd);
}

static void load(struct file *ret, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, ret->bytes, sizeof(ret->bytes));
	close(fd);
	assert_true(n >= 0 && n < FILE_MAX);
	ret->n = (size_t)n;
}

/* ---- the comparison ---- */

/* Both decoders must read the same from @path. */
static struct decoders read_same(const char *path)
{
	struct decoders all = decoders_compare(path, 1);

	if (*all.differs)
		fail_msg("%s: %s", path, all.differs);
	return all;
}

/* The same, and the quick decoder must have read it. */
static struct decoders read_same_and_quick(const char *path)
{
	struct decoders all = read_same(path);

	assert_true(all.quick);
	assert_int_equal(all.code, 0);
	return all;
}

/* ---- traces, byte by byte, as LTTng-UST writes them ---- */

static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16 };

static const char metadata_start[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := unsigned long;\n"
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n"
	"typealias integer { size = 27; align = 1; signed = false; } := uint27_t;\n"
	"trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"01020304-0506-4708-890a-0b0c0d0e0f10\";\n\tbyte_order = le;\n"
	"\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t  uuid[16];\n\t\tuint32_t stream_id;\n"
	"\t\tuint64_t stream_instance_id;\n\t};\n};\n"
	"env {\n\tdomain = \"ust\";\n\ttracer_name = \"lttng-ust\";\n\ttracer_major = 2;\n\ttracer_minor = 13;\n"
	"\ttrace_name = \"name with \\\"escapes\\\"\";\n\thostname = \"vm\";\n};\n"
	"clock {\n\tname = \"monotonic\";\n\tuuid = \"2576ec48-7dd5-42d2-aed2-fbf12f6a2c85\";\n"
	"\tdescription = \"Monotonic Clock\";\n\tfreq = 1000000000; /* Frequency, in Hz */\n"
	"\t/* clock value offset from Epoch is: offset * (1/freq) */\n\toffset = 1795228181852204216;\n};\n"
	"typealias integer {\n\tsize = 27; align = 1; signed = false;\n\tmap = clock.monotonic.value;\n"
	"} := uint27_clock_monotonic_t;\n"
	"typealias integer {\n\tsize = 32; align = 8; signed = false;\n\tmap = clock.monotonic.value;\n"
	"} := uint32_clock_monotonic_t;\n"
	"typealias integer {\n\tsize = 64; align = 8; signed = false;\n\tmap = clock.monotonic.value;\n"
	"} := uint64_clock_monotonic_t;\n"
	"struct packet_context {\n\tuint64_clock_monotonic_t timestamp_begin;\n"
	"\tuint64_clock_monotonic_t timestamp_end;\n\tuint64_t content_size;\n\tuint64_t packet_size;\n"
	"\tuint64_t packet_seq_num;\n\tunsigned long events_discarded;\n\tuint32_t cpu_id;\n};\n"
	"struct event_header_compact {\n\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
	"\tvariant <id> {\n\t\tstruct {\n\t\t\tuint27_clock_monotonic_t timestamp;\n\t\t} compact;\n"
	"\t\tstruct {\n\t\t\tuint32_t id;\n\t\t\tuint64_clock_monotonic_t timestamp;\n\t\t} extended;\n\t} v;\n"
	"} align(8);\n"
	"struct event_header_large {\n\tenum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"
	"\tvariant <id> {\n\t\tstruct {\n\t\t\tuint32_clock_monotonic_t timestamp;\n\t\t} compact;\n"
	"\t\tstruct {\n\t\t\tuint32_t id;\n\t\t\tuint64_clock_monotonic_t timestamp;\n\t\t} extended;\n\t} v;\n"
	"} align(8);\n";

static const char metadata_contexts[] =
	"\tevent.context := struct {\n"
	"\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base = 10; } _vpid;\n"
	"\t\tinteger { size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; } _procname[17];\n\t};\n";

#define U(bits) "\t\tinteger { size = " #bits "; align = 8; signed = 0; encoding = none; base = 10; } "
#define EVENT(name, id) \
	"event {\n\tname = \"" name "\";\n\tid = " #id ";\n\tstream_id = 0;\n\tloglevel = 12;\n\tfields := struct {\n"
#define END "\t};\n};\n\n"

enum { WRITE = 9, SERVICE = 30, OPENED = 31, ODD = 40, FAR = 65535, NAMED = 3, OTHER = 4 };

static const char metadata_events[] = EVENT("nnburst:fmq_write", 9) U(
	64) "_exec;\n"
	    "\t\tenum : integer { size = 8; align = 8; signed = 0; encoding = none; base = 10; } {\n"
	    "\t\t\t\"request\" = 0,\n\t\t\t\"result\" = 1,\n\t\t} _queue;\n" U(32) "_items;\n" U(32) "_used;\n" U(
		    64) "_blocked_ns;\n" END EVENT("nnburst:exec_service", 30)
		    U(64) "_exec;\n" U(
			    16) "_model;\n"
				"\t\tinteger { size = 32; align = 8; signed = 1; encoding = none; base = 10; } "
				"_app;\n" U(64) "_began;\n" U(64) "_at[10];\n" U(64) "_lookups;\n" END EVENT(
					"nnburst:stream_open",
					31) U(32) "_stream;\n" U(8) "_path;\n" END EVENT("nnburst:client_connect", 3)
					U(32) "_conn;\n" U(32) "_pid;\n\t\tstring _name;\n" U(64) "_since;\n" END EVENT(
						"nnburst:exec_client", 40)
						U(64) "_exec;\n" U(16) "__at_length;\n" U(
							64) "_at[ __at_length ];\n"
							    "\t\tinteger { size = 32; align = 8; signed = 1; encoding "
							    "= none; base = 10; } _model;\n"
							    "\t\tfloating_point { exp_dig = 11; mant_dig = 53; align = "
							    "8; } _heat;\n" END EVENT("nnburst:model_prepare", 65535)
								    U(32) "_model;\n" U(
									    32) "_conn;\n"
										"\t\tinteger { size = 8; align = 8; "
										"signed = 1; encoding = UTF8; base = "
										"10; } _name[8];\n" END EVENT(
											"somebody:else", 4)
											U(8) "__text_length;\n"
											     "\t\tinteger { size = 8; "
											     "align = 8; signed = 0; "
											     "encoding = UTF8; base = "
											     "10; } _text[ "
											     "__text_length ];\n"
											     "\t\tstring _more;\n" END;

static const char metadata_stream[] = "stream {\n\tid = 0;\n\tevent.header := struct event_header_%s;\n"
				      "\tpacket.context := struct packet_context;\n%s};\n\n";

struct lttng {
	const char *directory;
	bool compact, contexts;
	struct file file;
	size_t packet; /* where the packet begins */
	uint64_t packets, discarded, ended;
	uint32_t cpu;
	bool another; /* another trace, and another session */
};

static void put(struct lttng *t, uint64_t value, size_t bytes)
{
	assert_true(t->file.n + bytes < FILE_MAX);
	memcpy(t->file.bytes + t->file.n, &value, bytes);
	t->file.n += bytes;
}

static void patch(struct lttng *t, size_t where, uint64_t value)
{
	memcpy(t->file.bytes + t->packet + where, &value, sizeof(value));
}

static void write_metadata(struct lttng *t)
{
	char *text = NULL;
	char stream[512];

	snprintf(stream, sizeof(stream), metadata_stream, t->compact ? "compact" : "large",
	         t->contexts ? metadata_contexts : "");
	assert_true(asprintf(&text, "%s%s%s", metadata_start, stream, metadata_events) > 0);
	if (t->another) {
		memcpy(strstr(text, "01020304"), "02020304", 8);
		memcpy(strstr(text, "escapes"), "another", 7);
	}
	assert_int_equal(mkdir(t->directory, 0700), 0);
	snprintf(stream, sizeof(stream), "%s/metadata", t->directory);
	save(stream, text, strlen(text));
	free(text);
}

static void write_stream(struct lttng *t)
{
	char path[2 * PATH];

	snprintf(path, sizeof(path), "%s/channel_%u", t->directory, t->cpu);
	save(path, t->file.bytes, t->file.n);
}

/* The packet's sizes and its end are filled in later. */
static void packet_begins(struct lttng *t, uint64_t began)
{
	t->packet = t->file.n;
	put(t, 0xc1fc1fc1, 4);
	for (size_t i = 0; i < sizeof(uuid); i++)
		put(t, uuid[i] + (i == 0 && t->another), 1);
	put(t, 0, 4);
	put(t, 5 + t->cpu, 8); /* stream_instance_id */
	put(t, began, 8);
	put(t, 0, 8);
	put(t, 0, 8);
	put(t, 0, 8);
	put(t, t->packets++, 8);
	put(t, t->discarded, 8);
	put(t, t->cpu, 4);
}

static void packet_ends(struct lttng *t, uint64_t ended, size_t padding)
{
	patch(t, 40, ended);
	patch(t, 48, (t->file.n - t->packet) * 8);
	for (size_t i = 0; i < padding; i++)
		put(t, 0xee, 1);
	patch(t, 56, (t->file.n - t->packet) * 8);
	t->ended = ended;
}

static void header(struct lttng *t, uint64_t id, uint64_t time)
{
	bool extended = id >= (t->compact ? 31 : 65535);

	if (extended) {
		put(t, t->compact ? 31 : 65535, t->compact ? 1 : 2);
		put(t, id, 4);
		put(t, time, 8);
	} else if (t->compact) {
		put(t, id | time << 5, 4);
	} else {
		put(t, id, 2);
		put(t, time, 4);
	}
	if (t->contexts) {
		put(t, 77, 4);
		for (int i = 0; i < 17; i++)
			put(t, i < 9 ? 'a' + (unsigned)i : 0, 1);
	}
}

static void text(struct lttng *t, const char *letters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(t, (uint8_t)letters[i], 1);
}

/* One event of each kind, and then only the most frequent one. */
static void some_event(struct lttng *t, uint64_t time, uint64_t which)
{
	static const int ids[] = { WRITE, SERVICE, OPENED, NAMED, ODD, FAR, OTHER };
	int id = which < N_OF(ids) ? ids[which] : WRITE;

	header(t, (uint64_t)id, time);
	switch (id) {
	case WRITE:
		put(t, which, 8);
		put(t, which % 3, 1);
		put(t, 1, 4);
		put(t, 2, 4);
		put(t, time, 8);
		break;
	case SERVICE:
		put(t, which, 8);
		put(t, 65535, 2);
		put(t, UINT32_MAX, 4); /* -1 */
		for (int i = 0; i < 11; i++)
			put(t, time - (unsigned)i, 8);
		put(t, 70000, 8); /* a number too large for its field */
		break;
	case OPENED:
		put(t, 9, 4);
		put(t, 1, 1);
		break;
	case NAMED:
		put(t, 3, 4);
		put(t, 4, 4);
		text(t, "a name of somebody that is longer than there is room for in a record of it", 75);
		put(t, time, 8);
		break;
	case ODD:
		put(t, 8, 8);
		put(t, which % 7, 2);
		for (uint64_t i = 0; i < which % 7; i++)
			put(t, time + i, 8);
		put(t, 0x80000001, 4);
		put(t, 0, 8);
		break;
	case FAR:
		put(t, 1, 4);
		put(t, 2, 4);
		text(t, "abc\0defg", 8);
		break;
	default:
		put(t, 3, 1);
		text(t, "xyzmore", 8);
	}
}

/* @packets of @events each, some of them after a loss. */
static void write_lttng(struct lttng *t, size_t packets, size_t events, uint64_t seed)
{
	uint64_t time = UINT64_C(0x3fffffff0);

	t->file.n = 0;
	t->packets = t->discarded = 0;
	write_metadata(t);
	for (size_t i = 0; i < packets; i++) {
		if (i % 3 == 2)
			t->discarded += 1 + xorshift_next(&seed) % 9;
		if (i % 4 == 3)
			t->packets += xorshift_next(&seed) % 5;
		packet_begins(t, time);
		for (size_t k = 0; k < events; k++) {
			time += xorshift_next(&seed) % (k % 16 ? 1000 : UINT64_C(1) << 26);
			some_event(t, time, events < 8 ? k : xorshift_next(&seed) % 20);
		}
		packet_ends(t, time, xorshift_next(&seed) % 50);
		time += xorshift_next(&seed) % 1000;
	}
	write_stream(t);
}

/* ---- tests ---- */

static void whatever_the_sink_writes_is_the_same(void **state)
{
	(void)state;
	for (unsigned packet = 1; packet < 5; packet++) {
		struct ctf_options options = { .packet = packet, .pid = packet % 2 };
		struct ctf_writer *w = ctf_writer_new(folder_at("t%d", (int)packet), &options);

		ctf_writer_script(w,
		                  "100 client_connect conn=3 pid=4 app=1 name=hello\n"
		                  "100 exec_submit exec=2:1 model=7 path=burst deadline_ns=5us cpu=1\n"
		                  "120 fmq_write exec=2:1 queue=request\n"
		                  "130 loss ended=150 events=3\n"
		                  "140 exec_service exec=2:1 began=1040 at=10,-,20,30,400,410,0,0,0,- cpu=1\n"
		                  "150 pool_map owner=stream owner_id=3 slot=-1\n"
		                  "151 pool_map owner=stream owner_id=3 slot=-2\n"
		                  "160 loss ended=170 packets=2 cpu=1\n"
		                  "170 exec_return exec=1 cpu=1\n"
		                  "170 exec_return exec=2\n"
		                  "171 exec_return exec=3\n"
		                  "172 deadline_miss exec=3 stage=done over_ns=-5\n",
		                  1);
		ctf_writer_free(w);
		assert_int_equal(read_same_and_quick(folder_at("t%d", (int)packet)).records, 12);
	}
}

static void fields_of_any_width_are_the_same(void **state)
{
	struct ctf_options options = { .frequency = 1000003 };
	struct ctf_writer *w = ctf_writer_new(folder_at("trace"), &options);

	(void)state;
	ctf_writer_define(w, "nnburst:fmq_write", "queue:i16 exec:u64 odd:u8 items:u64 used:i64 blocked_ns:u8");
	ctf_writer_define(w, "nnburst:exec_service", "exec:i64 at:i32[12] model:text app:f64");
	ctf_writer_define(w, "nnburst:client_connect", "conn:u64 name:u8[70]");
	ctf_writer_define(w, "nnburst:exec_client", "exec:u64 at:u64[2]");
	ctf_writer_define(w, "else:where", "what:f64 name:text");
	for (uint64_t i = 0; i < 10; i++) {
		ctf_writer_event(w, 0, 10 * i, "nnburst:fmq_write",
		                 "queue=-3 exec=5 items=5000000000 used=-1 blocked_ns=255");
		ctf_writer_event(w, 0, 10 * i + 1, "nnburst:exec_service", "exec=-7 at=1,-2,3,4,5,6,7,8,9,10,11,12");
		ctf_writer_event(w, 0, 10 * i + 2, "nnburst:client_connect", "conn=77777777777 name=65,66,0,67");
		ctf_writer_event(w, 0, 10 * i + 3, "nnburst:exec_client", "exec=3 at=4,5");
		ctf_writer_event(w, 0, 10 * i + 4, "else:where", "name=no");
	}
	ctf_writer_free(w);
	assert_int_equal(read_same_and_quick(folder_at("trace")).records, 40);
}

static void whatever_lttng_writes_is_the_same(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		static struct lttng t;
		char name[16];

		snprintf(name, sizeof(name), "t%d", i);
		t = (struct lttng){ .directory = folder_at("%s", name), .compact = i & 1, .contexts = i & 2 };
		write_lttng(&t, 9, 300, 7 + (unsigned)i);
		assert_true(read_same_and_quick(t.directory).records > 9 * 250);
	}
}

/* LTTng-UST writes such counts when its buffers are too small. */
static void counts_of_losses_may_go_back(void **state)
{
	static const uint64_t counts[] = { 2, 37, 0, 37, 40, (UINT64_C(1) << 63) + 50, 41 };
	static struct lttng t;
	struct decoders all;

	(void)state;
	t = (struct lttng){ .directory = folder_at("trace") };
	write_metadata(&t);
	for (size_t i = 0; i < N_OF(counts); i++) {
		t.discarded = counts[i];
		packet_begins(&t, 1000 * i);
		header(&t, OPENED, 1000 * i + 500);
		put(&t, i, 4);
		put(&t, 0, 1);
		packet_ends(&t, 1000 * i + 900, 0);
	}
	write_stream(&t);
	all = read_same_and_quick(t.directory);
	assert_int_equal(all.records, N_OF(counts) + 4 + N_OF(counts) - 1); /* between packets there is a gap */
	assert_int_equal(all.lost_events, 1 + 35 + 3 + 1);                  /* at least one was lost before the
	                                                                     * first packet */
}

static void windows_end_anywhere(void **state)
{
	static struct lttng t;

	(void)state;
	t = (struct lttng){ .directory = folder_at("trace"), .contexts = true };
	write_lttng(&t, 2, 6000, 3); /* long enough for several windows of the decoder */
	assert_true(t.file.n > 400000);
	assert_true(read_same_and_quick(t.directory).records > 10000);
}

/* ---- times that no packet covers ---- */

struct packet_row {
	unsigned cpu, number;
	uint64_t began, ended;
	uint64_t event; /* 0: no event */
};

enum { PACKETS_MAX = 8 };

struct unseen_row {
	const char *name, *wants;
	struct packet_row packets[PACKETS_MAX]; /* in the order of their cpus */
};

/* One stream for each cpu. */
static void write_packets_of(const char *directory, const struct packet_row *rows, bool another)
{
	static struct lttng t;

	t = (struct lttng){ .directory = directory, .another = another };
	write_metadata(&t);
	for (const struct packet_row *row = rows; row < rows + PACKETS_MAX && row->ended; row++) {
		t.cpu = row->cpu;
		t.packets = row->number;
		packet_begins(&t, row->began);
		if (row->event)
			some_event(&t, row->event, 0);
		packet_ends(&t, row->ended, 3);
		if (row + 1 == rows + PACKETS_MAX || !row[1].ended || row[1].cpu != row->cpu) {
			write_stream(&t);
			t.file.n = 0;
		}
	}
}

static void write_packets(const char *directory, const struct packet_row *rows)
{
	write_packets_of(directory, rows, false);
}

/* Append "CAUSE FROM-TO CPU" if @e is a loss. */
static void append_loss(char *ret, size_t n, const struct bsa_event *e)
{
	static const char *const causes[] = { "events", "packets", "head", "gap", "tail", "cut", "stream" };
	const struct bsa_loss *l = BSA_OF(e, loss);
	size_t used = strlen(ret);

	if (e->kind != BSA_loss)
		return;
	used += (size_t)snprintf(ret + used, n - used, "%s%s%s%s %d-%d %d", used ? ", " : "",
	                         l->rotated ? "rotated " : "", l->known && l->cause == BSA_LOSS_HEAD ? "known " : "",
	                         causes[l->cause], (int)e->at, (int)l->ended, (int)l->cpu);
	assert_true(used < n);
}

/* The losses that both decoders report, one after the other. */
static void losses_of(char *ret, size_t n, const char *path)
{
	const struct bsa_event *e;
	struct bsa_decode *d = NULL;

	*ret = 0;
	read_same(path);
	assert_int_equal(bsa_decode_open(&d, &path, 1, NULL, NULL), 0);
	while (bsa_decode_next(d, &e, NULL) > 0)
		append_loss(ret, n, e);
	bsa_decode_free(d);
}

/* The losses that the follower of a growing recording reports. */
static void losses_followed(char *ret, size_t n, const char *path)
{
	const struct bsa_event *e;
	struct bsa_follow *f = NULL;

	*ret = 0;
	assert_int_equal(bsa_follow_open(&f, &(struct bsa_follow_options){ .directory = path }, NULL), 0);
	assert_int_equal(bsa_follow_look(f, BSA_NEVER, NULL), 0);
	while (bsa_follow_next(f, &e, NULL) > 0)
		append_loss(ret, n, e);
	bsa_follow_free(f);
}

static void times_without_packets_are_losses(void **state)
{
	static const struct unseen_row rows[] = {
		{ "full packets, and ends as a stop leaves them",
		  "tail 200-203 0",
		  { { 0, 0, 10, 100, 50 }, { 0, 1, 100, 200, 150 }, { 1, 0, 12, 203, 50 } } },
		{ "a quiet cpu, flushed: the other one goes on",
		  "",
		  { { 0, 0, 10, 100, 50 }, { 0, 1, 100, 200, 150 }, { 1, 0, 10, 90, 50 }, { 1, 1, 170, 200, 170 } } },
		{ "a buffer that was made later has no head", "", { { 0, 0, 10, 200, 15 }, { 1, 0, 80, 200, 90 } } },
		{ "two rings",
		  "head 10-120 1",
		  { { 0, 7, 10, 100, 50 }, { 0, 8, 100, 200, 150 }, { 1, 3, 120, 200, 150 } } },
		{ "the first packets of a cpu were removed, and another one's packet 0 is there",
		  "known head 10-120 1",
		  { { 0, 0, 10, 200, 0 }, { 1, 3, 120, 200, 150 } } },
		{ "no packet of any stream for a while",
		  "gap 100-150 -1",
		  { { 0, 0, 10, 90, 50 }, { 0, 1, 150, 200, 150 }, { 1, 0, 10, 100, 50 }, { 1, 1, 170, 200, 170 } } },
		{ "an empty packet in it, of a flush, is none",
		  "gap 100-150 -1",
		  { { 0, 0, 10, 90, 50 },
		    { 0, 1, 150, 200, 150 },
		    { 1, 0, 10, 100, 50 },
		    { 1, 1, 120, 120, 0 },
		    { 1, 2, 170, 200, 170 } } },
		{ "packets that were dropped as well",
		  "packets 90-150 0, gap 100-150 -1",
		  { { 0, 0, 10, 90, 50 }, { 0, 4, 150, 200, 150 }, { 1, 0, 10, 100, 50 }, { 1, 1, 170, 200, 170 } } },
		{ "the stream of a cpu between others is missing",
		  "stream 10-200 1",
		  { { 0, 0, 10, 200, 50 }, { 2, 0, 10, 200, 50 } } },
		{ "the first one is", "stream 10-200 0", { { 1, 0, 10, 200, 50 } } },
		{ "a file that ends with a whole packet, before the end",
		  "tail 100-200 1",
		  { { 0, 0, 10, 200, 50 }, { 1, 0, 10, 100, 50 } } },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		char name[16], losses[256];

		snprintf(name, sizeof(name), "t%zu", i);
		write_packets(folder_at("%s", name), rows[i].packets);
		losses_of(losses, sizeof(losses), folder_at("%s", name));
		if (strcmp(losses, rows[i].wants))
			fail_msg("%s: not \"%s\" but \"%s\"", rows[i].name, rows[i].wants, losses);
		assert_true(read_same_and_quick(folder_at("%s", name)).records > 0);
	}
}

/*
 * A snapshot overwrites packets on purpose: by its directory's name it is told from a recording whose packets are
 * lost.
 */
static void the_head_of_a_snapshot_is_not_known_to_be_lost(void **state)
{
	static const struct packet_row rows[PACKETS_MAX] = { { 0, 0, 10, 200, 20 }, { 1, 3, 120, 200, 150 } };
	static const struct {
		const char *directory, *wants;
	} places[] = { { "trace", "known head 10-120 1" },
		       { "trace-20260102-030405", "known head 10-120 1" },
		       { "snapshot-1-20260102-030405-0", "head 10-120 1" } };
	char losses[256];

	(void)state;
	for (size_t i = 0; i < N_OF(places); i++) {
		const char *path = folder_at("%s", places[i].directory);

		write_packets(path, rows);
		losses_of(losses, sizeof(losses), path);
		assert_string_equal(losses, places[i].wants);
		losses_followed(losses, sizeof(losses), path);
		assert_string_equal(losses, places[i].wants);
	}
}

static void heads_of_two_rings_are_not_known_to_be_lost_while_they_grow(void **state)
{
	static const struct packet_row rows[PACKETS_MAX] = { { 0, 7, 10, 200, 20 }, { 1, 3, 120, 200, 150 } };
	char losses[256];

	(void)state;
	write_packets(folder_at("trace"), rows);
	losses_followed(losses, sizeof(losses), folder_at("trace"));
	assert_string_equal(losses, "head 10-120 1");
}

/* The stream's file and its index exist without a packet: the session was not stopped. */
static void a_stream_without_a_packet_is_a_loss(void **state)
{
	static const uint8_t index_header[16] = { 0xc1, 0xf1, 0xdc, 0xc1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 72 };
	static const struct packet_row rows[PACKETS_MAX] = { { 0, 0, 10, 200, 50 } };
	char losses[256];

	(void)state;
	write_packets(folder_at("trace"), rows);
	assert_int_equal(mkdir(folder_at("trace/index"), 0700), 0);
	save(folder_at("trace/channel_1"), "", 0);
	save(folder_at("trace/index/channel_1.idx"), index_header, sizeof(index_header));
	losses_of(losses, sizeof(losses), folder_at("trace"));
	assert_string_equal(losses, "tail 10-200 -1");
}

/* Write the index that LTTng would write. */
static void write_index(const char *directory, const char *name)
{
	struct bsa_packets packets;

	mkdir(folder_at("%s/index", directory), 0700);
	assert_int_equal(bsa_packets_read(&packets, folder_at("%s/%s", directory, name), BSA_HEADERS_LTTNG), 0);
	assert_int_equal(bsa_packets_write_index(&packets, folder_at("%s/index/%s.idx", directory, name)), 0);
	bsa_packets_fini(&packets);
}

/* All packets in the file are whole, but LTTng's index lists more. */
static void an_index_shows_that_a_file_is_cut_between_packets(void **state)
{
	static const struct packet_row rows[PACKETS_MAX] = { { 0, 0, 10, 100, 50 }, { 0, 1, 100, 200, 150 } };
	static struct file whole;
	struct decoders all;
	char losses[256];

	(void)state;
	write_packets(folder_at("trace"), rows);
	write_index("trace", "channel_0");
	load(&whole, folder_at("trace/channel_0"));
	save(folder_at("trace/channel_0"), whole.bytes, whole.n / 2);
	losses_of(losses, sizeof(losses), folder_at("trace"));
	assert_string_equal(losses, "cut 50-200 0");
	all = read_same(folder_at("trace"));
	assert_true(all.cut && !all.quick);
}

/*
 * The readings of both decoders: the times of a trace's events, its losses, and the numbers of repeated and
 * doubtful packets.
 */
static void reading_of(char *ret, size_t n, const char *path)
{
	const struct bsa_event *e;
	struct bsa_decode *d = NULL;
	struct bsa_decoded decoded;
	size_t used = 0;

	losses_of(ret, n, path);
	used = strlen(ret);
	used += (size_t)snprintf(ret + used, n - used, "%sevents", used ? ", " : "");
	assert_int_equal(bsa_decode_open(&d, &path, 1, NULL, NULL), 0);
	while (bsa_decode_next(d, &e, NULL) > 0)
		if (e->kind != BSA_loss)
			used += (size_t)snprintf(ret + used, n - used, " %d", (int)e->at);
	decoded = bsa_decode_decoded(d, 0);
	snprintf(ret + used, n - used, ", %d repeated, %d doubtful%s", (int)decoded.repeated, (int)decoded.doubtful,
	         decoded.cut ? ", cut" : "");
	bsa_decode_free(d);
}

/* Set @n bytes of a packet, from @offset of its first event on, to @byte. */
static void overwrite(const char *path, size_t packet, size_t offset, int byte, size_t n)
{
	static struct file file;

	load(&file, path);
	assert_true(packet + offset + n <= file.n);
	memset(file.bytes + packet + offset, byte, n);
	save(path, file.bytes, file.n);
}

/* A stream of three packets of one size, and another stream. */
static const struct packet_row three[PACKETS_MAX] = {
	{ 0, 0, 10, 100, 50 }, { 0, 1, 100, 200, 150 }, { 0, 2, 200, 300, 250 }, { 1, 0, 10, 300, 20 }
};
static const char three_told[] = "events 20 50 150 250, 0 repeated, 0 doubtful";

/* A ring overwrites its oldest packets, and the first packet that it still has does not have number 0. */
static void a_ring_that_overwrote_nothing_is_known_from_its_first_packets(void **state)
{
	static const struct {
		struct packet_row rows[PACKETS_MAX];
		bool from_start;
	} rings[] = {
		{ { { 0, 0, 10, 100, 50 }, { 0, 1, 100, 200, 150 }, { 1, 0, 10, 300, 20 } }, true },
		{ { { 0, 0, 10, 100, 50 }, { 0, 2, 200, 300, 250 }, { 1, 0, 10, 300, 20 } }, true }, /* a loss later */
		{ { { 0, 1, 100, 200, 150 }, { 1, 0, 10, 300, 20 } }, false },
		{ { { 0, 0, 10, 100, 50 }, { 1, 1, 100, 300, 120 } }, false },
		{ { { 0, 1, 100, 200, 150 }, { 1, 1, 100, 300, 120 } }, false },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rings); i++) {
		struct bsa_decode *d = NULL;
		const char *path;

		folder_begin(NULL);
		path = folder_at("trace");
		write_packets(path, rings[i].rows);
		assert_int_equal(bsa_decode_open(&d, &path, 1, NULL, NULL), 0);
		assert_int_equal(bsa_decode_decoded(d, 0).from_start, rings[i].from_start);
		bsa_decode_free(d);
	}
}

enum { INDEX_HEAD = 16, INDEX_ROW = 72 };

static void row_twice(struct file *index)
{
	memcpy(index->bytes + INDEX_HEAD + INDEX_ROW, index->bytes + INDEX_HEAD, INDEX_ROW);
}

static void rows_behind_the_end(struct file *index)
{
	memcpy(index->bytes + index->n, index->bytes + INDEX_HEAD, index->n - INDEX_HEAD);
	index->n += index->n - INDEX_HEAD;
}

static void rows_swapped(struct file *index)
{
	uint8_t row[INDEX_ROW];

	memcpy(row, index->bytes + INDEX_HEAD, INDEX_ROW);
	row_twice(index);
	memcpy(index->bytes + INDEX_HEAD, index->bytes + INDEX_HEAD + INDEX_ROW, INDEX_ROW);
	memcpy(index->bytes + INDEX_HEAD + INDEX_ROW, row, INDEX_ROW);
	memcpy(index->bytes + INDEX_HEAD, index->bytes + INDEX_HEAD + 2 * INDEX_ROW, INDEX_ROW);
}

static void another_time(struct file *index)
{
	index->bytes[INDEX_HEAD + 3 * 8 + 7]++;
}

static void another_content(struct file *index)
{
	index->bytes[INDEX_HEAD + 2 * 8 + 7] -= 8;
}

static void no_rows(struct file *index)
{
	index->n = INDEX_HEAD;
}

static void half_a_row(struct file *index)
{
	index->n -= INDEX_ROW / 2;
}

static void zeroes(struct file *index)
{
	memset(index->bytes + index->n, 0, INDEX_ROW);
	index->n += INDEX_ROW;
}

static void shorter_rows(struct file *index)
{
	index->bytes[15] = 56;
}

static void packets_are_trusted_more_than_an_index(void **state)
{
	static void (*const spoils[])(
		struct file *) = { row_twice, rows_behind_the_end, rows_swapped, another_time, another_content,
		                   no_rows,   half_a_row,          zeroes,       shorter_rows };
	static struct file index;
	char told[256];

	(void)state;
	for (size_t i = 0; i < N_OF(spoils); i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%zu", i);
		write_packets(folder_at("%s", name), three);
		write_index(name, "channel_0");
		load(&index, folder_at("%s/index/channel_0.idx", name));
		spoils[i](&index);
		save(folder_at("%s/index/channel_0.idx", name), index.bytes, index.n);
		reading_of(told, sizeof(told), folder_at("%s", name));
		assert_string_equal(told, three_told);
	}
}

static void an_index_that_is_no_file_is_not_opened(void **state)
{
	const char *index;
	char told[256];

	(void)state;
	write_packets(folder_at("trace"), three);
	assert_int_equal(mkdir(folder_at("trace/index"), 0700), 0);
	index = folder_at("trace/index/channel_0.idx");
	assert_int_equal(mkfifo(index, 0600), 0);
	reading_of(told, sizeof(told), folder_at("trace"));
	assert_string_equal(told, three_told);
	assert_int_equal(unlink(index), 0);
	assert_int_equal(mkdir(index, 0700), 0);
	reading_of(told, sizeof(told), folder_at("trace"));
	assert_string_equal(told, three_told);
	assert_int_equal(rmdir(index), 0);
	assert_int_equal(symlink("/dev/zero", index), 0);
	reading_of(told, sizeof(told), folder_at("trace"));
	assert_string_equal(told, three_told);
}

static void put_back(struct file *to, const struct file *from, size_t at, size_t n)
{
	memcpy(to->bytes + to->n, from->bytes + at, n);
	to->n += n;
}

/*
 * Build @to from @whole, whose packets have @n bytes each: the packets of @order, "012". A sign behind a
 * packet's digit changes that packet: - cuts its last seven bytes; + appends seven bytes; t changes its time;
 * n its number; b makes its number larger than all others.
 */
static void in_order(struct file *to, const struct file *whole, size_t n, const char *order)
{
	enum { BEGAN = 32, NUMBER = 64 };

	to->n = 0;
	for (; *order; order++) {
		uint8_t *packet = to->bytes + to->n - (to->n >= n ? n : 0);

		if (*order >= '0' && *order <= '9')
			put_back(to, whole, (size_t)(*order - '0') * n, n);
		else if (*order == '-')
			to->n -= 7;
		else if (*order == '+')
			put_back(to, whole, 11, 7);
		else if (*order == 't')
			packet[BEGAN]++;
		else if (*order == 'n')
			packet[NUMBER] = 9;
		else if (*order == 'b')
			packet[NUMBER + 5] = 1;
	}
}

struct order_row {
	const char *order, *wants;
};

/* A trace of three packets, whose file @name holds these packets in that order. */
static void reads_in_order(const struct order_row *row, const char *name)
{
	static struct file whole, file;
	static unsigned n;
	const char *trace = folder_at("ordered%u", n++);
	char told[256];

	write_packets(trace, three);
	load(&whole, folder_at("ordered%u/channel_0", n - 1));
	in_order(&file, &whole, whole.n / 3, row->order);
	save(folder_at("ordered%u/%s", n - 1, name), file.bytes, file.n);
	reading_of(told, sizeof(told), trace);
	if (strcmp(told, row->wants))
		fail_msg("%s: not \"%s\" but \"%s\"", row->order, row->wants, told);
}

static void a_packet_is_read_once_and_only_if_it_fits(void **state)
{
	static const struct order_row rows[] = {
		{ "012", three_told },
		{ "012012", "events 20 50 150 250, 3 repeated, 0 doubtful" },
		{ "0112", "events 20 50 150 250, 1 repeated, 0 doubtful" },
		{ "0120", "events 20 50 150 250, 1 repeated, 0 doubtful" },
		{ "011t2", "cut 101-200 0, events 20 50 150 250, 0 repeated, 1 doubtful" },
		/* with the number of another packet, and no packet behind it contradicts that */
		{ "0120n", "cut 10-100 0, cut 250-300 0, events 20 50 150 250, 0 repeated, 1 doubtful, cut" },
		/* one number is wrong: the packets behind it are right */
		{ "01b2", "cut 100-200 0, packets 100-200 0, events 20 50 250, 0 repeated, 1 doubtful" },
		/* a full disk keeps a part of a packet, and then has room for the next one */
		{ "01-2", "packets 100-200 0, events 20 50 250, 0 repeated, 0 doubtful" },
		{ "0-12", "known head 10-100 0, events 20 150 250, 0 repeated, 0 doubtful" },
		{ "0-1-2", "known head 10-200 0, events 20 250, 0 repeated, 0 doubtful" },
		{ "0+12", three_told },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		reads_in_order(&rows[i], "channel_0");
}

/* Packets repeated in other files are read once, as those repeated within a stream are. */
static void a_packet_is_read_once_of_however_many_files(void **state)
{
	static const struct order_row rows[] = {
		{ "012", "events 20 50 150 250, 3 repeated, 0 doubtful" },
		{ "2", "events 20 50 150 250, 1 repeated, 0 doubtful" },
		{ "1t", "cut 101-200 0, events 20 50 150 250, 0 repeated, 1 doubtful" },
		{ "1n", "cut 100-200 0, events 20 50 150 250, 0 repeated, 1 doubtful" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		reads_in_order(&rows[i], "channel_0_9");
}

/* A file full of packet headers that lead nowhere: reading it takes no longer than reading any file. */
static void a_file_of_headers_is_read_in_the_time_of_any_other(void **state)
{
	enum { HEADER = 84, MORE = 85 };
	static struct file whole, file;
	char told[256];

	(void)state;
	write_packets(folder_at("trace"), three);
	load(&whole, folder_at("trace/channel_0"));
	for (file.n = 0; file.n + MORE < FILE_MAX; file.n += MORE) { /* headers of one packet each, and a byte
	                                                              * that belongs to no packet */
		uint64_t bits = HEADER * 8, number = file.n / MORE;

		memcpy(file.bytes + file.n, whole.bytes, HEADER);
		memcpy(file.bytes + file.n + 48, &bits, sizeof(bits));
		memcpy(file.bytes + file.n + 56, &bits, sizeof(bits));
		memcpy(file.bytes + file.n + 64, &number, sizeof(number));
	}
	save(folder_at("trace/channel_0"), file.bytes, file.n);
	reading_of(told, sizeof(told), folder_at("trace"));
	for (file.n = 0; file.n + HEADER < FILE_MAX; file.n += HEADER) { /* headers of a packet that is larger
	                                                                  * than the file */
		uint64_t bits = (uint64_t)FILE_MAX * 16;

		memcpy(file.bytes + file.n, whole.bytes, HEADER);
		memcpy(file.bytes + file.n + 56, &bits, sizeof(bits));
	}
	save(folder_at("trace/channel_0"), file.bytes, file.n);
	reading_of(told, sizeof(told), folder_at("trace"));
}

/* burstscope record notes a second clock, so it knows how long the machine had slept. */
static void the_recorder_s_note_gives_how_long_the_machine_slept(void **state)
{
	static const struct {
		const char *says;
		bool known;
		int64_t boottime;
	} rows[] = {
		{ "session name with \"escapes\"\nboottime 00000000000000000123\n", true, 123 },
		{ "boottime 00000000000000000000\nsession name with \"escapes\"\n", true, 0 },
		{ "session name with \"escapes\"\nboottime -0000000000000000001\n", false, 0 },
		{ "session name with \"escapes\"\nboottime 99999999999999999999\n", false, 0 },
		{ "session name with \"escapes\"\nboottime soon\n", false, 0 },
		{ "session name with \"escapes\"\nended 300\n", false, 0 },
		{ "session another\nboottime 00000000000000000123\n", false, 0 },
	};
	static const struct packet_row packets[PACKETS_MAX] = { { 0, 0, 10, 200, 50 }, { 1, 0, 10, 300, 50 } };
	const char *path;

	(void)state;
	assert_int_equal(mkdir(folder_at("ust"), 0700), 0);
	write_packets(folder_at("ust/trace"), packets);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct bsa_decode *d = NULL;
		const struct bsa_trace *t;

		save(folder_at("burstscope.record"), rows[i].says, strlen(rows[i].says));
		path = folder_at("ust");
		assert_int_equal(bsa_decode_open(&d, &path, 1, NULL, NULL), 0);
		t = bsa_decode_trace(d, 0);
		if (t->boottime_known != rows[i].known || (rows[i].known && t->boottime != rows[i].boottime))
			fail_msg("%s: %d %" PRId64, rows[i].says, t->boottime_known, t->boottime);
		assert_int_equal(t->until, strstr(rows[i].says, "ended") ? 300 : 0);
		bsa_decode_free(d);
	}
}

struct record_row {
	const char *says, *wants;
};

/*
 * A trace of two streams, of which the first ends earlier: its losses with each of these records beside it.
 */
static void loses_as_recorded(const struct record_row *rows, size_t n)
{
	static const struct packet_row packets[PACKETS_MAX] = { { 0, 0, 10, 200, 50 }, { 1, 0, 10, 300, 50 } };
	char losses[256];

	assert_int_equal(mkdir(folder_at("ust"), 0700), 0);
	write_packets(folder_at("ust/trace"), packets);
	for (size_t i = 0; i < n; i++) {
		save(folder_at("burstscope.record"), rows[i].says, strlen(rows[i].says));
		losses_of(losses, sizeof(losses), folder_at("ust"));
		if (strcmp(losses, rows[i].wants))
			fail_msg("%s: not \"%s\" but \"%s\"", rows[i].says, rows[i].wants, losses);
	}
}

/*
 * burstscope record counts the streams when it stops. Without that count the loss of the last cpu's stream
 * and index does not show.
 */
static void the_recorder_s_note_gives_the_number_of_streams(void **state)
{
	static const struct record_row rows[] = {
		{ "session name with \"escapes\"\nstreams 00000000000000000002\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nstreams 00000000000000000003\n", "stream 10-300 2, tail 200-300 0" },
		{ "session name with \"escapes\"\nstreams 00000000000000000001\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nstreams 00000000000000000000\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nstreams 4097\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nstreams -1\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nstreams many\n", "tail 200-300 0" },
		{ "session another\nstreams 3\n", "tail 200-300 0" },
	};
	char losses[256];

	(void)state;
	loses_as_recorded(rows, N_OF(rows));
	save(folder_at("burstscope.record"), rows[0].says, strlen(rows[0].says));
	assert_int_equal(unlink(folder_at("ust/trace/channel_1")), 0);
	losses_of(losses, sizeof(losses), folder_at("ust"));
	assert_string_equal(losses, "stream 10-200 1");
}

/*
 * burstscope record notes until when it recorded: a stream that ends earlier is cut, and so is a stream
 * without a packet.
 */
static void the_recorder_s_note_gives_the_end_of_the_recording(void **state)
{
	static const struct record_row rows[] = {
		{ "ended 300\nsession name with \"escapes\"\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nended 0000000000000300\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nended 400\n", "tail 200-400 0, tail 300-400 1" },
		{ "session name with \"escapes\"\nended 150\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nended 18446744073709551615\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\nended soon\n", "tail 200-300 0" },
		{ "session name with \"escapes\"\n", "tail 200-300 0" },
		{ "session another\nended 400\n", "tail 200-300 0" },
		{ "", "tail 200-300 0" },
	};
	char losses[256];

	(void)state;
	loses_as_recorded(rows, N_OF(rows));
	save(folder_at("burstscope.record"), rows[2].says, strlen(rows[2].says)); /* the same for a file that is cut */
	assert_int_equal(truncate(folder_at("ust/trace/channel_1"), 100), 0);
	losses_of(losses, sizeof(losses), folder_at("ust"));
	assert_string_equal(losses, "cut 10-400 1, tail 200-400 0");
	assert_int_equal(unlink(folder_at("burstscope.record")), 0);
	assert_int_equal(mkfifo(folder_at("burstscope.record"), 0600), 0);
	losses_of(losses, sizeof(losses), folder_at("ust"));
	assert_string_equal(losses, "cut 10-300 1, tail 200-300 0");
}

/*
 * burstscope record records from packet 0 on, into no ring: where no stream has its packet 0, the first packets of
 * all of them are lost. Since when does not show.
 */
static void the_recorder_s_note_shows_that_all_heads_are_lost(void **state)
{
	static const struct packet_row rows[PACKETS_MAX] = { { 0, 2, 10, 300, 0 }, { 1, 3, 120, 300, 150 } };
	static const char note[] = "session name with \"escapes\"\nended 300\n";
	char losses[256];

	(void)state;
	assert_int_equal(mkdir(folder_at("ust"), 0700), 0);
	write_packets(folder_at("ust/trace"), rows);
	losses_of(losses, sizeof(losses), folder_at("ust"));
	assert_string_equal(losses, "head 10-120 1"); /* it may be a snapshot */
	save(folder_at("burstscope.record"), note, strlen(note));
	losses_of(losses, sizeof(losses), folder_at("ust"));
	assert_string_equal(losses, "known head 9-10 -1, head 10-120 1");
}

/* LTTng writes no index of a snapshot: where all streams have one, and none has its packet 0, all heads are lost. */
static void indices_show_that_all_heads_are_lost(void **state)
{
	static const struct packet_row rows[PACKETS_MAX] = { { 0, 2, 10, 300, 0 }, { 1, 3, 120, 300, 150 } };
	static const char *const parts[] = { "20261129T215111+0000-20261129T215211+0000-2", "s-20261129-215111-0" };
	char losses[256];

	(void)state;
	write_packets(folder_at("trace"), rows);
	write_index("trace", "channel_0");
	losses_of(losses, sizeof(losses), folder_at("trace"));
	assert_string_equal(losses, "head 10-120 1");
	write_index("trace", "channel_1");
	losses_of(losses, sizeof(losses), folder_at("trace"));
	assert_string_equal(losses, "known head 9-10 -1, head 10-120 1");
	/* what was before is in another directory */
	for (size_t i = 0; i < N_OF(parts); i++) {
		assert_int_equal(
			rename(i ? folder_at("%s", parts[i - 1]) : folder_at("trace"), folder_at("%s", parts[i])), 0);
		losses_of(losses, sizeof(losses), folder_at("%s", parts[i]));
		assert_string_equal(losses, "head 10-120 1");
	}
}

/* The header of the first packet is cut, too: not even the cpu is known. */
static void a_file_without_a_whole_header_hides_all_of_the_trace(void **state)
{
	static const struct packet_row rows[PACKETS_MAX] = { { 0, 0, 10, 200, 50 }, { 1, 0, 10, 200, 50 } };
	static struct file whole;
	char losses[256];

	(void)state;
	write_packets(folder_at("trace"), rows);
	load(&whole, folder_at("trace/channel_1"));
	save(folder_at("trace/channel_1"), whole.bytes, 40);
	losses_of(losses, sizeof(losses), folder_at("trace"));
	assert_string_equal(losses, "cut 10-200 -1");
}

/* Bytes that are no event: the rest of the stream is lost, as if the file ended there. */
static void a_stream_that_is_broken_is_lost_to_the_end(void **state)
{
	struct decoders all;
	char told[256];
	struct stat st;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		static const char *const says[] = {
			"cut 10-300 0, events 20, 0 repeated, 0 doubtful, cut",
			"cut 100-300 0, events 20 50, 0 repeated, 0 doubtful, cut",
			"cut 200-300 0, events 20 50 150, 0 repeated, 0 doubtful, cut",
		};

		write_packets(folder_at("t%d", (int)i), three);
		assert_int_equal(stat(folder_at("t%d/channel_0", (int)i), &st), 0);
		overwrite(folder_at("t%d/channel_0", (int)i), i * (size_t)st.st_size / 3, 84, 0xff, 16);
		reading_of(told, sizeof(told), folder_at("t%d", (int)i));
		assert_string_equal(told, says[i]);
		all = read_same_and_quick(folder_at("t%d", (int)i));
		assert_true(all.cut);
	}
}

/* An event later than its packet's end: the rest of its packet is lost; the next packet is read. */
static void an_event_that_contradicts_its_packet_costs_the_packet(void **state)
{
	enum { EXTENDED = 5 }; /* some_event() gives it a header with all bits of its time */
	static const struct row {
		uint64_t time, which;
		bool compact;
		const char *says;
	} rows[] = {
		{ 100, EXTENDED, false,
		  "events 20 100 100 150 250, 0 repeated, 0 doubtful" }, /* the packet's last moment */
		{ 101, 0, false, "cut 20-100 0, events 20 150 250, 0 repeated, 0 doubtful" },
		{ 101, 0, true, "cut 20-100 0, events 20 150 250, 0 repeated, 0 doubtful" },
		{ 101, EXTENDED, false, "cut 20-100 0, events 20 150 250, 0 repeated, 0 doubtful" },
		{ 15, 0, true, "cut 20-100 0, events 20 150 250, 0 repeated, 0 doubtful" }, /* a turn of the clock */
		/* earlier than the event before it: the time stands still */
		{ 9, EXTENDED, true, "events 20 20 100 150 250, 0 repeated, 0 doubtful" },
	};
	static struct lttng t;
	char told[256];

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		t = (struct lttng){ .directory = folder_at("t%d", (int)i), .compact = rows[i].compact };
		write_metadata(&t);
		packet_begins(&t, 10);
		some_event(&t, 20, 0);
		some_event(&t, rows[i].time, rows[i].which);
		some_event(&t, 100, 0); /* within the packet, but the decoder trusts nothing behind a contradiction */
		packet_ends(&t, 100, 3);
		packet_begins(&t, 100);
		some_event(&t, 150, 0);
		packet_ends(&t, 200, 3);
		packet_begins(&t, 200);
		some_event(&t, 250, 0);
		packet_ends(&t, 300, 3);
		write_stream(&t);
		reading_of(told, sizeof(told), t.directory);
		assert_string_equal(told, rows[i].says);
		assert_true(read_same_and_quick(t.directory).quick);
	}
}

/* Directories of one trace: a rotation leaves a gap, and empty packets. */
static void a_gap_in_which_the_session_was_rotated_is_marked(void **state)
{
	static const struct packet_row first[PACKETS_MAX] = { { 0, 0, 10, 100, 50 }, { 1, 0, 10, 103, 50 } },
				       second[PACKETS_MAX] = { { 0, 1, 105, 105, 0 },
		                                               { 0, 2, 150, 200, 150 },
		                                               { 1, 1, 107, 107, 0 },
		                                               { 1, 2, 160, 200, 0 } };
	char losses[256];

	(void)state;
	assert_int_equal(mkdir(folder_at("both"), 0700), 0);
	write_packets(folder_at("both/1"), first);
	write_packets(folder_at("both/2"), second);
	losses_of(losses, sizeof(losses), folder_at("both"));
	assert_string_equal(losses, "rotated gap 103-150 -1");
	losses_of(losses, sizeof(losses), folder_at("both/2")); /* read alone, its streams begin within 2 ns of
	                                                         * each other */
	assert_string_equal(losses, "head 105-107 1");
}

/* Two recordings of one boot: the state at the end of the first is unknown at the beginning of the second. */
static void between_recordings_is_a_gap(void **state)
{
	static const struct packet_row first[PACKETS_MAX] = { { 0, 0, 10, 100, 50 } },
				       second[PACKETS_MAX] = { { 0, 0, 150, 200, 160 } },
				       ring[PACKETS_MAX] = { { 0, 5, 150, 200, 160 }, { 1, 7, 170, 200, 180 } },
				       beside[PACKETS_MAX] = { { 0, 0, 90, 200, 160 } };
	char losses[256];

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(mkdir(folder_at("d%d", (int)i), 0700), 0);
	write_packets(folder_at("d0/1"), first);
	write_packets_of(folder_at("d0/2"), second, true);
	losses_of(losses, sizeof(losses), folder_at("d0"));
	assert_string_equal(losses, "gap 100-150 -1");
	write_packets(folder_at("d1/1"), first);
	write_packets_of(folder_at("d1/2"), ring, true);
	losses_of(losses, sizeof(losses), folder_at("d1"));
	assert_string_equal(losses, "gap 100-150 -1, head 150-170 1");
	write_packets(folder_at("d2/1"), first);
	write_packets_of(folder_at("d2/2"), beside, true);
	losses_of(losses, sizeof(losses), folder_at("d2"));
	assert_string_equal(losses, "");
}

static void small(struct lttng *t, const char *name, bool compact)
{
	*t = (struct lttng){ .directory = folder_at("%s", name), .compact = compact };
	write_lttng(t, 4, 7, 5);
	assert_int_equal(read_same_and_quick(t->directory).records,
	                 4 * 6 + 2 + 3); /* the events, the losses and the gaps */
}

static void cut_anywhere_it_is_the_same(void **state)
{
	static struct lttng t;
	size_t whole;

	(void)state;
	small(&t, "trace", true);
	whole = t.file.n;
	for (t.file.n = 1; t.file.n < whole; t.file.n += 1 + whole / 100) {
		write_stream(&t);
		read_same(t.directory);
	}
}

/* babeltrace2 aborts over sizes of 2^63 bits and more, wherever it reads a packet's head. */
static void no_such_sizes(struct file *file)
{
	for (size_t i = 0; i + 64 <= file->n; i++)
		if (!memcmp(file->bytes + i, "\xc1\x1f\xfc\xc1", 4)) {
			file->bytes[i + 55] &= 0x7f;
			file->bytes[i + 63] &= 0x7f;
		}
}

/* The number of damaged traces; ./run soak has time for more. */
static size_t spoilt(void)
{
	const char *seconds = getenv("NNB_SOAK_SECONDS");

	return seconds ? 100 + 30 * strtoul(seconds, NULL, 10) : 100;
}

/* @ret_quick: how many of them the quick decoder read. */
static void spoil(struct lttng *t, size_t n, uint64_t seed, size_t *ret_quick, size_t *ret_cut)
{
	static struct file whole;

	whole = t->file;
	*ret_quick = *ret_cut = 0;
	for (size_t i = 0; i < n; i++) {
		struct decoders all;

		t->file = whole;
		for (uint64_t k = xorshift_next(&seed) % 2; k < 2; k++)
			t->file.bytes[xorshift_next(&seed) % whole.n] =
				(uint8_t)(xorshift_next(&seed) % 4 ? xorshift_next(&seed) : 0xff);
		no_such_sizes(&t->file);
		write_stream(t);
		all = read_same(t->directory);
		*ret_quick += all.quick;
		*ret_cut += all.quick && all.cut;
	}
}

static void spoilt_anywhere_it_is_the_same(void **state)
{
	static struct lttng t;
	size_t quick, cut;

	(void)state;
	for (int compact = 0; compact < 2; compact++) {
		small(&t, compact ? "compact" : "large", compact);
		spoil(&t, spoilt(), 11 + (unsigned)compact, &quick, &cut);
		assert_true(quick > 15 && cut > 1); /* the quick decoder did not leave all of them to babeltrace2 */
	}
}

static void what_is_not_understood_is_left_to_babeltrace2(void **state)
{
	static const char *const changes[][2] = {
		{ "size = 32; align = 8; signed = false; } := uint32_t",
		  "size = 32; align = 32; signed = false; } := uint32_t" },
		{ "byte_order = le", "byte_order = be" },
		{ "tracer_minor = 13", "tracer_minor = 10" },
		{ "lttng-ust", "barectf" },
		{ "0 ... 30", "0 ... 29" },
		{ "_used;", "_used[3][4];" },
		{ "loglevel = 12", "unknown = 12" },
		{ "uint64_t content_size", "uint32_t content_size" },
	};
	static struct file metadata;
	static struct lttng t;

	(void)state;
	for (size_t i = 0; i < N_OF(changes); i++) {
		char name[8], *where;
		size_t from = strlen(changes[i][0]), to = strlen(changes[i][1]);

		snprintf(name, sizeof(name), "t%zu", i);
		small(&t, name, true);
		load(&metadata, folder_at("%s/metadata", name));
		metadata.bytes[metadata.n] = 0;
		where = strstr((char *)metadata.bytes, changes[i][0]);
		assert_non_null(where);
		memmove(where + to, where + from, strlen(where + from) + 1);
		memcpy(where, changes[i][1], to);
		save(folder_at("%s/metadata", name), metadata.bytes, metadata.n + to - from);
		if (i != 7) /* change 7 makes another valid number */
			assert_false(read_same(folder_at("%s", name)).quick);
	}
}

/* lttng-sessiond writes metadata in packets. babeltrace2 waits for ever for the rest of one that is cut. */
static void metadata_in_packets_is_the_same_and_cut_is_refused(void **state)
{
	static struct file plain, packets;
	static struct lttng t;
	size_t room = 4096 - 37;

	(void)state;
	small(&t, "trace", true);
	load(&plain, folder_at("trace/metadata"));
	packets.n = 0;
	for (size_t i = 0; i < plain.n; i += room) {
		size_t n = plain.n - i < room ? plain.n - i : room;
		uint32_t words[] = { 0x75d11d57, 0, 0, 0, 0, 0, (uint32_t)(37 + n) * 8, 4096 * 8 };
		uint8_t *packet = packets.bytes + packets.n;

		memset(packet, 0, 4096);
		memcpy(words + 1, uuid, sizeof(uuid));
		memcpy(packet, words, sizeof(words));
		packet[35] = 1;
		packet[36] = 8;
		memcpy(packet + 37, plain.bytes + i, n);
		packets.n += 4096;
	}
	save(folder_at("trace/metadata"), packets.bytes, packets.n);
	assert_int_equal(read_same_and_quick(t.directory).records, 29);
	for (size_t n = 1; n < packets.n; n += 911) {
		struct decoders all;

		save(folder_at("trace/metadata"), packets.bytes, n);
		all = read_same(t.directory);
		if (n % 4096 < 4000) /* the cut takes more than padding */
			assert_int_equal(all.code, BSA_E_INPUT);
	}
}

#define T(name) cmocka_unit_test_setup(name, folder_begin)

int main(void)
{
	const struct CMUnitTest all[] = {
		T(whatever_the_sink_writes_is_the_same),
		T(fields_of_any_width_are_the_same),
		T(whatever_lttng_writes_is_the_same),
		T(counts_of_losses_may_go_back),
		T(times_without_packets_are_losses),
		T(the_head_of_a_snapshot_is_not_known_to_be_lost),
		T(heads_of_two_rings_are_not_known_to_be_lost_while_they_grow),
		T(a_stream_without_a_packet_is_a_loss),
		T(an_index_shows_that_a_file_is_cut_between_packets),
		T(packets_are_trusted_more_than_an_index),
		T(an_index_that_is_no_file_is_not_opened),
		T(a_packet_is_read_once_and_only_if_it_fits),
		T(a_packet_is_read_once_of_however_many_files),
		T(a_file_of_headers_is_read_in_the_time_of_any_other),
		T(the_recorder_s_note_gives_the_end_of_the_recording),
		T(a_ring_that_overwrote_nothing_is_known_from_its_first_packets),
		T(the_recorder_s_note_shows_that_all_heads_are_lost),
		T(indices_show_that_all_heads_are_lost),
		T(the_recorder_s_note_gives_the_number_of_streams),
		T(the_recorder_s_note_gives_how_long_the_machine_slept),
		T(a_file_without_a_whole_header_hides_all_of_the_trace),
		T(a_stream_that_is_broken_is_lost_to_the_end),
		T(an_event_that_contradicts_its_packet_costs_the_packet),
		T(a_gap_in_which_the_session_was_rotated_is_marked),
		T(between_recordings_is_a_gap),
		T(windows_end_anywhere),
		T(cut_anywhere_it_is_the_same),
		T(spoilt_anywhere_it_is_the_same),
		T(what_is_not_understood_is_left_to_babeltrace2),
		T(metadata_in_packets_is_the_same_and_cut_is_refused),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
