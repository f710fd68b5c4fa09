/* finding.h -- one problem of a recording, and the list of them. */
#ifndef BSV_FINDING_H
#define BSV_FINDING_H

#include <stdint.h>

#include "audit/advice.h"

#define BSV_WHEN_UNKNOWN INT64_MIN

/* The faults that an app is blamed for. */
enum bsv_blame {
	BSV_BLAMES_NO_APP,
	BSV_BLAMES_HOLDER, /* another app held the lane while the victims waited */
	BSV_BLAMES_OWN,    /* the victims waited for work of their own app that was not less urgent */
	BSV_BLAMES_ORDER,  /* the victims waited for less urgent work of their own app */
	BSV_BLAMES_MACHINE /* a thread or a run that the victims needed was not run in time */
};

/* How far the recording proves that the named cause made the difference. */
enum bsv_certainty {
	BSV_CLAIMS_NOTHING, /* no cause is named */
	/*
	 * the cause took most of the time, and a replay without it does not decide all of it; none
	 * only speaks against it
	 */
	BSV_LIKELY,
	/* replays without the cause change all of it; or the finding was observed as it is, or is arithmetic */
	BSV_SURE
};

/* The harm that a finding is about, or one of several, if other findings are parts of it. */
enum bsv_harm { BSV_HARM_DEADLINES, BSV_HARM_ORDER, BSV_HARM_STARVATION, BSV_HARM_ITSELF, BSV_HARM_SHARES, BSV_HARMS };

/* The verdicts that fail for a finding; bits. */
enum { BSV_FAILS_DEADLINES = 1, BSV_FAILS_FAIRNESS = 2, BSV_FAILS_PRIORITY = 4, BSV_FAILS_STARVATION = 8 };

struct bsv_finding {
	/*
	 * name of the finding: a cause, machine, starvation, inversion, unfair, late_preparation,
	 * burst_per_call, failing, silent; or the rows that no finding covers: others, several, untold
	 */
	char *finding;
	char *what;     /* sentence for people: the harm, the victim and the culprit; names in it come from strangers */
	char *evidence; /* more facts of it, clauses for people; NULL: nothing */
	char *who, *culprit; /* app or model hurt, and the app or model that hurt it; NULL: none or unknown */
	char *doer;          /* the doer: the culprit, or the machine, the service, the app itself; NULL: unknown */
	char *proof; /* result of the replays without the cause, a clause for people; NULL: nothing was replayed */
	enum bsv_certainty certainty;
	/* another order would have met deadlines of @who for certain: more than the replays of its misses may prove */
	bool saves;
	bool one_victim; /* all misses that it is about are of one app */
	int64_t sure; /* number of misses that a replay without the doer would have met, or that no replay could meet */
	int64_t misses; /* number of missed deadlines that this finding is about; below 0: it is about something else */
	/*
	 * begin of the first and of the last execution concerned, since the start of the
	 * recording; BSV_WHEN_UNKNOWN
	 */
	int64_t first_at, last_at;
	int64_t worst_at;   /* begin of the worst of them, where the next step looks; 0: it looks at the first one */
	int64_t lost_ns;    /* time lost; below 0: unknown */
	const char *see;    /* command that shows details */
	const char *advice; /* what may help; NULL if no advice is known */
	/* where other findings are parts of it: bits of all harms that it is about, and what may help against each */
	unsigned harms;
	const char *against[BSV_HARMS];
	enum bsv_blame blame;
	char *blamed;   /* name of the app; NULL if no app is blamed */
	unsigned fails; /* BSV_FAILS_ */
};

/* Missed deadlines by doer. */
struct bsv_doing {
	char *name; /* "noisy", "camera itself", "the machine", "no single doer" */
	char *note; /* for misses without a doer: the cause of the largest part of the delay; NULL: for others */
	int64_t n, sure;
	bool claims;  /* is it claimed whose doing they were, for certain or likely? */
	bool is_rest; /* no doer is named for them */
};

struct bsv_findings {
	struct bsv_finding *of;
	size_t n;
	struct bsv_doing *doings; /* the findings have all missed deadlines, once each */
	size_t n_doings;
	struct bsv_settings settings; /* settings of the services, so that no advice repeats a setting */
	bool shares_known;            /* the part that each app had of its share is known throughout */
};

/* Accepts a struct that is all 0. */
void bsv_findings_fini(struct bsv_findings *f);

/*
 * Where to look when nothing is known that may help: "burstscope timeline --from 1.5s --to 1.6s",
 * without the name of the recording. Owned by the caller; NULL: no memory.
 */
char *bsv_finding_next(const struct bsv_finding *of);

/* "deadlines, starvation": the verdicts that fail for it; "": none. Owned by the caller; NULL: no memory. */
char *bsv_finding_fails(const struct bsv_finding *of);

/* "from 53.84 ms to 4.974 s of the recording"; "": unknown. Owned by the caller; NULL: no memory. */
char *bsv_finding_when(const struct bsv_finding *of);

/* "sure", "likely"; NULL: no cause is named. */
const char *bsv_certainty_name(enum bsv_certainty certainty);

/* Are these misses that no finding covers by themselves: the remaining ones, or those without a doer? */
bool bsv_finding_is_rest(const struct bsv_finding *of);

/*
 * "sure", "likely", "12 sure, 59 likely": how far it is certain whose doing it was. Owned by the
 * caller; NULL: no cause is named, or no memory.
 */
char *bsv_finding_certainty(const struct bsv_finding *of);

/*
 * What may help; for several harms with what it is against: "Against the missed deadlines: ... Against the
 * starvation: ..."; "": no advice is known. Owned by the caller; NULL: no memory.
 */
char *bsv_finding_advised(const struct bsv_finding *of);

/*
 * The parts of the evidence as lines of a list, each behind a line break. Names of a recording have no line break of
 * their own in it. Owned by the caller; NULL: no memory.
 */
char *bsv_finding_evidence(const struct bsv_finding *of);

/* ---- for the files that find something (findings.c, missed.c) ---- */

enum { BSV_FOUND_OF_A_KIND = 3 }; /* most findings of a kind */

/*
 * Add @of; or make it a part of the finding that blames the same app for the same: its sentence
 * becomes evidence there, and its advice is added. An app that starves
 * itself is a part of the finding that blames it for what it does to others, or for the order of
 * its own work. The list owns all of @of from here on, also after an error.
 */
int bsv_finding_add(struct bsv_findings *f, struct bsv_finding of, struct bsa_err *err);

/* Move the rows that no finding covers behind all findings; otherwise keep the order. */
void bsv_findings_rest_last(struct bsv_findings *f);

/* Advice against the finding @cause; NULL if no advice is known. */
const char *bsv_finding_advice(const struct bsv_findings *f, const char *cause, const char *path);

#endif
