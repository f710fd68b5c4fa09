-- diff_models: one row per name of a model, with what it consists of. Leaves out the names after :last.
SELECT name, group_concat(says, ' or ')
FROM (SELECT DISTINCT name, operations || ' operations and ' || const_bytes || ' bytes of constants' AS says FROM model
	WHERE number IS NOT NULL AND operations IS NOT NULL AND const_bytes IS NOT NULL AND (name IS NULL OR name <= :last) ORDER BY 1, 2)
GROUP BY name ORDER BY name
