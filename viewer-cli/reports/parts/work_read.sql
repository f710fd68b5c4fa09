-- work_read: the priorities of the work of apps, and apps that had work of several, as rows that were read; for a WITH, in place of priority_work.sql.
referred(app_id, priority) AS MATERIALIZED (@referred@), apps_with_more(app_id, most) AS MATERIALIZED (@with_more@)
