/*
 * condition.h -- what burstscope watch waits for: a word of --on, the events that may say it, and what is left to decide by the database.
 *
 * Two kinds decide: LTTng's triggers see single events (BSV_BY_EVENT), at no cost until one happens; a fold over what is recorded sees
 * starvation, inversions, rates and percentiles (BSV_BY_FOLD), for which a session has to be read all the time. There is no such
 * fold yet, and its conditions are refused.
 */
#ifndef BSV_CONDITION_H
#define BSV_CONDITION_H

#include "record/triggers.h"

enum { BSV_CONDITIONS_MOST = 8, BSV_NAME_MOST = 64 };

enum bsv_watched { BSV_WATCH_MISS, BSV_WATCH_ERROR, BSV_WATCH_DEATH };

enum bsv_decided { BSV_BY_EVENT, BSV_BY_FOLD };

struct bsv_condition {
	char text[256]; /* as it was given */
	enum bsv_watched watched;
	enum bsv_decided decided;
	char app[BSV_NAME_MOST], model[BSV_NAME_MOST], cause[BSV_NAME_MOST], culprit[BSV_NAME_MOST]; /* "": any */
	char kind[16];   /* of a miss: transient, persistent, late; "": any */
	char status[40]; /* of an error, as the HAL calls it; "": any that is no missed deadline */
};

/* BSA_E_USAGE: no such condition, or one that only a fold can decide. */
int bsv_condition_read(struct bsv_condition *ret, const char *text, struct bsa_err *err);

/* "miss", "error", "death". Borrowed for good. */
const char *bsv_condition_name(const struct bsv_condition *c);

enum { BSV_CONDITION_RULES = 4 };

/*
 * The events that may be it, at @detail. Each brings numbers: the execution (0: of none), and its model or status; of a death, the
 * connection. Returns how many; @filter is their memory.
 */
size_t bsv_condition_rules(const struct bsv_condition *c, enum bsv_detail detail,
                           struct bsv_rule ret[BSV_CONDITION_RULES], char filter[64]);

/* Does the database have to be asked whether it was one, because an event does not say all that was asked for? */
bool bsv_condition_needs_database(const struct bsv_condition *c);

#endif
