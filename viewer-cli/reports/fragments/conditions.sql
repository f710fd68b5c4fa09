-- and_more: two conditions.
@all@ AND @more@
-- and_equal: a condition more, on a column.
@all@ AND @column@ = @value@
-- and_longer: a condition more: a wait that is longer.
@all@ AND dur_ns > @ns@
-- and_waiting: a condition more: an execution that was under way then.
@all@ AND submitted < @ns@ AND (ended IS NULL OR ended > @ns@)
-- picked_from: a condition on executions: they began at a time or later.
@began@ >= @at@
-- picked_to: a condition on executions: they began before a time.
@began@ < @at@
-- where_model: the end of a list of columns of groups, where a model has one name.
, model
-- picked_kept: a condition on executions: those that kept_picked.sql has written down.
id IN (SELECT id FROM temp.kept_picked)
