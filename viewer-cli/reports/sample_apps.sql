-- sample_apps: one row per app, with the name that it gives itself.
SELECT id, name FROM app
