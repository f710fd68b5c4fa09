-- case_late_app: a column of case_late_models: the name of the app.
a.name
-- case_late_kind: a column of case_late_models.
d.kind
-- case_late_model: a column of case_late_models: the name of the model.
m.name
-- case_dead_app: a column of case_deaths: the name of the app, or of its process.
coalesce(nullif(a.name, ''), q.name)
-- case_dead_streams: a condition on the streams s of case_deaths.
s.id IN (@streams@)
