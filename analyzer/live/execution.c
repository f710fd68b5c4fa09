/*
 * execution.c -- converts an execution of the fold: names, whether it met its deadline, and its
 * times, as far as they were recorded.
 */
#include "live/execution.h"

#include <assert.h>

#include "live/labels.h"

static_assert((int)BSA_LIVE_PHASES == (int)BSA_PHASES, "both enumerations have the same phases");

/* The call of a fenced execution returns before the execution is done; executions of other paths wait for no fences. */
static bool has_phase(uint8_t path, enum bsa_phase phase)
{
	bool fenced = path == BSA_PATH_FENCED;

	switch (phase) {
	case BSA_FENCE:
	case BSA_SIGNAL:
		return fenced;
	case BSA_REPLY:
	case BSA_RETURN:
	case BSA_FINISH:
		return !fenced;
	default:
		return true;
	}
}

/* The recording does not show whether @x met its deadline. The rule is that of outcome_unknown.sql. */
static bool outcome_is_unknown(const struct bsa_execution *x, uint64_t until)
{
	bool unanswered = x->path == BSA_PATH_FENCED
	                          ? x->status == BSA_STATUS_UNKNOWN
	                          : (x->status == BSA_STATUS_UNKNOWN || x->status == BSA_STATUS_NONE) &&
	                                    x->at[BSA_RETURNED] == BSA_NEVER;

	if (!x->deadline || x->miss != BSA_MISS_NONE)
		return false;
	switch ((enum bsa_quality)x->quality) {
	case BSA_QUALITY_GAP:
	case BSA_QUALITY_TAIL:
		return true;
	case BSA_QUALITY_OPEN:
		return x->deadline < until;
	case BSA_QUALITY_COMPLETE:
	case BSA_QUALITY_HEAD:
		return unanswered;
	}
	return true;
}

static uint64_t count_or_unknown(uint32_t n)
{
	return n == BSA_COUNT_UNKNOWN ? BSA_LIVE_UNKNOWN : n;
}

static uint64_t open_since(const struct bsa_execution *x)
{
	if (x->at[BSA_SUBMITTED] != BSA_NEVER)
		return x->at[BSA_SUBMITTED];
	return x->at[BSA_REQUEST_READ] != BSA_NEVER ? x->at[BSA_REQUEST_READ] : x->at[BSA_ENQUEUED];
}

/*
 * The part that the service saw of the latency of @x, whose submission was not recorded. The rule is slo_seen_ns of
 * viewer-cli/reports/fragments/executions.sql.
 */
static uint64_t seen_of(const struct bsa_execution *x)
{
	uint64_t end = x->at[BSA_RUN_ENDED], began = x->at[BSA_REQUEST_READ];

	if (x->quality != BSA_QUALITY_HEAD || began == BSA_NEVER || end == BSA_NEVER)
		return BSA_LIVE_UNKNOWN;
	if (x->path == BSA_PATH_FENCED)
		end = x->at[BSA_SIGNALLED] != BSA_NEVER ? x->at[BSA_SIGNALLED] : end;
	else if (x->at[BSA_RETURNED] != BSA_NEVER)
		end = x->at[BSA_RETURNED];
	else if (x->at[BSA_RESULT_WRITTEN] != BSA_NEVER)
		end = x->at[BSA_RESULT_WRITTEN];
	return end >= began ? end - began : 0;
}

void bsa_live_execution_of(const struct bsa_live_calls *to, const struct bsa_rows *rows, const struct bsa_execution *x,
                           unsigned cause, uint64_t until)
{
	char app[BSA_ROWS_APP_TEXT];
	/* The recording does not show whether @x had a deadline. The rule is that of deadline_unknown.sql. */
	bool deadline_unknown =
		!x->deadline && x->at[BSA_SUBMITTED] == BSA_NEVER && x->sides != BSA_SIDES_CLIENT &&
		x->path != BSA_PATH_PREPARE && (x->at[BSA_ENQUEUED] == BSA_NEVER || x->request.spun == BSA_NEVER) &&
		(x->sides == BSA_SIDES_SERVICE || x->quality == BSA_QUALITY_GAP || x->quality == BSA_QUALITY_TAIL);
	bool useful = x->e2e != BSA_NEVER && x->run != BSA_NEVER && x->redo != BSA_NEVER && x->run >= x->redo &&
	              x->e2e >= x->run - x->redo;
	struct bsa_live_execution t = {
		.app = app,
		.model = bsa_rows_model_name(rows, x->model),
		.path = bsa_live_label(BSA_LABELS_path, x->path),
		.status = bsa_live_label(BSA_LABELS_status, x->status),
		.cause = cause == BSA_CAUSES ? NULL : bsa_live_label(BSA_LABELS_cause, cause),
		.priority = bsa_live_label(BSA_LABELS_priority, x->priority),
		.quality = bsa_live_label(BSA_LABELS_quality, x->quality),
		.sides = bsa_live_label(BSA_LABELS_sides, x->sides),
		.model_id = x->model,
		.began = x->missed_at,
		.open_since = open_since(x),
		.uid = bsa_rows_app_user(rows, x->app),
		.deadline_at = x->deadline,
		.cold = x->cold,
		.e2e_ns = x->e2e,
		.run_ns = x->run,
		.redo_ns = x->redo,
		.overhead_ns = useful ? x->e2e - (x->run - x->redo) : BSA_LIVE_UNKNOWN,
		.seen_ns = seen_of(x),
		.preemptions = count_or_unknown(x->preemptions),
		.slot_lookups = count_or_unknown(x->lookups),
		.slot_misses = count_or_unknown(x->misses),
		.complete = x->quality == BSA_QUALITY_COMPLETE,
		.deadline = x->deadline != 0,
		.missed = x->miss != BSA_MISS_NONE,
		.outcome_unknown = outcome_is_unknown(x, until),
		.deadline_unknown = deadline_unknown,
		.app_named = bsa_rows_app_named(rows, x->app),
		.model_named = bsa_rows_model_named(rows, x->model),
	};
	unsigned known = 0;

	/*
	 * An execution begins with the first boundary that it passes: `--from` and `--to` of a command pick
	 * @x by that time (input.c).
	 */
	while (known < BSA_BOUNDARIES && x->at[known] == BSA_NEVER)
		known++;
	if (known < BSA_BOUNDARIES)
		t.began = x->at[known];

	for (unsigned i = 0; i < BSA_PHASES; i++) {
		t.phase_ns[i] = has_phase(x->path, i) ? x->phase[i] : BSA_LIVE_UNKNOWN;
		t.lacks |= has_phase(x->path, i) ? 0 : 1u << i;
	}
	bsa_rows_app_name(rows, x->app, app);
	to->execution(to->ctx, &t);
}
