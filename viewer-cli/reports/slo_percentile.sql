-- slo_percentile: one row: a percentile over the executions that a rule means, and how many are above its bound; leaves out what is not complete or was not answered, and counts it.
@with@,
judged AS (
	SELECT CASE WHEN complete AND status = 'NONE' THEN @value@ END AS value,
		complete AND coalesce(status, '') <> 'NONE' AS given_up,
		quality IN ('gap', 'tail')
			OR quality = 'open' AND @ended@ - coalesce(submitted, request_read, enqueued) > @open@ AS unknown
	FROM picked WHERE @selection@
)
SELECT count(*) AS n_executions, count(value) AS n, coalesce(sum(value > @bound@), 0) AS n_over,
	percentile(value, @percent@) AS figure, coalesce(sum(given_up), 0) AS n_given_up, coalesce(sum(unknown), 0) AS n_unknown
FROM judged
