-- scope_pid: a condition on streams: those of the process.
 AND process_id IN (SELECT id FROM process WHERE pid = @pid@)
