-- memory_exhausted: one row per app and resource with requests beyond its limit: how often, and how much. Leaves out resources that were sufficient.
@with@
SELECT a.name AS app, e.owner, e.resource, e.kind, count(*) AS n_times, max(e.asked) AS most_asked, min(e.limit_value) AS limit_value,
	min(e.at) - @began@ AS first_at
FROM resource_exhausted e LEFT JOIN apps a ON a.id = e.app_id
WHERE e.at >= @from@ AND e.at < @to@
GROUP BY e.app_id, e.owner, e.resource, e.kind ORDER BY n_times DESC, app, e.owner, e.resource, e.kind
