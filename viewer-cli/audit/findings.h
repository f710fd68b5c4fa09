/*
 * findings.h -- the problems of a recording, the most important first.
 *
 * Missed deadlines; late preparations; inversions, if the priority verdict fails; starvation; shares, if the fairness verdict fails; an app that makes a
 * burst per call; and last, the cause of most of the overhead. What one app does to others is one finding with one advice, whatever shows it.
 */
#ifndef BSV_FINDINGS_H
#define BSV_FINDINGS_H

#include <stdint.h>

#include "audit/advice.h"
#include "audit/verdicts.h"
#include "input/input.h"

#define BSV_WHEN_UNKNOWN INT64_MIN

/* What an app is blamed for. */
enum bsv_blame {
	BSV_BLAMES_NO_APP,
	BSV_BLAMES_HOLDER, /* another app held the lane while the victims waited */
	BSV_BLAMES_OWN,    /* the victims waited for work of their own app that was not less urgent */
	BSV_BLAMES_ORDER   /* the victims waited for less urgent work of their own app */
};

/* How far the recording proves that the named cause made the difference. */
enum bsv_certainty {
	BSV_CLAIMS_NOTHING, /* no cause is named */
	BSV_LIKELY, /* the cause took most of the time, and a replay without it cannot tell of all of it; none only speaks against it */
	BSV_SURE /* replays without the cause change all of it; or the finding was observed as it is, or is arithmetic */
};

struct bsv_finding {
	char *finding; /* name of the finding: a cause, machine, starvation, inversion, unfair, late_preparation, burst_per_call; or what no finding tells: others, several, untold */
	char *what;    /* sentence for people: what, who and by whom; names in it come from strangers */
	char *evidence;      /* what else is known of it, clauses for people; NULL: nothing */
	char *who, *culprit; /* app or model hurt, and the app or model that hurt it; NULL: none or unknown */
	char *doer;  /* whose doing it is: the culprit, or the machine, the service, the app itself; NULL: unknown */
	char *proof; /* what replays without the cause say, a clause for people; NULL: nothing was replayed */
	enum bsv_certainty certainty;
	bool saves; /* another order would have met deadlines of @who for certain: more than the replays of its misses may tell */
	bool one_victim; /* all misses that it is about are of one app */
	int64_t sure; /* of misses: number that a replay without the doer would have met, or that no replay could meet */
	int64_t misses; /* number of missed deadlines that this finding is about; below 0: it is about something else */
	int64_t first_at,
		last_at; /* begin of the first and of the last execution concerned, since the start of the recording; BSV_WHEN_UNKNOWN */
	int64_t lost_ns;    /* time lost; below 0: unknown */
	const char *see;    /* command that shows details */
	const char *advice; /* advice; NULL: none is known */
	enum bsv_blame blame;
	char *blamed; /* name of the app; NULL: none is blamed */
};

struct bsv_findings {
	struct bsv_finding *of;
	size_t n;
	struct bsv_settings settings; /* settings of the services, so that no advice repeats a setting */
	bool shares_known;            /* what each app had of its share is known throughout */
};

/* @judgements: by enum bsv_audit. Pass *ret to bsv_findings_fini, also after an error. */
int bsv_findings_read(struct bsv_findings *ret, struct bsv_input *input, const struct bsv_judgement *judgements,
                      struct bsa_err *err);

void bsv_findings_fini(struct bsv_findings *f);

/* "from 53.84 ms to 4.974 s of the recording"; "": unknown. Owned by the caller; NULL: no memory. */
char *bsv_finding_when(const struct bsv_finding *of);

/* "sure", "likely"; NULL: no cause is named. */
const char *bsv_certainty_name(enum bsv_certainty certainty);

/* Are these misses that no finding tells of by themselves: the remaining ones, or those without a doer? */
bool bsv_finding_is_rest(const struct bsv_finding *of);

/* "sure", "likely", "12 sure, 59 likely": how far it is certain whose doing it was. Owned by the caller; NULL: no cause is named, or no memory. */
char *bsv_finding_certainty(const struct bsv_finding *of);

#endif
