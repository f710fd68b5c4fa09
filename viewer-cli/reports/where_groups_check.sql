-- where_groups_check: rows of the relations of groups; prepared, to see whether they can be made.
@relations@SELECT 1 FROM phase_stat, overhead_cause, execution_count
