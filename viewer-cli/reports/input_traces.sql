-- input_traces: one row per trace: the directory that it was read from.
SELECT path FROM trace
