/* stored.c -- see stored.h. */
#include "analyzer/stored.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

static char rows[1 << 20];

int stored_setup(void **state)
{
	char dir[] = "/tmp/test_store.XXXXXX";
	char *path;

	if (!mkdtemp(dir) || asprintf(&path, "%s/x.db", dir) < 0)
		return -1;
	*state = path;
	return 0;
}

int stored_teardown(void **state)
{
	char *path = *state;
	DIR *d;

	*strrchr(path, '/') = 0;
	d = opendir(path);
	for (struct dirent *e; d && (e = readdir(d));)
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	if (rmdir(path)) /* something is left that is no file: a test forgot it */
		return -1;
	free(path);
	return 0;
}

const char *stored_beside(const char *path, const char *name)
{
	static char beside[256];

	snprintf(beside, sizeof(beside), "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
	return beside;
}

struct bsa_store *stored_new(const char *path, const char *uuid, bool append)
{
	struct bsa_store_options options = { .output = path, .append = append, .keep_operations = true };
	struct bsa_store *s = NULL;
	struct bsa_trace_row trace;
	struct bsa_err err = { "" };

	if (bsa_store_new(&s, &options, &err))
		fail_msg("%s", err.text);
	trace = (struct bsa_trace_row){
		.id = bsa_store_last_trace(s) + 1,
		.uuid = uuid,
		.path = "/trace",
		.host = "here",
		.session = "one",
		.clock = "monotonic",
		.clock_offset = OFFSET,
		.began = 5,
		.ended = 95,
		.events = 12,
	};
	if (bsa_store_trace(s, &trace, &err))
		fail_msg("%s", err.text);
	bsa_store_clock(s, OFFSET);
	return s;
}

void stored_finish(struct bsa_store *s)
{
	struct bsa_err err = { "" };

	if (bsa_store_finish(s, &err))
		fail_msg("%s", err.text);
	assert_null(bsa_store_free(s));
}

struct bsa_execution stored_unknown(uint64_t id)
{
	struct bsa_execution x = {
		.id = id,
		.exec = (UINT64_C(0xabc00001) << 32) + id,
		.e2e = BSA_NEVER,
		.run = BSA_NEVER,
		.redo = BSA_NEVER,
		.cpu = BSA_NEVER,
		.queue = BSA_NEVER,
		.preempted = BSA_NEVER,
		.slots = BSA_NEVER,
		.request = { BSA_NEVER, BSA_NEVER, BSA_NEVER },
		.result = { BSA_NEVER, BSA_NEVER, BSA_NEVER },
		.estimate = BSA_NEVER,
		.missed_at = BSA_NEVER,
		.path = 255,
		.priority = 255,
		.fallback = 255,
		.status = 255,
		.quality = BSA_QUALITY_OPEN,
		.cold = -1,
		.lane = -1,
	};

	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		x.at[i] = BSA_NEVER;
	for (unsigned i = 0; i < BSA_PHASES; i++)
		x.phase[i] = BSA_NEVER;
	return x;
}

struct bsa_execution stored_warm(uint64_t id, uint64_t submitted)
{
	static const uint8_t order[] = { BSA_SUBMITTED,   BSA_REQUEST_WRITTEN, BSA_REQUEST_READ, BSA_DECODED,
		                         BSA_ENQUEUED,    BSA_DISPATCHED,      BSA_RUN_ENDED,    BSA_RESULT_WRITTEN,
		                         BSA_RESULT_READ, BSA_RETURNED };
	static const uint8_t phases[] = { BSA_PREPARE, BSA_SEND,  BSA_DECODE, BSA_SLOTS, BSA_QUEUE,
		                          BSA_RUN,     BSA_REPLY, BSA_RETURN, BSA_FINISH };
	struct bsa_execution x = stored_unknown(id);
	uint64_t t = submitted;

	for (unsigned i = 0; i < BSA_PHASES; i++)
		x.phase[i] = 0;
	for (unsigned i = 0; i < N_OF(order); i++) {
		x.at[order[i]] = t;
		if (i + 1 < N_OF(order))
			t += x.phase[phases[i]] = (i + 1) * 10;
	}
	x.e2e = t - submitted;
	x.run = x.phase[BSA_RUN];
	x.queue = x.phase[BSA_QUEUE];
	x.slots = x.phase[BSA_SLOTS];
	x.redo = x.preempted = 0;
	x.request = x.result = (struct bsa_waited){ 0, 0, 0 };
	x.trace = x.stream = x.app = x.model = 1;
	x.lookups = 2;
	x.path = BSA_PATH_BURST;
	x.priority = BSA_PRIORITY_MEDIUM;
	x.fallback = x.status = 0;
	x.quality = BSA_QUALITY_COMPLETE;
	x.cold = 0;
	x.lane = 0;
	x.idle = true;
	return x;
}

static sqlite3 *open_plainly(const char *path)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	return db;
}

const char *stored_ask(const char *path, const char *sql)
{
	sqlite3 *db = open_plainly(path);
	sqlite3_stmt *q = NULL;
	size_t n = 0;
	int r;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	rows[0] = 0;
	while ((r = sqlite3_step(q)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(q); i++) {
			const char *text = (const char *)sqlite3_column_text(q, i);

			n += (size_t)snprintf(rows + n, sizeof(rows) - n, "%s%s", i ? "|" : "", text ? text : "-");
			assert_true(n + 2 < sizeof(rows));
		}
		rows[n++] = '\n';
		rows[n] = 0;
	}
	if (r != SQLITE_DONE)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_finalize(q);
	sqlite3_close(db);
	return rows;
}

void stored_sound(const char *path)
{
	struct stat st;

	assert_rows(path, "PRAGMA integrity_check", "ok\n");
	assert_return_code(stat(path, &st), 0);
	assert_int_equal(
		st.st_size,
		atoll(stored_ask(path, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")));
}

unsigned stored_files(const char *path)
{
	char dir[256];
	unsigned n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path), path);
	d = opendir(dir);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	return n;
}
