-- waits_by_holder_made: a statement that makes a temporary table of waits_by_holder_picked. Temporary, because names and the table of waits are both made of
-- it, and each would look at all waits again. A table that exists stays as it is: what a connection picks does not change.
CREATE TEMP TABLE IF NOT EXISTS picked_waits AS
@with@ SELECT * FROM (@pairs@);
