-- which_worst: at most one row: the picked execution that missed its deadline by most; those submitted after their deadline first.
@relations@ SELECT id FROM picked WHERE miss IS NOT NULL AND lateness_ns IS NOT NULL ORDER BY coalesce(deadline < submitted, 0), lateness_ns DESC, id LIMIT 1
