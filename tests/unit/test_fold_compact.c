/* test_fold_compact.c -- what summaries tell: as much as boundaries do, and what those lack. */
#include <stdlib.h>
#include <string.h>

#include "unit/fold_rows.h"

#define HORIZON                     \
	{                           \
		.horizon_ns = 10000 \
	}

/* ---- the same execution, in both forms ---- */

struct pair {
	const char *name, *full, *compact;
};

#define FULL_ASKED(x, path, queue)                                             \
	"1000 exec_submit exec=" x " model=2 path=" path " deadline_ns=2000\n" \
	"1010 fmq_write exec=" x " queue=" queue "\n"                          \
	"1030 fmq_read exec=" x " queue=" queue " slept_ns=6\n"                \
	"1040 request_decode exec=" x " model=2\n"
#define FULL_ANSWERED(x, queue, status)                            \
	"1410 fmq_write exec=" x " queue=" queue " blocked_ns=7\n" \
	"1450 fmq_read exec=" x " queue=" queue " slept_ns=9\n"    \
	"1460 exec_return exec=" x " status=" status "\n"
#define CLIENT(x, path, status)                                                             \
	"1461 exec_client exec=" x " model=2 path=" path " deadline_ns=2000 status=" status \
	" began=1000 at=10,450,460,9\n"
#define SERVICE(x, path, lane, status, at, rest)                                                               \
	"1412 exec_service exec=" x " model=2 app=20 priority=high path=" path " lane=" lane " status=" status \
	" began=1030 at=" at ",6,7," rest "\n"

static const struct pair pairs[] = {
	{ "a burst that finds the lane free",
	  HERE FULL_ASKED("3:1", "burst", "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=high\n"
	                                             "1065 sched_dispatch exec=3:1 lane=0\n"
	                                             "1400 exec_end exec=3:1 lane=0 cpu_ns=300\n" FULL_ANSWERED(
							     "3:1", "result", "none"),
	  HERE SERVICE("3:1", "burst", "0", "none", "10,-,30,35,370,380", "0,300") CLIENT("3:1", "burst", "none") },
	{ "a call, preempted twice and by nobody we know",
	  HERE FULL_ASKED("4:1", "sync",
	                  "call_request") "1060 sched_enqueue exec=4:1 model=2 app=20 priority=high\n"
	                                  "1065 sched_dispatch exec=4:1 lane=0\n"
	                                  "1100 sched_preempt exec=4:1 lane=0 at_op=3 mode=restart asked_ns=30\n"
	                                  "1150 sched_resume exec=4:1 lane=0\n"
	                                  "1200 sched_preempt exec=4:1 lane=0 at_op=5 asked_ns=10 redo_ns=35\n"
	                                  "1300 sched_resume exec=4:1 lane=0\n"
	                                  "1400 exec_end exec=4:1 lane=0 redo_ns=40\n" FULL_ANSWERED(
						  "4:1", "call_result", "none"),
	  HERE "1100 sched_preempt exec=4:1 lane=0 at_op=3 mode=restart asked_ns=30\n"
	       "1150 sched_resume exec=4:1 lane=0\n"
	       "1200 sched_preempt exec=4:1 lane=0 at_op=5 asked_ns=10 redo_ns=35\n"
	       "1300 sched_resume exec=4:1 lane=0\n" SERVICE("4:1", "sync", "0", "none", "10,-,30,35,370,380",
	                                                     "40,- preemptions=2") CLIENT("4:1", "sync", "none") },
	{ "one that is given up while it is off its lane",
	  HERE FULL_ASKED(
		  "4:1", "sync",
		  "call_request") "1060 sched_enqueue exec=4:1 model=2 app=20 priority=high\n"
	                          "1065 sched_dispatch exec=4:1 lane=0\n"
	                          "1100 sched_preempt exec=4:1 lane=0\n"
	                          "1399 deadline_miss exec=4:1 model=2 stage=queue deadline_ns=2000 over_ns=50\n"
	                          "1400 exec_end exec=4:1 lane=0 status=missed_deadline_transient\n" FULL_ANSWERED(
					  "4:1", "call_result", "missed_deadline_transient"),
	  HERE "1100 sched_preempt exec=4:1 lane=0\n"
	       "1399 deadline_miss exec=4:1 model=2 stage=queue deadline_ns=2000 over_ns=50\n" SERVICE(
		       "4:1", "sync", "0", "missed_deadline_transient", "10,-,30,35,370,380", "0,- preemptions=1")
	               CLIENT("4:1", "sync", "missed_deadline_transient") },
	{ "refused",
	  HERE FULL_ASKED(
		  "4:1", "sync",
		  "call_request") "1050 deadline_miss exec=4:1 model=2 stage=admission deadline_ns=2000 over_ns=50\n"
	                          "1400 exec_end exec=4:1 lane=255 status=missed_deadline_transient\n" FULL_ANSWERED(
					  "4:1", "call_result", "missed_deadline_transient"),
	  HERE "1050 deadline_miss exec=4:1 model=2 stage=admission deadline_ns=2000 over_ns=50\n" SERVICE(
		  "4:1", "sync", "255", "missed_deadline_transient", "10,-,-,-,370,380", "0,-")
	          CLIENT("4:1", "sync", "missed_deadline_transient") },
	{ "malformed",
	  HERE "1000 exec_submit exec=4:1 model=2 path=sync deadline_ns=2000\n"
	       "1010 fmq_write exec=4:1 queue=call_request\n"
	       "1030 fmq_read exec=4:1 queue=call_request slept_ns=6\n"
	       "1400 exec_end exec=4:1 lane=255 status=invalid_argument\n" FULL_ANSWERED("4:1", "call_result",
	                                                                                 "invalid_argument"),
	  HERE SERVICE("4:1", "sync", "255", "invalid_argument", "-,-,-,-,370,380", "0,-")
	          CLIENT("4:1", "sync", "invalid_argument") },
	{ "fenced: the last that a summary tells is its signal",
	  HERE FULL_ASKED("5:1", "fenced", "call_request") "1041 fmq_write exec=5:1 queue=call_result\n"
	                                                   "1042 fmq_read exec=5:1 queue=call_result slept_ns=9\n"
	                                                   "1043 exec_return exec=5:1\n"
	                                                   "1055 fence_wait exec=5:1\n"
	                                                   "1060 sched_enqueue exec=5:1 model=2 app=20 priority=high\n"
	                                                   "1065 sched_dispatch exec=5:1 lane=0\n"
	                                                   "1400 exec_end exec=5:1 lane=0\n"
	                                                   "1410 fence_signal exec=5:1\n",
	  HERE "1044 exec_client exec=5:1 model=2 path=fenced deadline_ns=2000 began=1000 at=10,42,43,9\n" SERVICE(
		  "5:1", "fenced", "0", "none", "10,25,30,35,370,380", "0,-") },
	{ "fenced, and not launched: the last that a summary tells is its answer",
	  HERE FULL_ASKED("5:1", "fenced", "call_request") "1400 exec_end exec=5:1 lane=255 "
	                                                   "status=general_failure\n" FULL_ANSWERED(
								   "5:1", "call_result", "general_failure"),
	  HERE SERVICE("5:1", "fenced", "255", "general_failure", "10,-,-,-,370,380", "0,-")
	          CLIENT("5:1", "fenced", "general_failure") },
	{ "an app of which nothing is heard",
	  HERE "1030 fmq_read exec=4:1 queue=call_request slept_ns=6\n"
	       "1040 request_decode exec=4:1 model=2\n"
	       "1060 sched_enqueue exec=4:1 model=2 app=20 priority=high\n"
	       "1065 sched_dispatch exec=4:1 lane=0\n"
	       "1400 exec_end exec=4:1 lane=0\n"
	       "1410 fmq_write exec=4:1 queue=call_result blocked_ns=7\n",
	  HERE SERVICE("4:1", "sync", "0", "none", "10,-,30,35,370,380", "0,-") },
	{ "a service of which nothing is heard",
	  "1000 exec_submit exec=4:1 model=2 path=sync deadline_ns=2000\n"
	  "1010 fmq_write exec=4:1 queue=call_request\n"
	  "1450 fmq_read exec=4:1 queue=call_result slept_ns=9\n"
	  "1460 exec_return exec=4:1\n",
	  "1000 performance_hold on=1\n" CLIENT("4:1", "sync", "none") },
	{ "two that wait for each other",
	  HERE FULL_ASKED("3:1", "burst",
	                  "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=high\n"
	                             "1065 sched_dispatch exec=3:1 lane=0\n"
	                             "1070 exec_submit exec=4:1 model=2 path=sync\n"
	                             "1071 fmq_write exec=4:1 queue=call_request\n"
	                             "1072 fmq_read exec=4:1 queue=call_request slept_ns=1\n"
	                             "1073 request_decode exec=4:1 model=2\n"
	                             "1074 sched_enqueue exec=4:1 model=2 app=20 priority=low\n"
	                             "1400 exec_end exec=3:1 lane=0\n"
	                             "1404 sched_dispatch exec=4:1 lane=0\n" FULL_ANSWERED(
					     "3:1", "result",
					     "none") "1504 exec_end exec=4:1 lane=0\n"
	                                             "1505 fmq_write exec=4:1 queue=call_result\n"
	                                             "1506 fmq_read exec=4:1 queue=call_result slept_ns=2\n"
	                                             "1507 exec_return exec=4:1\n",
	  HERE SERVICE("3:1", "burst", "0", "none", "10,-,30,35,370,380", "0,-")
	          CLIENT("3:1", "burst",
	                 "none") "1506 exec_service exec=4:1 model=2 app=20 priority=low path=sync lane=0 began=1072 "
	                         "at=1,-,2,332,432,433,1,0,0,-\n"
	                         "1508 exec_client exec=4:1 model=2 path=sync began=1070 at=1,436,437,2\n" },
};

/* Before the first ns from which two texts differ. */
static void expect_same(const char *name, const char *of, char *want, char *is)
{
	size_t at = 0;

	while (want[at] && want[at] == is[at])
		at++;
	while (at && want[at - 1] != '\n')
		at--;
	if (strcmp(want, is))
		fail_msg("%s: %s: %.*s\nis not\n%.*s", name, of, (int)strcspn(is + at, "\n"), is + at,
		         (int)strcspn(want + at, "\n"), want + at);
	free(want);
	free(is);
}

/* The lines of both, in the order of their times; @after: of @one's time, those of @two come later. */
static char *merged(const char *one, const char *two)
{
	char *text = calloc(1, strlen(one) + strlen(two) + 1), *end = text;

	assert_non_null(text);
	while (*one || *two) {
		bool first = !*two || (*one && strtoull(one, NULL, 10) <= strtoull(two, NULL, 10));
		const char **from = first ? &one : &two;
		size_t n = strcspn(*from, "\n") + 1;

		memcpy(end, *from, n);
		end += n;
		*from += n;
	}
	return text;
}

static const char *without_here(const char *script)
{
	return strncmp(script, HERE, strlen(HERE)) ? script : script + strlen(HERE);
}

/* With a stream that is open, a summary may be to come, so that compact events tell less of the end. */
#define CLOSED                         \
	"1600 stream_close stream=3\n" \
	"1600 stream_close stream=4\n" \
	"1600 stream_close stream=5\n" \
	"1600 stream_close stream=6\n"

static void both_forms_tell_the_same(void **state)
{
	const struct bsa_fold_options options = HORIZON;

	(void)state;
	for (size_t i = 0; i < N_OF(pairs); i++) {
		char *in_full = merged(pairs[i].full, CLOSED), *in_compact = merged(pairs[i].compact, CLOSED);
		struct folded full, compact;

		fold_script(&full, in_full, NULL);
		fold_script(&compact, in_compact, &options);
		expect_same(pairs[i].name, "in compact", collect_text(&full.facts, true),
		            collect_text(&compact.facts, true));
		assert_int_equal(compact.left_out.late + compact.left_out.stragglers, 0);
		folded_fini(&full);
		folded_fini(&compact);
		free(in_full);
		free(in_compact);
	}
}

static void with_both_forms_the_full_one_holds(void **state)
{
	const struct bsa_fold_options options = HORIZON;

	(void)state;
	for (size_t i = 0; i < N_OF(pairs); i++) {
		char *script = merged(pairs[i].full, without_here(pairs[i].compact));
		struct folded full, both;
		bool rare = strstr(without_here(pairs[i].compact), "sched_preempt") ||
		            strstr(pairs[i].compact, "deadline_miss");

		if (!rare) { /* those would be there twice */
			fold_script(&full, pairs[i].full, NULL);
			fold_script(&both, script, &options);
			expect_same(pairs[i].name, "in both", collect_text(&full.facts, true),
			            collect_text(&both.facts, true));
			folded_fini(&full);
			folded_fini(&both);
		}
		free(script);
	}
}

/* ---- each on its own ---- */

/* Its sched_dispatch is lost. */
#define ALL_BUT_DISPATCH                                                             \
	FULL_ASKED("3:1", "burst", "request")                                        \
	"1060 sched_enqueue exec=3:1 model=2 app=20 priority=high estimate_ns=300\n" \
	"1061 loss ended=1070 events=1\n"                                            \
	"1400 exec_end exec=3:1 lane=0 cpu_ns=300\n" FULL_ANSWERED("3:1", "result", "none")

static void summaries_fill_what_boundaries_lack(void **state)
{
	static const struct fold_row rows[] = {
		{ "a boundary that was lost",
		  HERE ALL_BUT_DISPATCH
		  "1460 exec_service exec=3:1 model=2 app=20 priority=high "
		  "path=burst lane=0 began=1029 at=10,-,30,35,370,380,6,7,0,300\n" CLIENT("3:1", "burst", "none"),
		  "execution id=3:1 at=1000,1010,1030,1040,-,1060,1064,1400,1410,1450,1460,- "
		  "phase=10,20,10,0,20,4,336,0,10,40,10,0 quality=complete e2e=460",
		  HORIZON },
		{ "a boundary that was lost, and no summary", HERE ALL_BUT_DISPATCH CLIENT("3:1", "burst", "none"),
		  "execution id=3:1 phase=10,20,10,0,20,-,-,-,10,40,10,0 quality=gap e2e=460 lane=-1 idle=0\n"
		  "no wait occupancy=0\n"
		  "no wait occupancy=1\n"
		  "left stragglers=0",
		  HORIZON },
		{ "the service's side, while the app's is there in full",
		  HERE
		  "1000 exec_submit exec=3:1 model=2 path=burst\n"
		  "1010 fmq_write exec=3:1 queue=request\n" SERVICE("3:1", "burst", "0", "none", "10,-,30,35,370,380",
		                                                    "0,-") "1450 fmq_read exec=3:1 queue=result\n"
		                                                           "1460 exec_return exec=3:1\n",
		  "execution id=3:1 phase=10,20,10,0,20,5,335,0,10,40,10,0 quality=complete sides=both", HORIZON },
		{ "a summary that is the first that is heard of an execution whose stream is closed already",
		  HERE "1411 stream_close stream=3\n"
		       "1411 model_release model=2\n" SERVICE("3:1", "burst", "0", "none", "10,-,30,35,370,380", "0,-")
		               CLIENT("3:1", "burst", "none"),
		  "execution id=3:1 phase=10,20,10,0,20,5,335,0,10,40,10,0 quality=complete model=2/net stream=3\n"
		  "stream number=3 executions=1 closed=1411\n"
		  "1 model\n"
		  "left stragglers=0",
		  HORIZON },
		{ "the app's summary comes first",
		  HERE "1411 exec_client exec=4:1 model=2 path=sync began=1000 at=10,408,410,9\n"
		       "1412 exec_service exec=4:1 model=2 app=20 priority=low path=sync lane=0 began=1030 "
		       "at=10,-,30,35,370,375,6,7,0,-\n",
		  "execution id=4:1 phase=10,20,10,0,20,5,335,0,5,3,2,0 quality=complete sides=both e2e=410", HORIZON },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void a_summary_tells_all_of_a_trial_run(void **state)
{
	static const struct fold_row rows[] = {
		{ "its lane, its wait, and whose it was",
		  HERE "8 stream_open stream=7 conn=1 path=prepare\n"
		       "1412 exec_service exec=7:1 model=8 app=20 priority=low path=prepare lane=0 began=990 "
		       "at=-,-,10,20,110,-,0,0,0,80 deadline_ns=0\n"
		       "1900 model_prepare model=8 conn=1 name=new priority=low took_ns=1000\n",
		  "1 execution\nexecution id=7:1 path=4 quality=complete sides=service e2e=- run=90 queue=10 cpu=80 "
		  "at=-,-,-,-,-,1000,1010,1100,-,-,-,- app=20/camera model=8/new miss=none lane=0\nleft absurd=0",
		  HORIZON },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void the_services_summary_alone_tells_a_deadline(void **state)
{
	static const struct fold_row rows[] = {
		{ "and so who missed it",
		  HERE "1412 exec_service exec=4:1 model=2 app=20 priority=low path=sync lane=0 began=1030 "
		       "at=10,-,30,35,370,380,0,0,0,300 deadline_ns=1400\n",
		  "execution id=4:1 sides=service deadline=1400 miss=late lateness=10", HORIZON },
		{ "0 is none",
		  HERE "1412 exec_service exec=4:1 model=2 app=20 priority=low path=sync lane=0 began=1030 "
		       "at=10,-,30,35,370,380,0,0,0,300 deadline_ns=0\n",
		  "execution id=4:1 sides=service deadline=0 miss=none", HORIZON },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void summaries_are_believed_as_far_as_they_can_be_true(void **state)
{
	static const struct fold_row rows[] = {
		{ "a time after the summary itself was never so",
		  HERE SERVICE("4:1", "sync", "0", "none", "10,-,30,35,370,9999", "0,-"),
		  "execution id=4:1 at=-,-,1030,1040,-,1060,1065,1400,-,-,-,-\n"
		  "left absurd=1",
		  HORIZON },
		{ "nor one before another one that it follows",
		  HERE SERVICE("4:1", "sync", "0", "none", "10,-,30,25,370,380", "0,-"),
		  "execution id=4:1 at=-,-,1030,1040,-,1060,-,1400,1410,-,-,- quality=gap run=-\n"
		  "left absurd=2" /* its end is on a lane where it never was */,
		  HORIZON },
		{ "nor one so large that it comes round again",
		  HERE SERVICE("4:1", "sync", "0", "none", "0xfffffffffffffff0,-,30,35,370,380", "0,-"),
		  "execution id=4:1 at=-,-,1030,-,-,1060,1065,1400,1410,-,-,-\n"
		  "left unusable=1 absurd=0",
		  HORIZON },
		{ "a second one of the same execution says nothing",
		  HERE SERVICE("4:1", "sync", "0", "none", "10,-,30,35,370,380",
		               "0,-") "1500 exec_service exec=4:1 model=2 app=20 priority=low path=sync lane=3 "
		                      "began=1400 at=1,-,2,3,4,5,0,0,0,-\n",
		  "execution id=4:1 priority=2 lane=0\n"
		  "left absurd=1",
		  HORIZON },
		{ "it was preempted more often than was seen: how long it ran is unknown",
		  HERE SERVICE("4:1", "sync", "0", "none", "10,-,30,35,370,380", "0,- preemptions=2"),
		  "execution id=4:1 run=- preempted=- queue=5 preemptions=2 quality=gap lane=-1\n"
		  "no slice",
		  HORIZON },
		{ "one that comes after the horizon tells of its execution, and of its wait, but nothing of lanes",
		  HERE "9000 performance_hold on=1\n"
		       "20000 exec_service exec=4:1 model=2 app=20 priority=low path=sync lane=0 began=1030 "
		       "at=10,-,30,35,370,380,0,0,0,-\n",
		  "execution id=4:1 phase=-,-,10,0,20,5,335,0,10,-,-,0 quality=complete sides=service e2e=380 lane=-1\n"
		  "no slice\n"
		  "1 wait\nwait execution=4:1 began=1060 ended=1065 lane=255 occupancy=2\n"
		  "left late=1 stragglers=0",
		  HORIZON },
		{ "it was preempted before the recording began: that is its beginning, not a gap",
		  "1200 service_state pid=9 lanes=1\n"
		  "1201 client_connect conn=1 pid=20 uid=1000 app=20 name=camera\n"
		  "1202 model_prepare model=2 conn=1 name=net priority=high\n"
		  "1203 stream_open stream=4 conn=1 path=sync\n" SERVICE("4:1", "sync", "0", "none",
		                                                         "10,-,30,35,370,380", "0,- preemptions=2")
		          CLIENT("4:1", "sync", "none"),
		  "execution id=4:1 run=- preempted=- queue=5 preemptions=2 quality=head e2e=460\n"
		  "no slice",
		  HORIZON },
		{ "but where a loss may hide its preemption, it is a gap",
		  "1200 service_state pid=9 lanes=1\n"
		  "1201 client_connect conn=1 pid=20 uid=1000 app=20 name=camera\n"
		  "1202 model_prepare model=2 conn=1 name=net priority=high\n"
		  "1203 stream_open stream=4 conn=1 path=sync\n"
		  "1250 loss ended=1300\n" SERVICE("4:1", "sync", "0", "none", "10,-,30,35,370,380",
		                                   "0,- preemptions=2") CLIENT("4:1", "sync", "none"),
		  "execution id=4:1 run=- preempted=- queue=5 preemptions=2 quality=gap e2e=460\n"
		  "no slice",
		  HORIZON },
	};
	struct folded f;

	(void)state;
	fold_rows(rows, N_OF(rows));
	fold_script(&f, rows[5].script, &rows[5].options);
	assert_int_equal(f.latest_summary, 20000 - 1060);
	folded_fini(&f);
}

static void a_summary_whose_other_side_never_comes_is_waited_for_as_long_as_the_horizon(void **state)
{
	static const struct fold_row rows[] = {
		{ "then what comes of it is a straggler",
		  HERE SERVICE("4:1", "sync", "0", "none", "10,-,30,35,370,380",
		               "0,-") "11411 exec_client exec=4:1 model=2 path=sync began=1000 at=10,450,460,9\n"
		                      "21500 performance_hold on=1\n"
		                      "21501 performance_hold on=1\n"
		                      "21510 exec_client exec=4:2 model=2 path=sync began=1000 at=10,450,460,9\n"
		                      "31600 performance_hold on=1\n"
		                      "31601 exec_service exec=4:2 model=2 app=20 priority=low path=sync lane=0 "
		                      "began=1030 at=0,-,0,0,0,0,0,0,0,-\n",
		  "execution id=4:1 quality=complete sides=both\n"
		  "execution id=4:2 quality=gap sides=both\n"
		  "left stragglers=1",
		  HORIZON },
		{ "a fenced one's launch is not its end, however long it takes",
		  HERE "1044 exec_client exec=5:1 model=2 path=fenced deadline_ns=2000 began=1000 at=10,42,43,9\n"
		       "20000 performance_hold on=1\n"
		       "40000 performance_hold on=0\n"
		       "50000 fence_wait exec=5:1\n"
		       "50100 exec_service exec=5:1 model=2 app=20 priority=low path=fenced lane=0 began=1030 "
		       "at=10,48970,48975,48980,49000,49010,0,0,0,-\n",
		  "execution id=5:1 quality=complete phase=10,20,10,48960,5,5,20,0,0,0,0,10 e2e=49040\n"
		  "left stragglers=0 late=0",
		  HORIZON },
		{ "nor is a preemption",
		  HERE "1044 sched_preempt exec=4:1 lane=0\n"
		       "20000 performance_hold on=1\n"
		       "40000 performance_hold on=0\n"
		       "50000 sched_resume exec=4:1 lane=0\n"
		       "50100 exec_client exec=4:1 model=2 path=sync began=1000 at=10,42,43,9\n",
		  "1 execution\n"
		  "left stragglers=0 late=0",
		  HORIZON },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* The number of executions that a fold has reported of @text, @quiet_ns after its last record and before its end. */
static size_t reported_when_quiet(const char *text, uint64_t quiet_ns, bool *ret_doubts)
{
	struct script *s = script_new(text);
	struct collected c = { .app = { 0 } };
	struct bsa_facts facts = collect_facts(&c);
	struct bsa_fold *f = bsa_fold_new(&facts, &(struct bsa_fold_options)HORIZON);
	const struct bsa_event *e;
	uint64_t last = 0;
	size_t n;

	assert_non_null(f);
	while ((e = script_next(s))) {
		assert_int_equal(bsa_fold_event(f, e), 0);
		last = e->at;
	}
	assert_int_equal(bsa_fold_quiet(f, last + quiet_ns), 0);
	n = c.execution.n;
	*ret_doubts = bsa_fold_passed_doubts(f);
	assert_int_equal(bsa_fold_finish(f), 0);
	bsa_fold_free(f);
	script_free(s);
	collect_fini(&c);
	return n;
}

/* A record of an execution without an end, made up by another process, must not keep others from being counted. */
static void what_is_over_is_reported_when_nothing_more_comes(void **state)
{
	static const char over[] =
		HERE SERVICE("3:1", "burst", "0", "none", "10,-,30,35,370,380", "0,300") CLIENT("3:1", "burst", "none");
	static const char beside_one_that_goes_on[] =
		HERE "900 exec_client exec=5:1 model=2 path=fenced began=850 at=10,42,43,9\n" SERVICE(
			"3:1", "burst", "0", "none", "10,-,30,35,370,380", "0,300") CLIENT("3:1", "burst", "none");
	bool doubts;

	(void)state;
	/* without numbers, each open stream may have an execution under way */
	assert_int_equal(reported_when_quiet(over, 30000, &doubts), 0);
	assert_false(doubts);
	assert_int_equal(reported_when_quiet(over, 30001, &doubts), 1);
	assert_true(doubts);
	assert_int_equal(reported_when_quiet(beside_one_that_goes_on, 30000, &doubts), 0);
	assert_false(doubts);
	assert_int_equal(reported_when_quiet(beside_one_that_goes_on, 30001, &doubts), 1);
	assert_true(doubts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms_tell_the_same),
		cmocka_unit_test(with_both_forms_the_full_one_holds),
		cmocka_unit_test(summaries_fill_what_boundaries_lack),
		cmocka_unit_test(a_summary_tells_all_of_a_trial_run),
		cmocka_unit_test(the_services_summary_alone_tells_a_deadline),
		cmocka_unit_test(summaries_are_believed_as_far_as_they_can_be_true),
		cmocka_unit_test(a_summary_whose_other_side_never_comes_is_waited_for_as_long_as_the_horizon),
		cmocka_unit_test(what_is_over_is_reported_when_nothing_more_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
