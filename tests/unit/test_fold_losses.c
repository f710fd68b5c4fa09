/* test_fold_losses.c -- what was not seen: losses, beginnings, ends, stragglers, more than can be kept. */
#include "unit/fold_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Boundaries of a burst's execution, one by one. */
#define SUBMIT "1000 exec_submit exec=3:1 model=2 path=burst deadline_ns=9000\n"
#define WRITE "1010 fmq_write exec=3:1 queue=request\n"
#define READ "1030 fmq_read exec=3:1 queue=request\n"
#define DECODE "1040 request_decode exec=3:1 model=2\n"
#define LOOKUP "1050 slot_lookup exec=3:1 slot=1 hit=1\n"
#define ENQUEUE "1060 sched_enqueue exec=3:1 model=2 app=20 priority=high\n"
#define DISPATCH "1065 sched_dispatch exec=3:1 lane=0\n"
#define END "1400 exec_end exec=3:1 lane=0\n"
#define REFUSED "1400 exec_end exec=3:1 lane=255 status=general_failure\n"
#define ANSWER "1410 fmq_write exec=3:1 queue=result\n"
#define HEAR "1450 fmq_read exec=3:1 queue=result\n"
#define RETURN "1460 exec_return exec=3:1\n"
#define FAILURE "1460 exec_return exec=3:1 status=general_failure\n"
#define ASKED SUBMIT WRITE READ DECODE LOOKUP
#define RAN ENQUEUE DISPATCH END
#define ANSWERED ANSWER HEAR RETURN

/* Another execution of the app, of lower priority, has the only lane. */
#define HELD                                                       \
	"990 sched_enqueue exec=5:1 model=2 app=20 priority=low\n" \
	"991 sched_dispatch exec=5:1 lane=0\n"

static void a_loss_hides_what_it_touches_and_nothing_else(void **state)
{
	static const struct fold_row rows[] = {
		{ "before all of it", HERE "900 loss ended=999 events=3 packets=1 cpu=2 pid=7\n" ASKED RAN ANSWERED,
		  "execution id=3:1 quality=complete phase=10,20,10,0,20,5,335,0,10,40,10,0 lane=0\n"
		  "lost began=900 ended=999 events=3 packets=1 trace=1 cpu=2 pid=7" },
		{ "after all of it", HERE ASKED RAN ANSWERED "1461 loss ended=1500\n",
		  "execution id=3:1 quality=complete phase=10,20,10,0,20,5,335,0,10,40,10,0 lane=0" },
		{ "within it, though nothing of it is missing: that is not known",
		  HERE SUBMIT WRITE "1012 loss ended=1020\n" READ DECODE LOOKUP RAN ANSWERED,
		  "execution id=3:1 quality=gap phase=10,20,10,0,20,5,335,0,10,40,10,0 e2e=460" },
		{ "a boundary between two phases: both are unknown",
		  HERE SUBMIT WRITE "1012 loss ended=1035\n" DECODE LOOKUP RAN ANSWERED,
		  "execution id=3:1 quality=gap phase=10,-,-,0,20,5,335,0,10,40,10,0 e2e=460" },
		{ "while it ran, which may hide a preemption",
		  HERE ASKED ENQUEUE DISPATCH "1100 loss ended=1200\n" END ANSWERED,
		  "execution id=3:1 quality=gap phase=10,20,10,0,20,5,-,-,10,40,10,0 run=- preempted=- lane=-1\n"
		  "no slice" },
		{ "a preemption that only its work done again tells of",
		  HERE ASKED ENQUEUE DISPATCH "1400 exec_end exec=3:1 lane=0 redo_ns=35\n" ANSWERED,
		  "execution id=3:1 quality=gap phase=10,20,10,0,20,5,-,-,10,40,10,0 run=- preempted=- lane=-1 "
		  "redo=35" },
		{ "its dispatch", HERE ASKED ENQUEUE "1061 loss ended=1070\n" END ANSWERED,
		  "execution id=3:1 quality=gap phase=10,20,10,0,20,-,-,-,10,40,10,0 lane=-1 idle=0\n"
		  "no wait occupancy=0\nno wait occupancy=1" },
		{ "its end on the lane", HERE ASKED ENQUEUE DISPATCH "1390 loss ended=1405\n" ANSWERED,
		  "execution id=3:1 quality=gap phase=10,20,10,0,20,5,-,-,-,40,10,0 e2e=460 lane=-1" },
		{ "its beginning", HERE "990 loss ended=1020\n" READ DECODE LOOKUP RAN ANSWERED,
		  "execution id=3:1 quality=gap phase=-,-,10,0,20,5,335,0,10,40,10,0 e2e=- sides=both" },
		{ "its end: what is there is known",
		  HERE ASKED RAN "1401 loss ended=1500\n"
		                 "2000 exec_submit exec=3:2 model=2 path=burst\n"
		                 "2001 exec_submit exec=3:3 model=2 path=burst\n",
		  "execution id=3:1 quality=tail phase=10,20,10,0,20,5,335,0,-,-,-,0 e2e=- lane=0" },
		{ "its end, and with it that of the trace: not that it goes on",
		  HERE ASKED RAN "1401 loss ended=1500\n", "execution id=3:1 quality=tail" },
		{ "what came before it was refused: nobody knows what it had come to",
		  HERE ASKED "1100 loss ended=1200\n" REFUSED ANSWER HEAR FAILURE,
		  "execution id=3:1 quality=gap phase=10,20,10,0,-,-,-,-,10,40,10,0 e2e=460" },
		{ "while its slots were looked up: nobody knows whether one was missed",
		  HERE SUBMIT WRITE READ DECODE "1045 loss ended=1050\n" RAN ANSWERED,
		  "execution id=3:1 quality=gap cold=-1" },
		{ "after a lookup that missed, which stays one",
		  HERE SUBMIT WRITE READ DECODE
		  "1041 slot_lookup exec=3:1 slot=4 hit=0\n1045 loss ended=1050\n" RAN ANSWERED,
		  "execution id=3:1 quality=gap cold=1 misses=- lookups=-" },
		{ "an end that is before its beginning is at its beginning",
		  HERE "900 loss ended=7\n" ASKED RAN ANSWERED,
		  "lost began=900 ended=900 events=0\nexecution id=3:1 quality=complete" },
		{ "two at once, of two traces",
		  HERE SUBMIT
		  "1001 loss ended=1900 trace=2 events=-\n1002 loss ended=1003 trace=1 events=7\n" WRITE READ DECODE RAN
		          ANSWERED,
		  "2 lost\nlost trace=2 events=- began=1001\nlost trace=1 events=7 ended=1003\nexecution quality=gap" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* Summaries of both sides. */
#define SERVED                                                                                                       \
	"1412 exec_service exec=3:1 model=2 app=20 priority=high path=burst lane=0 began=1030 at=10,-,30,35,370,380" \
	",0,0,0,- lookups=1"
#define ASKS "1461 exec_client exec=3:1 model=2 path=burst deadline_ns=9000 began=1000 at=10,450,460,0\n"

/* Times that no packet covers: whether they hid anything is for the events beside them to tell. */
static void a_time_without_packets_is_a_hole_only_if_it_hides_something(void **state)
{
	static const struct fold_row rows[] = {
		{ "a ring that begins when another stream has events already",
		  "0 loss ended=1020 events=- packets=- cpu=1 cause=head\n" HERE ASKED RAN ANSWERED,
		  "1 lost\nlost began=0 ended=1020 events=- packets=- cpu=1 cause=2\nexecution quality=gap" },
		{ "a ring whose beginning is before all events",
		  "0 loss ended=1 cpu=1 cause=head\n" HERE ASKED RAN ANSWERED, "no lost\nexecution quality=complete" },
		{ "two rings, of which one begins after the first event",
		  "0 loss ended=1 cpu=0 cause=head\n0 loss ended=2 cpu=1 cause=head\n" HERE ASKED RAN ANSWERED,
		  "1 lost\nlost cpu=1 ended=2\nexecution quality=complete" },
		{ "a stream that ends when another one of its trace goes on",
		  HERE ASKED "1055 loss ended=1460 events=- packets=- cpu=1 cause=tail\n" RAN ANSWERED,
		  "1 lost\nlost began=1055 ended=1460 cause=4\nexecution quality=gap" },
		{ "a stream that ends with the last event",
		  HERE ASKED RAN ANSWERED "1460 loss ended=1500 cpu=1 cause=tail\n",
		  "no lost\nexecution quality=complete" },
		{ "a stream of a process that has ended, and only others go on",
		  HERE ASKED "1055 loss ended=1060 cpu=1 trace=2 cause=tail\n" RAN ANSWERED,
		  "no lost\nexecution quality=complete" },
		{ "a stop: the service tells again what there is",
		  HERE ASKED ENQUEUE "1061 loss ended=1063 events=- packets=- cpu=- cause=gap\n1064 service_state "
		                     "pid=9 lanes=1 since=1\n" DISPATCH END ANSWERED,
		  "1 lost\nlost began=1061 ended=1063 events=- packets=- cpu=4294967295 cause=3\nexecution "
		  "quality=gap" },
		{ "a stop: before it is told again an execution ends",
		  HERE ASKED ENQUEUE DISPATCH "1100 loss ended=1399 cpu=- cause=gap\n" END
		                              "1401 stream_open stream=4 conn=1 path=sync since=5\n" ANSWERED,
		  "1 lost\nlost began=1066 ended=1399\nexecution quality=gap run=- lane=-1" },
		{ "a stop: the service is silent before it, and after it, while a client is heard",
		  HERE HELD ASKED ENQUEUE
		  "1070 exec_submit exec=7:1 path=sync\n1100 loss ended=1200 cpu=- cause=gap\n"
		  "1210 exec_submit exec=8:1 path=sync\n1250 service_state pid=9 lanes=1 since=1\n"
		  "1300 sched_dispatch exec=3:1 lane=0\n",
		  "1 lost\nlost began=1061 ended=1249\nunknown_lane lane=0 began=991 ended=1249\n"
		  "no wait execution=3:1 occupancy=1 began=1061\nno wait execution=3:1 occupancy=0 ended=1300" },
		{ "a stop: the service tells of a wait that began in it, after a lane was heard of: who had that then "
		  "is unknown",
		  HERE HELD "1100 loss ended=1200 cpu=- cause=gap\n1205 sched_dispatch exec=7:1 lane=0\n"
		            "1210 service_state pid=9 lanes=1 since=1\n1211 exec_state exec=3:1 model=2 app=20 "
		            "priority=high path=burst phase=queued since=1211 ready_ns=1150\n"
		            "1300 exec_end exec=7:1 lane=0\n1305 sched_dispatch exec=3:1 lane=0\n",
		  "1 lost\nwait execution=3:1 began=1150 ended=1205 occupancy=2\n"
		  "wait execution=3:1 began=1205 ended=1300 occupancy=0\n"
		  "wait execution=3:1 began=1300 ended=1305 occupancy=1" },
		{ "a flush while nothing happens: the service takes the next request and tells nothing again",
		  HERE SUBMIT WRITE "1012 loss ended=1030 cpu=- cause=gap\n" READ DECODE LOOKUP RAN ANSWERED,
		  "no lost\nexecution quality=complete" },
		{ "a flush before the client leaves, and nothing is told again",
		  HERE ASKED ENQUEUE DISPATCH "1100 loss ended=1399 cpu=- cause=gap\n" END ANSWERED
		                              "1500 client_disconnect conn=1\n",
		  "no lost\nexecution quality=complete" },
		{ "two flushes, and then a request",
		  HERE SUBMIT "1001 loss ended=1010 cpu=- cause=gap\n" WRITE
		              "1012 loss ended=1030 cpu=- cause=gap\n" READ DECODE LOOKUP RAN ANSWERED,
		  "no lost\nexecution quality=complete" },
		{ "a gap before the first event, though the service then tells again what there is",
		  "0 loss ended=1 cpu=- cause=gap\n1 service_state pid=9 lanes=1 since=1\n" HERE ASKED RAN ANSWERED,
		  "no lost\nexecution quality=complete" },
		{ "a gap after which no service says anything of it, and none of the end",
		  HERE ASKED ENQUEUE DISPATCH "1100 loss ended=1399 cpu=- cause=gap\n" END ANSWERED,
		  "1 lost\nexecution quality=gap run=-" },
		{ "the same, but the session was rotated in it",
		  HERE ASKED ENQUEUE DISPATCH "1100 loss ended=1399 cpu=- cause=gap rotated=1\n" END ANSWERED,
		  "no lost\nexecution quality=complete" },
		{ "a gap that no event comes after", HERE ASKED RAN ANSWERED "1460 loss ended=1500 cpu=- cause=gap\n",
		  "no lost\nexecution quality=complete" },
		{ "a tail that no event comes after: all streams end there",
		  HERE ASKED ENQUEUE DISPATCH "1200 loss ended=9000 cpu=0 cause=tail\n",
		  "no lost\nexecution quality=open" },
		{ "the same, but the recording is known to have gone on",
		  HERE ASKED ENQUEUE DISPATCH "1200 loss ended=9000 cpu=0 cause=tail known=1\n",
		  "1 lost\nlost began=1200 ended=9000 cpu=0 cause=4\nexecution quality=tail" },
		{ "a gap in a recording of clients alone",
		  SUBMIT WRITE "1012 loss ended=1449 cpu=- cause=gap\n" HEAR RETURN,
		  "no lost\nexecution sides=client" },
		{ "a file that is cut, and a stream that is missing, hide what they hide",
		  HERE ASKED
		  "1055 loss ended=1060 cpu=1 cause=cut\n1055 loss ended=1060 cpu=2 cause=stream\n" RAN ANSWERED,
		  "2 lost\nlost cpu=1 cause=5\nlost cpu=2 cause=6\nexecution quality=gap" },
		{ "summaries: a gap that a request of before it does not disprove",
		  HERE "1100 loss ended=1405 cpu=- cause=gap\n" SERVED "\n" ASKS,
		  "1 lost\nexecution id=3:1 quality=complete",
		  { .horizon_ns = 10000 } },
		{ "summaries: a gap that a request of after it does, for the service was heard before that",
		  HERE "900 loss ended=950 cpu=- cause=gap\n1000 fence_signal exec=9:1\n" SERVED "\n" ASKS,
		  "no lost\nexecution id=3:1 quality=complete",
		  { .horizon_ns = 10000 } },
		{ "summaries: a stop, and a service that takes requests before it is listened to again",
		  HERE "900 loss ended=950 cpu=- cause=gap\n1000 exec_submit exec=7:1 path=sync\n" SERVED "\n" ASKS
		       "1500 service_state pid=9 lanes=1 since=1\n",
		  "1 lost\nlost began=8 ended=1411",
		  { .horizon_ns = 10000 } },
		{ "summaries: the same with a flush after the service is heard, before it tells",
		  HERE "900 loss ended=950 cpu=- cause=gap\n1000 exec_submit exec=7:1 path=sync\n" SERVED
		       "\n1420 loss ended=1430 cpu=- cause=gap\n" ASKS "1500 service_state pid=9 lanes=1 since=1\n",
		  "lost ended=1411",
		  { .horizon_ns = 10000 } },
		{ "summaries: flushes between requests, of which each disproves the one before",
		  HERE "900 loss ended=950 cpu=- cause=gap\n1000 fence_signal exec=9:1\n"
		       "1010 loss ended=1020 cpu=- cause=gap\n1025 fence_signal exec=9:1\n" SERVED "\n" ASKS
		       "1500 service_state pid=9 lanes=1 since=1\n",
		  "no lost\nexecution id=3:1 quality=complete",
		  { .horizon_ns = 10000 } },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* More than is kept back after a gap: a hole, and nothing of it is lost itself. */
static void what_is_kept_back_is_bounded(void **state)
{
	enum { MANY = 200000 };
	static const char lead[] = HERE "10 sched_enqueue exec=3:1 model=2 app=20 priority=high\n"
					"20 loss ended=30 events=- packets=- cpu=- cause=gap\n",
			  line[] = "+1 exec_submit exec=4:1 path=sync\n";
	char *script = malloc(sizeof(lead) + MANY * strlen(line));
	char *end = script;
	struct folded f;

	(void)state;
	assert_non_null(script);
	end = stpcpy(end, lead);
	for (int i = 0; i < MANY; i++)
		end = stpcpy(end, line);
	fold_script(&f, script, &(struct bsa_fold_options){ 0 });
	assert_true(expect_facts("many", &f, "1 lost\nlost began=11 ended=30"));
	folded_fini(&f);
	free(script);
}

/* The same losses, and summaries of both sides. */
static void summaries_are_certain_of_what_boundaries_are_not(void **state)
{
	static const struct fold_row rows[] = {
		{ "a loss within it hides nothing of it",
		  HERE "1100 loss ended=1200\n" SERVED "\n" ASKS,
		  "execution id=3:1 quality=complete phase=10,20,10,0,20,5,335,0,10,40,10,0 cold=0 lane=0",
		  { .horizon_ns = 10000 } },
		{ "nor of its run, if it was preempted as often as was seen",
		  HERE
		  "1100 sched_preempt exec=3:1 lane=0\n1150 sched_resume exec=3:1 lane=0\n1200 loss ended=1201\n" SERVED
		  " preemptions=1\n" ASKS,
		  "execution id=3:1 quality=complete phase=10,20,10,0,20,5,285,50,10,40,10,0\n2 slice",
		  { .horizon_ns = 10000 } },
		{ "but not of one that was preempted more often",
		  HERE "1100 loss ended=1200\n" SERVED " preemptions=1\n" ASKS,
		  "execution id=3:1 quality=gap phase=10,20,10,0,20,5,-,-,10,40,10,0 e2e=460 preemptions=1 lane=-1\nno "
		  "slice",
		  { .horizon_ns = 10000 } },
		{ "nor of one whose other side was lost",
		  HERE "1100 loss ended=1500\n" SERVED "\n9000 exec_submit exec=3:2 path=burst\n",
		  "execution id=3:1 quality=gap phase=-,-,10,0,20,5,335,0,10,-,-,0",
		  { .horizon_ns = 10000 } },
		{ "one that was refused, and says so itself",
		  HERE
		  "1100 loss ended=1200\n"
		  "1412 exec_service exec=3:1 model=2 app=20 priority=high path=burst lane=255 status=general_failure "
		  "began=1030 at=10,-,-,-,370,380,0,0,0,-\n"
		  "1461 exec_client exec=3:1 model=2 path=burst status=general_failure began=1000 at=10,450,460,0\n",
		  "execution id=3:1 quality=complete phase=10,20,10,0,360,0,0,0,10,40,10,0",
		  { .horizon_ns = 10000 } },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* A stream that was there before. */
#define LATE_HERE                                                                \
	"900 client_connect conn=1 pid=20 uid=1000 app=20 name=camera since=1\n" \
	"901 model_prepare model=2 conn=1 name=net priority=high since=2\n"      \
	"902 stream_open stream=3 conn=1 path=burst model=2 since=3\n"

static void without_a_loss_there_is_a_reason_why_something_is_missing(void **state)
{
	static const struct fold_row rows[] = {
		{ "it began before we saw", LATE_HERE READ DECODE LOOKUP RAN ANSWERED,
		  "execution id=3:1 quality=head phase=-,-,10,0,20,5,335,0,10,40,10,0 e2e=-" },
		{ "it is under way when the trace ends", HERE ASKED ENQUEUE DISPATCH,
		  "execution id=3:1 quality=open phase=10,20,10,0,20,5,-,-,-,-,-,0 e2e=- status=255 lane=-1" },
		{ "its end is missing, and its stream was closed",
		  HERE ASKED ENQUEUE DISPATCH "1500 stream_close stream=3\n", "execution id=3:1 quality=tail" },
		{ "its end is missing, and the next of the burst began",
		  HERE ASKED RAN ANSWER "2000 exec_submit exec=3:2 model=2 path=burst\n",
		  "execution id=3:1 quality=tail\nexecution id=3:2 quality=open" },
		{ "something within it is missing", HERE SUBMIT WRITE READ LOOKUP RAN ANSWERED,
		  "execution id=3:1 quality=gap phase=10,20,-,0,-,5,335,0,10,40,10,0 e2e=460" },
		{ "the service died: the app was told so, and the rest was never seen",
		  HERE ASKED ENQUEUE DISPATCH "1500 exec_return exec=3:1 status=dead_object\n",
		  "execution id=3:1 quality=gap status=9 e2e=500" },
		{ "only the service is traced", HERE READ DECODE LOOKUP RAN ANSWER "2000 performance_hold on=1\n",
		  "execution id=3:1 quality=complete sides=service e2e=380 phase=-,-,10,0,20,5,335,0,10,-,-,0" },
		{ "only the app is traced", SUBMIT WRITE HEAR RETURN,
		  "execution id=3:1 quality=complete sides=client e2e=460 phase=10,-,-,0,-,-,-,-,-,-,10,0 cold=-1" },
		{ "only the app is traced, and a fence is none of its business",
		  "1000 exec_submit exec=5:1 model=2 path=fenced\n"
		  "1010 fmq_write exec=5:1 queue=call_request\n"
		  "1450 fmq_read exec=5:1 queue=call_result\n"
		  "1460 exec_return exec=5:1\n",
		  "execution id=5:1 quality=complete sides=client e2e=460" },
		{ "the app is traced, as another stream of its connection shows",
		  HERE "500 exec_submit exec=4:1 model=2 path=sync\n" READ DECODE LOOKUP RAN ANSWER,
		  "execution id=3:1 quality=head sides=both e2e=-" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* A call of which nobody has said what path it takes. */
#define CALL                                           \
	"1010 fmq_write exec=5:1 queue=call_request\n" \
	"1030 fmq_read exec=5:1 queue=call_request\n"  \
	"1040 request_decode exec=5:1 model=2\n"       \
	"1045 fmq_write exec=5:1 queue=call_result\n"  \
	"1050 fmq_read exec=5:1 queue=call_result\n"   \
	"1055 exec_return exec=5:1\n"

/* What its stream tells of when it can have begun holds however long before that was. */
static void what_began_in_the_recording_did_not_begin_before_it(void **state)
{
	static const struct fold_row rows[] = {
		{ "a stop hides it, and the service tells of it after the start",
		  HERE "900 loss ended=1020 events=- packets=- cpu=- cause=gap\n1021 service_state pid=9 lanes=1\n"
		       "1022 exec_state exec=3:1 phase=running lane=0\n" END ANSWERED,
		  "execution id=3:1 quality=gap e2e=-" },
		{ "the same of a stream that was there before",
		  LATE_HERE "1022 exec_state exec=3:1 phase=running lane=0\n" END ANSWERED,
		  "execution id=3:1 quality=head e2e=-" },
		{ "a loss that is long over when the service reads it",
		  HERE "500 exec_submit exec=4:1 model=2 path=sync\n900 loss ended=1020 events=3\n"
		       "200001030 fmq_read exec=3:1 queue=request\n200001040 request_decode exec=3:1 model=2\n",
		  "execution id=3:1 quality=gap" },
		{ "no such loss: the client was recorded later",
		  HERE "500 exec_submit exec=4:1 model=2 path=sync\n"
		       "200001030 fmq_read exec=3:1 queue=request\n200001040 request_decode exec=3:1 model=2\n",
		  "execution id=3:1 quality=head" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void the_client_alone_does_not_know_when_it_was_given_up(void **state)
{
#define GIVEN_UP WRITE HEAR "1460 exec_return exec=3:1 status=missed_deadline_transient\n"
	static const struct fold_row rows[] = {
		{ "answered after its deadline",
		  "1000 exec_submit exec=3:1 model=2 path=burst deadline_ns=1200\n" GIVEN_UP,
		  "execution id=3:1 sides=client miss=aborted lateness=-" },
		{ "answered before it", "1000 exec_submit exec=3:1 model=2 path=burst deadline_ns=1500\n" GIVEN_UP,
		  "execution id=3:1 sides=client miss=predicted lateness=-" },
		{ "done too late: that is what it saw itself",
		  "1000 exec_submit exec=3:1 model=2 path=burst deadline_ns=1200\n" WRITE HEAR RETURN,
		  "execution id=3:1 sides=client miss=late lateness=260" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
#undef GIVEN_UP
}

static void what_may_be_a_launch_is_no_end(void **state)
{
	static const struct fold_row rows[] = {
		{ "its fence shows that it was one",
		  CALL "1057 fence_wait exec=5:1\n"
		       "1060 sched_enqueue exec=5:1 model=2 app=20 priority=low\n"
		       "1065 sched_dispatch exec=5:1 lane=0\n"
		       "1400 exec_end exec=5:1 lane=0 status=general_failure\n"
		       "1420 fence_signal exec=5:1 status=general_failure\n",
		  "execution id=5:1 path=2 quality=head phase=-,20,10,17,3,5,335,0,0,0,0,20 e2e=- status=2\nleft "
		  "stragglers=0" },
		{ "nothing shows it: nothing is said of how it was answered", CALL,
		  "execution id=5:1 path=255 quality=head phase=-,20,10,-,-,-,-,-,-,-,-,- status=255" },
		{ "it ended before it was answered: so it was none",
		  "1030 fmq_read exec=5:1 queue=call_request\n"
		  "1040 request_decode exec=5:1 model=2\n"
		  "1060 sched_enqueue exec=5:1 model=2 app=20 priority=low\n"
		  "1065 sched_dispatch exec=5:1 lane=0\n"
		  "1400 exec_end exec=5:1 lane=0\n"
		  "1410 fmq_write exec=5:1 queue=call_result\n",
		  "execution id=5:1 path=255 quality=complete sides=service phase=-,-,10,0,20,5,335,0,10,-,-,0 e2e=380 "
		  "status=0" },
		{ "it is told later what its stream is",
		  CALL "1056 client_connect conn=1 pid=20 uid=1000 app=20 name=camera since=1\n"
		       "1057 stream_open stream=5 conn=1 path=sync since=3\n",
		  "execution id=5:1 path=1 app=20/camera status=0 quality=head phase=-,20,10,0,-,-,-,-,-,5,5,0" },
		{ "the answer of a launch is not how it ended",
		  HERE "1000 exec_submit exec=5:1 model=2 path=fenced\n" CALL,
		  "execution id=5:1 path=2 status=255 quality=open" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* The client of a launch is heard first, and then its service, which tells of it. */
static void a_launch_waits_for_a_service_that_is_heard_later(void **state)
{
	static const struct fold_row rows[] = {
		{ "the service is heard while it runs",
		  "1000 exec_submit exec=5:1 model=2 path=fenced deadline_ns=1700\n"
		  "1010 fmq_write exec=5:1 queue=call_request\n"
		  "1050 fmq_read exec=5:1 queue=call_result\n"
		  "1055 exec_return exec=5:1\n"
		  "1100 service_state pid=9 lanes=1 since=1\n"
		  "1101 client_connect conn=1 pid=20 uid=1000 app=20 name=camera since=2\n"
		  "1102 model_prepare model=2 conn=1 name=net priority=high since=3\n"
		  "1103 stream_open stream=5 conn=1 path=fenced since=6\n"
		  "1104 exec_state exec=5:1 model=2 app=20 priority=high path=fenced since=1049 phase=running lane=0 "
		  "deadline_ns=1700\n"
		  "1800 exec_end exec=5:1 lane=0\n"
		  "1900 fence_signal exec=5:1\n",
		  "1 execution\n"
		  "execution id=5:1 path=2 sides=both quality=gap miss=late lateness=200 status=0\nleft stragglers=0" },
		{ "no service is ever heard: it was launched, and that is all there is",
		  "1000 exec_submit exec=5:1 model=2 path=fenced\n"
		  "1010 fmq_write exec=5:1 queue=call_request\n"
		  "1050 fmq_read exec=5:1 queue=call_result\n"
		  "1055 exec_return exec=5:1\n"
		  "2000000000 exec_submit exec=5:2 model=2 path=fenced\n",
		  "2 execution\nexecution id=5:1 path=2 sides=client quality=complete status=255" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void who_begins_late_is_told_what_is_under_way(void **state)
{
	static const struct fold_row rows[] = {
		{ "one in the queue: it has waited since then, or longer",
		  HERE "1050 exec_state exec=3:1 model=2 app=20 priority=low path=burst deadline_ns=1300 phase=queued "
		       "since=1049\n"
		       "1065 sched_dispatch exec=3:1 lane=0\n" END ANSWERED,
		  "execution id=3:1 quality=head phase=-,-,-,0,-,-,335,0,10,40,10,0 priority=0 app=20/camera "
		  "model=2/net miss=late "
		  "lateness=160 deadline=1300 lane=0 idle=0\n"
		  "wait execution=3:1 began=1050 ended=1065 open=1 occupancy=1\nleft absurd=0" },
		{ "one on its lane: since when is unknown",
		  HERE "1050 exec_state exec=3:1 model=2 app=20 priority=low path=burst phase=running lane=0 "
		       "since=1049\n" END ANSWERED,
		  "execution id=3:1 quality=head phase=-,-,-,0,-,-,-,-,10,40,10,0 run=- lane=-1\nno slice\nleft "
		  "absurd=0" },
		{ "one that has left its lane, which another one has by now",
		  HERE "1048 exec_state exec=5:1 model=2 app=20 priority=low path=burst phase=running lane=0 "
		       "since=1047\n"
		       "1050 exec_state exec=3:1 model=2 app=20 priority=low path=burst phase=ended lane=0 "
		       "since=1049\n1100 exec_end exec=5:1 lane=0\n" ANSWER HEAR RETURN,
		  "execution id=3:1 quality=head run=-\nno unusable\nleft absurd=0" },
		{ "one that is stopped, and goes on",
		  HERE
		  "1050 exec_state exec=3:1 model=2 app=20 priority=low path=burst phase=running lane=0 since=1049\n"
		  "1100 sched_preempt exec=3:1 lane=0\n"
		  "1200 sched_resume exec=3:1 lane=0\n" END ANSWERED,
		  "execution id=3:1 quality=head run=- preempted=- lane=-1\npreemption stopped=1100 resumed=1200\n"
		  "slice execution=3:1 began=1200 ended=1400\nleft absurd=0" },
		{ "one that was refused later: what it had come to is unknown",
		  HERE
		  "1050 exec_state exec=3:1 model=2 app=20 priority=low path=burst phase=queued since=1049\n" REFUSED
		          ANSWER HEAR FAILURE,
		  "execution id=3:1 quality=head phase=-,-,-,0,-,-,-,-,10,40,10,0 status=2" },
		{ "with only the service traced it is no reason to wait for ever",
		  HERE "1050 exec_state exec=3:1 model=2 app=20 priority=low path=burst phase=queued since=1049\n"
		       "1065 sched_dispatch exec=3:1 lane=0\n" END ANSWER "1500 fmq_read exec=3:2 queue=request\n"
		       "1600 fmq_read exec=3:3 queue=request\n"
		       "1700 fmq_write exec=3:3 queue=result\n",
		  "execution id=3:1 quality=head sides=service\nexecution id=3:3 quality=gap sides=service" },
		{ "one that is known already: nothing new",
		  HERE ASKED
		  "1055 exec_state exec=3:1 model=2 app=20 priority=low path=burst phase=decode since=1055\n" RAN
		          ANSWERED,
		  "execution id=3:1 quality=complete priority=2 phase=10,20,10,0,20,5,335,0,10,40,10,0" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* Nothing is lost, and records contradict each other: which of them are right is unknown. */
static void what_does_not_add_up_is_not_complete(void **state)
{
	static const struct fold_row rows[] = {
		{ "stopped on a lane, and resumed on one that is none",
		  HERE ASKED ENQUEUE DISPATCH "1100 sched_preempt exec=3:1 lane=0\n"
		                              "1200 sched_resume exec=3:1 lane=254\n"
		                              "1400 exec_end exec=3:1 lane=254\n" ANSWERED,
		  "execution id=3:1 quality=gap" },
		{ "stopped as soon as it was there, and then on another lane than the one it ended on",
		  HERE ASKED ENQUEUE DISPATCH "1065 sched_preempt exec=3:1 lane=0\n"
		                              "1200 sched_resume exec=3:1 lane=3\n"
		                              "1400 exec_end exec=3:1 lane=0\n" ANSWERED,
		  "execution id=3:1 quality=gap" },
		{ "stopped and resumed on the same lane",
		  HERE ASKED ENQUEUE DISPATCH
		  "1100 sched_preempt exec=3:1 lane=0\n1200 sched_resume exec=3:1 lane=0\n" END ANSWERED,
		  "execution id=3:1 quality=complete\n2 slice" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

#define LATER "300001060 client_disconnect conn=9\n"
#define FOUND "1050 exec_state exec=3:1 model=2 app=20 priority=high path=burst since=1049 "

/* An execution whose end may be lost, and one that is ready after that. */
#define LOST_WAIT HERE HELD ASKED ENQUEUE "1100 loss ended=1200\n"
#define COMES(at, n)                                                                                              \
	at " fmq_read exec=7:1 queue=request\n1310 request_decode exec=7:1 model=2\n1320 sched_enqueue exec=7:1 " \
	   "model=2 app=20 priority=low ahead=" n "\n"

static void an_empty_queue_ends_waits_that_were_lost(void **state)
{
	static const struct fold_row rows[] = {
		{ "none waits when another one comes: nor did that of before the hole",
		  LOST_WAIT COMES("1300", "0") LATER,
		  "possible_wait execution=3:1 began=1060 ended=1320\nno possible_wait execution=3:1 ended=300001060" },
		{ "one does: it may be that one", LOST_WAIT COMES("1300", "1") LATER,
		  "no possible_wait execution=3:1 ended=1320" },
		{ "the other one came before the hole ended: when the queue was empty is not known",
		  HERE HELD ASKED ENQUEUE
		  "1070 fmq_read exec=7:1 queue=request\n1075 request_decode exec=7:1 model=2\n1100 loss ended=1200\n"
		  "1320 sched_enqueue exec=7:1 model=2 app=20 priority=low ahead=0\n" LATER,
		  "no possible_wait execution=3:1 ended=1320" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

#define NUMBERED(n) "300001070 sched_enqueue exec=5:1 model=2 app=20 priority=high ahead=1 nth_ready=" n "\n"

static void who_is_under_way_past_a_deadline_at_the_end_has_missed_it(void **state)
{
	static const struct fold_row rows[] = {
		{ "it waits for a lane", HERE HELD ASKED ENQUEUE LATER,
		  "execution id=3:1 quality=open deadline=9000 miss=late lateness=- missed_at=- status=255" },
		{ "it runs", HERE ASKED ENQUEUE DISPATCH LATER, "execution id=3:1 quality=open miss=late lateness=-" },
		{ "it was answered in time: the app may have the answer, if it was not recorded to its end",
		  HERE ASKED RAN ANSWER LATER, "execution id=3:1 quality=open miss=none" },
		{ "it was answered after the deadline, and the app does not have the answer",
		  HERE ASKED RAN "9001 fmq_write exec=3:1 queue=result\n" LATER,
		  "execution id=3:1 quality=open miss=late lateness=1" },
		{ "only the client was recorded after the deadline: the service may have ended it before",
		  HERE ASKED RAN "300001060 exec_submit exec=4:1 model=2 path=burst\n",
		  "execution id=3:1 quality=open miss=none" },
		{ "it failed, and the app does not have the answer", HERE ASKED REFUSED LATER,
		  "execution id=3:1 quality=open miss=none lateness=0 status=2" },
		{ "its deadline is after the end of the recording",
		  HERE HELD ASKED ENQUEUE "8999 client_disconnect conn=9\n",
		  "execution id=3:1 quality=open deadline=9000 miss=none lateness=0" },
		{ "its end may have been lost", HERE HELD ASKED ENQUEUE "2000 loss ended=2001\n" LATER,
		  "execution id=3:1 quality=tail miss=none" },
		{ "its burst was closed: that it was not answered does not say when it ended",
		  HERE HELD ASKED ENQUEUE "8000 stream_close stream=3\n" LATER,
		  "execution id=3:1 quality=tail miss=none" },
		{ "a summary of it may be about to be written",
		  HERE HELD ASKED ENQUEUE LATER,
		  "execution id=3:1 quality=open miss=none",
		  { .horizon_ns = 1000000000 } },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void a_wait_counts_as_far_as_it_was_recorded(void **state)
{
	static const struct fold_row rows[] = {
		{ "the recording ends while it waits: all of that is a wait, a starvation and an inversion",
		  HERE HELD ASKED ENQUEUE LATER,
		  "wait execution=3:1 began=1060 ended=300001060 occupancy=0 cause=3 blocker=5:1 open=2\n"
		  "starved execution=3:1 began=1060 gap=300000000 open=2 top_culprit_ns=300000000\n"
		  "inverted victim=3:1 holder=5:1 began=1060 dur=300000000 open=2\n"
		  "execution id=3:1 quality=open queue=- bypassed=-\nno possible_wait" },
		{ "the recording ends while it waits: its app was entitled to half of the lane until then",
		  HERE "8 client_connect conn=2 pid=30 uid=1001 app=30 name=other\n"
		       "8 model_prepare model=8 conn=2 name=big priority=low\n"
		       "8 stream_open stream=8 conn=2 path=sync model=8\n"
		       "990 sched_enqueue exec=8:1 model=8 app=30 priority=low\n"
		       "990 sched_dispatch exec=8:1 lane=0\n" ASKED ENQUEUE LATER,
		  "share app=20/camera received=0 entitled=150000000\n"
		  "share app=30/other received=300000070 entitled=150000070" },
		{ "the recording ends while it is off its lane",
		  HERE ASKED ENQUEUE DISPATCH "1100 sched_preempt exec=3:1 lane=0\n" LATER,
		  "wait execution=3:1 began=1100 ended=300001060 kind=1 open=2\nstarved execution=3:1 gap=299999960 "
		  "open=2" },
		{ "the service is silent at the end: the wait is known as far as that was heard",
		  HERE HELD ASKED ENQUEUE "300001060 exec_submit exec=7:1 path=sync\n",
		  "no wait execution=3:1\nno starved\nno inverted\nexecution id=3:1 quality=open queue=-" },
		{ "the service is silent at the end, and a client is answered: it waited until the service was heard "
		  "last",
		  HERE HELD ASKED ENQUEUE "300001000 client_disconnect conn=9\n300001050 fmq_read exec=3:1 "
		                          "queue=result\n300001060 exec_return exec=3:1 status=none\n",
		  "wait execution=3:1 began=1060 ended=300001000 occupancy=0 open=2\n"
		  "starved execution=3:1 began=1060 gap=299999940 open=2" },
		{ "the recording ends while it has its lane: that is no wait", HERE ASKED ENQUEUE DISPATCH LATER,
		  "no wait open=2\nno starved\nno possible_wait\nno unknown_lane" },
		{ "of several lanes, which one it will get is unknown",
		  "1 service_state pid=9 lanes=2\n" HELD ASKED ENQUEUE LATER,
		  "wait execution=3:1 began=1060 ended=300001060 occupancy=2 lane=255 cause=21 open=2\n"
		  "starved execution=3:1 gap=300000000 top_culprit_ns=0" },
		{ "the recording begins while it waits, and ends while it does", HERE FOUND "phase=queued\n" LATER,
		  "wait execution=3:1 began=1050 ended=300001060 open=3\nstarved execution=3:1 gap=300000010 open=3" },
		{ "the recording begins while it waits, and since when is told",
		  HERE FOUND "phase=queued ready_ns=40\n" LATER,
		  "wait execution=3:1 began=40 ended=300001060 open=2\nstarved execution=3:1 began=40 gap=300001020 "
		  "open=2" },
		{ "the recording begins while it is off its lane, and since when is told",
		  HERE FOUND "phase=preempted lane=0 ready_ns=40\n200001050 sched_resume exec=3:1 lane=0\n" LATER,
		  "wait execution=3:1 began=40 ended=200001050 kind=1 open=0\n"
		  "starved execution=3:1 began=40 gap=200001010 open=0" },
		{ "it is told of as waiting, and is answered without an end: it had ended before, and waited no longer",
		  HERE FOUND "phase=queued ready_ns=40\n1060 fmq_write exec=3:1 queue=result\n"
		             "1070 sched_enqueue exec=5:1 model=2 app=20 priority=low\n1080 sched_dispatch exec=5:1 "
		             "lane=0\n" LATER,
		  "no wait execution=3:1\npossible_wait execution=3:1 began=40 ended=1060" },
		{ "it was over as far as anybody knew, and becomes ready: it may wait until the end",
		  HERE "1000 fmq_read exec=3:1 queue=call_result\n1010 exec_return exec=3:1\n" ENQUEUE LATER,
		  "possible_wait began=1060 ended=300001060" },
		{ "it cannot wait since a time to come: since when is unknown",
		  HERE FOUND "phase=queued ready_ns=1051\n" LATER,
		  "wait execution=3:1 began=1050 ended=300001060 open=3\nleft absurd=1" },
		{ "the recording begins while it is off its lane",
		  HERE FOUND "phase=preempted lane=0\n200001050 sched_resume exec=3:1 lane=0\n" LATER,
		  "wait execution=3:1 began=1050 ended=200001050 kind=1 open=1\n"
		  "starved execution=3:1 gap=200000000 open=1\nno wait open=2" },
		{ "only the first of its waits began before the recording",
		  HERE FOUND
		  "phase=preempted lane=0\n1060 sched_resume exec=3:1 lane=0\n1070 sched_preempt exec=3:1 lane=0\n"
		  "1080 sched_resume exec=3:1 lane=0\n",
		  "wait execution=3:1 began=1050 ended=1060 open=1\nwait execution=3:1 began=1070 ended=1080 open=0" },
		{ "the recording begins while it is on its lane: who waits for that has a culprit from then on",
		  HERE "1050 exec_state exec=5:1 model=2 app=20 priority=low path=fenced phase=running lane=0 "
		       "since=1049\n" ENQUEUE LATER,
		  "wait execution=3:1 began=1060 ended=300001060 open=2" },
		{ "a hole hides its dispatch: it may have waited until then",
		  HERE HELD ASKED ENQUEUE "2000 loss ended=300000000\n300001060 exec_end exec=3:1 lane=0\n",
		  "possible_wait execution=3:1 began=1060 ended=300000000\nno starved\nno wait execution=3:1" },
		{ "a hole hides that it was ready: it may have waited since",
		  HERE ASKED "1055 loss ended=2000\n300001060 sched_dispatch exec=3:1 lane=0\n",
		  "possible_wait execution=3:1 began=1055 ended=300001060" },
		{ "holes hide all of it, and the next of its burst shows that it was there",
		  HERE "1000 loss ended=2000\n300000000 loss ended=300001000\n300001060 exec_submit exec=3:2 model=2 "
		       "path=burst\n",
		  "possible_wait execution=none began=1000 ended=300001000 app=20/camera" },
		{ "the service's numbers have no gap: the hole hides nothing that still waits",
		  HERE "1000 loss ended=2000\n300001065 request_decode exec=5:1 model=2\n" NUMBERED("1"),
		  "no possible_wait execution=none" },
		{ "the numbers have a gap: an execution of which no event tells may still wait",
		  HERE "1000 loss ended=2000\n300001065 request_decode exec=5:1 model=2\n" NUMBERED("2"),
		  "possible_wait execution=none began=1000 ended=300001070 app=20/camera model=2/net" },
		{ "within one hole nothing longer than that can be hidden",
		  HERE "1000 loss ended=2000\n300001060 exec_submit exec=3:2 model=2 path=burst\n",
		  "no possible_wait execution=none ended=2000" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* It was on its lane when the hole began, and comes back to it: another one that had the lane in between is heard to end there. */
static void an_execution_that_comes_back_to_its_lane_left_it_in_the_hole(void **state)
{
	static const struct fold_row rows[] = {
		{ "the one that ends on the lane had it until then, and nobody had it later",
		  HERE HELD ASKED ENQUEUE
		  "1100 loss ended=1200\n1300 exec_end exec=3:1 lane=0\n1310 sched_resume exec=5:1 lane=0\n",
		  "unknown_lane lane=0 execution=none began=1100 ended=1200\n"
		  "unknown_lane lane=0 execution=5:1 began=991 ended=1200\n"
		  "unknown_lane lane=0 execution=3:1 began=1100 ended=1300\n"
		  "no unknown_lane ended=1310" },
		{ "nobody is heard to end there: the lane is not known in the hole alone",
		  HERE HELD "1100 loss ended=1200\n1310 sched_resume exec=5:1 lane=0\n",
		  "unknown_lane lane=0 execution=none began=1100 ended=1200\n"
		  "unknown_lane lane=0 execution=5:1 began=991 ended=1200\n"
		  "no unknown_lane ended=1310" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void what_comes_after_the_end_is_a_straggler(void **state)
{
	static const struct fold_row rows[] = {
		{ "of an execution that was told",
		  HERE ASKED RAN ANSWERED "1500 fmq_read exec=3:1 queue=result\n1501 exec_end exec=3:1 lane=0\n",
		  "1 execution\nexecution quality=complete\nleft stragglers=2 absurd=0" },
		{ "of one that later ones of its burst prove to be over",
		  HERE ASKED "2000 exec_submit exec=3:2 path=burst\n2001 exec_submit exec=3:3 path=burst\n"
		             "2100 exec_return exec=3:1\n",
		  "execution id=3:1 quality=tail\nleft stragglers=1" },
		{ "a call may be late by thousands of others, and not be one",
		  HERE "1000 exec_submit exec=4:1 path=sync\n"
		       "1001 exec_submit exec=4:4000 path=sync\n"
		       "1002 exec_return exec=4:4000\n"
		       "1003 exec_submit exec=4:3 path=sync\n"
		       "1004 exec_return exec=4:3\n"
		       "1005 exec_return exec=4:1\n"
		       "1006 exec_return exec=4:4000\n"
		       "1007 exec_return exec=4:3\n"
		       "1008 exec_return exec=4:1\n",
		  "3 execution\nexecution id=4:1 e2e=5\nexecution id=4:4000 e2e=1\nexecution id=4:3 e2e=1\nleft "
		  "stragglers=3" },
		{ "an app that is heard of too late is waited for the next time",
		  HERE READ DECODE LOOKUP RAN ANSWER HEAR RETURN "2000 fmq_read exec=3:2 queue=request\n"
		                                                 "2010 exec_end exec=3:2 lane=255\n"
		                                                 "2020 fmq_write exec=3:2 queue=result\n"
		                                                 "2030 fmq_read exec=3:2 queue=result\n"
		                                                 "2040 exec_return exec=3:2\n",
		  "execution id=3:1 sides=service quality=complete\nexecution id=3:2 sides=both quality=head\nleft "
		  "stragglers=2" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void with_too_many_under_way_the_oldest_are_given_up(void **state)
{
	static const struct fold_row rows[] = {
		{ "of three, with room for two",
		  HERE "1000 exec_submit exec=6:1 path=async\n"
		       "1001 sched_enqueue exec=6:1 model=2 app=20 priority=low\n"
		       "1002 exec_submit exec=6:2 path=async\n"
		       "1003 exec_submit exec=6:3 path=async\n"
		       "1004 exec_return exec=6:1\n"
		       "1005 exec_return exec=6:2\n"
		       "1006 exec_return exec=6:3\n",
		  "execution id=6:1 quality=open at=1000,-,-,-,-,1001,-,-,-,-,-,-\nexecution id=6:2 e2e=3\nexecution "
		  "id=6:3 e2e=3\n"
		  "left evicted=1 stragglers=1",
		  { .under_way_max = 2 } },
		{ "one that only waits for the schedule is told early rather than anything is given up",
		  HERE "1412 exec_service exec=4:1 model=2 app=20 priority=low path=sync lane=0 began=1030 "
		       "at=10,-,30,35,370,380,0,0,0,-\n"
		       "1461 exec_client exec=4:1 model=2 path=sync began=1000 at=10,450,460,0\n"
		       "1470 exec_service exec=4:2 model=2 app=20 priority=low path=sync lane=0 began=1462 "
		       "at=1,-,1,2,3,4,0,0,0,-\n"
		       "1471 exec_client exec=4:2 model=2 path=sync began=1461 at=1,6,7,0\n",
		  "execution id=4:1 quality=complete e2e=460\nexecution id=4:2 quality=complete e2e=7\nleft evicted=0 "
		  "late=0",
		  { .horizon_ns = 100000, .under_way_max = 1 } },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* An execution until it is on the lane. */
static void tell_asked(FILE *to, unsigned at, unsigned stream, unsigned n, unsigned app)
{
	fprintf(to,
	        "%u exec_submit exec=%u:%u path=burst model=2\n%u fmq_write exec=%u:%u queue=request\n"
	        "%u fmq_read exec=%u:%u queue=request\n%u request_decode exec=%u:%u model=2\n"
	        "%u sched_enqueue exec=%u:%u model=2 app=%u priority=high\n%u sched_dispatch exec=%u:%u lane=0\n",
	        at, stream, n, at + 10, stream, n, at + 20, stream, n, at + 30, stream, n, at + 40, stream, n, app,
	        at + 50, stream, n);
}

/*
 * One service does ROUNDS executions; if @dies, another one was not heard again after it had put one on its lane, for which the
 * schedule waits. Seconds.
 */
static double fold_beside(bool dies)
{
	enum { ROUNDS = 16000, DEAD = 10 };
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	struct folded f;
	double began;

	for (unsigned i = 1; i <= 2; i++)
		fprintf(to,
		        "%u service_state pid=%u lanes=1 instance=%u\n%u client_connect conn=%u pid=%u uid=1 app=%u "
		        "name=a\n"
		        "%u stream_open stream=%u conn=%u path=burst model=%u\n",
		        i, i, i, i, (i << 20) + 1, i + 20, i + 20, i, (i << 20) + 3, (i << 20) + 1, (i << 20) + 2);
	if (dies)
		tell_asked(to, 100, 0x100003, 1, 21);
	for (unsigned i = 2; dies && i <= 1 + DEAD; i++)
		fprintf(to,
		        "%u exec_submit exec=0x100003:%u path=burst model=2\n%u exec_return exec=0x100003:%u "
		        "status=dead_object\n",
		        200 + i, i, 200 + i, i);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		tell_asked(to, 100 * (10 + i), 0x200003, i, 22);
		fprintf(to,
		        "%u exec_end exec=0x200003:%u lane=0\n%u fmq_write exec=0x200003:%u queue=result\n"
		        "%u fmq_read exec=0x200003:%u queue=result\n%u exec_return exec=0x200003:%u\n",
		        100 * (10 + i) + 60, i, 100 * (10 + i) + 70, i, 100 * (10 + i) + 80, i, 100 * (10 + i) + 90, i);
	}
	fclose(to);
	began = cpu_seconds();
	fold_script(&f, text, NULL);
	began = cpu_seconds() - began;
	assert_int_equal(f.facts.execution.n, ROUNDS + (1 + DEAD) * dies);
	folded_fini(&f);
	free(text);
	return began;
}

/* Events of one service do not look at all that waits for another one. */
static void a_service_that_is_not_heard_again_does_not_delay_others(void **state)
{
	double alone = fold_beside(false), beside = fold_beside(true);

	(void)state;
	print_message("%.3f s, and %.3f s beside one that is not heard again\n", alone, beside);
	assert_true(beside < 4 * alone + 0.05);
}

static void ids_go_on_after_the_last_ones(void **state)
{
	const struct bsa_fold_options options = { .last = { .execution = 10,
		                                            .mapping = 20,
		                                            .app = 30,
		                                            .process = 40,
		                                            .model = 50,
		                                            .stream = 60,
		                                            .buffer = 70 } };
	struct folded f;

	(void)state;
	fold_script(&f,
	            HERE ASKED RAN ANSWERED "1500 pool_map slot=1 owner=model owner_id=2\n1501 buffer_copy buffer=7\n",
	            &options);
	assert_int_equal(f.facts.execution.items[0].id, 11);
	assert_int_equal(f.facts.mapping.items[0].id, 21);
	assert_int_equal(f.facts.app.items[0].id, 31);
	assert_int_equal(f.facts.process.items[0].id, 41);
	assert_int_equal(f.facts.model.items[0].id, 51);
	assert_int_equal(f.facts.stream.items[0].id, 61);
	assert_int_equal(f.facts.buffer.items[0].id, 71);
	assert_int_equal(f.last.execution, 11);
	assert_int_equal(f.last.mapping, 21);
	assert_int_equal(f.last.app, 31);
	assert_int_equal(f.last.process, 42);
	assert_int_equal(f.last.model, 51);
	assert_int_equal(f.last.stream, 64);
	assert_int_equal(f.last.buffer, 71);
	folded_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loss_hides_what_it_touches_and_nothing_else),
		cmocka_unit_test(a_time_without_packets_is_a_hole_only_if_it_hides_something),
		cmocka_unit_test(what_is_kept_back_is_bounded),
		cmocka_unit_test(summaries_are_certain_of_what_boundaries_are_not),
		cmocka_unit_test(without_a_loss_there_is_a_reason_why_something_is_missing),
		cmocka_unit_test(what_began_in_the_recording_did_not_begin_before_it),
		cmocka_unit_test(the_client_alone_does_not_know_when_it_was_given_up),
		cmocka_unit_test(what_may_be_a_launch_is_no_end),
		cmocka_unit_test(a_launch_waits_for_a_service_that_is_heard_later),
		cmocka_unit_test(who_begins_late_is_told_what_is_under_way),
		cmocka_unit_test(what_does_not_add_up_is_not_complete),
		cmocka_unit_test(an_empty_queue_ends_waits_that_were_lost),
		cmocka_unit_test(who_is_under_way_past_a_deadline_at_the_end_has_missed_it),
		cmocka_unit_test(a_wait_counts_as_far_as_it_was_recorded),
		cmocka_unit_test(an_execution_that_comes_back_to_its_lane_left_it_in_the_hole),
		cmocka_unit_test(what_comes_after_the_end_is_a_straggler),
		cmocka_unit_test(with_too_many_under_way_the_oldest_are_given_up),
		cmocka_unit_test(a_service_that_is_not_heard_again_does_not_delay_others),
		cmocka_unit_test(ids_go_on_after_the_last_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
