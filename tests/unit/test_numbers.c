/*
 * test_numbers.c -- what the numbers of a service say of a hole: which executions it hides, and so since when lanes are unknown.
 *
 * Summaries alone, so that each hole is judged by fold/numbers.c. Times are ns; nothing is hidden where the answer is "no possible_wait".
 */
#include "unit/fold_rows.h"

/* A service that was recorded from its beginning. Each execution is a stream's first, of 100 ns on lane 0, and is told at once. */
#define SERVED(at, x, began, ready, over, n_ready)                                               \
	at " exec_service exec=" x " model=2 app=20 priority=high path=sync lane=0 began=" began \
	   " at=1,-,2,3,100,101,0,0,0,- nth_ready=" ready " nth_over=" over " n_ready=" n_ready "\n"
#define LATER "300000000 client_disconnect conn=9\n"
#define SUMMARIES                   \
	{                           \
		.horizon_ns = 10000 \
	}

/* What a hole from 20000 to 20500 hides is possible until 20500, and more from open streams until the end. */
#define HOLE "20000 loss ended=20500\n"
#define FIRST SERVED("1102", "16:1", "1000", "1", "1", "1")

static void a_hole_hides_the_executions_whose_numbers_are_missing(void **state)
{
	static const struct fold_row rows[] = {
		{ "no number is missing", HERE FIRST HOLE SERVED("30102", "17:1", "30000", "2", "2", "2") LATER,
		  "1 lost\nno possible_wait ended=20500\nno unknown_lane began=1100", SUMMARIES },
		{ "the second is: it became ready after the first had asked for a lane",
		  HERE FIRST HOLE SERVED("30102", "17:1", "30000", "3", "3", "3") LATER,
		  "1 lost\npossible_wait execution=none began=1001 ended=20500\nunknown_lane lane=0 began=1100 "
		  "ended=20500",
		  SUMMARIES },
		{ "the second and the third are, of which the fourth proves both",
		  HERE FIRST HOLE SERVED("30102", "17:1", "30000", "4", "4", "4") LATER,
		  "possible_wait execution=none began=1001 ended=20500", SUMMARIES },
		{ "the last that became ready is under way still, and was not there in the hole",
		  HERE FIRST HOLE SERVED("30102", "17:1", "30000", "2", "2", "3") LATER,
		  "1 lost\nno possible_wait ended=20500", SUMMARIES },
		{ "numbers that come in another order are all there",
		  HERE SERVED("1102", "16:1", "1000", "2", "1", "2") SERVED("1302", "17:1", "1200", "1", "2", "2")
		          HOLE SERVED("30102", "18:1", "30000", "3", "3", "3") LATER,
		  "no possible_wait ended=20500", SUMMARIES },
		{ "the summary of one that was there in the hole comes after it",
		  HERE FIRST HOLE "20700 exec_service exec=18:1 model=2 app=20 priority=high path=sync lane=0 "
		                  "began=19000 at=1,-,2,3,1600,1601,0,0,0,- nth_ready=2 nth_over=2 n_ready=2\n" LATER,
		  "no possible_wait execution=none ended=20500", SUMMARIES },
		{ "after the hole nothing is heard: any number may have been given since the last summary",
		  HERE FIRST HOLE LATER, "possible_wait execution=none began=1100 ended=20500", SUMMARIES },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void without_all_numbers_a_horizon_before_the_hole_is_unknown(void **state)
{
	static const struct fold_row rows[] = {
		{ "a service that numbers nothing",
		  HERE SERVED("1102", "16:1", "1000", "0", "0", "0")
		          HOLE SERVED("30102", "17:1", "30000", "0", "0", "0") LATER,
		  "possible_wait execution=none began=10001 ended=20500", SUMMARIES },
		{ "a recording that began in the middle, with executions that were there before",
		  "1 service_state pid=9 lanes=1 since=1\n" SERVED("1102", "16:1", "1000", "7", "6", "8")
		          HOLE SERVED("30102", "17:1", "30000", "9", "9", "9") LATER,
		  "possible_wait execution=none began=10001 ended=20500", SUMMARIES },
		{ "the same, and once the service had none: all is known from there on",
		  "1 service_state pid=9 lanes=1 since=1\n" SERVED("1102", "16:1", "1000", "7", "7", "7")
		          HOLE SERVED("30102", "17:1", "30000", "8", "8", "8") LATER,
		  "no possible_wait ended=20500", SUMMARIES },
		{ "after the largest number comes 0",
		  "1 service_state pid=9 lanes=1 since=1\n" SERVED("1102", "16:1", "1000", "4294967295", "4294967295",
		                                                   "4294967295")
		          HOLE SERVED("30102", "17:1", "30000", "0", "0", "0")
		                  SERVED("31102", "18:1", "31000", "1", "1", "1") LATER,
		  "no possible_wait ended=20500", SUMMARIES },
		{ "one is missing around 0",
		  "1 service_state pid=9 lanes=1 since=1\n" SERVED("1102", "16:1", "1000", "4294967294", "4294967294",
		                                                   "4294967294")
		          HOLE SERVED("30102", "17:1", "30000", "0", "0", "0") LATER,
		  "possible_wait execution=none began=1100 ended=20500", SUMMARIES },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* Preempted at 1050: all of it was recorded, or something is lost. Its summary comes 20500 after it began. */
#define LONG_SUMMARIES               \
	{                            \
		.horizon_ns = 100000 \
	}
#define STOPPED "1050 sched_preempt exec=16:1 lane=0\n1100 sched_resume exec=16:1 lane=0\n"
#define LASTS(stops)                                                                             \
	"21500 exec_service exec=16:1 model=2 app=20 priority=high path=sync lane=0 began=1000 " \
	"at=1,-,2,3,20400,20401,0,0,0,- nth_ready=1 nth_over=1 n_ready=1 preemptions=" stops "\n"

static void a_preemption_that_was_seen_in_full_hides_no_lane(void **state)
{
	static const struct fold_row rows[] = {
		{ "as many stops as the summary tells", HERE STOPPED HOLE LASTS("1") LATER,
		  "2 slice\nslice execution=16:1 began=1003 ended=1050\nslice execution=16:1 began=1100 ended=21400\n"
		  "no possible_wait ended=20500",
		  LONG_SUMMARIES },
		{ "one more: a hole hides it", HERE STOPPED HOLE LASTS("2") LATER,
		  "no slice\npossible_wait execution=none began=1002 ended=21400", LONG_SUMMARIES },
		{ "a resume is lost", HERE "1050 sched_preempt exec=16:1 lane=0\n" HOLE LASTS("1") LATER,
		  "no slice\npossible_wait execution=none began=1002 ended=21400", LONG_SUMMARIES },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

/* A client's summary of an execution that was answered at 1800; the loss has the service's summary of it. */
#define ANSWERED                                                              \
	"1850 loss ended=1900 events=1\n"                                     \
	"1950 exec_client exec=17:1 model=2 path=sync status=none began=1500" \
	" at=1,300,301,0\n"
/* The second execution of this service is lost whole. */
#define ONE_LOST \
	HOLE SERVED("30102", "18:1", "30000", "1", "1", "1") SERVED("31102", "18:2", "31000", "3", "3", "3") LATER
#define RESTART(at) at " service_state pid=10 lanes=1\n"

static void an_answer_of_the_service_before_stands_for_no_number_of_the_next(void **state)
{
	static const struct fold_row rows[] = {
		{ "an answer stands for the number that no event told",
		  HERE FIRST ANSWERED SERVED("30102", "18:1", "30000", "3", "3", "3") LATER, "left unseen=0",
		  SUMMARIES },
		{ "a number without an answer is of an execution that nobody saw",
		  HERE FIRST ANSWERED SERVED("30102", "18:1", "30000", "4", "4", "4") LATER, "left unseen=1",
		  SUMMARIES },
		{ "the service that answered ends before the answered execution is reported",
		  HERE FIRST ANSWERED RESTART("3000") ONE_LOST, "left unseen=1", SUMMARIES },
		{ "its client reads the answer when the next service is there",
		  HERE FIRST RESTART("1700") ANSWERED ONE_LOST, "left unseen=1", SUMMARIES },
		{ "nothing but the return is recorded, and the stream is of the service before",
		  HERE FIRST
		  "1850 loss ended=1900 events=1\n" RESTART("3000") "3100 exec_return exec=4:9 status=none\n" ONE_LOST,
		  "left unseen=1", SUMMARIES },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hole_hides_the_executions_whose_numbers_are_missing),
		cmocka_unit_test(without_all_numbers_a_horizon_before_the_hole_is_unknown),
		cmocka_unit_test(a_preemption_that_was_seen_in_full_hides_no_lane),
		cmocka_unit_test(an_answer_of_the_service_before_stands_for_no_number_of_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
