-- slo_percentile: one row: a percentile over the executions that a rule selects, and how many are above its bound. Leaves out and counts executions
-- that are incomplete or were not answered. no_client: seen from the service alone and not above so far, because the client's part is missing.
-- no_service: that side, which was not recorded, would show the time.
@with@,
seen AS (
	SELECT complete AND status IS 'NONE' AS answered, @value@ AS value, complete AND status IS NOT NULL AND status IS NOT 'NONE' AS given_up,
		sides IS 'service' AND @to_the_end@ AS in_part,
		quality IN ('gap', 'tail')
			OR quality = 'open' AND @ended@ - coalesce(submitted, request_read, enqueued) > @open@ AS unknown,
		complete AND sides IS 'client' AND (status IS NULL OR status IS 'NONE' AND @value@ IS NULL) AS no_service,
		complete AND sides IS 'service' AND status IS 'NONE' AND @value@ IS NULL AS no_client
	FROM picked WHERE @selection@
),
judged AS (SELECT CASE WHEN answered THEN value END AS value, answered AND in_part AND value <= @bound@ OR no_client AS no_client, no_service, given_up, unknown FROM seen)
SELECT count(*) AS n_executions, count(value) FILTER (WHERE NOT ifnull(no_client, 0)) AS n, coalesce(sum(value > @bound@), 0) AS n_over,
	percentile(value, @percent@) AS figure, coalesce(sum(given_up), 0) AS n_given_up, coalesce(sum(unknown), 0) AS n_unknown,
	coalesce(sum(no_client), 0) AS n_no_client, coalesce(sum(no_service), 0) AS n_no_service
FROM judged
