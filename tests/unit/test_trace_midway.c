/*
 * test_trace_midway.c -- a session begins while executions are under way: a time that was not noted before is
 * not reported. The memory of a trace may have been used before; here it is all ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"

static int heard[NBT_EVENTS], on = 1, off;
static uint64_t told_deadline;

static void hear_miss(const void *event)
{
	(void)event;
	heard[NBT_EVENT_deadline_miss]++;
}

static void hear_return(const void *event)
{
	(void)event;
	heard[NBT_EVENT_exec_return]++;
}

static void hear_delay(const void *event)
{
	(void)event;
	heard[NBT_EVENT_exec_delay]++;
}

static void hear_state(const void *event)
{
	heard[NBT_EVENT_exec_state]++;
	told_deadline = ((const struct nbt_exec_state *)event)->deadline_ns;
}

static void listen_for(enum nbt_event event, void (*hear)(const void *))
{
	nbt__seam.emit[event] = hear;
	nbt__seam.enabled[event] = &on;
}

static int session_begins(void **state)
{
	(void)state;
	memset(heard, 0, sizeof(heard));
	listen_for(NBT_EVENT_deadline_miss, hear_miss);
	listen_for(NBT_EVENT_exec_return, hear_return);
	listen_for(NBT_EVENT_exec_delay, hear_delay);
	listen_for(NBT_EVENT_exec_state, hear_state);
	return 0;
}

static int session_ends(void **state)
{
	(void)state;
	for (int i = 0; i < NBT_EVENTS; i++)
		nbt__seam.enabled[i] = &off;
	return 0;
}

static void a_call_of_before_has_no_deadline(void **state)
{
	struct nnb__call_trace call;

	session_ends(state);
	memset(&call, 0xff, sizeof(call));
	call.deadline_ns = 2; /* a time in the past, as old memory may have it */
	NNB__CALL_BEGIN(&call, 1, .deadline_ns = UINT64_MAX);
	session_begins(state);
	nnb__call_end(&call, NNB_STATUS_NONE);
	assert_int_equal(heard[NBT_EVENT_exec_return], 1);
	assert_int_equal(heard[NBT_EVENT_deadline_miss], 0);
}

static void a_call_recorded_from_the_beginning_has_its_own_deadline(void **state)
{
	struct nnb__call_trace call;

	session_begins(state);
	listen_for(NBT_EVENT_exec_submit, hear_state);
	NNB__CALL_BEGIN(&call, 1, .deadline_ns = 2);
	nnb__call_end(&call, NNB_STATUS_NONE);
	assert_int_equal(heard[NBT_EVENT_deadline_miss], 1);
}

/* The thread of a burst reuses its trace for the next execution. */
static void an_execution_that_is_not_decoded_has_no_deadline_of_the_one_before(void **state)
{
	struct nnb__trace trace = { .exec = 0 };

	session_begins(state);
	nnb__trace_begin(&trace, 1);
	nnb__trace_decoded(&trace, 1, 1, 12345, NNB_STATUS_NONE);
	nnb__trace_begin(&trace, 2);
	nnb__trace_emit_state(&trace);
	assert_int_equal(heard[NBT_EVENT_exec_state], 1);
	assert_int_equal(told_deadline, 0);
}

static void delays_of_an_earlier_execution_are_not_reported(void **state)
{
	struct nnb__trace trace;

	session_ends(state);
	memset(&trace, 0, sizeof(trace)); /* zeroes would mean that there was no delay */
	nnb__trace_begin(&trace, 1);
	session_begins(state);
	nnb__trace_reads_delay(&trace, true);
	assert_false(trace.reads_delay);
	nnb__trace_begin(&trace, 2);
	nnb__trace_reads_delay(&trace, true);
	assert_true(trace.reads_delay);
	assert_int_equal(trace.delays[NNB__DELAY_DECODE], NNB__NEVER_REACHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_of_before_has_no_deadline, session_ends, session_ends),
		cmocka_unit_test_setup_teardown(a_call_recorded_from_the_beginning_has_its_own_deadline, session_ends,
		                                session_ends),
		cmocka_unit_test_setup_teardown(an_execution_that_is_not_decoded_has_no_deadline_of_the_one_before,
		                                session_ends, session_ends),
		cmocka_unit_test_setup_teardown(delays_of_an_earlier_execution_are_not_reported, session_ends,
		                                session_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
