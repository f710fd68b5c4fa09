-- miss_doer_name: an expression: the name of the doer of a row r with kind, by_app_id and of_app_id of miss_doers.sql, whose apps are by_app and of_app.
CASE r.kind WHEN 'app' THEN ifnull(by_app.name, 'an app that is not known') WHEN 'machine' THEN 'the machine' WHEN 'service' THEN 'the service'
    WHEN 'apps' THEN ifnull((SELECT group_concat(name, ' and ') FROM (SELECT o.name FROM only_three CROSS JOIN apps o WHERE o.id <> r.of_app_id ORDER BY o.name)), 'several other apps') || ' together'
    WHEN 'several' THEN 'no single doer' WHEN 'unknown' THEN 'not known' WHEN 'cold' THEN 'memory that the service did not know yet' WHEN 'queue_full' THEN 'a full queue' WHEN 'dependency' THEN 'fences'
    WHEN 'others' THEN 'smaller ones' ELSE ifnull(of_app.name, 'an app') || CASE r.kind WHEN 'submitted_late' THEN '''s own thread or what delayed it (not recorded)' WHEN 'thread' THEN '''s own thread or what it waited for' ELSE ' itself' END END
