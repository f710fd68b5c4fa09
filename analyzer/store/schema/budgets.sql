-- How much time executions have from submission to deadline: the median and the 90th percentile of each model and path. The import runs
-- this only if an execution had less time than the shortest execution of its model and path takes. An app that claims to execute a model of
-- another app does not count, nor does one whose app is unknown.
DELETE FROM stored_usual_budget;

INSERT INTO stored_usual_budget
WITH budgets AS (
	SELECT model_id, @bits flags.path x@ AS path,
		x.deadline - CASE @bits flags.sides x@ WHEN @sides:service@ THEN request_read ELSE submitted END AS budget_ns
	FROM stored_execution x JOIN stored_model m ON m.id = x.model_id
	WHERE x.deadline IS NOT NULL AND x.app_id IS NOT NULL AND (m.app_id IS NULL OR x.app_id = m.app_id)),
ranked AS (
	SELECT model_id, path, budget_ns, count(*) OVER (PARTITION BY model_id, path) AS n,
		row_number() OVER (PARTITION BY model_id, path ORDER BY budget_ns) AS nth
	FROM budgets WHERE budget_ns IS NOT NULL)
SELECT model_id, path, n, min(budget_ns), max(budget_ns) FROM ranked WHERE nth IN ((n + 1) / 2, (9 * n + 9) / 10) GROUP BY model_id, path;
