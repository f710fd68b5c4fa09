-- one_side: a condition on executions: the side that records the end of the execution was not recorded.
status IS NULL AND path IS 'fenced' OR ifnull(status, 'NONE') = 'NONE' AND path IS NOT 'fenced' AND returned IS NULL
