-- scope_app: a condition on streams: those of the apps with this name.
 AND app_id IN (SELECT id FROM app WHERE name = @app@ OR shown = @app@)
