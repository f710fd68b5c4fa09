-- misses_sums_made: a statement that makes a temporary table: the sums of the picked misses by cause. Temporary, because several parts of an answer are made of
-- them, and each would look at all causes again. A table that exists stays as it is: what a connection picks does not change.
CREATE TEMP TABLE IF NOT EXISTS picked_miss_stat AS
@with@ SELECT * FROM (@stats@);
