/*
 * timeline.h -- lanes and queues over time, as text: a cell of each row is the same span of time.
 *
 * The caller adds all that is to be drawn first, in any order; it is added up as it comes: memory
 * grows with what is drawn, not with what is added. Times are since the recording began; what is
 * outside of the span is left out. Functions are fine with NULL; bsv_timeline_draw returns an error
 * if there was no memory.
 */
#ifndef BSV_RENDER_TIMELINE_H
#define BSV_RENDER_TIMELINE_H

#include "base/screen.h"
#include "bsa/err.h"

struct bsv_timeline;

/* From @from to @to, which is later, on a screen of @width columns. */
struct bsv_timeline *bsv_timeline_new(int64_t from, int64_t to, int width);

/* NULL is fine. Returns NULL. */
struct bsv_timeline *bsv_timeline_free(struct bsv_timeline *t);

/* Before and after that nothing was recorded: cells that lie there altogether are blank. */
void bsv_timeline_recorded(struct bsv_timeline *t, int64_t began, int64_t ended);

/* The service with that number has this lane: the lane has a row even if it was never held. */
void bsv_timeline_lane(struct bsv_timeline *t, int64_t service, int64_t lane);

/* An execution of @app had a lane. Those of one lane do not overlap. */
void bsv_timeline_held(struct bsv_timeline *t, int64_t service, int64_t lane, int64_t app, int64_t began,
                       int64_t ended);

/*
 * Executions without a recorded end may have held a lane of @service: each of its lanes is unknown
 * from @began, or from the last stretch that was added before, whichever is later, until @ended.
 */
void bsv_timeline_open(struct bsv_timeline *t, int64_t service, int64_t began, int64_t ended);

/* The lane's holder is unknown. Such stretches do not overlap either. */
void bsv_timeline_unknown(struct bsv_timeline *t, int64_t service, int64_t lane, int64_t began, int64_t ended);

/* An execution of @who, an app or a model, was ready, and not on a lane. */
void bsv_timeline_waited(struct bsv_timeline *t, int64_t who, int64_t began, int64_t ended);

enum bsv_mark { BSV_MARK_MISSED, BSV_MARK_DEADLINE, BSV_MARK_STOPPED, BSV_MARKS };

void bsv_timeline_mark(struct bsv_timeline *t, enum bsv_mark mark, int64_t at);

/* A cpu ran a thread, or (@busy false) none, according to a kernel's trace. Stretches of one cpu do not overlap. */
void bsv_timeline_cpu(struct bsv_timeline *t, int64_t cpu, bool busy, int64_t began, int64_t ended);

/* Events were lost. */
void bsv_timeline_lost(struct bsv_timeline *t, int64_t began, int64_t ended);

/* One execution has a row of its own, called @name: when it was under way, waiting, or on a lane. */
enum bsv_state { BSV_UNDER_WAY, BSV_WAITING, BSV_ON_LANE, BSV_STATES };

void bsv_timeline_focus(struct bsv_timeline *t, const char *name, enum bsv_state state, int64_t began, int64_t ended);

/* Names of what is drawn, owned by the caller. NULL: no memory. Names are untrusted. */
struct bsv_timeline_names {
	char *(*app)(void *ctx, int64_t app);
	char *(*waiting)(void *ctx, int64_t who);
	void *ctx;
	const char *what; /* "app" or "model": what the waiting ones are */
};

/* Once all is added. 0, or negative. */
int bsv_timeline_draw(const struct bsv_timeline *t, const struct bsv_timeline_names *names, FILE *to,
                      const struct bsv_screen *screen, struct bsa_err *err);

#endif
