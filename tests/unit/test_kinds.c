/*
 * test_kinds.c -- what is known of executions where kinds of events were not recorded: a subset of a recording never
 * contradicts the whole one.
 *
 * One recording has executions of each path, and each way in which an execution can end. Each set of kinds is left out
 * of it in turn, as a session does that has not enabled them, or a filter. An execution is complete only if each event
 * was recorded that its path has; a phase, or a number, is known only if it is that of the whole recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/folded.h"
#include "analyzer/timeline.h"
#include "base.h"

#define SECOND (UINT64_C(1) << 52) /* in the number of an execution: of the second service */
#define KIND(name) (UINT64_C(1) << BSA_##name)

/* Paths: 1 and 2 burst, 3 sync, 4 async, 5 fenced. What no line of a timeline says has its events written out. */
static const char world[] =
	"usual prepare=10us send=20us decode=5us slots=5us queue=10us run=100us reply=10us return=20us finish=20us\n"
	"0 service_state pid=100 policy=fair preempt_mode=save lanes=2 contract=2\n"
	"0 client_connect conn=1 pid=11 uid=1001 app=1 name=red\n"
	"0 client_connect conn=2 pid=12 uid=1002 app=2 name=blue\n"
	"0 model_prepare model=1 conn=1 name=small priority=medium ops=10 estimate_ns=100us step_ns=10us\n"
	"0 model_prepare model=2 conn=2 name=other priority=low ops=10 estimate_ns=100us step_ns=10us\n"
	"0 stream_open stream=1 conn=1 path=burst model=1\n"
	"0 stream_open stream=2 conn=2 path=burst model=2\n"
	"0 stream_open stream=3 conn=1 path=sync\n"
	"0 stream_open stream=4 conn=1 path=async\n"
	"0 stream_open stream=5 conn=1 path=fenced\n"
	/* as usual */
	"1ms 1:1 misses=1 hits=1 lane=0\n"
	"2ms 1:2 hits=2 lane=0 deadline=900us\n"
	"3ms 3:1 model=1 lane=0\n"
	"4ms 4:1 model=1 lane=1\n"
	"5ms 5:1 model=1 lane=0 fence=30us signal=15us\n"
	"6ms 5:2 model=1 lane=0 fence=0 fences=0 signal=15us\n"
	/* a driver failed */
	"7ms 1:3 hits=2 lane=0 status=1\n"
	"8ms 3:2 model=1 lane=0 status=1\n"
	"9ms 4:2 model=1 lane=1 status=1\n"
	"10ms 5:3 model=1 lane=0 status=1 fence=30us signal=15us\n"
	/* too late, at each stage */
	"11ms 1:4 deadline=100us dies=slots over=-60us\n"
	"12ms 1:5 hits=2 deadline=100us dies=queue queue=80us over=20us\n"
	"13ms 1:6 hits=2 deadline=100us dies=run lane=1 over=50us\n"
	"14ms 3:3 model=1 deadline=100us dies=slots over=-60us\n"
	"15ms 3:4 model=1 deadline=100us dies=queue queue=80us over=20us\n"
	"16ms 4:3 model=1 deadline=100us dies=slots over=-60us\n"
	"17ms 4:4 model=1 deadline=100us dies=queue queue=80us over=20us\n"
	"18ms 5:4 model=1 deadline=100us dies=launch\n"
	"19ms 5:5 model=1 deadline=100us dies=slots over=-30us fence=30us signal=15us\n"
	"20ms 5:6 model=1 deadline=100us dies=queue queue=80us over=50us fence=30us signal=15us\n"
	/* stopped for another, and given up, or not; stalled on an idle device, and given up, or not */
	"21ms 2:1 hits=2 lane=0 run=50us,50us off=300us by=1:7\n"
	"21ms+100us 1:7 hits=2 lane=0 queue=0\n"
	"22ms 2:2 hits=2 lane=0 run=50us off=300us by=1:8 dies=run deadline=150us over=250us\n"
	"22ms+100us 1:8 hits=2 lane=0 queue=0\n"
	"23ms 2:3 hits=2 lane=1 run=50us,50us off=300us stalled=290us\n"
	"24ms 2:4 hits=2 lane=1 run=50us off=300us stalled=300us dies=run deadline=150us over=250us\n"
	/* the client left: before it was read, on a lane, when it was over */
	"25ms 1:9 hits=2 lane=0 left=20us\n"
	"26ms 3:5 model=1 lane=0 left=100us\n"
	"27ms 4:5 model=1 lane=0 left=155us\n"
	"28ms 5:7 model=1 lane=0 left=20us fence=30us signal=15us\n"
	"29ms 5:8 model=1 lane=0 left=20us dies=launch deadline=100us\n"
	/* its app was killed, while it was off its lane */
	"30ms exec_submit exec=2:5 model=2 path=burst pools=2\n"
	"30ms+10us fmq_write exec=2:5 queue=request items=4\n"
	"30ms+30us fmq_read exec=2:5 queue=request items=4\n"
	"30ms+35us request_decode exec=2:5 model=2 operands=2 pools=2\n"
	"30ms+35us slot_lookup exec=2:5 slot=0 hit=1\n"
	"30ms+35us slot_lookup exec=2:5 slot=1 hit=1\n"
	"30ms+40us sched_enqueue exec=2:5 model=2 app=2 priority=low\n"
	"30ms+50us sched_dispatch exec=2:5 lane=0\n"
	"30ms+90us sched_preempt exec=2:5 by=1:10 lane=0 mode=restart\n"
	"30ms+400us exec_end exec=2:5 lane=0 status=dead_object\n"
	"30ms+410us fmq_write exec=2:5 queue=result items=1\n"
	"30ms+50us 1:10 hits=2 lane=0 queue=0\n"
	/* stalled, and over without another lane */
	"30ms+600us 2:6 hits=2 lane=1 run=50us off=300us stalled=300us\n"
	/* not sent */
	"31ms exec_submit exec=1:11 model=1 path=burst deadline_ns=40ms pools=2\n"
	"31ms+15us exec_return exec=1:11 status=1\n"
	"32ms exec_submit exec=3:6 model=1 path=sync pools=2\n"
	"32ms+15us exec_return exec=3:6 status=1\n"
	"33ms exec_submit exec=4:6 model=1 path=async pools=2\n"
	"33ms+15us exec_return exec=4:6 status=1\n"
	"34ms exec_submit exec=5:9 model=1 path=fenced pools=2\n"
	"34ms+15us exec_return exec=5:9 status=1\n"
	/* refused for what it asks */
	"35ms exec_submit exec=1:12 model=1 path=burst pools=2\n"
	"35ms+10us fmq_write exec=1:12 queue=request items=4\n"
	"35ms+30us fmq_read exec=1:12 queue=request items=4\n"
	"35ms+35us request_decode exec=1:12 status=4\n"
	"35ms+36us exec_end exec=1:12 lane=255 status=4\n"
	"35ms+40us fmq_write exec=1:12 queue=result items=1\n"
	"35ms+60us fmq_read exec=1:12 queue=result items=1\n"
	"35ms+70us exec_return exec=1:12 status=4\n"
	"36ms exec_submit exec=3:7 model=1 path=sync pools=2\n"
	"36ms+10us fmq_write exec=3:7 queue=call_request items=1\n"
	"36ms+30us fmq_read exec=3:7 queue=call_request items=1\n"
	"36ms+35us request_decode exec=3:7 model=1 operands=2 pools=2 status=4\n"
	"36ms+45us exec_end exec=3:7 lane=255 status=4\n"
	"36ms+50us fmq_write exec=3:7 queue=call_result items=1\n"
	"36ms+60us fmq_read exec=3:7 queue=call_result items=1\n"
	"36ms+70us exec_return exec=3:7 status=4\n"
	/* and as usual */
	"40ms 1:13 x5 every=1ms hits=2 lane=0\n"
	"50ms 2:7 x5 every=1ms hits=2 lane=0\n"
	"100ms stream_close stream=1\n"
	"100ms stream_close stream=2\n"
	"100ms stream_close stream=3\n"
	"100ms stream_close stream=4\n"
	"100ms stream_close stream=5\n"
	"101ms client_connect conn=3 pid=13 uid=1003 app=3 name=green\n";

/* Kinds that a session can leave out; @ends: it ends a phase, or a stretch on a lane or off it. */
static const struct {
	uint8_t kind;
	bool ends;
	const char *name;
} kinds[] = {
#define K(name, ends) { BSA_##name, ends, #name },
	K(exec_submit, true) K(fmq_write, true) K(fmq_read, true) K(request_decode, true) K(fence_wait, true)
		K(sched_enqueue, true) K(sched_dispatch, true) K(sched_preempt, true) K(sched_resume, true)
			K(exec_end, true) K(exec_return, true) K(fence_signal, true) K(slot_lookup, false)
				K(deadline_miss, false) K(sched_ready, false)
#undef K
};

enum { SETS = 1 << N_OF(kinds), EVENTS_MAX = 2048 };

static struct bsa_event *events[EVENTS_MAX];
static size_t n_events;
static unsigned wrong;

/* A service beside it, with the same executions, has each kind. */
static void fold_beside(struct bsa_fold *f, const struct bsa_event *e)
{
	_Alignas(8) unsigned char room[SCRIPT_RECORD_MAX];
	struct bsa_event *other = memcpy(room, e, sizeof(room));
	uint64_t *exec = (uint64_t *)(room + ((const char *)&BSA_OF(e, exec_return)->exec - (const char *)e));

	for (size_t k = 0; k < N_OF(kinds); k++)
		if (e->kind == kinds[k].kind) {
			*exec |= SECOND; /* of all of them the first field */
			assert_int_equal(bsa_fold_event(f, other), 0);
		}
}

static struct collected fold_without(uint64_t without, bool undeclared, bool beside)
{
	struct collected ret = { 0 };
	struct bsa_facts facts = collect_facts(&ret);
	uint64_t none = without | KIND(exec_service) | KIND(exec_client);
	struct bsa_fold_options options = { .declared = undeclared ? ~none : 0, .undeclared = undeclared ? none : 0 };
	struct bsa_fold *f = bsa_fold_new(&facts, &options);

	assert_non_null(f);
	for (size_t i = 0; i < n_events; i++) {
		if (!(without >> events[i]->kind & 1))
			assert_int_equal(bsa_fold_event(f, events[i]), 0);
		if (beside)
			fold_beside(f, events[i]);
	}
	assert_int_equal(bsa_fold_finish(f), 0);
	bsa_fold_free(f);
	return ret;
}

/* The kinds of @exec's events that end something. */
static uint64_t kinds_of(uint64_t exec)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < n_events; i++)
		for (size_t k = 0; k < N_OF(kinds); k++)
			if (kinds[k].ends && events[i]->kind == kinds[k].kind &&
			    BSA_OF(events[i], exec_return)->exec == exec) /* of all of them the first field */
				ret |= UINT64_C(1) << kinds[k].kind;
	return ret;
}

/* Does @x, of which @is is known, contradict the whole recording? */
static void hold(uint64_t without, const struct bsa_execution *x, const char *what, int i, int64_t is, int64_t whole,
                 int64_t unknown)
{
	if (is == unknown || is == whole)
		return;
	if (wrong++ < 100) {
		print_error("%u:%u: %s %d is %lld, not %lld, without", (unsigned)(x->exec >> 32), (unsigned)x->exec,
		            what, i, (long long)is, (long long)whole);
		for (size_t k = 0; k < N_OF(kinds); k++)
			if (without >> kinds[k].kind & 1)
				print_error(" %s", kinds[k].name);
		print_error("\n");
	}
}

static void hold_execution(uint64_t without, const struct bsa_execution *x, const struct bsa_execution *whole)
{
	uint64_t lacks = kinds_of(x->exec) & without;

	if (whole->at[BSA_SIGNALLED] != BSA_NEVER) /* the return of a launch ends no phase */
		lacks &= ~KIND(exec_return);
	if (x->quality == BSA_QUALITY_COMPLETE)
		hold(without, x, "complete", 0, lacks ? 1 : 0, 0, -1);
	for (int i = 0; i < BSA_PHASES; i++)
		hold(without, x, "phase", i, (int64_t)x->phase[i], (int64_t)whole->phase[i], (int64_t)BSA_NEVER);
	if (x->sides == whole->sides)
		hold(without, x, "e2e", 0, (int64_t)x->e2e, (int64_t)whole->e2e, (int64_t)BSA_NEVER);
	hold(without, x, "lookups", 0, x->lookups, whole->lookups, BSA_COUNT_UNKNOWN);
	hold(without, x, "misses", 0, x->misses, whole->misses, BSA_COUNT_UNKNOWN);
	hold(without, x, "preemptions", 0, x->preemptions, whole->preemptions, BSA_COUNT_UNKNOWN);
	hold(without, x, "cold", 0, x->cold, whole->cold, -1);
	if (x->miss == BSA_MISS_LATE)
		hold(without, x, "miss", 0, x->miss, whole->miss, BSA_MISS_NONE);
	if (x->miss && whole->miss)
		hold(without, x, "lateness", 0, x->lateness, whole->lateness, BSA_LATENESS_UNKNOWN);
	hold(without, x, "lane", 0, x->lane, whole->lane, -1);
	hold(without, x, "bypassed", 0, x->bypassed, whole->bypassed, BSA_COUNT_UNKNOWN);
}

static void no_execution_contradicts_the_whole_recording(void **state)
{
	struct collected whole = fold_without(0, false, false);

	(void)state;
	for (size_t i = 0; i < whole.execution.n; i++) /* of all but that of the app that was killed all is known */
		if (whole.execution.items[i].exec != UINT64_C(0x200000005))
			assert_int_equal(whole.execution.items[i].quality, BSA_QUALITY_COMPLETE);
	for (unsigned set = 1; set < SETS; set++) {
		uint64_t without = 0;

		/* each set of up to three kinds, and of the others one in 16, all over */
		if (__builtin_popcount(set) > 3 && (set * 2654435761U) >> 28)
			continue;
		for (size_t k = 0; k < N_OF(kinds); k++)
			without |= set >> k & 1 ? UINT64_C(1) << kinds[k].kind : 0;
		for (int undeclared = 0; undeclared < 4; undeclared++) {
			struct collected part;

			if (undeclared > 1 && __builtin_popcount(set) > 2)
				continue;
			part = fold_without(without, undeclared % 2, undeclared > 1);
			for (size_t i = 0; i < part.execution.n; i++)
				if (part.execution.items[i].exec < SECOND)
					hold_execution(without, &part.execution.items[i],
					               collect_execution(&whole, part.execution.items[i].exec));
			collect_fini(&part);
		}
	}
	collect_fini(&whole);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_execution_contradicts_the_whole_recording),
	};
	char *text = timeline(world, TIMELINE_FULL);
	struct script *script = script_new(text);
	const struct bsa_event *e;
	int r;

	while ((e = script_next(script)) && n_events < EVENTS_MAX)
		events[n_events++] = memcpy(malloc(SCRIPT_RECORD_MAX), e, SCRIPT_RECORD_MAX);
	script_free(script);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	while (n_events)
		free(events[--n_events]);
	free(text);
	return r;
}
