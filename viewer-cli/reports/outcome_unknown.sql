-- outcome_unknown: a condition on executions: it had a deadline, and whether it met it was not recorded. The client alone does not see how a fenced execution ends, the
-- service alone not when an answer came back.
deadline IS NOT NULL AND miss IS NULL AND path IS NOT 'prepare' AND (quality IN ('gap', 'tail') OR quality = 'open' AND deadline < @ended@
	OR quality IN ('complete', 'head') AND (@one_side@))
