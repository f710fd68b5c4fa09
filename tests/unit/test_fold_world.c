/* test_fold_world.c -- who is there: services, apps, processes, models, streams, mappings, buffers. */
#include "unit/fold_rows.h"

#define CONNECTS(at, conn, pid, app, uid, name) \
	at " client_connect conn=" conn " pid=" pid " uid=" uid " app=" app " name=" name "\n"

static void apps_and_processes_are_who_they_are_as_long_as_they_are_connected(void **state)
{
	static const struct fold_row rows[] = {
		{ "two connections of one process",
		  CONNECTS("1", "1", "20", "20", "5", "camera") CONNECTS("2", "2", "20", "20", "5", "camera"),
		  "1 app\n1 process\n"
		  "app key=20 uid=5 uid_known=1 name=camera trace=1\n"
		  "process pid=20 app=20/camera role=0 name=camera" },
		{ "one that comes back is the same app, and another process",
		  CONNECTS("1", "1", "20", "20", "5",
		           "camera") "2 client_disconnect conn=1\n" CONNECTS("3", "2", "20", "20", "5", "camera"),
		  "1 app\n2 process pid=20" },
		{ "its pid is given to another program: another app",
		  CONNECTS("1", "1", "20", "20", "5",
		           "camera") "2 client_disconnect conn=1\n" CONNECTS("3", "2", "20", "20", "5", "audio"),
		  "app key=20 name=camera\napp key=20 name=audio\n2 process" },
		{ "its pid is given to another user: another app",
		  CONNECTS("1", "1", "20", "20", "5",
		           "camera") "2 client_disconnect conn=1\n" CONNECTS("3", "2", "20", "20", "6", "camera"),
		  "app key=20 uid=5\napp key=20 uid=6" },
		{ "while one of its connections is there it is the same one",
		  CONNECTS("1", "1", "20", "20", "5", "camera")
		          CONNECTS("2", "2", "20", "20", "5", "camera") "3 client_disconnect conn=1\n" CONNECTS(
				  "4", "3", "20", "20", "5", "camera"),
		  "1 app\n1 process" },
		{ "apps by their users: processes are different, the app is not",
		  CONNECTS("1", "1", "20", "1000", "1000", "camera") CONNECTS("2", "2", "21", "1000", "1000", "audio"),
		  "app key=1000 uid=1000 name=camera\n1 app\nprocess pid=20 app=1000/camera\nprocess pid=21 "
		  "app=1000/camera "
		  "name=audio" },
		{ "to be told again changes nothing",
		  CONNECTS("1", "1", "20", "20", "5",
		           "camera") "8 client_connect conn=1 pid=20 uid=5 app=20 name=camera since=1\n",
		  "1 app\n1 process" },
		{ "a number of another service's is another app",
		  CONNECTS("1", "0x100001", "20", "20", "5", "camera")
		          CONNECTS("2", "0x200001", "20", "20", "5", "camera"),
		  "2 app key=20 name=camera\n2 process pid=20" },
		{ "an app that is heard of by its number only, until it is told of",
		  "1 sched_enqueue exec=3:1 model=2 app=20 priority=low\n" CONNECTS("2", "1", "20", "20", "5",
		                                                                    "camera"),
		  "1 app\napp key=20 name=camera uid=5 uid_known=1\nexecution id=3:1 app=20/camera" },
		{ "an app that is never told of", "1 sched_enqueue exec=3:1 model=2 app=20 priority=low\n",
		  "app key=20 name= uid_known=0" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void rules_are_told_when_they_change(void **state)
{
	static const struct fold_row rows[] = {
		{ "once, then again as they were, then others",
		  "1 service_state pid=9 instance=3 policy=fair preempt_mode=save lanes=2 spin_us=50\n"
		  "5 service_state pid=9 instance=3 policy=fair preempt_mode=save lanes=2 spin_us=50 since=1\n"
		  "7 service_state pid=9 instance=3 policy=edf preempt_mode=save lanes=2 spin_us=50\n",
		  "2 rules\n"
		  "rules at=1 trace=1 process=9 spin_us=50 instance=3 policy=0 preempt_mode=2 lanes=2\n"
		  "rules at=7 policy=3\n"
		  "process pid=9 role=1 app=none name=" },
		{ "what becomes of deadlines is one of them, and unknown where it is not said",
		  "1 service_state pid=9 instance=3 lanes=2\n"
		  "7 service_state pid=9 instance=3 lanes=2 deadlines=refuse\n",
		  "2 rules\nrules at=1 deadlines=255\nrules at=7 deadlines=1" },
		{ "who begins to listen late hears since when they hold",
		  "50 service_state pid=9 instance=3 lanes=1 since=20\n", "rules at=20 process=9" },
		{ "a time to come is none", "50 service_state pid=9 instance=3 lanes=1 since=90\n", "rules at=50" },
		{ "another process with the same number by chance",
		  "1 service_state pid=9 instance=3 lanes=1\n"
		  "2 service_state pid=10 instance=3 lanes=1\n",
		  "2 rules\n2 process role=1\nrules at=2 process=10" },
		{ "a number that no service can have", "1 service_state pid=9 instance=4096 lanes=1\n",
		  "no rules\nno process\nlost began=1 ended=1 events=1 cause=9\nleft unusable=1" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

#define CAMERA CONNECTS("1", "1", "20", "20", "5", "camera")

static void models_are_there_from_prepare_to_release(void **state)
{
	static const struct fold_row rows[] = {
		{ "all that is said of one",
		  CAMERA "10 model_prepare model=2 conn=1 name=net priority=high ops=30 const_bytes=7 estimate_ns=400 "
		         "step_ns=50 look_ns=5 "
		         "deadline_ns=90 took_ns=4\n"
		         "20 model_release model=2\n",
		  "model number=2 trace=1 process=20 app=20/camera name=net priority=2 status=0 operations=30 "
		  "const_bytes=7 "
		  "step_ns=50 look_ns=5 estimate_ns=400 measured_ns=400 prepare_ns=4 prepared=10 released=20 "
		  "deadline=90" },
		{ "one that could not be prepared",
		  CAMERA "10 model_prepare conn=1 name=net priority=low status=missed_deadline_persistent took_ns=4\n"
		         "11 model_prepare conn=1 name=net priority=low status=missed_deadline_persistent took_ns=4\n",
		  "2 model number=0 name=net status=6 released=- app=20/camera" },
		{ "told again with what was learned: one model still, as it is now",
		  CAMERA "10 model_prepare model=2 conn=1 name=net estimate_ns=400 step_ns=50\n"
		         "30 model_prepare model=2 conn=1 name=net estimate_ns=300 step_ns=40 since=9\n",
		  "1 model\nmodel number=2 estimate_ns=300 measured_ns=400 step_ns=40 prepared=10" },
		{ "one that was prepared earlier: how long it took then is unknown",
		  CAMERA "30 model_prepare model=2 conn=1 name=net estimate_ns=300 step_ns=40 since=9\n",
		  "1 model\nmodel number=2 estimate_ns=300 measured_ns=- step_ns=40 prepared=9" },
		{ "one that nobody told of", "10 exec_submit exec=4:1 model=2 path=sync\n",
		  "model number=2 name= status=255 priority=255 step_ns=- prepared=- released=-" },
		{ "one that is told of after it was heard of",
		  CAMERA "10 exec_submit exec=4:1 model=2 path=sync\n"
		         "11 model_prepare model=2 conn=1 name=net since=5\n",
		  "1 model\nmodel number=2 name=net prepared=5\nexecution id=4:1 model=2/net" },
		{ "a number that is given anew is another model",
		  CAMERA "10 model_prepare model=2 conn=1 name=net\n"
		         "11 model_release model=2\n"
		         "12 model_prepare model=2 conn=1 name=other\n"
		         "20 exec_submit exec=4:1 model=2 path=sync\n",
		  "model number=2 name=net released=11\nmodel number=2 name=other released=-\nexecution "
		  "model=2/other" },
		{ "an execution may be heard of after its model's release, for a while",
		  CAMERA "10 model_prepare model=2 conn=1 name=net\n"
		         "11 model_release model=2\n"
		         "900ms exec_submit exec=4:1 model=2 path=sync\n"
		         "1100ms performance_hold on=1\n"
		         "1200ms exec_submit exec=4:2 model=2 path=sync\n",
		  "execution id=4:1 model=2/net\nexecution id=4:2 model=2/\n2 model" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void streams_are_there_from_open_to_close(void **state)
{
	static const struct fold_row rows[] = {
		{ "a burst, and a connection's calls",
		  CAMERA "10 model_prepare model=2 conn=1 name=net\n"
		         "11 stream_open stream=3 conn=1 path=burst model=2\n"
		         "12 stream_open stream=4 conn=1 path=sync\n"
		         "20 stream_close stream=3 reason=peer_death\n",
		  "stream number=3 trace=1 path=0 app=20/camera model=2/net process=20 opened=11 closed=20 reason=1 "
		  "executions=0 "
		  "first=-\n"
		  "stream number=4 path=1 model=none opened=12 closed=- reason=255" },
		{ "told again: nothing new",
		  CAMERA "11 stream_open stream=4 conn=1 path=sync\n"
		         "12 exec_submit exec=4:1 path=sync\n"
		         "13 stream_open stream=4 conn=1 path=sync since=10\n"
		         "14 exec_return exec=4:1\n",
		  "1 stream\nstream opened=11 executions=1 first=12\n1 execution\nleft stragglers=0" },
		{ "who begins to listen late hears since when it is open",
		  CAMERA "11 stream_open stream=4 conn=1 path=sync since=7\n", "stream number=4 opened=7" },
		{ "one that nobody told of", "12 exec_submit exec=4:1 path=async\n",
		  "stream number=4 path=3 app=none opened=- closed=- executions=1 first=12" },
		{ "one whose end was not seen: its number is given anew",
		  CAMERA "11 stream_open stream=4 conn=1 path=sync\n"
		         "12 exec_submit exec=4:1 path=sync\n"
		         "13 exec_return exec=4:1\n"
		         "14 exec_submit exec=4:2 path=sync\n"
		         "20 stream_open stream=4 conn=1 path=sync\n"
		         "21 exec_submit exec=4:1 path=sync\n"
		         "22 exec_return exec=4:1\n",
		  "stream number=4 opened=11 closed=- executions=2\nstream number=4 opened=20 executions=1\n"
		  "execution id=4:1 e2e=1 at=12,-,-,-,-,-,-,-,-,-,13,-\nexecution id=4:1 at=21,-,-,-,-,-,-,-,-,-,22,-\n"
		  "execution id=4:2 quality=tail\nleft stragglers=0" },
		{ "whose calls they are is known from the scheduler, if the connection was not seen",
		  "11 stream_open stream=4 conn=1 path=sync\n"
		  "12 exec_submit exec=4:1 path=sync\n"
		  "13 sched_enqueue exec=4:1 model=2 app=30 priority=low\n"
		  "14 exec_submit exec=4:2 path=sync\n",
		  "stream number=4 app=30/ process=none\nexecution id=4:1 app=30/\nexecution id=4:2 app=30/" },
		{ "executions' last events may come after its end",
		  CAMERA "11 stream_open stream=4 conn=1 path=sync\n"
		         "12 exec_submit exec=4:1 path=sync\n"
		         "20 stream_close stream=4 reason=shutdown\n"
		         "21 client_disconnect conn=1\n"
		         "500ms exec_return exec=4:1 status=dead_object\n",
		  "stream number=4 executions=1 closed=20 reason=3\nexecution id=4:1 status=9 e2e=499999988\nleft "
		  "stragglers=0" },
		{ "but not for ever",
		  CAMERA "11 stream_open stream=4 conn=1 path=sync\n"
		         "12 exec_submit exec=4:1 path=sync\n"
		         "20 stream_close stream=4 reason=shutdown\n"
		         "2s performance_hold on=1\n",
		  "stream number=4 executions=1\nexecution id=4:1 quality=tail" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void mappings_are_there_until_they_are_used_no_more(void **state)
{
	static const struct fold_row rows[] = {
		{ "of a burst's slot, twice",
		  HERE "10 pool_map owner=stream owner_id=3 slot=4 kind=mmap_fd bytes=64 took_ns=2\n"
		       "20 pool_unmap owner=stream owner_id=3 slot=4 cause=evicted\n"
		       "30 pool_map owner=stream owner_id=3 slot=4 kind=ashmem bytes=65 took_ns=3\n",
		  "mapping stream=3 owner=1 owner_id=3 slot=4 kind=1 bytes=64 mapped=10 unmapped=20 took=2 status=0 "
		  "cause=1 trace=1\n"
		  "mapping stream=3 slot=4 kind=0 bytes=65 mapped=30 unmapped=- cause=255\n2 mapping" },
		{ "a slot that is mapped anew: the one before is used no more",
		  HERE "10 pool_map owner=stream owner_id=3 slot=4 bytes=64\n"
		       "20 pool_map owner=stream owner_id=3 slot=4 bytes=64\n",
		  "mapping mapped=10 unmapped=20 cause=255\nmapping mapped=20 unmapped=-" },
		{ "of a stream that has closed, kept until the fold reports its last execution: the mapping ends with "
		  "the stream",
		  HERE
		  "10 sched_enqueue exec=3:1 model=2 app=20 priority=high\n"
		  "20 stream_close stream=3 reason=client\n"
		  "20s exec_submit exec=6:1 model=2 path=async\n" /* the service is silent: perhaps 3:1 is under way */
		  "21s pool_map owner=stream owner_id=3 slot=4 bytes=64\n"
		  "22s service_state pid=9 lanes=1\n" /* now it is over */
		  "23s exec_submit exec=6:2 model=2 path=async\n"
		  "24s pool_unmap owner=stream owner_id=3 slot=4 cause=evicted\n",
		  "1 mapping\nmapping owner=1 owner_id=3 mapped=21000000000 unmapped=- cause=255" },
		{ "slots of others have the same numbers",
		  HERE "10 pool_map owner=model owner_id=2 slot=0 bytes=64\n"
		       "11 pool_map owner=exec owner_id=2 slot=0 bytes=65\n"
		       "12 pool_map owner=stream owner_id=3 slot=0 bytes=66\n"
		       "13 pool_unmap owner=exec owner_id=2 slot=0 cause=owner_end\n",
		  "mapping owner=0 stream=none unmapped=- bytes=64\nmapping owner=2 stream=none unmapped=13 bytes=65 "
		  "cause=2\n"
		  "mapping owner=1 stream=3 unmapped=- bytes=66" },
		{ "told again",
		  HERE "10 pool_map owner=stream owner_id=3 slot=4 bytes=64\n"
		       "20 pool_map owner=stream owner_id=3 slot=4 bytes=64 since=9\n"
		       "30 pool_map owner=stream owner_id=3 slot=5 bytes=64 since=8\n",
		  "2 mapping\nmapping slot=4 mapped=10\nmapping slot=5 mapped=8" },
		{ "one that could not be",
		  HERE "10 pool_map owner=stream owner_id=3 slot=4 bytes=64 status=general_failure\n"
		       "11 pool_unmap owner=stream owner_id=3 slot=4\n",
		  "mapping mapped=10 unmapped=- status=2" },
		{ "with the stream's end the mappings end that nobody saw end",
		  HERE "10 pool_map owner=stream owner_id=3 slot=4 bytes=64\n"
		       "20 stream_close stream=3\n"
		       "2s performance_hold on=1\n",
		  "mapping stream=3 unmapped=-" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void buffers_are_there_until_they_mean_nothing_any_more(void **state)
{
	static const struct fold_row rows[] = {
		{ "allocated, used, freed",
		  HERE "10 buffer_allocate buffer=8 conn=1 bytes=64 roles=3\n"
		       "11 buffer_copy buffer=8 dir=to bytes=64 took_ns=5\n"
		       "12 buffer_copy buffer=8 dir=from bytes=32 took_ns=6 status=invalid_argument\n"
		       "13 buffer_reject buffer=8 exec=4:1 cause=uninitialised\n"
		       "14 buffer_free buffer=8 cause=owner_end\n",
		  "buffer number=8 app=20/camera bytes=64 roles=3 allocated=10 freed=14 status=0 cause=2 trace=1\n1 "
		  "buffer\n"
		  "buffer_used at=11 buffer=8 op=0 bytes=64 took=5 status=0 execution=none cause=255\n"
		  "buffer_used at=12 buffer=8 op=1 bytes=32 took=6 status=4\n"
		  "buffer_used at=13 buffer=8 op=2 execution=4:1 cause=2 status=255 bytes=- took=-" },
		{ "refused", HERE "10 buffer_allocate conn=1 bytes=64 roles=3 status=resource_exhausted_persistent\n",
		  "buffer number=0 app=20/camera bytes=64 allocated=10 freed=- status=8" },
		{ "told again, and one of which nobody told",
		  HERE "10 buffer_allocate buffer=8 conn=1 bytes=64\n"
		       "11 buffer_allocate buffer=8 conn=1 bytes=64 since=9\n"
		       "12 buffer_copy buffer=9 dir=to bytes=64\n",
		  "2 buffer\nbuffer number=8 allocated=10 freed=-\nbuffer number=9 allocated=- status=255 bytes=-" },
		{ "a rejected use of what is no buffer", HERE "13 buffer_reject cause=unknown\n",
		  "no buffer\nbuffer_used buffer=none op=2 cause=4 execution=none" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

static void what_there_was_too_little_of_was_somebodys(void **state)
{
	static const struct fold_row rows[] = {
		{ "an app's, a model's, a stream's, an execution's, and the service's",
		  HERE "10 resource_exhausted owner=app owner_id=20 kind=persistent resource=streams asked=5 limit=4\n"
		       "11 resource_exhausted owner=model owner_id=2 resource=memory\n"
		       "12 resource_exhausted owner=stream owner_id=3 resource=pools\n"
		       "13 exec_submit exec=4:1 model=2 path=sync\n"
		       "14 resource_exhausted owner=exec owner_id=0x400000001 resource=pools\n"
		       "15 resource_exhausted owner=service owner_id=0 resource=connections\n",
		  "exhausted at=10 app=20/camera model=none execution=none owner=3 owner_id=20 kind=1 resource=4 "
		  "asked=5 limit=4 "
		  "trace=1\n"
		  "exhausted at=11 app=20/camera model=2/net\n"
		  "exhausted at=12 app=20/camera model=2/net execution=none\n"
		  "exhausted at=14 app=20/camera model=2/net execution=4:1\n"
		  "exhausted at=15 app=none model=none owner=4" },
		{ "nobody's that we know",
		  "10 resource_exhausted owner=app owner_id=20\n"
		  "11 resource_exhausted owner=app owner_id=0xfffffffffffffff\n"
		  "12 resource_exhausted owner=77 owner_id=20\n",
		  "3 exhausted app=none" },
	};

	(void)state;
	fold_rows(rows, N_OF(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apps_and_processes_are_who_they_are_as_long_as_they_are_connected),
		cmocka_unit_test(rules_are_told_when_they_change),
		cmocka_unit_test(models_are_there_from_prepare_to_release),
		cmocka_unit_test(streams_are_there_from_open_to_close),
		cmocka_unit_test(mappings_are_there_until_they_are_used_no_more),
		cmocka_unit_test(buffers_are_there_until_they_mean_nothing_any_more),
		cmocka_unit_test(what_there_was_too_little_of_was_somebodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
