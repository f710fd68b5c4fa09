-- diff_models: one row per name of a model, with what it consists of.
SELECT name, group_concat(says, ' or ')
FROM (SELECT DISTINCT name, operations || ' operations and ' || const_bytes || ' bytes of constants' AS says FROM model WHERE number IS NOT NULL ORDER BY 1, 2)
WHERE says IS NOT NULL GROUP BY name ORDER BY name
