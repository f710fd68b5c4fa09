-- verdict_starvation_unheld: one row: for how long no execution held the lane during one wait, and for how long it is unknown which one did. Its execution is a
-- constant, because SQLite looks up waits of a constant alone, and otherwise reads all of them.
@with@
SELECT sum(ended - began) FILTER (WHERE occupancy = 'idle') AS idle_ns, sum(ended - began) FILTER (WHERE occupancy = 'unknown') AS unknown_ns
FROM wait WHERE execution_id = @id@ AND began >= @wait_began@ AND ended <= @wait_ended@
