-- case_scope: a condition on the name of an app, as it calls itself: it had a stream of the recording's scope.
@column@ IN (SELECT coalesce(nullif(name, ''), 'app ' || key) FROM app WHERE id IN (SELECT app_id FROM stream WHERE id IN (@streams@)))
