/*
 * watch.h -- the black box: LTTng's buffers, or a ring of tracefiles in memory, are written over
 * all the time, and when a condition fires, what they hold becomes a case.
 */
#ifndef BSV_WATCH_H
#define BSV_WATCH_H

#include "conditions/condition.h"
#include "watch/store.h"

struct bsv_watch_options {
	const struct bsv_condition *conditions; /* borrowed, as all that is here */
	size_t n_conditions;
	const char *directory; /* the directory of cases */
	const char *
		/*
		 * URL of a session at a relay daemon (live/url.h), whose conditions a fold decides,
		 * all of them; NULL: of this host
		 */
		url;
	enum bsv_detail detail;
	struct bsv_scope scope;
	uint64_t buffer; /* bytes for each cpu; 0: as large as seems right */
	uint64_t
		/*
		 * bytes of tracefiles for each cpu and user, where a condition takes a fold; of a
		 * relay: bytes of records
		 */
		ring;
	int64_t window;        /* ns over which rules are held */
	int64_t before, after; /* ns around a condition */
	int64_t asked_before;  /* @before as it was given, which may be too short for the conditions */
	int64_t cooldown;      /* ns for which the same cause is counted, and not kept again; 0: never */
	int64_t duration;      /* ns; below 0: until a signal comes */
	size_t keep;           /* cases */
	uint64_t max_disk;     /* bytes of all cases; 0: any number */
	uint64_t min_free;     /* bytes to be left on the disk */
	const char *exec;      /* a command of the shell for each new case; NULL: none */
	bool syslog, quiet, verbose;
	unsigned most; /* end after so many cases; 0: never */
};

/* Watch until a signal comes, or as long as was asked for. BSA_E_ENV: it cannot begin. Whatever was caught is kept. */
int bsv_watch_run(const struct bsv_watch_options *options, struct bsa_err *err);

#endif
