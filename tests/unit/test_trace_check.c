/*
 * test_trace_check.c -- the judge of traces: it accepts a sound recording, and objects to each recording with
 * one fault.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINES_MAX = 256, LINE_BYTES = 700, BASE = 5 };
enum {
	CAMERA = BASE << 20 | 7,
	GALLERY,
	SYNC,
	FENCED,
	ASYNC,
	TRIALS,
	MODEL = BASE << 20 | 3,
	CONNECTION = BASE << 20 | 1
};

/* ---- a recording ---- */

struct line {
	uint64_t at;
	char text[LINE_BYTES];
};

struct recording {
	unsigned n;
	struct line lines[LINES_MAX];
};

/* Both forms of the same executions, and the log of their calls. */
static struct recording full, compact, witness;

static void __attribute__((format(printf, 3, 4))) add_line(struct recording *r, uint64_t at, const char *format, ...)
{
	struct line *line = &r->lines[r->n++];
	va_list list;

	assert_true(r->n <= LINES_MAX);
	line->at = at;
	va_start(list, format);
	vsnprintf(line->text, sizeof(line->text), format, list);
	va_end(list);
}

static void say_both(uint64_t at, const char *text)
{
	add_line(&full, at, "%s", text);
	add_line(&compact, at + 1, "%s", text);
}

#define EXEC "{ exec = %" PRIu64
#define NAMED(label, number) "( \"" label "\" : container = " number " )"

/* ---- an execution ---- */

enum path { PATH_BURST, PATH_SYNC, PATH_FENCED, PATH_ASYNC, PATH_PREPARE };

struct times {
	uint64_t submit, ask, take, decode, fence, enqueue, dispatch, end, answer, hear, back, signal;
	uint64_t preempt, resume, by; /* 0: the execution is not preempted */
	int lane, misses;
	const char *miss; /* the reason of its missed deadline; then it does not run */
};

static void say_client(uint64_t exec, enum path path, const struct times *t)
{
	int call = path ? 2 : 0, status = t->miss ? 5 : 0;

	add_line(&full, t->submit,
	         "exec_submit: " EXEC ", model = %d, path = ( <unknown> : container = %d ), deadline_ns = 0, "
	         "pools = 2, measure = 0, fallback = 0, delay_ns = 17, gap_ns = 29, turns = 2 }",
	         exec, MODEL, path);
	add_line(&full, t->ask,
	         "fmq_write: " EXEC ", queue = ( <unknown> : container = %d ), items = 6, used = 0, blocked_ns = 0 }",
	         exec, call);
	add_line(&full, t->hear,
	         "fmq_read: " EXEC ", queue = ( <unknown> : container = %d ), items = 3, used = 3, spun_ns = 4, "
	         "slept_ns = 90, wakeups = 1 }",
	         exec, call + 1);
	add_line(&full, t->back, "exec_return: " EXEC ", status = ( <unknown> : container = %d ) }", exec, status);
	add_line(&compact, t->back + 9,
	         "exec_client: " EXEC ", model = %d, path = ( <unknown> : container = %d ), deadline_ns = 0, "
	         "status = ( <unknown> : container = %d ), fallback = 0, began = %" PRIu64 ", at = [ [0] = %" PRIu64
	         ", [1] = %" PRIu64 ", [2] = %" PRIu64 ", [3] = 90 ], delay_ns = 17, gap_ns = 29, turns = 2 }",
	         exec, MODEL, path, status, t->submit - 3, t->ask - t->submit + 1, t->hear - t->submit + 2,
	         t->back - t->submit + 3);
	add_line(&witness, t->back, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\tpath", exec, t->submit - 12,
	         (path == PATH_FENCED ? t->signal : t->back) + 8, status ? "MISSED_DEADLINE_TRANSIENT" : "NONE");
}

static void say_lane(uint64_t exec, const struct times *t)
{
	if (t->miss) {
		add_line(&full, t->enqueue, "%s", t->miss);
		return;
	}
	add_line(&full, t->enqueue,
	         "sched_enqueue: " EXEC ", model = %d, app = 7, priority = " NAMED(
			 "low", "0") ", deadline_ns = 0, estimate_ns = 50, ahead = 0 }",
	         exec, MODEL);
	add_line(&full, t->dispatch, "sched_dispatch: " EXEC ", lane = %d }", exec, t->lane);
	if (!t->preempt)
		return;
	add_line(&full, t->preempt,
	         "sched_preempt: " EXEC ", by = %" PRIu64
	         ", lane = %d, at_op = 2, mode = " NAMED("restart", "1") ", asked_ns = 5, redo_ns = 7 }",
	         exec, t->by, t->lane);
	add_line(&full, t->resume,
	         "sched_resume: " EXEC ", lane = %d, from_op = 0, resumed = " NAMED("restart", "2") " }", exec,
	         t->lane);
}

static void say_decoded(uint64_t exec, enum path path, const struct times *t)
{
	add_line(&full, t->take,
	         "fmq_read: " EXEC ", queue = ( <unknown> : container = %d ), items = 6, used = 6, spun_ns = 1, "
	         "slept_ns = %d, wakeups = 0 }",
	         exec, path ? 2 : 0, 33);
	add_line(&full, t->decode,
	         "request_decode: " EXEC ", model = %d, operands = 2, pools = 2, status = " NAMED("none", "0") " }",
	         exec, MODEL);
	if (path == PATH_FENCED)
		add_line(&full, t->fence,
		         "fence_wait: " EXEC ", fences = 1, took_ns = 4, status = " NAMED("none", "0") " }", exec);
	for (int i = 0; !path && i < 2; i++)
		add_line(&full, t->decode + 2,
		         "slot_lookup: " EXEC ", slot = %d, hit = %d, look = " NAMED("first", "0") " }", exec, i,
		         i >= t->misses);
	if (t->misses)
		add_line(&full, t->decode + 9,
		         "slot_fetch: { stream = %" PRIu64 ", exec = %" PRIu64 ", slots = %d, took_ns = 6, "
		         "status = " NAMED("none", "0") " }",
		         exec >> 32, exec, t->misses);
}

#define NOT UINT64_MAX

static void say_service(uint64_t exec, enum path path, const struct times *t)
{
	uint64_t began = t->take - 2, redo = t->preempt ? 7 : 0, last = path == PATH_FENCED ? t->signal : t->answer;
	int lane = t->miss ? 255 : t->lane, status = t->miss ? 5 : 0;

	say_decoded(exec, path, t);
	say_lane(exec, t);
	add_line(&full, t->end,
	         "exec_end: " EXEC ", lane = %d, status = ( <unknown> : container = %d ), ops_run = 3, cpu_ns = 41, "
	         "redo_ns = %" PRIu64 " }",
	         exec, lane, status, redo);
	add_line(&full, t->answer,
	         "fmq_write: " EXEC ", queue = ( <unknown> : container = %d ), items = 3, used = 0, "
	         "blocked_ns = 11 }",
	         exec, path ? 3 : 1);
	if (path == PATH_FENCED && !t->miss)
		add_line(&full, t->signal - 1,
		         "exec_delay: " EXEC ", delays = [ [0] = 1, [1] = 2, [2] = 3 ], reference_ns = 0 }", exec);
	if (path == PATH_FENCED)
		add_line(&full, t->signal, "fence_signal: " EXEC ", status = " NAMED("none", "0") " }", exec);
	add_line(&compact, last + 4,
	         "exec_service: " EXEC ", model = %d, app = 7, priority = " NAMED(
			 "low",
			 "0") ", path = ( <unknown> : container = %d ), lane = %d, status = ( <unknown> : container "
	                      "= %d ), began = %" PRIu64 ", at = [ [0] = %" PRIu64 ", [1] = %" PRIu64 ", [2] = %" PRIu64
	                      ", [3] = %" PRIu64 ", [4] = %" PRIu64 ", [5] = %" PRIu64
	                      ", [6] = 33, [7] = 11, [8] = %" PRIu64 ", [9] = 41 ], lookups = %d, misses = %d, "
	                      "preemptions = %d }",
	         exec, MODEL, path, lane, status, began, t->decode - began,
	         path == PATH_FENCED ? t->fence - began : NOT, t->miss ? NOT : t->enqueue - began,
	         t->miss ? NOT : t->dispatch - began, t->end - began, last - began, redo, path ? 0 : 2, t->misses,
	         t->preempt != 0);
}

static uint64_t number(unsigned stream, unsigned n)
{
	return (uint64_t)stream << 32 | n;
}

static void execution(uint64_t exec, enum path path, const struct times *t)
{
	say_client(exec, path, t);
	say_service(exec, path, t);
}

/* A trial run: at @at it is ready, then on lane 0, then over. */
static void trial(uint64_t exec, uint64_t at)
{
	add_line(&full, at,
	         "sched_enqueue: " EXEC ", model = %d, app = 7, priority = " NAMED(
			 "low", "0") ", deadline_ns = 0, estimate_ns = 0, ahead = 0, floor_ns = 0 }",
	         exec, MODEL);
	add_line(&full, at + 100, "sched_dispatch: " EXEC ", lane = 0 }", exec);
	add_line(&full, at + 400,
	         "exec_end: " EXEC
	         ", lane = 0, status = " NAMED("none", "0") ", ops_run = 3, cpu_ns = 41, redo_ns = 0 }",
	         exec);
	add_line(&compact, at + 410,
	         "exec_service: " EXEC ", model = %d, app = 7, priority = " NAMED("low", "0") ", path = " NAMED(
			 "prepare",
			 "4") ", lane = 0, status = " NAMED("none",
	                                                    "0") ", began = %" PRIu64 ", at = [ [0] = %" PRIu64
	                                                         ", [1] = %" PRIu64
	                                                         ", [2] = 4, [3] = 104, [4] = 404, [5] = %" PRIu64
	                                                         ", [6] = 0, [7] = 0, [8] = 0, [9] = 41 ], "
	                                                         "lookups = 0, misses = 0, preemptions = 0, "
	                                                         "deadline_ns = 0 }",
	         exec, MODEL, at - 5, NOT, NOT, NOT);
}

/* Boundaries with some time between them, from @at on. */
static struct times usual(uint64_t at)
{
	return (struct times){ .submit = at,
		               .ask = at + 100,
		               .take = at + 250,
		               .decode = at + 400,
		               .fence = at + 500,
		               .enqueue = at + 600,
		               .dispatch = at + 800,
		               .end = at + 1800,
		               .answer = at + 1900,
		               .hear = at + 2150,
		               .back = at + 2300,
		               .signal = at + 1950 };
}

static void say_streams(void)
{
	static const int streams[] = { CAMERA, GALLERY, SYNC, FENCED, ASYNC, TRIALS }, paths[] = { 0, 0, 1, 2, 3, 4 };
	char text[LINE_BYTES];

	say_both(110, "service_state: { pid = 9, instance = 5, policy = " NAMED("fair", "0") ", preempt_mode = " NAMED(
			      "restart", "1") ", lanes = 2, spin_us = 1, contract = 1, since = 0 }");
	snprintf(text, sizeof(text),
	         "client_connect: { conn = %d, pid = 4, uid = 0, app = 7, "
	         "name = \"a \\\"name\\\", exec = 3 }\", since = 0 }",
	         CONNECTION);
	say_both(120, text);
	snprintf(text, sizeof(text),
	         "model_prepare: { model = %d, conn = %d, name = \"m\", priority = " NAMED(
			 "low", "0") ", ops = 3, const_bytes = 0, estimate_ns = 0, step_ns = 0, deadline_ns = 0, "
	                             "status = " NAMED("none",
	                                               "0") ", took_ns = 0, since = 0, digest = 0, look_ns = 0 }",
	         MODEL, CONNECTION);
	say_both(130, text);
	for (int i = 0; i < 6; i++) {
		snprintf(text, sizeof(text),
		         "stream_open: { stream = %d, conn = %d, path = ( <unknown> : container = %d ), "
		         "model = 0, request_capacity = 0, result_capacity = 0, spin_us = 0, cache = " NAMED(
				 "none", "0") ", since = 0 }",
		         streams[i], CONNECTION, paths[i]);
		say_both(140 + (uint64_t)i, text);
	}
}

static int by_time(const void *one, const void *other)
{
	const struct line *a = one, *b = other;

	return (a->at > b->at) - (a->at < b->at);
}

/*
 * Two bursts that are on one lane by turns, a call of each kind on the other lane, and a refused execution.
 */
static int record(void **state)
{
	static char miss[LINE_BYTES];
	struct times t = usual(10000), by = usual(10900);

	(void)state;
	full.n = compact.n = witness.n = 0;
	say_streams();
	by.dispatch = 11900; /* ... until 12700 */
	t.preempt = 11850, t.resume = 12750, t.by = number(GALLERY, 1), t.misses = 2;
	t.end = 13000, t.answer = 13100, t.hear = 13250, t.back = 13300;
	execution(number(CAMERA, 1), PATH_BURST, &t);
	execution(number(GALLERY, 1), PATH_BURST, &by);
	t = usual(14000);
	t.misses = 1;
	execution(number(CAMERA, 2), PATH_BURST, &t);
	t = usual(20000);
	snprintf(miss, sizeof(miss),
	         "deadline_miss: " EXEC ", model = %d, kind = " NAMED("transient", "0") ", stage = " NAMED(
			 "admission", "1") ", deadline_ns = 20620, estimate_ns = 50, over_ns = -20 }",
	         number(CAMERA, 3), MODEL);
	t.miss = miss;
	execution(number(CAMERA, 3), PATH_BURST, &t);
	t = usual(10050);
	t.lane = 1;
	execution(number(SYNC, 1), PATH_SYNC, &t);
	t = usual(12050);
	t.lane = 1;
	execution(number(ASYNC, 1), PATH_ASYNC, &t);
	t = usual(14050);
	t.lane = 1, t.answer = t.decode + 30, t.hear = t.answer + 40, t.back = t.hear + 10;
	execution(number(FENCED, 1), PATH_FENCED, &t);
	trial(number(TRIALS, 1), 16500);
	qsort(full.lines, full.n, sizeof(*full.lines), by_time);
	qsort(compact.lines, compact.n, sizeof(*compact.lines), by_time);
	return 0;
}

/* ---- the judgement ---- */

static char said[8192], directory[] = "/tmp/test_trace_check.XXXXXX", paths[3][64];

static void print(const struct recording *r, const char *path, const char *prefix)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	if (!*prefix)
		fprintf(file, "exec\tsubmitted_ns\treturned_ns\tstatus\tpath\n");
	for (unsigned i = 0; i < r->n; i++)
		if (*prefix)
			fprintf(file, "[%020" PRIu64 "] host nnburst:%.*s: { cpu_id = 0 }, %s\n", r->lines[i].at,
			        (int)strcspn(r->lines[i].text, ":"), r->lines[i].text,
			        strchr(r->lines[i].text, ':') + 2);
		else
			fprintf(file, "%s\n", r->lines[i].text);
	assert_int_equal(fclose(file), 0);
}

static int judged(const char *options)
{
	char command[1024];
	size_t n;
	FILE *file;
	int status;

	print(&full, paths[0], "host");
	print(&compact, paths[1], "host");
	print(&witness, paths[2], "");
	snprintf(command, sizeof(command), "'%s' %s 2>&1", TRACE_CHECK, options);
	file = popen(command, "r");
	assert_non_null(file);
	n = fread(said, 1, sizeof(said) - 1, file);
	said[n] = 0;
	status = pclose(file);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static char everything[600], only_full[100], only_compact[100];

static void lets_pass(const char *options)
{
	if (judged(options))
		fail_msg("%s\n%s", options, said);
	assert_non_null(strstr(said, "\n7 executions: 1 never ran, "));
}

static void a_sound_recording_passes(void **state)
{
	(void)state;
	lets_pass(everything);
	assert_non_null(strstr(said, "exec_end 8\n"));
	assert_non_null(strstr(said, "; 0 began before, 0 have no end; "));
}

static void a_sound_recording_of_one_form_passes(void **state)
{
	(void)state;
	lets_pass(only_full);
	lets_pass(only_compact);
}

/* ---- faults ---- */

static struct line *line_with(struct recording *r, const char *what, const char *also)
{
	for (unsigned i = 0; i < r->n; i++)
		if (!strncmp(r->lines[i].text, what, strlen(what)) && strstr(r->lines[i].text, also))
			return &r->lines[i];
	fail_msg("no %s with %s", what, also);
	return NULL;
}

static void drop(struct recording *r, unsigned i)
{
	memmove(&r->lines[i], &r->lines[i + 1], (--r->n - i) * sizeof(*r->lines));
}

static void is_objected_to(const char *why, const struct line *line)
{
	int status = judged(everything);

	if (status != 1 || !strstr(said, "objected to\n"))
		fail_msg("%s: '%s': %d\n%s", why, line ? line->text : "", status, said);
}

/* The judge misses each event that is left out. */
static void no_event_can_be_lost(void **state)
{
	struct recording *const both[] = { &full, &compact };
	struct line lost;

	for (int r = 0; r < 2; r++)
		for (unsigned i = 0;; i++) {
			record(state);
			if (i == both[r]->n)
				break;
			lost = both[r]->lines[i];
			if (r && strncmp(lost.text, "exec_", 5)) /* the other recording judges it */
				continue;
			drop(both[r], i);
			is_objected_to("lost", &lost);
		}
}

/* An event about a state may come twice; an event of an execution comes once. */
static void no_event_of_an_execution_happens_twice(void **state)
{
	for (unsigned i = 0;; i++) {
		struct line again;

		record(state);
		if (i == full.n)
			break;
		again = full.lines[i];
		if (!strstr(again.text, "{ exec = ") || !strncmp(again.text, "deadline_miss", 13))
			continue;
		memmove(&full.lines[i + 1], &full.lines[i], (full.n++ - i) * sizeof(again));
		is_objected_to("twice", &again);
	}
}

/* Exchange the times of any two neighbouring boundaries of an execution. */
static void no_two_boundaries_change_places(void **state)
{
	static const char *const order[] = { "exec_submit",   "fmq_write",      "fmq_read", "request_decode",
		                             "sched_enqueue", "sched_dispatch", "exec_end" };
	char exec[64];

	for (size_t i = 1; i < sizeof(order) / sizeof(*order); i++)
		for (int stream = CAMERA; stream <= ASYNC; stream++) {
			struct line *one, *other;
			uint64_t at;

			record(state);
			snprintf(exec, sizeof(exec), EXEC ",", number((unsigned)stream, 1));
			one = line_with(&full, order[i - 1], exec);
			other = line_with(&full, order[i], exec);
			at = one->at;
			one->at = other->at;
			other->at = at;
			qsort(full.lines, full.n, sizeof(*full.lines), by_time);
			is_objected_to(order[i], line_with(&full, order[i], exec));
		}
}

/*
 * In the line that begins with @what and contains @also, @old becomes @new, or the line's time moves by
 * @shift.
 */
static const struct wrong {
	const char *why;
	struct recording *of;
	const char *what, *also, *old, *new;
	int shift;
	const char *said;
} wrongs[] = {
	{ "it is on another's lane", &full, "sched_dispatch", "lane = 1", "lane = 1", "lane = 0", 0, "on lane" },
	{ "a lane is given away before it is free", &full, "sched_dispatch", "22518032496590849", "", "", -60,
	  "on lane" },
	{ "a lane is vacated for another execution", &full, "sched_preempt", "", "by = ", "by = 1", 0, "vacated for" },
	{ "it ends on another lane", &full, "exec_end", "lane = 0", "lane = 0", "lane = 1", 0, "exec_end on lane 1" },
	{ "a refused one ends on a lane", &full, "exec_end", "lane = 255", "255", "1", 0, "without sched_dispatch" },
	{ "one that ran ends on none", &full, "exec_end", "lane = 0", "lane = 0", "lane = 255", 0,
	  "after a sched_dispatch" },
	{ "a restart's work is counted twice", &full, "sched_preempt", "", "redo_ns = 7", "redo_ns = 8", 0, "redo_ns" },
	{ "it lost its lane, and has one again without being ready", &full, "sched_preempt", "", NAMED("restart", "1"),
	  NAMED("stalled", "2"), 0, "not ready before" },
	{ "it is ready again, and has lost no lane", &full, "sched_resume", "", "sched_resume", "sched_ready", 0,
	  "was not stalled" },
	{ "more is redone than was run", &full, "sched_preempt", "", "redo_ns = 7", "redo_ns = 1051", 0,
	  "of a stretch of 1050" },
	{ "more is redone than the last stretch was long", &full, "exec_end", "redo_ns = 7", "redo_ns = 7",
	  "redo_ns = 258", 0, "after a last stretch of 250" },
	{ "it fails, and the app is told that it did not", &full, "exec_end", "lane = 0", "container = 0",
	  "container = 2", 0, "status 2 in exec_end, 0 in exec_return" },
	{ "a slot was known, and is fetched", &full, "slot_lookup", "hit = 0", "hit = 0", "hit = 1", 0, "misses" },
	{ "a slot of another stream is fetched", &full, "slot_fetch", "", "stream = ", "stream = 1", 0,
	  "slot_fetch of stream" },
	{ "a slot is fetched when it is too late", &full, "slot_fetch", "", "", "", 300,
	  "slot_fetch after it was enqueued" },
	{ "a deadline is missed after the end", &full, "deadline_miss", "", "", "", 1300,
	  "deadline_miss after exec_end" },
	{ "a deadline that was missed is none", &full, "deadline_miss", "", "deadline_ns = 20620", "deadline_ns = 0", 0,
	  "of deadline 0 says" },
	{ "a deadline is missed by the time since the machine started", &full, "deadline_miss", "", "over_ns = -20",
	  "over_ns = 20600", 0, "says 20600 ns, and it is -20" },
	{ "it is late, and does not say so", &full, "sched_enqueue", "22518036791558145", "deadline_ns = 0",
	  "deadline_ns = 1", 0, "after its deadline, without deadline_miss" },
	{ "it is of another model for the service", &full, "request_decode", "", "model = ", "model = 1", 0,
	  "of model" },
	{ "an execution is preempted for one without a number", &full, "sched_preempt", "",
	  "by = ", "by = 0, was = ", 0, "without a number" },
	{ "a trial run shares a lane with another execution", &full, "sched_dispatch", "22518049676460033", "", "",
	  -1100, "on lane 0" },
	{ "a trial run is of no model", &full, "sched_enqueue", "22518049676460033", "model = ", "model = 0, was = ", 0,
	  "of no model" },
	{ "a number of a trial run was left out", &full, "sched_enqueue", "22518049676460033", "exec = ", "exec = 1", 0,
	  "never over" },
	{ "it is of a stream that was not opened", &full, "stream_open", "", "stream = ", "stream = 1", 0,
	  "no event announced" },
	{ "it is in a stream of another path", &full, "stream_open", "container = 3", "container = 3", "container = 1",
	  0, "in a stream of path 1" },
	{ "a burst's request comes as a call", &full, "fmq_read", "container = 0", "container = 0", "container = 2", 0,
	  "queue 2" },
	{ "a number was left out", &full, "exec_submit", "", "exec = ", "exec = 1", 0, "never over" },
	{ "a clock is read after the next boundary", &compact, "exec_service", "[0] = 152", "[0] = 152", "[0] = 350", 0,
	  "in compact, and" },
	{ "a phase is longer in one form", &full, "request_decode", "", "", "", 40, "phases of the two forms differ" },
	{ "compact: a boundary is before the one before", &compact, "exec_service", "[0] = 152", "[0] = 152",
	  "[0] = 952", 0, "compact: slots is negative" },
	{ "compact: it was asked for before it was submitted", &compact, "exec_service", "", "began = 1", "began = ", 0,
	  "compact: send is negative" },
	{ "compact: it never ran, and was dispatched", &compact, "exec_service", "lane = 255",
	  "[3] = 18446744073709551615", "[3] = 400", 0, "sched_dispatch do not agree" },
	{ "compact: it waited for fences, and is a burst", &compact, "exec_service", "lane = 0",
	  "[1] = 18446744073709551615", "[1] = 400", 0, "is not fenced" },
	{ "compact: another count of lookups", &compact, "exec_service", "lookups = 2", "lookups = 2", "lookups = 3", 0,
	  "lookups: 2 in full, 3 in compact" },
	{ "compact: another count of preemptions", &compact, "exec_service", "preemptions = 1", "preemptions = 1",
	  "preemptions = 0", 0, "preemptions: 1 in full, 0 in compact" },
	{ "its delays come after its fence is signalled", &full, "exec_delay", "", "", "", 9, "it has no exec_delay" },
	{ "compact: it slept longer", &compact, "exec_client", "", "[3] = 90", "[3] = 91", 0,
	  "slept_ns of the result" },
	{ "compact: it was kept from the cpu longer", &compact, "exec_client", "", "delay_ns = 17", "delay_ns = 18", 0,
	  "delay_ns" },
	{ "compact: it was put on a cpu more often", &compact, "exec_client", "", "turns = 2", "turns = 3", 0,
	  "turns" },
	{ "it waited for a cpu without a count", &full, "exec_submit", "", "turns = 2", "turns = 0", 0,
	  "gap_ns, and no turns" },
	{ "it was kept from the cpu for longer than there was time", &full, "exec_submit", "", "delay_ns = 17",
	  "delay_ns = 90017", 0, "kept from the cpu for longer" },
	{ "compact: its call before was longer ago", &compact, "exec_client", "", "gap_ns = 29", "gap_ns = 30", 0,
	  "gap_ns" },
	{ "compact: another time on the cpu", &compact, "exec_service", "", "[9] = 41", "[9] = 40", 0, "cpu_ns" },
	{ "compact: another status", &compact, "exec_client", "", "status = ( <unknown> : container = 0",
	  "status = ( <unknown> : container = 2", 0, "status" },
	{ "it is told of twice in its compact form", &compact, "exec_client", "", "exec = 2251", "exec = 3251", 0,
	  "never over" },
	{ "the log has another one", &witness, "2", "", "3\t", "9\t", 0, "not in the log" },
	{ "in the log it begins later", &witness, "2", "\t9988\t", "\t9988\t", "\t10001\t", 0, "not within that" },
	{ "in the log it took longer", &witness, "2", "\t9988\t", "\t9988\t", "\t9888\t", 0,
	  "times of the log differ" },
	{ "in the log it failed", &witness, "2", "NONE", "NONE", "DEAD_OBJECT", 0, "failed in the log" },
};

static void whatever_is_wrong_is_objected_to(void **state)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		const struct wrong *w = &wrongs[i];
		struct line *line, was;
		char *old;

		record(state);
		line = line_with(w->of, w->what, w->also);
		was = *line;
		line->at += (uint64_t)(int64_t)w->shift;
		old = strstr(line->text, w->old);
		assert_non_null(old);
		snprintf(old, sizeof(line->text) - (size_t)(old - line->text), "%s%s", w->new,
		         was.text + (old - line->text) + strlen(w->old));
		qsort(w->of->lines, w->of->n, sizeof(*w->of->lines), by_time);
		is_objected_to(w->why, &was);
		if (!strstr(said, w->said))
			fail_msg("%s: not said: %s\n%s", w->why, w->said, said);
	}
}

/* ---- recordings that begin late, or end early ---- */

static void what_began_before_the_recording_is_not_judged(void **state)
{
	char options[700];

	(void)state;
	while (full.lines[0].at < 10500) /* the recording begins within the first execution */
		drop(&full, 0);
	while (compact.lines[0].at < 10500)
		drop(&compact, 0);
	assert_int_equal(judged(everything), 1);
	snprintf(options, sizeof(options), "%s --from 10900", everything);
	if (judged(options) || !strstr(said, "5 executions: ") || !strstr(said, "; 2 began before"))
		fail_msg("%s", said);
}

static void what_has_no_end_is_counted(void **state)
{
	char options[700];

	(void)state;
	while (full.lines[full.n - 1].at > 20500)
		full.n--;
	while (compact.lines[compact.n - 1].at > 20500)
		compact.n--;
	assert_int_equal(judged(everything), 1);
	snprintf(options, sizeof(options), "%s --cut", everything);
	if (judged(options) || !strstr(said, "6 executions: ") || !strstr(said, " 1 have no end"))
		fail_msg("%s", said);
}

/* ... and a recording with holes is judged by its events. */
static void a_loss_is_no_fault_where_the_recorder_died(void **state)
{
	char options[700];

	for (unsigned i = 0;; i++) {
		record(state);
		if (i == full.n)
			break;
		drop(&full, i);
		if (i + 3 < full.n)
			drop(&full, i + 3);
		snprintf(options, sizeof(options), "%s --holes", only_full);
		if (judged(options))
			fail_msg("%u: %s", i, said);
	}
	line_with(&full, "request_decode", "")->at += 1000;
	qsort(full.lines, full.n, sizeof(*full.lines), by_time);
	assert_int_equal(judged(options), 1);
	assert_non_null(strstr(said, " is negative: "));
}

static void only_a_waiting_execution_has_an_earlier_ready_time(void **state)
{
	static const struct {
		int phase, ready;
		bool wrong;
	} rows[] = { { 1, 19000, false }, { 3, 19000, false }, { 1, 0, false },   { 1, 19101, true },
		     { 2, 19000, true },  { 2, 0, false },     { 0, 19000, true } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		record(state);
		add_line(&full, 19100,
		         "exec_state: { exec = 5, model = 1, app = 7, priority = " NAMED("low", "0") ", path = " NAMED(
				 "sync", "1") ", deadline_ns = 0, phase = ( <unknown> : container = %d ), lane = 255, "
		                              "since = 19100, ready_ns = %d }",
		         rows[i].phase, rows[i].ready);
		qsort(full.lines, full.n, sizeof(*full.lines), by_time);
		if ((judged(everything) == 1) != rows[i].wrong ||
		    (rows[i].wrong && !strstr(said, "has waited for a lane since")))
			fail_msg("phase %d, ready_ns %d: %s", rows[i].phase, rows[i].ready, said);
	}
}

static void strays_are_let_pass_up_to_a_share(void **state)
{
	char options[700];

	(void)state;
	line_with(&full, "request_decode", "")->at += 100;
	qsort(full.lines, full.n, sizeof(*full.lines), by_time);
	assert_int_equal(judged(everything), 1);
	snprintf(options, sizeof(options), "%s --strays 60", everything);
	if (judged(options))
		fail_msg("%s", said);
	snprintf(options, sizeof(options), "%s --strays 20", everything);
	assert_int_equal(judged(options), 1);
}

static void what_is_no_recording_is_refused(void **state)
{
	static const char *const lines[] = { "exec_end: { exec = 5, lane = }", "exec_end: { exec 5 }",
		                             "no_event: { exec = 5 }", "exec_end: { lane = 5 }" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		record(state);
		snprintf(full.lines[9].text, sizeof(full.lines[9].text), "%s", lines[i]);
		if (judged(everything) == 0)
			fail_msg("%s\n%s", lines[i], said);
	}
	assert_int_equal(judged(""), 2);
	assert_int_equal(judged("--full /nowhere"), 2);
	assert_int_equal(judged("--fuller"), 2);
	full.n = 0;
	assert_int_equal(judged(only_full), 1);
}

static int make_directory(void **state)
{
	static const char *const names[] = { "full", "compact", "log" };

	(void)state;
	assert_non_null(mkdtemp(directory));
	for (int i = 0; i < 3; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", directory, names[i]);
	snprintf(only_full, sizeof(only_full), "--full %s", paths[0]);
	snprintf(only_compact, sizeof(only_compact), "--compact %s", paths[1]);
	snprintf(everything, sizeof(everything), "%s %s --log %s --tolerance 30", only_full, only_compact, paths[2]);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		unlink(paths[i]);
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_sound_recording_passes, record),
		cmocka_unit_test_setup(a_sound_recording_of_one_form_passes, record),
		cmocka_unit_test_setup(no_event_can_be_lost, record),
		cmocka_unit_test_setup(no_event_of_an_execution_happens_twice, record),
		cmocka_unit_test_setup(no_two_boundaries_change_places, record),
		cmocka_unit_test_setup(whatever_is_wrong_is_objected_to, record),
		cmocka_unit_test_setup(what_began_before_the_recording_is_not_judged, record),
		cmocka_unit_test_setup(what_has_no_end_is_counted, record),
		cmocka_unit_test_setup(a_loss_is_no_fault_where_the_recorder_died, record),
		cmocka_unit_test_setup(only_a_waiting_execution_has_an_earlier_ready_time, record),
		cmocka_unit_test_setup(strays_are_let_pass_up_to_a_share, record),
		cmocka_unit_test_setup(what_is_no_recording_is_refused, record),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
