-- priority_choices: one row per app that had work of different priority ready: how often, and how often the most urgent was first.
-- Leaves out apps without such choices.
@with@, choices AS (@choices@)
SELECT a.name AS app, g.n AS n_choices, g.honoured AS n_honoured, 100.0 * g.honoured / g.n AS honoured_percent
FROM (SELECT p.app_id, count(*) AS n, sum(c.honoured) AS honoured FROM choices c CROSS JOIN picked p ON p.id = c.chosen_id GROUP BY p.app_id) g
	LEFT JOIN apps a ON a.id = g.app_id
ORDER BY honoured_percent, n_choices DESC, a.name, g.app_id
