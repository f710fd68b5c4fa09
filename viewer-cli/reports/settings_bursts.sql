-- settings_bursts: one row per burst: all columns of its stream. Leaves out all but the first 10000.
SELECT * FROM stream WHERE path = 'burst' LIMIT 10000
