-- sharing_names: one row per app: its name, and that of the other app which it waited for longest: of pairs of apps, and ns, which are filled in.
@with@, ranked AS (
	SELECT t.app_id, t.by_app_id, row_number() OVER (PARTITION BY t.app_id ORDER BY t.ns DESC, t.by_app_id) AS nth
	FROM (@takers@) t WHERE t.by_app_id <> t.app_id AND t.ns > 0)
SELECT a.id, a.name, b.name AS taker FROM apps a LEFT JOIN ranked r ON r.app_id = a.id AND r.nth = 1 LEFT JOIN apps b ON b.id = r.by_app_id ORDER BY 1
