-- sharing_names: one row per app: its name, and the name of the other app that it waited for longest. A hole brings the pairs of apps with their ns.
@with@, ranked AS (
	SELECT t.app_id, t.by_app_id, row_number() OVER (PARTITION BY t.app_id ORDER BY t.ns DESC, t.by_app_id) AS nth
	FROM (@takers@) t WHERE t.by_app_id <> t.app_id AND t.ns > 0)
SELECT a.id, a.name, b.name AS taker FROM apps a LEFT JOIN ranked r ON r.app_id = a.id AND r.nth = 1 LEFT JOIN apps b ON b.id = r.by_app_id ORDER BY 1
