-- case_silent: one row per app and model of the executions that @only@ leaves, the most first: those that waited for their answer. n_all: of all of
-- them together. ended: when a client had the answer, or a fence was signalled.
@with@, called AS (SELECT id, coalesce(nullif(name, ''), 'app ' || key) AS name FROM app),
each AS MATERIALIZED (SELECT n.name AS app, p.model, p.submitted, coalesce(p.returned, p.signalled, p.run_ended) AS ended
	FROM picked p LEFT JOIN called n ON n.id = p.app_id)
SELECT app, model, count(*) AS n, sum(count(*)) OVER () AS n_all FROM each WHERE @only@ GROUP BY app, model ORDER BY n DESC, app, model
