/* notes.c -- notes below the answers of burstscope whatif. */
#include "whatif/notes.h"

#include "base/scoped.h"
#include "base/text.h"

enum {
	BUSY_PERCENT = 10 /* % of run time without a cpu that the answer calls busy */
};

void bsv_notes_machine(struct bsv_answer *answer, const struct bsv_past *past)
{
	size_t known = past->delays.n;
	bsv_scoped_text *part = NULL;

	if (!known && past->n_runs)
		bsv_answer_note(answer, "For how long threads were ready and had no cpu during runs is not known: all "
		                        "replays have runs under the recorded load.");
	if (past->n_stalled)
		bsv_answer_note(
			answer,
			"%zu times an execution lost its lane because its thread could not use it (it waited for a "
			"page or, on probation, for a cpu). In a replay that wait, as far as it was on the lane, is "
			"part of the run, and takes no lane away: when a page or a cpu would come is not known.",
			past->n_stalled);
	if (past->delay_ns * 100 <= past->delayed_run_ns * BUSY_PERCENT)
		return;
	part = known < past->n_runs ? bsv_text(" (of %zu of %zu runs whose delay is known)", known, past->n_runs)
	                            : bsv_text("%s", "");
	bsv_answer_note(answer,
	                "The machine was busy: for %.0f %% of the time of runs, their threads were ready and had no "
	                "cpu%s. The intervals allow for another load, but what it will be is not known: record on the "
	                "machine as it will be used.",
	                100 * past->delay_ns / past->delayed_run_ns, part ? part : "");
}
