-- picked_of_apps: the end of a query of executions x: those of the apps for which @where@ holds, asked of each app once. 0 stands for no app, whose name is NULL.

    WHERE ifnull(x.app_id, 0) IN (SELECT id FROM (SELECT id, name AS app FROM apps UNION ALL SELECT 0, NULL) WHERE (@where@))
