/*
 * sharing.h -- the lane time that each app received, and the time it would have received under ideal fair
 * sharing of the same arrivals: docs/figures.md, "Verdicts". The relation app_sharing stores it for a whole
 * recording; these functions compute it for a part.
 */
#ifndef BSA_SHARING_H
#define BSA_SHARING_H

#include "bsa/db.h"

/* Lengths in ns. Of no answered execution, means and p95 are 0. */
struct bsa_shared {
	int64_t trace, instance, app;   /* ids; instance: of the service */
	int64_t n;                      /* answered executions */
	int64_t mean_ns, ideal_mean_ns; /* from ready until it left its last lane */
	int64_t p95_ns, ideal_p95_ns;
	int64_t p95_least_ns;           /* lower confidence bound of p95_ns, 99 % */
	int64_t work_ns, ideal_work_ns; /* an execution of it was ready, or on a lane */
	int64_t received_ns;            /* lane time */
	int64_t ideal_mean_without_ns, ideal_p95_without_ns,
		ideal_work_without_ns; /* the ideal, if what was refused took no lane; all 0: none of it takes one */
	/* executions with a deadline that were answered, refused or given up; of them were off their last lane in
	 * time: */
	int64_t due;
	int64_t met;                             /* as recorded */
	int64_t ideal_met_least, ideal_met_most; /* under ideal sharing: for certain, and at most */
};

/*
 * Apps that were only played beside those that were asked for have no work. A service that is left out could
 * not be replayed: its rules are not known, they changed, or too many were ready at a time.
 */
typedef int bsa_shared_call(void *ctx, const struct bsa_shared *shared);

/*
 * For executions that began from @from to before @to (INT64_MIN, INT64_MAX: all). Executions that were ready
 * up to a second before and after are replayed, too. 0; negative: an error; or the first value other than 0
 * that @report returned.
 */
int bsa_db_sharing(struct bsa_db *db, int64_t from, int64_t to, bsa_shared_call *report, void *ctx,
                   struct bsa_err *err);

#endif
