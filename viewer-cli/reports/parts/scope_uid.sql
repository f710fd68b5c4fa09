-- scope_uid: a condition on streams: that of the app with this uid.
 AND app_id IN (SELECT id FROM app WHERE uid = @app@)
