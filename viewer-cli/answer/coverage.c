/* coverage.c -- see coverage.h. */
#include "answer/coverage.h"

#include <stdio.h>
#include <string.h>

#include "answer/say.h"
#include "answer/scoped.h"

static const char query[] =
	"SELECT count(*) AS traces, ifnull(sum(events), 0) AS events, ifnull(sum(lost_events), 0) AS "
	"lost_events, ifnull(sum(lost_packets), 0) AS lost_packets, (SELECT count(*) FROM loss) AS losses, "
	"ifnull(sum(cut), 0) AS cut, (SELECT count(*) FROM loss WHERE events IS NULL AND packets IS NULL) AS "
	"uncounted, "
	"(SELECT group_concat(cause, ', ') FROM (SELECT DISTINCT cause FROM loss WHERE events IS NULL AND packets IS "
	"NULL "
	"ORDER BY cause)) AS causes FROM trace";

int bsv_coverage_read(struct bsv_coverage *ret, struct bsa_db *db, struct bsa_err *err)
{
	bsv_scoped_query *q = NULL;
	const char *causes;
	int r = bsa_query_new(&q, db, query, err);

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
	};
	causes = bsa_query_get_string(q, 7, NULL);
	snprintf(ret->causes, sizeof(ret->causes), "%s", causes ? causes : "unknown");
	return 0;
}

const char *bsv_coverage_text(const struct bsv_coverage *c, char to[BSV_COVERAGE_TEXT])
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], d[BSV_COUNT_MAX], lost[256] = "nothing was lost";
	size_t n = 0;

	if (c->losses > c->uncounted || c->lost_events || c->lost_packets)
		n = (size_t)snprintf(lost, sizeof(lost), "%s events and %s packets were lost, in %s intervals",
		                     bsv_count(a, (uint64_t)c->lost_events), bsv_count(b, (uint64_t)c->lost_packets),
		                     bsv_count(d, (uint64_t)(c->losses - c->uncounted)));
	if (c->uncounted)
		snprintf(lost + n, sizeof(lost) - n, "%s%s %s not recorded (%s)", n ? "; " : "",
		         bsv_count(d, (uint64_t)c->uncounted),
		         bsv_plural((uint64_t)c->uncounted, "stretch of time was", "stretches of time were"),
		         c->causes);
	snprintf(to, BSV_COVERAGE_TEXT, "%s %s, %s events, %s%s", bsv_count(a, (uint64_t)c->traces),
	         bsv_plural((uint64_t)c->traces, "trace", "traces"), bsv_count(b, (uint64_t)c->events), lost,
	         c->cut ? "; the end of some is missing" : "");
	return to;
}
