/*
 * timeline.h -- traces for tests, an execution a line: how long each of its phases took.
 *
 * A line of analyzer/script.h stays as it is, but that its time may be a sum. What has STREAM:SEQ behind the time is an
 * execution that is submitted then, and becomes its events, full or compact: the same schedule in both forms.
 *
 *   usual      prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us
 *   1ms        1:1 x5 every=1ms                 # five of them, as usual
 *   10ms       1:6 deadline=210us queue=+300us  # and one that waited for 300 us longer
 *   20ms+30us  service_state ...                # an event
 *   lose 30ms 31ms 1:7     # a loss: what was told of 1:7 (if none is named, of any) meanwhile is not there
 *   start 5ms              # what was told of executions before then is not there, and no loss
 *   stop 50ms              # nor what was told after
 *   untold stream_open ... # executions know of it, but nobody says it
 *
 * Of an execution: phases as in docs/events.md, so long, or with + or - so much more or less than usual (0 if not
 * said). run= may be several stretches, A,B,..., with off=, by= (who preempted), redo= (what the stretch did again)
 * and asked= between or in each; stalled=A,B,...: for so long of each off= it was stalled; lane= of all of it, or one
 * of each stretch, A,B. deadline= (after it was submitted),
 * cpu=, decode_delay=, run_delay= and reply_delay=, reference=, slept=, spun= and blocked= (of the request),
 * answer_slept=, answer_spun=, answer_blocked=, submit_delay=, gap= and turns= (of its thread, before), priority=,
 * status= (a number), hits=, misses=, fetch= (how long the client was asked for slots), estimate=, floor= (full
 * only), fallback=1, fences=0 (of a fenced one, which has one otherwise), model= where its stream is any's.
 * side=client or side=service: only that side tells. dies=slots, dies=queue, dies=run: it is given up in that phase,
 * when it is over (run= with as many off=: off its lane); over= is what deadline_miss says then, and tell= how long
 * before. dies=launch: of a fenced one, its launch is refused. left=: so long after it was submitted the client's call
 * fails (with the status general_failure, or that of failed=), and takes no answer. What cannot be read ends the
 * program: it is the test that is wrong.
 */
#ifndef ANALYZER_TIMELINE_H
#define ANALYZER_TIMELINE_H

enum { TIMELINE_FULL = 1, TIMELINE_COMPACT = 2 };

/* @text as lines of script.h, in the order of time, in one of the forms or in both. Owned by the caller: free. */
char *timeline(const char *text, unsigned forms);

#endif
