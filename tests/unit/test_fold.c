/* test_fold.c -- executions, as their boundaries tell: phases, ends, misses, slots. */
#include "unit/fold_rows.h"

/* What the app asks, and the service takes: at 1000, 1010, 1030, 1040. */
#define ASKED(x, path, queue)                                                  \
	"1000 exec_submit exec=" x " model=2 path=" path " deadline_ns=2000\n" \
	"1010 fmq_write exec=" x " queue=" queue "\n"                          \
	"1030 fmq_read exec=" x " queue=" queue "\n"                           \
	"1040 request_decode exec=" x " model=2\n"

/* It has a lane: at 1060, 1065, 1400. */
#define RAN(x)                                                                                          \
	"1060 sched_enqueue exec=" x " model=2 app=20 priority=high deadline_ns=2000 estimate_ns=300\n" \
	"1065 sched_dispatch exec=" x " lane=0\n"                                                       \
	"1400 exec_end exec=" x " lane=0 cpu_ns=300\n"

/* And its answer: at 1410, 1450, 1460. */
#define ANSWERED(x, queue)                            \
	"1410 fmq_write exec=" x " queue=" queue "\n" \
	"1450 fmq_read exec=" x " queue=" queue "\n"  \
	"1460 exec_return exec=" x "\n"

#define BURST ASKED("3:1", "burst", "request") RAN("3:1") ANSWERED("3:1", "result")

/* The service says no, at 1400. */
#define SAYS_NO(x, status, queue)                               \
	"1400 exec_end exec=" x " lane=255 status=" status "\n" \
	"1410 fmq_write exec=" x " queue=" queue "\n"           \
	"1450 fmq_read exec=" x " queue=" queue "\n"            \
	"1460 exec_return exec=" x " status=" status "\n"

static void phases_tile_from_the_apps_call_to_its_answer(void **state)
{
	static const struct fold_row rows[] = {
		{ "a burst", HERE BURST,
		  "execution id=3:1 at=1000,1010,1030,1040,-,1060,1065,1400,1410,1450,1460,- "
		  "phase=10,20,10,0,20,5,335,0,10,40,10,0 e2e=460 run=335 redo=0 cpu=300 queue=5 preempted=0 slots=20\n"
		  "execution path=0 priority=2 status=0 quality=complete sides=both deadline=2000 estimate=300 "
		  "fallback=0 "
		  "app=20/camera model=2/net stream=3 trace=1 miss=none cold=0 lane=0 idle=1 preemptions=0" },
		{ "a call that is waited for",
		  HERE ASKED("4:7", "sync", "call_request") RAN("4:7") ANSWERED("4:7", "call_result"),
		  "execution id=4:7 path=1 phase=10,20,10,0,20,5,335,0,10,40,10,0 e2e=460 quality=complete cold=-1" },
		{ "a call that is told of",
		  HERE ASKED("6:1", "async", "call_request") RAN("6:1") ANSWERED("6:1", "call_result"),
		  "execution id=6:1 path=3 phase=10,20,10,0,20,5,335,0,10,40,10,0 e2e=460 quality=complete cold=-1" },
		{ "fenced: its end is its signal, and the launch's answer is no phase",
		  HERE ASKED("5:1", "fenced", "call_request") "1045 fmq_write exec=5:1 queue=call_result\n"
		                                              "1050 fmq_read exec=5:1 queue=call_result\n"
		                                              "1055 exec_return exec=5:1\n"
		                                              "1057 fence_wait exec=5:1 fences=1\n" RAN(
								      "5:1") "1420 fence_signal exec=5:1\n",
		  "execution id=5:1 path=2 at=1000,1010,1030,1040,1057,1060,1065,1400,1045,1050,1055,1420 "
		  "phase=10,20,10,17,3,5,335,0,0,0,0,20 e2e=420 quality=complete sides=both status=0\n" },
		{ "fenced: it is over before the app hears that it was launched",
		  HERE ASKED("5:1", "fenced",
		             "call_request") "1045 fmq_write exec=5:1 queue=call_result\n"
		                             "1057 fence_wait exec=5:1 fences=1\n" RAN(
						     "5:1") "1420 fence_signal exec=5:1\n"
		                                            "1430 fmq_read exec=5:1 queue=call_result\n"
		                                            "1440 exec_return exec=5:1\n",
		  "execution id=5:1 phase=10,20,10,17,3,5,335,0,0,0,0,20 e2e=420 quality=complete\n"
		  "left stragglers=0" },
		{ "fenced, and failed after it was launched: its status is its fence's",
		  HERE ASKED("5:1", "fenced",
		             "call_request") "1045 fmq_write exec=5:1 queue=call_result\n"
		                             "1050 fmq_read exec=5:1 queue=call_result\n"
		                             "1055 exec_return exec=5:1\n"
		                             "1057 fence_wait exec=5:1 fences=1 status=general_failure\n"
		                             "1400 exec_end exec=5:1 lane=255 status=general_failure\n"
		                             "1420 fence_signal exec=5:1 status=general_failure\n",
		  "execution id=5:1 phase=10,20,10,17,343,0,0,0,0,0,0,20 e2e=420 quality=complete status=2" },
		{ "fenced, and given up while it waited for fences: that is all fence",
		  HERE ASKED("5:1", "fenced", "call_request") "1045 fmq_write exec=5:1 queue=call_result\n"
		                                              "1050 fmq_read exec=5:1 queue=call_result\n"
		                                              "1055 exec_return exec=5:1\n"
		                                              "1400 exec_end exec=5:1 lane=255 status=dead_object\n"
		                                              "1420 fence_signal exec=5:1 status=dead_object\n",
		  "execution id=5:1 phase=10,20,10,360,0,0,0,0,0,0,0,20 e2e=420 quality=complete status=9" },
		{ "fenced, and never launched: like a call that is waited for",
		  HERE ASKED("5:1", "fenced", "call_request")
		          SAYS_NO("5:1", "resource_exhausted_transient", "call_result"),
		  "execution id=5:1 phase=10,20,10,0,360,0,0,0,10,40,10,0 e2e=460 quality=complete status=7" },
		{ "refused when it was admitted: that is all slots",
		  HERE ASKED("3:1", "burst", "request") "1100 deadline_miss exec=3:1 model=2 kind=transient "
		                                        "stage=admission deadline_ns=2000 estimate_ns=350 "
		                                        "over_ns=-5\n" SAYS_NO("3:1", "missed_deadline_transient",
		                                                               "result"),
		  "execution id=3:1 phase=10,20,10,0,360,0,0,0,10,40,10,0 e2e=460 quality=complete status=5 lane=-1 "
		  "estimate=350 missed_at=1100 miss=predicted lateness=-5" },
		{ "it died in the queue",
		  HERE ASKED("3:1", "burst", "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low "
		                                        "deadline_ns=2000 floor_ns=250\n" SAYS_NO(
								"3:1", "missed_deadline_transient", "result"),
		  "execution id=3:1 phase=10,20,10,0,20,340,0,0,10,40,10,0 e2e=460 quality=complete priority=0 "
		  "floor=250 "
		  "idle=0" },
		{ "malformed",
		  HERE "1000 exec_submit exec=3:1 model=2 path=burst\n"
		       "1010 fmq_write exec=3:1 queue=request\n"
		       "1030 fmq_read exec=3:1 queue=request\n" SAYS_NO("3:1", "invalid_argument", "result"),
		  "execution id=3:1 phase=10,20,370,0,0,0,0,0,10,40,10,0 e2e=460 quality=complete status=4 priority=2 "
		  "cold=0" },
		{ "how it was waited for",
		  HERE "1000 exec_submit exec=3:1 model=2 path=burst fallback=1\n"
		       "1010 fmq_write exec=3:1 queue=request items=3 used=1 blocked_ns=4\n"
		       "1030 fmq_read exec=3:1 queue=request spun_ns=5 slept_ns=6 wakeups=1\n"
		       "1040 request_decode exec=3:1 model=2\n" RAN(
			       "3:1") "1410 fmq_write exec=3:1 queue=result blocked_ns=7\n"
		                      "1450 fmq_read exec=3:1 queue=result spun_ns=8 slept_ns=9\n"
		                      "1460 exec_return exec=3:1\n",
		  "execution id=3:1 request.blocked=4 request.spun=5 request.slept=6 result.blocked=7 result.spun=8 "
		  "result.slept=9 fallback=1\n"
		  "4 fmq_op\n"
		  "fmq_op execution=3:1 queue=0 write=1 at=1010 items=3 used=1 blocked=4 spun=0 slept=0\n"
		  "fmq_op execution=3:1 queue=1 write=0 at=1450 spun=8 slept=9" },
		{ "a message of a queue that belongs to no execution",
		  HERE "1000 fmq_write queue=other items=3 used=1 blocked_ns=4 fmq=77\n"
		       "1001 fmq_write exec=3:1 queue=other items=3 fmq=77\n" /* that cannot be */,
		  "1 fmq_op\n"
		  "fmq_op execution=none queue=4 write=1 at=1000 items=3 used=1 blocked=4 number=77\n"
		  "0 execution" },
		{ "the app is told something else than what the service found",
		  HERE ASKED("3:1", "burst", "request")
		          RAN("3:1") "1410 fmq_write exec=3:1 queue=result\n"
		                     "1450 fmq_read exec=3:1 queue=result\n"
		                     "1460 exec_return exec=3:1 status=output_insufficient_size\n",
		  "execution id=3:1 status=3 quality=complete" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void time_off_its_lane_is_preempted_time(void **state)
{
	static const struct fold_row rows[] = {
		{ "twice, by two others",
		  HERE "8 stream_open stream=8 conn=1 path=async\n" ASKED(
			  "3:1", "burst",
			  "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                     "1065 sched_dispatch exec=3:1 lane=0\n"
		                     "1100 sched_preempt exec=3:1 by=8:1 lane=0 at_op=3 mode=restart asked_ns=30 "
		                     "redo_ns=0\n"
		                     "1150 sched_resume exec=3:1 lane=0 from_op=0 resumed=restart\n"
		                     "1200 sched_preempt exec=3:1 by=8:2 lane=0 at_op=5 mode=save asked_ns=10 "
		                     "redo_ns=35\n"
		                     "1300 sched_resume exec=3:1 lane=0 from_op=5 resumed=resume\n"
		                     "1400 exec_end exec=3:1 lane=0 cpu_ns=90 redo_ns=35\n" ANSWERED("3:1", "result"),
		  "execution id=3:1 phase=10,20,10,0,20,5,185,150,10,40,10,0 run=185 preempted=150 redo=35 e2e=460 "
		  "preemptions=2 quality=complete\n"
		  "2 preemption\n"
		  "preemption execution=3:1 by=8:1 asked=1070 stopped=1100 resumed=1150 redo=0 at_op=3 mode=1 lane=0\n"
		  "preemption execution=3:1 by=8:2 asked=1190 stopped=1200 resumed=1300 redo=35 at_op=5 mode=0 lane=0\n"
		  "3 slice execution=3:1" },
		{ "and it ended there",
		  HERE ASKED("3:1", "burst",
		             "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                        "1100 sched_preempt exec=3:1 by=6:1 lane=0 asked_ns=2000\n"
		                        "1400 exec_end exec=3:1 lane=0 status=missed_deadline_transient\n" ANSWERED(
						"3:1", "result"),
		  "execution id=3:1 phase=10,20,10,0,20,5,35,300,10,40,10,0 preemptions=1 quality=complete\n"
		  "preemption execution=3:1 by=6:1 asked=- stopped=1100 resumed=-" },
		{ "nobody is said to have made it",
		  HERE ASKED("3:1", "burst", "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                                        "1100 sched_preempt exec=3:1 lane=0\n"
		                                        "1120 sched_resume exec=3:1 lane=0\n"
		                                        "1400 exec_end exec=3:1 lane=0\n" ANSWERED("3:1", "result"),
		  "execution id=3:1 run=315 preempted=20\n"
		  "preemption execution=3:1 by=none asked=1100 stopped=1100 resumed=1120" },
		{ "a resumption that nobody saw: how long it ran is unknown",
		  HERE ASKED("3:1", "burst", "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                                        "1100 sched_preempt exec=3:1 lane=0\n"
		                                        "1400 exec_end exec=3:1 lane=0\n" ANSWERED("3:1", "result"),
		  "execution id=3:1 phase=10,20,10,0,20,5,-,-,10,40,10,0 run=- preempted=- e2e=460 quality=gap "
		  "lane=-1\n"
		  "preemption execution=3:1 stopped=1100 resumed=-" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

#define LATE_BY(end) ASKED("3:1", "burst", "request") RAN("3:1") end

static void a_miss_is_predicted_aborted_or_late(void **state)
{
	static const struct fold_row rows[] = {
		{ "late: the answer came after the deadline",
		  HERE ASKED("3:1", "burst", "request") RAN("3:1") "1990 fmq_write exec=3:1 queue=result\n"
		                                                   "1995 fmq_read exec=3:1 queue=result\n"
		                                                   "2007 exec_return exec=3:1\n",
		  "execution id=3:1 miss=late lateness=7 missed_at=-\n"
		  "no deadline_missed" },
		{ "in time, to the ns",
		  HERE ASKED("3:1", "burst", "request") RAN("3:1") "1990 fmq_write exec=3:1 queue=result\n"
		                                                   "1995 fmq_read exec=3:1 queue=result\n"
		                                                   "2000 exec_return exec=3:1\n",
		  "execution id=3:1 miss=none lateness=0" },
		{ "late, as the service says; the app had it in time",
		  HERE ASKED("3:1", "burst", "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                                        "1400 deadline_miss exec=3:1 model=2 kind=late stage=done "
		                                        "deadline_ns=2000 over_ns=3\n"
		                                        "1401 exec_end exec=3:1 lane=0\n" ANSWERED("3:1", "result"),
		  "execution id=3:1 miss=none missed_at=1400\n"
		  "deadline_missed execution=3:1 at=1400 deadline=2000 estimate=- over=3 model=2/net kind=2 stage=4" },
		{ "late, and nobody saw the app have it: by the answer",
		  HERE LATE_BY("2300 fmq_write exec=3:1 queue=result\n"),
		  "execution id=3:1 miss=late lateness=300 quality=open" },
		{ "late, and nobody saw an answer: by the end of its run",
		  HERE ASKED("3:1", "burst", "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                                        "2400 exec_end exec=3:1 lane=0\n",
		  "execution id=3:1 miss=late lateness=400 quality=open" },
		{ "late: a fence that was signalled after the deadline",
		  HERE ASKED("5:1", "fenced", "call_request") "1045 fmq_write exec=5:1 queue=call_result\n"
		                                              "1050 fmq_read exec=5:1 queue=call_result\n"
		                                              "1055 exec_return exec=5:1\n"
		                                              "1057 fence_wait exec=5:1 fences=1\n" RAN(
								      "5:1") "2001 fence_signal exec=5:1\n",
		  "execution id=5:1 miss=late lateness=1" },
		{ "predicted: given up before its deadline",
		  HERE ASKED("3:1", "burst",
		             "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low deadline_ns=2000\n"
		                        "1390 deadline_miss exec=3:1 kind=transient stage=queue deadline_ns=2000 "
		                        "over_ns=120\n" SAYS_NO("3:1", "missed_deadline_transient", "result"),
		  "execution id=3:1 miss=predicted lateness=120 missed_at=1390" },
		{ "predicted: given up before its deadline, but the thread lost its cpu before it emitted the event",
		  HERE ASKED("3:1", "burst",
		             "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low deadline_ns=2000\n"
		                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                        "2094 deadline_miss exec=3:1 kind=transient stage=running deadline_ns=2000 "
		                        "over_ns=-428\n"
		                        "2100 exec_end exec=3:1 lane=0 status=missed_deadline_transient\n"
		                        "2120 fmq_write exec=3:1 queue=result\n"
		                        "2130 fmq_read exec=3:1 queue=result\n"
		                        "2140 exec_return exec=3:1 status=missed_deadline_transient\n",
		  "execution id=3:1 miss=predicted lateness=-428 missed_at=2094 status=5" },
		{ "aborted: given up after its deadline",
		  HERE ASKED("3:1", "burst",
		             "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low deadline_ns=2000\n"
		                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                        "2000 deadline_miss exec=3:1 kind=transient stage=running deadline_ns=2000 "
		                        "over_ns=1\n"
		                        "2010 exec_end exec=3:1 lane=0 status=missed_deadline_persistent\n"
		                        "2020 fmq_write exec=3:1 queue=result\n"
		                        "2030 fmq_read exec=3:1 queue=result\n"
		                        "2040 exec_return exec=3:1 status=missed_deadline_persistent\n",
		  "execution id=3:1 miss=aborted lateness=1 missed_at=2000 status=6" },
		{ "its status says so, and nobody else: aborted",
		  HERE ASKED("3:1", "burst",
		             "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                        "2010 exec_end exec=3:1 lane=0 status=missed_deadline_transient\n"
		                        "2020 fmq_write exec=3:1 queue=result\n"
		                        "2030 fmq_read exec=3:1 queue=result\n"
		                        "2040 exec_return exec=3:1 status=missed_deadline_transient\n",
		  "execution id=3:1 miss=aborted lateness=10 missed_at=-" },
		{ "its status says so, and nobody else: predicted",
		  HERE ASKED("3:1", "burst", "request") SAYS_NO("3:1", "missed_deadline_transient", "result"),
		  "execution id=3:1 miss=predicted lateness=-600 missed_at=-" },
		{ "a loop took too long, and there is no deadline: no miss",
		  HERE "1000 exec_submit exec=3:1 model=2 path=burst\n"
		       "1010 fmq_write exec=3:1 queue=request\n"
		       "1030 fmq_read exec=3:1 queue=request\n"
		       "1040 request_decode exec=3:1 model=2\n" SAYS_NO("3:1", "missed_deadline_transient", "result"),
		  "execution id=3:1 miss=none lateness=0 status=5" },
		{ "failed, after its deadline: no miss",
		  HERE ASKED("3:1", "burst", "request") "2400 exec_end exec=3:1 lane=255 status=general_failure\n"
		                                        "2420 fmq_write exec=3:1 queue=result\n"
		                                        "2430 fmq_read exec=3:1 queue=result\n"
		                                        "2440 exec_return exec=3:1 status=general_failure\n",
		  "execution id=3:1 miss=none lateness=0 status=2" },
		{ "no deadline, no miss",
		  HERE "1000 exec_submit exec=3:1 model=2 path=burst\n"
		       "9000 exec_return exec=3:1\n",
		  "execution id=3:1 deadline=0 miss=none" },
		{ "a model that was not prepared in time is no execution's miss",
		  HERE "10 deadline_miss kind=persistent stage=prepare deadline_ns=8 over_ns=2\n",
		  "deadline_missed execution=none at=10 deadline=8 over=2 model=none kind=1 stage=0\n"
		  "no execution" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* A later event of another burst: by its time the fold has gone on. */
#define ANOTHER "2500 exec_submit exec=4:1 path=sync\n"

/* As RAN and ANSWERED, but late. */
#define RAN_LATE(x)                                                                                      \
	"<1060 sched_enqueue exec=" x " model=2 app=20 priority=high deadline_ns=2000 estimate_ns=300\n" \
	"<1065 sched_dispatch exec=" x " lane=0\n"                                                       \
	"<1400 exec_end exec=" x " lane=0 cpu_ns=300\n"                                                  \
	"<1410 fmq_write exec=" x " queue=result\n"
#define HEARD_LATE(x)                              \
	"<1450 fmq_read exec=" x " queue=result\n" \
	"<1460 exec_return exec=" x "\n"

static void an_event_that_comes_late_was_at_its_own_time(void **state)
{
	static const struct fold_row rows[] = {
		{ "the app had its answer in time, and the record of it comes late",
		  HERE ASKED("3:1", "burst", "request")
		          RAN("3:1") "1410 fmq_write exec=3:1 queue=result\n" ANOTHER HEARD_LATE("3:1"),
		  "execution id=3:1 miss=none lateness=0 e2e=460 quality=complete "
		  "phase=10,20,10,0,20,5,335,0,10,40,10,0" },
		{ "all that the app says comes late",
		  HERE "20 exec_submit exec=6:1 path=async\n"
		       "1030 fmq_read exec=3:1 queue=request\n"
		       "1040 request_decode exec=3:1 model=2\n" RAN(
			       "3:1") "1410 fmq_write exec=3:1 queue=result\n" ANOTHER
		                      "<1000 exec_submit exec=3:1 model=2 path=burst deadline_ns=2000\n"
		                      "<1010 fmq_write exec=3:1 queue=request\n" HEARD_LATE("3:1"),
		  "execution id=3:1 miss=none lateness=0 e2e=460 quality=complete "
		  "phase=10,20,10,0,20,5,335,0,10,40,10,0" },
		{ "what the service says of a lane comes late: it is so, and lanes are unknown meanwhile",
		  HERE ASKED("3:1", "burst", "request") ANOTHER RAN_LATE("3:1") HEARD_LATE("3:1"),
		  "execution id=3:1 miss=none lateness=0 e2e=460 quality=gap run=335 queue=5\n"
		  "unknown_lane began=1060 ended=2500" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void each_slot_that_was_not_known_says_what_it_cost(void **state)
{
	static const struct fold_row rows[] = {
		{ "two of three, fetched at once",
		  HERE ASKED("3:1", "burst",
		             "request") "1041 slot_lookup exec=3:1 slot=4 hit=0\n"
		                        "1042 slot_lookup exec=3:1 slot=5 hit=1\n"
		                        "1043 slot_lookup exec=3:1 slot=-6 hit=0\n"
		                        "1050 slot_fetch exec=3:1 stream=3 slots=2 took_ns=7\n"
		                        "1052 pool_map owner=stream owner_id=3 slot=-6 bytes=64 took_ns=2\n"
		                        "1055 pool_map owner=stream owner_id=3 slot=4 bytes=4096 took_ns=3\n" RAN("3:1")
		                                ANSWERED("3:1", "result"),
		  "execution id=3:1 lookups=3 misses=2 cold=1\n"
		  "2 slot_missed\n"
		  "slot_missed execution=3:1 at=1041 slot=4 fetch_ns=7 map_ns=3\n"
		  "slot_missed execution=3:1 at=1043 slot=-6 fetch_ns=7 map_ns=2\n"
		  "3 lookup\n"
		  "lookup execution=3:1 at=1042 slot=5 hit=1\n"
		  "stream number=3 executions=1 cold=1 first=1000\n" },
		{ "looked up again, or by the client, they are not slots of the request",
		  HERE "1000 exec_submit exec=3:1 model=2 path=burst\n"
		       "1001 slot_lookup exec=3:1 slot=4 hit=0 look=client\n"
		       "1010 fmq_write exec=3:1 queue=request\n1030 fmq_read exec=3:1 queue=request\n"
		       "1040 request_decode exec=3:1 model=2\n"
		       "1041 slot_lookup exec=3:1 slot=4 hit=0 look=refused\n"
		       "1042 slot_lookup exec=3:1 slot=4 hit=1\n"
		       "1043 slot_lookup exec=3:1 slot=4 hit=0 look=again\n"
		       "1044 slot_lookup exec=3:1 slot=4 hit=0 look=9\n" RAN("3:1") ANSWERED("3:1", "result"),
		  "execution id=3:1 lookups=1 misses=0 cold=0\n"
		  "0 slot_missed\n"
		  "4 lookup\n"
		  "lookup execution=3:1 at=1001 slot=4 hit=0 look=3\n"
		  "lookup execution=3:1 at=1041 slot=4 hit=0 look=2\n"
		  "lookup execution=3:1 at=1042 slot=4 hit=1 look=0\n"
		  "lookup execution=3:1 at=1043 slot=4 hit=0 look=1\n" },
		{ "one that is mapped for this execution only",
		  HERE ASKED(
			  "3:1", "burst",
			  "request") "1041 slot_lookup exec=3:1 slot=4 hit=0\n"
		                     "1055 pool_map owner=exec owner_id=0x300000001 slot=4 bytes=4096 took_ns=3\n" RAN(
					     "3:1") ANSWERED("3:1", "result"),
		  "slot_missed execution=3:1 at=1041 slot=4 fetch_ns=- map_ns=3" },
		{ "what is mapped later is another's",
		  HERE ASKED("3:1", "burst", "request") "1041 slot_lookup exec=3:1 slot=4 hit=0\n" RAN(
			  "3:1") "1405 pool_map owner=stream owner_id=3 slot=4 bytes=4096 took_ns=3\n" ANSWERED("3:1",
		                                                                                                "resul"
		                                                                                                "t"),
		  "slot_missed execution=3:1 at=1041 slot=4 fetch_ns=- map_ns=-" },
		{ "all were known",
		  HERE ASKED("3:1", "burst", "request") "1041 slot_lookup exec=3:1 slot=4 hit=1\n" RAN("3:1")
		          ANSWERED("3:1", "result"),
		  "execution id=3:1 lookups=1 misses=0 cold=0\n"
		  "no slot_missed\n"
		  "stream number=3 executions=1 cold=0\n" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* Trial runs of the models that the app has prepared. */
#define TRIALS "8 stream_open stream=7 conn=1 path=prepare\n"
#define TRIAL "1000 sched_enqueue exec=7:1 model=8 app=20 priority=low\n1010 sched_dispatch exec=7:1 lane=0\n"
#define PREPARED "1900 model_prepare model=8 conn=1 name=new priority=low step_ns=30 took_ns=1000\n"

static void a_trial_run_holds_a_lane_as_its_apps(void **state)
{
	static const struct fold_row rows[] = {
		{ "it is ready when it begins, is over when it ends, and takes no time from end to end",
		  HERE TRIALS TRIAL "1100 exec_end exec=7:1 lane=0\n" PREPARED,
		  "1 execution\nexecution id=7:1 path=4 quality=complete sides=service status=0 e2e=- run=90 queue=10 "
		  "phase=0,0,0,0,0,10,90,0,0,0,0,0 app=20/camera model=8/new miss=none cold=-1 lane=0 preemptions=0\n"
		  "share app=20/camera received=100\nleft absurd=0 stragglers=0" },
		{ "who waits for its lane waits for it",
		  HERE TRIALS TRIAL "1020 sched_enqueue exec=3:1 model=2 app=20 priority=high\n"
		                    "1100 exec_end exec=7:1 lane=0\n1105 sched_dispatch exec=3:1 lane=0\n",
		  "wait execution=3:1 began=1020 ended=1100 occupancy=0 blocker=7:1\n"
		  "interfered by=20/camera app=20/camera ns=80" },
		{ "it makes room, and others do for it",
		  HERE TRIALS TRIAL "1020 sched_enqueue exec=3:1 model=2 app=20 priority=high\n"
		                    "1030 sched_preempt exec=7:1 by=3:1 lane=0\n1031 sched_dispatch exec=3:1 lane=0\n"
		                    "1040 sched_preempt exec=3:1 by=7:1 lane=0\n1042 sched_resume exec=7:1 lane=0\n"
		                    "1100 exec_end exec=7:1 lane=0\n",
		  "preemption execution=7:1 by=3:1 stopped=1030 resumed=1042\npreemption execution=3:1 by=7:1 "
		  "stopped=1040\n"
		  "execution id=7:1 quality=complete run=78 preempted=12" },
		{ "it waits until its time is over: that is no missed deadline",
		  HERE TRIALS "1000 sched_enqueue exec=7:1 model=8 app=20 priority=low\n"
		              "1100 exec_end exec=7:1 lane=255 status=missed_deadline_transient\n" PREPARED,
		  "execution id=7:1 quality=complete phase=0,0,0,0,0,100,0,0,0,0,0,0 miss=none\n"
		  "wait execution=7:1 began=1000 ended=1100" },
		{ "the recording begins while it is on its lane",
		  HERE TRIALS "1050 exec_state exec=7:1 model=8 app=20 priority=low path=prepare phase=running lane=0 "
		              "since=1050\n1100 exec_end exec=7:1 lane=0\n",
		  "execution id=7:1 path=4 quality=head run=- e2e=-" },
		{ "the recording ends while it is", HERE TRIALS TRIAL "1100 performance_hold on=1\n",
		  "execution id=7:1 path=4 quality=open e2e=-" },
		{ "the events of a request are no part of a trial run",
		  HERE TRIALS "990 fmq_read exec=7:1 queue=call_request\n" TRIAL "1100 exec_end exec=7:1 lane=0\n"
		              "1110 fmq_write exec=7:1 queue=call_result\n",
		  "execution id=7:1 path=4 quality=complete e2e=- run=90\nleft absurd=1 stragglers=1" },
		{ "the decoding of a request is no part of a trial run, and adds no time to it",
		  HERE TRIALS "900 request_decode exec=7:1 model=8\n" TRIAL "1100 exec_end exec=7:1 lane=0\n",
		  "execution id=7:1 path=4 quality=complete phase=0,0,0,0,0,10,90,0,0,0,0,0\nleft absurd=1" },
		{ "an execution that an app asked for is no trial run, whatever its stream says",
		  HERE "8 request_decode exec=7:1 model=8\n" TRIALS TRIAL "1100 exec_end exec=7:1 lane=0\n",
		  "execution id=7:1 path=255 run=90" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void a_duration_makes_the_deadline_earlier(void **state)
{
	static const struct fold_row rows[] = {
		{ "the service says by when, once the fences are signalled",
		  HERE "1000 exec_submit exec=5:1 path=fenced model=2 deadline_ns=9000 duration_ns=100\n"
		       "1040 fence_wait exec=5:1 fences=1\n"
		       "1060 sched_enqueue exec=5:1 model=2 app=20 priority=high deadline_ns=1138\n"
		       "1065 sched_dispatch exec=5:1 lane=0\n"
		       "1199 deadline_miss exec=5:1 model=2 kind=late stage=done deadline_ns=1138 over_ns=60\n"
		       "1200 exec_end exec=5:1 lane=0\n"
		       "1209 deadline_miss exec=5:1 model=2 kind=late stage=returned deadline_ns=1138 over_ns=70\n"
		       "1210 fence_signal exec=5:1\n",
		  "execution id=5:1 deadline=1138 duration=100 miss=late lateness=72 missed_at=1199\n2 "
		  "deadline_missed" },
		{ "one that is late by its way back alone",
		  HERE ASKED("3:1", "burst", "request") RAN("3:1") "2010 fmq_write exec=3:1 queue=result\n"
		                                                   "2020 fmq_read exec=3:1 queue=result\n"
		                                                   "2029 deadline_miss exec=3:1 model=2 kind=late "
		                                                   "stage=returned deadline_ns=2000 over_ns=28\n"
		                                                   "2030 exec_return exec=3:1\n",
		  "execution id=3:1 deadline=2000 duration=0 miss=late lateness=30 quality=complete missed_at=2029\n"
		  "deadline_missed execution=3:1 stage=5 over=28\nleft stragglers=0" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void a_preparation_that_is_late_says_so(void **state)
{
	static const struct fold_row rows[] = {
		{ "one that is there, and later than it was to be",
		  HERE "1900 model_prepare model=8 conn=1 name=new deadline_ns=1500 took_ns=1000\n"
		       "1901 deadline_miss exec=0 model=8 kind=late stage=prepare deadline_ns=1500 over_ns=400\n",
		  "deadline_missed execution=none model=8/new kind=2 stage=0 deadline=1500 over=400" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void executions_are_told_apart_by_their_numbers(void **state)
{
	static const struct fold_row rows[] = {
		{ "two of one fenced stream, the second is over first",
		  HERE "1000 exec_submit exec=5:1 path=fenced model=2\n"
		       "1001 fmq_write exec=5:1 queue=call_request\n"
		       "1002 fmq_read exec=5:1 queue=call_request\n"
		       "1003 request_decode exec=5:1 model=2\n"
		       "1004 fmq_write exec=5:1 queue=call_result\n"
		       "1005 fmq_read exec=5:1 queue=call_result\n"
		       "1006 exec_return exec=5:1\n"
		       "1010 exec_submit exec=5:2 path=fenced model=2\n"
		       "1011 fmq_write exec=5:2 queue=call_request\n"
		       "1012 fmq_read exec=5:2 queue=call_request\n"
		       "1013 request_decode exec=5:2 model=2\n"
		       "1014 fmq_write exec=5:2 queue=call_result\n"
		       "1015 fmq_read exec=5:2 queue=call_result\n"
		       "1016 exec_return exec=5:2\n"
		       "1020 fence_wait exec=5:2\n"
		       "1021 sched_enqueue exec=5:2 model=2 app=20 priority=medium\n"
		       "1022 sched_dispatch exec=5:2 lane=0\n"
		       "1030 exec_end exec=5:2 lane=0\n"
		       "1031 fence_signal exec=5:2\n"
		       "1040 fence_wait exec=5:1\n"
		       "1041 sched_enqueue exec=5:1 model=2 app=20 priority=medium\n"
		       "1042 sched_dispatch exec=5:1 lane=0\n"
		       "1050 exec_end exec=5:1 lane=0\n"
		       "1051 fence_signal exec=5:1\n",
		  "execution id=5:1 phase=1,1,1,37,1,1,8,0,0,0,0,1 e2e=51 quality=complete\n"
		  "execution id=5:2 phase=1,1,1,7,1,1,8,0,0,0,0,1 e2e=21 quality=complete\n"
		  "stream number=5 executions=2\n"
		  "left stragglers=0 absurd=0" },
		{ "calls that threads make at a time, each waiting for its own: nothing shows that the first one is "
		  "over",
		  HERE "1000 exec_submit exec=4:1 path=sync model=2\n"
		       "1001 exec_submit exec=4:2 path=sync model=2\n"
		       "1002 exec_submit exec=4:3 path=sync model=2\n"
		       "1003 exec_submit exec=4:4 path=sync model=2\n"
		       "1010 exec_return exec=4:4\n"
		       "1011 exec_return exec=4:1\n",
		  "execution id=4:4 e2e=7 sides=client\n"
		  "execution id=4:1 e2e=11 sides=client\n"
		  "execution id=4:2 quality=open\n"
		  "execution id=4:3 quality=open\n"
		  "left stragglers=0" },
		{ "two services that count alike: all of their numbers differ in their upper bits",
		  "1 service_state pid=9 instance=1 lanes=1\n"
		  "1 service_state pid=10 instance=2 lanes=1\n"
		  "2 client_connect conn=0x100001 pid=20 uid=1 app=20 name=a\n"
		  "2 client_connect conn=0x200001 pid=20 uid=1 app=20 name=a\n"
		  "4 stream_open stream=0x100003 conn=0x100001 path=sync\n"
		  "4 stream_open stream=0x200003 conn=0x200001 path=sync\n"
		  "10 exec_submit exec=0x100003:1 path=sync model=0x100002\n"
		  "11 exec_submit exec=0x200003:1 path=sync model=0x200002\n"
		  "20 exec_return exec=0x200003:1\n"
		  "30 exec_return exec=0x100003:1\n",
		  "2 execution\n"
		  "execution id=1048579:1 stream=1048579 model=1048578/\n"
		  "execution id=2097155:1 stream=2097155 model=2097154/\n"
		  "2 app key=20 name=a\n"
		  "2 process pid=20 role=0\n"
		  "2 process role=1" },
		{ "what is no number of an execution is none",
		  HERE "1000 exec_submit exec=0 path=sync\n"
		       "1001 exec_return exec=0:5\n"
		       "1002 fmq_write exec=4:0 queue=call_request\n"
		       "1003 fmq_write exec=4:1 queue=9\n",
		  "no execution\n"
		  "left unusable=3 absurd=1" },
		{ "a boundary that comes twice holds when it came first",
		  HERE BURST "1461 exec_submit exec=3:2 model=2 path=burst\n"
		             "1462 exec_submit exec=3:2 model=2 path=burst\n"
		             "1470 exec_return exec=3:2\n",
		  "execution id=3:2 e2e=9\n"
		  "left absurd=1" },
		{ "a boundary before one that it has to follow never was",
		  HERE "1000 exec_submit exec=3:1 model=2 path=burst\n"
		       "1010 fmq_read exec=3:1 queue=request\n"
		       "1020 fmq_write exec=3:1 queue=request\n"
		       "1040 request_decode exec=3:1 model=2\n" RAN("3:1") ANSWERED("3:1", "result"),
		  "execution id=3:1 at=1000,1020,-,1040,-,1060,1065,1400,1410,1450,1460,- "
		  "phase=20,-,-,0,20,5,335,0,10,40,10,0 quality=gap\n"
		  "left absurd=1" },
		{ "what an execution is of: who sends it to a lane knows best",
		  HERE "10 client_connect conn=2 pid=30 uid=1 app=30 name=other\n"
		       "11 model_prepare model=7 conn=2 name=slow priority=low\n"
		       "1000 exec_submit exec=4:1 model=2 path=sync\n"
		       "1040 request_decode exec=4:1 model=7\n"
		       "1060 sched_enqueue exec=4:1 model=7 app=30 priority=medium\n"
		       "1065 request_decode exec=4:1 model=2\n"
		       "1500 exec_return exec=4:1\n",
		  "execution id=4:1 model=7/slow app=30/other priority=1" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void operations_begin_where_the_one_before_ended(void **state)
{
	static const struct fold_row rows[] = {
		{ "and again where it goes on",
		  HERE ASKED("3:1", "burst", "request") "1060 sched_enqueue exec=3:1 model=2 app=20 priority=low\n"
		                                        "1065 sched_dispatch exec=3:1 lane=0\n"
		                                        "1080 op_end exec=3:1 op=0 type=7\n"
		                                        "1081 checkpoint exec=3:1 op=1\n"
		                                        "1100 op_end exec=3:1 op=1 type=9\n"
		                                        "1101 sched_preempt exec=3:1 lane=0 at_op=2\n"
		                                        "1200 sched_resume exec=3:1 lane=0 from_op=2 resumed=resume\n"
		                                        "1250 op_end exec=3:1 op=2 type=7\n"
		                                        "1400 exec_end exec=3:1 lane=0\n" ANSWERED("3:1", "result"),
		  "3 operation\n"
		  "operation execution=3:1 op=0 type=7 began=1065 ended=1080\n"
		  "operation execution=3:1 op=1 type=9 began=1080 ended=1100\n"
		  "operation execution=3:1 op=2 type=7 began=1200 ended=1250" },
		{ "of one whose beginning was not seen only the first one's is unknown",
		  HERE "1080 op_end exec=3:1 op=3 type=7\n"
		       "1100 op_end exec=3:1 op=4 type=9\n",
		  "operation execution=3:1 op=3 began=- ended=1080\n"
		  "operation execution=3:1 op=4 began=1080 ended=1100" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_tile_from_the_apps_call_to_its_answer),
		cmocka_unit_test(time_off_its_lane_is_preempted_time),
		cmocka_unit_test(a_miss_is_predicted_aborted_or_late),
		cmocka_unit_test(an_event_that_comes_late_was_at_its_own_time),
		cmocka_unit_test(each_slot_that_was_not_known_says_what_it_cost),
		cmocka_unit_test(a_trial_run_holds_a_lane_as_its_apps),
		cmocka_unit_test(a_duration_makes_the_deadline_earlier),
		cmocka_unit_test(a_preparation_that_is_late_says_so),
		cmocka_unit_test(executions_are_told_apart_by_their_numbers),
		cmocka_unit_test(operations_begin_where_the_one_before_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
