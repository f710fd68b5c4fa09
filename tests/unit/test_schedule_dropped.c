/*
 * test_schedule_dropped.c -- random schedules, each played twice: once the schedule keeps all tenants to the
 * end, once it drops idle tenants as early as possible.
 *
 * All facts but lags are the same. Shares and windows are reported in parts that add up. Bounds of lags may
 * be wider, never narrower.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/schedule_facts.h"
#include "unit/schedule_world.h"

#include <malloc.h>
#include <string.h>

#ifndef SEEDS
#define SEEDS 2500
#endif

enum { WINDOWS = TIME / WINDOW + 1 };

struct played {
	struct lines lines;
	struct share_sum {
		uint64_t received, entitled, max_lag_at;
		int64_t max_lag, most_lag;
		unsigned parts;
	} shares[APPS + 1];
	struct lag_sum {
		uint64_t received, entitled;
		int64_t lag, most;
		unsigned parts;
	} lags[APPS + 1][WINDOWS];
};

static void add_share(void *ctx, const struct bsa_share *part)
{
	struct played *p = ctx;
	struct share_sum *sum = &p->shares[part->app];

	sum->parts++;
	sum->received += part->received;
	sum->entitled += part->entitled;
	if (part->max_lag > sum->max_lag) {
		sum->max_lag = part->max_lag;
		sum->max_lag_at = part->max_lag_at;
	}
	sum->most_lag = part->most_lag > sum->most_lag ? part->most_lag : sum->most_lag;
}

static void add_lag(void *ctx, const struct bsa_lag *part)
{
	struct played *p = ctx;
	struct lag_sum *sum;

	assert_in_range(part->window_began / WINDOW, 0, WINDOWS - 1);
	sum = &p->lags[part->app][part->window_began / WINDOW];
	sum->received += part->received;
	sum->entitled += part->entitled;
	sum->lag = !sum->parts || part->lag > sum->lag ? part->lag : sum->lag;
	sum->most = !sum->parts || part->most > sum->most ? part->most : sum->most;
	sum->parts++;
}

static void add_wait(void *ctx, const struct bsa_wait *w)
{
	line_wait(&((struct played *)ctx)->lines, w);
}

#define LINE_OF(kind)                                                    \
	static void add_##kind(void *ctx, const struct bsa_##kind *fact) \
	{                                                                \
		line_##kind(&((struct played *)ctx)->lines, fact);       \
	}
LINE_OF(slice)
LINE_OF(possible_wait)
LINE_OF(unknown_lane)
LINE_OF(inverted)
LINE_OF(starved)
LINE_OF(interfered)
LINE_OF(chosen)
LINE_OF(refused)

static void play(const struct world *w, uint32_t tenants_max, struct played *ret)
{
	const struct bsa_facts facts = {
		.ctx = ret,
		.wait = add_wait,
		.slice = add_slice,
		.possible_wait = add_possible_wait,
		.unknown_lane = add_unknown_lane,
		.inverted = add_inverted,
		.starved = add_starved,
		.share = add_share,
		.lag = add_lag,
		.interfered = add_interfered,
		.chosen = add_chosen,
		.refused = add_refused,
	};
	struct bsa_scheduled x[EXECUTIONS];
	struct bsa_schedule *s = world_start(w, &facts, 0, tenants_max, x);
	int next = 0;

	for (int t = 0; t < TIME; t++) {
		world_tell_losses(w, s, t);
		for (; next < w->n_steps && w->steps[next].at == t; next++)
			if (!w->steps[next].lost)
				assert_int_equal(bsa_schedule_step(s, &x[w->steps[next].x], w->steps[next].step,
				                                   (uint64_t)t, (uint8_t)w->steps[next].lane),
				                 0);
		assert_int_equal(bsa_schedule_advance(s, (uint64_t)t), 0);
	}
	assert_int_equal(bsa_schedule_finish(s, TIME - 1), 0);
	bsa_schedule_free(s);
	lines_sort(&ret->lines);
}

static void lose_steps(struct world *w)
{
	for (int i = 0; i < w->n_steps; i++) {
		struct one_step *s = &w->steps[i];

		s->lost = world_lost(w, s->at, s->at) && chance(3);
		if (s->lost)
			w->x[s->x].counted = false;
	}
}

static void shares_add_up(const struct share_sum *kept, const struct share_sum *dropped, bool losses)
{
	assert_int_equal(dropped->received, kept->received);
	assert_in_range(dropped->entitled + dropped->parts, kept->entitled, kept->entitled + 2 * dropped->parts);
	if (losses) {
		assert_true(dropped->max_lag <= kept->max_lag);
		assert_true(dropped->most_lag >= kept->most_lag);
	} else {
		assert_int_equal(dropped->max_lag, kept->max_lag);
		if (dropped->parts == 1) /* the largest lags of two parts may differ by less than a ns */
			assert_int_equal(dropped->max_lag_at, kept->max_lag_at);
		assert_int_equal(dropped->most_lag, kept->most_lag);
	}
}

/*
 * If a loss touches the window, a part of it may be from before the loss, and certain, while the whole is
 * not. test_fold_schedules has the truth.
 */
static bool window_has_loss(const struct world *w, int window)
{
	return world_lost(w, window * WINDOW, (window + 1) * WINDOW - 1);
}

/*
 * A window without lane time gives no fact, but may have parts. Returns how many windows had several parts.
 */
static unsigned lags_are_no_narrower(const struct world *w, const struct played *kept, const struct played *dropped)
{
	unsigned split = 0;

	for (int a = 1; a <= APPS; a++)
		for (int i = 0; i < WINDOWS; i++) {
			const struct lag_sum *k = &kept->lags[a][i], *d = &dropped->lags[a][i];

			split += d->parts > 1;
			assert_int_equal(k->received, d->received);
			assert_in_range(d->entitled + d->parts, k->entitled, k->entitled + 2 * d->parts);
			if (!k->parts)
				continue;
			assert_int_equal(k->parts, 1);
			assert_true(d->parts);
			assert_true(d->lag <= k->lag || window_has_loss(w, i));
			assert_true(d->most >= k->most);
		}
	return split;
}

static void dropping_idle_tenants_changes_no_fact(void **state)
{
	unsigned returned = 0, split = 0;

	(void)state;
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct played kept = { .lines = { 0 } }, dropped = { .lines = { 0 } };
		struct world w;

		world_make(&w, seed);
		lose_steps(&w);
		play(&w, 0, &kept);
		play(&w, 1, &dropped);
		assert_int_equal(kept.lines.n, dropped.lines.n);
		for (size_t i = 0; i < kept.lines.n; i++)
			if (strcmp(kept.lines.all[i], dropped.lines.all[i]) != 0)
				fail_msg("seed %u: '%s' became '%s'", seed, kept.lines.all[i], dropped.lines.all[i]);
		for (int a = 1; a <= APPS; a++) {
			shares_add_up(&kept.shares[a], &dropped.shares[a], w.n_losses);
			returned += dropped.shares[a].parts > 1;
		}
		split += lags_are_no_narrower(&w, &kept, &dropped);
		lines_fini(&kept.lines);
		lines_fini(&dropped.lines);
	}
	assert_in_range(returned, 50, SEEDS * APPS); /* otherwise too few dropped tenants returned */
	assert_in_range(split, 50, SEEDS * APPS * WINDOWS);
}

enum { INSTANCES = 8 };

/* Bytes of the heap after @n apps have each had one execution, @apart from each other. */
static size_t heap_after(struct bsa_schedule *s, uint32_t *app, uint32_t n, uint64_t apart)
{
	for (; *app <= n; ++*app) {
		struct bsa_scheduled x = {
			.id = *app, .app = *app, .priority = 1, .instance = 1 + *app % INSTANCES, .model = 9
		};
		uint64_t at = *app * apart;

		assert_int_equal(bsa_schedule_step(s, &x, BSA_STEP_READY, at, BSA_LANE_NONE), 0);
		assert_int_equal(bsa_schedule_step(s, &x, BSA_STEP_DISPATCH, at, 0), 0);
		assert_int_equal(bsa_schedule_step(s, &x, BSA_STEP_END, at + 1, 0), 0);
		assert_true(bsa_scheduled_idle(&x));
	}
	return mallinfo2().uordblks;
}

static void take_no_memory(uint64_t apart)
{
	const struct bsa_fold_options options = { .tenants_max = 64, .window_ns = 1000000 };
	struct bsa_facts facts = world_no_facts();
	struct bsa_schedule *s = bsa_schedule_new(&facts, &options);
	uint32_t app = 1;
	size_t few;

	for (unsigned i = 1; i <= INSTANCES; i++)
		assert_int_equal(bsa_schedule_lanes(s, (uint16_t)i, 0, 1, false, true), 0);
	few = heap_after(s, &app, 10000, apart);
	assert_true(heap_after(s, &app, 100000, apart) <= few + 64 * 1024);
	bsa_schedule_free(s);
}

static void apps_that_came_and_went_take_no_memory(void **state)
{
	(void)state;
	take_no_memory(1000000);
}

static void apps_that_came_and_went_within_a_window_take_no_memory(void **state)
{
	(void)state;
	take_no_memory(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(dropping_idle_tenants_changes_no_fact),
		                            cmocka_unit_test(apps_that_came_and_went_take_no_memory),
		                            cmocka_unit_test(apps_that_came_and_went_within_a_window_take_no_memory) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
