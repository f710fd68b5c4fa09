-- summary_who: one row: number of executions by app and by status, and deadlines. n_left: of missed ones, those that failed for their apps after the deadline,
-- before the service had answered.
@with@,
counted AS MATERIALIZED (SELECT app_id, status, miss, quality, path, sides, n, deadlines FROM execution_count),
by_app AS (
  SELECT (SELECT a.name FROM apps a WHERE a.id = c.app_id) AS name, c.n FROM (SELECT app_id, sum(n) AS n FROM counted GROUP BY app_id) c ORDER BY n DESC, name),
missed AS (
  SELECT (SELECT a.name FROM apps a WHERE a.id = c.app_id) AS name, c.missed, c.of_them, count(*) OVER () AS n_apps
  FROM (SELECT app_id, sum(n) FILTER (WHERE miss IS NOT NULL) AS missed, sum(deadlines) AS of_them FROM counted GROUP BY app_id) c
  WHERE c.missed > 0 ORDER BY missed DESC, name),
by_status AS (
  SELECT coalesce(status, iif(quality = 'open', 'not answered', 'unknown')) AS answer, sum(n) AS n FROM counted GROUP BY 1 ORDER BY n DESC, 1)
SELECT (SELECT count(*) FROM by_app) AS n_apps,
  (SELECT group_concat(ifnull(name, 'unknown') || ' ' || replace(printf('%,d', n), ',', ' '), ', ') FROM (SELECT * FROM by_app LIMIT 4)) AS apps,
  (SELECT group_concat(answer || ' ' || replace(printf('%,d', n), ',', ' '), ', ') FROM by_status) AS statuses,
  ifnull(sum(deadlines), 0) AS n_deadlines, ifnull(sum(n) FILTER (WHERE miss IS NOT NULL), 0) AS n_missed,
  @n_unknown@ AS n_unknown, @n_unseen@ AS n_unseen,
  ifnull(sum(n) FILTER (WHERE miss = 'predicted'), 0) AS n_refused, ifnull(sum(n) FILTER (WHERE miss = 'aborted'), 0) AS n_given_up,
  ifnull(sum(n) FILTER (WHERE miss = 'late' AND ifnull(status, 'NONE') = 'NONE'), 0) AS n_late,
  (SELECT group_concat(ifnull(name, 'unknown') || ' ' || replace(printf('%,d', missed), ',', ' ') ||
      iif(of_them >= missed AND @n_unknown@ + @n_unseen@ = 0, replace(printf(' of %,d', of_them), ',', ' '), ''), ', ') ||
    iif(max(n_apps) > 4, replace(printf(', and %,d apps more', max(n_apps) - 4), ',', ' '), '') FROM (SELECT * FROM missed LIMIT 4)) AS missed_by,
  ifnull(sum(n) FILTER (WHERE miss = 'late' AND status <> 'NONE'), 0) AS n_left
FROM counted
