-- slo_percentile: one row: a percentile over the executions that a rule selects, and how many are above its bound. Leaves out and counts executions
-- that are incomplete or were not answered. no_client: seen from the service alone and not above so far, because the client's part is missing.
-- no_service: that side, which was not recorded, would show the time. Of an execution whose beginning was not recorded (quality head) a phase counts if
-- the service was seen from reading the request to the end of the run, and a latency if that part alone is above the bound; otherwise it is unknown. An
-- execution under way at the end of the recording, where that end is known, counts with its time so far, if that is above the bound. unsure: executions that the rule may select,
-- because what it selects by is unknown. What is of a path without the phase that the rule is about counts among n_executions alone. (LIMIT -1 is no limit: without it,
-- SQLite would compute each of these columns again wherever one of the next relations names it.)
@with@,
meant AS (
	SELECT (@has_phase@) AS had, complete, status, sides, quality, quality = 'head' AS head, iif(quality = 'head', @least@, @value@) AS value,
		@to_the_end@ AND (sides IS 'service' OR quality = 'head' AND e2e_ns IS NULL) AS in_part,
		complete OR quality = 'head' AND (request_read IS NOT NULL AND run_ended IS NOT NULL OR @to_the_end@ AND e2e_ns IS NOT NULL) AS told,
		ifnull(@ended@ - coalesce(submitted, request_read, enqueued) > @open@, quality = 'head') AS long_open,
		CASE WHEN @latency@ AND quality = 'open' AND iif(path = 'fenced', signalled, returned) IS NULL
			THEN (SELECT t.recorded_until FROM trace t WHERE t.id = trace_id) - submitted END AS so_far
	FROM picked WHERE @selection@ LIMIT -1
),
seen AS (
	SELECT had, told AND status IS 'NONE' AS answered, CASE WHEN so_far > @bound@ THEN so_far END AS so_far, value, in_part, head, (complete OR head) AND status IS NOT NULL AND status IS NOT 'NONE' AS given_up,
		quality IN ('gap', 'tail') OR quality = 'open' AND long_open AND ifnull(so_far <= @bound@, 1) OR head AND iif(status IS NULL, long_open, status = 'NONE' AND NOT told) AS unknown,
		complete AND sides IS 'client' AND (status IS NULL OR status IS 'NONE' AND value IS NULL) AS no_service,
		complete AND sides IS 'service' AND status IS 'NONE' AND value IS NULL AS no_client
	FROM meant
),
judged AS (
	SELECT had, CASE WHEN answered AND NOT (head AND in_part AND value <= @bound@) THEN value ELSE so_far END AS value,
		answered AND in_part AND NOT head AND value <= @bound@ OR no_client AS no_client, no_service, given_up,
		unknown OR head AND answered AND (value IS NULL OR in_part AND value <= @bound@) AS unknown
	FROM seen
)
SELECT count(*) AS n_executions, count(iif(had, value, NULL)) FILTER (WHERE NOT ifnull(no_client, 0)) AS n, coalesce(sum(had AND value > @bound@), 0) AS n_over,
	percentile(iif(had, value, NULL), @percent@) AS figure, coalesce(sum(had AND given_up), 0) AS n_given_up, coalesce(sum(had AND unknown), 0) AS n_unknown,
	coalesce(sum(had AND no_client), 0) AS n_no_client, coalesce(sum(had AND no_service), 0) AS n_no_service,
	(SELECT count(*) FROM picked WHERE (@may_select@) IS NULL AND (@has_phase@)) AS n_unsure
FROM judged
