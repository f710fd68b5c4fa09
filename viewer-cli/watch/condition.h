/*
 * condition.h -- what burstscope watch waits for: a word of --on, the events that may say it, and what is left to decide by the database.
 *
 * Two kinds decide: LTTng's triggers see single events (BSV_BY_EVENT), at no cost until one happens; a fold over what is recorded sees
 * starvation, inversions, rates and percentiles (BSV_BY_FOLD, folding.h), for which a session is read all the time.
 */
#ifndef BSV_CONDITION_H
#define BSV_CONDITION_H

#include "record/triggers.h"
#include "slo/rules.h"

enum { BSV_CONDITIONS_MOST = 8, BSV_NAME_MOST = 64 };

enum bsv_watched {
	BSV_WATCH_MISS,
	BSV_WATCH_ERROR,
	BSV_WATCH_DEATH,
	BSV_WATCH_STARVATION, /* a wait for a lane, longer than @longer_than */
	BSV_WATCH_INVERSION,  /* likewise, while less urgent work of the same app had it */
	BSV_WATCH_RULE        /* a rule of burstscope-slo(5) fails over a window of time */
};

enum bsv_decided { BSV_BY_EVENT, BSV_BY_FOLD };

struct bsv_condition {
	char text[256]; /* as it was given */
	enum bsv_watched watched;
	enum bsv_decided decided;
	char app[BSV_NAME_MOST], model[BSV_NAME_MOST], cause[BSV_NAME_MOST], culprit[BSV_NAME_MOST]; /* "": any */
	char kind[16];       /* of a miss: transient, persistent, late; "": any */
	char status[40];     /* of an error, as the HAL calls it; "": any that is no missed deadline */
	int64_t longer_than; /* ns */
};

/* BSA_E_USAGE: no such condition. */
int bsv_condition_read(struct bsv_condition *ret, const char *text, struct bsa_err *err);

/* Of BSV_WATCH_RULE: its only rule. *ret is owned by the caller. BSA_E_INPUT as bsv_slo_parse, BSA_E_ENV. */
int bsv_condition_rule(struct bsv_slo *ret, const struct bsv_condition *c, struct bsa_err *err);

/* "miss", "error", "death", "starvation", "inversion", "rule". Borrowed for good. */
const char *bsv_condition_name(const struct bsv_condition *c);

enum { BSV_CONDITION_RULES = 4 };

/*
 * The events that may be it, at @detail; of BSV_BY_FOLD there are none. Each brings numbers: the execution (0: of none), and its model or status; of a death, the
 * connection. Returns how many; @filter is their memory.
 */
size_t bsv_condition_rules(const struct bsv_condition *c, enum bsv_detail detail,
                           struct bsv_rule ret[BSV_CONDITION_RULES], char filter[64]);

/* Does the database have to be asked whether it was one, because an event does not say all that was asked for? */
bool bsv_condition_needs_database(const struct bsv_condition *c);

#endif
