/*
 * coverage.h -- how much an answer rests on, and how far it is to be trusted: every answer ends with it.
 */
#ifndef BSV_COVERAGE_H
#define BSV_COVERAGE_H

#include "bsa/db.h"

struct bsv_coverage {
	int64_t traces, events, lost_events, lost_packets, losses, cut;
	int64_t uncounted;       /* of the losses: the tracer did not count their events */
	char causes[64];         /* of those, as loss.cause names them */
	int64_t unusable;        /* events that cannot be read, are out of range, or contradict others */
	int64_t unusable_losses; /* of the losses: those of the service among these */
	int64_t unreadable; /* traces that are left out, because what their users or processes have written cannot be read */
	int64_t impostors; /* events of users who are not those that the events say */
	int64_t service_uid,
		rival_uid; /* whose events of a service count, and who says with as much right that they should; -1: nobody */
	int64_t service_alone, client_alone; /* executions that were seen from that side */
	/* what the import added up, because there was too much of it to tell each apart: */
	int64_t joined_executions; /* in statistics of no app and no model, */
	int64_t joined_waits;      /* stretches of waits for no app, */
	int64_t joined_causes;     /* missed deadlines with causes of no culprit, */
	int64_t joined_inversions; /* and inversions without a row of their own */
	int64_t unchecked; /* of the losses: traces of which it is not known whether all was recorded. Not in uncounted */
};

int bsv_coverage_read(struct bsv_coverage *ret, struct bsa_db *db, struct bsa_err *err);

/* Why, where traces are unchecked. */
#define BSV_UNCHECKED "the babeltrace2 plugin imported it; burstscope import finds out"

enum { BSV_COVERAGE_TEXT = 1280 };

/* A sentence, into @to, which is returned. */
const char *bsv_coverage_text(const struct bsv_coverage *c, char to[BSV_COVERAGE_TEXT]);

#endif
