-- kept_picked: statements that make temporary tables, where several answers are about the same picked executions: the ids of these, because each of two dozen
-- queries would look for them again; and their models, as parts/kinds.sql has them for groups by app.
CREATE TEMP TABLE kept_picked (id INTEGER PRIMARY KEY);
INSERT INTO kept_picked
@relations@ SELECT id FROM picked;
CREATE TEMP TABLE kept_kinds (id INTEGER PRIMARY KEY, kind, name);
INSERT INTO kept_kinds
SELECT id, min(id) OVER (PARTITION BY @kind@), nullif(name, '') FROM model
	WHERE id IN (SELECT model_id FROM execution WHERE id IN (SELECT id FROM kept_picked));
