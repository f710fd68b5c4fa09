-- is_picked: a condition on rows p: their execution is picked.
EXISTS (SELECT 1 FROM picked k WHERE k.id = p.execution_id)
