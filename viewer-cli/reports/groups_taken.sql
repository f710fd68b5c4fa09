-- groups_taken: one row: executions, and how many of them are incomplete, were not answered, and were seen from one side; of stored groups.
@relations@SELECT sum(n), sum(n) FILTER (WHERE quality <> 'complete'), sum(n) FILTER (WHERE quality = 'complete' AND status IS NOT 'NONE'),
	sum(n) FILTER (WHERE sides = 'service'), sum(n) FILTER (WHERE sides = 'client')
FROM execution_count
