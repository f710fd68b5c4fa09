-- misses_sums_made: statements that make temporary tables: the picked misses, and their sums by cause. Temporary, because several parts of an answer are made of
-- them, and each would look at all causes again. A table that exists stays as it is: what a connection picks does not change.
CREATE TEMP TABLE IF NOT EXISTS picked_miss AS
@with@ SELECT * FROM (@missed@);
CREATE TEMP TABLE IF NOT EXISTS picked_miss_stat AS
@with@ SELECT * FROM (@stats@);
