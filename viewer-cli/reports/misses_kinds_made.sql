-- misses_kinds_made: a statement that makes a temporary table: the picked executions by kind, with the number of each. had: they had, or may have had, a deadline.
-- Temporary, because victims and totals are both made of it, and each would look at all executions again. A table that exists stays as it is: what a connection
-- picks does not change.
CREATE TEMP TABLE IF NOT EXISTS picked_kind AS
@with@ SELECT app_id, coalesce((SELECT m.name FROM model m WHERE m.id = k.model_id), '') AS model, priority, status, miss, n, deadlines, unknown, unseen, had
	FROM ( -- names come after the sums: numbers sort in half the time of texts
		SELECT app_id, model_id, priority, status, miss, sum(n) AS n, sum(deadlines) AS deadlines, sum(unknown) AS unknown, sum(unseen) AS unseen,
			deadlines OR miss IS NOT NULL OR unknown AS had
		FROM (@kinds@) GROUP BY app_id, model_id, priority, status, miss, had) k;
