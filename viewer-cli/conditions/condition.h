/*
 * condition.h -- the conditions of burstscope watch: a word of --on, the events that can fire it,
 * and the checks left for the database.
 *
 * There are two kinds. LTTng's triggers check single events (BSV_BY_EVENT), and cost nothing until
 * one happens. A fold over the recording finds starvation, inversions, rates and percentiles
 * (BSV_BY_FOLD, folding.h), and needs a session that is read all the time.
 */
#ifndef BSV_CONDITIONS_CONDITION_H
#define BSV_CONDITIONS_CONDITION_H

#include "record/triggers.h"
#include "slo/rules.h"

enum { BSV_CONDITIONS_MOST = 8, BSV_NAME_MOST = 64 };

enum bsv_watched {
	BSV_WATCH_MISS,
	BSV_WATCH_ERROR,
	BSV_WATCH_DEATH,
	BSV_WATCH_STARVATION, /* a wait for a lane, longer than @longer_than */
	BSV_WATCH_INVERSION,  /* likewise, while less urgent work of the same app had it */
	BSV_WATCH_SILENCE,    /* a service with requests to answer emitted nothing for longer than @longer_than */
	BSV_WATCH_RULE        /* a rule of burstscope-slo(5) fails over a window of time */
};

enum bsv_decided { BSV_BY_EVENT, BSV_BY_FOLD };

struct bsv_condition {
	char text[256]; /* as it was given */
	enum bsv_watched watched;
	enum bsv_decided decided;
	char app[BSV_NAME_MOST], model[BSV_NAME_MOST], cause[BSV_NAME_MOST], culprit[BSV_NAME_MOST]; /* "": any */
	char kind[16];       /* kind of a miss: transient, persistent, late; "": any */
	char status[40];     /* status of an error, as in the HAL; "": any except a missed deadline */
	int64_t longer_than; /* ns */
};

/* BSA_E_USAGE: no such condition. */
int bsv_condition_read(struct bsv_condition *ret, const char *text, struct bsa_err *err);

/* The only rule of a BSV_WATCH_RULE. *ret is owned by the caller. BSA_E_INPUT as bsv_slo_parse, BSA_E_ENV. */
int bsv_condition_rule(struct bsv_slo *ret, const struct bsv_condition *c, struct bsa_err *err);

/* "miss", "error", "death", "starvation", "inversion", "silence", "rule". Borrowed for good. */
const char *bsv_condition_name(const struct bsv_condition *c);

enum { BSV_CONDITION_RULES = 4 };

/*
 * The events that may be it, at @detail; of BSV_BY_FOLD there are none. Each brings numbers: the
 * execution (0: of none), and its model or status; of a death, the connection. Returns how many;
 * @filter is their memory.
 */
size_t bsv_condition_rules(const struct bsv_condition *c, enum bsv_detail detail,
                           struct bsv_rule ret[BSV_CONDITION_RULES], char filter[64]);

/* Does the database have to be asked whether it was one, because an event does not have all that was asked for? */
bool bsv_condition_needs_database(const struct bsv_condition *c);

#endif
