-- input_scope: one row: what alone was asked for when it was recorded: an app by its name or uid, the pid of an app, that of a service. NULL: any.
-- And how many executions of other services the import left out, at least. NULL: it left out none, because it could not tell whose they are.
SELECT (SELECT CAST(value AS TEXT) FROM meta WHERE key = 'scope_app'), (SELECT value FROM meta WHERE key = 'scope_pid'),
	(SELECT value FROM meta WHERE key = 'scope_service'), (SELECT value FROM meta WHERE key = 'scope_others')
