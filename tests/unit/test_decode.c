/*
 * test_decode.c -- traces in, records out: events that babeltrace2's own sink wrote come back unchanged and in
 * the order of time, with any number of readers; odd, cut, foreign and hostile input is counted, or refused
 * with a sentence.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/script.h"
#include "base.h"
#include "decode/decode.h"

enum { THREADS_MAX = 4, PATH = 512 };

/* ---- places ---- */

static char top[PATH / 2]; /* directory of all tests */
static char place[PATH];   /* directory of this test */
static int tests;
static enum bsa_decoder decoder; /* the decoder of all tests in this run */

static int begin(void **state)
{
	(void)state;
	snprintf(place, sizeof(place), "%s/%d", top, tests++);
	return mkdir(place, 0700);
}

/* A path below this test's place. The last few results stay valid. */
static const char *at(const char *format, ...)
{
	static char paths[8][2 * PATH];
	static int next;
	char *path = paths[next++ % 8];
	va_list args;
	int n = snprintf(path, PATH, "%s/", place);

	va_start(args, format);
	vsnprintf(path + n, PATH, format, args);
	va_end(args);
	return path;
}

static void shell(const char *format, ...)
{
	char command[4 * PATH];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static off_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/* ---- writing ---- */

static void write_options(const char *directory, const char *lines, const struct ctf_options *options)
{
	struct ctf_writer *w = ctf_writer_new(directory, options);

	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
}

static void write_lines(const char *directory, const char *lines)
{
	write_options(directory, lines, &(struct ctf_options){ 0 });
}

/* ---- reading ---- */

struct records {
	struct bsa_event **list;
	size_t n;
	int end; /* the last result of bsa_decode_next */
};

static struct records read_all(struct bsa_decode *d)
{
	struct records all = { 0 };
	const struct bsa_event *e;
	struct bsa_err err = { "" };

	while ((all.end = bsa_decode_next(d, &e, &err)) > 0) {
		if (!(all.n & (all.n + 1)))
			assert_non_null(all.list = realloc(all.list, (all.n + 1) * 2 * sizeof(*all.list)));
		if (all.n)
			assert_true(e->at >= all.list[all.n - 1]->at || e->trace != all.list[all.n - 1]->trace);
		assert_true(e->kind < BSA_N_KINDS && e->size % 8 == 0);
		assert_non_null(all.list[all.n] = malloc(e->size));
		memcpy(all.list[all.n++], e, e->size);
	}
	return all;
}

static void records_free(struct records *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->list[i]);
	free(all->list);
}

static struct bsa_decode *open_paths(unsigned threads, size_t n, const char *const *paths)
{
	struct bsa_decode *d = NULL;
	struct bsa_err err = { "" };

	if (bsa_decode_open(&d, paths, n, &(struct bsa_decode_options){ .threads = threads, .decoder = decoder }, &err))
		fail_msg("%s", err.text);
	assert_string_equal(err.text, "");
	return d;
}

#define open_all(threads, ...) \
	open_paths(threads, N_OF(((const char *[]){ __VA_ARGS__ })), (const char *[]){ __VA_ARGS__ })

static struct records records_of(const char *path, struct bsa_decoded *ret)
{
	struct bsa_decode *d = open_all(0, path);
	struct records all = read_all(d);

	assert_int_equal(all.end, 0);
	if (ret)
		*ret = bsa_decode_decoded(d, 0);
	bsa_decode_free(d);
	return all;
}

static void expect_same_records(const struct records *a, const struct records *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_int_equal(a->list[i]->size, b->list[i]->size);
		assert_memory_equal(a->list[i], b->list[i], a->list[i]->size);
	}
}

/* The only record of kind @name. */
#define ONLY(all, name) ((const struct bsa_##name *)(only_record((all), BSA_##name) + 1))
static const struct bsa_event *only_record(const struct records *all, enum bsa_kind kind)
{
	const struct bsa_event *found = NULL;

	for (size_t i = 0; i < all->n; i++)
		if (all->list[i]->kind == kind) {
			assert_null(found);
			found = all->list[i];
		}
	assert_non_null(found);
	return found;
}

/* Expect that this one trace is refused, with these words. */
static void expect_refusal(const char *path, int code, const char *says)
{
	struct bsa_decode *d = (void *)1;
	struct bsa_err err = { "" };

	assert_int_equal(bsa_decode_open(&d, &path, 1, &(struct bsa_decode_options){ .decoder = decoder }, &err), code);
	assert_ptr_equal(d, (void *)1);
	if (!strstr(err.text, says))
		fail_msg("not said: %s\nbut: %s", says, err.text);
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(bsa_decode_open(&d, &path, 1, NULL, NULL), code);
}

/* ---- values ---- */

static void add_record(struct records *all, const char *line)
{
	assert_non_null(all->list = realloc(all->list, (all->n + 1) * sizeof(*all->list)));
	all->list[all->n++] = script_record(line);
}

/* Each event of the catalogue, with a different number in each field. */
static struct records every_event(void)
{
	struct records all = { 0 };
	uint64_t seed = 8, number = 1;
	char line[1024];
	size_t n, of_list;

#define BEGIN(name) n = (size_t)snprintf(line, sizeof(line), "%zu %s", 1000 + all.n, #name);
#define NBT_EVENT(name, sides, level, about, fields) BEGIN(name) fields add_record(&all, line);
#define ADD(...) n += (size_t)snprintf(line + n, sizeof(line) - n, __VA_ARGS__);
#define NBT_INT(type, name)                                                                    \
	number = xorshift_star_next(&seed) & UINT64_MAX >> (64 - 8 * sizeof(nbt_##type)) >> 1; \
	ADD(" %s=%llu", #name, (unsigned long long)number)
#define NBT_LABEL(enumeration, name) ADD(" %s=%u", #name, (unsigned)xorshift_star_next(&seed) & 0xff)
#define NBT_ARRAY(type, name, count)                  \
	for (of_list = 0; of_list < count; of_list++) \
	ADD("%s%llu", of_list ? "," : " " #name "=", (unsigned long long)xorshift_star_next(&seed))
#define NBT_TEXT(name) ADD(" %s=text%u", #name, (unsigned)xorshift_star_next(&seed))
	typedef uint8_t nbt_u8;
	typedef uint16_t nbt_u16;
	typedef uint32_t nbt_u32;
	typedef uint64_t nbt_u64;
	typedef int32_t nbt_i32;
	typedef int64_t nbt_i64;
#include "nbt/events.def"
	add_record(&all, "9000 loss ended=9100 events=12 cpu=0");
	return all;
}

static void every_field_of_every_event_comes_back(void **state)
{
	struct ctf_writer *w = ctf_writer_new(at("trace"), &(struct ctf_options){ 0 });
	struct records written = every_event(), read;
	struct bsa_decoded decoded;

	(void)state;
	((struct bsa_loss *)(written.list[written.n - 1] + 1))->packets = BSA_NEVER;
	for (size_t i = 0; i < written.n; i++)
		ctf_writer_record(w, 0, written.list[i]);
	ctf_writer_free(w);
	read = records_of(at("trace"), &decoded);
	((struct bsa_loss *)(written.list[written.n - 1] + 1))->packets = 0;
	assert_int_equal(written.n, BSA_N_KINDS);
	expect_same_records(&written, &read);
	assert_int_equal(decoded.events, BSA_N_KINDS - 1);
	assert_int_equal(decoded.lost_events, 12);
	assert_int_equal(decoded.foreign + decoded.unusable + decoded.unknown_fields + decoded.lost_packets, 0);
	assert_int_equal(decoded.began, 1000);
	assert_int_equal(decoded.ended, 1000 + BSA_N_KINDS - 2);
	assert_false(decoded.cut);
	records_free(&written);
	records_free(&read);
}

/* One event with the fields of @fields. */
static struct records one_event(const char *event, const char *fields, const char *values, struct bsa_decoded *ret)
{
	struct ctf_writer *w = ctf_writer_new(at("odd %d", tests), &(struct ctf_options){ 0 });
	struct records all;

	ctf_writer_define(w, event, fields);
	ctf_writer_event(w, 0, 500, event, values);
	/* an event of the catalogue, so that the trace is not foreign */
	ctf_writer_event(w, 0, 600, "nnburst:model_release", "model=7");
	ctf_writer_free(w);
	all = records_of(at("odd %d", tests++), ret);
	assert_int_equal(ONLY(&all, model_release)->model, 7);
	return all;
}

static void fields_are_found_by_name_at_any_width(void **state)
{
	struct records all = one_event("nnburst:fmq_read",
	                               "wakeups:i64 slept_ns:u32 queue:u64 exec:i64 used:u3 items:e8 spun_ns:u64",
	                               "wakeups=9 slept_ns=5000 queue=1 exec=77 used=5 items=2 spun_ns=3", NULL);
	const struct bsa_fmq_read *read = ONLY(&all, fmq_read);

	(void)state;
	assert_int_equal(read->exec, 77);
	assert_int_equal(read->queue, 1);
	assert_int_equal(read->items, 2);
	assert_int_equal(read->used, 5);
	assert_int_equal(read->spun_ns, 3);
	assert_int_equal(read->slept_ns, 5000);
	assert_int_equal(read->wakeups, 9);
	records_free(&all);
}

static void a_number_out_of_range_becomes_the_nearest_limit(void **state)
{
	struct records all = one_event("nnburst:slot_lookup", "exec:u64 slot:i64 hit:u64",
	                               "exec=18446744073709551615 slot=-99999999999 hit=300", NULL);

	(void)state;
	assert_true(ONLY(&all, slot_lookup)->exec == UINT64_MAX);
	assert_int_equal(ONLY(&all, slot_lookup)->slot, INT32_MIN);
	assert_int_equal(ONLY(&all, slot_lookup)->hit, 255);
	records_free(&all);
	all = one_event("nnburst:slot_lookup", "exec:u64 slot:u64 hit:i8", "exec=1 slot=4294967295 hit=-1", NULL);
	assert_int_equal(ONLY(&all, slot_lookup)->slot, INT32_MAX);
	assert_int_equal(ONLY(&all, slot_lookup)->hit, 255);
	records_free(&all);
	all = one_event("nnburst:slot_lookup", "exec:u64 slot:i16 hit:u8", "exec=1 slot=-2 hit=0", NULL);
	assert_int_equal(ONLY(&all, slot_lookup)->slot, -2);
	records_free(&all);
}

static void an_absent_field_has_its_default(void **state)
{
	struct bsa_decoded decoded;
	struct records all = one_event("nnburst:exec_end", "exec:u64", "exec=5", &decoded);
	const struct bsa_exec_end *end = ONLY(&all, exec_end);
	const struct bsa_exec_service *service;

	(void)state;
	assert_true(end->exec == 5 && end->cpu_ns == BSA_NEVER && end->lane == BSA_LANE_NONE);
	assert_true(end->redo_ns == 0 && end->status == 0 && end->ops_run == 0);
	assert_int_equal(decoded.unusable + decoded.unknown_fields, 0);
	records_free(&all);
	all = one_event("nnburst:exec_service", "exec:u64 at:u32[3]", "exec=5 at=1,2,3", &decoded);
	service = ONLY(&all, exec_service);
	assert_true(service->at[0] == 1 && service->at[2] == 3 && service->at[3] == BSA_NEVER);
	assert_true(service->at[9] == BSA_NEVER && service->lane == BSA_LANE_NONE);
	records_free(&all);
}

static void arrays_of_any_length_are_arrays(void **state)
{
	struct records all = one_event("nnburst:exec_client", "exec:u64 at:u64[]", "exec=5 at=1,2,3,4,5,6", NULL);

	(void)state;
	assert_int_equal(ONLY(&all, exec_client)->at[3], 4);
	records_free(&all);
	all = one_event("nnburst:exec_client", "exec:u64 at:i16[2]", "exec=5 at=-1,7", NULL);
	assert_true(ONLY(&all, exec_client)->at[0] == UINT64_MAX);
	assert_int_equal(ONLY(&all, exec_client)->at[1], 7);
	assert_true(ONLY(&all, exec_client)->at[2] == BSA_NEVER);
	records_free(&all);
}

static void texts_are_cut_at_63_bytes(void **state)
{
	char values[200] = "conn=4 name=", expected[64] = "";
	struct records all;

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(values, i % 2 ? "o" : "x");
	memcpy(expected, values + strlen("conn=4 name="), 63);
	all = one_event("nnburst:client_connect", "conn:u32 name:text", values, NULL);
	assert_string_equal(ONLY(&all, client_connect)->name, expected);
	records_free(&all);
	all = one_event("nnburst:client_connect", "conn:u32 name:u8[3]", "conn=4 name=104,117,104", NULL);
	assert_string_equal(ONLY(&all, client_connect)->name, "huh");
	records_free(&all);
}

static void unknown_events_are_skipped_and_counted(void **state)
{
	struct bsa_decoded decoded;
	struct records all = one_event("nnburst:exec_return", "novelty:u64 exec:u64 more:text status:u8",
	                               "novelty=1 exec=2 more=words status=3", &decoded);

	(void)state;
	assert_int_equal(ONLY(&all, exec_return)->status, 3);
	assert_int_equal(decoded.unknown_fields, 2);
	records_free(&all);
	all = one_event("nnburst:exec_of_tomorrow", "exec:u64", "exec=2", &decoded);
	assert_int_equal(all.n, 1);
	assert_true(decoded.foreign == 1 && decoded.events == 2 && decoded.unknown_fields == 0);
	records_free(&all);
	all = one_event("somebody:exec_return", "exec:u64", "exec=2", &decoded);
	assert_true(all.n == 1 && decoded.foreign == 1);
	records_free(&all);
}

static void unusable_events_are_counted(void **state)
{
	static const char *const odd[][3] = {
		{ "nnburst:exec_return", "status:u8", "status=1" },
		{ "nnburst:exec_return", "exec:f64 status:u8", "exec=2 status=1" },
		{ "nnburst:exec_return", "exec:text status:u8", "exec=2 status=1" },
		{ "nnburst:exec_return", "exec:u64[2] status:u8", "exec=2,3 status=1" },
		{ "nnburst:fmq_write", "exec:u64", "exec=2" },
		{ "nnburst:stream_close", "reason:u8", "reason=2" },
		{ "nnburst:exec_return", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(odd); i++) {
		struct bsa_decoded decoded;
		struct records all = one_event(odd[i][0], odd[i][1], odd[i][2], &decoded);

		assert_true(all.n == 1 && decoded.unusable == 1 && decoded.foreign == 0 && decoded.events == 2);
		records_free(&all);
	}
}

/* ---- time ---- */

static void losses_have_time_place_and_number(void **state)
{
	struct records all;
	struct bsa_decoded decoded;

	(void)state;
	write_lines(at("trace"), "100 exec_return exec=1 cpu=3\n"
	                         "200 loss ended=300 events=5 cpu=3\n"
	                         "250 exec_return exec=2 cpu=3\n"
	                         "400 exec_return exec=3 cpu=3\n");
	all = records_of(at("trace"), &decoded);
	assert_int_equal(all.n, 4);
	assert_int_equal(all.list[1]->at, 200);
	assert_true(ONLY(&all, loss)->ended == 300 && ONLY(&all, loss)->events == 5 && ONLY(&all, loss)->packets == 0);
	assert_true(ONLY(&all, loss)->cpu == 3 && ONLY(&all, loss)->pid == 0);
	assert_true(decoded.lost_events == 5 && decoded.lost_packets == 0);
	records_free(&all);
	write_options(at("packets"), "100 exec_return exec=1\n200 loss ended=300 packets=2\n400 exec_return exec=3\n",
	              &(struct ctf_options){ .pid = 77 });
	all = records_of(at("packets"), &decoded);
	assert_true(ONLY(&all, loss)->packets == 2 && ONLY(&all, loss)->events == BSA_NEVER);
	assert_true(ONLY(&all, loss)->pid == 77 && ONLY(&all, loss)->ended == 300);
	assert_int_equal(decoded.lost_packets, 2);
	records_free(&all);
}

static void a_loss_before_the_first_packet_has_no_number(void **state)
{
	struct records all;
	struct bsa_decoded decoded;

	(void)state;
	write_lines(at("trace"), "100 exec_return exec=1 cpu=2\n200 loss ended=300 events=5 cpu=2\n"
	                         "250 exec_return exec=2 cpu=2\n");
	/* remove the first packet: how many events were lost before a first packet is unknown */
	shell("cd '%s' && bytes=$(od -An -t u8 -j 36 -N 8 cpu_2) && tail -c +$((bytes / 8 + 1)) cpu_2 >rest && mv rest "
	      "cpu_2",
	      at("trace"));
	all = records_of(at("trace"), &decoded);
	assert_int_equal(all.n, 2);
	assert_true(ONLY(&all, loss)->events == BSA_NEVER && ONLY(&all, loss)->cpu == 2);
	assert_int_equal(decoded.lost_events, 1); /* at least */
	records_free(&all);
}

static void cycles_of_any_clock_become_ns(void **state)
{
	struct records all;

	(void)state;
	write_options(at("trace"), "1000 exec_return exec=1\n1007 exec_return exec=2\n",
	              &(struct ctf_options){ .frequency = 1000000 });
	all = records_of(at("trace"), NULL);
	assert_int_equal(all.list[0]->at, 1000000);
	assert_int_equal(all.list[1]->at, 1007000);
	records_free(&all);
}

static void time_that_goes_backwards_stands_still(void **state)
{
	struct ctf_writer *w = ctf_writer_new(at("trace"), &(struct ctf_options){ .backwards = true });
	struct records all;
	struct bsa_decoded decoded;

	(void)state;
	ctf_writer_event(w, 0, 1000, "nnburst:exec_return", "exec=1");
	ctf_writer_event(w, 0, 400, "nnburst:exec_return", "exec=2");
	ctf_writer_event(w, 0, 1100, "nnburst:exec_return", "exec=3");
	ctf_writer_free(w);
	all = records_of(at("trace"), &decoded);
	assert_int_equal(all.n, 3);
	assert_int_equal(all.list[1]->at, 1000);
	assert_int_equal(all.list[2]->at, 1100);
	assert_int_equal(decoded.unusable, 1);
	records_free(&all);
}

/* Streams of @cpus cpus, with many equal times. */
static void write_random(const char *directory, unsigned cpus, size_t n, uint64_t seed,
                         const struct ctf_options *options)
{
	struct ctf_writer *w = ctf_writer_new(directory, options);
	uint64_t time[64] = { 0 };

	for (size_t i = 0; i < n; i++) {
		unsigned cpu = (unsigned)(xorshift_star_next(&seed) % cpus);
		char values[64];

		time[cpu] += xorshift_star_next(&seed) % 4 ? xorshift_star_next(&seed) % 8 : 0;
		snprintf(values, sizeof(values), "exec=%zu status=%u", i + 1, cpu);
		ctf_writer_event(w, cpu, 1000 + time[cpu], "nnburst:exec_return", values);
	}
	ctf_writer_free(w);
}

/*
 * By time, and among equal times by number, except within a stream, whose order stands: the status is the cpu's
 * number.
 */
static bool in_order(const struct bsa_event *a, const struct bsa_event *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->trace != b->trace || BSA_OF(a, exec_return)->status != BSA_OF(b, exec_return)->status)
		return true;
	return BSA_OF(a, exec_return)->exec < BSA_OF(b, exec_return)->exec;
}

static void the_order_is_the_same_for_any_number_of_readers(void **state)
{
	enum { EVENTS = 20000 };

	(void)state;
	for (unsigned cpus = 1; cpus <= 16; cpus += 5) {
		struct records one, more;
		uint64_t done, all;

		write_random(at("%u", cpus), cpus, EVENTS, cpus, &(struct ctf_options){ 0 });
		write_random(at("other %u", cpus), 3, EVENTS, 99 + cpus, &(struct ctf_options){ 0 });
		for (unsigned threads = 1; threads <= THREADS_MAX + 1; threads++) {
			struct bsa_decode *d =
				open_all(threads % (THREADS_MAX + 1), at("%u", cpus), at("other %u", cpus));

			more = read_all(d);
			bsa_decode_progress(d, &done, &all);
			assert_int_equal(more.end, 0);
			assert_int_equal(done, all);
			assert_true(all >= (uint64_t)EVENTS * 20);
			assert_int_equal(bsa_decode_decoded(d, 0).events, EVENTS);
			bsa_decode_free(d);
			assert_int_equal(more.n, 2 * EVENTS);
			for (size_t i = 1; i < more.n; i++)
				assert_true(in_order(more.list[i - 1], more.list[i]));
			if (threads > 1) {
				expect_same_records(&one, &more);
				records_free(&more);
			} else {
				one = more;
			}
		}
		records_free(&one);
	}
}

/* ---- traces ---- */

static void a_trace_is_described(void **state)
{
	struct bsa_decode *d;
	const struct bsa_trace *trace;

	(void)state;
	write_options(at("trace"), "100 exec_service exec=1\n",
	              &(struct ctf_options){ .uuid = "01234567-89ab-cdef-0123-456789abcdef",
	                                     .host = "phone",
	                                     .session = "tuesday",
	                                     .clock_uuid = "99999999-8888-7777-6666-555555555555",
	                                     .clock_offset = -1500000000 });
	d = open_all(0, at("trace"));
	trace = bsa_decode_trace(d, 0);
	assert_non_null(trace);
	assert_null(bsa_decode_trace(d, 1));
	assert_string_equal(trace->path, at("trace"));
	assert_string_equal(trace->uuid, "01234567-89ab-cdef-0123-456789abcdef");
	assert_string_equal(trace->host, "phone");
	assert_string_equal(trace->session, "tuesday");
	assert_string_equal(trace->clock, "monotonic");
	assert_string_equal(trace->clock_uuid, "99999999-8888-7777-6666-555555555555");
	assert_int_equal(trace->clock_offset, -1500000000);
	assert_true(trace->compact);
	assert_int_equal(trace->bytes, size_of(at("trace/cpu_0")));
	bsa_decode_free(d);
}

static void traces_of_one_clock_are_one_sequence(void **state)
{
	struct bsa_decode *d;
	struct records all;

	(void)state;
	write_options(at("traces/a"), "100 exec_return exec=1\n300 exec_return exec=3\n",
	              &(struct ctf_options){ .clock_offset = 1000 });
	write_options(at("traces/b"), "50 exec_return exec=10\n350 exec_return exec=11\n",
	              &(struct ctf_options){ .host = "other", .clock_offset = 5 });
	write_options(at("traces/c"), "100 exec_return exec=2\n200 exec_return exec=4\n",
	              &(struct ctf_options){ .clock_offset = 2000 });
	d = open_all(0, at("traces"));
	assert_string_equal(bsa_decode_trace(d, 0)->path, at("traces/a"));
	assert_string_equal(bsa_decode_trace(d, 1)->path, at("traces/c"));
	assert_string_equal(bsa_decode_trace(d, 2)->path, at("traces/b"));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(bsa_decode_trace(d, i)->clock_group, i / 2);
	assert_int_equal(bsa_decode_trace(d, 1)->clock_offset, 1000);
	assert_int_equal(bsa_decode_trace(d, 2)->clock_offset, 5);
	all = read_all(d);
	assert_int_equal(all.n, 6);
	for (size_t i = 0; i < 6; i++) {
		static const uint64_t times[] = { 100, 100, 200, 300, 50, 350 }, execs[] = { 1, 2, 4, 3, 10, 11 };
		static const uint32_t traces[] = { 1, 2, 2, 1, 3, 3 };

		assert_int_equal(all.list[i]->at, times[i]);
		assert_int_equal(all.list[i]->trace, traces[i]);
		assert_int_equal(BSA_OF(all.list[i], exec_return)->exec, execs[i]);
	}
	records_free(&all);
	bsa_decode_free(d);
}

static void a_trace_without_a_clock_is_a_sequence_of_its_own(void **state)
{
	struct bsa_decode *d;

	(void)state;
	write_options(at("traces/a"), "100 exec_return exec=1\n", &(struct ctf_options){ .clock_uuid = "" });
	write_options(at("traces/b"), "100 exec_return exec=1\n", &(struct ctf_options){ .clock_uuid = "" });
	d = open_all(0, at("traces"));
	assert_int_equal(bsa_decode_trace(d, 0)->clock_group, 0);
	assert_int_equal(bsa_decode_trace(d, 1)->clock_group, 1);
	bsa_decode_free(d);
}

static void chunks_of_a_rotated_session_are_one_trace(void **state)
{
	const struct ctf_options options = { .uuid = "01234567-89ab-cdef-0123-456789abcdef" };
	struct bsa_decode *d;
	struct records all;

	(void)state;
	write_options(at("s/chunk1"), "100 exec_return exec=1\n200 exec_return exec=2 cpu=1\n", &options);
	write_options(at("s/chunk2"), "300 exec_return exec=3\n400 exec_return exec=4 cpu=1\n", &options);
	d = open_all(0, at("s"));
	assert_null(bsa_decode_trace(d, 1));
	assert_string_equal(bsa_decode_trace(d, 0)->path, at("s/chunk1"));
	all = read_all(d);
	assert_int_equal(all.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(BSA_OF(all.list[i], exec_return)->exec, i + 1);
	records_free(&all);
	bsa_decode_free(d);
}

/* ---- finding traces ---- */

static void a_directory_without_a_trace_is_refused(void **state)
{
	(void)state;
	expect_refusal(at("nowhere"), BSA_E_INPUT, "nowhere cannot be read: No such file or directory");
	shell("mkdir -p '%s/deep/down' && echo x >'%s/deep/file'", at("empty"), at("empty"));
	expect_refusal(at("empty"), BSA_E_INPUT, "empty: there is no trace");
	expect_refusal(at("empty/deep/file"), BSA_E_INPUT, "file is no directory");
	shell("mkdir '%s' && echo nonsense >'%s/metadata'", at("text"), at("text"));
	expect_refusal(at("text"), BSA_E_INPUT, "text cannot be read");
	shell("mkdir '%s' && : >'%s/metadata'", at("none"), at("none"));
	expect_refusal(at("none"), BSA_E_INPUT, "none cannot be read");
}

static void a_directory_that_may_not_be_read_is_reported(void **state)
{
	bool root = !geteuid(); /* root may read every file, so become another user */

	(void)state;
	shell("mkdir -p '%s/b' '%s/secret/c' && ln -s ../secret/c '%s/b/link'", at("a"), at("a"), at("a"));
	shell("chmod 755 '%s/..' '%s' && chmod 0 '%s/secret'", place, place, at("a"));
	assert_int_equal(root ? seteuid(65534) : 0, 0);
	expect_refusal(at("a"), BSA_E_INPUT, "b/link cannot be read: Permission denied");
	assert_int_equal(root ? seteuid(0) : 0, 0);
	shell("rm '%s/b/link' && ln -s nowhere '%s/b/link'", at("a"), at("a"));
	assert_int_equal(root ? seteuid(65534) : 0, 0);
	expect_refusal(at("a"), BSA_E_INPUT, "secret cannot be read: Permission denied");
	assert_int_equal(root ? seteuid(0) : 0, 0);
}

static void directories_too_deep_are_refused(void **state)
{
	(void)state;
	shell("cd '%s' && for i in $(seq 40); do mkdir d; cd d; done", place);
	expect_refusal(at("d"), BSA_E_INPUT, "nested more than 32 deep");
}

static void the_same_trace_twice_is_refused(void **state)
{
	struct bsa_decode *d = NULL;
	struct bsa_err err;

	(void)state;
	write_lines(at("a/trace"), "100 exec_return exec=1\n");
	shell("ln -s a '%s'", at("link"));
	for (int i = 0; i < 4; i++) {
		const char *const paths[][2] = { { at("a/trace"), at("a/trace") },
			                         { at("a"), at("a/trace/.") },
			                         { at("a/trace"), at("a") },
			                         { at("link"), at("a") } };

		assert_int_equal(bsa_decode_open(&d, paths[i], 2, NULL, &err), BSA_E_INPUT);
		if (!strstr(err.text, "is given twice"))
			fail_msg("%s", err.text);
	}
}

static void links_do_not_loop(void **state)
{
	struct bsa_decode *d;

	(void)state;
	write_lines(at("a/b/trace"), "100 exec_return exec=1\n");
	shell("cd '%s' && ln -s .. b/up && ln -s ../a b/again && ln -s b/trace here && ln -s nowhere gone", at("a"));
	d = open_all(0, at("a"));
	assert_non_null(bsa_decode_trace(d, 0));
	assert_null(bsa_decode_trace(d, 1));
	bsa_decode_free(d);
}

static void foreign_traces_are_refused(void **state)
{
	struct ctf_writer *w = ctf_writer_new(at("all/foreign"), &(struct ctf_options){ 0 });
	struct records all;

	(void)state;
	ctf_writer_define(w, "kernel:sched_switch", "prev:u32 next:u32");
	ctf_writer_event(w, 0, 10, "kernel:sched_switch", "prev=1 next=2");
	ctf_writer_free(w);
	expect_refusal(at("all"), BSA_E_INPUT,
	               "foreign is a trace, but without nnburst events; lttng enable-event -u 'nnburst:*'");
	write_lines(at("all/ours"), "100 exec_return exec=1\n");
	all = records_of(at("all"), NULL);
	assert_true(all.n == 1 && all.list[0]->trace == 1);
	records_free(&all);
}

/* ---- incomplete traces ---- */

static void a_trace_without_events_has_none(void **state)
{
	struct records all;
	struct bsa_decoded decoded;

	(void)state;
	write_options(at("trace"), "100 exec_return exec=1\n", &(struct ctf_options){ .cpus = 2 });
	shell("rm '%s'", at("trace/cpu_0"));
	all = records_of(at("trace"), &decoded);
	assert_true(all.n == 0 && decoded.events == 0 && decoded.began == BSA_NEVER && decoded.ended == BSA_NEVER);
	assert_false(decoded.cut);
	records_free(&all);
	shell("rm '%s' && : >'%s'", at("trace/cpu_1"), at("trace/cpu_0")); /* a stream without a packet */
	all = records_of(at("trace"), &decoded);
	assert_true(all.n == 0 && decoded.events == 0 && !decoded.cut);
	records_free(&all);
}

static void a_trace_of_metadata_alone_is_described(void **state)
{
	struct bsa_decode *d;

	(void)state;
	write_options(at("trace"), "100 exec_return exec=1\n",
	              &(struct ctf_options){ .host = "phone", .uuid = "01234567-89ab-cdef-0123-456789abcdef" });
	shell("rm '%s'", at("trace/cpu_0"));
	d = open_all(0, at("trace"));
	assert_string_equal(bsa_decode_trace(d, 0)->host, "phone");
	assert_string_equal(bsa_decode_trace(d, 0)->uuid, "01234567-89ab-cdef-0123-456789abcdef");
	bsa_decode_free(d);
}

/* The part of a stream that was cut off is a loss until the end of the trace. Remove it from the records. */
static bool take_loss(struct records *all, uint64_t *ret_at)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct bsa_loss *loss = BSA_OF(all->list[i], loss);

		if (all->list[i]->kind != BSA_loss)
			continue;
		assert_true(loss->ended == 140 && loss->cpu == 0 && loss->pid == 0);
		assert_true(loss->events == BSA_NEVER && loss->packets == BSA_NEVER);
		*ret_at = all->list[i]->at;
		free(all->list[i]);
		memmove(&all->list[i], &all->list[i + 1], (--all->n - i) * sizeof(all->list[0]));
		return true;
	}
	return false;
}

/* Expect in @some exactly the first @odd executions of @whole with odd numbers, and all with even numbers. */
static void expect_records(const struct records *whole, const struct records *some, size_t odd)
{
	size_t k = 0;

	for (size_t i = 0; i < whole->n; i++) {
		if (BSA_OF(whole->list[i], exec_return)->exec % 2 && !odd)
			continue;
		odd -= BSA_OF(whole->list[i], exec_return)->exec % 2;
		assert_true(k < some->n);
		assert_memory_equal(some->list[k++], whole->list[i], whole->list[i]->size);
	}
	assert_int_equal(k, some->n);
}

static void a_stream_that_is_cut_is_read_up_to_there(void **state)
{
	struct records whole, cut;
	/* the size of the header and the context of the sink's packets */
	enum { HEADER = 88 };
	/* the other decoder reads cut streams by the same code, so fewer lengths are enough */
	const off_t step = decoder == BSA_DECODER_AUTO ? 1 : 11;
	size_t before = 2;
	off_t bytes;

	(void)state;
	write_options(at("whole"),
	              "100 exec_return exec=1\n100 exec_return exec=2 cpu=1\n110 exec_return exec=3\n"
	              "120 exec_return exec=5\n130 exec_return exec=7\n140 exec_return exec=4 cpu=1\n",
	              &(struct ctf_options){ .packet = 2 });
	whole = records_of(at("whole"), NULL);
	bytes = size_of(at("whole/cpu_0"));
	for (off_t n = 1; n < bytes; n += n + step < bytes ? step : 1) {
		static const uint64_t times[] = { 100, 100, 110, 120, 130 };
		struct bsa_decoded decoded;
		uint64_t lost_from;

		shell("rm -rf '%s' && cp -r '%s' '%s' && truncate -s %ld '%s'", at("cut"), at("whole"), at("cut"),
		      (long)n, at("cut/cpu_0"));
		cut = records_of(at("cut"), &decoded);
		/*
		 * the loss begins at the last event, or at the packet in which the stream ends; without a whole
		 * first header no loss is known
		 */
		assert_int_equal(take_loss(&cut, &lost_from), n >= HEADER && n * 2 != bytes);
		if (n >= HEADER && n * 2 != bytes)
			assert_int_equal(lost_from, cut.n == 4 && n * 2 >= bytes + 2 * HEADER ? 120 : times[cut.n - 2]);
		assert_true(cut.n >= before);
		expect_records(&whole, &cut, cut.n - 2);
		assert_true(decoded.cut == (n * 2 != bytes)); /* the second packet begins here, so nothing is missing */
		before = cut.n;
		records_free(&cut);
	}
	assert_int_equal(before, whole.n - 1); /* a byte is missing, and with it an event */
	records_free(&whole);
}

static void an_outdated_index_does_not_matter(void **state)
{
	struct records whole, all;
	struct bsa_decoded decoded;

	(void)state;
	write_options(at("trace"), "100 exec_return exec=1\n200 exec_return exec=2\n300 exec_return exec=3\n",
	              &(struct ctf_options){ .packet = 1 });
	whole = records_of(at("trace"), NULL);
	shell("mkdir '%s' && printf '\\301\\361\\334\\301\\0\\0\\0\\1\\0\\0\\0\\1\\0\\0\\0\\110' >'%s'",
	      at("trace/index"), at("trace/index/cpu_0.idx"));
	all = records_of(at("trace"), NULL);
	expect_same_records(&whole, &all);
	records_free(&whole);
	records_free(&all);
	shell("head -c 72 /dev/zero >>'%s' && : >'%s'", at("trace/index/cpu_0.idx"), at("trace/cpu_0"));
	all = records_of(at("trace"), &decoded); /* the index has a packet that the file has not */
	assert_true(all.n == 0 && decoded.cut);
	records_free(&all);
}

static void files_beside_the_streams_are_ignored(void **state)
{
	struct records whole, all;
	struct bsa_decoded decoded;

	(void)state;
	write_lines(at("trace"), "100 exec_return exec=1\n200 exec_return exec=2\n");
	whole = records_of(at("trace"), NULL);
	shell("cd '%s' && date >notes && ls >ab && printf xy >b && ln -s nowhere link && mkdir d && mkfifo fifo",
	      at("trace"));
	all = records_of(at("trace"), &decoded);
	expect_same_records(&whole, &all);
	assert_true(decoded.cut); /* two bytes may be the start of any stream */
	records_free(&all);
	shell("rm '%s'", at("trace/b"));
	all = records_of(at("trace"), &decoded);
	expect_same_records(&whole, &all);
	assert_false(decoded.cut);
	records_free(&all);
	shell("mkdir '%s' && : >'%s'", at("trace/index"),
	      at("trace/index/notes.idx")); /* now the decoder takes the notes for a stream */
	all = records_of(at("trace"), &decoded);
	expect_same_records(&whole, &all);
	assert_true(decoded.cut);
	records_free(&all);
	records_free(&whole);
}

static void metadata_that_is_cut_is_refused_with_a_sentence(void **state)
{
	off_t bytes;

	(void)state;
	write_lines(at("whole"), "100 exec_return exec=1\n100 client_connect conn=2 name=x cpu=1\n");
	bytes = size_of(at("whole/metadata"));
	for (off_t n = 0; n < bytes; n += decoder == BSA_DECODER_AUTO ? 37 : 337) {
		struct bsa_decode *d = NULL;
		struct bsa_err err = { "" };
		int r;

		shell("rm -rf '%s' && cp -r '%s' '%s' && truncate -s %ld '%s'", at("cut"), at("whole"), at("cut"),
		      (long)n, at("cut/metadata"));
		r = bsa_decode_open(&d, (const char *[]){ at("cut") }, 1, NULL, &err);
		assert_true((r == 0) == !*err.text);
		if (r == 0) {
			struct records all = read_all(d);

			assert_int_equal(all.end, 0);
			records_free(&all);
		} else {
			assert_int_equal(r, BSA_E_INPUT);
			assert_non_null(strstr(err.text, "cut"));
		}
		bsa_decode_free(d);
	}
}

static void metadata_that_is_too_large_is_refused_with_its_limit(void **state)
{
	struct bsa_decode *d = NULL;
	struct bsa_err err = { "" };

	(void)state;
	write_lines(at("large"), "100 exec_return exec=1\n");
	shell("truncate -s 17M '%s'", at("large/metadata"));
	assert_int_equal(bsa_decode_open(&d, (const char *[]){ at("large") }, 1, NULL, &err), BSA_E_INPUT);
	assert_non_null(strstr(err.text, "16 MiB or more"));
}

static void decoding_a_cut_trace_leaves_no_file_open(void **state)
{
	struct records all;

	(void)state;
	write_lines(at("trace"), "100 exec_return exec=1\n200 exec_return exec=2\n");
	shell("truncate -s -1 '%s' && mkdir '%s'", at("trace/cpu_0"), at("tmp"));
	setenv("TMPDIR", at("tmp"), 1);
	all = records_of(at("trace"), NULL);
	unsetenv("TMPDIR");
	assert_int_equal(all.n, 2);
	assert_true(all.list[1]->at == 100 && ONLY(&all, loss)->ended == 200);
	assert_int_equal(rmdir(at("tmp")), 0);
	records_free(&all);
}

static void more_streams_than_files_may_be_open_are_all_read_or_none(void **state)
{
	struct rlimit was, limit;
	const char *path = at("trace");
	struct bsa_err err = { "" };
	const struct bsa_event *e;
	struct bsa_decode *d;
	struct records all;

	(void)state;
	write_options(path, "100 exec_return exec=1\n", &(struct ctf_options){ .cpus = 60 });
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	limit = was;
	limit.rlim_cur = 40;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	all = records_of(path, NULL);
	assert_int_equal(all.n, 1);
	records_free(&all);
	if (!fork()) { /* a process cannot raise this limit again, so a child lowers it */
		limit.rlim_cur = limit.rlim_max = 100;
		_exit(setrlimit(RLIMIT_NOFILE, &limit) || bsa_decode_open(&d, &path, 1, NULL, &err) ||
		      bsa_decode_next(d, &e, &err) != BSA_E_ENV || !strstr(err.text, "60 streams"));
	} else {
		int status;

		assert_true(wait(&status) > 0 && status == 0);
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

/* ---- stopping ---- */

static void stopping_ends_decoding_soon(void **state)
{
	enum { EVENTS = 60000 };

	(void)state;
	write_random(at("trace"), 4, EVENTS, 5, &(struct ctf_options){ 0 });
	for (unsigned threads = 1; threads <= THREADS_MAX; threads++) {
		struct bsa_decode *d = open_all(threads, at("trace"));
		const struct bsa_event *e;
		struct bsa_err err = { "" };
		struct records rest;

		assert_int_equal(bsa_decode_next(d, &e, &err), 1);
		bsa_decode_stop(d);
		rest = read_all(d);
		assert_int_equal(rest.end, BSA_E_STOPPED);
		assert_true(rest.n < EVENTS - 1);
		assert_int_equal(bsa_decode_next(d, &e, &err), BSA_E_STOPPED); /* a further call returns the same */
		records_free(&rest);
		bsa_decode_free(d);
	}
}

static void decoding_can_end_before_the_last_record(void **state)
{
	(void)state;
	write_random(at("trace"), 4, 120000, 6, &(struct ctf_options){ 0 });
	for (unsigned threads = 0; threads <= THREADS_MAX; threads++) {
		struct bsa_decode *d = open_all(threads, at("trace"));
		const struct bsa_event *e;

		bsa_decode_free(d);
		d = open_all(threads, at("trace"));
		for (int i = 0; i < 10; i++)
			assert_int_equal(bsa_decode_next(d, &e, NULL), 1);
		bsa_decode_free(d); /* readers wait for room */
	}
	assert_null(bsa_decode_free(NULL));
}

/* ---- sentences ---- */

static void errors_are_joined(void **state)
{
	struct bsa_err err = { "" };
	char long_text[600];

	(void)state;
	assert_int_equal(bsa_fail(&err, BSA_E_INPUT, "%d apples", 3), BSA_E_INPUT);
	assert_int_equal(bsa_wrap(&err, BSA_E_ENV, "no %s", "cake"), BSA_E_ENV);
	assert_string_equal(err.text, "no cake: 3 apples");
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	bsa_wrap(&err, BSA_E_ENV, "%s", "y");
	assert_string_equal(err.text, "y: no cake: 3 apples");
	bsa_wrap(&err, BSA_E_ENV, "%s", long_text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	bsa_fail(&err, BSA_E_ENV, "%s", long_text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	bsa_wrap(&err, BSA_E_ENV, "z");
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "z: xxx", 6);
	assert_int_equal(bsa_fail(NULL, BSA_E_USAGE, "x"), BSA_E_USAGE);
	assert_int_equal(bsa_wrap(NULL, BSA_E_USAGE, "x"), BSA_E_USAGE);
	assert_int_equal(bsa_exit_status(BSA_OK), 0);
	assert_int_equal(bsa_exit_status(BSA_E_USAGE), 2);
	assert_int_equal(bsa_exit_status(BSA_E_INPUT), 4);
	assert_int_equal(bsa_exit_status(BSA_E_ENV), 5);
	assert_int_equal(bsa_exit_status(BSA_E_STOPPED), 130);
}

/* babeltrace2 logs a lot, and the decoder must print none of it. */
static void nothing_is_printed(void **state)
{
	(void)state;
	fflush(stderr);
	assert_int_equal(size_of("/proc/self/fd/2"), 0);
}

static int run_all(void)
{
#define T(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest all[] = {
		T(every_field_of_every_event_comes_back),
		T(fields_are_found_by_name_at_any_width),
		T(a_number_out_of_range_becomes_the_nearest_limit),
		T(an_absent_field_has_its_default),
		T(arrays_of_any_length_are_arrays),
		T(texts_are_cut_at_63_bytes),
		T(unknown_events_are_skipped_and_counted),
		T(unusable_events_are_counted),
		T(losses_have_time_place_and_number),
		T(a_loss_before_the_first_packet_has_no_number),
		T(cycles_of_any_clock_become_ns),
		T(time_that_goes_backwards_stands_still),
		T(the_order_is_the_same_for_any_number_of_readers),
		T(a_trace_is_described),
		T(traces_of_one_clock_are_one_sequence),
		T(a_trace_without_a_clock_is_a_sequence_of_its_own),
		T(chunks_of_a_rotated_session_are_one_trace),
		T(a_directory_without_a_trace_is_refused),
		T(a_directory_that_may_not_be_read_is_reported),
		T(directories_too_deep_are_refused),
		T(the_same_trace_twice_is_refused),
		T(links_do_not_loop),
		T(foreign_traces_are_refused),
		T(a_trace_without_events_has_none),
		T(a_trace_of_metadata_alone_is_described),
		T(a_stream_that_is_cut_is_read_up_to_there),
		T(an_outdated_index_does_not_matter),
		T(files_beside_the_streams_are_ignored),
		T(metadata_that_is_cut_is_refused_with_a_sentence),
		T(metadata_that_is_too_large_is_refused_with_its_limit),
		T(decoding_a_cut_trace_leaves_no_file_open),
		T(more_streams_than_files_may_be_open_are_all_read_or_none),
		T(stopping_ends_decoding_soon),
		T(decoding_can_end_before_the_last_record),
		T(errors_are_joined),
		T(nothing_is_printed),
	};
#undef T
	return cmocka_run_group_tests(all, NULL, NULL);
}

int main(void)
{
	const char *where = getenv("TMPDIR");
	int failed, fd;

	snprintf(top, sizeof(top), "%.200s/test_decode-XXXXXX", where ? where : "/tmp");
	if (!mkdtemp(top))
		return 1;
	unsetenv("TMPDIR");
	cmocka_set_message_output(CM_OUTPUT_STDOUT);
	snprintf(place, sizeof(place), "%s/stderr", top);
	fd = open(place, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || dup2(fd, 2) < 0)
		return 1;
	failed = run_all();
	if (!failed && ftruncate(2, 0)) /* drop cmocka's own output */
		return 1;
	decoder = BSA_DECODER_BABELTRACE2;
	failed += run_all();
	snprintf(place, sizeof(place), "rm -rf '%s'", top);
	if (failed) {
		char command[PATH];

		snprintf(command, sizeof(command), "cat '%s/stderr'", top);
		fflush(NULL);
		if (system(command))
			failed++;
	}
	return system(place) || failed;
}
