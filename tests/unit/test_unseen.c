/*
 * test_unseen.c -- no rule passes because of events that were not recorded. One recording, of which another
 * part is missing each time, and the outcome of each kind of rule.
 *
 * Everything that was recorded keeps every rule. The missing part may have broken it: an app may have come
 * and gone, with work of several priorities, with missed deadlines, and with waits as long as the missing
 * part.
 */
#include "analyzer/stored.h"

#include "analyzer/script.h"
#include "analyzer/timeline.h"
#include "audit/judge.h"
#include "audit/verdicts.h"
#include "fold/fold.h"
#include "fold/voices.h"
#include "slo/measure.h"

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

/* The rules, and the order of the letters below. */
static const char *const rules[] = {
	"p50 e2e <= 1s",
	"p50 run <= 1s",
	"p50 overhead <= 1s",
	"p50 overhead share <= 99 %",
	"miss ratio <= 5 %",
	"at most 1 misses in any 10",
	"starvation none",
	"fairness",
	"fairness lag <= 20ms",
	"priority inversion <= 20ms",
	"priority honoured >= 99 %",
	"priority",
	"coverage >= 99 %",
	"executions >= 50",
	"p50 e2e <= baseline + 200 %",
};

enum { RULES = N_OF(rules) };

static const char before[] =
	"usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us\n";

static const char world[] =
	"0 client_connect conn=1 pid=11 uid=1001 app=1 name=red\n"
	"0 client_connect conn=2 pid=12 uid=1002 app=2 name=blue\n"
	"0 model_prepare model=1 conn=1 name=small priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
	"0 model_prepare model=2 conn=2 name=other priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
	"0 stream_open stream=1 conn=1 path=burst model=1\n"
	"0 stream_open stream=2 conn=2 path=burst model=2\n";

static const char after[] = "2500ms stream_close stream=1\n"
			    "2500ms stream_close stream=2\n"
			    "3s client_connect conn=3 pid=13 uid=1003 app=3 name=green\n";

/* The database need not survive a power failure (ld --wrap). */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	return 0;
}

/* Services report their state again to a session that is started again. */
#define GAP                                                                                           \
	"1s loss ended=1500ms events=- packets=- cause=gap\n"                                         \
	"1500ms+1us service_state pid=100 policy=fair preempt_mode=save lanes=2 contract=1 since=1\n" \
	"1500ms+2us client_connect conn=1 pid=11 uid=1001 app=1 name=red since=1\n"                   \
	"1500ms+3us client_connect conn=2 pid=12 uid=1002 app=2 name=blue since=1\n"
#define SERVICE "0 service_state pid=100 policy=fair preempt_mode=save lanes=2 contract=1\n"
#define NATIVE "0 service_state pid=100 policy=native preempt_mode=none lanes=0 contract=1\n"
#define CALLS(more)                                                       \
	"1ms       1:1   x60  every=2ms deadline=900us lane=0 " more "\n" \
	"1ms+500us 2:1   x60  every=2ms deadline=900us lane=1 " more "\n" \
	"2s        1:61 x60  every=2ms deadline=900us lane=0 " more "\n"  \
	"2s+500us  2:61 x60  every=2ms deadline=900us lane=1 " more "\n"
#define EVERYTHING SERVICE, CALLS("")
#define STOPPED                                                              \
	"1ms       1:1   x60  every=2ms deadline=900us lane=0\n"             \
	"1ms+500us 2:1   x60  every=2ms deadline=900us lane=1\n"             \
	"2s        1:61 x60  every=2ms deadline=900us lane=0 side=service\n" \
	"2s+500us  2:61 x60  every=2ms deadline=900us lane=1 side=service\n"

static const struct {
	const char *story, *service, *calls, *missing;
	unsigned forms;
	int64_t from_ms, to_ms; /* --from and --to; 0: not given */
	/* P: pass, F: fail, ?: inconclusive. */
	const char *outcomes;
} situations[] = {
	/* clang-format off */
	/*                                                                             e2e      over-       miss        starva-      lag         honoured     coverage     baseline
	                                                                                   run      head share      streak      fairness   inversion   priority   executions     */
	{ "all of it was recorded",              EVERYTHING, "",                                                                   TIMELINE_FULL,    0, 0,      "PPPPPPPPPPPPPPP" },
	{ "compact",                             EVERYTHING, "",                                                                   TIMELINE_COMPACT, 0, 0,      "PPPPPPPPPPPPPPP" },
	{ "stopped and started",                 EVERYTHING, GAP,                TIMELINE_FULL,    0, 0,      "????????????" "?P?" },
	{ "stopped and started, compact",        EVERYTHING, GAP,                TIMELINE_COMPACT, 0, 0,      "????????????" "?P?" },
	{ "packets were lost",                   EVERYTHING, "1s loss ended=1500ms events=- packets=9 cause=packets\n",            TIMELINE_FULL,    0, 0,      "????????????" "?P?" },
	{ "a file is cut",                       EVERYTHING, "2s+200ms loss ended=2500ms events=- packets=- cause=cut\n",          TIMELINE_FULL,    0, 0,      "????????????" "?P?" },
	{ "a cpu's buffer ends before the end",  EVERYTHING, "2s+200ms loss ended=2500ms events=- packets=- cause=tail\n",         TIMELINE_FULL,    0, 0,      "????????????" "?P?" },
	{ "many events were lost",               EVERYTHING, "1s loss ended=1500ms events=700 packets=0\n",                        TIMELINE_FULL,    0, 0,      "????????????" "FP?" },
	{ "the clients alone",                   SERVICE, CALLS("side=client"), "",                                                TIMELINE_FULL,    0, 0,      "P???PP??????PPP" },
	{ "the service alone, compact",          SERVICE, CALLS("side=service"), "",                                               TIMELINE_COMPACT, 0, 0,      "?P????PPPPPPPP?" },
	{ "the service alone",                   SERVICE, CALLS("side=service"), "",                                               TIMELINE_FULL,    0, 0,      "?P????PPPPPPPP?" },
	{ "the apps are recorded until 1 s",     SERVICE, STOPPED, "",                                                             TIMELINE_FULL,    0, 0,      "PPPP??P?PPPPPP?" },
	{ "a native service",                    NATIVE, CALLS(""), "",                                                            TIMELINE_FULL,    0, 0,      "PPPPPPP?????PPP" },
	{ "recorded from the middle on",         EVERYTHING, "start 60ms\n",                                                      TIMELINE_FULL,    0, 0,      "PPPPPPPPPPPPPPP" },
	{ "recorded until the middle",           EVERYTHING, "stop 2s+60ms\n",                                                    TIMELINE_COMPACT, 0, 0,      "PPPPPPPPPPPPPPP" },
	{ "a loss after what was asked for",     EVERYTHING, GAP,                TIMELINE_FULL,    0, 110,    "PPPPPPPPPPPP?PP" },
	{ "after it, compact",                   EVERYTHING, GAP,                TIMELINE_COMPACT, 0, 110,    "????????????" "?P?" },
	{ "a loss before what was asked for",    EVERYTHING, GAP,                TIMELINE_FULL,    1800, 0,   "PPPPPPPPPPPP?PP" },
	{ "before it, compact",                  EVERYTHING, GAP,                TIMELINE_COMPACT, 1800, 0,   "PPPPPPPPPPPP?PP" },
	{ "a loss in what was asked for",        EVERYTHING, GAP,                TIMELINE_FULL,    0, 1200,   "????????????" "?P?" },
	/* clang-format on */
};

/*
 * @recorded_until: the noted end of the recording; 0: unknown. @without: kinds of events that are not recorded, 1 <<
 * kind, of service @of, or with BSA_NO_INSTANCE of all; @undeclared: the recording itself tells that they were not
 * enabled.
 */
static void database_recorded_of(const char *path, const char *text, uint64_t recorded_until, uint64_t without,
                                 unsigned of, bool undeclared)
{
	struct bsa_store_options options = { .output = path };
	struct bsa_trace_row row = {
		.id = 1, .uuid = "unseen", .path = "/unseen", .host = "here", .session = "one", .clock = "monotonic"
	};
	struct bsa_fold_options fold = { .horizon_ns = without ? 0 : 1000000000, /* 0: full events only */
		                         .declared = undeclared ? ~without : 0,
		                         .undeclared = undeclared ? without : 0 };
	struct script *script = script_new(text);
	struct bsa_store *store = NULL;
	struct bsa_err err = { "" };
	struct bsa_left_out left_out;
	const struct bsa_event *e;
	struct bsa_facts facts;
	struct bsa_fold *f;

	if (bsa_store_new(&store, &options, &err) || bsa_store_trace(store, &row, &err))
		fail_msg("%s", err.text);
	bsa_store_clock(store, 0);
	facts = bsa_store_facts(store);
	f = bsa_fold_new(&facts, &fold);
	assert_non_null(f);
	while ((e = script_next(script))) {
		const struct bsa_loss *loss = e->kind == BSA_loss ? BSA_OF(e, loss) : NULL;

		if (without >> e->kind & 1 && (of == BSA_NO_INSTANCE || bsa_voice_of(e) == of))
			continue;
		row.ended = loss && loss->ended > e->at ? loss->ended : e->at;
		row.events += !loss;
		row.lost_events += loss && loss->events != BSA_NEVER ? loss->events : 0;
		row.lost_packets += loss && loss->packets != BSA_NEVER ? loss->packets : 0;
		assert_int_equal(bsa_fold_event(f, e), 0);
	}
	script_free(script);
	row.recorded_until = recorded_until;
	assert_int_equal(bsa_fold_recorded(f, row.id, recorded_until, 0), 0);
	assert_int_equal(bsa_fold_finish(f), 0);
	left_out = bsa_fold_left_out(f);
	bsa_store_left_out(store, &left_out);
	bsa_fold_free(f);
	if (bsa_store_trace(store, &row, &err) || bsa_store_finish(store, &err))
		fail_msg("%s", err.text);
	bsa_store_free(store);
}

static void database_recorded(const char *path, const char *text, uint64_t recorded_until, uint64_t without,
                              bool undeclared)
{
	database_recorded_of(path, text, recorded_until, without, BSA_NO_INSTANCE, undeclared);
}

static void database_make(const char *path, const char *text)
{
	database_recorded(path, text, 0, 0, false);
}

static struct bsv_input database_open(const char *path, int64_t from_ms, int64_t to_ms)
{
	static const struct bsv_command command = { .name = "unseen", .asks = BSV_ASK_WHEN };
	struct bsv_call call = { .command = &command, .common = { .quiet = true } };
	struct bsa_err err = { "" };
	struct bsv_input ret;

	if (from_ms)
		call.asked.from = (struct bsv_quantity){ true, from_ms * 1000000 };
	if (to_ms)
		call.asked.to = (struct bsv_quantity){ true, to_ms * 1000000 };
	if (bsv_input_open(&ret, path, &call, &err) < 0)
		fail_msg("%s", err.text);
	return ret;
}

/* Make the database of @text, lines of analyzer/timeline.h; frees @text. */
static void timeline_make(const char *path, char *text, unsigned forms)
{
	char *script = timeline(text, forms);

	unlink(path);
	database_make(path, script);
	free(script);
	free(text);
}

static struct bsv_slo_result measure(const char *story, const char *rule, struct bsv_input *input,
                                     struct bsv_input *baseline)
{
	struct bsv_slo slo = { .n = 0 };
	struct bsv_slo_result ret;
	struct bsa_err err = { "" };

	if (bsv_slo_parse(&slo, rule, strlen(rule), &err) < 0 ||
	    bsv_slo_measure(&ret, &slo.rules[0], 1, input, baseline, &err) < 0)
		fail_msg("%s: %s: %s", story, rule, err.text);
	bsv_slo_fini(&slo);
	return ret;
}

/* Make the database of a situation. */
static void situation_make(const char *path, const char *service, const char *calls, const char *missing,
                           unsigned forms)
{
	char *text = NULL;

	assert_true(asprintf(&text, "%s%s%s%s%s%s", before, missing, service, world, calls, after) > 0);
	timeline_make(path, text, forms);
}

static void no_rule_passes_on_what_was_not_recorded(void **state)
{
	const char *path = *state;
	char *whole = strdup(stored_beside(path, "whole.db"));
	struct bsv_input baseline;
	unsigned wrong = 0;

	situation_make(whole, situations[0].service, situations[0].calls, "", TIMELINE_FULL);
	baseline = database_open(whole, 0, 0);
	for (size_t i = 0; i < N_OF(situations); i++) {
		struct bsv_input input;

		situation_make(path, situations[i].service, situations[i].calls, situations[i].missing,
		               situations[i].forms);
		input = database_open(path, situations[i].from_ms, situations[i].to_ms);
		assert_int_equal(strlen(situations[i].outcomes), RULES);
		for (size_t k = 0; k < RULES; k++) {
			struct bsv_slo_result result = measure(situations[i].story, rules[k], &input, &baseline);
			char letter = result.outcome == BSV_PASS ? 'P' : result.outcome == BSV_FAIL ? 'F' : '?';
			if (letter != situations[i].outcomes[k]) {
				print_error("%s: %s: %c, not %c: %s\n", situations[i].story, rules[k], letter,
				            situations[i].outcomes[k], result.why);
				wrong++;
			}
		}
		bsv_input_close(&input);
	}
	bsv_input_close(&baseline);
	free(whole);
	assert_int_equal(wrong, 0);
}

enum { PAIRS = 100, US = 1000 };

/*
 * A recording of summaries: PAIRS pairs of an execution of model 1, of low priority, and one of another
 * model.
 */
struct pairs {
	unsigned model;    /* the second execution's: 2, of the same app and of high priority, or 3, of another app */
	unsigned after_us; /* how much later the second is ready; the first runs for 100 us */
	unsigned models;   /* models up to this one are prepared; 2 only where it is the second's */
	/*
	 * the execution that lost a summary, from 1; which summary; how many more executions after it lost
	 * theirs
	 */
	unsigned lost, summary, more;
	unsigned events; /* the tracer's count of lost events, each time; 0: the true count */
	bool unnumbered; /* the service gives no numbers */
};

enum { OF_SERVICE = 1, OF_CLIENT = 2, OF_BOTH = 3 };

/* Write the summaries of the nth execution that became ready, at @ready. */
static void summaries_write(FILE *to, const struct pairs *p, unsigned nth, unsigned model, uint64_t ready,
                            uint64_t queue)
{
	unsigned of = model == 1 || p->model == model ? (nth + 1) / 2 : 0;
	uint64_t ended = ready + queue + 100 * US;
	unsigned lost = nth >= p->lost && nth <= p->lost + p->more ? p->summary : 0;
	unsigned number = p->unnumbered ? 0 : nth, events = p->events ? p->events : lost == OF_BOTH ? 2 : 1;

	if (lost)
		fprintf(to, "%" PRIu64 " loss ended=%" PRIu64 " events=%u\n", ended + 5 * US, ended + 25 * US, events);
	if (!(lost & OF_SERVICE))
		fprintf(to,
		        "%" PRIu64 " exec_service exec=0x20001%u:%u model=0x2000%u0 app=%u priority=%s path=burst "
		        "lane=0 began=%" PRIu64 " at=1000,-,2000,%" PRIu64 ",%" PRIu64 ",%" PRIu64
		        ",0,0,0,- nth_ready=%u nth_over=%u n_ready=%u\n",
		        ended + 10 * US, model, of, model, model == 3 ? 2 : 1, model == 2 ? "high" : "low",
		        ready - 2 * US, 2 * US + queue, 2 * US + queue + 100 * US, 2 * US + queue + 101 * US, number,
		        number, number ? nth + (nth % 2 && p->after_us < 100) : 0);
	if (!(lost & OF_CLIENT))
		fprintf(to,
		        "%" PRIu64 " exec_client exec=0x20001%u:%u model=0x2000%u0 path=burst began=%" PRIu64
		        " at=1000,%" PRIu64 ",%" PRIu64 ",0\n",
		        ended + 20 * US, model, of, model, ready - 5 * US, ended + 4 * US - ready + 5 * US,
		        ended + 5 * US - ready + 5 * US);
}

static char *pairs_text(const struct pairs *p)
{
	size_t size;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	fprintf(to, "0 service_state instance=2 pid=100 policy=fair preempt_mode=save lanes=1 contract=1\n"
	            "0 client_connect conn=0x200001 pid=11 uid=1001 app=1 name=red\n"
	            "0 client_connect conn=0x200003 pid=12 uid=1002 app=2 name=blue\n");
	for (unsigned m = 1; m <= p->models; m += p->model == 3 ? 2 : 1)
		fprintf(to,
		        "0 model_prepare model=0x2000%u0 conn=0x20000%u name=m%u priority=%s ops=10 estimate_ns=100000 "
		        "step_ns=10000\n"
		        "0 stream_open stream=0x20001%u conn=0x20000%u path=burst model=0x2000%u0\n",
		        m, m == 3 ? 3 : 1, m, m == 2 ? "high" : "low", m, m == 3 ? 3 : 1, m);
	for (unsigned i = 0; i < PAIRS; i++) {
		uint64_t ready = (uint64_t)(2 * i + 1) * MS;

		summaries_write(to, p, 2 * i + 1, 1, ready, 10 * US);
		summaries_write(to, p, 2 * i + 2, p->model, ready + p->after_us * US,
		                p->after_us < 100 ? (120 - p->after_us) * US : 10 * US);
	}
	for (unsigned m = 1; m <= p->models; m += p->model == 3 ? 2 : 1)
		fprintf(to, "%" PRIu64 " stream_close stream=0x20001%u\n", 2 * PAIRS * MS + MS, m);
	fprintf(to, "%" PRIu64 " client_disconnect conn=0x200001\n", UINT64_C(4000) * MS);
	fclose(to);
	return text;
}

/* Check that @rule has @outcome; print the reason if not. */
static bool comes_to(const char *path, const char *story, const char *rule, enum bsv_outcome outcome)
{
	struct bsv_input input = database_open(path, 0, 0);
	struct bsv_slo_result result = measure(story, rule, &input, NULL);
	bool same = result.outcome == outcome;

	if (!same)
		print_error("%s: %s: %s\n", story, bsv_outcome_name(result.outcome), result.why);
	bsv_input_close(&input);
	return same;
}

/* Where a loss cannot hide a violation of the rule, the rule passes as without the loss. */
static void a_loss_takes_away_what_it_may_have_hidden_alone(void **state)
{
	static const struct {
		const char *story, *rule;
		struct pairs pairs;
		enum bsv_outcome outcome;
	} rows[] = {
		/* clang-format off */
		{ "all executions are of one app, one of them without its summary of the service", "fairness lag <= 1us", { 2, 500, 2, 101, OF_SERVICE, 0, 0, false }, BSV_PASS },
		{ "one of them without any summary", "fairness lag <= 1us", { 2, 500, 2, 101, OF_BOTH, 0, 0, false }, BSV_PASS },
		{ "another app had a model, and may have used it", "fairness lag <= 1us", { 2, 500, 3, 101, OF_BOTH, 0, 0, false }, BSV_CANNOT_TELL },
		{ "two apps share the lane", "fairness lag <= 1us", { 3, 500, 3, 101, OF_SERVICE, 0, 0, false }, BSV_CANNOT_TELL },
		{ "never ready at once", "priority honoured >= 99 %", { 2, 500, 2, 101, OF_CLIENT, 0, 0, false }, BSV_PASS },
		{ "ready at once, and an execution is not known", "priority honoured >= 99 %", { 2, 20, 2, 101, OF_SERVICE, 0, 0, false }, BSV_CANNOT_TELL },
		{ "never ready at once, but for one that is not known", "priority honoured >= 99 %", { 2, 500, 2, 101, OF_BOTH, 0, 0, false }, BSV_CANNOT_TELL },
		{ "the one that may have waited is of the least priority", "priority inversion <= 100us", { 2, 500, 2, 101, OF_SERVICE, 0, 0, false }, BSV_PASS },
		{ "an urgent one may have waited, as no other one was there", "priority inversion <= 100us", { 2, 500, 2, 102, OF_SERVICE, 0, 0, false }, BSV_PASS },
		{ "an execution of which nothing was recorded may have waited", "priority inversion <= 20us", { 2, 500, 2, 102, OF_BOTH, 0, 0, false }, BSV_CANNOT_TELL },
		{ "an urgent one may have waited for the one that was there", "priority inversion <= 90us", { 2, 20, 2, 102, OF_SERVICE, 0, 0, false }, BSV_CANNOT_TELL },
		{ "three numbers are missing: no model was prepared and executed meanwhile", "priority", { 3, 500, 3, 101, OF_BOTH, 2, 0, false }, BSV_PASS },
		{ "four are: an app may have come and gone", "priority", { 3, 500, 3, 101, OF_BOTH, 3, 0, false }, BSV_CANNOT_TELL },
		{ "without numbers, four events were lost", "priority", { 3, 500, 3, 101, OF_BOTH, 0, 4, true }, BSV_PASS },
		{ "without numbers, five were", "priority", { 3, 500, 3, 101, OF_BOTH, 0, 5, true }, BSV_CANNOT_TELL },
		/* clang-format on */
	};
	const char *path = *state;
	unsigned wrong = 0;

	for (size_t i = 0; i < N_OF(rows); i++) {
		char *text = pairs_text(&rows[i].pairs);

		unlink(path);
		database_make(path, text);
		free(text);
		wrong += !comes_to(path, rows[i].story, rows[i].rule, rows[i].outcome);
	}
	assert_int_equal(wrong, 0);
}

enum { TRIPLES = 150 };

/* TRIPLES times, an execution has the lane, and two of its app, of high and of low priority, wait for it. */
struct triples {
	bool compact;                 /* summaries, not an event for each step */
	unsigned broken_from, broken; /* low priority goes first this many times, from this one on (counted from 0) */
	/*
	 * how many events were lost: one each time, at the hand-over; or, of summaries, all at one time
	 * before the broken ones
	 */
	unsigned lost;
};

static void triple_write(FILE *to, unsigned stream, unsigned i, uint64_t ready, uint64_t began, uint64_t ended,
                         unsigned nth_over, bool compact)
{
	static const unsigned nth_ready[] = { 0, 1, 3, 2 };
	const char *priority = stream == 2 ? "high" : "low";

	if (compact) {
		fprintf(to,
		        "%" PRIu64
		        " exec_service exec=0x20001%u:%u model=0x2000%u0 app=1 priority=%s path=burst lane=0 "
		        "began=%" PRIu64 " at=1000,-,2000,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0,0,0,-\n",
		        ended + 3 * US, stream, i + 1, stream, priority, ready - 2 * US, began - ready + 2 * US,
		        ended - ready + 2 * US, ended - ready + 3 * US);
		fprintf(to,
		        "%" PRIu64 " exec_client exec=0x20001%u:%u model=0x2000%u0 path=burst began=%" PRIu64
		        " at=1000,%" PRIu64 ",%" PRIu64 ",0\n",
		        ended + 6 * US, stream, i + 1, stream, ready - 5 * US, ended + 4 * US - ready + 5 * US,
		        ended + 5 * US - ready + 5 * US);
		return;
	}
	fprintf(to, "%" PRIu64 " exec_submit exec=0x20001%u:%u model=0x2000%u0 path=burst\n", ready - 5 * US, stream,
	        i + 1, stream);
	fprintf(to, "%" PRIu64 " fmq_write exec=0x20001%u:%u queue=request\n", ready - 4 * US, stream, i + 1);
	fprintf(to, "%" PRIu64 " fmq_read exec=0x20001%u:%u queue=request\n", ready - 3 * US, stream, i + 1);
	fprintf(to, "%" PRIu64 " request_decode exec=0x20001%u:%u pools=0\n", ready - 2 * US, stream, i + 1);
	fprintf(to, "%" PRIu64 " sched_enqueue exec=0x20001%u:%u model=0x2000%u0 app=1 priority=%s nth_ready=%u\n",
	        ready, stream, i + 1, stream, priority, 3 * i + nth_ready[stream]);
	fprintf(to, "%" PRIu64 " sched_dispatch exec=0x20001%u:%u lane=0\n", began, stream, i + 1);
	fprintf(to, "%" PRIu64 " exec_end exec=0x20001%u:%u lane=0 status=none nth_over=%u n_ready=%u\n", ended, stream,
	        i + 1, nth_over, 3 * i + 3);
	fprintf(to, "%" PRIu64 " fmq_write exec=0x20001%u:%u queue=result\n", ended + 2 * US, stream, i + 1);
	fprintf(to, "%" PRIu64 " fmq_read exec=0x20001%u:%u queue=result\n", ended + 4 * US, stream, i + 1);
	fprintf(to, "%" PRIu64 " exec_return exec=0x20001%u:%u status=none\n", ended + 5 * US, stream, i + 1);
}

/* Lines in the order of their times. */
static int by_time(const void *a, const void *b)
{
	unsigned long long x = strtoull(*(char *const *)a, NULL, 10), y = strtoull(*(char *const *)b, NULL, 10);

	return x < y ? -1 : x > y;
}

static char *lines_sort(char *text)
{
	size_t size, n = 0, room = 1;
	char *sorted = NULL, *save = NULL, **lines;
	FILE *to = open_memstream(&sorted, &size);

	for (const char *c = text; *c; c++)
		room += *c == '\n';
	lines = calloc(room, sizeof(*lines));
	assert_non_null(to);
	assert_non_null(lines);
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		lines[n++] = l;
	qsort(lines, n, sizeof(*lines), by_time);
	for (size_t i = 0; i < n; i++)
		fprintf(to, "%s\n", lines[i]);
	fclose(to);
	free(lines);
	free(text);
	return sorted;
}

static char *triples_text(const struct triples *p)
{
	const unsigned every_ms = 40;
	size_t size;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	fprintf(to, "0 service_state instance=2 pid=100 policy=priority preempt_mode=save lanes=1 contract=1\n"
	            "1 client_connect conn=0x200001 pid=11 uid=1001 app=1 name=red\n");
	for (unsigned m = 1; m <= 3; m++)
		fprintf(to,
		        "2 model_prepare model=0x2000%u0 conn=0x200001 name=m%u priority=%s ops=1 estimate_ns=100000 "
		        "step_ns=100000\n"
		        "3 stream_open stream=0x20001%u conn=0x200001 path=burst model=0x2000%u0\n",
		        m, m, m == 2 ? "high" : "low", m, m);
	for (unsigned i = 0; i < TRIPLES; i++) {
		uint64_t t = (uint64_t)(1 + every_ms * i) * MS;
		bool broken = i >= p->broken_from && i < p->broken_from + p->broken;
		uint64_t first = t + 1060 * US, second = t + 1170 * US;

		triple_write(to, 1, i, t + 40 * US, t + 50 * US, t + 1050 * US, 3 * i + 1, p->compact);
		triple_write(to, 2, i, t + 240 * US, broken ? second : first, (broken ? second : first) + 100 * US,
		             3 * i + 2 + broken, p->compact);
		triple_write(to, 3, i, t + 140 * US, broken ? first : second, (broken ? first : second) + 100 * US,
		             3 * i + 3 - broken, p->compact);
		if (broken && p->lost && (!p->compact || i == p->broken_from))
			fprintf(to, "%" PRIu64 " loss ended=%" PRIu64 " events=1\n", t + 1052 * US,
			        p->compact ? t + (p->broken - 1) * every_ms * MS + 2 * MS : t + 1058 * US);
	}
	fprintf(to, "%" PRIu64 " client_disconnect conn=0x200001\n", (TRIPLES * every_ms + 100) * MS);
	fclose(to);
	return lines_sort(text);
}

/*
 * Beside a loss the time when the lane became free is unknown, so a choice there is unknown, although the
 * executions are known.
 */
static void a_choice_beside_a_loss_is_unknown(void **state)
{
	static const struct {
		const char *story;
		struct triples triples;
		enum bsv_outcome outcome;
	} rows[] = {
		{ "each choice is honoured", { false, 0, 0, 0 }, BSV_PASS },
		{ "five are not", { false, 60, 5, 0 }, BSV_FAIL },
		{ "an event was lost beside each of the five", { false, 60, 5, 1 }, BSV_CANNOT_TELL },
		{ "of summaries, each choice is honoured", { true, 0, 0, 0 }, BSV_PASS },
		{ "of summaries, five are not", { true, 100, 5, 0 }, BSV_FAIL },
		{ "of summaries, an event was lost beside the five", { true, 100, 5, 1 }, BSV_CANNOT_TELL },
	};
	const char *path = *state;
	unsigned wrong = 0;

	for (size_t i = 0; i < N_OF(rows); i++) {
		char *text = triples_text(&rows[i].triples);

		unlink(path);
		database_make(path, text);
		free(text);
		wrong += !comes_to(path, rows[i].story, "priority honoured >= 98 %", rows[i].outcome);
	}
	assert_int_equal(wrong, 0);
}

/*
 * Tracers start and stop programs one after the other. At both ends of a recording only the service records
 * executions, and an unknown time may have passed before it read their requests.
 */
static void executions_without_their_beginning_may_break_a_rule(void **state)
{
#define SEEN "1ms 1:1 x90 every=1ms lane=0\n"
#define SERVED(more) SEEN "100ms 1:91 x10 every=5ms lane=0 side=service " more "\n"
#define CAME SEEN "100ms 1:91 side=service lane=0 run=3s\nstop 2900ms\n"
#define FETCHED SEEN "100ms slot_fetch stream=2 exec=2:1 slots=1 took_ns=5us\n"
	static const struct {
		const char *rule, *calls;
		unsigned forms;
		enum bsv_outcome outcome;
		int64_t n;
	} rows[] = {
		/* clang-format off */
		{ "p95 e2e <= 1ms",                 SERVED(""),           TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		{ "p95 e2e <= 1ms",                 SERVED(""),           TIMELINE_COMPACT, BSV_CANNOT_TELL, 90 },
		{ "p95 overhead <= 900us",          SERVED(""),           TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		{ "p95 overhead share <= 90 %",     SERVED(""),           TIMELINE_COMPACT, BSV_CANNOT_TELL, 90 },
		{ "p95 send <= 900us",              SERVED(""),           TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		/* even if the unseen parts of all of them took longer */
		{ "p90 e2e <= 1ms",                 SERVED(""),           TIMELINE_FULL,    BSV_PASS,        90 },
		/* the service records the run, which takes longer than the whole latency may */
		{ "p95 run <= 900us",               SERVED(""),           TIMELINE_FULL,    BSV_PASS,        100 },
		{ "p95 run <= 900us",               SERVED("run=2ms"),    TIMELINE_COMPACT, BSV_FAIL,        100 },
		{ "p95 e2e <= 1ms",                 SERVED("queue=2ms"),  TIMELINE_FULL,    BSV_FAIL,        100 },
		{ "p95 overhead <= 900us",          SERVED("queue=2ms"),  TIMELINE_COMPACT, BSV_FAIL,        100 },
		{ "p95 overhead share <= 90 %",     SERVED("queue=2ms"),  TIMELINE_FULL,    BSV_FAIL,        100 },
		/* refused or given up */
		{ "p95 e2e <= 1ms",                 SERVED("dies=queue"), TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		/* not answered at the end of the recording; with a limit of 10 s that is no violation */
		{ "p100 e2e <= 1ms",                CAME,                 TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		{ "p100 e2e <= 10s",                CAME,                 TIMELINE_FULL,    BSV_PASS,        90 },
		/* only its arrival was recorded */
		{ "p100 e2e <= 1s",                 FETCHED,              TIMELINE_COMPACT, BSV_CANNOT_TELL, 90 },
		{ "p100 queue <= 1s",               FETCHED,              TIMELINE_COMPACT, BSV_CANNOT_TELL, 90 },
		{ "p95 e2e <= baseline + 200 %",    SERVED(""),           TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		{ "p95 e2e <= baseline + 200 %",    SERVED("queue=2ms"),  TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		{ "p95 run <= baseline + 200 %",    SERVED(""),           TIMELINE_FULL,    BSV_CANNOT_TELL, 90 },
		/* clang-format on */
	};
	const char *path = *state;
	char *whole = strdup(stored_beside(path, "whole.db"));
	struct bsv_input baseline;
	unsigned wrong = 0;

	situation_make(whole, situations[0].service, situations[0].calls, "", TIMELINE_FULL);
	baseline = database_open(whole, 0, 0);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct bsv_slo_result result;
		struct bsv_input input;

		situation_make(path, SERVICE, rows[i].calls, "", rows[i].forms);
		input = database_open(path, 0, 0);
		result = measure("beginnings", rows[i].rule, &input, &baseline);
		if (result.outcome != rows[i].outcome || result.n != rows[i].n) {
			print_error("row %zu: %s: %s, n %" PRId64 ": %s\n", i, rows[i].rule,
			            bsv_outcome_name(result.outcome), result.n, result.why);
			wrong++;
		}
		bsv_input_close(&input);
	}
	bsv_input_close(&baseline);
	free(whole);
	assert_int_equal(wrong, 0);
}

/* The reason of one rule for the recording of @calls. */
static const char *reason(const char *path, const char *rule, const char *calls, const char *missing, unsigned forms)
{
	static struct bsv_slo_result result;
	struct bsv_input input;

	situation_make(path, SERVICE, calls, missing, forms);
	input = database_open(path, 0, 0);
	result = measure("reasons", rule, &input, NULL);
	assert_int_equal(result.outcome, BSV_CANNOT_TELL);
	bsv_input_close(&input);
	return result.why;
}

static void deadlines_are_unknown_only_where_no_event_has_them(void **state)
{
	static const char calls[] = "1ms 1:1 x20 every=1ms lane=0\n", hole[] = "lose 1ms+60us 1ms+120us\n";
	/* the service reports the deadline of an execution when it is ready */
	static const char some[] = "1ms 1:1 x20 every=1ms lane=0 side=service\n", ready[] = "lose 1ms+34us 1ms+42us\n";
	const char *path = *state;

	assert_string_equal(reason(path, "miss ratio <= 5 %", calls, "", TIMELINE_FULL), "no execution had a deadline");
	assert_string_equal(reason(path, "miss ratio <= 5 %", calls, hole, TIMELINE_FULL),
	                    "no execution had a deadline");
	assert_string_equal(reason(path, "at most 1 misses in any 5", calls, hole, TIMELINE_FULL),
	                    "no execution had a deadline");
	assert_string_equal(reason(path, "miss ratio <= 5 %", some, ready, TIMELINE_FULL),
	                    "no execution with a deadline was recorded; whether 1 of 20 had one was not recorded");
}

/* Have the database show that the service numbered its executions and that all were recorded. */
static void no_number_is_missing(const char *path)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE meta SET value = 0 WHERE key = 'unseen_unknown'", NULL, NULL, NULL),
	                 SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/*
 * @audit of @world with @lines, at @path: does its first rule have another outcome? Fairness is judged by
 * lag.
 */
static bool is_not(enum bsv_outcome outcome, enum bsv_audit audit, const char *story, const char *world_text,
                   const char *lines, bool numbered, const char *path)
{
	static const struct bsv_bounds bounds = { .by_lag = true };
	struct bsv_judgement judgement = { 0 };
	struct bsa_err err = { "" };
	char *text = NULL;
	struct bsv_input input;
	bool is_wrong;

	assert_true(asprintf(&text, "%s%s%s", before, lines, world_text) > 0);
	timeline_make(path, text, TIMELINE_FULL);
	if (numbered)
		no_number_is_missing(path);
	input = database_open(path, 0, 0);
	if (bsv_judge(&judgement, audit, &input, audit == BSV_FAIRNESS ? &bounds : NULL, &err) < 0)
		fail_msg("%s: %s", story, err.text);
	is_wrong = judgement.rules[0].outcome != outcome;
	if (is_wrong)
		print_error("%s: %s: %s\n", story, bsv_outcome_name(judgement.rules[0].outcome),
		            judgement.rules[0].why);
	bsv_input_close(&input);
	return is_wrong;
}

/*
 * Urgent work waits 4.51 ms for less urgent work whose longest known stretch is 10 us. A lost preemption may
 * have taken longer: then the limit is larger, and the inversion proves nothing. It proves a violation only
 * if no lost preemption can have taken 3.51 ms, since the allowance is 1 ms.
 */
static void a_preemption_that_was_lost_may_excuse_an_inversion(void **state)
{
	static const char world_of_one[] =
		"0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1\n"
		"0 client_connect conn=1 pid=11 uid=1001 app=1 name=red\n"
		"0 model_prepare model=1 conn=1 name=urgent priority=high ops=10 estimate_ns=100us step_ns=10us\n"
		"0 model_prepare model=2 conn=1 name=usual priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
		"0 model_prepare model=3 conn=1 name=lazy priority=low ops=10 estimate_ns=100us step_ns=10us\n"
		"0 stream_open stream=1 conn=1 path=burst model=1\n"
		"0 stream_open stream=2 conn=1 path=burst model=2\n"
		"0 stream_open stream=3 conn=1 path=burst model=3\n"
		"1ms 1:1 x5 every=1ms\n"
		"2s 3:1 run=5ms\n"
		"2s+500us 1:6 queue=4600us\n"
		"4s 1:7\n";
	static const struct {
		const char *story, *lines;
		bool numbered; /* the service's numbers have no gap: each execution is known */
		enum bsv_outcome outcome;
	} rows[] = {
		/* clang-format off */
		{ "nothing was lost", "", false, BSV_FAIL },
		{ "the lane was empty, and an execution in the hole may have been asked to leave at its start", "lose 3s 3s+3510us\n", false, BSV_CANNOT_TELL },
		{ "the hole is 1 us shorter", "lose 3s 3s+3509us\n", false, BSV_FAIL },
		{ "no execution was in the hole", "lose 3s 3s+3510us\n", true, BSV_FAIL },
		{ "the hole is short, but the holder's model had the lane since 3.51 ms before it ended", "3s 3:2 run=6ms\nlose 3s+3ms 3s+3560us\n", true, BSV_CANNOT_TELL },
		{ "since 1 us less", "3s 3:2 run=6ms\nlose 3s+3ms 3s+3559us\n", true, BSV_FAIL },
		{ "another model had the lane", "3s 2:1 run=6ms\nlose 3s+3ms 3s+3560us\n", true, BSV_FAIL },
		/* clang-format on */
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < N_OF(rows); i++)
		wrong += is_not(rows[i].outcome, BSV_PRIORITY, rows[i].story, world_of_one, rows[i].lines,
		                rows[i].numbered, *state);
	assert_int_equal(wrong, 0);
}

/*
 * An app is 5 ms behind its share, and S is 10 us: the limit is 2.02 ms. If a lost preemption can have taken
 * 1.5 ms, the limit is 5 ms, and the lag proves nothing.
 */
static void a_preemption_that_was_lost_may_excuse_a_lag(void **state)
{
	static const char world_of_two[] =
		"0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1\n"
		"0 client_connect conn=1 pid=11 uid=1001 app=1 name=red\n"
		"0 client_connect conn=2 pid=12 uid=1002 app=2 name=blue\n"
		"0 model_prepare model=1 conn=1 name=small priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
		"0 model_prepare model=2 conn=2 name=other priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
		"0 stream_open stream=1 conn=1 path=burst model=1\n"
		"0 stream_open stream=2 conn=2 path=burst model=2\n"
		"1ms 1:1 x5 every=1ms\n"
		"2s 1:6 run=10ms\n"
		"2s 2:1 queue=10100us\n"
		"4s 1:7\n";
	static const struct {
		const char *story, *lines;
		bool numbered;
		enum bsv_outcome outcome;
	} rows[] = {
		{ "nothing was lost", "", false, BSV_FAIL },
		{ "an execution in the hole may have been asked to leave at its start", "lose 3s 3s+1600us\n", false,
		  BSV_CANNOT_TELL },
		{ "the hole is shorter", "lose 3s 3s+1400us\n", false, BSV_FAIL },
		{ "no execution was in the hole", "lose 3s 3s+1600us\n", true, BSV_FAIL },
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < N_OF(rows); i++)
		wrong += is_not(rows[i].outcome, BSV_FAIRNESS, rows[i].story, world_of_two, rows[i].lines,
		                rows[i].numbered, *state);
	assert_int_equal(wrong, 0);
}

/*
 * With --preempt none the service asks no execution to leave its lane. The limit of an inversion is the same:
 * the longest stretch between two checkpoints of the holder's model, measured when the model was prepared,
 * plus 1 ms. The urgent work waits for 4.5 ms.
 */
static void without_preemption_the_limit_is_the_holders_longest_stretch_all_the_same(void **state)
{
	static const struct {
		unsigned step_us;
		const char *mode;
		enum bsv_outcome outcome;
	} rows[] = {
		{ 3500, "none", BSV_PASS }, { 3499, "none", BSV_FAIL }, { 10, "none", BSV_FAIL },
		{ 3500, "save", BSV_PASS }, { 3499, "save", BSV_FAIL },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct bsv_judgement judgement = { 0 };
		struct bsa_err err = { "" };
		struct bsv_input input;
		char *text = NULL;

		assert_true(asprintf(&text,
		                     "0 service_state pid=100 policy=fair preempt_mode=%s lanes=1 contract=1\n"
		                     "0 client_connect conn=1 pid=11 uid=1001 app=1 name=red\n"
		                     "0 model_prepare model=1 conn=1 name=urgent priority=high ops=10 "
		                     "estimate_ns=100us step_ns=10us\n"
		                     "0 model_prepare model=3 conn=1 name=lazy priority=low ops=10 estimate_ns=100us "
		                     "step_ns=%uus\n"
		                     "0 stream_open stream=1 conn=1 path=burst model=1\n"
		                     "0 stream_open stream=3 conn=1 path=burst model=3\n"
		                     "1ms 1:1 x5 every=1ms\n2s 3:1 run=5ms\n2s+500us 1:6 queue=4600us\n4s 1:7\n",
		                     rows[i].mode, rows[i].step_us) > 0);
		timeline_make(*state, text, TIMELINE_FULL);
		input = database_open(*state, 0, 0);
		if (bsv_judge(&judgement, BSV_PRIORITY, &input, NULL, &err) < 0)
			fail_msg("%s", err.text);
		if (judgement.rules[0].outcome != rows[i].outcome)
			fail_msg("%u us, %s: %s, %.0f of %.0f ns: %s", rows[i].step_us, rows[i].mode,
			         bsv_outcome_name(judgement.rules[0].outcome), judgement.rules[0].figure,
			         judgement.rules[0].bound, judgement.rules[0].why);
		assert_int_equal(judgement.rules[0].bound, 1000000 + 1000 * rows[i].step_us);
		bsv_input_close(&input);
	}
}

/*
 * A session need not enable each kind of events, and a filter may leave one out: no loss shows that. Two apps have 20
 * executions each, the first of them cold.
 */
static void no_rule_passes_on_a_kind_that_was_left_out(void **state)
{
#define KIND(name) (UINT64_C(1) << BSA_##name)
#define STOPS_UNKNOWN "no sched_preempt was recorded, and that event tells when executions lose their lanes"
	static const char calls[] = "1ms 1:1 misses=1 hits=1 lane=0\n"
				    "2ms 1:2 x19 every=1ms hits=2 lane=0\n"
				    "30ms 2:1 misses=1 hits=1 lane=1 run=100us,100us off=300us by=1:21\n"
				    "30ms+165us 1:21 hits=2 lane=1 queue=0\n"
				    "31ms 2:2 x19 every=1ms hits=2 lane=1\n";
	static const struct {
		uint64_t without;
		const char *rule, *why; /* NULL: it passes */
	} rows[] = {
		{ 0, "p90 e2e of warm <= 1s", NULL },
		{ 0, "executions of warm >= 38", NULL },
		{ 0, "executions of cold >= 2", NULL },
		{ KIND(slot_lookup), "p90 e2e of warm <= 1s",
		  "no slot_lookup was recorded, and that event tells which executions are cold" },
		{ KIND(slot_lookup), "p90 slots of warm <= 1s",
		  "no slot_lookup was recorded, and that event tells which executions are cold" },
		{ KIND(slot_lookup), "executions of warm >= 2",
		  "no slot_lookup was recorded, and that event tells which executions are cold" },
		{ KIND(slot_lookup), "executions of cold >= 1",
		  "no slot_lookup was recorded, and that event tells which executions are cold" },
		{ KIND(slot_lookup), "p90 e2e <= 1s", NULL },
		/* 2:1 is stopped for 1:21 */
		{ 0, "p90 run of model=other <= 1s", NULL },
		{ KIND(sched_preempt) | KIND(sched_resume), "p90 run of model=other <= 1s", STOPS_UNKNOWN },
		{ KIND(sched_preempt) | KIND(sched_resume), "p90 preempted of model=other <= 1s", STOPS_UNKNOWN },
		{ KIND(sched_preempt) | KIND(sched_resume), "p90 overhead of model=other <= 1s", STOPS_UNKNOWN },
		{ KIND(sched_preempt) | KIND(sched_resume), "p90 overhead share of model=other <= 99 %",
		  STOPS_UNKNOWN },
		{ KIND(sched_preempt) | KIND(sched_resume), "starvation none", STOPS_UNKNOWN },
		{ KIND(sched_preempt) | KIND(sched_resume), "fairness lag <= 20ms", STOPS_UNKNOWN },
		{ KIND(sched_preempt) | KIND(sched_resume), "priority inversion <= 20ms", STOPS_UNKNOWN },
		{ KIND(sched_preempt) | KIND(sched_resume), "p90 queue of model=other <= 1s",
		  "0 of 0 are above, 0 allowed; these could change the verdict: 20 not known in full" },
		/* nothing tells that there are slots, so no kind is named */
		{ KIND(slot_lookup) | KIND(request_decode), "executions of warm >= 2",
		  "0 executions, and 2 is the least; these could change the verdict: 41 that the rule may select: what "
		  "it selects by is not known" },
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < 2 * N_OF(rows); i++) {
		const char *why = rows[i / 2].why, *rule = rows[i / 2].rule;
		struct bsv_slo_result result;
		struct bsv_input input;
		char *text = NULL, *script;

		assert_true(asprintf(&text, "%s%s%s%s%s", before, SERVICE, world, calls, after) > 0);
		script = timeline(text, TIMELINE_FULL);
		unlink(*state);
		database_recorded(*state, script, 0, rows[i / 2].without, i % 2);
		input = database_open(*state, 0, 0);
		result = measure("kinds", rule, &input, NULL);
		if (result.outcome != (why ? BSV_CANNOT_TELL : BSV_PASS) || (why && strcmp(result.why, why) != 0)) {
			print_error("row %zu: %s: %s: %s\n", i / 2, rule, bsv_outcome_name(result.outcome), result.why);
			wrong++;
		}
		bsv_input_close(&input);
		free(script);
		free(text);
	}
	assert_int_equal(wrong, 0);
}

/* Work of two apps, and of two priorities of one of them, on one lane. */
static const char three_models[] =
	"0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1\n"
	"0 client_connect conn=1 pid=11 uid=1001 app=1 name=red\n"
	"0 client_connect conn=2 pid=12 uid=1002 app=2 name=blue\n"
	"0 model_prepare model=1 conn=1 name=small priority=high ops=10 estimate_ns=100us step_ns=10us\n"
	"0 model_prepare model=2 conn=2 name=other priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
	"0 model_prepare model=3 conn=1 name=lazy priority=low ops=10 estimate_ns=100us step_ns=10us\n"
	"0 stream_open stream=1 conn=1 path=burst model=1\n"
	"0 stream_open stream=2 conn=2 path=burst model=2\n"
	"0 stream_open stream=3 conn=1 path=burst model=3\n";

/*
 * With few events, no number of others shows that a kind was left out. The recording has work of two apps, and of two
 * priorities of one of them, that waits for each other, and a stop.
 */
static void no_rule_passes_on_a_kind_that_few_events_show(void **state)
{
	static const char calls[] = "1ms 3:1 deadline=3ms run=200us,200us off=300us by=1:1\n"
				    "1ms+250us 1:1 deadline=3ms queue=0\n"
				    "2ms 2:1 deadline=3ms run=300us\n"
				    "2ms+100us 3:2 deadline=3ms queue=210us\n"
				    "3ms 1:2 x10 every=1ms deadline=3ms\n";
	static const char *const asked[] = {
		"p50 e2e <= 1s",
		"p50 queue <= 1s",
		"p50 run <= 1s",
		"p50 preempted <= 1s",
		"p50 overhead <= 1s",
		"miss ratio <= 50 %",
		"at most 5 misses in any 6",
		"starvation none",
		"fairness lag <= 20ms",
		"priority inversion <= 20ms",
		"executions >= 5",
	};
	/* of each rule: P: it passes; ?: inconclusive. What passes has what it needs from other events */
	static const struct {
		uint64_t without;
		const char *outcomes;
	} kinds[] = {
		{ 0, "PPPPPPPPPPP" },
		{ KIND(sched_enqueue), "??????????P" },
		{ KIND(sched_dispatch), "??????????P" },
		{ KIND(sched_preempt), "??????????P" }, /* what has no stop may have had one, and no lane after it */
		{ KIND(sched_resume), "PP???PP???P" },
		{ KIND(sched_preempt) | KIND(sched_resume), "??????????P" },
		{ KIND(exec_end), "??????????P" },
		{ KIND(model_prepare), "PPPPPPPPPPP" }, /* the rules give the limits that follow from models */
		{ KIND(exec_submit), "?PPP?PPPPPP" },   /* sched_enqueue has deadlines */
		{ KIND(exec_return), "???????PPPP" },
		{ KIND(fmq_write), "???????PPPP" },
		{ KIND(fmq_read), "???????PPPP" },
		{ KIND(request_decode), "???????PPPP" },
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < N_OF(kinds); i++) {
		struct bsv_input input;
		char *text = NULL, *script;

		assert_true(asprintf(&text,
		                     "%s%s%s"
		                     "2500ms stream_close stream=1\n2500ms stream_close stream=2\n"
		                     "2500ms stream_close stream=3\n",
		                     before, three_models, calls) > 0);
		script = timeline(text, TIMELINE_FULL);
		unlink(*state);
		database_recorded(*state, script, 0, kinds[i].without | KIND(N_KINDS), false);
		input = database_open(*state, 0, 0);
		for (size_t k = 0; k < N_OF(asked); k++) {
			struct bsv_slo_result result = measure("few", asked[k], &input, NULL);
			char is = result.outcome == BSV_FAIL ? 'F' : result.outcome == BSV_PASS ? 'P' : '?';

			if (is != kinds[i].outcomes[k] || result.idle) {
				print_error("row %zu: %s: %c, not %c: %s\n", i, asked[k], is, kinds[i].outcomes[k],
				            result.why);
				wrong++;
			}
		}
		bsv_input_close(&input);
		free(script);
		free(text);
	}
	assert_int_equal(wrong, 0);
}

/* Kinds that were left out together do not hide each other: no rule passes or fails against the whole recording. */
static void no_rule_contradicts_the_whole_recording(void **state)
{
	static const char calls[] = "1ms 3:1 deadline=3ms run=200us,200us off=300us by=1:1\n"
				    "1ms+250us 1:1 deadline=3ms queue=0\n"
				    "2ms 2:1 deadline=3ms run=300us\n"
				    "2ms+100us 3:2 deadline=3ms queue=210us\n"
				    "3ms 1:2 x10 every=1ms deadline=3ms\n"
				    "20ms 3:3 deadline=3ms run=300us\n"
				    "20ms+100us 1:20 deadline=3ms queue=210us\n";
	static const char *const asked[] = {
		"starvation none over 100us",
		"starvation none over 1s",
		"fairness lag <= 1us",
		"fairness lag <= 1s",
		"priority inversion <= 1us",
		"priority inversion <= 1s",
		"p90 queue <= 1us",
		"p90 queue <= 1s",
		"p50 run <= 1us",
		"p50 run <= 1s",
		"p90 preempted <= 1us",
		"p90 overhead <= 1us",
		"p90 overhead <= 1s",
		"p50 e2e of warm <= 1us",
		"p50 e2e of warm <= 1s",
		"miss ratio <= 20 %",
		"executions >= 17",
	};
	static const uint64_t kinds[] = { KIND(sched_enqueue), KIND(sched_dispatch), KIND(exec_end),
		                          KIND(exec_submit),   KIND(fmq_read),       KIND(request_decode),
		                          KIND(exec_return),   KIND(fmq_write),      KIND(slot_lookup),
		                          KIND(sched_preempt), KIND(sched_resume) };
	enum bsv_outcome whole[N_OF(asked)];
	unsigned wrong = 0;
	char *text = NULL, *script;

	assert_true(asprintf(&text,
	                     "%s%s%s2500ms stream_close stream=1\n2500ms stream_close stream=2\n"
	                     "2500ms stream_close stream=3\n",
	                     before, three_models, calls) > 0);
	script = timeline(text, TIMELINE_FULL);
	for (unsigned set = 0; set < 1U << N_OF(kinds); set++) {
		struct bsv_input input;
		uint64_t without = 0;

		/* two of all, and three of the first six */
		if (__builtin_popcount(set) > (set < 1U << 6 ? 3 : 2))
			continue;
		for (size_t i = 0; i < N_OF(kinds); i++)
			without |= set >> i & 1 ? kinds[i] : 0;
		unlink(*state);
		database_recorded(*state, script, 0, without | KIND(N_KINDS), false);
		input = database_open(*state, 0, 0);
		for (size_t k = 0; k < N_OF(asked); k++) {
			struct bsv_slo_result result = measure("whole", asked[k], &input, NULL);

			if (!set)
				whole[k] = result.outcome;
			else if (result.outcome != whole[k] && result.outcome != BSV_CANNOT_TELL) {
				print_error("without %#" PRIx64 ": %s: %s: %s\n", without, asked[k],
				            bsv_outcome_name(result.outcome), result.why);
				wrong++;
			}
		}
		bsv_input_close(&input);
	}
	for (size_t k = 0; k < N_OF(asked); k++)
		if (whole[k] == BSV_CANNOT_TELL)
			print_error("whole: %s\n", asked[k]), wrong++;
	free(script);
	free(text);
	assert_int_equal(wrong, 0);
}

/*
 * A wait, a stop or a run whose ends were not recorded looks like another one. So where a kind of events that tells of
 * lanes was left out, no cause of a miss is named, and none whose doing it was. Work of one app waits for that of
 * another one, and is stopped for it.
 */
static void no_miss_has_a_cause_where_a_kind_of_lanes_was_left_out(void **state)
{
	static const char urgent_world[] =
		"0 service_state pid=100 policy=fair preempt_mode=save lanes=1 contract=1\n"
		"0 client_connect conn=1 pid=11 uid=1001 app=1 name=red\n"
		"0 client_connect conn=2 pid=12 uid=1002 app=2 name=blue\n"
		"0 model_prepare model=1 conn=1 name=small priority=high ops=10 estimate_ns=100us step_ns=10us\n"
		"0 model_prepare model=2 conn=2 name=other priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
		"0 stream_open stream=1 conn=1 path=burst model=1\n"
		"0 stream_open stream=2 conn=2 path=burst model=2\n";
	static const char calls[] = "1ms 1:1 x10 every=1ms deadline=3ms\n"
				    "20ms 2:1 x10 every=1ms deadline=3ms\n"
				    "40ms 2:11 deadline=20ms run=5ms\n"
				    "40ms+100us 1:11 deadline=1ms queue=4950us\n"
				    "60ms 2:12 deadline=1ms run=50us,50us off=2300us by=1:12\n"
				    "60ms+115us 1:12 deadline=5ms queue=0 run=2ms\n";
	static const struct {
		uint64_t without;
		const char *causes, *doers;
	} rows[] = {
		{ 0, "preempted|1\ncrowded_out|1\n", "app|2\n" },
		{ KIND(sched_enqueue), "unknown|2\n", "unknown|2\n" },
		{ KIND(sched_dispatch), "unknown|2\n", "unknown|2\n" },
		{ KIND(sched_preempt), "unknown|2\n", "unknown|2\n" },
		{ KIND(sched_resume), "unknown|2\n", "unknown|2\n" },
		{ KIND(sched_preempt) | KIND(sched_resume), "unknown|2\n", "unknown|2\n" },
		{ KIND(exec_end), "unknown|2\n", "unknown|2\n" },
		/* these tell nothing of lanes */
		{ KIND(model_prepare), "preempted|1\ncrowded_out|1\n", "app|2\n" },
		{ KIND(request_decode), "preempted|1\ncrowded_out|1\n", "app|2\n" },
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < 2 * N_OF(rows); i++) {
		char *text = NULL, *script, *causes;
		const char *doers;

		assert_true(asprintf(&text, "%s%s%s%s", before, urgent_world, calls, after) > 0);
		script = timeline(text, TIMELINE_FULL);
		unlink(*state);
		database_recorded(*state, script, 0, rows[i / 2].without | KIND(N_KINDS), i % 2);
		causes = strdup(stored_ask(*state, "SELECT cause, count(*) FROM miss_cause WHERE is_primary GROUP BY 1 "
		                                   "ORDER BY min(execution_id) DESC"));
		doers = stored_ask(*state, "SELECT blamed, sum(n) FROM miss_blame GROUP BY 1 ORDER BY 1");
		if (strcmp(causes, rows[i / 2].causes) != 0 || strcmp(doers, rows[i / 2].doers) != 0) {
			print_error("row %zu: %s, by %s\n", i / 2, causes, doers);
			wrong++;
		}
		free(causes);
		free(script);
		free(text);
	}
	assert_int_equal(wrong, 0);
}

/* Each line of @causes is that of @whole, or unknown instead if they need not be the @same. */
static bool are_causes_of(const char *whole, const char *causes, bool same)
{
	size_t n, of;

	for (; *whole && *causes; whole += n, causes += of) {
		n = strcspn(whole, "\n") + 1;
		of = strcspn(causes, "\n") + 1;
		if ((n != of || strncmp(whole, causes, n) != 0) && (same || !memmem(causes, of, "|unknown\n", 9)))
			return false;
	}
	return !*whole && !*causes;
}

/*
 * Stops of one service that were not recorded are not made up for by those of another one, and take nothing from it.
 * The first service stops executions; the second one may, too, before that or after. Rules that pass or fail do so for
 * the whole recording, too, and so do causes of misses; where both kinds of stops are left out of one service, those of
 * the other one are the same.
 */
static void stops_of_one_service_are_missed_beside_another(void **state)
{
	static const char second_world[] =
		"0 service_state instance=2 pid=200 policy=fair preempt_mode=save lanes=1 contract=1\n"
		"0 client_connect conn=0x200001 pid=21 uid=1003 app=3 name=far\n"
		"0 model_prepare model=0x200010 conn=0x200001 name=slow priority=low ops=10 estimate_ns=100us "
		"step_ns=10us\n"
		"0 model_prepare model=0x200020 conn=0x200001 name=fast priority=high ops=10 estimate_ns=100us "
		"step_ns=10us\n"
		"0 stream_open stream=0x200011 conn=0x200001 path=burst model=0x200010\n"
		"0 stream_open stream=0x200012 conn=0x200001 path=burst model=0x200020\n";
	static const char calls[] = "1ms 3:1 deadline=650us run=200us,200us off=300us by=1:1\n"
				    "1ms+250us 1:1 deadline=3ms queue=0\n"
				    "2ms 2:1 deadline=3ms run=300us\n"
				    "2ms+100us 3:2 deadline=300us queue=210us\n"
				    "3ms 1:2 x10 every=1ms deadline=3ms\n"
				    "20ms 3:3 deadline=3ms run=300us\n"
				    "20ms+100us 1:20 deadline=300us queue=210us\n"
				    "2500ms stream_close stream=1\n2500ms stream_close stream=2\n"
				    "2500ms stream_close stream=3\n"
				    "1500us 0x200012:1 x12 every=1ms deadline=3ms\n"
				    "25ms 0x200012:13 deadline=3ms run=300us\n"
				    "25ms+100us 0x200011:2 deadline=300us queue=210us\n";
	static const char *const second_stops[] = {
		"",
		"500us 0x200011:1 deadline=3ms run=100us,100us off=300us by=0x200012:14\n"
		"650us 0x200012:14 deadline=3ms queue=0\n",
		"20ms 0x200011:1 deadline=3ms run=100us,100us off=300us by=0x200012:14\n"
		"20ms+150us 0x200012:14 deadline=3ms queue=0\n",
	};
	static const char *const asked[] = {
		"starvation none over 100us",
		"starvation none over 1s",
		"fairness lag <= 1us",
		"fairness lag <= 1s",
		"priority inversion <= 1us",
		"priority inversion <= 1s",
		"p90 queue of app=blue <= 1us",
		"p90 queue of app=blue <= 1s",
		"p50 run of model=lazy <= 1us",
		"p50 run of model=lazy <= 1s",
		"p50 run of app=far <= 1us",
		"p50 run of app=far <= 1s",
		"p90 preempted of app=red <= 1us",
		"p90 preempted of app=far <= 1us",
		"p90 overhead of app=red <= 1s",
		"p90 overhead of app=far <= 1s",
		"miss ratio <= 5 %",
		"executions >= 17",
	};
	/* of the executions of the first service, or of the second one */
	static const char causes_asked[] =
		"SELECT c.execution_id, c.cause FROM miss_cause c JOIN execution x ON x.id = "
		"c.execution_id JOIN stream t ON t.id = x.stream_id WHERE c.is_primary AND "
		"t.number >> 20 = %u ORDER BY 1";
	unsigned wrong = 0;
	char *whole_causes[2] = { NULL, NULL };

	for (size_t i = 0; i < 8 * N_OF(second_stops); i++) {
		unsigned set = i % 4, of = i / 4 % 2 * 2;
		uint64_t without = (set & 1 ? KIND(sched_preempt) : 0) | (set & 2 ? KIND(sched_resume) : 0);
		static enum bsv_outcome whole[N_OF(asked)];
		struct bsv_input input;
		char *text = NULL, *script;

		assert_true(asprintf(&text, "%s%s%s%s%s", before, three_models, second_world, calls,
		                     second_stops[i / 8]) > 0);
		script = timeline(text, TIMELINE_FULL);
		unlink(*state);
		database_recorded_of(*state, script, 0, without | KIND(N_KINDS), of, false);
		free(script);
		free(text);
		for (unsigned service = 0; service <= 2; service += 2) {
			char *query = NULL, **all = &whole_causes[service / 2];
			const char *causes;

			assert_true(asprintf(&query, causes_asked, service) > 0);
			causes = stored_ask(*state, query);
			free(query);
			if (!set) {
				free(*all);
				*all = strdup(causes);
			} else if (!are_causes_of(*all, causes, service != of && set == 3)) {
				print_error("%zu, service %u: %s, not %s\n", i, service, causes, *all);
				wrong++;
			}
		}
		input = database_open(*state, 0, 0);
		for (size_t k = 0; k < N_OF(asked); k++) {
			struct bsv_slo_result result = measure("two", asked[k], &input, NULL);

			if (!set)
				whole[k] = result.outcome;
			if (result.outcome != whole[k] && result.outcome != BSV_CANNOT_TELL) {
				print_error("%zu: %s: %s: %s\n", i, asked[k], bsv_outcome_name(result.outcome),
				            result.why);
				wrong++;
			}
		}
		bsv_input_close(&input);
	}
	free(whole_causes[0]);
	free(whole_causes[1]);
	assert_int_equal(wrong, 0);
}

/* A rule about a phase that executions of a path do not have judges nothing, and the 0 in its place keeps no bound. */
static void a_rule_about_a_phase_that_a_path_does_not_have_judges_nothing(void **state)
{
	static const char *const paths[] = { "burst", "sync", "async", "fenced", NULL };
	static const struct {
		const char *what, *limit,
			*outcomes; /* P: pass; -: nothing to judge; of each path, and of all together */
	} metrics[] = {
		{ "p50 e2e", "<= 1s", "PPPPP" },
		{ "p50 overhead", "<= 1s", "PPPPP" },
		{ "p50 overhead share", "<= 99 %", "PPPPP" },
		{ "p50 prepare", "<= 1s", "PPPPP" },
		{ "p50 send", "<= 1s", "PPPPP" },
		{ "p50 decode", "<= 1s", "PPPPP" },
		{ "p50 fence", "<= 1s", "---PP" },
		{ "p50 slots", "<= 1s", "PPPPP" },
		{ "p50 queue", "<= 1s", "PPPPP" },
		{ "p50 run", "<= 1s", "PPPPP" },
		{ "p50 preempted", "<= 1s", "PPPPP" },
		{ "p50 reply", "<= 1s", "PPP-P" },
		{ "p50 return", "<= 1s", "PPP-P" },
		{ "p50 finish", "<= 1s", "PPP-P" },
		{ "p50 signal", "<= 1s", "---PP" },
		{ "p50 fence", "<= baseline + 1s", "---PP" },
		{ "miss ratio", "<= 5 %", "PPPPP" },
		{ "at most 1 misses in any 10", "", "PPPPP" },
		{ "executions", ">= 40", "PPPPP" },
	};
	static const char streams[] = "0 stream_open stream=3 conn=1 path=sync\n"
				      "0 stream_open stream=4 conn=1 path=async\n"
				      "0 stream_open stream=5 conn=1 path=fenced\n";
	static const char calls[] = "1ms 1:1 x40 every=1ms deadline=900us lane=0\n"
				    "50ms 3:1 x40 every=1ms deadline=900us lane=0 model=1\n"
				    "100ms 4:1 x40 every=1ms deadline=900us lane=0 model=1\n"
				    "150ms 5:1 x40 every=1ms deadline=900us lane=0 model=1 signal=10us fence=5us\n"
				    "2500ms stream_close stream=3\n"
				    "2500ms stream_close stream=4\n"
				    "2500ms stream_close stream=5\n";
	unsigned wrong = 0;

	for (unsigned form = TIMELINE_FULL; form <= TIMELINE_COMPACT; form++) {
		struct bsv_input input;
		char *text = NULL;

		assert_true(asprintf(&text, "%s%s%s%s%s%s", before, SERVICE, world, streams, calls, after) > 0);
		timeline_make(*state, text, form);
		input = database_open(*state, 0, 0);
		for (size_t i = 0; i < N_OF(metrics) * N_OF(paths); i++) {
			const char *path = paths[i % N_OF(paths)], *what = metrics[i / N_OF(paths)].what;
			char wanted = metrics[i / N_OF(paths)].outcomes[i % N_OF(paths)], is, rule[128];
			struct bsv_slo_result result;

			snprintf(rule, sizeof(rule), "%s %s%s %s", what, path ? "of path=" : "", path ? path : "",
			         metrics[i / N_OF(paths)].limit);
			result = measure("paths", rule, &input, &input);
			is = result.outcome != BSV_PASS ? '?' : result.idle ? '-' : 'P';
			if (is != wanted || (is == '-' && !isnan(result.figure))) {
				print_error("%s: %c, not %c: %s\n", rule, is, wanted, result.why);
				wrong++;
			}
		}
		bsv_input_close(&input);
	}
	assert_int_equal(wrong, 0);
}

/*
 * Compact events come when an execution is over: one may be under way in a stream since its last event, until the
 * noted end of the recording.
 */
static void a_compact_stream_that_is_silent_at_the_end_may_hide_an_execution(void **state)
{
	static const struct {
		const char *story, *rule;
		uint64_t until_ms;
		enum bsv_outcome outcome;
	} rows[] = {
		{ "silent for 880 ms", "p100 e2e <= 850ms", 1000, BSV_CANNOT_TELL },
		{ "the bound is 100 ms less", "p100 e2e <= 770ms", 1000, BSV_CANNOT_TELL },
		{ "the bound is longer", "p100 e2e <= 900ms", 1000, BSV_PASS },
		{ "silent for 60 ms", "p100 e2e <= 20ms", 180, BSV_PASS },
		{ "silent for 120 ms", "p100 e2e <= 50ms", 240, BSV_CANNOT_TELL },
		{ "a deadline passed", "at most 0 misses in any 10", 240, BSV_CANNOT_TELL },
	};
	char *text = NULL, *script;
	bool right = true;

	assert_true(asprintf(&text, "%s%s%s%s", before, SERVICE, world,
	                     "1ms 1:1 x60 every=2ms deadline=900us lane=0\n") > 0);
	script = timeline(text, TIMELINE_COMPACT);
	for (size_t i = 0; i < N_OF(rows); i++) {
		unlink(*state);
		database_recorded(*state, script, rows[i].until_ms * MS, 0, false);
		right &= comes_to(*state, rows[i].story, rows[i].rule, rows[i].outcome);
	}
	free(script);
	free(text);
	assert_true(right);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			without_preemption_the_limit_is_the_holders_longest_stretch_all_the_same, stored_setup,
			stored_teardown),
		cmocka_unit_test_setup_teardown(no_rule_passes_on_what_was_not_recorded, stored_setup, stored_teardown),
		cmocka_unit_test_setup_teardown(a_compact_stream_that_is_silent_at_the_end_may_hide_an_execution,
		                                stored_setup, stored_teardown),
		cmocka_unit_test_setup_teardown(a_loss_takes_away_what_it_may_have_hidden_alone, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(a_preemption_that_was_lost_may_excuse_an_inversion, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(a_preemption_that_was_lost_may_excuse_a_lag, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(a_choice_beside_a_loss_is_unknown, stored_setup, stored_teardown),
		cmocka_unit_test_setup_teardown(executions_without_their_beginning_may_break_a_rule, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(no_rule_passes_on_a_kind_that_few_events_show, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(a_rule_about_a_phase_that_a_path_does_not_have_judges_nothing,
		                                stored_setup, stored_teardown),
		cmocka_unit_test_setup_teardown(no_miss_has_a_cause_where_a_kind_of_lanes_was_left_out, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(stops_of_one_service_are_missed_beside_another, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(no_rule_passes_on_a_kind_that_was_left_out, stored_setup,
		                                stored_teardown),
		cmocka_unit_test_setup_teardown(no_rule_contradicts_the_whole_recording, stored_setup, stored_teardown),
		cmocka_unit_test_setup_teardown(deadlines_are_unknown_only_where_no_event_has_them, stored_setup,
		                                stored_teardown),
	};

	/* each verdict prepares large statements: have malloc keep their memory */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
	mallopt(M_MXFAST, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
