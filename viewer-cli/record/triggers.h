/*
 * triggers.h -- LTTng's own triggers: the session daemon sends a notification as soon as a program
 * emits an event that a rule is about.
 *
 * They are apart from sessions: an event is looked at whether or not a session records it, and its
 * filter is evaluated in the program.
 */
#ifndef BSV_TRIGGERS_H
#define BSV_TRIGGERS_H

#include "record/session.h"

enum { BSV_RULES_MOST = 32, BSV_CAPTURES = 3 };

struct bsv_rule {
	const char *event;  /* "nnburst:deadline_miss"; borrowed for as long as the triggers are there */
	const char *filter; /* LTTng's filter expression; NULL: each such event */
	const char *captures
		[BSV_CAPTURES]; /* fields, numbers, that a notification brings; those after a NULL are not used */
};

/* All 0: no trigger is set. */
struct bsv_triggers {
	const struct bsv_lttng *lttng;
	char prefix[BSV_SESSION_NAME]; /* prefix of the triggers' names */
	struct lttng_notification_channel *channel;
	struct lttng_trigger *of[BSV_RULES_MOST];
	size_t n;
};

struct bsv_notified {
	unsigned rule;
	uint64_t values[BSV_CAPTURES]; /* 0 where LTTng could not capture it */
};

/*
 * One trigger for each of @rules; @name is that of the session, and shows whose they are. Nothing
 * is left of them on failure. BSA_E_ENV.
 */
int bsv_triggers_open(struct bsv_triggers *ret, const struct bsv_lttng *lttng, const char *name,
                      const struct bsv_rule *rules, size_t n, struct bsa_err *err);

/*
 * The next notification that has come. 1: *ret; 0: no notification has come. BSA_E_ENV: the session daemon has gone.
 * Never waits.
 */
int bsv_triggers_next(struct bsv_triggers *t, struct bsv_notified *ret, struct bsa_err *err);

/* Remove them. All 0 is fine, and so is a daemon that has gone. */
void bsv_triggers_close(struct bsv_triggers *t);

/*
 * Remove those of ours whose processes have ended without doing so: programs would evaluate them
 * for as long as the daemon runs.
 */
unsigned bsv_triggers_sweep(const struct bsv_lttng *lttng);

/*
 * Does the daemon have a trigger that does not belong to a burstscope that has ended? 1, 0;
 * negative: LTTng does not report it.
 */
int bsv_triggers_used(const struct bsv_lttng *lttng);

#endif
