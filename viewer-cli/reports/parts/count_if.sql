-- count_if: an expression: the number of executions for which a condition holds.
(SELECT count(*) FROM execution WHERE @condition@)
