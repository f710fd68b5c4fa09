-- slo_streaks: one row per execution of the streams that may have one that a rule selects; state: 0 not selected, or without a deadline; 1 met; 2 missed; 3 unknown;
-- and 4 more: the rule may select it, because what it selects by is unknown.
@with@
SELECT stream_id, seq, CASE
	WHEN NOT (@may_select@) THEN 0
	WHEN miss IS NOT NULL THEN 2
	WHEN @outcome_unknown@ OR @deadline_unknown@ THEN 3
	WHEN deadline IS NULL THEN 0
	WHEN quality = 'open' THEN 0
	ELSE 1 END + iif((@may_select@) IS NULL, 4, 0) AS state
FROM picked WHERE stream_id IN (SELECT stream_id FROM picked WHERE @hides@) ORDER BY stream_id, seq
