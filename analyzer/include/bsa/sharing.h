/*
 * sharing.h -- what each app of a service had, and what it would have had under ideal fair sharing of the same arrivals: figures.md,
 * "Verdicts". What is stored of a whole recording is the relation app_sharing; here is the same of a part.
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
	int64_t work_ns, ideal_work_ns; /* an execution of it was ready, or on a lane */
	int64_t received_ns;            /* of lanes */
};

/* Apps that were only played beside those that were asked for have no work. A service of which nothing is told could not be replayed: its rules are not known, they changed, or too many were ready at a time. */
typedef int bsa_shared_tell(void *ctx, const struct bsa_shared *shared);

/*
 * Of executions that began from @from to before @to (INT64_MIN, INT64_MAX: any). Those that were ready up to a second before and after are
 * played beside them. 0, negative, or what @tell returned other than 0.
 */
int bsa_db_sharing(struct bsa_db *db, int64_t from, int64_t to, bsa_shared_tell *tell, void *ctx, struct bsa_err *err);

#endif
