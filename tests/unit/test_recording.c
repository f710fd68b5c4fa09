/*
 * test_recording.c -- sizes of a recording's buffers, and what LTTng's indexes show of their losses.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/daemon.h"
#include "record/keeper.h"
#include "record/owner.h"
#include "record/packets.h"
#include "record/room.h"
#include "record/scope.h"
#include "record/scratch.h"
#include "record/session.h"
#include "record/sizing.h"
#include "record/triggers.h"

enum { KIB = 1024, MIB = 1024 * KIB, MS = 1000000 };

/* ---- sizes ---- */

static void sizes_are_powers_of_two_that_hold_what_was_asked_for(void **state)
{
	static const struct {
		uint64_t asked, each, n;
	} rows[] = {
		{ 1, 4 * KIB, 2 },         { 8 * KIB, 4 * KIB, 2 },        { 8 * KIB + 1, 4 * KIB, 4 },
		{ 64 * KIB, 4 * KIB, 16 }, { 100 * KIB, 8 * KIB, 16 },     { 16 * MIB, MIB, 16 },
		{ 17 * MIB, MIB, 32 },     { BSV_BUFFER_MOST, MIB, 4096 }, { UINT64_MAX, MIB, 4096 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_buffers b = bsv_buffers_of(rows[i].asked);

		assert_int_equal(b.each, rows[i].each);
		assert_int_equal(b.n, rows[i].n);
	}
}

static void room_is_for_each_cpu_and_each_user_and_of_what_there_is_less_of(void **state)
{
	(void)state;
	assert_int_equal(bsv_room(&(struct bsv_machine){ .cpus = 4, .shm = 64 * MIB, .memory = UINT64_MAX }, 2),
	                 8 * MIB);
	assert_int_equal(bsv_room(&(struct bsv_machine){ .cpus = 1, .shm = UINT64_MAX, .memory = 5 * MIB }, 1),
	                 5 * MIB);
	assert_int_equal(bsv_room(&(struct bsv_machine){ .cpus = 2, .shm = 0, .memory = 5 * MIB }, 1), 0);
}

static void a_workload_that_writes_more_gets_buffers_for_two_seconds_of_it(void **state)
{
	(void)state;
	assert_int_equal(bsv_size_for(BSV_DETAIL_FULL, 0), 16 * MIB);
	assert_int_equal(bsv_size_for(BSV_DETAIL_COMPACT, 0), 8 * MIB);
	assert_int_equal(bsv_size_for(BSV_DETAIL_VERBOSE, 0), 32 * MIB);
	assert_int_equal(bsv_size_for(BSV_DETAIL_FULL, 8 * MIB), 16 * MIB);
	assert_int_equal(bsv_size_for(BSV_DETAIL_FULL, 20 * MIB), 64 * MIB);
	assert_int_equal(bsv_size_for(BSV_DETAIL_COMPACT, UINT64_MAX), BSV_BUFFER_MOST);
	assert_int_equal(bsv_size_holds(10 * MIB, 4 * MIB), 2000000000); /* a fifth of it may be replaced */
	assert_true(bsv_size_holds(bsv_size_to_hold(BSV_DETAIL_COMPACT, 20 * MIB, 6000000000), 20 * MIB) >= 6000000000);
}

static void advice_holds_what_was_held_and_what_was_lost_and_half_of_that_more(void **state)
{
	struct bsv_advice a = bsv_advise(1 * MIB, 100 * MIB, 3 * MIB);

	(void)state;
	assert_int_equal(a.rate, 100 * MIB);
	assert_int_equal(a.held_ns, 10 * MS);
	assert_int_equal(a.stall_ns, 40 * MS);
	assert_int_equal(a.size, 8 * MIB); /* 6, and a power of two */
	assert_int_equal(bsv_advise(1 * MIB, 0, 0).size, 2 * MIB);
	assert_int_equal(bsv_advise(1 * MIB, 0, 0).stall_ns, 0);
	assert_int_equal(bsv_advise(1 * MIB, 1, UINT64_MAX).size, BSV_BUFFER_MOST);
	assert_int_equal(bsv_bytes_of(3, 40), 120);
	assert_int_equal(bsv_bytes_of(UINT64_MAX, 40), UINT64_C(1) << 62); /* an index may have any number */
}

/* ---- what an index shows ---- */

static char directory[64];

static int make_directory(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/test_recording-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	bsv_remove_tree(directory);
	return access(directory, F_OK) ? 0 : -1;
}

static void put_file(const char *name, const void *bytes, size_t n)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

enum { HEAD_WORDS = 2, ROW_WORDS = 9, MOST_WORDS = HEAD_WORDS + 64 * ROW_WORDS };

struct packet {
	uint64_t bytes, began_ms, ended_ms, lost;
};

/* Write NAME.idx with these packets, of sub-buffers of 64 KiB. */
static void put_index(const char *name, uint32_t magic, uint32_t row_bytes, const struct packet *p, size_t n)
{
	uint64_t words[MOST_WORDS] = { htobe64((uint64_t)magic << 32 | 1), htobe64(UINT64_C(1) << 32 | row_bytes) };

	for (size_t i = 0; i < n; i++) {
		uint64_t *row = words + HEAD_WORDS + i * ROW_WORDS;

		row[1] = htobe64(64 * KIB * 8);
		row[2] = htobe64((p[i].bytes + 84) * 8);
		row[3] = htobe64(p[i].began_ms * MS);
		row[4] = htobe64(p[i].ended_ms * MS);
		row[5] = htobe64(p[i].lost);
	}
	put_file(name, words, (HEAD_WORDS + n * ROW_WORDS) * 8);
}

static void an_index_gives_the_rate_and_the_losses_in_a_row(void **state)
{
	static const struct packet packets[] = { { 60000, 0, 10, 0 },
		                                 { 60000, 10, 15, 7 },
		                                 { 60000, 15, 20, 7 },
		                                 { 60000, 20, 40, 10 },
		                                 { 0, 40, 41, 10 } };
	struct bsv_packets p;

	(void)state;
	put_index("bursts_3.idx", 0xC1F1DCC1, 72, packets, 5);
	assert_int_equal(bsv_packets_read(&p, directory, NULL), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.streams[0].cpu, 3);
	assert_int_equal(p.streams[0].packets, 5);
	assert_int_equal(p.streams[0].bytes, 240000);
	assert_int_equal(p.streams[0].largest, 64 * KIB);
	assert_int_equal(p.streams[0].began, 0);
	assert_int_equal(p.streams[0].ended, 41 * MS);
	assert_int_equal(p.streams[0].lost, 10);
	assert_int_equal(p.streams[0].lost_most, 10); /* a packet between does not prove that the buffers were empty */
	assert_in_range(p.streams[0].rate, 12000000, 12100000); /* 60084 bytes in 5 ms */
	bsv_packets_fini(&p);
}

static void as_many_packets_as_there_are_sub_buffers_part_two_losses(void **state)
{
	struct packet packets[24] = { { 60000, 0, 1, 5 } };
	struct bsv_packets p;

	(void)state;
	for (uint64_t i = 1; i < 24; i++)
		packets[i] = (struct packet){ 60000, i, i + 1, i < 20 ? 5 : 9 };
	put_index("bursts_0.idx", 0xC1F1DCC1, 72, packets, 24);
	assert_int_equal(bsv_packets_read(&p, directory, NULL), 0);
	assert_int_equal(p.streams[0].lost, 9);
	assert_int_equal(p.streams[0].lost_most, 5);
	bsv_packets_fini(&p);
}

static void an_invalid_index_is_ignored_and_does_no_harm(void **state)
{
	static const struct packet mad = { UINT64_MAX / 16, UINT64_MAX / MS, 0, UINT64_MAX };
	struct bsv_packets p;
	char noise[5000];

	(void)state;
	memset(noise, 0xc1, sizeof(noise));
	put_file("noise_0.idx", noise, sizeof(noise));
	put_file("empty_1.idx", noise, 0);
	put_file("short_2.idx", "\xc1\xf1\xdc\xc1\0\0", 6);
	put_file("noname.idx", noise, 3);
	put_index("foreign_4.idx", 0xC1F1DCC2, 72, &mad, 1);
	put_index("narrow_5.idx", 0xC1F1DCC1, 8, &mad, 1);
	put_index("wide_6.idx", 0xC1F1DCC1, UINT32_MAX, &mad, 1);
	assert_int_equal(bsv_packets_read(&p, directory, NULL), 0);
	assert_int_equal(p.n, 7);
	for (size_t i = 0; i < p.n; i++)
		assert_int_equal(p.streams[i].bytes + p.streams[i].packets + p.streams[i].lost, 0);
	bsv_packets_fini(&p);
	put_index("mad_7.idx", 0xC1F1DCC1, 72, &mad, 1);
	assert_int_equal(bsv_packets_read(&p, directory, NULL), 0);
	assert_int_equal(p.n, 8);
	bsv_packets_fini(&p);
}

static void streams_are_counted_by_the_names_of_their_indices(void **state)
{
	static const char *const folders[] = { "ust", "ust/uid", "kernel" };
	static const struct packet none = { 0 };
	char path[sizeof(directory) + 16];

	(void)state;
	assert_int_equal(bsv_streams_each(directory), 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	put_index("kernel/bursts_9.idx", 0xC1F1DCC1, 72, &none, 1);
	assert_int_equal(bsv_streams_each(directory), 0);
	put_index("ust/uid/bursts_0.idx", 0xC1F1DCC1, 72, &none, 1);
	put_index("ust/uid/bursts_3_7.idx", 0xC1F1DCC1, 72, &none, 1); /* its eighth file */
	put_file("ust/uid/bursts_5", "", 0);
	put_file("ust/uid/bursts_4294967295.idx", "", 0);
	assert_int_equal(bsv_streams_each(directory), 4);
}

static void a_directory_that_is_not_there_cannot_be_read(void **state)
{
	struct bsa_err err;
	struct bsv_packets p;

	(void)state;
	assert_int_equal(bsv_packets_read(&p, "/no/such/directory", &err), BSA_E_ENV);
	assert_string_equal(err.text, "/no/such/directory cannot be read: No such file or directory");
}

static void buffers_are_short_that_end_before_the_recording_does(void **state)
{
	struct bsv_stream streams[] = { { .packets = 2, .ended = 100 },
		                        { .packets = 1, .ended = 70 },
		                        { .packets = 1, .ended = 100, .cut = true },
		                        { .packets = 0 } };
	struct bsv_packets p = { .streams = streams, .n = 1 };
	uint64_t whole;

	(void)state;
	assert_int_equal(bsv_packets_short(&p, 100, &whole), 0);
	assert_int_equal(whole, 100);
	p.n = 2;
	assert_int_equal(bsv_packets_short(&p, 100, &whole), 1);
	assert_int_equal(whole, 70);
	p.n = 3;
	assert_int_equal(bsv_packets_short(&p, 100, &whole), 2);
	p.n = 4; /* a stop writes a packet from every buffer */
	assert_int_equal(bsv_packets_short(&p, 100, &whole), 3);
	assert_int_equal(whole, 0);
}

static void metadata_without_an_end_is_counted(void **state)
{
	struct bsv_packets p;

	(void)state;
	put_file("metadata", "/* CTF 1.8 */\n", 14);
	assert_int_equal(bsv_packets_read(&p, directory, NULL), 0);
	assert_int_equal(p.cut_metadata, 0);
	bsv_packets_fini(&p);
	put_file("metadata", "", 0);
	assert_int_equal(bsv_packets_read(&p, directory, NULL), 0);
	assert_int_equal(p.cut_metadata, 1);
	bsv_packets_fini(&p);
}

static void a_disk_is_full_when_one_more_look_may_be_too_late(void **state)
{
	const uint64_t s = 1000 * MS, mib = MIB;
	struct bsv_room_left room;
	double seconds = -1;

	(void)state;
	bsv_room_begin(&room, 64 * mib, 20000 * mib, 5 * s);
	assert_int_equal(bsv_room_look(&room, 20000 * mib, 5 * s, &seconds), BSV_ROOM_ENOUGH);
	assert_int_equal(bsv_room_look(&room, 19900 * mib, 6 * s, &seconds), BSV_ROOM_ENOUGH); /* three minutes more */
	assert_int_equal(bsv_room_look(&room, 19950 * mib, 7 * s, &seconds),
	                 BSV_ROOM_ENOUGH); /* something was removed */
	assert_int_equal(bsv_room_look(&room, 10000 * mib, 145 * s, &seconds),
	                 BSV_ROOM_ENOUGH); /* a file appeared at once */
	assert_true(seconds < 0);          /* only BSV_ROOM_SOON writes it */
	assert_int_equal(bsv_room_look(&room, 129 * mib, 146 * s, &seconds), BSV_ROOM_SOON);
	assert_int_equal(bsv_room_look(&room, 128 * mib, 147 * s, &seconds), BSV_ROOM_NONE);
	bsv_room_begin(&room, 64 * mib, 10064 * mib, 0);
	for (uint64_t i = 1; i < 41; i++)
		assert_int_equal(bsv_room_look(&room, (10064 - 100 * i) * mib, i * s, &seconds), BSV_ROOM_ENOUGH);
	assert_int_equal(bsv_room_look(&room, (10064 - 4100) * mib, 41 * s, &seconds), BSV_ROOM_SOON);
	assert_true(seconds > 58.9 && seconds < 59.1);
	for (uint64_t i = 42; i < 99; i++) /* the warning comes once */
		assert_int_equal(bsv_room_look(&room, (10064 - 100 * i) * mib, i * s, &seconds), BSV_ROOM_ENOUGH);
	assert_int_equal(bsv_room_look(&room, (64 + 65) * mib, 99 * s, &seconds), BSV_ROOM_ENOUGH);
	assert_int_equal(bsv_room_look(&room, (64 + 64) * mib, 100 * s, &seconds),
	                 BSV_ROOM_NONE); /* room for as much again? */
	bsv_room_begin(&room, 64 * mib, 200 * mib, 0);
	assert_int_equal(bsv_room_look(&room, 180 * mib, s, &seconds), BSV_ROOM_SOON);
	assert_int_equal(bsv_room_look(&room, 160 * mib, 2 * s, &seconds), BSV_ROOM_ENOUGH);
	assert_int_equal(bsv_room_look(&room, 84 * mib, 3 * s, &seconds), BSV_ROOM_NONE);
	bsv_room_begin(&room, 64 * mib, 65 * mib, 0);
	assert_int_equal(bsv_room_look(&room, 64 * mib, s, &seconds), BSV_ROOM_NONE);
	assert_int_equal(bsv_room_look(&room, UINT64_MAX, s, &seconds), BSV_ROOM_ENOUGH); /* the room is unknown */
	bsv_room_begin(&room, 0, 65 * mib, 0);
	assert_int_equal(bsv_room_look(&room, 0, s, &seconds), BSV_ROOM_ENOUGH);
	assert_int_equal(bsv_room_free("/no/such/directory"), UINT64_MAX);
	assert_true(bsv_room_free("/") < UINT64_MAX);
}

/* ---- the end of a session ---- */

static const char *written_to; /* a file that LTTng writes to at each of the first n_writing questions */
static int n_writing, n_pending, n_asked;

static int stop_at_once(const char *name)
{
	(void)name;
	return 0;
}

static int is_pending(const char *name)
{
	FILE *f;

	(void)name;
	n_asked++;
	if (n_asked <= n_writing) {
		f = fopen(written_to, "a");
		assert_non_null(f);
		assert_int_equal(fputc('x', f), 'x');
		fclose(f);
	}
	return n_asked <= n_pending;
}

/*
 * Flush a session into @directory. LTTng answers @pending times that its data are not written yet, and writes
 * @writing times meanwhile.
 */
static int flush_pending(struct bsv_session *s, int pending, int writing, struct bsa_err *err)
{
	n_asked = 0;
	n_pending = pending;
	n_writing = writing;
	return bsv_session_flush(s, err);
}

static int destruction_wait_ms; /* how long the test waited for the end of a session */

static enum lttng_error_code end_session(const char *name, struct lttng_destruction_handle **ret)
{
	(void)name;
	*ret = NULL;
	return LTTNG_OK;
}

static enum lttng_destruction_handle_status wait_for_end(struct lttng_destruction_handle *handle, int timeout_ms)
{
	(void)handle;
	destruction_wait_ms = timeout_ms;
	return LTTNG_DESTRUCTION_HANDLE_STATUS_TIMEOUT;
}

static enum lttng_destruction_handle_status say_no_result(const struct lttng_destruction_handle *handle,
                                                          enum lttng_error_code *ret)
{
	(void)handle, (void)ret;
	return LTTNG_DESTRUCTION_HANDLE_STATUS_INVALID;
}

static void free_no_end(struct lttng_destruction_handle *handle)
{
	(void)handle;
}

static void a_session_is_waited_for_as_long_as_LTTng_writes(void **state)
{
	static const struct bsv_lttng lttng = { .stop_tracing_no_wait = stop_at_once,
		                                .data_pending = is_pending,
		                                .destroy_session_ext = end_session,
		                                .destruction_handle_wait_for_completion = wait_for_end,
		                                .destruction_handle_get_result = say_no_result,
		                                .destruction_handle_destroy = free_no_end };
	char file[PATH_MAX];
	struct bsv_session s = { .lttng = &lttng, .name = "a", .directory = directory, .limit_ms = 400 };
	struct bsa_err err = { "" };

	(void)state;
	snprintf(file, sizeof(file), "%s/stream", directory);
	written_to = file;
	assert_int_equal(flush_pending(&s, 0, 0, &err), 0);
	assert_int_equal(flush_pending(&s, 120, 120, &err), 0); /* 600 ms and more: longer than the limit */
	assert_int_equal(n_asked, 121);
	assert_int_equal(flush_pending(&s, INT_MAX, 3, &err), BSA_E_ENV);
	assert_non_null(strstr(err.text, "LTTng holds recorded events back, and has written nothing to "));
	assert_non_null(strstr(err.text, directory));
	assert_non_null(strstr(err.text, " for 400.0 ms: "));
	assert_non_null(strstr(err.text, "or an app stopped"));
	assert_null(strchr(err.text, '\n'));
	s.made = s.started = true;
	assert_int_equal(bsv_session_stop(&s, &err), BSA_E_ENV);
	assert_int_equal(destruction_wait_ms, 400); /* the wait for the rest is no longer than before */
	assert_int_equal(flush_pending(&s, INT_MAX, 0, &err), BSA_E_ENV);
	assert_int_equal(n_asked, 1); /* the answer is remembered */
	assert_int_equal(flush_pending(&s, 0, 0, &err), 0);
	assert_int_equal(flush_pending(&s, 3, 0, &err), 0);
	assert_int_equal(n_asked, 4);
}

/* Begin a process that has a provider of events in @at, and is stopped. */
static pid_t begin_stopped(const char *at)
{
	char path[PATH_MAX];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/nnburst", at);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/nnburst/tracepoints.so", at);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

		if (fd < 0 || mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static void a_program_that_is_stopped_is_waited_for_a_sixth_of_that_time_and_named(void **state)
{
	static const struct bsv_lttng lttng = { .stop_tracing_no_wait = stop_at_once, .data_pending = is_pending };
	struct bsv_session s = { .lttng = &lttng, .name = "a", .directory = directory, .limit_ms = 6000 };
	struct bsa_err err = { "" };
	char named[64];
	pid_t pid = begin_stopped(directory);

	(void)state;
	assert_int_equal(flush_pending(&s, INT_MAX, 0, &err), BSA_E_ENV);
	assert_non_null(strstr(err.text, " for 1.000 s: "));
	assert_non_null(strstr(err.text, " is stopped, probably while it emits an event; "));
	assert_non_null(strstr(err.text, "counts as a loss"));
	snprintf(named, sizeof(named), "(pid %ld)", (long)pid);
	if (!strstr(err.text, " as others, ")) /* a test beside this one may stop a program, too */
		assert_non_null(strstr(err.text, named));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int is_alive, listing; /* the answers of LTTng */

static int answer_alive(void)
{
	return is_alive;
}

static int answer_channels(struct lttng_handle *handle, struct lttng_channel **channels)
{
	(void)handle, (void)channels;
	return listing;
}

static struct lttng_handle *no_handle(const char *name, struct lttng_domain *domain)
{
	static struct lttng_handle handle;

	(void)name, (void)domain;
	return &handle;
}

static void free_no_handle(struct lttng_handle *handle)
{
	(void)handle;
}

static const char *say_code(int code)
{
	return code == -LTTNG_ERR_NO_SESSIOND ? "No session daemon is available" : "Unknown error";
}

static void a_session_daemon_that_ends_while_it_is_asked_has_gone(void **state)
{
	static const struct bsv_lttng lttng = { .session_daemon_alive = answer_alive,
		                                .list_channels = answer_channels,
		                                .create_handle = no_handle,
		                                .destroy_handle = free_no_handle,
		                                .strerror = say_code };
	static const struct {
		int alive, listing;
		const char *said;
	} rows[] = {
		{ 0, -LTTNG_ERR_NO_SESSIOND, "lttng-sessiond has gone" },
		{ 0, -LTTNG_ERR_FATAL, "lttng-sessiond has gone" },
		{ 1, -LTTNG_ERR_NO_SESSIOND,
		  "lttng-sessiond has gone" }, /* the daemon ends while its socket still takes connections */
		{ 1, -LTTNG_ERR_FATAL, "LTTng cannot find its session: Unknown error" },
		{ 1, -LTTNG_ERR_SESS_NOT_FOUND, "another program has ended session a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsa_err err = { "" };

		is_alive = rows[i].alive;
		listing = rows[i].listing;
		assert_int_equal(bsv_session_check(&(struct bsv_session){ .lttng = &lttng, .name = "a" }, &err),
		                 BSA_E_ENV);
		assert_string_equal(err.text, rows[i].said);
	}
}

/* ---- the owner of a session ---- */

/* A zombie: a process that has ended. The caller must wait for it. */
static pid_t make_zombie(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	return pid;
}

static void a_session_is_stale_once_its_process_has_ended_in_this_pid_namespace(void **state)
{
	const unsigned long long initial = 4026531836, here = bsv_pid_namespace(), began = bsv_process_began(getpid());
	const long pid = getpid();
	char name[BSV_SESSION_NAME], other[BSV_SESSION_NAME];
	pid_t zombie = make_zombie();

	(void)state;
	bsv_session_name(name);
	assert_false(bsv_session_is_stale(name));
	/* the process that made the session has ended, and another process has its number */
	snprintf(other, sizeof(other), "burstscope-record-%ld-%llu-0-%llu", pid, began + 1, here);
	assert_true(bsv_session_is_stale(other));
	snprintf(other, sizeof(other), "burstscope-record-%ld-%llu-0-%llu", pid, began + 1, here + 1);
	assert_false(bsv_session_is_stale(other)); /* a container's: its processes have other numbers */
	snprintf(other, sizeof(other), "burstscope-record-%ld-%llu-0", pid, began + 1);
	assert_int_equal(bsv_session_is_stale(other), here == initial);
	snprintf(other, sizeof(other), "burstscope-record-%ld-%llu-0:3", pid, began + 1); /* a trigger */
	assert_int_equal(bsv_session_is_stale(other), here == initial);
	snprintf(other, sizeof(other), "burstscope-record-%ld-%llu-0-%llu", (long)zombie, bsv_process_began(zombie),
	         here);
	assert_true(bsv_session_is_stale(other));
	waitpid(zombie, NULL, 0);
	assert_false(bsv_session_is_stale("burstscope-record-1"));
	assert_false(bsv_session_is_stale("mine"));
}

/* A stopped program matters to a recording only if it may emit events of it. */
static void a_scope_leaves_out_processes(void **state)
{
	const struct bsv_scope all = { .app = "" }, one = { .pid = 7, .service = 8 }, named = { .app = "camera" };

	(void)state;
	for (int is_service = 0; is_service < 2; is_service++) {
		assert_true(bsv_scope_has_process(&all, 9, is_service));
		assert_true(bsv_scope_has_process(&named, 9, is_service));
		assert_false(bsv_scope_has_process(&one, 9, is_service));
	}
	assert_true(bsv_scope_has_process(&one, 7, false));
	assert_true(bsv_scope_has_process(&one, 8, true));
	assert_false(bsv_scope_has_process(&one, 8, false));
}

/* ---- a shared daemon ---- */

static void a_daemon_that_cannot_be_noted_is_not_taken_for_one_that_runs(void **state)
{
	int full = open("/dev/full", O_RDWR), fd = memfd_create("lock", MFD_CLOEXEC);
	pid_t gone;

	(void)state;
	assert_true(full >= 0 && fd >= 0);
	assert_int_equal(bsv_keeper_note(full), -ENOSPC);
	gone = fork();
	if (!gone)
		_exit(bsv_keeper_note(fd) != 0);
	assert_int_equal(waitpid(gone, NULL, 0), gone);
	assert_int_equal(bsv_keeper_note(fd), 0); /* the keeper before has ended */
	assert_int_equal(bsv_keeper_note(fd), 1);
	close(fd);
	close(full);
}

static int *asked; /* how often the list was asked for, by the keeper, too */

/* The first answer is an error, the second one an empty list. */
static int list_no_sessions(struct lttng_session **ret)
{
	*ret = NULL;
	return ++*asked == 1 ? -LTTNG_ERR_NOMEM : 0;
}

static enum lttng_error_code list_no_triggers(struct lttng_triggers **ret)
{
	*ret = NULL;
	return LTTNG_OK;
}

static enum lttng_error_code fail_to_list_triggers(struct lttng_triggers **ret)
{
	*ret = NULL;
	return LTTNG_ERR_NOMEM;
}

static enum lttng_trigger_status count_no_triggers(const struct lttng_triggers *triggers, unsigned *ret)
{
	(void)triggers;
	*ret = 0;
	return LTTNG_TRIGGER_STATUS_OK;
}

static void destroy_no_triggers(struct lttng_triggers *triggers)
{
	(void)triggers;
}

static void a_daemon_that_does_not_list_its_sessions_is_asked_again_before_it_is_ended(void **state)
{
	const struct bsv_lttng lttng = { .list_sessions = list_no_sessions,
		                         .list_triggers = list_no_triggers,
		                         .triggers_get_count = count_no_triggers,
		                         .triggers_destroy = destroy_no_triggers };
	int fd = memfd_create("lock", MFD_CLOEXEC), status = 0, noted[2];
	pid_t pid;
	char byte;

	(void)state;
	status = bsv_triggers_used(&(struct bsv_lttng){ .list_triggers = fail_to_list_triggers });
	assert_true(status < 0);
	asked = mmap(NULL, sizeof(*asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fd >= 0 && asked != MAP_FAILED && !pipe(noted));
	pid = fork();
	if (!pid) {
		byte = (char)bsv_keeper_note(fd);
		if (write(noted[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	assert_true(pid > 0 && read(noted[0], &byte, 1) == 1 && !byte);
	bsv_keeper_begin(fd, &lttng);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(*asked, 3); /* again, and once more whether everything is written */
	munmap(asked, sizeof(*asked));
	close(noted[0]);
	close(noted[1]);
	close(fd);
}

static void a_daemon_of_ours_that_found_another_one_leaves_that_one_to_be_asked(void **state)
{
	const char *const said = "Error: A session daemon is already running.\n";
	const struct bsv_lttng lttng = { .session_daemon_alive = answer_alive };
	struct bsv_daemon d = { .pid = make_zombie(), .output = memfd_create("said", MFD_CLOEXEC), .shared = -1 };

	(void)state;
	is_alive = 1;
	assert_false(bsv_daemon_alive(&d, &lttng)); /* the daemon was in use, and has ended */
	d.pid = make_zombie();
	assert_int_equal(write(d.output, said, strlen(said)), strlen(said));
	assert_true(bsv_daemon_alive(&d, &lttng));
	assert_true(bsv_daemon_alive(&d, &lttng));
	close(d.output);
}

/* A session daemon that ends each connection without an answer; never returns. */
static _Noreturn void serve_nothing(int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		char byte;

		if (recv(fd, &byte, 1, MSG_PEEK) < 0)
			_exit(1);
		close(fd);
	}
}

/*
 * Ask that daemon, as a user whose daemons have sockets below @directory. Exit status 0: the daemon was asked
 * and did not answer.
 */
static _Noreturn void ask_nothing(int said)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	const struct bsv_lttng *lttng;
	struct lttng_session *sessions;
	struct bsa_err err;
	pid_t server;
	int r;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/.lttng", directory);
	if ((!geteuid() && setresuid(65534, 65534, 65534)) || mkdir(at.sun_path, 0700) ||
	    setenv("LTTNG_HOME", directory, 1))
		_exit(2);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/.lttng/client-lttng-sessiond", directory);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1))
		_exit(3);
	server = fork();
	if (!server)
		serve_nothing(listener);
	if (server < 0 || dup2(said, STDERR_FILENO) < 0 || bsv_lttng_load(&lttng, &err) < 0)
		_exit(4);
	signal(SIGPIPE, SIG_IGN);
	r = lttng->list_sessions(&sessions);
	kill(server, SIGKILL);
	_exit(r < 0 ? 0 : 5);
}

/*
 * burstscope prints its own sentence about a session daemon that ends; a library's lines about system calls
 * would not help the user.
 */
static void the_library_of_lttng_prints_nothing(void **state)
{
	char text[512];
	int said[2], status = -1;
	ssize_t n;
	pid_t pid;

	(void)state;
	assert_true(!chmod(directory, 0777) && !pipe(said));
	pid = fork();
	if (!pid)
		ask_nothing(said[1]);
	close(said[1]);
	n = read(said[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(said[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_string_equal(text, "");
}

/*
 * In a process of its own: the answer of bsv_check_owner for a directory of @uid, @gid and @mode, asked by
 * @uid.
 */
static int owner_answer(uid_t uid, gid_t gid, mode_t mode)
{
	struct bsa_err err = { 0 };
	int status = -1;
	pid_t pid;

	assert_int_equal(chown(directory, uid, gid), 0);
	assert_int_equal(chmod(directory, mode), 0); /* because chown clears S_ISGID */
	pid = fork();
	if (!pid)
		_exit(seteuid(uid) ? 99 : -bsv_check_owner(directory, "it", &err));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(chown(directory, geteuid(), getegid()), 0);
	return -WEXITSTATUS(status);
}

static void a_group_may_write_only_if_it_is_the_users_alone(void **state)
{
	static const struct {
		uid_t uid;
		gid_t gid;
		mode_t mode;
		int answer;
	} rows[] = {
		{ 1234, 1234, 0755, 0 },         { 1234, 1234, 0775, 0 },          { 1234, 1234, 02775, 0 },
		{ 1234, 77, 02755, 0 },          { 1234, 77, 0775, BSA_E_ENV },    { 1234, 77, 02775, BSA_E_ENV },
		{ 1234, 1234, 0777, BSA_E_ENV }, { 1234, 1234, 01777, BSA_E_ENV }, { 0, 0, 0755, 0 },
		{ 0, 0, 0775, BSA_E_ENV },       { 0, 77, 02775, BSA_E_ENV },
	};

	(void)state;
	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (owner_answer(rows[i].uid, rows[i].gid, rows[i].mode) != rows[i].answer)
			fail_msg("%u:%u %o: not %d", rows[i].uid, rows[i].gid, rows[i].mode, rows[i].answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_powers_of_two_that_hold_what_was_asked_for),
		cmocka_unit_test(a_scope_leaves_out_processes),
		cmocka_unit_test(room_is_for_each_cpu_and_each_user_and_of_what_there_is_less_of),
		cmocka_unit_test(a_workload_that_writes_more_gets_buffers_for_two_seconds_of_it),
		cmocka_unit_test(advice_holds_what_was_held_and_what_was_lost_and_half_of_that_more),
		cmocka_unit_test_setup_teardown(an_index_gives_the_rate_and_the_losses_in_a_row, make_directory,
		                                remove_directory),
		cmocka_unit_test_setup_teardown(a_group_may_write_only_if_it_is_the_users_alone, make_directory,
		                                remove_directory),
		cmocka_unit_test_setup_teardown(as_many_packets_as_there_are_sub_buffers_part_two_losses,
		                                make_directory, remove_directory),
		cmocka_unit_test_setup_teardown(an_invalid_index_is_ignored_and_does_no_harm, make_directory,
		                                remove_directory),
		cmocka_unit_test_setup_teardown(streams_are_counted_by_the_names_of_their_indices, make_directory,
		                                remove_directory),
		cmocka_unit_test_setup_teardown(metadata_without_an_end_is_counted, make_directory, remove_directory),
		cmocka_unit_test(a_directory_that_is_not_there_cannot_be_read),
		cmocka_unit_test(buffers_are_short_that_end_before_the_recording_does),
		cmocka_unit_test(a_disk_is_full_when_one_more_look_may_be_too_late),
		cmocka_unit_test(a_session_daemon_that_ends_while_it_is_asked_has_gone),
		cmocka_unit_test(a_session_is_stale_once_its_process_has_ended_in_this_pid_namespace),
		cmocka_unit_test(a_daemon_that_cannot_be_noted_is_not_taken_for_one_that_runs),
		cmocka_unit_test(a_daemon_that_does_not_list_its_sessions_is_asked_again_before_it_is_ended),
		cmocka_unit_test(a_daemon_of_ours_that_found_another_one_leaves_that_one_to_be_asked),
		cmocka_unit_test_setup_teardown(the_library_of_lttng_prints_nothing, make_directory, remove_directory),
		cmocka_unit_test_setup_teardown(a_session_is_waited_for_as_long_as_LTTng_writes, make_directory,
		                                remove_directory),
		cmocka_unit_test_setup_teardown(a_program_that_is_stopped_is_waited_for_a_sixth_of_that_time_and_named,
		                                make_directory, remove_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
