/*
 * case.h -- a case: what burstscope watch keeps of one condition. A directory with
 *
 *   case.json     what fired, and what came of it: docs/case.schema.json
 *   trace/        what LTTng's buffers held
 *   trace.db      its database
 *   report.html   its page
 *
 * A directory is called NAME.half until all of that is there: a watcher that is killed leaves such
 * a one, and the next one finishes or removes it.
 */
#ifndef BSV_CASE_H
#define BSV_CASE_H

#include "conditions/condition.h"

#include <limits.h>

#define BSV_CASE_HALF ".half"

enum { BSV_CASE_EXECS = 32, BSV_CASE_CAUSES = 8, BSV_CASE_NAME = 64 };

/* A condition that fired, and how often; and the first executions that it named. */
struct bsv_case_fired {
	char on[256];
	uint64_t n, execs[BSV_CASE_EXECS];
	size_t n_execs;
	int64_t from, to; /* CLOCK_MONOTONIC: of a rule, the first window in which it failed; 0: none */
};

/*
 * Texts are owned; NULL: unknown. Names in them are untrusted; the user is the one that the kernel
 * reports for the app.
 */
struct bsv_case_cause {
	char *condition, *finding, *app, *model, *culprit, *what;
	bool has_user; /* false: the user is unknown */
	uint32_t user; /* the app's uid */
	uint64_t n;
};

struct bsv_case {
	char name[BSV_CASE_NAME];
	char *state;         /* "caught", "explained", or "unexplained", and then @why */
	char *summary, *why; /* a sentence each */
	int64_t caught;      /* CLOCK_REALTIME, ns */
	int64_t at;          /* CLOCK_MONOTONIC: when the first event was heard of */
	int64_t before, after;
	int64_t watched;  /* how long before @at the recording had begun, all of which is there; below 0: unknown */
	int64_t recorded; /* how long before @at the recording begins, whole or not; below 0: unknown */
	int64_t held;     /* how long before @at the recording begins, as far as it is whole; below 0: unknown */
	struct bsv_case_fired fired[BSV_CONDITIONS_MOST];
	size_t n_fired;
	struct bsv_case_cause causes[BSV_CASE_CAUSES]; /* the first is what the case is about */
	size_t n_causes;
	uint64_t unnamed;   /* executions whose app or model has no name, because no event with it was recorded */
	uint64_t again;     /* how often the same cause came again, within the cooldown */
	int64_t again_last; /* CLOCK_REALTIME, ns; 0: never */
	int64_t gap;        /* time without a session daemon before the case, in which nothing was watched; 0: none */
	uint64_t bytes;
};

/* All 0 is fine. */
void bsv_case_fini(struct bsv_case *c);

/* Write @directory/case.json, whole or not at all. */
int bsv_case_write(const struct bsv_case *c, const char *directory, struct bsa_err *err);

/* BSA_E_INPUT: @directory has no case of burstscope watch. *ret is owned by the caller. */
int bsv_case_read(struct bsv_case *ret, const char *directory, struct bsa_err *err);

/*
 * Add @cause behind the others; its texts are taken. If the case is full: find the user with the
 * most causes, counting @cause, and of that user the app with the most. The last cause of that app
 * is forgotten, or @cause itself if its user and its app have as many. So no app can fill a case
 * and hide the misses of another one. Never forgets the first cause.
 */
void bsv_case_add(struct bsv_case *c, struct bsv_case_cause cause);

/* Are both about the same: condition, finding, app, its user and culprit? */
bool bsv_case_cause_same(const struct bsv_case_cause *a, const struct bsv_case_cause *b);

/* Its summary, and how much is missing of the time before that was asked for. Owned by the caller; NULL: no memory. */
char *bsv_case_line(const struct bsv_case *c);

/* "2026-11-23T03:06:00Z", into @to, which is returned. */
enum { BSV_CASE_TIME = 32 };
const char *bsv_case_time(char to[BSV_CASE_TIME], int64_t realtime);

#endif
