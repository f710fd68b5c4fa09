/*
 * test_gaps.c -- a time without packets is a gap unless a stream proves that the session was not stopped: tables of
 * packets, which bsa_unseen_find is given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "decode/unseen.h"

enum { STREAMS = 3, STRETCHES = 4 };

/* The first stream has the events. The second one may show whether the session was stopped. */
static const struct {
	const char *story;
	size_t gaps;
	struct bsa_stretch streams[STREAMS - 1][STRETCHES]; /* those that end at 0 are none */
} rows[] = {
	/* clang-format off */
	{ "the packets leave no time between them", 0,
	  { { { 100, 200, 0, 0, false }, { 200, 900, 1, 1, false } },
	    { { 101, 899, 0, 0, false } } } },
	{ "a stop wrote a packet of each stream", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 2, 2, false } },
	    { { 101, 210, 0, 0, false }, { 401, 401, 1, 1, true }, { 610, 900, 2, 2, false } } } },
	{ "a stream has no packet since the last event", 0,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 2, 2, false } },
	    { { 101, 210, 0, 0, false }, { 610, 900, 1, 1, false } } } },
	{ "its next packet is empty", 0,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 2, 2, false } },
	    { { 101, 210, 0, 0, false }, { 899, 899, 1, 1, true } } } },
	{ "of stretches that are several packets", 0,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 3, false }, { 600, 900, 4, 4, false } },
	    { { 101, 210, 0, 2, false }, { 610, 900, 3, 3, false } } } },
	{ "that stream lacks a packet", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 2, 2, false } },
	    { { 101, 210, 0, 0, false }, { 610, 900, 2, 2, false } } } },
	{ "another stream lacks a packet", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 3, 3, false } },
	    { { 101, 210, 0, 0, false }, { 610, 900, 1, 1, false } } } },
	{ "another stream lacks a packet before", 0,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 2, 2, false }, { 600, 900, 3, 3, false } },
	    { { 101, 210, 0, 0, false }, { 610, 900, 1, 1, false } } } },
	{ "that stream has no packet after the gap", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 2, 2, false } },
	    { { 101, 210, 0, 0, false } } } },
	{ "that stream has no packet before the gap", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 2, 2, false } },
	    { { 610, 900, 0, 0, false } } } },
	{ "its last packet ends at the event", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 600, 900, 2, 2, false } },
	    { { 101, 250, 0, 0, false }, { 610, 900, 1, 1, false } } } },
	{ "no packet before the gap begins with an event", 1,
	  { { { 250, 400, 0, 0, false }, { 600, 900, 1, 1, false } },
	    { { 101, 210, 0, 0, false }, { 610, 900, 1, 1, false } } } },
	{ "the first event is after the gap", 1,
	  { { { 100, 400, 0, 0, false }, { 600, 900, 1, 1, false } },
	    { { 101, 210, 0, 0, false }, { 610, 900, 1, 1, false } } } },
	{ "a lull, and then a stop", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 400, 1, 1, false }, { 450, 500, 2, 2, false }, { 600, 900, 3, 3, false } },
	    { { 101, 210, 0, 0, false }, { 501, 501, 1, 1, true }, { 610, 900, 2, 2, false } } } },
	{ "a stop, and then a lull", 1,
	  { { { 100, 200, 0, 0, false }, { 250, 300, 1, 1, false }, { 350, 400, 2, 2, false }, { 600, 900, 3, 3, false } },
	    { { 101, 210, 0, 0, false }, { 301, 301, 1, 1, true }, { 610, 900, 2, 2, false } } } },
	/* clang-format on */
};

/* The third stream: it covers the time until the events of the first stream begin, and refutes nothing. */
static const struct bsa_stretch bridge[STRETCHES] = { { 102, 300, 0, 0, false },
	                                              { 502, 502, 1, 1, true },
	                                              { 620, 900, 2, 2, false } };

static size_t count_gaps(size_t row)
{
	struct bsa_stretch streams[STREAMS][STRETCHES];
	struct bsa_file files[STREAMS];
	char *directory = "/gaps";
	struct bsa_input input = { .info = { .path = directory, .session = "gaps", .uuid = "gaps", .host = "here" },
		                   .directories = &directory,
		                   .n_directories = 1,
		                   .files = { .list = files, .n = STREAMS, .by_lttng = true },
		                   .frequency = 1000000000 };
	struct bsa_inputs inputs = { .list = &input, .n = 1 };
	size_t gaps = 0;

	memcpy(streams, rows[row].streams, sizeof(rows[row].streams));
	memcpy(streams[STREAMS - 1], bridge, sizeof(bridge));
	for (uint32_t i = 0; i < STREAMS; i++) {
		files[i] = (struct bsa_file){
			.path = "/gaps/all", .stream = i, .stretches = streams[i], .cpu = i, .known = true
		};
		while (files[i].n_stretches < STRETCHES && streams[i][files[i].n_stretches].ended)
			files[i].n_stretches++;
	}
	assert_true(bsa_unseen_find(&inputs));
	for (size_t i = 0; i < inputs.n_unseen; i++)
		gaps += inputs.unseen[i].loss.cause == BSA_LOSS_GAP;
	free(inputs.unseen);
	return gaps;
}

static void a_gap_is_found_unless_a_stream_refutes_the_stop(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		size_t gaps = count_gaps(i);

		if (gaps != rows[i].gaps)
			print_error("%s: %zu gaps, not %zu\n", rows[i].story, gaps, rows[i].gaps);
		wrong += gaps != rows[i].gaps;
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(a_gap_is_found_unless_a_stream_refutes_the_stop),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
