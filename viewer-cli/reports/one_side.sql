-- one_side: a condition on executions: the side that tells when it ended for its app was not recorded.
status IS NULL AND path IS 'fenced' OR ifnull(status, 'NONE') = 'NONE' AND path IS NOT 'fenced' AND returned IS NULL
