-- outcome_unknown: a condition on executions: there was a deadline, and whether it was met was not recorded. The client alone does not observe the
-- end of a fenced execution, and the service alone does not observe the arrival of an answer.
deadline IS NOT NULL AND miss IS NULL AND path IS NOT 'prepare' AND (quality IN ('gap', 'tail') OR quality = 'open' AND deadline < @ended@
	OR quality IN ('complete', 'head') AND (@one_side@))
