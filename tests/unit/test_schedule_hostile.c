/*
 * test_schedule_hostile.c -- steps in any order, at any time, of any execution: no crash, no contradiction,
 * bounded memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/schedule_world.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#ifndef SEEDS
#define SEEDS 300
#endif

enum {
	INSTANCES = 3,
	ALIVE = 24, /* executions at a time */
	STEPS = 400,
	MILLION = 1000000
};

static uint64_t slice_ended[INSTANCES][64];
static uint64_t rows, shares, idle_ns, last_free, in_time;

static void slice_is_apart(void *ctx, const struct bsa_slice *s)
{
	uint64_t *ended = &slice_ended[s->instance][s->lane];

	(void)ctx;
	assert_in_range(s->lane, 0, 63);
	assert_true(s->began <= s->ended && s->began >= *ended);
	*ended = s->ended;
}

static void wait_is_one(void *ctx, const struct bsa_wait *w)
{
	(void)ctx;
	assert_true(w->began < w->ended);
	assert_int_equal(w->occupancy == BSA_HELD, w->blocker != 0);
	idle_ns += w->occupancy == BSA_IDLE ? w->ended - w->began : 0;
	rows++;
}

static void lag_is_in_bounds(void *ctx, const struct bsa_lag *l)
{
	(void)ctx;
	assert_int_not_equal(l->app, 0);
	rows++;
}

static void share_is_one(void *ctx, const struct bsa_share *s)
{
	(void)ctx;
	assert_int_not_equal(s->app, 0);
	shares++;
}

/* A lane is always free here, so the rows come in the order of their times. */
static void refusal_is_later(void *ctx, const struct bsa_refused *r)
{
	(void)ctx;
	rows++;
	if (r->lane_free == BSA_NEVER)
		return;
	assert_true(r->lane_free >= last_free);
	last_free = r->lane_free;
	in_time++;
}

static struct bsa_facts checked(void)
{
	struct bsa_facts facts = world_no_facts();

	facts.slice = slice_is_apart;
	facts.wait = wait_is_one;
	facts.lag = lag_is_in_bounds;
	facts.share = share_is_one;
	memset(slice_ended, 0, sizeof(slice_ended));
	rows = shares = idle_ns = last_free = in_time = 0;
	return facts;
}

static uint64_t any_time(uint64_t *now)
{
	static const uint64_t odd[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2, (uint64_t)1 << 63 };

	switch (chance(40)) {
	case 0:
		return odd[chance(6)];
	case 1:
		return *now > 100 ? *now - chance(100) : 0;
	case 2:
		return *now += (uint64_t)chance(1 << 20) << chance(40);
	default:
		return *now += chance(3);
	}
}

static uint8_t any_lane(const struct bsa_scheduled *x)
{
	if (chance(3))
		return x->lane >= 0 ? (uint8_t)x->lane : (uint8_t)chance(3);
	return (uint8_t)(chance(3) ? chance(3) : chance(256));
}

/* Each execution is an allocation of its own, so that a sanitizer catches a use after its end. */
static struct bsa_scheduled *any_execution(void)
{
	struct bsa_scheduled *x = calloc(1, sizeof(*x));

	assert_non_null(x);
	x->id = 1 + chance(1 << 20);
	x->app = chance(6);
	x->priority = (uint8_t)(chance(6) ? chance(4) : chance(256));
	x->instance = (uint16_t)chance(INSTANCES);
	x->step_ns = chance(4);
	x->counted = chance(2);
	x->uncertain = !chance(8);
	return x;
}

static void replace_execution(struct bsa_scheduled **x)
{
	if (*x && (!bsa_scheduled_idle(*x) || chance(6)))
		return;
	free(*x);
	*x = any_execution();
}

static void any_step(struct bsa_schedule *s, struct bsa_scheduled **all, uint64_t *now)
{
	struct bsa_scheduled **x = &all[chance(ALIVE)];
	uint64_t at;

	if (!*x || (*x)->state == BSA_SCHEDULED_OVER)
		replace_execution(x);
	at = any_time(now);
	if (!chance(4)) { /* a later event knows it better */
		(*x)->priority = (uint8_t)chance(4);
		(*x)->app = chance(6);
	}
	switch (chance(40)) {
	case 0:
		assert_int_equal(bsa_schedule_lanes(s, (*x)->instance, at, chance(80), !chance(4), !chance(2)), 0);
		break;
	case 1:
		assert_int_equal(bsa_schedule_add_loss(s, at, chance(8) ? at + chance(9) : any_time(now), chance(2)),
		                 0);
		break;
	case 3:
		assert_int_equal(bsa_schedule_listing(s, (*x)->instance, at, chance(2)), 0);
		break;
	case 2:
		assert_int_equal(bsa_schedule_advance(s, *now > 50 ? *now - 50 : 0), 0);
		break;
	default:
		assert_int_equal(bsa_schedule_step(s, *x,
		                                   (enum bsa_step)(chance(3) ? chance(5) : chance(BSA_STEP_CUT + 1)),
		                                   at, any_lane(*x)),
		                 0);
	}
}

static void any_steps(uint32_t first)
{
	struct bsa_facts facts = checked();
	struct bsa_fold_options options;
	struct bsa_scheduled *all[ALIVE] = { 0 };
	struct bsa_schedule *s;
	uint64_t now = 1;

	chance_from(first);
	options = (struct bsa_fold_options){ .window_ns = chance(20) ? (uint64_t)1 << chance(60) : 1 + chance(50),
		                             .starvation_ns = 20,
		                             .horizon_ns = chance(2) ? 50 : 0 };
	s = bsa_schedule_new(&facts, &options);
	assert_non_null(s);
	for (unsigned i = 0; i < STEPS; i++)
		any_step(s, all, &now);
	assert_int_equal(bsa_schedule_finish(s, any_time(&now)), 0);
	for (unsigned i = 0; i < ALIVE; i++) {
		assert_true(!all[i] || bsa_scheduled_idle(all[i]));
		free(all[i]);
	}
	bsa_schedule_free(s);
}

static void steps_may_come_in_any_order(void **state)
{
	time_t stop = soak_until(1);

	(void)state;
	for (uint32_t i = 1; stop ? time(NULL) < stop : i <= SEEDS; i++)
		any_steps(i);
}

/* ---- many ---- */

static struct bsa_schedule *start(uint64_t window, uint64_t horizon)
{
	struct bsa_fold_options options = { .window_ns = window, .horizon_ns = horizon };
	struct bsa_facts facts = checked();
	struct bsa_schedule *s;

	if (horizon)
		facts.refused = refusal_is_later;
	s = bsa_schedule_new(&facts, &options);
	assert_non_null(s);
	assert_int_equal(bsa_schedule_lanes(s, 1, 0, 1, false, true), 0);
	return s;
}

static void step_take(struct bsa_schedule *s, struct bsa_scheduled *x, enum bsa_step step, uint64_t at, uint8_t lane)
{
	assert_int_equal(bsa_schedule_step(s, x, step, at, lane), 0);
}

static void a_million_wait(void **state)
{
	struct bsa_scheduled *x = calloc(MILLION, sizeof(*x));
	struct bsa_schedule *s = start(0, 0);

	(void)state;
	assert_non_null(x);
	for (uint32_t i = 0; i < MILLION; i++) {
		x[i] = (struct bsa_scheduled){
			.id = i + 1, .app = 1 + i % 70000, .priority = (uint8_t)(i % 3), .instance = 1
		};
		step_take(s, &x[i], BSA_STEP_READY, i, BSA_LANE_NONE);
	}
	for (uint32_t i = 0; i < 100; i++) {
		struct bsa_scheduled *last = &x[MILLION - 1 - i];

		step_take(s, last, BSA_STEP_DISPATCH, MILLION + 2 * i, 0);
		step_take(s, last, BSA_STEP_END, MILLION + 2 * i + 1, 0);
	}
	for (uint32_t i = 0; i < MILLION - 100; i += 2)
		step_take(s, &x[i], BSA_STEP_FORGET, 2 * MILLION, BSA_LANE_NONE);
	assert_int_equal(bsa_schedule_finish(s, 3 * MILLION), 0);
	assert_int_equal(x[0].bypassed, 0); /* among so many apps it is not counted, */
	assert_true(x[0].bypassed_more);    /* the result has a flag for that */
	assert_true(x[1].bypassed_more);
	assert_int_equal(shares, 70000); /* one for each app */
	bsa_schedule_free(s);
	free(x);
}

/* All wait for one lane, which serves the last one first: each has passed all others. */
static void many_are_passed_by_many(void **state)
{
	enum { MANY = 60000 };
	struct bsa_scheduled *x = calloc(MANY + 1, sizeof(*x));
	struct bsa_schedule *s = start(0, 0);
	uint64_t at = MANY;

	(void)state;
	assert_non_null(x);
	for (uint32_t i = 0; i < MANY; i++) {
		x[i] = (struct bsa_scheduled){ .id = i + 1, .app = 1 + i % 4, .priority = 1, .instance = 1 };
		step_take(s, &x[i], BSA_STEP_READY, i, BSA_LANE_NONE);
	}
	for (uint32_t i = 0; i < 3 * MANY; i++, at += 3) {
		x[MANY] = (struct bsa_scheduled){ .id = MANY + 1 + i, .app = 5, .priority = 1, .instance = 1 };
		step_take(s, &x[MANY], BSA_STEP_READY, at, BSA_LANE_NONE);
		step_take(s, &x[MANY], BSA_STEP_DISPATCH, at + 1, 0);
		step_take(s, &x[MANY], BSA_STEP_END, at + 2, 0);
	}
	assert_int_equal(bsa_schedule_finish(s, at), 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(x[i].bypassed, 3 * MANY);
	bsa_schedule_free(s);
	free(x);
}

/*
 * One execution waits for longer than the schedule remembers: the rest of the wait is unknown, and counted.
 */
static void what_is_remembered_is_bounded(void **state)
{
	enum { MANY = 3 << 18 };
	struct bsa_scheduled waits = { .id = 1, .app = 1, .instance = 1 }, x,
			     next = { .id = 2, .app = 1, .instance = 1 };
	struct bsa_schedule *s = start(0, 0);
	size_t before = mallinfo2().uordblks;

	(void)state;
	step_take(s, &waits, BSA_STEP_READY, 1, BSA_LANE_NONE);
	step_take(s, &next, BSA_STEP_READY, 2, BSA_LANE_NONE);
	for (uint64_t i = 1; i <= MANY; i++) {
		x = (struct bsa_scheduled){ .id = i + 2, .app = 2, .instance = 1 };
		step_take(s, &x, BSA_STEP_DISPATCH, 10 * i, 0);
		step_take(s, &x, BSA_STEP_END, 10 * i + 6, 0);
	}
	assert_true(mallinfo2().uordblks - before < 32 << 20);
	step_take(s, &waits, BSA_STEP_DISPATCH, 10 * MANY + 10, 0);
	assert_int_equal(bsa_schedule_left_out(s).forgotten, 1);
	assert_in_range(rows, 1 << 17, (2 << 17) + 2);
	assert_int_equal(waits.ready_ns, 10 * MANY + 9);
	assert_int_equal(bsa_schedule_finish(s, 10 * MANY + 20), 0);
	bsa_schedule_free(s);
}

/* The memory of all lanes together is bounded: one lane loses all its memory, time after time. */
static void so_is_what_is_remembered_of_many_lanes(void **state)
{
	enum { MANY = 1 << 18, LANES_OF_IT = 5 };
	struct bsa_scheduled waits = { .id = 1, .app = 1, .instance = 1 }, x;
	struct bsa_schedule *s = start(0, 0);
	uint64_t at = 10;

	(void)state;
	assert_int_equal(bsa_schedule_lanes(s, 1, 0, LANES_OF_IT, false, true), 0);
	step_take(s, &waits, BSA_STEP_READY, 1, BSA_LANE_NONE);
	for (uint8_t lane = 0; lane < LANES_OF_IT; lane++)
		for (uint64_t i = 1; i < MANY; i++, at += 10) {
			x = (struct bsa_scheduled){ .id = at, .app = 2, .instance = 1 };
			step_take(s, &x, BSA_STEP_DISPATCH, at, lane);
			step_take(s, &x, BSA_STEP_END, at + 9, lane);
		}
	step_take(s, &waits, BSA_STEP_DISPATCH, at, LANES_OF_IT - 1);
	assert_int_equal(bsa_schedule_left_out(s).forgotten, 1);
	assert_in_range(idle_ns, 1, 10000);
	assert_int_equal(bsa_schedule_finish(s, at), 0);
	bsa_schedule_free(s);
}

/* While executions wait, but each briefly, the schedule forgets nothing. */
static void unused_history_is_dropped(void **state)
{
	enum { MANY = 3 << 18 };
	struct bsa_scheduled x[2];
	struct bsa_schedule *s = start(0, 0);
	size_t before = mallinfo2().uordblks;

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		x[i % 2] = (struct bsa_scheduled){ .id = i + 1, .app = 2, .instance = 1 };
		step_take(s, &x[i % 2], BSA_STEP_READY, 10 * i + 5, BSA_LANE_NONE);
		if (i)
			step_take(s, &x[(i - 1) % 2], BSA_STEP_END, 10 * i + 6, 0);
		step_take(s, &x[i % 2], BSA_STEP_DISPATCH, 10 * i + 7, 0);
	}
	assert_true(mallinfo2().uordblks - before < 64 << 10);
	assert_int_equal(bsa_schedule_left_out(s).forgotten, 0);
	assert_int_equal(bsa_schedule_finish(s, 10 * MANY), 0);
	bsa_schedule_free(s);
}

/* The schedule reports windows in which nothing happens, but only so many. */
static void time_may_jump(void **state)
{
	struct bsa_scheduled x[6];
	struct bsa_schedule *s = start(1, 0);
	const uint64_t at[] = { 5, 5000, 1 << 30, (uint64_t)1 << 50, UINT64_MAX - 2, UINT64_MAX - 1 };

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		x[i] = (struct bsa_scheduled){ .id = i + 1, .app = 1 + i, .priority = 1, .instance = 1 };
		step_take(s, &x[i], i % 3 ? BSA_STEP_READY : BSA_STEP_DISPATCH, at[i], 0);
	}
	assert_in_range(rows, 4995, 3 << 20);
	assert_int_equal(bsa_schedule_finish(s, UINT64_MAX), 0);
	bsa_schedule_free(s);
}

/* The schedule keeps a bounded number of steps whose times never come. */
static void steps_to_come_are_bounded(void **state)
{
	enum { MANY = (1 << 17) + 5000 };
	struct bsa_scheduled *x = calloc(MANY, sizeof(*x));
	struct bsa_schedule *s = start(0, 100);
	uint32_t idle = 0;

	(void)state;
	assert_non_null(x);
	chance_from(1);
	for (uint32_t i = 0; i < MANY; i++) {
		x[i] = (struct bsa_scheduled){ .id = i + 1, .app = 1, .priority = 1, .instance = 1 };
		step_take(s, &x[i], BSA_STEP_REFUSED, UINT64_MAX / 2 + chance(1 << 24), BSA_LANE_NONE);
	}
	for (uint32_t i = 0; i < MANY; i++)
		idle += bsa_scheduled_idle(&x[i]);
	assert_in_range(idle, 5000, 5001);
	assert_int_equal(bsa_schedule_finish(s, 1000), 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(bsa_scheduled_idle(&x[i]));
	assert_int_equal(rows, MANY);
	/*
	 * 65536 are kept until the lane proves to have been idle; of more, the schedule does not know any
	 * longer that the lane was free
	 */
	assert_in_range(in_time, 4000, 5000);
	bsa_schedule_free(s);
	free(x);
}

static void losses_are_bounded(void **state)
{
	struct bsa_schedule *s = start(0, 0);

	(void)state;
	for (uint64_t i = 0; i < 200000; i++)
		assert_int_equal(bsa_schedule_add_loss(s, 10 * i, 10 * i + 3, false), 0);
	for (uint64_t i = 0; i < 200000; i++)
		assert_true(bsa_schedule_is_lost(s, 10 * i + 1, 10 * i + 2));
	assert_false(bsa_schedule_is_lost(s, 10 * 199990 + 4, 10 * 199990 + 9));
	assert_true(bsa_schedule_is_lost(s, 10 * 199990 + 4, 10 * 199990 + 10));
	assert_false(bsa_schedule_is_lost(s, 10 * 200000, UINT64_MAX));
	bsa_schedule_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_may_come_in_any_order),
		cmocka_unit_test(a_million_wait),
		cmocka_unit_test(many_are_passed_by_many),
		cmocka_unit_test(what_is_remembered_is_bounded),
		cmocka_unit_test(so_is_what_is_remembered_of_many_lanes),
		cmocka_unit_test(unused_history_is_dropped),
		cmocka_unit_test(time_may_jump),
		cmocka_unit_test(steps_to_come_are_bounded),
		cmocka_unit_test(losses_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
