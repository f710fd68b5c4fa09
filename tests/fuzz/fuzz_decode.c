/*
 * fuzz_decode.c -- a small real trace with arbitrary bytes in one file.
 *
 * The first byte of an input chooses the file: 0 the metadata, 1 and 2 a stream, 3 an index of one; the rest
 * is the file's contents. Records must keep the promises of decode.h, and where both decoders read a trace,
 * they must read the same. NNB_KEEP=DIRECTORY leaves the trace of an input there.
 *
 * libbabeltrace2 has assertions that such files can break: its aborts are ignored. Assertions of ours trap
 * instead of aborting.
 */
#include <assert.h>
#include <babeltrace2/babeltrace.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/ctf_writer.h"
#include "decode/decode.h"
#include "decode/packets.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH = 300, INDEX = 3, FILES };

static const char *const files[FILES] = { "metadata", "cpu_0", "cpu_1", "index/cpu_0.idx" };
static char scratch[PATH - 50], directory[PATH];

/* Some of each kind: losses, several packets, a long event, an array, text. */
static const char script[] = "1000 client_connect conn=0:5 pid=7 uid=3 app=3 name=hello since=5\n"
			     "1000 exec_submit exec=2:1 model=7 path=burst deadline_ns=5us cpu=1\n"
			     "1020 fmq_write exec=2:1 queue=request cpu=1\n"
			     "1030 fmq_write exec=2:1 queue=request\n"
			     "1500 exec_service exec=2:1 began=1040 at=10,-,20,30,400,410,0,0,0,-\n"
			     "1600 loss ended=1900 events=3 cpu=1\n"
			     "1700 exec_return exec=2:1 cpu=1\n"
			     "2600 exec_return exec=2:2 cpu=1\n"
			     "2600 loss ended=2700 packets=2\n"
			     "2800 pool_map owner=stream owner_id=3 slot=-1\n";

/* Replaces libc's. */
void __assert_fail(const char *what, const char *file, unsigned line, const char *function)
{
	fprintf(stderr, "%s:%u: %s: not so: %s\n", file, line, function, what);
	__builtin_trap();
}

static sigjmp_buf aborted;
static bool has_aborted;

static void on_abort(int signal)
{
	(void)signal;
	has_aborted = true;
	siglongjmp(aborted, 1);
}

/*
 * LeakSanitizer calls this function. Leaks of our own code are found; but an abort leaves allocations behind,
 * so after the first abort leaks are no longer checked. babeltrace2's plugin also loses a packet's context
 * where a packet ends too early; only a g_malloc0() shows there, because glib keeps no frame pointers. Our
 * own allocations do not come from glib.
 */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return has_aborted;
}

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:babeltrace-plugin-ctf\nleak:libglib-2.0\n";
}

static void file_put(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		__builtin_trap();
}

static size_t file_get(const char *name, uint8_t *ret, size_t room)
{
	char path[2 * PATH];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "re");
	if (!f)
		__builtin_trap();
	n = fread(ret, 1, room, f);
	fclose(f);
	return n;
}

/* Write each valid file into a corpus, as the seeds. */
static void write_seeds(const char *corpus)
{
	static uint8_t seed[1 << 16];

	for (uint8_t i = 0; i < FILES; i++) {
		char path[4 * PATH];

		seed[0] = i;
		snprintf(path, sizeof(path), "%s/%u", corpus, i);
		file_put(path, seed, 1 + file_get(files[i], seed + 1, sizeof(seed) - 1));
	}
}

static void directory_empty(void)
{
	char command[2 * PATH];

	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	if (system(command))
		__builtin_trap();
}

/* Write the index as LTTng writes it; the trace has one only as long as its contents are valid. */
static void write_index(void)
{
	struct bsa_packets packets;
	char path[2 * PATH];

	snprintf(path, sizeof(path), "%s/index", directory);
	if (mkdir(path, 0700))
		__builtin_trap();
	snprintf(path, sizeof(path), "%s/%s", directory, files[1]);
	if (bsa_packets_read(&packets, path, BSA_HEADERS_SINK))
		__builtin_trap();
	snprintf(path, sizeof(path), "%s/%s", directory, files[INDEX]);
	if (bsa_packets_write_index(&packets, path))
		__builtin_trap();
	bsa_packets_fini(&packets);
}

static void remove_index(void)
{
	char path[2 * PATH];

	snprintf(path, sizeof(path), "%s/%s", directory, files[INDEX]);
	unlink(path);
}

/*
 * For every trace babeltrace2 loads plugins until it finds the one that reads CTF, and unloads them. This
 * keeps that plugin loaded, and found first.
 */
static void keep_plugin(void)
{
	static const bt_plugin *plugin;
	char place[PATH], link[PATH + 8];

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) != BT_PLUGIN_FIND_STATUS_OK)
		__builtin_trap();
	snprintf(place, sizeof(place), "%s/plugins", scratch);
	snprintf(link, sizeof(link), "%s/ctf.so", place);
	if (mkdir(place, 0700) || symlink(bt_plugin_get_path(plugin), link) ||
	    setenv("BABELTRACE_PLUGIN_PATH", place, 1))
		__builtin_trap();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *where = getenv("TMPDIR"), *keep = getenv("NNB_KEEP");
	struct ctf_writer *w;

	if (!where) /* files in memory */
		where = faccessat(AT_FDCWD, "/dev/shm", W_OK, 0) ? "/tmp" : "/dev/shm";
	snprintf(scratch, sizeof(scratch), "%.200s/fuzz_decode-XXXXXX", where);
	if (!mkdtemp(scratch))
		__builtin_trap();
	atexit(directory_empty);
	setenv("TMPDIR", scratch, 1); /* an aborted import leaves copies of cut traces behind */
	keep_plugin();
	snprintf(directory, sizeof(directory), "%.250s%s", keep ? keep : scratch, keep ? "" : "/trace");
	w = ctf_writer_new(directory,
	                   &(struct ctf_options){ .uuid = "01234567-89ab-cdef-0123-456789abcdef", .packet = 2 });
	ctf_writer_script(w, script, 1);
	ctf_writer_free(w);
	write_index();
	for (int i = 1; i < *argc; i++)
		if ((*argv)[i][0] != '-' && !faccessat(AT_FDCWD, (*argv)[i], X_OK, 0)) {
			write_seeds((*argv)[i]);
			break;
		}
	remove_index();
	return 0;
}

/* The result of one decoder. */
struct reading {
	uint64_t records, digest;
	struct bsa_decoded decoded;
	int end;
};

static void reading_add(struct reading *reading, const struct bsa_event *e)
{
	const uint64_t *words = (const uint64_t *)e;

	reading->records++;
	for (unsigned i = 0; i < e->size / 8u; i++)
		reading->digest = (reading->digest ^ words[i]) * UINT64_C(0x100000001b3);
}

static void read_all(struct bsa_decode *d, struct reading *ret)
{
	struct bsa_err err = { "" };
	const struct bsa_event *e;
	uint64_t last = 0, n = 0, done, all;

	while ((ret->end = bsa_decode_next(d, &e, &err)) > 0) {
		assert(e->at >= last && e->trace == 1 && e->kind < BSA_N_KINDS && e->size % 8 == 0);
		last = e->at;
		n += e->kind != BSA_loss;
		reading_add(ret, e);
	}
	assert((ret->end == 0) == !*err.text);
	ret->decoded = bsa_decode_decoded(d, 0);
	bsa_decode_progress(d, &done, &all);
	assert(ret->end || done == all);
	assert(ret->end || n + ret->decoded.foreign <= ret->decoded.events);
}

/* Whether the trace can be opened. */
static bool read_trace(enum bsa_decoder decoder, struct reading *ret)
{
	const char *const paths[] = { directory };
	struct bsa_decode *d = NULL;
	struct bsa_err err = { "" };
	int r = bsa_decode_open(&d, paths, 1, &(struct bsa_decode_options){ .threads = 1, .decoder = decoder }, &err);

	assert((r == 0) == !*err.text && (r == 0 || r == BSA_E_INPUT));
	if (r == 0)
		read_all(d, ret);
	bsa_decode_free(d);
	return r == 0;
}

/* Both decoders must read alike what both can read. */
static void read_by_both(void)
{
	struct reading quick = { 0 }, slow = { 0 };

	bool by_one = read_trace(BSA_DECODER_QUICK, &quick);

	if (!read_trace(BSA_DECODER_BABELTRACE2, &slow) || !by_one)
		return;
	assert(quick.end == slow.end && quick.records == slow.records && quick.digest == slow.digest);
	assert(quick.decoded.events == slow.decoded.events && quick.decoded.foreign == slow.decoded.foreign);
	assert(quick.decoded.unusable == slow.decoded.unusable && quick.decoded.cut == slow.decoded.cut);
	assert(quick.decoded.lost_events == slow.decoded.lost_events);
	assert(quick.decoded.lost_packets == slow.decoded.lost_packets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t before[1 << 16];
	char path[2 * PATH];
	size_t n;

	if (size < 1 || data[0] >= FILES)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", directory, files[data[0]]);
	n = data[0] == INDEX ? 0 : file_get(files[data[0]], before, sizeof(before));
	file_put(path, data + 1, size - 1);
	sigaction(SIGABRT, &(struct sigaction){ .sa_handler = on_abort, .sa_flags = SA_NODEFER }, NULL);
	if (!sigsetjmp(aborted, 1))
		read_by_both();
	if (!getenv("NNB_KEEP") && data[0] == INDEX)
		remove_index();
	else if (!getenv("NNB_KEEP"))
		file_put(path, before, n);
	return 0;
}
