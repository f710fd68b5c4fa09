-- by_app: a column of the groups of --by, of execution x and the tables that it joins.
a.name AS app
-- by_model: a column of the groups of --by.
k.name AS model
-- by_priority: a column of the groups of --by.
x.priority AS priority
-- by_path: a column of the groups of --by.
x.path AS path
-- by_burst: a column of the groups of --by.
printf('0x%08x', b.number) AS burst
-- by_stored_app: a column of the groups of --by, of a stored group s.
a.name AS app
-- by_stored_model: a column of the stored groups of --by.
nullif(s.model, '') AS model
-- by_stored_priority: a column of the stored groups of --by.
s.priority AS priority
-- by_stored_path: a column of the stored groups of --by.
s.path AS path
-- by_stored_burst: a column of the stored groups of --by, which have no bursts.
NULL AS burst
-- by_same_app: what is equal in all stored groups that are one group of --by.
app_id
-- by_same_model: what is equal in stored groups that are one group of --by.
model
-- by_same_priority: what is equal in stored groups that are one group of --by.
priority
-- by_same_path: what is equal in stored groups that are one group of --by.
path
-- by_same_burst: what is equal in stored groups that are one group of --by: no stored group has bursts.
NULL
-- by_start: the columns of the groups of --by, and whether a group's executions, those of @of@, were cold.
@by@, CASE @of@.cold WHEN 1 THEN 'cold' WHEN 0 THEN 'warm' END AS start
-- by_order: the order of the groups of --by.
@by@, start DESC
-- key_of_all: what differs between groups of --by: neither app nor model.
0
-- key_of_app: what differs between groups of --by, of picked p and kinds k.
ifnull(p.app_id, 0)
-- key_of_model: what differs between groups of --by.
ifnull(k.kind, 0)
-- key_of_app_model: what differs between groups of --by.
ifnull(k.kind, -p.app_id)
-- key_of_burst: what differs between groups of --by.
p.burst_id
-- key_path: a term of the key of a group.
 + CASE p.path WHEN 'burst' THEN 0 WHEN 'sync' THEN 12 WHEN 'fenced' THEN 24 ELSE 36 END
-- key_priority: a term of the key of a group.
 + CASE p.priority WHEN 'low' THEN 0 WHEN 'medium' THEN 3 WHEN 'high' THEN 6 ELSE 9 END
-- key_of_group: a number that differs between groups: the app, model or burst times 64, plus the other words of --by.
@who@ * 64@path@@priority@ + ifnull(p.cold, 2)
-- kind_of_app: what is equal in models of one kind, if groups have an app.
app_id, name
-- kind_of_any: what is equal in models of one kind, if groups are of all apps.
name
-- only_of_burst: a condition on executions p: they are of a burst; another one may follow in the query.
p.burst_id IS NOT NULL AND @more@
