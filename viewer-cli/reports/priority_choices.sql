-- priority_choices: one row per app that had work of different priority ready: how often, and how often the most urgent was first.
-- Leaves out apps without such choices.
@with@, choices AS (@choices@)
SELECT p.app, count(*) AS n_choices, sum(c.honoured) AS n_honoured, 100.0 * sum(c.honoured) / count(*) AS honoured_percent
FROM choices c CROSS JOIN picked p ON p.id = c.chosen_id
GROUP BY p.app_id ORDER BY honoured_percent, n_choices DESC, p.app, p.app_id
