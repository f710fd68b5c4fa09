/*
 * test_schedule.c -- steps in, facts out: one row, one story.
 *
 * A script is sentences with a semicolon between them. "x 1 app 2 high step 5 of 3 counted uncertain"
 * declares execution 1, of instance 3; without that sentence it is of app 1, medium, without a step, of
 * instance 1. "10 dispatch 1 0" is a step at 10 with a lane, "over 1" asks the schedule for its result about
 * an execution, "90 over 0" is the end; from "2 listing" to "8 listed" the service reports what was under
 * way. Of the reported facts, those count, in any order, whose sentences begin with a word of "about".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fold/schedule.h"
#include "unit/schedule_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXECUTIONS = 16 };

struct scene {
	struct bsa_schedule *s;
	bool late; /* all steps are noted before any is taken */
	unsigned asked[EXECUTIONS], n_asked;
	uint64_t ended;
	struct bsa_scheduled x[EXECUTIONS];
	struct lines got;
};

static const struct story {
	const char *story, *about;
	uint64_t window, starvation;
	const char *script, *facts;
} stories[] = {
	/* clang-format off */
	{ "one alone finds its lane idle", "wait slice over inverted starved chosen interfered", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 12 dispatch 1 0; 30 end 1 0; 30 over 0; over 1",
	  "over 1: lane 0, idle, ran 18, waited 2, bypassed 0" },
	{ "one that gets its lane at once has no wait to tell of", "wait over", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 30 end 1 0; over 1",
	  "over 1: lane 0, idle, ran 20, waited 0, bypassed 0" },
	{ "what is before the first step on a lane is unknown", "wait over", 0, 0,
	  "0 lanes 1; 10 ready 1; 12 dispatch 1 0; 30 end 1 0; 32 ready 2; 33 dispatch 2 0; 40 end 2 0; 50 over 0; over 1; "
	  "over 2",
	  "wait 1: 10-12 lane 0 queue unknown by 0 of app 0;"
	  "over 1: lane 0, ran 18, waited 2, bypassed 0;"
	  "over 2: lane 0, idle, ran 7, waited 1, bypassed 0" },
	{ "a service that was not recorded has as many lanes as were seen", "share wait", 0, 0,
	  "10 ready 1; 10 dispatch 1 0; 20 ready 2; 20 dispatch 2 1; 30 end 1 0; 40 end 2 1; 50 over 0",
	  "share app 1: 40 of 40, lag 0 at -1" },
	{ "where stops are missing, nothing is known until the first one is recorded", "share slice wait", 0, 0,
	  "x 3 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 20 ready 2; 20 dispatch 2 0; 30 end 2 0; "
	  "35 ready 3; 35 dispatch 3 0; 60 stop 3 0; 70 resume 3 0; 80 end 3 0; 90 over 0",
	  "share app 1: 10 of 10, lag 0 at -1;"
	  "share app 2: 10 of 10, lag 0 at -1;"
	  "slice 3: 70-80 lane 0 of 1" },
	{ "behind another one of the app, and then handed over", "wait over interfered inverted", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 15 ready 2; 30 end 1 0; 33 dispatch 2 0; 40 end 2 0; 50 over 0; "
	  "over 1; over 2",
	  "wait 2: 15-30 lane 0 queue held queued_behind by 1 of app 1;"
	  "wait 2: 30-33 lane 0 queue idle handover by 0 of app 0;"
	  "over 1: lane 0, idle, ran 20, waited 0, bypassed 0;"
	  "over 2: lane 0, ran 7, waited 18, bypassed 0;"
	  "interfered app 1 with app 1: 15" },
	{ "two stretches of two others, with nothing between them", "wait", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 12 ready 2; 13 ready 3; 20 end 1 0; 20 dispatch 2 0; 30 end 2 0; "
	  "30 dispatch 3 0; 31 end 3 0",
	  "wait 2: 12-20 lane 0 queue held queued_behind by 1 of app 1;"
	  "wait 3: 13-20 lane 0 queue held queued_behind by 1 of app 1;"
	  "wait 3: 20-30 lane 0 queue held queued_behind by 2 of app 1" },
	{ "behind another app that had not had more than its share", "wait interfered", 0, 0,
	  "x 1 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 15 ready 2; 30 end 1 0; 30 dispatch 2 0; "
	  "40 end 2 0; 50 over 0",
	  "wait 2: 15-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "interfered app 2 with app 1: 15" },
	{ "behind another app that had had more than its share by a step", "wait", 0, 0,
	  "x 1 app 2 low step 5; x 3 app 2 low step 9; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; "
	  "20 ready 3; 30 end 1 0; 30 dispatch 3 0; 40 end 3 0; 40 dispatch 2 0; 45 end 2 0; 50 over 0",
	  "wait 2: 10-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 30-40 lane 0 queue held hogged by 3 of app 2;"
	  "wait 3: 20-30 lane 0 queue held queued_behind by 1 of app 2" },
	{ "behind another app that had had more than its share by no more than a step", "wait", 0, 0,
	  "x 1 app 2 low step 5; x 3 app 2 low step 10; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; "
	  "20 ready 3; 30 end 1 0; 30 dispatch 3 0; 40 end 3 0; 40 dispatch 2 0; 45 end 2 0; 50 over 0",
	  "wait 2: 10-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 30-40 lane 0 queue held crowded_out by 3 of app 2;"
	  "wait 3: 20-30 lane 0 queue held queued_behind by 1 of app 2" },
	{ "behind less priority for longer than its step", "wait inverted", 0, 0,
	  "x 1 app 1 low step 14; x 2 app 1 high; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 15 ready 2; 30 end 1 0; "
	  "30 dispatch 2 0; 45 end 2 0",
	  "wait 2: 15-30 lane 0 queue held inversion by 1 of app 1;"
	  "inverted 2 by 1: 15 for 15 lane 0" },
	{ "behind less priority for no longer than its step", "wait inverted", 0, 0,
	  "x 1 app 1 low step 14; x 2 app 1 high; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 16 ready 2; 30 end 1 0; "
	  "30 dispatch 2 0; 45 end 2 0",
	  "wait 2: 16-30 lane 0 queue held inversion by 1 of app 1" },
	{ "less priority has another lane than the one it gets", "wait inverted", 0, 0,
	  "x 1 app 1 low step 3; x 2 app 2 low; x 3 app 1 high; 0 lanes 2 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; "
	  "10 dispatch 2 1; 20 ready 3; 30 end 2 1; 30 dispatch 3 1; 40 end 1 0",
	  "wait 3: 20-30 lane 1 queue held crowded_out by 2 of app 2;"
	  "inverted 3 by 1: 20 for 10 lane 0" },
	{ "less priority has another lane while the one it gets is free for it", "wait inverted", 0, 0,
	  "x 1 app 1 low step 3; x 2 app 2 low; x 3 app 1 high; 0 lanes 2 idle; 10 ready 1; 10 ready 2; 10 dispatch 2 1; "
	  "20 ready 3; 30 end 2 1; 31 dispatch 1 0; 50 dispatch 3 1; 60 end 1 0",
	  "wait 3: 20-30 lane 1 queue held crowded_out by 2 of app 2;"
	  "wait 3: 30-50 lane 1 queue idle handover by 0 of app 0" },
	{ "less priority has another lane until the one it gets is free for it", "wait inverted", 0, 0,
	  "x 1 app 1 low step 3; x 2 app 2 low; x 3 app 1 high; 0 lanes 2 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; "
	  "10 dispatch 2 1; 20 ready 3; 30 end 2 1; 50 dispatch 3 1; 60 end 1 0",
	  "wait 3: 20-30 lane 1 queue held crowded_out by 2 of app 2;"
	  "wait 3: 30-50 lane 1 queue idle handover by 0 of app 0;"
	  "inverted 3 by 1: 20 for 10 lane 0" },
	{ "a preempted execution waits again, for the holder of its lane", "wait slice over chosen interfered", 0, 0,
	  "x 2 app 1 high; 0 lanes 1 idle; 10 ready 1; 11 dispatch 1 0; 20 ready 2; 25 stop 1 0; 26 dispatch 2 0; "
	  "36 end 2 0; 38 resume 1 0; 50 end 1 0; 60 over 0; over 1; over 2",
	  "wait 1: 10-11 lane 0 queue idle handover by 0 of app 0;"
	  "wait 1: 25-26 lane 0 preempted idle handover by 0 of app 0;"
	  "wait 1: 26-36 lane 0 preempted held preempted by 2 of app 1;"
	  "wait 1: 36-38 lane 0 preempted idle handover by 0 of app 0;"
	  "wait 2: 20-25 lane 0 queue held inversion by 1 of app 1;"
	  "wait 2: 25-26 lane 0 queue idle handover by 0 of app 0;"
	  "slice 1: 11-25 lane 0 of 1;"
	  "slice 1: 38-50 lane 0 of 1;"
	  "chosen 2 at 25 before 1;"
	  "interfered app 1 with app 1: 15;"
	  "over 1: lane -1, ran 26, waited 14, bypassed 0;"
	  "over 2: lane 0, ran 10, waited 6, bypassed 0" },
	{ "one that goes on on another lane waits for that one", "wait slice over", 0, 0,
	  "x 2 app 2 high; 0 lanes 2 idle; 10 ready 1; 10 dispatch 1 0; 20 ready 2; 20 stop 1 0; 20 dispatch 2 0; "
	  "25 resume 1 1; 30 end 1 1; 40 end 2 0; over 1",
	  "wait 1: 20-25 lane 1 preempted idle handover by 0 of app 0;"
	  "slice 1: 10-20 lane 0 of 1;"
	  "slice 1: 25-30 lane 1 of 1;"
	  "over 1: lane -1, ran 15, waited 5, bypassed 0" },
	{ "one that gives up while it is off its lane leaves that alone", "wait slice over", 0, 0,
	  "x 2 app 2 high; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 20 ready 2; 20 stop 1 0; 20 dispatch 2 0; "
	  "25 end 1 0; 40 end 2 0; over 1; over 2",
	  "wait 1: 20-25 lane 0 preempted held preempted by 2 of app 2;"
	  "slice 1: 10-20 lane 0 of 1;"
	  "over 1: lane -1, ran 10, waited 5, bypassed 0;"
	  "over 2: lane 0, idle, ran 20, waited 0, bypassed 0" },
	{ "one that dies in the queue waited for the first lane", "wait over", 0, 0,
	  "x 1 app 2 low; 0 lanes 2 idle; 10 ready 1; 10 dispatch 1 0; 12 ready 2; 20 end 2 255; 22 ready 3; "
	  "25 dispatch 3 1; 26 end 3 1; 30 end 1 0; over 2; over 3",
	  "wait 2: 12-20 lane 0 queue held crowded_out by 1 of app 2;"
	  "over 2: lane -1, ran 0, waited 8, bypassed 0;"
	  "over 3: lane 1, idle, ran 1, waited 3, bypassed 0" },
	{ "one that dies in the queue of an idle lane is told of as such", "wait over", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 14 end 1 255; over 1",
	  "wait 1: 10-14 lane 0 queue idle handover by 0 of app 0;"
	  "over 1: lane -1, ran 0, waited 4, bypassed 0" },
	{ "in a native service no execution waits for long, nor for another one", "wait slice over share lag chosen inverted refused", 0, 0,
	  "x 1 app 1 low; x 2 app 2 high; 0 lanes 0 native; 10 ready 1; 11 ready 2; 12 dispatch 1 254; 13 dispatch 2 254; "
	  "20 end 1 254; 30 end 2 254; 40 over 0; over 1; over 2",
	  "over 1: lane -1, idle, ran 8, waited 2, bypassed 0;"
	  "over 2: lane -1, idle, ran 17, waited 2, bypassed 0" },
	{ "services have nothing to do with each other", "wait over chosen", 0, 0,
	  "x 1 app 1 low step 0 of 1; x 2 app 2 low step 0 of 2; 0 lanes 1 idle 1; 0 lanes 1 idle 2; 10 ready 1; "
	  "11 dispatch 1 0; 12 ready 2; 14 dispatch 2 0; 20 end 1 0; 30 end 2 0; over 1; over 2",
	  "over 1: lane 0, idle, ran 9, waited 1, bypassed 0;"
	  "over 2: lane 0, idle, ran 16, waited 2, bypassed 0" },
	{ "longer than the threshold without a lane, and who had it for most of that", "starved over", 0, 40,
	  "x 1 app 2 low; x 2 app 1 medium; x 3 app 3 low; x 4 app 1 medium; x 5 app 1 high; 0 lanes 1 idle; 10 ready 1; "
	  "10 dispatch 1 0; 11 ready 2; 12 ready 3; 13 ready 4; 14 ready 5; 20 end 1 0; 20 dispatch 3 0; 50 end 3 0; "
	  "50 dispatch 4 0; 60 end 4 0; 60 dispatch 5 0; 62 end 5 0; 62 dispatch 2 0; 70 end 2 0; over 2; over 4",
	  "starved 2 of app 1: 11 for 51, app 3 30, bypassed 2, model 7;"
	  "over 2: lane 0, ran 8, waited 51, bypassed 2;"
	  "over 4: lane 0, ran 10, waited 37, bypassed 0;"
	  "starved 5 of app 1: 14 for 46, app 3 30, bypassed 0, model 7" },
	{ "of two that had the lane for the same time, the first app", "starved", 0, 19,
	  "x 1 app 3 low; x 2 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 10 ready 3; 20 end 1 0; "
	  "20 dispatch 2 0; 30 end 2 0; 30 dispatch 3 0; 35 end 3 0",
	  "starved 3 of app 1: 10 for 20, app 2 10, bypassed 0, model 7" },
	{ "as long as the threshold is not longer", "starved", 0, 20,
	  "0 lanes 1 idle; 10 ready 1; 30 dispatch 1 0; 35 end 1 0",
	  "" },
	{ "to be ready at the same time is not to come later", "over", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 ready 2; 12 dispatch 2 0; 14 end 2 0; 15 dispatch 1 0; 20 end 1 0; over 1",
	  "over 1: lane 0, ran 5, waited 5, bypassed 0" },
	{ "who is passed while preempted is bypassed", "over", 0, 0,
	  "x 1 app 1 low; x 2 app 2 low; x 3 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 20 stop 1 0; "
	  "21 ready 2; 22 dispatch 2 0; 30 end 2 0; 30 ready 3; 30 dispatch 3 0; 40 end 3 0; 40 resume 1 0; 50 end 1 0; "
	  "over 1",
	  "over 1: lane -1, ran 20, waited 20, bypassed 2" },
	{ "the highest is chosen", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 1 medium; x 4 app 2 high; 0 lanes 1 idle; 5 ready 4; 5 dispatch 4 0; "
	  "6 ready 1; 7 ready 2; 8 ready 3; 9 end 4 0; 10 dispatch 2 0; 20 end 2 0; 20 dispatch 3 0; 30 end 3 0; "
	  "30 dispatch 1 0; 40 end 1 0",
	  "chosen 2 at 9 before 3;"
	  "chosen 3 at 20 before 1" },
	{ "the highest is not chosen", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 1 medium; x 4 app 2 high; 0 lanes 1 idle; 5 ready 4; 5 dispatch 4 0; "
	  "6 ready 1; 7 ready 2; 8 ready 3; 9 end 4 0; 10 dispatch 1 0; 20 end 1 0; 20 dispatch 3 0; 30 end 3 0; "
	  "30 dispatch 2 0; 40 end 2 0",
	  "chosen 1 at 9 before 2, wrongly;"
	  "chosen 3 at 20 before 2, wrongly" },
	{ "of those of one priority the one that is ready longest is passed over", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 low; x 3 app 1 high; x 4 app 1 nobody_knows; 0 lanes 1 idle; 5 ready 4; 6 ready 1; "
	  "7 ready 2; 8 ready 3; 10 dispatch 3 0; 20 end 3 0; 20 dispatch 2 0; 30 end 2 0",
	  "chosen 3 at 8 before 1" },
	{ "one that goes on is chosen too", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; 0 lanes 1 idle; 5 ready 1; 5 dispatch 1 0; 8 ready 2; 8 stop 1 0; 10 resume 1 0; "
	  "15 end 1 0; 15 dispatch 2 0; 20 end 2 0",
	  "chosen 1 at 8 before 2, wrongly" },
	{ "who is ready only while the chosen one is being woken is not passed over", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 1 low; 0 lanes 1 idle; 5 ready 1; 6 ready 2; 8 dispatch 1 0; 9 ready 3; "
	  "20 end 1 0; 21 dispatch 3 0; 22 end 3 0; 23 dispatch 2 0",
	  "chosen 3 at 20 before 2, wrongly" },
	{ "who is given up while the chosen one is being woken is passed over", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 2 low; x 4 app 1 high; 0 lanes 1 idle; 5 ready 3; 5 dispatch 3 0; 6 ready 1; "
	  "7 ready 2; 8 ready 4; 10 end 4 255; 10 end 3 0; 12 end 2 255; 14 dispatch 1 0; 20 end 1 0",
	  "chosen 1 at 10 before 2, wrongly" },
	{ "who is given a lane later, and is on it sooner, is passed over", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 2 low; x 4 app 2 low; 0 lanes 2 idle; 5 ready 3; 5 dispatch 3 0; 5 ready 4; "
	  "5 dispatch 4 1; 6 ready 1; 7 ready 2; 10 end 3 0; 12 end 4 1; 13 dispatch 2 1; 14 dispatch 1 0",
	  "chosen 1 at 10 before 2, wrongly" },
	{ "of those that have left and those that wait the one that is ready longest is passed over", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 2 low; x 4 app 1 high; x 5 app 1 high; 0 lanes 1 idle; 5 ready 3; 5 dispatch 3 0; "
	  "6 ready 2; 7 ready 4; 8 ready 5; 9 ready 1; 10 end 3 0; 11 end 5 255; 12 end 4 255; 14 dispatch 1 0; 20 end 1 0; "
	  "21 dispatch 2 0; 30 end 2 0; 31 ready 1",
	  "chosen 1 at 10 before 2, wrongly" },
	{ "who may have been given another lane is not passed over", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 1 medium; x 4 app 1 low; 0 lanes 2 idle; 1 ready 3; 1 dispatch 3 0; 2 ready 1; "
	  "3 dispatch 1 1; 4 ready 4; 5 ready 2; 6 end 3 0; 7 end 1 1; 8 dispatch 4 1; 9 dispatch 2 0; 20 end 2 0; 21 end 4 1",
	  "chosen 2 at 6 before 4" },
	{ "but the best of those that were left over is", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; x 3 app 1 medium; x 4 app 1 low; 0 lanes 2 idle; 2 ready 1; 2 ready 2; 2 ready 3; "
	  "2 ready 4; 8 dispatch 1 1; 9 dispatch 2 0; 20 end 2 0; 20 dispatch 3 0; 21 end 1 1; 21 dispatch 4 1",
	  "chosen 1 at 2 before 3, wrongly;"
	  "chosen 2 at 2 before 3;"
	  "chosen 3 at 20 before 4" },
	{ "an execution on a lane that was free since an unknown time is no choice", "chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; 0 lanes 1; 5 ready 1; 6 ready 2; 8 dispatch 1 0; 20 end 1 0; 21 dispatch 2 0", "" },
	{ "on an invalid lane: the wait until then has an unknown holder", "wait over chosen", 0, 0,
	  "x 1 app 1 low; x 2 app 1 high; 0 lanes 1 idle; 5 ready 1; 6 ready 2; 10 dispatch 1 80; 12 dispatch 2 0; 15 end 1 0; "
	  "20 end 2 0; over 1; over 2",
	  "wait 1: 5-10 lane 0 queue unknown by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 5, bypassed 0;"
	  "over 2: lane 0, idle, ran 8, waited 6, bypassed 0" },
	{ "refused while a lane is free", "refused", 0, 0,
	  "x 1 app 2 low; 0 lanes 2 idle; 5 ready 1; 5 dispatch 1 0; 10 refused 2; 10 end 2 255; 20 end 1 0; 30 over 0",
	  "refused 2: free 10, crowded_out by 1 of app 2" },
	{ "refused while all are held: the first to be free", "refused", 0, 0,
	  "x 1 app 1 low; x 3 app 1 high; 0 lanes 2 idle; 5 ready 1; 5 dispatch 1 0; 6 ready 2; 6 dispatch 2 1; "
	  "10 refused 3; 11 refused 4; 12 end 3 255; 15 stop 2 1; 20 end 1 0; 30 over 0",
	  "refused 3: free 15, inversion by 1 of app 1;"
	  "refused 4: free 15, inversion by 1 of app 1" },
	{ "refused, and no lane is ever seen to be free", "refused", 0, 0,
	  "x 1 app 1 high; 0 lanes 1 idle; 5 ready 1; 5 dispatch 1 0; 10 refused 2; 30 over 0",
	  "refused 2: free -1, queued_behind by 1 of app 1" },
	{ "a lane that stays idle proves that none waits", "possible", 0, 0,
	  "0 lanes 2 idle; 10 ready 2; 11 dispatch 2 0; 12 ready 3; 13 dispatch 3 1; 20 ready 1; 30 loss 31;"
	  "40 end 3 1; 42 ready 4; 43 dispatch 4 1; 44 end 4 1; 60000000 forget 1; 70000000 over 0",
	  "possible 1: 20-1000048; possible 3: 30-40" },
	{ "a lane that the service has given up proves nothing", "possible", 0, 0,
	  "0 lanes 2 idle; 10 ready 2; 11 dispatch 2 0; 12 ready 3; 13 dispatch 3 1; 20 ready 1; 30 loss 31;"
	  "40 end 3 1; 42 ready 4; 43 dispatch 4 1; 44 end 4 1; 45 lanes 1; 60000000 forget 1; 70000000 over 0",
	  "possible 1: 20-60000000; possible 3: 30-40" },
	{ "stopped on a lane that it never got, long after a hole: it waited until then at most", "possible", 0, 0,
	  "0 lanes 1 idle; 5 loss 6; 10 ready 1; 30 stop 1 0; 40 cut 1; 50 over 0",
	  "possible 1: 10-30" },
	{ "two holes may hide that it was off its lane between them, and its end", "possible", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 11 dispatch 1 0; 20 loss 30; 50 loss 60; 80 forget 1; 90 over 0",
	  "possible 1: 20-80" },
	{ "an execution on its lane may have ended at any time, if there is no hole", "possible", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 11 dispatch 1 0; 80 forget 1; 90 over 0",
	  "" },
	{ "an execution without a lane does not wait for one, whatever holes hide", "possible", 0, 0,
	  "0 lanes 0 native; 10 ready 1; 11 dispatch 1 254; 13 ready 2; 14 dispatch 2 254; 20 loss 30; 50 loss 60; "
	  "80 forget 1; 85 cut 2; 90 over 0",
	  "" },
	{ "the service has listed what was under way: its lane is idle", "wait over", 0, 0,
	  "1 lanes 1; 2 listing; 8 listed; 10 ready 1; 50 dispatch 1 0; 60 end 1 0; over 1",
	  "over 1: lane 0, idle, ran 10, waited 40, bypassed 0" },
	{ "a hole in that list may hide who has the lane", "wait over", 0, 0,
	  "1 lanes 1; 2 listing; 4 loss 6; 8 listed; 10 ready 1; 50 dispatch 1 0; 60 end 1 0; over 1",
	  "wait 1: 10-50 lane 0 queue unknown by 0 of app 0;"
	  "over 1: lane 0, ran 10, waited 40, bypassed 0" },
	{ "refused, and nothing is known of the lanes: one may have been free before", "refused", 0, 0,
	  "0 lanes 1; 10 refused 2; 12 ready 1; 13 dispatch 1 0; 20 end 1 0; 30 over 0",
	  "refused 2: free -1, unknown by 0 of app 0" },
	{ "one app has all that it can use", "share lag", 100, 0,
	  "0 lanes 2 idle; 10 ready 1; 10 dispatch 1 0; 30 end 1 0; 40 over 0",
	  "share app 1: 20 of 20, lag 0 at -1;"
	  "lag app 1: 0: 20 of 20, 0" },
	{ "two on one lane have half of it each", "share lag", 100, 0,
	  "x 2 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 30 end 1 0; 30 dispatch 2 0; "
	  "45 end 2 0; 60 over 0",
	  "share app 1: 20 of 10, lag 0 at -1;"
	  "share app 2: 15 of 25, lag 10 at 30;"
	  "lag app 1: 0: 20 of 10, 0;"
	  "lag app 2: 0: 15 of 25, 10" },
	{ "windows cut exactly", "lag", 20, 0,
	  "x 2 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 15 ready 2; 35 end 1 0; 35 dispatch 2 0; "
	  "42 end 2 0; 60 over 0",
	  "lag app 1: 0: 10 of 8, 0;"
	  "lag app 2: 0: 0 of 3, 3;"
	  "lag app 1: 20: 15 of 8, -3;"
	  "lag app 2: 20: 5 of 13, 10;"
	  "lag app 2: 40: 2 of 2, 10" },
	{ "three on two lanes have two thirds each", "share", 0, 0,
	  "x 2 app 2 low; x 3 app 3 low; 0 lanes 2 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 10 dispatch 2 1; "
	  "10 ready 3; 40 end 1 0; 40 end 2 1; 40 dispatch 3 0; 50 end 3 0; 60 over 0",
	  "share app 1: 30 of 20, lag 0 at -1;"
	  "share app 2: 30 of 20, lag 0 at -1;"
	  "share app 3: 10 of 30, lag 20 at 40" },
	{ "who can use but one lane leaves the rest to the others", "share", 0, 0,
	  "x 1 app 1 low; x 2 app 2 low; x 3 app 2 low; x 4 app 2 low; 0 lanes 3 idle; 10 ready 1; 10 dispatch 1 0; "
	  "10 ready 2; 10 dispatch 2 1; 10 ready 3; 10 ready 4; 30 dispatch 3 2; 40 end 1 0; 40 end 2 1; 40 end 3 2; "
	  "40 end 4 255; 60 over 0",
	  "share app 1: 30 of 30, lag 0 at -1;"
	  "share app 2: 60 of 60, lag 0 at -1" },
	{ "a lane that is handed over is shared, and had, when it is over", "share lag", 100, 0,
	  "x 1 app 1 low; x 2 app 2 low; x 3 app 2 low; 0 lanes 1 idle; 10 ready 1; 14 ready 2; 20 dispatch 1 0; 30 end 1 0; "
	  "36 dispatch 2 0; 40 end 2 0; 60 over 0",
	  "share app 1: 20 of 10, lag 0 at -1;"
	  "share app 2: 10 of 20, lag 10 at 30;"
	  "lag app 1: 0: 20 of 10, 0;"
	  "lag app 2: 0: 10 of 20, 10" },
	{ "an idle lane is owed to no app", "share", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 30 end 1 255; 60 over 0", "" },
	{ "of a lane that is handed over, who needs no more leaves his part to the others", "share", 0, 0,
	  "x 1 app 1 low; x 2 app 2 low; x 3 app 2 low; 0 lanes 3 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 10 ready 3; "
	  "20 dispatch 2 1; 30 dispatch 3 2; 40 end 1 0; 40 end 2 1; 40 end 3 2; 60 over 0",
	  "share app 1: 30 of 30, lag 0 at -1;"
	  "share app 2: 60 of 60, lag 5 at 20" },
	{ "a lag begins anew when an app has had nothing to do", "share", 0, 0,
	  "x 1 app 1 low; x 2 app 2 low; x 3 app 2 low; x 4 app 1 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; "
	  "10 ready 2; 30 end 1 0; 30 dispatch 2 0; 32 end 2 0; 40 ready 4; 40 dispatch 4 0; 40 ready 3; 58 end 4 0; "
	  "58 dispatch 3 0; 60 end 3 0; 70 over 0",
	  "share app 1: 38 of 19, lag 0 at -1;"
	  "share app 2: 4 of 23, lag 10 at 30" },
	{ "a lag does not begin anew when there is more to do at once", "share", 0, 0,
	  "x 1 app 1 low; x 2 app 2 low; x 3 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; "
	  "30 end 2 255; 30 ready 3; 50 end 1 0; 50 dispatch 3 0; 51 end 3 0; 70 over 0",
	  "share app 1: 40 of 20, lag 0 at -1;"
	  "share app 2: 1 of 21, lag 20 at 50" },
	{ "a loss before it all touches nothing", "wait over", 0, 0,
	  "0 lanes 1 idle; x 1 app 2 low; 2 loss 4; 5 ready 3; 5 dispatch 3 0; 6 end 3 0; 10 ready 1; 10 dispatch 1 0; "
	  "15 ready 2; 30 end 1 0; 30 dispatch 2 0; 40 end 2 0; over 1; over 2",
	  "wait 2: 15-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "over 1: lane 0, idle, ran 20, waited 0, bypassed 0;"
	  "over 2: lane 0, ran 10, waited 15, bypassed 0" },
	{ "a loss in a stretch on a lane makes it unknown", "wait over slice interfered", 0, 0,
	  "0 lanes 1 idle; x 1 app 2 low; 10 ready 1; 10 dispatch 1 0; 15 ready 2; 20 loss 21; 30 end 1 0; "
	  "30 dispatch 2 0; 40 end 2 0; 50 over 0; over 1; over 2",
	  "wait 2: 15-30 lane 0 queue unknown by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 2: lane 0, ran 10, waited 15, bypassed 0" },
	{ "a loss at the very end of a stretch touches it", "wait over slice", 0, 0,
	  "0 lanes 1 idle; x 1 app 2 low; 10 ready 1; 10 dispatch 1 0; 15 ready 2; 30 loss 32; 30 end 1 0; "
	  "33 dispatch 2 0; 40 end 2 0; over 1; over 2",
	  "wait 2: 15-33 lane 0 queue unknown by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 2: lane 0, ran 7, waited 18, bypassed 0" },
	{ "a loss hides nothing of one whose preemptions are counted", "wait over", 0, 0,
	  "0 lanes 1 idle; x 1 app 2 low step 0 of 1 counted; 10 ready 1; 10 dispatch 1 0; 15 ready 2; 20 loss 21; "
	  "30 end 1 0; 33 dispatch 2 0; 40 end 2 0; over 1",
	  "wait 2: 15-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 30-33 lane 0 queue idle handover by 0 of app 0;"
	  "over 1: lane 0, idle, ran 20, waited 0, bypassed 0" },
	{ "a loss while the lane is idle makes all of that unknown", "wait over", 0, 0,
	  "0 lanes 1 idle; x 1 app 2 low; 5 ready 3; 5 dispatch 3 0; 10 end 3 0; 12 ready 2; 14 loss 15; 20 dispatch 2 0; "
	  "30 end 2 0; over 2",
	  "wait 2: 12-20 lane 0 queue unknown by 0 of app 0;"
	  "over 2: lane 0, ran 10, waited 8, bypassed 0" },
	{ "a loss over a whole wait leaves what was before it", "wait over", 0, 0,
	  "0 lanes 1 idle; x 1 app 2 low; 10 ready 1; 10 dispatch 1 0; 12 ready 4; 15 ready 2; 20 end 1 0; "
	  "20 dispatch 4 0; 25 loss 40; 50 dispatch 2 0; 60 end 2 0; over 2; over 4",
	  "wait 4: 12-20 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 15-20 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 20-50 lane 0 queue unknown by 0 of app 0;"
	  "over 2: lane 0, ran 10, waited 35, bypassed 0;"
	  "over 4: lane -1, uncertain, ran 0, waited 8, bypassed 0" },
	{ "one that was off its lane in a loss may have been on it", "wait slice over", 0, 0,
	  "0 lanes 1 idle; x 2 app 2 low; 10 ready 1; 10 dispatch 1 0; 20 stop 1 0; 20 ready 2; 20 dispatch 2 0; "
	  "30 end 2 0; 40 loss 41; 50 resume 1 0; 60 end 1 0; over 1",
	  "slice 1: 10-20 lane 0 of 1;"
	  "slice 1: 50-60 lane 0 of 1;"
	  "over 1: lane -1, uncertain, ran 20, waited 0, bypassed 0" },
	{ "there is no choice among executions that waited in a loss", "chosen over", 0, 0,
	  "0 lanes 1 idle; x 1 app 1 low; x 2 app 1 high; x 3 app 2 low; 5 ready 3; 5 dispatch 3 0; 10 ready 2; "
	  "12 loss 12; 15 ready 1; 20 end 3 0; 20 dispatch 1 0; 30 end 1 0; 30 dispatch 2 0; 40 end 2 0; over 2",
	  "over 2: lane 0, ran 10, waited 20, bypassed 0" },
	{ "lost time is no app's, and lags begin again after it", "share", 0, 0,
	  "0 lanes 1 idle; x 2 app 2 low; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 30 loss 35; 45 end 1 0; "
	  "45 dispatch 2 0; 50 end 2 0; 60 over 0",
	  "share app 1: 30 of 15, lag 0 at -1;"
	  "share app 2: 5 of 20, lag 10 at 30" },
	{ "no app counts as a hog after a loss", "wait", 0, 0,
	  "x 1 app 2 low; x 3 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 12 loss 12; 20 ready 3; "
	  "30 end 1 0; 30 dispatch 3 0; 40 end 3 0; 40 dispatch 2 0; 45 end 2 0",
	  "wait 2: 10-30 lane 0 queue unknown by 0 of app 0;"
	  "wait 2: 30-40 lane 0 queue held crowded_out by 3 of app 2;"
	  "wait 3: 20-30 lane 0 queue unknown by 0 of app 0" },
	{ "one that had its lane before anybody looked: its time is unknown", "wait over slice", 0, 0,
	  "x 1 app 1 low step 0 of 1 uncertain; 0 lanes 1; 10 dispatch 1 0; 12 ready 2; 20 end 1 0; 22 dispatch 2 0; "
	  "30 end 2 0; over 1; over 2",
	  "wait 2: 12-20 lane 0 queue unknown by 0 of app 0;"
	  "wait 2: 20-22 lane 0 queue idle handover by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 2: lane 0, ran 8, waited 10, bypassed 0" },
	{ "one that goes on, and was never seen before", "wait over slice", 0, 0,
	  "0 lanes 1 idle; 10 resume 1 0; 12 ready 2; 20 end 1 0; 20 dispatch 2 0; 21 end 2 0; over 1",
	  "wait 2: 12-20 lane 0 queue held queued_behind by 1 of app 1;"
	  "slice 1: 10-20 lane 0 of 1;"
	  "over 1: lane -1, uncertain, ran 10, waited 0, bypassed 0" },
	{ "two on one lane, and no stop was ever recorded: who is there is unknown from then on", "wait over slice", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 12 ready 3; 15 ready 2; 20 dispatch 2 0; 30 end 2 0; "
	  "30 dispatch 3 0; 33 end 3 0; over 1; over 2",
	  "wait 2: 15-20 lane 0 queue unknown by 0 of app 0;"
	  "wait 3: 12-30 lane 0 queue unknown by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 2: lane -1, uncertain, ran 0, waited 5, bypassed 0" },
	{ "two on one lane, where stops are recorded: who was there is unknown", "over", 0, 0,
	  "0 lanes 1 idle; 1 ready 4; 1 dispatch 4 0; 2 stop 4 0; 3 resume 4 0; 4 end 4 0; "
	  "10 ready 1; 10 dispatch 1 0; 12 ready 3; 15 ready 2; 20 dispatch 2 0; 30 end 2 0; 30 dispatch 3 0; 33 end 3 0; over 1; "
	  "over 2",
	  "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 2: lane 0, ran 10, waited 5, bypassed 0" },
	{ "an end on a lane that it does not hold", "wait over slice", 0, 0,
	  "0 lanes 2 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 10 dispatch 2 1; 12 ready 3; 20 end 1 1; "
	  "30 dispatch 3 1; 40 end 3 1; over 1; over 2; over 3",
	  "wait 3: 12-30 lane 1 queue unknown by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 2: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 3: lane 1, ran 10, waited 18, bypassed 0" },
	{ "forgotten in the queue and on a lane", "wait over slice starved", 0, 20,
	  "0 lanes 1 idle; 10 ready 1; 12 dispatch 1 0; 14 ready 2; 15 ready 3; 20 forget 2; 30 forget 1; 40 dispatch 3 0; "
	  "50 end 3 0; over 1; over 2; over 3",
	  "wait 1: 10-12 lane 0 queue idle handover by 0 of app 0;"
	  "wait 3: 15-40 lane 0 queue unknown by 0 of app 0;"
	  "starved 3 of app 1: 15 for 25, app 0 0, bypassed 0, model 7;"
	  "over 1: lane -1, uncertain, ran 0, waited 2, bypassed 0;"
	  "over 2: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 3: lane 0, ran 10, waited 25, bypassed 0" },
	{ "a lane that is none", "wait over slice", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 12 dispatch 1 64; 20 end 1 64; 30 ready 2; 31 dispatch 2 0; 40 end 2 0; over 1; "
	  "over 2",
	  "wait 1: 10-12 lane 0 queue unknown by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 2, bypassed 0;"
	  "over 2: lane 0, idle, ran 9, waited 1, bypassed 0" },
	{ "an unknown app holds a lane: it may be the one that waits", "wait interfered share", 0, 0,
	  "x 1 app 0 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 12 ready 2; 20 end 1 0; 20 dispatch 2 0; "
	  "21 end 2 0; 30 over 0",
	  "wait 2: 12-20 lane 0 queue held unknown by 1 of app 0;"
	  "share app 1: 1 of 5, lag 0 at -1" },
	{ "what is open at the end is not known", "wait over slice", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 12 dispatch 1 0; 14 ready 2; 30 over 0; over 1; over 2",
	  "wait 1: 10-12 lane 0 queue idle handover by 0 of app 0;"
	  "over 1: lane -1, uncertain, ran 0, waited 2, bypassed 0;"
	  "over 2: lane -1, uncertain, ran 0, waited 0, bypassed 0" },
	{ "who waits when the recording ends has waited until then", "wait possible", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 14 ready 2; 30 cut 2; 30 cut 1",
	  "wait 2: 14-30 lane 0 queue held queued_behind by 1 of app 1" },
	{ "no app counts as a hog in a loss", "wait", 0, 0,
	  "x 1 app 2 low step 0 of 1 counted; x 2 app 1 low step 0 of 1 counted; x 3 app 2 low step 0 of 1 counted; "
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 25 loss 60; 30 end 1 0; 30 ready 3; 30 dispatch 3 0; "
	  "40 end 3 0; 40 dispatch 2 0; 45 end 2 0",
	  "wait 2: 10-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 30-40 lane 0 queue held crowded_out by 3 of app 2" },
	{ "nor while the waiting execution may have ended", "wait", 0, 0,
	  "x 1 app 2 low; x 3 app 2 low; x 4 app 3 low; x 9 app 4 low step 0 of 1 counted; 0 lanes 1 idle; 5 ready 9; "
	  "5 dispatch 9 0; 6 ready 4; 8 loss 8; 9 end 9 0; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 30 end 1 0; "
	  "30 ready 3; 30 dispatch 3 0; 40 end 3 0; 40 dispatch 2 0; 45 end 2 0",
	  "wait 2: 10-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 30-40 lane 0 queue held crowded_out by 3 of app 2" },
	{ "nor while the lane's holder may have left", "wait", 0, 0,
	  "x 1 app 2 low; x 3 app 2 low; x 4 app 3 low; 0 lanes 2 idle; 5 ready 4; 5 dispatch 4 1; 8 loss 8; 9 ready 5; "
	  "9 dispatch 5 0; 10 end 5 0; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 30 end 1 0; 30 ready 3; 30 dispatch 3 0; "
	  "40 end 3 0; 40 dispatch 2 0; 45 end 2 0",
	  "wait 2: 10-30 lane 0 queue held crowded_out by 1 of app 2;"
	  "wait 2: 30-40 lane 0 queue held crowded_out by 3 of app 2" },
	{ "a stop that was lost: who gives up later leaves its old lane alone", "wait over", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 11 ready 2; 12 loss 13; 20 end 2 0; 25 ready 3; 25 dispatch 3 0; "
	  "26 ready 5; 30 end 1 0; 35 end 3 0; 35 dispatch 5 0; 40 end 5 0; over 1; over 2; over 3; over 5",
	  "wait 5: 26-35 lane 0 queue held queued_behind by 3 of app 1;"
	  "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 2: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	  "over 3: lane 0, idle, ran 10, waited 0, bypassed 0;"
	  "over 5: lane 0, ran 5, waited 9, bypassed 0" },
	{ "rules that are told anew change nothing on lanes", "wait over", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 12 lanes 1 idle; 15 ready 2; 20 end 1 0; 20 dispatch 2 0; "
	  "21 end 2 0; over 1",
	  "wait 2: 15-20 lane 0 queue held queued_behind by 1 of app 1;"
	  "over 1: lane 0, idle, ran 10, waited 0, bypassed 0" },
	{ "all of it in one ns", "wait over slice", 0, 0,
	  "0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 end 1 0; 12 ready 2; 12 end 2 255; over 1; over 2",
	  "over 1: lane 0, idle, ran 0, waited 0, bypassed 0;"
	  "over 2: lane -1, idle, ran 0, waited 0, bypassed 0" },
	{ "an execution of an unknown app passes no other, and no other passes it", "over", 0, 0,
	  "x 1 app 0 low; x 2 app 2 low; x 3 app 0 low; 0 lanes 1 idle; 10 ready 1; 11 ready 2; 12 ready 3; 13 dispatch 3 0; "
	  "14 end 3 0; 14 dispatch 2 0; 15 end 2 0; 15 dispatch 1 0; 16 end 1 0; over 1; over 2",
	  "over 1: lane 0, ran 1, waited 5, bypassed 0;"
	  "over 2: lane 0, ran 1, waited 3, bypassed 0" },
	/* clang-format on */
};

static void declare(struct scene *c, const char *line)
{
	unsigned id, app, step = 0, instance = 1;
	char priority[16];
	struct bsa_scheduled *x;

	assert_true(sscanf(line, "x %u app %u %15s step %u of %u", &id, &app, priority, &step, &instance) >= 3);
	assert_in_range(id, 1, EXECUTIONS - 1);
	x = &c->x[id];
	x->app = app;
	x->instance = (uint16_t)instance;
	x->step_ns = step;
	x->priority = !strcmp(priority, "low")      ? BSA_PRIORITY_LOW
	              : !strcmp(priority, "medium") ? BSA_PRIORITY_MEDIUM
	              : !strcmp(priority, "high")   ? BSA_PRIORITY_HIGH
	                                            : 255;
	x->counted = strstr(line, "counted");
	x->uncertain = strstr(line, "uncertain");
}

static const char *const steps[] = {
	[BSA_STEP_READY] = "ready",   [BSA_STEP_DISPATCH] = "dispatch", [BSA_STEP_STOP] = "stop",
	[BSA_STEP_RESUME] = "resume", [BSA_STEP_END] = "end",           [BSA_STEP_REFUSED] = "refused",
	[BSA_STEP_FORGET] = "forget", [BSA_STEP_CUT] = "cut",
};

static void step(struct scene *c, uint64_t at, const char *word, unsigned id, unsigned lane)
{
	enum bsa_step step = BSA_STEP_READY;

	while (step <= BSA_STEP_CUT && (!steps[step] || strcmp(word, steps[step])))
		step++;
	assert_in_range(step, 0, BSA_STEP_CUT);
	assert_in_range(id, 1, EXECUTIONS - 1);
	assert_int_equal(bsa_schedule_step(c->s, &c->x[id], step, at, (uint8_t)lane), 0);
	assert_int_equal(c->x[id].steps_left != 0, c->late);
}

/* Write the result about an execution that is over, if there is one. */
static void line_over(struct scene *c, unsigned id)
{
	const struct bsa_scheduled *x = &c->x[id];

	lines_add(&c->got, "over %u: lane %d%s%s, ran %" PRIu64 ", waited %" PRIu64 ", bypassed %u", id, x->lane,
	          x->idle ? ", idle" : "", x->uncertain ? ", uncertain" : "", x->lane_ns, x->ready_ns, x->bypassed);
}

static void play_line(struct scene *c, const char *line)
{
	uint64_t at, to;
	unsigned a, b = 255, instance = 1;
	char word[16];

	if (line[0] == 'x')
		declare(c, line);
	else if (sscanf(line, "%" SCNu64 " lanes %u%15s %u", &at, &a, word, &instance) >= 2)
		assert_int_equal(bsa_schedule_lanes(c->s, (uint16_t)instance, at, a, strstr(line, "native"),
		                                    strstr(line, "idle")),
		                 0);
	else if (sscanf(line, "%" SCNu64 " loss %" SCNu64, &at, &to) == 2)
		assert_int_equal(bsa_schedule_add_loss(c->s, at, to, false), 0);
	else if (sscanf(line, "%" SCNu64 " hole %" SCNu64, &at, &to) == 2) /* the hole lost no summary */
		assert_int_equal(bsa_schedule_add_hole(c->s, at, to, BSA_NEVER, 0), 0);
	else if (sscanf(line, "%" SCNu64 " list%15s", &at, word) == 2) /* the service lists what is under way */
		assert_int_equal(bsa_schedule_listing(c->s, 1, at, !strcmp(word, "ed")), 0);
	else if (sscanf(line, "begin %" SCNu64, &at) == 1)
		bsa_schedule_set_begin(c->s, at);
	else if (sscanf(line, "%" SCNu64 " over %u", &at, &a) == 2)
		c->ended = at;
	else if (sscanf(line, "over %u", &a) == 1)
		c->asked[c->n_asked++] = a;
	else if (sscanf(line, "%" SCNu64 " %15s %u %u", &at, word, &a, &b) >= 3)
		step(c, at, word, a, b);
	else
		fail_msg("what is \"%s\"?", line);
}

static void play(struct scene *c, const char *script)
{
	char *copy = strdup(script), *rest = NULL;

	for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest))
		play_line(c, line + strspn(line, " "));
	free(copy);
	if (c->late)
		assert_int_equal(bsa_schedule_advance(c->s, 1000), 0);
	if (c->ended)
		assert_int_equal(bsa_schedule_finish(c->s, c->ended), 0);
	for (unsigned i = 0; i < c->n_asked; i++)
		line_over(c, c->asked[i]);
}

/* Does the story ask about this line? */
static bool counts(const struct story *story, const char *line)
{
	char word[16];

	return sscanf(line, "%15s", word) == 1 && strstr(story->about, word);
}

static void read_facts(const struct story *story, struct lines *ret)
{
	char *copy = strdup(story->facts), *rest = NULL;

	for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
		line += strspn(line, " ");
		assert_true(counts(story, line));
		lines_add(ret, "%s", line);
	}
	lines_sort(ret);
	free(copy);
}

static void pick(const struct story *story, struct lines *all, struct lines *ret)
{
	for (size_t i = 0; i < all->n; i++)
		if (counts(story, all->all[i]))
			lines_add(ret, "%s", all->all[i]);
	lines_sort(ret);
}

static void tell(const struct story *story, bool late)
{
	struct bsa_fold_options options = { .window_ns = story->window,
		                            .starvation_ns = story->starvation,
		                            .horizon_ns = late };
	struct scene c = { .late = late };
	struct lines got = { 0 }, want = { 0 };
	struct bsa_facts facts = lines_facts(&c.got);

	for (unsigned i = 0; i < EXECUTIONS; i++)
		c.x[i] = (struct bsa_scheduled){
			.id = i, .app = 1, .priority = BSA_PRIORITY_MEDIUM, .instance = 1, .model = 7
		};
	c.s = bsa_schedule_new(&facts, &options);
	assert_non_null(c.s);
	play(&c, story->script);
	read_facts(story, &want);
	pick(story, &c.got, &got);
	for (size_t i = 0; i < want.n || i < got.n; i++)
		assert_string_equal(i < got.n ? got.all[i] : "nothing", i < want.n ? want.all[i] : "nothing");
	lines_fini(&got);
	lines_fini(&want);
	lines_fini(&c.got);
	bsa_schedule_free(c.s);
}

static void is_reported(void **state)
{
	tell(*state, false);
	tell(*state, true);
}

/* ---- late events ---- */

static void note(struct scene *c, const char *script, uint64_t known)
{
	char *copy = strdup(script), *rest = NULL;

	for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest))
		play_line(c, line + strspn(line, " "));
	free(copy);
	assert_int_equal(bsa_schedule_advance(c->s, known), 0);
}

static void most_lag_is(void *ctx, const struct bsa_share *s)
{
	lines_add(ctx, "most lag of app %u: %" PRId64, s->app, s->most_lag);
}

static void begin_late(struct scene *c)
{
	struct bsa_fold_options options = { .horizon_ns = 10 };
	struct bsa_facts facts = lines_facts(&c->got);

	facts.share = most_lag_is;
	*c = (struct scene){ .late = true };
	for (unsigned i = 0; i < EXECUTIONS; i++)
		c->x[i] = (struct bsa_scheduled){ .id = i, .app = 1, .priority = BSA_PRIORITY_MEDIUM, .instance = 1 };
	c->s = bsa_schedule_new(&facts, &options);
	assert_non_null(c->s);
}

static void end_about(struct scene *c, const char *about, const char *facts)
{
	const struct story story = { .about = about, .facts = facts };
	struct lines got = { 0 }, want = { 0 };

	for (unsigned i = 0; i < c->n_asked; i++)
		line_over(c, c->asked[i]);
	read_facts(&story, &want);
	pick(&story, &c->got, &got);
	for (size_t i = 0; i < want.n || i < got.n; i++)
		assert_string_equal(i < got.n ? got.all[i] : "nothing", i < want.n ? want.all[i] : "nothing");
	lines_fini(&got);
	lines_fini(&want);
	lines_fini(&c->got);
	bsa_schedule_free(c->s);
}

static void end_late(struct scene *c, const char *facts)
{
	end_about(c, "wait over slice", facts);
}

static void what_comes_too_late_makes_what_was_before_unknown(void **state)
{
	struct scene c;

	(void)state;
	begin_late(&c);
	note(&c, "0 lanes 1 idle; 6 ready 3; 10 ready 2; 20 dispatch 2 0", 20);
	note(&c, "5 ready 1; 5 dispatch 1 0; 8 end 1 0", 20);
	note(&c, "25 end 2 0; 30 dispatch 3 0; 40 end 3 0; over 1; over 2; over 3", 50);
	assert_int_equal(bsa_schedule_left_out(c.s).late, 1);
	end_late(&c, "wait 3: 6-20 lane 0 queue unknown by 0 of app 0;"
	             "wait 3: 20-25 lane 0 queue held queued_behind by 2 of app 1;"
	             "wait 3: 25-30 lane 0 queue idle handover by 0 of app 0;"
	             "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	             "over 2: lane 0, idle, ran 5, waited 10, bypassed 0;"
	             "over 3: lane 0, ran 10, waited 24, bypassed 1");
}

static void what_comes_too_late_makes_what_is_unknown(void **state)
{
	struct scene c;

	(void)state;
	begin_late(&c);
	note(&c, "0 lanes 1 idle; 6 ready 3; 10 ready 2", 10);
	note(&c, "5 ready 1; 7 dispatch 1 0", 10);
	note(&c, "25 end 1 0; 30 dispatch 2 0; 40 end 2 0; 40 dispatch 3 0; 45 end 3 0; over 1; over 2; over 3", 50);
	assert_int_equal(bsa_schedule_left_out(c.s).late, 1);
	end_late(&c, "wait 2: 10-30 lane 0 queue unknown by 0 of app 0;"
	             "wait 3: 6-30 lane 0 queue unknown by 0 of app 0;"
	             "wait 3: 30-40 lane 0 queue held queued_behind by 2 of app 1;"
	             "over 1: lane -1, uncertain, ran 0, waited 0, bypassed 0;"
	             "over 2: lane 0, ran 10, waited 20, bypassed 0;"
	             "over 3: lane 0, ran 5, waited 34, bypassed 1");
}

/* An execution is on its lane; two holes may hide that it stopped, and resumed. */
static void an_end_out_of_order_hides_no_wait(void **state)
{
	static const char *const ends[] = { "12 end 1 0", "20 end 1 200" }; /* too late; on a lane that cannot be */

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct scene c;

		begin_late(&c);
		note(&c, "0 lanes 2 idle; 1 ready 1; 2 dispatch 1 0; 5 hole 6; 9 hole 10; 20 ready 2", 20);
		note(&c, ends[i], 20);
		end_about(&c, "possible", "possible 1: 5-20");
	}
}

static void each_contradiction_counts_once(void **state)
{
	static const struct {
		const char *steps;
		uint64_t absurd;
	} rows[] = {
		{ "0 lanes 2 idle; 1 ready 1; 2 dispatch 1 0; 3 stop 1 0; 4 resume 1 1; 5 end 1 1; 6 over 1", 0 },
		{ "0 lanes 2 idle; 1 ready 1; 2 dispatch 1 0; 4 resume 1 1; 5 end 1 1; 6 over 1", 1 },
		{ "0 lanes 1 idle; 1 ready 1; 2 dispatch 1 0; 3 ready 2; 4 dispatch 2 0; 5 end 2 0; 6 over 2", 1 },
		{ "0 lanes 2 idle; 1 ready 1; 2 dispatch 1 0; 1 ready 2; 2 dispatch 2 1; 4 resume 1 1; 5 end 1 1; 6 "
		  "over 1",
		  1 },
		{ "0 lanes 2 idle; 1 ready 1; 2 dispatch 1 0; 3 loss 3; 4 resume 1 1; 5 end 1 1; 6 over 1", 0 },
		{ "0 lanes 1 idle; 1 ready 1; 1 ready 2; 2 dispatch 1 0; 3 stop 1 0; 4 resume 1 0; 9 cut 1; "
		  "9 dispatch 2 0; 10 end 2 0",
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct scene c;

		begin_late(&c);
		note(&c, rows[i].steps, 50);
		if (bsa_schedule_left_out(c.s).absurd != rows[i].absurd)
			fail_msg("%s: %d absurd", rows[i].steps, (int)bsa_schedule_left_out(c.s).absurd);
		lines_fini(&c.got);
		bsa_schedule_free(c.s);
	}
}

/* The beginning of the recording is a loss that ends before it, as in the fold. */
static void a_hole_hides_no_more_than_can_be_hidden(void **state)
{
	static const struct {
		const char *steps, *about, *facts;
	} rows[] = {
		/* Events were lost, and every summary came: the execution may have stopped in the hole, and not
		 * before it. */
		{ "begin 100; 0 loss 99; 100 lanes 1; 110 ready 1; 120 dispatch 1 0; 150 hole 160; 200 end 1 0",
		  "possible", "possible 1: 150-200" },
		{ "begin 100; 0 loss 99; 100 lanes 1; 110 ready 1; 120 dispatch 1 0; 150 hole 160; 200 stop 1 0; "
		  "210 resume 1 0; 220 end 1 0",
		  "possible", "possible 1: 150-160" },
		{ "begin 100; 0 loss 99; 100 lanes 1; 110 ready 1; 120 dispatch 1 0; 150 hole 160; 200 cut 1",
		  "possible", "possible 1: 150-200" },
		/*
		 * The lane was idle for 12 ms, which was long until a hand-over took 100 ms: then nothing is
		 * proved.
		 */
		{ "0 lanes 1 idle; 1 ready 4; 2 dispatch 4 0; 3 end 4 0; 10 ready 1; 20 loss 30; 40 ready 2; "
		  "40 dispatch 2 0; 50 end 2 0; 12000050 ready 3; 12000050 dispatch 3 0; 12000060 end 3 0; "
		  "20000000 ready 5; 120000000 dispatch 5 0; 120000005 ready 6; 120000010 end 5 0; "
		  "120000010 dispatch 6 0; 1000000000 forget 1",
		  "possible", "possible 0: 11-30; possible 1: 10-1000000000" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct scene c;

		begin_late(&c);
		note(&c, rows[i].steps, 1000000000);
		end_about(&c, rows[i].about, rows[i].facts);
	}
}

/*
 * An execution was on its lane before the recording, and may have waited then. That time is not in the
 * recording, so it adds no lag.
 */
static void a_wait_before_the_recording_is_no_lag_in_it(void **state)
{
	struct scene c;

	(void)state;
	begin_late(&c);
	note(&c, "begin 100; 0 loss 99; 100 lanes 1; 120 stop 1 0; 130 resume 1 0; 150 end 1 0", 200);
	assert_int_equal(bsa_schedule_finish(c.s, 200), 0);
	end_about(&c, "possible most", "possible 1: -1-99; most lag of app 1: 10");
}

/*
 * Until the hole app 2 lags by 10; within it the lag can have risen by half of 5, and from its end to 45 it rises by
 * 5.
 */
static void a_lag_may_have_risen_in_a_loss(void **state)
{
	struct scene c;

	(void)state;
	begin_late(&c);
	note(&c,
	     "x 2 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 30 loss 35; 45 end 1 0; "
	     "45 dispatch 2 0; 50 end 2 0",
	     60);
	assert_int_equal(bsa_schedule_finish(c.s, 60), 0);
	end_about(&c, "most", "most lag of app 1: 12; most lag of app 2: 18");
}

/*
 * App 2 lags by 5.5 at 21, since when lanes are unknown. At 40 nothing of it is left that is known, but an execution
 * without any event may wait until 50: the lag can have risen by half of 29.
 */
static void a_lag_may_have_risen_until_the_end_of_a_loss(void **state)
{
	struct scene c;

	(void)state;
	begin_late(&c);
	note(&c,
	     "x 2 app 2 low; 0 lanes 1 idle; 10 ready 1; 10 dispatch 1 0; 10 ready 2; 30 loss 50; 35 end 1 0; "
	     "35 dispatch 2 0; 40 end 2 0",
	     60);
	assert_int_equal(bsa_schedule_finish(c.s, 60), 0);
	end_about(&c, "most", "most lag of app 1: 9; most lag of app 2: 20");
}

static void most_lag_in_window_is(void *ctx, const struct bsa_lag *l)
{
	if (l->app == 2)
		lines_add(ctx, "window %" PRIu64 ": most %" PRId64, l->window_began, l->most);
}

/*
 * Of execution 2 only the end is there, in the window after the hole. It may have been ready since the hole, which
 * takes lanes from 151 to 190, before that window: so it may have waited for 209, and its app may lag in the window.
 */
static void a_lag_goes_on_in_the_window_after_the_loss(void **state)
{
	struct scene c;

	(void)state;
	begin_late(&c);
	bsa_schedule_free(c.s);
	struct bsa_facts facts = lines_facts(&c.got);
	facts.lag = most_lag_in_window_is;
	c.s = bsa_schedule_new(&facts, &(struct bsa_fold_options){ .horizon_ns = 10, .window_ns = 200 });
	assert_non_null(c.s);
	note(&c,
	     "x 2 app 2 low; x 3 app 2 low; 10 lanes 2 idle; 110 ready 1; 110 dispatch 1 0; 160 loss 190; 360 end 2 1; "
	     "370 ready 3; 370 dispatch 3 1; 380 end 3 1; 390 end 1 0",
	     500);
	assert_int_equal(bsa_schedule_finish(c.s, 500), 0);
	end_about(&c, "window", "window 200: most 209");
}

int main(void)
{
	enum { N = sizeof(stories) / sizeof(*stories) };
	struct CMUnitTest tests[N + 9] = {
		[N] = cmocka_unit_test(what_comes_too_late_makes_what_was_before_unknown),
		[N + 1] = cmocka_unit_test(what_comes_too_late_makes_what_is_unknown),
		[N + 2] = cmocka_unit_test(each_contradiction_counts_once),
		[N + 3] = cmocka_unit_test(a_hole_hides_no_more_than_can_be_hidden),
		[N + 4] = cmocka_unit_test(a_wait_before_the_recording_is_no_lag_in_it),
		[N + 5] = cmocka_unit_test(a_lag_may_have_risen_in_a_loss),
		[N + 8] = cmocka_unit_test(a_lag_goes_on_in_the_window_after_the_loss),
		[N + 7] = cmocka_unit_test(a_lag_may_have_risen_until_the_end_of_a_loss),
		[N + 6] = cmocka_unit_test(an_end_out_of_order_hides_no_wait),
	};

	for (size_t i = 0; i < N; i++)
		tests[i] = (struct CMUnitTest){ .name = stories[i].story,
			                        .test_func = is_reported,
			                        .initial_state = (void *)&stories[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
