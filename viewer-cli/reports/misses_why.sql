-- misses_why: the causes of all victims, the most frequent first, and their worst misses, among misses that ended; for a WITH.
causes AS (
	SELECT @keys@, cause, row_number() OVER (PARTITION BY @keys@ ORDER BY sum(misses) DESC, cause) AS place
	FROM miss_stat GROUP BY @keys@, cause HAVING sum(misses) > 0),
worst AS (SELECT @keys@, max(worst_ns) AS worst_ns FROM execution_count WHERE miss <> 'predicted' GROUP BY @keys@)
