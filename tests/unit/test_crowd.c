/*
 * test_crowd.c -- where many executions wait at once, a database has the same waits as if each wait had rows of
 * its own, and its size grows with the number of executions (store/crowd.h).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/folders.h"
#include "analyzer/imported.h"
#include "analyzer/script.h"
#include "base.h"
#include "fold/fold.h"
#include "store/crowd.h"
#include "store/store.h"

#ifndef SCALE
#define SCALE 4
#endif

enum { STREAM = 0x110000, LINE = 160, ROW = 96, APPS = 4 };

/* ---- crowds ---- */

struct crowd_of {
	const char *name;
	unsigned executions, lanes;
	bool latest_first; /* the execution that became ready last gets the lane */
	bool dies;         /* every third execution is given up while it waits */
	bool loses;        /* events were lost in the middle */
};

static uint64_t next_random(uint64_t *state, uint64_t below)
{
	return (lcg_next(state) >> 33) % below;
}

static void begin(FILE *to, const struct crowd_of *c)
{
	fprintf(to, "1 service_state pid=9 lanes=%u instance=1\n", c->lanes);
	for (int a = 1; a <= APPS; a++)
		fprintf(to, "2 client_connect conn=%d pid=%d uid=1 app=%d name=app%d\n", 0x100000 + a, a, a, a);
	for (int a = 1; a <= APPS; a++)
		fprintf(to, "3 model_prepare model=%d conn=%d name=net step_ns=1us\n", 0x100100 + a, 0x100000 + a);
	for (unsigned i = 0; i < c->executions; i++)
		fprintf(to, "4 stream_open stream=%u conn=%u path=burst model=%u\n", STREAM + i, 0x100001 + i % APPS,
		        0x100101 + i % APPS);
}

/* The events of a service with a growing backlog that it then works off. Owned by the caller. */
static char *events_of(const struct crowd_of *c)
{
	unsigned *ready = calloc(c->executions, sizeof(*ready)), n_ready = 0, first = 0, come = 0, gone = 0;
	unsigned on[8] = { 0 };
	uint64_t until[8] = { 0 }, at = 1000, state = c->executions;
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	begin(to, c);
	while (gone < c->executions) {
		at += 1 + next_random(&state, 3000);
		if (come < c->executions && next_random(&state, 5)) {
			fprintf(to, "%" PRIu64 " sched_enqueue exec=%u:1 model=%u app=%u priority=%s\n", at,
			        STREAM + come, 0x100101 + come % APPS, 1 + come % APPS,
			        (const char *[]){ "low", "medium", "high" }[come % 3]);
			ready[n_ready++] = come++;
		}
		if (c->loses && come == c->executions / 2)
			fprintf(to, "%" PRIu64 " loss ended=%" PRIu64 " events=1\n", at, at);
		for (unsigned l = 0; l < c->lanes; l++) {
			if (on[l] && at >= until[l]) {
				fprintf(to, "%" PRIu64 " exec_end exec=%u:1 lane=%u\n", at, STREAM + on[l] - 1, l);
				on[l] = 0;
				gone++;
			} else if (!on[l] && first < n_ready && (come > c->executions / 3 || !next_random(&state, 3))) {
				unsigned x = c->latest_first ? ready[--n_ready] : ready[first++];

				if (c->dies && x % 3 == 0) {
					fprintf(to,
					        "%" PRIu64
					        " exec_end exec=%u:1 lane=255 status=missed_deadline_transient\n",
					        at, STREAM + x);
					gone++;
					continue;
				}
				fprintf(to, "%" PRIu64 " sched_dispatch exec=%u:1 lane=%u\n", at, STREAM + x, l);
				on[l] = x + 1;
				until[l] = at + 100 + next_random(&state, 20000);
			}
		}
	}
	fclose(to);
	free(ready);
	return text;
}

/* ---- waits as the fold reports them ---- */

struct rows {
	char (*all)[ROW];
	size_t n, room;
};

static void add_row(struct rows *r, const char *row)
{
	if (r->n == r->room) {
		r->room = 2 * r->room + 1024;
		r->all = realloc(r->all, r->room * sizeof(*r->all));
		assert_non_null(r->all);
	}
	snprintf(r->all[r->n++], ROW, "%s", row);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void told(void *ctx, const struct bsa_wait *w)
{
	char row[ROW];

	snprintf(row, sizeof(row), "%" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %" PRIu64 " %u %u %u", w->execution,
	         w->began, w->ended, w->kind, w->lane, w->occupancy, w->blocker, w->blocker_app, w->cause, w->open);
	add_row(ctx, row);
}

/* All other facts go nowhere. */
/* clang-format off */
#define FACTS(F) \
	F(app) F(process) F(rules) F(model) F(stream) F(execution) F(slice) F(possible_wait) \
	F(unknown_lane) F(preemption) F(deadline_missed) F(refused) F(exhausted) F(slot_missed) F(mapping) \
	F(buffer) F(buffer_used) F(inverted) F(starved) F(share) F(lag) F(interfered) F(chosen) F(lost) \
	F(spanned)
/* clang-format on */

static void nothing(void *ctx, const void *fact)
{
	(void)ctx;
	(void)fact;
}

static void fold(const char *events, struct rows *ret)
{
	struct bsa_facts facts = { .ctx = ret,
#define F(name) .name = (__typeof__(facts.name))(void *)nothing,
		                   FACTS(F)
#undef F
		                           .wait = told };
	const struct bsa_fold_options options = { 0 };
	struct bsa_fold *f = bsa_fold_new(&facts, &options);
	struct script *s = script_new(events);
	const struct bsa_event *e;

	while ((e = script_next(s)))
		assert_int_equal(bsa_fold_event(f, e), 0);
	assert_int_equal(bsa_fold_finish(f), 0);
	bsa_fold_free(f);
	script_free(s);
	qsort(ret->all, ret->n, sizeof(*ret->all), by_text);
}

/* ---- waits in the database ---- */

static void ask(const char *output, const char *sql, struct rows *ret)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *q = NULL;

	assert_int_equal(sqlite3_open_v2(output, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL))
		fail_msg("%s", sqlite3_errmsg(db));
	while (sqlite3_step(q) == SQLITE_ROW)
		add_row(ret, (const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	sqlite3_close(db);
	qsort(ret->all, ret->n, sizeof(*ret->all), by_text);
}

/* Executions have the fold's numbers. Waits for an idle lane are not among the fold's facts. */
static const char waits[] =
	"SELECT concat_ws_ FROM (SELECT w.execution_id || ' ' || w.began || ' ' || w.ended || ' ' || (w.kind = "
	"'preempted') || ' ' ||"
	" ifnull(w.lane, 255) || ' ' || iif(occupancy = 'held', 0, iif(occupancy = 'idle', 1, 2)) || ' ' || "
	"ifnull(blocker_id, 0) || ' ' ||"
	" ifnull(blocker_app_id, 0) || ' ' || CASE cause WHEN 'queued_behind' THEN 2 WHEN 'inversion' THEN 3 WHEN "
	"'crowded_out' THEN 4"
	" WHEN 'hogged' THEN 5 WHEN 'preempted' THEN 6 WHEN 'handover' THEN 8 WHEN 'unknown' THEN 21 END || ' ' ||"
	" CASE open WHEN 'start' THEN 1 WHEN 'end' THEN 2 WHEN 'both' THEN 3 ELSE 0 END AS concat_ws_"
	" FROM wait w JOIN stored_unpacked x ON x.id = w.execution_id WHERE NOT x.idle)";

static void check_crowd(const struct crowd_of *c)
{
	struct rows from_fold = { 0 }, from_db = { 0 }, stored = { 0 };
	char *events = events_of(c);
	const char *output = folder_at("db");

	fold(events, &from_fold);
	import_script(events, &(struct bsa_importer_options){ .output = output }, NULL);
	ask(output, waits, &from_db);
	if (from_fold.n != from_db.n)
		fail_msg("%s: %zu waits, not %zu", c->name, from_db.n, from_fold.n);
	for (size_t i = 0; i < from_fold.n; i++)
		if (strcmp(from_fold.all[i], from_db.all[i]))
			fail_msg("%s: %s, not %s", c->name, from_db.all[i], from_fold.all[i]);
	ask(output,
	    "SELECT (SELECT count(*) FROM stored_wait) + (SELECT count(*) FROM stored_wait_run) + (SELECT count(*) "
	    "FROM stored_occupancy)",
	    &stored);
	if (!c->loses) /* uncertain waits have stretches of their own */
		assert_true(strtoull(stored.all[0], NULL, 10) <= 12 * (uint64_t)c->executions);
	assert_true(from_db.n > 10 * (size_t)c->executions);
	print_message("%s: %zu waits in %s rows\n", c->name, from_db.n, stored.all[0]);
	free(from_fold.all);
	free(from_db.all);
	free(stored.all);
	free(events);
}

static void a_crowd_has_the_same_waits_in_less_space(void **state)
{
	static const struct crowd_of crowds[] = {
		{ .name = "one lane, first come first served", .executions = 100 * SCALE, .lanes = 1 },
		{ .name = "one lane, the latest first", .executions = 100 * SCALE, .lanes = 1, .latest_first = true },
		{ .name = "three lanes", .executions = 150 * SCALE, .lanes = 3 },
		{ .name = "three lanes, the latest first",
		  .executions = 150 * SCALE,
		  .lanes = 3,
		  .latest_first = true },
		{ .name = "some die", .executions = 100 * SCALE, .lanes = 2, .dies = true },
		{ .name = "some die, the latest first",
		  .executions = 100 * SCALE,
		  .lanes = 2,
		  .dies = true,
		  .latest_first = true },
		{ .name = "with a hole", .executions = 100 * SCALE, .lanes = 1, .loses = true },
		{ .name = "with a hole, of three lanes",
		  .executions = 150 * SCALE,
		  .lanes = 3,
		  .loses = true,
		  .latest_first = true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(crowds) / sizeof(*crowds); i++)
		check_crowd(&crowds[i]);
}

/* ---- more stretches than the store keeps, as the fold reports them ---- */

enum { STRETCH_NS = 100, WAITS = 300 };

struct lane_told {
	uint16_t instance;
	/* the number of the lane's first stretch, which gives its begin, too; the number of stretches so far */
	uint64_t first, n;
};

static void occupy(const struct bsa_facts *facts, struct lane_told *l, uint64_t n)
{
	for (uint64_t to = l->n + n; l->n < to; l->n++)
		facts->occupied(facts->ctx, &(struct bsa_occupied){ .began = (l->first + l->n) * STRETCH_NS,
		                                                    .ended = (l->first + l->n + 1) * STRETCH_NS,
		                                                    .blocker = l->first + l->n,
		                                                    .app = 1,
		                                                    .instance = l->instance });
}

/* Execution @id waits from stretch @from on, until the last stretch so far. */
static void wait_behind(const struct bsa_facts *facts, const struct lane_told *l, uint64_t id, uint64_t from)
{
	for (uint64_t i = from; i < l->n; i++)
		facts->wait(facts->ctx, &(struct bsa_wait){ .execution = id,
		                                            .began = (l->first + i) * STRETCH_NS,
		                                            .ended = (l->first + i + 1) * STRETCH_NS,
		                                            .blocker = l->first + i,
		                                            .blocker_app = 1,
		                                            .app = 2,
		                                            .instance = l->instance,
		                                            .cause = BSA_CROWDED_OUT });
}

static struct bsa_store *begin_store(void)
{
	const struct bsa_store_options options = { .output = folder_at("db") };
	struct bsa_store *ret = NULL;
	struct bsa_err err = { "" };

	if (bsa_store_new(&ret, &options, &err))
		fail_msg("%s", err.text);
	return ret;
}

static void is_answered(struct bsa_store *s, const char *sql, const char *answer)
{
	struct rows rows = { 0 };
	struct bsa_err err = { "" };

	if (s && bsa_store_finish(s, &err))
		fail_msg("%s", err.text);
	bsa_store_free(s);
	ask(folder_at("db"), sql, &rows);
	assert_int_equal(rows.n, 1);
	assert_string_equal(rows.all[0], answer);
	free(rows.all);
}

/* No later fact ends the wait; meanwhile the store forgets half of the lane's stretches. */
static void a_wait_is_stored_before_its_stretches_are_forgotten(void **state)
{
	struct bsa_store *s = begin_store();
	const struct bsa_facts facts = bsa_store_facts(s);
	struct lane_told l = { .instance = 1, .first = 1000 };

	(void)state;
	occupy(&facts, &l, WAITS);
	wait_behind(&facts, &l, 7, WAITS - 20);
	occupy(&facts, &l, CROWD_KEPT);
	is_answered(
		s,
		"SELECT count(*) || ' ' || min(began) || ' ' || sum(dur_ns) || ' ' || sum(blocker_id = began / 100) "
		"FROM stored_occupancy",
		"20 128000 2000 20");
}

/* A lane that is idle now must not keep more stretches than the others get. */
static void a_lane_of_many_stretches_leaves_room_for_others(void **state)
{
	struct bsa_store *s = begin_store();
	const struct bsa_facts facts = bsa_store_facts(s);
	struct lane_told hoards = { .instance = 1, .first = 1 }, l = { .instance = 2, .first = CROWD_KEPT };

	(void)state;
	occupy(&facts, &hoards, CROWD_KEPT);
	for (uint64_t i = 1; i <= WAITS; i++) {
		occupy(&facts, &l, 1);
		wait_behind(&facts, &l, i, 0);
	}
	is_answered(s,
	            "SELECT (SELECT count(*) FROM stored_occupancy) || ' ' || (SELECT count(*) FROM stored_wait_run) "
	            "|| ' ' "
	            "|| (SELECT count(*) FROM stored_wait)",
	            "300 292 36");
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup(a_crowd_has_the_same_waits_in_less_space, folder_begin),
		cmocka_unit_test_setup(a_wait_is_stored_before_its_stretches_are_forgotten, folder_begin),
		cmocka_unit_test_setup(a_lane_of_many_stretches_leaves_room_for_others, folder_begin),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
