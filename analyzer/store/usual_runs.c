/* usual_runs.c -- the runs of a model, and bounds of a run that was not recorded whole. */
#include "store/usual_runs.h"

enum {
	RUNS_MANY = 20, /* with fewer whole runs, a run may be twice as long as the longest */
	/* with too few whole runs, a run may be so many times shorter or longer than the estimate */
	ESTIMATE_FACTOR = 4,
	ESTIMATE_MORE_NS = 100000, /* and this much longer besides, which is a lot for a short run */
};

void bsa_usual_runs_add(struct bsa_usual_runs *u, uint64_t ns, bool whole)
{
	if (!whole) {
		u->given_up_most = ns > u->given_up_most ? ns : u->given_up_most;
		return;
	}
	u->least = !u->n++ || ns < u->least ? ns : u->least;
	u->most = ns > u->most ? ns : u->most;
}

bool bsa_usual_runs_bounds(const struct bsa_usual_runs *u, struct bsa_run_bounds *ret)
{
	struct bsa_run_bounds b = { .least = u->least, .most = u->n < RUNS_MANY ? 2 * u->most : u->most };

	if (u->n < BSA_USUAL_LEAST && !u->estimate)
		return false;
	if (u->n < BSA_USUAL_LEAST) {
		b.least = u->estimate / ESTIMATE_FACTOR;
		b.least = u->n && u->least < b.least ? u->least : b.least;
		b.most = ESTIMATE_FACTOR * u->estimate + ESTIMATE_MORE_NS;
		b.most = u->most > b.most ? u->most : b.most;
	}
	if (u->given_up_most > b.most) /* how much longer it would have been is unknown */
		b.most = 2 * u->given_up_most;
	*ret = b;
	return true;
}
