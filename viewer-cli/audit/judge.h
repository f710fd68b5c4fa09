/*
 * judge.h -- SQL that reports and their verdicts share.
 */
#ifndef BSV_JUDGE_H
#define BSV_JUDGE_H

#include "input/input.h"

/*
 * SQL, for a WITH: the starvation episodes of the picked executions, by the import's threshold, or
 * by @threshold. Owned by the caller; NULL: no memory.
 */
char *bsv_starvation_episodes(const struct bsv_input *input, const struct bsv_quantity *threshold);

/* Sums over the longest waits of an app and model that starved. */
struct bsv_starved_by {
	int64_t idle_ns;    /* the lane was empty */
	int64_t unknown_ns; /* the holder of the lane is unknown */
	int64_t unrun_ns;   /* at least so long the run that held the lane was on no cpu */
	int64_t silent_ns;  /* the service was silent, at the end of the recording, or it was stopped */
	int64_t paused_ns;  /* of these: it was stopped, and went on */
	int64_t asleep_ns;  /* of unrun_ns: its thread had not asked for a cpu either */
	/* the lane was held by runs ten times as long as usual whose cpu time was not read: perhaps stops */
	int64_t unread_ns;
	/* waits that the cpu time of the app that held the lane longest makes too long, whatever else had a cpu */
	int64_t computed_ns;
	int64_t all_ns;     /* waits that these times are parts of */
	int64_t longest_at; /* when the longest of these waits began, since the start of the recording */

	/* of all its waits that were too long: the service was stopped, and went on; 0: never */
	int64_t stopped_ns;
	/* without the stops: the longest of these waits, and for how long at least @culprit held the lane */
	int64_t most_ns, held_ns;
};

/* By the names of the app, the model and the culprit; NULL: an unknown one. */
int bsv_starved_by(struct bsv_starved_by *ret, struct bsv_input *input, const char *app, const char *model,
                   const char *culprit, struct bsa_err *err);

#endif
