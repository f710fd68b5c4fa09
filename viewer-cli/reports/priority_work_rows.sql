-- priority_work_rows: one row: the rows of referred and of apps_with_more as SQL; NULL: there are none. many: there are too many to be written so. Of many,
-- none of them in apps_with_more, only the rows of referred without an app: those with an app then matter together with rows of apps_with_more alone.
@with@,
ranks(priority, rank) AS (VALUES ('low', 0), ('medium', 1), ('high', 2)),
@work@,
few AS MATERIALIZED (SELECT (SELECT count(*) FROM had) <= @most@ AND (SELECT count(*) FROM (SELECT 1 FROM model LIMIT @most@ + 1)) <= @most@ AS are,
	-- mostly all work has one priority, which no app need be looked at for
	CASE WHEN NOT EXISTS (SELECT 1 FROM work WHERE ifnull(priority <> (SELECT priority FROM work LIMIT 1), 1)) THEN 0 ELSE EXISTS (SELECT 1 FROM apps_with_more) END AS any_more)
SELECT NOT f.are AND f.any_more AS many,
	CASE WHEN f.are OR NOT f.any_more THEN (
		SELECT 'VALUES ' || group_concat('(' || quote(app_id) || ', ' || quote(priority) || ')', ', ') FROM referred WHERE f.are OR app_id IS NULL) END AS referred,
	CASE WHEN f.are THEN (SELECT 'VALUES ' || group_concat('(' || quote(app_id) || ', ' || most || ')', ', ') FROM apps_with_more) END AS apps_with_more
FROM few f
