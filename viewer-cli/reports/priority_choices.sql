-- priority_choices: one row per app that had work of different priority ready: how often, and how often the most urgent work was first. Leaves out
-- apps without such choices.
@with@, choices AS (@choices@)
SELECT a.name AS app, g.n AS n_choices, g.honoured AS n_honoured, 100.0 * g.honoured / g.n AS honoured_percent
FROM (SELECT c.app_id, count(*) AS n, sum(c.honoured) AS honoured FROM choices c @only_chosen@ GROUP BY c.app_id) g
	LEFT JOIN apps a ON a.id = g.app_id
ORDER BY honoured_percent, n_choices DESC, a.name, g.app_id
