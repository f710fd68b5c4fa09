/* coverage.c -- reads how much data an answer rests on, and makes a text of it. */
#include "base/coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"

int bsv_coverage_read(struct bsv_coverage *ret, struct bsa_db *db, struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	const char *causes, *absent;
	int r = bsa_query_new(&q, db, bsv_sql_coverage, err);

	if (r >= 0)
		r = bsa_query_step(q, err);
	if (r < 0)
		return r;
	*ret = (struct bsv_coverage){
		.traces = bsa_query_get_int(q, 0),
		.events = bsa_query_get_int(q, 1),
		.lost_events = bsa_query_get_int(q, 2),
		.lost_packets = bsa_query_get_int(q, 3),
		.losses = bsa_query_get_int(q, 4),
		.cut = bsa_query_get_int(q, 5),
		.uncounted = bsa_query_get_int(q, 6),
		.unchecked = bsa_query_get_int(q, 8),
		.unusable = bsa_query_get_int(q, 9),
		.unusable_losses = bsa_query_get_int(q, 10),
		.impostors = bsa_query_get_int(q, 11),
		.service_uid = bsa_query_get_int(q, 12),
		.rival_uid = bsa_query_get_int(q, 13),
		.service_alone = bsa_query_get_int(q, 14),
		.client_alone = bsa_query_get_int(q, 15),
		.joined_executions = bsa_query_get_int(q, 16),
		.joined_waits = bsa_query_get_int(q, 17),
		.joined_causes = bsa_query_get_int(q, 18),
		.joined_inversions = bsa_query_get_int(q, 19),
		.unreadable = bsa_query_get_int(q, 20),
		.services = bsa_query_get_int(q, 21),
		.headless = bsa_query_get_int(q, 22),
		.timeless = bsa_query_get_int(q, 23),
		.joined_streams = bsa_query_get_int(q, 24),
		.unsure_deadlines = bsa_query_get_int(q, 25),
		.unsure_outcomes = bsa_query_get_int(q, 26),
		.silent_services = bsa_query_get_int(q, 28),
		.silent_ns = bsa_query_get_int(q, 29),
	};
	causes = bsa_query_get_string(q, 7, NULL);
	snprintf(ret->causes, sizeof(ret->causes), "%s", causes ? causes : "unknown");
	absent = bsa_query_get_string(q, 27, NULL);
	snprintf(ret->absent, sizeof(ret->absent), "%s", absent ? absent : "");
	return 0;
}

/*
 * Which kinds of events an answer needs. Without one of them, times of which no event was recorded would be taken
 * for the work, or the wait, of an execution. @or: a kind that has enough of it, too.
 */
static const struct {
	unsigned subjects;
	const char *kind, * or, *tells;
} needs[] = {
	{ BSV_OF_LANES | BSV_OF_PRIORITY, "sched_enqueue", NULL, "when executions become ready" },
	{ BSV_OF_LANES | BSV_OF_PRIORITY, "sched_dispatch", NULL, "when executions get their lanes" },
	{ BSV_OF_LANES | BSV_OF_PRIORITY | BSV_OF_RUNS, "sched_preempt", NULL, "when executions lose their lanes" },
	{ BSV_OF_LANES | BSV_OF_PRIORITY | BSV_OF_RUNS, "sched_resume", NULL, "when executions get their lanes back" },
	{ BSV_OF_LANES | BSV_OF_PRIORITY, "exec_end", NULL, "when executions leave their lanes" },
	{ BSV_OF_PRIORITY, "model_prepare", NULL, "after how long a model can be stopped" },
	{ BSV_OF_CALLS, "sched_enqueue", "exec_submit", "which executions there are" },
	{ BSV_OF_DEADLINES, "exec_submit", NULL, "which deadlines executions have" },
	{ BSV_OF_STARTS, "slot_lookup", NULL, "which executions are cold" },
};

/* Is @kind among the absent ones? No name is the beginning or the end of another one. */
static bool is_absent(const struct bsv_coverage *c, const char *kind)
{
	return !kind || strstr(c->absent, kind);
}

bool bsv_coverage_lacks(const struct bsv_coverage *c, unsigned subjects, char to[BSV_LACKS_TEXT])
{
	for (size_t i = 0; *c->absent && i < sizeof(needs) / sizeof(*needs); i++)
		if (needs[i].subjects & subjects && is_absent(c, needs[i].kind) && is_absent(c, needs[i].or)) {
			snprintf(to, BSV_LACKS_TEXT, "no %s was recorded, and that event tells %s", needs[i].kind,
			         needs[i].tells);
			return true;
		}
	return false;
}

/* Describe the losses, as far as they are known. */
static void losses_text(const struct bsv_coverage *c, char *to, size_t bytes)
{
	/*
	 * The ends of ring buffers, as in each case of burstscope watch: no sign that a file is
	 * damaged or that something was lost in between.
	 */
	static const char *const edges[][2] = {
		{ "head", ": some buffers begin later than others" },
		{ "tail", ": some buffers end earlier than others" },
		{ "head, tail", ": some buffers begin later, or end earlier, than others" },
	};
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], d[BSV_COUNT_MAX];
	int64_t counted = c->losses - c->uncounted - c->unchecked - c->unusable_losses;
	const char *edge = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		if (!strcmp(c->causes, edges[i][0]))
			edge = edges[i][1];

	snprintf(to, bytes, "%s", c->unchecked ? "" : "no event was lost");
	if (counted > 0 || c->lost_events || c->lost_packets)
		n = (size_t)snprintf(to, bytes, "%s events and %s packets were lost, in %s intervals",
		                     bsv_count(a, (uint64_t)c->lost_events), bsv_count(b, (uint64_t)c->lost_packets),
		                     bsv_count(d, (uint64_t)counted));
	if (c->uncounted)
		n += (size_t)snprintf(to + n, bytes - n, "%s%s %s not recorded (%s%s)", n ? "; " : "",
		                      bsv_count(d, (uint64_t)c->uncounted),
		                      bsv_plural((uint64_t)c->uncounted, "interval was", "intervals were"), c->causes,
		                      edge);
	if (c->unchecked)
		snprintf(to + n, bytes - n, "%sunknown whether all was recorded: " BSV_UNCHECKED, n ? "; " : "");
}

/* Count the rows that the import added up because there were too many. */
static void sums_text(const struct bsv_coverage *c, char *to, size_t bytes)
{
	const struct {
		int64_t n;
		const char *one, *many, *how;
	} joined[] = {
		{ c->joined_executions, "execution is", "executions are", "in figures of no app and no model" },
		{ c->joined_waits, "stretch of waiting is", "stretches of waiting are", "for no app that is named" },
		{ c->joined_causes, "missed deadline has", "missed deadlines have",
		  "lesser culprits that are not named" },
		{ c->joined_inversions, "inversion is", "inversions are", "told in a sum alone" },
		{ c->joined_streams, "execution is", "executions are", "of a stream that is not named" },
	};
	char a[BSV_COUNT_MAX];
	size_t n = 0;

	*to = 0;
	for (size_t i = 0; i < sizeof(joined) / sizeof(*joined); i++)
		if (joined[i].n)
			n += (size_t)snprintf(
				to + n, bytes - n, "%s %s %s %s",
				n ? "," : "; too many to tell each apart:", bsv_count(a, (uint64_t)joined[i].n),
				bsv_plural((uint64_t)joined[i].n, joined[i].one, joined[i].many), joined[i].how);
}

enum { OTHERS_TEXT = BSV_COUNT_MAX + 48 };

/* Of @n executions that are counted, @others are outside of the recording's scope. */
static const char *others_text(char to[OTHERS_TEXT], int64_t others, int64_t n)
{
	char a[BSV_COUNT_MAX];

	*to = 0;
	if (others)
		snprintf(to, OTHERS_TEXT, " (%s of them outside of the scope)",
		         others == n ? "all" : bsv_count(a, (uint64_t)others));
	return to;
}

const char *bsv_coverage_text(const struct bsv_coverage *c, char to[BSV_COVERAGE_TEXT])
{
	const int64_t alone[] = { c->service_alone, c->client_alone };
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], others[OTHERS_TEXT], lost[320], duration[BSV_DURATION_TEXT];
	size_t n;

	losses_text(c, lost, sizeof(lost));
	snprintf(to, BSV_COVERAGE_TEXT, "%s %s, %s %s, %s%s", bsv_count(a, (uint64_t)c->traces),
	         bsv_plural((uint64_t)c->traces, "trace", "traces"), bsv_count(b, (uint64_t)c->events),
	         bsv_plural((uint64_t)c->events, "event", "events"), lost,
	         c->cut ? "; the end of some is missing" : "");
	n = strlen(to);
	if (*c->absent)
		n += (size_t)snprintf(to + n, BSV_COVERAGE_TEXT - n, "; kinds of events that were not recorded: %s",
		                      c->absent);
	if (c->services > 1)
		n += (size_t)snprintf(to + n, BSV_COVERAGE_TEXT - n, "; " BSV_SERVICES,
		                      bsv_count(a, (uint64_t)c->services));
	if (c->silent_services)
		n += (size_t)snprintf(to + n, BSV_COVERAGE_TEXT - n, "; " BSV_SILENT,
		                      BSV_SILENT_WHO(c->silent_services), bsv_duration(duration, c->silent_ns));
	for (size_t i = 0; i < 2; i++) {
		if (alone[i])
			snprintf(to + n, BSV_COVERAGE_TEXT - n, "; %s %s seen from the %s alone%s",
			         bsv_count(a, (uint64_t)alone[i]),
			         bsv_plural((uint64_t)alone[i], "execution was", "executions were"),
			         i ? "client" : "service", others_text(others, c->others[i], alone[i]));
		n = strlen(to);
	}
	if (c->headless)
		n += (size_t)snprintf(to + n, BSV_COVERAGE_TEXT - n, "; the beginning of %s %s was not recorded%s",
		                      bsv_count(a, (uint64_t)c->headless),
		                      bsv_plural((uint64_t)c->headless, "execution", "executions"),
		                      others_text(others, c->others[2], c->headless));
	if (c->timed && c->timeless) /* no range of times has them */
		snprintf(to + n, BSV_COVERAGE_TEXT - n, "; %s %s", bsv_count(a, (uint64_t)c->timeless),
		         bsv_plural((uint64_t)c->timeless, "execution without any recorded time is left out",
		                    "executions without any recorded time are left out"));
	n = strlen(to);

	/* the events that the import refused: invalid ones, unreadable ones, and those of impostors */
	if (c->unusable)
		n += (size_t)snprintf(to + n, BSV_COVERAGE_TEXT - n, "; %s %s", bsv_count(a, (uint64_t)c->unusable),
		                      bsv_plural((uint64_t)c->unusable, "event is invalid", "events are invalid"));
	if (c->unreadable)
		n += (size_t)snprintf(
			to + n, BSV_COVERAGE_TEXT - n, "; files of %s %s unreadable and were left out",
			bsv_count(a, (uint64_t)c->unreadable),
			bsv_plural((uint64_t)c->unreadable, "user or process are", "users or processes are"));
	if (c->impostors)
		n += (size_t)snprintf(to + n, BSV_COVERAGE_TEXT - n, "; %s %s", bsv_count(a, (uint64_t)c->impostors),
		                      bsv_plural((uint64_t)c->impostors,
		                                 "event claims another user's uid and is left out",
		                                 "events claim another user's uid and are left out"));
	if (c->rival_uid >= 0)
		snprintf(to + n, BSV_COVERAGE_TEXT - n,
		         "; that uid %" PRId64 " runs the service is NOT PROVEN: uid %" PRId64
		         " says so, too (burstscope import --service-user)",
		         c->service_uid, c->rival_uid);
	n = strlen(to);
	sums_text(c, to + n, BSV_COVERAGE_TEXT - n);
	return to;
}
