/* lag_windows.c -- see lag_windows.h. */
#include "analyzer/lag_windows.h"

#include <stdlib.h>

void lag_windows_add(struct lag_windows *to, const struct bsa_lag_window *w)
{
	if (to->n == to->room) {
		to->room = to->room ? 2 * to->room : 16;
		to->items = realloc(to->items, to->room * sizeof(*to->items));
		if (!to->items)
			abort();
	}
	to->items[to->n++] = *w;
}

static __int128 parts_of(int64_t ns, int32_t part)
{
	return (__int128)ns * BSA_LAG_PARTS + part;
}

/* A half is rounded away from 0. */
static int64_t nearest_ns(__int128 parts)
{
	return (int64_t)((parts + (parts < 0 ? -BSA_LAG_PARTS / 2 : BSA_LAG_PARTS / 2)) / BSA_LAG_PARTS);
}

void lag_windows_each(const struct lag_windows *windows, const struct bsa_lag *lag,
                      void (*each)(void *ctx, const struct bsa_lag *), void *ctx)
{
	uint64_t n = 0;

	if (lag->first == lag->last) {
		each(ctx, lag);
		return;
	}
	for (size_t i = 0; i < windows->n; i++) {
		const struct bsa_lag_window *w = &windows->items[i];
		__int128 less = parts_of((int64_t)lag->sum, lag->sum_part) - parts_of((int64_t)w->sum, w->sum_part);
		struct bsa_lag one = *lag;

		if (w->instance != lag->instance || w->number < lag->first || w->number > lag->last)
			continue;
		one.window_began = w->began;
		one.entitled = w->entitled;
		one.lag = nearest_ns(parts_of(lag->lag, lag->lag_part) - less);
		one.most = nearest_ns(parts_of(lag->most, lag->most_part) - less);
		each(ctx, &one);
		n++;
	}
	if (n != lag->last - lag->first + 1)
		abort();
}
