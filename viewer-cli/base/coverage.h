/* coverage.h -- how much data an answer rests on, and how far to trust it: every answer ends with its coverage. */
#ifndef BSV_BASE_COVERAGE_H
#define BSV_BASE_COVERAGE_H

#include "bsa/db.h"

struct bsv_coverage {
	int64_t traces, events, lost_events, lost_packets, losses, cut;
	int64_t uncounted;       /* number of losses whose events the tracer did not count */
	char causes[64];         /* causes of the uncounted losses, as loss.cause names them */
	int64_t unusable;        /* number of events that cannot be read, are out of range, or contradict others */
	int64_t unusable_losses; /* number of losses of the service that are among the unusable events */
	int64_t unreadable; /* number of traces left out because the files of their users or processes cannot be read */
	int64_t impostors;  /* number of events whose uid is not that of the user who wrote them */
	/* uid whose service events count, and uid with an equal claim to be the service's; -1: no such uid */
	int64_t service_uid, rival_uid;
	int64_t service_alone, client_alone; /* number of executions seen from that side only */
	int64_t headless;                    /* number of executions without their beginning */
	int64_t others[3]; /* those of service_alone, client_alone and headless that are outside of the scope */
	int64_t timeless;  /* number of executions without any recorded time; @timed: --from or --to leaves them out */
	bool timed;
	/* sums of the import, for rows that were too many to be kept apart: */
	int64_t joined_executions; /* number of executions counted without app and model */
	int64_t joined_waits;      /* number of stretches of waiting charged to no app */
	int64_t joined_causes;     /* number of missed deadlines with causes of no culprit */
	int64_t joined_inversions; /* number of inversions without a row of their own */
	int64_t joined_streams;    /* number of executions without their stream */
	int64_t services;          /* number of services that had executions, if any two had at once; otherwise 1 */
	/* number of services that were silent until the end, though clients waited, and for how long at most */
	int64_t silent_services, silent_ns;
	/* number of losses that stand for a trace not checked for completeness; not part of uncounted */
	int64_t unchecked;
	bool unsure_deadlines; /* whether some executions may or may not have had a deadline */
	bool unsure_outcomes;  /* whether some deadlines may or may not have been met */
	char absent[160]; /* kinds of events that were not recorded, though there were some, after each other; "" */
};

/* What answers are about. */
enum bsv_subject {
	BSV_OF_LANES = 1,     /* who had the lanes, and who waited for them */
	BSV_OF_PRIORITY = 2,  /* and who could have had them earlier */
	BSV_OF_CALLS = 4,     /* which executions there were */
	BSV_OF_DEADLINES = 8, /* and which of them had a deadline */
	BSV_OF_STARTS = 16,   /* and which of them were cold, and which warm */
	BSV_OF_RUNS = 32      /* and how long they ran */
};

enum { BSV_LACKS_TEXT = 160 };

/*
 * Does an answer about @subjects, of enum bsv_subject, need events of a kind that was not recorded? Then @to is a
 * sentence with the kind's name: such an answer cannot be told.
 */
bool bsv_coverage_lacks(const struct bsv_coverage *c, unsigned subjects, char to[BSV_LACKS_TEXT]);

int bsv_coverage_read(struct bsv_coverage *ret, struct bsa_db *db, struct bsa_err *err);

/* Reason why traces are unchecked. */
#define BSV_UNCHECKED "the babeltrace2 plugin imported it; burstscope import finds out"

/* Printed where several services were recorded at once: their number, as a text. */
#define BSV_SERVICES "%s services are judged together (burstscope record --service SOCKET records one)"

/* Printed where a service was silent at the end: which, and for how long, as texts. */
#define BSV_SILENT "no event of %s was recorded in the last %s, though clients had work for it"
#define BSV_SILENT_WHO(n) ((n) > 1 ? "one of several services" : "the service")

enum { BSV_COVERAGE_TEXT = 1792 };

/* Writes a sentence into @to and returns @to. */
const char *bsv_coverage_text(const struct bsv_coverage *c, char to[BSV_COVERAGE_TEXT]);

#endif
