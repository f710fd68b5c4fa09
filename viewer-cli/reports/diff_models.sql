-- diff_models: one row per name of a model, with what it consists of. Leaves out all but the first :most names, which are found before any description is
-- made: a recording may have 100 000 models.
WITH told AS (SELECT name, operations || ' operations and ' || const_bytes || ' bytes of constants' AS says FROM model
	WHERE number IS NOT NULL AND operations IS NOT NULL AND const_bytes IS NOT NULL)
SELECT name, group_concat(says, ' or ')
FROM (SELECT DISTINCT name, says FROM told
	WHERE name IS NULL OR name <= (SELECT max(name) FROM (SELECT name FROM told GROUP BY name ORDER BY name LIMIT :most)) ORDER BY 1, 2)
GROUP BY name ORDER BY name
